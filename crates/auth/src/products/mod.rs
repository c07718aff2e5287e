//! The source of authenticated bits and of products of them: what garbling takes from below.
//!
//! Both parties ask for the same things in the same order, so a source needs no numbers.

mod dealer;

pub use dealer::DangerDealer;

use crate::bits::Bits;
use sealane_block::{Block, Cpu, Nonce};
use sealane_net::{Mesh, SessionId};
use sealane_party::Result;

/// Beginning of a source, at either party.
#[derive(Clone, Copy)]
pub struct Begun {
    /// Tier of the CPU.
    pub cpu: Cpu,
    /// The session.
    pub session: SessionId,
    /// Public randomness of this session, to which both parties have contributed.
    pub nonce: Nonce,
    /// True at the garbler.
    pub garbles: bool,
}

/// Source of authenticated bits and products of two parties.
pub trait Products: Sized + Send + 'static {
    /// The assumption under which what it hands out is secure, as a part of a sentence.
    const ASSUMPTION: &'static str;

    /// Sets up the source at one party, which draws its offset: secret but for bits 0 and 1, of
    /// which the former is 1 at both and the latter at the evaluator alone.
    ///
    /// # Errors
    /// The network fails, or the other party breaks the protocol.
    fn set_up(begun: Begun, mesh: &mut Mesh) -> Result<Self>;

    /// This party's offset.
    fn offset(&self) -> Block;

    /// Random authenticated bits.
    ///
    /// # Errors
    /// There are no more.
    fn bits(&mut self, count: usize) -> Result<Bits>;

    /// Random authenticated bits that one party knows: the share of the other one is 0, as are its
    /// MAC, and the key of the party that knows them. `own` says that this party does.
    ///
    /// # Errors
    /// As [`Products::bits`].
    fn bits_of(&mut self, own: bool, count: usize) -> Result<Bits>;

    /// Random authenticated bits `x` and `y`, and their products.
    ///
    /// # Errors
    /// As [`Products::bits`].
    fn products(&mut self, count: usize) -> Result<[Bits; 3]>;
}
