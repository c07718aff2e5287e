//! OTs of strings that the sender chooses.
//!
//! On top of correlated OTs with given choices, the sender sends `m_0 ^ F(q)` and `m_1 ^ F(q ^
//! delta)`, where block `i` of `F` is the hash under the tweak with number `i`.

use super::random::{BATCH, Hasher};
use super::{receive_given, send_given};
use crate::OtError;
use crate::traits::{CotReceiver, CotSender};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

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
    let mut masked = vec![Block::ZERO; 2 * length * count.min(BATCH)];
    for (batch, q) in q.chunks(BATCH).enumerate() {
        let pairs = &mut pairs[..q.len()];
        let masked = &mut masked[..2 * length * q.len()];
        let call = hasher.take_call();
        for i in 0..length {
            hasher.pairs(call, i, *delta, q, pairs);
            for (j, (pair, masked)) in pairs.iter().zip(masked.chunks_mut(2 * length)).enumerate() {
                let at = (batch * BATCH + j) * length + i;
                masked[i] = zeros[at] ^ pair[0];
                masked[length + i] = ones[at] ^ pair[1];
            }
        }
        mesh.send(cot.peer(), Block::as_bytes(masked))?;
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
        let mut masked = vec![Block::ZERO; 2 * length * count.min(BATCH)];
        let batches = self.t.chunks(BATCH).zip(self.choices.chunks(BATCH));
        for ((t, choices), strings) in batches.zip(strings.chunks_mut(BATCH * length)) {
            let keys = &mut keys[..t.len()];
            let masked = &mut masked[..2 * length * t.len()];
            mesh.recv(self.sender, Block::as_bytes_mut(masked))?;
            let call = hasher.take_call();
            for i in 0..length {
                keys.copy_from_slice(t);
                hasher.keys(call, i, keys);
                let pairs = masked.chunks(2 * length).zip(strings.chunks_mut(length));
                for ((&key, &choice), (masked, string)) in keys.iter().zip(choices).zip(pairs) {
                    let [zero, one] = [masked[i], masked[length + i]];
                    // Both are read, and a mask selects.
                    string[i] = key ^ zero ^ (zero ^ one).masked(choice);
                }
            }
        }
        Ok(())
    }
}

fn count_of(blocks: usize, length: usize) -> usize {
    assert!(
        length > 0 && blocks.is_multiple_of(length),
        "whole strings of one length"
    );
    blocks / length
}
