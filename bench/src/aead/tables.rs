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

/// A column of figures without digits behind the point.
fn whole(column: Column) -> Column {
    column.shown(|_, values| format!("{:.0}", values[0]))
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
    let count = whole(Column::new("# msgs", "/many", LANES));
    let counts = (what == "many/seal").then_some(count);
    let ours = counts.clone().into_iter().chain(lengths(what, metric));
    let theirs = counts.map(|count| count.below("study/").on(study::TIER));
    let of = |length| of_study(&format!("{length}"), &format!("/{what}/{length}"), metric);
    let theirs = theirs.into_iter().chain(LENGTHS.map(of));
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
        ["peer", whose, mode, ..] => {
            let name = format!("{mode} ({whose})");
            Some(Row::new(name, format!("peer/{whose}/{mode}")))
        }
        [mode, ..] => Some(Row::new(mode, mode)),
        [] => None,
    });
    let apart = |way: &str, metric| {
        let columns = |count: &str| lengths(&format!("{count}/{way}"), metric);
        let heads = [("one message", "single"), ("many messages", "many")];
        heads
            .map(|(head, count)| (head.to_string(), columns(count)))
            .to_vec()
    };
    let (realistic, internet) = ("/mix/realistic/seal", "/mix/internet/seal");
    let percent = |_: &str, values: &[f64]| format!("{:.0} %", values[0]);
    let kept = Column::new("kept", realistic, KEPT).shown(percent);
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
        ("mixed lengths".to_string(), mixes),
        ("cycles".to_string(), vec![whole(key)]),
    ];
    let table = |title: &str, groups| RecordTable::grouped(&sheet, title, &rows, groups).text();
    let beside = |what, metric| beside(what, metric, sheet.tier);
    let mut text = NOTE.to_string();
    text += &table("Single message", beside("single/seal", CYCLES));
    text += &table("Many messages", beside("many/seal", CYCLES));
    text += &table("Speed-up of many", beside("speed-up/seal", SPEED_UP));
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
    let mut view = View::noted(&text);
    let mut chart = |title: &str, unit, end: &str, metric| {
        let of_tier = |tier: &'static str| column(tier, end, metric).on(tier);
        let narrow = Tier::AesNi.name();
        let mut columns = vec![of_tier(sheet.tier)];
        columns.extend((sheet.tier != narrow).then(|| of_tier(narrow)));
        columns.push(of_study("Haswell (the study)", end, metric));
        columns.push(column("another library", end, metric).on("any"));
        view.chart(&sheet, title, unit, &rows, columns);
    };
    for (title, end) in [
        (
            "One message of 2048 bytes: cycles a byte",
            "/single/seal/2048",
        ),
        (
            "Many messages of 2048 bytes: cycles a byte",
            "/many/seal/2048",
        ),
        (
            "Many messages of 128 bytes: cycles a byte",
            "/many/seal/128",
        ),
    ] {
        chart(title, "cycles", end, CYCLES);
    }
    let title = "2048 bytes: many, times as fast as one";
    chart(title, "times", "/speed-up/seal/2048", SPEED_UP);
    let of_mixes = [
        column("4 x 128 + 3 x 2048 bytes", realistic, CYCLES),
        column("lengths of the internet", internet, CYCLES),
    ];
    let title = format!("Mixed lengths: cycles a byte, on {}", sheet.tier);
    view.chart(&sheet, title, "cycles", &rows, of_mixes);
    view
}
