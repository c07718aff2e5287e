//! Vectors of the wire: coins, sums of MACs, shifts, and batches of products.

use super::{EVALUATOR, GARBLER};
use crate::bits::{Bits, pack_lowest};
use crate::products::Shape;
use crate::products::batch::{self, Making};
use crate::products::leaky::{Layers, Leaky, Place};
use crate::sums::Challenges;
use sealane_block::hash::Mi;
use sealane_block::{Block, Coins, Cpu, LabelHash, Nonce, Seed};
use sealane_net::Mesh;
use sealane_party::{Purpose, Toss};
use sealane_testkit::record::{crossed, recorded};
use sealane_testkit::side::on_threads;
use sealane_testkit::vectors::{
    Value, array, blocks, bytes, check_in, dealt, json, label, number, on_tiers, session, stated,
};

fn coins(of: &Value, mesh: &Mesh) -> Coins {
    let seed = array(&of["seeds"][mesh.me().index()]);
    Coins::danger_seeded(Seed::from_bytes(&seed))
}

fn nonce(of: &Value) -> Nonce {
    Nonce::from_bytes(array(&of["nonce"]))
}

/// Runs both parties; returns the messages of each, and its end.
fn both<R: Send>(of: &Value, run: impl Fn(&mut Mesh) -> R + Sync) -> (Value, Vec<R>) {
    let (meshes, logs) = recorded(2);
    let ends = on_threads(meshes, |mut mesh| {
        mesh.set_session(session(&of["session"]));
        run(&mut mesh)
    });
    let messages = crossed(&logs);
    let sent = [(0, 1), (1, 0)].map(|(from, to)| {
        let frames = messages[from][to].iter();
        frames
            .map(|frame| stated(&frame.payload))
            .collect::<Value>()
    });
    (json!(sent), ends)
}

/// A coin that both parties toss.
fn toss(of: &Value) -> Value {
    let purpose = Purpose {
        name: label(&of["name"]),
        number: number(&of["number"]),
        check: "a check",
    };
    let (messages, ends) = both(of, |mesh| {
        let peer = if mesh.me() == GARBLER {
            EVALUATOR
        } else {
            GARBLER
        };
        let toss = Toss::commit(purpose, &[peer], &mut coins(of, mesh), mesh).expect("a mesh");
        mesh.flush().expect("a mesh in memory");
        let toss = toss.hear(mesh).and_then(|toss| toss.open(mesh));
        mesh.flush().expect("a mesh in memory");
        let coin = toss.and_then(|toss| toss.finish(mesh)).expect("honest");
        *coin.as_bytes()
    });
    assert_eq!(ends[0], ends[1]);
    json!({ "messages": messages, "coin": stated(&ends[0]) })
}

/// One party of a batch, and what a test says of it.
fn making<'a>(
    of: &Value,
    mesh: &Mesh,
    (hash, challenges): (&'a Mi, &'a Challenges),
    (bits, shares): (&'a Bits, &'a [u8]),
) -> Making<'a> {
    let shape = Shape {
        bucket: number(&of["buckets"]) as usize,
        products: number(&of["products"]) as usize,
    };
    let (offsets, _) = dealt(&bytes(&of["dealt"]), 0);
    let me = mesh.me().index();
    Making {
        place: Place {
            cpu: Cpu::best(),
            hash,
            number: of["number"].as_u64().unwrap_or(0),
            garbles: me == 0,
            offset: offsets[me],
            shape,
        },
        challenges,
        session: session(&of["session"]),
        peer: [EVALUATOR, GARBLER][me],
        bits: Layers {
            items: shape.products,
            mac: &bits.mac,
            key: &bits.key,
            shares,
        },
        errors: &[],
    }
}

/// A batch that both parties make.
fn made(of: &Value) -> Value {
    let count = 3 * number(&of["buckets"]) * number(&of["products"]);
    let (messages, products) = both(of, |mesh| {
        let (_, dealt) = dealt(&bytes(&of["dealt"]), count as usize);
        let bits = dealt.map(|[mac, key]| Bits { mac, key });
        let id = session(&of["session"]);
        let challenges = Challenges::new(Cpu::best(), id, nonce(of));
        let mut seed = nonce(of).stream("auth: rows of products", id.as_bytes());
        let hash = Mi::new(Cpu::best(), seed.block());
        let bits = &bits[mesh.me().index()];
        let shares = pack_lowest([&bits.mac[..]].into_iter());
        let making = making(of, mesh, (&hash, &challenges), (bits, &shares));
        let coins = &mut coins(of, mesh);
        let toss = batch::toss(making.place.number, making.peer, coins, mesh).expect("a mesh");
        mesh.flush().expect("a mesh in memory");
        let leaky = &mut Leaky::default();
        let (opened, shifts) = making.checked(toss, leaky, coins, mesh).expect("honest");
        let differences = making.differences(&shifts, mesh).expect("honest");
        let none = vec![Block::ZERO; making.place.shape.products];
        let mut made = [(); 3].map(|()| [none.clone(), none.clone()]);
        let mut parts = made
            .each_mut()
            .map(|of| of.each_mut().map(|of| &mut of[..]));
        making.combine(&shifts, &opened, &differences, &mut parts);
        let all = made.iter().flat_map(|of| of.concat());
        stated(Block::as_bytes(&all.collect::<Vec<_>>()))
    });
    json!({ "messages": messages, "products": products })
}

/// Shifts of the layers of a batch but the first.
fn shifts(of: &Value) -> Value {
    let mesh = &Mesh::in_memory(2)[0];
    let of = json!({ "buckets": of["buckets"], "products": of["products"], "dealt": "",
        "session": of["session"], "coin": of["coin"] });
    let challenges = Challenges::new(
        Cpu::best(),
        session(&of["session"]),
        Nonce::from_bytes([0; 32]),
    );
    let (hash, bits) = (Mi::new(Cpu::best(), Block::ZERO), Bits::default());
    let making = making(&of, mesh, (&hash, &challenges), (&bits, &[]));
    let shifts = making.shifts(Nonce::from_bytes(array(&of["coin"])));
    json!({ "shifts": shifts[1..] })
}

fn sum(of: &Value) -> Value {
    on_tiers(|cpu| {
        let challenges = Challenges::new(cpu, session(&of["session"]), nonce(of));
        let garbler = number(&of["evaluator"]) == 0;
        let (place, at) = (number(&of["place"]) as u8, number(&of["number"]));
        let sum = challenges.sum(place, at, usize::from(!garbler), &bytes(&of["bits"]));
        let sum = sum.and_all([&blocks(&of["blocks"])[..]]).value();
        json!({ "sum": stated(&sum.to_bytes()) })
    })
}

#[test]
fn products_are_those_of_the_vectors() {
    check_in(
        "auth",
        "auth",
        &[
            ("toss", |of| Ok(toss(of))),
            ("mac-sum", |of| Ok(sum(of))),
            ("shifts", |of| Ok(shifts(of))),
            ("batch", |of| Ok(made(of))),
        ],
    );
}
