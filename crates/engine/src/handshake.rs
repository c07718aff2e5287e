//! What the parties compare before a run and tell each other after it.
//!
//! 1. The parts of the job, which people approved: program, protocol, network class, plan.
//! 2. Row counts: each party states those of its own tables; together they must give every one.
//! 3. The hash of the instance: the job with the row counts filled in, compared by machine.
//!
//! Only row counts depend on inputs at all, and they are public by the meaning of a program.
//! After the run each party tells what it sent and how many rounds it saw, so that every report
//! has the bytes of all parties.

use crate::data::OwnRows;
use crate::error::{EngineError, name};
use crate::job::Job;
use sealane_net::{Mesh, NetError, PartyId};
use serde::{Deserialize, Serialize};

/// Steps 1 and 2, sent by every party to every other.
#[derive(Serialize, Deserialize)]
struct Hello {
    parts: Vec<[u8; 32]>,
    /// For people, where parts differ: protocol and network class by name.
    protocol: String,
    network: String,
    rows: OwnRows,
}

/// Step 3.
#[derive(Serialize, Deserialize)]
struct Instance([u8; 32]);

/// After the run.
#[derive(Serialize, Deserialize)]
struct Goodbye {
    /// Payload bytes sent to each party.
    sent: Vec<u64>,
    rounds: u32,
}

/// Agrees on the job and on the row counts, which it returns.
pub(crate) fn agree(job: &Job, own: &OwnRows, mesh: &mut Mesh) -> Result<Vec<u64>, EngineError> {
    let names = &job.program().parties;
    let net = |error| EngineError::from_net(error, names);
    let parts = job.parts();
    let hello = Hello {
        parts: parts.iter().map(|part| part.hash).collect(),
        protocol: job.protocol().to_string(),
        network: job.network_name().to_string(),
        rows: own.clone(),
    };
    let peers = mesh.peers().collect::<Vec<_>>();
    for peer in &peers {
        mesh.send_control(*peer, &hello).map_err(net)?;
    }
    let mut rows = own.clone();
    for peer in &peers {
        let theirs: Hello = mesh.recv_control(*peer).map_err(net)?;
        let count = parts.len().max(theirs.parts.len());
        for i in 0..count {
            let (ours, there) = (parts.get(i), theirs.parts.get(i));
            if ours.map(|part| part.hash) != there.copied() {
                return Err(differs(job, i, &theirs, &name(names, *peer)));
            }
        }
        merge_rows(job, &mut rows, &theirs.rows, *peer)?;
    }
    let rows = rows.into_iter().zip(&job.program().rows);
    let rows = rows.map(|(count, table)| {
        count.ok_or_else(|| {
            EngineError::Rows(format!("no party says how many rows `{}` has", table.name))
        })
    });
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let instance = job.instance_hash(&rows);
    for peer in &peers {
        mesh.send_control(*peer, &Instance(instance)).map_err(net)?;
    }
    for peer in &peers {
        let Instance(theirs) = mesh.recv_control(*peer).map_err(net)?;
        if theirs != instance {
            return Err(EngineError::Rows(format!(
                "{} filled in other row counts than this party",
                name(names, *peer)
            )));
        }
    }
    Ok(rows)
}

/// Exchanges what was sent: payload bytes by sender and receiver, and the rounds of the run.
pub(crate) fn part(names: &[String], mesh: &mut Mesh) -> Result<(Vec<Vec<u64>>, u32), EngineError> {
    let net = |error| EngineError::from_net(error, names);
    let count = mesh.parties();
    let me = mesh.me();
    let parties = (0..count).map(PartyId::from_index).collect::<Vec<_>>();
    let own = |mesh: &Mesh| {
        let sent = |to: &PartyId| if *to == me { 0 } else { mesh.payload_sent(*to) };
        parties.iter().map(sent).collect::<Vec<_>>()
    };
    let mut sent = vec![vec![]; count];
    sent[me.index()] = own(mesh);
    let mut rounds = mesh.rounds();
    let goodbye = Goodbye { sent: sent[me.index()].clone(), rounds };
    let peers = mesh.peers().collect::<Vec<_>>();
    for peer in &peers {
        mesh.send_control(*peer, &goodbye).map_err(net)?;
    }
    for peer in &peers {
        let theirs: Goodbye = mesh.recv_control(*peer).map_err(net)?;
        if theirs.sent.len() != count || theirs.sent[me.index()] != mesh.payload_received(*peer) {
            let what = "its account of what it sent differs from what came".to_string();
            return Err(net(NetError::Malformed(*peer, what)));
        }
        sent[peer.index()] = theirs.sent;
        rounds = rounds.max(theirs.rounds);
    }
    Ok((sent, rounds))
}

fn merge_rows(
    job: &Job,
    rows: &mut OwnRows,
    theirs: &OwnRows,
    peer: PartyId,
) -> Result<(), EngineError> {
    let tables = &job.program().rows;
    let peer = name(&job.program().parties, peer);
    if theirs.len() != tables.len() {
        return Err(EngineError::Rows(format!("{peer} counts the rows of other tables")));
    }
    for ((count, said), table) in rows.iter_mut().zip(theirs).zip(tables) {
        match (*count, *said) {
            (_, Some(said)) if said == 0 || said > table.bound => {
                return Err(EngineError::Rows(format!(
                    "{peer} has {said} rows of `{}`, outside 1 to {}",
                    table.name, table.bound
                )));
            }
            (Some(count), Some(said)) if count != said => {
                return Err(EngineError::Rows(format!(
                    "`{}` has {count} rows here and {said} at {peer}",
                    table.name
                )));
            }
            (_, Some(said)) => *count = Some(said),
            (_, None) => {}
        }
    }
    Ok(())
}

fn differs(job: &Job, part: usize, theirs: &Hello, peer: &str) -> EngineError {
    let parts = job.parts();
    let short = |hash: Option<&[u8; 32]>| match hash {
        Some(hash) => crate::job::hex(&hash[..6]),
        None => "nothing".to_string(),
    };
    let part_name = parts.get(part).map_or("number of parts", |part| part.name);
    // The peer's text is untrusted: only its beginning is shown, without control characters.
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(40).collect()
    };
    let (ours, there) = match part_name {
        "protocol" if theirs.protocol != job.protocol() => {
            (job.protocol().to_string(), plain(&theirs.protocol))
        }
        "network" => (job.network_name().to_string(), plain(&theirs.network)),
        _ => (short(parts.get(part).map(|part| &part.hash)), short(theirs.parts.get(part))),
    };
    EngineError::Job { peer: peer.to_string(), part: part_name, ours, theirs: there }
}
