//! CLOC: Iwata, Minematsu, Guo and Morioka, "CLOC: Authenticated Encryption for Short Input" (FSE
//! 2014), and "CLOC and SILC", submission to CAESAR, version 3. For research.
//!
//! CFB for the text and CBC-MAC over the ciphertext, from one hash of nonce and associated data.
//! The two chains run side by side; each waits for its own block before. Version 3 differs by a
//! byte, which names the parameters, before the nonce.

use sealane_block::{Block, Cpu, Lanes, Tier};

use super::keys::ResearchKeys;
use super::shared::{
    all_if, by_message, by_number, by_rest, end_bit, forward, last_block, same_rest,
};
use crate::lanes::head::{block_of, padded_block_of};
use crate::lanes::tail::first_bytes;
use crate::lanes::{Data, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave};

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

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<Cloc> {
        KeyMaterial::new(params, [forward(cpu, key)])
    }
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
        // With the bit behind it, and from version 3 on the parameters before it.
        let nonce = by_message(l, head, |message| {
            let nonce = block_of(message.nonce, 0) ^ end_bit(message.nonce.len());
            match version {
                1 => nonce,
                _ => Block::new(nonce.value() << 8 | u128::from(PARAMETERS)),
            }
        });
        let ad_len = |message: &Facts<'_>| message.ad.len();
        let full = by_number(l, head.messages, ad_len, |len| {
            all_if(len > 0 && len.is_multiple_of(16))
        });
        let start = finished(state[TO_MAC] ^ nonce, full);
        let text_len = |message: &Facts<'_>| message.text;
        let empty = by_number(l, head.messages, text_len, |len| all_if(len == 0));
        let next = step(start);
        // The tag of a message without text is made here: g1, two steps.
        state[TO_MAC] = next.unless(empty, step(next));
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
        let mut tag = keys.encrypt(0, state[TO_MAC]);
        if tail.most > 0 {
            let same = same_rest(tail);
            let text = by_rest(l, tail, same, first_bytes);
            let top = Wave::splat(l, TOP);
            let made = keys.encrypt_late_onto(0, top, state[TO_PAD], tail.given[0]) & text;
            tail.made[0] = made;
            let sealed = if OPEN { tail.given[0] } else { made };
            let last = tag ^ sealed ^ by_rest(l, tail, same, end_bit);
            let last = finished(last, by_rest(l, tail, same, |rest| all_if(rest == 16)));
            let more = keys.encrypt(0, last);
            tag = tag.unless(by_rest(l, tail, same, |rest| all_if(rest > 0)), more);
        }
        tail.tag::<OPEN>(tag);
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
    let top = Wave::splat(l, TOP);
    let others = Wave::splat(l, Block::new(!TOP.value()));
    let [mut to_pad, mut to_mac] = *state;
    for unit in 0..data.units() {
        let given = data.load(l, unit, 0);
        // The two calls do not wait for each other.
        let made = keys.encrypt_late_onto(0, top, to_pad, given);
        data.store(unit, 0, made);
        let mac = keys.encrypt(0, to_mac);
        let sealed = if OPEN { given } else { made };
        to_pad = sealed & others;
        to_mac = mac ^ sealed;
    }
    *state = [to_pad, to_mac];
}

/// Finishes hash and MAC: eight steps (f1) where the last block was full, one (f2 and g2) where it
/// was not. The eight: (a, b, c, d) to (a ^ c, b ^ d, a ^ b ^ c, b ^ c ^ d).
#[inline(always)]
fn finished<L: Lanes, const N: usize>(x: Wave<L, N>, full: Wave<L, N>) -> Wave<L, N> {
    let next = x.shr_bytes::<4>();
    let eight = x ^ x.shr_bytes::<8>() ^ (x ^ next).shl_bytes::<8>();
    step(x).unless(full, eight)
}

/// The map of which all of f1, f2, g1, g2 and h are powers: (a, b, c, d) to (b, c, d, a ^ b).
#[inline(always)]
fn step<L: Lanes, const N: usize>(x: Wave<L, N>) -> Wave<L, N> {
    let next = x.shr_bytes::<4>();
    next ^ (x ^ next).shl_bytes::<12>()
}
