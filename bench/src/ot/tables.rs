//! The suite's records as a table for each form and one of all goods, and as charts.

use std::fmt::Write;

use super::{CHANNELS, Form, SUITE, goods};
use crate::Record;
use crate::plot::{Chart, format_value};

/// A note that applies to all figures.
const NOTE: &str = "\
Million OTs a second, of the fastest window, and bits that cross for an OT. Sender and receiver: the
work of one side alone, on one thread. Other columns: both sides on threads of their own, over memory,
TCP and TLS on loopback, and the simulated networks. Goods, which are products and OTs of one of many
strings: thousand a second, both sides on threads of their own.
";

const RATE: &str = "million_ots_per_s";
const BITS: &str = "bits_per_ot";
const GOODS_RATE: &str = "million_per_s";
const GOODS_BITS: &str = "bits";
/// Columns of one side alone.
const SIDES: [&str; 2] = ["sender", "receiver"];
/// The channel whose bits are shown; they are the same over all.
const BITS_OF: &str = "tls";

/// Protocol, form or goods, and column of a record; the column is a side or a channel.
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
    let is_rate = |record: &&Record| [RATE, GOODS_RATE].contains(&record.metric);
    let rates = records.iter().rfind(is_rate);
    rates.map_or("", |record| record.tier)
}

fn columns() -> impl Iterator<Item = &'static str> {
    SIDES
        .into_iter()
        .chain(CHANNELS.map(|channel| channel.name))
}

/// A figure of one place, if there is one.
fn find(
    records: &[Record],
    tier: &str,
    [protocol, form, column]: [&str; 3],
    metric: &str,
) -> Option<f64> {
    let is = |record: &&Record| {
        record.metric == metric
            && record.tier == tier
            && place(record) == Some([protocol, form, column])
    };
    records.iter().find(is).map(|record| record.value)
}

/// The tables, for a terminal.
pub fn text(records: &[Record]) -> String {
    let tier = best(records);
    let mut out = NOTE.to_string();
    of_forms(&mut out, records, tier);
    of_goods(&mut out, records, tier);
    let setup = records.iter().rfind(|record| record.metric == "setup_ms");
    if let Some(setup) = setup {
        let _ = writeln!(out, "\n128 base OTs, both sides: {:.1} ms", setup.value);
    }
    out
}

/// A table for each form: a row for each protocol.
fn of_forms(out: &mut String, records: &[Record], tier: &str) {
    let mut protocols: Vec<&str> = Vec::new();
    for [protocol, form, _] in records.iter().filter_map(place) {
        let known = Form::ALL.iter().any(|known| known.name() == form);
        if known && !protocols.contains(&protocol) {
            protocols.push(protocol);
        }
    }
    let forms = Form::ALL.into_iter().filter(|_| !protocols.is_empty());
    for form in forms {
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
                let place = [protocol, form.name(), column];
                cell(find(records, tier, place, RATE), 1);
            }
            let place = [protocol, form.name(), BITS_OF];
            cell(find(records, tier, place, BITS), 2);
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}

/// One table of goods: a row for each of their names and sources.
fn of_goods(out: &mut String, records: &[Record], tier: &str) {
    let mut rows: Vec<[&str; 2]> = Vec::new();
    let rates = records.iter().filter(|record| record.metric == GOODS_RATE);
    for [source, name, _] in rates.filter_map(place) {
        if !rows.contains(&[name, source]) {
            rows.push([name, source]);
        }
    }
    if rows.is_empty() {
        return;
    }
    // Sources of the same goods below each other, goods in the order of their names.
    rows.sort_by_key(|[name, _]| {
        (
            goods::NAMES.iter().position(|known| kind(name) == *known),
            *name,
        )
    });
    let _ = write!(out, "\n{:<54}", format!("goods, {tier}"));
    for channel in &CHANNELS {
        let _ = write!(out, "{:>9}", channel.name);
    }
    let _ = writeln!(out, "{:>11}", "bits");
    for [name, source] in rows {
        let figure = |column, metric| find(records, tier, [source, name, column], metric);
        let shown = |value: Option<f64>| value.map_or(String::new(), format_value);
        let mut line = format!("{:<54}", format!("{name}, {source}"));
        for channel in &CHANNELS {
            let rate = figure(channel.name, GOODS_RATE).map(|rate| rate * 1e3);
            let _ = write!(line, "{:>9}", shown(rate));
        }
        let _ = write!(line, "{:>11}", shown(figure(BITS_OF, GOODS_BITS)));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// The kind of goods, which their name begins with; the longest one that fits.
fn kind(name: &str) -> &'static str {
    let fits = goods::NAMES
        .into_iter()
        .filter(|kind| name.starts_with(kind));
    fits.max_by_key(|kind| kind.len()).unwrap_or_default()
}

/// Protocols as groups: a chart of rates for each form, with sides and channels as series; one of
/// bits by form; one of the slower side alone by tier. Goods have two charts for each of their
/// kinds, since their figures are far apart: rates by channel, and bits.
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
    charts.extend(charts_of_goods(records, tier));
    charts
}

fn charts_of_goods<'a>(
    records: &'a [Record],
    tier: &'a str,
) -> impl Iterator<Item = Chart> + use<'a> {
    let of_kind = move |wanted: &'static str| {
        let group = |source: &str, name: &str| match name == wanted {
            true => source.to_string(),
            false => format!("{}, {source}", name[wanted.len()..].trim_start_matches('-')),
        };
        let title = format!("{wanted}: million a second, on {tier}");
        let rates = Chart::of(records, title, "million/s", |record| {
            let [source, name, channel] = place(record)?;
            let shown = record.metric == GOODS_RATE && record.tier == tier && kind(name) == wanted;
            shown.then(|| (group(source, name), channel.to_string()))
        });
        let bits = Chart::of(records, format!("{wanted}: bits"), "bits", |record| {
            let [source, name, channel] = place(record)?;
            let shown = record.metric == GOODS_BITS && channel == BITS_OF && kind(name) == wanted;
            shown.then(|| (group(source, name), "bits".to_string()))
        });
        [rates, bits]
    };
    goods::NAMES.into_iter().flat_map(of_kind)
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
            [&[0, 0, 2, 0, 1, 0, 0][..], &[0; 16]].concat()
        );
        assert!(!shown.contains("goods"), "no goods, no table of them");
    }

    #[test]
    fn goods_stand_in_a_table_and_in_charts_of_their_kind() {
        let records = [
            record("ferret/boolean-triples/tls", "vaes256", GOODS_RATE, 10.25),
            record("ferret/boolean-triples/tls", "vaes256", GOODS_BITS, 0.92),
            record("ferret/ole-64/tls", "vaes256", GOODS_RATE, 0.2),
            record(
                "softspoken-4/boolean-triples/tls",
                "vaes256",
                GOODS_RATE,
                31.0,
            ),
            record(
                "softspoken-4/boolean-triples/wan",
                "vaes256",
                GOODS_RATE,
                1.5,
            ),
            record(
                "softspoken-6/one-of-256-rows/tls",
                "vaes256",
                GOODS_RATE,
                3.25,
            ),
            record(
                "softspoken-6/one-of-256-rows/tls",
                "vaes256",
                GOODS_BITS,
                43.0,
            ),
        ];
        let shown = text(&records);
        let table = shown.split("goods, vaes256").nth(1).expect("a table");
        let rows: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(rows[0], ["memory", "tcp", "tls", "lan", "wan", "bits"]);
        assert_eq!(rows[1], ["boolean-triples,", "ferret", "10250", "0.92"]);
        assert_eq!(
            rows[2],
            ["boolean-triples,", "softspoken-4", "31000", "1500"]
        );
        assert_eq!(rows[3], ["ole-64,", "ferret", "200"]);
        assert_eq!(
            rows[4],
            ["one-of-256-rows,", "softspoken-6", "3250", "43.0"]
        );
        assert!(!shown.contains("random, vaes256"), "no forms, no tables");
        let charts = charts(&records);
        let of = |title: &str| {
            let mut found = charts.iter().filter(|chart| chart.title == title);
            found.next().expect("a chart").groups.clone()
        };
        assert_eq!(
            of("boolean-triples: million a second, on vaes256"),
            [
                ("ferret".to_string(), vec![(0, 10.25)]),
                ("softspoken-4".to_string(), vec![(0, 31.0), (1, 1.5)]),
            ]
        );
        let rows = ("rows, softspoken-6".to_string(), vec![(0, 43.0)]);
        assert_eq!(of("one-of-256: bits"), [rows]);
        assert_eq!(of("one-of-2^64: bits"), []);
    }
}
