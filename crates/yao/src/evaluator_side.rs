//! The evaluator, which holds one active label of each wire.

use crate::common::Common;
use crate::cost;
use crate::opening::{self, Revealed};
use crate::ots::{Ots, ReceiverOts, no_ots};
use crate::ports::TapePorts;
use crate::{IncomingTables, Labels, threads_here, unpermuted};
use sealane_block::{Block, Nonce};
use sealane_circuit::Tape;
use sealane_garble::{Evaluator, Ports, Roles, Scheme};
use sealane_net::Mesh;
use sealane_ot::forms::{self, OffsetRequest};
use sealane_parties::PartyId;
use sealane_party::{Opened, Result, Start};
use std::sync::Arc;
use zeroize::Zeroizing;

pub(crate) struct EvaluatorSide {
    evaluator: Evaluator,
    ot: ReceiverOts,
    common: Common,
    /// The other role.
    peer: PartyId,
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
        let mut nonce = [0; Nonce::BYTES];
        mesh.recv(peer, &mut nonce)?;
        let ot = match (setup, stock) {
            (Some(setup), _) => ReceiverOts::of(source, setup.finish(mesh, &mut coins)?),
            (None, Some(stock)) if ot => Ots::Stock(stock),
            (None, _) => Ots::None,
        };
        let common = Common::new(cpu, Nonce::from_bytes(nonce), start.session);
        let mut evaluator = Evaluator::new(cpu, scheme, common.hash);
        evaluator.set_roles(roles);
        evaluator.set_threads(threads_here());
        Ok(EvaluatorSide {
            evaluator,
            ot,
            common,
            peer,
        })
    }

    /// Runs step 2: returns active labels of the garbler's bits.
    pub(crate) fn garblers_input(&mut self, count: usize) -> Vec<Block> {
        self.common.input_labels(count)
    }

    /// Begins step 3: asks for active labels of this party's own bits.
    pub(crate) fn own_input(&mut self, bits: &[u8], mesh: &mut Mesh) -> Result<Choice> {
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
            Ots::Stock(stock) => {
                let mut random = Zeroizing::new(vec![0; bits.len()]);
                stock.keys(&mut random, &mut labels)?;
                let request = OffsetRequest::new(bits, &random, labels, mesh, self.peer);
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

    /// The number of step 4 on this tape, in step with the garbler's, who runs it at once.
    pub(crate) fn call_of(&mut self, tape: &Tape) -> u64 {
        self.evaluator.call_of(tape)
    }

    /// Runs step 4: evaluates a tape whose operands are planes.
    pub(crate) fn evaluate(
        &mut self,
        call: u64,
        tape: &Tape,
        lanes: usize,
        operands: &[Arc<Labels>],
        mesh: &mut Mesh,
    ) -> Result<Labels> {
        let mut ports = TapePorts::new(tape, lanes, operands);
        self.run(call, (tape, lanes), &mut ports, mesh)?;
        Ok(ports.outputs())
    }

    /// Runs step 4: evaluates a tape with labels of any source.
    pub(crate) fn run(
        &mut self,
        call: u64,
        (tape, lanes): (&Tape, usize),
        ports: &mut dyn Ports,
        mesh: &mut Mesh,
    ) -> Result<()> {
        let mut tables = IncomingTables::new(self.common.cpu, mesh, self.peer);
        let evaluator = &mut self.evaluator;
        Ok(evaluator.evaluate_as(call, tape, lanes, ports, &mut tables)?)
    }

    /// Sends this party's messages of step 6: hashes of the active labels of each result, to all
    /// others that learn it. Returns the number of each decoding, for [`EvaluatorSide::learn`].
    pub(crate) fn open(&mut self, results: &[Opened<Labels>], mesh: &mut Mesh) -> Result<Vec<u64>> {
        let calls: Vec<_> = results.iter().map(|_| self.evaluator.decoding()).collect();
        let hash = |part, active: &_, hashes: &mut _| {
            self.evaluator.hash_outputs(part, active, hashes);
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
            mesh.recv(self.peer, Block::as_bytes_mut(table.as_flattened_mut()))?;
            let part = (call, piece.start);
            self.evaluator.hash_outputs(part, &active[piece], hashes);
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
