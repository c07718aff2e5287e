//! Sums and products modulo `2^k`, element by element; an element is its `k` bits.

use super::{Bits, Interpreter, bits, numbers};
use sealane_party::Shares;
use sealane_plan::steps::{Linear, LinearFactor, LinearTerm, Operand, PlanValue, Product, lanes};
use std::rc::Rc;

impl Interpreter<'_> {
    pub(super) fn linear(
        &mut self,
        step: &Linear,
        rows: u64,
        tile: usize,
    ) -> Vec<(PlanValue, Bits)> {
        let (lanes, out) = (lanes(&step.lanes, rows) as usize, &step.out);
        let mut sums = vec![0; lanes];
        for term in &step.terms {
            let multiples = self.multiples(term, rows);
            assert_eq!(multiples.len(), lanes, "an element for each lane");
            let both = sums.iter_mut().zip(multiples);
            both.for_each(|(sum, m)| *sum = m.wrapping_add(*sum));
        }
        if !step.carried {
            return vec![(*out, modular(&sums, self.width(*out)))];
        }
        if let (Some(before), true) = (self.later.get(out), tile > 0) {
            let both = sums.iter_mut().zip(numbers(before, false));
            both.for_each(|(sum, b)| *sum = sum.wrapping_add(b as u64));
        }
        let sums = modular(&sums, self.width(*out));
        self.later.insert(*out, Rc::new(sums));
        Vec::new()
    }

    pub(super) fn product(&mut self, step: &Product, rows: u64) -> Vec<(PlanValue, Bits)> {
        let [left, right] = [&step.left, &step.right].map(|operand| self.elements(operand, rows));
        let lane = |(left, right): (&Vec<u64>, &Vec<u64>)| {
            assert_eq!(left.len(), right.len(), "factors in pairs");
            let products = left.iter().zip(right).map(|(l, r)| l.wrapping_mul(*r));
            products.fold(0, u64::wrapping_add)
        };
        let products = left.iter().zip(&right).map(lane).collect::<Vec<_>>();
        let count = lanes(&step.lanes, rows);
        assert_eq!((left.len() as u64, right.len() as u64), (count, count));
        vec![(step.out, modular(&products, self.width(step.out)))]
    }

    /// Value of a term in each lane.
    fn multiples(&self, term: &LinearTerm, rows: u64) -> Vec<u64> {
        let elements = self.elements(&term.operand, rows).into_iter();
        match &term.factor {
            LinearFactor::Number(number) => {
                let sum = |lane: Vec<u64>| lane.into_iter().fold(0, u64::wrapping_add);
                let multiples = elements.map(|lane| sum(lane).wrapping_mul(*number));
                multiples.collect()
            }
            LinearFactor::Table { data, lanes, inner } => {
                let inner = inner.at(rows).indices();
                let multiple = |(lane, elements): (usize, Vec<u64>)| {
                    assert_eq!(elements.len(), inner.len(), "a factor for each element");
                    let factors = inner.iter().map(|offset| data.elements[lane + offset]);
                    let both = elements.iter().zip(factors);
                    let products = both.map(|(e, f)| e.wrapping_mul(f));
                    products.fold(0, u64::wrapping_add)
                };
                let lanes = lanes.at(rows).indices().into_iter();
                lanes.zip(elements).map(multiple).collect()
            }
        }
    }

    /// Elements of each lane.
    fn elements(&self, operand: &Operand, rows: u64) -> Vec<Vec<u64>> {
        let all = numbers(&self.values[&operand.value], false);
        let inner = operand.inner.at(rows).indices();
        let element = |lane: usize, offset: &usize| all[lane + offset] as u64;
        let lane = |lane| inner.iter().map(|offset| element(lane, offset)).collect();
        let lanes = operand.lanes.at(rows).indices().into_iter();
        lanes.map(lane).collect()
    }
}

fn modular(elements: &[u64], k: usize) -> Bits {
    let elements = elements.iter().map(|e| i128::from(*e)).collect::<Vec<_>>();
    let bits = bits(&elements, k);
    assert_eq!(bits.planes(), k);
    bits
}
