//! Parties on threads over a mesh in memory, each compared with the costs that the protocol states.
pub mod chi;

use sealane_block::Cpu;
use sealane_circuit::{Builder, Machine, Tape, Wire, compile};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{KeyBit, Opened, Outcome, Progress, Selected, Shares, Step, Steps};
use sealane_protocol::{Algebra, Demand, Domain, Protocol, Setting, StepShape};
use sealane_testkit::reckoning::Reckoning;
use sealane_testkit::side::{self, Given, copied, on_threads};
use sealane_trio::{Share, Trio, TrioParty};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The domain of bits, or of integers modulo `2^k`.
pub fn domain(k: Option<u8>) -> Domain {
    Trio::domain(k.map_or(Algebra::Z2, Algebra::Z2k))
}

/// Three parties that compute, in this order, among so many.
pub fn setting(parties: usize, roles: [u8; 3]) -> Setting {
    Setting {
        roles: roles.map(|party| vec![PartyId(party)]).to_vec(),
        ..Setting::in_order(&Trio::profile(), parties)
    }
}

/// One party of a session.
pub struct Side {
    pub me: PartyId,
    pub setting: Setting,
    pub trio: TrioParty,
    pub mesh: Mesh,
    reckoning: Reckoning,
}

/// Runs `body` at every party, once set up, with a fixed seed each. `guests` are the parties
/// without a role that own inputs.
pub fn session<R: Send>(
    setting: &Setting,
    guests: &[PartyId],
    seed: impl Fn(PartyId) -> u64 + Sync,
    meshes: Vec<Mesh>,
    body: impl Fn(&mut Side) -> R + Sync,
) -> Vec<R> {
    let mut demand = Demand::default();
    for owner in guests {
        let work = StepShape::input(*owner, domain(None), 1, 1);
        demand.merge(&Trio::demand(setting, &work), 1);
    }
    on_threads(meshes, |mesh| {
        let me = mesh.me();
        let given = Given::seeded(Cpu::detect().unwrap(), seed(me));
        let set_up = side::Side::set_up(mesh, setting, &demand, given).unwrap();
        let mut side = Side {
            me,
            setting: setting.clone(),
            trio: set_up.party,
            mesh: set_up.mesh,
            reckoning: Reckoning::new(setting.parties),
        };
        let cost = Trio::set_up_cost(setting, &demand);
        side.reckoning.add(&cost, &side.mesh);
        let result = body(&mut side);
        side.mesh.finish().unwrap();
        result
    })
}

/// A session of different seeds in memory.
pub fn honest<R: Send>(
    setting: &Setting,
    guests: &[PartyId],
    body: impl Fn(&mut Side) -> R + Sync,
) -> Vec<R> {
    let meshes = Mesh::in_memory(setting.parties);
    session(setting, guests, |me| u64::from(me.0) + 1, meshes, body)
}

impl Side {
    pub fn role(&self) -> Option<usize> {
        self.setting.role_of(self.me)
    }

    /// Runs a step by itself: one advance for each flight of its cost, and every byte of it.
    pub fn step(&mut self, step: Step<'_, TrioParty>) -> Outcome<TrioParty> {
        let cost = Trio::cost(&self.setting, &step.shape());
        let mut progress = self.trio.begin(step, None, &mut self.mesh).unwrap();
        let mut advances = 0;
        let outcome = loop {
            self.mesh.flush().unwrap();
            match progress {
                Progress::Done(outcome) => break outcome,
                Progress::More(pending) => {
                    progress = self.trio.advance(pending, &mut self.mesh).unwrap();
                    advances += 1;
                }
            }
        };
        assert_eq!(advances, cost.flights.len());
        self.reckoning.add(&cost, &self.mesh);
        outcome
    }

    pub fn share(&mut self, step: Step<'_, TrioParty>) -> Arc<Share> {
        match self.step(step) {
            Outcome::Share(share, ..) => Arc::new(share),
            _ => panic!("a share was due"),
        }
    }

    /// An input: values of so many bits, which only the owner gives.
    pub fn input(
        &mut self,
        owner: PartyId,
        k: Option<u8>,
        bits: usize,
        values: &[u64],
    ) -> Arc<Share> {
        self.share(Step::Input {
            owner,
            domain: domain(k),
            elements: values.len(),
            bits,
            values: (owner == self.me).then(|| Zeroizing::new(values.to_vec())),
        })
    }

    /// Integers modulo `2^k`.
    pub fn integers(&mut self, owner: PartyId, k: u8, values: &[u64]) -> Arc<Share> {
        let values: Vec<_> = values.iter().map(|value| low(*value, k)).collect();
        self.input(owner, Some(k), usize::from(k), &values)
    }

    pub fn tape(&mut self, tape: &Tape, operands: &[&Arc<Share>]) -> Arc<Share> {
        self.share(Step::Tape {
            tape,
            domain: domain(None),
            lanes: operands[0].elements(),
            operands: operands.iter().map(|share| Arc::clone(share)).collect(),
        })
    }

    pub fn product(&mut self, k: u8, left: &Arc<Share>, right: &Arc<Share>) -> Arc<Share> {
        self.product_of(k, [left, right].map(|share| Selected::whole(share.clone())))
    }

    /// A product of the elements that views select.
    pub fn product_of(&mut self, k: u8, of: [Selected<Share>; 2]) -> Arc<Share> {
        let [left, right] = of;
        self.share(Step::Product {
            domain: domain(Some(k)),
            left,
            right,
        })
    }

    /// A conversion between two domains, of so many bits.
    pub fn convert(
        &mut self,
        [from, to]: [Option<u8>; 2],
        (bits, signed): (usize, bool),
        share: &Arc<Share>,
    ) -> Arc<Share> {
        self.share(Step::Convert {
            from: domain(from),
            to: domain(to),
            bits,
            signed,
            share: share.clone(),
        })
    }

    /// Rows in a random order.
    pub fn shuffle(&mut self, k: Option<u8>, share: &Arc<Share>) -> Arc<Share> {
        let (domain, share) = (domain(k), share.clone());
        self.share(Step::Shuffle { domain, share })
    }

    /// Rows in the order of a key.
    pub fn sort(&mut self, share: &Arc<Share>, key: &[KeyBit]) -> Arc<Share> {
        let (domain, share, key) = (domain(None), share.clone(), key.to_vec());
        self.share(Step::Sort { domain, share, key })
    }

    /// Settles, opens results, and returns the values of those that this party learns.
    pub fn reveal(
        &mut self,
        results: &[(&Arc<Share>, Option<u8>, PartySet)],
    ) -> Vec<Option<Vec<u64>>> {
        let settled = self.step(Step::Settle { checks: vec![] });
        assert!(matches!(settled, Outcome::Settled(_)));
        let result = |(share, k, to): &(&Arc<Share>, _, _)| Opened {
            share: Arc::clone(share),
            domain: domain(*k),
            to: *to,
        };
        let results = results.iter().map(result).collect();
        match self.step(Step::Open { results }) {
            Outcome::Opened(values, ()) => copied(values),
            _ => panic!("results were due"),
        }
    }

    /// This party's part of a tensor, to be compared with the parts of others.
    pub fn held(&self, share: &Share) -> Held {
        assert_eq!(share.components().is_none(), self.role().is_none());
        let parts = share.components();
        Held {
            shape: (share.planes(), share.elements()),
            parts: parts.map(|parts| parts.map(<[u64]>::to_vec)),
        }
    }
}

/// One party's part of a tensor.
#[derive(Clone, Debug)]
pub struct Held {
    pub shape: (usize, usize),
    pub parts: Option<[Vec<u64>; 2]>,
}

/// Reconstructs a tensor from the parts of all parties, plane by plane: bits, or integers. Both
/// holders of a component must agree, and no bit is set outside of lanes or above `2^k`.
pub fn value(setting: &Setting, held: &[Held], k: Option<u8>) -> Vec<u64> {
    assert!(held.iter().all(|other| other.shape == held[0].shape));
    let part = |role: usize, place: usize| {
        let parts = held[setting.player(role % 3).index()].parts.as_ref();
        parts.expect("a party with a role holds components")[place].clone()
    };
    let components = [0, 1, 2].map(|i| part(i, 0));
    for (i, component) in components.iter().enumerate() {
        assert_eq!(*component, part(i + 2, 1), "component {i}");
    }
    let mut sum = vec![0u64; components[0].len()];
    let (planes, elements) = held[0].shape;
    let Some(k) = k else {
        let (stride, used) = (elements.div_ceil(64), elements % 64);
        for component in &components {
            let words = sum.iter_mut().zip(component);
            words.for_each(|(sum, word)| *sum ^= word);
            let mut planes = component.chunks(stride);
            assert!(planes.all(|plane| used == 0 || plane[stride - 1] >> used == 0));
        }
        let bit =
            |i: usize| sum[i / elements * stride + i % elements / 64] >> (i % elements % 64) & 1;
        return (0..planes * elements).map(bit).collect();
    };
    for component in &components {
        assert!(component.iter().all(|word| *word == low(*word, k)));
        let words = sum.iter_mut().zip(component);
        words.for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
    }
    sum.iter().map(|word| low(*word, k)).collect()
}

/// The value modulo `2^k`.
pub fn low(value: u64, k: u8) -> u64 {
    value & u64::MAX >> (64 - k)
}

/// The lowest bits of integers, plane by plane.
pub fn planes_of(values: &[u64], bits: usize) -> Vec<u8> {
    let bit = |value: &u64, bit: usize| (value >> bit.min(63) & 1) as u8;
    let plane = |at| values.iter().map(move |value| bit(value, at));
    (0..bits).flat_map(plane).collect()
}

/// Integers from their bits plane by plane.
pub fn integers_of(bits: &[u8], elements: usize) -> Vec<u64> {
    let mut values = vec![0; elements];
    for (plane, bits) in bits.chunks(elements).enumerate() {
        for (value, bit) in values.iter_mut().zip(bits) {
            *value |= u64::from(*bit) << plane;
        }
    }
    values
}

/// A tape for rounds of a circuit with these inputs.
pub fn tape<const N: usize>(
    inputs: [usize; N],
    outputs: impl FnOnce(&mut Builder, [Vec<Wire>; N]) -> Vec<Wire>,
) -> Tape {
    let mut b = Builder::new();
    let inputs = inputs.map(|width| b.input(width));
    let outputs = outputs(&mut b, inputs);
    compile(&b.finish(vec![outputs]), &Machine::ROUNDS)
}

/// A set of parties from the bits of a number.
pub fn parties(bits: u8) -> PartySet {
    PartySet::of((0..8).filter(|i| bits >> i & 1 == 1).map(PartyId))
}
