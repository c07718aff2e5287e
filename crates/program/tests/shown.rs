//! Warnings about results from which the whole of another party's input follows. What programs in
//! Python are warned of is in `python/tests/test_reveals.py`.

use crate::common::{input, signature};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::builder::{Builder, Handle, Index, Operand};
use sealane_program::graph::{Binary, Reduction};
use sealane_program::types::{Shape, Type};

const U16: Type = Type::unsigned(16);

/// The inputs that the one result of a program shows the lab whole.
fn shown(make: impl Fn(&mut Builder, Handle, Handle) -> Result<Handle, Diagnostic>) -> Vec<String> {
    let build = || {
        let (mut b, x, _) = signature()?;
        let v = b.input(input("v", 0, U16, Shape::fixed([4]), 0, 9))?;
        let result = make(&mut b, x, v)?;
        let ty = b.value(result).expect("a value").ty;
        b.reveal("result", result.into(), &[1], ty, None)?;
        b.finish()
    };
    let (_, warnings) = build().unwrap_or_else(|error: Diagnostic| panic!("{error}"));
    let reported = warnings
        .iter()
        .filter(|warning| warning.code == Code::RevealsInput);
    reported.map(|warning| warning.message.clone()).collect()
}

#[test]
fn inputs_in_another_order_are_shown_whole() {
    let whole = ["`result` shows lab the whole input `x`"];
    assert_eq!(shown(|b, x, _| b.roll(x, 3, None)), whole);
    assert_eq!(
        shown(|b, x, _| b.binary(Binary::Xor, x.into(), 5.into(), None)),
        whole
    );
    let whole = ["`result` shows lab the whole input `v`"];
    assert_eq!(
        shown(|b, _, v| b.accumulate(Reduction::Sum, v, 0, None, None)),
        whole
    );
    let halves = |b: &mut Builder, _: Handle, v: Handle, from: [i64; 2]| {
        let half = |b: &mut Builder, start| {
            let slice = Index::Slice {
                start: Some(start),
                stop: Some(start + 2),
            };
            b.index(v, &[slice], None)
        };
        let parts = [half(b, from[0])?, half(b, from[1])?];
        b.concatenate(&parts.map(Into::into), 0, None)
    };
    assert_eq!(shown(|b, x, v| halves(b, x, v, [2, 0])), whole);
    assert!(shown(|b, x, v| halves(b, x, v, [2, 1])).is_empty());
    assert!(shown(|b, _, v| b.reduce(Reduction::Sum, v, None, None, None)).is_empty());
}

#[test]
fn squares_and_multiples_in_a_field_show_their_factor() {
    let times = |other: i128| {
        shown(move |b, _, v| b.field_product([v.into(), Operand::Int(other)], 0x13, None))
    };
    let whole = ["`result` shows lab the whole input `v`"];
    assert_eq!(times(7), whole);
    assert!(times(0).is_empty());
    let square = |b: &mut Builder, v: Handle| b.field_product([v.into(), v.into()], 0x13, None);
    assert_eq!(shown(|b, _, v| square(b, v)), whole);
    let other = |b: &mut Builder, v: Handle| {
        let square = square(b, v)?;
        b.field_product([v.into(), square.into()], 0x13, None)
    };
    assert!(shown(|b, _, v| other(b, v)).is_empty());
}
