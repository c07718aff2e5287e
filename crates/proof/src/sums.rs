//! Statements about integers modulo `p = 2^61 - 1`: sums of products, and products of matrices.
//!
//! Their proof is over the extension of degree 2, `F_p[i]` with `i^2 = -1`: p is 3 modulo 4, so
//! that -1 is no square. An element is a block: the lower word is the part of 1, the upper one that
//! of `i`. Vectors have an element for each product of each statement; there is no level before
//! those of two. A *batch* has statements of one form:
//!
//! ```text
//! lanes    sum over t of a_t[l] b_t[l] + c_L[l] + c_R[l] = 0                  weight w_l
//! matrix   sum over t of a_t[r] b_t[c] + c_L[r, c] + c_R[r, c] = 0            weight u_r v_c
//! ```
//!
//! where of a matrix `a` may also depend on the column and `b` on the row. With weights, the left
//! operands of lanes are multiplied by the weight of their lane. Of a matrix all rows become one
//! operand, the sum of `u_r a_t[r]`, and all columns one too: a proof reads each matrix once, in
//! place of each product of two elements (Freivalds 1977). A false statement among those of a
//! matrix escapes its weights with a chance of twice one of `p^2`, elsewhere of once.

use sealane_block::mersenne::{Mersenne, PRIME_BITS};
use sealane_block::{Block, Cpu, Nonce, Prg};
use zeroize::Zeroizing;

use crate::field::Scalars;
use crate::kind::Shape;
use crate::level::{Follower, Prover, Receiver, Sent};
use crate::message::Answer;
use crate::sources::{Challenges, Context, LeftDraws, RightDraws};
use crate::vectors::{Memory, Vector};

/// The field of these proofs.
pub(crate) type SumField = Quadratic<PRIME_BITS>;

/// The extension of degree 2 of the integers modulo `2^B - 1`.
pub(crate) struct Quadratic<const B: u32>;

/// The words of an element.
#[inline(always)]
fn words(a: Block) -> [u64; 2] {
    [a.value() as u64, (a.value() >> 64) as u64]
}

/// The element of two words.
#[inline(always)]
fn block([real, imaginary]: [u64; 2]) -> Block {
    Block::new(u128::from(real) | u128::from(imaginary) << 64)
}

impl<const B: u32> Quadratic<B> {
    /// The product of two elements, as sums of two products each.
    #[inline(always)]
    fn products(a: Block, b: Block) -> [u128; 2] {
        let ([a, b], [c, d]) = (words(a), words(b));
        let less = Mersenne::<B>::P - b;
        let [a, b, c, d, less] = [a, b, c, d, less].map(u128::from);
        [a * c + less * d, a * d + b * c]
    }

    /// An element times an integer.
    #[inline(always)]
    fn times(a: Block, word: u64) -> Block {
        block(words(a).map(|a| Mersenne::<B>::mul(a, word)))
    }
}

impl<const B: u32> Scalars for Quadratic<B> {
    #[inline(always)]
    fn mul(_cpu: Cpu, a: Block, b: Block) -> Block {
        block(Self::products(a, b).map(Mersenne::<B>::wide))
    }

    #[inline(always)]
    fn add(a: Block, b: Block) -> Block {
        let ([a, b], [c, d]) = (words(a), words(b));
        block([Mersenne::<B>::add(a, c), Mersenne::<B>::add(b, d)])
    }

    #[inline(always)]
    fn sub(a: Block, b: Block) -> Block {
        let ([a, b], [c, d]) = (words(a), words(b));
        block([Mersenne::<B>::sub(a, c), Mersenne::<B>::sub(b, d)])
    }

    fn element(bits: Block) -> Block {
        block(words(bits).map(|word| word & Mersenne::<B>::P))
    }

    fn fits(bits: Block) -> bool {
        let p = Mersenne::<B>::P;
        let [real, imaginary] = words(bits).map(|word| word & p);
        (real != p) & (imaginary != p)
    }

    fn received(block: Block) -> Block {
        self::block(words(block).map(Mersenne::<B>::reduce))
    }

    fn is_point(at: Block, count: usize) -> bool {
        at.value() < count as u128
    }

    fn line_product(_cpu: Cpu, f: &[Block], g: &[Block]) -> Zeroizing<[Block; 2]> {
        let half = f.len() / 2;
        let [(f0, f1), (g0, g1)] = [f.split_at(half), g.split_at(half)];
        // Reduced once, at the end.
        let mut sums = Zeroizing::new([[0u128; 2]; 2]);
        for ((f0, f1), (g0, g1)) in f0.iter().zip(f1).zip(g0.iter().zip(g1)) {
            let slopes = [Self::sub(*f1, *f0), Self::sub(*g1, *g0)];
            let products = [
                Self::products(*f0, *g0),
                Self::products(slopes[0], slopes[1]),
            ];
            for (sum, product) in sums
                .as_flattened_mut()
                .iter_mut()
                .zip(products.as_flattened())
            {
                // Both are far below 2^127, and a check of the sum would branch on it.
                *sum = Mersenne::<B>::fold(sum.wrapping_add(*product));
            }
        }
        Zeroizing::new(sums.map(|sum| block(sum.map(Mersenne::<B>::wide))))
    }
}

/// Form of the statements of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchForm {
    /// So many statements.
    Lanes(usize),
    /// One for each row and each column of a matrix.
    Matrix {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
}

impl BatchForm {
    /// Statements of the batch.
    pub fn statements(self) -> usize {
        match self {
            BatchForm::Lanes(lanes) => lanes,
            BatchForm::Matrix { rows, columns } => rows * columns,
        }
    }
}

/// Operands of one side, of some products of all statements of a batch: integers below `2^61 - 1`.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// Of each statement: those of the first product, then of the second one.
    Lanes(&'a [u64]),
    /// The same, of which the statements of a row have one.
    Rows(&'a [u64]),
    /// The same, of which the statements of a column have one.
    Columns(&'a [u64]),
}

/// Statements of one form at one party.
#[derive(Clone)]
pub struct Batch<'a> {
    /// Their form.
    pub form: BatchForm,
    /// At the prover operands of the left verifier, then those of the right one, as many; at a
    /// verifier its own.
    pub sides: Vec<Vec<Operand<'a>>>,
    /// At a verifier the constant of its side, row by row; the prover has none.
    pub constants: &'a [u64],
    /// True if of a matrix the constant of each statement is that and the inner product of its two
    /// operands of this side, one of the row and one of the column.
    pub inner: bool,
}

/// The random weights of a proof, which are drawn batch by batch.
pub(crate) struct SumWeights(Prg);

impl SumWeights {
    pub fn new(cpu: Cpu, context: &Context, seed: &Nonce) -> SumWeights {
        let label = "proof: weights of sums";
        SumWeights(seed.stream(label, &context.bound()).prg(cpu))
    }

    /// The next weights. They are public.
    pub fn draw<const B: u32>(&mut self, count: usize) -> Vec<Block> {
        let mut drawn = vec![Block::ZERO; count];
        self.0.fill(&mut drawn);
        for weight in &mut drawn {
            while !Quadratic::<B>::fits(*weight) {
                self.0.fill(std::slice::from_mut(weight));
            }
            *weight = Quadratic::<B>::element(*weight);
        }
        drawn
    }
}

/// Weights of a batch.
struct Weighed {
    /// Of lanes, or of rows.
    first: Vec<Block>,
    /// Of columns.
    columns: Vec<Block>,
}

/// Adds operands of a side to a vector, those of lanes with their weights if the side has any.
fn append<const B: u32>(of: &Operand<'_>, weights: &Weighed, weighted: bool, vector: &mut Vector) {
    let (words, weights, whole) = match of {
        Operand::Lanes(words) => (words, &weights.first, false),
        Operand::Rows(words) => (words, &weights.first, true),
        Operand::Columns(words) => (words, &weights.columns, true),
    };
    let groups = words.chunks_exact(weights.len().max(1));
    assert!(
        groups.remainder().is_empty(),
        "an operand of each statement"
    );
    if whole {
        let elements = vector.extend(groups.len());
        for (words, element) in groups.zip(elements) {
            *element = weighted_sum::<B>(weights, words);
        }
        return;
    }
    let elements = vector.extend(words.len());
    for (words, elements) in groups.zip(elements.chunks_exact_mut(weights.len().max(1))) {
        let each = words.iter().zip(elements).zip(weights);
        if weighted {
            each.for_each(|((word, to), weight)| *to = Quadratic::<B>::times(*weight, *word));
        } else {
            each.for_each(|((word, to), _)| *to = Block::new(u128::from(*word)));
        }
    }
}

/// The sum of integers times their weights.
fn weighted_sum<const B: u32>(weights: &[Block], words: &[u64]) -> Block {
    let mut sums = Zeroizing::new([0u128; 2]);
    for (weight, word) in weights.iter().zip(words) {
        for (sum, part) in sums.iter_mut().zip(self::words(*weight)) {
            *sum = Mersenne::<B>::fold(*sum + u128::from(part) * u128::from(*word));
        }
    }
    block(sums.map(Mersenne::<B>::wide))
}

/// A verifier's weighted sum of its constants. `elements` are those of its operands.
fn claimed<const B: u32>(
    cpu: Cpu,
    batch: &Batch<'_>,
    weights: &Weighed,
    elements: &[Block],
) -> Block {
    let constants = batch.constants;
    assert_eq!(constants.len(), batch.form.statements(), "constants");
    let mut sum = Block::ZERO;
    if batch.inner {
        let matrix = matches!(batch.form, BatchForm::Matrix { .. });
        assert!(
            matrix && elements.len().is_multiple_of(2),
            "two operands of a matrix"
        );
        let (one, other) = elements.split_at(elements.len() / 2);
        for (a, b) in one.iter().zip(other) {
            sum = Quadratic::<B>::add(sum, Quadratic::<B>::mul(cpu, *a, *b));
        }
    }
    let given = match batch.form {
        BatchForm::Lanes(_) => weighted_sum::<B>(&weights.first, constants),
        BatchForm::Matrix { columns, .. } => {
            let rows = constants.chunks_exact(columns.max(1)).zip(&weights.first);
            rows.fold(Block::ZERO, |sum, (row, weight)| {
                let row = weighted_sum::<B>(&weights.columns, row);
                Quadratic::<B>::add(sum, Quadratic::<B>::mul(cpu, row, *weight))
            })
        }
    };
    Quadratic::<B>::add(sum, given)
}

/// Makes the vectors of these sides, the first of them with weights if it is the left one, and
/// adds constants to a claim.
fn vectors<const B: u32>(
    (cpu, shape): (Cpu, &Shape),
    batches: &[Batch<'_>],
    weights: &mut SumWeights,
    sides: &mut [(&mut Vector, bool)],
    mut claim: Option<&mut Block>,
) {
    for (vector, _) in sides.iter_mut() {
        // One more element pads an odd length later.
        vector.clear(shape.elements() + 1);
    }
    for batch in batches {
        assert_eq!(batch.sides.len(), sides.len(), "operands of each side");
        let [first, columns] = match batch.form {
            BatchForm::Lanes(lanes) => [lanes, 0],
            BatchForm::Matrix { rows, columns } => [rows, columns],
        };
        let weights = Weighed {
            first: weights.draw::<B>(first),
            columns: weights.draw::<B>(columns),
        };
        let before = sides[0].0.elements().len();
        for (operands, (vector, weighted)) in batch.sides.iter().zip(&mut *sides) {
            for of in operands {
                append::<B>(of, &weights, *weighted, vector);
            }
        }
        if let Some(claim) = &mut claim {
            let elements = &sides[0].0.elements()[before..];
            let more = claimed::<B>(cpu, batch, &weights, elements);
            **claim = Quadratic::<B>::add(**claim, more);
        }
    }
    for (vector, _) in sides.iter_mut() {
        let rest = shape.elements() - vector.elements().len();
        vector.extend(rest).fill(Block::ZERO);
    }
}

/// Proves all statements of a segment.
pub(crate) fn prove<const B: u32>(
    cpu: Cpu,
    shape: &Shape,
    batches: &[Batch<'_>],
    weights: &mut SumWeights,
    sources: (
        &mut impl LeftDraws,
        &mut impl RightDraws,
        &mut impl Challenges,
    ),
    memory: &mut Memory,
) -> Sent {
    let [f, g] = &mut memory.vectors;
    let sides = &mut [(&mut *f, true), (&mut *g, false)];
    vectors::<B>((cpu, shape), batches, weights, sides, None);
    Prover::new(shape, sources).descend::<Quadratic<B>>(cpu, [f, g])
}

/// Follows a proof on one side, up to the answer for the other verifier.
pub(crate) fn follow<const B: u32, V: Receiver>(
    cpu: Cpu,
    shape: &Shape,
    batches: &[Batch<'_>],
    weights: &mut SumWeights,
    (receiver, challenges): (&mut V, &mut impl Challenges),
    memory: &mut Memory,
) -> Answer {
    let vector = &mut memory.vectors[0];
    let mut constants = Zeroizing::new(Block::ZERO);
    let sides = &mut [(&mut *vector, V::LEFT)];
    vectors::<B>((cpu, shape), batches, weights, sides, Some(&mut constants));
    // Products and constants sum to zero.
    let claim = Zeroizing::new(Quadratic::<B>::sub(Block::ZERO, *constants));
    Follower::new(shape, receiver, challenges).descend::<Quadratic<B>>(cpu, vector, claim)
}
