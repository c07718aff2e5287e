//! The garbler: its labels, and the transfers by which the evaluator gets those of its bits.

use crate::cost;
use crate::opening::{self, Revealed};
use crate::ots::{Ots, SenderOts, no_ots};
use crate::outside::{self, GarblersShares};
use crate::sides::{GarblerLabels, Instance};
use crate::{Labels, unpermuted};
use sealane_block::Block;
use sealane_garble::{Roles, Scheme};
use sealane_net::Mesh;
use sealane_ot::forms;
use sealane_parties::PartyId;
use sealane_party::{Fault, Opened, Result, Start};
use sealane_protocol::Demand;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

pub(crate) struct GarblerSide {
    pub(crate) labels: GarblerLabels,
    ot: SenderOts,
    /// This party's shares of the inputs of each owner without a role.
    shares: BTreeMap<PartyId, GarblersShares>,
}

impl GarblerSide {
    /// Runs step 1, the set-up.
    pub(crate) fn set_up(
        start: Start<'_>,
        (scheme, roles): (Scheme, Roles),
        demand: &Demand,
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<GarblerSide> {
        let (setting, session, cpu) = (start.setting, start.session, start.cpu);
        let mut coins = start.coins;
        let instance = Instance {
            cpu,
            session,
            scheme,
            roles,
            peer,
        };
        let labels = GarblerLabels::set_up(instance, &mut coins, mesh)?;
        let ot = match start.stocks.sender {
            _ if cost::transfers(demand) == 0 => Ots::None,
            Some(stock) => Ots::Stock(stock),
            None => {
                let (source, delta) = (cost::source(setting), labels.delta());
                let setup = source.sender(cpu, mesh, peer, delta, &mut coins)?;
                mesh.flush()?;
                SenderOts::of(source, setup.finish(mesh, &mut coins)?)
            }
        };
        mesh.flush()?;
        let owners = outside::owners(demand);
        Ok(GarblerSide {
            labels,
            ot,
            shares: outside::receive_seeds(&owners, session, cpu, mesh)?,
        })
    }

    /// Runs step 2 for an owner without a role: derives zero labels of this party's shares.
    pub(crate) fn garblers_share(&mut self, owner: PartyId, count: usize) -> Result<Vec<Block>> {
        let shares = self.shares.get_mut(&owner);
        let shares = shares.ok_or_else(|| Fault::Internal(format!("no seed of {owner}")))?;
        let bits = shares.next(count);
        Ok(self.labels.own_input(&bits))
    }

    /// Runs step 3: obtains zero labels of the evaluator's bits.
    pub(crate) fn evaluators_input(&mut self, count: usize, mesh: &mut Mesh) -> Result<Vec<Block>> {
        match &mut self.ot {
            Ots::None => Err(no_ots()),
            Ots::Extension(ot) => self.labels.evaluators_input(count, ot, mesh),
            Ots::Ahead(ot) => self.labels.evaluators_input(count, ot, mesh),
            Ots::Stock(stock) => {
                // Erased if the connection breaks half way.
                let mut labels = Zeroizing::new(vec![Block::ZERO; count]);
                let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; count]);
                stock.pairs(&mut pairs)?;
                let (delta, peer) = (self.labels.delta(), self.labels.peer());
                forms::send_under(delta, &pairs, mesh, peer, &mut labels)?;
                let all = labels.iter_mut();
                all.for_each(|label| *label = unpermuted(*label));
                Ok(std::mem::take(&mut *labels))
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

    /// Returns true if the evaluator waits for an answer to its choices.
    pub(crate) fn answers(&self) -> bool {
        matches!(self.ot, Ots::Stock(..))
    }

    /// Sends this party's messages of step 6: the hashes of both labels of each result, to all
    /// others that learn it. Returns the number of each decoding, for [`GarblerSide::learn`].
    pub(crate) fn open(&mut self, results: &[Opened<Labels>], mesh: &mut Mesh) -> Result<Vec<u64>> {
        let calls: Vec<_> = results.iter().map(|_| self.labels.hashing()).collect();
        let hash = |part, zeros: &_, hashes: &mut [Block]| {
            let (table, _) = hashes.as_chunks_mut();
            self.labels.hashes(part, zeros, table);
        };
        opening::send::<2>(results, &calls, mesh, hash)?;
        Ok(calls)
    }

    /// Reads the evaluator's messages of step 6: returns the results that the garbler learns.
    pub(crate) fn learn(
        &self,
        results: &[Opened<Labels>],
        calls: &[u64],
        mesh: &mut Mesh,
    ) -> Result<Revealed> {
        opening::learn(results, mesh, |mesh, (result, piece), table, hashes| {
            let (call, zeros) = (calls[result], results[result].share.data());
            mesh.recv(self.labels.peer(), Block::as_bytes_mut(hashes))?;
            let part = (call, piece.start);
            self.labels.hashes(part, &zeros[piece], table);
            Ok(())
        })
    }
}
