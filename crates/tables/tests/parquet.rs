//! Parquet files that other implementations wrote, compared with the rows that `fixtures/make.py`
//! states, and the errors for columns that do not match.

use crate::common::{NUMBERS, age, input, load, pairs, read_path};
use sealane_program::graph::Input;
use sealane_program::types::{RowId, Shape, Type};
use sealane_tables::TableSource;
use std::path::PathBuf;

const MOST: (i128, i128) = (-(1 << 63), (1 << 63) - 1);

/// 16 bits before the binary point, 8 after it.
const FIXED: Type = Type::fixed(16, 8);

fn fixture(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    folder.join(format!("{name}.parquet"))
}

/// Returns the stored numbers of one input and how many were rounded; or the error, without the
/// folder.
fn read(file: &str, input: Input, bound: u64) -> Result<(Vec<i128>, u64), String> {
    let loaded = read_path(input, &fixture(file), bound)?;
    Ok((loaded.data.numbers().collect(), loaded.rounded))
}

fn column(name: &str, ty: Type) -> Input {
    let range = ty.range();
    input(name, ty, NUMBERS, (range.lo, range.hi), &[])
}

#[track_caller]
fn assert_numbers(file: &str, input: Input, want: &[i128]) {
    let what = format!("{} of {file}", input.name);
    assert_eq!(read(file, input, 5), Ok((want.to_vec(), 0)), "{what}");
}

#[test]
fn whole_numbers_of_every_writer_are_read() {
    for file in ["pyarrow", "polars", "duckdb"] {
        assert_numbers(file, column("i16", Type::I64), &[-32768, 32767, 0, 1, -1]);
        let (low, high) = (-(1 << 31), (1 << 31) - 1);
        assert_numbers(file, column("i32", Type::I64), &[low, high, 0, 1, -1]);
        assert_numbers(file, column("u8", Type::U8), &[0, 255, 1, 2, 3]);
        assert_numbers(file, column("u16", Type::I64), &[0, 65535, 1, 2, 3]);
        assert_numbers(file, column("u32", Type::I64), &[0, (1 << 32) - 1, 1, 2, 3]);
    }
    for file in ["pyarrow", "pandas", "polars", "duckdb"] {
        let u64s = [0, u64::MAX.into(), 1, 2, 3];
        assert_numbers(file, column("i8", Type::I64), &[-128, 127, 0, 1, -1]);
        assert_numbers(file, column("u64", Type::unsigned(64)), &u64s);
        // Floating point is whole here; of pandas they are categories.
        let whole = [4, -7, 1_000_000_000_000_000, 0, 2];
        assert_numbers(file, column("whole", Type::I64), &whole);
    }
}

#[test]
fn every_codec_and_small_groups_of_rows_are_read() {
    let codecs = ["none", "gzip", "zstd", "lz4", "checksums"];
    let codecs = codecs.map(|codec| format!("pyarrow-{codec}"));
    let others = ["pyarrow", "pandas", "polars", "duckdb"].map(str::to_string);
    for file in codecs.iter().chain(&others) {
        assert_numbers(file, column("age", Type::U8), &[41, 7, 120, 0, 41]);
        assert_numbers(file, column("sick", Type::Bool), &[1, 0, 1, 1, 0]);
        let pairs = pairs("pair", Type::I64, MOST, &[]);
        assert_numbers(file, pairs, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
}

#[test]
fn fractions_become_fixed_point_and_rounding_is_counted() {
    // Python: round(Fraction(0.1) * 2**8) is 26, and 0.1 is no multiple of 2**-8.
    for file in ["pyarrow", "pandas", "polars", "duckdb", "pyarrow-zstd"] {
        let read = read(file, column("f64", FIXED), 5);
        assert_eq!(read, Ok((vec![128, -320, 768, 0, 26], 1)), "{file}");
    }
    for file in ["pyarrow", "polars", "duckdb"] {
        let read = read(file, column("price", FIXED), 5);
        assert_eq!(read, Ok((vec![384, -64, 768, 0, 26], 1)), "{file}");
        assert_numbers(file, column("i8", FIXED), &[-32768, 32512, 0, 256, -256]);
    }
}

#[test]
fn one_file_serves_several_inputs() {
    let both = pairs("both", Type::I64, MOST, &["u8", "age"]);
    let path = fixture("polars");
    let inputs = [age(), both, column("sick", Type::Bool)];
    let loaded = load(TableSource::File(&path), &inputs, 5).expect("a table that fits");
    let numbers = |index: usize| loaded[index].data.numbers().collect::<Vec<_>>();
    assert_eq!(numbers(0), [41, 7, 120, 0, 41]);
    assert_eq!(numbers(1), [0, 41, 255, 7, 1, 120, 2, 0, 3, 41]);
    assert_eq!(loaded[1].data.shape, [5, 2]);
    assert_eq!(numbers(2), [1, 0, 1, 1, 0]);
}

#[test]
fn what_does_not_fit_is_reported_with_row_and_column() {
    let null = read("duckdb", column("gap", Type::I64), 5);
    sealane_testkit::page::shows("data-null", &null.unwrap_err());
    let triple = Shape::with_rows(RowId(0), [3]);
    let triple = input("pair", Type::I64, triple, MOST, &[]);
    for (input, bound, text) in [
        (
            column("i16", Type::U8),
            5,
            "error[data-range]: `i16` is -32768 in row 1 of column `i16` of duckdb.parquet, \
             outside 0 to 255\n\
         reason: the program declares this range, and every later range rests on it\n\
         hint: mend the value, or declare a wider type or range in the program",
        ),
        (
            column("f64", Type::I64),
            5,
            "error[data-not-a-number]: 0.5 in row 1 of column `f64` of duckdb.parquet is not a \
             whole number\nreason: the input `f64` is read from it\n\
             hint: scale the column to whole numbers and state the unit in its name, or declare \
             the input as `sl.fixed(...)` or `sl.f32`",
        ),
        (
            column("f32", FIXED),
            5,
            "error[data-range]: `f32` is 10000000000 in row 5 of column `f32` of duckdb.parquet, \
         outside -32768 to 32767.99609375\n\
         reason: the program declares this range, and every later range rests on it\n\
         hint: mend the value, or declare a wider type or range in the program",
        ),
        (
            column("city", Type::I64),
            5,
            "error[data-type]: column `city` of duckdb.parquet holds no numbers: Utf8\n\
             reason: the input `city` is read from it\nhint: declare the input as \
             `sl.text(...)` or `sl.category([...])`, or convert it to numbers",
        ),
        (
            column("day", Type::I64),
            5,
            "error[data-type]: column `day` of duckdb.parquet holds no numbers: Date32\n\
             reason: the input `day` is read from it\nhint: declare the input as `sl.date` or \
             `sl.timestamp`, or convert it to whole numbers",
        ),
        (
            column("Age", Type::U8),
            5,
            "error[data-column-missing]: duckdb.parquet has no column `Age`\n\
         reason: the input `Age` is read from it\n\
         hint: is it `age`? Rename the column or the input",
        ),
        (
            age(),
            4,
            "error[data-rows]: duckdb.parquet has 5 records, too many for `age`\n\
             reason: the program says `people <= 4`\nhint: give at most 4 rows",
        ),
        (
            triple,
            5,
            "error[data-shape]: the list in row 1 of column `pair` of duckdb.parquet has 2 \
             elements, not 3\nreason: the input `pair` is read from it\n\
         hint: give every row as many elements as the program says",
        ),
    ] {
        assert_eq!(read("duckdb", input, bound), Err(text.to_string()));
    }
    let single = read("duckdb", column("pair", Type::I64), 5).expect_err("lists are refused");
    assert!(single.contains("make a column of each element"), "{single}");
}
