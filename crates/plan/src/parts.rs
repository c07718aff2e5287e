//! Pass `parts`: products of sums of which each party knows a part, term by term.
//!
//! Of `(x + y) * (z - w)`, where one party knows `x` and `z` and the other `y` and `w`, each party
//! computes the product of its own parts alone. What is left are products of numbers of which each
//! is known to a party, and those take one correlated OT for each bit of the narrower one (Gilboa,
//! CRYPTO 1999), where a product of shares takes two for each bit of the ring. A square has one
//! such term, not two.

use crate::rewrite::{Rewriter, readers};
use crate::scale::broadcast;
use sealane_program::graph::{Binary, Op, Program, Reduction, Unary, Value, ValueId, Visibility};
use sealane_program::types::{Dim, Range, RowId, Shape};
use std::collections::HashMap;

/// Most operations between a factor and what parties know of it.
const DEEPEST: u32 = 8;

/// Most bits of a term.
const MOST_BITS: u8 = 64;

/// Rewrites products of the main graph, in a run in which these parties compute.
pub(crate) fn parts(program: &Program, computing: Vec<u8>) -> Program {
    let mut split = program.clone();
    let setting = Splitting {
        computing,
        readers: readers(program),
        terms: HashMap::new(),
    };
    let (graph, rows) = (&program.main, &program.rows);
    let renamed;
    (split.main, renamed) = Splitter::graph((graph, rows, setting), Splitter::value);
    for result in &mut split.results {
        result.value = renamed[result.value.0 as usize];
    }
    split
}

/// Setting of the pass.
struct Splitting {
    /// The parties that compute.
    computing: Vec<u8>,
    /// How often each value is read.
    readers: Vec<usize>,
    /// Terms of products, by their new numbers, each with the number of times that it counts.
    terms: HashMap<ValueId, Vec<(ValueId, u32)>>,
}

type Splitter<'a> = Rewriter<'a, Splitting>;

/// A part of a sum: the party that knows it, or none of a constant.
type Part = (Option<u8>, ValueId);

impl Splitter<'_> {
    fn value(&mut self, value: &Value) -> ValueId {
        let mut copied = value.clone();
        copied.op.renumber(|id| self.renamed[id.0 as usize]);
        if !is_sum(value) {
            return self.add(copied);
        }
        let split = match (&value.op, &copied.op) {
            (_, Op::Binary(Binary::Mul, a, b) | Op::Dot(a, b)) => {
                let terms = self.products(&copied, [*a, *b]);
                terms.and_then(|terms| Some((self.sum(&copied, &terms)?, terms)))
            }
            // The sum of a product that nothing else reads is one of each term.
            (Op::Reduce(Reduction::Sum, old, _), Op::Reduce(_, of, axis))
                if self.setting.readers[old.0 as usize] == 1 =>
            {
                let terms = self.setting.terms.get(of).cloned();
                let whole = self.made(*of).shape.clone();
                let terms = terms.and_then(|terms| self.sums(&copied, &terms, (&whole, *axis)));
                terms.and_then(|terms| Some((self.sum(&copied, &terms)?, terms)))
            }
            _ => None,
        };
        let Some((sum, terms)) = split else {
            return self.add(copied);
        };
        self.setting.terms.insert(sum, terms);
        sum
    }

    /// The terms of a product, if a factor has several parts and parties know all of them.
    fn products(&mut self, value: &Value, factors: [ValueId; 2]) -> Option<Vec<(ValueId, u32)>> {
        // A product by a bit is a choice.
        if factors.iter().any(|id| self.made(*id).range.bits() == 1) {
            return None;
        }
        let [left, right] = factors.map(|id| self.parts_of(id, DEEPEST));
        let (left, right) = (left?, right?);
        if left.len().max(right.len()) == 1 {
            return None;
        }
        let inner = matches!(value.op, Op::Dot(..));
        let like = |part: &Part, of: ValueId| self.made(part.1).shape == self.made(of).shape;
        let whole = left.iter().all(|part| like(part, factors[0]))
            && right.iter().all(|part| like(part, factors[1]));
        if inner && !whole {
            return None;
        }
        // Products of matrices do not commute.
        let commutes = !inner || value.shape.rank() == 0;
        let square = commutes && factors[0] == factors[1];
        let mut terms = Vec::new();
        for (at, (_, x)) in left.iter().enumerate() {
            let first = if square { at } else { 0 };
            for (other, (_, y)) in right.iter().enumerate().skip(first) {
                let op = if inner {
                    Op::Dot(*x, *y)
                } else {
                    Op::Binary(Binary::Mul, *x, *y)
                };
                let times = 1 + u32::from(square && at != other);
                terms.push((self.made_by(op, value)?, times));
            }
        }
        Some(terms)
    }

    /// The sum of each term along an axis of their sum, of shape `whole`.
    fn sums(
        &mut self,
        value: &Value,
        terms: &[(ValueId, u32)],
        (whole, axis): (&Shape, u32),
    ) -> Option<Vec<(ValueId, u32)>> {
        let back = whole.rank() - axis as usize;
        let sum = |(term, times): &(ValueId, u32)| {
            let shape = &self.made(*term).shape;
            let own = shape.rank().checked_sub(back)?;
            // A term that repeats along the axis would count several times.
            let same = shape.dim(own) == whole.dim(axis as usize);
            let op = Op::Reduce(Reduction::Sum, *term, own as u32);
            same.then_some(())?;
            Some((self.made_by(op, value)?, *times))
        };
        terms.iter().map(sum).collect()
    }

    /// The sum of terms, which `value` is.
    fn sum(&mut self, value: &Value, terms: &[(ValueId, u32)]) -> Option<ValueId> {
        let repeated = |(term, times): &(ValueId, u32)| vec![*term; *times as usize];
        let terms = terms.iter().flat_map(repeated).collect::<Vec<_>>();
        let (last, terms) = terms.split_last()?;
        let add = |a, b| Op::Binary(Binary::Add, a, b);
        let mut sum = *terms.first()?;
        for term in &terms[1..] {
            sum = self.made_by(add(sum, *term), value)?;
        }
        Some(self.add(value.clone().with_op(add(sum, *last))))
    }

    /// The parts of a sum, if parties know all of them: at most one of each party, and of
    /// constants.
    fn parts_of(&mut self, id: ValueId, deepest: u32) -> Option<Vec<Part>> {
        let value = self.made(id).clone();
        let whole = |party, known: bool| known.then(|| vec![(party, id)]);
        match value.visibility {
            Visibility::Known(party) => {
                return whole(Some(party), self.setting.computing.contains(&party));
            }
            Visibility::Public => return whole(None, matches!(value.op, Op::Const(_))),
            Visibility::Secret => {}
        }
        let deeper = deepest.checked_sub(1).filter(|_| is_sum(&value))?;
        let (op, mut parts, others) = match value.op {
            Op::Cast(of) => return self.parts_of(of, deeper),
            Op::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
                let others = self.parts_of(b, deeper)?;
                (op, self.parts_of(a, deeper)?, others)
            }
            Op::Unary(Unary::Neg, of) => (Binary::Sub, Vec::new(), self.parts_of(of, deeper)?),
            _ => return None,
        };
        for (party, other) in others {
            let own = parts.iter_mut().find(|(of, _)| *of == party);
            match own {
                Some((_, own)) => *own = self.made_by(Op::Binary(op, *own, other), &value)?,
                None if op == Binary::Add => parts.push((party, other)),
                None => {
                    let negated = Op::Unary(Unary::Neg, other);
                    parts.push((party, self.made_by(negated, &value)?));
                }
            }
        }
        Some(parts)
    }

    /// Adds an operation, with the range that follows from its operands; none if a ring does not
    /// hold that.
    fn made_by(&mut self, op: Op, like: &Value) -> Option<ValueId> {
        let bound = |rows: RowId| self.rows[usize::from(rows.0)].bound;
        let operands = op.operands();
        let [x, y] = [operands.first()?, operands.last()?].map(|id| self.made(*id));
        let (a, b) = (x.range, y.range);
        let (lo, hi) = match &op {
            Op::Unary(..) => (-a.hi, -a.lo),
            Op::Binary(Binary::Add, ..) => (a.lo + b.lo, a.hi + b.hi),
            Op::Binary(Binary::Sub, ..) => (a.lo - b.hi, a.hi - b.lo),
            Op::Reduce(_, _, axis) => {
                let terms = match x.shape.dim(*axis as usize)? {
                    Dim::Fixed(length) => length,
                    Dim::Rows(rows) => bound(rows),
                };
                let times = |end: i128| end.checked_mul(terms.into());
                (times(a.lo)?.min(a.lo), times(a.hi)?.max(a.hi))
            }
            _ => {
                let terms = match &op {
                    Op::Dot(..) => *y.shape.fixed.first()?,
                    _ => 1,
                };
                let ends = [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)];
                let ends = ends.map(|(a, b)| a.checked_mul(b)?.checked_mul(terms.into()));
                let [first, second, third, fourth] = ends;
                let ends = [first?, second?, third?, fourth?];
                (ends.into_iter().min()?, ends.into_iter().max()?)
            }
        };
        let range = Range { lo, hi };
        let shape = match &op {
            Op::Dot(..) => like.shape.clone(),
            Op::Reduce(_, _, axis) => x.shape.without(*axis as usize),
            _ => broadcast(&x.shape, &y.shape),
        };
        let visibility = x.visibility.join(y.visibility);
        let value = Value {
            shape,
            visibility,
            ..like.clone()
        };
        let fits = range.bits() <= MOST_BITS;
        fits.then(|| self.add(value.with_integers(range).with_op(op)))
    }
}

/// Returns whether a value is an integer that does not wrap, so that sums of parts give it.
fn is_sum(value: &Value) -> bool {
    !value.ty.is_wrapping() && !value.ty.is_float()
}
