//! The garbler, which holds the offset and all zero labels.

use crate::common::Common;
use crate::cost;
use crate::{Labels, OutgoingTables, TapePorts, threads_here, unpermuted, words};
use sealane_block::Block;
use sealane_circuit::Tape;
use sealane_garble::{Garbler, Roles, Scheme, decode};
use sealane_net::Mesh;
use sealane_ot::softspoken::Sender;
use sealane_ot::{OtError, forms};
use sealane_parties::PartyId;
use sealane_party::{Fault, Opened, Shares, Start, Words};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The values of each result that this party learns.
pub(crate) type Revealed = Vec<Option<Words>>;

pub(crate) struct GarblerSide {
    garbler: Garbler,
    ot: Option<Sender>,
    common: Common,
}

impl GarblerSide {
    /// Runs step 1, the set-up.
    pub(crate) fn set_up(
        start: Start<'_>,
        (scheme, roles): (Scheme, Roles),
        ot: bool,
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<GarblerSide, Fault> {
        let Start {
            setting,
            session,
            cpu,
            mut coins,
            ..
        } = start;
        let nonce = coins.public("yao: hash and inputs of the garbler").nonce();
        let common = Common::new(cpu, nonce, session);
        let mut garbler = Garbler::new(cpu, scheme, common.hash, &mut coins);
        garbler.set_roles(roles);
        garbler.set_threads(threads_here());
        let extension = cost::extension(setting);
        let delta = garbler.delta();
        let ot = ot.then(|| Sender::set_up(extension, cpu, mesh, peer, delta, &mut coins));
        let ot = ot.transpose().map_err(ot_fault)?;
        mesh.send(peer, nonce.as_bytes())?;
        mesh.flush()?;
        let ot = ot.map(|ot| ot.finish(mesh)).transpose().map_err(ot_fault)?;
        Ok(GarblerSide {
            garbler,
            ot,
            common,
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

    /// Runs step 3: obtains zero labels of the evaluator's bits.
    pub(crate) fn evaluators_input(
        &mut self,
        count: usize,
        mesh: &mut Mesh,
    ) -> Result<Vec<Block>, Fault> {
        let ot = self
            .ot
            .as_mut()
            .ok_or_else(|| Fault::Internal("no OT prepared".to_string()))?;
        // Erased if the connection breaks half way.
        let mut labels = Zeroizing::new(vec![Block::ZERO; count]);
        forms::send_given(ot, mesh, &mut labels).map_err(ot_fault)?;
        labels
            .iter_mut()
            .for_each(|label| *label = unpermuted(*label));
        Ok(std::mem::take(&mut *labels))
    }

    /// Runs step 4: garbles a tape.
    pub(crate) fn garble(
        &mut self,
        tape: &Tape,
        lanes: usize,
        operands: &[Arc<Labels>],
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<Labels, Fault> {
        let mut ports = TapePorts::new(tape, lanes, operands);
        let mut tables = OutgoingTables::new(self.common.cpu, mesh, peer);
        self.garbler.garble(tape, lanes, &mut ports, &mut tables)?;
        Ok(ports.outputs)
    }

    /// Sends this party's messages of step 6: the hashes of both labels of each result that the
    /// evaluator learns. Returns those of all results, for [`learn`].
    pub(crate) fn open(
        &mut self,
        results: &[Opened<Labels>],
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<Vec<Zeroizing<Vec<[Block; 2]>>>, Fault> {
        let mut tables = Vec::new();
        for Opened { share, to, .. } in results {
            let mut table = Zeroizing::new(vec![[Block::ZERO; 2]; share.data().len()]);
            self.garbler.decode_table(share.data(), &mut table);
            if to.contains(peer) {
                mesh.send(peer, Block::as_bytes(table.as_flattened()))?;
            }
            tables.push(table);
        }
        Ok(tables)
    }
}

/// Reads the evaluator's messages of step 6: returns the results that the garbler learns.
pub(crate) fn learn(
    results: &[Opened<Labels>],
    tables: &[Zeroizing<Vec<[Block; 2]>>],
    peer: PartyId,
    mesh: &mut Mesh,
) -> Result<Revealed, Fault> {
    let mut revealed = Vec::new();
    for (result, table) in results.iter().zip(tables) {
        if !result.to.contains(mesh.me()) {
            revealed.push(None);
            continue;
        }
        let mut hashes = vec![Block::ZERO; table.len()];
        mesh.recv(peer, Block::as_bytes_mut(&mut hashes))?;
        let mut bits = Zeroizing::new(vec![0; table.len()]);
        decode(&hashes, table, &mut bits).map_err(|_| Fault::CheckFailed)?;
        revealed.push(Some(words(&bits, result.share.planes())?));
    }
    Ok(revealed)
}

/// Converts an error of an OT to a fault of the protocol.
pub(crate) fn ot_fault(error: OtError) -> Fault {
    match error {
        OtError::Net(error) => Fault::Net(error),
        OtError::BadPoint(party) => Fault::Peer {
            party,
            what: "a malformed curve point in the set-up of oblivious transfers".to_string(),
        },
        // Room `ot` has erased its copy of the offset, and the garbler goes with the run.
        OtError::CheckFailed(party) => Fault::Deviated {
            party,
            check: "a check of oblivious transfers",
        },
        OtError::Altered(party) => Fault::Altered(party),
        OtError::Ended => Fault::internal("oblivious transfers after a failure"),
    }
}
