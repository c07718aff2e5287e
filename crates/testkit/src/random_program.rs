//! Random programs with inputs, for every crate that takes a program.
//!
//! A program is grown from a tape of random numbers: each decides one thing (an operation, an
//! operand, a type). The generator drives the real builder and goes on where the builder refuses,
//! so every result is a program that a user could have traced. A shorter tape gives a smaller
//! program, so `proptest` shrinks a failure by shrinking the tape.

mod arithmetic;
mod arrange;
mod bodies;
mod fixed;
mod order;
mod tables;

use crate::random::Random;
pub use arithmetic::arithmetic;
use proptest::prelude::*;
use sealane_program::builder::{Builder, Handle, Index, Operand};
use sealane_program::graph::{Binary, Input, Program, Reduction, Unary, Value};
use sealane_program::types::{Data, Range, Shape, Type};
use std::collections::BTreeMap;
use std::fmt;

/// A program with inputs that match it.
#[derive(Clone)]
pub struct Case {
    /// A checked program, with at least one result.
    pub program: Program,
    /// Inputs by name.
    pub inputs: BTreeMap<String, Data>,
}

/// Names of parties; most programs have the first two.
const PARTIES: [&str; 3] = ["alice", "bob", "carol"];

/// An input without names of columns or a place in a source.
pub fn declared(name: &str, owner: u8, ty: Type, shape: Shape, range: Range) -> Input {
    Input {
        range,
        ..Input::new(name, owner, ty, shape)
    }
}

/// Random cases for two parties, as a strategy of `proptest`.
pub fn cases() -> impl Strategy<Value = Case> {
    tapes().prop_map(|tape| grow(&tape))
}

/// Random cases for three parties: each may own inputs and learn results.
pub fn cases_of_three() -> impl Strategy<Value = Case> {
    tapes().prop_map(|tape| grow_for(&PARTIES, &tape))
}

fn tapes() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 8..160)
}

/// Returns the case of a seed, the same on every machine.
pub fn random_program(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let tape: Vec<u32> = (0..160).map(|_| random.number()).collect();
    grow(&tape)
}

/// Prints the text of the program and the inputs, which are random and no secret.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.program)?;
        for (name, data) in &self.inputs {
            let numbers: Vec<i128> = data.numbers().collect();
            writeln!(f, "{name}{:?} = {numbers:?}", data.shape)?;
        }
        Ok(())
    }
}

/// Most nested bodies.
const DEPTH: u32 = 2;
/// Most elements of a value for each row, so that the reference stays quick.
const ELEMENTS: u64 = 256;

/// Grows the case for two parties from a tape.
pub fn grow(tape: &[u32]) -> Case {
    grow_for(&PARTIES[..2], tape)
}

fn grow_for(parties: &[&str], tape: &[u32]) -> Case {
    let mut grower = Grower::new(parties.len(), tape);
    let signature = grower.signature(parties);
    grower.case(signature, |grower, pool| grower.step(pool))
}

struct Grower<'a> {
    b: Builder,
    parties: usize,
    tape: &'a [u32],
    next: usize,
    depth: u32,
}

impl<'a> Grower<'a> {
    fn new(parties: usize, tape: &'a [u32]) -> Grower<'a> {
        Grower {
            b: Builder::new("random").expect("a name"),
            parties,
            tape,
            next: 0,
            depth: 0,
        }
    }

    /// Takes steps to the end of the tape, from a signature and its inputs as values.
    fn case(
        mut self,
        (declared, mut pool): (Vec<Input>, Vec<Handle>),
        step: impl Fn(&mut Grower<'a>, &mut Vec<Handle>),
    ) -> Case {
        while self.next < self.tape.len() {
            step(&mut self, &mut pool);
        }
        self.results(&pool);
        let checked = self.b.finish();
        let (program, _) = checked.expect("a grown program passes its own check");
        let inputs = data(&program, &declared, self.tape);
        Case { program, inputs }
    }

    /// Draws the next number of the tape below `count`; 0 after its end.
    fn below(&mut self, count: usize) -> usize {
        let number = self.tape.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        number as usize % count
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Declares all parties, one or two row counts, two to six inputs. Shapes repeat, so that
    /// operations find matching operands.
    fn signature(&mut self, parties: &[&str]) -> (Vec<Input>, Vec<Handle>) {
        let named = parties.iter().map(|name| self.b.party(name));
        let parties = named.collect::<Result<Vec<_>, _>>().expect("parties");
        let bound = 1 + self.below(9) as u64;
        let n = self.b.rows("n", bound).expect("a bound");
        let shapes = [
            Shape::with_rows(n, []),
            Shape::with_rows(n, [3]),
            Shape::scalar(),
            Shape::fixed([3]),
            Shape::with_rows(n, [16]),
            Shape::fixed([3, 2]),
            Shape::fixed([16]),
        ];
        let chosen = (0..2 + self.below(4)).map(|_| shapes[self.below(shapes.len())].clone());
        let mut chosen: Vec<Shape> = chosen.collect();
        // Some input has the rows `n`, and sometimes one has the other row count.
        chosen.push(shapes[self.below(2)].clone());
        if self.below(3) == 0 {
            let m = self.b.rows("m", 3).expect("a bound");
            chosen.push(Shape::with_rows(m, [2]));
        }
        let (mut inputs, mut pool) = (Vec::new(), Vec::new());
        for (index, shape) in chosen.into_iter().enumerate() {
            let ty = self.element_type();
            let range = match self.below(3) {
                0 => Range {
                    lo: ty.range().lo / 4,
                    hi: ty.range().hi / 3,
                },
                _ => ty.range(),
            };
            let owner = self.pick(&parties);
            let input = declared(&format!("x{index}"), owner, ty, shape, range);
            pool.push(self.b.input(input.clone()).expect("an input"));
            inputs.push(input);
        }
        (inputs, pool)
    }

    fn element_type(&mut self) -> Type {
        if self.below(4) == 0 {
            return self.fixed_type();
        }
        let bits = self.pick(&[1, 3, 8, 8, 16, 31, 64]);
        let ty = if self.below(2) == 0 {
            Type::unsigned(bits)
        } else {
            Type::signed(bits)
        };
        match self.below(4) {
            0 => Type::Bool,
            1 => ty.wrapping(),
            _ => ty,
        }
    }

    /// A fixed-point type, the narrowest and the widest ones among them.
    fn fixed_type(&mut self) -> Type {
        let (integer, fraction) = self.pick(&[
            (16, 16),
            (8, 8),
            (4, 4),
            (2, 6),
            (12, 3),
            (0, 8),
            (5, 0),
            (1, 40),
            (32, 32),
            (1, 63),
        ]);
        match self.below(2) {
            0 => Type::ufixed(integer, fraction),
            _ => Type::fixed(integer, fraction),
        }
    }

    /// Adds a few values to the pool, or none if the builder refuses.
    fn step(&mut self, pool: &mut Vec<Handle>) {
        let a = self.pick(pool);
        let made = match self.below(22) {
            0..=5 => self.binary(a, pool),
            6 => {
                let op = self.pick(&Unary::ALL);
                self.b.unary(op, a.into(), None).ok()
            }
            7 => self.select(a, pool),
            8 => {
                let ty = self.element_type();
                self.b.cast(a, ty, None).ok()
            }
            9 => self.reduce(a),
            10 => {
                let (b, wide) = (self.pick(pool), self.pick(&[None, Some(Type::I64)]));
                self.b.dot(a, b, wide, None).ok()
            }
            11 => self.index(a),
            12 => {
                let (b, axis) = (self.pick(pool), self.below(3) as i64 - 1);
                self.b.stack(&[a.into(), b.into()], axis, None).ok()
            }
            13 => self.call(a, pool),
            14 => self.lookup(a, pool),
            17 => self.fixed(a, pool),
            21 => self.function(a, pool),
            19 => self.arranged(a, pool),
            18 => {
                let ty = self.element_type();
                match self.below(2) {
                    0 => self.b.wrap(a, ty, None).ok(),
                    _ => self.b.saturate(a, ty, None).ok(),
                }
            }
            15 if self.depth < DEPTH => return self.map(pool),
            16 if self.depth < DEPTH => return self.scan(pool),
            20 => return self.order(pool),
            _ => self.binary(a, pool),
        };
        self.keep(pool, made);
    }

    /// Adds the values that are not too large.
    fn keep(&self, pool: &mut Vec<Handle>, made: impl IntoIterator<Item = Handle>) {
        let small = |handle: &Handle| {
            let value = self.b.value(*handle);
            let elements = value.and_then(|value| value.shape.row_elements());
            elements.is_some_and(|n| n <= ELEMENTS)
        };
        pool.extend(made.into_iter().filter(small));
    }

    /// Chooses one of the values that fit, if there is any.
    fn pick_of(&mut self, pool: &[Handle], fits: impl Fn(&Value) -> bool) -> Option<Handle> {
        let fits = |handle: &&Handle| self.b.value(**handle).is_some_and(&fits);
        let fitting: Vec<Handle> = pool.iter().filter(fits).copied().collect();
        (!fitting.is_empty()).then(|| self.pick(&fitting))
    }

    /// A binary operation, if the builder accepts it.
    fn op(&mut self, op: Binary, a: impl Into<Operand>, b: impl Into<Operand>) -> Option<Handle> {
        self.b.binary(op, a.into(), b.into(), None).ok()
    }

    /// Chooses a value of the pool, or a number that the type of `a` holds.
    fn operand(&mut self, a: Handle, pool: &[Handle]) -> Operand {
        let value = self.b.value(a);
        let Range { lo, hi } = value.map_or(Range::of(0), |value| value.ty.range());
        match self.below(6) {
            0 => Operand::Int(hi),
            1 => Operand::Int(self.below(9) as i128 - 2),
            2 => Operand::Int(lo),
            _ => self.pick(pool).into(),
        }
    }

    /// Adds a binary operation as it is, or with the operands bounded so that it cannot be refused.
    fn binary(&mut self, a: Handle, pool: &[Handle]) -> Option<Handle> {
        let op = self.pick(&Binary::ALL);
        let b = self.operand(a, pool);
        let made = self.op(op, a, b);
        if made.is_some() {
            return made;
        }
        let top = self.pick(&[1, 7, 100, 30_000]);
        let a = self.bounded(a, -top, top)?;
        let b = match b {
            Operand::Int(_) | Operand::Literal(_) => Operand::Int(top),
            Operand::Value(b) if matches!(op, Binary::Shl | Binary::Shr) => {
                self.bounded(b, 0, top.min(40))?.into()
            }
            Operand::Value(b) if matches!(op, Binary::Div | Binary::FloorDiv | Binary::Mod) => {
                match top {
                    1 | 7 => self.bounded(b, -top, -1)?.into(),
                    _ => self.bounded(b, 1, top)?.into(),
                }
            }
            Operand::Value(b) => self.bounded(b, -top, top)?.into(),
        };
        self.op(op, a, b)
    }

    /// Converts the value to `i64`, clipped to `lo..hi`.
    fn bounded(&mut self, a: Handle, lo: i128, hi: i128) -> Option<Handle> {
        let value = self.b.value(a)?;
        // A value that `i64` does not hold is reduced in its own type first.
        let a = if Type::I64.holds(value.range) {
            a
        } else {
            self.op(Binary::Min, a, hi)?
        };
        let a = self.b.cast(a, Type::I64, None).ok()?;
        let a = self.op(Binary::Min, a, hi)?;
        self.op(Binary::Max, a, lo)
    }

    fn select(&mut self, a: Handle, pool: &[Handle]) -> Option<Handle> {
        let condition = self.pick(pool);
        let condition = self.op(Binary::Gt, condition, 0)?;
        let no = self.operand(a, pool);
        self.b.select(condition.into(), a.into(), no, None).ok()
    }

    fn reduce(&mut self, a: Handle) -> Option<Handle> {
        let op = self.pick(&Reduction::ALL);
        let axis = self.pick(&[None, Some(0), Some(-1)]);
        let dtype = self.pick(&[None, Some(Type::I64), Some(Type::unsigned(9).wrapping())]);
        let truth = matches!(op, Reduction::Any | Reduction::All);
        let (a, dtype) = if truth {
            (self.op(Binary::Ne, a, 0)?, None)
        } else {
            (a, dtype)
        };
        self.b.reduce(op, a, axis, dtype, None).ok()
    }

    fn index(&mut self, a: Handle) -> Option<Handle> {
        let parts = [
            Index::At(self.below(3) as i64 - 1),
            Index::Slice {
                start: Some(self.below(2) as i64),
                stop: None,
            },
            Index::Slice {
                start: None,
                stop: None,
            },
            Index::NewAxis,
            Index::Ellipsis,
        ];
        let chosen: Vec<Index> = (0..1 + self.below(3)).map(|_| self.pick(&parts)).collect();
        self.b.index(a, &chosen, None).ok()
    }

    fn call(&mut self, a: Handle, pool: &[Handle]) -> Option<Handle> {
        let byte = |grower: &mut Self, a: Handle| {
            let a = grower.bounded(a, 0, 255)?;
            grower.b.cast(a, Type::U8, None).ok()
        };
        let message = byte(self, a)?;
        if self.below(4) == 0 {
            return self.b.call("sha256", &[message.into()], None).ok();
        }
        let wide = |value: &Value| value.shape.fixed.last() == Some(&16);
        let fits = self.b.value(a).is_some_and(wide);
        let key = self.pick_of(pool, wide).unwrap_or(a);
        let key = byte(self, key)?;
        let block = if fits { message } else { key };
        let encrypted = self.b.call("aes128", &[key.into(), block.into()], None);
        encrypted.ok().or_else(|| self.product(message, key))
    }

    /// Adds a product of two bytes, or of the low half of each, as elements of a field.
    fn product(&mut self, a: Handle, b: Handle) -> Option<Handle> {
        let (polynomial, last) = self.pick(&[(0x11b, 255), (0x13, 15)]);
        let b = self.bounded(b, 0, last)?;
        let a = self.bounded(a, 0, last)?;
        let factors = [a.into(), b.into()];
        self.b.field_product(factors, polynomial, None).ok()
    }

    /// Reveals the last value and up to five others in their own types.
    fn results(&mut self, pool: &[Handle]) {
        let mut chosen = vec![pool[pool.len() - 1]];
        chosen.extend((0..self.below(6)).map(|_| self.pick(pool)));
        for (index, handle) in chosen.into_iter().enumerate() {
            let ty = self.b.value(handle).expect("a value of the main graph").ty;
            let to: &[u8] = match self.parties {
                2 => self.pick(&[&[0][..], &[1], &[0, 1]]),
                _ => self.pick(&[&[0][..], &[1], &[2], &[0, 2], &[1, 2], &[0, 1, 2]]),
            };
            let name = format!("result_{index}");
            self.b
                .reveal(&name, handle.into(), to, ty, None)
                .expect("its own type");
        }
    }
}

/// Chooses inputs: ends of the range as often as numbers inside it.
fn data(program: &Program, declared: &[Input], tape: &[u32]) -> BTreeMap<String, Data> {
    let seed = tape.iter().fold(1u64, |seed, &n| {
        seed.wrapping_mul(31).wrapping_add(n.into())
    });
    let mut random = Random::new(seed);
    let counts = program.rows.iter();
    let counts = counts.map(|rows| 1 + u64::from(random.number()) % rows.bound);
    let counts: Vec<u64> = counts.collect();
    let filled = declared.iter().map(|input| {
        let rows = input.shape.rows.map(|rows| counts[usize::from(rows.0)]);
        let shape = rows.into_iter().chain(input.shape.fixed.iter().copied());
        let shape: Vec<u64> = shape.collect();
        let Range { lo, hi } = input.range;
        let mut number = || match random.number() % 4 {
            0 => lo,
            1 => hi,
            _ => lo + i128::from(random.seed()) % (hi - lo + 1),
        };
        let numbers: Vec<i128> = (0..shape.iter().product()).map(|_| number()).collect();
        let data = Data::from_numbers(input.ty, shape, &numbers).expect("numbers of the range");
        (input.name.clone(), data)
    });
    filled.collect()
}
