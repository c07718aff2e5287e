//! Programs by file.

use crate::Failure;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_files::Accept;
use sealane_program::graph::Program;
use sealane_program::text;
use std::path::Path;

/// Checked program with its warnings.
pub struct LoadedProgram {
    /// The program.
    pub program: Program,
    /// Warnings for its author. Some of them, such as a rounded number of the source, cannot be
    /// derived from the program any more.
    pub warnings: Vec<Diagnostic>,
}

impl LoadedProgram {
    /// Returns the warnings about the numbers of the program, a line each; every verb prints them.
    pub fn notes(&self) -> Vec<String> {
        notes(&self.warnings)
    }
}

/// Selects the warnings about the numbers of the program, a line each.
pub fn notes(warnings: &[Diagnostic]) -> Vec<String> {
    let warnings = warnings.iter();
    let about = warnings.filter(|warning| warning.code.is_about_numbers());
    about.map(Diagnostic::line).collect()
}

/// Loader of programs in a language that this crate does not know.
pub trait ProgramLoader: Sync {
    /// Loads the program that a file defines. `name` selects one of several.
    ///
    /// # Errors
    /// Errors in the program, which its author has to fix.
    fn load(&self, path: &Path, name: Option<&str>) -> Result<LoadedProgram, Failure>;
}

/// Loads `FILE.sealane`, `FILE.py` or `FILE.py:NAME`.
pub fn load(argument: &str, loader: &dyn ProgramLoader) -> Result<LoadedProgram, Failure> {
    let (path, name) = match argument.rsplit_once(':') {
        Some((path, name)) if is_name(name) && !path.is_empty() => (path, Some(name)),
        _ => (argument, None),
    };
    let file = Path::new(path);
    if !file.is_file() {
        let what = format!("there is no program `{path}`");
        let hint = "name a `.py` file or one in the text form, `.sealane`";
        return Err(Failure::new(Code::NoFile, what, hint));
    }
    if file
        .extension()
        .is_some_and(|extension| extension == "sealane")
    {
        return read(path);
    }
    loader.load(file, name)
}

fn read(path: &str) -> Result<LoadedProgram, Failure> {
    let most = text::MAX_TEXT_BYTES as u64;
    let text = sealane_files::read_text(path.as_ref(), Accept::File, most).map_err(|error| {
        let hint = "the text form is UTF-8, as `sealane check --text` prints it";
        let failure = Failure::new(Code::Unreadable, format!("cannot read {path}"), hint);
        failure.because(error.to_string())
    })?;
    let program = text::parse(&text, path)?;
    let warnings = sealane_program::check(&program)?;
    Ok(LoadedProgram { program, warnings })
}

/// Tells if the text behind a colon can be the name of a function, rather than a part of a path.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
