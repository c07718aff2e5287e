//! A CSV file with a header line, packed by gzip or not.

use crate::cell::Cell;
use crate::header::Header;
use crate::input_spec::{FILL_IN, Filling, InputSpec, Loaded, NOT_WHOLE, no_value};
use crate::npy::in_words;
use crate::number::Number;
use crate::records::{Fault, LineColumn, Record, Records};
use crate::{unreadable, unreadable_but};
use sealane_diagnostic::{Code, Diagnostic, Span};
use sealane_files::Accept;
use sealane_program::graph::Input;
use sealane_program::kind::Form;
use sealane_program::types::Type;
use std::path::Path;

/// Reads the inputs of a file, record by record.
pub(crate) fn read(path: &Path, wants: &[InputSpec<'_>]) -> Result<Vec<Loaded>, Diagnostic> {
    let (table, mut rows) = CsvTable::open(path)?;
    let mut inputs = table.inputs(wants)?;
    let are_texts = wants.iter().map(|want| is_of_text(want.input, wants));
    let are_texts = are_texts.collect::<Vec<_>>();
    let (mut records, mut end) = (0, None);
    while let Some(record) = table.next(&mut rows)? {
        records += 1;
        for (filling, is_text) in inputs.iter_mut().zip(&are_texts) {
            table.take(&record, records, *is_text, filling)?;
        }
        end = Some(record.extent(0));
    }
    let end = end.map(|place| table.span(place));
    let finish = |input: Filling<'_>| {
        let mut loaded = input.finish(&table.header.table, records)?;
        loaded.without_end = (!rows.is_ended).then(|| table.header.table.clone());
        Ok(loaded)
    };
    let data = inputs.into_iter().map(finish).collect::<Result<_, _>>();
    data.map_err(|finding: Diagnostic| finding.at(end.as_ref()))
}

/// Returns whether an input is of texts, or says which cells of one are missing.
fn is_of_text(input: &Input, wants: &[InputSpec<'_>]) -> bool {
    match &input.kind.form {
        Form::Text(_) => true,
        Form::Missing(of) => {
            let mut inputs = wants.iter().map(|want| want.input);
            inputs.any(|input| input.name == *of && matches!(input.kind.form, Form::Text(_)))
        }
        _ => false,
    }
}

/// A table being read.
pub(crate) struct CsvTable {
    pub(crate) header: Header,
    pub(crate) header_span: Span,
}

impl CsvTable {
    /// Opens a file and reads its header.
    pub(crate) fn open(path: &Path) -> Result<(CsvTable, Records), Diagnostic> {
        let file = sealane_files::open(path, Accept::FileOrPipe);
        let rows = file.and_then(Records::new);
        let mut rows = rows.map_err(|error| unreadable(path, &in_words(&error)))?;
        let mut table = CsvTable {
            header: Header {
                table: path.display().to_string(),
                names: Vec::new(),
                missing: "the file is empty; its first line has to name the columns",
            },
            header_span: Span {
                file: path.display().to_string(),
                line: 1,
                column: 1,
                end_column: 2,
            },
        };
        if let Some(first) = rows.next().map_err(|fault| table.refused(fault))? {
            let names = (0..first.len()).map(|at| first.cell(at).trim().to_string());
            table.header.names = names.collect();
            table.header_span = table.span(first.whole());
            table.header.missing = match &table.header.names[..] {
                [only] if only.contains(';') => SEMICOLONS,
                [only] if only.contains('\t') => TABS,
                _ => "add the column, or give another file with `--input`",
            };
        }
        Ok((table, rows))
    }

    /// Returns the next record. A blank line before it is refused in a table with one column, where
    /// it may be a row whose value is missing: to skip it would shift all later rows against those
    /// of other tables. (With more columns, a row without values still has its commas.)
    pub(crate) fn next<'r>(&self, rows: &'r mut Records) -> Result<Option<Record<'r>>, Diagnostic> {
        let Some(record) = rows.next().map_err(|fault| self.refused(fault))? else {
            return Ok(None);
        };
        let Header { table, names, .. } = &self.header;
        let malformed = |line, message: String, reason, hint| {
            let column = 1;
            let span = self.span((LineColumn { line, column }, 2));
            let finding = Diagnostic::new(Code::DataMalformed, message).at(Some(&span));
            Err(finding.because(reason).hint(hint))
        };
        match record.blank {
            Some(line) if names.len() == 1 => malformed(
                line,
                format!("{table} has a blank line"),
                "it could be a row whose value is missing".to_string(),
                "fill the row in, or write `\"\"` for a missing value; drop the line if it is no row",
            ),
            _ if record.len() != names.len() => malformed(
                record.place.line,
                format!("{table} is not a well-formed CSV table"),
                format!(
                    "it has {} fields where the header has {}",
                    record.len(),
                    names.len()
                ),
                "every line has as many fields as the header; a cell with a comma in it, such as \
                 `3,5`, is in quotes",
            ),
            _ => Ok(Some(record)),
        }
    }

    fn inputs<'w>(&self, wants: &[InputSpec<'w>]) -> Result<Vec<Filling<'w>>, Diagnostic> {
        let inputs = wants.iter().map(|want| self.header.filling(*want));
        let inputs = inputs.collect::<Result<_, _>>();
        inputs.map_err(|finding: Diagnostic| finding.at(Some(&self.header_span)))
    }

    /// Reads the cells of one record, the `count`-th, into an input.
    fn take(
        &self,
        record: &Record<'_>,
        count: u64,
        is_text: bool,
        filling: &mut Filling<'_>,
    ) -> Result<(), Diagnostic> {
        let InputSpec { input, .. } = filling.want;
        let fits = filling.want.check_records(&self.header.table, count, true);
        fits.map_err(|finding| finding.at(Some(&self.span(record.extent(0)))))?;
        let start = filling.grow(1);
        for place in 0..filling.columns.len() {
            let column = filling.columns[place];
            let at = start + place * filling.want.cell_width() as usize;
            let cell = record.cell(column);
            // Spaces are part of a text, and of nothing else.
            let text = if is_text { &*cell } else { cell.trim() };
            let whose = || format!("in column `{}`", self.header.names[column]);
            let put = match &input.kind.form {
                Form::Missing(_) => {
                    filling.put_missing(at, text.is_empty());
                    Ok(())
                }
                _ if text.is_empty() && input.kind.nullable => {
                    filling.put_null(at);
                    Ok(())
                }
                _ if text.is_empty() => Err(no_value(input, &whose())),
                Form::Number => put_number(filling, at, text, whose),
                _ => filling.put_cell(at, Cell::Text(&cell), whose),
            };
            put.map_err(|finding| finding.at(Some(&self.span(record.extent(column)))))?;
        }
        Ok(())
    }

    /// Position of what begins at a place and ends before a column.
    pub(crate) fn span(&self, (place, end_column): (LineColumn, u32)) -> Span {
        Span {
            file: self.header.table.clone(),
            line: place.line,
            column: place.column,
            end_column,
        }
    }

    /// Makes the refusal of a file that is no CSV.
    fn refused(&self, fault: Fault) -> Diagnostic {
        let table = &self.header.table;
        let closed = "close the cell with a quote, or leave this one out";
        let (at, what, reason, hint) = match fault {
            Fault::Unreadable(error) => return unreadable(Path::new(table), &in_words(&error)),
            Fault::Encoding(at) => {
                let cause = format!("line {} is not text in UTF-8", at.line);
                let hint = "save the table as CSV in UTF-8; an array has to be a `.npy` file";
                return unreadable_but(Path::new(table), &cause, hint);
            }
            Fault::Open(at) => (
                at,
                "has a quote that is never closed",
                "all that follows it would be one cell".to_string(),
                closed,
            ),
            Fault::Long(_, Some(at)) => (
                at,
                "has a quote that is not closed within 4 MiB",
                "no record may be longer".to_string(),
                closed,
            ),
            Fault::Long(at, None) => (
                at,
                "has a record of more than 4 MiB",
                "no record may be longer".to_string(),
                "check that it is a table with a line for each row, or leave columns out",
            ),
            Fault::Behind { at, from } => (
                at,
                "has text behind a cell in quotes",
                format!(
                    "the cell that begins with a quote at line {}, column {} ends before it, so a \
                     comma or the end of the line has to follow",
                    from.line, from.column
                ),
                "write two quotes for one within the cell, and put the whole cell in quotes",
            ),
            Fault::Bare(at) => (
                at,
                "has a quote within a cell that does not begin with one",
                "programs read such a cell in different ways".to_string(),
                "put the whole cell in quotes, without spaces before them, and write two quotes \
                 for one within it",
            ),
        };
        let span = self.span((at, at.column + 1));
        let finding = Diagnostic::new(Code::DataMalformed, format!("{table} {what}"));
        finding.at(Some(&span)).because(reason).hint(hint)
    }
}

/// Hints for tables as programs write them in countries with a decimal comma.
const SEMICOLONS: &str = "separate columns by commas, in pandas: `pd.read_csv(FILE, sep=\";\", \
                          decimal=\",\").to_csv(\"commas.csv\", index=False)`";
const TABS: &str = "separate columns by commas, in pandas: `pd.read_csv(FILE, sep=\"\\t\")\
                    .to_csv(\"commas.csv\", index=False)`";
const COMMA: &str = "write the number without a comma; pandas reads it with \
                     `pd.read_csv(FILE, decimal=\",\")` if the comma is the decimal point, and with \
                     `thousands=\",\"` if it groups digits";

/// Sets element `at` to the number of a text; truth values may be words.
fn put_number(
    filling: &mut Filling<'_>,
    at: usize,
    text: &str,
    place: impl Fn() -> String,
) -> Result<(), Diagnostic> {
    let ty = filling.want.input.ty;
    let number = match (ty, text) {
        (Type::Bool, "true" | "True" | "TRUE") => Number::Int(1),
        (Type::Bool, "false" | "False" | "FALSE") => Number::Int(0),
        _ => Number::Written(text),
    };
    let put = filling.put(at, number, place);
    put.map_err(|finding| match finding.code {
        Code::DataNotANumber => finding.hint(not_a_number_hint(text, ty)),
        _ => finding,
    })
}

fn not_a_number_hint(text: &str, ty: Type) -> &'static str {
    match text.parse::<f64>() {
        Err(_) if ty == Type::Bool => "write 0 or 1",
        Err(_) if text.contains(',') => COMMA,
        Err(_) => "write digits alone, without units or separators",
        Ok(number) if number.is_finite() => NOT_WHOLE,
        Ok(_) if text.bytes().any(|byte| byte.is_ascii_digit()) => "write a number of fewer digits",
        Ok(_) => FILL_IN,
    }
}
