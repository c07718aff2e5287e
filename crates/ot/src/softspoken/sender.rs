//! The sender, which holds the offset.

use super::SoftSpoken;
use super::subspace::{PIECE, Piece, ROWS, Subspace, challenge, check_hash};
use super::{rows_of, tree};
use crate::base::{self, Roles};
use crate::traits::{CotSender, CotTerms, choice};
use crate::transcript::{check_digest, check_equal, send_digest};
use crate::{OtError, Result};
use sealane_block::{Block, Coins, ColumnHash, Cpu, Leaves, leaves, transpose};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A sender that has written its message of the base OTs.
pub struct SenderSetup(VoleSetup);

/// Sender of correlated OTs; see the [module](super).
pub struct Sender(VoleSender);

impl Sender {
    /// Begins the set-up: writes one message, which leaves in pieces but for its end, and waits for
    /// nothing. All 128 bits of `delta` are used as they are.
    ///
    /// # Errors
    /// The network failed.
    pub fn set_up(
        parameters: SoftSpoken,
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        delta: Block,
        coins: &mut Coins,
    ) -> Result<SenderSetup> {
        let delta = Zeroizing::new(vec![delta]);
        let setup = VoleSender::set_up(parameters.subspace(), cpu, mesh, peer, delta, coins)?;
        Ok(SenderSetup(setup))
    }
}

impl SenderSetup {
    /// Ends the set-up: reads the two messages of the receiver.
    ///
    /// # Errors
    /// [`OtError::BadPoint`] or [`OtError::CheckFailed`] if they are none of an honest receiver,
    /// [`OtError::Altered`] if they are not what it sent; else the network failed.
    pub fn finish(self, mesh: &mut Mesh) -> Result<Sender> {
        self.0.finish(mesh).map(Sender)
    }
}

impl Sender {
    /// As [`CotSender::extend`], of `count` OTs: calls `each` with their rows in order, some
    /// thousands at a time. What it makes of them is of no use before this returns.
    ///
    /// # Errors
    /// As [`CotSender::extend`].
    pub(crate) fn stream(
        &mut self,
        mesh: &mut Mesh,
        count: usize,
        mut each: impl FnMut(&[Block]),
    ) -> Result<()> {
        let cpu = self.0.cpu;
        let mut rows = Zeroizing::new([Block::ZERO; ROWS * PIECE]);
        self.0.extend(mesh, count, |piece, columns| {
            let rows = &mut rows[..columns.len()];
            transpose(cpu, columns, rows);
            each(&rows[piece.hidden * ROWS..][..piece.count]);
        })
    }
}

impl Sender {
    /// As [`CotSender::extend`]; of `even` rows bit 0 is 0 instead.
    fn rows(&mut self, mesh: &mut Mesh, q: &mut [Block], even: bool) -> Result<()> {
        let cpu = self.0.cpu;
        let mut rows = Zeroizing::new([Block::ZERO; ROWS * PIECE]);
        let result = self.0.extend(mesh, q.len(), |piece, columns| {
            if even {
                // Column 0 has bits 0 of all rows, and nothing reads it again.
                columns[..piece.width].fill(Block::ZERO);
            }
            let q = &mut q[piece.first..][..piece.count];
            rows_of(cpu, piece, columns, &mut rows[..], q);
        });
        if result.is_err() {
            q.iter_mut().for_each(Zeroize::zeroize);
        }
        result
    }

    /// As [`CotSender::extend`], but bit 0 of each row is 0.
    ///
    /// # Errors
    /// As [`CotSender::extend`].
    pub(crate) fn extend_even(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<()> {
        self.rows(mesh, q, true)
    }
}

impl CotSender for Sender {
    fn terms(&self) -> CotTerms {
        CotTerms::new(self.0.peer, self.0.parameters.security).one_way()
    }

    fn delta(&self) -> Block {
        self.0.delta()[0]
    }

    /// Reads one message, the corrections and the answer to the check, and writes none.
    fn extend(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<()> {
        self.rows(mesh, q, false)
    }
}

impl ZeroizeOnDrop for Sender {}

/// A sender of an extension that has written its message of the base OTs.
pub(super) struct VoleSetup {
    /// The party, which has no trees yet.
    vole: VoleSender,
    base: base::BaseReceiver,
}

/// The party that lacks a leaf of each tree, whose number is a part of its offset.
pub(super) struct VoleSender {
    pub(super) parameters: Subspace,
    pub(super) cpu: Cpu,
    pub(super) peer: PartyId,
    pub(super) delta: Zeroizing<Vec<Block>>,
    /// Leaves of each tree; they erase themselves. None are left after a failure.
    pub(super) trees: Vec<Leaves>,
}

impl VoleSender {
    /// See [`Sender::set_up`]. The offset has a bit for each column.
    pub(super) fn set_up(
        parameters: Subspace,
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        delta: Zeroizing<Vec<Block>>,
        coins: &mut Coins,
    ) -> Result<VoleSetup> {
        let roles = Roles::new(mesh.session(), peer, mesh.me());
        let columns = parameters.columns;
        let base = base::BaseReceiver::new(roles, &delta, columns, coins, |piece| {
            // The other party works on a piece while this one makes the next.
            mesh.send(peer, piece)?;
            mesh.flush()
        })?;
        send_digest(mesh, peer)?;
        let vole = VoleSender {
            parameters,
            cpu,
            peer,
            delta,
            trees: Vec::new(),
        };
        Ok(VoleSetup { vole, base })
    }
}

impl VoleSetup {
    /// See [`SenderSetup::finish`].
    pub(super) fn finish(self, mesh: &mut Mesh) -> Result<VoleSender> {
        let VoleSetup { mut vole, base } = self;
        let (parameters, peer) = (vole.parameters, vole.peer);
        let mut message = [0; base::SENDER_BYTES];
        mesh.recv(peer, &mut message)?;
        let keys = base.keys(&message);
        let keys = keys.map_err(|base::MalformedPoint| OtError::BadPoint(peer))?;
        let mut message = Zeroizing::new(vec![0; tree::message_bytes(parameters)]);
        mesh.recv(peer, &mut message)?;
        check_digest(mesh, peer)?;
        let session = mesh.session();
        let leaves = tree::choose(parameters, &keys, &vole.delta, session, &message, peer)?;
        vole.trees = parameters.generators(vole.cpu, session, &leaves);
        Ok(vole)
    }
}

impl VoleSender {
    /// The offset.
    ///
    /// # Panics
    /// After a failure there is none.
    pub(super) fn delta(&self) -> &[Block] {
        assert!(!self.trees.is_empty(), "no offset is left after a failure");
        &self.delta
    }

    /// Runs an extension of `count` OTs: reads one message and writes none. Calls `each` with every
    /// piece and its columns, which it may change; what it makes of them is of no use before this
    /// returns.
    pub(super) fn extend(
        &mut self,
        mesh: &mut Mesh,
        count: usize,
        each: impl FnMut(&Piece, &mut [Block]),
    ) -> Result<()> {
        let result = self.extend_checked(mesh, count, each);
        if result.is_err() {
            // Generators and offset are useless now, and the offset may have leaked.
            self.trees.clear();
            self.delta.iter_mut().zeroize();
        }
        result
    }

    fn extend_checked(
        &mut self,
        mesh: &mut Mesh,
        count: usize,
        mut each: impl FnMut(&Piece, &mut [Block]),
    ) -> Result<()> {
        if self.trees.is_empty() {
            return Err(OtError::Ended);
        }
        let columns = self.parameters.columns;
        let mut buffer = Zeroizing::new(vec![Block::ZERO; columns * PIECE]);
        let mut hash = ColumnHash::new(self.cpu, columns);
        for piece in self.parameters.pieces(count) {
            let buffer = &mut buffer[..columns * piece.width];
            self.columns(mesh, piece.width, buffer)?;
            if self.parameters.malicious() {
                hash.update(challenge(&mesh.digest_received(self.peer)), buffer);
            }
            each(&piece, buffer);
        }
        if self.parameters.malicious() && count > 0 {
            self.check(mesh, hash)?;
        }
        Ok(())
    }

    /// Makes the columns of a piece, corrected to the word of the receiver's choice.
    fn columns(&mut self, mesh: &mut Mesh, width: usize, columns: &mut [Block]) -> Result<()> {
        leaves::sums(&mut self.trees, None, columns);
        let free = self.parameters.code.bits;
        let digested = self.parameters.digested(self.cpu);
        let mut left = (self.trees.len() - free) * width;
        let mut ranges = self.parameters.columns().skip(free);
        while left > 0 {
            let here = mesh.recv_buffer(self.peer, width * size_of::<Block>())?;
            let whole = left.min(here.len() / size_of::<Block>() / width * width);
            let corrections = here.as_chunks().0[..whole].chunks_exact(width);
            for (correction, range) in corrections.zip(&mut ranges) {
                for column in range {
                    // d_i where bit `column` of the offset is 1: a mask, not a branch.
                    let mask = Block::mask(choice(&self.delta, column));
                    let column = &mut columns[column * width..][..width];
                    for (block, &d) in column.iter_mut().zip(correction) {
                        *block ^= Block::from_bytes(d) & mask;
                    }
                }
            }
            digested.consume(mesh, self.peer, whole * size_of::<Block>())?;
            left -= whole;
        }
        Ok(())
    }

    /// Reads the receiver's answer and compares it with the hashes of the columns.
    fn check(&mut self, mesh: &mut Mesh, hash: ColumnHash) -> Result<()> {
        let Subspace { columns, code, .. } = self.parameters;
        check_digest(mesh, self.peer)?;
        let digest = mesh.digest_received(self.peer);
        let (mut x, mut expected) = ([Block::ZERO; 8], [0; 32]);
        let x = &mut x[..code.bits];
        mesh.recv(self.peer, Block::as_bytes_mut(x))?;
        mesh.recv(self.peer, &mut expected)?;
        let mut values = Zeroizing::new(vec![Block::ZERO; columns]);
        for (i, range) in self.parameters.columns().enumerate() {
            if i >= code.bits {
                code.step(i, x);
            }
            let symbol = x[i % code.bits];
            for column in range {
                let bit = choice(&self.delta, column);
                values[column] = hash.values()[column] ^ symbol.masked(bit);
            }
        }
        let hash = check_hash(&digest, &values);
        check_equal(&hash, &expected, OtError::CheckFailed(self.peer))
    }
}

impl ZeroizeOnDrop for VoleSender {}
