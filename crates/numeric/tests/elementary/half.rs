//! Functions of one f16 or bf16, on all arguments: correctly rounded.

use crate::elementary::error::{operand, rounded};
use crate::elementary::lanes::Runner;
use crate::elementary::single::EXACT;
use sealane_numeric::Format;

#[test]
fn numbers_of_16_bits_are_correctly_rounded() {
    let mut wrong = vec![];
    type Exact = fn(f64) -> f64;
    let also: [(_, Exact); 3] = [
        ("erf", libm::erf),
        ("erfc", libm::erfc),
        ("tgamma", libm::tgamma),
    ];
    let listed = EXACT.iter().map(|&(name, exact, _)| (name, exact));
    for (name, exact) in listed.chain(also) {
        let forms = [Format::F16, Format::BF16].map(|format| Runner::all(name, format));
        for runner in forms.into_iter().flatten() {
            let mut off = vec![];
            for first in (0..1 << 16).step_by(512) {
                for (x, found) in (first..).zip(runner.runner.row(first)) {
                    let expected = rounded(runner.of, exact(operand(runner.of, x)));
                    if found != expected {
                        off.push(format!("{x:#x}: {found:#x}, not {expected:#x}"));
                    }
                }
            }
            let (what, count) = (&runner.what, off.len());
            println!("{what}: {count} off");
            if let Some(first) = off.first() {
                wrong.push(format!("{what}: {first} and {} more", count - 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
