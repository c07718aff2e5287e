//! Proofs to two verifiers: prover and both verifiers, on operands, constants and keys that are
//! secret. Commitments are sent, so they are public, and challenges with them. Whether a proof is
//! accepted is public too, and left out here: these statements are not made to hold.

use crate::Check;
use crate::kernels::secret_coins;
use crate::request::{public, secret_words};
use sealane_block::{Block, Coins, Cpu};
use sealane_proof::{
    BitString, ByHash, Challenges, Context, Kind, Memory, Proven, Segment, Shape, Verified,
    WeightSeed,
};
use std::hint::black_box;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("proof of bits, on the grid", |cpu| {
        prove(cpu, Kind::AND, 4100)
    }),
    ("proof of GF(16), on the grid", |cpu| {
        prove(cpu, Kind::PRODUCT16, 4096)
    }),
    ("proof of GF(16), lifted", |cpu| {
        prove(cpu, Kind::OPENING16, 11)
    }),
];

/// Challenges by hash of commitments that have been sent.
struct Sent(ByHash);

impl Challenges for Sent {
    fn commit(&mut self, commitment: &[u8; 32]) {
        public(commitment);
        self.0.commit(commitment);
    }

    fn draw(&mut self) -> Block {
        self.0.draw()
    }
}

/// Secret strings of one kind.
fn strings(count: usize, bits: usize) -> Vec<BitString> {
    let string = |i: usize| {
        let word = |w: usize| (w * 64 + i + 1) as u64 * 0x9e37_79b9_7f4a_7c15;
        let mut words = Zeroizing::new((0..bits.div_ceil(64)).map(word).collect::<Vec<u64>>());
        secret_words(&mut words);
        let mut string = BitString::with_capacity(bits);
        string.push(&words, bits);
        string
    };
    (0..count).map(string).collect()
}

fn prove(cpu: Cpu, kind: Kind, statements: usize) {
    let shape = Shape::new(&[(kind, statements)]).expect("a segment can have as many");
    let context = Context {
        session: [1; 32],
        segment: 0,
        prover: 0,
    };
    let segment = Segment {
        cpu,
        context,
        shape: &shape,
    };
    let mut coins = secret_coins();
    let [left_key, right_key] = [coins.secret("left").seed(), coins.secret("right").seed()];
    let mut public_coins = Coins::danger_fixed_seed(1);
    let seed = WeightSeed::draw(&context, &public_coins.secret("weights").seed());
    let [left, right] = &[
        strings(kind.planes(), statements),
        strings(kind.planes(), statements),
    ];
    let [left, right] = [left, right].map(|of| of.iter().collect::<Vec<_>>());
    let constant = &strings(kind.field.degree(), statements);
    let draws = || Sent(segment.challenges(&seed));
    let (keys, memory) = ([&left_key, &right_key], &mut Memory::default());
    let proven = [Proven {
        left: left.clone(),
        right: right.clone(),
    }];
    let (to_left, to_right) = segment.prove(&mut draws(), keys, &seed, &proven[..], memory);
    let side = |operands| {
        let constant = constant.iter().collect();
        [Verified { operands, constant }]
    };
    let (left, right) = (&side(left)[..], &side(right)[..]);
    let first = segment.follow_left(&mut draws(), &left_key, &seed, left, &to_left, memory);
    let second = segment.follow_right(&mut draws(), &right_key, &seed, right, &to_right, memory);
    black_box((first, second));
}
