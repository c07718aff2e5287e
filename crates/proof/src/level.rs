//! Levels of two and the last level, and what prover and verifiers do in every level.
//!
//! A level splits both vectors of an inner product into halves, takes the line through each pair
//! at 0 and 1, and so has a polynomial `p` of degree 2 with `p(0) + p(1)` equal to the claim. The
//! prover gives its coefficients but for that of X, which the claim determines: it is the claim
//! less twice the first one and less all above it. The last level has two elements and, in
//! place of lines, `f_0 + (f_1 - f_0) X + m X (X - 1)` with a uniform mask `m` on either side. Its
//! value is uniform at each point but 0 and 1, which no challenge may be.
//!
//! All of it is the same in each field ([`Scalars`]); how operands become vectors is not.

use sealane_block::{Block, Cpu};
use zeroize::Zeroizing;

use crate::field::{Field, Scalars};
use crate::grid::{GIVEN, SIDE};
use crate::kind::Shape;
use crate::message::Answer;
use crate::sources::{Challenges, Digest, LeftDraws, RightDraws, digest};
use crate::strings::Statements;
use crate::vectors::{Claim, Memory, Vector, Weights, given_values, operands};

/// Draws a challenge that is none of these points, which are the first elements of GF(16).
// A function of its own, as [`crate::Pending::decide`] is one: challenges are public.
#[inline(never)]
pub(crate) fn challenge<F: Scalars>(source: &mut impl Challenges, points: usize) -> Block {
    loop {
        let drawn = element::<F>(|| source.draw());
        if !F::is_point(drawn, points) {
            return drawn;
        }
    }
}

/// An element, of as many uniform blocks as it takes.
fn element<F: Scalars>(mut draw: impl FnMut() -> Block) -> Block {
    loop {
        let bits = draw();
        if F::fits(bits) {
            return F::element(bits);
        }
    }
}

/// The next shares of the right verifier.
fn right_shares<F: Scalars>(draws: &mut impl RightDraws, count: usize) -> Zeroizing<Vec<Block>> {
    let mut shares = draws.shares(count);
    for share in shares.iter_mut() {
        while !F::fits(*share) {
            *share = draws.shares(1)[0];
        }
        *share = F::element(*share);
    }
    shares
}

/// Both challenges of the grid.
fn grid_point<F: Field>(source: &mut impl Challenges) -> [Block; 2] {
    [challenge::<F>(source, SIDE), challenge::<F>(source, SIDE)]
}

/// Value at `at` of the polynomial of a level, of which all coefficients are given but that of X.
pub(crate) fn next_claim<F: Scalars>(cpu: Cpu, claim: Block, given: &[Block], at: Block) -> Block {
    let rest = F::sub(claim, F::add(given[0], given[0]));
    let second = given[1..].iter().fold(rest, |rest, of| F::sub(rest, *of));
    let above = given[1..].iter().rev().fold(Block::ZERO, |sum, value| {
        F::add(F::mul(cpu, sum, at), *value)
    });
    let inner = F::add(F::mul(cpu, above, at), second);
    F::add(F::mul(cpu, inner, at), given[0])
}

/// Coefficients of the masked polynomial of the last level.
pub(crate) fn masked<F: Scalars>(vector: &[Block], mask: Block) -> Zeroizing<[Block; 3]> {
    let at = |i: usize| vector.get(i).copied().unwrap_or(Block::ZERO);
    Zeroizing::new([at(0), F::sub(F::sub(at(1), at(0)), mask), mask])
}

/// Its value at `at`.
fn value<F: Scalars>(cpu: Cpu, polynomial: &[Block; 3], at: Block) -> Block {
    let inner = F::add(F::mul(cpu, polynomial[2], at), polynomial[1]);
    F::add(F::mul(cpu, inner, at), polynomial[0])
}

/// Both messages of the prover.
pub(crate) struct Sent {
    pub left: Zeroizing<Vec<Block>>,
    pub right: Vec<Digest>,
}

/// A prover in the middle of its proof.
pub(crate) struct Prover<'a, L, R, C> {
    left: &'a mut L,
    right: &'a mut R,
    challenges: &'a mut C,
    sent: Sent,
}

impl<'a, L: LeftDraws, R: RightDraws, C: Challenges> Prover<'a, L, R, C> {
    /// The prover of a segment of this shape.
    pub fn new(shape: &Shape, sources: (&'a mut L, &'a mut R, &'a mut C)) -> Self {
        let (left, right, challenges) = sources;
        Prover {
            left,
            right,
            challenges,
            sent: Sent {
                left: Zeroizing::new(Vec::with_capacity(shape.values())),
                right: Vec::with_capacity(shape.challenges()),
            },
        }
    }

    /// Gives the values of a level: shares to the left verifier, a commitment to the right one.
    fn give<F: Scalars>(&mut self, values: &[Block]) {
        let mut shares = right_shares::<F>(self.right, values.len());
        for (share, value) in shares.iter_mut().zip(values) {
            *share = F::sub(*value, *share);
        }
        let commitment = self.left.commit(&shares);
        self.challenges.commit(&commitment);
        self.sent.left.extend_from_slice(&shares);
        self.sent.right.push(commitment);
    }

    /// Proves the inner product of two vectors, in levels of two and the last one.
    pub fn descend<F: Scalars>(mut self, cpu: Cpu, [f, g]: [&mut Vector; 2]) -> Sent {
        while f.elements().len() > 2 {
            f.pad();
            g.pad();
            let values = F::line_product(cpu, f.elements(), g.elements());
            self.give::<F>(&values[..]);
            let at = challenge::<F>(self.challenges, 2);
            f.fold::<F>(cpu, at);
            g.fold::<F>(cpu, at);
        }
        let f = masked::<F>(f.elements(), element::<F>(|| self.left.mask()));
        let g = masked::<F>(g.elements(), element::<F>(|| self.right.mask()));
        let mut product = Zeroizing::new([Block::ZERO; 5]);
        for i in 0..3 {
            for j in 0..3 {
                product[i + j] = F::add(product[i + j], F::mul(cpu, f[i], g[j]));
            }
        }
        // The claim determines the coefficient of X.
        product.copy_within(2.., 1);
        self.give::<F>(&product[..4]);
        self.sent
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
    let mut prover = Prover::new(shape, sources);
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
    prover.descend::<F>(cpu, [f, g])
}

/// One of both verifiers.
pub(crate) trait Receiver {
    /// True for the left one, whose operands have weights.
    const LEFT: bool;
    /// Its shares of the next values, so many, and the commitment of their level.
    fn level<F: Scalars>(&mut self, count: usize) -> (Zeroizing<Vec<Block>>, Digest);
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

    fn level<F: Scalars>(&mut self, count: usize) -> (Zeroizing<Vec<Block>>, Digest) {
        let (now, later) = self.shares.split_at(count);
        self.shares = later;
        let shares = now.iter().map(|share| F::received(*share)).collect();
        (Zeroizing::new(shares), self.draws.commit(now))
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

    fn level<F: Scalars>(&mut self, count: usize) -> (Zeroizing<Vec<Block>>, Digest) {
        let (now, later) = self.commitments.split_at(1);
        self.commitments = later;
        (right_shares::<F>(&mut self.draws, count), now[0])
    }

    fn mask(&mut self) -> Block {
        self.draws.mask()
    }
}

/// A verifier in the middle of a proof.
pub(crate) struct Follower<'a, V, C> {
    receiver: &'a mut V,
    challenges: &'a mut C,
    commitments: Vec<Digest>,
}

impl<'a, V: Receiver, C: Challenges> Follower<'a, V, C> {
    /// The verifier of a segment of this shape.
    pub fn new(shape: &Shape, receiver: &'a mut V, challenges: &'a mut C) -> Self {
        Follower {
            receiver,
            challenges,
            commitments: Vec::with_capacity(shape.challenges()),
        }
    }

    /// Its shares of the values of the next level.
    fn next<F: Scalars>(&mut self, count: usize) -> Zeroizing<Vec<Block>> {
        let (shares, commitment) = self.receiver.level::<F>(count);
        self.challenges.commit(&commitment);
        self.commitments.push(commitment);
        shares
    }

    /// Follows the proof of an inner product with this share of its claim, up to the answer for the
    /// other verifier.
    pub fn descend<F: Scalars>(
        mut self,
        cpu: Cpu,
        vector: &mut Vector,
        mut claim: Zeroizing<Block>,
    ) -> Answer {
        while vector.elements().len() > 2 {
            vector.pad();
            let shares = self.next::<F>(2);
            let at = challenge::<F>(self.challenges, 2);
            *claim = next_claim::<F>(cpu, *claim, &shares, at);
            vector.fold::<F>(cpu, at);
        }
        let mask = element::<F>(|| self.receiver.mask());
        let polynomial = masked::<F>(vector.elements(), mask);
        let shares = self.next::<F>(4);
        let at = challenge::<F>(self.challenges, 2);
        Answer {
            value: value::<F>(cpu, &polynomial, at),
            share: next_claim::<F>(cpu, *claim, &shares, at),
            commitments: digest(&self.commitments),
        }
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
    let mut follower = Follower::new(shape, receiver, challenges);
    let grid = shape.has_grid().then(|| {
        let shares = follower.next::<F>(GIVEN);
        (shares, grid_point::<F>(follower.challenges))
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
    follower.descend::<F>(cpu, vector, claim)
}

/// True if the answers of both verifiers agree.
pub(crate) fn accepts<F: Scalars>(cpu: Cpu, one: &Answer, other: &Answer) -> bool {
    let values = [one, other].map(|of| [of.value, of.share].map(F::received));
    let [[f, first], [g, second]] = values;
    let same = F::mul(cpu, f, g).value() == F::add(first, second).value();
    same && one.commitments == other.commitments
}
