//! Many messages at once.
//!
//! Messages are taken from an iterator, a window of them at a time, brought to the lanes longest
//! first, and handed out in the order in which they came. The window bounds what is held; it is
//! wide against the lanes, so that its end, where lanes run empty, hardly counts.

use std::borrow::Borrow;
use std::vec;

use sealane_schedule::longest_first;

use crate::cipher::{Request, blocks};
use crate::{Cipher, Error};

/// Messages that are held at a time: 32 for each of 16 lanes.
const WINDOW: usize = 512;

/// A text that keeps the lanes busy alone, in modes that can: what a head and a tail cost is less
/// than lanes would waste beside it.
const ALONE_BYTES: usize = 8192;

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
/// order of messages, and no more than a few hundred are held at a time.
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

/// Messages that are being done.
pub struct Many<I: Iterator, const OPEN: bool> {
    messages: I,
    done: vec::IntoIter<I::Item>,
    results: vec::IntoIter<Result<usize, Error>>,
}

impl<I: Iterator, const OPEN: bool> Many<I, OPEN> {
    fn new(messages: I) -> Many<I, OPEN> {
        Many {
            messages,
            done: Vec::new().into_iter(),
            results: Vec::new().into_iter(),
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
        if self.done.len() == 0 {
            let mut window: Vec<_> = self.messages.by_ref().take(WINDOW).collect();
            let results = run_window::<C, N, A, B, OPEN>(&mut window);
            (self.done, self.results) = (window.into_iter(), results.into_iter());
        }
        let message = self.done.next()?;
        Some(Done {
            buffer: message.buffer,
            result: self.results.next()?,
        })
    }
}

/// Does all messages of a window.
fn run_window<C, N, A, B, const OPEN: bool>(
    window: &mut [Message<C, N, A, B>],
) -> Vec<Result<usize, Error>>
where
    C: Borrow<Cipher>,
    N: AsRef<[u8]>,
    A: AsRef<[u8]>,
    B: AsMut<[u8]>,
{
    let Some(first) = window
        .first()
        .map(|message| message.cipher.borrow().suite())
    else {
        return Vec::new();
    };
    let mut results: Vec<Result<usize, Error>> = Vec::with_capacity(window.len());
    for message in window.iter_mut() {
        results.push(check::<C, N, A, B, OPEN>(message, first));
    }
    if !OPEN {
        spend(window, &mut results);
    }
    // What is in order goes to the lanes; what fills them alone goes alone.
    let (mut requests, mut lengths, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (place, (message, result)) in window.iter_mut().zip(&mut results).enumerate() {
        let Ok(text) = *result else { continue };
        let cipher = message.cipher.borrow();
        let (nonce, ad) = (message.nonce.as_ref(), message.ad.as_ref());
        let buffer = message.buffer.as_mut();
        if text >= ALONE_BYTES && cipher.is_parallel(OPEN) {
            *result = match OPEN {
                true => cipher.open_in_place(nonce, ad, buffer, Some(text)),
                false => cipher.seal_spent(nonce, ad, buffer, text),
            };
            continue;
        }
        if !OPEN {
            cipher.prepare(buffer, text);
        }
        lengths.push(blocks(text));
        places.push(place);
        requests.push(Request {
            cipher,
            nonce,
            ad,
            buffer,
            text,
        });
    }
    let Some(&one) = requests.first().map(|request| &request.cipher) else {
        return results;
    };
    let ran = one.run_many::<OPEN>(requests, &longest_first(&lengths));
    for (place, ran) in places.into_iter().zip(ran) {
        let message = &mut window[place];
        let (cipher, buffer) = (message.cipher.borrow(), message.buffer.as_mut());
        results[place] = match results[place] {
            Ok(text) if OPEN => cipher.opened(ran, buffer, text),
            _ => Ok(buffer.len()),
        };
    }
    results
}

/// The length of a message's text, if the message is in order.
fn check<C, N, A, B, const OPEN: bool>(
    message: &mut Message<C, N, A, B>,
    first: crate::Suite,
) -> Result<usize, Error>
where
    C: Borrow<Cipher>,
    N: AsRef<[u8]>,
    A: AsRef<[u8]>,
    B: AsMut<[u8]>,
{
    let cipher = message.cipher.borrow();
    let other = cipher.suite();
    if other != first {
        return Err(Error::MixedBatch { first, other });
    }
    let (nonce, ad) = (message.nonce.as_ref(), message.ad.as_ref());
    let bytes = message.buffer.as_mut().len();
    if OPEN {
        return cipher.check_open(nonce, ad, bytes, message.text);
    }
    let text = message.text.or_else(|| cipher.text_bytes(bytes));
    let text = text.ok_or(Error::TextLengthNeeded { suite: first })?;
    cipher.check_seal(nonce, ad, text)?;
    cipher.check_buffer(bytes, text)?;
    Ok(text)
}

/// Counts messages against the limits of their keys: once for neighbours with the same key.
fn spend<C: Borrow<Cipher>, N, A, B>(
    window: &[Message<C, N, A, B>],
    results: &mut [Result<usize, Error>],
) {
    let mut at = 0;
    while at < window.len() {
        let cipher: &Cipher = window[at].cipher.borrow();
        let same = window[at..]
            .iter()
            .take_while(|other| std::ptr::eq(other.cipher.borrow(), cipher));
        let end = at + same.count();
        let texts = results[at..end].iter().flatten();
        let (messages, blocks) = texts.fold((0, 0), |(messages, sum), &text| {
            (messages + 1, sum + blocks(text))
        });
        if let Err(error) = cipher.spend(messages, blocks) {
            for result in results[at..end].iter_mut().filter(|result| result.is_ok()) {
                *result = Err(error.clone());
            }
        }
        at = end;
    }
}
