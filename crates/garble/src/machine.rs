//! How a tape is run over lanes: the order of lanes, gates, tweaks and table bytes.
//!
//! This order is the *format*: garbler and evaluator follow it, on any CPU tier.
//!
//! 1. Lanes are cut into blocks of [`LANE_BLOCK`]; what is left, into one block of whole groups of
//!    16 and one of fewer than 16. Each block runs the whole tape before the next begins, so
//!    memory is bounded by the tape's slots times [`LANE_BLOCK`], however many lanes there are.
//! 2. A block holds its labels as `[slot][lane]`. The gates of a batch are taken one by one, and
//!    lane by lane within a gate, in groups of 16 (gate, lane) pairs; only the last group of a
//!    narrow block's batch may hold fewer. In a wide block a group is 16 neighbouring lanes of
//!    one gate, contiguous in memory; in a narrow one the pairs are gathered.
//!
//!    ```text
//!    37 lanes, gates g and h:  block of 32: g0..15 | g16..31 | h0..15 | h16..31
//!                              block of  5: g32..36 h32..36
//!    ```
//! 3. A group of n pairs has n pieces of each plane of the scheme's table, plane after plane:
//!    with half-gates, 16 n bytes of garbler rows, then 16 n of evaluator rows.
//!    ANDs of which one party knows an operand have one plane, and form groups of their own: the
//!    tape has them one after the other.
//! 4. The tweak of a pair is its place in the world: number of the gate in the circuit as written,
//!    number of the call, lane. It does not depend on the order, so every order makes the same
//!    rows, one after the other in its own order.

use sealane_block::{Block, Cpu, GROUP, Group, Kernel, Lanes};
use sealane_circuit::tape::{FIRST_INPUT, Gate, Knower, ONE, Tape, ZERO};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::kernels::{self, GateKernel, Rowed, Scratch};
use crate::scheme::Half;
use crate::{Ports, Roles, Tables};

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

/// One side of a scheme: what it does with the gates of a batch.
pub(crate) trait Gates {
    /// Labels that this side holds of a wire.
    const LABELS: usize;
    /// The labels of the constants 0 and 1; the second of each is that of the value 1, where this
    /// side holds two.
    fn constants(&self) -> [[Block; 2]; 2];
    /// Runs XORs in order; `lone` belongs to them as in [`Tape::lone`].
    fn xors<T: Tables>(
        &self,
        cpu: Cpu,
        gates: &[Gate],
        lone: &[bool],
        rows: &mut Rowed<'_>,
        tables: &mut T,
    ) -> Result<(), T::Error>;
    /// Runs independent ANDs; `knowers` belong to them as in [`Tape::knowers`].
    fn ands<T: Tables>(
        &self,
        cpu: Cpu,
        gates: &[Gate],
        knowers: &[Knower],
        rows: &mut Rowed<'_>,
        tables: &mut T,
    ) -> Result<(), T::Error>;
}

/// A side of a scheme with free XOR: its ANDs, those of which the garbler knows an operand, and
/// those of which the evaluator does.
pub(crate) struct FreeXor<K, G, E> {
    pub and: K,
    pub garbler_knows: G,
    pub evaluator_knows: E,
    pub roles: Roles,
    /// The label of the constant 1.
    pub one: Block,
}

impl<K: GateKernel, G: GateKernel, E: GateKernel> Gates for FreeXor<K, G, E> {
    const LABELS: usize = 1;

    fn constants(&self) -> [[Block; 2]; 2] {
        [[Block::ZERO; 2], [self.one; 2]]
    }

    fn xors<T: Tables>(
        &self,
        cpu: Cpu,
        gates: &[Gate],
        _: &[bool],
        rows: &mut Rowed<'_>,
        _: &mut T,
    ) -> Result<(), T::Error> {
        cpu.run(Xors { gates, rows });
        Ok(())
    }

    fn ands<T: Tables>(
        &self,
        cpu: Cpu,
        gates: &[Gate],
        knowers: &[Knower],
        rows: &mut Rowed<'_>,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        let mut gates = gates;
        for run in knowers.chunk_by(|one, next| self.roles.half(*one) == self.roles.half(*next)) {
            let now;
            (now, gates) = gates.split_at(run.len());
            match self.roles.half(run[0]) {
                None => kernels::run(cpu, &self.and, now, rows, tables)?,
                Some(Half::Garbler) => kernels::run(cpu, &self.garbler_knows, now, rows, tables)?,
                Some(Half::Evaluator) => {
                    kernels::run(cpu, &self.evaluator_knows, now, rows, tables)?;
                }
            }
        }
        Ok(())
    }
}

/// Free gates: every label of the output is the sum of the two inputs' labels.
struct Xors<'a, 'b> {
    gates: &'a [Gate],
    rows: &'a mut Rowed<'b>,
}

impl Kernel for Xors<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Rowed { slots, width, .. } = self.rows;
        for gate in self.gates {
            let [a, b, out] = [gate.a, gate.b, gate.out].map(|slot| slot as usize * *width);
            if width.is_multiple_of(GROUP) {
                for at in (0..*width).step_by(GROUP) {
                    xor_group(l, slots, a + at, b + at, out + at);
                }
            } else {
                for at in 0..*width {
                    slots[out + at] = slots[a + at] ^ slots[b + at];
                }
            }
        }
    }
}

#[inline(always)]
fn xor_group<L: Lanes>(l: L, slots: &mut [Block], a: usize, b: usize, out: usize) {
    for q in 0..L::QUADS {
        let at = q * L::QUAD;
        let sum = l.xor_quad(l.load_quad(&slots[a + at..]), l.load_quad(&slots[b + at..]));
        l.store_quad(&mut slots[out + at..], sum);
    }
}

/// The labels of all slots of one block of lanes.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Machine {
    slots: Vec<Group>,
    /// Elsewhere, because it starts on a cache line: its owner would have to, with padding to match.
    scratch: Box<Scratch>,
}

impl Machine {
    /// Runs a tape on so many lanes, as the given call.
    pub fn run<G: Gates, T: Tables>(
        &mut self,
        cpu: Cpu,
        gates: &G,
        call: u64,
        (tape, lanes): (&Tape, usize),
        ports: &mut impl Ports,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        for (first_lane, width) in lane_blocks(lanes) {
            let stride = width * G::LABELS;
            let (slots, scratch) = self.slots(tape.slots as usize * stride);
            let range = |slot: u32| slot as usize * stride..(slot as usize + 1) * stride;
            for (slot, labels) in [ZERO, ONE].into_iter().zip(gates.constants()) {
                let of_value = slots[range(slot)].chunks_exact_mut(width);
                of_value
                    .zip(labels)
                    .for_each(|(slots, label)| slots.fill(label));
            }
            for input in 0..tape.inputs {
                let labels = &mut slots[range(FIRST_INPUT + input)];
                ports.load(input as usize, first_lane, labels);
            }
            let mut rows = Rowed {
                slots,
                width,
                call,
                first_row: u32::try_from(first_lane).expect("a call has fewer than 2^32 lanes"),
                scratch,
            };
            for batch in &tape.batches {
                let xors = batch.xors.start as usize..batch.xors.end as usize;
                let lone = &tape.lone[xors.clone()];
                gates.xors(cpu, &tape.xors[xors], lone, &mut rows, tables)?;
                let ands = batch.ands.start as usize..batch.ands.end as usize;
                let knowers = &tape.knowers[ands.clone()];
                gates.ands(cpu, &tape.ands[ands], knowers, &mut rows, tables)?;
            }
            for (output, slot) in tape.outputs.iter().enumerate() {
                ports.store(output, first_lane, &slots[range(*slot)]);
            }
        }
        Ok(())
    }

    /// Room for `count` labels, from a cache line on. Grown memory is not copied, so no label is
    /// left behind in a freed allocation.
    fn slots(&mut self, count: usize) -> (&mut [Block], &mut Scratch) {
        let groups = count.div_ceil(GROUP);
        if self.slots.len() < groups {
            self.slots.zeroize();
            self.slots = vec![Group::ZERO; groups];
        }
        let slots = &mut Group::as_blocks_mut(&mut self.slots)[..count];
        (slots, &mut self.scratch)
    }
}
