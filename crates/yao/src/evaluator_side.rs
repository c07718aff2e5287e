//! The evaluator, which holds one active label of each wire.

use crate::common::Common;
use crate::garbler_side::{Results, Revealed, ot_fault};
use crate::{IncomingTables, Labels, TapePorts, threads_here, unpermuted};
use sealane_block::{Block, Coins, Cpu, Nonce};
use sealane_circuit::Tape;
use sealane_garble::{Evaluator, Roles, Scheme, decode};
use sealane_net::Mesh;
use sealane_ot::CotReceiver;
use sealane_parties::PartyId;
use sealane_protocol::Fault;
use std::sync::Arc;
use zeroize::Zeroizing;

pub(crate) struct EvaluatorSide {
    evaluator: Evaluator,
    ot: Option<CotReceiver>,
    common: Common,
    /// Hashes of the active labels of each result; see [`EvaluatorSide::open`].
    hashes: Vec<Zeroizing<Vec<Block>>>,
}

impl EvaluatorSide {
    /// Runs step 1, prepare.
    pub(crate) fn prepare(
        cpu: Cpu,
        coins: &mut Coins,
        (scheme, roles): (Scheme, Roles),
        ot: bool,
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<EvaluatorSide, Fault> {
        let ot = ot.then(|| CotReceiver::setup(cpu, mesh, peer, coins));
        let ot = ot.transpose().map_err(ot_fault)?;
        let mut nonce = [0; Nonce::BYTES];
        mesh.recv(peer, &mut nonce)?;
        let common = Common::new(cpu, Nonce::from_bytes(nonce), mesh.session());
        let mut evaluator = Evaluator::new(cpu, scheme, common.hash);
        evaluator.set_roles(roles);
        evaluator.set_threads(threads_here());
        Ok(EvaluatorSide {
            evaluator,
            ot,
            common,
            hashes: vec![],
        })
    }

    /// Runs step 2: returns active labels of the garbler's bits.
    pub(crate) fn garblers_input(&mut self, count: usize) -> Vec<Block> {
        self.common.input_labels(count)
    }

    /// Runs step 3: obtains active labels of this party's own bits.
    pub(crate) fn own_input(&mut self, bits: &[u8], mesh: &mut Mesh) -> Result<Vec<Block>, Fault> {
        let ot = self
            .ot
            .as_mut()
            .ok_or_else(|| Fault::Internal("no OT prepared".to_string()))?;
        // Erased if the connection breaks half way.
        let mut labels = Zeroizing::new(vec![Block::ZERO; bits.len()]);
        ot.extend(mesh, bits, &mut labels).map_err(ot_fault)?;
        for (label, bit) in labels.iter_mut().zip(bits) {
            // The zero label's permute bit is cleared, so the permute bit of the active label is
            // the bit.
            *label = unpermuted(*label) ^ Block::new((*bit & 1).into());
        }
        Ok(std::mem::take(&mut *labels))
    }

    /// Runs step 4: evaluates a tape.
    pub(crate) fn evaluate(
        &mut self,
        tape: &Tape,
        lanes: usize,
        operands: &[Arc<Labels>],
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<Labels, Fault> {
        let mut ports = TapePorts::new(tape, lanes, operands);
        let mut tables = IncomingTables::new(mesh, peer);
        self.evaluator
            .evaluate(tape, lanes, &mut ports, &mut tables)?;
        Ok(ports.outputs)
    }

    /// Sends this party's messages of step 6: hashes of the active labels of each result that the
    /// garbler learns. Hashes of results that this party learns are kept until the garbler's table
    /// arrives.
    pub(crate) fn open(
        &mut self,
        results: &Results,
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<(), Fault> {
        for (labels, _, to) in results {
            let mut hashes = Zeroizing::new(vec![Block::ZERO; labels.data().len()]);
            self.evaluator.output_hashes(labels.data(), &mut hashes);
            if to.contains(peer) {
                mesh.send(peer, Block::as_bytes(&hashes))?;
            }
            self.hashes.push(hashes);
        }
        Ok(())
    }

    /// Returns the results of step 6 that this party learns.
    pub(crate) fn learn(
        &mut self,
        results: &Results,
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<Revealed, Fault> {
        let mut revealed = Vec::new();
        for ((_, _, to), hashes) in results.iter().zip(self.hashes.drain(..)) {
            if !to.contains(mesh.me()) {
                revealed.push(None);
                continue;
            }
            let mut table = vec![[Block::ZERO; 2]; hashes.len()];
            mesh.recv(peer, Block::as_bytes_mut(table.as_flattened_mut()))?;
            let mut bits = Zeroizing::new(vec![0; hashes.len()]);
            decode(&hashes, &table, &mut bits).map_err(|_| Fault::CheckFailed)?;
            revealed.push(Some(bits));
        }
        Ok(revealed)
    }
}
