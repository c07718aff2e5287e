//! Statements about integers: honest ones pass, and one word of any party that differs is refused.

use sealane_block::mersenne::{Mersenne, PRIME_BITS};
use sealane_block::{Block, Cpu, Prg};

use super::{key, seed, segment};
use crate::field::Scalars;
use crate::sums::Quadratic;
use crate::{Answer, Batch, BatchForm, Memory, Operand, Shape, ToLeft, ToRight};

mod rates;
mod views;

const CPU: fn() -> Cpu = Cpu::best;

/// Statements at all three parties, who have copies of their own.
#[derive(Clone)]
struct Made {
    form: BatchForm,
    /// At the prover, then at the verifiers, operands of the left and of the right side.
    sides: [[Vec<Vec<u64>>; 2]; 2],
    constants: [Vec<u64>; 2],
    inner: bool,
}

impl Made {
    /// Statements that hold, of twice so many products.
    fn new<const B: u32>(form: BatchForm, terms: usize, number: u64) -> Made {
        let mut draws = Prg::danger_fixed(CPU(), number);
        let mut draw = |count: usize| -> Vec<u64> {
            let word = |_| Mersenne::<B>::reduce(draws.block().value() as u64);
            (0..count).map(word).collect()
        };
        let [rows, columns] = match form {
            BatchForm::Lanes(lanes) => [lanes; 2],
            BatchForm::Matrix { rows, columns } => [rows, columns],
        };
        let left = vec![draw(terms * rows), draw(terms * columns)];
        let right = vec![draw(terms * columns), draw(terms * rows)];
        let mut constants = [vec![], draw(form.statements())];
        let inner = matches!(form, BatchForm::Matrix { .. });
        for (statement, other) in constants[1].clone().into_iter().enumerate() {
            let [row, column] = match form {
                BatchForm::Lanes(_) => [statement; 2],
                BatchForm::Matrix { columns, .. } => [statement / columns, statement % columns],
            };
            let mut sum = other;
            for term in 0..terms {
                let [r, c] = [term * rows + row, term * columns + column];
                let mut add = |a: u64, b: u64| {
                    sum = Mersenne::<B>::add(sum, Mersenne::<B>::mul(a, b));
                };
                add(left[0][r], right[0][c]);
                add(left[1][c], right[1][r]);
                if inner {
                    add(left[0][r], left[1][c]);
                }
            }
            constants[0].push(Mersenne::<B>::neg(sum));
        }
        Made {
            form,
            sides: [(); 2].map(|()| [left.clone(), right.clone()]),
            constants,
            inner,
        }
    }

    fn operands(&self, party: usize, side: usize) -> Vec<Operand<'_>> {
        let words = self.sides[party][side].iter().enumerate();
        words
            .map(|(at, words)| match self.form {
                BatchForm::Lanes(_) => Operand::Lanes(words),
                BatchForm::Matrix { .. } if at == side => Operand::Rows(words),
                BatchForm::Matrix { .. } => Operand::Columns(words),
            })
            .collect()
    }

    fn to_prove(&self) -> Batch<'_> {
        Batch {
            form: self.form,
            sides: vec![self.operands(0, 0), self.operands(0, 1)],
            constants: &[],
            inner: false,
        }
    }

    fn to_verify(&self, side: usize) -> Batch<'_> {
        Batch {
            form: self.form,
            sides: vec![self.operands(1, side)],
            constants: &self.constants[side],
            inner: self.inner && side == 0,
        }
    }

    /// Products in a proof.
    fn products(&self) -> usize {
        let words = &self.sides[0][0];
        match self.form {
            BatchForm::Lanes(_) => words.iter().map(Vec::len).sum(),
            BatchForm::Matrix { rows, .. } => 2 * words[0].len() / rows,
        }
    }
}

fn shape(all: &[Made]) -> Shape {
    Shape::of_sums(all.iter().map(Made::products).sum()).unwrap()
}

/// True if both verifiers accept an honest proof of these statements; both decide alike.
fn accepts(all: &[Made], more: usize) -> bool {
    let products = all.iter().map(Made::products).sum::<usize>();
    let shape = Shape::of_sums(products + more).unwrap();
    let (segment, memory) = (segment(CPU(), &shape), &mut Memory::default());
    let challenges = || segment.challenges(&seed(1));
    let to_prove = all.iter().map(Made::to_prove).collect::<Vec<_>>();
    let both = [&key(0), &key(1)];
    let sent = segment.prove_sums(&mut challenges(), both, &seed(1), &to_prove, memory);
    let [left, right] = [sent.0.as_bytes(), sent.1.as_bytes()];
    assert_eq!(left.len(), shape.left_bytes());
    assert_eq!(right.len(), shape.right_bytes());
    let left = ToLeft::parse(left, &shape).unwrap();
    let right = ToRight::parse(right, &shape).unwrap();
    let sides = [0, 1].map(|side| all.iter().map(|of| of.to_verify(side)).collect::<Vec<_>>());
    let (draws, seed) = (&mut challenges(), &seed(1));
    let one = segment.follow_left_sums(draws, &key(0), seed, &sides[0], &left, memory);
    let draws = &mut challenges();
    let other = segment.follow_right_sums(draws, &key(1), seed, &sides[1], &right, memory);
    let answers = [other.answer().clone(), one.answer().clone()];
    let [one, other] = [one.decide(&answers[0]), other.decide(&answers[1])].map(|end| end.is_ok());
    assert_eq!(one, other, "both decide alike");
    one
}

fn cases() -> Vec<Made> {
    let matrix = |rows, columns| BatchForm::Matrix { rows, columns };
    let forms = [
        (BatchForm::Lanes(1), 1),
        (BatchForm::Lanes(5), 3),
        (BatchForm::Lanes(64), 0),
        (BatchForm::Lanes(700), 1),
        (matrix(1, 1), 4),
        (matrix(3, 5), 2),
        (matrix(20, 1), 33),
    ];
    let made = |(number, (form, terms)): (usize, (BatchForm, usize))| {
        Made::new::<PRIME_BITS>(form, terms, number as u64)
    };
    forms.into_iter().enumerate().map(made).collect()
}

#[test]
fn honest_statements_pass() {
    for more in [0, 1, 9] {
        for case in cases() {
            let form = case.form;
            assert!(accepts(&[case], more), "{form:?} {more}");
        }
        assert!(accepts(&cases(), more));
        assert!(accepts(&[], more));
    }
}

/// Every operand and constant, at each party that has it.
#[test]
fn any_word_that_differs_is_refused() {
    for (number, honest) in cases().into_iter().enumerate() {
        let mut refused = 0;
        let mut check = |change: &dyn Fn(&mut Made)| {
            let mut all = [
                honest.clone(),
                Made::new::<PRIME_BITS>(BatchForm::Lanes(2), 1, 99),
            ];
            change(&mut all[0]);
            assert!(!accepts(&all, 0), "case {number}, change {refused}");
            refused += 1;
        };
        let step = |words: &[u64]| (words.len() / 11).max(1);
        for side in [0, 1] {
            for at in (0..honest.constants[side].len()).step_by(step(&honest.constants[side])) {
                check(&|of| of.constants[side][at] ^= 1);
            }
            for (party, operand) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let words = &honest.sides[party][side][operand];
                for at in (0..words.len()).step_by(step(words)) {
                    check(&|of| {
                        let word = &mut of.sides[party][side][operand][at];
                        *word = Mersenne::<PRIME_BITS>::add(*word, 1 << 40);
                    });
                }
            }
        }
        assert!(refused > 5);
    }
}

/// Bytes of a message: any other ones, also those of an integer that is not below the prime.
#[test]
fn any_changed_message_is_refused() {
    let all = &[Made::new::<PRIME_BITS>(BatchForm::Lanes(3), 1, 7)];
    let shape = shape(all);
    let (segment, memory) = (segment(CPU(), &shape), &mut Memory::default());
    let challenges = || segment.challenges(&seed(1));
    let both = [&key(0), &key(1)];
    let prove = all.each_ref().map(Made::to_prove);
    let sent = segment.prove_sums(&mut challenges(), both, &seed(1), &prove, memory);
    let messages = [sent.0.as_bytes().to_vec(), sent.1.as_bytes().to_vec()];
    let mut run = |messages: &[Vec<u8>; 2], answer: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let left = ToLeft::parse(&messages[0], &shape).unwrap();
        let right = ToRight::parse(&messages[1], &shape).unwrap();
        let [a, b] = [0, 1].map(|side| all.each_ref().map(|of| of.to_verify(side)));
        let (draws, seed) = (&mut challenges(), &seed(1));
        let one = segment.follow_left_sums(draws, &key(0), seed, &a, &left, memory);
        let draws = &mut challenges();
        let other = segment.follow_right_sums(draws, &key(1), seed, &b, &right, memory);
        let answer = answer(other.answer().to_bytes().to_vec());
        one.decide(&Answer::parse(&answer).unwrap()).is_ok()
    };
    let same = |bytes: Vec<u8>| bytes;
    assert!(run(&messages, &same));
    for message in [0, 1] {
        for at in 0..messages[message].len() {
            let mut changed = messages.clone();
            changed[message][at] ^= 0x20;
            assert!(!run(&changed, &same), "byte {at} of message {message}");
        }
    }
    for at in 0..64 {
        let flip = |mut bytes: Vec<u8>| {
            bytes[at] ^= 1;
            bytes
        };
        assert!(!run(&messages, &flip), "byte {at} of an answer");
    }
}

#[test]
fn a_shape_of_too_many_products_is_refused() {
    let most = crate::kind::MOST_ELEMENTS;
    assert!(Shape::of_sums(most).is_ok());
    assert!(Shape::of_sums(most + 1).is_err());
    assert_eq!(Shape::of_sums(2).unwrap().values(), 4);
    assert_eq!(Shape::of_sums(3).unwrap().values(), 6);
}

fn power<const B: u32>(a: Block, mut exponent: u64) -> Block {
    let (mut out, mut square) = (Block::new(1), a);
    while exponent > 0 {
        if exponent & 1 == 1 {
            out = Quadratic::<B>::mul(CPU(), out, square);
        }
        square = Quadratic::<B>::mul(CPU(), square, square);
        exponent >>= 1;
    }
    out
}

/// The extension is a field: each element but zero has an inverse, and `i^2` is -1.
#[test]
fn the_extension_is_a_field() {
    let p = Mersenne::<5>::P;
    for value in (0..p).flat_map(|a| (0..p).map(move |b| u128::from(a) | u128::from(b) << 64)) {
        let a = Block::new(value);
        let inverse = power::<5>(a, p * p - 2);
        let one = Quadratic::<5>::mul(CPU(), a, inverse).value();
        assert_eq!(one, u128::from(value != 0));
    }
    // Words that are the prime make no element, whatever bits are above them.
    let drawn = |real: u64, imaginary: u64| {
        let above = |word: u64| u128::from(word | 5 << PRIME_BITS);
        Block::new(above(real) | above(imaginary) << 64)
    };
    let p = Mersenne::<PRIME_BITS>::P;
    let fits = |bits| Quadratic::<PRIME_BITS>::fits(bits);
    assert!(!fits(drawn(p, 0)) && !fits(drawn(0, p)) && fits(drawn(p - 1, 3)));
    let element = Quadratic::<PRIME_BITS>::element(drawn(p - 1, 3)).value();
    assert_eq!(element, u128::from(p - 1) | 3 << 64);
    let i = Block::new(1 << 64);
    let square = Quadratic::<PRIME_BITS>::mul(CPU(), i, i).value();
    assert_eq!(square, u128::from(Mersenne::<PRIME_BITS>::P - 1));
    // Slow definitions.
    let drawn = |number| {
        let mut blocks = vec![Block::ZERO; 10];
        Prg::danger_fixed(CPU(), number).fill(&mut blocks);
        let element = |block: &Block| Quadratic::<PRIME_BITS>::received(*block);
        blocks.iter().map(element).collect::<Vec<_>>()
    };
    let (f, g) = (drawn(1), drawn(2));
    let fast = Quadratic::<PRIME_BITS>::line_product(CPU(), &f, &g);
    let slow = Slow::line_product(CPU(), &f, &g);
    assert!(
        fast.iter()
            .zip(slow.iter())
            .all(|(a, b)| a.value() == b.value())
    );
}

/// The same field without its own product of lines.
struct Slow;

impl Scalars for Slow {
    fn mul(cpu: Cpu, a: Block, b: Block) -> Block {
        Quadratic::<PRIME_BITS>::mul(cpu, a, b)
    }
    fn add(a: Block, b: Block) -> Block {
        Quadratic::<PRIME_BITS>::add(a, b)
    }
    fn sub(a: Block, b: Block) -> Block {
        Quadratic::<PRIME_BITS>::sub(a, b)
    }
    fn element(bits: Block) -> Block {
        bits
    }
    fn is_point(_: Block, _: usize) -> bool {
        false
    }
}

/// Errors that cancel if statements have one weight: of two lanes, and within a row and a column.
#[test]
fn errors_of_several_statements_do_not_cancel() {
    let (rows, columns) = (2, 3);
    let p = Mersenne::<PRIME_BITS>::P;
    for form in [BatchForm::Lanes(6), BatchForm::Matrix { rows, columns }] {
        let honest = Made::new::<PRIME_BITS>(form, 2, 4);
        for [first, second] in [[0, 1], [0, 3], [4, 5], [2, 5]] {
            let mut made = honest.clone();
            for (at, error) in [(first, 1), (second, p - 1)] {
                let constant = &mut made.constants[0][at];
                *constant = Mersenne::<PRIME_BITS>::add(*constant, error);
            }
            assert!(!accepts(&[made], 0), "{form:?} {first} {second}");
        }
    }
}
