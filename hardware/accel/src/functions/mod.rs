//! The thirteen functions of the paper's Table II as our own sources.
//!
//! Each has at most the gates of the authors' netlist, and at most its ANDs; most have fewer. They
//! compute the same, with these differences, which the tests of this crate state as plain
//! arithmetic:
//!
//! | function | ours | the authors' |
//! |---|---|---|
//! | `Mult_*` | the evaluator's factor once; all bits, in one cycle more | without the last bit |
//! | `MAC_*` | the mean of total and product, rounded once | the same with an error of some units |
//! | `CORDIC_32_31` | shifts keep the sign; 31 steps | shifts of unsigned numbers; 30 steps |
//! | `AES_128_11` | a block in ten cycles | in eleven |

mod aes;
mod cordic;
mod multiply;
mod programs;
mod small;

pub use programs::{PROGRAMS, program};

use crate::netlist::{Inputs, Netlist};
use crate::sequential::ConvertError;
use sealane_circuit::{Builder, Initial, Sequential, Word};

/// A function of Table II.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name in the paper.
    pub name: &'static str,
    /// Netlist cycles of a run.
    pub cycles: u64,
    /// Its inputs.
    pub inputs: Inputs,
    /// Its netlist cycle, with three held and three fresh inputs as [`Netlist::sequential`] has.
    pub circuit: Sequential,
}

impl Function {
    /// Returns the netlist of a cycle.
    ///
    /// # Errors
    /// None for a function of [`function`]: each is a netlist.
    pub fn netlist(&self) -> Result<Netlist, ConvertError> {
        Netlist::of_sequential(&self.circuit, self.inputs)
    }
}

/// Builds the function of this name in Table II or Table V of the paper, if there is one.
pub fn function(name: &str) -> Option<Function> {
    Some(match name {
        "Mill_8_8" => small::millionaires("Mill_8_8", 8),
        "Add_8_1" => small::sum_at_once("Add_8_1", 8),
        "Add_8_8" => small::sum_by_bits(),
        "Hamm_32_1" => small::hamming_at_once("Hamm_32_1", 32),
        "Hamm_32_32" => small::hamming_by_bits("Hamm_32_32", 32),
        "Hamm_512_512" => small::hamming_by_bits("Hamm_512_512", 512),
        "Mult_256_512" => multiply::by_bits("Mult_256_512", 256),
        "Mult_1024_2048" => multiply::by_bits("Mult_1024_2048", 1024),
        "MAC_8_1" => multiply::accumulate("MAC_8_1", 8),
        "MAC_16_1" => multiply::accumulate("MAC_16_1", 16),
        "MAC_32_1" => multiply::accumulate("MAC_32_1", 32),
        "CORDIC_32_31" => cordic::rotation(),
        "AES_128_11" => aes::by_rounds(),
        "Millionaire (2)" => small::millionaires("Millionaire (2)", 2),
        "Addition (6)" => small::sum_at_once("Addition (6)", 6),
        "Hamming (10)" => small::hamming_at_once("Hamming (10)", 10),
        "Hamming (30)" => small::hamming_at_once("Hamming (30)", 30),
        "Hamming (50)" => small::hamming_at_once("Hamming (50)", 50),
        "A * B (8)" => multiply::product("A * B (8)", 8),
        "A * B (32)" => multiply::product("A * B (32)", 32),
        "A * B (64)" => multiply::product("A * B (64)", 64),
        _ => return None,
    })
}

/// A netlist cycle under construction.
struct Cycle {
    b: Builder,
    /// Q of the flip-flops.
    state: Word,
    /// Inputs in the order of [`Inputs`].
    inputs: [Word; 6],
    kinds: Inputs,
}

impl Cycle {
    /// Begins a cycle with so many flip-flops.
    fn new(kinds: Inputs, flip_flops: usize) -> Cycle {
        let mut b = Builder::new();
        let state = b.input(flip_flops);
        let inputs = kinds.counts().map(|count| b.input(count as usize));
        Cycle {
            b,
            state,
            inputs,
            kinds,
        }
    }

    /// Returns an input of the garbler that is given in each cycle.
    fn garbler(&self) -> Word {
        self.inputs[4].clone()
    }

    /// Returns an input of the evaluator that is given in each cycle.
    fn evaluator(&self) -> Word {
        self.inputs[5].clone()
    }

    /// Ends the cycle: `next` is D of the flip-flops.
    fn finish(
        self,
        name: &'static str,
        cycles: u64,
        (next, initial): (Word, Vec<Initial>),
        output: Word,
    ) -> Function {
        let cycle = self.b.finish(vec![next, output]);
        let circuit = Sequential::new(cycle, initial, 3);
        Function {
            name,
            cycles,
            inputs: self.kinds,
            circuit: circuit.expect("as many initial values as flip-flops are made here"),
        }
    }
}

/// Initial values 0.
fn zeros(count: usize) -> Vec<Initial> {
    vec![Initial::Constant(false); count]
}

/// Inputs of both parties in each cycle.
fn fresh(garbler: u32, evaluator: u32) -> Inputs {
    Inputs {
        garbler,
        evaluator,
        ..Inputs::default()
    }
}
