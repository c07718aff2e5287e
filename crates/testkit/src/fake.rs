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
    Algebra, CheckKind, Checks, Cost, Demand, Domain, DomainProfile, Flight, Goal, Message,
    Profile, Protocol, Setting, Sharing, StepShape, TapeShape,
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

/// A step between two flights, with the bits that have been read of each other party.
pub struct FakePending<'a> {
    step: Waiting<'a>,
    heard: Vec<Vec<u8>>,
}

/// State of a step between two flights.
enum Waiting<'a> {
    /// An input whose bits this party waits for, or already has.
    Input(PartyId, Bits),
    /// A tape that waits for the products of the current batch.
    Tape(Box<TapeRun<'a>>),
    /// Checks are being opened.
    Settle(Vec<u8>),
    /// Results are being opened; the sums of those that this party learns.
    Open(Vec<Opened<Bits>>, Vec<Vec<u8>>),
}

/// A tape between two batches.
pub struct TapeRun<'a> {
    tape: &'a Tape,
    lanes: usize,
    slots: Vec<u8>,
    batch: usize,
    /// True if party 0's answer is due, rather than the factors sent to it.
    answering: bool,
    /// At party 0, the products that it is to deal.
    products: Vec<u8>,
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
            StepShape::Input(input) => {
                let bytes = input.elements * input.bits;
                Cost::of(vec![pairs(input.owner.0, bytes).collect()])
            }
            StepShape::Tape(TapeShape { tape, lanes, .. }) => {
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
            StepShape::Convert(_) => Cost {
                checks: Checks::of(ZERO, 1),
                ..Cost::default()
            },
            // Never called: the protocol has neither arithmetic nor sorts.
            StepShape::Product(_)
            | StepShape::Ring(_)
            | StepShape::Shuffle(_)
            | StepShape::Sort(_) => Cost::default(),
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
    const SPLIT: bool = true;

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
    ) -> Result<Progress<'a, Self>> {
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
                        self.deal(&to_planes(&values, bits), mesh)?
                    }
                    _ => vec![0; bits * elements],
                };
                let mine = Planes::new(bits, elements, mine);
                Ok(more(Waiting::Input(owner, mine)))
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
                let mut run = TapeRun {
                    tape,
                    lanes,
                    slots,
                    batch: 0,
                    answering: false,
                    products: vec![],
                };
                run.run_xors();
                self.ask(Box::new(run), mesh)
            }
            Step::Convert { share, .. } => {
                let first = self.me.0 == 0;
                let unmask = |e: &u8| (e ^ if first { e >> 1 } else { 0 }) & 1;
                let data = share.data().iter().map(unmask).collect();
                let share = Planes::new(share.planes(), share.elements(), data);
                let check = u8::from(self.me.0 == CHEATER);
                Ok(Progress::Done(Outcome::Share(share, vec![check], ())))
            }
            Step::Product { .. } | Step::Ring { .. } => {
                Err(Fault::internal("fake has no arithmetic"))
            }
            Step::Shuffle { .. } | Step::Sort { .. } | Step::CompareExchange { .. } => {
                Err(Fault::internal("fake sorts by networks, in copies"))
            }
            Step::Settle { checks } => {
                for to in self.setting.others(self.me) {
                    mesh.send(to, &checks)?;
                }
                Ok(more(Waiting::Settle(checks)))
            }
            Step::Open { results } => {
                for Opened { share, to, .. } in &results {
                    for to in to.iter().filter(|to| *to != self.me) {
                        mesh.send(to, share.data())?;
                    }
                }
                Ok(more(Waiting::Open(results, vec![])))
            }
        }
    }

    fn take(&mut self, pending: &mut FakePending<'_>, mesh: &mut Mesh) -> Result<()> {
        for (from, count) in self.due(&pending.step) {
            let mut bits = vec![0; count];
            mesh.recv(from, &mut bits)?;
            pending.heard.push(bits);
        }
        Ok(())
    }

    fn work(&self, pending: &mut FakePending<'_>) -> Result<()> {
        let heard = mem::take(&mut pending.heard);
        match &mut pending.step {
            Waiting::Input(_, mine) => {
                let dealt = heard.into_iter().next();
                let data = dealt.unwrap_or_else(|| mine.data().to_vec());
                *mine = Planes::new(mine.planes(), mine.elements(), data);
            }
            Waiting::Tape(run) => run.hear(self.me, &heard),
            Waiting::Settle(checks) => add(checks, &heard),
            Waiting::Open(results, sums) => {
                let others = self.setting.parties - 1;
                let learnt = results.iter().filter(|result| result.to.contains(self.me));
                for (at, Opened { share, .. }) in learnt.enumerate() {
                    let mut bits = share.data().to_vec();
                    add(&mut bits, &heard[at * others..][..others]);
                    sums.push(bits);
                }
            }
        }
        Ok(())
    }

    fn put<'a>(
        &mut self,
        pending: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        match pending.step {
            Waiting::Input(_, mine) => Ok(Progress::share(mine)),
            Waiting::Tape(run) if run.answering => self.ask(run, mesh),
            Waiting::Tape(mut run) => {
                run.answering = true;
                if self.me.0 == 0 {
                    // The masked half of the dealt shares is not needed here and is dropped.
                    let own = self.deal(&run.products, mesh)?;
                    run.take_products(&own.iter().map(|e| (e ^ e >> 1) & 1).collect::<Vec<_>>());
                }
                Ok(more(Waiting::Tape(run)))
            }
            Waiting::Settle(checks) => {
                if checks.iter().any(|sum| *sum != 0) {
                    Err(Fault::CheckFailed)
                } else {
                    Ok(Progress::Done(Outcome::Settled(())))
                }
            }
            Waiting::Open(results, sums) => {
                let mut sums = sums.into_iter();
                let revealed = results.iter().map(|Opened { share, to, .. }| {
                    let bits = to.contains(self.me).then(|| sums.next()).flatten()?;
                    Some(from_planes(&bits, share.planes()))
                });
                Ok(Progress::Done(Outcome::Opened(revealed.collect(), ())))
            }
        }
    }
}

fn more<const CHEATER: u8>(step: Waiting<'_>) -> Progress<'_, FakeParty<CHEATER>> {
    let heard = Vec::new();
    Progress::More(FakePending { step, heard })
}

/// XORs the bits of others into `bits`.
fn add(bits: &mut [u8], others: &[Vec<u8>]) {
    for theirs in others {
        for (sum, bit) in bits.iter_mut().zip(theirs) {
            *sum ^= bit;
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

    /// The bits that are due to this party in a step, and from whom.
    fn due(&self, step: &Waiting) -> Vec<(PartyId, usize)> {
        let of_all = |count| self.setting.others(self.me).map(move |from| (from, count));
        match step {
            Waiting::Input(owner, _) if *owner == self.me => vec![],
            Waiting::Input(owner, mine) => vec![(*owner, mine.data().len())],
            Waiting::Tape(run) => match (self.me.0, run.answering) {
                (0, false) => of_all(2 * run.products_due()).collect(),
                (0, true) | (_, false) => vec![],
                (_, true) => vec![(PartyId(0), run.products_due())],
            },
            Waiting::Settle(checks) => of_all(checks.len()).collect(),
            Waiting::Open(results, _) => {
                let learnt = results.iter().filter(|result| result.to.contains(self.me));
                let due = learnt.flat_map(|result| of_all(result.share.data().len()));
                due.collect()
            }
        }
    }

    /// Asks party 0 for the products of a batch; after the last one, returns the outputs.
    fn ask<'a>(&self, mut run: Box<TapeRun<'a>>, mesh: &mut Mesh) -> Result<Progress<'a, Self>> {
        if run.batch < run.tape.batches.len() {
            run.answering = false;
            if self.me.0 != 0 {
                mesh.send(PartyId(0), &run.factors())?;
            }
            return Ok(more(Waiting::Tape(run)));
        }
        let outputs = run.tape.outputs.iter();
        let planes = outputs.flat_map(|slot| run.slot(*slot)).copied().collect();
        let share = Planes::new(run.tape.outputs.len(), run.lanes, planes);
        Ok(Progress::Done(Outcome::Share(share, vec![], ())))
    }
}

impl TapeRun<'_> {
    fn slot(&self, slot: u32) -> &[u8] {
        &self.slots[slot as usize * self.lanes..][..self.lanes]
    }

    /// Runs XORs up to the next batch with ANDs, or to the end.
    fn run_xors(&mut self) {
        let (tape, lanes) = (self.tape, self.lanes);
        while let Some(batch) = tape.batches.get(self.batch) {
            for gate in &tape.xors[batch.xors.start as usize..batch.xors.end as usize] {
                for lane in 0..lanes {
                    let at = |slot: u32| slot as usize * lanes + lane;
                    self.slots[at(gate.out)] = self.slots[at(gate.a)] ^ self.slots[at(gate.b)];
                }
            }
            if !batch.ands.is_empty() {
                return;
            }
            self.batch += 1;
        }
    }

    /// Takes what has been read: at party 0 the factors of all, then everywhere else the products.
    /// Goes on to the next batch.
    fn hear(&mut self, me: PartyId, heard: &[Vec<u8>]) {
        if !self.answering {
            if me.0 == 0 {
                let mut factors = self.factors();
                add(&mut factors, heard);
                let products = factors.chunks(2).map(|pair| pair[0] & pair[1] & 1);
                self.products = products.collect();
            }
            return;
        }
        if let [shares] = heard {
            self.take_products(&shares.iter().map(|e| e & 1).collect::<Vec<_>>());
        }
        self.batch += 1;
        self.run_xors();
    }

    /// Number of products of the current batch.
    fn products_due(&self) -> usize {
        self.tape.batches[self.batch].ands.len() * self.lanes
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
