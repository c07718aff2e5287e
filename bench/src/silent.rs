//! Kernels of silent oblivious transfer, a part of suite `block`: trees, and the encoding of
//! learning parity with noise, beside the rate of reading as much memory in order in the same run.
//! A leaf and a row are a block.
//!
//! The encoding takes its blocks from the secret as its rows ask for them. Cases `passes` and
//! `sorted` add the same blocks in two other orders, part of the secret by part of it, so that a
//! part stays in the second-level cache: in a pass over all rows for each part, and for some rows
//! at a time, whose places are sorted by parts first. Both get the places that the encoding has to
//! draw, and so does `in_order`, which they compare with.

use std::hint::black_box;

use sealane_block::silent::matrix::{LocalMatrix, ONES};
use sealane_block::silent::trees::{Paths, Row, TREES, TreeHash};
use sealane_block::{Block, Coins, Cpu};

use crate::block::blocks;
use crate::cycles::{Measured, measure};
use crate::{Figures, Options};

/// Levels of a tree.
const DEPTH: usize = 12;
/// Rows of a call.
const ROWS: usize = TREES << DEPTH;
/// Blocks of a part of the secret: 256 KiB, half of the second-level cache of a Zen 3.
const PART: usize = 1 << 14;
/// Rows whose places are sorted together, and whose sums take 256 KiB to 2 MiB.
const LOG_SORTED: [usize; 3] = [14, 15, 17];
/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Measures all kernels on a tier.
pub(crate) fn run(cpu: Cpu, options: &Options, figures: &mut Figures<'_>) {
    trees(cpu, options, figures);
    for log_secret in [18, 19] {
        let stream = stream(options, 1 << log_secret);
        let case = format!("memory/read/{log_secret}");
        figures.add(&case, &[("gb_per_s", stream, "GB/s")]);
        encoding(cpu, options, log_secret, stream, figures);
        // Not the work of a tier.
        if options.best().is_ok_and(|best| best.tier() == cpu.tier()) {
            orders(options, log_secret, figures);
        }
    }
}

/// Both parties' trees of a batch.
fn trees(cpu: Cpu, options: &Options, figures: &mut Figures<'_>) {
    let hash = TreeHash::new(cpu, Block::new(7));
    let mut leaves = vec![Block::ZERO; ROWS];
    let mut random = Coins::danger_fixed_seed(1).secret("bench");
    random.fill(&mut leaves);
    let sender = measure(ROWS as u64, options.budget, || {
        for level in 1..DEPTH {
            black_box(hash.expand(&mut leaves[..(2 * TREES) << level]));
        }
    });
    blocks("silent/tree/sender", &sender, figures);
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
    blocks("silent/tree/receiver", &receiver, figures);
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
fn encoding(cpu: Cpu, options: &Options, log_secret: u32, stream: f64, figures: &mut Figures<'_>) {
    let matrix = LocalMatrix::new(cpu, Block::new(9));
    let mut secret = vec![Block::ZERO; 1 << log_secret];
    let mut random = Coins::danger_fixed_seed(2).secret("bench");
    random.fill(&mut secret);
    let leaves = vec![Block::ONES; ROWS];
    let (mut rows, mut bits) = (vec![Block::ZERO; ROWS], vec![Block::ZERO; ROWS / 128]);
    let mut first = 0;
    let mut side = |name, mut bits: Option<&mut [Block]>| {
        let case = format!("silent/encode/{log_secret}/{name}");
        let measured = measure(ROWS as u64, options.budget, || {
            first += ROWS as u64;
            match &mut bits {
                None => matrix.encode(&secret, first, &leaves, &mut rows),
                Some(bits) => matrix.encode_with_bits(&secret, first, &leaves, &mut rows, bits),
            }
            black_box(&rows);
        });
        blocks(&case, &measured, figures);
        let rate = (LINE * ONES + 32) as f64 / best_ns(&measured);
        let of_memory = ("of_memory_read", rate / stream, "of 1");
        figures.add(&case, &[("lines_gb_per_s", rate, "GB/s"), of_memory]);
    };
    side("sender", None);
    side("receiver", Some(&mut bits));
}

/// Places in the secret, [`ONES`] for each row.
type Places = [[u32; ONES]];

/// Sums of blocks of a secret in three orders, each checked against the first.
fn orders(options: &Options, log_secret: u32, figures: &mut Figures<'_>) {
    let mut random = Coins::danger_fixed_seed(3).secret("bench");
    let mut secret = vec![Block::ZERO; 1 << log_secret];
    random.fill(&mut secret);
    let rows = 1 << LOG_SORTED[2];
    let mut places = vec![[0u32; ONES]; rows];
    for place in places.as_flattened_mut() {
        let mut bytes = [0; 4];
        random.fill_bytes(&mut bytes);
        *place = u32::from_le_bytes(bytes) % (1 << log_secret);
    }
    let mut expected = vec![Block::ZERO; rows];
    let mut sums = expected.clone();
    let mut case = |name: &str, rows: usize, work: &mut dyn FnMut(&Places, &mut [Block])| {
        let measured = measure(rows as u64, options.budget, || {
            sums[..rows].fill(Block::ZERO);
            work(&places[..rows], &mut sums[..rows]);
            black_box(&sums);
        });
        let case = format!("silent/order/{log_secret}/{name}");
        blocks(&case, &measured, figures);
        if name == "in_order" {
            expected.copy_from_slice(&sums);
        }
        let same = |(a, b): (&Block, &Block)| a.value() == b.value();
        assert!(sums[..rows].iter().zip(&expected).all(same), "{name}");
    };
    let secret = &secret;
    case("in_order", rows, &mut |places, sums| {
        in_order(secret, places, sums)
    });
    let few = 1 << LOG_SORTED[0];
    case("passes", few, &mut |places, sums| {
        passes(secret, places, sums)
    });
    for log_rows in LOG_SORTED {
        let (rows, name) = (1 << log_rows, format!("sorted_{log_rows}"));
        let mut sorted = Sorted::new(secret.len() / PART, rows);
        case(&name, rows, &mut |places, sums| {
            sorted.add(secret, places, sums)
        });
    }
}

fn in_order(secret: &[Block], places: &Places, sums: &mut [Block]) {
    for (sum, places) in sums.iter_mut().zip(places) {
        for &place in places {
            *sum ^= secret[place as usize];
        }
    }
}

/// In the pass of a part, a place elsewhere is one in the part, whose block is masked.
fn passes(secret: &[Block], places: &Places, sums: &mut [Block]) {
    for (part, secret) in secret.chunks_exact(PART).enumerate() {
        let secret: &[Block; PART] = secret.try_into().expect("a whole part");
        for (sum, places) in sums.iter_mut().zip(places) {
            for &place in places {
                let here = u128::from(place as usize / PART == part).wrapping_neg();
                *sum ^= Block::new(secret[place as usize % PART].value() & here);
            }
        }
    }
}

/// Room to sort places by parts of the secret.
struct Sorted {
    /// For each part as many, with rows in the upper bits and places in the part in the lower ones.
    entries: Vec<u32>,
    /// Where the next one of each part goes.
    next: [usize; 64],
    parts: usize,
}

impl Sorted {
    /// Room for so many rows. Random places fill the parts alike; a tenth and some hundreds more is
    /// beyond any deviation.
    fn new(parts: usize, rows: usize) -> Sorted {
        let most = rows * ONES / parts * 11 / 10 + 400;
        Sorted {
            entries: vec![0; most * parts],
            next: [0; 64],
            parts,
        }
    }

    fn add(&mut self, secret: &[Block], places: &Places, sums: &mut [Block]) {
        let most = self.entries.len() / self.parts;
        self.next = std::array::from_fn(|part| part * most);
        for (row, places) in places.iter().enumerate() {
            for &place in places {
                let next = &mut self.next[place as usize / PART % 64];
                self.entries[*next] = (row * PART) as u32 | (place % PART as u32);
                *next += 1;
            }
        }
        for (part, secret) in secret.chunks_exact(PART).enumerate() {
            let secret: &[Block; PART] = secret.try_into().expect("a whole part");
            for &entry in &self.entries[part * most..self.next[part]] {
                sums[entry as usize / PART] ^= secret[entry as usize % PART];
            }
        }
    }
}
