//! Better engines on the authors' netlists and on our own sources.

use crate::support::released;
use sealane_accel::bound::engine_bound;
use sealane_accel::engine::{
    Engine, EngineCycles, MOST_CLIENTS, Work, simulate, simulate_best, usual_tries,
};
use sealane_accel::formats::read;
use sealane_accel::functions::{PROGRAMS, program};
use sealane_accel::paper::BENCHMARKS;
use sealane_hw_testkit::ours;

fn banked(clients: u32) -> Engine {
    Engine {
        clients,
        ..Engine::BANKED
    }
}

/// Counted by hand: an AND, the XOR that reads it after 12 cycles, the AND that reads that after 2;
/// and two XORs of inputs, which a unit of its own takes at once.
#[test]
fn cycles_of_a_few_gates() {
    let text = "0 0 2 0 0 1 5\n0 2 3 0 0\n1 0 1 1 1\n8 6 8 6 9\n4\n\n\n";
    let netlist = read(text.as_bytes()).unwrap().netlist;
    let cycles = |engine| simulate(&netlist, engine);
    let expected = |garbling, issues, engines| EngineCycles {
        garbling,
        issues,
        engines,
        moves: 0,
    };
    assert_eq!(cycles(Engine::ONE_XOR), expected(15, 2, 1));
    assert_eq!(cycles(Engine::BANKED), expected(15, 2, 1));
    assert_eq!(cycles(Engine::PORTS), expected(15, 5, 1));
    // Two clients: the second AND of the other one comes a cycle later.
    assert_eq!(cycles(banked(2)), expected(16, 4, 1));
    // Two engines take the second AND of both clients at once.
    let mut pair = banked(2);
    pair.engines = 2;
    assert_eq!(cycles(pair), expected(15, 4, 2));
    let least = engine_bound(&netlist, Engine::ONE_XOR);
    assert_eq!([least.path, least.pipelines, least.xor_units], [15; 3]);
}

/// AES has 2,307 gates of type XOR, which three units take in 769 cycles at best; with four units
/// the 640 ANDs decide.
#[test]
fn aes_takes_as_many_cycles_as_its_gates_and_units() {
    let aes = ours("AES_128_11");
    assert_eq!([aes.gates().len(), aes.xors()], [2947, 2307]);
    for (engine, least, most) in [
        (Engine::BANKED, 769, 769),
        (Engine::FOUR_XOR, 666, 700),
        (Engine::SIX_XOR, 666, 680),
    ] {
        assert_eq!(engine_bound(&aes, engine).cycles(), least);
        let cycles = simulate_best(&aes, engine, 120).garbling;
        assert!((least..=most).contains(&cycles), "AES: {cycles} cycles");
    }
}

/// With six units for XOR, clients that take turns keep the pipeline busy wherever a netlist cycle
/// has a hundred ANDs.
#[test]
fn clients_keep_the_pipeline_of_and_busy() {
    for benchmark in BENCHMARKS {
        let netlist = ours(benchmark.name);
        let ands = netlist.ands();
        // The largest take long to schedule for many clients.
        if (100..1000).contains(&ands) {
            let clients = Engine {
                clients: 8,
                ..Engine::SIX_XOR
            };
            let busy = simulate_best(&netlist, clients, 4).busy();
            assert!((0.95..=1.0).contains(&busy), "{}: {busy}", benchmark.name);
        }
        if let Some(netlist) = released(benchmark.name) {
            let ands = netlist.ands();
            if (100..1000).contains(&ands) {
                let busy = simulate(&netlist, banked(MOST_CLIENTS)).busy();
                assert!((0.95..=1.0).contains(&busy), "{}: {busy}", benchmark.name);
            }
        }
    }
}

/// Wherever there are four times as many ANDs as engines have cycles on the longest path.
#[test]
fn several_engines_take_an_and_in_almost_every_cycle() {
    let mut wide = 0;
    for name in PROGRAMS {
        let netlist = program(name).unwrap().netlist().unwrap();
        // The others take long to schedule in a build for tests.
        if netlist.gates().len() > 100_000 {
            continue;
        }
        let ands = netlist.ands() as u64;
        for engines in [1, 2, 4, 8] {
            let engine = Engine {
                engines,
                ..Engine::SIX_XOR
            };
            let least = engine_bound(&netlist, engine);
            let work = Work::new(&netlist, engine);
            let cycles = work.cycles(&work.order(usual_tries(&netlist, 1).min(12)));
            assert!(cycles.garbling >= least.cycles(), "{name}: {cycles:?}");
            assert!(cycles.garbling * 20 <= least.cycles() * 21, "{name}");
            if ands >= 4 * u64::from(engines) * least.path {
                wide += 1;
                assert!(cycles.busy() >= 0.95, "{name}, {engines}: {cycles:?}");
            }
        }
    }
    assert_eq!(wide, 2);
}

#[test]
fn engines_reach_their_figures_on_the_authors_netlists() {
    let names = ["AES_128_11", "MAC_32_1", "CORDIC_32_31"];
    for (name, most) in names.into_iter().zip([1520, 2400, 970]) {
        let Some(netlist) = released(name) else {
            continue;
        };
        let ands = netlist.ands() as u64;
        let cycles = simulate(&netlist, Engine::BANKED).garbling;
        assert!((ands..=most).contains(&cycles), "{name}: {cycles}");
        let ports = simulate(&netlist, Engine::PORTS).garbling;
        assert!(ports >= netlist.gates().len() as u64, "{name}: {ports}");
        let eight = simulate(&netlist, banked(8));
        assert!(eight.busy() > 0.95, "{name}: {}", eight.busy());
    }
}
