//! Errors that a user can mend: code, sentence, source line with a caret, reason, hint.
//!
//! The same type serves the tracer, the checker, the parser of the text form and, outside this
//! crate, the readers of users' files. Sentences never contain a secret value: everything in them
//! comes from the program's text, its signature, or a file of the party that reads the message.

use std::fmt::Write as _;
use std::fs;
use unicode_width::UnicodeWidthChar;

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

/// What kind of thing went wrong: who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The program: its author.
    Program,
    /// The call or the command line: whoever wrote it.
    Misuse,
    /// The data: their owner.
    Data,
    /// The configuration, a key, an approval, or this machine: whoever set it up.
    Config,
    /// The network between the parties.
    Network,
    /// The other side.
    Peer,
    /// Sealane itself: a bug.
    Internal,
}

impl Kind {
    /// Its name, as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Program => "program",
            Kind::Misuse => "misuse",
            Kind::Data => "data",
            Kind::Config => "config",
            Kind::Network => "network",
            Kind::Peer => "peer",
            Kind::Internal => "internal",
        }
    }
}

/// What is known of a code before it is ever met: an entry of the registry of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The stable name, such as `range-overflow`.
    pub name: &'static str,
    /// Who has to act.
    pub kind: Kind,
    /// What it means, in a few words.
    pub title: &'static str,
}

impl Code {
    /// An entry.
    pub const fn new(name: &'static str, kind: Kind, title: &'static str) -> Code {
        Code { name, kind, title }
    }
}

/// One finding: about a program, its data, or anything else that can go wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render(None))]
pub struct Diagnostic {
    /// Stable code, such as `range-overflow`; those of this crate are in [`code`].
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
    /// A finding that is no more than its sentence; the methods below add the rest.
    pub fn new(code: &'static str, message: impl Into<String>) -> Diagnostic {
        let (span, reason, hint) = (None, String::new(), String::new());
        Diagnostic {
            code,
            message: bounded(message.into()),
            span,
            reason,
            hint,
        }
    }

    /// Adds why it is so.
    pub fn because(mut self, reason: impl Into<String>) -> Diagnostic {
        self.reason = bounded(reason.into());
        self
    }

    /// Adds what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = bounded(hint.into());
        self
    }

    /// Adds where it is, unless that is known already.
    pub fn at(mut self, span: Option<&Span>) -> Diagnostic {
        self.span = self.span.or_else(|| span.cloned());
        self
    }

    /// Whether the program may run all the same.
    pub fn is_warning(&self) -> bool {
        code::WARNINGS.contains(&self.code)
    }

    /// Whether it is a warning about the numbers that a run gives, which no verb may keep to itself.
    pub fn is_about_numbers(&self) -> bool {
        code::NUMBERS.contains(&self.code)
    }

    /// The text for people: the [pieces](Diagnostic::pieces), joined.
    pub fn render(&self, source: Option<&str>) -> String {
        let pieces = self.pieces(source);
        pieces.into_iter().map(|(_, text)| text).collect()
    }

    /// The same in one line, for logs: the place, then what happened, why, and what to do. Whatever
    /// a file or a peer wrote into it, it stays one line without control characters.
    pub fn line(&self) -> String {
        let place = self.span.as_ref().map_or(String::new(), |span| {
            format!("{}:{}:{}: ", one_line(&span.file), span.line, span.column)
        });
        let message = one_line(&self.message);
        let mut text = format!("{place}{}[{}]: {message}", self.severity(), self.code);
        for (title, sentence) in [("reason", &self.reason), ("hint", &self.hint)] {
            if !sentence.is_empty() {
                let _ = write!(text, "; {title}: {}", one_line(sentence));
            }
        }
        text
    }

    fn severity(&self) -> &'static str {
        if self.is_warning() {
            "warning"
        } else {
            "error"
        }
    }

    /// The text for people in pieces, for whoever gives them colours. `source` is the source line;
    /// without it the file is read, and where that fails the excerpt is left out.
    pub fn pieces(&self, source: Option<&str>) -> Vec<(Piece, String)> {
        let mut pieces = vec![
            (
                Piece::Severity,
                format!("{}[{}]", self.severity(), self.code),
            ),
            (Piece::Message, format!(": {}", one_line(&self.message))),
        ];
        if let Some(span) = &self.span {
            let read = if source.is_none() {
                read_line(span)
            } else {
                None
            };
            let file = one_line(&span.file);
            let gutter = span.line.to_string().len();
            pieces.extend([
                (Piece::Gutter, format!("\n{:gutter$}--> ", "")),
                (Piece::Text, format!("{file}:{}:{}", span.line, span.column)),
            ]);
            if let Some(line) = source.or(read.as_deref()) {
                pieces.extend(excerpt(line, span, gutter));
            }
        }
        for (title, sentence) in [("reason", &self.reason), ("hint", &self.hint)] {
            if !sentence.is_empty() {
                pieces.push((Piece::Title, format!("\n{title}:")));
                pieces.push((Piece::Text, format!(" {}", printable(sentence))));
            }
        }
        pieces
    }
}

/// What a piece of the text for people is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// `error[range-overflow]`.
    Severity,
    /// The sentence that says what happened.
    Message,
    /// The frame of the excerpt: arrow, line numbers, bars.
    Gutter,
    /// The carets below what is meant.
    Caret,
    /// `reason:` or `hint:`.
    Title,
    /// Everything else.
    Text,
}

/// The codes of this crate. Each is a stable name that documentation and tests refer to.
pub mod code {
    /// A result could be outside its type.
    pub const RANGE_OVERFLOW: &str = "range-overflow";
    /// A number in the source, or a declared range, does not fit the type it must take.
    pub const CONSTANT_RANGE: &str = "constant-range";
    /// Warning: a number in the source is not a value of the type it takes; the nearest is used.
    pub const LITERAL_ROUNDED: &str = "literal-rounded";
    /// Warning: a number in the source that a value is compared with equals no value of its type.
    pub const NEVER_EQUAL: &str = "never-equal";
    /// Warning: a sum of many numbers, each of which is rounded.
    pub const ROUNDED_SUM: &str = "rounded-sum";
    /// A divisor can be zero.
    pub const DIVISION_BY_ZERO: &str = "division-by-zero";
    /// Division in a type that wraps.
    pub const WRAPPING_DIVISION: &str = "wrapping-division";
    /// A shift by less than 0 or by at least the width.
    pub const SHIFT_RANGE: &str = "shift-range";
    /// Two types have no common one, or an operation does not take this type.
    pub const TYPE_MISMATCH: &str = "type-mismatch";
    /// Shapes do not broadcast, or an operation does not take this shape.
    pub const SHAPE_MISMATCH: &str = "shape-mismatch";
    /// An index outside the shape, or into the symbolic dimension; a lookup that can look outside
    /// of its table.
    pub const INDEX: &str = "index-range";
    /// A body of `map` or `scan` returns what it may not, or a value leaves its body.
    pub const BODY: &str = "body";
    /// A name is malformed, taken, or unknown.
    pub const NAME: &str = "name";
    /// The program is larger than the limits of [`mod@crate::check`].
    pub const LIMIT: &str = "limit";
    /// The program contradicts itself: a graph that no tracer makes.
    pub const INVALID: &str = "invalid-program";
    /// The text form is malformed.
    pub const SYNTAX: &str = "syntax";
    /// Warning: one source line was traced into very many operations.
    pub const UNROLLED: &str = "unrolled-loop";
    /// Warning: no result depends on this input.
    pub const UNUSED_INPUT: &str = "unused-input";
    /// Warning: a result is an input as it stands.
    pub const WHOLE_INPUT: &str = "reveals-input";

    /// Warning: a protocol cannot run the program that others run.
    pub const OTHER_PROTOCOL: &str = "other-protocol";

    /// Warning: a run waits for very many rounds, one after the other.
    pub const MANY_ROUNDS: &str = "many-rounds";
    /// Warning: a run takes very long.
    pub const LONG_RUN: &str = "long-run";

    /// Warnings about the numbers that a run gives. No verb is silent about them.
    pub const NUMBERS: [&str; 3] = [LITERAL_ROUNDED, NEVER_EQUAL, ROUNDED_SUM];

    /// Warnings about what a plan costs, which `plan` gives and no check.
    pub const EFFORT: [&str; 2] = [LONG_RUN, MANY_ROUNDS];

    /// The codes that are warnings.
    pub const WARNINGS: [&str; 9] = [
        LITERAL_ROUNDED,
        LONG_RUN,
        MANY_ROUNDS,
        NEVER_EQUAL,
        OTHER_PROTOCOL,
        ROUNDED_SUM,
        UNROLLED,
        UNUSED_INPUT,
        WHOLE_INPUT,
    ];
}

/// Columns that a tab fills in an excerpt.
const TAB: usize = 4;
/// Columns of an excerpt; of a longer line a window around the caret is shown.
const WINDOW: usize = 120;
/// Longest source file that is opened for an excerpt.
const SOURCE_BYTES: u64 = 4 << 20;

/// The source line and the line of carets under it.
fn excerpt(line: &str, span: &Span, gutter: usize) -> [(Piece, String); 4] {
    let characters: Vec<char> = line.trim_end().chars().collect();
    let start = (span.column.max(1) as usize - 1).min(characters.len());
    let end = (span.end_column.max(1) as usize - 1).clamp(start, characters.len());
    let from = if characters.len() > WINDOW {
        start.saturating_sub(WINDOW / 3)
    } else {
        0
    };
    let to = characters.len().min(from + WINDOW);

    let mut shown = String::new();
    let mut columns = Vec::with_capacity(WINDOW + 1);
    let mut width = 0;
    for &character in &characters[from..to] {
        columns.push(width);
        width += push_shown(&mut shown, character);
    }
    columns.push(width);
    let left = columns[start - from];
    let carets = columns[end.min(to) - from].saturating_sub(left).max(1);
    let (number, blank) = (span.line, "");
    [
        (Piece::Gutter, format!("\n{blank:gutter$} |\n{number} | ")),
        (Piece::Text, shown),
        (Piece::Gutter, format!("\n{blank:gutter$} | {blank:left$}")),
        (Piece::Caret, "^".repeat(carets)),
    ]
}

/// Appends a character as the excerpt shows it and returns its width in columns. A control
/// character could move a terminal's cursor, so a replacement stands for it.
fn push_shown(shown: &mut String, character: char) -> usize {
    match character.width() {
        _ if character == '\t' => {
            *shown += &" ".repeat(TAB);
            TAB
        }
        Some(width) if !deceives(character) => {
            shown.push(character);
            width
        }
        _ => {
            shown.push(char::REPLACEMENT_CHARACTER);
            1
        }
    }
}

/// Whether a character does something else than show itself: it controls the terminal, changes
/// the direction of the text around it (UAX #9), or takes no room and so makes two texts look
/// alike.
pub fn deceives(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text without characters that [deceive](deceives), but for line feeds. Whatever comes from a
/// file or a peer passes through it, or through [`one_line`], on its way to a terminal.
pub fn printable(text: &str) -> String {
    let keep = |c: char| {
        if deceives(c) && c != '\n' {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(keep).collect()
}

/// As [`printable`], in one line.
pub fn one_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}

/// Longest sentence of a finding, in bytes. Longer ones quote a cell, a name or a line of a file.
const SENTENCE: usize = 1000;

/// A sentence of bounded length. What is left out is in its middle: the beginning of a quotation stays,
/// and so does what is said of it.
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

/// The source line, if the file is a regular one of modest size: a span that came with a program
/// from elsewhere may name a pipe or a device.
fn read_line(span: &Span) -> Option<String> {
    let about = fs::metadata(&span.file).ok()?;
    if !about.is_file() || about.len() > SOURCE_BYTES {
        return None;
    }
    let text = fs::read(&span.file).ok()?;
    let index = (span.line as usize).checked_sub(1)?;
    let text = String::from_utf8_lossy(&text);
    // A byte order mark is no character of the first line: columns do not count it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    text.lines().nth(index).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overflow(column: u32, end_column: u32) -> Diagnostic {
        let span = Span {
            file: "risk.py".into(),
            line: 12,
            column,
            end_column,
        };
        Diagnostic::new(code::RANGE_OVERFLOW, "`+` can leave u8").at(Some(&span))
    }

    #[test]
    fn an_error_shows_its_line_reason_and_hint() {
        let error = overflow(9, 14).because("why").hint("what");
        let text = "error[range-overflow]: `+` can leave u8\n  --> risk.py:12:9\n   |\n\
                    12 |     t = a + b\n   |         ^^^^^\nreason: why\nhint: what";
        assert_eq!(error.render(Some("    t = a + b")), text);
    }

    #[test]
    fn carets_stand_under_their_text_after_tabs_and_wide_characters() {
        let text = overflow(5, 8).render(Some("\tπ測 a+b"));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[3], "12 |     π測 a+b");
        // Four columns of tab, one of π, two of 測, one space.
        assert_eq!(lines[4], "   |         ^^^");
    }

    #[test]
    fn a_long_line_is_windowed_around_the_caret() {
        let line = format!("{}a + b{}", " ".repeat(5000), "x".repeat(5000));
        let text = overflow(5001, 5006).render(Some(&line));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[3].len() < 140, "{}", lines[3].len());
        let caret = lines[4].find('^').unwrap();
        assert_eq!(&lines[3][caret..caret + 5], "a + b");
    }

    #[test]
    fn a_span_beyond_the_line_and_control_characters_do_no_harm() {
        let text = overflow(90, 2).render(Some("a\u{1b}[2Jb\u{202e}c"));
        assert!(!text.contains(['\u{1b}', '\u{202e}']));
        assert!(text.ends_with('^'));
        let device = Span {
            file: "/dev/zero".into(),
            line: 1,
            column: 1,
            end_column: 1,
        };
        assert!(
            !Diagnostic::new(code::NAME, "m")
                .at(Some(&device))
                .render(None)
                .contains('^')
        );
    }

    #[test]
    fn a_log_has_one_line_whatever_is_in_it() {
        let error = overflow(9, 14)
            .because("first\nerror[forged]: \u{1b}[31m")
            .hint("what");
        let line = "risk.py:12:9: error[range-overflow]: `+` can leave u8; reason: first \
                    error[forged]: \u{fffd}[31m; hint: what";
        assert_eq!(error.line(), line);
        let forged = Diagnostic::new(code::NAME, "`a\nerror[forged]: b` is no name");
        assert_eq!(forged.render(None).lines().count(), 1);
    }

    #[test]
    fn a_quotation_of_any_length_makes_a_bounded_sentence() {
        let cell = "é".repeat(5 << 20);
        let quoted = || format!("`{cell}` in column `age` is not a whole number");
        let error = overflow(1, 2).because(quoted()).hint(quoted());
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
        assert_eq!(Diagnostic::new(code::NAME, quoted()).message, error.message);
        let short = "x".repeat(SENTENCE);
        assert_eq!(bounded(short.clone()), short);
    }

    #[test]
    fn the_file_is_read_where_no_source_is_given() {
        let span = Span {
            file: file!().into(),
            line: 1,
            column: 1,
            end_column: 4,
        };
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/diagnostic.rs");
        let error = Diagnostic::new(code::NAME, "m").at(Some(&Span {
            file: file.into(),
            ..span
        }));
        assert!(
            error
                .render(None)
                .contains("//! Errors that a user can mend")
        );
    }
}
