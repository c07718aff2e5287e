//! OCB3: RFC 7253; Krovetz and Rogaway, "The Software Performance of Authenticated-Encryption
//! Modes" (FSE 2011).
//!
//! Offset `i` is offset `i - 1` plus L of the number of zeros that `i` ends with, so offset `i` is
//! offset 0 plus the L of the bits of `i`'s Gray code. Over a round of 2^k lanes, the lanes' offsets
//! therefore change by the same: the L of bits k - 1 and k + z, where z zeros end the round's number.

use sealane_block::{Block, Cpu, Lanes};

use super::shared::{aes, back, double, forward};
use crate::lanes::head::{block_of, padded_block_of};
use crate::lanes::{Data, Facts, Head, Keys, Material, Mode, Of, Params, State, Tail, Wave};

pub(crate) struct Ocb3;

const FORWARD: usize = 0;
const BACK: usize = 1;

/// L_*, for what is left of a text.
const REST: usize = 0;
/// L_$, for the tag.
const FINAL: usize = 1;

/// The offset of the block before the next one.
const OFFSET: usize = 0;
/// The sum of the text.
const CHECKSUM: usize = 1;
/// The same two of associated data.
const AD_OFFSET: usize = 2;
const AD_SUM: usize = 3;

/// L_0, L_1 and so on, one for each bit of a block's number.
const TABLE: usize = 48;

impl Mode for Ocb3 {
    type Schedules = Of<2>;
    type Constants = Of<2>;
    type Words = Of<4>;

    fn expand(cpu: Cpu, key: &[u8], params: Params) -> Material<Ocb3> {
        let mut material = Material::new(params);
        material.schedules = [forward(cpu, key), back(cpu, key)];
        let rest = aes(cpu, key).encrypt(Block::ZERO);
        let last = double(rest);
        material.constants = [rest, last];
        let mut next = last;
        material.table.reserve_exact(TABLE);
        for _ in 0..TABLE {
            next = double(next);
            material.table.push(next);
        }
        material
    }
    fn is_parallel(_open: bool) -> bool {
        true
    }

    /// The nonce, then the associated data.
    fn head_blocks(_params: &Params, message: &Facts<'_>) -> usize {
        1 + message.ad.len().div_ceil(16)
    }
    fn head_block(params: &Params, message: &Facts<'_>, index: usize) -> Block {
        match index {
            0 => Block::new(nonce_block(params, message.nonce).value() & !(0x3f << 120)),
            _ => padded_block_of(message.ad, index - 1),
        }
    }

    #[inline(always)]
    fn absorb<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        block: Wave<L, N>,
        head: &Head<'_, L, N>,
    ) {
        if head.index == 0 {
            let mut top = keys.encrypt(FORWARD, block);
            let lanes = top.lanes_mut();
            for (lane, message) in head.messages.iter() {
                lanes[lane] = stretched(lanes[lane], message.nonce);
            }
            state[OFFSET] = top;
            return;
        }
        let partial = head.last & (head.whole ^ Wave::splat(keys.l(), Block::ONES));
        let next = numbered(keys, |_| head.index as u64);
        let offset = state[AD_OFFSET] ^ next.or(partial, keys.constant(REST));
        state[AD_OFFSET] = offset;
        state[AD_SUM] ^= keys.encrypt(FORWARD, block ^ offset);
    }

    #[inline(always)]
    fn body<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &mut State<Self, L, N>,
        data: &mut impl Data<L, N>,
        _pass: usize,
    ) {
        let mut offsets = Offsets::new(keys, state[OFFSET], data);
        let mut checksum = state[CHECKSUM];
        for unit in 0..data.units() {
            let offset = offsets.next(keys, data, unit);
            let given = data.load(keys.l(), unit, 0);
            let made = match OPEN {
                false => keys.encrypt(FORWARD, given ^ offset) ^ offset,
                true => keys.decrypt(BACK, given ^ offset) ^ offset,
            };
            data.store(unit, 0, made);
            checksum ^= if OPEN { made } else { given };
        }
        state[OFFSET] = offsets.before;
        offsets.wipe(keys.l(), data);
        state[CHECKSUM] = checksum;
    }

    #[inline(always)]
    fn spread<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, 1>,
        _position: u64,
    ) -> State<Self, L, N> {
        let table = keys.table(0);
        let mut offset: Wave<L, N> = state[OFFSET].spread();
        let lanes = offset.lanes_mut();
        for lane in 1..lanes.len() {
            lanes[lane] = lanes[lane - 1] ^ table[lane.trailing_zeros() as usize];
        }
        let mut wide = [Wave::zero(keys.l()); 4];
        wide[OFFSET] = offset;
        wide[AD_SUM] = state[AD_SUM].spread();
        wide
    }
    #[inline(always)]
    fn fold<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        next: usize,
    ) -> State<Self, L, 1> {
        let mut one = [Wave::zero(keys.l()); 4];
        one[OFFSET] = state[OFFSET].pick(next);
        one[CHECKSUM] = state[CHECKSUM].sum();
        one[AD_SUM] = state[AD_SUM].pick(0);
        one
    }

    #[inline(always)]
    fn tail<L: Lanes, const N: usize, const OPEN: bool>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, N>,
        tail: &mut Tail<'_, L, N>,
    ) {
        let l = keys.l();
        let (mut offset, mut checksum) = (state[OFFSET], state[CHECKSUM]);
        if tail.most > 0 {
            let some = tail.where_rest(l, |rest| rest > 0);
            offset ^= some & keys.constant(REST);
            let pad = keys.encrypt(FORWARD, offset);
            let made = (tail.given[0] ^ pad) & tail.text_mask(l, 0);
            tail.made[0] = made;
            let text = if OPEN { made } else { tail.given[0] };
            checksum ^= some & (text ^ tail.end_bit(l, 0));
        }
        let tag = keys.encrypt(FORWARD, checksum ^ offset ^ keys.constant(FINAL));
        tail.tag::<OPEN>(tag ^ state[AD_SUM]);
    }
}

/// The offsets of a run of units.
struct Offsets<L: Lanes, const N: usize> {
    /// Of the blocks before the next ones.
    before: Wave<L, N>,
    /// In a round: from each block to the next.
    steps: Wave<L, N>,
    /// Whether all lanes have the same key and stand at the same block: the same step is due in all.
    in_step: bool,
}

impl<L: Lanes, const N: usize> Offsets<L, N> {
    #[inline(always)]
    fn new<K: Keys<L, N>, D: Data<L, N>>(keys: &K, before: Wave<L, N>, data: &D) -> Self {
        let mut steps = Wave::zero(keys.l());
        let mut in_step = K::SAME;
        if D::WIDE {
            steps = numbered(keys, |lane| lane as u64 + 1);
        } else {
            for lane in 1..Wave::<L, N>::LANES {
                in_step &= data.position(lane) == data.position(0);
            }
        }
        Offsets {
            before,
            steps,
            in_step,
        }
    }

    /// Erases what depends on the key alone.
    #[inline(always)]
    fn wipe<D: Data<L, N>>(mut self, l: L, _data: &D) {
        if D::WIDE {
            l.wipe(&mut self.steps.v);
        }
    }

    #[inline(always)]
    fn next<D: Data<L, N>>(&mut self, keys: &impl Keys<L, N>, data: &D, unit: usize) -> Wave<L, N> {
        if D::WIDE {
            let lanes = Wave::<L, N>::LANES;
            let table = keys.table(0);
            // The number of the last block of this round, and so of the first of the next.
            let last = data.position(0) + (unit as u64 + 1) * lanes as u64;
            let turn = table[last.trailing_zeros() as usize];
            self.steps.lanes_mut()[lanes - 1] = turn;
            let offset = self.before ^ self.steps;
            let round = turn ^ table[lanes.trailing_zeros() as usize - 1];
            self.before ^= Wave::splat(keys.l(), round);
            offset
        } else {
            let number = |lane| data.position(lane) + unit as u64 + 1;
            self.before ^= match self.in_step {
                true => Wave::splat(keys.l(), step(keys, 0, number(0))),
                false => numbered(keys, number),
            };
            self.before
        }
    }
}

/// From block `number - 1` to block `number`, in each lane.
#[inline(always)]
fn numbered<L: Lanes, const N: usize>(
    keys: &impl Keys<L, N>,
    number: impl Fn(usize) -> u64,
) -> Wave<L, N> {
    let mut steps = Wave::zero(keys.l());
    for (lane, to) in steps.lanes_mut().iter_mut().enumerate() {
        *to = step(keys, lane, number(lane));
    }
    steps
}

/// From block `number - 1` to block `number`, in one lane; zero where it has no key.
#[inline(always)]
fn step<L: Lanes, const N: usize>(keys: &impl Keys<L, N>, lane: usize, number: u64) -> Block {
    let zeros = number.trailing_zeros() as usize;
    keys.table(lane).get(zeros).copied().unwrap_or(Block::ZERO)
}

/// RFC 7253, section 4.2: the length of the tag, zeros, a bit, the nonce.
pub(crate) fn nonce_block(params: &Params, nonce: &[u8]) -> Block {
    let at_end = block_of(nonce, 0).value() << (8 * (16 - nonce.len()));
    let bit = 1 << (8 * (15 - nonce.len()));
    let tag_bits = (8 * params.tag_len % 128) as u128;
    Block::new(at_end | bit | tag_bits << 1)
}

/// The first offset: 128 bits of Ktop and of its difference with itself, a byte on, from the bit
/// that the nonce's last six bits say.
fn stretched(top: Block, nonce: &[u8]) -> Block {
    let bottom = u32::from(nonce.last().copied().unwrap_or(0) & 0x3f);
    let top = top.value().swap_bytes();
    let more = (top >> 64) as u64 ^ (top >> 56) as u64;
    let low = u128::from(more) >> (64 - bottom).min(63) >> u32::from(bottom == 0);
    Block::new((top << bottom | low).swap_bytes())
}
