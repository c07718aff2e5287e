//! Figures.
use crate::elementary::lanes::Runner;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};
#[test]
#[ignore = "figures"]
fn probe() {
    let names = std::env::var("SEAL_N").unwrap();
    for name in names.split(',') {
        for format in [Format::F64] {
            for goal in [Goal::Size, Goal::Depth] {
                for a in [Arithmetic::new(format), Arithmetic::new(format).flushed()] {
                    let start = std::time::Instant::now();
                    let r = Runner::new(name, a, goal);
                    println!(
                        "{name} {} {goal:?} {:?}: {} ANDs, depth {} {:?}",
                        format.name(),
                        a.subnormals,
                        r.ands,
                        r.depth(),
                        start.elapsed()
                    );
                }
            }
        }
    }
}
