//! Verdicts of a check: the protocols that run a program, the reasons why another does not, and the
//! refusal of a program that none runs. Also the warnings of a plan.

use crate::common::{helpers_of_two, named, parse};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_engine::{Job, NetworkClass, ProtocolName, Runnable, check as examine, warnings};
use sealane_program::graph::Program;

/// The warnings of a check.
fn check(program: &Program) -> Result<Vec<Diagnostic>, Diagnostic> {
    examine(program).map(|checked| checked.warnings)
}

/// Program whose body takes the rows of another run-time table in order.
const TWO_TABLES: &str = "\
sealane program 1
name common
party ann
party ben
rows n <= 100
rows m <= 50
input mine : ann u8[n] in 0..255
input theirs : ben u8[m] in 0..255
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : u8[m] in 0..255 known ben
  %2 = map over %0 capture %1 : bool[n] in 0..1 secret {
    %0 = param 0 : u8 in 0..255 known ann
    %1 = param 1 : u8[m] in 0..255 known ben
    %2 = eq %0, %1 : bool[m] in 0..1 secret
    %3 = accumulate any %2 axis 0 : bool[m] in 0..1 secret
    %4 = reduce all %3 axis 0 : bool in 0..1 secret
    return %4
  }
  %3 = part %2, 0 : bool[n] in 0..1 secret
}
reveal result = %3 : bool to ann
";

/// Program of so many parties, each of which gives a number; one learns the sum.
fn of_parties(count: usize) -> String {
    let mut text = "sealane program 1\nname total\n".to_string();
    let each = |line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    text += &each(&|at| format!("party p{at}\n"));
    text += &each(&|at| format!("input x{at} : p{at} u8.wrapping in 0..255\n"));
    text += "main {\n";
    text += &each(&|at| format!("  %{at} = param {at} : u8.wrapping in 0..255 known p{at}\n"));
    let mut sum = 0;
    for at in 1..count {
        let next = count + at - 1;
        text += &format!("  %{next} = add %{sum}, %{at} : u8.wrapping in 0..255 secret\n");
        sum = next;
    }
    text + &format!("}}\nreveal r = %{sum} : u8.wrapping to p0\n")
}

#[test]
fn what_no_protocol_runs_is_refused_as_planning_refuses_it() {
    let program = parse(TWO_TABLES);
    let refusal = check(&program).expect_err("no circuit takes a whole table");
    assert_eq!(refusal.code, "whole-rows");
    assert!(refusal.hint.contains("reduce them"), "{}", refusal.hint);
    let planned = Job::new(program, ProtocolName::DEFAULT, NetworkClass::WAN, vec![]);
    let planned = planned.err().expect("it is refused");
    assert_eq!(planned.finding(), &refusal);
    // What the hint names: the body reduces the rows as they are.
    let running = "    %3 = accumulate any %2 axis 0 : bool[m] in 0..1 secret\n";
    let reduced = TWO_TABLES
        .replace(running, "")
        .replace("    %4 = reduce all %3", "    %3 = reduce all %2")
        .replace("return %4", "return %3");
    assert_eq!(check(&parse(&reduced)), Ok(vec![]));
    // A fixed number of elements is another way.
    let fixed = TWO_TABLES
        .replace("u8[m]", "u8[50]")
        .replace("rows m <= 50\n", "");
    let fixed = parse(&fixed.replace("bool[m]", "bool[50]"));
    assert_eq!(check(&fixed), Ok(vec![]));
}

#[test]
fn parties_that_do_not_fit_are_reported_of_protocols_and_helpers_that_do() {
    let reported = |parties| {
        let warnings = check(&parse(&of_parties(parties))).expect("some protocol runs it");
        let reported = warnings.into_iter();
        let reported = reported.map(|warning| (warning.message, warning.hint));
        reported.collect::<Vec<_>>()
    };
    let cannot = "protocol `yao`, the usual one, cannot run this program".to_string();
    let with = |options: &str| format!("plan and run it with {options}");
    assert_eq!(reported(2), []);
    let cannot = format!("{cannot} without helpers");
    let yao =
        "`--protocol yao --helpers ada,bob` or `--protocol yao-three-halves --helpers ada,bob`";
    let gmw = "`--protocol gmw --helpers ada,bob` or `--protocol mixed --helpers ada,bob`";
    let trio = "`--protocol trio` or `--protocol trio-malicious`";
    let runnables = with(&format!("{yao} or {trio} or {gmw}"));
    assert_eq!(reported(3), [(cannot.clone(), runnables)]);
    let trio = "`--protocol trio --helpers ada,bob,cyd` or `--protocol trio-malicious --helpers \
                ada,bob,cyd`";
    let runnables = with(&format!("{yao} or {trio} or {gmw}"));
    assert_eq!(reported(5), [(cannot.clone(), runnables)]);
    let runnables = "`--protocol yao --helpers ada` or `--protocol yao-three-halves --helpers ada` or \
                `--protocol trio --helpers ada,bob` or `--protocol trio-malicious --helpers \
                ada,bob` or `--protocol gmw --helpers ada` or `--protocol mixed --helpers ada` or \
                `--protocol auth --helpers ada`";
    assert_eq!(reported(1), [(cannot, with(runnables))]);
    // Who only learns need not compute.
    let two_of_three = of_parties(2).replace("party p1\n", "party p1\nparty p2\n");
    let two_of_three = two_of_three.replace("to p0", "to p2");
    assert_eq!(check(&parse(&two_of_three)), Ok(vec![]));
    // A session has no room for helpers beside so many parties.
    let refusal = check(&parse(&of_parties(64))).expect_err("nobody is left to compute");
    assert_eq!(refusal.code, "helper-name");
}

/// Program with a scan, each iteration of which waits for the one before.
const SCAN: &str = "\
sealane program 1
name longest
party ann
party ben
rows days <= 100000
input x : ann u32[days] in 0..4294967295
input low : ben u32 in 0..4294967295
main {
  %0 = param 0 : u32[days] in 0..4294967295 known ann
  %1 = param 1 : u32 in 0..4294967295 known ben
  %2 = const [0] : u32 in 0..0 public
  %3 = scan from %2 over %0 capture %1 : u32 in 0..4294967295 secret @ \"streaks.py\":9:5-40 {
    %0 = param 0 : u32 in 0..4294967295 secret
    %1 = param 1 : u32 in 0..4294967295 known ann
    %2 = param 2 : u32 in 0..4294967295 known ben
    %3 = lt %1, %2 : bool in 0..1 secret
    %4 = const [1000] : u32 in 1000..1000 public
    %5 = min %0, %4 : u32 in 0..1000 secret
    %6 = const [1] : u32 in 1..1 public
    %7 = add %5, %6 : u32 in 1..1001 secret
    %8 = const [0] : u32 in 0..0 public
    %9 = select %3, %7, %8 : u32 in 0..1001 secret
    return %9
  }
  %4 = part %3, 0 : u32 in 0..4294967295 secret
}
reveal result = %4 : u32 to ann
";

/// Program with one product a row and an unrealistic number of rows.
const PRODUCTS: &str = "\
sealane program 1
name products
party ann
party ben
rows n <= 1000000000
input x : ann u64.wrapping[n] in 0..18446744073709551615
input y : ben u64.wrapping in 0..18446744073709551615
main {
  %0 = param 0 : u64.wrapping[n] in 0..18446744073709551615 known ann
  %1 = param 1 : u64.wrapping in 0..18446744073709551615 known ben
  %2 = mul %0, %1 : u64.wrapping[n] in 0..18446744073709551615 secret @ \"rows.py\":5:12-17
  %3 = reduce sum %2 axis 0 : u64.wrapping in 0..18446744073709551615 secret
}
reveal result = %3 : u64.wrapping to ann
";

/// Returns code, line and hint of each warning about a plan at so many rows.
fn effort(text: &str, protocol: ProtocolName, rows: u64) -> Vec<(Code, Option<u32>, String)> {
    let helpers = named(helpers_of_two(protocol));
    let job = Job::new(parse(text), protocol, NetworkClass::LAN, helpers).expect("a job");
    let found = warnings(&job, &job.cost(&[rows]).expect("rows within bounds"));
    let reported = |warning: Diagnostic| {
        assert!(warning.code.is_warning());
        let line = warning.span.map(|span| span.line);
        (warning.code, line, warning.hint)
    };
    found.into_iter().map(reported).collect()
}

#[test]
fn rounds_out_of_proportion_are_warned_of_with_what_to_write() {
    let [(code, line, hint)] = &effort(SCAN, ProtocolName::Trio, 100_000)[..] else {
        panic!("one warning");
    };
    assert_eq!((*code, *line), (Code::ManyRounds, Some(9)));
    for runnable in [
        "`map`",
        "run it with `--protocol yao`: 4 rounds",
        "`--rows`",
    ] {
        assert!(hint.contains(runnable), "{hint}");
    }
    // One other protocol withstands as much.
    let [(.., hint)] = &effort(SCAN, ProtocolName::TrioMalicious, 100_000)[..] else {
        panic!("one warning");
    };
    assert_eq!(hint.matches("run it with").count(), 1, "{hint}");
    assert!(hint.contains("run it with `--protocol auth`"), "{hint}");
    // Fewer rows are in proportion, and so is a protocol whose rounds do not grow with rows.
    assert_eq!(effort(SCAN, ProtocolName::Trio, 1000), []);
    assert_eq!(effort(SCAN, ProtocolName::Yao, 100_000), []);
}

#[test]
fn a_run_of_days_is_warned_of_with_its_line() {
    let [(code, line, hint)] = &effort(PRODUCTS, ProtocolName::Yao, 1_000_000_000)[..] else {
        panic!("one warning");
    };
    assert_eq!((*code, *line), (Code::LongRun, Some(5)));
    assert!(hint.contains("`--protocol gmw`"), "{hint}");
    assert_eq!(effort(PRODUCTS, ProtocolName::Yao, 1_000_000), []);
}

#[test]
fn protocols_that_run_a_program_are_listed_with_their_helpers() {
    let runnables = |parties| {
        let checked = examine(&parse(&of_parties(parties)));
        checked.expect("it runs").runnables
    };
    let runnable = |protocol, helpers| Runnable { protocol, helpers };
    use ProtocolName::{Gmw, Mixed, Trio, TrioMalicious, Yao, YaoThreeHalves};
    let names = [Yao, YaoThreeHalves, Trio, TrioMalicious, Gmw, Mixed];
    let with = |helpers: [usize; 6]| {
        let pairs = names.into_iter().zip(helpers);
        let all = pairs.map(|(name, helpers)| runnable(name, helpers));
        all.collect::<Vec<_>>()
    };
    let auth = runnable(ProtocolName::Auth, 0);
    assert_eq!(
        runnables(2),
        [with([0, 0, 1, 1, 0, 0]), vec![auth]].concat()
    );
    assert_eq!(runnables(3), with([2, 2, 0, 0, 2, 2]));
}
