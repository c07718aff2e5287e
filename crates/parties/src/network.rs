//! Classes of networks.

use std::time::Duration;

/// Classes of networks for which plans are made and runs are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkClass {
    /// One building or data centre: 0.5 ms round trip, 1 Gbit/s.
    Lan,
    /// Two cities: 40 ms round trip, 100 Mbit/s.
    Wan,
}

impl NetworkClass {
    /// Time from the departure of a message to the arrival of its answer.
    pub const fn round_trip(self) -> Duration {
        match self {
            NetworkClass::Lan => Duration::from_micros(500),
            NetworkClass::Wan => Duration::from_millis(40),
        }
    }

    /// Bytes per second, in each direction.
    pub const fn bytes_per_s(self) -> u64 {
        match self {
            NetworkClass::Lan => 125_000_000,
            NetworkClass::Wan => 12_500_000,
        }
    }
}
