//! Execution of a tape over lanes: the order of lanes, gates, tweaks and table bytes.
//!
//! This order is the *format*: garbler and evaluator follow it, on any CPU tier.
//!
//! 1. Lanes are cut into blocks of [`block_width`]. The remaining lanes form one block of whole
//!    groups of 16 and one of fewer than 16. Up to [`SPAN`] blocks in a row are a *span*, which
//!    runs the whole tape before the next begins, so memory is bounded by the tape's slots times
//!    four blocks, however many lanes there are.
//! 2. A tape is cut into *pieces*, each as many whole batches as have together at most 512 ANDs and
//!    2048 XORs. A larger batch is itself cut: 2048 of its XORs at a time, then 512 of its ANDs at
//!    a time; batches that fit follow the rest in its piece. The stream has the tables of the first
//!    piece for each block of a span in turn, then those of the second piece, and so on. So several
//!    cores can work on the blocks of a span with bounded table buffers (`cores`); the order is the
//!    same on one core.
//!
//!    ```text
//!    156 lanes, pieces P and Q:  P0..31 P32..63 P64..95 P96..127  Q0..31 ... Q96..127
//!                                P128..143 P144..155              Q128..143 Q144..155
//!    ```
//! 3. A block holds its labels as `[slot][lane]`. The gates of a batch in a piece are taken one by
//!    one, and lane by lane within a gate, in groups of 16 (gate, lane) pairs; only the last group
//!    of each kind in a narrow block's batch may hold fewer. In a wide block a group is 16
//!    neighbouring lanes of one gate, contiguous in memory; in a narrow one the pairs are gathered.
//!
//!    ```text
//!    37 lanes, gates g and h:  block of 32: g0..15 | g16..31 | h0..15 | h16..31
//!                              block of  5: g32..36 h32..36
//!    ```
//! 4. A group of n pairs has n pieces of each plane of the scheme's table, plane after plane: with
//!    half-gates, 16 n bytes of garbler rows, then 16 n of evaluator rows. ANDs with an operand
//!    that one party knows have one plane and form groups of their own; they are consecutive in the
//!    tape.
//! 5. The tweak of a pair identifies it: number of the gate in the circuit as written, number of
//!    the call, lane. It does not depend on the order, so every order produces the same rows,
//!    arranged in its own order.

use std::ops::Range;

use sealane_block::{Block, Cpu, GROUP, Group, Kernel, Lanes, Tier};
use sealane_circuit::tape::{Batch, FIRST_INPUT, Gate, KnownTo, ONE, Tape, ZERO};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::ahead;
use crate::cores::{self, Stock};
use crate::kernels::{self, BlockRun, GateKernel, LaneLabels, Scratch};
use crate::scheme::KnownOperand;
use crate::tables::{Ended, TableStream};
use crate::{Ports, Roles};

/// Number of blocks of lanes that run through a tape in turn.
pub const SPAN: usize = 4;

/// Largest number of lanes of a block: half a kilobyte a slot, wide enough to amortise the cost of
/// reading a gate.
const WIDEST: usize = 32;

/// Limit on the bytes of slots of a block of more than one group: half of a second-level cache of
/// 512 KiB, as there are tables and the tape beside them.
const BLOCK_BYTES: usize = 1 << 18;

/// Largest number of gates of a piece. With 32 lanes its tables take half a mebibyte, or three
/// times that where XORs have tables.
const PIECE_ANDS: usize = 512;
const PIECE_XORS: usize = 2048;

/// Returns the number of lanes of a block: 32 if all slots of the tape take at most 256 KiB at 16
/// bytes a lane, else 16.
pub fn block_width(tape: &Tape) -> usize {
    if tape.slots as usize * WIDEST * size_of::<Block>() <= BLOCK_BYTES {
        WIDEST
    } else {
        GROUP
    }
}

/// Returns the blocks of lanes in order, as first lane and width.
pub fn lane_blocks(tape: &Tape, lanes: usize) -> impl Iterator<Item = (usize, usize)> {
    let (full, mut first) = (block_width(tape), 0);
    std::iter::from_fn(move || {
        let left = lanes - first;
        let width = match left {
            0 => return None,
            _ if left >= full => full,
            GROUP.. => left - left % GROUP,
            _ => left,
        };
        first += width;
        Some((first - width, width))
    })
}

/// Consecutive gates of a tape: whole batches, or a part of one batch.
pub(crate) struct Piece {
    batches: Range<usize>,
    /// The gates of the tape that belong to the piece.
    pub xors: Range<usize>,
    pub ands: Range<usize>,
}

impl Piece {
    /// Returns true if the piece has all gates of its batches; otherwise it begins or ends within
    /// one.
    fn is_whole(&self, batches: &[Batch]) -> bool {
        let (Some(first), Some(last)) = (batches.first(), batches.last()) else {
            return true;
        };
        self.xors == range(&(first.xors.start..last.xors.end))
            && self.ands == range(&(first.ands.start..last.ands.end))
    }
}

/// Returns the pieces of a tape, in order.
pub(crate) fn pieces(tape: &Tape) -> impl Iterator<Item = Piece> {
    let (mut batch, mut xor, mut and) = (0, 0, 0);
    std::iter::from_fn(move || {
        let (first, first_xor, first_and) = (batch, xor, and);
        let cut = tape.batches.get(first)?;
        let (last_xor, last_and) = (xor + PIECE_XORS, and + PIECE_ANDS);
        for whole in &tape.batches[first..] {
            let (xors, ands) = (whole.xors.end as usize, whole.ands.end as usize);
            if xors > last_xor || ands > last_and {
                break;
            }
            (batch, xor, and) = (batch + 1, xors, ands);
        }
        if batch == first {
            let xors = cut.xors.end as usize;
            (xor, and) = if xors > last_xor {
                (last_xor, and)
            } else {
                (xors, last_and)
            };
        }
        Some(Piece {
            batches: first..batch.max(first + 1),
            xors: first_xor..xor,
            ands: first_and..and,
        })
    })
}

/// One side of a scheme: its implementation of the gates of a batch.
pub(crate) trait Gates {
    /// Returns the number of labels that this side holds of a wire.
    fn labels(&self) -> usize;
    /// Returns true if this side writes tables; otherwise it reads them.
    fn garbles(&self) -> bool;
    /// Returns the bytes of table of some gates on one lane; `known_to` belongs to the ANDs.
    fn table_bytes(&self, xors: &[Gate], known_to: &[KnownTo]) -> usize;
    /// Returns a label of the constant 0 or 1.
    fn constant(&self, bit: usize, label: usize) -> Block;
    /// Runs XORs of the tape in order.
    fn xors(&self, xors: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended>;
    /// Runs independent ANDs of the tape.
    fn ands(&self, ands: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended>;

    /// Runs batches of the tape one by one.
    fn each_batch(&self, batches: &[Batch], on: &mut BlockRun<'_>) -> Result<(), Ended> {
        batches.iter().try_for_each(|batch| {
            self.xors(range(&batch.xors), on)?;
            self.ands(range(&batch.ands), on)
        })
    }

    /// Runs batches of the tape, several at once where that is faster.
    fn batches(&self, batches: &[Batch], on: &mut BlockRun<'_>) -> Result<(), Ended> {
        self.each_batch(batches, on)
    }
}

fn range(gates: &Range<u32>) -> Range<usize> {
    gates.start as usize..gates.end as usize
}

/// A side of a scheme with free XOR, with its three kernels: full ANDs, ANDs with an operand known
/// to the garbler, and ANDs with one known to the evaluator.
pub(crate) struct FreeXor<K, G, E> {
    pub and: K,
    pub garbler_knows: G,
    pub evaluator_knows: E,
    pub roles: Roles,
    /// The label of the constant 1.
    pub one: Block,
    /// True on the garbler's side.
    pub garbles: bool,
}

impl<K: GateKernel, G: GateKernel, E: GateKernel> Gates for FreeXor<K, G, E> {
    fn labels(&self) -> usize {
        1
    }

    fn garbles(&self) -> bool {
        self.garbles
    }

    fn table_bytes(&self, _: &[Gate], known_to: &[KnownTo]) -> usize {
        let bytes = |known_to: &KnownTo| match self.roles.known_operand(*known_to) {
            None => K::PAIR,
            Some(KnownOperand::Garbler) => G::PAIR,
            Some(KnownOperand::Evaluator) => E::PAIR,
        };
        known_to.iter().map(bytes).sum()
    }

    fn constant(&self, bit: usize, _: usize) -> Block {
        [Block::ZERO, self.one][bit]
    }

    fn xors(&self, xors: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended> {
        free_xors(xors, 1, on);
        Ok(())
    }

    fn ands(&self, ands: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended> {
        let known = |known_to: &KnownTo| self.roles.known_operand(*known_to);
        let mut gates = &on.tape.ands[ands.clone()];
        for run in on.tape.known_to[ands].chunk_by(|one, next| known(one) == known(next)) {
            let now;
            (now, gates) = gates.split_at(run.len());
            match known(&run[0]) {
                None => kernels::run(&self.and, now, on)?,
                Some(KnownOperand::Garbler) => kernels::run(&self.garbler_knows, now, on)?,
                Some(KnownOperand::Evaluator) => kernels::run(&self.evaluator_knows, now, on)?,
            }
        }
        Ok(())
    }

    fn batches(&self, batches: &[Batch], on: &mut BlockRun<'_>) -> Result<(), Ended> {
        let (tape, width) = (on.tape, on.rows.width);
        if width.is_multiple_of(GROUP) || on.cpu.tier() == Tier::Portable {
            return self.each_batch(batches, on);
        }
        let whole = |known_to: &KnownTo| self.roles.known_operand(*known_to).is_none();
        let small = |batch: &Batch| {
            let ands = range(&batch.ands);
            ands.len() * width < K::AHEAD && tape.known_to[ands].iter().all(whole)
        };
        let mut rest = batches;
        // Each batch is judged once or twice: in a chain of ANDs there is one for every gate.
        while let [first, later @ ..] = rest {
            let is_small = small(first);
            let same = |batch: &&Batch| small(batch) == is_small;
            let run;
            (run, rest) = rest.split_at(1 + later.iter().take_while(same).count());
            if is_small {
                ahead::run(&self.and, run, on)?
            } else {
                self.each_batch(run, on)?
            }
        }
        Ok(())
    }
}

/// Runs XORs of the tape in order, on so many labels of each wire.
pub(crate) fn free_xors(xors: Range<usize>, labels: usize, on: &mut BlockRun<'_>) {
    let (gates, rows) = (&on.tape.xors[xors], &mut on.rows);
    on.cpu.run(Xors {
        gates,
        rows,
        labels,
    });
}

/// Free XOR gates: every output label is the XOR of the two input labels.
struct Xors<'a, 'b> {
    gates: &'a [Gate],
    rows: &'a mut LaneLabels<'b>,
    labels: usize,
}

impl Kernel for Xors<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let LaneLabels { slots, width, .. } = self.rows;
        match *width * self.labels {
            WIDEST => xor_gates::<L, WIDEST>(l, self.gates, slots),
            GROUP => xor_gates::<L, GROUP>(l, self.gates, slots),
            48 => xor_gates::<L, 48>(l, self.gates, slots),
            64 => xor_gates::<L, 64>(l, self.gates, slots),
            96 => xor_gates::<L, 96>(l, self.gates, slots),
            narrow => {
                for gate in self.gates {
                    kernels::xor_rows(slots, narrow, gate);
                }
            }
        }
    }
}

/// Runs XORs of a block of whole groups. Its width, times the labels of a wire, is a constant, so
/// that bounds are checked once for a gate and not for each vector.
#[inline(always)]
fn xor_gates<L: Lanes, const WIDTH: usize>(l: L, gates: &[Gate], slots: &mut [Block]) {
    let (slots, _) = slots.as_chunks_mut::<WIDTH>();
    for gate in gates {
        let [a, b, out] = [gate.a, gate.b, gate.out].map(|slot| slot as usize);
        for at in (0..WIDTH).step_by(L::QUAD) {
            let sum = l.xor_quad(l.load_quad(&slots[a][at..]), l.load_quad(&slots[b][at..]));
            l.store_quad(&mut slots[out][at..], sum);
        }
    }
}

/// One call: a tape that one side runs.
#[derive(Clone, Copy)]
pub(crate) struct TapeRun<'a> {
    pub cpu: Cpu,
    pub gates: &'a (dyn Gates + Sync),
    pub call: u64,
    pub tape: &'a Tape,
}

/// The labels of all slots of one block of lanes.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct LaneBlock {
    slots: Vec<Group>,
    /// Boxed because it is aligned to a cache line: inline, its owner would need the same alignment
    /// and padding.
    scratch: Box<Scratch>,
    first_lane: usize,
    pub width: usize,
}

impl TapeRun<'_> {
    /// Loads the inputs of a block's lanes.
    pub fn begin(&self, block: &mut LaneBlock, ports: &dyn Ports) {
        let (first_lane, width) = (block.first_lane, block.width);
        let slots = block.slots(self.tape.slots as usize * width * self.gates.labels());
        for (bit, slot) in [ZERO, ONE].into_iter().enumerate() {
            let of_value = slots[self.range(slot, width)].chunks_exact_mut(width);
            for (label, slots) in of_value.enumerate() {
                slots.fill(self.gates.constant(bit, label));
            }
        }
        let per_bit = width * self.gates.labels();
        let inputs = FIRST_INPUT as usize..(FIRST_INPUT + self.tape.inputs) as usize;
        let labels = &mut slots[inputs.start * per_bit..inputs.end * per_bit];
        ports.load(first_lane, per_bit, labels);
    }

    /// Runs the gates of a piece on a block.
    pub fn piece(
        &self,
        block: &mut LaneBlock,
        piece: &Piece,
        tables: &mut dyn TableStream,
    ) -> Result<(), Ended> {
        let (tape, width) = (self.tape, block.width);
        let count = tape.slots as usize * width * self.gates.labels();
        let rows = LaneLabels {
            slots: &mut Group::as_blocks_mut(&mut block.slots)[..count],
            width,
            call: self.call,
            first_row: u32::try_from(block.first_lane).expect("a call has fewer than 2^32 lanes"),
            scratch: &mut block.scratch,
        };
        let cpu = self.cpu;
        let on = &mut BlockRun {
            cpu,
            tape,
            rows,
            tables,
        };
        let batches = &tape.batches[piece.batches.clone()];
        if piece.is_whole(batches) {
            return self.gates.batches(batches, on);
        }
        batches.iter().try_for_each(|batch| {
            self.gates.xors(within(&batch.xors, &piece.xors), on)?;
            self.gates.ands(within(&batch.ands, &piece.ands), on)
        })
    }

    /// Returns the bytes of a block's tables of a piece.
    pub fn table_bytes(&self, piece: &Piece, width: usize) -> usize {
        let xors = &self.tape.xors[piece.xors.clone()];
        let known_to = &self.tape.known_to[piece.ands.clone()];
        width * self.gates.table_bytes(xors, known_to)
    }

    /// Stores the outputs of a block's lanes.
    fn end(&self, block: &mut LaneBlock, ports: &mut dyn Ports) {
        let (first_lane, width) = (block.first_lane, block.width);
        let slots = Group::as_blocks_mut(&mut block.slots);
        for (output, slot) in self.tape.outputs.iter().enumerate() {
            ports.store(output, first_lane, &slots[self.range(*slot, width)]);
        }
    }

    fn range(&self, slot: u32, width: usize) -> Range<usize> {
        let stride = width * self.gates.labels();
        slot as usize * stride..(slot as usize + 1) * stride
    }
}

/// Intersects a batch's gates with a piece.
fn within(batch: &Range<u32>, piece: &Range<usize>) -> Range<usize> {
    piece.start.max(batch.start as usize)..piece.end.min(batch.end as usize)
}

impl LaneBlock {
    /// Returns space for `count` labels, aligned to a cache line. Memory is not copied when it
    /// grows, so no label is left behind in a freed allocation.
    fn slots(&mut self, count: usize) -> &mut [Block] {
        let groups = count.div_ceil(GROUP);
        if self.slots.len() < groups {
            self.slots.zeroize();
            self.slots = vec![Group::ZERO; groups];
        }
        &mut Group::as_blocks_mut(&mut self.slots)[..count]
    }
}

/// The blocks of a span, and the cores that work on them.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Workers {
    blocks: [LaneBlock; SPAN],
    stock: Stock,
    /// Number of threads that a machine may start; below two it starts none.
    pub threads: usize,
}

impl Workers {
    /// Runs a tape on a number of lanes.
    pub fn run(
        &mut self,
        run: &TapeRun<'_>,
        lanes: usize,
        ports: &mut dyn Ports,
        tables: &mut dyn TableStream,
    ) -> Result<(), Ended> {
        let tape = run.tape;
        let mut left = lane_blocks(tape, lanes).peekable();
        while left.peek().is_some() {
            let (mut count, mut span_lanes) = (0, 0);
            for (block, (first_lane, width)) in self.blocks.iter_mut().zip(left.by_ref()) {
                (block.first_lane, block.width) = (first_lane, width);
                count += 1;
                span_lanes += width;
            }
            let blocks = &mut self.blocks[..count];
            if self.threads.min(count) > 1 && tape.ands.len() * span_lanes >= cores::FEWEST_ANDS {
                let (threads, stock) = (self.threads, &mut self.stock);
                cores::run(run, blocks, threads, &*ports, stock, tables)?;
            } else {
                for block in &mut *blocks {
                    run.begin(block, &*ports);
                }
                for piece in pieces(tape) {
                    for block in &mut *blocks {
                        run.piece(block, &piece, tables)?;
                    }
                }
            }
            for block in blocks {
                run.end(block, ports);
            }
        }
        Ok(())
    }
}
