//! A fixed sequence of numbers for a seed, the same on every machine.

use std::time::Duration;

/// SplitMix64 (Steele, Lea, Flood 2014), of which the upper halves are used.
pub struct Random(u64);

impl Random {
    /// Makes the sequence of `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 32) as u32
    }

    /// A seed for another sequence.
    pub fn seed(&mut self) -> u64 {
        u64::from(self.number()) << 32 | u64::from(self.number())
    }

    /// A number below `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        self.number() as usize % count
    }

    /// Returns true in so many cases of a hundred.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Chooses one element.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Draws a time between two others; one between 1 and 2 s is as likely as one between 1 and 2
    /// ms.
    pub fn time(&mut self, least: Duration, most: Duration) -> Duration {
        let least_us = least.as_micros().max(1) as u64;
        let most_us = (most.as_micros() as u64).max(least_us);
        let octaves = (most_us / least_us).ilog2() as usize;
        let from = least_us << self.below(octaves + 1);
        let time_us = from + self.seed() % from;
        Duration::from_micros(time_us.min(most_us))
    }
}
