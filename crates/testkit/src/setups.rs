//! Vectors of two parties: their setups, and what a party makes of changed messages of its peer.

use crate::player;
use crate::record::Crossed;
use crate::vectors::{Value, first_difference, json, list, number, read, stated};
use sealane_net::{FrameKind, Mesh};
use sealane_parties::PartyId;

/// The end of a party: what it found, or the code of its error and whom it blames.
pub type Ended = Result<Value, (String, Option<PartyId>)>;

/// Checks the setups of a kind in a file, and all tests over them. `run` runs both parties of a
/// setup, and says what crossed and what each found; `party` runs one of them.
///
/// # Panics
/// If anything differs, with all that does.
pub fn check(
    (file, kind, owner): (&str, &str, &str),
    run: impl Fn(&Value) -> (Crossed, Value),
    party: impl Fn(&Value, &mut Mesh) -> Ended,
) {
    let (content, mut wrong) = (read(file), Vec::new());
    let of_kind = |setup: &&Value| setup["kind"] == kind;
    for setup in list(&content["setups"]).iter().filter(of_kind) {
        let (crossed, found) = run(setup);
        for (field, found) in [("frames", frames(&crossed)), ("found", found)] {
            let differs = || first_difference(&setup[field], &found);
            let id = &setup["id"];
            assert!(
                setup[field] == found,
                "sealane-{owner}: step {kind} {field}, {}; {file} {id}",
                differs()
            );
        }
        let tests = list(&content["tests"]).iter();
        for test in tests.filter(|test| test["setup"] == setup["id"]) {
            let me = PartyId(number(&test["party"]) as u8);
            let mut mesh = player::mesh(me, &crossed, &test["changes"]);
            let (code, blamed, found) = match party(setup, &mut mesh) {
                Ok(found) => (None, None, found),
                Err((code, blamed)) => (Some(code), blamed, Value::Null),
            };
            let blames = test["blames"].as_u64();
            if test["code"].as_str() != code.as_deref()
                || blames != blamed.map(|party| u64::from(party.0))
                || test["found"] != found
            {
                wrong.push(format!(
                    "{}: {} wanted, {code:?} of {blamed:?} found; {}",
                    test["id"], test["code"], test["comment"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{file}.json.gz:\n{}", wrong.join("\n"));
}

/// Frames that two parties sent, by direction, as files have them.
fn frames(crossed: &Crossed) -> Value {
    let directions = [(0, 1), (1, 0)].into_iter();
    let frames = directions.flat_map(|(from, to)| {
        crossed[from][to].iter().map(move |frame| {
            let kind = match frame.kind {
                FrameKind::Control => "control",
                FrameKind::Data { .. } => "data",
            };
            json!([from, to, kind, frame.stamp, stated(&frame.payload)])
        })
    });
    json!(frames.collect::<Vec<_>>())
}
