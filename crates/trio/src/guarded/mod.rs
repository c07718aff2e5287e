//! The profile of `trio` against one malicious party, with a role or without, together with any
//! parties without a role.
//!
//! Messages are those of `trio` for inputs and ANDs. Before anything is opened, each role proves
//! all its messages to both others (crate `proof`; `settle`), and each component of a result comes
//! from one of its two holders and a digest of it from the other one (`open`). It computes on bits
//! alone: planning makes everything else of them.
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
use crate::masked::{Layouts, Recycled};
use crate::record::Record;
use crate::role_index::{self, RoleIndex};
use crate::roles::Computing;
use crate::tape::{RunningTape, TapeProgress};
use crate::{ROLES, Share, Trio, constant, input};
use blake3::Hasher;
use open::Opening;
use operations::Operation;
use sealane_block::Erased;
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

/// ANDs of a segment: 3 MiB of strings. Tests have several.
const SEGMENT: usize = if cfg!(test) { 1 << 13 } else { 1 << 22 };

/// ANDs of a step below which its record is packed until it is settled.
const SMALL: usize = 1 << 14;

/// The kind of the checks that an AND leaves.
const AND: CheckKind = CheckKind {
    field: Algebra::Z2,
    terms: 2,
};

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
    /// ANDs of these steps that no settlement has proved.
    ands: usize,
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

    /// Keeps the settlement that began last: one without ANDs ends before one with proofs that
    /// began earlier.
    fn settle(&mut self, settled: Settled) {
        let before = self.settled.as_ref().map_or(0, |before| before.steps);
        if settled.steps >= before {
            self.settled = Some(settled);
        }
    }

    /// The last settlement, if it covers all that has been computed.
    fn covered(&self) -> Result<&Settled> {
        let covers = |settled: &&Settled| settled.steps == self.steps && self.ands == 0;
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

/// ANDs of a step that have to be proved, and at a party with a role the record of them.
pub struct Unproved {
    ands: usize,
    record: Option<Box<Record>>,
}

/// A step that has begun.
pub struct GuardedPending<'a>(State<'a>);

enum State<'a> {
    /// A party without a role waits for so many flights of a step with so many ANDs.
    Watch(usize, Share, usize),
    /// An input is in transit, perhaps of a party without a role.
    Arriving(Arriving, Option<PartyId>),
    Tape(Box<RunningTape<'a>>, usize),
    Settle(Box<Settling>, usize),
    /// A party without a role waits for so many flights of a settlement, and whether it has read
    /// the first.
    WatchSettle(usize, bool),
    Open(Vec<Opened<Share>>, u64),
}

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
            ands: 0,
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
}

impl Steps for GuardedParty {
    type Share = Share;
    type Pending<'a> = GuardedPending<'a>;
    type Material = ();
    type Output = ();
    type Check = Unproved;

    fn count(checks: &[Unproved]) -> Checks {
        let ands = checks.iter().map(|check| check.ands as u64).sum::<u64>();
        match ands {
            0 => Checks::default(),
            ands => Checks::of(AND, ands),
        }
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
            } => {
                let ands = tape.ands.len() * lanes;
                match &mut self.place {
                    Membership::Role(party) => {
                        let record = Some(Box::new(Record::with_capacity(ands)));
                        let ran = party.begin_tape(tape, lanes, &operands, record, mesh)?;
                        self.ran(ran, ands)
                    }
                    Membership::Outside(_) => {
                        let shape = Form::bits(tape.outputs.len(), lanes).shape();
                        let flights = cost::flights(tape);
                        Ok(self.watch(flights, shape, ands))
                    }
                }
            }
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
            (State::Watch(flights, shape, ands), _) => Ok(self.watch(flights - 1, shape, ands)),
            (State::Arriving(arriving, guest), _) => {
                let form = arriving.form;
                let parts = arriving.finish(mesh)?;
                if let Some(owner) = guest {
                    self.guard.hold(owner, form, &parts);
                }
                Ok(self.done(form.share(parts), 0, None))
            }
            (State::Tape(run, ands), Membership::Role(party)) => {
                let ran = party.advance_tape(run, mesh)?;
                self.ran(ran, ands)
            }
            (State::Settle(mut settling, ands), Membership::Role(party)) => {
                let keys = party.keys.guard.as_ref();
                let keys = keys.ok_or_else(|| Fault::internal("no keys of proofs"))?;
                match settling.advance(keys, &mut self.guard.memory, mesh)? {
                    Some(settled) => {
                        self.guard.ands -= ands;
                        self.guard.settle(settled);
                        Ok(Progress::Done(Outcome::Settled(())))
                    }
                    None => Ok(more(State::Settle(settling, ands))),
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
                Ok(self.watch(1, form.shape(), 0))
            }
        }
    }

    fn begin_settle<'a>(
        &mut self,
        checks: Vec<Unproved>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, GuardedParty>> {
        let ands = checks.iter().map(|check| check.ands).sum::<usize>();
        let Membership::Role(party) = &self.place else {
            settle::send_crossed(&self.setting, self.me, mesh)?;
            return Ok(more(State::WatchSettle(cost::settle_flights(ands), false)));
        };
        let record = Record::joined(checks.into_iter().filter_map(|check| check.record), ands);
        if record.ands() != ands {
            return Err(Fault::internal("an AND without a record"));
        }
        let keys = party.keys.guard.as_ref();
        let keys = keys.ok_or_else(|| Fault::internal("no keys of proofs"))?;
        let settling = Settling::begin(
            (&self.setting, self.me),
            (party.cpu, party.role_index),
            keys,
            &mut self.guard,
            record,
            mesh,
        )?;
        Ok(more(State::Settle(Box::new(settling), ands)))
    }

    fn ran<'a>(&mut self, ran: TapeProgress<'a>, ands: usize) -> Result<Progress<'a, Self>> {
        match ran {
            TapeProgress::More(run) => Ok(more(State::Tape(run, ands))),
            TapeProgress::Done(share, record) => Ok(self.done(share, ands, record)),
            TapeProgress::Masked(_) => Err(Fault::internal("a tape that runs under masks")),
        }
    }

    /// The pending state of a party without a role, with so many flights left.
    fn watch<'a>(&mut self, flights: usize, shape: Share, ands: usize) -> Progress<'a, Self> {
        match flights {
            0 => self.done(shape, ands, None),
            _ => more(State::Watch(flights, shape, ands)),
        }
    }

    /// The end of a step that makes a share.
    fn done<'a>(
        &mut self,
        share: Share,
        ands: usize,
        mut record: Option<Box<Record>>,
    ) -> Progress<'a, Self> {
        // A loop leaves one for each of its turns.
        if let Some(record) = record.as_mut().filter(|_| ands < SMALL) {
            record.shrink();
        }
        self.guard.steps += 1;
        self.guard.ands += ands;
        let left = (ands > 0).then_some(Unproved { ands, record });
        Progress::Done(Outcome::Share(share, left.into_iter().collect(), ()))
    }
}

fn more<'a>(state: State<'a>) -> Progress<'a, GuardedParty> {
    Progress::More(GuardedPending(state))
}
