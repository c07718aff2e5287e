//! Intermediate form between a program and a plan: units of work over tensors.
//!
//! A *tensor* is a stored value, which has the same number in the plan; a value of the program may
//! be only a *placement* in one (a slice, a broadcast). A *unit* becomes one step: an element-wise
//! body over lanes, a fold, a scan, a sum or product in a ring, an input. Bodies are still graphs
//! of typed operations, with ranges; the pass `lower` turns them into tapes.

use crate::network::Network;
use crate::steps::{Len, Operand, PlanValue, SortKey, StepOp};
use sealane_diagnostic::Span;
use sealane_program::graph::{Graph, Op, Reduction, Value, ValueId, Visibility};
use sealane_program::infer::Meta;
use sealane_program::types::{Range, RowId, Shape, Type};
use sealane_protocol::{Algebra, Sharing};
use std::collections::HashMap;

/// Time at which a unit runs: segments are ordered by level, and inside a level the units that run
/// once come before the tables. A level counts the reductions and scans over rows that must have
/// ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Phase {
    pub level: u32,
    pub rows: Option<RowId>,
}

impl Phase {
    /// First phase: work that needs no rows and no result of work over rows.
    pub const FIRST: Phase = Phase {
        level: 0,
        rows: None,
    };
}

/// Properties of a stored tensor.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub rows: Option<RowId>,
    /// Elements of each row, or in all.
    pub elements: u64,
    pub range: Range,
    /// Algebra in which it is made; an input or a constant is available in any algebra.
    pub algebra: Algebra,
    /// The unit that makes it: an index into [`Draft::units`].
    pub unit: usize,
}

/// A tensor that a body or a scan writes: `inner` neighbouring elements per lane or iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub value: PlanValue,
    pub inner: u32,
}

/// Work that becomes one step.
pub(crate) struct Unit {
    pub phase: Phase,
    /// Longest chain of units of the same phase before it; the units that it needs have smaller
    /// ranks.
    pub rank: u32,
    pub work: UnitWork,
    /// Operations of the program that it performs, in order of the program.
    pub ops: Vec<String>,
    /// The place of the first one of which it is known.
    pub span: Option<Span>,
    /// Lines of the source in which they stand, each after the one before it.
    pub lines: Vec<u32>,
    /// The sharing that the program asks for.
    pub pin: Option<Sharing>,
}

/// Operation of a unit.
pub(crate) enum UnitWork {
    /// A step that needs no circuit.
    Step(StepOp),
    Body(Body),
    Fold(Fold),
    Scan(Scan),
    CompareExchange(CompareExchange),
    Cross(Cross),
}

impl Unit {
    /// Adds an operation.
    pub fn performs(&mut self, op: String, span: Option<&Span>) {
        self.ops.push(op);
        self.span = self.span.take().or_else(|| span.cloned());
        let line = span.map(|span| span.line);
        self.lines
            .extend(line.filter(|line| self.lines.last() != Some(line)));
    }
}

impl From<StepOp> for UnitWork {
    fn from(op: StepOp) -> UnitWork {
        UnitWork::Step(op)
    }
}

impl UnitWork {
    /// The tables all of whose rows the unit reads at once.
    pub fn all_rows(&self) -> Vec<RowId> {
        match self {
            UnitWork::Step(op) => op.all_rows(),
            UnitWork::CompareExchange(network_step) => network_step.rows.into_iter().collect(),
            UnitWork::Cross(cross) => vec![cross.rows],
            _ => Vec::new(),
        }
    }
}

/// Independent lanes of one graph. `graph.values` may hold parameters anywhere: parameter `i` is
/// `operands[i]`, and `graph.returns` are the `outs`, in order.
#[derive(Default)]
pub(crate) struct Body {
    pub lanes: Vec<Len>,
    pub graph: Graph,
    pub operands: Vec<Operand>,
    pub outs: Vec<Write>,
    pub params: HashMap<(Operand, Type), ValueId>,
}

/// A reduction of the outermost dimension of `from`.
pub(crate) struct Fold {
    pub reduction: Reduction,
    pub from: Operand,
    pub length: Len,
    pub lanes: Vec<Len>,
    /// Elements that are left; 1 but where another fold goes on.
    pub to: u64,
    pub out: PlanValue,
}

/// A loop over elements in order; the graph's parameters are the carries, the elements of `over`,
/// and `captured`.
pub(crate) struct Scan {
    pub graph: Graph,
    pub length: Len,
    pub init: Vec<PlanValue>,
    pub over: Vec<Operand>,
    pub captured: Vec<PlanValue>,
    pub carries: Vec<PlanValue>,
    pub outs: Vec<Write>,
}

/// A network over the elements of `over`: all `rows` of a table, or a fixed number. The graph is
/// the body of a sort, or the combination of two elements; there is none for what is kept.
pub(crate) struct CompareExchange {
    pub network: Network,
    /// Keys by which a stable sort may take the place of a network.
    pub keys: Option<Vec<SortKey>>,
    pub graph: Graph,
    pub rows: Option<RowId>,
    pub length: Len,
    pub over: Vec<Operand>,
    pub captured: Vec<PlanValue>,
    pub outs: Vec<PlanValue>,
}

/// Reductions of all rows of a table for each element of `over`. The graph's parameters are an
/// element of each of `over`, a row of each of `across`, and `captured`; it returns the numbers to
/// reduce.
pub(crate) struct Cross {
    pub graph: Graph,
    pub length: Len,
    pub rows: RowId,
    pub over: Vec<Operand>,
    pub across: Vec<Operand>,
    pub captured: Vec<PlanValue>,
    pub outs: Vec<Crossed>,
}

/// A reduction of a [`Cross`].
pub(crate) struct Crossed {
    pub reduction: Reduction,
    /// Range of what is reduced.
    pub from: Range,
    /// Elements of each reduction.
    pub inner: u32,
    pub value: PlanValue,
}

/// A program as units over tensors.
#[derive(Default)]
pub(crate) struct Draft {
    pub tensors: Vec<Tensor>,
    pub units: Vec<Unit>,
    /// The tensor of each result of the program.
    pub results: Vec<PlanValue>,
}

impl Draft {
    /// The tensor with this index.
    pub fn tensor(&self, id: PlanValue) -> &Tensor {
        &self.tensors[id.0 as usize]
    }

    /// The algebra in which a unit computes.
    pub fn algebra(&self, unit: &Unit) -> Algebra {
        let made = unit.work.writes();
        made.first()
            .map_or(Algebra::Z2, |id| self.tensor(*id).algebra)
    }

    /// First phase that may read a tensor: that of its unit, or the next level if the tensor
    /// depends on all rows.
    pub fn there_in(&self, tensor: usize) -> Phase {
        let tensor = &self.tensors[tensor];
        let made = self.units[tensor.unit].phase;
        if tensor.rows == made.rows {
            made
        } else {
            Phase {
                level: made.level + 1,
                rows: None,
            }
        }
    }

    /// Sorts the units by phase and rank, after which each follows the units that it needs.
    pub fn sort(&mut self) {
        let mut order = (0..self.units.len()).collect::<Vec<_>>();
        order.sort_by_key(|&unit| (self.units[unit].phase, self.units[unit].rank, unit));
        let mut place = vec![0; order.len()];
        order
            .iter()
            .enumerate()
            .for_each(|(new, &old)| place[old] = new);
        self.tensors
            .iter_mut()
            .for_each(|tensor| tensor.unit = place[tensor.unit]);
        let mut units = std::mem::take(&mut self.units)
            .into_iter()
            .zip(place)
            .collect::<Vec<_>>();
        units.sort_by_key(|(_, new)| *new);
        self.units = units.into_iter().map(|(unit, _)| unit).collect();
    }

    /// Checks the invariant of `fuse`: a unit needs only tensors that are made before it in its own
    /// phase, or exist when its phase begins. No value changes from one ring to another.
    pub fn check(&self) -> Result<(), String> {
        for (index, unit) in self.units.iter().enumerate() {
            for id in unit.work.reads() {
                let tensor = self.tensor(id);
                let maker = &self.units[tensor.unit];
                let there = self.there_in(id.0 as usize);
                let in_time = if there == unit.phase && maker.phase == unit.phase {
                    tensor.unit < index && maker.rank < unit.rank
                } else {
                    there <= unit.phase
                };
                if !in_time {
                    return Err(format!(
                        "unit {index} reads tensor {} before it is there",
                        id.0
                    ));
                }
                let all = unit.work.all_rows();
                let walked = |rows| unit.phase.rows == Some(rows) || all.contains(&rows);
                if !tensor.rows.is_none_or(walked) {
                    return Err(format!("unit {index} reads rows of another table"));
                }
            }
            let own = |id: &PlanValue| self.tensor(*id).unit == index;
            if !unit.work.writes().iter().all(own) {
                return Err(format!("unit {index} writes a tensor of another unit"));
            }
            let algebra = self.algebra(unit);
            let near = |id: &PlanValue| match (self.tensor(*id).algebra, algebra) {
                (Algebra::Z2, _) | (_, Algebra::Z2) => true,
                (one, other) => one == other,
            };
            if !unit.work.reads().iter().all(near) {
                return Err(format!("unit {index} reads a value of another ring"));
            }
        }
        Ok(())
    }
}

impl UnitWork {
    /// The tensors it reads.
    pub fn reads(&self) -> Vec<PlanValue> {
        let of = |reads: &[Operand]| reads.iter().map(|read| read.value).collect::<Vec<_>>();
        match self {
            UnitWork::Step(op) => op.reads(),
            UnitWork::CompareExchange(network_step) => {
                [of(&network_step.over), network_step.captured.clone()].concat()
            }
            UnitWork::Cross(cross) => {
                [of(&cross.over), of(&cross.across), cross.captured.clone()].concat()
            }
            UnitWork::Body(body) => of(&body.operands),
            UnitWork::Fold(fold) => vec![fold.from.value],
            UnitWork::Scan(scan) => {
                [scan.init.clone(), of(&scan.over), scan.captured.clone()].concat()
            }
        }
    }

    /// The tensors it makes.
    pub fn writes(&self) -> Vec<PlanValue> {
        let of = |outs: &[Write]| outs.iter().map(|out| out.value).collect::<Vec<_>>();
        match self {
            UnitWork::Step(op) => op.writes(),
            UnitWork::Body(body) => of(&body.outs),
            UnitWork::Fold(fold) => vec![fold.out],
            UnitWork::Scan(scan) => [scan.carries.clone(), of(&scan.outs)].concat(),
            UnitWork::CompareExchange(network_step) => network_step.outs.clone(),
            UnitWork::Cross(cross) => cross.outs.iter().map(|out| out.value).collect(),
        }
    }
}

impl Body {
    /// Appends an operation on the values of one lane.
    pub fn push(&mut self, op: Op, ty: Type, fixed: Vec<u64>, range: Range) -> ValueId {
        let meta = Meta::new(ty, Shape::fixed(fixed), range, Visibility::Secret);
        self.graph.push(Value::new(op, meta, None))
    }

    /// Returns the parameter for an operand, made at its first use. A second use with another type
    /// (after a cast that changes nothing) is another value of the same operand.
    pub fn param(&mut self, read: Operand, ty: Type, fixed: Vec<u64>, range: Range) -> ValueId {
        if let Some(known) = self.params.get(&(read.clone(), ty)) {
            return *known;
        }
        let index = self.operands.len() as u32;
        self.operands.push(read.clone());
        let param = self.push(Op::Param(index), ty, fixed, range);
        self.params.insert((read, ty), param);
        param
    }
}
