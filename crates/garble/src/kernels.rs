//! Kernels that take the gates of a batch in groups of sixteen (gate, row) pairs, for any scheme
//! and side.
//!
//! A scheme implements one group as a [`GateKernel`]. This module has the two ways to form groups.
//! In a *wide* block the rows of a gate are contiguous and are processed in place. In a *narrow*
//! block the pairs of several gates are gathered.

use sealane_block::hash::{HashLanes, row_tweak_blocks};
use sealane_block::lanes::Quad;
use sealane_block::{Block, Cpu, GROUP, Group, Kernel, Lanes, Tier, Tweak};
use sealane_circuit::tape::{Gate, Tape};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::tables::{Ended, TableStream};

/// One side of one kind of gate.
pub(crate) trait GateKernel {
    /// Bytes of table of one pair, plane by plane: a group of n pairs has n pieces of the first
    /// size, then n of the second, and so on.
    const PLANES: &'static [usize];
    /// Bytes of table of one pair.
    const PAIR: usize = sum(Self::PLANES);
    /// Number of labels that this side holds of a wire: 1, or 2 where there is no common offset; at
    /// most [`MAX_LABELS`]. What else it holds of a wire counts as a label.
    const LABELS: usize;
    /// The planes of this kernel: [`GateKernel::PLANES`], where all kernels of the type have those.
    fn planes(&self) -> &'static [usize] {
        Self::PLANES
    }
    /// Bytes of table of one pair of this kernel.
    fn pair(&self) -> usize {
        Self::PAIR
    }
    /// Labels of a wire of this kernel.
    fn labels(&self) -> usize {
        Self::LABELS
    }
    /// Number of pairs below which a batch of a narrow block runs [ahead](crate::ahead).
    const AHEAD: usize = 0;
    /// The form of this side inside a kernel.
    type Lanes<L: Lanes>: GateLanes<L>;
    /// Brings keys and offset into registers.
    fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L>;
}

/// The form of [`GateKernel`] inside a kernel.
pub(crate) trait GateLanes<L: Lanes> {
    /// Computes the output labels of sixteen pairs; writes their table when garbling, reads it when
    /// evaluating.
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]);

    /// Computes the key schedules of a quad of tweaks, where gates run [ahead](crate::ahead).
    fn precompute_keys(&mut self, _: L, _tweaks: &[Block]) {
        unreachable!("no batch has fewer than no pairs")
    }

    /// Maps the labels of the operands at vector `m` of that quad to the labels of the output and
    /// the rows of the table: new rows when garbling, the given ones when evaluating.
    fn vector(
        &mut self,
        _: L,
        _m: usize,
        _tweak: L::V,
        _labels: [L::V; 2],
        _rows: [L::V; 2],
    ) -> (L::V, [L::V; 2]) {
        unreachable!("no batch has fewer than no pairs")
    }
}

/// Positions of the labels of sixteen pairs: sixteen neighbours from each of these indices on.
pub(crate) struct GateSlots<'a> {
    pub slots: &'a mut [Block],
    pub a: usize,
    pub b: usize,
    pub out: usize,
    /// Distance from the first label of a wire to its second, and from each to the next.
    pub second: usize,
    /// Number of quads that hold pairs: all, except in the last group of a narrow batch.
    pub quads: usize,
}

/// The tweaks of a group.
pub(crate) trait Tweaks {
    /// Returns the tweaks of quad `q`, in the form that the hash takes.
    fn of_quad<L: Lanes, H: HashLanes<L>>(&self, l: L, hash: &H, q: usize) -> Quad<L>;
    /// Returns the tweaks of quad `q`, as blocks.
    fn blocks_of_quad<L: Lanes>(&self, l: L, q: usize) -> Quad<L>;
}

/// Tweaks of neighbouring rows of one gate.
#[derive(Clone, Copy)]
struct RowTweaks {
    gate: u32,
    call: u64,
    first_row: u32,
}

impl Tweaks for RowTweaks {
    #[inline(always)]
    fn of_quad<L: Lanes, H: HashLanes<L>>(&self, l: L, hash: &H, q: usize) -> Quad<L> {
        let first_row = self.first_row + (q * L::QUAD) as u32;
        hash.row_tweaks(l, self.gate, self.call, first_row)
    }
    #[inline(always)]
    fn blocks_of_quad<L: Lanes>(&self, l: L, q: usize) -> Quad<L> {
        let first_row = self.first_row + (q * L::QUAD) as u32;
        row_tweak_blocks(l, self.gate, self.call, first_row)
    }
}

/// Tweaks of gathered pairs.
impl Tweaks for Group {
    #[inline(always)]
    fn of_quad<L: Lanes, H: HashLanes<L>>(&self, l: L, hash: &H, q: usize) -> Quad<L> {
        hash.pair_tweaks(l, &self[q * L::QUAD..])
    }
    #[inline(always)]
    fn blocks_of_quad<L: Lanes>(&self, l: L, q: usize) -> Quad<L> {
        l.load_quad(&self[q * L::QUAD..])
    }
}

const fn sum(sizes: &[usize]) -> usize {
    let (mut sum, mut i) = (0, 0);
    while i < sizes.len() {
        sum += sizes[i];
        i += 1;
    }
    sum
}

/// The labels of a block of rows, with the call and the first row they belong to.
pub(crate) struct LaneLabels<'a> {
    /// `[slot][label of the wire][row]`.
    pub slots: &'a mut [Block],
    pub width: usize,
    pub call: u64,
    pub first_row: u32,
    pub scratch: &'a mut Scratch,
}

/// A block of lanes while gates of a tape run on it.
pub(crate) struct BlockRun<'a> {
    pub cpu: Cpu,
    pub tape: &'a Tape,
    pub rows: LaneLabels<'a>,
    pub tables: &'a mut dyn TableStream,
}

/// Runs independent gates.
pub(crate) fn run<K: GateKernel>(
    kernel: &K,
    gates: &[Gate],
    on: &mut BlockRun<'_>,
) -> Result<(), Ended> {
    if gathers(on.cpu, on.rows.width) {
        run_narrow(kernel, gates, on)
    } else {
        run_wide(kernel, gates, on)
    }
}

/// Returns true if the pairs of a block of this width are gathered. The portable tier always
/// gathers: gathering costs little beside its AES, and code for wide blocks is large. The tables
/// are the same.
pub(crate) fn gathers(cpu: Cpu, width: usize) -> bool {
    cpu.tier() == Tier::Portable || !width.is_multiple_of(GROUP)
}

fn run_wide<K: GateKernel>(
    kernel: &K,
    mut gates: &[Gate],
    on: &mut BlockRun<'_>,
) -> Result<(), Ended> {
    let bytes = on.rows.width * kernel.pair();
    while !gates.is_empty() {
        let table = on.tables.next_gates(bytes, gates.len())?;
        let (now, later) = gates.split_at(gates.len().min(table.len() / bytes));
        let used = now.len() * bytes;
        let (rows, table) = (&mut on.rows, &mut table[..used]);
        on.cpu.run(Wide {
            kernel,
            gates: now,
            rows,
            table,
        });
        on.tables.pass(used)?;
        gates = later;
    }
    Ok(())
}

fn run_narrow<K: GateKernel>(
    kernel: &K,
    gates: &[Gate],
    on: &mut BlockRun<'_>,
) -> Result<(), Ended> {
    let pairs = &mut Pairs::new(gates, on.rows.width);
    on.rows.scratch.make_room(kernel.labels(), kernel.pair());
    while pairs.next_len() > 0 {
        let table = on.tables.next(pairs.next_len() * kernel.pair())?;
        let rows = &mut on.rows;
        let used = on.cpu.run(Narrow {
            kernel,
            pairs: &mut *pairs,
            rows,
            table,
        });
        on.tables.pass(used)?;
    }
    Ok(())
}

/// Runs an XOR of a narrow block.
#[inline(always)]
pub(crate) fn xor_rows(slots: &mut [Block], width: usize, gate: &Gate) {
    let [a, b, out] = [gate.a, gate.b, gate.out].map(|slot| slot as usize * width);
    for at in 0..width {
        slots[out + at] = slots[a + at] ^ slots[b + at];
    }
}

/// Gates whose rows are contiguous, in whole groups, with the table bytes that they need.
struct Wide<'a, 'b, K> {
    kernel: &'a K,
    gates: &'a [Gate],
    rows: &'a mut LaneLabels<'b>,
    table: &'a mut [u8],
}

impl<K: GateKernel> Kernel for Wide<'_, '_, K> {
    type Output = ();
    const PORTABLE: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let LaneLabels {
            slots,
            width,
            call,
            first_row,
            ..
        } = self.rows;
        let mut lanes = self.kernel.lanes(l);
        let mut tables = self.table.chunks_exact_mut(GROUP * self.kernel.pair());
        let stride = *width * self.kernel.labels();
        for gate in self.gates {
            for at in (0..*width).step_by(GROUP) {
                let Some(table) = tables.next() else {
                    return;
                };
                let tweaks = RowTweaks {
                    gate: gate.number,
                    call: *call,
                    first_row: *first_row + at as u32,
                };
                let place = GateSlots {
                    slots,
                    a: gate.a as usize * stride + at,
                    b: gate.b as usize * stride + at,
                    out: gate.out as usize * stride + at,
                    second: *width,
                    quads: L::QUADS,
                };
                lanes.group(l, &tweaks, place, table);
            }
        }
    }
}

/// Gathered pairs, run until the table buffer is used up.
struct Narrow<'a, 'b, 'c, K> {
    kernel: &'a K,
    pairs: &'a mut Pairs<'c>,
    rows: &'a mut LaneLabels<'b>,
    table: &'a mut [u8],
}

impl<K: GateKernel> Kernel for Narrow<'_, '_, '_, K> {
    /// Bytes of the table buffer that were used.
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> usize {
        let mut lanes = self.kernel.lanes(l);
        let (labels, pair) = (self.kernel.labels(), self.kernel.pair());
        let mut used = 0;
        while self.pairs.next_len() > 0 {
            let bytes = self.pairs.next_len() * pair;
            let Some(table) = self.table[used..].get_mut(..bytes) else {
                break;
            };
            let pairs = self.pairs.take(self.rows, labels);
            let LaneLabels { slots, scratch, .. } = &mut *self.rows;
            pairs.gather(slots, labels, scratch);
            let place = GateSlots {
                slots: Group::as_blocks_mut(&mut scratch.labels),
                a: 0,
                b: labels * GROUP,
                out: 2 * labels * GROUP,
                second: GROUP,
                quads: pairs.len.div_ceil(L::QUAD),
            };
            if pairs.len == GROUP {
                lanes.group(l, &pairs.tweaks, place, table);
            } else {
                // The kernel works on a whole group; the evaluator reads its table, the garbler
                // writes it.
                let planes = self.kernel.planes();
                let whole = &mut scratch.table[..GROUP * pair];
                each_plane(planes, pairs.len, |part, group, size| {
                    whole[group..group + size].copy_from_slice(&table[part..part + size]);
                });
                lanes.group(l, &pairs.tweaks, place, whole);
                each_plane(planes, pairs.len, |part, group, size| {
                    table[part..part + size].copy_from_slice(&whole[group..group + size]);
                });
            }
            pairs.scatter(slots, labels, scratch);
            used += bytes;
        }
        used
    }
}

/// Calls back for each plane of a group of `len` pairs: where it begins, where it would begin in a
/// full group, and how many bytes it has.
#[inline(always)]
fn each_plane(planes: &[usize], len: usize, mut copy: impl FnMut(usize, usize, usize)) {
    let mut before = 0;
    for &size in planes {
        copy(before * len, before * GROUP, size * len);
        before += size;
    }
}

/// The (gate, row) pairs of a narrow batch, sixteen at a time.
struct Pairs<'a> {
    gates: &'a [Gate],
    width: usize,
    /// Gate and row of the next pair.
    next: (usize, usize),
}

/// Up to sixteen gathered pairs, with the positions of their operands and results.
struct Gathered {
    len: usize,
    tweaks: Group,
    a: [usize; GROUP],
    b: [usize; GROUP],
    out: [usize; GROUP],
    /// Distance from the first label of a wire to the second.
    second: usize,
}

impl<'a> Pairs<'a> {
    fn new(gates: &'a [Gate], width: usize) -> Pairs<'a> {
        Pairs {
            gates,
            width,
            next: (0, 0),
        }
    }

    /// Returns the number of pairs in the next group; 0 after the last.
    fn next_len(&self) -> usize {
        let (gate, row) = self.next;
        ((self.gates.len() - gate) * self.width - row).min(GROUP)
    }

    /// Takes the next group.
    fn take(&mut self, rows: &LaneLabels<'_>, labels: usize) -> Gathered {
        let mut gathered = Gathered {
            len: self.next_len(),
            tweaks: Group::ZERO,
            a: [0; GROUP],
            b: [0; GROUP],
            out: [0; GROUP],
            second: self.width,
        };
        let stride = self.width * labels;
        for i in 0..gathered.len {
            let (gate, row) = self.next;
            let Gate { a, b, out, number } = self.gates[gate];
            let tweak = Tweak {
                gate: number,
                call: rows.call,
                row: rows.first_row + row as u32,
                part: 0,
            };
            gathered.tweaks[i] = tweak.block();
            gathered.a[i] = a as usize * stride + row;
            gathered.b[i] = b as usize * stride + row;
            gathered.out[i] = out as usize * stride + row;
            self.next = if row + 1 == self.width {
                (gate + 1, 0)
            } else {
                (gate, row + 1)
            };
        }
        gathered
    }
}

/// Largest number of labels of a wire: those of fifteen garblers, and a MAC and a key for each, of
/// an evaluator of [authenticated](crate::authenticated) tables.
pub(crate) const MAX_LABELS: usize = 45;

/// Buffers for the operands and results of gathered pairs and for their table; labels are secret.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Scratch {
    /// All labels of a, of b and of the output.
    labels: Vec<Group>,
    table: Vec<u8>,
    /// A vector of outputs, for [precomputed keys](crate::ahead).
    pub ahead: [Block; 4],
}

impl Scratch {
    /// Makes room for wires of so many labels, and pairs of so many bytes of table.
    fn make_room(&mut self, labels: usize, pair: usize) {
        if self.labels.len() < 3 * labels {
            self.labels.zeroize();
            self.labels = vec![Group::ZERO; 3 * labels];
        }
        if self.table.len() < GROUP * pair {
            self.table.zeroize();
            self.table = vec![0; GROUP * pair];
        }
    }
}

impl Gathered {
    /// Copies the operands next to each other; positions without a pair keep their old content.
    #[inline(always)]
    fn gather(&self, slots: &[Block], labels: usize, scratch: &mut Scratch) {
        let (of_a, of_b) = scratch.labels.split_at_mut(labels);
        for (label, (of_a, of_b)) in of_a.iter_mut().zip(of_b).enumerate() {
            let from = label * self.second;
            for i in 0..self.len {
                of_a[i] = slots[self.a[i] + from];
                of_b[i] = slots[self.b[i] + from];
            }
        }
    }

    /// Copies the results back to their slots.
    #[inline(always)]
    fn scatter(&self, slots: &mut [Block], labels: usize, scratch: &Scratch) {
        let results = scratch.labels[2 * labels..].iter().take(labels);
        for (label, results) in results.enumerate() {
            let to = label * self.second;
            for i in 0..self.len {
                slots[self.out[i] + to] = results[i];
            }
        }
    }
}
