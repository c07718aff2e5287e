//! Functions against references, in all variants.

use crate::common::{GOALS, both, runner};
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format, Subnormals, ValueKind};

/// Both goals and both ways of subnormal numbers.
pub fn variants(format: Format) -> impl Iterator<Item = (Goal, Arithmetic)> {
    let all = move |goal| both(format).map(|arithmetic| (goal, arithmetic));
    GOALS.into_iter().flat_map(all)
}

/// Runs a function of the list on all rows and compares with `expected`, in all variants. Operands
/// and expected results of [`Subnormals::Flushed`] are flushed here.
pub fn check(
    name: &str,
    format: Format,
    rows: &[Vec<u128>],
    expected: impl Fn(&[u128]) -> Vec<u128>,
) {
    let kept = Arithmetic::new(format);
    check_variant(name, kept, rows, &expected);
    check_variant(name, kept.flushed(), rows, &expected);
}

/// [`check`] for one way of subnormal numbers.
pub fn check_variant(
    name: &str,
    arithmetic: Arithmetic,
    rows: &[Vec<u128>],
    expected: impl Fn(&[u128]) -> Vec<u128>,
) {
    let function = sealane_numeric::function(name).expect("a function on the list");
    let flushed = |kinds: &[ValueKind], values: &[u128]| -> Vec<u128> {
        let flush = |(&value, kind): (&u128, &ValueKind)| match (kind, arithmetic.subnormals) {
            (ValueKind::Float, Subnormals::Flushed) => {
                crate::values::flush(arithmetic.format, value)
            }
            _ => value,
        };
        values.iter().zip(kinds).map(flush).collect()
    };
    for goal in GOALS {
        let runner = runner(name, arithmetic, goal);
        for (row, found) in rows.iter().zip(runner.run(rows)) {
            let want = expected(&flushed(function.operands, row));
            let want = flushed(function.results, &want);
            assert_eq!(
                found, want,
                "{name} of {row:x?} in {arithmetic:?}, {goal:?}: {found:x?}, not {want:x?}",
            );
        }
    }
}
