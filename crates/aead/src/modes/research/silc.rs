//! SILC: Iwata, Minematsu, Guo, Morioka and Kobayashi, "CLOC and SILC", submission to CAESAR,
//! version 3; version 1 is "SILC: SImple Lightweight CFB". For research.
//!
//! The chains of CLOC ([`super::cloc`]) from a simpler hash: lengths replace padding, and one map
//! replaces five. Version 3 differs by a byte, which names the parameters, before the nonce.

use sealane_block::{Block, Cpu, Lanes, Tier};

use super::cloc::{PARAMETERS, TO_MAC, TO_PAD, TOP, two_chains};
use super::keys::ResearchKeys;
use super::shared::{all_if, by_number, by_rest, forward, last_block, same_rest};
use crate::lanes::head::block_of;
use crate::lanes::tail::first_bytes;
use crate::lanes::{Data, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Silc;

impl Mode for Silc {
    type Schedules = Of<1>;
    type Constants = Of<0>;
    type Words = Of<2>;
    const PARALLEL: bool = false;
    const WIDEST: Tier = Tier::Vaes256;

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<Silc> {
        KeyMaterial::new(params, [forward(cpu, key)])
    }
    fn rest(text: usize) -> usize {
        last_block(text)
    }

    /// The nonce, at the end of its block, then the associated data.
    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        1 + message.ad.len().div_ceil(16)
    }
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
    fn absorb<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        block: Wave<L, N>,
        _head: &Head<'_, L, N>,
    ) {
        state[TO_MAC] = keys.encrypt_late(0, block, state[TO_MAC]);
    }

    #[inline(always)]
    fn begin<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        head: &Head<'_, L, N>,
    ) {
        let l = keys.l();
        let len = by_number(l, head.messages, |message| message.ad.len(), length);
        let start = step(state[TO_MAC] ^ len);
        state[TO_MAC] = step(start);
        state[TO_PAD] = start ^ Wave::splat(l, TOP);
    }

    #[inline(always)]
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        _pass: usize,
    ) {
        two_chains::<L, N, OPEN>(keys, state, data);
    }

    #[inline(always)]
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        tail: &mut Tail<'_, L, N>,
    ) {
        let l = keys.l();
        let mut mac = keys.encrypt(0, state[TO_MAC]);
        if tail.most > 0 {
            let same = same_rest(tail);
            let text = by_rest(l, tail, same, first_bytes);
            let top = Wave::splat(l, TOP);
            let made = keys.encrypt_late_onto(0, top, state[TO_PAD], tail.given[0]) & text;
            tail.made[0] = made;
            let sealed = if OPEN { tail.given[0] } else { made };
            let more = keys.encrypt_late(0, sealed, mac);
            mac = mac.unless(by_rest(l, tail, same, |rest| all_if(rest > 0)), more);
        }
        let len = by_number(l, tail.messages, |message| message.text, length);
        tail.tag::<OPEN>(keys.encrypt(0, step(mac ^ len)));
    }
}

/// A length in bytes, most significant byte first, at the end of a block.
fn length(len: usize) -> Block {
    Block::from_bytes((len as u128).to_be_bytes())
}

/// The map g: bytes (x0, x1, ..., x15) to (x1, ..., x15, x0 ^ x1).
#[inline(always)]
fn step<L: Lanes, const N: usize>(x: Wave<L, N>) -> Wave<L, N> {
    let next = x.shr_bytes::<1>();
    next ^ (x ^ next).shl_bytes::<15>()
}
