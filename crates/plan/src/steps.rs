//! Plan: segments of steps, with symbolic row counts.
//!
//! A segment runs once, or once for each tile of the rows of one table, so that memory does not
//! grow with rows. A sort and the other steps on all rows at once ([`StepOp::all_rows`]) are in
//! segments that run once; they hold the rows that they take. Steps are listed in an order in
//! which each follows the steps that it needs; [`flow`](crate::flow) determines when they run.
//! Results are revealed together, after the last segment, but for those with [`StepOp::Reveal`].

mod op;

pub use op::{
    CompareExchange, Cross, Crossed, Fold, Linear, LinearFactor, LinearTerm, Operand, Produced,
    Product, Rearrange, Rearrangement, Ring, Scan, Sort, SortKey, StepOp, TapeId, pairs,
};

use crate::flow::IN_FLIGHT;
use sealane_circuit::{Lookups, Tape};
use sealane_diagnostic::Span;
use sealane_parties::{PartyId, PartySet};
use sealane_program::types::{Range, RowId, Type};
use sealane_protocol::{Algebra, Choice, Domain, Numbers, Setting, View};
use serde::{Serialize, Serializer};
use std::borrow::Borrow;
use std::ops::{Index, IndexMut};
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
    pub tapes: Vec<Arc<Tape>>,
    /// All values that steps exchange.
    pub values: Vec<ValuePlan>,
    /// Segments, in order.
    pub segments: Vec<Segment>,
    /// Results, in the order of the program's.
    pub results: Vec<ResultPlan>,
    /// Form of its lookups.
    pub lookups: Lookups,
    /// How domains of its tapes were chosen.
    pub choice: Choice,
    /// The number of the domain of tapes that each unit of work took, where it had a choice.
    pub(crate) taken: Vec<Option<u8>>,
    /// The same plan with lookups in other forms, and other choices of domains: one of all runs
    /// ([`at_rows`](fn@crate::at_rows)).
    pub others: Vec<Plan>,
}

impl Plan {
    /// Returns whether a run on so many rows of each table opens a result tile by tile.
    pub fn in_tiles(&self, result: &ResultPlan, rows: &[u64]) -> bool {
        result.by_tile && self.flows(result.value, rows)
    }

    /// Returns whether another plan of the same program computes the same in the same domains.
    pub(crate) fn same_steps(&self, other: &Plan) -> bool {
        self.tapes == other.tapes && self.values == other.values && self.rows == other.rows
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
        self[value].rows.is_some_and(many)
    }
}

/// The value of an identifier, or of a reference to one.
impl<V: Borrow<PlanValue>> Index<V> for Plan {
    type Output = ValuePlan;
    fn index(&self, value: V) -> &ValuePlan {
        &self.values[value.borrow().0 as usize]
    }
}

impl<V: Borrow<PlanValue>> IndexMut<V> for Plan {
    fn index_mut(&mut self, value: V) -> &mut ValuePlan {
        &mut self.values[value.borrow().0 as usize]
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
            Algebra::Z2k(_) | Algebra::Gf2k(_) | Algebra::Fp => 1,
        }
    }
    /// Bits of each element where it is sent as plain bits: at an input and at a reveal.
    pub fn plain_bits(&self) -> u64 {
        match self.domain.algebra {
            Algebra::Z2 => self.bits.into(),
            algebra => algebra.bits(),
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

/// Number of lanes over these lengths in a tile of `rows` rows.
pub fn lanes(lens: &[Len], rows: u64) -> u64 {
    lens.iter().map(|len| len.at(rows)).product()
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
