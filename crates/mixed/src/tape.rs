//! Circuits on XOR shares: XORs are local, the ANDs of a level take one flight.
//!
//! ANDs of a level with a common operand are a group: one random bit by several others hides them
//! all, so that both parties open the common operand once.

use crate::MixedParty;
use crate::goods::wide;
use crate::role::Computing;
use sealane_circuit::Tape;
use sealane_circuit::shared::{MOST, factored};
use sealane_circuit::tape::{Batch, FIRST_INPUT, ONE};
use sealane_net::Mesh;
use sealane_party::bits::words_for;
use sealane_party::wires::{self, Wires};
use sealane_party::{Form, Planes, Progress, Result, of_any_width};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// A tape of a plan, or one that a step is made of.
pub(crate) enum TapeOf<'a> {
    Plan(&'a Tape),
    Step(Arc<Tape>),
}

impl Deref for TapeOf<'_> {
    type Target = Tape;

    fn deref(&self) -> &Tape {
        match self {
            TapeOf::Plan(tape) => tape,
            TapeOf::Step(tape) => tape,
        }
    }
}

/// Planes of inputs from a number on. Inputs that are not given are zero.
pub(crate) struct Input<'a> {
    pub(crate) first: usize,
    pub(crate) words: &'a [u64],
}

/// Takes the planes of a tape's outputs.
pub(crate) type Finish<'a, const L: bool> = Box<
    dyn FnOnce(&mut Computing<L>, Planes<u64>, &mut Mesh) -> Result<Progress<'a, MixedParty<L>>>
        + Send
        + 'a,
>;

/// A tape in the middle of its batches.
pub(crate) struct RunningTape<'a> {
    tape: TapeOf<'a>,
    lanes: usize,
    wires: Wires<1>,
    batch: usize,
    /// A zero for each slot, to count readers with.
    readers: Vec<u32>,
}

impl<'a> RunningTape<'a> {
    /// A tape whose inputs are loaded. The first party holds the constant 1.
    pub(crate) fn new(
        tape: TapeOf<'a>,
        lanes: usize,
        inputs: &[Input<'_>],
        first: bool,
    ) -> RunningTape<'a> {
        let row = words_for(lanes);
        let mut wires = Wires::new(tape.slots as usize, row);
        if first {
            let form = Form::bits(1, lanes);
            let mut ones = form.zeros();
            ones.data_mut().fill(u64::MAX);
            form.trim(ones.data_mut());
            wires.load(ONE as usize, [ones.data()]);
        }
        for input in inputs {
            for (at, plane) in input.words.chunks(row.max(1)).enumerate() {
                wires.load(FIRST_INPUT as usize + input.first + at, [plane]);
            }
        }
        RunningTape {
            readers: vec![0; tape.slots as usize],
            tape,
            lanes,
            wires,
            batch: 0,
        }
    }
}

/// ANDs of a batch with a common operand.
struct Group {
    /// The slot of the common operand.
    factor: u32,
    /// The slots of the other operands, and of the results.
    others: Vec<[u32; 2]>,
}

impl Group {
    /// Number of ANDs.
    fn width(&self) -> usize {
        self.others.len()
    }
}

/// The ANDs of a batch in groups, by their factors, in the order of the first AND of each: slots,
/// which the compiler gives out, decide nothing of what crosses.
fn groups(readers: &mut [u32], tape: &Tape, batch: &Batch) -> Vec<Group> {
    let (mut groups, mut last) = (Vec::<Group>::new(), BTreeMap::new());
    for (factor, other) in factored(readers, tape, batch) {
        let at = last.get(&factor).copied();
        match at.filter(|at: &usize| groups[*at].width() < MOST) {
            Some(at) => groups[at].others.push(other),
            None => {
                last.insert(factor, groups.len());
                groups.push(Group {
                    factor,
                    others: vec![other],
                });
            }
        }
    }
    groups
}

impl<const L: bool> Computing<L> {
    /// Runs a tape up to its next flight, or to its end.
    pub(crate) fn run_tape<'a>(
        &mut self,
        mut run: RunningTape<'a>,
        finish: Finish<'a, L>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        while let Some(batch) = run.tape.batches.get(run.batch) {
            let xors = run.tape.xors_of(batch);
            of_any_width!(&mut run.wires, chunks => {
                chunks.chunks_mut().for_each(|chunk| wires::add(chunk, xors))
            });
            if !batch.ands.is_empty() {
                return self.open_factors(run, finish, mesh);
            }
            run.batch += 1;
        }
        let form = Form::bits(run.tape.outputs.len(), run.lanes);
        let mut outputs = form.zeros();
        for (plane, slot) in run.tape.outputs.iter().enumerate() {
            let to = outputs.plane_mut(plane);
            run.wires.store(*slot as usize, [to]);
        }
        finish(self, outputs, mesh)
    }

    /// Opens the masked operands of a batch, and goes on.
    fn open_factors<'a>(
        &mut self,
        mut run: RunningTape<'a>,
        finish: Finish<'a, L>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let batch = &run.tape.batches[run.batch];
        let groups = groups(&mut run.readers, &run.tape, batch);
        let rows = groups.iter().map(|group| 1 + group.width()).sum();
        let form = Form::bits(rows, run.lanes);
        let mut own = form.zeros();
        let mut masks = Vec::with_capacity(groups.len());
        let mut row = 0;
        for group in &groups {
            let random = self.goods.take(wide(group.width()), run.lanes)?;
            let slots = group.others.iter().map(|[other, _]| *other);
            for (slot, mask) in std::iter::once(group.factor).chain(slots).zip(&random.bits) {
                let masked = own.plane_mut(row);
                run.wires.store(slot as usize, [&mut *masked]);
                xor(masked, mask);
                row += 1;
            }
            masks.push(random);
        }
        let first = self.first();
        self.open_masked([(form, own)], mesh, move |party, [opened], mesh| {
            let mut product = Form::bits(1, run.lanes).zeros();
            let mut row = 0;
            for (group, random) in groups.iter().zip(&masks) {
                let (width, d) = (group.width(), opened.plane(row));
                let a = &random.bits[0];
                for (at, [_, out]) in group.others.iter().enumerate() {
                    let (e, b) = (opened.plane(row + 1 + at), &random.bits[1 + at]);
                    let c = &random.bits[1 + width + at];
                    let out_row = product.data_mut();
                    for w in 0..out_row.len() {
                        let both = if first { d[w] & e[w] } else { 0 };
                        out_row[w] = c[w] ^ d[w] & b[w] ^ e[w] & a[w] ^ both;
                    }
                    run.wires.load(*out as usize, [product.data()]);
                }
                row += 1 + width;
            }
            run.batch += 1;
            party.run_tape(run, finish, mesh)
        })
    }
}

/// Adds words to words by XOR.
fn xor(sum: &mut [u64], words: &[u64]) {
    sum.iter_mut()
        .zip(words)
        .for_each(|(sum, word)| *sum ^= word);
}
