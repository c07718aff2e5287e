//! Garbling from a pseudorandom function alone: no free XOR, no circular security assumption.
//!
//! Gueron, Lindell, Nof, Pinkas, "Fast Garbling of Circuits Under Standard Assumptions" (J.
//! Cryptology 2018): AND gates with two rows, XOR gates with one, and F, which is AES with the
//! label as key and the instance's public seed plus the tweak as input. A label has 126 random
//! bits; bit 0 is its *signal*, bit 1 is 0. Both labels of a wire are independent, so the garbler
//! holds two blocks a wire and there is no offset. Write `i_x`, `j_y` for the labels with signals x
//! and y of the two inputs.
//!
//! **AND.** K_xy = F(i_x, xy) ^ F(j_y, xy'), where both wires have inputs of their own. S is the
//! sum of all four, and exactly one row carries the label of 1:
//!
//! ```text
//! na, nb = 1 where the label of 1 has the signal 0         8 AES under 4 keys; 2 under 2
//! T_1 = K_00 ^ K_01 ^ na S      T_2 = K_00 ^ K_10 ^ nb S   c^0 = K_00 ^ na nb S, c^1 = c^0 ^ S
//! evaluator: c = K_xy ^ y T_1 ^ x T_2
//! ```
//!
//! Signals of outputs are masked by bit 0 of K_xy: the row 00 needs no bit, the other three take
//! bit 0 of both rows and bit 1 of the first.
//!
//! **XOR.** X_x = F(i_x), D = X_0 ^ X_1, Y_0 as below, and
//!
//! ```text
//! T = F(j_1) ^ Y_0 ^ D         output of (x, y) = X_x ^ Y_y, with Y_1 = Y_0 ^ D
//! evaluator: X_x ^ (y = 1 ? F(j_1) ^ T : Y_0)
//! ```
//!
//! The paper's count of three AES takes Y_0 = j_0, the label itself. Then the unknown output label
//! and j_0 differ by X_x, which the evaluator knows: where j_0 is also the key of another gate,
//! that is a related key, which the security of a pseudorandom function does not cover. So Y_0 =
//! j_0 is taken only where no other gate reads the wire (marked by
//! [`lone`](sealane_circuit::Tape::lone)); elsewhere Y_0 = F(j_0), a fourth AES. Evaluation takes
//! one AES, and a second where it is needed; it is always computed, so that time does not depend on
//! signals.
//!
//! NOT exchanges the garbler's two labels; XOR with the constant 0 copies them.

use std::marker::PhantomData;
use std::ops::Range;

use sealane_block::fresh::FreshKeys;
use sealane_block::hash::tweak_blocks;
use sealane_block::lanes::Quad;
use sealane_block::{Block, GROUP, Lanes};
use sealane_circuit::tape::{Gate, KnownTo, ONE, ZERO};

use crate::kernels::{self, BlockRun, GateKernel, GateLanes, GateSlots, LaneLabels, Tweaks};
use crate::machine::Gates;
use crate::tables::Ended;

/// Tweak parts of an AND: the inputs of F for row xy = 2x + y are `AND_A` and `AND_B` plus the row.
/// A common input for both wires would give the sum 0 where a and b have the same labels, as one
/// wire in two inputs of a tape has.
const AND_A: u32 = 4;
const AND_B: u32 = 8;
/// Tweak parts of an XOR, one for each wire.
const X: u32 = 12;
const Y: u32 = 13;

/// Mask of the random bits: all but the signal and the bit above it.
const RANDOM: Block = Block::new(!3);
const SIGNAL: Block = Block::new(1);

/// Makes a fresh label with a given signal from random bits.
pub(crate) fn label(random: Block, signal: u8) -> Block {
    (random & RANDOM) ^ SIGNAL.masked(signal)
}

/// One side of a circuit.
pub(crate) struct Prf {
    /// The instance's public seed.
    pub seed: Block,
    /// At the garbler, the label of the value that a constant never takes.
    pub spare: Option<Block>,
}

impl Gates for Prf {
    fn labels(&self) -> usize {
        1 + usize::from(self.garbles())
    }

    fn garbles(&self) -> bool {
        self.spare.is_some()
    }

    fn table_bytes(&self, xors: &[Gate], known_to: &[KnownTo]) -> usize {
        table_bytes(xors, known_to.len())
    }

    fn constant(&self, bit: usize, of_value: usize) -> Block {
        // The garbler's second label is that of the value 1.
        match self.spare {
            Some(spare) if bit != of_value => label(spare, 1),
            _ => Block::ZERO,
        }
    }

    fn xors(&self, xors: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended> {
        let seed = self.seed;
        if self.garbles() {
            run_xors(
                &GarbleXor::<true>(seed),
                &GarbleXor::<false>(seed),
                xors,
                on,
            )
        } else {
            run_xors(
                &EvaluateXor::<true>(seed),
                &EvaluateXor::<false>(seed),
                xors,
                on,
            )
        }
    }

    fn ands(&self, ands: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended> {
        let gates = &on.tape.ands[ands];
        if self.garbles() {
            kernels::run(&GarbleAnd(self.seed), gates, on)
        } else {
            kernels::run(&EvaluateAnd(self.seed), gates, on)
        }
    }
}

/// Returns the bytes of table of some gates on one lane. An XOR with a constant has none.
pub(crate) fn table_bytes(xors: &[Gate], ands: usize) -> usize {
    let with_table = xors.iter().filter(|gate| !has_constant(gate)).count();
    32 * ands + 16 * with_table
}

/// The kinds of XOR gate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum XorKind {
    /// One input is a constant: labels are copied.
    Constant,
    /// No other gate reads the second input.
    Lone,
    /// Other gates may read the second input.
    Read,
}

fn has_constant(gate: &Gate) -> bool {
    [gate.a, gate.b]
        .iter()
        .any(|slot| [ZERO, ONE].contains(slot))
}

fn xor_kind(gate: &Gate, lone: bool) -> XorKind {
    match (has_constant(gate), lone) {
        (true, _) => XorKind::Constant,
        (false, true) => XorKind::Lone,
        (false, false) => XorKind::Read,
    }
}

/// Runs XORs in order, in runs of one kind, with one kernel for gates whose second input no other
/// gate reads and one for the others. Where pairs are gathered, no gate of a run reads the output
/// of another.
fn run_xors<A: GateKernel, B: GateKernel>(
    alone: &A,
    read: &B,
    xors: Range<usize>,
    on: &mut BlockRun<'_>,
) -> Result<(), Ended> {
    let (tape, gathers) = (on.tape, kernels::gathers(on.cpu, on.rows.width));
    let most = if gathers { GROUP } else { usize::MAX };
    let kind_of = |i: usize| xor_kind(&tape.xors[i], tape.lone[i]);
    let mut first = xors.start;
    while first < xors.end {
        let kind = kind_of(first);
        let mut end = first + 1;
        while end < xors.end && end - first < most && kind_of(end) == kind {
            let (run, next) = (&tape.xors[first..end], &tape.xors[end]);
            let written = |slot: u32| run.iter().any(|gate| gate.out == slot);
            if gathers && (written(next.a) || written(next.b)) {
                break;
            }
            end += 1;
        }
        let gates = &tape.xors[first..end];
        match kind {
            XorKind::Lone => kernels::run(alone, gates, on)?,
            XorKind::Read => kernels::run(read, gates, on)?,
            XorKind::Constant => {
                let rows = &mut on.rows;
                gates.iter().for_each(|gate| copy(gate, rows, A::LABELS));
            }
        }
        first = end;
    }
    Ok(())
}

/// Runs an XOR with a constant: copies the other input's labels, exchanged if the constant is 1.
/// Where both inputs are constants, the second is treated as a wire.
fn copy(gate: &Gate, rows: &mut LaneLabels<'_>, labels: usize) {
    let (from, constant) = if [ZERO, ONE].contains(&gate.a) {
        (gate.b, gate.a)
    } else {
        (gate.a, gate.b)
    };
    let exchange = labels == 2 && constant == ONE;
    for row in 0..rows.width {
        let at = |slot: u32, label: usize| (slot as usize * labels + label) * rows.width + row;
        let first = rows.slots[at(from, usize::from(exchange))];
        let second = rows.slots[at(from, (labels - 1) & usize::from(!exchange))];
        rows.slots[at(gate.out, 0)] = first;
        if labels == 2 {
            rows.slots[at(gate.out, 1)] = second;
        }
    }
}

/// Both sides of both kinds of gates, with the public seed.
struct GarbleAnd(Block);
struct EvaluateAnd(Block);
struct GarbleXor<const LONE: bool>(Block);
struct EvaluateXor<const LONE: bool>(Block);

/// Key schedules and constants of a kernel.
struct PrfLanes<L: Lanes, K> {
    keys: FreshKeys<L>,
    seed: L::V,
    random: L::V,
    signal: L::V,
    kernel: PhantomData<K>,
}

macro_rules! kernel {
    ($kernel:ty, $labels:literal, $planes:expr $(, $parameter:ident)?) => {
        impl $(<const $parameter: bool>)? GateKernel for $kernel {
            const PLANES: &'static [usize] = $planes;
            const LABELS: usize = $labels;
            type Lanes<L: Lanes> = PrfLanes<L, $kernel>;

            #[inline(always)]
            fn lanes<L: Lanes>(&self, l: L) -> Self::Lanes<L> {
                PrfLanes {
                    keys: FreshKeys::new(l),
                    seed: l.splat(self.0),
                    random: l.splat(RANDOM),
                    signal: l.splat(SIGNAL),
                    kernel: PhantomData,
                }
            }
        }
    };
}

kernel!(GarbleAnd, 2, &[16, 16]);
kernel!(EvaluateAnd, 1, &[16, 16]);
kernel!(GarbleXor<LONE>, 2, &[16], LONE);
kernel!(EvaluateXor<LONE>, 1, &[16], LONE);

impl<L: Lanes, K> PrfLanes<L, K> {
    /// Computes F of two quads of labels.
    #[inline(always)]
    fn f(&mut self, l: L, labels: [Quad<L>; 2], inputs: [Quad<L>; 2]) -> [Quad<L>; 2] {
        self.keys.expand_keys(l, labels);
        self.again(l, inputs)
    }

    /// Computes F of the same labels on other inputs.
    #[inline(always)]
    fn again(&self, l: L, inputs: [Quad<L>; 2]) -> [Quad<L>; 2] {
        let mut inputs = inputs;
        for m in 0..4 {
            inputs[0][m] = l.xor(inputs[0][m], self.seed);
            inputs[1][m] = l.xor(inputs[1][m], self.seed);
        }
        self.keys.encrypt(l, inputs)
    }

    /// Loads both labels of a quad of wires, by value.
    #[inline(always)]
    fn labels(&self, l: L, slots: &[Block], at: usize, second: usize) -> [Quad<L>; 2] {
        [
            l.load_quad(&slots[at..]),
            l.load_quad(&slots[at + second..]),
        ]
    }

    /// Exchanges two quads where `mask` is set.
    #[inline(always)]
    fn exchange(&self, l: L, mask: Quad<L>, pair: [Quad<L>; 2]) -> [Quad<L>; 2] {
        let mut out = pair;
        for m in 0..4 {
            let change = l.and(mask[m], l.xor(pair[0][m], pair[1][m]));
            out[0][m] = l.xor(pair[0][m], change);
            out[1][m] = l.xor(pair[1][m], change);
        }
        out
    }

    /// Combines the random bits of `random` with the signal of `signal`.
    #[inline(always)]
    fn with_signal(&self, l: L, random: L::V, signal: L::V) -> L::V {
        l.xor(l.and(random, self.random), l.and(signal, self.signal))
    }
}

#[inline(always)]
fn masks<L: Lanes>(l: L, labels: Quad<L>) -> Quad<L> {
    let mut masks = labels;
    for m in 0..4 {
        masks[m] = l.permute_mask(labels[m]);
    }
    masks
}

impl<L: Lanes> GateLanes<L> for PrfLanes<L, GarbleAnd> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &mut table[..32 * GROUP];
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let a = self.labels(l, place.slots, place.a + at, place.second);
            let b = self.labels(l, place.slots, place.b + at, place.second);
            let (na, nb) = (masks(l, a[0]), masks(l, b[0]));
            let [i0, i1] = self.exchange(l, na, a);
            let [j0, j1] = self.exchange(l, nb, b);
            let tweak = tweaks.blocks_of_quad(l, q);
            let row = |part: u32| [(tweak, part), (tweak, part + 2)];
            let [i00, i10] = self.f(l, [i0, i1], tweak_blocks(l, row(AND_A)));
            let [i01, i11] = self.again(l, tweak_blocks(l, row(AND_A + 1)));
            let column = |part: u32| [(tweak, part), (tweak, part + 1)];
            let [j00, j01] = self.f(l, [j0, j1], tweak_blocks(l, column(AND_B)));
            let [j10, j11] = self.again(l, tweak_blocks(l, column(AND_B + 2)));
            let (mut first, mut second, mut zero, mut one) = (a[0], a[0], a[0], a[0]);
            for m in 0..4 {
                let k00 = l.xor(i00[m], j00[m]);
                let k0001 = l.xor(k00, l.xor(i01[m], j01[m]));
                let k10 = l.xor(i10[m], j10[m]);
                let k11 = l.xor(i11[m], j11[m]);
                let sum = l.xor(k0001, l.xor(k10, k11));
                let k0010 = l.xor(k00, k10);
                let nor = l.and(na[m], nb[m]);
                let rows = [
                    l.xor(k0001, l.and(na[m], sum)),
                    l.xor(k0010, l.and(nb[m], sum)),
                ];
                // Bits of the signals: the bit of row 11 makes 01, 10 and 11 add up to one more
                // than the sum of all four.
                let last = l.xor(l.and(sum, self.signal), self.signal);
                let last = l.shl64::<1>(last);
                first[m] = l.xor(self.with_signal(l, rows[0], l.xor(k0001, na[m])), last);
                second[m] = self.with_signal(l, rows[1], l.xor(k0010, nb[m]));
                let c = l.xor(k00, l.and(nor, sum));
                let signal = l.xor(k00, nor);
                zero[m] = self.with_signal(l, c, signal);
                one[m] = self.with_signal(l, l.xor(c, sum), l.xor(signal, self.signal));
            }
            l.store_quad(&mut place.slots[place.out + at..], zero);
            l.store_quad(&mut place.slots[place.out + place.second + at..], one);
            l.store_quad_bytes(&mut table[16 * at..], first);
            l.store_quad_bytes(&mut table[16 * (GROUP + at)..], second);
        }
    }
}

impl<L: Lanes> GateLanes<L> for PrfLanes<L, EvaluateAnd> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &table[..32 * GROUP];
        let part = |bit: u32| l.splat(Block::new((bit as u128) << 96));
        let (part_x, part_y) = (part(2), part(1));
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let a = l.load_quad(&place.slots[place.a + at..]);
            let b = l.load_quad(&place.slots[place.b + at..]);
            let (x, y) = (masks(l, a), masks(l, b));
            let tweak = tweaks.blocks_of_quad(l, q);
            let [mut of_a, mut of_b] = tweak_blocks(l, [(tweak, AND_A), (tweak, AND_B)]);
            for m in 0..4 {
                let row = l.xor(l.and(x[m], part_x), l.and(y[m], part_y));
                of_a[m] = l.xor(of_a[m], row);
                of_b[m] = l.xor(of_b[m], row);
            }
            let [f_a, f_b] = self.f(l, [a, b], [of_a, of_b]);
            let first = l.load_quad_bytes(&table[16 * at..]);
            let second = l.load_quad_bytes(&table[16 * (GROUP + at)..]);
            let mut c = a;
            for m in 0..4 {
                let first = l.and(y[m], first[m]);
                let rows = l.xor(first, l.and(x[m], second[m]));
                let c_m = l.xor(l.xor(f_a[m], f_b[m]), rows);
                let last = l.shr64::<1>(l.and(x[m], first));
                c[m] = self.with_signal(l, c_m, l.xor(c_m, last));
            }
            l.store_quad(&mut place.slots[place.out + at..], c);
        }
    }
}

impl<L: Lanes, const LONE: bool> GateLanes<L> for PrfLanes<L, GarbleXor<LONE>> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &mut table[..16 * GROUP];
        // F(j_1) of a quad where it is computed for two at a time.
        let mut waiting = None;
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let a = self.labels(l, place.slots, place.a + at, place.second);
            let b = self.labels(l, place.slots, place.b + at, place.second);
            let (pa, pb) = (masks(l, a[0]), masks(l, b[0]));
            let [i0, i1] = self.exchange(l, pa, a);
            let [j0, j1] = self.exchange(l, pb, b);
            let tweak = tweaks.blocks_of_quad(l, q);
            let [x_input, y_input] = tweak_blocks(l, [(tweak, X), (tweak, Y)]);
            let [y0, f_j1] = match (LONE, waiting.take()) {
                (false, _) => self.f(l, [j0, j1], [y_input, y_input]),
                (true, Some(f_j1)) => [j0, f_j1],
                (true, None) => {
                    let next = (q + 1) % L::QUADS;
                    let from = place.b + next * L::QUAD;
                    let b = self.labels(l, place.slots, from, place.second);
                    let [_, next_j1] = self.exchange(l, masks(l, b[0]), b);
                    let tweak = tweaks.blocks_of_quad(l, next);
                    let [next_input, _] = tweak_blocks(l, [(tweak, Y), (tweak, Y)]);
                    let [f_j1, later] = self.f(l, [j1, next_j1], [y_input, next_input]);
                    waiting = Some(later);
                    [j0, f_j1]
                }
            };
            let x = self.f(l, [i0, i1], [x_input, x_input]);
            let mut flipped = pa;
            for m in 0..4 {
                flipped[m] = l.xor(pa[m], pb[m]);
            }
            let by_signal = [l.xor_quad(x[0], y0), l.xor_quad(x[1], y0)];
            let [mut zero, mut one] = self.exchange(l, flipped, by_signal);
            let mut row = f_j1;
            for m in 0..4 {
                let sum = l.xor(l.xor(x[0][m], x[1][m]), l.xor(y0[m], f_j1[m]));
                row[m] = l.and(sum, self.random);
                let signal = l.xor(a[0][m], b[0][m]);
                zero[m] = self.with_signal(l, zero[m], signal);
                one[m] = self.with_signal(l, one[m], l.xor(signal, self.signal));
            }
            l.store_quad(&mut place.slots[place.out + at..], zero);
            l.store_quad(&mut place.slots[place.out + place.second + at..], one);
            l.store_quad_bytes(&mut table[16 * at..], row);
        }
    }
}

impl<L: Lanes, const LONE: bool> GateLanes<L> for PrfLanes<L, EvaluateXor<LONE>> {
    #[inline(always)]
    fn group(&mut self, l: L, tweaks: &impl Tweaks, place: GateSlots<'_>, table: &mut [u8]) {
        let table = &table[..16 * GROUP];
        for q in 0..place.quads {
            let at = q * L::QUAD;
            let a = l.load_quad(&place.slots[place.a + at..]);
            let b = l.load_quad(&place.slots[place.b + at..]);
            let tweak = tweaks.blocks_of_quad(l, q);
            let inputs = tweak_blocks(l, [(tweak, X), (tweak, Y)]);
            let [x, f_b] = self.f(l, [a, b], inputs);
            let row = l.load_quad_bytes(&table[16 * at..]);
            let mut c = a;
            for m in 0..4 {
                let signal_1 = l.xor(f_b[m], row[m]);
                let signal_0 = if LONE { b[m] } else { f_b[m] };
                let change = l.and(l.permute_mask(b[m]), l.xor(signal_0, signal_1));
                let y = l.xor(signal_0, change);
                c[m] = self.with_signal(l, l.xor(x[m], y), l.xor(a[m], b[m]));
            }
            l.store_quad(&mut place.slots[place.out + at..], c);
        }
    }
}
