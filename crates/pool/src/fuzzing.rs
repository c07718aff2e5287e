//! Bytes of other parties and of files, exposed to the fuzzer (`fuzz/`) alone. It is no part of the
//! documented interface.
//!
//! Each function returns what this crate itself would write for the value that it read.

use crate::fill::Hello;
use crate::keys::{ChainKey, WrapKey};
use crate::state::{Fill, Half, Offer, PoolState};
use sealane_ot::Role;

/// Parses bytes as the first message of a fill.
pub fn hello(bytes: &[u8]) -> Option<Vec<u8>> {
    let hello = sealane_net::fuzzing::control::<Hello>(bytes);
    if let Ok(Hello { order, offer, .. }) = postcard::from_bytes(bytes)
        && offer.is_valid()
        && order.batches.iter().all(|batches| *batches <= 1 << 12)
    {
        // Amounts that a person may ask for have a cost.
        assert!(order.payload_bytes() < u64::MAX);
    }
    hello
}

/// Reads bytes as the file of a state, and as the text in one that this party has sealed: what is
/// accepted comes back from a file as it was.
///
/// # Panics
/// If a file that nobody has sealed is one, or a state does not come back.
pub fn state(bytes: &[u8]) -> Option<Vec<u8>> {
    let key = WrapKey::new(b"fuzz", &[7; 32]);
    assert!(PoolState::open(&key, bytes).is_none(), "a forged file");
    let state = PoolState::read(bytes)?;
    let plain = |state: &PoolState| postcard::to_stdvec(state).expect("room in memory");
    let file = state.seal(&key).expect("randomness");
    let again = PoolState::open(&key, &file).expect("what was sealed");
    assert_eq!(plain(&state), plain(&again));
    let other = WrapKey::new(b"fuzz", &[8; 32]);
    assert!(PoolState::open(&other, &file).is_none(), "another key");
    Some(plain(&state))
}

/// Fills of the pool of [`agree`]: two that follow one another, and one after a gap.
const FILLS: [(u8, u64, u64); 3] = [(1, 0, 3), (2, 3, 2), (3, 7, 1)];
/// The next batch of that pool, which has taken one.
const NEXT: u64 = 1;

fn fill((id, first, batches): (u8, u64, u64)) -> Fill {
    let id = [id; 16];
    Fill { id, first, batches }
}

/// A pool at a receiver, and the key of its next batch.
fn pool() -> (PoolState, ChainKey) {
    let mut state = PoolState::empty().expect("randomness");
    let half = state.half_mut(Role::Receiver);
    let fills = FILLS.map(fill).to_vec();
    (half.next, half.taken, half.fills) = (NEXT, NEXT, fills);
    let key = half.key.clone();
    (state, key)
}

/// Reads bytes as the state that another party tells of its pool, and lets a pool agree with it and
/// take. Batches are those that both hold, from the larger number on, each under its own key.
///
/// # Panics
/// If they are others.
pub fn agree(bytes: &[u8]) -> Option<Vec<u8>> {
    let offer = sealane_net::fuzzing::control::<Offer>(bytes)?;
    let theirs: Offer = postcard::from_bytes(bytes).ok()?;
    if !theirs.is_valid() {
        return None;
    }
    let (mut state, first) = pool();
    let role = Role::Receiver;
    let theirs = theirs.opposite(role);
    let next = theirs.next.max(NEXT);
    let held = FILLS.map(fill);
    let held = held.iter().filter(|fill| theirs.fills.contains(fill));
    let numbers = held.flat_map(|fill| fill.first..fill.end());
    let numbers = numbers.filter(|number| *number >= next).collect::<Vec<_>>();
    let count = numbers.len() as u64;

    let half: &mut Half = state.half_mut(role);
    let before = half.left();
    assert_eq!(half.left_with(theirs), count);
    half.agree(theirs).expect("randomness");
    assert_eq!((half.left(), half.next), (count, next));
    assert_eq!(half.lost, before - count);
    for wanted in [count.min(2), count - count.min(2)] {
        let at = (count - half.left()) as usize;
        let parts = half.take(wanted).expect("randomness");
        let taken = parts.iter().flat_map(|part| {
            let number = move |i| (&part.fill, part.first + i, i, &part.key);
            (0..part.batches).map(number)
        });
        for ((fill, number, steps, key), wanted) in taken.zip(&numbers[at..]) {
            assert_eq!(number, *wanted);
            let (mut key, mut expected) = (key.clone(), first.clone());
            key.advance(steps);
            expected.advance(number - NEXT);
            let of = |key| fill.cipher(role, number, key);
            let mut text = [9; 40];
            of(&expected).seal(&mut text);
            assert!(of(&key).open(&mut text), "the key of the batch");
        }
        assert_eq!(parts.iter().map(|part| part.batches).sum::<u64>(), wanted);
    }
    assert_eq!(half.left(), 0);
    Some(offer)
}

/// Examples of what [`state`] and [`agree`] read: that pool, one that has gone on and lacks a fill,
/// and one with a fill more.
pub fn examples() -> [Vec<(&'static str, Vec<u8>)>; 2] {
    let reported = |next, fills: &[(u8, u64, u64)]| {
        let (mut state, _) = pool();
        let half = state.half_mut(Role::Sender);
        (half.next, half.fills) = (next, fills.iter().copied().map(fill).collect());
        state
    };
    let more = [FILLS[0], FILLS[1], FILLS[2], (4, 8, 5)];
    let states = [
        ("same", reported(NEXT, &FILLS)),
        ("ahead", reported(4, &FILLS[1..])),
        ("more", reported(0, &more)),
        ("empty", reported(9, &[])),
    ];
    let plain = |(name, state): &(&'static str, PoolState)| {
        (*name, postcard::to_stdvec(state).expect("room in memory"))
    };
    let offer = |(name, state): &(&'static str, PoolState)| {
        let offer = postcard::to_stdvec(&state.offer());
        (*name, offer.expect("room in memory"))
    };
    [
        states.iter().map(plain).collect(),
        states.iter().map(offer).collect(),
    ]
}
