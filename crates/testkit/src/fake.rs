//! A protocol for any number of parties with **no secrecy at all**, for tests of plan and engine.
//!
//! It exercises features that simple protocols lack: two domains with a conversion between them,
//! steps of several flights, messages between every pair of parties, and a check that stays pending
//! until the reveal. Inputs arrive *masked* (everyone holds the value plus a mask, the mask is
//! XOR-shared); tapes need *XOR* shares; party 0 multiplies for all.

use sealane_block::Coins;
use sealane_circuit::Tape;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Fault, NoOffline, Opened, Outcome, Party, Planes, Progress, Result, Shares, Start, Step, Steps,
    from_planes, to_planes,
};
use sealane_protocol::{
    Algebra, CheckKind, Checks, Cost, Demand, Domain, DomainProfile, Flight, Goal, Message, Profile, Protocol,
    Setting, Sharing, StepShape,
};
use std::mem;

/// The fake protocol, as plans see it. Party `CHEATER` corrupts the check of its first conversion.
pub enum Fake<const CHEATER: u8> {}

/// Fake protocol without a cheater.
pub type Honest = Fake<255>;

/// One party of the fake protocol.
pub struct FakeParty<const CHEATER: u8> {
    setting: Setting,
    me: PartyId,
    coins: Coins,
}

/// Party of the fake protocol without a cheater.
pub type HonestParty = FakeParty<255>;

/// Bit 0 of an element is this party's share; in the masked domain bit 1 is the masked value.
type Bits = Planes<u8>;

/// The domain in which inputs arrive.
const MASKED: Domain = Domain {
    sharing: Sharing::Masked,
    algebra: Algebra::Z2,
    authenticated: false,
};
/// Domain of the operands of tapes and reveals.
const XOR: Domain = Domain {
    sharing: Sharing::Xor,
    algebra: Algebra::Z2,
    authenticated: false,
};

/// Kind of its only checks: a bit that has to be zero.
const ZERO: CheckKind = CheckKind {
    field: Algebra::Z2,
    terms: 0,
};

/// State of a step between two flights.
pub enum FakePending<'a> {
    /// An input whose bytes this party waits for, or already has.
    Input(PartyId, usize, usize, Option<Bits>),
    /// A tape that waits for the products of the current batch.
    Tape(Box<TapeRun<'a>>),
    /// Checks are being opened.
    Settle(Vec<u8>),
    /// Results are being opened.
    Open(Vec<Opened<Bits>>),
}

/// A tape between two batches.
pub struct TapeRun<'a> {
    tape: &'a Tape,
    lanes: usize,
    slots: Vec<u8>,
    batch: usize,
    /// True if party 0's answer is due, rather than the factors sent to it.
    answering: bool,
}

impl<const CHEATER: u8> Protocol for Fake<CHEATER> {
    fn profile() -> Profile {
        Profile {
            name: "fake",
            ..Profile::HIDES_NOTHING
        }
    }

    fn domain_profile(_: Domain, _: usize) -> DomainProfile {
        DomainProfile {
            goal: Goal::Size,
            share_bits: 8,
        }
    }

    fn domain(_: Algebra) -> Domain {
        XOR
    }

    fn input_domain(_: Algebra) -> Domain {
        MASKED
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        let all = 0..setting.parties as u8;
        let pairs = |from: u8, bytes: u64| {
            let others = all.clone().filter(move |to| *to != from);
            others.map(move |to| Message::new(PartyId(from), PartyId(to), bytes))
        };
        match work {
            StepShape::Input {
                owner,
                elements,
                bits,
                ..
            } => Cost::of(vec![pairs(owner.0, elements * bits).collect()]),
            StepShape::Tape { tape, lanes, .. } => {
                let counts = tape
                    .batches
                    .iter()
                    .map(|batch| batch.ands.len() as u64 * lanes);
                let layers = counts.filter(|count| *count > 0).collect::<Vec<_>>();
                let flights = |count: &u64| -> [Flight; 2] {
                    let ask = all
                        .clone()
                        .skip(1)
                        .map(|from| Message::new(PartyId(from), PartyId(0), 2 * count));
                    [ask.collect(), pairs(0, *count).collect()]
                };
                let ands = layers.iter().sum();
                Cost {
                    ands,
                    ..Cost::of(layers.iter().flat_map(flights).collect())
                }
            }
            StepShape::Convert { .. } => Cost {
                checks: Checks::of(ZERO, 1),
                ..Cost::default()
            },
            // Never called: the protocol has neither arithmetic nor sorts.
            StepShape::Product { .. } | StepShape::Shuffle { .. } | StepShape::Sort { .. } => {
                Cost::default()
            }
            StepShape::Settle { checks } => {
                let settle = all.clone().flat_map(|from| pairs(from, checks.total()));
                Cost::of(vec![settle.collect()])
            }
            StepShape::Open { results } => {
                let open = |from: u8| {
                    let to = |message: Message| {
                        let learnt = results
                            .iter()
                            .filter(|result| result.to.contains(message.to));
                        Message {
                            bytes: learnt.map(|result| result.bits).sum(),
                            ..message
                        }
                    };
                    pairs(from, 0).map(to).collect::<Flight>()
                };
                Cost::of(vec![all.clone().flat_map(open).collect()])
            }
        }
    }
}

impl<const CHEATER: u8> Party for FakeParty<CHEATER> {
    type Protocol = Fake<CHEATER>;
    type Offline = NoOffline<()>;

    fn set_up(start: Start<'_>, _: &Demand, _: &mut Mesh) -> Result<Self> {
        Ok(FakeParty {
            setting: start.setting.clone(),
            me: start.me,
            coins: start.coins,
        })
    }
}

impl<const CHEATER: u8> Steps for FakeParty<CHEATER> {
    type Share = Bits;
    type Pending<'a> = FakePending<'a>;
    type Material = ();
    type Output = ();
    type Check = u8;

    fn count(checks: &[u8]) -> Checks {
        Checks::of(ZERO, checks.len() as u64)
    }

    fn constant(&mut self, _: Domain, bits: usize, values: &[u64]) -> Bits {
        let mine = u8::from(self.me.0 == 0);
        let planes = to_planes(values, bits);
        let planes = planes.iter().map(|bit| bit & mine);
        Planes::new(bits, values.len(), planes.collect())
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        _: Option<()>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>>
    where
        Self: 'a,
    {
        match step {
            Step::Input {
                owner,
                elements,
                bits,
                values,
                ..
            } => {
                let mine = match values {
                    Some(values) if owner == self.me => {
                        Some(self.deal(&to_planes(&values, bits), mesh)?)
                    }
                    _ => None,
                };
                let mine = mine.map(|data| Planes::new(bits, elements, data));
                Ok(Progress::More(FakePending::Input(
                    owner, bits, elements, mine,
                )))
            }
            Step::Tape {
                tape,
                lanes,
                operands,
                ..
            } => {
                let mut slots = vec![0; tape.slots as usize * lanes];
                slots[lanes..2 * lanes].fill(u8::from(self.me.0 == 0));
                let inputs = operands.iter().flat_map(|share| share.data());
                slots[2 * lanes..]
                    .iter_mut()
                    .zip(inputs)
                    .for_each(|(slot, bit)| *slot = *bit);
                let run = TapeRun {
                    tape,
                    lanes,
                    slots,
                    batch: 0,
                    answering: false,
                };
                self.next_layer(Box::new(run), mesh)
            }
            Step::Convert { share, .. } => {
                let first = self.me.0 == 0;
                let unmask = |e: &u8| (e ^ if first { e >> 1 } else { 0 }) & 1;
                let data = share.data().iter().map(unmask).collect();
                let share = Planes::new(share.planes(), share.elements(), data);
                let check = u8::from(self.me.0 == CHEATER);
                Ok(Progress::Done(Outcome::Share(share, vec![check], ())))
            }
            Step::Product { .. } => Err(Fault::internal("fake has no arithmetic")),
            Step::Shuffle { .. } | Step::Sort { .. } | Step::CompareExchange { .. } => {
                Err(Fault::internal("fake sorts by networks, in copies"))
            }
            Step::Settle { checks } => {
                for to in self.setting.others(self.me) {
                    mesh.send(to, &checks)?;
                }
                Ok(Progress::More(FakePending::Settle(checks)))
            }
            Step::Open { results } => {
                for Opened { share, to, .. } in &results {
                    for to in to.iter().filter(|to| *to != self.me) {
                        mesh.send(to, share.data())?;
                    }
                }
                Ok(Progress::More(FakePending::Open(results)))
            }
        }
    }

    fn advance<'a>(
        &mut self,
        pending: FakePending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>>
    where
        Self: 'a,
    {
        let done = |share| Ok(Progress::share(share));
        match pending {
            FakePending::Input(_, _, _, Some(mine)) => done(mine),
            FakePending::Input(owner, planes, elements, None) => {
                let mut data = vec![0; planes * elements];
                mesh.recv(owner, &mut data)?;
                done(Planes::new(planes, elements, data))
            }
            FakePending::Tape(run) => self.read_layer(run, mesh),
            FakePending::Settle(mut checks) => {
                self.add_from_others(&mut checks, mesh)?;
                if checks.iter().any(|sum| *sum != 0) {
                    Err(Fault::CheckFailed)
                } else {
                    Ok(Progress::Done(Outcome::Settled(())))
                }
            }
            FakePending::Open(results) => {
                let mut revealed = Vec::new();
                for Opened { share, to, .. } in results {
                    if !to.contains(self.me) {
                        revealed.push(None);
                        continue;
                    }
                    let mut bits = share.data().to_vec();
                    self.add_from_others(&mut bits, mesh)?;
                    revealed.push(Some(from_planes(&bits, share.planes())));
                }
                Ok(Progress::Done(Outcome::Opened(revealed, ())))
            }
        }
    }
}

impl<const CHEATER: u8> FakeParty<CHEATER> {
    /// Splits bits among all parties: sends each other one its share, returns this party's own.
    /// The mask of the masked domain is the XOR of all shares.
    fn deal(&mut self, bits: &[u8], mesh: &mut Mesh) -> Result<Vec<u8>> {
        let random = |coins: &mut Coins| {
            let mut bytes = vec![0; bits.len()];
            coins.secret("fake: shares").fill_bytes(&mut bytes);
            bytes.iter_mut().for_each(|byte| *byte &= 1);
            bytes
        };
        let shares = (0..self.setting.parties).map(|_| random(&mut self.coins));
        let mut shares = shares.collect::<Vec<_>>();
        for i in 0..bits.len() {
            let mask = shares.iter().fold(0, |sum, share| sum ^ share[i]);
            shares
                .iter_mut()
                .for_each(|share| share[i] |= (bits[i] ^ mask) << 1);
        }
        for to in self.setting.others(self.me) {
            mesh.send(to, &shares[usize::from(to.0)])?;
        }
        Ok(mem::take(&mut shares[usize::from(self.me.0)]))
    }

    /// XORs the bits from every other party into `bits`.
    fn add_from_others(&self, bits: &mut [u8], mesh: &mut Mesh) -> Result<()> {
        let mut theirs = vec![0; bits.len()];
        for from in self.setting.others(self.me) {
            mesh.recv(from, &mut theirs)?;
            bits.iter_mut()
                .zip(&theirs)
                .for_each(|(sum, bit)| *sum ^= bit);
        }
        Ok(())
    }

    /// Runs XORs up to the next batch with ANDs and asks party 0 for the products.
    fn next_layer<'a>(
        &self,
        mut run: Box<TapeRun<'a>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let (tape, lanes) = (run.tape, run.lanes);
        while let Some(batch) = tape.batches.get(run.batch) {
            for gate in &tape.xors[batch.xors.start as usize..batch.xors.end as usize] {
                for lane in 0..lanes {
                    let at = |slot: u32| slot as usize * lanes + lane;
                    run.slots[at(gate.out)] = run.slots[at(gate.a)] ^ run.slots[at(gate.b)];
                }
            }
            if !batch.ands.is_empty() {
                run.answering = false;
                if self.me.0 != 0 {
                    mesh.send(PartyId(0), &run.factors())?;
                }
                return Ok(Progress::More(FakePending::Tape(run)));
            }
            run.batch += 1;
        }
        let planes = tape
            .outputs
            .iter()
            .flat_map(|slot| run.slot(*slot))
            .copied()
            .collect();
        let share = Planes::new(tape.outputs.len(), lanes, planes);
        Ok(Progress::Done(Outcome::Share(share, vec![], ())))
    }

    /// Reads one flight of a layer: at party 0 the factors, then everywhere the products.
    fn read_layer<'a>(
        &mut self,
        mut run: Box<TapeRun<'a>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        if !run.answering {
            run.answering = true;
            if self.me.0 == 0 {
                let mut factors = run.factors();
                self.add_from_others(&mut factors, mesh)?;
                let products = factors.chunks(2).map(|pair| pair[0] & pair[1] & 1);
                let products = products.collect::<Vec<_>>();
                // The masked half of the dealt shares is not needed here and is dropped.
                let own = self.deal(&products, mesh)?;
                run.take_products(&own.iter().map(|e| (e ^ e >> 1) & 1).collect::<Vec<_>>());
            }
            return Ok(Progress::More(FakePending::Tape(run)));
        }
        if self.me.0 != 0 {
            let mut shares = vec![0; run.factors().len() / 2];
            mesh.recv(PartyId(0), &mut shares)?;
            run.take_products(&shares.iter().map(|e| e & 1).collect::<Vec<_>>());
        }
        run.batch += 1;
        self.next_layer(run, mesh)
    }
}

impl TapeRun<'_> {
    fn slot(&self, slot: u32) -> &[u8] {
        &self.slots[slot as usize * self.lanes..][..self.lanes]
    }

    /// This party's shares of both factors of every AND of the current batch.
    fn factors(&self) -> Vec<u8> {
        let ands = &self.tape.batches[self.batch].ands;
        let ands = &self.tape.ands[ands.start as usize..ands.end as usize];
        let pairs = ands
            .iter()
            .flat_map(|gate| self.slot(gate.a).iter().zip(self.slot(gate.b)));
        pairs.flat_map(|(a, b)| [*a, *b]).collect()
    }

    fn take_products(&mut self, products: &[u8]) {
        let lanes = self.lanes;
        let ands = self.tape.batches[self.batch].ands.clone();
        let gates = &self.tape.ands[ands.start as usize..ands.end as usize];
        for (gate, lane) in gates.iter().zip(products.chunks(lanes)) {
            self.slots[gate.out as usize * lanes..][..lanes].copy_from_slice(lane);
        }
    }
}
