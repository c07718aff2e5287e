//! A mode under a key, and the checks before lanes see a message.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sealane_block::{Cpu, Erased};
use zeroize::{Zeroize, Zeroizing};

use crate::batch::MessageSource;
use crate::lanes::lockstep::{Job, Lockstep, Outcome};
use crate::lanes::mode::Shape;
use crate::lanes::single::Single;
use crate::lanes::{Facts, KeyMaterial, Mode};
use crate::modes;
use crate::suite::ModeId;
use crate::{Error, Suite};

/// A mode under an expanded key.
///
/// It counts the messages that it seals, and refuses to seal more than the mode allows under one
/// key. It also counts failed openings, and opens nothing any more once a guess at a tag might have
/// succeeded: see [`Suite::most_failures`]. Several ciphers with one key have to share a count: see
/// [`Cipher::counting`].
pub struct Cipher {
    cpu: Cpu,
    suite: Suite,
    pub(crate) key: Key,
    /// The unique number of this object.
    id: u64,
    /// Minimum number of blocks that a message counts as, so that one count enforces both limits.
    share: u64,
    counts: Counts,
}

/// The lengths of a message, which are known before its bytes are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageLengths {
    pub(crate) nonce: usize,
    pub(crate) ad: usize,
    /// Length of the buffer: the text with room for the sealed message, or the sealed message when
    /// opening.
    pub(crate) buffer: usize,
    /// Length of the text, where it is known.
    pub(crate) text: Option<usize>,
}

/// Layout of one message, derived from valid lengths.
#[derive(Clone, Copy, Default)]
pub(crate) struct Layout {
    /// Bytes of the text, or an upper bound where the padding determines the length.
    pub(crate) text: usize,
    pub(crate) shape: Shape,
    /// Cost of the message against the limits of its key: its blocks, and where messages are
    /// limited at least its share of all blocks.
    pub(crate) cost: u64,
    /// True if the message fills the lanes alone.
    pub(crate) alone: bool,
}

/// A message to be sealed or opened, in place.
#[derive(Default)]
pub(crate) struct Request<'a> {
    pub(crate) nonce: &'a [u8],
    pub(crate) ad: &'a [u8],
    /// Bytes of the text.
    pub(crate) bytes: usize,
    /// The bytes that body and tail change in place: the text, at the place that the mode requires.
    pub(crate) text: &'a mut [u8],
    /// The rest of the sealed message.
    pub(crate) tag: &'a mut [u8],
}

/// A mode whose keys a [`Cipher`] may hold.
pub(crate) trait HasKey: Mode {
    /// Returns the key, if it belongs to this mode.
    fn of(cipher: &Cipher) -> Option<&KeyMaterial<Self>>;
}

macro_rules! keys {
    ($($(#[$attribute:meta])* $kind:ident $mode:ty;)*) => {
        /// An expanded key of any mode.
        pub(crate) enum Key { $($(#[$attribute])* $kind(Erased<KeyMaterial<$mode>>),)* }

        $($(#[$attribute])* impl HasKey for $mode {
            fn of(cipher: &Cipher) -> Option<&KeyMaterial<$mode>> {
                match &cipher.key {
                    Key::$kind(material) => Some(material),
                    #[allow(unreachable_patterns, reason = "a build may have one mode")]
                    _ => None,
                }
            }
        })*

        impl Cipher {
            /// Expands a key.
            ///
            /// # Errors
            /// The key has the wrong length.
            pub fn new(cpu: Cpu, suite: Suite, key: &[u8]) -> Result<Cipher, Error> {
                let needed = suite.key_bytes();
                if key.len() != needed {
                    return Err(Error::KeyLength { suite, bytes: key.len(), needed });
                }
                Ok(Cipher::expand(cpu, suite, key))
            }

            /// Expands a key that has the right length.
            pub(crate) fn expand(cpu: Cpu, suite: Suite, key: &[u8]) -> Cipher {
                let key = match suite.kind {
                    $($(#[$attribute])* ModeId::$kind => {
                        Key::$kind(Erased::new(<$mode>::expand(cpu, key, suite.params)))
                    })*
                };
                static NEXT: AtomicU64 = AtomicU64::new(0);
                let limits = suite.limits();
                Cipher {
                    cpu,
                    suite,
                    key,
                    id: NEXT.fetch_add(1, Ordering::Relaxed),
                    share: limits.blocks / limits.messages,
                    counts: Counts::default(),
                }
            }

            /// Runs one message. The direction is a value here and not a type, so that kernels are
            /// compiled with this crate and not with each user of it.
            pub(crate) fn run_one(&self, open: bool, request: Request<'_>) -> Outcome {
                match &self.key {
                    $($(#[$attribute])* Key::$kind(material) => {
                        let job = request.job::<$mode>(open, material);
                        match open {
                            true => self.cpu.run(Single::<$mode, true> { job }),
                            false => self.cpu.run(Single::<$mode, false> { job }),
                        }
                    })*
                }
            }

            /// Runs many messages of this suite; if `same`, all under this key.
            pub(crate) fn run_many<'a>(
                &'a self,
                open: bool,
                same: bool,
                source: &mut MessageSource<'_, 'a>,
            ) {
                let params = self.suite.params;
                match &self.key {
                    $($(#[$attribute])* Key::$kind(material) => {
                        let (same, queue) = (same.then_some(&**material), source);
                        match open {
                            true => {
                                self.cpu.run(Lockstep::<$mode, true> { params, same, queue });
                            }
                            false => {
                                self.cpu.run(Lockstep::<$mode, false> { params, same, queue });
                            }
                        }
                    })*
                }
            }

            /// Computes the places of text and sealed message.
            fn shape(&self, text: usize) -> Shape {
                match self.suite.kind {
                    $($(#[$attribute])* ModeId::$kind => <$mode>::shape(&self.suite.params, text),)*
                }
            }

            /// Computes the length of the text of a sealed message: an upper bound, where the
            /// padding determines it.
            fn text_bytes(&self, sealed: usize) -> Option<usize> {
                match self.suite.kind {
                    $($(#[$attribute])* ModeId::$kind => {
                        <$mode>::text_bytes(&self.suite.params, sealed)
                    })*
                }
            }

            /// Returns true if a message of a batch fills the lanes alone.
            fn goes_alone(&self, open: bool, text: usize) -> bool {
                match self.suite.kind {
                    $($(#[$attribute])* ModeId::$kind => {
                        text >= <$mode>::ALONE_BYTES && <$mode>::is_parallel(open)
                    })*
                }
            }
        }
    };
}

keys! {
    Ecb modes::ecb::Ecb;
    Ctr modes::ctr::Ctr;
    Cbc modes::cbc::Cbc;
    Ccm modes::ccm::Ccm;
    Gcm modes::gcm::Gcm;
    Ocb3 modes::ocb3::Ocb3;
    #[cfg(feature = "research")]
    Cloc modes::cloc::Cloc;
    #[cfg(feature = "research")]
    Silc modes::silc::Silc;
    #[cfg(feature = "research")]
    Jambu modes::jambu::Jambu;
    #[cfg(feature = "research")]
    Otr modes::otr::Otr;
    #[cfg(feature = "research")]
    Copa modes::copa::Copa;
    #[cfg(feature = "research")]
    Cobra modes::cobra::Cobra;
    #[cfg(feature = "research")]
    McoeG modes::mcoe_g::McoeG;
    #[cfg(feature = "research")]
    Poet modes::poet::Poet;
    #[cfg(feature = "research")]
    Julius modes::julius::Julius;
}

impl<'a> Request<'a> {
    /// Creates the request for a message in one buffer.
    #[inline]
    pub(crate) fn new(
        nonce: &'a [u8],
        ad: &'a [u8],
        buffer: &'a mut [u8],
        fit: &Layout,
    ) -> Request<'a> {
        let mut request = Request::default();
        request.set(nonce, ad, buffer, fit);
        request
    }

    /// Sets the request to a message in one buffer.
    #[inline]
    pub(crate) fn set(
        &mut self,
        nonce: &'a [u8],
        ad: &'a [u8],
        buffer: &'a mut [u8],
        fit: &Layout,
    ) {
        self.nonce = nonce;
        self.ad = ad;
        self.bytes = fit.text;
        (self.text, self.tag) = buffer.split_at_mut(fit.shape.held);
    }

    /// See [`Layout::cost`].
    pub(crate) fn cost(&self, cipher: &Cipher) -> u64 {
        cipher.cost(self.bytes, self.ad.len())
    }

    /// Converts the request for lanes. When sealing, the text is moved to the place that the mode
    /// requires.
    #[inline]
    pub(crate) fn job<M: Mode>(self, open: bool, material: &'a KeyMaterial<M>) -> Job<'a, M> {
        let front = M::shape(&material.params, self.bytes).front;
        if !open && front > 0 {
            self.text.copy_within(..self.bytes, front);
            self.text[..front].fill(0);
        }
        Job {
            material,
            facts: Facts {
                nonce: self.nonce,
                ad: self.ad,
                text: self.bytes,
            },
            text: self.text,
            tag: self.tag,
        }
    }
}

impl Cipher {
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
        let lengths = MessageLengths {
            nonce: nonce.len(),
            ad: ad.len(),
            buffer: buffer.len(),
            text: Some(text),
        };
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
        let lengths = MessageLengths {
            nonce: nonce.len(),
            ad: ad.len(),
            buffer: buffer.len(),
            text,
        };
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
        match self.counts.failures() < failures {
            true => Ok(()),
            false => Err(Error::TooManyFailures {
                suite,
                tag: suite.tag_bytes(),
                failures,
            }),
        }
    }

    /// Computes the layout of a message into `to`, if its lengths are valid.
    pub(crate) fn fit(
        &self,
        open: bool,
        lengths: MessageLengths,
        to: &mut Layout,
    ) -> Result<(), Box<Error>> {
        let suite = self.suite;
        let unknown = suite.limits().text_unknown;
        let bytes = lengths.buffer;
        let text = match (lengths.text, self.text_bytes(bytes)) {
            // Where padding determines the length of the text, the padding is a part of the opened
            // bytes.
            (Some(text), Some(most)) if open && most != text => {
                self.check_sealed(open, lengths, text)?;
                most
            }
            (Some(text), None) if open && !unknown => {
                self.check_sealed(open, lengths, text)?;
                return Err(Error::SealedLength { suite, bytes }.into());
            }
            (Some(text), _) | (None, Some(text)) => text,
            (None, None) if open && !unknown => {
                return Err(Error::SealedLength { suite, bytes }.into());
            }
            (None, None) => return Err(Error::TextLengthNeeded { suite }.into()),
        };
        self.check_sealed(open, lengths, text)?;
        // Written field by field: a returned value would be copied in wide pieces right after it
        // was written in narrow ones, and such loads stall.
        to.text = text;
        to.shape = self.shape(text);
        to.cost = self.cost(text, lengths.ad);
        to.alone = self.goes_alone(open, text);
        Ok(())
    }

    /// Refuses lengths that do not belong to a message with so many bytes of text.
    fn check_sealed(
        &self,
        open: bool,
        lengths: MessageLengths,
        text: usize,
    ) -> Result<(), Box<Error>> {
        let (suite, bytes) = (self.suite, lengths.buffer);
        self.check(lengths.nonce, lengths.ad, text)?;
        match self.shape(text).sealed {
            needed if needed == bytes => Ok(()),
            _ if open => Err(Error::SealedLength { suite, bytes }.into()),
            needed => Err(Error::BufferLength { bytes, needed }.into()),
        }
    }

    /// Checks that the mode takes these lengths.
    pub(crate) fn check(&self, nonce: usize, ad: usize, text: usize) -> Result<(), Box<Error>> {
        let (suite, limits) = (self.suite, self.suite.limits());
        let [least, most] = limits.nonce_bytes;
        if !(least..=most).contains(&nonce) {
            return Err(Error::NonceLength {
                suite,
                bytes: nonce,
                needed: match least == most {
                    true => least.to_string(),
                    false => format!("{least} to {most}"),
                },
            }
            .into());
        }
        match limits.ad {
            None if ad > 0 => return Err(Error::NoAssociatedData { suite }.into()),
            Some(most) if ad as u64 > most => {
                return Err(Error::AssociatedDataTooLong {
                    suite,
                    bytes: ad,
                    most,
                }
                .into());
            }
            _ => {}
        }
        let most = suite.longest_text(nonce);
        if text as u64 > most {
            return Err(Error::TextTooLong {
                suite,
                bytes: text,
                most,
            }
            .into());
        }
        if limits.whole_blocks && !text.is_multiple_of(16) {
            return Err(Error::WholeBlocks { suite, bytes: text }.into());
        }
        Ok(())
    }

    /// See [`Layout::cost`].
    fn cost(&self, text: usize, ad: usize) -> u64 {
        (blocks(text) + blocks(ad)).max(self.share)
    }

    /// Counts messages that were sealed under this key elsewhere, by another process or before a
    /// restart, towards the limits of the key, with all blocks of their texts and associated data:
    /// of each, one more than its bytes fill.
    ///
    /// # Errors
    /// [`Error::KeyWornOut`] if the key has less left; then nothing is counted.
    pub fn count_elsewhere(&self, messages: u64, blocks: u64) -> Result<(), Error> {
        Ok(self.spend(messages.saturating_mul(self.share).max(blocks))?)
    }

    /// Counts failed openings under this key elsewhere, by another process or before a restart,
    /// towards [`Suite::most_failures`]. Once there are as many, the key opens nothing any more
    /// ([`Error::TooManyFailures`]).
    pub fn count_failures_elsewhere(&self, failures: u64) {
        self.counts.count_failures(failures);
    }

    /// Counts the cost of messages that are about to be sealed.
    pub(crate) fn spend(&self, more: u64) -> Result<(), Box<Error>> {
        let limits = self.suite.limits();
        // A refused message does not count, not even temporarily.
        let sum = |before: u64| before.checked_add(more).filter(|sum| *sum <= limits.blocks);
        let spent = self
            .counts
            .0
            .spent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        spent.map(|_| ()).map_err(|_| {
            Box::new(Error::KeyWornOut {
                suite: self.suite,
                messages: limits.messages,
                blocks: limits.blocks,
            })
        })
    }
}

/// Counts of sealed blocks and failed openings under one key. New counts are zero; clones count
/// together.
#[derive(Clone, Debug, Default)]
pub struct Counts(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// Number of blocks sealed; a message may count as more.
    spent: AtomicU64,
    /// Number of messages that were not authentic. Threads that open at the same time may each
    /// exceed the limit by one.
    failed: AtomicU64,
}

impl Counts {
    /// Returns the number of sealed blocks of texts and associated data: of each, one more than its
    /// bytes fill. Where a mode limits messages, each has counted as its share of all blocks at
    /// least.
    pub fn blocks(&self) -> u64 {
        self.0.spent.load(Ordering::Relaxed)
    }

    /// Returns the number of messages that were not authentic.
    pub fn failures(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Adds to the number of messages that were not authentic.
    pub fn count_failures(&self, more: u64) {
        let sum = |before: u64| Some(before.saturating_add(more));
        let failed = &self.0.failed;
        let _ = failed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }
}

/// Returns the number of blocks that so many bytes count as.
pub(crate) fn blocks(text: usize) -> u64 {
    text as u64 / 16 + 1
}
