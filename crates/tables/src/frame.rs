//! Results of one table side by side, and their output to a file.
//!
//! A result of one element per row is a column of its name; a result of more elements per row takes
//! as many columns, `NAME_0`, `NAME_1` and so on, in every format. So another program can read the
//! output of one with the columns that its signature names.

use crate::cell::Shown;
use crate::{npy, parquet_file};
use arrow_array::types::{
    Date32Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMillisecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, Int32Array, PrimitiveArray,
    RecordBatch, StringArray, make_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::ArrowError;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_files::{NewFile, Rights, Taken};
use sealane_program::kind::{Form, Kind};
use sealane_program::types::{Data, Range, Type, make_room};
use sealane_program::{decimal, float};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Format of a file, chosen by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a header line.
    Csv,
    /// Columns in binary, with their types.
    Parquet,
    /// One NumPy array.
    Npy,
}

impl Format {
    const KNOWN: [(&'static str, Format); 3] = [
        ("csv", Format::Csv),
        ("parquet", Format::Parquet),
        ("npy", Format::Npy),
    ];

    /// Returns the format of results written to `path`.
    ///
    /// # Errors
    /// Its name has no extension, or an unknown one.
    pub fn of(path: &Path) -> Result<Format, Diagnostic> {
        let known = |(ending, _): &&(&str, Format)| crate::has_extension(path, ending);
        let found = Format::KNOWN.iter().find(known);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let endings = Format::KNOWN.map(|(ending, _)| format!("`.{ending}`"));
            let message = format!("`{}` names no format that results have", path.display());
            Diagnostic::new(Code::Output, message)
                .because("the ending of the name chooses the format")
                .hint(format!("end the name in one of {}", endings.join(", ")))
        })
    }

    /// Refuses a file of this format for results that it cannot represent exactly.
    ///
    /// # Errors
    /// It holds one array, and there are several results; or no column of it represents a type.
    pub fn check(self, path: &Path, results: &[(Type, &Kind)]) -> Result<(), Diagnostic> {
        let refuse = |what: String, reason: &str| {
            let message = format!("`{}` cannot hold {what}", path.display());
            let finding = Diagnostic::new(Code::Output, message).because(reason);
            Err(finding.hint("write a `.csv` file, which holds all results as they are"))
        };
        let held = |ty: &Type| match self {
            Format::Csv => true,
            Format::Parquet => exact_column(*ty).is_some(),
            Format::Npy => decimal::fits_f64(*ty) || !ty.is_fixed(),
        };
        if self == Format::Npy && results.len() > 1 {
            let what = format!("{} results", results.len());
            return refuse(what, "a `.npy` file holds one array");
        }
        let meant = |kind: &Kind| self != Format::Npy || kind.is_number();
        if let Some((_, kind)) = results.iter().find(|(_, kind)| !meant(kind)) {
            return refuse(kind.name().to_string(), "a `.npy` file holds numbers");
        }
        match results.iter().find(|(ty, _)| !held(ty)) {
            Some((ty, _)) => refuse(format!("values of {ty} exactly"), TOO_FINE),
            None => Ok(()),
        }
    }
}

/// Reason why a format refuses a fixed-point type.
const TOO_FINE: &str = "they have more digits than its numbers, and a result is never rounded";

/// Results side by side, as columns of one table.
pub struct Frame<'a> {
    results: Vec<Shown<'a>>,
    columns: Vec<Column<'a>>,
    rows: usize,
}

/// One column: every `width`-th cell of a result, from `first` on.
struct Column<'a> {
    name: String,
    result: Shown<'a>,
    first: usize,
    width: usize,
}

impl<'a> Frame<'a> {
    /// Makes a frame of results that are numbers, by name. Either all belong to the rows of one
    /// table, which is their first dimension, or (`by_rows` is false) none does, and they are one
    /// row.
    pub fn new(results: Vec<(&'a str, &'a Data)>, by_rows: bool) -> Frame<'a> {
        let shown = |(name, data)| Shown::numbers(name, data);
        Frame::of(results.into_iter().map(shown).collect(), by_rows)
    }

    /// Makes a frame of results of any kind, as [`Frame::new`] does of numbers.
    pub fn of(results: Vec<Shown<'a>>, by_rows: bool) -> Frame<'a> {
        let count = |data: &Data| if by_rows { data.shape[0] as usize } else { 1 };
        let rows = results.first().map_or(0, |result| count(result.data));
        let mut columns: Vec<Column<'a>> = Vec::new();
        let mut taken = BTreeSet::new();
        for &result in &results {
            let dims = &result.data.shape[usize::from(by_rows)..];
            let width = result.kind.cells(dims).iter().product::<u64>() as usize;
            for first in 0..width {
                let mut name = match width {
                    1 => result.name.to_string(),
                    _ => format!("{}_{first}", result.name),
                };
                // `a_0` may be a separate result beside the first column of `a`.
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
                columns.push(Column {
                    name,
                    result,
                    first,
                    width,
                });
            }
        }
        Frame {
            results,
            columns,
            rows,
        }
    }

    /// Writes the file atomically, in the format of its extension.
    ///
    /// # Errors
    /// The extension is unknown, the format cannot represent these results, or the file cannot be
    /// written.
    pub fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        self.unfinished(path)?.keep()
    }

    /// Writes the file under a temporary name, for results that go to several files. A new file is
    /// readable by its owner alone, since results are confidential. A file that replaces another
    /// one keeps the permissions of that one.
    ///
    /// # Errors
    /// The errors of [`Frame::write`].
    pub fn unfinished(&self, path: &Path) -> Result<Unfinished, Diagnostic> {
        let format = Format::of(path)?;
        let types = self.results.iter();
        let types = types.map(|result| (result.data.ty, result.kind));
        format.check(path, &types.collect::<Vec<_>>())?;
        let written = || {
            let mut file = NewFile::begin(path, Rights::AsBefore, Taken::Replace)?;
            match format {
                Format::Csv => file.write_all(&self.csv())?,
                Format::Parquet => self.parquet(&mut file)?,
                Format::Npy => {
                    let mut arrays = self.results.iter();
                    arrays.try_for_each(|result| npy::write(&mut file, result.data))?;
                }
            }
            Ok(file)
        };
        let file = written().map_err(|error| unwritable(path, &error))?;
        let path = path.to_path_buf();
        Ok(Unfinished { file, path })
    }

    /// Returns the results as one record batch. Integers take the narrowest type of Arrow; fixed
    /// point is a `Float64` if that represents every value of its type, else a decimal; floating
    /// point is itself, `bf16` a `Float32`.
    ///
    /// # Errors
    /// A fixed-point type has values that neither represents.
    pub fn batch(&self) -> Result<RecordBatch, Diagnostic> {
        let column = |column: &Column<'a>| {
            let array = column.array(self.rows).ok_or_else(|| {
                let ty = column.result.data.ty;
                let message = format!("a column cannot hold values of {ty} exactly");
                Diagnostic::new(Code::Output, message)
                    .because(TOO_FINE)
                    .hint("take the result as NumPy, or write a `.csv` file")
            })?;
            Ok((column.name.clone(), array))
        };
        let columns = self.columns.iter().map(column);
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_from_iter(columns).map_err(|error: ArrowError| {
            Diagnostic::new(Code::Internal, format!("internal error: {error}"))
        })
    }

    fn parquet(&self, file: &mut NewFile) -> io::Result<()> {
        let batch = self.batch().map_err(io::Error::other)?;
        parquet_file::write(file, &batch)
    }

    /// Formats a header and one line for each row.
    fn csv(&self) -> Zeroizing<Vec<u8>> {
        let names = self.columns.iter().map(|column| column.name.as_str());
        let header = names.collect::<Vec<_>>().join(",") + "\n";
        let mut text = Zeroizing::new(header.into_bytes());
        let mut append = |more: &str| {
            make_room(&mut text, more.len());
            text.extend_from_slice(more.as_bytes());
        };
        for row in 0..self.rows {
            for (index, column) in self.columns.iter().enumerate() {
                if index > 0 {
                    append(",");
                }
                let cell = column.csv(row);
                // A line without any letter would be no row to its readers.
                let is_blank = cell.is_empty() && self.columns.len() == 1;
                append(if is_blank { "\"\"" } else { &cell });
            }
            append("\n");
        }
        text
    }
}

/// A file of results under a temporary name; it is deleted unless it is kept.
#[must_use = "it goes away if it is not kept"]
pub struct Unfinished {
    file: NewFile,
    path: PathBuf,
}

impl Unfinished {
    /// Renames the file to its final name.
    ///
    /// # Errors
    /// The name cannot be used; a file of that name is unchanged.
    pub fn keep(self) -> Result<(), Diagnostic> {
        let kept = self.file.keep();
        kept.map_err(|error| unwritable(&self.path, &error))
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    let message = format!("results cannot be written to {}", path.display());
    Diagnostic::new(Code::Output, message)
        .because(error.to_string())
        .hint("name a file in a folder that exists, has room, and that you may write to")
}

impl Column<'_> {
    /// The cell in a row.
    fn cell(&self, row: usize) -> usize {
        row * self.width + self.first
    }

    /// Formats a cell for CSV: nothing where it is empty.
    fn csv(&self, row: usize) -> Zeroizing<String> {
        let cell = self.cell(row);
        if self.result.is_missing(cell) {
            return Zeroizing::new(String::new());
        }
        let Some(text) = self.result.text(cell) else {
            let number = self.result.number(cell);
            return Zeroizing::new(decimal::value_text(number, self.result.data.ty));
        };
        let text = Zeroizing::new(text);
        if text.contains([',', '"', '\n', '\r']) || text.trim() != *text {
            Zeroizing::new(format!("\"{}\"", text.replace('"', "\"\"")))
        } else {
            text
        }
    }

    /// Returns the column in its exact Arrow type; none if there is none. Empty cells are nulls.
    fn array(&self, rows: usize) -> Option<ArrayRef> {
        let column = self.meant(rows)?;
        if self.result.missing.is_none() {
            return Some(column);
        }
        let present = (0..rows).map(|row| !self.result.is_missing(self.cell(row)));
        let present = BooleanArray::from_iter(present.map(Some));
        let nulls = Some(NullBuffer::new(present.values().clone()));
        let data = column.to_data().into_builder().nulls(nulls).build();
        Some(make_array(data.ok()?))
    }

    /// Returns the column by the meaning of its elements, without its nulls.
    fn meant(&self, rows: usize) -> Option<ArrayRef> {
        let numbers = (0..rows).map(|row| self.result.number(self.cell(row)));
        Some(match &self.result.kind.form {
            Form::Number | Form::Missing(_) => return self.numbers(rows),
            Form::Date => {
                let days = numbers.map(|days| days as i32);
                Arc::new(PrimitiveArray::<Date32Type>::from_iter_values(days))
            }
            Form::Timestamp => {
                // Parquet has no unit of seconds. The years 1 to 9999 have room in milliseconds.
                let units = numbers.map(|seconds| seconds as i64 * 1000);
                Arc::new(PrimitiveArray::<TimestampMillisecondType>::from_iter_values(units))
            }
            Form::Text(_) => {
                let texts = (0..rows).map(|row| self.result.text(self.cell(row)));
                Arc::new(StringArray::from_iter(texts))
            }
            Form::Category(names) => {
                let names = StringArray::from_iter_values(names);
                let keys = Int32Array::from_iter_values(numbers.map(|key| key as i32));
                Arc::new(DictionaryArray::try_new(keys, Arc::new(names)).ok()?)
            }
        })
    }

    fn numbers(&self, rows: usize) -> Option<ArrayRef> {
        let ty = self.result.data.ty;
        let numbers = (0..rows).map(|row| self.result.number(self.cell(row)));
        fn array<T: ArrowPrimitiveType>(
            numbers: impl Iterator<Item = i128>,
            native: impl Fn(i128) -> T::Native,
        ) -> ArrayRef {
            Arc::new(PrimitiveArray::<T>::from_iter_values(numbers.map(native)))
        }

        macro_rules! integers {
            ($ty:ty, $native:ty) => {
                array::<$ty>(numbers, |number| number as $native)
            };
        }
        Some(match exact_column(ty)? {
            Exact::Bool => Arc::new(BooleanArray::from_iter(numbers.map(|bit| Some(bit != 0)))),
            Exact::Int { signed, bits } => match (signed, bits) {
                (false, 8) => integers!(UInt8Type, u8),
                (false, 16) => integers!(UInt16Type, u16),
                (false, 32) => integers!(UInt32Type, u32),
                (false, _) => integers!(UInt64Type, u64),
                (true, 8) => integers!(Int8Type, i8),
                (true, 16) => integers!(Int16Type, i16),
                (true, 32) => integers!(Int32Type, i32),
                (true, _) => integers!(Int64Type, i64),
            },
            Exact::Float { fraction } => {
                array::<Float64Type>(numbers, |number| decimal::to_f64(number, fraction).0)
            }
            Exact::Bits(16) => array::<Float16Type>(numbers, |bits| {
                <Float16Type as ArrowPrimitiveType>::Native::from_bits(bits as u16)
            }),
            Exact::Bits(32) => array::<Float32Type>(numbers, |bits| f32::from_bits(bits as u32)),
            Exact::Bits(_) => array::<Float64Type>(numbers, |bits| f64::from_bits(bits as u64)),
            Exact::UpperHalf => {
                array::<Float32Type>(numbers, |bits| f32::from_bits((bits as u32) << 16))
            }
            Exact::Decimal { fraction, scale } => {
                // `stored / 2^f` is `stored * 5^f / 10^f`.
                let unscaled = |number: i128| number * 5i128.pow(fraction.into());
                let column = numbers.map(unscaled);
                let decimals = PrimitiveArray::<Decimal128Type>::from_iter_values(column);
                Arc::new(decimals.with_precision_and_scale(DIGITS, scale).ok()?)
            }
        })
    }
}

/// Digits of the widest decimal that every reader of Arrow and Parquet supports.
const DIGITS: u8 = 38;

/// Arrow type that represents every value of a type exactly.
enum Exact {
    Bool,
    Int {
        signed: bool,
        bits: u8,
    },
    Float {
        fraction: u8,
    },
    Decimal {
        fraction: u8,
        scale: i8,
    },
    /// Floating point of so many bits.
    Bits(u8),
    /// The upper half of an `f32`.
    UpperHalf,
}

/// Returns the column type for a type; none if no column type holds all of its values.
fn exact_column(ty: Type) -> Option<Exact> {
    match ty {
        Type::Bool => Some(Exact::Bool),
        Type::Int { signed, bits, .. } => {
            let bits = bits.next_power_of_two().max(8);
            Some(Exact::Int { signed, bits })
        }
        Type::Float(float::Format::BF16) => Some(Exact::UpperHalf),
        Type::Float(_) => Some(Exact::Bits(ty.bits())),
        Type::Fixed { fraction, .. } if decimal::fits_f64(ty) => Some(Exact::Float { fraction }),
        Type::Fixed { fraction, .. } => {
            let Range { lo, hi } = ty.range();
            let largest = lo.unsigned_abs().max(hi.unsigned_abs());
            let unscaled = 5u128.checked_pow(fraction.into())?.checked_mul(largest)?;
            let scale = i8::try_from(fraction).ok()?;
            (unscaled < 10u128.pow(DIGITS.into())).then_some(Exact::Decimal { fraction, scale })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::types::Type;

    #[test]
    fn columns_stand_side_by_side() {
        let data = |ty, shape: &[u64], numbers: &[i128]| {
            Data::from_numbers(ty, shape.to_vec(), numbers).expect("numbers of the type")
        };
        let flag = data(Type::Bool, &[2], &[1, 0]);
        let pair = data(Type::signed(8), &[2, 2], &[5, -1, 7, 8]);
        let frame = Frame::new(vec![("flag", &flag), ("pair", &pair)], true);
        assert_eq!(*frame.csv(), b"flag,pair_0,pair_1\n1,5,-1\n0,7,8\n");
        let frame = Frame::new(vec![("pair", &pair)], false);
        assert_eq!(*frame.csv(), b"pair_0,pair_1,pair_2,pair_3\n5,-1,7,8\n");
    }
}
