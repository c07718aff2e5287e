//! The circuits that papers on garbling measure, with inputs and outputs in the clear; and circuits
//! of one kind of gate.
//!
//! | circuit | rows | size |
//! |---|---|---|
//! | AES-128 | 64, and 1 | one block and its key |
//! | SHA-1 | 63 | one block of 512 bits |
//! | sort-compare-shuffle | 1 | 1024 items of 32 bits on each side |
//! | circuit phasing | 1 | 1024 items of 32 bits a side, 3 hashes, 1.2 bins an item, a stash of 1 |
//!
//! The paper on batches measures AES-128 on 65 rows. Here row 65 would be a narrow block of its
//! own, which costs more an AND than the 64 beside it and says nothing about them. So these are two
//! circuits, [`papers`] and [`row_65`].

use sealane_block::Coins;
use sealane_circuit::psi::{phased, shuffled};
use sealane_circuit::{Builder, Circuit, Wire, Word, aes, permutation_network, sha1};

/// A circuit, the number of rows that go through it, and their bits.
pub struct Case {
    /// The name, such as `aes128x64`.
    pub name: String,
    /// The circuit.
    pub circuit: Circuit,
    /// Number of rows.
    pub rows: usize,
    /// Bits of the inputs as `[bit][row]`, 0 or 1 a byte.
    pub inputs: Vec<u8>,
    /// Bits of the outputs that the circuit gives in the clear, as `[bit][row]`.
    pub outputs: Vec<u8>,
}

impl Case {
    /// Creates a case with rows of random bits.
    pub fn random(name: String, circuit: Circuit, rows: usize) -> Case {
        let mut coins = coins(rows as u64);
        let widths = circuit.input_widths().to_vec();
        let mut word = |&width: &usize| bits(&mut coins, width);
        let values = (0..rows).map(|_| widths.iter().map(&mut word).collect());
        let values = values.collect();
        Case::new(name, circuit, values)
    }

    /// Creates a case with rows of given values, one for each input of the circuit.
    fn new(name: String, circuit: Circuit, values: Vec<Vec<Vec<bool>>>) -> Case {
        let found: Vec<_> = values.iter().map(|row| circuit.eval(row)).collect();
        Case {
            name,
            circuit,
            rows: values.len(),
            inputs: by_bit(&values),
            outputs: by_bit(&found),
        }
    }
}

/// Transposes `[row][word][bit]` to `[bit][row]`.
fn by_bit(rows: &[Vec<Vec<bool>>]) -> Vec<u8> {
    let rows: Vec<Vec<bool>> = rows.iter().map(|row| row.concat()).collect();
    let width = rows.first().map_or(0, Vec::len);
    let bit = |i: usize| rows.iter().map(move |row| u8::from(row[i]));
    (0..width).flat_map(bit).collect()
}

/// The four circuits, one after the other: a large one is freed before the next is made. `small`
/// makes each as small as possible with all of its parts.
pub fn papers(small: bool) -> impl Iterator<Item = Case> {
    let sizes = if small {
        [2, 1, 4, 8]
    } else {
        [64, 63, 1024, 32]
    };
    let [aes_rows, sha1_rows, items, width] = sizes;
    let make: [Box<dyn Fn() -> Case>; 4] = [
        Box::new(move || Case::random(format!("aes128x{aes_rows}"), aes::circuit(), aes_rows)),
        Box::new(move || Case::random(format!("sha1x{sha1_rows}"), sha1::circuit(), sha1_rows)),
        Box::new(move || sort_compare_shuffle(items, width)),
        Box::new(move || phasing(items, width)),
    ];
    make.into_iter().map(|make| make())
}

/// AES-128 on one row: the last of the 65 rows of the paper, a narrow block.
pub fn row_65() -> Case {
    Case::random("aes128x1".to_string(), aes::circuit(), 1)
}

/// Two sorted sets, every other item of which is in both, and a random order.
fn sort_compare_shuffle(items: usize, width: usize) -> Case {
    let mut coins = coins(1);
    let step = (1u64 << width) / (items as u64 + 1);
    let set = |other: u64| {
        let item = |i: u64| step * (i + 1) + (i % 2) * other;
        words((0..items as u64).map(item), width)
    };
    let switches = bits(&mut coins, permutation_network(items).len());
    let values = vec![vec![set(0), set(1), switches]];
    let name = format!("psi-scs-{items}x{width}");
    Case::new(name, shuffled::circuit(items, width), values)
}

/// Random tables, in which every other item of the cuckoo table has its match.
fn phasing(items: usize, width: usize) -> Case {
    let mut coins = coins(2);
    let sizes = phased::Sizes::new(items, width);
    let table = bits(&mut coins, sizes.bins * sizes.stored);
    let stash = bits(&mut coins, phased::STASH * width);
    let mut candidates = bits(&mut coins, sizes.bins * sizes.load * sizes.stored);
    for bin in (0..sizes.bins).step_by(2) {
        let at = (bin * sizes.load + bin % sizes.load) * sizes.stored;
        let item = &table[bin * sizes.stored..][..sizes.stored];
        candidates[at..at + sizes.stored].copy_from_slice(item);
    }
    let mut others = bits(&mut coins, items * width);
    others[..width].copy_from_slice(&stash[..width]);
    let values = vec![vec![table, stash, candidates, others]];
    let name = format!("psi-phasing-{items}x{width}");
    Case::new(name, phased::circuit(&sizes), values)
}

/// Gates of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateKind {
    /// ANDs alone.
    And,
    /// XORs of a value that no other gate reads, as most are in additions.
    Xor,
    /// XORs of values that other gates read too, where a scheme without free XOR needs another
    /// hash.
    SharedXor,
}

impl GateKind {
    /// All of them.
    pub const ALL: [GateKind; 3] = [GateKind::And, GateKind::Xor, GateKind::SharedXor];

    /// Its name in cases.
    pub fn name(self) -> &'static str {
        match self {
            GateKind::And => "and",
            GateKind::Xor => "xor",
            GateKind::SharedXor => "xor-shared",
        }
    }
}

/// Builds layers of sixteen gates of one kind, on few enough slots for the first-level cache.
pub fn gates(kind: GateKind, layers: usize, rows: usize) -> Case {
    const WIDTH: usize = 16;
    let mut b = Builder::new();
    let inputs = b.input(WIDTH);
    let mut values: Word = inputs.clone();
    for layer in 0..layers {
        let gate = |i: usize| -> Wire {
            let next = values[(i + 1) % WIDTH];
            match kind {
                GateKind::And => b.and(values[i], next),
                GateKind::Xor => b.xor(values[i], inputs[(i + layer + 1) % WIDTH]),
                GateKind::SharedXor => b.xor(values[i], next),
            }
        };
        values = (0..WIDTH).map(gate).collect();
    }
    Case::random(kind.name().to_string(), b.finish(vec![values]), rows)
}

/// The bits of words, lowest first.
fn words(values: impl Iterator<Item = u64>, width: usize) -> Vec<bool> {
    let bit = |value: u64| (0..width).map(move |i| value >> i & 1 == 1);
    values.flat_map(bit).collect()
}

fn bits(coins: &mut Coins, count: usize) -> Vec<bool> {
    let mut bytes = vec![0; count];
    coins.secret("bits").fill_bytes(&mut bytes);
    bytes.into_iter().map(|byte| byte & 1 == 1).collect()
}

/// The same inputs in every run; nothing is secret here.
fn coins(seed: u64) -> Coins {
    Coins::danger_fixed_seed(seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise a garbler whose outputs are all 0 would pass.
    #[test]
    fn every_circuit_gives_zeros_and_ones() {
        for case in papers(true) {
            let ones = case.outputs.iter().filter(|&&bit| bit == 1).count();
            assert!(0 < ones && ones < case.outputs.len(), "{}", case.name);
        }
    }

    #[test]
    fn circuits_of_one_kind_hold_nothing_else() {
        for kind in GateKind::ALL {
            let info = gates(kind, 10, 1).circuit.info();
            let ands = if kind == GateKind::And { 160 } else { 0 };
            assert_eq!((info.ands, info.xors), (ands, 160 - ands), "{kind:?}");
        }
    }
}
