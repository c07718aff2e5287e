//! Vectors of the wire: extensions from given leaves, requests and answers.

use super::{OneOfN, Request, StringsReceiver, StringsSender, large};
use crate::Security;
use crate::softspoken::receiver::VoleReceiver;
use crate::softspoken::sender::VoleSender;
use crate::traits::choice;
use sealane_block::{Block, Cpu, Seed};
use sealane_net::Mesh;
use sealane_testkit::record::recorded;
use sealane_testkit::vectors::{
    Value, block, blocks, bytes, json, list, number, on_tiers, session, stated,
};
use zeroize::Zeroizing;

fn parameters(of: &Value) -> OneOfN {
    let [bits, k] = ["bits", "k"].map(|field| number(&of[field]) as u8);
    OneOfN::new(bits, k, Security::Malicious)
}

/// Leaves that are made up for a seed.
fn leaves(of: &Value) -> Vec<Vec<Seed>> {
    let subspace = parameters(of).subspace();
    let mut stream = blake3::Hasher::new_derive_key("sealane vectors leaves")
        .update(&bytes(&of["leaves"]))
        .finalize_xof();
    let mut leaf = |_| {
        let mut leaf = [0; 32];
        stream.fill(&mut leaf);
        Seed::from_bytes(&leaf)
    };
    let mut tree = |_| (0..1 << subspace.k).map(&mut leaf).collect();
    (0..subspace.trees()).map(&mut tree).collect()
}

/// Both parties, with the leaves that each knows.
fn parties(of: &Value, cpu: Cpu, meshes: [&Mesh; 2]) -> (StringsSender, StringsReceiver) {
    let (parameters, delta) = (parameters(of), blocks(&of["delta"]));
    let (subspace, session) = (parameters.subspace(), meshes[0].session());
    let [s, r] = meshes.map(Mesh::me);
    let trees = leaves(of);
    let known = trees.iter().zip(subspace.columns()).map(|(tree, columns)| {
        let lost = columns
            .rev()
            .fold(0, |lost, column| lost << 1 | choice(&delta, column));
        let places = (1..tree.len()).map(|j| tree[j ^ usize::from(lost)].clone());
        places.collect::<Vec<_>>()
    });
    let known = known.collect::<Vec<_>>();
    let sender = VoleSender {
        parameters: subspace,
        cpu,
        peer: r,
        delta: Zeroizing::new(delta),
        trees: subspace.generators(cpu, session, &known),
    };
    let receiver = VoleReceiver {
        parameters: subspace,
        cpu,
        peer: s,
        trees: subspace.generators(cpu, session, &trees),
    };
    let sender = StringsSender::of(parameters, sender, meshes[0]);
    (sender, StringsReceiver::of(parameters, receiver, meshes[1]))
}

/// Extensions with given choices, and what crosses for chosen strings.
pub(in crate::softspoken) fn turns(of: &Value) -> Value {
    let ends = ["sender", "receiver"].map(|end| number(&of[end]) as usize);
    on_tiers(|cpu| {
        let (mut meshes, logs) = recorded(2);
        if ends[0] == 1 {
            meshes.reverse();
        }
        let [mut at_sender, mut at_receiver] = <[Mesh; 2]>::try_from(meshes).ok().expect("two");
        for mesh in [&mut at_sender, &mut at_receiver] {
            mesh.set_session(session(&of["session"]));
        }
        let (mut sender, mut receiver) = parties(of, cpu, [&at_sender, &at_receiver]);
        for turn in list(&of["turns"]) {
            let choices = list(&turn["choices"]).iter().map(|at| number(at) as u8);
            let choices = choices.collect::<Vec<_>>();
            let (length, strings) = (number(&turn["length"]) as usize, blocks(&turn["strings"]));
            let request = Request::new(&mut receiver, &mut at_receiver, &choices);
            at_receiver.flush().expect("memory");
            let sent = sender.send_chosen(&mut at_sender, length, &strings);
            sent.expect("an honest receiver");
            at_sender.flush().expect("memory");
            let mut got = vec![Block::ZERO; length * choices.len()];
            let finished = request
                .expect("memory")
                .finish(&mut at_receiver, length, &mut got);
            finished.expect("memory");
            let all = strings.chunks(length << number(&of["bits"]));
            for ((got, all), choice) in got.chunks(length).zip(all).zip(&choices) {
                let wanted = &all[length * usize::from(*choice)..][..length];
                assert_eq!(Block::as_bytes(got), Block::as_bytes(wanted));
            }
        }
        let [sender, receiver] = ends;
        let (asked, answered) = (logs[receiver][sender].sent(), logs[sender][receiver].sent());
        let turns = asked.iter().zip(&answered).map(|(asked, answered)| {
            json!({ "request": stated(&asked.payload), "answer": stated(&answered.payload) })
        });
        json!({ "turns": turns.collect::<Vec<_>>() })
    })
}

/// The word of a choice.
pub(in crate::softspoken) fn word(of: &Value) -> Value {
    let subspace = parameters(of).subspace();
    let choice = number(&of["choice"]) as u8;
    let word = subspace.code.word(choice, subspace.trees());
    json!({ "word": stated(&word.to_le_bytes()) })
}

/// The key of an index of several bytes.
pub(in crate::softspoken) fn key(of: &Value) -> Value {
    let keys = list(&of["keys"]).iter().map(block).collect::<Vec<_>>();
    let (transfer, index) = (number(&of["transfer"]) as usize, number(&of["index"]));
    let key = large::combine(transfer, index, &keys);
    json!({ "key": stated(&key.to_bytes()) })
}
