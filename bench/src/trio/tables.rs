//! The suite's records as the tables of the paper and of other protocols, and as charts.

use std::fmt::Write;

use super::{
    BLOCKS, BYTES, BYTES_A_ROW, BYTES_LAYERS, CHANNELS, CPU_RATE, MS, MS_FROM_INPUTS, RATE, ROUNDS,
    SECONDS, TILES,
};
use crate::Record;
use crate::plot::{Chart, format_value};

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
        "1.3 M on 20 cores, 10 Gbit/s",
        "267 k to 305 k",
    ],
    [
        "MAESTRO GF(2^8)",
        "640",
        "30",
        "493 k to 571 k on 16 threads, 10 Gbit/s",
        "67 k to 82 k",
    ],
    [
        "MAESTRO GF(16) circuit",
        "400",
        "40",
        "672 k to 736 k on 16 threads, 10 Gbit/s",
        "100 k to 109 k",
    ],
    [
        "MAESTRO lut16",
        "540",
        "30",
        "302 k to 323 k on 16 threads, 10 Gbit/s",
        "39 k to 51 k",
    ],
    [
        "MAESTRO (2,3)-LUT256",
        "5,100",
        "10",
        "36 k to 41 k on 16 threads, 10 Gbit/s",
        "5 k",
    ],
];

fn find(records: &[Record], case: &str, metric: &str) -> Option<f64> {
    let is = |record: &&Record| record.case == case && record.metric == metric;
    records.iter().find(is).map(|record| record.value)
}

/// The tables, for a terminal.
pub fn text(records: &[Record]) -> String {
    let mut out = String::new();
    for channel in CHANNELS {
        figure(&mut out, records, channel.name);
    }
    protocols(&mut out, records);
    for record in records {
        if let Some(blocks) = record.case.strip_prefix("local/") {
            let rate = thousands(record.value);
            let _ = writeln!(
                out,
                "lookups of {blocks} blocks alone: {rate} per CPU-second of a party"
            );
        }
    }
    let mut orders = records
        .iter()
        .filter(|record| record.metric == SECONDS)
        .peekable();
    if orders.peek().is_some() {
        out.push_str("\nrows in another order                 seconds  bytes a row a party\n");
    }
    for record in orders {
        let bytes = find(records, &record.case, BYTES_A_ROW).map_or(String::new(), format_value);
        let _ = writeln!(
            out,
            "{:<34} {:>10.3} {bytes:>20}",
            record.case, record.value
        );
    }
    out
}

/// Figure 12 over one channel: a row for each size of a tile.
fn figure(out: &mut String, records: &[Record], channel: &str) {
    let cell = |blocks: u64, tiles: u64, metric: &str| {
        find(records, &format!("aes/{channel}/{blocks}x{tiles}"), metric)
    };
    if cell(BLOCKS[0], TILES[0], MS).is_none() {
        return;
    }
    let _ = writeln!(
        out,
        "AES-128, {channel}: milliseconds a block (rounds of the run)"
    );
    let _ = write!(out, "{:<16}", "blocks a tile");
    for tiles in TILES {
        let _ = write!(out, "{:>18}", format!("{tiles} in flight"));
    }
    out.push('\n');
    for blocks in BLOCKS {
        if cell(blocks, TILES[0], MS).is_none() {
            continue;
        }
        let _ = write!(out, "{blocks:<16}");
        for tiles in TILES {
            let pair = cell(blocks, tiles, MS).zip(cell(blocks, tiles, ROUNDS));
            let shown = pair.map(|(ms, rounds)| format!("{} ({rounds})", format_value(ms)));
            let _ = write!(out, "{:>18}", shown.unwrap_or_default());
        }
        out.push('\n');
    }
    if let Some(ms) = cell(BLOCKS[0], TILES[0], MS_FROM_INPUTS) {
        let ms = format_value(ms);
        let _ = writeln!(
            out,
            "one block, from inputs that are sent to the result: {ms}"
        );
    }
    let paper = PAPER.map(|(case, ms)| format!("{ms} at {case}"));
    let _ = writeln!(out, "the 2012 paper, 1 Gbit/s: {}\n", paper.join(", "));
}

/// Our rows beside those of others.
fn protocols(out: &mut String, records: &[Record]) {
    let ours = records.iter().filter(|record| record.metric == BYTES);
    let ours = ours.map(|record| {
        let figure = |metric| find(records, &record.case, metric).unwrap_or(0.0);
        let blocks = record.case.trim_start_matches("protocols/");
        [
            format!("trio, {blocks} blocks"),
            format!(
                "{} ({})",
                format_value(record.value),
                format_value(figure(BYTES_LAYERS))
            ),
            format!("{} a run", figure(ROUNDS)),
            format!("{} over TLS here", thousands(figure(RATE))),
            thousands(figure(CPU_RATE)),
        ]
    });
    let ours = ours.collect::<Vec<_>>();
    if ours.is_empty() {
        return;
    }
    let heads = [
        "protocol",
        "bytes a block a party (lookups)",
        "rounds",
        "blocks/s",
        "blocks per CPU-second",
    ];
    let others = OTHERS.map(|row| row.map(str::to_string));
    let rows = [&[heads.map(str::to_string)][..], &others, &ours].concat();
    for row in rows {
        let [name, bytes, rounds, speed, cpu] = row;
        let line = format!("{name:<28} {bytes:<32} {rounds:<10} {speed:<40} {cpu}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn thousands(value: f64) -> String {
    format!("{} k", format_value(value / 1e3))
}

/// A chart of figure 12 for each channel, with the paper's bars, and one of rows in another order.
pub fn charts(records: &[Record]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for channel in CHANNELS {
        let start = format!("aes/{}/", channel.name);
        let title = format!("AES-128, {}: milliseconds a block", channel.name);
        let place = |record: &Record| {
            let (blocks, tiles) = record.case.strip_prefix(&start)?.split_once('x')?;
            let shown = record.metric == MS;
            shown.then(|| (format!("{blocks} a tile"), format!("{tiles} in flight")))
        };
        let mut chart = Chart::of(records, title, "ms", place);
        if chart.groups.is_empty() {
            continue;
        }
        let paper = chart.series.len();
        chart.series.push("the 2012 paper".to_string());
        for (case, ms) in PAPER {
            chart
                .groups
                .push((format!("paper, {case}"), vec![(paper, ms)]));
        }
        charts.push(chart);
    }
    for (metric, title) in [
        (RATE, "AES-128: blocks a second"),
        (SECONDS, "shuffle and sort"),
    ] {
        let chart = Chart::of(records, title.to_string(), "", |record| {
            (record.metric == metric).then(|| (record.case.clone(), "trio".to_string()))
        });
        if !chart.groups.is_empty() {
            charts.push(chart);
        }
    }
    charts
}
