//! All steps of every protocol, without the engine that calls them in a run: inputs and all random
//! choices are secret at each party, what crosses between parties and what is revealed is public.

use crate::Check;
use crate::crossing::meshes;
use crate::kernels::secret_coins;
use crate::request::secret;
use sealane_block::Cpu;
use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile_known};
use sealane_clear::Clear;
use sealane_net::Mesh;
use sealane_protocol::{
    Algebra, Demand, Domain, Outcome, PartyId, PartySet, Protocol, Setting, Step, Work, run_alone,
};
use sealane_trio::Trio;
use sealane_yao::{ThreeHalves, Yao};
use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("yao: all steps", session::<Yao>),
    ("yao-three-halves: all steps", session::<Yao<ThreeHalves>>),
    ("trio: all steps", session::<Trio>),
    ("clear: what a party computes alone", session::<Clear>),
];

/// Elements of each input.
const LANES: usize = 21;
/// Bits of each element.
const BITS: usize = 8;

/// Every role on a thread of its own. Where inputs may come from others, one party more owns one;
/// where there are no roles, there is one party.
fn session<P: Protocol>(cpu: Cpu) {
    let profile = P::profile();
    let roles = profile.roles.len();
    let parties = (roles + usize::from(profile.outsiders)).max(1);
    let setting = Setting {
        parties,
        roles: (0..roles).map(PartyId::from_index).collect(),
    };
    let tape = tape(profile.goal);
    thread::scope(|threads| {
        for mesh in meshes(parties) {
            let (setting, tape) = (&setting, &tape);
            threads.spawn(move || {
                let party = P::start(setting, mesh.me(), cpu, secret_coins());
                Side {
                    party,
                    mesh,
                    parties,
                }
                .run(setting, tape);
            });
        }
    });
}

/// A comparison, a product and a choice of bytes: ANDs at many depths.
fn tape(goal: Goal) -> Tape {
    let mut b = Builder::for_goal(goal);
    let (x, y) = (b.input(BITS), b.input(BITS));
    let (left, right) = (Int::unsigned(&x), Int::unsigned(&y));
    let less = b.lt(left, right);
    let product = b.mul(left, right, BITS);
    let chosen = b.select(less, &product, &x);
    let known = [[1; BITS], [2; BITS]].concat();
    compile_known(&b.finish(vec![chosen, vec![less]]), &Machine::CPU, &known)
}

/// One party of a session.
struct Side<P: Protocol> {
    party: P,
    mesh: Mesh,
    parties: usize,
}

impl<P: Protocol> Side<P> {
    /// Inputs of every party, a tape, arithmetic where there is some, and a reveal to all.
    fn run(mut self, setting: &Setting, tape: &Tape) {
        let bits = P::domain(Algebra::Z2);
        // A party that is alone owns both operands.
        let owners = (0..self.parties.max(2)).map(|i| PartyId::from_index(i % self.parties));
        let owners = owners.collect::<Vec<_>>();
        let mut demand = Demand::default();
        for owner in &owners {
            let domain = P::input_domain(Algebra::Z2);
            let (owner, elements, bits) = (*owner, LANES as u64, BITS as u64);
            let work = Work::Input {
                owner,
                domain,
                elements,
                bits,
            };
            demand.merge(&P::demand(setting, &work));
        }
        self.party
            .prepare(&demand, &mut self.mesh)
            .expect("all parties are honest");
        let inputs = owners.iter().map(|owner| {
            let domain = P::input_domain(Algebra::Z2);
            let share = self.input(*owner, domain);
            self.convert(share, domain, bits)
        });
        let inputs = inputs.collect::<Vec<_>>();
        let mut results = Vec::new();
        for pair in inputs.windows(2) {
            let operands = pair.to_vec();
            let step = Step::Tape {
                tape,
                lanes: LANES,
                operands,
            };
            results.push((self.share(step), bits));
        }
        if P::profile().arithmetic {
            let ring = P::domain(Algebra::Z2k(40));
            let left = self.convert(inputs[0].clone(), bits, ring);
            let right = self.convert(inputs[1].clone(), bits, ring);
            let product = self.share(Step::Product {
                domain: ring,
                left,
                right,
            });
            results.push((self.convert(product, ring, bits), bits));
        }
        let all = PartySet::of(owners);
        let results = results
            .into_iter()
            .map(|(share, domain)| (share, domain, all));
        let step = Step::Reveal {
            results: results.collect(),
            checks: vec![],
        };
        let Ok(Outcome::Revealed(revealed)) = run_alone(&mut self.party, &mut self.mesh, step)
        else {
            panic!("results are due");
        };
        black_box(revealed);
        self.mesh.finish().expect("all parties are honest");
    }

    fn input(&mut self, owner: PartyId, domain: Domain) -> Arc<P::Share> {
        let bits = (owner == self.mesh.me()).then(|| {
            let bits = (0..LANES * BITS).map(|i| u8::from(i % 3 == 0));
            let mut bits = Zeroizing::new(bits.collect::<Vec<_>>());
            secret(&mut bits);
            bits
        });
        let (elements, planes) = (LANES, BITS);
        self.share(Step::Input {
            owner,
            domain,
            elements,
            planes,
            bits,
        })
    }

    fn convert(&mut self, share: Arc<P::Share>, from: Domain, to: Domain) -> Arc<P::Share> {
        let (bits, signed) = (BITS, false);
        match from == to {
            true => share,
            false => self.share(Step::Convert {
                from,
                to,
                bits,
                signed,
                share,
            }),
        }
    }

    fn share(&mut self, step: Step<'_, P>) -> Arc<P::Share> {
        match run_alone(&mut self.party, &mut self.mesh, step) {
            Ok(Outcome::Share(share, _)) => Arc::new(share),
            _ => panic!("a share is due"),
        }
    }
}
