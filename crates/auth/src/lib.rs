//! Crate `auth`: authenticated garbling between parties of which all but one may deviate in any
//! way: one evaluates, and one or more garble.
//!
//! The protocol is that of Wang, Ranellucci and Katz ("Authenticated Garbling and Efficient
//! Maliciously Secure Two-Party Computation", CCS 2017) with the half gates of Katz, Ranellucci,
//! Rosulek and Wang ("Optimizing Authenticated Garbling", Crypto 2018) of crate `garble`
//! ([`authenticated`](sealane_garble::authenticated)), over a source of authenticated bits and
//! products ([`Products`]):
//!
//! 1. *Set-up.* All toss a coin, from which they expand the public seed of the hash and a generator
//!    of labels of inputs. The source is set up, draws offsets, and makes what a small run takes;
//!    refills make the rest.
//! 2. *Masks*, the offline walk (`masks`): masks of all wires, and products of the masks of the
//!    operands of every AND.
//! 3. *Inputs and tapes*, the online walk (`online`): a bit for each bit of an input to all, and
//!    from each garbler to the evaluator a table: for an AND `3 n - 4` blocks and a bit, among `n`
//!    parties.
//! 4. *Settlement* (`settle`): the evaluator states masked values and proves them by labels; then
//!    garblers show by MACs that their tables are right. All compare digests of what crossed.
//! 5. *Opening* (`open`): to each party that learns results, with MACs.
//!
//! Two parties are the case with one garbler, and have fewer flights: among more, what a party
//! tells all others is compared by echoes ([`Broadcast`](sealane_party::Broadcast)), and what
//! garblers show is masked by a sharing of zero, so that the evaluator learns no share.
//!
//! **Security**: all parties but one deviate together, with abort: they may stop the run, also
//! after they have learnt their own results. They learn nothing else, and the result of the other
//! party is right or absent, if the source of products is secure, as [`Transfers`] of two parties
//! is. [`DangerDealer`] is not: it is for tests.
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
mod roles;
mod settle;
#[cfg(test)]
mod tests;

mod sums;
mod wires;

pub use bits::Bits;
pub use masks::{Material, Offline, TapeMaterial};
pub use online::{Given, Pending, Waiting};
pub use products::{Begun, DangerDealer, Part, Products, Shape, Transfers, Watch};
pub use roles::Roles;
pub use settle::Check;
pub use wires::{Masks, Stack, Wires};

use common::Common;
use sealane_block::Erased;
use sealane_net::Mesh;
use sealane_party::{Party, Result, Start};
use sealane_protocol::{
    Algebra, Correlation, Corruption, Cost, Demand, Domain, DomainProfile, Goal, Parts, Profile,
    Protocol, SecurityLevel, Setting, Sharing, StepShape, Threshold, Walk,
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

impl<P: Products> Protocol for Auth<P> {
    fn profile() -> Profile {
        Profile {
            name: "auth",
            version: 2,
            roles: P::ROLES,
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

    fn domain_profile(_: Domain, parties: usize) -> DomainProfile {
        // A label, and MAC and key for each other party; the evaluator has all garblers' labels.
        let others = parties.max(2) as u32 - 1;
        let (goal, share_bits) = (Goal::Size, 3 * others * 128);
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

    fn material_bits(setting: &Setting, work: &StepShape) -> u64 {
        cost::material_bits(setting, work)
    }

    fn check_bits(setting: &Setting, work: &StepShape) -> u64 {
        cost::check_bits(setting, work)
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
