//! Running sums and ends.
//!
//! Along a fixed axis of `n` elements, each second element is combined with the one before it, the
//! halves are treated the same way, and the elements between are combined with the result before
//! them (Ladner and Fischer, JACM 1980; Brent and Kung, 1982): fewer than `2 n` operations in fewer
//! than `2 log2 n` steps. Rows are walked by a scan, with `n` operations; where each operation of a
//! scan is a round, they meet along the same network.

use super::Expander;
use sealane_program::graph::{Binary, Graph, Loop, Op, Reduction, Slice, Value, ValueId};
use sealane_program::types::{Data, Dim, Range, Shape};
use sealane_protocol::Goal;

impl Expander<'_> {
    /// Expands the reductions of the elements up to each one.
    pub(super) fn accumulate(
        &mut self,
        value: &Value,
        (reduction, of, axis): (Reduction, ValueId, u32),
    ) -> ValueId {
        let op = reduction.row().joins;
        match self.of(of).shape.dim(axis as usize) {
            Some(Dim::Rows(_)) if self.goal == Goal::Depth => {
                let of = self.cast(of, value.ty, value.range);
                self.derived(value, Op::Running(reduction, of, None))
            }
            Some(Dim::Rows(_)) => self.along_rows(value, (reduction, op), of),
            _ => {
                let tree = Tree { value, op, axis };
                let last = self.prefixes(&tree, of);
                self.cast(last, value.ty, value.range)
            }
        }
    }

    /// Combines the elements of an axis.
    fn prefixes(&mut self, tree: &Tree, of: ValueId) -> ValueId {
        let length = tree.length(self.of(of));
        if length == 1 {
            return of;
        }
        let half = length / 2;
        let first = self.every(of, tree.axis, (0, half, 2));
        let second = self.every(of, tree.axis, (1, half, 2));
        let twice = tree.twice(self.of(of).range);
        let pairs = self.combine(tree, [first, second], twice);
        let odd = self.prefixes(tree, pairs);
        let start = self.every(of, tree.axis, (0, 1, 1));
        let between = (length - 1) / 2;
        let even = match between {
            0 => start,
            _ => {
                let before = self.every(odd, tree.axis, (0, between, 1));
                let own = self.every(of, tree.axis, (2, between, 2));
                let own = self.combine(tree, [before, own], tree.value.range);
                self.concat(vec![start, own], tree.axis)
            }
        };
        self.interleave(tree, even, odd)
    }

    /// Alternates the elements of two values, of which the first has as many or one more.
    fn interleave(&mut self, tree: &Tree, even: ValueId, odd: ValueId) -> ValueId {
        let (many, few) = (tree.length(self.of(even)), tree.length(self.of(odd)));
        let pairs = [self.every(even, tree.axis, (0, few, 1)), odd];
        let pairs = pairs.map(|of| self.with_axis(of, tree.axis + 1));
        let pairs = self.concat(pairs.to_vec(), tree.axis + 1);
        let joined = self.merged(pairs, tree.axis);
        if many == few {
            return joined;
        }
        let last = self.every(even, tree.axis, (few, 1, 1));
        self.concat(vec![joined, last], tree.axis)
    }

    fn combine(&mut self, tree: &Tree, [a, b]: [ValueId; 2], range: Range) -> ValueId {
        let like = tree.value.clone().with_shape(self.of(a).shape.clone());
        self.derived(&like.with_range(range), Op::Binary(tree.op, a, b))
    }

    /// Every `step`-th element of a fixed axis.
    fn every(&mut self, of: ValueId, axis: u32, (start, len, step): (u64, u64, u64)) -> ValueId {
        let operand = self.of(of).clone();
        let place = axis as usize - usize::from(operand.shape.rows.is_some());
        if len == operand.shape.fixed[place] {
            return of;
        }
        let mut shape = operand.shape.clone();
        shape.fixed[place] = len;
        let op = match step {
            1 => Op::Slice(Slice::new(of, axis, start, len)),
            _ => {
                let mut dims = row_major(&operand.shape);
                let along = dims[place].1;
                dims[place] = (len, along * step as i64);
                let start = start * along.unsigned_abs();
                Op::View { of, start, dims }
            }
        };
        self.push(operand.with_shape(shape).with_op(op))
    }

    fn concat(&mut self, parts: Vec<ValueId>, axis: u32) -> ValueId {
        let mut joined = self.of(parts[0]).clone();
        let place = axis as usize - usize::from(joined.shape.rows.is_some());
        for part in &parts[1..] {
            let part = self.of(*part);
            joined.range = joined.range.hull(part.range);
            joined.shape.fixed[place] += part.shape.fixed[place];
        }
        joined.op = Op::Concat(parts, axis);
        self.push(joined)
    }

    fn with_axis(&mut self, of: ValueId, axis: u32) -> ValueId {
        let mut value = self.of(of).clone();
        let place = axis as usize - usize::from(value.shape.rows.is_some());
        value.op = Op::Stack(vec![of], axis);
        value.shape.fixed.insert(place, 1);
        self.push(value)
    }

    /// An axis and the one behind it as one.
    fn merged(&mut self, of: ValueId, axis: u32) -> ValueId {
        let mut value = self.of(of).clone();
        let place = axis as usize - usize::from(value.shape.rows.is_some());
        value.shape.fixed[place] *= value.shape.fixed.remove(place + 1);
        let dims = row_major(&value.shape);
        value.op = Op::View { of, start: 0, dims };
        self.push(value)
    }

    /// Walks rows with a scan, whose carry is the last result and whose output is each of them.
    fn along_rows(
        &mut self,
        value: &Value,
        (reduction, op): (Reduction, Binary),
        of: ValueId,
    ) -> ValueId {
        let neutral = match reduction {
            Reduction::Sum | Reduction::Any => 0,
            Reduction::All => 1,
            Reduction::Min => value.range.hi,
            Reduction::Max => value.range.lo,
        };
        let range = value.range.hull(Range::of(neutral));
        let element = value.clone().with_range(range);
        let element = element.with_shape(value.shape.without(0));
        let fixed = element.shape.fixed.clone();
        let numbers = vec![neutral; fixed.iter().product::<u64>() as usize];
        let Some(data) = Data::from_numbers(value.ty, fixed, &numbers) else {
            unreachable!("the type holds its own range, and zero")
        };
        let init = self.derived(&element, Op::Const(data));
        let first = self.of(of).clone().with_shape(element.shape.clone());
        let (both, cast) = (Op::Binary(op, ValueId(0), ValueId(1)), Op::Cast(ValueId(2)));
        let values = vec![
            element.clone().with_op(Op::Param(0)),
            first.with_op(Op::Param(1)),
            element.clone().with_op(both),
            element.clone().with_op(cast).with_range(value.range),
        ];
        let body = Graph {
            params: 2,
            values,
            returns: vec![ValueId(2), ValueId(3)],
        };
        let of = Loop {
            init: vec![init],
            body: Box::new(body),
            ..Loop::over(vec![of])
        };
        let scan = self.derived(&element, Op::Scan(of));
        self.derived(value, Op::Part(scan, 1))
    }
}

/// A tree of running sums or ends.
struct Tree<'a> {
    /// The whole result.
    value: &'a Value,
    op: Binary,
    axis: u32,
}

impl Tree<'_> {
    fn length(&self, of: &Value) -> u64 {
        of.shape.fixed[self.axis as usize - usize::from(of.shape.rows.is_some())]
    }

    /// Range of two neighbours together. They are elements that the result adds up as well, so that
    /// its type holds their sum.
    fn twice(&self, each: Range) -> Range {
        let (lo, hi) = (2 * each.lo, 2 * each.hi);
        let sum = Range { lo, hi };
        match self.op {
            Binary::Add if self.value.ty.holds(sum) => sum,
            _ => self.value.range,
        }
    }
}

/// Lengths and steps of the fixed dimensions in row-major order.
fn row_major(shape: &Shape) -> Vec<(u64, i64)> {
    let mut step = 1;
    let mut dims = Vec::with_capacity(shape.fixed.len());
    for &length in shape.fixed.iter().rev() {
        dims.push((length, step));
        step *= length as i64;
    }
    dims.reverse();
    dims
}
