//! Inputs of programs, for tests that read them from tables.

use sealane_program::graph::Input;
use sealane_program::types::{Range, RowId, Shape, Type};

/// A number for each row of the first table.
pub const NUMBERS: Shape = Shape {
    rows: Some(RowId(0)),
    fixed: vec![],
};

/// An input of the first party, of this name and range.
pub fn input(name: &str, ty: Type, shape: Shape, range: (i128, i128), columns: &[&str]) -> Input {
    Input {
        range: Range {
            lo: range.0,
            hi: range.1,
        },
        columns: columns.iter().map(|name| name.to_string()).collect(),
        ..Input::new(name, 0, ty, shape)
    }
}

/// Ages, 0 to 120, a number for each row.
pub fn age() -> Input {
    input("age", Type::U8, NUMBERS, (0, 120), &[])
}
