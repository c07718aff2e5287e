//! Numbers of a few bits each as a stream of bytes, sent and received piece by piece. They are
//! masked, so they are no secrets once they are sent; a writer erases its buffer all the same.

use crate::Result;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// Bytes of a piece, a multiple of 8.
const PIECE: usize = 1 << 12;

/// Writer of numbers, the first in the lowest bits of the first byte.
pub(super) struct Packer {
    to: PartyId,
    bytes: Zeroizing<Vec<u8>>,
    pending: u128,
    held: u32,
}

impl Packer {
    pub(super) fn new(to: PartyId) -> Packer {
        Packer {
            to,
            bytes: Zeroizing::new(Vec::with_capacity(PIECE)),
            pending: 0,
            held: 0,
        }
    }

    /// Adds a number of `bits` bits, up to 64.
    #[inline]
    pub(super) fn put(&mut self, mesh: &mut Mesh, value: u64, bits: u32) -> Result<()> {
        self.pending |= u128::from(value) << self.held;
        self.held += bits;
        if self.held >= 64 {
            self.bytes
                .extend_from_slice(&(self.pending as u64).to_le_bytes());
            self.pending >>= 64;
            self.held -= 64;
            if self.bytes.len() == PIECE {
                self.send(mesh)?;
            }
        }
        Ok(())
    }

    /// Sends what is left, padded to a byte.
    pub(super) fn finish(mut self, mesh: &mut Mesh) -> Result<()> {
        let last = (self.pending as u64).to_le_bytes();
        self.bytes
            .extend_from_slice(&last[..self.held.div_ceil(8) as usize]);
        self.send(mesh)
    }

    fn send(&mut self, mesh: &mut Mesh) -> Result<()> {
        mesh.send(self.to, &self.bytes)?;
        self.bytes.clear();
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
    pending: u128,
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
        if self.held < bits {
            if self.at == PIECE {
                let now = self.left.min(PIECE as u64) as usize;
                mesh.recv(self.from, &mut self.bytes[..now])?;
                (self.at, self.left) = (0, self.left - now as u64);
            }
            let (words, _) = self.bytes.as_chunks::<8>();
            let word = u64::from_le_bytes(words[self.at / 8]);
            self.at += 8;
            self.pending |= u128::from(word) << self.held;
            self.held += 64;
        }
        let value = self.pending as u64 & u64::MAX >> (64 - bits);
        self.pending >>= bits;
        self.held -= bits;
        Ok(value)
    }
}
