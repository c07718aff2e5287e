//! All parties of a run in lock step, with all that each receives.

use super::DRAWS;
use super::dealer::{Drawn, Ideal, InjectedFault, Source};
use crate::goods::Goods;
use crate::outside::{Outside, Stream};
use crate::role::Computing;
use crate::{Gmw, GmwParty, Membership, Share};
use sealane_block::{Cpu, Erased, Prg};
use sealane_parties::PartyId;
use sealane_party::{Form, Outcome, Step};
use sealane_protocol::{Correlation, Protocol, Setting};
use sealane_testkit::exact::{Counts, LockStep, alike, locked};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A tensor as all parties hold it.
pub(super) struct Shared {
    pub(super) parts: Vec<Arc<Share>>,
    /// The elements, as words.
    pub(super) value: Vec<u64>,
}

/// A test runs steps.
pub(super) type TestedSteps = fn(&mut Model);

pub(super) struct Model {
    run: LockStep<GmwParty>,
    setting: Setting,
    drawn: Arc<Mutex<Drawn>>,
    /// By party, what the others hold and it does not, and what it learns.
    lacks: Vec<Vec<u64>>,
    learnt: Vec<Vec<u64>>,
    /// True as long as all results are.
    pub(super) right: bool,
}

impl Model {
    /// Roles 0 and 1 are parties 1 and 0.
    pub(super) fn new(outsiders: usize) -> Model {
        let count = 2 + outsiders;
        let setting = Setting {
            roles: [1, 0].map(|party| vec![PartyId(party)]).to_vec(),
            ..Setting::in_order(&Gmw::profile(), count)
        };
        let drawn = Arc::new(Mutex::new(Drawn::default()));
        let cpu = Cpu::detect().unwrap();
        let [first, second] = [0, 1].map(|role| setting.player(role).index());
        let stream = |source, other: usize, party| {
            let mut stream = Stream::from(Prg::danger_fixed(cpu, 0));
            stream.ideal = Some(Ideal {
                drawn: drawn.clone(),
                source: (source, [first, other]),
                party,
            });
            stream
        };
        let party = |at: usize| {
            let (me, setting) = (PartyId::from_index(at), setting.clone());
            let place = match setting.role_of(me) {
                Some(role) => {
                    let guests = (2..count).filter(|_| role == 0);
                    let guests = guests.map(|owner| {
                        let shares = stream(Source::Guest(owner), owner, at);
                        (PartyId::from_index(owner), shares)
                    });
                    Membership::Role(Erased::new(Computing {
                        me,
                        peer: setting.player(1 - role),
                        role,
                        goods: Goods::given(&setting, me),
                        side: None,
                        guests: guests.collect(),
                        common: Some(stream(Source::Common, second, at)),
                        setting: setting.clone(),
                    }))
                }
                None => Membership::Outside(Erased::new(Outside {
                    setting: setting.clone(),
                    me,
                    shares: Some(stream(Source::Guest(at), at, at)),
                })),
            };
            GmwParty { setting, me, place }
        };
        let parties = (0..count).map(party).collect();
        Model {
            run: LockStep::new(parties),
            setting,
            drawn,
            lacks: vec![Vec::new(); count],
            learnt: vec![Vec::new(); count],
            right: true,
        }
    }

    /// The party of a role.
    pub(super) fn player(&self, role: usize) -> usize {
        self.setting.player(role).index()
    }

    /// Words that one party knows, in every value.
    pub(super) fn private(&mut self, owner: usize, bits: usize, count: usize) -> Vec<u64> {
        let draw = |_| locked(&self.drawn).choices.choose(1 << bits, &[owner]);
        let values = (0..count).map(draw).collect::<Vec<_>>();
        let others = self.lacks.iter_mut().enumerate();
        let others = others.filter(|(party, _)| *party != owner);
        others.for_each(|(_, lacks)| lacks.extend(&values));
        values
    }

    /// A tensor of one plane or one lane in every sharing.
    pub(super) fn shared(&mut self, form: Form) -> Shared {
        let parts = [0, 1].map(|role| {
            let mut words = form.zeros();
            let count = words.data().len();
            let drawn = self.private(self.player(role), form.row_bits(), count);
            words.data_mut().copy_from_slice(&drawn);
            words
        });
        let part = |at: usize| match self.setting.role_of(PartyId::from_index(at)) {
            Some(role) => form.share([form.sum([parts[role].data()])]),
            None => form.shape(),
        };
        let parts = (0..self.run.parties.len())
            .map(|at| Arc::new(part(at)))
            .collect();
        self.gathered(parts, form)
    }

    /// The tensor whose parts these are.
    fn gathered(&self, parts: Vec<Arc<Share>>, form: Form) -> Shared {
        let of_roles = [0, 1].map(|role| form.parts(&parts[self.player(role)]).unwrap());
        let sum = form.sum(of_roles.into_iter().flatten().flatten());
        let value = form.decode(sum.data()).unwrap().to_vec();
        Shared { parts, value }
    }

    /// Runs a step at all parties, with the correlations that it takes.
    pub(super) fn step<'a>(
        &mut self,
        step: impl Fn(usize) -> Step<'a, GmwParty>,
    ) -> Vec<Outcome<GmwParty>> {
        let demand = Gmw::demand(&self.setting, &step(0).shape());
        for (kind, count) in demand.0 {
            if matches!(kind, Correlation::Cot { .. } | Correlation::Seed { .. }) {
                continue;
            }
            let count = count as usize;
            let dealt = locked(&self.drawn).deal(&self.setting, kind, count);
            for (role, dealt) in dealt.into_iter().enumerate() {
                let at = self.player(role);
                self.goods(at).give(kind, count, dealt);
            }
        }
        self.run.step(step)
    }

    /// Runs a step that makes a tensor of this form, whose elements should be these.
    pub(super) fn made<'a>(
        &mut self,
        form: Form,
        want: &[u64],
        step: impl Fn(usize) -> Step<'a, GmwParty>,
    ) -> Shared {
        let shares = self.step(step).into_iter().map(|outcome| match outcome {
            Outcome::Share(share, ..) => Arc::new(share),
            _ => panic!("a share was due"),
        });
        let shares = shares.collect();
        let made = self.gathered(shares, form);
        self.right &= made.value == want;
        made
    }

    /// States that a party learns results.
    pub(super) fn learns(&mut self, party: usize, values: &[u64]) {
        self.learnt[party].extend(values);
    }

    fn goods(&mut self, at: usize) -> &mut Goods {
        match &mut self.run.parties[at].place {
            Membership::Role(computing) => &mut computing.goods,
            Membership::Outside(_) => panic!("a party without a role"),
        }
    }

    /// Forgets the run.
    fn clear(&mut self) {
        let kept = self.lacks.iter_mut().chain(&mut self.learnt);
        kept.for_each(Vec::clear);
        self.run.clear();
        for role in [0, 1] {
            let at = self.player(role);
            assert!(self.goods(at).is_empty(), "a correlation is not taken");
        }
    }

    /// A party whose view depends on what the others hold, if there is one.
    pub(super) fn leak(&mut self, run: TestedSteps, fault: Option<InjectedFault>) -> Option<usize> {
        let draws =
            (0..DRAWS).flat_map(|draw| (0..self.run.parties.len()).map(move |at| (at, draw)));
        let mut cases = draws.collect::<Vec<_>>().into_iter();
        let misrouted = match fault {
            Some(InjectedFault::Misrouted(link)) => Some(link),
            _ => None,
        };
        let leaks = |(party, draw): &(usize, u64)| {
            {
                let mut drawn = locked(&self.drawn);
                (drawn.choices.given, drawn.fault) = (Some((*party, *draw)), fault);
            }
            // By what is learnt and what is not: counts of what is received.
            let mut views = BTreeMap::<Vec<u64>, BTreeMap<Vec<u64>, Counts<Vec<u8>>>>::new();
            loop {
                run(self);
                let view = self.run.received(*party, misrouted);
                let alike = views.entry(self.learnt[*party].clone()).or_default();
                let counts = alike.entry(self.lacks[*party].clone()).or_default();
                *counts.entry(view).or_default() += 1;
                self.clear();
                if !locked(&self.drawn).step() {
                    break;
                }
            }
            let depends = |of: &BTreeMap<_, Counts<Vec<u8>>>| {
                let mut all = of.values();
                let first = all.next();
                first.is_some_and(|first| all.any(|other| !alike(first, other)))
            };
            views.values().any(depends)
        };
        cases.find(leaks).map(|(party, _)| party)
    }

    /// Every fault that can be put into these steps: of each source that is drawn from, and of each
    /// link that carries something.
    pub(super) fn faults(&mut self, run: TestedSteps) -> Vec<InjectedFault> {
        run(self);
        let mut faults = Vec::new();
        for (source, count) in &locked(&self.drawn).counts {
            faults.push(InjectedFault::Zero(*source));
            if *count > 1 {
                faults.push(InjectedFault::Again(*source));
            }
        }
        for (from, to) in self.run.used() {
            let others = (0..self.run.parties.len()).filter(|at| *at != from && *at != to);
            faults.extend(others.map(|at| InjectedFault::Misrouted([from, to, at])));
        }
        self.clear();
        let mut drawn = locked(&self.drawn);
        drawn.choices.path.clear();
        drawn.step();
        faults
    }
}
