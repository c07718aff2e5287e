//! Vectors of the wire: components, their messages, and the adder.

use crate::convert::adder;
use crate::keys::Stream;
use crate::tape::ands;
use sealane_block::Seed;
use sealane_party::Form;
use sealane_testkit::vectors::{
    Value, array, bytes, check, json, label, list, number, on_tiers, session, stated,
};
use std::convert::Infallible;

fn form(of: &Value) -> Form {
    let [planes, elements] = ["planes", "elements"].map(|field| number(&of[field]) as usize);
    match of["k"].as_u64() {
        None => Form::bits(planes, elements),
        Some(k) => Form::ring(k as usize, planes, elements),
    }
}

fn words(of: &[u64]) -> Value {
    stated(
        &of.iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<_>>(),
    )
}

#[test]
fn components_are_those_of_the_vectors() {
    check(
        "trio",
        &[
            ("component", |of| {
                Ok(on_tiers(|cpu| {
                    let seed = Seed::from_bytes(&array(&of["key"]));
                    let session = session(&of["session"]);
                    let mut stream = seed.stream(label(&of["label"]), session.as_bytes());
                    let prg = stream.prg(cpu);
                    let mut stream = Stream { prg, ideal: None };
                    let draws = list(&of["draws"]).iter();
                    let draws = draws.map(|of| words(stream.component(form(of)).data()));
                    json!({ "draws": draws.collect::<Vec<_>>() })
                }))
            }),
            ("pack", |of| {
                let bytes = bytes(&of["words"]);
                let words = bytes
                    .as_chunks()
                    .0
                    .iter()
                    .map(|word| u64::from_le_bytes(*word));
                let words = words.collect::<Vec<_>>();
                Ok(json!({ "message": form(of).pack(&words, stated) }))
            }),
            ("unpack", |of| {
                let message = bytes(&of["message"]);
                let component = form(of).unpack(|into| {
                    into.copy_from_slice(&message);
                    Ok::<_, Infallible>(())
                });
                let Ok(component) = component;
                let component = component.ok_or("protocol-broken")?;
                Ok(json!({ "words": words(component.data()) }))
            }),
            ("adder", |of| {
                let tape = adder(number(&of["n"]) as usize);
                let levels = (0..tape.batches.len()).map(|batch| ands(tape, batch).len());
                Ok(json!({ "levels": levels.filter(|ands| *ands > 0).collect::<Vec<_>>() }))
            }),
        ],
    );
}
