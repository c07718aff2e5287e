//! Random arithmetic of fixed point: products, quotients and sums of products that are rounded
//! down, of values and literals, in ranges that leave room for them.

use super::Grower;
use crate::random::Random;
use sealane_program::builder::{Handle, Operand};
use sealane_program::graph::{Binary, Reduction};
use sealane_program::literal::{Literal, Number, Real};
use sealane_program::types::Type;

impl Grower<'_> {
    /// Adds a fixed-point operation, if the builder accepts it: on `a` as it is, or converted to a
    /// type where most are accepted.
    pub(super) fn fixed(&mut self, a: Handle, pool: &[Handle]) -> Option<Handle> {
        let ty = self.pick(&[
            Type::fixed(16, 16),
            Type::fixed(12, 4),
            Type::fixed(20, 1),
            Type::fixed(30, 30),
        ]);
        let a = match self.below(3) {
            0 => a,
            _ => self.small(a, ty)?,
        };
        let b = match self.below(4) {
            0 => self.pick(pool),
            _ => {
                let b = self.pick(pool);
                let other = self.pick(&[ty, Type::fixed(20, 12), Type::I64]);
                self.small(b, other)?
            }
        };
        let operand: Operand = match self.below(4) {
            0 => self.literal()?,
            1 => Operand::Int(self.below(7) as i128 - 3),
            _ => b.into(),
        };
        match self.below(10) {
            0 | 1 => self.op(Binary::Mul, a, operand),
            2 => {
                // Away from zero, so that it can divide.
                let least = self.op(Binary::Max, b, 1)?;
                self.op(Binary::Div, a, least)
            }
            3 => self.op(Binary::Div, a, operand),
            4 => {
                let op = self.pick(&[Binary::Lt, Binary::Le, Binary::Eq, Binary::Gt, Binary::Ne]);
                self.op(op, a, operand)
            }
            5 => {
                let wanted = self.pick_type(ty);
                self.b.dot(a, b, wanted, None).ok()
            }
            6 => {
                let wanted = self.pick_type(Type::fixed(24, 2));
                self.b.reduce(Reduction::Sum, a, None, wanted, None).ok()
            }
            7 => {
                // Exact products, in any way of choosing them.
                let mut product = self.op(Binary::Mul, a, operand)?;
                if self.below(2) == 0 {
                    let (flag, zero) = (self.op(Binary::Gt, a, b)?, Operand::Int(0));
                    let chosen = self.b.select(flag.into(), product.into(), zero, None);
                    product = chosen.ok()?;
                }
                let wanted = self.pick_type(Type::fixed(24, 2));
                let axis = self.pick(&[None, Some(0)]);
                let sum = Reduction::Sum;
                self.b.reduce(sum, product, axis, wanted, None).ok()
            }
            8 => {
                let op = self.pick(&[Binary::Add, Binary::Sub, Binary::Min, Binary::Max]);
                self.op(op, a, operand)
            }
            _ => {
                let op = self.pick(&[Binary::FloorDiv, Binary::Mod]);
                self.op(op, a, operand)
            }
        }
    }

    /// Adds a function of fixed point. Operands are of few types and ranges, so that the
    /// polynomials of few circuits are computed.
    pub(super) fn function(&mut self, a: Handle, pool: &[Handle]) -> Option<Handle> {
        let from = self.pick(&[Type::fixed(4, 6), Type::fixed(8, 4)]);
        let x = self.clipped(a, from, 3)?;
        let (name, saturate) = self.pick(&[
            ("exp", true),
            ("log", true),
            ("sqrt", true),
            ("sigmoid", false),
            ("sin", false),
            ("pow", true),
        ]);
        let to = self.pick_type(Type::fixed(5, 8));
        if name == "pow" {
            let y = self.pick(pool);
            let y = self.clipped(y, from, 3)?;
            return self.b.power([x.into(), y.into()], to, saturate, None).ok();
        }
        self.b.function(name, x, to, saturate, None).ok()
    }

    fn pick_type(&mut self, ty: Type) -> Option<Type> {
        self.pick(&[None, Some(ty)])
    }

    /// Converts the value to a type, clipped to a few units about zero.
    fn small(&mut self, a: Handle, ty: Type) -> Option<Handle> {
        let top = self.pick(&[1, 7, 30]);
        self.clipped(a, ty, top)
    }

    /// Converts the value to a type, clipped to so many units about zero.
    fn clipped(&mut self, a: Handle, ty: Type, top: i128) -> Option<Handle> {
        let a = self.b.saturate(a, ty, None).ok()?;
        let low = self.op(Binary::Min, a, top)?;
        self.op(Binary::Max, low, -top)
    }

    /// A number with a fraction or an array of three, exact in few types.
    fn literal(&mut self) -> Option<Operand> {
        let (tenths, quarters) = (self.below(90) as i128 - 40, self.below(60) as i128 - 20);
        let literal = match self.below(3) {
            0 => Literal::of(Number::Ratio(Real::new(tenths, 10)?)),
            1 => Literal::of(Number::Ratio(Real::new(quarters, 4)?)),
            _ => {
                let mut random = Random::new(self.below(1 << 20) as u64);
                let number = |_| f64::from(random.number() % 1000) / 64.0 - 5.0;
                let (shape, numbers) = (vec![3], (0..3).map(number).map(Number::Float).collect());
                Literal { shape, numbers }
            }
        };
        self.b.literal(literal, None).ok()
    }
}
