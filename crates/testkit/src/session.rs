//! Session of a protocol that runs every kind of its steps: inputs of every party, a tape,
//! arithmetic where there is some, and a reveal to all. It runs without the engine, which would
//! choose the steps by a program.

use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile_known};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_parties::PartySet;
use sealane_protocol::{
    Algebra, Demand, Domain, Outcome, Protocol, Setting, Step, StepShape, known_to, run_alone,
};
use std::sync::Arc;
use std::thread;
use zeroize::Zeroizing;

/// The size of each input.
#[derive(Clone, Copy)]
pub struct Session {
    /// Elements.
    pub lanes: usize,
    /// Bits of an element.
    pub bits: usize,
}

/// Results of a party: the bits of each result.
pub type Revealed = Vec<Option<Zeroizing<Vec<u8>>>>;

impl Session {
    /// Number of parties: every role, and one party more if parties without roles may own inputs;
    /// one party, if there are no roles.
    pub fn parties<P: Protocol>() -> usize {
        let profile = P::profile();
        (profile.roles.len() + usize::from(profile.outsiders)).max(1)
    }

    /// Runs every party on a thread of its own: `start` makes it, `input` returns the bits of its
    /// input, and `end` maps its mesh and results to the returned value, in the order of parties.
    pub fn run<P: Protocol, T: Send>(
        self,
        meshes: Vec<Mesh>,
        start: impl Fn(&Setting, &mut Mesh) -> P + Sync,
        input: impl Fn(PartyId) -> Zeroizing<Vec<u8>> + Sync,
        end: impl Fn(Mesh, Revealed) -> T + Sync,
    ) -> Vec<T> {
        let profile = P::profile();
        let setting = Setting {
            parties: meshes.len(),
            roles: (0..profile.roles.len()).map(PartyId::from_index).collect(),
        };
        let tape = self.tape(profile.goal);
        let party = |mut mesh: Mesh| {
            let mut side = Side {
                session: self,
                party: start(&setting, &mut mesh),
                mesh,
                input: &input,
            };
            let revealed = side.run(&setting, &tape);
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

    /// Builds a comparison, a product and a choice: ANDs at many depths. Each of the two inputs is
    /// known to a party.
    fn tape(self, goal: Goal) -> Tape {
        let bits = self.bits;
        let mut b = Builder::for_goal(goal);
        let (x, y) = (b.input(bits), b.input(bits));
        let (left, right) = (Int::unsigned(&x), Int::unsigned(&y));
        let less = b.lt(left, right);
        let product = b.mul(left, right, bits);
        let chosen = b.select(less, &product, &x);
        let known = [0, 1].map(|party| vec![known_to(PartyId(party)); bits]);
        let known = known.concat();
        compile_known(&b.finish(vec![chosen, vec![less]]), &Machine::CPU, &known)
    }
}

/// One party of a session.
struct Side<'a, P: Protocol, I> {
    session: Session,
    party: P,
    mesh: Mesh,
    input: &'a I,
}

impl<P: Protocol, I: Fn(PartyId) -> Zeroizing<Vec<u8>>> Side<'_, P, I> {
    fn run(&mut self, setting: &Setting, tape: &Tape) -> Revealed {
        let (lanes, bits) = (self.session.lanes, P::domain(Algebra::Z2));
        // A single party owns both operands.
        let owners = (0..setting.parties.max(2)).map(|at| at % setting.parties);
        let owners = owners.map(PartyId::from_index).collect::<Vec<_>>();
        let mut demand = Demand::default();
        for owner in owners.iter().copied() {
            let work = StepShape::Input {
                owner,
                domain: P::input_domain(Algebra::Z2),
                elements: lanes as u64,
                bits: self.session.bits as u64,
            };
            demand.merge(&P::demand(setting, &work));
        }
        let prepared = self.party.prepare(&demand, &mut self.mesh);
        prepared.expect("all parties are honest");
        let inputs = owners.iter().map(|owner| {
            let domain = P::input_domain(Algebra::Z2);
            let share = self.give(*owner, domain);
            self.convert(share, domain, bits)
        });
        let inputs = inputs.collect::<Vec<_>>();
        let mut results = Vec::new();
        for pair in inputs.windows(2) {
            let operands = pair.to_vec();
            results.push(self.share(Step::Tape {
                tape,
                lanes,
                operands,
            }));
        }
        if P::profile().arithmetic {
            let domain = P::domain(Algebra::Z2k(40));
            let left = self.convert(inputs[0].clone(), bits, domain);
            let right = self.convert(inputs[1].clone(), bits, domain);
            let product = self.share(Step::Product {
                domain,
                left,
                right,
            });
            results.push(self.convert(product, domain, bits));
        }
        let all = PartySet::of(owners);
        let results = results.into_iter().map(|share| (share, bits, all));
        let step = Step::Reveal {
            results: results.collect(),
            checks: vec![],
        };
        match run_alone(&mut self.party, &mut self.mesh, step) {
            Ok(Outcome::Revealed(revealed)) => revealed,
            _ => panic!("results are due"),
        }
    }

    fn give(&mut self, owner: PartyId, domain: Domain) -> Arc<P::Share> {
        let bits = (owner == self.mesh.me()).then(|| (self.input)(owner));
        self.share(Step::Input {
            owner,
            domain,
            elements: self.session.lanes,
            planes: self.session.bits,
            bits,
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
        match run_alone(&mut self.party, &mut self.mesh, step) {
            Ok(Outcome::Share(share, _)) => Arc::new(share),
            _ => panic!("a share is due"),
        }
    }
}
