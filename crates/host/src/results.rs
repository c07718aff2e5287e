//! `--output`: results as files, in the format that the name chooses.
//!
//! Results that belong to rows of one table are columns of one file, a line for each row. Where
//! results belong to several tables, or to none, each kind has a file of its own.

use crate::Failure;
use crate::view::result_shape;
use sealane_diagnostic::Code;
use sealane_engine::RunReport;
use sealane_engine::data::Sources;
use sealane_files::{NewFile, Rights, Taken, same};
use sealane_program::graph::{Program, Reveal};
use sealane_program::kind::Form;
use sealane_program::types::RowId;
use sealane_tables::{Format, Frame, Shown};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The mark of results that belong to the rows of no table.
pub const SINGLE: &str = "single";

/// Writes what this side learnt, and says to which files: none if it learnt nothing. Each is whole
/// before the first has its name.
///
/// # Errors
/// A file cannot be written.
pub fn write(program: &Program, report: &RunReport, path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let tables = tables(program, report);
    let paths = paths(tables.iter().map(|(name, _)| name.as_str()), path);
    let written = paths.iter().zip(&tables);
    let written = written.map(|(path, (_, frame))| frame.unfinished(path));
    for file in written.collect::<Result<Vec<_>, _>>()? {
        file.keep()?;
    }
    Ok(paths)
}

/// Results that this side learnt, by the name of the table to whose rows they belong; `single` for
/// those of no table. No two names are alike: see [`marks`].
pub fn tables<'a>(program: &'a Program, report: &'a RunReport) -> Vec<(String, Frame<'a>)> {
    let cells = |index: &usize| !is_mask(&program.results[*index]);
    let learnt = |index: &usize| report.results[*index].data.is_some();
    let all = (0..report.results.len()).filter(cells).filter(learnt);
    let groups = by_table(program, all);
    let names = names(program, &groups);
    let frame = |(rows, results): (Option<RowId>, Vec<usize>)| {
        let results = results.into_iter();
        let results = results.filter_map(|index| shown(program, report, index));
        Frame::of(results.collect(), rows.is_some())
    };
    let frames = groups.into_iter().map(frame);
    names.into_iter().zip(frames).collect()
}

/// Returns whether a result is the mask of another one, which its empty cells show.
pub fn is_mask(reveal: &Reveal) -> bool {
    matches!(reveal.kind.form, Form::Missing(_))
}

/// The result with an index, as tables show it; none if this side does not learn it.
pub fn shown<'a>(program: &'a Program, report: &'a RunReport, index: usize) -> Option<Shown<'a>> {
    let (reveal, result) = (program.results.get(index)?, report.results.get(index)?);
    let is_of = |mask: &&Reveal| mask.kind.form == Form::Missing(reveal.name.clone());
    let mask = program.results.iter().find(is_of);
    let mut results = report.results.iter();
    let mask = mask.and_then(|mask| results.find(|result| result.name == mask.name));
    Some(Shown {
        name: &result.name,
        data: result.data.as_ref()?,
        kind: &reveal.kind,
        missing: mask.and_then(|mask| mask.data.as_ref()),
    })
}

/// The names of tables, for people and for files.
fn names(program: &Program, groups: &[(Option<RowId>, Vec<usize>)]) -> Vec<String> {
    let name = |rows: &Option<RowId>| rows.map(|id| &*program.rows[usize::from(id.0)].name);
    marks(groups.iter().map(|(rows, _)| name(rows)))
}

/// A mark for each of several names, with which a file can be called; `single` for what has no
/// name. No two are alike, also where the file system does not tell capitals from small letters:
/// what would be taken has `_` behind it.
pub fn marks<'a>(names: impl Iterator<Item = Option<&'a str>>) -> Vec<String> {
    let mut taken = BTreeSet::from([SINGLE.to_string()]);
    let mut mark = |name: Option<&str>| {
        let Some(name) = name else {
            return SINGLE.to_string();
        };
        let mut name = name.to_string();
        while !taken.insert(name.to_lowercase()) {
            name.push('_');
        }
        name
    };
    names.map(&mut mark).collect()
}

/// The files of tables with these names: the first has the path as it was given, each other one its
/// name as a mark.
fn paths<'a>(names: impl Iterator<Item = &'a str>, path: &Path) -> Vec<PathBuf> {
    let paths = names.enumerate().map(|(index, name)| match index {
        0 => path.to_path_buf(),
        _ => marked(path, name),
    });
    paths.collect()
}

/// Refuses a file that cannot be written before a run that would take its time: the file for what
/// `party` learns, or for all results where it is none. `sources` are the files of inputs that this
/// machine reads.
///
/// # Errors
/// Its name has no known format, or one that cannot hold these results; its folder does not exist
/// or takes no file, or it is a folder itself; it, or a file beside it for another table, is one
/// that inputs come from.
pub fn check(
    program: &Program,
    party: Option<u8>,
    path: Option<&Path>,
    sources: &[Sources],
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let folder = path.parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if path.is_dir() || !folder.is_dir() {
        return Err(cannot_write(path));
    }
    let format = Format::of(path)?;
    let learns = |reveal: &Reveal| party.is_none_or(|party| reveal.to.contains(&party));
    let learnt = (0..program.results.len()).filter(|index| {
        let reveal = &program.results[*index];
        learns(reveal) && !is_mask(reveal)
    });
    let checked = |results: &[usize]| {
        let results = results.iter().map(|index| &program.results[*index]);
        let types = results.map(|reveal| (reveal.ty, &reveal.kind));
        format.check(path, &types.collect::<Vec<_>>())
    };
    let groups = by_table(program, learnt);
    let mut results = groups.iter().map(|(_, results)| results);
    results.try_for_each(|results| checked(results))?;
    let names = names(program, &groups);
    let others = paths(names.iter().map(String::as_str), path);
    spare(&others, sources)?;
    others.iter().skip(1).try_for_each(|path| try_out(path))?;
    try_out(path)
}

/// Begins a file as the results will, and leaves it: rights, read-only disks, full ones and pipes
/// show only when somebody tries.
fn try_out(path: &Path) -> Result<(), Failure> {
    let tried = NewFile::begin(path, Rights::AsBefore, Taken::Replace);
    let tried = tried.and_then(|mut file| {
        let is_other = path.exists() && !path.is_file();
        if is_other {
            Ok(())
        } else {
            file.write_all(&[0])
        }
    });
    tried.map_err(|error| cannot_write(path).because(error.to_string()))
}

/// Refuses outputs in the place of inputs, which would be lost.
fn spare(outputs: &[PathBuf], sources: &[Sources]) -> Result<(), Failure> {
    let inputs = sources.iter();
    for input in inputs.flat_map(|of| of.by_input.values().chain(&of.default)) {
        if let Some(output) = outputs.iter().find(|output| same(output, input)) {
            let what = format!("results would take the place of {}", output.display());
            let hint = "name another file with `--output`";
            let failure = Failure::new(Code::CommandLine, what, hint);
            return Err(failure.because("an input is read from it, and would be lost"));
        }
    }
    Ok(())
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
fn cannot_write(path: &Path) -> Failure {
    let what = format!("results cannot be written to {}", path.display());
    let hint = "name a file in a folder that exists and can be written";
    Failure::new(Code::Output, what, hint)
}

/// `flags.csv` marked `lab` is `flags.lab.csv`.
pub fn marked(path: &Path, mark: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let dot = if path.extension().is_some() { "." } else { "" };
    path.with_file_name(format!("{stem}.{mark}{dot}{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_files_are_one() {
        let marks = |names: &[&str]| {
            let names = names.iter().map(|name| (!name.is_empty()).then_some(*name));
            super::marks(names).join(" ")
        };
        assert_eq!(marks(&["lab", "", "ward"]), "lab single ward");
        assert_eq!(marks(&["single", ""]), "single_ single");
        assert_eq!(marks(&["", "Single", "single_"]), "single Single_ single__");
        let alike = marks(&["Lab", "lab", "LAB", "lab_"]);
        assert_eq!(alike, "Lab lab_ LAB__ lab___");
    }

    /// A program whose results belong to the rows of `single`, to those of `Lab` and `lab`, and to
    /// none: once, the last of these wrote over the first.
    #[test]
    fn every_table_has_a_file_of_its_own() {
        let rows = ["single", "Lab", "lab"];
        let each = |line: &dyn Fn(usize, &str) -> String| {
            let lines = rows.iter().enumerate().map(|(at, name)| line(at, name));
            lines.collect::<String>()
        };
        let program = format!(
            "sealane program 1\nname p\nparty a\nparty b\n{}{}main {{\n{}}}\n{}",
            each(&|_, name| format!("rows {name} <= 9\n")),
            each(&|at, name| format!("input x{at} : a u8[{name}] in 0..255\n"))
                + "input y : a u8 in 0..255\n",
            each(&|at, name| format!("  %{at} = param {at} : u8[{name}] in 0..255 known a\n"))
                + "  %3 = param 3 : u8 in 0..255 known a\n",
            each(&|at, _| format!("reveal r{at} = %{at} : u8 to b\n"))
                + "reveal s = %3 : u8 to b\n",
        );
        let program = sealane_program::text::parse(&program, "p").unwrap_or_else(|e| panic!("{e}"));
        let names = names(&program, &by_table(&program, 0..4));
        let paths = paths(names.iter().map(String::as_str), Path::new("o.csv"));
        let wanted = ["o.csv", "o.Lab.csv", "o.lab_.csv", "o.single.csv"];
        assert_eq!(paths, wanted.map(PathBuf::from));
    }

    #[test]
    fn inputs_are_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("in.csv"), "x\n1\n").unwrap();
        std::fs::create_dir(path("sub")).unwrap();
        let of = |default: Option<&str>, named: Option<&str>| Sources {
            default: default.map(path),
            by_input: named
                .iter()
                .map(|name| ("x".to_string(), path(name)))
                .collect(),
        };
        let sources = [of(None, Some("other.csv")), of(Some("in.csv"), None)];
        let refused = |output: &str| spare(&[path("out.csv"), path(output)], &sources).is_err();
        assert!(refused("in.csv") && refused("sub/../in.csv"));
        assert!(!refused("other.csv") && !refused("sub/in.csv"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("in.csv", path("link.csv")).unwrap();
            assert!(refused("link.csv"));
        }
        let sources = [of(None, Some("in.csv"))];
        assert!(spare(&[path("in.csv")], &sources).is_err());
    }

    #[test]
    fn a_mark_stands_before_the_extension() {
        for (path, expected) in [("a/flags.csv", "a/flags.lab.csv"), ("flags", "flags.lab")] {
            assert_eq!(marked(Path::new(path), "lab"), Path::new(expected));
        }
    }

    #[test]
    fn a_folder_that_takes_no_file_is_found_before_the_run() {
        let program = sealane_program::text::parse(
            "sealane program 1\nname p\nparty a\nparty b\ninput x : a u8 in 0..255\n\
             main {\n  %0 = param 0 : u8 in 0..255 known a\n}\nreveal r = %0 : u8 to b\n",
            "p",
        );
        let program = program.unwrap_or_else(|error| panic!("{error}"));
        let folder = tempfile::tempdir().unwrap();
        assert!(check(&program, None, Some(&folder.path().join("r.csv")), &[]).is_ok());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        // Not even its owner, and nobody else, makes files there.
        let failure = check(&program, None, Some(Path::new("/proc/r.csv")), &[]).unwrap_err();
        assert_eq!(
            (failure.finding().code, failure.status()),
            (Code::Output, 2)
        );
        assert!(!failure.finding().reason.is_empty());
    }
}
