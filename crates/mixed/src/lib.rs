//! Crate `mixed`: two parties, semi-honest: XOR shares of bits and additive shares modulo `2^k`.
//! Other parties may own inputs and learn results.
//!
//! A bit is the XOR of two shares, an element of `Z_2^k` their sum (Goldreich, Micali and
//! Wigderson, "How to Play Any Mental Game", STOC 1987; Demmler, Schneider and Zohner, "ABY", NDSS
//! 2015). Sums are local. A product opens both factors less random ones whose product is shared
//! (Beaver, "Efficient Multiparty Protocols Using Circuit Randomization", CRYPTO 1991), in one
//! flight. All that is random is made ahead by oblivious transfers of crate `ot`, by counts alone.
//!
//! | module | content |
//! |---|---|
//! | `goods` | correlations: set-up, refills, pools |
//! | `tape` | circuits on XOR shares, 64 lanes a word, a flight for each level of ANDs |
//! | `carries` | circuits that add the shares of a ring element, of which steps take some bits |
//! | `product` | products modulo `2^k`: of matrices, of pairs, by numbers that a party knows |
//! | `convert` | bits to ring elements, and operations on ring elements that open few bits |
//! | `outside` | inputs and results of parties without a role |
//! | `cost` | the exact cost of all steps |
//!
//! An input of a party with a role is its share, and the other's share is zero. So the share of a
//! number that a party knows is the number, and an input costs nothing. Shares of inputs are no
//! random values, then, and need not be: whatever a party sends has a random summand that the other
//! lacks, and what a receiver of a result gets from the other party is the result less its own
//! share. A receiver without a role gets both shares, which both parties change by a common random
//! value first.
//!
//! Security: one semi-honest party, with a role or without, learns nothing beyond the results that
//! it may learn; parties without a role may collude with each other and with one that has a role,
//! who then sees their inputs and results as if these were its own. Assumes what the transfers
//! assume, and that AES-128 is a pseudorandom function. A malicious party can change results, and
//! learn more from them than the program reveals. See SECURITY.md.
#![forbid(unsafe_code)]

mod carries;
mod convert;
mod cost;
mod goods;
mod outside;
mod product;
mod references;
mod role;
mod tape;
#[cfg(test)]
mod views;

use outside::Outside;
use role::Computing;
use sealane_block::Erased;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::papers::{OT_CHECK_BITS, SILENT_CHECK_BITS};
use sealane_party::{
    Components, Fault, Form, NoOffline, Opened, Outcome, Party, Progress, Result, Shares, Start,
    Step, Steps, Term, check_digests, linear, send_digests,
};
use sealane_protocol::{
    Algebra, Basis, Correlation, Corruption, Cost, Demand, Domain, DomainProfile, Goal, Profile,
    Protocol, Role, SecurityLevel, Setting, Sharing, StepShape, Threshold,
};

/// One party's part of a tensor: XOR shares of bits, or additive shares of ring elements.
pub type Share = Components<1>;

const ROLES: &[Role] = &[Role::one("first"), Role::one("second")];

/// The protocol of bits and ring elements, as plans see it.
pub enum Gmw {}

/// One party of a run.
pub struct GmwParty {
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
pub struct GmwPending<'a>(State<'a>);

enum State<'a> {
    /// A party without a role waits for so many flights between others.
    Watch(usize, Share),
    /// A party with a role reads a flight, and goes on.
    Rest(Rest<'a>),
    /// Digests are in transit.
    Settle,
    /// Results are being opened.
    Open(Vec<Opened<Share>>),
}

/// The rest of a step of a party with a role: it reads the flight that is due, and writes the next
/// one or ends the step.
type Rest<'a> =
    Box<dyn FnOnce(&mut Computing, &mut Mesh) -> Result<Progress<'a, GmwParty>> + Send + 'a>;

/// A step that waits for a flight.
fn then<'a>(
    rest: impl FnOnce(&mut Computing, &mut Mesh) -> Result<Progress<'a, GmwParty>> + Send + 'a,
) -> Progress<'a, GmwParty> {
    Progress::More(GmwPending(State::Rest(Box::new(rest))))
}

/// The pending state of a party without a role, with so many flights left.
fn watch<'a>(flights: usize, shape: Share) -> Progress<'a, GmwParty> {
    match flights {
        0 => Progress::share(shape),
        _ => Progress::More(GmwPending(State::Watch(flights, shape))),
    }
}

impl Protocol for Gmw {
    fn profile() -> Profile {
        Profile {
            name: "gmw",
            version: 1,
            roles: ROLES,
            outsiders: true,
            arithmetic: true,
            settles: false,
            offline: false,
            pools: false,
            silent: true,
            corruption: Corruption::SemiHonest(Threshold::Exactly(1)),
            assumption: references::ASSUMPTION,
            references: references::REFERENCES,
            security: SecurityLevel {
                computational: OT_CHECK_BITS,
                statistical: SILENT_CHECK_BITS,
            },
        }
    }

    fn basis(setting: &Setting, demand: &Demand) -> Basis {
        references::basis(&Gmw::profile(), setting, demand)
    }

    fn domain(algebra: Algebra) -> Domain {
        Domain {
            sharing: match algebra {
                Algebra::Z2 => Sharing::Xor,
                Algebra::Z2k(_) | Algebra::Gf2k(_) => Sharing::Additive,
            },
            algebra,
            authenticated: false,
        }
    }

    fn ring_steps() -> bool {
        true
    }

    fn domain_profile(domain: Domain, _: usize) -> DomainProfile {
        DomainProfile {
            goal: Goal::Depth,
            share_bits: match domain.algebra {
                Algebra::Z2 => 1,
                Algebra::Z2k(_) | Algebra::Gf2k(_) => 64,
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
        goods::set_up_cost(setting, demand)
    }

    fn pool_bits(setting: &Setting, kind: Correlation) -> u64 {
        goods::pool_bits(setting, kind)
    }

    fn state_bytes(setting: &Setting, demand: &Demand) -> u64 {
        goods::state_bytes(setting, demand)
    }

    fn refill_counts(setting: &Setting, lacking: &Demand) -> Demand {
        goods::refill_counts(setting, lacking)
    }

    fn refill_cost(setting: &Setting, demand: &Demand) -> Cost {
        goods::refill_cost(setting, demand)
    }
}

impl Party for GmwParty {
    type Protocol = Gmw;
    type Offline = NoOffline<()>;

    fn set_up(start: Start<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<GmwParty> {
        let (setting, me) = (start.setting.clone(), start.me);
        let place = match setting.role_of(me) {
            Some(role) => {
                let computing = Computing::set_up(start, role, demand, mesh)?;
                Membership::Role(Erased::new(computing))
            }
            None => Membership::Outside(Erased::new(Outside::set_up(start, demand, mesh)?)),
        };
        Ok(GmwParty { setting, me, place })
    }

    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        match &mut self.place {
            Membership::Role(party) => party.goods.refill(demand, mesh),
            Membership::Outside(_) => Ok(()),
        }
    }
}

impl Steps for GmwParty {
    type Share = Share;
    type Pending<'a> = GmwPending<'a>;
    type Material = ();
    type Output = ();
    type Check = ();

    /// # Panics
    /// If the domain does not belong to this protocol, or the bits are not those of its elements.
    fn constant(&mut self, domain: Domain, bits: usize, values: &[u64]) -> Share {
        let form = Form::of_words(domain, bits, values.len());
        let form = form.expect("a constant lives in a domain of gmw");
        match &self.place {
            Membership::Role(party) if party.first() => form.share([form.encode(values)]),
            _ => form.shape(),
        }
    }

    fn linear(&mut self, domain: Domain, lanes: usize, terms: &[Term<'_, Share>]) -> Result<Share> {
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
        match step {
            Step::Settle { .. } => {
                send_digests(mesh, cost::peers(&self.setting, self.me))?;
                Ok(Progress::More(GmwPending(State::Settle)))
            }
            Step::Open { results } => {
                let state = match &mut self.place {
                    Membership::Role(party) => State::Open(party.open(results, mesh)?),
                    Membership::Outside(_) => State::Open(results),
                };
                Ok(Progress::More(GmwPending(state)))
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
            (State::Settle, _) => {
                check_digests(mesh, cost::peers(&self.setting, self.me))?;
                Ok(Progress::Done(Outcome::Settled(())))
            }
            (State::Open(results), _) => {
                let revealed = outside::learn(&self.setting, self.me, &results, mesh)?;
                Ok(Progress::Done(Outcome::Opened(revealed, ())))
            }
            (State::Watch(flights, shape), _) => Ok(watch(flights - 1, shape)),
            (State::Rest(rest), Membership::Role(party)) => rest(party, mesh),
            (State::Rest(_), Membership::Outside(_)) => {
                Err(Fault::internal("a step of another role"))
            }
        }
    }
}
