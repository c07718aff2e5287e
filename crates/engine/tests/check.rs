//! What a check says of protocols: which run a program, why another does not, and that a program
//! that none runs is refused.

use crate::common::parse;
use sealane_engine::{Job, NetworkClass, ProtocolName, check};
use std::fmt::Write;

/// Whether numbers of one run-time table are in another.
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
    %3 = reduce any %2 axis 0 : bool in 0..1 secret
    return %3
  }
  %3 = part %2, 0 : bool[n] in 0..1 secret
}
reveal result = %3 : bool to ann
";

/// Programs of so many parties, each of whom gives a number of which one learns the sum.
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
        let _ = writeln!(
            text,
            "  %{next} = add %{sum}, %{at} : u8.wrapping in 0..255 secret"
        );
        sum = next;
    }
    let _ = write!(text, "}}\nreveal r = %{sum} : u8.wrapping to p0\n");
    text
}

#[test]
fn what_no_protocol_runs_is_refused_as_planning_refuses_it() {
    let program = parse(TWO_TABLES);
    let refusal = check(&program).expect_err("no circuit takes a whole table");
    assert_eq!(refusal.code, "whole-rows");
    // To walk the other table would be refused as well, so the hint says something else.
    assert!(!refusal.hint.contains("walk the rows"), "{}", refusal.hint);
    let planned = Job::new(program, ProtocolName::DEFAULT, NetworkClass::Wan, vec![]);
    let planned = planned.err().expect("it is refused");
    assert_eq!(planned.finding(), &refusal);
    // What the hint says: a fixed number of elements.
    let fixed = TWO_TABLES
        .replace("u8[m]", "u8[50]")
        .replace("bool[m]", "bool[50]");
    let fixed = parse(&fixed.replace("rows m <= 50\n", ""));
    assert_eq!(check(&fixed), Ok(vec![]));
}

#[test]
fn parties_that_do_not_fit_are_told_of_protocols_and_helpers_that_do() {
    let told = |parties| {
        let warnings = check(&parse(&of_parties(parties))).expect("some protocol runs it");
        let told = warnings
            .into_iter()
            .map(|warning| (warning.message, warning.hint));
        told.collect::<Vec<_>>()
    };
    let cannot = "protocol `yao`, the usual one, cannot run this program".to_string();
    let with = |options: &str| format!("plan and run it with {options}");
    assert_eq!(told(2), []);
    assert_eq!(told(3), [(cannot.clone(), with("`--protocol trio`"))]);
    let helpers = with("`--protocol trio --helpers ada,bob,cyd`");
    assert_eq!(told(5), [(cannot.clone(), helpers)]);
    let ways = "`--protocol yao --helpers ada` or `--protocol yao-three-halves --helpers ada` or \
                `--protocol trio --helpers ada,bob`";
    assert_eq!(told(1), [(format!("{cannot} without helpers"), with(ways))]);
    // A session has no room for helpers beside so many.
    let refusal = check(&parse(&of_parties(64))).expect_err("nobody is left to compute");
    assert_eq!(refusal.code, "helper-name");
}
