//! OTs of strings that the sender chooses.
//!
//! On top of correlated OTs with given choices, the sender sends `m_0 ^ F(q)` and `m_1 ^ F(q ^
//! delta)`, where block `i` of `F` is the hash under the tweak with number `i`.
//!
//! OTs are hashed in batches of as many as there are numbers for a call, and the masked strings of
//! a batch are sent in pieces of a bounded number of bytes: of each OT some blocks of its zero
//! string, then the same blocks of the other one. So memory beyond the strings and one row an OT
//! depends neither on the number of OTs nor on the length of the strings.

use super::random::{BATCH, Hasher};
use super::{receive_given, send_given};
use crate::OtError;
use crate::traits::{CotReceiver, CotSender};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use std::ops::Range;
use zeroize::Zeroizing;

/// Bytes of a piece of the sender's answer: they stay in a near cache.
const PIECE_BYTES: usize = 256 << 10;
// A block of each string of a whole batch fits.
const _: () = assert!(2 * 16 * BATCH <= PIECE_BYTES);

/// Returns the bytes of the sender's answer for `count` OTs of strings of `length` blocks.
pub const fn chosen_bytes(count: u64, length: u64) -> u64 {
    count * length * 2 * 16
}

/// Sends `strings[x]` of each OT to a receiver that chooses `x`: strings of `length` blocks, one
/// after another, as many in either list. Reads the receiver's choices, masked, and writes one
/// message, not flushed.
///
/// # Errors
/// As [`CotSender::extend`].
///
/// # Panics
/// If the lists differ in length, or do not hold whole strings.
pub fn send_chosen<S: CotSender + ?Sized>(
    cot: &mut S,
    hasher: &mut Hasher,
    mesh: &mut Mesh,
    length: usize,
    strings: [&[Block]; 2],
) -> Result<(), OtError> {
    let [zeros, ones] = strings;
    let count = count_of(zeros.len(), length);
    assert_eq!(zeros.len(), ones.len(), "two strings for each OT");
    let mut q = Zeroizing::new(vec![Block::ZERO; count]);
    send_given(cot, mesh, &mut q)?;
    let delta = Zeroizing::new(cot.delta());
    let mut pairs = Zeroizing::new([[Block::ZERO; 2]; BATCH]);
    let mut masked = piece_buffer(count, length);
    for (batch, q) in q.chunks(BATCH).enumerate() {
        let pairs = &mut pairs[..q.len()];
        let call = hasher.take_call();
        for blocks in pieces(q.len(), length) {
            let width = blocks.len();
            let masked = &mut masked[..2 * width * q.len()];
            for (column, i) in blocks.enumerate() {
                hasher.pairs(call, i, *delta, q, pairs);
                let masked = masked.chunks_mut(2 * width);
                for (j, (pair, masked)) in pairs.iter().zip(masked).enumerate() {
                    let at = (batch * BATCH + j) * length + i;
                    masked[column] = zeros[at] ^ pair[0];
                    masked[width + column] = ones[at] ^ pair[1];
                }
            }
            mesh.send(cot.peer(), Block::as_bytes(masked))?;
        }
    }
    Ok(())
}

/// A receiver that has sent its choices.
pub struct Request {
    sender: PartyId,
    choices: Zeroizing<Vec<u8>>,
    t: Zeroizing<Vec<Block>>,
}

impl Request {
    /// Asks for one string of each OT by `choices`, one byte each, of which bit 0 counts. Messages
    /// that it writes last are not flushed.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`].
    pub fn new<R: CotReceiver + ?Sized>(
        cot: &mut R,
        mesh: &mut Mesh,
        choices: &[u8],
    ) -> Result<Request, OtError> {
        let mut t = Zeroizing::new(vec![Block::ZERO; choices.len()]);
        receive_given(cot, mesh, choices, &mut t)?;
        Ok(Request {
            sender: cot.peer(),
            choices: Zeroizing::new(choices.to_vec()),
            t,
        })
    }

    /// Reads the sender's answer and fills `strings` with strings of `length` blocks.
    ///
    /// # Errors
    /// The network failed.
    ///
    /// # Panics
    /// If `strings` does not hold one string for each choice.
    pub fn finish(
        self,
        hasher: &mut Hasher,
        mesh: &mut Mesh,
        length: usize,
        strings: &mut [Block],
    ) -> Result<(), OtError> {
        let count = self.t.len();
        assert_eq!(count_of(strings.len(), length), count, "a string a choice");
        let mut keys = Zeroizing::new([Block::ZERO; BATCH]);
        let mut masked = piece_buffer(count, length);
        let batches = self.t.chunks(BATCH).zip(self.choices.chunks(BATCH));
        for ((t, choices), strings) in batches.zip(strings.chunks_mut(BATCH * length)) {
            let keys = &mut keys[..t.len()];
            let call = hasher.take_call();
            for blocks in pieces(t.len(), length) {
                let width = blocks.len();
                let masked = &mut masked[..2 * width * t.len()];
                mesh.recv(self.sender, Block::as_bytes_mut(masked))?;
                for (column, i) in blocks.enumerate() {
                    keys.copy_from_slice(t);
                    hasher.keys(call, i, keys);
                    let pairs = masked.chunks(2 * width).zip(strings.chunks_mut(length));
                    for ((&key, &choice), (masked, string)) in keys.iter().zip(choices).zip(pairs) {
                        let [zero, one] = [masked[column], masked[width + column]];
                        // Both are read, and a mask selects.
                        string[i] = key ^ zero ^ (zero ^ one).masked(choice);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The blocks of strings that each piece of the answer for a batch of `rows` OTs has.
fn pieces(rows: usize, length: usize) -> impl Iterator<Item = Range<usize>> {
    let width = PIECE_BYTES / (2 * 16 * rows.max(1));
    (0..length)
        .step_by(width)
        .map(move |first| first..length.min(first + width))
}

/// Room for the largest piece of the answer for `count` OTs. It is no secret, but made of some.
fn piece_buffer(count: usize, length: usize) -> Zeroizing<Vec<Block>> {
    // A batch that is not full has wider pieces, and no more bytes.
    let whole = 2 * length * count.min(BATCH);
    Zeroizing::new(vec![Block::ZERO; whole.min(PIECE_BYTES / 16)])
}

fn count_of(blocks: usize, length: usize) -> usize {
    assert!(
        length > 0 && blocks.is_multiple_of(length),
        "whole strings of one length"
    );
    blocks / length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_strings_in_order_and_within_bounds() {
        for rows in [1, 2, 511, BATCH] {
            for length in [1, 15, 16, 17, 1000, 100_000] {
                let room = piece_buffer(rows, length).len();
                assert!(16 * room <= PIECE_BYTES);
                let mut next = 0;
                for piece in pieces(rows, length) {
                    assert!(piece.start == next && 2 * rows * piece.len() <= room);
                    next = piece.end;
                }
                assert_eq!(next, length);
            }
        }
        assert!(16 * piece_buffer(1 << 30, 1 << 20).len() <= PIECE_BYTES);
    }
}
