//! The suite's records as a table for each form, and as charts.

use std::fmt::Write;

use super::{CHANNELS, Form, SUITE};
use crate::Record;
use crate::plot::Chart;

/// A note that applies to all figures.
const NOTE: &str = "\
Million OTs a second, of the fastest window, and bits that cross for an OT. Sender and receiver: the
work of one side alone, on one thread. Other columns: both sides on threads of their own, over memory,
TCP and TLS on loopback, and the simulated networks.
";

const RATE: &str = "million_ots_per_s";
const BITS: &str = "bits_per_ot";
/// Columns of one side alone.
const SIDES: [&str; 2] = ["sender", "receiver"];
/// The channel whose bits are shown; they are the same over all.
const BITS_OF: &str = "tls";

/// Protocol, form and column of a record; the column is a side or a channel.
fn place(record: &Record) -> Option<[&str; 3]> {
    let parts: Vec<&str> = record.case.split('/').collect();
    match (record.suite == SUITE, &parts[..]) {
        (true, &[protocol, form, "local", side]) => Some([protocol, form, side]),
        (true, &[protocol, form, channel]) => Some([protocol, form, channel]),
        _ => None,
    }
}

/// The tier that tables show: the best, on which all channels are measured.
fn best(records: &[Record]) -> &'static str {
    let rates = records.iter().rfind(|record| record.metric == RATE);
    rates.map_or("", |record| record.tier)
}

fn columns() -> impl Iterator<Item = &'static str> {
    SIDES
        .into_iter()
        .chain(CHANNELS.map(|channel| channel.name))
}

/// The tables, for a terminal.
pub fn text(records: &[Record]) -> String {
    let tier = best(records);
    let mut protocols: Vec<&str> = Vec::new();
    for [protocol, form, _] in records.iter().filter_map(place) {
        let known = Form::ALL.iter().any(|known| known.name() == form);
        if known && !protocols.contains(&protocol) {
            protocols.push(protocol);
        }
    }
    let find = |place_of: [&str; 3], metric| {
        let is = |record: &&Record| {
            record.metric == metric && record.tier == tier && place(record) == Some(place_of)
        };
        records.iter().find(is).map(|record| record.value)
    };
    let mut out = NOTE.to_string();
    for form in Form::ALL {
        let _ = write!(out, "\n{:<24}", format!("{}, {tier}", form.name()));
        for column in columns() {
            let _ = write!(out, "{column:>9}");
        }
        let _ = writeln!(out, "{:>9}", "bits");
        for protocol in &protocols {
            let mut line = format!("{protocol:<24}");
            let mut cell = |value: Option<f64>, decimals: usize| {
                let shown = value.map_or(String::new(), |value| format!("{value:.decimals$}"));
                let _ = write!(line, "{shown:>9}");
            };
            for column in columns() {
                cell(find([protocol, form.name(), column], RATE), 1);
            }
            cell(find([protocol, form.name(), BITS_OF], BITS), 2);
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    let setup = records.iter().rfind(|record| record.metric == "setup_ms");
    if let Some(setup) = setup {
        let _ = writeln!(out, "\n128 base OTs, both sides: {:.1} ms", setup.value);
    }
    out
}

/// Protocols as groups: a chart of rates for each form, with sides and channels as series; one of
/// bits by form; one of the slower side alone by tier.
pub fn charts(records: &[Record]) -> Vec<Chart> {
    let tier = best(records);
    let mut charts = Vec::new();
    for form in Form::ALL {
        let title = format!("OTs, {}: million a second, on {tier}", form.name());
        charts.push(Chart::of(records, title, "million/s", |record| {
            let [protocol, of, column] = place(record)?;
            let series = match SIDES.contains(&column) {
                true => format!("{column} alone"),
                false => column.to_string(),
            };
            let shown = of == form.name() && record.metric == RATE && record.tier == tier;
            shown.then(|| (protocol.to_string(), series))
        }));
    }
    let title = "Bits an OT, by form".to_string();
    charts.push(Chart::of(records, title, "bits", |record| {
        let [protocol, form, column] = place(record)?;
        let shown = record.metric == BITS && column == BITS_OF;
        shown.then(|| (protocol.to_string(), form.to_string()))
    }));
    for side in SIDES {
        let title = format!("Correlated OTs, {side} alone: million a second, by tier");
        charts.push(Chart::of(records, title, "million/s", |record| {
            let [protocol, form, column] = place(record)?;
            let shown = form == Form::Correlated.name() && column == side;
            (shown && record.metric == RATE)
                .then(|| (protocol.to_string(), record.tier.to_string()))
        }));
    }
    charts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(case: &str, tier: &'static str, metric: &'static str, value: f64) -> Record {
        Record {
            suite: SUITE,
            case: case.to_string(),
            tier,
            metric,
            value,
            unit: "",
        }
    }

    #[test]
    fn figures_stand_in_the_row_and_column_of_their_case() {
        let records = [
            record("base/128/memory", "aesni", "setup_ms", 10.5),
            record("iknp/random/local/sender", "aesni", RATE, 7.0),
            record("iknp/random/local/sender", "vaes256", RATE, 40.0),
            record(
                "iknp/random/local/sender",
                "vaes256",
                "million_ots_per_s_median",
                39.0,
            ),
            record("iknp/random/tls", "vaes256", RATE, 20.5),
            record("iknp/random/tls", "vaes256", BITS, 127.0),
        ];
        let shown = text(&records);
        let random = shown.split("random, vaes256").nth(1).expect("a table");
        let cells: Vec<&str> = random
            .lines()
            .nth(1)
            .expect("a row")
            .split_whitespace()
            .collect();
        assert_eq!(cells, ["iknp", "40.0", "20.5", "127.00"]);
        let row = random.lines().nth(1).expect("a row");
        let head = random.lines().next().expect("a head");
        // Right-aligned below each other, behind the title that was cut off.
        let title = "random, vaes256".len();
        let tls = title + head.find("tls").expect("a column") + "tls".len();
        assert_eq!(row[..tls].split_whitespace().last(), Some("20.5"));
        assert!(
            shown.contains("128 base OTs, both sides: 10.5 ms"),
            "{shown}"
        );
        let charts = charts(&records);
        let bars = |chart: &Chart| {
            chart
                .groups
                .iter()
                .map(|(_, bars)| bars.len())
                .sum::<usize>()
        };
        assert_eq!(
            charts.iter().map(bars).collect::<Vec<_>>(),
            [0, 0, 2, 0, 1, 0, 0]
        );
    }
}
