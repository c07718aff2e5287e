//! A cheat escapes proofs about integers at its rate, over small fields.

use std::cell::RefCell;

use sealane_block::mersenne::Mersenne;
use sealane_block::{Block, Nonce};
use zeroize::Zeroizing;

use super::{CPU, Made, power, shape};
use crate::field::Scalars;
use crate::level::{self, Left, Right};
use crate::sources::{LeftKey, RightDraws, RightKey};
use crate::sums::{Quadratic, SumWeights, follow, prove};
use crate::tests::{CONTEXT, key};
use crate::{BatchForm, ByKey, Challenges, Context, Memory};

/// A prover with one false statement that uses every freedom: at each level it adds a polynomial
/// with as many roots of its choice as its degree, so that the error of the claim is there.
struct Cheat<const B: u32> {
    /// Error of the verifiers' claim.
    wrong: Block,
    /// Coefficients of what was added in a level.
    added: Vec<Block>,
    /// Challenges since the last move.
    drawn: Vec<Block>,
}

impl<const B: u32> Cheat<B> {
    /// The errors of the values of the next level, so many.
    fn errors(&mut self, count: usize) -> Vec<Block> {
        type F<const B: u32> = Quadratic<B>;
        let drawn = std::mem::take(&mut self.drawn).into_iter();
        let drawn = drawn.filter(|at| F::<B>::fits(*at)).map(F::<B>::element);
        let mut drawn = drawn.filter(|at| !F::<B>::is_point(*at, 2));
        if let Some(at) = drawn.next() {
            let value = |sum, c: &Block| F::<B>::add(F::<B>::mul(CPU(), sum, at), *c);
            self.wrong = self.added.iter().rev().fold(Block::ZERO, value);
        }
        if self.wrong.value() == 0 {
            self.added = vec![Block::ZERO];
            return vec![Block::ZERO; count];
        }
        let degree = if count == 2 { 2 } else { 4 };
        let zero = Block::ZERO;
        for first in 2.. {
            let mut all = vec![Block::new(1)];
            for root in (first..first + degree).map(|root| Block::new(root as u128)) {
                let mut next = vec![zero; all.len() + 1];
                for (i, c) in all.iter().enumerate() {
                    next[i + 1] = F::<B>::add(next[i + 1], *c);
                    next[i] = F::<B>::sub(next[i], F::<B>::mul(CPU(), *c, root));
                }
                all = next;
            }
            // The sum of values at 0 and 1.
            let sum = all.iter().fold(all[0], |sum, c| F::<B>::add(sum, *c));
            if sum.value() == 0 {
                continue;
            }
            let p = Mersenne::<B>::P;
            let scale = F::<B>::mul(CPU(), self.wrong, power::<B>(sum, p * p - 2));
            all.iter_mut()
                .for_each(|c| *c = F::<B>::mul(CPU(), *c, scale));
            let given = [&all[..1], &all[2..]].concat();
            self.added = all;
            return given;
        }
        unreachable!("some roots have a sum")
    }
}

struct CheatKey<'a, const B: u32>(RightKey, &'a RefCell<Cheat<B>>);

impl<const B: u32> RightDraws for CheatKey<'_, B> {
    fn mask(&mut self) -> Block {
        self.0.mask()
    }

    fn shares(&mut self, count: usize) -> Zeroizing<Vec<Block>> {
        let mut shares = self.0.shares(count);
        if count == 1 {
            return shares;
        }
        // As elements, in the order in which others take the place of those that are none.
        for share in shares.iter_mut() {
            while !Quadratic::<B>::fits(*share) {
                *share = self.0.shares(1)[0];
            }
        }
        let errors = self.1.borrow_mut().errors(count);
        for (share, error) in shares.iter_mut().zip(errors) {
            // The share of the left verifier is the value less this one.
            *share = Quadratic::<B>::sub(Quadratic::<B>::element(*share), error);
        }
        shares
    }
}

struct CheatDraws<'a, const B: u32>(ByKey, &'a RefCell<Cheat<B>>);

impl<const B: u32> Challenges for CheatDraws<'_, B> {
    fn commit(&mut self, commitment: &[u8; 32]) {
        self.0.commit(commitment);
    }

    fn draw(&mut self) -> Block {
        let drawn = self.0.draw();
        self.1.borrow_mut().drawn.push(drawn);
        drawn
    }
}

/// Runs one proof of the cheat; true if the verifiers accept it.
fn escapes<const B: u32>(made: &Made, at: usize, trial: u64) -> bool {
    let mut made = made.clone();
    let error = 1;
    made.constants[0][at] = Mersenne::<B>::add(made.constants[0][at], error);
    let (all, context) = (
        std::slice::from_ref(&made),
        Context {
            segment: trial,
            ..CONTEXT
        },
    );
    let (shape, memory) = (shape(all), &mut Memory::default());
    let nonce = Nonce::from_bytes(std::array::from_fn(|i| (trial >> (i % 2 * 8)) as u8));
    let weights = || SumWeights::new(CPU(), &context, &nonce);
    let weight = match made.form {
        BatchForm::Lanes(lanes) => weights().draw::<B>(lanes)[at],
        BatchForm::Matrix { rows, columns } => {
            let mut drawn = weights();
            let [u, v] = [rows, columns].map(|count| drawn.draw::<B>(count));
            Quadratic::<B>::mul(CPU(), u[at / columns], v[at % columns])
        }
    };
    let cheat = RefCell::new(Cheat::<B> {
        wrong: Quadratic::<B>::sub(Block::ZERO, weight),
        added: vec![],
        drawn: vec![],
    });
    let by_key = || ByKey::new(&context, &key(2));
    let left = || LeftKey::new(&context, &nonce, &key(0));
    let right = || RightKey::new(&context, &nonce, &key(1));
    let (mut own, mut draws) = (CheatKey(right(), &cheat), CheatDraws(by_key(), &cheat));
    let sources = (&mut left(), &mut own, &mut draws);
    let batch = [made.to_prove()];
    let sent = prove::<B>(CPU(), &shape, &batch, &mut weights(), sources, memory);
    let (draws, shares) = (left(), &sent.left[..]);
    let source = (&mut Left { draws, shares }, &mut by_key());
    let batch = [made.to_verify(0)];
    let one = follow::<B, _>(CPU(), &shape, &batch, &mut weights(), source, memory);
    let (draws, commitments) = (right(), &sent.right[..]);
    let source = (&mut Right { draws, commitments }, &mut by_key());
    let batch = [made.to_verify(1)];
    let other = follow::<B, _>(CPU(), &shape, &batch, &mut weights(), source, memory);
    level::accepts::<Quadratic<B>>(CPU(), &one, &other)
}

/// Counts escapes and compares them with weights, levels and the last level.
fn rate<const B: u32>(form: BatchForm, terms: usize, trials: u64) {
    let made = Made::new::<B>(form, terms, 5);
    let shape = shape(std::slice::from_ref(&made));
    let size = (Mersenne::<B>::P as f64).powi(2);
    let zero = 1.0 - 1.0 / size;
    let weights = match form {
        BatchForm::Lanes(_) => zero,
        BatchForm::Matrix { .. } => zero * zero,
    };
    let levels = (1.0 - 2.0 / (size - 2.0)).powi(shape.levels() as i32);
    let predicted = 1.0 - weights * levels * (1.0 - 4.0 / (size - 2.0));
    let sigma = (predicted * (1.0 - predicted) / trials as f64).sqrt();
    let last = form.statements() - 1;
    let escaped = (0..trials)
        .filter(|trial| escapes::<B>(&made, last, *trial))
        .count();
    let off = (escaped as f64 / trials as f64 - predicted) / sigma;
    assert!(
        off.abs() < 3.0,
        "{escaped} of {trials} escape, {predicted} predicted: {off}"
    );
    // A root more or less of a level would be seen.
    assert!(0.9 / size > 3.0 * sigma / 2.0, "too few trials: {sigma}");
}

#[test]
fn a_cheat_escapes_at_its_rate() {
    rate::<3>(BatchForm::Lanes(1), 1, 8000);
    rate::<3>(BatchForm::Lanes(4), 2, 10_000);
    let (rows, columns) = (3, 4);
    rate::<3>(BatchForm::Matrix { rows, columns }, 3, 10_000);
}
