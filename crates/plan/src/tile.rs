//! Number of rows of a tile: bounded by memory and by gain, the same for every party.

use crate::domains::Domains;
use crate::draft::{Draft, Phase, Tensor};
use crate::flow::IN_FLIGHT;
use crate::lower::Lowered;
use crate::steps::{Len, PlanValue, StepOp, TapeId};
use sealane_parties::NetworkClass;
use sealane_protocol::{Algebra, Goal, Profile};
use std::collections::{BTreeMap, BTreeSet};

/// Memory that the values of one tile may take: with all tiles in flight, 64 MiB. The live wires of
/// running tapes may take as much again.
pub(crate) const TILE_BITS: u64 = (64 << 20) * 8 / IN_FLIGHT as u64;
/// Fewest and most rows of a full tile. Fewer do not fill the lanes; more bring no gain.
pub(crate) const ROWS: [u64; 2] = [64, 65536];
/// Most rows where every level of a tape is a round, on a network of short round trips: these fill
/// lanes and rounds, and the live wires of a tape stay in cache. With long round trips, the number
/// of rounds dominates, and so it may in trees over rows.
const ROWS_A_ROUND: u64 = 4096;
/// The same where a tile settles its checks, which takes rounds and proofs of its own: with as many
/// rows, parties that share cores wait less for each other.
const ROWS_A_SETTLEMENT: u64 = 8192;

/// Returns the rows of a full tile, by row count: a power of two such that all values that a
/// segment of the table reads or makes fit the memory of a tile.
pub(crate) fn tiles(draft: &Draft, tables: usize, domains: &Domains) -> Vec<u64> {
    let mut alive: BTreeMap<Phase, BTreeSet<PlanValue>> = BTreeMap::new();
    for unit in &draft.units {
        let of_phase = alive.entry(unit.phase).or_default();
        of_phase.extend(unit.work.reads().into_iter().chain(unit.work.writes()));
    }
    let mut bits = vec![1u64; tables];
    for (phase, tensors) in alive {
        let Some(rows) = phase.rows else { continue };
        let of_row = tensors
            .iter()
            .map(|id| draft.tensor(*id))
            .filter(|t| t.rows.is_some());
        let total = of_row.map(|t| t.elements.saturating_mul(share(t, domains)));
        let total = total.fold(0, u64::saturating_add);
        bits[usize::from(rows.0)] = total.max(bits[usize::from(rows.0)]);
    }
    bits.into_iter().map(rows_that_fit).collect()
}

/// Bounds of the rows of a tile, of which a plan takes the one with which a run is faster: two
/// where every level of a tape is a round. Tiles are larger where each settles its checks.
pub(crate) fn bounds(
    domains: &Domains,
    network: NetworkClass,
    profile: &Profile,
) -> &'static [u64] {
    if !domains.any_depth() || network.spares_rounds() {
        &ROWS[1..]
    } else if profile.settles {
        &[ROWS_A_SETTLEMENT, ROWS[1]]
    } else {
        &[ROWS_A_ROUND, ROWS[1]]
    }
}

/// Memory that what a tile leaves may take until it is read: material of offline parts, or what is
/// checked when the tile settles. Where there is both, a tile takes several times as much before
/// and after, and products of its bits are made with it.
pub(crate) fn material_bits(profile: &Profile) -> u64 {
    match (profile.offline, profile.settles) {
        (true, true) => TILE_BITS / 2,
        (false, true) => 4 * TILE_BITS,
        (_, false) => TILE_BITS,
    }
}

/// Returns the same rows, or fewer if the live wires of running tapes would not fit the memory of a
/// tile. Where every level is a round, all lanes of a tape are under way at once; elsewhere a few
/// are.
pub(crate) fn with_tapes(
    tiles: &[u64],
    draft: &Draft,
    lowered: &Lowered,
    domains: &Domains,
) -> Vec<u64> {
    let mut tiles = tiles.to_vec();
    let slots = |id: &TapeId| u64::from(lowered.tapes[id.0 as usize].slots);
    let forms = domains.tapes.iter().zip(&domains.tape_bits);
    let forms = forms.zip(&lowered.forms);
    let flat = forms.filter(|(((_, goal), _), _)| *goal == Goal::Depth);
    let steps = flat.flat_map(|((_, bit), steps)| {
        let units = draft.units.iter().zip(steps);
        units.map(move |(unit, step)| (unit, step, *bit))
    });
    for (unit, step, bit) in steps {
        let Some(rows) = unit.phase.rows else {
            continue;
        };
        let (largest, lanes) = match &step.op {
            StepOp::Tape { tape, lanes, .. } => (Some(slots(tape)), lanes),
            StepOp::Fold(fold) => (fold.levels.iter().map(slots).max(), &fold.lanes),
            _ => continue,
        };
        let lanes = lanes.iter().map(|len| match len {
            Len::Rows => 1,
            Len::Fixed(length) => *length,
        });
        let bits = lanes.fold(largest.unwrap_or(1), u64::saturating_mul);
        let most = rows_that_fit(bits.saturating_mul(bit));
        let tile = &mut tiles[usize::from(rows.0)];
        *tile = most.min(*tile);
    }
    tiles
}

/// Number of rows of so many bits each that fit the memory of a tile.
fn rows_that_fit(bits: u64) -> u64 {
    let power = (TILE_BITS / bits.max(1)).checked_ilog2();
    power.map_or(1, |log| 1u64 << log).clamp(ROWS[0], ROWS[1])
}

/// Bits of memory that a share of an element takes.
fn share(tensor: &Tensor, domains: &Domains) -> u64 {
    match tensor.algebra {
        Algebra::Z2 => u64::from(tensor.range.bits()) * domains.bit,
        Algebra::Z2k(_) | Algebra::Gf2k(_) | Algebra::Fp => domains.ring,
    }
}
