//! A CSV file with a header line.

use crate::header::Header;
use crate::quotes::{self, Misquoted};

use crate::cell::Cell;
use crate::input_spec::{
    Filling, InputSpec, Loaded, NOT_WHOLE, is_out_of_range, no_value, not_a_number, out_of_range,
};
use crate::number::{Number, Unfit};
use crate::{read_file, unreadable_but};
use sealane_diagnostic::{Code, Diagnostic, Span};
use sealane_program::decimal::Nearest;
use sealane_program::graph::Input;
use sealane_program::kind::Form;
use sealane_program::types::Type;
use std::io::Read;
use std::path::Path;
use zeroize::Zeroizing;

/// Reads the inputs of a file, record by record.
pub(crate) fn read(path: &Path, wants: &[InputSpec<'_>]) -> Result<Vec<Loaded>, Diagnostic> {
    let text = text(path)?;
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let names = header_names(&mut reader).map_err(|error| malformed(path, &error))?;
    let table = Table::new(path, &text, names);
    let mut inputs = table.inputs(wants)?;
    let (mut records, mut last) = (0, None);
    for record in reader.records() {
        let record = record.map_err(|error| malformed(path, &error))?;
        records += 1;
        table.take(&record, records, &mut inputs)?;
        last = Some(record);
    }
    let end = last.map(|record| table.span(&record, 0));
    let finish = |input: Filling<'_>| input.finish(&table.header.table, records);
    let data = inputs.into_iter().map(finish).collect::<Result<_, _>>();
    data.map_err(|finding| finding.at(end.as_ref()))
}

/// Returns the names in the header line.
pub(crate) fn header_names<R: Read>(reader: &mut csv::Reader<R>) -> csv::Result<Vec<String>> {
    let names = reader.headers()?.iter();
    Ok(names.map(|name| name.trim().to_string()).collect())
}

/// Reads the text of a file, without the byte order mark that some programs write.
pub(crate) fn text(path: &Path) -> Result<Zeroizing<String>, Diagnostic> {
    let bytes = read_file(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        let hint = "save the table as CSV in UTF-8; an array has to be a `.npy` file";
        unreadable_but(path, &"it is not text in UTF-8", hint)
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    quotes::check(text).map_err(|fault| misquoted(path, text, fault))?;
    Ok(Zeroizing::new(text.to_string()))
}

/// A table being read. Its text is kept to find the position of a cell for an error.
pub(crate) struct Table<'a> {
    pub(crate) header: Header,
    text: &'a str,
}

impl<'a> Table<'a> {
    pub(crate) fn new(path: &Path, text: &'a str, names: Vec<String>) -> Table<'a> {
        let missing = match &names[..] {
            [] => "the file is empty; its first line has to name the columns",
            [only] if only.contains([';', '\t']) => {
                "separate columns by commas; this header is one column"
            }
            _ => "add the column, or give another file with `--input`",
        };
        let header = Header {
            table: path.display().to_string(),
            names,
            missing,
        };
        Table { header, text }
    }

    fn inputs<'w>(&self, wants: &[InputSpec<'w>]) -> Result<Vec<Filling<'w>>, Diagnostic> {
        let inputs = wants.iter().map(|want| self.header.filling(*want));
        let inputs = inputs.collect::<Result<_, _>>();
        inputs.map_err(|finding: Diagnostic| finding.at(Some(&self.header_span())))
    }

    /// Reads the cells of one record, the `count`-th, into the inputs.
    fn take(
        &self,
        record: &csv::StringRecord,
        count: u64,
        inputs: &mut [Filling<'_>],
    ) -> Result<(), Diagnostic> {
        self.refuse_blank_line(record)?;
        for filling in inputs {
            let InputSpec { input, .. } = filling.want;
            let fits = filling.want.check_records(&self.header.table, count, true);
            fits.map_err(|finding| finding.at(Some(&self.span(record, 0))))?;
            let start = filling.grow(1);
            let kind = &input.kind;
            for place in 0..filling.columns.len() {
                let column = filling.columns[place];
                let at = start + place * filling.want.cell_width() as usize;
                let text = record.get(column).unwrap_or("");
                let is_empty = text.trim().is_empty();
                match kind.form {
                    Form::Missing(_) => {
                        filling.put_missing(at, is_empty);
                        continue;
                    }
                    _ if is_empty && kind.nullable => {
                        filling.put_null(at);
                        continue;
                    }
                    Form::Number => {}
                    _ => {
                        let whose = || format!("in column `{}`", self.header.names[column]);
                        // Spaces are part of a text, and of nothing else.
                        let text = match kind.form {
                            Form::Text(_) => text,
                            _ => text.trim(),
                        };
                        let put = match is_empty {
                            true => Err(no_value(input, &whose())),
                            false => filling.put_cell(at, Cell::Text(text), whose),
                        };
                        put.map_err(|finding| finding.at(Some(&self.span(record, column))))?;
                        continue;
                    }
                }
                let nearest = self.cell(record, column, input)?;
                if !nearest.is_some_and(|nearest| filling.put_stored(at, nearest)) {
                    return Err(self.out_of_range(record, column, input));
                }
            }
        }
        Ok(())
    }

    /// Refuses a blank line between records of a table with one column, which may be a row whose
    /// value is missing. The reader skips it, which would shift all later rows against those of
    /// other tables. (With more columns, a row without values still has its commas.)
    pub(crate) fn refuse_blank_line(&self, record: &csv::StringRecord) -> Result<(), Diagnostic> {
        if self.header.names.len() != 1 {
            return Ok(());
        }
        let Some(line) = blank_line(self.text, start(record)) else {
            return Ok(());
        };
        let file = self.header.table.clone();
        let message = format!("{file} has a blank line");
        let span = Span {
            file,
            line,
            column: 1,
            end_column: 2,
        };
        Err(Diagnostic::new(Code::DataMalformed, message)
            .at(Some(&span))
            .because("it could be a row whose value is missing")
            .hint("fill the row in, or drop the line"))
    }

    /// Returns the stored number of a cell; `None` if it is outside the range of the input.
    fn cell(
        &self,
        record: &csv::StringRecord,
        column: usize,
        input: &Input,
    ) -> Result<Option<Nearest>, Diagnostic> {
        let text = cell_text(record, column);
        match stored(text, input.ty) {
            Ok(nearest) => Ok(Some(nearest)),
            Err(unfit) if is_out_of_range(input, unfit) => Ok(None),
            Err(unfit) => {
                let place = format!("in column `{}`", self.header.names[column]);
                let mut finding = not_a_number(input, unfit, &format!("`{text}`"), &place);
                if text.is_empty() {
                    finding.code = Code::DataNull;
                    finding.message = format!("a cell {place} is empty");
                }
                let finding = finding.at(Some(&self.span(record, column)));
                Err(match unfit {
                    Unfit::NotANumber => finding.hint(not_a_number_hint(text, input.ty)),
                    _ => finding,
                })
            }
        }
    }

    fn out_of_range(&self, record: &csv::StringRecord, column: usize, input: &Input) -> Diagnostic {
        let place = format!(" in column `{}`", self.header.names[column]);
        let span = Some(self.span(record, column));
        out_of_range(input, cell_text(record, column), span, &place)
    }

    pub(crate) fn header_span(&self) -> Span {
        let width = self.text.lines().next().unwrap_or("").chars().count() as u32;
        Span {
            file: self.header.table.clone(),
            line: 1,
            column: 1,
            end_column: width.max(1) + 1,
        }
    }

    /// Position of a cell in the file.
    pub(crate) fn span(&self, record: &csv::StringRecord, column: usize) -> Span {
        let CellSpan {
            line,
            column,
            end_column,
        } = locate(self.text, start(record), column);
        Span {
            file: self.header.table.clone(),
            line,
            column,
            end_column,
        }
    }
}

/// Parses the stored number of a text; truth values may be words.
fn stored(text: &str, ty: Type) -> Result<Nearest, Unfit> {
    let number = match (ty, text) {
        (Type::Bool, "true" | "True" | "TRUE") => Number::Int(1),
        (Type::Bool, "false" | "False" | "FALSE") => Number::Int(0),
        _ => Number::Written(text),
    };
    number.stored(ty)
}

pub(crate) fn cell_text(record: &csv::StringRecord, column: usize) -> &str {
    record.get(column).unwrap_or("").trim()
}

/// Byte at which a record starts.
fn start(record: &csv::StringRecord) -> usize {
    record.position().map_or(0, |at| at.byte() as usize)
}

/// Line and columns of a cell, all from 1; `end_column` is the one after the last.
#[derive(Debug, PartialEq)]
struct CellSpan {
    line: u32,
    column: u32,
    end_column: u32,
}

/// Returns the position of field `index` of the record that starts at byte `start`. Quoted fields
/// may hold commas and line breaks; of a field over several lines the first counts.
fn locate(text: &str, start: usize, index: usize) -> CellSpan {
    // The reader takes the position of a record before it skips empty lines.
    let record = text
        .get(start..)
        .unwrap_or("")
        .trim_start_matches(['\r', '\n']);
    let (mut first, mut end) = (0, record.len());
    let (mut fields, mut quoted) = (0, false);
    for (at, c) in record.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted && fields < index => {
                fields += 1;
                first = at + 1;
            }
            ',' | '\r' | '\n' if !quoted => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let (line, column) = position(text, text.len() - record.len() + first);
    let width = record[first..end]
        .lines()
        .next()
        .unwrap_or("")
        .chars()
        .count() as u32;
    CellSpan {
        line,
        column,
        end_column: column + width.max(1),
    }
}

/// Line and column of a byte of the text, both from 1.
fn position(text: &str, at: usize) -> (u32, u32) {
    let before = &text[..at];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() as u32 + 1;
    (line, column)
}

/// Returns the number of the blank line before the record at byte `start`, if there is one.
fn blank_line(text: &str, start: usize) -> Option<u32> {
    // The reader ends a line at its carriage return, and leaves the line feed to the next record.
    let start = match text[..start].ends_with('\r') && text[start..].starts_with('\n') {
        true => start + 1,
        false => start,
    };
    let blank = text[start..].starts_with(['\r', '\n']);
    blank.then(|| text[..start].matches('\n').count() as u32 + 1)
}

fn not_a_number_hint(text: &str, ty: Type) -> String {
    match text.parse::<f64>() {
        Err(_) if ty == Type::Bool && !text.is_empty() => "write 0 or 1".to_string(),
        Ok(number) if number.is_finite() => NOT_WHOLE.to_string(),
        Ok(_) if text.bytes().any(|byte| byte.is_ascii_digit()) => {
            "write a number of fewer digits".to_string()
        }
        parsed if parsed.is_ok() || text.is_empty() => {
            "fill the cell in, or drop the line; or declare `sl.nullable(...)`".to_string()
        }
        _ => "write digits alone, without units or separators".to_string(),
    }
}

/// Makes the refusal of a quote that would change the cells of the text.
fn misquoted(path: &Path, text: &str, fault: Misquoted) -> Diagnostic {
    let file = path.display().to_string();
    let (at, what, reason, hint) = match fault {
        Misquoted::Open(at) => (
            at,
            "has a quote that is never closed",
            "all that follows it would be one cell".to_string(),
            "close the cell with a quote, or leave this one out",
        ),
        Misquoted::Behind { at, from } => {
            let (line, column) = position(text, from);
            (
                at,
                "has text behind a cell in quotes",
                format!(
                    "the cell that begins with a quote at line {line}, column {column} ends before \
                     it, so a comma or the end of the line has to follow"
                ),
                "write two quotes for one within the cell, and put the whole cell in quotes",
            )
        }
        Misquoted::Bare(at) => (
            at,
            "has a quote within a cell that does not begin with one",
            "programs read such a cell in different ways".to_string(),
            "put the whole cell in quotes, without spaces before them, and write two quotes for \
             one within it",
        ),
    };
    let (line, column) = position(text, at);
    let span = Span {
        file: file.clone(),
        line,
        column,
        end_column: column + 1,
    };
    Diagnostic::new(Code::DataMalformed, format!("{file} {what}"))
        .at(Some(&span))
        .because(reason)
        .hint(hint)
}

pub(crate) fn malformed(path: &Path, error: &csv::Error) -> Diagnostic {
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("it has {len} fields where the header has {expected_len}")
        }
        _ => error.to_string(),
    };
    let line = error
        .position()
        .map_or(1, |position| position.line() as u32);
    let file = path.display().to_string();
    let span = Span {
        file: file.clone(),
        line,
        column: 1,
        end_column: 2,
    };
    let message = format!("{file} is not a well-formed CSV table");
    Diagnostic::new(Code::DataMalformed, message)
        .at(Some(&span))
        .because(reason)
        .hint("every line has as many fields as the header")
}

#[cfg(test)]
mod tests {
    use super::{CellSpan, blank_line, locate};

    #[test]
    fn blank_lines_between_records_are_found() {
        let blank = |text: &str| {
            let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
            let records = reader.records().map(|record| {
                let record = record.unwrap();
                blank_line(text, record.position().unwrap().byte() as usize)
            });
            records.flatten().next()
        };
        for end in ["\n", "\r\n"] {
            let text = |lines: &[&str]| lines.join(end);
            assert_eq!(blank(&text(&["a", "1", "2", ""])), None);
            assert_eq!(blank(&text(&["a", "1", "2", "", "", ""])), None);
            assert_eq!(blank(&text(&["a,b", "\"1", "", "2\",3", "4,5", ""])), None);
            assert_eq!(blank(&text(&["a", "1", "", "2"])), Some(3));
            assert_eq!(blank(&text(&["a", "", "1", "2"])), Some(2));
            assert_eq!(blank(&text(&["a,b", "1,2", "", "", "3,4"])), Some(3));
        }
    }

    #[test]
    fn cells_are_found_behind_quotes_and_line_breaks() {
        let text = "a,b,c\r\n\r\nab,\"c,\"\"d\",e\r\n\"x\ny\",\"é\nw\",z";
        let row = text.find("\r\nab").unwrap();
        let at = |start, index| {
            let CellSpan {
                line,
                column,
                end_column,
            } = locate(text, start, index);
            (line, column, end_column)
        };
        assert_eq!(at(row, 0), (3, 1, 3));
        assert_eq!(at(row, 1), (3, 4, 11));
        assert_eq!(at(row, 2), (3, 12, 13));
        let row = text.find("\"x").unwrap();
        assert_eq!(at(row, 0), (4, 1, 3));
        assert_eq!(at(row, 1), (5, 4, 6));
        assert_eq!(at(row, 2), (6, 4, 5));
        assert_eq!(at(text.len(), 0), (6, 5, 6));
    }
}
