//! Runs in which the peers of a party send something else: `negative.json.gz`.

use super::sessions::{Sessions, learned};
use sealane_parties::PartyId;
use sealane_testkit::player;
use sealane_testkit::record::Crossed;
use sealane_testkit::vectors::{Value, list, number, read};
use std::collections::BTreeMap;

/// Runs the party of a test; returns `undetected` and what it learned, or the code of its error and
/// the parties that it names.
pub fn outcome(
    sessions: &Sessions,
    crossed: &Crossed,
    session: &Value,
    test: &Value,
) -> (String, Vec<usize>, Value) {
    let me = PartyId(number(&test["party"]) as u8);
    let mut mesh = player::mesh(me, crossed, &test["changes"]);
    match sessions.run_party(session, &mut mesh) {
        Ok(report) => ("undetected".into(), vec![], learned(&report)),
        Err(error) => {
            let finding = error.finding();
            let words = finding.message.split(|c: char| !c.is_alphanumeric());
            let names = sessions.job(session).parties();
            let named = words.filter_map(|word| names.iter().position(|name| name == word));
            (finding.code.to_string(), named.collect(), Value::Null)
        }
    }
}

/// Returns whether an error names the party that a test blames, and no other as the culprit.
fn is_blamed(test: &Value, code: &str, names: &[usize]) -> bool {
    let blames = test["blames"].as_u64().map(|party| party as usize);
    match (blames, code, names) {
        // If nobody knows who altered what crossed, the other end of the link is named.
        (None, "altered", [_]) | (None, _, []) => true,
        // No party has stated a count, so it is not known who had to.
        (Some(_), "rows-differ", []) => test["comment"] == "no count",
        // The others are those whose key and whose count it is about.
        (Some(party), "keys-differ", [named, ..])
        | (Some(party), "rows-differ", [.., named])
        | (Some(party), _, [named]) => party == *named,
        _ => false,
    }
}

#[test]
fn a_party_notices_what_the_vectors_say_it_notices() {
    let (sessions, mut kept, mut wrong) = (Sessions::read(), BTreeMap::new(), Vec::new());
    for test in list(&read("negative")["tests"]) {
        let id = number(&test["session"]);
        let session = sessions.tests.iter().find(|session| session["id"] == id);
        let session = session.expect("a session");
        let crossed = kept.entry(id).or_insert_with(|| sessions.run(session).0);
        let (found, names, learned) = outcome(&sessions, crossed, session, test);
        let wanted = match test["result"].as_str() {
            Some("invalid") => test["code"].as_str(),
            other => other,
        };
        let differs = wanted != Some(&found) || learned != test["results"];
        if differs || !is_blamed(test, &found, &names) {
            let (session, comment) = (&session["job"], &test["comment"]);
            let blamed = &test["blames"];
            wrong.push(format!(
                "{} {session}, session {id}, party {}: {wanted:?} of {blamed} wanted, {found} of {names:?} found, {learned}; {comment}",
                test["id"], test["party"]
            ));
        }
    }
    assert!(wrong.is_empty(), "negative.json.gz:\n{}", wrong.join("\n"));
}
