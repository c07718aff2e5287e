//! The sender, which holds the offset.

use super::{COLUMNS, PIECE, SoftSpoken, challenge, check_hash, generators, pieces, tree};
use crate::base::{self, Roles};
use crate::traits::CotSender;
use crate::transcript::{check_digest, check_equal, send_digest};
use crate::{OtError, Security};
use sealane_block::{Block, Coins, ColumnHash, Cpu, Leaves};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A sender that has written its message of the base OTs.
pub struct SenderSetup {
    parameters: SoftSpoken,
    cpu: Cpu,
    peer: PartyId,
    delta: Zeroizing<Block>,
    base: base::Receiver,
}

/// Sender of correlated OTs; see the [module](super).
pub struct Sender {
    pub(super) parameters: SoftSpoken,
    pub(super) cpu: Cpu,
    pub(super) peer: PartyId,
    pub(super) delta: Block,
    /// Leaves of each tree; they erase themselves. None are left after a failure.
    pub(super) trees: Vec<Leaves>,
}

impl Sender {
    /// Begins the set-up: writes one message, not flushed, and waits for nothing. All 128 bits of
    /// `delta` are used as they are.
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
    ) -> Result<SenderSetup, OtError> {
        let roles = Roles {
            session: mesh.session(),
            sender: peer,
            receiver: mesh.me(),
        };
        let base = base::Receiver::new(roles, delta, coins);
        mesh.send(peer, base.message())?;
        send_digest(mesh, peer)?;
        Ok(SenderSetup {
            parameters,
            cpu,
            peer,
            delta: Zeroizing::new(delta),
            base,
        })
    }
}

impl SenderSetup {
    /// Ends the set-up: reads the two messages of the receiver.
    ///
    /// # Errors
    /// [`OtError::BadPoint`] or [`OtError::CheckFailed`] if they are none of an honest receiver,
    /// [`OtError::Altered`] if they are not what it sent; else the network failed.
    pub fn finish(self, mesh: &mut Mesh) -> Result<Sender, OtError> {
        let SenderSetup {
            parameters,
            cpu,
            peer,
            delta,
            base,
        } = self;
        let mut message = [0; base::SENDER_BYTES];
        mesh.recv(peer, &mut message)?;
        let keys = base
            .keys(&message)
            .map_err(|base::MalformedPoint| OtError::BadPoint(peer))?;
        let mut message = Zeroizing::new(vec![0; tree::message_bytes(parameters)]);
        mesh.recv(peer, &mut message)?;
        check_digest(mesh, peer)?;
        let session = mesh.session();
        let leaves = tree::choose(parameters, &keys, *delta, session, &message, peer)?;
        Ok(Sender {
            parameters,
            cpu,
            peer,
            delta: *delta,
            trees: generators(parameters, cpu, session, &leaves),
        })
    }
}

impl CotSender for Sender {
    fn peer(&self) -> PartyId {
        self.peer
    }

    fn security(&self) -> Security {
        self.parameters.security
    }

    fn delta(&self) -> Block {
        assert!(!self.trees.is_empty(), "no offset is left after a failure");
        self.delta
    }

    /// Reads one message, the corrections and the answer to the check, and writes none.
    fn extend(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<(), OtError> {
        let result = self.extend_checked(mesh, q);
        if result.is_err() {
            // Generators and offset are useless now, and the offset may have leaked.
            self.trees.clear();
            self.delta.zeroize();
            q.iter_mut().for_each(Zeroize::zeroize);
        }
        result
    }
}

impl Sender {
    fn extend_checked(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<(), OtError> {
        if self.trees.is_empty() {
            return Err(OtError::Ended);
        }
        let mut columns = Zeroizing::new([Block::ZERO; COLUMNS * PIECE]);
        let mut rows = Zeroizing::new([Block::ZERO; COLUMNS * PIECE]);
        let mut hash = ColumnHash::new(self.cpu, COLUMNS);
        for piece in pieces(self.parameters, q.len()) {
            let columns = &mut columns[..COLUMNS * piece.width];
            self.columns(mesh, piece.width, columns)?;
            if self.parameters.malicious() {
                hash.update(challenge(&mesh.digest_received(self.peer)), columns);
            }
            let q = &mut q[piece.first..][..piece.count];
            super::to_rows(self.cpu, &piece, columns, &mut rows[..], q);
        }
        if self.parameters.malicious() && !q.is_empty() {
            self.check(mesh, hash)?;
        }
        Ok(())
    }

    /// Makes the columns of a piece, corrected to the receiver's one `x`.
    fn columns(
        &mut self,
        mesh: &mut Mesh,
        width: usize,
        columns: &mut [Block],
    ) -> Result<(), OtError> {
        let mut total = Zeroizing::new([Block::ZERO; PIECE]);
        for (range, leaves) in self.parameters.columns().zip(&mut self.trees) {
            leaves.sums(
                &mut total[..width],
                &mut columns[range.start * width..range.end * width],
            );
        }
        let mut correction = [Block::ZERO; PIECE];
        let correction = &mut correction[..width];
        for range in self.parameters.columns().skip(1) {
            mesh.recv(self.peer, Block::as_bytes_mut(correction))?;
            for column in range {
                // d_i where bit `column` of the offset is 1: a mask, not a branch.
                let mask = Block::mask((self.delta.value() >> column) as u8);
                let column = &mut columns[column * width..][..width];
                for (block, &d) in column.iter_mut().zip(&*correction) {
                    *block ^= d & mask;
                }
            }
        }
        Ok(())
    }

    /// Reads the receiver's answer and compares it with the hashes of the columns.
    fn check(&mut self, mesh: &mut Mesh, hash: ColumnHash) -> Result<(), OtError> {
        check_digest(mesh, self.peer)?;
        let digest = mesh.digest_received(self.peer);
        let (mut x, mut expected) = ([0; 16], [0; 32]);
        mesh.recv(self.peer, &mut x)?;
        mesh.recv(self.peer, &mut expected)?;
        let x = Block::from_bytes(x);
        let mut values = Zeroizing::new([Block::ZERO; COLUMNS]);
        for (column, (value, &hash)) in values.iter_mut().zip(hash.values()).enumerate() {
            *value = hash ^ x.masked((self.delta.value() >> column) as u8);
        }
        let hash = check_hash(&digest, &values[..]);
        check_equal(&hash, &expected, OtError::CheckFailed(self.peer))
    }
}

/// The generators erase themselves.
impl Drop for Sender {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl ZeroizeOnDrop for Sender {}
