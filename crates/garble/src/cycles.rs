//! Sequential garbling: one tape, run once in each cycle of a sequential circuit.
//!
//! After TinyGarble (Songhori, Hussain, Sadeghi, Schneider, Koushanfar, IEEE S&P 2015, section 3):
//! the labels of a flip-flop in a cycle are those of its D in the cycle before, so nothing but the
//! labels of one cycle is ever held, however many cycles a run has.
//!
//! **Tweaks.** Each cycle is a call of its own of [`Garbler`] and [`Evaluator`], and a tweak has
//! the number of the call beside that of the gate. So a gate has another tweak in each cycle,
//! although the tape is the same.
//!
//! **Constants** with which flip-flops begin have labels like any input of the garbler. A flip-flop
//! whose D is a constant takes on the tape's own labels of it, as an output of a tape may.

use std::ops::Deref;

use sealane_block::Block;
use sealane_circuit::tape::NOBODY;
use sealane_circuit::{CycleTape, Source};

use crate::{Evaluator, Garbler, Labels, Tables};

/// The labels of a run of a sequential circuit, at one side. Vectors of labels are ordered as
/// `[label of the wire][bit][lane]`, as in [`Labels`]. `T` is a reference to the tape, of any kind.
pub struct Cycles<T> {
    tape: T,
    labels: Labels,
    per_wire: usize,
}

impl<C: Deref<Target = CycleTape>> Cycles<C> {
    /// Begins a run on `lanes` lanes, with `per_wire` labels for each wire
    /// ([`Scheme::labels`](crate::Scheme::labels) at the garbler, 1 at the evaluator). `constants`
    /// are the labels of [`CycleTape::constants`], `held` those of the held bits.
    ///
    /// # Panics
    /// If there are not as many labels, or the tape has an operand known to a party.
    pub fn new(
        tape: C,
        lanes: usize,
        per_wire: usize,
        constants: &[Block],
        held: &[Block],
    ) -> Cycles<C> {
        // Permute bits of labels that are handed on carry no party's value.
        assert!(
            tape.tape.known_to.iter().all(|party| *party == NOBODY),
            "a tape of cycles has no operand known to a party"
        );
        let labels = Labels::new(&tape.tape, lanes, per_wire);
        let bits = [tape.constants().count(), tape.held.len()];
        let (first, sources) = (tape.held.start, tape.sources().collect::<Vec<_>>());
        let mut cycles = Cycles {
            tape,
            labels,
            per_wire,
        };
        cycles.set(first, bits[1], held);
        assert_eq!(
            constants.len(),
            bits[0] * lanes * per_wire,
            "labels of all constants"
        );
        for (flip_flop, source) in sources.into_iter().enumerate() {
            let (from, bits, bit) = match source {
                Source::Constant(bit) => (constants, bits[0], bit),
                Source::Held(bit) => (held, bits[1], bit),
            };
            for value in 0..per_wire {
                let from = &from[(value * bits + bit) * lanes..][..lanes];
                let to = cycles.place(value, flip_flop);
                cycles.labels.inputs[to..to + lanes].copy_from_slice(from);
            }
        }
        cycles
    }

    /// Garbles the next cycle; `fresh` are the labels of its fresh bits. [`Cycles::outputs`] are
    /// then those of its outputs.
    ///
    /// # Errors
    /// The error of `tables`; the run cannot go on.
    ///
    /// # Panics
    /// If there are not as many labels; otherwise as [`Garbler::garble`].
    pub fn garble<T: Tables>(
        &mut self,
        garbler: &mut Garbler,
        fresh: &[Block],
        tables: &mut T,
    ) -> Result<(), T::Error> {
        self.set(self.tape.fresh.start, self.tape.fresh.len(), fresh);
        let lanes = self.labels.lanes();
        garbler.garble(&self.tape.tape, lanes, &mut self.labels, tables)?;
        self.carry();
        Ok(())
    }

    /// Evaluates the next cycle; `fresh` are the active labels of its fresh bits.
    ///
    /// # Errors
    /// The error of `tables`; the run cannot go on.
    ///
    /// # Panics
    /// If there are not as many labels; otherwise as [`Evaluator::evaluate`].
    pub fn evaluate<T: Tables>(
        &mut self,
        evaluator: &mut Evaluator,
        fresh: &[Block],
        tables: &mut T,
    ) -> Result<(), T::Error> {
        self.set(self.tape.fresh.start, self.tape.fresh.len(), fresh);
        let lanes = self.labels.lanes();
        evaluator.evaluate(&self.tape.tape, lanes, &mut self.labels, tables)?;
        self.carry();
        Ok(())
    }

    /// Returns the labels of one value of the wires, 0 or 1, of all outputs of the last cycle, as
    /// `[bit][lane]`. Where a wire has one label, it is that of `value` 0.
    ///
    /// # Panics
    /// If wires have fewer labels.
    pub fn outputs(&self, value: usize) -> &[Block] {
        assert!(value < self.per_wire, "a label of this value");
        let all = self.labels.outputs.len() / self.per_wire;
        let lanes = self.labels.lanes();
        let outputs = self.tape.outputs.start * lanes..self.tape.outputs.end * lanes;
        &self.labels.outputs[value * all..][outputs]
    }

    /// Index of the labels of an input of the tape.
    fn place(&self, value: usize, input: usize) -> usize {
        let all = self.labels.inputs.len() / self.per_wire;
        value * all + input * self.labels.lanes()
    }

    /// Sets the labels of `count` inputs of the tape from `first` on.
    fn set(&mut self, first: usize, count: usize, labels: &[Block]) {
        let width = count * self.labels.lanes();
        assert_eq!(labels.len(), width * self.per_wire, "a label for each bit");
        for value in 0..self.per_wire {
            let to = self.place(value, first);
            self.labels.inputs[to..to + width].copy_from_slice(&labels[value * width..][..width]);
        }
    }

    /// Hands the labels of D on to Q.
    fn carry(&mut self) {
        let width = self.tape.initial.len() * self.labels.lanes();
        let all = self.labels.outputs.len() / self.per_wire;
        for value in 0..self.per_wire {
            let to = self.place(value, 0);
            self.labels.inputs[to..to + width]
                .copy_from_slice(&self.labels.outputs[value * all..][..width]);
        }
    }
}
