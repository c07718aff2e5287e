//! Agreement of server and client before a session.
//!
//! 1. The client asks: the parts of the job, and its contribution to the identifier of the session.
//! 2. The server grants it with its own contribution, or refuses it with the reason.
//!
//! The identifier is the hash of the job, the keys that both have shown, and both contributions. It
//! goes into keys, hashes and digests of the session.

use crate::ServeError;
use crate::job::{Job, JobParts, Opened, Span};
use sealane_block::Coins;
use sealane_garble::Scheme;
use sealane_net::{Cause, Mesh, SessionId};
use sealane_parties::{NetworkClass, PartyId};
use serde::{Deserialize, Serialize};

/// The server, which garbles.
pub const SERVER: PartyId = PartyId(0);
/// The client, which evaluates.
pub const CLIENT: PartyId = PartyId(1);

/// Version of the messages.
const VERSION: u16 = 3;

/// Message of step 1.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ask {
    version: u16,
    netlist: [u8; 32],
    cycles: u32,
    opened: Opened,
    scheme: Named,
    network: NetworkClass,
    contribution: [u8; 32],
}

/// Message of step 2.
#[derive(Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The session begins.
    Granted { contribution: [u8; 32] },
    /// There is no session.
    Refused(Refusal),
}

/// A scheme that devices garble under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Named {
    Prp,
    Mi,
}

impl Named {
    fn of(scheme: Scheme) -> Named {
        match scheme {
            Scheme::Prp => Named::Prp,
            _ => Named::Mi,
        }
    }

    fn scheme(self) -> Scheme {
        match self {
            Named::Prp => Scheme::Prp,
            Named::Mi => Scheme::Mi,
        }
    }
}

/// The reason why a server refuses a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Refusal {
    /// It speaks another version of these messages.
    #[error("it speaks version {0} of the messages of served netlists")]
    Version(u16),
    /// It does not serve this netlist.
    #[error("it does not serve this netlist")]
    Netlist,
    /// It serves the netlist for another number of cycles.
    #[error("it serves the netlist for {0} netlist cycles")]
    Cycles(u32),
    /// It opens the outputs of other netlist cycles.
    #[error("it opens the outputs of {}", cycles(.0))]
    Opened(Opened),
    /// It garbles under another scheme.
    #[error("it garbles under the scheme `{0}`")]
    Scheme(SchemeName),
    /// It declares another class of network.
    #[error("it declares the network class `{0}`")]
    Network(NetworkClass),
    /// It has as many sessions as it takes.
    #[error("it has as many sessions as it takes")]
    Busy,
    /// It has had as many sessions with this client as it gives one.
    #[error("it has had as many sessions with this client as it gives one")]
    Spent,
    /// A check has found that this client deviated.
    #[error("a check has found that this client deviated in an earlier session")]
    Deviated,
}

/// The name of a scheme in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemeName(Named);

impl std::fmt::Display for SchemeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.scheme().name())
    }
}

fn cycles(opened: &Opened) -> &'static str {
    match opened {
        Opened::Last => "the last netlist cycle alone",
        Opened::Every => "every netlist cycle",
    }
}

/// Asks for a session, and enters it.
///
/// # Errors
/// The server refuses, or the network fails.
pub(crate) fn ask(job: &Job, coins: &mut Coins, mesh: &mut Mesh) -> Result<(), ServeError> {
    let contribution = *coins.public("serve: session").nonce().as_bytes();
    let JobParts {
        netlist,
        span: Span { cycles, opened },
        scheme,
        network,
    } = *job.parts();
    let ask = Ask {
        version: VERSION,
        netlist,
        cycles,
        opened,
        scheme: Named::of(scheme),
        network,
        contribution,
    };
    mesh.send_control(SERVER, &ask)?;
    match mesh.recv_control(SERVER)? {
        Answer::Granted {
            contribution: theirs,
        } => {
            enter(job, [theirs, contribution], mesh);
            Ok(())
        }
        Answer::Refused(refusal) => Err(ServeError::Refused(refusal)),
    }
}

/// Hears what a client asks for, finds the job, and enters the session if `admit` lets it. Returns
/// the job's number.
///
/// # Errors
/// Nothing of the kind is served, the client is not admitted, or the network fails. The client has
/// been told.
pub(crate) fn hear(
    jobs: &[&Job],
    admit: impl FnOnce() -> Result<(), Refusal>,
    coins: &mut Coins,
    mesh: &mut Mesh,
) -> Result<usize, ServeError> {
    let ask: Ask = mesh.recv_control(CLIENT)?;
    let found = find(jobs, &ask).and_then(|number| admit().map(|()| number));
    match found {
        Ok(number) => {
            let contribution = *coins.public("serve: session").nonce().as_bytes();
            mesh.send_control(CLIENT, &Answer::Granted { contribution })?;
            enter(jobs[number], [contribution, ask.contribution], mesh);
            Ok(number)
        }
        Err(refusal) => Err(refuse(refusal, mesh)),
    }
}

/// Tells a client that there is no session for it.
pub(crate) fn refuse(refusal: Refusal, mesh: &mut Mesh) -> ServeError {
    // If the client does not hear it, it hears that the server is gone.
    let reported = mesh.send_control(CLIENT, &Answer::Refused(refusal.clone()));
    let _ = reported.and_then(|()| mesh.finish());
    ServeError::Refused(refusal)
}

fn find(jobs: &[&Job], ask: &Ask) -> Result<usize, Refusal> {
    if ask.version != VERSION {
        return Err(Refusal::Version(VERSION));
    }
    let mut jobs = jobs.iter().enumerate();
    let of_netlist = jobs.find(|(_, job)| job.parts().netlist == ask.netlist);
    let (number, job) = of_netlist.ok_or(Refusal::Netlist)?;
    let parts = job.parts();
    match () {
        () if job.cycles() != ask.cycles => Err(Refusal::Cycles(job.cycles())),
        () if job.opened() != ask.opened => Err(Refusal::Opened(job.opened())),
        () if parts.scheme != ask.scheme.scheme() => {
            Err(Refusal::Scheme(SchemeName(Named::of(parts.scheme))))
        }
        () if parts.network != ask.network => Err(Refusal::Network(parts.network)),
        () => Ok(number),
    }
}

/// Enters the session: contributions of the server, then of the client.
fn enter(job: &Job, contributions: [[u8; 32]; 2], mesh: &mut Mesh) {
    let mut instance = blake3::Hasher::new_derive_key("sealane 1 session of a served netlist");
    instance.update(&job.hash());
    for key in mesh.pinned() {
        instance.update(key.as_bytes());
    }
    let instance = instance.finalize();
    mesh.set_session(SessionId::new(instance.as_bytes(), &contributions));
}

/// Tells the other side why this one gives up.
pub(crate) fn give_up(error: &ServeError, mesh: &mut Mesh) {
    let (cause, reason) = match error {
        ServeError::Fault(sealane_party::Fault::Net(error)) => {
            (error.cause(), "its network failed".to_string())
        }
        ServeError::Fault(fault) => (Cause::Party, fault.to_string()),
        ServeError::Device(_) => (Cause::Party, "its garbling device failed".to_string()),
        ServeError::Refused(refusal) => (Cause::Party, refusal.to_string()),
    };
    mesh.abort(cause, &reason);
}

/// One message of each kind, for the corpus of `fuzz/`.
#[doc(hidden)]
pub fn examples() -> [Vec<u8>; 3] {
    let ask = Ask {
        version: VERSION,
        netlist: [1; 32],
        cycles: 8,
        opened: Opened::Last,
        scheme: Named::Mi,
        network: NetworkClass::LAN,
        contribution: [2; 32],
    };
    let granted = Answer::Granted {
        contribution: [3; 32],
    };
    let refused = Answer::Refused(Refusal::Cycles(9));
    let written = [
        postcard::to_stdvec(&ask),
        postcard::to_stdvec(&granted),
        postcard::to_stdvec(&refused),
    ];
    written.map(|message| message.expect("room in memory"))
}

/// Parses bytes as each kind of message, and returns those that succeed in the encoding of this
/// crate. For the fuzz targets in `fuzz/`.
#[doc(hidden)]
pub fn fuzzing(bytes: &[u8]) -> [Option<Vec<u8>>; 2] {
    use sealane_net::fuzzing::control;
    [control::<Ask>(bytes), control::<Answer>(bytes)]
}
