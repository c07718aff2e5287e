//! Plan: segments of steps, with symbolic row counts.
//!
//! A segment runs once, or once for each tile of the rows of one table, so that memory does not
//! grow with rows. A sort and the other steps on all rows at once ([`StepOp::all_rows`]) are in
//! segments that run once; they hold the rows that they take. Steps are listed in an order in
//! which each follows the steps that it needs; [`flow`](crate::flow) determines when they run.
//! Results are revealed together, after the last segment, but for those with [`StepOp::Reveal`].

use crate::flow::IN_FLIGHT;
use crate::network::Network;
use sealane_circuit::{Lookups, Tape};
use sealane_diagnostic::Span;
use sealane_parties::{PartyId, PartySet};
use sealane_program::types::{Data, Range, RowId, Type};
use sealane_protocol::{Algebra, Domain, Numbers, RingOp, Setting, View};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// Plan of a program's run.
#[derive(Clone)]
pub struct Plan {
    /// Name of the protocol.
    pub protocol: &'static str,
    /// Assignment of parties to roles.
    pub setting: Setting,
    /// Owner of each input of the program.
    pub owners: Vec<PartyId>,
    /// The symbolic row counts: bound and rows a tile.
    pub rows: Vec<RowPlan>,
    /// All tapes; steps refer to them, equal tapes are one.
    pub tapes: Arc<Vec<Tape>>,
    /// All values that steps exchange.
    pub values: Vec<ValuePlan>,
    /// Segments, in order.
    pub segments: Vec<Segment>,
    /// Results, in the order of the program's.
    pub results: Vec<ResultPlan>,
    /// Form of its lookups.
    pub lookups: Lookups,
    /// The same plan with lookups in other forms: one of all runs ([`at_rows`](fn@crate::at_rows)).
    pub others: Vec<Plan>,
}

impl Plan {
    /// Returns whether a run on so many rows of each table opens a result tile by tile.
    pub fn in_tiles(&self, result: &ResultPlan, rows: &[u64]) -> bool {
        result.by_tile && self.flows(result.value, rows)
    }

    /// Rows of a full tile of a table, of which there are fewer if its bound is lower; 1 for none.
    pub(crate) fn full_tile(&self, rows: Option<RowId>) -> u64 {
        let table = rows.map(|table| &self.rows[usize::from(table.0)]);
        table.map_or(1, |table| table.tile.min(table.bound))
    }

    /// Returns whether a value has more tiles than are in flight at once, at so many rows of each
    /// table, or at its bound where that is not known.
    pub(crate) fn flows(&self, value: PlanValue, rows: &[u64]) -> bool {
        let many = |table: RowId| {
            let (table, known) = (usize::from(table.0), &self.rows);
            let rows = rows.get(table).unwrap_or(&known[table].bound);
            *rows > known[table].tile.saturating_mul(IN_FLIGHT as u64)
        };
        self.values[value.0 as usize].rows.is_some_and(many)
    }
}

/// One symbolic row count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowPlan {
    /// Name in the program.
    pub name: String,
    /// Upper bound.
    pub bound: u64,
    /// The row counts that it adds up; none for that of a table.
    pub sum: Vec<RowId>,
    /// Rows of a full tile; the last tile of a run may have fewer.
    pub tile: u64,
}

/// A value between steps: an index into [`Plan::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PlanValue(pub u32);

/// Properties of a value that are known before the run. Elements are row-major; with `rows`, the
/// rows of the current tile are the outermost dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValuePlan {
    /// The table whose rows are its first dimension.
    pub rows: Option<RowId>,
    /// Elements of each row, or in all.
    pub elements: u64,
    /// Bits that hold each element.
    pub bits: u8,
    /// True if those bits are two's complement.
    pub signed: bool,
    /// Domain in which it is held.
    pub domain: Domain,
    /// True if a value with rows is read after its segment, so that its tiles are kept and joined.
    pub kept: bool,
}

impl ValuePlan {
    /// Numbers of the value as an operand of a product.
    pub fn numbers(&self, known_to: Option<PartyId>) -> Numbers {
        let (bits, signed) = (self.bits.into(), self.signed);
        Numbers {
            known_to,
            bits,
            signed,
        }
    }
    /// Planes of the shares of each element: its bits, or one ring element.
    pub fn planes(&self) -> u64 {
        match self.domain.algebra {
            Algebra::Z2 => self.bits.into(),
            Algebra::Z2k(_) | Algebra::Gf2k(_) => 1,
        }
    }
    /// Bits of each element where it is sent as plain bits: at an input and at a reveal.
    pub fn plain_bits(&self) -> u64 {
        match self.domain.algebra {
            Algebra::Z2 => self.bits.into(),
            Algebra::Z2k(k) | Algebra::Gf2k(k) => k.into(),
        }
    }
}

/// A sequence of steps that runs once (`rows` is none) or for each tile.
#[derive(Clone)]
pub struct Segment {
    /// The table whose tiles it walks.
    pub rows: Option<RowId>,
    /// Tiles for which correlations are made at a time, before the first of them begins; none if it
    /// needs none from a pool.
    pub refill: Option<u64>,
    /// Its steps, each after the steps that it needs.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Clone)]
pub struct Step {
    /// Operation of the step.
    pub op: StepOp,
    /// Operation in the program, in a word or two for people.
    pub label: String,
    /// The source line it came from.
    pub span: Option<Span>,
}

/// A length: fixed, or the rows of the current tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Len {
    /// Rows of the tile.
    Rows,
    /// Fixed.
    Fixed(u64),
}

/// `"rows"`, or the number.
impl Serialize for Len {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Len::Rows => serializer.serialize_str("rows"),
            Len::Fixed(length) => serializer.serialize_u64(*length),
        }
    }
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

/// A [`View`] whose dimensions may be the rows of the current tile.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SymView {
    /// Index of the first element.
    pub offset: u64,
    /// Length and stride of each dimension, outermost first. Rows are never walked backwards.
    pub dims: Vec<(Len, i64)>,
}

impl SymView {
    /// The view in a tile of `rows` rows.
    pub fn at(&self, rows: u64) -> View {
        let dim = |(len, stride): &(Len, i64)| (len.at(rows) as usize, *stride as isize);
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

/// An operand of a step: for each lane the elements at `lanes[l] + inner[i]`, all their bits, inner
/// index outermost. The value is in the tile of this segment, or has no rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Operand {
    /// The value.
    pub value: PlanValue,
    /// First element of each lane.
    pub lanes: SymView,
    /// Elements of each lane, relative to its first.
    pub inner: SymView,
}

/// Outputs of a tape for one value: outputs `first..first + inner * bits` of each lane become
/// `inner` neighbouring elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Produced {
    /// The value.
    pub value: PlanValue,
    /// First output of the tape.
    pub first: u32,
    /// Elements per lane.
    pub inner: u32,
}

/// A tape of the plan: an index into [`Plan::tapes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct TapeId(pub u32);

/// A summand of a linear map modulo `2^k`: for each lane, the sum of the elements of an operand
/// times public factors.
#[derive(Clone, Serialize)]
pub struct LinearTerm {
    /// The elements.
    pub operand: Operand,
    /// Factor of the elements.
    pub factor: LinearFactor,
}

/// Public factor of a [`LinearTerm`].
#[derive(Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinearFactor {
    /// One number for all elements, modulo `2^64`.
    Number(u64),
    /// A factor for each element of the operand, addressed by views of the same dimensions as the
    /// operand's. The table has no rows.
    Table {
        /// The factors.
        #[serde(serialize_with = "constants")]
        data: Data,
        /// First factor of each lane.
        lanes: SymView,
        /// Factors of each lane, relative to its first.
        inner: SymView,
    },
}

/// A reduction of a [`StepOp::Cross`], by the tree of a [`StepOp::Fold`] in each block.
#[derive(Clone, Serialize)]
pub struct Crossed {
    /// The value.
    pub value: PlanValue,
    /// First output of the tape that is reduced.
    pub first: u32,
    /// Elements that are reduced side by side, and elements of the value for each lane.
    pub inner: u32,
    /// Combining tapes by level.
    pub levels: Vec<TapeId>,
    /// Planes at each level, one more than levels.
    pub bits: Vec<u8>,
    /// True if elements are two's complement when resized.
    pub signed: bool,
    /// Tape that combines the results of two blocks.
    pub carry: TapeId,
}

/// Operation of a step. Values named `out` are written once per segment (once per tile).
#[derive(Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOp {
    /// Shares the current tile of an input of the program (by index).
    Input {
        /// Index of the input.
        input: u32,
        /// The shares.
        out: PlanValue,
    },
    /// Public constants.
    Constant {
        /// The elements.
        #[serde(serialize_with = "constants")]
        data: Data,
        /// Their shares.
        out: PlanValue,
    },
    /// Moves elements without any message.
    Move {
        /// Elements to move; `inner` of one element, or several that become neighbouring elements.
        operand: Operand,
        /// Moved elements.
        out: PlanValue,
    },
    /// The numbers of the rows of the tile, public.
    RowNumber {
        /// Their shares.
        out: PlanValue,
    },
    /// Puts all rows of a table into other places without any message, in a segment that runs once.
    /// The views are those of all rows.
    Rearrange {
        /// The new places.
        how: Rearrangement,
        /// The table.
        rows: RowId,
        /// The rows: `lanes` are the rows, `inner` the elements of each.
        operand: Operand,
        /// Moved rows.
        out: PlanValue,
    },
    /// Puts all rows of tables under one another (elements of equal bits), without any message, in
    /// a segment that runs once. The views are those of all rows of each table.
    Append {
        /// The rows of each table: `lanes` are the rows, `inner` the elements of each.
        parts: Vec<(RowId, Operand)>,
        /// The row count that adds up theirs.
        rows: RowId,
        /// The rows of all.
        out: PlanValue,
    },
    /// Concatenates elements (of equal bits), without any message: in each lane those of all parts,
    /// one after the other.
    Concat {
        /// Elements of each part.
        parts: Vec<Operand>,
        /// Concatenated value.
        out: PlanValue,
    },
    /// Runs a tape on independent lanes.
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
    /// Computes a linear map modulo `2^k` without any message: the sum of all terms. With
    /// `carried`, the sums of tiles are added up, and the value is available after the segment.
    Linear {
        /// The terms.
        terms: Vec<LinearTerm>,
        /// Number of lanes: the product.
        lanes: Vec<Len>,
        /// True if the sums of tiles are added up.
        carried: bool,
        /// The result, one element per lane.
        out: PlanValue,
    },
    /// Computes inner products of both operands modulo `2^k`, one per lane.
    Product {
        /// One operand.
        left: Operand,
        /// The other.
        right: Operand,
        /// Number of lanes: the product.
        lanes: Vec<Len>,
        /// The party that knows the numbers of the left and of the right operand: its input, which
        /// no step but moves has changed.
        known_to: [Option<PartyId>; 2],
        /// The result, one element per lane.
        out: PlanValue,
    },
    /// Computes an operation on ring elements, one a lane. Of a [`RingOp::Extract`] all other bits
    /// of the result are zero.
    Ring {
        /// The operation.
        op: RingOp,
        /// The bits of a [`RingOp::Select`].
        bit: Option<Operand>,
        /// The elements, one a lane.
        of: Operand,
        /// Number of lanes: the product.
        lanes: Vec<Len>,
        /// The result, one element per lane.
        out: PlanValue,
    },
    /// Reduces the outermost dimension by a tree. At level `i` neighbours at half the length are
    /// combined: element `j` with element `j + len / 2`; an odd last one is kept and resized. With
    /// `Len::Rows` as length, the results of tiles are combined by `carry`, in order, and the value
    /// is available after the segment.
    Fold {
        /// The operand, the axis to reduce outermost: its lanes view is `axis, rest...`.
        operand: Operand,
        /// Length of the axis.
        length: Len,
        /// Elements of the result.
        lanes: Vec<Len>,
        /// Combining tapes by level: two operands of `bits[i]` planes to one of `bits[i + 1]`.
        levels: Vec<TapeId>,
        /// Planes at each level, one more than levels; the last is the final width.
        bits: Vec<u8>,
        /// True if elements are two's complement when resized.
        signed: bool,
        /// Tape that combines two values of the final width; used across tiles alone.
        carry: Option<TapeId>,
        /// The result.
        out: PlanValue,
    },
    /// Runs a loop with carried state along the outermost dimension of its operands, in order. The
    /// tape's inputs are: carries, one element of each of `over`, `captured`; its outputs: carries,
    /// then the outputs of each iteration. With `Len::Rows` the carries continue from tile to tile.
    Scan {
        /// Tape of the body.
        tape: TapeId,
        /// Iterations.
        length: Len,
        /// Initial carries.
        init: Vec<PlanValue>,
        /// Values that the loop walks: `inner` addresses one element's scalars, `lanes` the first
        /// scalar of each element.
        over: Vec<Operand>,
        /// Values that every iteration reads whole.
        captured: Vec<PlanValue>,
        /// Final carries (available after the segment, if by rows).
        carries: Vec<PlanValue>,
        /// Outputs of the iterations, stacked.
        outs: Vec<Produced>,
    },
    /// Runs a tape on the pairs of a network, stage by stage, over the outermost dimension of its
    /// operands. The tape's inputs are: one element of each of `over`, another one, `captured`; its
    /// outputs: the elements of the first, then of the second, those that the network writes. With
    /// `rows` the elements are all rows of a table, and the step is in a segment that runs once.
    CompareExchange {
        /// The network.
        network: Network,
        /// Tape of a pair.
        tape: TapeId,
        /// The table whose rows meet.
        rows: Option<RowId>,
        /// Number of elements; [`Len::Rows`] with `rows`.
        length: Len,
        /// Values whose elements meet: `inner` addresses one element's scalars, `lanes` the first
        /// scalar of each element.
        over: Vec<Operand>,
        /// Values that every pair reads whole.
        captured: Vec<PlanValue>,
        /// The elements after the last stage.
        outs: Vec<PlanValue>,
    },
    /// Reduces all rows of a table for each element of the outermost dimension of `over`. The
    /// tape's inputs are: one element of each of `over`, one row of each of `across`, `captured`;
    /// its outputs: what is reduced. Blocks of rows ([`cross::block`](crate::cross::block)) are
    /// computed and reduced one after the other.
    Cross {
        /// The table.
        rows: RowId,
        /// Number of elements of `over`.
        length: Len,
        /// Tape of a pair.
        tape: TapeId,
        /// Values whose elements meet every row, as in [`StepOp::Scan`].
        over: Vec<Operand>,
        /// Rows of the table; the views are those of all rows.
        across: Vec<Operand>,
        /// Values that every pair reads whole.
        captured: Vec<PlanValue>,
        /// The reductions.
        outs: Vec<Crossed>,
    },
    /// Sorts the elements of the outermost dimension of its operands in ascending order of keys,
    /// the first above the others; elements of equal keys stay in their order. With `rows` the
    /// elements are all rows of a table, and the step is in a segment that runs once. For protocols
    /// that state it ([`Protocol::sorts`](sealane_protocol::Protocol::sorts)).
    Sort {
        /// The keys.
        keys: Vec<SortKey>,
        /// The table whose rows are sorted.
        rows: Option<RowId>,
        /// Number of elements; [`Len::Rows`] with `rows`.
        length: Len,
        /// Values whose elements are sorted together, as in a [`StepOp::CompareExchange`].
        over: Vec<Operand>,
        /// The elements in order.
        outs: Vec<PlanValue>,
    },
    /// Converts a value to another domain.
    Convert {
        /// Value to convert.
        value: PlanValue,
        /// Converted value.
        out: PlanValue,
    },
    /// Settles checks. In a walk over rows: those of the steps before it in the tile run, so that
    /// none is kept until the end; checks of carries, which combine tiles, stay open. In a segment
    /// that runs once: all that are open, after all earlier segments have ended.
    Settle,
    /// Opens a value to all parties in the middle of a run, in a segment that runs once. A
    /// settlement stands between the step that made the value and this one.
    Open {
        /// Value to open.
        value: PlanValue,
        /// The same elements as a public constant in the domain of `out`.
        out: PlanValue,
    },
    /// Opens a tile of a result to those who learn it, so that it need not be kept until the end,
    /// in a walk of more tiles than are in flight; fewer are opened with all other results.
    Reveal {
        /// The value.
        value: PlanValue,
        /// Index of the result.
        result: u32,
    },
}

/// Constants of a program. In general [`Data`] is not serialised: it may be that of an owner.
fn constants<S: Serializer>(data: &Data, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Constants", 3)?;
    fields.serialize_field("type", &data.ty)?;
    fields.serialize_field("shape", &data.shape)?;
    fields.serialize_field("numbers", &data.numbers().collect::<Vec<_>>())?;
    fields.end()
}

/// A key of a sort: one number of each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SortKey {
    /// The operand that holds it.
    pub operand: u32,
    /// True if larger ones come first.
    pub descending: bool,
}

/// New places of the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rearrangement {
    /// In a circle, so many places further down.
    Roll(i64),
    /// So many first rows; zeros stand for rows that are not there.
    Head(u64),
}

impl Rearrangement {
    /// For each place the row that comes there, of so many; none for zeros.
    pub fn places(self, rows: usize) -> Vec<Option<usize>> {
        match self {
            Rearrangement::Roll(by) => {
                let count = rows as i64;
                let from = |at: i64| Some((at - by).rem_euclid(count) as usize);
                (0..count).map(from).collect()
            }
            Rearrangement::Head(len) => {
                let there = |at: usize| (at < rows).then_some(at);
                (0..len as usize).map(there).collect()
            }
        }
    }
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResultPlan {
    /// Name in the program.
    pub name: String,
    /// The value: kept, if it has rows.
    pub value: PlanValue,
    /// Parties that learn it.
    pub to: PartySet,
    /// Element type for the receiver.
    pub ty: Type,
    /// Range that every element lies in.
    pub range: Range,
    /// Fixed dimensions of the result, after the rows.
    pub fixed: Vec<u64>,
    /// True if a step opens its tiles ([`StepOp::Reveal`]).
    pub by_tile: bool,
}
