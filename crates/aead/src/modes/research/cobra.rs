//! COBRA-R1: a reconstruction of COBRA (Andreeva, Luykx, Mennink and Yasuda, "COBRA: A
//! Parallelizable Authenticated Online Cipher Without Block Cipher Inverse", FSE 2014), from the
//! published parts: the same work for each block, in the same order, but not the same ciphertexts.
//!
//! Two blocks at a time go through two rounds of a Feistel network. Before that, a polynomial hash
//! of the text so far is added to each. The hash is a chain of one product a block when sealing;
//! over the lanes of a wave it becomes a sum of pairs of blocks times powers of the factor, with
//! one step of the chain a vector. Opening knows all hashes from the network, and has no chain.

use sealane_block::gf::Order;
use sealane_block::lanes::MAX_WIDTH;
use sealane_block::{Block, Cpu, Tier, gf};

use super::shared::{hash_step, next_masks, same_masks, times3, times7, times9};
use crate::lanes::head::{block_of, padded_block_of};
use crate::lanes::keys::aes;
use crate::lanes::{
    AlignedBlocks, Data, Facts, Head, KeyMaterial, Keys, Mode, Of, OneState, Params, Shape, State,
    Tail, Token, Wave,
};

pub(crate) struct Cobra;

/// L, the encryption of 0, and x^64 * L, in polynomial order: a factor for [`Wave::times`].
const FACTOR: [usize; 2] = [0, 1];
/// Index in the table of powers 2, 4, 6 and 8 of L, and then x^64 times them.
const POWERS: usize = MAX_WIDTH;
/// J, the encryption of 1, in polynomial order.
const J: usize = 2;

/// The hash of the text so far, in polynomial order.
const HASH: usize = 0;
/// 2^i * J, where i is the number of the next unit from 1. In the head: the mask of the next
/// block, in polynomial order.
const MASK: usize = 1;
/// The sums of the values that the first and second rounds added.
const SUMS: [usize; 2] = [2, 3];
/// The hash of associated data.
const AD: usize = 4;

impl Mode for Cobra {
    type Schedules = Of<1>;
    type Constants = Of<3>;
    type Words = Of<5>;
    const PARALLEL: bool = true;
    const UNIT: usize = 2;
    const WIDEST: Tier = Tier::Vaes256;

    fn derive(cpu: Cpu, key: &[u8], material: &mut KeyMaterial<Self>) {
        let cipher = aes(cpu, key);
        let reversed = |block: Block| Block::new(block.value().swap_bytes());
        let factor = reversed(cipher.encrypt(Block::ZERO));
        let times = |a, b| gf::mul(cpu, Order::Polynomial, a, b);
        let upper = Block::new(1 << 64);
        let masks = reversed(cipher.encrypt(Block::new(1 << 120)));
        material.constants = [factor, times(factor, upper), masks];
        let square = times(factor, factor);
        let mut power = square;
        let mut table = Vec::with_capacity(2 * POWERS);
        for _ in 0..POWERS {
            table.push(power);
            power = times(power, square);
        }
        for number in 0..POWERS {
            table.push(times(table[number], upper));
        }
        material.table = AlignedBlocks::new(table);
    }

    /// Splits the rest into two halves: the second is the longer one.
    fn tail_bytes(params: &Params, rest: usize) -> [usize; 4] {
        [rest / 2, rest.div_ceil(2), 0, params.tag_len]
    }

    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        message.ad.len().div_ceil(16)
    }
    fn head_block(_params: &Params, message: &Facts<'_>, index: usize) -> Block {
        padded_block_of(message.ad, index)
    }

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let (mut sum, mut mask) = (state[AD], state[MASK]);
        if head.index == 0 {
            mask = times9(times9(keys.constant(J)));
        }
        let end = times3(mask);
        let end = times3(end).unless(head.whole, end).reversed();
        hash_step(keys, [&mut sum, &mut mask], head, end);
        (state[AD], state[MASK]) = (sum, mask);
    }

    #[inline(always)]
    fn begin<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        let nonce = head
            .messages
            .by_message(keys.l(), |message| block_of(message.nonce, 0));
        state[HASH] = nonce.reversed();
        state[MASK] = keys.constant(J).reversed().doubled_blocks();
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        if let Some(lane) = same_masks::<K>(data) {
            state[MASK] = state[MASK].pick(lane).spread();
            units::<K, D, true>(keys, state, data);
        } else {
            units::<K, D, false>(keys, state, data);
        }
    }

    #[inline(always)]
    fn spread<K: Keys>(_keys: &K, state: &OneState<Self, K::S>, _at: u64) -> State<Self, K::S> {
        let (hash, mask) = (state[HASH].spread(), Wave::doubling(state[MASK].reversed()));
        let [sum0, sum1] = SUMS.map(|which| state[which].in_first());
        [hash, mask, sum0, sum1, state[AD].spread()]
    }
    #[inline(always)]
    fn fold<K: Keys>(_keys: &K, state: &State<Self, K::S>, next: usize) -> OneState<Self, K::S> {
        let lanes = Wave::<K::S>::LANES;
        // The lane that came last has the hash of the whole text.
        let hash = state[HASH].pick((next + lanes - 1) % lanes);
        let (mask, ad) = (state[MASK].pick(next).reversed(), state[AD].pick(0));
        [hash, mask, state[SUMS[0]].sum(), state[SUMS[1]].sum(), ad]
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let [mut sum0, mut sum1] = SUMS.map(|which| state[which]);
        if tail.most > 0 {
            let some = tail.where_rest(l, |rest| rest > 0);
            let factor = [keys.constant(FACTOR[0]), keys.constant(FACTOR[1])];
            let hash = state[HASH].times(&factor).reversed();
            let mask = times7(state[MASK].reversed());
            let (down, up) = (mask.reversed() ^ hash, times3(mask).reversed() ^ hash);
            let halves = Halves::new(l, tail);
            let (first, second);
            if K::OPEN {
                let [given0, given1, ..] = *tail.given;
                second = keys.encrypt(0, given0 ^ halves.ends[1] ^ up);
                let left = (given1 ^ second) & halves.masks[0];
                first = keys.encrypt(0, left ^ halves.ends[0] ^ down);
                let right = (given0 ^ first) & halves.masks[1];
                halves.join(tail, left, right);
            } else {
                let [left, right] = halves.split(tail);
                first = keys.encrypt(0, left ^ halves.ends[0] ^ down);
                let made0 = (right ^ first) & halves.masks[1];
                second = keys.encrypt(0, made0 ^ halves.ends[1] ^ up);
                tail.made[0] = made0;
                tail.made[1] = left ^ second;
            }
            sum0 ^= first & some;
            sum1 ^= second & some;
        }
        // The mask of the last unit.
        let end = times9(state[MASK].reversed().halved());
        let nonce = tail
            .messages
            .by_message(l, |message| block_of(message.nonce, 0));
        let lengths = tail.messages.by_lengths(l, |message| {
            let [ad, text] = [message.ad.len(), message.text].map(|len| (len as u64).swap_bytes());
            Block::new(u128::from(ad) | u128::from(text) << 64)
        });
        let tag = keys.encrypt(0, sum0 ^ nonce ^ end.reversed());
        let tag = tag ^ sum1 ^ state[AD] ^ lengths ^ times3(end).reversed();
        tail.tag::<K>(keys.encrypt(0, tag));
    }
}

/// The body; `SAME` is set if all lanes have the same masks.
#[inline(always)]
fn units<K: Keys, D: Data<K::S>, const SAME: bool>(
    keys: &K,
    state: &mut State<Cobra, K::S>,
    data: &mut D,
) {
    let l = keys.l();
    let factor = [keys.constant(FACTOR[0]), keys.constant(FACTOR[1])];
    let [mut hash, mut mask, mut sum0, mut sum1, ad] = *state;
    for unit in 0..data.units() {
        let [down, doubled] = next_masks::<K::S, D, SAME>(&mut mask);
        let (given0, given1) = (data.load(l, unit, 0), data.load(l, unit, 1));
        if K::OPEN {
            let second = keys.encrypt(0, given0 ^ down ^ doubled);
            sum1 ^= second;
            let left = given1 ^ second;
            let first = keys.encrypt(0, left ^ down);
            sum0 ^= first;
            let right = given0 ^ first;
            let (left_hash, right_hash) = (left.reversed(), right.reversed());
            let before = if D::WIDE {
                right_hash.previous(hash)
            } else {
                hash
            };
            data.store(unit, 0, left ^ before.times(&factor).reversed());
            data.store(unit, 1, right ^ left_hash.times(&factor).reversed());
            hash = right_hash;
        } else {
            let (text0, text1) = (given0.reversed(), given1.reversed());
            let left_hash;
            if D::WIDE {
                let pair = text0.times(&factor) ^ text1;
                let (powers, upper) = keys.table(0)[..2 * POWERS].split_at(POWERS);
                let hashes = pair.running_hash(hash, [powers, upper]);
                left_hash = hashes.previous(hash).times(&factor) ^ text0;
                hash = hashes;
            } else {
                left_hash = hash.times(&factor) ^ text0;
                hash = left_hash.times(&factor) ^ text1;
            }
            let left = left_hash.reversed();
            let first = keys.encrypt(0, left ^ down);
            sum0 ^= first;
            let made0 = hash.reversed() ^ first;
            data.store(unit, 0, made0);
            let second = keys.encrypt_late(0, down ^ doubled, made0);
            sum1 ^= second;
            data.store(unit, 1, left ^ second);
        }
    }
    *state = [hash, mask, sum0, sum1, ad];
}

/// The rests of texts, cut in halves; the first is the longer one.
struct Halves<S: Shape> {
    /// All ones in the bytes of each half.
    masks: [Wave<S>; 2],
    /// A bit behind each half, where there is room.
    ends: [Wave<S>; 2],
}

impl<S: Shape> Halves<S> {
    #[inline(always)]
    fn new(l: Token<S>, tail: &Tail<'_, S>) -> Self {
        let zero = Wave::zero(l);
        let (mut masks, mut ends) = ([zero; 2], [zero; 2]);
        for lane in 0..Wave::<S>::LANES {
            let rest = tail.rest[lane];
            for (half, bytes) in [rest.div_ceil(2), rest / 2].into_iter().enumerate() {
                let bit = 1u128.unbounded_shl(8 * bytes as u32);
                masks[half].lanes_mut()[lane] = Block::new(bit.wrapping_sub(1));
                ends[half].lanes_mut()[lane] = Block::new(bit << 7);
            }
        }
        Halves { masks, ends }
    }

    /// The halves of the text that was given.
    #[inline(always)]
    fn split(&self, tail: &Tail<'_, S>) -> [Wave<S>; 2] {
        let [left, mut right, ..] = *tail.given;
        for (lane, right) in right.lanes_mut().iter_mut().enumerate() {
            let bits = 8 * tail.rest[lane].div_ceil(2) as u32;
            let low = left.lanes()[lane].value().unbounded_shr(bits);
            *right = Block::new(low | right.value().unbounded_shl(128 - bits));
        }
        [left & self.masks[0], right & self.masks[1]]
    }

    /// The text of these halves.
    #[inline(always)]
    fn join(&self, tail: &mut Tail<'_, S>, mut left: Wave<S>, mut right: Wave<S>) {
        let lanes = left.lanes_mut().iter_mut().zip(right.lanes_mut());
        for (lane, (left, right)) in lanes.enumerate() {
            let bits = 8 * tail.rest[lane].div_ceil(2) as u32;
            let value = right.value();
            *left ^= Block::new(value.unbounded_shl(bits));
            *right = Block::new(value.unbounded_shr(128 - bits));
        }
        (tail.made[0], tail.made[1]) = (left, right);
    }
}
