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

/// Work on a state that inputs change before the clock starts.
struct Work<S, P, R> {
    state: S,
    prepare: P,
    run: R,
}

impl<S, P: FnMut(&mut S, &[Block]), R: FnMut(&mut S)> TimedWork for Work<S, P, R> {
    fn prepare(&mut self, inputs: &[Block]) {
        (self.prepare)(&mut self.state, inputs);
    }

    fn run(&mut self) {
        (self.run)(&mut self.state);
    }
}

/// Work on `state`, which `prepare` changes and `run` reads in the timed part.
pub fn work<S>(
    state: S,
    prepare: impl FnMut(&mut S, &[Block]),
    run: impl FnMut(&mut S),
) -> impl TimedWork {
    Work {
        state,
        prepare,
        run,
    }
}

/// A batch of both gates, as crate `garble` evaluates it.
pub fn evaluation(cpu: Cpu, scheme: Scheme, known: bool) -> impl TimedWork {
    let (tape, mut tables) = (gates(known), Same::new());
    let mut evaluator = Evaluator::new(cpu, scheme, Block::new(4711));
    evaluator.set_roles(ROLES);
    let prepare = |labels: &mut Labels, inputs: &[Block]| labels.inputs.copy_from_slice(inputs);
    work(Labels::new(&tape, ROWS, 1), prepare, move |labels| {
        let Ok(()) = evaluator.evaluate(&tape, ROWS, labels, &mut tables);
    })
}

/// A batch of both gates, as crate `garble` garbles it.
pub fn garbling(cpu: Cpu, scheme: Scheme, known: bool) -> impl TimedWork {
    let (tape, mut tables) = (gates(known), Same::new());
    let mut coins = Coins::danger_fixed_seed(2);
    let seed = coins.public("hash").block();
    let mut garbler = Garbler::new(cpu, scheme, seed, &mut coins);
    garbler.set_roles(ROLES);
    let prepare = |labels: &mut Labels, inputs: &[Block]| {
        let (zeros, ones) = labels.inputs.split_at_mut(inputs.len());
        zeros.copy_from_slice(inputs);
        // Without free XOR, the label of 1 as well: another one, with the other permute bit.
        for (one, zero) in ones.iter_mut().zip(inputs) {
            *one = *zero ^ Block::new(0x5a5b);
        }
    };
    let labels = Labels::new(&tape, ROWS, scheme.labels());
    work(labels, prepare, move |labels| {
        let Ok(()) = garbler.garble(&tape, ROWS, labels, &mut tables);
    })
}

/// The opening of a message whose tag is wrong in one byte.
pub fn opening(cpu: Cpu, suite: Suite) -> impl TimedWork {
    /// Bytes of the text.
    const TEXT: usize = 32;
    let (key, nonce) = (vec![5; suite.key_bytes()], vec![6; suite.nonce_bytes()]);
    let cipher = move || Cipher::new(cpu, suite, &key).expect("a key of this length");
    let sealed = cipher().seal(&nonce, &[], &[7; TEXT]);
    let sealed = sealed.expect("the lengths are in order");
    let state = (cipher(), sealed.clone());
    let prepare = move |(own, forged): &mut (Cipher, Vec<u8>), inputs: &[Block]| {
        // A key that has refused too much may refuse everything.
        *own = cipher();
        forged.copy_from_slice(&sealed);
        let tag = sealed.len() - suite.tag_bytes();
        forged[tag + first_wrong(inputs, suite.tag_bytes())] ^= 0x80;
    };
    work(state, prepare, move |(cipher, forged)| {
        let opened = cipher.open_in_place(&nonce, &[], forged, Some(TEXT));
        assert!(opened.is_err());
    })
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
pub fn branching() -> impl TimedWork {
    let cpu = *Cpu::available().last().expect("the portable tier");
    let hash = Prp::new(cpu, Block::new(4711));
    let prepare = |state: &mut [Vec<Block>; 2], inputs: &[Block]| {
        *state = [inputs.to_vec(), inputs.to_vec()];
    };
    work([vec![], vec![]], prepare, move |[inputs, hashes]| {
        hash.hash(cpu, Tweak::default(), hashes);
        for (label, hash) in inputs.iter().zip(&mut *hashes) {
            if label.lsb() == 1 {
                add(hash, Block::new(0x5a5a));
            }
        }
        black_box(hashes);
    })
}

/// A call, which no compiler turns into a mask.
#[inline(never)]
fn add(hash: &mut Block, row: Block) {
    *hash ^= black_box(row);
}

/// A tag that is compared byte by byte, up to the first wrong one.
pub fn eager() -> impl TimedWork {
    let prepare = |tag: &mut [u8; 16], inputs: &[Block]| {
        *tag = [0; 16];
        tag[first_wrong(inputs, 16)] = 1;
    };
    work([0; 16], prepare, |tag| {
        // A call for each byte, which no compiler turns into one comparison of all.
        let is_right = |byte: &u8| black_box(*byte) == 0;
        black_box(tag.iter().all(is_right));
    })
}

/// A receiver of results finds which of two hashes the third one is. The secrets are the results.
pub fn receiving() -> impl TimedWork {
    type State = ([Block; ROWS], [[Block; 2]; ROWS]);
    let prepare = |(hashes, table): &mut State, inputs: &[Block]| {
        for (row, pair) in inputs.chunks_exact(2).enumerate() {
            let sum = (pair[0] ^ pair[1]).masked(pair[0].lsb());
            table[row] = [pair[0], pair[1]];
            hashes[row] = pair[0] ^ sum;
        }
    };
    let state = ([Block::ZERO; ROWS], [[Block::ZERO; 2]; ROWS]);
    work(state, prepare, |(hashes, table)| {
        let mut bits = [0; ROWS];
        let decoded = decode(hashes, table, &mut bits);
        black_box((decoded.expect("one of two"), &bits));
    })
}
