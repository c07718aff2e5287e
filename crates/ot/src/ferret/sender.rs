//! The sender, which has the offset.

use sealane_block::silent::matrix::LocalMatrix;
use sealane_block::silent::trees::{Row, TREES, TreeHash};
use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::check::{self, Binding};
use super::params::Params;
use super::run::{Part, Run};
use crate::traits::CotSender;
use crate::{OtError, Role};

/// Sender of random correlated OTs, ready for use. A set-up makes one.
pub struct FerretSender(Run<SenderPart>);

impl FerretSender {
    /// Runs the set-up, on [`Params::from_source`] OTs of `source`: contributions to keys cross,
    /// and a small first iteration makes what the main ones need.
    ///
    /// # Errors
    /// The network failed, or the source found that the receiver deviates.
    ///
    /// # Panics
    /// If bit 0 of the offset of `source` is 0. The OTs of all iterations have their choice in that
    /// bit, so 127 bits of the offset are secret, as with the offset of a garbler.
    pub fn set_up<S: CotSender>(
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        params: Params,
        source: &mut S,
        coins: &mut Coins,
    ) -> Result<FerretSender, OtError> {
        let delta = source.delta();
        assert!(delta.lsb() == 1, "bit 0 of the offset is 1");
        let part = SenderPart::new(cpu, delta, coins);
        let from_source = |mesh: &mut Mesh, kept: &mut [Block]| {
            source.extend(mesh, kept)?;
            for block in kept {
                *block = SenderPart::pack(*block, 0);
            }
            Ok(())
        };
        Ok(FerretSender(Run::set_up(
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

impl CotSender for FerretSender {
    fn peer(&self) -> PartyId {
        self.0.peer
    }

    fn delta(&self) -> Block {
        assert_eq!(
            self.0.part.delta.lsb(),
            1,
            "no offset is left after a failure"
        );
        self.0.part.delta
    }

    fn extend(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<(), OtError> {
        self.0.fill(mesh, q, &mut [])
    }
}

impl ZeroizeOnDrop for FerretSender {}

pub(super) struct SenderPart {
    delta: Block,
    roots: Prg,
}

impl SenderPart {
    pub(super) fn new(cpu: Cpu, delta: Block, coins: &mut Coins) -> SenderPart {
        let roots = coins.secret("ot ferret: roots of trees").prg(cpu);
        SenderPart { delta, roots }
    }
}

impl Zeroize for SenderPart {
    fn zeroize(&mut self) {
        self.delta.zeroize();
    }
}

impl Part for SenderPart {
    const ROLE: Role = Role::Sender;
    const CHOICES: bool = false;

    /// Half-tree, Figure 4: the nodes of level 1 are a random block and the same plus `delta`, and
    /// message `i` is the sum of the left nodes of level `i`, masked by a correlation.
    fn trees(
        &mut self,
        mesh: &mut Mesh,
        peer: PartyId,
        hash: &TreeHash,
        levels: &[Block],
        rows: &mut [Block],
    ) -> Result<(), OtError> {
        let mut sums: Zeroizing<Row> = Zeroizing::default();
        self.roots.fill(&mut sums[..]);
        for tree in 0..TREES {
            rows[tree] = sums[tree];
            rows[TREES + tree] = sums[tree] ^ self.delta;
        }
        let (levels, _) = levels.as_chunks::<TREES>();
        for (level, masks) in levels.iter().enumerate() {
            if level > 0 {
                *sums = hash.expand(&mut rows[..(2 * TREES) << level]);
            }
            let mut message = [Block::ZERO; TREES];
            for tree in 0..TREES {
                message[tree] = sums[tree] ^ masks[tree];
            }
            mesh.send(peer, Block::as_bytes(&message))?;
        }
        Ok(())
    }

    fn encode(
        matrix: &LocalMatrix,
        secret: &[Block],
        first: u64,
        leaves: &[Block],
        rows: &mut [Block],
        _: &mut [Block],
    ) {
        matrix.encode(secret, first, leaves, rows);
    }

    fn check(
        &mut self,
        mesh: &mut Mesh,
        binding: Binding,
        rows: &[Block],
        _: &[Block],
        masks: &[Block],
    ) -> Result<(), OtError> {
        check::prove(mesh, binding, self.delta, rows, masks)
    }

    fn pack(row: Block, _: u8) -> Block {
        row & Block::new(!1)
    }
}
