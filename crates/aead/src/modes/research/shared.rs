//! Functions that several modes of the study share.

use sealane_block::aes::Forward;
use sealane_block::{Block, Lanes};

use crate::lanes::{Data, Facts, Group, Head, Keys, Shape, Tail, Token, Wave};

/// Returns a block for each lane, by a number that its message has. Where the numbers are the same
/// in all lanes, as they mostly are, all lanes get the block, also those without a message.
#[inline(always)]
pub(crate) fn by_number<S: Shape>(
    l: Token<S>,
    messages: Group<'_>,
    number: impl Fn(&Facts<'_>) -> usize,
    block: impl Fn(usize) -> Block,
) -> Wave<S> {
    let mut numbers = messages.iter().map(|(_, message)| number(message));
    let first = numbers.next().unwrap_or(0);
    if numbers.all(|other| other == first) {
        return Wave::splat(l, block(first));
    }
    messages.by_message(l, |message| block(number(message)))
}

/// Encrypts `x ^ late`, where `late` comes last, and adds `onto`.
#[inline(always)]
pub(crate) fn encrypt_late_onto<K: Keys>(
    keys: &K,
    schedule: usize,
    x: Wave<K::S>,
    [late, onto]: [Wave<K::S>; 2],
) -> Wave<K::S> {
    let x = keys.rounds::<Forward>(schedule, x, Some(&late));
    keys.last::<Forward>(schedule, x, Some(&onto))
}

/// Bytes of the last block of a text, even if it is a whole one.
pub(crate) fn last_block(text: usize) -> usize {
    text - text.saturating_sub(1) / 16 * 16
}

/// The block behind the rest of each lane's text, where a short block is filled with it.
#[inline(always)]
pub(crate) fn behind_rest<S: Shape>(block: Wave<S>, tail: &Tail<'_, S>) -> Wave<S> {
    let mut moved = block;
    for (lane, block) in moved.lanes_mut().iter_mut().enumerate() {
        *block = Block::new(block.value().unbounded_shl(8 * tail.rest[lane] as u32));
    }
    moved
}

/// Three times an element, in polynomial order.
#[inline(always)]
pub(crate) fn times3<S: Shape>(x: Wave<S>) -> Wave<S> {
    x.doubled() ^ x
}

/// Seven times: x^2 + x + 1.
#[inline(always)]
pub(crate) fn times7<S: Shape>(x: Wave<S>) -> Wave<S> {
    times3(x).doubled() ^ x
}

/// Three times three times an element, which the papers call nine: x^2 + 1.
#[inline(always)]
pub(crate) fn times9<S: Shape>(x: Wave<S>) -> Wave<S> {
    x.doubled().doubled() ^ x
}

/// A step of a hash in the manner of PMAC (Rogaway, "Efficient Instantiations of Tweakable
/// Blockciphers", ASIACRYPT 2004): `sum` becomes the sum of the encrypted blocks, each under the
/// next mask; the last block is added to the sum and `end` instead, and its encryption is the hash.
///
/// `mask` is in polynomial order, and is doubled; `end` is in the order of blocks.
#[inline(always)]
pub(crate) fn hash_step<K: Keys>(
    keys: &K,
    [sum, mask]: [&mut Wave<K::S>; 2],
    head: &Head<'_, K::S>,
    end: Wave<K::S>,
) {
    let hidden = mask.reversed().unless(head.last, *sum ^ end);
    let before = sum.unless(head.last, Wave::zero(keys.l()));
    *sum = keys.encrypt(0, head.block ^ hidden) ^ before;
    *mask = mask.doubled();
}

/// Returns masks that double from unit to unit: the masks of a unit and twice them, in the order of
/// blocks. `mask` goes on to the lanes' next units. `SAME` is set if all lanes have the same mask.
///
/// In lanes that hold neighbouring units, `mask` is in polynomial order, and twice the mask of a
/// lane is that of the next lane.
#[inline(always)]
pub(crate) fn next_masks<S: Shape, D: Data<S>, const SAME: bool>(
    mask: &mut Wave<S>,
) -> [Wave<S>; 2] {
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
pub(crate) fn same_masks<K: Keys>(data: &impl Data<K::S>) -> Option<usize> {
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
pub(crate) fn double_ghash<S: Shape>(mut a: Wave<S>) -> Wave<S> {
    let l = a.l;
    let zero = l.splat(Block::ZERO);
    for v in a.v.as_mut() {
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
