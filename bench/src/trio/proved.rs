//! The profile of `trio` against one malicious party: ANDs with their proof, blocks of AES, sorts,
//! and a settlement over simulated networks.
//!
//! Of ANDs and of a settlement there are seconds of processor time of the busiest party, messages
//! in memory; over networks the time from the end of the last step to that of the settlement, each
//! at the party that is the last to get there. That is what a run adds behind its last step:
//! settlements of other tiles share their flights with steps. Parties end a step up to a flight
//! apart, and the first one waits for the last one whether there are proofs or not, so its own
//! time, from its first message to its end, is longer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sealane_block::Cpu;
use sealane_circuit::{Builder, Machine, Tape, compile};
use sealane_engine::ProtocolName;
use sealane_net::{Limits, LinkSpeed, Mesh};
use sealane_parties::PartyId;
use sealane_party::{Outcome, Step};
use sealane_protocol::{Algebra, Demand, Protocol, Setting};
use sealane_trio::{Guarded, GuardedParty};

use super::order::{self, Work};
use super::{BYTES_A_ROW, MANY, PARTIES, SECONDS, cpu_seconds, loopback, many, speed};
use crate::alone::Alone;
use crate::{Figures, Options, SuiteError, side_by_side};

/// ANDs of a lane, of one level.
const ANDS: usize = 64;
/// ANDs of a settlement: few, which are lifted, and up to a segment of a proof.
const SIZES: [usize; 4] = [1 << 10, 1 << 16, 1 << 20, 1 << 22];

/// Networks of a settlement: round trips of 0.3 ms and of 40 ms.
const NETWORKS: [(&str, LinkSpeed); 2] = [
    ("0.3ms", speed(300, 125_000_000)),
    ("40ms", speed(40_000, 12_500_000)),
];

pub(super) const NS_AND: &str = "cpu_ns_per_and";
pub(super) const NS_PROOF: &str = "cpu_ns_per_and_proved";
pub(super) const BYTES_PROOF: &str = "bytes_of_proof_per_party";
pub(super) const MS_SETTLED: &str = "ms_of_settlement";

/// Measures all of it.
pub(super) fn run(
    cpu: Cpu,
    options: &Options,
    figures: &mut Figures<'_>,
) -> Result<(), SuiteError> {
    let quick = options.quick();
    let sizes: &[usize] = if quick { &SIZES[..1] } else { &SIZES };
    let times = if quick { 1 } else { 5 };
    for &ands in sizes {
        let best = fastest(times, || settled(cpu, Mesh::in_memory(PARTIES.len()), ands))?;
        let each = |seconds: f64| seconds * 1e9 / ands as f64;
        figures.add(
            &format!("proved/and/{ands}"),
            &[
                (NS_AND, each(best.tape_s), "ns"),
                (NS_PROOF, each(best.proof_s), "ns"),
                (BYTES_PROOF, best.bytes as f64, "bytes"),
            ],
        );
    }
    for (name, speed) in NETWORKS {
        for &ands in sizes {
            let meshes = || Mesh::simulated_with(PARTIES.len(), speed, Limits::default());
            let best = fastest(times, || settled(cpu, meshes(), ands))?;
            let ms = best.settled.as_secs_f64() * 1e3;
            let case = format!("proved/settlement/{name}/{ands}");
            figures.add(&case, &[(MS_SETTLED, ms, "ms")]);
        }
    }
    let blocks = if quick { 64 } else { MANY };
    let case = format!("proved/aes/{blocks}");
    many(ProtocolName::TrioMalicious, &case, blocks, options, figures)?;
    let (rows, work) = (
        if quick { 100 } else { 1_000_000 },
        Work {
            sorts: true,
            bits: 32,
        },
    );
    for (name, meshes) in [("memory", Mesh::in_memory(3)), ("tls", loopback()?)] {
        let (time, bytes) = order::run::<GuardedParty>(cpu, meshes, work, rows)?;
        figures.add(
            &format!("proved/{}/{name}/{rows}", work.name()),
            &[
                (SECONDS, time.as_secs_f64(), "s"),
                (BYTES_A_ROW, bytes as f64 / 3.0 / rows as f64, "bytes"),
            ],
        );
    }
    Ok(())
}

/// Some ANDs and their settlement: processor seconds of the busiest party, the time that the
/// settlement adds, and its most bytes.
struct Settled {
    tape_s: f64,
    proof_s: f64,
    settled: Duration,
    bytes: u64,
}

/// The same of one party, with the times at which its settlement began and ended.
struct End {
    tape_s: f64,
    proof_s: f64,
    began: Instant,
    ended: Instant,
    bytes: u64,
}

/// The run with the shortest settlement.
fn fastest(
    times: usize,
    run: impl Fn() -> Result<Settled, SuiteError>,
) -> Result<Settled, SuiteError> {
    let mut best: Option<Settled> = None;
    for _ in 0..times {
        let run = run()?;
        if best.as_ref().is_none_or(|best| run.settled < best.settled) {
            best = Some(run);
        }
    }
    best.ok_or_else(|| "a case without a run".into())
}

fn settled(cpu: Cpu, meshes: Vec<Mesh>, ands: usize) -> Result<Settled, SuiteError> {
    let (tape, lanes) = (level(), ands / ANDS);
    let ends = side_by_side(meshes, |mesh| one(cpu, mesh, &tape, lanes))?;
    let most = |of: fn(&End) -> f64| ends.iter().map(of).fold(0.0, f64::max);
    let began = ends.iter().map(|end| end.began).max();
    let ended = ends.iter().map(|end| end.ended).max();
    let (began, ended) = began.zip(ended).ok_or("a run without parties")?;
    Ok(Settled {
        tape_s: most(|end| end.tape_s),
        proof_s: most(|end| end.proof_s),
        settled: ended - began,
        bytes: ends.iter().map(|end| end.bytes).max().unwrap_or_default(),
    })
}

/// A level of ANDs.
fn level() -> Tape {
    let mut b = Builder::new();
    let (x, y) = (b.input(ANDS), b.input(ANDS));
    let products = x.iter().zip(&y).map(|(x, y)| b.and(*x, *y)).collect();
    compile(&b.finish(vec![products]), &Machine::ROUNDS)
}

fn one(cpu: Cpu, mesh: Mesh, tape: &Tape, lanes: usize) -> Result<End, SuiteError> {
    let setting = Setting::in_order(&Guarded::profile(), PARTIES.len());
    let domain = Guarded::domain(Algebra::Z2);
    let mut party = Alone::<GuardedParty>::set_up(cpu, mesh, &setting, &Demand::default())?;
    let mixed = |lane: u64| lane.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut operands = Vec::new();
    for owner in [PartyId(0), PartyId(1)] {
        let values = (0..lanes).map(|lane| mixed(lane as u64 + u64::from(owner.0)));
        operands.push(party.input(domain, owner, ANDS, values)?);
    }
    let step = Step::Tape {
        tape,
        domain,
        lanes,
        operands: operands.iter().map(Arc::clone).collect(),
    };
    let before = cpu_seconds();
    let Outcome::Share(_, checks, ()) = party.run(step)? else {
        return Err("a tape left no share".into());
    };
    let tape_s = cpu_seconds() - before;
    let sent = |mesh: &Mesh| mesh.peers().map(|to| mesh.payload_sent(to)).sum::<u64>();
    let (bytes, before, began) = (sent(&party.mesh), cpu_seconds(), Instant::now());
    party.run(Step::Settle { checks })?;
    let end = End {
        tape_s,
        proof_s: cpu_seconds() - before,
        began,
        ended: Instant::now(),
        bytes: sent(&party.mesh) - bytes,
    };
    party.mesh.finish()?;
    Ok(end)
}
