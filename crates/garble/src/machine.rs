//! How a tape is run over lanes: the order of lanes, gates, tweaks and table bytes.
//!
//! This order is the *format*: garbler and evaluator follow it, on any CPU tier.
//!
//! 1. Lanes are cut into blocks of [`LANE_BLOCK`]; what is left, into one block of whole groups of
//!    16 and one of fewer than 16. Each block runs the whole tape before the next begins, so
//!    memory is bounded by the tape's slots times [`LANE_BLOCK`], however many lanes there are.
//! 2. A block holds its labels as `[slot][lane]`. The ANDs of a batch are taken gate by gate, and
//!    lane by lane within a gate, in groups of 16 (gate, lane) pairs; only the last group of a
//!    batch of a narrow block may hold fewer. In a wide block a group is 16 neighbouring lanes of
//!    one gate, contiguous in memory; in a narrow one the pairs are gathered.
//!
//!    ```text
//!    37 lanes, gates g and h:  block of 32: g0..15 | g16..31 | h0..15 | h16..31
//!                              block of  5: g32..36 h32..36
//!    ```
//! 3. Every group takes the next number of the tweak counter.
//! 4. A group of n pairs has n garbler rows, then n evaluator rows: 32 n bytes.

use sealane_block::{Block, Cpu, GROUP, Group};
use sealane_circuit::tape::{FIRST_INPUT, Gate, ONE, Tape, ZERO};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::Ports;
use crate::xor::Xors;

/// Lanes that run through a tape together: a kilobyte a slot, wide enough to spread the cost of
/// reading a gate, narrow enough that the live slots of a tape stay in the second-level cache.
pub const LANE_BLOCK: usize = 64;

/// The blocks of lanes in order: first lane and width.
pub fn lane_blocks(lanes: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let left = lanes - first;
        let width = match left {
            0 => return None,
            LANE_BLOCK.. => LANE_BLOCK,
            GROUP.. => left - left % GROUP,
            _ => left,
        };
        first += width;
        Some((first - width, width))
    })
}

/// What a garbler and an evaluator do differently with the ANDs of a batch.
pub(crate) trait Ands {
    /// Why the stream of tables ended.
    type Error;
    /// The label of the constant 1.
    fn one(&self) -> Block;
    /// Runs independent ANDs on `width` lanes a slot.
    fn run(&mut self, gates: &[Gate], slots: &mut [Block], width: usize)
    -> Result<(), Self::Error>;
}

/// The labels of all slots of one block of lanes.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Machine {
    slots: Vec<Group>,
}

impl Machine {
    /// Runs a tape on `lanes` lanes.
    pub fn run<A: Ands>(
        &mut self,
        cpu: Cpu,
        tape: &Tape,
        lanes: usize,
        ports: &mut impl Ports,
        ands: &mut A,
    ) -> Result<(), A::Error> {
        for (first_lane, width) in lane_blocks(lanes) {
            let slots = self.slots(tape.slots as usize * width);
            let range = |slot: u32| slot as usize * width..(slot as usize + 1) * width;
            slots[range(ZERO)].fill(Block::ZERO);
            slots[range(ONE)].fill(ands.one());
            for input in 0..tape.inputs {
                let labels = &mut slots[range(FIRST_INPUT + input)];
                ports.load(input as usize, first_lane, labels);
            }
            for batch in &tape.batches {
                let gates = &tape.xors[batch.xors.start as usize..batch.xors.end as usize];
                cpu.run(Xors {
                    gates,
                    slots,
                    width,
                });
                let gates = &tape.ands[batch.ands.start as usize..batch.ands.end as usize];
                ands.run(gates, slots, width)?;
            }
            for (output, slot) in tape.outputs.iter().enumerate() {
                ports.store(output, first_lane, &slots[range(*slot)]);
            }
        }
        Ok(())
    }

    /// Room for `count` labels, from a cache line on. Grown memory is not copied, so no label is
    /// left behind in a freed allocation.
    fn slots(&mut self, count: usize) -> &mut [Block] {
        let groups = count.div_ceil(GROUP);
        if self.slots.len() < groups {
            self.slots.zeroize();
            self.slots = vec![Group::ZERO; groups];
        }
        &mut Group::as_blocks_mut(&mut self.slots)[..count]
    }
}

/// The (gate, lane) pairs of a narrow batch, sixteen at a time.
pub(crate) struct Pairs<'a> {
    gates: &'a [Gate],
    width: usize,
    /// Gate and lane of the next pair.
    next: (usize, usize),
}

/// Up to sixteen pairs: where their operands and results lie.
#[derive(Default)]
pub(crate) struct Gathered {
    /// Number of pairs.
    pub len: usize,
    a: [usize; GROUP],
    b: [usize; GROUP],
    out: [usize; GROUP],
}

impl<'a> Pairs<'a> {
    /// All pairs of `gates` on `width` lanes.
    pub fn new(gates: &'a [Gate], width: usize) -> Pairs<'a> {
        Pairs {
            gates,
            width,
            next: (0, 0),
        }
    }

    /// Pairs in the next group; 0 after the last.
    pub fn next_len(&self) -> usize {
        let (gate, lane) = self.next;
        ((self.gates.len() - gate) * self.width - lane).min(GROUP)
    }

    /// The next group.
    pub fn take(&mut self) -> Gathered {
        let mut gathered = Gathered {
            len: self.next_len(),
            ..Gathered::default()
        };
        for i in 0..gathered.len {
            let (gate, lane) = self.next;
            let Gate { a, b, out } = self.gates[gate];
            gathered.a[i] = a as usize * self.width + lane;
            gathered.b[i] = b as usize * self.width + lane;
            gathered.out[i] = out as usize * self.width + lane;
            self.next = if lane + 1 == self.width {
                (gate + 1, 0)
            } else {
                (gate, lane + 1)
            };
        }
        gathered
    }
}

/// Sixteen places for the operands and results of gathered pairs; they are secret.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Scratch {
    pub a: Group,
    pub b: Group,
    pub c: Group,
}

impl Gathered {
    /// Brings the operands side by side; places without a pair keep what they held.
    pub fn gather(&self, slots: &[Block], scratch: &mut Scratch) {
        for i in 0..self.len {
            scratch.a[i] = slots[self.a[i]];
            scratch.b[i] = slots[self.b[i]];
        }
    }

    /// Puts the results back to their slots.
    pub fn scatter(&self, slots: &mut [Block], scratch: &Scratch) {
        for i in 0..self.len {
            slots[self.out[i]] = scratch.c[i];
        }
    }
}
