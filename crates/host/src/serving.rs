//! Netlists that a server garbles for clients: their meeting, and failures of their sessions.

use crate::Failure;
use crate::config::Config;
use crate::meet;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_engine::EngineError;
use sealane_net::{Cancel, Endpoint, Limits, Mesh, Reception};
use sealane_parties::PartyId;
use sealane_serve::device::DeviceError;
use sealane_serve::{JobError, ServeError};
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
    let mut mesh = meet::mesh_config(&names, PartyId(1), config, || {
        meet::identity(own, config, identity)
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
    let party = meet::party_config(own, config)?;
    let identity = meet::identity(own, config, identity)?;
    let endpoint = |name: &str, party: &crate::config::Party| Endpoint {
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
        ..meet::limits(config)
    };
    let server = endpoint(own, party);
    let reception = Reception::open(
        server,
        identity,
        clients,
        party.listen.clone(),
        limits,
        cancel,
    );
    let all = [vec![own.to_string()], names.clone()].concat();
    let reception = reception.map_err(|error| EngineError::from_net(error, &all))?;
    Ok((reception, names))
}

/// The failure of a session with this server and client.
pub fn failure(error: ServeError, [server, client]: [&str; 2]) -> Failure {
    match error {
        ServeError::Fault(fault) => {
            let names = [server, client].map(String::from);
            EngineError::from_fault(fault, &names).into()
        }
        ServeError::Device(error) => of_device(&error),
        ServeError::Refused(refusal) => {
            let message = format!("{server} does not take the session: {refusal}");
            let hint = "ask it what it serves: netlist, netlist cycles, scheme and network class";
            Failure::from(Diagnostic::new(Code::OtherJob, message).hint(hint))
        }
    }
}

/// The failure of a device.
pub fn of_device(error: &DeviceError) -> Failure {
    let hint = match error {
        DeviceError::Start { .. } => {
            "name the bench with `--bench`; `make -C rtl all mi` builds it"
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
        error => Failure::new(
            Code::Device,
            error.to_string(),
            "state fewer netlist cycles in the input, or make the netlist smaller",
        ),
    }
}
