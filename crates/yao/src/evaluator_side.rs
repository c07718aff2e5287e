//! The evaluator, which holds one active label of each wire.

use crate::common::Common;
use crate::cost;
use crate::garbler_side::{Revealed, ot_fault};
use crate::{IncomingTables, Labels, TapePorts, threads_here, unpermuted, words};
use sealane_block::{Block, Nonce};
use sealane_circuit::Tape;
use sealane_garble::{Evaluator, Roles, Scheme, decode};
use sealane_net::Mesh;
use sealane_ot::forms;
use sealane_ot::softspoken::Receiver;
use sealane_parties::PartyId;
use sealane_party::{Fault, Opened, Shares, Start};
use std::sync::Arc;
use zeroize::Zeroizing;

pub(crate) struct EvaluatorSide {
    evaluator: Evaluator,
    ot: Option<Receiver>,
    common: Common,
}

impl EvaluatorSide {
    /// Runs step 1, the set-up.
    pub(crate) fn set_up(
        start: Start<'_>,
        (scheme, roles): (Scheme, Roles),
        ot: bool,
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<EvaluatorSide, Fault> {
        let Start {
            setting,
            session,
            cpu,
            mut coins,
            ..
        } = start;
        let extension = cost::extension(setting);
        let ot = ot.then(|| Receiver::set_up(extension, cpu, mesh, peer, &mut coins));
        let ot = ot.transpose().map_err(ot_fault)?;
        mesh.flush()?;
        let ot = ot.map(|ot| ot.finish(mesh)).transpose().map_err(ot_fault)?;
        let mut nonce = [0; Nonce::BYTES];
        mesh.recv(peer, &mut nonce)?;
        mesh.flush()?;
        let common = Common::new(cpu, Nonce::from_bytes(nonce), session);
        let mut evaluator = Evaluator::new(cpu, scheme, common.hash);
        evaluator.set_roles(roles);
        evaluator.set_threads(threads_here());
        Ok(EvaluatorSide {
            evaluator,
            ot,
            common,
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
        forms::receive_given(ot, mesh, bits, &mut labels).map_err(ot_fault)?;
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
        let mut tables = IncomingTables::new(self.common.cpu, mesh, peer);
        self.evaluator
            .evaluate(tape, lanes, &mut ports, &mut tables)?;
        Ok(ports.outputs)
    }

    /// Sends this party's messages of step 6: hashes of the active labels of each result that the
    /// garbler learns. Returns those of all results, for [`learn`].
    pub(crate) fn open(
        &mut self,
        results: &[Opened<Labels>],
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<Vec<Zeroizing<Vec<Block>>>, Fault> {
        let mut all = Vec::new();
        for Opened { share, to, .. } in results {
            let mut hashes = Zeroizing::new(vec![Block::ZERO; share.data().len()]);
            self.evaluator.output_hashes(share.data(), &mut hashes);
            if to.contains(peer) {
                mesh.send(peer, Block::as_bytes(&hashes))?;
            }
            all.push(hashes);
        }
        Ok(all)
    }
}

/// Reads the garbler's messages of step 6: returns the results that the evaluator learns.
pub(crate) fn learn(
    results: &[Opened<Labels>],
    hashes: &[Zeroizing<Vec<Block>>],
    peer: PartyId,
    mesh: &mut Mesh,
) -> Result<Revealed, Fault> {
    let mut revealed = Vec::new();
    for (result, hashes) in results.iter().zip(hashes) {
        if !result.to.contains(mesh.me()) {
            revealed.push(None);
            continue;
        }
        let mut table = vec![[Block::ZERO; 2]; hashes.len()];
        mesh.recv(peer, Block::as_bytes_mut(table.as_flattened_mut()))?;
        let mut bits = Zeroizing::new(vec![0; hashes.len()]);
        decode(hashes, &table, &mut bits).map_err(|_| Fault::CheckFailed)?;
        revealed.push(Some(words(&bits, result.share.planes())?));
    }
    Ok(revealed)
}
