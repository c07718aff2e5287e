//! Circuits of functions, run on many arguments at a time.

use sealane_circuit::{Builder, CircuitInfo, Goal, Machine, Tape, compile};
use sealane_numeric::{Arithmetic, Build, Function, function};

/// The tape of a function and its size.
pub struct Made {
    pub tape: Tape,
    pub info: CircuitInfo,
    widths: Vec<usize>,
}

/// Makes the circuit of a function on the list.
pub fn made(name: &str, arithmetic: Arithmetic, goal: Goal) -> Made {
    let Function {
        operands, build, ..
    } = *function(name).expect("a function on the list");
    let widths = operands
        .iter()
        .map(|kind| kind.bits(arithmetic.format))
        .collect();
    make(widths, arithmetic, goal, build)
}

/// Makes the circuit of any method.
pub fn make(widths: Vec<usize>, arithmetic: Arithmetic, goal: Goal, build: Build) -> Made {
    let mut b = Builder::for_goal(goal);
    let words: Vec<_> = widths.iter().map(|&width| b.input(width)).collect();
    let results = build(arithmetic, &mut b, &words);
    let circuit = b.finish(results);
    Made {
        info: circuit.info(),
        tape: compile(&circuit, &Machine::CPU),
        widths,
    }
}

impl Made {
    /// The results for up to 512 lists of arguments; one word for each, of all results.
    pub fn batch(&self, arguments: &[Vec<u64>]) -> Vec<u64> {
        assert!(arguments.len() <= 512);
        let mut inputs = Vec::new();
        for (word, &width) in self.widths.iter().enumerate() {
            let mut values = [0; 512];
            values
                .iter_mut()
                .zip(arguments)
                .for_each(|(value, all)| *value = all[word]);
            inputs.extend(transposed(&values, width));
        }
        let mut results = back(&self.tape.eval(&inputs));
        results.truncate(arguments.len());
        results
    }

    /// The results for any number of single arguments.
    pub fn run(&self, arguments: &[u64]) -> Vec<u64> {
        let chunks = arguments.chunks(512);
        chunks
            .flat_map(|chunk| self.batch(&chunk.iter().map(|&x| vec![x]).collect::<Vec<_>>()))
            .collect()
    }

    /// The results for any number of pairs.
    pub fn run_pairs(&self, arguments: &[(u64, u64)]) -> Vec<u64> {
        let chunks = arguments.chunks(512);
        chunks
            .flat_map(|chunk| {
                self.batch(&chunk.iter().map(|&(x, y)| vec![x, y]).collect::<Vec<_>>())
            })
            .collect()
    }
}

/// The lanes of each of the lowest `width` bits.
fn transposed(values: &[u64; 512], width: usize) -> Vec<[u64; 8]> {
    let mut lanes = vec![[0; 8]; width];
    for (group, values) in values.chunks(64).enumerate() {
        let mut block: [u64; 64] = values.try_into().expect("64 values");
        transpose(&mut block);
        lanes
            .iter_mut()
            .zip(block)
            .for_each(|(lane, word)| lane[group] = word);
    }
    lanes
}

/// The values of lanes.
fn back(lanes: &[[u64; 8]]) -> Vec<u64> {
    (0..8)
        .flat_map(|group| {
            let mut block = [0; 64];
            block
                .iter_mut()
                .zip(lanes)
                .for_each(|(word, lane)| *word = lane[group]);
            transpose(&mut block);
            block
        })
        .collect()
}

/// Transposes 64 by 64 bits.
fn transpose(block: &mut [u64; 64]) {
    let (mut width, mut mask) = (32, 0xffff_ffffu64);
    while width > 0 {
        for i in (0..64).filter(|i| i & width == 0) {
            let swap = (block[i] >> width ^ block[i + width]) & mask;
            block[i] ^= swap << width;
            block[i + width] ^= swap;
        }
        width /= 2;
        mask ^= mask << width;
    }
}
