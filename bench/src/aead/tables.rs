//! The suite's records as the study's three tables and three more, and as charts.

use std::fmt::Write;

use super::{LENGTHS, Number, SUITE, study};
use crate::Record;
use crate::plot::Chart;

/// A note that applies to all figures.
const NOTE: &str = "\
Core cycles a byte of text; in place, keys set up, no associated data. Medians, but for the minima.
Haswell: the study's figures (DIAC 2014), on another machine. For ECB, CTR and CBC it gives one
figure each, without a length, which stands below the last; its COBRA stands beside our cobra_r1.
";

const CYCLES: &str = Number::CyclesPerByte(0.0).parts().0;
const LEAST: &str = Number::LeastCyclesPerByte(0.0).parts().0;
const KEY: &str = Number::CyclesPerKey(0.0).parts().0;
const SPEED_UP: &str = Number::SpeedUp(0.0).parts().0;
const LANES: &str = Number::Lanes(0).parts().0;
const KEPT: &str = Number::RateKept(0.0).parts().0;

/// A row of every table: a mode, or GCM of another library.
struct Row {
    /// The displayed name.
    shown: String,
    /// Prefix of its cases.
    prefix: String,
    tier: &'static str,
}

/// A column: the value that is looked up in every row.
struct Column {
    head: String,
    case: String,
    metric: &'static str,
    /// True if it holds the study's figures.
    study: bool,
}

impl Column {
    fn new(head: &str, case: &str, metric: &'static str) -> Column {
        Column {
            head: head.to_string(),
            case: case.to_string(),
            metric,
            study: false,
        }
    }

    /// One for each length of texts.
    fn lengths(case: &str, metric: &'static str) -> Vec<Column> {
        let column =
            |length: usize| Column::new(&length.to_string(), &format!("{case}/{length}"), metric);
        LENGTHS.into_iter().map(column).collect()
    }

    /// The corresponding columns of the study.
    fn of_study(columns: Vec<Column>) -> Vec<Column> {
        let study = |column| Column {
            study: true,
            ..column
        };
        columns.into_iter().map(study).collect()
    }

    fn value(&self, row: &Row, records: &[Record]) -> Option<f64> {
        let find = |case: &str, tier| {
            let is = |r: &&Record| r.metric == self.metric && r.tier == tier && r.case == case;
            records.iter().find(is).map(|record| record.value)
        };
        if !self.study {
            return find(&format!("{}/{}", row.prefix, self.case), row.tier);
        }
        let case = format!("study/{}/{}", row.prefix, self.case);
        let exact = find(&case, study::TIER);
        // Figures that the study gives without a length are in the last column.
        let general = case
            .strip_suffix(LAST)
            .and_then(|case| find(case, study::TIER));
        exact.or(general)
    }

    fn cell(&self, row: &Row, records: &[Record]) -> String {
        let value = self.value(row, records);
        value.map_or(String::new(), |value| match self.metric {
            LANES | KEY => format!("{value:.0}"),
            KEPT => format!("{value:.0} %"),
            _ => format!("{value:.2}"),
        })
    }
}

/// Suffix of cases of the longest texts.
const LAST: &str = "/2048";

/// Columns below a common head.
type Group = (String, Vec<Column>);

/// The tables, for a terminal.
pub fn text(records: &[Record]) -> String {
    let tier = best(records);
    let mut out = NOTE.to_string();
    let counted = |columns| {
        let count = Column::new("# msgs", "many", LANES);
        std::iter::once(count).chain(columns).collect::<Vec<_>>()
    };
    let beside = |columns: &dyn Fn() -> Vec<Column>| {
        let here = (format!("here, {tier}"), columns());
        vec![here, ("Haswell".to_string(), Column::of_study(columns()))]
    };
    let single = |way: &str, metric| Column::lengths(&format!("single/{way}"), metric);
    let many = |way: &str, metric| Column::lengths(&format!("many/{way}"), metric);
    let apart = |way, metric| -> Vec<Group> {
        let together = ("many messages".to_string(), many(way, metric));
        vec![("one message".to_string(), single(way, metric)), together]
    };
    let mixes = vec![
        Column::new("4x128+3x2048", "mix/realistic/seal", CYCLES),
        Column::new("kept", "mix/realistic/seal", KEPT),
        Column::new("times", "mix/realistic/seal", SPEED_UP),
        Column::new("internet", "mix/internet/seal", CYCLES),
    ];
    let more = vec![
        (
            "any lengths".to_string(),
            Column::lengths("batch/seal", CYCLES),
        ),
        (
            "own keys".to_string(),
            Column::lengths("own-keys/seal", CYCLES),
        ),
        ("mixed lengths".to_string(), mixes),
        ("cycles".to_string(), vec![Column::new("a key", "key", KEY)]),
    ];
    let tables = [
        ("Single message", beside(&|| single("seal", CYCLES))),
        ("Many messages", beside(&|| counted(many("seal", CYCLES)))),
        (
            "Speed-up of many",
            beside(&|| Column::lengths("speed-up/seal", SPEED_UP)),
        ),
        ("Minima", apart("seal", LEAST)),
        ("Opening", apart("open", CYCLES)),
        ("Keys and lengths", more),
    ];
    let rows = rows(records, tier);
    for (title, groups) in tables {
        // Writing to a string does not fail.
        let _ = table(&mut out, title, &groups, &rows, records);
    }
    let [times, equal] = [study::SILC_REALISTIC, study::SILC_EQUAL];
    let _ = writeln!(
        out,
        "\nMany messages are rows of one length; any lengths: the same messages in batches that could have \
         any.\nkept: of the rate of equal lengths. times: against one message at a time; the study \
         calculates {times:.2}\nfor SILC, where equal lengths would be {equal:.2} times as fast: \
         {:.0} % are kept.",
        100.0 * times / equal
    );
    out
}

/// The tier that tables show: the best, which was measured last.
fn best(records: &[Record]) -> &'static str {
    let ours = records.iter().rfind(|record| ours(record).is_some());
    ours.map_or("", |record| record.tier)
}

/// The mode of a record, unless it is the study's or a peer's.
fn ours(record: &Record) -> Option<&str> {
    let (mode, _) = record.case.split_once('/')?;
    (record.suite == SUITE && !["study", "peer"].contains(&mode)).then_some(mode)
}

fn rows(records: &[Record], tier: &'static str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for record in records {
        let parts: Vec<&str> = record.case.split('/').collect();
        let row = match (ours(record), &parts[..]) {
            (Some(mode), _) => Row {
                shown: mode.to_string(),
                prefix: mode.to_string(),
                tier,
            },
            (None, ["peer", whose, mode, ..]) => Row {
                shown: format!("{mode} ({whose})"),
                prefix: format!("peer/{whose}/{mode}"),
                tier: record.tier,
            },
            _ => continue,
        };
        if rows.iter().all(|other| other.prefix != row.prefix) {
            rows.push(row);
        }
    }
    rows
}

fn table(
    out: &mut String,
    title: &str,
    groups: &[Group],
    rows: &[Row],
    records: &[Record],
) -> std::fmt::Result {
    let names = rows
        .iter()
        .map(|row| row.shown.len())
        .max()
        .unwrap_or(0)
        .max(title.len());
    // A window during which the thread was switched out may have a number of many digits.
    let width = |column: &Column| {
        let cells = rows.iter().map(|row| column.cell(row, records).len());
        1 + cells.max().unwrap_or(0).max(column.head.len()).max(6)
    };
    let mut heads = format!("{title:<names$}");
    for (head, columns) in groups {
        let all: usize = columns.iter().map(width).sum();
        // The head of a group stands above its first column.
        write!(heads, "  {head:<all$}")?;
    }
    write!(out, "\n{}\n{:<names$}", heads.trim_end(), "mode")?;
    for column in groups.iter().flat_map(|(_, columns)| spaced(columns)) {
        match column {
            Some(column) => write!(out, "{:>w$}", column.head, w = width(column))?,
            None => out.push_str("  "),
        }
    }
    out.push('\n');
    for row in rows {
        let mut line = format!("{:<names$}", row.shown);
        for column in groups.iter().flat_map(|(_, columns)| spaced(columns)) {
            match column {
                Some(column) => {
                    write!(line, "{:>w$}", column.cell(row, records), w = width(column))?;
                }
                None => line.push_str("  "),
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Columns of a group behind a gap.
fn spaced(columns: &[Column]) -> impl Iterator<Item = Option<&Column>> {
    std::iter::once(None).chain(columns.iter().map(Some))
}

/// Modes as groups; the best tier, AES-NI and Haswell as series.
pub fn charts(records: &[Record]) -> Vec<Chart> {
    let tier = best(records);
    let aesni = sealane_block::Tier::AesNi.name();
    let chart = |title: &str, unit, case: &str, metric| {
        let column = Column::new("", case, metric);
        Chart::of(records, title.to_string(), unit, |record| {
            let (prefix, series) = match record.tier {
                study::TIER => (record.case.strip_prefix("study/")?, "Haswell (the study)"),
                here if here == tier || here == aesni => (&*record.case, here),
                "any" => (&*record.case, "another library"),
                _ => return None,
            };
            let mode = prefix.strip_suffix(case).or_else(|| {
                let general = column.case.strip_suffix(LAST)?;
                (record.tier == study::TIER).then(|| prefix.strip_suffix(general))?
            })?;
            let mode = mode.strip_suffix('/')?.trim_start_matches("peer/");
            (record.metric == metric).then(|| (mode.to_string(), series.to_string()))
        })
    };
    let mut charts = vec![
        chart(
            "One message of 2048 bytes: cycles a byte",
            "cycles",
            "single/seal/2048",
            CYCLES,
        ),
        chart(
            "Many messages of 2048 bytes: cycles a byte",
            "cycles",
            "many/seal/2048",
            CYCLES,
        ),
        chart(
            "Many messages of 128 bytes: cycles a byte",
            "cycles",
            "many/seal/128",
            CYCLES,
        ),
        chart(
            "2048 bytes: many, times as fast as one",
            "times",
            "speed-up/seal/2048",
            SPEED_UP,
        ),
    ];
    let title = format!("Mixed lengths: cycles a byte, on {tier}");
    charts.push(Chart::of(records, title, "cycles", |record| {
        let (mode, mix) = record.case.split_once("/mix/")?;
        let series = match mix {
            "realistic/seal" => "4 x 128 + 3 x 2048 bytes",
            _ => "lengths of the internet",
        };
        let here = [tier, "any"].contains(&record.tier) && record.metric == CYCLES;
        here.then(|| {
            (
                mode.trim_start_matches("peer/").to_string(),
                series.to_string(),
            )
        })
    }));
    charts
}
