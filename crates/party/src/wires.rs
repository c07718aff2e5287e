//! Wires of a tape whose lanes are bits, 64 to a word.
//!
//! Lanes are cut into chunks, and all slots of a chunk lie together, so that the live set of a tape
//! stays in cache for any number of lanes. A wire of a chunk is all components side by side.

use crate::aligned_buffer::AlignedBuffer;
use sealane_circuit::tape::Gate;

/// Words of a wire in a chunk where there are many lanes: a gate is then a few whole vectors on
/// every CPU tier.
pub const WIDE: usize = 8;

/// The slots of a tape, for all lanes.
pub enum Wires<const P: usize> {
    /// For few lanes, where wide chunks would be mostly empty.
    Narrow(Chunks<1, P>),
    /// For many lanes.
    Wide(Chunks<WIDE, P>),
}

/// Runs an expression for chunks of either width.
#[macro_export]
macro_rules! of_any_width {
    ($wires:expr, $chunks:ident => $run:expr) => {
        match $wires {
            $crate::wires::Wires::Narrow($chunks) => $run,
            $crate::wires::Wires::Wide($chunks) => $run,
        }
    };
}
impl<const P: usize> Wires<P> {
    /// All slots zero.
    pub fn new(slots: usize, words: usize) -> Wires<P> {
        if words < WIDE / 2 {
            Wires::Narrow(Chunks::new(slots, words))
        } else {
            Wires::Wide(Chunks::new(slots, words))
        }
    }

    /// Sets all components of a slot.
    pub fn load(&mut self, slot: usize, parts: [&[u64]; P]) {
        of_any_width!(self, chunks => chunks.load(slot, parts))
    }

    /// Sets all components of a slot to the same word in all places.
    pub fn fill(&mut self, slot: usize, words: [u64; P]) {
        of_any_width!(self, chunks => chunks.fill(slot, words))
    }

    /// Sets the wires that are the same in all lanes to these words.
    pub fn set_common(&mut self, common: &[[u64; P]]) {
        of_any_width!(self, chunks => chunks.set_common(common))
    }

    /// Reads all components of a slot.
    pub fn store(&self, slot: usize, parts: [&mut [u64]; P]) {
        of_any_width!(self, chunks => chunks.store(slot, parts))
    }
}

/// All components of a wire in one chunk.
pub type Wire<const C: usize, const P: usize> = [[u64; C]; P];

/// All slots of the first chunk, then all of the next one; the last chunk may be partly empty.
pub struct Chunks<const C: usize, const P: usize> {
    /// Slots of a chunk.
    pub slots: usize,
    /// Words of a wire, of all chunks.
    pub words: usize,
    words_of_wires: AlignedBuffer,
    /// Wires that are the same in all lanes, beside the slots.
    words_of_common: AlignedBuffer,
}

impl<const C: usize, const P: usize> Chunks<C, P> {
    fn new(slots: usize, words: usize) -> Chunks<C, P> {
        Chunks {
            slots,
            words,
            words_of_wires: AlignedBuffer::zeros(slots * words.div_ceil(C) * P * C),
            words_of_common: AlignedBuffer::zeros(0),
        }
    }

    /// The slots of all chunks.
    fn wires(&self) -> &[Wire<C, P>] {
        self.words_of_wires.as_chunks().0.as_chunks().0
    }

    fn wires_mut(&mut self) -> &mut [Wire<C, P>] {
        self.words_of_wires.as_chunks_mut().0.as_chunks_mut().0
    }

    /// The slots of each chunk.
    pub fn chunks_mut(&mut self) -> impl Iterator<Item = &mut [Wire<C, P>]> {
        let slots = self.slots;
        self.wires_mut().chunks_exact_mut(slots)
    }

    /// The slots of each chunk, and the wires beside them.
    pub fn chunks_and_common(
        &mut self,
    ) -> (impl Iterator<Item = &mut [Wire<C, P>]>, &[Wire<C, P>]) {
        let wires = self.words_of_wires.as_chunks_mut().0.as_chunks_mut().0;
        let common = self.words_of_common.as_chunks().0.as_chunks().0;
        (wires.chunks_exact_mut(self.slots), common)
    }

    fn set_common(&mut self, common: &[[u64; P]]) {
        self.words_of_common = AlignedBuffer::zeros(common.len() * P * C);
        let wires: &mut [Wire<C, P>] = self.words_of_common.as_chunks_mut().0.as_chunks_mut().0;
        for (wire, words) in wires.iter_mut().zip(common) {
            *wire = words.map(|word| [word; C]);
        }
    }

    fn load(&mut self, slot: usize, parts: [&[u64]; P]) {
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

    fn fill(&mut self, slot: usize, words: [u64; P]) {
        for chunk in self.chunks_mut() {
            chunk[slot] = words.map(|word| [word; C]);
        }
    }

    fn store(&self, slot: usize, parts: [&mut [u64]; P]) {
        for (place, part) in parts.into_iter().enumerate() {
            for (chunk, words) in part.chunks_mut(C).enumerate() {
                let wire = &self.wires()[chunk * self.slots + slot][place];
                words.copy_from_slice(&wire[..words.len()]);
            }
        }
    }
}

/// Runs XORs on one chunk.
#[inline(always)]
pub fn add<const C: usize, const P: usize>(wires: &mut [Wire<C, P>], xors: &[Gate]) {
    for gate in xors {
        let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
        let out = &mut wires[gate.out as usize];
        for place in 0..P {
            for w in 0..C {
                out[place][w] = a[place][w] ^ b[place][w];
            }
        }
    }
}
