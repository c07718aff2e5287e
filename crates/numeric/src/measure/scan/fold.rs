//! Circuits some of whose operands' bits are known, and the steps that are left of them.
//!
//! Most of a function's gates are XORs that one other XOR reads and nothing else. Such are one step
//! here, an XOR of any number of values, which runs in registers.

use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, ONE, ZERO};

/// A value, or its opposite.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sign {
    /// The number of the value.
    pub value: u32,
    /// True for its opposite.
    pub opposite: bool,
}

/// A known bit.
const fn known(bit: bool) -> Sign {
    Sign {
        value: ZERO,
        opposite: bit,
    }
}

/// A value as it is.
const fn plain(value: u32) -> Sign {
    Sign {
        value,
        opposite: false,
    }
}

/// A value by those that it is computed from.
#[derive(Clone, Copy)]
pub enum Step {
    /// The AND of two values or their opposites.
    And([Sign; 2]),
    /// The XOR of so many values.
    Xor(u32),
}

/// Steps, each of which makes the value behind those of the steps before: behind a known bit, one
/// number that is not used, and the bits of operands.
#[derive(Clone, Default)]
pub struct Steps {
    /// In order.
    pub steps: Vec<Step>,
    /// Values that the XORs read, one behind the other.
    pub terms: Vec<u32>,
    /// The bits of the result.
    pub outputs: Vec<Sign>,
}

impl Steps {
    /// The steps of a tape. Each XOR that one other XOR reads, and nothing else, is part of that.
    pub fn of(tape: &Tape) -> Steps {
        const { assert!(ZERO == 0 && ONE == 1, "constants have the first numbers") };
        let given = FIRST_INPUT + tape.inputs;
        let mut value: Vec<u32> = (0..tape.slots).collect();
        let mut gates: Vec<(bool, Vec<u32>)> = vec![];
        for batch in &tape.batches {
            let xors = tape.xors_of(batch);
            let ands = tape.ands_of(batch);
            let these = xors.iter().map(|gate| (false, gate));
            for (and, gate) in these.chain(ands.iter().map(|gate| (true, gate))) {
                let operands = vec![value[gate.a as usize], value[gate.b as usize]];
                value[gate.out as usize] = given + gates.len() as u32;
                gates.push((and, operands));
            }
        }
        let outputs = tape.outputs.iter().map(|&slot| value[slot as usize]);
        let outputs: Vec<u32> = outputs.collect();
        let mut readers = vec![0; given as usize + gates.len()];
        for (and, operands) in &gates {
            let weight = if *and { 2 } else { 1 };
            let read = |&of: &u32| readers[of as usize] += weight;
            operands.iter().for_each(read);
        }
        outputs.iter().for_each(|&out| readers[out as usize] += 2);
        let mut all = Steps::default();
        for at in 0..gates.len() {
            let (and, operands) = (gates[at].0, std::mem::take(&mut gates[at].1));
            if and {
                let operands = [operands[0], operands[1]].map(plain);
                all.steps.push(Step::And(operands));
                continue;
            }
            let mut terms = vec![];
            for of in operands {
                let from = of.checked_sub(given).map(|from| from as usize);
                match from.filter(|&from| readers[of as usize] == 1 && !gates[from].0) {
                    Some(from) => terms.append(&mut gates[from].1),
                    None => terms.push(of),
                }
            }
            // One that is part of another keeps its number, with nothing in it.
            if readers[given as usize + at] == 1 {
                gates[at].1 = terms;
                all.steps.push(Step::Xor(0));
            } else {
                all.steps.push(Step::Xor(terms.len() as u32));
                all.terms.append(&mut terms);
            }
        }
        all.outputs = outputs.into_iter().map(plain).collect();
        all
    }

    /// The steps that are left where the bits of operands from a place on are those of a number.
    pub fn fold(&self, inputs: u32, open: u32, number: u64) -> Steps {
        let given = FIRST_INPUT + inputs;
        let mut signs: Vec<Sign> = Vec::with_capacity(given as usize + self.steps.len());
        signs.extend([known(false), known(true)]);
        signs.extend((0..open.min(inputs)).map(|bit| plain(FIRST_INPUT + bit)));
        signs.extend((open..inputs).map(|bit| known(number >> bit & 1 == 1)));
        let mut left = Steps::default();
        let mut odd = vec![false; given as usize + self.steps.len()];
        let mut terms = &self.terms[..];
        let sign_of = |signs: &[Sign], sign: Sign| {
            let mut of = signs[sign.value as usize];
            of.opposite ^= sign.opposite;
            of
        };
        for step in &self.steps {
            let next = given + left.steps.len() as u32;
            let sign = match step {
                Step::And(operands) => {
                    let [a, b] = operands.map(|sign| sign_of(&signs, sign));
                    left.and(a, b, next)
                }
                Step::Xor(count) => {
                    let (these, rest) = terms.split_at(*count as usize);
                    terms = rest;
                    let these = these.iter().map(|&term| signs[term as usize]);
                    left.xor(these, &mut odd, next)
                }
            };
            signs.push(sign);
        }
        let outputs = self.outputs.iter();
        left.outputs = outputs.map(|&out| sign_of(&signs, out)).collect();
        left.needed(given)
    }

    fn and(&mut self, a: Sign, b: Sign, next: u32) -> Sign {
        let constant = |sign: Sign| (sign.value == ZERO).then_some(sign.opposite);
        match (constant(a), constant(b)) {
            (Some(false), _) | (_, Some(false)) => known(false),
            (Some(true), _) => b,
            (_, Some(true)) => a,
            _ if a == b => a,
            _ if a.value == b.value => known(false),
            _ => {
                self.steps.push(Step::And([a, b]));
                plain(next)
            }
        }
    }

    fn xor(&mut self, signs: impl Iterator<Item = Sign>, odd: &mut [bool], next: u32) -> Sign {
        let first = self.terms.len();
        let mut opposite = false;
        for sign in signs {
            opposite ^= sign.opposite;
            if sign.value != ZERO {
                odd[sign.value as usize] ^= true;
                self.terms.push(sign.value);
            }
        }
        // Of a value that is read several times, one or none is left.
        let mut kept = first;
        for at in first..self.terms.len() {
            let value = self.terms[at];
            if std::mem::take(&mut odd[value as usize]) {
                self.terms[kept] = value;
                kept += 1;
            }
        }
        self.terms.truncate(kept);
        let value = match kept - first {
            0 => ZERO,
            1 => self.terms.pop().unwrap_or(ZERO),
            count => {
                self.steps.push(Step::Xor(count as u32));
                next
            }
        };
        Sign { value, opposite }
    }

    /// The steps without those that no output needs.
    fn needed(&self, given: u32) -> Steps {
        let mut needed = vec![false; given as usize + self.steps.len()];
        for out in &self.outputs {
            needed[out.value as usize] = true;
        }
        let mut end = self.terms.len();
        for (at, step) in self.steps.iter().enumerate().rev() {
            let this = needed[given as usize + at];
            match step {
                Step::And(operands) if this => {
                    for of in operands {
                        needed[of.value as usize] = true;
                    }
                }
                Step::And(_) => {}
                Step::Xor(count) => {
                    let first = end - *count as usize;
                    if this {
                        let terms = &self.terms[first..end];
                        terms.iter().for_each(|&of| needed[of as usize] = true);
                    }
                    end = first;
                }
            }
        }
        let mut number: Vec<u32> = (0..given).collect();
        let mut left = Steps::default();
        let mut terms = &self.terms[..];
        let of = |number: &[u32], sign: Sign| Sign {
            value: number[sign.value as usize],
            ..sign
        };
        for (at, &step) in self.steps.iter().enumerate() {
            let this = needed[given as usize + at];
            number.push(given + left.steps.len() as u32);
            let step = match step {
                Step::And(operands) => Step::And(operands.map(|sign| of(&number, sign))),
                Step::Xor(count) => {
                    let (these, rest) = terms.split_at(count as usize);
                    terms = rest;
                    if this {
                        let these = these.iter().map(|&term| number[term as usize]);
                        left.terms.extend(these);
                    }
                    step
                }
            };
            if this {
                left.steps.push(step);
            }
        }
        left.outputs = self.outputs.iter().map(|&out| of(&number, out)).collect();
        left
    }
}
