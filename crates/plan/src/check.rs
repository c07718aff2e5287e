//! Invariants of every plan, checked before anything relies on them.
//!
//! * Every value is written by one step, before it is read; the result of a reduction or scan over
//!   rows is read in later segments.
//! * Rows are read in segments over their table; a value that is read in another segment is kept.
//! * Every view stays inside of its value, for a full tile and for a single row.
//! * Widths fit: operands and tapes, outputs and values, the levels of a fold.
//! * Every step finds its operands in the domain that the protocol requires, and leaves its result
//!   in the domain that the protocol states.

use crate::cross::LANES;
use crate::steps::{
    Len, LinearFactor, LinearTerm, Operand, Plan, PlanValue, Produced, Rearrangement, Segment,
    Step, StepOp, SymView, TapeId,
};
use crate::uses::StepKind;
use sealane_circuit::Tape;
use sealane_program::types::RowId;
use sealane_protocol::{Algebra, Domain, Protocol, TapeUse, Timing};

/// Checks a plan for protocol `P`; returns the first violation.
pub(crate) fn check<P: Protocol>(plan: &Plan) -> Result<(), String> {
    for (index, tape) in plan.tapes.iter().enumerate() {
        tape.check()
            .map_err(|error| format!("tape {index}: {error}"))?;
    }
    let mut checker = Checker {
        plan,
        made: vec![Made::No; plan.values.len()],
        segment: 0,
    };
    for (number, segment) in plan.segments.iter().enumerate() {
        checker.segment = number;
        for step in &segment.steps {
            let reported = |what: String| format!("`{}` in segment {number}: {what}", step.label);
            checker.reads(segment, step).map_err(reported)?;
            checker.widths(segment, step).map_err(reported)?;
            checker.domains::<P>(step).map_err(reported)?;
            checker.writes(segment, step).map_err(reported)?;
        }
    }
    checker.results::<P>()?;
    checker.settled::<P>()
}

/// Time at which a value was written.
#[derive(Clone, Copy, PartialEq)]
enum Made {
    No,
    /// In this segment; with `after`, the value can be read only in later segments.
    In {
        segment: usize,
        after: bool,
    },
}

struct Checker<'a> {
    plan: &'a Plan,
    made: Vec<Made>,
    segment: usize,
}

impl Checker<'_> {
    fn reads(&self, segment: &Segment, step: &Step) -> Result<(), String> {
        let mut used = step.op.reads().into_iter().chain(step.op.writes());
        let exist = used.all(|v| (v.0 as usize) < self.made.len());
        ensure(exist, "a value does not exist")?;
        for value in step.op.reads() {
            let known = self.value(value);
            let Made::In {
                segment: made,
                after,
            } = self.made[value.0 as usize]
            else {
                return Err(format!("v{} is read before it is written", value.0));
            };
            let here = made == self.segment;
            ensure(!here || !after, "an operand is not there yet")?;
            // Rows that each element meets are there from a walk before.
            let met = match &step.op {
                StepOp::Cross { across, .. } => across.iter().any(|row| row.value == value),
                _ => false,
            };
            ensure(!here || !met, "all rows of a walk, in that walk")?;
            let there = here || known.rows.is_none() || known.kept;
            ensure(there, "an operand has not been kept")?;
            ensure(walks(segment, step, known.rows), "rows of another table")?;
        }
        let walks = matches!(step.op, StepOp::Cross { .. });
        let once = walks || step.op.all_rows().is_empty() || segment.rows.is_none();
        ensure(once, "all rows at once, in a walk over rows")
    }

    fn writes(&mut self, segment: &Segment, step: &Step) -> Result<(), String> {
        for out in step.op.writes() {
            let known = &self.plan.values[out.0 as usize];
            let made = &mut self.made[out.0 as usize];
            ensure(*made == Made::No, "a value is written twice")?;
            // A value without rows that a step over rows makes is available at the end of the
            // segment.
            let ends = step.op.carries() || step.op.kind() == StepKind::Scan;
            let after = known.rows.is_none() && segment.rows.is_some();
            let walked = !after || ends;
            ensure(
                walked,
                "a step in the rows of a table makes a value without rows",
            )?;
            let carried = after || !step.op.carries();
            ensure(carried, "what is carried from tile to tile has rows")?;
            ensure(walks(segment, step, known.rows), "rows of another table")?;
            *made = Made::In {
                segment: self.segment,
                after,
            };
        }
        Ok(())
    }

    fn widths(&self, segment: &Segment, step: &Step) -> Result<(), String> {
        if let StepOp::Append { parts, rows, out } = &step.op {
            return self.append(parts, *rows, *out);
        }
        let met = match &step.op {
            // Its elements are those of the walk, or of a fixed number.
            StepOp::Cross { .. } => None,
            op => op.all_rows().first().copied(),
        };
        let rows = match segment.rows.or(met) {
            Some(rows) => {
                let rows = self
                    .plan
                    .rows
                    .get(usize::from(rows.0))
                    .ok_or("unknown rows")?;
                match segment.rows {
                    Some(_) => vec![1, rows.tile.min(rows.bound)],
                    None => vec![1, rows.bound],
                }
            }
            None => vec![1],
        };
        rows.iter().try_for_each(|&rows| self.widths_at(rows, step))
    }

    /// Checks that all widths fit in a tile of `rows` rows.
    fn widths_at(&self, rows: u64, step: &Step) -> Result<(), String> {
        match &step.op {
            StepOp::Input { input, .. } => ensure(
                (*input as usize) < self.plan.owners.len(),
                "an unknown input",
            ),
            StepOp::Constant { data, out } => ensure(
                data.elements.len() as u64 == self.elements(*out, rows),
                "a constant's size",
            ),
            StepOp::Move { operand, out } => {
                let count = self.within(operand, rows)? * operand.inner.count(rows);
                let fills = count == self.elements(*out, rows);
                ensure(fills, "what is moved does not fill its value")?;
                let same = self.bits(operand.value) == self.bits(*out);
                ensure(same, "a move changes a width")
            }
            StepOp::Concat { parts, out } => {
                let mut count = 0;
                let mut lanes = None;
                for part in parts {
                    let own = self.within(part, rows)?;
                    ensure(*lanes.get_or_insert(own) == own, "parts of different lanes")?;
                    count += own * part.inner.count(rows);
                }
                let fills = count == self.elements(*out, rows);
                ensure(fills, "the parts do not fill their value")?;
                let planes = |value: PlanValue| self.value(value).planes();
                let same = parts.iter().all(|part| planes(part.value) == planes(*out));
                ensure(same, "parts of different widths")
            }
            StepOp::RowNumber { out } => {
                let value = self.value(*out);
                let one_each = value.rows.is_some() && value.elements == 1;
                ensure(one_each, "numbers of what are not rows")
            }
            StepOp::Rearrange {
                how, operand, out, ..
            } => {
                let there = self.within(operand, rows)?;
                ensure(there == rows, "rows of another number")?;
                let after = match how {
                    Rearrangement::Roll(_) => rows,
                    Rearrangement::Head(len) => *len,
                };
                let fills = after * operand.inner.count(rows) == self.elements(*out, rows);
                ensure(fills, "what is moved does not fill its value")?;
                let same = self.bits(operand.value) == self.bits(*out);
                ensure(same, "a move changes a width")
            }
            StepOp::CompareExchange { .. } => self.compare_exchange(rows, step),
            StepOp::Cross { .. } => self.cross(rows, step),
            StepOp::Sort { .. } => self.sort(rows, step),
            // Each table has rows of its own number: see `append`.
            StepOp::Append { .. } | StepOp::Settle | StepOp::Reveal { .. } => Ok(()),
            StepOp::Convert { value, out } | StepOp::Open { value, out } => {
                let (from, to) = (self.value(*value), self.value(*out));
                let same = (from.rows, from.elements, from.bits) == (to.rows, to.elements, to.bits);
                ensure(same, "a conversion changes a shape")
            }
            StepOp::Tape {
                tape,
                lanes,
                operands,
                outs,
            } => {
                let lanes = count(lanes, rows);
                let tape = self.tape(*tape)?;
                let mut inputs = 0;
                for operand in operands {
                    let same = self.within(operand, rows)? == lanes;
                    ensure(same, "an operand has other lanes")?;
                    inputs += operand.inner.count(rows) * self.bits(operand.value);
                }
                let fills = inputs == u64::from(tape.inputs);
                ensure(fills, "operands do not fill the tape's inputs")?;
                self.produced(tape, outs, lanes, rows)
            }
            StepOp::Linear {
                terms, lanes, out, ..
            } => {
                terms
                    .iter()
                    .try_for_each(|term| self.term(term, lanes, rows))?;
                self.fills(lanes, *out, rows)
            }
            StepOp::Product {
                left,
                right,
                lanes,
                out,
            } => {
                let lengths = [left, right].map(|operand| operand.inner.count(rows));
                ensure(lengths[0] == lengths[1], "factors of different lengths")?;
                for operand in [left, right] {
                    let same = self.within(operand, rows)? == count(lanes, rows);
                    ensure(same, "an operand has other lanes")?;
                }
                self.fills(lanes, *out, rows)
            }
            StepOp::Fold { .. } => self.fold(rows, step),
            StepOp::Scan { .. } => self.scan(rows, step),
        }
    }

    /// Checks rows of tables under one another, with a single row and with the most rows of each.
    fn append(
        &self,
        parts: &[(RowId, Operand)],
        rows: RowId,
        out: PlanValue,
    ) -> Result<(), String> {
        let table = |rows: RowId| {
            self.plan
                .rows
                .get(usize::from(rows.0))
                .ok_or("unknown rows")
        };
        let mut sum = Vec::new();
        for (part, operand) in parts {
            let known = table(*part)?;
            for rows in [1, known.bound] {
                let same = self.within(operand, rows)? == rows;
                ensure(same, "rows of another number")?;
                let same = operand.inner.count(rows) == self.value(out).elements;
                ensure(same, "rows of another length")?;
            }
            let of = self.value(operand.value);
            ensure(of.rows == Some(*part), "rows of another table")?;
            let same = of.planes() == self.value(out).planes();
            ensure(same, "rows of different widths")?;
            if known.sum.is_empty() {
                sum.push(*part)
            } else {
                sum.extend(&known.sum)
            }
        }
        let adds_up = table(rows)?.sum == sum && self.value(out).rows == Some(rows);
        ensure(adds_up, "rows under one another have another number")
    }

    fn term(&self, term: &LinearTerm, lanes: &[Len], rows: u64) -> Result<(), String> {
        let operand = &term.operand;
        let same = self.within(operand, rows)? == count(lanes, rows);
        ensure(same, "an operand has other lanes")?;
        if let LinearFactor::Table { data, lanes, inner } = &term.factor {
            let same = lanes.count(rows) == operand.lanes.count(rows)
                && inner.count(rows) == operand.inner.count(rows);
            ensure(same, "not a factor for each element")?;
            let inside = inside(lanes, inner, rows, data.elements.len() as u64);
            ensure(inside, "a view leaves its table of factors")?;
        }
        Ok(())
    }

    /// Returns whether a value has one element for each lane.
    fn fills(&self, lanes: &[Len], out: PlanValue, rows: u64) -> Result<(), String> {
        let same = count(lanes, rows) == self.elements(out, rows);
        ensure(same, "lanes do not fill their value")
    }

    fn fold(&self, rows: u64, step: &Step) -> Result<(), String> {
        let StepOp::Fold {
            operand,
            length,
            lanes,
            levels,
            bits,
            carry,
            out,
            ..
        } = &step.op
        else {
            return Ok(());
        };
        let (count, lanes) = (length.at(rows), self::count(lanes, rows));
        let whole = self.within(operand, rows)? == count * lanes;
        ensure(whole, "the operand has other elements")?;
        let one_each = lanes == self.elements(*out, rows);
        ensure(one_each, "the result has other elements")?;
        let enough = bits.len() == levels.len() + 1;
        ensure(enough, "a width for each level and one more")?;
        let enough = levels.len() < 64 && count <= 1 << levels.len();
        ensure(enough, "too few levels")?;
        let width = |at: usize| bits.get(at).copied().map_or(0, u64::from);
        let same = width(0) == self.bits(operand.value);
        ensure(same, "the operand has another width")?;
        let same = width(levels.len()) == self.bits(*out);
        ensure(same, "the result has another width")?;
        self.tree(levels, bits, *carry)
    }

    /// Checks the tapes of a tree: one for each level, between its widths.
    fn tree(&self, levels: &[TapeId], bits: &[u8], carry: Option<TapeId>) -> Result<(), String> {
        let width = |at: usize| bits.get(at).copied().map_or(0, u64::from);
        for (level, tape) in levels.iter().enumerate() {
            self.combines(*tape, width(level), width(level + 1))?;
        }
        carry.map_or(Ok(()), |tape| {
            self.combines(tape, width(levels.len()), width(levels.len()))
        })
    }

    /// Checks reductions of all rows for each element, with a single row and with the most rows.
    fn cross(&self, rows: u64, step: &Step) -> Result<(), String> {
        let StepOp::Cross {
            rows: table,
            length,
            tape,
            over,
            across,
            captured,
            outs,
        } = &step.op
        else {
            return Ok(());
        };
        let (tape, length) = (self.tape(*tape)?, length.at(rows));
        let table = self.plan.rows.get(usize::from(table.0));
        let most = table.ok_or("unknown rows")?.bound;
        let mut inputs = 0;
        for operand in over {
            let there = self.within(operand, rows)? == length;
            ensure(there, "an operand has other elements")?;
            inputs += operand.inner.count(rows) * self.bits(operand.value);
        }
        for operand in across {
            for all in [1, most] {
                ensure(self.within(operand, all)? == all, "rows of another number")?;
            }
            inputs += operand.inner.count(1) * self.bits(operand.value);
        }
        let whole = |value: &PlanValue| self.elements(*value, rows) * self.bits(*value);
        inputs += captured.iter().map(whole).sum::<u64>();
        let fills = inputs == u64::from(tape.inputs);
        ensure(fills, "operands do not fill the tape's inputs")?;
        for out in outs {
            let width = |at: Option<&u8>| at.copied().map_or(0, u64::from);
            let inner = u64::from(out.inner);
            let end = u64::from(out.first) + inner * width(out.bits.first());
            let inside = end <= tape.outputs.len() as u64;
            ensure(inside, "a result beyond the tape's outputs")?;
            let fills = length * inner == self.elements(out.value, rows);
            ensure(fills, "the result has other elements")?;
            let last = width(out.bits.last()) == self.bits(out.value);
            ensure(last, "the result has another width")?;
            let levels = out.levels.len();
            let enough = levels < 64 && LANES <= 1 << levels && out.bits.len() == levels + 1;
            ensure(
                enough,
                "too few levels, or not a width for each and one more",
            )?;
            self.tree(&out.levels, &out.bits, Some(out.carry))?;
        }
        Ok(())
    }

    fn combines(&self, tape: TapeId, from: u64, to: u64) -> Result<(), String> {
        let tape = self.tape(tape)?;
        let fits = u64::from(tape.inputs) == 2 * from && tape.outputs.len() as u64 == to;
        ensure(fits, "a level's tape has other widths")
    }

    fn scan(&self, rows: u64, step: &Step) -> Result<(), String> {
        let StepOp::Scan {
            tape,
            length,
            init,
            over,
            captured,
            carries,
            outs,
        } = &step.op
        else {
            return Ok(());
        };
        let (tape, length) = (self.tape(*tape)?, length.at(rows));
        let whole = |value: &PlanValue| self.elements(*value, rows) * self.bits(*value);
        let carried = init.iter().map(whole).sum::<u64>();
        let mut inputs = carried + captured.iter().map(whole).sum::<u64>();
        for operand in over {
            let whole = self.within(operand, rows)? == length;
            ensure(whole, "an operand has other elements")?;
            inputs += operand.inner.count(rows) * self.bits(operand.value);
        }
        let fills = inputs == u64::from(tape.inputs);
        ensure(fills, "operands do not fill the tape's inputs")?;
        let same = init.len() == carries.len()
            && init.iter().zip(carries).all(|(a, b)| {
                let shape = |v: &PlanValue| (self.elements(*v, rows), self.value(*v).bits);
                shape(a) == shape(b) && self.value(*a).rows.is_none()
            });
        ensure(same, "carries change their shape")?;
        let enough = tape.outputs.len() as u64 >= carried;
        ensure(enough, "the tape has too few outputs")?;
        self.produced(tape, outs, length, rows)
    }

    fn compare_exchange(&self, rows: u64, step: &Step) -> Result<(), String> {
        let StepOp::CompareExchange {
            network,
            tape,
            length,
            over,
            captured,
            outs,
            ..
        } = &step.op
        else {
            return Ok(());
        };
        let tape = self.tape(*tape)?;
        let planes = self.moves(over, outs, length.at(rows), rows)?;
        let whole = |value: &PlanValue| self.elements(*value, rows) * self.bits(*value);
        let inputs = 2 * planes + captured.iter().map(whole).sum::<u64>();
        let fills = inputs == u64::from(tape.inputs);
        ensure(fills, "operands do not fill the tape's inputs")?;
        let written = network.writes().into_iter().filter(|writes| *writes);
        let written = written.count();
        let fills = planes * written as u64 == tape.outputs.len() as u64;
        ensure(fills, "the tape has other outputs")
    }

    fn sort(&self, rows: u64, step: &Step) -> Result<(), String> {
        let StepOp::Sort {
            keys,
            length,
            over,
            outs,
            ..
        } = &step.op
        else {
            return Ok(());
        };
        self.moves(over, outs, length.at(rows), rows)?;
        ensure(!keys.is_empty(), "a sort has no key")?;
        for key in keys {
            let one = over.get(key.operand as usize);
            let one = one.is_some_and(|operand| operand.inner.count(rows) == 1);
            ensure(one, "a key is not one number of each element")?;
        }
        Ok(())
    }

    /// Checks that all elements of each operand fill a result of its own; returns the bits of an
    /// element of all.
    fn moves(
        &self,
        over: &[Operand],
        outs: &[PlanValue],
        length: u64,
        rows: u64,
    ) -> Result<u64, String> {
        let mut planes = 0;
        ensure(over.len() == outs.len(), "not a result for each operand")?;
        for (operand, out) in over.iter().zip(outs) {
            let there = self.within(operand, rows)? == length;
            ensure(there, "an operand has other elements")?;
            let inner = operand.inner.count(rows);
            planes += inner * self.bits(operand.value);
            let fills = length * inner == self.elements(*out, rows);
            ensure(fills, "the result has other elements")?;
            let same = self.bits(operand.value) == self.bits(*out);
            ensure(same, "elements that move change their width")?;
        }
        Ok(planes)
    }

    /// Checks that the outputs of a tape on `lanes` lanes match the values that they are written
    /// to.
    fn produced(
        &self,
        tape: &Tape,
        outs: &[Produced],
        lanes: u64,
        rows: u64,
    ) -> Result<(), String> {
        for out in outs {
            let inner = u64::from(out.inner);
            let end = u64::from(out.first) + inner * self.bits(out.value);
            let inside = end <= tape.outputs.len() as u64;
            ensure(inside, "a result beyond the tape's outputs")?;
            let fills = lanes * inner == self.elements(out.value, rows);
            ensure(fills, "a tape does not fill its value")?;
        }
        Ok(())
    }

    /// Checks that a view stays inside of its value; returns its number of lanes.
    fn within(&self, operand: &Operand, rows: u64) -> Result<u64, String> {
        let elements = self.elements(operand.value, rows);
        let within = inside(&operand.lanes, &operand.inner, rows, elements);
        ensure(within, "a view leaves its value")?;
        let mut dims = operand.lanes.dims.iter().chain(&operand.inner.dims);
        let by_rows = dims.any(|(len, _)| *len == Len::Rows);
        let value = self.value(operand.value);
        let walked = by_rows || value.rows.is_none();
        ensure(walked, "rows are read without walking them")?;
        Ok(operand.lanes.count(rows))
    }

    fn domains<P: Protocol>(&self, step: &Step) -> Result<(), String> {
        let of = |value: &PlanValue| self.value(*value).domain;
        let (reads, writes) = (step.op.reads(), step.op.writes());
        let all = |domain: Domain| {
            let same = reads.iter().chain(&writes).all(|value| of(value) == domain);
            ensure(same, "an operand is not in the domain that is wanted")
        };
        match &step.op {
            StepOp::Tape { .. } | StepOp::CompareExchange { .. } | StepOp::Cross { .. } => {
                all(P::tape_domain(TapeUse::Map))
            }
            StepOp::Sort { .. } => {
                ensure(P::sorts(), "a sort without a network")?;
                all(P::domain(Algebra::Z2))
            }
            StepOp::Fold { .. } => all(P::tape_domain(TapeUse::Fold)),
            StepOp::Scan { .. } => all(P::tape_domain(TapeUse::Scan)),
            StepOp::Linear { out, .. } | StepOp::Product { out, .. } => {
                let algebra = of(out).algebra;
                let rings = P::profile().arithmetic && algebra != Algebra::Z2;
                ensure(rings, "arithmetic on bits")?;
                all(P::domain(algebra))
            }
            StepOp::Move { out, .. }
            | StepOp::Rearrange { out, .. }
            | StepOp::Append { out, .. }
            | StepOp::Concat { out, .. } => all(of(out)),
            StepOp::Input { out, .. } => ensure(
                of(out) == P::input_domain(of(out).algebra),
                "an input arrives elsewhere",
            ),
            StepOp::Constant { out, .. } | StepOp::RowNumber { out } => {
                all(P::domain(of(out).algebra))
            }
            StepOp::Convert { value, out } => {
                ensure(of(value) != of(out), "a conversion within one domain")
            }
            StepOp::Settle => Ok(()),
            StepOp::Reveal { value, result } => {
                let result = self.plan.results.get(*result as usize);
                let its = result.is_some_and(|result| result.by_tile && result.value == *value);
                ensure(its, "a tile is opened that is no part of its result")?;
                let early = !P::profile().settles && !P::profile().offline;
                ensure(early, "a tile is opened whose checks are not settled")
            }
            StepOp::Open { value, out } => {
                let algebra = of(value).algebra;
                ensure(of(value) == P::domain(algebra), "an opening elsewhere")?;
                self.settled_before(*value, step)?;
                let (from, to) = (self.value(*value), self.value(*out));
                let same = (from.domain, from.signed) == (to.domain, to.signed);
                ensure(same, "an opening changes a value")
            }
        }
    }

    /// Checks that an opening stands in a segment that runs once, behind a settlement, and that the
    /// step which makes its value stands before that settlement.
    fn settled_before(&self, value: PlanValue, open: &Step) -> Result<(), String> {
        let segment = &self.plan.segments[self.segment];
        ensure(segment.rows.is_none(), "an opening in a walk over rows")?;
        let before = segment.steps.iter();
        let before = before.take_while(|step| !std::ptr::eq(*step, open));
        let before = before.collect::<Vec<_>>();
        let mut settle = before.iter();
        let settle = settle.rposition(|step| matches!(step.op, StepOp::Settle));
        let settle = settle.ok_or("an opening without a settlement")?;
        let late = before[settle..].iter().flat_map(|step| step.op.writes());
        let settled = late.into_iter().all(|made| made != value);
        ensure(settled, "a value is opened whose checks are not settled")
    }

    /// Checks that tiles settle their checks, and that a protocol has an offline walk exactly if
    /// its profile says so.
    fn settled<P: Protocol>(&self) -> Result<(), String> {
        let profile = P::profile();
        for segment in self.plan.segments.iter().filter(|_| profile.settles) {
            let mut steps = segment.steps.iter();
            let settles = steps.any(|step| matches!(step.op, StepOp::Settle));
            ensure(settles, "checks of a tile stay open")?;
        }
        let offline = self.plan.setting.timing != Timing::CountsAlone;
        let same = offline == profile.offline;
        ensure(same, "an offline walk too many or too few")
    }

    fn results<P: Protocol>(&self) -> Result<(), String> {
        for result in &self.plan.results {
            let value = self.plan.values.get(result.value.0 as usize);
            let value = value.ok_or("a result does not exist")?;
            let made = self.made[result.value.0 as usize] != Made::No;
            ensure(made, "a result is not computed")?;
            let revealed = value.domain == P::domain(value.domain.algebra);
            ensure(revealed, "a result is not in the domain of reveals")?;
            let kept = value.rows.is_none() || value.kept;
            ensure(kept, "a result has not been kept")?;
            let elements = result.fixed.iter().product::<u64>();
            ensure(elements == value.elements, "a result has another shape")?;
            let fits = result.range.bits() <= value.bits;
            ensure(fits, "a result does not fit its value")?;
        }
        Ok(())
    }

    fn value(&self, value: PlanValue) -> &crate::steps::ValuePlan {
        &self.plan.values[value.0 as usize]
    }

    fn bits(&self, value: PlanValue) -> u64 {
        self.value(value).bits.into()
    }

    fn elements(&self, value: PlanValue, rows: u64) -> u64 {
        let value = self.value(value);
        value.elements * value.rows.map_or(1, |_| rows)
    }

    fn tape(&self, tape: TapeId) -> Result<&Tape, String> {
        self.plan
            .tapes
            .get(tape.0 as usize)
            .ok_or_else(|| "a tape does not exist".into())
    }
}

/// Returns whether a step of a segment has the rows of a value at hand, if it has rows.
fn walks(segment: &Segment, step: &Step, rows: Option<RowId>) -> bool {
    rows.is_none_or(|rows| segment.rows == Some(rows) || step.op.all_rows().contains(&rows))
}

fn count(lanes: &[Len], rows: u64) -> u64 {
    lanes.iter().map(|len| len.at(rows)).product()
}

/// Returns whether all elements at `lanes[l] + inner[i]` are among so many, and no relative index
/// is negative.
fn inside(lanes: &SymView, inner: &SymView, rows: u64, elements: u64) -> bool {
    let (lanes, inner) = (reach(lanes, rows), reach(inner, rows));
    lanes.0 >= 0 && inner.0 >= 0 && lanes.1 + inner.1 < i128::from(elements)
}

/// Smallest and largest index in a view.
fn reach(view: &SymView, rows: u64) -> (i128, i128) {
    let steps = view.dims.iter();
    let steps =
        steps.map(|(len, stride)| i128::from(len.at(rows).saturating_sub(1)) * i128::from(*stride));
    let offset = i128::from(view.offset);
    steps.fold((offset, offset), |(first, last), step| {
        (first + step.min(0), last + step.max(0))
    })
}

fn ensure(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

#[cfg(test)]
mod tests;
