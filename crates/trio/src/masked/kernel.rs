//! The gates of a level on chunks of lanes: what a helper deals, and what the others open.
//!
//! The other parties share each output by itself: with shares of all products of masks `l^S`, those
//! of the products `x^T` of masked values follow one input after the other, in place
//! ([`sealane_circuit::function`]). In the shares of the role before the helper the constant 1 is
//! 1, in those of the role after it 0.

use crate::tape::{Chunks, Wire, Wires, add};
use sealane_block::{Cpu, Kernel, Lanes};
use sealane_circuit::function::{Function, product};
use sealane_circuit::tape::{Applied, Gate};
use std::ops::{BitAnd, BitXor};
use zeroize::Zeroizing;

/// A function as kernels run it.
pub(super) enum Prepared {
    Product,
    Table {
        inputs: usize,
        /// The sets of inputs that are dealt.
        products: Vec<u16>,
        /// The sets that add up to each output.
        summands: Vec<Vec<u16>>,
    },
}

impl Prepared {
    pub(super) fn of(function: &Function) -> Prepared {
        match function {
            Function::Product => Prepared::Product,
            Function::Table(table) => Prepared::Table {
                inputs: table.inputs(),
                products: table.products().to_vec(),
                summands: (0..table.outputs())
                    .map(|output| table.summands(output).map(|set| set as u16).collect())
                    .collect(),
            },
        }
    }

    /// Products of inputs, the empty one and the inputs included.
    fn sets(&self) -> usize {
        match self {
            Prepared::Product => 0,
            Prepared::Table { inputs, .. } => 1 << inputs,
        }
    }
}

/// The gates of a level.
#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    pub xors: &'a [Gate],
    pub ands: &'a [Gate],
    pub applied: &'a [Applied],
    pub functions: &'a [Prepared],
}

/// The place of a party that opens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the helper: `m` is its first component.
    Before,
    /// After the helper: `m` is its second component.
    After,
}

/// Rows of the lanes of a part, for each bit that is dealt or opened.
pub(super) struct Rows<'a> {
    pub dealt: &'a [u64],
    /// This party's masks of outputs.
    pub masks: &'a [u64],
    pub summands: &'a mut [u64],
}

impl Wires {
    /// Runs XORs alone.
    pub(super) fn add(&mut self, cpu: Cpu, xors: &[Gate]) {
        match self {
            Wires::Narrow(chunks) => chunks.add(cpu, xors),
            Wires::Wide(chunks) => chunks.add(cpu, xors),
        }
    }

    /// Runs a level at the helper: adds to each row of shares what is dealt.
    pub(super) fn deal(&mut self, cpu: Cpu, level: Level<'_>, rows: &mut [u64]) {
        match self {
            Wires::Narrow(chunks) => chunks.deal(cpu, level, rows),
            Wires::Wide(chunks) => chunks.deal(cpu, level, rows),
        }
    }

    /// Runs a level at another party: makes its summands.
    pub(super) fn open(&mut self, cpu: Cpu, level: Level<'_>, place: Place, rows: Rows<'_>) {
        match self {
            Wires::Narrow(chunks) => chunks.open(cpu, level, place, rows),
            Wires::Wide(chunks) => chunks.open(cpu, level, place, rows),
        }
    }
}

impl<const C: usize> Chunks<C> {
    fn add(&mut self, cpu: Cpu, xors: &[Gate]) {
        let chunks = self.wires.chunks_exact_mut(self.slots);
        chunks.for_each(|wires| cpu.run(Add { wires, xors }));
    }

    fn deal(&mut self, cpu: Cpu, level: Level<'_>, rows: &mut [u64]) {
        let mut scratch = scratch(level);
        let words = self.words;
        for (chunk, wires) in self.wires.chunks_exact_mut(self.slots).enumerate() {
            let (words, first) = (words, chunk * C);
            cpu.run(Deal {
                level,
                wires,
                at: At { words, first },
                rows: &mut *rows,
                scratch: &mut scratch,
            });
        }
    }

    fn open(&mut self, cpu: Cpu, level: Level<'_>, place: Place, rows: Rows<'_>) {
        let mut scratch = scratch(level);
        let words = self.words;
        for (chunk, wires) in self.wires.chunks_exact_mut(self.slots).enumerate() {
            let (words, first) = (words, chunk * C);
            cpu.run(Open {
                level,
                before: place == Place::Before,
                wires,
                at: At { words, first },
                dealt: rows.dealt,
                masks: rows.masks,
                summands: &mut *rows.summands,
                scratch: &mut scratch,
            });
        }
    }
}

/// Room for the products of the largest table of a level.
fn scratch<const C: usize>(level: Level<'_>) -> Zeroizing<Vec<[u64; C]>> {
    let functions = level.applied.iter();
    let sets = functions.map(|applied| level.functions[applied.function as usize].sets());
    Zeroizing::new(vec![[0; C]; sets.max().unwrap_or(0)])
}

/// The words of one chunk.
#[derive(Clone, Copy)]
struct Words<const C: usize>([u64; C]);

impl<const C: usize> BitXor for Words<C> {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        let mut sum = self.0;
        for w in 0..C {
            sum[w] ^= other.0[w];
        }
        Words(sum)
    }
}

impl<const C: usize> BitAnd for Words<C> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        let mut product = self.0;
        for w in 0..C {
            product[w] &= other.0[w];
        }
        Words(product)
    }
}

/// The words of a chunk in each row.
#[derive(Clone, Copy)]
struct At {
    /// Words of a row.
    words: usize,
    /// The first word of the chunk.
    first: usize,
}

impl At {
    /// The words of the chunk in a row; zeros behind the end of the row.
    #[inline(always)]
    fn read<const C: usize>(self, rows: &[u64], row: usize) -> Words<C> {
        let row = &rows[row * self.words..][..self.words];
        let row = &row[self.first..];
        match row.first_chunk() {
            Some(words) => Words(*words),
            None => {
                let mut words = [0; C];
                words[..row.len()].copy_from_slice(row);
                Words(words)
            }
        }
    }

    #[inline(always)]
    fn write<const C: usize>(self, rows: &mut [u64], row: usize, words: Words<C>) {
        let row = &mut rows[row * self.words..][..self.words];
        let row = &mut row[self.first..];
        match row.first_chunk_mut() {
            Some(row) => *row = words.0,
            None => row.copy_from_slice(&words.0[..row.len()]),
        }
    }

    #[inline(always)]
    fn add<const C: usize>(self, rows: &mut [u64], row: usize, words: Words<C>) {
        let before = self.read(rows, row);
        self.write(rows, row, before ^ words);
    }
}

struct Add<'a, const C: usize> {
    wires: &'a mut [Wire<C>],
    xors: &'a [Gate],
}

impl<const C: usize> Kernel for Add<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        add(self.wires, self.xors);
    }
}

struct Deal<'a, const C: usize> {
    level: Level<'a>,
    wires: &'a mut [Wire<C>],
    at: At,
    rows: &'a mut [u64],
    scratch: &'a mut [[u64; C]],
}

impl<const C: usize> Deal<'_, C> {
    /// The mask of a value.
    #[inline(always)]
    fn mask(&self, slot: u32) -> Words<C> {
        let [first, second] = self.wires[slot as usize];
        Words(first) ^ Words(second)
    }
}

impl<const C: usize> Kernel for Deal<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        add(self.wires, self.level.xors);
        let mut row = 0;
        for gate in self.level.ands {
            let words = self.mask(gate.a) & self.mask(gate.b);
            self.at.add(self.rows, row, words);
            row += 1;
        }
        for applied in self.level.applied {
            let slots = &applied.operands;
            match &self.level.functions[applied.function as usize] {
                Prepared::Product => {
                    let mut factors = [[Words([0; C]); 4]; 2];
                    for (i, slot) in slots.iter().enumerate() {
                        factors[i / 4][i % 4] = self.mask(*slot);
                    }
                    let [a, b] = factors;
                    for words in product(a, b) {
                        self.at.add(self.rows, row, words);
                        row += 1;
                    }
                }
                Prepared::Table { products, .. } => {
                    for (input, slot) in slots.iter().enumerate() {
                        self.scratch[1 << input] = self.mask(*slot).0;
                    }
                    for set in products {
                        // Without its lowest input, a set is smaller.
                        let set = usize::from(*set);
                        let (rest, lowest) = (set & (set - 1), set & set.wrapping_neg());
                        let words = Words(self.scratch[rest]) & Words(self.scratch[lowest]);
                        self.scratch[set] = words.0;
                        self.at.add(self.rows, row, words);
                        row += 1;
                    }
                }
            }
        }
    }
}

struct Open<'a, const C: usize> {
    level: Level<'a>,
    /// True at the party before the helper.
    before: bool,
    wires: &'a mut [Wire<C>],
    at: At,
    dealt: &'a [u64],
    masks: &'a [u64],
    summands: &'a mut [u64],
    scratch: &'a mut [[u64; C]],
}

impl<const C: usize> Open<'_, C> {
    /// The masked value of a slot, and this party's mask of it.
    #[inline(always)]
    fn read(&self, slot: u32) -> [Words<C>; 2] {
        let [first, second] = self.wires[slot as usize].map(Words);
        match self.before {
            true => [first, second],
            false => [second, first],
        }
    }

    /// As [`Open::read`], of a second factor: a product of masked values belongs to the party
    /// before the helper, which so adds both.
    #[inline(always)]
    fn read_second(&self, slot: u32) -> [Words<C>; 2] {
        let [masked, mask] = self.read(slot);
        match self.before {
            true => [masked, masked ^ mask],
            false => [masked, mask],
        }
    }

    /// Writes a summand of an output under its mask.
    #[inline(always)]
    fn put(&mut self, row: usize, words: Words<C>) {
        let masked = words ^ self.at.read(self.masks, row);
        self.at.write(self.summands, row, masked);
    }

    /// Makes the products of masked values from those of masks, in the scratch.
    #[inline(always)]
    fn expand(&mut self, slots: &[u32], products: &[u16], mut row: usize) {
        let all = 1 << slots.len();
        if products.len() + slots.len() + 1 < all {
            self.scratch[..all].fill([0; C]);
        }
        self.scratch[0] = [u64::from(self.before).wrapping_neg(); C];
        for (input, slot) in slots.iter().enumerate() {
            self.scratch[1 << input] = self.read(*slot)[1].0;
        }
        for set in products {
            self.scratch[usize::from(*set)] = self.at.read::<C>(self.dealt, row).0;
            row += 1;
        }
        for (input, slot) in slots.iter().enumerate() {
            let [masked, _] = self.read(*slot);
            let half = 1 << input;
            for pair in self.scratch[..all].chunks_exact_mut(2 * half) {
                let (without, with) = pair.split_at_mut(half);
                for (without, with) in without.iter().zip(with) {
                    *with = (Words(*with) ^ masked & Words(*without)).0;
                }
            }
        }
    }
}

impl<const C: usize> Kernel for Open<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, _: L) {
        add(self.wires, self.level.xors);
        let (mut dealt, mut out) = (0, 0);
        for gate in self.level.ands {
            let ([a, a_mask], [b, b_both]) = (self.read(gate.a), self.read_second(gate.b));
            let words = a & b_both ^ b & a_mask ^ self.at.read(self.dealt, dealt);
            self.put(out, words);
            dealt += 1;
            out += 1;
        }
        for applied in self.level.applied {
            let slots = &applied.operands;
            match &self.level.functions[applied.function as usize] {
                Prepared::Product => {
                    let zero = [Words([0; C]); 4];
                    let (mut a, mut a_mask, mut b, mut b_both) = (zero, zero, zero, zero);
                    for i in 0..4 {
                        [a[i], a_mask[i]] = self.read(slots[i]);
                        [b[i], b_both[i]] = self.read_second(slots[4 + i]);
                    }
                    let (first, second) = (product(a, b_both), product(b, a_mask));
                    for i in 0..4 {
                        let words = first[i] ^ second[i] ^ self.at.read(self.dealt, dealt);
                        self.put(out, words);
                        dealt += 1;
                        out += 1;
                    }
                }
                Prepared::Table {
                    products, summands, ..
                } => {
                    self.expand(slots, products, dealt);
                    dealt += products.len();
                    for sets in summands {
                        let mut sum = Words([0; C]);
                        for set in sets {
                            sum = sum ^ Words(self.scratch[usize::from(*set)]);
                        }
                        self.put(out, sum);
                        out += 1;
                    }
                }
            }
        }
    }
}
