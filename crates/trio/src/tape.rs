//! Tapes: XORs are local, the ANDs of a batch are one resharing.
//!
//! A product in GF(2^k) is `x_i y_i + x_i y_(i+1) + x_(i+1) y_i` as an AND is, in that field, and
//! is reshared as k bits.
//!
//! Lanes are cut into chunks, and all slots of a chunk lie together, so that the live set of a tape
//! stays in cache for any number of lanes. A wire of a chunk is both components side by side.

use crate::aligned_buffer::AlignedBuffer;
use crate::arrive::Arriving;
use crate::bits::words_for;
use crate::form::Form;
use crate::masked::{MaskedProgress, RunningMasked};
use crate::role_index::RoleIndex;
use crate::roles::Computing;
use crate::share::{Body, Pair, Share};
use sealane_block::{Cpu, Kernel, Lanes};
use sealane_circuit::Tape;
use sealane_circuit::function::Function;
use sealane_circuit::tape::{Applied, FIRST_INPUT, Gate, ONE};
use sealane_net::Mesh;
use sealane_party::{Fault, Result, Shares};
use std::sync::Arc;

/// A tape in the middle of its batches.
pub(crate) struct RunningTape<'a> {
    tape: &'a Tape,
    lanes: usize,
    wires: Wires,
    /// The next batch, or the one whose products are in transit.
    batch: usize,
    products: Option<Arriving>,
}

/// Progress of a tape.
pub(crate) enum TapeProgress<'a> {
    More(Box<RunningTape<'a>>),
    /// Of a tape with functions.
    Masked(Box<RunningMasked<'a>>),
    Done(Share),
}

/// Progress of a tape with functions.
pub(crate) fn masked(progress: MaskedProgress<'_>) -> TapeProgress<'_> {
    match progress {
        MaskedProgress::More(running) => TapeProgress::Masked(running),
        MaskedProgress::Done(share) => TapeProgress::Done(share),
    }
}

impl Computing {
    /// Loads a tape's inputs and runs it up to its first flight.
    pub(crate) fn begin_tape<'a>(
        &mut self,
        tape: &'a Tape,
        lanes: usize,
        operands: &[Arc<Share>],
        mesh: &mut Mesh,
    ) -> Result<TapeProgress<'a>> {
        let planes = operands.iter().map(|share| share.planes()).sum::<usize>();
        let fits = operands.iter().all(|share| share.elements() == lanes);
        if planes != tape.inputs as usize || !fits {
            let what = "operands do not have the shape of the tape";
            return Err(Fault::Internal(what.to_string()));
        }
        if operands
            .iter()
            .any(|share| matches!(share.0, Body::Ring(_)))
        {
            return Err(Fault::Internal("a tape takes bits".to_string()));
        }
        if under_masks(tape) {
            let inputs: Vec<_> = operands.iter().flat_map(|share| inputs(share)).collect();
            return Ok(masked(self.begin_masked(tape, lanes, &inputs, mesh)?));
        }
        let mut wires = Wires::new(tape.slots as usize, words_for(lanes));
        wires.set_one(self.role_index, lanes);
        let mut slot = FIRST_INPUT as usize;
        for share in operands {
            // At a party with a role, a shape alone is zero.
            if let Body::Bits(Pair([own, next])) = &share.0 {
                for plane in 0..share.planes() {
                    wires.load(slot + plane, [own.plane(plane), next.plane(plane)]);
                }
            }
            slot += share.planes();
        }
        let run = RunningTape {
            tape,
            lanes,
            wires,
            batch: 0,
            products: None,
        };
        self.run_tape(Box::new(run), mesh)
    }

    /// Reads the products of a batch and runs up to the next flight.
    pub(crate) fn advance_tape<'a>(
        &mut self,
        mut run: Box<RunningTape<'a>>,
        mesh: &mut Mesh,
    ) -> Result<TapeProgress<'a>> {
        if let Some(products) = run.products.take() {
            let [own, next] = products.finish(mesh)?;
            for (i, out) in outs(run.tape, run.batch).enumerate() {
                run.wires.load(out as usize, [own.plane(i), next.plane(i)]);
            }
            run.batch += 1;
        }
        self.run_tape(run, mesh)
    }

    fn run_tape<'a>(
        &mut self,
        mut run: Box<RunningTape<'a>>,
        mesh: &mut Mesh,
    ) -> Result<TapeProgress<'a>> {
        let tape = run.tape;
        while let Some(batch) = tape.batches.get(run.batch) {
            let gates = Products {
                xors: &tape.xors[batch.xors.start as usize..batch.xors.end as usize],
                ands: ands(tape, run.batch),
                applied: tape.applied_in(run.batch),
                functions: &tape.functions,
                bits: reshared(tape, run.batch),
            };
            let form = Form::bits(gates.bits, run.lanes);
            let mut summand = form.zeros();
            run.wires.run(self.cpu, gates, summand.data_mut());
            if gates.bits > 0 {
                run.products = Some(self.reshare(form, summand, mesh)?);
                return Ok(TapeProgress::More(run));
            }
            run.batch += 1;
        }
        let form = Form::bits(tape.outputs.len(), run.lanes);
        let mut parts = [form.zeros(), form.zeros()];
        for (plane, slot) in tape.outputs.iter().enumerate() {
            let [own, next] = &mut parts;
            let planes = [own.plane_mut(plane), next.plane_mut(plane)];
            run.wires.store(*slot as usize, planes);
        }
        Ok(TapeProgress::Done(form.share(parts)))
    }
}

/// An input of a tape: both components of a plane.
#[derive(Clone, Copy)]
pub(crate) enum Plane<'a> {
    /// The same bit in all lanes, as a word.
    Same([&'a u64; 2]),
    Lanes([&'a [u64]; 2]),
}

/// The planes of an operand; at a party with a role, a shape alone is zero.
fn inputs(share: &Share) -> impl Iterator<Item = Plane<'_>> {
    let planes = 0..share.planes();
    planes.map(move |plane| match &share.0 {
        Body::Bits(Pair([own, next])) => match (own.repeated(plane), next.repeated(plane)) {
            (Some(own), Some(next)) => Plane::Same([own, next]),
            _ => Plane::Lanes([own.plane(plane), next.plane(plane)]),
        },
        _ => Plane::Same([&0; 2]),
    })
}

/// The ANDs of a batch.
pub(crate) fn ands(tape: &Tape, batch: usize) -> &[Gate] {
    let range = &tape.batches[batch].ands;
    &tape.ands[range.start as usize..range.end as usize]
}

/// Returns whether a tape runs under masks: it has a function that is not the product of a field.
pub(crate) fn under_masks(tape: &Tape) -> bool {
    let product = |function: &Function| matches!(function, Function::Field(_));
    !tape.functions.iter().all(product)
}

/// Bits that each role reshares for a batch of a tape without masks, for each lane.
pub(crate) fn reshared(tape: &Tape, batch: usize) -> usize {
    let applied = tape.applied_in(batch).iter();
    ands(tape, batch).len() + applied.map(|applied| applied.outs.len()).sum::<usize>()
}

/// The slots that a batch writes: of ANDs, then of functions.
pub(crate) fn outs(tape: &Tape, batch: usize) -> impl Iterator<Item = u32> + '_ {
    let ands = ands(tape, batch).iter().map(|gate| gate.out);
    let applied = tape.applied_in(batch).iter();
    ands.chain(applied.flat_map(|applied| applied.outs.iter().copied()))
}

/// The gates of a batch without masks.
#[derive(Clone, Copy)]
struct Products<'a> {
    xors: &'a [Gate],
    ands: &'a [Gate],
    /// Products in fields.
    applied: &'a [Applied],
    functions: &'a [Function],
    /// Bits of all products.
    bits: usize,
}

/// Words of a wire in a chunk where there are many lanes: a gate is then a few whole vectors on
/// every CPU tier.
pub(crate) const WIDE: usize = 8;

/// The slots of a tape, for all lanes.
pub(crate) enum Wires {
    /// For few lanes, where wide chunks would be mostly empty.
    Narrow(Chunks<1>),
    Wide(Chunks<WIDE>),
}

/// Runs an expression for chunks of either width.
macro_rules! of_any_width {
    ($wires:expr, $chunks:ident => $run:expr) => {
        match $wires {
            $crate::tape::Wires::Narrow($chunks) => $run,
            $crate::tape::Wires::Wide($chunks) => $run,
        }
    };
}
pub(crate) use of_any_width;

impl Wires {
    /// All slots zero.
    pub(crate) fn new(slots: usize, words: usize) -> Wires {
        if words < WIDE / 2 {
            Wires::Narrow(Chunks::new(slots, words))
        } else {
            Wires::Wide(Chunks::new(slots, words))
        }
    }

    /// The constant 1 has component 0 alone, which roles 0 and 2 hold.
    pub(crate) fn set_one(&mut self, role_index: RoleIndex, lanes: usize) {
        let mut ones = Form::bits(1, lanes).zeros();
        ones.data_mut().fill(u64::MAX);
        Form::bits(1, lanes).trim(ones.data_mut());
        let none = vec![0; words_for(lanes)];
        match role_index.place_of(0) {
            Some(0) => self.load(ONE as usize, [ones.data(), &none]),
            Some(_) => self.load(ONE as usize, [&none, ones.data()]),
            None => {}
        }
    }

    /// Sets both components of a slot.
    pub(crate) fn load(&mut self, slot: usize, parts: [&[u64]; 2]) {
        of_any_width!(self, chunks => chunks.load(slot, parts))
    }

    /// Sets both components of a slot to the same word in all places.
    pub(crate) fn fill(&mut self, slot: usize, words: [u64; 2]) {
        of_any_width!(self, chunks => chunks.fill(slot, words))
    }

    /// Sets the wires that are the same in all lanes to these words.
    pub(crate) fn set_common(&mut self, common: &[[u64; 2]]) {
        of_any_width!(self, chunks => chunks.set_common(common))
    }

    /// Reads both components of a slot.
    pub(crate) fn store(&self, slot: usize, parts: [&mut [u64]; 2]) {
        of_any_width!(self, chunks => chunks.store(slot, parts))
    }

    /// Runs the gates of a batch; this party's summand of each bit of a product goes to its row of
    /// `summands`.
    fn run(&mut self, cpu: Cpu, gates: Products<'_>, summands: &mut [u64]) {
        of_any_width!(self, chunks => chunks.run(cpu, gates, summands))
    }
}

/// Both components of a wire in one chunk.
pub(crate) type Wire<const C: usize> = [[u64; C]; 2];

/// All slots of the first chunk, then all of the next one; the last chunk may be partly empty.
pub(crate) struct Chunks<const C: usize> {
    pub(crate) slots: usize,
    /// Words of a wire, of all chunks.
    pub(crate) words: usize,
    words_of_wires: AlignedBuffer,
    /// Wires that are the same in all lanes, beside the slots.
    words_of_common: AlignedBuffer,
}

impl<const C: usize> Chunks<C> {
    fn new(slots: usize, words: usize) -> Chunks<C> {
        Chunks {
            slots,
            words,
            words_of_wires: AlignedBuffer::zeros(slots * words.div_ceil(C) * 2 * C),
            words_of_common: AlignedBuffer::zeros(0),
        }
    }

    /// The slots of all chunks.
    fn wires(&self) -> &[Wire<C>] {
        self.words_of_wires.as_chunks().0.as_chunks().0
    }

    fn wires_mut(&mut self) -> &mut [Wire<C>] {
        self.words_of_wires.as_chunks_mut().0.as_chunks_mut().0
    }

    /// The slots of each chunk.
    fn chunks_mut(&mut self) -> impl Iterator<Item = &mut [Wire<C>]> {
        let slots = self.slots;
        self.wires_mut().chunks_exact_mut(slots)
    }

    /// The slots of each chunk, and the wires beside them.
    pub(crate) fn chunks_and_common(
        &mut self,
    ) -> (impl Iterator<Item = &mut [Wire<C>]>, &[Wire<C>]) {
        let wires = self.words_of_wires.as_chunks_mut().0.as_chunks_mut().0;
        let common = self.words_of_common.as_chunks().0.as_chunks().0;
        (wires.chunks_exact_mut(self.slots), common)
    }

    fn set_common(&mut self, common: &[[u64; 2]]) {
        self.words_of_common = AlignedBuffer::zeros(common.len() * 2 * C);
        let wires: &mut [Wire<C>] = self.words_of_common.as_chunks_mut().0.as_chunks_mut().0;
        for (wire, words) in wires.iter_mut().zip(common) {
            *wire = words.map(|word| [word; C]);
        }
    }

    fn load(&mut self, slot: usize, parts: [&[u64]; 2]) {
        let slots = self.slots;
        for (place, part) in parts.into_iter().enumerate() {
            let (whole, rest) = part.as_chunks();
            let mut wires = self.wires_mut().iter_mut().skip(slot).step_by(slots);
            // The remainder must not lose its wire: a zip takes from its left side first.
            for (words, wire) in whole.iter().zip(wires.by_ref()) {
                wire[place] = *words;
            }
            if let Some(wire) = wires.next() {
                wire[place][..rest.len()].copy_from_slice(rest);
            }
        }
    }

    fn fill(&mut self, slot: usize, words: [u64; 2]) {
        for chunk in self.chunks_mut() {
            chunk[slot] = words.map(|word| [word; C]);
        }
    }

    fn store(&self, slot: usize, parts: [&mut [u64]; 2]) {
        for (place, part) in parts.into_iter().enumerate() {
            for (chunk, words) in part.chunks_mut(C).enumerate() {
                let wire = &self.wires()[chunk * self.slots + slot][place];
                words.copy_from_slice(&wire[..words.len()]);
            }
        }
    }

    fn run(&mut self, cpu: Cpu, gates: Products<'_>, summands: &mut [u64]) {
        let stride = summands.len() / gates.bits.max(1);
        let functions = gates.applied.iter();
        let places = functions.map(
            |applied| match &gates.functions[applied.function as usize] {
                Function::Field(field) => field.scratch(2),
                _ => 0,
            },
        );
        let mut scratch = AlignedBuffer::zeros(C * places.max().unwrap_or(0));
        for (chunk, wires) in self.chunks_mut().enumerate() {
            cpu.run(Gates {
                gates,
                wires,
                summands: &mut *summands,
                stride,
                first: chunk * C,
                scratch: scratch.as_chunks_mut().0,
            });
        }
    }
}

/// One batch on one chunk. The body has no vectors of its own: its loops have constant length, and
/// the compiler turns them into those of the tier.
struct Gates<'a, const C: usize> {
    gates: Products<'a>,
    wires: &'a mut [Wire<C>],
    /// A row of `stride` words for each bit of a product.
    summands: &'a mut [u64],
    stride: usize,
    /// The index of the chunk's first word in a row.
    first: usize,
    /// Room for a product in a field.
    scratch: &'a mut [[u64; C]],
}

impl<const C: usize> Gates<'_, C> {
    #[inline(always)]
    fn put(&mut self, row: usize, sum: [u64; C]) {
        let row = &mut self.summands[row * self.stride + self.first..(row + 1) * self.stride];
        match row.first_chunk_mut() {
            Some(row) => *row = sum,
            None => row.copy_from_slice(&sum[..row.len()]),
        }
    }
}

impl<const C: usize> Kernel for Gates<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, _: L) {
        add(self.wires, self.gates.xors);
        for (i, gate) in self.gates.ands.iter().enumerate() {
            let x = &self.wires[gate.a as usize];
            let y = &self.wires[gate.b as usize];
            // x_i y_i + x_i y_(i+1) + x_(i+1) y_i
            let mut sum = [0; C];
            for w in 0..C {
                sum[w] = x[0][w] & (y[0][w] ^ y[1][w]) ^ x[1][w] & y[0][w];
            }
            self.put(i, sum);
        }
        let mut row = self.gates.ands.len();
        for applied in self.gates.applied {
            let Function::Field(field) = &self.gates.functions[applied.function as usize] else {
                unreachable!("all other functions run under masks")
            };
            // The same, as x_i (y_i + y_(i+1)) + x_(i+1) y_i.
            let (bits, size) = (field.bits(), field.factor_places());
            for i in 0..bits {
                let x = &self.wires[applied.operands[i] as usize];
                let y = &self.wires[applied.operands[bits + i] as usize];
                let mut both = [0; C];
                for w in 0..C {
                    both[w] = y[0][w] ^ y[1][w];
                }
                self.scratch[i] = x[0];
                self.scratch[size + i] = both;
                self.scratch[2 * size + i] = x[1];
                self.scratch[3 * size + i] = y[0];
            }
            field.add_products(self.scratch, 2);
            let sums = 4 * size;
            for place in field.outputs() {
                self.put(row, self.scratch[sums + usize::from(*place)]);
                row += 1;
            }
        }
    }
}

/// Runs XORs on one chunk.
#[inline(always)]
pub(crate) fn add<const C: usize>(wires: &mut [Wire<C>], xors: &[Gate]) {
    for gate in xors {
        let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
        let out = &mut wires[gate.out as usize];
        for place in 0..2 {
            for w in 0..C {
                out[place][w] = a[place][w] ^ b[place][w];
            }
        }
    }
}
