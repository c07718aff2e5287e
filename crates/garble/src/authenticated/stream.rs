//! Planes of blocks beside the table of a tape, in the order of the format.
//!
//! A kernel sees a table whose groups hold planes of the message and planes of its own side, one
//! behind the other. A plane lies here as one list: block `k` belongs to the `k`-th (AND, lane)
//! pair, whatever groups the format has. So what one walk leaves is what another one takes.

use sealane_block::{Block, GROUP, Group};
use zeroize::Zeroize;

use super::MOST_GARBLERS;
use crate::tables::{Ended, TableStream};

/// Pairs of a chunk of a message of so many rows: the largest power of two that takes, with their
/// bits, at most [`CHUNK_BYTES`](crate::CHUNK_BYTES).
const fn chunk(rows: usize) -> usize {
    let most = 8 * crate::CHUNK_BYTES / (8 * BLOCK * rows + 1);
    1 << most.ilog2()
}

const _: () = assert!(chunk(2) == 1024 && chunk(super::rows(MOST_GARBLERS)).is_multiple_of(8));

/// Bytes of the planes of gates that a kernel takes at once: they fit the first cache.
const AT_ONCE: usize = 1 << 14;

/// Bytes of a block.
const BLOCK: usize = size_of::<Block>();

/// The plane of a message that is a bit of an AND, in bit 0 of a block. All others are rows.
const BIT: usize = 2;

/// The table of a walk: planes of its messages, if it has any, then those beside them.
pub(super) struct Stream<'a, 'b> {
    messages: Vec<Message<'b>>,
    local: &'b mut [&'a mut [Block]],
    /// Pairs that have passed.
    done: usize,
    pairs: usize,
    buffer: Vec<Group>,
}

/// A message of a walk, to or from another party.
pub(super) struct Message<'b> {
    tables: &'b mut dyn TableStream,
    sends: bool,
    /// Pairs of a chunk.
    chunk: usize,
    /// Blocks that have been made and not sent, or received.
    planes: Vec<Vec<Block>>,
    /// Of those received, the ones that have been taken, which come first.
    taken: usize,
    /// Pairs that have crossed.
    crossed: usize,
}

impl<'b> Message<'b> {
    /// A message of so many rows of each pair, which this party sends or receives.
    pub(super) fn new(tables: &'b mut dyn TableStream, sends: bool, rows: usize) -> Message<'b> {
        let chunk = chunk(rows);
        Message {
            tables,
            sends,
            chunk,
            planes: (0..=rows)
                .map(|_| Vec::with_capacity(chunk + 2 * GROUP))
                .collect(),
            taken: 0,
            crossed: 0,
        }
    }

    /// Number of blocks of each plane that are to be sent or taken.
    fn here(&self) -> usize {
        self.planes[0].len() - self.taken
    }

    /// Bytes of the bits of so many pairs, and of all of their message.
    fn bytes(&self, count: usize) -> [usize; 2] {
        let bits = count.div_ceil(8);
        [bits, bits + (self.planes.len() - 1) * BLOCK * count]
    }

    /// Sends the first `count` blocks of each plane.
    fn send(&mut self, count: usize) -> Result<(), Ended> {
        let [bits, all] = self.bytes(count);
        let chunk = &mut self.tables.next(all)?[..all];
        let (packed, chunk) = chunk.split_at_mut(bits);
        let lowest = self.planes[BIT][..count].chunks(8);
        for (byte, bits) in packed.iter_mut().zip(lowest) {
            let bits = bits.iter().rev();
            *byte = bits.fold(0, |byte, block| byte << 1 | block.lsb());
        }
        let rows = self.planes.iter().enumerate();
        let rows = rows.filter_map(|(at, rows)| (at != BIT).then_some(rows));
        for (chunk, rows) in chunk.chunks_exact_mut(BLOCK * count).zip(rows) {
            chunk.copy_from_slice(Block::as_bytes(&rows[..count]));
        }
        for plane in &mut self.planes {
            plane.drain(..count);
        }
        self.crossed += count;
        self.tables.pass(all)
    }

    /// Receives `count` blocks of each plane.
    fn receive(&mut self, count: usize) -> Result<(), Ended> {
        let [bits, all] = self.bytes(count);
        let chunk = &self.tables.next(all)?[..all];
        let (packed, chunk) = chunk.split_at(bits);
        for plane in &mut self.planes {
            plane.drain(..self.taken);
        }
        self.taken = 0;
        let bit = |at: usize| Block::new((packed[at / 8] >> (at % 8) & 1).into());
        self.planes[BIT].extend((0..count).map(bit));
        let rows = self.planes.iter_mut().enumerate();
        let rows = rows.filter_map(|(at, rows)| (at != BIT).then_some(rows));
        for (plane, rows) in rows.zip(chunk.chunks_exact(BLOCK * count)) {
            let (rows, _) = rows.as_chunks();
            plane.extend(rows.iter().map(|row| Block::from_bytes(*row)));
        }
        self.crossed += count;
        self.tables.pass(all)
    }
}

impl<'a, 'b> Stream<'a, 'b> {
    /// The table of a walk over so many pairs.
    ///
    /// # Panics
    /// If a plane has another length.
    pub(super) fn new(
        local: &'b mut [&'a mut [Block]],
        pairs: usize,
        messages: Vec<Message<'b>>,
    ) -> Stream<'a, 'b> {
        let fits = local.iter().all(|plane| plane.len() == pairs);
        assert!(fits, "a plane has a block for each pair");
        Stream {
            messages,
            local,
            done: 0,
            pairs,
            buffer: Vec::new(),
        }
    }

    /// Sends the rest of messages.
    pub(super) fn finish(&mut self) -> Result<(), Ended> {
        let mut left = self
            .messages
            .iter_mut()
            .filter(|message| message.here() > 0);
        left.try_for_each(|message| message.send(message.here()))
    }

    /// Number of planes.
    fn planes(&self) -> usize {
        let of_messages = self.messages.iter().map(|message| message.planes.len());
        self.local.len() + of_messages.sum::<usize>()
    }

    /// Copies `pairs` pairs from the lists to the buffer (`OUT` is false) or back. Groups are as
    /// the machine makes them: of sixteen, or one of fewer.
    fn copy<const OUT: bool>(&mut self, pairs: usize) {
        let planes = self.planes();
        let first = planes - self.local.len();
        let blocks = Group::as_blocks_mut(&mut self.buffer);
        for begin in (0..pairs).step_by(GROUP) {
            let count = GROUP.min(pairs - begin);
            let mut plane = blocks[begin * planes..][..count * planes].chunks_exact_mut(count);
            for message in &mut self.messages {
                for (list, group) in message.planes.iter_mut().zip(plane.by_ref()) {
                    if OUT && message.sends {
                        list.extend_from_slice(group);
                    } else if !OUT && !message.sends {
                        group.copy_from_slice(&list[message.taken + begin..][..count]);
                    }
                }
            }
            debug_assert_eq!(first + plane.len(), planes);
            let at = self.done + begin;
            for (list, group) in self.local.iter_mut().zip(plane) {
                if OUT {
                    list[at..at + count].copy_from_slice(group);
                } else {
                    group.copy_from_slice(&list[at..at + count]);
                }
            }
        }
    }

    /// Number of pairs whose planes take so many bytes.
    fn pairs_in(&self, bytes: usize) -> usize {
        bytes / (BLOCK * self.planes())
    }
}

impl TableStream for Stream<'_, '_> {
    fn next_gates(&mut self, bytes: usize, gates: usize) -> Result<&mut [u8], Ended> {
        self.next(bytes * gates.min((AT_ONCE / bytes).max(1)))
    }

    fn next(&mut self, bytes: usize) -> Result<&mut [u8], Ended> {
        let pairs = self.pairs_in(bytes);
        for message in self.messages.iter_mut().filter(|message| !message.sends) {
            while message.here() < pairs {
                let left = self.pairs - message.crossed;
                message.receive(left.min(message.chunk))?;
            }
        }
        let groups = bytes.div_ceil(size_of::<Group>());
        if self.buffer.len() < groups {
            self.buffer.zeroize();
            self.buffer = vec![Group::ZERO; groups];
        }
        self.copy::<false>(pairs);
        // No more than was asked for: the groups of what comes next are not known.
        Ok(&mut Block::as_bytes_mut(Group::as_blocks_mut(&mut self.buffer))[..bytes])
    }

    fn pass(&mut self, bytes: usize) -> Result<(), Ended> {
        let pairs = self.pairs_in(bytes);
        self.copy::<true>(pairs);
        self.done += pairs;
        for message in &mut self.messages {
            if !message.sends {
                message.taken += pairs;
                continue;
            }
            while message.here() >= message.chunk {
                message.send(message.chunk)?;
            }
        }
        Ok(())
    }
}

impl Drop for Stream<'_, '_> {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

impl Drop for Message<'_> {
    /// Rows are public. They are erased as well, so that nothing is left in memory.
    fn drop(&mut self) {
        self.planes.zeroize();
    }
}
