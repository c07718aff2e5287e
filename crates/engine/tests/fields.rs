//! Products in GF(2^k) in whole runs: a polynomial hash under all protocols, with the bytes and the
//! rounds that were planned.

use crate::common::{helpers_of_two, named, numbers, parse};
use crate::rounds::session;
use sealane_engine::{Job, NetworkClass, ProtocolName, RunReport};
use sealane_net::Counters;
use sealane_plan::Lookups;
use sealane_program::types::Type;

/// A polynomial hash of rows of two bytes at a secret point, with another key added; and squares
/// and multiples, which are linear.
const TAGS: &str = "\
sealane program 1
name tags
party ann
party ben
rows n <= 10000
input message : ann u8[n, 2] in 0..255
input key : ben u8[2] in 0..255
main {
  %0 = param 0 : u8[n, 2] in 0..255 known ann
  %1 = param 1 : u8[2] in 0..255 known ben
  %2 = slice %0 axis 1 from 0 take 1 squeeze : u8[n] in 0..255 known ann
  %3 = slice %0 axis 1 from 1 take 1 squeeze : u8[n] in 0..255 known ann
  %4 = slice %1 axis 0 from 0 take 1 squeeze : u8 in 0..255 known ben
  %5 = slice %1 axis 0 from 1 take 1 squeeze : u8 in 0..255 known ben
  %6 = call gf_mul_0x11b %2, %4 : u8[n] in 0..255 secret
  %7 = xor %6, %3 : u8[n] in 0..255 secret
  %8 = call gf_mul_0x11b %7, %4 : u8[n] in 0..255 secret
  %9 = xor %8, %5 : u8[n] in 0..255 secret
  %10 = call gf_mul_0x11b %9, %9 : u8[n] in 0..255 secret
  %11 = const [3] : u2 in 3..3 public
  %12 = call gf_mul_0x11b %11, %10 : u8[n] in 0..255 secret
}
reveal tag = %9 : u8 to ann
reveal linear = %12 : u8 to ben
";

/// As in FIPS 197, section 4.2.1.
fn times(x: i128, y: i128) -> i128 {
    times_of(0x11b, x, y)
}

fn times_of(polynomial: i128, x: i128, y: i128) -> i128 {
    let bits = polynomial.ilog2();
    let double = |x: &i128| (x << 1) ^ (polynomial * (x >> (bits - 1)));
    let powers = std::iter::successors(Some(x), |x| Some(double(x)));
    let chosen = powers.zip(0..bits).filter(|(_, bit)| y >> bit & 1 == 1);
    chosen.fold(0, |sum, (power, _)| sum ^ power)
}

fn job(protocol: ProtocolName) -> Job {
    let helpers = named(helpers_of_two(protocol));
    Job::new(parse(TAGS), protocol, NetworkClass::LAN, helpers).unwrap()
}

/// Runs the program with so many rows; returns bytes of all parties and rounds.
fn tags(job: &Job, rows: u64) -> (u64, u64) {
    let message = (0..2 * rows).map(|at| i128::from((at * 89 + 0x57) % 256));
    let message = message.collect::<Vec<_>>();
    let inputs = [
        numbers(Type::U8, vec![rows, 2], &message),
        numbers(Type::U8, vec![2], &[0x83, 0x42]),
    ];
    let parties = session(job, &inputs);
    let planned = job.cost(&[rows]).unwrap().promise;
    let sent = |(_, counters): &(RunReport, Counters)| {
        counters.payload.iter().map(|link| link.sent).sum::<u64>()
    };
    let bytes = parties.iter().map(sent).sum::<u64>();
    assert!(parties.iter().all(|(report, _)| report.as_planned()));
    assert_eq!(bytes, planned.payload_bytes());
    assert_eq!(parties[0].0.rounds, planned.rounds);
    let learnt = |party: usize, result: usize| {
        let result = &parties[party].0.results[result];
        result.data.as_ref().unwrap().numbers().collect::<Vec<_>>()
    };
    let tag = message.chunks(2).map(|row| {
        let [first, second] = [row[0], row[1]];
        times(times(first, 0x83) ^ second, 0x83) ^ 0x42
    });
    let tag = tag.collect::<Vec<_>>();
    assert_eq!(learnt(0, 0), tag);
    let linear = tag.iter().map(|tag| times(3, times(*tag, *tag)));
    assert_eq!(learnt(1, 1), linear.collect::<Vec<_>>());
    (bytes, planned.rounds)
}

#[test]
fn tags_are_the_same_under_all_protocols() {
    // FIPS 197, section 4.2.
    assert_eq!((times(0x57, 0x83), times(0x57, 0x13)), (0xc1, 0xfe));
    use ProtocolName::{Clear, Trio, TrioMalicious, Yao};
    for protocol in [Clear, Yao, Trio, TrioMalicious] {
        for rows in [1, 64, 1000] {
            tags(&job(protocol), rows);
        }
    }
}

/// Two products, one after the other, and nothing else: all of it is inputs and results but a byte
/// of each party, twice.
#[test]
fn a_product_under_trio_is_one_element_of_each_party() {
    let job = job(ProtocolName::Trio);
    let plan = job.plan_at(&[1000]).unwrap();
    assert_eq!(plan.lookups, Lookups::Gates);
    let tapes = plan.tapes.iter();
    let gates = tapes.map(|tape| (tape.ands.len(), tape.applied.len()));
    assert_eq!(gates.clone().map(|(ands, _)| ands).sum::<usize>(), 0);
    assert_eq!(gates.map(|(_, products)| products).sum::<usize>(), 2);
    let (at_1000, rounds) = tags(&job, 1000);
    let (at_2000, same) = tags(&job, 2000);
    // Of each row two bytes are input and two are learnt, each by one message.
    assert_eq!(at_2000 - at_1000, 1000 * (2 + 2 + 2 * 3));
    // Keys, inputs, two products, settling, opening.
    assert_eq!((rounds, same), (6, 6));
}

/// A product in GF(16) is one statement and four bits of each party, where one in GF(2^8) is gates.
#[test]
fn products_of_small_fields_are_proved_as_a_whole() {
    const SMALL: &str = "\
sealane program 1
name small
party ann
party ben
rows n <= 10000
input x : ann u4[n] in 0..15
input y : ben u4[n] in 0..15
main {
  %0 = param 0 : u4[n] in 0..15 known ann
  %1 = param 1 : u4[n] in 0..15 known ben
  %2 = call gf_mul_0x19 %0, %1 : u4[n] in 0..15 secret
}
reveal product = %2 : u4 to ann
";
    let protocol = ProtocolName::TrioMalicious;
    let helpers = named(helpers_of_two(protocol));
    let small = Job::new(parse(SMALL), protocol, NetworkClass::LAN, helpers).unwrap();
    for rows in [1, 1000] {
        let of = |step: i128| {
            (0..rows)
                .map(|row| row as i128 * step % 16)
                .collect::<Vec<_>>()
        };
        let (x, y) = (of(7), of(3));
        let inputs = [&x, &y].map(|of| numbers(Type::unsigned(4), vec![rows], of));
        let parties = session(&small, &inputs);
        assert!(parties.iter().all(|(report, _)| report.as_planned()));
        let learnt = parties[0].0.results[0].data.as_ref().unwrap();
        let wanted = x.iter().zip(&y).map(|(x, y)| times_of(0x19, *x, *y));
        assert!(learnt.numbers().eq(wanted));
        let promise = small.cost(&[rows]).unwrap().promise;
        assert_eq!((promise.ands, promise.proofs.products), (0, rows));
    }
    // Of each byte, twice 27 ANDs.
    let promise = job(protocol).cost(&[100]).unwrap().promise;
    assert_eq!(promise.ands, 100 * 2 * 27);
    assert_eq!(promise.proofs.products, promise.ands);
}

/// As gates, a product in GF(2^8) has 27 ANDs.
#[test]
fn a_product_under_yao_is_27_gates() {
    let job = job(ProtocolName::Yao);
    let ands = job.cost(&[1]).unwrap().promise.ands;
    assert_eq!(ands, 2 * 27);
}
