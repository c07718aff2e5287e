//! Profile of a protocol, and the setting in which parties run it.

use crate::paper::Paper;
use crate::timing::Timing;
use sealane_parties::{NetworkClass, PartyId};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// Corruption that a protocol withstands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Corruption {
    /// None: for tests and reference runs.
    None,
    /// Semi-honest parties; at most this many together.
    SemiHonest(Threshold),
    /// Malicious parties; at most this many together.
    Malicious(Threshold),
}

impl Corruption {
    /// Returns whether corrupt parties may act so, up to the threshold.
    pub fn covers(self, adversary: Adversary) -> bool {
        match self {
            Corruption::None => false,
            Corruption::SemiHonest(_) => adversary == Adversary::SemiHonest,
            Corruption::Malicious(_) => true,
        }
    }
}

impl fmt::Display for Corruption {
    /// The parties that are withstood, such as `one semi-honest party`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (adversary, most) = match self {
            Corruption::None => return f.write_str("nothing"),
            Corruption::SemiHonest(most) => (Adversary::SemiHonest, most),
            Corruption::Malicious(most) => (Adversary::Malicious, most),
        };
        match most {
            Threshold::Exactly(1) => write!(f, "one {adversary} party"),
            Threshold::AllButOne => write!(f, "all parties but one, {adversary}"),
            most => write!(f, "{most} {adversary} parties"),
        }
    }
}

/// Behaviour of corrupt parties, as a user asks a protocol to withstand it.
///
/// It is part of the job by way of the protocol: the job's hash covers the whole [`Profile`], with
/// the corruption that it withstands, and a party that asks for more refuses the job before it has
/// a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Adversary {
    /// They follow the protocol, and compute on all that they have seen.
    #[default]
    SemiHonest,
    /// They may deviate from the protocol in any way.
    Malicious,
}

impl Adversary {
    /// All of them, the weaker first.
    pub const ALL: [Adversary; 2] = [Adversary::SemiHonest, Adversary::Malicious];

    /// Name, as in `--security`.
    pub const fn name(self) -> &'static str {
        match self {
            Adversary::SemiHonest => "semi-honest",
            Adversary::Malicious => "malicious",
        }
    }
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Adversary {
    /// A hint.
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Adversary, Self::Err> {
        let mut all = Adversary::ALL.into_iter();
        let known = all.find(|adversary| adversary.name() == name);
        known.ok_or("write \"semi-honest\" or \"malicious\"")
    }
}

/// Number of parties that may be corrupt together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// At most this many, however many there are.
    Exactly(u8),
    /// Fewer than half of those who compute.
    Minority,
    /// All who compute but one.
    AllButOne,
}

impl fmt::Display for Threshold {
    /// The number, or the part of all.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Exactly(number) => write!(f, "{number}"),
            Threshold::Minority => f.write_str("a minority"),
            Threshold::AllButOne => f.write_str("all but one"),
        }
    }
}

/// Security parameters: they reach every party at its set-up, and the job's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SecurityLevel {
    /// Computational security in bits, that of the weakest part; 0 where there is none.
    pub computational: u32,
    /// Statistical security in bits: an attack that does not depend on computing succeeds with
    /// probability `2^-n`; 0 where the protocol rests on no statistical argument.
    pub statistical: u32,
}

impl fmt::Display for SecurityLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.computational, self.statistical) {
            (0, 0) => f.write_str("no security"),
            (bits, 0) => write!(f, "{bits} bits"),
            (0, bits) => write!(f, "{bits} bits statistical"),
            (bits, statistical) => write!(f, "{bits} bits, {statistical} statistical"),
        }
    }
}

/// Role of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Role {
    /// Name, in one word.
    pub name: &'static str,
    /// Number of parties that play it.
    pub players: Players,
}

impl Role {
    /// A role of one party.
    pub const fn one(name: &'static str) -> Role {
        Role {
            name,
            players: Players::One,
        }
    }
    /// A role of any number of parties, at least one.
    pub const fn any(name: &'static str) -> Role {
        Role {
            name,
            players: Players::AtLeastOne,
        }
    }
}

/// Number of parties that play a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Players {
    /// Exactly one.
    One,
    /// One or more, all alike. At most one role of a protocol has this form; it takes the parties
    /// that no other role takes.
    AtLeastOne,
}

/// Description of a protocol: shown by `plan`, part of the job's hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// Name, as in `--protocol`.
    pub name: &'static str,
    /// Version of its messages; part of the job's hash.
    pub version: u32,
    /// Roles that compute; the parties of `setting.roles[i]` take role `i`. Empty: any number of
    /// parties, all alike. The plan tries each party in each role of one, so at most three roles
    /// are of that form.
    pub roles: &'static [Role],
    /// True if parties without a role may own inputs and learn results.
    pub outsiders: bool,
    /// True if it computes sums and products modulo `2^k`, for any `k` from 1 to 64, besides tapes
    /// of bits.
    pub arithmetic: bool,
    /// True if the checks that its steps leave are settled at the end of every tile and segment, so
    /// that their memory does not grow with rows, and those of preparation before an input of the
    /// tile is given; otherwise all are settled before the results are opened.
    pub settles: bool,
    /// True if preparation depends on the circuit: every step then has an offline part, which knows
    /// the step and its operands but no input (wire masks, garbling ahead, matrix triples).
    pub offline: bool,
    /// True if a run of two parties can take its oblivious transfers from a pool, see
    /// [`Setting::pooled`].
    pub pools: bool,
    /// True if its correlated OTs can come from a silent extension, see [`Setting::silent`].
    pub silent: bool,
    /// Corruption withstood.
    pub corruption: Corruption,
    /// Assumptions, one sentence.
    pub assumption: &'static str,
    /// Components, each with its paper.
    pub references: &'static [Paper],
    /// Security parameters of its runs.
    pub security: SecurityLevel,
}

impl Profile {
    /// A protocol of any parties that hides nothing from any of them, and computes on bits alone.
    pub const HIDES_NOTHING: Profile = Profile {
        name: "",
        version: 1,
        roles: &[],
        outsiders: false,
        arithmetic: false,
        settles: false,
        offline: false,
        pools: false,
        silent: false,
        corruption: Corruption::None,
        assumption: "none: it hides nothing",
        references: &[],
        security: SecurityLevel {
            computational: 0,
            statistical: 0,
        },
    };

    /// Timing of its runs, unless a plan asks for another.
    pub fn timing(&self) -> Timing {
        if self.offline {
            Timing::TileByTile
        } else {
            Timing::CountsAlone
        }
    }

    /// Fewest parties that compute.
    pub fn fewest(&self) -> usize {
        self.roles.len()
    }

    /// Most parties that compute; none if any number may.
    pub fn most(&self) -> Option<usize> {
        let open = self
            .roles
            .iter()
            .any(|role| role.players == Players::AtLeastOne);
        (!open && !self.roles.is_empty()).then_some(self.roles.len())
    }

    /// Returns whether so many parties can compute.
    pub fn suits(&self, computing: usize) -> bool {
        computing >= self.fewest() && self.most().is_none_or(|most| computing <= most)
    }
}

/// Batches in which refills make products of authenticated shares: for each, several are made and
/// all but one spent on its check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Batch {
    /// Products of a batch.
    pub products: u64,
    /// Those that are made for each: the fewer, the more products a batch has.
    pub bucket: u32,
}

/// Assignment of parties to roles in one run, and its security parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Setting {
    /// Number of parties of the run.
    pub parties: usize,
    /// The parties that play each role of [`Profile::roles`].
    pub roles: Vec<Vec<PartyId>>,
    /// Security parameters.
    pub security: SecurityLevel,
    /// Order of the offline and the online parts of steps.
    pub timing: Timing,
    /// Declared class of the network, by which a protocol chooses among building blocks that trade
    /// bytes for work.
    pub network: NetworkClass,
    /// The run takes its oblivious transfers from the pool of its two parties.
    pub pooled: bool,
    /// Correlated OTs come from a silent extension, which makes many of them at once, in refills,
    /// and takes hardly any bytes for each but many to begin with. Decided for the row counts of a
    /// run, on a network where bytes cost more than work.
    pub silent: bool,
    /// Batches in which refills make products, for a protocol that makes them so. Decided for the
    /// row counts of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
}

impl Setting {
    /// The setting of a protocol on a LAN in which the first parties play its roles of one, in
    /// order, and all others play the role of any number, if there is one.
    pub fn in_order(profile: &Profile, parties: usize) -> Setting {
        let others = profile.roles.len()..parties;
        let role = |(at, role): (usize, &Role)| match role.players {
            Players::One => vec![PartyId::from_index(at)],
            Players::AtLeastOne => {
                let all = std::iter::once(at).chain(others.clone());
                all.map(PartyId::from_index).collect()
            }
        };
        Setting {
            parties,
            roles: profile.roles.iter().enumerate().map(role).collect(),
            security: profile.security,
            timing: profile.timing(),
            network: NetworkClass::LAN,
            pooled: false,
            silent: false,
            batch: None,
        }
    }

    /// All parties of the run, in order.
    pub fn everyone(&self) -> impl Iterator<Item = PartyId> + use<> {
        (0..self.parties).map(PartyId::from_index)
    }

    /// All parties of the run but one, in order.
    pub fn others(&self, me: PartyId) -> impl Iterator<Item = PartyId> + use<> {
        self.everyone().filter(move |party| *party != me)
    }

    /// The party that plays a role of one.
    pub fn player(&self, role: usize) -> PartyId {
        self.roles[role][0]
    }

    /// The role of a party, if it has one.
    pub fn role_of(&self, party: PartyId) -> Option<usize> {
        self.roles
            .iter()
            .position(|players| players.contains(&party))
    }
}
