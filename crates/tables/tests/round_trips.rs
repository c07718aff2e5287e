//! Round trips: output is read again unchanged, in every format, for every type and shape; and a
//! format refuses values that it cannot represent exactly.

use crate::common::{input, load};
use arrow_array::RecordBatchIterator;
use proptest::prelude::*;
use sealane_program::float;
use sealane_program::graph::Input;
use sealane_program::kind::Kind;
use sealane_program::types::{Data, RowId, Shape, Type};
use sealane_tables::{Format, Frame, InputSpec, Number, TableSource};
#[cfg(unix)]
use std::fs;

/// Every type: truth values, integers that wrap and that do not, fixed and floating point.
fn types() -> impl Strategy<Value = Type> {
    let int = (any::<bool>(), 1u8..=64, any::<bool>());
    let int = int.prop_map(|(signed, bits, wrapping)| Type::Int {
        signed,
        bits,
        wrapping,
    });
    let fixed = (any::<bool>(), 1u8..=64).prop_flat_map(|(signed, bits)| {
        (0..=bits).prop_map(move |fraction| Type::Fixed {
            signed,
            bits,
            fraction,
        })
    });
    let float = prop::sample::select(&float::Format::ALL[..]).prop_map(Type::Float);
    prop_oneof![1 => Just(Type::Bool), 4 => int, 4 => fixed, 4 => float]
}

/// Dimensions, of which the first may be rows.
fn shapes() -> impl Strategy<Value = (bool, Vec<u64>)> {
    let by_rows = (1u64..5, prop::collection::vec(1u64..4, 0..3));
    let by_rows = by_rows.prop_map(|(rows, rest)| (true, [vec![rows], rest].concat()));
    let single = prop::collection::vec(1u64..5, 0..2).prop_map(|dims| (false, dims));
    prop_oneof![by_rows, single]
}

/// A type, whether the first dimension is rows, the shape, and numbers: any, and the extremes.
fn tables() -> impl Strategy<Value = (Type, bool, Vec<u64>, Vec<i128>)> {
    (types(), shapes()).prop_flat_map(|(ty, (by_rows, shape))| {
        let count = shape.iter().product::<u64>() as usize;
        let (lo, hi) = (ty.range().lo, ty.range().hi);
        let number = prop_oneof![4 => lo..=hi, 1 => Just(lo), 1 => Just(hi)];
        let numbers = prop::collection::vec(number, count);
        numbers.prop_map(move |numbers| {
            // Of all NaN only the canonical one is read.
            let read = |number| match ty {
                Type::Float(format) => {
                    float::from_f64(float::to_f64(number, format), format).stored
                }
                _ => number,
            };
            let numbers = numbers.into_iter().map(read).collect();
            (ty, by_rows, shape.clone(), numbers)
        })
    })
}

/// Input that takes such data. An input with a fixed dimension names its columns.
fn taker(by_rows: bool, data: &Data) -> Input {
    let range = (data.ty.range().lo, data.ty.range().hi);
    let (shape, columns) = match (by_rows, &data.shape[..]) {
        (true, [_, rest @ ..]) => (Shape::with_rows(RowId(0), rest), 0),
        (_, dims) => (Shape::fixed(dims), dims.first().copied().unwrap_or(0)),
    };
    let columns = (0..columns).map(|index| match columns {
        1 => "x".to_string(),
        _ => format!("x_{index}"),
    });
    let columns = columns.collect::<Vec<_>>();
    let columns = columns.iter().map(String::as_str).collect::<Vec<_>>();
    input("x", data.ty, shape, range, &columns)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn words_are_the_numbers_that_they_say(
        (ty, by_rows, shape, numbers) in tables(),
        signed: bool,
        stray in prop::option::of(any::<u64>()),
        narrow: bool,
    ) {
        let data = Data::from_numbers(ty, shape.clone(), &numbers).expect("numbers of the type");
        let mut input = taker(by_rows, &data);
        if narrow {
            input.range.hi = input.range.lo + (input.range.hi - input.range.lo) / 2;
        }
        let mut words = numbers.iter().map(|number| *number as u64).collect::<Vec<_>>();
        if let (Some(stray), Some(last)) = (stray, words.last_mut()) {
            *last = stray;
        }
        let want = InputSpec { input: &input, rows: None };
        let number = |word: &u64| Number::Int(if signed { i128::from(*word as i64) } else { i128::from(*word) });
        let one_by_one = sealane_tables::array(want, &shape, words.iter().map(number));
        let at_once = sealane_tables::integers(want, &shape, words.clone().into(), signed);
        match (one_by_one, at_once) {
            (Ok(one), Ok(all)) => prop_assert!(one.data == all.data && all.rounded == one.rounded),
            (Err(one), Err(all)) => prop_assert_eq!(one.render(None), all.render(None)),
            _ => prop_assert!(false, "one way refuses what the other takes"),
        }
    }

    #[test]
    fn data_come_back_as_they_were((ty, by_rows, shape, numbers) in tables()) {
        let data = Data::from_numbers(ty, shape, &numbers).expect("numbers of the type");
        let frame = Frame::new(vec![("x", &data)], by_rows);
        let folder = tempfile::tempdir().expect("a folder");
        let inputs = [taker(by_rows, &data)];
        for ending in ["csv", "parquet", "npy"] {
            let path = folder.path().join("results").with_extension(ending);
            let format = Format::of(&path).expect("a known ending");
            if format.check(&path, &[(data.ty, &Kind::default())]).is_err() {
                prop_assert!(ending != "csv" && data.ty.is_fixed() && data.ty.bits() > 52);
                prop_assert!(frame.write(&path).is_err() && !path.exists());
                continue;
            }
            frame.write(&path).expect("a file");
            let read = load(TableSource::File(&path), &inputs, 4).expect("what was written");
            prop_assert!(read[0].data == data, "{ending} of {}", data.ty);
            prop_assert_eq!(read[0].rounded, 0);
        }
        if let Ok(batch) = frame.batch() {
            let schema = batch.schema();
            let reader = Box::new(RecordBatchIterator::new([Ok(batch)], schema));
            let read = load(TableSource::Batches { name: "a table", reader }, &inputs, 4);
            prop_assert!(read.expect("what was written")[0].data == data);
        }
    }
}

/// Fixed point of up to 53 significant bits is `float64`; longer fractions are decimals of up to 38
/// digits.
#[test]
fn columns_hold_fixed_point_exactly_or_not_at_all() {
    let held = |ty: Type, ending: &str| {
        let path = std::path::PathBuf::from("results").with_extension(ending);
        let format = Format::of(&path).expect("a known ending");
        format.check(&path, &[(ty, &Kind::default())]).is_ok()
    };
    for (ty, npy, parquet) in [
        (Type::fixed(32, 22), true, true),
        (Type::fixed(32, 23), false, true),
        (Type::fixed(37, 27), false, true),
        (Type::fixed(36, 28), false, false),
        (Type::ufixed(0, 53), true, true),
        (Type::ufixed(0, 64), false, false),
    ] {
        let held = ["npy", "parquet", "csv"].map(|ending| held(ty, ending));
        assert_eq!(held, [npy, parquet, true]);
    }
}

#[test]
fn names_of_columns_differ() {
    let numbers = |shape: &[u64], numbers: &[i128]| {
        Data::from_numbers(Type::U8, shape.to_vec(), numbers).expect("bytes")
    };
    let (pair, single) = (numbers(&[1, 2], &[1, 2]), numbers(&[1], &[3]));
    let frame = Frame::new(vec![("a", &pair), ("a_0", &single)], true);
    let batch = frame.batch().expect("columns");
    let schema = batch.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["a_0", "a_1", "a_0_"]);
}

/// Result files are readable by their owner alone, also on a machine with other users.
#[cfg(unix)]
#[test]
fn new_files_are_their_owners_alone_and_old_ones_keep_their_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let data = Data::from_numbers(Type::U8, vec![2], &[1, 2]).expect("numbers of the type");
    for name in ["out.csv", "out.parquet", "out.npy"] {
        let path = folder.path().join(name);
        let write = || Frame::new(vec![("age", &data)], true).write(&path);
        let mode = || fs::metadata(&path).expect("the file").permissions().mode() & 0o777;
        write().expect("a file");
        assert_eq!(mode(), 0o600, "{name}");
        let shared = fs::Permissions::from_mode(0o664);
        fs::set_permissions(&path, shared).expect("the mode can be set");
        let long = fs::read(&path).expect("the file");
        fs::write(&path, [&long[..], &long].concat()).expect("a longer file");
        write().expect("a file");
        assert_eq!(mode(), 0o664, "{name}");
        assert_eq!(fs::read(&path).expect("the file"), long, "{name}");
    }
}
