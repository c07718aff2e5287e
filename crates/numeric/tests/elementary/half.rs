//! Functions of one f16 or bf16, on all arguments: correctly rounded.

use crate::elementary::error::{operand, rounded};
use crate::elementary::lanes::Runner;
use crate::elementary::single::EXACT;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};

#[test]
fn numbers_of_16_bits_are_correctly_rounded() {
    let mut wrong = vec![];
    let also = [
        ("erf", libm::erf as fn(f64) -> f64),
        ("erfc", libm::erfc),
        ("tgamma", libm::tgamma),
    ];
    let listed = EXACT.iter().map(|&(name, exact, _)| (name, exact));
    for (name, exact) in listed.chain(also) {
        for (format, goal) in [
            (Format::F16, Goal::Size),
            (Format::F16, Goal::Depth),
            (Format::BF16, Goal::Size),
            (Format::BF16, Goal::Depth),
        ] {
            for arithmetic in [Arithmetic::new(format), Arithmetic::new(format).flushed()] {
                let runner = Runner::new(name, arithmetic, goal);
                let mut off = vec![];
                for first in (0..1 << 16).step_by(512) {
                    for (x, found) in (first..).zip(runner.row(first)) {
                        let expected = rounded(arithmetic, exact(operand(arithmetic, x)));
                        if found != expected {
                            off.push(format!("{x:#x}: {found:#x}, not {expected:#x}"));
                        }
                    }
                }
                let line = format!(
                    "{name} {} {goal:?} {:?}: {} ANDs, depth {}",
                    format.name(),
                    arithmetic.subnormals,
                    runner.ands,
                    runner.depth()
                );
                println!("{line}: {} off", off.len());
                if let Some(first) = off.first() {
                    wrong.push(format!("{line}: {first} and {} more", off.len() - 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
