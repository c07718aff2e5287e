//! Which values are made row by row. `python/tests/test_protect.py` has programs of users.

use sealane_program::graph::ValueId;
use sealane_program::{by_row, text};

/// The values of a program, given by their lines, that are made row by row.
fn rowwise(lines: &[&str]) -> Vec<bool> {
    let head = "sealane program 1\nname p\nparty a\nparty b\nrows n <= 9\nrows m <= 9\n";
    let sums = "rows n_and_m = n + m\nrows n_and_n = n + n\n";
    let inputs = "input x : a u8[n] in 0..255\ninput w : a u8[n,2] in 0..255\n\
                  input y : b u8[m] in 0..255\ninput r : b u8 in 0..255\n\
                  input f : b u8[3] in 0..255\n";
    let params = ["u8[n]", "u8[n,2]", "u8[m]", "u8", "u8[3]"];
    let owners = ["a", "a", "b", "b", "b"];
    let params = params.iter().zip(owners).enumerate();
    let params = params
        .map(|(at, (ty, owner))| format!("  %{at} = param {at} : {ty} in 0..255 known {owner}\n"));
    let main = params.chain(lines.iter().map(|line| format!("  {line}\n")));
    let main = main.collect::<String>();
    let text = format!("{head}{sums}{inputs}main {{\n{main}}}\nreveal out = %3 : u8 to b\n");
    let program = text::parse(&text, "p").unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let ids = 5..program.main.values.len() as u32;
    let of = |id| by_row(&program.rows, &program.main.values, ValueId(id));
    ids.map(|id| of(id).is_some()).collect()
}

#[test]
fn elements_of_rows_are_row_by_row_and_mixtures_are_not() {
    let found = rowwise(&[
        "%5 = min %0, %3 : u8[n] in 0..255 secret",
        "%6 = reduce max %1 axis 1 : u8[n] in 0..255 known a",
        "%7 = slice %1 axis 1 from 0 take 1 squeeze : u8[n] in 0..255 known a",
        "%8 = reduce max %0 axis 0 : u8 in 0..255 known a",
        "%9 = min %0, %8 : u8[n] in 0..255 known a",
        "%10 = roll %0 by 1 : u8[n] in 0..255 known a",
        "%11 = accumulate max %1 axis 1 : u8[n,2] in 0..255 known a",
        "%12 = accumulate max %0 axis 0 : u8[n] in 0..255 known a",
    ]);
    assert_eq!(found, [true, true, true, false, false, false, true, false]);
}
