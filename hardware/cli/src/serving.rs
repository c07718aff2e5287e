//! Netlists that a server garbles for clients: their meeting, and failures of their sessions.

use sealane_diagnostic::{Code, Diagnostic};
use sealane_engine::EngineError;
use sealane_host::config::{Config, Party};
use sealane_host::{Failure, connect};
use sealane_net::{Cancel, Endpoint, Limits, Mesh, Reception};
use sealane_parties::PartyId;
use sealane_serve::device::DeviceError;
use sealane_serve::{JobError, Opened, Refusal, ServeError};
use std::path::Path;
use std::time::Duration;

/// Connects the party `own` to the party `server`, as its client.
///
/// # Errors
/// The configuration lacks a party or the private key of this one, or the server cannot be reached,
/// has another key, or runs another version.
pub fn connect(
    [own, server]: [&str; 2],
    config: &Config,
    identity: Option<&Path>,
    cancel: &Cancel,
) -> Result<Mesh, Failure> {
    if own == server {
        let what = format!("`{own}` is this party itself");
        let hint = "name the party that serves with `--with`";
        return Err(Failure::new(Code::UnknownParty, what, hint));
    }
    let names = [server, own].map(String::from);
    let mut mesh = connect::mesh_config(&names, PartyId(1), config, || {
        connect::identity(own, config, identity)
    })?;
    mesh.cancel = cancel.clone();
    Ok(Mesh::connect(&mesh).map_err(|error| EngineError::from_net(error, &names))?)
}

/// Listens as the party `own` for all other parties of the configuration. Returns their names by
/// number as well.
///
/// # Errors
/// The configuration lacks this party, its private key or any other party, or the address cannot be
/// listened at.
pub fn listen(
    own: &str,
    config: &Config,
    identity: Option<&Path>,
    patience: Duration,
    cancel: &Cancel,
) -> Result<(Reception, Vec<String>), Failure> {
    let party = connect::party_config(own, config)?;
    let identity = connect::identity(own, config, identity)?;
    let endpoint = |name: &str, party: &Party| Endpoint {
        name: name.to_string(),
        address: party.address.clone(),
        key: party.key,
    };
    let others = config.parties.iter().filter(|(name, _)| *name != own);
    let clients: Vec<Endpoint> = others.map(|(name, party)| endpoint(name, party)).collect();
    let names: Vec<String> = clients.iter().map(|client| client.name.clone()).collect();
    if clients.is_empty() {
        let what = "the configuration has no party beside this one";
        let hint = "add each client by its card, `sealane peer add CARD`";
        return Err(Failure::new(Code::PeerUnknown, what, hint));
    }
    let limits = Limits {
        patience,
        ..connect::limits(config)
    };
    let server = endpoint(own, party);
    let listen = party.listen.clone();
    let reception = Reception::open(server, identity, clients, listen, limits, cancel);
    let all = [vec![own.to_string()], names.clone()].concat();
    let reception = reception.map_err(|error| EngineError::from_net(error, &all))?;
    Ok((reception, names))
}

/// The side of a session that a failure is told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Here {
    /// The server, about a client.
    Server,
    /// The client, about its server.
    Client,
}

/// The failure of a session with this server and client, for the side that is here.
pub fn failure(error: ServeError, [server, client]: [&str; 2], here: Here) -> Failure {
    match error {
        ServeError::Fault(fault) => {
            let names = [server, client].map(String::from);
            EngineError::from_fault(fault, &names).into()
        }
        ServeError::Device(error) => of_device(&error),
        ServeError::Refused(refusal) => {
            let (message, hint) = match here {
                Here::Client => {
                    let message = format!("{server} does not take the session: {refusal}");
                    (message, for_client(&refusal, server))
                }
                Here::Server => for_server(&refusal, client),
            };
            Failure::from(Diagnostic::new(Code::OtherJob, message).hint(hint))
        }
    }
}

/// The action that a client takes whose session is refused.
fn for_client(refusal: &Refusal, server: &str) -> String {
    match refusal {
        Refusal::Version(_) => "install the same version on both sides".to_string(),
        Refusal::Netlist => format!(
            "ask {server} for the file that it serves: both sides need the same netlist, gate by \
             gate"
        ),
        Refusal::Cycles(cycles) => {
            format!("begin the file of `--input` with the line `cycles {cycles}`, if that is meant")
        }
        Refusal::Opened(Opened::Last) => {
            "leave the word `open-every` out of the file of `--input`".to_string()
        }
        Refusal::Opened(Opened::Every) => {
            "write `open-every` behind `cycles COUNT` in the file of `--input`".to_string()
        }
        Refusal::Scheme(scheme) => format!("run it with `--scheme {scheme}`"),
        Refusal::Network(network) => format!("run it with `--network {network}`"),
        Refusal::Busy => "run it again when others have ended".to_string(),
        Refusal::Spent => format!(
            "ask {server} for more sessions: `--sessions-each` of its `sealane-hw serve` bounds them"
        ),
        Refusal::Deviated => format!(
            "find out why, and tell {server}: it takes sessions with this party again once it is \
             started anew"
        ),
    }
}

/// The event and the action for the log of a server that has refused a session.
fn for_server(refusal: &Refusal, client: &str) -> (String, String) {
    let same = "its own report names the difference, and what it does about it";
    let (event, hint) = match refusal {
        Refusal::Version(_) => (
            "speaks another version of the messages",
            "install the same version on both sides",
        ),
        Refusal::Netlist => (
            "asks for a netlist that is not served here",
            "if it is to be, put it into the folder that is served, and start anew",
        ),
        Refusal::Cycles(_) => ("asks for another number of netlist cycles", same),
        Refusal::Opened(_) => ("asks for the outputs of other netlist cycles", same),
        Refusal::Scheme(_) => ("asks for another scheme", same),
        Refusal::Network(_) => ("declares another network class", same),
        Refusal::Busy => (
            "has come while all sessions are taken",
            "it is told to come again; `--clients` bounds the sessions at the same time",
        ),
        Refusal::Spent => (
            "has had as many sessions as `--sessions-each` gives it",
            "start anew to give it more, if it may learn as much",
        ),
        Refusal::Deviated => (
            "has deviated in an earlier session and gets no other",
            "find out why before you start anew",
        ),
    };
    let message = format!("{client} gets no session: it {event}");
    (message, hint.to_string())
}

/// The failure of a device.
pub fn of_device(error: &DeviceError) -> Failure {
    let hint = match error {
        DeviceError::OtherBuild { expected, .. } => {
            let target = expected.target();
            let hint = format!(
                "name the bench `target/rtl/{target}/bench` with `--bench`, which `make -C hardware/rtl \
                 {target}` builds; or state another `--machine`, `--engines` or `--scheme`"
            );
            return Failure::new(Code::Device, error.to_string(), hint);
        }
        DeviceError::Start { .. } => {
            "name the bench with `--bench`; the guide to garbling hardware says how each is built"
        }
        DeviceError::Netlist(_) => "serve it with `--device cpu`, or make the netlist smaller",
        DeviceError::Limit => "state fewer netlist cycles, or more ANDs with `--most-ands`",
        _ => "serve with `--device cpu` until the device is mended",
    };
    Failure::new(Code::Device, error.to_string(), hint)
}

/// The failure of a job that cannot be served.
pub fn of_job(error: &JobError) -> Failure {
    match error {
        JobError::Device(error) => of_device(error),
        error => {
            let hint = "state fewer netlist cycles in the input, or make the netlist smaller";
            Failure::new(Code::Device, error.to_string(), hint)
        }
    }
}
