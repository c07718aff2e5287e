//! Content in segments, each authenticated with its place: the STREAM construction of Hoang,
//! Reyhanitabar, Rogaway and Vizár, *Online Authenticated-Encryption and its Nonce-Reuse
//! Misuse-Resistance*, CRYPTO 2015, section 7.
//!
//! The nonce of a segment is the prefix of its file (7 bytes), its number from zero on (4 bytes,
//! big-endian), and 1 for the last segment, else 0; the whole header is associated data. So a segment
//! opens only in its file, at its place, and as the last one only if it is. Every segment but the
//! last is full; the last one is empty only if the content is. Behind each stands its tag.
//!
//! Memory is that of one segment. Reads and writes are of one segment too: from 64 KiB on, larger ones
//! gain less than the copy that a buffer in between would cost.

use crate::faults::Refusal;
use crate::header::HEADER_BYTES;
use crate::key::FileKeys;
use crate::segment::{NONCE_BYTES, SegmentCipher, TAG_BYTES};
use crate::watch::{Watch, passed};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// The most bytes of content: what both modes carry under one key with a margin (2^44 blocks).
const MOST_BYTES: u64 = 1 << 48;

/// Why content could not be sealed or opened.
pub enum Trouble {
    /// The input cannot be read.
    Read(io::Error),
    /// The output cannot be written.
    Write(io::Error),
    /// The input has another size than it had when it was looked at.
    Resized,
    /// The content is longer than a file can carry.
    TooLong,
    /// A segment is not what was sealed: its number, and where it begins in the file.
    Altered(u64, u64),
    /// What is in a sealed folder is not as the format says.
    Form(String),
    /// Somebody asked to stop.
    Stopped,
    /// Something that is told already.
    Told(Refusal),
}

impl From<Refusal> for Trouble {
    fn from(failure: Refusal) -> Trouble {
        Trouble::Told(failure)
    }
}

/// What both directions share: the cipher, and the nonces and the associated data of a file.
pub struct Places {
    cipher: SegmentCipher,
    prefix: Zeroizing<[u8; 7]>,
    header: [u8; HEADER_BYTES],
    segment_bytes: usize,
    next: u64,
}

impl Places {
    /// Those of a file with this header.
    pub fn new(
        cipher: SegmentCipher,
        keys: FileKeys,
        header: [u8; HEADER_BYTES],
        segment_bytes: u32,
    ) -> Places {
        Places {
            cipher,
            prefix: keys.prefix,
            header,
            segment_bytes: segment_bytes as usize,
            next: 0,
        }
    }

    /// Goes on as if so many segments had passed.
    #[cfg(test)]
    pub fn skip_to(&mut self, next: u64) {
        self.next = next;
    }

    /// The nonce of the next segment, which uses it up.
    fn nonce(&mut self, last: bool) -> Result<[u8; NONCE_BYTES], Trouble> {
        let number = u32::try_from(self.next).map_err(|_| Trouble::TooLong)?;
        if self.next * self.segment_bytes as u64 >= MOST_BYTES {
            return Err(Trouble::TooLong);
        }
        self.next += 1;
        let mut nonce = [0; NONCE_BYTES];
        nonce[..7].copy_from_slice(self.prefix.as_slice());
        nonce[7..11].copy_from_slice(&number.to_be_bytes());
        nonce[11] = u8::from(last);
        Ok(nonce)
    }
}

/// Seals content as it comes.
pub struct Sealer<W> {
    to: W,
    places: Places,
    /// A segment and its tag. It is sealed only when more content comes or none does, since only
    /// then it is known whether it is the last.
    buffer: Zeroizing<Vec<u8>>,
    filled: usize,
}

impl<W: Write> Sealer<W> {
    /// Writes the header; content follows.
    pub fn new(mut to: W, places: Places) -> Result<Sealer<W>, Trouble> {
        to.write_all(&places.header).map_err(Trouble::Write)?;
        Ok(Sealer {
            to,
            buffer: Zeroizing::new(vec![0; places.segment_bytes + TAG_BYTES]),
            places,
            filled: 0,
        })
    }

    /// Takes content.
    pub fn write(&mut self, mut content: &[u8]) -> Result<(), Trouble> {
        while !content.is_empty() {
            let room = self.room()?;
            let taken = room.len().min(content.len());
            room[..taken].copy_from_slice(&content[..taken]);
            self.filled += taken;
            content = &content[taken..];
        }
        Ok(())
    }

    /// Takes all that a reader has, which has to be `bytes`.
    pub fn copy(
        &mut self,
        from: &mut impl Read,
        bytes: u64,
        watch: &mut dyn Watch,
    ) -> Result<(), Trouble> {
        let mut left = bytes;
        while left > 0 {
            let room = self.room()?;
            let most = room.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match read(from, &mut room[..most])? {
                0 => return Err(Trouble::Resized),
                taken => {
                    self.filled += taken;
                    left -= taken as u64;
                    passed(watch, taken as u64)?;
                }
            }
        }
        match read(from, &mut [0])? {
            0 => Ok(()),
            _ => Err(Trouble::Resized),
        }
    }

    /// Seals what is left as the last segment; returns the writer and how many segments there are.
    pub fn finish(mut self) -> Result<(W, u64), Trouble> {
        self.seal(true)?;
        Ok((self.to, self.places.next))
    }

    /// Room for content, at least one byte. Asked for only if there is more to come.
    fn room(&mut self) -> Result<&mut [u8], Trouble> {
        if self.filled == self.places.segment_bytes {
            self.seal(false)?;
        }
        Ok(&mut self.buffer[self.filled..self.places.segment_bytes])
    }

    fn seal(&mut self, last: bool) -> Result<(), Trouble> {
        let nonce = self.places.nonce(last)?;
        let (segment, rest) = self.buffer.split_at_mut(self.filled);
        let places = &self.places;
        let tag = places.cipher.seal_segment(&nonce, &places.header, segment);
        rest[..TAG_BYTES].copy_from_slice(&tag);
        let sealed = &self.buffer[..self.filled + TAG_BYTES];
        self.to.write_all(sealed).map_err(Trouble::Write)?;
        self.filled = 0;
        Ok(())
    }
}

/// Opens segments as they come. Nothing leaves it that is not authentic.
pub struct Opener<R> {
    from: R,
    places: Places,
    /// A segment, its tag, and one byte more, which says that it is not the last.
    buffer: Zeroizing<Vec<u8>>,
    ahead: Option<u8>,
    given: usize,
    opened: usize,
    ended: bool,
}

impl<R: Read> Opener<R> {
    /// `from` stands behind the header.
    pub fn new(from: R, places: Places) -> Opener<R> {
        Opener {
            from,
            buffer: Zeroizing::new(vec![0; places.segment_bytes + TAG_BYTES + 1]),
            places,
            ahead: None,
            given: 0,
            opened: 0,
            ended: false,
        }
    }

    /// How many segments were opened.
    pub fn segments(&self) -> u64 {
        self.places.next
    }

    /// Some content that follows, at most so many bytes; none only at its authentic end.
    pub fn some(&mut self, most: usize) -> Result<&[u8], Trouble> {
        if self.given == self.opened && !self.ended {
            self.open()?;
        }
        let given = self.given;
        self.given += most.min(self.opened - given);
        Ok(&self.buffer[given..self.given])
    }

    /// Fills `bytes` with content, as far as there is any; says how far.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, Trouble> {
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

    fn open(&mut self) -> Result<(), Trouble> {
        let number = self.places.next;
        let full = self.places.segment_bytes + TAG_BYTES;
        let altered = || Trouble::Altered(number, HEADER_BYTES as u64 + number * full as u64);
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
        // One content has one form: an empty segment behind others is none that we seal.
        if segment.is_empty() && number > 0 {
            return Err(altered());
        }
        let opened = segment.len();
        let nonce = self.places.nonce(last)?;
        let places = &self.places;
        places
            .cipher
            .open_segment(&nonce, &places.header, segment, tag)
            .map_err(|_| altered())?;
        (self.given, self.opened, self.ended) = (0, opened, last);
        Ok(())
    }
}

/// Reads once, again where a signal came in between.
fn read(from: &mut impl Read, into: &mut [u8]) -> Result<usize, Trouble> {
    loop {
        match from.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done.map_err(Trouble::Read),
        }
    }
}
