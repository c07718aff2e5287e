//! Sessions of protocols that withstand a party that deviates, and parties whose peers do:
//! `guarded.json.gz` of `trio-malicious`, `auth.json.gz` of `auth`.

use super::negative::outcome;
use super::sessions::Sessions;
use sealane_testkit::vectors::{Value, json, list, number, read};
use std::collections::BTreeMap;

fn sessions(content: &Value) -> Sessions {
    Sessions::of(content, &json!({ "tests": content["sessions"] }))
}

#[test]
fn sessions_with_proofs_are_those_of_the_vectors() {
    sessions(&read("guarded")).check("guarded.json.gz");
}

#[test]
fn sessions_with_macs_are_those_of_the_vectors() {
    sessions(&read("auth")).check("auth.json.gz");
}

/// The code is that of the vector, and so are all whom the error names.
fn notices(file: &str) {
    let content = read(file);
    let (sessions, mut kept, mut wrong) = (sessions(&content), BTreeMap::new(), Vec::new());
    for test in list(&content["tests"]) {
        let id = number(&test["session"]);
        let session = sessions.tests.iter().find(|session| session["id"] == id);
        let session = session.expect("a session");
        let crossed = kept.entry(id).or_insert_with(|| sessions.run(session).0);
        let (found, mut names, _) = outcome(&sessions, crossed, session, test);
        names.sort_unstable();
        if test["code"] != *found || test["blames"] != json!(names) {
            wrong.push(format!(
                "{} {}, session {id}, party {}: {} of {} wanted, {found} of {names:?} found; {}",
                test["id"],
                session["job"],
                test["party"],
                test["code"],
                test["blames"],
                test["comment"],
            ));
        }
    }
    assert!(wrong.is_empty(), "{file}.json.gz:\n{}", wrong.join("\n"));
}

#[test]
fn a_party_disputes_what_the_vectors_say_it_disputes() {
    notices("guarded");
}

#[test]
fn a_party_of_two_notices_what_the_vectors_say_it_notices() {
    notices("auth");
}
