//! Tables of users: CSV compared with a splitter that implements RFC 4180 alone, `.npy` with a
//! reader of NumPy's own output, Parquet with itself. Each file is read by several inputs; the data
//! read are written in all formats and read again.

use sealane_diagnostic::Diagnostic;
use sealane_engine::data::{Sources, load};
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_program::decimal;
use sealane_program::graph::Program;
use sealane_program::text::parse;
use sealane_program::types::{Data, Type};
use sealane_tables::Frame;
use std::fs;
use std::io::Write;
use std::sync::OnceLock;

/// Words of CSV.
#[rustfmt::skip] // Words side by side.
pub const CSV: &[&str] = &[
    ",", "\n", "\r\n", "\"", "\"\"", "a", "b", "c,d", "e", "true", "FALSE", "-1", "+200", " ", "\t",
    "1.5", "1e3", "nan", "\u{feff}",
];
/// Words of the header of a `.npy` file.
#[rustfmt::skip] // Words side by side.
pub const NPY: &[&str] = &[
    "'descr': '<i8'", "'|b1'", "'<u4'", "'>u2'", "'<f8'", "'O'", "'fortran_order': True",
    "'shape': (3,)", "(2, 2)", "()", "(18446744073709551615,)", "[", "(", "{", "}",
];

/// Most rows of the programs.
const MOST_ROWS: usize = 1000;

/// Inputs that read a file, each by a program of its own.
const INPUTS: [&str; 6] = [
    "a : o u8[n] in 0..200",
    "b : o i64[n, 2] in -9223372036854775808..9223372036854775807 columns \"b\", \"c,d\"",
    "c : o bool[n] in 0..1",
    "d : o i16[2] in -300..32767",
    "e : o u64 in 1..18446744073709551615",
    "f : o fixed16.16[n] in -3..5",
];

fn programs() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    PROGRAMS.get_or_init(|| INPUTS.iter().map(|input| program(input)).collect())
}

/// Makes a program that reveals its only input.
pub fn program(input: &str) -> Program {
    let (name, rest) = input.split_once(" : o ").expect("a name");
    let signature = rest.split(" columns").next().expect("a signature");
    let ty = signature.split(['[', ' ']).next().expect("a type");
    let has_rows = signature.contains("[n");
    let rows = if has_rows { "rows n <= 1000\n" } else { "" };
    let text = format!(
        "sealane program 1\nname table\nparty o\nparty p\n{rows}input {name} : o {rest}\nmain {{\n\
         %0 = param 0 : {signature} known o\n}}\nreveal r = %0 : {ty} to p\n"
    );
    parse(&text, "text").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Reads the input of a program from a file with the given content.
fn read(program: &Program, content: &[u8], suffix: &str) -> Result<Data, Diagnostic> {
    let file = tempfile::Builder::new().suffix(suffix).tempfile();
    let mut file = file.expect("a file");
    file.write_all(content).expect("a file that can be written");
    let sources = Sources {
        default: Some(file.path().to_path_buf()),
        ..Sources::default()
    };
    let mut inputs = load(program, 0, &sources)?;
    Ok(inputs.data.remove(0).expect("this party's input"))
}

/// Checks invariants of all accepted data, and accepts them.
fn sound(program: &Program, data: &Data) -> Verdict {
    let input = &program.inputs[0];
    assert_eq!(data.ty, input.ty);
    let elements = data.shape.iter().product::<u64>();
    assert_eq!(elements, data.elements.len() as u64);
    for number in data.numbers() {
        let fits = input.range.lo <= number && number <= input.range.hi;
        assert!(fits, "{number}");
    }
    if input.shape.rows.is_some() && input.shape.rank() == 1 && !data.elements.is_empty() {
        same_in_every_format(program, data);
    }
    Some(Accepted)
}

/// Checks that a column is read back unchanged from each format in which it can be written.
fn same_in_every_format(program: &Program, data: &Data) {
    let folder = tempfile::tempdir().expect("a folder");
    let name = &program.inputs[0].name;
    for suffix in [".csv", ".npy", ".parquet"] {
        let path = folder.path().join(format!("table{suffix}"));
        let frame = Frame::new(vec![(name, data)], true);
        let wrote = frame.write(&path);
        wrote.expect("a column that every format holds");
        let content = fs::read(&path).expect("the file");
        let again = read(program, &content, suffix).expect("what was written");
        let same = again.elements == data.elements && again.shape == data.shape;
        assert!(same, "`{name}` from {suffix}");
    }
}

/// Reads a table in Parquet.
pub fn parquet(bytes: &[u8]) -> Verdict {
    let mut verdict = None;
    for program in programs() {
        if let Ok(data) = read(program, bytes, ".parquet") {
            verdict = sound(program, &data);
        }
    }
    verdict
}

/// Parquet files in the form that this code writes.
pub fn parquet_seeds() -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let column = |(at, numbers): (usize, &[i128])| {
        let input = &programs()[at].inputs[0];
        let data = Data::from_numbers(input.ty, vec![numbers.len() as u64], numbers);
        let data = data.expect("numbers of the type");
        let path = folder.path().join(format!("{}.parquet", input.name));
        let frame = Frame::new(vec![(&input.name, &data)], true);
        frame.write(&path).expect("a column that Parquet holds");
        (input.name.clone(), fs::read(&path).expect("the file"))
    };
    let columns = [
        (0, &[0, 200, 7][..]),
        (2, &[1, 0, 1, 1]),
        (4, &[i128::from(u64::MAX)]),
        (5, &[-196_608, 1, 327_680]),
    ];
    columns.into_iter().map(column).collect()
}

/// Reads a table in CSV.
pub fn csv(bytes: &[u8]) -> Verdict {
    let mut verdict = None;
    let table = str::from_utf8(bytes).ok().map(split);
    for program in programs() {
        // Too many rows are refused here or when the row counts are settled.
        let plain = table.as_ref().and_then(Option::as_ref);
        let plain = plain.filter(|table| table.len() <= MOST_ROWS);
        let wanted = plain.map(|table| fill(program, table));
        match read(program, bytes, ".csv") {
            Ok(data) => {
                let misplaced = table == Some(None);
                assert!(!misplaced, "a quote where RFC 4180 has none is read");
                verdict = sound(program, &data);
                if let Some(wanted) = wanted {
                    let numbers: Vec<i128> = data.numbers().collect();
                    assert_eq!(wanted, Some(numbers), "`{}`", program.inputs[0].name);
                }
            }
            Err(error) => {
                let refused = wanted.flatten().is_none() || may_refuse(bytes);
                assert!(refused, "what is plain is refused: {error}");
            }
        }
    }
    verdict
}

/// Returns whether a table has only a header, or a blank line, which could be a row without a
/// value.
fn may_refuse(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split(['\n', '\r']);
    let blank = lines.clone().any(|line| line.trim().is_empty());
    blank || lines.next().is_none() || lines.next().is_none()
}

type TextRows = Vec<Vec<String>>;

/// Splits records by RFC 4180, with any line end and without empty lines; none if a quote is
/// misplaced.
fn split(text: &str) -> Option<TextRows> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut table, mut record) = (TextRows::new(), vec![String::new()]);
    let mut rest = text.chars().peekable();
    let mut start = true;
    while let Some(c) = rest.next() {
        match c {
            '"' if start => {
                start = false;
                loop {
                    match rest.next()? {
                        '"' if rest.peek() == Some(&'"') => {
                            rest.next();
                            record.last_mut()?.push('"');
                        }
                        '"' => break,
                        c => record.last_mut()?.push(c),
                    }
                }
                if !matches!(rest.peek(), None | Some(',' | '\n' | '\r')) {
                    return None;
                }
            }
            '"' => return None,
            ',' => {
                record.push(String::new());
                start = true;
            }
            '\n' | '\r' => {
                end(&mut table, &mut record, start);
                start = true;
            }
            c => {
                record.last_mut()?.push(c);
                start = false;
            }
        }
    }
    end(&mut table, &mut record, start);
    Some(table)
}

/// Ends a record, unless it is an empty line.
fn end(table: &mut TextRows, record: &mut Vec<String>, start: bool) {
    let done = std::mem::replace(record, vec![String::new()]);
    if !(start && done.len() == 1) {
        table.push(done);
    }
}

/// Numbers of a program's input; none if the table does not match it.
fn fill(program: &Program, table: &TextRows) -> Option<Vec<i128>> {
    let input = &program.inputs[0];
    let (header, records) = table.split_first()?;
    let names = match &input.columns[..] {
        [] => std::slice::from_ref(&input.name),
        columns => columns,
    };
    let column = |name: &String| {
        let mut found = (0..header.len()).filter(|at| header[*at].trim() == name);
        found.next().filter(|_| found.next().is_none())
    };
    let columns: Vec<usize> = names.iter().map(column).collect::<Option<_>>()?;
    let fixed = match input.shape.rows {
        Some(_) => records.len(),
        None => input.shape.fixed.first().copied().unwrap_or(1) as usize,
    };
    if records.len() != fixed || records.iter().any(|record| record.len() != header.len()) {
        return None;
    }
    let rows = records.iter();
    let cells = rows.flat_map(|record| columns.iter().map(|at| record[*at].trim()));
    let range = input.range;
    let number = |cell| number(cell, input.ty).filter(|n| range.lo <= *n && *n <= range.hi);
    cells.map(number).collect()
}

fn number(cell: &str, ty: Type) -> Option<i128> {
    match (ty, cell) {
        (Type::Bool, "true" | "True" | "TRUE") => return Some(1),
        (Type::Bool, "false" | "False" | "FALSE") => return Some(0),
        // Compared with arbitrary-precision arithmetic by a target of its own.
        (Type::Fixed { fraction, .. }, _) => {
            return Some(decimal::parse(cell, fraction).ok()?.stored);
        }
        _ => {}
    }
    let (sign, digits) = match cell.as_bytes() {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] | digits => (1, digits),
    };
    let mut sum = 0i128;
    for digit in digits {
        let digit = digit.is_ascii_digit().then(|| i128::from(digit - b'0'))?;
        sum = sum.saturating_mul(10).saturating_add(digit);
    }
    (!digits.is_empty()).then(|| sign * sum)
}

/// Reads an array in NumPy's own format.
pub fn npy(bytes: &[u8]) -> Verdict {
    let mut verdict = None;
    let plain = array(bytes);
    for program in programs() {
        let Ok(data) = read(program, bytes, ".npy") else {
            continue;
        };
        verdict = sound(program, &data);
        let numbers: Vec<i128> = data.numbers().collect();
        // A whole number there is whole in fixed point, too.
        let plain = plain.as_ref().map(|plain| {
            let one = 1 << program.inputs[0].ty.fraction();
            plain.iter().map(|number| number * one).collect::<Vec<_>>()
        });
        if let Some(plain) = &plain {
            assert_eq!(&numbers, plain, "`{}`", program.inputs[0].name);
        }
    }
    verdict
}

/// Numbers of a file in NumPy's form: integers or truth values, little-endian, in C order.
fn array(bytes: &[u8]) -> Option<Vec<i128>> {
    let rest = bytes.strip_prefix(b"\x93NUMPY\x01\x00")?;
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let (header, elements) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    let header = str::from_utf8(header).ok()?.strip_prefix("{'descr': '")?;
    let (descr, header) = header.split_once("', 'fortran_order': False, 'shape': (")?;
    let (shape, _) = header.split_once("), }")?;
    let dims = shape.split(',').map(str::trim);
    let mut dims = dims.filter(|dim| !dim.is_empty());
    let count = dims.try_fold(1usize, |count, dim| count.checked_mul(dim.parse().ok()?))?;
    let (width, signed) = match descr {
        "|b1" | "|u1" => (1, false),
        "|i1" => (1, true),
        "<u2" => (2, false),
        "<i8" => (8, true),
        _ => return None,
    };
    let element = |bytes: &[u8]| {
        let magnitude = bytes.iter().rev();
        let magnitude = magnitude.fold(0i128, |sum, byte| sum << 8 | i128::from(*byte));
        let negative = signed && bytes.last().is_some_and(|top| top >> 7 == 1);
        magnitude - (i128::from(negative) << (8 * bytes.len()))
    };
    let elements = elements.get(..count.checked_mul(width)?)?;
    Some(elements.chunks(width).map(element).collect())
}
