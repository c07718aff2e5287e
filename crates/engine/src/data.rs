//! One party's inputs, read from CSV and `.npy` files and checked against the program before any
//! connection is made. Every error names the file, and for CSV the line and column.

use sealane_program::diagnostic::{Diagnostic, Span};
use sealane_program::graph::{Input, Program};
use sealane_program::types::{Data, Range, Type};
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

    fn of(&self, input: &Input) -> Result<&Path, Diagnostic> {
        let path = self.by_input.get(&input.name).or(self.default.as_ref());
        path.map(PathBuf::as_path).ok_or_else(|| Diagnostic {
            code: "data-missing",
            message: format!("there is no file for the input `{}`", input.name),
            span: input.span.clone(),
            reason: "this party owns it".to_string(),
            hint: format!("add `--input FILE` or `--input {}=FILE`", input.name),
        })
    }
}

/// The number of rows that a party's own inputs give each table of the program.
pub type OwnRows = Vec<Option<u64>>;

/// Reads every input of `party` (an index into the program's parties). The result has one entry
/// for each input of the program.
pub fn load(
    program: &Program,
    party: u8,
    sources: &Sources,
) -> Result<Vec<Option<Data>>, Diagnostic> {
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
    let mut tables = BTreeMap::new();
    let read = |input: &Input| {
        if input.owner != party {
            return Ok(None);
        }
        let path = sources.of(input)?;
        let data = if path.extension().is_some_and(|extension| extension == "npy") {
            npy::read(path, input)?
        } else {
            if !tables.contains_key(path) {
                tables.insert(path.to_path_buf(), csv_table::Table::open(path)?);
            }
            tables[path].input(input)?
        };
        Ok(Some(data))
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
        let (table, count) = (&program.rows[usize::from(rows.0)], data.shape[0]);
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

/// Checks data that did not come from a file: type, fixed dimensions, range.
pub fn check(input: &Input, data: &Data) -> Result<(), Diagnostic> {
    let fixed = &data.shape[data
        .shape
        .len()
        .min(usize::from(input.shape.rows.is_some()))..];
    let count = data.shape.iter().product::<u64>();
    if fixed != input.shape.fixed
        || data.shape.len() != input.shape.fixed.len() + usize::from(input.shape.rows.is_some())
        || count != data.elements.len() as u64
    {
        let rows = input.shape.rows.map(|_| "rows".to_string());
        let dims = rows
            .into_iter()
            .chain(input.shape.fixed.iter().map(u64::to_string));
        return Err(Diagnostic {
            code: "data-shape",
            message: format!("`{}` has the shape {:?}", input.name, data.shape),
            span: input.span.clone(),
            reason: format!("the program says [{}]", dims.collect::<Vec<_>>().join(", ")),
            hint: "give an array of that shape".to_string(),
        });
    }
    for (i, element) in data.elements.iter().enumerate() {
        let value = number(*element, data.ty);
        if value < input.range.lo || value > input.range.hi {
            return Err(out_of_range(
                input,
                &value.to_string(),
                None,
                &format!(" at element {i}"),
            ));
        }
    }
    Ok(())
}

/// The number behind 64 stored bits.
pub fn number(element: u64, ty: Type) -> i128 {
    match ty {
        Type::Int { signed: true, .. } => i128::from(element as i64),
        _ => i128::from(element),
    }
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
    Diagnostic {
        code: "data-unreadable",
        message: format!("cannot read {}", path.display()),
        span: None,
        reason: cause.to_string(),
        hint: "check the path and the format: CSV with a header line, or .npy".to_string(),
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
