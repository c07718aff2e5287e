//! Content in segments, each authenticated with its place: the STREAM construction of Hoang,
//! Reyhanitabar, Rogaway and Vizár, *Online Authenticated-Encryption and its Nonce-Reuse
//! Misuse-Resistance*, CRYPTO 2015, section 7.
//!
//! The nonce of a segment is the prefix of its file (7 bytes), its number from zero on (4 bytes,
//! big-endian), and 1 for the last segment, else 0; the whole header is associated data. So a
//! segment opens only in its file, at its place, and as the last one only if it is. Every segment
//! but the last is full; the last one is empty only if the content is. Behind each stands its tag.
//!
//! Memory holds one segment. Reads and writes are of one segment too: from 64 KiB on, larger ones
//! gain less than the copy through another buffer would cost.

use crate::header::HEADER_BYTES;
use crate::key::FileKeys;
use crate::refusals::Refusal;
use crate::segment::{NONCE_BYTES, SegmentCipher, TAG_BYTES};
use crate::watch::{TransferWatch, passed};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// Most bytes of content: the limit of both modes under one key, with a margin (2^44 blocks).
const MOST_BYTES: u64 = 1 << 48;

/// Reason why content could not be sealed or opened.
pub enum StreamError {
    /// The input cannot be read.
    Read(io::Error),
    /// The output cannot be written.
    Write(io::Error),
    /// The input has another size than it had when it was opened.
    Resized,
    /// The content is longer than a file can carry.
    TooLong,
    /// A segment is not authentic: its number, and its offset in the file.
    Altered(u64, u64),
    /// The content of a sealed folder violates the format.
    Malformed(String),
    /// A request to stop.
    Stopped,
    /// An error that is a diagnostic already.
    Refused(Refusal),
}

impl From<Refusal> for StreamError {
    fn from(failure: Refusal) -> StreamError {
        StreamError::Refused(failure)
    }
}

/// State of both directions: the cipher, the counter of nonces, and the associated data of a file.
pub struct SegmentCrypto {
    cipher: SegmentCipher,
    prefix: Zeroizing<[u8; 7]>,
    header: [u8; HEADER_BYTES],
    segment_bytes: usize,
    next: u64,
}

impl SegmentCrypto {
    /// Creates the state for a file with this header.
    pub fn new(
        cipher: SegmentCipher,
        keys: FileKeys,
        header: [u8; HEADER_BYTES],
        segment_bytes: u32,
    ) -> SegmentCrypto {
        SegmentCrypto {
            cipher,
            prefix: keys.prefix,
            header,
            segment_bytes: segment_bytes as usize,
            next: 0,
        }
    }

    /// Continues as if so many segments had passed.
    #[cfg(test)]
    pub fn skip_to(&mut self, next: u64) {
        self.next = next;
    }

    /// Returns the nonce of the next segment and counts the segment.
    fn nonce(&mut self, last: bool) -> Result<[u8; NONCE_BYTES], StreamError> {
        let number = u32::try_from(self.next).map_err(|_| StreamError::TooLong)?;
        if self.next * self.segment_bytes as u64 >= MOST_BYTES {
            return Err(StreamError::TooLong);
        }
        self.next += 1;
        let mut nonce = [0; NONCE_BYTES];
        nonce[..7].copy_from_slice(self.prefix.as_slice());
        nonce[7..11].copy_from_slice(&number.to_be_bytes());
        nonce[11] = u8::from(last);
        Ok(nonce)
    }
}

/// Writer that seals content.
pub struct Sealer<W> {
    to: W,
    crypto: SegmentCrypto,
    /// A segment and its tag. It is sealed only when more content comes or the content ends, since
    /// only then it is known if it is the last segment.
    buffer: Zeroizing<Vec<u8>>,
    filled: usize,
}

impl<W: Write> Sealer<W> {
    /// Writes the header; content follows.
    pub fn new(mut to: W, crypto: SegmentCrypto) -> Result<Sealer<W>, StreamError> {
        to.write_all(&crypto.header).map_err(StreamError::Write)?;
        Ok(Sealer {
            to,
            buffer: Zeroizing::new(vec![0; crypto.segment_bytes + TAG_BYTES]),
            crypto,
            filled: 0,
        })
    }

    /// Seals content.
    pub fn write(&mut self, mut content: &[u8]) -> Result<(), StreamError> {
        while !content.is_empty() {
            let room = self.room()?;
            let taken = room.len().min(content.len());
            room[..taken].copy_from_slice(&content[..taken]);
            self.filled += taken;
            content = &content[taken..];
        }
        Ok(())
    }

    /// Seals the whole content of a reader, which has to be `bytes` long.
    pub fn copy(
        &mut self,
        from: &mut impl Read,
        bytes: u64,
        watch: &mut dyn TransferWatch,
    ) -> Result<(), StreamError> {
        let mut left = bytes;
        while left > 0 {
            let room = self.room()?;
            let most = room.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match read(from, &mut room[..most])? {
                0 => return Err(StreamError::Resized),
                taken => {
                    self.filled += taken;
                    left -= taken as u64;
                    passed(watch, taken as u64)?;
                }
            }
        }
        match read(from, &mut [0])? {
            0 => Ok(()),
            _ => Err(StreamError::Resized),
        }
    }

    /// Seals the rest as the last segment; returns the writer and the number of segments.
    pub fn finish(mut self) -> Result<(W, u64), StreamError> {
        self.seal(true)?;
        Ok((self.to, self.crypto.next))
    }

    /// Returns the free part of the buffer, at least one byte. Called only if more content follows.
    fn room(&mut self) -> Result<&mut [u8], StreamError> {
        if self.filled == self.crypto.segment_bytes {
            self.seal(false)?;
        }
        Ok(&mut self.buffer[self.filled..self.crypto.segment_bytes])
    }

    fn seal(&mut self, last: bool) -> Result<(), StreamError> {
        let nonce = self.crypto.nonce(last)?;
        let (segment, rest) = self.buffer.split_at_mut(self.filled);
        let crypto = &self.crypto;
        let tag = crypto.cipher.seal_segment(&nonce, &crypto.header, segment);
        rest[..TAG_BYTES].copy_from_slice(&tag);
        let sealed = &self.buffer[..self.filled + TAG_BYTES];
        self.to.write_all(sealed).map_err(StreamError::Write)?;
        self.filled = 0;
        Ok(())
    }
}

/// Reader that opens segments. It returns only authentic content.
pub struct Opener<R> {
    from: R,
    crypto: SegmentCrypto,
    /// A segment, its tag, and one more byte, whose presence shows that the segment is not the
    /// last.
    buffer: Zeroizing<Vec<u8>>,
    ahead: Option<u8>,
    given: usize,
    opened: usize,
    ended: bool,
}

impl<R: Read> Opener<R> {
    /// Creates a reader; `from` is positioned behind the header.
    pub fn new(from: R, crypto: SegmentCrypto) -> Opener<R> {
        Opener {
            from,
            buffer: Zeroizing::new(vec![0; crypto.segment_bytes + TAG_BYTES + 1]),
            crypto,
            ahead: None,
            given: 0,
            opened: 0,
            ended: false,
        }
    }

    /// Returns the number of opened segments.
    pub fn segments(&self) -> u64 {
        self.crypto.next
    }

    /// Returns content that follows, at most `most` bytes; empty only at the authenticated end.
    pub fn some(&mut self, most: usize) -> Result<&[u8], StreamError> {
        if self.given == self.opened && !self.ended {
            self.open()?;
        }
        let given = self.given;
        self.given += most.min(self.opened - given);
        Ok(&self.buffer[given..self.given])
    }

    /// Fills `bytes` with content, as far as there is any; returns the number of bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, StreamError> {
        let mut filled = 0;
        while filled < bytes.len() {
            let some = self.some(bytes.len() - filled)?;
            if some.is_empty() {
                break;
            }
            bytes[filled..filled + some.len()].copy_from_slice(some);
            filled += some.len();
        }
        Ok(filled)
    }

    fn open(&mut self) -> Result<(), StreamError> {
        let number = self.crypto.next;
        let full = self.crypto.segment_bytes + TAG_BYTES;
        let altered = || StreamError::Altered(number, HEADER_BYTES as u64 + number * full as u64);
        let mut filled = 0;
        if let Some(byte) = self.ahead.take() {
            self.buffer[0] = byte;
            filled = 1;
        }
        while filled <= full {
            match read(&mut self.from, &mut self.buffer[filled..=full])? {
                0 => break,
                taken => filled += taken,
            }
        }
        let last = filled <= full;
        if !last {
            self.ahead = Some(self.buffer[full]);
        }
        let sealed = &mut self.buffer[..filled.min(full)];
        let split = sealed.split_last_chunk_mut::<TAG_BYTES>();
        let (segment, tag) = split.ok_or_else(altered)?;
        // Content has only one form: this crate never writes an empty segment behind others.
        if segment.is_empty() && number > 0 {
            return Err(altered());
        }
        let opened = segment.len();
        let nonce = self.crypto.nonce(last)?;
        let SegmentCrypto { cipher, header, .. } = &self.crypto;
        let authentic = cipher.open_segment(&nonce, header, segment, tag);
        authentic.map_err(|_| altered())?;
        (self.given, self.opened, self.ended) = (0, opened, last);
        Ok(())
    }
}

/// Reads once; retries if a signal interrupts the read.
fn read(from: &mut impl Read, into: &mut [u8]) -> Result<usize, StreamError> {
    loop {
        match from.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done.map_err(StreamError::Read),
        }
    }
}
