//! Helpers shared by the tests of this crate: inputs, and how to read one.

use sealane_diagnostic::Diagnostic;
use sealane_program::graph::{Input, RowSymbol};
use sealane_program::types::{Data, RowId, Shape, Type};
use sealane_tables::{InputSpec, Loaded, TableSource};
pub use sealane_testkit::input::{NUMBERS, age, input};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Reads inputs, of at most `bound` people, from a source.
pub fn load(
    source: TableSource<'_>,
    inputs: &[Input],
    bound: u64,
) -> Result<Vec<Loaded>, Box<Diagnostic>> {
    let people = RowSymbol {
        name: "people".to_string(),
        bound,
        sum: Vec::new(),
    };
    let want = |input| InputSpec {
        input,
        rows: input.shape.rows.map(|_| &people),
    };
    let wants = inputs.iter().map(want).collect::<Vec<_>>();
    sealane_tables::read(source, &wants).map_err(Box::new)
}

/// A file of this name and content, in a folder of its own.
pub fn file(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file");
    (folder, path)
}

/// Text of an error about a file, without its folder.
pub fn told(error: &Diagnostic, path: &Path) -> String {
    let folder = path.parent().expect("a folder").display();
    error
        .render_with_source()
        .replace(&format!("{folder}/"), "")
}

/// Reads one input, of at most 4 people, from a file of this name and content.
pub fn read(input: Input, name: &str, content: &[u8]) -> Result<Data, String> {
    let (_folder, path) = file(name, content);
    read_path(input, &path, 4).map(|loaded| loaded.data)
}

/// Reads one input, of at most `bound` people, from a file.
pub fn read_path(input: Input, path: &Path, bound: u64) -> Result<Loaded, String> {
    let loaded = load(TableSource::File(path), &[input], bound);
    let mut loaded = loaded.map_err(|error| told(&error, path))?;
    Ok(loaded.remove(0))
}

/// Inputs of two numbers a row.
pub fn pairs(name: &str, ty: Type, range: (i128, i128), columns: &[&str]) -> Input {
    let shape = Shape::with_rows(RowId(0), [2]);
    input(name, ty, shape, range, columns)
}

/// Asserts that `text` has each of these parts.
#[track_caller]
pub fn assert_has<const N: usize>(text: &str, parts: [&str; N]) {
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}
