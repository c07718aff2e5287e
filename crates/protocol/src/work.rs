//! Work of a run by kernel: how much of each kind of computing it does.
//!
//! Amounts follow from plans and are exact; what one of a kind takes depends on a machine. Each
//! kernel has a nominal time, on a core of 2.4 GHz with VAES-256, by which plans are chosen, so
//! that all parties choose the same. Rates that were measured on a machine give the processor time
//! that it will take, and change no plan.

use std::collections::BTreeMap;

/// A kind of computing, whose amount planning counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kernel {
    name: &'static str,
    /// Nominal picoseconds of one, on the slowest party.
    ps: u64,
}

impl Kernel {
    /// A kernel of so many nominal nanoseconds. The choice among domains, routes and steps follows
    /// them: where a protocol has several, a change of one changes plans, and raises the version of
    /// its profile.
    pub const fn ns(name: &'static str, ns: u64) -> Kernel {
        Kernel::ps(name, 1_000 * ns)
    }
    /// A kernel of so many nominal picoseconds.
    pub const fn ps(name: &'static str, ps: u64) -> Kernel {
        Kernel { name, ps }
    }
    /// A kernel without a nominal time: the choice does not see it, and rates of a machine alone
    /// give it one.
    pub const fn uncharged(name: &'static str) -> Kernel {
        Kernel { name, ps: 0 }
    }
    /// So much work of it.
    pub fn times(self, count: u64) -> Work {
        Work::default().and(self, count)
    }
    /// Nominal nanoseconds of so much work of it, rounded down.
    pub const fn nominal_ns(self, count: u64) -> u64 {
        (self.ps as u128 * count as u128 / 1_000) as u64
    }
}

/// Amounts of work by kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work(BTreeMap<Kernel, u64>);

impl Work {
    /// This work and so much of a kernel.
    pub fn and(mut self, kernel: Kernel, count: u64) -> Work {
        if count > 0 {
            *self.0.entry(kernel).or_insert(0) += count;
        }
        self
    }
    /// Adds other work, `times` over.
    pub fn add(&mut self, other: &Work, times: u64) {
        for (kernel, count) in other.0.iter().filter(|_| times > 0) {
            *self.0.entry(*kernel).or_insert(0) += times * count;
        }
    }
    /// Nominal nanoseconds on the slowest party, rounded down once.
    pub fn nominal_ns(&self) -> u64 {
        let ps = self
            .0
            .iter()
            .map(|(kernel, count)| u128::from(kernel.ps) * u128::from(*count));
        (ps.sum::<u128>() / 1_000) as u64
    }
    /// Amounts by the names of kernels, in the order of these.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(kernel, count)| (kernel.name, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATE: Kernel = Kernel::ps("gate", 1_600);
    const PROOF: Kernel = Kernel::ns("proof", 7);
    const BYTE: Kernel = Kernel::uncharged("byte");

    #[test]
    fn nominal_time_is_rounded_once_and_leaves_out_what_has_none() {
        let mut work = GATE.times(3).and(BYTE, 1 << 60).and(PROOF, 2).and(PROOF, 0);
        assert_eq!(work.nominal_ns(), 18);
        assert_eq!(GATE.nominal_ns(3) + PROOF.nominal_ns(2), 18);
        work.add(&GATE.times(1).and(PROOF, 1), 2);
        // 5 x 1.6 + 4 x 7.
        assert_eq!(work.nominal_ns(), 36);
        let counts = work.counts().collect::<Vec<_>>();
        assert_eq!(counts, [("byte", 1 << 60), ("gate", 5), ("proof", 4)]);
        work.add(&BYTE.times(1), 0);
        assert_eq!(work.counts().count(), 3);
        assert_eq!(Work::default(), BYTE.times(0));
    }
}
