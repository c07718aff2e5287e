//! Crate `serve`: netlists that a server garbles for many clients, on any garbling device.
//!
//! A [`Device`](device::Device) holds a netlist and garbles it for clients that take turns: the CPU
//! garbler, the cycle model of a [machine](device::RtlMachine), or the hardware of `rtl/` under
//! Verilator. A [`server`](server::serve) gives what the device garbles to a
//! [`client`](client::run), which evaluates and learns the outputs.
//!
//! The protocol is that of crate `yao`, on the same meshes, with the same oblivious transfers,
//! streams of tables and digests. It differs where a device decides: hardware chooses the labels of
//! inputs, and gives masks of outputs in place of labels. Steps:
//!
//! 1. *Set-up.* The server sends a nonce, from which both expand the public key of the hash. It
//!    draws the offset, the key of labels and their start, which its device gets. Base OTs, if the
//!    client has inputs.
//! 2. *Inputs of the client*, all of the session at once: correlated OTs with given choices. The
//!    server gets blocks `q`, the client `q` or `q ^ offset`.
//! 3. *Netlist cycles*, one after the other. For each input of the server the active label, for
//!    each input of the client the sum of its zero label and `q`, from which the client comes to
//!    its active label; then the tables.
//! 4. *Settle.* The client sends a digest of all that it sent, which the server compares.
//! 5. *Open.* The server sends bit 0 of the zero label of each output of the last netlist cycle, or
//!    of every one if the job says so, and a digest of all that it sent, these masks included. The
//!    client compares it, and adds bit 0 of its active labels. The client alone learns the outputs.
//!
//! **Security.** As `yao`: semi-honest, one of two parties, under the assumption of the scheme. The
//! client sees active labels, which are uniform, `q` and tables; a sum of a zero label and `q` is
//! uniform too, since both are. The host has to trust its device, which knows the offset. A client
//! that lies about its digest harms itself alone. Each session tells its client another output of
//! the server's input: [`guests`] bounds their number, and sends clients away that have deviated.
//!
//! **Devices cannot be told apart** by what crosses: labels, tables and masks are the same function
//! of the keys, and leave in the same order. How long a device takes can be seen.
#![forbid(unsafe_code)]

pub mod client;
pub mod collect;
pub mod device;
pub mod guests;
pub mod input;
mod job;
mod messages;
pub mod server;

pub use job::{Job, JobError, MOST_BITS, MOST_CYCLE_BYTES, Opened, Promise, Span, most_ands};
pub use messages::{CLIENT, Refusal, SERVER, SchemeName, examples, fuzzing};

use device::DeviceError;
use sealane_net::NetError;
use sealane_ot::OtError;
use sealane_party::Fault;

/// The reason why a session ended before its outputs were opened.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A fault of the network or of the other side.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A fault of the device of this side.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The server does not serve what the client asks for.
    #[error(transparent)]
    Refused(Refusal),
}

impl From<NetError> for ServeError {
    fn from(error: NetError) -> ServeError {
        ServeError::Fault(error.into())
    }
}

impl From<OtError> for ServeError {
    fn from(error: OtError) -> ServeError {
        ServeError::Fault(error.into())
    }
}

/// Account of a session that ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The promise of the job.
    pub planned: Promise,
    /// Measured by this side.
    pub measured: Promise,
    /// Clock cycles of the device, at a server whose device counts them.
    pub clock_cycles: Option<u64>,
}
