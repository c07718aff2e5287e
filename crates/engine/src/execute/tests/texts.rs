//! Texts of an owner that deviates: bytes that no table has, given as any input is.

use super::{check_ends, planned, run};
use sealane_parties::NetworkClass;
use sealane_plan::{Roster, plan_with_roster};
use sealane_program::graph::Program;
use sealane_program::text;
use sealane_program::types::{Data, Type};
use sealane_testkit::reference;
use sealane_trio::{Guarded, GuardedParty};
use std::collections::BTreeMap;

/// Which names begin with a prefix, as `startswith` of the Python package asks it: a byte 0 of the
/// prefix is behind its end, so that any letter is right there.
const BEGINS: &str = r#"sealane program 1
name begins
party shop
party bank
party audit
rows people <= 9
input name : shop u8[people, 2] in 0..127 as text ascii
input prefix : bank u8[2] in 0..127 as text ascii
main {
  %0 = param 0 : u8[people, 2] in 0..127 known shop
  %1 = param 1 : u8[2] in 0..127 known bank
  %2 = eq %0, %1 : bool[people, 2] in 0..1 secret
  %3 = const [0] : u8 in 0..0 public
  %4 = eq %1, %3 : bool[2] in 0..1 known bank
  %5 = or %2, %4 : bool[people, 2] in 0..1 secret
  %6 = reduce all %5 axis 1 : bool[people] in 0..1 secret
}
reveal found = %6 : bool to bank, audit
"#;

fn begins() -> Program {
    text::parse(BEGINS, "begins").unwrap_or_else(|error| panic!("{error}"))
}

fn bytes(shape: &[u64], texts: &[[u8; 2]]) -> Data {
    let elements = texts.iter().flatten();
    Data {
        ty: Type::U8,
        shape: shape.to_vec(),
        elements: elements.map(|byte| u64::from(*byte)).collect(),
    }
}

/// Inputs of the program.
fn inputs(names: &[[u8; 2]], prefix: [u8; 2]) -> BTreeMap<String, Data> {
    let rows = names.len() as u64;
    BTreeMap::from([
        ("name".to_string(), bytes(&[rows, 2], names)),
        ("prefix".to_string(), bytes(&[2], &[prefix])),
    ])
}

/// The text before the first byte 0.
fn ended([first, second]: [u8; 2]) -> [u8; 2] {
    [first, if first == 0 { 0 } else { second }]
}

const NAMES: [[u8; 2]; 5] = [*b"ab", *b"xb", *b"ba", *b"b\0", [0; 2]];
/// No table has this text, which asks for the second letter alone.
const NO_PREFIX: [u8; 2] = *b"\0b";

/// The answer of the program as it is, for any bytes.
fn found(of: &BTreeMap<String, Data>) -> Vec<u64> {
    let results = reference::evaluate(&begins(), of).expect("inputs of the program");
    results["found"].elements.clone()
}

/// The bank asks a question that was not approved. What it learns is the answer for the text
/// before its byte 0.
#[test]
fn a_prefix_that_is_no_text_is_the_text_before_its_first_byte_0() {
    let (program, given) = (begins(), inputs(&NAMES, NO_PREFIX));
    let text = inputs(&NAMES, ended(NO_PREFIX));
    assert_eq!(found(&given), [1, 1, 0, 0, 0]);
    assert_eq!(found(&text), [1; 5]);
    for tile in [1, 2, 64] {
        let work = planned::<GuardedParty>(&program, tile);
        check_ends(
            &program,
            &text,
            &work,
            run::<GuardedParty>(&program, &given, &work),
        );
    }
}

/// A control: of a plan of the program as it is, without the cut, the attack has its answer, so the
/// test above tells both apart.
#[test]
fn without_the_cut_a_prefix_that_is_no_text_has_an_answer() {
    let (program, given) = (begins(), inputs(&NAMES, NO_PREFIX));
    let mut work = planned::<GuardedParty>(&program, 2);
    let roster = Roster::of(&program, 0);
    let joint = plan_with_roster::<Guarded>(&program, roster, NetworkClass::LAN, 2);
    work.joint = joint.expect("a plan");
    check_ends(
        &program,
        &given,
        &work,
        run::<GuardedParty>(&program, &given, &work),
    );
}
