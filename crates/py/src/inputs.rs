//! What a call gives to a program: arrays by input, and tables, each with the inputs that it serves.

use crate::array::{self, Array};
use crate::error;
use crate::table::Batches;
use arrow_array::RecordBatchReader;
use pyo3::prelude::*;
use sealane_cli::Failure;
use sealane_engine::data::{self, Inputs};
use sealane_engine::{EngineError, Kind};
use sealane_program::diagnostic::Diagnostic;
use sealane_program::graph::{Input, Program};
use sealane_tables::Source;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A table as Python gives it, with the names of the inputs that it serves.
pub type Table<'py> = (Vec<String>, Place<'py>);

/// Where a table is.
#[derive(FromPyObject)]
pub enum Place<'py> {
    /// In memory.
    Batches(PyRef<'py, Batches>),
    /// In a file.
    File(PathBuf),
}

/// What a call gives. Arrays are checked; tables are read when it is known whose they are.
pub struct Given {
    inputs: Inputs,
    /// Tables with the indices of the inputs that each serves.
    tables: Vec<(Opened, Vec<usize>)>,
}

/// A table, without the interpreter.
enum Opened {
    File(PathBuf),
    Batches(Box<dyn RecordBatchReader + Send>),
}

impl Given {
    /// Takes what was given for the inputs of a program.
    pub fn new(
        py: Python<'_>,
        program: &Program,
        arrays: BTreeMap<String, Array>,
        tables: Vec<Table<'_>>,
    ) -> PyResult<Given> {
        let find = |name: &String| {
            let index = program.inputs.iter().position(|input| input.name == *name);
            index.ok_or_else(|| unknown(py, program, name))
        };
        let mut inputs = Inputs {
            data: program.inputs.iter().map(|_| None).collect(),
            notes: Vec::new(),
        };
        for (name, array) in arrays {
            let index = find(&name)?;
            let input = &program.inputs[index];
            let (mut data, rounded) = array::input(py, array, input)?;
            inputs.note_rounded(input, rounded);
            let checked = data::check(input, &data);
            checked.map_err(|finding| error::engine(py, &EngineError::data(finding)))?;
            data.ty = input.ty;
            inputs.data[index] = Some(data);
        }
        let open = |(names, place): Table<'_>| {
            let indices = names.iter().map(find).collect::<PyResult<Vec<_>>>()?;
            let first = indices.first().map(|index| &program.inputs[*index]);
            let opened = match place {
                Place::File(path) => Opened::File(path),
                Place::Batches(batches) => {
                    Opened::Batches(batches.take(first.map_or("", own_column))?)
                }
            };
            Ok((opened, indices))
        };
        let tables = tables.into_iter().map(open).collect::<PyResult<_>>()?;
        Ok(Given { inputs, tables })
    }

    /// The inputs of one party, each of which it owns and gives.
    pub fn of_one(self, program: &Program, me: u8) -> Result<Inputs, Failure> {
        let served = self.tables.iter().flat_map(|(_, inputs)| inputs);
        let arrays = (0..program.inputs.len()).filter(|index| self.inputs.data[*index].is_some());
        let given = served.copied().chain(arrays).collect::<Vec<_>>();
        if self.tables.iter().any(|(_, inputs)| inputs.is_empty()) {
            let message = "this party has no input";
            return Err(refused(
                Diagnostic::new("data-unknown-input", message)
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
            let finding = Diagnostic::new("data-unknown-input", message);
            return Err(refused(finding.hint("leave it out: its owner gives it")));
        }
        let missing =
            |(index, input): &(usize, &Input)| input.owner == me && !given.contains(index);
        if let Some((_, input)) = inputs.find(missing) {
            let message = format!("there are no data for the input `{}`", input.name);
            return Err(refused(
                Diagnostic::new("data-missing", message)
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

    /// The inputs of all parties: the arrays, and what is read of the tables.
    pub fn of_all(self, program: &Program) -> Result<Inputs, Failure> {
        let Given { mut inputs, tables } = self;
        for (table, indices) in tables {
            let read = match table {
                Opened::File(path) => data::read(program, [(Source::File(&path), indices)]),
                Opened::Batches(reader) => {
                    let name = "the table";
                    data::read(program, [(Source::Batches { name, reader }, indices)])
                }
            };
            let read = read.map_err(refused)?;
            let filled = inputs.data.iter_mut().zip(read.data);
            filled.for_each(|(slot, data)| *slot = slot.take().or(data));
            inputs.notes.extend(read.notes);
        }
        Ok(inputs)
    }
}

/// The name of the one column that fills an input.
fn own_column(input: &Input) -> &str {
    input.columns.first().unwrap_or(&input.name)
}

fn unknown(py: Python<'_>, program: &Program, name: &str) -> PyErr {
    let names = program.inputs.iter().map(|input| input.name.as_str());
    let hint = format!("its inputs are: {}", names.collect::<Vec<_>>().join(", "));
    let what = format!("the program has no input `{name}`");
    error::failure(py, &Failure::usage("unknown-input", what, hint))
}

fn refused(finding: Diagnostic) -> Failure {
    Failure::new(Kind::Data, finding)
}
