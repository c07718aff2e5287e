//! The records of the suite as tables, for a terminal and for the page of functions.

use super::paper::SEVENTEEN;
use super::{EXACT, FORMATS, SUITE, fixed};
use crate::Record;
use sealane_plan::cost::grouped;
use std::fmt::Write;

/// The line of the page of functions after which the tables stand.
pub const BEGIN: &str = "<!-- tables: written by the example math_page of room bench -->";

/// The columns of a table that need no sample.
const SIZES: [&str; 6] = [
    "ands",
    "depth",
    "bytes",
    "flushed_ands",
    "flat_ands",
    "flat_depth",
];

/// The columns of a table of fixed point.
const OF_FIXED: [&str; 5] = ["ands", "depth", "bytes", "flat_ands", "flat_depth"];

/// The headings of the tables.
fn tables() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name()).chain([EXACT])
}

/// Tables in Markdown: one for each format, one of forms that are correctly rounded, those of fixed
/// point, and the functions of others beside ours.
pub fn markdown(records: &[Record]) -> String {
    let mut out = String::new();
    for format in tables() {
        let names = names(records, format);
        if names.is_empty() {
            continue;
        }
        let _ = writeln!(out, "## {format}\n");
        out += "| function | ANDs | depth | bytes | ANDs, flushed | ANDs, flat | depth, flat | worst ULP | at |\n";
        out += "|---|---|---|---|---|---|---|---|---|\n";
        for name in names {
            let case = format!("{format}/{name}");
            let of = |metric| find(records, &case, metric);
            let ulp = of("max_ulp").map_or(String::new(), |ulp| format!("{ulp:.3}"));
            let at = [of("argument"), of("second_argument")];
            let at = at.into_iter().flatten().map(|x| format!("{x:e}"));
            let at = at.collect::<Vec<_>>().join(", ");
            let counts = sizes(records, &case, SIZES).join(" | ");
            let _ = writeln!(out, "| `{name}` | {counts} | {ulp} | {at} |");
        }
        out.push('\n');
    }
    for (table, _) in fixed::TYPES {
        let names = names(records, table);
        if names.is_empty() {
            continue;
        }
        let _ = writeln!(out, "## {table}\n");
        out += "| function | ANDs | depth | bytes | ANDs, flat | depth, flat | operands |\n";
        out += "|---|---|---|---|---|---|---|\n";
        for case in fixed::CASES
            .iter()
            .filter(|case| names.contains(&case.name))
        {
            let name = case.name;
            let counts = sizes(records, &format!("{table}/{name}"), OF_FIXED).join(" | ");
            let _ = writeln!(out, "| `{name}` | {counts} | {} |", case.ranges());
        }
        out.push('\n');
    }
    others(records, &mut out);
    out
}

/// The columns of a function in a table that need no sample.
fn sizes<const N: usize>(records: &[Record], case: &str, metrics: [&str; N]) -> [String; N] {
    let count = |value| grouped(value as u64);
    metrics.map(|metric| find(records, case, metric).map_or(String::new(), count))
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

#[cfg(test)]
mod tests {
    use super::super::{case, sizes as measure};
    use super::*;
    use sealane_numeric::{Error, Format, Function, exact_functions, functions};

    const PAGE: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/reference/functions.md"
    );

    /// The cells of each row, by the name of the format and the function: `f32/exp`.
    fn rows() -> Vec<(String, Vec<String>)> {
        let page = std::fs::read_to_string(PAGE).expect("the page");
        let (_, below) = page.split_once(BEGIN).expect("the mark before the tables");
        let mut format = "";
        let mut rows = Vec::new();
        for line in below.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                format = heading;
            }
            let mut all = tables().chain(fixed::TYPES.map(|(table, _)| table));
            let known = all.any(|table| table == format);
            if let Some(row) = line.strip_prefix("| `").filter(|_| known) {
                let cells = row.split('|').map(|cell| cell.trim().to_string());
                let cells: Vec<String> = cells.collect();
                rows.push((format!("{format}/{}", cells[0].trim_matches('`')), cells));
            }
        }
        rows
    }

    /// Compares the tables of these formats with the circuits.
    fn check(formats: &[Format]) {
        let rows = rows();
        for &format in formats {
            check_table(&rows, format.name(), format, functions());
        }
    }

    fn check_table(
        rows: &[(String, Vec<String>)],
        table: &str,
        format: Format,
        functions: impl Iterator<Item = &'static Function>,
    ) {
        let prefix = format!("{table}/");
        let mut count = 0;
        for function in functions {
            let mut records = Vec::new();
            let case = case(table, function);
            measure((&case, format), function, &mut |record| {
                records.push(record)
            });
            let row = rows.iter().find(|row| row.0 == case);
            let (_, cells) = row.unwrap_or_else(|| panic!("{case} is not on the page"));
            let stated = sizes(&records, &case, SIZES);
            assert_eq!(cells[1..7], stated, "{case}: run math_page again");
            count += 1;
        }
        let rows = rows.iter().filter(|row| row.0.starts_with(&prefix));
        assert_eq!(rows.count(), count, "functions of {table}");
    }

    #[test]
    fn the_page_states_the_sizes_of_circuits() {
        check(&[Format::F16, Format::BF16, Format::F32]);
        check_table(&rows(), EXACT, Format::F32, exact_functions());
    }

    #[test]
    #[ignore = "circuits of f64 take minutes without optimisation"]
    fn the_page_states_the_sizes_of_circuits_of_f64() {
        check(&[Format::F64]);
    }

    /// Compares a table of fixed point with the circuits.
    fn check_fixed(table: (&str, sealane_numeric::Fixed)) {
        let rows = rows();
        for of in fixed::CASES {
            let mut records = Vec::new();
            of.sizes(table, &mut |record| records.push(record));
            let case = format!("{}/{}", table.0, of.name);
            let row = rows.iter().find(|row| row.0 == case);
            let (_, cells) = row.unwrap_or_else(|| panic!("{case} is not on the page"));
            let stated = sizes(&records, &case, OF_FIXED);
            assert_eq!(cells[1..6], stated, "{case}: run math_page again");
            assert_eq!(cells[6], of.ranges(), "{case}: run math_page again");
        }
        let prefix = format!("{}/", table.0);
        let rows = rows.iter().filter(|row| row.0.starts_with(&prefix));
        assert_eq!(rows.count(), fixed::CASES.len(), "functions of {}", table.0);
    }

    #[test]
    fn the_page_states_the_sizes_of_functions_of_fixed_point() {
        check_fixed(fixed::TYPES[0]);
        for function in sealane_numeric::fixed_functions() {
            let listed = fixed::CASES.iter().any(|case| case.name == function.name);
            assert!(listed, "{}", function.name);
        }
    }

    #[test]
    #[ignore = "polynomials of many digits take minutes without optimisation"]
    fn the_page_states_the_sizes_of_functions_of_fixed_point_of_64_bits() {
        check_fixed(fixed::TYPES[1]);
    }

    /// Errors on the page are within those that functions promise.
    #[test]
    fn the_page_states_errors_that_are_promised() {
        for (case, cells) in rows() {
            let Ok(worst) = cells[7].parse::<f64>() else {
                continue;
            };
            let (format, name) = case.split_once('/').expect("a format and a name");
            let function = sealane_numeric::function(name).expect("a function");
            let bound = match (function.error, format) {
                (Error::Rounded, _) | (_, "f16" | "bf16" | EXACT) => 0.5,
                (Error::Ulp { single, .. } | Error::Near { single, .. }, "f32") => single,
                (Error::Ulp { double, .. } | Error::Near { double, .. }, _) => double,
            };
            assert!(worst <= bound, "{case}: {worst}, not {bound}");
        }
    }
}
