//! Random maps and scans.

use super::Grower;
use sealane_program::builder::{Builder, Handle, Operand};
use sealane_program::graph::Value;
use sealane_program::types::{Dim, Type};

impl Grower<'_> {
    /// One or two values with the same axis 0.
    fn walked(&mut self, pool: &[Handle]) -> Option<Vec<Handle>> {
        let first = |builder: &Builder, handle: &Handle| -> Option<Dim> {
            builder.value(*handle).and_then(|value| value.shape.dim(0))
        };
        let walkable = pool.iter().filter(|a| first(&self.b, a).is_some());
        let walkable: Vec<Handle> = walkable.copied().collect();
        if walkable.is_empty() {
            return None;
        }
        let (a, b) = (self.pick(&walkable), self.pick(&walkable));
        let same = first(&self.b, &a) == first(&self.b, &b);
        Some(if same && self.below(2) == 0 {
            vec![a, b]
        } else {
            vec![a]
        })
    }

    /// Adds a map with a random body, which also uses values around it.
    pub(super) fn map(&mut self, pool: &mut Vec<Handle>) {
        let Some(over) = self.walked(pool) else {
            return;
        };
        let slices = self.b.begin_map(&over, None).expect("walkable values");
        let inner = self.body(pool, slices);
        let returns = self.returned(&inner, 1);
        let parts = self.b.end_map(&returns, None).expect("values without rows");
        self.keep(pool, parts);
    }

    /// Adds a scan with one or two carries, each clipped to its type at the end of the body.
    pub(super) fn scan(&mut self, pool: &mut Vec<Handle>) {
        let Some(over) = self.walked(pool) else {
            return;
        };
        let mut init = vec![Operand::Int(self.below(5) as i128 - 2)];
        let scalar = self.pick_of(pool, |value| value.shape.rank() == 0);
        init.extend(scalar.map(Operand::from));
        let (carries, slices) = self.b.begin_scan(&init, &over, None).expect("a scan");
        let inner = self.body(pool, [carries.clone(), slices].concat());
        let next = carries.iter().map(|&carry| self.next(carry, &inner));
        let next: Vec<Operand> = next.collect();
        let outputs = self.returned(&inner, 0);
        let ended = self.b.end_scan(&next, &outputs, None);
        let (last, stacked) = ended.expect("carries that close");
        self.keep(pool, last.into_iter().chain(stacked));
    }

    /// Chooses a next carry: some scalar that fits, or the previous one.
    fn next(&mut self, carry: Handle, inner: &[Handle]) -> Operand {
        let Some(ty) = self.b.value(carry).map(|value| value.ty) else {
            return carry.into();
        };
        let fits = |value: &Value| {
            let converted = value.range.converted(value.ty, ty);
            let unrounded = value.ty.fraction() <= ty.fraction();
            // No conversion makes a truth value of fixed point, even of whole numbers.
            let is_truth = ty == Type::Bool && matches!(value.ty, Type::Fixed { .. });
            let holds = converted.is_some_and(|range| ty.holds(range));
            value.shape.rank() == 0 && unrounded && !is_truth && holds
        };
        let scalars = inner.iter().copied();
        let scalars = scalars.filter(|a| self.b.value(*a).is_some_and(fits));
        let scalars: Vec<Handle> = scalars.collect();
        let Some(&last) = scalars.last() else {
            return carry.into();
        };
        if self.below(3) == 0 {
            self.pick(&scalars).into()
        } else {
            last.into()
        }
    }

    /// Grows a body from its own parameters and the values around it.
    fn body(&mut self, around: &[Handle], own: Vec<Handle>) -> Vec<Handle> {
        self.depth += 1;
        let mut inner = [around, &own, &own].concat();
        for _ in 0..1 + self.below(5) {
            self.step(&mut inner);
        }
        self.depth -= 1;
        inner
    }

    /// `fewest` to two values without rows, mostly the last ones.
    fn returned(&mut self, inner: &[Handle], fewest: usize) -> Vec<Operand> {
        let fixed = |a: &&Handle| {
            let value = self.b.value(**a);
            value.is_some_and(|value| value.shape.rows.is_none())
        };
        let candidates: Vec<Handle> = inner.iter().rev().filter(fixed).take(4).copied().collect();
        let count = (fewest + self.below(3 - fewest)).max(fewest);
        if candidates.is_empty() {
            return vec![Operand::Int(1); fewest];
        }
        (0..count).map(|_| self.pick(&candidates).into()).collect()
    }
}
