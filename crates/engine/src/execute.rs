//! Runs the steps of a plan over a mesh, for one party of any protocol.
//!
//! The engine moves shares between steps, walks tiles of rows, and is the only one that flushes:
//! all steps of a batch write, then the messages leave, then all steps read. What it does here is
//! what `plan::cost` adds up; the two files are to be read side by side.

use crate::bits::{from_planes, to_planes};
use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_plan::steps::{
    Len, Operand, Plan, PlanValue, Produced, Segment, Step as PlanStep, StepOp, TapeId,
};
use sealane_program::graph::Program;
use sealane_program::types::Data;
use sealane_protocol::{Demand, Fault, Outcome, PartyId, Progress, Protocol, Shares, Step, View};
use std::collections::HashMap;
use std::sync::Arc;

/// What one party brings to a run.
pub(crate) struct Start<'a> {
    pub program: &'a Program,
    pub plan: &'a Plan,
    /// Row counts, as the handshake settled them.
    pub rows: &'a [u64],
    /// This party's inputs, by index of the program's inputs.
    pub inputs: &'a [Option<Data>],
    pub demand: &'a Demand,
    pub cpu: Cpu,
    pub coins: Coins,
    /// Called after each batch with AND gates done so far.
    pub progress: &'a mut dyn FnMut(u64),
}

/// Runs a plan to its end. For each result: its elements, if this party learns it.
pub(crate) fn execute<P: Protocol>(
    start: Start<'_>,
    mesh: &mut Mesh,
) -> Result<Vec<Option<Data>>, Fault> {
    let Start {
        program,
        plan,
        rows,
        inputs,
        demand,
        cpu,
        coins,
        progress,
    } = start;
    let mut party = P::start(&plan.setting, mesh.me(), cpu, coins);
    mesh.at_step(0);
    party.prepare(demand, mesh)?;
    let mut run = Run::<P> {
        program,
        plan,
        rows,
        inputs,
        party,
        mesh,
        stored: HashMap::new(),
        checks: Vec::new(),
        ands: 0,
        progress,
    };
    let mut first_step = 1;
    for segment in &plan.segments {
        run.segment(segment, first_step)?;
        first_step += segment
            .batches
            .iter()
            .map(|batch| batch.len() as u32)
            .sum::<u32>();
    }
    run.reveal(first_step)
}

type Stored<P> = HashMap<PlanValue, Arc<<P as Protocol>::Share>>;

struct Run<'a, P: Protocol> {
    program: &'a Program,
    plan: &'a Plan,
    rows: &'a [u64],
    inputs: &'a [Option<Data>],
    party: P,
    mesh: &'a mut Mesh,
    /// Values without rows, and kept ones with all their rows.
    stored: Stored<P>,
    checks: Vec<P::Check>,
    ands: u64,
    progress: &'a mut dyn FnMut(u64),
}

/// The rows at hand; a segment that runs once has one tile of no rows.
struct Tile<P: Protocol> {
    start: u64,
    rows: u64,
    values: Stored<P>,
}

impl<P: Protocol> Run<'_, P> {
    fn segment(&mut self, segment: &Segment, first_step: u32) -> Result<(), Fault> {
        let Some(id) = segment.rows else {
            let mut tile = Tile {
                start: 0,
                rows: 0,
                values: HashMap::new(),
            };
            self.tile(segment, &mut tile, first_step)?;
            self.stored.extend(tile.values);
            return Ok(());
        };
        let (total, size) = (
            self.rows[usize::from(id.0)],
            self.plan.rows[usize::from(id.0)].tile,
        );
        let mut kept: HashMap<PlanValue, Vec<Arc<P::Share>>> = HashMap::new();
        for start in (0..total).step_by(size as usize) {
            let rows = size.min(total - start);
            let mut tile = Tile {
                start,
                rows,
                values: HashMap::new(),
            };
            self.tile(segment, &mut tile, first_step)?;
            for (value, share) in tile.values {
                let plan = &self.plan.values[value.0 as usize];
                if plan.kept && plan.rows == Some(id) && !self.stored.contains_key(&value) {
                    kept.entry(value).or_default().push(share);
                }
            }
        }
        for (value, parts) in kept {
            let parts = parts.iter().map(Arc::as_ref).collect::<Vec<_>>();
            self.stored
                .insert(value, Arc::new(P::Share::concat(&parts)));
        }
        Ok(())
    }

    fn tile(&mut self, segment: &Segment, tile: &mut Tile<P>, step: u32) -> Result<(), Fault> {
        let mut step = step;
        for batch in &segment.batches {
            self.batch(batch, tile, step)?;
            step += batch.len() as u32;
            (self.progress)(self.ands);
        }
        Ok(())
    }

    /// One batch: steps that only move shares or loop run on their own, all others together.
    fn batch(&mut self, batch: &[PlanStep], tile: &mut Tile<P>, step: u32) -> Result<(), Fault> {
        let mut together = Vec::new();
        for (step, id) in batch.iter().zip(step..) {
            match &step.op {
                StepOp::Constant { data, out } => {
                    let share = self.constant(data, *out);
                    tile.values.insert(*out, Arc::new(share));
                }
                StepOp::Move { operand, out } => {
                    let share = self.operand(operand, tile)?;
                    let share = share.spread(operand.inner.count(tile.rows) as usize);
                    tile.values.insert(*out, Arc::new(share));
                }
                StepOp::Concat { parts, out } => {
                    let parts = parts.iter().map(|part| self.value(*part, tile));
                    let parts = parts.collect::<Result<Vec<_>, _>>()?;
                    let parts = parts.iter().map(Arc::as_ref).collect::<Vec<_>>();
                    tile.values.insert(*out, Arc::new(P::Share::concat(&parts)));
                }
                StepOp::Fold { .. } => self.fold(&step.op, tile, id)?,
                StepOp::Scan { .. } => self.scan(&step.op, tile, id)?,
                StepOp::Input { .. } | StepOp::Tape { .. } | StepOp::Convert { .. } => {
                    together.push((id, &step.op));
                }
            }
        }
        self.together(&together, tile)
    }

    /// Steps that share flights.
    fn together(&mut self, steps: &[(u32, &StepOp)], tile: &mut Tile<P>) -> Result<(), Fault> {
        let mut operands = Vec::new();
        for (_, op) in steps {
            operands.push(match op {
                StepOp::Tape { operands, .. } => {
                    let shares = operands.iter().map(|operand| self.operand(operand, tile));
                    (shares.collect::<Result<Vec<_>, _>>()?, None)
                }
                StepOp::Convert { value, .. } => (vec![self.value(*value, tile)?], None),
                StepOp::Input { input, out } => (vec![], self.input_bits(*input, *out, tile)),
                _ => return Err(internal("a step that does not share flights was batched")),
            });
        }
        let mut begun = Vec::new();
        for ((id, op), (shares, bits)) in steps.iter().zip(&operands) {
            begun.push((*id, self.step(op, shares, bits.as_deref(), tile)?));
        }
        let outcomes = drive(&mut self.party, self.mesh, begun)?;
        for ((_, op), outcome) in steps.iter().zip(outcomes) {
            let share = self.share(outcome)?;
            match op {
                StepOp::Tape {
                    outs, tape, lanes, ..
                } => {
                    self.count(*tape, lanes.iter().map(|len| len.at(tile.rows)).product());
                    for out in outs {
                        tile.values
                            .insert(out.value, Arc::new(self.produced(&share, out)));
                    }
                }
                StepOp::Convert { out, .. } | StepOp::Input { out, .. } => {
                    tile.values.insert(*out, Arc::new(share));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn step<'s>(
        &self,
        op: &StepOp,
        shares: &'s [Arc<P::Share>],
        bits: Option<&'s [u8]>,
        tile: &Tile<P>,
    ) -> Result<Step<'s, P>, Fault>
    where
        Self: 's,
    {
        Ok(match op {
            StepOp::Tape { tape, lanes, .. } => Step::Tape {
                tape: &self.plan.tapes[tape.0 as usize],
                lanes: lanes.iter().map(|len| len.at(tile.rows)).product::<u64>() as usize,
                operands: shares.iter().map(Arc::as_ref).collect(),
            },
            StepOp::Convert { value, out } => Step::Convert {
                from: self.plan.values[value.0 as usize].domain,
                to: self.plan.values[out.0 as usize].domain,
                share: &shares[0],
            },
            StepOp::Input { input, out } => {
                let plan = &self.plan.values[out.0 as usize];
                let rows = plan.rows.map_or(1, |_| tile.rows);
                Step::Input {
                    owner: PartyId(self.program.inputs[*input as usize].owner),
                    elements: (plan.elements * rows) as usize,
                    planes: usize::from(plan.bits),
                    bits,
                }
            }
            _ => return Err(internal("a step that does not share flights was batched")),
        })
    }

    /// A tree over the outermost dimension; see [`StepOp::Fold`].
    fn fold(&mut self, op: &StepOp, tile: &mut Tile<P>, id: u32) -> Result<(), Fault> {
        let StepOp::Fold {
            operand,
            length,
            levels,
            bits,
            signed,
            carry,
            out,
            ..
        } = op
        else {
            return Err(internal("not a fold"));
        };
        let mut current = self.operand(operand, tile)?;
        let mut length_left = length.at(tile.rows) as usize;
        let lanes = current.elements() / length_left.max(1);
        for (level, wide) in levels.iter().zip(&bits[1..]) {
            if length_left <= 1 {
                break;
            }
            let half = length_left / 2;
            let part = |first: usize, count: usize| View {
                offset: first * lanes,
                dims: vec![(count * lanes, 1)],
            };
            let pair = [part(0, half), part(half, half)];
            let pair = pair.map(|view| Arc::new(current.gather(&view, &View::whole(1))));
            let mut next = self.tape(*level, half * lanes, &pair, id)?;
            if length_left % 2 == 1 {
                let odd = current.gather(&part(2 * half, 1), &View::whole(1));
                let odd = odd.resize(0, usize::from(*wide), *signed);
                next = P::Share::concat(&[&next, &odd]);
            }
            current = Arc::new(next);
            length_left = length_left.div_ceil(2);
        }
        let last = usize::from(
            *bits
                .last()
                .ok_or_else(|| internal("a fold without widths"))?,
        );
        let mut total = Arc::new(current.resize(0, last, *signed));
        if *length != Len::Rows {
            tile.values.insert(*out, total);
            return Ok(());
        }
        if let Some(before) = self.stored.remove(out) {
            let carry = carry.ok_or_else(|| internal("a fold by rows without a carry"))?;
            total = Arc::new(self.tape(carry, lanes, &[before, total], id)?);
        }
        self.stored.insert(*out, total);
        Ok(())
    }

    /// A loop with carried state; see [`StepOp::Scan`].
    fn scan(&mut self, op: &StepOp, tile: &mut Tile<P>, id: u32) -> Result<(), Fault> {
        let StepOp::Scan {
            tape,
            length,
            init,
            over,
            captured,
            carries,
            outs,
        } = op
        else {
            return Err(internal("not a scan"));
        };
        let by_rows = *length == Len::Rows;
        let mut state = Vec::new();
        for (init, carry) in init.iter().zip(carries) {
            let bits = usize::from(self.plan.values[carry.0 as usize].bits);
            let before = self.stored.get(carry).filter(|_| by_rows).cloned();
            state.push(match before {
                Some(share) => share,
                None => {
                    let signed = self.plan.values[init.0 as usize].signed;
                    Arc::new(self.value(*init, tile)?.resize(0, bits, signed))
                }
            });
        }
        let over = over.iter().map(|operand| self.operand(operand, tile));
        let over = over.collect::<Result<Vec<_>, _>>()?;
        let captured = captured.iter().map(|value| self.value(*value, tile));
        let captured = captured.collect::<Result<Vec<_>, _>>()?;
        let one_lane = |share: &P::Share| {
            Arc::new(share.gather(&View::whole(1), &View::whole(share.elements())))
        };
        let captured = captured
            .iter()
            .map(|share| one_lane(share))
            .collect::<Vec<_>>();
        let mut written = outs.iter().map(|_| Vec::new()).collect::<Vec<_>>();
        for i in 0..length.at(tile.rows) as usize {
            let mut operands = state
                .iter()
                .map(|share| one_lane(share))
                .collect::<Vec<_>>();
            let element = View {
                offset: i,
                dims: vec![],
            };
            operands.extend(
                over.iter()
                    .map(|share| Arc::new(share.gather(&element, &View::whole(1)))),
            );
            operands.extend(captured.iter().cloned());
            let result = self.tape(*tape, 1, &operands, id)?;
            let mut first = 0;
            for (share, carry) in state.iter_mut().zip(carries) {
                let plan = &self.plan.values[carry.0 as usize];
                let out = Produced {
                    value: *carry,
                    first,
                    inner: plan.elements as u32,
                };
                *share = Arc::new(self.produced(&result, &out));
                first += out.inner * u32::from(plan.bits);
            }
            for (parts, out) in written.iter_mut().zip(outs) {
                parts.push(self.produced(&result, out));
            }
        }
        for (out, parts) in outs.iter().zip(written) {
            let parts = parts.iter().collect::<Vec<_>>();
            tile.values
                .insert(out.value, Arc::new(P::Share::concat(&parts)));
        }
        let target = if by_rows {
            &mut self.stored
        } else {
            &mut tile.values
        };
        target.extend(carries.iter().copied().zip(state));
        Ok(())
    }

    /// One tape as a batch of its own.
    fn tape(
        &mut self,
        tape: TapeId,
        lanes: usize,
        operands: &[Arc<P::Share>],
        id: u32,
    ) -> Result<P::Share, Fault> {
        self.count(tape, lanes as u64);
        let operands = operands.iter().map(Arc::as_ref).collect();
        let step = Step::Tape {
            tape: &self.plan.tapes[tape.0 as usize],
            lanes,
            operands,
        };
        let mut outcomes = drive(&mut self.party, self.mesh, vec![(id, step)])?;
        let outcome = outcomes
            .pop()
            .ok_or_else(|| internal("a step without an outcome"))?;
        self.share(outcome)
    }

    fn reveal(&mut self, id: u32) -> Result<Vec<Option<Data>>, Fault> {
        let mut shares = Vec::new();
        for result in &self.plan.results {
            let share = self.stored.get(&result.value).cloned();
            shares.push(share.ok_or_else(|| internal("a result was never computed"))?);
        }
        let results = shares.iter().zip(&self.plan.results);
        let results = results
            .map(|(share, result)| (share.as_ref(), result.to))
            .collect();
        let checks = std::mem::take(&mut self.checks);
        let step = Step::Reveal { results, checks };
        let outcome = drive(&mut self.party, self.mesh, vec![(id, step)])?.pop();
        let Some(Outcome::Revealed(bits)) = outcome else {
            return Err(internal("a reveal revealed nothing"));
        };
        let mut data = Vec::new();
        for (result, bits) in self.plan.results.iter().zip(bits) {
            let plan = &self.plan.values[result.value.0 as usize];
            let rows = plan.rows.map(|id| self.rows[usize::from(id.0)]);
            let shape = rows
                .into_iter()
                .chain(result.fixed.iter().copied())
                .collect();
            data.push(bits.map(|bits| Data {
                ty: result.ty,
                shape,
                elements: from_planes(&bits, usize::from(plan.bits), plan.signed),
            }));
        }
        Ok(data)
    }

    fn value(&self, value: PlanValue, tile: &mut Tile<P>) -> Result<Arc<P::Share>, Fault> {
        if let Some(share) = tile.values.get(&value) {
            return Ok(share.clone());
        }
        let stored = self
            .stored
            .get(&value)
            .ok_or_else(|| internal("a value is not there yet"))?;
        let plan = &self.plan.values[value.0 as usize];
        if plan.rows.is_none() {
            return Ok(stored.clone());
        }
        let (first, count) = (tile.start * plan.elements, tile.rows * plan.elements);
        let view = View {
            offset: first as usize,
            dims: vec![(count as usize, 1)],
        };
        let share = Arc::new(stored.gather(&view, &View::whole(1)));
        tile.values.insert(value, share.clone());
        Ok(share)
    }

    /// The planes that a tape wants of an operand. A view of everything in order costs nothing.
    fn operand(&self, operand: &Operand, tile: &mut Tile<P>) -> Result<Arc<P::Share>, Fault> {
        let share = self.value(operand.value, tile)?;
        let (lanes, inner) = (operand.lanes.at(tile.rows), operand.inner.at(tile.rows));
        if inner.count() == 1 && inner.offset == 0 && lanes.is_whole(share.elements()) {
            return Ok(share);
        }
        Ok(Arc::new(share.gather(&lanes, &inner)))
    }

    fn produced(&self, share: &P::Share, out: &Produced) -> P::Share {
        let bits = u32::from(self.plan.values[out.value.0 as usize].bits);
        let planes = share.resize(out.first as usize, (out.inner * bits) as usize, false);
        if out.inner == 1 {
            planes
        } else {
            planes.spread(out.inner as usize)
        }
    }

    fn constant(&mut self, data: &Data, out: PlanValue) -> P::Share {
        let planes = usize::from(self.plan.values[out.0 as usize].bits);
        let bits = to_planes(&data.elements, planes);
        self.party.constant(planes, data.elements.len(), &bits)
    }

    /// The bits of the tile's part of an input, at its owner.
    fn input_bits(&self, input: u32, out: PlanValue, tile: &Tile<P>) -> Option<Vec<u8>> {
        let data = self.inputs[input as usize].as_ref()?;
        let plan = &self.plan.values[out.0 as usize];
        let rows = plan.rows.map_or(1, |_| tile.rows);
        let (first, count) = (tile.start * plan.elements, rows * plan.elements);
        let elements = &data.elements[first as usize..(first + count) as usize];
        Some(to_planes(elements, usize::from(plan.bits)))
    }

    fn share(&mut self, outcome: Outcome<P>) -> Result<P::Share, Fault> {
        match outcome {
            Outcome::Share(share, checks) => {
                self.checks.extend(checks);
                Ok(share)
            }
            Outcome::Revealed(_) => Err(internal("a step revealed what it should share")),
        }
    }

    fn count(&mut self, tape: TapeId, lanes: u64) {
        self.ands += self.plan.tapes[tape.0 as usize].ands.len() as u64 * lanes;
    }
}

/// Begins all steps, then flushes and advances until all are done: the only place that flushes.
fn drive<'s, P: Protocol + 's>(
    party: &mut P,
    mesh: &mut Mesh,
    steps: Vec<(u32, Step<'s, P>)>,
) -> Result<Vec<Outcome<P>>, Fault> {
    let mut begun = Vec::new();
    for (id, step) in steps {
        mesh.at_step(id);
        begun.push((id, Progress::More(party.begin(step, mesh)?)));
    }
    while begun
        .iter()
        .any(|(_, progress)| matches!(progress, Progress::More(_)))
    {
        mesh.flush()?;
        for (id, progress) in &mut begun {
            mesh.at_step(*id);
            let nothing = Progress::Done(Outcome::Revealed(vec![]));
            *progress = match std::mem::replace(progress, nothing) {
                Progress::More(pending) => party.advance(pending, mesh)?,
                done => done,
            };
        }
    }
    let outcome = |(_, progress)| match progress {
        Progress::Done(outcome) => Ok(outcome),
        Progress::More(_) => Err(internal("a step was left unfinished")),
    };
    begun.into_iter().map(outcome).collect()
}

fn internal(what: &str) -> Fault {
    Fault::Internal(what.to_string())
}
