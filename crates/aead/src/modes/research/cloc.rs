//! CLOC: Iwata, Minematsu, Guo and Morioka, "CLOC: Authenticated Encryption for Short Input" (FSE
//! 2014), and "CLOC and SILC", submission to CAESAR, version 3. For research.
//!
//! CFB for the text and CBC-MAC over the ciphertext, from one hash of nonce and associated data.
//! The two chains run side by side; each waits for its own block before. Version 3 differs by a
//! byte, which names the parameters, before the nonce.

use sealane_block::{Block, Tier};

use super::shared::{encrypt_late_onto, last_block};
use crate::lanes::head::padded_block_of;
use crate::lanes::{Data, Facts, Head, Keys, Mode, Of, Params, Shape, State, Tail, Wave};

pub(crate) struct Cloc;

/// Input of the cipher for the next pad, except for [`TOP`], which is added to it. For all pads but
/// the first, this is the block of ciphertext before, without its top bit.
pub(crate) const TO_PAD: usize = 0;
/// Input of the cipher for the MAC of the blocks so far. In the head, the hash so far.
pub(crate) const TO_MAC: usize = 1;

/// The byte of version 3 for AES, nonces of 12 bytes and tags of 8.
pub(crate) const PARAMETERS: u8 = 0xc0;

/// The top bit of byte 0, which keeps the inputs of the two chains, and of the hash, apart.
pub(crate) const TOP: Block = Block::new(0x80);

impl Mode for Cloc {
    type Schedules = Of<1>;
    type Constants = Of<0>;
    type Words = Of<2>;
    const PARALLEL: bool = false;
    const WIDEST: Tier = Tier::Vaes256;

    fn rest(text: usize) -> usize {
        last_block(text)
    }

    /// Returns the blocks of the associated data; no data count as one block of no bytes.
    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        message.ad.len().div_ceil(16).max(1)
    }
    #[inline(always)]
    fn head_block(_params: &Params, message: &Facts<'_>, index: usize) -> Block {
        padded_block_of(message.ad, index)
    }

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let block = head.block;
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
    fn begin<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let l = keys.l();
        let version = keys.params().version;
        // With the bit behind it, and from version 3 on the parameters before it.
        let nonce = head.messages.by_message(l, |message| {
            let nonce = padded_block_of(message.nonce, 0);
            match version {
                1 => nonce,
                _ => Block::new(nonce.value() << 8 | u128::from(PARAMETERS)),
            }
        });
        let is_full = |ad: &[u8]| !ad.is_empty() && ad.len().is_multiple_of(16);
        let full = head.messages.where_lengths(|message| is_full(message.ad));
        let start = finished(state[TO_MAC] ^ nonce, head.messages.mask(l, full));
        let empty = head.messages.where_lengths(|message| message.text == 0);
        let empty = head.messages.mask(l, empty);
        let next = step(start);
        // The tag of a message without text is made here: g1, two steps.
        state[TO_MAC] = next.unless(empty, step(next));
        state[TO_PAD] = start ^ Wave::splat(l, TOP);
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        two_chains(keys, state, data);
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let mut tag = keys.encrypt(0, state[TO_MAC]);
        if tail.most > 0 {
            let [_, sealed] = tail.mask::<K>(last_pad(keys, state));
            let last = tag ^ sealed ^ tail.end_bit(l, 0);
            let last = finished(last, tail.where_rest(l, |rest| rest == 16));
            let more = keys.encrypt(0, last);
            tag = tag.unless(tail.where_rest(l, |rest| rest > 0), more);
        }
        tail.tag::<K>(tag);
    }
}

/// The chains of CLOC and SILC over blocks that are not the last.
#[inline(always)]
pub(crate) fn two_chains<K: Keys>(
    keys: &K,
    state: &mut [Wave<K::S>; 2],
    data: &mut impl Data<K::S>,
) {
    let l = keys.l();
    let top = Wave::splat(l, TOP);
    let others = Wave::splat(l, Block::new(!TOP.value()));
    let [mut to_pad, mut to_mac] = *state;
    for unit in 0..data.units() {
        let given = data.load(l, unit, 0);
        // The two calls do not wait for each other.
        let made = encrypt_late_onto(keys, 0, top, [to_pad, given]);
        data.store(unit, 0, made);
        let mac = keys.encrypt(0, to_mac);
        let sealed = if K::OPEN { given } else { made };
        to_pad = sealed & others;
        to_mac = mac ^ sealed;
    }
    *state = [to_pad, to_mac];
}

/// The pad of the last block.
#[inline(always)]
pub(crate) fn last_pad<K: Keys>(keys: &K, state: &[Wave<K::S>; 2]) -> Wave<K::S> {
    keys.encrypt_late(0, Wave::splat(keys.l(), TOP), state[TO_PAD])
}

/// Finishes hash and MAC: eight steps (f1) where the last block was full, one (f2 and g2) where it
/// was not. The eight: (a, b, c, d) to (a ^ c, b ^ d, a ^ b ^ c, b ^ c ^ d).
#[inline(always)]
fn finished<S: Shape>(x: Wave<S>, full: Wave<S>) -> Wave<S> {
    let next = x.shr_bytes::<4>();
    let eight = x ^ x.shr_bytes::<8>() ^ (x ^ next).shl_bytes::<8>();
    step(x).unless(full, eight)
}

/// The map of which all of f1, f2, g1, g2 and h are powers: (a, b, c, d) to (b, c, d, a ^ b).
#[inline(always)]
fn step<S: Shape>(x: Wave<S>) -> Wave<S> {
    let next = x.shr_bytes::<4>();
    next ^ (x ^ next).shl_bytes::<12>()
}
