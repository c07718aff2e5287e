//! OLEs, triples, bits and products for conversions, and OTs of one of many strings, between two
//! threads.
//!
//! `working` is the rate of the time in which a side did not wait for the other; the slower side's
//! counts. The outputs of the last window are checked.

mod work;

use std::time::{Duration, Instant};

use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_ot::OtError;
use sealane_ot::Security::{self, Malicious, SemiHonest};
use sealane_ot::triples::{KnownShape, MatrixShape, Ring};

use super::{Asked, Channel, FEW, PROTOCOLS, PartKind, Protocol, other, ready};
use crate::{Figures, SuiteError, side_by_side};
use work::{Making, Output};

/// Correlations that are measured.
#[derive(Clone, Copy)]
enum Correlation {
    Boolean,
    Ole(Ring),
    Arithmetic(Ring),
    Matrix(MatrixShape),
    /// Triples of this width.
    Wide(usize),
    DaBits(Ring),
    Selects(Ring),
    Known(KnownShape),
    /// One of `2^bits` strings, of which the sender computes all keys or none.
    OneOf {
        bits: u8,
        all: bool,
    },
    /// One of 2^64 strings, of which the sender computes two keys.
    Large,
}

/// The names of correlations, without the sizes of their elements.
pub(super) const NAMES: [&str; 12] = [
    "boolean-triples",
    "ole",
    "arithmetic-triples",
    "matrix-triples",
    "one-of-4",
    "one-of-16",
    "one-of-256",
    "one-of-2^64",
    "wide-triples",
    "dabits",
    "selects",
    "known-products",
];

/// Material of correlations.
#[derive(Clone, Copy)]
enum Source {
    /// Correlated OTs.
    Cots(Protocol),
    /// Trees of `2^k` leaves.
    Trees(u8, Security),
}

/// Sources of correlated OTs.
const SOURCES: [&str; 3] = ["softspoken-4", "softspoken-8", "ferret"];

const OF_COTS: [Correlation; 12] = [
    Correlation::Boolean,
    Correlation::Ole(Ring::new(64)),
    Correlation::Arithmetic(Ring::new(32)),
    Correlation::Arithmetic(Ring::new(64)),
    // A matrix by a vector.
    Correlation::Matrix(MatrixShape {
        ring: Ring::new(64),
        rows: 128,
        inner: 128,
        columns: 1,
    }),
    Correlation::Wide(2),
    Correlation::Wide(8),
    Correlation::Wide(64),
    Correlation::DaBits(Ring::new(32)),
    Correlation::Selects(Ring::new(32)),
    Correlation::Known(known(8)),
    Correlation::Known(known(16)),
];

/// Numbers of so many bits, of which each has one partner.
const fn known(choice_bits: u32) -> KnownShape {
    KnownShape {
        ring: Ring::new(32),
        choice_bits,
        partners: 1,
    }
}

const OF_TREES: [(Correlation, Source); 8] = [
    (one_of(2, true), Source::Trees(6, SemiHonest)),
    (one_of(4, true), Source::Trees(6, SemiHonest)),
    (one_of(8, false), Source::Trees(4, SemiHonest)),
    (one_of(8, false), Source::Trees(6, SemiHonest)),
    (one_of(8, true), Source::Trees(6, SemiHonest)),
    (one_of(8, false), Source::Trees(6, Malicious)),
    (one_of(8, false), Source::Trees(8, SemiHonest)),
    (Correlation::Large, Source::Trees(6, Malicious)),
];

const fn one_of(bits: u8, all: bool) -> Correlation {
    Correlation::OneOf { bits, all }
}

impl Correlation {
    /// Its name among [`NAMES`].
    fn kind(self) -> &'static str {
        NAMES[match self {
            Correlation::Boolean => 0,
            Correlation::Ole(_) => 1,
            Correlation::Arithmetic(_) => 2,
            Correlation::Matrix(_) => 3,
            Correlation::OneOf { bits: 2, .. } => 4,
            Correlation::OneOf { bits: 4, .. } => 5,
            Correlation::OneOf { .. } => 6,
            Correlation::Large => 7,
            Correlation::Wide(_) => 8,
            Correlation::DaBits(_) => 9,
            Correlation::Selects(_) => 10,
            Correlation::Known(_) => 11,
        }]
    }

    /// The name with its sizes.
    fn name(self) -> String {
        let kind = self.kind();
        match self {
            Correlation::Boolean => kind.into(),
            Correlation::Ole(ring)
            | Correlation::Arithmetic(ring)
            | Correlation::DaBits(ring)
            | Correlation::Selects(ring) => {
                format!("{kind}-{}", ring.bits())
            }
            Correlation::Wide(width) => format!("{kind}-{width}"),
            Correlation::Known(shape) => {
                format!("{kind}-{}x{}", shape.choice_bits, shape.ring.bits())
            }
            Correlation::Matrix(shape) => {
                let MatrixShape { rows, inner, .. } = shape;
                format!(
                    "{kind}-{}-{rows}x{inner}x{}",
                    shape.ring.bits(),
                    shape.columns
                )
            }
            Correlation::OneOf { all: true, .. } => format!("{kind}-all-keys"),
            Correlation::OneOf { .. } => format!("{kind}-rows"),
            Correlation::Large => format!("{kind}-two-keys"),
        }
    }

    /// Correlations of a window.
    fn count(self, ots: usize) -> usize {
        let count = match self {
            // At least as many as an iteration of silent extension gives.
            Correlation::Boolean => 2 * ots,
            Correlation::Ole(of) | Correlation::Arithmetic(of) => ots / 2 / of.bits() as usize,
            Correlation::Matrix(_) => 1,
            Correlation::Wide(_) | Correlation::DaBits(_) | Correlation::Selects(_) => ots,
            Correlation::Known(shape) => ots / shape.choice_bits as usize,
            Correlation::OneOf { all: true, bits: 8 } | Correlation::Large => ots / 128,
            Correlation::OneOf { .. } => ots / 16,
        };
        count.max(1)
    }
}

impl Source {
    fn name(self) -> String {
        match self {
            Source::Cots(protocol) => protocol.name.into(),
            Source::Trees(k, SemiHonest) => format!("softspoken-{k}"),
            Source::Trees(k, Malicious) => format!("softspoken-{k}-malicious"),
        }
    }
}

/// All correlations that are asked for, each with its source.
fn asked_correlations(asked: &Asked<'_>, quick: bool) -> Vec<(Correlation, Source)> {
    let mut all = Vec::new();
    for protocol in PROTOCOLS {
        if SOURCES.contains(&protocol.name) && asked.has(protocol.name) {
            let source = Source::Cots(Protocol { quick, ..protocol });
            all.extend(OF_COTS.map(|correlations| (correlations, source)));
        }
    }
    // Those that are made of trees take no protocol that could be named.
    if !asked.names(PartKind::Protocol) {
        all.extend(OF_TREES);
    }
    all.retain(|(correlations, _)| asked.has(correlations.kind()));
    all
}

/// Measures correlations over a channel.
pub(super) fn run(
    cpu: Cpu,
    channel: &Channel,
    asked: &Asked<'_>,
    quick: bool,
    figures: &mut Figures<'_>,
) -> Result<(), SuiteError> {
    for (correlation, source) in asked_correlations(asked, quick) {
        let count = correlation.count(if quick { FEW } else { channel.count });
        let name = format!("{}/{}", source.name(), correlation.name());
        let windows = if quick { 1 } else { super::WINDOWS };
        let making = Making {
            cpu,
            correlation,
            count,
        };
        let sides = side_by_side((channel.pair)()?, |mesh| {
            side(mesh, windows, making, source)
        })
        .map_err(|error| format!("{name} over {}: {error}", channel.name))?;
        work::check(correlation, [&sides[0].output, &sides[1].output], count);
        let rate = |time: Duration| count as f64 / time.as_secs_f64() / 1e6;
        let working = sides.iter().map(|side| side.working).max().expect("two");
        let bytes = sides.iter().map(|side| side.bytes).sum::<u64>();
        let bits = bytes as f64 * 8.0 / (count * windows) as f64;
        let (times, unit) = (&sides[0].times, "million/s");
        figures.add(
            &format!("{name}/{}", channel.name),
            &[
                ("million_per_s", rate(times[0]), unit),
                ("million_per_s_median", rate(times[windows / 2]), unit),
                ("million_per_s_working", rate(working), unit),
                ("bits", bits, "bits"),
            ],
        );
    }
    Ok(())
}

/// The windows of one side.
struct Side {
    /// Their times, the shortest first.
    times: Vec<Duration>,
    /// The least time of one without waiting.
    working: Duration,
    /// Payload that it sent in all.
    bytes: u64,
    /// Correlations of the last one.
    output: Output,
}

fn side(mut mesh: Mesh, windows: usize, making: Making, from: Source) -> Result<Side, OtError> {
    let mesh = &mut mesh;
    let peer = other(mesh);
    let mut work = making.set_up(from, mesh)?;
    mesh.flush()?;
    let before = mesh.payload_sent(peer);
    let (mut times, mut working, mut output) = (Vec::new(), Vec::new(), None);
    for _ in 0..windows {
        // Correlations of the window before are erased outside of this one.
        drop(output.take());
        ready(mesh, peer)?;
        let (started, waited) = (Instant::now(), mesh.waited());
        output = Some(work(mesh)?);
        mesh.flush()?;
        working.push(started.elapsed().saturating_sub(mesh.waited() - waited));
        ready(mesh, peer)?;
        times.push(started.elapsed());
    }
    times.sort();
    Ok(Side {
        times,
        working: working.into_iter().min().expect("a window"),
        // Less the bytes by which the two wait for each other.
        bytes: mesh.payload_sent(peer) - before - 2 * windows as u64,
        output: output.expect("a window"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(only: &[&str]) -> Vec<String> {
        let only: Vec<String> = only.iter().map(|part| part.to_string()).collect();
        let asked = asked_correlations(&Asked(&only), true).into_iter();
        let name = |(made, from): (Correlation, Source)| format!("{}/{}", from.name(), made.name());
        asked.map(name).collect()
    }

    #[test]
    fn correlations_are_measured_as_asked() {
        let all = SOURCES.len() * OF_COTS.len() + OF_TREES.len();
        assert_eq!(asked(&[]).len(), all);
        assert_eq!(asked(&["tls"]), asked(&[]));
        let oles = [
            "softspoken-4/ole-64",
            "softspoken-8/ole-64",
            "ferret/ole-64",
        ];
        assert_eq!(asked(&["ole", "wan"]), oles);
        assert_eq!(asked(&["ferret"]).len(), OF_COTS.len());
        let triples = asked(&["ferret", "boolean-triples"]);
        assert_eq!(triples, ["ferret/boolean-triples"]);
        let large = ["softspoken-6-malicious/one-of-2^64-two-keys"];
        assert_eq!(asked(&["one-of-2^64"]), large);
        assert_eq!(asked(&["iknp"]), [""; 0]);
        assert!(Asked(&[]).forms() && !Asked(&["ole".to_string()]).forms());
    }
}
