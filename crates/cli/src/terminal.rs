//! Failures as a person at a terminal sees them. Elsewhere, in a log or a pipe, the same text
//! stands without colours and without the line that says where to read more.

use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
use sealane_program::diagnostic::{Diagnostic, Piece};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

/// Writes a failure to standard error.
pub fn show(failure: &Failure) {
    let finding = failure.finding();
    write(finding.code, painted(finding));
}

/// Writes a warning to standard error.
pub fn warn(warning: &Diagnostic) {
    write(warning.code, painted(warning));
}

/// Writes what the parser says of a wrong command line, in our form.
pub fn show_misuse(error: &clap::Error) {
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
    show(&match usage {
        Some(usage) => failure.because(usage),
        None => failure,
    });
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
