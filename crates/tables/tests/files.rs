//! Complete error texts of the readers of CSV and `.npy`, for data that do not match. The folder of
//! a file is left out of the texts.

use crate::common::{NUMBERS, age, input, load, pairs, read};
use sealane_program::graph::Input;
use sealane_program::types::{Shape, Type};
use sealane_tables::{InputSpec, Number, TableSource, array};

fn csv(input: Input, content: &str) -> Result<Vec<i128>, String> {
    read(input, "people.csv", content.as_bytes()).map(|data| data.numbers().collect())
}

#[track_caller]
fn assert_refused(result: Result<Vec<i128>, String>, text: &str) {
    assert_eq!(result.expect_err("it has to be refused"), text);
}

#[test]
fn columns_are_found_by_name_whatever_stands_around_them() {
    let table = "name, age ,city\r\n\"Ng, A\",41,Bern\r\n\r\n\"O\"\"B\",\"7\",\"Rome\nItaly\"\r\nC, 120 ,\r\n";
    assert_eq!(csv(age(), table), Ok(vec![41, 7, 120]));
    let marked = table.replace("name", "age2").replace("age ", "age");
    let marked = format!("\u{feff}{marked}");
    assert_eq!(csv(age(), &marked), Ok(vec![41, 7, 120]));
    let first = "\u{feff}age\n3\n";
    assert_eq!(csv(age(), first), Ok(vec![3]));
}

#[test]
fn shapes_are_filled_row_by_row() {
    let pairs = |columns: &[&str]| pairs("pair", Type::signed(9), (-200, 200), columns);
    let named = csv(pairs(&["b", "a"]), "a,x,b\n1,2,3\n-4,5,-6\n");
    assert_eq!(named, Ok(vec![3, 1, -6, -4]));
    assert_eq!(csv(pairs(&[]), "a,b\n1,2\n3,4\n"), Ok(vec![1, 2, 3, 4]));
    let weights = input("w", Type::U8, Shape::fixed([3]), (0, 9), &[]);
    assert_eq!(csv(weights, "w\n1\n2\n3\n"), Ok(vec![1, 2, 3]));
    let row = input("w", Type::U8, Shape::fixed([2]), (0, 9), &["a", "b"]);
    assert_eq!(csv(row, "b,a\n1,2\n"), Ok(vec![2, 1]));
    let flags = csv(sick(), "sick\ntrue\nFalse\n1\n0\n");
    assert_eq!(flags, Ok(vec![1, 0, 1, 0]));
}

fn sick() -> Input {
    input("sick", Type::Bool, NUMBERS, (0, 1), &[])
}

#[test]
fn a_missing_column_is_reported_with_the_header() {
    assert_refused(
        csv(age(), "name,Age,city\nA,41,Bern\n"),
        "error[data-column-missing]: people.csv has no column `age`\n \
         --> people.csv:1:1\n  |\n1 | name,Age,city\n  | ^^^^^^^^^^^^^\n\
         reason: the input `age` is read from it\n\
         hint: is it `Age`? Rename the column or the input",
    );
    assert_refused(
        csv(age(), "\u{feff}name\nA\n"),
        "error[data-column-missing]: people.csv has no column `age`\n \
         --> people.csv:1:1\n  |\n1 | name\n  | ^^^^\n\
         reason: the input `age` is read from it\n\
         hint: add the column, or give another file with `--input`",
    );
    assert_refused(
        csv(age(), "name;age\nA;41\n"),
        "error[data-column-missing]: people.csv has no column `age`\n \
         --> people.csv:1:1\n  |\n1 | name;age\n  | ^^^^^^^^\n\
         reason: the input `age` is read from it\n\
         hint: separate columns by commas, in pandas: `pd.read_csv(FILE, sep=\";\", \
         decimal=\",\").to_csv(\"commas.csv\", index=False)`",
    );
    assert_refused(
        csv(age(), ""),
        "error[data-column-missing]: people.csv has no column `age`\n \
         --> people.csv:1:1\n\
         reason: the input `age` is read from it\n\
         hint: the file is empty; its first line has to name the columns",
    );
    assert_refused(
        csv(age(), "age,name,age\n1,A,2\n"),
        "error[data-column-twice]: people.csv has two columns `age`\n \
         --> people.csv:1:1\n  |\n1 | age,name,age\n  | ^^^^^^^^^^^^\n\
         reason: the input `age` is read from one of them\n\
         hint: rename or drop one of the columns",
    );
    assert_refused(
        csv(pairs("pair", Type::U8, (0, 9), &[]), "a,b,c\n1,2,3\n"),
        "error[data-columns]: `pair` wants 2 columns\n \
         --> people.csv:1:1\n  |\n1 | a,b,c\n  | ^^^^^\n\
         reason: people.csv has 3\n\
         hint: name the columns in the signature: a list of names as a dimension",
    );
}

#[test]
fn a_value_that_is_no_number_is_reported_with_its_cell() {
    assert_refused(
        csv(age(), "name,age\nA,41\n\"Ng, A\",old\n"),
        "error[data-not-a-number]: `old` in column `age` is not a whole number\n \
         --> people.csv:3:9\n  |\n3 | \"Ng, A\",old\n  |         ^^^\n\
         reason: the input `age` is read from it\n\
         hint: write digits alone, without units or separators",
    );
    assert_refused(
        csv(age(), "name,age\r\n\"A\nB\",4.5\r\n"),
        "error[data-not-a-number]: `4.5` in column `age` is not a whole number\n \
         --> people.csv:3:4\n  |\n3 | B\",4.5\n  |    ^^^\n\
         reason: the input `age` is read from it\n\
         hint: scale the column to whole numbers and state the unit in its name, or declare the input as `sl.fixed(...)` or `sl.f32`",
    );
    assert_refused(
        csv(age(), "age,name\n,A\n"),
        "error[data-null]: there is no value for `age` in column `age`\n \
         --> people.csv:2:1\n  |\n2 | ,A\n  | ^\n\
         reason: a secret cannot be missing: every row takes part\n\
         hint: fill the value in, or declare `sl.nullable(...)`, or drop the row in the tables of \
         all parties",
    );
    assert_refused(
        csv(sick(), "sick\nyes\n"),
        "error[data-not-a-number]: `yes` in column `sick` is not a truth value (0, 1, true or \
         false)\n --> people.csv:2:1\n  |\n2 | yes\n  | ^^^\n\
         reason: the input `sick` is read from it\n\
         hint: write 0 or 1",
    );
    assert_refused(
        csv(age(), "age\nNaN\n"),
        "error[data-not-a-number]: `NaN` in column `age` is not a whole number\n \
         --> people.csv:2:1\n  |\n2 | NaN\n  | ^^^\n\
         reason: the input `age` is read from it\n\
         hint: fill the value in, or declare `sl.nullable(...)`, or drop the row in the tables of \
         all parties",
    );
    let comma = csv(age(), "age\n\"3,5\"\n").expect_err("a decimal comma");
    assert!(comma.contains("decimal=\",\""), "{comma}");
}

#[test]
fn a_number_of_too_many_digits_is_not_taken_for_a_gap() {
    let refused = csv(age(), &format!("age\n{}\n", "1".repeat(5_000))).unwrap_err();
    let hint = "hint: write a number of fewer digits";
    assert!(refused.ends_with(hint), "{refused}");
}

/// Headers as pandas, NumPy and spreadsheets write them.
#[test]
fn whole_numbers_with_a_point_are_whole() {
    let whole = "x\n52000.0\n-7.\n5.200000000000000000e+04\n9007199254740993\n";
    let numbers = vec![52_000, -7, 52_000, 9_007_199_254_740_993];
    assert_eq!(csv(wide(), whole), Ok(numbers));
    assert_eq!(csv(sick(), "sick\n1.0\n0.0\n"), Ok(vec![1, 0]));
    assert_refused(
        csv(wide(), "y,x\n1,9007199254740992.0\n"),
        "error[data-inexact]: `9007199254740992.0` in column `x` may be another whole number that \
         was rounded\n \
         --> people.csv:2:3\n  |\n2 | 1,9007199254740992.0\n  |   ^^^^^^^^^^^^^^^^^^\n\
         reason: floating point has no number of its own for every whole number of this size\n\
         hint: give integers: an array or column of an integer type, or text without a point",
    );
    assert_refused(
        csv(wide(), "x\n1.23457E+11\n"),
        "error[data-inexact]: `1.23457E+11` in column `x` may be another whole number that was \
         rounded\n \
         --> people.csv:2:1\n  |\n2 | 1.23457E+11\n  | ^^^^^^^^^^^\n\
         reason: its exponent stands for digits that are not written\n\
         hint: write all digits of the number, as a spreadsheet does for the cell format `0`",
    );
    // Outside the range, the number is refused, rounded or not.
    let text = csv(age(), "age\n9007199254740992.0\n").expect_err("outside");
    let start = "error[data-range]: `age` is 9007199254740992.0";
    assert!(text.starts_with(start), "{text}");
}

fn wide() -> Input {
    input("x", Type::I64, NUMBERS, (-1 << 63, (1 << 63) - 1), &[])
}

#[test]
fn columns_that_are_taken_by_their_order_are_named() {
    let pairs = |columns: &[&str]| pairs("pair", Type::U8, (0, 9), columns);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("people.csv");
    std::fs::write(&path, "id,b\n1,2\n").expect("a file");
    let names = |input: Input| {
        let loaded = load(TableSource::File(&path), &[input], 4).expect("numbers");
        loaded[0].by_position.clone()
    };
    assert_eq!(names(pairs(&[])), ["id", "b"]);
    assert!(names(pairs(&["b", "id"])).is_empty());
    assert!(names(input("b", Type::U8, NUMBERS, (0, 9), &[])).is_empty());
}

#[test]
fn a_value_out_of_range_is_reported_with_its_cell_and_the_range() {
    let reason = "reason: the program declares this range, and every later range rests on it\n\
                  hint: mend the value, or declare a wider type or range in the program";
    assert_refused(
        csv(age(), "name,age\nA,41\n\nB, 121\n"),
        &format!(
            "error[data-range]: `age` is 121 in column `age`, outside 0 to 120\n \
             --> people.csv:4:3\n  |\n4 | B, 121\n  |   ^^^^\n{reason}"
        ),
    );
    let huge = "9".repeat(60);
    assert_refused(
        csv(age(), &format!("age\n-{huge}\n")),
        &format!(
            "error[data-range]: `age` is -{huge} in column `age`, outside 0 to 120\n \
             --> people.csv:2:1\n  |\n2 | -{huge}\n  | {}\n{reason}",
            "^".repeat(61)
        ),
    );
}

#[test]
fn a_table_that_is_no_table_is_reported_with_the_line() {
    assert_refused(
        csv(age(), "age,name\n1,A\n2\n"),
        "error[data-malformed]: people.csv is not a well-formed CSV table\n \
         --> people.csv:3:1\n  |\n3 | 2\n  | ^\n\
         reason: it has 1 fields where the header has 2\n\
         hint: every line has as many fields as the header; a cell with a comma in it, such as \
         `3,5`, is in quotes",
    );
    assert_refused(
        csv(age(), "age\n1\n\n2\n"),
        "error[data-malformed]: people.csv has a blank line\n \
         --> people.csv:3:1\n  |\n3 |\n  | ^\n\
         reason: it could be a row whose value is missing\n\
         hint: fill the row in, or write `\"\"` for a missing value; drop the line if it is no row",
    );
    assert_refused(
        read(age(), "people.csv", b"age\n\xff\n").map(|_| vec![]),
        "error[data-unreadable]: cannot read people.csv\n\
         reason: line 2 is not text in UTF-8\n\
         hint: save the table as CSV in UTF-8; an array has to be a `.npy` file",
    );
    let weights = input("w", Type::U8, Shape::fixed([3]), (0, 9), &[]);
    assert_refused(
        csv(weights, "w\n1\n2\n"),
        "error[data-rows]: people.csv has 2 records where `w` wants 3\n \
         --> people.csv:3:1\n  |\n3 | 2\n  | ^\n\
         reason: the program fixes this dimension\n\
         hint: give exactly that many rows",
    );
}

/// A `.npy` file of format 1.0.
fn npy(dtype: &str, fortran: bool, shape: &str, elements: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header =
        format!("{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    [
        b"\x93NUMPY\x01\x00",
        &length[..],
        header.as_bytes(),
        elements,
    ]
    .concat()
}

#[test]
fn arrays_of_every_integer_type_are_read() {
    let [little, big] = [[1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]];
    for (dtype, bytes, want) in [
        ("|b1", vec![1, 0], vec![1, 0]),
        ("|i1", vec![1, 0xff], vec![1, -1]),
        ("|u1", vec![1, 0xff], vec![1, 255]),
        ("<i2", vec![1, 0, 0xff, 0xff], vec![1, -1]),
        (">u2", vec![0, 1, 1, 0], vec![1, 256]),
        ("<i4", vec![1, 0, 0, 0, 0, 0, 0, 0x80], vec![1, -1 << 31]),
        ("<i8", [little, [0xff; 8]].concat(), vec![1, -1]),
        (">i8", [big, [0xff; 8]].concat(), vec![1, -1]),
    ] {
        let data = read(wide(), "x.npy", &npy(dtype, false, "(2,)", &bytes)).unwrap();
        assert_eq!(data.numbers().collect::<Vec<_>>(), want, "{dtype}");
        assert_eq!(data.shape, [2]);
    }
    let large = input("x", Type::unsigned(64), NUMBERS, (0, u64::MAX.into()), &[]);
    let data = read(large, "x.npy", &npy("<u8", false, "(1,)", &[0xff; 8])).unwrap();
    assert_eq!(data.numbers().collect::<Vec<_>>(), [i128::from(u64::MAX)]);
}

#[test]
fn arrays_of_the_declared_shape_are_read_and_flat_ones_where_they_fit() {
    let matrix = || input("x", Type::U8, Shape::fixed([2, 3]), (0, 9), &[]);
    for shape in ["(2, 3)", "(6,)"] {
        let bytes = npy("|u1", false, shape, &[1, 2, 3, 4, 5, 6]);
        let data = read(matrix(), "x.npy", &bytes).unwrap();
        assert_eq!(data.shape, [2, 3], "{shape}");
        assert_eq!(data.elements, [1, 2, 3, 4, 5, 6], "{shape}");
    }
    for shape in ["()", "(1,)"] {
        let scalar = input("x", Type::U8, Shape::scalar(), (0, 9), &[]);
        let data = read(scalar, "x.npy", &npy("|u1", false, shape, &[7]));
        assert!(data.unwrap().shape.is_empty());
    }
    let refused = |shape, count| {
        let bytes = npy("|u1", false, shape, &vec![0; count]);
        read(matrix(), "x.npy", &bytes).map(|_| vec![])
    };
    assert_refused(
        refused("(3, 2)", 6),
        "error[data-shape]: `x` has the shape [3, 2] in x.npy\n\
         reason: the program says [2, 3]\n\
         hint: give an array of that shape",
    );
    assert!(refused("(2, 3, 1)", 6).is_err() && refused("(5,)", 5).is_err());
    let table = pairs("x", Type::U8, (0, 9), &[]);
    assert_refused(
        read(table, "x.npy", &npy("|u1", false, "(2, 3)", &[0; 6])).map(|_| vec![]),
        "error[data-shape]: `x` has the shape [2, 3] in x.npy\n\
         reason: the program says [rows, 2]\n\
         hint: give an array of that shape",
    );
}

#[test]
fn arrays_that_cannot_be_read_is_reported_why() {
    let matrix = || input("x", Type::U8, Shape::fixed([2, 2]), (0, 9), &[]);
    let refused = |bytes: &[u8], reason: &str| {
        let text = read(matrix(), "x.npy", bytes).map(|_| ());
        let text = text.expect_err("it has to be refused");
        let start = "error[data-unreadable]: cannot read x.npy\nreason: ";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains(reason), "{text}");
    };
    refused(b"age\n3\n", "it is no `.npy` file");
    let read_types = "integers, bool, float32 and float64 are read";
    let hint = "hint: convert it, then save it again: `x.astype(np.float64)`";
    let objects = format!("its elements are objects; {read_types}");
    let halves = format!("its elements are f2; {read_types}\n{hint}");
    for (dtype, fortran, shape, bytes, reason) in [
        ("|O", false, "(2, 2)", 32, objects.as_str()),
        ("<f2", false, "(2, 2)", 8, &halves),
        ("<c8", false, "(2, 2)", 32, "its elements are c8; integers,"),
        (
            "|u1",
            true,
            "(2, 2)",
            4,
            "it is in Fortran order; save it in C order",
        ),
        (
            "|u1",
            false,
            "(2, 99)",
            4,
            "it is shorter than its header says",
        ),
        (
            "|u1",
            false,
            "(2147483648, 2147483648)",
            4,
            "it is shorter than",
        ),
        ("<i8", false, "(2, 2)", 31, "it ends too early"),
    ] {
        refused(&npy(dtype, fortran, shape, &vec![0; bytes]), reason);
    }
    let bytes = npy("|i1", false, "(2, 2)", &[0, 1, 0xff, 2]);
    assert_refused(
        read(matrix(), "x.npy", &bytes).map(|_| vec![]),
        "error[data-range]: `x` is -1 at element [1, 0] of x.npy, outside 0 to 9\n\
         reason: the program declares this range, and every later range rests on it\n\
         hint: mend the value, or declare a wider type or range in the program",
    );
}

/// Regression tests: each of these was once silently read as other rows than intended.
#[test]
fn quotes_that_do_not_enclose_a_cell_is_reported_with_their_place() {
    assert_refused(
        csv(age(), "age,name\n1,\"Ada\n2,Bob\n3,Cyd\n"),
        "error[data-malformed]: people.csv has a quote that is never closed\n \
         --> people.csv:2:3\n  |\n2 | 1,\"Ada\n  |   ^\n\
         reason: all that follows it would be one cell\n\
         hint: close the cell with a quote, or leave this one out",
    );
    assert_refused(
        csv(age(), "\u{feff}age\r\n\"1\"2\r\n"),
        "error[data-malformed]: people.csv has text behind a cell in quotes\n \
         --> people.csv:2:4\n  |\n2 | \"1\"2\n  |    ^\n\
         reason: the cell that begins with a quote at line 2, column 1 ends before it, so a comma or \
         the end of the line has to follow\n\
         hint: write two quotes for one within the cell, and put the whole cell in quotes",
    );
    // The quote of line 2 is closed by the one of line 4, a row later.
    assert_refused(
        csv(age(), "name,age\n\"Ada,1\nBob,2\n\"Cyd\",3\n"),
        "error[data-malformed]: people.csv has text behind a cell in quotes\n \
         --> people.csv:4:2\n  |\n4 | \"Cyd\",3\n  |  ^\n\
         reason: the cell that begins with a quote at line 2, column 1 ends before it, so a comma or \
         the end of the line has to follow\n\
         hint: write two quotes for one within the cell, and put the whole cell in quotes",
    );
    assert_refused(
        csv(age(), "\u{feff}size,age\né5\",7\n"),
        "error[data-malformed]: people.csv has a quote within a cell that does not begin with one\n \
         --> people.csv:2:3\n  |\n2 | é5\",7\n  |   ^\n\
         reason: programs read such a cell in different ways\n\
         hint: put the whole cell in quotes, without spaces before them, and write two quotes for \
         one within it",
    );
    // Also in the header, and in a column that no input takes.
    for table in [
        "\"age\n1\n",
        "age,\"x\"y\n1,2\n",
        "age, \"x\"\n1,2\n",
        "age\n1\n\"",
    ] {
        let refused = csv(age(), table).expect_err("it has to be refused");
        assert!(refused.starts_with("error[data-malformed]"), "{refused}");
    }
    let whole =
        "age,\"a \"\"name\"\"\"\r\n1,\"two\r\nlines, and \"\"quotes\"\"\"\r\n\"2\",\"\"\r\n";
    assert_eq!(csv(age(), whole), Ok(vec![1, 2]));
}

#[test]
fn arrays_in_memory_are_held_to_the_rule_of_files() {
    let read = |ty, dims: &[u64], numbers: &[Number<'_>]| {
        let range = (-1 << 40, 1 << 62);
        let input = &input("x", ty, Shape::fixed(dims.to_vec()), range, &[]);
        let want = InputSpec { input, rows: None };
        let loaded = array(want, dims, numbers.iter().copied());
        loaded.map(|loaded| (loaded.data.numbers().collect::<Vec<_>>(), loaded.rounded))
    };
    let (one, half, nan) = (Number::Int(1), Number::from(0.5), Number::from(f64::NAN));
    let whole = read(Type::I64, &[2], &[one, 7.0.into()]);
    assert_eq!(whole, Ok((vec![1, 7], 0)));
    let fixed = read(Type::fixed(8, 2), &[2], &[half, 0.1.into()]);
    assert_eq!(fixed, Ok((vec![2, 0], 1)));
    let refused = |dims: &[u64], numbers: &[Number<'_>]| {
        read(Type::I64, dims, numbers).expect_err("it has to be refused")
    };
    for (dims, numbers, text) in [
        (&[][..], &[half][..], "0.5 is not a whole number"),
        (&[2], &[one, nan], "NaN at element 1 is not a whole number"),
        (
            &[2, 2],
            &[one, one, one, nan],
            "NaN at element [1, 1] is not a whole number",
        ),
    ] {
        assert_eq!(refused(dims, numbers).message, text);
    }
    let third = refused(&[2, 1, 2], &[one, one, 1e300.into(), one]).message;
    assert!(third.contains("at element [1, 0, 0], outside"), "{third}");
    // Fewer numbers than the shape has would leave unintended zeros.
    assert_eq!(refused(&[3], &[one, one]).code, "internal");
}

#[test]
fn floating_point_is_read_to_the_nearest_with_infinities_and_nan() {
    let single = |table: &str| {
        let ty = Type::F32;
        let range = (ty.range().lo, ty.range().hi);
        csv(input("heat", ty, NUMBERS, range, &[]), table)
    };
    let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits().into()).collect();
    let read = single("heat\n0.1\n-0\n1e-45\n3\n");
    assert_eq!(read, Ok(bits(&[0.1, -0.0, 1e-45, 3.0])));
    let read = single("heat\nnan\n-Infinity\ninf\nNaN\n");
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    assert_eq!(read, Ok(bits(&[nan, -infinity, infinity, nan])));
    assert_refused(
        single("heat\n1\n1e39\n"),
        "error[data-range]: `heat` is 1e39 in column `heat`, beyond the numbers of f32\n \
         --> people.csv:3:1\n  |\n3 | 1e39\n  | ^^^^\n\
         reason: a number that is written is not taken for an infinite one\n\
         hint: mend the value, write `inf` if that is meant, or declare a wider type",
    );
    assert_refused(
        single("heat,day\n,1\n"),
        "error[data-null]: there is no value for `heat` in column `heat`\n \
         --> people.csv:2:1\n  |\n2 | ,1\n  | ^\n\
         reason: a secret cannot be missing: every row takes part\n\
         hint: fill the value in, or declare `sl.nullable(...)`, or drop the row in the tables of \
         all parties",
    );
}

#[test]
fn only_binary_numbers_count_as_rounded() {
    let ty = Type::F32;
    let range = (ty.range().lo, ty.range().hi);
    let input = &input("heat", ty, NUMBERS, range, &[]);
    let want = InputSpec { input, rows: None };
    let written = Number::Written("0.1");
    let numbers = [written, 0.5.into(), 0.1.into(), Number::Int(16_777_217)];
    let loaded = array(want, &[4], numbers);
    assert_eq!(loaded.map(|loaded| loaded.rounded).ok(), Some(2));
}
