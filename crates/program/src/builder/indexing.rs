//! Indexing by public numbers, with NumPy's semantics.

use super::{Builder, Handle, Made};
use crate::graph::{Op, Slice, ValueId};
use crate::types::{Dim, Shape, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Placed, Result};

/// One part of an index expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// One element, negative from the end; the axis disappears.
    At(i64),
    /// `start:stop`, negative from the end, cut to the axis as Python does.
    Slice {
        /// First element; absent for the first of the axis.
        start: Option<i64>,
        /// Element after the last; absent for all that follow.
        stop: Option<i64>,
    },
    /// `start:stop:step` with a step other than 1, which may be negative: ends as in Python.
    Stepped {
        /// First element; absent for the first of the axis, or the last if the step is negative.
        start: Option<i64>,
        /// End of the elements, itself left out; absent for the end of the axis.
        stop: Option<i64>,
        /// Step, other than 0.
        step: i64,
    },
    /// `None`: a new axis of length 1.
    NewAxis,
    /// `...`: all axes without a part of their own.
    Ellipsis,
}

impl Index {
    const ALL: Index = Index::Slice {
        start: None,
        stop: None,
    };

    /// Returns whether it stands for an existing axis.
    fn takes_axis(self) -> bool {
        matches!(
            self,
            Index::At(_) | Index::Slice { .. } | Index::Stepped { .. }
        )
    }
}

impl Builder {
    /// Adds `a[parts]`. The symbolic axis takes only `:`.
    pub fn index(&mut self, a: Handle, parts: &[Index], span: At<'_>) -> Made {
        let mut id = self.found(a, span)?;
        let shape = self.of(id).shape.clone();
        let parts = self.expanded(&shape, parts).at(span)?;
        // `axis` counts in the result so far, `original` in the shape that the user sees.
        let (mut axis, mut original) = (0, 0);
        for part in parts {
            if part == Index::NewAxis {
                id = self.push(Op::Stack(vec![id], axis), Type::Bool, span)?;
                axis += 1;
                continue;
            }
            if let Index::Stepped { start, stop, step } = part {
                let walk = self.stepped(&shape, original, [start, stop], step);
                let walk = walk.map_err(|error| self.of_rows(error, &shape, id, part).at(span))?;
                id = self.every(id, axis, walk, span)?;
                (original, axis) = (original + 1, axis + 1);
                continue;
            }
            let cut = self
                .cut(&shape, original, part)
                .map_err(|error| self.of_rows(error, &shape, id, part).at(span))?;
            original += 1;
            if let Some((start, len, squeeze)) = cut {
                let slice = Slice {
                    squeeze,
                    ..Slice::new(id, axis, start, len)
                };
                id = self.push(Op::Slice(slice), Type::Bool, span)?;
            }
            let gone = cut.is_some_and(|(_, _, squeeze)| squeeze);
            axis += u32::from(!gone);
        }
        Ok(self.handle(id))
    }

    /// Expands the parts to one for each axis: `...` and missing parts stand for whole axes.
    fn expanded(&self, shape: &Shape, parts: &[Index]) -> Result<Vec<Index>> {
        let named = parts.iter().filter(|part| part.takes_axis()).count();
        let ellipses = parts
            .iter()
            .filter(|part| **part == Index::Ellipsis)
            .count();
        if named > shape.rank() || ellipses > 1 {
            let text = self.shape_text(shape);
            let message = format!("{named} indices into a value of shape {text}");
            return Err(Diagnostic::new(Code::IndexRange, message)
                .because("there is at most one index for each axis, and one `...`")
                .hint("leave the others out; `None` adds an axis"));
        }
        let rest = vec![Index::ALL; shape.rank() - named];
        let at = parts
            .iter()
            .position(|part| *part == Index::Ellipsis)
            .unwrap_or(parts.len());
        let after = parts.get(at + 1..).unwrap_or(&[]);
        Ok([&parts[..at], &rest, after].concat())
    }

    /// Start, length and whether the axis is removed; `None` for a whole axis.
    fn cut(&self, shape: &Shape, axis: usize, part: Index) -> Result<Option<(u64, u64, bool)>> {
        if part == Index::ALL {
            return Ok(None);
        }
        let (text, n) = (self.shape_text(shape), self.length(shape, axis)?);
        // Lengths are at most 2^24, so that nothing here leaves `i64`.
        let from_end = |i: i64| if i < 0 { i.saturating_add(n) } else { i };
        match part {
            Index::Slice { start, stop } => {
                let start = start.map_or(0, |i| from_end(i).clamp(0, n));
                let stop = stop.map_or(n, |i| from_end(i).clamp(0, n));
                if start >= stop {
                    return Err(self.empty(shape, axis));
                }
                let whole = start == 0 && stop == n;
                Ok((!whole).then_some((start as u64, (stop - start) as u64, false)))
            }
            Index::At(i) if (0..n).contains(&from_end(i)) => {
                Ok(Some((from_end(i) as u64, 1, true)))
            }
            _ => {
                let Index::At(i) = part else { return Ok(None) };
                let message = format!("index {i} is outside of axis {axis} of shape {text}");
                Err(Diagnostic::new(Code::IndexRange, message)
                    .because(format!("that axis takes {} to {}", -n, n - 1))
                    .hint("negative ones count from the end, and -1 is the last element"))
            }
        }
    }

    /// The refusal of an index of rows, with the function that does what was meant.
    fn of_rows(&self, error: Diagnostic, shape: &Shape, of: ValueId, part: Index) -> Diagnostic {
        if shape.rows.is_none() || error.message != self.symbolic(shape, 0).message {
            return error;
        }
        let op = |id: ValueId| {
            let values = &self.open.last()?.values;
            values.get(id.0 as usize).map(|value| &value.op)
        };
        let is_sorted = || match op(of) {
            Some(Op::Part(sort, _)) => matches!(op(*sort), Some(Op::Sort(..))),
            _ => false,
        };
        let hint = match part {
            Index::Stepped {
                start: None,
                stop: None,
                step: -1,
            } if is_sorted() => {
                "sort in the other order: `sl.sort(x, descending=True)`, and so `sl.sort_by`".into()
            }
            Index::Slice {
                start: None,
                stop: Some(stop),
            } if stop > 0 => format!(
                "for the first rows write `sl.head(x, {stop})`, which fills missing ones with zeros"
            ),
            _ => return error,
        };
        Diagnostic { hint, ..error }
    }

    /// Length of a fixed axis; the symbolic one takes no index.
    fn length(&self, shape: &Shape, axis: usize) -> Result<i64> {
        match shape.dim(axis) {
            Some(Dim::Fixed(n)) => Ok(n as i64),
            _ => Err(self.symbolic(shape, axis)),
        }
    }

    fn symbolic(&self, shape: &Shape, axis: usize) -> Diagnostic {
        let text = self.shape_text(shape);
        let message = format!("axis {axis} of shape {text} is symbolic and takes no index but `:`");
        Diagnostic::new(Code::IndexRange, message)
            .because("the number of rows is known only at run time")
            .hint("use `sl.map`, `sl.scan` or a reduction to work on the rows")
    }

    fn empty(&self, shape: &Shape, axis: usize) -> Diagnostic {
        let text = self.shape_text(shape);
        let message = format!("an empty slice along axis {axis} of shape {text}");
        Diagnostic::new(Code::IndexRange, message)
            .because("every value has at least one element")
            .hint("let the slice begin before it ends, within the axis")
    }

    /// First element, number of elements and step of `start:stop:step`, with Python's rules.
    fn stepped(
        &self,
        shape: &Shape,
        axis: usize,
        ends: [Option<i64>; 2],
        step: i64,
    ) -> Result<(u64, u64, i64)> {
        if step == 0 {
            let message = "the step of a slice is 0";
            return Err(Diagnostic::new(Code::IndexRange, message)
                .because("the slice would never end")
                .hint("leave the step out, or write `x[::-1]` for the reverse order"));
        }
        let n = self.length(shape, axis)?;
        let forwards = step > 0;
        let (least, most) = if forwards { (0, n) } else { (-1, n - 1) };
        let end = |given: Option<i64>, otherwise| match given {
            Some(i) if i < 0 => i.saturating_add(n).clamp(least, most),
            Some(i) => i.clamp(least, most),
            None => otherwise,
        };
        let [start, stop] = ends;
        let (start, stop) = if forwards {
            (end(start, least), end(stop, most))
        } else {
            (end(start, most), end(stop, least))
        };
        let gap = if forwards { stop - start } else { start - stop };
        if gap <= 0 {
            return Err(self.empty(shape, axis));
        }
        let count = (gap as u64).div_ceil(step.unsigned_abs());
        Ok((start as u64, count, step))
    }

    /// An axis counted from the start or, if negative, from the end of `count` places.
    pub(super) fn axis(&self, shape: &Shape, axis: i64, count: usize) -> Result<u32> {
        let count = count as i64;
        let from_start = if axis < 0 {
            axis.saturating_add(count)
        } else {
            axis
        };
        if (0..count).contains(&from_start) {
            return Ok(from_start as u32);
        }
        let message = format!(
            "there is no axis {axis} for shape {}",
            self.shape_text(shape)
        );
        let refused = Diagnostic::new(Code::ShapeMismatch, message);
        Err(match count {
            0 => refused
                .because("a single element has no axis")
                .hint("leave the operation out, or declare the input with a dimension"),
            _ => refused
                .because(format!("axes are {} to {}", -count, count - 1))
                .hint("name one of these; without `axis`, a reduction takes all of them"),
        })
    }
}
