//! The two walks over a plan, and their order.

use serde::Serialize;

/// One of the two walks over a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Walk {
    /// Preparation that depends on the circuit: it knows each step and its operands, but no input.
    Offline,
    /// Work on shares of inputs.
    Online,
}

impl Walk {
    /// Index of the walk in pairs of offline and online.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Order of the offline and the online part of each step, where preparation depends on the circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// Steps have no offline part: preparation needs counts alone. Where transfers have random
    /// choices, labels follow the correction, since garbling comes after it: one bit of an input
    /// goes online.
    #[default]
    CountsAlone,
    /// Offline parts run a few tiles ahead of online parts, so that the memory of what they prepare
    /// is bounded. Garbling in the offline part does not know the correction: beside it, 16 bytes
    /// more for each bit of an input go online.
    TileByTile,
    /// All offline parts run before the first input is given. The same goes online, and the memory
    /// of what they prepare grows with rows.
    AheadOfInputs,
}

impl Timing {
    /// Walks in the order of time. Those of one pass run side by side, tile by tile.
    pub fn passes(self) -> &'static [&'static [Walk]] {
        match self {
            Timing::CountsAlone => &[&[Walk::Online]],
            Timing::TileByTile => &[&[Walk::Offline, Walk::Online]],
            Timing::AheadOfInputs => &[&[Walk::Offline], &[Walk::Online]],
        }
    }

    /// All walks, the offline one first.
    pub fn walks(self) -> &'static [Walk] {
        match self {
            Timing::CountsAlone => &[Walk::Online],
            Timing::TileByTile | Timing::AheadOfInputs => &[Walk::Offline, Walk::Online],
        }
    }
}
