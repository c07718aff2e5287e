//! Description of a protocol.

use crate::cost::{Correlation, Cost, Demand, Parts};
use crate::domain::{Algebra, Choice, Domain, DomainProfile};
use crate::paper::Basis;
use crate::profile::{Batch, Profile, Setting};
use crate::shape::StepShape;
use crate::timing::Walk;
use sealane_circuit::Lookups;

/// Description of a protocol: all that planning needs. The parties that run it implement
/// `sealane_party::Party`.
///
/// A run has these parts, each with a cost of its own:
///
/// 1. *Set-up*, once: keys and base correlations ([`Protocol::set_up_cost`]).
/// 2. *Refills*: correlations of a kind that fills a pool ([`Protocol::pool_bits`]) are made for
///    some tiles at a time, before the walk over these that takes them
///    ([`Protocol::refill_cost`]), so that pools are bounded in memory however many rows there are.
/// 3. *Offline parts* of steps ([`Protocol::offline_cost`]), for protocols whose preparation
///    depends on the circuit ([`Profile::offline`]). The plan is walked twice: offline, where
///    values are masks or zero labels, and online.
/// 4. *Steps* ([`Protocol::cost`]).
///
/// Every message that a party writes or reads is announced by these costs, in the same flight:
/// tests compare the two byte by byte.
pub trait Protocol: Sized + 'static {
    /// Profile of the protocol.
    fn profile() -> Profile;
    /// Basis of a run with this demand in all: all of the profile, unless some parts of it
    /// serve other runs alone.
    fn basis(_: &Setting, _: &Demand) -> Basis {
        let profile = Self::profile();
        Basis::of(&profile, profile.assumption, Some)
    }
    /// Domain in which it computes in an algebra: the domain of operands and results of the steps
    /// in that algebra. Called for `Z2`, and for `Z2k` or `Fp` if it has arithmetic.
    fn domain(algebra: Algebra) -> Domain;
    /// Returns whether its arithmetic is modulo the prime `2^61 - 1`, in place of `2^k`. Values
    /// whose range fits 60 bits may live there; inputs are bits, which their owner cannot choose
    /// outside of the range of these, and become elements by conversions.
    fn prime() -> bool {
        false
    }
    /// Most rows of a step [`StepShape::Sort`] in the domain of bits; none if it has no such step.
    /// Where it has one, planning sorts by that step instead of a network of exchanges if it takes
    /// less time.
    fn sorts() -> Option<u64> {
        None
    }
    /// Bits of memory that settlements within a step take while it is under way, at the party with
    /// the most.
    fn proof_bits(_: &Setting, _: &StepShape) -> u64 {
        0
    }
    /// Returns whether it has the steps [`StepShape::Ring`] of every [`RingOp`](crate::RingOp).
    /// Where it has them, planning takes them in place of conversions, tapes and products.
    fn ring_steps() -> bool {
        false
    }
    /// Returns whether a product in a ring takes less if a party knows a factor. Planning then
    /// writes products of sums of which each party knows a part term by term.
    fn known_factors() -> bool {
        false
    }
    /// Forms of lookups that its tapes can have: gates, and those with functions that it computes
    /// as a whole. Planning chooses for the number of rows and the network of a run.
    fn lookups() -> &'static [Lookups] {
        &[Lookups::Gates]
    }
    /// Sizes `k` of which its tapes can have products in GF(2^k) as functions that it computes as a
    /// whole, at the price of `k` ANDs.
    fn products() -> &'static [usize] {
        &[]
    }
    /// Domain in which inputs arrive.
    fn input_domain(algebra: Algebra) -> Domain {
        Self::domain(algebra)
    }
    /// Returns whether public values, and inputs of parties with a role, can be made in this domain
    /// of bits, beside those of [`Protocol::input_domain`] and [`Protocol::domain`]. Planning makes
    /// them again there instead of a conversion.
    fn gives(_: Domain) -> bool {
        false
    }
    /// Domains of bits in which its tapes can run. Planning chooses one for each step that runs
    /// tapes: the one in which they and the conversions take the least time, the first of equal
    /// ones.
    fn tape_domains() -> Vec<Domain> {
        vec![Self::domain(Algebra::Z2)]
    }
    /// Ways to choose among them: each makes a plan, and a run takes the one that is estimated to
    /// take the least time on its rows.
    fn choices() -> &'static [Choice] {
        &[Choice::LEAST]
    }
    /// Routes of conversions from one domain to another: for each conversion the domain that it
    /// leads to, last of all `to`. Planning takes the one of the least time, the first of equal
    /// ones. The domains of [`Protocol::domain`] are on the way unless the protocol says otherwise.
    fn routes(from: Domain, to: Domain) -> Vec<Vec<Domain>> {
        let mut route = vec![from];
        route.extend([from.algebra, to.algebra].map(Self::domain));
        route.push(to);
        route.dedup();
        vec![route.split_off(1)]
    }
    /// Properties of one of its domains in a run of so many parties.
    fn domain_profile(domain: Domain, parties: usize) -> DomainProfile;
    /// Exact cost of the online part of a step.
    fn cost(setting: &Setting, work: &StepShape) -> Cost;
    /// Exact cost of the offline part of a step; for [`Profile::offline`] alone.
    fn offline_cost(_: &Setting, _: &StepShape) -> Cost {
        Cost::default()
    }
    /// Bits of memory that the output of the offline part of a step takes until its online part, at
    /// the party with the larger part; with the size of shares it determines the rows of a tile.
    fn material_bits(_: &Setting, _: &StepShape) -> u64 {
        0
    }
    /// Bits of memory that a step leaves until its checks are settled; of a settlement, those that
    /// it takes while it is under way, checks included. At the party with the most.
    fn check_bits(_: &Setting, _: &StepShape) -> u64 {
        0
    }
    /// Correlations that the online part of a step takes.
    fn demand(_: &Setting, _: &StepShape) -> Demand {
        Demand::default()
    }
    /// Correlations that the offline part of a step takes.
    fn offline_demand(_: &Setting, _: &StepShape) -> Demand {
        Demand::default()
    }
    /// Exact cost of the set-up of a run with this demand in all.
    fn set_up_cost(_: &Setting, _: &Demand) -> Cost {
        Cost::default()
    }
    /// Correlations that the set-up of a run with this demand makes for pools: the first refills
    /// make fewer ([`LeftOver::after_set_up`](crate::LeftOver::after_set_up)). The demand needs
    /// them all, or pools are refilled by more of each at once.
    fn set_up_counts(_: &Setting, _: &Demand) -> Demand {
        Demand::default()
    }
    /// Bits of memory that one correlation takes in a pool, at the party with the larger part; 0
    /// for correlations that are made as they are used.
    fn pool_bits(_: &Setting, _: Correlation) -> u64 {
        0
    }
    /// Bits of memory that correlations of a demand take in pools, at the party with the larger
    /// part: the most while a refill makes them, and once they are made.
    fn demand_bits(setting: &Setting, demand: &Demand) -> [u64; 2] {
        let bits = demand.0.iter();
        let bits = bits.map(|(kind, count)| count * Self::pool_bits(setting, *kind));
        [bits.sum(); 2]
    }
    /// Bytes of memory that a party with a role takes for the whole of a run with this demand, or
    /// while pools are filled, beside shares and pools.
    fn state_bytes(_: &Setting, _: &Demand) -> u64 {
        0
    }
    /// Batches in which refills make products for a run with this demand
    /// ([`Setting::batch`]): none for a protocol that makes each by itself.
    fn batch(_: &Setting, _demand: impl FnOnce() -> Demand) -> Option<Batch> {
        None
    }
    /// Counts what a refill makes where so much is lacking: at least that, and more of kinds of
    /// which many are made at once. What is left over serves the next refill
    /// ([`LeftOver`](crate::LeftOver)). Called with kinds that fill a pool.
    fn refill_counts(_: &Setting, lacking: &Demand) -> Demand {
        lacking.clone()
    }
    /// The part of the payload of a run to which the messages of a step in a walk belong, by a
    /// name that plans show; none for a protocol whose plans state no parts.
    fn part(_: Walk, _: &StepShape) -> Option<&'static str> {
        None
    }
    /// The parts of the messages of a refill, and the batch that it makes. Called with what
    /// [`Protocol::refill_counts`] or [`Protocol::set_up_counts`] returned.
    fn refill_parts(_: &Setting, _made: &Demand) -> Parts {
        Parts::default()
    }
    /// Exact cost of adding correlations to the pools. Called with what
    /// [`Protocol::refill_counts`] returned.
    fn refill_cost(_: &Setting, _: &Demand) -> Cost {
        Cost::default()
    }
}
