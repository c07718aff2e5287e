//! Random sorts, running reductions, and rows that move or stay.

use super::Grower;
use sealane_program::builder::{Handle, Operand};
use sealane_program::graph::{Binary, Reduction};
use sealane_program::types::Dim;

impl Grower<'_> {
    /// Adds an operation on all elements of axis 0.
    pub(super) fn order(&mut self, pool: &mut Vec<Handle>) {
        let Some((a, dim)) = self.along(pool, None) else {
            return;
        };
        let made = match self.below(7) {
            6 => return self.prefix(a, dim, pool),
            0 => return self.sort(a, dim, pool),
            1 => return self.compact(a, dim, pool),
            2 => {
                let reduction = self.pick(&Reduction::ALL);
                let starts = match self.below(2) {
                    0 => None,
                    _ => self.flag(dim, pool),
                };
                self.b.running(reduction, a, starts, None, None).ok()
            }
            3 => {
                let by = self.below(9) as i64 - 4;
                self.b.roll(a, by, None).ok()
            }
            4 => {
                let len = 1 + self.below(4) as u64;
                self.b.head(a, len, None).ok()
            }
            _ => self.b.row_number(a, None).ok(),
        };
        self.keep(pool, made);
    }

    /// A value with an axis 0, of a given length if there is one.
    fn along(&mut self, pool: &[Handle], length: Option<Dim>) -> Option<(Handle, Dim)> {
        let known = |handle: &Handle| {
            let dim = self.b.value(*handle)?.shape.dim(0)?;
            let wanted = length.is_none_or(|length| length == dim);
            wanted.then_some((*handle, dim))
        };
        let there = pool.iter().filter_map(known).collect::<Vec<_>>();
        (!there.is_empty()).then(|| self.pick(&there))
    }

    fn is_vector(&self, handle: Handle) -> bool {
        let value = self.b.value(handle);
        value.is_some_and(|value| value.shape.rank() == 1)
    }

    /// A truth value for each element of an axis.
    fn flag(&mut self, dim: Dim, pool: &[Handle]) -> Option<Handle> {
        let (of, _) = self.along(pool, Some(dim))?;
        if !self.is_vector(of) {
            return None;
        }
        let threshold = Operand::Int(self.below(3) as i128);
        self.op(Binary::Gt, of, threshold)
    }

    /// Sorts one or two vectors, by all of both, so that there is one order.
    fn sort(&mut self, a: Handle, dim: Dim, pool: &mut Vec<Handle>) {
        let b = self.along(pool, Some(dim)).map_or(a, |(b, _)| b);
        let mut over = vec![a, b];
        over.truncate(1 + self.below(2));
        if !over.iter().all(|of| self.is_vector(*of)) {
            return;
        }
        let opened = self.b.begin_sort(&over, None);
        let (before, behind) = opened.expect("vectors of one length");
        let mut exchange = Operand::Int(0);
        for (x, y) in before.iter().zip(&behind).rev() {
            let mut both = |op, a: Handle, b: Handle| {
                let made = self.op(op, a, b);
                made.expect("numbers of one type")
            };
            let (less, same) = (both(Binary::Lt, *y, *x), both(Binary::Eq, *y, *x));
            exchange = match exchange {
                Operand::Value(rest) => {
                    let rest = both(Binary::And, same, rest);
                    both(Binary::Or, less, rest).into()
                }
                _ => less.into(),
            };
        }
        // With one order, nothing depends on the order of equal elements.
        let any_order = self.below(2) == 0;
        let sorted = self.b.end_sort(exchange, any_order, None);
        let sorted = sorted.expect("a decision");
        self.keep(pool, sorted);
    }

    /// Combines the elements so far of one or two values, by operations that are associative.
    fn prefix(&mut self, a: Handle, dim: Dim, pool: &mut Vec<Handle>) {
        let b = self.along(pool, Some(dim)).map_or(a, |(b, _)| b);
        let mut over = vec![a, b];
        over.truncate(1 + self.below(2));
        let opened = self.b.begin_prefix(&over, None);
        let (before, behind) = opened.expect("values of one length");
        let ops = [Binary::Min, Binary::Max];
        let combined = before.iter().zip(&behind).map(|(x, y)| {
            let op = ops[self.below(2)];
            let made = self.op(op, *x, *y);
            made.expect("two numbers of one type").into()
        });
        let combined = combined.collect::<Vec<Operand>>();
        let made = self.b.end_prefix(&combined, None);
        let made = made.expect("combinations of the same type");
        self.keep(pool, made);
    }

    fn compact(&mut self, a: Handle, dim: Dim, pool: &mut Vec<Handle>) {
        let b = self.along(pool, Some(dim)).map_or(a, |(b, _)| b);
        let Some(keep) = self.flag(dim, pool) else {
            return;
        };
        let kept = self.b.compact(keep, &[a, b], None);
        let kept = kept.expect("values of one length");
        self.keep(pool, kept);
    }
}
