//! Crate `tables`: tables of users to typed [`Data`](sealane_program::types::Data) and back.
//!
//! A [`TableSource`] is a file or a stream of Arrow record batches; [`read`] reads several inputs
//! from it, each by its [`InputSpec`], in one pass, and checks every cell: type, shape, declared
//! range, bound on rows. A value that does not match is refused with its position: line and column
//! of a CSV, row and column of a table, the element of an array. Such a text may contain values of
//! the party that reads it; no other party sees it.
//!
//! In the other direction, a [`Frame`] holds the results of one table side by side; its format
//! follows from the name of the file.
//!
//! | file | what it does |
//! |---|---|
//! | `input_spec` | requirements of an input on a table, and the checks that all formats share |
//! | `header` | columns that fill an input |
//! | `number` | a number of a source to the stored number of an input: one rule for all sources |
//! | `cell` | dates, timestamps, texts, categories and missing values, in and out |
//! | `csv_table` | CSV in |
//! | `records` | records of a CSV in bounded memory, with the place of every cell |
//! | `arrow` | record batches in |
//! | `parquet_file`, `pages` | Parquet, in and out; bounds on the sizes of pages |
//! | `guard` | turns a panic of a library into an error |
//! | `npy` | NumPy's files, in and out |
//! | `texts` | text columns of a CSV |
//! | `frame` | results side by side, and out to files and record batches |
//!
//! This crate knows nothing of parties: `engine` decides which party owns which input, and which
//! row counts have to agree.
#![forbid(unsafe_code)]

mod arrow;
mod cell;
mod csv_table;
mod frame;
mod guard;
mod header;
mod input_spec;
mod npy;
mod number;
mod pages;
mod parquet_file;
mod records;
mod texts;

pub use frame::{Format, Frame, Unfinished};

pub use cell::{Cell, Shown};
pub use input_spec::{InputSpec, Loaded, array, cells, check, integers};
pub use number::Number;
pub use texts::{Texts, decomposed_note};

use arrow_array::RecordBatchReader;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::graph::Input;
use std::path::Path;

/// Source of a table.
pub enum TableSource<'a> {
    /// A file: `.npy` holds one array, `.parquet` a table, and anything else is CSV with a header
    /// line, which may be packed by gzip.
    File(&'a Path),
    /// Record batches, one after the other.
    Batches {
        /// Name of the table for people.
        name: &'a str,
        /// The batches, which are read once.
        reader: Box<dyn RecordBatchReader + Send + 'a>,
    },
}

/// Reads the inputs that come from one source, each once; returns them in the order of `wants`.
///
/// # Errors
/// The source cannot be read, or its content does not match an input.
pub fn read(source: TableSource<'_>, wants: &[InputSpec<'_>]) -> Result<Vec<Loaded>, Diagnostic> {
    match source {
        TableSource::File(path) if has_extension(path, "npy") => npy::read(path, wants),
        TableSource::File(path) if has_extension(path, "parquet") => {
            parquet_file::read(path, wants)
        }
        TableSource::File(path) => csv_table::read(path, wants),
        TableSource::Batches { name, reader } => {
            let schema = reader.schema();
            let all = (0..schema.fields().len()).collect::<Vec<_>>();
            arrow::ArrowTable::new(name, &schema, wants)?.take(&all, reader)
        }
    }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

fn unreadable(path: &Path, cause: &dyn std::fmt::Display) -> Diagnostic {
    let hint = "check the path and the format: CSV with a header line, .parquet or .npy";
    unreadable_but(path, cause, hint)
}

/// Makes the refusal of a file that could be read after following the hint.
fn unreadable_but(path: &Path, cause: &dyn std::fmt::Display, hint: &str) -> Diagnostic {
    let message = format!("cannot read {}", path.display());
    let finding = Diagnostic::new(Code::DataUnreadable, message);
    finding.because(cause.to_string()).hint(hint)
}

/// Why a finding about what an input is read from matters.
fn read_from_it(input: &Input) -> String {
    format!("the input `{}` is read from it", input.name)
}
