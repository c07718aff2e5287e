//! Sequential circuits: one netlist cycle with flip-flops, which runs for any number of cycles.
//!
//! A long computation that repeats a small circuit is described by that circuit alone, and by the
//! values that go from each cycle to the next, as hardware describes it. Its garbled form needs the
//! memory of one cycle, however many cycles there are (Songhori, Hussain, Sadeghi, Schneider,
//! Koushanfar, "TinyGarble: Highly Compressed and Scalable Sequential Garbled Circuits", IEEE S&P
//! 2015, section 3).
//!
//! In the first cycle the output Q of a flip-flop has its initial value, in each later one the
//! value that its input D had in the cycle before. Inputs are *held*, that is, given once for the
//! run, or
//! *fresh*, that is, given in each cycle.

use std::ops::Range;

use sealane_schedule::Machine;

use crate::circuit::Circuit;
use crate::compile::compile;
use crate::tape::Tape;

/// The value of a flip-flop in the first cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Initial {
    /// A constant.
    Constant(bool),
    /// A bit of the held inputs, numbered through all of them.
    Held(u32),
}

/// A sequential circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequential {
    /// Inputs: Q of all flip-flops, held words, fresh words. Outputs: D of all flip-flops, words.
    cycle: Circuit,
    initial: Vec<Initial>,
    held_words: usize,
}

/// A cycle does not fit the flip-flops that it is said to have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SequentialError {
    /// The cycle has no input or no output; the first of each is for flip-flops, if without bits.
    #[error("the cycle has no input or no output for flip-flops")]
    NoState,
    /// The first input or the first output has not one bit for each flip-flop.
    #[error("there are {flip_flops} flip-flops, and the cycle reads {read} and writes {written}")]
    FlipFlops {
        /// Initial values.
        flip_flops: usize,
        /// Width of the first input.
        read: usize,
        /// Width of the first output.
        written: usize,
    },
    /// The cycle has fewer inputs than are said to be held.
    #[error("{held} inputs are held, and the cycle has {inputs} beside its flip-flops")]
    HeldWords {
        /// Words that are said to be held.
        held: usize,
        /// Inputs of the cycle beside Q.
        inputs: usize,
    },
    /// A flip-flop begins with a bit that no held input has.
    #[error("flip-flop {flip_flop} begins with held bit {bit}, and there are {held}, from 0")]
    Initial {
        /// Number of the flip-flop, from 0.
        flip_flop: usize,
        /// The bit.
        bit: u32,
        /// Number of held bits.
        held: usize,
    },
}

impl Sequential {
    /// Checks a sequential circuit. The inputs of `cycle` are Q of all flip-flops as one word, then
    /// `held_words` words that are held, then words that are fresh; its outputs are D of all
    /// flip-flops as one word, then the outputs of a cycle.
    ///
    /// # Errors
    /// [`SequentialError`] if widths or initial values do not fit the cycle.
    pub fn new(
        cycle: Circuit,
        initial: Vec<Initial>,
        held_words: usize,
    ) -> Result<Sequential, SequentialError> {
        let outputs = cycle.output_widths();
        let (Some(&read), Some(&written)) = (cycle.input_widths().first(), outputs.first()) else {
            return Err(SequentialError::NoState);
        };
        let flip_flops = initial.len();
        let inputs = cycle.input_widths().len() - 1;
        if read != flip_flops || written != flip_flops {
            return Err(SequentialError::FlipFlops {
                flip_flops,
                read,
                written,
            });
        }
        if held_words > inputs {
            let held = held_words;
            return Err(SequentialError::HeldWords { held, inputs });
        }
        let held: usize = cycle.input_widths()[1..][..held_words].iter().sum();
        let beyond = |(flip_flop, initial): (usize, &Initial)| match *initial {
            Initial::Held(bit) if bit as usize >= held => Some(SequentialError::Initial {
                flip_flop,
                bit,
                held,
            }),
            _ => None,
        };
        if let Some(error) = initial.iter().enumerate().find_map(beyond) {
            return Err(error);
        }
        Ok(Sequential {
            cycle,
            initial,
            held_words,
        })
    }

    /// Returns the circuit of one cycle, with Q as its first input and D as its first output.
    pub fn cycle(&self) -> &Circuit {
        &self.cycle
    }

    /// Returns the initial values of the flip-flops.
    pub fn initial(&self) -> &[Initial] {
        &self.initial
    }

    /// Returns the width in bits of each input that is given once.
    pub fn held_widths(&self) -> &[usize] {
        &self.cycle.input_widths()[1..][..self.held_words]
    }

    /// Returns the width in bits of each input that is given in each cycle.
    pub fn fresh_widths(&self) -> &[usize] {
        &self.cycle.input_widths()[1 + self.held_words..]
    }

    /// Returns the width in bits of each output of a cycle.
    pub fn output_widths(&self) -> Vec<usize> {
        self.cycle.output_widths().split_off(1)
    }

    /// Begins a run in the clear with these held inputs, one vector of bits each, least significant
    /// bit first.
    ///
    /// # Panics
    /// If the widths of `held` are not those of the circuit.
    pub fn run(&self, held: Vec<Vec<bool>>) -> Run<'_> {
        let widths: Vec<usize> = held.iter().map(Vec::len).collect();
        assert_eq!(widths, self.held_widths(), "held inputs of these widths");
        let bits: Vec<bool> = held.iter().flatten().copied().collect();
        let state = self.initial.iter().map(|initial| match *initial {
            Initial::Constant(bit) => bit,
            Initial::Held(bit) => bits[bit as usize],
        });
        Run {
            circuit: self,
            state: state.collect(),
            held,
        }
    }

    /// Compiles one cycle for `machine`. All cycles of a run use this tape.
    pub fn compile(&self, machine: &Machine) -> CycleTape {
        let state = self.initial.len();
        let held = self.held_widths().iter().sum::<usize>();
        let tape = compile(&self.cycle, machine);
        CycleTape {
            initial: self.initial.clone(),
            held: state..state + held,
            fresh: state + held..tape.inputs as usize,
            outputs: state..tape.outputs.len(),
            tape,
        }
    }
}

/// A run of a sequential circuit in the clear.
pub struct Run<'a> {
    circuit: &'a Sequential,
    state: Vec<bool>,
    held: Vec<Vec<bool>>,
}

impl Run<'_> {
    /// Runs the next cycle on its fresh inputs, and returns its outputs.
    ///
    /// # Panics
    /// If the widths of `fresh` are not those of the circuit.
    pub fn cycle(&mut self, fresh: &[Vec<bool>]) -> Vec<Vec<bool>> {
        let state = std::mem::take(&mut self.state);
        let inputs = [&[state], &self.held[..], fresh].concat();
        let mut outputs = self.circuit.cycle.eval(&inputs);
        self.state = outputs.remove(0);
        outputs
    }

    /// Runs `cycles` cycles that have no fresh inputs, and returns the outputs of the last.
    ///
    /// # Panics
    /// If the circuit has fresh inputs.
    pub fn cycles(&mut self, cycles: usize) -> Vec<Vec<bool>> {
        let fresh: Vec<Vec<bool>> = self.circuit.fresh_widths().iter().map(|_| vec![]).collect();
        (0..cycles).fold(vec![], |_, _| self.cycle(&fresh))
    }
}

/// The tape of one cycle. Its inputs are Q of the flip-flops, held bits, fresh bits; its outputs
/// are D of the flip-flops and the outputs of the cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleTape {
    /// The tape.
    pub tape: Tape,
    /// The initial value of each flip-flop.
    pub initial: Vec<Initial>,
    /// The inputs of the tape that are held.
    pub held: Range<usize>,
    /// The inputs of the tape that are given in each cycle.
    pub fresh: Range<usize>,
    /// The outputs of the tape that are outputs of the cycle.
    pub outputs: Range<usize>,
}

impl CycleTape {
    /// Returns the constants with which flip-flops begin, in the order of these flip-flops. They
    /// enter a garbled run as inputs of the garbler, whose values all know.
    pub fn constants(&self) -> impl Iterator<Item = bool> {
        self.initial.iter().filter_map(|initial| match *initial {
            Initial::Constant(bit) => Some(bit),
            Initial::Held(_) => None,
        })
    }

    /// Returns, for each flip-flop, where the value comes from with which it begins: an index into
    /// the constants, or into the held bits.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        let mut constants = 0;
        self.initial.iter().map(move |initial| match *initial {
            Initial::Held(bit) => Source::Held(bit as usize),
            Initial::Constant(_) => {
                constants += 1;
                Source::Constant(constants - 1)
            }
        })
    }
}

/// Where the label of a flip-flop in the first cycle comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An index into [`CycleTape::constants`].
    Constant(usize),
    /// An index into the held bits.
    Held(usize),
}
