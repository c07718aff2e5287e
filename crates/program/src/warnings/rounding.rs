//! Error bounds of sums whose elements are rounded.
//!
//! Fixed point rounds towards minus infinity, so the errors of the elements of a sum have one sign
//! and add up. Each value gets a bound on its distance from the result of the same program without
//! rounding (forward error analysis; Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd
//! edition, section 3.1). Explicit rounding is intended: `astype`, `//`, `%`, comparisons and
//! operations on bits start again from an error of zero.
//!
//! Bounds are `f64`: they appear in texts only.

use crate::graph::{
    Binary, Graph, Loop, Op, Program, Reduction, RowSymbol, Slice, Unary, Value, ValueId,
};
use crate::types::{Dim, Range, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Span};

/// Least number of elements of a sum along a fixed axis that is warned of. A sum along rows always
/// is.
pub(super) const MANY: u64 = 100;
/// Nesting depth up to which a scan is evaluated twice.
const FOLLOWED: u32 = 2;
/// Error of a carry with which a scan is evaluated: far above the error that one step adds, and
/// small enough that `f64` can represent that.
const PROBE: f64 = 1024.0;

/// The warnings about sums whose elements are rounded, each with the size of the possible error.
pub(super) fn sums(program: &Program) -> Vec<Diagnostic> {
    let mut followed = Followed {
        rows: &program.rows,
        found: Vec::new(),
    };
    let params = vec![0.0; program.main.params as usize];
    followed.graph(&program.main, &params, 0, true);
    let mut found: Vec<Sum> = Vec::new();
    for sum in followed.found {
        // The axes of one expression are summed one by one: the last sum is the whole one.
        match found.iter_mut().find(|other| other.span == sum.span) {
            Some(other) if sum.error > other.error => *other = sum,
            Some(_) => {}
            None => found.push(sum),
        }
    }
    found.iter().map(Sum::warning).collect()
}

/// A sum of rounded elements.
struct Sum {
    count: f64,
    each: f64,
    error: f64,
    span: Option<Span>,
}

impl Sum {
    fn warning(&self) -> Diagnostic {
        let message = format!(
            "a sum of {} numbers that are each rounded down",
            about(self.count)
        );
        let error = if self.error.is_finite() {
            format!("the sum by up to {}", about(self.error))
        } else {
            "the sum by more than any type holds".into()
        };
        Diagnostic::new(Code::RoundedSum, message)
            .at(self.span.as_ref())
            .because(format!(
                "each can be off by up to {}, all in one direction, and {error}",
                about(self.each)
            ))
            .hint(
                "round once, at the end: `sl.dot(x, y)` and `(x * y).sum()` add exact products; \
                 divide or shift the sum instead of its elements where all share the divisor; or \
                 compute the elements with more bits behind the point, from `x.astype(…)` on",
            )
    }
}

struct Followed<'a> {
    rows: &'a [RowSymbol],
    found: Vec<Sum>,
}

impl Followed<'_> {
    /// Computes the errors of all values of a graph, one for each part of a map or scan; its sums
    /// are recorded only if `told` is set.
    fn graph(&mut self, graph: &Graph, params: &[f64], depth: u32, told: bool) -> Vec<Vec<f64>> {
        let mut errors: Vec<Vec<f64>> = Vec::with_capacity(graph.values.len());
        for value in &graph.values {
            let error = match &value.op {
                Op::Param(index) => vec![params.get(*index as usize).copied().unwrap_or(0.0)],
                Op::Map(of) | Op::Scan(of) => {
                    let error = |id: &ValueId| errors[id.0 as usize][0];
                    let given = of.over.iter().chain(&of.captured).map(error);
                    let given = given.collect::<Vec<_>>();
                    if let Op::Map(_) = value.op {
                        let inner = self.graph(&of.body, &given, depth + 1, told);
                        returned(&of.body, &inner)
                    } else {
                        let first = of.init.iter().map(error).fold(0.0, f64::max);
                        let length = graph[of.over[0]].shape.dim(0);
                        let scan = (of.init.len(), first, length);
                        self.scan(value, scan, &given, &of.body, depth, told)
                    }
                }
                Op::Sort(Loop { over, .. }, _)
                | Op::Compact { over, .. }
                | Op::Prefix(Loop { over, .. }) => {
                    over.iter().map(|id| errors[id.0 as usize][0]).collect()
                }
                Op::Part(of, part) => {
                    let part = errors[of.0 as usize].get(*part as usize);
                    vec![part.copied().unwrap_or(0.0)]
                }
                _ => vec![self.operation(graph, value, &errors, told)],
            };
            errors.push(error);
        }
        errors
    }

    /// Computes the errors of a scan. A carry accumulates the error of each step, unless the body
    /// discards it.
    fn scan(
        &mut self,
        value: &Value,
        (carries, first, length): (usize, f64, Option<Dim>),
        given: &[f64],
        body: &Graph,
        depth: u32,
        told: bool,
    ) -> Vec<f64> {
        let with = |this: &mut Self, carry: f64, told: bool| {
            let params = [&vec![carry; carries][..], given].concat();
            let inner = this.graph(body, &params, depth + 1, told);
            returned(body, &inner)
        };
        let largest = |errors: &[f64]| errors[..carries].iter().copied().fold(0.0, f64::max);
        let fresh = with(self, 0.0, told);
        let step = largest(&fresh);
        if depth >= FOLLOWED || step == 0.0 && first == 0.0 {
            return fresh;
        }
        let probed = largest(&with(self, PROBE, false));
        let (growth, gain) = (probed - PROBE, (probed - step) / PROBE);
        let most = self.most(length);
        let total = match growth > 0.0 {
            true if gain > 1.0 + 1e-6 => step.max(growth) * gain.powf(most),
            true => first + step.max(growth) * most,
            false => first.max(step),
        };
        if told && growth > 0.0 && step > 0.0 && self.is_long(length) {
            self.found.push(Sum {
                count: most,
                each: step,
                error: total,
                span: value.span.clone(),
            });
        }
        with(self, total, false)
    }

    /// The error of an operation without a body.
    fn operation(&mut self, graph: &Graph, value: &Value, errors: &[Vec<f64>], told: bool) -> f64 {
        let of = |id: &ValueId| errors[id.0 as usize][0];
        let meant = |id: &ValueId| &graph[id];
        let product = |a: &ValueId, b: &ValueId| {
            let (x, y) = (meant(a), meant(b));
            of(a) * magnitude(y) + of(b) * magnitude(x) + of(a) * of(b)
        };
        // Products with no more fraction bits than the result has are exact.
        let rounding = |a: &ValueId, b: &ValueId| {
            let rounds = fraction(meant(a)) + fraction(meant(b)) > fraction(value);
            if rounds { unit(value.ty) } else { 0.0 }
        };
        match &value.op {
            // Its errors have no common sign, and their size is relative.
            _ if value.ty.is_float() => 0.0,
            Op::Unary(Unary::Neg | Unary::Abs, a) => of(a),
            Op::Slice(Slice { of: a, .. }) | Op::View { of: a, .. } => of(a),
            Op::Cast(a) if !value.ty.is_wrapping() => of(a),
            Op::Lookup { table, .. } => of(table),
            Op::Select(_, a, b) | Op::Binary(Binary::Min | Binary::Max, a, b) => of(a).max(of(b)),
            Op::Stack(parts, _) | Op::Concat(parts, _) | Op::Append(parts) => {
                parts.iter().map(of).fold(0.0, f64::max)
            }
            Op::Binary(Binary::Add | Binary::Sub, a, b) => of(a) + of(b),
            Op::Binary(Binary::Mul, a, b) => product(a, b) + rounding(a, b),
            Op::Binary(Binary::Div, a, b) => {
                let error = of(a) + of(b) * magnitude(value);
                error / smallest(meant(b)) + unit(value.ty)
            }
            Op::Binary(Binary::Shl, a, by) => of(a) * 2f64.powi(meant(by).range.hi as i32),
            Op::Binary(Binary::Shr, a, _) if value.ty.is_fixed() => of(a) + unit(value.ty),
            Op::Reduce(Reduction::Sum, a, axis) | Op::Accumulate(Reduction::Sum, a, axis) => {
                let along = meant(a).shape.dim(*axis as usize);
                self.sum(value, of(a), &[along], told)
            }
            Op::Running(Reduction::Sum, a, _) => {
                self.sum(value, of(a), &[meant(a).shape.dim(0)], told)
            }
            Op::Reduce(Reduction::Min | Reduction::Max, a, _) => of(a),
            Op::Accumulate(_, a, _) | Op::Running(_, a, _) => of(a),
            Op::Roll { of: a, .. } | Op::Head { of: a, .. } | Op::Share { of: a, .. } => of(a),
            Op::Dot(a, b) => {
                let along = meant(b).shape.dim(0);
                self.sum(value, product(a, b), &[along], told) + rounding(a, b)
            }
            Op::SumProduct { a, b, axes } => {
                let (x, y) = (&meant(a).shape, &meant(b).shape);
                let rank = x.rank().max(y.rank());
                // Aligned at the end; of two lengths the one that is not repeated.
                let along = axes.iter().map(|axis| {
                    let from = |shape: &Shape| {
                        let skipped = rank - shape.rank();
                        shape.dim((*axis as usize).checked_sub(skipped)?)
                    };
                    match (from(x), from(y)) {
                        (Some(Dim::Fixed(1)) | None, other) => other,
                        (one, _) => one,
                    }
                });
                let along = along.collect::<Vec<_>>();
                self.sum(value, product(a, b), &along, told) + rounding(a, b)
            }
            _ => 0.0,
        }
    }

    /// Returns the error of a sum of elements with an error each, and records it where there are
    /// many.
    fn sum(&mut self, value: &Value, each: f64, along: &[Option<Dim>], told: bool) -> f64 {
        let counts = along.iter().map(|dim| self.most(*dim));
        let count = counts.product::<f64>();
        let long = along.iter().any(|dim| self.is_long(*dim));
        if told && long && each > 0.0 {
            self.found.push(Sum {
                count,
                each,
                error: count * each,
                span: value.span.clone(),
            });
        }
        count * each
    }

    /// Most elements along a dimension.
    fn most(&self, dim: Option<Dim>) -> f64 {
        match dim {
            Some(Dim::Rows(rows)) => {
                let rows = self.rows.get(usize::from(rows.0));
                rows.map_or(1.0, |rows| rows.bound as f64)
            }
            Some(Dim::Fixed(length)) => length as f64,
            None => 1.0,
        }
    }

    /// Returns whether a sum along a dimension is long enough for a warning.
    fn is_long(&self, dim: Option<Dim>) -> bool {
        match dim {
            Some(Dim::Rows(_)) => self.most(dim) > 1.0,
            Some(Dim::Fixed(length)) => length >= MANY,
            None => false,
        }
    }
}

/// Errors of the returned values of a body.
fn returned(body: &Graph, errors: &[Vec<f64>]) -> Vec<f64> {
    let error = |id: &ValueId| errors[id.0 as usize][0];
    body.returns.iter().map(error).collect()
}

/// Distance of two neighbouring numbers of a type.
fn unit(ty: Type) -> f64 {
    2f64.powi(-i32::from(ty.fraction()))
}

/// Fraction bits of a factor: for a constant, those that are not zero in all elements.
fn fraction(value: &Value) -> i32 {
    let bits = i32::from(value.ty.fraction());
    match &value.op {
        Op::Const(data) => {
            let zeros = data.numbers().map(|number| number.trailing_zeros()).min();
            bits - zeros.unwrap_or(0).min(127) as i32
        }
        _ => bits,
    }
}

/// The largest magnitude that a value can have.
fn magnitude(value: &Value) -> f64 {
    let Range { lo, hi } = value.range;
    lo.unsigned_abs().max(hi.unsigned_abs()) as f64 * unit(value.ty)
}

/// Smallest magnitude of a divisor, which is not zero.
fn smallest(value: &Value) -> f64 {
    let Range { lo, hi } = value.range;
    lo.unsigned_abs().min(hi.unsigned_abs()).max(1) as f64 * unit(value.ty)
}

/// Formats a bound for people: whole up to a million, else four digits, rounded up.
fn about(number: f64) -> String {
    if number.fract() == 0.0 && number < 1e6 {
        return format!("{number}");
    }
    let digits = number.log10().floor();
    if !(-5.0..6.0).contains(&digits) {
        return format!("{number:.1e}");
    }
    let scale = 10f64.powi(3 - digits as i32);
    let text = format!(
        "{:.*}",
        (3 - digits as i32).max(0) as usize,
        (number * scale).ceil() / scale
    );
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_short_and_not_below() {
        let told = [
            0.0,
            20_000.0,
            0.00390625,
            78.125,
            1e12,
            3.0 * 2f64.powi(-30),
        ]
        .map(about);
        let expected = ["0", "20000", "0.003907", "78.13", "1.0e12", "2.8e-9"];
        assert_eq!(told, expected.map(String::from));
    }
}
