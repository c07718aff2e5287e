//! Conversion of native errors to exceptions of `sealane._errors`, and back.

use crate::item::Place;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use sealane_diagnostic::{Code, Diagnostic, FailureKind, Span};
use sealane_host::Failure;

/// Makes the exception for a diagnostic, or for a failure of the engine or of code that the command
/// line shares with the methods of a program.
pub fn raised(error: impl Into<Failure>) -> PyErr {
    let failure = error.into();
    Python::attach(|py| {
        exception(py, failure.finding()).map_or_else(|error| error, PyErr::from_value)
    })
}

/// Issues a warning at the current line of the user, which `warnings` may turn into exceptions.
pub fn warn(py: Python<'_>, texts: &[String]) -> PyResult<()> {
    for text in texts {
        py.import("sealane._refusal")?
            .call_method1("warn", (text,))?;
    }
    Ok(())
}

/// Makes the exception for an attribute that a class does not have: a refusal with the present name
/// if it is an old one.
pub fn no_attribute(py: Python<'_>, class: &str, name: &str) -> PyErr {
    let message = format!("a `{class}` has no `{name}`");
    let renamed = || {
        py.import("sealane._refusal")?
            .call_method1("renamed", (&message, name))
    };
    match renamed() {
        Ok(refusal) if refusal.is_none() => PyAttributeError::new_err(message),
        Ok(refusal) => PyErr::from_value(refusal),
        Err(error) => error,
    }
}

/// Makes the exception for a refusal of the Python layer; a function of the module. The code
/// determines its class.
#[pyfunction]
pub fn refusal<'py>(
    py: Python<'py>,
    code: &str,
    message: String,
    at: Place,
    reason: String,
    hint: String,
) -> PyResult<Bound<'py, PyAny>> {
    let unknown = || PyValueError::new_err(format!("unknown code `{code}`"));
    let code = Code::named(code).ok_or_else(unknown)?;
    let finding = Diagnostic::new(code, message)
        .at(at.span())
        .because(reason)
        .hint(hint);
    exception(py, &finding)
}

/// Finding of an exception of Sealane, to be printed by the command; none for any other exception.
pub fn finding_of(py: Python<'_>, error: &Bound<'_, PyAny>) -> Option<Failure> {
    let ours = class(py, "SealaneError").ok()?;
    if !error.is_instance(&ours).ok()? {
        return None;
    }
    let text = |name: &str| -> String {
        let value = error.getattr(name).and_then(|value| value.extract());
        value.unwrap_or_default()
    };
    let number = |name: &str| -> Option<u32> { error.getattr(name).ok()?.extract().ok() };
    let code = Code::named(&text("code"))?;
    let span = number("line")
        .zip(number("column"))
        .map(|(line, column)| Span {
            file: text("file"),
            line,
            column,
            end_column: number("end_column").unwrap_or(column + 1),
        });
    let finding = Diagnostic::new(code, text("message"))
        .because(text("reason"))
        .hint(text("hint"))
        .at(span.as_ref());
    Some(Failure::from(finding))
}

fn exception<'py>(py: Python<'py>, finding: &Diagnostic) -> PyResult<Bound<'py, PyAny>> {
    let name = match finding.kind() {
        FailureKind::Program => "ProgramError",
        FailureKind::Misuse => "MisuseError",
        FailureKind::Data if finding.code == Code::InvalidTag => "InvalidTag",
        FailureKind::Data => "DataError",
        FailureKind::Config => "ConfigError",
        FailureKind::Network => "NetworkError",
        FailureKind::Peer => "PeerError",
        FailureKind::Internal => "InternalError",
    };
    let source = finding.span.as_ref().and_then(|span| source_line(py, span));
    let place = finding.span.as_ref();
    class(py, name)?.call1((
        finding.render(source.as_deref()),
        finding.code.name(),
        finding.message.as_str(),
        place.map(|span| span.file.as_str()),
        place.map(|span| span.line),
        place.map(|span| span.column),
        place.map(|span| span.end_column),
        finding.reason.as_str(),
        finding.hint.as_str(),
        finding.line(),
    ))
}

/// How the expression at `span` is written in the source: the call that the operation under way is
/// only a step of, or else the names of its operands, in order; empty where they are not known.
pub fn written(span: &Span) -> (String, Vec<String>) {
    let place = (&span.file, span.line, span.column, span.end_column);
    Python::attach(|py| {
        let source = py.import("sealane._source")?;
        source.call_method1("written", place)?.extract()
    })
    .unwrap_or_default()
}

/// A finding about a step of a call, told as one about the call, unless that is empty: no operand
/// of the step stands in the source.
pub fn within(mut finding: Diagnostic, call: &str) -> Diagnostic {
    if call.is_empty() {
        return finding;
    }
    let reported = finding.message.strip_prefix('`');
    finding.message = match reported.and_then(|reported| reported.split_once('`')) {
        Some((_, rest)) => format!("a step of `{call}`{rest}"),
        None => format!("in a step of `{call}`, {}", finding.message),
    };
    match finding.code {
        Code::RangeOverflow => finding.hint(
            "give it numbers of a wider type, such as `x.astype(sl.f64)`, or of a narrower range: \
             declare one, or clamp with `sl.clip`",
        ),
        Code::DivisionByZero => finding.hint(
            "give it a divisor that is not 0: declare its range, or write `sl.where(x == 0, 1, x)`",
        ),
        _ => finding,
    }
}

/// Returns the line from the interpreter's cache, since notebooks have no files.
fn source_line(py: Python<'_>, span: &Span) -> Option<String> {
    let cache = py.import("linecache").ok()?;
    // The file may have been edited or replaced meanwhile.
    cache.call_method1("checkcache", (&span.file,)).ok()?;
    let line = cache
        .call_method1("getline", (&span.file, span.line))
        .ok()?;
    line.extract().ok().filter(|line: &String| !line.is_empty())
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("sealane._errors")?.getattr(name)
}
