//! Inputs of one party, read and checked against the program before any connection is made. Crate
//! `tables` checks the content of a table, with the place in its errors. This module decides which
//! table serves which input, and checks that the row counts of one party agree.

use crate::error::EngineError;
use sealane_diagnostic::{Code, Diagnostic, counted};
use sealane_program::decimal;
use sealane_program::graph::{Input, Program};
use sealane_program::kind::Form;
use sealane_program::types::{Data, Type};
pub use sealane_tables::check;
use sealane_tables::{InputSpec, Loaded, TableSource, decomposed_note};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files of a party's inputs: one file for all, or files by the name of the input.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// File for inputs that have none of their own.
    pub default: Option<PathBuf>,
    /// Files by input.
    pub by_input: BTreeMap<String, PathBuf>,
}

impl Sources {
    /// Parses `--input` arguments: `FILE` or `NAME=FILE`.
    pub fn from_arguments(arguments: &[String]) -> Sources {
        let mut sources = Sources::default();
        for argument in arguments {
            match split(argument) {
                (Some(name), path) => drop(sources.by_input.insert(name.to_string(), path.into())),
                (None, path) => sources.default = Some(path.into()),
            }
        }
        sources
    }

    fn of(&self, input: &Input, owner: &str) -> Result<&Path, Diagnostic> {
        let own = self.by_input.get(&input.name);
        // A mask of missing values is read from the cells of the input that it belongs to.
        let of = match &input.kind.form {
            Form::Missing(of) => self.by_input.get(of),
            _ => None,
        };
        let path = own.or(of).or(self.default.as_ref());
        path.map(PathBuf::as_path).ok_or_else(|| {
            let message = format!("there is no file for the input `{}`", input.name);
            Diagnostic::new(Code::DataMissing, message)
                .at(input.span.as_ref())
                .because(format!("`{owner}` owns it"))
                .hint(format!("add `--input {}=FILE`", input.name))
        })
    }
}

/// Splits `NAME=FILE` in two, or takes a file alone: a name has no part of a path in it.
pub fn split(argument: &str) -> (Option<&str>, &str) {
    match argument.split_once('=') {
        Some((name, path)) if !name.contains(['/', '\\', '.']) => (Some(name), path),
        _ => (None, argument),
    }
}

/// Number of rows that a party's own inputs give each table of the program.
pub type OwnRows = Vec<Option<u64>>;

/// Inputs of one party to a run.
#[derive(Default)]
pub struct Inputs {
    /// One entry for each input of the program, filled where the party owns it.
    pub data: Vec<Option<Data>>,
    /// Notes for the party on how its inputs were read, for the report of the run.
    pub notes: Vec<String>,
    /// Notes that may mean that other data were read than intended.
    pub doubts: Vec<String>,
}

impl Inputs {
    /// Creates an entry without data for each input of a program.
    pub fn none(program: &Program) -> Inputs {
        Inputs {
            data: program.inputs.iter().map(|_| None).collect(),
            ..Inputs::default()
        }
    }

    /// Stores the input with this index, and notes how it was read.
    pub fn take(&mut self, program: &Program, index: usize, loaded: Loaded) {
        let input = &program.inputs[index];
        if loaded.rounded > 0 {
            let half = match input.ty {
                Type::Float(_) => "half a unit in its last place".into(),
                ty => decimal::text(1, ty.fraction() + 1),
            };
            self.notes.push(format!(
                "{} numbers of `{}` were rounded to {}, each by at most {half}",
                loaded.rounded, input.name, input.ty
            ));
        }
        if !loaded.by_position.is_empty() {
            let note = format!(
                "`{}` was read from all columns of its table in their order: {}",
                input.name,
                listed(&loaded.by_position)
            );
            if !are_numbered(&loaded.by_position) {
                self.doubts.push(format!(
                    "{note}; name the columns that are meant in the signature, by a list of names \
                     in place of the dimension"
                ));
            }
            self.notes.push(note);
        }
        if let Some(row) = loaded.decomposed {
            let note = decomposed_note(&input.name, row);
            self.doubts.push(note.clone());
            self.notes.push(note);
        }
        if let Some(table) = loaded.without_end {
            let note = format!(
                "the last line of {table} has no end: if the file was cut off there, the last \
                 number is another one, and rows are missing"
            );
            // Several inputs may come from one file.
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.data[index] = Some(loaded.data);
    }
}

/// Most names that a note lists.
const MOST_NAMES: usize = 12;

/// Lists names; of many only the first ones.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES);
    let mut text = shown.map(|name| format!("`{name}`")).collect::<Vec<_>>();
    if let Some(more) = names.len().checked_sub(MOST_NAMES).filter(|more| *more > 0) {
        text.push(format!("and {more} more"));
    }
    text.join(", ")
}

/// Tells if columns have numbers for names, after a common prefix or none: `0`, `1`, `2` come from
/// a table that was made of an array, and `x_0`, `x_1` from a result.
fn are_numbered(names: &[String]) -> bool {
    let numbered = |first: usize| {
        let end = first.to_string();
        let start = names.first().and_then(|name| name.strip_suffix(&end));
        start.is_some_and(|start| {
            let mut all = names.iter().enumerate();
            all.all(|(index, name)| *name == format!("{start}{}", first + index))
        })
    };
    numbered(0) || numbered(1)
}

/// Reads every input of `party`, an index into the parties of a session. An index beyond the
/// parties of the program is a helper, which owns no input.
pub fn load(program: &Program, party: u8, sources: &Sources) -> Result<Inputs, Diagnostic> {
    let owns = program.inputs.iter().any(|input| input.owner == party);
    let mut given = sources.default.iter().chain(sources.by_input.values());
    if let Some(path) = given.next().filter(|_| !owns) {
        let hint = "leave out `--input`: it needs none to take part";
        return Err(unknown_input("this party has no input".into(), path).hint(hint));
    }
    for name in sources.by_input.keys() {
        let known = |input: &&Input| input.name == *name && input.owner == party;
        if !program.inputs.iter().any(|input| known(&input)) {
            let message = format!("this party has no input named `{name}`");
            let hint = format!("its inputs are: {}", names_of(program, party));
            return Err(unknown_input(message, &sources.by_input[name]).hint(hint));
        }
    }
    // Several inputs often come from one table, which is read only once.
    let mut tables: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
    for (index, input) in program.inputs.iter().enumerate() {
        if input.owner == party {
            let path = sources.of(input, &program.parties[usize::from(party)])?;
            tables.entry(path).or_default().push(index);
        }
    }
    if let Some(path) = sources
        .default
        .as_deref()
        .filter(|path| !tables.contains_key(path))
    {
        let message = "each input of this party has a file of its own already";
        let hint = format!(
            "leave this one out; its inputs are: {}",
            names_of(program, party)
        );
        return Err(unknown_input(message.into(), path).hint(hint));
    }
    let tables = tables.into_iter();
    let given = tables.map(|(path, inputs)| (TableSource::File(path), inputs));
    read(program, given)
}

/// Refusal of a file for an input that the party does not have.
fn unknown_input(message: String, path: &Path) -> Diagnostic {
    let reason = format!("a file was given: {}", path.display());
    Diagnostic::new(Code::DataUnknownInput, message).because(reason)
}

/// Reads sources, each of which serves the inputs with the given indices.
pub fn read<'a>(
    program: &Program,
    given: impl IntoIterator<Item = (TableSource<'a>, Vec<usize>)>,
) -> Result<Inputs, Diagnostic> {
    let mut all = Inputs::none(program);
    for (source, inputs) in given {
        let want = |index: &usize| InputSpec::of(program, &program.inputs[*index]);
        let wants = inputs.iter().map(want).collect::<Vec<_>>();
        for (index, loaded) in inputs.iter().zip(sealane_tables::read(source, &wants)?) {
            all.take(program, *index, loaded);
        }
    }
    Ok(all)
}

/// Returns the row counts of a party's own inputs, each within its bound and consistent.
pub fn own_rows(program: &Program, inputs: &[Option<Data>]) -> Result<OwnRows, Diagnostic> {
    let mut counts: Vec<Option<(u64, &str)>> = vec![None; program.rows.len()];
    for (input, data) in program.inputs.iter().zip(inputs) {
        let (Some(rows), Some(data)) = (input.shape.rows, data) else {
            continue;
        };
        let table = &program.rows[usize::from(rows.0)];
        let count = data.shape.first().copied().unwrap_or(0);
        let wrong = |message: String, hint: String| {
            let reason = format!("the program says `{} <= {}`", table.name, table.bound);
            let refused = Diagnostic::new(Code::DataRows, message);
            refused.because(reason).hint(hint)
        };
        if !table.allows(count) {
            let message = format!("`{}` has {}", input.name, counted(count, "row"));
            let hint = format!("give at most {} rows", table.bound);
            return Err(wrong(message, hint));
        }
        match &mut counts[usize::from(rows.0)] {
            Some((before, name)) if *before != count => {
                let message = format!(
                    "`{}` has {} but `{name}` {before}",
                    input.name,
                    counted(count, "row")
                );
                return Err(wrong(message, "give both as many rows".to_string()));
            }
            known => *known = Some((count, &input.name)),
        }
    }
    let counts = counts.into_iter();
    let counts = counts.map(|count| Some(count?.0)).collect::<OwnRows>();
    sealane_program::without_empty(program, &counts)?;
    Ok(counts)
}

/// Checks inputs that did not come from files: the party has each of its own inputs and none of
/// another party's, and all are as declared. A helper has none.
pub fn check_own(program: &Program, party: u8, inputs: &[Option<Data>]) -> Result<(), EngineError> {
    if inputs.len() != program.inputs.len() {
        let (want, have) = (program.inputs.len(), inputs.len());
        return Err(input_count(want, have));
    }
    for (input, data) in program.inputs.iter().zip(inputs) {
        match data {
            Some(data) if input.owner == party => {
                sealane_tables::check(input, data).map_err(EngineError::from)?;
            }
            None if input.owner != party => {}
            wrong => {
                let what = if wrong.is_some() {
                    "belongs to another party"
                } else {
                    "is missing"
                };
                let what = format!("the input `{}` {what}", input.name);
                let finding = Diagnostic::new(Code::WhoseInput, what)
                    .hint("give all inputs of this party, and no other");
                return Err(EngineError::from(finding));
            }
        }
    }
    Ok(())
}

/// Error for a call with another number of inputs than the program has.
pub(crate) fn input_count(want: usize, have: usize) -> EngineError {
    let finding = Diagnostic::new(
        Code::InputCount,
        format!(
            "the program has {}, not {have}",
            counted(want as u64, "input")
        ),
    );
    EngineError::from(finding.hint("give one entry for each input, in the order of the program"))
}

fn names_of(program: &Program, party: u8) -> String {
    let own = program.inputs.iter().filter(|input| input.owner == party);
    own.map(|input| input.name.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}
