//! Parties of a run, and sets of them.

use std::fmt;

/// A party of a run: its index in the order in which the program names the parties.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct PartyId(pub u8);

impl PartyId {
    /// The party at `index` in the order of the program.
    ///
    /// # Panics
    /// If `index` is 256 or more; a program names at most 255 parties.
    pub fn from_index(index: usize) -> PartyId {
        PartyId(u8::try_from(index).expect("a run has at most 255 parties"))
    }

    /// Index of this party in arrays that have one element per party.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "party {}", self.0)
    }
}

/// A set of parties of one run (at most 64).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct PartySet(u64);

/// The members, ascending.
impl serde::Serialize for PartySet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl PartySet {
    /// The set of the given parties.
    pub fn of(parties: impl IntoIterator<Item = PartyId>) -> PartySet {
        PartySet(parties.into_iter().fold(0, |set, party| set | 1 << party.0))
    }
    /// Returns whether a party is a member.
    pub fn contains(self, party: PartyId) -> bool {
        self.0 >> party.0 & 1 == 1
    }
    /// The members, ascending.
    pub fn iter(self) -> impl Iterator<Item = PartyId> {
        (0..64)
            .map(PartyId)
            .filter(move |party| self.contains(*party))
    }
}
