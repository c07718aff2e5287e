//! Rows of a tape under masks, which a role keeps until its statements are proved.
//!
//! They are what kernels have at hand: components of operands, what is dealt, and masks or messages
//! of outputs. Statements take more than twice as much memory, and are made of them when a proof
//! asks for some (`stream`). Rows of less than a word each are kept bit by bit: most of what
//! kernels have of a tape on few lanes is empty.

use super::functions::{Factors, Proved};
use super::gates::{Gate, Seen};
use sealane_party::AlignedBuffer;
use sealane_party::bits::words_for;
use sealane_party::wires::WIDE;
use sealane_proof::BitString;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// The gates of the levels of a tape that is recorded.
pub(crate) struct Levels(Vec<Level>);

/// The gates of a level, each with its first rows.
pub(super) struct Level {
    pub(super) gates: Vec<(Proved, Gate)>,
    /// The rows behind those of all gates.
    end: Gate,
}

impl Levels {
    /// The levels, each with its number of ANDs and the proofs of its functions.
    pub(crate) fn new(levels: impl Iterator<Item = (usize, Vec<Proved>)>) -> Levels {
        let level = |(ands, functions): (usize, Vec<Proved>)| {
            let mut end = Gate::default();
            let ands = std::iter::repeat_n(Proved::Product(Factors::AND), ands);
            let gate = |gate: Proved| {
                let at = end;
                end.skip(&gate);
                (gate, at)
            };
            let gates = ands.chain(functions).map(gate).collect();
            Level { gates, end }
        };
        Levels(levels.map(level).collect())
    }
}

/// Rows of the gates of a level.
#[derive(Clone, Copy)]
pub(crate) enum Piece {
    /// The deals.
    Dealt,
    /// The mask, at the helper, that the role before has.
    FirstMask,
    /// The mask, at the helper, that the role after has.
    SecondMask,
    /// At the others the message of the other one of them.
    Received,
}

/// The work of a party in the lanes of a helper.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Knows both masks.
    Helper,
    /// The role before the helper: its first component is `m`, the second the first mask.
    Before,
    /// The role after the helper: its first component is the second mask, the second one `m`.
    After,
}

impl Work {
    pub(crate) fn of(role: usize, helper: usize) -> Work {
        match (role + 3 - helper) % 3 {
            0 => Work::Helper,
            1 => Work::After,
            _ => Work::Before,
        }
    }
}

/// Bits of memory that the rows of a tape with these gates take at the party with the most.
pub(crate) fn kept_bits(gates: impl Iterator<Item = Proved>, lanes: [usize; 3]) -> u64 {
    let mut end = Gate::default();
    gates.for_each(|gate| end.skip(&gate));
    let bits = match narrow(lanes) {
        Some(_) => lanes,
        None => lanes.map(|lanes| 64 * words_for(lanes)),
    };
    let most = bits.into_iter().max().unwrap_or(0);
    let all = bits.iter().sum::<usize>();
    (all * (end.operands + end.dealt + end.out) + most * end.out) as u64
}

/// The part that has all lanes, if they take less than a word.
fn narrow(lanes: [usize; 3]) -> Option<usize> {
    let part = lanes.iter().position(|lanes| *lanes > 0)?;
    (lanes.iter().sum::<usize>() < 64).then_some(part)
}

/// The rows of a tape.
pub(crate) struct Rows {
    levels: Arc<Levels>,
    role: usize,
    /// The work of each part and its lanes.
    parts: [(Work, usize); 3],
    /// The first word of each part of each level.
    starts: Vec<[usize; 3]>,
    /// The word behind the last row.
    end: usize,
    /// Empty once rows are packed.
    memory: AlignedBuffer,
    packed: Option<Packed>,
    /// Pieces that are not there yet.
    missing: usize,
}

/// Rows bit by bit, of the only part that there is.
struct Packed {
    bits: BitString,
    part: usize,
}

impl Rows {
    /// Memory for the rows of a tape, of which a part for each helper has so many lanes.
    pub(crate) fn new(
        levels: Arc<Levels>,
        role: usize,
        lanes: [usize; 3],
        spare: &mut Spare,
    ) -> Rows {
        let parts = [0, 1, 2].map(|helper| (Work::of(role, helper), lanes[helper]));
        // Kernels read and write whole chunks, also where a row ends within one, and a word in
        // front of a row.
        let (mut words, mut missing) = (WIDE, 0);
        let start = |level: &Level| {
            parts.map(|(work, lanes)| {
                let start = words;
                let Gate {
                    operands,
                    dealt,
                    out,
                } = level.end;
                let outs = match work {
                    Work::Helper => 2 * out,
                    Work::Before | Work::After => out,
                };
                words += (operands + dealt + outs) * words_for(lanes);
                if lanes > 0 {
                    missing += if work == Work::Helper { 4 } else { 3 };
                }
                start
            })
        };
        let starts = levels.0.iter().map(start).collect();
        Rows {
            memory: spare.take(words + 2 * WIDE),
            levels,
            role,
            parts,
            starts,
            end: words,
            packed: None,
            missing,
        }
    }

    /// Keeps rows of less than a word bit by bit.
    pub(super) fn pack(&mut self, spare: &mut Spare) {
        let Some(part) = narrow(self.parts.map(|(_, lanes)| lanes)) else {
            return;
        };
        let (_, lanes) = self.parts[part];
        let rows = &self.memory[WIDE..self.end];
        let mut bits = BitString::with_capacity(rows.len() * lanes);
        rows.iter()
            .for_each(|row| bits.push(slice::from_ref(row), lanes));
        bits.shrink();
        self.packed = Some(Packed { bits, part });
        spare.keep(std::mem::replace(&mut self.memory, AlignedBuffer::zeros(0)));
    }

    /// Memory for the largest level of packed rows.
    pub(super) fn room(&self) -> AlignedBuffer {
        let levels = 0..self.levels.0.len();
        let most = levels.map(|level| self.words_of(level).len()).max();
        AlignedBuffer::zeros(most.unwrap_or(0) + 3 * WIDE)
    }

    /// The words of a level of one part.
    fn words_of(&self, level: usize) -> Range<usize> {
        let end = |next: &[usize; 3]| next[0];
        self.starts[level][0]..self.starts.get(level + 1).map_or(self.end, end)
    }

    /// Unpacks the rows of a level to `memory`; returns them with the gates of the level.
    pub(super) fn unpack<'a>(
        &'a self,
        level: usize,
        memory: &'a mut [u64],
    ) -> (Seen<'a>, &'a [(Proved, Gate)]) {
        let Packed { bits, part } = self.packed.as_ref().expect("packed rows");
        let (_, lanes) = self.parts[*part];
        let words = bits.words();
        let rows = self.words_of(level).zip(&mut memory[WIDE..]);
        rows.for_each(|(number, row)| {
            let first = (number - WIDE) * lanes;
            let (word, shift) = (first / 64, first % 64);
            let next = words.get(word + 1).copied().unwrap_or(0);
            *row = (words[word] >> shift | next << 1 << (63 - shift)) & ((1 << lanes) - 1);
        });
        let seen = self.seen(level, *part, WIDE, memory);
        (seen, &self.levels.0[level].gates)
    }

    /// Returns whether rows are kept bit by bit.
    pub(super) fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// The levels.
    pub(super) fn levels(&self) -> usize {
        self.levels.0.len()
    }

    /// The role that keeps them.
    pub(super) fn role(&self) -> usize {
        self.role
    }

    /// Rows for both components of each operand of a level: of ANDs, then of functions.
    pub(crate) fn operands(&mut self, level: usize, part: usize) -> &mut [u64] {
        self.missing -= 1;
        &mut self.memory[self.starts[level][part]..]
    }

    /// Keeps a piece of a level.
    pub(crate) fn put(&mut self, level: usize, part: usize, piece: Piece, rows: &[u64]) {
        let Gate {
            operands,
            dealt,
            out,
        } = self.levels.0[level].end;
        let (first, count) = match piece {
            Piece::Dealt => (operands, dealt),
            Piece::FirstMask | Piece::Received => (operands + dealt, out),
            Piece::SecondMask => (operands + dealt + out, out),
        };
        let words = words_for(self.parts[part].1);
        let to = &mut self.memory[self.starts[level][part] + first * words..][..count * words];
        to.copy_from_slice(&rows[..count * words]);
        self.missing -= 1;
    }

    /// Returns whether everything has been kept.
    pub(super) fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// The rows of a part of a level, which begin at this word.
    fn seen<'a>(&self, level: usize, part: usize, start: usize, memory: &'a [u64]) -> Seen<'a> {
        let Gate {
            operands,
            dealt,
            out,
            ..
        } = self.levels.0[level].end;
        let (work, lanes) = self.parts[part];
        let words = words_for(lanes);
        let first = start + (operands + dealt) * words;
        Seen {
            work,
            lanes,
            memory,
            operands: start,
            dealt: start + operands * words,
            outs: [first, first + out * words],
        }
    }

    /// The rows of each part of each level, with the gates of the level.
    pub(super) fn all(&self) -> impl Iterator<Item = (Seen<'_>, &[(Proved, Gate)])> {
        let levels = self.levels.0.iter().enumerate();
        levels.flat_map(move |(number, level)| {
            let parts = (0..3).filter(|part| self.parts[*part].1 > 0);
            parts.map(move |part| {
                let start = self.starts[number][part];
                (
                    self.seen(number, part, start, &self.memory),
                    &level.gates[..],
                )
            })
        })
    }

    pub(super) fn into_memory(self) -> AlignedBuffer {
        self.memory
    }
}

/// Memory of rows that have been proved, for those of the next tiles. It is erased with the party.
#[derive(Default)]
pub(crate) struct Spare(Vec<AlignedBuffer>);

impl Spare {
    /// Most pieces of memory that are kept: those of a tile that runs and of one that settles.
    const MOST: usize = 2;
    /// Words below which memory is not kept.
    const LEAST: usize = if cfg!(test) { 1 } else { 1 << 14 };

    /// Memory of so many words, which may hold older ones.
    fn take(&mut self, words: usize) -> AlignedBuffer {
        let fits = |memory: &AlignedBuffer| (words..=2 * words).contains(&memory.len());
        match self.0.iter().position(fits) {
            Some(place) => self.0.swap_remove(place),
            None => AlignedBuffer::zeros(words),
        }
    }

    pub(super) fn keep(&mut self, memory: AlignedBuffer) {
        if memory.len() >= Spare::LEAST {
            self.0.truncate(Spare::MOST - 1);
            self.0.insert(0, memory);
        }
    }
}
