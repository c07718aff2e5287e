//! Levels of two and the last level, and what prover and verifiers do in every level.
//!
//! A level splits both vectors of an inner product into halves, takes the line through each pair
//! at 0 and 1, and so has a polynomial `p` of degree 2 with `p(0) + p(1)` equal to the claim. The
//! prover gives its coefficients but for that of X, which the claim determines: in characteristic
//! two it is the claim plus all coefficients above it. The last level has two elements and, in
//! place of lines, `f_0 + (f_0 + f_1) X + m X (X + 1)` with a uniform mask `m` on either side. Its
//! value is uniform at each point but 0 and 1, which no challenge may be.

use sealane_block::{Block, Cpu};
use zeroize::Zeroizing;

use crate::field::Field;
use crate::grid::{GIVEN, SIDE};
use crate::kind::Shape;
use crate::message::Answer;
use crate::sources::{Challenges, Digest, LeftDraws, RightDraws, digest};
use crate::strings::Statements;
use crate::vectors::{Claim, Memory, Weights, given_values, operands};

/// Draws a challenge that is none of these points, which are the first elements of GF(16).
pub(crate) fn challenge<F: Field>(source: &mut impl Challenges, points: usize) -> Block {
    loop {
        let drawn = F::element(source.draw());
        if !F::is_point(drawn, points) {
            return drawn;
        }
    }
}

/// Both challenges of the grid.
fn grid_point<F: Field>(source: &mut impl Challenges) -> [Block; 2] {
    [challenge::<F>(source, SIDE), challenge::<F>(source, SIDE)]
}

/// Value at `at` of the polynomial of a level, of which all coefficients are given but that of X.
pub(crate) fn next_claim<F: Field>(cpu: Cpu, claim: Block, given: &[Block], at: Block) -> Block {
    let second = given[1..].iter().fold(claim, |sum, value| sum ^ *value);
    let above = given[1..]
        .iter()
        .rev()
        .fold(Block::ZERO, |sum, value| F::mul(cpu, sum, at) ^ *value);
    let inner = F::mul(cpu, above, at) ^ second;
    F::mul(cpu, inner, at) ^ given[0]
}

/// Coefficients of the masked polynomial of the last level.
pub(crate) fn masked(vector: &[Block], mask: Block) -> Zeroizing<[Block; 3]> {
    let at = |i: usize| vector.get(i).copied().unwrap_or(Block::ZERO);
    Zeroizing::new([at(0), at(0) ^ at(1) ^ mask, mask])
}

/// Its value at `at`.
fn value<F: Field>(cpu: Cpu, polynomial: &[Block; 3], at: Block) -> Block {
    let inner = F::mul(cpu, polynomial[2], at) ^ polynomial[1];
    F::mul(cpu, inner, at) ^ polynomial[0]
}

/// Both messages of the prover.
pub(crate) struct Sent {
    pub left: Zeroizing<Vec<Block>>,
    pub right: Vec<Digest>,
}

/// A prover in the middle of its proof.
struct Prover<'a, L, R, C> {
    left: &'a mut L,
    right: &'a mut R,
    challenges: &'a mut C,
    sent: Sent,
}

impl<L: LeftDraws, R: RightDraws, C: Challenges> Prover<'_, L, R, C> {
    /// Gives the values of a level: shares to the left verifier, a commitment to the right one.
    fn give<F: Field>(&mut self, values: &[Block]) {
        let mut shares = self.right.shares(values.len());
        for (share, value) in shares.iter_mut().zip(values) {
            *share = F::element(*share) ^ *value;
        }
        let commitment = self.left.commit(&shares);
        self.challenges.commit(&commitment);
        self.sent.left.extend_from_slice(&shares);
        self.sent.right.push(commitment);
    }
}

/// Proves all statements of a segment.
pub(crate) fn prove<F: Field>(
    cpu: Cpu,
    shape: &Shape,
    strings: &mut impl Statements,
    weights: &Weights,
    sources: (
        &mut impl LeftDraws,
        &mut impl RightDraws,
        &mut impl Challenges,
    ),
    memory: &mut Memory,
) -> Sent {
    let (left, right, challenges) = sources;
    let sent = Sent {
        left: Zeroizing::new(Vec::with_capacity(shape.values())),
        right: Vec::with_capacity(shape.challenges()),
    };
    let mut prover = Prover {
        left,
        right,
        challenges,
        sent,
    };
    let mut point = None;
    if shape.has_grid() {
        prover.give::<F>(&given_values::<F>(cpu, shape, strings, weights));
        point = Some(grid_point::<F>(prover.challenges));
    }
    let [f, g] = &mut memory.vectors;
    let sides = &mut [(&mut *f, true), (&mut *g, false)];
    operands::<F>(cpu, (shape, weights), strings, point, sides, None);
    let turns = strings.turns();
    let (left, right) = turns.known.split_at(shape.turns.len());
    let of_turns = &weights.turns;
    of_turns.append::<F>(cpu, &shape.turns, left, true, f);
    of_turns.append::<F>(cpu, &shape.turns, right, false, g);
    while f.elements().len() > 2 {
        f.pad();
        g.pad();
        let values = F::line_product(cpu, f.elements(), g.elements());
        prover.give::<F>(&values[..]);
        let at = challenge::<F>(prover.challenges, 2);
        f.fold::<F>(cpu, at);
        g.fold::<F>(cpu, at);
    }
    let f = masked(f.elements(), F::element(prover.left.mask()));
    let g = masked(g.elements(), F::element(prover.right.mask()));
    let mut product = Zeroizing::new([Block::ZERO; 5]);
    for i in 0..3 {
        for j in 0..3 {
            product[i + j] ^= F::mul(cpu, f[i], g[j]);
        }
    }
    // The claim determines the coefficient of X.
    product.copy_within(2.., 1);
    prover.give::<F>(&product[..4]);
    prover.sent
}

/// One of both verifiers.
pub(crate) trait Receiver {
    /// True for the left one, whose operands have weights.
    const LEFT: bool;
    /// Its shares of the next values, so many, and the commitment of their level.
    fn level<F: Field>(&mut self, count: usize) -> (Zeroizing<Vec<Block>>, Digest);
    /// The mask of its side.
    fn mask(&mut self) -> Block;
}

/// The left verifier: it has received its shares and makes their commitments.
pub(crate) struct Left<'a, L> {
    pub draws: L,
    /// Shares that are not used yet.
    pub shares: &'a [Block],
}

impl<L: LeftDraws> Receiver for Left<'_, L> {
    const LEFT: bool = true;

    fn level<F: Field>(&mut self, count: usize) -> (Zeroizing<Vec<Block>>, Digest) {
        let (now, later) = self.shares.split_at(count);
        self.shares = later;
        (Zeroizing::new(now.to_vec()), self.draws.commit(now))
    }

    fn mask(&mut self) -> Block {
        self.draws.mask()
    }
}

/// The right verifier: it draws its shares and has received the commitments to the other ones.
pub(crate) struct Right<'a, R> {
    pub draws: R,
    /// Commitments that are not used yet.
    pub commitments: &'a [Digest],
}

impl<R: RightDraws> Receiver for Right<'_, R> {
    const LEFT: bool = false;

    fn level<F: Field>(&mut self, count: usize) -> (Zeroizing<Vec<Block>>, Digest) {
        let (now, later) = self.commitments.split_at(1);
        self.commitments = later;
        let mut shares = self.draws.shares(count);
        shares
            .iter_mut()
            .for_each(|share| *share = F::element(*share));
        (shares, now[0])
    }

    fn mask(&mut self) -> Block {
        self.draws.mask()
    }
}

/// Follows a proof on one side, up to the answer for the other verifier.
pub(crate) fn follow<F: Field, V: Receiver>(
    cpu: Cpu,
    shape: &Shape,
    strings: &mut impl Statements,
    weights: &Weights,
    (receiver, challenges): (&mut V, &mut impl Challenges),
    memory: &mut Memory,
) -> Answer {
    let mut commitments = Vec::with_capacity(shape.challenges());
    let mut next = |receiver: &mut V, challenges: &mut dyn Challenges, count| {
        let (shares, commitment) = receiver.level::<F>(count);
        challenges.commit(&commitment);
        commitments.push(commitment);
        shares
    };
    let grid = shape.has_grid().then(|| {
        let shares = next(receiver, challenges, GIVEN);
        (shares, grid_point::<F>(challenges))
    });
    let point = grid.as_ref().map(|(_, point)| *point);
    let (vector, mut own) = (&mut memory.vectors[0], Claim::new());
    let sides = &mut [(&mut *vector, V::LEFT)];
    operands::<F>(cpu, (shape, weights), strings, point, sides, Some(&mut own));
    let turns = strings.turns();
    let of_turns = &weights.turns;
    of_turns.append::<F>(cpu, &shape.turns, &turns.known, V::LEFT, vector);
    *own.lifted ^= of_turns.claim::<F>(cpu, &shape.turns, &turns.constants);
    let mut claim = own.lifted.clone();
    if let Some((shares, point)) = grid {
        *claim = own.after_grid::<F>(cpu, &shares, point);
    }
    while vector.elements().len() > 2 {
        vector.pad();
        let shares = next(receiver, challenges, 2);
        let at = challenge::<F>(challenges, 2);
        *claim = next_claim::<F>(cpu, *claim, &shares, at);
        vector.fold::<F>(cpu, at);
    }
    let polynomial = masked(vector.elements(), F::element(receiver.mask()));
    let shares = next(receiver, challenges, 4);
    let at = challenge::<F>(challenges, 2);
    Answer {
        value: value::<F>(cpu, &polynomial, at),
        share: next_claim::<F>(cpu, *claim, &shares, at),
        commitments: digest(&commitments),
    }
}

/// True if the answers of both verifiers agree.
pub(crate) fn accepts<F: Field>(cpu: Cpu, one: &Answer, other: &Answer) -> bool {
    let product = F::mul(cpu, one.value, other.value);
    let same = product.value() == (one.share ^ other.share).value();
    same && one.commitments == other.commitments
}
