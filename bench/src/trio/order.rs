//! Shuffles and sorts of rows, as single steps of three parties.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{KeyBit, Outcome, Party, Start, Step, run_alone};
use sealane_protocol::{Algebra, Demand, Protocol, Setting};
use sealane_trio::{Trio, TrioParty};
use zeroize::Zeroizing;

/// A step that moves rows.
#[derive(Clone, Copy)]
pub(super) enum Work {
    /// A shuffle of rows of so many bits.
    Shuffle(usize),
    /// A sort by all of so many bits.
    Sort(usize),
}

impl Work {
    pub(super) fn name(self) -> String {
        match self {
            Work::Shuffle(bits) => format!("shuffle/{bits}-bit"),
            Work::Sort(bits) => format!("sort/{bits}-bit"),
        }
    }

    fn bits(self) -> usize {
        match self {
            Work::Shuffle(bits) | Work::Sort(bits) => bits,
        }
    }
}

/// The time of the slowest party, and the bytes of all.
pub(super) fn run(
    cpu: Cpu,
    meshes: Vec<Mesh>,
    work: Work,
    rows: usize,
) -> Result<(Duration, u64), String> {
    let setting = Setting::in_order(&Trio::profile(), meshes.len());
    let ends = thread::scope(|scope| {
        let setting = &setting;
        let party = |mesh| scope.spawn(move || one(cpu, setting, mesh, work, rows));
        let parties = meshes.into_iter().map(party).collect::<Vec<_>>();
        let join = |party: thread::ScopedJoinHandle<'_, _>| {
            party.join().map_err(|_| "a party panicked".to_string())?
        };
        parties
            .into_iter()
            .map(join)
            .collect::<Result<Vec<_>, String>>()
    })?;
    let slowest = ends.iter().map(|(time, _)| *time).max();
    let bytes = ends.iter().map(|(_, bytes)| bytes).sum();
    Ok((slowest.unwrap_or_default(), bytes))
}

/// A party of a step by itself.
pub(super) fn set_up(cpu: Cpu, setting: &Setting, mesh: &mut Mesh) -> Result<TrioParty, String> {
    let start = Start {
        setting,
        me: mesh.me(),
        session: mesh.session(),
        cpu,
        coins: Coins::danger_fixed_seed(u64::from(mesh.me().0)),
        stock: None,
    };
    let party = TrioParty::set_up(start, &Demand::default(), mesh);
    party.map_err(|error| error.to_string())
}

fn one(
    cpu: Cpu,
    setting: &Setting,
    mut mesh: Mesh,
    work: Work,
    rows: usize,
) -> Result<(Duration, u64), String> {
    let (me, domain) = (mesh.me(), Trio::domain(Algebra::Z2));
    let told = |error: sealane_party::Fault| error.to_string();
    let mut trio = set_up(cpu, setting, &mut mesh)?;
    // The rows count down, mixed: the owner is the first party.
    let mask = u64::MAX >> (64 - work.bits());
    let value = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7 & mask;
    let owner = PartyId(0);
    let input = Step::Input {
        owner,
        domain,
        elements: rows,
        bits: work.bits(),
        values: (me == owner).then(|| Zeroizing::new((0..rows as u64).map(value).collect())),
    };
    let share = share(run_alone(&mut trio, &mut mesh, input, None).map_err(told)?)?;
    let sent = |mesh: &Mesh| {
        mesh.peers()
            .map(|peer| mesh.payload_sent(peer))
            .sum::<u64>()
    };
    let (before, started) = (sent(&mesh), Instant::now());
    let step = match work {
        Work::Shuffle(_) => Step::Shuffle { domain, share },
        Work::Sort(bits) => {
            let key = |plane| KeyBit {
                plane,
                inverted: false,
            };
            let key = (0..bits).map(key).collect();
            Step::Sort { domain, share, key }
        }
    };
    run_alone(&mut trio, &mut mesh, step, None).map_err(told)?;
    let time = started.elapsed();
    let bytes = sent(&mesh) - before;
    mesh.finish().map_err(|error| error.to_string())?;
    Ok((time, bytes))
}

pub(super) fn share(outcome: Outcome<TrioParty>) -> Result<Arc<sealane_trio::Share>, String> {
    match outcome {
        Outcome::Share(share, ..) => Ok(Arc::new(share)),
        _ => Err("a step left no share".to_string()),
    }
}
