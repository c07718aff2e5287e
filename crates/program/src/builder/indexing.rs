//! Indexing by public numbers, with NumPy's semantics.

use super::{Builder, Handle};
use crate::graph::Op;
use crate::types::{Dim, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Span};

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
        matches!(self, Index::At(_) | Index::Slice { .. })
    }
}

impl Builder {
    /// Adds `a[parts]`. The symbolic axis takes only `:`.
    pub fn index(
        &mut self,
        a: Handle,
        parts: &[Index],
        span: Option<&Span>,
    ) -> Result<Handle, Diagnostic> {
        let mut id = self.found(a, span)?;
        let shape = self.top().values[id.0 as usize].shape.clone();
        let parts = self
            .expanded(&shape, parts)
            .map_err(|error| error.at(span))?;
        // `axis` counts in the result so far, `original` in the shape that the user sees.
        let (mut axis, mut original) = (0, 0);
        for part in parts {
            if part == Index::NewAxis {
                id = self.push(Op::Stack(vec![id], axis), Type::Bool, span)?;
                axis += 1;
                continue;
            }
            let cut = self
                .cut(&shape, original, part)
                .map_err(|error| error.at(span))?;
            original += 1;
            if let Some((start, len, squeeze)) = cut {
                let op = Op::Slice {
                    of: id,
                    axis,
                    start,
                    len,
                    squeeze,
                };
                id = self.push(op, Type::Bool, span)?;
            }
            let gone = cut.is_some_and(|(_, _, squeeze)| squeeze);
            axis += u32::from(!gone);
        }
        Ok(self.handle(id))
    }

    /// Expands the parts to one for each axis: `...` and missing parts stand for whole axes.
    fn expanded(&self, shape: &Shape, parts: &[Index]) -> Result<Vec<Index>, Diagnostic> {
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
    fn cut(
        &self,
        shape: &Shape,
        axis: usize,
        part: Index,
    ) -> Result<Option<(u64, u64, bool)>, Diagnostic> {
        let text = self.shape_text(shape);
        let n = match shape.dim(axis) {
            _ if part == Index::ALL => return Ok(None),
            Some(Dim::Fixed(n)) => n as i64,
            _ => {
                return Err(Diagnostic::new(
                    Code::IndexRange,
                    format!("axis {axis} of shape {text} is symbolic and takes no index but `:`"),
                )
                .because("the number of rows is known only at run time")
                .hint("use `sl.map`, `sl.scan` or a reduction to work on the rows"));
            }
        };
        // Lengths are at most 2^24, so that nothing here leaves `i64`.
        let from_end = |i: i64| if i < 0 { i.saturating_add(n) } else { i };
        match part {
            Index::Slice { start, stop } => {
                let start = start.map_or(0, |i| from_end(i).clamp(0, n));
                let stop = stop.map_or(n, |i| from_end(i).clamp(0, n));
                if start >= stop {
                    let message = format!("an empty slice along axis {axis} of shape {text}");
                    return Err(Diagnostic::new(Code::IndexRange, message)
                        .because("every value has at least one element")
                        .hint("let the slice begin before it ends, within the axis"));
                }
                let whole = start == 0 && stop == n;
                Ok((!whole).then_some((start as u64, (stop - start) as u64, false)))
            }
            Index::At(i) if (0..n).contains(&from_end(i)) => {
                Ok(Some((from_end(i) as u64, 1, true)))
            }
            _ => {
                let Index::At(i) = part else { return Ok(None) };
                Err(Diagnostic::new(
                    Code::IndexRange,
                    format!("index {i} is outside of axis {axis} of shape {text}"),
                )
                .because(format!("that axis takes {} to {}", -n, n - 1))
                .hint("negative ones count from the end, and -1 is the last element"))
            }
        }
    }

    /// An axis counted from the start or, if negative, from the end of `count` places.
    pub(super) fn axis(&self, shape: &Shape, axis: i64, count: usize) -> Result<u32, Diagnostic> {
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
