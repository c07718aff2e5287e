//! The receiver, which holds choices.

use super::SoftSpoken;
use super::subspace::{PIECE, Piece, ROWS, Subspace, challenge, check_hash};
use super::{rows_of, tree};
use crate::base::{self, Roles};
use crate::traits::{CotReceiver, CotTerms, PACKED, clear_rest};
use crate::transcript::{check_digest, send_digest};
use crate::{OtError, Result};
use sealane_block::{Block, Coins, ColumnHash, Cpu, Leaves, leaves, transpose};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// A receiver that has written its message of the base OTs.
pub struct ReceiverSetup(VoleSetup);

/// Receiver of correlated OTs; see the [module](super).
pub struct Receiver(VoleReceiver);

impl Receiver {
    /// Begins the set-up: writes one message, not flushed, and waits for nothing.
    ///
    /// # Errors
    /// The network failed.
    pub fn set_up(
        parameters: SoftSpoken,
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        coins: &mut Coins,
    ) -> Result<ReceiverSetup> {
        let setup = VoleReceiver::set_up(parameters.subspace(), cpu, mesh, peer, coins)?;
        Ok(ReceiverSetup(setup))
    }
}

impl ReceiverSetup {
    /// Ends the set-up: reads the message of the sender and writes that of the trees, not flushed.
    ///
    /// # Errors
    /// [`OtError::BadPoint`] if the message is none of an honest sender, [`OtError::Altered`] if it
    /// is not what it sent; else the network failed.
    pub fn finish(self, mesh: &mut Mesh) -> Result<Receiver> {
        self.0.finish(mesh).map(Receiver)
    }
}

impl Receiver {
    /// As [`CotReceiver::extend`], of `count` OTs: calls `each` with their choices, packed, and
    /// their rows in order, some thousands at a time.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`].
    pub(crate) fn stream(
        &mut self,
        mesh: &mut Mesh,
        count: usize,
        mut each: impl FnMut(&[Block], &[Block]),
    ) -> Result<()> {
        let cpu = self.0.cpu;
        let mut rows = Zeroizing::new([Block::ZERO; ROWS * PIECE]);
        self.0.extend(mesh, count, |piece, columns, x| {
            let rows = &mut rows[..columns.len()];
            transpose(cpu, columns, rows);
            each(
                &x[piece.hidden..],
                &rows[piece.hidden * ROWS..][..piece.count],
            );
        })
    }
}

impl Receiver {
    /// As [`CotReceiver::extend`]; where rows are `marked`, bit 0 of each is its choice instead.
    fn rows(
        &mut self,
        mesh: &mut Mesh,
        choices: &mut [Block],
        t: &mut [Block],
        marked: bool,
    ) -> Result<()> {
        let blocks = t.len().div_ceil(PACKED);
        assert_eq!(choices.len(), blocks, "a block of choices for 128 OTs");
        let cpu = self.0.cpu;
        let mut rows = Zeroizing::new([Block::ZERO; ROWS * PIECE]);
        self.0.extend(mesh, t.len(), |piece, columns, x| {
            if marked {
                // Column 0 has bits 0 of all rows, and nothing reads it again.
                columns[..piece.width].copy_from_slice(x);
            }
            let x = &x[piece.hidden..];
            choices[piece.first / PACKED..][..x.len()].copy_from_slice(x);
            let t = &mut t[piece.first..][..piece.count];
            rows_of(cpu, piece, columns, &mut rows[..], t);
        })?;
        clear_rest(choices, t.len());
        Ok(())
    }

    /// As [`CotReceiver::extend`], but bit 0 of each row is its choice.
    ///
    /// # Errors
    /// As [`CotReceiver::extend`].
    pub(crate) fn extend_marked(
        &mut self,
        mesh: &mut Mesh,
        choices: &mut [Block],
        t: &mut [Block],
    ) -> Result<()> {
        self.rows(mesh, choices, t, true)
    }
}

impl CotReceiver for Receiver {
    fn terms(&self) -> CotTerms {
        CotTerms::new(self.0.peer, self.0.parameters.security).one_way()
    }

    /// Writes one message, the corrections and the answer to the check, and reads none.
    fn extend(&mut self, mesh: &mut Mesh, choices: &mut [Block], t: &mut [Block]) -> Result<()> {
        self.rows(mesh, choices, t, false)
    }
}

impl ZeroizeOnDrop for Receiver {}

/// A receiver of an extension that has written its message of the base OTs.
pub(super) struct VoleSetup {
    /// The party, which has no trees yet.
    vole: VoleReceiver,
    base: base::BaseSender,
}

/// The party that knows all leaves.
pub(super) struct VoleReceiver {
    pub(super) parameters: Subspace,
    pub(super) cpu: Cpu,
    pub(super) peer: PartyId,
    /// Leaves of each tree; they erase themselves.
    pub(super) trees: Vec<Leaves>,
}

impl VoleReceiver {
    /// See [`Receiver::set_up`].
    pub(super) fn set_up(
        parameters: Subspace,
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        coins: &mut Coins,
    ) -> Result<VoleSetup> {
        let roles = Roles::new(mesh.session(), mesh.me(), peer);
        let base = base::BaseSender::new(roles, parameters.columns, coins);
        mesh.send(peer, base.message())?;
        let vole = VoleReceiver {
            parameters,
            cpu,
            peer,
            trees: Vec::new(),
        };
        Ok(VoleSetup { vole, base })
    }
}

impl VoleSetup {
    /// See [`ReceiverSetup::finish`].
    pub(super) fn finish(self, mesh: &mut Mesh) -> Result<VoleReceiver> {
        let VoleSetup { mut vole, mut base } = self;
        let (parameters, peer) = (vole.parameters, vole.peer);
        let mut left = base::receiver_bytes(parameters.columns);
        let mut piece = [0; base::PIECE_BYTES];
        while left > 0 {
            let piece = &mut piece[..left.min(base::PIECE_BYTES)];
            mesh.recv(peer, piece)?;
            base.take(piece);
            left -= piece.len();
        }
        check_digest(mesh, peer)?;
        let keys = base.keys();
        let keys = keys.map_err(|base::MalformedPoint| OtError::BadPoint(peer))?;
        let session = mesh.session();
        let dealt = tree::deal(parameters, &keys, session);
        mesh.send(peer, &dealt.message)?;
        send_digest(mesh, peer)?;
        vole.trees = parameters.generators(vole.cpu, session, &dealt.trees);
        Ok(vole)
    }
}

impl VoleReceiver {
    /// Runs an extension of `count` OTs: writes one message and reads none. Calls `each` with every
    /// piece, its columns `v`, which it may change, and those of the choices.
    pub(super) fn extend(
        &mut self,
        mesh: &mut Mesh,
        count: usize,
        each: impl FnMut(&Piece, &mut [Block], &[Block]),
    ) -> Result<()> {
        let result = self.extend_checked(mesh, count, each);
        if result.is_err() {
            // The other party may be behind these generators.
            self.trees.clear();
        }
        result
    }

    fn extend_checked(
        &mut self,
        mesh: &mut Mesh,
        count: usize,
        mut each: impl FnMut(&Piece, &mut [Block], &[Block]),
    ) -> Result<()> {
        if self.trees.is_empty() {
            return Err(OtError::Ended);
        }
        let Subspace { columns, code, .. } = self.parameters;
        // The last columns are x.
        let all = columns + code.bits;
        let mut buffer = Zeroizing::new(vec![Block::ZERO; all * PIECE]);
        let mut totals = Zeroizing::new(vec![Block::ZERO; self.trees.len() * PIECE]);
        let mut hash = ColumnHash::new(self.cpu, all);
        for piece in self.parameters.pieces(count) {
            let buffer = &mut buffer[..all * piece.width];
            let totals = &mut totals[..self.trees.len() * piece.width];
            self.columns(mesh, totals, buffer)?;
            if self.parameters.malicious() {
                hash.update(challenge(&mesh.digest_sent(self.peer)), buffer);
            }
            let (columns, x) = buffer.split_at_mut(columns * piece.width);
            each(&piece, columns, x);
        }
        if self.parameters.malicious() && count > 0 {
            send_digest(mesh, self.peer)?;
            let digest = mesh.digest_sent(self.peer);
            let (values, x) = hash.values().split_at(columns);
            mesh.send(self.peer, Block::as_bytes(x))?;
            mesh.send(self.peer, &check_hash(&digest, values))?;
        }
        Ok(())
    }

    /// Makes the columns of a piece, the last of which are `x`, and writes the corrections where
    /// they are sent from. `totals` is scratch, as many blocks for each tree.
    fn columns(
        &mut self,
        mesh: &mut Mesh,
        totals: &mut [Block],
        columns: &mut [Block],
    ) -> Result<()> {
        let code = self.parameters.code;
        let digested = self.parameters.digested(self.cpu);
        let width = totals.len() / self.trees.len();
        let (columns, x) = columns.split_at_mut(self.parameters.columns * width);
        leaves::sums(&mut self.trees, Some(totals), columns);
        let (free, totals) = totals.split_at_mut(code.bits * width);
        x.copy_from_slice(free);
        // The last symbols of the word so far.
        let recent = free;
        let (mut left, mut number) = (&*totals, code.bits..);
        while !left.is_empty() {
            // Frames are filled, whose digest is fastest then.
            let room = mesh.send_buffer(self.peer, width * size_of::<Block>())?;
            let whole = left
                .len()
                .min(room.len() / size_of::<Block>() / width * width);
            let (written, _) = room.as_chunks_mut();
            let (totals, later) = left.split_at(whole);
            let trees = totals.chunks_exact(width);
            let trees = trees.zip(written.chunks_exact_mut(width));
            for ((totals, written), i) in trees.zip(&mut number) {
                code.step(i, recent);
                let symbol = &recent[i % code.bits * width..][..width];
                for ((d, &u), &c) in written.iter_mut().zip(totals).zip(symbol) {
                    *d = (u ^ c).to_bytes();
                }
            }
            digested.mark_written(mesh, self.peer, size_of_val(totals))?;
            left = later;
        }
        Ok(())
    }
}

impl ZeroizeOnDrop for VoleReceiver {}
