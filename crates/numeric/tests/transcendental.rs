//! Trigonometric functions, roots, the error function and gamma: against the machine's library in
//! double precision for f32.

use crate::lanes::{Made, made};
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format};

const F32: Arithmetic = Arithmetic::new(Format::F32);

/// The error of an f32 in units of the last place of the exact value.
pub fn ulps(found: u64, exact: f64) -> f64 {
    let found = f64::from(f32::from_bits(found as u32));
    if exact.is_nan() || (exact as f32).is_infinite() || found.is_nan() || found.is_infinite() {
        let same = found.is_nan() && exact.is_nan() || found == f64::from(exact as f32);
        return if same { 0.0 } else { f64::INFINITY };
    }
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    let place = f64::powi(2.0, exponent.max(-126) - 23);
    ((found - exact) / place).abs()
}

/// The worst error over arguments, with the argument.
fn worst(made: &Made, arguments: &[u64], exact: &dyn Fn(f64) -> f64) -> (f64, u64) {
    let found = made.run(arguments);
    let errors = arguments.iter().zip(found).map(|(&x, found)| {
        (ulps(found, exact(f64::from(f32::from_bits(x as u32)))), x)
    });
    errors.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
}

/// Arguments of every exponent and both signs, with special significands and others.
fn stratified(each: u64) -> Vec<u64> {
    let mut arguments = vec![];
    for top in 0..512u64 {
        let fractions = [0, 1, 2, 3, 0x3f_ffff, 0x40_0000, 0x40_0001, 0x7f_fffe, 0x7f_ffff];
        let mixed = (0..each).map(|i| ((top << 20 | i) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 41);
        arguments.extend(fractions.into_iter().chain(mixed).map(|fraction| top << 23 | fraction));
    }
    arguments
}

#[test]
fn sine_and_cosine() {
    for (name, exact) in [("sin", f64::sin as fn(f64) -> f64), ("cos", f64::cos)] {
        let made = made(name, F32, Goal::Size);
        let worst = worst(&made, &stratified(200), &exact);
        println!("{name}: {:?} {worst:?} {:x}", made.info, worst.1);
        assert!(worst.0 < 0.6, "{name}: {worst:?}");
    }
}
