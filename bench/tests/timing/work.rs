//! The timed code: work on blocks whose lowest bits are secret.

use std::convert::Infallible;
use std::hint::black_box;

use sealane_aead::{Cipher, Suite};
use sealane_block::hash::Prp;
use sealane_block::{Block, Coins, Cpu, LabelHash, Tweak};
use sealane_circuit::{Builder, Machine, Tape, compile_known};
use sealane_garble::{Evaluator, Garbler, Labels, Roles, Scheme, Tables, decode};

use sealane_testkit::timing::{ROWS, TimedWork};

/// An AND and an XOR, whose operands nobody knows, or each side one of them.
fn gates(known: bool) -> Tape {
    let mut b = Builder::new();
    let (x, y) = (b.input(1), b.input(1));
    let outputs = vec![b.and(x[0], y[0]), b.xor(x[0], y[0])];
    let known_to = if known { [1, 2] } else { [0, 0] };
    compile_known(&b.finish(vec![outputs]), &Machine::CPU, &known_to)
}

const ROLES: Roles = Roles {
    garbler: 1,
    evaluator: 2,
};

/// A batch of both gates, as crate `garble` evaluates it.
pub struct Evaluation {
    tape: Tape,
    evaluator: Evaluator,
    labels: Labels,
    tables: Same,
}

impl Evaluation {
    pub fn new(cpu: Cpu, scheme: Scheme, known: bool) -> Evaluation {
        let tape = gates(known);
        let mut evaluator = Evaluator::new(cpu, scheme, Block::new(4711));
        evaluator.set_roles(ROLES);
        Evaluation {
            labels: Labels::new(&tape, ROWS, 1),
            tape,
            evaluator,
            tables: Same::new(),
        }
    }
}

impl TimedWork for Evaluation {
    fn prepare(&mut self, inputs: &[Block]) {
        self.labels.inputs.copy_from_slice(inputs);
    }

    fn run(&mut self) {
        let (labels, tables) = (&mut self.labels, &mut self.tables);
        let Ok(()) = self.evaluator.evaluate(&self.tape, ROWS, labels, tables);
    }
}

/// A batch of both gates, as crate `garble` garbles it.
pub struct Garbling {
    tape: Tape,
    garbler: Garbler,
    labels: Labels,
    tables: Same,
}

impl Garbling {
    pub fn new(cpu: Cpu, scheme: Scheme, known: bool) -> Garbling {
        let tape = gates(known);
        let mut coins = Coins::danger_fixed_seed(2);
        let seed = coins.public("hash").block();
        let mut garbler = Garbler::new(cpu, scheme, seed, &mut coins);
        garbler.set_roles(ROLES);
        Garbling {
            labels: Labels::new(&tape, ROWS, scheme.labels()),
            tape,
            garbler,
            tables: Same::new(),
        }
    }
}

impl TimedWork for Garbling {
    fn prepare(&mut self, inputs: &[Block]) {
        let (zeros, ones) = self.labels.inputs.split_at_mut(inputs.len());
        zeros.copy_from_slice(inputs);
        // Without free XOR, the label of 1 as well: another one, with the other permute bit.
        for (one, zero) in ones.iter_mut().zip(inputs) {
            *one = *zero ^ Block::new(0x5a5b);
        }
    }

    fn run(&mut self) {
        let (labels, tables) = (&mut self.labels, &mut self.tables);
        let Ok(()) = self.garbler.garble(&self.tape, ROWS, labels, tables);
    }
}

/// The opening of a message whose tag is wrong in one byte.
pub struct Opening {
    cpu: Cpu,
    suite: Suite,
    key: Vec<u8>,
    nonce: Vec<u8>,
    sealed: Vec<u8>,
    cipher: Cipher,
    forged: Vec<u8>,
}

impl Opening {
    /// Bytes of the text.
    const TEXT: usize = 32;

    pub fn new(cpu: Cpu, suite: Suite) -> Opening {
        let (key, nonce) = (vec![5; suite.key_bytes()], vec![6; suite.nonce_bytes()]);
        let cipher = Cipher::new(cpu, suite, &key).expect("a key of this length");
        let sealed = cipher.seal(&nonce, &[], &[7; Self::TEXT]);
        let sealed = sealed.expect("the lengths are in order");
        Opening {
            cpu,
            suite,
            key,
            nonce,
            forged: sealed.clone(),
            sealed,
            cipher,
        }
    }
}

impl TimedWork for Opening {
    fn prepare(&mut self, inputs: &[Block]) {
        // A key that has refused too much may refuse everything.
        let cipher = Cipher::new(self.cpu, self.suite, &self.key);
        self.cipher = cipher.expect("a key of this length");
        self.forged.copy_from_slice(&self.sealed);
        let tag = self.sealed.len() - self.suite.tag_bytes();
        self.forged[tag + first_wrong(inputs, self.suite.tag_bytes())] ^= 0x80;
    }

    fn run(&mut self) {
        let text = Some(Self::TEXT);
        let opened = self
            .cipher
            .open_in_place(&self.nonce, &[], &mut self.forged, text);
        assert!(opened.is_err());
    }
}

/// Returns the index of the wrong byte, of so many: the first one where all bits are 0, else a
/// later one.
fn first_wrong(inputs: &[Block], bytes: usize) -> usize {
    inputs[..bytes - 1]
        .iter()
        .map(|input| usize::from(input.lsb()))
        .sum()
}

/// The same bytes again and again; rows need not fit labels to take their time.
struct Same(Vec<u8>);

impl Same {
    fn new() -> Same {
        Same(vec![0x5a; sealane_garble::CHUNK_BYTES])
    }
}

impl Tables for Same {
    type Error = Infallible;

    fn next(&mut self, _: usize) -> Result<&mut [u8], Infallible> {
        Ok(&mut self.0)
    }
    fn pass(&mut self, _: usize) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Half-gates with a branch on each permute bit.
pub struct Branching {
    cpu: Cpu,
    hash: Prp,
    inputs: Vec<Block>,
    hashes: Vec<Block>,
}

impl Branching {
    pub fn new() -> Branching {
        let cpu = *Cpu::available().last().expect("the portable tier");
        Branching {
            cpu,
            hash: Prp::new(cpu, Block::new(4711)),
            inputs: vec![],
            hashes: vec![],
        }
    }
}

impl TimedWork for Branching {
    fn prepare(&mut self, inputs: &[Block]) {
        self.inputs = inputs.to_vec();
        self.hashes = inputs.to_vec();
    }

    fn run(&mut self) {
        let hash = &self.hash;
        hash.hash(self.cpu, Tweak::default(), &mut self.hashes);
        for (label, hash) in self.inputs.iter().zip(&mut self.hashes) {
            if label.lsb() == 1 {
                add(hash, Block::new(0x5a5a));
            }
        }
        black_box(&self.hashes);
    }
}

/// A call, which no compiler turns into a mask.
#[inline(never)]
fn add(hash: &mut Block, row: Block) {
    *hash ^= black_box(row);
}

/// A tag that is compared byte by byte, up to the first wrong one.
#[derive(Default)]
pub struct Eager {
    tag: [u8; 16],
}

impl TimedWork for Eager {
    fn prepare(&mut self, inputs: &[Block]) {
        self.tag = [0; 16];
        self.tag[first_wrong(inputs, 16)] = 1;
    }

    fn run(&mut self) {
        // A call for each byte, which no compiler turns into one comparison of all.
        let is_right = |byte: &u8| black_box(*byte) == 0;
        black_box(self.tag.iter().all(is_right));
    }
}

/// A receiver of results finds which of two hashes the third one is. The secrets are the results.
pub struct Receiving {
    hashes: [Block; ROWS],
    table: [[Block; 2]; ROWS],
    bits: [u8; ROWS],
}

impl Receiving {
    pub fn new() -> Receiving {
        Receiving {
            hashes: [Block::ZERO; ROWS],
            table: [[Block::ZERO; 2]; ROWS],
            bits: [0; ROWS],
        }
    }
}

impl TimedWork for Receiving {
    fn prepare(&mut self, inputs: &[Block]) {
        for (row, pair) in inputs.chunks_exact(2).enumerate() {
            let sum = (pair[0] ^ pair[1]).masked(pair[0].lsb());
            self.table[row] = [pair[0], pair[1]];
            self.hashes[row] = pair[0] ^ sum;
        }
    }

    fn run(&mut self) {
        let decoded = decode(&self.hashes, &self.table, &mut self.bits);
        black_box((decoded.expect("one of two"), &self.bits));
    }
}
