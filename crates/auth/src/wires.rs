//! Wires and masks of many values as one party holds them, and as ports of a tape.

use sealane_block::Block;
use sealane_circuit::Tape;
use sealane_garble::Ports;
use sealane_party::{Planes, Shares};
use sealane_protocol::View;
use std::ops::Range;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Blocks of many values, plane by plane, in parts that move together. Without parts they are all
/// zero, which is the public value 0.
///
/// Parts of [`Masks`] are, for each other party, the MAC of this party's share under that one's
/// offset, whose bit 0 is the share, and the key of the MAC of its share, whose bit 0 is 0. Parts
/// of [`Wires`] are labels, and then those of masks: at the evaluator the label of the masked value
/// of each garbler, of which bit 0 of the first is the masked value; at a garbler its label of the
/// masked value 0, whose bit 0 is 0.
pub struct Stack {
    planes: usize,
    elements: usize,
    parts: Vec<Planes<Block>>,
}

/// Masks of many values.
pub type Masks = Stack;

/// Labels and masks of many values.
pub type Wires = Stack;

impl Stack {
    /// Wraps parts, each of which lies plane by plane.
    pub(crate) fn new(planes: usize, elements: usize, parts: Vec<Vec<Block>>) -> Stack {
        let parts = parts.into_iter();
        let parts = parts.map(|part| Planes::new(planes, elements, part));
        Stack {
            planes,
            elements,
            parts: parts.collect(),
        }
    }

    /// Puts the parts of several behind each other.
    pub(crate) fn join(planes: usize, elements: usize, all: Vec<Stack>) -> Stack {
        let parts = all.into_iter().flat_map(|stack| stack.parts).collect();
        Stack {
            planes,
            elements,
            parts,
        }
    }

    /// The same with all its parts.
    pub(crate) fn whole(self: &Arc<Self>, parts: usize) -> Arc<Stack> {
        if self.parts.len() == parts {
            return Arc::clone(self);
        }
        Arc::new(Stack {
            planes: self.planes,
            elements: self.elements,
            parts: self.filled(parts),
        })
    }

    /// Its parts where there are none: zeros.
    fn filled(&self, parts: usize) -> Vec<Planes<Block>> {
        assert!(self.parts.is_empty(), "values of one party have all parts");
        let zeros = (0..parts).map(|_| Planes::zeros(self.planes, self.elements));
        zeros.collect()
    }

    /// A part, plane by plane.
    pub(crate) fn part(&self, part: usize) -> &[Block] {
        self.parts[part].data()
    }

    /// A part, to change it.
    #[cfg(test)]
    pub(crate) fn part_mut(&mut self, part: usize) -> &mut [Block] {
        self.parts[part].data_mut()
    }

    /// Applies a move to all parts of several values, some of which may be zeros.
    fn all(
        all: &[&Stack],
        join: impl Fn(&[&Planes<Block>]) -> Planes<Block>,
    ) -> Vec<Planes<Block>> {
        let parts = all.iter().map(|stack| stack.parts.len()).max();
        let zeros = all
            .iter()
            .map(|stack| Planes::zeros(stack.planes, stack.elements));
        // None is made where all have their parts, or none has.
        let lacks = all.iter().any(|stack| stack.parts.is_empty()) && parts > Some(0);
        let zeros = if lacks { zeros.collect() } else { Vec::new() };
        let of = |part| {
            let each = all.iter().enumerate();
            each.map(|(at, stack)| stack.parts.get(part).unwrap_or_else(|| &zeros[at]))
                .collect::<Vec<_>>()
        };
        (0..parts.unwrap_or(0))
            .map(|part| join(&of(part)))
            .collect()
    }
}

impl Shares for Stack {
    fn elements(&self) -> usize {
        self.elements
    }

    fn planes(&self) -> usize {
        self.planes
    }

    fn zeros(planes: usize, elements: usize) -> Stack {
        Stack {
            planes,
            elements,
            parts: Vec::new(),
        }
    }

    fn gather(&self, lanes: &View, inner: &View) -> Stack {
        Stack {
            planes: self.planes * inner.count(),
            elements: lanes.count(),
            parts: Stack::all(&[self], |parts| parts[0].gather(lanes, inner)),
        }
    }

    fn spread(&self, inner: usize) -> Stack {
        Stack {
            planes: self.planes / inner,
            elements: self.elements * inner,
            parts: Stack::all(&[self], |parts| parts[0].spread(inner)),
        }
    }

    fn concat(parts: &[&Stack]) -> Stack {
        Stack {
            planes: parts.first().map_or(0, |part| part.planes),
            elements: parts.iter().map(|part| part.elements).sum(),
            parts: Stack::all(parts, Planes::concat),
        }
    }

    fn put(&mut self, places: &View, from: &Stack, first: usize) {
        match (self.parts.len(), from.parts.len()) {
            (_, 0) => {
                let zeros = Planes::zeros(self.planes, places.count());
                let parts = self.parts.iter_mut();
                parts.for_each(|part| part.put(places, &zeros, 0));
            }
            (0, parts) => {
                self.parts = self.filled(parts);
                self.put(places, from, first);
            }
            _ => {
                let parts = self.parts.iter_mut().zip(&from.parts);
                parts.for_each(|(part, from)| part.put(places, from, first));
            }
        }
    }

    fn concatenate(parts: &[&Stack]) -> Stack {
        Stack {
            planes: parts.iter().map(|part| part.planes).sum(),
            elements: parts.first().map_or(0, |part| part.elements),
            parts: Stack::all(parts, Planes::concatenate),
        }
    }

    fn resize(&self, first: usize, count: usize, signed: bool) -> Stack {
        Stack {
            planes: count,
            elements: self.elements,
            parts: Stack::all(&[self], |parts| parts[0].resize(first, count, signed)),
        }
    }
}

/// The tape's inputs are planes of so many parts, and its outputs become such planes.
pub(crate) struct TapePorts<'a> {
    parts: usize,
    /// Of each input, its plane in each part.
    inputs: Vec<&'a [Block]>,
    outputs: Vec<Planes<Block>>,
}

impl<'a> TapePorts<'a> {
    /// Ports with these parts of operands, which are whole.
    pub(crate) fn new(
        (tape, lanes): (&Tape, usize),
        operands: &'a [Arc<Stack>],
        parts: Range<usize>,
    ) -> TapePorts<'a> {
        let planes = operands.iter().flat_map(|operand| {
            let planes = 0..operand.planes;
            planes.map(move |plane| (operand, plane))
        });
        let inputs = planes.flat_map(|(operand, plane)| {
            let parts = operand.parts[parts.clone()].iter();
            parts.map(move |part| part.plane(plane))
        });
        TapePorts::of((tape, lanes), parts.len(), inputs.collect())
    }

    /// Ports with these planes.
    pub(crate) fn of(
        (tape, lanes): (&Tape, usize),
        parts: usize,
        inputs: Vec<&'a [Block]>,
    ) -> TapePorts<'a> {
        let whole = inputs.len() == tape.inputs as usize * parts;
        assert!(whole, "a tape has all its operands");
        let outputs = tape.outputs.len();
        TapePorts {
            parts,
            inputs,
            outputs: (0..parts).map(|_| Planes::zeros(outputs, lanes)).collect(),
        }
    }

    pub(crate) fn outputs(self) -> Stack {
        let [planes, elements] = match self.outputs.first() {
            Some(part) => [part.planes(), part.elements()],
            None => [0; 2],
        };
        Stack {
            planes,
            elements,
            parts: self.outputs,
        }
    }
}

impl Ports for TapePorts<'_> {
    fn load(&self, first_lane: usize, per_bit: usize, labels: &mut [Block]) {
        let width = per_bit / self.parts;
        for (labels, plane) in labels.chunks_exact_mut(width).zip(&self.inputs) {
            labels.copy_from_slice(&plane[first_lane..][..width]);
        }
    }

    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]) {
        let width = labels.len() / self.parts;
        for (labels, part) in labels.chunks_exact(width).zip(&mut self.outputs) {
            part.plane_mut(output)[first_lane..][..width].copy_from_slice(labels);
        }
    }
}

/// A part of all operands of a tape, in memory that is taken once.
pub(crate) fn part_of(operands: &[Arc<Stack>], part: usize) -> Zeroizing<Vec<Block>> {
    let count = operands
        .iter()
        .map(|operand| operand.part(part).len())
        .sum();
    let mut all = Zeroizing::new(Vec::with_capacity(count));
    operands
        .iter()
        .for_each(|operand| all.extend_from_slice(operand.part(part)));
    all
}
