//! Wide triples, bits in two sharings, selects and known products: as triples, in every ring.

use super::EXTENSION;
use super::support::*;
use crate::common::*;
use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_ot::Flights;
use sealane_ot::traits::{Correlation, CorrelationSource};
use sealane_ot::triples::{
    BooleanTriples, DaBits, KnownProducts, KnownShape, Ring, Selects, WideTriples,
};

#[test]
fn wide_triples_multiply_and_take_the_bytes_of_boolean_triples() {
    let cases = [(2, 0), (1, 1), (3, 127), (128, 300), (8, 16385), (2, 40000)];
    assert_multiplied::<WideTriples>(&cases);
    for cots in Cots::all() {
        let [wide, narrow] = [
            cots.planned(|cot| WideTriples::flights(cot, 5, 64, 40000)),
            cots.planned(|cot| BooleanTriples::flights(cot, 5, (), 40000)),
        ];
        assert_eq!(wide, narrow);
    }
}

/// Every ring, and the chunks of some.
fn rings() -> Vec<(Ring, usize)> {
    let every = (1..=64).map(|bits| (Ring::new(bits), 20 + bits as usize));
    let counts = [(1, 0), (32, 128), (31, 16384), (32, 16385), (64, 33000)];
    let counts = counts.map(|(bits, count)| (Ring::new(bits), count));
    every.chain(counts).collect()
}

#[test]
fn bits_are_shared_in_two_ways_and_take_the_planned_bytes() {
    assert_all_multiplied::<DaBits>(&rings(), |_, count| count);
    assert_multiplied::<DaBits>(&[(Ring::new(64), 17000)]);
}

#[test]
fn selects_multiply_and_take_the_planned_bytes() {
    assert_all_multiplied::<Selects>(&rings(), |_, count| count);
    assert_multiplied::<Selects>(&[(Ring::new(64), 17000)]);
}

#[test]
fn known_numbers_are_multiplied_bit_by_bit_and_take_the_planned_bytes() {
    // All bits of every ring, and all widths of numbers in one.
    let whole = (1..=64).map(|bits| (known(bits, bits, 1), 20));
    let parts = (1..=64).map(|bits| (known(64, bits, 2), 9));
    let more = [
        (known(64, 64, 3), 300),
        (known(32, 8, 9), 2049),
        (known(33, 3, 1), 5465),
        (known(33, 5, 2), 0),
    ];
    let cases = whole.chain(parts).chain(more).collect::<Vec<_>>();
    let ots = |shape: KnownShape, count| count * u64::from(shape.choice_bits);
    assert_all_multiplied::<KnownProducts>(&cases, ots);
    assert_multiplied::<KnownProducts>(&more);
}

#[test]
fn costs_of_bits_selects_and_known_products_are_those_of_their_pages() {
    let (count, ring) = (1 << 10, Ring::new(32));
    let of = |flights: Flights| {
        (
            flights.len(),
            bytes_of(&flights).map(|bytes| bytes * 8 / count),
        )
    };
    assert_eq!(
        of(DaBits::flights(&EXTENSION, 0, ring, count)),
        (2, [31, 31])
    );
    assert_eq!(
        of(Selects::flights(&EXTENSION, 0, ring, count)),
        (2, [31 + 31, 31])
    );
    let products = KnownProducts::flights(&EXTENSION, 0, known(32, 8, 3), count);
    let bits = (1..8).map(|i| 32 - i).sum::<u64>();
    assert_eq!(of(products), (2, [3 * bits, 8 * 31]));
}

#[test]
fn every_tier_makes_and_sends_the_same() {
    fn same<G: Tested>(kind: G::Parameters)
    where
        sealane_ot::ideal::correlations::Party: CorrelationSource<G>,
        G::Parameters: Send + Sync,
    {
        assert_same_on_every_tier(|cpu| {
            let (one, two) = run::<G>(Cots::Extension(EXTENSION), cpu, kind, 1000);
            [one, two].map(|(correlations, _, sent)| (correlations.values(), sent))
        });
    }
    same::<WideTriples>(5);
    same::<DaBits>(Ring::new(64));
    same::<Selects>(Ring::new(37));
    same::<KnownProducts>(known(37, 5, 3));
}

#[test]
fn either_party_may_hold_the_numbers_and_bits_come_from_the_same_source() {
    let (shape, ring) = (known(32, 16, 2), Ring::new(32));
    for cots in Cots::all() {
        let party = |mesh: &mut Mesh| {
            let both = &mut cots.both(Cpu::best(), mesh)?;
            let triples: WideTriples = both.make(mesh, 2, 1000)?;
            let bits: DaBits = both.make(mesh, ring, 1000)?;
            let products: KnownProducts = match mesh.me() {
                SENDER => both.receiver().make(mesh, shape, 100)?,
                _ => both.sender().make(mesh, shape, 100)?,
            };
            mesh.flush()?;
            let selects: Selects = both.make(mesh, ring, 1000)?;
            let again: WideTriples = both.make(mesh, 2, 1000)?;
            Ok((triples, bits, products, selects, again))
        };
        let (one, two) = pair(party, party);
        check(2, 1000, [&one.0, &two.0]);
        check(ring, 1000, [&one.1, &two.1]);
        check(shape, 100, [&two.2, &one.2]);
        check(ring, 1000, [&one.3, &two.3]);
        check(2, 1000, [&one.4, &two.4]);
        assert!(one.0.values() != one.4.values());
    }
}
