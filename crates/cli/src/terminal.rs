//! Failures as a person at a terminal sees them. Elsewhere, in a log or a pipe, the same text
//! stands without colours and without the line that says where to read more.

use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
use sealane_program::diagnostic::{Diagnostic, Piece};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

/// Writes a failure to standard error: for people, or with `--json` as one object in one line, the last
/// of that stream. Standard output is for results alone.
pub fn show(failure: &Failure, json: bool) {
    let finding = failure.finding();
    match json {
        true => {
            let _ = writeln!(std::io::stderr(), "{}", object(failure));
        }
        false => write(finding.code, painted(finding)),
    }
}

/// A failure for scripts.
fn object(failure: &Failure) -> Value {
    let finding = failure.finding();
    let span = finding.span.as_ref();
    json!({ "error": {
        "code": finding.code,
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

/// Writes a warning to standard error.
pub fn warn(warning: &Diagnostic) {
    write(warning.code, painted(warning));
}

/// Writes what the parser says of a wrong command line, in our form.
pub fn show_misuse(error: &clap::Error, json: bool) {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // The help is what is asked for.
        let _ = error.print();
        return;
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(one_line);
    let what = paragraphs.next().unwrap_or_default();
    let what = what.trim_start_matches("error: ");
    let (mut tips, mut usage) = (String::new(), None);
    for paragraph in paragraphs {
        if let Some(tip) = paragraph.strip_prefix("tip: ") {
            let _ = write!(tips, "{tip}; ");
        } else if let Some(form) = paragraph.strip_prefix("Usage: ") {
            usage = Some(format!("the form is `{form}`"));
        }
    }
    let hint = format!("{tips}`--help` behind a verb lists what it takes");
    let failure = Failure::usage("command-line", what, hint);
    let failure = match usage {
        Some(usage) => failure.because(usage),
        None => failure,
    };
    show(&failure, json);
}

fn one_line(paragraph: &str) -> String {
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes a text to standard error; at a terminal, the last line says what explains its code.
/// Colours are left out where nobody sees them, and where the environment says `NO_COLOR`.
fn write(code: &str, mut text: String) {
    let stderr = std::io::stderr();
    if stderr.is_terminal() {
        let style = style(Piece::Title, false);
        let _ = write!(text, "\n{style}help:{style:#} sealane explain {code}");
    }
    // There is nobody to tell if standard error is gone.
    let _ = writeln!(anstream::AutoStream::auto(stderr), "{text}");
}

/// A finding with colours.
fn painted(finding: &Diagnostic) -> String {
    let mut text = String::new();
    for (piece, words) in finding.pieces(None) {
        let style = style(piece, finding.is_warning());
        let _ = write!(text, "{style}{words}{style:#}");
    }
    text
}

fn style(piece: Piece, warning: bool) -> Style {
    let severity = if warning {
        AnsiColor::Yellow
    } else {
        AnsiColor::Red
    };
    match piece {
        Piece::Severity | Piece::Caret => severity.on_default().bold(),
        Piece::Message => Style::new().bold(),
        Piece::Gutter => AnsiColor::Blue.on_default(),
        Piece::Title => AnsiColor::Cyan.on_default().bold(),
        Piece::Text => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_get_all_that_people_get() {
        let span = sealane_program::diagnostic::Span {
            file: "risk\u{1b}.py".to_string(),
            line: 3,
            column: 5,
            end_column: 9,
        };
        let finding = Diagnostic::new("range-overflow", "`a + b`\ncan leave u8")
            .at(Some(&span))
            .because("why")
            .hint("what");
        let failure = Failure::program(finding);
        let wanted = json!({ "error": {
            "code": "range-overflow", "kind": "program", "status": 3,
            "message": "`a + b`\ncan leave u8", "file": "risk\u{1b}.py", "line": 3, "column": 5,
            "reason": "why", "hint": "what",
        }});
        assert_eq!(object(&failure), wanted);
        assert_eq!(wanted.to_string().lines().count(), 1);
        let bare = object(&Failure::usage("command-line", "no", "yes"));
        assert_eq!(
            (&bare["error"]["line"], &bare["error"]["reason"]),
            (&Value::Null, &json!(""))
        );
    }

    #[test]
    fn colours_add_nothing_but_themselves() {
        let finding = Diagnostic::new("parties", "a protocol of three").hint("name a helper");
        let text = painted(&finding);
        assert!(text.starts_with("\u{1b}[1m\u{1b}[31merror[parties]\u{1b}[0m"));
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            finding.render(None)
        );
    }
}
