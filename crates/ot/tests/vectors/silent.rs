//! Vectors of silent transfers: set-ups of the tiny instance, extensions, and changes to them.

use super::verdict;
use sealane_block::{Block, Coins, Cpu, Seed};
use sealane_net::Mesh;
use sealane_ot::ferret::Params;
use sealane_ot::source::ahead::{AheadReceiver, AheadSender, Directions, refill_in_step};
use sealane_ot::source::{Source, finish_both};
use sealane_ot::traits::{CotReceiver, CotSender, packed_blocks};
use sealane_ot::{Result, Security, SoftSpoken};
use sealane_parties::PartyId;
use sealane_testkit::player;
use sealane_testkit::record::{Crossed, crossed, recorded};
use sealane_testkit::side::on_threads;
use sealane_testkit::vectors::{
    Value, array, caught, first_difference, json, list, number, read, session, stated,
};

/// Choices of an extension, none at the sender, and its blocks.
type Extension = (Vec<Block>, Vec<Block>);

/// The tiny instance, which has to be the one of the vectors.
fn parameters(setup: &Value) -> Params {
    let params = Params::danger_tiny(Security::Malicious);
    for (field, lpn) in [("first", params.first()), ("main", params.main())] {
        let [log, trees, depth] = [0, 1, 2].map(|at| number(&setup[field][at]) as usize);
        let sizes = [lpn.secret(), lpn.errors(), lpn.rows()];
        assert_eq!(sizes, [1 << log, trees, trees << depth], "{field}");
    }
    params
}

/// Runs a party of a set-up as `yao` does, and this many extensions.
fn party(setup: &Value, extensions: usize, mesh: &mut Mesh) -> Result<Vec<Extension>> {
    let cpu = Cpu::detect().expect("a tier");
    let ends = [&setup["sender"], &setup["receiver"]].map(|end| PartyId(number(end) as u8));
    let base = SoftSpoken::new(number(&setup["k"]) as u8, Security::Malicious);
    let source = Source::Silent(base, parameters(setup));
    mesh.set_session(session(&setup["session"]));
    let sends = mesh.me() == ends[0];
    let seed = array(&setup["seeds"][usize::from(!sends)]);
    let mut coins = Coins::danger_seeded(Seed::from_bytes(&seed));
    let sizes = list(&setup["extensions"])[..extensions].iter();
    let sizes = sizes.map(|extension| number(&extension["n"]) as usize);
    if sends {
        let peer = ends[1];
        let nonce = coins.public("yao: hash and inputs of the garbler").nonce();
        let delta = Block::new(coins.secret("garble: offset").block().value() | 1);
        mesh.send(peer, nonce.as_bytes())?;
        let setup = source.sender(cpu, mesh, peer, delta, &mut coins)?;
        mesh.flush()?;
        let mut sender = setup.finish(mesh, &mut coins)?;
        let extend = |n| {
            let mut q = vec![Block::ZERO; n];
            sender.extend(mesh, &mut q)?;
            Ok((Vec::new(), q))
        };
        return sizes.map(extend).collect();
    }
    let peer = ends[0];
    let setup = source.receiver(cpu, mesh, peer, &mut coins)?;
    mesh.flush()?;
    mesh.recv(peer, &mut [0; 32])?;
    let mut receiver = setup.finish(mesh, &mut coins)?;
    let extend = |n: usize| {
        let (mut choices, mut t) = (vec![Block::ZERO; n.div_ceil(128)], vec![Block::ZERO; n]);
        receiver.extend(mesh, &mut choices, &mut t)?;
        Ok((choices, t))
    };
    sizes.map(extend).collect()
}

/// Runs a set-up and all of its extensions; returns what crossed, and what the file has of it.
fn run(setup: &Value) -> (Crossed, Value) {
    let (meshes, logs) = recorded(2);
    let sizes = list(&setup["extensions"]);
    // What crossed before a party failed tells where.
    let found = on_threads(meshes, |mut mesh| {
        let found = caught(|| party(setup, sizes.len(), &mut mesh).expect("honest"));
        found.unwrap_or_default()
    });
    let crossed = crossed(&logs);
    let [s, r] = ["sender", "receiver"].map(|end| number(&setup[end]) as usize);
    let messages = [(s, r), (r, s)].into_iter().flat_map(|(from, to)| {
        let payloads = crossed[from][to].iter().map(|frame| stated(&frame.payload));
        payloads.map(move |payload| json!([from, payload]))
    });
    let messages = messages.collect::<Vec<_>>();
    let extensions = sizes.iter().enumerate().map(|(at, of)| {
        let [q, t] = [s, r].map(|end| {
            let blocks = found[end].get(at).map(|(_, blocks)| blocks);
            blocks.map(|blocks| stated(Block::as_bytes(blocks)))
        });
        let bytes = (number(&of["n"]) as usize).div_ceil(8);
        let choices = found[r]
            .get(at)
            .map(|(choices, _)| Block::as_bytes(choices));
        let choices = choices.map(|choices| stated(&choices[..bytes]));
        json!({ "n": of["n"], "choices": choices, "q": q, "t": t })
    });
    let extensions = extensions.collect::<Vec<_>>();
    let outcome = json!({ "messages": messages, "extensions": extensions });
    (crossed, outcome)
}

#[test]
fn silent_transfers_are_those_of_the_vectors() {
    let (file, mut runs) = (read("silent"), Vec::new());
    for (setup, number) in list(&file["setups"]).iter().zip(1u64..) {
        assert_eq!(setup["id"], number);
        let (crossed, outcome) = run(setup);
        for field in ["messages", "extensions"] {
            let differs = || first_difference(&setup[field], &outcome[field]);
            assert!(
                setup[field] == outcome[field],
                "sealane-ot: step silent {field}, {}; silent {number}",
                differs()
            );
        }
        runs.push((setup, crossed));
    }
    let mut wrong = Vec::new();
    for test in list(&file["tests"]) {
        let (setup, crossed) = &runs[number(&test["setup"]) as usize - 1];
        let me = PartyId(number(&test["party"]) as u8);
        let mut mesh = player::mesh(me, crossed, &test["changes"]);
        let end = party(setup, number(&test["extensions"]) as usize, &mut mesh);
        let (found, blamed) = match end {
            Ok(_) => ("undetected".into(), None),
            Err(error) => verdict(&error),
        };
        let wanted = test["code"].as_str().or(test["result"].as_str());
        let blames = test["blames"].as_u64();
        if wanted != Some(&found) || blames != blamed.map(|party| u64::from(party.0)) {
            wrong.push(format!(
                "{}: {wanted:?} of {blames:?} wanted, {found} of {blamed:?} found; {}",
                test["id"], test["comment"]
            ));
        }
    }
    assert!(wrong.is_empty(), "silent.json.gz:\n{}", wrong.join("\n"));
}

/// Transfers of a party: those that it sends, and choices and blocks of those that it receives.
type Both = (Vec<Block>, Vec<Block>, Vec<Block>);

/// Runs a party of a set-up of both directions as `gmw` does, and a refill.
fn both_ways(setup: &Value, mesh: &mut Mesh) -> Result<Both> {
    let (cpu, me) = (Cpu::detect().expect("a tier"), usize::from(mesh.me().0));
    let (peer, parameters) = (PartyId(1 - mesh.me().0), parameters(setup));
    let base = SoftSpoken::new(number(&setup["k"]) as u8, Security::Malicious);
    let source = Source::Silent(base, parameters);
    mesh.set_session(session(&setup["session"]));
    let mut coins = Coins::danger_seeded(Seed::from_bytes(&array(&setup["seeds"][me])));
    let delta = Block::new(coins.secret("gmw: offset").block().value() | 1);
    let sender = source.sender(cpu, mesh, peer, delta, &mut coins)?;
    let receiver = source.receiver(cpu, mesh, peer, &mut coins)?;
    mesh.flush()?;
    let (sender, receiver) = finish_both(sender, receiver, mesh, &mut coins)?;
    let given = parameters.given();
    let mut sender = AheadSender::new(sender, given);
    let mut receiver = AheadReceiver::new(receiver, given);
    let first = Directions {
        sends: true,
        more: false,
        receives: true,
    };
    refill_in_step(&mut sender, &mut receiver, first, mesh)?;
    let count = |party: usize| number(&setup["iterations"][party]);
    for at in 0..count(0).max(count(1)) {
        let run = Directions {
            sends: at < count(me),
            more: at + 1 < count(me),
            receives: at < count(1 - me),
        };
        refill_in_step(&mut sender, &mut receiver, run, mesh)?;
    }
    let [mut q, mut t] = [sender.ready(), receiver.ready()].map(|ready| vec![Block::ZERO; ready]);
    let mut choices = vec![Block::ZERO; packed_blocks(t.len())];
    sender.extend(mesh, &mut q)?;
    receiver.extend(mesh, &mut choices, &mut t)?;
    Ok((q, choices, t))
}

#[test]
fn directions_in_step_are_those_of_the_vectors() {
    let (file, (meshes, logs)) = (read("silent"), recorded(2));
    let setup = &file["in_step"];
    let made = on_threads(meshes, |mut mesh| {
        caught(|| both_ways(setup, &mut mesh).expect("honest")).unwrap_or_default()
    });
    let crossed = crossed(&logs);
    let messages = [(0, 1), (1, 0)]
        .into_iter()
        .flat_map(|(from, to): (usize, usize)| {
            let frames = crossed[from][to].iter();
            frames.map(move |frame| json!([from, frame.stamp, stated(&frame.payload)]))
        });
    let messages = json!(messages.collect::<Vec<_>>());
    let differs = || first_difference(&setup["messages"], &messages);
    assert!(
        setup["messages"] == messages,
        "silent, in step: {}",
        differs()
    );
    for (way, direction) in list(&setup["directions"]).iter().enumerate() {
        let (q, (_, choices, t)) = (&made[way].0, &made[1 - way]);
        let choices = &Block::as_bytes(choices)[..t.len().div_ceil(8)];
        let found = [Block::as_bytes(q), choices, Block::as_bytes(t)].map(stated);
        let wanted = ["q", "choices", "t"].map(|field| direction[field].clone());
        assert_eq!(found, wanted, "direction {way}");
    }
}
