//! Zero knowledge of proofs about integers, by enumeration over the field of nine elements.

use std::collections::{BTreeMap, BTreeSet};

use sealane_block::mersenne::Mersenne;
use sealane_block::{Block, Nonce};
use zeroize::Zeroizing;

use super::{CPU, Made, shape};
use crate::field::Scalars;
use crate::level::{self, Left, Right};
use crate::sources::{Digest, LeftDraws, RightDraws};
use crate::sums::{Quadratic, SumWeights, follow, prove};
use crate::tests::CONTEXT;
use crate::{BatchForm, Challenges, Memory};

/// A list of draws that a test chooses.
#[derive(Clone)]
struct Listed(Vec<Block>, usize);

impl Listed {
    fn take(&mut self) -> Block {
        self.1 += 1;
        self.0[self.1 - 1]
    }
}

/// Draws of the left key: a mask, and salts of an ideal hash, which is a sum.
struct IdealLeft(Block, Listed);

impl LeftDraws for IdealLeft {
    fn mask(&mut self) -> Block {
        self.0
    }

    fn commit(&mut self, shares: &[Block]) -> Digest {
        let mut commitment = [0; 32];
        for (i, share) in shares.iter().enumerate() {
            let sum = Quadratic::<2>::add(*share, self.1.take()).value();
            (commitment[2 * i], commitment[2 * i + 1]) = (sum as u8, (sum >> 64) as u8);
        }
        commitment
    }
}

struct IdealRight(Block, Listed);

impl RightDraws for IdealRight {
    fn mask(&mut self) -> Block {
        self.0
    }

    fn shares(&mut self, count: usize) -> Zeroizing<Vec<Block>> {
        Zeroizing::new((0..count).map(|_| self.1.take()).collect())
    }
}

struct Fixed(Block);

impl Challenges for Fixed {
    fn commit(&mut self, _: &[u8; 32]) {}
    fn draw(&mut self) -> Block {
        self.0
    }
}

/// The view of a verifier of two products over the field of nine elements, with these draws that
/// it does not know: a mask and four shares or salts.
fn view(made: &Made, nonce: &Nonce, side: usize, masked: bool, free: &[Block]) -> Vec<u8> {
    let all = std::slice::from_ref(made);
    let (shape, memory) = (shape(all), &mut Memory::default());
    let own = Listed((0..4).map(|i| Block::new(i % 3)).collect(), 0);
    let other = Listed(free[1..].to_vec(), 0);
    let mask = if masked { free[0] } else { Block::ZERO };
    let fixed = Block::new(2 | 1 << 64);
    let left = || match side {
        0 => IdealLeft(fixed, own.clone()),
        _ => IdealLeft(mask, other.clone()),
    };
    let right = || match side {
        0 => IdealRight(mask, other.clone()),
        _ => IdealRight(fixed, own.clone()),
    };
    let challenge = || Fixed(Block::new(1 << 64));
    let weights = || SumWeights::new(CPU(), &CONTEXT, nonce);
    let sources = (&mut left(), &mut right(), &mut challenge());
    let batch = [made.to_prove()];
    let sent = prove::<2>(CPU(), &shape, &batch, &mut weights(), sources, memory);
    let (draws, shares) = (left(), &sent.left[..]);
    let source = (&mut Left { draws, shares }, &mut challenge());
    let batch = [made.to_verify(0)];
    let one = follow::<2, _>(CPU(), &shape, &batch, &mut weights(), source, memory);
    let (draws, commitments) = (right(), &sent.right[..]);
    let source = (&mut Right { draws, commitments }, &mut challenge());
    let batch = [made.to_verify(1)];
    let two = follow::<2, _>(CPU(), &shape, &batch, &mut weights(), source, memory);
    assert!(level::accepts::<Quadratic<2>>(CPU(), &one, &two));
    let bytes = |blocks: &[Block]| {
        let words = blocks.iter().map(|block| block.value());
        words
            .flat_map(|word| [word as u8, (word >> 64) as u8])
            .collect::<Vec<_>>()
    };
    match side {
        0 => bytes(&[&sent.left[..], &[two.value, two.share]].concat()),
        _ => [&bytes(&[one.value, one.share]), sent.right.as_flattened()].concat(),
    }
}

/// Numbers of different distributions of a verifier's view over all operands of the other side.
fn distributions(side: usize, masked: bool) -> usize {
    let elements = (0..9u128)
        .map(|n| Block::new((n % 3) | ((n / 3) << 64)))
        .collect::<Vec<_>>();
    // Weights that are not zero.
    let nonce = (0..).map(|n| Nonce::from_bytes([n; 32])).find(|nonce| {
        let drawn = SumWeights::new(CPU(), &CONTEXT, nonce).draw::<2>(1);
        drawn[0].value() != 0
    });
    let nonce = &nonce.unwrap();
    let mut seen = BTreeSet::new();
    for secret in [0, 5, 7] {
        let mut made = Made::new::<2>(BatchForm::Lanes(1), 1, 3);
        // One product of each operand pair; the constant of the other side makes it hold.
        let other = 1 - side;
        for operand in [0, 1] {
            let value = secret / 3u64.pow(operand as u32) % 3;
            made.sides[0][other][operand][0] = value;
            made.sides[1][other][operand][0] = value;
        }
        let [left, right] = &made.sides[0];
        let products = [0, 1].map(|at| Mersenne::<2>::mul(left[at][0], right[at][0]));
        let sum = products
            .into_iter()
            .fold(made.constants[side][0], Mersenne::<2>::add);
        made.constants[other][0] = Mersenne::<2>::neg(sum);
        let mut counts: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for number in 0..9usize.pow(4 + u32::from(masked)) {
            let digit = |i: u32| elements[number / 9usize.pow(i) % 9];
            let free = (0..5).map(|i| {
                if i == 4 && !masked {
                    Block::ZERO
                } else {
                    digit(i)
                }
            });
            let mut free = free.collect::<Vec<_>>();
            free.rotate_right(1);
            *counts
                .entry(view(&made, nonce, side, masked, &free))
                .or_default() += 1;
        }
        seen.insert(counts.into_iter().collect::<Vec<_>>());
    }
    seen.len()
}

#[test]
fn views_are_the_same_for_all_secrets() {
    for side in [0, 1] {
        assert_eq!(distributions(side, true), 1);
        assert!(distributions(side, false) > 1, "no mask");
    }
}
