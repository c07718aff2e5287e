//! Interpreter of plans in the clear, written from the contract of `steps` alone: one byte per bit,
//! one party, no protocol. Its results are compared with those of the reference interpreter. Below
//! it are short constructors of programs.

// Each test file uses a part of it.
mod ring;

use sealane_circuit::Tape;
use sealane_party::{Planes, Shares};
use sealane_plan::steps::{
    Crossed, Operand, Plan, PlanValue, Produced, Segment, SortKey, Step, StepOp,
};
use sealane_program::builder::{Builder, Handle, Index, Operand as SourceOperand};
use sealane_program::graph::{Binary, Input, Program, Reduction};
use sealane_program::types::{Data, RowId, Shape, Type};
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
    let mut machine = Interpreter {
        plan,
        rows,
        inputs: program
            .inputs
            .iter()
            .map(|input| &inputs[&input.name])
            .collect(),
        values: BTreeMap::new(),
        tiles: BTreeMap::new(),
        later: BTreeMap::new(),
    };
    for segment in &plan.segments {
        machine.segment(segment, rows);
    }
    let result = |result: &sealane_plan::steps::ResultPlan| {
        let value = &plan.values[result.value.0 as usize];
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
        assert!(
            numbers
                .iter()
                .all(|n| result.range.lo <= *n && *n <= result.range.hi)
        );
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
                let known = &self.plan.values[value.0 as usize];
                if let (true, Some(bits)) = (known.rows == segment.rows, tiles.get(tile)) {
                    self.values.insert(*value, Rc::clone(bits));
                }
            }
            self.steps(segment, start, here, tile);
            for step in &segment.steps {
                let kept = |v: &PlanValue| self.plan.values[v.0 as usize].kept;
                for value in step.op.writes().into_iter().filter(kept) {
                    let bits = Rc::clone(&self.values[&value]);
                    self.tiles.entry(value).or_default().push(bits);
                }
            }
            // Rows of this tile are gone unless they are kept.
            self.values
                .retain(|v, _| self.plan.values[v.0 as usize].rows.is_none());
        }
        self.values.append(&mut self.later);
    }

    fn steps(&mut self, segment: &Segment, start: u64, rows: u64, tile: usize) {
        for step in &segment.steps {
            for (value, bits) in self.step(step, start, rows, tile) {
                let known = &self.plan.values[value.0 as usize];
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
        let each = self.plan.values[value.0 as usize].elements;
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
                let value = &self.plan.values[out.0 as usize];
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
            StepOp::Rearrange {
                how,
                rows: table,
                operand,
                out,
            } => {
                let all = self.rows[usize::from(table.0)];
                let from = self.gather_all(operand, Some(*table));
                let planes = from.planes();
                let places = how.places(all as usize);
                let mut moved = Bits::zeros(planes, places.len());
                for (at, place) in places.iter().enumerate() {
                    if let Some(place) = place {
                        for plane in 0..planes {
                            moved.plane_mut(plane)[at] = from.plane(plane)[*place];
                        }
                    }
                }
                let inner = operand.inner.at(all).count();
                vec![(*out, moved.spread(inner))]
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
            StepOp::CompareExchange { .. } => self.compare_exchange(step),
            StepOp::Cross { .. } => self.cross(step, rows),
            StepOp::Sort { .. } => self.sort(step),
            StepOp::Concat { parts, out } => {
                let elements = parts.iter().map(|part| part.inner.at(rows).count()).sum();
                let parts: Vec<_> = parts.iter().map(|part| self.gather(part, rows)).collect();
                let joined = Bits::concatenate(&parts.iter().collect::<Vec<_>>());
                vec![(*out, joined.spread(elements))]
            }
            StepOp::Convert { value, out } => {
                let known = &self.plan.values[value.0 as usize];
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
                let operands = operands.iter().map(|operand| self.gather(operand, rows));
                let operands = operands.collect::<Vec<_>>();
                let tape = &self.plan.tapes[tape.0 as usize];
                let result = evaluate(tape, &operands.iter().collect::<Vec<_>>());
                self.produced(&result, outs)
            }
            StepOp::Linear { .. } => self.linear(step, rows, tile),
            StepOp::Product { .. } => self.product(step, rows),
            StepOp::Fold { .. } => self.fold(step, rows, tile),
            StepOp::Scan { .. } => self.scan(step, rows, tile),
        }
    }

    /// Rows times rows, pair by pair: the tape that combines blocks combines all.
    fn cross(&mut self, step: &Step, rows: u64) -> Vec<(PlanValue, Bits)> {
        let StepOp::Cross {
            rows: table,
            length,
            tape,
            over,
            across,
            captured,
            outs,
        } = &step.op
        else {
            unreachable!("rows times rows")
        };
        let tape = &self.plan.tapes[tape.0 as usize];
        let all = self.rows[usize::from(table.0)] as usize;
        let over = over.iter().map(|operand| self.gather(operand, rows));
        let over = over.collect::<Vec<_>>();
        let across = across.iter();
        let across = across.map(|operand| self.gather_all(operand, Some(*table)));
        let across = across.collect::<Vec<_>>();
        let captured = captured.iter().map(|v| in_one_lane(&self.values[v]));
        let captured = captured.collect::<Vec<_>>();
        let one = |column: &Bits, offset: usize| {
            let dims = vec![];
            column.gather(&View { offset, dims }, &one_element())
        };
        let mut made = outs.iter().map(|_| Vec::new()).collect::<Vec<_>>();
        for lane in 0..length.at(rows) as usize {
            let mut totals: Vec<Option<Bits>> = outs.iter().map(|_| None).collect();
            for row in 0..all {
                let each = over.iter().map(|column| one(column, lane));
                let met = across.iter().map(|column| one(column, row));
                let pair = each.chain(met).collect::<Vec<_>>();
                let operands = pair.iter().chain(&captured).collect::<Vec<_>>();
                let result = evaluate(tape, &operands);
                for (out, total) in outs.iter().zip(&mut totals) {
                    let (inner, first) = (out.inner as usize, usize::from(out.bits[0]));
                    let last = usize::from(*out.bits.last().expect("a width"));
                    let own = result.resize(out.first as usize, inner * first, false);
                    let own = own.spread(inner).resize(0, last, out.signed);
                    let carry = &self.plan.tapes[out.carry.0 as usize];
                    *total = Some(match total.take() {
                        None => own,
                        Some(before) => evaluate(carry, &[&before, &own]),
                    });
                }
            }
            let totals = totals.into_iter().map(|total| total.expect("a row"));
            made.iter_mut()
                .zip(totals)
                .for_each(|(all, total)| all.push(total));
        }
        let join = |(out, parts): (&Crossed, Vec<Bits>)| {
            (out.value, Bits::concat(&parts.iter().collect::<Vec<_>>()))
        };
        outs.iter().zip(made).map(join).collect()
    }

    fn compare_exchange(&mut self, step: &Step) -> Vec<(PlanValue, Bits)> {
        let StepOp::CompareExchange {
            network,
            tape,
            rows,
            length,
            over,
            captured,
            outs,
        } = &step.op
        else {
            unreachable!("a network")
        };
        let length = match rows {
            Some(table) => self.rows[usize::from(table.0)],
            None => length.at(1),
        };
        let columns = over.iter().map(|operand| self.gather_all(operand, *rows));
        let mut columns: Vec<_> = columns.collect();
        let captured = captured.iter().map(|v| in_one_lane(&self.values[v]));
        let captured: Vec<_> = captured.collect();
        let tape = &self.plan.tapes[tape.0 as usize];
        for stage in network.stages(length as usize) {
            let all = |views: Vec<View>| views.iter().flat_map(View::indices).collect::<Vec<_>>();
            let (firsts, seconds) = (all(stage.firsts()), all(stage.seconds()));
            let before = columns.iter().map(copy).collect::<Vec<_>>();
            for (at, i) in firsts.iter().enumerate() {
                let one = |column: &Bits, at: usize| {
                    column.gather(&View::new(at, vec![]), &one_element())
                };
                let x = before.iter().map(|column| one(column, *i));
                let y = before.iter().map(|column| match seconds.get(at) {
                    Some(j) => one(column, *j),
                    None => Bits::zeros(column.planes(), 1),
                });
                let pair = x.chain(y).collect::<Vec<_>>();
                let operands = pair.iter().chain(&captured).collect::<Vec<_>>();
                let result = evaluate(tape, &operands);
                let mut first = 0;
                let places = [Some(*i), seconds.get(at).copied()];
                for (place, writes) in places.into_iter().zip(network.writes()) {
                    if !writes {
                        continue;
                    }
                    for column in &mut columns {
                        for plane in 0..column.planes() {
                            let bit = result.plane(first + plane)[0];
                            column.plane_mut(plane)[place.expect("a place")] = bit;
                        }
                        first += column.planes();
                    }
                }
            }
        }
        let made = outs.iter().zip(over).zip(columns);
        made.map(|((out, operand), column)| (*out, column.spread(operand.inner.at(1).count())))
            .collect()
    }

    fn sort(&mut self, step: &Step) -> Vec<(PlanValue, Bits)> {
        let StepOp::Sort {
            keys,
            rows,
            over,
            outs,
            ..
        } = &step.op
        else {
            unreachable!("a sort")
        };
        let columns = over.iter().map(|operand| self.gather_all(operand, *rows));
        let columns = columns.collect::<Vec<_>>();
        let count = columns[0].elements();
        let key = |key: &SortKey, row: usize| {
            let signed = self.plan.values[over[key.operand as usize].value.0 as usize].signed;
            let number = numbers(&columns[key.operand as usize], signed)[row];
            if key.descending { -number } else { number }
        };
        let mut order = (0..count).collect::<Vec<_>>();
        order.sort_by_key(|row| keys.iter().map(|of| key(of, *row)).collect::<Vec<_>>());
        let made = outs.iter().zip(over).zip(&columns);
        let sorted = made.map(|((out, operand), column)| {
            let mut sorted = Bits::zeros(column.planes(), count);
            for plane in 0..column.planes() {
                for (to, from) in sorted.plane_mut(plane).iter_mut().zip(&order) {
                    *to = column.plane(plane)[*from];
                }
            }
            (*out, sorted.spread(operand.inner.at(1).count()))
        });
        sorted.collect()
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

    fn fold(&mut self, step: &Step, rows: u64, tile: usize) -> Vec<(PlanValue, Bits)> {
        let StepOp::Fold {
            operand,
            length,
            lanes,
            levels,
            bits,
            signed,
            carry,
            out,
        } = &step.op
        else {
            unreachable!("a fold")
        };
        let lanes = lanes.iter().map(|len| len.at(rows)).product::<u64>() as usize;
        let mut length_left = length.at(rows) as usize;
        let mut level = self.gather(operand, rows);
        for (at, tape) in levels.iter().enumerate() {
            let pairs = length_left / 2;
            let part = |first: usize, count: usize| {
                let lanes = View::new(first * lanes, vec![(count * lanes, 1)]);
                level.gather(&lanes, &View::new(0, vec![]))
            };
            let (low, high) = (part(0, pairs), part(pairs, pairs));
            let odd = part(2 * pairs, length_left - 2 * pairs);
            let odd = odd.resize(0, usize::from(bits[at + 1]), *signed);
            let tape = &self.plan.tapes[tape.0 as usize];
            level = match pairs {
                0 => odd,
                _ => Bits::concat(&[&evaluate(tape, &[&low, &high]), &odd]),
            };
            length_left -= pairs;
        }
        assert_eq!(length_left, 1, "enough levels");
        let by_rows = *length == sealane_plan::steps::Len::Rows;
        if !by_rows {
            return vec![(*out, level)];
        }
        if let (Some(so_far), true) = (self.later.get(out), tile > 0) {
            let carry = carry.expect("a carry where there are several tiles");
            level = evaluate(&self.plan.tapes[carry.0 as usize], &[so_far, &level]);
        }
        self.later.insert(*out, Rc::new(level));
        Vec::new()
    }

    fn scan(&mut self, step: &Step, rows: u64, tile: usize) -> Vec<(PlanValue, Bits)> {
        let StepOp::Scan {
            tape,
            length,
            init,
            over,
            captured,
            carries,
            outs,
        } = &step.op
        else {
            unreachable!("a scan")
        };
        let by_rows = *length == sealane_plan::steps::Len::Rows;
        let from = if by_rows && tile > 0 { carries } else { init };
        let before =
            |v: &PlanValue| Rc::clone(self.later.get(v).unwrap_or_else(|| &self.values[v]));
        let mut state = from.iter().map(before).collect::<Vec<_>>();
        let tape = &self.plan.tapes[tape.0 as usize];
        let over = over.iter().map(|operand| self.gather(operand, rows));
        let over: Vec<_> = over.collect();
        let captured = captured.iter().map(|v| in_one_lane(&self.values[v]));
        let captured: Vec<_> = captured.collect();
        let mut written = Vec::new();
        for index in 0..length.at(rows) as usize {
            let one = View::new(index, vec![]);
            let elements = over.iter().map(|bits| bits.gather(&one, &one_element()));
            let elements = elements.collect::<Vec<_>>();
            let carried: Vec<_> = state.iter().map(|bits| in_one_lane(bits)).collect();
            let operands: Vec<_> = carried.iter().chain(&elements).chain(&captured).collect();
            let result = evaluate(tape, &operands);
            let mut first = 0;
            for (state, value) in state.iter_mut().zip(carries) {
                let known = &self.plan.values[value.0 as usize];
                let (elements, bits) = (known.elements as usize, usize::from(known.bits));
                *state = Rc::new(
                    result
                        .resize(first, elements * bits, false)
                        .spread(elements),
                );
                first += elements * bits;
            }
            written.push(self.produced(&result, outs));
        }
        let mut made = Vec::new();
        for (at, out) in outs.iter().enumerate() {
            let parts = written.iter().map(|parts| &parts[at].1).collect::<Vec<_>>();
            made.push((out.value, Bits::concat(&parts)));
        }
        for (value, bits) in carries.iter().zip(state) {
            if by_rows {
                drop(self.later.insert(*value, bits))
            } else {
                made.push((*value, copy(&bits)))
            }
        }
        made
    }

    /// Planes of a value: its bits, or all those of a ring element.
    fn width(&self, value: PlanValue) -> usize {
        let known = &self.plan.values[value.0 as usize];
        usize::from(match known.domain.algebra {
            Algebra::Z2k(k) => k,
            _ => known.bits,
        })
    }

    fn gather(&self, operand: &Operand, rows: u64) -> Bits {
        self.values[&operand.value].gather(&operand.lanes.at(rows), &operand.inner.at(rows))
    }

    fn produced(&self, result: &Bits, outs: &[Produced]) -> Vec<(PlanValue, Bits)> {
        let out = |out: &Produced| {
            let bits = usize::from(self.plan.values[out.value.0 as usize].bits);
            let inner = out.inner as usize;
            (
                out.value,
                result
                    .resize(out.first as usize, inner * bits, false)
                    .spread(inner),
            )
        };
        outs.iter().map(out).collect()
    }
}

fn one_element() -> View {
    View::new(0, vec![])
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
    let planes = operands
        .iter()
        .flat_map(|bits| (0..bits.planes()).map(|p| bits.plane(p)));
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
        if signed && value & top != 0 {
            value - 2 * top
        } else {
            value
        }
    };
    (0..bits.elements()).map(number).collect()
}

/// Short constructors of programs with two parties and one table.
pub struct Sketch {
    b: Builder,
    rows: RowId,
}

impl Sketch {
    pub fn new(bound: u64) -> Sketch {
        let mut b = Builder::new("sketch").unwrap();
        b.party("alice").unwrap();
        b.party("bob").unwrap();
        let rows = b.rows("n", bound).unwrap();
        Sketch { b, rows }
    }

    pub fn by_rows(&self, fixed: &[u64]) -> Shape {
        Shape::with_rows(self.rows, fixed)
    }

    pub fn input(&mut self, name: &str, owner: u8, ty: Type, shape: Shape) -> Handle {
        let (name, range) = (name.into(), ty.range());
        let input = Input {
            name,
            owner,
            ty,
            shape,
            range,
            columns: vec![],
            kind: sealane_program::kind::Kind::default(),
            span: None,
        };
        self.b.input(input).unwrap()
    }

    pub fn column(&mut self, name: &str, owner: u8, ty: Type) -> Handle {
        self.input(name, owner, ty, self.by_rows(&[]))
    }

    pub fn constant(&mut self, ty: Type, numbers: &[i128]) -> Handle {
        let data = Data::from_numbers(ty, vec![numbers.len() as u64], numbers).unwrap();
        self.b.constant(data, None).unwrap()
    }

    pub fn binary(&mut self, op: Binary, a: Handle, b: impl Into<Number>) -> Handle {
        self.b.binary(op, a.into(), b.into().0, None).unwrap()
    }

    pub fn select(&mut self, condition: Handle, yes: Handle, no: impl Into<Number>) -> Handle {
        let no = no.into().0;
        self.b
            .select(condition.into(), yes.into(), no, None)
            .unwrap()
    }

    pub fn cast(&mut self, a: Handle, ty: Type) -> Handle {
        self.b.cast(a, ty, None).unwrap()
    }

    pub fn index(&mut self, a: Handle, parts: &[Index]) -> Handle {
        self.b.index(a, parts, None).unwrap()
    }

    pub fn dot(&mut self, a: Handle, b: Handle, ty: Type) -> Handle {
        self.b.dot(a, b, Some(ty), None).unwrap()
    }

    pub fn call(&mut self, name: &str, operands: &[Handle]) -> Handle {
        let operands = operands.iter().map(|of| (*of).into()).collect::<Vec<_>>();
        self.b.call(name, &operands, None).unwrap()
    }

    /// A running sum, from 0: the last one and all of them.
    pub fn running_sum(&mut self, of: Handle, ty: Type) -> [Handle; 2] {
        let zero = self.b.scalar(ty, 0, None).unwrap();
        let (carries, elements) = self.b.begin_scan(&[zero.into()], &[of], None).unwrap();
        let element = self.cast(elements[0], ty);
        let sum = self.binary(Binary::Add, carries[0], element);
        let (carries, outs) = self.b.end_scan(&[sum.into()], &[sum.into()], None).unwrap();
        [carries[0], outs[0]]
    }

    pub fn reduce(&mut self, op: Reduction, a: Handle, axis: Option<i64>) -> Handle {
        self.b.reduce(op, a, axis, None, None).unwrap()
    }

    pub fn accumulate(&mut self, op: Reduction, a: Handle) -> Handle {
        self.b.accumulate(op, a, 0, None, None).unwrap()
    }

    pub fn reduce_to(&mut self, op: Reduction, a: Handle, axis: Option<i64>, ty: Type) -> Handle {
        self.b.reduce(op, a, axis, Some(ty), None).unwrap()
    }

    pub fn map(&mut self, over: Handle, body: impl FnOnce(&mut Self, Handle) -> Handle) -> Handle {
        let element = self.b.begin_map(&[over], None).unwrap()[0];
        let result = body(self, element);
        self.b.end_map(&[result.into()], None).unwrap()[0]
    }

    pub fn reveal(&mut self, name: &str, value: Handle, to: &[u8]) {
        let ty = self.b.value(value).unwrap().ty;
        self.b.reveal(name, value.into(), to, ty, None).unwrap();
    }

    pub fn finish(self) -> Program {
        self.b.finish().unwrap().0
    }
}

/// A handle or a bare number.
pub struct Number(SourceOperand);

impl From<Handle> for Number {
    fn from(handle: Handle) -> Number {
        Number(handle.into())
    }
}

impl From<i128> for Number {
    fn from(number: i128) -> Number {
        Number(number.into())
    }
}
