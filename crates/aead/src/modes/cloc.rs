//! CLOC: Iwata, Minematsu, Guo and Morioka, "CLOC: Authenticated Encryption for Short Input" (FSE
//! 2014), and "CLOC and SILC", submission to CAESAR, version 3. For research.
//!
//! CFB for the text and CBC-MAC over the ciphertext, from one hash of nonce and associated data. The
//! two chains run side by side; each waits for its own block before. Version 3 differs by a byte,
//! which names the parameters, before the nonce.

use sealane_block::{Block, Cpu, Lanes};

use super::shared::{by_message, forward};
use crate::lanes::head::{padded_block_of, padded_with};
use crate::lanes::{Data, Facts, Head, Keys, Material, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Cloc;

/// What the cipher makes the next pad of.
pub(crate) const TO_PAD: usize = 0;
/// What it makes the MAC of that there is so far. In the head, what there is of the hash.
pub(crate) const TO_MAC: usize = 1;

/// The byte of version 3 for AES, nonces of 12 bytes and tags of 8.
pub(crate) const PARAMETERS: u8 = 0xc0;

/// The top bit of byte 0, which keeps the inputs of the two chains, and of the hash, apart.
const TOP: Block = Block::new(0x80);

impl Mode for Cloc {
    type Schedules = Of<1>;
    type Constants = Of<0>;
    type Words = Of<2>;

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> Material<Cloc> {
        let mut material = Material::new(params);
        material.schedules = [forward(cpu, key)];
        material
    }
    fn is_parallel(_open: bool) -> bool {
        false
    }
    fn rest(text: usize) -> usize {
        but_the_last(text)
    }

    /// The associated data, of which none counts as one block of no bytes.
    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        message.ad.len().div_ceil(16).max(1)
    }
    fn head_block(_params: &Params, message: &Facts<'_>, index: usize) -> Block {
        padded_block_of(message.ad, index)
    }

    #[inline(always)]
    fn absorb<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        block: Wave<L, N>,
        head: &Head<'_, L, N>,
    ) {
        if head.index > 0 {
            state[TO_MAC] = keys.encrypt_late(0, block, state[TO_MAC]);
            return;
        }
        let top = block & Wave::splat(keys.l(), TOP);
        let hash = keys.encrypt(0, block ^ top);
        // h is four steps, and the input plus one of them.
        state[TO_MAC] = hash ^ (block.where_top_bit() & step(hash));
    }

    #[inline(always)]
    fn begin<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        head: &Head<'_, L, N>,
    ) {
        let l = keys.l();
        let version = keys.params().version;
        let nonce = by_message(l, head, |message| match version {
            1 => padded_block_of(message.nonce, 0),
            _ => {
                let end = Block::new(0x80 << (8 * (1 + message.nonce.len())));
                padded_with(&[PARAMETERS], message.nonce, 0) ^ end
            }
        });
        let full = by_message(l, head, |message| match message.ad.len() {
            0 => Block::ZERO,
            len => all_if(len.is_multiple_of(16)),
        });
        let start = finished(state[TO_MAC] ^ nonce, full);
        let empty = by_message(l, head, |message| all_if(message.text == 0));
        let next = step(start);
        // The tag of a message without text is made here: g1, two steps.
        state[TO_MAC] = next.or(empty, step(next));
        state[TO_PAD] = start;
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
        let mut tag = keys.encrypt(0, state[TO_MAC]);
        if tail.most > 0 {
            let made = keys.encrypt_onto(0, state[TO_PAD], tail.given[0]) & tail.text_mask(l, 0);
            tail.made[0] = made;
            let sealed = if OPEN { tail.given[0] } else { made };
            let last = tag ^ sealed ^ tail.end_bit(l, 0);
            let last = finished(last, tail.where_rest(l, |rest| rest == 16));
            let more = keys.encrypt(0, last);
            tag = tag.or(tail.where_rest(l, |rest| rest > 0), more);
        }
        tail.tag::<OPEN>(tag);
    }
}

/// What the tail takes of a text: its last block, full or not, which differs from the others.
pub(crate) fn but_the_last(text: usize) -> usize {
    match text {
        0 => 0,
        _ => (text - 1) % 16 + 1,
    }
}

/// The chains of CLOC and SILC over blocks that are not the last.
#[inline(always)]
pub(crate) fn two_chains<L: Lanes, const N: usize, const OPEN: bool>(
    keys: &impl Keys<L, N>,
    state: &mut [Wave<L, N>; 2],
    data: &mut impl Data<L, N>,
) {
    let l = keys.l();
    let (top, others) = (
        Wave::splat(l, TOP),
        Wave::splat(l, Block::new(!TOP.value())),
    );
    let [mut to_pad, mut to_mac] = *state;
    for unit in 0..data.units() {
        let given = data.load(l, unit, 0);
        // The two calls do not wait for each other.
        let made = keys.encrypt_onto(0, to_pad, given);
        data.store(unit, 0, made);
        let mac = keys.encrypt(0, to_mac);
        let sealed = if OPEN { given } else { made };
        to_pad = (sealed & others) ^ top;
        to_mac = mac ^ sealed;
    }
    *state = [to_pad, to_mac];
}

/// All ones, or zero.
fn all_if(condition: bool) -> Block {
    match condition {
        true => Block::ONES,
        false => Block::ZERO,
    }
}

/// What ends both hash and MAC: eight steps (f1) where the last block was full, one (f2 and g2) where
/// it was not. The eight: (a, b, c, d) to (a ^ c, b ^ d, a ^ b ^ c, b ^ c ^ d).
#[inline(always)]
fn finished<L: Lanes, const N: usize>(x: Wave<L, N>, full: Wave<L, N>) -> Wave<L, N> {
    let next = x.shr_bytes::<4>();
    let eight = x ^ x.shr_bytes::<8>() ^ (x ^ next).shl_bytes::<8>();
    step(x).or(full, eight)
}

/// The map of which all of f1, f2, g1, g2 and h are powers: (a, b, c, d) to (b, c, d, a ^ b).
#[inline(always)]
fn step<L: Lanes, const N: usize>(x: Wave<L, N>) -> Wave<L, N> {
    let next = x.shr_bytes::<4>();
    next ^ (x ^ next).shl_bytes::<12>()
}
