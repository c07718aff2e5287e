//! OTs that lie ready, where their source has written them.

use crate::traits::{copy_bits, packed_blocks};
use crate::{OtError, Result};
use sealane_block::Block;
use std::collections::VecDeque;
use std::mem;
use zeroize::{Zeroize, Zeroizing};

/// OTs that were made together.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) rows: Zeroizing<Vec<Block>>,
    /// Their choices, packed, at the receiver.
    pub(crate) choices: Zeroizing<Vec<Block>>,
    /// Number of OTs. Behind their rows there may be others that nobody takes.
    pub(crate) count: usize,
}

impl Batch {
    /// Room for `count` OTs, with choices or without, in the memory of this one if it is enough.
    /// What is in it means nothing.
    fn room(mut self, count: usize, with_choices: bool) -> Batch {
        let blocks = if with_choices {
            packed_blocks(count)
        } else {
            0
        };
        for (vector, length) in [(&mut self.rows, count), (&mut self.choices, blocks)] {
            if vector.capacity() < length {
                // A vector that grew by itself would leave a copy behind. The old one goes first.
                *vector = Zeroizing::default();
                *vector = Zeroizing::new(vec![Block::ZERO; length]);
            }
            vector.resize(length, Block::ZERO);
        }
        Batch { count, ..self }
    }
}

/// OTs of one party.
pub(super) struct Stock {
    /// Number of which a refill makes a multiple.
    unit: usize,
    /// Those that are left, the next ones first.
    batches: VecDeque<Batch>,
    /// Number of those taken from the first batch.
    taken: usize,
    /// Number of those that are left in all.
    left: usize,
    /// Memory of OTs that were taken, for the next ones.
    spare: Batch,
}

impl Stock {
    pub(super) fn new(unit: usize) -> Stock {
        Stock {
            unit,
            batches: VecDeque::new(),
            taken: 0,
            left: 0,
            spare: Batch::default(),
        }
    }

    /// Number of OTs that may be taken.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Number of which a refill makes a multiple.
    pub(super) fn unit(&self) -> usize {
        self.unit
    }

    /// Forgets everything, after a failure.
    pub(super) fn clear(&mut self) {
        *self = Stock::new(self.unit);
    }

    /// Room for a refill of `count`, with choices or without.
    ///
    /// # Panics
    /// If `count` is no multiple of the unit.
    pub(super) fn room(&mut self, count: usize, with_choices: bool) -> Batch {
        assert_eq!(count % self.unit, 0, "whole units");
        self.spare().room(count, with_choices)
    }

    /// Memory that is not in use, of any size.
    pub(super) fn spare(&mut self) -> Batch {
        self.retire();
        // A few that are left do not keep the memory of all.
        if let Some(first) = self.batches.front_mut()
            && self.taken > 0
            && first.count - self.taken <= first.count / 8
        {
            let count = first.count - self.taken;
            let mut rest = Batch::default().room(count, !first.choices.is_empty());
            rest.rows
                .copy_from_slice(&first.rows[self.taken..][..count]);
            if !first.choices.is_empty() {
                copy_bits(&mut rest.choices, 0, &first.choices, self.taken, count);
            }
            self.taken = 0;
            self.spare = mem::replace(first, rest);
        }
        mem::take(&mut self.spare)
    }

    /// Adds those of a refill behind those that are left.
    pub(super) fn add(&mut self, batch: Batch) {
        self.left += batch.count;
        if batch.count > 0 {
            self.batches.push_back(batch);
        }
    }

    /// Adds those of a refill that was made, or forgets everything if it failed.
    pub(super) fn add_if<E>(&mut self, made: Result<(), E>, batch: Batch) -> Result<(), E> {
        match made {
            Ok(()) => self.add(batch),
            Err(_) => self.clear(),
        }
        made
    }

    /// Of the next `taken` OTs, the numbers of those that are left and those that a refill of
    /// `made` adds.
    pub(super) fn split(&self, made: usize, taken: usize) -> Result<[usize; 2]> {
        let old = taken.min(self.left);
        if taken - old > made {
            return Err(OtError::Ended);
        }
        Ok([old, taken - old])
    }

    /// Takes the next `count`: returns their rows, in `scratch` if they do not lie together, and
    /// fills in their choices, packed, at a receiver.
    pub(super) fn take<'a>(
        &'a mut self,
        count: usize,
        choices: &mut [Block],
        scratch: &'a mut Zeroizing<Vec<Block>>,
    ) -> Result<&'a [Block]> {
        self.left = self.left.checked_sub(count).ok_or(OtError::Ended)?;
        choices.fill(Block::ZERO);
        let mut done = 0;
        while done < count {
            self.retire();
            let first = &self.batches[0];
            let (at, some) = (self.taken, (count - done).min(first.count - self.taken));
            if !choices.is_empty() {
                copy_bits(choices, done, &first.choices, at, some);
            }
            self.taken += some;
            if some == count {
                return Ok(&self.batches[0].rows[at..][..count]);
            }
            let scratch = with_room(scratch, count);
            scratch[done..][..some].copy_from_slice(&first.rows[at..][..some]);
            done += some;
        }
        Ok(&with_room(scratch, count)[..count])
    }

    /// Keeps the memory of batches of which all are taken.
    fn retire(&mut self) {
        while let Some(first) = self.batches.front()
            && first.count == self.taken
        {
            let taken = self.batches.pop_front().unwrap_or_default();
            if taken.rows.capacity() >= self.spare.rows.capacity() {
                self.spare = taken;
            }
            self.taken = 0;
        }
    }
}

/// The first `count` blocks of scratch memory, which grows if it has fewer.
pub(crate) fn with_room(scratch: &mut Zeroizing<Vec<Block>>, count: usize) -> &mut [Block] {
    if scratch.len() < count {
        // A vector that grew by itself would leave a copy behind.
        scratch.zeroize();
        *scratch = Zeroizing::new(vec![Block::ZERO; count]);
    }
    &mut scratch[..count]
}
