//! `sealane doctor`: the state of this machine, and the reachability of every peer.
//!
//! Each peer of the configuration is probed at its address until it answers, while this party
//! listens at its own address and answers probes in turn. So when all parties run it at the same
//! time, each of them learns which peers it reaches, and which peers have reached it. A peer that
//! waits in `sealane run`, or serves netlists, answers as well.

use crate::args;
use crate::pool;
use sealane_block::Cpu;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_engine::{EngineError, ProtocolName};
use sealane_host::Failure;
use sealane_host::config::Config;
use sealane_host::connect;
use sealane_host::pool::{Covered, covered};
use sealane_net::{
    Cancel, Endpoint, KeyFault, MeshConfig, NetError, PeerProbe, ProbeAnswer, ProbeEvent,
    ProbeReport, Purpose, Version, probe_peers,
};
use sealane_page::Card;
use sealane_page::units::seconds;
use sealane_parties::PartyId;
use sealane_pool::Count;
use sealane_terminal::print_card;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{Write, stderr};
use std::time::Duration;

/// Difference of clocks that is worth a note. No run depends on clocks, but events and reports of
/// two sides are compared by time.
const CLOCK_TOLERANCE_US: u64 = 5_000_000;

/// Checks this machine and, if there is a configuration, the peers in it.
///
/// # Errors
/// A check failed, which has been printed by then.
pub fn doctor(args: &args::DoctorArgs) -> Result<(), Failure> {
    let (mut card, mut value) = machine_card()?;
    let Some(config) = Config::find_if_any(args.own.config.as_deref())? else {
        card.line("peers", "unknown: there is no sealane.toml here");
        return print_card(args.json, &card, &Value::Object(value));
    };
    let (mesh, found) = print_probe(args, &config)?;
    let me = &mesh.parties[mesh.me.index()];
    let own = found
        .own
        .as_ref()
        .err()
        .map(|error| Problem::of(error, &mesh));
    let peers = mesh.parties.iter().zip(&found.peers);
    let peers =
        peers.filter_map(|(peer, sight)| Some(PeerStatus::new(peer, sight.as_ref()?, &mesh)));
    let peers = peers.collect::<Vec<_>>();

    card.line("this party", format!("{} at {}", me.name, me.address));
    card.line("fingerprint", me.key.fingerprint());
    let width = peers.iter().map(|peer| peer.endpoint.name.len()).max();
    let lines = peers.iter().map(|peer| peer.line(width.unwrap_or(0)));
    card.lines("peers", lines);
    if peers.is_empty() {
        card.line("peers", "none yet: add one with `sealane peer add CARD`");
    }
    let (pools, unreadable) = pools(&me.name, &mesh, &config, args);
    let lines = pools
        .iter()
        .flat_map(|covered| pool::lines(&me.name, covered));
    let broken = unreadable.iter().map(|(peer, failure)| {
        let finding = failure.finding();
        format!("with {peer}: error[{}]", finding.code)
    });
    card.lines("pools", lines.chain(broken));
    let pools = pools.iter().map(|covered| pool::value(&me.name, covered));
    value.insert("pools".to_string(), pools.collect());
    let problems = own
        .iter()
        .chain(peers.iter().filter_map(|peer| peer.problem.as_ref()));
    let problems = problems.collect::<Vec<_>>();
    for problem in &problems {
        card.bare(format!("\n{}", problem.0.render_with_source()));
    }
    for (_, failure) in &unreadable {
        card.bare(format!("\n{}", failure.finding().render_with_source()));
    }
    let well = problems.is_empty() && unreadable.is_empty();
    value.insert("well".to_string(), json!(well));
    value.insert(
        "me".to_string(),
        json!({
            "name": me.name,
            "address": me.address,
            "fingerprint": me.key.fingerprint(),
            "problem": own.as_ref().map(Problem::json),
            "turned_away": found.turned_away,
        }),
    );
    let rows = peers.iter().map(PeerStatus::json).collect::<Vec<_>>();
    value.insert("peers".to_string(), Value::Array(rows));
    print_card(args.json, &card, &Value::Object(value))?;
    not_well(own.is_some(), &peers, unreadable.len())
}

/// Returns what the pools with all peers cover, where there are any, and the peers with whom it
/// cannot be read.
fn pools(
    own: &str,
    mesh: &MeshConfig,
    config: &Config,
    args: &args::DoctorArgs,
) -> (Vec<Covered>, Vec<(String, Failure)>) {
    let (mut read, mut unreadable) = (Vec::new(), Vec::new());
    for peer in mesh.parties.iter().filter(|peer| peer.name != own) {
        match covered(own, &peer.name, config, args.own.identity.as_deref()) {
            Ok(pool) if pool.own == Count::default() && pool.theirs == Count::default() => {}
            Ok(pool) => read.push(pool),
            Err(failure) => unreadable.push((peer.name.clone(), failure)),
        }
    }
    (read, unreadable)
}

/// Describes the tier in use, the tiers that this machine can run, and versions.
fn machine_card() -> Result<(Card, Map<String, Value>), Failure> {
    let cpu = Cpu::detect().map_err(|error| {
        let hint = "unset SEALANE_TIER to use the best one";
        Failure::new(Code::CpuTier, error.to_string(), hint)
    })?;
    let tiers = Cpu::available();
    let tiers = tiers
        .iter()
        .map(|cpu| cpu.tier().name())
        .collect::<Vec<_>>();
    let protocols = ProtocolName::ALL.map(|name| (name.to_string(), name.profile().version));
    let target = format!("{} {}", std::env::consts::ARCH, std::env::consts::OS);
    let version = Version::current();
    let mut card = Card::new("sealane doctor");
    card.line("CPU tier", cpu.tier());
    card.line("tiers", tiers.join(", "));
    card.line("version", &version);
    let versions = protocols
        .iter()
        .map(|(name, version)| format!("{name} {version}"));
    card.line("protocols", versions.collect::<Vec<_>>().join(", "));
    card.line("machine", &target);
    let values = [
        ("tier", json!(cpu.tier().name())),
        ("tiers", json!(tiers)),
        ("version", json!(version.package)),
        ("wire", json!(version.wire)),
        (
            "protocols",
            json!(protocols.into_iter().collect::<BTreeMap<_, _>>()),
        ),
        ("machine", json!(target)),
    ];
    let values = values.map(|(name, value)| (name.to_string(), value));
    Ok((card, values.into_iter().collect()))
}

/// Probes all peers, and prints which peer has answered and which has probed this party.
fn print_probe(
    args: &args::DoctorArgs,
    config: &Config,
) -> Result<(MeshConfig, ProbeReport), Failure> {
    let identity = args.own.identity.as_deref();
    let name = connect::own_name(args.own.party.as_deref(), config, identity)?;
    let identity = connect::identity(&name, config, identity)?;
    let listen = connect::party_config(&name, config)?.listen.clone();
    // Parties are in the order of their names; a probe does not depend on it.
    let parties = config.parties.iter();
    let parties = parties.map(|(name, party)| party.endpoint(name));
    let parties = parties.collect::<Vec<_>>();
    let me = parties.iter().position(|party| party.name == name);
    let mesh = MeshConfig {
        me: PartyId::from_index(me.unwrap_or(0)),
        identity,
        parties,
        listen,
        limits: connect::limits(config),
        cancel: Cancel::default(),
    };
    let names = mesh.names();
    let mut notice = |sign| {
        let (party, what) = match sign {
            ProbeEvent::Answered(party) => (party, "answers"),
            ProbeEvent::Asked(party) => (party, "has asked this party"),
        };
        let _ = writeln!(stderr(), "{} {what}", names[party.index()]);
    };
    let found = probe_peers(&mesh, args.wait, &mut notice);
    let owned = names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let found = found.map_err(|error| EngineError::from_net(error, &owned))?;
    Ok((mesh, found))
}

/// Returns the failure of the command, if a check failed.
fn not_well(own: bool, peers: &[PeerStatus<'_>], pools: usize) -> Result<(), Failure> {
    let unwell = peers.iter().filter(|peer| peer.problem.is_some()).count();
    let all = peers.len();
    let what = match (own, unwell, pools) {
        (false, 0, 0) => return Ok(()),
        (false, 0, 1) => "1 pool cannot be used".to_string(),
        (false, 0, _) => format!("{pools} pools cannot be used"),
        (true, 0, _) => "this party cannot be asked at its own address".to_string(),
        _ => format!("{unwell} of {all} peers do not answer as they should"),
    };
    let hint = "what is printed above says what to do for each";
    Err(Failure::new(Code::NotWell, what, hint))
}

/// Peer with the result of its probe.
struct PeerStatus<'a> {
    endpoint: &'a Endpoint,
    sight: &'a PeerProbe,
    problem: Option<Problem>,
}

impl<'a> PeerStatus<'a> {
    fn new(endpoint: &'a Endpoint, sight: &'a PeerProbe, mesh: &MeshConfig) -> PeerStatus<'a> {
        let error = sight.answer.as_ref().err();
        let problem = error.map(|error| match (error, &sight.resolved) {
            (NetError::Unreachable { .. }, Err(cause)) => Problem::no_address(endpoint, cause),
            _ => Problem::of(error, mesh),
        });
        PeerStatus {
            endpoint,
            sight,
            problem,
        }
    }

    /// Describes the peer in one line.
    fn line(&self, width: usize) -> String {
        let name = &self.endpoint.name;
        let state = match (&self.sight.answer, &self.problem) {
            (Ok(answer), _) => self.answered(answer),
            (_, Some(problem)) => format!("error[{}]", problem.0.code),
            (Err(error), None) => error.to_string(),
        };
        format!("{name:<width$}  {state}")
    }

    fn answered(&self, answer: &ProbeAnswer) -> String {
        let asked = match (self.sight.asked, answer.purpose) {
            (true, _) => "; has asked this party",
            (false, Purpose::Probe) => "; has not reached this party",
            (false, Purpose::Run) => "; waits in `sealane run`",
            (false, Purpose::Serve) => "; serves netlists",
            (false, Purpose::Unknown) => "; does what this version does not know",
        };
        let (time, clock) = (seconds(answer.round_trip.as_secs_f64()), clock(answer));
        let mut text = format!("answers in {time}, clock {clock}{asked}");
        let (ours, theirs) = (Version::current().package, &answer.version.package);
        if *theirs != ours {
            text += &format!("; warning: it runs Sealane {theirs}, and here is {ours}");
        }
        text
    }

    fn json(&self) -> Value {
        let answer = self.sight.answer.as_ref().ok();
        json!({
            "name": self.endpoint.name,
            "address": self.endpoint.address,
            "resolved": self.sight.resolved.as_ref().unwrap_or(&vec![]),
            "fingerprint": self.endpoint.key.fingerprint(),
            "well": self.problem.is_none(),
            "asked": self.sight.asked,
            "version": answer.map(|answer| &answer.version.package),
            "wire": answer.map(|answer| answer.version.wire),
            "runs": answer.map(|answer| answer.purpose == Purpose::Run),
            "serves": answer.map(|answer| answer.purpose == Purpose::Serve),
            "round_trip_s": answer.map(|answer| answer.round_trip.as_secs_f64()),
            "clock_ahead_s": answer.map(|answer| answer.clock_ahead_us as f64 / 1e6),
            "clock_off": answer.map(is_clock_off),
            "problem": self.problem.as_ref().map(Problem::json),
        })
    }
}

/// Describes the clock of a peer, as far as the round trip can tell.
fn clock(answer: &ProbeAnswer) -> String {
    let off_us = answer.clock_ahead_us.unsigned_abs();
    if u128::from(off_us) <= answer.round_trip.as_micros() / 2 {
        return "equal".to_string();
    }
    let off = seconds(Duration::from_micros(off_us).as_secs_f64());
    let ahead = answer.clock_ahead_us > 0;
    let side = if ahead { "ahead" } else { "behind" };
    let far = " (far off: let both machines set their clocks by the network)";
    let far = if is_clock_off(answer) { far } else { "" };
    format!("{off} {side}{far}")
}

fn is_clock_off(answer: &ProbeAnswer) -> bool {
    answer.clock_ahead_us.unsigned_abs() > CLOCK_TOLERANCE_US
}

/// Diagnostic about a peer.
struct Problem(Diagnostic);

impl Problem {
    /// Problem of a peer whose host has no address.
    fn no_address(peer: &Endpoint, cause: &str) -> Problem {
        let Endpoint { name, address, .. } = peer;
        let what = format!("the host of {name} at {address} has no address");
        let hint = "ask for a new card if the name is wrong; else see whether this machine finds \
                    names at all";
        let finding = Diagnostic::new(Code::NoAddress, what);
        Problem(finding.because(cause).hint(hint))
    }

    /// Problem for the error of a probe, with names for parties and, for keys, their fingerprints.
    fn of(error: &NetError, mesh: &MeshConfig) -> Problem {
        let explained = error.with_names(&mesh.names());
        let (mut message, reason) = (explained.message, explained.reason.to_string());
        if let Some(party) = error.party() {
            // The numbers of parties belong to a program, and here is none.
            message = message.replace(&format!(" ({party})"), "");
        }
        let name = error.party().map(|party| &mesh.parties[party.index()].name);
        let name = name.map_or("", String::as_str);
        let hint = match error {
            NetError::WrongKey { fault, .. } => match fault {
                KeyFault::Theirs { .. } => format!(
                    "let {name} read the whole fingerprint that `sealane card` shows there over \
                     the telephone; if it has a new key, `sealane peer add CARD --replace`, and \
                     if not, do not go on"
                ),
                KeyFault::Ours { .. } | KeyFault::Unknown { .. } => format!(
                    "{name} has not pinned this party's key: send it what `sealane card` prints \
                     here, for `sealane peer add` there"
                ),
            },
            NetError::Unreachable { .. } => format!(
                "let {name} run `sealane doctor --wait 300` at the same time; if it does, see that \
                 its address is right and that its firewall lets this port in"
            ),
            NetError::Stalled { .. } | NetError::Malformed { .. } => format!(
                "see that the address of {name} leads to Sealane, and not to another program or a \
                 proxy"
            ),
            NetError::Listen { .. } => "end what listens there, which may be `sealane run`; where \
                 others reach this party by another address than its own, add `listen` to its table"
                .to_string(),
            _ => explained.hint.to_string(),
        };
        let finding = Diagnostic::new(explained.code, message);
        Problem(finding.because(reason).hint(hint))
    }

    fn json(&self) -> Value {
        let Problem(it) = self;
        let (code, message) = (it.code.name(), &it.message);
        json!({ "code": code, "message": message, "reason": it.reason, "hint": it.hint })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_identity::Identity;
    use sealane_testkit::page;

    #[test]
    fn what_doctor_finds_has_pages() {
        let peer = Endpoint {
            name: "lab".to_string(),
            address: "lab.example:7700".to_string(),
            key: Identity::generate().public_key(),
        };
        let mesh = MeshConfig {
            me: PartyId(1),
            identity: Identity::generate(),
            parties: vec![peer.clone()],
            listen: None,
            limits: sealane_net::Limits::default(),
            cancel: Cancel::default(),
        };
        let cause = "failed to lookup address information: Name or service not known";
        let (party, address) = (PartyId(0), &peer.address);
        let sight = |resolved| {
            let (address, reason) = (address.clone(), "refused".to_string());
            let answer = Err(NetError::Unreachable {
                party,
                address,
                reason,
            });
            PeerProbe {
                resolved,
                answer,
                asked: false,
            }
        };
        let code = |sight: &PeerProbe| {
            let problem = PeerStatus::new(&peer, sight, &mesh).problem;
            problem.expect("it has not answered").0
        };
        let nowhere = code(&sight(Err(cause.to_string())));
        page::shows("no-address", &nowhere.to_string());
        // A host with an address does not answer at it.
        let silent = code(&sight(Ok(vec!["192.0.2.1:7700".to_string()])));
        assert_eq!(silent.code, Code::Unreachable);
        let failure = not_well(true, &[], 0).expect_err("it is not well");
        page::shows("not-well", &failure.to_string());
        assert!(not_well(false, &[], 0).is_ok());
    }

    #[test]
    fn clocks_are_compared_as_far_as_the_round_trip_tells() {
        let answer = |clock_ahead_us| ProbeAnswer {
            version: Version::current(),
            purpose: Purpose::Probe,
            round_trip: Duration::from_millis(20),
            clock_ahead_us,
        };
        assert_eq!(clock(&answer(-10_000)), "equal");
        assert_eq!(clock(&answer(2_000_000)), "2.0 s ahead");
        let far = "90 s behind (far off: let both machines set their clocks by the network)";
        assert_eq!(clock(&answer(-90_000_000)), far);
        assert!(is_clock_off(&answer(i64::MIN)) && !is_clock_off(&answer(5_000_000)));
    }
}
