//! Runs of `gmw` and `mixed` that take oblivious transfers of both directions from a pool.

use crate::common::{in_tiles, parse};
use crate::pool::Pools;
use crate::pool_cheats::meshes;
use sealane_engine::{Job, NetworkClass, PoolShare, ProtocolName};
use sealane_net::Mesh;
use sealane_program::types::Data;
use sealane_protocol::{Algebra, Correlation};
use sealane_testkit::adversary::Harm;
use sealane_testkit::reference;
use std::collections::BTreeMap;

const BOTH: [ProtocolName; 2] = [ProtocolName::Gmw, ProtocolName::Mixed];

/// Takes every correlation on shares: comparisons, choices, products of known numbers, of shared
/// ones and of matrices, bits as integers.
pub const GOODS: &str = "\
sealane program 1
name goods
party clinic
party lab
rows n <= 40
input x : clinic u8[n, 3] in 0..200
input y : lab u8[n, 3] in 0..200
input v : clinic i8[3, 2] in -128..127
input w : lab i8[3, 2] in -128..127
main {
  %0 = param 0 : u8[n, 3] in 0..200 known clinic
  %1 = param 1 : u8[n, 3] in 0..200 known lab
  %2 = param 2 : i8[3, 2] in -128..127 known clinic
  %3 = param 3 : i8[3, 2] in -128..127 known lab
  %4 = gt %0, %1 : bool[n, 3] in 0..1 secret
  %5 = cast %0 : i32[n, 3] in 0..200 known clinic
  %6 = cast %1 : i32[n, 3] in 0..200 known lab
  %7 = mul %5, %6 : i32[n, 3] in 0..40000 secret
  %8 = sub %6, %5 : i32[n, 3] in -200..200 secret
  %9 = mul %7, %8 : i32[n, 3] in -8000000..8000000 secret
  %10 = cast %4 : i32[n, 3] in 0..1 secret
  %11 = mul %10, %8 : i32[n, 3] in -200..200 secret
  %12 = reduce sum %10 axis 0 : i32[3] in 0..40 secret
  %13 = cast %2 : i32[3, 2] in -128..127 known clinic
  %14 = cast %3 : i32[3, 2] in -128..127 known lab
  %15 = add %13, %14 : i32[3, 2] in -256..254 secret
  %16 = dot %7, %15 : i32[n, 2] in -30720000..30480000 secret
  %17 = reduce sum %11 axis 0 : i32[3] in -8000..8000 secret
  %18 = reduce sum %9 axis 0 : i32[3] in -320000000..320000000 secret
}
reveal chosen = %17 : i32 to clinic
reveal products = %18 : i32 to clinic
reveal counts = %12 : i32 to lab
reveal product = %16 : i32 to clinic, lab
";

/// Takes transfers of one direction alone: one party's numbers are the shorter ones.
const ONE_WAY: &str = "\
sealane program 1
name products
party clinic
party lab
rows n <= 40
input x : clinic u1[n] in 0..1
input y : lab u16[n] in 0..65535
main {
  %0 = param 0 : u1[n] in 0..1 known clinic
  %1 = param 1 : u16[n] in 0..65535 known lab
  %2 = cast %0 : i32[n] in 0..1 known clinic
  %3 = cast %1 : i32[n] in 0..65535 known lab
  %4 = mul %2, %3 : i32[n] in 0..65535 secret
}
reveal products = %4 : i32 to clinic, lab
";

/// Rows of a session.
const ROWS: u64 = 5;

/// A job with a pool, and one without, with the inputs of all.
struct Runs {
    plain: Job,
    pooled: Job,
    inputs: BTreeMap<String, Data>,
}

impl Runs {
    /// Sessions in tiles of two rows, so that there are several refills.
    fn new(text: &str, protocol: ProtocolName) -> Runs {
        let job = || in_tiles(parse(text), protocol, &[], 2);
        let (plain, pooled) = (job(), job().from_pool().unwrap());
        let inputs = plain
            .program()
            .inputs
            .iter()
            .enumerate()
            .map(|(at, input)| {
                let rows = input.shape.rows.map(|_| ROWS);
                let shape = [rows.as_slice(), &input.shape.fixed].concat();
                let (low, high) = (input.range.lo, input.range.hi);
                let number = |i: u64| low + i128::from(i * 61 + at as u64 * 17) % (high - low + 1);
                let values = (0..shape.iter().product()).map(number).collect::<Vec<_>>();
                let data = Data::from_numbers(input.ty, shape, &values).unwrap();
                (input.name.clone(), data)
            });
        let inputs = inputs.collect();
        Runs {
            plain,
            pooled,
            inputs,
        }
    }

    fn own(&self, party: usize) -> Vec<Option<Data>> {
        let inputs = self.plain.program().inputs.iter();
        let own = inputs.map(|input| {
            let given = usize::from(input.owner) == party;
            given.then(|| self.inputs[&input.name].clone())
        });
        own.collect()
    }

    /// Batches that the run takes, by receiver.
    fn taken(&self) -> [u64; 2] {
        let shares = PoolShare::of(&self.pooled, &self.pooled.cost(&[ROWS]).unwrap());
        let mut taken = [0, 0];
        for share in shares {
            taken[share.receiver.index()] = share.batches;
        }
        taken
    }

    /// Runs it over these links; both parties compute what the reference does, as planned.
    #[track_caller]
    fn check(&self, pools: &Pools, job: &Job) {
        let want = reference::evaluate(self.plain.program(), &self.inputs).unwrap();
        let inputs = [0, 1].map(|party| self.own(party));
        for end in pools.run_over(Mesh::in_memory(2), &inputs, [job; 2]) {
            let report = end.unwrap_or_else(|error| panic!("{error}"));
            assert!(report.as_planned());
            for result in &report.results {
                if let Some(data) = &result.data {
                    assert_eq!(
                        data.elements, want[&result.name].elements,
                        "{}",
                        result.name
                    );
                }
            }
        }
    }

    /// Runs it where something fails; returns the codes of the errors.
    fn failed(&self, pools: &Pools, meshes: Vec<Mesh>) -> [String; 2] {
        let inputs = [0, 1].map(|party| self.own(party));
        let ends = pools.run_over(meshes, &inputs, [&self.pooled; 2]);
        ends.map(|end| {
            let error = end.err().expect("it fails");
            let (code, text) = (error.finding().code.name(), error.finding().message.clone());
            format!("{code}: {text}")
        })
    }
}

#[test]
fn runs_with_every_good_take_both_directions_from_the_pool_as_planned() {
    let is_good: [fn(&Correlation) -> bool; 7] = [
        |kind| matches!(kind, Correlation::Triple { algebra } if *algebra == Algebra::Z2),
        |kind| matches!(kind, Correlation::Triple { algebra } if *algebra != Algebra::Z2),
        |kind| matches!(kind, Correlation::Wide { .. }),
        |kind| matches!(kind, Correlation::DaBit { .. }),
        |kind| matches!(kind, Correlation::Select { .. }),
        |kind| matches!(kind, Correlation::Known { .. }),
        |kind| matches!(kind, Correlation::Matrix { .. }),
    ];
    for protocol in BOTH {
        let runs = Runs::new(GOODS, protocol);
        assert_ne!(runs.plain.hash(), runs.pooled.hash());
        let [before, after] = [&runs.plain, &runs.pooled].map(|job| job.cost(&[ROWS]).unwrap());
        // Under `mixed` more of it is on shares, with more rounds.
        let [now, then] = [&after, &before].map(|cost| cost.estimate_s(NetworkClass::LAN));
        assert!(now < then, "{protocol}: {now} s, without a pool {then} s");
        let kinds = after.demand.0.keys();
        if protocol == ProtocolName::Gmw {
            assert!(after.promise.payload_bytes() < before.promise.payload_bytes() / 2);
            assert!(after.promise.rounds < before.promise.rounds);
            assert!(after.compute_ns + 30_000_000 < before.compute_ns);
            for (at, good) in is_good.iter().enumerate() {
                assert!(kinds.clone().any(good), "no good {at} in {kinds:?}");
            }
        }
        let taken = runs.taken();
        assert!(taken[0] > 0 && taken[1] > 0, "{taken:?}");
        let pools = Pools::with(taken.map(|batches| 2 * batches));
        for run in 1..=2 {
            runs.check(&pools, &runs.pooled);
            for receiver in [0, 1] {
                assert_eq!(pools.left(receiver), [(2 - run) * taken[receiver]; 2]);
            }
        }
        for end in runs.failed(&pools, Mesh::in_memory(2)) {
            let short = end.starts_with("pool-short: the pool of this pair has 0 ");
            assert!(short || end.starts_with("peer-gave-up"), "{end}");
        }
        // Without the pool it runs as before.
        runs.check(&pools, &runs.plain);
    }
}

/// Labels that the evaluator chooses are made of transfers of the pool, too.
#[test]
fn circuits_on_labels_take_their_choices_from_the_pool() {
    let text = "\
sealane program 1
name quotients
party clinic
party lab
rows n <= 40
input x : clinic u32[n] in 0..4294967295
input y : lab u32[n] in 1..4294967295
main {
  %0 = param 0 : u32[n] in 0..4294967295 known clinic
  %1 = param 1 : u32[n] in 1..4294967295 known lab
  %2 = floordiv %0, %1 : u32[n] in 0..4294967295 secret
  %3 = cast %2 : u40[n] in 0..4294967295 secret
  %4 = reduce sum %3 axis 0 : u40 in 0..171798691800 secret
}
reveal sum = %4 : u40 to clinic, lab
";
    let network = NetworkClass::WAN;
    let mut runs = Runs::new(text, ProtocolName::Mixed);
    let job = || Job::in_tiles(parse(text), ProtocolName::Mixed, network, vec![], 2).unwrap();
    runs.plain = job();
    runs.pooled = job().from_pool().unwrap();
    let demand = runs.pooled.cost(&[ROWS]).unwrap().demand;
    let labels = |kind: &Correlation| matches!(kind, Correlation::Seed { .. });
    assert!(demand.0.keys().any(labels), "{demand:?}");
    let pools = Pools::with(runs.taken());
    runs.check(&pools, &runs.pooled);
    assert_eq!([pools.left(0), pools.left(1)], [[0; 2]; 2]);
}

#[test]
fn a_run_of_one_direction_leaves_the_other_alone() {
    for protocol in BOTH {
        let runs = Runs::new(ONE_WAY, protocol);
        assert_eq!(runs.taken(), [1, 0]);
        let pools = Pools::with([1, 1]);
        runs.check(&pools, &runs.pooled);
        assert_eq!([pools.left(0), pools.left(1)], [[0; 2], [1; 2]]);
        // What is left is of the other direction, and stays.
        let ends = runs.failed(&pools, Mesh::in_memory(2));
        let receives = "both parties hold and this one receives; this run takes 1024";
        let sends = "both parties hold and this one sends; this run takes 1024";
        for (end, said) in ends.iter().zip([receives, sends]) {
            assert!(
                end.contains(said) || end.starts_with("peer-gave-up"),
                "{end}"
            );
        }
        assert_eq!([pools.left(0), pools.left(1)], [[0; 2], [1; 2]]);
    }
}

/// A run that ends in the middle, at whatever message, uses nothing up that another run gets: both
/// parties go on behind it, also where one of them had taken nothing yet.
#[test]
fn what_a_run_that_broke_has_taken_serves_no_other() {
    for protocol in BOTH {
        let runs = Runs::new(GOODS, protocol);
        let taken = runs.taken();
        // The lab's third message says what it holds, the next one that it has taken it.
        for at in [2, 3, 4, 6] {
            let pools = Pools::with(taken.map(|batches| 2 * batches));
            runs.failed(&pools, meshes(Some((at, Harm::Vanish))).into());
            let left = [0, 1].map(|receiver| pools.left(receiver).into_iter().min().unwrap());
            assert!(at == 2 || left == taken, "message {at}: {left:?}");
            runs.check(&pools, &runs.pooled);
            for receiver in [0, 1] {
                let rest = left[receiver] - taken[receiver];
                assert_eq!(pools.left(receiver), [rest; 2], "message {at}");
            }
        }
    }
}

/// Runs of several protocols draw on one pool, one after the other.
#[test]
fn runs_of_several_protocols_share_a_pool() {
    let [gmw, mixed] = BOTH.map(|protocol| Runs::new(GOODS, protocol));
    let yao = Runs::new(GOODS, ProtocolName::Yao);
    let all = [&gmw, &yao, &mixed];
    let mut left = [0, 1].map(|at| all.iter().map(|runs| runs.taken()[at]).sum::<u64>());
    let pools = Pools::with(left);
    for runs in all {
        runs.check(&pools, &runs.pooled);
        for receiver in [0, 1] {
            left[receiver] -= runs.taken()[receiver];
            assert_eq!(pools.left(receiver), [left[receiver]; 2]);
        }
    }
    assert_eq!(left, [0, 0]);
}

/// Pools that two parties have filled with others give them nothing together.
#[test]
fn a_pool_with_another_party_is_of_no_use() {
    let runs = Runs::new(GOODS, ProtocolName::Mixed);
    let [mut pools, others] = [(); 2].map(|()| Pools::with(runs.taken()));
    let [_, theirs] = others.pools;
    pools.pools[1] = theirs;
    for end in runs.failed(&pools, Mesh::in_memory(2)) {
        let short = end.starts_with("pool-short: the pool of this pair has 0 ");
        assert!(short || end.starts_with("peer-gave-up"), "{end}");
    }
    assert_eq!(pools.left(0), [runs.taken()[0]; 2]);
}
