//! Proofs to two verifiers: prover and both verifiers, on operands, constants and keys that are
//! secret. Commitments are sent, so they are public, and challenges with them. Whether a proof is
//! accepted is public too, and left out here: these statements are not made to hold.

use crate::Check;
use crate::kernels::secret_coins;
use crate::request::{public, secret, secret_words};
use sealane_block::{Block, Coins, Cpu, Prime, Seed};
use sealane_proof::{
    Batch, BatchForm, BitString, ByHash, Challenges, Context, Kind, Known, Memory, Operand, Proven,
    Segment, Shape, Statements, Turn, Turns, Verified, WeightSeed, WithTurns,
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
    ("proof of bits, with turns of a shuffle", prove_turns),
    ("proof of integers", prove_integers),
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
        let word = |w: usize| ((w * 64 + i + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut words = Zeroizing::new((0..bits.div_ceil(64)).map(word).collect::<Vec<u64>>());
        secret_words(&mut words);
        let mut string = BitString::with_capacity(bits);
        string.push(&words, bits);
        string
    };
    (0..count).map(string).collect()
}

/// Secret words, as of rows; of integers they are below the modulus.
fn words(count: usize, number: u64) -> Zeroizing<Vec<u64>> {
    let word = |at: u64| Prime::reduce((at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 + 2 * number));
    let mut words = Zeroizing::new((0..count as u64).map(word).collect::<Vec<_>>());
    secret_words(&mut words);
    words
}

/// Common sources of a proof: segment, keys and seed.
struct Common<'a> {
    segment: Segment<'a>,
    keys: [Seed; 2],
    seed: WeightSeed,
}

impl<'a> Common<'a> {
    /// Secret keys, and weights that are public.
    fn new(cpu: Cpu, shape: &'a Shape) -> Common<'a> {
        let context = Context {
            session: [1; 32],
            segment: 0,
            prover: 0,
        };
        let mut coins = secret_coins();
        let mut public_coins = Coins::danger_fixed_seed(1);
        Common {
            segment: Segment {
                cpu,
                context,
                shape,
            },
            keys: [coins.secret("left").seed(), coins.secret("right").seed()],
            seed: WeightSeed::draw(&context, &public_coins.secret("weights").seed()),
        }
    }

    fn draws(&self) -> Sent {
        Sent(self.segment.challenges(&self.seed))
    }

    /// A proof of statements, and both who follow it.
    fn run(&self, own: impl Statements, [left, right]: [impl Statements; 2]) {
        let (segment, [left_key, right_key], seed) = (&self.segment, &self.keys, &self.seed);
        let memory = &mut Memory::default();
        let keys = [left_key, right_key];
        let (to_left, to_right) = segment.prove(&mut self.draws(), keys, seed, own, memory);
        let draws = &mut self.draws();
        let first = segment.follow_left(draws, left_key, seed, left, &to_left, memory);
        let draws = &mut self.draws();
        let second = segment.follow_right(draws, right_key, seed, right, &to_right, memory);
        black_box((first, second));
    }

    /// The same of integers.
    fn run_sums(&self, own: &[Batch<'_>], [left, right]: [&[Batch<'_>]; 2]) {
        let (segment, [left_key, right_key], seed) = (&self.segment, &self.keys, &self.seed);
        let memory = &mut Memory::default();
        let keys = [left_key, right_key];
        let (to_left, to_right) = segment.prove_sums(&mut self.draws(), keys, seed, own, memory);
        let draws = &mut self.draws();
        let first = segment.follow_left_sums(draws, left_key, seed, left, &to_left, memory);
        let draws = &mut self.draws();
        let second = segment.follow_right_sums(draws, right_key, seed, right, &to_right, memory);
        black_box((first, second));
    }
}

/// Statements of one kind: at the prover, and at both verifiers.
fn prove(cpu: Cpu, kind: Kind, statements: usize) {
    let shape = Shape::new(&[(kind, statements)]).expect("a segment can have as many");
    let sides = [(); 2].map(|()| strings(kind.planes(), statements));
    let [left, right] = sides.each_ref().map(|of| of.iter().collect::<Vec<_>>());
    let constant = &strings(kind.field.degree(), statements);
    let own = [Proven {
        left: left.clone(),
        right: right.clone(),
    }];
    let others = [left, right].map(|operands| {
        let constant = constant.iter().collect();
        [Verified { operands, constant }]
    });
    let others = others.each_ref().map(|of| &of[..]);
    Common::new(cpu, &shape).run(&own[..], others);
}

/// Both turns of a role, with rows of several pieces, under secret orders.
fn prove_turns(cpu: Cpu) {
    let (turn, statements) = (Turn { rows: 9, words: 3 }, 70);
    let shape = Shape::new(&[(Kind::AND, statements)]).expect("a segment can have as many");
    let shape = shape.with_turns(&[turn; 2]).expect("they fit");
    let [left, right] = &[(); 2].map(|()| strings(Kind::AND.planes(), statements));
    let [left, right] = [left, right].map(|of| of.iter().collect::<Vec<_>>());
    let constant = &strings(1, statements);
    let all = turn.rows * turn.words;
    let [rows, beside] = [[1, 2], [3, 4]].map(|of| of.map(|number| words(all, number)));
    // Steps that have no factor in common with the number of rows.
    let orders = [4, 5].map(|step| {
        let rows = (0..9u32).map(|place| (place * step + 1) % 9);
        let mut order = Zeroizing::new(rows.collect::<Vec<_>>());
        secret(bytemuck::cast_slice_mut(&mut order));
        order
    });
    let known = [
        [Known::Rows(&rows[0]), Known::Order(&orders[0])],
        [Known::Order(&orders[1]), Known::Rows(&rows[1])],
    ];
    let own = [Proven {
        left: left.clone(),
        right: right.clone(),
    }];
    let own_turns = Turns {
        known: known.concat(),
        constants: vec![],
    };
    let others = [left, right].map(|operands| {
        let constant = constant.iter().collect();
        [Verified { operands, constant }]
    });
    let turns = known.map(|known| Turns {
        known: known.to_vec(),
        constants: beside.iter().map(|of| &of[..]).collect(),
    });
    let [first, second] = turns;
    let others = [
        WithTurns(&others[0][..], first),
        WithTurns(&others[1][..], second),
    ];
    Common::new(cpu, &shape).run(WithTurns(&own[..], own_turns), others);
}

/// Inner products of several lanes, and a product of matrices.
fn prove_integers(cpu: Cpu) {
    let (lanes, rows, columns, terms) = (5, 3, 2, 4);
    let shape = Shape::of_sums(2 * lanes * terms + 2 * terms).expect("a segment can have as many");
    let of_lanes = [1, 2, 3, 4].map(|number| words(lanes * terms, number));
    let of_rows = [5, 6].map(|number| words(rows * terms, number));
    let of_columns = [7, 8].map(|number| words(columns * terms, number));
    let constants = [words(lanes, 9), words(rows * columns, 10)];
    let forms = [BatchForm::Lanes(lanes), BatchForm::Matrix { rows, columns }];
    let sides = [
        vec![Operand::Lanes(&of_lanes[0]), Operand::Lanes(&of_lanes[1])],
        vec![Operand::Lanes(&of_lanes[2]), Operand::Lanes(&of_lanes[3])],
        vec![Operand::Rows(&of_rows[0]), Operand::Columns(&of_columns[0])],
        vec![Operand::Columns(&of_columns[1]), Operand::Rows(&of_rows[1])],
    ];
    let own = [0, 1].map(|form| Batch {
        form: forms[form],
        sides: sides[2 * form..][..2].to_vec(),
        constants: &[],
        inner: false,
    });
    let others = [0, 1].map(|side| {
        [0, 1].map(|form| Batch {
            form: forms[form],
            sides: vec![sides[2 * form + side].clone()],
            constants: &constants[form],
            inner: form == 1 && side == 0,
        })
    });
    let others = others.each_ref().map(|of| &of[..]);
    Common::new(cpu, &shape).run_sums(&own, others);
}
