//! Domains of shared values.

use sealane_circuit::Goal;
use serde::Serialize;
use std::fmt;

/// Kind of sharing of a value between the parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// All parties know it.
    Public,
    /// The garbler holds a zero label, the evaluator the active label.
    YaoLabel,
    /// The XOR of all shares.
    Xor,
    /// The sum of all shares.
    Additive,
    /// Each party lacks one of the summands.
    Replicated,
    /// The value plus a mask whose shares others hold.
    Masked,
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sharing::Public => "in the clear",
            Sharing::YaoLabel => "labels",
            Sharing::Xor => "XOR shares",
            Sharing::Additive => "additive shares",
            Sharing::Replicated => "replicated shares",
            Sharing::Masked => "masked values",
        })
    }
}

/// Algebra whose elements are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algebra {
    /// Single bits.
    Z2,
    /// Integers modulo `2^k`.
    Z2k(u8),
    /// The field of `2^k` elements.
    Gf2k(u8),
    /// Integers modulo the prime `2^61 - 1`.
    Fp,
}

impl Algebra {
    /// Bits of an element.
    pub const fn bits(self) -> u64 {
        match self {
            Algebra::Z2 => 1,
            Algebra::Z2k(k) | Algebra::Gf2k(k) => k as u64,
            Algebra::Fp => 61,
        }
    }
}

/// Domain of a shared value: kind of sharing and algebra. A value changes domain only at an
/// explicit convert step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Domain {
    /// Kind of sharing.
    pub sharing: Sharing,
    /// Algebra of the elements.
    pub algebra: Algebra,
    /// True if a MAC protects it.
    pub authenticated: bool,
}

impl Domain {
    /// Values that all parties know, in an algebra.
    pub const fn public(algebra: Algebra) -> Domain {
        Domain {
            sharing: Sharing::Public,
            algebra,
            authenticated: false,
        }
    }
}

/// A way to choose a domain for each step that runs tapes, among those of
/// [`Protocol::tape_domains`](crate::Protocol::tape_domains).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one of the least time.
    Least {
        /// On so many rows, or on a full tile of fewer.
        rows: u64,
        /// Where so many steps share each round, whose time counts in parts.
        together: u32,
    },
    /// The one of this number for all.
    Only(u8),
    /// The same, where sums and products are gates too.
    Gates(u8),
    /// The same as [`Choice::Only`], where a sum of which an operand is bits is gates too.
    Sums(u8),
    /// From the best of the choices before it at the upper bounds of rows, by changes of single
    /// steps that shorten the whole run, or of all at once where a plan is too large to try them.
    Improved,
}

impl Choice {
    /// The one of the least time on full tiles, for steps one after the other.
    pub const LEAST: Choice = Choice::Least {
        rows: u64::MAX,
        together: 1,
    };

    /// Returns whether the last levels of a tree over many elements are a step of their own, which
    /// takes a domain of its own. On few rows they would be all levels.
    pub const fn divides(self) -> bool {
        match self {
            Choice::Least { rows, .. } => rows == u64::MAX,
            Choice::Only(_) | Choice::Gates(_) | Choice::Sums(_) => false,
            Choice::Improved => true,
        }
    }
}

/// Properties of a domain that a plan needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainProfile {
    /// Optimisation goal of circuits that run in it: few ANDs, or short chains of them.
    pub goal: Goal,
    /// Bits of memory that a share of one bit, or of one ring element, takes at the party with the
    /// largest part; determines the rows of a tile.
    pub share_bits: u32,
}
