//! Folder of a run: its plan and its events, of which `sealane report` makes a page. The folder may
//! come from another person.

use sealane_engine::events::Record;
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_page::RunRecord;
use sealane_page::plan::PlanRecord;
use serde_json::{from_str, json, to_string};

/// Words of both files.
#[rustfmt::skip] // Words side by side.
pub const WORDS: &[&str] = &[
    "\"at_us\":", "\"event\":\"turn\"", "\"event\":\"phase\"", "\"phase\":\"meet\"", "\"agreed\"",
    "\"steps\"", "\"ended\"", "\"failed\"", "18446744073709551615", "1e308", "null", "[]", "{}",
    "<b>", "\n", "[[0,1],[2,3]]",
];

/// Most bytes of a page per byte of the files, and as a constant.
const PAGE_PER_BYTE: usize = 400;
const PAGE_BYTES: usize = 1 << 20;

/// Reads a plan in one line, then events, one per line, for each party; a line of `-` ends those of
/// one.
pub fn folder(bytes: &[u8]) -> Verdict {
    let text = str::from_utf8(bytes).ok()?;
    let (plan, events) = text.split_once('\n').unwrap_or((text, ""));
    let sides = events.split("\n-\n").map(records);
    let sides = sides.collect::<Option<Vec<_>>>()?;
    let plan: PlanRecord = from_str(plan).ok()?;
    let again = sides.iter().map(|side| {
        let lines = side
            .iter()
            .map(|record| to_string(record).expect("an event"));
        records(&lines.collect::<Vec<_>>().join("\n")).expect("what was written")
    });
    let again = again.collect::<Vec<_>>();
    assert_eq!(again, sides);
    let shown = |sides| {
        let run = RunRecord::new(plan.clone(), sides);
        let summary = serde_json::to_value(run.summary()).expect("a summary");
        (run.page(), summary)
    };
    let (page, summary) = shown(sides);
    let most = PAGE_BYTES + PAGE_PER_BYTE * bytes.len();
    assert!(page.len() <= most, "{} bytes", page.len());
    assert!((page, summary) == shown(again), "another page");
    Some(Accepted)
}

fn records(text: &str) -> Option<Vec<Record>> {
    text.lines().map(|line| from_str(line).ok()).collect()
}

/// Makes the folder of a run of two parties.
pub fn seed() -> Vec<u8> {
    let plan = json!({
        "program": "p", "job": "c0ffee", "protocol": "yao", "network": "lan",
        "parties": ["a", "b"], "roles": { "garbler": "a", "evaluator": "b" },
        "computing": ["a", "b"], "rows": { "n": 100 },
        "inputs": [{ "name": "x", "owner": "a", "type": "u8", "shape": "[n]" }],
        "results": [{ "name": "sum", "to": ["b"], "type": "u16", "shape": "" }],
        "links": [{ "from": "a", "to": "b", "bytes": 1000 }],
        "rounds": 3, "ands": 5000, "estimate_s": { "lan": 0.25 },
        "references": [{ "part": "half gates", "paper": "Z", "assumption": "c", "security": "128" }],
        "steps": [{ "line": 7, "step": "input" }, { "line": null, "step": "reveal" }],
    });
    let events = [
        json!({
            "at_us": 0, "event": "started", "party": "a", "parties": ["a", "b"], "program": "p",
            "job": "c0ffee", "protocol": "yao", "version": "0.1.0", "tier": "aesni",
            "unix_us": 1_700_000_000_000_000u64,
        }),
        json!({ "at_us": 1, "event": "phase", "phase": "meet" }),
        json!({ "at_us": 9, "event": "agreed", "rows": [["n", 100]] }),
        json!({
            "at_us": 20, "event": "turn", "first": 0, "count": 1, "rounds": 2, "from_us": 10,
            "waited_us": 3, "sent": [0, 1000], "received": [0, 32],
        }),
        json!({ "at_us": 30, "event": "steps", "steps": [
            { "step": 0, "busy_us": 4, "waited_us": 3, "sent": [0, 1000], "received": [0, 32] },
        ] }),
        json!({
            "at_us": 40, "event": "ended", "sent": [[0, 1000], [32, 0]], "rounds": 3,
            "as_planned": true, "took_us": 30, "learnt": ["sum"],
        }),
    ];
    let lines = [plan].into_iter().chain(events);
    let lines = lines.map(|line| line.to_string());
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}
