//! Exact views of one corrupted party in each step of this crate, over small rings, with every
//! possible randomness.
//!
//! The hybrid model: streams of keys are independent random values (`ideal`). For each party and
//! all that it knows and may learn (its own inputs, its components of shared inputs, the values
//! that are opened to it), the joint distribution of all that it sees (values of its streams,
//! messages to it) and of its components of the results must not depend on anything else: the
//! inputs of others, the values of shared inputs, and the values of results that stay shared. With
//! a party's own components and the value the other components follow, so that this is the joint
//! distribution with all outputs. It is counted, and counts are compared exactly.
//!
//! Where the values of all streams and inputs are too many, [`Choices::Unknown`] draws those that
//! the corrupted party knows at random, a number of times, and enumerates all others.
//!
//! *Faults.* Each test runs again with each [`InjectedFault`] that its streams and links admit: a
//! stream without randomness, one that repeats its values, and messages that go to another party as
//! well. Each has to be caught, but for those that the test lists as harmless, which must not be.
//!
//! *Pieces.* A pass of a sort by two bits with rows is larger than what can be counted. Its places
//! are one test, up to the part that each party has of them; the shuffle of rows and parts of
//! places together, which is all that follows, is another; and a pass by one bit is counted whole.

mod leak;
mod masked;
mod model;
mod order;
mod steps;
mod turns;

use crate::ideal::InjectedFault::{self, Again, Misrouted, Zero};
use crate::{Share, Trio};
use leak::{Choices, leak};
use model::{Model, Shared, TestedSteps};
use sealane_protocol::{Algebra, Domain, Protocol};
use std::sync::Arc;

const RING: &str = "trio: zero shares of integers";

/// Some steps, and how they are checked.
struct ViewTest {
    /// Parties without a role.
    outsiders: usize,
    run: TestedSteps,
    choices: Choices,
    /// Faults that show nothing here, which the comments explain.
    harmless: &'static [InjectedFault],
    /// The label of streams that another test shows to be needed.
    untried: Option<&'static str>,
}

impl ViewTest {
    fn new(run: TestedSteps, choices: Choices) -> ViewTest {
        ViewTest {
            outsiders: 0,
            run,
            choices,
            harmless: &[],
            untried: None,
        }
    }

    fn check(&self) {
        let mut model = Model::new(self.outsiders);
        let mut leaks = |fault| leak(&mut model, self.run, self.choices, fault);
        assert_eq!(leaks(None), None, "a party sees what it must not");
        let faults = Model::new(self.outsiders).faults(self.run).into_iter();
        let tried = faults.filter(|fault| match fault {
            Zero((_, label)) | Again((_, label)) => Some(*label) != self.untried,
            Misrouted(_) => true,
        });
        let harmless = tried.filter(|fault| leaks(Some(*fault)).is_none());
        assert_eq!(harmless.collect::<Vec<_>>(), self.harmless);
    }
}

fn domain(k: Option<u8>) -> Domain {
    Trio::domain(k.map_or(Algebra::Z2, Algebra::Z2k))
}

/// A party's part of a tensor.
fn part(of: &Shared, at: usize) -> Arc<Share> {
    Arc::clone(&of.parts[at])
}
