//! Agreement of the parties before a run, and exchange of their accounts after it.
//!
//! 1. The parts of the job, which people approved: program, protocol with the parties and their
//!    order, network class, plan. Also the public keys of all parties, as this one has pinned them:
//!    two parties that pin different keys for a third would talk to different machines under one
//!    name.
//! 2. Row counts, once all others have shown the same job and keys: each party states those of its
//!    own tables, and together they must cover every table.
//! 3. The hash of the instance: the job with row counts and keys filled in, compared by machine,
//!    and what each party holds in its pool, if the run draws on one.
//!    With it each party sends a random contribution to the identifier of the session, which is the
//!    hash of the instance and of all contributions. The mesh mixes it into everything that hashes,
//!    so keys, generators and digests of this session belong to no other. Two parties that received
//!    different contributions have different identifiers, and so digests that differ before
//!    anything is revealed.
//!
//! Two parties with different programs look for the first line that differs before they abort: see
//! `difference`.
//!
//! Only row counts depend on inputs at all, and they are public by the definition of a program.
//! After the run each party reports what it sent, so that every report has the bytes of all
//! parties, and its digest. No party accepts a result before it has this from all others. So a
//! party that finds an alteration keeps the others from results that may be wrong, and the messages
//! that open results, which come after all checks of the protocols, are checked as well.

mod difference;
#[cfg(test)]
mod vectors;

use crate::data::OwnRows;
use crate::error::{EngineError, name};
use crate::job::{Job, Rest, dispatch};
use crate::pool::{Draw, PoolShare};
use difference::{PrefixHashes, differing_line};
use sealane_block::Coins;
use sealane_identity::PublicKey;
use sealane_net::{Mesh, NetError, SessionId};
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::{Party, Stocks};
use sealane_plan::{CostReport, JobPart, JobParts};
use sealane_pool::{Offer, Pool};
use sealane_program::check::{MAX_NAME, MAX_PARTIES};
use sealane_program::graph::{RowSymbol, summed_rows};
use sealane_program::text::print_with_spans;
use serde::{Deserialize, Serialize};

/// Message of step 1, sent by every party to every other.
#[derive(Serialize, Deserialize)]
struct Hello {
    parts: JobParts,
    /// Text for people, shown if it differs.
    protocol: String,
    parties: Vec<String>,
    network: NetworkClass,
    pooled: bool,
    /// Keys by party; empty if links show no keys.
    keys: Vec<PublicKey>,
}

/// Message of step 2: the rows of the sender's own tables.
#[derive(Serialize, Deserialize)]
struct StatedRows {
    rows: OwnRows,
}

/// Message of step 3.
#[derive(Serialize, Deserialize)]
struct Instance {
    hash: [u8; 32],
    /// Contribution to the identifier of the session.
    contribution: [u8; 32],
    /// State of the sender's pool, if the run draws on it.
    pool: Option<Offer>,
}

/// Message of step 4, of runs that take from pools: in both directions, or by a protocol whose
/// parties would use some before they hear of each other.
#[derive(Serialize, Deserialize)]
struct Took;

impl Instance {
    /// Contribution of the sender to the session, with all else that it said.
    fn bound(&self) -> [u8; 32] {
        let Some(offer) = &self.pool else {
            return self.contribution;
        };
        let mut hasher = blake3::Hasher::new_derive_key("sealane 1 contribution with a pool");
        hasher.update(&self.contribution);
        offer.digest(&mut hasher);
        *hasher.finalize().as_bytes()
    }
}

/// Agreement of all parties.
pub(crate) struct Agreed {
    /// Row counts.
    pub rows: Vec<u64>,
    /// The work that is left, if some of them are 0.
    pub rest: Option<Rest>,
    /// Cost of the run with them.
    pub cost: CostReport,
    /// Transfers that the run took from the pool of its parties.
    pub stocks: Stocks,
}

/// Message after the run.
#[derive(Serialize, Deserialize)]
struct Goodbye {
    /// Payload bytes sent to each party.
    sent: Vec<u64>,
    rounds: u32,
    /// Digest of all payload sent to the recipient.
    digest: [u8; 32],
}

/// Agrees on the job, on the row counts, on what is taken from the pool, and on the session, which
/// the mesh enters.
pub(crate) fn agree<'a>(
    job: &Job,
    own: &OwnRows,
    pool: Option<&'a Pool>,
    coins: &mut Coins,
    mesh: &mut Mesh,
) -> Result<(Agreed, Option<Draw<'a>>), EngineError> {
    let names = job.parties();
    let net = |error| EngineError::from_net(error, names);
    let hello = Hello {
        parts: *job.parts(),
        protocol: job.protocol().to_string(),
        parties: names.to_vec(),
        network: job.network(),
        pooled: job.is_pooled(),
        keys: mesh.pinned().to_vec(),
    };
    let peers = mesh.peers().collect::<Vec<_>>();
    for peer in &peers {
        mesh.send_control(*peer, &hello).map_err(net)?;
    }
    for peer in &peers {
        let theirs: Hello = mesh.recv_control(*peer).map_err(net)?;
        if let Some(part) = job.parts().differences(&theirs.parts).first() {
            let line = match *part {
                JobPart::Program => differing_line(job.program(), *peer, mesh).map_err(net)?,
                _ => None,
            };
            return Err(differs(job, *part, &theirs, &name(names, *peer), line));
        }
        check_pinned_keys(mesh, &theirs.keys, *peer, names)?;
    }
    let stated = StatedRows { rows: own.clone() };
    for peer in &peers {
        mesh.send_control(*peer, &stated).map_err(net)?;
    }
    let tables = &job.program().rows;
    let mut rows = RowCounts::new(own, mesh.me());
    for peer in &peers {
        let theirs: StatedRows = mesh.recv_control(*peer).map_err(net)?;
        rows.merge(tables, names, &theirs.rows, *peer)?;
    }
    let rows = rows.complete(tables)?;
    // What follows from the program and from numbers of rows is known to all.
    let rest = job.rest(&rows).map_err(EngineError::made_public)?;
    let cost = match &rest {
        Some((left, counts)) => job.cost_of(left.cost(counts)?, &rows),
        None => job.cost(&rows)?,
    };
    let mut draw = Draw::begin(PoolShare::of(job, &cost), pool)?;
    let own = Instance {
        hash: job.instance_hash(&rows, cost.form, mesh.pinned()),
        contribution: *coins.public("session").nonce().as_bytes(),
        pool: draw.as_ref().map(Draw::offer),
    };
    for peer in &peers {
        mesh.send_control(*peer, &own).map_err(net)?;
    }
    let mut contributions = vec![own.bound(); mesh.parties()];
    let mut offer = None;
    for peer in &peers {
        let theirs: Instance = mesh.recv_control(*peer).map_err(net)?;
        contributions[peer.index()] = theirs.bound();
        if theirs.hash != own.hash {
            let peer = name(names, *peer);
            let (ours, theirs) = (&own.hash, &theirs.hash);
            return Err(EngineError::instance_mismatch(&peer, ours, theirs));
        }
        offer = theirs.pool;
    }
    mesh.set_session(SessionId::new(&own.hash, &contributions));
    let take = |draw: &mut Draw<'_>| draw.take(offer.as_ref(), mesh, names);
    let stocks = draw.as_mut().map(take).transpose()?.unwrap_or_default();
    // Where a party may use some before it hears of the other, each first says that its numbers
    // are on the disk.
    let taken = [stocks.sender.is_some(), stocks.receiver.is_some()];
    if taken != [false; 2] && (taken == [true; 2] || !dispatch!(job.protocol(), hears_first())) {
        for peer in &peers {
            mesh.send_control(*peer, &Took).map_err(net)?;
        }
        for peer in &peers {
            let Took = mesh.recv_control(*peer).map_err(net)?;
        }
    }
    let agreed = Agreed {
        rows,
        rest,
        cost,
        stocks,
    };
    Ok((agreed, draw))
}

fn hears_first<P: Party>() -> bool {
    P::HEARS_FIRST
}

/// Refuses a peer that has pinned another key for some party than this side.
fn check_pinned_keys(
    mesh: &Mesh,
    theirs: &[PublicKey],
    peer: PartyId,
    names: &[String],
) -> Result<(), EngineError> {
    let ours = mesh.pinned();
    if theirs.len() != ours.len() {
        // Either both ends of a link show keys or neither does, and the job has the same parties at
        // both.
        let reason = "keys of other parties than the job's".to_string();
        return Err(EngineError::from_net(
            NetError::Malformed {
                party: peer,
                reason,
            },
            names,
        ));
    }
    let Some(at) = ours
        .iter()
        .zip(theirs)
        .position(|(ours, theirs)| ours != theirs)
    else {
        return Ok(());
    };
    let [ours, theirs] = [ours[at], theirs[at]].map(PublicKey::fingerprint);
    let whose = name(names, PartyId::from_index(at));
    let name = name(names, peer);
    Err(EngineError::key_mismatch(&name, &whose, &ours, &theirs))
}

/// Exchanges accounts of what was sent: payload bytes by sender and receiver, and the rounds of the
/// run.
pub(crate) fn exchange_goodbyes(
    names: &[String],
    mesh: &mut Mesh,
) -> Result<(Vec<Vec<u64>>, u32), EngineError> {
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
    let peers = mesh.peers().collect::<Vec<_>>();
    for peer in &peers {
        let goodbye = Goodbye {
            sent: sent[me.index()].clone(),
            rounds,
            digest: mesh.digest_sent(*peer),
        };
        mesh.send_control(*peer, &goodbye).map_err(net)?;
    }
    for peer in &peers {
        let theirs: Goodbye = mesh.recv_control(*peer).map_err(net)?;
        // The count of bytes that the peer sent to this party can be compared, and no party sends
        // to itself. The other counts are the peer's claim, so sums of them must not overflow.
        if theirs.sent.len() != count
            || theirs.sent[me.index()] != mesh.payload_received(*peer)
            || theirs.sent[peer.index()] != 0
        {
            let reason = "its account of what it sent differs from what came".to_string();
            let party = *peer;
            return Err(net(NetError::Malformed { party, reason }));
        }
        // The digest is public to everybody who saw the traffic, so the comparison may take
        // variable time.
        if theirs.digest != mesh.digest_received(*peer) {
            return Err(EngineError::altered(&name(names, *peer)));
        }
        sent[peer.index()] = theirs.sent;
        rounds = rounds.max(theirs.rounds);
    }
    Ok((sent, rounds))
}

/// Parses bytes as each kind of control message, and returns those that succeed in the encoding of
/// this party. For the fuzz targets in `fuzz/`.
pub fn fuzzing(bytes: &[u8]) -> [Option<Vec<u8>>; 6] {
    use sealane_net::fuzzing::control;
    [
        control::<Hello>(bytes),
        control::<StatedRows>(bytes),
        control::<PrefixHashes>(bytes),
        control::<Instance>(bytes),
        control::<Goodbye>(bytes),
        sealane_pool::fuzzing::hello(bytes),
    ]
}

/// Row counts known so far, each with the party that stated it.
struct RowCounts(Vec<Option<(u64, PartyId)>>);

impl RowCounts {
    fn new(own: &OwnRows, me: PartyId) -> RowCounts {
        RowCounts(own.iter().map(|count| Some(((*count)?, me))).collect())
    }

    /// Adds the row counts that `peer` states.
    fn merge(
        &mut self,
        tables: &[RowSymbol],
        names: &[String],
        theirs: &OwnRows,
        peer: PartyId,
    ) -> Result<(), EngineError> {
        if theirs.len() != tables.len() {
            // The same program has the same tables, so no honest peer sends this.
            let reason = "row counts of other tables than the program's".to_string();
            let party = peer;
            let malformed = NetError::Malformed { party, reason };
            return Err(EngineError::from_net(malformed, names));
        }
        for ((known, said), table) in self.0.iter_mut().zip(theirs).zip(tables) {
            let Some(said) = *said else { continue };
            let (allowed, bound) = (table.allows(said), table.bound);
            let (table, peer_name) = (&table.name, name(names, peer));
            if !allowed {
                return Err(EngineError::row_mismatch(format!(
                    "{peer_name} has {said} rows of `{table}`, more than {bound}"
                )));
            }
            let (count, first) = *known.get_or_insert((said, peer));
            if count != said {
                let first = name(names, first);
                return Err(EngineError::row_mismatch(format!(
                    "`{table}` has {count} rows at {first} and {said} at {peer_name}"
                )));
            }
        }
        Ok(())
    }

    /// Returns all row counts, sums among them, once every party has stated its own.
    fn complete(self, tables: &[RowSymbol]) -> Result<Vec<u64>, EngineError> {
        let mut counts: Vec<Option<u64>> = Vec::new();
        for (known, table) in self.0.into_iter().zip(tables) {
            let (stated, sum) = (known.map(|(count, _)| count), summed_rows(table, &counts));
            let name = &table.name;
            match (stated, sum) {
                (None, None) => {
                    let what = format!("no party says how many rows `{name}` has");
                    return Err(EngineError::row_mismatch(what));
                }
                (Some(stated), Some(sum)) if stated != sum => {
                    let what = format!("`{name}` has {stated} rows, and its parts have {sum}");
                    return Err(EngineError::row_mismatch(what));
                }
                _ => counts.push(stated.or(sum)),
            }
        }
        Ok(counts.into_iter().flatten().collect())
    }
}

/// Creates the error for a part that differs. It shows the names that both sides use if those
/// differ, else hashes.
fn differs(job: &Job, part: JobPart, theirs: &Hello, peer: &str, at: Option<usize>) -> EngineError {
    let short = |parts: &JobParts| hex::encode(&parts.part(part)[..6]);
    let protocol = (job.protocol().to_string(), plain(&theirs.protocol));
    let parties = (listed(job.parties()), listed(&theirs.parties));
    let (name, (ours, theirs)) = match part {
        JobPart::Protocol if protocol.0 != protocol.1 => (part.name(), protocol),
        // The hash of this part covers the parties too.
        JobPart::Protocol if job.is_pooled() != theirs.pooled => {
            let use_of = |pooled| {
                if pooled {
                    "with `--pool`"
                } else {
                    "without a pool"
                }
            };
            let sides = [job.is_pooled(), theirs.pooled].map(|pooled| use_of(pooled).to_string());
            ("use of a pool", sides.into())
        }
        JobPart::Protocol if parties.0 != parties.1 => ("list of parties and helpers", parties),
        JobPart::Network if job.network() != theirs.network => (
            part.name(),
            (job.network().to_string(), theirs.network.to_string()),
        ),
        _ => (part.name(), (short(job.parts()), short(&theirs.parts))),
    };
    let error = EngineError::job_mismatch(peer, name, &ours, &theirs);
    let Some(number) = at else {
        return error;
    };
    // The full form has the same lines, and states the source line of each.
    let text = print_with_spans(job.program());
    error.in_line(number, text.lines().nth(number - 1))
}

/// Makes a name from a peer safe to print: its beginning, without control characters.
fn plain(text: &str) -> String {
    let shown = text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ');
    shown.take(MAX_NAME).collect()
}

/// Lists names in their order; a peer may have sent any number of them.
fn listed(names: &[String]) -> String {
    let names = names.iter().take(MAX_PARTIES).map(|name| plain(name));
    format!("[{}]", names.collect::<Vec<_>>().join(", "))
}
