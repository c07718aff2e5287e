//! The words that plans, engines and protocols share.

use crate::paper::Paper;
use sealane_circuit::{Goal, KnownTo, Tape};
use sealane_net::PartyId;

/// A set of parties of one run (at most 64).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct PartySet(u64);

impl PartySet {
    /// The set of the given parties.
    pub fn of(parties: impl IntoIterator<Item = PartyId>) -> PartySet {
        PartySet(parties.into_iter().fold(0, |set, party| set | 1 << party.0))
    }
    /// Whether a party is a member.
    pub fn contains(self, party: PartyId) -> bool {
        self.0 >> party.0 & 1 == 1
    }
    /// The members, ascending.
    pub fn iter(self) -> impl Iterator<Item = PartyId> {
        (0..64)
            .map(PartyId)
            .filter(move |party| self.contains(*party))
    }
}

/// What tapes call a party that knows an operand: see [`Tape::known_to`].
pub fn known_to(party: PartyId) -> KnownTo {
    party.0 + 1
}

/// How a value is held between the parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// Everyone knows it.
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

/// The algebra whose elements are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algebra {
    /// Single bits.
    Z2,
    /// Integers modulo `2^k`.
    Z2k(u8),
    /// The field of `2^k` elements.
    Gf2k(u8),
}

/// Where a shared value lives. A value changes domain only at an explicit convert step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    /// How it is held.
    pub sharing: Sharing,
    /// What is held.
    pub algebra: Algebra,
    /// Whether a MAC protects it.
    pub authenticated: bool,
}

/// What corruption a protocol withstands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Corruption {
    /// None: for tests and reference runs.
    None,
    /// Parties that follow the protocol and look at what they saw; at most this many together.
    SemiHonest(u8),
    /// Parties that do anything; at most this many together.
    Malicious(u8),
}

/// What a protocol is: shown by `plan`, part of the job's hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name, as `--protocol` takes it.
    pub name: &'static str,
    /// Version of its messages; part of the job's hash.
    pub version: u32,
    /// Roles that compute; role `i` is played by party `setting.roles[i]`. Empty: any number of
    /// parties, all alike.
    pub roles: &'static [&'static str],
    /// Whether parties without a role may own inputs and learn results.
    pub outsiders: bool,
    /// What its circuits should be good at: few ANDs, or short chains of them.
    pub goal: Goal,
    /// Whether it computes sums and products modulo `2^k`, for any `k` from 1 to 64, besides
    /// tapes of bits.
    pub arithmetic: bool,
    /// Bits of memory that a share of one bit takes at the party with the larger part: what the
    /// rows of a tile are chosen by.
    pub share_bits: u32,
    /// Corruption withstood.
    pub corruption: Corruption,
    /// Assumptions, one sentence.
    pub assumption: &'static str,
    /// What it is built of, each part with its paper.
    pub papers: &'static [Paper],
    /// Computational security in bits, that of its weakest part; 0 where there is none.
    pub security_bits: u32,
}

/// Who plays which role in one run.
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

/// The shape of a step, without its shares: what costs and demands are computed from.
#[derive(Clone, Copy, Debug)]
pub enum Work<'a> {
    /// `elements` values of `bits` bits, known to `owner`, become shared.
    Input {
        /// Who knows them.
        owner: PartyId,
        /// Where they come to live: an input domain of the protocol.
        domain: Domain,
        /// Number of values.
        elements: u64,
        /// Bits of each; in `Z_2^k` that is `k`.
        bits: u64,
    },
    /// A tape runs on independent lanes.
    Tape {
        /// The tape.
        tape: &'a Tape,
        /// Number of lanes.
        lanes: u64,
    },
    /// Inner products of secret vectors modulo `2^k`, one a lane.
    Product {
        /// Where operands and result live.
        domain: Domain,
        /// Number of inner products.
        lanes: u64,
        /// Length of each.
        terms: u64,
    },
    /// Values change domain.
    Convert {
        /// From where.
        from: Domain,
        /// To where.
        to: Domain,
        /// Number of values.
        elements: u64,
        /// Bits that hold each value.
        bits: u64,
        /// Whether those bits are two's complement.
        signed: bool,
    },
    /// All results of a run become known to those who may learn them, after every pending check
    /// has been settled.
    Reveal {
        /// The results, in order.
        results: &'a [Opening],
        /// Number of pending checks that are settled first.
        checks: u64,
    },
}

/// A result that is revealed, without its shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Where it lives.
    pub domain: Domain,
    /// Bits in all.
    pub bits: u64,
    /// Who learns it.
    pub to: PartySet,
}
