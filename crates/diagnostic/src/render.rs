//! Text of a diagnostic for people. The head and the excerpt come from `annotate-snippets`, which
//! knows tabs, wide characters and long lines.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use std::ops::Range;

use crate::{Diagnostic, deceives, one_line, printable};

/// Widest line of an excerpt, in columns.
const COLUMNS: usize = 120;

impl Diagnostic {
    /// Text without colours, with an excerpt if the source line is given.
    pub fn render(&self, source_line: Option<&str>) -> String {
        self.text(&Renderer::plain(), Style::new(), source_line)
    }

    /// Text with an excerpt of the source, if its file [can be read](crate::Span::read_line).
    pub fn render_with_source(&self) -> String {
        self.render(self.read_line().as_deref())
    }

    /// The text of [`render_with_source`](Diagnostic::render_with_source) with ANSI colours.
    pub fn painted(&self) -> String {
        let title = AnsiColor::Cyan.on_default().bold();
        self.text(&Renderer::styled(), title, self.read_line().as_deref())
    }

    fn read_line(&self) -> Option<String> {
        self.span.as_ref().and_then(|span| span.read_line())
    }

    fn text(&self, renderer: &Renderer, title: Style, source_line: Option<&str>) -> String {
        let level = if self.code.is_warning() {
            Level::WARNING
        } else {
            Level::ERROR
        };
        let message = one_line(&self.message);
        let head = level.primary_title(&message).id(self.code.name());
        let file = self.span.as_ref().map(|span| one_line(&span.file));
        let line = source_line.map(shown);
        let group = match (&self.span, &file, &line) {
            (Some(span), Some(file), Some(line)) => {
                let carets = bytes_of(line, span.column, span.end_column);
                let marked = AnnotationKind::Primary.span(carets);
                let snippet = Snippet::source(line.as_str()).path(file.as_str());
                head.element(snippet.line_start(span.line as usize).annotation(marked))
            }
            _ => Group::with_title(head),
        };
        let renderer = renderer.clone().term_width(COLUMNS);
        let mut text = renderer.render(&[group]);
        if let (Some(span), Some(file), None) = (&self.span, &file, &line) {
            // The arrow stands where it would stand above an excerpt.
            let gutter = span.line.to_string().len();
            text += &format!("\n{:gutter$}--> {file}:{}:{}", "", span.line, span.column);
        }
        for (name, sentence) in self.footers() {
            text += &format!("\n{title}{name}:{title:#} {}", printable(sentence));
        }
        text
    }
}

/// A source line as the excerpt shows it: one character for each of its characters, none of which
/// [deceives].
fn shown(line: &str) -> String {
    let keep = |c: char| {
        if deceives(c) && c != '\t' {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    line.trim_end().chars().map(keep).collect()
}

/// Bytes of the line between two columns, which count characters from 1. Columns past the end of
/// the line are its end.
fn bytes_of(line: &str, column: u32, end_column: u32) -> Range<usize> {
    let byte = |column: u32| {
        let mut starts = line.char_indices().map(|(at, _)| at);
        starts.nth(column.max(1) as usize - 1).unwrap_or(line.len())
    };
    let start = byte(column);
    start..byte(end_column).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Span};

    fn overflow(column: u32, end_column: u32) -> Diagnostic {
        let span = Span::new("risk.py".into(), 12, column, end_column);
        Diagnostic::new(Code::RangeOverflow, "`+` can leave u8").at(Some(&span))
    }

    #[test]
    fn an_error_shows_its_line_reason_and_hint() {
        let error = overflow(9, 14).because("why").hint("what");
        let text = "error[range-overflow]: `+` can leave u8\n  --> risk.py:12:9\n   |\n\
                    12 |     t = a + b\n   |         ^^^^^\nreason: why\nhint: what";
        assert_eq!(error.render(Some("    t = a + b")), text);
    }

    #[test]
    fn without_a_source_line_the_place_stands_alone() {
        let text = overflow(9, 14).hint("what").render(None);
        let wanted = "error[range-overflow]: `+` can leave u8\n  --> risk.py:12:9\nhint: what";
        assert_eq!(text, wanted);
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
        let device = Span::new("/dev/zero".into(), 1, 1, 1);
        assert!(
            !Diagnostic::new(Code::Name, "m")
                .at(Some(&device))
                .render(None)
                .contains('^')
        );
    }

    #[test]
    fn the_file_is_read_where_no_source_is_given() {
        let span = Span::new(file!().into(), 1, 1, 4);
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/render.rs");
        let error = Diagnostic::new(Code::Name, "m").at(Some(&Span {
            file: file.into(),
            ..span
        }));
        assert!(
            !error.to_string().contains("Text of"),
            "`Display` opens no file"
        );
        assert!(
            error
                .render_with_source()
                .contains("//! Text of a diagnostic for people")
        );
    }

    #[test]
    fn colours_add_nothing_but_themselves() {
        let finding = overflow(9, 14).because("why").hint("what");
        let text = finding.painted();
        assert!(text.contains("\u{1b}["));
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            finding.to_string()
        );
    }
}
