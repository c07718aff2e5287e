//! Numbers of a few bits each as a stream of bytes, sent and received piece by piece. They are
//! masked, so they are no secrets once they are sent; a writer erases its buffer all the same.

use crate::Result;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// Bytes of a piece, a multiple of 8.
const PIECE: usize = 1 << 12;

/// Where a writer's bytes go.
pub(super) trait Sink {
    /// Takes the next bytes, which are for this party.
    fn put(&mut self, to: PartyId, bytes: &[u8]) -> Result<()>;
}

impl Sink for Mesh {
    fn put(&mut self, to: PartyId, bytes: &[u8]) -> Result<()> {
        Ok(self.send(to, bytes)?)
    }
}

/// A message that is sent later, in the memory that it was given.
#[derive(Default)]
pub(super) struct Kept(Zeroizing<Vec<u8>>);

impl Kept {
    /// Room for a message of so many bits.
    pub(super) fn new(bits: u64) -> Kept {
        Kept(Zeroizing::new(
            Vec::with_capacity(bits.div_ceil(8) as usize),
        ))
    }

    /// The bytes of one of so many parts.
    pub(super) fn part(&self, part: usize, parts: usize) -> &[u8] {
        let [from, to] = [part, part + 1].map(|part| {
            let at = self.0.len() as u128 * part as u128 / parts as u128;
            at as usize
        });
        &self.0[from..to]
    }
}

impl Sink for Kept {
    fn put(&mut self, _: PartyId, bytes: &[u8]) -> Result<()> {
        // A vector that grew by itself would leave a copy behind.
        debug_assert!(self.0.len() + bytes.len() <= self.0.capacity());
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writer of numbers, the first in the lowest bits of the first byte.
pub(super) struct Packer {
    to: PartyId,
    bytes: Box<Zeroizing<[u8; PIECE]>>,
    /// Bytes of the piece that are written.
    at: usize,
    /// Bits behind these, fewer than 64.
    pending: u64,
    held: u32,
}

impl Packer {
    pub(super) fn new(to: PartyId) -> Packer {
        Packer {
            to,
            bytes: Box::new(Zeroizing::new([0; PIECE])),
            at: 0,
            pending: 0,
            held: 0,
        }
    }

    /// Adds a number of `bits` bits, up to 64.
    #[inline]
    pub(super) fn put(&mut self, sink: &mut impl Sink, value: u64, bits: u32) -> Result<()> {
        let (held, word) = (self.held, self.pending | value << self.held);
        self.held += bits;
        if self.held < 64 {
            self.pending = word;
            return Ok(());
        }
        self.bytes.as_chunks_mut().0[self.at / 8] = word.to_le_bytes();
        self.held -= 64;
        // In two shifts, since none is by 64.
        self.pending = value >> 1 >> (63 - held);
        self.at += 8;
        if self.at == PIECE {
            self.send(sink)?;
        }
        Ok(())
    }

    /// Sends what is left, padded to a byte.
    pub(super) fn finish(&mut self, sink: &mut impl Sink) -> Result<()> {
        let last = self.held.div_ceil(8) as usize;
        self.bytes[self.at..][..last].copy_from_slice(&self.pending.to_le_bytes()[..last]);
        self.at += last;
        (self.pending, self.held) = (0, 0);
        self.send(sink)
    }

    fn send(&mut self, sink: &mut impl Sink) -> Result<()> {
        sink.put(self.to, &self.bytes[..self.at])?;
        self.at = 0;
        Ok(())
    }
}

/// Reader of numbers that a [`Packer`] wrote.
pub(super) struct Unpacker {
    from: PartyId,
    bytes: Box<[u8; PIECE]>,
    /// Bytes of the piece that are taken.
    at: usize,
    /// Bytes of all that are not read.
    left: u64,
    /// Bits of the last word that are not taken, fewer than 64.
    pending: u64,
    held: u32,
}

impl Unpacker {
    /// A reader of numbers of `bits` bits together.
    pub(super) fn new(from: PartyId, bits: u64) -> Unpacker {
        Unpacker {
            from,
            bytes: Box::new([0; PIECE]),
            at: PIECE,
            left: bits.div_ceil(8),
            pending: 0,
            held: 0,
        }
    }

    /// Takes the next number, of `bits` bits, up to 64.
    #[inline]
    pub(super) fn take(&mut self, mesh: &mut Mesh, bits: u32) -> Result<u64> {
        let mask = u64::MAX >> (64 - bits);
        if bits <= self.held {
            let value = self.pending & mask;
            self.pending >>= bits;
            self.held -= bits;
            return Ok(value);
        }
        if self.at == PIECE {
            let now = self.left.min(PIECE as u64) as usize;
            mesh.recv(self.from, &mut self.bytes[..now])?;
            (self.at, self.left) = (0, self.left - now as u64);
        }
        let (words, _) = self.bytes.as_chunks::<8>();
        let word = u64::from_le_bytes(words[self.at / 8]);
        self.at += 8;
        let value = (self.pending | word << self.held) & mask;
        let taken = bits - self.held;
        // In two shifts, since none is by 64.
        self.pending = word >> 1 >> (taken - 1);
        self.held = 64 - taken;
        Ok(value)
    }
}
