//! Steps that run a tape several times: rows times rows, networks, sorts, reductions and loops.

use super::{Bits, Interpreter, copy, evaluate, in_one_lane, numbers, one, one_element};
use sealane_party::Shares;
use sealane_plan::steps::{
    CompareExchange, Cross, Crossed, Fold, Len, PlanValue, Scan, Sort, SortKey, lanes,
};
use sealane_protocol::View;
use std::rc::Rc;

impl Interpreter<'_> {
    /// Rows times rows, pair by pair: the tape that combines blocks combines all.
    pub(super) fn cross(&mut self, step: &Cross, rows: u64) -> Vec<(PlanValue, Bits)> {
        let outs = &step.outs;
        let tape = &self.plan.tapes[step.tape.0 as usize];
        let all = self.rows[usize::from(step.rows.0)] as usize;
        let over = self.gather_each(&step.over, rows);
        let across = step.across.iter();
        let across = across.map(|operand| self.gather_all(operand, Some(step.rows)));
        let across = across.collect::<Vec<_>>();
        let captured = self.in_one_lane(&step.captured);
        let mut made = outs.iter().map(|_| Vec::new()).collect::<Vec<_>>();
        for lane in 0..step.length.at(rows) as usize {
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
            for (all, total) in made.iter_mut().zip(totals) {
                all.push(total.expect("a row"));
            }
        }
        let join = |(out, parts): (&Crossed, Vec<Bits>)| {
            (out.value, Bits::concat(&parts.iter().collect::<Vec<_>>()))
        };
        outs.iter().zip(made).map(join).collect()
    }

    pub(super) fn compare_exchange(&mut self, step: &CompareExchange) -> Vec<(PlanValue, Bits)> {
        let length = match step.rows {
            Some(table) => self.rows[usize::from(table.0)],
            None => step.length.at(1),
        };
        let columns = step.over.iter();
        let columns = columns.map(|operand| self.gather_all(operand, step.rows));
        let mut columns: Vec<_> = columns.collect();
        let captured = self.in_one_lane(&step.captured);
        let tape = &self.plan.tapes[step.tape.0 as usize];
        for stage in step.network.stages(length as usize) {
            let all = |views: Vec<View>| views.iter().flat_map(View::indices).collect::<Vec<_>>();
            let (firsts, seconds) = (all(stage.firsts()), all(stage.seconds()));
            let before = columns.iter().map(copy).collect::<Vec<_>>();
            for (at, i) in firsts.iter().enumerate() {
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
                for (place, writes) in places.into_iter().zip(step.network.writes()) {
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
        let made = step.outs.iter().zip(&step.over).zip(columns);
        made.map(|((out, operand), column)| (*out, column.spread(operand.inner.at(1).count())))
            .collect()
    }

    pub(super) fn sort(&mut self, step: &Sort) -> Vec<(PlanValue, Bits)> {
        let Sort { keys, over, .. } = step;
        let columns = over
            .iter()
            .map(|operand| self.gather_all(operand, step.rows));
        let columns = columns.collect::<Vec<_>>();
        let count = columns[0].elements();
        let key = |key: &SortKey, row: usize| {
            let signed = self.plan[over[key.operand as usize].value].signed;
            let number = numbers(&columns[key.operand as usize], signed)[row];
            if key.descending { -number } else { number }
        };
        let mut order = (0..count).collect::<Vec<_>>();
        order.sort_by_key(|row| keys.iter().map(|of| key(of, *row)).collect::<Vec<_>>());
        let made = step.outs.iter().zip(over).zip(&columns);
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

    pub(super) fn fold(&mut self, step: &Fold, rows: u64, tile: usize) -> Vec<(PlanValue, Bits)> {
        let lanes = lanes(&step.lanes, rows) as usize;
        let mut length_left = step.length.at(rows) as usize;
        let mut level = self.gather(&step.operand, rows);
        for (at, tape) in step.levels.iter().enumerate() {
            let pairs = length_left / 2;
            let part = |first: usize, count: usize| {
                let lanes = View::new(first * lanes, vec![(count * lanes, 1)]);
                level.gather(&lanes, &one_element())
            };
            let (low, high) = (part(0, pairs), part(pairs, pairs));
            let odd = part(2 * pairs, length_left - 2 * pairs);
            let odd = odd.resize(0, usize::from(step.bits[at + 1]), step.signed);
            let tape = &self.plan.tapes[tape.0 as usize];
            level = match pairs {
                0 => odd,
                _ => Bits::concat(&[&evaluate(tape, &[&low, &high]), &odd]),
            };
            length_left -= pairs;
        }
        assert_eq!(length_left, 1, "enough levels");
        if step.length != Len::Rows {
            return vec![(step.out, level)];
        }
        if let (Some(so_far), true) = (self.later.get(&step.out), tile > 0) {
            let carry = step.carry.expect("a carry where there are several tiles");
            level = evaluate(&self.plan.tapes[carry.0 as usize], &[so_far, &level]);
        }
        self.later.insert(step.out, Rc::new(level));
        Vec::new()
    }

    pub(super) fn scan(&mut self, step: &Scan, rows: u64, tile: usize) -> Vec<(PlanValue, Bits)> {
        let Scan { carries, outs, .. } = step;
        let by_rows = step.length == Len::Rows;
        let from = if by_rows && tile > 0 {
            carries
        } else {
            &step.init
        };
        let before =
            |v: &PlanValue| Rc::clone(self.later.get(v).unwrap_or_else(|| &self.values[v]));
        let mut state = from.iter().map(before).collect::<Vec<_>>();
        let tape = &self.plan.tapes[step.tape.0 as usize];
        let over = self.gather_each(&step.over, rows);
        let captured = self.in_one_lane(&step.captured);
        let mut written = Vec::new();
        for index in 0..step.length.at(rows) as usize {
            let elements: Vec<_> = over.iter().map(|bits| one(bits, index)).collect();
            let carried: Vec<_> = state.iter().map(|bits| in_one_lane(bits)).collect();
            let operands: Vec<_> = carried.iter().chain(&elements).chain(&captured).collect();
            let result = evaluate(tape, &operands);
            let mut first = 0;
            for (state, value) in state.iter_mut().zip(carries) {
                let known = &self.plan[value];
                let (elements, bits) = (known.elements as usize, usize::from(known.bits));
                let planes = result.resize(first, elements * bits, false);
                *state = Rc::new(planes.spread(elements));
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
}
