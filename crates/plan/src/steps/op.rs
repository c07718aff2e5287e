//! Operations of steps.

use super::{Len, PlanValue, SymView};
use crate::network::Network;
use sealane_parties::PartyId;
use sealane_program::types::{Data, RowId};
use sealane_protocol::RingOp;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

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

/// A tape of the plan: an index into [`Plan::tapes`](super::Plan::tapes).
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

/// Puts all rows of a table into other places without any message, in a segment that runs once.
/// The views are those of all rows.
#[derive(Clone, Serialize)]
pub struct Rearrange {
    /// The new places.
    pub how: Rearrangement,
    /// The table.
    pub rows: RowId,
    /// The rows: `lanes` are the rows, `inner` the elements of each.
    pub operand: Operand,
    /// Moved rows.
    pub out: PlanValue,
}

/// Computes a linear map modulo `2^k` without any message: the sum of all terms. With
/// `carried`, the sums of tiles are added up, and the value is available after the segment.
#[derive(Clone, Serialize)]
pub struct Linear {
    /// The terms.
    pub terms: Vec<LinearTerm>,
    /// Number of lanes: the product.
    pub lanes: Vec<Len>,
    /// True if the sums of tiles are added up.
    pub carried: bool,
    /// The result, one element per lane.
    pub out: PlanValue,
}

/// Computes inner products of both operands modulo `2^k`, one per lane.
#[derive(Clone, Serialize)]
pub struct Product {
    /// One operand.
    pub left: Operand,
    /// The other.
    pub right: Operand,
    /// Number of lanes: the product.
    pub lanes: Vec<Len>,
    /// The party that knows the numbers of the left and of the right operand: its inputs, or what
    /// moves, public factors, sums and products of its own make of them.
    pub known_to: [Option<PartyId>; 2],
    /// The result, one element per lane.
    pub out: PlanValue,
}

/// Computes an operation on ring elements, one a lane. Of a [`RingOp::Extract`] all other bits
/// of the result are zero.
#[derive(Clone, Serialize)]
pub struct Ring {
    /// The operation.
    pub op: RingOp,
    /// The bits of a [`RingOp::Select`].
    pub bit: Option<Operand>,
    /// The elements, one a lane.
    pub of: Operand,
    /// Number of lanes: the product.
    pub lanes: Vec<Len>,
    /// The result, one element per lane.
    pub out: PlanValue,
}

/// Reduces the outermost dimension by a tree. At level `i` neighbours at half the length are
/// combined: element `j` with element `j + len / 2`; an odd last one is kept and resized. The last
/// level of a fold `to` more than one element combines as few of its first elements as leave these,
/// and where there are fewer from the start, they are repeated: its reduction is a smallest or
/// largest element, or one that is true. With `Len::Rows` as length, the results of tiles are
/// combined by `carry`, in order, and the value is available after the segment.
#[derive(Clone, Serialize)]
pub struct Fold {
    /// The operand, the axis to reduce outermost: its lanes view is `axis, rest...`.
    pub operand: Operand,
    /// Length of the axis.
    pub length: Len,
    /// Elements of the other dimensions.
    pub lanes: Vec<Len>,
    /// Elements of the axis that are left, outermost in the result.
    #[serde(skip_serializing_if = "is_one")]
    pub to: u64,
    /// Combining tapes by level: two operands of `bits[i]` planes to one of `bits[i + 1]`.
    pub levels: Vec<TapeId>,
    /// Planes at each level, one more than levels; the last is the final width.
    pub bits: Vec<u8>,
    /// True if elements are two's complement when resized.
    pub signed: bool,
    /// Tape that combines two values of the final width; used across tiles alone.
    pub carry: Option<TapeId>,
    /// The result.
    pub out: PlanValue,
}

fn is_one(count: &u64) -> bool {
    *count == 1
}

/// Pairs of a level of a tree over so many elements, of which `to` are left in the end.
pub fn pairs(elements: u64, to: u64) -> u64 {
    (elements / 2).min(elements.saturating_sub(to))
}

/// Runs a loop with carried state along the outermost dimension of its operands, in order. The
/// tape's inputs are: carries, one element of each of `over`, `captured`; its outputs: carries,
/// then the outputs of each iteration. With `Len::Rows` the carries continue from tile to tile.
#[derive(Clone, Serialize)]
pub struct Scan {
    /// Tape of the body.
    pub tape: TapeId,
    /// Iterations.
    pub length: Len,
    /// Initial carries.
    pub init: Vec<PlanValue>,
    /// Values that the loop walks: `inner` addresses one element's scalars, `lanes` the first
    /// scalar of each element.
    pub over: Vec<Operand>,
    /// Values that every iteration reads whole.
    pub captured: Vec<PlanValue>,
    /// Final carries (available after the segment, if by rows).
    pub carries: Vec<PlanValue>,
    /// Outputs of the iterations, stacked.
    pub outs: Vec<Produced>,
}

/// Runs a tape on the pairs of a network, stage by stage, over the outermost dimension of its
/// operands. The tape's inputs are: one element of each of `over`, another one, `captured`; its
/// outputs: the elements of the first, then of the second, those that the network writes. With
/// `rows` the elements are all rows of a table, and the step is in a segment that runs once.
#[derive(Clone, Serialize)]
pub struct CompareExchange {
    /// The network.
    pub network: Network,
    /// Tape of a pair.
    pub tape: TapeId,
    /// The table whose rows meet.
    pub rows: Option<RowId>,
    /// Number of elements; [`Len::Rows`] with `rows`.
    pub length: Len,
    /// Values whose elements meet: `inner` addresses one element's scalars, `lanes` the first
    /// scalar of each element.
    pub over: Vec<Operand>,
    /// Values that every pair reads whole.
    pub captured: Vec<PlanValue>,
    /// The elements after the last stage.
    pub outs: Vec<PlanValue>,
}

/// Reduces all rows of a table for each element of the outermost dimension of `over`. The
/// tape's inputs are: one element of each of `over`, one row of each of `across`, `captured`;
/// its outputs: what is reduced. Blocks of rows ([`cross::block`](crate::cross::block)) are
/// computed and reduced one after the other.
#[derive(Clone, Serialize)]
pub struct Cross {
    /// The table.
    pub rows: RowId,
    /// Number of elements of `over`.
    pub length: Len,
    /// Tape of a pair.
    pub tape: TapeId,
    /// Values whose elements meet every row, as in [`StepOp::Scan`].
    pub over: Vec<Operand>,
    /// Rows of the table; the views are those of all rows.
    pub across: Vec<Operand>,
    /// Values that every pair reads whole.
    pub captured: Vec<PlanValue>,
    /// The reductions.
    pub outs: Vec<Crossed>,
}

/// Sorts the elements of the outermost dimension of its operands in ascending order of keys,
/// the first above the others; elements of equal keys stay in their order. With `rows` the
/// elements are all rows of a table, and the step is in a segment that runs once. For protocols
/// that state it ([`Protocol::sorts`](sealane_protocol::Protocol::sorts)).
#[derive(Clone, Serialize)]
pub struct Sort {
    /// The keys.
    pub keys: Vec<SortKey>,
    /// The table whose rows are sorted.
    pub rows: Option<RowId>,
    /// Number of elements; [`Len::Rows`] with `rows`.
    pub length: Len,
    /// Values whose elements are sorted together, as in a [`StepOp::CompareExchange`].
    pub over: Vec<Operand>,
    /// The elements in order.
    pub outs: Vec<PlanValue>,
}

impl Sort {
    /// Bits of an element and bits of its key, where `bits` states those that hold an operand.
    pub(crate) fn bits(&self, bits: impl Fn(&Operand) -> u8) -> [u64; 2] {
        let bits = |of: &Operand| u64::from(bits(of));
        let planes = self.over.iter().map(|of| of.inner.count(1) * bits(of));
        let key = self
            .keys
            .iter()
            .map(|key| bits(&self.over[key.operand as usize]));
        [planes.sum(), key.sum()]
    }
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
    /// Puts rows into other places.
    Rearrange(Rearrange),
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
    /// Computes a linear map.
    Linear(Linear),
    /// Computes inner products.
    Product(Product),
    /// Computes an operation on ring elements.
    Ring(Ring),
    /// Reduces a dimension by a tree.
    Fold(Fold),
    /// Runs a loop with carried state.
    Scan(Scan),
    /// Runs a tape on the pairs of a network.
    CompareExchange(CompareExchange),
    /// Reduces all rows of a table for each element.
    Cross(Cross),
    /// Sorts elements by keys.
    Sort(Sort),
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
