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
#[test]
#[ignore = "figures"]
fn probe2() {
    let a = Arithmetic::new(Format::F32);
    let r = Runner::new("tanh", a, Goal::Size);
    for x in [
        0xbcffffffu32,
        0xbcfffffe,
        0xbd000000,
        0xbcf00000,
        0x3cffffffu32,
        0x3cfffff0,
        0x3cfff000,
        0x3cff0000,
        0x3cf00000,
        0x3ce00000,
        0x3d7fffff,
        0x3c7fffff,
        0x3dffffff,
        0x3effffff,
        0x3f7fffff,
        0x3f000000,
        0x40000000,
    ] {
        let y = f32::from_bits(r.run(&[vec![x.into()]])[0] as u32);
        println!(
            "{x:x} {} {} {}",
            f32::from_bits(x),
            y,
            f32::from_bits(x).tanh()
        );
    }
}
