//! Errors that a user can mend: code, sentence, source line with a caret, reason, hint.

/// A place in a source file. Lines and columns count from 1; columns count characters.
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

/// One finding about a program or its data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render(None))]
pub struct Diagnostic {
    /// Stable code, such as `range-overflow`.
    pub code: &'static str,
    /// What happened, one sentence without the final stop.
    pub message: String,
    /// Where.
    pub span: Option<Span>,
    /// Why.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

impl Diagnostic {
    /// The text for people. `source` is the source line; without it the file is read, and where
    /// that fails the excerpt is left out.
    pub fn render(&self, _source: Option<&str>) -> String {
        todo!()
    }
}
