//! Statements about rows that change their order: honest ones pass, one bit or place of any party
//! that differs is refused, and over small fields false ones are taken for true at the rate that
//! the degree of the weights says.

use sealane_block::{Block, Cpu, Nonce, Prg};

use super::{CONTEXT, Strings, Tiny, coefficients, key, seed, segment};
use crate::field::{Field, Gf128, Scalars};
use crate::level::{self, Left, Right, follow, prove};
use crate::sources::{LeftKey, RightKey};
use crate::vectors::Weights;
use crate::{
    ByKey, Challenges, Context, Kind, Known, Memory, Proven, Shape, ShapeError, Statements, Turn,
    Turns, Verified, WithTurns,
};

/// One statement at all three parties, who have copies of their own: the prover, who knows rows and
/// order, the verifier with the rows, and the one with the order.
#[derive(Clone)]
struct Moved {
    turn: Turn,
    /// True if the left verifier has the rows.
    rows_left: bool,
    rows: [Vec<u64>; 2],
    order: [Vec<u32>; 2],
    /// The constant beside the rows, and the one beside the order.
    constants: [Vec<u64>; 2],
}

impl Moved {
    /// A statement that holds.
    fn new(turn: Turn, rows_left: bool, number: u64) -> Moved {
        let mut draws = Prg::danger_fixed(Cpu::best(), number);
        let mut word = || {
            let mut bytes = [0; 8];
            draws.fill_bytes(&mut bytes);
            u64::from_le_bytes(bytes)
        };
        let all = turn.rows * turn.words;
        let rows = (0..all).map(|_| word()).collect::<Vec<_>>();
        let one = (0..all).map(|_| word()).collect::<Vec<_>>();
        let mut order = (0..turn.rows as u32).collect::<Vec<_>>();
        for last in (1..turn.rows).rev() {
            order.swap(last, word() as usize % (last + 1));
        }
        let moved = order
            .iter()
            .flat_map(|row| rows[*row as usize * turn.words..][..turn.words].to_vec());
        let other = moved.zip(&one).map(|(row, one)| row ^ one).collect();
        Moved {
            turn,
            rows_left,
            rows: [rows.clone(), rows],
            order: [order.clone(), order],
            constants: [one, other],
        }
    }

    /// Both sides of party 0, the prover, or of party 1, either verifier: left and right.
    fn sides(&self, party: usize) -> [Known<'_>; 2] {
        let sides = [
            Known::Rows(&self.rows[party]),
            Known::Order(&self.order[party]),
        ];
        if self.rows_left {
            sides
        } else {
            let [rows, order] = sides;
            [order, rows]
        }
    }

    fn constant(&self, side: usize) -> &[u64] {
        &self.constants[usize::from((side == 0) != self.rows_left)]
    }
}

fn proven(all: &[Moved]) -> Turns<'_> {
    let sides = [0, 1].map(|side| all.iter().map(move |of| of.sides(0)[side]));
    Turns {
        known: sides.into_iter().flatten().collect(),
        constants: vec![],
    }
}

fn verified(all: &[Moved], side: usize) -> Turns<'_> {
    Turns {
        known: all.iter().map(|of| of.sides(1)[side]).collect(),
        constants: all.iter().map(|of| of.constant(side)).collect(),
    }
}

fn shape(strings: &[Strings], all: &[Moved]) -> Shape {
    let turns = all.iter().map(|of| of.turn).collect::<Vec<_>>();
    super::shape(strings).with_turns(&turns).unwrap()
}

/// True if both verifiers accept an honest proof of these statements; both decide alike.
fn accepts(strings: &[Strings], all: &[Moved]) -> bool {
    let shape = shape(strings, all);
    let (segment, memory) = (segment(Cpu::best(), &shape), &mut Memory::default());
    let challenges = || segment.challenges(&seed(1));
    let to_prove = strings.iter().map(Strings::to_prove).collect::<Vec<_>>();
    let sent = segment.prove(
        &mut challenges(),
        [&key(0), &key(1)],
        &seed(1),
        WithTurns(&to_prove[..], proven(all)),
        memory,
    );
    assert_eq!(sent.0.as_bytes().len(), shape.left_bytes());
    assert_eq!(sent.1.as_bytes().len(), shape.right_bytes());
    let sides = [0, 1].map(|side| strings.iter().map(move |of| of.to_verify(side)));
    let sides = sides.map(|strings| strings.collect::<Vec<Verified<'_>>>());
    let of = |side: usize| WithTurns(&sides[side][..], verified(all, side));
    let (draws, seed) = (&mut challenges(), &seed(1));
    let left = segment.follow_left(draws, &key(0), seed, of(0), &sent.0, memory);
    let draws = &mut challenges();
    let right = segment.follow_right(draws, &key(1), seed, of(1), &sent.1, memory);
    let answers = [right.answer().clone(), left.answer().clone()];
    let accepted = [left.decide(&answers[0]), right.decide(&answers[1])];
    let [left, right] = accepted.map(|end| end.is_ok());
    assert_eq!(left, right, "both decide alike");
    left
}

fn turn(rows: usize, words: usize) -> Turn {
    Turn { rows, words }
}

/// Rows of up to 128 bits and longer ones; across pieces of work; alone and behind other kinds.
#[test]
fn honest_turns_pass() {
    let mut number = 0;
    for (rows, words) in [
        (0, 1),
        (1, 1),
        (2, 2),
        (3, 3),
        (64, 4),
        (511, 1),
        (513, 5),
        (1025, 2),
    ] {
        number += 2;
        let both = [true, false].map(|left| Moved::new(turn(rows, words), left, number));
        assert!(accepts(&[], &both), "{rows} {words}");
        assert!(accepts(&[], &both[..1]), "{rows} {words}");
    }
    let other = [Moved::new(turn(70, 3), false, 99)];
    for ands in [3, 5000] {
        assert!(accepts(&[Strings::new(Kind::AND, ands, 1)], &other));
    }
}

/// Every bit of rows and constants, every place of an order, at each party that has them.
#[test]
fn any_bit_and_any_place_of_a_turn_is_refused() {
    let strings = [Strings::new(Kind::AND, 3, 1)];
    for (rows, words) in [(4, 1), (3, 2), (3, 3)] {
        for left in [true, false] {
            let honest = [
                Moved::new(turn(rows, words), left, 5),
                Moved::new(turn(rows, words), !left, 6),
            ];
            assert!(accepts(&strings, &honest));
            let mut refused = 0;
            for bit in 0..64 * rows * words {
                let flip = |of: &mut Vec<u64>| of[bit / 64] ^= 1 << (bit % 64);
                let mut all = [(); 4].map(|()| honest.clone());
                flip(&mut all[0][0].rows[0]);
                flip(&mut all[1][0].rows[1]);
                flip(&mut all[2][0].constants[0]);
                flip(&mut all[3][1].constants[1]);
                for (list, all) in all.iter().enumerate() {
                    assert!(!accepts(&strings, all), "bit {bit} of list {list}");
                    refused += 1;
                }
            }
            assert_eq!(refused, 4 * 64 * rows * words);
            for party in [0, 1] {
                for place in 1..rows {
                    let mut all = honest.clone();
                    all[1].order[party].swap(0, place);
                    assert!(!accepts(&strings, &all), "place {place} at {party}");
                }
            }
        }
    }
    // Rows that are moved from one statement to another.
    let honest = [0, 1].map(|number| Moved::new(turn(5, 1), true, number));
    let [mut one, mut other] = honest;
    std::mem::swap(&mut one.constants[1], &mut other.constants[1]);
    assert!(!accepts(&[], &[one, other]));
}

/// Turns without other statements.
fn alone(turns: Turns<'_>) -> impl Statements {
    let none: &[Proven<'static>] = &[];
    WithTurns(none, turns)
}

/// One proof over a small field of a turn with a row that is wrong by these errors, one a piece.
fn escapes<F: Field>(errors: &[Block], trial: u64) -> bool {
    let turns = [turn(3, 2 * errors.len())];
    let mut moved = Moved::new(turns[0], true, trial);
    let row = &mut moved.constants[1][turns[0].words..];
    for (piece, error) in row.iter_mut().step_by(2).zip(errors) {
        *piece ^= error.value() as u64;
    }
    let shape = Shape::new(&[]).unwrap().with_turns(&turns).unwrap();
    let context = Context {
        segment: trial,
        ..CONTEXT
    };
    let (cpu, memory) = (Cpu::best(), &mut Memory::default());
    let nonce = Nonce::from_bytes(std::array::from_fn(|i| (trial >> (i % 2 * 8)) as u8));
    let weights = &Weights::new::<F>(cpu, &context, &shape, &nonce);
    let moved = std::slice::from_ref(&moved);
    let by_key = || ByKey::new(&context, &key(2));
    let left = || LeftKey::new(&context, &nonce, &key(0));
    let right = || RightKey::new(&context, &nonce, &key(1));
    let sources = (&mut left(), &mut right(), &mut by_key());
    let proven = &mut alone(proven(moved));
    let sent = prove::<F>(cpu, &shape, proven, weights, sources, memory);
    let (draws, shares) = (left(), &sent.left[..]);
    let source = (&mut Left { draws, shares }, &mut by_key());
    let side = &mut alone(verified(moved, 0));
    let one = follow::<F, _>(cpu, &shape, side, weights, source, memory);
    let (draws, commitments) = (right(), &sent.right[..]);
    let source = (&mut Right { draws, commitments }, &mut by_key());
    let side = &mut alone(verified(moved, 1));
    let other = follow::<F, _>(cpu, &shape, side, weights, source, memory);
    level::accepts::<F>(cpu, &one, &other)
}

/// A turn with a row whose errors are the coefficients of a polynomial with as many roots as its
/// degree: it passes if `s` is a root, or the weight of the place or of the statement is zero.
fn check<const BITS: usize>(roots: u128, trials: u64) {
    let roots = (1..=roots).map(Block::new).collect::<Vec<_>>();
    let errors = coefficients::<Tiny<BITS>>(&roots);
    let size = f64::from(1 << BITS);
    let whole = 1.0 - 1.0 / size;
    let predicted = 1.0 - (1.0 - roots.len() as f64 / size) * whole * whole;
    let sigma = (predicted * (1.0 - predicted) / trials as f64).sqrt();
    let escaped = (0..trials).filter(|trial| escapes::<Tiny<BITS>>(&errors, *trial));
    let rate = escaped.count() as f64 / trials as f64;
    let off = (rate - predicted) / sigma;
    assert!(off.abs() < 3.0, "{rate:.4} of {predicted:.4} escape: {off}");
    // One root more or less would be seen.
    assert!(0.8 / size > 4.0 * sigma, "too few trials");
}

#[test]
fn a_wrong_turn_escapes_at_its_rate() {
    check::<4>(0, 4000);
    check::<4>(1, 4000);
    check::<4>(6, 4000);
    check::<4>(15, 2000);
}

#[test]
fn turns_that_no_segment_has_are_refused() {
    let most = crate::kind::MOST_ELEMENTS;
    let too_long = |turns: &[Turn]| {
        let shape = Shape::new(&[(Kind::AND, 1)]).unwrap();
        shape.with_turns(turns).err() == Some(ShapeError::TooLong)
    };
    assert!(too_long(&[turn(most, 1)]));
    assert!(too_long(&[turn(usize::MAX, 1)]));
    assert!(too_long(&[turn(most - 2, 1), turn(1, 1)]));
    assert!(!too_long(&[turn(most - 3, 1), turn(1, 1)]));
}

/// Sides and constants of wrong lengths, and sides of one kind at both verifiers.
#[test]
fn wrong_lengths_are_refused() {
    let honest = Moved::new(turn(4, 2), true, 1);
    let refused = |what: &str, change: &dyn Fn(&mut Moved)| {
        let mut all = [honest.clone()];
        let turns = [all[0].turn];
        change(&mut all[0]);
        let checked = std::panic::catch_unwind(|| {
            proven(&all).check_proven(&turns);
            verified(&all, 0).check_verified(&turns);
            verified(&all, 1).check_verified(&turns);
        });
        assert!(checked.is_err(), "{what}");
    };
    refused("rows", &|of| of.rows[0].truncate(7));
    refused("rows of a verifier", &|of| of.rows[1].push(0));
    refused("places", &|of| of.order[0].push(0));
    refused("places of a verifier", &|of| of.order[1].truncate(3));
    refused("a constant", &|of| of.constants[0].push(0));
    refused("another constant", &|of| of.constants[1].truncate(1));
    let turns = [honest.turn];
    let both = Turns {
        known: vec![Known::Rows(&honest.rows[0]); 2],
        constants: vec![],
    };
    assert!(std::panic::catch_unwind(|| both.check_proven(&turns)).is_err());
    assert!(std::panic::catch_unwind(|| both.check_proven(&[])).is_err());
    // Sides of a prover at a verifier, and the other way round.
    let honest = [honest];
    let [proven, verified] = [proven(&honest), verified(&honest, 0)];
    assert!(std::panic::catch_unwind(|| proven.check_verified(&turns)).is_err());
    assert!(std::panic::catch_unwind(|| verified.check_proven(&turns)).is_err());
}

/// Challenges are those of the numbers of rows and words of all turns.
#[test]
fn challenges_are_those_of_the_turns() {
    let first = |turns: &[Turn]| {
        let shape = Shape::new(&[(Kind::AND, 3)]).unwrap();
        let shape = shape.with_turns(turns).unwrap();
        let mut challenges = segment(Cpu::best(), &shape).challenges(&seed(1));
        challenges.commit(&[7; 32]);
        level::challenge::<Gf128>(&mut challenges, 2).value()
    };
    let all = [
        first(&[]),
        first(&[turn(4, 1)]),
        first(&[turn(4, 2)]),
        first(&[turn(5, 1)]),
        first(&[turn(4, 1); 2]),
        first(&[turn(4, 1), turn(4, 2)]),
        first(&[turn(4, 2), turn(4, 1)]),
    ];
    let different = std::collections::BTreeSet::from(all);
    assert_eq!(different.len(), all.len());
}

/// The claim against its definition, power by power.
#[test]
fn claims_follow_their_definition() {
    let (cpu, turns) = (Cpu::best(), [turn(1100, 5), turn(3, 1)]);
    let nonce = Nonce::from_bytes([3; 32]);
    let shape = Shape::new(&[]).unwrap().with_turns(&turns).unwrap();
    let weights = Weights::new::<Gf128>(cpu, &CONTEXT, &shape, &nonce).turns;
    let mut stream = nonce
        .stream("proof: weights of turns", &CONTEXT.bound())
        .prg(cpu);
    let mut drawn = vec![Block::ZERO; 3];
    stream.fill(&mut drawn);
    let mut places = vec![Block::ZERO; 1100];
    stream.fill(&mut places);
    let all = turns.map(|turn| Moved::new(turn, true, 8));
    let mut sum = Block::ZERO;
    for (of, weight) in all.iter().zip(&drawn[1..]) {
        for (row, place) in of.constants[0].chunks(of.turn.words).zip(&places) {
            let mut at = Gf128::mul(cpu, *weight, *place);
            for piece in row.chunks(2) {
                let high = piece.get(1).map_or(0, |word| u128::from(*word) << 64);
                let piece = Block::new(high | u128::from(piece[0]));
                sum ^= Gf128::mul(cpu, at, piece);
                at = Gf128::mul(cpu, at, drawn[0]);
            }
        }
    }
    let constants = all.each_ref().map(|of| &of.constants[0][..]);
    let claim = weights.claim::<Gf128>(cpu, &turns, &constants);
    assert_eq!(claim.value(), sum.value());
}
