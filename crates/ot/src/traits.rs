//! The forms of oblivious transfer as traits, so that protocols take any source of them, and tests
//! the [ideal functionality](crate::ideal).
//!
//! | form | traits |
//! |---|---|
//! | correlated OTs | [`CotSender`], [`CotReceiver`] |
//! | the same with given choices | [`GivenSender`], [`GivenReceiver`] |
//! | random OTs | [`RandomSender`], [`RandomReceiver`] |
//! | OTs of chosen strings | [`ChosenSender`], [`ChosenReceiver`] |
//! | OTs of one of many strings | [`OneOfNSender`], [`OneOfNReceiver`] |
//! | OLEs, triples and other [products](crate::triples) | [`CorrelationSource`] of each |
//!
//! Given choices and chosen strings are steps on top of correlated OTs, and given choices under a
//! new offset one on top of random OTs ([`forms`](crate::forms)).
//!
//! All outputs of a call are for use when it returns: a protocol with security against corrupt
//! parties has checked them by then.

mod forms;

pub use forms::{ChosenReceiver, ChosenSender, GivenReceiver, GivenSender};
pub use forms::{Correlation, CorrelationSource};
pub use forms::{OneOfNKeys, OneOfNReceiver, OneOfNSender, RandomReceiver, RandomSender};

use crate::source::stock::with_room;
use crate::{Flights, Result, Security};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// Number of choices in a block of packed choices, the first in bit 0.
pub const PACKED: usize = 128;

/// Terms of a source of correlated OTs, which its two parties state alike but for their peers.
#[derive(Clone, Copy, Debug)]
pub struct CotTerms {
    /// The other party.
    pub peer: PartyId,
    /// Corruption that these OTs withstand.
    pub security: Security,
    /// True if `extend` writes nothing at the sender and reads nothing at the receiver, whose calls
    /// may then run ahead.
    pub one_way: bool,
}

impl CotTerms {
    /// The terms of OTs in whose making both parties send something.
    pub fn new(peer: PartyId, security: Security) -> CotTerms {
        CotTerms {
            peer,
            security,
            one_way: false,
        }
    }

    /// The same, if the receiver alone sends something.
    pub fn one_way(self) -> CotTerms {
        CotTerms {
            one_way: true,
            ..self
        }
    }
}

/// Sender of random correlated OTs (functionality `F_COT` of Ferret, Figure 2): of each it gets a
/// block `q_j`, the receiver a random bit `x_j` and `t_j = q_j ^ x_j * delta`.
///
/// The two parties call `extend` with the same lengths, in the same order.
pub trait CotSender {
    /// The receiver, and what these OTs are.
    fn terms(&self) -> CotTerms;

    /// Returns the offset that all OTs of this sender share.
    ///
    /// # Panics
    /// After a failed `extend` there may be none.
    fn delta(&self) -> Block;

    /// Fills `q` with the next OTs. All that the receiver waits for in its call has left; what this
    /// party wrote besides may not be flushed.
    ///
    /// # Errors
    /// The network failed, or the receiver deviated from the protocol and was caught. After any
    /// error the sender is of no use, and its offset must not be used again.
    fn extend(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<()>;

    /// As `extend`, for a user who hashes both keys of each OT: fills `q` with the first ones, and
    /// returns the others. A source of random OTs needs no offset for it.
    ///
    /// # Errors
    /// As [`CotSender::extend`].
    fn extend_keys(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<SecondKeys> {
        self.extend(mesh, q)?;
        Ok(SecondKeys::Offset(Zeroizing::new(self.delta())))
    }

    /// True if taking OTs in parts sends what taking all at once does.
    fn in_parts(&self) -> bool {
        false
    }

    /// As [`extend_keys`](CotSender::extend_keys), of the next `count` OTs where the source has
    /// them, or in `scratch`.
    ///
    /// # Errors
    /// As [`CotSender::extend`].
    fn next_keys<'a>(
        &'a mut self,
        mesh: &mut Mesh,
        count: usize,
        scratch: &'a mut Zeroizing<Vec<Block>>,
    ) -> Result<(&'a [Block], SecondKeys)> {
        let q = with_room(scratch, count);
        let seconds = self.extend_keys(mesh, q)?;
        Ok((q, seconds))
    }
}

/// The second keys of OTs at their sender, beside the first ones.
pub enum SecondKeys {
    /// The first one of each with this added: of correlated OTs.
    Offset(Zeroizing<Block>),
    /// One for each: of random OTs.
    Each(Zeroizing<Vec<Block>>),
}

/// Receiver of random correlated OTs; see [`CotSender`].
pub trait CotReceiver {
    /// The sender, and what these OTs are.
    fn terms(&self) -> CotTerms;

    /// Fills `t` with the next OTs, and `choices` with their random bits, [`PACKED`] a block; the
    /// rest of the last block is 0. The caller flushes what it writes last.
    ///
    /// # Errors
    /// As [`CotSender::extend`], with the parties exchanged.
    ///
    /// # Panics
    /// If there are not exactly `t.len().div_ceil(128)` blocks of choices.
    fn extend(&mut self, mesh: &mut Mesh, choices: &mut [Block], t: &mut [Block]) -> Result<()>;

    /// True if taking OTs in parts sends what taking all at once does.
    fn in_parts(&self) -> bool {
        false
    }

    /// As [`extend`](CotReceiver::extend), of the next `count` OTs where the source has them, or in
    /// `scratch`.
    ///
    /// # Errors
    /// As [`CotSender::extend`].
    ///
    /// # Panics
    /// As [`extend`](CotReceiver::extend).
    fn next_rows<'a>(
        &'a mut self,
        mesh: &mut Mesh,
        count: usize,
        choices: &mut [Block],
        scratch: &'a mut Zeroizing<Vec<Block>>,
    ) -> Result<&'a [Block]> {
        let t = with_room(scratch, count);
        self.extend(mesh, choices, t)?;
        Ok(t)
    }
}

impl<S: CotSender + ?Sized> CotSender for Box<S> {
    fn terms(&self) -> CotTerms {
        (**self).terms()
    }

    fn delta(&self) -> Block {
        (**self).delta()
    }

    fn extend(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<()> {
        (**self).extend(mesh, q)
    }

    fn extend_keys(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<SecondKeys> {
        (**self).extend_keys(mesh, q)
    }

    fn in_parts(&self) -> bool {
        (**self).in_parts()
    }

    fn next_keys<'a>(
        &'a mut self,
        mesh: &mut Mesh,
        count: usize,
        scratch: &'a mut Zeroizing<Vec<Block>>,
    ) -> Result<(&'a [Block], SecondKeys)> {
        (**self).next_keys(mesh, count, scratch)
    }
}

impl<R: CotReceiver + ?Sized> CotReceiver for Box<R> {
    fn terms(&self) -> CotTerms {
        (**self).terms()
    }

    fn extend(&mut self, mesh: &mut Mesh, choices: &mut [Block], t: &mut [Block]) -> Result<()> {
        (**self).extend(mesh, choices, t)
    }

    fn in_parts(&self) -> bool {
        (**self).in_parts()
    }

    fn next_rows<'a>(
        &'a mut self,
        mesh: &mut Mesh,
        count: usize,
        choices: &mut [Block],
        scratch: &'a mut Zeroizing<Vec<Block>>,
    ) -> Result<&'a [Block]> {
        (**self).next_rows(mesh, count, choices, scratch)
    }
}

/// Cost of a source of correlated OTs, which a plan counts exactly. It is a property of the
/// parameters, so both parties and a plan derive it alike.
pub trait CotCost {
    /// Messages of the set-up.
    fn set_up(&self) -> Flights;
    /// Messages of one `extend` of `count` OTs, if `before` OTs were made since the set-up.
    fn extend(&self, before: u64, count: u64) -> Flights;
    /// As [`CotTerms::one_way`].
    fn one_way(&self) -> bool {
        false
    }
}

/// Choice `j` among packed ones.
pub fn choice(packed: &[Block], j: usize) -> u8 {
    (packed[j / PACKED].value() >> (j % PACKED)) as u8 & 1
}

/// Blocks that hold `count` packed choices.
pub const fn packed_blocks(count: usize) -> usize {
    count.div_ceil(PACKED)
}

/// Packs choices of one byte each, of which bit 0 counts, and clears the rest of the last block.
///
/// # Panics
/// If there is not exactly a block for 128 choices.
pub fn pack(choices: &[u8], packed: &mut [Block]) {
    assert_eq!(packed.len(), packed_blocks(choices.len()), "128 in a block");
    for (block, choices) in packed.iter_mut().zip(choices.chunks(PACKED)) {
        let mut bytes = Zeroizing::new([0; 16]);
        for (byte, choices) in bytes.iter_mut().zip(choices.chunks(8)) {
            let mut eight = Zeroizing::new([0; 8]);
            eight[..choices.len()].copy_from_slice(choices);
            // Bit 8a, choice a, is moved by 56 - 7a to bit 56 + a by one of the factor's bits; the
            // other products stay below bit 56, each at a place of its own, or leave at the top.
            let spread = u64::from_le_bytes(*eight) & 0x0101_0101_0101_0101;
            *byte = (spread.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
        }
        *block = Block::from_bytes(*bytes);
    }
}

/// Clears what is no choice in the last block of `count` packed choices.
pub(crate) fn clear_rest(packed: &mut [Block], count: usize) {
    if let (Some(last), rest @ 1..) = (packed.last_mut(), count % PACKED) {
        *last = *last & Block::new((1 << rest) - 1);
    }
}

/// Adds `count` bits, from bit `first` of `from` on, to those of `to` from bit `at` on.
pub(crate) fn copy_bits(to: &mut [Block], at: usize, from: &[Block], first: usize, count: usize) {
    let mut done = 0;
    while done < count {
        let (place, source) = (at + done, first + done);
        let (left, skipped) = (place % PACKED, source % PACKED);
        let now = (PACKED - left.max(skipped)).min(count - done);
        let piece = from[source / PACKED].value() >> skipped & u128::MAX >> (PACKED - now);
        to[place / PACKED] ^= Block::new(piece << left);
        done += now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_block::{Cpu, Prg};

    #[test]
    fn bits_move_between_any_two_places() {
        let mut from = vec![Block::ZERO; 5];
        Prg::danger_fixed(Cpu::available()[0], 1).fill(&mut from);
        for (at, first, count) in [(0, 0, 640), (0, 1, 639), (127, 0, 300), (5, 250, 129)] {
            let mut to = vec![Block::ZERO; 6];
            copy_bits(&mut to, at, &from, first, count);
            for i in 0..to.len() * PACKED {
                let moved = i >= at && i < at + count;
                let expected = if moved {
                    choice(&from, first + i - at)
                } else {
                    0
                };
                assert_eq!(choice(&to, i), expected, "{i} of {at} {first} {count}");
            }
        }
    }
}
