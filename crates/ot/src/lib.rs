//! Room `ot`: oblivious transfer.
//!
//! CONTRACT SKELETON.

use sealane_block::{Block, Coins, Cpu};
use sealane_net::{Mesh, NetError, PartyId};

/// Sender of correlated OTs with one fixed offset `delta`: gets `q_j`, the receiver gets
/// `q_j ^ choice_j * delta`. With `delta` the garbler's free-XOR offset, `q_j` is a zero label.
pub struct CotSender(());

impl CotSender {
    /// Base OTs, as their receiver with the bits of `delta` as choices. Blocking: one message in
    /// (32 bytes), one message out ([`SETUP_REPLY_BYTES`]), which the caller flushes.
    pub fn setup(
        _cpu: Cpu,
        _mesh: &mut Mesh,
        _peer: PartyId,
        _delta: Block,
        _coins: &mut Coins,
    ) -> Result<CotSender, OtError> {
        todo!()
    }
    /// Reads one extension message ([`extend_bytes`] of `zero_labels.len()`) and fills the labels.
    pub fn extend(&mut self, _mesh: &mut Mesh, _zero_labels: &mut [Block]) -> Result<(), OtError> {
        todo!()
    }
}

/// Receiver of correlated OTs.
pub struct CotReceiver(());

impl CotReceiver {
    /// Base OTs, as their sender: writes the opening (32 bytes), flushes, reads the reply.
    pub fn setup(
        _cpu: Cpu,
        _mesh: &mut Mesh,
        _peer: PartyId,
        _coins: &mut Coins,
    ) -> Result<CotReceiver, OtError> {
        todo!()
    }
    /// Writes one extension message for `choices` (one byte each, 0 or 1; not flushed) and fills
    /// the labels. Nothing is read: an extension is one message.
    pub fn extend(
        &mut self,
        _mesh: &mut Mesh,
        _choices: &[u8],
        _labels: &mut [Block],
    ) -> Result<(), OtError> {
        todo!()
    }
}

/// Bytes of the opening message of the base OTs, receiver of COTs to sender.
pub const SETUP_OPENING_BYTES: u64 = 32;
/// Bytes of the reply, sender of COTs to receiver.
pub const SETUP_REPLY_BYTES: u64 = 128 * 32;
/// Bytes of one extension message for `count` COTs, receiver to sender.
pub const fn extend_bytes(count: u64) -> u64 {
    // Whole groups of 128, so that a column is a whole number of blocks.
    count.div_ceil(128) * 128 * 16
}

/// What can go wrong in an oblivious transfer.
#[derive(Debug, thiserror::Error)]
pub enum OtError {
    /// The network failed.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The peer sent something that is no point of the group.
    #[error("party {0:?} sent a malformed curve point")]
    BadPoint(PartyId),
}
