//! Widths that fit one another, at some number of rows.

use super::{Checked, ensure};
use crate::cross::LANES;
use crate::steps::{
    self, CompareExchange, Cross, Fold, Len, LinearFactor, LinearTerm, Operand, Plan, PlanValue,
    Produced, Rearrangement, RowPlan, Scan, Sort, Step, StepOp, SymView, TapeId, ValuePlan,
};
use sealane_circuit::Tape;
use sealane_program::types::RowId;
use sealane_protocol::RingOp;

/// A plan whose walks, or tables, have so many rows.
pub(super) struct Widths<'a> {
    pub plan: &'a Plan,
    pub rows: u64,
}

impl Widths<'_> {
    /// Checks that all widths fit in a tile of `rows` rows.
    pub fn widths(&self, step: &Step) -> Checked {
        let rows = self.rows;
        match &step.op {
            StepOp::Input { input, .. } => {
                let known = (*input as usize) < self.plan.owners.len();
                ensure(known, "an unknown input")
            }
            StepOp::Constant { data, out } => {
                let fills = data.elements.len() as u64 == self.elements(*out);
                ensure(fills, "a constant's size")
            }
            StepOp::Move { operand, out } => {
                let count = self.within(operand)? * operand.inner.count(rows);
                let fills = count == self.elements(*out);
                ensure(fills, "what is moved does not fill its value")?;
                let same = self.bits(operand.value) == self.bits(*out);
                ensure(same, "a move changes a width")
            }
            StepOp::Concat { parts, out } => {
                let mut count = 0;
                let mut lanes = None;
                for part in parts {
                    let own = self.within(part)?;
                    ensure(*lanes.get_or_insert(own) == own, "parts of different lanes")?;
                    count += own * part.inner.count(rows);
                }
                let fills = count == self.elements(*out);
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
            StepOp::Rearrange(step) => {
                let there = self.within(&step.operand)?;
                ensure(there == rows, "rows of another number")?;
                let after = match step.how {
                    Rearrangement::Roll(_) => rows,
                    Rearrangement::Head(len) => len,
                };
                let fills = after * step.operand.inner.count(rows) == self.elements(step.out);
                ensure(fills, "what is moved does not fill its value")?;
                let same = self.bits(step.operand.value) == self.bits(step.out);
                ensure(same, "a move changes a width")
            }
            StepOp::CompareExchange(step) => self.compare_exchange(step),
            StepOp::Cross(cross) => self.cross(cross),
            StepOp::Sort(sort) => self.sort(sort),
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
                let lanes = steps::lanes(lanes, rows);
                let tape = self.tape(*tape)?;
                let mut inputs = 0;
                for operand in operands {
                    let same = self.within(operand)? == lanes;
                    ensure(same, "an operand has other lanes")?;
                    inputs += self.element_bits(operand);
                }
                filled(tape, inputs)?;
                self.produced(tape, outs, lanes)
            }
            StepOp::Linear(sum) => {
                let mut terms = sum.terms.iter();
                terms.try_for_each(|term| self.term(term, &sum.lanes))?;
                self.fills(&sum.lanes, sum.out)
            }
            StepOp::Product(product) => {
                let both = [&product.left, &product.right];
                let [left, right] = both.map(|operand| operand.inner.count(rows));
                ensure(left == right, "factors of different lengths")?;
                for operand in both {
                    let same = self.within(operand)? == steps::lanes(&product.lanes, rows);
                    ensure(same, "an operand has other lanes")?;
                }
                self.fills(&product.lanes, product.out)
            }
            StepOp::Ring(ring) => {
                for operand in ring.bit.iter().chain([&ring.of]) {
                    let same = self.within(operand)? == steps::lanes(&ring.lanes, rows);
                    let one = operand.inner.count(rows) == 1;
                    ensure(same && one, "an operand has other lanes")?;
                }
                let bits = ring.bit.as_ref().map(|bit| self.bits(bit.value));
                let choice = (ring.op == RingOp::Select).then_some(1);
                ensure(bits == choice, "a choice without a bit")?;
                if let RingOp::Extract { first, count } = ring.op {
                    let within = u64::from(first) + u64::from(count) <= self.bits(ring.out);
                    ensure(within && count > 0, "bits that are not there")?;
                }
                self.fills(&ring.lanes, ring.out)
            }
            StepOp::Fold(fold) => self.fold(fold),
            StepOp::Scan(scan) => self.scan(scan),
        }
    }

    /// Checks rows of tables under one another, with a single row and with the most rows of each.
    pub fn append(&self, parts: &[(RowId, Operand)], rows: RowId, out: PlanValue) -> Checked {
        let mut sum = Vec::new();
        for (part, operand) in parts {
            let known = self.table(*part)?;
            for rows in [1, known.bound] {
                let same = self.at(rows).within(operand)? == rows;
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
        let adds_up = self.table(rows)?.sum == sum && self.value(out).rows == Some(rows);
        ensure(adds_up, "rows under one another have another number")
    }

    fn term(&self, term: &LinearTerm, lanes: &[Len]) -> Checked {
        let rows = self.rows;
        let operand = &term.operand;
        let same = self.within(operand)? == steps::lanes(lanes, rows);
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
    fn fills(&self, lanes: &[Len], out: PlanValue) -> Checked {
        let same = steps::lanes(lanes, self.rows) == self.elements(out);
        ensure(same, "lanes do not fill their value")
    }

    fn fold(&self, fold: &Fold) -> Checked {
        let (count, lanes) = (
            fold.length.at(self.rows),
            steps::lanes(&fold.lanes, self.rows),
        );
        let whole = self.within(&fold.operand)? == count * lanes;
        ensure(whole, "the operand has other elements")?;
        let to_each = fold.to > 0 && fold.to * lanes == self.elements(fold.out);
        ensure(to_each, "the result has other elements")?;
        let count = count.div_ceil(fold.to);
        let levels = fold.levels.len();
        let enough = fold.bits.len() == levels + 1;
        ensure(enough, "a width for each level and one more")?;
        let enough = levels < 64 && count <= 1 << levels;
        ensure(enough, "too few levels")?;
        let same = width(&fold.bits, 0) == self.bits(fold.operand.value);
        ensure(same, "the operand has another width")?;
        let same = width(&fold.bits, levels) == self.bits(fold.out);
        ensure(same, "the result has another width")?;
        self.tree(&fold.levels, &fold.bits, fold.carry)
    }

    /// Checks the tapes of a tree: one for each level, between its widths.
    fn tree(&self, levels: &[TapeId], bits: &[u8], carry: Option<TapeId>) -> Checked {
        for (level, tape) in levels.iter().enumerate() {
            self.combines(*tape, width(bits, level), width(bits, level + 1))?;
        }
        let last = width(bits, levels.len());
        carry.map_or(Ok(()), |tape| self.combines(tape, last, last))
    }

    /// Checks reductions of all rows for each element, with a single row and with the most rows.
    fn cross(&self, cross: &Cross) -> Checked {
        let (tape, length) = (self.tape(cross.tape)?, cross.length.at(self.rows));
        let most = self.table(cross.rows)?.bound;
        let mut inputs = self.walked(&cross.over, length)?;
        for operand in &cross.across {
            for all in [1, most] {
                let same = self.at(all).within(operand)? == all;
                ensure(same, "rows of another number")?;
            }
            inputs += self.at(1).element_bits(operand);
        }
        inputs += self.whole_bits(&cross.captured);
        filled(tape, inputs)?;
        for out in &cross.outs {
            let inner = u64::from(out.inner);
            let end = u64::from(out.first) + inner * width(&out.bits, 0);
            let inside = end <= tape.outputs.len() as u64;
            ensure(inside, "a result beyond the tape's outputs")?;
            let fills = length * inner == self.elements(out.value);
            ensure(fills, "the result has other elements")?;
            let last = out.bits.last().copied().map_or(0, u64::from) == self.bits(out.value);
            ensure(last, "the result has another width")?;
            let levels = out.levels.len();
            let enough = levels < 64 && LANES <= 1 << levels && out.bits.len() == levels + 1;
            let otherwise = "too few levels, or not a width for each and one more";
            ensure(enough, otherwise)?;
            self.tree(&out.levels, &out.bits, Some(out.carry))?;
        }
        Ok(())
    }

    fn combines(&self, tape: TapeId, from: u64, to: u64) -> Checked {
        let tape = self.tape(tape)?;
        let fits = u64::from(tape.inputs) == 2 * from && tape.outputs.len() as u64 == to;
        ensure(fits, "a level's tape has other widths")
    }

    fn scan(&self, scan: &Scan) -> Checked {
        let (tape, length) = (self.tape(scan.tape)?, scan.length.at(self.rows));
        let carried = self.whole_bits(&scan.init);
        let walked = self.walked(&scan.over, length)?;
        filled(tape, carried + self.whole_bits(&scan.captured) + walked)?;
        let same = scan.init.len() == scan.carries.len()
            && scan.init.iter().zip(&scan.carries).all(|(a, b)| {
                let shape = |v: &PlanValue| (self.elements(*v), self.value(*v).bits);
                shape(a) == shape(b) && self.value(*a).rows.is_none()
            });
        ensure(same, "carries change their shape")?;
        let enough = tape.outputs.len() as u64 >= carried;
        ensure(enough, "the tape has too few outputs")?;
        self.produced(tape, &scan.outs, length)
    }

    /// Checks that operands have so many elements; returns the bits of one of each.
    fn walked(&self, over: &[Operand], length: u64) -> Checked<u64> {
        let mut bits = 0;
        for operand in over {
            let there = self.within(operand)? == length;
            ensure(there, "an operand has other elements")?;
            bits += self.element_bits(operand);
        }
        Ok(bits)
    }

    fn compare_exchange(&self, step: &CompareExchange) -> Checked {
        let tape = self.tape(step.tape)?;
        let planes = self.moves(&step.over, &step.outs, step.length.at(self.rows))?;
        filled(tape, 2 * planes + self.whole_bits(&step.captured))?;
        let written = step.network.writes().into_iter().filter(|writes| *writes);
        let fills = planes * written.count() as u64 == tape.outputs.len() as u64;
        ensure(fills, "the tape has other outputs")
    }

    fn sort(&self, sort: &Sort) -> Checked {
        self.moves(&sort.over, &sort.outs, sort.length.at(self.rows))?;
        ensure(!sort.keys.is_empty(), "a sort has no key")?;
        for key in &sort.keys {
            let one = sort.over.get(key.operand as usize);
            let one = one.is_some_and(|operand| operand.inner.count(self.rows) == 1);
            ensure(one, "a key is not one number of each element")?;
        }
        Ok(())
    }

    /// Checks that all elements of each operand fill a result of its own; returns the bits of an
    /// element of all.
    fn moves(&self, over: &[Operand], outs: &[PlanValue], length: u64) -> Checked<u64> {
        ensure(over.len() == outs.len(), "not a result for each operand")?;
        let planes = self.walked(over, length)?;
        for (operand, out) in over.iter().zip(outs) {
            let inner = operand.inner.count(self.rows);
            let fills = length * inner == self.elements(*out);
            ensure(fills, "the result has other elements")?;
            let same = self.bits(operand.value) == self.bits(*out);
            ensure(same, "elements that move change their width")?;
        }
        Ok(planes)
    }

    /// Checks that the outputs of a tape on `lanes` lanes match the values that they are written
    /// to.
    fn produced(&self, tape: &Tape, outs: &[Produced], lanes: u64) -> Checked {
        for out in outs {
            let inner = u64::from(out.inner);
            let end = u64::from(out.first) + inner * self.bits(out.value);
            let inside = end <= tape.outputs.len() as u64;
            ensure(inside, "a result beyond the tape's outputs")?;
            let fills = lanes * inner == self.elements(out.value);
            ensure(fills, "a tape does not fill its value")?;
        }
        Ok(())
    }

    /// Checks that a view stays inside of its value; returns its number of lanes.
    fn within(&self, operand: &Operand) -> Checked<u64> {
        let elements = self.elements(operand.value);
        let within = inside(&operand.lanes, &operand.inner, self.rows, elements);
        ensure(within, "a view leaves its value")?;
        let mut dims = operand.lanes.dims.iter().chain(&operand.inner.dims);
        let by_rows = dims.any(|(len, _)| *len == Len::Rows);
        let value = self.value(operand.value);
        let walked = by_rows || value.rows.is_none();
        ensure(walked, "rows are read without walking them")?;
        Ok(operand.lanes.count(self.rows))
    }

    fn at(&self, rows: u64) -> Widths<'_> {
        let plan = self.plan;
        Widths { plan, rows }
    }

    pub fn table(&self, rows: RowId) -> Checked<&RowPlan> {
        let table = self.plan.rows.get(usize::from(rows.0));
        table.ok_or_else(|| "unknown rows".into())
    }

    fn value(&self, value: PlanValue) -> &ValuePlan {
        &self.plan[value]
    }

    /// Bits of what each lane reads of an operand.
    fn element_bits(&self, operand: &Operand) -> u64 {
        operand.inner.count(self.rows) * self.bits(operand.value)
    }

    /// Bits of all elements of some values.
    fn whole_bits(&self, values: &[PlanValue]) -> u64 {
        let bits = |value: &PlanValue| self.elements(*value) * self.bits(*value);
        values.iter().map(bits).sum()
    }

    fn bits(&self, value: PlanValue) -> u64 {
        self.value(value).bits.into()
    }

    fn elements(&self, value: PlanValue) -> u64 {
        let value = self.value(value);
        value.elements * value.rows.map_or(1, |_| self.rows)
    }

    fn tape(&self, tape: TapeId) -> Checked<&Tape> {
        let tape = self.plan.tapes.get(tape.0 as usize).map(AsRef::as_ref);
        tape.ok_or_else(|| "a tape does not exist".into())
    }
}

fn filled(tape: &Tape, inputs: u64) -> Checked {
    let fills = inputs == u64::from(tape.inputs);
    ensure(fills, "operands do not fill the tape's inputs")
}

/// The width at a level, 0 where there is none.
fn width(bits: &[u8], level: usize) -> u64 {
    bits.get(level).copied().map_or(0, u64::from)
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
