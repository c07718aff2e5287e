//! Results of one table side by side, on their way to a file.
//!
//! A result of one element a row is a column of its name; one of more elements a row takes as many
//! columns, `NAME_0`, `NAME_1` and so on, in every format. So what one program writes, another one
//! reads with the columns that its signature names.

use crate::npy;
use sealane_program::diagnostic::Diagnostic;
use sealane_program::types::{Data, Range};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use zeroize::Zeroizing;

/// The format of a file, which the ending of its name chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a header line.
    Csv,
    /// One NumPy array.
    Npy,
}

impl Format {
    const KNOWN: [(&'static str, Format); 2] = [("csv", Format::Csv), ("npy", Format::Npy)];

    /// The format that results written to `path` have.
    ///
    /// # Errors
    /// Its name has no ending, or an unknown one.
    pub fn of(path: &Path) -> Result<Format, Diagnostic> {
        let known = |(ending, _): &&(&str, Format)| crate::has_extension(path, ending);
        let found = Format::KNOWN.iter().find(known);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let endings = Format::KNOWN.map(|(ending, _)| format!("`.{ending}`"));
            let message = format!("{} names no format that results have", path.display());
            Diagnostic::new("output-format", message)
                .because("the ending of the name chooses the format")
                .hint(format!("end the name in one of {}", endings.join(", ")))
        })
    }

    /// Refuses a file of this format for more results than it can hold.
    ///
    /// # Errors
    /// It holds one array, and there are several.
    pub fn check(self, path: &Path, results: usize) -> Result<(), Diagnostic> {
        if self != Format::Npy || results <= 1 {
            return Ok(());
        }
        let message = format!("{} cannot hold {results} results", path.display());
        Err(Diagnostic::new("output-format", message)
            .because("a `.npy` file holds one array")
            .hint("write a `.csv` file, where results stand side by side"))
    }
}

/// Results side by side, as columns of one table.
pub struct Frame<'a> {
    results: Vec<(&'a str, &'a Data)>,
    columns: Vec<Column<'a>>,
    rows: usize,
}

/// One column: every `width`-th element of a result, from `first` on.
struct Column<'a> {
    name: String,
    data: &'a Data,
    first: usize,
    width: usize,
}

impl<'a> Frame<'a> {
    /// Results by name. Either all belong to the rows of one table, which is their first dimension,
    /// or (`by_rows` is false) none does, and they are one row.
    pub fn new(results: Vec<(&'a str, &'a Data)>, by_rows: bool) -> Frame<'a> {
        let count = |data: &Data| if by_rows { data.shape[0] as usize } else { 1 };
        let rows = results.first().map_or(0, |(_, data)| count(data));
        let mut columns: Vec<Column<'a>> = Vec::new();
        for &(name, data) in &results {
            let width = data.elements.len().checked_div(rows).unwrap_or(0);
            columns.extend((0..width).map(|first| Column {
                name: match width {
                    1 => name.to_string(),
                    _ => format!("{name}_{first}"),
                },
                data,
                first,
                width,
            }));
        }
        Frame {
            results,
            columns,
            rows,
        }
    }

    /// Writes the file in the format that its name says.
    ///
    /// # Errors
    /// The name has an unknown ending, the format cannot hold these results, or the file cannot be
    /// written.
    pub fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        let format = Format::of(path)?;
        format.check(path, self.results.len())?;
        let written = match format {
            Format::Csv => fs::write(path, self.csv().as_bytes()),
            Format::Npy => {
                let mut arrays = self.results.iter();
                arrays.try_for_each(|(_, data)| npy::write(path, data))
            }
        };
        written.map_err(|error| {
            Diagnostic::new(
                "output-unwritable",
                format!("cannot write {}", path.display()),
            )
            .because(error.to_string())
            .hint("name a file in a folder that exists and that you may write to")
        })
    }

    /// A header and one line for each row.
    fn csv(&self) -> Zeroizing<String> {
        let names = self.columns.iter().map(|column| column.name.as_str());
        let mut text = Zeroizing::new(names.collect::<Vec<_>>().join(",") + "\n");
        for row in 0..self.rows {
            for (index, column) in self.columns.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                // Writing to a string does not fail.
                let _ = write!(text, "{comma}{}", column.number(row));
            }
            text.push('\n');
        }
        text
    }
}

impl Column<'_> {
    fn number(&self, row: usize) -> i128 {
        let element = self.data.elements[row * self.width + self.first];
        match self.data.ty.range() {
            Range { lo: ..0, .. } => i128::from(element as i64),
            _ => i128::from(element),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::types::Type;

    #[test]
    fn columns_stand_side_by_side() {
        let data = |ty, shape: &[u64], numbers: &[i128]| {
            Data::from_numbers(ty, shape.to_vec(), numbers).expect("numbers of the type")
        };
        let flag = data(Type::Bool, &[2], &[1, 0]);
        let pair = data(Type::signed(8), &[2, 2], &[5, -1, 7, 8]);
        let frame = Frame::new(vec![("flag", &flag), ("pair", &pair)], true);
        assert_eq!(*frame.csv(), "flag,pair_0,pair_1\n1,5,-1\n0,7,8\n");
        let frame = Frame::new(vec![("pair", &pair)], false);
        assert_eq!(*frame.csv(), "pair_0,pair_1,pair_2,pair_3\n5,-1,7,8\n");
    }
}
