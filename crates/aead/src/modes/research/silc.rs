//! SILC: Iwata, Minematsu, Guo, Morioka and Kobayashi, "CLOC and SILC", submission to CAESAR,
//! version 3; version 1 is "SILC: SImple Lightweight CFB". For research.
//!
//! The chains of CLOC ([`super::cloc`]) from a simpler hash: lengths replace padding, and one map
//! replaces five. Version 3 differs by a byte, which names the parameters, before the nonce.

use sealane_block::{Block, Tier};

use super::cloc::{PARAMETERS, TO_MAC, TO_PAD, TOP, last_pad, two_chains};
use super::shared::{by_number, last_block};
use crate::lanes::head::block_of;
use crate::lanes::{Data, Facts, Head, Keys, Mode, Of, Params, Shape, State, Tail, Wave};

pub(crate) struct Silc;

impl Mode for Silc {
    type Schedules = Of<1>;
    type Constants = Of<0>;
    type Words = Of<2>;
    const PARALLEL: bool = false;
    const WIDEST: Tier = Tier::Vaes256;

    fn rest(text: usize) -> usize {
        last_block(text)
    }

    /// The nonce, at the end of its block, then the associated data.
    #[inline(always)]
    fn head_block(params: &Params, message: &Facts<'_>, index: usize) -> Block {
        if index > 0 {
            return block_of(message.ad, index - 1);
        }
        let front = 16 - message.nonce.len();
        let parameters = match params.version {
            1 => 0,
            _ => u128::from(PARAMETERS) << (8 * (front - 1)),
        };
        Block::new(block_of(message.nonce, 0).value() << (8 * front) | parameters)
    }

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        state[TO_MAC] = keys.encrypt_late(0, head.block, state[TO_MAC]);
    }

    #[inline(always)]
    fn begin<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let l = keys.l();
        let len = by_number(l, head.messages, |message| message.ad.len(), length);
        let start = step(state[TO_MAC] ^ len);
        state[TO_MAC] = step(start);
        state[TO_PAD] = start ^ Wave::splat(l, TOP);
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        two_chains(keys, state, data);
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let mut mac = keys.encrypt(0, state[TO_MAC]);
        if tail.most > 0 {
            let [_, sealed] = tail.mask::<K>(last_pad(keys, state));
            let more = keys.encrypt_late(0, sealed, mac);
            mac = mac.unless(tail.where_rest(l, |rest| rest > 0), more);
        }
        let len = by_number(l, tail.messages, |message| message.text, length);
        tail.tag::<K>(keys.encrypt(0, step(mac ^ len)));
    }
}

/// A length in bytes, most significant byte first, at the end of a block.
fn length(len: usize) -> Block {
    Block::from_bytes((len as u128).to_be_bytes())
}

/// The map g: bytes (x0, x1, ..., x15) to (x1, ..., x15, x0 ^ x1).
#[inline(always)]
fn step<S: Shape>(x: Wave<S>) -> Wave<S> {
    let next = x.shr_bytes::<1>();
    next ^ (x ^ next).shl_bytes::<15>()
}
