//! Properties of a protocol's domains among the parties of a run, asked once for all passes.

use sealane_protocol::{Algebra, Domain, Goal, Protocol};

/// Goals and sizes of the domains in which a plan computes.
#[derive(Clone, Debug)]
pub(crate) struct Domains {
    /// Domains in which tapes can run, with the goals of their circuits.
    pub tapes: Vec<(Domain, Goal)>,
    /// Bits of memory of a share of one bit in each of them.
    pub tape_bits: Vec<u64>,
    /// Bits of memory of a share of one bit, in the largest domain of bits.
    pub bit: u64,
    /// Bits of memory of a share of one ring element.
    pub ring: u64,
    /// Sizes `k` of which tapes multiply elements of GF(2^k) as a whole.
    pub products: &'static [usize],
}

impl Domains {
    /// Asks the protocol. Of domains in which tapes can run, `wide` lets the largest shares count;
    /// else those of the first one do, for a plan that has no rows in another one.
    pub fn of<P: Protocol>(parties: usize, wide: bool) -> Domains {
        let profile = |domain| P::domain_profile(domain, parties);
        let tapes = P::tape_domains();
        let bits = [P::domain(Algebra::Z2), P::input_domain(Algebra::Z2)];
        let counted = if wide { &tapes[..] } else { &tapes[..1] };
        let bits = bits.iter().chain(counted);
        let of_tape = |domain: &Domain| u64::from(profile(*domain).share_bits);
        let ring = if P::profile().arithmetic {
            let algebra = if P::prime() {
                Algebra::Fp
            } else {
                Algebra::Z2k(64)
            };
            profile(P::domain(algebra)).share_bits
        } else {
            0
        };
        Domains {
            bit: bits
                .map(|domain| u64::from(profile(*domain).share_bits))
                .fold(1, u64::max),
            ring: ring.into(),
            tape_bits: tapes.iter().map(of_tape).collect(),
            products: P::products(),
            tapes: tapes
                .into_iter()
                .map(|domain| (domain, profile(domain).goal))
                .collect(),
        }
    }

    /// Returns whether every level of some tape is a round.
    pub fn any_depth(&self) -> bool {
        self.tapes.iter().any(|(_, goal)| *goal == Goal::Depth)
    }
}
