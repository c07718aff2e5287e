//! Vectors of the wire: fills, changes to them, and keys, files and names.

use super::*;
use crate::fill::fill_id;
use crate::keys::ChainKey;
use crate::state::{Offer, seal_text};
use sealane_net::SessionId;
use sealane_testkit::record::{Crossed, crossed, recorded};
use sealane_testkit::setups;
use sealane_testkit::vectors::{Value, array, bytes, caught, check, json, number, stated, text};

fn order(of: &Value) -> Order {
    let network = text(&of["network"]).parse().expect("a network");
    let batches = [0, 1].map(|receiver| number(&of["batches"][receiver]));
    Order { batches, network }
}

/// OTs and names of a fill at a party, as the file has them.
fn found(
    pool: &Pool,
    offers: [&Offer; 2],
    order: Order,
    party: usize,
    session: SessionId,
) -> Value {
    let [mine, theirs] = offers;
    let mut found = json!({});
    for (receiver, batches) in order.batches.into_iter().enumerate() {
        if batches == 0 {
            continue;
        }
        let wanted = [(role(party, receiver), batches)];
        let taken = pool.take(&wanted, mine, theirs);
        let mut stock = taken.expect("what was filled").0.remove(0);
        match read(&mut stock, wanted[0].0, batches as usize * BATCH) {
            Transfers::Pairs(pairs) => {
                found["pairs"] = stated(Block::as_bytes(pairs.as_flattened()));
            }
            Transfers::Keys(choices, keys) => {
                let packed = choices.chunks(8).map(|bits| {
                    let placed = bits.iter().zip(0..);
                    placed.fold(0, |byte, (bit, at)| byte | bit << at)
                });
                found["keys"] = stated(Block::as_bytes(&keys));
                found["choices"] = stated(&packed.collect::<Vec<_>>());
            }
        }
        found["name"] = stated(&fill_id(session, PartyId(receiver as u8)));
    }
    found
}

/// Runs a party of a fill of empty pools.
fn party(setup: &Value, pool: &Pool, mesh: &mut Mesh) -> Result<u64, FillError> {
    let me = mesh.me().index();
    let filling = Filling {
        pool,
        cpu: Cpu::best(),
        progress: &mut |_| (),
        least: setup["least"].get(me).map(number),
    };
    let coins = Coins::danger_fixed_seed(number(&setup["seeds"][me]));
    filling.run(order(setup), coins, mesh)
}

/// Runs a fill; returns what crossed, and what the file has of it.
fn run(setup: &Value) -> (Crossed, Value) {
    let (pools, (meshes, logs)) = (Model::default().pools(), recorded(2));
    // What crossed before a party failed tells where.
    let sessions = on_threads(meshes, |mut mesh| {
        let pool = &pools[mesh.me().index()];
        let filled = caught(|| party(setup, pool, &mut mesh).map_err(|_| "a fill failed".into()));
        filled.flatten().map(|_| mesh.session())
    });
    let crossed = crossed(&logs);
    let offers = pools.each_ref().map(|pool| pool.offer().expect("an offer"));
    let ends = sessions.into_iter().enumerate();
    let found = ends.map(|(party, end): (usize, Result<_, String>)| match end {
        Ok(session) => {
            let offers = [&offers[party], &offers[1 - party]];
            found(&pools[party], offers, order(setup), party, session)
        }
        Err(error) => json!(error),
    });
    let found = found.collect::<Vec<_>>();
    (crossed, json!(found))
}

/// The code of an error, and the party that it blames.
fn verdict(error: FillError, peer: PartyId) -> (String, Option<PartyId>) {
    let fault = match error {
        FillError::Differs(_) | FillError::KeepsOther(_) => {
            return ("pool-differs".into(), Some(peer));
        }
        FillError::Pool(error) => return (error.code.to_string(), None),
        FillError::Fault(fault) => fault,
    };
    match fault {
        Fault::Altered(party) => ("altered".into(), Some(party)),
        Fault::Deviated { party, .. } => ("peer-deviated".into(), Some(party)),
        Fault::Net(error) => (error.code().to_string(), error.party()),
        fault => (fault.to_string(), None),
    }
}

#[test]
fn fills_are_those_of_the_vectors() {
    setups::check(("pools", "fill", "pool"), run, |setup, mesh| {
        let me = mesh.me();
        let pool = &Model::default().pools()[me.index()];
        let ended = party(setup, pool, mesh);
        // What was not agreed on is not in the pool.
        assert_eq!(pool.count(Role::Sender).unwrap().left, 0);
        assert_eq!(pool.count(Role::Receiver).unwrap().left, 0);
        match ended {
            Ok(_) => Ok(Value::Null),
            Err(error) => Err(verdict(error, PartyId(1 - me.0))),
        }
    });
}

#[test]
fn files_are_those_of_the_vectors() {
    check(
        "pool",
        &[
            ("pool-batch", |of| {
                let mut key = ChainKey::fresh().expect("randomness");
                key.bytes_mut().copy_from_slice(&bytes(&of["key"]));
                key.advance(number(&of["steps"]));
                let (id, first, batches) = (array(&of["fill"]), 0, 1);
                let role = [Role::Sender, Role::Receiver][number(&of["half"]) as usize];
                let cipher = Fill { id, first, batches }.cipher(role, number(&of["number"]), &key);
                let mut text = [bytes(&of["batch"]), vec![0; 16]].concat();
                cipher.seal(&mut text);
                Ok(json!({ "sealed": stated(&text) }))
            }),
            ("pool-state", |of| {
                let wrap = WrapKey::new(&bytes(&of["private"]), &bytes(&of["peer"]));
                let file = seal_text(&wrap, &array(&of["salt"]), &mut bytes(&of["state"]));
                Ok(json!({ "file": stated(&file) }))
            }),
        ],
    );
}
