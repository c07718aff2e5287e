//! Better engines on the authors' netlists and on our own sources.

use crate::support::released;
use sealane_accel::engine::{Engine, EngineCycles, simulate};
use sealane_accel::formats::read;
use sealane_accel::functions::function;
use sealane_accel::paper::BENCHMARKS;

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
    let expected = EngineCycles {
        garbling: 15,
        issues: 2,
        bank_conflicts: 0,
        moves: 0,
    };
    assert_eq!(cycles(Engine::ONE_XOR), expected);
    assert_eq!(cycles(Engine::BANKED), expected);
    let all = EngineCycles {
        issues: 5,
        ..expected
    };
    assert_eq!(cycles(Engine::PORTS), all);
    // Two clients: the second AND of the other one comes a cycle later.
    let two = EngineCycles {
        garbling: 16,
        issues: 4,
        ..expected
    };
    assert_eq!(cycles(banked(2)), two);
}

#[test]
fn our_sources_keep_the_pipeline_of_and_busy() {
    // Three units take its XORs, of which it has more than three for each AND, in no fewer cycles.
    let aes = function("AES_128_11").unwrap().netlist().unwrap();
    let cycles = simulate(&aes, Engine::BANKED).garbling;
    let least = aes.xors().div_ceil(3) as u64;
    assert!(
        least > 640 && (least..=930).contains(&cycles),
        "AES: {cycles} cycles"
    );
    // Our sources have up to five XORs for each AND.
    let wide = |clients| Engine {
        xor_units: 6,
        banks: 16,
        clients,
    };
    let cycles = simulate(&aes, wide(1)).garbling;
    assert!(
        (640..=800).contains(&cycles),
        "AES: {cycles} cycles with six units"
    );
    for benchmark in BENCHMARKS {
        let netlist = function(benchmark.name).unwrap().netlist().unwrap();
        let ands = netlist.gates().len() - netlist.xors();
        // The largest take long to schedule for many clients.
        if (100..1000).contains(&ands) {
            let busy = simulate(&netlist, wide(8)).busy();
            assert!((0.8..=1.0).contains(&busy), "{}: {busy}", benchmark.name);
        }
    }
}

#[test]
fn engines_reach_their_figures_on_the_authors_netlists() {
    for (name, most) in [
        ("AES_128_11", 1520),
        ("MAC_32_1", 2400),
        ("CORDIC_32_31", 970),
    ] {
        let Some(netlist) = released(name) else {
            continue;
        };
        let ands = (netlist.gates().len() - netlist.xors()) as u64;
        let cycles = simulate(&netlist, Engine::BANKED).garbling;
        assert!((ands..=most).contains(&cycles), "{name}: {cycles}");
        let ports = simulate(&netlist, Engine::PORTS).garbling;
        assert!(ports >= netlist.gates().len() as u64, "{name}: {ports}");
        let eight = simulate(&netlist, banked(8));
        assert!(eight.busy() > 0.95, "{name}: {}", eight.busy());
    }
}
