//! Rows of a tile: as many as memory allows, the same for every party.

use crate::draft::{Draft, Phase, Tensor, TensorId};
use crate::flow::IN_FLIGHT;
use sealane_protocol::Algebra;
use std::collections::{BTreeMap, BTreeSet};

/// Memory that the values of one tile may take: with all tiles in flight, 64 MiB.
const TILE_BYTES: u64 = (64 << 20) / IN_FLIGHT as u64;
/// Nominal size of a share of one bit, or of one ring element: a label, or two words.
const SHARE_BYTES: u64 = 16;
/// Fewest and most rows of a full tile. Fewer do not fill the lanes; more gain nothing.
const ROWS: [u64; 2] = [64, 65536];

/// Rows of a full tile, by row count: a power of two such that all values that a segment of the
/// table reads or makes fit the memory of a tile.
pub(crate) fn tiles(draft: &Draft, tables: usize) -> Vec<u64> {
    let mut alive: BTreeMap<Phase, BTreeSet<TensorId>> = BTreeMap::new();
    for unit in &draft.units {
        let of_phase = alive.entry(unit.phase).or_default();
        of_phase.extend(unit.work.reads().into_iter().chain(unit.work.writes()));
    }
    let mut planes = vec![1u64; tables];
    for (phase, tensors) in alive {
        let Some(rows) = phase.rows else { continue };
        let of_row = tensors
            .iter()
            .map(|id| draft.tensor(*id))
            .filter(|t| t.rows.is_some());
        let total = of_row.map(|t| t.elements.saturating_mul(shares(t)));
        let total = total.fold(0, u64::saturating_add);
        planes[usize::from(rows.0)] = total.max(planes[usize::from(rows.0)]);
    }
    let tile = |planes: u64| {
        let most = TILE_BYTES / planes.saturating_mul(SHARE_BYTES);
        let power = most.checked_ilog2().map_or(1, |log| 1u64 << log);
        power.clamp(ROWS[0], ROWS[1])
    };
    planes.into_iter().map(tile).collect()
}

/// Shares of each element of a tensor.
fn shares(tensor: &Tensor) -> u64 {
    match tensor.algebra {
        Algebra::Z2 => tensor.range.bits().into(),
        Algebra::Z2k(_) | Algebra::Gf2k(_) => 1,
    }
}
