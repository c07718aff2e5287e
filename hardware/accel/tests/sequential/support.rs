//! Runs of sequential circuits in the clear and garbled, and numbers as bits.

use sealane_accel::paper::benchmark;
use sealane_accel::{Netlist, Operand};
use sealane_block::{Block, Coins, Cpu};
use sealane_circuit::{Machine, Sequential};
use sealane_garble::{Cycles, Evaluator, Garbler, Scheme, TablesInMemory, decode};

/// The authors' netlist of a benchmark, with the order of its ports, where it is there.
pub fn released(name: &str) -> Option<Netlist> {
    sealane_hw_testkit::released(benchmark(name)?).map(with_ports)
}

/// The authors' tool sorted outputs by wires. Where these are what flip-flops hold, the order of
/// the port is that of the flip-flops, or of the inputs with which they begin.
fn with_ports(netlist: Netlist) -> Netlist {
    let mut parts = netlist.parts().clone();
    let first = netlist.inputs();
    let rank = |&output: &Operand| {
        let q = output.wire()?.checked_sub(first);
        let of_q = q.filter(|&q| (q as usize) < parts.flip_flops.len());
        let of_d = || {
            let mut pairs = parts.flip_flops.iter();
            let position = pairs.rposition(|pair| pair.next == output);
            position.map(|position| position as u32)
        };
        let flip_flop = of_q.or_else(of_d)?;
        let initial = parts.flip_flops[flip_flop as usize].initial;
        Some(initial.wire().unwrap_or(flip_flop))
    };
    let ranks: Option<Vec<u32>> = parts.outputs.iter().map(rank).collect();
    parts.ports = ranks.map(|ranks| {
        let before = |rank| ranks.iter().filter(|&&other| other < rank).count() as u32;
        ranks.iter().map(|&rank| before(rank)).collect()
    });
    Netlist::new(parts).expect("ports are a permutation")
}

/// Bits of garbler and evaluator: given once, and in each cycle.
pub struct Given {
    pub held: [Vec<bool>; 2],
    pub fresh: Vec<[Vec<bool>; 2]>,
}

impl Given {
    pub fn fresh(fresh: impl IntoIterator<Item = [Vec<bool>; 2]>) -> Given {
        Given {
            held: [vec![], vec![]],
            fresh: fresh.into_iter().collect(),
        }
    }

    /// The outputs of each cycle.
    pub fn clear(&self, circuit: &Sequential) -> Vec<Vec<bool>> {
        let words = |[garbler, evaluator]: &[Vec<bool>; 2]| {
            vec![vec![], garbler.clone(), evaluator.clone()]
        };
        let mut run = circuit.run(words(&self.held));
        let cycle = |fresh| run.cycle(&words(fresh)).concat();
        self.fresh.iter().map(cycle).collect()
    }
}

/// The same, garbled: each cycle's tables are evaluated before the next cycle is garbled.
pub fn garbled(circuit: &Sequential, given: &Given) -> Vec<Vec<bool>> {
    let cpu = Cpu::detect().expect("a tier");
    let mut coins = Coins::danger_fixed_seed(20);
    let seed = Block::new(0x5ea1);
    let mut garbler = Garbler::new(cpu, Scheme::Mi, seed, &mut coins);
    let mut evaluator = Evaluator::new(cpu, Scheme::Mi, seed);
    let delta = garbler.delta();
    let tape = circuit.compile(&Machine::CPU);
    // Zero labels, and active ones.
    let mut labels = |bits: &[bool]| {
        let mut zeros = vec![Block::ZERO; bits.len()];
        coins.secret("test: labels").fill(&mut zeros);
        let pairs = zeros.iter().zip(bits);
        let active = pairs.map(|(zero, &bit)| if bit { *zero ^ delta } else { *zero });
        let active: Vec<Block> = active.collect();
        (zeros, active)
    };
    let constants: Vec<bool> = tape.constants().collect();
    let (constant_zeros, constants) = labels(&constants);
    let (held_zeros, held) = labels(&given.held.concat());
    let mut garbling = Cycles::new(&tape, 1, 1, &constant_zeros, &held_zeros);
    let mut evaluating = Cycles::new(&tape, 1, 1, &constants, &held);
    let mut outputs = Vec::new();
    for fresh in &given.fresh {
        let (zeros, active) = labels(&fresh.concat());
        let mut tables = TablesInMemory::default();
        let Ok(()) = garbling.garble(&mut garbler, &zeros, &mut tables);
        let mut tables = TablesInMemory::from(tables.into_bytes());
        let Ok(()) = evaluating.evaluate(&mut evaluator, &active, &mut tables);
        let count = garbling.outputs(0).len();
        let mut table = vec![[Block::ZERO; 2]; count];
        garbler.decode_table(garbling.outputs(0), &mut table);
        let mut hashes = vec![Block::ZERO; count];
        evaluator.output_hashes(evaluating.outputs(0), &mut hashes);
        let mut bits = vec![0; count];
        decode(&hashes, &table, &mut bits).expect("labels of the garbler");
        outputs.push(bits.iter().map(|&bit| bit == 1).collect());
    }
    outputs
}

pub fn bits(value: u128, width: usize) -> Vec<bool> {
    (0..width).map(|i| i < 128 && value >> i & 1 == 1).collect()
}

/// A signed number in two's complement, of at most 128 bits.
pub fn word(value: i128, width: usize) -> Vec<bool> {
    bits(value as u128, width)
}

pub fn number(bits: &[bool]) -> u128 {
    let bits = bits.iter().rev();
    bits.fold(0, |value, &bit| value << 1 | u128::from(bit))
}

pub fn signed(bits: &[bool]) -> i128 {
    let sign = i128::from(bits[bits.len() - 1]);
    number(bits) as i128 - (sign << bits.len())
}

pub fn random_bits(seed: u64, count: usize) -> Vec<bool> {
    let mut bytes = vec![Block::ZERO; count];
    let mut coins = Coins::danger_fixed_seed(seed);
    coins.secret("test: bits").fill(&mut bytes);
    bytes.iter().map(|block| block.lsb() == 1).collect()
}

/// The product of two unsigned numbers, bit by bit with carries.
pub fn product(a: &[bool], b: &[bool]) -> Vec<bool> {
    let mut columns = vec![0u32; a.len() + b.len()];
    for (i, _) in a.iter().enumerate().filter(|(_, bit)| **bit) {
        for (j, &bit) in b.iter().enumerate() {
            columns[i + j] += u32::from(bit);
        }
    }
    let mut carry = 0;
    let bit = |column: &u32| {
        let sum = column + carry;
        carry = sum / 2;
        sum % 2 == 1
    };
    columns.iter().map(bit).collect()
}

/// A difference of unsigned numbers modulo 2 to their width.
pub fn minus(a: &[bool], b: &[bool]) -> Vec<bool> {
    let mut borrow = 0;
    let bit = |(&a, &b): (&bool, &bool)| {
        let difference = i32::from(a) - i32::from(b) - borrow;
        borrow = i32::from(difference < 0);
        difference & 1 == 1
    };
    a.iter().zip(b).map(bit).collect()
}
