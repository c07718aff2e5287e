//! Statements, small fields and whole proofs for the tests of all modules.

use sealane_block::{Block, Coins, Cpu, Prg, Seed};

use crate::field::{Field, Scalars, is_first};
use crate::grid::mul16;
use crate::level::{Left, Right, Sent, follow, prove};
use crate::sources::{LeftDraws, RightDraws};
use crate::vectors::{Memory, Weights};
use crate::{
    Answer, BitString, Challenges, Context, Kind, Proven, Segment, Shape, Verified, WeightSeed,
};

mod kernels;
mod proofs;
mod rates;
mod refused;
mod sums;
mod turns;
mod vectors;
mod views;

/// GF(2^BITS) of 4 to 256 elements, by tables of powers of x.
pub struct Tiny<const BITS: usize>;

impl<const BITS: usize> Tiny<BITS> {
    const ORDER: usize = (1 << BITS) - 1;
    /// Powers of x, and their exponents.
    const TABLES: ([u8; 256], [usize; 256]) = {
        let modulus = [0, 0, 0b111, 0b1011, 0b10011, 0, 0, 0, 0x11d][BITS];
        let (mut powers, mut exponents, mut i, mut power) = ([0; 256], [0; 256], 0, 1);
        while i < Self::ORDER {
            powers[i] = power as u8;
            exponents[power] = i;
            power <<= 1;
            power ^= if power >> BITS == 1 { modulus } else { 0 };
            i += 1;
        }
        (powers, exponents)
    };

    pub const fn times(a: u8, b: u8) -> u8 {
        if a == 0 || b == 0 {
            return 0;
        }
        let exponents = Self::TABLES.1;
        Self::TABLES.0[(exponents[a as usize] + exponents[b as usize]) % Self::ORDER]
    }

    pub fn over(a: Block, b: Block) -> Block {
        let exponent = Self::ORDER - Self::TABLES.1[b.value() as usize];
        let inverse = Self::TABLES.0[exponent % Self::ORDER];
        Block::new(Self::times(a.value() as u8, inverse).into())
    }

    /// The least element with `v^2 + v = a`; 0 in a field without GF(16).
    const fn root(a: u8) -> u8 {
        let mut v = 2;
        while v <= Self::ORDER {
            if Self::times(v as u8, v as u8) ^ v as u8 == a {
                return v as u8;
            }
            v += 1;
        }
        0
    }
}

impl<const BITS: usize> Field for Tiny<BITS> {
    const BITS: usize = BITS;
    const EMBEDDING: [Block; 4] = {
        let w = Self::root(1);
        let z = Self::root(w);
        let images = [1, w, z, Self::times(w, z)];
        let mut blocks = [Block::ZERO; 4];
        let mut i = 0;
        while i < 4 {
            blocks[i] = Block::new(images[i] as u128);
            i += 1;
        }
        blocks
    };
}

impl<const BITS: usize> Scalars for Tiny<BITS> {
    fn mul(_cpu: Cpu, a: Block, b: Block) -> Block {
        static_product::<BITS>(a, b)
    }

    fn element(bits: Block) -> Block {
        low_bits::<Self>(bits)
    }

    fn is_point(at: Block, count: usize) -> bool {
        is_first::<Self>(at, count)
    }
}

fn static_product<const BITS: usize>(a: Block, b: Block) -> Block {
    let (a, b) = (a.value() as usize, b.value() as usize);
    if a == 0 || b == 0 {
        return Block::ZERO;
    }
    let (powers, exponents) = const { &Tiny::<BITS>::TABLES };
    let sum = exponents[a] + exponents[b];
    Block::new(powers[sum % Tiny::<BITS>::ORDER].into())
}

/// The first bits of a block, as an element.
pub fn low_bits<F: Field>(bits: Block) -> Block {
    Block::new(bits.value() & (u128::MAX >> (128 - F::BITS)))
}

/// A string of `bits` bits without a pattern.
pub fn random(bits: usize, number: u64) -> BitString {
    let mut bytes = vec![0u8; bits.div_ceil(64) * 8];
    Prg::danger_fixed(Cpu::best(), number).fill_bytes(&mut bytes);
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let words: Vec<u64> = bytes.chunks_exact(8).map(word).collect();
    let mut string = BitString::default();
    string.push(&words, bits);
    string
}

pub fn copy(strings: &[BitString]) -> Vec<BitString> {
    let one = |string: &BitString| {
        let words: &[u64] = bytemuck::must_cast_slice(string.blocks());
        let mut copy = BitString::default();
        copy.push(words, string.len());
        copy
    };
    strings.iter().map(one).collect()
}

/// Strings of one kind at all three parties. A test changes those of one of them.
pub struct Strings {
    pub kind: Kind,
    pub statements: usize,
    /// Left and right operands at the prover.
    pub proven: [Vec<BitString>; 2],
    /// Operands and constants at the left and the right verifier.
    pub verified: [[Vec<BitString>; 2]; 2],
}

/// The element at `i` of an operand.
fn element(strings: &[BitString], i: usize) -> u8 {
    (0..strings.len()).fold(0, |sum, k| sum | strings[k].bit(i) << k)
}

impl Strings {
    /// Statements that hold.
    pub fn new(kind: Kind, statements: usize, number: u64) -> Strings {
        let degree = kind.field.degree();
        let mut next = 1000 * number;
        let mut draw = |count: usize| -> Vec<BitString> {
            next += count as u64;
            (0..count as u64)
                .map(|i| random(statements, next - i))
                .collect()
        };
        let (left, right, c_right) = (draw(kind.planes()), draw(kind.planes()), draw(degree));
        let mut c_left = copy(&c_right);
        for i in 0..statements {
            let mut sum = 0;
            for (a, b) in left.chunks(degree).zip(right.chunks(degree)) {
                sum ^= mul16(element(a, i), element(b, i));
            }
            for (k, string) in c_left.iter_mut().enumerate() {
                if sum >> k & 1 == 1 {
                    string.flip(i);
                }
            }
        }
        let verified = [[copy(&left), c_left], [copy(&right), c_right]];
        Strings {
            kind,
            statements,
            proven: [left, right],
            verified,
        }
    }

    pub fn to_prove(&self) -> Proven<'_> {
        let [left, right] = self.proven.each_ref().map(|side| side.iter().collect());
        Proven { left, right }
    }

    pub fn to_verify(&self, side: usize) -> Verified<'_> {
        let [operands, constant] = self.verified[side].each_ref().map(|of| of.iter().collect());
        Verified { operands, constant }
    }
}

pub fn shape(all: &[Strings]) -> Shape {
    let counts: Vec<_> = all
        .iter()
        .map(|strings| (strings.kind, strings.statements))
        .collect();
    Shape::new(&counts).unwrap()
}

/// Coefficients of the polynomial with these roots, lowest first.
pub fn coefficients<F: Field>(roots: &[Block]) -> Vec<Block> {
    let mut all = vec![Block::new(1)];
    for root in roots {
        let mut next = vec![Block::ZERO; all.len() + 1];
        for (i, c) in all.iter().enumerate() {
            next[i + 1] ^= *c;
            next[i] ^= F::mul(Cpu::best(), *c, *root);
        }
        all = next;
    }
    all
}

/// Proves statements of one kind and follows the proof on both sides, under these draws.
pub fn run<F: Field, C: Challenges>(
    strings: &Strings,
    weights: &Weights,
    prover: (
        &mut impl LeftDraws,
        &mut impl RightDraws,
        &mut impl Challenges,
    ),
    verifiers: (impl LeftDraws, impl RightDraws, [C; 2]),
) -> (Sent, [Answer; 2]) {
    let shape = &shape(std::slice::from_ref(strings));
    let (cpu, memory) = (Cpu::best(), &mut Memory::default());
    let proven = &mut &[strings.to_prove()][..];
    let sent = prove::<F>(cpu, shape, proven, weights, prover, memory);
    let (draws, other, [mut first, mut second]) = verifiers;
    let shares = &sent.left;
    let left = (&mut Left { draws, shares }, &mut first);
    let one = [strings.to_verify(0)];
    let one = follow::<F, _>(cpu, shape, &mut &one[..], weights, left, memory);
    let (draws, commitments) = (other, &sent.right[..]);
    let right = (&mut Right { draws, commitments }, &mut second);
    let two = [strings.to_verify(1)];
    let two = follow::<F, _>(cpu, shape, &mut &two[..], weights, right, memory);
    (sent, [one, two])
}

pub const CONTEXT: Context = Context {
    session: [7; 32],
    segment: 3,
    prover: 1,
};

pub fn segment(cpu: Cpu, shape: &Shape) -> Segment<'_> {
    Segment {
        cpu,
        context: CONTEXT,
        shape,
    }
}

/// The key that the prover shares with its left or right verifier.
pub fn key(side: usize) -> Seed {
    Coins::danger_fixed_seed(side as u64).secret("key").seed()
}

pub fn seed(number: u8) -> WeightSeed {
    let mut coins = Coins::danger_fixed_seed(number.into());
    WeightSeed::draw(&CONTEXT, &coins.secret("weights").seed())
}
