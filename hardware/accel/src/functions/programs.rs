//! Whole programs without flip-flops, wide enough for several engines.
//!
//! They are of the kinds that HAAC measures (Mo, Gopinath and Reagen, "HAAC: A Hardware-Software
//! Co-Design to Accelerate Garbled Circuits", ISCA 2023; VIP-Bench), in sizes of our own.

use super::{Cycle, Function, fresh};
use crate::netlist::Inputs;
use sealane_circuit::{Builder, Int, Wire, Word, aes};

/// Names of all programs.
pub const PROGRAMS: [&str; 5] = ["AES_16", "Dot_32", "ReLU_1024", "Hamm_4096", "Max_256"];

/// Builds the output of both parties' inputs.
type Build = fn(&mut Builder, &[Wire], &[Wire]) -> Word;

/// Builds the program of this name, if there is one.
///
/// | name | program |
/// |---|---|
/// | `AES_16` | 16 blocks of the evaluator under a key of the garbler, AES-128 |
/// | `Dot_32` | the product of two vectors of 32 signed numbers of 32 bits, in 70 bits |
/// | `ReLU_1024` | 1,024 signed sums of 32 bits, of a number of each party, or 0 if negative |
/// | `Hamm_4096` | the number of bits in which two words differ |
/// | `Max_256` | the largest of 256 unsigned numbers of 32 bits, half of them of each party |
pub fn program(name: &str) -> Option<Function> {
    let (inputs, build): (Inputs, Build) = match name {
        "AES_16" => (fresh(128, 16 * 128), |b, key, blocks| {
            let blocks = blocks.chunks(128);
            blocks
                .flat_map(|block| aes::encrypt(b, key, block))
                .collect()
        }),
        "Dot_32" => (fresh(1024, 1024), |b, x, y| {
            let pairs = x.chunks(32).zip(y.chunks(32));
            let products = pairs.map(|(x, y)| b.mul(Int::signed(x), Int::signed(y), 64));
            let products: Vec<Word> = products.collect();
            let terms: Vec<Int> = products.iter().map(|word| Int::signed(word)).collect();
            b.sum(&terms, 70)
        }),
        "ReLU_1024" => (fresh(32 * 1024, 32 * 1024), |b, x, y| {
            let pairs = x.chunks(32).zip(y.chunks(32));
            let sums = pairs.map(|(x, y)| b.add(Int::signed(x), Int::signed(y), 32));
            let sums: Vec<Word> = sums.collect();
            let positive = |sum: &Word| -> Word {
                sum[..31].iter().map(|&bit| b.and(bit, !sum[31])).collect()
            };
            sums.iter().flat_map(positive).collect()
        }),
        "Hamm_4096" => (fresh(4096, 4096), |b, x, y| {
            let differ = b.zip(x, y, Builder::xor);
            b.popcount(&differ, 13)
        }),
        "Max_256" => (fresh(128 * 32, 128 * 32), |b, x, y| {
            let words = x.chunks(32).chain(y.chunks(32));
            let mut words: Vec<Word> = words.map(<[Wire]>::to_vec).collect();
            while words.len() > 1 {
                let pairs = words.chunks(2);
                let larger =
                    |pair: &[Word]| b.max(Int::unsigned(&pair[0]), Int::unsigned(&pair[1]), 32);
                words = pairs.map(larger).collect();
            }
            words.concat()
        }),
        _ => return None,
    };
    let mut cycle = Cycle::new(inputs, 0);
    let [x, y] = [cycle.garbler(), cycle.evaluator()];
    let output = build(&mut cycle.b, &x, &y);
    let name = PROGRAMS.into_iter().find(|known| *known == name)?;
    Some(cycle.finish(name, 1, (vec![], vec![]), output))
}
