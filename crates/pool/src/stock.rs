//! OTs that were taken out of a pool for one run.

use crate::disk::Disk;
use crate::pool::file_name;
use crate::state::{BATCH, Part, batch_bytes};
use sealane_block::Block;
use sealane_ot::Role;
use sealane_ot::traits::PACKED;
use sealane_party::{Fault, Stock};
use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{self, Read};
use zeroize::Zeroizing;

/// Batches that were taken, read one at a time.
pub struct DiskStock {
    role: Role,
    parts: VecDeque<(Part, Box<dyn Read + Send>)>,
    /// The batch in use, decrypted: keys, and behind them choices at the receiver.
    batch: Zeroizing<Vec<Block>>,
    /// OTs of that batch that were given out.
    given: usize,
    /// Where the pool is, for messages.
    place: String,
}

impl DiskStock {
    pub(crate) fn open(
        disk: &dyn Disk,
        role: Role,
        parts: Vec<Part>,
        place: &str,
    ) -> io::Result<DiskStock> {
        let open = |part: Part| {
            let at = (part.first - part.fill.first) * batch_bytes(role) as u64;
            let file = disk.open(&file_name(role, &part.fill), at)?;
            Ok((part, file))
        };
        let parts = parts.into_iter().map(open).collect::<io::Result<_>>()?;
        Ok(DiskStock::of(role, parts, place))
    }

    /// The batches of these parts, each with what reads it from its first batch on.
    pub(crate) fn of(
        role: Role,
        parts: VecDeque<(Part, Box<dyn Read + Send>)>,
        place: &str,
    ) -> DiskStock {
        DiskStock {
            role,
            parts,
            batch: Zeroizing::new(vec![Block::ZERO; batch_bytes(role).div_ceil(16)]),
            given: BATCH,
            place: place.to_string(),
        }
    }

    /// Gives out up to `most` OTs of one batch: returns the number of the first, and how many.
    fn next(&mut self, most: usize) -> Result<(usize, usize), Fault> {
        if self.given == BATCH {
            self.read()?;
            self.given = 0;
        }
        let (first, count) = (self.given, most.min(BATCH - self.given));
        self.given += count;
        Ok((first, count))
    }

    /// Reads the next batch.
    fn read(&mut self) -> Result<(), Fault> {
        let Some((part, file)) = self.parts.front_mut() else {
            return Err(Fault::internal("a run takes more of the pool than planned"));
        };
        let batch = &mut Block::as_bytes_mut(&mut self.batch)[..batch_bytes(self.role)];
        file.read_exact(batch)
            .map_err(|error| damaged(&self.place, error))?;
        let cipher = part.fill.cipher(self.role, part.first, &part.key);
        if !cipher.open(batch) {
            return Err(damaged(&self.place, "a batch is not as it was written"));
        }
        part.first += 1;
        part.batches -= 1;
        part.key.advance(1);
        if part.batches == 0 {
            self.parts.pop_front();
        }
        Ok(())
    }
}

impl Stock for DiskStock {
    fn pairs(&mut self, pairs: &mut [[Block; 2]]) -> Result<(), Fault> {
        let mut left = pairs;
        while !left.is_empty() {
            let (first, count) = self.next(left.len())?;
            let (now, rest) = left.split_at_mut(count);
            let batch = &self.batch[2 * first..][..2 * count];
            now.as_flattened_mut().copy_from_slice(batch);
            left = rest;
        }
        Ok(())
    }

    fn keys(&mut self, choices: &mut [u8], keys: &mut [Block]) -> Result<(), Fault> {
        let mut done = 0;
        while done < keys.len() {
            let (first, count) = self.next(keys.len() - done)?;
            let (batch, packed) = self.batch.split_at(BATCH);
            keys[done..][..count].copy_from_slice(&batch[first..][..count]);
            for (choice, j) in choices[done..][..count].iter_mut().zip(first..) {
                *choice = (packed[j / PACKED].value() >> (j % PACKED)) as u8 & 1;
            }
            done += count;
        }
        Ok(())
    }
}

fn damaged(place: &str, error: impl Display) -> Fault {
    Fault::Machine(Box::new(crate::error::lost(place, error)))
}
