//! Assignment of a table's columns to inputs: by name, in any order; other columns are ignored.

use crate::input_spec::{Filling, InputSpec};
use sealane_diagnostic::{Code, Diagnostic, counted};

/// Names of a table's columns.
pub(crate) struct Header {
    /// Name of the table for people: its file.
    pub(crate) table: String,
    /// The names, in the order of the table.
    pub(crate) names: Vec<String>,
    /// Hint for a missing column, if none has a similar name.
    pub(crate) missing: &'static str,
}

impl Header {
    /// Finds the columns that fill an input: those that the signature names, else the column with
    /// the input's name, else (for several columns) all, if their number matches.
    fn columns(&self, want: &InputSpec<'_>) -> Result<Vec<usize>, Diagnostic> {
        let (input, width) = (want.input, want.cells());
        let all = self.all();
        let named = match (input.columns.is_empty(), width) {
            (false, _) if input.columns.len() as u64 == width => &input.columns,
            (true, 1) => &vec![input.name.clone()],
            (true, _) if all.len() as u64 == width => &all,
            _ => {
                let message = format!("`{}` wants {}", input.name, counted(width, "column"));
                let have = match input.columns.len() {
                    0 => format!("{} has {}", self.table, all.len()),
                    names => format!("the signature names {names}"),
                };
                return Err(Diagnostic::new(Code::DataColumns, message)
                    .because(have)
                    .hint("name the columns in the signature: a list of names as a dimension"));
            }
        };
        let what = format!("the input `{}`", input.name);
        named.iter().map(|name| self.find(name, &what)).collect()
    }

    /// Makes an input without records. It records the names of columns that are assigned by
    /// position alone.
    pub(crate) fn filling<'w>(&self, want: InputSpec<'w>) -> Result<Filling<'w>, Diagnostic> {
        let mut filling = Filling::new(want, self.columns(&want)?);
        if want.input.columns.is_empty() && want.cells() > 1 {
            filling.loaded.by_position = self.all();
        }
        Ok(filling)
    }

    /// Names of all columns, except those that pandas makes for an index without a name.
    fn all(&self) -> Vec<String> {
        let names = self.names.iter();
        let names = names.filter(|name| !name.starts_with("__index_level_"));
        names.cloned().collect()
    }

    /// Finds the column of this name, from which `what` is read.
    pub(crate) fn find(&self, name: &str, what: &str) -> Result<usize, Diagnostic> {
        let mut places = (0..self.names.len()).filter(|i| self.names[*i] == name);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => {
                let message = format!("{} has two columns `{name}`", self.table);
                Err(Diagnostic::new(Code::DataColumnTwice, message)
                    .because(format!("{what} is read from one of them"))
                    .hint("rename or drop one of the columns"))
            }
            (None, _) => {
                let message = format!("{} has no column `{name}`", self.table);
                let hint = match self.nearest(name) {
                    Some(near) => format!("is it `{near}`? Rename the column or the input"),
                    None => self.missing.to_string(),
                };
                Err(Diagnostic::new(Code::DataColumnMissing, message)
                    .because(format!("{what} is read from it"))
                    .hint(hint))
            }
        }
    }

    /// Finds a column whose name differs only in case, spaces, dashes or underscores.
    fn nearest(&self, name: &str) -> Option<&String> {
        let plain = |name: &str| {
            let letters = name.chars().filter(|c| c.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect::<String>()
        };
        let want = plain(name);
        self.names.iter().find(|column| plain(column) == want)
    }
}
