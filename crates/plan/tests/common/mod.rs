//! Interpreter of plans in the clear, written from the contract of `steps` alone: one byte per bit,
//! one party, no protocol. Its results are compared with those of the reference interpreter. Below
//! it are short constructors of programs.

// Each test file uses a part of it.
mod loops;
mod ring;
mod sketch;

pub use sketch::Sketch;

use sealane_circuit::Tape;
use sealane_party::{Planes, Shares};
use sealane_plan::steps::{Operand, Plan, PlanValue, Produced, Segment, Step, StepOp};
use sealane_program::graph::Program;
use sealane_program::types::{Data, RowId};
use sealane_protocol::{Algebra, View};
use std::collections::BTreeMap;
use std::rc::Rc;

type Bits = Planes<u8>;

/// Runs a plan on inputs by name; returns results by name.
pub fn run(
    plan: &Plan,
    program: &Program,
    inputs: &BTreeMap<String, Data>,
    rows: &[u64],
) -> BTreeMap<String, Data> {
    let names = program.inputs.iter();
    let mut machine = Interpreter {
        plan,
        rows,
        inputs: names.map(|input| &inputs[&input.name]).collect(),
        values: BTreeMap::new(),
        tiles: BTreeMap::new(),
        later: BTreeMap::new(),
    };
    for segment in &plan.segments {
        machine.segment(segment, rows);
    }
    let result = |result: &sealane_plan::steps::ResultPlan| {
        let value = &plan[result.value];
        let bits = match value.rows {
            Some(_) => {
                let tiles = machine.tiles[&result.value].iter().map(Rc::as_ref);
                Rc::new(Bits::concat(&tiles.collect::<Vec<_>>()))
            }
            None => Rc::clone(&machine.values[&result.value]),
        };
        let mut shape = result.fixed.clone();
        shape.splice(0..0, value.rows.map(|table| rows[usize::from(table.0)]));
        let bits = bits.resize(0, usize::from(value.bits), false);
        let numbers = numbers(&bits, value.signed);
        let range = result.range.lo..=result.range.hi;
        assert!(numbers.iter().all(|n| range.contains(n)));
        let data = Data::from_numbers(result.ty, shape, &numbers).expect("values of the type");
        (result.name.clone(), data)
    };
    plan.results.iter().map(result).collect()
}

struct Interpreter<'a> {
    plan: &'a Plan,
    rows: &'a [u64],
    inputs: Vec<&'a Data>,
    /// Values of the current tile, and values without rows.
    values: BTreeMap<PlanValue, Rc<Bits>>,
    /// The tiles of values that are kept.
    tiles: BTreeMap<PlanValue, Vec<Rc<Bits>>>,
    /// Results that a walk over rows has accumulated and leaves at its end.
    later: BTreeMap<PlanValue, Rc<Bits>>,
}

impl Interpreter<'_> {
    fn segment(&mut self, segment: &Segment, rows: &[u64]) {
        let Some(table) = segment.rows.map(|table| usize::from(table.0)) else {
            return self.steps(segment, 0, 1, 0);
        };
        let (count, size) = (rows[table], self.plan.rows[table].tile);
        for (tile, start) in (0..count).step_by(size as usize).enumerate() {
            let here = size.min(count - start);
            for (value, tiles) in &self.tiles {
                let known = &self.plan[value];
                if let (true, Some(bits)) = (known.rows == segment.rows, tiles.get(tile)) {
                    self.values.insert(*value, Rc::clone(bits));
                }
            }
            self.steps(segment, start, here, tile);
            for step in &segment.steps {
                let kept = |v: &PlanValue| self.plan[v].kept;
                for value in step.op.writes().into_iter().filter(kept) {
                    let bits = Rc::clone(&self.values[&value]);
                    self.tiles.entry(value).or_default().push(bits);
                }
            }
            // Rows of this tile are gone unless they are kept.
            self.values.retain(|v, _| self.plan[v].rows.is_none());
        }
        self.values.append(&mut self.later);
    }

    fn steps(&mut self, segment: &Segment, start: u64, rows: u64, tile: usize) {
        for step in &segment.steps {
            for (value, bits) in self.step(step, start, rows, tile) {
                let known = &self.plan[value];
                assert_eq!(bits.planes(), self.width(value), "planes of {value:?}");
                let all = known.rows.filter(|_| segment.rows.is_none());
                let rows = all.map_or(rows, |table| self.rows[usize::from(table.0)]);
                let elements = known.elements * known.rows.map_or(1, |_| rows);
                assert_eq!(bits.elements() as u64, elements, "elements of {value:?}");
                if let Some(table) = all {
                    self.split(value, table, &bits);
                } else {
                    self.values.insert(value, Rc::new(bits));
                }
            }
        }
    }

    /// Keeps rows that were made all at once, tile by tile.
    fn split(&mut self, value: PlanValue, table: RowId, bits: &Bits) {
        let table = usize::from(table.0);
        let (count, size) = (self.rows[table], self.plan.rows[table].tile);
        let each = self.plan[value].elements;
        let tile = |start: u64| {
            let here = size.min(count - start) * each;
            let view = View::new((start * each) as usize, vec![(here as usize, 1)]);
            Rc::new(bits.gather(&view, &one_element()))
        };
        let tiles = (0..count).step_by(size as usize).map(tile).collect();
        self.tiles.insert(value, tiles);
    }

    fn step(&mut self, step: &Step, start: u64, rows: u64, tile: usize) -> Vec<(PlanValue, Bits)> {
        match &step.op {
            StepOp::Input { input, out } => {
                let data = self.inputs[*input as usize];
                let value = &self.plan[out];
                let from = value.rows.map_or(0, |_| start) * value.elements;
                let count = value.rows.map_or(1, |_| rows) * value.elements;
                let numbers = data.numbers().skip(from as usize).take(count as usize);
                vec![(*out, bits(&numbers.collect::<Vec<_>>(), self.width(*out)))]
            }
            StepOp::Constant { data, out } => {
                let numbers = data.numbers().collect::<Vec<_>>();
                vec![(*out, bits(&numbers, self.width(*out)))]
            }
            StepOp::Move { operand, out } => {
                let inner = operand.inner.at(rows).count();
                vec![(*out, self.gather(operand, rows).spread(inner))]
            }
            StepOp::RowNumber { out } => {
                let numbers = (start..start + rows).map(i128::from).collect::<Vec<_>>();
                vec![(*out, bits(&numbers, self.width(*out)))]
            }
            StepOp::Rearrange(step) => {
                let all = self.rows[usize::from(step.rows.0)];
                let from = self.gather_all(&step.operand, Some(step.rows));
                let planes = from.planes();
                let places = step.how.places(all as usize);
                let mut moved = Bits::zeros(planes, places.len());
                for (at, place) in places.iter().enumerate() {
                    if let Some(place) = place {
                        for plane in 0..planes {
                            moved.plane_mut(plane)[at] = from.plane(plane)[*place];
                        }
                    }
                }
                let inner = step.operand.inner.at(all).count();
                vec![(step.out, moved.spread(inner))]
            }
            StepOp::Append { parts, out, .. } => {
                let part = |(table, operand): &(RowId, Operand)| {
                    let all = self.rows[usize::from(table.0)];
                    let rows = self.gather_all(operand, Some(*table));
                    rows.spread(operand.inner.at(all).count())
                };
                let parts = parts.iter().map(part).collect::<Vec<_>>();
                vec![(*out, Bits::concat(&parts.iter().collect::<Vec<_>>()))]
            }
            StepOp::CompareExchange(step) => self.compare_exchange(step),
            StepOp::Cross(step) => self.cross(step, rows),
            StepOp::Sort(step) => self.sort(step),
            StepOp::Concat { parts, out } => {
                let elements = parts.iter().map(|part| part.inner.at(rows).count()).sum();
                let parts: Vec<_> = parts.iter().map(|part| self.gather(part, rows)).collect();
                let joined = Bits::concatenate(&parts.iter().collect::<Vec<_>>());
                vec![(*out, joined.spread(elements))]
            }
            StepOp::Convert { value, out } => {
                let known = &self.plan[value];
                let signed = known.signed && known.domain.algebra == Algebra::Z2;
                let fits = usize::from(known.bits) <= self.width(*out);
                assert!(fits, "no bit of {value:?} is lost");
                let converted = self.values[value].resize(0, self.width(*out), signed);
                vec![(*out, converted)]
            }
            StepOp::Settle | StepOp::Reveal { .. } => Vec::new(),
            StepOp::Open { value, out } => {
                let opened = self.values[value].resize(0, self.width(*out), false);
                vec![(*out, opened)]
            }
            StepOp::Tape {
                tape,
                operands,
                outs,
                ..
            } => {
                let operands = self.gather_each(operands, rows);
                let tape = &self.plan.tapes[tape.0 as usize];
                let result = evaluate(tape, &operands.iter().collect::<Vec<_>>());
                self.produced(&result, outs)
            }
            StepOp::Linear(step) => self.linear(step, rows, tile),
            StepOp::Product(step) => self.product(step, rows),
            StepOp::Ring(_) => unreachable!("a step that these protocols lack"),
            StepOp::Fold(step) => self.fold(step, rows, tile),
            StepOp::Scan(step) => self.scan(step, rows, tile),
        }
    }

    /// An operand in all rows of a table, or in one that has none.
    fn gather_all(&self, operand: &Operand, rows: Option<RowId>) -> Bits {
        let Some(table) = rows else {
            return self.gather(operand, 1);
        };
        let rows = self.rows[usize::from(table.0)];
        let tiles = self.tiles[&operand.value].iter().map(Rc::as_ref);
        let whole = Bits::concat(&tiles.collect::<Vec<_>>());
        whole.gather(&operand.lanes.at(rows), &operand.inner.at(rows))
    }

    /// Planes of a value: its bits, or all those of a ring element.
    fn width(&self, value: PlanValue) -> usize {
        let known = &self.plan[value];
        usize::from(match known.domain.algebra {
            Algebra::Z2k(k) => k,
            _ => known.bits,
        })
    }

    fn gather(&self, operand: &Operand, rows: u64) -> Bits {
        self.values[&operand.value].gather(&operand.lanes.at(rows), &operand.inner.at(rows))
    }

    fn gather_each(&self, operands: &[Operand], rows: u64) -> Vec<Bits> {
        operands
            .iter()
            .map(|operand| self.gather(operand, rows))
            .collect()
    }

    /// All elements of each value as the planes of one lane.
    fn in_one_lane(&self, values: &[PlanValue]) -> Vec<Bits> {
        values
            .iter()
            .map(|v| in_one_lane(&self.values[v]))
            .collect()
    }

    fn produced(&self, result: &Bits, outs: &[Produced]) -> Vec<(PlanValue, Bits)> {
        let out = |out: &Produced| {
            let bits = usize::from(self.plan[out.value].bits);
            let inner = out.inner as usize;
            let planes = result.resize(out.first as usize, inner * bits, false);
            (out.value, planes.spread(inner))
        };
        outs.iter().map(out).collect()
    }
}

fn one_element() -> View {
    View::new(0, vec![])
}

/// The element at an index.
fn one(bits: &Bits, at: usize) -> Bits {
    bits.gather(&View::new(at, vec![]), &one_element())
}

fn copy(bits: &Bits) -> Bits {
    bits.gather(&View::whole(bits.elements()), &one_element())
}

/// All elements as the planes of one lane.
fn in_one_lane(bits: &Bits) -> Bits {
    bits.gather(&one_element(), &View::whole(bits.elements()))
}

/// Runs a tape lane by lane over bytes.
fn evaluate(tape: &Tape, operands: &[&Bits]) -> Bits {
    let lanes = operands.first().map_or(1, |bits| bits.elements());
    let equal = operands.iter().all(|bits| bits.elements() == lanes);
    assert!(equal, "equal lanes");
    let mut slots = vec![vec![0u8; lanes]; tape.slots as usize];
    slots[1].fill(1);
    let planes = operands.iter();
    let planes = planes.flat_map(|bits| (0..bits.planes()).map(|p| bits.plane(p)));
    let inputs = planes.map(<[u8]>::to_vec).collect::<Vec<_>>();
    assert_eq!(inputs.len(), tape.inputs as usize, "the inputs of the tape");
    slots[2..2 + inputs.len()].clone_from_slice(&inputs);
    for batch in &tape.batches {
        for gate in &tape.xors[batch.xors.start as usize..batch.xors.end as usize] {
            let out = (0..lanes).map(|l| slots[gate.a as usize][l] ^ slots[gate.b as usize][l]);
            slots[gate.out as usize] = out.collect();
        }
        for gate in &tape.ands[batch.ands.start as usize..batch.ands.end as usize] {
            let out = (0..lanes).map(|l| slots[gate.a as usize][l] & slots[gate.b as usize][l]);
            slots[gate.out as usize] = out.collect();
        }
    }
    let data = tape.outputs.iter();
    let data = data.flat_map(|slot| slots[*slot as usize].clone());
    Bits::new(tape.outputs.len(), lanes, data.collect())
}

fn bits(numbers: &[i128], width: usize) -> Bits {
    let plane = |p: usize| numbers.iter().map(move |n| (n >> p & 1) as u8);
    Bits::new(width, numbers.len(), (0..width).flat_map(plane).collect())
}

fn numbers(bits: &Bits, signed: bool) -> Vec<i128> {
    let number = |element: usize| {
        let bit = |p: usize| i128::from(bits.plane(p)[element]) << p;
        let value = (0..bits.planes()).map(bit).sum::<i128>();
        let top = 1 << (bits.planes() - 1);
        let negative = signed && value & top != 0;
        value - if negative { 2 * top } else { 0 }
    };
    (0..bits.elements()).map(number).collect()
}
