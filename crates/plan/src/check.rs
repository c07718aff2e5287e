//! Invariants of every plan, checked before anything relies on them.
//!
//! * Every value is written by one step, before it is read; the result of a reduction or scan over
//!   rows is read in later segments.
//! * Rows are read in segments over their table; a value that is read in another segment is kept.
//! * Every view stays inside of its value, for a full tile and for a single row.
//! * Widths fit: operands and tapes, outputs and values, the levels of a fold.
//! * Every step finds its operands in the domain that the protocol requires, and leaves its result
//!   in the domain that the protocol states.
//! * A product states who knows its operands, and nobody else.
//! * A value is opened in a segment that runs once, directly behind a settlement or another such
//!   opening: all that the value depends on is settled by then. Other settlements end segments.

mod widths;

use crate::known::Known;
use crate::steps::{Linear, Plan, PlanValue, Product, Rearrange, Segment, Step, StepOp, ValuePlan};
use crate::uses::StepKind;
use sealane_program::types::RowId;
use sealane_protocol::{Algebra, Domain, Protocol, RingOp, Timing};
use widths::Widths;

/// The result of a check, or a violation.
type Checked<T = ()> = Result<T, String>;

/// Checks a plan for protocol `P`; returns the first violation.
pub(crate) fn check<P: Protocol>(plan: &Plan) -> Checked {
    for (index, tape) in plan.tapes.iter().enumerate() {
        let named = |error| format!("tape {index}: {error}");
        tape.check().map_err(named)?;
    }
    let mut checker = Checker {
        plan,
        made: vec![Made::No; plan.values.len()],
        segment: 0,
        known: Known::default(),
    };
    for (number, segment) in plan.segments.iter().enumerate() {
        checker.segment = number;
        for step in &segment.steps {
            let reported = |what: String| format!("`{}` in segment {number}: {what}", step.label);
            checker.reads(segment, step).map_err(reported)?;
            checker.widths(segment, step).map_err(reported)?;
            checker.domains::<P>(step).map_err(reported)?;
            checker.writes(segment, step).map_err(reported)?;
            checker.known(step).map_err(reported)?;
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
    known: Known,
}

impl Checker<'_> {
    fn reads(&self, segment: &Segment, step: &Step) -> Checked {
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
                StepOp::Cross(cross) => cross.across.iter().any(|row| row.value == value),
                _ => false,
            };
            ensure(!here || !met, "all rows of a walk, in that walk")?;
            let there = here || known.rows.is_none() || known.kept;
            ensure(there, "an operand has not been kept")?;
            ensure(walks(segment, step, known.rows), "rows of another table")?;
        }
        let walks = matches!(step.op, StepOp::Cross(_));
        let once = walks || step.op.all_rows().is_empty() || segment.rows.is_none();
        ensure(once, "all rows at once, in a walk over rows")
    }

    fn writes(&mut self, segment: &Segment, step: &Step) -> Checked {
        for out in step.op.writes() {
            let known = &self.plan[out];
            let made = &mut self.made[out.0 as usize];
            ensure(*made == Made::No, "a value is written twice")?;
            // A value without rows that a step over rows makes is available at the end of the
            // segment.
            let ends = step.op.carries() || step.op.kind() == StepKind::Scan;
            let after = known.rows.is_none() && segment.rows.is_some();
            let walked = !after || ends;
            let without = "a step in the rows of a table makes a value without rows";
            ensure(walked, without)?;
            let carried = after || !step.op.carries();
            ensure(carried, "what is carried from tile to tile has rows")?;
            ensure(walks(segment, step, known.rows), "rows of another table")?;
            let segment = self.segment;
            *made = Made::In { segment, after };
        }
        Ok(())
    }

    fn known(&mut self, step: &Step) -> Checked {
        let known = self.known.take(&step.op, &self.plan.owners);
        match &step.op {
            StepOp::Product(product) => ensure(
                product.known_to == known,
                "an operand is said to be known to another party",
            ),
            _ => Ok(()),
        }
    }

    /// Checks that all widths fit, with a single row and with the most rows.
    fn widths(&self, segment: &Segment, step: &Step) -> Checked {
        let all = |rows| Widths {
            plan: self.plan,
            rows,
        };
        let one = all(1);
        if let StepOp::Append { parts, rows, out } = &step.op {
            return one.append(parts, *rows, *out);
        }
        let met = match &step.op {
            // Its elements are those of the walk, or of a fixed number.
            StepOp::Cross(_) => None,
            op => op.all_rows().first().copied(),
        };
        let most = match (segment.rows.or(met), segment.rows) {
            (None, _) => return one.widths(step),
            (Some(table), walked) => {
                let rows = one.table(table)?;
                walked.map_or(rows.bound, |_| rows.tile.min(rows.bound))
            }
        };
        one.widths(step)?;
        all(most).widths(step)
    }

    fn domains<P: Protocol>(&self, step: &Step) -> Checked {
        let of = |value: &PlanValue| self.value(*value).domain;
        let (reads, writes) = (step.op.reads(), step.op.writes());
        let all = |domain: Domain| {
            let same = reads.iter().chain(&writes).all(|value| of(value) == domain);
            ensure(same, "an operand is not in the domain that is wanted")
        };
        match &step.op {
            StepOp::Tape { .. }
            | StepOp::CompareExchange(_)
            | StepOp::Cross(_)
            | StepOp::Fold(_)
            | StepOp::Scan(_) => {
                let domain = writes.first().map_or(P::domain(Algebra::Z2), of);
                let its = P::tape_domains().contains(&domain);
                ensure(its, "a tape in a domain in which none can run")?;
                all(domain)
            }
            StepOp::Sort(sort) => {
                let most = P::sorts().ok_or("a sort without a network")?;
                let widths = Widths {
                    plan: self.plan,
                    rows: 1,
                };
                let table = sort.rows.map(|rows| widths.table(rows)).transpose()?;
                let rows = sort.length.at(table.map_or(1, |table| table.bound));
                ensure(rows <= most, "a sort of more rows than the protocol sorts")?;
                all(P::domain(Algebra::Z2))
            }
            StepOp::Linear(Linear { out, .. }) | StepOp::Product(Product { out, .. }) => {
                let algebra = of(out).algebra;
                let rings = P::profile().arithmetic && algebra != Algebra::Z2;
                ensure(rings, "arithmetic on bits")?;
                all(P::domain(algebra))
            }
            StepOp::Ring(step) => {
                let (ring, bits) = (of(&step.of.value), P::domain(Algebra::Z2));
                ensure(P::ring_steps(), "an operation on a ring that it lacks")?;
                let choice = step.bit.as_ref().is_none_or(|bit| of(&bit.value) == bits);
                let made = match step.op {
                    RingOp::Extract { .. } => bits,
                    RingOp::Select | RingOp::Floor { .. } => ring,
                };
                let its = ring == P::domain(ring.algebra) && choice && of(&step.out) == made;
                let otherwise = "an operand is not in the domain that is wanted";
                ensure(its && ring != bits, otherwise)
            }
            StepOp::Move { out, .. }
            | StepOp::Rearrange(Rearrange { out, .. })
            | StepOp::Append { out, .. }
            | StepOp::Concat { out, .. } => all(of(out)),
            StepOp::Input { out, .. } => {
                let own = of(out);
                let here = own == P::input_domain(own.algebra) || P::gives(own);
                ensure(here, "an input arrives elsewhere")
            }
            StepOp::Constant { out, .. } | StepOp::RowNumber { out } => {
                let own = of(out);
                all(if P::gives(own) {
                    own
                } else {
                    P::domain(own.algebra)
                })
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
                self.settled_before(step)?;
                let (from, to) = (self.value(*value), self.value(*out));
                let same = (from.domain, from.signed) == (to.domain, to.signed);
                ensure(same, "an opening changes a value")
            }
        }
    }

    /// Checks that an opening stands in a segment that runs once, and that no step but openings is
    /// between it and a settlement. Such a settlement takes the checks of all steps before it and
    /// of all earlier segments, and a value is written before it is read: so what is opened depends
    /// on nothing that is not settled, whatever steps made it.
    fn settled_before(&self, open: &Step) -> Checked {
        let segment = &self.plan.segments[self.segment];
        ensure(segment.rows.is_none(), "an opening in a walk over rows")?;
        let before = segment.steps.iter();
        let before = before.take_while(|step| !std::ptr::eq(*step, open));
        let other = before.filter(|step| !opens(step)).last();
        ensure(
            other.is_some_and(settles),
            "an opening that is not directly behind a settlement",
        )
    }

    /// Checks that tiles settle their checks, and settle nothing else but before openings, and that
    /// a protocol has an offline walk exactly if its profile says so.
    fn settled<P: Protocol>(&self) -> Checked {
        let profile = P::profile();
        for segment in self.plan.segments.iter().filter(|_| profile.settles) {
            let last = segment.steps.last();
            ensure(last.is_some_and(settles), "checks of a tile stay open")?;
            let mut pairs = segment.steps.windows(2);
            let needed = pairs.all(|pair| !settles(&pair[0]) || opens(&pair[1]));
            ensure(needed, "a settlement that nothing needs")?;
        }
        let offline = self.plan.setting.timing != Timing::CountsAlone;
        let same = offline == profile.offline;
        ensure(same, "an offline walk too many or too few")
    }

    fn results<P: Protocol>(&self) -> Checked {
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

    fn value(&self, value: PlanValue) -> &ValuePlan {
        &self.plan[value]
    }
}

fn settles(step: &Step) -> bool {
    matches!(step.op, StepOp::Settle)
}

fn opens(step: &Step) -> bool {
    matches!(step.op, StepOp::Open { .. })
}

/// Returns whether a step of a segment has the rows of a value at hand, if it has rows.
fn walks(segment: &Segment, step: &Step, rows: Option<RowId>) -> bool {
    rows.is_none_or(|rows| segment.rows == Some(rows) || step.op.all_rows().contains(&rows))
}

fn ensure(holds: bool, otherwise: &str) -> Checked {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

#[cfg(test)]
mod tests;
