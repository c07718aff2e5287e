//! Runs that take correlations of every kind, and random OTs from the pools of both parties.

use super::{TIMINGS, check, check_ends, planned, run_with, varied};
use crate::pool::{Draw, PoolShare};
use sealane_block::{Coins, Cpu};
use sealane_identity::Identity;
use sealane_net::Mesh;
use sealane_parties::NetworkClass;
use sealane_pool::{Filling, Order, Pool, Role};
use sealane_program::graph::Program;
use sealane_program::text;
use sealane_program::types::Data;
use sealane_protocol::Correlation;
use sealane_testkit::masked::{Masked, MaskedParty};
use sealane_testkit::side::on_threads;
use std::collections::BTreeMap;

/// Program of two owners: elements above a limit, the products of the matrix that they make by one
/// that its owner knows and by another, and the largest elements of the columns of the latter.
const TWO: &str = r#"sealane program 1
name two
party ann
party ben
rows n <= 100
input x : ann u8[n, 3] in 0..255
input y : ben i8[3, 2] in -128..127
input z : ben u8 in 0..255
input w : ann i8 in -128..127
main {
  %0 = param 0 : u8[n, 3] in 0..255 known ann
  %1 = param 1 : i8[3, 2] in -128..127 known ben
  %2 = param 2 : u8 in 0..255 known ben
  %3 = param 3 : i8 in -128..127 known ann
  %4 = gt %0, %2 : bool[n, 3] in 0..1 secret
  %5 = cast %4 : i32[n, 3] in 0..1 secret
  %6 = cast %1 : i32[3, 2] in -128..127 known ben
  %7 = cast %3 : i32 in -128..127 known ann
  %8 = add %6, %7 : i32[3, 2] in -256..254 secret
  %9 = dot %5, %6 : i32[n, 2] in -384..381 secret
  %10 = dot %5, %8 : i32[n, 2] in -768..762 secret
  %11 = reduce max %10 axis 0 : i32[2] in -768..762 secret
}
reveal product = %9 : i32 to ann
reveal largest = %11 : i32 to ann, ben
"#;

fn two() -> (Program, BTreeMap<String, Data>) {
    let program = text::parse(TWO, "two").unwrap_or_else(|error| panic!("{error}"));
    let data = |input: usize, shape: &[u64], first: u64| Data {
        ty: program.inputs[input].ty,
        shape: shape.to_vec(),
        elements: (0..shape.iter().product())
            .map(|i| first.wrapping_add(i * 41 % 256))
            .collect(),
    };
    let inputs = BTreeMap::from([
        ("x".to_string(), data(0, &[20, 3], 0)),
        ("y".to_string(), data(1, &[3, 2], -128i64 as u64)),
        ("z".to_string(), data(2, &[], 100)),
        ("w".to_string(), data(3, &[], 3)),
    ]);
    (program, inputs)
}

/// ANDs with a common operand, conversions of bits, and matrix products take correlations of their
/// kinds, of which more are made than are taken.
#[test]
fn every_kind_of_correlation_is_made_in_refills_and_taken() {
    let (program, inputs) = two();
    for (tile, tiles) in [(1, 3), (7, 1), (7, 2), (100, 1)] {
        let work = varied(planned::<MaskedParty>(&program, tile), TIMINGS[0], tiles);
        check::<MaskedParty>(&program, &inputs, &work);
        let demand = work.cost::<Masked>(&[20]).demand;
        let has = |of: fn(&Correlation) -> bool| demand.0.keys().any(of);
        assert!(has(|kind| matches!(kind, Correlation::Triple { .. })));
        assert!(has(|kind| matches!(kind, Correlation::Wide { .. })));
        assert!(has(|kind| matches!(kind, Correlation::DaBit { .. })));
        assert!(has(|kind| matches!(kind, Correlation::Known { .. })));
        assert!(has(|kind| matches!(kind, Correlation::Matrix { .. })));
    }
}

/// Both parties own inputs, so random OTs of both directions are taken from their pools on disk.
#[test]
fn a_run_takes_ots_of_both_directions_from_the_pools_of_its_parties() {
    let (program, inputs) = two();
    let folder = tempfile::tempdir().unwrap();
    let keys = [0; 2].map(|_| Identity::generate());
    let pools = [0, 1].map(|party| {
        let folder = folder.path().join(format!("{party}"));
        Pool::new(&folder, &keys[party], &keys[1 - party].public_key())
    });
    let order = Order {
        batches: [4, 4],
        network: NetworkClass::LAN,
    };
    on_threads(
        Mesh::in_memory(2).into_iter().zip(&pools),
        |(mut mesh, pool)| {
            let filling = Filling {
                pool,
                cpu: Cpu::best(),
                progress: &mut |_| (),
                least: None,
            };
            let coins = Coins::from_os().unwrap();
            assert!(filling.run(order, coins, &mut mesh).is_ok());
        },
    );
    for timing in TIMINGS {
        let mut work = varied(planned::<MaskedParty>(&program, 7), timing, 2);
        let filled = work.cost::<Masked>(&[20]);
        work.joint.setting.pooled = true;
        let shares = PoolShare::of_demand(&work.cost::<Masked>(&[20]).demand);
        let batches = shares.iter().map(|share| (share.sender.0, share.batches));
        assert_eq!(batches.collect::<Vec<_>>(), [(0, 1), (1, 1)]);
        let offers = pools.each_ref().map(|pool| pool.offer().unwrap());
        let stocks = |mesh: &Mesh| {
            let me = mesh.me().index();
            let draw = Draw::begin(shares.clone(), Some(&pools[me])).unwrap();
            let names = program.parties.clone();
            draw.unwrap()
                .take(Some(&offers[1 - me]), mesh, &names)
                .unwrap()
        };
        let ends = run_with::<MaskedParty>(&program, &inputs, &work, stocks);
        // The choices that an owner tells take less than its masks, and one flight.
        assert_ne!(ends.1.promise, filled.promise);
        check_ends(&program, &inputs, &work, ends);
    }
    let left = [Role::Sender, Role::Receiver].map(|role| pools[0].count(role).unwrap().left);
    assert_eq!(left, [2, 2]);
}
