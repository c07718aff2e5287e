//! Tables between Python and Arrow, through the PyCapsule interface: pandas, Polars, DuckDB and
//! pyarrow pass streams of record batches, and take results as one. Only the checks of crate
//! `tables` copy memory, and none of these packages is needed.
//!
//! The interface is that of "The Arrow PyCapsule Interface" (arrow.apache.org/docs/format): methods
//! `__arrow_c_stream__` and `__arrow_c_array__`, which return structs of the Arrow C data interface
//! in capsules with stated names. Code in this process is trusted to follow it.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchIterator, make_array};
use arrow_array::{RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;
use std::sync::Arc;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Opens the table of an object with `__arrow_c_stream__` or `__arrow_c_array__`, to be read once.
/// A single column is a table, too, and then `column` is its name.
///
/// # Errors
/// The exception of the object, or that it does not follow the interface.
pub fn open(item: &Bound<'_, PyAny>, column: &str) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let item = &without_null(item)?;
    let reader = if item.hasattr("__arrow_c_stream__")? {
        stream(&item.call_method0("__arrow_c_stream__")?)?
    } else {
        array(&item.call_method0("__arrow_c_array__")?)?
    };
    Ok(Box::new(reader.named(column)))
}

/// Columns of type `Null` with another type: Polars hands them on with a buffer, which by the
/// format they do not have.
fn without_null<'py>(item: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !item.get_type().module()?.to_str()?.starts_with("polars.") {
        return Ok(item.clone());
    }
    let polars = item.py().import("polars")?;
    let (null, other) = (polars.getattr("Null")?, polars.getattr("Boolean")?);
    if item.hasattr("with_columns")? {
        let columns = polars.call_method1("col", (null,))?;
        return item.call_method1("with_columns", (columns.call_method1("cast", (other,))?,));
    }
    if item.getattr("dtype")?.eq(null)? {
        item.call_method1("cast", (other,))
    } else {
        Ok(item.clone())
    }
}

/// Results of one table side by side, for consumers of Arrow streams: pandas, Polars, DuckDB and
/// pyarrow. `len` is the number of rows. `Report.table` makes it.
///
/// >>> import sealane as sl
/// >>> @sl.program
/// ... def warm(
/// ...     heat: sl.Private[sl.i8, "plant", "days <= 7"], limit: sl.Private[sl.i8, "office"]
/// ... ) -> sl.Revealed[sl.boolean, "office"]:
/// ...     return heat > limit
/// >>> table = warm.simulate((12, 25, 31), 20, progress=False).table()
/// >>> len(table), table.columns
/// (3, ('result',))
#[pyclass(module = "sealane._core", frozen)]
pub struct Table {
    name: String,
    batch: RecordBatch,
}

impl Table {
    /// Makes the table of this name.
    pub fn new(name: String, batch: RecordBatch) -> Table {
        Table { name, batch }
    }
}

#[pymethods]
impl Table {
    /// Names of the columns: those of the results, numbered where one has several.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.names())
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let (rows, names) = (self.batch.num_rows(), self.names().join(", "));
        let s = if rows == 1 { "" } else { "s" };
        format!("<results of {}, {rows} row{s}: {names}>", self.name)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref());
        PyCapsule::new(py, schema.map_err(refused)?, Some(SCHEMA.into()))
    }

    /// Returns the table as a stream of one batch. A consumer that needs other types casts it
    /// itself.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = [Ok(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new(py, stream, Some(STREAM.into()))
    }
}

impl Table {
    fn names(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }
}

/// Arrays of one type, in order: structs, whose fields are columns, or a single column.
struct Reader {
    schema: SchemaRef,
    /// True if the arrays are structs.
    is_table: bool,
    arrays: Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>,
}

impl Reader {
    fn new(
        field: &Field,
        arrays: impl Iterator<Item = Result<ArrayRef, ArrowError>> + Send + 'static,
    ) -> Reader {
        let (fields, is_table) = match field.data_type() {
            DataType::Struct(fields) => (fields.clone(), true),
            _ => (vec![field.clone()].into(), false),
        };
        Reader {
            schema: Arc::new(Schema::new(fields)),
            is_table,
            arrays: Box::new(arrays),
        }
    }

    /// Sets the name of a single column.
    fn named(mut self, column: &str) -> Reader {
        if let (false, [field]) = (self.is_table, &self.schema.fields()[..]) {
            let field: FieldRef = Arc::new(field.as_ref().clone().with_name(column));
            self.schema = Arc::new(Schema::new(vec![field]));
        }
        self
    }

    fn batch(&self, array: ArrayRef) -> Result<RecordBatch, ArrowError> {
        let rows = RecordBatchOptions::new().with_row_count(Some(array.len()));
        let columns = match array.as_struct_opt() {
            Some(table) if self.is_table => {
                if table.null_count() > 0 {
                    let text = "a row of a table is missing as a whole";
                    return Err(ArrowError::CDataInterface(text.to_string()));
                }
                table.columns().to_vec()
            }
            _ => vec![array],
        };
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &rows)
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let array = self.arrays.next()?;
        Some(array.and_then(|array| self.batch(array)))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Reads the result of `__arrow_c_stream__`.
fn stream(given: &Bound<'_, PyAny>) -> PyResult<Reader> {
    let stream = capsule(given, STREAM)?
        .pointer()
        .cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name points to a valid stream, by the interface; the interpreter is
    // held, so no other code moves out of it meanwhile, and the moved-from stream is marked
    // released.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream) };
    let arrays = ArrayStreamReader::try_new(stream).map_err(refused)?;
    Ok(Reader::new(&arrays.field().clone(), arrays))
}

/// Reads the result of `__arrow_c_array__`: the schema and one array.
fn array(given: &Bound<'_, PyAny>) -> PyResult<Reader> {
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = given.extract()?;
    let schema = capsule(&schema, SCHEMA)?;
    let array = capsule(&array, ARRAY)?.pointer().cast::<FFI_ArrowArray>();
    // SAFETY: a capsule of this name points to a valid schema, and `schema` keeps it alive.
    let schema = unsafe { schema.reference::<FFI_ArrowSchema>() };
    let field = Field::try_from(schema).map_err(refused)?;
    // SAFETY: as for a stream; and schema and array, which come from one call, belong together.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array), schema) };
    let array = make_array(data.map_err(refused)?);
    Ok(Reader::new(&field, [Ok(array)].into_iter()))
}

/// Casts the object to a capsule of this name.
fn capsule<'a, 'py>(
    given: &'a Bound<'py, PyAny>,
    name: &CStr,
) -> PyResult<&'a Bound<'py, PyCapsule>> {
    let capsule = given.downcast::<PyCapsule>()?;
    if capsule.name()? != Some(name) {
        let text = format!("an Arrow capsule is not one of {}", name.to_string_lossy());
        return Err(PyTypeError::new_err(text));
    }
    Ok(capsule)
}

fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
