//! A circuit on all numbers in turn, for tests of all arguments.
//!
//! Numbers run in blocks of [`BLOCK`] that have their upper bits in common, and those are known:
//! what follows from them, such as shifts by an exponent and entries of tables, is folded away
//! before a block runs: see [`fold`]. The rest runs on [`ROW`] numbers at a time.

mod fold;

use super::{bit_of_64, transpose};
use fold::{Sign, Step, Steps};
use sealane_circuit::Tape;
use sealane_circuit::tape::FIRST_INPUT;

/// Words of lanes.
const WORDS: usize = 16;

/// Consecutive numbers that run at a time.
pub const ROW: usize = 64 * WORDS;

/// The bits of a number that are not known in advance.
const OPEN: u32 = 16;

/// The bits of a number that are not known of a longer row of blocks: of f32 the fraction.
const UPPER: u32 = 23;

/// Consecutive numbers that have their upper bits in common.
pub const BLOCK: u64 = 1 << OPEN;

type Lanes = [u64; WORDS];

/// Slots of values: as many as 16 bits tell apart, so that no index is out of bounds.
type Slots = [Lanes; 1 << 16];

/// Steps on slots.
#[derive(Default)]
struct Placed {
    /// With the slot that is written.
    steps: Vec<(Step, u32)>,
    terms: Vec<u32>,
    outputs: Vec<Sign>,
}

/// A circuit of at most 64 bits of operands, whose one result has at most 32, with the memory of
/// one thread.
pub struct Scan {
    inputs: u32,
    all: Steps,
    /// The steps that are left where the bits from [`UPPER`] on are those of this number.
    upper: (Option<u64>, Steps),
    slots: Box<Slots>,
}

impl Scan {
    pub(super) fn of(tape: &Tape) -> Scan {
        let slots = vec![[0; WORDS]; 1 << 16].into_boxed_slice();
        Scan {
            inputs: tape.inputs,
            all: Steps::of(tape),
            upper: (None, Steps::default()),
            slots: slots.try_into().unwrap_or_else(|_| unreachable!()),
        }
    }

    /// Calls `each` with the first number and the results of each [`ROW`] of the numbers of a
    /// block from `first` on. Where a circuit has several operands, the lowest bits of such a
    /// number are those of the first.
    pub fn block(&mut self, first: u64, mut each: impl FnMut(u64, &[u32; ROW])) {
        if self.upper.0 != Some(first >> UPPER) {
            let steps = self.all.fold(self.inputs, UPPER, first);
            self.upper = (Some(first >> UPPER), steps);
        }
        let block = self.upper.1.fold(self.inputs, OPEN, first);
        let block = Placed::of(&block, self.inputs);
        for first in (first..first + BLOCK).step_by(ROW) {
            for bit in 0..self.inputs.min(OPEN) as usize {
                let word = |word| bit_of_64(first + 64 * word as u64, bit);
                self.slots[FIRST_INPUT as usize + bit] = std::array::from_fn(word);
            }
            block.run(&mut self.slots);
            each(first, &block.results(&self.slots));
        }
    }
}

impl Placed {
    /// Puts values into slots that are free again where no step reads them any more.
    fn of(all: &Steps, inputs: u32) -> Placed {
        let given = FIRST_INPUT + inputs;
        // The last step that reads a value.
        let mut last = vec![0; given as usize + all.steps.len()];
        let mut terms = &all.terms[..];
        for (at, step) in all.steps.iter().enumerate() {
            match step {
                Step::And(operands) => operands.iter().for_each(|of| last[of.value as usize] = at),
                Step::Xor(count) => {
                    let (these, rest) = terms.split_at(*count as usize);
                    terms = rest;
                    these.iter().for_each(|&of| last[of as usize] = at);
                }
            }
        }
        for out in &all.outputs {
            last[out.value as usize] = usize::MAX;
        }
        let mut slot_of: Vec<u32> = (0..given).collect();
        let mut free: Vec<u32> = vec![];
        let mut unused = given;
        let mut placed = Placed::default();
        let mut terms = &all.terms[..];
        for (at, &step) in all.steps.iter().enumerate() {
            let mut take = |value: u32| {
                let slot = slot_of[value as usize];
                if last[value as usize] == at && value >= given {
                    // Read twice by this step, it is free once.
                    last[value as usize] = usize::MAX;
                    free.push(slot);
                }
                slot
            };
            let step = match step {
                Step::And(operands) => Step::And(operands.map(|of| Sign {
                    value: take(of.value),
                    ..of
                })),
                Step::Xor(count) => {
                    let (these, rest) = terms.split_at(count as usize);
                    terms = rest;
                    placed.terms.extend(these.iter().map(|&of| take(of)));
                    step
                }
            };
            let slot = free.pop().unwrap_or_else(|| {
                unused += 1;
                unused - 1
            });
            slot_of.push(slot);
            placed.steps.push((step, slot));
        }
        assert!(unused <= 1 << 16, "a circuit of at most 65,536 live values");
        placed.outputs = all.outputs.clone();
        for out in &mut placed.outputs {
            out.value = slot_of[out.value as usize];
        }
        placed
    }

    fn run(&self, slots: &mut Slots) {
        let at = |slot: u32| usize::from(slot as u16);
        let mut terms = &self.terms[..];
        for &(step, out) in &self.steps {
            let value = match step {
                Step::And(operands) => {
                    let flips = operands.map(|of| u64::from(of.opposite).wrapping_neg());
                    let [a, b] = operands.map(|of| &slots[at(of.value)]);
                    std::array::from_fn(|i| (a[i] ^ flips[0]) & (b[i] ^ flips[1]))
                }
                Step::Xor(count) => {
                    let (these, rest) = terms.split_at(count as usize);
                    terms = rest;
                    let mut sum = slots[at(these[0])];
                    for &slot in &these[1..] {
                        let term = &slots[at(slot)];
                        sum.iter_mut()
                            .zip(term)
                            .for_each(|(sum, term)| *sum ^= term);
                    }
                    sum
                }
            };
            slots[at(out)] = value;
        }
    }

    /// The results, from lanes for each of their bits.
    fn results(&self, slots: &Slots) -> [u32; ROW] {
        let mut results = [0; ROW];
        match self.outputs.len() {
            0..=16 => self.unpack::<4>(slots, &mut results),
            _ => self.unpack::<2>(slots, &mut results),
        }
        results
    }

    /// Results of so many words of lanes at a time, side by side in one square.
    fn unpack<const SIDE: usize>(&self, slots: &Slots, results: &mut [u32; ROW]) {
        let width = 64 / SIDE;
        for (first, results) in results.chunks_exact_mut(64 * SIDE).enumerate() {
            let mut square = [0; 64];
            for (bit, out) in self.outputs.iter().enumerate() {
                let lanes = &slots[usize::from(out.value as u16)];
                let flip = u64::from(out.opposite).wrapping_neg();
                for side in 0..SIDE {
                    square[side * width + bit] = lanes[first * SIDE + side] ^ flip;
                }
            }
            transpose(&mut square);
            for (side, results) in results.chunks_exact_mut(64).enumerate() {
                let mask = u64::MAX >> (64 - width);
                for (result, row) in results.iter_mut().zip(&square) {
                    *result = (row >> (side * width) & mask) as u32;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Runner;
    use crate::{Arithmetic, Format, exact, function};
    use sealane_circuit::Goal;

    #[test]
    fn a_scan_gives_the_results_of_the_tape() {
        let [half, single] = [Format::F16, Format::F32].map(Arithmetic::new);
        let cases = [
            (function("add"), half, Goal::Size),
            (function("fmod"), half.flushed(), Goal::Depth),
            (function("lt"), half, Goal::Size),
            (function("floor"), single, Goal::Depth),
            (exact("exp"), single, Goal::Size),
        ];
        for (function, of, goal) in cases {
            let runner = Runner::new(function.expect("a function"), of, goal);
            let mut scan = runner.scan();
            // Numbers, subnormal ones, both signs, and NaN.
            for block in [0x3f9e, 0x3c01, 0x0011, 0x8000, 0xc2ad, 0x7fc0, 0xffff] {
                scan.block(block << OPEN, |first, results| {
                    for (part, results) in results.chunks(512).enumerate() {
                        let found: Vec<u64> = results.iter().map(|&x| x.into()).collect();
                        assert_eq!(found, runner.row(first + 512 * part as u64), "{first:#x}");
                    }
                });
            }
        }
    }
}
