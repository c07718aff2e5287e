//! Suite `proof`: time of the proof of a statement, at a party that proves once and verifies twice.
//!
//! All three work on one thread, one after the other, on memory that is kept, as in a run with many
//! segments. Statements are random and hold, and each proof has to be accepted.

use std::time::Instant;

use sealane_block::{Coins, Cpu, Prg, Seed};
use sealane_circuit::function::product;
use sealane_proof::{
    BitString, Context, Kind, Memory, Proven, Segment, Shape, Small, Verified, WeightSeed,
};

use crate::{Figures, Options, SuiteError};

/// Kinds by name, and the logarithms of their numbers of statements: that of a full segment, and
/// of a small one.
const CASES: [(&str, Kind, [u32; 2]); 3] = [
    ("and", Kind::AND, [22, 16]),
    ("product16", Kind::PRODUCT16, [20, 16]),
    ("opening16", Kind::OPENING16, [19, 15]),
];

/// Proves and verifies segments of each kind on every tier.
///
/// # Errors
/// A proof is refused.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    for (name, kind, logs) in CASES {
        for log in if options.quick() { [13, 6] } else { logs } {
            let statements = Statements::new(kind, 1 << log);
            for cpu in &options.cpus {
                let times = statements.best(*cpu, options)?;
                let each = times.map(|seconds| seconds * 1e9 / f64::from(1 << log));
                let figures = &mut figures.on(*cpu);
                let case = format!("{name}/2^{log}");
                let names = ["prove_ns", "left_ns", "right_ns"];
                for (name, ns) in names.into_iter().zip(each) {
                    figures.add(&case, &[(name, ns, "ns")]);
                }
                figures.add(&case, &[("party_ns", each.iter().sum(), "ns")]);
                let bytes = statements.shape.role_bytes() as f64;
                figures.add(&case, &[("party_bytes", bytes, "bytes")]);
            }
        }
    }
    Ok(())
}

/// Statements of one kind at all parties.
struct Statements {
    shape: Shape,
    /// Left and right operands.
    operands: [Vec<BitString>; 2],
    /// Constants of both sides.
    constants: [Vec<BitString>; 2],
}

impl Statements {
    fn new(kind: Kind, count: usize) -> Statements {
        let mut prg = Prg::danger_fixed(Cpu::best(), 1);
        let mut random = |planes: usize| -> Vec<Vec<u64>> {
            let mut words = || {
                let mut bytes = vec![0; count.div_ceil(64) * 8];
                prg.fill_bytes(&mut bytes);
                let words = bytes.as_chunks::<8>().0;
                words.iter().map(|word| u64::from_le_bytes(*word)).collect()
            };
            (0..planes).map(|_| words()).collect()
        };
        let degree = kind.field.degree();
        let (left, right) = (random(kind.planes()), random(kind.planes()));
        let right_constant = random(degree);
        let mut left_constant = right_constant.clone();
        for (a, b) in left.chunks(degree).zip(right.chunks(degree)) {
            for i in 0..count.div_ceil(64) {
                let at = |planes: &[Vec<u64>], k: usize| planes[k][i];
                if kind.field == Small::Bits {
                    left_constant[0][i] ^= at(a, 0) & at(b, 0);
                } else {
                    let [a, b] = [a, b].map(|planes| [0, 1, 2, 3].map(|k| at(planes, k)));
                    for (k, sum) in product(a, b).into_iter().enumerate() {
                        left_constant[k][i] ^= sum;
                    }
                }
            }
        }
        let strings = |planes: Vec<Vec<u64>>| {
            let string = |words: &Vec<u64>| {
                let mut string = BitString::with_capacity(count);
                string.push(words, count);
                string
            };
            planes.iter().map(string).collect()
        };
        Statements {
            shape: Shape::new(&[(kind, count)]).expect("a segment can have as many"),
            operands: [strings(left), strings(right)],
            constants: [strings(left_constant), strings(right_constant)],
        }
    }

    /// The best seconds to prove, and to follow as the left and the right verifier.
    fn best(&self, cpu: Cpu, options: &Options) -> Result<[f64; 3], SuiteError> {
        let began = Instant::now();
        let (mut best, mut segment) = ([f64::INFINITY; 3], 0);
        let mut memory = Memory::default();
        loop {
            let times = self.settle(cpu, segment, &mut memory)?;
            for (best, seconds) in best.iter_mut().zip(times) {
                *best = best.min(seconds);
            }
            segment += 1;
            if began.elapsed() >= options.budget {
                return Ok(best);
            }
        }
    }

    /// Seconds of one proof.
    fn settle(&self, cpu: Cpu, segment: u64, memory: &mut Memory) -> Result<[f64; 3], SuiteError> {
        let mut coins = Coins::danger_fixed_seed(segment);
        let [left_key, right_key]: [Seed; 2] =
            [coins.secret("left").seed(), coins.secret("right").seed()];
        let context = Context {
            session: [1; 32],
            segment,
            prover: 0,
        };
        let seed = WeightSeed::draw(&context, &coins.secret("weights").seed());
        let segment = Segment {
            cpu,
            context,
            shape: &self.shape,
        };
        let [left, right] = self.operands.each_ref().map(|of| of.iter().collect());
        let sides = [0, 1].map(|side| Verified {
            operands: self.operands[side].iter().collect(),
            constant: self.constants[side].iter().collect(),
        });
        let draws = || segment.challenges(&seed);
        let keys = [&left_key, &right_key];
        let strings = [Proven { left, right }];
        let mut marks = [Instant::now(); 4];
        let (to_left, to_right) = segment.prove(&mut draws(), keys, &seed, &strings[..], memory);
        marks[1] = Instant::now();
        let one = &sides[..1];
        let first = segment.follow_left(&mut draws(), &left_key, &seed, one, &to_left, memory);
        marks[2] = Instant::now();
        let one = &sides[1..];
        let second = segment.follow_right(&mut draws(), &right_key, &seed, one, &to_right, memory);
        marks[3] = Instant::now();
        let answer = first.answer().clone();
        first.decide(second.answer())?;
        second.decide(&answer)?;
        Ok([0, 1, 2].map(|i| (marks[i + 1] - marks[i]).as_secs_f64()))
    }
}
