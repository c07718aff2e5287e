//! Golden tables: digests of a garbler's output under fixed coins, for every scheme on every tier.

use crate::support::{Session, active, bits, fix_permute_bits};
use sealane_block::{Block, Cpu};
use sealane_circuit::{Builder, Int, Machine, Tape, compile_known};
use sealane_garble::Scheme;
use sealane_testkit::golden;

/// A span of four blocks of the usual width, another block and a narrow one.
const LANES: usize = 165;
const WIDTH: usize = 5;

/// Sums, a product, a comparison and a choice; one input is the garbler's, one the evaluator's.
fn tape(known: &[u8]) -> Tape {
    let mut b = Builder::new();
    let [x, y, z] = [(); 3].map(|()| b.input(WIDTH));
    let product = b.mul(Int::unsigned(&x), Int::unsigned(&y), 2 * WIDTH);
    let less = b.lt(Int::unsigned(&x), Int::unsigned(&z));
    let chosen = b.select(less, &z, &y);
    compile_known(
        &b.finish(vec![product, chosen, vec![less]]),
        &Machine::CPU,
        known,
    )
}

/// A digest of the seed, the tables and the hashes of results of two calls.
fn garbled(scheme: Scheme, cpu: Cpu) -> String {
    let known = [[1; WIDTH], [2; WIDTH], [0; WIDTH]].concat();
    let tape = tape(&known);
    let mut session = Session::new(scheme, [cpu, cpu], 1);
    let mut digest = blake3::Hasher::new();
    digest.update(&session.garbler.seed().to_bytes());
    for _ in 0..2 {
        let mut labels = session.labels(&tape, LANES, false);
        let bits = bits(&mut session.coins, &tape, LANES, false);
        if scheme.labels() == 1 {
            fix_permute_bits(&mut labels, &bits, &known, LANES);
        }
        digest.update(Block::as_bytes(&active(&labels, &bits)));
        let (tables, [zeros, ones]) = session.garble(&tape, LANES, &labels);
        let mut table = vec![[Block::ZERO; 2]; zeros.len()];
        session.garbler.decode_table_of(&zeros, &ones, &mut table);
        digest.update(&tables);
        digest.update(Block::as_bytes(table.as_flattened()));
    }
    format!("{scheme} {}\n", digest.finalize().to_hex())
}

#[test]
fn tables_are_those_of_this_wire_version_on_every_tier() {
    let lines = |cpu| Scheme::ALL.map(|scheme| garbled(scheme, cpu)).concat();
    let mut tiers = Cpu::available().into_iter();
    let first = lines(tiers.next().expect("the portable tier"));
    for cpu in tiers {
        assert_eq!(lines(cpu), first, "{}", cpu.tier());
    }
    golden::is("crates/garble/tests/golden.txt", &first);
}
