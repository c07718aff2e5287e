//! Types that plans, engines and protocols share.

use crate::paper::Paper;
use sealane_circuit::{Goal, KnownTo, Tape};
use sealane_parties::{PartyId, PartySet};

/// Tape operand mark of a party that knows the operand: see [`Tape::known_to`].
pub fn known_to(party: PartyId) -> KnownTo {
    party.0 + 1
}

/// Kind of sharing of a value between the parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// All parties know it.
    Public,
    /// The garbler holds a zero label, the evaluator the active label.
    YaoLabel,
    /// The XOR of all shares.
    Xor,
    /// The sum of all shares.
    Additive,
    /// Each party lacks one of the summands.
    Replicated,
    /// The value plus a mask whose shares others hold.
    Masked,
}

/// Algebra whose elements are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algebra {
    /// Single bits.
    Z2,
    /// Integers modulo `2^k`.
    Z2k(u8),
    /// The field of `2^k` elements.
    Gf2k(u8),
}

/// Domain of a shared value: kind of sharing and algebra. A value changes domain only at an
/// explicit convert step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    /// Kind of sharing.
    pub sharing: Sharing,
    /// Algebra of the elements.
    pub algebra: Algebra,
    /// True if a MAC protects it.
    pub authenticated: bool,
}

/// Corruption that a protocol withstands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Corruption {
    /// None: for tests and reference runs.
    None,
    /// Semi-honest parties; at most this many together.
    SemiHonest(u8),
    /// Malicious parties; at most this many together.
    Malicious(u8),
}

/// Description of a protocol: shown by `plan`, part of the job's hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name, as in `--protocol`.
    pub name: &'static str,
    /// Version of its messages; part of the job's hash.
    pub version: u32,
    /// Roles that compute; party `setting.roles[i]` takes role `i`. Empty: any number of parties,
    /// all alike.
    pub roles: &'static [&'static str],
    /// True if parties without a role may own inputs and learn results.
    pub outsiders: bool,
    /// Optimisation goal of its circuits: few ANDs, or short chains of them.
    pub goal: Goal,
    /// True if it computes sums and products modulo `2^k`, for any `k` from 1 to 64, besides tapes
    /// of bits.
    pub arithmetic: bool,
    /// Bits of memory that a share of one bit takes at the party with the larger part; determines
    /// the rows of a tile.
    pub share_bits: u32,
    /// Corruption withstood.
    pub corruption: Corruption,
    /// Assumptions, one sentence.
    pub assumption: &'static str,
    /// Components, each with its paper.
    pub papers: &'static [Paper],
    /// Computational security in bits, that of its weakest part; 0 where there is none.
    pub security_bits: u32,
}

/// Assignment of parties to roles in one run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// Number of parties of the run.
    pub parties: usize,
    /// The party that plays each role of [`Profile::roles`].
    pub roles: Vec<PartyId>,
}

impl Setting {
    /// All parties of the run, in order.
    pub fn everyone(&self) -> impl Iterator<Item = PartyId> + use<> {
        (0..self.parties).map(PartyId::from_index)
    }
}

/// Shape of a step without its shares, from which costs and demands are computed.
#[derive(Clone, Copy, Debug)]
pub enum StepShape<'a> {
    /// Sharing of `elements` values of `bits` bits that `owner` knows.
    Input {
        /// Party that knows them.
        owner: PartyId,
        /// Domain of the shares: an input domain of the protocol.
        domain: Domain,
        /// Number of values.
        elements: u64,
        /// Bits of each; in `Z_2^k` that is `k`.
        bits: u64,
    },
    /// Execution of a tape on independent lanes.
    Tape {
        /// The tape.
        tape: &'a Tape,
        /// Number of lanes.
        lanes: u64,
    },
    /// Inner products of secret vectors modulo `2^k`, one per lane.
    Product {
        /// Domain of operands and result.
        domain: Domain,
        /// Number of inner products.
        lanes: u64,
        /// Length of each.
        terms: u64,
    },
    /// Conversion of values to another domain.
    Convert {
        /// Source domain.
        from: Domain,
        /// Target domain.
        to: Domain,
        /// Number of values.
        elements: u64,
        /// Bits that hold each value.
        bits: u64,
        /// True if those bits are two's complement.
        signed: bool,
    },
    /// Reveal of all results of a run to their receivers, after every pending check has been
    /// settled.
    Reveal {
        /// The results, in order.
        results: &'a [Opening],
        /// Number of pending checks that are settled first.
        checks: u64,
    },
}

/// A result to be revealed, without its shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Domain of the result.
    pub domain: Domain,
    /// Number of bits.
    pub bits: u64,
    /// Parties that learn it.
    pub to: PartySet,
}
