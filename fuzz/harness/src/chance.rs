//! Choices determined by a seed, the same on every machine.

use sealane_testkit::random::Random;

/// A sequence of choices.
pub struct Chance(Random);

impl Chance {
    /// Makes the sequence of `seed`.
    pub fn new(seed: u64) -> Chance {
        Chance(Random::new(seed))
    }

    /// Makes a sequence from bytes, for targets that need more numbers than those hold.
    pub fn of(bytes: &[u8]) -> Chance {
        let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(bytes).as_bytes();
        Chance::new(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0.seed()
    }

    /// A number below `count`; 0 if that is 0.
    pub fn below(&mut self, count: usize) -> usize {
        self.0.below(count.max(1))
    }

    /// Chooses one element of a list that is not empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
