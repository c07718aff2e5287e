//! Short constructors of programs.

use sealane_program::builder::{Builder, Handle, Index, Operand};
use sealane_program::graph::{Binary, Program, Reduction};
use sealane_program::types::{Data, RowId, Shape, Type};
use sealane_testkit::random_program::declared;

/// Short constructors of programs with two parties and one table.
pub struct Sketch {
    b: Builder,
    rows: RowId,
}

impl Sketch {
    pub fn new(bound: u64) -> Sketch {
        let mut b = Builder::new("sketch").unwrap();
        b.party("alice").unwrap();
        b.party("bob").unwrap();
        let rows = b.rows("n", bound).unwrap();
        Sketch { b, rows }
    }

    pub fn by_rows(&self, fixed: &[u64]) -> Shape {
        Shape::with_rows(self.rows, fixed)
    }

    pub fn input(&mut self, name: &str, owner: u8, ty: Type, shape: Shape) -> Handle {
        let input = declared(name, owner, ty, shape, ty.range());
        self.b.input(input).unwrap()
    }

    pub fn column(&mut self, name: &str, owner: u8, ty: Type) -> Handle {
        self.input(name, owner, ty, self.by_rows(&[]))
    }

    /// A column of each party.
    pub fn columns(&mut self, ty: Type) -> [Handle; 2] {
        [("x", 0), ("y", 1)].map(|(name, owner)| self.column(name, owner, ty))
    }

    pub fn constant(&mut self, ty: Type, numbers: &[i128]) -> Handle {
        let data = Data::from_numbers(ty, vec![numbers.len() as u64], numbers).unwrap();
        self.b.constant(data, None).unwrap()
    }

    pub fn binary(&mut self, op: Binary, a: Handle, b: impl Into<Number>) -> Handle {
        self.b.binary(op, a.into(), b.into().0, None).unwrap()
    }

    pub fn select(&mut self, condition: Handle, yes: Handle, no: impl Into<Number>) -> Handle {
        let no = no.into().0;
        let done = self.b.select(condition.into(), yes.into(), no, None);
        done.unwrap()
    }

    pub fn cast(&mut self, a: Handle, ty: Type) -> Handle {
        self.b.cast(a, ty, None).unwrap()
    }

    pub fn index(&mut self, a: Handle, parts: &[Index]) -> Handle {
        self.b.index(a, parts, None).unwrap()
    }

    pub fn dot(&mut self, a: Handle, b: Handle, ty: Type) -> Handle {
        self.b.dot(a, b, Some(ty), None).unwrap()
    }

    pub fn call(&mut self, name: &str, operands: &[Handle]) -> Handle {
        let operands = operands.iter().map(|of| (*of).into()).collect::<Vec<_>>();
        self.b.call(name, &operands, None).unwrap()
    }

    /// A running sum, from 0: the last one and all of them.
    pub fn running_sum(&mut self, of: Handle, ty: Type) -> [Handle; 2] {
        let zero = self.b.scalar(ty, 0, None).unwrap();
        let (carries, elements) = self.b.begin_scan(&[zero.into()], &[of], None).unwrap();
        let element = self.cast(elements[0], ty);
        let sum = self.binary(Binary::Add, carries[0], element);
        let (carries, outs) = self.b.end_scan(&[sum.into()], &[sum.into()], None).unwrap();
        [carries[0], outs[0]]
    }

    pub fn reduce(&mut self, op: Reduction, a: Handle, axis: Option<i64>) -> Handle {
        self.b.reduce(op, a, axis, None, None).unwrap()
    }

    pub fn accumulate(&mut self, op: Reduction, a: Handle) -> Handle {
        self.b.accumulate(op, a, 0, None, None).unwrap()
    }

    pub fn reduce_to(&mut self, op: Reduction, a: Handle, axis: Option<i64>, ty: Type) -> Handle {
        self.b.reduce(op, a, axis, Some(ty), None).unwrap()
    }

    pub fn map(&mut self, over: Handle, body: impl FnOnce(&mut Self, Handle) -> Handle) -> Handle {
        let element = self.b.begin_map(&[over], None).unwrap()[0];
        let result = body(self, element);
        self.b.end_map(&[result.into()], None).unwrap()[0]
    }

    pub fn reveal(&mut self, name: &str, value: Handle, to: &[u8]) {
        let ty = self.b.value(value).unwrap().ty;
        self.b.reveal(name, value.into(), to, ty, None).unwrap();
    }

    pub fn finish(self) -> Program {
        self.b.finish().unwrap().0
    }
}

/// A handle or a bare number.
pub struct Number(Operand);

impl From<Handle> for Number {
    fn from(handle: Handle) -> Number {
        Number(handle.into())
    }
}

impl From<i128> for Number {
    fn from(number: i128) -> Number {
        Number(number.into())
    }
}
