//! Suite `peers`: what others have for the same task, beside ours and in the same minute.
//!
//! Machines differ, and one machine differs from hour to hour, so a figure of another paper or
//! another day decides nothing. Here ours and theirs take turns, and the ratio of both is given: of
//! the medians, and of the best of each.
//!
//! | part | theirs | ours |
//! |---|---|---|
//! | `emp` | AES-128 garbled by EMP ([`emp`]), over TCP | `wide` of `stream`, over TCP and TLS |
//! | `rustcrypto`, `ring`, `aws-lc` | their AES-128-GCM | ours ([`gcm`]) |
//!
//! None of these is a part of Sealane: EMP is a program that the user builds, and the libraries are
//! in builds with the feature `peers` alone. What is missing is left out, and [`missing`] says how
//! to get it.

use crate::aead::Peer;
use crate::{Figures, Missing, Options, SuiteError};

pub mod emp;
pub mod gcm;
#[cfg(feature = "peers")]
mod libraries;

/// Parts that are libraries.
const LIBRARIES: [&str; 3] = ["rustcrypto", "ring", "aws-lc"];

/// The metrics of a ratio of rates: of the medians, and of the best.
const TIMES: [&str; 2] = ["times_as_fast", "times_as_fast_best"];

/// GCM of the libraries that this build has, each with its name.
#[cfg(feature = "peers")]
pub fn libraries() -> Vec<Peer> {
    libraries::all()
}

/// GCM of the libraries that this build has: none.
#[cfg(not(feature = "peers"))]
pub fn libraries() -> Vec<Peer> {
    Vec::new()
}

/// The names that [`Options::only`] may hold.
pub fn parts() -> Vec<&'static str> {
    [&[emp::PART], &LIBRARIES[..]].concat()
}

/// The parts that are not on this machine or in this build.
pub fn missing() -> Vec<Missing> {
    let mut missing = Vec::new();
    if emp::named().is_none() {
        missing.push(Missing {
            part: emp::PART,
            remedy: emp::REMEDY,
        });
    }
    let there = libraries();
    let lacks = |part: &&str| there.iter().all(|peer| peer.name != *part);
    missing.extend(LIBRARIES.into_iter().filter(lacks).map(|part| Missing {
        part,
        remedy: "in a checkout, `cargo run --release -p sealane-bench --features peers -- peers`",
    }));
    missing
}

/// Measures what is there, on the fastest of the tiers.
///
/// # Errors
/// A program or a library of others does not do what it should, or a run of ours failed.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let cpu = options.best()?;
    if let Some(program) = emp::named().filter(|_| options.asks_for(emp::PART)) {
        emp::compare(&emp::Emp::new([program]), cpu, options, figures)?;
    }
    let peers = libraries().into_iter();
    let peers: Vec<Peer> = peers.filter(|peer| options.asks_for(peer.name)).collect();
    gcm::compare(&peers, cpu, options, figures)
}

/// The median of figures, one for each turn.
fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut sorted = figures.collect::<Vec<_>>();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise `--only` would take a name that measures nothing.
    #[test]
    fn every_library_of_the_build_is_a_part() {
        let (parts, there) = (parts(), libraries());
        assert!(there.iter().all(|peer| parts.contains(&peer.name)));
        let missing = missing();
        for part in LIBRARIES {
            let lacks = missing.iter().any(|missing| missing.part == part);
            assert_eq!(lacks, there.iter().all(|peer| peer.name != part), "{part}");
        }
    }
}
