//! A signature: a hospital's rows, a lab's weights.

use sealane_diagnostic::{Diagnostic, Span};
use sealane_program::builder::{Builder, Handle};
use sealane_program::graph::Input;
use sealane_program::types::{Range, Shape, Type};

/// Span in a source file that does not exist.
pub fn at(line: u32, column: u32, end_column: u32) -> Option<Span> {
    Some(Span::new("risk.py".into(), line, column, end_column))
}

/// An input on line 3.
pub fn input(name: &str, owner: u8, ty: Type, shape: Shape, lo: i128, hi: i128) -> Input {
    Input {
        range: Range { lo, hi },
        span: at(3, 1, 9),
        ..Input::new(name, owner, ty, shape)
    }
}

/// A builder with a hospital, a lab, rows `patients`, a table `x` and weights `w`.
pub fn signature() -> Result<(Builder, Handle, Handle), Diagnostic> {
    let mut b = Builder::new("risk")?;
    let (hospital, lab) = (b.party("hospital")?, b.party("lab")?);
    let patients = b.rows("patients", 1000)?;
    let shape = Shape::with_rows(patients, [2]);
    let mut table = input("x", hospital, Type::unsigned(16), shape, 0, 5000);
    table.columns = vec!["mean radius".into(), "a \"quoted\" \\ column".into()];
    let x = b.input(table)?;
    let w = b.input(input(
        "w",
        lab,
        Type::signed(16),
        Shape::fixed([2]),
        -100,
        100,
    ))?;
    Ok((b, x, w))
}
