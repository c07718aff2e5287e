//! Parties on threads over a mesh in memory. Each step has its own refill before it, both are
//! compared with the costs that the protocol states, and shares of all parties with plain values.

use sealane_block::{Coins, Cpu};
use sealane_circuit::Tape;
use sealane_mixed::{Gmw, MixedParty, Mixing, Share};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Form, Opened, Outcome, Party, Progress, Selected, Shares, Step, Steps};
use sealane_protocol::{
    Algebra, ConvertShape, Demand, Domain, Numbers, Protocol, RingOp, Setting, Sharing, StepShape,
};
use sealane_testkit::reckoning::Reckoning;
use sealane_testkit::side::{self, Given, copied, on_threads};
use sealane_testkit::stock::Dealt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The domain of bits, or of integers modulo `2^k`.
pub fn domain(k: Option<u8>) -> Domain {
    Gmw::domain(k.map_or(Algebra::Z2, Algebra::Z2k))
}

/// The domain of labels.
pub const LABELS: Domain = Domain {
    sharing: Sharing::YaoLabel,
    algebra: Algebra::Z2,
    authenticated: false,
};

/// Two parties that compute, in this order, among so many.
pub fn setting(parties: usize, roles: [u8; 2]) -> Setting {
    Setting {
        roles: roles.map(|party| vec![PartyId(party)]).to_vec(),
        ..Setting::in_order(&Gmw::profile(), parties)
    }
}

/// Two parties alone in both orders, with a pool and without, and among others.
pub fn settings() -> [Setting; 6] {
    let alone = |pooled, roles| Setting {
        pooled,
        ..setting(2, roles)
    };
    let [three, four] = [alone(true, [0, 1]), alone(true, [1, 0])];
    let [one, two] = [alone(false, [0, 1]), alone(false, [1, 0])];
    [
        one,
        two,
        three,
        four,
        setting(4, [3, 1]),
        setting(5, [2, 4]),
    ]
}

/// A tensor that all parties hold together, and its elements.
struct Held {
    name: String,
    form: Form,
    words: Option<Vec<u64>>,
    shape: (usize, usize),
    want: Vec<u64>,
}

/// One party of a session, of a protocol with labels or without.
pub struct Side<const L: bool = false> {
    pub me: PartyId,
    pub setting: Setting,
    pub party: MixedParty<L>,
    pub mesh: Mesh,
    reckoning: Reckoning,
    held: Vec<Held>,
    shared: u64,
}

/// Runs `body` at every party, once set up, and checks all that it expects of shares. All parties
/// without a role may own inputs.
pub fn session<const L: bool>(setting: &Setting, body: impl Fn(&mut Side<L>) + Sync) {
    let mut demand = Demand::default();
    // One that takes transfers of both directions, in order that a set-up prepares them.
    let bit = StepShape::Convert(ConvertShape {
        from: domain(Some(2)),
        to: domain(None),
        elements: 1,
        bits: 2,
        signed: false,
    });
    demand.merge(&Mixing::<L>::demand(setting, &bit), 1);
    if L {
        let label = StepShape::input(setting.player(0), LABELS, 1, 1);
        demand.merge(&Mixing::<L>::demand(setting, &label), 1);
    }
    for owner in setting.everyone() {
        let work = StepShape::input(owner, domain(None), 1, 1);
        demand.merge(&Mixing::<L>::demand(setting, &work), 1);
    }
    let held = on_threads(Mesh::in_memory(setting.parties), |mesh| {
        let me = mesh.me();
        let mut given = Given::seeded(Cpu::detect().unwrap(), u64::from(me.0) + 1);
        if setting.pooled {
            given.stocks = Dealt::both(me, Coins::danger_fixed_seed(3));
        }
        let set_up = side::Side::set_up(mesh, setting, &demand, given).unwrap();
        let mut side = Side {
            me,
            setting: setting.clone(),
            party: set_up.party,
            mesh: set_up.mesh,
            reckoning: Reckoning::new(setting.parties),
            held: Vec::new(),
            shared: 0,
        };
        let cost = Mixing::<L>::set_up_cost(setting, &demand);
        side.reckoning.add(&cost, &side.mesh);
        body(&mut side);
        side.mesh.finish().unwrap();
        side.held
    });
    let [first, second] = [0, 1].map(|role| &held[setting.player(role).index()]);
    for (at, (one, other)) in first.iter().zip(second).enumerate() {
        let parts = [one, other].map(|of| of.words.as_deref());
        let sum = one.form.sum(parts.into_iter().flatten());
        let value = one.form.decode(sum.data()).unwrap();
        assert_eq!(*value, one.want, "{} in {setting:?}", one.name);
        for party in &held {
            assert_eq!(party[at].shape, one.shape, "{}", one.name);
        }
    }
}

impl<const L: bool> Side<L> {
    pub fn role(&self) -> Option<usize> {
        self.setting.role_of(self.me)
    }

    /// Makes correlations as often as these.
    pub fn refill(&mut self, demand: &Demand) {
        self.party.refill(demand, &mut self.mesh).unwrap();
        self.mesh.flush().unwrap();
        let cost = Mixing::<L>::refill_cost(&self.setting, demand);
        self.reckoning.add(&cost, &self.mesh);
    }

    /// Runs a step after the refill that it takes.
    pub fn step(&mut self, step: Step<'_, MixedParty<L>>) -> Outcome<MixedParty<L>> {
        self.refill(&Mixing::<L>::demand(&self.setting, &step.shape()));
        self.bare_step(step)
    }

    /// Runs a step: one advance for each flight of its cost, and every byte of it.
    pub fn bare_step(&mut self, step: Step<'_, MixedParty<L>>) -> Outcome<MixedParty<L>> {
        let cost = Mixing::<L>::cost(&self.setting, &step.shape());
        let mut progress = self.party.begin(step, None, &mut self.mesh).unwrap();
        let mut advances = 0;
        let outcome = loop {
            self.mesh.flush().unwrap();
            match progress {
                Progress::Done(outcome) => break outcome,
                Progress::More(pending) => {
                    progress = self.party.advance(pending, &mut self.mesh).unwrap();
                    advances += 1;
                }
            }
        };
        assert_eq!(advances, cost.flights.len());
        self.reckoning.add(&cost, &self.mesh);
        outcome
    }

    pub fn share(&mut self, step: Step<'_, MixedParty<L>>) -> Arc<Share> {
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
        self.input_in(domain(k), owner, bits, values)
    }

    pub fn input_in(
        &mut self,
        domain: Domain,
        owner: PartyId,
        bits: usize,
        values: &[u64],
    ) -> Arc<Share> {
        self.share(Step::Input {
            owner,
            domain,
            elements: values.len(),
            bits,
            values: (owner == self.me).then(|| Zeroizing::new(values.to_vec())),
        })
    }

    /// A sharing of values, another one at each call, of which no party with a role knows anything.
    pub fn shared(&mut self, form: Form, values: &[u64]) -> Arc<Share> {
        self.shared += 1;
        let mut random = form.zeros();
        let drawn = arbitrary(self.shared << 40, random.data().len(), 64);
        random.data_mut().copy_from_slice(&drawn);
        form.trim(random.data_mut());
        let mut rest = form.encode(values);
        form.group.subtract(rest.data_mut(), random.data());
        form.trim(rest.data_mut());
        Arc::new(match self.role() {
            Some(0) => form.share([rest]),
            Some(_) => form.share([random]),
            None => form.shape(),
        })
    }

    /// A sharing of elements of a ring.
    pub fn ring(&mut self, k: u8, values: &[u64]) -> Arc<Share> {
        self.shared(Form::ring(k.into(), 1, values.len()), values)
    }

    /// A sharing of bits.
    pub fn bits(&mut self, bits: usize, values: &[u64]) -> Arc<Share> {
        self.shared(Form::bits(bits, values.len()), values)
    }

    pub fn tape(&mut self, tape: &Tape, operands: &[&Arc<Share>]) -> Arc<Share> {
        self.tape_in(domain(None), tape, operands)
    }

    pub fn tape_in(&mut self, domain: Domain, tape: &Tape, operands: &[&Arc<Share>]) -> Arc<Share> {
        self.share(Step::Tape {
            tape,
            domain,
            lanes: operands[0].elements(),
            operands: operands.iter().map(|share| Arc::clone(share)).collect(),
        })
    }

    pub fn product(&mut self, k: u8, [left, right]: [Selected<Share>; 2]) -> Arc<Share> {
        let domain = domain(Some(k));
        self.share(Step::Product {
            domain,
            left,
            right,
        })
    }

    /// An operation on elements of so many bits.
    pub fn op(
        &mut self,
        op: RingOp,
        k: u8,
        (bits, signed): (usize, bool),
        share: &Arc<Share>,
        bit: Option<&Arc<Share>>,
    ) -> Arc<Share> {
        self.share(Step::Ring {
            op,
            domain: domain(Some(k)),
            bits,
            signed,
            bit: bit.cloned(),
            share: share.clone(),
        })
    }

    /// A conversion between two domains, of so many bits.
    pub fn convert(
        &mut self,
        [from, to]: [Option<u8>; 2],
        (bits, signed): (usize, bool),
        share: &Arc<Share>,
    ) -> Arc<Share> {
        self.convert_between([domain(from), domain(to)], (bits, signed), share)
    }

    pub fn convert_between(
        &mut self,
        [from, to]: [Domain; 2],
        (bits, signed): (usize, bool),
        share: &Arc<Share>,
    ) -> Arc<Share> {
        self.share(Step::Convert {
            from,
            to,
            bits,
            signed,
            share: share.clone(),
        })
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

    /// Expects of a tensor that its elements are these, and that no part of it has bits beyond its
    /// rows.
    pub fn expect(&mut self, name: String, form: Form, share: &Share, want: Vec<u64>) {
        let words = share.components().map(|[words]| words.to_vec());
        if let Some(words) = &words {
            assert!(self.role().is_some(), "{name}: a party without a role");
            assert_eq!(form.sum([&words[..]]).data(), words, "{name}");
        }
        self.held.push(Held {
            name,
            form,
            words,
            shape: (share.planes(), share.elements()),
            want,
        });
    }

    pub fn expect_ring(&mut self, name: String, k: u8, share: &Share, want: Vec<u64>) {
        self.expect(name, Form::ring(k.into(), 1, want.len()), share, want);
    }

    pub fn expect_bits(&mut self, name: String, bits: usize, share: &Share, want: Vec<u64>) {
        self.expect(name, Form::bits(bits, want.len()), share, want);
    }
}

/// All elements of a value, of which a party knows numbers of so many bits.
pub fn known(
    share: &Arc<Share>,
    holder: PartyId,
    (bits, signed): (usize, bool),
) -> Selected<Share> {
    let numbers = Numbers {
        known_to: Some(holder),
        bits: bits as u64,
        signed,
    };
    Selected {
        numbers,
        ..Selected::whole(share.clone())
    }
}

/// Integers of `k` bits without a pattern.
pub fn arbitrary(seed: u64, count: usize, k: u8) -> Vec<u64> {
    let value = |i: u64| {
        let mixed = seed.wrapping_add(i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = mixed.rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        low(mixed ^ mixed >> 31, k)
    };
    (0..count as u64).map(value).collect()
}

/// The value modulo `2^k`.
pub fn low(value: u64, k: u8) -> u64 {
    value & u64::MAX >> (64 - k)
}

/// The number that so many bits hold.
pub fn number(value: u64, (bits, signed): (usize, bool)) -> i128 {
    let value = low(value, bits as u8);
    let negative = signed && value >> (bits - 1) == 1;
    i128::from(value) - if negative { 1 << bits } else { 0 }
}
