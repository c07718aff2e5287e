//! Products and quotients: of integers in their common type, of fixed point exactly and then
//! rounded down once. A sum of products is one operation ([`Op::SumProduct`]), so that it is also
//! rounded only once, in each of its notations: `x @ y` over rows, or `(x * y).sum()`.

use super::{Builder, Found, Handle, Made, Operand};
use crate::graph::{Binary, Op, Reduction, ValueId};
use crate::infer::{self, SumProduct};
use crate::types::{Dim, Range, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Result};

/// Most conversions and choices between a product and its sum that are followed.
const LOOKED_THROUGH: usize = 8;

impl Builder {
    /// Adds `a @ b`: the last axis of `a` with the first of `b`; both may be the rows of one table.
    /// Integers are converted to `dtype` first; a sum of fixed-point products is rounded down to
    /// it.
    pub fn dot(
        &mut self,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        dtype: Option<Type>,
        span: At<'_>,
    ) -> Made {
        let (a, b) = (a.into(), b.into());
        let types = [self.type_of(a, span)?, self.type_of(b, span)?, dtype];
        if types.into_iter().flatten().any(Type::is_float) {
            return self.dot_of_floats([a, b], dtype, span);
        }
        if types.into_iter().flatten().any(Type::is_fixed) {
            let [a, b] = self.factors([a, b], span)?;
            let ty = match dtype {
                Some(ty) => ty,
                None => self.common("@", [a, b], span)?,
            };
            let id = match self.rows_of([a, b]) {
                Some(_) => self.dot_of_rows([a, b], ty, span)?,
                None => self.push(Op::Dot(a, b), ty, span)?,
            };
            return Ok(self.handle(id));
        }
        let ids = match dtype {
            None => self.unified("@", &[a, b], false, span)?,
            Some(ty) => {
                let (a, b) = (self.operand(a, None, span)?, self.operand(b, None, span)?);
                vec![self.cast_to(a, ty, span)?, self.cast_to(b, ty, span)?]
            }
        };
        let Some(rows) = self.rows_of([ids[0], ids[1]]) else {
            return self.operate(Op::Dot(ids[0], ids[1]), span);
        };
        let scope = self.scope();
        infer::dot_range(&scope, [ids[0], ids[1]], scope.length(rows))
            .map_err(|error| self.in_scan(error).at(span))?;
        let [a, b] = self.as_columns([ids[0], ids[1]], span)?;
        let products = self.push(Op::Binary(Binary::Mul, a, b), Type::Bool, span)?;
        self.operate(Op::Reduce(Reduction::Sum, products, 0), span)
    }

    /// Adds `a @ b` of floating point: exact products, added exactly and rounded once.
    fn dot_of_floats(&mut self, operands: [Operand; 2], dtype: Option<Type>, span: At<'_>) -> Made {
        let ids = self.unified("@", &operands, false, span)?;
        let from = self.known(ids[0]).0;
        let ty = dtype.unwrap_or(from);
        if !ty.is_float() {
            return Err(infer::no_common_type("@", from, ty).at(span));
        }
        let [a, b] = [ids[0], ids[1]];
        let id = match self.rows_of([a, b]) {
            Some(_) => {
                let [a, b] = self.as_columns([a, b], span)?;
                let axes = vec![0];
                self.push(Op::SumProduct { a, b, axes }, ty, span)?
            }
            None => self.push(Op::Dot(a, b), ty, span)?,
        };
        Ok(self.handle(id))
    }

    /// Rows along which `a @ b` sums, if these are the last axis of `a` and the first of `b`.
    fn rows_of(&self, [a, b]: [ValueId; 2]) -> Option<Dim> {
        let shape = |id: ValueId| &self.of(id).shape;
        let (a, b) = (shape(a), shape(b));
        let along = a.rank() == 1 && a.rows.is_some() && a.rows == b.rows;
        (along && b.fixed.len() <= 1).then(|| a.dim(0)).flatten()
    }

    /// Adds an axis to one value per row, if the other operand has columns.
    fn as_columns(&mut self, [a, b]: [ValueId; 2], span: At<'_>) -> Result<[ValueId; 2]> {
        if self.of(b).shape.fixed.is_empty() {
            Ok([a, b])
        } else {
            Ok([self.push(Op::Stack(vec![a], 1), Type::Bool, span)?, b])
        }
    }

    /// Adds `a @ b` over rows in fixed point.
    fn dot_of_rows(&mut self, factors: [ValueId; 2], ty: Type, span: At<'_>) -> Found {
        let scope = self.scope();
        let (x, y) = (scope.name(factors[0], "a"), scope.name(factors[1], "b"));
        let factors = self.as_columns(factors, span)?;
        self.sum_of_products(factors, &[0], ty, span, &format!("{x} @ {y}"), |wide| {
            format!("sl.dot({x}, {y}, dtype={wide})")
        })
    }

    /// Appends a sum of products; its refusal names the expression `written`, and suggests a `wide`
    /// type.
    fn sum_of_products(
        &mut self,
        factors: [ValueId; 2],
        axes: &[u32],
        ty: Type,
        span: At<'_>,
        written: &str,
        wide: impl FnOnce(&str) -> String,
    ) -> Found {
        let sum = SumProduct { factors, axes, ty };
        let meta = sum.infer(&self.scope(), written, wide);
        let meta = meta.map_err(|error| self.in_scan(error).at(span))?;
        let ([a, b], axes) = (factors, axes.to_vec());
        self.append(Op::SumProduct { a, b, axes }, meta, span)
    }

    /// Replaces the sum of a value along `axes` (ascending) by a sum of exact products, if the
    /// value is a rounded product and `dtype` does not wrap.
    pub(super) fn unrounded_sum(
        &mut self,
        id: ValueId,
        axes: &[u32],
        dtype: Option<Type>,
        span: At<'_>,
    ) -> Result<Option<Handle>> {
        let ty = dtype.unwrap_or(self.known(id).0);
        if ty.is_float() || ty.is_wrapping() || ty == Type::Bool || axes.is_empty() {
            return Ok(None);
        }
        let rank = self.of(id).shape.rank();
        let name = infer::summed(self.scope().name(id, "a"), axes, rank);
        let Some(factors) = self.rounded_product(id, LOOKED_THROUGH, span) else {
            return Ok(None);
        };
        // If the exact sum takes too many bits, products are rounded first, and the check warns of
        // that.
        let sum = SumProduct { factors, axes, ty };
        let exact = sum.exact(&self.scope());
        if !exact.is_ok_and(|exact| exact.range.is_some()) {
            return Ok(None);
        }
        let written = format!("sl.sum({name})");
        let sum = self.sum_of_products(factors, axes, ty, span, &written, |wide| {
            format!("sl.sum({name}, dtype={wide})")
        })?;
        Ok(Some(self.handle(sum)))
    }

    /// Finds two values whose exact product equals the value before rounding: the value is a
    /// product, or a product that was converted, selected against zero, or multiplied by a whole
    /// number. `None` if it is something else, or if its factors do not fit a type.
    fn rounded_product(&mut self, id: ValueId, depth: usize, span: At<'_>) -> Option<[ValueId; 2]> {
        let depth = depth.checked_sub(1)?;
        let fraction = |b: &Builder, id: ValueId| u16::from(b.known(id).0.fraction());
        let zero = |b: &Builder, id: ValueId| b.known(id).1 == Range::of(0);
        match self.of(id).op {
            Op::Binary(Binary::Mul, x, y) => {
                if fraction(self, x) + fraction(self, y) > fraction(self, id) {
                    return Some([x, y]);
                }
                let (product, times) = match fraction(self, y) {
                    0 => (x, y),
                    _ if fraction(self, x) == 0 => (y, x),
                    _ => return None,
                };
                let [a, b] = self.rounded_product(product, depth, span)?;
                let ty = self.known(a).0.common(self.known(times).0)?;
                let many = self.push(Op::Binary(Binary::Mul, a, times), ty, span);
                Some([many.ok()?, b])
            }
            Op::Cast(of) if fraction(self, of) <= fraction(self, id) => {
                self.rounded_product(of, depth, span)
            }
            Op::Select(condition, yes, no) if zero(self, yes) || zero(self, no) => {
                let product = if zero(self, no) { yes } else { no };
                let [a, b] = self.rounded_product(product, depth, span)?;
                let none = self.number(self.known(a).0, 0, span).ok()?;
                let (yes, no) = if product == yes { (a, none) } else { (none, a) };
                let chosen = self.push(Op::Select(condition, yes, no), Type::Bool, span);
                let chosen = chosen.ok()?;
                // What is chosen of squares are squares.
                Some([chosen, if a == b { chosen } else { b }])
            }
            _ => None,
        }
    }

    /// Returns whether an operation rounds its exact result: a product or quotient of fixed point.
    pub(super) fn rounds(&mut self, op: Binary, [a, b]: [Operand; 2], at: At<'_>) -> Result<bool> {
        let types = [self.type_of(a, at)?, self.type_of(b, at)?];
        let mut types = types.into_iter().flatten();
        if types.clone().any(Type::is_float) {
            return Ok(false);
        }
        Ok(op == Binary::Div || op == Binary::Mul && types.any(Type::is_fixed))
    }

    /// Adds a product or quotient that is rounded down to the common type of its operands.
    pub(super) fn rounded(&mut self, op: Binary, operands: [Operand; 2], span: At<'_>) -> Made {
        if let (Binary::Div, [Operand::Value(a), Operand::Literal(by)]) = (op, operands) {
            self.divides(a, by, span)?;
        }
        let [a, b] = self.factors(operands, span)?;
        // A bare whole number does not affect the common type.
        let ty = match operands {
            [Operand::Int(_), Operand::Value(_)] => self.known(b).0,
            [Operand::Value(_), Operand::Int(_)] => self.known(a).0,
            _ => self.common(op.symbol(), [a, b], span)?,
        };
        let id = self.push(Op::Binary(op, a, b), ty, span)?;
        Ok(self.handle(id))
    }

    /// Refuses a literal divisor that would be rounded to zero.
    fn divides(&mut self, a: Handle, literal: u32, span: At<'_>) -> Result<()> {
        let a = self.found(a, span)?;
        let ((ty, range), literal) = (self.known(a), self.written(literal)?);
        let (true, [number]) = (ty.is_fixed(), &literal.numbers[..]) else {
            return Ok(());
        };
        let zero = |fraction| match number.nearest(fraction) {
            Ok(nearest) => nearest.stored == 0 && !nearest.exact,
            Err(_) => false,
        };
        if !zero(ty.fraction()) {
            return Ok(());
        }
        // Rounding a divisor of eight bits or more changes it by less than a percent.
        let room = |fraction: u8| {
            let divisor = number.nearest(fraction).ok()?;
            let precise = divisor.exact || divisor.stored.unsigned_abs() >= 1 << 8;
            let finer = i16::from(fraction) - i16::from(ty.fraction());
            let dividend = range.shifted(finer)?;
            let over = dividend.shifted(fraction.into())?;
            let ends = [over.lo, over.hi].map(|end| end.checked_div_euclid(divisor.stored));
            let [Some(one), Some(other)] = ends else {
                return None;
            };
            let all = dividend.hull(Range::of(one)).hull(Range::of(other - 1));
            let all = all.hull(Range::of(divisor.stored));
            let like = Type::fixed_point(true, fraction, fraction);
            precise.then(|| like.smallest_like(all)).flatten()
        };
        let x = self.scope().name(a, "a");
        let hint = match (ty.fraction()..=64).find_map(room) {
            Some(ty) => format!(
                "divide in a type with more bits: `{x}.astype({}) / {number}`",
                ty.python()
            ),
            None => "no type has room for the quotient: multiply by its inverse, rounded to a type"
                .into(),
        };
        let message = format!("`{x} / {number}` would divide by zero");
        Err(Diagnostic::new(Code::DivisionByZero, message)
            .because(format!(
                "the number of {ty} that is nearest to {number} is 0"
            ))
            .hint(hint)
            .at(span))
    }

    fn common(&self, operation: &str, ids: [ValueId; 2], span: At<'_>) -> Result<Type> {
        let [x, y] = ids.map(|id| self.known(id).0);
        x.common(y)
            .ok_or_else(|| infer::no_common_type(operation, x, y).at(span))
    }

    /// The operands of a product or quotient, each in a type of its own.
    fn factors(&mut self, operands: [Operand; 2], span: At<'_>) -> Result<[ValueId; 2]> {
        let types = [
            self.type_of(operands[0], span)?,
            self.type_of(operands[1], span)?,
        ];
        let mut ids = [ValueId(0); 2];
        for (at, operand) in operands.into_iter().enumerate() {
            let id = match operand {
                Operand::Int(_) => self.exactly(operand, None, span)?,
                _ => self.operand(operand, types[1 - at], span)?,
            };
            ids[at] = self.as_integer(id, span)?;
        }
        Ok(ids)
    }
}
