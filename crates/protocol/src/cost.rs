//! Exact cost of a step, and the correlations that it consumes.
//!
//! A [`Flight`] is the set of messages that cross at the same time: every message of a flight is
//! written before any of it is read, and a flight is read before the next one is written. Payload
//! bytes and rounds of a run follow from the flights of its steps alone, so a plan's promise and
//! the semantics of the trait agree.

use crate::domain::Algebra;
use crate::profile::Batch;
use crate::work::Work;
use sealane_parties::PartyId;
use std::collections::BTreeMap;

/// Payload bytes from one party to another in one flight. A message of 0 bytes is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Sender.
    pub from: PartyId,
    /// Receiver.
    pub to: PartyId,
    /// Payload bytes.
    pub bytes: u64,
}

impl Message {
    /// A message of so many bytes.
    pub fn new(from: PartyId, to: PartyId, bytes: u64) -> Message {
        Message { from, to, bytes }
    }
}

/// Messages that cross at the same time.
pub type Flight = Vec<Message>;

/// Cost of one step, on a number of lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Flights, in order.
    pub flights: Vec<Flight>,
    /// AND gates, counted once for each lane.
    pub ands: u64,
    /// Checks that stay pending until a settlement, at the party with the most of each kind. What
    /// a step hands over may hold several; a party that has fewer fills up with zeros.
    pub checks: Checks,
    /// Settlements within the step: what each proves, and its flights, which are among those above.
    pub settled: Vec<(Checks, Vec<Flight>)>,
    /// Computing, by kernel. Estimates state its nominal time, and the choice among domains, routes
    /// and ring steps follows that.
    pub work: Work,
}

impl Cost {
    /// Makes a cost of messages alone.
    pub fn of(flights: Vec<Flight>) -> Cost {
        Cost {
            flights,
            ..Cost::default()
        }
    }

    /// Nominal nanoseconds of computing on the slowest party.
    pub fn compute_ns(&self) -> u64 {
        self.work.nominal_ns()
    }
}

/// Division of the payload of a refill, for plans that state it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Parts by their names, each with its messages: all of the refill; none of a protocol whose
    /// plans state no parts.
    pub parts: Vec<(&'static str, Flight)>,
    /// Batches of products of bits that the refill makes, each with how often there is one like it.
    pub batches: Vec<(Batch, u64)>,
}

/// Kind of checks: those that a settlement makes together, since they have one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckKind {
    /// Algebra in which it is made.
    pub field: Algebra,
    /// Products that each sums up; 0 for a value that has to be zero.
    pub terms: u32,
}

/// Numbers of checks by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks(pub BTreeMap<CheckKind, u64>);

impl Checks {
    /// So many checks of a kind.
    pub fn of(kind: CheckKind, count: u64) -> Checks {
        let mut checks = Checks::default();
        checks.add(&Checks([(kind, count)].into()), 1);
        checks
    }
    /// Adds other checks, `times` over.
    pub fn add(&mut self, other: &Checks, times: u64) {
        for (kind, count) in other.0.iter().filter(|(_, count)| times * **count > 0) {
            *self.0.entry(*kind).or_insert(0) += times * count;
        }
    }
    /// Those that are left when others have been settled.
    pub fn without(mut self, settled: &Checks) -> Checks {
        for (kind, count) in &mut self.0 {
            *count -= settled.0.get(kind).copied().unwrap_or(0).min(*count);
        }
        self.0.retain(|_, count| *count > 0);
        self
    }
    /// Number of checks of all kinds.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

/// Kind of correlation that preparation makes and steps consume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Correlation {
    /// Correlated OTs under the global offset of their sender. Those of the other direction, under
    /// the offset of the other party, are another kind.
    Cot {
        /// Holder of the offset.
        sender: PartyId,
        /// Holder of the choices.
        receiver: PartyId,
        /// Origin of the choices.
        choices: Choices,
    },
    /// Products of two random shared bits, or ring elements, for one multiplication each (Beaver,
    /// Crypto 1991).
    Triple {
        /// Algebra of the factors.
        algebra: Algebra,
    },
    /// Products of one random shared bit by each of several, for ANDs with a common operand.
    Wide {
        /// Number of the others.
        bits: u16,
    },
    /// Random bits that are shared as bits and as ring elements, for conversions.
    DaBit {
        /// Ring of the elements.
        algebra: Algebra,
    },
    /// Random bits that are shared as bits and as ring elements, with a random element each and the
    /// product of both, for choices of ring elements by shared bits.
    Select {
        /// Ring of the elements.
        algebra: Algebra,
    },
    /// Products of a random number, bit by bit, by each of several random shared ring elements, for
    /// products with numbers that a party knows (Gilboa, CRYPTO 1999).
    Known {
        /// Party that has the bits.
        holder: PartyId,
        /// Ring of the elements.
        algebra: Algebra,
        /// Number of the bits.
        choice_bits: u8,
        /// Number of the elements.
        partners: u32,
    },
    /// Products of two random shared matrices.
    Matrix {
        /// Algebra of their elements.
        algebra: Algebra,
        /// Rows of the left one and of the product.
        rows: u32,
        /// Columns of the left one and rows of the right one.
        inner: u32,
        /// Columns of the right one and of the product.
        columns: u32,
    },
    /// Common randomness between a party that does not compute and those that do, which replaces a
    /// part of its shares on the wire. One seed serves any number of inputs.
    ///
    /// Of a party that computes it is a public one, from which all expand what hides its values,
    /// such as labels of its inputs.
    Seed {
        /// The party without a role, or the one whose values these are.
        owner: PartyId,
    },
}

/// Origin of the choice bits of oblivious transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Choices {
    /// The receiver gives them when the transfers are made.
    Given,
    /// They are random and made before the input is known. Where the input `b` meets a random
    /// choice `r`, the receiver sends the correction `d = b xor r`, once: the point-and-permute
    /// colour of its label is `r`, code for operands that a party knows uses `r xor d`, and a run
    /// that is tried again draws new transfers. Such a transfer is also a random bit of the
    /// receiver with a MAC under the sender's offset, as authenticated garbling takes it.
    Random,
}

/// Correlations that a plan needs prepared, in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand(pub BTreeMap<Correlation, u64>);

impl Demand {
    /// Adds `count` correlations.
    pub fn add(&mut self, kind: Correlation, count: u64) {
        if count > 0 {
            *self.0.entry(kind).or_insert(0) += count;
        }
    }
    /// Number of correlations of a kind.
    pub fn count(&self, kind: Correlation) -> u64 {
        self.0.get(&kind).copied().unwrap_or(0)
    }
    /// Adds the correlations of another demand, `times` over.
    pub fn merge(&mut self, other: &Demand, times: u64) {
        for (kind, count) in &other.0 {
            self.add(*kind, times * count);
        }
    }
    /// Makes each count at least that of another demand.
    pub fn raise(&mut self, other: &Demand) {
        for (kind, count) in &other.0 {
            let most = self.count(*kind).max(*count);
            self.0.insert(*kind, most);
        }
    }
    /// Each count, up to a multiple of the number of its kind that `unit` returns for it.
    pub fn in_units(&self, unit: impl Fn(Correlation, u64) -> u64) -> Demand {
        let up = |(kind, count): (&Correlation, &u64)| {
            let unit = unit(*kind, *count);
            (*kind, count.next_multiple_of(unit))
        };
        Demand(self.0.iter().map(up).collect())
    }
    /// Returns whether nothing is demanded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The part of the demand whose kinds `keep` accepts.
    pub fn only(&self, keep: impl Fn(Correlation) -> bool) -> Demand {
        let kept = self.0.iter().filter(|(kind, _)| keep(**kind));
        Demand(kept.map(|(kind, count)| (*kind, *count)).collect())
    }
}
