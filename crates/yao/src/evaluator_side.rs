//! The evaluator, which holds one active label of each wire.

use crate::common::Common;
use crate::cost;
use crate::garbler_side::Revealed;
use crate::ots::{Ots, ReceiverOts, no_ots};
use crate::ports::TapePorts;
use crate::{IncomingTables, Labels, threads_here, unpermuted, words};
use sealane_block::{Block, Nonce};
use sealane_circuit::Tape;
use sealane_garble::{Evaluator, Ports, Roles, Scheme, decode};
use sealane_net::Mesh;
use sealane_ot::forms::{self, OffsetRequest};
use sealane_parties::PartyId;
use sealane_party::{Fault, Opened, Shares, Start};
use std::sync::Arc;
use zeroize::Zeroizing;

pub(crate) struct EvaluatorSide {
    evaluator: Evaluator,
    ot: ReceiverOts,
    common: Common,
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
    ) -> Result<EvaluatorSide, Fault> {
        let Start {
            setting,
            session,
            cpu,
            mut coins,
            stock,
            ..
        } = start;
        let source = cost::source(setting);
        let setup = match ot && stock.is_none() {
            true => Some(source.receiver(cpu, mesh, peer, &mut coins)?),
            false => None,
        };
        mesh.flush()?;
        let mut nonce = [0; Nonce::BYTES];
        mesh.recv(peer, &mut nonce)?;
        let ot = match (setup, stock) {
            (Some(setup), _) => ReceiverOts::of(source, setup.finish(mesh, &mut coins)?),
            (None, Some(stock)) if ot => Ots::Stock(stock, peer),
            (None, _) => Ots::None,
        };
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

    /// Begins step 3: asks for active labels of this party's own bits.
    pub(crate) fn own_input(&mut self, bits: &[u8], mesh: &mut Mesh) -> Result<Choice, Fault> {
        // Erased if the connection breaks half way.
        let mut labels = Zeroizing::new(vec![Block::ZERO; bits.len()]);
        match &mut self.ot {
            Ots::None => Err(no_ots()),
            Ots::Extension(ot) => {
                forms::receive_given(ot, mesh, bits, &mut labels)?;
                Ok(made(labels, bits))
            }
            Ots::Ahead(ot) => {
                forms::receive_given(ot, mesh, bits, &mut labels)?;
                Ok(made(labels, bits))
            }
            Ots::Stock(stock, peer) => {
                let mut random = Zeroizing::new(vec![0; bits.len()]);
                stock.keys(&mut random, &mut labels)?;
                let request = OffsetRequest::new(bits, &random, labels, mesh, *peer);
                Ok(Choice::Sent(request?))
            }
        }
    }

    /// Makes `count` OTs ahead.
    pub(crate) fn refill(&mut self, count: usize, mesh: &mut Mesh) -> Result<(), Fault> {
        match &mut self.ot {
            Ots::Ahead(ot) => Ok(ot.refill(mesh, count)?),
            _ => Err(no_ots()),
        }
    }

    /// Runs step 4: evaluates a tape whose operands are planes.
    pub(crate) fn evaluate(
        &mut self,
        tape: &Tape,
        lanes: usize,
        operands: &[Arc<Labels>],
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<Labels, Fault> {
        let mut ports = TapePorts::new(tape, lanes, operands);
        self.run(tape, lanes, &mut ports, peer, mesh)?;
        Ok(ports.outputs())
    }

    /// Runs step 4: evaluates a tape with labels of any source.
    pub(crate) fn run(
        &mut self,
        tape: &Tape,
        lanes: usize,
        ports: &mut dyn Ports,
        peer: PartyId,
        mesh: &mut Mesh,
    ) -> Result<(), Fault> {
        let mut tables = IncomingTables::new(self.common.cpu, mesh, peer);
        Ok(self.evaluator.evaluate(tape, lanes, ports, &mut tables)?)
    }

    /// Sends this party's messages of step 6: hashes of the active labels of each result, to all
    /// others that learn it. Returns those of all results, for [`learn`].
    pub(crate) fn open(
        &mut self,
        results: &[Opened<Labels>],
        mesh: &mut Mesh,
    ) -> Result<Vec<Zeroizing<Vec<Block>>>, Fault> {
        let mut all = Vec::new();
        for Opened { share, to, .. } in results {
            let mut hashes = Zeroizing::new(vec![Block::ZERO; share.data().len()]);
            self.evaluator.output_hashes(share.data(), &mut hashes);
            let me = mesh.me();
            for receiver in to.iter().filter(|to| *to != me) {
                mesh.send(receiver, Block::as_bytes(&hashes))?;
            }
            all.push(hashes);
        }
        Ok(all)
    }
}

/// Ends step 3 with OTs of a pool: returns active labels.
pub(crate) fn answered(request: OffsetRequest, mesh: &mut Mesh) -> Result<Vec<Block>, Fault> {
    let (bits, mut labels) = request.finish(mesh)?;
    permute(&mut labels, &bits);
    Ok(std::mem::take(&mut *labels))
}

fn made(mut labels: Zeroizing<Vec<Block>>, bits: &[u8]) -> Choice {
    permute(&mut labels, bits);
    Choice::Made(std::mem::take(&mut *labels))
}

/// Sets the permute bit of each active label to the bit of the wire: that of its zero label is
/// cleared.
fn permute(labels: &mut [Block], bits: &[u8]) {
    for (label, bit) in labels.iter_mut().zip(bits) {
        *label = unpermuted(*label) ^ Block::new((*bit & 1).into());
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
