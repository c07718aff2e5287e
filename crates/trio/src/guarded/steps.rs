//! Steps of a run: what each writes and reads, at a party with a role and at one without.

use super::adder::adder;
use super::crossed::{Among, check_crossed, send_crossed};
use super::integers::{Ran, Running};
use super::open::Opening;
use super::operations::{self, Operation};
use super::settle::{Settling, Work};
use super::sort::{At, SortProgress, Sorting};
use super::{Due, GuardedParty, Membership, Recorded, SMALL, Unproved, cost};
use crate::arrive::Arriving;
use crate::masked::RunningMasked;
use crate::record::{self, Record, Sums};
use crate::role_index;
use crate::tape::{RunningTape, TapeProgress, masked};
use crate::{Share, constant, input};
use sealane_circuit::Tape;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Fault, Form, Opened, Outcome, Planes, Progress, Result, Shares, Step, Steps, Term, is_prime,
    linear,
};
use sealane_protocol::{Checks, Domain, StepShape};

/// A step that has begun.
pub struct GuardedPending<'a>(State<'a>);

enum State<'a> {
    /// A party without a role waits for so many flights of a step with so many statements.
    Watch(usize, Share, Due),
    /// An input is in transit, perhaps of a party without a role.
    Arriving(Arriving, Option<PartyId>),
    Tape(Box<RunningTape<'a>>, Run<'a>),
    Masked(Box<RunningMasked<'a>>, Run<'a>),
    Sort(Box<Sorting>),
    Integers(Running),
    Settle(Box<Settling>, Due),
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
        sum(checks).checks()
    }

    fn constant(&mut self, domain: Domain, bits: usize, values: &[u64]) -> Share {
        constant(&self.setting, self.me, domain, bits, values)
    }

    fn linear(&mut self, domain: Domain, lanes: usize, terms: &[Term<'_, Share>]) -> Result<Share> {
        if let Some(refused) = Operation::sum(domain).refusal() {
            return Err(refused);
        }
        match &self.place {
            Membership::Role(_) => linear(domain, lanes, terms),
            Membership::Outside(_) => Ok(Share::zeros(1, lanes)),
        }
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        _: Option<()>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        operations::allowed(&self.setting, &step)?;
        let work = step.shape();
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
                    let due = Due::of_bits(record::counts(tape, lanes));
                    Ok(self.watch(flights, shape, due))
                }
            },
            Step::Product { left, right, .. } => match &mut self.place {
                Membership::Role(party) => {
                    let running = party.multiply((&left, &right), mesh)?;
                    Ok(more(State::Integers(running)))
                }
                Membership::Outside(_) => {
                    let shape = Form::prime(1, left.lanes()).shape();
                    Ok(self.watch_cost(&work, shape))
                }
            },
            Step::Convert {
                to,
                bits,
                signed,
                share,
                ..
            } => match &mut self.place {
                Membership::Role(party) if is_prime(to) => {
                    let running = party.begin_integers((bits, signed), &share, mesh)?;
                    Ok(more(State::Integers(running)))
                }
                Membership::Role(party) => {
                    let ran = party.begin_bits((bits, signed), &share, mesh)?;
                    self.ran(ran, (adder(bits), share.elements()))
                }
                Membership::Outside(_) => {
                    let planes = if is_prime(to) { 1 } else { bits };
                    let shape = Form::of(to, planes, share.elements())?.shape();
                    Ok(self.watch_cost(&work, shape))
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
                    Ok(self.watch(flights, form.shape(), Due::default()))
                }
            },
            Step::Settle { checks } => self.begin_settle(checks, mesh),
            Step::Open { results } => self.begin_open(results, mesh),
            Step::Ring { .. } | Step::Shuffle { .. } | Step::CompareExchange { .. } => {
                Err(Fault::internal("a step that was refused"))
            }
        }
    }

    fn advance<'a>(
        &mut self,
        state: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        match (state.0, &mut self.place) {
            (State::Watch(flights, shape, due), _) => Ok(self.watch(flights - 1, shape, due)),
            (State::Arriving(arriving, guest), _) => {
                let form = arriving.form;
                let parts = arriving.finish(mesh)?;
                if let Some(owner) = guest {
                    self.guard.hold(owner, form, &parts);
                }
                Ok(self.done(form.share(parts), Due::default(), Recorded::default()))
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
            (State::Integers(running), Membership::Role(party)) => {
                Ok(match party.advance_integers(running, mesh)? {
                    Ran::More(running) => more(State::Integers(running)),
                    Ran::Done(share, sums) => self.summed(share, sums),
                })
            }
            (State::Settle(mut settling, due), Membership::Role(party)) => {
                let keys = party.keys.guard.as_ref();
                let keys = keys.ok_or_else(|| Fault::internal("no keys of proofs"))?;
                match settling.advance(keys, &mut self.guard.memory, mesh)? {
                    Some(settled) => {
                        settling.reuse(&mut party.spare);
                        self.guard.open.subtract(&due);
                        self.guard.settle(settled);
                        Ok(Progress::Done(Outcome::Settled(())))
                    }
                    None => Ok(more(State::Settle(settling, due))),
                }
            }
            (State::WatchSettle(flights, read), Membership::Outside(_)) => {
                if !read {
                    check_crossed((&self.setting, self.me), Among::All, mesh)?;
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
    /// Gives results, which a settlement has to cover.
    fn begin_open<'a>(
        &mut self,
        results: Vec<Opened<Share>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
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
                Ok(self.watch(1, form.shape(), Due::default()))
            }
        }
    }

    fn begin_settle<'a>(
        &mut self,
        checks: Vec<Unproved>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, GuardedParty>> {
        let due = sum(&checks);
        let Membership::Role(party) = &self.place else {
            send_crossed((&self.setting, self.me), Among::All, mesh)?;
            let flights = cost::settle_flights(&due);
            return Ok(more(State::WatchSettle(flights, false)));
        };
        let (mut records, mut sums): (Vec<Record>, Vec<Sums>) = Default::default();
        for Unproved { record, .. } in checks {
            records.extend(record.bits.map(|record| *record));
            sums.extend(record.sums.map(|record| *record));
        }
        if record::total(&records) != due.bits || record::sum_total(&sums) != due.sums {
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
                sums,
                due: &due,
                turned: None,
                among: Among::All,
            },
            mesh,
        )?;
        Ok(more(State::Settle(Box::new(settling), due)))
    }

    fn ran<'a>(&mut self, ran: TapeProgress<'a>, of: Run<'a>) -> Result<Progress<'a, Self>> {
        let (tape, lanes) = of;
        match ran {
            TapeProgress::More(run) => Ok(more(State::Tape(run, of))),
            TapeProgress::Masked(run) => Ok(more(State::Masked(run, of))),
            TapeProgress::Done(share, mut bits) => {
                if let Some(record) = &mut bits {
                    record.complete(tape, lanes)?;
                }
                let record = Recorded { bits, sums: None };
                Ok(self.done(share, Due::of_bits(record::counts(tape, lanes)), record))
            }
        }
    }

    /// The end of a step on integers.
    fn summed<'a>(&mut self, share: Share, sums: Box<Sums>) -> Progress<'a, Self> {
        let due = Due {
            sums: sums.counts(),
            ..Due::default()
        };
        let sums = Some(sums);
        self.done(share, due, Recorded { bits: None, sums })
    }

    fn sorted<'a>(&mut self, sorted: SortProgress) -> Progress<'a, Self> {
        match sorted {
            SortProgress::More(sorting) => more(State::Sort(sorting)),
            // All of it has been proved.
            SortProgress::Done(share) => self.done(share, Due::default(), Recorded::default()),
        }
    }

    /// The pending state of a party without a role, with so many flights left.
    fn watch<'a>(&mut self, flights: usize, shape: Share, due: Due) -> Progress<'a, Self> {
        match flights {
            0 => self.done(shape, due, Recorded::default()),
            _ => more(State::Watch(flights, shape, due)),
        }
    }

    /// The pending state of a party without a role, during a step of this cost.
    fn watch_cost<'a>(&mut self, work: &StepShape, shape: Share) -> Progress<'a, Self> {
        let cost = cost::cost(&self.setting, work);
        self.watch(cost.flights.len(), shape, Due::among(&cost.checks))
    }

    /// The end of a step that makes a share.
    fn done<'a>(&mut self, share: Share, due: Due, mut record: Recorded) -> Progress<'a, Self> {
        let all = due.bits.iter().sum::<usize>();
        // A loop leaves one for each of its turns.
        if let Some(record) = record.bits.as_mut().filter(|_| all < SMALL) {
            record.shrink();
        }
        self.guard.steps += 1;
        self.guard.open.add(&due);
        let left = (!due.is_empty()).then_some(Unproved { due, record });
        Progress::Done(Outcome::Share(share, left.into_iter().collect(), ()))
    }
}

fn sum(checks: &[Unproved]) -> Due {
    let mut sum = Due::default();
    checks.iter().for_each(|check| sum.add(&check.due));
    sum
}

fn more<'a>(state: State<'a>) -> Progress<'a, GuardedParty> {
    Progress::More(GuardedPending(state))
}
