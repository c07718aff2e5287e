//! Detection of nonces that occur twice in a batch.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The key that a nonce is used under.
#[derive(Clone, Copy)]
pub enum KeyId<'a> {
    /// The number of a key that is identified by other means.
    Numbered(u64),
    /// The key itself, which only enters a hash under a random key.
    Secret(&'a [u8]),
}

/// The nonces of a batch, each under its key, to find repeated ones.
///
/// Nonces are public; keys are not, and are neither kept nor compared. Counters that rise under one
/// numbered key, as big-endian numbers of one length, are kept as they are and need no lookup.
/// Others are kept as 128-bit values of SipHash under random keys, of which two are equal by
/// accident with a probability below `n^2 / 2^129` for `n` nonces: in that case a valid batch is
/// refused.
#[derive(Default)]
pub struct Nonces {
    hashers: [RandomState; 2],
    /// Number of the message that used each first.
    seen: HashMap<u128, usize>,
    /// Nonces of `width` bytes under one numbered key, each above the one before, one behind the
    /// other; none of them is in `seen`.
    rising: Vec<u8>,
    width: usize,
    key: u64,
    /// Number of nonces so far.
    count: usize,
    /// True if a nonce has not been above the one before, so that all are in `seen`.
    mixed: bool,
}

impl Nonces {
    /// Takes the next nonce. If it was used under this key before, gives the number of the message,
    /// from 0, that used it first. An empty nonce counts as none, and never as repeated.
    pub fn used_before(&mut self, key: KeyId<'_>, nonce: &[u8]) -> Option<usize> {
        let number = self.count;
        self.count += 1;
        if !self.mixed {
            if self.rises(key, nonce) {
                return None;
            }
            self.mix();
        }
        if nonce.is_empty() {
            return None;
        }
        let hash = self.hash(key, nonce);
        let first = *self.seen.entry(hash).or_insert(number);
        (first != number).then_some(first)
    }

    /// Returns the number of messages so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Leaves out a message that is not sealed, and so uses no nonce.
    pub fn skip(&mut self) {
        if !self.mixed {
            self.mix();
        }
        self.count += 1;
    }

    /// Records a nonce as it is, if it is above the one before.
    fn rises(&mut self, key: KeyId<'_>, nonce: &[u8]) -> bool {
        let KeyId::Numbered(key) = key else {
            return false;
        };
        let above = match self.rising.len().checked_sub(self.width) {
            Some(last) if self.width > 0 => {
                self.key == key && self.width == nonce.len() && nonce > &self.rising[last..]
            }
            _ => !nonce.is_empty() && self.count == 1,
        };
        if above {
            (self.key, self.width) = (key, nonce.len());
            self.rising.extend_from_slice(nonce);
        }
        above
    }

    /// Brings all that rose to where others are looked up.
    fn mix(&mut self) {
        self.mixed = true;
        let rising = std::mem::take(&mut self.rising);
        let key = KeyId::Numbered(self.key);
        for (number, nonce) in rising.chunks(self.width.max(1)).enumerate() {
            let hash = self.hash(key, nonce);
            self.seen.insert(hash, number);
        }
    }

    fn hash(&self, key: KeyId<'_>, nonce: &[u8]) -> u128 {
        let half = |state: &RandomState| {
            let mut hasher = state.build_hasher();
            let bytes = match key {
                KeyId::Numbered(key) => &key.to_le_bytes()[..],
                KeyId::Secret(key) => key,
            };
            // The length keeps the end of a key apart from the start of a nonce.
            hasher.write_usize(bytes.len());
            hasher.write(bytes);
            hasher.write(nonce);
            u128::from(hasher.finish())
        };
        half(&self.hashers[0]) << 64 | half(&self.hashers[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: the first message with an equal key and an equal nonce.
    fn first(messages: &[(u8, Vec<u8>)], number: usize) -> Option<usize> {
        let mut before = messages[..number].iter();
        if messages[number].1.is_empty() {
            None
        } else {
            before.position(|message| *message == messages[number])
        }
    }

    proptest! {
        /// Few values, so that many are equal, behind a start that may rise.
        #[test]
        fn the_first_use_of_a_nonce_is_found(
            rising in 0u8..6,
            messages in prop::collection::vec((0u8..3, prop::collection::vec(0u8..3, 0..3)), 0..40),
            secret in any::<bool>(),
        ) {
            let start = (0..rising).map(|number| (0, vec![0, number]));
            let messages = start.chain(messages).collect::<Vec<_>>();
            let mut nonces = Nonces::default();
            for (number, (key, nonce)) in messages.iter().enumerate() {
                let id = if secret { KeyId::Secret(std::slice::from_ref(key)) } else { KeyId::Numbered((*key).into()) };
                prop_assert_eq!(nonces.used_before(id, nonce), first(&messages, number));
            }
        }
    }

    #[test]
    fn a_counter_is_looked_up_nowhere() {
        let mut nonces = Nonces::default();
        for number in 0u32..1000 {
            let before = nonces.used_before(KeyId::Numbered(7), &number.to_be_bytes());
            assert_eq!(before, None);
        }
        assert!(nonces.seen.is_empty() && !nonces.mixed);
        let mut before = |key| nonces.used_before(KeyId::Numbered(key), &[0, 0, 1, 0]);
        assert_eq!((before(7), before(8)), (Some(256), None));
    }
}
