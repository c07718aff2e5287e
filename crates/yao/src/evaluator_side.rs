//! The evaluator: its labels, and the transfers by which it gets those of its bits.

use crate::Labels;
use crate::cost;
use crate::opening::{self, Revealed};
use crate::ots::{Ots, ReceiverOts, no_ots};
use crate::sides::{EvaluatorLabels, Instance, permute};
use sealane_block::Block;
use sealane_garble::{Roles, Scheme};
use sealane_net::Mesh;
use sealane_ot::forms::OffsetRequest;
use sealane_parties::PartyId;
use sealane_party::{Opened, Result, Start};
use zeroize::Zeroizing;

pub(crate) struct EvaluatorSide {
    pub(crate) labels: EvaluatorLabels,
    ot: ReceiverOts,
}

/// Step 3, as far as it goes without the garbler.
pub(crate) enum Choice {
    /// Active labels; the choices have been sent.
    Made(Vec<Block>),
    /// Choices that the garbler answers.
    Sent(OffsetRequest),
}

impl EvaluatorSide {
    /// Runs step 1, the set-up.
    pub(crate) fn set_up(
        start: Start<'_>,
        (scheme, roles): (Scheme, Roles),
        ot: bool,
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<EvaluatorSide> {
        let (cpu, mut coins) = (start.cpu, start.coins);
        let (source, stock) = (cost::source(start.setting), start.stocks.receiver);
        let setup = if ot && stock.is_none() {
            Some(source.receiver(cpu, mesh, peer, &mut coins)?)
        } else {
            None
        };
        mesh.flush()?;
        let instance = Instance {
            cpu,
            session: start.session,
            scheme,
            roles,
            peer,
        };
        let labels = EvaluatorLabels::set_up(instance, mesh)?;
        let ot = match (setup, stock) {
            (Some(setup), _) => ReceiverOts::of(source, setup.finish(mesh, &mut coins)?),
            (None, Some(stock)) if ot => Ots::Stock(stock),
            (None, _) => Ots::None,
        };
        Ok(EvaluatorSide { labels, ot })
    }

    /// Begins step 3: asks for active labels of this party's own bits.
    pub(crate) fn own_input(&mut self, bits: &[u8], mesh: &mut Mesh) -> Result<Choice> {
        match &mut self.ot {
            Ots::None => Err(no_ots()),
            Ots::Extension(ot) => Ok(Choice::Made(self.labels.own_input(bits, ot, mesh)?)),
            Ots::Ahead(ot) => Ok(Choice::Made(self.labels.own_input(bits, ot, mesh)?)),
            Ots::Stock(stock) => {
                // Erased if the connection breaks half way.
                let mut labels = Zeroizing::new(vec![Block::ZERO; bits.len()]);
                let mut random = Zeroizing::new(vec![0; bits.len()]);
                stock.keys(&mut random, &mut labels)?;
                let peer = self.labels.peer();
                let request = OffsetRequest::new(bits, &random, labels, mesh, peer);
                Ok(Choice::Sent(request?))
            }
        }
    }

    /// Makes `count` OTs ahead.
    pub(crate) fn refill(&mut self, count: usize, mesh: &mut Mesh) -> Result<()> {
        match &mut self.ot {
            Ots::Ahead(ot) => Ok(ot.refill(mesh, count)?),
            _ => Err(no_ots()),
        }
    }

    /// Sends this party's messages of step 6: hashes of the active labels of each result, to all
    /// others that learn it. Returns the number of each decoding, for [`EvaluatorSide::learn`].
    pub(crate) fn open(&mut self, results: &[Opened<Labels>], mesh: &mut Mesh) -> Result<Vec<u64>> {
        let calls: Vec<_> = results.iter().map(|_| self.labels.hashing()).collect();
        let hash = |part, active: &_, hashes: &mut _| {
            self.labels.hashes(part, active, hashes);
        };
        opening::send::<1>(results, &calls, mesh, hash)?;
        Ok(calls)
    }

    /// Reads the garbler's messages of step 6: returns the results that the evaluator learns.
    pub(crate) fn learn(
        &self,
        results: &[Opened<Labels>],
        calls: &[u64],
        mesh: &mut Mesh,
    ) -> Result<Revealed> {
        opening::learn(results, mesh, |mesh, (result, piece), table, hashes| {
            let (call, active) = (calls[result], results[result].share.data());
            mesh.recv(
                self.labels.peer(),
                Block::as_bytes_mut(table.as_flattened_mut()),
            )?;
            let part = (call, piece.start);
            self.labels.hashes(part, &active[piece], hashes);
            Ok(())
        })
    }
}

/// Ends step 3 with OTs of a pool: returns active labels.
pub(crate) fn answered(request: OffsetRequest, mesh: &mut Mesh) -> Result<Vec<Block>> {
    let (bits, mut labels) = request.finish(mesh)?;
    permute(&mut labels, &bits);
    Ok(std::mem::take(&mut *labels))
}
