//! Half-gates in narrow blocks, with key schedules precomputed for a quad of tweaks.
//!
//! A narrow block runs many small batches. In the worst case these form a chain of ANDs on one row,
//! each of which waits for the last. Two measures shorten that chain. One kernel call runs many
//! batches, XORs included, so its set-up is paid once. And the part of a hash that depends on
//! tweaks alone (the key schedules of the multi-instance hash) is computed for a quad of (gate,
//! row) pairs at once, before their labels are known:
//!
//! ```text
//! pairs of the tape   p0 p1 p2 p3 p4 p5 p6 p7 | p8 ...      a quad of two-lane vectors
//! ready together      [-----] [-----] [-----] [-----]
//! batches             <p0> <p1 p2 p3 p4> <p5> <p6 p7 ...
//! hashed together     p0 | p1 | p2 p3 | p4 | p5 | p6 p7     one vector, one batch
//! ```
//!
//! A pair keeps its position in the quad. A vector is hashed once for each batch that has pairs in
//! it; its other positions then hold labels under tweaks that are not theirs, and their results are
//! discarded. Tables equal those of [`kernels`](crate::kernels) byte for byte; those kernels remain
//! the faster ones for batches that fill quads.

use sealane_block::{Block, Group, Kernel, Lanes, Tweak};
use sealane_circuit::tape::{Batch, Gate, Tape};

use crate::kernels::{BlockRun, GateKernel, GateLanes, LaneLabels, xor_rows};
use crate::tables::Ended;

/// Bytes of one row of a table, and of both rows.
const ROW: usize = size_of::<Block>();
const PAIR: usize = 2 * ROW;

/// Runs batches of at most 16 pairs: one group of the format each.
pub(crate) fn run<K: GateKernel>(
    kernel: &K,
    mut batches: &[Batch],
    on: &mut BlockRun<'_>,
) -> Result<(), Ended> {
    while let [next, ..] = batches {
        let table = match next.ands.len() * on.rows.width {
            0 => &mut [],
            pairs => on.tables.next(pairs * PAIR)?,
        };
        let used = on.cpu.run(Ahead {
            kernel,
            tape: on.tape,
            batches: &mut batches,
            rows: &mut on.rows,
            table,
        });
        on.tables.pass(used)?;
    }
    Ok(())
}

/// The kernel call that runs batches until the table buffer is used up.
struct Ahead<'a, 'b, 'c, K> {
    kernel: &'a K,
    tape: &'a Tape,
    /// Batches that have not run yet.
    batches: &'a mut &'c [Batch],
    rows: &'a mut LaneLabels<'b>,
    table: &'a mut [u8],
}

impl<K: GateKernel> Kernel for Ahead<'_, '_, '_, K> {
    /// Bytes of the table buffer that were used.
    type Output = usize;
    const PORTABLE: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> usize {
        let Ahead {
            kernel,
            tape,
            batches,
            rows,
            table,
        } = self;
        let mut lanes = kernel.lanes(l);
        let width = rows.width;
        // The first pair of the quad whose keys are computed; none at the start.
        let mut ready = usize::MAX;
        let mut tweaks = Group::ZERO;
        let mut used = 0;
        while let [batch, later @ ..] = *batches {
            let len = batch.ands.len() * width;
            let Some(table) = table[used..].get_mut(..len * PAIR) else {
                break;
            };
            used += len * PAIR;
            for gate in &tape.xors[batch.xors.start as usize..batch.xors.end as usize] {
                xor_rows(rows.slots, width, gate);
            }
            let first = batch.ands.start as usize * width;
            let mut next = (batch.ands.start as usize, 0);
            let mut done = 0;
            while done < len {
                let quad = (first + done) / L::QUAD * L::QUAD;
                if quad != ready {
                    set_tweaks(&mut tweaks[..L::QUAD], &tape.ands, quad, rows);
                    lanes.precompute_keys(l, &tweaks[..]);
                    ready = quad;
                }
                let at = first + done - quad;
                let (m, lane) = (at / L::WIDTH, at % L::WIDTH);
                let tweak = l.load(&tweaks[m * L::WIDTH..]);
                let span = VectorSpan {
                    lane,
                    len: (len - done).min(L::WIDTH - lane),
                };
                let places = span.places(&tape.ands, &mut next, width);
                let operands = span.gather(l, rows, &places);
                let (garbler, evaluator) = table.split_at_mut(len * ROW);
                let planes = [&mut garbler[done * ROW..], &mut evaluator[done * ROW..]];
                let table = [span.read(l, planes[0]), span.read(l, planes[1])];
                let (out, table) = lanes.vector(l, m, tweak, operands, table);
                span.scatter(l, rows, &places, out);
                for (plane, row) in planes.into_iter().zip(table) {
                    span.write(l, plane, row);
                }
                done += span.len;
            }
            *batches = later;
        }
        used
    }
}

/// Sets the tweaks of neighbouring pairs of a tape, from pair `first` on. Tweaks behind the end of
/// the tape are left as they are.
fn set_tweaks(tweaks: &mut [Block], ands: &[Gate], first: usize, rows: &LaneLabels<'_>) {
    let mut next = (first / rows.width, first % rows.width);
    for block in tweaks {
        let Some(gate) = ands.get(next.0) else {
            return;
        };
        let tweak = Tweak {
            gate: gate.number,
            call: rows.call,
            row: rows.first_row + next.1 as u32,
            part: 0,
        };
        *block = tweak.block();
        step(&mut next, rows.width);
    }
}

/// Advances (gate, row) to the next pair.
#[inline(always)]
fn step((gate, row): &mut (usize, usize), width: usize) {
    *row += 1;
    if *row == width {
        (*gate, *row) = (*gate + 1, 0);
    }
}

/// Most lanes of a vector.
const MAX_WIDTH: usize = 4;

/// Slots of the operands and of the outputs of the pairs of a vector. There is an array for each:
/// the slots of one pair, written one by one and read together, would wait for the cache too.
#[derive(Default)]
struct PairSlots {
    a: [usize; MAX_WIDTH],
    b: [usize; MAX_WIDTH],
    out: [usize; MAX_WIDTH],
}

/// The lanes of a vector that belong to pairs: `len` lanes from `lane` on. Vectors are not loaded
/// from where their lanes were just stored: such a load waits until the stores have left for the
/// cache, and a chain of ANDs waits with it. A single label or row is broadcast, several are
/// collected lane by lane.
#[derive(Clone, Copy)]
struct VectorSpan {
    lane: usize,
    len: usize,
}

impl VectorSpan {
    /// Computes the slots of the next pairs.
    #[inline(always)]
    fn places(self, ands: &[Gate], next: &mut (usize, usize), width: usize) -> PairSlots {
        let mut places = PairSlots::default();
        for i in 0..self.len {
            let (gate, row) = (&ands[next.0], next.1);
            places.a[i] = gate.a as usize * width + row;
            places.b[i] = gate.b as usize * width + row;
            places.out[i] = gate.out as usize * width + row;
            step(next, width);
        }
        places
    }

    /// Loads the labels of the operands, each into its lane.
    #[inline(always)]
    fn gather<L: Lanes>(self, l: L, rows: &LaneLabels<'_>, places: &PairSlots) -> [L::V; 2] {
        let slots = &rows.slots;
        if self.len == 1 {
            return [l.splat(slots[places.a[0]]), l.splat(slots[places.b[0]])];
        }
        [places.a, places.b].map(|from| {
            // Lanes that belong to no pair hold a label of one that does.
            let mut labels = [&slots[from[0]]; MAX_WIDTH];
            for i in 0..self.len {
                labels[self.lane + i] = &slots[from[i]];
            }
            l.collect(labels)
        })
    }

    /// Stores the labels of the outputs in their slots.
    #[inline(always)]
    fn scatter<L: Lanes>(self, l: L, rows: &mut LaneLabels<'_>, places: &PairSlots, out: L::V) {
        let LaneLabels { slots, scratch, .. } = rows;
        let c = &mut scratch.ahead;
        l.store(c, out);
        for i in 0..self.len {
            slots[places.out[i]] = c[self.lane + i];
        }
    }

    /// Reads the rows of a plane from its first bytes, each into its lane.
    #[inline(always)]
    fn read<L: Lanes>(self, l: L, plane: &[u8]) -> L::V {
        if self.len == L::WIDTH {
            return l.load_bytes(plane);
        }
        let plane = &plane.as_chunks().0[..self.len];
        if let [row] = plane {
            return l.splat(Block::from_bytes(*row));
        }
        let mut rows = [Block::ZERO; MAX_WIDTH];
        for (i, row) in plane.iter().enumerate() {
            rows[self.lane + i] = Block::from_bytes(*row);
        }
        l.collect(rows.each_ref())
    }

    /// Writes the rows to the first bytes of a plane.
    #[inline(always)]
    fn write<L: Lanes>(self, l: L, plane: &mut [u8], row: L::V) {
        if self.len == L::WIDTH {
            return l.store_bytes(plane, row);
        }
        let mut rows = [0; ROW * MAX_WIDTH];
        l.store_bytes(&mut rows, row);
        let (rows, _) = rows.as_chunks::<ROW>();
        for (row, bytes) in rows[self.lane..][..self.len]
            .iter()
            .zip(plane.as_chunks_mut().0)
        {
            *bytes = *row;
        }
    }
}
