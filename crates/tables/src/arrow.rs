//! Arrow record batches: data from pandas, Polars, DuckDB and pyarrow, and the form in which a
//! Parquet file is read.
//!
//! The format is that of the Arrow Columnar Format (arrow.apache.org/docs/format). Batches are read
//! one after the other, and of each only the columns that an input needs.

use crate::cell::Cell;
use crate::header::Header;
use crate::input_spec::{FILL_IN, Filling, InputSpec, Loaded};
use crate::number::Number;
use crate::read_from_it;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, OffsetSizeTrait, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::kind::Form;

/// Hint for a missing column.
const MISSING: &str = "add the column, or give another table";

/// A table of Arrow data being read into inputs.
pub(crate) struct ArrowTable<'w> {
    header: Header,
    inputs: Vec<Filling<'w>>,
    records: u64,
}

impl<'w> ArrowTable<'w> {
    /// Makes the table `name` with columns as in `schema`, and assigns columns to `wants`.
    pub(crate) fn new(
        name: &str,
        schema: &Schema,
        wants: &[InputSpec<'w>],
    ) -> Result<ArrowTable<'w>, Diagnostic> {
        let names = schema.fields().iter().map(|field| field.name().clone());
        let (table, names, missing) = (name.to_string(), names.collect(), MISSING);
        let header = Header {
            table,
            names,
            missing,
        };
        let filling = |want: &InputSpec<'w>| {
            let mut names = header.names.iter();
            let own = names.position(|name| *name == want.input.name);
            let whole = own.filter(|own| is_list(schema.field(*own).data_type()));
            match whole {
                Some(own) if want.input.columns.is_empty() => Ok(Filling::new(*want, vec![own])),
                _ => header.filling(*want),
            }
        };
        let inputs = wants.iter().map(filling).collect::<Result<Vec<_>, _>>()?;
        for input in &inputs {
            for column in &input.columns {
                if matches!(input.want.input.kind.form, Form::Missing(_)) {
                    continue;
                }
                if let Some(extension) = extension(schema.field(*column)) {
                    return Err(wrong_type(&header, *column, &extension, input, EXTENSION));
                }
            }
        }
        let records = 0;
        Ok(ArrowTable {
            header,
            inputs,
            records,
        })
    }

    /// Indices of the columns that any input takes, in the order of the table.
    pub(crate) fn needed(&self) -> Vec<usize> {
        let columns = self.inputs.iter().flat_map(|input| &input.columns);
        let mut columns = columns.copied().collect::<Vec<_>>();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Refuses a table whose declared number of rows does not match an input.
    pub(crate) fn expect(&self, records: u64) -> Result<(), Diagnostic> {
        let name = &self.header.table;
        let check = |input: &Filling<'_>| input.want.check_records(name, records, false);
        self.inputs.iter().try_for_each(check)
    }

    /// Reads the batches, whose columns are those of the table with the indices `given`, and
    /// returns the inputs.
    pub(crate) fn take(
        mut self,
        given: &[usize],
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> Result<Vec<Loaded>, Diagnostic> {
        for batch in batches {
            let batch = batch.map_err(|error| broken(&self.header.table, &error))?;
            self.take_batch(given, &batch)?;
        }
        let (records, name) = (self.records, &self.header.table);
        let finish = |input: Filling<'_>| input.finish(name, records);
        self.inputs.into_iter().map(finish).collect()
    }

    fn take_batch(&mut self, given: &[usize], batch: &RecordBatch) -> Result<(), Diagnostic> {
        let before = self.records;
        self.records += batch.num_rows() as u64;
        for input in &mut self.inputs {
            let records = self.records;
            let table = &self.header.table;
            input.want.check_records(table, records, true)?;
            let start = input.grow(batch.num_rows());
            for (place, column) in input.columns.clone().into_iter().enumerate() {
                let position = given.iter().position(|index| *index == column);
                let array = position.and_then(|position| batch.columns().get(position));
                let Some(array) = array else {
                    return Err(broken(table, &"a batch has other columns than the table"));
                };
                let header = &self.header;
                let cells = Cells {
                    header,
                    column,
                    before,
                };
                cells.fill(array, input, start, place)?;
            }
        }
        Ok(())
    }
}

/// The cells of one column in one batch.
struct Cells<'a> {
    header: &'a Header,
    column: usize,
    /// Rows of the table before this batch.
    before: u64,
}

impl Cells<'_> {
    /// Writes the cells into the input, from its element `start` on. They are its `place`-th
    /// column.
    fn fill(
        &self,
        array: &ArrayRef,
        input: &mut Filling<'_>,
        start: usize,
        place: usize,
    ) -> Result<(), Diagnostic> {
        let missing = matches!(input.want.input.kind.form, Form::Missing(_));
        // A column without a value has any type.
        if !missing && array.null_count() < array.len() {
            check_type(self.header, self.column, array.data_type(), input)?;
        }
        let per_record = input.want.cells() as usize;
        let width = input.want.cell_width() as usize;
        let each = per_record / input.columns.len().max(1);
        let leaves = self.leaves(array, input, each)?;
        let at = |index: usize| {
            (start / width + index / each * per_record + place * each + index % each) * width
        };
        let kind = &input.want.input.kind;
        let nulls = leaves.logical_nulls();
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        if let Form::Missing(_) = kind.form {
            let is_null = |index| nulls.as_ref().is_some_and(|nulls| nulls.is_null(index));
            (0..leaves.len()).for_each(|index| input.put_missing(at(index), is_null(index)));
            return Ok(());
        }
        if !kind.nullable {
            self.refuse_nulls(&leaves, each)?;
        }
        let nulls = nulls.filter(|_| kind.nullable);
        let read = match kind.form {
            Form::Number => numbers(&leaves).map(Reader::Numbers),
            _ => cells(&leaves).map(Reader::Cells),
        };
        let nothing = nulls.is_some() || leaves.is_empty();
        let Some(read) = read.or(nothing.then_some(Reader::Nothing)) else {
            let ty = leaves.data_type();
            return Err(wrong_type(self.header, self.column, ty, input, NO_NUMBER));
        };
        for index in 0..leaves.len() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(index)) {
                input.put_null(at(index));
                continue;
            }
            let (at, place) = (at(index), || format!("in {}", self.place(index / each)));
            let put = match &read {
                Reader::Numbers(number) => number(index).map(|number| input.put(at, number, place)),
                Reader::Cells(cell) => cell(index).map(|cell| input.put_cell(at, cell, place)),
                Reader::Nothing => None,
            };
            put.unwrap_or_else(|| {
                let cause = format!("the dictionary has no value for the key {}", place());
                Err(broken(&self.header.table, &cause))
            })?;
        }
        Ok(())
    }

    /// Returns the numbers of a column, in order: for a column of lists, the elements of the lists,
    /// of which each row has `each` in all.
    fn leaves(
        &self,
        array: &ArrayRef,
        input: &Filling<'_>,
        each: usize,
    ) -> Result<ArrayRef, Diagnostic> {
        let mut dims = input.want.record_dims();
        let (mut array, mut per_row) = (array.clone(), 1);
        while is_list(array.data_type()) {
            self.refuse_nulls(&array, per_row)?;
            let (inner, lengths) = open(&array);
            // The elements of the innermost list may be flattened dimensions.
            let (first, rest) = dims.split_first().unwrap_or((&1, &[]));
            let nested = is_list(inner.data_type());
            let length = if nested {
                *first as usize
            } else {
                each / per_row
            };
            if let Some(index) = lengths.iter().position(|have| *have != length) {
                let (place, have) = (self.place(index / per_row), lengths[index]);
                let message = format!("the list in {place} has {have} elements, not {length}");
                return Err(Diagnostic::new(Code::DataShape, message)
                    .because(read_from_it(input.want.input))
                    .hint("give every row as many elements as the program says"));
            }
            (array, dims, per_row) = (inner, rest, per_row * length);
        }
        Ok(array)
    }

    fn refuse_nulls(&self, array: &ArrayRef, per_row: usize) -> Result<(), Diagnostic> {
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let Some(index) = nulls.and_then(|nulls| nulls.iter().position(|valid| !valid)) else {
            return Ok(());
        };
        let message = format!("there is no value in {}", self.place(index / per_row));
        Err(Diagnostic::new(Code::DataNull, message)
            .because("a secret cannot be missing: every row takes part")
            .hint(FILL_IN))
    }

    /// Position of a row of the batch. The first row of a table is row 1.
    fn place(&self, row: usize) -> String {
        let Header { table, names, .. } = self.header;
        let row = self.before + row as u64 + 1;
        format!("row {row} of column `{}` of {table}", names[self.column])
    }
}

/// Returns the elements of lists, and the length of each list.
fn open(lists: &ArrayRef) -> (ArrayRef, Vec<usize>) {
    fn of_lists<O: OffsetSizeTrait>(lists: &ArrayRef) -> (&ArrayRef, usize, Vec<usize>) {
        let lists = lists.as_list::<O>();
        let offsets = lists.value_offsets();
        let first = offsets.first().map_or(0, |first| first.as_usize());
        let lengths = offsets
            .windows(2)
            .map(|ends| ends[1].as_usize() - ends[0].as_usize());
        (lists.values(), first, lengths.collect())
    }
    let (values, first, lengths) = match lists.data_type() {
        DataType::FixedSizeList(_, size) => {
            let lists = lists.as_fixed_size_list();
            (lists.values(), 0, vec![*size as usize; lists.len()])
        }
        DataType::LargeList(_) => of_lists::<i64>(lists),
        _ => of_lists::<i32>(lists),
    };
    (values.slice(first, lengths.iter().sum()), lengths)
}

/// Reader of the cells of a column.
enum Reader<'a> {
    Numbers(Numbers<'a>),
    Cells(TypedCells<'a>),
    /// Every cell is missing.
    Nothing,
}

/// Returns the cell at an index; none if the array has none there.
type TypedCells<'a> = Box<dyn Fn(usize) -> Option<Cell<'a>> + 'a>;

/// Makes a reader of cells that are texts or times; none if the array holds neither.
fn cells(array: &dyn Array) -> Option<TypedCells<'_>> {
    macro_rules! times {
        ($ty:ty, $per_second:expr) => {{
            let (array, per_second) = (array.as_primitive::<$ty>(), $per_second);
            Box::new(move |index| {
                let units = array.value(index);
                Some(Cell::Time { units, per_second })
            })
        }};
    }

    macro_rules! texts {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |index| Some(Cell::Text(array.value(index))))
        }};
    }
    Some(match array.data_type() {
        DataType::Utf8 => texts!(array.as_string::<i32>()),
        DataType::LargeUtf8 => texts!(array.as_string::<i64>()),
        DataType::Utf8View => texts!(array.as_string_view()),
        DataType::Date32 => {
            let array = array.as_primitive::<Date32Type>();
            Box::new(move |index| Some(Cell::Days(array.value(index).into())))
        }
        DataType::Date64 => times!(Date64Type, 1_000),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => times!(TimestampSecondType, 1),
            TimeUnit::Millisecond => times!(TimestampMillisecondType, 1_000),
            TimeUnit::Microsecond => times!(TimestampMicrosecondType, 1_000_000),
            TimeUnit::Nanosecond => times!(TimestampNanosecondType, 1_000_000_000),
        },
        DataType::Dictionary(..) => {
            let (key, cell) = (keys(array)?, cells(array.as_any_dictionary().values())?);
            Box::new(move |index| cell(key(index)?))
        }
        _ => return None,
    })
}

/// Returns what reads the place of a value of a dictionary. The producer may not have checked the
/// keys, and there may be no values at all.
fn keys(array: &dyn Array) -> Option<Box<dyn Fn(usize) -> Option<usize> + '_>> {
    let dictionary = array.as_any_dictionary();
    let (key, values) = (numbers(dictionary.keys())?, dictionary.values().len());
    Some(Box::new(move |index| match key(index)? {
        Number::Int(key) => usize::try_from(key).ok().filter(|key| *key < values),
        _ => None,
    }))
}

/// Returns the number at an index; none if the array has none there.
type Numbers<'a> = Box<dyn Fn(usize) -> Option<Number<'static>> + 'a>;

/// Makes a reader of single numbers of an array without nulls; none if it does not hold numbers.
fn numbers(array: &dyn Array) -> Option<Numbers<'_>> {
    fn decimal(unscaled: i128, scale: i8) -> Number<'static> {
        Number::Decimal { unscaled, scale }
    }

    macro_rules! read {
        ($ty:ty, |$value:ident| $number:expr) => {{
            let array = array.as_primitive::<$ty>();
            Box::new(move |index| {
                let $value = array.value(index);
                Some($number)
            })
        }};
    }
    Some(match array.data_type() {
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(|index| Some(Number::Int(array.value(index).into())))
        }
        DataType::Int8 => read!(Int8Type, |value| Number::Int(value.into())),
        DataType::Int16 => read!(Int16Type, |value| Number::Int(value.into())),
        DataType::Int32 => read!(Int32Type, |value| Number::Int(value.into())),
        DataType::Int64 => read!(Int64Type, |value| Number::Int(value.into())),
        DataType::UInt8 => read!(UInt8Type, |value| Number::Int(value.into())),
        DataType::UInt16 => read!(UInt16Type, |value| Number::Int(value.into())),
        DataType::UInt32 => read!(UInt32Type, |value| Number::Int(value.into())),
        DataType::UInt64 => read!(UInt64Type, |value| Number::Int(value.into())),
        DataType::Float16 => read!(Float16Type, |value| Number::half(value.to_f64())),
        DataType::Float32 => read!(Float32Type, |value| Number::from(value)),
        DataType::Float64 => read!(Float64Type, |value| Number::from(value)),
        DataType::Decimal32(_, scale) => read!(Decimal32Type, |x| decimal(x.into(), *scale)),
        DataType::Decimal64(_, scale) => read!(Decimal64Type, |x| decimal(x.into(), *scale)),
        DataType::Decimal128(_, scale) => read!(Decimal128Type, |x| decimal(x, *scale)),
        DataType::Dictionary(..) => {
            let (key, number) = (keys(array)?, numbers(array.as_any_dictionary().values())?);
            Box::new(move |index| number(key(index)?))
        }
        // All values are missing.
        DataType::Null => Box::new(|_| None),
        _ => return None,
    })
}

fn is_list(ty: &DataType) -> bool {
    items(ty).is_some()
}

/// The items of a type of lists.
fn items(ty: &DataType) -> Option<&Field> {
    use DataType::{FixedSizeList, LargeList, List};
    match ty {
        List(item) | LargeList(item) | FixedSizeList(item, _) => Some(item),
        _ => None,
    }
}

/// Hint for numbers with another meaning.
const EXTENSION: &str = "convert it to numbers that the program can state, such as months since a \
                         date, where the table is made";

/// Returns the name of the extension type of a column, or of the elements of its lists, whose
/// values are stored as numbers but mean something else, such as the months of a `pandas.Period`.
/// Of the extension types that the Arrow format defines, two keep the meaning of numbers: truth
/// values in bytes, and tensors whose axes are in order.
fn extension(field: &Field) -> Option<&str> {
    let said = |key: &str| field.metadata().get(key).map_or("", String::as_str);
    match said("ARROW:extension:name") {
        "" | "arrow.bool8" => {}
        "arrow.fixed_shape_tensor" if !said("ARROW:extension:metadata").contains("permutation") => {
        }
        name => return Some(name),
    }
    extension(items(field.data_type())?)
}

/// Hint for values that are not numbers.
const NO_NUMBER: &str =
    "convert it to numbers, such as one code for each text, where the table is made";

/// Refuses a column whose type the input does not take, or lists where it wants a single cell.
fn check_type(
    header: &Header,
    column: usize,
    ty: &DataType,
    input: &Filling<'_>,
) -> Result<(), Diagnostic> {
    let kind = &input.want.input.kind;
    let (numbers, times) = match kind.form {
        Form::Number | Form::Missing(_) => (true, false),
        Form::Date | Form::Timestamp => (false, true),
        Form::Text(_) | Form::Category(_) => (false, false),
    };
    if let Some(item) = items(ty).filter(|_| input.columns.len() == 1 && input.want.cells() > 1) {
        return check_type(header, column, item.data_type(), input);
    }
    let hint = match ty {
        // For a dictionary the type of its values counts: they may be texts.
        DataType::Dictionary(_, values) if !is_list(values) => {
            return check_type(header, column, values, input);
        }
        ty if is_list(ty) || matches!(ty, DataType::Dictionary(..)) => {
            "make a column of each element of the lists"
        }
        DataType::Null => return Ok(()),
        DataType::Timestamp(_, Some(zone)) if times && !is_utc(zone) => {
            "convert it to UTC where the table is made: `x.dt.tz_convert(\"UTC\")` in pandas, \
             `x.dt.convert_time_zone(\"UTC\")` in Polars"
        }
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) if times => return Ok(()),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if !numbers => return Ok(()),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            "declare the input as `sl.text(...)` or `sl.category([...])`, or convert it to numbers"
        }
        DataType::Boolean if numbers => return Ok(()),
        DataType::Decimal256(..) if numbers => "convert it to a decimal of at most 38 digits",
        ty if ty.is_numeric() && numbers => return Ok(()),
        ty if ty.is_numeric() || matches!(ty, DataType::Boolean) => {
            "declare the input by the type of its numbers, such as `sl.u32`"
        }
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => {
            "declare the input as `sl.date` or `sl.timestamp`, or convert it to whole numbers"
        }
        ty if ty.is_temporal() => "convert it to whole numbers, such as seconds, and declare those",
        ty if ty.is_nested() => "take its fields apart, a column for each",
        _ => NO_NUMBER,
    };
    Err(wrong_type(header, column, ty, input, hint))
}

/// Returns whether a time zone is UTC by another name.
fn is_utc(zone: &str) -> bool {
    ["UTC", "Etc/UTC", "Z", "+00:00", "-00:00", "GMT"].contains(&zone)
}

/// Makes the refusal of a column by its type.
fn wrong_type(
    header: &Header,
    column: usize,
    ty: &dyn std::fmt::Display,
    input: &Filling<'_>,
    hint: &str,
) -> Diagnostic {
    let Header { table, names, .. } = header;
    let (column, kind) = (&names[column], input.want.input.kind.name());
    let message = format!("column `{column}` of {table} holds no {kind}: {ty}");
    let finding = Diagnostic::new(Code::DataType, message);
    finding.because(read_from_it(input.want.input)).hint(hint)
}

/// Makes the error for a table that could not be read to its end.
pub(crate) fn broken(table: &str, cause: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::new(Code::DataUnreadable, format!("cannot read {table}"))
        .because(cause.to_string())
        .hint("whatever made the table has to make it again")
}
