//! Random lookups: tables of constants and of values, of numbers and of tuples.

use super::Grower;
use crate::random::Random;
use sealane_program::builder::Handle;
use sealane_program::graph::{Binary, Value};
use sealane_program::types::{Data, Range};

/// Most entries of a random table of constants: sizes include one, and numbers that are no powers
/// of two.
const ENTRIES: usize = 20;

impl Grower<'_> {
    /// Adds a lookup, by `a` as it is or clipped to the table.
    pub(super) fn lookup(&mut self, a: Handle, pool: &[Handle]) -> Option<Handle> {
        let table = match self.below(4) {
            0 => self.value_table(pool)?,
            _ => self.constant_table()?,
        };
        if let Ok(made) = self.b.lookup(table, a, None) {
            return Some(made);
        }
        let count = *self.b.value(table)?.shape.fixed.first()?;
        let index = self.within(a, count.into())?;
        self.b.lookup(table, index, None).ok()
    }

    /// 1 to [`ENTRIES`] numbers of a random type, or pairs of them.
    fn constant_table(&mut self) -> Option<Handle> {
        let (ty, count) = (self.element_type(), 1 + self.below(ENTRIES));
        let shape = match self.below(3) {
            0 => vec![count as u64, 2],
            _ => vec![count as u64],
        };
        // One number of the tape stands for the whole table, since tables would use it up.
        let Range { lo, hi } = ty.range();
        let mut random = Random::new(self.below(1 << 30) as u64);
        let number = |_| match random.number() {
            number if number % 4 == 0 => hi,
            number => lo + i128::from(number) % (hi - lo + 1),
        };
        let numbers: Vec<i128> = (0..shape.iter().product()).map(number).collect();
        let data = Data::from_numbers(ty, shape, &numbers).expect("numbers of the type");
        self.b.constant(data, None).ok()
    }

    /// A value that can be a table, if the pool has one.
    fn value_table(&mut self, pool: &[Handle]) -> Option<Handle> {
        let is_table = |value: &Value| value.shape.rows.is_none() && value.shape.rank() > 0;
        self.pick_of(pool, is_table)
    }

    /// Makes a number below `count` from `a`: its remainder, or `a` clipped.
    fn within(&mut self, a: Handle, count: i128) -> Option<Handle> {
        // A wrapping type has no remainder, and a small one does not hold the divisor.
        let remainder = match self.below(2) {
            0 => self.op(Binary::Mod, a, count),
            _ => None,
        };
        remainder.or_else(|| self.bounded(a, 0, count - 1))
    }
}
