//! CPU tiers: detected once, carried as a token, and dispatched in one place.

use std::fmt;
use std::str::FromStr;

#[cfg(target_arch = "x86_64")]
use crate::lanes::x86;
use crate::lanes::{Lanes, portable::Portable};

/// The environment variable that forces a tier.
pub const TIER_VARIABLE: &str = "SEALANE_TIER";

/// A CPU tier: the instruction set that the lane operations use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Constant-time integer code, which also emulates the wide lanes.
    Portable,
    /// AES-NI on 128-bit registers (with AVX encodings).
    AesNi,
    /// VAES on 256-bit registers.
    Vaes256,
    /// VAES on 512-bit registers.
    Vaes512,
}

impl Tier {
    /// Every tier, slowest first.
    pub const ALL: [Tier; 4] = [Tier::Portable, Tier::AesNi, Tier::Vaes256, Tier::Vaes512];

    /// The name that `SEALANE_TIER` takes and reports print.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Portable => "portable",
            Tier::AesNi => "aesni",
            Tier::Vaes256 => "vaes256",
            Tier::Vaes512 => "vaes512",
        }
    }

    fn runs_here(self) -> bool {
        match self {
            Tier::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Tier::AesNi => x86::has_aesni(),
            #[cfg(target_arch = "x86_64")]
            Tier::Vaes256 => x86::has_vaes256(),
            #[cfg(target_arch = "x86_64")]
            Tier::Vaes512 => x86::has_vaes512(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Tier {
    type Err = TierError;

    fn from_str(name: &str) -> Result<Tier, TierError> {
        let known = Tier::ALL.into_iter().find(|tier| tier.name() == name);
        known.ok_or_else(|| TierError::Unknown {
            name: name.to_owned(),
            can_run: names_here(),
        })
    }
}

/// Proof that this machine can run a tier. Cheap to copy; made once and passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    tier: Tier,
}

/// A computation over lanes, written once for all tiers and run by [`Cpu::run`].
///
/// `run` must be `#[inline(always)]`, and so must every generic function that it calls with
/// `lanes`: the whole body then becomes one function compiled for the instructions of the tier.
/// Loops over constant arrays keep it so; closures do not, because the compiler compiles them
/// apart.
pub trait Kernel {
    /// The result of the computation.
    type Output;
    /// True if the portable tier runs it too. Where another kernel does the same work there, this
    /// one's code is left out: without vector registers, the code of the portable tier is the
    /// largest.
    const PORTABLE: bool = true;
    /// The widest tier that has code of its own, AES-NI at least. Wider ones run this code.
    const WIDEST: Tier = Tier::Vaes512;
    /// The body.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

impl Cpu {
    /// The best tier of this machine, or the one that `SEALANE_TIER` forces.
    ///
    /// # Errors
    /// The variable holds an unknown name, or a tier that this machine cannot run.
    pub fn detect() -> Result<Cpu, TierError> {
        match std::env::var_os(TIER_VARIABLE) {
            Some(name) => Cpu::with_tier(name.to_string_lossy().parse()?),
            None => Ok(Cpu::best()),
        }
    }

    /// A given tier, if this machine can run it.
    ///
    /// # Errors
    /// The processor or the operating system lacks its instructions.
    pub fn with_tier(tier: Tier) -> Result<Cpu, TierError> {
        if tier.runs_here() {
            Ok(Cpu { tier })
        } else {
            Err(TierError::Unavailable {
                tier,
                can_run: names_here(),
            })
        }
    }

    /// All tiers that this machine can run, slowest first.
    pub fn available() -> Vec<Cpu> {
        Tier::ALL
            .into_iter()
            .filter(|tier| tier.runs_here())
            .map(|tier| Cpu { tier })
            .collect()
    }

    /// The tier of this token.
    #[inline]
    pub fn tier(self) -> Tier {
        self.tier
    }

    /// Runs a kernel with the instructions of this tier. A call costs a few nanoseconds: give it
    /// a batch, never one gate.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.tier {
            Tier::Portable if const { K::PORTABLE } => kernel.run(Portable),
            Tier::Portable => unreachable!("the caller has another kernel for the portable tier"),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Cpu` of this tier is made only after `has_vaes512` was true.
            Tier::Vaes512 if const { has_code::<K>(Tier::Vaes512) } => unsafe {
                x86::run_vaes512(kernel)
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Cpu` of this tier or a wider one is made only after `has_vaes256` was
            // true, which `has_vaes512` implies.
            Tier::Vaes256 | Tier::Vaes512 if const { has_code::<K>(Tier::Vaes256) } => unsafe {
                x86::run_vaes256(kernel)
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Cpu` of this tier or a wider one is made only after `has_aesni` was true,
            // which `has_vaes256` implies.
            Tier::AesNi | Tier::Vaes256 | Tier::Vaes512 => unsafe { x86::run_aesni(kernel) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("no token of an x86 tier is made on another architecture"),
        }
    }

    /// This tier, or `tier` if it is narrower: for work that does not fill wider vectors.
    #[inline]
    #[must_use]
    pub fn at_most(self, tier: Tier) -> Cpu {
        // Every tier implies the ones below it.
        Cpu {
            tier: self.tier.min(tier),
        }
    }

    /// The fastest tier that this machine can run, regardless of `SEALANE_TIER`.
    pub fn best() -> Cpu {
        let tier = Tier::ALL.into_iter().rev().find(|tier| tier.runs_here());
        Cpu {
            tier: tier.unwrap_or(Tier::Portable),
        }
    }
}

/// Returns true if a kernel has code of its own for an x86 tier.
#[cfg(target_arch = "x86_64")]
const fn has_code<K: Kernel>(tier: Tier) -> bool {
    tier as u8 <= K::WIDEST as u8
}

/// A requested tier that is not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TierError {
    /// No tier has this name.
    #[error("there is no CPU tier named `{name}`; this machine can run: {can_run}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The tiers that this machine can run.
        can_run: String,
    },
    /// The tier exists, and this machine cannot run it.
    #[error("this machine cannot run the CPU tier `{tier}`; it can run: {can_run}")]
    Unavailable {
        /// The tier that was asked for.
        tier: Tier,
        /// The tiers that this machine can run.
        can_run: String,
    },
}

fn names_here() -> String {
    let names: Vec<&str> = Cpu::available()
        .into_iter()
        .map(|cpu| cpu.tier.name())
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_say_what_runs() {
        for tier in Tier::ALL {
            assert_eq!(tier.name().parse(), Ok(tier));
            assert_eq!(tier.to_string(), tier.name());
        }
        let error = "avx9".parse::<Tier>().unwrap_err().to_string();
        let both = error.contains("`avx9`") && error.contains("portable");
        assert!(both, "{error}");
    }

    #[test]
    fn wide_tiers_run_the_code_of_narrow_ones_that_a_kernel_asks_for() {
        struct Narrow;
        impl Kernel for Narrow {
            type Output = Tier;
            const WIDEST: Tier = Tier::AesNi;
            #[inline(always)]
            fn run<L: Lanes>(self, _lanes: L) -> Tier {
                L::TIER
            }
        }
        for cpu in Cpu::available() {
            let narrow = cpu.at_most(Tier::AesNi);
            assert_eq!(cpu.run(Narrow), narrow.tier());
            assert_eq!(narrow.tier(), cpu.tier().min(Tier::AesNi));
        }
    }

    #[test]
    fn every_available_tier_runs_its_own_lanes() {
        struct Which;
        impl Kernel for Which {
            type Output = (Tier, usize);
            #[inline(always)]
            fn run<L: Lanes>(self, _lanes: L) -> (Tier, usize) {
                (L::TIER, L::WIDTH)
            }
        }
        let available = Cpu::available();
        assert_eq!(available[0].tier(), Tier::Portable);
        assert!(available.is_sorted_by_key(|cpu| cpu.tier()));
        for cpu in available {
            let (tier, width) = cpu.run(Which);
            assert_eq!(tier, cpu.tier());
            assert_eq!(16 % (4 * width), 0);
            assert_eq!(Cpu::with_tier(tier).unwrap().tier(), tier);
        }
    }
}
