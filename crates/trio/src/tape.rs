//! Tapes: XORs are local, the ANDs of a batch are one resharing.
//!
//! A product in GF(2^k) is `x_i y_i + x_i y_(i+1) + x_(i+1) y_i` as an AND is, in that field, and
//! is reshared as k bits.

use crate::Share;
use crate::arrive::Arriving;
use crate::masked::{MaskedProgress, RunningMasked};
use crate::record::{self, Proved, Record, Reshared};
use crate::role_index::RoleIndex;
use crate::roles::Computing;
use sealane_block::{Cpu, Kernel, Lanes};
use sealane_circuit::Tape;
use sealane_circuit::function::Function;
use sealane_circuit::tape::{Applied, FIRST_INPUT, Gate, ONE};
use sealane_net::Mesh;
use sealane_party::bits::words_for;
use sealane_party::wires::{self, Chunks};
use sealane_party::{
    AlignedBuffer, Body, Fault, Form, Parts, Planes, Result, Shares, of_any_width,
};
use std::sync::Arc;

/// A tape in the middle of its batches.
pub(crate) struct RunningTape<'a> {
    tape: &'a Tape,
    lanes: usize,
    wires: Wires,
    /// The next batch, or the one whose products are in transit.
    batch: usize,
    products: Option<Arriving>,
    /// Record of its products, under the profile against a malicious party.
    record: Option<Recording>,
}

/// A record under way.
struct Recording {
    products: record::Products,
    /// Proofs of the functions of the tape.
    proved: Vec<Proved>,
}

impl Recording {
    fn of(tape: &Tape, lanes: usize) -> Result<Recording> {
        let proved = tape.functions.iter().map(Proved::of).collect::<Option<_>>();
        let proved = proved.ok_or_else(|| Fault::internal("a function of a tape is not proved"))?;
        let products = record::Products::with_capacity(&record::counts(tape, lanes));
        Ok(Recording { products, proved })
    }

    /// Records the gates of a batch, whose operands are on the wires. `zeros` are the parts of the
    /// shares of zero.
    fn sent(
        &mut self,
        cpu: Cpu,
        wires: &Wires,
        run: (&Tape, usize),
        zeros: &[Planes<u64>; 2],
        lanes: usize,
    ) {
        let (tape, batch) = run;
        let (gates, applied) = (ands(tape, batch), tape.applied_in(batch).iter());
        let slots = gates.iter().flat_map(|gate| [gate.a, gate.b]);
        let slots = slots.chain(
            applied
                .clone()
                .flat_map(|applied| applied.operands.iter().copied()),
        );
        let words = words_for(lanes);
        let mut operands = AlignedBuffer::zeros(2 * words * slots.clone().count());
        for (slot, rows) in slots.zip(operands.chunks_exact_mut(2 * words)) {
            let (own, next) = rows.split_at_mut(words);
            wires.store(slot as usize, [own, next]);
        }
        let batch = Reshared {
            lanes,
            operands: &operands,
            zeros: zeros.each_ref().map(Planes::data),
        };
        let functions = applied.map(|applied| &self.proved[applied.function as usize]);
        self.products.sent(cpu, batch, gates.len(), functions);
    }

    /// Records the messages of the next role for these gates.
    fn received(&mut self, (tape, batch): (&Tape, usize), messages: &Planes<u64>, lanes: usize) {
        let applied = tape.applied_in(batch).iter();
        let functions = applied.map(|applied| &self.proved[applied.function as usize]);
        let gates = ands(tape, batch).len();
        let messages = messages.data();
        self.products.received(lanes, messages, gates, functions);
    }
}

/// Progress of a tape.
pub(crate) enum TapeProgress<'a> {
    More(Box<RunningTape<'a>>),
    /// Of a tape with functions.
    Masked(Box<RunningMasked<'a>>),
    Done(Share, Option<Box<Record>>),
}

/// Progress of a tape with functions.
pub(crate) fn masked(progress: MaskedProgress<'_>) -> TapeProgress<'_> {
    match progress {
        MaskedProgress::More(running) => TapeProgress::Masked(running),
        MaskedProgress::Done(share, record) => TapeProgress::Done(share, record),
    }
}

impl Computing {
    /// Loads a tape's inputs and runs it up to its first flight, and records each product if it is
    /// asked to.
    pub(crate) fn begin_tape<'a>(
        &mut self,
        tape: &'a Tape,
        lanes: usize,
        operands: &[Arc<Share>],
        recorded: bool,
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
            return Ok(masked(
                self.begin_masked(tape, lanes, &inputs, recorded, mesh)?,
            ));
        }
        let mut wires = Wires::new(tape.slots as usize, words_for(lanes));
        set_one(&mut wires, self.role_index, lanes);
        let mut slot = FIRST_INPUT as usize;
        for share in operands {
            // At a party with a role, a shape alone is zero.
            if let Body::Bits(Parts([own, next])) = &share.0 {
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
            record: recorded.then(|| Recording::of(tape, lanes)).transpose()?,
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
            if let Some(record) = &mut run.record {
                record.received((run.tape, run.batch), &next, run.lanes);
            }
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
            run_batch(&mut run.wires, self.cpu, gates, summand.data_mut());
            if gates.bits > 0 {
                if let Some(record) = &mut run.record {
                    let zeros = self.keys.zeros(form);
                    record.sent(self.cpu, &run.wires, (tape, run.batch), &zeros, run.lanes);
                    let zeros = zeros.iter().map(Planes::data);
                    zeros.for_each(|zero| form.group.add(summand.data_mut(), zero));
                    run.products = Some(self.hand_over(form, summand, mesh)?);
                    return Ok(TapeProgress::More(run));
                }
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
        let record = run.record.take();
        let record = record.map(|recording| Box::new(Record::of_products(recording.products)));
        Ok(TapeProgress::Done(form.share(parts), record))
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
        Body::Bits(Parts([own, next])) => match (own.repeated(plane), next.repeated(plane)) {
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

/// Returns whether a tape runs under masks: it has a function that is not the product of a field,
/// and applies one. Those that no output needs are listed alone.
pub(crate) fn under_masks(tape: &Tape) -> bool {
    let product = |function: &Function| matches!(function, Function::Field(_));
    !tape.applied.is_empty() && !tape.functions.iter().all(product)
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

/// The slots of a tape, for all lanes: both components of each.
pub(crate) type Wires = wires::Wires<2>;

/// Both components of a wire in one chunk.
pub(crate) type Wire<const C: usize> = wires::Wire<C, 2>;

/// The constant 1 has component 0 alone, which roles 0 and 2 hold.
pub(crate) fn set_one(wires: &mut Wires, role_index: RoleIndex, lanes: usize) {
    let mut ones = Form::bits(1, lanes).zeros();
    ones.data_mut().fill(u64::MAX);
    Form::bits(1, lanes).trim(ones.data_mut());
    let none = vec![0; words_for(lanes)];
    match role_index.place_of(0) {
        Some(0) => wires.load(ONE as usize, [ones.data(), &none]),
        Some(_) => wires.load(ONE as usize, [&none, ones.data()]),
        None => {}
    }
}

/// Runs the gates of a batch; this party's summand of each bit of a product goes to its row of
/// `summands`.
fn run_batch(wires: &mut Wires, cpu: Cpu, gates: Products<'_>, summands: &mut [u64]) {
    of_any_width!(wires, chunks => run_chunks(chunks, cpu, gates, summands))
}

fn run_chunks<const C: usize>(
    chunks: &mut Chunks<C, 2>,
    cpu: Cpu,
    gates: Products<'_>,
    summands: &mut [u64],
) {
    let stride = summands.len() / gates.bits.max(1);
    let functions = gates.applied.iter();
    let places = functions.map(
        |applied| match &gates.functions[applied.function as usize] {
            Function::Field(field) => field.scratch(2),
            _ => 0,
        },
    );
    let mut scratch = AlignedBuffer::zeros(C * places.max().unwrap_or(0));
    for (chunk, wires) in chunks.chunks_mut().enumerate() {
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
        wires::add(self.wires, self.gates.xors);
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
