//! Products of secrets made ahead, from any source of correlated OTs: OLEs; Boolean, arithmetic and
//! matrix triples; and wide triples, daBits, selects and known products, for conversions.
//!
//! | correlations | party `i` of two ends with | so that |
//! |---|---|---|
//! | [`BooleanTriples`] | bits `a_i, b_i, c_i` | `c_0 ^ c_1 = (a_0 ^ a_1)(b_0 ^ b_1)` |
//! | [`Ole`] | `x_i`, and a share `z_i` | `z_0 + z_1 = x_0 x_1` modulo `2^k` |
//! | [`ArithmeticTriples`] | `a_i, b_i, c_i` | `c_0 + c_1 = (a_0 + a_1)(b_0 + b_1)` modulo `2^k` |
//! | [`MatrixTriples`] | matrices `A_i, B_i, C_i` | the same of matrices |
//! | [`WideTriples`] | bits `a_i, b_ij, c_ij` | Boolean triples for all `j`, with `a` in common |
//! | [`DaBits`] | a bit `b_i`, an element `e_i` | `e_0 + e_1 = b_0 ^ b_1` modulo `2^k` |
//! | [`Selects`] | these, and `m_i, p_i` | `p_0 + p_1 = (b_0 ^ b_1)(m_0 + m_1)` modulo `2^k` |
//! | [`KnownProducts`] | `x`, or `y`; shares `z_ij` | `z_0j + z_1j` is bit `j` of `x`, times `y` |
//!
//! All factors are random. They are for Beaver's multiplication ("Efficient Multiparty Protocols
//! Using Circuit Randomization", Crypto 1991), in which each serves once.
//!
//! **Security is semi-honest**, whatever the OTs beneath withstand: a party that deviates makes
//! products wrong, and which ones are wrong may tell it about the factors of the other. Nothing
//! here checks a product. Against parties that follow the protocol it is that of the OTs, hashed as
//! in [`forms`](crate::forms): with AES an ideal cipher, all that one party lacks is uniform to it.
//! Boolean triples have a hash of their own, to bits ([`BitHash`](sealane_block::hash::BitHash)):
//! 128 rows share a key, so its bound is `2^121` evaluations of AES; for wide triples, which take
//! more of each hash, `2^120`.
//!
//! # Where products come from
//! A random OT of bits is a product: with `a = k_0 ^ k_1`, the key of choice `b` is `k_0 ^ ab`, so
//! `k_0` and that key are shares of `ab` (Beaver, "Precomputing Oblivious Transfer", CRYPTO 1995;
//! Asharov, Lindell, Schneider and Zohner, "More Efficient Oblivious Transfer", JoC 2017, section
//! 5.1). Nothing is sent but what the correlated OT takes. A triple takes one OT in each direction:
//! `a_0 b_1` comes from the first, `a_1 b_0` from the second, and all factors are random by
//! themselves.
//!
//! Modulo `2^k`, the product of `a` and `b` is the sum of `2^i a b_i` over the bits of `b` (Gilboa,
//! "Two Party RSA Key Generation", CRYPTO 1999), each from an OT with keys of `k - i` bits, since
//! `2^i` takes the others past the modulus. The sender sends `d_i = k_0 - k_1 + a` modulo `2^(k -
//! i)`, and the receiver takes `k_b + b_i d_i = k_0 + b_i a`. For `i = 0` nothing is sent: `a` is
//! `k_1 - k_0` of that OT. So an OLE takes `k` correlated OTs and `k (k - 1) / 2` bits.
//!
//! With fewer bits than `k`, one party's number is a short one, which takes fewer OTs; if its bits
//! are not summed up, they can be exchanged for others later.
//!
//! A product of a column by a row, `m` by `p`, is the same with keys of `m` elements: `p k` OTs and
//! `m (p k (k + 1) / 2 - k)` bits. A matrix product is the sum of `n` of them. The receiver's
//! factor is the one with the shorter side, `min(m, p)`, so the correlated OTs are as few as
//! possible.
//!
//! # Arithmetic
//! Elements are integers from 0 to `2^k - 1` in the low bits of a `u64`. All sums and products wrap
//! around modulo `2^k`; a negative number is `2^k` less its absolute value.

mod arithmetic;
mod bits;
mod boolean;
mod chunks;
mod crossed;
mod dabits;
mod in_parts;
mod known;
mod matrix;
mod outer;
mod packing;
mod selects;
mod together;
mod wide;

pub use arithmetic::{ArithmeticTriples, Ole};
pub use bits::{BitKind, BitTriples};
pub use boolean::BooleanTriples;
pub use dabits::DaBits;
pub use known::{KnownProducts, KnownShape};
pub use matrix::{MatrixShape, MatrixTriples};
pub use selects::Selects;
pub use together::{BegunIntegers, IntegerKind, Integers};
pub use wide::WideTriples;

use crate::Result;
use crate::flights::{Flights, exchanged, then};
use crate::forms::{HashedReceiver, HashedSender};
use crate::traits::{CotReceiver, CotSender};
use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_parties::PartyId;

/// Integers modulo `2^k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    bits: u32,
}

impl Ring {
    /// The integers modulo `2^bits`.
    ///
    /// # Panics
    /// If `bits` is 0 or over 64.
    pub const fn new(bits: u32) -> Ring {
        assert!(1 <= bits && bits <= 64, "elements have 1 to 64 bits");
        Ring { bits }
    }

    /// Bits of an element.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// The remainder modulo `2^k`: the low bits.
    pub const fn reduce(self, value: u64) -> u64 {
        value & u64::MAX >> (64 - self.bits)
    }
}

/// Two sources of correlated OTs between this party and a peer, one in each direction, with the
/// hash of each: a [`CorrelationSource`](crate::traits::CorrelationSource) of triples.
///
/// The party with the smaller number is the sender first. In the costs, flights go from sender to
/// receiver of the *first* direction.
pub struct BothWays<S, R> {
    sends_first: bool,
    sender: HashedSender<S>,
    receiver: HashedReceiver<R>,
}

impl<S: CotSender, R: CotReceiver> BothWays<S, R> {
    /// Joins a sender and a receiver of correlated OTs with the same peer. No other
    /// [`Hasher`](crate::forms::Hasher) of this session has this `label`.
    ///
    /// # Panics
    /// If they have different peers.
    pub fn new(cpu: Cpu, mesh: &Mesh, sender: S, receiver: R, label: &'static str) -> Self {
        let peer = sender.terms().peer;
        assert_eq!(peer, receiver.terms().peer, "both with one peer");
        BothWays {
            sends_first: mesh.me() < peer,
            sender: HashedSender::new(cpu, mesh, sender, label),
            receiver: HashedReceiver::new(cpu, mesh, receiver, label),
        }
    }

    /// The other party.
    pub fn peer(&self) -> PartyId {
        self.sender.cot.terms().peer
    }

    /// The direction in which this party sends, for correlations of one direction.
    pub fn sender(&mut self) -> &mut HashedSender<S> {
        &mut self.sender
    }

    /// The direction in which this party receives.
    pub fn receiver(&mut self) -> &mut HashedReceiver<R> {
        &mut self.receiver
    }

    /// Both directions.
    pub fn both(&mut self) -> (&mut HashedSender<S>, &mut HashedReceiver<R>) {
        (&mut self.sender, &mut self.receiver)
    }

    /// True if taking OTs sends nothing: they were made ahead.
    fn has_all(&self) -> bool {
        self.sender.cot.in_parts() && self.receiver.cot.in_parts()
    }

    /// Runs one side of both directions, in the order in which the peer runs the other sides.
    fn each_way<A, B>(
        &mut self,
        mesh: &mut Mesh,
        send: impl FnOnce(&mut HashedSender<S>, &mut Mesh) -> Result<A>,
        receive: impl FnOnce(&mut HashedReceiver<R>, &mut Mesh) -> Result<B>,
    ) -> Result<(A, B)> {
        if self.sends_first {
            let sent = send(&mut self.sender, mesh)?;
            // The peer may need it before it says anything in the other direction.
            mesh.flush()?;
            let received = receive(&mut self.receiver, mesh)?;
            Ok((sent, received))
        } else {
            let received = receive(&mut self.receiver, mesh)?;
            mesh.flush()?;
            let sent = send(&mut self.sender, mesh)?;
            Ok((sent, received))
        }
    }
}

/// Flights of both directions, of which each takes `one_way`.
fn both_ways(one_way: Flights) -> Flights {
    let back = exchanged(one_way.clone());
    then(one_way, back)
}
