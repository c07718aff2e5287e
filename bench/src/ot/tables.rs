//! The suite's records as a table for each form and one of all correlations, and as charts.

use super::{CHANNELS, Form, correlations};
use crate::Record;
use crate::plot::format_value;
use crate::table::{Column, RecordTable, Row, Sheet, View};

/// A note that applies to all figures.
const NOTE: &str = "\
Million OTs a second, of the fastest window, and bits that cross for an OT. Sender and receiver: the
work of one side alone, on one thread. Other columns: both sides on threads of their own, over memory,
TCP and TLS on loopback, and the simulated networks. Correlations, which are products and OTs of one of many
strings: thousand a second, both sides on threads of their own.
";

const RATE: &str = "million_ots_per_s";
const BITS: &str = "bits_per_ot";
const CORRELATION_RATE: &str = "million_per_s";
const CORRELATION_BITS: &str = "bits";
/// Columns of one side alone.
const SIDES: [&str; 2] = ["sender", "receiver"];
/// The channel whose bits are shown; they are the same over all.
const BITS_OF: &str = "tls";

/// The tables, for a terminal; and charts of the same, with protocols as groups. There is one of
/// each side alone by tier, too. Correlations have two charts for each of their kinds, since their
/// figures are far apart.
pub fn view(records: &[Record]) -> View {
    let sheet = &Sheet::new(records);
    let mut view = View::noted(NOTE);
    of_forms(sheet, &mut view);
    of_correlations(sheet, &mut view);
    if let Some(setup) = sheet.find("base/128/memory", "setup_ms", None) {
        view.text += &format!("\n128 base OTs, both sides: {setup:.1} ms\n");
    }
    view
}

/// Columns of a figure, one for each channel.
fn of_channels(front: &str, metric: &'static str) -> Vec<Column> {
    let channels = CHANNELS.iter().map(|channel| channel.name);
    let column = |name| Column::new(name, format!("{front}/{name}"), metric);
    channels.map(column).collect()
}

/// A table for each form: a row for each protocol.
fn of_forms(sheet: &Sheet<'_>, view: &mut View) {
    let known = |form: &str| Form::ALL.iter().any(|known| known.name() == form);
    let rows = sheet.rows(|parts| match parts {
        [protocol, form, _, ..] if known(form) => Some(Row::new(protocol, protocol)),
        _ => None,
    });
    let rate = |column: Column| column.shown(|_, values| format!("{:.1}", values[0]));
    let bits = |head: &str, form: Form| {
        let column = Column::new(head, format!("/{}/{BITS_OF}", form.name()), BITS);
        column.shown(|_, values| format!("{:.2}", values[0]))
    };
    let alone = |side: &str, form: Form| format!("/{}/local/{side}", form.name());
    for form in Form::ALL {
        let sides = SIDES.map(|side| Column::new(side, alone(side, form), RATE));
        let channels = of_channels(&format!("/{}", form.name()), RATE);
        let columns: Vec<Column> = sides.into_iter().chain(channels).map(rate).collect();
        let title = format!("OTs, {}: million a second, on {}", form.name(), sheet.tier);
        view.chart(sheet, title, "million/s", &rows, columns.clone());
        let title = format!("{}, {}", form.name(), sheet.tier);
        let columns = columns.into_iter().chain([bits("bits", form)]);
        view.text += &RecordTable::new(sheet, title, &rows, columns).text();
    }
    let columns = Form::ALL.map(|form| bits(form.name(), form));
    view.chart(sheet, "Bits an OT, by form", "bits", &rows, columns);
    for side in SIDES {
        let of = |tier| Column::new(tier, alone(side, Form::Correlated), RATE).on(tier);
        let title = format!("Correlated OTs, {side} alone: million a second, by tier");
        let tiers = sheet.tiers().into_iter().map(of);
        view.chart(sheet, title, "million/s", &rows, tiers);
    }
}

/// One table of correlations, a row for each of their names and sources: sources of the same
/// correlations below each other, correlations in the order of their names.
fn of_correlations(sheet: &Sheet<'_>, view: &mut View) {
    let rows = |shown: &dyn Fn(&str, &str) -> Option<String>| {
        let mut rows = sheet.rows(|parts| match parts {
            [source, name, _] if !kind(name).is_empty() => {
                Some(Row::new(shown(name, source)?, format!("{source}/{name}")))
            }
            _ => None,
        });
        rows.sort_by_key(|row| {
            let name = row.case.split('/').nth(1).unwrap_or_default();
            let mut kinds = correlations::NAMES.iter();
            (
                kinds.position(|known| kind(name) == *known),
                name.to_string(),
            )
        });
        rows
    };
    let bits = || Column::new("bits", format!("/{BITS_OF}"), CORRELATION_BITS);
    let thousands = |_: &str, values: &[f64]| format_value(values[0] * 1e3);
    let rates = of_channels("", CORRELATION_RATE).into_iter();
    let rates = rates.map(|column| column.shown(thousands));
    let title = format!("correlations, {}", sheet.tier);
    let all = rows(&|name, source| Some(format!("{name}, {source}")));
    view.text += &RecordTable::new(sheet, title, &all, rates.chain([bits()])).text();
    for wanted in correlations::NAMES {
        let rows = rows(&|name, source| match name.strip_prefix(wanted)? {
            _ if kind(name) != wanted => None,
            "" => Some(source.to_string()),
            more => Some(format!("{}, {source}", more.trim_start_matches('-'))),
        });
        let title = format!("{wanted}: million a second, on {}", sheet.tier);
        view.chart(
            sheet,
            title,
            "million/s",
            &rows,
            of_channels("", CORRELATION_RATE),
        );
        view.chart(sheet, format!("{wanted}: bits"), "bits", &rows, [bits()]);
    }
}

/// The kind of correlations, which their name begins with; the longest one that fits.
fn kind(name: &str) -> &'static str {
    let kinds = correlations::NAMES.into_iter();
    let fits = kinds.filter(|kind| name.starts_with(kind));
    fits.max_by_key(|kind| kind.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewed(figures: &[(&str, &str, f64)]) -> View {
        let record = |&(case, metric, value): &(&str, &str, f64)| {
            Record::of("ot", case, "vaes256", (metric, value, ""))
        };
        view(&figures.iter().map(record).collect::<Vec<_>>())
    }

    /// The words of the lines below a title.
    fn rows(view: &View, title: &str) -> Vec<Vec<String>> {
        let below = view.text.split(title).nth(1).expect("a table");
        let words = |line: &str| line.split_whitespace().map(String::from).collect();
        below.lines().map(words).collect()
    }

    #[test]
    fn forms_have_tables_and_charts() {
        let view = viewed(&[
            ("base/128/memory", "setup_ms", 10.5),
            ("iknp/random/local/sender", RATE, 40.0),
            ("iknp/random/local/sender", "million_ots_per_s_median", 39.0),
            ("iknp/random/tls", RATE, 20.5),
            ("iknp/random/tls", BITS, 127.0),
        ]);
        let random = rows(&view, "random, vaes256");
        assert_eq!(random[1], ["iknp", "40.0", "20.5", "127.00"]);
        let base = "128 base OTs, both sides: 10.5 ms";
        assert!(view.text.contains(base) && !view.text.contains("correlations, "));
        let bars = view.charts.iter().map(|chart| chart.groups.len());
        assert_eq!(bars.sum::<usize>(), 2, "rates and bits of one protocol");
    }

    #[test]
    fn correlations_stand_in_a_table_and_in_charts_of_their_kind() {
        let view = viewed(&[
            ("ferret/boolean-triples/tls", CORRELATION_RATE, 10.25),
            ("ferret/boolean-triples/tls", CORRELATION_BITS, 0.92),
            ("ferret/ole-64/tls", CORRELATION_RATE, 0.2),
            ("softspoken-4/boolean-triples/tls", CORRELATION_RATE, 31.0),
            ("softspoken-4/boolean-triples/wan", CORRELATION_RATE, 1.5),
            ("softspoken-6/one-of-256-rows/tls", CORRELATION_BITS, 43.0),
        ]);
        let correlations = rows(&view, "correlations, vaes256");
        let expected = [
            "memory tcp tls lan wan bits",
            "boolean-triples, ferret 10250 0.92",
            "boolean-triples, softspoken-4 31000 1500",
            "ole-64, ferret 200",
        ];
        for (row, expected) in expected.into_iter().enumerate() {
            assert_eq!(correlations[row].join(" "), expected);
        }
        let forms = view.text.contains("random, vaes256");
        assert!(!forms, "no forms, no tables");
        let of = |title: &str| {
            let mut found = view.charts.iter().filter(|chart| chart.title == title);
            found.next().expect("a chart").groups.clone()
        };
        let triples = [
            ("ferret".to_string(), vec![(0, 10.25)]),
            ("softspoken-4".to_string(), vec![(0, 31.0), (1, 1.5)]),
        ];
        assert_eq!(of("boolean-triples: million a second, on vaes256"), triples);
        let rows = ("rows, softspoken-6".to_string(), vec![(0, 43.0)]);
        assert_eq!(of("one-of-256: bits"), [rows]);
        assert_eq!(of("one-of-2^64: bits"), []);
    }
}
