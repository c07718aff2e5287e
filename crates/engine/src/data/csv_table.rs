//! A CSV file with a header line.

use super::{layout, out_of_range, read_file, shape, unreadable_but};
use sealane_program::diagnostic::{Diagnostic, Span};
use sealane_program::graph::Input;
use sealane_program::types::{Data, Type};
use std::path::Path;

/// A table in memory, as text.
pub(super) struct Table {
    file: String,
    header: Vec<String>,
    records: Vec<csv::StringRecord>,
    /// The file's text, to find the place of a cell for an error.
    text: String,
}

impl Table {
    pub(super) fn open(path: &Path) -> Result<Table, Diagnostic> {
        let bytes = read_file(path)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            let hint = "save the table as CSV in UTF-8; an array has to be a `.npy` file";
            unreadable_but(path, &"it is not text in UTF-8", hint)
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_string();
        let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| malformed(path, &error))?;
        let header = header
            .iter()
            .map(|name| name.trim().to_string())
            .collect::<Vec<_>>();
        let records = reader.records().collect::<Result<Vec<_>, _>>();
        let records = records.map_err(|error| malformed(path, &error))?;
        let table = Table {
            file: path.display().to_string(),
            header,
            records,
            text,
        };
        table.refuse_blank_lines()?;
        Ok(table)
    }

    /// In a table of one column, a blank line between records may be a row whose value is missing.
    /// The reader leaves it out, and all rows after it would stand beside others than they belong
    /// to. (With more columns, a row without values still has its commas.)
    fn refuse_blank_lines(&self) -> Result<(), Diagnostic> {
        let records = self.records.iter().filter(|_| self.header.len() == 1);
        for record in records {
            let start = record.position().map_or(0, |at| at.byte() as usize);
            if let Some(line) = blank_line(&self.text, start) {
                return Err(Diagnostic {
                    code: "data-malformed",
                    message: format!("{} has a blank line", self.file),
                    span: Some(Span {
                        file: self.file.clone(),
                        line,
                        column: 1,
                        end_column: 2,
                    }),
                    reason: "it could be a row whose value is missing".to_string(),
                    hint: "fill the row in, or drop the line".to_string(),
                });
            }
        }
        Ok(())
    }

    /// The elements of one input, row-major.
    pub(super) fn input(&self, input: &Input) -> Result<Data, Diagnostic> {
        let columns = self.columns(input)?;
        let records = self.records.len() as u64;
        if let Some(want) = layout(input).0.filter(|want| *want != records) {
            return Err(Diagnostic {
                code: "data-rows",
                message: format!(
                    "{} has {records} records where `{}` wants {want}",
                    self.file, input.name
                ),
                span: self.records.last().map(|record| self.span(record, 0)),
                reason: "the program fixes this dimension".to_string(),
                hint: "give exactly that many lines below the header".to_string(),
            });
        }
        let mut elements = Vec::with_capacity(self.records.len() * columns.len());
        for record in &self.records {
            for column in &columns {
                elements.push(self.cell(record, *column, input)?);
            }
        }
        Ok(Data {
            ty: input.ty,
            shape: shape(input, records),
            elements,
        })
    }

    /// Which columns of the file fill the input: those that the signature names, else the one
    /// that has the input's name, else (several wanted) all, if they are as many.
    fn columns(&self, input: &Input) -> Result<Vec<usize>, Diagnostic> {
        let (_, want) = layout(input);
        let named = match (input.columns.is_empty(), want) {
            (false, _) => input.columns.clone(),
            (true, 1) => vec![input.name.clone()],
            (true, _) if self.header.len() as u64 == want => self.header.clone(),
            (true, _) => {
                return Err(self.refuse_header(
                    "data-columns",
                    format!("`{}` wants {want} columns", input.name),
                    format!("{} has {}", self.file, self.header.len()),
                    "name the columns in the signature: a list of names as a dimension".to_string(),
                ));
            }
        };
        let find = |name: &String| {
            let mut places = (0..self.header.len()).filter(|i| self.header[*i] == *name);
            match (places.next(), places.next()) {
                (Some(place), None) => Ok(place),
                (Some(_), Some(_)) => Err(self.refuse_header(
                    "data-column-twice",
                    format!("{} has two columns `{name}`", self.file),
                    format!("the input `{}` is read from one of them", input.name),
                    "rename or drop one of the columns".to_string(),
                )),
                (None, _) => Err(self.refuse_header(
                    "data-column-missing",
                    format!("{} has no column `{name}`", self.file),
                    format!("the input `{}` is read from it", input.name),
                    self.missing_hint(name),
                )),
            }
        };
        named.iter().map(find).collect()
    }

    fn cell(
        &self,
        record: &csv::StringRecord,
        column: usize,
        input: &Input,
    ) -> Result<u64, Diagnostic> {
        let text = record.get(column).unwrap_or("").trim();
        let value = match (input.ty, text) {
            (Type::Bool, "true" | "True" | "TRUE") => Some(1),
            (Type::Bool, "false" | "False" | "FALSE") => Some(0),
            _ => text.parse::<i128>().ok(),
        };
        let digits = text.trim_start_matches(['+', '-']);
        let is_huge = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
        let Some(value) = value.or(is_huge.then_some(i128::MAX)) else {
            return Err(Diagnostic {
                code: "data-not-a-number",
                message: format!(
                    "`{text}` in column `{}` is not {}",
                    self.header[column],
                    kind(input.ty)
                ),
                span: Some(self.span(record, column)),
                reason: format!("the input `{}` is read from it", input.name),
                hint: not_a_number_hint(text, input.ty),
            });
        };
        if value < input.range.lo || value > input.range.hi {
            let span = Some(self.span(record, column));
            let place = format!(" in column `{}`", self.header[column]);
            return Err(out_of_range(input, text, span, &place));
        }
        Ok(value as u64)
    }

    fn refuse_header(
        &self,
        code: &'static str,
        message: String,
        reason: String,
        hint: String,
    ) -> Diagnostic {
        let width = self.text.lines().next().unwrap_or("").chars().count() as u32;
        let span = Span {
            file: self.file.clone(),
            line: 1,
            column: 1,
            end_column: width.max(1) + 1,
        };
        Diagnostic {
            code,
            message,
            span: Some(span),
            reason,
            hint,
        }
    }

    /// Where a cell stands in the file.
    fn span(&self, record: &csv::StringRecord, column: usize) -> Span {
        let start = record
            .position()
            .map_or(0, |position| position.byte() as usize);
        let Place {
            line,
            column,
            end_column,
        } = locate(&self.text, start, column);
        Span {
            file: self.file.clone(),
            line,
            column,
            end_column,
        }
    }

    /// What to do about a column that is not there.
    fn missing_hint(&self, name: &str) -> String {
        if let Some(near) = self.nearest(name) {
            return format!("is it `{near}`? Rename the column or the input");
        }
        match &self.header[..] {
            [] => "the file is empty; its first line has to name the columns".to_string(),
            [only] if only.contains([';', '\t']) => {
                "separate columns by commas; this header is one column".to_string()
            }
            _ => "add the column, or give another file with `--input`".to_string(),
        }
    }

    /// A column whose name differs only in case, spaces, dashes or underscores.
    fn nearest(&self, name: &str) -> Option<&String> {
        let plain = |name: &str| {
            name.chars()
                .filter(|c| c.is_alphanumeric())
                .flat_map(char::to_lowercase)
                .collect()
        };
        let want: String = plain(name);
        self.header
            .iter()
            .find(|column| -> bool { plain(column) == want })
    }
}

/// Line and columns, all from 1; `end_column` is the one after the last.
#[derive(Debug, PartialEq)]
struct Place {
    line: u32,
    column: u32,
    end_column: u32,
}

/// Where field `index` of the record that starts at byte `start` stands. Quoted fields may hold
/// commas and line breaks; of a field over several lines the first counts.
fn locate(text: &str, start: usize, index: usize) -> Place {
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
    let before = &text[..text.len() - record.len() + first];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() as u32 + 1;
    let width = record[first..end]
        .lines()
        .next()
        .unwrap_or("")
        .chars()
        .count() as u32;
    Place {
        line,
        column,
        end_column: column + width.max(1),
    }
}

/// The number of the blank line that comes before the record at byte `start`, if one does.
fn blank_line(text: &str, start: usize) -> Option<u32> {
    // The reader ends a line at its carriage return, and leaves the line feed to the next record.
    let start = match text[..start].ends_with('\r') && text[start..].starts_with('\n') {
        true => start + 1,
        false => start,
    };
    let blank = text[start..].starts_with(['\r', '\n']);
    blank.then(|| text[..start].matches('\n').count() as u32 + 1)
}

fn kind(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "a truth value (0, 1, true or false)",
        Type::Int { .. } => "a whole number",
        Type::Fixed { .. } => "a decimal",
    }
}

fn not_a_number_hint(text: &str, ty: Type) -> String {
    match text.parse::<f64>() {
        Err(_) if ty == Type::Bool && !text.is_empty() => "write 0 or 1".to_string(),
        Ok(number) if number.is_finite() => {
            "scale the column to whole numbers and state the unit in its name".to_string()
        }
        parsed if parsed.is_ok() || text.is_empty() => {
            "fill the cell in, or drop the line".to_string()
        }
        _ => "write digits alone, without units or separators".to_string(),
    }
}

fn malformed(path: &Path, error: &csv::Error) -> Diagnostic {
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
    Diagnostic {
        code: "data-malformed",
        message: format!("{file} is not a well-formed CSV table"),
        span: Some(Span {
            file,
            line,
            column: 1,
            end_column: 2,
        }),
        reason,
        hint: "every line has as many fields as the header".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, blank_line, locate};

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
            let Place {
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
