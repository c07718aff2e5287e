//! The gates of a tape as kernels run them, on slots of their own.
//!
//! Values that are the same in all lanes, such as constants and a key under many blocks, lie once
//! beside the chunks. All others take as few slots as there are values alive at once, so that a
//! chunk stays in cache from level to level.

use crate::masked::{level_bits, levels};
use crate::tape::{ands, outs};
use sealane_circuit::Tape;
use sealane_circuit::tape::{FIRST_INPUT, ONE, ZERO};
use std::ops::Range;

/// A bit of the numbers of slots that hold one value for all lanes.
pub(super) const COMMON: u32 = 1 << 31;

/// The gates of a level: XORs in order, then all others side by side.
pub(super) struct Gates {
    /// Two operands and an output.
    pub xors: Vec<[u32; 3]>,
    /// Operands.
    pub ands: Vec<[u32; 2]>,
    /// Functions, each with its place among [`Gates::operands`].
    pub applied: Vec<(usize, Range<usize>)>,
    pub operands: Vec<u32>,
    /// Bits that are dealt and opened, for each lane.
    pub bits: [usize; 2],
    /// Outputs of the ANDs, then of the functions.
    pub outs: Vec<u32>,
}

/// A tape on slots of its own.
pub(super) struct Program {
    /// A level for each batch of the tape.
    pub levels: Vec<Gates>,
    /// Number of levels that open something: all but a last one.
    pub opens: usize,
    /// Slots of a chunk.
    pub slots: usize,
    /// The slot of each input. Common inputs follow the constants 0 and 1, in their order.
    pub inputs: Vec<u32>,
    pub outputs: Vec<u32>,
    /// Constants lie in slots of their own, as in the tape, and no value is common.
    pub plain: bool,
}

/// Slots of the tape and of the program.
struct Slots {
    /// Where each slot of the tape is now.
    place: Vec<u32>,
    /// Slots that hold nothing.
    free: Vec<u32>,
    count: u32,
    /// For each read of a slot whether nothing reads its value later, and for each write whether
    /// nothing reads it at all.
    ends: Vec<bool>,
    next: usize,
}

impl Program {
    /// The program of a tape that runs on many lanes, for which it pays to count slots. Inputs that
    /// `common` marks are the same in all lanes.
    pub(super) fn counted(tape: &Tape, common: &[bool]) -> Program {
        let (ends, used) = ends(tape);
        let mut slots = Slots {
            place: vec![0; tape.slots as usize],
            free: Vec::new(),
            count: 0,
            ends,
            next: 0,
        };
        let inputs = || (FIRST_INPUT..).zip(common);
        let constants = [ZERO, ONE].into_iter();
        let commons = inputs().filter(|(_, common)| **common);
        let commons = constants.chain(commons.map(|(slot, _)| slot));
        for (number, slot) in (0..).zip(commons) {
            slots.place[slot as usize] = COMMON | number;
        }
        for (slot, _) in inputs().filter(|(_, common)| !**common) {
            slots.place[slot as usize] = slots.take();
        }
        let inputs = slots.place[FIRST_INPUT as usize..][..common.len()].to_vec();
        let unread = (FIRST_INPUT as usize..).zip(&inputs);
        let unread = unread.filter(|(slot, place)| !used[*slot] && **place < COMMON);
        slots.free.extend(unread.map(|(_, place)| *place));
        let batches = 0..tape.batches.len();
        let gates = batches.map(|batch| gates(tape, batch, &mut slots));
        Program {
            levels: gates.collect(),
            opens: levels(tape),
            outputs: tape
                .outputs
                .iter()
                .map(|slot| slots.place[*slot as usize])
                .collect(),
            slots: slots.count as usize,
            inputs,
            plain: false,
        }
    }

    /// The program of a tape on its own slots, where no value is common.
    pub(super) fn plain(tape: &Tape) -> Program {
        let batches = 0..tape.batches.len();
        Program {
            levels: batches.map(|batch| gates(tape, batch, &mut Same)).collect(),
            opens: levels(tape),
            outputs: tape.outputs.clone(),
            slots: tape.slots as usize,
            inputs: (FIRST_INPUT..FIRST_INPUT + tape.inputs).collect(),
            plain: true,
        }
    }
}

/// The slots that gates of a tape take, in the order of [`gates`].
trait Renumber {
    fn read(&mut self, slot: u32) -> u32;
    fn write(&mut self, slot: u32) -> u32;
}

/// Leaves slots as they are.
struct Same;

impl Renumber for Same {
    fn read(&mut self, slot: u32) -> u32 {
        slot
    }

    fn write(&mut self, slot: u32) -> u32 {
        slot
    }
}

/// The gates of a batch.
fn gates(tape: &Tape, batch: usize, slots: &mut impl Renumber) -> Gates {
    let xors = &tape.batches[batch].xors;
    let xors = tape.xors[xors.start as usize..xors.end as usize].iter();
    let xors = xors.map(|gate| {
        let operands = [slots.read(gate.a), slots.read(gate.b)];
        [operands[0], operands[1], slots.write(gate.out)]
    });
    let xors = xors.collect();
    let both = ands(tape, batch).iter();
    let both = both.map(|gate| [slots.read(gate.a), slots.read(gate.b)]);
    let both = both.collect();
    let (mut applied, mut operands) = (Vec::new(), Vec::new());
    for function in tape.applied_in(batch) {
        let first = operands.len();
        operands.extend(function.operands.iter().map(|slot| slots.read(*slot)));
        applied.push((function.function as usize, first..operands.len()));
    }
    Gates {
        xors,
        ands: both,
        applied,
        operands,
        bits: level_bits(tape, batch),
        outs: outs(tape, batch).map(|slot| slots.write(slot)).collect(),
    }
}

impl Renumber for Slots {
    fn read(&mut self, slot: u32) -> u32 {
        let place = self.place[slot as usize];
        if self.ends() && place < COMMON {
            self.free.push(place);
        }
        place
    }

    fn write(&mut self, slot: u32) -> u32 {
        let place = self.take();
        self.place[slot as usize] = place;
        if self.ends() {
            self.free.push(place);
        }
        place
    }
}

impl Slots {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }

    /// Returns true if the next read is the last one of its value, or the next write of no use.
    fn ends(&mut self) -> bool {
        self.next += 1;
        self.ends[self.next - 1]
    }
}

/// For each read of a slot, in the order of [`gates`], whether its value is read no more, and
/// for each write whether its value is never read; and the slots that are read before a write.
fn ends(tape: &Tape) -> (Vec<bool>, Vec<bool>) {
    let mut accesses = Vec::with_capacity(3 * tape.xors.len());
    let (read, write) = (|slot: u32| (slot, false), |slot: u32| (slot, true));
    for (batch, b) in tape.batches.iter().enumerate() {
        for gate in &tape.xors[b.xors.start as usize..b.xors.end as usize] {
            accesses.extend([read(gate.a), read(gate.b), write(gate.out)]);
        }
        let both = ands(tape, batch).iter();
        accesses.extend(both.flat_map(|gate| [read(gate.a), read(gate.b)]));
        let applied = tape.applied_in(batch).iter();
        let operands = applied.flat_map(|applied| applied.operands.iter().copied());
        accesses.extend(operands.map(read));
        accesses.extend(outs(tape, batch).map(write));
    }
    let mut alive = vec![false; tape.slots as usize];
    tape.outputs
        .iter()
        .for_each(|slot| alive[*slot as usize] = true);
    let mut ends = vec![false; accesses.len()];
    for (end, (slot, write)) in ends.iter_mut().zip(&accesses).rev() {
        let alive = &mut alive[*slot as usize];
        *end = !*alive;
        *alive = !write;
    }
    (ends, alive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_circuit::{Builder, Lookups, Machine, compile};
    use sealane_protocol::Goal;

    /// A tape that looks up sums with a key, three times.
    fn tape() -> Tape {
        let mut b = Builder::for_goal(Goal::Depth).with_lookups(Lookups::Tables);
        let (mut state, key) = (b.input(4), b.input(12));
        let entries: Vec<_> = (0..16).map(|i| b.constant(i * 7 % 16, 4)).collect();
        for round in key.chunks(4) {
            let sum = b.zip(&state, round, Builder::xor);
            state = b.lookup(&sum, &entries);
        }
        compile(&b.finish(vec![state]), &Machine::ROUNDS)
    }

    /// Every read finds the value that the tape reads there, and common values are never written.
    #[test]
    fn slots_hold_the_values_of_the_tape() {
        let tape = tape();
        let common = (0..16).map(|input| input >= 4).collect::<Vec<_>>();
        for program in [Program::counted(&tape, &common), Program::plain(&tape)] {
            // Numbers stand for values: those of the tape's slots, and those of the program's.
            let mut known = vec![0u32; tape.slots as usize];
            let mut held = vec![0u32; program.slots];
            let mut shared = vec![0u32; 2 + common.len()];
            (shared[1], known[1]) = (1, 1);
            if program.plain {
                held[1] = 1;
            }
            let mut next = 2;
            for (slot, place) in (FIRST_INPUT as usize..).zip(&program.inputs) {
                known[slot] = next;
                match place & COMMON {
                    0 => held[*place as usize] = next,
                    _ => shared[(place ^ COMMON) as usize] = next,
                }
                next += 1;
            }
            let find = |held: &[u32], place: u32| match place & COMMON {
                0 => held[place as usize],
                _ => shared[(place ^ COMMON) as usize],
            };
            for (batch, gates) in program.levels.iter().enumerate() {
                let b = &tape.batches[batch].xors;
                let xors = &tape.xors[b.start as usize..b.end as usize];
                for (gate, [a, b, out]) in xors.iter().zip(&gates.xors) {
                    assert_eq!(known[gate.a as usize], find(&held, *a));
                    assert_eq!(known[gate.b as usize], find(&held, *b));
                    (known[gate.out as usize], held[*out as usize]) = (next, next);
                    next += 1;
                }
                let applied = tape.applied_in(batch).iter();
                let operands = applied.flat_map(|applied| &applied.operands);
                for (slot, place) in operands.zip(&gates.operands) {
                    assert_eq!(known[*slot as usize], find(&held, *place));
                }
                for (slot, place) in outs(&tape, batch).zip(&gates.outs) {
                    (known[slot as usize], held[*place as usize]) = (next, next);
                    next += 1;
                }
            }
            for (slot, place) in tape.outputs.iter().zip(&program.outputs) {
                assert_eq!(known[*slot as usize], find(&held, *place));
            }
        }
        assert!(Program::counted(&tape, &common).slots < 20);
    }
}
