//! Runs whose oblivious transfers come from a silent extension, because many inputs are chosen on a
//! slow network.

use crate::common::{job_of, numbers, parse};
use crate::rounds::session;
use sealane_engine::{Job, NetworkClass, ProtocolName, simulate};
use sealane_program::types::{Data, Type};

/// Both parties learn for how many rows the first one's number is the larger.
pub const PROGRAM: &str = "\
sealane program 1
name larger
party alice
party bob
rows n <= 1000000
input x : alice u64[n] in 0..18446744073709551615
input y : bob u64[n] in 0..18446744073709551615
main {
  %0 = param 0 : u64[n] in 0..18446744073709551615 known alice
  %1 = param 1 : u64[n] in 0..18446744073709551615 known bob
  %2 = gt %0, %1 : bool[n] in 0..1 secret
  %3 = cast %2 : u20[n] in 0..1 secret
  %4 = reduce sum %3 axis 0 : u20 in 0..1000000 secret
}
reveal count = %4 : u20 to alice, bob
";

fn column(rows: u64, of: impl Fn(u64) -> u64) -> Data {
    let all = (0..rows).map(|row| i128::from(of(row)));
    numbers(Type::unsigned(64), vec![rows], &all.collect::<Vec<_>>())
}

/// Runs both parties on so many rows; the reports say that all is as planned.
fn run_on(job: &Job, rows: u64) {
    let x = column(rows, |row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1);
    let y = column(rows, |row| (row * row) << 20);
    let larger = x.numbers().zip(y.numbers()).filter(|(x, y)| x > y).count();
    for (report, _) in session(job, &[x, y]) {
        let count = report.results[0].data.as_ref().expect("a result of both");
        assert_eq!(count.numbers().collect::<Vec<_>>(), [larger as i128]);
        assert!(report.as_planned(), "{rows} rows");
    }
}

/// Payload bytes beyond tables, for each bit that the evaluator chooses.
fn bytes_beyond_tables(job: &Job, rows: u64) -> f64 {
    let cost = job.cost(&[rows]).unwrap_or_else(|error| panic!("{error}"));
    let beyond = |step: &&sealane_plan::StepCost| step.ands == 0;
    let bytes = cost.steps.iter().filter(beyond);
    bytes.flat_map(|step| &step.sent).sum::<u64>() as f64 / (64 * rows) as f64
}

#[test]
fn many_inputs_on_a_wan_come_from_silent_transfers_as_planned() {
    let wan = job_of(PROGRAM, ProtocolName::Yao, NetworkClass::WAN);
    let lan = job_of(PROGRAM, ProtocolName::Yao, NetworkClass::LAN);
    // More than one iteration makes, so that there are two refills.
    let many = 70_000;
    assert!(64 * many > 3_657_600);
    // A bit for each choice, and less than two for its OT; 2 bytes without a silent extension.
    let silent = bytes_beyond_tables(&wan, many);
    assert!((0.125..0.45).contains(&silent), "{silent} bytes a bit");
    assert!(bytes_beyond_tables(&wan, 1000) > 1.9);
    assert!(bytes_beyond_tables(&lan, many) > 3.9);
    let declared = |network: &str| {
        let network = network.parse().expect("a network");
        bytes_beyond_tables(&job_of(PROGRAM, ProtocolName::Yao, network), many)
    };
    assert!((0.125..0.45).contains(&declared("0.5ms/500Mbps")));
    assert!((1.9..3.0).contains(&declared("1s/900Mbps")));
    assert!(declared("40ms/10Gbps") > 3.9);
    // The second refill has enough that the first one left over: 57,000 rows are one iteration.
    let prepared = |rows| {
        let cost = wan.cost(&[rows]).unwrap_or_else(|error| panic!("{error}"));
        cost.steps[0].sent.clone()
    };
    assert_eq!(prepared(57_000), prepared(56_000));
    assert_ne!(prepared(57_200), prepared(57_000));
    run_on(&wan, many);
    run_on(&wan, 1000);
}

/// The two directions of transfers run in step, and each makes whole iterations.
#[test]
fn many_ands_on_a_wan_come_from_silent_transfers_as_planned() {
    let wan = job_of(PROGRAM, ProtocolName::Gmw, NetworkClass::WAN);
    let sent = |rows| wan.cost(&[rows]).expect("a cost").promise.payload_bytes();
    // One random bit by two others for a join of carries: 6 bits, and 15 for each transfer of two.
    let plain = 64 * (6 + 2 * 15) / 8;
    assert!((plain / 2..2 * plain).contains(&(sent(1000) / 1000)));
    // More than one iteration makes: two refills of both directions.
    let many = 70_000;
    assert!(sent(many) / many < plain / 3, "{}", sent(many) / many);
    run_on(&wan, many);
    run_on(&wan, 100);
}

/// Seeds of owners who do not compute add no round to those of silent transfers.
#[test]
fn silent_transfers_begin_with_all_else_that_is_set_up() {
    let rows = 70_000;
    let columns = || {
        let of = |by: u64| column(rows, move |row| row.wrapping_mul(by) >> 1);
        vec![of(0x9e37_79b9_7f4a_7c15), of(0xbf58_476d_1ce4_e5b9)]
    };
    for protocol in [ProtocolName::Gmw, ProtocolName::Mixed] {
        let helpers = ["ada", "ben"].map(String::from).to_vec();
        let job = Job::new(parse(PROGRAM), protocol, NetworkClass::WAN, helpers);
        let job = job.unwrap_or_else(|error| panic!("{error}"));
        let cost = job.cost(&[rows]).unwrap_or_else(|error| panic!("{error}"));
        assert!(cost.form.silent, "{protocol}");
        let report = simulate(&job, columns()).unwrap_or_else(|error| panic!("{error}"));
        let (planned, measured) = (report.promise.rounds, report.rounds);
        assert!(
            report.as_planned(),
            "{protocol}: {measured} rounds of {planned}"
        );
    }
}
