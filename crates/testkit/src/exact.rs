//! Exact views: every choice of all that is random in turn, counts of what is seen, and parties in
//! lock step on one thread, over links that take down what they carry.

use sealane_net::{Frame, FrameKind, Limits, LinkError, Mesh, Transport};
use sealane_party::{Outcome, Progress, Step, Steps};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard};

/// All choices of a run, and the ones that are due.
#[derive(Default)]
pub struct Choices {
    /// Number of values that each choice is from, and the value that is due.
    pub path: Vec<(u64, u64)>,
    next: usize,
    /// The party whose own values are drawn at random, and the number of its draw.
    pub given: Option<(usize, u64)>,
    given_choices: u64,
}

impl Choices {
    /// Chooses a value that these parties know.
    pub fn choose(&mut self, below: u64, holders: &[usize]) -> u64 {
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

    /// Begins the next choice of all; false after the last one.
    pub fn step(&mut self) -> bool {
        self.next = 0;
        self.given_choices = 0;
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

/// Counts of things.
pub type Counts<T> = HashMap<T, u64>;

/// Returns whether all chances are equal: counts are in the ratio of all counts.
pub fn alike<T: Hash + Eq>(one: &Counts<T>, other: &Counts<T>) -> bool {
    let whole = |counts: &Counts<T>| u128::from(counts.values().sum::<u64>());
    let (of_one, of_other) = (whole(one), whole(other));
    one.len() == other.len()
        && one.iter().all(|(what, count)| {
            let there = other.get(what).copied().unwrap_or(0);
            u128::from(*count) * of_other == u128::from(there) * of_one
        })
}

/// The content of a mutex.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder of the lock panics")
}

/// One direction of a link.
#[derive(Clone, Default)]
struct Line {
    /// Frames that are not read yet.
    frames: Arc<Mutex<VecDeque<Frame>>>,
    /// All payload so far.
    carried: Arc<Mutex<Vec<u8>>>,
}

/// An end of a link in the memory of one thread.
struct End {
    out: Line,
    into: Line,
}

impl Transport for End {
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        assert!(matches!(frame.kind, FrameKind::Data { .. }));
        locked(&self.out.carried).extend_from_slice(&frame.payload);
        locked(&self.out.frames).push_back(frame);
        Ok(None)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        Ok(locked(&self.into.frames).pop_front())
    }

    /// In lock step a message has been sent before it is awaited.
    fn end(&self) -> Option<LinkError> {
        Some(LinkError::Finished)
    }
}

/// All parties of a run, one step after the other on one thread.
pub struct LockStep<P> {
    /// The parties.
    pub parties: Vec<P>,
    /// Their links.
    pub meshes: Vec<Mesh>,
    /// Lines by sender and receiver.
    lines: BTreeMap<(usize, usize), Line>,
}

impl<P: Steps> LockStep<P> {
    /// Links these parties.
    pub fn new(parties: Vec<P>) -> LockStep<P> {
        let count = parties.len();
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let lines: BTreeMap<_, _> = pairs.map(|pair| (pair, Line::default())).collect();
        let meshes = Mesh::full(count, Limits::default(), |one, other| {
            [(one, other), (other, one)].map(|(me, peer)| -> Box<dyn Transport> {
                let (out, into) = (lines[&(me, peer)].clone(), lines[&(peer, me)].clone());
                Box::new(End { out, into })
            })
        });
        LockStep {
            parties,
            meshes,
            lines,
        }
    }

    /// Runs a step at all parties.
    ///
    /// # Panics
    /// If it fails, or parties take another number of flights.
    pub fn step<'a>(&mut self, step: impl Fn(usize) -> Step<'a, P>) -> Vec<Outcome<P>> {
        let parties = self.parties.iter_mut().zip(&mut self.meshes).enumerate();
        let begun = parties.map(|(at, (party, mesh))| {
            let progress = party.begin(step(at), None, mesh).expect("a step");
            mesh.flush().expect("links in memory");
            progress
        });
        let mut states = begun.collect::<Vec<_>>();
        loop {
            let mut done = Vec::new();
            let mut left = Vec::new();
            for state in states {
                match state {
                    Progress::Done(outcome) => done.push(outcome),
                    Progress::More(pending) => left.push(pending),
                }
            }
            if left.is_empty() {
                return done;
            }
            assert!(done.is_empty(), "all parties take as many flights");
            let parties = self.parties.iter_mut().zip(&mut self.meshes);
            let on = parties.zip(left).map(|((party, mesh), pending)| {
                let progress = party.advance(pending, mesh).expect("a step");
                mesh.flush().expect("links in memory");
                progress
            });
            states = on.collect();
        }
    }

    /// All that a party has received, and what another link carried, from the first party to the
    /// second, if its messages went to the third as well.
    pub fn received(&self, party: usize, misrouted: Option<[usize; 3]>) -> Vec<u8> {
        let mut view = Vec::new();
        for ((from, to), line) in &self.lines {
            if *to == party || misrouted == Some([*from, *to, party]) {
                view.extend_from_slice(&locked(&line.carried));
            }
        }
        view
    }

    /// Links that have carried something, from a party to another.
    pub fn used(&self) -> impl Iterator<Item = (usize, usize)> {
        let lines = self.lines.iter();
        let used = lines.filter(|(_, line)| !locked(&line.carried).is_empty());
        used.map(|(pair, _)| *pair)
    }

    /// Forgets what was received.
    ///
    /// # Panics
    /// If a message was not read.
    pub fn clear(&mut self) {
        for line in self.lines.values() {
            assert!(locked(&line.frames).is_empty(), "a message is not read");
            locked(&line.carried).clear();
        }
    }
}
