//! Bytes of a message, which may be shares or seeds: erased when they are dropped, never printed.

use std::fmt;
use std::ops::{Deref, DerefMut};

use zeroize::Zeroize;

/// The payload of a frame: bytes that are erased when they are dropped, and whose `Debug` form is
/// their number. They grow by [`Payload::append`] alone, which erases the place from which they
/// grow, and never shrink: a vector that is handed out would leave copies and tails behind.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Payload(Vec<u8>);

impl Payload {
    /// Nothing yet, with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Payload {
        Payload(Vec::with_capacity(bytes))
    }

    /// What it has room for.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        let needed = self.0.len() + bytes.len();
        if needed > self.0.capacity() {
            // A vector that grew by itself would leave a copy behind.
            let mut larger = Payload::with_capacity(needed.next_power_of_two());
            larger.0.extend_from_slice(&self.0);
            *self = larger;
        }
        self.0.extend_from_slice(bytes);
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Payload {
        Payload(bytes)
    }
}

impl Deref for Payload {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Payload {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        // A vector that was made into a payload may have been longer before. This moves nothing.
        self.0.resize(self.0.capacity(), 0);
        erase(&mut self.0);
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
        assert!(
            payload
                .chunks(2)
                .zip(0..)
                .all(|(pair, i)| *pair == [i, 250])
        );
        assert_eq!(format!("{payload:?}"), "200 bytes");
    }
}
