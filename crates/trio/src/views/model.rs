//! All parties of a run in lock step, with all that each sees.
//!
//! Parties are those of the crate, with keys of ideal streams, over links that take down what they
//! carry. Nothing here knows a test: one that a party begins by a step, or that draws from keys
//! and sends over the mesh, runs here without a change.

use crate::Share;
use crate::ideal::{Drawn, InjectedFault, ideal};
use crate::keys::{Key, Keys, Stream};
use crate::masked::{Layouts, Recycled};
use crate::outside::Outside;
use crate::record::Spare;
use crate::role_index::RoleIndex;
use crate::roles::Computing;
use crate::{Membership, Trio, TrioParty};
use sealane_block::{Cpu, Erased, Prg};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Form, Outcome, Result, Step};
use sealane_protocol::{Protocol, Setting};
use sealane_testkit::exact::{LockStep, locked};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// A tensor as all parties hold it.
pub(crate) struct Shared {
    pub(crate) parts: Vec<Arc<Share>>,
    /// The elements, plane by plane.
    pub(crate) value: Vec<u64>,
}

/// All parties of a run. They keep nothing from one step to the next but their keys, so one model
/// serves all choices.
pub(crate) struct Model {
    pub(super) run: LockStep<TrioParty>,
    pub(super) drawn: Arc<Mutex<Drawn>>,
    /// The values of all inputs; by party, what it knows of them, and what it does not.
    pub(super) inputs: Vec<u64>,
    pub(super) knows: Vec<Vec<u64>>,
    pub(super) lacks: Vec<Vec<u64>>,
    /// By party, results that it learns and that it must not learn.
    pub(super) learnt: Vec<Vec<u64>>,
    pub(super) missed: Vec<Vec<u64>>,
}

impl Model {
    pub(crate) fn new(outsiders: usize) -> Model {
        let count = 3 + outsiders;
        let setting = Setting::in_order(&Trio::profile(), count);
        let drawn = Arc::new(Mutex::new(Drawn::default()));
        locked(&drawn).seen.resize(count, Vec::new());
        let cpu = Cpu::detect().unwrap();
        let key = |number: usize, party: usize| {
            Key::of(|label| Stream {
                prg: Prg::danger_fixed(cpu, 0),
                ideal: Some(ideal(&drawn, (number, label), party, count)),
            })
        };
        let guest = |guest: usize, component: usize| 3 + 2 * (guest - 3) + component;
        let party = |at: usize| {
            let me = PartyId::from_index(at);
            let setting = setting.clone();
            let place = match RoleIndex::of(&setting, me) {
                Some(role_index) => {
                    let guests = (3..count).map(|other| {
                        let components = [0, 1].map(|place| (at + place) % 3);
                        let key = |component| key(guest(other, component), at);
                        let keys = components.map(|of| (of < 2).then(|| key(of)));
                        (PartyId::from_index(other), keys)
                    });
                    Membership::Role(Erased::new(Computing {
                        setting: setting.clone(),
                        cpu,
                        role_index,
                        keys: Keys {
                            own: key(at, at),
                            next: key((at + 1) % 3, at),
                            guests: guests.collect(),
                            guard: None,
                        },
                        layouts: Layouts::default(),
                        recycled: Recycled::default(),
                        spare: Spare::default(),
                    }))
                }
                None => Membership::Outside(Erased::new(Outside {
                    setting: setting.clone(),
                    me,
                    keys: Some([0, 1].map(|component| key(guest(at, component), at))),
                })),
            };
            TrioParty { setting, me, place }
        };
        let parties = (0..count).map(party).collect();
        Model {
            run: LockStep::new(parties),
            drawn,
            inputs: Vec::new(),
            knows: vec![Vec::new(); count],
            lacks: vec![Vec::new(); count],
            learnt: vec![Vec::new(); count],
            missed: vec![Vec::new(); count],
        }
    }

    /// A shared input in every sharing. All parties lack the values; a party with a role knows its
    /// components, from which and the value the other one follows.
    pub(crate) fn shared(&mut self, form: Form) -> Shared {
        let below = 1 << form.row_bits();
        let components = [0, 1, 2].map(|component| {
            let mut words = form.zeros();
            let mut drawn = locked(&self.drawn);
            for word in words.data_mut() {
                *word = drawn
                    .choices
                    .choose(below, &[component, (component + 2) % 3]);
            }
            words
        });
        let component = |at: usize| form.sum([components[at % 3].data()]);
        let parts = (0..self.run.parties.len()).map(|at| match at {
            0..3 => form.share([component(at), component(at + 1)]),
            _ => form.shape(),
        });
        let shared = self.gathered(parts.map(Arc::new).collect(), form);
        self.inputs.extend(&shared.value);
        for (party, part) in shared.parts.iter().enumerate() {
            let words = part.components().into_iter().flatten().flatten();
            self.knows[party].extend(words);
            self.lacks[party].extend(&shared.value);
        }
        shared
    }

    /// An input that one party knows, in every value: words below a number.
    pub(crate) fn private(&mut self, owner: usize, below: u64, words: usize) -> Vec<u64> {
        let draw = |_| locked(&self.drawn).choices.choose(below, &[owner]);
        let values = (0..words).map(draw).collect::<Vec<_>>();
        self.inputs.extend(&values);
        for party in 0..self.run.parties.len() {
            let of = if party == owner {
                &mut self.knows
            } else {
                &mut self.lacks
            };
            of[party].extend(&values);
        }
        values
    }

    /// Inputs below a number, of which no party knows anything, unless that is stated.
    pub(crate) fn hidden(&mut self, below: u64, words: usize) -> Vec<u64> {
        let draw = |_| locked(&self.drawn).choices.choose(below, &[]);
        let values = (0..words).map(draw).collect::<Vec<_>>();
        self.inputs.extend(&values);
        let all = self.lacks.iter_mut();
        all.for_each(|lacks| lacks.extend(&values));
        values
    }

    /// States that a party knows a function of inputs.
    pub(crate) fn knows(&mut self, party: usize, values: &[u64]) {
        self.knows[party].extend(values);
    }

    /// States that a party learns results.
    pub(crate) fn learns(&mut self, party: usize, values: &[u64]) {
        self.learnt[party].extend(values);
    }

    /// States that a party must not learn these results.
    pub(crate) fn misses(&mut self, party: usize, values: &[u64]) {
        self.missed[party].extend(values);
    }

    /// States that a party holds these words of a result.
    pub(crate) fn holds(&mut self, party: usize, words: &[u64]) {
        let seen = &mut locked(&self.drawn).seen[party];
        seen.extend(words.iter().map(|word| *word as u8));
    }

    /// Runs a step at all parties.
    pub(crate) fn step<'a>(
        &mut self,
        step: impl Fn(usize) -> Step<'a, TrioParty>,
    ) -> Vec<Outcome<TrioParty>> {
        self.run.step(step)
    }

    /// Runs a step that makes a tensor of this form.
    pub(crate) fn made<'a>(
        &mut self,
        form: Form,
        step: impl Fn(usize) -> Step<'a, TrioParty>,
    ) -> Shared {
        let shares = self.step(step).into_iter().map(|outcome| match outcome {
            Outcome::Share(share, ..) => Arc::new(share),
            _ => panic!("a share was due"),
        });
        let shares = shares.collect();
        self.gathered(shares, form)
    }

    /// Runs a part of a step at the parties with roles: `begin` at each, then `advance` until there
    /// is a result.
    pub(crate) fn inside<S, R>(
        &mut self,
        begin: impl Fn(&mut Computing, &mut Mesh) -> Result<S>,
        advance: impl Fn(&mut Computing, S, &mut Mesh) -> Result<Result<R, S>>,
    ) -> [R; 3] {
        let (parties, meshes) = (&mut self.run.parties, &mut self.run.meshes);
        let mut states = [0, 1, 2].map(|at| {
            let begun = begin(computing(&mut parties[at]), &mut meshes[at]).unwrap();
            meshes[at].flush().unwrap();
            begun
        });
        loop {
            let (mut done, mut left) = (Vec::new(), Vec::new());
            for (at, state) in states.into_iter().enumerate() {
                let mesh = &mut meshes[at];
                match advance(computing(&mut parties[at]), state, mesh).unwrap() {
                    Ok(result) => done.push(result),
                    Err(state) => left.push(state),
                }
                mesh.flush().unwrap();
            }
            if let Ok(done) = <[R; 3]>::try_from(done) {
                return done;
            }
            let all = <[S; 3]>::try_from(left).ok();
            states = all.expect("all parties take as many flights");
        }
    }

    /// The tensor whose parts these are. Both holders of a component have to agree.
    pub(crate) fn gathered(&self, parts: Vec<Arc<Share>>, form: Form) -> Shared {
        let words = |role: usize, place: usize| match parts[role % 3].components() {
            Some(components) => components[place],
            None => panic!("a party with a role holds components"),
        };
        let sum = form.sum([0, 1, 2].map(|component| {
            let own = words(component, 0);
            assert_eq!(own, words(component + 2, 1), "component {component}");
            own
        }));
        let value = match form.ring_bits() {
            Some(_) => sum.data().to_vec(),
            None => {
                let lanes = form.elements();
                let planes = sum.data().iter();
                let bits = planes.flat_map(|word| (0..lanes).map(move |lane| word >> lane & 1));
                bits.collect()
            }
        };
        Shared { parts, value }
    }

    /// Returns all that a party has seen in this run.
    pub(super) fn view(&self, party: usize, fault: Option<InjectedFault>) -> Vec<u8> {
        let mut view = locked(&self.drawn).seen[party].clone();
        let misrouted = match fault {
            Some(InjectedFault::Misrouted(link)) => Some(link),
            _ => None,
        };
        view.extend(self.run.received(party, misrouted));
        view
    }

    /// Forgets the run.
    pub(super) fn clear(&mut self) {
        self.inputs.clear();
        let known = self.knows.iter_mut().chain(&mut self.lacks);
        let kept = known.chain(&mut self.learnt).chain(&mut self.missed);
        kept.for_each(Vec::clear);
        self.run.clear();
    }
}

fn computing(party: &mut TrioParty) -> &mut Computing {
    match &mut party.place {
        Membership::Role(computing) => computing,
        Membership::Outside(_) => panic!("a party without a role"),
    }
}

/// A test runs steps, and returns the results that stay shared.
pub(crate) type TestedSteps = fn(&mut Model) -> Vec<Shared>;

impl Model {
    /// Number of choices if all that a party knows is given.
    pub(super) fn choices(&mut self, run: TestedSteps, party: usize) -> u64 {
        locked(&self.drawn).choices.given = Some((party, 0));
        run(self);
        self.clear();
        let drawn = &mut locked(&self.drawn);
        let choices = drawn.choices.path.iter().map(|(below, _)| below).product();
        drawn.choices.path.clear();
        drawn.step();
        choices
    }

    /// Every fault that can be put into a run such as those before: of each stream that was drawn
    /// from, and of each link that carried something.
    pub(crate) fn faults(&mut self, run: TestedSteps) -> Vec<InjectedFault> {
        run(self);
        let mut faults = BTreeSet::new();
        for source in &locked(&self.drawn).sources {
            if source.most > 0 {
                faults.insert(InjectedFault::Zero(source.name));
            }
            if source.most > 1 && source.below.len() == 1 {
                faults.insert(InjectedFault::Again(source.name));
            }
        }
        for (from, to) in self.run.used() {
            // A party without a role holds nothing that one message could complete.
            let others = (0..3).filter(|at| *at != from && *at != to);
            faults.extend(others.map(|at| InjectedFault::Misrouted([from, to, at])));
        }
        self.clear();
        faults.into_iter().collect()
    }
}
