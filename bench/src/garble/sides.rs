//! Both sides of one scheme over one circuit in one way, checked before they are timed.
//!
//! A first run keeps its tables, is decoded, and is compared with the circuit in the clear, so a
//! figure of wrong work cannot be printed. Timed runs then write to one buffer and read from it,
//! over and over and without a copy (`InPlace`); the evaluator finds stale tables there, which
//! take the same time.

use std::convert::Infallible;

use sealane_block::{Block, Coins, Cpu, Group};
use sealane_circuit::Tape;
use sealane_garble::{CHUNK_BYTES, Evaluator, Garbler, Labels, Ports, Roles, Scheme};
use sealane_garble::{Tables, TablesInMemory, decode};

use super::circuits::Case;
use super::reference::Reference;
use crate::Options;
use crate::cycles::{Measured, measure};

/// The order of rows and gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// One gate of one row at a time: [`super::reference`].
    GateByGate,
    /// One row at a time: the gates of a batch fill the lanes.
    OneByOne,
    /// All rows side by side.
    Together,
}

/// Garbler and evaluator of one case.
pub struct Sides<'a> {
    cpu: Cpu,
    scheme: Scheme,
    tape: &'a Tape,
    rows: usize,
    how: RowOrder,
    garbler: Garbler,
    evaluator: Evaluator,
    zeros: Labels,
    active: Labels,
    /// Slots of the reference.
    slots: Vec<Block>,
}

/// Rows of all, from one on.
struct Rows<'a> {
    labels: &'a mut Labels,
    row: usize,
}

impl Ports for Rows<'_> {
    fn load(&self, first_lane: usize, per_bit: usize, labels: &mut [Block]) {
        self.labels.load(self.row + first_lane, per_bit, labels);
    }
    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]) {
        self.labels.store(output, self.row + first_lane, labels);
    }
}

impl<'a> Sides<'a> {
    /// Both sides with labels for the inputs of `case`, whose circuit `tape` is.
    pub fn new(cpu: Cpu, scheme: Scheme, tape: &'a Tape, case: &Case, how: RowOrder) -> Sides<'a> {
        let mut coins = Coins::danger_fixed_seed(case.rows as u64);
        let seed = coins.public("hash").block();
        let garbler = Garbler::new(cpu, scheme, seed, &mut coins);
        let count = case.inputs.len();
        let mut zeros = Labels::new(tape, case.rows, scheme.labels());
        zeros.inputs = garbler.fresh_labels(&mut coins, count);
        let mut active = Labels::new(tape, case.rows, 1);
        for (i, &bit) in case.inputs.iter().enumerate() {
            let one = match scheme.labels() {
                2 => zeros.inputs[count + i],
                _ => zeros.inputs[i] ^ garbler.delta(),
            };
            active.inputs[i] = if bit == 1 { one } else { zeros.inputs[i] };
        }
        Sides {
            cpu,
            scheme,
            tape,
            rows: case.rows,
            how,
            evaluator: Evaluator::new(cpu, scheme, garbler.seed()),
            garbler,
            zeros,
            active,
            slots: Vec::new(),
        }
    }

    /// Runs both sides once and compares what they decode with the circuit in the clear.
    ///
    /// # Panics
    /// If it is something else, in a new pair of sides.
    pub fn check(&mut self, case: &Case) {
        let bytes = self.table_bytes();
        let tables = self.tables();
        assert_eq!(tables.len() as u64, bytes, "the tables have their size");
        self.evaluate_from(&mut TablesInMemory::from(tables));
        let right = self.decoded() == case.outputs;
        assert!(right, "{}: wrong outputs", case.name);
    }

    fn table_bytes(&self) -> u64 {
        let rows = self.rows as u64;
        self.scheme.table_bytes(self.tape, rows, Roles::default())
    }

    fn decoded(&mut self) -> Vec<u8> {
        let count = self.active.outputs.len();
        let (mut table, mut bits) = (vec![[Block::ZERO; 2]; count], vec![0; count]);
        match self.zeros.outputs.split_at(count) {
            (zeros, []) => self.garbler.decode_table(zeros, &mut table),
            (zeros, ones) => self.garbler.decode_table_of(zeros, ones, &mut table),
        }
        let mut hashes = vec![Block::ZERO; count];
        let evaluator = &mut self.evaluator;
        evaluator.output_hashes(&self.active.outputs, &mut hashes);
        decode(&hashes, &table, &mut bits).expect("own tables decode");
        bits
    }

    /// Times both sides, for `operations` gates of each row: garbler, then evaluator.
    pub fn measure(&mut self, operations: usize, options: &Options) -> [Measured; 2] {
        let count = (operations * self.rows) as u64;
        let mut tables = InPlace::default();
        let garble = measure(count, options.budget, || self.garble_to(&mut tables));
        let evaluate = measure(count, options.budget, || self.evaluate_from(&mut tables));
        [garble, evaluate]
    }

    /// Garbles once and keeps the tables.
    fn tables(&mut self) -> Vec<u8> {
        let mut tables = TablesInMemory::default();
        self.garble_to(&mut tables);
        tables.into_bytes()
    }

    fn garble_to(&mut self, tables: &mut impl Tables<Error = Infallible>) {
        self.run(Some(self.garbler.delta()), tables);
    }

    fn evaluate_from(&mut self, tables: &mut impl Tables<Error = Infallible>) {
        self.run(None, tables);
    }

    /// Runs the garbler, who has the offset, or the evaluator.
    fn run(&mut self, delta: Option<Block>, tables: &mut impl Tables<Error = Infallible>) {
        let (reference, tape) = (self.reference(delta), self.tape);
        for (row, rows) in self.parts() {
            let garbles = delta.is_some();
            let labels = if garbles {
                &mut self.zeros
            } else {
                &mut self.active
            };
            let ports = &mut Rows { labels, row };
            let Ok(()) = match (self.how, garbles) {
                (RowOrder::GateByGate, _) => {
                    reference.run((tape, row as u64), &mut self.slots, ports, tables);
                    Ok(())
                }
                (_, true) => self.garbler.garble(tape, rows, ports, tables),
                (_, false) => self.evaluator.evaluate(tape, rows, ports, tables),
            };
        }
    }

    /// The first row of each run of a tape, and the number of its rows.
    fn parts(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let rows = match self.how {
            RowOrder::Together => self.rows,
            RowOrder::OneByOne | RowOrder::GateByGate => 1,
        };
        (0..self.rows).step_by(rows).map(move |row| (row, rows))
    }

    fn reference(&self, delta: Option<Block>) -> Reference {
        Reference {
            cpu: self.cpu,
            scheme: self.scheme,
            seed: self.garbler.seed(),
            delta,
        }
    }
}

/// Tables in one buffer of [`CHUNK_BYTES`], which starts over where a request would pass its end:
/// memory to memory, in cache, with nothing between the kernel and its tables.
pub struct InPlace {
    chunk: Vec<Group>,
    passed: usize,
}

impl Default for InPlace {
    /// An empty buffer.
    fn default() -> InPlace {
        InPlace {
            chunk: vec![Group::ZERO; CHUNK_BYTES / size_of::<Group>()],
            passed: 0,
        }
    }
}

impl Tables for InPlace {
    type Error = Infallible;

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], Infallible> {
        if CHUNK_BYTES - self.passed < bytes {
            self.passed = 0;
        }
        let chunk = Block::as_bytes_mut(Group::as_blocks_mut(&mut self.chunk));
        Ok(&mut chunk[self.passed..])
    }

    fn pass(&mut self, bytes: usize) -> Result<(), Infallible> {
        self.passed += bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sealane_circuit::{Machine, Order, compile};

    use super::super::circuits::papers;
    use super::super::reference;
    use super::*;

    /// The reference does the same work in another way. One row in one call has the same tweaks in
    /// both.
    #[test]
    fn the_reference_makes_the_tables_of_the_batched_garbler() {
        let written = Machine {
            lanes: 1,
            order: Order::None,
        };
        let cpu = *Cpu::available().last().unwrap();
        for case in papers(true).filter(|case| case.rows == 1) {
            let tape = compile(&case.circuit, &written);
            for scheme in Scheme::ALL.into_iter().filter(|&s| reference::of(s) == s) {
                let tables = [RowOrder::OneByOne, RowOrder::GateByGate]
                    .map(|how| Sides::new(cpu, scheme, &tape, &case, how).tables());
                assert!(!tables[0].is_empty() && tables[0] == tables[1], "{scheme}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "wrong outputs")]
    fn other_outputs_than_those_of_the_circuit_are_found() {
        let mut case = papers(true).nth(2).unwrap();
        let tape = compile(&case.circuit, &Machine::CPU);
        case.outputs[0] ^= 1;
        let cpu = *Cpu::available().last().unwrap();
        Sides::new(cpu, Scheme::Mi, &tape, &case, RowOrder::Together).check(&case);
    }
    /// Otherwise figures would be of other work than that of a channel.
    #[test]
    fn tables_in_place_are_those_of_a_stream() {
        let case = papers(true).nth(1).unwrap();
        let tape = compile(&case.circuit, &Machine::CPU);
        let cpu = *Cpu::available().last().unwrap();
        let sides = || Sides::new(cpu, Scheme::Mi, &tape, &case, RowOrder::Together);
        let (streamed, mut sides) = (sides().tables(), sides());
        let mut kept = Kept {
            tables: InPlace::default(),
            bytes: Vec::new(),
        };
        sides.garble_to(&mut kept);
        assert!(streamed.len() > 2 * CHUNK_BYTES && kept.bytes == streamed);
    }

    /// Tables in place, each of which is kept before the next one may overwrite it.
    struct Kept {
        tables: InPlace,
        bytes: Vec<u8>,
    }

    impl Tables for Kept {
        type Error = Infallible;

        fn next(&mut self, bytes: usize) -> Result<&mut [u8], Infallible> {
            self.tables.next(bytes)
        }

        fn pass(&mut self, bytes: usize) -> Result<(), Infallible> {
            let Ok(chunk) = self.tables.next(bytes);
            self.bytes.extend_from_slice(&chunk[..bytes]);
            self.tables.pass(bytes)
        }
    }
}
