//! The sender, which has the offset.

use sealane_block::silent::trees::{Row, TREES};
use sealane_block::{Block, Coins, Cpu, Prg};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::check::{self, Binding};
use super::params::Params;
use super::places::Places;
use super::run::{Batch, Code, Link, Outcome, Part, Rows, RunningExtension, Setting, Turn};
use crate::traits::{CotSender, CotTerms, choice, packed_blocks};
use crate::{Result, Role};

/// Sender of random correlated OTs, ready for use. A set-up makes one.
pub struct FerretSender(pub(super) RunningExtension<SenderPart>);

impl FerretSender {
    /// Runs the set-up, on [`Params::from_source`] OTs of `source`: contributions to keys cross,
    /// and a small first iteration makes what the main ones need.
    ///
    /// # Errors
    /// The network failed, or the source found that the receiver deviates.
    ///
    /// # Panics
    /// If `params` are malicious and `source` is semi-honest; or if bit 0 of the offset of `source`
    /// is 0. The OTs of all iterations have their choice in that bit, so 127 bits of the offset are
    /// secret, as with the offset of a garbler.
    pub fn set_up<S: CotSender>(
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        params: Params,
        source: &mut S,
        coins: &mut Coins,
    ) -> Result<FerretSender> {
        let part = SenderPart::new(cpu, source.delta(), coins);
        let setting = Setting::new(cpu, params, Link { mesh, peer }, coins);
        Ok(FerretSender(extend_as(setting, part, source)?))
    }
}

/// Runs the set-up with this party's part.
pub(super) fn extend_as<P: Part, S: CotSender>(
    setting: Setting<'_>,
    part: P,
    source: &mut S,
) -> Result<RunningExtension<P>> {
    check_source(&setting.params, source);
    RunningExtension::set_up(setting, part, |mesh, kept| {
        packed::<P, S>(source, mesh, kept)
    })
}

/// # Panics
/// If a source does not do, or has an offset that does not.
fn check_source(params: &Params, source: &impl CotSender) {
    params.check_source(source.terms().security);
    assert!(source.delta().lsb() == 1, "bit 0 of the offset is 1");
}

/// This party's part on a source.
///
/// # Panics
/// As [`FerretSender::set_up`].
pub(super) fn part(
    cpu: Cpu,
    params: &Params,
    source: &impl CotSender,
    coins: &mut Coins,
) -> SenderPart {
    check_source(params, source);
    SenderPart::new(cpu, source.delta(), coins)
}

/// Takes packed correlations of a source.
pub(super) fn packed<P: Part, S: CotSender>(
    source: &mut S,
    mesh: &mut Mesh,
    kept: &mut [Block],
) -> Outcome {
    source.extend(mesh, kept)?;
    for block in kept {
        *block = P::pack(*block, 0);
    }
    Ok(())
}

impl CotSender for FerretSender {
    fn terms(&self) -> CotTerms {
        CotTerms::new(self.0.peer, self.0.security)
    }

    fn delta(&self) -> Block {
        let state = self.0.state();
        state.expect("no offset is left after a failure").part.delta
    }

    fn extend(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<()> {
        self.0.fill(mesh, q, &mut [])
    }
}

impl ZeroizeOnDrop for FerretSender {}

/// The offset, and the generator of the roots of trees.
#[derive(ZeroizeOnDrop)]
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

impl Part for SenderPart {
    const ROLE: Role = Role::Sender;
    const CHOICES: bool = false;

    /// A correlation whose choice the receiver turns becomes `q + delta`, with bit 0 left at 0.
    fn place(&mut self, link: &mut Link<'_>, _: &Places, levels: &mut [Block]) -> Outcome {
        let mut turned = vec![Block::ZERO; packed_blocks(levels.len())];
        link.receive(&mut turned)?;
        for (i, level) in levels.iter_mut().enumerate() {
            *level = SenderPart::pack(*level ^ self.delta.masked(choice(&turned, i)), 0);
        }
        Ok(())
    }

    /// Half-tree, Figure 4: the nodes of level 1 are a random block and the same plus `delta`, and
    /// message `i` is the sum of the left nodes of level `i`, masked by a correlation.
    fn trees(&mut self, link: &mut Link<'_>, batch: Batch<'_>, leaves: &mut [Block]) -> Outcome {
        let mut sums: Zeroizing<Row> = Zeroizing::default();
        self.roots.fill(&mut sums[..]);
        for tree in 0..TREES {
            leaves[tree] = sums[tree];
            leaves[TREES + tree] = sums[tree] ^ self.delta;
        }
        let (levels, _) = batch.levels.as_chunks::<TREES>();
        for (level, masks) in levels.iter().enumerate() {
            if level > 0 {
                *sums = batch.hash.expand(&mut leaves[..(2 * TREES) << level]);
            }
            let mut message = [Block::ZERO; TREES];
            for tree in 0..TREES {
                message[tree] = sums[tree] ^ masks[tree];
            }
            link.send(&message)?;
        }
        Ok(())
    }

    fn encode(code: &Code<'_>, first: usize, leaves: &[Block], rows: Rows<'_>) {
        let matrix = &code.matrix;
        matrix.encode(code.secret, first as u64, leaves, rows.blocks);
    }

    fn check(
        &mut self,
        link: &mut Link<'_>,
        turn: Turn,
        name: &Binding<'_>,
        rows: Rows<'_>,
    ) -> Outcome {
        match turn {
            Turn::Prove => check::prove(link, name, self.delta, rows.blocks),
            Turn::Ask | Turn::Compare => Ok(()),
        }
    }

    fn pack(row: Block, _: u8) -> Block {
        row & Block::new(!1)
    }
}
