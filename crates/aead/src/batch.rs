//! Batches: many messages at once.
//!
//! Messages are taken from an iterator, a window of them at a time, assigned to the lanes longest
//! first, and returned in the order in which they came. The window bounds memory; it is much larger
//! than the number of lanes, so that its end, where lanes run empty, costs little.

use std::borrow::Borrow;
use std::mem::take;
use std::vec;

use sealane_schedule::longest_first;

use crate::lanes::mode::lanes_of;
use crate::lanes::work::{LaneMessages, Outcome, Queue};
use crate::lengths::{Layout, MessageLengths, Request, blocks};
use crate::registry::HasKey;
use crate::{Cipher, Error, KeyId, Nonces, Suite};

/// Number of messages that a batch takes from its iterator at a time: 32 for each of 16 lanes. A
/// caller that has to bring messages into memory need not bring more at a time.
pub const WINDOW: usize = 512;

/// A message of a batch.
pub struct Message<C, N, A, B> {
    /// The mode under a key: one for all messages, or one each.
    pub cipher: C,
    /// The nonce.
    pub nonce: N,
    /// The associated data.
    pub ad: A,
    /// Sealing: the text in front, and room for the sealed message, [`Cipher::sealed_len`] bytes in
    /// all. Opening: the sealed message.
    pub buffer: B,
    /// Bytes of the text. When opening, only modes whose output does not determine it need it.
    pub text: Option<usize>,
}

impl<C, N, A, B> Message<C, N, A, B> {
    /// A message of these parts.
    pub fn new(cipher: C, nonce: N, ad: A, buffer: B, text: Option<usize>) -> Self {
        Message {
            cipher,
            nonce,
            ad,
            buffer,
            text,
        }
    }
}

/// A processed message.
pub struct Done<B> {
    /// The buffer of the message.
    pub buffer: B,
    /// Length of the result in front of the buffer: the sealed message or the text. If the message
    /// was not authentic, all of the buffer is zero.
    pub result: Result<usize, Error>,
}

/// Seals messages of any lengths, each with its own key or one for all, side by side in lanes. Each
/// result is that of [`Cipher::seal_in_place`]; an error fails its message alone. Results come in
/// the order of messages, and no more than a few hundred are held at a time. Nothing happens before
/// the first result is requested.
///
/// A message with the nonce of an earlier one under the same [`Cipher`] is not sealed
/// ([`Error::NonceRepeated`]), so all nonces are remembered, at 16 bytes each or a little more; see
/// [`Many::with_equal_nonces`].
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

/// Iterator over the results of a batch, which are computed on demand.
#[must_use = "messages are sealed and opened as the iterator is run"]
pub struct Many<I: Iterator, const OPEN: bool> {
    messages: I,
    /// The mode of all messages, set by the first.
    suite: Option<Suite>,
    window: vec::IntoIter<I::Item>,
    fates: vec::IntoIter<Fate>,
    /// When sealing, the nonces seen, to find repeated ones.
    nonces: Option<Nonces>,
}

/// The result of a message: its number of bytes. Errors are rare and large, so they are boxed.
type Fate = Result<usize, Box<Error>>;

impl<I: Iterator, const OPEN: bool> Many<I, OPEN> {
    fn new(messages: I) -> Many<I, OPEN> {
        Many {
            messages,
            suite: None,
            window: Vec::new().into_iter(),
            fates: Vec::new().into_iter(),
            nonces: (!OPEN).then(Nonces::default),
        }
    }
}

impl<I: Iterator> Many<I, false> {
    /// Seals messages even if their nonces are equal. It is for callers that count nonces, and for
    /// those who can accept the loss of security that a mode has under a repeated nonce.
    pub fn with_equal_nonces(mut self) -> Self {
        self.nonces = None;
        self
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
            let first = window.first();
            let first = first.map(|message| message.cipher.borrow().suite());
            let suite = *self.suite.get_or_insert(first?);
            let fates = run_window::<C, N, A, B, OPEN>(&mut window, suite, &mut self.nonces);
            self.fates = fates.into_iter();
            self.window = window.into_iter();
        }
        Some(Done {
            buffer: self.window.next()?.buffer,
            result: self.fates.next()?.map_err(|error| *error),
        })
    }
}

/// Processes all messages of a window.
fn run_window<C, N, A, B, const OPEN: bool>(
    window: &mut [Message<C, N, A, B>],
    suite: Suite,
    nonces: &mut Option<Nonces>,
) -> Vec<Fate>
where
    C: Borrow<Cipher>,
    N: AsRef<[u8]>,
    A: AsRef<[u8]>,
    B: AsMut<[u8]>,
{
    let count = window.len();
    let mut fates: Vec<Fate> = Vec::with_capacity(count);
    let mut waiting = Vec::new();
    waiting.resize_with(count, Waiting::default);
    let mut lengths = vec![0; count];
    let mut outcomes = vec![Outcome::default(); if OPEN { count } else { 0 }];
    let mut fitting = Fitting::<OPEN> {
        suite,
        lengths: None,
        fit: Layout::default(),
    };
    let mut keys = 0;
    // The cost of neighbours with the same key is counted against its limit at once.
    for same in window.chunk_by_mut(|a, b| std::ptr::eq(a.cipher.borrow(), b.cipher.borrow())) {
        keys += 1;
        let first = fates.len();
        let (mut sum, mut some_alone) = (0u64, false);
        for message in same {
            let (buffer, cipher) = (message.buffer.as_mut(), message.cipher.borrow());
            let (nonce, ad) = (message.nonce.as_ref(), message.ad.as_ref());
            let fit = fitting.fit(cipher, nonce, ad, buffer, message.text);
            let fit = match nonces {
                Some(nonces) => used_once(nonces, cipher, nonce, fit),
                None => fit,
            };
            let fit = match fit {
                Ok(fit) => fit,
                Err(error) => {
                    fates.push(Err(error));
                    continue;
                }
            };
            let number = fates.len();
            fates.push(Ok(if OPEN { fit.text } else { buffer.len() }));
            sum = sum.saturating_add(fit.cost);
            some_alone |= fit.alone;
            lengths[number] = if fit.alone { ALONE } else { blocks(fit.text) };
            let to = &mut waiting[number];
            to.cipher = Some(cipher);
            to.request.set(nonce, ad, buffer, fit);
        }
        if !OPEN {
            spend(sum, &mut waiting[first..fates.len()], &mut fates[first..]);
        }
        if some_alone {
            for number in first..fates.len() {
                if lengths[number] == ALONE
                    && let Some(outcome) = waiting[number].run_alone(OPEN)
                    && OPEN
                {
                    outcomes[number] = outcome;
                }
            }
        }
    }
    if let Some(one) = waiting.iter().find_map(|waiting| waiting.cipher) {
        let slots = WindowSlots {
            open: OPEN,
            order: longest_first(&lengths).into_iter(),
            waiting,
            outcomes: &mut outcomes,
        };
        slots.run(one, keys == 1);
    }
    // Done at once, and not when the caller requests the result, because it may never do so. When
    // sealing, there are no outcomes.
    let results = fates.iter_mut().zip(outcomes);
    for (message, (fate, outcome)) in window.iter_mut().zip(results) {
        if let Ok(text) = *fate {
            let (cipher, buffer) = (message.cipher.borrow(), message.buffer.as_mut());
            *fate = cipher.opened(outcome, buffer, text).map_err(Box::new);
        }
    }
    fates
}

/// Refuses a nonce that the batch has used before under the same cipher. A message that does not
/// fit counts as having none.
fn used_once<T>(
    nonces: &mut Nonces,
    cipher: &Cipher,
    nonce: &[u8],
    fit: Result<T, Box<Error>>,
) -> Result<T, Box<Error>> {
    if fit.is_err() {
        nonces.skip();
        return fit;
    }
    let number = nonces.count();
    match nonces.used_before(KeyId::Numbered(cipher.id()), nonce) {
        Some(first) => Err(Error::NonceRepeated { first, number }.into()),
        None => fit,
    }
}

/// Length, for the order, of messages that take no lane.
const ALONE: u64 = 0;

/// Counts the total cost of messages of one key. If it exceeds the limit, the first messages that
/// fit are sealed, in their order.
fn spend(sum: u64, waiting: &mut [Waiting<'_>], fates: &mut [Fate]) {
    let Some(cipher) = waiting.iter().find_map(|waiting| waiting.cipher) else {
        return;
    };
    if cipher.spend(sum).is_ok() {
        return;
    }
    for (waiting, fate) in waiting.iter_mut().zip(fates) {
        if fate.is_ok()
            && let Err(error) = cipher.spend(waiting.request.cost(cipher))
        {
            *fate = Err(error);
            waiting.cipher = None;
        }
    }
}

/// The layouts of messages, which are cached because neighbours often have the same lengths.
struct Fitting<const OPEN: bool> {
    suite: Suite,
    /// The lengths that the cached layout belongs to.
    lengths: Option<MessageLengths>,
    fit: Layout,
}

impl<const OPEN: bool> Fitting<OPEN> {
    /// Computes the layout of a message, if its lengths are valid.
    #[inline]
    fn fit(
        &mut self,
        cipher: &Cipher,
        nonce: &[u8],
        ad: &[u8],
        buffer: &[u8],
        text: Option<usize>,
    ) -> Result<&Layout, Box<Error>> {
        let (first, other) = (self.suite, cipher.suite());
        if other != first {
            return Err(Error::MixedBatch { first, other }.into());
        }
        let lengths = MessageLengths::of(nonce, ad, buffer, text);
        if self.lengths != Some(lengths) {
            self.lengths = None;
            cipher.fit(OPEN, lengths, &mut self.fit)?;
            self.lengths = Some(lengths);
        }
        Ok(&self.fit)
    }
}

/// A message that waits for a lane, unless it has failed or has been processed alone.
#[derive(Default)]
struct Waiting<'a> {
    cipher: Option<&'a Cipher>,
    request: Request<'a>,
}

impl Waiting<'_> {
    /// Processes it alone, unless it has failed.
    #[inline]
    fn run_alone(&mut self, open: bool) -> Option<Outcome> {
        let cipher = self.cipher.take()?;
        Some(cipher.run_one(open, take(&mut self.request)))
    }
}

/// The messages of a window.
struct WindowSlots<'s, 'a> {
    open: bool,
    order: vec::IntoIter<u32>,
    waiting: Vec<Waiting<'a>>,
    /// When opening, the outcome of each message.
    outcomes: &'s mut [Outcome],
}

impl<'a> WindowSlots<'_, 'a> {
    /// Processes all messages. It is not generic, so that kernels are compiled with this crate.
    fn run(mut self, cipher: &'a Cipher, same_key: bool) {
        cipher.run_many(self.open, same_key, self.waiting.len(), &mut self);
    }
}

impl<'a, M: HasKey> Queue<'a, M> for WindowSlots<'_, 'a> {
    fn fill(&mut self, work: &mut LaneMessages<'a, M>, free: u32) -> u32 {
        let mut filled = 0;
        for lane in lanes_of(free) {
            let (number, material) = loop {
                let Some(number) = self.order.next() else {
                    return filled;
                };
                let cipher = self.waiting[number as usize].cipher;
                if let Some(material) = cipher.and_then(M::of) {
                    break (number, material);
                }
            };
            let request = &mut self.waiting[number as usize].request;
            let job = take(request).job(self.open, material);
            work.put(lane, number as usize, job);
            filled |= 1 << lane;
        }
        filled
    }
    fn done(&mut self, number: usize, outcome: Outcome) {
        self.outcomes[number] = outcome;
    }
}
