//! Pass `scale`: fixed point as integers.
//!
//! A fixed-point value is computed as its stored number, the value times `2^f`. Operations that are
//! exact on values of one type are the same on stored numbers: sums, remainders, choices, orders.
//! The others are written out, with `h` fraction bits of the result:
//!
//! | on values | on stored numbers |
//! |---|---|
//! | conversion to more bits behind the point | a product by a power of two |
//! | conversion to fewer, or to an integer | a shift down, which is the exact floor |
//! | `a * b`, `a @ b` | the exact product or sum, and one shift |
//! | a sum of products along axes or rows | exact products, their exact sum, and one shift |
//! | `a / b` | the floor of the quotient, with one operand scaled up |
//! | `a // b` | the floor of the quotient, scaled up |
//! | a comparison of unlike types | of the numbers scaled to the longer fraction |
//! | a function | a call whose name has the ranges and types of its numbers |
//!
//! After this pass no type has a fraction. An exact product may be wider than any type: its *range*
//! gives its width, as for every later pass, and its type only states that it does not wrap.
//!
//! Scaling by a power of two and shifting by a constant take no gate: wires are moved, and bits
//! that are shifted out are never computed, except for their carries. In a ring a scaling is
//! linear.

use crate::fixed_functions::{PointsCall, PowersCall};
use crate::rewrite::Rewriter;
use sealane_program::call::{of_fixed, of_power};
use sealane_program::graph::{Binary, Graph, Op, Program, Reduction, RowSymbol, Value, ValueId};
use sealane_program::types::{Data, Dim, Range, Shape, Type};

/// Rewrites a program to stored numbers.
pub(crate) fn scale(program: &Program) -> Program {
    let mut scaled = program.clone();
    let renamed;
    (scaled.main, renamed) = graph(&program.main, &program.rows);
    for input in &mut scaled.inputs {
        input.ty = integer(input.ty);
    }
    for result in &mut scaled.results {
        result.value = renamed[result.value.0 as usize];
        result.ty = integer(result.ty);
    }
    scaled
}

/// Integer type of the stored numbers of a type.
fn integer(ty: Type) -> Type {
    match ty {
        Type::Fixed { signed, bits, .. } => Type::Int {
            signed,
            bits,
            wrapping: false,
        },
        ty => ty,
    }
}

/// Rewrites a graph to stored numbers; also returns the new number of each value.
pub(crate) fn graph(of: &Graph, rows: &[RowSymbol]) -> (Graph, Vec<ValueId>) {
    Scaler::graph((of, rows, Stored), Scaler::value)
}

type Scaler<'a> = Rewriter<'a, Stored>;

/// Setting of the pass, which has none.
struct Stored;

/// An operand as stored numbers: the values times `2^fraction`.
#[derive(Clone, Copy)]
struct Scaled {
    id: ValueId,
    fraction: i16,
}

impl Scaler<'_> {
    fn value(&mut self, value: &Value) -> ValueId {
        match &value.op {
            Op::Cast(a) if self.fraction(*a) != value.ty.fraction() => self.cast(value, *a),
            Op::Binary(Binary::Mul, a, b) if self.is_fixed(value, [*a, *b]) => {
                let (a, b) = (self.factor(*a), self.factor(*b));
                let by = i16::from(value.ty.fraction()) - a.fraction - b.fraction;
                let range = products(self.range(a.id), self.range(b.id), value);
                let exact = self.exactly(value, Op::Binary(Binary::Mul, a.id, b.id), range);
                self.rounded(value, exact, by)
            }
            Op::Dot(a, b) if self.is_fixed(value, [*a, *b]) => {
                let length = self.old(*b).shape.fixed[0];
                let (a, b) = (self.factor(*a), self.factor(*b));
                let by = i16::from(value.ty.fraction()) - a.fraction - b.fraction;
                let each = products(self.range(a.id), self.range(b.id), value);
                let [lo, hi] = [each.lo, each.hi].map(|end| end * i128::from(length));
                let range = Range { lo, hi };
                let exact = self.exactly(value, Op::Dot(a.id, b.id), range);
                self.rounded(value, exact, by)
            }
            Op::SumProduct { a, b, axes } => self.sum_of_products(value, [*a, *b], axes),
            Op::Binary(Binary::Div, a, b) => self.quotient(value, *a, *b),
            Op::Binary(Binary::FloorDiv, a, b) if value.ty.is_fixed() => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                let op = Op::Binary(Binary::FloorDiv, a.id, b.id);
                // A scaling is exact, so the range before it follows from the range after it.
                let whole = shifted(value.range, -i16::from(value.ty.fraction()));
                let whole = self.exactly(value, op, whole);
                self.rounded(value, whole, value.ty.fraction().into())
            }
            Op::Binary(op, a, b) if op.is_comparison() => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                let by = b.fraction - a.fraction;
                let (x, y) = (self.scaled_up(a.id, by), self.scaled_up(b.id, -by));
                self.push(value.clone(), Op::Binary(*op, x, y))
            }
            op => {
                let mut op = op.clone();
                op.renumber(|id| self.renamed[id.0 as usize]);
                match &mut op {
                    Op::Const(data) => data.ty = integer(data.ty),
                    Op::Call(name, _) => {
                        let operands = value.op.operands();
                        if let Some(call) = self.function(name, &operands, value.ty) {
                            *name = call;
                        }
                    }
                    op => {
                        if let Some(body) = op.body_mut() {
                            *body = graph(body, self.rows).0;
                        }
                    }
                }
                self.push(value.clone(), op)
            }
        }
    }

    /// Name of a call on stored numbers, if a call is of a function of fixed point.
    fn function(&self, name: &str, operands: &[ValueId], to: Type) -> Option<String> {
        let of = |id: ValueId| self.old(id);
        match *operands {
            [x] => {
                let (call, x) = (of_fixed(name)?, of(x));
                let points = call.points(x.ty, x.range, to);
                let call = PointsCall { call, points };
                x.ty.is_fixed().then(|| call.to_string())
            }
            [x, y] => {
                let call = of_power(name)?;
                let powers = call.powers([x, y].map(|id| (of(id).ty, of(id).range)), to);
                let call = PowersCall { call, powers };
                to.is_fixed().then(|| call.to_string())
            }
            _ => None,
        }
    }

    /// Rewrites a conversion that changes the number of fraction bits.
    fn cast(&mut self, value: &Value, a: ValueId) -> ValueId {
        let by = i16::from(value.ty.fraction()) - i16::from(self.fraction(a));
        let of = self.operand(a);
        if by > 0 {
            let up = self.scaled_up(of.id, by);
            return self.push(value.clone(), Op::Cast(up));
        }
        let floor = shifted(self.range(of.id), by);
        let down = self.shifted_down(of.id, -by, floor);
        self.push(value.clone(), Op::Cast(down))
    }

    /// Rewrites exact products, summed axis by axis and then rounded.
    fn sum_of_products(&mut self, value: &Value, [a, b]: [ValueId; 2], axes: &[u32]) -> ValueId {
        let shape = broadcast(&self.old(a).shape, &self.old(b).shape);
        let (a, b) = (self.factor(a), self.factor(b));
        let by = i16::from(value.ty.fraction()) - a.fraction - b.fraction;
        let range = products(self.range(a.id), self.range(b.id), value);
        let mut product = value.clone();
        product.shape = shape;
        let op = Op::Binary(Binary::Mul, a.id, b.id);
        let mut exact = self.exactly(&product, op, range);
        for axis in axes.iter().rev() {
            let mut sum = self.made(exact).clone();
            let Some(dim) = sum.shape.dim(*axis as usize) else {
                unreachable!("check has seen that the product has these axes")
            };
            let counts = match dim {
                Dim::Fixed(length) => Range::of(length.into()),
                Dim::Rows(rows) => Range {
                    lo: 1,
                    hi: self.rows[usize::from(rows.0)].bound.into(),
                },
            };
            let range = products(sum.range, counts, value);
            sum.shape = sum.shape.without(*axis as usize);
            exact = self.exactly(&sum, Op::Reduce(Reduction::Sum, exact, *axis), range);
        }
        self.rounded(value, exact, by)
    }

    /// Rewrites the floor of a quotient.
    fn quotient(&mut self, value: &Value, a: ValueId, b: ValueId) -> ValueId {
        let (a, b) = (self.operand(a), self.operand(b));
        let by = i16::from(value.ty.fraction()) - a.fraction + b.fraction;
        let (over, under) = (self.scaled_up(a.id, by), self.scaled_up(b.id, -by));
        self.push(value.clone(), Op::Binary(Binary::FloorDiv, over, under))
    }

    /// Multiplies an exact result by `2^by` and rounds it down, to the type of `value`.
    fn rounded(&mut self, value: &Value, exact: ValueId, by: i16) -> ValueId {
        if by < 0 {
            let down = self.shifted_down(exact, -by, value.range);
            return self.push(value.clone(), Op::Cast(down));
        }
        let up = self.scaled_up(exact, by);
        self.push(value.clone(), Op::Cast(up))
    }

    /// Multiplies the value by `2^by`; returns it unchanged if `by` is not positive.
    fn scaled_up(&mut self, mut id: ValueId, mut by: i16) -> ValueId {
        if by > 0 && self.made(id).ty.is_wrapping() {
            // The scaled value is the representative of this one, if it has one.
            let of = self.made(id).clone();
            id = self.exactly(&of, Op::Cast(id), of.range);
        }
        while by > 0 {
            // A constant has at most 64 bits.
            let step = by.min(63);
            let factor = self.power(step);
            let of = self.made(id).clone();
            let range = shifted(of.range, step);
            let op = Op::Binary(Binary::Mul, id, factor);
            id = self.exactly(&of, op, range);
            by -= step;
        }
        id
    }

    /// Returns the floor of the value divided by `2^by`, which lies in `range`.
    fn shifted_down(&mut self, id: ValueId, by: i16, range: Range) -> ValueId {
        let amount = self.number(Type::U8, by.unsigned_abs().min(127).into());
        let of = self.made(id).clone();
        let op = Op::Binary(Binary::Shr, id, amount);
        self.exactly(&of, op, range)
    }

    /// Returns a factor of a product. Bits that are zero in all elements of a constant are left
    /// out: they would only widen the product.
    fn factor(&mut self, id: ValueId) -> Scaled {
        let scaled = self.operand(id);
        let Op::Const(data) = &self.old(id).op else {
            return scaled;
        };
        let zeros = data.numbers().map(|number| number.trailing_zeros()).min();
        // Zero has no set bit, and needs no other form.
        let zeros = zeros.filter(|zeros| (1..64).contains(zeros)).unwrap_or(0);
        if zeros == 0 {
            return scaled;
        }
        let ty = integer(data.ty);
        let numbers: Vec<_> = data.numbers().map(|number| number >> zeros).collect();
        let range = Range::of_all(numbers.iter().copied());
        let (Some(shorter), Some(range)) =
            (Data::from_numbers(ty, data.shape.clone(), &numbers), range)
        else {
            return scaled;
        };
        let mut value = self.old(id).clone();
        value.range = range;
        Scaled {
            id: self.push(value, Op::Const(shorter)),
            fraction: scaled.fraction - zeros as i16,
        }
    }

    fn power(&mut self, exponent: i16) -> ValueId {
        self.number(Type::unsigned(64), 1 << exponent)
    }

    /// Adds an operation like `value` whose result has another range, not limited to a type's
    /// width.
    fn exactly(&mut self, value: &Value, op: Op, range: Range) -> ValueId {
        self.push(value.clone().with_integers(range), op)
    }

    fn push(&mut self, value: Value, op: Op) -> ValueId {
        let ty = integer(value.ty);
        self.add(Value { op, ty, ..value })
    }

    fn operand(&self, id: ValueId) -> Scaled {
        let (id, fraction) = (self.renamed[id.0 as usize], self.fraction(id).into());
        Scaled { id, fraction }
    }

    fn fraction(&self, id: ValueId) -> u8 {
        self.old(id).ty.fraction()
    }

    fn range(&self, id: ValueId) -> Range {
        self.made(id).range
    }

    /// Returns whether an operation rounds: the check has ensured that its exact result is within
    /// `i128`.
    fn is_fixed(&self, value: &Value, operands: [ValueId; 2]) -> bool {
        let fixed = |id: ValueId| self.old(id).ty.is_fixed();
        value.ty.is_fixed() || operands.into_iter().any(fixed)
    }
}

/// Shape to which two shapes broadcast, which the check has ensured.
pub(crate) fn broadcast(a: &Shape, b: &Shape) -> Shape {
    let rows = a.rows.or(b.rows);
    let rank = a.rank().max(b.rank()) - usize::from(rows.is_some());
    let dim = |shape: &Shape, back: usize| {
        let index = shape.fixed.len().checked_sub(back);
        index.map_or(1, |index| shape.fixed[index])
    };
    let fixed = (1..=rank).rev();
    let fixed = fixed.map(|back| dim(a, back).max(dim(b, back))).collect();
    Shape { rows, fixed }
}

/// Range of products, which the check has bounded. It has seen as well where they, and so their
/// sum, are not negative: of numbers with themselves.
fn products(a: Range, b: Range, of: &Value) -> Range {
    let ends = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
    let all = ends.map(Range::of);
    let all = all.into_iter().fold(Range::of(ends[0]), Range::hull);
    let least = if of.range.lo < 0 { all.lo } else { 0 };
    let (lo, hi) = (all.lo.max(least), all.hi);
    Range { lo, hi }
}

/// Range times `2^by`, rounded down, which the check has bounded.
fn shifted(range: Range, by: i16) -> Range {
    range.shifted(by).unwrap_or(range)
}
