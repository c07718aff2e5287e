//! The reference: one gate of one row at a time, as garblers are written that do not batch.
//!
//! Every gate loads its labels, hashes all of them side by side, as many as it has, and stores the
//! result before the next gate begins. So AES units wait for one gate's chain of rounds and nothing
//! else fills them; the processor itself overlaps gates as far as it looks ahead.
//!
//! The machine of room `garble` cannot stand for this: it takes sixteen pairs of gate and row in a
//! turn, and one pair alone would pay for sixteen. Equations, tweaks and order of table bytes are
//! those of that room ([`sealane_garble::half_gates`], [`sealane_garble::prf`]), so both make the
//! same tables on one row; a test compares them byte by byte.
//!
//! Wide vectors are of no use to one gate, so the reference is measured with AES-NI. It is slow
//! and small, and nothing of it is meant for secrets.

use std::convert::Infallible;

use sealane_block::aes::FreshKeys;
use sealane_block::hash::HashLanes;
use sealane_block::{Block, Cpu, Group, Kernel, LabelHash, Lanes, Tweak};
use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, Gate, ONE, ZERO};
use sealane_garble::{Ports, Tables};

/// What is done to one gate, at one side of one scheme.
pub trait Side {
    /// Labels that this side holds of a wire.
    const LABELS: usize;
    /// Keys inside a kernel.
    type Keys<L: Lanes>;
    /// Brings keys into registers.
    fn keys<L: Lanes>(&self, l: L) -> Self::Keys<L>;
    /// The labels of the constants 0 and 1.
    fn constants(&self) -> [[Block; 2]; 2];
    /// Labels of inputs to labels of the output; the table is written, or read.
    fn and<L: Lanes>(
        &self,
        l: L,
        keys: &mut Self::Keys<L>,
        tweak: Tweak,
        inputs: [[Block; 2]; 2],
        table: &mut [Block; 2],
    ) -> [Block; 2];
    /// The same for an XOR, which has at most the first block of a table. `lone` is as in a tape.
    fn xor<L: Lanes>(
        &self,
        l: L,
        keys: &mut Self::Keys<L>,
        at: (Tweak, bool),
        inputs: [[Block; 2]; 2],
        table: &mut [Block; 2],
    ) -> [Block; 2];
    /// Blocks of table of an XOR without constants.
    const XOR_BLOCKS: usize;
}

/// Runs a tape on one row.
pub fn run<S: Side>(
    cpu: Cpu,
    side: &S,
    (tape, call): (&Tape, u64),
    slots: &mut Vec<Block>,
    ports: &mut impl Ports,
    tables: &mut impl Tables<Error = Infallible>,
) {
    slots.resize(tape.slots as usize * S::LABELS, Block::ZERO);
    let range = |slot: u32| slot as usize * S::LABELS..(slot as usize + 1) * S::LABELS;
    for (slot, labels) in [ZERO, ONE].into_iter().zip(side.constants()) {
        slots[range(slot)].copy_from_slice(&labels[..S::LABELS]);
    }
    for input in 0..tape.inputs {
        ports.load(input as usize, 0, &mut slots[range(FIRST_INPUT + input)]);
    }
    cpu.run(Gates {
        side,
        tape,
        call,
        slots,
        tables,
    });
    for (output, slot) in tape.outputs.iter().enumerate() {
        ports.store(output, 0, &slots[range(*slot)]);
    }
}

struct Gates<'a, S, T> {
    side: &'a S,
    tape: &'a Tape,
    call: u64,
    slots: &'a mut [Block],
    tables: &'a mut T,
}

impl<S: Side, T: Tables<Error = Infallible>> Kernel for Gates<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Gates {
            side,
            tape,
            call,
            slots,
            tables,
        } = self;
        let mut keys = side.keys(l);
        for batch in &tape.batches {
            for i in batch.xors.start as usize..batch.xors.end as usize {
                let (gate, lone) = (&tape.xors[i], tape.lone[i]);
                let inputs = [load::<S>(slots, gate.a), load::<S>(slots, gate.b)];
                let at = (tweak(gate, call), lone);
                let out = if S::XOR_BLOCKS == 0 {
                    side.xor(l, &mut keys, at, inputs, &mut [Block::ZERO; 2])
                } else if let Some(out) = copied(gate, inputs, S::LABELS) {
                    out
                } else {
                    let Ok(bytes) = tables.next(16);
                    let mut table = [read(bytes, 0), Block::ZERO];
                    let out = side.xor(l, &mut keys, at, inputs, &mut table);
                    bytes[..16].copy_from_slice(&table[0].to_bytes());
                    let Ok(()) = tables.pass(16);
                    out
                };
                store::<S>(slots, gate.out, out);
            }
            for gate in &tape.ands[batch.ands.start as usize..batch.ands.end as usize] {
                let inputs = [load::<S>(slots, gate.a), load::<S>(slots, gate.b)];
                let Ok(bytes) = tables.next(32);
                let mut table = [read(bytes, 0), read(bytes, 16)];
                let out = side.and(l, &mut keys, tweak(gate, call), inputs, &mut table);
                bytes[..16].copy_from_slice(&table[0].to_bytes());
                bytes[16..32].copy_from_slice(&table[1].to_bytes());
                let Ok(()) = tables.pass(32);
                store::<S>(slots, gate.out, out);
            }
        }
    }
}

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
fn load<S: Side>(slots: &[Block], slot: u32) -> [Block; 2] {
    let at = slot as usize * S::LABELS;
    [slots[at], slots[at + S::LABELS - 1]]
}

#[inline(always)]
fn store<S: Side>(slots: &mut [Block], slot: u32, labels: [Block; 2]) {
    let at = slot as usize * S::LABELS;
    slots[at] = labels[0];
    slots[at + S::LABELS - 1] = labels[S::LABELS - 1];
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

/// The first four blocks of two quads.
#[inline(always)]
fn quad<L: Lanes>(l: L, blocks: [Block; 4]) -> [L::V; 4] {
    let mut place = Group::ZERO;
    place[..4].copy_from_slice(&blocks);
    l.load_quad(&place[..])
}

#[inline(always)]
fn four<L: Lanes>(l: L, quad: [L::V; 4]) -> [Block; 4] {
    let mut place = Group::ZERO;
    l.store_quad(&mut place[..], quad);
    [place[0], place[1], place[2], place[3]]
}

/// Four hashes of labels with the tweak's parts 0 or 1.
#[inline(always)]
fn hash<L: Lanes, K: HashLanes<L>>(
    l: L,
    keys: &mut K,
    tweak: Tweak,
    parts: [u32; 4],
    labels: [Block; 4],
) -> [Block; 4] {
    let mut tweaks = Group::ZERO;
    for i in 0..4 {
        let part = parts[i];
        tweaks[i] = Tweak { part, ..tweak }.block();
    }
    let (tweaks, labels) = (keys.pairs(l, &tweaks[..]), quad(l, labels));
    // A hash takes two quads: the second is for nothing, and waits where the first one waits.
    let [hashes, _] = keys.one(l, [(tweaks, 0); 2], [labels; 2]);
    four(l, hashes)
}

/// The garbler of half-gates.
pub struct GarbleHalves<H> {
    /// The hash of its instance.
    pub hash: H,
    /// The offset.
    pub delta: Block,
}

impl<H: LabelHash> Side for GarbleHalves<H> {
    const LABELS: usize = 1;
    const XOR_BLOCKS: usize = 0;
    type Keys<L: Lanes> = H::Lanes<L>;

    #[inline(always)]
    fn keys<L: Lanes>(&self, l: L) -> H::Lanes<L> {
        self.hash.lanes(l)
    }
    fn constants(&self) -> [[Block; 2]; 2] {
        [[Block::ZERO; 2], [self.delta; 2]]
    }
    #[inline(always)]
    fn and<L: Lanes>(
        &self,
        l: L,
        keys: &mut H::Lanes<L>,
        tweak: Tweak,
        [[a, _], [b, _]]: [[Block; 2]; 2],
        table: &mut [Block; 2],
    ) -> [Block; 2] {
        let delta = self.delta;
        let labels = [a, a ^ delta, b, b ^ delta];
        let [a0, a1, b0, b1] = hash(l, keys, tweak, [0, 0, 1, 1], labels);
        let g = a0 ^ a1 ^ masked(delta, b);
        let e = b0 ^ b1 ^ a;
        *table = [g, e];
        [a0 ^ masked(g, a) ^ b0 ^ masked(e ^ a, b); 2]
    }
    #[inline(always)]
    fn xor<L: Lanes>(
        &self,
        _: L,
        _: &mut H::Lanes<L>,
        _: (Tweak, bool),
        [[a, _], [b, _]]: [[Block; 2]; 2],
        _: &mut [Block; 2],
    ) -> [Block; 2] {
        [a ^ b; 2]
    }
}

/// The evaluator of half-gates.
pub struct EvaluateHalves<H> {
    /// The hash of its instance.
    pub hash: H,
}

impl<H: LabelHash> Side for EvaluateHalves<H> {
    const LABELS: usize = 1;
    const XOR_BLOCKS: usize = 0;
    type Keys<L: Lanes> = H::Lanes<L>;

    #[inline(always)]
    fn keys<L: Lanes>(&self, l: L) -> H::Lanes<L> {
        self.hash.lanes(l)
    }
    fn constants(&self) -> [[Block; 2]; 2] {
        [[Block::ZERO; 2]; 2]
    }
    #[inline(always)]
    fn and<L: Lanes>(
        &self,
        l: L,
        keys: &mut H::Lanes<L>,
        tweak: Tweak,
        [[a, _], [b, _]]: [[Block; 2]; 2],
        table: &mut [Block; 2],
    ) -> [Block; 2] {
        let [h_a, h_b, ..] = hash(l, keys, tweak, [0, 1, 0, 1], [a, b, a, b]);
        [h_a ^ masked(table[0], a) ^ h_b ^ masked(table[1] ^ a, b); 2]
    }
    #[inline(always)]
    fn xor<L: Lanes>(
        &self,
        _: L,
        _: &mut H::Lanes<L>,
        _: (Tweak, bool),
        [[a, _], [b, _]]: [[Block; 2]; 2],
        _: &mut [Block; 2],
    ) -> [Block; 2] {
        [a ^ b; 2]
    }
}

/// Inputs of F, as parts of a tweak.
const AND: u32 = 4;
const X: u32 = 8;
const Y: u32 = 9;
/// The bits of a label that are random.
const RANDOM: Block = Block::new(!3);
const SIGNAL: Block = Block::new(1);

/// F under four keys, twice.
#[inline(always)]
fn f<L: Lanes>(
    l: L,
    keys: &mut FreshKeys<L>,
    tweak: Tweak,
    labels: [Block; 4],
    parts: [[u32; 4]; 2],
) -> [[Block; 4]; 2] {
    let mut inputs = [[Block::ZERO; 4]; 2];
    for i in 0..8 {
        let part = parts[i / 4][i % 4];
        inputs[i / 4][i % 4] = Tweak { part, ..tweak }.block();
    }
    let labels = quad(l, labels);
    keys.expand_keys(l, [labels; 2]);
    let [first, second] = keys.encrypt(l, [quad(l, inputs[0]), quad(l, inputs[1])]);
    [four(l, first), four(l, second)]
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

/// The garbler without free XOR.
pub struct GarblePrf {
    /// The offset, whose bits make the label that no constant has.
    pub delta: Block,
}

impl Side for GarblePrf {
    const LABELS: usize = 2;
    const XOR_BLOCKS: usize = 1;
    type Keys<L: Lanes> = FreshKeys<L>;

    #[inline(always)]
    fn keys<L: Lanes>(&self, l: L) -> FreshKeys<L> {
        FreshKeys::new(l)
    }
    fn constants(&self) -> [[Block; 2]; 2] {
        let other = with_signal(self.delta, SIGNAL);
        [[Block::ZERO, other], [other, Block::ZERO]]
    }
    #[inline(always)]
    fn and<L: Lanes>(
        &self,
        l: L,
        keys: &mut FreshKeys<L>,
        tweak: Tweak,
        [a, b]: [[Block; 2]; 2],
        table: &mut [Block; 2],
    ) -> [Block; 2] {
        let ([i0, i1], [j0, j1]) = (exchanged(a, a[0]), exchanged(b, b[0]));
        // Row xy has the part AND + 2x + y.
        let parts = [
            [AND, AND + 2, AND, AND + 1],
            [AND + 1, AND + 3, AND + 2, AND + 3],
        ];
        let [[i00, i10, j00, j01], [i01, i11, j10, j11]] =
            f(l, keys, tweak, [i0, i1, j0, j1], parts);
        let k = [i00 ^ j00, i01 ^ j01, i10 ^ j10, i11 ^ j11];
        let sum = k[0] ^ k[1] ^ k[2] ^ k[3];
        let (first, second) = (k[0] ^ k[1], k[0] ^ k[2]);
        let nor = masked(Block::ONES, a[0]) & masked(Block::ONES, b[0]);
        let last = Block::new(((sum.value() & 1) ^ 1) << 1);
        *table = [
            with_signal(first ^ masked(sum, a[0]), first ^ masked(Block::ONES, a[0])) ^ last,
            with_signal(
                second ^ masked(sum, b[0]),
                second ^ masked(Block::ONES, b[0]),
            ),
        ];
        let (c, signal) = (k[0] ^ (nor & sum), k[0] ^ nor);
        [
            with_signal(c, signal),
            with_signal(c ^ sum, signal ^ SIGNAL),
        ]
    }
    #[inline(always)]
    fn xor<L: Lanes>(
        &self,
        l: L,
        keys: &mut FreshKeys<L>,
        (tweak, lone): (Tweak, bool),
        [a, b]: [[Block; 2]; 2],
        table: &mut [Block; 2],
    ) -> [Block; 2] {
        let ([i0, i1], [j0, j1]) = (exchanged(a, a[0]), exchanged(b, b[0]));
        let [[x0, x1, f_j0, f_j1], _] = f(l, keys, tweak, [i0, i1, j0, j1], [[X, X, Y, Y]; 2]);
        let y0 = if lone { j0 } else { f_j0 };
        table[0] = (x0 ^ x1 ^ y0 ^ f_j1) & RANDOM;
        let [zero, one] = exchanged([x0 ^ y0, x1 ^ y0], a[0] ^ b[0]);
        let signal = a[0] ^ b[0];
        [with_signal(zero, signal), with_signal(one, signal ^ SIGNAL)]
    }
}

/// The evaluator without free XOR.
pub struct EvaluatePrf;

impl Side for EvaluatePrf {
    const LABELS: usize = 1;
    const XOR_BLOCKS: usize = 1;
    type Keys<L: Lanes> = FreshKeys<L>;

    #[inline(always)]
    fn keys<L: Lanes>(&self, l: L) -> FreshKeys<L> {
        FreshKeys::new(l)
    }
    fn constants(&self) -> [[Block; 2]; 2] {
        [[Block::ZERO; 2]; 2]
    }
    #[inline(always)]
    fn and<L: Lanes>(
        &self,
        l: L,
        keys: &mut FreshKeys<L>,
        tweak: Tweak,
        [[a, _], [b, _]]: [[Block; 2]; 2],
        table: &mut [Block; 2],
    ) -> [Block; 2] {
        let part = AND + 2 * u32::from(a.lsb()) + u32::from(b.lsb());
        let [[f_a, f_b, ..], _] = f(l, keys, tweak, [a, b, a, b], [[part; 4]; 2]);
        let first = masked(table[0], b);
        let c = f_a ^ f_b ^ first ^ masked(table[1], a);
        let last = Block::new((masked(first, a).value() >> 1) & 1);
        [with_signal(c, c ^ last); 2]
    }
    #[inline(always)]
    fn xor<L: Lanes>(
        &self,
        l: L,
        keys: &mut FreshKeys<L>,
        (tweak, lone): (Tweak, bool),
        [[a, _], [b, _]]: [[Block; 2]; 2],
        table: &mut [Block; 2],
    ) -> [Block; 2] {
        let [[x, f_b, ..], _] = f(l, keys, tweak, [a, b, a, b], [[X, Y, X, Y]; 2]);
        let zero = if lone { b } else { f_b };
        let [y, _] = exchanged([zero, f_b ^ table[0]], b);
        [with_signal(x ^ y, a ^ b); 2]
    }
}
