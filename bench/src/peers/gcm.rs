//! AES-128-GCM of libraries beside ours: sealing, one message at a time and many at once.
//!
//! Windows of all take turns, in the same buffers; all seal the same messages, and a library whose
//! messages are not ours is an error. The suite `aead` measures more of each, one library after the
//! other.

use std::hint::black_box;

use sealane_block::Cpu;

use super::{TIMES, median};
use crate::aead::Peer;
use crate::aead::subject::{Batch, Direction, Mode, Subject};
use crate::cycles::{Measured, measure};
use crate::garble::limit::blocks_in_vector;
use crate::{Figures, Options, SuiteError};

/// Our mode.
const MODE: &str = "gcm";

/// Bytes of a text.
const LENGTHS: [usize; 2] = [128, 2048];

/// Turns of all subjects.
const TURNS: usize = 5;

/// Messages of a batch for each block of a vector: as in the suite `aead`.
const MESSAGES: usize = 64;

/// A subject, its name and its tier.
type Named<'a> = (&'a str, &'static str, &'a dyn Subject);

/// Measures the libraries and ours in turn.
///
/// # Errors
/// A library seals something else than ours.
pub fn compare(
    peers: &[Peer],
    cpu: Cpu,
    options: &Options,
    figures: &mut Figures<'_>,
) -> Result<(), SuiteError> {
    if peers.is_empty() {
        return Ok(());
    }
    let ours = Mode::new(cpu, MODE)?;
    let mut subjects: Vec<Named<'_>> = vec![("sealane", cpu.tier().name(), &ours)];
    subjects.extend(peers.iter().map(|peer| (peer.name, "any", &*peer.subject)));
    let many = MESSAGES * blocks_in_vector(cpu);
    for length in LENGTHS {
        for (what, count) in [("single", 1), ("many", many)] {
            let start = Batch::rows(&ours, length, count);
            check(&start, &ours, peers)?;
            let measured = turns(start, &subjects, options);
            let of_ours = measured[0];
            let case = format!("{MODE}/{what}/seal/{length}");
            for (&(name, tier, _), of) in subjects.iter().zip(&measured) {
                let mut of_tier = figures.of_tier(tier);
                of_tier.cycles(&format!("{case}/{name}"), "", "byte", of);
                if name == subjects[0].0 {
                    continue;
                }
                let times = of.median_cycles / of_ours.median_cycles;
                let best = of.min_cycles / of_ours.min_cycles;
                let times = [(TIMES[0], times, "times"), (TIMES[1], best, "times")];
                let over = format!("{case}/sealane/over/{name}");
                figures.on(cpu).add(&over, &times);
            }
        }
    }
    Ok(())
}

/// Seals a batch, one message or many.
fn seal(subject: &dyn Subject, batch: &mut Batch, many: bool) {
    if many {
        subject.rows(batch, Direction::Seal);
    } else {
        subject.apart(batch, Direction::Seal);
    }
}

/// Compares the messages of all with ours.
fn check(start: &Batch, ours: &dyn Subject, peers: &[Peer]) -> Result<(), SuiteError> {
    let many = start.clone().pieces().count() > 1;
    let sealed = |subject: &dyn Subject| {
        let mut batch = start.clone();
        seal(subject, &mut batch, many);
        batch.bytes
    };
    let expected = sealed(ours);
    match peers.iter().find(|peer| sealed(&*peer.subject) != expected) {
        None => Ok(()),
        Some(Peer { name, .. }) => {
            let what = format!("{name} seals other messages than ours");
            Err(SuiteError::Peer(what))
        }
    }
}

/// Core cycles a byte of text, of each subject over all turns. A sealed buffer serves as text as
/// well.
fn turns(mut batch: Batch, subjects: &[Named<'_>], options: &Options) -> Vec<Measured> {
    let turns = if options.budget.is_zero() { 1 } else { TURNS };
    let (bytes, many) = (batch.texts() as u64, batch.pieces().count() > 1);
    let mut measured = vec![Vec::new(); subjects.len()];
    for _ in 0..turns {
        for ((_, _, subject), measured) in subjects.iter().zip(&mut measured) {
            let budget = options.budget / TURNS as u32;
            let work = || seal(*subject, black_box(&mut batch), many);
            measured.push(measure(bytes, budget, work));
        }
    }
    measured.iter().map(|turns| together(turns)).collect()
}

/// The figures of all turns of a subject.
fn together(turns: &[Measured]) -> Measured {
    let of = |figure: fn(&Measured) -> f64| turns.iter().map(figure);
    Measured {
        min_cycles: of(|turn| turn.min_cycles).fold(f64::INFINITY, f64::min),
        median_cycles: median(of(|turn| turn.median_cycles)),
        median_ns: median(of(|turn| turn.median_ns)),
        all_median_cycles: median(of(|turn| turn.all_median_cycles)),
        kept: of(|turn| turn.kept).sum::<f64>() / turns.len() as f64,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::libraries;
    use super::*;
    use crate::Record;
    use crate::aead::subject::Slot;

    fn compared(peers: &[Peer]) -> (Result<(), SuiteError>, Vec<Record>) {
        let cpu = Cpu::detect().expect("a tier");
        let options = Options::new(vec![cpu], Duration::ZERO);
        let mut records = Vec::new();
        let mut record = |record| records.push(record);
        let figures = &mut Figures::new("peers", &mut record);
        (compare(peers, cpu, &options, figures), records)
    }

    /// Our own mode stands for a library where the build has none.
    #[test]
    fn every_library_has_its_figures_and_its_ratio() {
        let ours = Mode::new(Cpu::detect().expect("a tier"), MODE).expect("GCM");
        let mut peers = libraries();
        peers.push(Peer::new("another", ours));
        let (ended, records) = compared(&peers);
        assert_eq!(ended, Ok(()));
        let has = |case: &str, metric: &str| {
            let is = |r: &Record| r.case == case && r.metric == metric && r.value > 0.0;
            records.iter().any(is)
        };
        for what in ["single", "many"] {
            for length in LENGTHS {
                let case = format!("gcm/{what}/seal/{length}");
                assert!(has(&format!("{case}/sealane"), "cycles_per_byte"));
                for peer in &peers {
                    let of = |metric: &str| has(&format!("{case}/{}", peer.name), metric);
                    assert!(of("cycles_per_byte") && of("cycles_per_byte_min"));
                    let over = format!("{case}/sealane/over/{}", peer.name);
                    assert!(TIMES.iter().all(|metric| has(&over, metric)), "{over}");
                }
            }
        }
    }

    #[test]
    fn a_library_that_seals_something_else_has_no_figures() {
        struct Other;
        impl Subject for Other {
            fn set_up(&self, _: &[u8]) {}
            fn one(&self, _: &Slot, _: &mut [u8], _: Direction) {}
        }
        let (ended, records) = compared(&[Peer::new("nothing", Other)]);
        let said = "nothing seals other messages than ours".to_string();
        assert_eq!(ended, Err(SuiteError::Peer(said)));
        assert_eq!(records, []);
    }
}
