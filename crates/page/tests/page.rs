//! The page of a run, from plans and events as files hold them: its content, that nothing in it can
//! be taken for markup, and that it makes no request.

use sealane_engine::events::Record;
use sealane_page::RunRecord;
use sealane_page::plan::PlanRecord;
use sealane_page::run::RunState;
use serde_json::{Value, json};

fn plan(parties: [&str; 2], label: &str) -> PlanRecord {
    let [a, b] = parties;
    let plan = json!({
        "program": label, "job": "c0ffee", "protocol": "yao", "network": "lan",
        "parties": [a, b], "roles": { "garbler": a, "evaluator": b }, "computing": [a, b],
        "rows": { "n": 100 },
        "inputs": [{ "name": label, "owner": a, "type": "u8", "shape": "[n]" }],
        "results": [
            { "name": "sum", "to": [b], "type": "u16", "shape": "", "note": format!("{label} twice") },
        ],
        "links": [{ "from": a, "to": b, "bytes": 1000 }, { "from": b, "to": a, "bytes": 32 }],
        "rounds": 3, "ands": 5000, "estimate_s": { "lan": 0.25, "wan": 1.5 },
        "references": [{ "part": "half gates", "paper": "Z", "assumption": label, "security": "128" }],
        "steps": [{ "line": 7, "step": label }, { "line": null, "step": "reveal" }],
    });
    serde_json::from_value(plan).expect("a plan")
}

/// The events of one of two parties, with an end.
fn side(parties: [&str; 2], me: usize, unix_us: u64, end: Value) -> Vec<Record> {
    let (sent, received) = match me {
        0 => ([0, 1000], [0, 32]),
        _ => ([32, 0], [1000, 0]),
    };
    let record = |at_us: u64, event: &str, mut rest: Value| {
        rest["at_us"] = json!(at_us);
        rest["event"] = json!(event);
        rest
    };
    let started = json!({
                "party": parties[me], "parties": parties, "program": "p", "job": "c0ffee",
                "protocol": "yao", "version": "0.1.0", "tier": "vaes512", "unix_us": unix_us,
    });
    let agreed = json!({ "rows": [["n", 64]], "session": "5e55" });
    let turn = json!({
        "first": 0, "count": 1, "rounds": 3, "from_us": 1100, "waited_us": 900,
        "sent": sent, "received": received,
    });
    let steps = json!({ "steps": [
        { "step": 0, "busy_us": 3000, "waited_us": 900, "sent": sent, "received": received },
        { "step": 99, "busy_us": 1, "waited_us": 0, "sent": [], "received": [] },
    ] });
    let mut records = vec![
        record(0, "started", started),
        record(1, "phase", json!({ "phase": "meet" })),
        record(900, "phase", json!({ "phase": "agree" })),
        record(1000, "agreed", agreed),
        record(1100, "phase", json!({ "phase": "compute" })),
        record(5000, "turn", turn),
        record(5100, "steps", steps),
    ];
    records.extend((!end.is_null()).then_some(end));
    serde_json::from_value(Value::Array(records)).expect("records")
}

fn ended(rounds: u64) -> Value {
    json!({
        "at_us": 5200, "event": "ended", "sent": [[0, 1000], [32, 0]], "rounds": rounds,
        "as_planned": rounds == 3, "took_us": 4000, "learnt": ["sum"],
    })
}

fn failed(text: &str) -> Value {
    json!({
        "at_us": 5200, "event": "failed", "kind": "network", "code": "vanished", "text": text,
        "reason": "", "hint": "run again", "step": 0,
    })
}

const PARTIES: [&str; 2] = ["hospital", "lab"];

fn assert_shows(page: &str, shown: &[&str]) {
    for shown in shown {
        assert!(page.contains(shown), "{shown}");
    }
}

/// A run of two parties whose second clock runs a millisecond ahead.
fn run(ends: [Value; 2]) -> RunRecord {
    let [one, two] = ends;
    let one = side(PARTIES, 0, 1_700_000_000_000_000, one);
    let two = side(PARTIES, 1, 1_700_000_000_001_000, two);
    RunRecord::new(plan(PARTIES, "patients"), vec![one, two])
}

#[test]
fn a_run_that_went_well_says_so() {
    let run = run([ended(3), ended(3)]);
    assert_eq!(run.state(), RunState::Done);
    assert_eq!(run.started_us(), Some(1_700_000_000_000_000));
    let page = run.page();
    assert_shows(
        &page,
        &["<h1>patients</h1>", "2023-11-14 22:13:20 UTC", "64 n"],
    );
    assert_shows(
        &page,
        &["computes as garbler", "vaes512", "as planned", "5e55"],
    );
    let claim = "<p class=\"note\">the author says: patients twice</p>";
    assert_shows(&page, &[claim, "hospital → lab: 1.0 kB (1,000 bytes)"]);
    assert!(!page.contains("not told here"));
    let summary = run.summary();
    assert!(summary.as_planned);
    assert_eq!(summary.payload_bytes["hospital"]["lab"], 1000);
    assert_eq!(summary.told_by, PARTIES);
}

#[test]
fn a_run_of_other_rounds_than_planned_is_not_as_planned() {
    let run = run([ended(3), ended(4)]);
    assert_eq!(run.state(), RunState::Done);
    assert!(!run.summary().as_planned);
    assert!(run.page().contains("3 planned"));
}

#[test]
fn a_failure_says_what_happened_and_whose_turn_it_is() {
    let run = run([ended(3), failed("hospital is gone")]);
    assert_eq!(run.state(), RunState::Failed);
    let whose_turn = ["the network between the parties", "run again"];
    assert_shows(&run.page(), &whose_turn);
    let what = ["lab: hospital is gone", "in hand: patients (line 7)"];
    assert_shows(&run.page(), &what);
    assert_shows(&run.page(), &["sealane explain vanished"]);
}

#[test]
fn one_side_is_shown_as_one_and_no_end_as_none() {
    let sides = vec![side(PARTIES, 1, 0, Value::Null)];
    let run = RunRecord::new(plan(PARTIES, "patients"), sides);
    assert_eq!(run.state(), RunState::Unfinished);
    let page = run.page();
    assert!(page.contains("not told here") && page.contains("has not told its end"));
    let none = RunRecord::new(plan(PARTIES, "patients"), vec![vec![], vec![]]);
    assert_eq!(none.state(), RunState::Unfinished);
    assert!(none.page().contains("patients"));
}

#[test]
fn hostile_names_are_text() {
    let hostile = "<script>x</script>\"'&\u{202e}\u{7}";
    let parties = [hostile, "<img src=//e.vil>"];
    let mut reported = side(parties, 0, 0, failed(hostile));
    reported.extend(side(parties, 1, 0, ended(3)));
    let sides = vec![reported, side(parties, 1, 0, Value::Null)];
    let run = RunRecord::new(plan(parties, hostile), sides);
    let page = run.page();
    for markup in ["<script", "<img", "\u{202e}", "\u{7}", "\"'"] {
        assert!(!page.contains(markup), "{markup:?}");
    }
    assert!(page.contains("&lt;script&gt;x&lt;/script&gt;&quot;&#39;&amp;\u{fffd}\u{fffd}"));
}

/// Numbers that no honest party tells neither break the page nor the arithmetic.
#[test]
fn numbers_that_cannot_be_are_borne() {
    let mut reported = side(PARTIES, 0, u64::MAX, Value::Null);
    let most = [u64::MAX; 5];
    for step_round in [
        json!({ "at_us": 0, "event": "turn", "first": 0, "count": u64::MAX, "rounds": u64::MAX,
            "from_us": u64::MAX, "waited_us": u64::MAX, "sent": [1, u64::MAX, 3, 4], "received": [] }),
        json!({ "at_us": u64::MAX, "event": "turn", "first": 0, "count": u64::MAX, "rounds": 0,
            "from_us": 0, "waited_us": u64::MAX, "sent": [u64::MAX], "received": [7, u64::MAX] }),
        json!({ "at_us": 1, "event": "steps", "steps": [
            { "step": 0, "busy_us": u64::MAX, "waited_us": u64::MAX, "sent": [], "received": [] },
            { "step": 1, "busy_us": u64::MAX, "waited_us": u64::MAX, "sent": [], "received": [] }] }),
        json!({ "at_us": 1, "event": "ended", "sent": [most, most],
            "rounds": u64::MAX, "as_planned": false, "took_us": u64::MAX, "learnt": [] }),
    ] {
        reported.push(serde_json::from_value(step_round).expect("a record"));
    }
    let sides = vec![reported, side(PARTIES, 1, 0, ended(u64::MAX))];
    let run = RunRecord::new(plan(PARTIES, "p"), sides);
    assert!(run.page().contains("</html>"));
    assert!(!run.summary().as_planned);
}

#[test]
fn the_page_asks_for_nothing() {
    let page = run([ended(3), ended(3)]).page();
    assert!(page.contains("default-src &#39;none&#39;"));
    for asking in "src= href= url( @import http: https: <script <link".split(' ') {
        assert!(!page.contains(asking), "{asking}");
    }
}
