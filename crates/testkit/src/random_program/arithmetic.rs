//! Random programs of mostly sums and products, of numbers that have room for them: the operations
//! that protocols with arithmetic compute in rings, with enough others to force conversions.

use super::{Case, Grower, declared};
use proptest::prelude::*;
use sealane_program::builder::{Handle, Index, Operand};
use sealane_program::graph::{Binary, Input, Reduction, Unary};
use sealane_program::types::{Data, Range, Shape, Type};

/// Type whose products have more bits than it, and some more than a ring.
const FIXED: Type = Type::fixed(30, 12);

/// Random cases of arithmetic, as a strategy of `proptest`.
pub fn arithmetic() -> impl Strategy<Value = Case> {
    prop::collection::vec(any::<u32>(), 8..120).prop_map(|tape| grow(&tape))
}

fn grow(tape: &[u32]) -> Case {
    let mut grower = Grower::new(2, tape);
    let numbers = grower.numbers();
    grower.case(numbers, |grower, pool| {
        let made = grower.operation(pool);
        grower.keep(pool, made);
    })
}

impl Grower<'_> {
    /// Two inputs of each of four types: numbers that stay small for a while, with fractions and
    /// without, and two types that wrap, of which one is as wide as rings may be.
    fn numbers(&mut self) -> (Vec<Input>, Vec<Handle>) {
        let parties = ["alice", "bob"].map(|name| self.b.party(name).expect("a name"));
        let rows = self.b.rows("n", 5).expect("a row count");
        let (small, wide) = (Range { lo: -9, hi: 20 }, Type::unsigned(64).wrapping());
        let byte = Type::U8.wrapping();
        let (lo, hi) = (-(3 << 12) - 1, 5 << 12);
        let fine = Range { lo, hi };
        let kinds = [
            (Type::I64, small, Shape::with_rows(rows, [3])),
            (byte, byte.range(), Shape::with_rows(rows, [])),
            (wide, wide.range(), Shape::fixed([3])),
            (Type::I64, small, Shape::with_rows(rows, [])),
            (byte, byte.range(), Shape::with_rows(rows, [3])),
            (wide, wide.range(), Shape::with_rows(rows, [3])),
            (FIXED, fine, Shape::with_rows(rows, [3])),
            (FIXED, fine, Shape::fixed([3])),
        ];
        let input = |(index, (ty, range, shape)): (usize, (Type, Range, Shape))| {
            declared(&format!("x{index}"), parties[index % 2], ty, shape, range)
        };
        let inputs: Vec<Input> = kinds.into_iter().enumerate().map(input).collect();
        let handle = |input: &Input| self.b.input(input.clone()).expect("an input");
        let pool = inputs.iter().map(handle).collect();
        (inputs, pool)
    }

    /// Adds an operation, if the builder accepts it.
    fn operation(&mut self, pool: &[Handle]) -> Option<Handle> {
        let (x, y) = (self.pick(pool), self.pick(pool));
        let (a, b) = (Operand::from(x), Operand::from(y));
        let number = Operand::Int(self.below(5) as i128);
        let axis = self.below(3) as i64 - 1;
        let byte = Type::U8.wrapping();
        let dtype = self.pick(&[None, Some(Type::I64), Some(byte), Some(FIXED)]);
        let made = match self.below(16) {
            0 | 1 => self.b.binary(Binary::Mul, a, b, None),
            2 => self.b.binary(Binary::Add, a, b, None),
            3 => self.b.binary(Binary::Sub, a, b, None),
            4 => self.b.binary(Binary::Mul, a, number, None),
            5 => self.b.binary(Binary::Sub, number, a, None),
            6 => self.b.unary(Unary::Neg, a, None),
            7 | 8 => self.b.reduce(Reduction::Sum, x, Some(axis), dtype, None),
            9 => self.b.dot(x, y, dtype, None),
            10 => self.b.stack(&[a, b], axis, None),
            11 => self.b.index(x, &[Index::Ellipsis, Index::At(axis)], None),
            12 => {
                let ty = self.pick(&[Type::I64, byte, Type::unsigned(16)]);
                let table = Data::from_numbers(ty, vec![3], &[0, 7, 1])?;
                let table = self.b.constant(table, None).ok()?;
                match self.below(2) {
                    0 => self.b.dot(x, table, dtype, None),
                    _ => self.b.binary(Binary::Mul, a, table.into(), None),
                }
            }
            13 => {
                let ty = self.pick(&[Type::I64, byte, Type::unsigned(16), FIXED]);
                self.b.cast(x, ty, None)
            }
            14 => {
                let flag = self.b.binary(Binary::Gt, a, b, None).ok()?;
                let ty = self.b.value(x)?.ty;
                match self.below(2) {
                    0 => self.b.cast(flag, ty, None),
                    _ => self.b.select(flag.into(), a, Operand::Int(0), None),
                }
            }
            _ => self.b.binary(Binary::Min, a, b, None),
        };
        made.ok()
    }
}
