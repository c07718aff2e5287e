//! Shapes of steps, from which costs and demands are computed.

use crate::cost::Checks;
use crate::domain::Domain;
use sealane_circuit::{KnownTo, Tape};
use sealane_parties::{PartyId, PartySet};
use serde::Serialize;

/// Tape operand mark of a party that knows the operand: see [`Tape::known_to`].
pub fn known_to(party: PartyId) -> KnownTo {
    party.0 + 1
}

/// Operation on ring elements that has a step of its own, which makes no other bits of any of them
/// than those of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RingOp {
    /// Each element where a bit is one, zero elsewhere. The bits are in the domain of bits, the
    /// result is in that of the elements.
    Select,
    /// Bits `first..first + count` of each element, in the domain of bits.
    Extract {
        /// The lowest bit.
        first: u8,
        /// Number of bits.
        count: u8,
    },
    /// The floor of each element divided by `2^by`, in the domain of the elements.
    Floor {
        /// Logarithm of the divisor.
        by: u8,
    },
}

/// Numbers of an operand of a product: a protocol may take fewer messages for a small one that a
/// party knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The party that gave them as its input, in the domain of the product, and so knows them.
    pub known_to: Option<PartyId>,
    /// Bits that hold each of them.
    pub bits: u64,
    /// True if those bits are two's complement.
    pub signed: bool,
}

impl Numbers {
    /// Any elements of any ring, which no party knows.
    pub const ANY: Numbers = Numbers {
        known_to: None,
        bits: 64,
        signed: false,
    };
}

/// Shape of a step without its shares.
#[derive(Clone, Debug)]
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
        /// Domain of its operands and results.
        domain: Domain,
        /// Number of lanes.
        lanes: u64,
    },
    /// Inner products of secret vectors modulo `2^k`, one per lane. A matrix product is one such
    /// step, whose operands are views that repeat rows and columns.
    Product {
        /// Domain of operands and result.
        domain: Domain,
        /// Number of inner products.
        lanes: u64,
        /// Length of each.
        terms: u64,
        /// Different lanes of the left and of the right operand: rows and columns, where their
        /// product is the number of lanes, so that the step is a matrix product.
        lines: [u64; 2],
        /// Elements of the left and of the right operand that the views select, each counted once
        /// ([`View::distinct`](crate::View::distinct), a bound where views overlap): those that a
        /// protocol with masked openings opens.
        distinct: [u64; 2],
        /// Numbers of the left and of the right operand.
        numbers: [Numbers; 2],
    },
    /// Operation on ring elements, one per lane: see
    /// [`Protocol::ring_steps`](crate::Protocol::ring_steps).
    Ring {
        /// The operation.
        op: RingOp,
        /// Domain of the elements.
        domain: Domain,
        /// Number of lanes.
        lanes: u64,
        /// Bits that hold each element.
        bits: u64,
        /// True if those bits are two's complement.
        signed: bool,
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
    /// Rows in an order that no party knows: see [`Protocol::sorts`](crate::Protocol::sorts).
    Shuffle {
        /// Domain of the rows.
        domain: Domain,
        /// Number of rows.
        rows: u64,
        /// Bits, or ring elements, of a row.
        planes: u64,
    },
    /// Rows of bits in the ascending order of a key of some of their bits, rows of equal keys in
    /// the order that they had: see [`Protocol::sorts`](crate::Protocol::sorts).
    Sort {
        /// Domain of the rows.
        domain: Domain,
        /// Number of rows.
        rows: u64,
        /// Bits of a row.
        planes: u64,
        /// Bits of the key.
        key_bits: u64,
    },
    /// Settlement of pending checks.
    Settle {
        /// The checks.
        checks: Checks,
    },
    /// Opening of values to their receivers. All checks of the steps before it have been settled.
    Open {
        /// The values, in order.
        results: Vec<Opening>,
    },
}

/// A value to be opened, without its shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Domain of the value.
    pub domain: Domain,
    /// Number of bits.
    pub bits: u64,
    /// Parties that learn it.
    pub to: PartySet,
}
