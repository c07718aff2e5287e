//! Text columns of a CSV file: items that are not numbers yet.

use std::path::Path;

use sealane_diagnostic::{Code, Diagnostic};
use zeroize::Zeroizing;

use crate::cell::is_composed;
use crate::csv_table::CsvTable;

/// Cells of a CSV file with a header line, as texts without surrounding white space; erased on
/// drop.
pub struct Texts {
    names: Vec<String>,
    /// Cells by column.
    columns: Vec<Vec<Zeroizing<String>>>,
    /// First row with a text that is not in NFC.
    pub decomposed: Option<u64>,
}

impl Texts {
    /// Reads the columns with these names, or all of them if no names are given.
    ///
    /// # Errors
    /// The file cannot be read, is malformed, lacks one of the columns or has it twice, or one of
    /// their cells is empty.
    pub fn read(path: &Path, wanted: &[&str]) -> Result<Texts, Diagnostic> {
        let (table, mut rows) = CsvTable::open(path)?;
        let all = table.header.names.iter().map(String::as_str);
        let wanted: Vec<&str> = match wanted {
            [] => all.collect(),
            _ => wanted.to_vec(),
        };
        let place = |name: &&str| table.header.find(name, "what people call the items");
        let places = wanted.iter().map(place).collect::<Result<Vec<_>, _>>();
        let places = places.map_err(|finding| finding.at(Some(&table.header_span)))?;
        let mut columns = vec![Vec::new(); places.len()];
        let (mut count, mut decomposed) = (0, None);
        while let Some(record) = table.next(&mut rows)? {
            count += 1;
            for (&place, column) in places.iter().zip(&mut columns) {
                let cell = record.cell(place);
                let cell = cell.trim();
                if cell.is_empty() {
                    let name = &table.header.names[place];
                    let message = format!("a cell in column `{name}` is empty");
                    return Err(Diagnostic::new(Code::DataNull, message)
                        .at(Some(&table.span(record.extent(place))))
                        .because("an item that is missing would be left out")
                        .hint("fill the cell in, or drop the line"));
                }
                if !is_composed(cell) {
                    decomposed = decomposed.or(Some(count));
                }
                column.push(Zeroizing::new(cell.to_string()));
            }
        }
        Ok(Texts {
            names: wanted.iter().map(|name| name.to_string()).collect(),
            columns,
            decomposed,
        })
    }

    /// Returns the cells of a column, if there is one of this name.
    pub fn column(&self, name: &str) -> Option<&[Zeroizing<String>]> {
        let place = self.names.iter().position(|column| column == name)?;
        Some(&self.columns[place])
    }
}

/// Note for the owner of texts, of which the one in this row is not in NFC.
pub fn decomposed_note(of: &str, row: u64) -> String {
    format!(
        "row {row} of `{of}` holds text that is not in NFC, which is unequal to the same text in \
         NFC; make all such texts alike where the table is made, in Python by \
         `unicodedata.normalize(\"NFC\", text)`"
    )
}
