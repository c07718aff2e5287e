//! All arguments of f32, and the exact worst error. `SEALANE_FUNCTIONS=exp,log` names functions,
//! which are all of them otherwise.

use crate::elementary::error::{error, operand};
use crate::elementary::lanes::Runner;
use crate::elementary::single::EXACT;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Arguments that a thread takes at a time.
const BLOCK: u64 = 1 << 22;

#[test]
#[ignore = "takes minutes for each function: all 2^32 arguments"]
fn all_arguments_of_f32() {
    let names = std::env::var("SEALANE_FUNCTIONS").unwrap_or_default();
    for &(name, exact, bound) in EXACT {
        if !names.is_empty() && !names.split(',').any(|wanted| wanted == name) {
            continue;
        }
        let arithmetic = Arithmetic::new(Format::F32);
        let runner = Runner::new(name, arithmetic, Goal::Size);
        let (next, worst) = (AtomicU64::new(0), Mutex::new((0.0, 0, 0u64)));
        let work = || {
            loop {
                let first = next.fetch_add(BLOCK, Ordering::Relaxed);
                if first >= 1 << 32 {
                    return;
                }
                let (mut off, mut at, mut count) = (0.0, 0, 0);
                for start in (first..first + BLOCK).step_by(512) {
                    for (x, found) in (start..).zip(runner.row(start)) {
                        let value = exact(operand(arithmetic, x));
                        // Most results are the nearest number.
                        if u64::from((value as f32).to_bits()) == found && !value.is_nan() {
                            continue;
                        }
                        let this = error(arithmetic, found, value);
                        count += u64::from(this > 0.5);
                        if this > off {
                            (off, at) = (this, x);
                        }
                    }
                }
                let mut worst = worst.lock().unwrap();
                worst.2 += count;
                if off > worst.0 {
                    (worst.0, worst.1) = (off, at);
                }
                if first.is_multiple_of(1 << 28) {
                    eprintln!("{name}: {:.0} %", first as f64 / 2f64.powi(32) * 100.0);
                }
            }
        };
        let threads = std::env::var("SEALANE_THREADS")
            .ok()
            .and_then(|n| n.parse().ok());
        let threads = threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        });
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        let (off, at, count) = *worst.lock().unwrap();
        eprintln!("{name}: worst error {off:.6} at {at:#010x}, {count} not nearest");
        assert!(off <= bound, "{name}: {off} at {at:#x}");
    }
}
