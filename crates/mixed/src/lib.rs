//! Crate `mixed`: two parties, semi-honest: XOR shares of bits, additive shares modulo `2^k`, and
//! wire labels. Other parties may own inputs and learn results.
//!
//! A bit is the XOR of two shares, an element of `Z_2^k` their sum (Goldreich, Micali and
//! Wigderson, "How to Play Any Mental Game", STOC 1987; Demmler, Schneider and Zohner, "ABY", NDSS
//! 2015). Sums are local. A product opens both factors less random ones whose product is shared
//! (Beaver, "Efficient Multiparty Protocols Using Circuit Randomization", CRYPTO 1991), in one
//! flight. All that is random is made ahead by oblivious transfers of crate `ot`, by counts alone.
//!
//! The protocol `gmw` has these two sharings. The protocol `mixed` also runs circuits on labels of
//! crate `yao`, where planning finds that faster: they take many bytes and two flights, however
//! deep a circuit is.
//!
//! | module | content |
//! |---|---|
//! | `goods` | correlations: set-up, refills, pools |
//! | `tape` | circuits on XOR shares, 64 lanes a word, a flight for each level of ANDs |
//! | `carries` | circuits that add the shares of a ring element, of which steps take some bits |
//! | `product` | products modulo `2^k`: of matrices, of pairs, by numbers that a party knows |
//! | `convert` | bits to ring elements, and operations on ring elements that open few bits |
//! | `labels` | circuits on labels, and conversions to them and from them |
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
//! assume, that AES-128 is a pseudorandom function, and for labels what `yao` assumes of its hash.
//! Labels are chosen by correlated transfers under the offset of the garbler, of which others are
//! hashed for correlations: no transfer serves both. A malicious party can change results, and
//! learn more from them than the program reveals. See SECURITY.md.
#![forbid(unsafe_code)]

mod carries;
mod convert;
mod cost;
mod goods;
mod labels;
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
use sealane_circuit::Lookups;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::papers::{OT_CHECK_BITS, SILENT_CHECK_BITS};
use sealane_party::{
    Components, Fault, Form, NoOffline, Opened, Outcome, Party, Progress, Result, Shares, Start,
    Step, Steps, Term, check_digests, linear, send_digests,
};
use sealane_protocol::{
    Algebra, Basis, Choice, Correlation, Corruption, Cost, Demand, Domain, DomainProfile, Goal,
    Profile, Protocol, Role, SecurityLevel, Setting, Sharing, StepShape, Threshold,
};

/// One party's part of a tensor: XOR shares of bits, additive shares of ring elements, or labels.
pub type Share = Components<1>;

const ROLES: &[Role] = &[Role::one("first"), Role::one("second")];

/// The protocols as plans see them: with labels or without.
pub enum Mixing<const LABELS: bool> {}

/// The protocol `mixed`, whose bits are XOR shares or labels.
pub type Mixed = Mixing<true>;

/// The protocol `gmw`, whose bits are XOR shares.
pub type Gmw = Mixing<false>;

/// One party of a run.
pub struct MixedParty<const LABELS: bool = true> {
    setting: Setting,
    me: PartyId,
    place: Membership<LABELS>,
}

/// One party of a run of `gmw`.
pub type GmwParty = MixedParty<false>;

/// A party that computes, or one that does not.
enum Membership<const L: bool> {
    Role(Erased<Computing<L>>),
    Outside(Erased<Outside>),
}

/// A step that has begun.
pub struct MixedPending<'a, const LABELS: bool>(State<'a, LABELS>);

enum State<'a, const L: bool> {
    /// A party without a role waits for so many flights between others.
    Watch(usize, Share),
    /// A party with a role reads a flight, and goes on.
    Rest(Rest<'a, L>),
    /// Digests are in transit.
    Settle,
    /// Results are being opened.
    Open(Vec<Opened<Share>>),
}

/// The rest of a step of a party with a role: it reads the flight that is due, and writes the next
/// one or ends the step.
type Rest<'a, const L: bool> = Box<
    dyn FnOnce(&mut Computing<L>, &mut Mesh) -> Result<Progress<'a, MixedParty<L>>> + Send + 'a,
>;

/// A step that waits for a flight.
fn then<'a, const L: bool>(
    rest: impl FnOnce(&mut Computing<L>, &mut Mesh) -> Result<Progress<'a, MixedParty<L>>> + Send + 'a,
) -> Progress<'a, MixedParty<L>> {
    Progress::More(MixedPending(State::Rest(Box::new(rest))))
}

/// The pending state of a party without a role, with so many flights left.
fn watch<'a, const L: bool>(flights: usize, shape: Share) -> Progress<'a, MixedParty<L>> {
    match flights {
        0 => Progress::share(shape),
        _ => Progress::More(MixedPending(State::Watch(flights, shape))),
    }
}

/// The domain of labels.
const LABELS: Domain = Domain {
    sharing: Sharing::YaoLabel,
    algebra: Algebra::Z2,
    authenticated: false,
};

impl<const L: bool> Protocol for Mixing<L> {
    fn profile() -> Profile {
        Profile {
            name: if L { "mixed" } else { "gmw" },
            version: 1,
            roles: ROLES,
            outsiders: true,
            arithmetic: true,
            settles: false,
            offline: false,
            pools: true,
            silent: true,
            corruption: Corruption::SemiHonest(Threshold::Exactly(1)),
            assumption: references::ASSUMPTION,
            references: references::references(L),
            security: SecurityLevel {
                computational: OT_CHECK_BITS,
                statistical: SILENT_CHECK_BITS,
            },
        }
    }

    fn basis(setting: &Setting, demand: &Demand) -> Basis {
        references::basis(&Self::profile(), setting, demand)
    }

    fn domain(algebra: Algebra) -> Domain {
        Domain {
            sharing: match algebra {
                Algebra::Z2 => Sharing::Xor,
                Algebra::Z2k(_) | Algebra::Gf2k(_) | Algebra::Fp => Sharing::Additive,
            },
            algebra,
            authenticated: false,
        }
    }

    fn lookups() -> &'static [Lookups] {
        &[Lookups::Gates, Lookups::Wide]
    }

    fn known_factors() -> bool {
        true
    }
    fn ring_steps() -> bool {
        true
    }

    fn tape_domains() -> Vec<Domain> {
        let shares = Self::domain(Algebra::Z2);
        if L {
            vec![shares, LABELS]
        } else {
            vec![shares]
        }
    }

    fn choices() -> &'static [Choice] {
        const fn many(together: u32) -> Choice {
            let rows = u64::MAX;
            Choice::Least { rows, together }
        }
        const FEW: Choice = Choice::Least {
            rows: 64,
            together: 1,
        };
        const CHOICES: &[Choice] = &[
            Choice::LEAST,
            many(8),
            many(64),
            FEW,
            Choice::Only(0),
            Choice::Only(1),
            Choice::Gates(1),
            Choice::Sums(1),
            Choice::Improved,
        ];
        if L { CHOICES } else { &CHOICES[..1] }
    }

    fn gives(domain: Domain) -> bool {
        L && domain == LABELS
    }

    fn routes(from: Domain, to: Domain) -> Vec<Vec<Domain>> {
        let shares = Self::domain(Algebra::Z2);
        if [from, to].contains(&shares) {
            vec![vec![to]]
        } else if [from, to].contains(&LABELS) {
            // By way of XOR shares, or at once.
            vec![vec![shares, to], vec![to]]
        } else {
            vec![vec![to]]
        }
    }

    fn domain_profile(domain: Domain, _: usize) -> DomainProfile {
        let (goal, share_bits) = match (domain.sharing, domain.algebra) {
            (Sharing::YaoLabel, _) => (Goal::Size, 128),
            (_, Algebra::Z2) => (Goal::Depth, 1),
            (_, Algebra::Z2k(_) | Algebra::Gf2k(_) | Algebra::Fp) => (Goal::Depth, 64),
        };
        DomainProfile { goal, share_bits }
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

    fn set_up_counts(setting: &Setting, demand: &Demand) -> Demand {
        goods::set_up_counts(setting, demand)
    }

    fn pool_bits(setting: &Setting, kind: Correlation) -> u64 {
        goods::pool_bits(setting, kind)
    }

    fn demand_bits(setting: &Setting, demand: &Demand) -> [u64; 2] {
        goods::demand_bits(setting, demand)
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

impl<const L: bool> Party for MixedParty<L> {
    type Protocol = Mixing<L>;
    type Offline = NoOffline<()>;

    fn set_up(start: Start<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<MixedParty<L>> {
        let (setting, me) = (start.setting.clone(), start.me);
        let place = match setting.role_of(me) {
            Some(role) => {
                let computing = Computing::set_up(start, role, demand, mesh)?;
                Membership::Role(Erased::new(computing))
            }
            None => Membership::Outside(Erased::new(Outside::set_up(start, demand, mesh)?)),
        };
        Ok(MixedParty { setting, me, place })
    }

    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        match &mut self.place {
            Membership::Role(party) => party.goods.refill(demand, mesh),
            Membership::Outside(_) => Ok(()),
        }
    }
}

impl<const L: bool> Steps for MixedParty<L> {
    type Share = Share;
    type Pending<'a> = MixedPending<'a, L>;
    type Material = ();
    type Output = ();
    type Check = ();

    /// # Panics
    /// If the domain does not belong to this protocol, or the bits are not those of its elements.
    fn constant(&mut self, domain: Domain, bits: usize, values: &[u64]) -> Share {
        if domain == LABELS {
            return match &self.place {
                Membership::Role(party) => party.constant_labels(bits, values),
                Membership::Outside(_) => Share::zeros(bits, values.len()),
            };
        }
        let form = Form::of_words(domain, bits, values.len());
        let form = form.expect("a constant lives in a domain of the protocol");
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
                Ok(Progress::More(MixedPending(State::Settle)))
            }
            Step::Open { results } => {
                let state = match &mut self.place {
                    Membership::Role(party) => State::Open(party.open(results, mesh)?),
                    Membership::Outside(_) => State::Open(results),
                };
                Ok(Progress::More(MixedPending(state)))
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
