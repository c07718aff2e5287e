//! The `sealane` command inside the interpreter that loads its programs.

use crate::error;
use crate::program::Program;
use pyo3::prelude::*;
use sealane_cli::Embedding;
use sealane_engine::EngineError;
use sealane_host::{Failure, LoadedProgram, ProgramLoader};
use std::ffi::OsString;
use std::path::Path;

/// Runs the command; returns the exit status. `python` starts this interpreter once more, and
/// `signals` ask the command to end.
#[pyfunction]
#[pyo3(signature = (arguments, python, signals = vec![]))]
pub fn main(py: Python<'_>, arguments: Vec<OsString>, python: OsString, signals: Vec<i32>) -> u8 {
    let command = vec![python, "-m".into(), "sealane".into()];
    py.detach(|| {
        sealane_cli::main(
            arguments,
            &Embedding {
                loader: &PythonLoader,
                command,
                signals,
            },
        )
    })
}

/// Loads programs by running their file.
struct PythonLoader;

impl ProgramLoader for PythonLoader {
    fn load(&self, path: &Path, name: Option<&str>) -> Result<LoadedProgram, Failure> {
        Python::attach(|py| {
            let loaded = py
                .import("sealane._load")
                .and_then(|module| module.call_method1("load", (path, name)))
                .and_then(|program| Ok(program.extract::<PyRef<'_, Program>>()?.loaded()));
            loaded.map_err(|error| explain(py, &error))
        })
    }
}

/// Explains an exception to the author of a program: a Sealane finding, or the place of another
/// exception.
fn explain(py: Python<'_>, error: &PyErr) -> Failure {
    let reported = || {
        let value = error.value(py);
        if let Some(reported) = error::finding_of(py, value) {
            return Ok(reported);
        }
        let value = value.call_method1("with_traceback", (error.traceback(py),))?;
        let raised = py.import("sealane._load")?;
        let raised = raised.call_method1("raised", (value,))?;
        error::finding_of(py, &raised).ok_or_else(|| PyErr::from_value(raised))
    };
    reported().unwrap_or_else(|error: PyErr| {
        let what = format!("a program could not be loaded: {error}");
        EngineError::internal(what).into()
    })
}
