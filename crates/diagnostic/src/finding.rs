//! Diagnostics and the places that they name.

use std::fmt::{self, Write as _};
use std::fs;

use crate::{Code, FailureKind, one_line};

/// Longest sentence of a diagnostic in bytes. Longer ones quote a cell, a name or a line of a file.
const SENTENCE: usize = 1000;
/// Longest source file that is opened for an excerpt, in bytes.
const SOURCE_BYTES: u64 = 4 << 20;

/// Place in a source file. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Path as the user gave it.
    pub file: String,
    /// Line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Column after the last.
    pub end_column: u32,
}

impl Span {
    /// The place of some columns of a line.
    pub fn new(file: String, line: u32, column: u32, end_column: u32) -> Span {
        Span {
            file,
            line,
            column,
            end_column,
        }
    }

    /// Reads the source line from the file, if that is a regular file of modest size: a span that
    /// came with a program from elsewhere may name a pipe or a device.
    pub fn read_line(&self) -> Option<String> {
        let about = fs::metadata(&self.file).ok()?;
        if !about.is_file() || about.len() > SOURCE_BYTES {
            return None;
        }
        let text = fs::read(&self.file).ok()?;
        if text.starts_with(&[0x1f, 0x8b]) {
            // Lines of what is packed by gzip are none of the file.
            return None;
        }
        let index = (self.line as usize).checked_sub(1)?;
        let text = String::from_utf8_lossy(&text);
        // A byte order mark is no character of the first line: columns do not count it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        text.lines().nth(index).map(str::to_owned)
    }
}

/// Place of an operation, where its source is known.
pub type At<'a> = Option<&'a Span>;

/// Outcome of what may be refused with a diagnostic.
pub type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// An outcome whose error gets its place on the way to the caller who knows it.
pub trait Placed {
    /// Sets the place of the error, unless it has one already.
    fn at(self, span: At<'_>) -> Self;
}

impl<T> Placed for Result<T> {
    fn at(self, span: At<'_>) -> Self {
        self.map_err(|error| error.at(span))
    }
}

/// Error or warning for a user. `Display` gives its text without an excerpt of the source and opens
/// no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code.
    pub code: Code,
    /// Sentence that says what happened, without the final stop.
    pub message: String,
    /// Place.
    pub span: Option<Span>,
    /// Reason; may be empty.
    pub reason: String,
    /// Advice; may be empty.
    pub hint: String,
}

impl Diagnostic {
    /// A diagnostic with a sentence alone; the methods below add the rest.
    pub fn new(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            message: bounded(message.into()),
            span: None,
            reason: String::new(),
            hint: String::new(),
        }
    }

    /// Sets the reason.
    pub fn because(mut self, reason: impl Into<String>) -> Diagnostic {
        self.reason = bounded(reason.into());
        self
    }

    /// Sets the advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = bounded(hint.into());
        self
    }

    /// Sets the place, unless there is one already.
    pub fn at(mut self, span: At<'_>) -> Diagnostic {
        self.span = self.span.or_else(|| span.cloned());
        self
    }

    /// Kind of failure: it says who has to act.
    pub fn kind(&self) -> FailureKind {
        self.code.kind()
    }

    /// `error` or `warning`.
    pub(crate) fn severity(&self) -> &'static str {
        if self.code.is_warning() {
            "warning"
        } else {
            "error"
        }
    }

    /// Text in one line, for logs: place, message, reason, hint. It has no control characters.
    pub fn line(&self) -> String {
        let place = self.span.as_ref().map_or(String::new(), |span| {
            format!("{}:{}:{}: ", one_line(&span.file), span.line, span.column)
        });
        let message = one_line(&self.message);
        let mut text = format!("{place}{}[{}]: {message}", self.severity(), self.code);
        for (title, sentence) in self.footers() {
            let _ = write!(text, "; {title}: {}", one_line(sentence));
        }
        text
    }

    /// Titles and sentences that stand below the excerpt.
    pub(crate) fn footers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [("reason", self.reason.as_str()), ("hint", &self.hint)]
            .into_iter()
            .filter(|(_, sentence)| !sentence.is_empty())
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(None))
    }
}

impl std::error::Error for Diagnostic {}

/// Cuts a long sentence in its middle: the beginning of a quotation stays, and so does the text
/// behind it.
fn bounded(mut text: String) -> String {
    if text.len() > SENTENCE {
        let boundary = |at: &usize| text.is_char_boundary(*at);
        let first = (0..=SENTENCE / 2).rev().find(boundary).unwrap_or(0);
        let last = (text.len() - SENTENCE / 2..)
            .find(boundary)
            .unwrap_or(first);
        text.replace_range(first..last, " … ");
        text.shrink_to_fit();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spanned() -> Diagnostic {
        let span = Span::new("risk.py".into(), 12, 9, 14);
        Diagnostic::new(Code::RangeOverflow, "`+` can leave u8").at(Some(&span))
    }

    #[test]
    fn a_log_has_one_line_whatever_is_in_it() {
        let error = spanned()
            .because("first\nerror[forged]: \u{1b}[31m")
            .hint("what");
        let line = "risk.py:12:9: error[range-overflow]: `+` can leave u8; reason: first \
                    error[forged]: \u{fffd}[31m; hint: what";
        assert_eq!(error.line(), line);
        let forged = Diagnostic::new(Code::Name, "`a\nerror[forged]: b` is no name");
        assert_eq!(forged.render(None).lines().count(), 1);
    }

    #[test]
    fn a_quotation_of_any_length_makes_a_bounded_sentence() {
        let cell = "é".repeat(5 << 20);
        let quoted = || format!("`{cell}` in column `age` is not a whole number");
        let error = spanned().because(quoted()).hint(quoted());
        let error = Diagnostic {
            message: bounded(quoted()),
            ..error
        };
        let text = error.render(Some("x"));
        assert!(text.len() < 4 * SENTENCE && error.line().len() < 4 * SENTENCE);
        assert!(error.reason.starts_with("`éé"));
        assert!(
            error
                .reason
                .ends_with("` in column `age` is not a whole number")
        );
        assert_eq!(Diagnostic::new(Code::Name, quoted()).message, error.message);
        let short = "x".repeat(SENTENCE);
        assert_eq!(bounded(short.clone()), short);
    }
}
