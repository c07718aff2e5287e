//! Messages of a proof to both its verifiers: halves of the seed of its weights, the prover's
//! flight, and the answers that verifiers exchange.
//!
//! An input names a proof and has all its messages, one after the other. Statements are true, keys
//! and seed are fixed, so there is one proof of them: whoever accepts has been sent the honest
//! messages. Any other bytes of the right lengths are elements and digests as well, and have to be
//! refused, not only by their length.

use sealane_block::{Coins, Cpu, Prime, Seed};
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_proof::{
    Answer, Batch, BatchForm, BitString, Context, Kind, Known, Malformed, Memory, Operand, Pending,
    Proven, SeedPart, Segment, Shape, ToLeft, ToRight, Turn, Turns, Verified, WeightSeed,
    WithTurns,
};
use std::sync::LazyLock;

/// Lifted statements and turns of a shuffle; statements on the grid; integers.
static PROOFS: LazyLock<Vec<Proof>> = LazyLock::new(|| {
    let turns = Some(Turned::new(Turn { rows: 5, words: 3 }));
    vec![
        Proof::of(Box::new(Bits::new(11, turns))),
        Proof::of(Box::new(Bits::new(4100, None))),
        Proof::of(Box::new(Integers::new())),
    ]
});

/// Follows a proof as each of its verifiers, and joins the seed as its prover, by the first byte.
pub fn proof(bytes: &[u8]) -> Verdict {
    let (number, rest) = bytes.split_first()?;
    PROOFS[usize::from(*number) % PROOFS.len()].hostile(rest)
}

/// The honest messages of each proof.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let names = ["lifted", "grid", "integers"];
    let proofs = names.into_iter().zip(PROOFS.iter()).enumerate();
    let seed = |(number, (name, proof)): (usize, (&str, &Proof))| {
        let bytes = [&[number as u8][..], &proof.honest.concat()].concat();
        (name.to_string(), bytes)
    };
    proofs.map(seed).collect()
}

/// Sides of a proof: its left and its right verifier.
const SIDES: [usize; 2] = [0, 1];

/// A proof, with its honest messages: parts of the seed from both verifiers, what the prover sends
/// to both, and the answers of both.
struct Proof {
    statements: Box<dyn Proved>,
    honest: [Vec<u8>; 6],
}

impl Proof {
    fn of(statements: Box<dyn Proved>) -> Proof {
        let of = Common::new();
        let (left, right) = statements.prove(&of);
        let parts = SIDES.map(|side| of.seed.part(side).to_bytes().to_vec());
        let flight = [left.as_bytes().to_vec(), right.as_bytes().to_vec()];
        let answers = SIDES.map(|side| {
            let pending = statements.follow(&of, side, &flight[side]);
            pending
                .expect("an honest message")
                .answer()
                .to_bytes()
                .to_vec()
        });
        let [first, second] = parts;
        let [left, right] = flight;
        let [one, other] = answers;
        Proof {
            statements,
            honest: [first, second, left, right, one, other],
        }
    }

    fn hostile(&self, bytes: &[u8]) -> Verdict {
        let of = Common::new();
        let mut rest = bytes;
        let messages = self.honest.each_ref().map(|honest| {
            let (message, behind) = rest.split_at(honest.len().min(rest.len()));
            rest = behind;
            message
        });
        let same = |number: usize| messages[number] == self.honest[number];
        let parts = SIDES.map(|side| SeedPart::parse(messages[side]));
        let [Ok(first), Ok(second)] = parts else {
            return None;
        };
        let joined = WeightSeed::join(&[first, second]).is_ok();
        assert_eq!(joined, same(0) && same(1), "a seed of other halves");
        let mut accepted = joined;
        for side in SIDES {
            let pending = self.statements.follow(&of, side, messages[2 + side]).ok()?;
            // The answer of the other one.
            let answer = Answer::parse(messages[5 - side]).ok()?;
            let decided = pending.decide(&answer).is_ok();
            assert_eq!(decided, same(2 + side) && same(5 - side), "side {side}");
            accepted &= decided;
        }
        accepted.then_some(Accepted)
    }
}

/// Sources that prover and verifiers have in common.
struct Common {
    cpu: Cpu,
    context: Context,
    /// The keys that the prover has in common with the left and with the right verifier.
    keys: [Seed; 2],
    seed: WeightSeed,
}

impl Common {
    fn new() -> Common {
        let context = Context {
            session: [7; 32],
            segment: 3,
            prover: 1,
        };
        let mut coins = Coins::danger_fixed_seed(5);
        let mut key = |label| coins.secret(label).seed();
        Common {
            cpu: Cpu::detect().expect("a tier"),
            context,
            keys: [key("left"), key("right")],
            seed: WeightSeed::draw(&context, &key("weights")),
        }
    }

    fn segment<'a>(&self, shape: &'a Shape) -> Segment<'a> {
        Segment {
            cpu: self.cpu,
            context: self.context,
            shape,
        }
    }
}

/// True statements at all three.
trait Proved: Send + Sync {
    fn prove(&self, of: &Common) -> (ToLeft, ToRight);

    /// Follows the prover's message to one side.
    fn follow(&self, of: &Common, side: usize, message: &[u8]) -> Result<Pending, Malformed>;
}

/// Numbers without a pattern.
fn word(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// ANDs, and turns behind them.
struct Bits {
    shape: Shape,
    /// Operands of both sides, and constants.
    operands: [Vec<BitString>; 2],
    constants: [BitString; 2],
    turned: Option<Turned>,
}

/// Both turns of a prover.
struct Turned {
    turn: Turn,
    rows: [Vec<u64>; 2],
    orders: [Vec<u32>; 2],
    /// Of each turn the constant beside the rows, and the one beside the order.
    constants: [[Vec<u64>; 2]; 2],
}

impl Turned {
    fn new(turn: Turn) -> Turned {
        let all = (turn.rows * turn.words) as u64;
        let rows = [1, 2].map(|number| (0..all).map(|at| word(number << 8 | at)).collect());
        // Steps that have no factor in common with the number of rows.
        let orders = [2, 3].map(|step| {
            let places = 0..turn.rows as u32;
            places
                .map(|at| (at * step + 1) % turn.rows as u32)
                .collect()
        });
        let constants = [0, 1].map(|at| {
            let (rows, order): (&Vec<u64>, &Vec<u32>) = (&rows[at], &orders[at]);
            let beside = (0..all)
                .map(|word| self::word(3 << 8 | word))
                .collect::<Vec<_>>();
            let moved = order.iter();
            let moved = moved.flat_map(|row| &rows[*row as usize * turn.words..][..turn.words]);
            let other = moved.zip(&beside).map(|(row, beside)| row ^ beside);
            let other = other.collect();
            [beside, other]
        });
        Turned {
            turn,
            rows,
            orders,
            constants,
        }
    }

    /// Sides of both turns that a verifier knows: the rows of one, and the order of the other one.
    fn known(&self, side: usize) -> [Known<'_>; 2] {
        let [rows, order] = [side, 1 - side];
        let known = [
            Known::Rows(&self.rows[rows]),
            Known::Order(&self.orders[order]),
        ];
        if side == 0 {
            known
        } else {
            [known[1], known[0]]
        }
    }

    fn of(&self, side: usize) -> Turns<'_> {
        Turns {
            known: self.known(side).to_vec(),
            constants: [0, 1]
                .map(|turn| &self.constants[turn][usize::from(turn != side)][..])
                .to_vec(),
        }
    }
}

impl Bits {
    fn new(statements: usize, turned: Option<Turned>) -> Bits {
        let shape = Shape::new(&[(Kind::AND, statements)]).expect("a segment can have as many");
        let turns = turned.iter().flat_map(|turned| [turned.turn; 2]);
        let shape = shape.with_turns(&turns.collect::<Vec<_>>());
        let words = statements.div_ceil(64) as u64;
        let of = |number: u64| (0..words).map(move |at| word(number << 32 | at));
        let all = [1, 2, 3, 4, 5].map(|number| of(number).collect::<Vec<_>>());
        let [a, b, c, d, left] = &all;
        let right = (0..words as usize).map(|at| a[at] & c[at] ^ b[at] & d[at] ^ left[at]);
        let string = |words: &[u64]| {
            let mut string = BitString::with_capacity(statements);
            string.push(words, statements);
            string
        };
        Bits {
            shape: shape.expect("they fit"),
            operands: [vec![string(a), string(b)], vec![string(c), string(d)]],
            constants: [string(left), string(&right.collect::<Vec<_>>())],
            turned,
        }
    }
}

impl Proved for Bits {
    fn prove(&self, of: &Common) -> (ToLeft, ToRight) {
        let [left, right] = self.operands.each_ref().map(|of| of.iter().collect());
        let known = SIDES.map(|side| self.turned.iter().flat_map(move |of| of.known(side)));
        let turns = Turns {
            known: known.into_iter().flatten().collect(),
            constants: vec![],
        };
        let (segment, keys) = (of.segment(&self.shape), of.keys.each_ref());
        let draws = &mut segment.challenges(&of.seed);
        let own = [Proven { left, right }];
        let statements = WithTurns(&own[..], turns);
        segment.prove(draws, keys, &of.seed, statements, &mut Memory::default())
    }

    fn follow(&self, of: &Common, side: usize, message: &[u8]) -> Result<Pending, Malformed> {
        let own = [Verified {
            operands: self.operands[side].iter().collect(),
            constant: vec![&self.constants[side]],
        }];
        let turns = self.turned.as_ref().map(|turned| turned.of(side));
        let statements = WithTurns(&own[..], turns.unwrap_or_default());
        let (segment, seed, key) = (of.segment(&self.shape), &of.seed, &of.keys[side]);
        let (draws, memory) = (&mut segment.challenges(seed), &mut Memory::default());
        Ok(if side == 0 {
            let message = ToLeft::parse(message, &self.shape)?;
            segment.follow_left(draws, key, seed, statements, &message, memory)
        } else {
            let message = ToRight::parse(message, &self.shape)?;
            segment.follow_right(draws, key, seed, statements, &message, memory)
        })
    }
}

/// Inner products of several lanes modulo a prime.
struct Integers {
    shape: Shape,
    /// Of each side, term by term and lane by lane.
    operands: [Vec<u64>; 2],
    constants: [Vec<u64>; 2],
}

const LANES: usize = 3;
const TERMS: usize = 4;

impl Integers {
    fn new() -> Integers {
        let numbers = |number: u64, count: usize| {
            let all = (0..count as u64).map(move |at| Prime::reduce(word(number << 32 | at)));
            all.collect::<Vec<_>>()
        };
        let operands = [1, 2].map(|number| numbers(number, LANES * TERMS));
        let left = numbers(3, LANES);
        let right = (0..LANES).map(|lane| {
            let terms =
                (0..TERMS).map(|term| operands.each_ref().map(|of| of[term * LANES + lane]));
            let products = terms.map(|[a, b]| Prime::mul(a, b));
            let sum = products.fold(left[lane], Prime::add);
            Prime::sub(0, sum)
        });
        let right = right.collect();
        Integers {
            shape: Shape::of_sums(LANES * TERMS).expect("a segment can have as many"),
            operands,
            constants: [left, right],
        }
    }

    /// Operands of these sides.
    fn batch(&self, sides: &[usize]) -> Batch<'_> {
        let operand = |side: &usize| vec![Operand::Lanes(&self.operands[*side])];
        Batch {
            form: BatchForm::Lanes(LANES),
            sides: sides.iter().map(operand).collect(),
            constants: &[],
            inner: false,
        }
    }
}

impl Proved for Integers {
    fn prove(&self, of: &Common) -> (ToLeft, ToRight) {
        let (segment, keys) = (of.segment(&self.shape), of.keys.each_ref());
        let draws = &mut segment.challenges(&of.seed);
        let own = [self.batch(&SIDES)];
        segment.prove_sums(draws, keys, &of.seed, &own, &mut Memory::default())
    }

    fn follow(&self, of: &Common, side: usize, message: &[u8]) -> Result<Pending, Malformed> {
        let own = [Batch {
            constants: &self.constants[side],
            ..self.batch(&[side])
        }];
        let (segment, seed, key) = (of.segment(&self.shape), &of.seed, &of.keys[side]);
        let (draws, memory) = (&mut segment.challenges(seed), &mut Memory::default());
        Ok(if side == 0 {
            let message = ToLeft::parse(message, &self.shape)?;
            segment.follow_left_sums(draws, key, seed, &own, &message, memory)
        } else {
            let message = ToRight::parse(message, &self.shape)?;
            segment.follow_right_sums(draws, key, seed, &own, &message, memory)
        })
    }
}
