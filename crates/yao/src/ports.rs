//! Where the labels of a tape come from and go to.

use crate::Labels;
use sealane_block::Block;
use sealane_circuit::Tape;
use sealane_garble::Ports;
use sealane_party::{Pairs, Planes, Shares};
use std::ops::Range;

/// The tape's inputs are the planes of the operands, one after the other.
pub(crate) struct TapePorts<'a> {
    inputs: Vec<&'a [Block]>,
    outputs: Labels,
}

impl<'a> TapePorts<'a> {
    pub(crate) fn new(tape: &Tape, lanes: usize, operands: &[&'a Labels]) -> TapePorts<'a> {
        let planes = |labels: &&'a Labels| {
            let labels = *labels;
            (0..labels.planes()).map(move |plane| labels.plane(plane))
        };
        TapePorts {
            inputs: operands.iter().flat_map(planes).collect(),
            outputs: Planes::zeros(tape.outputs.len(), lanes),
        }
    }

    /// The labels of the tape's outputs.
    pub(crate) fn outputs(self) -> Labels {
        self.outputs
    }
}

impl Ports for TapePorts<'_> {
    fn load(&self, first_lane: usize, width: usize, labels: &mut [Block]) {
        for (bit, labels) in labels.chunks_exact_mut(width).enumerate() {
            labels.copy_from_slice(&self.inputs[bit][first_lane..first_lane + width]);
        }
    }

    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]) {
        let lanes = first_lane..first_lane + labels.len();
        self.outputs.plane_mut(output)[lanes].copy_from_slice(labels);
    }
}

/// The tape's inputs are elements of columns that meet, and its outputs go to the same places. No
/// label is read after it has been overwritten: the machine stores a lane after it has loaded all
/// lanes up to this one, and [`Pairs`] has no element in a later pair than that which writes it.
pub struct PairPorts {
    pairs: Pairs<Labels>,
    /// The column and the plane of each bit of an element.
    bits: Vec<(usize, usize)>,
    /// The side whose elements each output belongs to, for each bit of an element.
    writes: Vec<usize>,
}

impl PairPorts {
    pub(crate) fn new(pairs: Pairs<Labels>) -> PairPorts {
        let planes =
            |(at, column): (usize, &Labels)| (0..column.planes()).map(move |plane| (at, plane));
        let bits = pairs.columns.iter().enumerate().flat_map(planes).collect();
        let sides = (0..2).filter(|side| pairs.writes[*side]);
        PairPorts {
            bits,
            writes: sides.collect(),
            pairs,
        }
    }

    /// Number of pairs, which is that of the tape's lanes.
    pub(crate) fn lanes(&self) -> usize {
        self.pairs.places[0].len()
    }

    /// The columns after the tape has run.
    pub(crate) fn columns(self) -> Vec<Labels> {
        self.pairs.columns
    }

    /// Loads a plane of one side.
    fn load_plane(&self, bit: usize, places: &[usize], labels: &mut [Block]) {
        let (column, plane) = self.bits[bit];
        let plane = self.pairs.columns[column].plane(plane);
        match neighbours(places).and_then(|range| plane.get(range)) {
            Some(run) => labels.copy_from_slice(run),
            None => {
                for (label, place) in labels.iter_mut().zip(places) {
                    // The label of the constant 0 stands for an element that is missing.
                    *label = plane.get(*place).copied().unwrap_or(Block::ZERO);
                }
            }
        }
    }
}

impl Ports for PairPorts {
    fn load(&self, first_lane: usize, width: usize, labels: &mut [Block]) {
        let lanes = first_lane..first_lane + width;
        let mut planes = labels.chunks_exact_mut(width);
        for places in &self.pairs.places {
            for (bit, labels) in (0..self.bits.len()).zip(planes.by_ref()) {
                self.load_plane(bit, &places[lanes.clone()], labels);
            }
        }
        let captured = self.pairs.captured.iter();
        let captured =
            captured.flat_map(|value| (0..value.planes()).map(|plane| value.plane(plane)));
        for (labels, plane) in planes.zip(captured) {
            labels.fill(plane[0]);
        }
    }

    fn store(&mut self, output: usize, first_lane: usize, labels: &[Block]) {
        let side = self.writes[output / self.bits.len()];
        let (column, plane) = self.bits[output % self.bits.len()];
        let Pairs {
            columns, places, ..
        } = &mut self.pairs;
        let places = &places[side][first_lane..first_lane + labels.len()];
        let plane = columns[column].plane_mut(plane);
        match neighbours(places) {
            Some(range) => plane[range].copy_from_slice(labels),
            None => {
                for (place, label) in places.iter().zip(labels) {
                    plane[*place] = *label;
                }
            }
        }
    }
}

/// The range of ascending places, if they are neighbours.
fn neighbours(places: &[usize]) -> Option<Range<usize>> {
    // A place behind the end stands for a missing element, and may be the last of all.
    let (first, end) = (*places.first()?, places.last()?.checked_add(1)?);
    (end.checked_sub(first)? == places.len()).then_some(first..end)
}
