//! Text columns of a CSV file: items that are not numbers yet.

use std::path::Path;

use sealane_diagnostic::{Code, Diagnostic};
use zeroize::Zeroizing;

use crate::csv_table::{Table, cell_text, header_names, malformed, text};

/// Cells of a CSV file with a header line, as texts without surrounding white space; erased on
/// drop.
pub struct Texts {
    names: Vec<String>,
    /// Cells by column.
    columns: Vec<Vec<Zeroizing<String>>>,
}

impl Texts {
    /// Reads the columns with these names, or all of them if no names are given.
    ///
    /// # Errors
    /// The file cannot be read, is malformed, lacks one of the columns or has it twice, or one of
    /// their cells is empty.
    pub fn read(path: &Path, wanted: &[&str]) -> Result<Texts, Diagnostic> {
        let text = text(path)?;
        let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        let names = header_names(&mut reader).map_err(|error| malformed(path, &error))?;
        let table = Table::new(path, &text, names);
        let all = table.header.names.iter().map(String::as_str);
        let wanted: Vec<&str> = match wanted {
            [] => all.collect(),
            _ => wanted.to_vec(),
        };
        let place = |name: &&str| table.header.find(name, "what people call the items");
        let places = wanted.iter().map(place).collect::<Result<Vec<_>, _>>();
        let places = places.map_err(|finding| finding.at(Some(&table.header_span())))?;
        let mut columns = vec![Vec::new(); places.len()];
        for record in reader.records() {
            let record = record.map_err(|error| malformed(path, &error))?;
            table.refuse_blank_line(&record)?;
            for (&place, column) in places.iter().zip(&mut columns) {
                let cell = cell_text(&record, place);
                if cell.is_empty() {
                    let name = &table.header.names[place];
                    let message = format!("a cell in column `{name}` is empty");
                    return Err(Diagnostic::new(Code::DataNull, message)
                        .at(Some(&table.span(&record, place)))
                        .because("an item that is missing would be left out")
                        .hint("fill the cell in, or drop the line"));
                }
                column.push(Zeroizing::new(cell.to_string()));
            }
        }
        Ok(Texts {
            names: wanted.iter().map(|name| name.to_string()).collect(),
            columns,
        })
    }

    /// Returns the cells of a column, if there is one of this name.
    pub fn column(&self, name: &str) -> Option<&[Zeroizing<String>]> {
        let place = self.names.iter().position(|column| column == name)?;
        Some(&self.columns[place])
    }
}
