//! `--output`: results as CSV.
//!
//! Results that belong to rows of one table are columns of one file, a line for each row. Where
//! results belong to several tables, or to none, each kind has a file of its own.

use crate::failure::Failure;
use crate::view::result_shape;
use sealane_engine::RunReport;
use sealane_program::graph::Program;
use sealane_program::types::{Data, RowId};
use std::path::{Path, PathBuf};

/// Name and elements of a result.
type Column<'a> = (&'a str, &'a Data);

/// Writes what this side learnt. Nothing is written if it learnt nothing.
///
/// # Errors
/// A file cannot be written.
pub fn write(program: &Program, report: &RunReport, path: &Path) -> Result<(), Failure> {
    let mut groups: Vec<(Option<RowId>, Vec<Column<'_>>)> = Vec::new();
    for (reveal, result) in program.results.iter().zip(&report.results) {
        let Some(data) = &result.data else { continue };
        let rows = result_shape(program, reveal).rows;
        let column = (result.name.as_str(), data);
        match groups.iter_mut().find(|(of, _)| *of == rows) {
            Some((_, columns)) => columns.push(column),
            None => groups.push((rows, vec![column])),
        }
    }
    for (index, (rows, columns)) in groups.iter().enumerate() {
        let of = rows.map_or("single", |id| &program.rows[usize::from(id.0)].name);
        let path = if index == 0 {
            path.to_path_buf()
        } else {
            marked(path, of)
        };
        std::fs::write(&path, table(columns, rows.is_some()))
            .map_err(|error| cannot_write(&path).because(error.to_string()))?;
    }
    Ok(())
}

/// Refuses a file that cannot be written before a run that would take its time.
///
/// # Errors
/// Its folder does not exist, or it is a folder itself.
pub fn check_folder(path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let folder = path.parent().unwrap_or(Path::new(""));
    if path.is_dir() || !(folder.as_os_str().is_empty() || folder.is_dir()) {
        return Err(cannot_write(path));
    }
    Ok(())
}

fn cannot_write(path: &Path) -> Failure {
    let what = format!("results cannot be written to {}", path.display());
    Failure::config("output", what, "name a file in a folder that exists")
}

/// `flags.csv` marked `lab` is `flags.lab.csv`.
pub fn marked(path: &Path, mark: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy());
    let extension = extension.map_or(String::new(), |extension| format!(".{extension}"));
    path.with_file_name(format!("{stem}.{mark}{extension}"))
}

/// A header and one line for each row; a result without rows is one line.
fn table(columns: &[Column<'_>], by_rows: bool) -> String {
    let count = |data: &Data| if by_rows { data.shape[0] as usize } else { 1 };
    let rows = columns
        .iter()
        .map(|(_, data)| count(data))
        .max()
        .unwrap_or(0);
    let width = |data: &Data| data.elements.len() / count(data).max(1);
    let names = columns.iter().flat_map(|(name, data)| match width(data) {
        1 => vec![name.to_string()],
        width => (0..width).map(|index| format!("{name}_{index}")).collect(),
    });
    let mut lines = vec![names.collect::<Vec<_>>().join(",")];
    let numbers = columns
        .iter()
        .map(|(_, data)| data.numbers().collect::<Vec<_>>());
    let numbers = numbers.collect::<Vec<_>>();
    for row in 0..rows {
        let cells = columns
            .iter()
            .zip(&numbers)
            .flat_map(|((_, data), numbers)| {
                let width = width(data);
                numbers[row * width..][..width].iter().map(i128::to_string)
            });
        lines.push(cells.collect::<Vec<_>>().join(","));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::types::Type;

    #[test]
    fn columns_stand_side_by_side() {
        let flag = Data {
            ty: Type::Bool,
            shape: vec![2],
            elements: vec![1, 0],
        };
        let minus = (-1i64) as u64;
        let pair = Data {
            ty: Type::signed(8),
            shape: vec![2, 2],
            elements: vec![5, minus, 7, 8],
        };
        let text = table(&[("flag", &flag), ("pair", &pair)], true);
        assert_eq!(text, "flag,pair_0,pair_1\n1,5,-1\n0,7,8\n");
        let text = table(&[("pair", &pair)], false);
        assert_eq!(text, "pair_0,pair_1,pair_2,pair_3\n5,-1,7,8\n");
    }

    #[test]
    fn a_mark_stands_before_the_extension() {
        assert_eq!(
            marked(Path::new("a/flags.csv"), "lab"),
            Path::new("a/flags.lab.csv")
        );
        assert_eq!(marked(Path::new("flags"), "lab"), Path::new("flags.lab"));
    }
}
