//! All arguments of f32, and the exact worst error. `SEALANE_FUNCTIONS=exp,log` names functions,
//! which are all of them otherwise.

use crate::common::{asked, each_block};
use crate::elementary::error::{error, operand};
use crate::elementary::lanes::Runner;
use crate::elementary::single::EXACT;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};
use std::sync::Mutex;

#[test]
#[ignore = "takes minutes for each function: all 2^32 arguments"]
fn all_arguments_of_f32() {
    for &(name, exact, bound) in EXACT.iter().filter(|case| asked(case.0)) {
        let arithmetic = Arithmetic::new(Format::F32);
        let runner = Runner::new(name, arithmetic, Goal::Size);
        let worst = Mutex::new((0.0, 0, 0u64));
        each_block(name, |block| {
            let (mut off, mut at, mut count) = (0.0, 0, 0);
            for start in block.step_by(512) {
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
        });
        let (off, at, count) = *worst.lock().unwrap();
        eprintln!("{name}: worst error {off:.6} at {at:#010x}, {count} not nearest");
        assert!(off <= bound, "{name}: {off} at {at:#x}");
    }
}
