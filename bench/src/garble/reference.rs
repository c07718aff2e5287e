//! The reference: one gate of one row at a time, as garblers are written that do not batch.
//!
//! Every gate loads its labels, hashes those side by side, as many as it has, and stores the result
//! before the next gate begins. So AES units wait for one gate's chain of rounds, and what fills
//! them is only what the processor overlaps by looking ahead.
//!
//! The machine of room `garble` cannot stand for this: it takes sixteen pairs of gate and row in a
//! turn, and one pair alone would pay for sixteen. Hashes, equations, tweaks and the order of table
//! bytes are those of [`sealane_block::hash`], [`sealane_garble::half_gates`] and
//! [`sealane_garble::prf`], so both make the same tables on one row; a test compares them byte by
//! byte.
//!
//! Wide vectors are of no use to one gate, so the reference is measured with AES-NI. It is small
//! and plain, and nothing of it is meant for secrets.

use std::convert::Infallible;

use sealane_block::aes::SlicedKeys;
use sealane_block::{Block, Cpu, Kernel, Lanes, Tweak};
use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, Gate, ONE, ZERO};
use sealane_garble::{Ports, Scheme, Tables};

/// One side of one instance, without batches.
pub struct Reference {
    /// The tier.
    pub cpu: Cpu,
    /// The scheme.
    pub scheme: Scheme,
    /// The public seed.
    pub seed: Block,
    /// The garbler's offset; none at the evaluator.
    pub delta: Option<Block>,
}

impl Reference {
    /// Garbles or evaluates a tape on one row, as the given call.
    pub fn run(
        &self,
        (tape, call): (&Tape, u64),
        slots: &mut Vec<Block>,
        ports: &mut impl Ports,
        tables: &mut impl Tables<Error = Infallible>,
    ) {
        let labels = if self.delta.is_some() {
            self.scheme.labels()
        } else {
            1
        };
        slots.resize(tape.slots as usize * labels, Block::ZERO);
        let range = |slot: u32| slot as usize * labels..(slot as usize + 1) * labels;
        for (slot, values) in [ZERO, ONE].into_iter().zip(self.constants()) {
            slots[range(slot)].copy_from_slice(&values[..labels]);
        }
        for input in 0..tape.inputs {
            ports.load(input as usize, 0, &mut slots[range(FIRST_INPUT + input)]);
        }
        self.cpu.run(Gates {
            side: self,
            tape,
            call,
            labels,
            slots,
            tables,
        });
        for (output, slot) in tape.outputs.iter().enumerate() {
            ports.store(output, 0, &slots[range(*slot)]);
        }
    }

    /// The labels of 0 and 1, each for the values 0 and 1.
    fn constants(&self) -> [[Block; 2]; 2] {
        match (self.delta, self.scheme) {
            (None, _) => [[Block::ZERO; 2]; 2],
            (Some(delta), Scheme::Prf) => {
                let other = with_signal(delta, SIGNAL);
                [[Block::ZERO, other], [other, Block::ZERO]]
            }
            (Some(delta), _) => [[Block::ZERO; 2], [delta; 2]],
        }
    }

    /// Hashes of labels, each with its tweak; with PRF, F of the labels. Up to four labels have
    /// keys of their own where the scheme has such; a fifth one is the first one again.
    #[inline(always)]
    fn hash<L: Lanes, const N: usize>(
        &self,
        l: L,
        fixed: &RoundKeys<L>,
        tweaks: [Block; N],
        labels: [Block; N],
    ) -> [Block; N] {
        let (mut t, mut x) = ([l.splat(Block::ZERO); N], [l.splat(Block::ZERO); N]);
        for i in 0..N {
            t[i] = l.splat(tweaks[i]);
            x[i] = l.splat(labels[i]);
        }
        let hashes = match self.scheme {
            Scheme::Prp => {
                let s = sigma(l, x);
                xor(l, encrypt(l, fixed, xor(l, s, t)), s)
            }
            Scheme::Tccr => {
                let once = encrypt(l, fixed, x);
                xor(l, encrypt(l, fixed, xor(l, once, t)), once)
            }
            Scheme::Mi => {
                let s = sigma(l, x);
                let keys = xor(l, [l.splat(self.seed); N], t);
                xor(l, encrypt(l, &expand(l, four_of(keys)), s), s)
            }
            Scheme::Circ | Scheme::Prf => encrypt(l, &expand(l, four_of(x)), t),
        };
        let mut out = [Block::ZERO; N];
        for i in 0..N {
            let mut blocks = [Block::ZERO; 4];
            l.store(&mut blocks, hashes[i]);
            out[i] = blocks[0];
        }
        out
    }

    /// An AND: labels of inputs to labels of the output; the table is written, or read.
    #[inline(always)]
    fn and<L: Lanes>(
        &self,
        l: L,
        fixed: &RoundKeys<L>,
        tweak: Tweak,
        [a, b]: [[Block; 2]; 2],
        table: &mut [Block; 2],
    ) -> [Block; 2] {
        match (self.scheme, self.delta) {
            (Scheme::Prf, Some(_)) => {
                let ([i0, i1], [j0, j1]) = (exchanged(a, a[0]), exchanged(b, b[0]));
                // Row xy has the part AND + 2x + y.
                let parts = [0, 2, 0, 1, 1, 3, 2, 3].map(|row| part(tweak, AND + row));
                let keys = [i0, i1, j0, j1, i0, i1, j0, j1];
                let [i00, i10, j00, j01, i01, i11, j10, j11] = self.hash(l, fixed, parts, keys);
                garble_prf(
                    [i00 ^ j00, i01 ^ j01, i10 ^ j10, i11 ^ j11],
                    [a[0], b[0]],
                    table,
                )
            }
            (Scheme::Prf, None) => {
                let [a, b] = [a[0], b[0]];
                let row = part(tweak, AND + 2 * u32::from(a.lsb()) + u32::from(b.lsb()));
                let [f_a, f_b] = self.hash(l, fixed, [row; 2], [a, b]);
                let first = masked(table[0], b);
                let c = f_a ^ f_b ^ first ^ masked(table[1], a);
                let last = Block::new((masked(first, a).value() >> 1) & 1);
                [with_signal(c, c ^ last); 2]
            }
            (_, Some(delta)) => {
                let [a, b] = [a[0], b[0]];
                let parts = [0, 0, 1, 1].map(|half| part(tweak, half));
                let labels = [a, a ^ delta, b, b ^ delta];
                let [a0, a1, b0, b1] = self.hash(l, fixed, parts, labels);
                let g = a0 ^ a1 ^ masked(delta, b);
                let e = b0 ^ b1 ^ a;
                *table = [g, e];
                [a0 ^ masked(g, a) ^ b0 ^ masked(e ^ a, b); 2]
            }
            (_, None) => {
                let [a, b] = [a[0], b[0]];
                let parts = [0, 1].map(|half| part(tweak, half));
                let [h_a, h_b] = self.hash(l, fixed, parts, [a, b]);
                [h_a ^ masked(table[0], a) ^ h_b ^ masked(table[1] ^ a, b); 2]
            }
        }
    }

    /// An XOR without free XOR. `lone` is as in a tape.
    #[inline(always)]
    fn xor<L: Lanes>(
        &self,
        l: L,
        fixed: &RoundKeys<L>,
        (tweak, lone): (Tweak, bool),
        [a, b]: [[Block; 2]; 2],
        table: &mut Block,
    ) -> [Block; 2] {
        let (x, y) = (part(tweak, X), part(tweak, Y));
        if self.delta.is_some() {
            let ([i0, i1], [j0, j1]) = (exchanged(a, a[0]), exchanged(b, b[0]));
            let (x0, x1, y0, f_j1) = if lone {
                let [x0, x1, f_j1] = self.hash(l, fixed, [x, x, y], [i0, i1, j1]);
                (x0, x1, j0, f_j1)
            } else {
                let [x0, x1, f_j0, f_j1] = self.hash(l, fixed, [x, x, y, y], [i0, i1, j0, j1]);
                (x0, x1, f_j0, f_j1)
            };
            *table = (x0 ^ x1 ^ y0 ^ f_j1) & RANDOM;
            let signal = a[0] ^ b[0];
            let [zero, one] = exchanged([x0 ^ y0, x1 ^ y0], signal);
            [with_signal(zero, signal), with_signal(one, signal ^ SIGNAL)]
        } else {
            let [a, b] = [a[0], b[0]];
            let [x, f_b] = self.hash(l, fixed, [x, y], [a, b]);
            let zero = if lone { b } else { f_b };
            let [y, _] = exchanged([zero, f_b ^ *table], b);
            [with_signal(x ^ y, a ^ b); 2]
        }
    }
}

struct Gates<'a, T> {
    side: &'a Reference,
    tape: &'a Tape,
    call: u64,
    /// Labels that this side holds of a wire.
    labels: usize,
    slots: &'a mut [Block],
    tables: &'a mut T,
}

impl<T: Tables<Error = Infallible>> Kernel for Gates<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let fixed = expand(l, [l.splat(self.side.seed); 4]);
        for batch in &self.tape.batches {
            for i in batch.xors.start as usize..batch.xors.end as usize {
                self.xor(l, &fixed, &self.tape.xors[i], self.tape.lone[i]);
            }
            for gate in &self.tape.ands[batch.ands.start as usize..batch.ands.end as usize] {
                let inputs = [self.load(gate.a), self.load(gate.b)];
                let Ok(bytes) = self.tables.next(32);
                let mut table = [read(bytes, 0), read(bytes, 16)];
                let at = tweak(gate, self.call);
                let out = self.side.and(l, &fixed, at, inputs, &mut table);
                bytes[..16].copy_from_slice(&table[0].to_bytes());
                bytes[16..32].copy_from_slice(&table[1].to_bytes());
                let Ok(()) = self.tables.pass(32);
                self.store(gate.out, out);
            }
        }
    }
}

impl<T: Tables<Error = Infallible>> Gates<'_, T> {
    #[inline(always)]
    fn xor<L: Lanes>(&mut self, l: L, fixed: &RoundKeys<L>, gate: &Gate, lone: bool) {
        let inputs = [self.load(gate.a), self.load(gate.b)];
        let out = if self.side.scheme != Scheme::Prf {
            [inputs[0][0] ^ inputs[1][0]; 2]
        } else if let Some(out) = copied(gate, inputs, self.labels) {
            out
        } else {
            let Ok(bytes) = self.tables.next(16);
            let mut table = read(bytes, 0);
            let at = (tweak(gate, self.call), lone);
            let out = self.side.xor(l, fixed, at, inputs, &mut table);
            bytes[..16].copy_from_slice(&table.to_bytes());
            let Ok(()) = self.tables.pass(16);
            out
        };
        self.store(gate.out, out);
    }

    #[inline(always)]
    fn load(&self, slot: u32) -> [Block; 2] {
        let at = slot as usize * self.labels;
        [self.slots[at], self.slots[at + self.labels - 1]]
    }

    #[inline(always)]
    fn store(&mut self, slot: u32, labels: [Block; 2]) {
        let at = slot as usize * self.labels;
        self.slots[at + self.labels - 1] = labels[1];
        self.slots[at] = labels[0];
    }
}

/// Round keys of four keys.
type RoundKeys<L> = [[<L as Lanes>::V; 4]; 11];

#[inline(always)]
fn expand<L: Lanes>(l: L, keys: [L::V; 4]) -> RoundKeys<L> {
    let mut round_keys = [keys; 11];
    let mut sliced = SlicedKeys::from_keys(l, keys);
    for round in 1..=10 {
        sliced.advance(l, round);
        round_keys[round] = sliced.keys(l);
    }
    round_keys
}

/// Encrypts block i under key i, the fifth under the first again.
#[inline(always)]
fn encrypt<L: Lanes, const N: usize>(
    l: L,
    keys: &RoundKeys<L>,
    mut states: [L::V; N],
) -> [L::V; N] {
    for i in 0..N {
        states[i] = l.xor(states[i], keys[0][i % 4]);
    }
    for round in 1..10 {
        for i in 0..N {
            states[i] = l.aes_round(states[i], keys[round][i % 4]);
        }
    }
    for i in 0..N {
        states[i] = l.aes_last(states[i], keys[10][i % 4]);
    }
    states
}

#[inline(always)]
fn four_of<V: Copy, const N: usize>(values: [V; N]) -> [V; 4] {
    let mut four = [values[0]; 4];
    for i in 0..4 {
        four[i] = values[i % N];
    }
    four
}

#[inline(always)]
fn sigma<L: Lanes, const N: usize>(l: L, mut x: [L::V; N]) -> [L::V; N] {
    for i in 0..N {
        x[i] = l.sigma(x[i]);
    }
    x
}

#[inline(always)]
fn xor<L: Lanes, const N: usize>(l: L, mut x: [L::V; N], y: [L::V; N]) -> [L::V; N] {
    for i in 0..N {
        x[i] = l.xor(x[i], y[i]);
    }
    x
}

/// Table and output labels from the K of the four rows and the labels of 0 of the inputs.
#[inline(always)]
fn garble_prf(k: [Block; 4], [a, b]: [Block; 2], table: &mut [Block; 2]) -> [Block; 2] {
    let sum = k[0] ^ k[1] ^ k[2] ^ k[3];
    let (first, second) = (k[0] ^ k[1], k[0] ^ k[2]);
    let (na, nb) = (masked(Block::ONES, a), masked(Block::ONES, b));
    let last = Block::new(((sum.value() & 1) ^ 1) << 1);
    *table = [
        with_signal(first ^ (na & sum), first ^ na) ^ last,
        with_signal(second ^ (nb & sum), second ^ nb),
    ];
    let (c, signal) = (k[0] ^ (na & nb & sum), k[0] ^ (na & nb));
    [
        with_signal(c, signal),
        with_signal(c ^ sum, signal ^ SIGNAL),
    ]
}

/// Inputs of F, as parts of a tweak.
const AND: u32 = 4;
const X: u32 = 8;
const Y: u32 = 9;
/// The bits of a label that are random.
const RANDOM: Block = Block::new(!3);
const SIGNAL: Block = Block::new(1);

#[inline(always)]
fn tweak(gate: &Gate, call: u64) -> Tweak {
    Tweak {
        gate: gate.number,
        call,
        row: 0,
        part: 0,
    }
}

#[inline(always)]
fn part(tweak: Tweak, part: u32) -> Block {
    Tweak { part, ..tweak }.block()
}

#[inline(always)]
fn read(bytes: &[u8], at: usize) -> Block {
    let mut block = [0; 16];
    block.copy_from_slice(&bytes[at..at + 16]);
    Block::from_bytes(block)
}

/// The output of an XOR with a constant, without free XOR: the other wire's labels.
#[inline(always)]
fn copied(gate: &Gate, [a, b]: [[Block; 2]; 2], labels: usize) -> Option<[Block; 2]> {
    let constant = |slot: u32| slot == ZERO || slot == ONE;
    let (from, other) = match (constant(gate.a), constant(gate.b)) {
        (true, _) => (b, gate.a),
        (false, true) => (a, gate.b),
        (false, false) => return None,
    };
    let exchange = labels == 2 && other == ONE;
    Some(if exchange { [from[1], from[0]] } else { from })
}

/// This block if the lowest bit of the other one is set.
#[inline(always)]
fn masked(block: Block, by: Block) -> Block {
    block & Block::new((by.value() & 1).wrapping_neg())
}

/// The random bits of one block, the signal of another.
#[inline(always)]
fn with_signal(random: Block, signal: Block) -> Block {
    (random & RANDOM) ^ (signal & SIGNAL)
}

/// The pair, or exchanged where the lowest bit of `by` is set.
#[inline(always)]
fn exchanged([zero, one]: [Block; 2], by: Block) -> [Block; 2] {
    let change = masked(zero ^ one, by);
    [zero ^ change, one ^ change]
}
