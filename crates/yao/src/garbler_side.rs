//! The garbler, which holds the offset and all zero labels.

use crate::common::Common;
use crate::cost;
use crate::opening::{self, Revealed};
use crate::ots::{Ots, SenderOts, no_ots};
use crate::outside::{self, GarblersShares};
use crate::ports::TapePorts;
use crate::{Labels, OutgoingTables, threads_here, unpermuted};
use sealane_block::Block;
use sealane_circuit::Tape;
use sealane_garble::{Garbler, Ports, Roles, Scheme};
use sealane_net::Mesh;
use sealane_ot::forms;
use sealane_parties::PartyId;
use sealane_party::{Fault, Opened, Result, Start};
use sealane_protocol::Demand;
use std::collections::BTreeMap;
use std::sync::Arc;
use zeroize::Zeroizing;

pub(crate) struct GarblerSide {
    garbler: Garbler,
    ot: SenderOts,
    common: Common,
    /// The other role.
    peer: PartyId,
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
        let nonce = coins.public("yao: hash and inputs of the garbler").nonce();
        let common = Common::new(cpu, nonce, session);
        let mut garbler = Garbler::new(cpu, scheme, common.hash, &mut coins);
        garbler.set_roles(roles);
        garbler.set_threads(threads_here());
        mesh.send(peer, nonce.as_bytes())?;
        let ot = match start.stocks.sender {
            _ if cost::transfers(demand) == 0 => Ots::None,
            Some(stock) => Ots::Stock(stock),
            None => {
                let (source, delta) = (cost::source(setting), garbler.delta());
                let setup = source.sender(cpu, mesh, peer, delta, &mut coins)?;
                mesh.flush()?;
                SenderOts::of(source, setup.finish(mesh, &mut coins)?)
            }
        };
        mesh.flush()?;
        let owners = outside::owners(demand);
        Ok(GarblerSide {
            garbler,
            ot,
            common,
            peer,
            shares: outside::receive_seeds(&owners, session, cpu, mesh)?,
        })
    }

    pub(crate) fn delta(&self) -> Block {
        self.garbler.delta()
    }

    /// Runs step 2: derives zero labels of this party's own bits.
    pub(crate) fn own_input(&mut self, bits: &[u8]) -> Vec<Block> {
        let delta = self.garbler.delta();
        let mut labels = self.common.input_labels(bits.len());
        for (label, bit) in labels.iter_mut().zip(bits) {
            // A mask, not a branch: the bit is secret.
            *label ^= delta.masked(*bit);
        }
        labels
    }

    /// Runs step 2 for an owner without a role: derives zero labels of this party's shares.
    pub(crate) fn garblers_share(&mut self, owner: PartyId, count: usize) -> Result<Vec<Block>> {
        let shares = self.shares.get_mut(&owner);
        let shares = shares.ok_or_else(|| Fault::Internal(format!("no seed of {owner}")))?;
        let bits = shares.next(count);
        Ok(self.own_input(&bits))
    }

    /// Runs step 3: obtains zero labels of the evaluator's bits.
    pub(crate) fn evaluators_input(&mut self, count: usize, mesh: &mut Mesh) -> Result<Vec<Block>> {
        // Erased if the connection breaks half way.
        let mut labels = Zeroizing::new(vec![Block::ZERO; count]);
        match &mut self.ot {
            Ots::None => return Err(no_ots()),
            Ots::Extension(ot) => forms::send_given(ot, mesh, &mut labels)?,
            Ots::Ahead(ot) => forms::send_given(ot, mesh, &mut labels)?,
            Ots::Stock(stock) => {
                let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; count]);
                stock.pairs(&mut pairs)?;
                let delta = self.garbler.delta();
                forms::send_under(delta, &pairs, mesh, self.peer, &mut labels)?;
            }
        }
        let all = labels.iter_mut();
        all.for_each(|label| *label = unpermuted(*label));
        Ok(std::mem::take(&mut *labels))
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

    /// Runs step 4: garbles a tape whose operands are planes.
    pub(crate) fn garble(
        &mut self,
        tape: &Tape,
        lanes: usize,
        operands: &[Arc<Labels>],
        mesh: &mut Mesh,
    ) -> Result<Labels> {
        let mut ports = TapePorts::new(tape, lanes, operands);
        self.run(tape, lanes, &mut ports, mesh)?;
        Ok(ports.outputs())
    }

    /// Runs step 4: garbles a tape with labels of any source.
    pub(crate) fn run(
        &mut self,
        tape: &Tape,
        lanes: usize,
        ports: &mut dyn Ports,
        mesh: &mut Mesh,
    ) -> Result<()> {
        let mut tables = OutgoingTables::new(self.common.cpu, mesh, self.peer);
        Ok(self.garbler.garble(tape, lanes, ports, &mut tables)?)
    }

    /// Sends this party's messages of step 6: the hashes of both labels of each result, to all
    /// others that learn it. Returns the number of each decoding, for [`GarblerSide::learn`].
    pub(crate) fn open(&mut self, results: &[Opened<Labels>], mesh: &mut Mesh) -> Result<Vec<u64>> {
        let calls: Vec<_> = results.iter().map(|_| self.garbler.decoding()).collect();
        let hash = |part, zeros: &_, hashes: &mut [Block]| {
            let (table, _) = hashes.as_chunks_mut();
            self.garbler.hash_outputs(part, zeros, table);
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
            mesh.recv(self.peer, Block::as_bytes_mut(hashes))?;
            let part = (call, piece.start);
            self.garbler.hash_outputs(part, &zeros[piece], table);
            Ok(())
        })
    }
}
