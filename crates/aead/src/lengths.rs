//! Lengths of messages: the checks before lanes see a message, and its layout in a buffer.

use crate::lanes::mode::TextLayout;
use crate::lanes::work::Job;
use crate::lanes::{Facts, KeyMaterial, Mode};
use crate::{Cipher, Error};

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

impl MessageLengths {
    /// The lengths of a message.
    #[inline]
    pub(crate) fn of(nonce: &[u8], ad: &[u8], buffer: &[u8], text: Option<usize>) -> Self {
        MessageLengths {
            nonce: nonce.len(),
            ad: ad.len(),
            buffer: buffer.len(),
            text,
        }
    }
}

/// Layout of one message, derived from valid lengths.
#[derive(Clone, Copy, Default)]
pub(crate) struct Layout {
    /// Bytes of the text, or an upper bound where the padding determines the length.
    pub(crate) text: usize,
    pub(crate) shape: TextLayout,
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
        let shape = M::shape(&material.params, self.bytes);
        if !open && shape.front > 0 {
            shape.make_room(self.text, self.bytes);
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
        to.alone = self.goes_alone(text);
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
            let range = format!("{least} to {most}");
            let needed = if least == most {
                least.to_string()
            } else {
                range
            };
            let bytes = nonce;
            return Err(Error::NonceLength {
                suite,
                bytes,
                needed,
            }
            .into());
        }
        match limits.ad {
            None if ad > 0 => return Err(Error::NoAssociatedData { suite }.into()),
            Some(most) if ad as u64 > most => {
                let bytes = ad;
                return Err(Error::AssociatedDataTooLong { suite, bytes, most }.into());
            }
            _ => {}
        }
        let most = suite.longest_text(nonce);
        if text as u64 > most {
            let bytes = text;
            return Err(Error::TextTooLong { suite, bytes, most }.into());
        }
        if limits.whole_blocks && !text.is_multiple_of(16) {
            return Err(Error::WholeBlocks { suite, bytes: text }.into());
        }
        Ok(())
    }

    /// See [`Layout::cost`].
    pub(crate) fn cost(&self, text: usize, ad: usize) -> u64 {
        (blocks(text) + blocks(ad)).max(self.share)
    }
}

/// Returns the number of blocks that so many bytes count as.
pub(crate) fn blocks(text: usize) -> u64 {
    text as u64 / 16 + 1
}
