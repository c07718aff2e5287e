//! Arguments of a call with a program's data: arrays by input, and tables, each with the inputs
//! that it fills.

use crate::array::{self, Array};
use crate::{error, table};
use pyo3::exceptions::{PyException, PyImportError};
use pyo3::prelude::*;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_engine::EngineError;
use sealane_engine::data::{self, Inputs};
use sealane_host::Failure;
use sealane_program::graph::{Input, Program};
use sealane_tables::{InputSpec, TableSource};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A table argument from Python, with the names of the inputs that it fills.
pub type TableArg<'py> = (Vec<String>, TableData<'py>);

/// Location of a table.
#[derive(FromPyObject)]
pub enum TableData<'py> {
    /// In a file.
    File(PathBuf),
    /// In memory.
    Memory(Bound<'py, PyAny>),
}

/// Data arguments of a call. Data in memory have been read; files are read once it is known which
/// party owns them.
pub struct InputArgs {
    inputs: Inputs,
    /// Files with the indices of the inputs that each fills.
    files: Vec<(PathBuf, Vec<usize>)>,
    /// True if a table fills no input at all.
    idle: bool,
}

impl InputArgs {
    /// Reads the arguments for the inputs of a program.
    pub fn new(
        program: &Program,
        arrays: BTreeMap<String, Array>,
        tables: Vec<TableArg<'_>>,
    ) -> PyResult<InputArgs> {
        let find = |name: &String| {
            let index = program.inputs.iter().position(|input| input.name == *name);
            index.ok_or_else(|| unknown(program, name))
        };
        let mut given = InputArgs {
            inputs: Inputs::none(program),
            files: Vec::new(),
            idle: tables.iter().any(|(names, _)| names.is_empty()),
        };
        for (name, array) in arrays {
            given.take_array(program, find(&name)?, array)?;
        }
        for (names, place) in tables {
            let indices = names.iter().map(find).collect::<PyResult<Vec<_>>>()?;
            match place {
                TableData::File(path) => given.files.push((path, indices)),
                TableData::Memory(item) => given.take_table(program, indices, &item)?,
            }
        }
        Ok(given)
    }

    fn take_array(&mut self, program: &Program, index: usize, mut array: Array) -> PyResult<()> {
        let want = InputSpec::of(program, &program.inputs[index]);
        if array.1 == [0] && want.rows.is_some() {
            // No rows do not tell the dimensions of one.
            let Input { kind, shape, .. } = want.input;
            array.1.extend(kind.cells(&shape.fixed));
        }
        let loaded = array::input(want, array)?;
        let loaded = loaded.map_err(|finding| error::raised(EngineError::from(finding)))?;
        self.inputs.take(program, index, loaded);
        Ok(())
    }

    /// Reads a table to its end before the next one is opened: DuckDB has one stream at a time. Its
    /// owner may need the interpreter meanwhile, on whatever thread it works.
    fn take_table(
        &mut self,
        program: &Program,
        indices: Vec<usize>,
        item: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = item.py();
        let Some(first) = indices.first().map(|index| &program.inputs[*index]) else {
            return Ok(());
        };
        let column = first.columns.first().unwrap_or(&first.name);
        let reader = table::open(item, column).map_err(|error| no_table(item, error))?;
        let name = "the table";
        let read =
            py.detach(|| data::read(program, [(TableSource::Batches { name, reader }, indices)]));
        self.add(read.map_err(|finding| error::raised(refused(finding)))?);
        Ok(())
    }

    fn add(&mut self, read: Inputs) {
        let filled = self.inputs.data.iter_mut().zip(read.data);
        filled.for_each(|(slot, data)| *slot = slot.take().or(data));
        self.inputs.notes.extend(read.notes);
        self.inputs.doubts.extend(read.doubts);
    }

    /// Returns the inputs of one party, each of which it owns and gives.
    pub fn of_one(self, program: &Program, me: u8) -> Result<Inputs, Failure> {
        let served = self.files.iter().flat_map(|(_, inputs)| inputs);
        let memory = (0..program.inputs.len()).filter(|index| self.inputs.data[*index].is_some());
        let given = served.copied().chain(memory).collect::<Vec<_>>();
        if self.idle {
            let message = "this party has no input";
            return Err(refused(
                Diagnostic::new(Code::DataUnknownInput, message)
                    .because("a table was given for it")
                    .hint("leave out `input=`: it needs none to take part"),
            ));
        }
        let mut inputs = program.inputs.iter().enumerate();
        let mut foreign = inputs
            .clone()
            .filter(|(index, input)| input.owner != me && given.contains(index));
        if let Some((_, input)) = foreign.next() {
            let message = format!("`{}` is an input of another party", input.name);
            let finding = Diagnostic::new(Code::DataUnknownInput, message);
            return Err(refused(finding.hint("leave it out: its owner gives it")));
        }
        let missing =
            |(index, input): &(usize, &Input)| input.owner == me && !given.contains(index);
        if let Some((_, input)) = inputs.find(missing) {
            let message = format!("there are no data for the input `{}`", input.name);
            return Err(refused(
                Diagnostic::new(Code::DataMissing, message)
                    .because(format!("`{}` owns it", program.parties[usize::from(me)]))
                    .hint(
                        "give as `input=` a table for all inputs, or a mapping with each of them",
                    ),
            ));
        }
        let inputs = self.of_all(program)?;
        data::own_rows(program, &inputs.data).map_err(refused)?;
        Ok(inputs)
    }

    /// Returns the inputs of all parties: those from memory, and those read from files.
    pub fn of_all(mut self, program: &Program) -> Result<Inputs, Failure> {
        for (path, indices) in std::mem::take(&mut self.files) {
            let read = data::read(program, [(TableSource::File(&path), indices)]);
            self.add(read.map_err(refused)?);
        }
        Ok(self.inputs)
    }
}

/// The name of two columns of a table, if it has such: pandas does not hand these on.
fn column_twice(item: &Bound<'_, PyAny>) -> Option<String> {
    let columns = item.getattr("columns").ok()?.try_iter().ok()?;
    let mut seen = BTreeSet::new();
    let mut names = columns.map_while(|name| Some(name.ok()?.to_string()));
    names.find(|name| !seen.insert(name.clone()))
}

/// Makes the error for a table that could not be opened, with the owner's exception as its cause.
/// pandas needs another package.
fn no_table(item: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = item.py();
    // Ctrl-C is no error of the table, and an exception of Sealane is already more precise.
    let foreign = error.is_instance_of::<PyException>(py);
    if !foreign || error::finding_of(py, error.value(py)).is_some() {
        return error;
    }
    let (code, hint) = if error.is_instance_of::<PyImportError>(py) {
        (
            Code::DataType,
            "install what it names, or give the columns as an array: `x.to_numpy()`",
        )
    } else {
        (
            Code::DataUnreadable,
            "give a table whose `__arrow_c_stream__` or `__arrow_c_array__` gives capsules as Arrow \
         says, or its columns as arrays",
        )
    };
    let message = format!("a table of type {} cannot be read", item.get_type());
    let (code, message, hint) = match column_twice(item) {
        Some(name) => (
            Code::DataColumnTwice,
            format!("the table has two columns `{name}`"),
            "rename or drop one of the columns",
        ),
        None => (code, message, hint),
    };
    let kind = error.get_type(py).name().map(|name| name.to_string());
    let reported = [kind.unwrap_or_default(), error.value(py).to_string()].join(": ");
    let finding = Diagnostic::new(code, message).because(reported);
    let ours = error::raised(refused(finding.hint(hint)));
    ours.set_cause(py, Some(error));
    ours
}

fn unknown(program: &Program, name: &str) -> PyErr {
    let names = program.inputs.iter().map(|input| input.name.as_str());
    let hint = format!("its inputs are: {}", names.collect::<Vec<_>>().join(", "));
    let what = format!("the program has no input `{name}`");
    error::raised(Failure::new(Code::UnknownInput, what, hint))
}

fn refused(finding: Diagnostic) -> Failure {
    Failure::from(finding)
}
