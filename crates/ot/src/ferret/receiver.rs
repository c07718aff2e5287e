//! The receiver, which has choices.

use sealane_block::silent::trees::{Paths, Row, TREES};
use sealane_block::{Block, Coins, Cpu, Prg, PublicStream};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::check::{self, Binding};
use super::params::Params;
use super::places::Places;
use super::run::{Batch, Code, Link, Outcome, Part, Rows, RunningExtension, Setting, Turn};
use crate::traits::{CotReceiver, CotTerms, choice, packed_blocks};
use crate::{Result, Role};

/// Receiver of random correlated OTs, ready for use. A set-up makes one.
pub struct FerretReceiver(pub(super) RunningExtension<ReceiverPart>);

impl FerretReceiver {
    /// Runs the set-up, on [`Params::from_source`] OTs of `source`; see
    /// [`FerretSender::set_up`](super::FerretSender::set_up).
    ///
    /// # Errors
    /// The network failed, or the sender deviated from the protocol and was caught.
    ///
    /// # Panics
    /// If `params` are malicious and `source` is semi-honest.
    pub fn set_up<S: CotReceiver>(
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        params: Params,
        source: &mut S,
        coins: &mut Coins,
    ) -> Result<FerretReceiver> {
        let part = ReceiverPart::new(cpu, &params, coins);
        let setting = Setting::new(cpu, params, Link { mesh, peer }, coins);
        Ok(FerretReceiver(extend_as(setting, part, source)?))
    }
}

/// Runs the set-up with this party's part.
pub(super) fn extend_as<P: Part, S: CotReceiver>(
    setting: Setting<'_>,
    part: P,
    source: &mut S,
) -> Result<RunningExtension<P>> {
    setting.params.check_source(source.terms().security);
    RunningExtension::set_up(setting, part, |mesh, kept| {
        packed::<P, S>(source, mesh, kept)
    })
}

/// Takes packed correlations of a source.
pub(super) fn packed<P: Part, S: CotReceiver>(
    source: &mut S,
    mesh: &mut Mesh,
    kept: &mut [Block],
) -> Outcome {
    let mut choices = Zeroizing::new(vec![Block::ZERO; packed_blocks(kept.len())]);
    source.extend(mesh, &mut choices, kept)?;
    for (i, block) in kept.iter_mut().enumerate() {
        *block = P::pack(*block, choice(&choices, i));
    }
    Ok(())
}

impl CotReceiver for FerretReceiver {
    fn terms(&self) -> CotTerms {
        CotTerms::new(self.0.peer, self.0.security)
    }

    fn extend(&mut self, mesh: &mut Mesh, choices: &mut [Block], t: &mut [Block]) -> Result<()> {
        let blocks = packed_blocks(t.len());
        assert_eq!(choices.len(), blocks, "128 choices a block");
        self.0.fill(mesh, t, choices)
    }
}

impl ZeroizeOnDrop for FerretReceiver {}

/// Paths of trees, and the generators of points of checks and of places of errors.
pub(super) struct ReceiverPart {
    paths: Paths,
    points: PublicStream,
    /// The latest of them.
    point: Block,
    errors: Prg,
}

impl ReceiverPart {
    pub(super) fn new(cpu: Cpu, params: &Params, coins: &mut Coins) -> ReceiverPart {
        ReceiverPart {
            paths: Paths::new(params.depth()),
            points: coins.public("ot ferret: points of checks"),
            point: Block::ZERO,
            errors: coins.secret("ot ferret: places of errors").prg(cpu),
        }
    }
}

/// Paths and generators erase themselves.
impl ZeroizeOnDrop for ReceiverPart {}

impl Part for ReceiverPart {
    const ROLE: Role = Role::Receiver;
    const CHOICES: bool = true;

    /// The path of a tree turns away from the choices of its correlations, so each of them becomes
    /// the other side than that of the error, and the sender is told which ones were turned: a
    /// random bit that it does not know hides each.
    fn place(&mut self, link: &mut Link<'_>, places: &Places, levels: &mut [Block]) -> Outcome {
        let chosen = places.choose(&mut self.errors, levels);
        let mut turned = Zeroizing::new(vec![Block::ZERO; packed_blocks(levels.len())]);
        let depth = levels.len() / chosen.len();
        for (i, level) in levels.iter_mut().enumerate() {
            let (batch, within) = (i / (TREES * depth), i % (TREES * depth));
            let leaf = chosen[batch * TREES + within % TREES];
            let right = leaf >> (depth - 1 - within / TREES) & 1;
            let turn = Block::new(u128::from(u32::from(level.lsb()) ^ right ^ 1));
            *level ^= turn;
            turned[i / 128] ^= Block::new(turn.value() << (i % 128));
        }
        link.send(&turned)
    }

    /// Half-tree, Figure 4. The path of a tree turns away from the choices of its correlations, so
    /// that message `i`, less its mask, is the sum of the nodes of level `i` on the side of the
    /// node beside the path.
    ///
    /// In place of the node on the path stands that node plus `delta`. So the nodes of a level add
    /// up to zero, on either side to the same sum, and both children of the node on the path lack
    /// the same correction: what the message says, plus the sum without it.
    fn trees(&mut self, link: &mut Link<'_>, batch: Batch<'_>, leaves: &mut [Block]) -> Outcome {
        let (levels, _) = batch.levels.as_chunks::<TREES>();
        let mut correction: Zeroizing<Row> = Zeroizing::default();
        let mut right: Zeroizing<Row> = Zeroizing::default();
        self.paths.restart();
        for (level, masks) in levels.iter().enumerate() {
            let nodes = &mut leaves[..(2 * TREES) << level];
            // Level 1 has no parents with children of their own, and level 2 no correction yet.
            let sums = match level {
                0 => [Block::ZERO; TREES],
                1 => batch.hash.expand(nodes),
                _ => (batch.hash).expand_corrected(nodes, &mut self.paths, &correction),
            };
            if level > 0 {
                self.paths.descend(&right);
            }
            let mut message = [Block::ZERO; TREES];
            link.receive(&mut message)?;
            for tree in 0..TREES {
                correction[tree] = sums[tree] ^ message[tree] ^ masks[tree];
                right[tree] = Block::mask(masks[tree].lsb() ^ 1);
            }
            if level == 0 {
                leaves[..TREES].copy_from_slice(&correction[..]);
                leaves[TREES..2 * TREES].copy_from_slice(&correction[..]);
            }
        }
        debug_assert!(levels.len() > 1);
        (batch.hash).finish(leaves, &mut self.paths, &correction, &right);
        Ok(())
    }

    fn encode(code: &Code<'_>, first: usize, leaves: &[Block], rows: Rows<'_>) {
        let Rows { blocks, choices } = rows;
        (code.matrix).encode_with_bits(code.secret, first as u64, leaves, blocks, choices);
    }

    fn check(
        &mut self,
        link: &mut Link<'_>,
        turn: Turn,
        name: &Binding<'_>,
        rows: Rows<'_>,
    ) -> Outcome {
        match turn {
            Turn::Ask => {
                self.point = self.points.block();
                check::ask(link, name, self.point, rows.choices)
            }
            Turn::Prove => Ok(()),
            Turn::Compare => check::compare(link, name, self.point, rows.blocks),
        }
    }

    fn pack(row: Block, choice: u8) -> Block {
        row ^ Block::new(u128::from((row.lsb() ^ choice) & 1))
    }
}
