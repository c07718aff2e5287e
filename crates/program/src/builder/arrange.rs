//! Elements in another arrangement, joined, and accumulated, with NumPy's semantics.

use super::reductions::reduced_type;
use super::{Builder, Found, Handle, Made, Operand};
use crate::check;
use crate::graph::{Op, Reduction, RowSymbol, ValueId};
use crate::infer;
use crate::types::{RowId, Shape, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Placed, Result, counted};

/// A length in a wanted shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Length {
    /// The rows of this name, which can only be the first.
    Rows(String),
    /// A number of elements; of a reshape, -1 is the number that is left for it.
    Of(i64),
}

impl Builder {
    /// Adds the same elements, in their order, in another shape. Rows stay the first axis.
    pub fn reshape(&mut self, a: Handle, shape: &[Length], span: At<'_>) -> Made {
        let id = self.found(a, span)?;
        let from = self.of(id).shape.clone();
        let fixed = self.reshaped(&from, shape).at(span)?;
        let id = self.view(id, 0, &row_major(&fixed), span)?;
        Ok(self.handle(id))
    }

    /// Adds the same elements with the axes in another order; without `axes`, in reverse order.
    pub fn transpose(&mut self, a: Handle, axes: Option<&[i64]>, span: At<'_>) -> Made {
        let id = self.found(a, span)?;
        let shape = self.of(id).shape.clone();
        let rank = shape.rank();
        let order = match axes {
            None => (0..rank as u32).rev().collect(),
            Some(axes) => self.order(&shape, axes).at(span)?,
        };
        let rows = usize::from(shape.rows.is_some());
        if rows == 1 && order[0] != 0 {
            let text = self.shape_text(&shape);
            let rest = (1..rank).rev().map(|axis| axis.to_string());
            let order = ["0".into()].into_iter().chain(rest).collect::<Vec<_>>();
            let message = format!("the rows of shape {text} cannot leave their place");
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
                .because("rows are always the first axis: their number is known only at run time")
                .hint(match rank {
                    2 => "reduce along the rows with `axis=0`; products of every two columns are \
                      `(x[:, :, None] * x[:, None, :]).sum(axis=0)`"
                        .into(),
                    _ => format!(
                        "order the other axes: `sl.transpose(x, ({}))`",
                        order.join(", ")
                    ),
                })
                .at(span));
        }
        let strides = row_major(&shape.fixed);
        let dims = order[rows..]
            .iter()
            .map(|axis| strides[*axis as usize - rows])
            .collect::<Vec<_>>();
        self.view(id, 0, &dims, span).map(|id| self.handle(id))
    }

    /// Adds the elements repeated to the shape, as operands of one operation are.
    pub fn broadcast_to(&mut self, a: Handle, shape: &[Length], span: At<'_>) -> Made {
        let id = self.found(a, span)?;
        let from = self.of(id).shape.clone();
        let fixed = self.broadcasted(&from, shape).at(span)?;
        let new = fixed.len() - from.fixed.len();
        let own = row_major(&from.fixed);
        let dim = |(at, &length): (usize, &u64)| match at.checked_sub(new) {
            Some(at) if from.fixed[at] == length => own[at],
            _ => (length, 0),
        };
        let dims = fixed.iter().enumerate().map(dim).collect::<Vec<_>>();
        self.view(id, 0, &dims, span).map(|id| self.handle(id))
    }

    /// Adds values one behind the other along an axis (negative from the end), in their common
    /// type. Along rows, the result has the rows of all, under a row count of its own.
    pub fn concatenate(&mut self, values: &[Operand], axis: i64, span: At<'_>) -> Made {
        let ids = self.unified("concatenate", values, true, span)?;
        let Some(first) = ids.first() else {
            let message = "a concatenation of nothing has no shape";
            return Err(Diagnostic::new(Code::ShapeMismatch, message)
                .hint("give at least one value")
                .at(span));
        };
        let shape = &self.of(*first).shape;
        let axis = self.axis(shape, axis, shape.rank()).at(span)?;
        let rows = |id: &ValueId| self.of(*id).shape.rows;
        if axis > 0 || ids.iter().all(|id| rows(id).is_none()) {
            return self.operate(Op::Concat(ids, axis), span);
        }
        if ids.len() == 1 {
            return Ok(self.handle(*first));
        }
        self.declare_sum(&ids).at(span)?;
        self.operate(Op::Append(ids), span)
    }

    /// Declares the row count of the rows of values under one another, unless it is known.
    fn declare_sum(&mut self, ids: &[ValueId]) -> Result<()> {
        let sum = infer::sum_of_rows(&self.scope(), ids)?;
        let known = &self.program.rows;
        if known.iter().any(|symbol| symbol.sum == sum) {
            return Ok(());
        }
        let parts = sum.iter().map(|rows| &known[usize::from(rows.0)]);
        let bound = parts.clone().map(|part| part.bound);
        let bound = bound.fold(0, u64::saturating_add);
        let names = parts.map(|part| part.name.as_str()).collect::<Vec<_>>();
        let joined = Some(names.join("_and_")).filter(|name| name.len() <= check::MAX_NAME);
        let numbered = (known.len()..).map(|number| format!("rows_{number}"));
        let new = |name: &String| known.iter().all(|symbol| symbol.name != *name);
        let name = joined.into_iter().chain(numbered).find(new);
        let name = name.unwrap_or_default();
        self.declare_rows(RowSymbol { name, bound, sum }).map(drop)
    }

    /// Adds the reductions of the elements up to each one along an axis (negative from the end).
    /// They are converted to `dtype` first; without it a sum of `bool` counts in the smallest type
    /// that holds the count.
    pub fn accumulate(
        &mut self,
        op: Reduction,
        a: Handle,
        axis: i64,
        dtype: Option<Type>,
        span: At<'_>,
    ) -> Made {
        let mut id = self.found(a, span)?;
        let value = self.of(id);
        let (from, shape) = (value.ty, value.shape.clone());
        let axis = self.axis(&shape, axis, shape.rank()).at(span)?;
        let dim = shape.dim(axis as usize);
        let most = dim.map_or(1, |dim| self.scope().length(dim).1);
        let ty = reduced_type(op, from, dtype, most);
        // Rounded once, at the end, as a sum is.
        let summed = match op {
            Reduction::Sum if ty.fraction() < from.fraction() => {
                let total = infer::sum_range(self.known(id).1, (1, most));
                from.smallest_like(total).unwrap_or(from)
            }
            _ => ty,
        };
        id = self.cast_to(id, summed, span)?;
        let op = match (op, summed) {
            (Reduction::Min, Type::Bool) => Reduction::All,
            (Reduction::Max, Type::Bool) => Reduction::Any,
            (op, _) => op,
        };
        id = self.push(Op::Accumulate(op, id, axis), summed, span)?;
        self.cast_to(id, ty, span).map(|id| self.handle(id))
    }

    /// Adds every `step`-th element of an axis: its first element, their number, and the step.
    pub(super) fn every(
        &mut self,
        id: ValueId,
        axis: u32,
        (first, count, step): (u64, u64, i64),
        span: At<'_>,
    ) -> Found {
        let shape = &self.of(id).shape;
        let mut dims = row_major(&shape.fixed);
        let dim = &mut dims[axis as usize - usize::from(shape.rows.is_some())];
        let along = dim.1;
        *dim = (count, step.saturating_mul(along));
        self.view(id, first * along.unsigned_abs(), &dims, span)
    }

    /// Adds a view, unless it is the value itself; an axis of a single element gets the step 0.
    fn view(&mut self, of: ValueId, start: u64, dims: &[(u64, i64)], span: At<'_>) -> Found {
        if start == 0 && dims == row_major(&self.of(of).shape.fixed) {
            return Ok(of);
        }
        let plain = |&(length, step): &(u64, i64)| match length {
            1 => (1, 0),
            _ => (length, step),
        };
        let dims = dims.iter().map(plain).collect();
        self.push(Op::View { of, start, dims }, Type::Bool, span)
    }

    /// The fixed lengths of a reshape.
    fn reshaped(&self, from: &Shape, shape: &[Length]) -> Result<Vec<u64>> {
        let elements = from.row_elements().unwrap_or(u64::MAX);
        let text = self.shape_text(from);
        let refused = |why: String, hint: &str| {
            let wanted = wanted(shape);
            let message = format!("shape {text} cannot become {wanted}");
            Err(Diagnostic::new(Code::ShapeMismatch, message)
                .because(why)
                .hint(hint))
        };
        let mut lengths = match (from.rows, shape) {
            (Some(rows), [Length::Rows(name), rest @ ..]) if self.is_rows(rows, name) => {
                rest.to_vec()
            }
            // The first length that is left can only be that of the rows.
            (Some(_), [Length::Of(-1), rest @ ..]) if product(rest) == Some(elements) => {
                rest.to_vec()
            }
            (Some(rows), _) => {
                let name = &self.program.rows[usize::from(rows.0)].name;
                return refused(
                    format!("the number of `{name}` is known only at run time, so rows stay rows"),
                    "keep the rows first and reshape the rest: `x.reshape(x.shape[0], -1)`",
                );
            }
            (None, lengths) => lengths.to_vec(),
        };
        let known = |length: &Length| *length != Length::Of(-1);
        let given = lengths.iter().filter(|length| known(length));
        let given = product(&given.cloned().collect::<Vec<_>>());
        let open = lengths.iter().filter(|length| !known(length)).count();
        match given {
            Some(given) if open == 1 && given > 0 && elements.is_multiple_of(given) => {
                for length in &mut lengths {
                    if !known(length) {
                        *length = Length::Of((elements / given) as i64);
                    }
                }
            }
            Some(given) if open == 0 && given == elements => {}
            _ => {
                let each = if from.rows.is_some() { " a row" } else { "" };
                return refused(
                    format!(
                        "it has {}{each}, and a reshape keeps them all",
                        counted(elements, "element")
                    ),
                    "write -1 for one length that follows from the others",
                );
            }
        }
        Ok(lengths.iter().filter_map(fixed).collect())
    }

    /// The fixed lengths of a broadcast.
    fn broadcasted(&self, from: &Shape, shape: &[Length]) -> Result<Vec<u64>> {
        let (text, wanted) = (self.shape_text(from), wanted(shape));
        let refused = |why: &str, hint: &str| {
            let message = format!("shape {text} does not broadcast to {wanted}");
            Err(Diagnostic::new(Code::ShapeMismatch, message)
                .because(why)
                .hint(hint))
        };
        let lengths = match (from.rows, shape) {
            (Some(rows), [Length::Rows(name), rest @ ..]) if self.is_rows(rows, name) => rest,
            (None, [Length::Rows(_), ..]) => {
                return refused(
                    "its elements do not belong to rows",
                    "use it beside a value with those rows, to which it broadcasts by itself",
                );
            }
            (Some(_), _) => {
                return refused(
                    "rows stay the first axis",
                    "name them first: `sl.broadcast_to(x, (x.shape[0], 3))`",
                );
            }
            (None, lengths) => lengths,
        };
        let lengths = lengths.iter().map(fixed).collect::<Option<Vec<_>>>();
        let fits = |lengths: &Vec<u64>| {
            let new = lengths.len().checked_sub(from.fixed.len());
            let same = |(own, length): (&u64, &u64)| own == length || *own == 1;
            // Rows are first in both, so no axis comes between them and the others.
            let new = new.filter(|new| from.rows.is_none() || *new == 0);
            new.is_some_and(|new| from.fixed.iter().zip(&lengths[new..]).all(same))
        };
        match lengths.filter(fits) {
            Some(lengths) => Ok(lengths),
            None => refused(
                "dimensions are compared from the last; each is the same, 1, or missing",
                "`x[:, None]` adds a dimension that can be repeated",
            ),
        }
    }

    fn is_rows(&self, rows: RowId, name: &str) -> bool {
        self.program.rows[usize::from(rows.0)].name == name
    }

    /// Every axis once, counted from the start.
    fn order(&self, shape: &Shape, axes: &[i64]) -> Result<Vec<u32>> {
        let rank = shape.rank();
        let order = axes.iter().map(|axis| self.axis(shape, *axis, rank));
        let order = order.collect::<Result<Vec<_>, _>>()?;
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted.into_iter().eq(0..rank as u32) {
            return Ok(order);
        }
        let message = format!(
            "an order of the axes of shape {} names {} of {rank}",
            self.shape_text(shape),
            axes.len()
        );
        Err(Diagnostic::new(Code::ShapeMismatch, message)
            .because("every axis has one place")
            .hint("name each axis once: `sl.transpose(x, (0, 2, 1))`"))
    }
}

/// Lengths and steps of a tensor in row-major order.
fn row_major(fixed: &[u64]) -> Vec<(u64, i64)> {
    let mut step: i64 = 1;
    let mut dims = Vec::with_capacity(fixed.len());
    for &length in fixed.iter().rev() {
        dims.push((length, step));
        // Bounded: a value has at most 2^24 elements a row, and a wrong shape is refused later.
        step = step.saturating_mul(length as i64);
    }
    dims.reverse();
    dims
}

/// A length that is a number of elements.
fn fixed(length: &Length) -> Option<u64> {
    match length {
        Length::Of(length) => u64::try_from(*length).ok().filter(|length| *length > 0),
        Length::Rows(_) => None,
    }
}

fn product(lengths: &[Length]) -> Option<u64> {
    let mut lengths = lengths.iter().map(fixed);
    lengths.try_fold(1u64, |product, length| product.checked_mul(length?))
}

/// A wanted shape, for an error.
fn wanted(shape: &[Length]) -> String {
    let length = |length: &Length| match length {
        Length::Rows(name) => name.clone(),
        Length::Of(length) => length.to_string(),
    };
    let lengths = shape.iter().map(length).collect::<Vec<_>>();
    format!("[{}]", lengths.join(", "))
}
