//! Suite `aead`: the cost of a sealed byte, one message at a time and many at once, in core cycles.
//!
//! Every mode of crate `aead`, in its usual version, through the crate's public calls: in place,
//! keys set up before, no associated data. The study's figures are listed beside ours ([`study`]).
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
use crate::{Figures, Options, SuiteError};
use cases::Bench;
use subject::{Mode, Subject};

/// The suite's name.
pub const SUITE: &str = "aead";

/// Bytes of texts, as in the study.
pub const LENGTHS: [usize; 5] = [128, 256, 512, 1024, 2048];

/// Part of the budget for one measurement: this suite makes more than a thousand.
const SHARE: u32 = 4;

/// Vectors of messages that crate `aead` has in flight.
const VECTORS: usize = 8;

/// The metric of a mode and length: the median of cycles a byte of text.
const CYCLES: &str = "cycles_per_byte";
/// Messages in flight at once.
const LANES: &str = "lanes";
/// The speed-up over one message at a time.
const SPEED_UP: &str = "speed_up";
/// Time that batches of equal lengths would take for the same bytes, over the time of a mix.
const KEPT: &str = "equal_length_rate_kept";

/// The mode that is measured for peers.
const PEERS: &str = "gcm";

/// GCM of another library, measured beside ours.
pub struct Peer {
    /// The name of the library.
    pub name: &'static str,
    /// Its interface to the benchmark; it has no batches, so its messages go one after the other.
    pub subject: Box<dyn Subject>,
}

impl Peer {
    /// A library by its name.
    pub fn new(name: &'static str, subject: impl Subject + 'static) -> Peer {
        let subject = Box::new(subject);
        Peer { name, subject }
    }
}

/// The names that [`Options::only`] may hold.
pub fn modes() -> Vec<&'static str> {
    Suite::names().collect()
}

/// The end of a measurement.
type Outcome = Result<(), SuiteError>;

/// Measures every mode, or those of [`Options::only`].
///
/// # Errors
/// A mode gives wrong results.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Outcome {
    run_beside(&[], options, figures)
}

/// [`run`], with peers measured right after our own GCM.
///
/// # Errors
/// As [`run`].
pub fn run_beside(peers: &[Peer], options: &Options, figures: &mut Figures<'_>) -> Outcome {
    let (modes, budget) = (modes().into_iter(), options.budget / SHARE);
    for name in modes.filter(|name| options.asks_for(name)) {
        for cpu in &options.cpus {
            let lanes = VECTORS * blocks_in_vector(*cpu);
            let few = cpu.tier() == Tier::Portable && options.cpus.len() > 1;
            let mut bench = Bench {
                subject: &Mode::new(*cpu, name)?,
                case: name.to_string(),
                lanes,
                budget,
                figures: figures.on(*cpu),
            };
            bench.add("many", &[(LANES, lanes as f64, "messages")]);
            bench.run(few)?;
        }
        if name == PEERS {
            measure_peers(peers, options, figures)?;
        }
        for (case, metric, value) in study::figures(name) {
            let unit = match metric {
                CYCLES => "cycles",
                LANES => "messages",
                _ => "times",
            };
            let mut figures = figures.of_tier(study::TIER);
            figures.add(&format!("study/{name}/{case}"), &[(metric, value, unit)]);
        }
    }
    if !options.asks_for(PEERS) {
        measure_peers(peers, options, figures)?;
    }
    Ok(())
}

/// Measures peers, on batches as large as those of our best tier.
fn measure_peers(peers: &[Peer], options: &Options, figures: &mut Figures<'_>) -> Outcome {
    for peer in peers {
        let mut bench = Bench {
            subject: &*peer.subject,
            case: format!("peer/{}/{PEERS}", peer.name),
            lanes: VECTORS * blocks_in_vector(options.best()?),
            budget: options.budget / SHARE,
            figures: figures.of_tier("any"),
        };
        bench.run(false)?;
    }
    Ok(())
}
