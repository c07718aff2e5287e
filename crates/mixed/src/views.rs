//! Exact views of one corrupted party in each step of this crate, over small rings, with every
//! possible randomness.
//!
//! Correlations come from an ideal dealer, and common streams are independent random values. A
//! party is corrupted: what it knows (its shares and inputs, its part of correlations and streams)
//! is drawn at random, a number of times, and all else is enumerated. Then the distribution of what
//! it receives must be the same for all that the others hold, among those with the same results
//! for this party. Shares of other parties are values like any others here: in this protocol they
//! need not be random.
//!
//! *Faults.* Each test runs again with each [`InjectedFault`] that it admits: correlations or
//! streams without randomness, ones that repeat, and messages that go to another party as well.
//! Each has to be caught, but for those that the test lists as harmless, which must not be.

mod dealer;
mod model;
mod steps;

pub(crate) use dealer::Ideal;

use dealer::InjectedFault;
use model::{Model, TestedSteps};

/// Random choices of what a party knows.
const DRAWS: u64 = 4;

/// Some steps, and how they are checked.
struct ViewTest {
    /// Parties without a role.
    outsiders: usize,
    run: TestedSteps,
    /// Faults that show nothing here, which the comments explain.
    harmless: &'static [InjectedFault],
}

impl ViewTest {
    fn new(run: TestedSteps) -> ViewTest {
        ViewTest {
            outsiders: 0,
            run,
            harmless: &[],
        }
    }

    fn check(&self) {
        let mut model = Model::new(self.outsiders);
        assert_eq!(
            model.leak(self.run, None),
            None,
            "a party sees what it must not"
        );
        assert!(model.right, "a result is wrong");
        let faults = model.faults(self.run);
        assert!(!faults.is_empty());
        let mut shown = |fault: &InjectedFault| model.leak(self.run, Some(*fault)).is_some();
        let harmless = faults.into_iter().filter(|fault| !shown(fault));
        assert_eq!(harmless.collect::<Vec<_>>(), self.harmless);
    }
}
