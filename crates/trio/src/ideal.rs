//! For tests: streams that give each possible value in turn, and all that each party sees.
//!
//! In the hybrid model a key's streams are lists of independent random values. A test runs the
//! steps of all three parties in one thread, once for each choice of all these values
//! ([`every_choice`]), so that counts of what a party sees are exact probabilities.

use crate::form::Form;
use crate::keys::{Key, Keys, Stream};
use crate::roles::Computing;
use crate::seat::Seat;
use sealane_block::{Cpu, Prg};
use sealane_net::Mesh;
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::{Fault, Planes};
use sealane_protocol::{Protocol, Setting};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

thread_local! {
    /// Components that the running party has received.
    static HEARD: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Takes down a component that a party receives.
pub(crate) fn hear(component: &[u64]) {
    HEARD.with_borrow_mut(|heard| heard.extend(component));
}

/// The values of all streams in one choice, and the choices that were made for them.
#[derive(Default)]
struct Drawn {
    /// Values of each stream, by key and label.
    streams: BTreeMap<(usize, &'static str), Vec<u64>>,
    /// Number of values that each choice is from, and the one that is due.
    path: Vec<(u64, u64)>,
    next: usize,
    /// A key and a label whose values are all zero.
    broken: Option<(usize, &'static str)>,
}

impl Drawn {
    fn choose(&mut self, below: u64) -> u64 {
        if self.next == self.path.len() {
            self.path.push((below, 0));
        }
        let (known, value) = self.path[self.next];
        assert_eq!(known, below, "choices depend on nothing but choices before");
        self.next += 1;
        value
    }

    /// The next choice of all; false after the last one.
    fn step(&mut self) -> bool {
        self.streams.clear();
        self.next = 0;
        while let Some((below, value)) = self.path.pop() {
            if value + 1 < below {
                self.path.push((below, value + 1));
                return true;
            }
        }
        false
    }
}

/// A stream of a key, at one of its holders.
pub(crate) struct Ideal {
    drawn: Arc<Mutex<Drawn>>,
    key: usize,
    label: &'static str,
    /// Values that this holder has taken.
    taken: usize,
    /// All values that this holder has taken, of all its streams.
    seen: Arc<Mutex<Vec<u64>>>,
}

impl Ideal {
    fn next(&mut self, below: u64) -> u64 {
        let mut drawn = self.drawn.lock().unwrap();
        let broken = drawn.broken;
        let broken = broken.is_some_and(|(key, label)| (key, label) == (self.key, self.label));
        let name = (self.key, self.label);
        let there = drawn
            .streams
            .entry(name)
            .or_default()
            .get(self.taken)
            .copied();
        let value = match there {
            Some(value) => value,
            None => {
                let value = if broken { 0 } else { drawn.choose(below) };
                drawn.streams.entry(name).or_default().push(value);
                value
            }
        };
        self.taken += 1;
        self.seen.lock().unwrap().push(value);
        value
    }

    /// As many words of a form of rows of at most 64 bits.
    pub(crate) fn words(&mut self, form: Form, count: usize) -> Vec<u64> {
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

/// View of a party in one choice: the values of its keys, then what it received.
pub(crate) type Seen = Vec<u64>;

/// The three parties, in the order of roles, at the start of a choice.
pub(crate) struct Three {
    pub(crate) parties: [(Computing, Mesh); 3],
    seen: [Arc<Mutex<Vec<u64>>>; 3],
}

impl Three {
    /// Runs one party for a while; adds to what it sees.
    fn at<R>(&mut self, role: usize, run: impl FnOnce(&mut Computing, &mut Mesh) -> R) -> R {
        HEARD.with_borrow_mut(Vec::clear);
        let (party, mesh) = &mut self.parties[role];
        let result = run(party, mesh);
        mesh.flush().unwrap();
        let heard = HEARD.with_borrow_mut(std::mem::take);
        self.seen[role].lock().unwrap().extend(heard);
        result
    }

    /// Runs a step: `begin` at each party, then `advance` until there is a result.
    pub(crate) fn run<S, R>(
        &mut self,
        begin: impl Fn(&mut Computing, &mut Mesh) -> Result<S, Fault>,
        advance: impl Fn(&mut Computing, S, &mut Mesh) -> Result<Result<R, S>, Fault>,
    ) -> [R; 3] {
        let mut states = [0, 1, 2].map(|role| self.at(role, &begin).unwrap());
        loop {
            let mut done = Vec::new();
            let mut left = Vec::new();
            for (role, state) in states.into_iter().enumerate() {
                match self
                    .at(role, |party, mesh| advance(party, state, mesh))
                    .unwrap()
                {
                    Ok(result) => done.push(result),
                    Err(state) => left.push(state),
                }
            }
            if let Ok(done) = <[R; 3]>::try_from(done) {
                return done;
            }
            let all = <[S; 3]>::try_from(left).ok();
            states = all.expect("all parties take as many flights");
        }
    }
}

/// Runs `run` once for each choice of the values of all streams, with those of one stream zero if
/// `broken` names it; `count` takes the result with what each party saw.
pub(crate) fn every_choice<R>(
    broken: Option<(usize, &'static str)>,
    mut run: impl FnMut(&mut Three) -> R,
    mut count: impl FnMut(R, [Seen; 3]),
) {
    let drawn = Arc::new(Mutex::new(Drawn {
        broken,
        ..Drawn::default()
    }));
    let setting = Setting {
        network: NetworkClass::Lan,
        ..Setting::in_order(&crate::Trio::profile(), 3)
    };
    let cpu = Cpu::detect().unwrap();
    let mut meshes = Some(Mesh::in_memory(3));
    loop {
        let seen = [(); 3].map(|()| Arc::new(Mutex::new(Vec::new())));
        let key = |key: usize, role: usize| {
            Key::of(|label| Stream {
                prg: Prg::danger_fixed(cpu, 0),
                ideal: Some(Ideal {
                    drawn: drawn.clone(),
                    key: key % 3,
                    label,
                    taken: 0,
                    seen: seen[role].clone(),
                }),
            })
        };
        let party = |(role, mesh): (usize, Mesh)| {
            let seat = Seat::of(&setting, PartyId::from_index(role)).unwrap();
            let computing = Computing {
                setting: setting.clone(),
                cpu,
                seat,
                keys: Keys {
                    own: key(role, role),
                    next: key(role + 1, role),
                    guests: BTreeMap::new(),
                },
            };
            (computing, mesh)
        };
        let there = meshes.take().unwrap().into_iter().enumerate().map(party);
        let mut trio = Three {
            parties: there.collect::<Vec<_>>().try_into().ok().unwrap(),
            seen: seen.clone(),
        };
        let result = run(&mut trio);
        let seen = seen.each_ref().map(|seen| seen.lock().unwrap().clone());
        count(result, seen);
        meshes = Some(trio.parties.into_iter().map(|(_, mesh)| mesh).collect());
        if !drawn.lock().unwrap().step() {
            return;
        }
    }
}

/// The words of both components of a party.
pub(crate) fn words(parts: &[Planes<u64>; 2]) -> Vec<u64> {
    parts.iter().flat_map(|part| part.data().to_vec()).collect()
}
