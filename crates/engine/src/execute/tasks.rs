//! Execution of a call. Most calls run one step of the protocol; reductions, loops and networks run
//! a tape several times.

mod cross;
mod fold;
mod network;

use super::walker::Walker;
use super::{Result, ShareRef, internal};
use cross::Cross;
use fold::Fold;
use network::CompareExchange;
use sealane_parties::PartySet;
use sealane_party::{Factor, KeyBit, Opened, Shares, Step, Steps, Term};
use sealane_plan::flow::{Call, TileRun};
use sealane_plan::steps::{
    self, Len, Operand, PlanValue, Produced, Product, Rearrange, Rearrangement, Ring, Sort,
    SortKey, StepOp,
};
use sealane_program::types::RowId;
use sealane_protocol::{RingOp, View};
use std::sync::Arc;

/// State of a call between two steps of the protocol.
pub(super) enum Task<W: Steps> {
    /// A single step, whose result is written where the operation says.
    Once,
    /// Reduction.
    Fold(Fold<W>),
    /// Loop.
    Scan(Scan<W>),
    /// Network.
    CompareExchange(CompareExchange<W>),
    /// Elements that meet all rows of a table.
    Cross(Cross<W>),
    /// Combination of the result of a tile with the results of the tiles before it.
    Carry(PlanValue),
}

/// Loop with carried state; see [`StepOp::Scan`].
pub(super) struct Scan<W: Steps> {
    /// Index of the current iteration.
    index: usize,
    state: Vec<ShareRef<W>>,
    over: Vec<ShareRef<W>>,
    captured: Vec<ShareRef<W>>,
    /// Shares that the iterations have written, by output.
    written: Vec<Vec<W::Share>>,
}

/// Task with its first step; none for an operation that is finished without.
pub(super) type Started<'a, W> = Result<Option<(Task<W>, Step<'a, W>)>>;
/// The next step of a call, if there is one.
pub(super) type Next<'a, W> = Result<Option<Step<'a, W>>>;

impl<'a, W: Steps + 'a> Walker<'_, 'a, '_, '_, W> {
    /// Executes an operation that needs no step, or returns the task and its first step.
    pub(super) fn task(&mut self, call: &Call) -> Started<'a, W> {
        if call.carry {
            return self.carry();
        }
        if let Some((out, share)) = self.local()? {
            self.write_total(out, share)?;
            return Ok(None);
        }
        let rows = self.run.rows;
        let step = match self.op {
            StepOp::Input { input, out } => {
                let plan = &self.plan[out];
                let rows = plan.rows.map_or(1, |_| rows);
                Step::Input {
                    owner: self.plan.owners[*input as usize],
                    domain: plan.domain,
                    elements: (plan.elements * rows) as usize,
                    bits: plan.plain_bits() as usize,
                    values: self.input_words(*input, *out),
                }
            }
            StepOp::Convert { value, out } => {
                let from = &self.plan[value];
                Step::Convert {
                    from: from.domain,
                    to: self.domain(*out),
                    bits: from.bits.into(),
                    signed: from.signed,
                    share: self.value(*value)?,
                }
            }
            StepOp::Product(product) => {
                let mut left = self.selected(&product.left)?;
                let mut right = self.selected(&product.right)?;
                [left.numbers.known_to, right.numbers.known_to] = product.known_to;
                let domain = self.domain(product.out);
                Step::Product {
                    domain,
                    left,
                    right,
                }
            }
            StepOp::Ring(ring) => {
                let value = &self.plan[ring.of.value];
                let bit = ring.bit.as_ref().map(|bit| self.operand(bit));
                Step::Ring {
                    op: ring.op,
                    domain: value.domain,
                    bits: value.bits.into(),
                    signed: value.signed,
                    bit: bit.transpose()?,
                    share: self.operand(&ring.of)?,
                }
            }
            StepOp::Tape {
                tape,
                lanes,
                operands,
                outs,
            } => {
                let operands = self.operands(operands)?;
                self.run_tape(*tape, outs[0].value, count(lanes, rows), operands)
            }
            StepOp::Settle => Step::Settle {
                checks: std::mem::take(&mut self.settled),
            },
            StepOp::Reveal { value, result } => {
                let result = &self.plan.results[*result as usize];
                if !self.plan.in_tiles(result, self.rows) {
                    return Ok(None);
                }
                self.opening(*value, result.to)?
            }
            StepOp::Open { value, .. } => {
                self.opening(*value, PartySet::of(self.plan.setting.everyone()))?
            }
            StepOp::Fold(planned) => {
                let mut fold = Fold {
                    current: self.operand(&planned.operand)?,
                    length: planned.length.at(rows) as usize,
                    lanes: count(&planned.lanes, rows),
                    to: planned.to as usize,
                    level: 0,
                };
                let step = self.fold_step(planned, &mut fold)?;
                return Ok(step.map(|step| (Task::Fold(fold), step)));
            }
            StepOp::Scan(scan) => return self.begin_scan(scan),
            StepOp::CompareExchange(planned) => return self.begin_network(planned),
            StepOp::Cross(cross) => return self.begin_cross(cross),
            StepOp::Sort(sort) => {
                let columns = self.operands_of_all(&sort.over, sort.rows)?;
                let columns: Vec<_> = columns.iter().map(Arc::as_ref).collect();
                let out = sort.outs.first();
                let out = out.ok_or_else(|| internal("a sort of nothing"))?;
                Step::Sort {
                    domain: self.domain(*out),
                    key: self.key_bits(&sort.keys, &sort.over, &columns),
                    share: Arc::new(W::Share::concatenate(&columns)),
                }
            }
            _ => return Err(internal("an operation is neither a step nor local")),
        };
        Ok(Some((Task::Once, step)))
    }

    /// Value and share of the result of an operation that needs no step; none for others.
    fn local(&mut self) -> Result<Option<(PlanValue, W::Share)>> {
        let TileRun { start, rows, .. } = self.run;
        Ok(Some(match self.op {
            StepOp::Constant { data, out } => (*out, self.constant(&data.elements, *out)),
            StepOp::Move { operand, out } => {
                let inner = operand.inner.count(rows) as usize;
                (*out, self.operand(operand)?.spread(inner))
            }
            StepOp::RowNumber { out } => {
                let numbers = (start..start + rows).collect::<Vec<_>>();
                (*out, self.constant(&numbers, *out))
            }
            StepOp::Rearrange(step) => (step.out, self.rearranged(step)?),
            StepOp::Append { parts, out, .. } => (*out, self.appended(parts)?),
            StepOp::Concat { parts, out } => {
                let elements = parts.iter().map(|part| part.inner.count(rows)).sum::<u64>();
                let parts = self.operands(parts)?;
                let parts: Vec<_> = parts.iter().map(Arc::as_ref).collect();
                let share = W::Share::concatenate(&parts).spread(elements as usize);
                (*out, share)
            }
            StepOp::Linear(sum) => {
                let lanes = count(&sum.lanes, rows);
                (sum.out, self.linear(&sum.terms, sum.out, lanes)?)
            }
            _ => return Ok(None),
        }))
    }

    /// The step that opens a value.
    fn opening(&mut self, value: PlanValue, to: PartySet) -> Result<Step<'a, W>> {
        let (share, domain) = (self.value(value)?, self.domain(value));
        let results = vec![Opened { share, domain, to }];
        Ok(Step::Open { results })
    }

    /// Consumes the result of a step; returns the next step, if there is one.
    pub(super) fn next(&mut self, task: &mut Task<W>, share: W::Share) -> Next<'a, W> {
        match task {
            Task::Once => {
                match self.op {
                    StepOp::Tape { outs, .. } => {
                        for out in outs {
                            let part = self.produced(&share, out);
                            self.write(out.value, part)?;
                        }
                    }
                    StepOp::Input { out, .. }
                    | StepOp::Convert { out, .. }
                    | StepOp::Product(Product { out, .. }) => self.write(*out, share)?,
                    StepOp::Ring(Ring { op, out, .. }) => {
                        let share = match *op {
                            RingOp::Extract { first, .. } => {
                                let below = W::Share::zeros(first.into(), share.elements());
                                let bits = self.plan[out].bits;
                                let both = W::Share::concatenate(&[&below, &share]);
                                both.resize(0, bits.into(), false)
                            }
                            RingOp::Select | RingOp::Floor { .. } => share,
                        };
                        self.write(*out, share)?
                    }
                    StepOp::Sort(Sort { over, outs, .. }) => {
                        let mut first = 0;
                        for (out, operand) in outs.iter().zip(over) {
                            let inner = operand.inner.count(self.run.rows) as usize;
                            let bits = usize::from(self.plan[out].bits);
                            let column = share.resize(first, inner * bits, false);
                            first += inner * bits;
                            self.write(*out, in_elements(column, inner))?;
                        }
                    }
                    _ => return Err(internal("an operation that runs no step ran one")),
                }
                Ok(None)
            }
            Task::Carry(out) => {
                self.state.values.store(*out, Arc::new(share));
                Ok(None)
            }
            Task::Fold(fold) => {
                let StepOp::Fold(planned) = self.op else {
                    return Err(internal("not a fold"));
                };
                fold.level(share, &planned.bits, planned.signed);
                self.fold_step(planned, fold)
            }
            Task::Scan(scan) => {
                let StepOp::Scan(planned) = self.op else {
                    return Err(internal("not a scan"));
                };
                self.end_iteration(planned, scan, &share);
                self.iteration(planned, scan)
            }
            Task::CompareExchange(network_step) => {
                network_step.end_stage(&share)?;
                self.stage(network_step)
            }
            Task::Cross(cross) => self.cross_step(cross, share),
        }
    }

    /// Consumes the columns of a stage of a network; returns the next step, if there is one.
    pub(super) fn next_stage(&mut self, task: &mut Task<W>, columns: Vec<W::Share>) -> Next<'a, W> {
        let Task::CompareExchange(network_step) = task else {
            return Err(internal("columns of a step that is no network"));
        };
        network_step.end_in_place(columns)?;
        self.stage(network_step)
    }

    /// Combines the result of a tile with the results of the tiles before it.
    fn carry(&mut self) -> Started<'a, W> {
        let Some(out) = self.op.writes().first().copied() else {
            return Err(internal("a step that carries writes nothing"));
        };
        let (before, partial) = self.carried(out)?;
        let Some(before) = before else {
            self.state.values.store(out, partial);
            return Ok(None);
        };
        let lanes = partial.elements();
        let unplanned = || internal("a second tile where none was planned");
        match self.op {
            StepOp::Fold(fold) => {
                let tape = fold.carry.ok_or_else(unplanned)?;
                let step = self.run_tape(tape, out, lanes, vec![before, partial]);
                Ok(Some((Task::Carry(out), step)))
            }
            StepOp::Linear(_) => {
                let domain = self.domain(out);
                let terms = [&before, &partial].map(|share| Term {
                    share: share.as_ref(),
                    factor: Factor::Number(1),
                });
                let sum = self.party.linear(domain, lanes, &terms)?;
                self.state.values.store(out, Arc::new(sum));
                Ok(None)
            }
            _ => Err(unplanned()),
        }
    }

    fn begin_scan(&mut self, planned: &steps::Scan) -> Started<'a, W> {
        let mut state = Vec::new();
        for (init, carry) in planned.init.iter().zip(&planned.carries) {
            let bits = usize::from(self.plan[carry].bits);
            // The tile before this one stored the state under the name of the final state.
            let before = self
                .state
                .values
                .stored(*carry)
                .filter(|_| self.op.in_order());
            state.push(match before {
                Some(share) => share,
                None => {
                    let signed = self.plan[init].signed;
                    Arc::new(self.value(*init)?.resize(0, bits, signed))
                }
            });
        }
        let mut scan = Scan {
            index: 0,
            state,
            captured: self.captured(&planned.captured)?,
            over: self.operands(&planned.over)?,
            written: planned.outs.iter().map(|_| Vec::new()).collect(),
        };
        let step = self.iteration(planned, &mut scan)?;
        Ok(step.map(|step| (Task::Scan(scan), step)))
    }

    /// Returns the next iteration of a loop; after the last one, writes its outputs.
    fn iteration(&mut self, planned: &steps::Scan, scan: &mut Scan<W>) -> Next<'a, W> {
        let (carries, outs) = (&planned.carries, &planned.outs);
        if scan.index < planned.length.at(self.run.rows) as usize {
            let element = View::new(scan.index, vec![]);
            let state = scan.state.iter().map(|share| one_lane::<W>(share));
            let element = |share: &ShareRef<W>| share.gather(&element, &View::whole(1));
            let over = scan.over.iter().map(|share| Arc::new(element(share)));
            let captured = scan.captured.iter().cloned();
            let operands = state.chain(over).chain(captured).collect();
            let out = carries.first().copied();
            let out = out.unwrap_or_else(|| outs[0].value);
            return Ok(Some(self.run_tape(planned.tape, out, 1, operands)));
        }
        for (out, parts) in outs.iter().zip(&scan.written) {
            let parts = parts.iter().collect::<Vec<_>>();
            self.write(out.value, W::Share::concat(&parts))?;
        }
        for (carry, share) in carries.iter().zip(scan.state.drain(..)) {
            if self.op.in_order() {
                self.state.values.store(*carry, share)
            } else {
                self.write(*carry, share)?
            }
        }
        Ok(None)
    }

    /// Consumes the result of an iteration: the next state, and the outputs of the iteration.
    fn end_iteration(&self, planned: &steps::Scan, scan: &mut Scan<W>, result: &W::Share) {
        let mut first = 0;
        for (share, carry) in scan.state.iter_mut().zip(&planned.carries) {
            let plan = &self.plan[carry];
            let out = Produced {
                value: *carry,
                first,
                inner: plan.elements as u32,
            };
            *share = Arc::new(self.produced(result, &out));
            first += out.inner * u32::from(plan.bits);
        }
        for (parts, out) in scan.written.iter_mut().zip(&planned.outs) {
            parts.push(self.produced(result, out));
        }
        scan.index += 1;
    }

    /// The rows of tables under one another.
    fn appended(&mut self, parts: &[(RowId, Operand)]) -> Result<W::Share> {
        let rows = parts.iter().map(|(table, operand)| {
            let all = self.selected_of_all(operand, Some(*table))?;
            let (inner, rows) = (all.inner.count(), all.gathered());
            Ok(match inner {
                1 => rows,
                _ => Arc::new(rows.spread(inner)),
            })
        });
        let rows = rows.collect::<Result<Vec<_>>>()?;
        let rows = rows.iter().map(Arc::as_ref).collect::<Vec<_>>();
        Ok(W::Share::concat(&rows))
    }

    /// The rows of a table in other places.
    fn rearranged(&mut self, step: &Rearrange) -> Result<W::Share> {
        let all = self.selected_of_all(&step.operand, Some(step.rows))?;
        let share = all.gathered();
        let inner = all.inner.count();
        let (rows, planes) = (share.elements(), share.planes());
        let part = |offset: usize, count: usize| {
            let view = View::new(offset, vec![(count, 1)]);
            share.gather(&view, &View::whole(1))
        };
        let moved = match step.how {
            Rearrangement::Roll(by) => {
                let first = (-by).rem_euclid(rows as i64) as usize;
                W::Share::concat(&[&part(first, rows - first), &part(0, first)])
            }
            Rearrangement::Head(len) => {
                let there = rows.min(len as usize);
                let zeros = W::Share::zeros(planes, len as usize - there);
                W::Share::concat(&[&part(0, there), &zeros])
            }
        };
        Ok(in_elements(moved, inner))
    }

    /// The bits of the keys of a sort in rows that consist of these columns, lowest first.
    fn key_bits(&self, keys: &[SortKey], over: &[Operand], columns: &[&W::Share]) -> Vec<KeyBit> {
        let key = |key: &SortKey| {
            let (at, descending) = (key.operand as usize, key.descending);
            let first = columns[..at].iter().map(|column| column.planes());
            let first = first.sum::<usize>();
            let value = &self.plan[over[at].value];
            let (bits, signed) = (usize::from(value.bits), value.signed);
            (0..bits).map(move |bit| KeyBit {
                plane: first + bit,
                // Two's complement has the ones of its highest bit first.
                inverted: descending != (signed && bit + 1 == bits),
            })
        };
        keys.iter().rev().flat_map(key).collect()
    }
}

/// Planes of `inner` elements a lane as neighbouring elements.
pub(super) fn in_elements<S: Shares>(share: S, inner: usize) -> S {
    match inner {
        1 => share,
        _ => share.spread(inner),
    }
}

fn count(lanes: &[Len], rows: u64) -> usize {
    steps::lanes(lanes, rows) as usize
}

/// Reshapes all elements into the planes of one lane.
pub(super) fn one_lane<W: Steps>(share: &W::Share) -> ShareRef<W> {
    Arc::new(share.gather(&View::whole(1), &View::whole(share.elements())))
}
