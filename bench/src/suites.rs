//! All suites by name, their parts, and the reasons why they cannot be measured.

use crate::table::View;
use crate::{Figures, Options, Record, Take};
use crate::{aead, auth, block, circuit, e2e, garble, math, mixed, net, ot, peers, proof};
use crate::{stream, trio};

/// A reason why a suite cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuiteError {
    /// A program or a library of others, beside which the suite measures, is missing or wrong.
    Peer(String),
    /// Anything else.
    Failed(String),
}

impl<T: ToString> From<T> for SuiteError {
    fn from(what: T) -> SuiteError {
        SuiteError::Failed(what.to_string())
    }
}

impl SuiteError {
    /// The message for the user.
    pub fn what(self) -> String {
        match self {
            SuiteError::Peer(what) | SuiteError::Failed(what) => what,
        }
    }
}

/// A part of a suite that is not on this machine or not in this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The part, out of [`Suite::parts`].
    pub part: &'static str,
    /// The way to get it.
    pub remedy: &'static str,
}

/// Function that measures a suite and passes on every figure as soon as it is there, or returns a
/// reason why it cannot.
pub type RunSuite = fn(&Options, &mut Figures<'_>) -> Result<(), SuiteError>;

/// A suite by name.
pub struct Suite {
    /// The name on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The function that runs the suite.
    pub run: RunSuite,
    /// The tables and charts of its records.
    pub view: fn(&[Record]) -> View,
    /// True if the tables stand for its records, of which there are too many for a line each.
    pub has_tables: bool,
    /// The names that [`Options::only`] may hold; none where the suite is measured as a whole.
    pub parts: fn() -> Vec<&'static str>,
    /// The parts that are not there; none where a suite measures nothing but Sealane.
    pub missing: fn() -> Vec<Missing>,
}

impl Suite {
    /// A suite without tables or parts, with a chart for each metric.
    const fn new(name: &'static str, about: &'static str, run: RunSuite) -> Suite {
        Suite {
            name,
            about,
            run,
            view: View::by_metric,
            has_tables: false,
            parts: Vec::new,
            missing: Vec::new,
        }
    }

    /// The suite with tables and parts.
    const fn with(self, view: fn(&[Record]) -> View, parts: fn() -> Vec<&'static str>) -> Suite {
        Suite {
            view,
            has_tables: true,
            parts,
            ..self
        }
    }

    /// Runs the suite.
    ///
    /// # Errors
    /// It cannot be measured.
    pub fn measure(&self, options: &Options, record: &mut Take<'_>) -> Result<(), SuiteError> {
        (self.run)(options, &mut Figures::new(self.name, record))
    }

    /// Checks that the suite has all these parts.
    ///
    /// # Errors
    /// A message for the user that names the wrong part.
    pub fn check_parts(&self, only: &[String]) -> Result<(), String> {
        let (name, parts) = (self.name, (self.parts)());
        match only.iter().find(|part| !parts.contains(&part.as_str())) {
            None => Ok(()),
            Some(_) if parts.is_empty() => Err(format!("`{name}` is measured as a whole")),
            Some(part) => {
                let known = parts.join(", ");
                Err(format!("`{name}` has no part `{part}`; there are: {known}"))
            }
        }
    }

    /// The parts that a run leaves out because they are missing, each as a note for the user.
    ///
    /// # Errors
    /// Everything is missing, or a part of `only` is.
    pub fn left_out(&self, only: &[String]) -> Result<Vec<String>, SuiteError> {
        let (name, missing) = (self.name, (self.missing)());
        let asked = |missing: &&Missing| only.iter().any(|part| part == missing.part);
        if let Some(Missing { part, remedy }) = missing.iter().find(asked) {
            let what = format!("`{name}` has no `{part}` to measure: {remedy}");
            return Err(SuiteError::Peer(what));
        }
        if !only.is_empty() {
            return Ok(Vec::new());
        }
        // Parts with one remedy are one note.
        let mut remedies: Vec<(&str, Vec<&str>)> = Vec::new();
        for Missing { part, remedy } in &missing {
            match remedies.iter_mut().find(|(other, _)| other == remedy) {
                Some((_, parts)) => parts.push(part),
                None => remedies.push((remedy, vec![part])),
            }
        }
        let note = |(remedy, parts): &(&str, Vec<&str>)| format!("{}: {remedy}", parts.join(", "));
        let notes: Vec<String> = remedies.iter().map(note).collect();
        if !missing.is_empty() && missing.len() == (self.parts)().len() {
            let what = format!("`{name}` has nothing to measure ({})", notes.join("; "));
            return Err(SuiteError::Peer(what));
        }
        Ok(notes)
    }
}

/// All suites, from the lowest crate up.
pub const SUITES: &[Suite] = &[
    Suite::new(
        "block",
        "AES-128 in three shapes, hashes, GF(2^128), transpose: core cycles a block",
        block::run,
    ),
    Suite::new(
        aead::SUITE,
        "every mode of authenticated encryption, one message and many at once: cycles a byte",
        aead::run,
    )
    .with(aead::tables::view, aead::modes),
    Suite::new(
        "circuit",
        "sizes of the standard circuits; nanoseconds a gate to compile them",
        circuit::run,
    ),
    Suite {
        view: garble::view,
        ..Suite::new(
            "garble",
            "every garbling scheme on AES-128, SHA-1 and set intersection, batched in six ways: cycles an AND",
            garble::run,
        )
    },
    Suite::new(
        math::SUITE,
        "every function on floating point: AND gates, depth, worst error",
        math::run,
    )
    .with(math::view, math::parts),
    Suite::new(
        "net",
        "bytes one way and round trips, over memory, TCP and TLS in one process",
        net::run,
    ),
    Suite::new(
        "ot",
        "oblivious transfers by protocol, form and channel: million a second, bits each",
        ot::run,
    )
    .with(ot::tables::view, ot::parts),
    Suite::new(
        "proof",
        "proofs to two verifiers, of ANDs and of GF(16): nanoseconds a statement and party, bytes",
        proof::run,
    ),
    Suite::new(
        "trio",
        "AES-128 by lookups between three parties, shuffles, sorts: milliseconds a block",
        trio::run,
    )
    .with(trio::tables::view, trio::parts),
    Suite {
        parts: mixed::parts,
        ..Suite::new(
            "mixed",
            "steps on shares of two parties, online and with preparation: million a second, bits each",
            mixed::run,
        )
    },
    Suite {
        parts: auth::parts,
        ..Suite::new(
            "auth",
            "authenticated garbling with all it makes ahead, by part: cycles an AND, million a second",
            auth::run,
        )
    },
    Suite::new(
        "e2e",
        "AES-128 and the hospital example, two processes over TLS: AND gates a second",
        e2e::run,
    ),
    Suite::new(
        stream::SUITE,
        "garbling to evaluating between two processes: AND gates a second, peak memory",
        stream::run,
    ),
    Suite {
        parts: peers::parts,
        missing: peers::missing,
        ..Suite::new(
            "peers",
            "garbling of EMP and GCM of other libraries, where they are there, in turn with ours",
            peers::run,
        )
    },
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sealane_block::Cpu;

    use super::*;

    /// Every suite runs, checks its own results, and names its figures once each. The fastest
    /// tier stands for all: the same code runs on each.
    #[test]
    fn suites_give_sound_and_distinct_records() {
        let cpus = Cpu::available().pop().into_iter().collect();
        let options = Options::new(cpus, Duration::ZERO);
        let mut seen = std::collections::HashSet::new();
        // Suites of two processes need the command; the tests of the Python package run them.
        // What the last one measures may not be there.
        let other = ["e2e", "stream", "peers"];
        let alone = |suite: &&Suite| !other.contains(&suite.name);
        for suite in SUITES.iter().filter(alone) {
            let mut records = Vec::new();
            let ended = suite.measure(&options, &mut |record| {
                assert_eq!(record.suite, suite.name);
                // Beside other work, no window may have had the whole core.
                let may_be_none = record.metric.ends_with("windows_kept") && record.value == 0.0;
                assert!(record.value.is_finite(), "{record:?}");
                // Functions may have no gate and no error, and any argument.
                let any = record.suite == math::SUITE;
                assert!(record.value > 0.0 || may_be_none || any, "{record:?}");
                let Record { case, metric, .. } = record.clone();
                assert!(seen.insert((record.suite, case, record.tier, metric)));
                records.push(record);
            });
            assert_eq!(ended, Ok(()));
            let View { text, charts } = (suite.view)(&records);
            assert_eq!(suite.has_tables, !text.is_empty(), "{}", suite.name);
            let mut bars = charts.iter().flat_map(|chart| &chart.groups);
            assert!(bars.any(|(_, bars)| !bars.is_empty()), "{}", suite.name);
        }
    }

    #[test]
    fn missing_parts_are_noted_or_refused() {
        const MAKE: &str = "make them";
        const fn lacks(part: &'static str, remedy: &'static str) -> Missing {
            Missing { part, remedy }
        }
        let suite = |missing| Suite {
            parts: || vec!["a", "b", "c"],
            missing,
            ..Suite::new("some", "", |_, _| Ok(()))
        };
        let left_out = |suite: &Suite, only: &[&str]| {
            let only: Vec<String> = only.iter().map(|part| part.to_string()).collect();
            suite.left_out(&only)
        };
        let refused = |what: &str| Err(SuiteError::Peer(what.to_string()));
        let whole = suite(Vec::new);
        assert_eq!(left_out(&whole, &[]), Ok(vec![]));
        assert_eq!(left_out(&whole, &["a"]), Ok(vec![]));
        let part = suite(|| vec![lacks("a", "buy one"), lacks("b", MAKE)]);
        let notes = ["a: buy one", "b: make them"].map(str::to_string);
        assert_eq!(left_out(&part, &[]), Ok(notes.to_vec()));
        assert_eq!(left_out(&part, &["c"]), Ok(vec![]));
        let what = "`some` has no `b` to measure: make them";
        assert_eq!(left_out(&part, &["c", "b"]), refused(what));
        let none = suite(|| vec![lacks("a", "buy one"), lacks("b", MAKE), lacks("c", MAKE)]);
        let what = "`some` has nothing to measure (a: buy one; b, c: make them)";
        assert_eq!(left_out(&none, &[]), refused(what));
    }
}
