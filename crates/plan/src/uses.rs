//! Operands and results of steps.

use crate::steps::{
    CompareExchange, Cross, Fold, Len, Linear, PlanValue, Produced, Product, Rearrange, Ring, Scan,
    Sort, Step, StepOp, TapeId,
};
use sealane_program::types::RowId;

/// Kind of a step, by its use of the network and the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// Local work: elements that are known, move, or are added up.
    Local,
    /// Inputs are shared.
    Input,
    /// Domains change.
    Convert,
    /// Tapes run.
    Tape,
    /// Ring elements are multiplied, chosen or divided, or their bits taken.
    Product,
    /// A reduction.
    Fold,
    /// A loop.
    Scan,
    /// Elements that meet along a network.
    CompareExchange,
    /// Elements that meet all rows of a table.
    Cross,
    /// A sort without a network.
    Sort,
    /// Checks are settled.
    Settle,
    /// A value is opened.
    Open,
}

/// References to the values that a step reads, in the order of its operands: shared ones, or with
/// `iter_mut` and `mut` such that can be written to.
macro_rules! read_values {
    ($op:expr, $iter:ident $(, $mut:tt)?) => {{
        let mut read = Vec::new();
        macro_rules! of {
            ($operands:expr) => {
                read.extend($operands.$iter().map(|operand| & $($mut)? operand.value))
            };
        }
        match $op {
            StepOp::Input { .. } | StepOp::Constant { .. } | StepOp::RowNumber { .. } => {}
            StepOp::Settle => {}
            StepOp::Move { operand, .. }
            | StepOp::Rearrange(Rearrange { operand, .. })
            | StepOp::Fold(Fold { operand, .. }) => read.push(& $($mut)? operand.value),
            StepOp::Concat { parts: operands, .. }
            | StepOp::Sort(Sort { over: operands, .. })
            | StepOp::Tape { operands, .. } => of!(operands),
            StepOp::Append { parts, .. } => {
                read.extend(parts.$iter().map(|(_, operand)| & $($mut)? operand.value));
            }
            StepOp::Linear(sum) => {
                read.extend(sum.terms.$iter().map(|term| & $($mut)? term.operand.value));
            }
            StepOp::Product(Product { left, right, .. }) => {
                read.extend([& $($mut)? left.value, & $($mut)? right.value]);
            }
            StepOp::Ring(ring) => {
                of!(ring.bit);
                read.push(& $($mut)? ring.of.value);
            }
            StepOp::CompareExchange(step) => {
                of!(step.over);
                read.extend(step.captured.$iter());
            }
            StepOp::Cross(cross) => {
                of!(cross.over);
                of!(cross.across);
                read.extend(cross.captured.$iter());
            }
            StepOp::Scan(scan) => {
                read.extend(scan.init.$iter());
                of!(scan.over);
                read.extend(scan.captured.$iter());
            }
            StepOp::Convert { value, .. }
            | StepOp::Open { value, .. }
            | StepOp::Reveal { value, .. } => read.push(value),
        }
        read
    }};
}

impl StepOp {
    /// Kind of the step.
    pub fn kind(&self) -> StepKind {
        match self {
            StepOp::Constant { .. }
            | StepOp::RowNumber { .. }
            | StepOp::Rearrange(_)
            | StepOp::Move { .. }
            | StepOp::Concat { .. }
            | StepOp::Append { .. }
            | StepOp::Linear(_) => StepKind::Local,
            StepOp::Input { .. } => StepKind::Input,
            StepOp::Convert { .. } => StepKind::Convert,
            StepOp::Tape { .. } => StepKind::Tape,
            StepOp::Product(_) | StepOp::Ring(_) => StepKind::Product,
            StepOp::Fold(_) => StepKind::Fold,
            StepOp::Scan(_) => StepKind::Scan,
            StepOp::CompareExchange(_) => StepKind::CompareExchange,
            StepOp::Cross(_) => StepKind::Cross,
            StepOp::Sort(_) => StepKind::Sort,
            StepOp::Settle => StepKind::Settle,
            StepOp::Open { .. } | StepOp::Reveal { .. } => StepKind::Open,
        }
    }

    /// Returns the tables all of whose rows the step takes or makes at once.
    pub fn all_rows(&self) -> Vec<RowId> {
        match self {
            StepOp::Rearrange(Rearrange { rows, .. }) | StepOp::Cross(Cross { rows, .. }) => {
                vec![*rows]
            }
            StepOp::Append { parts, rows, .. } => {
                let parts = parts.iter().map(|(rows, _)| *rows);
                parts.chain([*rows]).collect()
            }
            StepOp::CompareExchange(CompareExchange { rows, .. })
            | StepOp::Sort(Sort { rows, .. }) => rows.iter().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns whether tiles run the step in order, since each continues from the one before it.
    pub fn in_order(&self) -> bool {
        match self {
            StepOp::Scan(scan) => scan.length == Len::Rows,
            StepOp::Settle => true,
            _ => false,
        }
    }

    /// Returns whether the results of tiles are combined, in the order of tiles. The combined value
    /// is available after the segment.
    // A call of its own: merged into loops over steps, it is compiled to branches on bytes that
    // other variants leave unwritten, which the check of secrets under Valgrind reports.
    #[inline(never)]
    pub fn carries(&self) -> bool {
        match self {
            StepOp::Fold(fold) => fold.length == Len::Rows,
            StepOp::Linear(sum) => sum.carried,
            _ => false,
        }
    }

    /// Returns the values that the step reads, one for each operand.
    pub fn reads(&self) -> Vec<PlanValue> {
        read_values!(self, iter).into_iter().copied().collect()
    }

    /// Returns the values that the step writes.
    pub fn writes(&self) -> Vec<PlanValue> {
        let of = |outs: &[Produced]| outs.iter().map(|out| out.value).collect::<Vec<_>>();
        match self {
            StepOp::Input { out, .. }
            | StepOp::Constant { out, .. }
            | StepOp::RowNumber { out }
            | StepOp::Rearrange(Rearrange { out, .. })
            | StepOp::Move { out, .. }
            | StepOp::Concat { out, .. }
            | StepOp::Append { out, .. }
            | StepOp::Linear(Linear { out, .. })
            | StepOp::Product(Product { out, .. })
            | StepOp::Ring(Ring { out, .. })
            | StepOp::Fold(Fold { out, .. })
            | StepOp::Convert { out, .. }
            | StepOp::Open { out, .. } => vec![*out],
            StepOp::Settle | StepOp::Reveal { .. } => Vec::new(),
            StepOp::Tape { outs, .. } => of(outs),
            StepOp::Scan(scan) => [scan.carries.clone(), of(&scan.outs)].concat(),
            StepOp::CompareExchange(CompareExchange { outs, .. })
            | StepOp::Sort(Sort { outs, .. }) => outs.clone(),
            StepOp::Cross(cross) => cross.outs.iter().map(|out| out.value).collect(),
        }
    }

    /// Returns the tapes that the step runs.
    pub(crate) fn tapes(&mut self) -> Vec<&mut TapeId> {
        match self {
            StepOp::Tape { tape, .. }
            | StepOp::Scan(Scan { tape, .. })
            | StepOp::CompareExchange(CompareExchange { tape, .. }) => vec![tape],
            StepOp::Fold(fold) => fold.levels.iter_mut().chain(&mut fold.carry).collect(),
            StepOp::Cross(cross) => {
                let trees = cross.outs.iter_mut();
                let trees = trees.flat_map(|out| out.levels.iter_mut().chain([&mut out.carry]));
                trees.chain([&mut cross.tape]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Replaces each value that the step reads.
    pub(crate) fn redirect(&mut self, mut new: impl FnMut(PlanValue) -> PlanValue) {
        let read = read_values!(self, iter_mut, mut);
        read.into_iter().for_each(|value| *value = new(*value));
    }
}

impl Step {
    /// Source line of the step, for people.
    pub fn line(&self) -> Option<u32> {
        self.span.as_ref().map(|span| span.line)
    }
}
