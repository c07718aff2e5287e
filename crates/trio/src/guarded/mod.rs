//! The profile of `trio` against one malicious party, with a role or without, together with any
//! parties without a role.
//!
//! Messages are those of `trio` for inputs, ANDs, products in GF(4) and GF(16) and lookups as
//! towers under masks. Before anything is opened, each role proves all its messages to both others
//! (crate `proof`; `settle`), and each component of a result comes from one of its two holders and
//! a digest of it from the other one (`open`). It computes on bits alone: planning makes everything
//! else of them.
//!
//! `operations` lists what runs, and why it is safe, and what is refused.

mod cost;
mod open;
mod operations;
mod settle;
#[cfg(test)]
pub(crate) mod tests;

use crate::arrive::Arriving;
use crate::keys::{self, KeyMaker, Keys};
use crate::masked::{Layouts, Recycled, RunningMasked};
use crate::record::{self, Counts, KINDS, Record, Spare};
use crate::role_index::{self, RoleIndex};
use crate::roles::Computing;
use crate::tape::{RunningTape, TapeProgress, masked};
use crate::{ROLES, Share, Trio, constant, input};
use blake3::Hasher;
use open::Opening;
use operations::Operation;
use sealane_block::Erased;
use sealane_circuit::{Lookups, Tape};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Fault, Form, NoOffline, Opened, Outcome, Party, Planes, Progress, Result, Start, Step, Steps,
    Term,
};
use sealane_proof::Memory;
use sealane_protocol::{
    Algebra, CheckKind, Checks, Corruption, Cost, Demand, Domain, DomainProfile, Profile, Protocol,
    SecurityLevel, Setting, StepShape, Threshold,
};
use settle::{Settled, Settling};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// Statements of a segment by kind, in the order of [`KINDS`], for a few MiB of each. Tests have
/// several segments.
const SEGMENT: Counts = if cfg!(test) {
    [1 << 13; KINDS.len()]
} else {
    [1 << 22, 1 << 22, 1 << 22, 1 << 20]
};

/// Statements of a step below which its strings give up what is behind their end.
const SMALL: usize = 1 << 14;

/// The checks of so many statements of each kind.
fn checks(counts: &Counts) -> Checks {
    let mut checks = Checks::default();
    for (kind, count) in KINDS.iter().zip(counts) {
        let field = match kind.field.degree() {
            1 => Algebra::Z2,
            k => Algebra::Gf2k(k as u8),
        };
        let terms = kind.terms as u32;
        checks.add(
            &Checks([(CheckKind { field, terms }, *count as u64)].into()),
            1,
        );
    }
    checks
}

/// The statements of each kind of these checks.
fn counts_of(all: &Checks) -> Counts {
    let one = |kind| std::array::from_fn(|other| usize::from(kind == other));
    std::array::from_fn(|kind| {
        let of = checks(&one(kind));
        let count = of.0.keys().filter_map(|kind| all.0.get(kind)).sum::<u64>();
        count as usize
    })
}

fn add(counts: &mut Counts, more: &Counts) {
    counts
        .iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}

/// The protocol, as plans see it.
pub enum Guarded {}

/// One party of a run.
pub struct GuardedParty {
    setting: Setting,
    me: PartyId,
    place: Membership,
    guard: Guard,
}

enum Membership {
    Role(Erased<Computing>),
    Outside(Option<Erased<[keys::Key; 2]>>),
}

/// State of proofs and openings: what has to be settled before an opening, and their numbers.
struct Guard {
    /// Running digests of the components of inputs of each party without a role: of those that the
    /// role before has too, and of those that the next one has.
    held: BTreeMap<PartyId, [Zeroizing<Hasher>; 2]>,
    /// Segments so far. No two proofs have one number.
    segments: u64,
    /// Openings so far.
    openings: u64,
    /// Steps that have ended so far.
    steps: u64,
    /// Statements of these steps that no settlement has proved.
    open: Counts,
    /// The settlement that began last, of those that have ended well.
    settled: Option<Settled>,
    memory: Memory,
}

impl Guard {
    fn inputs(&self) -> Vec<(PartyId, [[u8; 32]; 2])> {
        let digest = |held: &Zeroizing<Hasher>| *held.finalize().as_bytes();
        let held = self.held.iter();
        held.map(|(owner, held)| (*owner, held.each_ref().map(digest)))
            .collect()
    }

    /// Adds both components of an input.
    fn hold(&mut self, owner: PartyId, form: Form, parts: &[Planes<u64>; 2]) {
        let held = self.held.get_mut(&owner).into_iter().flatten();
        for (held, part) in held.zip(parts) {
            form.pack(part.data(), |bytes| {
                held.update(bytes);
            });
        }
    }

    /// Keeps the settlement that began last: one without products ends before one with proofs that
    /// began earlier.
    fn settle(&mut self, settled: Settled) {
        let before = self.settled.as_ref().map_or(0, |before| before.steps);
        if settled.steps >= before {
            self.settled = Some(settled);
        }
    }

    /// The last settlement, if it covers all that has been computed.
    fn covered(&self) -> Result<&Settled> {
        let covers =
            |settled: &&Settled| settled.steps == self.steps && self.open == Counts::default();
        let settled = self.settled.as_ref().filter(covers);
        settled.ok_or_else(|| Fault::internal("an opening of what nobody has proved"))
    }
}

/// Parties without a role, in order.
fn outsiders(setting: &Setting) -> impl Iterator<Item = PartyId> {
    setting
        .everyone()
        .filter(|party| setting.role_of(*party).is_none())
}

/// Statements of a step that have to be proved, and at a party with a role the record of them.
pub struct Unproved {
    counts: Counts,
    record: Option<Box<Record>>,
}

/// A step that has begun.
pub struct GuardedPending<'a>(State<'a>);

enum State<'a> {
    /// A party without a role waits for so many flights of a step with so many statements.
    Watch(usize, Share, Counts),
    /// An input is in transit, perhaps of a party without a role.
    Arriving(Arriving, Option<PartyId>),
    Tape(Box<RunningTape<'a>>, Run<'a>),
    Masked(Box<RunningMasked<'a>>, Run<'a>),
    Settle(Box<Settling>, Counts),
    /// A party without a role waits for so many flights of a settlement, and whether it has read
    /// the first.
    WatchSettle(usize, bool),
    Open(Vec<Opened<Share>>, u64),
}

/// A tape, and its lanes.
type Run<'a> = (&'a Tape, usize);

impl Protocol for Guarded {
    fn profile() -> Profile {
        Profile {
            name: "trio-malicious",
            version: 1,
            roles: ROLES,
            arithmetic: false,
            settles: true,
            corruption: Corruption::Malicious(Threshold::Exactly(1)),
            assumption: "AES-128 is a pseudorandom function; BLAKE3 is a random oracle; channels \
                         between every two are secure",
            references: crate::references::GUARDED,
            security: SecurityLevel {
                computational: 120,
                statistical: 0,
            },
            ..Trio::profile()
        }
    }

    fn lookups() -> &'static [Lookups] {
        &[Lookups::Gates, Lookups::Tower]
    }

    fn products() -> &'static [usize] {
        &[2, 4]
    }

    fn domain(algebra: Algebra) -> Domain {
        Trio::domain(algebra)
    }

    fn domain_profile(domain: Domain, parties: usize) -> DomainProfile {
        Trio::domain_profile(domain, parties)
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        cost::cost(setting, work)
    }

    fn demand(setting: &Setting, work: &StepShape) -> Demand {
        Trio::demand(setting, work)
    }

    fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
        cost::set_up_cost(setting, demand)
    }

    fn material_bits(_: &Setting, work: &StepShape) -> u64 {
        cost::material_bits(work)
    }

    fn check_bits(_: &Setting, work: &StepShape) -> u64 {
        cost::check_bits(work)
    }

    fn state_bytes(_: &Setting, _: &Demand) -> u64 {
        cost::STATE_BYTES
    }
}

impl Party for GuardedParty {
    type Protocol = Guarded;
    type Offline = NoOffline<()>;

    fn set_up(start: Start<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<GuardedParty> {
        let Start {
            setting,
            me,
            session,
            cpu,
            mut coins,
            ..
        } = start;
        let (setting, coins) = (setting.clone(), &mut coins);
        let guests = keys::guests(&setting, demand)?;
        let maker = KeyMaker { cpu, session };
        let place = match RoleIndex::of(&setting, me) {
            Some(role_index) => Membership::Role(Erased::new(Computing {
                setting: setting.clone(),
                cpu,
                role_index,
                keys: Keys::prepare(role_index, &guests, true, maker, coins, mesh)?,
                layouts: Layouts::default(),
                recycled: Recycled::default(),
                spare: Spare::default(),
            })),
            None => {
                let owns = guests.contains(&me);
                let keys = owns.then(|| keys::prepare_guest(&setting, maker, coins, mesh));
                Membership::Outside(keys.transpose()?.map(Erased::new))
            }
        };
        let mut held = Hasher::new_derive_key("sealane 1 trio inputs");
        held.update(session.as_bytes());
        let guard = Guard {
            held: outsiders(&setting)
                .map(|owner| (owner, [0, 1].map(|_| Zeroizing::new(held.clone()))))
                .collect(),
            segments: 0,
            openings: 0,
            steps: 0,
            open: Counts::default(),
            settled: None,
            memory: Memory::default(),
        };
        Ok(GuardedParty {
            setting,
            me,
            place,
            guard,
        })
    }

    fn expect(&mut self, tape: &Tape, lanes: usize) {
        if let Membership::Role(party) = &mut self.place {
            party.expect_masked(tape, lanes);
        }
    }
}

impl Steps for GuardedParty {
    type Share = Share;
    type Pending<'a> = GuardedPending<'a>;
    type Material = ();
    type Output = ();
    type Check = Unproved;

    fn count(checks: &[Unproved]) -> Checks {
        self::checks(&sum(checks))
    }

    fn constant(&mut self, domain: Domain, bits: usize, values: &[u64]) -> Share {
        constant(&self.setting, self.me, domain, bits, values)
    }

    fn linear(&mut self, _: Domain, _: usize, _: &[Term<'_, Share>]) -> Result<Share> {
        let refused = Operation::Sum.refusal();
        Err(refused.unwrap_or_else(|| Fault::internal("a sum modulo 2^k that nobody planned")))
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        _: Option<()>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        operations::allowed(&self.setting, &step)?;
        match step {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                values,
            } => {
                let form = Form::of_words(domain, bits, elements)?;
                let values = values.map(|values| form.encode(&values));
                self.begin_input(owner, form, values, mesh)
            }
            Step::Tape {
                tape,
                lanes,
                operands,
                ..
            } => match &mut self.place {
                Membership::Role(party) => {
                    let ran = party.begin_tape(tape, lanes, &operands, true, mesh)?;
                    self.ran(ran, (tape, lanes))
                }
                Membership::Outside(_) => {
                    let shape = Form::bits(tape.outputs.len(), lanes).shape();
                    let flights = cost::flights(tape);
                    let counts = record::counts(tape, lanes);
                    Ok(self.watch(flights, shape, counts))
                }
            },
            Step::Settle { checks } => self.begin_settle(checks, mesh),
            Step::Open { results } => {
                let opening = Opening {
                    setting: &self.setting,
                    me: self.me,
                    number: self.guard.openings,
                };
                if let Membership::Role(party) = &mut self.place {
                    let settled = self.guard.covered()?;
                    opening.give(settled, party, &results, mesh)?;
                }
                self.guard.openings += 1;
                Ok(more(State::Open(results, opening.number)))
            }
            Step::Product { .. }
            | Step::Ring { .. }
            | Step::Convert { .. }
            | Step::Shuffle { .. }
            | Step::Sort { .. }
            | Step::CompareExchange { .. } => Err(Fault::internal("a step that was refused")),
        }
    }

    fn advance<'a>(
        &mut self,
        state: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        match (state.0, &mut self.place) {
            (State::Watch(flights, shape, counts), _) => Ok(self.watch(flights - 1, shape, counts)),
            (State::Arriving(arriving, guest), _) => {
                let form = arriving.form;
                let parts = arriving.finish(mesh)?;
                if let Some(owner) = guest {
                    self.guard.hold(owner, form, &parts);
                }
                Ok(self.done(form.share(parts), Counts::default(), None))
            }
            (State::Tape(run, of), Membership::Role(party)) => {
                let ran = party.advance_tape(run, mesh)?;
                self.ran(ran, of)
            }
            (State::Masked(run, of), Membership::Role(party)) => {
                let ran = masked(party.advance_masked(run, mesh)?);
                self.ran(ran, of)
            }
            (State::Settle(mut settling, counts), Membership::Role(party)) => {
                let keys = party.keys.guard.as_ref();
                let keys = keys.ok_or_else(|| Fault::internal("no keys of proofs"))?;
                match settling.advance(keys, &mut self.guard.memory, mesh)? {
                    Some(settled) => {
                        settling.reuse(&mut party.spare);
                        let open = self.guard.open.iter_mut().zip(counts);
                        open.for_each(|(open, count)| *open -= count);
                        self.guard.settle(settled);
                        Ok(Progress::Done(Outcome::Settled(())))
                    }
                    None => Ok(more(State::Settle(settling, counts))),
                }
            }
            (State::WatchSettle(flights, read), Membership::Outside(_)) => {
                if !read {
                    settle::check_crossed(&self.setting, self.me, mesh)?;
                }
                match flights - 1 {
                    0 => Ok(Progress::Done(Outcome::Settled(()))),
                    flights => Ok(more(State::WatchSettle(flights, true))),
                }
            }
            (State::Open(results, number), _) => {
                let opening = Opening {
                    setting: &self.setting,
                    me: self.me,
                    number,
                };
                let revealed = opening.learn(&results, mesh)?;
                Ok(Progress::Done(Outcome::Opened(revealed, ())))
            }
            _ => Err(Fault::internal("a step of another role")),
        }
    }
}

impl GuardedParty {
    fn begin_input<'a>(
        &mut self,
        owner: PartyId,
        form: Form,
        values: Option<Planes<u64>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, GuardedParty>> {
        let role = role_index::role(&self.setting, owner);
        match &mut self.place {
            Membership::Role(party) => {
                let arriving = match role {
                    Some(role) => party.input_of_role(role, None, form, values, mesh)?,
                    None => party.input_of_guest(owner, form)?,
                };
                let guest = role.is_none().then_some(owner);
                Ok(more(State::Arriving(arriving, guest)))
            }
            Membership::Outside(keys) => {
                if owner == self.me {
                    let keys = keys.as_mut();
                    let keys = keys.ok_or_else(|| Fault::internal("no keys of inputs"))?;
                    input::give(&self.setting, keys, form, values, mesh)?;
                }
                Ok(self.watch(1, form.shape(), Counts::default()))
            }
        }
    }

    fn begin_settle<'a>(
        &mut self,
        checks: Vec<Unproved>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, GuardedParty>> {
        let counts = sum(&checks);
        let Membership::Role(party) = &self.place else {
            settle::send_crossed(&self.setting, self.me, mesh)?;
            let flights = cost::settle_flights(&counts);
            return Ok(more(State::WatchSettle(flights, false)));
        };
        let records = checks.into_iter().filter_map(|check| check.record);
        let records: Vec<Record> = records.map(|record| *record).collect();
        if record::total(&records) != counts {
            return Err(Fault::internal("a product without a record"));
        }
        let keys = party.keys.guard.as_ref();
        let keys = keys.ok_or_else(|| Fault::internal("no keys of proofs"))?;
        let settling = Settling::begin(
            (&self.setting, self.me),
            (party.cpu, party.role_index),
            keys,
            &mut self.guard,
            (records, &counts),
            mesh,
        )?;
        Ok(more(State::Settle(Box::new(settling), counts)))
    }

    fn ran<'a>(&mut self, ran: TapeProgress<'a>, of: Run<'a>) -> Result<Progress<'a, Self>> {
        let (tape, lanes) = of;
        match ran {
            TapeProgress::More(run) => Ok(more(State::Tape(run, of))),
            TapeProgress::Masked(run) => Ok(more(State::Masked(run, of))),
            TapeProgress::Done(share, mut record) => {
                if let Some(record) = &mut record {
                    record.complete(tape, lanes)?;
                }
                Ok(self.done(share, record::counts(tape, lanes), record))
            }
        }
    }

    /// The pending state of a party without a role, with so many flights left.
    fn watch<'a>(&mut self, flights: usize, shape: Share, counts: Counts) -> Progress<'a, Self> {
        match flights {
            0 => self.done(shape, counts, None),
            _ => more(State::Watch(flights, shape, counts)),
        }
    }

    /// The end of a step that makes a share.
    fn done<'a>(
        &mut self,
        share: Share,
        counts: Counts,
        mut record: Option<Box<Record>>,
    ) -> Progress<'a, Self> {
        let all = counts.iter().sum::<usize>();
        // A loop leaves one for each of its turns.
        if let Some(record) = record.as_mut().filter(|_| all < SMALL) {
            record.shrink();
        }
        self.guard.steps += 1;
        add(&mut self.guard.open, &counts);
        let left = (all > 0).then_some(Unproved { counts, record });
        Progress::Done(Outcome::Share(share, left.into_iter().collect(), ()))
    }
}

fn sum(checks: &[Unproved]) -> Counts {
    let mut sum = Counts::default();
    checks.iter().for_each(|check| add(&mut sum, &check.counts));
    sum
}

fn more<'a>(state: State<'a>) -> Progress<'a, GuardedParty> {
    Progress::More(GuardedPending(state))
}
