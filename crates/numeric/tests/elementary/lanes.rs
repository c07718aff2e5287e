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
        self.results(&lanes, operands.len())
    }

    /// The results of 512 arguments in a row, from a multiple of 512 on.
    pub fn row(&self, first: u64) -> Vec<u64> {
        // Bit i of the numbers 0 to 63.
        const LOW: [u64; 6] = [
            0xaaaa_aaaa_aaaa_aaaa,
            0xcccc_cccc_cccc_cccc,
            0xf0f0_f0f0_f0f0_f0f0,
            0xff00_ff00_ff00_ff00,
            0xffff_0000_ffff_0000,
            0xffff_ffff_0000_0000,
        ];
        let lanes: Vec<Lanes> = (0..self.arithmetic.format.bits())
            .map(|bit| {
                std::array::from_fn(|word| match LOW.get(bit) {
                    Some(&pattern) => pattern,
                    None => ((first + 64 * word as u64) >> bit & 1).wrapping_neg(),
                })
            })
            .collect();
        self.results(&lanes, 512)
    }

    fn results(&self, lanes: &[Lanes], count: usize) -> Vec<u64> {
        let out = self.tape.eval(lanes);
        let mut results = Vec::with_capacity(512);
        for word in 0..8 {
            let mut square = [0; 64];
            for (row, wire) in square.iter_mut().zip(&out) {
                *row = wire[word];
            }
            transpose(&mut square);
            results.extend(square);
        }
        results.truncate(count);
        results
    }
}

/// The transpose of a square of bits: bit i of word j and bit j of word i change places (Warren,
/// "Hacker's Delight", section 7-3).
fn transpose(square: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = u64::MAX >> 32;
    while width > 0 {
        for low in (0..64).filter(|i| i & width == 0) {
            let high = low + width;
            let change = (square[low] >> width ^ square[high]) & mask;
            square[low] ^= change << width;
            square[high] ^= change;
        }
        width /= 2;
        mask ^= mask << width;
    }
}
