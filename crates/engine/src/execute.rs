//! Runs the steps of a plan over a mesh, for one party of any protocol.
//!
//! The engine moves shares between steps, walks tiles of rows, and is the only one that flushes:
//! all steps of a batch write, then the messages leave, then all steps read. What it does here is
//! what `plan::cost` adds up; the two files are to be read side by side.

mod loops;
#[cfg(test)]
mod tests;
mod values;

use crate::bits::from_planes;
use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_plan::steps::{Plan, PlanValue, Segment, Step as PlanStep, StepOp};
use sealane_program::types::Data;
use sealane_protocol::{Demand, Fault, Outcome, Progress, Protocol, Shares, Step};
use std::collections::HashMap;
use std::sync::Arc;
use zeroize::Zeroizing;

/// What one party brings to a run.
pub(crate) struct Start<'a> {
    /// Row counts, as the handshake settled them.
    pub rows: &'a [u64],
    /// This party's inputs, by index of the plan's inputs.
    pub inputs: Vec<Option<&'a Data>>,
    pub demand: &'a Demand,
    pub cpu: Cpu,
    pub coins: Coins,
    /// Called after each batch with AND gates done so far.
    pub progress: &'a mut dyn FnMut(u64),
}

/// Runs a plan to its end. For each result: its elements, if this party learns it.
pub(crate) fn execute<P: Protocol>(
    plan: &Plan,
    start: Start<'_>,
    mesh: &mut Mesh,
) -> Result<Vec<Option<Data>>, Fault> {
    let Start {
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
    plan: &'a Plan,
    rows: &'a [u64],
    inputs: Vec<Option<&'a Data>>,
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
            begun.push((
                *id,
                self.step(op, shares, bits.as_ref().map(|bits| bits.as_slice()), tile)?,
            ));
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
                    owner: self.plan.owners[*input as usize],
                    elements: (plan.elements * rows) as usize,
                    planes: usize::from(plan.bits),
                    bits,
                }
            }
            _ => return Err(internal("a step that does not share flights was batched")),
        })
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
            // What a party computes alone is as secret as what it brought.
            data.push(bits.map(Zeroizing::new).map(|bits| Data {
                ty: result.ty,
                shape,
                elements: from_planes(&bits, usize::from(plan.bits), plan.signed),
            }));
        }
        Ok(data)
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
