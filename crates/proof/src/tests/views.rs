//! Zero knowledge, by enumeration over small fields: with ideal streams and an ideal hash, what a
//! verifier sees has one distribution, whatever the secrets of the other side are. Faults of a
//! proof change it.

use std::collections::{BTreeMap, BTreeSet};

use sealane_block::{Block, Cpu, Nonce};
use zeroize::Zeroizing;

use super::{CONTEXT, Strings, Tiny, low_bits, run, shape};
use crate::field::{Field, Scalars};
use crate::level;
use crate::sources::{Digest, LeftDraws, RightDraws};
use crate::vectors::Weights;
use crate::{Challenges, Kind, Small};

/// A field in which points may be challenges: a fault.
struct AnyPoint<const BITS: usize>;

impl<const BITS: usize> Field for AnyPoint<BITS> {
    const BITS: usize = BITS;
    const EMBEDDING: [Block; 4] = Tiny::<BITS>::EMBEDDING;
}

impl<const BITS: usize> Scalars for AnyPoint<BITS> {
    fn mul(cpu: Cpu, a: Block, b: Block) -> Block {
        Tiny::<BITS>::mul(cpu, a, b)
    }
    fn element(bits: Block) -> Block {
        low_bits::<Self>(bits)
    }
    fn is_point(_at: Block, _count: usize) -> bool {
        false
    }
}

/// Faults of a proof.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    NoMask,
    NoSalt,
    SharesTwice,
    /// The right verifier sees the message to the left one.
    Overheard,
}

/// One outcome of all that is random: digits of one number.
#[derive(Clone)]
struct Draws {
    digits: Vec<Block>,
    next: usize,
}

impl Draws {
    fn take(&mut self) -> Block {
        self.next += 1;
        self.digits[self.next - 1]
    }
}

/// Ideal draws of the left key: a mask, and salts of an ideal hash. A commitment is the sum of
/// shares and salt: as good as a hash against everybody who does not know the salt, and without a
/// salt as bad as one whose input can be tried out.
struct IdealLeft(Block, Draws);

impl LeftDraws for IdealLeft {
    fn mask(&mut self) -> Block {
        self.0
    }

    fn commit(&mut self, shares: &[Block]) -> Digest {
        let mut commitment = [0; 32];
        for (i, share) in shares.iter().enumerate() {
            let salt = if self.1.digits.is_empty() {
                Block::ZERO
            } else {
                self.1.take()
            };
            commitment[i] = (*share ^ salt).value() as u8;
        }
        commitment
    }
}

struct IdealRight {
    mask: Block,
    shares: Draws,
    twice: bool,
}

impl RightDraws for IdealRight {
    fn mask(&mut self) -> Block {
        self.mask
    }

    fn shares(&mut self, count: usize) -> Zeroizing<Vec<Block>> {
        if self.twice {
            self.shares.next = 0;
        }
        Zeroizing::new((0..count).map(|_| self.shares.take()).collect())
    }
}

/// Challenges of an ideal hash: they depend on nothing else here, so each choice is looked at.
struct Fixed(Vec<Block>);

impl Challenges for Fixed {
    fn commit(&mut self, _commitment: &[u8; 32]) {}

    fn draw(&mut self) -> Block {
        self.0.remove(0)
    }
}

/// All lists of `count` elements below `size`.
fn lists(count: usize, size: usize) -> impl Iterator<Item = Vec<Block>> {
    let digit = move |n: usize, i: usize| Block::new((n / size.pow(i as u32) % size) as u128);
    (0..size.pow(count as u32)).map(move |n| (0..count).map(|i| digit(n, i)).collect())
}

/// A proof of a few bits: statements of so many products, and challenges for all levels.
struct Setting {
    statements: usize,
    terms: usize,
    challenges: Vec<u128>,
    /// The verifier that looks: 0 for the left one.
    side: usize,
    fault: Fault,
}

/// All that a verifier sees, as bytes.
type View = Vec<u8>;

/// Numbers of different distributions of the view of one verifier, over all operands of the other
/// side. Its own operands, keys and constants stay the same.
fn distributions<F: Field>(setting: &Setting) -> usize {
    let size = 1 << F::BITS;
    let kind = Kind {
        field: Small::Bits,
        terms: setting.terms,
    };
    let levels = setting.challenges.len() - 1;
    let values = 2 * levels + 4;
    let mut seen = BTreeSet::new();
    for secret in 0..1u64 << (setting.statements * setting.terms) {
        let strings = with_secret(kind, setting, secret);
        let weights = whole_weights::<F>(&strings);
        let mut count: BTreeMap<View, usize> = BTreeMap::new();
        for digits in lists(free_draws(setting, values), size) {
            *count
                .entry(view::<F>(setting, (&strings, &weights), &digits, values))
                .or_default() += 1;
        }
        seen.insert(count.into_iter().collect::<Vec<_>>());
    }
    seen.len()
}

/// Draws that the verifier does not know.
fn free_draws(setting: &Setting, values: usize) -> usize {
    let masks = usize::from(setting.fault != Fault::NoMask);
    match (setting.side, setting.fault) {
        (0, Fault::SharesTwice) => 4 + masks,
        (0, _) => values + masks,
        (_, Fault::NoSalt) => masks,
        _ => values + masks,
    }
}

/// Statements that hold, with these bits as operands of the side that does not look. The constant
/// of the side that looks stays the same.
fn with_secret(kind: Kind, setting: &Setting, secret: u64) -> Strings {
    let mut strings = Strings::new(kind, setting.statements, 3);
    let other = 1 - setting.side;
    for bit in 0..setting.statements * setting.terms {
        let (term, i) = (bit / setting.statements, bit % setting.statements);
        let own = strings.proven[setting.side][term].bit(i);
        if strings.proven[other][term].bit(i) != (secret >> bit & 1) as u8 {
            strings.proven[other][term].flip(i);
            strings.verified[other][0][term].flip(i);
            // The constant of the other side makes the statement hold.
            if own == 1 {
                strings.verified[other][1][0].flip(i);
            }
        }
    }
    strings
}

/// Weights without 0, which would hide its operand.
fn whole_weights<F: Field>(strings: &Strings) -> Weights {
    let (cpu, shape) = (Cpu::best(), shape(std::slice::from_ref(strings)));
    let drawn = |n: u8| Weights::new::<F>(cpu, &CONTEXT, &shape, &Nonce::from_bytes([n; 32]));
    let weight = |weights: &Weights, i| weights.of::<F>(cpu, &shape, i).value();
    let whole = |weights: &Weights| (0..strings.statements).all(|i| weight(weights, i) > 0);
    (0..=255).map(drawn).find(whole).expect("weights without 0")
}

/// The view for one outcome of the draws.
fn view<F: Field>(
    setting: &Setting,
    (strings, weights): (&Strings, &Weights),
    digits: &[Block],
    values: usize,
) -> View {
    let fixed = |i: usize| F::element(Block::new(1 + 2 * i as u128));
    let own: Vec<Block> = (0..values).map(fixed).collect();
    let none = setting.fault == Fault::NoMask;
    let free = &digits[usize::from(!none)..];
    let mask = if none { Block::ZERO } else { digits[0] };
    let draws = |digits: &[Block]| Draws {
        digits: digits.to_vec(),
        next: 0,
    };
    let twice = setting.fault == Fault::SharesTwice;
    // A fault of masks concerns the side that does not look; its own mask is fixed.
    let (left, right) = match setting.side {
        0 => ((fixed(9), draws(&own)), (mask, draws(free))),
        _ => ((mask, draws(free)), (fixed(9), draws(&own))),
    };
    let left_key = || IdealLeft(left.0, left.1.clone());
    let right_key = || IdealRight {
        mask: right.0,
        shares: right.1.clone(),
        twice,
    };
    let challenges = || {
        Fixed(
            setting
                .challenges
                .iter()
                .map(|at| Block::new(*at))
                .collect(),
        )
    };
    let prover = (&mut left_key(), &mut right_key(), &mut challenges());
    let verifiers = (left_key(), right_key(), [challenges(), challenges()]);
    let (sent, [a, b]) = run::<F, _>(strings, weights, prover, verifiers);
    assert!(level::accepts::<F>(Cpu::best(), &a, &b), "an honest proof");
    let low = |blocks: &[Block]| blocks.iter().map(|b| b.value() as u8).collect::<Vec<u8>>();
    let mut seen = match setting.side {
        0 => low(&[&sent.left[..], &[b.value, b.share]].concat()),
        _ => [&low(&[a.value, a.share]), sent.right.as_flattened()].concat(),
    };
    if setting.fault == Fault::Overheard {
        seen.extend(low(&sent.left));
    }
    seen
}

fn check<F: Field>(statements: usize, challenges: &[u128], side: usize, fault: Fault) -> usize {
    check_of::<F>([statements, 1], challenges, side, fault)
}

/// The same of statements of so many products.
fn check_of<F: Field>(
    [statements, terms]: [usize; 2],
    challenges: &[u128],
    side: usize,
    fault: Fault,
) -> usize {
    let challenges = challenges.to_vec();
    distributions::<F>(&Setting {
        statements,
        terms,
        challenges,
        side,
        fault,
    })
}

#[test]
fn views_are_the_same_for_all_secrets() {
    for side in [0, 1] {
        for at in [2, 3] {
            assert_eq!(check::<Tiny<2>>(1, &[at], side, Fault::None), 1);
            assert_eq!(check::<Tiny<2>>(2, &[at], side, Fault::None), 1);
        }
        assert_eq!(check::<Tiny<3>>(1, &[5], side, Fault::None), 1);
        // A level of two before the last one.
        assert_eq!(check::<Tiny<2>>(3, &[2, 3], side, Fault::None), 1);
    }
}

#[test]
fn faults_of_a_proof_are_found_in_views() {
    for side in [0, 1] {
        assert!(check::<Tiny<2>>(2, &[2], side, Fault::NoMask) > 1);
        assert!(check::<Tiny<3>>(1, &[5], side, Fault::NoMask) > 1);
        for point in [0, 1] {
            assert!(check::<AnyPoint<2>>(2, &[point], side, Fault::None) > 1);
        }
        // The same field is right where the challenge is none.
        assert_eq!(check::<AnyPoint<2>>(2, &[3], side, Fault::None), 1);
    }
    assert!(check::<Tiny<2>>(2, &[2], 1, Fault::NoSalt) > 1);
    assert!(check::<Tiny<2>>(3, &[2, 3], 0, Fault::SharesTwice) > 1);
    assert!(check::<Tiny<2>>(2, &[2], 1, Fault::Overheard) > 1);
}

/// Products that are reshared, deals and openings have statements of several products.
#[test]
fn views_of_statements_of_several_products_are_the_same_for_all_secrets() {
    for side in [0, 1] {
        for at in [2, 3] {
            assert_eq!(check_of::<Tiny<2>>([1, 2], &[at], side, Fault::None), 1);
        }
        assert_eq!(check_of::<Tiny<3>>([1, 2], &[6], side, Fault::None), 1);
        assert_eq!(check_of::<Tiny<2>>([1, 3], &[2, 3], side, Fault::None), 1);
        assert!(check_of::<Tiny<2>>([1, 2], &[2], side, Fault::NoMask) > 1);
        assert!(check_of::<AnyPoint<2>>([1, 2], &[1], side, Fault::None) > 1);
    }
    assert!(check_of::<Tiny<2>>([1, 2], &[2], 1, Fault::NoSalt) > 1);
    assert!(check_of::<Tiny<2>>([2, 2], &[2, 3], 0, Fault::SharesTwice) > 1);
    assert!(check_of::<Tiny<2>>([1, 2], &[2], 1, Fault::Overheard) > 1);
}
