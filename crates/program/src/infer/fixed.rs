//! Inference of fixed-point products, quotients and sums of products: the exact result, rounded
//! down once to the type that the value declares.
//!
//! Stored numbers `A` and `B` with `f` and `g` bits behind the point, and a result with `h`:
//!
//! ```text
//! a * b    floor(A B 2^(h - f - g))
//! a / b    floor(A 2^(h - f + g) / B)
//! a @ b    floor((sum of A B) 2^(h - f - g))
//! ```
//!
//! The expression in the brackets may be wider than any type, and as wide as `i128`.

use super::range::{floor_div, products};
use super::refuse::{invalid, no_common_type, no_such_type, overflow, settle, wider};
use super::{Meta, Scope, lanes, shape};
use crate::decimal::range_text;
use crate::graph::{Binary, Value, ValueId};
use crate::types::{Range, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

/// Returns whether an operation on these types, with a result of type `declared`, is one of fixed
/// point.
pub fn applies(left: Type, right: Type, declared: Type) -> bool {
    left.is_fixed() || right.is_fixed() || declared.is_fixed()
}

/// Infers a product or quotient; a divisor's range does not contain zero.
pub fn binary(scope: &Scope, op: Binary, [a, b]: [ValueId; 2], ty: Type) -> Result<Meta> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    takes(op.symbol(), left, right, ty)?;
    let alike = scope.alike(a, b);
    let exact = match op {
        Binary::Div if alike => Some(Range::of(1 << ty.fraction())),
        Binary::Div => quotient(left, right, ty),
        _ => products(left.range, right.range, alike).and_then(|all| rounded(all, left, right, ty)),
    };
    let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
    let exact = exact.ok_or_else(|| too_wide(&op.python(&x, &y)))?;
    let range = settle(ty, exact, || {
        let given = format!(
            "{x} in {} and {y} in {} give {}",
            range_text(left.range, left.ty),
            range_text(right.range, right.ty),
            range_text(exact, ty)
        );
        let second = scope.is_constant(a);
        let cast = if second { right } else { left };
        let all = cast.range.converted(cast.ty, ty);
        let hint = wider(ty, all.map(|all| all.hull(exact)), |wide| {
            if second {
                op.python(&x, &format!("{y}.astype({wide})"))
            } else {
                op.python(&format!("{x}.astype({wide})"), &y)
            }
        });
        overflow(&op.python(&x, &y), ty, given, hint)
    })?;
    let shape = shape::broadcast(scope, &left.shape, &right.shape)?;
    Ok(Meta::new(ty, shape, range, left.joint(right)))
}

/// A dot product.
pub fn dot(scope: &Scope, a: ValueId, b: ValueId, ty: Type) -> Result<Meta> {
    let (left, right) = (scope.value(a)?, scope.value(b)?);
    takes("@", left, right, ty)?;
    let (shape, length) = shape::dot(scope, &left.shape, &right.shape)?;
    let squares = lanes::squares(scope, [a, b]);
    let sum = products(left.range, right.range, squares).and_then(|all| {
        Some(Range {
            lo: all.lo.checked_mul(length.into())?,
            hi: all.hi.checked_mul(length.into())?,
        })
    });
    let (x, y) = (scope.name(a, "a"), scope.name(b, "b"));
    let exact = sum.and_then(|sum| rounded(sum, left, right, ty));
    let exact = exact.ok_or_else(|| too_wide(&format!("{x} @ {y}")))?;
    let range = settle(ty, exact, || {
        let hint = wider(ty, Some(exact), |wide| {
            format!("sl.dot({x}, {y}, dtype={wide})")
        });
        let given = format!("{length} products give {}", range_text(exact, ty));
        overflow(&format!("{x} @ {y}"), ty, given, hint)
    })?;
    Ok(Meta::new(ty, shape, range, left.joint(right)))
}

/// A sum of products of two values, which broadcast, along axes of the product.
pub struct SumProduct<'a> {
    /// Factors of the products.
    pub factors: [ValueId; 2],
    /// The axes, ascending.
    pub axes: &'a [u32],
    /// The type of the sum.
    pub ty: Type,
}

impl SumProduct<'_> {
    /// Infers the sum; `written` is the expression that a refusal names, and `wide` formats it with
    /// another type of the sum.
    pub fn infer(
        &self,
        scope: &Scope,
        written: &str,
        wide: impl FnOnce(&str) -> String,
    ) -> Result<Meta> {
        let Exact {
            shape,
            count,
            range,
        } = self.exact(scope)?;
        let [left, right] = [scope.value(self.factors[0])?, scope.value(self.factors[1])?];
        let (ty, exact) = (self.ty, range.ok_or_else(|| too_wide(written))?);
        let range = settle(ty, exact, || {
            let many = if count.lo == count.hi { "" } else { "up to " };
            let given = format!("{many}{} products give {}", count.hi, range_text(exact, ty));
            overflow(written, ty, given, wider(ty, Some(exact), wide))
        })?;
        Ok(Meta::new(ty, shape, range, left.joint(right)))
    }

    /// Infers the exact sum, before it is converted to its type.
    pub fn exact(&self, scope: &Scope) -> Result<Exact> {
        let [left, right] = [scope.value(self.factors[0])?, scope.value(self.factors[1])?];
        takes("sum of products", left, right, self.ty)?;
        let mut shape = shape::broadcast(scope, &left.shape, &right.shape)?;
        shape::bounded(scope, &shape)?;
        let ascending = self.axes.windows(2).all(|pair| pair[0] < pair[1]);
        if self.axes.is_empty() || !ascending {
            return Err(invalid("a sum of products along no axis, or not in order"));
        }
        let mut count = Range::of(1);
        for axis in self.axes.iter().rev() {
            let dim = shape.dim(*axis as usize);
            let dim = dim.ok_or_else(|| invalid("a sum of products along no axis of them"))?;
            // Bounded by the elements of a value and by rows: far below 2^127.
            let (fewest, most) = scope.length(dim);
            count.lo = count.lo.saturating_mul(fewest.into());
            count.hi = count.hi.saturating_mul(most.into());
            shape = shape.without(*axis as usize);
        }
        let alike = scope.alike(self.factors[0], self.factors[1]);
        let sum = products(left.range, right.range, alike);
        let sum = sum.and_then(|each| products(each, count, false));
        Ok(Exact {
            shape,
            count,
            range: sum.and_then(|sum| rounded(sum, left, right, self.ty)),
        })
    }
}

/// An exact sum of products.
pub struct Exact {
    /// The shape of the sums.
    pub shape: Shape,
    /// Fewest and most products in each.
    pub count: Range,
    /// Range of the sum in stored numbers of its type; `None` if it exceeds `i128`.
    pub range: Option<Range>,
}

/// Refuses operands and results that have no exact numbers: wrapping ones, and truth values.
fn takes(symbol: &str, left: &Value, right: &Value, ty: Type) -> Result<()> {
    if left.ty.is_wrapping() || right.ty.is_wrapping() {
        return Err(no_common_type(symbol, left.ty, right.ty));
    }
    if let Some(float) = [left.ty, right.ty, ty].into_iter().find(|ty| ty.is_float()) {
        let other = if left.ty.is_float() {
            right.ty
        } else {
            left.ty
        };
        return Err(no_common_type(symbol, float, other));
    }
    for operand in [left, right] {
        if operand.ty == Type::Bool {
            return Err(no_such_type(symbol, operand.ty));
        }
    }
    if !ty.is_valid() || ty.is_wrapping() || ty == Type::Bool {
        return Err(invalid("a fixed-point result of a type that cannot be one"));
    }
    Ok(())
}

/// Exact products in the stored numbers of `ty`.
fn rounded(products: Range, left: &Value, right: &Value, ty: Type) -> Option<Range> {
    let fraction = |ty: Type| i16::from(ty.fraction());
    products.shifted(fraction(ty) - fraction(left.ty) - fraction(right.ty))
}

fn quotient(left: &Value, right: &Value, ty: Type) -> Option<Range> {
    let fraction = |ty: Type| i16::from(ty.fraction());
    let by = fraction(ty) - fraction(left.ty) + fraction(right.ty);
    let (over, under) = match by {
        0.. => (left.range.shifted(by)?, right.range),
        _ => (left.range, right.range.shifted(-by)?),
    };
    // The only quotient beyond `i128` is that of its smallest number and -1.
    if over.lo == i128::MIN {
        return None;
    }
    let ends = [
        (over.lo, under.lo),
        (over.lo, under.hi),
        (over.hi, under.lo),
        (over.hi, under.hi),
    ];
    Range::of_all(ends.map(|(x, y)| floor_div(x, y)))
}

/// Makes the refusal of an exact value that is wider than `i128`.
pub fn too_wide(expression: &str) -> Diagnostic {
    let message = format!("`{expression}` takes more bits than there are");
    Diagnostic::new(Code::RangeOverflow, message)
        .because("before it is rounded down, an exact result has at most 127 bits")
        .hint("declare narrower ranges of the inputs, or types of fewer bits")
}
