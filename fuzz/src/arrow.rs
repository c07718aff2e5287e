//! Record batches of any type, generated from the bytes, compared with a reader that does not use
//! Arrow: it has the same cells as plain values, and returns for each input its numbers or that
//! there are none.

use crate::files::program;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray};
use arrow_array::{FixedSizeListArray, GenericListArray, NullArray, OffsetSizeTrait};
use arrow_array::{PrimitiveArray, RecordBatch, RecordBatchIterator, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{Field, Schema};
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_program::graph::Program;
use sealane_tables::{InputSpec, TableSource, read};
use std::sync::{Arc, OnceLock};

/// Inputs that read each column.
const INPUTS: [&str; 4] = [
    "x : o i64[n] in -9223372036854775808..9223372036854775807",
    "x : o u8[n] in 1..200",
    "x : o bool[n] in 0..1",
    "x : o i64[n, 2] in -100..9223372036854775807",
];
/// Most nested lists and dictionaries.
const MOST_NESTED: usize = 3;

fn programs() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    PROGRAMS.get_or_init(|| INPUTS.iter().map(|input| program(input)).collect())
}

/// Value of a cell.
#[derive(Clone)]
enum Cell {
    Missing,
    Int(i128),
    /// A float, and the significant bits of its type.
    Float(f64, u32),
    /// `.0 / 10^.1`.
    Decimal(i128, u32),
    Text,
    List(Vec<Cell>),
}

/// Type of all cells of a column.
#[derive(Clone)]
enum ColumnKind {
    Number,
    Text,
    List(Box<ColumnKind>),
    Dictionary(Box<ColumnKind>),
}

/// A column in Arrow form, and as plain values.
struct Column {
    array: ArrayRef,
    kind: ColumnKind,
    cells: Vec<Cell>,
}

/// Choices taken from the bytes in order; zeros after their end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.next()) % count.max(1)
    }

    /// A number, mostly a small one.
    fn number(&mut self) -> i128 {
        match self.next() % 8 {
            0 => i64::from_le_bytes(std::array::from_fn(|_| self.next())).into(),
            1 => -i128::from(self.next()),
            _ => self.next().into(),
        }
    }

    /// Chooses which of some cells are present.
    fn there(&mut self, count: usize) -> Vec<bool> {
        let all = !self.next().is_multiple_of(4);
        let there = |_| all || !self.next().is_multiple_of(16);
        (0..count).map(there).collect()
    }
}

/// Reads columns of record batches.
pub fn arrow(bytes: &[u8]) -> Verdict {
    let mut bytes = Bytes(bytes);
    let rows = bytes.below(24);
    let column = column(&mut bytes, rows, 0);
    let batches = batches(&mut bytes, &column);
    let mut verdict = None;
    for program in programs() {
        let input = &program.inputs[0];
        let width = input.shape.fixed.iter().product::<u64>() as usize;
        let wanted = plain(&column, width).and_then(|numbers| {
            let fits = |number: &i128| input.range.lo <= *number && *number <= input.range.hi;
            numbers.iter().all(fits).then_some(numbers)
        });
        let all = batches.clone().into_iter().map(Ok);
        let source = TableSource::Batches {
            name: "the table",
            reader: Box::new(RecordBatchIterator::new(all, batches[0].schema())),
        };
        match read(source, &[InputSpec::of(program, input)]) {
            Ok(loaded) => {
                let numbers = loaded[0].data.numbers().collect::<Vec<_>>();
                let ty = column.array.data_type();
                // A column without cells may be of another type.
                let wanted = wanted.or_else(|| (rows == 0).then(Vec::new));
                assert_eq!(Some(numbers), wanted, "{ty} as `{}`", input.ty);
                verdict = Some(Accepted);
            }
            Err(error) => assert!(wanted.is_none(), "what is plain is refused: {error}"),
        }
    }
    verdict
}

/// The column in one batch or several, each a part of the same array.
fn batches(bytes: &mut Bytes<'_>, column: &Column) -> Vec<RecordBatch> {
    let ty = column.array.data_type().clone();
    let schema = Arc::new(Schema::new(vec![Field::new("x", ty, true)]));
    let (mut batches, mut at) = (Vec::new(), 0);
    while at < column.array.len() || batches.is_empty() {
        let left = column.array.len() - at;
        let rows = match bytes.next() % 3 {
            0 => 1 + bytes.below(left),
            _ => left,
        };
        let part = column.array.slice(at, rows.min(left));
        at += part.len();
        let batch = RecordBatch::try_new(schema.clone(), vec![part]);
        batches.push(batch.expect("a batch of the schema"));
    }
    batches
}

/// Makes a column of so many rows. It may be a slice of a longer one.
fn column(bytes: &mut Bytes<'_>, rows: usize, depth: usize) -> Column {
    let longer = bytes.next().is_multiple_of(4);
    let [before, behind] = [(); 2].map(|()| if longer { bytes.below(4) } else { 0 });
    let Column { array, kind, cells } = whole(bytes, before + rows + behind, depth);
    Column {
        array: array.slice(before, rows),
        kind,
        cells: cells[before..before + rows].to_vec(),
    }
}

fn whole(bytes: &mut Bytes<'_>, rows: usize, depth: usize) -> Column {
    macro_rules! leaf {
        ($array:ty, $kind:ident, |$number:ident| $value:expr, |$read:ident| $cell:expr) => {{
            let values = bytes.there(rows).into_iter().map(|there| {
                let $number = bytes.number();
                there.then_some($value)
            });
            let values = values.collect::<Vec<_>>();
            let cells = values.iter().map(|value| match *value {
                None => Cell::Missing,
                Some($read) => $cell,
            });
            let cells = cells.collect();
            let array: ArrayRef = Arc::new(<$array>::from(values));
            (array, ColumnKind::$kind, cells)
        }};
        ($ty:ty) => {
            leaf!(
                PrimitiveArray<$ty>,
                Number,
                |number| number as <$ty as ArrowPrimitiveType>::Native,
                |value| Cell::Int(value.into())
            )
        };
    }
    let kinds = if depth < MOST_NESTED { 20 } else { 15 };
    let (array, kind, cells): (ArrayRef, ColumnKind, Vec<Cell>) = match bytes.below(kinds) {
        0 => leaf!(Int8Type),
        1 => leaf!(Int16Type),
        2 => leaf!(Int32Type),
        3 => leaf!(Int64Type),
        4 => leaf!(UInt8Type),
        5 => leaf!(UInt16Type),
        6 => leaf!(UInt32Type),
        7 => leaf!(UInt64Type),
        8 => leaf!(
            PrimitiveArray<Float32Type>,
            Number,
            |number| number as f32 / 4.0,
            |value| Cell::Float(value.into(), f32::MANTISSA_DIGITS)
        ),
        9 => leaf!(
            PrimitiveArray<Float64Type>,
            Number,
            |number| if number == -255 {
                f64::NAN
            } else {
                number as f64 / 2.0
            },
            |value| Cell::Float(value, f64::MANTISSA_DIGITS)
        ),
        10 => leaf!(BooleanArray, Number, |n| n % 2 != 0, |value| Cell::Int(
            value.into()
        )),
        11 => leaf!(StringArray, Text, |n| ["", "1"][n as usize % 2], |_text| {
            Cell::Text
        }),
        12 => leaf!(Date32Array, Text, |n| n as i32, |_day| Cell::Text),
        13 => {
            let scale = bytes.next() % 4;
            let (array, kind, cells) = leaf!(Decimal128Array, Number, |number| number, |value| {
                Cell::Decimal(value, scale.into())
            });
            let array = array.as_any().downcast_ref::<Decimal128Array>();
            let array = array.expect("decimals").clone();
            let array = array.with_precision_and_scale(38, scale as i8);
            (Arc::new(array.expect("few digits")), kind, cells)
        }
        14 => {
            let cells = vec![Cell::Missing; rows];
            (Arc::new(NullArray::new(rows)), ColumnKind::Number, cells)
        }
        15 => lists::<i32>(bytes, rows, depth),
        16 => lists::<i64>(bytes, rows, depth),
        17 => {
            let (size, there) = (bytes.below(3), bytes.there(rows));
            let item = column(bytes, rows * size, depth + 1);
            let field = Arc::new(Field::new("item", item.array.data_type().clone(), true));
            let nulls = Some(NullBuffer::from(there.clone()));
            let size_of = size as i32;
            let array = item.array;
            let array = FixedSizeListArray::try_new_with_length(field, size_of, array, nulls, rows);
            let cells = cut(&item.cells, &vec![size; rows], &there);
            let kind = ColumnKind::List(Box::new(item.kind));
            (Arc::new(array.expect("lists")), kind, cells)
        }
        _ => {
            let count = bytes.below(4);
            let values = column(bytes, count, depth + 1);
            let keys = bytes.there(rows).into_iter().map(|there| {
                let key = bytes.below(count);
                (there && count > 0).then_some(key as u8)
            });
            let keys = keys.collect::<Vec<_>>();
            let cell = |key: &Option<u8>| {
                key.map_or(Cell::Missing, |key| values.cells[usize::from(key)].clone())
            };
            let cells = keys.iter().map(cell).collect();
            let keys = PrimitiveArray::<UInt8Type>::from(keys);
            let array = DictionaryArray::new(keys, values.array);
            let kind = ColumnKind::Dictionary(Box::new(values.kind));
            (Arc::new(array), kind, cells)
        }
    };
    Column { array, kind, cells }
}

/// Lists, mostly of two elements each.
fn lists<O: OffsetSizeTrait>(
    bytes: &mut Bytes<'_>,
    rows: usize,
    depth: usize,
) -> (ArrayRef, ColumnKind, Vec<Cell>) {
    let usual = 1 + bytes.below(2);
    let there = bytes.there(rows);
    let length = |_| match bytes.next() {
        255 => 3,
        254 => 0,
        _ => usual,
    };
    let lengths = (0..rows).map(length).collect::<Vec<_>>();
    let item = column(bytes, lengths.iter().sum(), depth + 1);
    let field = Arc::new(Field::new("item", item.array.data_type().clone(), true));
    let offsets = OffsetBuffer::<O>::from_lengths(lengths.iter().copied());
    let nulls = Some(NullBuffer::from(there.clone()));
    let array = GenericListArray::<O>::new(field, offsets, item.array, nulls);
    let cells = cut(&item.cells, &lengths, &there);
    let kind = ColumnKind::List(Box::new(item.kind));
    (Arc::new(array), kind, cells)
}

/// Cells as lists of these lengths.
fn cut(mut cells: &[Cell], lengths: &[usize], there: &[bool]) -> Vec<Cell> {
    let list = |(length, there): (&usize, &bool)| {
        let (now, later) = cells.split_at(*length);
        cells = later;
        let list = there.then(|| Cell::List(now.to_vec()));
        list.unwrap_or(Cell::Missing)
    };
    lengths.iter().zip(there).map(list).collect()
}

/// Whole numbers of a column, `width` in each row; none if it does not have them.
fn plain(column: &Column, width: usize) -> Option<Vec<i128>> {
    let mut kind = &column.kind;
    if matches!(kind, ColumnKind::List(_)) != (width > 1) {
        return None;
    }
    let mut lists = 0;
    while let ColumnKind::List(item) = kind {
        (kind, lists) = (item, lists + 1);
    }
    while let ColumnKind::Dictionary(values) = kind {
        kind = values;
    }
    if !matches!(kind, ColumnKind::Number) {
        return None;
    }
    let mut numbers = Vec::new();
    for cell in &column.cells {
        // The first list has the elements, the nested ones one each.
        gather(cell, width, lists, &mut numbers)?;
    }
    Some(numbers)
}

fn gather(cell: &Cell, width: usize, lists: usize, numbers: &mut Vec<i128>) -> Option<()> {
    match cell {
        Cell::List(items) if lists > 0 && items.len() == width => items
            .iter()
            .try_for_each(|item| gather(item, 1, lists - 1, numbers)),
        Cell::List(_) | Cell::Missing | Cell::Text => None,
        Cell::Int(number) => {
            numbers.push(*number);
            Some(())
        }
        Cell::Float(number, digits) => {
            // Every float here is far from the ends of `i128`. A float to which other numbers round
            // is refused.
            let whole = *number as i128;
            let alone = whole.unsigned_abs() < 1 << digits;
            (alone && whole as f64 == *number).then(|| numbers.push(whole))
        }
        Cell::Decimal(unscaled, scale) => {
            let power = 10i128.pow(*scale);
            (unscaled % power == 0).then(|| numbers.push(unscaled / power))
        }
    }
}

/// Bytes of columns of each kind, of a dictionary of each, and of lists of such dictionaries.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let numbers = [2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1];
    // Three rows, all of one array, without nulls.
    let seed = |name: String, kinds: &[u8]| (name, [&[3, 1], kinds, &numbers].concat());
    let plain = (0..20).map(|kind| seed(format!("kind-{kind}"), &[kind, 1, 1]));
    let dictionary = |kind: u8| [18, 2, 1, kind, 1];
    let within = (0..15).map(|kind| seed(format!("dictionary-{kind}"), &dictionary(kind)));
    let list = |kind: u8| {
        let kinds = [&[15, 1, 1, 0, 0, 0, 1], &dictionary(kind)[..]].concat();
        seed(format!("list-of-dictionary-{kind}"), &kinds)
    };
    plain.chain(within).chain([3, 11].map(list)).collect()
}
