//! The suite's records as the study's three tables and three more, and as charts.

use sealane_block::Tier;

use super::{CYCLES, KEPT, LANES, LENGTHS, SPEED_UP, study};
use crate::Record;
use crate::table::{Column, RecordTable, Row, Sheet, View};

/// A note that applies to all figures.
const NOTE: &str = "\
Core cycles a byte of text; in place, keys set up, no associated data. Medians, but for the minima.
Haswell: the study's figures (DIAC 2014), on another machine. For ECB, CTR and CBC it gives one
figure each, without a length, which stands below the last; its COBRA stands beside our cobra_r1.
";

/// The end of cases of the longest texts.
const LAST: &str = "/2048";

/// A column of figures with two digits behind the point.
fn column(head: impl ToString, end: impl ToString, metric: &'static str) -> Column {
    Column::new(head, end, metric).shown(|_, values| format!("{:.2}", values[0]))
}

/// A column for each length of texts.
fn lengths(what: &str, metric: &'static str) -> Vec<Column> {
    let of = |length| column(length, format!("/{what}/{length}"), metric);
    LENGTHS.into_iter().map(of).collect()
}

/// The study's column for one of ours. Figures that it gives without a length are in the last one.
fn of_study(head: &str, end: &str, metric: &'static str) -> Column {
    let column = column(head, end, metric).below("study/").on(study::TIER);
    match end.strip_suffix(LAST) {
        Some(general) => column.or(general),
        None => column,
    }
}

/// Columns of lengths, and of the number of messages where there are many, beside the study's.
fn beside(what: &str, metric: &'static str, tier: &str) -> Vec<(String, Vec<Column>)> {
    let count =
        Column::new("# msgs", "/many", LANES).shown(|_, values| format!("{:.0}", values[0]));
    let counts = (what == "many/seal").then_some(count);
    let ours = counts.clone().into_iter().chain(lengths(what, metric));
    let theirs = counts.map(|count| count.below("study/").on(study::TIER));
    let theirs = theirs.into_iter().chain(
        LENGTHS
            .into_iter()
            .map(|length| of_study(&length.to_string(), &format!("/{what}/{length}"), metric)),
    );
    vec![
        (format!("here, {tier}"), ours.collect()),
        ("Haswell".to_string(), theirs.collect()),
    ]
}

/// The tables, for a terminal; and charts with modes as groups, and the best tier, AES-NI and
/// Haswell as series.
pub fn view(records: &[Record]) -> View {
    let sheet = Sheet::new(records);
    let rows = sheet.rows(|parts| match parts {
        ["study", ..] => None,
        ["peer", whose, mode, ..] => Some(Row::new(
            format!("{mode} ({whose})"),
            format!("peer/{whose}/{mode}"),
        )),
        [mode, ..] => Some(Row::new(mode, mode)),
        [] => None,
    });
    let apart = |way: &str, metric| {
        vec![
            (
                "one message".to_string(),
                lengths(&format!("single/{way}"), metric),
            ),
            (
                "many messages".to_string(),
                lengths(&format!("many/{way}"), metric),
            ),
        ]
    };
    let (realistic, internet) = ("/mix/realistic/seal", "/mix/internet/seal");
    let kept =
        Column::new("kept", realistic, KEPT).shown(|_, values| format!("{:.0} %", values[0]));
    let key = Column::new("a key", "/key", "cycles_per_key");
    let mixes = vec![
        column("4x128+3x2048", realistic, CYCLES),
        kept,
        column("times", realistic, SPEED_UP),
        column("internet", internet, CYCLES),
    ];
    let more = vec![
        ("any lengths".to_string(), lengths("batch/seal", CYCLES)),
        ("own keys".to_string(), lengths("own-keys/seal", CYCLES)),
        ("mixed lengths".to_string(), mixes.clone()),
        (
            "cycles".to_string(),
            vec![key.shown(|_, values| format!("{:.0}", values[0]))],
        ),
    ];
    let table = |title: &str, groups| RecordTable::grouped(&sheet, title, &rows, groups).text();
    let mut text = NOTE.to_string();
    text += &table("Single message", beside("single/seal", CYCLES, sheet.tier));
    text += &table("Many messages", beside("many/seal", CYCLES, sheet.tier));
    text += &table(
        "Speed-up of many",
        beside("speed-up/seal", SPEED_UP, sheet.tier),
    );
    text += &table("Minima", apart("seal", "cycles_per_byte_min"));
    text += &table("Opening", apart("open", CYCLES));
    text += &table("Keys and lengths", more);
    let [times, equal] = [study::SILC_REALISTIC, study::SILC_EQUAL];
    text += &format!(
        "\nMany messages are rows of one length; any lengths: the same messages in batches that could have \
         any.\nkept: of the rate of equal lengths. times: against one message at a time; the study \
         calculates {times:.2}\nfor SILC, where equal lengths would be {equal:.2} times as fast: \
         {:.0} % are kept.\n",
        100.0 * times / equal
    );
    let chart = |title: &str, unit, end: &str, metric| {
        let mut columns = vec![column(sheet.tier, end, metric).on(sheet.tier)];
        if sheet.tier != Tier::AesNi.name() {
            columns.push(column(Tier::AesNi.name(), end, metric).on(Tier::AesNi.name()));
        }
        columns.push(of_study("Haswell (the study)", end, metric));
        columns.push(column("another library", end, metric).on("any"));
        RecordTable::new(&sheet, title, &rows, columns).chart(title, unit)
    };
    let cycles = |title: &str, end| chart(title, "cycles", end, CYCLES);
    let of_mixes = [
        column("4 x 128 + 3 x 2048 bytes", realistic, CYCLES),
        column("lengths of the internet", internet, CYCLES),
    ];
    let title = format!("Mixed lengths: cycles a byte, on {}", sheet.tier);
    let charts = vec![
        cycles(
            "One message of 2048 bytes: cycles a byte",
            "/single/seal/2048",
        ),
        cycles(
            "Many messages of 2048 bytes: cycles a byte",
            "/many/seal/2048",
        ),
        cycles(
            "Many messages of 128 bytes: cycles a byte",
            "/many/seal/128",
        ),
        chart(
            "2048 bytes: many, times as fast as one",
            "times",
            "/speed-up/seal/2048",
            SPEED_UP,
        ),
        RecordTable::new(&sheet, &title, &rows, of_mixes).chart(&title, "cycles"),
    ];
    View { text, charts }
}
