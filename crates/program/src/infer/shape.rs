//! The shape of a result, and its limits.

use super::Scope;
use crate::check::{MAX_RANK, MAX_ROW_ELEMENTS};
use crate::graph::Slice;
use crate::types::{Dim, Shape};
use sealane_diagnostic::{Code, Diagnostic, Result, counted};

/// Shape to which both broadcast: aligned at the last dimension, each pair equal or one of them 1
/// or absent; the symbolic dimension matches itself, one of length 1, or nothing.
pub fn broadcast(scope: &Scope, a: &Shape, b: &Shape) -> Result<Shape> {
    let rank = a.rank().max(b.rank());
    let from_end = |shape: &Shape, back| shape.rank().checked_sub(back).and_then(|i| shape.dim(i));
    let mut joint = Shape::scalar();
    for back in (1..=rank).rev() {
        let dim = match (from_end(a, back), from_end(b, back)) {
            (Some(dim), None) | (None, Some(dim)) => Some(dim),
            (Some(x), Some(y)) if x == y => Some(x),
            (Some(Dim::Fixed(1)), Some(dim)) | (Some(dim), Some(Dim::Fixed(1))) => Some(dim),
            _ => None,
        };
        match dim {
            // Rows are the first axis, also of the result.
            Some(Dim::Rows(_)) if joint.rank() > 0 => return Err(mismatch(scope, a, b)),
            Some(Dim::Rows(rows)) => joint.rows = Some(rows),
            Some(Dim::Fixed(n)) => joint.fixed.push(n),
            None => return Err(mismatch(scope, a, b)),
        }
    }
    Ok(joint)
}

/// The shape of `a @ b`, and the number of products in each sum.
pub fn dot(scope: &Scope, a: &Shape, b: &Shape) -> Result<(Shape, u64)> {
    let refused = |hint: &str| {
        let message = format!(
            "`@` does not take {} and {}",
            scope.shape(a),
            scope.shape(b)
        );
        Diagnostic::new(Code::ShapeMismatch, message)
            .because("it sums over the last axis of the left and the first of the right operand")
            .hint(hint)
    };
    let length = match (a.rank().checked_sub(1).and_then(|i| a.dim(i)), b.rows) {
        (Some(Dim::Fixed(length)), None) => length,
        (Some(Dim::Fixed(_)), Some(_)) if a.rows == b.rows => {
            return Err(refused(
                "rows are the first axis of both: take one value a row on the left, as in \
                 `a[:, 0] @ b`, or swap the two; for products of every two columns, write \
                 `(a[:, :, None] * b[:, None, :]).sum(axis=0)`",
            ));
        }
        (None, _) => return Err(refused("multiply by a single number with `*`")),
        (Some(rows @ Dim::Rows(_)), Some(_)) if b.dim(0) == Some(rows) => {
            return Err(refused("the right operand has one or two dimensions"));
        }
        _ => {
            return Err(refused(
                "both axes are rows with one row count, or have the same fixed length",
            ));
        }
    };
    if !(1..=2).contains(&b.fixed.len()) {
        return Err(refused("the right operand has one or two dimensions"));
    }
    if b.fixed[0] != length {
        return Err(refused("these two axes must have the same length"));
    }
    let mut shape = a.without(a.rank() - 1);
    shape.fixed.extend(&b.fixed[1..]);
    Ok((shape, length))
}

/// Shape with a new outermost dimension, as of a `map` over `dim`.
pub fn stacked(scope: &Scope, dim: Dim, element: &Shape) -> Result<Shape> {
    if element.rows.is_some() {
        let message = format!("a body returns {} for each element", scope.shape(element));
        return Err(Diagnostic::new(Code::Body, message)
            .because("a symbolic dimension can only be the first one")
            .hint("reduce it inside of the body, or compute it outside"));
    }
    let mut fixed = element.fixed.clone();
    match dim {
        Dim::Rows(rows) => Ok(Shape::with_rows(rows, fixed)),
        Dim::Fixed(n) => {
            fixed.insert(0, n);
            Ok(Shape::fixed(fixed))
        }
    }
}

/// The shape of `count` equal shapes joined along a new axis.
pub fn stack(scope: &Scope, each: &Shape, count: u64, axis: u32) -> Result<Shape> {
    let first = usize::from(each.rows.is_some());
    let axis = axis as usize;
    if axis < first || axis > each.rank() {
        let message = format!("no new axis {axis} fits into shape {}", scope.shape(each));
        let refused = Diagnostic::new(Code::ShapeMismatch, message)
            .because(format!("a new axis can be {first} to {}", each.rank()));
        return Err(if axis < first {
            refused.hint("rows stay axis 0: write `axis=1`")
        } else {
            refused.hint("name one of these")
        });
    }
    let mut shape = each.clone();
    shape.fixed.insert(axis - first, count);
    Ok(shape)
}

/// The shape of a slice.
pub fn slice(scope: &Scope, of: &Shape, slice: &Slice) -> Result<Shape> {
    let (axis, start, len) = (slice.axis, slice.start, slice.len);
    let refused = |what: String| {
        let message = format!("{what} of shape {}", scope.shape(of));
        Diagnostic::new(Code::IndexRange, message).hint("name elements that are there")
    };
    let length = match of.dim(axis as usize) {
        Some(Dim::Fixed(length)) => length,
        Some(Dim::Rows(_)) => {
            return Err(refused("an index into the symbolic axis 0".into())
                .because("the number of rows is known only at run time")
                .hint("use `sl.map`, `sl.scan` or a reduction to work on the rows"));
        }
        None => return Err(refused(format!("there is no axis {axis}"))),
    };
    if start.checked_add(len).is_none_or(|end| end > length) {
        let what = if slice.squeeze {
            format!("{start} is")
        } else {
            format!("{start}:+{len} is")
        };
        return Err(refused(format!("index {what} outside of axis {axis}"))
            .because(format!("that axis has {}", counted(length, "element"))));
    }
    if len == 0 || (slice.squeeze && len != 1) {
        return Err(refused(format!(
            "a slice of {len} elements along axis {axis}"
        )));
    }
    let mut shape = of.without(axis as usize);
    if !slice.squeeze {
        shape
            .fixed
            .insert(axis as usize - usize::from(of.rows.is_some()), len);
    }
    Ok(shape)
}

/// Refuses shapes that no value may have: an unknown symbolic dimension, an empty one, or too many
/// elements.
pub fn bounded(scope: &Scope, shape: &Shape) -> Result<()> {
    if shape
        .rows
        .is_some_and(|rows| usize::from(rows.0) >= scope.rows.len())
    {
        let message = "a shape names rows that are not declared";
        return Err(Diagnostic::new(Code::InvalidProgram, message)
            .hint("declare their number and its bound"));
    }
    let refused = |why: String| {
        let message = format!("no value can have the shape {}", scope.shape(shape));
        Err(Diagnostic::new(Code::Limit, message)
            .because(why)
            .hint("declare smaller dimensions; of a long table, let the first one be rows"))
    };
    if shape.rank() > MAX_RANK {
        return refused(format!("there can be at most {MAX_RANK} dimensions"));
    }
    if shape.fixed.contains(&0) {
        return refused("every dimension has at least one element".into());
    }
    match shape.row_elements() {
        Some(count) if count <= MAX_ROW_ELEMENTS => Ok(()),
        _ => refused(format!(
            "there can be at most {MAX_ROW_ELEMENTS} elements in a row"
        )),
    }
}

/// Makes the refusal of two shapes that do not broadcast.
fn mismatch(scope: &Scope, a: &Shape, b: &Shape) -> Diagnostic {
    let (left, right) = (scope.shape(a), scope.shape(b));
    let symbolic = a.rows.is_some() || b.rows.is_some();
    let hint = match symbolic {
        true if a.rank() != b.rank() => "write `a[:, None]` where one value a row meets a table",
        true => "rows go with rows of the same name alone: declare both inputs with one row count",
        false => {
            "give both the same shape in the signature, or index or reduce one of them; `a[:, None]` \
             adds a dimension"
        }
    };
    let message = format!("shapes {left} and {right} do not go together");
    Diagnostic::new(Code::ShapeMismatch, message)
        .because("dimensions are compared from the last; each pair must be equal or one of them 1")
        .hint(hint)
}
