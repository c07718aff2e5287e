//! Parquet files, as pandas, Polars, DuckDB, pyarrow and Spark write them, and as results are
//! written.
//!
//! The metadata of the file is checked before a page is read: its rows against the bound of each
//! input, its columns against the requirements of the inputs. Pages of other columns are not read.

use crate::arrow::{ArrowTable, broken};
use crate::input_spec::{InputSpec, Loaded};
use crate::{guard, pages, unreadable, unreadable_but};
use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use sealane_diagnostic::Diagnostic;
use sealane_files::Accept;
use std::io::{self, Write};
use std::path::Path;

/// Rows that are in memory at a time, besides the page that they come from.
const BATCH_ROWS: usize = 8192;

/// Reads the inputs of a file, batch by batch.
pub(crate) fn read(path: &Path, wants: &[InputSpec<'_>]) -> Result<Vec<Loaded>, Diagnostic> {
    let name = path.display().to_string();
    // The library asserts its own invariants, and a damaged file can violate them.
    guard::run(|| read_file(path, &name, wants))
        .unwrap_or_else(|| Err(broken(&name, &"it contradicts itself: it was damaged")))
}

fn read_file(path: &Path, name: &str, wants: &[InputSpec<'_>]) -> Result<Vec<Loaded>, Diagnostic> {
    let file = sealane_files::open(path, Accept::File);
    let file = file.map_err(|error| unreadable(path, &error))?;
    let pages = file.try_clone().map_err(|error| unreadable(path, &error))?;
    // The Arrow schema that the writer may have stored is read as well: only it tells that a column
    // holds durations and not plain numbers.
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| not_parquet(path, &error))?;
    let table = ArrowTable::new(name, builder.schema(), wants)?;
    let rows = builder.metadata().file_metadata().num_rows();
    let rows = u64::try_from(rows).map_err(|_| broken(name, &"it has less than no rows"))?;
    table.expect(rows)?;
    let needed = table.needed();
    let mask = ProjectionMask::roots(builder.parquet_schema(), needed.iter().copied());
    for group in builder.metadata().row_groups() {
        let columns = group.columns().iter().enumerate();
        for (_, column) in columns.filter(|(leaf, _)| mask.leaf_included(*leaf)) {
            let (start, length) = column.byte_range();
            pages::check(&pages, start, length).map_err(|error| broken(name, &error))?;
        }
    }
    let reader = builder.with_projection(mask).with_batch_size(BATCH_ROWS);
    let batches = reader.build().map_err(|error| broken(name, &error))?;
    table.take(&needed, batches)
}

/// Writes one table.
pub(crate) fn write(file: impl Write + Send, batch: &RecordBatch) -> io::Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("sealane {}", env!("CARGO_PKG_VERSION")))
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(file, batch.schema(), options)?;
    writer.write(batch)?;
    writer.close()?;
    Ok(())
}

fn not_parquet(path: &Path, error: &ParquetError) -> Diagnostic {
    let text = error.to_string();
    let mut words = ["EOF", "footer", "less than"].iter();
    match error {
        ParquetError::External(_) => unreadable(path, error),
        _ if words.any(|word| text.contains(word)) => {
            let cause = "it is no Parquet file, or was cut off";
            unreadable_but(path, &cause, "write the file again, and copy it as a whole")
        }
        _ => broken(&path.display().to_string(), error),
    }
}
