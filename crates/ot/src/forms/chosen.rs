//! OTs of strings that the sender chooses.
//!
//! On top of correlated OTs with given choices, the sender sends `m_0 ^ F(q)` and `m_1 ^ F(q ^
//! delta)`, where block `i` of `F` is the hash under the tweak with number `i`.
//!
//! **Parts.** Where the source allows it ([`CotSender::one_way`]), OTs are made and answered in
//! parts, some of which the receiver asks for ahead of the answers that it reads. So both parties
//! and the network work at the same time, on rows that are still in a cache, and memory beyond the
//! strings does not depend on the number of OTs. With any other source all are one part.
//!
//! **Pieces.** OTs are hashed in batches of as many as there are numbers for a call. The masked
//! strings of a batch are written where they are sent from, in pieces of a bounded number of bytes:
//! of each OT some blocks of its zero string, then the same blocks of the other one. So memory does
//! not depend on the length of the strings either.

use super::random::{BATCH, Hasher};
use super::{given_bytes, receive_given, send_given};
use crate::flights::then;
use crate::traits::{CotCost, CotReceiver, CotSender};
use crate::{Flight, Flights, Result, Security};
use sealane_block::Block;
use sealane_net::{MAX_CONTIGUOUS_BYTES, Mesh};
use sealane_parties::PartyId;
use std::collections::VecDeque;
use std::ops::Range;
use zeroize::Zeroizing;

/// OTs of a part: whole batches, which fill whole pieces of an extension together with the rows
/// that hide its check.
const PART: usize = 63 * BATCH;
/// Parts that the receiver asks for before it reads the first answer: on a WAN they are on their
/// way for longer than a round trip.
const IN_FLIGHT: usize = 8;
/// Bytes of a piece of the sender's answer, all of which lie in one frame.
const PIECE_BYTES: usize = MAX_CONTIGUOUS_BYTES;
// A block of each string of a whole batch fits.
const _: () = assert!(2 * 16 * BATCH <= PIECE_BYTES);

/// Returns the bytes of the sender's answer for `count` OTs of strings of `length` blocks.
pub const fn chosen_bytes(count: u64, length: u64) -> u64 {
    count * length * 2 * 16
}

/// Messages of `count` OTs of strings of `length` blocks, if their source has made `before` OTs
/// since its set-up and the receiver calls [`receive_chosen`].
pub fn chosen_flights(source: &dyn CotCost, before: u64, count: u64, length: u64) -> Flights {
    let mut flights = Flights::new();
    let part = part(source.one_way(), count as usize) as u64;
    let asked = part.saturating_mul(if source.one_way() {
        IN_FLIGHT as u64
    } else {
        1
    });
    let mut made = 0;
    while made < count {
        let together = asked.min(count - made);
        let mut requests = Flights::new();
        for first in (0..together).step_by(part as usize) {
            let count = part.min(together - first);
            requests = then(requests, source.extend(before + made + first, count));
            let request = Flight::new(0, given_bytes(count));
            requests = then(requests, vec![request]);
        }
        flights.append(&mut requests);
        flights.push(Flight::new(chosen_bytes(together, length), 0));
        made += together;
    }
    flights
}

/// OTs of each part of `count`, but for the last.
fn part(one_way: bool, count: usize) -> usize {
    if one_way { PART } else { count.max(1) }
}

/// Sends `strings[x]` of each OT to a receiver that chooses `x`: strings of `length` blocks, one
/// after another, as many in either list. Reads the receiver's choices, masked, and answers each
/// part of them; the last answer is not flushed.
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
) -> Result<()> {
    let [zeros, ones] = strings;
    let count = count_of(zeros.len(), length);
    assert_eq!(zeros.len(), ones.len(), "two strings for each OT");
    let part = part(cot.terms().one_way, count);
    let mut q = Zeroizing::new(vec![Block::ZERO; part.min(count)]);
    let mut pairs = Zeroizing::new([[Block::ZERO; 2]; BATCH]);
    for first in (0..count).step_by(part) {
        if first > 0 {
            // The receiver may wait for this answer before it asks for more.
            mesh.flush()?;
        }
        let q = &mut q[..part.min(count - first)];
        send_given(cot, mesh, q)?;
        let strings = strings.map(|strings| &strings[first * length..][..q.len() * length]);
        let delta = Zeroizing::new(cot.delta());
        for (batch, q) in q.chunks(BATCH).enumerate() {
            let strings = strings.map(|s| &s[batch * BATCH * length..][..q.len() * length]);
            let hashed = (&mut *hasher, &mut pairs[..q.len()]);
            let security = cot.terms().security;
            send_batch(
                hashed,
                (mesh, cot.terms().peer, security),
                *delta,
                q,
                length,
                strings,
            )?;
        }
    }
    Ok(())
}

/// Writes the masked strings of a batch. `pairs` is scratch.
fn send_batch(
    (hasher, pairs): (&mut Hasher, &mut [[Block; 2]]),
    (mesh, to, security): (&mut Mesh, PartyId, Security),
    delta: Block,
    q: &[Block],
    length: usize,
    [zeros, ones]: [&[Block]; 2],
) -> Result<()> {
    let call = hasher.take_call();
    let digested = hasher.digested(security);
    for blocks in pieces(q.len(), length) {
        let width = blocks.len();
        let bytes = 2 * 16 * width * q.len();
        let (masked, _) = mesh.send_buffer(to, bytes)?[..bytes].as_chunks_mut();
        for (column, i) in blocks.enumerate() {
            hasher.pairs(call, i, delta, q, pairs);
            let zeros = zeros[i..].iter().step_by(length);
            let strings = zeros.zip(ones[i..].iter().step_by(length));
            let masked = masked.chunks_exact_mut(2 * width);
            for (((zero, one), pair), masked) in strings.zip(&*pairs).zip(masked) {
                masked[column] = (*zero ^ pair[0]).to_bytes();
                masked[width + column] = (*one ^ pair[1]).to_bytes();
            }
        }
        digested.mark_written(mesh, to, bytes)?;
    }
    Ok(())
}

/// Fills `strings`, each of `length` blocks, with those that the receiver chooses by `choices`, one
/// byte each, of which bit 0 counts. Flushes what it writes.
///
/// # Errors
/// As [`CotReceiver::extend`].
///
/// # Panics
/// If `strings` does not hold one string for each choice.
pub fn receive_chosen<R: CotReceiver + ?Sized>(
    cot: &mut R,
    hasher: &mut Hasher,
    mesh: &mut Mesh,
    length: usize,
    choices: &[u8],
    strings: &mut [Block],
) -> Result<()> {
    let count = count_of(strings.len(), length);
    assert_eq!(count, choices.len(), "a string a choice");
    let part = part(cot.terms().one_way, count);
    let mut answers = strings.chunks_mut(part * length);
    let mut requests = VecDeque::with_capacity(IN_FLIGHT);
    let mut finish = |request: Option<Request>, mesh: &mut Mesh| match request {
        None => Ok(()),
        Some(request) => {
            let strings = answers.next().expect("as many answers as requests");
            request.finish(hasher, mesh, length, strings)
        }
    };
    for choices in choices.chunks(part) {
        if requests.len() == IN_FLIGHT {
            finish(requests.pop_front(), mesh)?;
        }
        requests.push_back(Request::new(cot, mesh, choices)?);
        mesh.flush()?;
    }
    requests
        .into_iter()
        .try_for_each(|request| finish(Some(request), mesh))
}

/// A receiver that has sent its choices, all of them; [`receive_chosen`] sends them in parts.
pub struct Request {
    sender: PartyId,
    security: Security,
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
    ) -> Result<Request> {
        let mut t = Zeroizing::new(vec![Block::ZERO; choices.len()]);
        let part = part(cot.terms().one_way, choices.len());
        for (choices, t) in choices.chunks(part).zip(t.chunks_mut(part)) {
            receive_given(cot, mesh, choices, t)?;
        }
        Ok(Request {
            sender: cot.terms().peer,
            security: cot.terms().security,
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
    ) -> Result<()> {
        let count = self.t.len();
        assert_eq!(count_of(strings.len(), length), count, "a string a choice");
        let mut keys = Zeroizing::new([Block::ZERO; BATCH]);
        let digested = hasher.digested(self.security);
        let batches = self.t.chunks(BATCH).zip(self.choices.chunks(BATCH));
        for ((t, choices), strings) in batches.zip(strings.chunks_mut(BATCH * length)) {
            let keys = &mut keys[..t.len()];
            let call = hasher.take_call();
            for blocks in pieces(t.len(), length) {
                let width = blocks.len();
                let bytes = 2 * 16 * width * t.len();
                let (masked, _) = mesh.recv_buffer(self.sender, bytes)?[..bytes].as_chunks();
                for (column, i) in blocks.enumerate() {
                    keys.copy_from_slice(t);
                    hasher.keys(call, i, keys);
                    let masked = masked.chunks_exact(2 * width);
                    let strings = strings[i..].iter_mut().step_by(length);
                    let chosen = keys.iter().zip(choices).zip(masked);
                    for (((key, &choice), masked), string) in chosen.zip(strings) {
                        let [zero, one] = [masked[column], masked[width + column]];
                        let [zero, one] = [zero, one].map(Block::from_bytes);
                        // Both are read, and a mask selects.
                        *string = *key ^ zero ^ (zero ^ one).masked(choice);
                    }
                }
                digested.consume(mesh, self.sender, bytes)?;
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

fn count_of(blocks: usize, length: usize) -> usize {
    let whole = length > 0 && blocks.is_multiple_of(length);
    assert!(whole, "whole strings of one length");
    blocks / length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_strings_in_order_and_within_bounds() {
        for rows in [1, 2, 511, BATCH] {
            for length in [1, 15, 16, 17, 1000, 100_000] {
                let mut next = 0;
                for piece in pieces(rows, length) {
                    assert!(piece.start == next && 2 * 16 * rows * piece.len() <= PIECE_BYTES);
                    next = piece.end;
                }
                assert_eq!(next, length);
            }
        }
    }
}
