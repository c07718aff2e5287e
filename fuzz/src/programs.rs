//! Programs: their text form, their plans under every protocol, and their results in the clear
//! compared with the reference of `testkit`.

use sealane_engine::{FailureKind, Job, NetworkClass, ProtocolName, simulate};
use sealane_fuzz_harness::{Accepted, Chance, Verdict, place};
use sealane_program::graph::{Graph, Op, Program};
use sealane_program::text::{parse, parse_unchecked, print, print_with_spans};
use sealane_program::types::{Data, Type};
use sealane_testkit::random_program::{self, Case};
use sealane_testkit::reference;
use std::collections::BTreeMap;

/// Words of the text form.
#[rustfmt::skip] // Words side by side.
pub const WORDS: &[&str] = &[
    "sealane program 1\n", "name ", "party ", "rows ", "input ", "main {\n", "}\n", "{\n",
    "return %0\n", "reveal r = %0 : u8 to a\n", " in 0..1", " secret", " public", " known ",
    "map over %0", " capture %0", "scan from %0 over %0", "part %0, 0", "const [1, 2]", "param 0",
    "select %0, %0, %0", "cast %0", "reduce sum %0 axis 0", "reduce max %0 axis 0", "dot %0, %0",
    "slice %0 axis 0 from 0 take 1 squeeze", "lookup %0, %0", "stack %0, %0 axis 0", "call ",
    "call gf_mul_0x11b %0, %0",
    "add ", "sub ", "mul ", "div ", "mod ", "shl ", "shr ", "neg ", "not ", "lt ", "u64", "i64",
    "i1", "bool", "u8.wrapping", "[3, 3]", "[n]", " columns \"a\"", " @ \"f\":1:1-2",
    "1099511627776", "fixed16.16", "ufixed8.8",
];

/// Reads a program; an accepted one is printed and read back unchanged, with and without places.
pub fn program(bytes: &[u8]) -> Verdict {
    let text = str::from_utf8(bytes).ok()?;
    let unchecked = match parse_unchecked(text, "text") {
        Ok(program) => program,
        Err(error) => {
            let span = error.span;
            let span = span.expect("what is malformed has a place, or is too long");
            place(text, span.line as usize, span.column as usize);
            return None;
        }
    };
    same_again(&unchecked);
    let program = parse(text, "text").ok()?;
    assert!(program == unchecked, "the checker changes nothing");
    Some(Accepted)
}

/// Plans a small accepted program under every protocol, and runs it in the clear.
pub fn plan(bytes: &[u8]) -> Verdict {
    let program = parse(str::from_utf8(bytes).ok()?, "text").ok()?;
    if !is_small(&program) {
        return None;
    }
    for protocol in ProtocolName::ALL {
        planned(&program, protocol, &[]);
    }
    let inputs = made_up(&program, &mut Chance::of(bytes));
    let case = Case { program, inputs };
    computes_as_the_reference(&case, ProtocolName::Clear);
    Some(Accepted)
}

/// Grows a program from numbers, as a user could have traced it: reads it from its own text, plans
/// it, and runs it under the protocol that the first byte names.
pub fn grow(bytes: &[u8]) -> Verdict {
    let (protocol, rest) = bytes.split_first()?;
    let number = |chunk: &[u8; 4]| u32::from_le_bytes(*chunk);
    let tape: Vec<u32> = rest.as_chunks().0.iter().map(number).take(160).collect();
    let case = random_program::grow(&tape);
    same_again(&case.program);
    parse(&print(&case.program), "text").expect("a traced program is accepted from its text");
    let protocol = match protocol {
        0..16 => ProtocolName::Yao,
        16..80 => ProtocolName::Trio,
        80..112 => ProtocolName::TrioMalicious,
        _ => ProtocolName::Clear,
    };
    computes_as_the_reference(&case, protocol);
    Some(Accepted)
}

fn same_again(program: &Program) {
    let text = print(program);
    let again = parse_unchecked(&text, "text").expect("what is printed can be read");
    assert!(again == *program, "reading what is printed\n{text}");
    assert_eq!(print(&again), text, "printing is a fixed point");
    assert_eq!(again.hash(), program.hash());
    let full = print_with_spans(program);
    let again = parse_unchecked(&full, "text").expect("what is printed in full can be read");
    assert_eq!(print_with_spans(&again), full, "printing in full");
    assert_eq!(print(&again), text, "places are no part of the meaning");
}

/// Plans the job twice, if the program suits the protocol, and checks that both plans and costs
/// agree.
fn planned(program: &Program, protocol: ProtocolName, helpers: &[&str]) -> Option<Job> {
    let job = || {
        let helpers = helpers.iter().map(|name| name.to_string()).collect();
        Job::new(program.clone(), protocol, NetworkClass::LAN, helpers)
    };
    let (one, other) = match (job(), job()) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(error), Err(other)) => {
            assert_eq!(error.to_string(), other.to_string());
            assert!(error.kind() != FailureKind::Internal, "{error}");
            assert!(!error.to_string().contains("internal-plan"), "{error}");
            return None;
        }
        _ => panic!("the same program is planned and refused"),
    };
    assert_eq!(one.hash(), other.hash());
    assert_eq!(one.plan().text(), other.plan().text());
    // A sum has a row for each table.
    let least = program.rows.iter().map(|rows| rows.sum.len().max(1) as u64);
    let least = least.collect::<Vec<_>>();
    for rows in [least, one.bounds()] {
        let cost = one.cost(&rows).expect("row counts within the bounds");
        let seconds = cost.estimate_s(NetworkClass::WAN);
        assert!(seconds.is_finite() && seconds >= 0.0, "{seconds} seconds");
    }
    Some(one)
}

fn computes_as_the_reference(case: &Case, protocol: ProtocolName) {
    let wanted = reference::evaluate(&case.program, &case.inputs).expect("inputs of the case");
    let parties = case.program.parties.len();
    let needed = match protocol {
        ProtocolName::Trio | ProtocolName::TrioMalicious => 3usize.saturating_sub(parties).min(2),
        _ => 0,
    };
    let helpers = &["una", "dos"][..needed];
    let Some(job) = planned(&case.program, protocol, helpers) else {
        return;
    };
    let inputs = job.program().inputs.iter();
    let inputs = inputs.map(|input| case.inputs[&input.name].clone());
    let report = match simulate(&job, inputs.collect()) {
        Ok(report) => report,
        Err(error) => panic!("{error}\n{}", print(&case.program)),
    };
    for result in &report.results {
        let got = result.data.as_ref().expect("somebody learns every result");
        let (name, wanted) = (&result.name, &wanted[&result.name]);
        let same = got.elements == wanted.elements && got.shape == wanted.shape;
        assert!(same, "{protocol}: {name}\n{}", print(&case.program));
    }
    assert!(report.as_planned(), "{protocol} keeps its promise");
}

/// Most elements, of all values for one row and of all rows, of a program that is run here.
const MOST_ELEMENTS: u64 = 2048;
/// Most rows of a generated table.
const MOST_ROWS: u64 = 3;

fn is_small(program: &Program) -> bool {
    let mut inputs = program
        .inputs
        .iter()
        .map(|input| input.shape.row_elements());
    let declared = inputs.try_fold(0u64, |sum, n| sum.checked_add(n?));
    let total = weight(&program.main).and_then(|n| n.checked_add(declared?));
    total.is_some_and(|total| total <= MOST_ELEMENTS)
}

/// Elements of all values for one row; those of a body count as often as it runs.
fn weight(graph: &Graph) -> Option<u64> {
    let mut total = 0u64;
    for value in &graph.values {
        let own = value.shape.row_elements()?;
        let inner = value.op.body().map_or(Some(0), weight)?;
        // A body runs for each element of what it goes over; a table is looked up whole.
        let over = match &value.op {
            Op::Map(of) | Op::Scan(of) => of.over.first(),
            Op::Lookup { table, .. } => Some(table),
            _ => None,
        };
        let elements = |id: u32| graph.values[id as usize].shape.row_elements();
        let times = over.map_or(Some(1), |id| elements(id.0))?;
        let size = own.checked_add(inner.max(1).checked_mul(times)?)?;
        total = total.checked_add(size)?;
    }
    Some(total)
}

/// Generates inputs in their ranges.
fn made_up(program: &Program, chance: &mut Chance) -> BTreeMap<String, Data> {
    let rows = |id: usize| program.rows[id].bound.min(MOST_ROWS);
    let mut inputs = BTreeMap::new();
    for input in &program.inputs {
        let count = input.shape.rows.map(|id| rows(usize::from(id.0)));
        let shape = count.into_iter().chain(input.shape.fixed.iter().copied());
        let shape: Vec<u64> = shape.collect();
        let elements = shape.iter().product::<u64>();
        let (lo, hi) = (input.range.lo, input.range.hi);
        let mut number = || match chance.below(4) {
            0 => lo,
            1 => hi,
            _ => lo + i128::from(chance.number()) % (hi - lo + 1),
        };
        let numbers: Vec<i128> = (0..elements).map(|_| number()).collect();
        let data = Data::from_numbers(input.ty, shape, &numbers);
        inputs.insert(input.name.clone(), data.expect("numbers in their range"));
    }
    inputs
}

/// Parses the name of a type; it is printed and parsed back unchanged.
pub fn type_name(bytes: &[u8]) -> Verdict {
    let text = str::from_utf8(bytes).ok()?;
    let ty = text.parse::<Type>().ok()?;
    assert!(ty.is_valid());
    assert_eq!(ty.to_string(), text, "a type has one name");
    assert_eq!(ty.wrapping().strict(), ty.strict());
    assert!(ty.holds(ty.range()) && ty.wrap(ty.range().hi + 1) <= ty.range().hi);
    Some(Accepted)
}
