//! Exact views of one corrupted party in each gadget of this room, over small rings, with every
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
//! *Flaws.* Each gadget runs again with each [`Flaw`] that its streams and links admit: a stream
//! without randomness, one that repeats its values, and messages that go to another party as well.
//! Each has to be caught, but for those that the gadget lists as harmless, which must not be.
//!
//! *Pieces.* A turn of a sort by two bits with rows is larger than what can be counted. Its places
//! are one gadget, up to the part that each party has of them; the shuffle of rows and parts of
//! places together, which is all that follows, is another; and a turn by one bit is counted whole.

mod leak;
mod link;
mod masked;
mod order;
mod steps;
mod world;

use crate::ideal::Flaw::{self, Again, Astray, Zero};
use crate::{Share, Trio};
use leak::{Choices, leak};
use sealane_protocol::{Algebra, Domain, Protocol};
use std::sync::Arc;
use world::{Run, Shared, World};

const RING: &str = "trio: zero shares of integers";

/// Some steps, and how they are checked.
struct Gadget {
    /// Parties without a role.
    outsiders: usize,
    run: Run,
    choices: Choices,
    /// Flaws that show nothing here, which the comments explain.
    harmless: &'static [Flaw],
    /// The label of streams that another gadget shows to be needed.
    untried: Option<&'static str>,
}

impl Gadget {
    fn new(run: Run, choices: Choices) -> Gadget {
        Gadget {
            outsiders: 0,
            run,
            choices,
            harmless: &[],
            untried: None,
        }
    }

    fn check(&self) {
        let mut world = World::new(self.outsiders);
        let mut leaks = |flaw| leak(&mut world, self.run, self.choices, flaw);
        assert_eq!(leaks(None), None, "a party sees what it must not");
        let flaws = World::new(self.outsiders).flaws(self.run).into_iter();
        let tried = flaws.filter(|flaw| match flaw {
            Zero((_, label)) | Again((_, label)) => Some(*label) != self.untried,
            Astray(_) => true,
        });
        let harmless = tried.filter(|flaw| leaks(Some(*flaw)).is_none());
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
