//! Programs by file.

use crate::failure::Failure;
use sealane_program::diagnostic::Diagnostic;
use sealane_program::graph::Program;
use sealane_program::text;
use std::path::Path;

/// Loads programs in a language that this crate does not know.
pub trait ProgramLoader: Sync {
    /// The program that a file defines. `name` picks one of several.
    ///
    /// # Errors
    /// What the author of the program has to mend.
    fn load(&self, path: &Path, name: Option<&str>) -> Result<Program, Failure>;
}

/// Loads `FILE.sealane`, `FILE.py` or `FILE.py:NAME`.
pub fn load(argument: &str, loader: &dyn ProgramLoader) -> Result<Program, Failure> {
    let (path, name) = match argument.rsplit_once(':') {
        Some((path, name)) if is_name(name) && !path.is_empty() => (path, Some(name)),
        _ => (argument, None),
    };
    if !Path::new(path).is_file() {
        let what = format!("there is no program `{path}`");
        let hint = "name a `.py` file or one in the text form, `.sealane`";
        return Err(Failure::usage("no-file", what, hint));
    }
    if Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "sealane")
    {
        return read(path);
    }
    loader.load(Path::new(path), name)
}

fn read(path: &str) -> Result<Program, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::program(
            Diagnostic::new("unreadable", format!("cannot read {path}"))
                .because(error.to_string())
                .hint("the text form is UTF-8, as `sealane check --text` prints it"),
        )
    })?;
    text::parse(&text, path).map_err(Failure::program)
}

/// Whether the text behind a colon can be the name of a function, rather than a part of a path.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
