//! Bytes of a message, which may be shares or seeds: never printed, and erased in the end.
//!
//! **Buffer pool.** A stream may use thousands of frames per second. Their buffers are returned to
//! a [`BufferPool`] of a few instead of the system, and the next frame takes one from there: no
//! memory is mapped, zeroed and unmapped in between. So bytes of a message may stay in memory until
//! others replace them or the link ends, which is when the pool erases its buffers.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use zeroize::Zeroize;

use crate::frame::MAX_FRAME_BYTES;

/// Alignment of a pool's buffers: a cache line, which is also the alignment of the widest vectors.
const LINE_BYTES: usize = 64;

/// Number of buffers that a pool keeps, 8 MiB in all; more than are in use at a time while a stream
/// flows and its reader lags behind for a moment.
const MAX_POOLED: usize = 64;

/// Payload of a frame: bytes that are erased when they are dropped, unless their buffer returns to
/// a pool, and whose `Debug` form is their number. They grow by [`Payload::append`] and within
/// their own buffer alone, which leaves no copy behind, and never shrink: a vector that is handed
/// out would leave copies and tails behind.
#[derive(Default)]
pub struct Payload {
    /// The whole buffer; bytes before `start` or from `end` on are meaningless.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    pool: Option<Arc<BufferPool>>,
}

impl Payload {
    /// Makes an empty payload with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Payload {
        Payload::holding(vec![0; bytes], 0)
    }

    fn holding(buffer: Vec<u8>, end: usize) -> Payload {
        let (start, pool) = (0, None);
        Payload {
            buffer,
            start,
            end,
            pool,
        }
    }

    /// Number of bytes for which it has room in all.
    pub(crate) fn capacity(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        let needed = self.len() + bytes.len();
        if needed > self.capacity() {
            // A vector that grew by itself would leave a copy behind.
            let mut larger = Payload::with_capacity(needed.next_power_of_two());
            larger.spare_capacity()[..self.len()].copy_from_slice(self);
            larger.end = self.len();
            *self = larger;
        }
        self.spare_capacity()[..bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Free rest of the buffer behind the bytes. Its content is arbitrary.
    pub(crate) fn spare_capacity(&mut self) -> &mut [u8] {
        &mut self.buffer[self.end..]
    }

    /// Adds the first `bytes` bytes of the free rest to the payload.
    ///
    /// # Panics
    /// If the free rest is smaller.
    pub(crate) fn mark_written(&mut self, bytes: usize) {
        assert!(bytes <= self.buffer.len() - self.end, "within the room");
        self.end += bytes;
    }

    /// Moves all but the first `bytes` bytes to the front.
    pub(crate) fn drop_front(&mut self, bytes: usize) {
        let kept = self.start + bytes..self.end;
        self.buffer.copy_within(kept, self.start);
        self.end -= bytes;
    }

    /// Takes the payload for sending. A payload that fills little of its buffer is copied to a
    /// smaller one, so that waiting bytes take at most twice their number in memory; the buffer
    /// stays here.
    pub(crate) fn take_to_send(&mut self) -> Payload {
        if self.len() > self.capacity() / 2 {
            return std::mem::take(self);
        }
        let leaving = self.clone();
        erase(self);
        self.end = self.start;
        leaving
    }
}

impl Clone for Payload {
    fn clone(&self) -> Payload {
        self.to_vec().into()
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Payload) -> bool {
        **self == **other
    }
}

impl Eq for Payload {}

impl From<Vec<u8>> for Payload {
    fn from(mut bytes: Vec<u8>) -> Payload {
        let end = bytes.len();
        // It may have been longer before. This moves nothing.
        bytes.resize(bytes.capacity(), 0);
        Payload::holding(bytes, end)
    }
}

impl Deref for Payload {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }
}

impl DerefMut for Payload {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.end]
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        match self.pool.take() {
            Some(pool) => pool.give(buffer),
            None => erase(&mut buffer),
        }
    }
}

/// A pool of a few buffers for frames.
#[derive(Default)]
pub(crate) struct BufferPool(Mutex<Vec<Vec<u8>>>);

impl BufferPool {
    /// Returns an empty payload with room for the longest frame, aligned to a cache line.
    pub(crate) fn take(self: &Arc<BufferPool>) -> Payload {
        let buffer = self.lock().pop();
        let mut buffer = buffer.unwrap_or_else(|| vec![0; MAX_FRAME_BYTES + LINE_BYTES]);
        // Offset of the first cache line, if the system reports it.
        let start = buffer.as_ptr().align_offset(LINE_BYTES).min(LINE_BYTES);
        buffer.truncate(start + MAX_FRAME_BYTES);
        Payload {
            buffer,
            start,
            end: start,
            pool: Some(Arc::clone(self)),
        }
    }

    /// Returns an empty payload with room for `bytes` bytes, at most those of a frame: from the
    /// pool if they fill most of a buffer.
    pub(crate) fn take_for(self: &Arc<BufferPool>, bytes: usize) -> Payload {
        if bytes > MAX_FRAME_BYTES / 2 {
            self.take()
        } else {
            Payload::with_capacity(bytes)
        }
    }

    fn give(&self, mut buffer: Vec<u8>) {
        let mut free = self.lock();
        if free.len() < MAX_POOLED {
            return free.push(buffer);
        }
        drop(free);
        erase(&mut buffer);
    }

    /// Locks the buffers. No code panics while it holds the lock.
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        self.lock().iter_mut().for_each(|buffer| erase(buffer));
    }
}

/// Zeroes bytes, eight at a time: one by one it would take as long as encrypting them.
fn erase(bytes: &mut [u8]) {
    let (before, words, after) = bytemuck::pod_align_to_mut::<u8, u64>(bytes);
    before.zeroize();
    words.zeroize();
    after.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_any_stretch_is_erased() {
        for (from, to) in [(0, 0), (0, 7), (3, 4), (1, 40), (5, 64), (0, 64)] {
            let mut bytes = [7; 64];
            erase(&mut bytes[from..to]);
            let zeros = (from..to).collect::<Vec<_>>();
            let found = (0..64).filter(|i| bytes[*i] == 0).collect::<Vec<_>>();
            assert_eq!(found, zeros);
        }
    }

    #[test]
    fn it_grows_to_what_is_appended_and_shows_none_of_it() {
        let mut payload = Payload::default();
        (0..100u8).for_each(|byte| payload.append(&[byte, 250]));
        assert_eq!(payload.len(), 200);
        let mut pairs = payload.chunks(2).zip(0..);
        assert!(pairs.all(|(pair, i)| *pair == [i, 250]));
        assert_eq!(format!("{payload:?}"), "200 bytes");
    }

    #[test]
    fn buffers_of_a_pool_begin_at_a_line_and_come_back_to_it() {
        let pool = Arc::new(BufferPool::default());
        let mut payload = pool.take();
        assert_eq!(payload.capacity(), MAX_FRAME_BYTES);
        payload.append(&[1, 2, 3]);
        assert_eq!(payload.as_ptr().align_offset(LINE_BYTES), 0);
        let place = payload.as_ptr();
        drop(payload);
        let again = pool.take();
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
        let many: Vec<_> = (0..2 * MAX_POOLED).map(|_| pool.take()).collect();
        drop(many);
        assert_eq!(pool.lock().len(), MAX_POOLED);
    }

    #[test]
    fn little_leaves_without_its_buffer_and_much_with_it() {
        let pool = Arc::new(BufferPool::default());
        let mut payload = pool.take();
        payload.append(&[5; 100]);
        let place = payload.as_ptr();
        let little = payload.take_to_send();
        assert_eq!(*little, [5; 100]);
        assert!(little.capacity() < 300 && little.pool.is_none());
        assert_eq!((payload.as_ptr(), payload.len()), (place, 0));
        assert_eq!(payload.spare_capacity()[..100], [0; 100]);
        payload.append(&vec![6; MAX_FRAME_BYTES / 2 + 1]);
        assert_eq!(payload.take_to_send().as_ptr(), place);
        assert_eq!(payload.capacity(), 0);
    }
}
