//! From strings of bits to one inner product over the field of challenges.

use sealane_block::{Block, Cpu, Nonce};
use zeroize::Zeroizing;

use crate::field::{Field, PLANE, Scalars, Sum};
use crate::grid::{self, Folding, GIVEN, POINTS, SIDE, Scratch};
#[cfg(test)]
use crate::kind::GROUP;
use crate::kind::{GROUP_LANES, POSITIONS, Part, Shape};
use crate::sources::Context;
use crate::strings::Statements;
use crate::turns::TurnWeights;

/// The random weights of the statements of a segment: for a kind on the grid one for each block of
/// lanes, for any other one for each statement.
pub(crate) struct Weights {
    kinds: Vec<Vec<Block>>,
    pub turns: TurnWeights,
}

impl Weights {
    pub fn new<F: Field>(cpu: Cpu, context: &Context, shape: &Shape, seed: &Nonce) -> Weights {
        let mut stream = seed.stream("proof: weights", &context.bound()).prg(cpu);
        let draw = |part: &Part| {
            let blocks = part.groups() * GROUP_LANES / lanes::<F>(part);
            let count = if part.on_grid() {
                blocks
            } else {
                part.statements
            };
            let mut weights = vec![Block::ZERO; count];
            stream.fill(&mut weights);
            weights
                .iter_mut()
                .for_each(|weight| *weight = F::element(*weight));
            weights
        };
        Weights {
            kinds: shape.parts.iter().map(draw).collect(),
            turns: TurnWeights::new::<F>(cpu, context, &shape.turns, seed),
        }
    }

    /// The weight of statement `at` of the only kind, for tests.
    #[cfg(test)]
    pub fn of<F: Field>(&self, cpu: Cpu, shape: &Shape, at: usize) -> Block {
        let part = &shape.parts[0];
        if !part.on_grid() {
            return self.kinds[0][at];
        }
        let mut powers = vec![Block::ZERO; GROUP_LANES];
        let weights = self.group::<F>(shape, 0, at / GROUP);
        lane_weights::<F>(cpu, lanes::<F>(part), weights, &mut powers);
        powers[at % GROUP_LANES]
    }

    /// The weights of group `number` of part `part`.
    fn group<F: Field>(&self, shape: &Shape, part: usize, number: usize) -> &[Block] {
        let count = GROUP_LANES / lanes::<F>(&shape.parts[part]);
        &self.kinds[part][number * count..][..count]
    }
}

/// Lanes of a block: powers of x up to there are independent over the field of the operands.
fn lanes<F: Field>(part: &Part) -> usize {
    F::BITS / part.kind.field.subfield()
}

/// The values that the prover gives in the first level.
pub(crate) fn given_values<F: Field>(
    cpu: Cpu,
    shape: &Shape,
    strings: &mut impl Statements,
    weights: &Weights,
) -> Zeroizing<Vec<Block>> {
    let mut sums = Zeroizing::new(vec![[Block::ZERO; 3 * PLANE]; 4 * GIVEN]);
    for (index, part) in shape.parts.iter().enumerate() {
        let mut scratch = Scratch::new(part.kind);
        for number in 0..part.groups() {
            let group = strings.group(index, number);
            let (left, right) = group.split_at(part.kind.planes());
            let planes = scratch.extend(cpu, left, right);
            let weights = weights.group::<F>(shape, index, number);
            F::weigh(cpu, lanes::<F>(part), planes, weights, &mut sums);
        }
    }
    totals::<F>(cpu, sums.iter())
}

/// Elements from the sums of their four planes each.
fn totals<'a, F: Field>(cpu: Cpu, sums: impl Iterator<Item = &'a Sum>) -> Zeroizing<Vec<Block>> {
    let mut planes: Zeroizing<Vec<Block>> = Zeroizing::new(Vec::with_capacity(4 * GIVEN));
    planes.extend(sums.map(|sum| F::total(cpu, sum)));
    let images: Vec<Block> = (0..planes.len()).map(|i| F::EMBEDDING[i % 4]).collect();
    F::mul_each(cpu, &mut planes, &images);
    let total = |planes: &[Block]| planes.iter().fold(Block::ZERO, |sum, plane| sum ^ *plane);
    Zeroizing::new(planes.chunks_exact(4).map(total).collect())
}

/// A verifier's share of what the statements claim, which grows with its constants.
pub(crate) struct Claim {
    /// At the positions of the grid, for each bit of a constant.
    grid: Zeroizing<Vec<Sum>>,
    /// Of the kinds that are lifted.
    pub lifted: Zeroizing<Block>,
}

impl Claim {
    pub fn new() -> Claim {
        Claim {
            grid: Zeroizing::new(vec![[Block::ZERO; 3 * PLANE]; 4 * POSITIONS]),
            lifted: Zeroizing::new(Block::ZERO),
        }
    }

    /// Adds the constants of group `number` of part `index`.
    fn add<F: Field>(
        &mut self,
        cpu: Cpu,
        (shape, weights): (&Shape, &Weights),
        (index, number): (usize, usize),
        constant: &[&[Block]],
    ) {
        let part = &shape.parts[index];
        if part.on_grid() {
            let weights = weights.group::<F>(shape, index, number);
            for (planes, sums) in constant.iter().zip(self.grid.chunks_exact_mut(POSITIONS)) {
                F::weigh(cpu, lanes::<F>(part), planes, weights, sums);
            }
        } else {
            let mut elements = lift::<F>(constant, part.statements);
            F::mul_each(cpu, &mut elements, &weights.kinds[index]);
            elements.iter().for_each(|element| *self.lifted ^= *element);
        }
    }

    /// The share behind the first level: of the value of its polynomial at the challenge, where
    /// there is a grid, and of the lifted kinds.
    pub fn after_grid<F: Field>(&self, cpu: Cpu, given: &[Block], [r, s]: [Block; 2]) -> Block {
        let (rows, columns) = (
            grid::lagrange::<F>(cpu, POINTS, r),
            grid::lagrange::<F>(cpu, POINTS, s),
        );
        let grid = (0..POSITIONS).map(|i| (i / SIDE, i % SIDE));
        let points = grid.chain((0..GIVEN).map(grid::given_point));
        let (mut at, other): (Vec<Block>, Vec<Block>) = points
            .map(|(row, column)| (rows[row], columns[column]))
            .unzip();
        F::mul_each(cpu, &mut at, &other);
        let planes = (0..4 * POSITIONS).map(|i| &self.grid[i % 4 * POSITIONS + i / 4]);
        let grid = totals::<F>(cpu, planes);
        let mut values = Zeroizing::new([&grid[..], given].concat());
        F::mul_each(cpu, &mut values, &at);
        values.iter().fold(*self.lifted, |sum, value| sum ^ *value)
    }
}

/// Elements of operands or constants of so many statements: `strings` has the bits of one.
fn lift<F: Field>(strings: &[&[Block]], statements: usize) -> Zeroizing<Vec<Block>> {
    let bit = |i: usize, k: usize| {
        let bit = (strings[k][i / 128].value() >> (i % 128)) as u8 & 1;
        F::EMBEDDING[k].masked(bit)
    };
    let element = |i| (0..strings.len()).fold(Block::ZERO, |sum, k| sum ^ bit(i, k));
    Zeroizing::new((0..statements).map(element).collect())
}

/// Memory for the vectors of a proof. One that is kept saves the time to get fresh memory from the
/// system, which is a third of that of a proof. It is erased when it is dropped.
#[derive(Default)]
pub struct Memory {
    pub(crate) vectors: [Vector; 2],
}

/// One side of an inner product, in memory that may be longer and then has older elements.
#[derive(Default)]
pub(crate) struct Vector {
    blocks: Zeroizing<Vec<Block>>,
    len: usize,
}

impl Vector {
    /// Makes it empty, with memory for `count` elements. Memory that is given up is erased.
    pub fn clear(&mut self, count: usize) {
        if self.blocks.len() < count {
            self.blocks = Zeroizing::new(vec![Block::ZERO; count]);
        }
        self.len = 0;
    }

    /// Makes it longer, by elements that the caller writes.
    pub fn extend(&mut self, count: usize) -> &mut [Block] {
        self.len += count;
        &mut self.blocks[self.len - count..self.len]
    }

    /// The elements.
    pub fn elements(&self) -> &[Block] {
        &self.blocks[..self.len]
    }

    /// Makes the length even.
    pub fn pad(&mut self) {
        if self.len % 2 == 1 {
            self.extend(1)[0] = Block::ZERO;
        }
    }

    /// Folds it to half its length, which is even, at a challenge.
    pub fn fold<F: Scalars>(&mut self, cpu: Cpu, at: Block) {
        F::fold(cpu, &mut self.blocks[..self.len], at);
        self.len /= 2;
    }
}

/// One side of the inner product behind the grid, and whether its elements have weights.
pub(crate) type Side<'a> = (&'a mut Vector, bool);

/// Makes sides of the inner product behind the grid: operands at the challenge `point`, each times
/// its weight on a side with weights. The strings have operands of the sides in order, and then
/// constants, which are added to the claim.
pub(crate) fn operands<F: Field>(
    cpu: Cpu,
    (shape, weights): (&Shape, &Weights),
    strings: &mut impl Statements,
    point: Option<[Block; 2]>,
    sides: &mut [Side<'_>],
    mut claim: Option<&mut Claim>,
) {
    for (vector, _) in sides.iter_mut() {
        // One more element pads an odd length later.
        vector.clear(shape.elements() + 1);
    }
    let mut rows = Zeroizing::new(vec![Block::ZERO; GROUP_LANES]);
    let mut powers = vec![Block::ZERO; GROUP_LANES];
    let weighed = sides.iter().any(|(_, weighed)| *weighed);
    for (index, part) in shape.parts.iter().enumerate() {
        let (degree, planes) = (part.kind.field.degree(), part.kind.planes());
        let folding = part
            .on_grid()
            .then(|| Folding::new::<F>(cpu, degree, point.expect("a grid has a challenge")));
        for number in 0..part.groups().max(1) {
            let group = strings.group(index, number);
            let (operands, constant) = group.split_at(sides.len() * planes);
            let constants = if claim.is_some() { degree } else { 0 };
            assert_eq!(constant.len(), constants, "strings of {:?}", part.kind);
            if let Some(claim) = &mut claim {
                claim.add::<F>(cpu, (shape, weights), (index, number), constant);
            }
            if folding.is_some() && weighed {
                let weights = weights.group::<F>(shape, index, number);
                lane_weights::<F>(cpu, lanes::<F>(part), weights, &mut powers);
            }
            for (operands, (vector, weighed)) in operands.chunks_exact(planes).zip(&mut *sides) {
                for term in operands.chunks_exact(degree) {
                    let (elements, weights) = match &folding {
                        Some(folding) => {
                            let elements = vector.extend(GROUP_LANES);
                            folding.fold(cpu, term, &mut rows, elements);
                            (elements, &powers)
                        }
                        None => {
                            let elements = vector.extend(part.statements);
                            elements.copy_from_slice(&lift::<F>(term, part.statements));
                            (elements, &weights.kinds[index])
                        }
                    };
                    if *weighed {
                        F::mul_each(cpu, elements, weights);
                    }
                }
            }
        }
    }
}

/// The weight of each lane of a group: that of its block times a power of x.
fn lane_weights<F: Field>(cpu: Cpu, lanes: usize, weights: &[Block], out: &mut [Block]) {
    for (block, weight) in out.chunks_exact_mut(lanes).zip(weights) {
        let mut power = *weight;
        for out in block {
            *out = power;
            power = F::times_x(cpu, power);
        }
    }
}
