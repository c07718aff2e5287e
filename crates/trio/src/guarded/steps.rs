//! Steps of a run: what each writes and reads, at a party with a role and at one without.

use super::open::Opening;
use super::operations::{self, Operation};
use super::settle::{self, Among, Settling, Work};
use super::sort::{At, SortProgress, Sorting};
use super::{GuardedParty, Membership, SMALL, Unproved, add, cost};
use crate::arrive::Arriving;
use crate::masked::RunningMasked;
use crate::record::{self, Counts, Record};
use crate::role_index;
use crate::tape::{RunningTape, TapeProgress, masked};
use crate::{Share, constant, input};
use sealane_circuit::Tape;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Fault, Form, Opened, Outcome, Planes, Progress, Result, Shares, Step, Steps, Term,
};
use sealane_protocol::{Checks, Domain};

/// A step that has begun.
pub struct GuardedPending<'a>(State<'a>);

enum State<'a> {
    /// A party without a role waits for so many flights of a step with so many statements.
    Watch(usize, Share, Counts),
    /// An input is in transit, perhaps of a party without a role.
    Arriving(Arriving, Option<PartyId>),
    Tape(Box<RunningTape<'a>>, Run<'a>),
    Masked(Box<RunningMasked<'a>>, Run<'a>),
    Sort(Box<Sorting>),
    Settle(Box<Settling>, Counts),
    /// A party without a role waits for so many flights of a settlement, and whether it has read
    /// the first.
    WatchSettle(usize, bool),
    Open(Vec<Opened<Share>>, u64),
}

/// A tape, and its lanes.
type Run<'a> = (&'a Tape, usize);

impl Steps for GuardedParty {
    type Share = Share;
    type Pending<'a> = GuardedPending<'a>;
    type Material = ();
    type Output = ();
    type Check = Unproved;

    fn count(checks: &[Unproved]) -> Checks {
        super::checks(&sum(checks))
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
            Step::Sort { share, key, .. } => match &mut self.place {
                Membership::Role(party) => {
                    let at = At {
                        party,
                        guard: &mut self.guard,
                        me: self.me,
                    };
                    let sorted = Sorting::begin(at, &share, &key, mesh)?;
                    Ok(self.sorted(sorted))
                }
                Membership::Outside(_) => {
                    let form = Form::bits(share.planes(), share.elements());
                    let flights = cost::sort_flights(share.elements() as u64, key.len() as u64);
                    Ok(self.watch(flights, form.shape(), Counts::default()))
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
            (State::Sort(sorting), Membership::Role(party)) => {
                let at = At {
                    party,
                    guard: &mut self.guard,
                    me: self.me,
                };
                let sorted = sorting.advance(at, mesh)?;
                Ok(self.sorted(sorted))
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
                    settle::check_crossed((&self.setting, self.me), Among::All, mesh)?;
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
            settle::send_crossed((&self.setting, self.me), Among::All, mesh)?;
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
            Work {
                records,
                counts: &counts,
                turned: None,
                among: Among::All,
            },
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

    fn sorted<'a>(&mut self, sorted: SortProgress) -> Progress<'a, Self> {
        match sorted {
            SortProgress::More(sorting) => more(State::Sort(sorting)),
            // All of it has been proved.
            SortProgress::Done(share) => self.done(share, Counts::default(), None),
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
