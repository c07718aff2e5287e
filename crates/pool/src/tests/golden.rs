//! Golden fill: what crosses and what is stored under fixed coins; what no two fills share.

use super::*;
use crate::fill::offset;
use crate::keys::{ChainKey, OneTime};
use sealane_testkit::golden;

/// A text under each of eight keys of a kind, which differ in some of their parts.
fn texts(cipher: impl Fn([u8; 3]) -> OneTime) -> Vec<[u8; 32]> {
    let mut texts = vec![[0; 32]; 8];
    for (number, text) in (0..8u8).zip(&mut texts) {
        cipher([0, 1, 2].map(|bit| number >> bit & 1)).seal(&[], text);
    }
    texts
}

/// Texts of states and of batches.
fn all_texts() -> Vec<[u8; 32]> {
    let states = texts(|[private, peer, salt]| {
        WrapKey::new(&[private; 32], &[peer; 32]).cipher(&[salt; 32])
    });
    let batches = texts(|[chain, fill, number]| {
        let mut key = ChainKey::fresh().unwrap();
        key.bytes_mut().fill(chain);
        key.advance(2);
        key.cipher(&[fill; 16], number.into())
    });
    [states, batches].concat()
}

#[test]
fn every_state_and_every_batch_of_every_fill_has_a_key_of_its_own() {
    assert_eq!(all_texts().iter().collect::<HashSet<_>>().len(), 16);
}

#[test]
fn every_fill_and_every_session_has_an_offset_of_its_own() {
    let mut offsets = HashSet::new();
    for session in [[1; 32], [2; 32]] {
        let mut coins = Coins::danger_fixed_seed(1).enter(&session);
        offsets.extend([(); 2].map(|()| offset(&mut coins).value()));
    }
    assert_eq!(offsets.len(), 4);
}

#[test]
fn a_fill_and_keys_are_those_of_this_wire_version() {
    let (pools, network) = (Model::default().pools(), NetworkClass::LAN);
    let mut parts = vec![("keys", all_texts().concat())];
    let order = Order {
        batches: [2, 1],
        network,
    };
    let sent = fill_to(&pools, order, [None; 2], 1).map(|end| end.ok().expect("a fill").2);
    parts.push(("sent", sent.concat()));
    for (receiver, batches) in [2, 1].into_iter().enumerate() {
        for (party, share) in take(&pools, receiver, batches).into_iter().enumerate() {
            let count = batches as usize * BATCH;
            let stored = read(&mut share.unwrap().0, role(party, receiver), count);
            parts.push(match stored {
                Transfers::Pairs(pairs) => ("pairs", Block::as_bytes(pairs.as_flattened()).into()),
                Transfers::Keys(choices, keys) => {
                    ("choices", [&choices, Block::as_bytes(&keys)].concat())
                }
            });
        }
    }
    let line = |(name, bytes): (&str, Vec<u8>)| format!("{name} {}\n", blake3::hash(&bytes));
    let lines: String = parts.into_iter().map(line).collect();
    golden::is("crates/pool/src/tests/golden.txt", &lines);
}
