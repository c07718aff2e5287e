//! From a configuration to the mesh of a run.

use crate::config::Config;
use crate::failure::Failure;
use sealane_engine::{EngineError, Job, NetworkClass};
use sealane_net::{Endpoint, Identity, Limits, Mesh, MeshConfig, PartyId};
use std::path::Path;

/// The index of a party of a program.
///
/// # Errors
/// The program has no such party.
pub fn party(parties: &[String], name: &str) -> Result<u8, Failure> {
    parties
        .iter()
        .position(|party| party == name)
        .map(|index| index as u8)
        .ok_or_else(|| {
            let hint = format!("its parties are: {}", parties.join(", "));
            Failure::usage(format!("the program has no party `{name}`"), hint)
        })
}

/// The declared network class: what the command says, else the configuration, else a LAN.
pub fn network(stated: Option<NetworkClass>, config: Option<&Config>) -> NetworkClass {
    let configured = config.and_then(|config| config.network);
    stated.or(configured).unwrap_or(NetworkClass::Lan)
}

/// Everything that party `me` needs to meet the others; nothing is sent yet.
///
/// # Errors
/// The configuration lacks a party or its private key, or that key is another party's.
pub fn mesh_config(
    job: &Job,
    me: u8,
    config: &Config,
    identity: Option<&Path>,
) -> Result<MeshConfig, Failure> {
    let names = &job.program().parties;
    let mut parties = Vec::with_capacity(names.len());
    for name in names {
        let party = config.parties.get(name).ok_or_else(|| {
            let what = format!("the configuration lacks the party `{name}`");
            Failure::usage(
                what,
                format!("add `[parties.{name}]` with its address and key"),
            )
        })?;
        let (address, key) = (party.address.clone(), party.key);
        parties.push(Endpoint {
            name: name.clone(),
            address,
            key,
        });
    }
    let name = &names[usize::from(me)];
    let own = &config.parties[name];
    let file = identity.or(own.identity.as_deref()).ok_or_else(|| {
        let what = format!("the private key of `{name}` is not known");
        Failure::usage(
            what,
            "name its file with `--identity`, or as `identity` in the file",
        )
    })?;
    let identity = Identity::load(file)
        .map_err(|error| Failure::usage(error.to_string(), "`sealane keygen FILE` makes a key"))?;
    if identity.public_key() != own.key {
        let what = format!(
            "{} is not the key of `{name}`: its public key is {}, the configuration says {}",
            file.display(),
            identity.public_key(),
            own.key
        );
        return Err(Failure::usage(
            what,
            "name the right file, or mend the configuration",
        ));
    }
    let mut limits = Limits::default();
    if let Some(timeout) = config.timeout {
        limits = Limits {
            connect: timeout,
            silence: timeout,
            ..limits
        };
    }
    Ok(MeshConfig {
        me: PartyId(me),
        identity,
        parties,
        listen: own.listen.clone(),
        limits,
    })
}

/// Meets the other parties.
///
/// # Errors
/// One cannot be reached, has another key, or runs another version.
pub fn connect(config: &MeshConfig) -> Result<Mesh, Failure> {
    let names = config
        .parties
        .iter()
        .map(|party| party.name.clone())
        .collect::<Vec<_>>();
    Mesh::connect(config).map_err(|error| EngineError::from_net(error, &names).into())
}
