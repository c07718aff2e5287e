//! Pass `fuse`: units of work from operations.
//!
//! Element-wise operations (and maps, calls and stacks, whose lanes are the elements that they
//! treat as opaque) join a *body*: one graph for all lanes. A value gets the rank 1 + the largest
//! rank of its operands, except that an operand read lane by lane from a body over the same lanes
//! adds nothing; bodies are keyed by phase, lanes and rank. Every dependency between two bodies
//! therefore goes to a larger rank, so that fusing never makes a cycle, and two independent parts
//! of a program share a body when they have the same lanes.
//!
//! Slices, views and broadcasts become strides of operands; only a view that no strides reach, and
//! a concatenation, copy elements, without any message. A value of a body is stored only if
//! something outside of the body reads it. Constants that are the same for all lanes go into the
//! body, where the circuit builder folds them; the others are stored tensors of their own.
//! Values computed in a ring (pass `algebra`) join no body: each operation is a unit of its own,
//! which is free or costs one flight, and its value is stored.

mod arrange;
mod cross;
mod last_levels;
pub(crate) mod pins;
mod ring;
mod site;

use crate::algebra::Had;
use crate::draft::{CompareExchange, Draft, Fold, Phase, Scan, UnitWork, Write};
use crate::network::Network;
use crate::order;
use crate::place::{Placement, lens};
use crate::steps::{Len, Operand, PlanValue, Rearrange, Rearrangement, SortKey, StepOp};
pub(crate) use last_levels::LastLevels;
use sealane_diagnostic::Diagnostic;
use sealane_program::graph::{Binary, Graph, Loop, Op, Program, Reduction, Value, ValueId};
use sealane_program::infer::Meta;
use sealane_program::types::{Range, Shape, Type};
use sealane_protocol::Algebra;
pub(crate) use site::numbered;
use site::{Access, At, Fuser, Storage};

/// Makes the units of an expanded program whose values have the given phases and algebras.
pub(crate) fn fuse(
    program: &Program,
    phases: &[Phase],
    had: &[Had],
    last: Option<LastLevels>,
) -> Result<Draft, Diagnostic> {
    let pins = pins::pins(&program.main)?;
    let mut fuser = Fuser::new(program, phases, pins, last);
    for (index, (phase, had)) in phases.iter().zip(had).enumerate() {
        let id = ValueId(index as u32);
        let at = At {
            pin: fuser.pins[index],
            ..At::new(fuser.main(id), *phase)
        };
        let ring = had.ring.map(|k| fuser.in_ring(at, k));
        let storage = match &ring {
            Some(placed) if !had.bits => Storage::Placed(placed.clone()),
            _ => fuser.value(id, at)?,
        };
        fuser.storages.push(storage);
        fuser.rings.push(ring);
    }
    for result in &program.results {
        // A result that exists in the ring need not be converted to bits.
        let placed = fuser.placed_in_ring(result.value);
        let tensor = fuser.stored_whole(result.value, placed);
        fuser.draft.results.push(tensor);
    }
    fuser.draft.sort();
    Ok(fuser.draft)
}

impl Fuser<'_> {
    /// Assigns a home to one value of the main graph.
    fn value(&mut self, id: ValueId, at: At<'_>) -> Result<Storage, Diagnostic> {
        let value = self.main(id);
        Ok(match &value.op {
            Op::Param(input) => {
                let out = self.tensor(value.shape.rows, &value.shape.fixed, value.range);
                self.add(at, StepOp::Input { input: *input, out });
                Storage::Placed(Placement::whole(out, &lens(&value.shape)))
            }
            Op::Const(_) => Storage::Constant(None),
            Op::Slice(slice) => Storage::Placed(self.stored(slice.of).slice(slice)),
            Op::View { of, start, dims } => {
                let placed = self.stored(*of);
                Storage::Placed(self.view(*of, placed, (*start, dims), Algebra::Z2))
            }
            Op::Concat(parts, axis) => {
                let widened = |part: &ValueId| self.widened(*part, at);
                let parts = parts.iter().map(widened).collect::<Vec<_>>();
                Storage::Placed(self.concat(at, &parts, *axis as usize, Algebra::Z2))
            }
            Op::Append(parts) => {
                let stored = |part: &ValueId| (*part, self.stored(*part));
                let parts = parts.iter().map(stored).collect::<Vec<_>>();
                Storage::Placed(self.append(at, &parts, Algebra::Z2))
            }
            Op::Stack(values, axis) if values.len() == 1 => {
                Storage::Placed(self.stored(values[0]).with_axis(*axis as usize))
            }
            Op::RowNumber(_) => {
                let out = self.tensor(value.shape.rows, &[], value.range);
                self.add(at, StepOp::RowNumber { out });
                Storage::Placed(Placement::whole(out, &lens(&value.shape)))
            }
            Op::Roll { of, by } => self.rearranged(at, *of, Rearrangement::Roll(*by)),
            Op::Head { of, len } => self.rearranged(at, *of, Rearrangement::Head(*len)),
            Op::Sort(of, _) => Storage::Parts(self.network(at, Network::Sort, of)?),
            Op::Prefix(of) => Storage::Parts(self.network(at, Network::Prefix, of)?),
            Op::Running(reduction, of, starts) => {
                let of = Loop {
                    body: Box::new(combination(value, *reduction, starts.is_some())),
                    ..Loop::over([*of].into_iter().chain(*starts).collect())
                };
                self.network(at, Network::Prefix, &of)?.swap_remove(0)
            }
            Op::Compact { keep, over } => {
                let of = Loop::over([&over[..1], &[*keep], &over[1..]].concat());
                let most = self.read_of(id);
                let mut parts = self.network(at, Network::Compact { most }, &of)?;
                // Nobody reads how far what is left moved.
                parts.remove(1);
                Storage::Parts(parts)
            }
            Op::Part(of, part) => match &self.storages[of.0 as usize] {
                Storage::Parts(parts) => parts[*part as usize].clone(),
                _ => unreachable!("check has seen that a part is one of an operation with parts"),
            },
            Op::Cast(of) if self.is_stored_as(*of, value.range) => {
                self.storages[of.0 as usize].clone()
            }
            Op::Share { of, .. } => self.storages[of.0 as usize].clone(),
            op if op.is_element_wise() => self.member(at, lens(&value.shape), 0),
            Op::Call(..) => {
                let mut lanes = lens(&value.shape);
                lanes.pop();
                self.member(at, lanes, 1)
            }
            Op::Lookup { table, index } => self.lookup(at, *table, *index),
            Op::Stack(values, axis) => self.stack(at, values, *axis as usize),
            Op::Map(of) => {
                let mut captures = of.captured.iter().map(|id| self.main(*id));
                if captures.any(|value| value.shape.rows.is_some()) {
                    Storage::Parts(self.cross(at, of)?)
                } else {
                    self.map(at, of)?
                }
            }
            Op::Scan(of) => self.scan(at, of)?,
            Op::Reduce(reduction, of, axis) => {
                let from = self.stored(*of).move_to_first(*axis as usize);
                self.fold(at, *reduction, from)
            }
            // Earlier passes write them out, make inputs of them, or leave them to the ring.
            op => unreachable!("`{}` stands behind the passes before", op.word()),
        })
    }

    /// Adds an operation on the `inner` trailing dimensions of its operands, in every lane.
    fn member(&mut self, at: At<'_>, lanes: Vec<Len>, inner: usize) -> Storage {
        let value = at.value;
        let operands = value.op.operands();
        let accesses: Vec<_> = operands.iter().map(|&id| Access { id, inner }).collect();
        let (unit, ids) = self.join(at, &lanes, &accesses);
        let mut op = value.op.clone();
        let at = |id: ValueId| operands.iter().position(|operand| *operand == id);
        op.renumber(|id| at(id).map_or(id, |at| ids[at]));
        let fixed = value.shape.fixed[value.shape.fixed.len() - inner..].to_vec();
        let node = self.body(unit).push(op, value.ty, fixed, value.range);
        Storage::member(unit, node)
    }

    /// Adds a lookup: every lane has one index and sees the whole table.
    fn lookup(&mut self, at: At<'_>, table: ValueId, index: ValueId) -> Storage {
        let lanes = lens(&self.main(index).shape);
        let entry = self.main(table).shape.fixed[1..].to_vec();
        let accesses =
            [(table, 1 + entry.len()), (index, 0)].map(|(id, inner)| Access { id, inner });
        let (unit, ids) = self.join(at, &lanes, &accesses);
        let [table, index] = [ids[0], ids[1]];
        let (op, of) = (Op::Lookup { table, index }, at.value);
        let node = self.body(unit).push(op, of.ty, entry, of.range);
        Storage::member(unit, node)
    }

    /// Adds a stack: one lane holds one element of each part.
    fn stack(&mut self, at: At<'_>, parts: &[ValueId], axis: usize) -> Storage {
        let lanes = lens(&self.main(parts[0]).shape);
        let accesses: Vec<_> = parts.iter().map(|&id| Access { id, inner: 0 }).collect();
        let (unit, ids) = self.join(at, &lanes, &accesses);
        let (op, fixed) = (Op::Stack(ids, 0), vec![parts.len() as u64]);
        let node = self.body(unit).push(op, at.value.ty, fixed, at.value.range);
        let axis = (axis < lanes.len()).then_some(axis);
        Storage::Member { unit, node, axis }
    }

    /// Adds a map: its body joins the body of its lanes, without a call.
    fn map(&mut self, at: At<'_>, of: &Loop) -> Result<Storage, Diagnostic> {
        let (over, captured, body) = (&of.over, &of.captured, &of.body);
        let lanes = lens(&self.main(over[0]).shape)[..1].to_vec();
        let rank = |id: ValueId| self.main(id).shape.rank();
        let elements = over.iter().map(|&id| (id, rank(id) - 1));
        let whole = captured.iter().map(|&id| (id, rank(id)));
        let accesses = elements.chain(whole);
        let accesses = accesses.map(|(id, inner)| Access { id, inner });
        let accesses: Vec<_> = accesses.collect();
        self.refuse_rows(captured, at.value)?;
        let (unit, params) = self.join(at, &lanes, &accesses);
        let nodes = self.inline(unit, body, &params);
        let member = |id: &ValueId| Storage::member(unit, nodes[id.0 as usize]);
        Ok(Storage::Parts(body.returns.iter().map(member).collect()))
    }

    /// Adds a scan: a unit of its own, since its iterations depend on each other.
    fn scan(&mut self, at: At<'_>, of: &Loop) -> Result<Storage, Diagnostic> {
        let (init, over, captured, body) = (&of.init, &of.over, &of.captured, &of.body);
        self.refuse_rows(init, at.value)?;
        self.refuse_rows(captured, at.value)?;
        let length = lens(&self.main(over[0]).shape)[0];
        let init: Vec<_> = init.iter().map(|id| self.stored_bits(*id)).collect();
        let over: Vec<_> = over.iter().map(|id| self.walked(*id, length)).collect();
        let (graph, stored) = self.captured(body, init.len() + over.len(), captured);
        let mut carries: Vec<PlanValue> = Vec::new();
        let mut outs: Vec<Write> = Vec::new();
        let mut parts = Vec::new();
        for (index, id) in body.returns.iter().enumerate() {
            let carried = index < init.len();
            let of = &body.values[if carried { index } else { id.0 as usize }];
            let inner = lens(&of.shape);
            let (rows, dims) = match (carried, length) {
                (true, _) => (None, inner),
                (false, Len::Rows) => (at.phase.rows, [vec![length], inner].concat()),
                (false, Len::Fixed(_)) => (None, [vec![length], inner].concat()),
            };
            let fixed = dims.iter().map(|len| len.at(1)).collect::<Vec<_>>();
            let tensor = self.tensor(rows, &fixed, of.range);
            if carried {
                carries.push(tensor)
            } else {
                let inner = of.shape.fixed.iter().product::<u64>() as u32;
                let value = tensor;
                outs.push(Write { value, inner });
            }
            parts.push(Storage::Placed(Placement::whole(tensor, &dims)));
        }
        let scan = Scan {
            graph,
            length,
            init,
            over,
            captured: stored,
            carries,
            outs,
        };
        let work = UnitWork::Scan(scan);
        self.add(at, work);
        Ok(Storage::Parts(parts))
    }

    /// A body whose parameters from number `first` on are captured, and the tensors of these. A
    /// value that is known when the circuit is made needs no parameter.
    fn captured(&mut self, body: &Graph, first: usize, of: &[ValueId]) -> (Graph, Vec<PlanValue>) {
        let mut graph = body.clone();
        let mut stored = Vec::new();
        for (param, id) in graph.values.iter_mut().skip(first).zip(of) {
            param.op = match &self.main(*id).op {
                Op::Const(data) => Op::Const(data.clone()),
                _ => {
                    stored.push(self.stored_bits(*id));
                    Op::Param((first + stored.len() - 1) as u32)
                }
            };
        }
        (graph, stored)
    }

    /// Adds a network over the elements of axis 0 of `over`: a unit of its own, since its stages
    /// depend on each other.
    fn network(
        &mut self,
        at: At<'_>,
        network: Network,
        of: &Loop,
    ) -> Result<Vec<Storage>, Diagnostic> {
        let (over, captured, body) = (&of.over, &of.captured, &of.body);
        self.refuse_rows(captured, at.value)?;
        let rows = self.main(over[0]).shape.rows;
        let length = lens(&self.main(over[0]).shape)[0];
        let reads: Vec<_> = over.iter().map(|id| self.walked(*id, length)).collect();
        let (graph, captured) = self.captured(body, 2 * over.len(), captured);
        let mut outs = Vec::new();
        let mut parts = Vec::new();
        for (id, read) in over.iter().zip(&reads) {
            let shape = self.main(*id).shape.clone();
            let range = self.draft.tensor(read.value).range;
            let out = self.tensor(rows, &shape.fixed, range);
            outs.push(out);
            parts.push(Storage::Placed(Placement::whole(out, &lens(&shape))));
        }
        let keys = match network {
            Network::Sort => self.keys(at.value, over, body, &reads),
            Network::Prefix | Network::Compact { .. } => None,
        };
        let work = UnitWork::CompareExchange(CompareExchange {
            network,
            keys,
            graph,
            rows,
            length,
            over: reads,
            captured,
            outs,
        });
        self.add(at, work);
        Ok(parts)
    }

    /// The number of first places that are read of what is kept.
    fn read_of(&self, kept: ValueId) -> usize {
        let values = &self.program.main.values;
        let is_part = |id: &ValueId| {
            let op = &values[id.0 as usize].op;
            matches!(op, Op::Part(of, _) if *of == kept)
        };
        let results = &self.program.results;
        if results.iter().any(|result| is_part(&result.value)) {
            return usize::MAX;
        }
        let read = values.iter().map(|value| match &value.op {
            Op::Head { of, len } if is_part(of) => *len as usize,
            Op::Slice(s) if s.axis == 0 && is_part(&s.of) => (s.start + s.len) as usize,
            op if op.operands().iter().any(is_part) => usize::MAX,
            _ => 0,
        });
        read.max().unwrap_or(0)
    }

    /// The keys by which a stable sort gives what this one gives.
    fn keys(
        &self,
        value: &Value,
        over: &[ValueId],
        body: &Graph,
        reads: &[Operand],
    ) -> Option<Vec<SortKey>> {
        let whole = reads.iter().map(|read| read.inner.count(1) == 1);
        let places = over.iter().map(|id| match &self.main(*id).op {
            Op::RowNumber(_) => true,
            Op::Const(data) => data.numbers().eq(0..data.elements.len() as i128),
            _ => false,
        });
        let (whole, places) = (whole.collect::<Vec<_>>(), places.collect::<Vec<_>>());
        let free = matches!(value.op, Op::Sort(_, true));
        order::stable(order::keys(body, over.len())?, &whole, &places, free)
    }

    /// Adds rows of a table in other places.
    fn rearranged(&mut self, at: At<'_>, of: ValueId, how: Rearrangement) -> Storage {
        let value = at.value;
        let operand = self.walked(of, Len::Rows);
        let Some(rows) = self.main(of).shape.rows else {
            unreachable!("check has seen that axis 0 is symbolic")
        };
        // Zeros may stand for rows.
        let range = self.draft.tensor(operand.value).range.hull(Range::of(0));
        let out = self.tensor(value.shape.rows, &value.shape.fixed, range);
        let work = Rearrange {
            how,
            rows,
            operand,
            out,
        };
        self.add(at, StepOp::Rearrange(work));
        Storage::Placed(Placement::whole(out, &lens(&value.shape)))
    }

    /// Adds a fold of the outermost dimension of `from`, whose last levels may be one of its own.
    fn fold(&mut self, mut at: At<'_>, reduction: Reduction, mut from: Placement) -> Storage {
        let value = at.value;
        let dims: Vec<_> = from.dims.iter().map(|(len, _)| *len).collect();
        let (mut length, lanes) = (dims[0], dims[1..].to_vec());
        let longest = match at.phase.rows {
            Some(rows) if length == Len::Rows => self.program.rows[usize::from(rows.0)].bound,
            _ => length.at(1),
        };
        let last = self.last.filter(|_| value.shape.rows.is_none());
        let left = last.and_then(|last| last.of(reduction, value, longest));
        if let Some(to) = left {
            let fixed = [&[to], &value.shape.fixed[..]].concat();
            let out = self.tensor(None, &fixed, value.range);
            let fold = Fold {
                reduction,
                from: from.read(&dims, 0),
                length,
                lanes: lanes.clone(),
                to,
                out,
            };
            self.add(at, UnitWork::Fold(fold));
            if length == Len::Rows {
                // What is left of all tiles is there after the last one.
                let level = at.phase.level + 1;
                at.phase = Phase { level, rows: None };
            }
            length = Len::Fixed(to);
            let dims = [&[length], &lanes[..]].concat();
            from = Placement::whole(out, &dims);
        }
        let dims = [&[length], &lanes[..]].concat();
        let out = self.tensor(value.shape.rows, &value.shape.fixed, value.range);
        let fold = Fold {
            reduction,
            from: from.read(&dims, 0),
            length,
            lanes,
            to: 1,
            out,
        };
        self.add(at, UnitWork::Fold(fold));
        Storage::Placed(Placement::whole(out, &lens(&value.shape)))
    }
}

/// The combination of two neighbouring runs of elements in a running reduction: their reduction,
/// and with `starts` whether one begins in either. The operation has the type of its result, whose
/// range holds the reduction of any run.
pub(crate) fn combination(value: &Value, reduction: Reduction, starts: bool) -> Graph {
    let mut graph = Graph::default();
    let (rows, fixed) = (None, value.shape.without(0).fixed);
    let element = Shape { rows, fixed };
    let mut push = |op: Op, number: bool| {
        let (ty, range, shape) = if number {
            (value.ty, value.range, element.clone())
        } else {
            (Type::Bool, Type::Bool.range(), Shape::scalar())
        };
        let meta = Meta::new(ty, shape, range, value.visibility);
        graph.push(Value::new(op, meta, None))
    };
    let (x, x_starts, y, y_starts) = if starts {
        let mut param = |at: u32| push(Op::Param(at), at.is_multiple_of(2));
        let (x, x_starts, y, y_starts) = (param(0), param(1), param(2), param(3));
        (x, Some(x_starts), y, Some(y_starts))
    } else {
        let (x, y) = (push(Op::Param(0), true), push(Op::Param(1), true));
        (x, None, y, None)
    };
    let both = push(Op::Binary(reduction.row().joins, x, y), true);
    let (mut returns, mut params) = (vec![both], 2);
    if let (Some(x_starts), Some(y_starts)) = (x_starts, y_starts) {
        let anew = push(Op::Select(y_starts, y, both), true);
        let any = push(Op::Binary(Binary::Or, x_starts, y_starts), false);
        (returns, params) = (vec![anew, any], 4);
    }
    graph.params = params;
    graph.returns = returns;
    graph
}
