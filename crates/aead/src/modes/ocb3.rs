//! OCB3: RFC 7253; Krovetz and Rogaway, "The Software Performance of Authenticated-Encryption
//! Modes" (FSE 2011).
//!
//! Offset `i` is offset `i - 1` plus L of the number of zeros that `i` ends with, so offset `i` is
//! offset 0 plus the L of the bits of `i`'s Gray code. Over a round of 2^k lanes, the lanes' offsets
//! therefore change by the same: the L of bits k - 1 and k + z, where z zeros end the round's number.

use sealane_block::lanes::MAX_LANES;
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

/// Of the table: L_0, L_1 and so on, one for each bit of a block's number.
const BITS: usize = 48;
/// Of the table, behind them: offsets 0, 1, 2 and so on, less offset 0, and one more than there are lanes.
const FIRST: usize = MAX_LANES + 1;

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
        material.table.reserve_exact(BITS + FIRST);
        for _ in 0..BITS {
            next = double(next);
            material.table.push(next);
        }
        let mut offset = Block::ZERO;
        for number in 1..=FIRST {
            material.table.push(offset);
            offset ^= material.table[number.trailing_zeros() as usize];
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
                false => keys.encrypt_onto(FORWARD, given ^ offset, offset),
                true => keys.decrypt_onto(BACK, given ^ offset, offset),
            };
            data.store(unit, 0, made);
            checksum ^= if OPEN { made } else { given };
        }
        state[OFFSET] = offsets.before(keys, data);
        state[CHECKSUM] = checksum;
    }

    #[inline(always)]
    fn spread<L: Lanes, const N: usize>(
        keys: &impl Keys<L, N>,
        state: &State<Self, L, 1>,
        _position: u64,
    ) -> State<Self, L, N> {
        let first = Wave::load(keys.l(), &keys.table(0)[BITS..]);
        let mut wide = [Wave::zero(keys.l()); 4];
        wide[OFFSET] = state[OFFSET].spread() ^ first;
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
    /// Of the blocks before the next ones; in a round, where each lane's step but the last one's stays the
    /// same, of the next ones.
    offset: Wave<L, N>,
    /// A lane that stands where all others do, if all have the same key: the same step is due in all.
    in_step: Option<usize>,
}

impl<L: Lanes, const N: usize> Offsets<L, N> {
    #[inline(always)]
    fn new<K: Keys<L, N>, D: Data<L, N>>(keys: &K, before: Wave<L, N>, data: &D) -> Self {
        Offsets {
            offset: match D::WIDE {
                true => before ^ steps_of_round(keys, round_end::<L, N, D>(data, 0)),
                false => before,
            },
            in_step: if K::SAME { data.in_step() } else { None },
        }
    }

    #[inline(always)]
    fn next<D: Data<L, N>>(&mut self, keys: &impl Keys<L, N>, data: &D, unit: usize) -> Wave<L, N> {
        if !D::WIDE {
            let number = |lane| data.position(lane) + unit as u64 + 1;
            self.offset ^= match self.in_step {
                Some(lane) => Wave::splat(keys.l(), *step(keys, lane, number(lane))),
                None => numbered(keys, number),
            };
        } else if unit > 0 {
            // From round to round all lanes change by the same, but the last one is a round ahead.
            let [this, next] = [unit - 1, unit].map(|round| {
                let end = round_end::<L, N, D>(data, round);
                *step(keys, 0, end) ^ *step(keys, 0, Wave::<L, N>::LANES as u64 / 2)
            });
            self.offset ^= Wave::splat(keys.l(), this).with_last(next);
        }
        self.offset
    }

    /// The offsets of the blocks before the next ones.
    #[inline(always)]
    fn before<D: Data<L, N>>(mut self, keys: &impl Keys<L, N>, data: &D) -> Wave<L, N> {
        if D::WIDE {
            self.next(keys, data, data.units());
            self.offset ^= steps_of_round(keys, round_end::<L, N, D>(data, data.units()));
        }
        self.offset
    }
}

/// The number of the last block of a round, from 1.
#[inline(always)]
fn round_end<L: Lanes, const N: usize, D: Data<L, N>>(data: &D, round: usize) -> u64 {
    data.position(0) + (round as u64 + 1) * Wave::<L, N>::LANES as u64
}

/// In a round that ends with block `end`: from the block before each to it.
#[inline(always)]
fn steps_of_round<L: Lanes, const N: usize>(keys: &impl Keys<L, N>, end: u64) -> Wave<L, N> {
    let (l, first) = (keys.l(), &keys.table(0)[BITS..]);
    let steps = Wave::load(l, first) ^ Wave::load(l, &first[1..]);
    steps.with_last(*step(keys, 0, end))
}

/// From block `number - 1` to block `number`, in each lane.
#[inline(always)]
fn numbered<L: Lanes, const N: usize>(
    keys: &impl Keys<L, N>,
    number: impl Fn(usize) -> u64,
) -> Wave<L, N> {
    Wave::collect(keys.l(), |lane| step(keys, lane, number(lane)))
}

/// From block `number - 1` to block `number`, in one lane; zero where it has no key.
#[inline(always)]
fn step<L: Lanes, const N: usize>(keys: &impl Keys<L, N>, lane: usize, number: u64) -> &Block {
    keys.table(lane)
        .get(number.trailing_zeros() as usize)
        .unwrap_or(&Block::ZERO)
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
