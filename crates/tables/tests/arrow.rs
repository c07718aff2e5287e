//! Record batches, as another library in the process passes them: mainly dictionaries, whose values
//! determine the type of a column.

use crate::common::{NUMBERS, input, load};
use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeListArray, Int64Array, ListArray, NullArray,
    PrimitiveArray, RecordBatch, RecordBatchIterator, RecordBatchOptions, StringArray,
    new_empty_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use sealane_program::graph::Input;
use sealane_program::types::{RowId, Shape, Type};
use sealane_tables::TableSource;
use std::collections::HashMap;
use std::sync::Arc;

/// Reads an input from batches with one column of its name, of at most 4 people.
fn read(input: &Input, batches: &[ArrayRef]) -> Result<Vec<i128>, String> {
    let ty = batches[0].data_type().clone();
    let schema = Arc::new(Schema::new(vec![Field::new(&input.name, ty, true)]));
    let batch = |column: &ArrayRef| {
        let rows = RecordBatchOptions::new().with_row_count(Some(column.len()));
        RecordBatch::try_new_with_options(schema.clone(), vec![column.clone()], &rows)
    };
    let batches = batches.iter().map(batch).collect::<Vec<_>>();
    let source = TableSource::Batches {
        name: "the table",
        reader: Box::new(RecordBatchIterator::new(batches, schema)),
    };
    match load(source, std::slice::from_ref(input), 4) {
        Ok(loaded) => Ok(loaded[0].data.numbers().collect()),
        Err(error) => Err(error.render_with_source()),
    }
}

fn numbers() -> Input {
    input("city", Type::I64, NUMBERS, (-100, 100), &[])
}

fn pairs() -> Input {
    let pair = Shape::with_rows(RowId(0), [2]);
    input("city", Type::I64, pair, (-100, 100), &[])
}

/// Asserts that a column is refused with a code.
#[track_caller]
fn assert_refused(input: &Input, column: ArrayRef, code: &str) {
    let error = read(input, &[column]).expect_err("it is refused");
    assert!(error.starts_with(&format!("error[{code}]")), "{error}");
}

/// Dictionary of keys and values.
fn dictionary<K: ArrowDictionaryKeyType>(keys: Vec<K::Native>, values: ArrayRef) -> ArrayRef {
    let keys = PrimitiveArray::<K>::from_iter_values(keys);
    Arc::new(DictionaryArray::new(keys, values))
}

fn texts() -> ArrayRef {
    Arc::new(StringArray::from(vec!["bern", "rome"]))
}

fn item(array: &ArrayRef) -> Arc<Field> {
    Arc::new(Field::new("item", array.data_type().clone(), true))
}

/// Two lists of two elements each, in both kinds of lists.
fn lists(of: ArrayRef) -> [ArrayRef; 2] {
    let offsets = OffsetBuffer::from_lengths([2, 2]);
    [
        Arc::new(ListArray::new(item(&of), offsets, of.clone(), None)),
        Arc::new(FixedSizeListArray::new(item(&of), 2, of, None)),
    ]
}

#[track_caller]
fn assert_no_numbers(input: &Input, column: ArrayRef, what: &str) {
    let error = read(input, &[column]).expect_err("it has no numbers");
    let start = "error[data-type]: column `city` of the table holds no numbers: ";
    assert!(error.starts_with(&format!("{start}{what}")), "{error}");
}

#[test]
fn texts_in_a_dictionary_are_no_numbers() {
    // A range without 0, and one with it, in which zeros would be silently accepted.
    let mut ages = numbers();
    ages.range.lo = 1;
    for input in [numbers(), ages] {
        let column = dictionary::<Int8Type>(vec![0, 1, 0], texts());
        let error = read(&input, &[column]);
        let text = "error[data-type]: column `city` of the table holds no numbers: Utf8\n\
                    reason: the input `city` is read from it\n\
                    hint: declare the input as `sl.text(...)` or `sl.category([...])`, or convert \
                    it to numbers";
        assert_eq!(error, Err(text.to_string()));
        let within = dictionary::<UInt64Type>(vec![0], dictionary::<Int8Type>(vec![1], texts()));
        assert_no_numbers(&input, within, "Utf8");
        // Without a value there is none of another type.
        let none = dictionary::<Int8Type>(vec![], texts());
        assert_eq!(read(&input, &[none]), Ok(vec![]));
    }
    for column in lists(dictionary::<Int32Type>(vec![0, 1, 0, 1], texts())) {
        assert_no_numbers(&pairs(), column, "Utf8");
    }
}

#[test]
fn lists_in_a_dictionary_are_refused() {
    let [list, fixed] = lists(Arc::new(Int64Array::from(vec![1, 2, 3, 4])));
    for values in [list, fixed] {
        let column = dictionary::<Int8Type>(vec![0, 1], values);
        assert_no_numbers(&numbers(), column.clone(), "Dictionary(");
        assert_refused(&pairs(), column, "data-columns");
    }
}

#[test]
fn numbers_in_a_dictionary_are_read() {
    let ten: ArrayRef = Arc::new(Int64Array::from(vec![10, -20]));
    let column = dictionary::<Int8Type>(vec![0, 1, 0], ten.clone());
    let both = read(&numbers(), &[column.clone(), column.slice(1, 1)]);
    assert_eq!(both, Ok(vec![10, -20, 10, -20]));
    let within = dictionary::<Int8Type>(vec![1, 0], ten.clone());
    let within = dictionary::<UInt64Type>(vec![1, 0], within);
    assert_eq!(read(&numbers(), &[within]), Ok(vec![10, -20]));
    for column in lists(dictionary::<Int32Type>(vec![0, 1, 1, 1], ten)) {
        assert_eq!(read(&pairs(), &[column]), Ok(vec![10, -20, -20, -20]));
    }
}

#[test]
fn a_dictionary_without_values_has_no_numbers_to_give() {
    let none = || new_empty_array(&DataType::Int64);
    let empty = dictionary::<Int8Type>(vec![], none());
    assert_eq!(read(&numbers(), std::slice::from_ref(&empty)), Ok(vec![]));
    let some = dictionary::<Int8Type>(vec![0], Arc::new(Int64Array::from(vec![7])));
    assert_eq!(read(&numbers(), &[empty.clone(), some, empty]), Ok(vec![7]));
    let keys = PrimitiveArray::<Int8Type>::from(vec![None, None]);
    let missing = Arc::new(DictionaryArray::new(keys, none()));
    assert_refused(&numbers(), missing, "data-null");
}

#[test]
fn a_column_of_nothing_is_a_column_of_missing_values() {
    let nulls = |rows| Arc::new(NullArray::new(rows)) as ArrayRef;
    for column in [nulls(2), dictionary::<Int8Type>(vec![0, 0], nulls(1))] {
        assert_refused(&numbers(), column, "data-null");
    }
    assert_eq!(read(&numbers(), &[nulls(0)]), Ok(vec![]));
}

/// Numbers with an Arrow extension type have another meaning: the months of a period.
#[test]
fn numbers_that_stand_for_something_else_are_none() {
    let read = |name: &str, about: &str, column: ArrayRef, input: &Input| {
        let metadata = [
            ("ARROW:extension:name", name),
            ("ARROW:extension:metadata", about),
        ];
        let metadata = metadata.map(|(key, text)| (key.to_string(), text.to_string()));
        let field = Field::new(&input.name, column.data_type().clone(), true);
        let field = field.with_metadata(metadata.into_iter().collect::<HashMap<_, _>>());
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema.clone(), vec![column]);
        let source = TableSource::Batches {
            name: "the table",
            reader: Box::new(RecordBatchIterator::new([batch], schema)),
        };
        load(source, std::slice::from_ref(input), 4).map(|loaded| loaded[0].data.shape.clone())
    };
    let column = || Arc::new(Int64Array::from(vec![1, 2, 3, 4])) as ArrayRef;
    let error = read("pandas.period", "{}", column(), &numbers()).expect_err("no numbers");
    let text = "column `city` of the table holds no numbers: pandas.period";
    assert_eq!((error.code.name(), &*error.message), ("data-type", text));
    for name in ["", "arrow.bool8"] {
        assert_eq!(read(name, "", column(), &numbers()).expect("numbers"), [4]);
    }
    for list in lists(column()) {
        let tensor = |about| read("arrow.fixed_shape_tensor", about, list.clone(), &pairs());
        assert_eq!(tensor("{\"shape\":[2]}").expect("numbers"), [2, 2]);
        assert!(tensor("{\"shape\":[2],\"permutation\":[0]}").is_err());
    }
}
