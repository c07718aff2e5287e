//! The tape: the form of a Boolean circuit that machines execute.
//!
//! Wires become a short array of *slots*, each reused as soon as its value is dead, so that the
//! live set stays in cache however large the circuit is. Slot 0 holds the constant 0, slot 1 the
//! constant 1, slots `2..2 + inputs` the inputs in order. Neither constant is ever overwritten.

use crate::function::Function;
use crate::shared::Counted;
use std::ops::Range;

/// The slot that always holds 0.
pub const ZERO: u32 = 0;
/// The slot that always holds 1.
pub const ONE: u32 = 1;
/// The slot of input 0.
pub const FIRST_INPUT: u32 = 2;

/// The party that knows an operand of an AND in the clear: a number that the maker of the circuit
/// assigns to parties, or [`NOBODY`].
pub type KnownTo = u8;

/// No party.
pub const NOBODY: KnownTo = 0;

/// One two-input gate over slots. NOT is an XOR with [`ONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    /// Slot of the first operand.
    pub a: u32,
    /// Slot of the second operand.
    pub b: u32,
    /// Slot that is written.
    pub out: u32,
    /// The number of the gate among those of its kind in the circuit as written: it is the same in
    /// every order, and so are the tweaks derived from it.
    pub number: u32,
}

/// XOR gates that run in order, then AND gates that are independent of each other: no AND of a
/// batch writes a slot that any AND of the batch reads, and no two write the same slot. An XOR may
/// write a slot that it reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    /// Indices into [`Tape::xors`]; they run first, in order.
    pub xors: Range<u32>,
    /// Indices into [`Tape::ands`]; they run second, in any order.
    pub ands: Range<u32>,
}

/// A function that is applied to slots, after the XORs of a batch and beside its ANDs: none of both
/// writes a slot that any of both reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Applied {
    /// Index of the batch.
    pub batch: u32,
    /// Index into [`Tape::functions`].
    pub function: u32,
    /// Slots of the inputs.
    pub operands: Vec<u32>,
    /// Slots of the outputs.
    pub outs: Vec<u32>,
}

/// A circuit in the form in which every machine executes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tape {
    /// Number of input bits.
    pub inputs: u32,
    /// Number of slots that a machine must hold, constants and inputs included.
    pub slots: u32,
    /// All XOR gates, in the order in which batches name them.
    pub xors: Vec<Gate>,
    /// All AND gates, in the order in which batches name them.
    pub ands: Vec<Gate>,
    /// For each AND, the party that knows its operand `b`, which is then a sum of inputs of that
    /// party, not inverted. A garbler sends only one half of such a gate. Within a batch, ANDs are
    /// sorted by this party.
    pub known_to: Vec<KnownTo>,
    /// For each XOR, true if nothing else reads the value in its slot `b`: no other gate, no
    /// output, and not the caller, which may read inputs again. Schemes without free XOR save a
    /// hash there.
    pub lone: Vec<bool>,
    /// The batches, in order.
    pub batches: Vec<Batch>,
    /// The slot of each output bit after the last batch; one slot may serve several outputs.
    pub outputs: Vec<u32>,
    /// Functions that are applied as a whole: none, but for machines that compute such.
    pub functions: Vec<Function>,
    /// Their applications, in the order of batches.
    pub applied: Vec<Applied>,
    /// The longest chain of AND gates and applied functions.
    pub depth: u32,
    /// The counts of [`Tape::shared_operands`].
    pub counted: Counted,
}

impl Tape {
    /// Returns the XORs of a batch.
    #[inline]
    pub fn xors_of(&self, batch: &Batch) -> &[Gate] {
        &self.xors[batch.xors.start as usize..batch.xors.end as usize]
    }

    /// Returns the ANDs of a batch.
    #[inline]
    pub fn ands_of(&self, batch: &Batch) -> &[Gate] {
        &self.ands[batch.ands.start as usize..batch.ands.end as usize]
    }

    /// Returns the functions that are applied in a batch.
    pub fn applied_in(&self, batch: usize) -> &[Applied] {
        let before = |applied: &Applied| (applied.batch as usize) < batch;
        let first = self.applied.partition_point(before);
        let rest = &self.applied[first..];
        &rest[..rest.partition_point(|applied| applied.batch as usize == batch)]
    }

    /// Checks every rule that machines rely on; a tape from [`compile`](crate::compile()) satisfies
    /// them. It cannot check if the parties in [known_to](Tape::known_to) know the operands: a
    /// false entry makes results wrong without an error.
    pub fn check(&self) -> Result<(), TapeError> {
        if u64::from(FIRST_INPUT) + u64::from(self.inputs) > u64::from(self.slots) {
            return Err(TapeError::InputsBeyondSlots);
        }
        self.check_ranges()?;
        for (kind, gates) in [("XOR", &self.xors), ("AND", &self.ands)] {
            for (index, gate) in gates.iter().enumerate() {
                self.check_slots(kind, index, &[gate.a, gate.b], &[gate.out])?;
            }
        }
        if self.outputs.iter().any(|&slot| slot >= self.slots) {
            return Err(TapeError::OutputOutOfBounds);
        }
        self.check_applied()?;
        for (kind, gates) in [("XOR", &self.xors), ("AND", &self.ands)] {
            let mut seen = vec![false; gates.len()];
            for (index, gate) in gates.iter().enumerate() {
                match seen.get_mut(gate.number as usize) {
                    Some(seen) if !*seen => *seen = true,
                    _ => return Err(TapeError::NumberTwice { kind, index }),
                }
            }
        }
        self.check_values()?;
        self.check_lone()
    }

    /// Checks that slots exist, and that those written are no constants.
    fn check_slots(
        &self,
        kind: &'static str,
        index: usize,
        operands: &[u32],
        outs: &[u32],
    ) -> Result<(), TapeError> {
        let mut slots = operands.iter().chain(outs);
        if slots.any(|&slot| slot >= self.slots) {
            return Err(TapeError::SlotOutOfBounds { kind, index });
        }
        if outs.iter().any(|&slot| slot < FIRST_INPUT) {
            return Err(TapeError::ConstantWritten { kind, index });
        }
        Ok(())
    }

    /// Checks the shape and the slots of applied functions.
    fn check_applied(&self) -> Result<(), TapeError> {
        let mut before = 0;
        for (index, applied) in self.applied.iter().enumerate() {
            let (operands, outs) = (&applied.operands[..], &applied.outs[..]);
            let function = self.functions.get(applied.function as usize);
            let shape = function.map(|function| (function.inputs(), function.outputs()));
            let fits = shape == Some((operands.len(), outs.len()));
            let batch = applied.batch as usize;
            if !fits || batch >= self.batches.len() || applied.batch < before {
                return Err(TapeError::WrongFunction { index });
            }
            before = applied.batch;
            self.check_slots("applied", index, operands, outs)?;
        }
        Ok(())
    }

    /// Checks that a value marked as lone has one reader.
    fn check_lone(&self) -> Result<(), TapeError> {
        // For each value in the order of writing, inputs and constants first: the number of times
        // it is read, and a flag if some XOR marks it as lone.
        let given = (FIRST_INPUT + self.inputs) as usize;
        let mut readers = vec![2u32; given];
        let mut lone = vec![false; given];
        let slots = 0..self.slots as usize;
        let mut value: Vec<usize> = slots.map(|slot| slot.min(given)).collect();
        for (batch, b) in self.batches.iter().enumerate() {
            let xors = b.xors.start as usize..b.xors.end as usize;
            let ands = self.ands_of(b);
            for index in xors {
                let gate = &self.xors[index];
                // With a constant, labels are only copied: no reader, and no other value.
                let copied = match (gate.a, gate.b) {
                    (other, ZERO | ONE) | (ZERO | ONE, other) => Some(value[other as usize]),
                    _ => None,
                };
                if let Some(copied) = copied {
                    lone[copied] |= self.lone[index];
                    value[gate.out as usize] = copied;
                    continue;
                }
                readers[value[gate.a as usize]] += 1;
                readers[value[gate.b as usize]] += 1;
                lone[value[gate.b as usize]] |= self.lone[index];
                value[gate.out as usize] = readers.len();
                readers.push(0);
                lone.push(false);
            }
            for gate in ands {
                readers[value[gate.a as usize]] += 1;
                readers[value[gate.b as usize]] += 1;
            }
            let applied = self.applied_in(batch).iter();
            let operands = applied.clone().flat_map(|applied| &applied.operands);
            operands.for_each(|slot| readers[value[*slot as usize]] += 1);
            let outs = applied.flat_map(|applied| &applied.outs);
            for out in ands.iter().map(|gate| &gate.out).chain(outs) {
                value[*out as usize] = readers.len();
                readers.push(0);
                lone.push(false);
            }
        }
        for &slot in &self.outputs {
            readers[value[slot as usize]] += 1;
        }
        let mut values = readers.iter().zip(&lone);
        let right = values.all(|(readers, lone)| !lone || *readers == 1);
        right.then_some(()).ok_or(TapeError::FalselyLone)
    }

    /// Checks that batches name every gate once, in order.
    fn check_ranges(&self) -> Result<(), TapeError> {
        let (mut xors, mut ands) = (0, 0);
        for (batch, b) in self.batches.iter().enumerate() {
            let follows = b.xors.start == xors && b.ands.start == ands;
            if !follows || b.xors.end < xors || b.ands.end < ands {
                return Err(TapeError::BatchOutOfOrder { batch });
            }
            (xors, ands) = (b.xors.end, b.ands.end);
        }
        if self.lone.len() != self.xors.len() {
            return Err(TapeError::FalselyLone);
        }
        if self.known_to.len() != self.ands.len() {
            return Err(TapeError::KnownToMissing);
        }
        let batch = self.batches.len();
        let all = (xors as usize, ands as usize) == (self.xors.len(), self.ands.len());
        all.then_some(())
            .ok_or(TapeError::BatchOutOfOrder { batch })
    }

    /// Checks that slots are written before they are read, ANDs of a batch are independent, and the
    /// depth is that of the gates.
    fn check_values(&self) -> Result<(), TapeError> {
        // The depth of the value in each slot, or none before the first write.
        let mut depth = vec![None; self.slots as usize];
        depth[..(FIRST_INPUT + self.inputs) as usize].fill(Some(0));
        // The batch in which an AND last read or wrote a slot.
        let mut touched = vec![usize::MAX; self.slots as usize];
        let mut deepest = 0;
        for (batch, b) in self.batches.iter().enumerate() {
            let operands = |depth: &[Option<u32>], gate: &Gate| match (
                depth[gate.a as usize],
                depth[gate.b as usize],
            ) {
                (Some(a), Some(b)) => Ok(a.max(b)),
                _ => Err(TapeError::ReadBeforeWrite { batch }),
            };
            for gate in self.xors_of(b) {
                depth[gate.out as usize] = Some(operands(&depth, gate)?);
            }
            let ands = self.ands_of(b);
            for gate in ands {
                touched[gate.a as usize] = batch;
                touched[gate.b as usize] = batch;
            }
            let applied = self.applied_in(batch);
            let read = applied.iter().flat_map(|applied| &applied.operands);
            read.for_each(|slot| touched[*slot as usize] = batch);
            let mut write = |depth: &mut [Option<u32>], out: u32, after: u32| {
                if std::mem::replace(&mut touched[out as usize], batch) == batch {
                    return Err(TapeError::DependentAnds { batch });
                }
                // Nothing else of the batch reads this slot, so it may be written at once.
                depth[out as usize] = Some(after);
                deepest = deepest.max(after);
                Ok(())
            };
            for gate in ands {
                let after = operands(&depth, gate)? + 1;
                write(&mut depth, gate.out, after)?;
            }
            for Applied { operands, outs, .. } in applied {
                let before = operands.iter().map(|slot| depth[*slot as usize]);
                let before = before.collect::<Option<Vec<_>>>();
                let before = before.ok_or(TapeError::ReadBeforeWrite { batch })?;
                let after = 1 + before.into_iter().max().unwrap_or(0);
                for out in outs {
                    write(&mut depth, *out, after)?;
                }
            }
        }
        let mut outputs = self.outputs.iter();
        if outputs.any(|&slot| depth[slot as usize].is_none()) {
            let batch = self.batches.len();
            return Err(TapeError::ReadBeforeWrite { batch });
        }
        match (self.depth, deepest) {
            (stated, found) if stated == found => Ok(()),
            (stated, found) => Err(TapeError::WrongDepth { stated, found }),
        }
    }
}

/// A rule that a tape breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TapeError {
    /// Constants and inputs do not fit the slots.
    #[error("constants and inputs need more slots than the tape has")]
    InputsBeyondSlots,
    /// A gate names a slot that does not exist.
    #[error("{kind} gate {index} names a slot beyond the last")]
    SlotOutOfBounds {
        /// "XOR" or "AND".
        kind: &'static str,
        /// Index of the gate among those of its kind.
        index: usize,
    },
    /// A gate writes the slot of a constant.
    #[error("{kind} gate {index} writes the slot of a constant")]
    ConstantWritten {
        /// "XOR" or "AND".
        kind: &'static str,
        /// Index of the gate among those of its kind.
        index: usize,
    },
    /// An output names a slot that does not exist.
    #[error("an output names a slot beyond the last")]
    OutputOutOfBounds,
    /// Batches skip, repeat or lack gates.
    #[error("batch {batch} does not continue where the one before it ends")]
    BatchOutOfOrder {
        /// Index of the batch; the number of batches if gates are left over.
        batch: usize,
    },
    /// A slot is read that has not been written.
    #[error("batch {batch} reads a slot that nothing has been written to")]
    ReadBeforeWrite {
        /// Index of the batch; the number of batches if an output does.
        batch: usize,
    },
    /// An AND writes a slot that another AND of its batch reads or writes.
    #[error("an AND of batch {batch} writes a slot that another AND of it reads or writes")]
    DependentAnds {
        /// Index of the batch.
        batch: usize,
    },
    /// A function is applied to another number of slots than it has inputs or outputs, or out of
    /// order.
    #[error("applied function {index} does not have the shape of its function, or is out of order")]
    WrongFunction {
        /// Index among those that are applied.
        index: usize,
    },
    /// The marks of lone operands do not belong to the gates.
    #[error("a value that an XOR calls its own has other readers, or marks are missing")]
    FalselyLone,
    /// Gates of a kind are not numbered from 0 on, each number once.
    #[error("{kind} gate {index} has a number that another has, or one beyond the last")]
    NumberTwice {
        /// "XOR" or "AND".
        kind: &'static str,
        /// Index of the gate among those of its kind.
        index: usize,
    },
    /// The length of `known_to` is not the number of ANDs.
    #[error("the tape does not say for each AND who knows an operand")]
    KnownToMissing,
    /// The stated depth is not that of the gates.
    #[error("the tape states AND depth {stated}; its gates have {found}")]
    WrongDepth {
        /// [`Tape::depth`].
        stated: u32,
        /// The longest chain of ANDs.
        found: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Int, Machine, compile};

    /// A tape with several batches and XORs and ANDs in most of them.
    fn tape() -> Tape {
        let mut b = Builder::new();
        let (x, y) = (b.input(8), b.input(8));
        let product = b.mul(Int::unsigned(&x), Int::unsigned(&y), 16);
        let tape = compile(&b.finish(vec![product]), &Machine::CPU);
        tape.check().unwrap();
        tape
    }

    /// The result of the check on a tape that `damage` has changed.
    fn verdict(damage: impl Fn(&mut Tape)) -> TapeError {
        let mut tape = tape();
        damage(&mut tape);
        tape.check().unwrap_err()
    }

    /// A NOT shares the labels of its operand: with one reader of its own, the operand is not lone.
    #[test]
    fn an_inverted_wire_has_the_readers_of_both() {
        let mut b = Builder::new();
        let i = b.input(4);
        let w = b.and(i[0], i[1]);
        let other = b.and(w, i[2]);
        let sum = b.xor(i[3], !w);
        let once = b.and(i[0], i[3]);
        let end = b.xor(sum, !once);
        let mut tape = compile(&b.finish(vec![vec![other, end]]), &Machine::CPU);
        tape.check().unwrap();
        let marked = |tape: &Tape| tape.lone.iter().filter(|lone| **lone).count();
        // The sum and the inverted AND are read once; one of them is the operand b of `end`.
        assert_eq!(marked(&tape), 1);
        let first = (0..tape.xors.len()).find(|&i| !tape.lone[i] && tape.xors[i].b != ONE);
        tape.lone[first.unwrap()] = true;
        assert_eq!(tape.check(), Err(TapeError::FalselyLone));
    }

    #[test]
    fn each_broken_rule_is_found() {
        use TapeError::*;
        let (index, batches, found) = (3, tape().batches.len(), tape().depth);
        let stated = found + 1;
        let beyond = SlotOutOfBounds { kind: "XOR", index };
        let constant = ConstantWritten { kind: "AND", index };
        let [out_of_order, too_many] = [1, batches].map(|batch| BatchOutOfOrder { batch });
        let (early, dependent) = (ReadBeforeWrite { batch: 0 }, DependentAnds { batch: 0 });
        let one_more = |t: &mut Tape| {
            t.xors.push(t.xors[0]);
            t.lone.push(false);
        };
        type Break<'a> = &'a dyn Fn(&mut Tape);
        let rows: [(Break<'_>, TapeError); 12] = [
            (&|t| t.slots = 17, InputsBeyondSlots),
            (&|t| t.xors[3].a = t.slots, beyond),
            (&|t| t.ands[3].out = ONE, constant),
            (&|t| t.outputs[0] = u32::MAX, OutputOutOfBounds),
            (&|t| t.batches[1].ands.start += 1, out_of_order),
            (&|t| t.lone.truncate(index), FalselyLone),
            (&|t| t.lone.fill(true), FalselyLone),
            (&one_more, too_many),
            (&|t| (t.ands[0].a, t.slots) = (t.slots, t.slots + 1), early),
            (&|t| t.ands[1].out = t.ands[0].out, dependent.clone()),
            (&|t| t.ands[1].out = t.ands[0].a, dependent),
            (&|t| t.depth += 1, WrongDepth { stated, found }),
        ];
        for (number, (damage, error)) in rows.into_iter().enumerate() {
            assert_eq!(verdict(damage), error, "row {number}");
        }
    }
}
