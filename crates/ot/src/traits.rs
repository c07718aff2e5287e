//! The forms of oblivious transfer as traits, so that protocols take any extension, and tests the
//! ideal functionality.
//!
//! All outputs of one [`extend`](CotSender::extend) are for use when it returns: a protocol with
//! security against corrupt parties has checked them by then.

use crate::{Flights, OtError};
use sealane_block::Block;
use sealane_net::Mesh;

/// Number of choices in a block of packed choices, the first in bit 0.
pub const PACKED: usize = 128;

/// Sender of random correlated OTs (functionality `F_COT` of Ferret, Figure 2): of each it gets a
/// block `q_j`, the receiver a random bit `x_j` and `t_j = q_j ^ x_j * delta`.
///
/// The two parties call `extend` with the same lengths, in the same order.
pub trait CotSender {
    /// Returns the offset that all OTs of this sender share.
    fn delta(&self) -> Block;

    /// Fills `q` with the next OTs. Messages that it writes last are not flushed.
    ///
    /// # Errors
    /// The network failed, or the receiver deviated from the protocol and was caught. After any
    /// error the sender is of no use, and its offset must not be used again.
    fn extend(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<(), OtError>;
}

/// Receiver of random correlated OTs; see [`CotSender`].
pub trait CotReceiver {
    /// Fills `t` with the next OTs, and `choices` with their random bits, [`PACKED`] a block; the
    /// rest of the last block is 0. Messages that it writes last are not flushed.
    ///
    /// # Errors
    /// As [`CotSender::extend`], with the parties exchanged.
    ///
    /// # Panics
    /// If there are not exactly `t.len().div_ceil(128)` blocks of choices.
    fn extend(
        &mut self,
        mesh: &mut Mesh,
        choices: &mut [Block],
        t: &mut [Block],
    ) -> Result<(), OtError>;
}

/// Cost of a source of correlated OTs, which a plan counts exactly. It is a property of the
/// parameters, so both parties and a plan derive it alike.
pub trait CotCost {
    /// Messages of the set-up.
    fn set_up(&self) -> Flights;
    /// Messages of one `extend` of `count` OTs, if `before` OTs were made since the set-up.
    fn extend(&self, before: u64, count: u64) -> Flights;
}
