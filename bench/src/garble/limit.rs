//! The limit set by the AES units: the number of AES instructions that a scheme needs, over the
//! number that the units issue, measured in the same run.
//!
//! An AES call of a block is ten instructions on one block (nine rounds and the last). A key
//! schedule is ten more for **four** keys: column slicing turns SubWord(RotWord(w)) of four keys
//! into one last round a round (see [`sealane_block::aes`]), so 2.5 a key. A vector instruction
//! does as many blocks as the vector holds.
//!
//! ```text
//! needed   = ands * (10 calls + 2.5 keys) + the same of XORs, where they are not free
//! limit    = needed / blocks that pass one round in a cycle
//! fraction = limit / cycles measured; 1 means that the units never waited
//! ```
//!
//! | scheme | garble: calls, keys an AND | evaluate |
//! |---|---|---|
//! | PRP | 4, 0 | 2, 0 |
//! | TCCR | 8, 0 | 4, 0 |
//! | CIRC | 4, 4 | 2, 2 |
//! | MI | 4, 2 | 2, 2 |
//! | three-halves | 6, 3 | 3, 3 |
//! | PRF | 8, 4 | 2, 2 |
//! | PRF, an XOR | 4, 4, or 3, 3 where no other gate reads its second input | 2, 2 |

use std::hint::black_box;

use sealane_block::{Block, Cpu, Kernel, Lanes};
use sealane_circuit::Tape;
use sealane_circuit::tape::{ONE, ZERO};
use sealane_garble::Scheme;

use crate::Options;
use crate::cycles::{Measured, measure};

/// Rounds of one turn of the chains: two times eight vectors, nine rounds each.
const BATCH: u64 = 2 * 8 * 9;
const BATCHES: u64 = 500;

/// Cycles of a round on one vector: independent chains of rounds, two sets of as many as there are
/// in [`Lanes::nine_rounds`]. Its minimum is the limit.
pub fn cycles_per_round(cpu: Cpu, options: &Options) -> Measured {
    measure(BATCHES * BATCH, options.budget, || {
        black_box(cpu.run(Chains));
    })
}

struct Chains;

impl Kernel for Chains {
    type Output = Block;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Block {
        let keys = [black_box(Block::new(1)); 11];
        let mut sets = [[l.splat(keys[0]); 8]; 2];
        for i in 0..16 {
            sets[i / 8][i % 8] = l.splat(Block::new(i as u128));
        }
        for _ in 0..BATCHES {
            let [first, second] = &mut sets;
            l.nine_rounds(first, &keys);
            l.nine_rounds(second, &keys);
        }
        let mut sum = l.splat(keys[0]);
        for i in 0..16 {
            sum = l.xor(sum, sets[i / 8][i % 8]);
        }
        let mut blocks = [Block::ZERO; 4];
        l.store(&mut blocks, sum);
        blocks[0]
    }
}

struct Width;

impl Kernel for Width {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> usize {
        L::WIDTH
    }
}

/// Blocks in a vector of a tier.
pub fn blocks_in_vector(cpu: Cpu) -> usize {
    cpu.run(Width)
}

/// Rounds on one block that `calls` AES calls and `keys` key schedules take.
fn rounds(calls: f64, keys: f64) -> f64 {
    10.0 * calls + 10.0 / 4.0 * keys
}

/// Rounds on one block that a scheme needs for one row of a tape: garbler, then evaluator.
pub fn needed(scheme: Scheme, tape: &Tape) -> [f64; 2] {
    let [garble, evaluate] = match scheme {
        Scheme::Prp => [rounds(4.0, 0.0), rounds(2.0, 0.0)],
        Scheme::Tccr => [rounds(8.0, 0.0), rounds(4.0, 0.0)],
        Scheme::Circ => [rounds(4.0, 4.0), rounds(2.0, 2.0)],
        Scheme::Mi => [rounds(4.0, 2.0), rounds(2.0, 2.0)],
        Scheme::ThreeHalves => [rounds(6.0, 3.0), rounds(3.0, 3.0)],
        Scheme::Prf => [rounds(8.0, 4.0), rounds(2.0, 2.0)],
    };
    let ands = tape.ands.len() as f64;
    let [garble_xors, evaluate_xors] = match scheme {
        Scheme::Prf => xors_of_prf(tape),
        _ => [0.0; 2],
    };
    [ands * garble + garble_xors, ands * evaluate + evaluate_xors]
}

fn xors_of_prf(tape: &Tape) -> [f64; 2] {
    let constant = |slot: &u32| [ZERO, ONE].contains(slot);
    let mut sums = [0.0; 2];
    for (gate, &lone) in tape.xors.iter().zip(&tape.lone) {
        if ![gate.a, gate.b].iter().any(constant) {
            let hashes = if lone { 3.0 } else { 4.0 };
            sums[0] += rounds(hashes, hashes);
            sums[1] += rounds(2.0, 2.0);
        }
    }
    sums
}
