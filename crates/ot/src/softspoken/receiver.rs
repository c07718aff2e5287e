//! The receiver, which holds choices.

use super::{COLUMNS, PIECE, SoftSpoken, challenge, check_hash, generators, pieces, tree};
use crate::base::{self, Roles};
use crate::traits::{CotReceiver, PACKED, clear_rest};
use crate::transcript::{check_digest, send_digest};
use crate::{OtError, Security};
use sealane_block::{Block, Coins, ColumnHash, Cpu, Leaves};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// A receiver that has written its message of the base OTs.
pub struct ReceiverSetup {
    parameters: SoftSpoken,
    cpu: Cpu,
    peer: PartyId,
    base: base::Sender,
}

/// Receiver of correlated OTs; see the [module](super).
pub struct Receiver {
    pub(super) parameters: SoftSpoken,
    pub(super) cpu: Cpu,
    pub(super) peer: PartyId,
    /// Leaves of each tree; they erase themselves.
    pub(super) trees: Vec<Leaves>,
}

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
    ) -> Result<ReceiverSetup, OtError> {
        let roles = Roles {
            session: mesh.session(),
            sender: mesh.me(),
            receiver: peer,
        };
        let base = base::Sender::new(roles, coins);
        mesh.send(peer, base.message())?;
        Ok(ReceiverSetup {
            parameters,
            cpu,
            peer,
            base,
        })
    }
}

impl ReceiverSetup {
    /// Ends the set-up: reads the message of the sender and writes that of the trees, not flushed.
    ///
    /// # Errors
    /// [`OtError::BadPoint`] if the message is none of an honest sender, [`OtError::Altered`] if it
    /// is not what it sent; else the network failed.
    pub fn finish(self, mesh: &mut Mesh) -> Result<Receiver, OtError> {
        let ReceiverSetup {
            parameters,
            cpu,
            peer,
            base,
        } = self;
        let mut message = [0; base::RECEIVER_BYTES];
        mesh.recv(peer, &mut message)?;
        check_digest(mesh, peer)?;
        let keys = base
            .keys(&message)
            .map_err(|base::MalformedPoint| OtError::BadPoint(peer))?;
        let session = mesh.session();
        let dealt = tree::deal(parameters, &keys, session);
        mesh.send(peer, &dealt.message)?;
        send_digest(mesh, peer)?;
        Ok(Receiver {
            parameters,
            cpu,
            peer,
            trees: generators(parameters, cpu, session, &dealt.trees),
        })
    }
}

impl CotReceiver for Receiver {
    fn peer(&self) -> PartyId {
        self.peer
    }

    fn security(&self) -> Security {
        self.parameters.security
    }

    /// Writes one message, the corrections and the answer to the check, and reads none.
    fn extend(
        &mut self,
        mesh: &mut Mesh,
        choices: &mut [Block],
        t: &mut [Block],
    ) -> Result<(), OtError> {
        assert_eq!(
            choices.len(),
            t.len().div_ceil(PACKED),
            "a block of choices for 128 OTs"
        );
        let result = self.extend_checked(mesh, choices, t);
        if result.is_err() {
            // Some generators are ahead of others.
            self.trees.clear();
        }
        result
    }
}

impl Receiver {
    fn extend_checked(
        &mut self,
        mesh: &mut Mesh,
        choices: &mut [Block],
        t: &mut [Block],
    ) -> Result<(), OtError> {
        if self.trees.is_empty() {
            return Err(OtError::Ended);
        }
        // The last column is x.
        let mut columns = Zeroizing::new([Block::ZERO; (COLUMNS + 1) * PIECE]);
        let mut rows = Zeroizing::new([Block::ZERO; COLUMNS * PIECE]);
        let mut hash = ColumnHash::new(self.cpu, COLUMNS + 1);
        for piece in pieces(self.parameters, t.len()) {
            let columns = &mut columns[..(COLUMNS + 1) * piece.width];
            self.columns(mesh, piece.width, columns)?;
            if self.parameters.malicious() {
                hash.update(challenge(&mesh.digest_sent(self.peer)), columns);
            }
            let (columns, x) = columns.split_at(COLUMNS * piece.width);
            let x = &x[piece.hidden..];
            choices[piece.first / PACKED..][..x.len()].copy_from_slice(x);
            let t = &mut t[piece.first..][..piece.count];
            super::to_rows(self.cpu, &piece, columns, &mut rows[..], t);
        }
        clear_rest(choices, t.len());
        if self.parameters.malicious() && !t.is_empty() {
            send_digest(mesh, self.peer)?;
            let digest = mesh.digest_sent(self.peer);
            let (values, x) = hash.values().split_at(COLUMNS);
            mesh.send(self.peer, &x[0].to_bytes())?;
            mesh.send(self.peer, &check_hash(&digest, values))?;
        }
        Ok(())
    }

    /// Makes the columns of a piece, the last of which is `x`, and writes the corrections.
    fn columns(
        &mut self,
        mesh: &mut Mesh,
        width: usize,
        columns: &mut [Block],
    ) -> Result<(), OtError> {
        let (columns, x) = columns.split_at_mut(COLUMNS * width);
        let mut total = Zeroizing::new([Block::ZERO; PIECE]);
        for (range, leaves) in self.parameters.columns().zip(&mut self.trees) {
            let first = range.start == 0;
            let by_bit = &mut columns[range.start * width..range.end * width];
            if first {
                leaves.sums(x, by_bit);
                continue;
            }
            let correction = &mut total[..width];
            leaves.sums(correction, by_bit);
            for (d, &x) in correction.iter_mut().zip(&*x) {
                *d ^= x;
            }
            mesh.send(self.peer, Block::as_bytes(correction))?;
        }
        Ok(())
    }
}

impl ZeroizeOnDrop for Receiver {}
