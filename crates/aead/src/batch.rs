//! Many messages at once.
//!
//! Messages are taken from an iterator, a window of them at a time, brought to the lanes longest
//! first, and handed out in the order in which they came. The window bounds what is held; it is
//! wide against the lanes, so that its end, where lanes run empty, hardly counts.

use std::borrow::Borrow;
use std::vec;

use sealane_schedule::longest_first;
use zeroize::Zeroize;

use crate::cipher::{KeyOf, Request, blocks, job};
use crate::lanes::lockstep::{Job, Outcome, Queue};
use crate::{Cipher, Error, Suite};

/// Messages that are held at a time: 32 for each of 16 lanes.
const WINDOW: usize = 512;

/// A message of a batch.
pub struct Message<C, N, A, B> {
    /// The mode under a key: one for all messages, or one each.
    pub cipher: C,
    /// The nonce.
    pub nonce: N,
    /// The associated data.
    pub ad: A,
    /// When sealing: the text in front, and room for the sealed message, [`Cipher::sealed_len`] bytes
    /// in all. When opening: the sealed message.
    pub buffer: B,
    /// Bytes of the text. When opening, only modes whose output does not say it need it.
    pub text: Option<usize>,
}

/// A message that is done.
pub struct Done<B> {
    /// The buffer of the message.
    pub buffer: B,
    /// How many bytes in front of the buffer are the result: the sealed message or the text. If
    /// the message was not authentic, all of the buffer is zero.
    pub result: Result<usize, Error>,
}

/// Seals messages of any lengths, each with its own key or one for all, side by side in lanes. Each
/// result is that of [`Cipher::seal_in_place`]; an error fails its message alone. Results come in the
/// order of messages, and no more than a few hundred are held at a time. Nothing happens before the
/// first result is asked for.
pub fn seal_many<I>(messages: I) -> Many<I::IntoIter, false>
where
    I: IntoIterator,
    Many<I::IntoIter, false>: Iterator,
{
    Many::new(messages.into_iter())
}

/// Opens messages side by side, as [`seal_many`] seals them.
pub fn open_many<I>(messages: I) -> Many<I::IntoIter, true>
where
    I: IntoIterator,
    Many<I::IntoIter, true>: Iterator,
{
    Many::new(messages.into_iter())
}

/// Messages that are being done, as their results are asked for.
#[must_use = "messages are sealed and opened as the iterator is run"]
pub struct Many<I: Iterator, const OPEN: bool> {
    messages: I,
    /// The mode of the first message, which is that of all.
    suite: Option<Suite>,
    window: vec::IntoIter<I::Item>,
    fates: vec::IntoIter<Fate>,
}

/// What is known of a message of the window.
enum Fate {
    /// It went through the lanes, with a text of so many bytes.
    Ran(usize, Outcome),
    /// It was not in order.
    Failed(Box<Error>),
}

impl<I: Iterator, const OPEN: bool> Many<I, OPEN> {
    fn new(messages: I) -> Many<I, OPEN> {
        Many {
            messages,
            suite: None,
            window: Vec::new().into_iter(),
            fates: Vec::new().into_iter(),
        }
    }
}

impl<I, C, N, A, B, const OPEN: bool> Iterator for Many<I, OPEN>
where
    I: Iterator<Item = Message<C, N, A, B>>,
    C: Borrow<Cipher>,
    N: AsRef<[u8]>,
    A: AsRef<[u8]>,
    B: AsMut<[u8]>,
{
    type Item = Done<B>;

    fn next(&mut self) -> Option<Done<B>> {
        if self.fates.len() == 0 {
            let mut window: Vec<_> = self.messages.by_ref().take(WINDOW).collect();
            let first = window
                .first()
                .map(|message| message.cipher.borrow().suite());
            let suite = *self.suite.get_or_insert(first?);
            self.fates = run_window::<C, N, A, B, OPEN>(&mut window, suite).into_iter();
            self.window = window.into_iter();
        }
        let mut message = self.window.next()?;
        let cipher = message.cipher.borrow();
        let result = match self.fates.next()? {
            Fate::Failed(error) => Err(*error),
            Fate::Ran(text, outcome) if !OPEN && outcome.authentic => Ok(cipher.sealed_len(text)),
            Fate::Ran(text, outcome) => cipher.opened(outcome, message.buffer.as_mut(), text),
        };
        Some(Done {
            buffer: message.buffer,
            result,
        })
    }
}

/// Does all messages of a window.
fn run_window<C, N, A, B, const OPEN: bool>(
    window: &mut [Message<C, N, A, B>],
    suite: Suite,
) -> Vec<Fate>
where
    C: Borrow<Cipher>,
    N: AsRef<[u8]>,
    A: AsRef<[u8]>,
    B: AsMut<[u8]>,
{
    let mut fates = Vec::with_capacity(window.len());
    let mut waiting = Vec::with_capacity(window.len());
    let mut lengths = Vec::with_capacity(window.len());
    let mut keys = 0;
    // Neighbours with the same key are counted against its limit at once.
    for same in window.chunk_by_mut(|a, b| std::ptr::eq(a.cipher.borrow(), b.cipher.borrow())) {
        let before = fates.len();
        let mut sum = 0u64;
        for message in same.iter_mut() {
            let cipher = message.cipher.borrow();
            let (nonce, ad) = (message.nonce.as_ref(), message.ad.as_ref());
            let bytes = message.buffer.as_mut().len();
            fates.push(
                match check::<OPEN>(cipher, suite, nonce, ad, bytes, message.text) {
                    Ok(text) => {
                        sum = sum.saturating_add(cipher.cost(text, ad.len()));
                        Fate::Ran(text, Outcome::default())
                    }
                    Err(error) => Fate::Failed(Box::new(error)),
                },
            );
        }
        if !OPEN && same[0].cipher.borrow().spend(sum).is_err() {
            // Together they are too much: as many as there is room for, in their order.
            for (message, fate) in same.iter().zip(&mut fates[before..]) {
                let cipher = message.cipher.borrow();
                if let Fate::Ran(text, _) = fate
                    && let Err(error) = cipher.spend(cipher.cost(*text, message.ad.as_ref().len()))
                {
                    *fate = Fate::Failed(Box::new(error));
                }
            }
        }
        keys += 1;
        for (message, fate) in same.iter_mut().zip(&mut fates[before..]) {
            let Fate::Ran(text, outcome) = fate else {
                lengths.push(0);
                waiting.push(None);
                continue;
            };
            let request = message.cipher.borrow().request::<OPEN>(
                message.nonce.as_ref(),
                message.ad.as_ref(),
                message.buffer.as_mut(),
                *text,
            );
            if request.cipher.goes_alone(OPEN, *text) {
                *outcome = request.cipher.run_one(OPEN, request);
                lengths.push(0);
                waiting.push(None);
            } else {
                lengths.push(blocks(*text));
                waiting.push(Some(request));
            }
        }
    }
    if let Some(one) = waiting
        .iter()
        .flatten()
        .next()
        .map(|request| request.cipher)
    {
        let mut slots = Slots {
            order: longest_first(&lengths).into_iter(),
            waiting,
            fates: &mut fates,
        };
        one.run_many(OPEN, keys == 1, &mut slots);
    }
    if OPEN {
        // At once, and not when somebody asks for the result: nobody may.
        for (message, fate) in window.iter_mut().zip(&fates) {
            if matches!(fate, Fate::Ran(_, outcome) if !outcome.authentic) {
                message.buffer.as_mut().zeroize();
            }
        }
    }
    fates
}

/// Messages that wait for lanes.
pub(crate) struct Slots<'s, 'a> {
    order: vec::IntoIter<u32>,
    waiting: Vec<Option<Request<'a>>>,
    fates: &'s mut [Fate],
}

impl<'a, M: KeyOf> Queue<'a, M> for Slots<'_, 'a> {
    fn next(&mut self) -> Option<Job<'a, M>> {
        loop {
            let number = self.order.next()? as usize;
            // What has failed or gone alone is not there.
            if let Some(request) = self.waiting[number].take()
                && let Some(job) = job(number, request)
            {
                return Some(job);
            }
        }
    }
    fn done(&mut self, number: usize, outcome: Outcome) {
        if let Fate::Ran(_, to) = &mut self.fates[number] {
            *to = outcome;
        }
    }
}

/// The length of a message's text, if the message is in order.
fn check<const OPEN: bool>(
    cipher: &Cipher,
    first: Suite,
    nonce: &[u8],
    ad: &[u8],
    bytes: usize,
    text: Option<usize>,
) -> Result<usize, Error> {
    let other = cipher.suite();
    if other != first {
        return Err(Error::MixedBatch { first, other });
    }
    if OPEN {
        return cipher.check_open(nonce, ad, bytes, text);
    }
    let text = text.or_else(|| cipher.text_bytes(bytes));
    let text = text.ok_or(Error::TextLengthNeeded { suite: first })?;
    cipher.check_seal(nonce, ad, text)?;
    cipher.check_buffer(bytes, text)?;
    Ok(text)
}
