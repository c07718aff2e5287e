use crate::elementary::lanes::Runner;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};
#[test]
#[ignore = "temporary"]
fn dump() {
    for name in ["erf", "erfc", "tgamma"] {
        for format in [Format::F16, Format::BF16] {
            let runner = Runner::new(name, Arithmetic::new(format), Goal::Size);
            let mut text = String::new();
            for first in (0..1 << 16).step_by(512) {
                for (x, found) in (first..).zip(runner.row(first)) {
                    text += &format!("{x:04x} {found:04x}\n");
                }
            }
            std::fs::write(format!("/tmp/dump_{name}_{}", format.name()), text).unwrap();
        }
    }
}
