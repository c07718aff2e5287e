//! One party's inputs, read from CSV and `.npy` files and checked against the program before any
//! connection is made. Every error names the file, and for CSV the line and column.

use crate::error::EngineError;
use sealane_program::diagnostic::{Diagnostic, Span};
use sealane_program::graph::{Input, Program};
use sealane_program::types::{Data, Range};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

mod csv_table;
mod npy;

/// Where a party's inputs lie: one file for all, or files by the name of the input.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The file for inputs that have none of their own.
    pub default: Option<PathBuf>,
    /// Files by input.
    pub by_input: BTreeMap<String, PathBuf>,
}

impl Sources {
    /// Sources from `--input` arguments: `FILE` or `NAME=FILE`.
    pub fn from_arguments(arguments: &[String]) -> Sources {
        let mut sources = Sources::default();
        for argument in arguments {
            match argument.split_once('=') {
                Some((name, path)) if !name.contains(['/', '\\', '.']) => {
                    sources.by_input.insert(name.to_string(), path.into());
                }
                _ => sources.default = Some(argument.into()),
            }
        }
        sources
    }

    fn of(&self, input: &Input, owner: &str) -> Result<&Path, Diagnostic> {
        let path = self.by_input.get(&input.name).or(self.default.as_ref());
        path.map(PathBuf::as_path).ok_or_else(|| Diagnostic {
            code: "data-missing",
            message: format!("there is no file for the input `{}`", input.name),
            span: input.span.clone(),
            reason: format!("`{owner}` owns it"),
            hint: format!("add `--input {}=FILE`", input.name),
        })
    }
}

/// The number of rows that a party's own inputs give each table of the program.
pub type OwnRows = Vec<Option<u64>>;

/// Reads every input of `party`, an index into the parties of a session: one beyond those of the
/// program is a helper, who owns none. The result has one entry for each input of the program.
pub fn load(
    program: &Program,
    party: u8,
    sources: &Sources,
) -> Result<Vec<Option<Data>>, Diagnostic> {
    let owns = program.inputs.iter().any(|input| input.owner == party);
    let mut given = sources.default.iter().chain(sources.by_input.values());
    if let Some(path) = given.next().filter(|_| !owns) {
        return Err(Diagnostic {
            code: "data-unknown-input",
            message: "this party has no input".to_string(),
            span: None,
            reason: format!("a file was given for it: {}", path.display()),
            hint: "leave out `--input`: it needs none to take part".to_string(),
        });
    }
    for name in sources.by_input.keys() {
        let known = |input: &&Input| input.name == *name && input.owner == party;
        if !program.inputs.iter().any(|input| known(&input)) {
            return Err(Diagnostic {
                code: "data-unknown-input",
                message: format!("this party has no input named `{name}`"),
                span: None,
                reason: format!(
                    "a file was given for it: {}",
                    sources.by_input[name].display()
                ),
                hint: format!("its inputs are: {}", names_of(program, party)),
            });
        }
    }
    // Several inputs often come from one table, which is read once.
    let mut tables = BTreeMap::new();
    let read = |input: &Input| {
        if input.owner != party {
            return Ok(None);
        }
        let path = sources.of(input, &program.parties[usize::from(party)])?;
        if path.extension().is_some_and(|extension| extension == "npy") {
            return npy::read(path, input).map(Some);
        }
        if !tables.contains_key(path) {
            tables.insert(path.to_path_buf(), csv_table::Table::open(path)?);
        }
        tables[path].input(input).map(Some)
    };
    program.inputs.iter().map(read).collect()
}

/// The row counts that a party's own inputs state, each within its bound and all agreeing.
pub fn own_rows(program: &Program, inputs: &[Option<Data>]) -> Result<OwnRows, Diagnostic> {
    let mut counts: Vec<Option<(u64, &str)>> = vec![None; program.rows.len()];
    for (input, data) in program.inputs.iter().zip(inputs) {
        let (Some(rows), Some(data)) = (input.shape.rows, data) else {
            continue;
        };
        let table = &program.rows[usize::from(rows.0)];
        let count = data.shape.first().copied().unwrap_or(0);
        let wrong = |message, hint: String| Diagnostic {
            code: "data-rows",
            message,
            span: None,
            reason: format!("the program says `{} <= {}`", table.name, table.bound),
            hint,
        };
        if count == 0 || count > table.bound {
            let message = format!("`{}` has {count} rows", input.name);
            let hint = format!("give between 1 and {} rows", table.bound);
            return Err(wrong(message, hint));
        }
        match &mut counts[usize::from(rows.0)] {
            Some((before, name)) if *before != count => {
                let message = format!("`{}` has {count} rows but `{name}` {before}", input.name);
                return Err(wrong(message, "give both as many rows".to_string()));
            }
            known => *known = Some((count, &input.name)),
        }
    }
    Ok(counts
        .into_iter()
        .map(|count| count.map(|(count, _)| count))
        .collect())
}

/// Checks the inputs of a party that did not come from files: each of its own is there, none of
/// another's, and all are as declared. A helper has none.
pub fn check_own(program: &Program, party: u8, inputs: &[Option<Data>]) -> Result<(), EngineError> {
    if inputs.len() != program.inputs.len() {
        let (want, have) = (program.inputs.len(), inputs.len());
        return Err(input_count(want, have));
    }
    for (input, data) in program.inputs.iter().zip(inputs) {
        match data {
            Some(data) if input.owner == party => {
                check(input, data).map_err(EngineError::data)?;
            }
            None if input.owner != party => {}
            wrong => {
                let what = if wrong.is_some() {
                    "belongs to another party"
                } else {
                    "is missing"
                };
                let what = format!("the input `{}` {what}", input.name);
                let finding = Diagnostic::new("whose-input", what)
                    .hint("give all inputs of this party, and no other");
                return Err(EngineError::misuse(finding));
            }
        }
    }
    Ok(())
}

/// Refuses a call with another number of inputs than the program has.
pub(crate) fn input_count(want: usize, have: usize) -> EngineError {
    let finding = Diagnostic::new(
        "input-count",
        format!("the program has {want} inputs, not {have}"),
    );
    EngineError::misuse(finding.hint("give one entry for each input, in the order of the program"))
}

/// Checks data that did not come from a file: shape, number of elements, ranges. Their integer
/// type need not be the declared one, since only the numbers count.
pub fn check(input: &Input, data: &Data) -> Result<(), Diagnostic> {
    let count = element_count(&data.shape);
    if !has_shape(input, &data.shape) || count != Some(data.elements.len() as u64) {
        return Err(wrong_shape(input, &data.shape, ""));
    }
    for (i, number) in data.numbers().enumerate() {
        check_range(input, number, || format!(" at element {i}"))?;
    }
    Ok(())
}

/// How many records, and how many columns of each, fill an input of this shape; no records where
/// their number is only known from the file.
fn layout(input: &Input) -> (Option<u64>, u64) {
    let product = |dims: &[u64]| dims.iter().product::<u64>();
    match (input.shape.rows, input.shape.fixed.split_first()) {
        (Some(_), _) => (None, product(&input.shape.fixed)),
        (None, None) => (Some(1), 1),
        (None, Some(_)) if input.columns.len() as u64 == product(&input.shape.fixed) => {
            (Some(1), product(&input.shape.fixed))
        }
        (None, Some((first, rest))) => (Some(*first), product(rest)),
    }
}

/// Shape of the data once the number of records is known.
fn shape(input: &Input, records: u64) -> Vec<u64> {
    let rows = input.shape.rows.map(|_| records);
    rows.into_iter()
        .chain(input.shape.fixed.iter().copied())
        .collect()
}

/// The product of dimensions; none above `u64`.
fn element_count(dims: &[u64]) -> Option<u64> {
    dims.iter()
        .try_fold(1u64, |product, &length| product.checked_mul(length))
}

/// Whether dimensions are those that an input declares, whatever the number of rows.
fn has_shape(input: &Input, dims: &[u64]) -> bool {
    let rows = usize::from(input.shape.rows.is_some());
    dims.get(rows..) == Some(&input.shape.fixed[..])
}

fn wrong_shape(input: &Input, dims: &[u64], place: &str) -> Diagnostic {
    let rows = input.shape.rows.map(|_| "rows".to_string());
    let declared = rows
        .into_iter()
        .chain(input.shape.fixed.iter().map(u64::to_string));
    let declared = declared.collect::<Vec<_>>().join(", ");
    let (declared, hint) = match declared.is_empty() {
        true => (
            "a single value".to_string(),
            "give one number, not an array",
        ),
        false => (format!("[{declared}]"), "give an array of that shape"),
    };
    Diagnostic {
        code: "data-shape",
        message: format!("`{}` has the shape {dims:?}{place}", input.name),
        span: input.span.clone(),
        reason: format!("the program says {declared}"),
        hint: hint.to_string(),
    }
}

/// `place` completes the sentence "`x` is 7 …, outside 0 to 5".
fn check_range(
    input: &Input,
    number: i128,
    place: impl FnOnce() -> String,
) -> Result<(), Diagnostic> {
    if input.range.contains(Range::of(number)) {
        Ok(())
    } else {
        Err(out_of_range(input, &number.to_string(), None, &place()))
    }
}

fn out_of_range(input: &Input, value: &str, span: Option<Span>, place: &str) -> Diagnostic {
    let Range { lo, hi } = input.range;
    Diagnostic {
        code: "data-range",
        message: format!("`{}` is {value}{place}, outside {lo} to {hi}", input.name),
        span,
        reason: "the program declares this range, and every later range rests on it".to_string(),
        hint: "mend the value, or declare a wider type or range in the program".to_string(),
    }
}

fn unreadable(path: &Path, cause: &dyn std::fmt::Display) -> Diagnostic {
    let hint = "check the path and the format: CSV with a header line, or .npy";
    unreadable_but(path, cause, hint)
}

/// A file that could be read if the hint were followed.
fn unreadable_but(path: &Path, cause: &dyn std::fmt::Display, hint: &str) -> Diagnostic {
    Diagnostic {
        code: "data-unreadable",
        message: format!("cannot read {}", path.display()),
        span: None,
        reason: cause.to_string(),
        hint: hint.to_string(),
    }
}

fn names_of(program: &Program, party: u8) -> String {
    let own = program.inputs.iter().filter(|input| input.owner == party);
    own.map(|input| input.name.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

fn read_file(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    fs::read(path).map_err(|error| unreadable(path, &error))
}
