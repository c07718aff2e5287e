//! Failures on standard error. In a log or a pipe, the same text stands without colours and without
//! the line that says where to read more.

use anstyle::AnsiColor;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_host::Failure;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

/// Options by the names that they had in earlier versions, with those that they have.
const RENAMED: [(&str, &str); 1] = [("--papers", "--references")];

/// Writes a failure to standard error: for people, or with `--json` as one object in one line, the
/// last of that stream. Standard output is for results alone.
pub fn print_failure(failure: &Failure, json: bool) {
    let finding = failure.finding();
    if json {
        let _ = writeln!(std::io::stderr(), "{}", object(failure));
    } else {
        write(finding.code, finding.painted())
    }
}

/// Encodes a failure for scripts.
fn object(failure: &Failure) -> Value {
    let finding = failure.finding();
    let span = finding.span.as_ref();
    json!({ "error": {
        "code": finding.code.name(),
        "kind": failure.kind().name(),
        "status": failure.status(),
        "message": finding.message,
        "file": span.map(|span| &span.file),
        "line": span.map(|span| span.line),
        "column": span.map(|span| span.column),
        "reason": finding.reason,
        "hint": finding.hint,
    }})
}

/// Writes a note to standard error.
pub fn print_note(note: &str) {
    eprintln!("note: {}", sealane_diagnostic::printable(note));
}

/// Writes a warning to standard error.
pub fn print_warning(warning: &Diagnostic) {
    write(warning.code, warning.painted());
}

/// Writes an error of the command line parser in the form of other failures.
pub fn print_usage_error(error: &clap::Error, json: bool) {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // The user asked for the help.
        let _ = error.print();
        return;
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(one_line);
    let what = paragraphs.next().unwrap_or_default();
    let what = without_ranges(what.trim_start_matches("error: "));
    let (mut tips, mut usage) = (String::new(), None);
    for paragraph in paragraphs {
        if let Some(tip) = paragraph.strip_prefix("tip: ") {
            let _ = write!(tips, "{tip}; ");
        } else if let Some(form) = paragraph.strip_prefix("Usage: ") {
            usage = Some(format!("the form is `{form}`"));
        }
    }
    for (old, new) in RENAMED {
        if what.contains(&format!("'{old}'")) {
            tips = format!("write `{new}`; ");
        }
    }
    let hint = format!("{tips}`--help` behind a verb lists what it takes");
    let failure = Failure::new(Code::CommandLine, what, hint);
    print_failure(&failure.because(usage.unwrap_or_default()), json);
}

/// The parser's sentence about a number that is out of bounds, with the bounds in words: it writes
/// `40 is not in 1..=32`, and `0 is not in 1..18446744073709551615`.
fn without_ranges(what: &str) -> String {
    let Some((before, range)) = what.rsplit_once(" is not in ") else {
        return what.to_string();
    };
    let bounds = range
        .split_once("..=")
        .map(|(low, high)| format!("from {low} to {high}"))
        .or_else(|| Some(format!("{} or more", range.split_once("..")?.0)));
    match bounds {
        Some(bounds) => format!("{before} is not {bounds}"),
        None => what.to_string(),
    }
}

fn one_line(paragraph: &str) -> String {
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes a text to standard error. At a terminal, the last line names the command that explains
/// its code. Colours are left out if nobody sees them, and if the environment has `NO_COLOR`.
fn write(code: Code, mut text: String) {
    let stderr = std::io::stderr();
    if stderr.is_terminal() {
        let style = AnsiColor::Cyan.on_default().bold();
        let _ = write!(text, "\n{style}help:{style:#} sealane explain {code}");
    }
    // There is nobody to notify if standard error is gone.
    let _ = writeln!(anstream::AutoStream::auto(stderr), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_numbers_are_reported_in_words() {
        let reported =
            |range| without_ranges(&format!("invalid value '0' for '-c': 0 is not in {range}"));
        assert!(reported("1..=32").ends_with(": 0 is not from 1 to 32"));
        assert!(reported("1..18446744073709551615").ends_with(": 0 is not 1 or more"));
        assert_eq!(without_ranges("no such verb"), "no such verb");
    }

    #[test]
    fn scripts_get_all_that_people_get() {
        let span = sealane_diagnostic::Span {
            file: "risk\u{1b}.py".to_string(),
            line: 3,
            column: 5,
            end_column: 9,
        };
        let finding = Diagnostic::new(Code::RangeOverflow, "`a + b`\ncan leave u8")
            .at(Some(&span))
            .because("why")
            .hint("what");
        let failure = Failure::from(finding);
        let wanted = json!({ "error": {
            "code": "range-overflow", "kind": "program", "status": 3,
            "message": "`a + b`\ncan leave u8", "file": "risk\u{1b}.py", "line": 3, "column": 5,
            "reason": "why", "hint": "what",
        }});
        assert_eq!(object(&failure), wanted);
        assert_eq!(wanted.to_string().lines().count(), 1);
        let bare = &object(&Failure::new(Code::CommandLine, "no", "yes"))["error"];
        assert_eq!((&bare["line"], &bare["reason"]), (&Value::Null, &json!("")));
    }
}
