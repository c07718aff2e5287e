//! Streams of bytes in memory, one for each lane.

use std::marker::PhantomData;
use std::sync::atomic::{Ordering, compiler_fence};

/// Largest number of lanes that eight vectors have on any tier.
pub const MAX_LANES: usize = 32;

/// The most blocks of a unit.
pub const MAX_UNIT: usize = 16;

/// Bytes of a [`Spare`].
pub const SPARE_BYTES: usize = 1024;

/// Memory that lanes without work read and write; its contents are ignored.
pub type Spare = [u8; SPARE_BYTES];

/// One run of *units* for every lane. A unit is a few neighbouring blocks, read and written in
/// place by [`Lanes::load_streams`](crate::Lanes::load_streams) and its counterpart.
///
/// Bounds are checked here once, so that one check a vector remains: all streams have as many units
/// as the shortest.
pub struct Streams<'a> {
    at: [*mut u8; MAX_LANES],
    /// Bytes from one unit of a stream to the next.
    step_bytes: usize,
    /// Blocks of a unit.
    unit: usize,
    units: usize,
    /// Number of streams whose blocks are contiguous, each behind that of the stream before; zero
    /// where they lie anywhere.
    row: usize,
    /// A bit for each lane that has work.
    busy: u32,
    bytes: PhantomData<&'a mut [u8]>,
}

impl<'a> Streams<'a> {
    /// Creates a stream for each lane that has work, of units of `unit` blocks. Lanes without work
    /// share the spare, which then bounds the number of units. Bytes behind the last unit are left
    /// alone.
    ///
    /// # Panics
    /// If there are more than [`MAX_LANES`] lanes, or a unit has no blocks or more than sixteen.
    #[inline]
    pub fn new(
        lanes: impl Iterator<Item = Option<&'a mut [u8]>>,
        unit: usize,
        spare: &'a mut [u8],
    ) -> Streams<'a> {
        assert!((1..=MAX_UNIT).contains(&unit), "a unit has a few blocks");
        let step_bytes = 16 * unit;
        let spare_bytes = spare.len();
        let spare = spare.as_mut_ptr();
        let mut streams = Streams {
            at: [spare; MAX_LANES],
            step_bytes,
            unit,
            units: usize::MAX,
            row: 0,
            busy: 0,
            bytes: PhantomData,
        };
        let mut count = 0;
        let mut shortest = usize::MAX;
        for lane in lanes {
            assert!(count < MAX_LANES, "as many lanes as vectors have");
            if let Some(bytes) = lane {
                streams.at[count] = bytes.as_mut_ptr();
                streams.busy |= 1 << count;
                shortest = shortest.min(bytes.len());
            } else {
                shortest = shortest.min(spare_bytes);
            }
            count += 1;
        }
        if count < MAX_LANES {
            shortest = shortest.min(spare_bytes);
        }
        streams.units = shortest / step_bytes;
        streams
    }

    /// Creates a stream for each of the first [`MAX_LANES`] runs of bytes, all of `units` units.
    /// Bytes behind these are left alone.
    ///
    /// # Panics
    /// If there is no run, a unit has no blocks or more than sixteen, or a run is shorter.
    #[inline(always)]
    pub fn interleave(
        runs: impl Iterator<Item = &'a mut [u8]>,
        unit: usize,
        units: usize,
    ) -> Streams<'a> {
        let mut at = [std::ptr::null_mut(); MAX_LANES];
        let mut count = 0;
        for (place, run) in at.iter_mut().zip(runs) {
            assert!(units <= run.len() / (16 * unit), "a run of all units");
            *place = run.as_mut_ptr();
            count += 1;
        }
        assert!(count > 0, "a run for the first lane");
        // Lanes without a run share the first one.
        let first = at[0];
        at[count..].fill(first);
        Streams::of_busy(at, count, 16 * unit, unit, units)
    }

    /// Creates streams in rows of `stride` bytes, one behind the other: a stream for each, of
    /// `units` units at its front. Bytes behind these are left alone.
    ///
    /// # Panics
    /// If there is no row or more than [`MAX_LANES`], a unit has no blocks or more than sixteen, or
    /// a row is shorter than its units.
    #[inline(always)]
    pub fn in_stride(rows: &'a mut [u8], stride: usize, unit: usize, units: usize) -> Streams<'a> {
        assert!(units <= stride / (16 * unit), "a row of all units");
        let count = rows.len() / stride.max(1);
        let at = places_in(rows, count, stride);
        Streams::of_busy(at, count, 16 * unit, unit, units)
    }

    /// Deals one run of bytes out to `lanes` lanes in turn: unit `u` of lane `l` is unit `u * lanes
    /// + l` of the run, which has to be a whole number of rounds.
    ///
    /// # Panics
    /// As [`new`](Streams::new), or if the last round is not whole.
    #[inline(always)]
    pub fn deal(run: &'a mut [u8], lanes: usize, unit: usize) -> Streams<'a> {
        let round = 16 * unit * lanes;
        assert!(run.len().is_multiple_of(round), "whole rounds");
        let units = run.len() / round;
        let mut streams =
            Streams::of_busy(places_in(run, lanes, 16 * unit), lanes, round, unit, units);
        streams.row = if unit == 1 { lanes } else { 0 };
        streams
    }

    /// Streams of the first `count` lanes, all of which have work.
    #[inline(always)]
    fn of_busy(
        at: [*mut u8; MAX_LANES],
        count: usize,
        step_bytes: usize,
        unit: usize,
        units: usize,
    ) -> Streams<'a> {
        assert!((1..=MAX_UNIT).contains(&unit), "a unit has a few blocks");
        Streams {
            at,
            step_bytes,
            unit,
            units,
            row: 0,
            busy: u32::MAX >> (MAX_LANES - count),
            bytes: PhantomData,
        }
    }

    /// Returns the number of units of every stream.
    #[inline]
    pub fn units(&self) -> usize {
        self.units
    }

    /// Returns a bit for each lane that has work, and not the spare.
    #[inline]
    pub fn busy(&self) -> u32 {
        self.busy
    }

    /// Returns true if units have one block each, and blocks of neighbouring streams are
    /// contiguous, so that whole vectors can be read.
    #[inline(always)]
    pub fn in_rows(&self) -> bool {
        self.row > 0
    }

    /// Returns the address of the units of `W` neighbouring streams whose blocks are contiguous:
    /// `W` blocks that may be read, and written where this was borrowed for writing.
    #[inline(always)]
    pub(super) fn row<const W: usize>(&self, stream: usize, unit: usize) -> *mut u8 {
        // The sum of stream and width could wrap.
        assert!(unit < self.units && W <= self.row && stream <= self.row - W);
        self.at[0].wrapping_add(self.step_bytes * unit + 16 * stream)
    }

    /// Returns the addresses of one block of `W` neighbouring streams: sixteen bytes each that may
    /// be read, and written where this was borrowed for writing.
    #[inline(always)]
    pub(super) fn places<const W: usize>(
        &self,
        stream: usize,
        unit: usize,
        block: usize,
    ) -> [*mut u8; W] {
        assert!(unit < self.units && block < self.unit && stream <= MAX_LANES - W);
        let mut places = [std::ptr::null_mut(); W];
        for lane in 0..W {
            // Plain arithmetic: the constructors ensured that it is in bounds.
            places[lane] = self.at[stream + lane].wrapping_add(self.step_bytes * unit + 16 * block);
        }
        places
    }

    /// A block as a little-endian integer.
    #[inline(always)]
    pub(super) fn read(&self, stream: usize, unit: usize, block: usize) -> u128 {
        let [at] = self.places::<1>(stream, unit, block);
        // SAFETY: `places` gives sixteen bytes that may be read; none of them is borrowed.
        u128::from_le_bytes(unsafe { at.cast::<[u8; 16]>().read() })
    }

    /// Writes a block.
    #[inline(always)]
    pub(super) fn write(&mut self, stream: usize, unit: usize, block: usize, value: u128) {
        let [at] = self.places::<1>(stream, unit, block);
        // SAFETY: `places` gives sixteen bytes that may be written; none of them is borrowed.
        unsafe { at.cast::<[u8; 16]>().write(value.to_le_bytes()) }
    }
}

/// The first `count` addresses of a step in memory; the first one for all further lanes.
///
/// # Panics
/// If there is no lane or more than [`MAX_LANES`].
#[inline(always)]
fn places_in(bytes: &mut [u8], count: usize, step: usize) -> [*mut u8; MAX_LANES] {
    assert!(
        (1..=MAX_LANES).contains(&count),
        "as many lanes as vectors have"
    );
    let base = bytes.as_mut_ptr();
    let mut at = [base; MAX_LANES];
    for (lane, place) in at[..count].iter_mut().enumerate() {
        *place = base.wrapping_add(step * lane);
    }
    at
}

/// Overwrites memory with `zero`, a whole vector at a time.
#[inline(always)]
pub(super) fn wipe<V: Copy>(vectors: &mut [V], zero: V) {
    for vector in vectors.iter_mut() {
        // SAFETY: it is a reference, so it may be written; volatile, the write stays.
        unsafe { std::ptr::from_mut(vector).write_volatile(zero) };
    }
    compiler_fence(Ordering::SeqCst);
}
