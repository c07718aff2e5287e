//! Rows in another order: the messages of a turn of a shuffle.
//!
//! A statement is about rows `x`, an order that puts row `o(j)` in place `j`, and two constants,
//! which are rows too. It says of every place
//!
//! ```text
//! x[o(j)] + c_X[j] + c_O[j] = 0      x, c_X known to one verifier, o, c_O to the other one
//! ```
//!
//! and the prover knows `x` and `o`. With a random weight `w_j` of each place and a random `s`, let
//! `h(x)` of a row be the sum of its pieces of 128 bits times the powers of `s`, the first piece
//! times 1. Then all places together are one inner product, of as many terms as there are rows:
//!
//! ```text
//!   sum over rows k of h(x[k]) w_(place of k)
//! + sum over j of w_j (h(c_X[j]) + h(c_O[j])) = 0
//! ```
//!
//! So it needs no levels of its own: its terms stand behind those of all kinds, weighted by one
//! more random element for each statement. A row that differs makes a polynomial in `s` that is not
//! zero, of degree less than its pieces, so a false statement is taken for a true one with a chance
//! of one of 2^128 for each piece of a row, and two more. (Powers of one element as weights of
//! places would add one for each row, and take longer than draws.)
//!
//! Which memory is read here depends on an order, as in every shuffle: whoever shares caches with
//! this machine could learn something about it.

use sealane_block::{Block, Cpu, Nonce};
use zeroize::Zeroizing;

use crate::field::Field;
use crate::sources::Context;
use crate::vectors::Vector;

/// One statement about rows that change their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Rows.
    pub rows: usize,
    /// Words of 64 bits of a row, at least one.
    pub words: usize,
}

/// The side of a statement that one verifier knows.
#[derive(Clone, Copy)]
pub enum Known<'a> {
    /// The words of all rows, one row after the other.
    Rows(&'a [u64]),
    /// For each place the row that comes there.
    Order(&'a [u32]),
}

impl Known<'_> {
    /// Checks that it is of a statement.
    ///
    /// # Panics
    /// If not: the caller has recorded something else than it counted.
    fn check(&self, turn: &Turn) {
        match self {
            Known::Rows(words) => assert_eq!(words.len(), turn.rows * turn.words, "{turn:?}"),
            Known::Order(order) => assert_eq!(order.len(), turn.rows, "{turn:?}"),
        }
    }
}

/// The turns of a segment at one party.
#[derive(Clone, Default)]
pub struct Turns<'a> {
    /// At the prover of each statement the side of the left verifier, then of each that of the
    /// right one: rows where the other one has an order. At a verifier of each its own side.
    pub known: Vec<Known<'a>>,
    /// At a verifier of each statement the constant of its side: rows, place after place. The
    /// prover has none.
    pub constants: Vec<&'a [u64]>,
}

impl Turns<'_> {
    /// Checks that these are the statements of a shape, at the prover.
    ///
    /// # Panics
    /// If not.
    pub(crate) fn check_proven(&self, turns: &[Turn]) {
        let lengths = [self.known.len(), self.constants.len()];
        assert_eq!(lengths, [2 * turns.len(), 0], "both sides of each turn");
        let (left, right) = self.known.split_at(turns.len());
        for ((left, right), turn) in left.iter().zip(right).zip(turns) {
            let one_of_each = matches!(
                (left, right),
                (Known::Rows(_), Known::Order(_)) | (Known::Order(_), Known::Rows(_))
            );
            assert!(one_of_each, "rows at one side of a turn");
            left.check(turn);
            right.check(turn);
        }
    }

    /// Checks that these are the statements of a shape, at a verifier.
    ///
    /// # Panics
    /// If not.
    pub(crate) fn check_verified(&self, turns: &[Turn]) {
        let lengths = [self.known.len(), self.constants.len()];
        assert_eq!(lengths, [turns.len(); 2], "side and constant of each turn");
        for ((known, constant), turn) in self.known.iter().zip(&self.constants).zip(turns) {
            known.check(turn);
            Known::Rows(constant).check(turn);
        }
    }
}

/// Rows that are worked on at once: they and their products stay in a near cache.
const AT_ONCE: usize = 512;

/// The random weights of the turns of a segment.
pub(crate) struct TurnWeights {
    /// One for each place of the longest turn.
    places: Vec<Block>,
    /// `s`.
    piece: Block,
    /// The weight of each statement.
    each: Vec<Block>,
}

impl TurnWeights {
    pub fn new<F: Field>(cpu: Cpu, context: &Context, turns: &[Turn], seed: &Nonce) -> TurnWeights {
        if turns.is_empty() {
            return TurnWeights {
                places: Vec::new(),
                piece: Block::ZERO,
                each: Vec::new(),
            };
        }
        let label = "proof: weights of turns";
        let mut stream = seed.stream(label, &context.bound()).prg(cpu);
        let mut draw = |count: usize| {
            let mut drawn = vec![Block::ZERO; count];
            stream.fill(&mut drawn);
            drawn
                .iter_mut()
                .for_each(|drawn| *drawn = F::element(*drawn));
            drawn
        };
        let mut each = draw(1 + turns.len());
        let piece = each.remove(0);
        let longest = turns.iter().map(|turn| turn.rows).max().unwrap_or(0);
        TurnWeights {
            places: draw(longest),
            piece,
            each,
        }
    }

    /// Adds a side of all statements to a vector behind what is there, each with its weight if the
    /// side has weights.
    pub fn append<F: Field>(
        &self,
        cpu: Cpu,
        turns: &[Turn],
        side: &[Known<'_>],
        weighted: bool,
        vector: &mut Vector,
    ) {
        for ((turn, known), weight) in turns.iter().zip(side).zip(&self.each) {
            let elements = vector.extend(turn.rows);
            match known {
                Known::Rows(words) => self.hash::<F>(cpu, turn, words, elements),
                Known::Order(order) => place(order, &self.places, elements),
            }
            if weighted {
                scale::<F>(cpu, elements, *weight);
            }
        }
    }

    /// The weighted sum of a verifier's constants.
    pub fn claim<F: Field>(&self, cpu: Cpu, turns: &[Turn], constants: &[&[u64]]) -> Block {
        let mut claim = Block::ZERO;
        let mut hashed = Zeroizing::new(vec![Block::ZERO; AT_ONCE]);
        for ((turn, words), weight) in turns.iter().zip(constants).zip(&self.each) {
            let mut sum = Block::ZERO;
            let pieces = words.chunks(AT_ONCE * turn.words);
            for (words, places) in pieces.zip(self.places.chunks(AT_ONCE)) {
                let hashed = &mut hashed[..words.len() / turn.words];
                self.hash::<F>(cpu, turn, words, hashed);
                F::mul_each(cpu, hashed, &places[..hashed.len()]);
                hashed.iter().for_each(|element| sum ^= *element);
            }
            claim ^= F::mul(cpu, sum, *weight);
        }
        claim
    }

    /// Each row as one element.
    fn hash<F: Field>(&self, cpu: Cpu, turn: &Turn, words: &[u64], out: &mut [Block]) {
        let width = turn.words;
        for (rows, out) in words.chunks(AT_ONCE * width).zip(out.chunks_mut(AT_ONCE)) {
            out.fill(Block::ZERO);
            for first in (0..width).step_by(2).rev() {
                if first + 2 < width {
                    scale::<F>(cpu, out, self.piece);
                }
                for (row, out) in rows.chunks_exact(width).zip(out.iter_mut()) {
                    let high = row.get(first + 1).map_or(0, |word| u128::from(*word) << 64);
                    *out ^= F::element(Block::new(high | u128::from(row[first])));
                }
            }
        }
    }
}

/// Puts the weight of each place at the row that comes there.
// A function of its own, by which the check of secrets tells these addresses from all others.
#[inline(never)]
fn place(order: &[u32], places: &[Block], out: &mut [Block]) {
    for (row, weight) in order.iter().zip(places) {
        out[*row as usize] = *weight;
    }
}

/// Multiplies all elements by one.
fn scale<F: Field>(cpu: Cpu, elements: &mut [Block], by: Block) {
    let all = [by; AT_ONCE];
    for elements in elements.chunks_mut(AT_ONCE) {
        F::mul_each(cpu, elements, &all[..elements.len()]);
    }
}
