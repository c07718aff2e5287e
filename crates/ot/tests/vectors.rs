//! Vectors of the wire: whole set-ups and extensions, and changes to them.

mod silent;

use sealane_block::{Block, Coins, Cpu, Seed};
use sealane_net::Mesh;
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{GivenReceiver, GivenSender};
use sealane_ot::{OtError, Result, Security, SoftSpoken};
use sealane_parties::PartyId;
use sealane_testkit::player;
use sealane_testkit::record::{Crossed, crossed, recorded};
use sealane_testkit::side::on_threads;
use sealane_testkit::vectors::{
    Value, array, bytes, caught, first_difference, json, list, number, read, session, stated,
};
use std::collections::BTreeMap;

/// Runs a party of a set-up as `yao` does, and this many extensions; returns its blocks of each.
fn party(setup: &Value, extensions: usize, mesh: &mut Mesh) -> Result<Vec<Vec<Block>>> {
    let cpu = Cpu::detect().expect("a tier");
    let ends = [&setup["sender"], &setup["receiver"]].map(|end| PartyId(number(end) as u8));
    let parameters = SoftSpoken::new(number(&setup["k"]) as u8, Security::Malicious);
    mesh.set_session(session(&setup["session"]));
    let sends = mesh.me() == ends[0];
    let mut coins = Coins::danger_seeded(Seed::from_bytes(&array(
        &setup["seeds"][usize::from(!sends)],
    )));
    let extensions = list(&setup["extensions"])[..extensions].iter();
    let room = |extension: &Value| vec![Block::ZERO; number(&extension["n"]) as usize];
    if sends {
        let peer = ends[1];
        let nonce = coins.public("yao: hash and inputs of the garbler").nonce();
        let delta = Block::new(coins.secret("garble: offset").block().value() | 1);
        mesh.send(peer, nonce.as_bytes())?;
        let setup = Sender::set_up(parameters, cpu, mesh, peer, delta, &mut coins)?;
        mesh.flush()?;
        let mut sender = setup.finish(mesh)?;
        let extend = |extension| {
            let mut q = room(extension);
            sender.given(mesh, &mut q)?;
            Ok(q)
        };
        return extensions.map(extend).collect();
    }
    let peer = ends[0];
    let setup = Receiver::set_up(parameters, cpu, mesh, peer, &mut coins)?;
    mesh.flush()?;
    mesh.recv(peer, &mut [0; 32])?;
    let mut receiver = setup.finish(mesh)?;
    mesh.flush()?;
    let extend = |extension: &Value| {
        let (mut t, choices) = (room(extension), bytes(&extension["choices"]));
        let choices = (0..t.len()).map(|j| choices[j / 8] >> (j % 8) & 1);
        receiver.given(mesh, &choices.collect::<Vec<_>>(), &mut t)?;
        mesh.flush()?;
        Ok(t)
    };
    extensions.map(extend).collect()
}

/// Runs a set-up and all of its extensions; returns what crossed, and what the file has of it.
fn run(setup: &Value) -> (Crossed, Value) {
    let (meshes, logs) = recorded(2);
    let extensions = list(&setup["extensions"]);
    // What crossed before a party failed tells where.
    let blocks = on_threads(meshes, |mut mesh| {
        let blocks = caught(|| party(setup, extensions.len(), &mut mesh).expect("honest"));
        blocks.unwrap_or_default()
    });
    let crossed = crossed(&logs);
    let [s, r] = ["sender", "receiver"].map(|end| number(&setup[end]) as usize);
    let mut messages = Vec::new();
    messages.extend(
        crossed[s][r]
            .iter()
            .map(|frame| json!([s, stated(&frame.payload)])),
    );
    messages.extend(
        crossed[r][s]
            .iter()
            .take(2)
            .map(|frame| json!([r, stated(&frame.payload)])),
    );
    let extension = |(at, of): (usize, &Value)| {
        let message = crossed[r][s].get(2 + at);
        let [q, t] = [s, r].map(|end| {
            let blocks = blocks[end].get(at);
            blocks.map(|blocks| stated(Block::as_bytes(blocks)))
        });
        json!({
            "n": of["n"], "choices": of["choices"],
            "message": message.map(|frame| stated(&frame.payload)), "q": q, "t": t,
        })
    };
    let extensions = extensions
        .iter()
        .enumerate()
        .map(extension)
        .collect::<Vec<_>>();
    let outcome = json!({ "messages": messages, "extensions": extensions });
    (crossed, outcome)
}

/// The code of an error, and the party that it blames.
fn verdict(error: &OtError) -> (String, Option<PartyId>) {
    match error {
        OtError::Altered(party) => ("altered".into(), Some(*party)),
        OtError::CheckFailed(party) => ("peer-deviated".into(), Some(*party)),
        OtError::BadPoint(party) => ("protocol-broken".into(), Some(*party)),
        OtError::Net(error) => (error.code().to_string(), error.party()),
        error => (error.to_string(), None),
    }
}

#[test]
fn transfers_are_those_of_the_vectors() {
    let (file, mut runs) = (read("transfers"), BTreeMap::new());
    for setup in list(&file["setups"]) {
        let (crossed, outcome) = run(setup);
        for (field, step) in [
            ("messages", "set-up, message"),
            ("extensions", "extension,"),
        ] {
            let differs = || first_difference(&setup[field], &outcome[field]);
            assert!(
                setup[field] == outcome[field],
                "sealane-ot: step {step} {}; transfers {}",
                differs(),
                setup["id"]
            );
        }
        runs.insert(number(&setup["id"]), (setup, crossed));
    }
    let mut wrong = Vec::new();
    for test in list(&file["tests"]) {
        let (setup, crossed) = &runs[&number(&test["setup"])];
        let mut mesh = player::mesh(
            PartyId(number(&test["party"]) as u8),
            crossed,
            &test["changes"],
        );
        let (sends, count) = (
            setup["sender"] == test["party"],
            number(&test["extensions"]) as usize,
        );
        let (found, blamed, learned) = match party(setup, count, &mut mesh) {
            Ok(blocks) => {
                let blocks = blocks.iter().map(|blocks| stated(Block::as_bytes(blocks)));
                ("undetected".into(), None, json!(blocks.collect::<Vec<_>>()))
            }
            Err(error) => {
                let (code, blamed) = verdict(&error);
                (code, blamed, Value::Null)
            }
        };
        let wanted = test["code"].as_str().or(test["result"].as_str());
        let blames = test["blames"].as_u64();
        let learns = &test[if sends { "q" } else { "t" }];
        // A receiver learns nothing without extensions, and then has no field in the vectors.
        let learns_nothing = !sends && learns.is_null() && learned == json!([]);
        if wanted != Some(&found)
            || blames != blamed.map(|party| u64::from(party.0))
            || *learns != learned && !learns_nothing
        {
            wrong.push(format!(
                "{}: {wanted:?} of {blames:?} wanted, {found} of {blamed:?} found; {}",
                test["id"], test["comment"]
            ));
        }
    }
    assert!(wrong.is_empty(), "transfers.json.gz:\n{}", wrong.join("\n"));
}
