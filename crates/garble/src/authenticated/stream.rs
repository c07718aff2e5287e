//! Planes of blocks beside the table of a tape, in the order of the format.
//!
//! A kernel sees a table whose groups hold planes of the message and planes of its own side, one
//! behind the other. A plane lies here as one list: block `k` belongs to the `k`-th (AND, lane)
//! pair, whatever groups the format has. So what one walk leaves is what another one takes.

use sealane_block::{Block, GROUP, Group};
use zeroize::Zeroize;

use crate::tables::{Ended, TableStream};

/// Pairs of a chunk of the message: with their bits they take less than
/// [`CHUNK_BYTES`](crate::CHUNK_BYTES).
const CHUNK: usize = 1024;

const _: () = assert!(CHUNK.is_multiple_of(8) && 33 * CHUNK <= crate::CHUNK_BYTES);

/// Bytes of the planes of gates that a kernel takes at once: they fit the first cache.
const AT_ONCE: usize = 1 << 14;

/// Bytes of a block.
const BLOCK: usize = size_of::<Block>();

/// Planes of the message: two rows of an AND, and a bit in bit 0 of a block.
const OF_MESSAGE: usize = 3;

/// The table of a walk: planes of its message, if it has one, then those beside it.
pub(super) struct Stream<'a, 'b> {
    message: Option<Message<'b>>,
    local: &'b mut [&'a mut [Block]],
    /// Pairs that have passed.
    done: usize,
    pairs: usize,
    buffer: Vec<Group>,
}

/// The message of a walk, to or from the other party.
pub(super) struct Message<'b> {
    tables: &'b mut dyn TableStream,
    sends: bool,
    /// Blocks that have been made and not sent, or received.
    planes: [Vec<Block>; OF_MESSAGE],
    /// Of those received, the ones that have been taken, which come first.
    taken: usize,
    /// Pairs that have crossed.
    crossed: usize,
}

impl<'b> Message<'b> {
    pub(super) fn to(tables: &'b mut dyn TableStream) -> Message<'b> {
        Message::new(tables, true)
    }

    pub(super) fn from(tables: &'b mut dyn TableStream) -> Message<'b> {
        Message::new(tables, false)
    }

    fn new(tables: &'b mut dyn TableStream, sends: bool) -> Message<'b> {
        Message {
            tables,
            sends,
            planes: [(); OF_MESSAGE].map(|()| Vec::with_capacity(CHUNK + 2 * GROUP)),
            taken: 0,
            crossed: 0,
        }
    }

    /// Number of blocks of each plane that are to be sent or taken.
    fn here(&self) -> usize {
        self.planes[0].len() - self.taken
    }

    /// Sends the first `count` blocks of each plane.
    fn send(&mut self, count: usize) -> Result<(), Ended> {
        let [bits, rows] = [count.div_ceil(8), BLOCK * count];
        let chunk = &mut self.tables.next(bits + 2 * rows)?[..bits + 2 * rows];
        let (packed, chunk) = chunk.split_at_mut(bits);
        let [first, second, lowest] = &mut self.planes;
        for (byte, bits) in packed.iter_mut().zip(lowest[..count].chunks(8)) {
            let bits = bits.iter().rev();
            *byte = bits.fold(0, |byte, block| byte << 1 | block.lsb());
        }
        chunk[..rows].copy_from_slice(Block::as_bytes(&first[..count]));
        chunk[rows..].copy_from_slice(Block::as_bytes(&second[..count]));
        for plane in [first, second, lowest] {
            plane.drain(..count);
        }
        self.crossed += count;
        self.tables.pass(bits + 2 * rows)
    }

    /// Receives `count` blocks of each plane.
    fn receive(&mut self, count: usize) -> Result<(), Ended> {
        let [bits, rows] = [count.div_ceil(8), BLOCK * count];
        let chunk = &self.tables.next(bits + 2 * rows)?[..bits + 2 * rows];
        let (packed, chunk) = chunk.split_at(bits);
        let [first, second, lowest] = &mut self.planes;
        for plane in [&mut *first, second, lowest] {
            plane.drain(..self.taken);
        }
        self.taken = 0;
        let bit = |at: usize| Block::new((packed[at / 8] >> (at % 8) & 1).into());
        lowest.extend((0..count).map(bit));
        for (plane, rows) in [first, second].into_iter().zip(chunk.chunks_exact(rows)) {
            let (rows, _) = rows.as_chunks();
            plane.extend(rows.iter().map(|row| Block::from_bytes(*row)));
        }
        self.crossed += count;
        self.tables.pass(bits + 2 * rows)
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
        message: Option<Message<'b>>,
    ) -> Stream<'a, 'b> {
        let fits = local.iter().all(|plane| plane.len() == pairs);
        assert!(fits, "a plane has a block for each pair");
        Stream {
            message,
            local,
            done: 0,
            pairs,
            buffer: Vec::new(),
        }
    }

    /// Sends the rest of the message.
    pub(super) fn finish(&mut self) -> Result<(), Ended> {
        let message = self.message.as_mut().filter(|message| message.here() > 0);
        message.map_or(Ok(()), |message| message.send(message.here()))
    }

    /// Number of planes.
    fn planes(&self) -> usize {
        self.local.len() + self.message.as_ref().map_or(0, |_| OF_MESSAGE)
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
            if let Some(message) = &mut self.message {
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
        if let Some(message) = self.message.as_mut().filter(|message| !message.sends) {
            while message.here() < pairs {
                let left = self.pairs - message.crossed;
                message.receive(left.min(CHUNK))?;
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
        let Some(message) = &mut self.message else {
            return Ok(());
        };
        if !message.sends {
            message.taken += pairs;
        } else {
            while message.here() >= CHUNK {
                message.send(CHUNK)?;
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
