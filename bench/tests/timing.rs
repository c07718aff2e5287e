//! The time of evaluation does not depend on permute bits, as far as a million batches show.
//!
//!     sh tools/timing.sh      an optimised build, every scheme and tier: minutes
//!
//! The method is that of Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?" (DATE
//! 2017). Two classes of inputs come in random turns: labels whose permute bits are all 0, where a
//! predictor would always be right, and labels whose permute bits are random. All else is random in
//! both, and made by the same steps. Welch's t-test compares the times of the classes: all of them,
//! and those below some quantiles, since interruptions make long times longer. Beyond 10 the means
//! differ for certain. What it shows is a fact about this machine and this build; `memcheck` looks
//! at branches and addresses instead.
//!
//! An evaluator that does branch has to be found, or the rest counts for nothing.

use std::convert::Infallible;

use sealane_block::hash::Prp;
use sealane_block::{Block, Coins, Cpu, LabelHash, Tweak, clock};
use sealane_circuit::{Builder, Machine, compile};
use sealane_garble::{Evaluator, Labels, Scheme, Tables};

/// Batches of one scheme on one tier.
const BATCHES: usize = 1_000_000;
/// Rows of a batch: as many as a kernel takes in one turn.
const ROWS: usize = 16;
/// From here on the means of two classes differ.
const THRESHOLD: f64 = 10.0;

#[test]
#[ignore = "minutes; tools/timing.sh runs it in an optimised build"]
fn the_time_of_evaluation_does_not_depend_on_permute_bits() {
    let mut found = Vec::new();
    for cpu in Cpu::available() {
        for scheme in Scheme::ALL {
            let t = difference(BATCHES, evaluation(cpu, scheme));
            println!("{:<9} {scheme:<5} t = {t:6.2}", cpu.tier().name());
            if t >= THRESHOLD {
                found.push((cpu.tier().name(), scheme.name(), t));
            }
        }
    }
    assert!(found.is_empty(), "time depends on permute bits: {found:?}");
}

#[test]
fn an_evaluator_that_branches_is_found() {
    let t = difference(50_000, branching());
    println!("an evaluator that branches: t = {t:.2}");
    assert!(t >= THRESHOLD, "t = {t:.2}");
}

/// Nothing differs where both classes do the same work, whatever its time is.
#[test]
fn the_statistic_is_that_of_welch() {
    // Means 3 and 6, variances 2.5 and 10, five of each: t = -3 / sqrt(0.5 + 2).
    let times = [(1, 2), (2, 4), (3, 6), (4, 8), (5, 10)];
    let samples = times.map(|(a, b)| [(a, false), (b, true)]).concat();
    assert!((welch(&samples, u64::MAX) + 3.0 / 2.5f64.sqrt()).abs() < 1e-12);
    let same = times.map(|(a, _)| [(a, false), (a, true)]).concat();
    assert_eq!(welch(&same, u64::MAX), 0.0);
    // Cropped to times of at most 4: means 2.5 and 3, variances 5/3 and 2 of four and two.
    let cropped = welch(&samples, 4);
    assert!((cropped + 0.5 / (5.0 / 12.0 + 1.0f64).sqrt()).abs() < 1e-12);
}

/// A batch of an AND and an XOR, as room `garble` evaluates it.
fn evaluation(cpu: Cpu, scheme: Scheme) -> impl FnMut(&[Block]) {
    let mut b = Builder::new();
    let (x, y) = (b.input(1), b.input(1));
    let outputs = vec![b.and(x[0], y[0]), b.xor(x[0], y[0])];
    let tape = compile(&b.finish(vec![outputs]), &Machine::CPU);
    let mut evaluator = Evaluator::new(cpu, scheme, Block::new(4711));
    let mut labels = Labels::new(&tape, ROWS, 1);
    let mut tables = Same(vec![0x5a; sealane_garble::CHUNK_BYTES]);
    move |inputs| {
        labels.inputs.copy_from_slice(inputs);
        let Ok(()) = evaluator.evaluate(&tape, ROWS, &mut labels, &mut tables);
    }
}

/// The same bytes again and again; rows need not fit labels to take their time.
struct Same(Vec<u8>);

impl Tables for Same {
    type Error = Infallible;

    fn next(&mut self, _: usize) -> Result<&mut [u8], Infallible> {
        Ok(&mut self.0)
    }
    fn pass(&mut self, _: usize) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Half-gates with a branch on each permute bit.
fn branching() -> impl FnMut(&[Block]) {
    let cpu = *Cpu::available().last().expect("the portable tier");
    let hash = Prp::new(cpu, Block::new(4711));
    let row = Block::new(0x5a5a);
    move |inputs| {
        let mut hashes = inputs.to_vec();
        hash.hash(cpu, Tweak::default(), &mut hashes);
        for (label, hash) in inputs.iter().zip(&mut hashes) {
            if label.lsb() == 1 {
                add(hash, row);
            }
        }
        std::hint::black_box(&hashes);
    }
}

/// A call, which no compiler turns into a mask.
#[inline(never)]
fn add(hash: &mut Block, row: Block) {
    *hash ^= std::hint::black_box(row);
}

/// The largest |t| between labels without permute bits and labels with random ones, over all times
/// and over those below some quantiles.
fn difference(batches: usize, mut work: impl FnMut(&[Block])) -> f64 {
    let cpu = *Cpu::available().last().expect("the portable tier");
    let mut coins = Coins::danger_fixed_seed(cpu, 1);
    let mut samples = Vec::with_capacity(batches);
    let mut labels = vec![Block::ZERO; 2 * ROWS + 1];
    // The first times are those of cold caches and predictors.
    for batch in 0..batches + batches / 10 {
        coins.fill(&mut labels);
        let (inputs, class) = labels.split_at_mut(2 * ROWS);
        let random = class[0].lsb();
        // Both classes are made alike: nothing but the bits themselves differs.
        let kept = Block::new(!1) ^ Block::new(u128::from(random));
        for label in inputs.iter_mut() {
            *label = *label & kept;
        }
        let before = clock::ticks();
        work(inputs);
        let ticks = clock::ticks() - before;
        if batch >= batches / 10 {
            samples.push((ticks, random == 1));
        }
    }
    let mut times: Vec<u64> = samples.iter().map(|&(ticks, _)| ticks).collect();
    times.sort_unstable();
    let below = [1.0, 0.999, 0.99, 0.95, 0.9, 0.75, 0.5];
    let quantile = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    let t = |part: f64| welch(&samples, quantile(part)).abs();
    below.map(t).into_iter().fold(0.0, f64::max)
}

/// Welch's t of the first class against the second, over times of at most `most`; 0 where a class
/// has too few or none of the times differ.
fn welch(samples: &[(u64, bool)], most: u64) -> f64 {
    let moments = |class: bool| {
        let kept = samples
            .iter()
            .filter(|&&(ticks, of)| of == class && ticks <= most);
        let times: Vec<f64> = kept.map(|&(ticks, _)| ticks as f64).collect();
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let squares = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
        (mean, squares / (count - 1.0) / count)
    };
    let ((mean, error), (other_mean, other_error)) = (moments(false), moments(true));
    let t = (mean - other_mean) / (error + other_error).sqrt();
    if t.is_nan() { 0.0 } else { t }
}
