//! The garbling schemes by name, and their cost.

use std::fmt;
use std::str::FromStr;

use sealane_block::hash::{Circ, Mi, Prp, Tccr};
use sealane_block::{Block, Cpu, LabelHash};
use sealane_circuit::tape::{KnownTo, NOBODY, Tape};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::prf;

/// A garbling scheme. `docs/protocols/garbling.md` states what each one assumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Half-gates; each hash is one AES under a common key.
    Prp,
    /// Half-gates; each hash is two AES under a common key.
    Tccr,
    /// Half-gates; labels are the AES keys.
    Circ,
    /// Half-gates; every gate, lane and hash has an AES key of its own. The default.
    #[default]
    Mi,
    /// Three-halves under the hash of `Mi`: a fifth fewer bytes and half as many AES calls again.
    ThreeHalves,
    /// Garbling without free XOR, from a pseudorandom function alone.
    Prf,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Scheme; 6] = [
        Scheme::Prp,
        Scheme::Tccr,
        Scheme::Circ,
        Scheme::Mi,
        Scheme::ThreeHalves,
        Scheme::Prf,
    ];

    /// Returns the name in configuration and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::Prp => "prp",
            Scheme::Tccr => "tccr",
            Scheme::Circ => "circ",
            Scheme::Mi => "mi",
            Scheme::ThreeHalves => "three-halves",
            Scheme::Prf => "prf",
        }
    }

    /// Returns the number of labels that the garbler holds of a wire: 1 where a common offset gives
    /// the other, else 2.
    pub const fn labels(self) -> usize {
        match self {
            Scheme::Prf => 2,
            _ => 1,
        }
    }

    /// Returns the bytes of table of one AND on one lane.
    pub const fn and_bytes(self) -> u64 {
        match self {
            Scheme::ThreeHalves => 25,
            _ => 32,
        }
    }

    /// Returns the bytes of table of a tape on `lanes` lanes.
    pub fn table_bytes(self, tape: &Tape, lanes: u64, roles: Roles) -> u64 {
        let all = tape.ands.len() as u64;
        let known = |known_to: &&KnownTo| roles.known_operand(**known_to).is_some();
        let halves = || tape.known_to.iter().filter(known).count() as u64;
        lanes
            * match self {
                Scheme::Prf => prf::table_bytes(&tape.xors, tape.ands.len()) as u64,
                _ => self.and_bytes() * all - (self.and_bytes() - 16) * halves(),
            }
    }
}

/// Assignment of a tape's parties ([known_to](Tape::known_to)) to garbler and evaluator. The
/// default names no party: then every AND is a full one, and permute bits of inputs are
/// unconstrained. Otherwise the permute bits of inputs that these parties know follow
/// [`known_operand`](crate::known_operand).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// The number of the garbler.
    pub garbler: KnownTo,
    /// The number of the evaluator.
    pub evaluator: KnownTo,
}

/// The side that knows an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownOperand {
    Garbler,
    Evaluator,
}

impl Roles {
    pub(crate) fn known_operand(self, known_to: KnownTo) -> Option<KnownOperand> {
        match known_to {
            NOBODY => None,
            _ if known_to == self.garbler => Some(KnownOperand::Garbler),
            _ if known_to == self.evaluator => Some(KnownOperand::Evaluator),
            _ => None,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No scheme has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no garbling scheme `{0}`; there are prp, tccr, circ, mi, three-halves and prf")]
pub struct UnknownScheme(String);

impl FromStr for Scheme {
    type Err = UnknownScheme;

    fn from_str(name: &str) -> Result<Scheme, UnknownScheme> {
        let known = Scheme::ALL.into_iter().find(|scheme| scheme.name() == name);
        known.ok_or_else(|| UnknownScheme(name.to_owned()))
    }
}

/// The hash of a scheme under an instance's public seed. Round keys are boxed: a hash is then
/// little more than its seed, without the hundred bytes that most schemes never write and that the
/// check for secrets left in memory could not tell from a secret. The seed is public; round keys
/// are erased as well, so that nothing is left.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) enum Hash {
    Prp(Box<Prp>),
    Tccr(Box<Tccr>),
    Circ(Circ),
    Mi(Mi),
    ThreeHalves(Mi),
    /// F, which hashes output labels too.
    Prf(Circ),
}

impl Hash {
    pub fn new(cpu: Cpu, scheme: Scheme, seed: Block) -> Hash {
        match scheme {
            Scheme::Prp => Hash::Prp(Box::new(Prp::new(cpu, seed))),
            Scheme::Tccr => Hash::Tccr(Box::new(Tccr::new(cpu, seed))),
            Scheme::Circ => Hash::Circ(Circ::new(cpu, seed)),
            Scheme::Mi => Hash::Mi(Mi::new(cpu, seed)),
            Scheme::ThreeHalves => Hash::ThreeHalves(Mi::new(cpu, seed)),
            Scheme::Prf => Hash::Prf(Circ::new(cpu, seed)),
        }
    }
}

/// Runs one expression with the hash of any half-gates scheme, and other expressions for the
/// schemes without half-gates.
macro_rules! with_hash {
    (
        $hash:expr, $name:ident => $half_gates:expr,
        three_halves($three_hash:ident) => $three_halves:expr,
        prf($prf_hash:pat) => $prf:expr $(,)?
    ) => {
        match $hash {
            $crate::scheme::Hash::Prp(keys) => {
                let $name = &**keys;
                $half_gates
            }
            $crate::scheme::Hash::Tccr(keys) => {
                let $name = &**keys;
                $half_gates
            }
            $crate::scheme::Hash::Circ($name) => $half_gates,
            $crate::scheme::Hash::Mi($name) => $half_gates,
            $crate::scheme::Hash::ThreeHalves($three_hash) => $three_halves,
            $crate::scheme::Hash::Prf($prf_hash) => $prf,
        }
    };
}
pub(crate) use with_hash;
