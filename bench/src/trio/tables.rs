//! The suite's records as the tables of the paper and of other protocols, and as charts.

use super::proved::{BYTES_PROOF, MS_SETTLED, NS_AND, NS_PROOF};
use super::{
    BLOCKS, BYTES, BYTES_A_ROW, BYTES_LAYERS, CHANNELS, CPU_RATE, MS, MS_FROM_INPUTS, RATE, ROUNDS,
    SECONDS, TILES,
};
use crate::Record;
use crate::plot::format_value;
use crate::table::{Cell, Column, RecordTable, Row, Sheet, View};

/// Milliseconds a block of the paper (section 6): one block, and two threads of six blocks each.
const PAPER: [(&str, f64); 2] = [("1x1", 14.3), ("6x2", 3.1)];

/// A row of other protocols: name, bytes a block a party, rounds a block, speed, CPU.
type Other = [&'static str; 5];

/// AES-128 of other protocols of three parties and an honest majority, as their papers state, where
/// not said otherwise: blocks a second on their machines, and blocks per CPU-second of a party
/// measured on ours.
const OTHERS: [Other; 6] = [
    ["the 2012 paper", "12,160", "30", "320, 1 Gbit/s", ""],
    [
        "Boolean, replicated (Araki)",
        "660",
        "60",
        ARAKI,
        "267 k to 305 k",
    ],
    ["MAESTRO GF(2^8)", "640", "30", GF256, "67 k to 82 k"],
    [
        "MAESTRO GF(16) circuit",
        "400",
        "40",
        GF16,
        "100 k to 109 k",
    ],
    ["MAESTRO lut16", "540", "30", LUT16, "39 k to 51 k"],
    ["MAESTRO (2,3)-LUT256", "5,100", "10", LUT256, "5 k"],
];

const ARAKI: &str = "1.3 M on 20 cores, 10 Gbit/s";
const GF256: &str = "493 k to 571 k on 16 threads, 10 Gbit/s";
const GF16: &str = "672 k to 736 k on 16 threads, 10 Gbit/s";
const LUT16: &str = "302 k to 323 k on 16 threads, 10 Gbit/s";
const LUT256: &str = "36 k to 41 k on 16 threads, 10 Gbit/s";

/// The tables, for a terminal; and a chart of figure 12 for each channel, with the paper's bars,
/// one of many blocks, and one of rows in another order.
pub fn view(records: &[Record]) -> View {
    let sheet = &Sheet::new(records);
    let mut view = View::default();
    for channel in CHANNELS {
        figure(sheet, channel.0, &mut view);
    }
    protocols(sheet, &mut view);
    let rows = rows(sheet, "local");
    let title = "lookups of blocks alone";
    let rate = Column::new("per CPU-second of a party", "", CPU_RATE).shown(thousands);
    view.text += &RecordTable::new(sheet, title, &rows, [rate]).text();
    proved(sheet, &mut view);
    let rows = ["shuffle", "sort"]
        .map(|work| self::rows(sheet, work))
        .concat();
    let seconds = || Column::new("seconds", "", SECONDS).shown(|_, v| format!("{:.3}", v[0]));
    let bytes = Column::new("bytes a row a party", "", BYTES_A_ROW);
    let table = RecordTable::new(sheet, "rows in another order", &rows, [seconds(), bytes]);
    view.text += &table.text();
    view.chart(sheet, "shuffle and sort", "", &rows, [seconds()]);
    view.charts.retain(|chart| !chart.groups.is_empty());
    view
}

/// Rows for all cases of a part.
fn rows(sheet: &Sheet<'_>, part: &str) -> Vec<Row> {
    sheet.rows(|parts| {
        let case = parts.join("/");
        (parts[0] == part).then(|| Row::new(&case, &case))
    })
}

/// The profile against one malicious party: of ANDs nanoseconds and bytes, of settlements over
/// networks milliseconds, blocks of AES, and sorts.
fn proved(sheet: &Sheet<'_>, view: &mut View) {
    let rows = |work: &str| {
        sheet.rows(|parts| {
            let case = parts.join("/");
            (parts.starts_with(&["proved", work])).then(|| Row::new(&case, &case))
        })
    };
    let ands = [
        Column::new("CPU ns an AND (its proof)", "", NS_AND)
            .and(NS_PROOF)
            .shown(beside),
        Column::new("bytes of the proof, of a party", "", BYTES_PROOF),
    ];
    let settlement = [Column::new("ms of the last settlement", "", MS_SETTLED)];
    let blocks = [
        Column::new("bytes a block a party", "", BYTES),
        Column::new("blocks/s over TLS", "", RATE).shown(thousands),
        Column::new("blocks per CPU-second", "", CPU_RATE).shown(thousands),
    ];
    let sorts = [
        Column::new("seconds", "", SECONDS),
        Column::new("bytes a row a party", "", BYTES_A_ROW),
    ];
    for (work, columns) in [
        ("and", &ands[..]),
        ("settlement", &settlement),
        ("aes", &blocks),
        ("sort", &sorts),
    ] {
        let title = format!("one party may deviate: {work}");
        let table = RecordTable::new(sheet, title, &rows(work), columns.iter().cloned());
        if !table.rows.is_empty() {
            view.text += &table.text();
        }
    }
}

fn thousands(_: &str, values: &[f64]) -> String {
    format!("{} k", format_value(values[0] / 1e3))
}

/// Two figures, the second one in brackets.
fn beside(_: &str, values: &[f64]) -> String {
    let more = values[1..].iter().map(|value| match value.fract() {
        0.0 => format!(" ({value})"),
        _ => format!(" ({})", format_value(*value)),
    });
    format_value(values[0]) + &more.collect::<String>()
}

/// Figure 12 over one channel: a row for each size of a tile.
fn figure(sheet: &Sheet<'_>, channel: &str, view: &mut View) {
    let case = |blocks| format!("aes/{channel}/{blocks}");
    let row = |blocks| Row::new(format!("{blocks} a tile"), case(blocks));
    let column = |tiles| Column::new(format!("{tiles} in flight"), format!("x{tiles}"), MS);
    let columns = TILES.map(|tiles| column(tiles).and(ROUNDS).shown(beside));
    let title = format!("AES-128, {channel}: ms a block (rounds)");
    let table = RecordTable::new(sheet, title, &BLOCKS.map(row), columns);
    if table.rows.is_empty() {
        return;
    }
    view.text += &table.text();
    if let Some(ms) = sheet.find(&format!("aes/{channel}/1x1"), MS_FROM_INPUTS, None) {
        let ms = format_value(ms);
        view.text += &format!("one block, from inputs that are sent to the result: {ms}\n");
    }
    let paper = PAPER.map(|(case, ms)| format!("{ms} at {case}"));
    view.text += &format!("the 2012 paper, 1 Gbit/s: {}\n", paper.join(", "));
    let mut chart = table.chart(format!("AES-128, {channel}: milliseconds a block"), "ms");
    for (case, ms) in PAPER {
        chart.add(&format!("paper, {case}"), "the 2012 paper", ms);
    }
    view.charts.push(chart);
}

/// Our rows below those of others.
fn protocols(sheet: &Sheet<'_>, view: &mut View) {
    let ours = sheet.rows(|parts| match parts {
        ["protocols", blocks] => {
            let name = format!("trio, {blocks} blocks");
            Some(Row::new(name, format!("protocols/{blocks}")))
        }
        _ => None,
    });
    let rate = || {
        Column::new("blocks/s", "", RATE)
            .shown(|case, values| format!("{} over TLS here", thousands(case, values)))
    };
    let columns = [
        Column::new("bytes a block a party (lookups)", "", BYTES)
            .and(BYTES_LAYERS)
            .shown(beside),
        Column::new("rounds", "", ROUNDS).shown(|_, values| format!("{} a run", values[0])),
        rate(),
        Column::new("blocks per CPU-second", "", CPU_RATE).shown(thousands),
    ];
    let mut table = RecordTable::new(sheet, "protocol", &ours, columns);
    if !table.rows.is_empty() {
        let cell = |text: &&str| Cell {
            text: text.to_string(),
            value: None,
        };
        let row = |other: &Other| (other[0].to_string(), other[1..].iter().map(cell).collect());
        let ours = std::mem::take(&mut table.rows);
        table.rows = OTHERS.iter().map(row).chain(ours).collect();
    }
    view.text += &table.text();
    view.chart(sheet, "AES-128: blocks a second", "", &ours, [rate()]);
}
