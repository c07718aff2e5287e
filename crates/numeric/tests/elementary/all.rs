//! All arguments of f32, and the exact worst error. `SEALANE_FUNCTIONS=exp,log` names functions,
//! which are all of them otherwise, and `SEALANE_FORMS=flat` a form in place of the small one.

use crate::common::{asked, each_block, forms_asked};
use crate::elementary::error::{error, operand};
use crate::elementary::single::EXACT;
use sealane_numeric::measure::Runner;
use sealane_numeric::{Error, Format, Function, function};
use std::sync::Mutex;

/// A function and its reference.
type Listed = (&'static str, fn(f64) -> f64);

/// Functions beside those of [`EXACT`], by a reference that is exact or off by a few units of f64.
/// The bound is the promise of the list of functions.
const ALSO: &[Listed] = &[
    ("erf", libm::erf),
    ("erfc", libm::erfc),
    ("tgamma", libm::tgamma),
    ("lgamma", libm::lgamma),
    ("sqrt", f64::sqrt),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("trunc", f64::trunc),
    ("round", f64::round),
    ("rint", f64::round_ties_even),
];

/// The error that a function may have in f32.
fn promised(function: &Function) -> f64 {
    match function.error {
        Error::Rounded => 0.5,
        Error::Ulp { single, .. } | Error::Near { single, .. } => single,
    }
}

#[test]
#[ignore = "takes minutes for each function: all 2^32 arguments"]
fn all_arguments_of_f32() {
    let listed = EXACT.iter().map(|&(name, exact, _)| (name, exact));
    for (name, exact) in listed.chain(ALSO.iter().copied()).filter(|of| asked(of.0)) {
        let function = function(name).unwrap_or_else(|| panic!("no function {name}"));
        let bound = promised(function);
        for form in forms_asked("small") {
            let arithmetic = form.of(Format::F32);
            let runner = Runner::new(function, arithmetic, form.goal);
            let worst = Mutex::new((0.0, 0, 0u64));
            let ran = each_block(name, || {
                let mut scan = runner.scan();
                let worst = &worst;
                move |block| {
                    let (mut off, mut at, mut count) = (0.0, 0, 0);
                    scan.block(block, |first, results| {
                        for (x, &found) in (first..).zip(results) {
                            let value = exact(operand(arithmetic, x));
                            // Most results are the nearest number.
                            if (value as f32).to_bits() == found && !value.is_nan() {
                                continue;
                            }
                            let this = error(arithmetic, found.into(), value);
                            count += u64::from(this > 0.5);
                            if this > off {
                                (off, at) = (this, x);
                            }
                        }
                    });
                    let mut worst = worst.lock().unwrap();
                    worst.2 += count;
                    if off > worst.0 {
                        (worst.0, worst.1) = (off, at);
                    }
                }
            });
            let (off, at, count) = *worst.lock().unwrap();
            let form = form.name;
            let worst = format!("worst error {off:.6} at {at:#010x}");
            eprintln!("{name}, {form}: {ran} results, {worst}, {count} not nearest");
            assert!(off <= bound, "{name}, {form}: {off} at {at:#x}");
        }
    }
}
