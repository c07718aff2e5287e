//! POET: Abed, Fluhrer, Forler, List, Lucks, McGrew and Wenzel, "Pipelineable On-line Encryption"
//! (FSE 2014), and the second round of CAESAR (v2), with whole AES-128 as the hash of both chains.
//!
//! Each block of text goes through two chains of hashes with a block cipher between them:
//! X' = F_T(X) ^ M, t = E(X'), C = F_B(Y) ^ t, Y' = t. When sealing, only F_T lies on a chain; when
//! opening, only F_B; the other two calls go along with it.

use sealane_block::aes::Aes128Dec;
use sealane_block::{Aes128, Block, Cpu, Tier};

use super::shared::{behind_rest, by_number, double_ghash, doubled_ghash, last_block};
use crate::lanes::head::{block_of, padded_block_of};
use crate::lanes::keys::aes;
use crate::lanes::tail::{TAG, first_bytes};
use crate::lanes::{
    BACK, Data, FORWARD, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave,
};

pub(crate) struct Poet;

/// F_T, on the side of the text.
const TOP: usize = 2;
/// F_B, on the side of the ciphertext.
const BOTTOM: usize = 3;

/// The first mask of the head that is not spent on parameters, byte-reversed.
const FIRST_MASK: usize = 0;
/// In version 1 TM, for the tag; in version 2 the state after the parameters at the head.
const TAG_MASK: usize = 1;
const PARAMETERS: usize = 1;

/// The chain value X.
const X: usize = 0;
/// The chain value Y.
const Y: usize = 1;
/// The result of the head.
const TAU: usize = 2;
/// The mask of the next block of the head, byte-reversed.
const MASK: usize = 3;

impl Mode for Poet {
    type Schedules = Of<4>;
    type Constants = Of<2>;
    type Words = Of<4>;
    const PARALLEL: bool = false;
    const WIDEST: Tier = Tier::Vaes256;

    fn derive(cpu: Cpu, key: &[u8], material: &mut KeyMaterial<Self>) {
        let derive = aes(cpu, key);
        let key = |number: u128| derive.encrypt(Block::from_bytes(number.to_be_bytes()));
        let schedule = |number| *Aes128::new(cpu, key(number)).round_keys();
        let is_first = material.params.version == 1;
        let cipher = Aes128::new(cpu, key(0));
        let back = *Aes128Dec::new(&cipher).round_keys();
        let bottom = schedule(if is_first { 3 } else { 2 });
        material.schedules = [*cipher.round_keys(), back, schedule(2), bottom];
        // L in version 1. In version 2 the head begins with a block of zeros, the parameters,
        // masked with L: the result is the same for all messages, whose masks begin with twice L.
        let first = Block::new(key(1).value().swap_bytes());
        material.constants = if is_first {
            [first, key(4)]
        } else {
            [doubled_ghash(first), cipher.encrypt(key(1))]
        };
    }

    /// The last block, even if it is a whole one; a text of no bytes has one as well.
    fn rest(text: usize) -> usize {
        last_block(text)
    }

    /// Splits the tag: the last block is filled with tau bytes, which the tag then lacks.
    fn tail_bytes(_params: &Params, rest: usize) -> [usize; 4] {
        [16, 0, 0, rest]
    }

    /// The associated data and the nonce, as one string; in version 2 with a bit behind it in any
    /// case.
    fn head_blocks(params: &Params, message: &Facts<'_>) -> usize {
        let bytes = message.ad.len() + 16;
        match params.version {
            1 => bytes.div_ceil(16),
            _ => 1 + bytes / 16,
        }
    }
    #[inline(always)]
    fn head_block(_params: &Params, message: &Facts<'_>, index: usize) -> Block {
        let (ad, nonce, at) = (message.ad, message.nonce, 16 * index);
        match ad.len().checked_sub(at) {
            None => padded_block_of(&nonce[at - ad.len()..], 0),
            Some(left @ 0..16) => {
                let behind = block_of(nonce, 0).value() << (8 * left);
                block_of(ad, index) ^ Block::new(behind)
            }
            Some(_) => block_of(ad, index),
        }
    }

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let (mask, tau) = match (head.index, keys.params().version) {
            (0, 1) => (keys.constant(FIRST_MASK), state[TAU]),
            (0, _) => (keys.constant(FIRST_MASK), keys.constant(PARAMETERS)),
            _ => (state[MASK], state[TAU]),
        };
        let twice = double_ghash(mask);
        state[MASK] = twice;
        let x = head.block ^ mask.reversed();
        if keys.params().version == 1 {
            // The last block has three times the mask, or five times if it is a short one, and is
            // encrypted together with the block before it.
            let short = double_ghash(twice);
            let change = (short.unless(head.whole, twice).reversed() ^ tau) & head.last;
            let y = keys.encrypt(FORWARD, x ^ change);
            state[TAU] = (tau ^ y).unless(head.last, y);
        } else {
            state[TAU] = keys.encrypt_onto(FORWARD, x, tau);
        }
    }

    #[inline(always)]
    fn begin<K: Keys>(keys: &K, state: &mut State<Self, K::S>, _head: &Head<'_, K::S>) {
        if keys.params().version == 1 {
            (state[X], state[Y]) = (state[TAU], state[TAU]);
        } else {
            let tau = keys.encrypt(FORWARD, state[TAU]);
            (state[TAU], state[X]) = (tau, tau);
            state[Y] = tau ^ Wave::splat(keys.l(), Block::new(1 << 120));
        }
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let l = keys.l();
        let (mut x, mut y) = (state[X], state[Y]);
        for unit in 0..data.units() {
            let made;
            [made, x, y] = step(keys, data.load(l, unit, 0), x, y);
            data.store(unit, 0, made);
        }
        (state[X], state[Y]) = (x, y);
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let tau = state[TAU];
        let text_len = |message: &Facts<'_>| message.text;
        let bits = by_number(l, tail.messages, text_len, |len| {
            Block::new(8 * len as u128)
        });
        let length = keys.encrypt(FORWARD, bits);
        let text = tail.by_rest(l, first_bytes);
        let mut fill = Wave::zero(l);
        if tail.same_rest() != Some(16) {
            fill = behind_rest(tau, tail);
        }
        let mut given = tail.given[0] ^ length;
        if !K::OPEN {
            given ^= fill;
        }
        let [made, x, y] = step(keys, given, state[X], state[Y]);
        let made = made ^ length;
        let (before, after) = match keys.params().version {
            1 => (tau ^ keys.constant(TAG_MASK), keys.constant(TAG_MASK)),
            _ => (tau, tau),
        };
        let x = keys.encrypt_onto(TOP, x, before);
        let bottom = keys.encrypt_onto(BOTTOM, y, after);
        let tag = keys.encrypt_onto(FORWARD, x, bottom);
        tail.made[TAG] = tag;
        if K::OPEN {
            tail.made[0] = made & text;
            // The two differences lie in different bytes.
            tail.wrong = (made ^ fill).unless(text, tag ^ tail.given[TAG]);
        } else {
            tail.made[0] = made;
        }
    }
}

/// Computes the output block and the new ends of both chains. Of the calls, the middle one waits
/// for neither of its neighbours.
#[inline(always)]
fn step<K: Keys>(keys: &K, given: Wave<K::S>, x: Wave<K::S>, y: Wave<K::S>) -> [Wave<K::S>; 3] {
    if K::OPEN {
        let y = keys.encrypt_onto(BOTTOM, y, given);
        let top = keys.encrypt(TOP, x);
        let x = keys.decrypt(BACK, y);
        [top ^ x, x, y]
    } else {
        let x = keys.encrypt_onto(TOP, x, given);
        let bottom = keys.encrypt(BOTTOM, y);
        let y = keys.encrypt(FORWARD, x);
        [bottom ^ y, x, y]
    }
}
