//! Steps that share a flight and read it at different times at the two parties.

use crate::common::{helpers_of_two, named, parse};
use sealane_engine::{Job, NetworkClass, ProtocolName, simulate};
use sealane_program::types::Data;

/// An AND of one lane count beside an XOR of another: two steps, of which the second has no tables.
const PROGRAM: &str = "\
sealane program 1
name mixed
party one
party two
input a : one u8[3] in 0..255
input b : two u8[3] in 0..255
input c : one u8[5] in 0..255
input d : two u8[5] in 0..255
main {
  %0 = param 0 : u8[3] in 0..255 known one
  %1 = param 1 : u8[3] in 0..255 known two
  %2 = param 2 : u8[5] in 0..255 known one
  %3 = param 3 : u8[5] in 0..255 known two
  %4 = and %0, %1 : u8[3] in 0..255 secret
  %5 = xor %2, %3 : u8[5] in 0..255 secret
}
reveal r = %4 : u8 to one, two
reveal s = %5 : u8 to one, two
";

#[test]
fn a_step_without_tables_may_run_before_one_with() {
    let program = parse(PROGRAM);
    for protocol in ProtocolName::ALL {
        let helpers = named(helpers_of_two(protocol));
        let job = Job::new(program.clone(), protocol, NetworkClass::LAN, helpers);
        let job = job.unwrap_or_else(|error| panic!("{error}"));
        let data = |numbers: &[i128]| {
            let ty = program.inputs[0].ty;
            Data::from_numbers(ty, vec![numbers.len() as u64], numbers).unwrap()
        };
        let inputs = [
            data(&[12, 10, 255]),
            data(&[10, 9, 7]),
            data(&[1, 2, 3, 4, 5]),
            data(&[5; 5]),
        ];
        let report = simulate(&job, inputs.to_vec()).unwrap_or_else(|error| panic!("{error}"));
        let expected = [data(&[8, 8, 7]), data(&[4, 7, 6, 1, 0])];
        for (result, expected) in report.results.iter().zip(expected) {
            let got = result.data.as_ref().unwrap();
            assert_eq!(got.elements, expected.elements, "{protocol}");
        }
    }
}
