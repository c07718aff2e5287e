//! A CSV file with a header line.

use super::{layout, out_of_range, read_file, shape, unreadable};
use sealane_program::diagnostic::{Diagnostic, Span};
use sealane_program::graph::Input;
use sealane_program::types::{Data, Type};
use std::path::Path;

/// A table in memory, as text.
pub(super) struct Table {
    file: String,
    header: Vec<String>,
    records: Vec<csv::StringRecord>,
    /// The file's lines, to find the column of a cell for an error.
    text: String,
}

impl Table {
    pub(super) fn open(path: &Path) -> Result<Table, Diagnostic> {
        let bytes = read_file(path)?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable(path, &"it is not UTF-8"))?;
        let text = text
            .strip_prefix('\u{feff}')
            .map(str::to_string)
            .unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| malformed(path, &error))?;
        let header = header
            .iter()
            .map(|name| name.trim().to_string())
            .collect::<Vec<_>>();
        let records = reader.records().collect::<Result<Vec<_>, _>>();
        let records = records.map_err(|error| malformed(path, &error))?;
        Ok(Table {
            file: path.display().to_string(),
            header,
            records,
            text,
        })
    }

    /// The elements of one input, row-major.
    pub(super) fn input(&self, input: &Input) -> Result<Data, Diagnostic> {
        let columns = self.columns(input)?;
        if let (Some(want), _) = layout(input)
            && want != self.records.len() as u64
        {
            return Err(Diagnostic {
                code: "data-rows",
                message: format!(
                    "{} has {} records where `{}` wants {want}",
                    self.file,
                    self.records.len(),
                    input.name
                ),
                span: Some(self.span(self.records.last(), 0)),
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
            shape: shape(input, self.records.len() as u64),
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
                return Err(Diagnostic {
                    code: "data-columns",
                    message: format!("`{}` wants {want} columns", input.name),
                    span: Some(self.header_span()),
                    reason: format!("{} has {}", self.file, self.header.len()),
                    hint: "name the columns in the signature: a list of names as a dimension"
                        .to_string(),
                });
            }
        };
        let find = |name: &String| {
            self.header
                .iter()
                .position(|column| column == name)
                .ok_or_else(|| Diagnostic {
                    code: "data-column-missing",
                    message: format!("{} has no column `{name}`", self.file),
                    span: Some(self.header_span()),
                    reason: format!("the input `{}` is read from it", input.name),
                    hint: match self.nearest(name) {
                        Some(near) => format!("is it `{near}`? Rename the column or the input"),
                        None => "add the column, or give another file with `--input`".to_string(),
                    },
                })
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
        let Some(value) = value else {
            return Err(Diagnostic {
                code: "data-not-a-number",
                message: format!(
                    "`{text}` in column `{}` is not {}",
                    self.header[column],
                    kind(input.ty)
                ),
                span: Some(self.span(Some(record), column)),
                reason: format!("the input `{}` is read from it", input.name),
                hint: not_a_number_hint(text),
            });
        };
        if value < input.range.lo || value > input.range.hi {
            let span = Some(self.span(Some(record), column));
            let place = format!(" in column `{}`", self.header[column]);
            return Err(out_of_range(input, text, span, &place));
        }
        Ok(value as u64)
    }

    fn header_span(&self) -> Span {
        self.span(None, 0)
    }

    /// Where a cell stands in the file; the header where there is no record.
    fn span(&self, record: Option<&csv::StringRecord>, column: usize) -> Span {
        let line = record
            .and_then(|record| record.position())
            .map_or(1, csv::Position::line);
        let text = self.text.lines().nth(line as usize - 1).unwrap_or("");
        let (first, last) = match record {
            Some(_) => field(text, column),
            None => (0, text.chars().count()),
        };
        let column = first as u32 + 1;
        let end_column = (last as u32 + 1).max(column + 1);
        Span {
            file: self.file.clone(),
            line: line as u32,
            column,
            end_column,
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

/// First character of a field of a line, and the one after its last; quotes are respected.
fn field(line: &str, index: usize) -> (usize, usize) {
    let (mut first, mut count, mut quoted) = (0, 0, false);
    let mut length = 0;
    for (i, c) in line.chars().enumerate() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted && count == index => return (first, i),
            ',' if !quoted => {
                count += 1;
                first = i + 1;
            }
            _ => {}
        }
        length = i + 1;
    }
    (first.min(length), length)
}

fn kind(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "a truth value (0, 1, true or false)",
        Type::Int { .. } => "a whole number",
    }
}

fn not_a_number_hint(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(_) => "scale the column to whole numbers and state the unit in its name".to_string(),
        Err(_) if text.is_empty() => "fill the cell in, or drop the line".to_string(),
        Err(_) => "write digits alone, without units or separators".to_string(),
    }
}

fn malformed(path: &Path, error: &csv::Error) -> Diagnostic {
    let line = error
        .position()
        .map_or(1, |position| position.line() as u32);
    Diagnostic {
        code: "data-malformed",
        message: format!("{} is not a well-formed CSV table", path.display()),
        span: Some(Span {
            file: path.display().to_string(),
            line,
            column: 1,
            end_column: 2,
        }),
        reason: error.to_string(),
        hint: "every line has as many fields as the header".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_are_found_behind_quotes() {
        assert_eq!(field("ab,\"c,d\",e", 0), (0, 2));
        assert_eq!(field("ab,\"c,d\",e", 1), (3, 8));
        assert_eq!(field("ab,\"c,d\",e", 2), (9, 10));
        assert_eq!(field("ab,", 1), (3, 3));
    }
}
