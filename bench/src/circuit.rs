//! Suite `circuit`: sizes of the standard circuits, and the time to compile them to tapes.
//!
//! Sizes are the same on every machine, so their tier is `any`; compiling is portable code too.

use std::hint::black_box;
use std::time::Instant;

use sealane_circuit::{Builder, Circuit, Int, Machine, Word, aes, compile, sha256};

use crate::{Figures, Options, SuiteError};

/// Builds each circuit, compiles it for rows of data, and states its sizes.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    for (case, circuit) in circuits() {
        let (tape, ns) = compiled(&circuit, options);
        let gates = circuit.info().gates as f64;
        let sizes = [
            ("ands", tape.ands.len() as f64, "gates"),
            ("xors", tape.xors.len() as f64, "gates"),
            ("depth", f64::from(tape.depth), "gates"),
            ("batches", tape.batches.len() as f64, "batches"),
            ("slots", f64::from(tape.slots), "slots"),
            ("compile_ns_per_gate", ns / gates, "ns"),
        ];
        figures.add(&case, &sizes);
    }
    Ok(())
}

fn compiled(circuit: &Circuit, options: &Options) -> (sealane_circuit::Tape, f64) {
    let began = Instant::now();
    let mut best = f64::INFINITY;
    loop {
        let started = Instant::now();
        let tape = compile(black_box(circuit), &Machine::CPU);
        best = best.min(started.elapsed().as_nanos() as f64);
        if began.elapsed() >= options.budget {
            return (tape, best);
        }
    }
}

/// A function of two integers whose result has a width of its own.
type Binary = fn(&mut Builder, Int, Int) -> Word;

/// The circuits by name.
fn circuits() -> Vec<(String, Circuit)> {
    let mut all = vec![
        ("aes128".to_string(), aes::circuit()),
        ("sha256/55".to_string(), sha256::circuit(55)),
    ];
    let binary: [(&str, Binary); 5] = [
        ("add", |b, x, y| b.add(x, y, x.bits.len())),
        ("mul", |b, x, y| b.mul(x, y, x.bits.len())),
        ("mul_wide", |b, x, y| b.mul(x, y, 2 * x.bits.len())),
        ("less", |b, x, y| vec![b.lt(x, y)]),
        ("div", |b, x, y| b.div(x, y, x.bits.len())),
    ];
    for width in [8, 16, 32, 64] {
        for (name, function) in &binary {
            let mut b = Builder::new();
            let (x, y) = (b.input(width), b.input(width));
            let result = function(&mut b, Int::unsigned(&x), Int::unsigned(&y));
            all.push((format!("{name}/{width}"), b.finish(vec![result])));
        }
    }
    for rows in [16, 64] {
        let mut b = Builder::new();
        let mut words = (0..rows).map(|_| b.input(32)).collect::<Vec<_>>();
        b.sort(&mut words, 32, false);
        all.push((format!("sort/32/{rows}"), b.finish(words)));
    }
    all
}
