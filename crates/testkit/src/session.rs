//! Session of a protocol that runs every kind of its steps: inputs of every party, a tape,
//! arithmetic where there is some, and a reveal to all. It runs without the engine, which would
//! choose the steps by a program.

use crate::side::{Given, Side, on_threads};
use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile_known};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Opened, Party, Selected, Shares, Step, Words};
use sealane_protocol::{
    Algebra, ConvertShape, Demand, Domain, Protocol, RingOp, Setting, StepShape, known_to,
};
use std::sync::Arc;

/// The size of each input.
#[derive(Clone, Copy)]
pub struct Session {
    /// Elements.
    pub lanes: usize,
    /// Bits of an element.
    pub bits: usize,
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
        let bits = P::Protocol::domain(Algebra::Z2);
        let goal = P::Protocol::domain_profile(bits, setting.parties).goal;
        let owners = owners(&setting);
        let pairs = owners.windows(2);
        let tapes = pairs.map(|pair| self.tape(goal, pair)).collect::<Vec<_>>();
        let demand = self.demand::<P::Protocol>(&setting, &owners, &tapes);
        on_threads(meshes, |mesh| {
            let begun = given(&mesh);
            let side = Side::<P>::set_up(mesh, &setting, &demand, begun);
            let mut steps = Steps {
                session: self,
                setting: &setting,
                side: side.expect("all parties are honest"),
                input: &input,
            };
            let revealed = steps.run(&owners, &tapes);
            end(steps.side.mesh, revealed)
        })
    }

    /// Correlations of all inputs and tapes.
    fn demand<P: Protocol>(self, setting: &Setting, owners: &[PartyId], tapes: &[Tape]) -> Demand {
        let mut demand = Demand::default();
        for tape in tapes {
            let work = StepShape::tape(tape, P::domain(Algebra::Z2), self.lanes as u64);
            demand.merge(&P::demand(setting, &work), 1);
        }
        for domain in others::<P>() {
            let work = StepShape::Convert(ConvertShape {
                from: P::domain(Algebra::Z2),
                to: domain,
                elements: self.lanes as u64,
                bits: self.bits as u64,
                signed: false,
            });
            demand.merge(&P::demand(setting, &work), 1);
        }
        for owner in owners.iter().copied() {
            let domain = P::input_domain(Algebra::Z2);
            let work = StepShape::input(owner, domain, self.lanes as u64, self.bits as u64);
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

/// Domains of tapes but that of bits.
fn others<P: Protocol>() -> impl Iterator<Item = Domain> {
    let bits = P::domain(Algebra::Z2);
    P::tape_domains().into_iter().filter(move |of| *of != bits)
}

/// Owners of the inputs: every party once; a single party owns both operands.
fn owners(setting: &Setting) -> Vec<PartyId> {
    let owners = (0..setting.parties.max(2)).map(|at| at % setting.parties);
    owners.map(PartyId::from_index).collect()
}

/// One party of a session.
struct Steps<'a, P: Party, I> {
    session: Session,
    setting: &'a Setting,
    side: Side<P>,
    input: &'a I,
}

impl<P: Party, I: Fn(PartyId) -> Words> Steps<'_, P, I> {
    fn run(&mut self, owners: &[PartyId], tapes: &[Tape]) -> Revealed {
        let bits = P::Protocol::domain(Algebra::Z2);
        let inputs = owners.iter().map(|owner| {
            let domain = P::Protocol::input_domain(Algebra::Z2);
            let share = self.give(*owner, domain);
            self.convert(share, domain, bits)
        });
        let inputs = inputs.collect::<Vec<_>>();
        let mut results = Vec::new();
        for (pair, tape) in inputs.windows(2).zip(tapes) {
            results.push(self.share(Step::Tape {
                tape,
                domain: bits,
                lanes: self.session.lanes,
                operands: pair.to_vec(),
            }));
        }
        for domain in others::<P::Protocol>() {
            let operands = [0, 1].map(|at| self.convert(inputs[at].clone(), bits, domain));
            let made = self.share(Step::Tape {
                tape: &tapes[0],
                domain,
                lanes: self.session.lanes,
                operands: operands.into(),
            });
            results.push(self.convert(made.clone(), domain, bits));
            let ring = P::Protocol::domain(Algebra::Z2k(40));
            let number = self.convert(made, domain, ring);
            let back = self.convert(number, ring, domain);
            results.push(self.convert(back, domain, bits));
        }
        if P::Protocol::profile().arithmetic {
            let prime = P::Protocol::prime();
            let algebra = if prime { Algebra::Fp } else { Algebra::Z2k(40) };
            let domain = P::Protocol::domain(algebra);
            let left = self.convert(inputs[0].clone(), bits, domain);
            let right = self.convert(inputs[1].clone(), bits, domain);
            let product = self.share(Step::Product {
                domain,
                left: Selected::whole(left),
                right: Selected::whole(right),
            });
            if P::Protocol::ring_steps() {
                let sign = self.ring(
                    RingOp::Extract {
                        first: 39,
                        count: 1,
                    },
                    product.clone(),
                    None,
                );
                let floor = self.ring(RingOp::Floor { by: 3 }, product.clone(), None);
                let chosen = self.ring(RingOp::Select, floor, Some(sign.clone()));
                results.extend([sign, self.convert(chosen, domain, bits)]);
            }
            results.push(self.convert(product, domain, bits));
        }
        let all = PartySet::of(owners.iter().copied());
        let results = results.into_iter().map(|share| Opened {
            share,
            domain: bits,
            to: all,
        });
        let results = results.collect();
        self.side.settle().expect("digests agree");
        self.side.open(results).expect(HONEST)
    }

    fn give(&mut self, owner: PartyId, domain: Domain) -> Arc<P::Share> {
        let values = (owner == self.side.mesh.me()).then(|| (self.input)(owner));
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
        let bits = match from.algebra {
            Algebra::Z2 => share.planes(),
            Algebra::Z2k(_) | Algebra::Gf2k(_) | Algebra::Fp => self.session.bits,
        };
        self.share(Step::Convert {
            from,
            to,
            bits,
            signed: false,
            share,
        })
    }

    fn ring(
        &mut self,
        op: RingOp,
        share: Arc<P::Share>,
        bit: Option<Arc<P::Share>>,
    ) -> Arc<P::Share> {
        self.share(Step::Ring {
            op,
            domain: P::Protocol::domain(Algebra::Z2k(40)),
            bits: 40,
            signed: true,
            bit,
            share,
        })
    }

    /// Runs a step after a refill of what it takes, which a set-up does not make.
    fn share(&mut self, step: Step<'_, P>) -> Arc<P::Share> {
        let demand = P::Protocol::demand(self.setting, &step.shape());
        if !matches!(step, Step::Input { .. }) && !demand.is_empty() {
            let Side { party, mesh } = &mut self.side;
            party.refill(&demand, mesh).expect(HONEST);
            mesh.flush().expect(HONEST);
        }
        self.side.share(step).expect(HONEST)
    }
}

const HONEST: &str = "all parties are honest";
