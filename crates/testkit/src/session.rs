//! Session of a protocol that runs every kind of its steps: inputs of every party, a tape,
//! arithmetic where there is some, and a reveal to all. It runs without the engine, which would
//! choose the steps by a program.

use sealane_block::{Coins, Cpu};
use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile_known};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Opened, Outcome, Party, Selected, Start, Step, Stock, Words, run_alone};
use sealane_protocol::{Algebra, Demand, Domain, Protocol, Setting, StepShape, TapeUse, known_to};
use std::sync::Arc;
use std::thread;

/// The size of each input.
#[derive(Clone, Copy)]
pub struct Session {
    /// Elements.
    pub lanes: usize,
    /// Bits of an element.
    pub bits: usize,
}

/// The beginning of a party.
pub struct Given {
    /// Its tier.
    pub cpu: Cpu,
    /// Its randomness.
    pub coins: Coins,
    /// Random OTs of a pool, if it takes any.
    pub stock: Option<Box<dyn Stock>>,
}

/// Results of a party: the values of each result.
pub type Revealed = Vec<Option<Words>>;

impl Session {
    /// Number of parties: every role, and one party more if parties without roles may own inputs;
    /// one party, if there are no roles.
    pub fn parties<P: Protocol>() -> usize {
        let profile = P::profile();
        (profile.roles.len() + usize::from(profile.outsiders)).max(1)
    }

    /// Runs every party on a thread of its own: `given` returns what it begins with, `input` the
    /// values of its input, and `end` maps its mesh and results to the returned value, in the order
    /// of parties.
    pub fn run<P: Party, T: Send>(
        self,
        meshes: Vec<Mesh>,
        given: impl Fn(&Mesh) -> Given + Sync,
        input: impl Fn(PartyId) -> Words + Sync,
        end: impl Fn(Mesh, Revealed) -> T + Sync,
    ) -> Vec<T> {
        let setting = Setting::in_order(&P::Protocol::profile(), meshes.len());
        let bits = P::Protocol::tape_domain(TapeUse::Map);
        let goal = P::Protocol::domain_profile(bits, setting.parties).goal;
        let owners = owners(&setting);
        let pairs = owners.windows(2);
        let tapes = pairs.map(|pair| self.tape(goal, pair)).collect::<Vec<_>>();
        let demand = self.demand::<P::Protocol>(&setting, &owners);
        let party = |mut mesh: Mesh| {
            let Given { cpu, coins, stock } = given(&mesh);
            let start = Start {
                setting: &setting,
                me: mesh.me(),
                session: mesh.session(),
                cpu,
                coins,
                stock,
            };
            let party = P::set_up(start, &demand, &mut mesh);
            let mut side = Side {
                session: self,
                party: party.expect("all parties are honest"),
                mesh,
                input: &input,
            };
            let revealed = side.run(&owners, &tapes);
            end(side.mesh, revealed)
        };
        thread::scope(|threads| {
            let threads = meshes
                .into_iter()
                .map(|mesh| threads.spawn(|| party(mesh)))
                .collect::<Vec<_>>();
            let ended = threads.into_iter().map(|party| party.join());
            ended.map(|party| party.expect("no party panics")).collect()
        })
    }

    /// Correlations of all inputs.
    fn demand<P: Protocol>(self, setting: &Setting, owners: &[PartyId]) -> Demand {
        let mut demand = Demand::default();
        for owner in owners.iter().copied() {
            let work = StepShape::Input {
                owner,
                domain: P::input_domain(Algebra::Z2),
                elements: self.lanes as u64,
                bits: self.bits as u64,
            };
            demand.merge(&P::demand(setting, &work), 1);
        }
        demand
    }

    /// Builds a comparison, a product and a choice: ANDs at many depths. Each of the two inputs is
    /// known to its owner.
    fn tape(self, goal: Goal, owners: &[PartyId]) -> Tape {
        let bits = self.bits;
        let mut b = Builder::for_goal(goal);
        let (x, y) = (b.input(bits), b.input(bits));
        let (left, right) = (Int::unsigned(&x), Int::unsigned(&y));
        let less = b.lt(left, right);
        let product = b.mul(left, right, bits);
        let chosen = b.select(less, &product, &x);
        let known = owners.iter().map(|owner| vec![known_to(*owner); bits]);
        let known = known.collect::<Vec<_>>().concat();
        compile_known(&b.finish(vec![chosen, vec![less]]), &Machine::CPU, &known)
    }
}

/// Owners of the inputs: every party once; a single party owns both operands.
fn owners(setting: &Setting) -> Vec<PartyId> {
    let owners = (0..setting.parties.max(2)).map(|at| at % setting.parties);
    owners.map(PartyId::from_index).collect()
}

/// One party of a session.
struct Side<'a, P: Party, I> {
    session: Session,
    party: P,
    mesh: Mesh,
    input: &'a I,
}

impl<P: Party, I: Fn(PartyId) -> Words> Side<'_, P, I> {
    fn run(&mut self, owners: &[PartyId], tapes: &[Tape]) -> Revealed {
        let lanes = self.session.lanes;
        let bits = P::Protocol::domain(Algebra::Z2);
        let inputs = owners.iter().map(|owner| {
            let domain = P::Protocol::input_domain(Algebra::Z2);
            let share = self.give(*owner, domain);
            self.convert(share, domain, bits)
        });
        let inputs = inputs.collect::<Vec<_>>();
        let mut results = Vec::new();
        for (pair, tape) in inputs.windows(2).zip(tapes) {
            let operands = pair.to_vec();
            results.push(self.share(Step::Tape {
                tape,
                domain: bits,
                lanes,
                operands,
            }));
        }
        if P::Protocol::profile().arithmetic {
            let domain = P::Protocol::domain(Algebra::Z2k(40));
            let left = self.convert(inputs[0].clone(), bits, domain);
            let right = self.convert(inputs[1].clone(), bits, domain);
            let product = self.share(Step::Product {
                domain,
                left: Selected::whole(left),
                right: Selected::whole(right),
            });
            results.push(self.convert(product, domain, bits));
        }
        let all = PartySet::of(owners.iter().copied());
        let results = results.into_iter().map(|share| Opened {
            share,
            domain: bits,
            to: all,
        });
        let results = results.collect();
        let settle = Step::Settle { checks: vec![] };
        let settled = run_alone(&mut self.party, &mut self.mesh, settle, None);
        assert!(matches!(settled, Ok(Outcome::Settled(_))), "digests agree");
        match run_alone(
            &mut self.party,
            &mut self.mesh,
            Step::Open { results },
            None,
        ) {
            Ok(Outcome::Opened(values, ())) => values,
            _ => panic!("results are due"),
        }
    }

    fn give(&mut self, owner: PartyId, domain: Domain) -> Arc<P::Share> {
        let values = (owner == self.mesh.me()).then(|| (self.input)(owner));
        self.share(Step::Input {
            owner,
            domain,
            elements: self.session.lanes,
            bits: self.session.bits,
            values,
        })
    }

    fn convert(&mut self, share: Arc<P::Share>, from: Domain, to: Domain) -> Arc<P::Share> {
        if from == to {
            return share;
        }
        self.share(Step::Convert {
            from,
            to,
            bits: self.session.bits,
            signed: false,
            share,
        })
    }

    fn share(&mut self, step: Step<'_, P>) -> Arc<P::Share> {
        match run_alone(&mut self.party, &mut self.mesh, step, None) {
            Ok(Outcome::Share(share, ..)) => Arc::new(share),
            _ => panic!("a share is due"),
        }
    }
}
