//! OTs in chunks, so that memory beyond the correlations does not grow with their number.

use crate::Result;
use crate::flights::{Flight, Flights, then};
use crate::forms::{BATCH, Hasher};
use crate::traits::{CotCost, SecondKeys, packed_blocks};
use sealane_block::Block;
use std::ops::Range;
use zeroize::Zeroizing;

/// OTs that are extended and hashed together: 256 KiB of rows, which stay in the second cache.
pub(super) const CHUNK: usize = 1 << 14;

/// The chunks of a range of OTs that begins with one: each with the number of OTs in it, and the
/// blocks of their bits.
pub(super) fn chunks(ots: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
    let end = ots.end;
    ots.step_by(CHUNK).map(move |first| {
        let now = CHUNK.min(end - first);
        let block = first / 128;
        (now, block..block + packed_blocks(now))
    })
}

/// Messages that make `count` OTs in chunks, after `before` others.
pub(super) fn extensions<C: CotCost + ?Sized>(cot: &C, before: u64, count: u64) -> Flights {
    let chunks = (0..count).step_by(CHUNK);
    chunks.fold(Flights::new(), |flights, first| {
        let now = (count - first).min(CHUNK as u64);
        then(flights, cot.extend(before + first, now))
    })
}

/// The parts of `count` correlations, in each of which all OTs are made before the receiver reads a
/// message of the sender's own: all of them if it may run ahead, else chunks.
///
/// Where extensions are an exchange, messages of a chunk come before those of the next extension.
/// That takes few flights more, since such a source makes the OTs of most chunks without a message.
pub(super) fn parts(
    one_way: bool,
    count: usize,
    chunk: usize,
) -> impl Iterator<Item = Range<usize>> {
    let part = if one_way { count.max(1) } else { chunk };
    let range = move |first| first..count.min(first + part);
    (0..count).step_by(part).map(range)
}

/// The flight of the sender's message of so many bits.
pub(super) fn message(bits: u64) -> Flights {
    match bits.div_ceil(8) {
        0 => Flights::new(),
        bytes => vec![Flight::new(bytes, 0)],
    }
}

/// Hashes rows of the sender, and calls `each` with the number of an OT and a block of both keys.
pub(super) fn each_pair(
    hasher: &mut Hasher,
    seconds: &SecondKeys,
    q: &[Block],
    mut each: impl FnMut(usize, [u128; 2]) -> Result<()>,
) -> Result<()> {
    let mut pairs = Zeroizing::new([[Block::ZERO; 2]; BATCH]);
    for (batch, q) in q.chunks(BATCH).enumerate() {
        let pairs = &mut pairs[..q.len()];
        let call = hasher.take_call();
        hasher.both_keys((call, 0), (seconds, batch * BATCH), q, pairs);
        for (j, pair) in pairs.iter().enumerate() {
            each(batch * BATCH + j, pair.map(|key| key.value()))?;
        }
    }
    Ok(())
}

/// Replaces rows of the receiver by a block of their keys.
pub(super) fn keys(hasher: &mut Hasher, t: &mut [Block]) {
    for t in t.chunks_mut(BATCH) {
        let call = hasher.take_call();
        hasher.keys(call, 0, t);
    }
}
