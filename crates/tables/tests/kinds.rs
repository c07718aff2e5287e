//! Columns that are no plain numbers: dates, timestamps, texts, categories and missing cells, from
//! every source and back to files.

use crate::common::{assert_has, input, load, read};
use arrow_array::{
    Array, ArrayRef, Date32Array, Date64Array, DictionaryArray, Int32Array, Int64Array,
    RecordBatch, RecordBatchIterator, StringArray, StringViewArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use sealane_program::graph::Input;
use sealane_program::kind::{Encoding, Form, Kind};
use sealane_program::types::{Data, RowId, Shape, Type};
use sealane_tables::{Cell, Format, Frame, InputSpec, Shown, TableSource};
use std::path::Path;
use std::sync::Arc;

fn kind(form: Form) -> Kind {
    let nullable = false;
    Kind { form, nullable }
}

fn of_kind(ty: Type, range: (i128, i128), fixed: &[u64], form: Form) -> Input {
    let shape = Shape::with_rows(RowId(0), fixed);
    let mut input = input("x", ty, shape, range, &[]);
    input.kind = kind(form);
    input
}

/// Asserts that what is read is refused with each of these parts of a text.
#[track_caller]
fn refused<T: std::fmt::Debug, const N: usize>(read: Result<T, String>, parts: [&str; N]) {
    assert_has(&read.expect_err("it has to be refused"), parts);
}

/// Days from 1970-01-01 to 1999-12-31.
fn date() -> Input {
    of_kind(Type::signed(23), (0, 10_956), &[], Form::Date)
}

fn timestamp() -> Input {
    of_kind(Type::signed(39), (-10, 1 << 32), &[], Form::Timestamp)
}

fn text() -> Input {
    of_kind(Type::U8, (0, 255), &[4], Form::Text(Encoding::Latin1))
}

fn category() -> Input {
    let names = ["red", "green"].map(String::from).to_vec();
    of_kind(Type::unsigned(1), (0, 1), &[], Form::Category(names))
}

fn nullable(mut input: Input) -> [Input; 2] {
    let shape = Shape::with_rows(RowId(0), input.kind.cells(&input.shape.fixed));
    let mut mask = crate::common::input("x_missing", Type::Bool, shape, (0, 1), &["x"]);
    mask.kind = kind(Form::Missing(input.name.clone()));
    input.kind.nullable = true;
    [input, mask]
}

/// Reads inputs from a table with one column `x`.
fn from_arrow(inputs: &[Input], column: ArrayRef) -> Result<Vec<Vec<i128>>, String> {
    let batch = RecordBatch::try_from_iter_with_nullable([("x", column, true)]).expect("a batch");
    let schema = batch.schema();
    let source = TableSource::Batches {
        name: "the table",
        reader: Box::new(RecordBatchIterator::new([Ok(batch)], schema)),
    };
    let loaded = load(source, inputs, 4).map_err(|error| error.render_with_source())?;
    let numbers = loaded.iter().map(|loaded| loaded.data.numbers().collect());
    Ok(numbers.collect())
}

fn one(input: Input, column: ArrayRef) -> Result<Vec<i128>, String> {
    Ok(from_arrow(&[input], column)?.remove(0))
}

fn csv(input: Input, cells: &str) -> Result<Vec<i128>, String> {
    let data = read(input, "t.csv", format!("i,x\n{cells}").as_bytes())?;
    Ok(data.numbers().collect())
}

#[test]
fn dates_are_read_from_columns_of_any_unit() {
    let stamps = TimestampMillisecondArray::from(vec![0, 86_400_000]);
    for column in [
        Arc::new(Date32Array::from(vec![0, 1])) as ArrayRef,
        Arc::new(Date64Array::from(vec![0, 86_400_000])),
        Arc::new(stamps.clone()),
        Arc::new(stamps.clone().with_timezone("UTC")),
        Arc::new(TimestampNanosecondArray::from(vec![0, 86_400_000_000_000])),
        Arc::new(StringArray::from(vec!["1970-01-01", "1970-01-02"])),
        Arc::new(StringViewArray::from(vec![
            "1970-01-01",
            "1970-01-02T00:00Z",
        ])),
    ] {
        assert_eq!(one(date(), column.clone()), Ok(vec![0, 1]));
        assert_eq!(one(timestamp(), column), Ok(vec![0, 86_400]));
    }
    assert_eq!(csv(date(), "1, 1970-01-03 \n"), Ok(vec![2]));
    assert_eq!(csv(timestamp(), "1,1970-01-01 00:01:00\n"), Ok(vec![60]));
    let paris = one(date(), Arc::new(stamps.with_timezone("Europe/Paris")));
    let what = "holds no dates: Timestamp(ms, \"Europe/Paris\")";
    refused(paris, [what, "tz_convert"]);
}

#[test]
fn cells_that_are_no_dates_have_their_place() {
    let late = Arc::new(Date32Array::from(vec![0, 20_000]));
    let range = "outside 1970-01-01 to 1999-12-31";
    refused(one(date(), late), ["in row 2 of column `x`", range]);
    let noon = Arc::new(TimestampMillisecondArray::from(vec![43_200_500]));
    refused(
        one(date(), noon.clone()),
        ["1970-01-01T12:00:00.500 in row 1"],
    );
    refused(one(timestamp(), noon), ["fraction of a second"]);
    refused(csv(date(), "1,1970-02-29\n"), ["t.csv:2:3", "no such day"]);
    refused(csv(date(), "1,2000-01-01\n"), ["data-range"]);
    refused(csv(date(), "1,\n"), ["data-null"]);
    let numbers = Arc::new(Int32Array::from(vec![1]));
    refused(one(date(), numbers), ["holds no dates: Int32"]);
}

#[test]
fn texts_have_room_or_are_refused() {
    let padded = vec![b'Z'.into(), b'o'.into(), 0xeb, 0, b'a'.into(), 0, 0, 0];
    for column in [
        Arc::new(StringArray::from(vec!["Zoë", "a"])) as ArrayRef,
        Arc::new(StringViewArray::from(vec!["Zoë", "a"])),
    ] {
        assert_eq!(one(text(), column), Ok(padded.clone()));
    }
    assert_eq!(csv(text(), "1,Zoë\n2,a\n"), Ok(padded));
    assert_eq!(csv(text(), "1,\" a\"\n"), Ok(vec![32, 97, 0, 0]));
    // Spaces are a text; only an empty cell is missing.
    let spaces = read(text(), "t.csv", b"x\n \n\"  \"\n").map(|data| data.elements.clone());
    assert_eq!(spaces, Ok(vec![32, 0, 0, 0, 32, 32, 0, 0]));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "x\n \n\"\"").expect("a file");
    let loaded = load(TableSource::File(&path), &nullable(text()), 4).expect("texts");
    assert_eq!(loaded[0].data.elements, [32, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(loaded[1].data.elements, [0, 1]);
    assert_eq!(loaded[1].without_end, Some(path.display().to_string()));
    let room = "5 bytes, and the program has 4";
    refused(csv(text(), "1,abcde\n"), ["error[data-kind]", room]);
    refused(csv(text(), "1,a€\n"), ["U+20AC"]);
    let numbers = Arc::new(Int64Array::from(vec![1]));
    refused(one(text(), numbers), ["holds no texts: Int64"]);
}

#[test]
fn categories_are_the_names_of_the_program() {
    let keys = Int32Array::from(vec![1, 0, 1]);
    let values = Arc::new(StringArray::from(vec!["green", "red"]));
    let dictionary = Arc::new(DictionaryArray::new(keys, values)) as ArrayRef;
    assert_eq!(one(category(), dictionary), Ok(vec![0, 1, 0]));
    assert_eq!(csv(category(), "1,red\n2, green\n"), Ok(vec![0, 1]));
    let listed = |names: [&str; 2]| Input {
        kind: kind(Form::Category(names.map(String::from).to_vec())),
        ..category()
    };
    let spaced = csv(listed(["a ", "a"]), "1,a \n2,a\n3, a\n");
    assert_eq!(spaced, Ok(vec![0, 1, 1]));
    let decomposed = csv(listed(["\u{e9}", "e"]), "1,e\u{301}\n");
    refused(decomposed, ["hint: it is not in NFC"]);
    let what = "`Red` in column `x` is not a category";
    refused(csv(category(), "1,Red\n"), [what, "`red`, `green`"]);
}

#[test]
fn missing_cells_are_the_nearest_number_to_zero_and_marked() {
    let number = of_kind(Type::U8, (5, 9), &[], Form::Number);
    let column = Arc::new(Int64Array::from(vec![Some(7), None]));
    let read = from_arrow(&nullable(number.clone()), column.clone());
    assert_eq!(read, Ok(vec![vec![7, 5], vec![0, 1]]));
    let [value, mask] = nullable(number.clone());
    assert_eq!(csv(value.clone(), "1,7\n2,\n"), Ok(vec![7, 5]));
    assert_eq!(csv(mask, "1,7\n2, \n"), Ok(vec![0, 1]));
    // Nothing but missing cells has a type of its own.
    let nothing = Arc::new(arrow_array::NullArray::new(2));
    let read = from_arrow(&nullable(number.clone()), nothing);
    assert_eq!(read, Ok(vec![vec![5, 5], vec![1, 1]]));
    refused(one(number, column), ["data-null"]);
    let column = Arc::new(StringArray::from(vec![None, Some("ab")]));
    let read = from_arrow(&nullable(text()), column);
    assert_eq!(read, Ok(vec![vec![0, 0, 0, 0, 97, 98, 0, 0], vec![1, 0]]));
}

#[test]
fn cells_in_memory_follow_the_same_rule() {
    let people = sealane_program::graph::RowSymbol {
        name: "people".into(),
        bound: 4,
        sum: Vec::new(),
    };
    let take = |input: &Input, dims: &[u64], cells: &[Option<Cell<'_>>]| {
        let rows = input.shape.rows.map(|_| &people);
        let want = InputSpec { input, rows };
        let loaded = sealane_tables::cells(want, dims, cells.iter().copied());
        let numbers = loaded.map(|loaded| loaded.data.numbers().collect::<Vec<_>>());
        numbers.map_err(|error| error.to_string())
    };
    let texts = [Some(Cell::Text("1970-01-05")), None];
    let [value, mask] = nullable(date());
    assert_eq!(take(&value, &[2], &texts), Ok(vec![4, 0]));
    assert_eq!(take(&mask, &[2], &texts), Ok(vec![0, 1]));
    refused(take(&date(), &[2], &texts), ["at element 1"]);
    refused(take(&date(), &[2, 1], &texts), ["shape"]);
    // An accent of its own is unequal to a character that has it, which nobody sees.
    let wide = of_kind(Type::U8, (0, 255), &[6], Form::Text(Encoding::Utf8));
    for (text, row) in [
        ("\u{e9}", None),
        ("e\u{301}", Some(2)),
        ("\u{110b}\u{1161}", Some(2)),
    ] {
        let (input, rows) = (&wide, Some(&people));
        let texts = ["ab", text, text].map(|text| Some(Cell::Text(text)));
        let loaded = sealane_tables::cells(InputSpec { input, rows }, &[3], texts);
        assert_eq!(loaded.expect("texts").decomposed, row);
    }
}

#[test]
fn results_are_written_by_their_meaning() {
    let data = |ty, shape: &[u64], numbers: &[i128]| {
        Data::from_numbers(ty, shape.to_vec(), numbers).expect("numbers of the type")
    };
    let days = data(Type::signed(23), &[3], &[-1, 0, 59]);
    let texts = data(Type::U8, &[3, 3], &[97, 44, 0, 0, 0, 0, 34, 97, 0]);
    let codes = data(Type::unsigned(1), &[3], &[1, 0, 1]);
    let mask = data(Type::Bool, &[3], &[0, 1, 0]);
    let names = kind(Form::Category(vec!["r".into(), "g".into()]));
    let (date, text) = (kind(Form::Date), kind(Form::Text(Encoding::Utf8)));
    let numbers = Kind::default();
    let shown = |name, data, kind, missing| Shown {
        name,
        data,
        kind,
        missing,
    };
    let results = vec![
        shown("d", &days, &date, Some(&mask)),
        shown("t", &texts, &text, None),
        shown("c", &codes, &names, None),
        shown("n", &codes, &numbers, Some(&mask)),
    ];
    let frame = Frame::of(results, true);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("o.csv");
    let written = |frame: &Frame<'_>| {
        frame.write(&file).expect("it is written");
        std::fs::read_to_string(&file).expect("a file")
    };
    let table = "d,t,c,n\n1969-12-31,\"a,\",g,1\n,,r,\n1970-03-01,\"\"\"a\",g,1\n";
    assert_eq!(written(&frame), table);
    let alone = Frame::of(vec![shown("n", &codes, &numbers, Some(&mask))], true);
    assert_eq!(written(&alone), "n\n1\n\"\"\n1\n");
    let batch = frame.batch().expect("a batch");
    let types = batch
        .columns()
        .iter()
        .map(|column| column.data_type().to_string());
    let types = types.collect::<Vec<_>>().join(" ");
    assert_eq!(types, "Date32 Utf8 Dictionary(Int32, Utf8) UInt8");
    let nulls = batch.columns().iter().map(|column| column.null_count());
    assert_eq!(nulls.collect::<Vec<_>>(), [1, 0, 0, 1]);
    // And back.
    let parquet = folder.path().join("o.parquet");
    frame.write(&parquet).expect("it is written");
    let mut back = nullable(of_kind(Type::signed(23), (-9, 99), &[], Form::Date));
    back[0].name = "d".into();
    back[1].columns = vec!["d".into()];
    let loaded = load(TableSource::File(&parquet), &back, 4).expect("it is read");
    let back = [0, 1].map(|at| loaded[at].data.numbers().collect::<Vec<_>>());
    assert_eq!(back, [vec![-1, 0, 59], vec![0, 1, 0]]);
    let check = |result| Format::Npy.check(Path::new("o.npy"), &[result]);
    assert!(check((Type::signed(23), &date)).is_err());
    assert!(check((Type::U8, &numbers)).is_ok());
}

#[test]
fn lists_of_texts_fill_two_dimensions() {
    let mut pair = text();
    pair.shape = Shape::with_rows(RowId(0), [2, 4]);
    pair.columns = vec!["x".into(), "y".into()];
    let data = read(pair, "t.csv", b"x,y\na,bc\n").map(|data| data.numbers().collect());
    assert_eq!(data, Ok(vec![97, 0, 0, 0, 98, 99, 0, 0]));
}
