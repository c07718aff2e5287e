//! The records of the suite as tables, for a terminal and for the page of functions.

use super::paper::SEVENTEEN;
use super::{FORMATS, SUITE};
use crate::Record;
use sealane_plan::cost::grouped;
use std::fmt::Write;

/// The line of the page of functions after which the tables stand.
pub const BEGIN: &str = "<!-- tables: written by the example math_page of room bench -->";

/// Tables in Markdown: one for each format, and the functions of others beside ours.
pub fn markdown(records: &[Record]) -> String {
    let mut out = String::new();
    for format in FORMATS.map(|format| format.name()) {
        let names = names(records, format);
        if names.is_empty() {
            continue;
        }
        let _ = writeln!(out, "## {format}\n");
        out += "| function | ANDs | depth | bytes | ANDs, flushed | ANDs, flat | depth, flat | worst ULP | at |\n";
        out += "|---|---|---|---|---|---|---|---|---|\n";
        for name in names {
            let of = |metric| find(records, &format!("{format}/{name}"), metric);
            let count = |metric| of(metric).map_or(String::new(), |value| grouped(value as u64));
            let ulp = of("max_ulp").map_or(String::new(), |ulp| format!("{ulp:.3}"));
            let at = [of("argument"), of("second_argument")];
            let at = at.into_iter().flatten().map(|x| format!("{x:e}"));
            let at = at.collect::<Vec<_>>().join(", ");
            let counts = [
                "ands",
                "depth",
                "bytes",
                "flushed_ands",
                "flat_ands",
                "flat_depth",
            ];
            let counts = counts.map(count).join(" | ");
            let _ = writeln!(out, "| `{name}` | {counts} | {ulp} | {at} |");
        }
        out.push('\n');
    }
    others(records, &mut out);
    out
}

/// The table of functions of others beside ours of 64 bits, or of 32 where there are none.
fn others(records: &[Record], out: &mut String) {
    if !records
        .iter()
        .any(|record| record.case.starts_with("others/"))
    {
        return;
    }
    *out += "## A library of others\n\n";
    *out += "| function | theirs, s | theirs, ANDs | their error | ours, ANDs f64 | f32 | worst ULP f32 |\n";
    *out += "|---|---|---|---|---|---|---|\n";
    for theirs in &SEVENTEEN {
        let name = theirs.name;
        let of = |format: &str, metric| find(records, &format!("{format}/{name}"), metric);
        let ands = |format| of(format, "ands").map_or(String::new(), |n| grouped(n as u64));
        let their_ands = theirs.ands.map_or(String::new(), |n| grouped(n as u64));
        let ulp = of("f32", "max_ulp").map_or(String::new(), |ulp| format!("{ulp:.3}"));
        let (single, double) = (ands("f32"), ands("f64"));
        let (seconds, error) = (theirs.seconds, theirs.error);
        let _ = writeln!(
            out,
            "| `{name}` | {seconds} | {their_ands} | {error} | {double} | {single} | {ulp} |"
        );
    }
}

/// Names of the functions of a format, in the order of the records.
fn names<'a>(records: &'a [Record], format: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for record in records {
        let Some((of, name)) = record.case.split_once('/') else {
            continue;
        };
        if of == format && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn find(records: &[Record], case: &str, metric: &str) -> Option<f64> {
    let is =
        |record: &&Record| (record.suite, &record.case[..], record.metric) == (SUITE, case, metric);
    records.iter().find(is).map(|record| record.value)
}
