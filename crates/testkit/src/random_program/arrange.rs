//! Random shapes: other arrangements, concatenations, running sums and ends.

use super::Grower;
use sealane_program::builder::{Handle, Index, Length};
use sealane_program::graph::{Binary, Reduction};
use sealane_program::types::Type;

impl Grower<'_> {
    /// Adds an operation that moves elements, or that accumulates them.
    pub(super) fn arranged(&mut self, a: Handle, pool: &[Handle]) -> Option<Handle> {
        match self.below(6) {
            0 => self.stepped(a),
            1 => self.reshaped(a),
            2 => {
                let axes = self.pick(&[None, Some(&[1i64, 0][..]), Some(&[0, 2, 1])]);
                self.b.transpose(a, axes, None).ok()
            }
            3 => {
                let shape = self.shape(a, 2)?;
                self.b.broadcast_to(a, &shape, None).ok()
            }
            4 => {
                let (b, axis) = (self.pick(pool), self.below(3) as i64 - 1);
                if axis == 0 && [a, b].iter().any(|of| self.is_sum(*of)) {
                    // Sums of sums would have many rows.
                    return None;
                }
                let both = [a.into(), b.into(), a.into()];
                match self.b.concatenate(&both, axis, None) {
                    Ok(joined) => Some(joined),
                    Err(_) => {
                        let alone = 1 + self.below(2);
                        self.b.concatenate(&[both[0]; 2][..alone], axis, None).ok()
                    }
                }
            }
            _ => self.accumulated(a),
        }
    }

    /// Every second or third element of an axis, forwards or backwards.
    fn stepped(&mut self, a: Handle) -> Option<Handle> {
        let step = self.pick(&[2, 3, -1, -2]);
        let start = self.pick(&[None, Some(1), Some(-1)]);
        let stop = None;
        let part = Index::Stepped { start, stop, step };
        let (start, stop) = (None, None);
        let whole = Index::Slice { start, stop };
        let parts = match self.below(3) {
            0 => vec![part],
            1 => vec![whole, part],
            _ => vec![Index::Ellipsis, part],
        };
        self.b.index(a, &parts, None).ok()
    }

    /// The elements of each row in one axis, or in two.
    fn reshaped(&mut self, a: Handle) -> Option<Handle> {
        let columns = self.pick(&[1, 2, 3, 4]);
        let mut shape = self.rows(a)?;
        shape.push(Length::Of(-1));
        if columns > 1 {
            shape.push(Length::Of(columns));
        }
        self.b.reshape(a, &shape, None).ok()
    }

    /// The shape of a value, with one more axis in front of the fixed ones where it has no rows.
    fn shape(&mut self, a: Handle, new: i64) -> Option<Vec<Length>> {
        let mut shape = self.rows(a)?;
        if shape.is_empty() {
            shape.push(Length::Of(new));
        }
        let fixed = self.b.value(a)?.shape.fixed.clone();
        let wide = |length: u64| if length == 1 { 3 } else { length as i64 };
        shape.extend(fixed.into_iter().map(|length| Length::Of(wide(length))));
        Some(shape)
    }

    fn rows(&mut self, a: Handle) -> Option<Vec<Length>> {
        let shape = self.b.value(a)?.shape.clone();
        let text = self.b.shape_text(&shape);
        let name = text.trim_start_matches('[').split([',', ']']).next()?;
        let rows = shape.rows.map(|_| Length::Rows(name.to_string()));
        Some(rows.into_iter().collect())
    }

    /// Returns whether the rows of a value are those of several tables.
    fn is_sum(&self, a: Handle) -> bool {
        let rows = self.b.value(a).and_then(|value| value.shape.rows);
        let counts = self.b.row_counts();
        rows.is_some_and(|rows| !counts[usize::from(rows.0)].sum.is_empty())
    }

    fn accumulated(&mut self, a: Handle) -> Option<Handle> {
        let op = self.pick(&Reduction::ALL);
        let axis = self.pick(&[0, -1]);
        let truth = matches!(op, Reduction::Any | Reduction::All);
        let dtype = self.pick(&[None, Some(Type::I64), Some(Type::unsigned(9).wrapping())]);
        let (a, dtype) = if truth {
            (self.op(Binary::Ne, a, 0)?, None)
        } else {
            (a, dtype)
        };
        self.b.accumulate(op, a, axis, dtype, None).ok()
    }
}
