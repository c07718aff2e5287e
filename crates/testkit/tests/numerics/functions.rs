//! Tests of the norm on functions of fixed point.

use super::*;
use sealane_program::text::{parse, print};

/// Type and range of a function's result, of an operand of `fixed8.8` in a range.
fn of_function(
    name: &str,
    (lo, hi): (i128, i128),
    to: Option<Type>,
    saturate: bool,
) -> Result<(Type, Range), Code> {
    let mut b = Builder::new("norm").expect("a name");
    let owner = b.party("alice").expect("a party");
    let input = declared("x", owner, f(8, 8), Shape::scalar(), Range { lo, hi });
    let x = b.input(input).expect("an input");
    let made = b.function(name, x, to, saturate, None);
    let made = made.map_err(|refused| refused.code)?;
    let value = b.value(made).expect("a value");
    let (ty, range) = (value.ty, value.range);
    let revealed = b.reveal("result", made.into(), &[owner], ty, None);
    revealed.expect("a result");
    // The text form has the type, and so the same program.
    let (program, _) = b.finish().expect("a program");
    let text = print(&program);
    let read = parse(&text, "norm").expect("the same program");
    assert_eq!(print(&read), text);
    Ok((ty, range))
}

#[test]
fn n65_functions_of_fixed_point_fit_their_type() {
    let unit = 1 << 8;
    let (same, wide) = (f(8, 8), f(9, 2));
    let fits = |ty, lo, hi| Ok((ty, Range { lo, hi }));
    let overflow = Err(Code::RangeOverflow);
    // e is 695.87 units, and e^5 is 148.4. Zero has no logarithm; that of 2^-8 is -1419.57 units.
    let (five, most) = ((0, 5 * unit), (1 << 15) - 1);
    for (name, of, to, saturate, wanted) in [
        ("exp", (0, unit), None, false, fits(same, unit, 696)),
        ("exp", five, None, false, overflow),
        ("exp", five, Some(wide), false, fits(wide, 4, 594)),
        ("exp", five, None, true, fits(same, unit, most)),
        ("log", (0, unit), None, false, overflow),
        ("log", (0, unit), None, true, fits(same, -1420, 0)),
        ("log", (-unit, 0), None, true, overflow),
    ] {
        let found = of_function(name, of, to, saturate);
        assert_eq!(found, wanted, "{name} {of:?} {to:?} {saturate}");
    }
    for (name, to) in [("exp", Some(i(16))), ("lgamma", None)] {
        let found = of_function(name, (0, unit), to, false);
        assert_eq!(found, Err(Code::TypeMismatch), "{name}");
    }
}
