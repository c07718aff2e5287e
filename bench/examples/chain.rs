#![allow(missing_docs)]
use sealane_block::{Coins, Cpu};
use sealane_circuit::tape::{Batch, Gate, Tape};
use sealane_garble::*;
fn main() {
    let cpu = Cpu::detect().unwrap();
    let n = 20000u32;
    let ands: Vec<Gate> = (0..n)
        .map(|i| Gate {
            a: 2,
            b: 3 + (i % 2),
            out: 3 + ((i + 1) % 2),
            number: i,
        })
        .collect();
    let tape = Tape {
        inputs: 2,
        slots: 5,
        xors: vec![],
        lone: vec![],
        knowers: vec![0; n as usize],
        batches: (0..n)
            .map(|i| Batch {
                xors: 0..0,
                ands: i..i + 1,
            })
            .collect(),
        ands,
        outputs: vec![3],
        depth: n,
    };
    for scheme in Scheme::ALL {
        let mut coins = Coins::danger_fixed_seed(cpu, 1);
        let mut g = Garbler::new(cpu, scheme, &mut coins);
        let mut e = Evaluator::new(cpu, scheme, g.seed());
        let mut l = Labels::new(&tape, 1, scheme.labels());
        l.inputs = g.fresh_labels(&mut coins, 2);
        let mut best = [f64::MAX; 2];
        for _ in 0..20 {
            let t = std::time::Instant::now();
            let mut w = ChunkWriter::new(|_: &[u8]| Ok::<(), ()>(()));
            g.garble(&tape, 1, &mut l, &mut w).unwrap();
            best[0] = best[0].min(t.elapsed().as_secs_f64());
            let mut a = Labels::new(&tape, 1, 1);
            a.inputs = l.inputs[..2].to_vec().into();
            let t = std::time::Instant::now();
            let mut r = ChunkReader::new(
                scheme.table_bytes(&tape, 1, Roles::default()),
                |_: &mut [u8]| Ok::<(), ()>(()),
            );
            e.evaluate(&tape, 1, &mut a, &mut r).unwrap();
            best[1] = best[1].min(t.elapsed().as_secs_f64());
        }
        println!(
            "{scheme:13} garble {:.1} ns  evaluate {:.1} ns",
            best[0] * 1e9 / n as f64,
            best[1] * 1e9 / n as f64
        );
    }
}
