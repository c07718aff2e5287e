//! Room `tables`: tables of users to typed [`Data`](sealane_program::types::Data) and back.
//!
//! A [`Source`] is a file or a stream of Arrow record batches; [`read`] takes what several inputs
//! [`Want`] of it, in one pass, and checks every cell: type, shape, declared range, bound on rows.
//! Whatever does not fit is refused with the place: line and column of a CSV, row and column of a
//! table, the element of an array. Values in such a text are those of the party that reads it, and
//! no one else sees them.
//!
//! The other way, a [`Frame`] is what results of one table look like side by side; its format
//! follows from the name of the file.
//!
//! | file | what it does |
//! |---|---|
//! | `want` | what an input wants of a table, and the checks that all formats share |
//! | `header` | which columns fill an input |
//! | `number` | a number of a source to the stored number of an input: one rule for all sources |
//! | `csv_table` | CSV in, with the place of every cell |
//! | `quotes` | a CSV whose quotes do not say what its cells are is refused |
//! | `arrow` | record batches in |
//! | `parquet_file`, `pages` | Parquet, in and out; what its pages claim, before they are unpacked |
//! | `guard` | a library's panic becomes a value, and nothing is printed |
//! | `npy` | NumPy's files, in and out |
//! | `texts` | the cells of a CSV as texts, for what is not a number yet |
//! | `frame` | results side by side, and out to files and record batches |
//!
//! It knows nothing of parties: who owns which input, and which row counts have to agree, is
//! decided in `engine`.
#![forbid(unsafe_code)]

mod arrow;
mod csv_table;
mod frame;
mod guard;
mod header;
mod npy;
mod number;
mod pages;
mod parquet_file;
mod quotes;
mod texts;
mod want;

pub use frame::{Format, Frame, Unfinished};

pub use number::Number;
pub use texts::Texts;
pub use want::{Loaded, Want, array, check, integers};

use arrow_array::RecordBatchReader;
use sealane_program::diagnostic::Diagnostic;
use std::fs;
use std::path::Path;
use zeroize::Zeroizing;

/// Where a table lies.
pub enum Source<'a> {
    /// A file: `.npy` holds one array, `.parquet` a table, and anything else is CSV with a header
    /// line.
    File(&'a Path),
    /// Record batches, one after the other.
    Batches {
        /// What people call the table.
        name: &'a str,
        /// The batches, which are read once.
        reader: Box<dyn RecordBatchReader + Send + 'a>,
    },
}

/// Reads the inputs that come from one source, each once; they come in the order of `wants`.
///
/// # Errors
/// The source cannot be read, or what it holds is not what an input wants.
pub fn read(source: Source<'_>, wants: &[Want<'_>]) -> Result<Vec<Loaded>, Diagnostic> {
    match source {
        Source::File(path) if has_extension(path, "npy") => npy::read(path, wants),
        Source::File(path) if has_extension(path, "parquet") => parquet_file::read(path, wants),
        Source::File(path) => csv_table::read(path, wants),
        Source::Batches { name, reader } => {
            let schema = reader.schema();
            let all = (0..schema.fields().len()).collect::<Vec<_>>();
            arrow::Table::new(name, &schema, wants)?.take(&all, reader)
        }
    }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// A file in memory, erased when it is no longer needed.
fn read_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, Diagnostic> {
    let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
    Ok(Zeroizing::new(bytes))
}

fn unreadable(path: &Path, cause: &dyn std::fmt::Display) -> Diagnostic {
    let hint = "check the path and the format: CSV with a header line, .parquet or .npy";
    unreadable_but(path, cause, hint)
}

/// A file that could be read if the hint were followed.
fn unreadable_but(path: &Path, cause: &dyn std::fmt::Display, hint: &str) -> Diagnostic {
    Diagnostic::new("data-unreadable", format!("cannot read {}", path.display()))
        .because(cause.to_string())
        .hint(hint)
}
