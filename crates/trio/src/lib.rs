//! Crate `trio`: three parties, honest majority: (2,3) replicated sharing.
//!
//! A value `x` is the sum `x_0 + x_1 + x_2` of three components, by XOR for bits and modulo `2^k`
//! for integers of any `k` from 1 to 64. The party of role `i` holds `x_i` and `x_(i+1)`, indices
//! modulo 3, so each component is held by two parties and each party lacks one. Sums are local; a
//! product costs one element a party and one flight (Araki, Furukawa, Lindell, Nof, Ohara,
//! "High-Throughput Semi-Honest Secure Three-Party Computation with an Honest Majority", CCS 2016).
//! Bits run through tapes, compiled by levels of ANDs so that flights are the depth; tables are
//! looked up by one-hot indices (Launchbury, Diatchki, DuBuisson, Adams-Moran, "Efficient
//! Lookup-Table Protocol in Secure Multiparty Computation", ICFP 2012, section 3), which are such
//! tapes. Between bits and integers there are conversions in the manner of Mohassel and Rindal
//! ("ABY3", CCS 2018).
//!
//! | module | content |
//! |---|---|
//! | `role_index` | the ring of roles, and the components that each holds |
//! | `keys` | common randomness, shares of zero |
//! | `arrive` | a component in transit; the one resharing of all products |
//! | `guarded`, `record` | the profile against a malicious party; the statements that it proves |
//! | `roles`, `outside` | a step at parties with and without a role |
//! | `input`, `tape`, `product`, `convert`, `shuffle`, `sort`, `reveal` | the steps |
//! | `masked` | tapes with functions of a few bits, for which a helper deals |
//! | `order` | rows, and the orders that a shuffle puts them in |
//! | `cost` | the exact cost of all steps |
//!
//! Parties without a role may own inputs and learn results; they hold shapes and no shares.
//!
//! Security of [`Trio`]: one semi-honest party, with a role or without, learns nothing beyond the
//! results that it may learn. AES-128 is assumed to be a pseudorandom function, and every two
//! parties have a secure channel. Two colluding parties with roles learn all values. A malicious
//! party with a role can change results undetected, and so learn more from them than the program
//! reveals; a malicious owner without a role can send different rests of an input to roles 1 and
//! 2. Neither is detected: the digests before a reveal find accidental corruption only. See
//! SECURITY.md. [`Guarded`] is a profile of bits and integers modulo a prime that withstands one
//! malicious party, by the proofs of crate `proof`.
#![forbid(unsafe_code)]

mod arrive;
mod convert;
mod cost;
mod guarded;
#[cfg(test)]
mod ideal;
mod input;
mod keys;
mod masked;
mod order;
mod outside;
mod product;
mod record;
mod references;
mod reveal;
mod role_index;
mod roles;
mod shuffle;
mod sort;
mod tape;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod views;

pub use guarded::{Guarded, GuardedParty, GuardedPending, Unproved};

use arrive::Arriving;
use convert::{Inject, Weighed};
use keys::{KeyMaker, Keys};
use masked::{Layouts, Recycled, RunningMasked};
use outside::Outside;
use record::Spare;
use role_index::RoleIndex;
use roles::Computing;
use sealane_block::Erased;
use sealane_circuit::function::Field;
use sealane_circuit::{Lookups, Tape};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Components, Fault, Form, NoOffline, Opened, Outcome, Party, Progress, Result, Shares, Start,
    Step, Steps, Term, check_digests, linear, send_digests,
};
use sealane_protocol::{
    Algebra, Corruption, Cost, Demand, Domain, DomainProfile, Goal, Profile, Protocol, Role,
    SecurityLevel, Setting, Sharing, StepShape, Threshold,
};
use shuffle::Shuffling;
use sort::Sorting;
use tape::RunningTape;

const ROLES: &[Role] = &[Role::one("first"), Role::one("second"), Role::one("third")];

/// One party's part of a tensor: two of the three components, `i` and `i + 1` at the party of role
/// `i`.
pub type Share = Components<2>;

/// The protocol, as plans see it.
pub enum Trio {}

/// One party of a run.
pub struct TrioParty {
    setting: Setting,
    me: PartyId,
    place: Membership,
}

/// A party that computes, or one that does not.
enum Membership {
    Role(Erased<Computing>),
    Outside(Erased<Outside>),
}

/// A step that has begun.
pub struct TrioPending<'a>(StepState<'a>);

enum StepState<'a> {
    /// A party without a role waits for so many flights between others.
    Watch(usize, Share),
    /// The last component of the result is in transit.
    Arriving(Arriving),
    /// A tape waits for products.
    Tape(Box<RunningTape<'a>>),
    /// A tape with functions waits for what is dealt and opened.
    Masked(Box<RunningMasked<'a>>),
    /// Bits to integers: an input is in transit, then a product.
    Inject(Box<Inject>),
    Weighed(Box<Weighed>),
    /// Rows of this form are shuffled.
    Shuffle(Form, Box<Shuffling>),
    Sort(Box<Sorting>),
    /// Digests are in transit.
    Settle,
    /// Results are being opened.
    Open(Vec<Opened<Share>>),
}

impl Protocol for Trio {
    fn profile() -> Profile {
        Profile {
            name: "trio",
            version: 4,
            roles: ROLES,
            outsiders: true,
            arithmetic: true,
            settles: false,
            offline: false,
            pools: false,
            silent: false,
            corruption: Corruption::SemiHonest(Threshold::Exactly(1)),
            assumption: "AES-128 is a pseudorandom function; channels between every two are secure",
            references: references::REFERENCES,
            security: SecurityLevel {
                computational: 128,
                statistical: 0,
            },
        }
    }

    fn sorts() -> Option<u64> {
        Some(order::MOST_ROWS)
    }

    fn lookups() -> &'static [Lookups] {
        &[
            Lookups::Gates,
            Lookups::Tower,
            Lookups::ShortTower,
            Lookups::Tables,
        ]
    }

    fn products() -> &'static [usize] {
        Field::SIZES
    }

    fn domain(algebra: Algebra) -> Domain {
        Domain {
            sharing: Sharing::Replicated,
            algebra,
            authenticated: false,
        }
    }

    fn domain_profile(domain: Domain, _: usize) -> DomainProfile {
        DomainProfile {
            goal: Goal::Depth,
            share_bits: match domain.algebra {
                Algebra::Z2 => 2,
                // Two components of 64 bits.
                Algebra::Z2k(_) | Algebra::Gf2k(_) | Algebra::Fp => 128,
            },
        }
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        cost::cost(setting, work)
    }

    fn demand(setting: &Setting, work: &StepShape) -> Demand {
        cost::demand(setting, work)
    }

    fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
        cost::set_up_cost(setting, demand)
    }
}

impl Party for TrioParty {
    type Protocol = Trio;
    type Offline = NoOffline<()>;

    fn set_up(start: Start<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<TrioParty> {
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
                keys: Keys::prepare(role_index, &guests, false, maker, coins, mesh)?,
                layouts: Layouts::default(),
                recycled: Recycled::default(),
                spare: Spare::default(),
            })),
            None => {
                let owns = guests.contains(&me);
                let keys = owns.then(|| keys::prepare_guest(&setting, maker, coins, mesh));
                let (setting, keys) = (setting.clone(), keys.transpose()?);
                Membership::Outside(Erased::new(Outside { setting, me, keys }))
            }
        };
        Ok(TrioParty { setting, me, place })
    }

    fn expect(&mut self, tape: &Tape, lanes: usize) {
        if let Membership::Role(party) = &mut self.place {
            party.expect_masked(tape, lanes);
        }
    }
}

impl Steps for TrioParty {
    type Share = Share;
    type Pending<'a> = TrioPending<'a>;
    type Material = ();
    type Output = ();
    type Check = ();

    fn constant(&mut self, domain: Domain, bits: usize, values: &[u64]) -> Share {
        constant(&self.setting, self.me, domain, bits, values)
    }

    fn linear(&mut self, domain: Domain, lanes: usize, terms: &[Term<'_, Share>]) -> Result<Share> {
        match RoleIndex::of(&self.setting, self.me) {
            Some(_) => linear(domain, lanes, terms),
            None => Ok(Share::zeros(1, lanes)),
        }
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        _: Option<()>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        match step {
            Step::Settle { .. } => {
                send_digests(mesh, reveal::peers(&self.setting, self.me))?;
                Ok(more(StepState::Settle))
            }
            Step::Open { results } => {
                reveal::open(&self.setting, self.me, &results, mesh)?;
                Ok(more(StepState::Open(results)))
            }
            step => match &mut self.place {
                Membership::Role(party) => party.begin(step, mesh),
                Membership::Outside(party) => party.begin(step, mesh),
            },
        }
    }

    fn advance<'a>(
        &mut self,
        state: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        match (state.0, &mut self.place) {
            (StepState::Settle, _) => {
                check_digests(mesh, reveal::peers(&self.setting, self.me))?;
                Ok(Progress::Done(Outcome::Settled(())))
            }
            (StepState::Open(results), _) => {
                let revealed = reveal::learn(&self.setting, self.me, &results, mesh)?;
                Ok(Progress::Done(Outcome::Opened(revealed, ())))
            }
            (StepState::Watch(flights, shape), _) => Ok(watch(flights - 1, shape)),
            (state, Membership::Role(party)) => party.advance(state, mesh),
            _ => Err(Fault::internal("a step of another role")),
        }
    }
}

/// A party's part of public values.
///
/// # Panics
/// If the domain does not belong to this protocol, or the bits are not those of its elements.
fn constant(setting: &Setting, me: PartyId, domain: Domain, bits: usize, values: &[u64]) -> Share {
    let form = Form::of_words(domain, bits, values.len());
    let form = form.expect("a constant lives in a domain of trio");
    let Some(role_index) = RoleIndex::of(setting, me) else {
        return form.shape();
    };
    // Component 0 is the value.
    form.share([0, 1].map(|place| {
        if role_index.place_of(0) == Some(place) {
            form.encode(values)
        } else {
            form.zeros()
        }
    }))
}

fn more<'a>(state: StepState<'a>) -> Progress<'a, TrioParty> {
    Progress::More(TrioPending(state))
}

fn done<'a>(share: Share) -> Progress<'a, TrioParty> {
    Progress::share(share)
}

/// The pending state of a party without a role, with so many flights left.
fn watch<'a>(flights: usize, shape: Share) -> Progress<'a, TrioParty> {
    match flights {
        0 => done(shape),
        _ => more(StepState::Watch(flights, shape)),
    }
}
