//! Correlated OTs with given choices under an offset of the sender's choice, from random OTs that
//! were made before it was known.
//!
//! The receiver sends `d_j = r_j ^ x_j`, where `r_j` is the random choice of the OT (Beaver, CRYPTO
//! 1995). With `k_0` and `k_1` its keys, the sender takes `q_j = k_d` and sends `s_j = k_0 ^ k_1 ^
//! delta`; the receiver takes `t_j = k_r ^ x_j s_j`. If `x_j` is 0, `r_j` is `d_j` and `t_j` is
//! `q_j`; if it is 1, `t_j` is `k_r ^ k_0 ^ k_1 ^ delta`, which is `q_j ^ delta`. The receiver
//! knows one key of the two, so `s_j` tells it nothing about `delta`.
//!
//! Where the choices are wanted as they are, `d_j` is 0 and not sent ([`send_correlated`]).

use super::given_bytes;
use crate::traits::{pack, packed_blocks};
use crate::{OtError, Result};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// Rows of an answer that are written at a time.
const BATCH: usize = 1024;

/// Returns the bytes of the sender's answer for `count` OTs.
pub const fn offset_bytes(count: u64) -> u64 {
    16 * count
}

/// Reads the receiver's choices, masked, and writes one message, not flushed. Fills `q`.
///
/// # Errors
/// The network failed.
///
/// # Panics
/// If there is not one pair of keys for each OT.
pub fn send_under(
    delta: Block,
    pairs: &[[Block; 2]],
    mesh: &mut Mesh,
    receiver: PartyId,
    q: &mut [Block],
) -> Result<()> {
    assert_eq!(pairs.len(), q.len(), "a pair of keys for each OT");
    let mut differences = vec![Block::ZERO; packed_blocks(q.len())];
    let bytes = given_bytes(q.len() as u64) as usize;
    let bytes = &mut Block::as_bytes_mut(&mut differences)[..bytes];
    mesh.recv(receiver, bytes)?;
    for ((q, pairs), d) in q
        .chunks_mut(BATCH)
        .zip(pairs.chunks(BATCH))
        .zip(differences.chunks(BATCH / 128))
    {
        let mut answer = [Block::ZERO; BATCH];
        for (j, (q, [zero, one])) in q.iter_mut().zip(pairs).enumerate() {
            let both = *zero ^ *one;
            *q = *zero ^ both.masked((d[j / 128].value() >> (j % 128)) as u8);
            answer[j] = both ^ delta;
        }
        mesh.send(receiver, Block::as_bytes(&answer[..q.len()]))?;
    }
    Ok(())
}

/// Makes correlated OTs with random choices of random ones, whose keys `next` fills in: fills `q`,
/// and writes [`offset_bytes`], not flushed.
///
/// # Errors
/// The network failed; the errors of `next`.
pub fn send_correlated<E: From<OtError>>(
    delta: Block,
    mesh: &mut Mesh,
    receiver: PartyId,
    q: &mut [Block],
    mut next: impl FnMut(&mut [[Block; 2]]) -> Result<(), E>,
) -> Result<(), E> {
    let mut pairs = Zeroizing::new([[Block::ZERO; 2]; BATCH]);
    for q in q.chunks_mut(BATCH) {
        let (pairs, mut answer) = (&mut pairs[..q.len()], [Block::ZERO; BATCH]);
        next(pairs)?;
        for ((q, answer), [zero, one]) in q.iter_mut().zip(&mut answer).zip(pairs) {
            *q = *zero;
            *answer = *zero ^ *one ^ delta;
        }
        let answer = Block::as_bytes(&answer[..q.len()]);
        mesh.send(receiver, answer).map_err(OtError::from)?;
    }
    Ok(())
}

/// Makes correlated OTs of random ones: reads what [`send_correlated`] writes, and replaces the
/// keys of these choices, one byte each, by `t`.
///
/// # Errors
/// The network failed.
pub fn receive_correlated(
    mesh: &mut Mesh,
    sender: PartyId,
    choices: &[u8],
    keys: &mut [Block],
) -> Result<()> {
    let mut answer = [Block::ZERO; BATCH];
    for (keys, choices) in keys.chunks_mut(BATCH).zip(choices.chunks(BATCH)) {
        let answer = &mut answer[..keys.len()];
        mesh.recv(sender, Block::as_bytes_mut(answer))?;
        for ((key, choice), answer) in keys.iter_mut().zip(choices).zip(answer) {
            *key ^= answer.masked(*choice);
        }
    }
    Ok(())
}

/// A receiver that has sent its choices.
pub struct OffsetRequest {
    sender: PartyId,
    choices: Zeroizing<Vec<u8>>,
    keys: Zeroizing<Vec<Block>>,
}

/// Choices, one byte each, and rows.
type Finished = (Zeroizing<Vec<u8>>, Zeroizing<Vec<Block>>);

impl OffsetRequest {
    /// Sends `choices`, one byte each, of which bit 0 counts, masked by the `random` choices of OTs
    /// whose keys are `keys`. Not flushed.
    ///
    /// # Errors
    /// The network failed.
    ///
    /// # Panics
    /// If the three differ in length.
    pub fn new(
        choices: &[u8],
        random: &[u8],
        keys: Zeroizing<Vec<Block>>,
        mesh: &mut Mesh,
        sender: PartyId,
    ) -> Result<OffsetRequest> {
        let counts = [random.len(), keys.len()];
        assert_eq!([choices.len(); 2], counts, "one of each");
        let masked = choices.iter().zip(random);
        let masked = masked.map(|(choice, random)| choice ^ random);
        let masked = Zeroizing::new(masked.collect::<Vec<_>>());
        let mut packed = Zeroizing::new(vec![Block::ZERO; packed_blocks(choices.len())]);
        pack(&masked, &mut packed);
        let bytes = given_bytes(choices.len() as u64) as usize;
        mesh.send(sender, &Block::as_bytes(&packed)[..bytes])?;
        Ok(OffsetRequest {
            sender,
            choices: Zeroizing::new(choices.to_vec()),
            keys,
        })
    }

    /// Reads the sender's answer, and returns the choices and `t`.
    ///
    /// # Errors
    /// The network failed.
    pub fn finish(mut self, mesh: &mut Mesh) -> Result<Finished> {
        receive_correlated(mesh, self.sender, &self.choices, &mut self.keys)?;
        Ok((self.choices, self.keys))
    }
}
