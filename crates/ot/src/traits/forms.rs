//! OTs with given choices, random ones, OTs of chosen strings and of one of many strings, and
//! products of secrets, as traits.

use super::CotCost;
use crate::{Flights, Result};
use sealane_block::Block;
use sealane_net::Mesh;

/// Sender of correlated OTs whose choices the receiver gives: of each it gets a block `q`, the
/// receiver `q ^ x * delta` for its own `x`. Every sender of correlated OTs is one.
///
/// The two parties call `given` for as many OTs, in the same order.
pub trait GivenSender {
    /// Fills `q` with the next OTs. Messages that it writes last are not flushed.
    ///
    /// # Errors
    /// As [`CotSender::extend`](super::CotSender::extend).
    fn given(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<()>;
}

/// Receiver of correlated OTs whose choices it gives; see [`GivenSender`].
pub trait GivenReceiver {
    /// Fills `t` with the labels of `choices`, one byte each, of which bit 0 counts. Messages that
    /// it writes last are not flushed.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`](super::CotReceiver::extend).
    ///
    /// # Panics
    /// If `choices` and `t` differ in length.
    fn given(&mut self, mesh: &mut Mesh, choices: &[u8], t: &mut [Block]) -> Result<()>;
}

/// Sender of chosen strings: of each OT it gives two, of which the receiver gets the one of its
/// choice. A sender of correlated OTs with the hash of its rows is one.
///
/// The two parties call `chosen` for as many OTs of strings of the same length, in the same order.
pub trait ChosenSender {
    /// Sends one of `strings` in each OT: strings of `length` blocks, one after another, as many in
    /// either list. Messages that it writes last are not flushed.
    ///
    /// # Errors
    /// As [`CotSender::extend`](super::CotSender::extend).
    ///
    /// # Panics
    /// If the lists differ in length, or do not hold whole strings.
    fn chosen(&mut self, mesh: &mut Mesh, length: usize, strings: [&[Block]; 2]) -> Result<()>;
}

/// Receiver of chosen strings; see [`ChosenSender`].
pub trait ChosenReceiver {
    /// Fills `strings`, each of `length` blocks, with those of `choices`, one byte each, of which
    /// bit 0 counts.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`](super::CotReceiver::extend).
    ///
    /// # Panics
    /// If `strings` does not hold one string for each choice.
    fn chosen(
        &mut self,
        mesh: &mut Mesh,
        length: usize,
        choices: &[u8],
        strings: &mut [Block],
    ) -> Result<()>;
}

/// Sender of random OTs: of each it gets two random keys, the receiver a random bit and the key of
/// that bit.
///
/// The two parties call `random` for as many OTs, in the same order.
pub trait RandomSender {
    /// Fills `pairs` with both keys of each OT. Messages that it writes last are not flushed.
    ///
    /// # Errors
    /// As [`CotSender::extend`](super::CotSender::extend).
    fn random(&mut self, mesh: &mut Mesh, pairs: &mut [[Block; 2]]) -> Result<()>;
}

/// Receiver of random OTs; see [`RandomSender`].
pub trait RandomReceiver {
    /// Fills `choices` with random bits, [`PACKED`](super::PACKED) a block, and `keys` with the
    /// keys of these. Messages that it writes last are not flushed.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`](super::CotReceiver::extend).
    ///
    /// # Panics
    /// If there are not exactly `keys.len().div_ceil(128)` blocks of choices.
    fn random(&mut self, mesh: &mut Mesh, choices: &mut [Block], keys: &mut [Block]) -> Result<()>;
}

/// Sender of OTs of one of `N` strings: of each it gets `N` random keys, the receiver the key of
/// its choice.
///
/// The two parties call the same methods for as many OTs, in the same order.
pub trait OneOfNSender {
    /// All keys of one call.
    type Keys: OneOfNKeys;

    /// Number of strings, `N`, up to 256.
    fn strings(&self) -> usize;

    /// Makes `count` OTs whose choices are random.
    ///
    /// # Errors
    /// The network failed, or the receiver deviated from the protocol and was caught. After any
    /// error the sender is of no use.
    fn extend(&mut self, mesh: &mut Mesh, count: usize) -> Result<Self::Keys>;

    /// As [`extend`](OneOfNSender::extend), with choices that the receiver gives
    /// ([`OneOfNReceiver::receive_given`]).
    ///
    /// # Errors
    /// As [`extend`](OneOfNSender::extend).
    fn extend_given(&mut self, mesh: &mut Mesh, count: usize) -> Result<Self::Keys>;
}

/// The keys of a [`OneOfNSender`], which computes those that it is asked for.
pub trait OneOfNKeys {
    /// Number of OTs.
    fn count(&self) -> usize;

    /// Fills `keys` with the keys of strings of OTs, by the numbers of OT and string.
    ///
    /// # Panics
    /// If there are not as many, or a number is too large.
    fn fill(&self, places: &[(usize, u8)], keys: &mut [Block]);

    /// Fills `keys` with all keys: those of the strings of the first OT, and so on.
    ///
    /// # Panics
    /// If there is not one for each string of each OT.
    fn fill_all(&self, keys: &mut [Block]);
}

/// Receiver of OTs of one of `N` strings; see [`OneOfNSender`].
pub trait OneOfNReceiver {
    /// Number of strings, `N`, up to 256.
    fn strings(&self) -> usize;

    /// Makes OTs whose choices are random: fills `choices`, and `keys` with the keys of these.
    /// Messages that it writes last are not flushed.
    ///
    /// # Errors
    /// The network failed.
    ///
    /// # Panics
    /// If there is not a key for each choice.
    fn extend(&mut self, mesh: &mut Mesh, choices: &mut [u8], keys: &mut [Block]) -> Result<()>;

    /// As [`extend`](OneOfNReceiver::extend), with `choices` of its own, below `N`.
    ///
    /// # Errors
    /// As [`extend`](OneOfNReceiver::extend).
    ///
    /// # Panics
    /// If there is not a key for each choice, or a choice is no number of a string.
    fn receive_given(&mut self, mesh: &mut Mesh, choices: &[u8], keys: &mut [Block]) -> Result<()>;
}

/// Products of secrets of two parties, of which each has shares ([`triples`](crate::triples)).
pub trait Correlation: Sized {
    /// The choice among correlations of this type: a ring, or a shape.
    type Parameters: Copy;

    /// Messages of `count` correlations that are made of correlated OTs, if each source of these
    /// made `before` OTs since its set-up.
    fn flights<C: CotCost + ?Sized>(
        cot: &C,
        before: u64,
        kind: Self::Parameters,
        count: u64,
    ) -> Flights;
}

/// One of two parties that make correlations together. Both call `make` with the same arguments, in
/// the same order.
pub trait CorrelationSource<G: Correlation> {
    /// Makes this party's part of `count` correlations. Messages that it writes last are not
    /// flushed.
    ///
    /// # Errors
    /// The network failed, or the peer deviated from the protocol beneath and was caught.
    fn make(&mut self, mesh: &mut Mesh, kind: G::Parameters, count: usize) -> Result<G>;
}
