//! `--output`: results as files, in the format that the name chooses.
//!
//! Results that belong to rows of one table are columns of one file, a line for each row. Where
//! results belong to several tables, or to none, each kind has a file of its own.

use crate::failure::Failure;
use crate::view::result_shape;
use sealane_engine::{Kind, RunReport};
use sealane_program::diagnostic::Diagnostic;
use sealane_program::graph::{Program, Reveal};
use sealane_program::types::RowId;
use sealane_tables::{Format, Frame};
use std::path::{Path, PathBuf};

/// Writes what this side learnt. Nothing is written if it learnt nothing.
///
/// # Errors
/// A file cannot be written.
pub fn write(program: &Program, report: &RunReport, path: &Path) -> Result<(), Failure> {
    for (index, (name, frame)) in tables(program, report).iter().enumerate() {
        let path = match index {
            0 => path.to_path_buf(),
            _ => marked(path, name),
        };
        frame.write(&path).map_err(failed)?;
    }
    Ok(())
}

/// What this side learnt, by the table to whose rows it belongs; `single` for what belongs to none.
pub fn tables<'a>(program: &'a Program, report: &'a RunReport) -> Vec<(&'a str, Frame<'a>)> {
    let learnt = |index: &usize| report.results[*index].data.is_some();
    let learnt = (0..report.results.len()).filter(learnt);
    let frame = |(rows, results): (Option<RowId>, Vec<usize>)| {
        let name = rows.map_or("single", |id| &program.rows[usize::from(id.0)].name);
        let results = results.iter().map(|index| &report.results[*index]);
        let results = results.filter_map(|result| Some((&*result.name, result.data.as_ref()?)));
        (name, Frame::new(results.collect(), rows.is_some()))
    };
    by_table(program, learnt).into_iter().map(frame).collect()
}

/// Refuses a file that cannot be written before a run that would take its time: the file for what
/// `party` learns, or for all results where it is none.
///
/// # Errors
/// Its name has no known format, or one that cannot hold these results; its folder does not exist,
/// or it is a folder itself.
pub fn check(program: &Program, party: Option<u8>, path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let folder = path.parent().unwrap_or(Path::new(""));
    if path.is_dir() || !(folder.as_os_str().is_empty() || folder.is_dir()) {
        return Err(cannot_write(path));
    }
    let format = Format::of(path).map_err(failed)?;
    let learns = |reveal: &Reveal| party.is_none_or(|party| reveal.to.contains(&party));
    let learnt = (0..program.results.len()).filter(|index| learns(&program.results[*index]));
    let checked = |results: &[usize]| {
        let types = results.iter().map(|index| program.results[*index].ty);
        format.check(path, &types.collect::<Vec<_>>())
    };
    let mut tables = by_table(program, learnt).into_iter();
    tables
        .try_for_each(|(_, results)| checked(&results))
        .map_err(failed)
}

/// The results with the given indices, by the table to whose rows they belong, if any.
fn by_table(
    program: &Program,
    results: impl Iterator<Item = usize>,
) -> Vec<(Option<RowId>, Vec<usize>)> {
    let mut groups: Vec<(Option<RowId>, Vec<usize>)> = Vec::new();
    for index in results {
        let rows = result_shape(program, &program.results[index]).rows;
        match groups.iter_mut().find(|(of, _)| *of == rows) {
            Some((_, group)) => group.push(index),
            None => groups.push((rows, vec![index])),
        }
    }
    groups
}

/// Why a file of results was refused.
fn failed(finding: Diagnostic) -> Failure {
    Failure::new(Kind::Config, finding)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_before_the_extension() {
        assert_eq!(
            marked(Path::new("a/flags.csv"), "lab"),
            Path::new("a/flags.lab.csv")
        );
        assert_eq!(marked(Path::new("flags"), "lab"), Path::new("flags.lab"));
    }
}
