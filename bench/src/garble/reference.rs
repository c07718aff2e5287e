//! The reference: one gate of one row at a time, as in garblers without batching.
//!
//! Every gate loads its labels, hashes those side by side, as many as it has, and stores the result
//! before the next gate begins. So AES units wait for one gate's chain of rounds, and are filled
//! only as far as the processor overlaps gates by out-of-order execution.
//!
//! The machine of crate `garble` cannot serve as this reference: it takes sixteen pairs of gate and
//! row in a turn, and one pair alone would pay for sixteen. Hashes, equations, tweaks and the order
//! of table bytes are those of [`sealane_block::hash`], [`sealane_garble::half_gates`] and
//! [`sealane_garble::prf`], so both make the same tables on one row; a test compares them byte by
//! byte.
//!
//! Wide vectors are of no use to one gate, so the reference is measured with AES-NI. It is small
//! and plain, and not meant for secrets.

// Kernels index several small arrays in step; a constant range says so, and it unrolls.
#![allow(clippy::needless_range_loop)]

use std::convert::Infallible;

use sealane_block::fresh::SlicedKeys;
use sealane_block::{Block, Cpu, Kernel, Lanes, Tweak};
use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, Gate, ONE, ZERO};
use sealane_garble::{Ports, Scheme, Tables};

/// Returns the scheme whose reference is used for another: three-halves has none of its own, and is
/// compared with half-gates under the same hash.
pub fn of(scheme: Scheme) -> Scheme {
    match scheme {
        Scheme::ThreeHalves => Scheme::Mi,
        own => own,
    }
}

/// One side of one instance, without batches.
pub struct Reference {
    /// The tier.
    pub cpu: Cpu,
    /// The scheme: one that is its own reference, see [`of`].
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
        let inputs = range(FIRST_INPUT).start..range(FIRST_INPUT + tape.inputs).start;
        ports.load(0, labels, &mut slots[inputs]);
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
                let other = (delta & RANDOM) ^ SIGNAL;
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
        x: [L::V; N],
    ) -> [L::V; N] {
        let mut t = x;
        for i in 0..N {
            t[i] = l.splat(tweaks[i]);
        }
        match self.scheme {
            Scheme::Prp => {
                let s = sigma(l, x);
                xor_each(l, encrypt(l, fixed, xor_each(l, s, t)), s)
            }
            Scheme::Tccr => {
                let once = encrypt(l, fixed, x);
                xor_each(l, encrypt(l, fixed, xor_each(l, once, t)), once)
            }
            Scheme::Mi | Scheme::ThreeHalves => {
                let s = sigma(l, x);
                let keys = expand(l, four_of(xor_each(l, [l.splat(self.seed); N], t)));
                xor_each(l, encrypt(l, &keys, s), s)
            }
            Scheme::Circ | Scheme::Prf => {
                let inputs = xor_each(l, [l.splat(self.seed); N], t);
                encrypt(l, &expand(l, four_of(x)), inputs)
            }
        }
    }

    /// An AND: labels of inputs to labels of the output; the table is written, or read.
    #[inline(always)]
    fn and<L: Lanes>(
        &self,
        l: L,
        fixed: &RoundKeys<L>,
        tweak: Tweak,
        [a, b]: [[Block; 2]; 2],
        table: &mut [L::V; 2],
    ) -> [L::V; 2] {
        let row = 2 * u32::from(a[0].lsb()) + u32::from(b[0].lsb());
        let ([a, a_one], [b, b_one]) = (splat(l, a), splat(l, b));
        let [na, nb] = [l.permute_mask(a), l.permute_mask(b)];
        match (self.scheme, self.delta) {
            (Scheme::Prf, Some(_)) => {
                let ([i0, i1], [j0, j1]) =
                    (exchanged(l, [a, a_one], na), exchanged(l, [b, b_one], nb));
                let a = |row| part(tweak, AND_A + row);
                let b = |row| part(tweak, AND_B + row);
                let parts = [a(0), a(2), b(0), b(1), a(1), a(3), b(2), b(3)];
                let keys = [i0, i1, j0, j1, i0, i1, j0, j1];
                let [i00, i10, j00, j01, i01, i11, j10, j11] = self.hash(l, fixed, parts, keys);
                let k = xor_each(l, [i00, i01, i10, i11], [j00, j01, j10, j11]);
                garble_prf(l, k, [na, nb], table)
            }
            (Scheme::Prf, None) => {
                let parts = [part(tweak, AND_A + row), part(tweak, AND_B + row)];
                let [f_a, f_b] = self.hash(l, fixed, parts, [a, b]);
                let first = l.and(nb, table[0]);
                let rows = l.xor(first, l.and(na, table[1]));
                let c = l.xor(l.xor(f_a, f_b), rows);
                let last = l.shr64::<1>(l.and(na, first));
                [with_signal(l, c, l.xor(c, last)); 2]
            }
            (_, Some(delta)) => {
                let delta = l.splat(delta);
                let parts = [0, 0, 1, 1].map(|half| part(tweak, half));
                let labels = [a, l.xor(a, delta), b, l.xor(b, delta)];
                let [a0, a1, b0, b1] = self.hash(l, fixed, parts, labels);
                let g = l.xor(l.xor(a0, a1), l.and(nb, delta));
                let sum = l.xor(b0, b1);
                *table = [g, l.xor(sum, a)];
                let (w_g, w_e) = (l.xor(a0, l.and(na, g)), l.xor(b0, l.and(nb, sum)));
                [l.xor(w_g, w_e); 2]
            }
            (_, None) => {
                let parts = [0, 1].map(|half| part(tweak, half));
                let [h_a, h_b] = self.hash(l, fixed, parts, [a, b]);
                let w_g = l.xor(h_a, l.and(na, table[0]));
                let w_e = l.xor(h_b, l.and(nb, l.xor(table[1], a)));
                [l.xor(w_g, w_e); 2]
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
        table: &mut L::V,
    ) -> [L::V; 2] {
        let (x, y) = (part(tweak, X), part(tweak, Y));
        let ([a, a_one], [b, b_one]) = (splat(l, a), splat(l, b));
        let (signal, by) = (l.xor(a, b), l.permute_mask(b));
        if self.delta.is_some() {
            let [i0, i1] = exchanged(l, [a, a_one], l.permute_mask(a));
            let [j0, j1] = exchanged(l, [b, b_one], by);
            let [x0, x1, y0, f_j1] = if lone {
                let [x0, x1, f_j1] = self.hash(l, fixed, [x, x, y], [i0, i1, j1]);
                [x0, x1, j0, f_j1]
            } else {
                self.hash(l, fixed, [x, x, y, y], [i0, i1, j0, j1])
            };
            let sum = l.xor(l.xor(x0, x1), l.xor(y0, f_j1));
            *table = l.and(sum, l.splat(RANDOM));
            let outputs = [l.xor(x0, y0), l.xor(x1, y0)];
            let [zero, one] = exchanged(l, outputs, l.permute_mask(signal));
            let other = l.xor(signal, l.splat(SIGNAL));
            [with_signal(l, zero, signal), with_signal(l, one, other)]
        } else {
            let [x, f_b] = self.hash(l, fixed, [x, y], [a, b]);
            let zero = if lone { b } else { f_b };
            let [y, _] = exchanged(l, [zero, l.xor(f_b, *table)], by);
            [with_signal(l, l.xor(x, y), signal); 2]
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
                let mut table = splat(l, [read(bytes, 0), read(bytes, 16)]);
                let at = tweak(gate, self.call);
                let out = self.side.and(l, &fixed, at, inputs, &mut table);
                bytes[..16].copy_from_slice(&first(l, table[0]).to_bytes());
                bytes[16..32].copy_from_slice(&first(l, table[1]).to_bytes());
                let Ok(()) = self.tables.pass(32);
                self.store(gate.out, [first(l, out[0]), first(l, out[1])]);
            }
        }
    }
}

impl<T: Tables<Error = Infallible>> Gates<'_, T> {
    #[inline(always)]
    fn xor<L: Lanes>(&mut self, l: L, fixed: &RoundKeys<L>, gate: &Gate, lone: bool) {
        let inputs = [self.load(gate.a), self.load(gate.b)];
        let out = if self.side.scheme != Scheme::Prf {
            let sum = l.xor(l.splat(inputs[0][0]), l.splat(inputs[1][0]));
            [first(l, sum); 2]
        } else if let Some(out) = copied(gate, inputs, self.labels) {
            out
        } else {
            let Ok(bytes) = self.tables.next(16);
            let mut table = l.splat(read(bytes, 0));
            let at = (tweak(gate, self.call), lone);
            let [zero, one] = self.side.xor(l, fixed, at, inputs, &mut table);
            bytes[..16].copy_from_slice(&first(l, table).to_bytes());
            let Ok(()) = self.tables.pass(16);
            [first(l, zero), first(l, one)]
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
        round_keys[round] = sliced.keys(l, round);
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
fn xor_each<L: Lanes, const N: usize>(l: L, mut x: [L::V; N], y: [L::V; N]) -> [L::V; N] {
    for i in 0..N {
        x[i] = l.xor(x[i], y[i]);
    }
    x
}

/// Table and output labels from the K of the four rows and the masks of the inputs' labels of 0.
#[inline(always)]
fn garble_prf<L: Lanes>(
    l: L,
    k: [L::V; 4],
    [na, nb]: [L::V; 2],
    table: &mut [L::V; 2],
) -> [L::V; 2] {
    let signal = l.splat(SIGNAL);
    let (first, second) = (l.xor(k[0], k[1]), l.xor(k[0], k[2]));
    let sum = l.xor(first, l.xor(k[2], k[3]));
    let last = l.shl64::<1>(l.xor(l.and(sum, signal), signal));
    let rows = [l.xor(first, l.and(na, sum)), l.xor(second, l.and(nb, sum))];
    *table = [
        l.xor(with_signal(l, rows[0], l.xor(first, na)), last),
        with_signal(l, rows[1], l.xor(second, nb)),
    ];
    let nor = l.and(na, nb);
    let (c, of_c) = (l.xor(k[0], l.and(nor, sum)), l.xor(k[0], nor));
    let one = with_signal(l, l.xor(c, sum), l.xor(of_c, signal));
    [with_signal(l, c, of_c), one]
}

/// Inputs of F, as parts of a tweak.
const AND_A: u32 = 4;
const AND_B: u32 = 8;
const X: u32 = 12;
const Y: u32 = 13;
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

#[inline(always)]
fn splat<L: Lanes>(l: L, [zero, one]: [Block; 2]) -> [L::V; 2] {
    [l.splat(zero), l.splat(one)]
}

/// The first block of a vector.
#[inline(always)]
fn first<L: Lanes>(l: L, v: L::V) -> Block {
    let mut blocks = [Block::ZERO; 4];
    l.store(&mut blocks, v);
    blocks[0]
}

/// The random bits of one vector, the signal of another.
#[inline(always)]
fn with_signal<L: Lanes>(l: L, random: L::V, signal: L::V) -> L::V {
    let (random, signal) = (
        l.and(random, l.splat(RANDOM)),
        l.and(signal, l.splat(SIGNAL)),
    );
    l.xor(random, signal)
}

/// The pair, or exchanged where the mask is set.
#[inline(always)]
fn exchanged<L: Lanes>(l: L, [zero, one]: [L::V; 2], by: L::V) -> [L::V; 2] {
    let change = l.and(l.xor(zero, one), by);
    [l.xor(zero, change), l.xor(one, change)]
}
