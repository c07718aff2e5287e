//! ANDs of a batch that have an operand in common.
//!
//! Where two parties hold XOR shares, they open each operand of an AND under a mask. ANDs of one
//! batch that share an operand open it once: they are a group, of at most [`MOST`] ANDs. Plans ask
//! for the groups of a tape often, so a tape counts them once.

use crate::tape::{Batch, Tape};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// Most ANDs of a group: bits of a block, of which each masks one.
pub const MOST: usize = 128;

/// The numbers of groups of a tape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedOperands {
    /// For each batch with ANDs the operands that are opened: of a group the common one, and one of
    /// each AND.
    pub opened: Vec<u64>,
    /// Groups of all batches by their number of ANDs.
    pub groups: BTreeMap<usize, u64>,
}

/// The [`SharedOperands`] of a tape and of its clones, once they have been asked for. It follows
/// from the tape, so that it is equal to any other and no part of a hash.
#[derive(Clone, Debug, Default)]
pub struct Counted(Arc<OnceLock<SharedOperands>>);

impl PartialEq for Counted {
    fn eq(&self, _: &Counted) -> bool {
        true
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// The ANDs of a batch, each with its factor, which is the operand that more of them have, with its
/// other operand and its result. `readers` has a zero for each slot, before and after.
pub fn factored(readers: &mut [u32], tape: &Tape, batch: &Batch) -> Vec<(u32, [u32; 2])> {
    let ands = tape.ands_of(batch);
    let operands = || ands.iter().flat_map(|gate| [gate.a, gate.b]);
    operands().for_each(|slot| readers[slot as usize] += 1);
    let more = |one: u32, other: u32| readers[one as usize] >= readers[other as usize];
    let factored = ands.iter().map(|gate| {
        if more(gate.a, gate.b) {
            (gate.a, [gate.b, gate.out])
        } else {
            (gate.b, [gate.a, gate.out])
        }
    });
    let factored = factored.collect();
    operands().for_each(|slot| readers[slot as usize] = 0);
    factored
}

impl Tape {
    /// The numbers of groups of ANDs with a common operand. They are counted at the first call, for
    /// all clones: whoever changes gates of a clone gives it a new [`Counted`].
    pub fn shared_operands(&self) -> &SharedOperands {
        let counted = self.counted.0.get_or_init(|| count(self));
        let ands = counted
            .groups
            .iter()
            .map(|(width, count)| *width as u64 * count);
        debug_assert_eq!(
            ands.sum::<u64>(),
            self.ands.len() as u64,
            "gates were changed"
        );
        counted
    }
}

fn count(tape: &Tape) -> SharedOperands {
    let mut found = SharedOperands::default();
    let mut counts = vec![0; tape.slots as usize];
    let with_ands = |batch: &&Batch| !batch.ands.is_empty();
    for batch in tape.batches.iter().filter(with_ands) {
        let ands = factored(&mut counts, tape, batch);
        let factors = || ands.iter().map(|(factor, _)| *factor as usize);
        factors().for_each(|factor| counts[factor] += 1);
        let mut groups = [0; MOST + 1];
        for factor in factors() {
            let count = std::mem::take(&mut counts[factor]) as usize;
            groups[MOST] += (count / MOST) as u64;
            groups[count % MOST] += 1;
        }
        let some = |(width, count): &(usize, u64)| *width > 0 && *count > 0;
        let mut opened = ands.len() as u64;
        for (width, count) in groups.into_iter().enumerate().filter(some) {
            opened += count;
            *found.groups.entry(width).or_default() += count;
        }
        found.opened.push(opened);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Goal, compile};
    use sealane_schedule::Machine;

    #[test]
    fn groups_are_those_of_the_definition() {
        let mut b = Builder::for_goal(Goal::Depth);
        let x = b.input(2 * MOST + 3);
        let y = b.input(2);
        // One operand with more ANDs than a group has, one pair, and a level above.
        let mut outs = x[1..].iter().map(|of| b.and(*of, x[0])).collect::<Vec<_>>();
        outs.push(b.and(y[0], y[1]));
        let above = b.and(outs[0], outs[1]);
        outs.push(above);
        let tape = compile(&b.finish(vec![outs]), &Machine::ROUNDS);
        let shared = tape.shared_operands();
        let first = 2 * MOST as u64 + 2;
        assert_eq!(shared.opened, [first + 3 + 1 + 1, 1 + 1]);
        assert_eq!(shared.groups, BTreeMap::from([(1, 2), (2, 1), (MOST, 2)]));
        let copy = tape.clone();
        assert_eq!((&copy, copy.shared_operands()), (&tape, shared));
    }
}
