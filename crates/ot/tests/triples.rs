//! OLEs and triples: the ideal functionality of each, and the protocols over ideal correlated OTs
//! and over real ones. Products, bytes, the same on every tier, altered messages, factors that look
//! random.

mod conversions;
mod support;

use crate::common::*;
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_ot::ferret::{FerretCost, Params};
use sealane_ot::traits::{Correlation, CorrelationSource, CotReceiver};
use sealane_ot::triples::{
    ArithmeticTriples, BooleanTriples, DaBits, KnownProducts, MatrixShape, MatrixTriples, Ole,
    Ring, Selects, WideTriples,
};
use sealane_ot::{Flights, Security, SoftSpoken, ideal};
use sealane_parties::PartyId;
use sealane_party::{Fault, check_digests, send_digests};
use sealane_testkit::golden;
use sealane_testkit::tamper::tampered;
use support::*;

const EXTENSION: SoftSpoken = SoftSpoken::new(4, Security::SemiHonest);

const fn shape(bits: u32, [rows, inner, columns]: [usize; 3]) -> MatrixShape {
    MatrixShape {
        ring: Ring::new(bits),
        rows,
        inner,
        columns,
    }
}

#[test]
fn boolean_triples_multiply_and_take_the_planned_bytes() {
    let counts = [0, 1, 127, 128, 300, 16384, 16385, 40000];
    assert_multiplied::<BooleanTriples>(&counts.map(|count| ((), count)));
}

#[test]
fn boolean_triples_take_62_bits_and_silent_ones_below_one() {
    let count = 1 << 24;
    let bits = |flights: Flights| {
        let bytes = |flight: &sealane_ot::Flight| flight.from_sender + flight.from_receiver;
        flights.iter().map(bytes).sum::<u64>() as f64 * 8.0 / count as f64
    };
    let of_triples = BooleanTriples::flights(&EXTENSION, 0, (), count);
    assert_eq!(bits(of_triples), 62.0);
    let (source, params) = (EXTENSION, Params::new(Security::SemiHonest));
    let silent = FerretCost { source, params };
    assert!(bits(BooleanTriples::flights(&silent, 0, (), count)) < 1.0);
}

#[test]
fn oles_multiply_modulo_a_power_of_two_and_take_the_planned_bytes() {
    let (bits, counts) = ([1, 8, 13, 32, 33, 64, 64], [200, 77, 50, 40, 17, 20, 0]);
    let cases = bits.map(Ring::new).into_iter().zip(counts);
    assert_multiplied::<Ole>(&cases.collect::<Vec<_>>());
}

#[test]
fn arithmetic_triples_multiply_and_take_the_planned_bytes() {
    let cases = [(8, 3), (32, 100), (64, 65)];
    assert_multiplied::<ArithmeticTriples>(&cases.map(|(bits, count)| (Ring::new(bits), count)));
}

#[test]
fn matrix_triples_multiply_and_take_the_planned_bytes() {
    let sides = [
        [1, 1, 1],
        [3, 2, 5],
        [5, 2, 3],
        [4, 7, 1],
        [1, 3, 9],
        [8, 8, 8],
    ];
    for (bits, count) in [(64, 1), (32, 3), (20, 2)] {
        assert_multiplied::<MatrixTriples>(&sides.map(|sides| (shape(bits, sides), count)));
    }
}

#[test]
fn a_matrix_takes_the_ots_of_its_shorter_side() {
    let ots = |rows, columns| {
        let shape = MatrixShape {
            ring: Ring::new(32),
            rows,
            inner: 16,
            columns,
        };
        let flights = MatrixTriples::flights(&EXTENSION, 0, shape, 1);
        // Corrections of 31 bits an OT.
        flights[0].from_receiver * 8 / 31
    };
    assert_eq!(ots(128, 4), 16 * 4 * 32);
    assert_eq!(ots(4, 128), 16 * 4 * 32);
}

/// Compares what every tier makes and sends.
fn line<G: Tested>(name: &str, cots: Cots, kind: G::Parameters, count: usize) -> String
where
    ideal::correlations::Party: CorrelationSource<G>,
    G::Parameters: Send + Sync,
{
    let all = |cpu| {
        let (one, two) = run::<G>(cots, cpu, kind, count);
        [one, two].map(|(correlations, _, sent)| (correlations.values(), sent))
    };
    golden_line(name, all)
}

#[test]
fn transcripts_and_correlations_are_those_of_this_wire_version_on_every_tier() {
    let cots = Cots::Extension(EXTENSION);
    let mut lines = line::<BooleanTriples>("boolean triples", cots, (), 20_000);
    for bits in [13, 64] {
        let ring = Ring::new(bits);
        lines += &line::<Ole>(&format!("oles {bits}"), cots, ring, 50);
        lines += &line::<ArithmeticTriples>(&format!("triples {bits}"), cots, ring, 30);
    }
    lines += &line::<MatrixTriples>("matrix triples 64", cots, shape(64, [3, 2, 5]), 2);
    lines += &line::<MatrixTriples>("matrix triples 20", cots, shape(20, [9, 4, 2]), 3);
    // Of silent OT both forms of noise, in several iterations.
    for security in [Security::SemiHonest, Security::Malicious] {
        let uniform = Params::danger_tiny_uniform(security);
        for params in [Params::danger_tiny(security), uniform] {
            let name = format!("silent {:?} {security:?}", params.main().noise());
            lines += &line::<BooleanTriples>(&name, Cots::Silent(params), (), 5000);
        }
    }
    golden::is("crates/ot/tests/golden/triples.txt", &lines);
}

#[test]
fn correlations_of_any_types_come_from_one_source_and_no_triple_comes_twice() {
    let party = |mesh: &mut Mesh| {
        let mut both = Cots::Extension(EXTENSION).both(Cpu::best(), mesh)?;
        let first: BooleanTriples = both.make(mesh, (), 1000)?;
        let second: ArithmeticTriples = both.make(mesh, Ring::new(64), 30)?;
        let third: BooleanTriples = both.make(mesh, (), 1000)?;
        Ok((first, second, third))
    };
    let (one, two) = pair(party, party);
    check((), 1000, [&one.0, &two.0]);
    check(Ring::new(64), 30, [&one.1, &two.1]);
    check((), 1000, [&one.2, &two.2]);
    assert!(one.0.values() != one.2.values());
}

/// Changes bytes of the messages of a protocol, one in a run. The party that reads it makes
/// correlations all the same, since nothing here checks products, and the digests of the run say
/// whose message it was.
fn assert_reported_by_digests<G: Tested>(kind: G::Parameters, count: usize)
where
    ideal::correlations::Party: CorrelationSource<G>,
    G::Parameters: Send + Sync + std::fmt::Debug,
{
    let bytes = bytes_of(&G::flights(&ideal::Free, 0, kind, count as u64));
    assert!(bytes[0] > 0, "a message");
    for (to, bytes) in [(RECEIVER, bytes[0]), (SENDER, bytes[1])] {
        for at in (0..bytes).filter(|at| at % 5 == 0 || at + 1 == bytes) {
            let party = |mesh: &mut Mesh| {
                let peer = PartyId(1 - mesh.me().0);
                let mut source = G::protocol(Cots::Ideal, Cpu::best(), mesh)?;
                make(&mut source, mesh, kind, count)?;
                send_digests(mesh, [peer])?;
                mesh.flush()?;
                check_digests(mesh, [peer])
            };
            let (one, two) = over(tampered(to, at, 1 << (at % 7)), party, party);
            let (altered, other) = if to == SENDER { (one, two) } else { (two, one) };
            let from = PartyId(1 - to.0);
            let reported = matches!(altered, Err(Fault::Altered(party)) if party == from);
            assert!(reported, "byte {at} to {to}, {kind:?}: {altered:?}");
            assert!(other.is_ok(), "byte {at} to {to}, {kind:?}: {other:?}");
        }
    }
}

#[test]
fn changed_bytes_of_oles_and_triples_are_reported_by_the_digests_of_the_run() {
    assert_reported_by_digests::<Ole>(Ring::new(64), 1);
    assert_reported_by_digests::<Ole>(Ring::new(13), 5);
    assert_reported_by_digests::<ArithmeticTriples>(Ring::new(32), 2);
    assert_reported_by_digests::<MatrixTriples>(shape(20, [3, 2, 2]), 1);
    assert_reported_by_digests::<DaBits>(Ring::new(13), 20);
    assert_reported_by_digests::<KnownProducts>(known(13, 5, 2), 5);
}

#[test]
fn shares_and_messages_look_uniform() {
    let cots = Cots::Extension(EXTENSION);
    let party = |mesh: &mut Mesh| {
        let mut both = cots.both(Cpu::best(), mesh)?;
        let bits: BooleanTriples = both.make(mesh, (), 1 << 19)?;
        let numbers: ArithmeticTriples = both.make(mesh, Ring::new(64), 4096)?;
        let wide: WideTriples = both.make(mesh, 3, 1 << 18)?;
        let selects: Selects = both.make(mesh, Ring::new(64), 1 << 15)?;
        let mut planes = [&wide.b[..], &wide.c[..]].concat();
        planes.extend([wide.a.clone(), selects.bits.clone()]);
        let two: DaBits = both.make(mesh, Ring::new(64), 1 << 15)?;
        planes.push(two.bits.clone());
        let known: KnownProducts = match mesh.me() {
            SENDER => both.sender().make(mesh, known(64, 1, 1), 1 << 15)?,
            _ => both.receiver().make(mesh, known(64, 1, 1), 1 << 15)?,
        };
        let of_bits = [&bits.a, &bits.b, &bits.c].map(|blocks| Block::as_bytes(blocks).to_vec());
        let of_numbers = [
            [&numbers.a, &numbers.b, &numbers.c],
            [&selects.elements, &selects.factors, &selects.products],
            [&two.elements, &known.factors, &known.shares],
        ];
        let of_numbers = of_numbers.as_flattened().iter();
        let of_numbers = of_numbers.map(|numbers| numbers.iter().flat_map(|x| x.to_le_bytes()));
        let of_planes = planes.iter().map(|blocks| Block::as_bytes(blocks).to_vec());
        let all = of_bits.into_iter().chain(of_numbers.map(Iterator::collect));
        Ok(all.chain(of_planes).collect::<Vec<Vec<u8>>>())
    };
    let (one, _) = pair(party, party);
    for (i, bytes) in one.iter().enumerate() {
        assert_uniform(&i.to_string(), bytes);
    }
    // The sender's message of an OLE.
    let ring = Ring::new(64);
    let count = 1000;
    let ((), message) = pair(
        |mesh| {
            let mut source = cots.hashed_sender(Cpu::best(), mesh)?;
            let _: Ole = source.make(mesh, ring, count)?;
            Ok(())
        },
        |mesh| {
            let mut cot = cots.receiver(Cpu::best(), mesh)?;
            let mut choices = vec![Block::ZERO; count * 64 / 128];
            cot.extend(mesh, &mut choices, &mut vec![Block::ZERO; count * 64])?;
            mesh.flush()?;
            let mut message = vec![0; count * 64 * 63 / 16];
            mesh.recv(SENDER, &mut message)?;
            Ok(message)
        },
    );
    assert_uniform("message", &message);
}

/// Correlations of the ideal functionality, of which the second party's are changed so, are wrong.
fn assert_wrong<G: Tested>(kind: G::Parameters, count: usize, change: impl FnOnce(&mut G))
where
    ideal::correlations::Party: CorrelationSource<G>,
{
    let mut mesh = Mesh::in_memory(1).remove(0);
    let [one, mut two] = ideal::correlations::danger_pair(3).map(|mut party| {
        let made: G = party.make(&mut mesh, kind, count).expect("nothing is sent");
        made
    });
    check(kind, count, [&one, &two]);
    change(&mut two);
    let wrong = G::wrong(kind, count, [&one, &two]);
    assert!(wrong.is_some(), "{:?}", two.values());
}

#[test]
fn wrong_oles_and_triples_are_found() {
    let ring = Ring::new(13);
    assert_wrong::<Ole>(ring, 5, |made| made.shares[4] ^= 1);
    assert_wrong::<Ole>(ring, 5, |made| made.factors[0] |= 1 << 13);
    assert_wrong::<Ole>(ring, 5, |made| made.factors.truncate(1));
    assert_wrong::<Ole>(ring, 5, |made| made.shares.truncate(1));
    assert_wrong::<BooleanTriples>((), 130, |made| made.c[1] ^= Block::new(2));
    assert_wrong::<BooleanTriples>((), 130, |made| made.a[1] ^= Block::new(4));
    assert_wrong::<BooleanTriples>((), 130, |made| made.b.truncate(1));
    assert_wrong::<ArithmeticTriples>(ring, 3, |made| made.c[2] ^= 1);
    assert_wrong::<ArithmeticTriples>(ring, 3, |made| made.a[0] |= 1 << 13);
    assert_wrong::<ArithmeticTriples>(ring, 3, |made| made.b.push(0));
    assert_wrong::<MatrixTriples>(shape(20, [3, 2, 2]), 2, |made| made.c[11] ^= 1);
    assert_wrong::<MatrixTriples>(shape(20, [3, 2, 2]), 2, |made| made.a.truncate(1));
    assert_wrong::<WideTriples>(3, 130, |made| made.c[2][1] ^= Block::new(2));
    assert_wrong::<WideTriples>(3, 130, |made| made.b[2][1] ^= Block::new(4));
    assert_wrong::<WideTriples>(3, 130, |made| made.b.truncate(2));
    assert_wrong::<DaBits>(ring, 130, |made| made.bits[1] ^= Block::new(2));
    assert_wrong::<DaBits>(ring, 130, |made| made.elements[129] ^= 1);
    assert_wrong::<Selects>(ring, 130, |made| made.bits[1] ^= Block::new(4));
    assert_wrong::<Selects>(ring, 130, |made| made.elements[129] ^= 1);
    assert_wrong::<Selects>(ring, 130, |made| made.factors[0] |= 1 << 13);
    assert_wrong::<Selects>(ring, 130, |made| made.products[129] ^= 1);
    let shape = known(13, 5, 2);
    assert_wrong::<KnownProducts>(shape, 3, |made| made.shares[29] ^= 1);
    // The product of the last bit is one modulo 2^9.
    assert_wrong::<KnownProducts>(shape, 3, |made| made.shares[29] ^= 1 << 9);
    assert_wrong::<KnownProducts>(shape, 3, |made| made.factors[2] |= 1 << 5);
    assert_wrong::<KnownProducts>(shape, 3, |made| made.shares.truncate(29));
}
