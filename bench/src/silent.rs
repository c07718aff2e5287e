//! Kernels of silent oblivious transfer, a part of suite `block`: trees, and the encoding of
//! learning parity with noise, beside the rate of reading as much memory in order in the same run.
//! A leaf and a row are a block.

use std::hint::black_box;

use sealane_block::silent::matrix::{LocalMatrix, ONES};
use sealane_block::silent::trees::{Paths, Row, TREES, TreeHash};
use sealane_block::{Block, Coins, Cpu};

use crate::Options;
use crate::block::{Figure, figures};
use crate::cycles::{Measured, measure};

/// Levels of a tree.
const DEPTH: usize = 12;
/// Rows of a call.
const ROWS: usize = TREES << DEPTH;
/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Measures all kernels on a tier.
pub(crate) fn run(cpu: Cpu, options: &Options, figure: &mut Figure<'_>) {
    trees(cpu, options, figure);
    for log_secret in [18, 19] {
        let stream = stream(options, 1 << log_secret);
        let case = format!("memory/read/{log_secret}");
        figure(&case, "gb_per_s", stream, "GB/s");
        encoding(cpu, options, log_secret, stream, figure);
    }
}

/// Both parties' trees of a batch.
fn trees(cpu: Cpu, options: &Options, figure: &mut Figure<'_>) {
    let hash = TreeHash::new(cpu, Block::new(7));
    let mut leaves = vec![Block::ZERO; ROWS];
    let mut random = Coins::danger_fixed_seed(1).secret("bench");
    random.fill(&mut leaves);
    let sender = measure(ROWS as u64, options.budget, || {
        for level in 1..DEPTH {
            black_box(hash.expand(&mut leaves[..(2 * TREES) << level]));
        }
    });
    figures("silent/tree/sender", &sender, figure);
    let mut paths = Paths::new(DEPTH);
    let mut correction: Row = Default::default();
    random.fill(&mut correction);
    let right = correction.map(|block| Block::mask(block.lsb()));
    let receiver = measure(ROWS as u64, options.budget, || {
        paths.restart();
        for level in 1..DEPTH {
            let nodes = &mut leaves[..(2 * TREES) << level];
            black_box(match level {
                1 => hash.expand(nodes),
                _ => hash.expand_corrected(nodes, &mut paths, &correction),
            });
            paths.descend(&right);
        }
        hash.finish(&mut leaves, &mut paths, &correction, &right);
    });
    figures("silent/tree/receiver", &receiver, figure);
}

/// Reads as many blocks from the first to the last; returns the rate in GB/s.
fn stream(options: &Options, count: usize) -> f64 {
    let blocks = vec![Block::ONES; count];
    let measured = measure(16 * count as u64, options.budget, || {
        let mut sums = [Block::ZERO; 8];
        for blocks in black_box(&blocks).chunks_exact(sums.len()) {
            for (sum, block) in sums.iter_mut().zip(blocks) {
                *sum ^= *block;
            }
        }
        black_box(sums);
    });
    1.0 / best_ns(&measured)
}

/// Nanoseconds of a block in the best window, at the clock of the median one.
fn best_ns(measured: &Measured) -> f64 {
    measured.median_ns * measured.min_cycles / measured.median_cycles
}

/// Rows of both parties, with a secret of `2^log_secret` bits. A row reads its leaf, writes a
/// block, and adds ten blocks from random places, each of which brings a line of the cache.
fn encoding(cpu: Cpu, options: &Options, log_secret: u32, stream: f64, figure: &mut Figure<'_>) {
    let matrix = LocalMatrix::new(cpu, Block::new(9));
    let mut secret = vec![Block::ZERO; 1 << log_secret];
    let mut random = Coins::danger_fixed_seed(2).secret("bench");
    random.fill(&mut secret);
    let leaves = vec![Block::ONES; ROWS];
    let (mut rows, mut bits) = (vec![Block::ZERO; ROWS], vec![Block::ZERO; ROWS / 128]);
    let mut first = 0;
    let mut side = |name, bits: Option<&mut [Block]>| {
        let case = format!("silent/encode/{log_secret}/{name}");
        let mut bits = bits;
        let measured = measure(ROWS as u64, options.budget, || {
            first += ROWS as u64;
            match &mut bits {
                None => matrix.encode(&secret, first, &leaves, &mut rows),
                Some(bits) => {
                    matrix.encode_with_bits(&secret, first, &leaves, &mut rows, bits);
                }
            }
            black_box(&rows);
        });
        figures(&case, &measured, figure);
        let rate = (LINE * ONES + 32) as f64 / best_ns(&measured);
        figure(&case, "lines_gb_per_s", rate, "GB/s");
        figure(&case, "of_memory_read", rate / stream, "of 1");
    };
    side("sender", None);
    side("receiver", Some(&mut bits));
}
