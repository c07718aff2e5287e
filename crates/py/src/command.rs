//! The `sealane` command inside of the interpreter that loads its programs.

use crate::error;
use crate::program::Program;
use pyo3::prelude::*;
use sealane_cli::{Failure, Host, ProgramLoader};
use sealane_program::diagnostic::Diagnostic;
use sealane_program::graph;
use std::ffi::OsString;
use std::path::Path;

/// Runs the command; the exit status. `python` starts this interpreter once more.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>, python: OsString) -> u8 {
    let command = vec![python, "-m".into(), "sealane".into()];
    py.detach(|| {
        sealane_cli::main(
            arguments,
            &Host {
                loader: &PythonLoader,
                command,
            },
        )
    })
}

/// Loads programs by running their file.
struct PythonLoader;

impl ProgramLoader for PythonLoader {
    fn load(&self, path: &Path, name: Option<&str>) -> Result<graph::Program, Failure> {
        Python::attach(|py| {
            let loaded = py
                .import("sealane._load")
                .and_then(|module| module.call_method1("load", (path, name)))
                .and_then(|program| Ok(program.extract::<PyRef<'_, Program>>()?.graph().clone()));
            loaded.map_err(|error| explain(py, &error))
        })
    }
}

/// What the author of a program needs: our own findings, a traceback for the rest.
fn explain(py: Python<'_>, error: &PyErr) -> Failure {
    let value = error.value(py);
    error::told(py, value).unwrap_or_else(|| {
        let trace = value
            .call_method1("with_traceback", (error.traceback(py),))
            .and_then(|value| py.import("sealane._load")?.call_method1("traced", (value,)))
            .and_then(|text| text.extract::<String>());
        let finding = Diagnostic::new("program-raised", format!("the program raised {error}"))
            .because(trace.unwrap_or_default())
            .hint("mend the program: this exception is not Sealane's");
        Failure::program(finding)
    })
}
