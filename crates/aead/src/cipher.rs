//! A mode under a key: the calls for one message.

use std::sync::atomic::{AtomicU64, Ordering};

use sealane_block::Cpu;
use zeroize::{Zeroize, Zeroizing};

use crate::counts::Counts;
use crate::lanes::work::Outcome;
use crate::lengths::{Layout, MessageLengths, Request};
use crate::registry::Key;
use crate::{Error, Suite};

/// A mode under an expanded key.
///
/// It counts the messages that it seals, and refuses to seal more than the mode allows under one
/// key. It also counts failed openings, and opens nothing any more once a guess at a tag might have
/// succeeded: see [`Suite::most_failures`]. Several ciphers with one key have to share a count: see
/// [`Cipher::counting`].
pub struct Cipher {
    pub(crate) cpu: Cpu,
    pub(crate) suite: Suite,
    pub(crate) key: Key,
    /// The unique number of this object.
    id: u64,
    /// Minimum number of blocks that a message counts as, so that one count enforces both limits.
    pub(crate) share: u64,
    pub(crate) counts: Counts,
}

impl Cipher {
    /// Expands a key.
    ///
    /// # Errors
    /// The key has the wrong length.
    pub fn new(cpu: Cpu, suite: Suite, key: &[u8]) -> Result<Cipher, Error> {
        let needed = suite.key_bytes();
        if key.len() != needed {
            return Err(Error::KeyLength {
                suite,
                bytes: key.len(),
                needed,
            });
        }
        Ok(Cipher::expand(cpu, suite, key))
    }

    /// Expands a key that has the right length.
    pub(crate) fn expand(cpu: Cpu, suite: Suite, key: &[u8]) -> Cipher {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let limits = suite.limits();
        Cipher {
            cpu,
            suite,
            key: Key::expand(cpu, suite, key),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            share: limits.blocks / limits.messages,
            counts: Counts::default(),
        }
    }

    /// Returns the mode.
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// Shares the counts of other ciphers with the same key, in place of its own.
    #[must_use]
    pub fn counting(mut self, counts: &Counts) -> Cipher {
        self.counts = counts.clone();
        self
    }

    /// Returns the counts of its key, for other ciphers of that key, or to be kept for
    /// [`count_elsewhere`](Cipher::count_elsewhere) and
    /// [`count_failures_elsewhere`](Cipher::count_failures_elsewhere).
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns the unique number of this object.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Returns the length of the sealed message for `text` bytes of text.
    pub fn sealed_len(&self, text: usize) -> usize {
        self.shape(text).sealed
    }

    /// Seals a text. Returns the whole output of the mode, with the tag where the mode puts it.
    ///
    /// # Errors
    /// A length is not valid for the mode, or the key is worn out.
    pub fn seal(&self, nonce: &[u8], ad: &[u8], text: &[u8]) -> Result<Vec<u8>, Error> {
        self.check(nonce.len(), ad.len(), text.len())?;
        // A copy of a refused text must not stay in memory.
        let mut buffer = Zeroizing::new(vec![0; self.sealed_len(text.len())]);
        buffer[..text.len()].copy_from_slice(text);
        self.seal_in_place(nonce, ad, &mut buffer, text.len())?;
        Ok(std::mem::take(&mut *buffer))
    }

    /// Seals in place: `buffer` has the text in front, `text` bytes of it, and room for the sealed
    /// message, [`sealed_len`](Cipher::sealed_len) bytes in all.
    ///
    /// # Errors
    /// As [`seal`](Cipher::seal); and if the buffer has another length.
    pub fn seal_in_place(
        &self,
        nonce: &[u8],
        ad: &[u8],
        buffer: &mut [u8],
        text: usize,
    ) -> Result<(), Error> {
        let lengths = MessageLengths::of(nonce, ad, buffer, Some(text));
        let mut fit = Layout::default();
        self.fit(false, lengths, &mut fit)?;
        self.spend(fit.cost)?;
        self.run_one(false, Request::new(nonce, ad, buffer, &fit));
        Ok(())
    }

    /// Opens a sealed message. Modes whose output does not determine the length of the text need
    /// `text`, the original length; with others it may be left out, and is compared where it is
    /// given.
    ///
    /// # Errors
    /// A length is not valid for the mode; [`Error::NotAuthentic`]; or [`Error::TooManyFailures`]
    /// after too many failures.
    pub fn open(
        &self,
        nonce: &[u8],
        ad: &[u8],
        sealed: &[u8],
        text: Option<usize>,
    ) -> Result<Vec<u8>, Error> {
        let mut buffer = sealed.to_vec();
        let len = self.open_in_place(nonce, ad, &mut buffer, text)?;
        buffer.truncate(len);
        Ok(buffer)
    }

    /// Opens in place, and returns how many bytes of text lie in front of `buffer`. The bytes
    /// behind them are unspecified. If the message is not authentic, all of the buffer is zero.
    ///
    /// # Errors
    /// As [`open`](Cipher::open); then the buffer is left as it was, unless it was not authentic.
    pub fn open_in_place(
        &self,
        nonce: &[u8],
        ad: &[u8],
        buffer: &mut [u8],
        text: Option<usize>,
    ) -> Result<usize, Error> {
        let lengths = MessageLengths::of(nonce, ad, buffer, text);
        let mut fit = Layout::default();
        self.fit(true, lengths, &mut fit)?;
        self.may_open()?;
        let outcome = self.run_one(true, Request::new(nonce, ad, buffer, &fit));
        self.opened(outcome, buffer, fit.text)
    }

    /// Returns true if [`seal_detached`](Cipher::seal_detached) works: the mode seals a text to
    /// bytes of the same length, followed by a tag.
    pub fn is_detachable(&self) -> bool {
        // The property holds for a text of one byte exactly if it holds for any text.
        let shape = self.shape(1);
        (shape.front, shape.held, shape.sealed) == (0, 1, 1 + self.suite.tag_bytes())
    }

    /// Seals in place, with the tag apart, of [`Suite::tag_bytes`].
    ///
    /// # Errors
    /// As [`seal`](Cipher::seal); if the tag has another length, or the mode has none of its own
    /// (see [`is_detachable`](Cipher::is_detachable)).
    pub fn seal_detached(
        &self,
        nonce: &[u8],
        ad: &[u8],
        text: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Error> {
        self.start_detached(nonce, ad, text.len(), tag.len())?;
        self.seal_started(nonce, ad, text, tag);
        Ok(())
    }

    /// Checks and counts a message whose tag is to lie apart.
    pub(crate) fn start_detached(
        &self,
        nonce: &[u8],
        ad: &[u8],
        text: usize,
        tag: usize,
    ) -> Result<(), Error> {
        self.check_detached(tag)?;
        self.check(nonce.len(), ad.len(), text)?;
        Ok(self.spend(self.cost(text, ad.len()))?)
    }

    /// Seals a message that has been started.
    pub(crate) fn seal_started(&self, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &mut [u8]) {
        self.run_one(false, self.detached(nonce, ad, text, tag));
    }

    /// Opens in place a message that was sealed with its tag apart. If the message is not
    /// authentic, all of the text is zero; if a length is wrong, it is left as it was.
    ///
    /// # Errors
    /// As [`open`](Cipher::open) and [`seal_detached`](Cipher::seal_detached).
    pub fn open_detached(
        &self,
        nonce: &[u8],
        ad: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), Error> {
        self.check_detached(tag.len())?;
        self.check(nonce.len(), ad.len(), text.len())?;
        self.may_open()?;
        let mut given = [0; 16];
        let given = &mut given[..tag.len()];
        given.copy_from_slice(tag);
        let outcome = self.run_one(true, self.detached(nonce, ad, text, given));
        self.judge(outcome, text)
    }

    fn detached<'a>(
        &'a self,
        nonce: &'a [u8],
        ad: &'a [u8],
        text: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Request<'a> {
        Request {
            nonce,
            ad,
            bytes: text.len(),
            text,
            tag,
        }
    }

    /// Checks that a tag of this length may be detached.
    fn check_detached(&self, tag: usize) -> Result<(), Error> {
        let suite = self.suite;
        if !self.is_detachable() {
            return Err(Error::NotDetachable { suite });
        }
        match suite.tag_bytes() {
            needed if needed != tag => Err(Error::TagLength {
                mode: suite.kind.display_name(),
                bytes: tag,
                known: needed.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Finishes an opened message: moves its text to the front, or erases it.
    pub(crate) fn opened(
        &self,
        outcome: Outcome,
        buffer: &mut [u8],
        text: usize,
    ) -> Result<usize, Error> {
        self.judge(outcome, buffer)?;
        let front = self.shape(text).front;
        if front > 0 {
            buffer.copy_within(front..front + text, 0);
        }
        Ok(text - outcome.padding)
    }

    /// Erases a message that is not authentic, and counts it. In a batch, messages behind the last
    /// allowed failure are erased as well, although they have been opened: one by one, they would
    /// not have been.
    fn judge(&self, outcome: Outcome, bytes: &mut [u8]) -> Result<(), Error> {
        let may_open = self.may_open();
        if outcome.authentic && may_open.is_ok() {
            return Ok(());
        }
        bytes.zeroize();
        may_open?;
        self.counts.count_failures(1);
        Err(Error::NotAuthentic)
    }

    /// Refuses to open under a key that has failed as often as is safe.
    pub(crate) fn may_open(&self) -> Result<(), Error> {
        let suite = self.suite;
        let failures = suite.most_failures();
        if self.counts.failures() < failures {
            Ok(())
        } else {
            Err(Error::TooManyFailures {
                suite,
                tag: suite.tag_bytes(),
                failures,
            })
        }
    }
}
