//! For tests: streams of keys that give every possible value in turn.
//!
//! In the hybrid model the streams of a key are lists of independent random values. A run of some
//! steps is repeated once for each choice of all values that are chosen, which are values of
//! streams and inputs; so counts of what a party sees are exact probabilities (`views`).

use crate::form::Form;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

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
    /// Number of values that each choice is from, and the one that is due.
    pub(crate) path: Vec<(u64, u64)>,
    next: usize,
    /// The party whose own values are drawn at random, and the number of its draw.
    pub(crate) given: Option<(usize, u64)>,
    given_choices: u64,
    pub(crate) fault: Option<InjectedFault>,
    /// By party, the values that it has taken.
    pub(crate) seen: Vec<Vec<u8>>,
}

impl Drawn {
    /// Chooses a value that these parties know.
    pub(crate) fn choose(&mut self, below: u64, holders: &[usize]) -> u64 {
        if let Some((_, draw)) = self.given.filter(|(party, _)| holders.contains(party)) {
            self.given_choices += 1;
            return mixed(draw << 32 | self.given_choices) % below;
        }
        if self.next == self.path.len() {
            self.path.push((below, 0));
        }
        let (known, value) = self.path[self.next];
        assert_eq!(known, below, "choices depend on nothing but choices before");
        self.next += 1;
        value
    }

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
                    self.choose(below, &holders)
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
        self.next = 0;
        self.given_choices = 0;
        self.seen.iter_mut().for_each(Vec::clear);
        for source in &mut self.sources {
            source.values.clear();
            source.taken.fill(0);
        }
        while let Some((below, value)) = self.path.pop() {
            if value + 1 < below {
                self.path.push((below, value + 1));
                return true;
            }
        }
        false
    }
}

/// Bits of a number, mixed (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014).
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
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

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder of the lock panics")
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
