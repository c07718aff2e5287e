//! For tests: streams of keys that give every possible value in turn.
//!
//! In the hybrid model the streams of a key are lists of independent random values. A run of some
//! steps is repeated once for each choice of all values that are chosen, which are values of
//! streams and inputs; so counts of what a party sees are exact probabilities (`views`).

use sealane_party::Form;
use sealane_testkit::exact::{Choices, locked};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// A stream of a key: the number of the key, and the label of the stream. Keys 0, 1 and 2 are those
/// of roles; the outsiders have the following ones, two each.
pub(crate) type Name = (usize, &'static str);

/// A deliberate mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InjectedFault {
    /// The values of a stream are all zero: a mask, an order or a share of zero is missing.
    Zero(Name),
    /// Each value of a stream is that before it: a mask is used again.
    Again(Name),
    /// The messages of a link, from the first party to the second, go to the third one too.
    Misrouted([usize; 3]),
}

/// A stream, and how many of its values each party has taken.
pub(crate) struct Source {
    pub(crate) name: Name,
    holders: Vec<usize>,
    values: Vec<u64>,
    taken: Vec<usize>,
    /// Numbers that values have been below, in all runs.
    pub(crate) below: BTreeSet<u64>,
    pub(crate) most: usize,
}

/// The state of an enumeration.
#[derive(Default)]
pub(crate) struct Drawn {
    pub(crate) sources: Vec<Source>,
    pub(crate) choices: Choices,
    pub(crate) fault: Option<InjectedFault>,
    /// By party, the values that it has taken.
    pub(crate) seen: Vec<Vec<u8>>,
}

impl Drawn {
    /// The next value of a stream for one of its holders.
    fn take(&mut self, source: usize, party: usize, below: u64) -> u64 {
        let (name, fault) = (self.sources[source].name, self.fault);
        let at = self.sources[source].taken[party];
        if at == self.sources[source].values.len() {
            let before = self.sources[source].values.last().copied();
            let value = match (fault, before) {
                (Some(InjectedFault::Zero(zero)), _) if zero == name => 0,
                (Some(InjectedFault::Again(again)), Some(before)) if again == name => before,
                _ => {
                    let holders = self.sources[source].holders.clone();
                    self.choices.choose(below, &holders)
                }
            };
            let source = &mut self.sources[source];
            source.values.push(value);
            source.below.insert(below);
            source.most = source.most.max(at + 1);
        }
        let source = &mut self.sources[source];
        source.taken[party] += 1;
        let value = source.values[at];
        self.seen[party].push(value as u8);
        value
    }

    /// Begins the next choice of all; false after the last one.
    pub(crate) fn step(&mut self) -> bool {
        self.seen.iter_mut().for_each(Vec::clear);
        for source in &mut self.sources {
            source.values.clear();
            source.taken.fill(0);
        }
        self.choices.step()
    }
}

/// A stream of a key at one of its holders.
pub(crate) struct Ideal {
    drawn: Arc<Mutex<Drawn>>,
    source: usize,
    party: usize,
}

impl Ideal {
    fn next(&mut self, below: u64) -> u64 {
        locked(&self.drawn).take(self.source, self.party, below)
    }

    /// As many words of a form of rows of at most 8 bits.
    pub(crate) fn words(&mut self, form: Form, count: usize) -> Vec<u64> {
        assert!(form.row_bits() <= 8, "a form for an enumeration");
        let below = 1 << form.row_bits();
        (0..count).map(|_| self.next(below)).collect()
    }

    /// Numbers below others.
    pub(crate) fn numbers(&mut self, below: &mut [u32]) {
        for below in below {
            *below = self.next(u64::from(*below)) as u32;
        }
    }
}

/// A stream at one of its holders, which is taken down.
pub(crate) fn ideal(drawn: &Arc<Mutex<Drawn>>, name: Name, party: usize, count: usize) -> Ideal {
    let sources = &mut locked(drawn).sources;
    let there = sources.iter().position(|source| source.name == name);
    let source = there.unwrap_or_else(|| {
        sources.push(Source {
            name,
            holders: Vec::new(),
            values: Vec::new(),
            taken: vec![0; count],
            below: BTreeSet::new(),
            most: 0,
        });
        sources.len() - 1
    });
    sources[source].holders.push(party);
    Ideal {
        drawn: drawn.clone(),
        source,
        party,
    }
}
