//! All arguments of f32, and the exact worst error. `SEALANE_FUNCTIONS=exp,log` names functions,
//! which are all of them otherwise, and `SEALANE_FORMS=flat` a form in place of the small one.

use crate::common::{asked, each_block, forms_asked};
use crate::elementary::error::{error, operand};
use crate::elementary::single::{Case, EXACT};
use sealane_numeric::measure::Runner;
use sealane_numeric::{Format, function};
use std::sync::Mutex;

/// Functions whose f64 is off by a few units in the last place of that.
const ALSO: &[Case] = &[
    ("erf", libm::erf, 1.0),
    ("erfc", libm::erfc, 1.0),
    ("tgamma", libm::tgamma, 1.0),
    ("lgamma", libm::lgamma, 1.0),
    ("sqrt", f64::sqrt, 0.5),
    ("floor", f64::floor, 0.0),
    ("ceil", f64::ceil, 0.0),
    ("trunc", f64::trunc, 0.0),
    ("round", f64::round, 0.0),
    ("rint", f64::round_ties_even, 0.0),
    ("fabs", f64::abs, 0.0),
];

#[test]
#[ignore = "takes minutes for each function: all 2^32 arguments"]
fn all_arguments_of_f32() {
    for &(name, exact, bound) in EXACT.iter().chain(ALSO).filter(|case| asked(case.0)) {
        let function = function(name).unwrap_or_else(|| panic!("no function {name}"));
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
            eprintln!(
                "{name}, {form}: {ran} results, worst error {off:.6} at {at:#010x}, \
                 {count} not nearest"
            );
            assert!(off <= bound, "{name}, {form}: {off} at {at:#x}");
        }
    }
}
