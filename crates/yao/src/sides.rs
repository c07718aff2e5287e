//! Labels at both roles, without the transfers by which the evaluator gets those of its bits: what
//! a protocol that computes some steps on labels has in common with `yao`.
//!
//! Both sides run the same calls in the same order: each garbled tape, and each hashing of labels,
//! has the next number of the instance.

use crate::common::Common;
use crate::ports::TapePorts;
use crate::{IncomingTables, Labels, OutgoingTables, threads_here, unpermuted};
use sealane_block::{Block, Coins, Cpu, Nonce};
use sealane_circuit::Tape;
use sealane_garble::{Evaluator, Garbler, Ports, Roles, Scheme};
use sealane_net::{Mesh, SessionId};
use sealane_ot::traits::{GivenReceiver, GivenSender};
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::Result;
use sealane_protocol::{Kernel, Work};
use zeroize::Zeroizing;

pub use crate::references::{FREE_XOR, HALF_GATES, MI, SLICING, YAO};

/// An instance of garbling between two parties.
#[derive(Clone, Copy)]
pub struct Instance {
    /// Tier of the CPU.
    pub cpu: Cpu,
    /// The session, to which hash and labels of inputs belong.
    pub session: SessionId,
    /// The scheme.
    pub scheme: Scheme,
    /// The parties whose operands tapes mark as known, whose labels then keep the rules of
    /// [`GarblerLabels::own_input`] and [`GarblerLabels::evaluators_input`]; the default for none.
    pub roles: Roles,
    /// The other party.
    pub peer: PartyId,
}

/// The garbler, which holds the offset and all zero labels.
pub struct GarblerLabels {
    garbler: Garbler,
    common: Common,
    peer: PartyId,
}

impl GarblerLabels {
    /// Bytes that the set-up sends.
    pub const SET_UP_BYTES: u64 = Nonce::BYTES as u64;

    /// Draws the offset, and sends the nonce from which both expand the hash and labels of inputs.
    ///
    /// # Errors
    /// The network fails.
    pub fn set_up(instance: Instance, coins: &mut Coins, mesh: &mut Mesh) -> Result<GarblerLabels> {
        let Instance { cpu, peer, .. } = instance;
        let nonce = coins.public("yao: hash and inputs of the garbler").nonce();
        let common = Common::new(cpu, nonce, instance.session);
        let mut garbler = Garbler::new(cpu, instance.scheme, common.hash, coins);
        garbler.set_roles(instance.roles);
        garbler.set_threads(threads_here());
        mesh.send(peer, nonce.as_bytes())?;
        Ok(GarblerLabels {
            garbler,
            common,
            peer,
        })
    }

    /// The offset: secret, with bit 0 equal to 1.
    pub fn delta(&self) -> Block {
        self.garbler.delta()
    }

    /// The other party.
    pub(crate) fn peer(&self) -> PartyId {
        self.peer
    }

    /// Zero labels of bits that this party knows, one a byte. Active labels have permute bit 0.
    pub fn own_input(&mut self, bits: &[u8]) -> Vec<Block> {
        let delta = self.garbler.delta();
        let mut labels = self.common.input_labels(bits.len());
        for (label, bit) in labels.iter_mut().zip(bits) {
            // A mask, not a branch: the bit is secret.
            *label ^= delta.masked(*bit);
        }
        labels
    }

    /// Zero labels of bits of the evaluator, which it chooses by correlated OTs under the offset.
    /// Their permute bits are 0.
    ///
    /// # Errors
    /// As [`GivenSender::given`].
    pub fn evaluators_input(
        &mut self,
        count: usize,
        ots: &mut dyn GivenSender,
        mesh: &mut Mesh,
    ) -> Result<Vec<Block>> {
        // Erased if the connection breaks half way.
        let mut labels = Zeroizing::new(vec![Block::ZERO; count]);
        ots.given(mesh, &mut labels)?;
        labels
            .iter_mut()
            .for_each(|label| *label = unpermuted(*label));
        Ok(std::mem::take(&mut *labels))
    }

    /// Garbles a tape whose operands are planes, and sends its tables.
    ///
    /// # Errors
    /// The network fails.
    pub fn garble(
        &mut self,
        tape: &Tape,
        lanes: usize,
        operands: &[&Labels],
        mesh: &mut Mesh,
    ) -> Result<Labels> {
        let mut ports = TapePorts::new(tape, lanes, operands);
        self.run(tape, lanes, &mut ports, mesh)?;
        Ok(ports.outputs())
    }

    /// Garbles a tape with labels of any source.
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

    /// The number of a hashing of labels.
    pub fn hashing(&mut self) -> u64 {
        self.garbler.decoding()
    }

    /// Hashes of both labels of each wire, of those from a number on of a hashing.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn hashes(&self, part: (u64, usize), zeros: &[Block], out: &mut [[Block; 2]]) {
        self.garbler.hash_outputs(part, zeros, out);
    }
}

/// The evaluator, which holds the active label of each wire.
pub struct EvaluatorLabels {
    evaluator: Evaluator,
    common: Common,
    peer: PartyId,
}

impl EvaluatorLabels {
    /// Reads the garbler's nonce.
    ///
    /// # Errors
    /// The network fails.
    pub fn set_up(instance: Instance, mesh: &mut Mesh) -> Result<EvaluatorLabels> {
        let Instance { cpu, peer, .. } = instance;
        let mut nonce = [0; Nonce::BYTES];
        mesh.recv(peer, &mut nonce)?;
        let common = Common::new(cpu, Nonce::from_bytes(nonce), instance.session);
        let mut evaluator = Evaluator::new(cpu, instance.scheme, common.hash);
        evaluator.set_roles(instance.roles);
        evaluator.set_threads(threads_here());
        Ok(EvaluatorLabels {
            evaluator,
            common,
            peer,
        })
    }

    /// The other party.
    pub(crate) fn peer(&self) -> PartyId {
        self.peer
    }

    /// Active labels of the garbler's bits.
    pub fn garblers_input(&mut self, count: usize) -> Vec<Block> {
        self.common.input_labels(count)
    }

    /// Active labels of bits that this party knows, one a byte, which it chooses by correlated OTs.
    /// Their permute bits are the bits.
    ///
    /// # Errors
    /// As [`GivenReceiver::given`].
    pub fn own_input(
        &mut self,
        bits: &[u8],
        ots: &mut dyn GivenReceiver,
        mesh: &mut Mesh,
    ) -> Result<Vec<Block>> {
        // Erased if the connection breaks half way.
        let mut labels = Zeroizing::new(vec![Block::ZERO; bits.len()]);
        ots.given(mesh, bits, &mut labels)?;
        permute(&mut labels, bits);
        Ok(std::mem::take(&mut *labels))
    }

    /// The number of a tape, in step with the garbler's, who runs it at once.
    pub fn call_of(&mut self, tape: &Tape) -> u64 {
        self.evaluator.call_of(tape)
    }

    /// Evaluates a tape whose operands are planes, by the garbler's tables.
    ///
    /// # Errors
    /// The network fails.
    pub fn evaluate(
        &mut self,
        call: u64,
        (tape, lanes): (&Tape, usize),
        operands: &[&Labels],
        mesh: &mut Mesh,
    ) -> Result<Labels> {
        let mut ports = TapePorts::new(tape, lanes, operands);
        self.run(call, (tape, lanes), &mut ports, mesh)?;
        Ok(ports.outputs())
    }

    /// Evaluates a tape with labels of any source.
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

    /// The number of a hashing of labels.
    pub fn hashing(&mut self) -> u64 {
        self.evaluator.decoding()
    }

    /// Hashes of active labels, of those from a number on of a hashing.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn hashes(&self, part: (u64, usize), active: &[Block], out: &mut [Block]) {
        self.evaluator.hash_outputs(part, active, out);
    }
}

/// An AND with its free XORs; its nominal time is that of the slower side (garbling): 48 cycles at
/// 2.4 GHz, 80 with three-halves.
pub const fn and_kernel(scheme: Scheme) -> Kernel {
    match scheme {
        Scheme::ThreeHalves => Kernel::ns("three_halves_and", 33),
        _ => Kernel::ns("garbled_and", 20),
    }
}

/// One correlated OT of an extension of base OTs: the extension that saves bytes computes more.
pub const fn ot_kernel(network: NetworkClass) -> Kernel {
    if network.spares_bytes() {
        Kernel::ns("small_ot", 10)
    } else {
        Kernel::ns("ot", 10)
    }
}

/// An XOR of a circuit on labels, in a lane.
const LABEL_XOR: Kernel = Kernel::uncharged("label_xor");
/// A batch of a circuit on labels, whose gates are garbled or evaluated side by side in all lanes.
const LABEL_BATCH: Kernel = Kernel::uncharged("label_batch");

/// The work of both sides on a tape with ANDs.
pub fn tape_work(scheme: Scheme, tape: &Tape, lanes: u64) -> Work {
    let ands = tape.ands.len() as u64 * lanes;
    and_kernel(scheme)
        .times(ands)
        .and(LABEL_XOR, tape.xors.len() as u64 * lanes)
        .and(LABEL_BATCH, tape.batches.len() as u64)
}

/// Sets the permute bit of each active label to the bit of the wire: that of its zero label is
/// cleared.
pub(crate) fn permute(labels: &mut [Block], bits: &[u8]) {
    for (label, bit) in labels.iter_mut().zip(bits) {
        *label = unpermuted(*label) ^ Block::new((*bit & 1).into());
    }
}
