//! The receiver, which has choices.

use sealane_block::silent::matrix::LocalMatrix;
use sealane_block::silent::trees::{Paths, Row, TREES, TreeHash};
use sealane_block::{Block, Coins, Cpu, PublicStream};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::check::{self, Binding};
use super::params::Params;
use super::run::{Part, Run};
use crate::traits::{CotReceiver, PACKED};
use crate::{OtError, Role};

/// Receiver of random correlated OTs, ready for use. A set-up makes one.
pub struct FerretReceiver(Run<ReceiverPart>);

impl FerretReceiver {
    /// Runs the set-up, on [`Params::from_source`] OTs of `source`; see
    /// [`FerretSender::set_up`](super::FerretSender::set_up).
    ///
    /// # Errors
    /// The network failed, or the sender deviated from the protocol and was caught.
    pub fn set_up<S: CotReceiver>(
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        params: Params,
        source: &mut S,
        coins: &mut Coins,
    ) -> Result<FerretReceiver, OtError> {
        let depth = params.first.depth().max(params.main.depth());
        let part = ReceiverPart {
            paths: Paths::new(depth),
            depth,
            points: coins.public("ot ferret: points of checks"),
        };
        let from_source = |mesh: &mut Mesh, kept: &mut [Block]| {
            let blocks = kept.len().div_ceil(PACKED);
            let mut choices = Zeroizing::new(vec![Block::ZERO; blocks]);
            source.extend(mesh, &mut choices, kept)?;
            for (blocks, choices) in kept.chunks_mut(PACKED).zip(choices.iter()) {
                for (i, block) in blocks.iter_mut().enumerate() {
                    *block = ReceiverPart::pack(*block, (choices.value() >> i) as u8);
                }
            }
            Ok(())
        };
        Ok(FerretReceiver(Run::set_up(
            cpu,
            mesh,
            peer,
            params,
            part,
            coins,
            from_source,
        )?))
    }
}

impl CotReceiver for FerretReceiver {
    fn peer(&self) -> PartyId {
        self.0.peer
    }

    fn extend(
        &mut self,
        mesh: &mut Mesh,
        choices: &mut [Block],
        t: &mut [Block],
    ) -> Result<(), OtError> {
        let blocks = t.len().div_ceil(PACKED);
        assert_eq!(choices.len(), blocks, "128 choices a block");
        self.0.fill(mesh, t, choices)
    }
}

impl ZeroizeOnDrop for FerretReceiver {}

struct ReceiverPart {
    paths: Paths,
    depth: usize,
    points: PublicStream,
}

impl Zeroize for ReceiverPart {
    /// Paths erase themselves when they are replaced.
    fn zeroize(&mut self) {
        self.paths = Paths::new(self.depth);
    }
}

impl Part for ReceiverPart {
    const ROLE: Role = Role::Receiver;
    const CHOICES: bool = true;

    /// Half-tree, Figure 4. The path of a tree turns away from the choices of its correlations, so
    /// that message `i`, less its mask, is the sum of the nodes of level `i` on the side of the
    /// node beside the path.
    ///
    /// In place of the node on the path stands that node plus `delta`. So the nodes of a level add
    /// up to zero, on either side to the same sum, and both children of the node on the path lack
    /// the same correction: what the message says, plus the sum without it.
    fn trees(
        &mut self,
        mesh: &mut Mesh,
        peer: PartyId,
        hash: &TreeHash,
        levels: &[Block],
        rows: &mut [Block],
    ) -> Result<(), OtError> {
        let (levels, _) = levels.as_chunks::<TREES>();
        let last = levels.len() - 1;
        let mut correction: Zeroizing<Row> = Zeroizing::default();
        let mut right: Zeroizing<Row> = Zeroizing::default();
        self.paths.restart();
        for (level, masks) in levels.iter().enumerate() {
            // Level 1 has no parents with children of their own, and level 2 no correction yet.
            let sums = match level {
                0 => [Block::ZERO; TREES],
                1 => hash.expand(&mut rows[..4 * TREES]),
                _ => hash.expand_corrected(
                    &mut rows[..(2 * TREES) << level],
                    &mut self.paths,
                    &correction,
                ),
            };
            if level > 0 {
                self.paths.descend(&right);
            }
            let mut message = [Block::ZERO; TREES];
            mesh.recv(peer, Block::as_bytes_mut(&mut message))?;
            for tree in 0..TREES {
                correction[tree] = sums[tree] ^ message[tree] ^ masks[tree];
                right[tree] = Block::mask(masks[tree].lsb() ^ 1);
            }
            if level == 0 {
                rows[..TREES].copy_from_slice(&correction[..]);
                rows[TREES..2 * TREES].copy_from_slice(&correction[..]);
            }
        }
        debug_assert!(last > 0);
        hash.finish(rows, &mut self.paths, &correction, &right);
        Ok(())
    }

    fn encode(
        matrix: &LocalMatrix,
        secret: &[Block],
        first: u64,
        leaves: &[Block],
        rows: &mut [Block],
        choices: &mut [Block],
    ) {
        matrix.encode_with_bits(secret, first, leaves, rows, choices);
    }

    fn check(
        &mut self,
        mesh: &mut Mesh,
        binding: Binding,
        rows: &[Block],
        choices: &[Block],
        masks: &[Block],
    ) -> Result<(), OtError> {
        let bits = masks
            .iter()
            .rev()
            .fold(0, |bits, mask| bits << 1 | u128::from(mask.lsb()));
        let bits = Zeroizing::new(bits);
        let point = self.points.block();
        let masks = (masks, Block::new(*bits));
        check::verify(mesh, binding, point, (rows, choices), masks)
    }

    fn pack(row: Block, choice: u8) -> Block {
        row ^ Block::new(u128::from((row.lsb() ^ choice) & 1))
    }
}
