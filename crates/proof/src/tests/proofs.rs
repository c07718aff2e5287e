//! Whole proofs over GF(2^128): honest ones pass, with the planned bytes, and alike everywhere.

use sealane_block::Cpu;

use super::{CONTEXT, Strings, key, seed, segment, shape};
use crate::{
    Answer, ByKey, Kind, Memory, Proven, Segment, Shape, ShapeError, Small, ToLeft, ToRight,
    Verified,
};

/// The four messages of flights 2 and 3, as bytes: to the left, to the right, answers of both.
pub type Messages = [Vec<u8>; 4];

/// Runs a proof whose messages `change` may change; true for each verifier that accepts it.
pub fn settle(
    cpu: Cpu,
    all: &[Strings],
    mut change: impl FnMut(usize, &mut Vec<u8>),
) -> ([bool; 2], Messages) {
    let shape = shape(all);
    let segment = segment(cpu, &shape);
    let strings: Vec<Proven> = all.iter().map(Strings::to_prove).collect();
    let sent = segment.prove(
        &mut segment.challenges(&seed(1)),
        [&key(0), &key(1)],
        &seed(1),
        &strings[..],
        &mut Memory::default(),
    );
    let (left, right) = sent;
    let mut bytes = [
        left.as_bytes().to_vec(),
        right.as_bytes().to_vec(),
        vec![],
        vec![],
    ];
    for (number, bytes) in bytes[..2].iter_mut().enumerate() {
        change(number, bytes);
    }
    let memory = &mut Memory::default();
    let parsed = (
        ToLeft::parse(&bytes[0], &shape),
        ToRight::parse(&bytes[1], &shape),
    );
    let sides = [0, 1].map(|side| {
        all.iter()
            .map(|s| s.to_verify(side))
            .collect::<Vec<Verified>>()
    });
    let challenges = || segment.challenges(&seed(1));
    let pending = [
        segment.follow_left(
            &mut challenges(),
            &key(0),
            &seed(1),
            &sides[0][..],
            &parsed.0.unwrap(),
            memory,
        ),
        segment.follow_right(
            &mut challenges(),
            &key(1),
            &seed(1),
            &sides[1][..],
            &parsed.1.unwrap(),
            memory,
        ),
    ];
    for (number, pending) in pending.iter().enumerate() {
        bytes[2 + number] = pending.answer().to_bytes().to_vec();
        change(2 + number, &mut bytes[2 + number]);
    }
    let mut other = [
        Answer::parse(&bytes[3]).unwrap(),
        Answer::parse(&bytes[2]).unwrap(),
    ]
    .into_iter();
    let accepted = pending.map(|pending| pending.decide(&other.next().unwrap()).is_ok());
    (accepted, bytes)
}

pub fn accepts(all: &[Strings]) -> bool {
    let (accepted, _) = settle(Cpu::best(), all, |_, _| {});
    assert_eq!(accepted[0], accepted[1], "both decide alike");
    accepted[0]
}

/// Every kind around the borders of lift, group, block and level, and kinds together.
#[test]
fn honest_proofs_pass_and_have_the_planned_bytes() {
    let mut number = 0;
    let mut case = |counts: &[(Kind, usize)]| {
        number += 1;
        let all: Vec<Strings> = counts
            .iter()
            .map(|(kind, n)| Strings::new(*kind, *n, number))
            .collect();
        let shape = shape(&all);
        let (accepted, bytes) = settle(Cpu::best(), &all, |_, _| {});
        assert_eq!(accepted, [true; 2], "{counts:?}");
        let lengths = [
            shape.left_bytes(),
            shape.right_bytes(),
            Shape::ANSWER_BYTES,
            Shape::ANSWER_BYTES,
        ];
        assert_eq!(bytes.each_ref().map(Vec::len), lengths, "{counts:?}");
        let role = lengths.iter().sum::<usize>() + 2 * Shape::SEED_BYTES;
        assert_eq!(shape.role_bytes(), role);
    };
    for n in [
        0, 1, 2, 3, 5, 63, 64, 65, 1000, 4095, 4096, 4097, 32_767, 32_768, 32_769, 100_001,
    ] {
        case(&[(Kind::AND, n)]);
    }
    let gf4 = Kind {
        field: Small::Gf4,
        terms: 3,
    };
    let one = Kind {
        field: Small::Bits,
        terms: 1,
    };
    for n in [1, 7, 4095, 4100] {
        case(&[(Kind::PRODUCT16, n)]);
        case(&[(Kind::OPENING16, n)]);
        case(&[(gf4, n)]);
        case(&[(one, n)]);
    }
    case(&[]);
    case(&[
        (Kind::AND, 5000),
        (Kind::PRODUCT16, 10),
        (Kind::OPENING16, 4096),
        (one, 0),
    ]);
    case(&[(Kind::PRODUCT16, 4500), (Kind::AND, 33_000), (gf4, 1)]);
}

/// The formula of the page for bits: `16 (161 + 2 v + 4) + 32 (v + 2) + 256`, with
/// `v = log2(2 N / 64) - 1`.
#[test]
fn sizes_are_those_of_the_formula() {
    for (log, bytes) in [(16, 3_600), (20, 3_856), (22, 3_984), (24, 4_112)] {
        let shape = Shape::new(&[(Kind::AND, 1 << log)]).unwrap();
        let v = log - 6;
        assert_eq!((shape.levels(), shape.challenges()), (v, v + 2));
        assert_eq!(
            shape.role_bytes(),
            16 * (161 + 2 * v + 4) + 32 * (v + 2) + 256
        );
        assert_eq!(shape.role_bytes(), bytes);
    }
}

#[test]
fn shapes_that_no_segment_has_are_refused() {
    let kind = |terms| Kind {
        field: Small::Gf4,
        terms,
    };
    let refused = |counts: &[(Kind, usize)]| Shape::new(counts).unwrap_err();
    assert_eq!(refused(&[(kind(0), 1)]), ShapeError::Terms(0));
    assert_eq!(refused(&[(kind(17), 1)]), ShapeError::Terms(17));
    assert_eq!(
        refused(&[(kind(2), 1), (kind(2), 1)]),
        ShapeError::Twice(kind(2))
    );
    assert_eq!(refused(&[(kind(2), usize::MAX)]), ShapeError::TooLong);
    let most = 1 << 29;
    assert!(Shape::new(&[(Kind::AND, most)]).is_ok());
    assert_eq!(refused(&[(Kind::AND, most + 1)]), ShapeError::TooLong);
    assert_eq!(
        refused(&[(Kind::AND, most), (kind(1), 1)]),
        ShapeError::TooLong
    );
}

#[test]
fn all_tiers_send_the_same_bytes() {
    let counts = [
        (Kind::AND, 40_000),
        (Kind::OPENING16, 4100),
        (Kind::PRODUCT16, 33),
    ];
    let all = counts.map(|(kind, n)| Strings::new(kind, n, 5));
    let expected = settle(Cpu::available()[0], &all, |_, _| {});
    for cpu in Cpu::available() {
        assert!(settle(cpu, &all, |_, _| {}) == expected, "{}", cpu.tier());
    }
}

#[test]
fn challenges_of_a_key_prove_as_well() {
    let all = [Strings::new(Kind::AND, 4100, 1)];
    let shape = shape(&all);
    let segment = segment(Cpu::best(), &shape);
    let by_key = || ByKey::new(&CONTEXT, &key(2));
    let memory = &mut Memory::default();
    let strings = [all[0].to_prove()];
    let keys = [&key(0), &key(1)];
    let (left, right) = segment.prove(&mut by_key(), keys, &seed(1), &strings[..], memory);
    let sides = [[all[0].to_verify(0)], [all[0].to_verify(1)]];
    let a = segment.follow_left(
        &mut by_key(),
        &key(0),
        &seed(1),
        &sides[0][..],
        &left,
        memory,
    );
    let b = segment.follow_right(
        &mut by_key(),
        &key(1),
        &seed(1),
        &sides[1][..],
        &right,
        memory,
    );
    let answer = b.answer().clone();
    assert!(a.decide(&answer).is_ok());
    let a = segment.follow_left(
        &mut segment.challenges(&seed(1)),
        &key(0),
        &seed(1),
        &sides[0][..],
        &left,
        memory,
    );
    assert!(a.decide(&answer).is_err());
}

#[test]
fn everything_can_move_to_another_thread() {
    fn moves<T: Send>() {}
    moves::<Segment<'static>>();
    moves::<Proven<'static>>();
    moves::<Verified<'static>>();
    moves::<(
        Memory,
        ToLeft,
        ToRight,
        crate::Pending,
        crate::Proved,
        crate::ByHash,
        ByKey,
    )>();
}
