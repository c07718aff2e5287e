//! Many messages of equal lengths, in rows: the checks of a batch for each message are made once.

use std::mem::take;

use crate::lanes::mode::lanes_of;
use crate::lanes::work::{LaneMessages, Outcome, Queue};
use crate::lanes::{Facts, KeyMaterial};
use crate::lengths::{Layout, MessageLengths, Request};
use crate::registry::HasKey;
use crate::{Cipher, Error, KeyId, Nonces};

/// Messages under one key whose nonces, associated data and texts have the same lengths.
///
/// Each of the three fields of bytes holds `count` pieces, one behind the other. A batch of no
/// messages is valid with any lengths.
pub struct RowBatch<'a> {
    /// The mode under the key.
    pub cipher: &'a Cipher,
    /// Number of messages.
    pub count: usize,
    /// The nonces.
    pub nonces: &'a [u8],
    /// The associated data.
    pub ads: Ads<'a>,
    /// Sealing: for each message the text, and room for the sealed message, [`Cipher::sealed_len`]
    /// bytes in all. Opening: the sealed messages.
    pub buffers: &'a mut [u8],
    /// Bytes of a text. When opening, only modes whose output does not determine it need it.
    pub text: Option<usize>,
}

/// The associated data of rows.
#[derive(Clone, Copy)]
pub enum Ads<'a> {
    /// The same for all messages.
    Same(&'a [u8]),
    /// One each, of equal lengths, one behind the other.
    Each(&'a [u8]),
}

impl<'a> RowBatch<'a> {
    /// Seals every row in place. Results are those of [`Cipher::seal_in_place`].
    ///
    /// # Errors
    /// Lengths are not valid for the mode, two nonces are equal, or the key is worn out; then
    /// nothing is sealed.
    pub fn seal(self) -> Result<(), Error> {
        let Some(fitting) = self.fit(false)? else {
            return Ok(());
        };
        let mut nonces = Nonces::default();
        for (number, nonce) in self.nonces.chunks(fitting.0.nonce.max(1)).enumerate() {
            if let Some(first) = nonces.used_before(KeyId::Numbered(0), nonce) {
                return Err(Error::NonceRepeated { first, number });
            }
        }
        self.seal_fitting(fitting)
    }

    /// Seals every row, though nonces may be equal: [`seal`](RowBatch::seal) without the search for
    /// them. It is for callers that count nonces, or can accept the loss of security that a mode
    /// has under a repeated nonce.
    ///
    /// # Errors
    /// Lengths are not valid for the mode, or the key is worn out; then nothing is sealed.
    pub fn seal_with_equal_nonces(self) -> Result<(), Error> {
        match self.fit(false)? {
            Some(fitting) => self.seal_fitting(fitting),
            None => Ok(()),
        }
    }

    fn seal_fitting(self, (lengths, fit): (MessageLengths, Layout)) -> Result<(), Error> {
        let cost = fit.cost.saturating_mul(self.count as u64);
        self.cipher.spend(cost)?;
        self.run(false, lengths, fit, &mut []);
        Ok(())
    }

    /// Opens every row in place. Returns for each message the length of the text in front of its
    /// buffer, or none if it is not authentic; then all of its buffer is zero.
    ///
    /// # Errors
    /// Lengths are not valid for the mode. Or so many rows were not authentic, these and earlier
    /// ones, that the key opens none any more; then all buffers behind the last of these are zero.
    pub fn open(self) -> Result<Vec<Option<usize>>, Error> {
        let Some((lengths, fit)) = self.fit(true)? else {
            return Ok(Vec::new());
        };
        self.cipher.may_open()?;
        let mut outcomes = vec![Outcome::default(); self.count];
        let (cipher, mut buffers) = (self.cipher, self.buffers);
        let rows = RowBatch {
            buffers: &mut *buffers,
            ..self
        };
        rows.run(true, lengths, fit, &mut outcomes);
        let mut refused = None;
        let open = |outcome| {
            let buffer = split_off_mut(&mut buffers, lengths.buffer);
            match cipher.opened(outcome, buffer, fit.text) {
                Ok(text) => Some(text),
                Err(Error::NotAuthentic) => None,
                Err(error) => {
                    refused = Some(error);
                    None
                }
            }
        };
        let opened = outcomes.into_iter().map(open).collect();
        refused.map_or(Ok(opened), Err)
    }

    /// Computes lengths and layout of every message, if there are any.
    fn fit(&self, open: bool) -> Result<Option<(MessageLengths, Layout)>, Error> {
        let uneven = |what, bytes| Error::UnevenRows {
            what,
            bytes,
            count: self.count,
        };
        let each = |bytes: usize, what| match bytes.checked_div(self.count) {
            Some(each) if each * self.count == bytes => Ok(each),
            None if bytes == 0 => Ok(0),
            _ => Err(uneven(what, bytes)),
        };
        let lengths = MessageLengths {
            nonce: each(self.nonces.len(), "nonces")?,
            ad: match self.ads {
                Ads::Same(ad) => ad.len(),
                Ads::Each(ads) => each(ads.len(), "associated data")?,
            },
            buffer: each(self.buffers.len(), "buffers")?,
            text: self.text,
        };
        if self.count == 0 {
            return Ok(None);
        }
        if lengths.nonce == 0 && lengths.buffer == 0 {
            // Any count would be accepted, at a cost in time.
            return Err(uneven("nonces and buffers", 0));
        }
        let mut fit = Layout::default();
        self.cipher.fit(open, lengths, &mut fit)?;
        Ok(Some((lengths, fit)))
    }

    fn run(self, open: bool, lengths: MessageLengths, fit: Layout, outcomes: &mut [Outcome]) {
        let cipher = self.cipher;
        let mut left = RowCursor {
            open,
            lengths,
            fit,
            rows: self,
            done: 0,
            outcomes,
        };
        if !fit.alone {
            return cipher.run_many(open, true, left.rows.count, &mut left);
        }
        while let Some((number, request)) = left.next() {
            let outcome = cipher.run_one(open, request);
            if open {
                left.outcomes[number] = outcome;
            }
        }
    }
}

/// Cursor over the rows that have not been taken yet.
struct RowCursor<'s, 'a> {
    open: bool,
    lengths: MessageLengths,
    fit: Layout,
    rows: RowBatch<'a>,
    /// Number of rows that have been taken.
    done: usize,
    /// When opening, the outcome of each.
    outcomes: &'s mut [Outcome],
}

impl<'a> RowCursor<'_, 'a> {
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, Request<'a>)> {
        let (rows, number) = (&mut self.rows, self.done);
        if number == rows.count {
            return None;
        }
        self.done += 1;
        let ad = match &mut rows.ads {
            Ads::Same(ad) => ad,
            Ads::Each(ads) => split_off(ads, self.lengths.ad),
        };
        let nonce = split_off(&mut rows.nonces, self.lengths.nonce);
        let buffer = split_off_mut(&mut rows.buffers, self.lengths.buffer);
        Some((number, Request::new(nonce, ad, buffer, &self.fit)))
    }

    /// Gives every lane a row. When sealing, texts are moved to the place that the mode requires.
    #[inline(always)]
    fn put_rows<M: HasKey>(
        &mut self,
        lanes: usize,
        work: &mut LaneMessages<'a, M>,
        material: &'a KeyMaterial<M>,
    ) {
        let (rows, first) = (&mut self.rows, self.done);
        self.done += lanes;
        let (lengths, Layout { text, shape, .. }) = (self.lengths, self.fit);
        let buffers = split_off_mut(&mut rows.buffers, lanes * lengths.buffer);
        if !self.open && shape.front > 0 {
            for row in buffers.chunks_exact_mut(lengths.buffer) {
                shape.make_room(row, text);
            }
        }
        let nonces = split_off(&mut rows.nonces, lanes * lengths.nonce);
        let ads = match &mut rows.ads {
            Ads::Same(ad) => Ads::Same(ad),
            Ads::Each(ads) => Ads::Each(split_off(ads, lanes * lengths.ad)),
        };
        work.put_rows(lanes, first, material, buffers, shape.held, |lane| Facts {
            nonce: &nonces[lane * lengths.nonce..][..lengths.nonce],
            ad: match ads {
                Ads::Same(ad) => ad,
                Ads::Each(ads) => &ads[lane * lengths.ad..][..lengths.ad],
            },
            text,
        });
    }
}

impl<'a, M: HasKey> Queue<'a, M> for RowCursor<'_, 'a> {
    fn fill(&mut self, work: &mut LaneMessages<'a, M>, free: u32) -> u32 {
        let mut filled = 0;
        let Some(material) = M::of(self.rows.cipher) else {
            return filled;
        };
        let lanes = free.count_ones() as usize;
        if work.is_idle() && lanes <= self.rows.count - self.done {
            self.put_rows(lanes, work, material);
            return free;
        }
        for lane in lanes_of(free) {
            let Some((number, request)) = self.next() else {
                break;
            };
            work.put(lane, number, request.job(self.open, material));
            filled |= 1 << lane;
        }
        filled
    }
    fn done(&mut self, number: usize, outcome: Outcome) {
        self.outcomes[number] = outcome;
    }
}

fn split_off<'a>(from: &mut &'a [u8], bytes: usize) -> &'a [u8] {
    let (piece, rest) = from.split_at(bytes);
    *from = rest;
    piece
}

fn split_off_mut<'a>(from: &mut &'a mut [u8], bytes: usize) -> &'a mut [u8] {
    let (piece, rest) = take(from).split_at_mut(bytes);
    *from = rest;
    piece
}
