//! The last levels of a tree as a step of its own, which may take another sharing: a level of few
//! pairs is a matter of rounds, one of many pairs a matter of bytes.

use sealane_parties::NetworkClass;
use sealane_program::graph::{Reduction, Value};

/// Bytes of an AND garbled by half gates, and nominal nanoseconds of both parties: where levels of
/// both sharings take equally long, a fifth fewer bytes change little.
const AND_BYTES: u64 = 32;
const AND_NS: u64 = 40;

/// Fewest elements that the last levels begin with.
const FEWEST: u64 = 4;

/// Division of trees on a network.
#[derive(Clone, Copy)]
pub(crate) struct LastLevels(pub NetworkClass);

impl LastLevels {
    /// The number of elements with which the last levels begin, of a reduction of at most `longest`
    /// elements in each lane of its result: those from which on the rounds of a level of XOR
    /// sharing last longer than its garbled tables. None where all levels are alike.
    pub fn of(self, reduction: Reduction, result: &Value, longest: u64) -> Option<u64> {
        let bits = u64::from(result.range.bits());
        // A comparison by a tree of carries, and a choice.
        let (ands, rounds) = match reduction {
            Reduction::Sum => return None,
            Reduction::Any | Reduction::All => (1, 1),
            Reduction::Min | Reduction::Max => {
                let carries = bits.next_power_of_two().trailing_zeros();
                (2 * bits, u64::from(carries) + 2)
            }
        };
        let LastLevels(network) = self;
        let round_ns = network.round_trip().as_nanos() as u64 / 2;
        let and_ns = AND_NS + AND_BYTES * 1_000_000_000 / network.bytes_per_s();
        let lanes = result.shape.fixed.iter().product::<u64>();
        let pairs = rounds * round_ns / (ands * and_ns).saturating_mul(lanes).max(1);
        let to = pairs.next_power_of_two();
        (to >= FEWEST && longest > 2 * to).then_some(to)
    }
}
