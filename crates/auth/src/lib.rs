//! Crate `auth`: authenticated garbling between two parties, of which one may deviate in any way.
//!
//! The protocol is that of Wang, Ranellucci and Katz ("Authenticated Garbling and Efficient
//! Maliciously Secure Two-Party Computation", CCS 2017) with the half gates of Katz, Ranellucci,
//! Rosulek and Wang ("Optimizing Authenticated Garbling", Crypto 2018) of crate `garble`
//! ([`authenticated`](sealane_garble::authenticated)), over a source of authenticated bits and
//! products ([`Products`]):
//!
//! 1. *Set-up.* Both toss a coin, from which both expand the public seed of the hash and a
//!    generator of labels of inputs. The source is set up, draws offsets, and makes what a small
//!    run takes; refills make the rest.
//! 2. *Masks*, the offline walk (`masks`): masks of all wires, and products of the masks of the
//!    operands of every AND.
//! 3. *Inputs and tapes*, the online walk (`online`): a bit for each bit of an input, a table of
//!    32 bytes and a bit for each AND, from the garbler to the evaluator.
//! 4. *Settlement* (`settle`): the evaluator states masked values and proves them by labels; then
//!    the garbler shows by MACs that its tables are right. Both compare digests of what crossed.
//! 5. *Opening* (`open`): to each party that learns results, with MACs.
//!
//! **Security**: one party that deviates, with abort: it may stop the run, also after it has learnt
//! its own result. It learns nothing but its result, and the other party's result is right or
//! absent, if the source of products is secure, as [`Transfers`] is. [`DangerDealer`] is not: it is
//! for tests.
//!
//! Assumes besides that the hash is circular correlation robust (ideal cipher) and that BLAKE3 is a
//! random oracle. Where the garbler could make a table such that a check fails or not by a value,
//! that value is masked by a share of the evaluator: the rate does not depend on inputs.
#![forbid(unsafe_code)]
// Kernels index several small arrays in step; a constant range says so, and it unrolls.
#![allow(clippy::needless_range_loop)]

mod bits;
mod common;
mod cost;
mod masks;
mod online;
mod open;
mod papers;
mod products;
mod settle;
#[cfg(test)]
mod tests;

mod sums;

pub use bits::{Bits, Mask, Masks, Wire, Wires};
pub use masks::{Material, Offline, TapeMaterial};
pub use online::{Pending, Waiting};
pub use products::{Begun, DangerDealer, Part, Products, Shape, Transfers, Watch};
pub use settle::Check;

use common::Common;
use sealane_block::Erased;
use sealane_net::Mesh;
use sealane_party::{Party, Result, Start};
use sealane_protocol::{
    Algebra, Correlation, Corruption, Cost, Demand, Domain, DomainProfile, Goal, Parts, Profile,
    Protocol, Role, SecurityLevel, Setting, Sharing, StepShape, Threshold, Walk,
};
use std::marker::PhantomData;

/// The protocol over a source of products, as plans see it.
pub struct Auth<P>(PhantomData<P>);

/// One party of a run. It is the online walk, and owns the offline one.
pub struct AuthParty<P> {
    offline: Offline<P>,
}

/// The domain of all values.
const WIRES: Domain = Domain {
    sharing: Sharing::YaoLabel,
    algebra: Algebra::Z2,
    authenticated: true,
};

const ROLES: &[Role] = &[Role::one("garbler"), Role::one("evaluator")];

impl<P: Products> Protocol for Auth<P> {
    fn profile() -> Profile {
        Profile {
            name: "auth",
            version: 1,
            roles: ROLES,
            outsiders: false,
            arithmetic: false,
            settles: true,
            offline: true,
            pools: false,
            silent: false,
            corruption: Corruption::Malicious(Threshold::AllButOne),
            assumption: P::ASSUMPTION,
            references: P::REFERENCES,
            security: SecurityLevel {
                computational: papers::BITS,
                statistical: P::STATISTICAL,
            },
        }
    }

    fn domain(_: Algebra) -> Domain {
        WIRES
    }

    fn domain_profile(_: Domain, _: usize) -> DomainProfile {
        // Label, MAC and key.
        let (goal, share_bits) = (Goal::Size, 3 * 128);
        DomainProfile { goal, share_bits }
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        cost::cost(setting, work)
    }

    fn offline_cost(setting: &Setting, work: &StepShape) -> Cost {
        cost::offline_cost(setting, work)
    }

    fn offline_demand(setting: &Setting, work: &StepShape) -> Demand {
        cost::offline_demand(setting, work)
    }

    fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
        cost::set_up_cost(setting, P::set_up_cost(setting, demand))
    }

    fn set_up_counts(setting: &Setting, demand: &Demand) -> Demand {
        P::set_up_counts(setting, demand)
    }

    fn pool_bits(_: &Setting, kind: Correlation) -> u64 {
        P::pool_bits(kind)
    }

    fn demand_bits(_: &Setting, demand: &Demand) -> [u64; 2] {
        let kept = demand.0.iter();
        let kept = kept.map(|(kind, count)| count * P::pool_bits(*kind));
        let kept = kept.sum::<u64>();
        [kept + P::making_bits(demand), kept]
    }

    fn refill_counts(setting: &Setting, lacking: &Demand) -> Demand {
        P::refill_counts(setting, lacking)
    }

    fn refill_cost(setting: &Setting, demand: &Demand) -> Cost {
        P::refill_cost(setting, demand)
    }

    fn part(walk: Walk, work: &StepShape) -> Option<&'static str> {
        Some(match (walk, work) {
            (Walk::Offline, StepShape::Tape(_)) => "opened masks",
            (Walk::Online, StepShape::Tape(_)) => "tables",
            (Walk::Online, StepShape::Input(_)) => "inputs",
            (Walk::Online, StepShape::Settle { .. }) => "settlements",
            (Walk::Online, StepShape::Open { .. }) => "results",
            _ => return None,
        })
    }

    fn refill_parts(setting: &Setting, made: &Demand) -> Parts {
        P::refill_parts(setting, made)
    }

    fn material_bits(_: &Setting, work: &StepShape) -> u64 {
        cost::material_bits(work)
    }

    fn check_bits(_: &Setting, work: &StepShape) -> u64 {
        cost::check_bits(work)
    }
}

impl<P> AuthParty<P> {
    /// The source of its authenticated bits and products.
    pub fn source(&mut self) -> &mut P {
        &mut self.offline.0.products
    }
}

impl<P: Products> Party for AuthParty<P> {
    type Protocol = Auth<P>;
    type Offline = Offline<P>;

    fn set_up(start: Start<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<Self> {
        let common = Common::set_up(start, demand, mesh)?;
        let offline = Offline(Erased::new(common));
        Ok(AuthParty { offline })
    }

    fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        self.offline.0.products.refill(demand, mesh)
    }

    fn offline(&mut self) -> Option<&mut Offline<P>> {
        Some(&mut self.offline)
    }
}
