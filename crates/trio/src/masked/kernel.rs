//! The gates of a level on chunks of lanes: what a helper deals, and what the others open.
//!
//! The other parties share each output by itself: with shares of all products of masks `l^S`, those
//! of the products `x^T` of masked values follow one input after the other, in place
//! ([`sealane_circuit::function`]). In the shares of the role before the helper the constant 1 is
//! 1, in those of the role after it 0.

use crate::masked::program::{COMMON, Gates};
use crate::tape::{Wire, Wires};
use sealane_block::{Cpu, Kernel, Lanes};
use sealane_circuit::function::{Field, Function, product, quotient};
use sealane_party::wires::Chunks;
use sealane_party::{AlignedBuffer, of_any_width};
use std::array;
use std::ops::{BitAnd, BitXor};
use std::sync::Arc;

/// A function as kernels run it.
pub(super) enum Prepared {
    Product,
    Quotients,
    Field(Arc<Field>),
    Table {
        inputs: usize,
        /// The sets of inputs that are dealt.
        products: Vec<u16>,
        /// The sets that add up to each output.
        summands: Vec<Vec<u16>>,
        /// The same as words: for each output and each set all ones, or none.
        marks: Vec<Vec<u64>>,
    },
}

impl Prepared {
    pub(super) fn of(function: &Function) -> Prepared {
        match function {
            Function::Product => Prepared::Product,
            Function::Quotients => Prepared::Quotients,
            Function::Field(field) => Prepared::Field(Arc::clone(field)),
            Function::Table(table) => {
                let outputs = 0..table.outputs();
                let sets = |output| table.summands(output).map(|set| set as u16).collect();
                let marks = |output| {
                    let mut marks = vec![0; 1 << table.inputs()];
                    table.summands(output).for_each(|set| marks[set] = u64::MAX);
                    marks
                };
                Prepared::Table {
                    inputs: table.inputs(),
                    products: table.products().to_vec(),
                    summands: outputs.clone().map(sets).collect(),
                    marks: outputs.map(marks).collect(),
                }
            }
        }
    }

    /// Words of scratch: of a table products of inputs, the empty one and the inputs included.
    fn scratch(&self) -> usize {
        match self {
            Prepared::Product | Prepared::Quotients => 0,
            Prepared::Field(field) => field.scratch(2),
            Prepared::Table { inputs, .. } => 1 << inputs,
        }
    }
}

/// The gates of a level.
#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    pub gates: &'a Gates,
    pub functions: &'a [Prepared],
}

/// The place of a party that opens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OpeningPlace {
    /// Before the helper: `m` is its first component.
    Before,
    /// After the helper: `m` is its second component.
    After,
}

/// Rows of what a helper deals at a level. Where it is recorded, `seen` takes both components of
/// each operand: of ANDs, then of functions.
pub(super) struct Dealt<'a> {
    /// Both masks of each output.
    pub masks: [&'a [u64]; 2],
    /// A row for each bit that is dealt: shares, to which the products of masks are added.
    pub rows: &'a mut [u64],
    pub seen: Option<&'a mut [u64]>,
}

/// Rows of what another party opens at a level, and operands as in [`Dealt`].
pub(super) struct Sums<'a> {
    pub place: OpeningPlace,
    /// The level before, if there is one.
    pub last: Option<Opened<'a>>,
    pub dealt: &'a [u64],
    /// This party's masks of outputs.
    pub masks: &'a [u64],
    /// This party's summands: those of the level before, then those of this one.
    pub summands: &'a mut [u64],
    pub seen: Option<&'a mut [u64]>,
}

/// Outputs of a level that both others have opened, beside the summands of this party.
#[derive(Clone, Copy)]
pub(super) struct Opened<'a> {
    /// The slots that the level writes.
    pub outs: &'a [u32],
    /// This party's masks of them.
    pub masks: &'a [u64],
    /// The summands of the other party.
    pub others: &'a [u64],
}

/// Runs a level at the helper: adds to each row of shares what is dealt, and masks the outputs.
pub(super) fn deal(wires: &mut Wires, cpu: Cpu, level: Level<'_>, dealt: Dealt<'_>) {
    of_any_width!(wires, chunks => deal_chunks(chunks, cpu, level, dealt))
}

/// Runs a level at another party: takes the outputs of the level before, and makes its summands.
pub(super) fn open(wires: &mut Wires, cpu: Cpu, level: Level<'_>, sums: Sums<'_>) {
    of_any_width!(wires, chunks => open_chunks(chunks, cpu, level, sums))
}

/// Takes the outputs of the last level, with this party's summands if it has opened them, and runs
/// the XORs behind it.
pub(super) fn finish(
    wires: &mut Wires,
    cpu: Cpu,
    level: Option<Level<'_>>,
    last: Option<(OpeningPlace, Opened<'_>, &[u64])>,
) {
    of_any_width!(wires, chunks => for (at, slots) in each(chunks) {
        cpu.run(Finish {
            slots,
            at,
            level,
            last,
        });
    })
}

/// Each chunk, and its place in rows.
fn each<const C: usize>(chunks: &mut Chunks<C, 2>) -> impl Iterator<Item = (At, Slots<'_, C>)> {
    let words = chunks.words;
    let (chunks, common) = chunks.chunks_and_common();
    chunks.enumerate().map(move |(chunk, wires)| {
        let first = chunk * C;
        let count = C.min(words - first);
        (
            At {
                words,
                first,
                count,
            },
            Slots { wires, common },
        )
    })
}

fn deal_chunks<const C: usize>(
    chunks: &mut Chunks<C, 2>,
    cpu: Cpu,
    level: Level<'_>,
    dealt: Dealt<'_>,
) {
    let (mut scratch, mut seen) = (scratch::<C>(level), dealt.seen);
    for (at, slots) in each(chunks) {
        cpu.run(Deal {
            level,
            slots,
            at,
            masks: dealt.masks,
            rows: &mut *dealt.rows,
            seen: seen.as_deref_mut(),
            scratch: scratch.as_chunks_mut().0,
        });
    }
}

fn open_chunks<const C: usize>(
    chunks: &mut Chunks<C, 2>,
    cpu: Cpu,
    level: Level<'_>,
    sums: Sums<'_>,
) {
    let (mut scratch, mut seen) = (scratch::<C>(level), sums.seen);
    for (at, slots) in each(chunks) {
        let open = Open {
            level,
            last: sums.last,
            slots,
            at,
            dealt: sums.dealt,
            masks: sums.masks,
            summands: &mut *sums.summands,
            seen: seen.as_deref_mut(),
            scratch: scratch.as_chunks_mut().0,
        };
        match sums.place {
            OpeningPlace::Before => cpu.run(Before(open)),
            OpeningPlace::After => cpu.run(After(open)),
        }
    }
}

/// Room for the largest function of a level.
fn scratch<const C: usize>(level: Level<'_>) -> AlignedBuffer {
    let functions = level.gates.applied.iter();
    let words = functions.map(|(function, _)| level.functions[*function].scratch());
    AlignedBuffer::zeros(C * words.max().unwrap_or(0))
}

/// The words of one chunk.
#[derive(Clone, Copy)]
pub(crate) struct Words<const C: usize>(pub(crate) [u64; C]);

impl<const C: usize> BitXor for Words<C> {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Words(array::from_fn(|w| self.0[w] ^ other.0[w]))
    }
}

impl<const C: usize> BitAnd for Words<C> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Words(array::from_fn(|w| self.0[w] & other.0[w]))
    }
}

/// The words of a chunk in each row.
#[derive(Clone, Copy)]
struct At {
    /// Words of a row.
    words: usize,
    /// The first word of the chunk.
    first: usize,
    /// Words of the chunk before the end of the row.
    count: usize,
}

impl At {
    /// The words of the chunk in a row, and words of no meaning behind the end of the row.
    #[inline(always)]
    fn read<const C: usize>(self, rows: &[u64], row: usize) -> Words<C> {
        let row = &rows[row * self.words + self.first..][..C];
        let mut words = [0; C];
        words.copy_from_slice(row);
        Words(words)
    }

    /// Writes the words of the chunk in a row, and none behind its end.
    #[inline(always)]
    fn write<const C: usize>(self, rows: &mut [u64], row: usize, Words(words): Words<C>) {
        let row = &mut rows[row * self.words + self.first..][..C];
        if self.count == C {
            row.copy_from_slice(&words);
        } else {
            for w in 0..C {
                row[w] = if w < self.count { words[w] } else { row[w] };
            }
        }
    }

    #[inline(always)]
    fn add<const C: usize>(self, rows: &mut [u64], row: usize, words: Words<C>) {
        let before = self.read(rows, row);
        self.write(rows, row, before ^ words);
    }
}

/// The slots of a chunk, and the values that are the same in all lanes.
struct Slots<'a, const C: usize> {
    wires: &'a mut [Wire<C>],
    common: &'a [Wire<C>],
}

impl<const C: usize> Slots<'_, C> {
    /// Both components of a slot. The place is chosen, not the value, so that values are loaded as
    /// whole vectors.
    #[inline(always)]
    fn wire(&self, slot: u32) -> &Wire<C> {
        match slot & COMMON {
            0 => &self.wires[slot as usize],
            _ => &self.common[(slot ^ COMMON) as usize],
        }
    }

    /// Runs the XORs of a level.
    #[inline(always)]
    fn add(&mut self, level: Level<'_>) {
        for [a, b, out] in &level.gates.xors {
            let (a, b) = (self.wire(*a), self.wire(*b));
            // No closure: a call that is not inlined would leave the tier.
            let first = Words(a[0]) ^ Words(b[0]);
            let second = Words(a[1]) ^ Words(b[1]);
            self.wires[*out as usize] = [first.0, second.0];
        }
    }

    /// Writes both components of each operand of a level, a row each, if they are recorded.
    #[inline(always)]
    fn write_operands(&self, level: Level<'_>, at: At, seen: Option<&mut [u64]>) {
        let Some(seen) = seen else { return };
        let gates = level.gates;
        let operands = gates.ands.as_flattened().iter().chain(&gates.operands);
        for (row, slot) in operands.enumerate() {
            let [first, second] = self.wire(*slot);
            at.write(seen, 2 * row, Words(*first));
            at.write(seen, 2 * row + 1, Words(*second));
        }
    }
}

/// Puts the outputs of a level on their wires, at a party that has opened them.
#[inline(always)]
fn settle<const C: usize>(
    slots: &mut Slots<'_, C>,
    at: At,
    place: OpeningPlace,
    last: Opened<'_>,
    summands: &[u64],
) {
    for (row, slot) in last.outs.iter().enumerate() {
        let masked = at.read::<C>(summands, row) ^ at.read(last.others, row);
        let mask = at.read::<C>(last.masks, row);
        slots.wires[*slot as usize] = match place {
            OpeningPlace::Before => [masked.0, mask.0],
            OpeningPlace::After => [mask.0, masked.0],
        };
    }
}

struct Finish<'a, const C: usize> {
    slots: Slots<'a, C>,
    at: At,
    level: Option<Level<'a>>,
    last: Option<(OpeningPlace, Opened<'a>, &'a [u64])>,
}

impl<const C: usize> Kernel for Finish<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, _: L) {
        if let Some((place, last, summands)) = self.last {
            settle(&mut self.slots, self.at, place, last, summands);
        }
        if let Some(level) = self.level {
            self.slots.add(level);
        }
    }
}

struct Deal<'a, const C: usize> {
    level: Level<'a>,
    slots: Slots<'a, C>,
    at: At,
    masks: [&'a [u64]; 2],
    rows: &'a mut [u64],
    seen: Option<&'a mut [u64]>,
    scratch: &'a mut [[u64; C]],
}

impl<const C: usize> Deal<'_, C> {
    /// The mask of a value.
    #[inline(always)]
    fn mask(&self, slot: u32) -> Words<C> {
        let [first, second] = self.slots.wire(slot);
        Words(*first) ^ Words(*second)
    }
}

impl<const C: usize> Kernel for Deal<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, _: L) {
        self.slots.add(self.level);
        self.slots
            .write_operands(self.level, self.at, self.seen.take());
        let mut row = 0;
        for [a, b] in &self.level.gates.ands {
            let words = self.mask(*a) & self.mask(*b);
            self.at.add(self.rows, row, words);
            row += 1;
        }
        for (function, operands) in &self.level.gates.applied {
            let slots = &self.level.gates.operands[operands.clone()];
            match &self.level.functions[*function] {
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
                Prepared::Quotients => {
                    let mut masks = [[Words([0; C]); 4]; 3];
                    for (i, slot) in slots.iter().enumerate() {
                        masks[i / 4][i % 4] = self.mask(*slot);
                    }
                    for words in quotient::deal(masks) {
                        self.at.add(self.rows, row, words);
                        row += 1;
                    }
                }
                Prepared::Field(field) => {
                    let (bits, size) = (field.bits(), field.factor_places());
                    for (i, slot) in slots.iter().enumerate() {
                        self.scratch[i / bits * size + i % bits] = self.mask(*slot).0;
                    }
                    field.add_products(self.scratch, 1);
                    for place in field.outputs() {
                        let words = Words(self.scratch[2 * size + usize::from(*place)]);
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
        for (row, slot) in self.level.gates.outs.iter().enumerate() {
            let [first, second] = self.masks;
            let first = self.at.read::<C>(first, row);
            let second = self.at.read::<C>(second, row);
            self.slots.wires[*slot as usize] = [first.0, second.0];
        }
    }
}

struct Open<'a, const C: usize> {
    level: Level<'a>,
    last: Option<Opened<'a>>,
    slots: Slots<'a, C>,
    at: At,
    dealt: &'a [u64],
    masks: &'a [u64],
    summands: &'a mut [u64],
    seen: Option<&'a mut [u64]>,
    scratch: &'a mut [[u64; C]],
}

impl<const C: usize> Open<'_, C> {
    /// The masked value of a slot, and this party's mask of it.
    #[inline(always)]
    fn read<const BEFORE: bool>(&self, slot: u32) -> [Words<C>; 2] {
        let wire = self.slots.wire(slot);
        if BEFORE {
            [Words(wire[0]), Words(wire[1])]
        } else {
            [Words(wire[1]), Words(wire[0])]
        }
    }

    /// As [`Open::read`], of a second factor: a product of masked values belongs to the party
    /// before the helper, which so adds both.
    #[inline(always)]
    fn read_second<const BEFORE: bool>(&self, slot: u32) -> [Words<C>; 2] {
        let [masked, mask] = self.read::<BEFORE>(slot);
        if BEFORE {
            [masked, masked ^ mask]
        } else {
            [masked, mask]
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
    fn expand<const BEFORE: bool>(&mut self, slots: &[u32], products: &[u16], mut row: usize) {
        let all = 1 << slots.len();
        if products.len() + slots.len() + 1 < all {
            self.scratch[..all].fill([0; C]);
        }
        self.scratch[0] = [u64::from(BEFORE).wrapping_neg(); C];
        for (input, slot) in slots.iter().enumerate() {
            self.scratch[1 << input] = self.read::<BEFORE>(*slot)[1].0;
        }
        for set in products {
            self.scratch[usize::from(*set)] = self.at.read::<C>(self.dealt, row).0;
            row += 1;
        }
        for (input, slot) in slots.iter().enumerate() {
            let [masked, _] = self.read::<BEFORE>(*slot);
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

/// A level at the party before the helper.
struct Before<'a, const C: usize>(Open<'a, C>);

impl<const C: usize> Kernel for Before<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        self.0.run::<true>();
    }
}

/// A level at the party after the helper.
struct After<'a, const C: usize>(Open<'a, C>);

impl<const C: usize> Kernel for After<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        self.0.run::<false>();
    }
}

impl<const C: usize> Open<'_, C> {
    #[inline(always)]
    fn run<const BEFORE: bool>(mut self) {
        if let Some(last) = self.last {
            let place = if BEFORE {
                OpeningPlace::Before
            } else {
                OpeningPlace::After
            };
            settle(&mut self.slots, self.at, place, last, self.summands);
        }
        self.slots.add(self.level);
        self.slots
            .write_operands(self.level, self.at, self.seen.take());
        let (mut dealt, mut out) = (0, 0);
        for [a, b] in &self.level.gates.ands {
            let ([a, a_mask], [b, b_both]) =
                (self.read::<BEFORE>(*a), self.read_second::<BEFORE>(*b));
            let words = a & b_both ^ b & a_mask ^ self.at.read(self.dealt, dealt);
            self.put(out, words);
            dealt += 1;
            out += 1;
        }
        for (function, operands) in &self.level.gates.applied {
            let slots = &self.level.gates.operands[operands.clone()];
            match &self.level.functions[*function] {
                Prepared::Product => {
                    let zero = [Words([0; C]); 4];
                    let (mut a, mut a_mask, mut b, mut b_both) = (zero, zero, zero, zero);
                    for i in 0..4 {
                        [a[i], a_mask[i]] = self.read::<BEFORE>(slots[i]);
                        [b[i], b_both[i]] = self.read_second::<BEFORE>(slots[4 + i]);
                    }
                    let (first, second) = (product(a, b_both), product(b, a_mask));
                    for i in 0..4 {
                        let words = first[i] ^ second[i] ^ self.at.read(self.dealt, dealt);
                        self.put(out, words);
                        dealt += 1;
                        out += 1;
                    }
                }
                Prepared::Quotients => {
                    let none = Words([0; C]);
                    let (mut masked, mut masks) = ([[none; 4]; 3], [[none; 4]; 3]);
                    for (i, slot) in slots.iter().enumerate() {
                        [masked[i / 4][i % 4], masks[i / 4][i % 4]] = self.read::<BEFORE>(*slot);
                    }
                    let mut products = [none; quotient::DEALT];
                    for words in &mut products {
                        *words = self.at.read(self.dealt, dealt);
                        dealt += 1;
                    }
                    let one = Words([u64::from(BEFORE).wrapping_neg(); C]);
                    for quotient in quotient::open(masked, masks, &products, [none, one]) {
                        for words in quotient {
                            self.put(out, words);
                            out += 1;
                        }
                    }
                }
                Prepared::Field(field) => {
                    let (bits, size) = (field.bits(), field.factor_places());
                    for i in 0..bits {
                        let [a, a_mask] = self.read::<BEFORE>(slots[i]);
                        let [b, b_both] = self.read_second::<BEFORE>(slots[bits + i]);
                        let factors = [a, b_both, b, a_mask];
                        for (factor, words) in factors.into_iter().enumerate() {
                            self.scratch[factor * size + i] = words.0;
                        }
                    }
                    field.add_products(self.scratch, 2);
                    for place in field.outputs() {
                        let sum = Words(self.scratch[4 * size + usize::from(*place)]);
                        self.put(out, sum ^ self.at.read(self.dealt, dealt));
                        dealt += 1;
                        out += 1;
                    }
                }
                Prepared::Table {
                    products,
                    summands,
                    marks,
                    ..
                } => {
                    self.expand::<BEFORE>(slots, products, dealt);
                    dealt += products.len();
                    for (sets, marks) in summands.iter().zip(marks) {
                        let mut sum = Words([0; C]);
                        if C == 1 {
                            // Few lanes leave vectors free for the sets.
                            let products = self.scratch.as_flattened().iter().zip(marks);
                            sum.0[0] = products.fold(0, |sum, (word, mark)| sum ^ word & mark);
                        } else {
                            for set in sets {
                                sum = sum ^ Words(self.scratch[usize::from(*set)]);
                            }
                        }
                        self.put(out, sum);
                        out += 1;
                    }
                }
            }
        }
    }
}
