//! A mode under a key, and what is checked before lanes see a message.

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

/// A mode under a key.
///
/// It counts what it seals, and refuses to seal more than the mode allows under one key. It counts
/// what it failed to open as well, and opens nothing any more once a guess at a tag might have
/// succeeded: see [`Suite::most_failures`]. Several for one key have to share a count: see
/// [`Cipher::counting`].
pub struct Cipher {
    cpu: Cpu,
    suite: Suite,
    pub(crate) key: Key,
    /// The number of this object, which no other one has.
    id: u64,
    /// Blocks that a message counts as, however short it is, so that one count holds both limits.
    share: u64,
    counts: Counts,
}

/// What is known of a message before its bytes are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageLengths {
    pub(crate) nonce: usize,
    pub(crate) ad: usize,
    /// Of the text, with room for the sealed message; when opening, of the sealed message.
    pub(crate) buffer: usize,
    /// Of the text, where it is known.
    pub(crate) text: Option<usize>,
}

/// What follows from lengths that are in order.
#[derive(Clone, Copy, Default)]
pub(crate) struct Layout {
    /// Bytes of the text, or the most that they may be where padding says the rest.
    pub(crate) text: usize,
    pub(crate) shape: Shape,
    /// What the message counts for against the limits of its key: its blocks, and where messages
    /// are limited at least its share of all blocks.
    pub(crate) cost: u64,
    /// True if it fills the lanes alone.
    pub(crate) alone: bool,
}

/// A message to be sealed or opened, in place.
#[derive(Default)]
pub(crate) struct Request<'a> {
    pub(crate) nonce: &'a [u8],
    pub(crate) ad: &'a [u8],
    /// Bytes of the text.
    pub(crate) bytes: usize,
    /// What body and tail change in place: the text, where the mode wants it.
    pub(crate) text: &'a mut [u8],
    /// The rest of the sealed message.
    pub(crate) tag: &'a mut [u8],
}

/// A mode whose keys a [`Cipher`] may hold.
pub(crate) trait HasKey: Mode {
    /// The key, if it is one of this mode.
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

            /// Runs one message. The direction is no type here, so that kernels are compiled with
            /// this crate and not with each that uses it.
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

            /// Runs many messages, of this suite; of this key as well, if `same`.
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

            /// Where text and sealed message lie.
            fn shape(&self, text: usize) -> Shape {
                match self.suite.kind {
                    $($(#[$attribute])* ModeId::$kind => <$mode>::shape(&self.suite.params, text),)*
                }
            }

            /// The length of the text of a sealed message: at most, where padding says the rest.
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
    /// A message in one buffer.
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

    /// Makes it one of a message in one buffer.
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

    /// As lanes take it. When sealing, its text comes to where the mode wants it.
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
    /// The mode.
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// Has it count with others of the same key, by these counts and no longer by its own.
    #[must_use]
    pub fn counting(mut self, counts: &Counts) -> Cipher {
        self.counts = counts.clone();
        self
    }

    /// The counts of its key, for other ciphers of that key, or to be kept for
    /// [`count_elsewhere`](Cipher::count_elsewhere) and
    /// [`count_failures_elsewhere`](Cipher::count_failures_elsewhere).
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The number of this object, which no other one has.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Bytes of the sealed message for `text` bytes of text.
    pub fn sealed_len(&self, text: usize) -> usize {
        self.shape(text).sealed
    }

    /// Seals a text: the whole output of the mode, with the tag where the mode puts it.
    ///
    /// # Errors
    /// A length is not what the mode takes, or the key is worn out.
    pub fn seal(&self, nonce: &[u8], ad: &[u8], text: &[u8]) -> Result<Vec<u8>, Error> {
        self.check(nonce.len(), ad.len(), text.len())?;
        // A copy of a text that is refused must not stay behind.
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

    /// Opens a sealed message. Modes whose output does not say how long the text is need `text`,
    /// the length that it had; with others it may be left out, and is compared where it is given.
    ///
    /// # Errors
    /// A length is not what the mode takes; [`Error::NotAuthentic`]; or [`Error::TooManyFailures`],
    /// if that has been so too often.
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

    /// Opens in place, and returns how many bytes of text lie in front of `buffer`. What lies
    /// behind them means nothing. If the message is not authentic, all of the buffer is zero.
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

    /// Returns true if [`seal_detached`](Cipher::seal_detached) works: whether what the mode makes
    /// of a text has the length of the text, and a tag follows.
    pub fn is_detachable(&self) -> bool {
        // What does not hold for a text of one byte holds for no text.
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

    /// Opens in place what was sealed with its tag apart. If the message is not authentic, all of
    /// the text is zero; if a length is wrong, it is left as it was.
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

    /// Returns true if a tag of this length may lie apart.
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

    /// After a message has been opened: its text comes to the front, or is wiped.
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

    /// Wipes what is not authentic, and counts it. Of a batch, what comes behind the last failure
    /// that is allowed is wiped as well, though it has been opened: it would not have been alone.
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

    /// Puts what follows from the lengths of a message into `to`, if they are in order.
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
            // Where padding says how long the text was, it is a part of what is opened.
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
        // Field by field: a value that is returned is copied in wide pieces right after it was
        // written in narrow ones, for which a load has to wait.
        to.text = text;
        to.shape = self.shape(text);
        to.cost = self.cost(text, lengths.ad);
        to.alone = self.goes_alone(open, text);
        Ok(())
    }

    /// Refuses lengths that are not those of a message with so many bytes of text.
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

    /// Returns true if the mode takes these lengths.
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
    /// [`Error::KeyWornOut`] if that is more than the key has left; then nothing is counted.
    pub fn count_elsewhere(&self, messages: u64, blocks: u64) -> Result<(), Error> {
        Ok(self.spend(messages.saturating_mul(self.share).max(blocks))?)
    }

    /// Counts messages that were not authentic when they were to be opened under this key
    /// elsewhere, by another process or before a restart, towards [`Suite::most_failures`]. Once
    /// there are as many, the key opens nothing any more ([`Error::TooManyFailures`]).
    pub fn count_failures_elsewhere(&self, failures: u64) {
        self.counts.count_failures(failures);
    }

    /// Counts what is about to be sealed.
    pub(crate) fn spend(&self, more: u64) -> Result<(), Box<Error>> {
        let limits = self.suite.limits();
        // What is not sealed does not count, not even for a moment.
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

/// What a key has sealed and failed to open. It is made empty; clones count together.
#[derive(Clone, Debug, Default)]
pub struct Counts(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// Blocks that were sealed; a message counts as some more.
    spent: AtomicU64,
    /// Messages that were not authentic. Threads that open at the same time may each count one more
    /// than is allowed.
    failed: AtomicU64,
}

impl Counts {
    /// Blocks that have been sealed, of texts and associated data: of each, one more than its bytes
    /// fill. Where a mode limits messages, each has counted as its share of all blocks at least.
    pub fn blocks(&self) -> u64 {
        self.0.spent.load(Ordering::Relaxed)
    }

    /// Messages that were not authentic.
    pub fn failures(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Counts so many more of them.
    pub fn count_failures(&self, more: u64) {
        let sum = |before: u64| Some(before.saturating_add(more));
        let failed = &self.0.failed;
        let _ = failed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }
}

/// Blocks that so many bytes count as.
pub(crate) fn blocks(text: usize) -> u64 {
    text as u64 / 16 + 1
}
