//! One changed bit anywhere is refused, and so is a proof or a message in another's place.

use std::collections::HashSet;

use sealane_block::{Block, Cpu};

use super::proofs::{accepts, settle};
use super::{CONTEXT, Strings, coefficients, key, seed, segment, shape};
use crate::field::{Field, Gf128, Scalars};
use crate::grid::embed;
use crate::level;
use crate::sources::{LeftDraws, LeftKey, RightDraws, RightKey};
use crate::{
    Answer, ByHash, Challenges, Context, Kind, Malformed, Memory, Proven, SeedPart, SeedsDiffer,
    Segment, Shape, ToLeft, ToRight, Verified, WeightSeed,
};

/// Every bit of every string of both verifiers and of the prover, in statements that are lifted.
#[test]
fn any_bit_of_a_string_is_refused() {
    let small = || {
        [
            Strings::new(Kind::AND, 3, 1),
            Strings::new(Kind::PRODUCT16, 2, 2),
        ]
    };
    assert!(accepts(&small()));
    let mut flips = 0;
    each_string(&small(), |kind, party, list, string, bits| {
        for bit in 0..bits {
            let mut all = small();
            strings_of(&mut all[kind], party, list)[string].flip(bit);
            assert!(
                !accepts(&all),
                "bit {bit} of {kind} {party} {list} {string}"
            );
            flips += 1;
        }
    });
    // Operands twice, and constants once.
    assert_eq!(flips, 3 * (2 * 4 + 2) + 2 * 4 * (2 * 4 + 2));
}

/// The same on the grid, at bits of the first and last lanes and positions, and between.
#[test]
fn any_bit_of_a_string_on_the_grid_is_refused() {
    let large = || {
        [
            Strings::new(Kind::AND, 33_000, 1),
            Strings::new(Kind::PRODUCT16, 4099, 2),
        ]
    };
    assert!(accepts(&large()));
    each_string(&large(), |kind, party, list, string, bits| {
        for bit in [0, 127, 511, 3000 + 97 * string, bits - 1] {
            let mut all = large();
            strings_of(&mut all[kind], party, list)[string].flip(bit);
            assert!(
                !accepts(&all),
                "bit {bit} of {kind} {party} {list} {string}"
            );
        }
    });
}

/// Calls a function with each string: its kind, party (prover, left, right), list and number.
fn each_string(all: &[Strings], mut each: impl FnMut(usize, usize, usize, usize, usize)) {
    for (kind, strings) in all.iter().enumerate() {
        for party in 0..3 {
            for list in 0..2 {
                let constants = party > 0 && list == 1;
                let degree = strings.kind.field.degree();
                let count = if constants {
                    degree
                } else {
                    strings.kind.planes()
                };
                for string in 0..count {
                    each(kind, party, list, string, strings.statements);
                }
            }
        }
    }
}

fn strings_of(strings: &mut Strings, party: usize, list: usize) -> &mut Vec<crate::BitString> {
    match party {
        0 => &mut strings.proven[list],
        _ => &mut strings.verified[party - 1][list],
    }
}

/// One bit of each byte of each message; every bit where statements are lifted.
#[test]
fn any_bit_of_a_message_is_refused() {
    let small = [
        Strings::new(Kind::AND, 2, 1),
        Strings::new(Kind::PRODUCT16, 1, 1),
    ];
    let large = [Strings::new(Kind::AND, 4096, 1)];
    for (all, step) in [(&small[..], 1), (&large[..], 8 * 37 + 1)] {
        let (_, messages) = settle(Cpu::best(), all, |_, _| {});
        for (message, bytes) in messages.iter().enumerate() {
            for bit in (0..8 * bytes.len()).step_by(step) {
                let flip = |number, bytes: &mut Vec<u8>| {
                    if number == message {
                        bytes[bit / 8] ^= 1 << (bit % 8);
                    }
                };
                let (accepted, _) = settle(Cpu::best(), all, flip);
                // The sender of an answer knows what it computed; the receiver refuses.
                let expected = [message == 2, message == 3];
                assert_eq!(accepted, expected, "bit {bit} of message {message}");
            }
        }
    }
}

/// A proof in which one verifier takes another seed, key or context than the prover.
#[test]
fn a_proof_of_another_place_is_refused() {
    let all = [
        Strings::new(Kind::AND, 4100, 1),
        Strings::new(Kind::PRODUCT16, 20, 2),
    ];
    let shape = shape(&all);
    let proven: Vec<Proven> = all.iter().map(Strings::to_prove).collect();
    let sides = [0, 1].map(|side| {
        all.iter()
            .map(|s| s.to_verify(side))
            .collect::<Vec<Verified>>()
    });
    let memory = &mut Memory::default();
    let mut accepted = |context: Context, seeds: [WeightSeed; 2], keys: [usize; 2]| {
        let (own, keys_own) = (segment(Cpu::best(), &shape), [&key(0), &key(1)]);
        let draws = &mut own.challenges(&seed(1));
        let (left, right) = own.prove(draws, keys_own, &seed(1), &proven[..], memory);
        let segment = Segment {
            context,
            ..segment(Cpu::best(), &shape)
        };
        let [one, two] = seeds;
        let (mut first, mut second) = (segment.challenges(&one), segment.challenges(&two));
        let a = segment.follow_left(
            &mut first,
            &key(keys[0]),
            &one,
            &sides[0][..],
            &left,
            memory,
        );
        let b = segment.follow_right(
            &mut second,
            &key(keys[1]),
            &two,
            &sides[1][..],
            &right,
            memory,
        );
        let answers = [a.answer().clone(), b.answer().clone()];
        [a.decide(&answers[1]).is_ok(), b.decide(&answers[0]).is_ok()]
    };
    let (same, keys) = ([seed(1); 2], [0, 1]);
    assert_eq!(accepted(CONTEXT, same, keys), [true; 2]);
    let others = [
        Context {
            session: [8; 32],
            ..CONTEXT
        },
        Context {
            segment: 4,
            ..CONTEXT
        },
        Context {
            prover: 2,
            ..CONTEXT
        },
    ];
    for context in others {
        assert_eq!(accepted(context, same, keys), [false; 2], "{context:?}");
    }
    assert_eq!(accepted(CONTEXT, [seed(2); 2], keys), [false; 2]);
    assert_eq!(accepted(CONTEXT, [seed(1), seed(2)], keys), [false; 2]);
    assert_eq!(accepted(CONTEXT, same, [5, 1]), [false; 2]);
    assert_eq!(accepted(CONTEXT, same, [0, 5]), [false; 2]);
}

/// A level's commitment and shares in the place of another level's are refused.
#[test]
fn levels_cannot_be_exchanged() {
    let all = [Strings::new(Kind::AND, 40, 1)];
    for (message, unit) in [(0, 32), (1, 32)] {
        let exchange = |number, bytes: &mut Vec<u8>| {
            if number == message {
                let (first, second) = bytes.split_at_mut(unit);
                first.swap_with_slice(&mut second[..unit]);
            }
        };
        assert_eq!(settle(Cpu::best(), &all, exchange).0, [false; 2]);
    }
}

/// A source that draws these values in turn.
struct Drawn(Vec<Block>);

impl Challenges for Drawn {
    fn commit(&mut self, _commitment: &[u8; 32]) {}

    fn draw(&mut self) -> Block {
        self.0.remove(0)
    }
}

#[test]
fn a_challenge_is_no_point_of_its_level() {
    let drawn = || Drawn((0..10).map(embed::<Gf128>).collect());
    let first = |points| level::challenge::<Gf128>(&mut drawn(), points).value();
    assert_eq!(
        [first(2), first(8)],
        [2, 8].map(|i| embed::<Gf128>(i).value())
    );
}

/// Salts, masks and shares are those of one proof, and commitments those of one level.
#[test]
fn draws_are_bound_to_their_place_and_key() {
    let mut seen = HashSet::new();
    let contexts = [
        CONTEXT,
        Context {
            session: [8; 32],
            ..CONTEXT
        },
        Context {
            segment: 4,
            ..CONTEXT
        },
        Context {
            prover: 2,
            ..CONTEXT
        },
    ];
    for context in contexts {
        for (side, seed) in [0, 1].map(|side| [1, 2].map(|n| (side, seed(n)))).concat() {
            let (nonce, key) = (&seed.nonce(), &key(side));
            let mut left = LeftKey::new(&context, nonce, key);
            let mut right = RightKey::new(&context, nonce, key);
            let shares = [Block::new(1), Block::new(2)];
            // The same shares in two levels, and other ones.
            for shares in [&shares[..], &shares, &shares[..1]] {
                assert!(seen.insert(left.commit(shares)[..16].to_vec()));
            }
            let drawn = [
                left.mask(),
                right.mask(),
                right.shares(1)[0],
                right.shares(1)[0],
            ];
            assert!(
                drawn
                    .iter()
                    .all(|block| seen.insert(block.to_bytes().to_vec()))
            );
        }
        for seed in [seed(1), seed(2)] {
            for counts in [
                &[(Kind::AND, 5)][..],
                &[(Kind::AND, 6)],
                &[(Kind::PRODUCT16, 5)],
            ] {
                for first in [[1; 32], [2; 32]] {
                    let shape = Shape::new(counts).unwrap();
                    let mut draws = ByHash::new(&context, &shape, &seed.nonce());
                    for commitment in [first, [1; 32]] {
                        draws.commit(&commitment);
                        assert!(seen.insert(draws.draw().to_bytes().to_vec()));
                        assert!(seen.insert(draws.draw().to_bytes().to_vec()));
                    }
                }
            }
        }
    }
    // The salt alone hides shares from who can try all of them.
    let nonce = &seed(1).nonce();
    let commitment = |side| LeftKey::new(&CONTEXT, nonce, &key(side)).commit(&[Block::ZERO]);
    let commitments = [0, 1].map(commitment);
    assert_ne!(commitments[0], commitments[1]);
}

/// A prover that proves a segment again under another seed does not show two values under one
/// share. Without statements the first value and the third are zero, so their shares can be seen.
#[test]
fn a_second_proof_has_other_shares() {
    let shape = Shape::new(&[]).unwrap();
    let (segment, memory) = (segment(Cpu::best(), &shape), &mut Memory::default());
    let keys = [&key(0), &key(1)];
    let mut seen = HashSet::new();
    for seed in [seed(1), seed(2)] {
        let draws = &mut segment.challenges(&seed);
        let (left, right) = segment.prove(draws, keys, &seed, &[] as &[Proven], memory);
        let verifier = &mut RightKey::new(&CONTEXT, &seed.nonce(), keys[1]);
        let shares = verifier.shares(4);
        for i in [0, 2] {
            assert_eq!(left.0[i].value(), shares[i].value());
            assert!(seen.insert(left.0[i].value()));
        }
        assert!(seen.insert(left.0[1].value() ^ shares[1].value()), "masks");
        assert!(seen.insert(u128::from_le_bytes(right.0[0][..16].try_into().unwrap())));
    }
}

/// A prover has a seed from both verifiers or none. What one sends does not have the seed.
#[test]
fn a_seed_takes_both_verifiers() {
    let parts = [0, 1].map(|side| seed(1).part(side));
    let (nonce, joined) = (seed(1).nonce(), WeightSeed::join(&parts).unwrap());
    assert_eq!(joined.nonce().as_bytes(), nonce.as_bytes());
    for side in [0, 1] {
        let bytes = parts[side].to_bytes();
        assert!(bytes.windows(32).all(|some| some != nonce.as_bytes()));
        let refuse = |part: SeedPart| {
            let mut parts = parts;
            parts[side] = part;
            assert_eq!(WeightSeed::join(&parts).err(), Some(SeedsDiffer));
        };
        for bit in 0..8 * Shape::SEED_BYTES {
            let mut bytes = bytes;
            bytes[bit / 8] ^= 1 << (bit % 8);
            refuse(SeedPart::parse(&bytes).unwrap());
        }
        refuse(parts[1 - side]);
        refuse(seed(2).part(side));
    }
}

/// A source that keeps what it was asked, in order: commitments, and none for a draw.
struct Recorded(ByHash, Vec<Option<Vec<u8>>>);

impl Challenges for Recorded {
    fn commit(&mut self, commitment: &[u8; 32]) {
        self.1.push(Some(commitment.to_vec()));
        self.0.commit(commitment);
    }

    fn draw(&mut self) -> Block {
        self.1.push(None);
        self.0.draw()
    }
}

/// All three parties commit to what a level gives before they draw its challenges.
#[test]
fn every_challenge_follows_the_commitment_of_its_level() {
    let all = [Strings::new(Kind::AND, 4100, 1)];
    let shape = shape(&all);
    let segment = segment(Cpu::best(), &shape);
    let [mut prover, mut first, mut second] =
        [(); 3].map(|()| Recorded(segment.challenges(&seed(1)), Vec::new()));
    let memory = &mut Memory::default();
    let (strings, keys) = ([all[0].to_prove()], [key(0), key(1)]);
    let own = [&keys[0], &keys[1]];
    let (left, right) = segment.prove(&mut prover, own, &seed(1), &strings[..], memory);
    let sides = [0, 1].map(|side| [all[0].to_verify(side)]);
    segment.follow_left(&mut first, own[0], &seed(1), &sides[0][..], &left, memory);
    segment.follow_right(&mut second, own[1], &seed(1), &sides[1][..], &right, memory);
    let mut expected = Vec::new();
    for (level, commitment) in right.as_bytes().chunks_exact(32).enumerate() {
        expected.push(Some(commitment.to_vec()));
        // The grid has two.
        expected.extend(vec![None; if level == 0 { 2 } else { 1 }]);
    }
    assert_eq!(first.1, expected);
    assert_eq!(second.1, expected);
    // The prover sends nothing that depends on the last one.
    expected.pop();
    assert_eq!(prover.1, expected);
}

#[test]
fn messages_of_another_length_are_refused() {
    for counts in [&[(Kind::AND, 5000)][..], &[(Kind::AND, 5)], &[]] {
        let shape = Shape::new(counts).unwrap();
        type Parse<'a> = Box<dyn Fn(&[u8]) -> Result<(), Malformed> + 'a>;
        let parsers: [(usize, Parse<'_>); 4] = [
            (
                shape.left_bytes(),
                Box::new(|m| ToLeft::parse(m, &shape).map(drop)),
            ),
            (
                shape.right_bytes(),
                Box::new(|m| ToRight::parse(m, &shape).map(drop)),
            ),
            (
                Shape::ANSWER_BYTES,
                Box::new(|m| Answer::parse(m).map(drop)),
            ),
            (
                Shape::SEED_BYTES,
                Box::new(|m| SeedPart::parse(m).map(drop)),
            ),
        ];
        for (expected, parse) in &parsers {
            assert!(parse(&vec![0xff; *expected]).is_ok());
            for bytes in [
                0,
                1,
                expected - 1,
                expected + 1,
                expected - 16,
                2 * expected,
                1 << 20,
            ] {
                let error = parse(&vec![0; bytes]).unwrap_err();
                assert_eq!((error.bytes, error.expected), (bytes, *expected));
            }
        }
    }
}

/// Errors in several lanes that cancel under 128 powers of x in GF(16) and GF(4), or under 129 in
/// bits.
#[test]
fn errors_of_lanes_that_cancel_in_longer_blocks_are_refused() {
    let cpu = Cpu::best();
    for (kind, lanes) in [
        (Kind::PRODUCT16, 32),
        (Kind::OPENING16, 32),
        (Kind::PRODUCT4, 64),
    ] {
        // The product of X - x^(q^j): the minimal polynomial of x over GF(q).
        let degree = kind.field.degree();
        let next = |at: &Block| (0..degree).fold(*at, |power, _| Gf128::mul(cpu, power, power));
        let roots = std::iter::successors(Some(Block::new(2)), |at| Some(next(at)));
        let minimal = coefficients::<Gf128>(&roots.take(lanes).collect::<Vec<Block>>());
        let elements = 1u8 << degree;
        let small = |c: &Block| (0..elements).find(|a| embed::<Gf128>(*a).value() == c.value());
        let errors = minimal.iter().map(|c| small(c).expect("in the field"));
        let errors = errors.collect::<Vec<u8>>();
        let power = |lane| (0..lane).fold(Block::new(1), |power, _| Gf128::times_x(cpu, power));
        let terms = errors.iter().enumerate();
        let sum = terms.fold(Block::ZERO, |sum, (lane, error)| {
            sum ^ Gf128::mul(cpu, embed::<Gf128>(*error), power(lane))
        });
        assert_eq!((errors.len(), sum.value()), (lanes + 1, 0));
        let mut all = [Strings::new(kind, 5000, 1)];
        for (lane, error) in errors.iter().enumerate() {
            for k in (0..degree).filter(|k| error >> k & 1 == 1) {
                all[0].verified[0][1][k].flip(lane);
            }
        }
        assert!(!accepts(&all));
    }
    // x^128 + x^7 + x^2 + x + 1 = 0.
    let mut all = [Strings::new(Kind::AND, 5000, 1)];
    for lane in [0, 1, 2, 7, 128] {
        all[0].verified[0][1][0].flip(lane);
    }
    assert!(!accepts(&all));
}

#[test]
#[should_panic(expected = "statements of")]
fn strings_of_another_length_are_a_bug_of_the_caller() {
    let all = [Strings::new(Kind::AND, 40, 1)];
    let shape = Shape::new(&[(Kind::AND, 41)]).unwrap();
    let strings = [all[0].to_prove()];
    let segment = segment(Cpu::best(), &shape);
    let (draws, memory) = (&mut segment.challenges(&seed(1)), &mut Memory::default());
    let _ = segment.prove(draws, [&key(0), &key(1)], &seed(1), &strings[..], memory);
}
