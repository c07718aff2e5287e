//! OCB3: RFC 7253; Krovetz and Rogaway, "The Software Performance of Authenticated-Encryption
//! Modes" (FSE 2011).
//!
//! Offset `i` is offset `i - 1` plus L of the number of zeros that `i` ends with, so offset `i` is
//! offset 0 plus the L of the bits of `i`'s Gray code. Over a round of 2^k lanes, the lanes'
//! offsets therefore change by the same: the L of bits k - 1 and k + z, where z zeros end the
//! round's number.

use sealane_block::aes::{Back, Forward};
use sealane_block::lanes::MAX_LANES;
use sealane_block::{Block, Cpu, Lanes};

use super::shared::double;
use crate::lanes::head::block_of;
use crate::lanes::keys::aes;
use crate::lanes::{
    AlignedBlocks, BACK, Data, FORWARD, Head, KeyMaterial, Keys, Mode, Of, OneState, Params, Shape,
    State, Tail, Vector, Wave,
};

pub(crate) struct Ocb3;

/// L_*, for the rest of a text.
const REST: usize = 0;
/// L_$, for the tag.
const FINAL: usize = 1;

/// The offset of the block before the next one.
const OFFSET: usize = 0;
/// The sum of the text.
const CHECKSUM: usize = 1;
/// Offset and sum of associated data.
const AD_OFFSET: usize = 2;
const AD_SUM: usize = 3;

/// Index in the table of L_0, L_1 and so on, one for each bit of a block's number.
const BITS: usize = 48;
/// Index in the table of offsets 0, 1, 2 and so on, less offset 0; one more than there are lanes.
const FIRST: usize = MAX_LANES + 1;

impl Mode for Ocb3 {
    type Schedules = Of<2>;
    type Constants = Of<2>;
    type Words = Of<4>;
    const PARALLEL: bool = true;

    fn derive(cpu: Cpu, key: &[u8], material: &mut KeyMaterial<Self>) {
        let rest = aes(cpu, key).encrypt(Block::ZERO);
        let last = double(rest);
        material.constants = [rest, last];
        let mut next = last;
        let mut table = Vec::with_capacity(BITS + FIRST);
        for _ in 0..BITS {
            next = double(next);
            table.push(next);
        }
        let mut offset = Block::ZERO;
        for number in 1..=FIRST {
            table.push(offset);
            offset ^= table[number.trailing_zeros() as usize];
        }
        material.table = AlignedBlocks::new(table);
    }

    fn nonce_block(params: &Params, nonce: &[u8]) -> Block {
        Block::new(nonce_block(params, nonce).value() & !(0x3f << 120))
    }

    #[inline(always)]
    fn absorb<K: Keys>(keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        if head.index == 0 {
            let mut top = keys.encrypt(FORWARD, head.block);
            let lanes = top.lanes_mut();
            for (lane, message) in head.messages.iter() {
                lanes[lane] = stretched(lanes[lane], message.nonce);
            }
            state[OFFSET] = top;
            return;
        }
        let partial = head.last & (head.whole ^ Wave::splat(keys.l(), Block::ONES));
        let next = numbered(keys, |_| head.index as u64);
        let offset = state[AD_OFFSET] ^ next.unless(partial, keys.constant(REST));
        state[AD_OFFSET] = offset;
        state[AD_SUM] ^= keys.encrypt(FORWARD, head.block ^ offset);
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let mut offsets = Offsets::new(keys, state[OFFSET], data);
        let mut checksum = state[CHECKSUM];
        for unit in 0..data.units() {
            let (offset, shared) = offsets.next(data, unit);
            let given = data.load(keys.l(), unit, 0);
            if K::OPEN {
                let made = keys.xex::<Back>(BACK, given, offset, shared);
                checksum = added(checksum, made, data);
                data.store(unit, 0, made);
            } else {
                checksum = added(checksum, given, data);
                data.store(unit, 0, keys.xex::<Forward>(FORWARD, given, offset, shared));
            }
        }
        state[OFFSET] = offsets.before::<D>();
        state[CHECKSUM] = checksum;
    }

    #[inline(always)]
    fn spread<K: Keys>(keys: &K, state: &OneState<Self, K::S>, _at: u64) -> State<Self, K::S> {
        let first = Wave::load(keys.l(), first_offsets(keys));
        let mut wide = [Wave::zero(keys.l()); 4];
        wide[OFFSET] = state[OFFSET].spread() ^ first;
        wide[CHECKSUM] = state[CHECKSUM].in_first();
        wide[AD_SUM] = state[AD_SUM].spread();
        wide
    }
    #[inline(always)]
    fn fold<K: Keys>(keys: &K, state: &State<Self, K::S>, next: usize) -> OneState<Self, K::S> {
        let mut one = [Wave::zero(keys.l()); 4];
        one[OFFSET] = state[OFFSET].pick(next);
        one[CHECKSUM] = state[CHECKSUM].sum();
        one[AD_SUM] = state[AD_SUM].pick(0);
        one
    }

    #[inline(always)]
    fn tail<K: Keys>(keys: &K, state: &State<Self, K::S>, tail: &mut Tail<'_, K::S>) {
        let l = keys.l();
        let (mut offset, mut checksum) = (state[OFFSET], state[CHECKSUM]);
        if tail.most > 0 {
            let some = tail.where_rest(l, |rest| rest > 0);
            offset ^= some & keys.constant(REST);
            let pad = keys.encrypt(FORWARD, offset);
            let [text, _] = tail.mask::<K>(pad);
            checksum ^= some & (text ^ tail.end_bit(l, 0));
        }
        let tag = keys.encrypt(FORWARD, checksum ^ offset ^ keys.constant(FINAL));
        tail.tag::<K>(tag ^ state[AD_SUM]);
    }
}

/// Adds blocks of text to a checksum. Where the blocks of all lanes count for one message, they go
/// to the first vector: a sum for each lane would take all registers.
#[inline(always)]
fn added<S: Shape, D: Data<S>>(mut checksum: Wave<S>, text: Wave<S>, data: &D) -> Wave<S> {
    if !data.is_whole() {
        return checksum ^ text;
    }
    for i in 0..Wave::<S>::VECTORS {
        checksum.v[0] = text.l.xor(checksum.v[0], text.v[i]);
    }
    checksum
}

/// The offsets of a run of units: a part for each lane, and a part that lanes share.
struct Offsets<'k, K: Keys> {
    keys: &'k K,
    own: Wave<K::S>,
    shared: Vector<K::S>,
    /// A lane whose position all others share, if all have the same key: all take the same step.
    in_step: Option<usize>,
}

impl<'k, K: Keys> Offsets<'k, K> {
    /// Starts from the offsets of the blocks before the next ones. In rounds, lanes share the first
    /// of these.
    #[inline(always)]
    fn new<D: Data<K::S>>(keys: &'k K, before: Wave<K::S>, data: &D) -> Self {
        let l = keys.l();
        if D::WIDE {
            Offsets {
                keys,
                own: Wave::load(l, &first_offsets(keys)[1..]),
                shared: before.pick(0).v[0],
                in_step: None,
            }
        } else {
            Offsets {
                keys,
                own: before,
                shared: l.splat(Block::ZERO),
                in_step: if K::SAME { data.in_step() } else { None },
            }
        }
    }

    /// The offsets of the next units.
    #[inline(always)]
    fn next<D: Data<K::S>>(&mut self, data: &D, unit: usize) -> (Wave<K::S>, Vector<K::S>) {
        let (keys, l) = (self.keys, self.keys.l());
        let number = |lane| data.position(lane) + unit as u64 + 1;
        if D::WIDE {
            let lanes = Wave::<K::S>::LANES;
            let before = self.shared;
            // All of a round's steps but the last are those of the first round.
            let end = data.position(0) + (unit as u64 + 1) * lanes as u64;
            let last = first_offsets(keys)[lanes - 1] ^ *step(keys, 0, end);
            self.shared = l.xor(before, l.splat(last));
            return (self.own.with_last(last), before);
        }
        match self.in_step {
            Some(lane) => {
                self.shared = l.xor(self.shared, l.splat(*step(keys, lane, number(lane))))
            }
            None => self.own ^= numbered(keys, number),
        }
        (self.own, self.shared)
    }

    /// The offsets of the blocks before the next ones.
    #[inline(always)]
    fn before<D: Data<K::S>>(mut self) -> Wave<K::S> {
        let (keys, l) = (self.keys, self.keys.l());
        let own = if D::WIDE {
            // These depend on the key alone.
            l.wipe(self.own.v.as_mut());
            Wave::load(l, first_offsets(keys))
        } else {
            self.own
        };
        own ^ Wave::filled(l, self.shared)
    }
}

/// Returns the offsets of blocks 0, 1 and so on, less that of block 0, of a key that all lanes
/// have.
#[inline(always)]
fn first_offsets<K: Keys>(keys: &K) -> &[Block] {
    &keys.table(0)[BITS..]
}

/// Steps from block `number - 1` to block `number`, in each lane.
#[inline(always)]
fn numbered<K: Keys>(keys: &K, number: impl Fn(usize) -> u64) -> Wave<K::S> {
    Wave::collect(keys.l(), |lane| step(keys, lane, number(lane)))
}

/// Steps from block `number - 1` to block `number`, in one lane; zero where it has no key.
#[inline(always)]
fn step<K: Keys>(keys: &K, lane: usize, number: u64) -> &Block {
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

/// Computes the first offset: 128 bits of Ktop and of its difference with itself, a byte on, from
/// the bit that the nonce's last six bits select.
fn stretched(top: Block, nonce: &[u8]) -> Block {
    let bottom = u32::from(nonce.last().copied().unwrap_or(0) & 0x3f);
    let top = top.value().swap_bytes();
    let more = (top >> 64) as u64 ^ (top >> 56) as u64;
    let low = u128::from(more) >> (64 - bottom).min(63) >> u32::from(bottom == 0);
    Block::new((top << bottom | low).swap_bytes())
}
