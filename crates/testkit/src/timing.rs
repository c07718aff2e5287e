//! The statistical test that times do not depend on secrets.
//!
//! The method is that of Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?" (DATE
//! 2017). Two classes of inputs come in random turns: blocks whose lowest bits are all 0, where a
//! predictor would always be right, and blocks whose lowest bits are random. All else is random in
//! both, and made by the same steps, before the clock starts. Welch's t-test compares the times of
//! the classes: all of them, and those below some quantiles, since interruptions make long times
//! longer. Beyond 10 the means certainly differ. The result holds for this machine and this build;
//! `memcheck` checks branches and addresses instead.

use sealane_block::cpu::TIER_VARIABLE;
use sealane_block::{Block, Cpu, Prg, clock};

/// Rows of a batch: as many as a kernel takes in one turn.
pub const ROWS: usize = 16;
/// From here on the means of two classes differ.
pub const THRESHOLD: f64 = 10.0;

/// A kind of work to be timed.
pub trait TimedWork {
    /// Takes the blocks whose lowest bits are secret, before the clock starts.
    fn prepare(&mut self, inputs: &[Block]);
    /// Runs the timed part.
    fn run(&mut self);
    /// Clears up, after the clock has stopped.
    fn settle(&mut self) {}
}

/// All tiers of this machine, or the one that the usual variable names.
///
/// # Panics
/// If it names none of this machine.
pub fn tiers() -> Vec<Cpu> {
    match std::env::var_os(TIER_VARIABLE) {
        Some(_) => vec![Cpu::detect().expect("a tier of this machine")],
        None => Cpu::available(),
    }
}

/// Kinds of work whose times differ.
#[derive(Default)]
pub struct Findings(Vec<String>);

impl Findings {
    /// Times batches of a kind of work on a tier, and prints the result.
    pub fn add(&mut self, cpu: Cpu, what: &str, batches: usize, work: &mut dyn TimedWork) {
        let t = difference(batches, work);
        println!("{:<9} {what:<36} t = {t:6.2}", cpu.tier().name());
        if t >= THRESHOLD {
            self.0.push(format!("{what} on {}: t = {t:.2}", cpu.tier()));
        }
    }

    /// Ends a test.
    ///
    /// # Panics
    /// If times differ.
    pub fn none(&self) {
        assert!(self.0.is_empty(), "time depends on secrets: {:?}", self.0);
    }
}

/// The largest |t| between blocks whose lowest bits are 0 and blocks with random ones, over all
/// times and over those below some quantiles.
///
/// # Panics
/// If the machine has no tier.
pub fn difference(batches: usize, work: &mut dyn TimedWork) -> f64 {
    let cpu = *Cpu::available().last().expect("the portable tier");
    let mut prg = Prg::danger_fixed(cpu, 1);
    let mut samples = Vec::with_capacity(batches);
    let mut labels = vec![Block::ZERO; 2 * ROWS + 1];
    // The first times are those of cold caches and predictors.
    for batch in 0..batches + batches / 10 {
        prg.fill(&mut labels);
        let (inputs, class) = labels.split_at_mut(2 * ROWS);
        let random = class[0].lsb();
        // Both classes are made alike: nothing but the bits themselves differs.
        let kept = Block::new(!1) ^ Block::new(u128::from(random));
        for label in inputs.iter_mut() {
            *label = *label & kept;
        }
        work.prepare(inputs);
        let before = clock::ticks();
        work.run();
        let ticks = clock::ticks() - before;
        work.settle();
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
        let kept = samples.iter();
        let kept = kept.filter(|&&(ticks, of)| of == class && ticks <= most);
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
