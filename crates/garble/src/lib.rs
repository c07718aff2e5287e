//! Room `garble`: garbling schemes over batches; no network.
//!
//! CONTRACT SKELETON.

use sealane_block::{Block, Coins, Cpu};
use sealane_circuit::Tape;

/// Where a machine finds the labels of a tape's inputs and puts those of its outputs. Bits and
/// lanes are indexed as the tape numbers them; a call covers neighbouring lanes of one bit.
pub trait Ports {
    /// Fills `labels` with input bit `input` of lanes `first_lane..first_lane + labels.len()`.
    fn load(&self, input: usize, first_lane: usize, labels: &mut [Block]);
    /// Takes output bit `output` of lanes `first_lane..first_lane + labels.len()`.
    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]);
}

/// Half-gates garbler with the multi-instance hash (MI).
pub struct Garbler(());

impl Garbler {
    /// A fresh offset and a fresh public seed S.
    pub fn new(_cpu: Cpu, _coins: &mut Coins) -> Garbler {
        todo!()
    }
    /// The public seed, which the evaluator needs.
    pub fn seed(&self) -> Block {
        todo!()
    }
    /// The free-XOR offset: secret, its bit 0 is 1.
    pub fn delta(&self) -> Block {
        todo!()
    }
    /// Garbles `tape` on `lanes` lanes; ports carry zero labels. Table bytes go to `sink` in
    /// chunks of at most 64 KiB, [`table_bytes`] in all.
    pub fn garble<E>(
        &mut self,
        _tape: &Tape,
        _lanes: usize,
        _ports: &mut impl Ports,
        _sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        todo!()
    }
    /// The two hashes of each output label, zero first, that let the evaluator decode it. They
    /// consume tweaks of the same sequence as gates.
    pub fn decode_table(&mut self, _zero_labels: &[Block], _out: &mut [[Block; 2]]) {
        todo!()
    }
    /// The bits behind hashes of active labels that the evaluator sent, 0 or 1 a byte; an error if
    /// one matches neither label.
    pub fn decode(
        &mut self,
        _zero_labels: &[Block],
        _hashes: &[Block],
        _bits: &mut [u8],
    ) -> Result<(), DecodeError> {
        todo!()
    }
}

/// Half-gates evaluator with the multi-instance hash (MI).
pub struct Evaluator(());

impl Evaluator {
    /// An evaluator for the garbler's seed.
    pub fn new(_cpu: Cpu, _seed: Block) -> Evaluator {
        todo!()
    }
    /// Evaluates `tape`; ports carry active labels; `source` fills chunks of table bytes.
    pub fn evaluate<E>(
        &mut self,
        _tape: &Tape,
        _lanes: usize,
        _ports: &mut impl Ports,
        _source: &mut impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        todo!()
    }
    /// Decodes active labels with the garbler's table.
    pub fn decode(
        &mut self,
        _active: &[Block],
        _table: &[[Block; 2]],
        _bits: &mut [u8],
    ) -> Result<(), DecodeError> {
        todo!()
    }
    /// Hashes of active labels, for the garbler to decode.
    pub fn output_hashes(&mut self, _active: &[Block], _out: &mut [Block]) {
        todo!()
    }
}

/// Table bytes of a tape on `lanes` lanes: 32 for each AND.
pub fn table_bytes(tape: &Tape, lanes: u64) -> u64 {
    tape.ands.len() as u64 * lanes * 32
}

/// An output label matches neither of its two values: something was corrupted on the way.
#[derive(Debug, thiserror::Error)]
#[error("an output label matches neither of its values")]
pub struct DecodeError;
