//! Functions that several modes of the study share.

use sealane_block::{Block, Lanes};

use crate::lanes::{Data, Facts, Group, Head, Keys, Tail, Wave};

pub(super) use crate::modes::shared::{aes, back, forward};

/// A block for each lane, by the message whose head this is; zero where there is none.
#[inline(always)]
pub(crate) fn by_message<L: Lanes, const N: usize>(
    l: L,
    head: &Head<'_, L, N>,
    block: impl Fn(&Facts<'_>) -> Block,
) -> Wave<L, N> {
    let mut wave = Wave::zero(l);
    let lanes = wave.lanes_mut();
    for (lane, message) in head.messages.iter() {
        lanes[lane] = block(message);
    }
    wave
}

/// Returns a block for each lane, by a number that its message has. Where the numbers are the same
/// in all lanes, as they mostly are, all lanes get the block, also those without a message.
#[inline(always)]
pub(crate) fn by_number<L: Lanes, const N: usize>(
    l: L,
    messages: Group<'_>,
    number: impl Fn(&Facts<'_>) -> usize,
    block: impl Fn(usize) -> Block,
) -> Wave<L, N> {
    let mut numbers = messages.iter().map(|(_, message)| number(message));
    let first = numbers.next().unwrap_or(0);
    if numbers.all(|other| other == first) {
        return Wave::splat(l, block(first));
    }
    let mut wave = Wave::zero(l);
    let lanes = wave.lanes_mut();
    for (lane, message) in messages.iter() {
        lanes[lane] = block(number(message));
    }
    wave
}

/// Returns the bytes of text that all lanes with a message have in their tails, where the numbers
/// are equal.
#[inline(always)]
pub(crate) fn same_rest<L: Lanes, const N: usize>(tail: &Tail<'_, L, N>) -> Option<usize> {
    let mut others = tail.messages.iter().map(|(lane, _)| tail.rest[lane]);
    others.all(|rest| rest == tail.most).then_some(tail.most)
}

/// As [`Tail::by_rest`], with the result of [`same_rest`] for the tail.
#[inline(always)]
pub(crate) fn by_rest<L: Lanes, const N: usize>(
    l: L,
    tail: &Tail<'_, L, N>,
    same: Option<usize>,
    block: impl Fn(usize) -> Block,
) -> Wave<L, N> {
    match same {
        Some(rest) => Wave::splat(l, block(rest)),
        None => tail.by_rest(l, block),
    }
}

/// Bytes of the last block of a text, even if it is a whole one.
pub(crate) fn last_block(text: usize) -> usize {
    text - text.saturating_sub(1) / 16 * 16
}

/// All ones, or zero.
#[inline(always)]
pub(crate) fn all_if(condition: bool) -> Block {
    if condition { Block::ONES } else { Block::ZERO }
}

/// The bit behind text of `rest` bytes, where a block has room for it.
#[inline(always)]
pub(crate) fn end_bit(rest: usize) -> Block {
    match rest {
        0..16 => Block::new(0x80 << (8 * rest)),
        _ => Block::ZERO,
    }
}

/// Three times an element, in polynomial order.
#[inline(always)]
pub(crate) fn times3<L: Lanes, const N: usize>(x: Wave<L, N>) -> Wave<L, N> {
    x.doubled() ^ x
}

/// Seven times: x^2 + x + 1.
#[inline(always)]
pub(crate) fn times7<L: Lanes, const N: usize>(x: Wave<L, N>) -> Wave<L, N> {
    times3(x).doubled() ^ x
}

/// Three times three times an element, which the papers call nine: x^2 + 1.
#[inline(always)]
pub(crate) fn times9<L: Lanes, const N: usize>(x: Wave<L, N>) -> Wave<L, N> {
    x.doubled().doubled() ^ x
}

/// A step of a hash in the manner of PMAC (Rogaway, "Efficient Instantiations of Tweakable
/// Blockciphers", ASIACRYPT 2004): `sum` becomes the sum of the encrypted blocks, each under the
/// next mask; the last block is added to the sum and `end` instead, and its encryption is the hash.
///
/// `mask` is in polynomial order, and is doubled; `end` is in the order of blocks.
#[inline(always)]
pub(crate) fn hash_step<L: Lanes, const N: usize>(
    keys: &impl Keys<L, N>,
    [sum, mask]: [&mut Wave<L, N>; 2],
    block: Wave<L, N>,
    last: Wave<L, N>,
    end: Wave<L, N>,
) {
    let hidden = mask.reversed().unless(last, *sum ^ end);
    let before = sum.unless(last, Wave::zero(keys.l()));
    *sum = keys.encrypt(0, block ^ hidden) ^ before;
    *mask = mask.doubled();
}

/// Returns the initial masks of lanes with neighbouring masks: `first`, in the order of blocks, and
/// each lane twice the one before it, in polynomial order.
#[inline(always)]
pub(crate) fn spread_doubled<L: Lanes, const N: usize>(first: Wave<L, 1>) -> Wave<L, N> {
    Wave::doubling(first.reversed())
}

/// Returns masks that double from unit to unit: the masks of a unit and twice them, in the order of
/// blocks. `mask` goes on to the lanes' next units. `SAME` is set if all lanes have the same mask.
///
/// In lanes that hold neighbouring units, `mask` is in polynomial order, and twice the mask of a
/// lane is that of the next lane.
#[inline(always)]
pub(crate) fn next_masks<L: Lanes, const N: usize, const SAME: bool, D: Data<L, N>>(
    mask: &mut Wave<L, N>,
    _data: &D,
) -> [Wave<L, N>; 2] {
    let (l, now) = (mask.l, *mask);
    if D::WIDE {
        *mask = now.times_x_to_lanes();
        let now = now.reversed();
        return [now, now.next(l.reverse_bytes(mask.v[0]))];
    }
    *mask = if SAME {
        Wave::filled(l, l.double_blocks(now.v[0]))
    } else {
        now.doubled_blocks()
    };
    if SAME {
        [Wave::filled(l, now.v[0]), *mask]
    } else {
        [now, *mask]
    }
}

/// Returns a lane whose mask all others with work share, where masks depend on the key and the
/// number of the unit alone.
#[inline(always)]
pub(crate) fn same_masks<L: Lanes, const N: usize, K: Keys<L, N>>(
    _keys: &K,
    data: &impl Data<L, N>,
) -> Option<usize> {
    if K::SAME { data.in_step() } else { None }
}

/// As [`double_ghash`], for one block.
pub(crate) fn doubled_ghash(block: Block) -> Block {
    let back = Block::new(0xe1 << 120).masked(block.value() as u8 & 1);
    Block::new(block.value() >> 1) ^ back
}

/// Twice an element of GF(2^128) in GHASH order, byte-reversed: a shift to the right by one, and
/// the bit shifted out comes back as the modulus.
#[inline(always)]
pub(crate) fn double_ghash<L: Lanes, const N: usize>(mut a: Wave<L, N>) -> Wave<L, N> {
    let l = a.l;
    let zero = l.splat(Block::ZERO);
    for v in &mut a.v {
        let carries = l.shl64::<63>(*v);
        let inner = l.zip_hi64(carries, zero);
        // Its bits 63, 62, 61 and 56: x^0 to x^2 and x^7.
        let outer = l.zip_lo64(zero, carries);
        let seventh = l.shr64::<4>(l.shr64::<2>(l.shr64::<1>(outer)));
        let sum = l.xor(l.xor(outer, l.shr64::<1>(outer)), l.shr64::<2>(outer));
        *v = l.xor(l.xor(l.shr64::<1>(*v), inner), l.xor(sum, seventh));
    }
    a
}
