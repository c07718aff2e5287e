//! A function's circuit on many arguments at a time.

use sealane_circuit::{Builder, Goal, Lanes, Machine, Tape, compile};
use sealane_numeric::{Arithmetic, function};

/// The circuit of a function, ready to run.
pub struct Runner {
    arithmetic: Arithmetic,
    tape: Tape,
    /// ANDs.
    pub ands: usize,
    operands: usize,
}

impl Runner {
    pub fn new(name: &str, arithmetic: Arithmetic, goal: Goal) -> Runner {
        let function = function(name).unwrap_or_else(|| panic!("no function {name}"));
        let mut b = Builder::for_goal(goal);
        let bits = arithmetic.format.bits();
        let operands: Vec<_> = function.operands.iter().map(|_| b.input(bits)).collect();
        let results = (function.build)(arithmetic, &mut b, &operands);
        let circuit = b.finish(results);
        let ands = circuit.info().ands as usize;
        let tape = compile(&circuit, &Machine::CPU);
        Runner {
            arithmetic,
            tape,
            ands,
            operands: operands.len(),
        }
    }

    /// AND depth.
    pub fn depth(&self) -> usize {
        self.tape.depth as usize
    }

    /// The results of operands, in their order: bits of numbers.
    pub fn run(&self, operands: &[Vec<u64>]) -> Vec<u64> {
        operands
            .chunks(512)
            .flat_map(|chunk| self.block(chunk))
            .collect()
    }

    fn block(&self, operands: &[Vec<u64>]) -> Vec<u64> {
        let bits = self.arithmetic.format.bits();
        let mut lanes: Vec<Lanes> = vec![[0; 8]; bits * self.operands];
        for (lane, operands) in operands.iter().enumerate() {
            for (operand, value) in operands.iter().enumerate() {
                for (bit, wire) in lanes[operand * bits..][..bits].iter_mut().enumerate() {
                    wire[lane / 64] |= (value >> bit & 1) << (lane % 64);
                }
            }
        }
        let out = self.tape.eval(&lanes);
        let value = |lane: usize| {
            let bit = |(i, wire): (usize, &Lanes)| (wire[lane / 64] >> (lane % 64) & 1) << i;
            out.iter().enumerate().map(bit).sum()
        };
        (0..operands.len()).map(value).collect()
    }

    /// The results of 512 arguments in a row, from a multiple of 512 on.
    pub fn row(&self, first: u64) -> Vec<u64> {
        let arguments: Vec<Vec<u64>> = (first..first + 512).map(|x| vec![x]).collect();
        self.block(&arguments)
    }
}
