//! The one place where native errors become exceptions of `sealane._errors`.

use crate::item::Place;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealane_cli::Failure;
use sealane_engine::{EngineError, Kind};
use sealane_program::diagnostic::{Diagnostic, Span};

/// Codes of the findings that the Python layer makes itself.
const PYTHON_CODES: [&str; 15] = [
    "assignment",
    "attribute",
    "body",
    "no-length",
    "no-number",
    "numpy",
    "operand",
    "operator",
    "result",
    "secret-condition",
    "secret-index",
    "secret-key",
    "signature",
    "type",
    "argument",
];

/// The exception for a finding about a program.
pub fn program(py: Python<'_>, finding: &Diagnostic) -> PyErr {
    match program_exception(py, finding) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception for a failed run.
pub fn engine(py: Python<'_>, error: &EngineError) -> PyErr {
    match error {
        EngineError::Program(finding) => program(py, finding),
        _ => named(py, error.kind(), &error.to_string()),
    }
}

/// The exception for a failure of what the command line shares with the methods of a program.
pub fn failure(py: Python<'_>, failure: &Failure) -> PyErr {
    match failure {
        Failure::Program(findings) if findings.len() == 1 => program(py, &findings[0]),
        Failure::Engine(error) => engine(py, error),
        _ => named(py, failure.kind(), &failure.to_string()),
    }
}

/// An exception by who has to act.
pub fn named(py: Python<'_>, kind: Kind, text: &str) -> PyErr {
    let name = match kind {
        Kind::Program => "ProgramError",
        Kind::Data => "DataError",
        Kind::Config => "ConfigError",
        Kind::Network => "NetworkError",
        Kind::Peer => "PeerError",
        Kind::Internal => "InternalError",
    };
    match class(py, name).and_then(|class| class.call1((text,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception for something that the Python layer refuses; a function of the module.
#[pyfunction]
pub fn program_error<'py>(
    py: Python<'py>,
    code: &str,
    message: String,
    at: Option<Place>,
    reason: String,
    hint: String,
) -> PyResult<Bound<'py, PyAny>> {
    let known = PYTHON_CODES.into_iter().find(|known| *known == code);
    let code = known.ok_or_else(|| PyValueError::new_err(format!("unknown code `{code}`")))?;
    let span = at.map(Span::from);
    program_exception(
        py,
        &Diagnostic {
            code,
            message,
            span,
            reason,
            hint,
        },
    )
}

fn program_exception<'py>(py: Python<'py>, finding: &Diagnostic) -> PyResult<Bound<'py, PyAny>> {
    let source = finding.span.as_ref().and_then(|span| source_line(py, span));
    let place = finding.span.as_ref();
    class(py, "ProgramError")?.call1((
        finding.render(source.as_deref()),
        finding.code,
        place.map(|span| span.file.as_str()),
        place.map(|span| span.line),
        place.map(|span| span.column),
        finding.hint.as_str(),
    ))
}

/// The line as the interpreter knows it: notebooks have no files.
fn source_line(py: Python<'_>, span: &Span) -> Option<String> {
    let cache = py.import("linecache").ok()?;
    // The file may have been edited, or another one may have its name by now.
    cache.call_method1("checkcache", (&span.file,)).ok()?;
    let line = cache
        .call_method1("getline", (&span.file, span.line))
        .ok()?;
    line.extract().ok().filter(|line: &String| !line.is_empty())
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("sealane._errors")?.getattr(name)
}
