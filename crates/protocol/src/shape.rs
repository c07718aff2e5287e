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

/// Sharing of `elements` values of `bits` bits that `owner` knows.
#[derive(Clone, Copy, Debug)]
pub struct InputShape {
    /// Party that knows them.
    pub owner: PartyId,
    /// Domain of the shares: an input domain of the protocol.
    pub domain: Domain,
    /// Number of values.
    pub elements: u64,
    /// Bits of each; in `Z_2^k` that is `k`.
    pub bits: u64,
}

/// Execution of a tape on independent lanes.
#[derive(Clone, Copy, Debug)]
pub struct TapeShape<'a> {
    /// The tape.
    pub tape: &'a Tape,
    /// Domain of its operands and results.
    pub domain: Domain,
    /// Number of lanes.
    pub lanes: u64,
}

/// Inner products of secret vectors modulo `2^k`, one per lane. A matrix product is one such
/// step, whose operands are views that repeat rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct ProductShape {
    /// Domain of operands and result.
    pub domain: Domain,
    /// Number of inner products.
    pub lanes: u64,
    /// Length of each.
    pub terms: u64,
    /// Different lanes of the left and of the right operand: rows and columns, where their
    /// product is the number of lanes, so that the step is a matrix product.
    pub lines: [u64; 2],
    /// True if every row meets every column exactly once, by the strides of the views
    /// ([`View::lines`](crate::View::lines)).
    pub matrix: bool,
    /// Elements of the left and of the right operand that the views select, each counted once
    /// ([`View::distinct`](crate::View::distinct), a bound where views overlap): those that a
    /// protocol with masked openings opens.
    pub distinct: [u64; 2],
    /// Numbers of the left and of the right operand.
    pub numbers: [Numbers; 2],
}

/// Operation on ring elements, one per lane: see
/// [`Protocol::ring_steps`](crate::Protocol::ring_steps).
#[derive(Clone, Copy, Debug)]
pub struct RingShape {
    /// The operation.
    pub op: RingOp,
    /// Domain of the elements.
    pub domain: Domain,
    /// Number of lanes.
    pub lanes: u64,
    /// Bits that hold each element.
    pub bits: u64,
    /// True if those bits are two's complement.
    pub signed: bool,
}

/// Conversion of values to another domain.
#[derive(Clone, Copy, Debug)]
pub struct ConvertShape {
    /// Source domain.
    pub from: Domain,
    /// Target domain.
    pub to: Domain,
    /// Number of values.
    pub elements: u64,
    /// Bits that hold each value.
    pub bits: u64,
    /// True if those bits are two's complement.
    pub signed: bool,
}

/// Rows in an order that no party knows. No plan has such a step; sorts consist of them.
#[derive(Clone, Copy, Debug)]
pub struct ShuffleShape {
    /// Domain of the rows.
    pub domain: Domain,
    /// Number of rows.
    pub rows: u64,
    /// Bits, or ring elements, of a row.
    pub planes: u64,
}

/// Rows of bits in the ascending order of a key of some of their bits, rows of equal keys in
/// the order that they had: see [`Protocol::sorts`](crate::Protocol::sorts).
#[derive(Clone, Copy, Debug)]
pub struct SortShape {
    /// Domain of the rows.
    pub domain: Domain,
    /// Number of rows.
    pub rows: u64,
    /// Bits of a row.
    pub planes: u64,
    /// Bits of the key.
    pub key_bits: u64,
}

/// Shape of a step without its shares.
#[derive(Clone, Debug)]
pub enum StepShape<'a> {
    /// Sharing of values that a party knows.
    Input(InputShape),
    /// Execution of a tape on independent lanes.
    Tape(TapeShape<'a>),
    /// Inner products modulo `2^k`.
    Product(ProductShape),
    /// Operation on ring elements.
    Ring(RingShape),
    /// Conversion to another domain.
    Convert(ConvertShape),
    /// Rows in an order that no party knows.
    Shuffle(ShuffleShape),
    /// Rows of bits in the order of a key.
    Sort(SortShape),
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

impl<'a> StepShape<'a> {
    /// An [`InputShape`] of these fields.
    pub fn input(owner: PartyId, domain: Domain, elements: u64, bits: u64) -> StepShape<'a> {
        StepShape::Input(InputShape {
            owner,
            domain,
            elements,
            bits,
        })
    }

    /// A [`TapeShape`] of these fields.
    pub fn tape(tape: &'a Tape, domain: Domain, lanes: u64) -> StepShape<'a> {
        StepShape::Tape(TapeShape {
            tape,
            domain,
            lanes,
        })
    }
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
