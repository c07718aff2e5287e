//! A job: the netlist, its cycles, the garbling scheme and the network, which both parties state;
//! and its promise, the bytes and rounds that a session takes.

use crate::device::{DeviceError, DeviceNetlist};
use sealane_accel::formats::{Format, write};
use sealane_accel::{Netlist, Operand};
use sealane_block::Nonce;
use sealane_circuit::CycleTape;
use sealane_garble::Scheme;
use sealane_ot::forms::given_bytes;
use sealane_ot::source::Source;
use sealane_parties::NetworkClass;
use sealane_party::DIGEST_BYTES;
use serde::{Deserialize, Serialize};

/// Most bits of inputs of a party in a session, and of outputs.
pub const MOST_BITS: u64 = 1 << 24;
/// Most bytes of tables of a netlist cycle, all of which the server holds at once.
pub const MOST_CYCLE_BYTES: u64 = 1 << 30;
/// Bytes of a label.
const LABEL_BYTES: u64 = 16;

/// A netlist that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// No device takes it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A session has no netlist cycle.
    #[error("a session has at least one netlist cycle")]
    NoCycles,
    /// A session has too many bits.
    #[error("a session has {0} bits of inputs or outputs of a party, and {MOST_BITS} are the most")]
    Bits(u64),
    /// A netlist cycle has too many tables.
    #[error("the tables of a netlist cycle take {0} bytes, and {MOST_CYCLE_BYTES} are the most")]
    Tables(u64),
    /// A hash key would serve too many ANDs.
    #[error("the session has {ands} ANDs, and a key of {scheme} serves {most} at most")]
    Ands {
        /// ANDs of the session.
        ands: u64,
        /// The scheme.
        scheme: Scheme,
        /// The limit.
        most: u64,
    },
    /// Devices garble under two schemes.
    #[error("no device garbles under {0}; there are prp and mi")]
    Scheme(Scheme),
}

/// The netlist cycles of a session, and what of them its client learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Netlist cycles, at least 1.
    pub cycles: u32,
    /// The cycles whose outputs are opened.
    pub opened: Opened,
}

impl Span {
    /// Returns a session of so many cycles, of which the last one is opened.
    pub const fn last(cycles: u32) -> Span {
        let opened = Opened::Last;
        Span { cycles, opened }
    }

    /// Returns a session of so many cycles, each of which is opened.
    pub const fn every(cycles: u32) -> Span {
        let opened = Opened::Every;
        Span { cycles, opened }
    }
}

/// The netlist cycles whose outputs are opened to the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Opened {
    /// The last one.
    #[default]
    Last,
    /// Every one: for netlists that put a result out piece by piece.
    Every,
}

/// The parts of a job by their hashes and names, as messages hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobParts {
    pub netlist: [u8; 32],
    pub span: Span,
    pub scheme: Scheme,
    pub network: NetworkClass,
}

/// A job that has been checked.
#[derive(Clone, Debug)]
pub struct Job {
    parts: JobParts,
    netlist: DeviceNetlist,
    tape: CycleTape,
    /// For each output in the order of ports: the output of the device, or a constant.
    ports: Vec<Port>,
}

/// An output in the order of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Port {
    Constant(bool),
    Output(u32),
}

/// Payload of a session, and its rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promise {
    /// Bytes from the server to the client.
    pub from_server: u64,
    /// Bytes from the client to the server.
    pub from_client: u64,
    /// Rounds.
    pub rounds: u32,
}

/// Returns the most ANDs that a hash key of this scheme serves. Under `prp` all gates of a session
/// share one key of AES, and an attacker's advantage grows with its work times the hashes under
/// that key: 2^30 ANDs are 2^32 hashes, which leave 95 of 127 bits. Under `mi` every half of a gate
/// has a key of its own.
pub const fn most_ands(scheme: Scheme) -> u64 {
    match scheme {
        Scheme::Prp => 1 << 30,
        _ => 1 << 40,
    }
}

impl Job {
    /// Checks a job.
    ///
    /// # Errors
    /// [`JobError`] if the netlist or its session is beyond what is served.
    pub fn new(
        netlist: &Netlist,
        span: Span,
        scheme: Scheme,
        network: NetworkClass,
    ) -> Result<Job, JobError> {
        if !matches!(scheme, Scheme::Prp | Scheme::Mi) {
            return Err(JobError::Scheme(scheme));
        }
        if span.cycles == 0 {
            return Err(JobError::NoCycles);
        }
        let text = write(netlist, Format::TinyGarble, &[]);
        let text = text.map_err(|error| DeviceError::Netlist(error.to_string()))?;
        let parts = JobParts {
            netlist: blake3::derive_key("sealane 1 served netlist", &text),
            span,
            scheme,
            network,
        };
        let outputs = &netlist.parts().outputs;
        let device = DeviceNetlist::new(netlist)?;
        let tape = device.netlist().cycle_tape();
        let tape = tape.map_err(|error| DeviceError::Netlist(error.to_string()))?;
        let wires = &device.netlist().parts().outputs;
        let mut ports = vec![Port::Constant(false); outputs.len()];
        for (index, output) in outputs.iter().enumerate() {
            let order = netlist.parts().ports.as_ref();
            let port = order.map_or(index, |ports| ports[index] as usize);
            ports[port] = match output {
                Operand::Zero => Port::Constant(false),
                Operand::One => Port::Constant(true),
                wire => Port::Output(wires.partition_point(|other| other < wire) as u32),
            };
        }
        let job = Job {
            parts,
            netlist: device,
            tape,
            ports,
        };
        let [garbler, evaluator] = job.input_bits();
        let most = garbler.max(evaluator).max(job.output_bits());
        let shape = job.netlist.shape();
        let ands = u64::from(shape.ands) * u64::from(span.cycles);
        let tables = 32 * u64::from(shape.ands);
        match () {
            () if most > MOST_BITS => Err(JobError::Bits(most)),
            () if tables > MOST_CYCLE_BYTES => Err(JobError::Tables(tables)),
            () if ands > most_ands(scheme) => Err(JobError::Ands {
                ands,
                scheme,
                most: most_ands(scheme),
            }),
            () => Ok(job),
        }
    }

    /// Returns whether the netlist is that of another job.
    pub fn is_of_netlist(&self, other: &Job) -> bool {
        self.parts.netlist == other.parts.netlist
    }

    pub(crate) fn parts(&self) -> &JobParts {
        &self.parts
    }

    /// Returns the netlist in the form of devices.
    pub fn netlist(&self) -> &DeviceNetlist {
        &self.netlist
    }

    pub(crate) fn tape(&self) -> &CycleTape {
        &self.tape
    }

    pub(crate) fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Returns the number of netlist cycles of a session.
    pub fn cycles(&self) -> u32 {
        self.parts.span.cycles
    }

    /// Returns the netlist cycles whose outputs the client learns.
    pub fn opened(&self) -> Opened {
        self.parts.span.opened
    }

    /// Returns true if the outputs of a netlist cycle, counted from 0, are opened.
    pub(crate) fn opens(&self, cycle: u32) -> bool {
        self.opened() == Opened::Every || cycle + 1 == self.cycles()
    }

    /// Returns the garbling scheme.
    pub fn scheme(&self) -> Scheme {
        self.parts.scheme
    }

    /// Returns the declared class of the network.
    pub fn network(&self) -> NetworkClass {
        self.parts.network
    }

    /// Returns the hash of the job, which both parties compare.
    pub fn hash(&self) -> [u8; 32] {
        let JobParts {
            netlist,
            span,
            scheme,
            network,
        } = self.parts;
        let mut hasher = blake3::Hasher::new_derive_key("sealane 2 job of a served netlist");
        hasher
            .update(&netlist)
            .update(&span.cycles.to_le_bytes())
            .update(&[span.opened as u8])
            .update(format!("{} {network}", scheme.name()).as_bytes());
        *hasher.finalize().as_bytes()
    }

    /// Returns the bits of inputs in a session, of garbler and evaluator.
    pub fn input_bits(&self) -> [u64; 2] {
        let cycles = u64::from(self.cycles());
        self.input_parts().map(|[once, each]| once + each * cycles)
    }

    /// Returns the bits of inputs of garbler and evaluator: those given once, and those of each
    /// netlist cycle.
    pub fn input_parts(&self) -> [[u64; 2]; 2] {
        let inputs = self.netlist.netlist().parts().inputs;
        [
            [inputs.garbler_initial, inputs.garbler],
            [inputs.evaluator_initial, inputs.evaluator],
        ]
        .map(|parts| parts.map(u64::from))
    }

    /// Returns the bits of outputs that a session opens.
    pub fn output_bits(&self) -> u64 {
        let cycles = match self.opened() {
            Opened::Last => 1,
            Opened::Every => self.cycles(),
        };
        self.ports.len() as u64 * u64::from(cycles)
    }

    /// Returns the source of oblivious transfers.
    pub(crate) fn source(&self) -> Source {
        Source::plain(self.parts.network)
    }

    /// Returns the bytes and rounds of a session, input and output included.
    pub fn promise(&self) -> Promise {
        let [garbler, evaluator] = self.input_bits();
        let mut promise = Promise {
            from_server: Nonce::BYTES as u64,
            ..Promise::default()
        };
        if evaluator > 0 {
            let cost = self.source().cost();
            let flights = [cost.set_up(), cost.extend(0, evaluator)].concat();
            for flight in &flights {
                promise.from_server += flight.from_sender;
                promise.from_client += flight.from_receiver;
            }
            promise.from_client += given_bytes(evaluator);
            // The choices leave with the last message of the set-up that the client sends.
            promise.rounds = cost.set_up().len() as u32;
        }
        let shape = self.netlist.shape();
        let ands = u64::from(shape.ands) * u64::from(self.cycles());
        promise.from_server += LABEL_BYTES * (garbler + evaluator) + 32 * ands;
        promise.from_server += DIGEST_BYTES + self.output_bits().div_ceil(8);
        promise.from_client += DIGEST_BYTES;
        // Labels and tables; the client's digest; masks and the server's digest.
        promise.rounds += 3;
        promise
    }
}
