//! What a plan is: segments of steps, with symbolic row counts.
//!
//! A segment runs once, or once for each tile of the rows of one table, so that memory does not
//! grow with rows. Steps are listed in an order in which each comes after what it needs; when they
//! run is the matter of [`flow`](crate::flow). All results are revealed together, after the last
//! segment.

use sealane_circuit::Tape;
use sealane_diagnostic::Span;
use sealane_program::types::{Data, Range, RowId, Type};
use sealane_protocol::{Algebra, Domain, PartyId, PartySet, Setting, View};

/// How a program will run.
pub struct Plan {
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Who plays which role.
    pub setting: Setting,
    /// Who owns each input of the program.
    pub owners: Vec<PartyId>,
    /// The symbolic row counts: bound and rows a tile.
    pub rows: Vec<RowPlan>,
    /// All tapes; steps refer to them, equal tapes are one.
    pub tapes: Vec<Tape>,
    /// All values that steps exchange.
    pub values: Vec<ValuePlan>,
    /// What runs, in order.
    pub segments: Vec<Segment>,
    /// What is revealed after the last segment, in the order of the program's results.
    pub results: Vec<ResultPlan>,
}

/// One symbolic row count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlan {
    /// Name in the program.
    pub name: String,
    /// Upper bound.
    pub bound: u64,
    /// Rows of a full tile; the last tile of a run may have fewer.
    pub tile: u64,
}

/// A value between steps: an index into [`Plan::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanValue(pub u32);

/// What is known of a value before the run. Elements are row-major; with `rows`, the rows of the
/// tile at hand are the outermost dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuePlan {
    /// The table whose rows are its first dimension.
    pub rows: Option<RowId>,
    /// Elements of each row, or in all.
    pub elements: u64,
    /// Bits that hold each element.
    pub bits: u8,
    /// Whether those bits are two's complement.
    pub signed: bool,
    /// Where it lives.
    pub domain: Domain,
    /// Whether a value with rows outlives its segment, so that its tiles are kept and joined.
    pub kept: bool,
}

impl ValuePlan {
    /// Planes of the shares of each element: its bits, or one ring element.
    pub fn planes(&self) -> u64 {
        match self.domain.algebra {
            Algebra::Z2 => self.bits.into(),
            Algebra::Z2k(_) | Algebra::Gf2k(_) => 1,
        }
    }
    /// Bits of each element where it crosses as plain bits: at an input and at a reveal.
    pub fn plain_bits(&self) -> u64 {
        match self.domain.algebra {
            Algebra::Z2 => self.bits.into(),
            Algebra::Z2k(k) | Algebra::Gf2k(k) => k.into(),
        }
    }
}

/// A walk: once (`rows` is none) or for each tile.
pub struct Segment {
    /// The table whose tiles it walks.
    pub rows: Option<RowId>,
    /// Its steps, each after those that it needs.
    pub steps: Vec<Step>,
}

/// One step.
pub struct Step {
    /// What it does.
    pub op: StepOp,
    /// A word or two for people: the operation in the program.
    pub label: String,
    /// The source line it came from.
    pub span: Option<Span>,
}

/// A length that is fixed or the rows of the tile at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Len {
    /// Rows of the tile.
    Rows,
    /// Fixed.
    Fixed(u64),
}

impl Len {
    /// The length in a tile of `rows` rows.
    pub fn at(self, rows: u64) -> u64 {
        match self {
            Len::Rows => rows,
            Len::Fixed(len) => len,
        }
    }
}

/// A [`View`] whose dimensions may be the rows of the tile at hand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SymView {
    /// Index of the first element.
    pub offset: u64,
    /// Length and stride of each dimension, outermost first.
    pub dims: Vec<(Len, u64)>,
}

impl SymView {
    /// The view in a tile of `rows` rows.
    pub fn at(&self, rows: u64) -> View {
        let dim = |(len, stride): &(Len, u64)| (len.at(rows) as usize, *stride as usize);
        View {
            offset: self.offset as usize,
            dims: self.dims.iter().map(dim).collect(),
        }
    }
    /// Number of elements in a tile of `rows` rows.
    pub fn count(&self, rows: u64) -> u64 {
        self.dims.iter().map(|(len, _)| len.at(rows)).product()
    }
}

/// An operand of a step: for each lane the elements at `lanes[l] + inner[i]`, all their bits,
/// inner index outermost. The value lies in this segment's tile, or has no rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The value.
    pub value: PlanValue,
    /// Where each lane begins.
    pub lanes: SymView,
    /// What each lane takes.
    pub inner: SymView,
}

/// Part of what a tape writes: outputs `first..first + inner * bits` of each lane become `inner`
/// neighbouring elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Produced {
    /// The value.
    pub value: PlanValue,
    /// First output of the tape.
    pub first: u32,
    /// Elements a lane.
    pub inner: u32,
}

/// A tape of the plan: an index into [`Plan::tapes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TapeId(pub u32);

/// A summand of a linear map modulo `2^k`: each lane takes the elements of an operand times public
/// factors, and adds them up.
pub struct LinearTerm {
    /// The elements.
    pub operand: Operand,
    /// What they are multiplied by.
    pub factor: LinearFactor,
}

/// The public factor of a [`LinearTerm`].
pub enum LinearFactor {
    /// One number for all elements, modulo `2^64`.
    Number(u64),
    /// A factor for each element that the operand takes, found by views of the same dimensions as
    /// the operand's. The table has no rows.
    Table {
        /// The factors.
        data: Data,
        /// Where each lane begins.
        lanes: SymView,
        /// What each lane takes.
        inner: SymView,
    },
}

/// What a step does. Values named `out` are written once in a segment (once a tile).
pub enum StepOp {
    /// Shares the tile at hand of an input of the program (by index).
    Input {
        /// Which input.
        input: u32,
        /// The shares.
        out: PlanValue,
    },
    /// Public constants.
    Constant {
        /// The elements.
        data: Data,
        /// Their shares.
        out: PlanValue,
    },
    /// Elements moved without any message.
    Move {
        /// From where; `inner` of one element, or several that become neighbouring elements.
        operand: Operand,
        /// To where.
        out: PlanValue,
    },
    /// Elements of several values, one value after the other (equal bits).
    Concat {
        /// The parts.
        parts: Vec<PlanValue>,
        /// The whole.
        out: PlanValue,
    },
    /// A tape on independent lanes.
    Tape {
        /// The tape.
        tape: TapeId,
        /// Number of lanes: the product.
        lanes: Vec<Len>,
        /// Its inputs, one after the other.
        operands: Vec<Operand>,
        /// Its outputs.
        outs: Vec<Produced>,
    },
    /// A linear map modulo `2^k`, without any message: the sum of all terms. `carried`: the sums
    /// of tiles are added up, and the value is there after the segment.
    Linear {
        /// The terms.
        terms: Vec<LinearTerm>,
        /// Number of lanes: the product.
        lanes: Vec<Len>,
        /// Whether the lanes of tiles are added up.
        carried: bool,
        /// The result, one element a lane.
        out: PlanValue,
    },
    /// Inner products modulo `2^k`, one a lane, of what both operands take.
    Product {
        /// One operand.
        left: Operand,
        /// The other.
        right: Operand,
        /// Number of lanes: the product.
        lanes: Vec<Len>,
        /// The result, one element a lane.
        out: PlanValue,
    },
    /// A reduction of the outermost dimension by a tree. At level `i` neighbours at half the
    /// length are combined: element `j` with element `j + len / 2`; an odd last one is kept and
    /// resized. With `Len::Rows` as length, the results of tiles are combined by `carry`, in
    /// order, and the value is there after the segment.
    Fold {
        /// The operand, the axis to reduce outermost: its lanes view is `axis, rest...`.
        operand: Operand,
        /// Length of the axis.
        length: Len,
        /// Elements that stay.
        lanes: Vec<Len>,
        /// Combining tapes by level: two operands of `bits[i]` planes to one of `bits[i + 1]`.
        levels: Vec<TapeId>,
        /// Planes at each level, one more than levels; the last is the final width.
        bits: Vec<u8>,
        /// Whether elements are two's complement when resized.
        signed: bool,
        /// Combines two values of the final width; used across tiles alone.
        carry: Option<TapeId>,
        /// The result.
        out: PlanValue,
    },
    /// A loop with carried state along the outermost dimension of its operands, in order. The
    /// tape's inputs are: carries, one element of each of `over`, `captured`; its outputs: carries,
    /// then what each iteration writes. With `Len::Rows` the carries go on from tile to tile.
    Scan {
        /// The body.
        tape: TapeId,
        /// Iterations.
        length: Len,
        /// Initial carries.
        init: Vec<PlanValue>,
        /// Values walked: `inner` names one element's scalars, `lanes` the starts of elements.
        over: Vec<Operand>,
        /// Values that every iteration sees whole.
        captured: Vec<PlanValue>,
        /// Where the last carries go (there after the segment, if by rows).
        carries: Vec<PlanValue>,
        /// What each iteration writes, stacked.
        outs: Vec<Produced>,
    },
    /// A change of domain.
    Convert {
        /// From.
        value: PlanValue,
        /// To.
        out: PlanValue,
    },
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultPlan {
    /// Name in the program.
    pub name: String,
    /// The value: kept, if it has rows.
    pub value: PlanValue,
    /// Who learns it.
    pub to: PartySet,
    /// Element type for the receiver.
    pub ty: Type,
    /// Range that every element lies in.
    pub range: Range,
    /// Fixed dimensions of the result, after the rows.
    pub fixed: Vec<u64>,
}
