//! Numbers that follow from a seed, the same on every machine: SplitMix64 (Steele, Lea and Flood,
//! "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).

/// A sequence of numbers.
#[derive(Clone)]
pub struct Chance(u64);

impl Chance {
    /// The sequence that belongs to `seed`.
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// The sequence that belongs to some bytes, for targets that need more numbers than those hold.
    pub fn of(bytes: &[u8]) -> Chance {
        let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(bytes).as_bytes();
        Chance(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `count`; 0 if that is 0. Small counts, so that the bias of a remainder is
    /// none that matters.
    pub fn below(&mut self, count: usize) -> usize {
        (self.number() % (count as u64).max(1)) as usize
    }

    /// One of a list that is not empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
