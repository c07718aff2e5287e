//! All steps of every protocol, without the engine that calls them in a run: inputs and all random
//! choices are secret at each party, what crosses between parties and what is revealed is public.

use crate::Check;
use crate::kernels::secret_coins;
use crate::request::{public, secret};
use sealane_block::Cpu;
use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile};
use sealane_net::{
    Bell, Farewell, Frame, Limits, LinkError, Mesh, Traffic, Transport, memory_pair,
};
use sealane_protocol::{
    Algebra, Demand, Domain, Outcome, PartyId, PartySet, Protocol, Setting, Step, Work, run_alone,
};
use sealane_trio::Trio;
use sealane_yao::{ThreeHalves, Yao};
use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::Instant;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("yao: all steps", session::<Yao>),
    ("yao-three-halves: all steps", session::<Yao<ThreeHalves>>),
    ("trio: all steps", session::<Trio>),
];

/// Elements of each input.
const LANES: usize = 21;
/// Bits of each element.
const BITS: usize = 8;

/// Every role on a thread of its own. Where inputs may come from others, one party more owns one.
fn session<P: Protocol>(cpu: Cpu) {
    let profile = P::profile();
    let roles = profile.roles.len();
    let parties = roles + usize::from(profile.outsiders);
    let setting = Setting {
        parties,
        roles: (0..roles).map(PartyId::from_index).collect(),
    };
    let tape = tape(profile.goal);
    thread::scope(|threads| {
        for mesh in meshes(parties) {
            let (setting, tape) = (&setting, &tape);
            threads.spawn(move || {
                let party = P::start(setting, mesh.me(), cpu, secret_coins(cpu));
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
    compile(&b.finish(vec![chosen, vec![less]]), &Machine::CPU)
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
        let owners = (0..self.parties)
            .map(PartyId::from_index)
            .collect::<Vec<_>>();
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

/// A full mesh in memory that declares public what crosses it.
fn meshes(parties: usize) -> Vec<Mesh> {
    let limits = Limits::default();
    let mut links = (0..parties)
        .map(|_| {
            (0..parties)
                .map(|_| None)
                .collect::<Vec<Option<Box<dyn Transport>>>>()
        })
        .collect::<Vec<_>>();
    let pairs = (0..parties).flat_map(|one| (0..one).map(move |other| (one, other)));
    for (one, other) in pairs {
        let (near, far) = memory_pair(&limits);
        links[one][other] = Some(Box::new(Crossing(near)));
        links[other][one] = Some(Box::new(Crossing(far)));
    }
    let mesh = |(me, links)| Mesh::from_transports(PartyId::from_index(me), links, limits);
    let meshes = links.into_iter().enumerate().map(mesh);
    meshes
        .collect::<Result<_, _>>()
        .expect("a link to each other party")
}

/// A transport that declares public what is sent: it is what the peer may see.
struct Crossing<T>(T);

impl<T: Transport> Transport for Crossing<T> {
    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        public(&frame.payload);
        self.0.try_send(frame)
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        self.0.try_recv()
    }

    fn due(&self) -> Option<Instant> {
        self.0.due()
    }

    fn take_in(&mut self, at_most: usize) -> usize {
        self.0.take_in(at_most)
    }

    fn backlog_bytes(&self) -> usize {
        self.0.backlog_bytes()
    }

    fn end(&self) -> Option<LinkError> {
        self.0.end()
    }

    fn call(&mut self, bell: &Bell) {
        self.0.call(bell);
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
        self.0.shutdown(farewell);
    }

    fn wire(&self) -> Traffic {
        self.0.wire()
    }
}
