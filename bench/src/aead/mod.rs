//! Suite `aead`: the cost of a sealed byte, one message at a time and many at once, in core cycles.
//!
//! Every mode of room `aead`, in its usual version, through the room's public calls: in place, keys
//! set up before, no associated data. The study's figures are listed beside ours ([`study`]).
//!
//! Cases are called `mode/what/...`; `seal` may be `open`, the last part is the length of the text:
//!
//! | case | measured |
//! |---|---|
//! | `gcm/single/seal/2048` | one message after the other; its buffer stays in the nearest cache |
//! | `gcm/many/seal/2048` | rows of this length, one key for all |
//! | `gcm/batch/seal/2048` | the same as messages of any lengths |
//! | `gcm/own-keys/seal/2048` | these, each message under another of 64 keys |
//! | `gcm/speed-up/seal/2048` | cycles of `single` over cycles of `many` |
//! | `gcm/mix/realistic/seal` | the study's 4 x 128 and 3 x 2048 bytes, in one batch |
//! | `gcm/mix/internet/seal` | a batch with lengths as on the internet ([`mixes`]) |
//! | `gcm/key` | to set up a key, and to erase it |
//! | `study/gcm/...` | the study's figure; its tier is called `haswell` |
//! | `peer/ring/gcm/...` | GCM of another library, in the same run ([`Peer`]) |
//!
//! To open a message again, its buffer has to be restored. The cost of the copy alone is
//! subtracted.
//!
//! The portable tier takes a hundred times as long, so it has a few cases; `SEALANE_TIER=portable`
//! has it measured in full.

use sealane_aead::Suite;
use sealane_block::Tier;

mod cases;
pub mod mixes;
pub mod study;
pub mod subject;
pub mod tables;
#[cfg(test)]
mod tests;

use crate::garble::limit::blocks_in_vector;
use crate::{Options, Record};
use cases::Bench;
use subject::{Mode, Subject};

/// The suite's name.
pub const SUITE: &str = "aead";

/// Bytes of texts, as in the study.
pub const LENGTHS: [usize; 5] = [128, 256, 512, 1024, 2048];

/// Part of the budget for one measurement: this suite makes more than a thousand.
const SHARE: u32 = 4;

/// Vectors of messages that room `aead` has in flight.
const VECTORS: usize = 8;

/// A figure with its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// The median of cycles a byte of text.
    CyclesPerByte(f64),
    /// The minimum of cycles a byte of text.
    LeastCyclesPerByte(f64),
    /// The median of all windows, including those beside a neighbour.
    AllCyclesPerByte(f64),
    /// The share of windows in which the whole core was free.
    WindowsKept(f64),
    /// The median of cycles a key.
    CyclesPerKey(f64),
    /// The minimum of cycles a key.
    LeastCyclesPerKey(f64),
    /// The median of cycles a key in all windows.
    AllCyclesPerKey(f64),
    /// The speed-up over one message at a time.
    SpeedUp(f64),
    /// Messages in flight at once.
    Lanes(usize),
    /// Time that batches of equal lengths would take for the same bytes, over the time that the mix
    /// takes.
    RateKept(f64),
}

impl Number {
    /// Metric, value and unit of a record.
    const fn parts(self) -> (&'static str, f64, &'static str) {
        match self {
            Number::CyclesPerByte(value) => ("cycles_per_byte", value, "cycles"),
            Number::LeastCyclesPerByte(value) => ("cycles_per_byte_min", value, "cycles"),
            Number::AllCyclesPerByte(value) => ("cycles_per_byte_all", value, "cycles"),
            Number::WindowsKept(value) => ("windows_kept", value, "of 1"),
            Number::CyclesPerKey(value) => ("cycles_per_key", value, "cycles"),
            Number::LeastCyclesPerKey(value) => ("cycles_per_key_min", value, "cycles"),
            Number::AllCyclesPerKey(value) => ("cycles_per_key_all", value, "cycles"),
            Number::SpeedUp(value) => ("speed_up", value, "times"),
            Number::Lanes(count) => ("lanes", count as f64, "messages"),
            Number::RateKept(value) => ("equal_length_rate_kept", value, "%"),
        }
    }
}

/// The mode that is measured for peers.
const PEERS: &str = "gcm";

/// GCM of another library, measured beside ours.
pub struct Peer {
    /// The name of the library.
    pub name: &'static str,
    /// Its interface to the benchmark; it has no batches, so its messages go one after the other.
    pub subject: Box<dyn Subject>,
}

/// The names that [`Options::only`] may hold.
pub fn modes() -> Vec<&'static str> {
    Suite::names().collect()
}

/// Measures every mode, or those of [`Options::only`].
///
/// # Errors
/// A mode gives wrong results.
pub fn run(options: &Options, record: &mut dyn FnMut(Record)) -> Result<(), String> {
    run_beside(&[], options, record)
}

/// [`run`], with peers measured right after our own GCM.
///
/// # Errors
/// As [`run`].
pub fn run_beside(
    peers: &[Peer],
    options: &Options,
    record: &mut dyn FnMut(Record),
) -> Result<(), String> {
    let chosen = |name: &&str| options.only.is_empty() || options.only.iter().any(|o| o == name);
    for name in modes().into_iter().filter(chosen) {
        for cpu in &options.cpus {
            let mode = Mode::new(*cpu, name).map_err(|error| error.to_string())?;
            let lanes = VECTORS * blocks_in_vector(*cpu);
            let few = cpu.tier() == Tier::Portable && options.cpus.len() > 1;
            let mut bench = Bench {
                subject: &mode,
                case: name.to_string(),
                tier: cpu.tier().name(),
                lanes,
                budget: options.budget / SHARE,
                record,
            };
            bench.emit("many", Number::Lanes(lanes));
            bench.run(few)?;
        }
        if name == PEERS {
            measure_peers(peers, options, record)?;
        }
        for (case, number) in study::figures(name) {
            let (metric, value, unit) = number.parts();
            record(Record {
                suite: SUITE,
                case: format!("study/{name}/{case}"),
                tier: study::TIER,
                metric,
                value,
                unit,
            });
        }
    }
    if !modes().into_iter().filter(chosen).any(|name| name == PEERS) {
        measure_peers(peers, options, record)?;
    }
    Ok(())
}

/// Measures peers, on batches as large as those of our best tier.
fn measure_peers(
    peers: &[Peer],
    options: &Options,
    record: &mut dyn FnMut(Record),
) -> Result<(), String> {
    let Some(cpu) = options.cpus.last() else {
        return Ok(());
    };
    for peer in peers {
        let mut bench = Bench {
            subject: &*peer.subject,
            case: format!("peer/{}/{PEERS}", peer.name),
            tier: "any",
            lanes: VECTORS * blocks_in_vector(*cpu),
            budget: options.budget / SHARE,
            record,
        };
        bench.run(false)?;
    }
    Ok(())
}
