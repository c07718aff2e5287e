//! POET: Abed, Fluhrer, Forler, List, Lucks, McGrew and Wenzel, "Pipelineable On-line Encryption"
//! (FSE 2014), and the second round of CAESAR (v2), with whole AES-128 as the hash of both chains.
//!
//! Each block of text goes through two chains of hashes with a block cipher between them:
//! X' = F_T(X) ^ M, t = E(X'), C = F_B(Y) ^ t, Y' = t. When sealing, only F_T lies on a chain; when
//! opening, only F_B; the other two calls go along with it.

use sealane_block::{Block, Cpu, Lanes, Tier};

use super::shared::{
    aes, back, by_number, by_rest, double_ghash, doubled_ghash, forward, last_block, same_rest,
};
use crate::lanes::head::{block_of, padded_block_of};
use crate::lanes::tail::{TAG, first_bytes};
use crate::lanes::{Data, Facts, Head, KeyMaterial, Keys, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Poet;

/// The block cipher.
const FORWARD: usize = 0;
const BACK: usize = 1;
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

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> KeyMaterial<Poet> {
        let derive = aes(cpu, key);
        let key = |number: u128| derive.encrypt(Block::from_bytes(number.to_be_bytes()));
        let schedule = |number| forward(cpu, &key(number).to_bytes());
        let bottom = if params.version == 1 { 3 } else { 2 };
        let of_zero = key(0).to_bytes();
        let schedules = [
            schedule(0),
            back(cpu, &of_zero),
            schedule(2),
            schedule(bottom),
        ];
        let mut material = KeyMaterial::new(params, schedules);
        // L in version 1. In version 2 the head begins with a block of zeros, the parameters,
        // masked with L: the result is the same for all messages, whose masks begin with twice L.
        let first = Block::new(key(1).value().swap_bytes());
        material.constants = match params.version {
            1 => [first, key(4)],
            _ => [doubled_ghash(first), aes(cpu, &of_zero).encrypt(key(1))],
        };
        material
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
    fn absorb<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        block: Wave<L, N>,
        head: &Head<'_, L, N>,
    ) {
        let (mask, tau) = match (head.index, keys.params().version) {
            (0, 1) => (keys.constant(FIRST_MASK), state[TAU]),
            (0, _) => (keys.constant(FIRST_MASK), keys.constant(PARAMETERS)),
            _ => (state[MASK], state[TAU]),
        };
        let twice = double_ghash(mask);
        state[MASK] = twice;
        let x = block ^ mask.reversed();
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
    fn begin<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        _head: &Head<'_, L, N>,
    ) {
        if keys.params().version == 1 {
            (state[X], state[Y]) = (state[TAU], state[TAU]);
        } else {
            let tau = keys.encrypt(FORWARD, state[TAU]);
            (state[TAU], state[X]) = (tau, tau);
            state[Y] = tau ^ Wave::splat(keys.l(), Block::new(1 << 120));
        }
    }

    #[inline(always)]
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        _pass: usize,
    ) {
        let l = keys.l();
        let (mut x, mut y) = (state[X], state[Y]);
        for unit in 0..data.units() {
            let made;
            (made, x, y) = step::<L, N, OPEN>(keys, data.load(l, unit, 0), x, y);
            data.store(unit, 0, made);
        }
        (state[X], state[Y]) = (x, y);
    }

    #[inline(always)]
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        tail: &mut Tail<'_, L, N>,
    ) {
        let l = keys.l();
        let tau = state[TAU];
        let text_len = |message: &Facts<'_>| message.text;
        let bits = by_number(l, tail.messages, text_len, |len| {
            Block::new(8 * len as u128)
        });
        let length = keys.encrypt(FORWARD, bits);
        let same = same_rest(tail);
        let text = by_rest(l, tail, same, first_bytes);
        let mut fill = Wave::zero(l);
        if same != Some(16) {
            fill = tau;
            for (lane, fill) in fill.lanes_mut().iter_mut().enumerate() {
                let bits = 8 * tail.rest[lane] as u32;
                *fill = Block::new(fill.value().checked_shl(bits).unwrap_or(0));
            }
        }
        let mut given = tail.given[0] ^ length;
        if !OPEN {
            given ^= fill;
        }
        let (made, x, y) = step::<L, N, OPEN>(keys, given, state[X], state[Y]);
        let made = made ^ length;
        let (before, after) = match keys.params().version {
            1 => (tau ^ keys.constant(TAG_MASK), keys.constant(TAG_MASK)),
            _ => (tau, tau),
        };
        let x = keys.encrypt_onto(TOP, x, before);
        let bottom = keys.encrypt_onto(BOTTOM, y, after);
        let tag = keys.encrypt_onto(FORWARD, x, bottom);
        tail.made[TAG] = tag;
        if OPEN {
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
fn step<L: Lanes, const N: usize, const OPEN: bool>(
    keys: &impl Keys<L, N>,
    given: Wave<L, N>,
    x: Wave<L, N>,
    y: Wave<L, N>,
) -> (Wave<L, N>, Wave<L, N>, Wave<L, N>) {
    if OPEN {
        let y = keys.encrypt_onto(BOTTOM, y, given);
        let top = keys.encrypt(TOP, x);
        let x = keys.decrypt(BACK, y);
        (top ^ x, x, y)
    } else {
        let x = keys.encrypt_onto(TOP, x, given);
        let bottom = keys.encrypt(BOTTOM, y);
        let y = keys.encrypt(FORWARD, x);
        (bottom ^ y, x, y)
    }
}
