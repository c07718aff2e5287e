//! Text on standard output.

use sealane_diagnostic::{Code, printable};
use sealane_files::Rights;
use sealane_host::Failure;
use sealane_page::{Card, View};
use serde_json::Value;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::path::Path;

/// Prints to standard output. A closed pipe is no error. At a terminal, characters that are not
/// shown as themselves are replaced, wherever the text comes from; a file or a pipe gets the text
/// unchanged.
///
/// # Errors
/// Standard output does not take it.
pub fn print_line(text: impl std::fmt::Display) -> Result<(), Failure> {
    let mut text = text.to_string();
    if stdout().is_terminal() {
        text = printable(&text);
    }
    match writeln!(stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let what = "cannot write to standard output";
            let hint = "see that where it goes has room and takes it";
            Err(Failure::new(Code::Output, what, hint).because(error.to_string()))
        }
        _ => Ok(()),
    }
}

/// Prints a card, or with `--json` its JSON.
///
/// # Errors
/// As of [`print_line`].
pub fn print_card(json: bool, card: &Card, value: &Value) -> Result<(), Failure> {
    if json {
        print_line(value)
    } else {
        print_line(card)
    }
}

/// Prints a record as its card, or with `--json` as its JSON.
///
/// # Errors
/// As of [`print_line`].
pub fn print_view(json: bool, view: &impl View) -> Result<(), Failure> {
    if json {
        print_line(view.json())
    } else {
        print_line(view.card())
    }
}

/// Prints to standard error what could not be written to standard output; returns a description of
/// where it is.
pub fn print_view_to_stderr(json: bool, view: &impl View) -> &'static str {
    let text = if json {
        view.json().to_string()
    } else {
        printable(&view.card().to_string())
    };
    match writeln!(stderr(), "{text}") {
        Ok(()) => "the report stands above, on standard error",
        Err(_) => "see that one of both goes where there is room",
    }
}

/// Writes a file that the user has named with an option such as `--output`.
///
/// # Errors
/// The file cannot be written.
pub fn write_file(option: &str, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    sealane_files::replace(path, Rights::Usual, bytes).map_err(|error| {
        let what = format!("cannot write {}", path.display());
        let hint = format!("name a file in a folder that can be written to, `{option} FILE`");
        Failure::new(Code::Output, what, hint).because(error.to_string())
    })
}
