//! Bodies under construction: their members, their operands, and the values that are stored.

use super::last_levels::LastLevels;
use crate::draft::{Body, Draft, Phase, Tensor, Unit, UnitWork, Write};
use crate::place::{Placement, lens};
use crate::steps::{Len, Operand, PlanValue, StepOp};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::graph::{Graph, Op, Program, Value, ValueId};
use sealane_program::types::{Data, Range, RowId};
use sealane_protocol::{Algebra, Sharing};
use std::collections::HashMap;

/// Location of a value of the program.
#[derive(Clone)]
pub(super) enum Storage {
    /// A constant: inlined in bodies, elsewhere a tensor, made at its first use.
    Constant(Option<PlanValue>),
    /// In the lanes of a body. With `axis`, the innermost dimension is at that position in the
    /// value.
    Member {
        unit: usize,
        node: ValueId,
        axis: Option<usize>,
    },
    /// In a stored tensor.
    Placed(Placement),
    /// The parts of a map or scan.
    Parts(Vec<Storage>),
}

impl Storage {
    /// A value in the lanes of a body, all of whose dimensions are lanes or stand behind them.
    pub fn member(unit: usize, node: ValueId) -> Storage {
        let axis = None;
        Storage::Member { unit, node, axis }
    }
}

/// A value for whose operation units are made, and the phase in which it is computed.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub value: &'a Value,
    pub phase: Phase,
    /// The sharing that the program asks for.
    pub pin: Option<Sharing>,
}

impl<'a> At<'a> {
    pub fn new(value: &'a Value, phase: Phase) -> At<'a> {
        At {
            value,
            phase,
            pin: None,
        }
    }
}

/// Operand of a body: `inner` trailing dimensions are whole in every lane, the others are the
/// lanes.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub id: ValueId,
    pub inner: usize,
}

/// The state of the pass.
pub(super) struct Fuser<'a> {
    pub program: &'a Program,
    phases: &'a [Phase],
    /// The sharing of the operation of each value, where the program asks for one.
    pub pins: Vec<Option<Sharing>>,
    /// Where the last levels of trees are steps of their own.
    pub last: Option<LastLevels>,
    pub draft: Draft,
    /// Homes by value of the main graph.
    pub storages: Vec<Storage>,
    /// Placement in a ring, for values that exist there too.
    pub rings: Vec<Option<Placement>>,
    /// The body of each phase, lanes, rank and sharing.
    bodies: HashMap<(Phase, Vec<Len>, u32, Option<Sharing>), usize>,
    /// Tensor in which a value of a body is stored.
    exports: HashMap<(usize, ValueId), PlanValue>,
}

impl<'a> Fuser<'a> {
    pub fn new(
        program: &'a Program,
        phases: &'a [Phase],
        pins: Vec<Option<Sharing>>,
        last: Option<LastLevels>,
    ) -> Fuser<'a> {
        Fuser {
            program,
            phases,
            pins,
            last,
            draft: Draft::default(),
            storages: Vec::with_capacity(program.main.values.len()),
            rings: Vec::with_capacity(program.main.values.len()),
            bodies: HashMap::new(),
            exports: HashMap::new(),
        }
    }

    pub fn main(&self, id: ValueId) -> &'a Value {
        &self.program.main[id]
    }

    /// Makes a tensor of bits that the next unit writes.
    pub fn tensor(&mut self, rows: Option<RowId>, fixed: &[u64], range: Range) -> PlanValue {
        self.tensor_in(Algebra::Z2, rows, fixed, range)
    }

    /// Makes a tensor that the next unit writes.
    pub fn tensor_in(
        &mut self,
        algebra: Algebra,
        rows: Option<RowId>,
        fixed: &[u64],
        range: Range,
    ) -> PlanValue {
        let (elements, unit) = (fixed.iter().product(), self.draft.units.len());
        self.draft.tensors.push(Tensor {
            rows,
            elements,
            range,
            algebra,
            unit,
        });
        PlanValue(self.draft.tensors.len() as u32 - 1)
    }

    /// Appends a unit that performs the operation of a value, after all that it reads.
    pub fn add(&mut self, at: At<'_>, work: impl Into<UnitWork>) {
        let work = work.into();
        let rank = self.rank_after(&work.reads(), at.phase);
        self.unit(at, rank, work);
    }

    fn unit(&mut self, at: At<'_>, rank: u32, work: UnitWork) -> usize {
        let mut unit = Unit {
            phase: at.phase,
            rank,
            work,
            ops: Vec::new(),
            span: None,
            lines: Vec::new(),
            pin: at.pin,
        };
        unit.performs(name(&at.value.op), at.value.span.as_ref());
        self.draft.units.push(unit);
        self.draft.units.len() - 1
    }

    /// The smallest rank of a unit of `phase` that reads these tensors.
    fn rank_after(&self, tensors: &[PlanValue], phase: Phase) -> u32 {
        let after = |id: &PlanValue| self.rank_after_unit(self.draft.tensor(*id).unit, phase);
        tensors.iter().map(after).max().unwrap_or(0)
    }

    fn rank_after_unit(&self, unit: usize, phase: Phase) -> u32 {
        let unit = &self.draft.units[unit];
        if unit.phase == phase {
            unit.rank + 1
        } else {
            0
        }
    }

    /// Finds or makes the body over `lanes` that can read all of `accesses`; returns its unit and
    /// the values that stand for them there.
    pub fn join(&mut self, at: At<'_>, lanes: &[Len], reads: &[Access]) -> (usize, Vec<ValueId>) {
        let At { value, phase, pin } = at;
        let ranks = reads.iter().map(|of| self.rank_of(of, at, lanes));
        let rank = ranks.max().unwrap_or(0);
        let key = (phase, lanes.to_vec(), rank, pin);
        let unit = match self.bodies.get(&key) {
            Some(&unit) => {
                self.draft.units[unit].performs(name(&value.op), value.span.as_ref());
                unit
            }
            None => {
                let body = Body {
                    lanes: lanes.to_vec(),
                    ..Body::default()
                };
                let unit = self.unit(at, rank, UnitWork::Body(body));
                self.bodies.insert(key, unit);
                unit
            }
        };
        let ids = reads.iter();
        let ids = ids.map(|access| self.access(unit, lanes, access)).collect();
        (unit, ids)
    }

    /// The smallest rank of a body that reads a value.
    fn rank_of(&self, access: &Access, at: At<'_>, lanes: &[Len]) -> u32 {
        let phase = at.phase;
        if self.inline_constant(access).is_some() {
            return 0;
        }
        match &self.storages[access.id.0 as usize] {
            Storage::Constant(_) => u32::from(phase == Phase::FIRST),
            Storage::Member { unit, .. }
                if self.is_direct(access, phase, lanes)
                    && self.draft.units[*unit].pin == at.pin =>
            {
                self.draft.units[*unit].rank
            }
            Storage::Member { unit, .. } => self.rank_after_unit(*unit, phase),
            Storage::Placed(placed) => self.rank_after(&[placed.store], phase),
            Storage::Parts(_) => unreachable!("a map or scan is read through its parts"),
        }
    }

    /// Returns whether a lane of the body reads exactly the result of the same lane of another
    /// body.
    fn is_direct(&self, access: &Access, phase: Phase, lanes: &[Len]) -> bool {
        let Storage::Member {
            unit, axis: None, ..
        } = &self.storages[access.id.0 as usize]
        else {
            return false;
        };
        let unit = &self.draft.units[*unit];
        let same = matches!(&unit.work, UnitWork::Body(body) if body.lanes == lanes);
        same && unit.phase == phase
            && self.main(access.id).shape.rank() == lanes.len() + access.inner
    }

    /// Returns the value that stands for an operand in a body.
    fn access(&mut self, unit: usize, lanes: &[Len], access: &Access) -> ValueId {
        let value = self.main(access.id);
        let dims = &value.shape.fixed;
        let fixed = dims[dims.len().saturating_sub(access.inner)..].to_vec();
        if let Some(data) = self.inline_constant(access) {
            let body = self.body(unit);
            return body.push(Op::Const(data), value.ty, fixed, value.range);
        }
        let phase = self.draft.units[unit].phase;
        match &self.storages[access.id.0 as usize] {
            Storage::Member {
                unit: there, node, ..
            } if *there == unit && self.is_direct(access, phase, lanes) => *node,
            _ => {
                let read = self.stored(access.id).read(lanes, access.inner);
                let range = self.draft.tensor(read.value).range;
                self.body(unit).param(read, value.ty, fixed, range)
            }
        }
    }

    /// Returns the constant that every lane sees, if the value is one.
    fn inline_constant(&self, access: &Access) -> Option<Data> {
        let Op::Const(data) = &self.main(access.id).op else {
            return None;
        };
        let shape = data.shape[data.shape.len() - access.inner..].to_vec();
        let inner = shape.iter().product::<u64>() as usize;
        let first = data.elements.get(..inner)?;
        let uniform = data.elements.chunks(inner.max(1)).all(|lane| lane == first);
        uniform.then(|| Data {
            ty: data.ty,
            shape,
            elements: first.to_vec(),
        })
    }

    /// Copies a graph into a body; returns the new value of each of its values.
    pub fn inline(&mut self, unit: usize, graph: &Graph, params: &[ValueId]) -> Vec<ValueId> {
        let mut renamed: Vec<ValueId> = Vec::with_capacity(graph.values.len());
        for value in &graph.values {
            let id = match &value.op {
                Op::Param(index) => params[*index as usize],
                op => {
                    let mut op = op.clone();
                    op.renumber(|id| renamed[id.0 as usize]);
                    self.draft.units[unit].ops.push(name(&op));
                    let fixed = value.shape.fixed.clone();
                    self.body(unit).push(op, value.ty, fixed, value.range)
                }
            };
            renamed.push(id);
        }
        renamed
    }

    /// The body of a unit that is known to be one.
    pub fn body(&mut self, unit: usize) -> &mut Body {
        match &mut self.draft.units[unit].work {
            UnitWork::Body(body) => body,
            _ => unreachable!("members live in bodies"),
        }
    }

    /// Returns the placement of a value, and stores it if necessary.
    pub fn stored(&mut self, id: ValueId) -> Placement {
        let dims = lens(&self.main(id).shape);
        match self.storages[id.0 as usize].clone() {
            Storage::Placed(placed) => placed,
            Storage::Member { unit, node, axis } => self.export(unit, node, axis),
            Storage::Constant(Some(tensor)) => Placement::whole(tensor, &dims),
            Storage::Constant(None) => {
                let value = self.main(id);
                let Op::Const(data) = &value.op else {
                    unreachable!("only a constant has the home of one")
                };
                let out = self.tensor(None, &value.shape.fixed, value.range);
                let data = data.clone();
                let work = StepOp::Constant { data, out };
                self.add(At::new(value, Phase::FIRST), work);
                self.storages[id.0 as usize] = Storage::Constant(Some(out));
                Placement::whole(out, &dims)
            }
            Storage::Parts(_) => unreachable!("a map or scan is read through its parts"),
        }
    }

    /// Returns the elements along axis 0 of a value, as a walk reads them.
    pub fn walked(&mut self, id: ValueId, length: Len) -> Operand {
        let placed = self.stored(id);
        placed.read(&[length], placed.dims.len() - 1)
    }

    /// Returns whether a value is stored as bits and has this range already, so that a cast to it
    /// changes nothing. (A member of a body is cast there, where that is free and where its type is
    /// known; so is a value from a ring, since the result may be needed in another one.)
    pub fn is_stored_as(&self, id: ValueId, range: Range) -> bool {
        let placed = match &self.storages[id.0 as usize] {
            Storage::Placed(placed) => self.draft.tensor(placed.store).algebra == Algebra::Z2,
            _ => false,
        };
        placed && self.main(id).range == range
    }

    /// Returns a tensor of bits that holds a value and nothing else, in row-major order.
    pub fn stored_bits(&mut self, id: ValueId) -> PlanValue {
        let placed = self.stored(id);
        self.stored_whole(id, placed)
    }

    /// Returns a tensor that holds a value and nothing else, in row-major order. If it has to be
    /// copied out of another tensor, that happens in the phase of the value, not of its user.
    pub fn stored_whole(&mut self, id: ValueId, placed: Placement) -> PlanValue {
        let tensor = self.draft.tensor(placed.store);
        if placed.is_whole(tensor.elements) {
            return placed.store;
        }
        let algebra = tensor.algebra;
        self.copied(id, placed, algebra)
    }

    /// Copies a value to a tensor of its own, in row-major order.
    pub fn copied(&mut self, id: ValueId, placed: Placement, algebra: Algebra) -> PlanValue {
        let range = self.draft.tensor(placed.store).range;
        let value = self.main(id);
        let (rows, fixed) = (value.shape.rows, &value.shape.fixed);
        let out = self.tensor_in(algebra, rows, fixed, range);
        let operand = placed.read(&lens(&value.shape), 0);
        let phase = self.phases[id.0 as usize];
        self.add(At::new(value, phase), StepOp::Move { operand, out });
        out
    }

    /// Stores a value of a body: lanes outermost, then its own dimensions.
    pub fn export(&mut self, unit: usize, node: ValueId, axis: Option<usize>) -> Placement {
        let rows = self.draft.units[unit].phase.rows;
        let body = self.body(unit);
        let value = &body.graph[node];
        let (range, inner) = (value.range, value.shape.fixed.clone());
        let dims = [body.lanes.clone(), lens(&value.shape)].concat();
        let by_rows = body.lanes.first() == Some(&Len::Rows);
        let tensor = match self.exports.get(&(unit, node)) {
            Some(tensor) => *tensor,
            None => {
                let fixed = dims.iter().map(|len| len.at(1)).collect::<Vec<_>>();
                let tensor = self.tensor(rows.filter(|_| by_rows), &fixed, range);
                self.draft.tensors[tensor.0 as usize].unit = unit;
                let inner = inner.iter().product::<u64>() as u32;
                let body = self.body(unit);
                body.graph.returns.push(node);
                let value = tensor;
                body.outs.push(Write { value, inner });
                self.exports.insert((unit, node), tensor);
                tensor
            }
        };
        let placed = Placement::whole(tensor, &dims);
        axis.map_or(placed.clone(), |axis| placed.move_last_to(axis))
    }

    /// Refuses operands of a body that every lane sees whole but that have as many elements as a
    /// table has rows.
    pub fn refuse_rows(&self, ids: &[ValueId], value: &Value) -> Result<(), Diagnostic> {
        let seen = ids.iter().find_map(|id| self.main(*id).shape.rows);
        let Some(rows) = seen.or_else(|| value.op.body().and_then(numbered)) else {
            return Ok(());
        };
        let name = &self.program.rows[usize::from(rows.0)].name;
        let hint = match &value.op {
            Op::Map(_) => {
                "in a body of `sl.map`, compute on each row and reduce them, as in `sl.sum(x * e)`; \
                 do the rest outside"
            }
            _ => "walk the rows outside of the body, or reduce them before it",
        };
        let message = format!("a body sees all `{name}` rows of a value at once");
        Err(Diagnostic::new(Code::WholeRows, message)
            .because("a circuit is made before the number of rows is known")
            .hint(hint)
            .at(value.span.as_ref()))
    }
}

/// The table whose rows a graph numbers, if it does so.
pub(crate) fn numbered(body: &Graph) -> Option<RowId> {
    body.values.iter().find_map(|value| match &value.op {
        Op::RowNumber(rows) => Some(*rows),
        op => op.body().and_then(numbered),
    })
}

/// Short name of an operation, for people.
fn name(op: &Op) -> String {
    match op {
        Op::Param(_) => "input".into(),
        Op::Const(_) => "constant".into(),
        Op::Select(..) => "where".into(),
        Op::Reduce(reduction, ..) => reduction.name().into(),
        Op::SumProduct { .. } => "dot".into(),
        Op::Append(_) => "concat".into(),
        Op::Accumulate(reduction, ..) | Op::Running(reduction, ..) => {
            format!("running {}", reduction.name())
        }
        Op::RowNumber(_) => "row_number".into(),
        Op::Prefix(_) => "associative scan".into(),
        Op::Call(name, _) => name.clone(),
        op => op.word().into(),
    }
}
