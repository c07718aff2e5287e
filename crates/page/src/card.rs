//! Cards: the form of plans, reports and findings on a terminal, in a log and as `repr` in Python.
//! A card has a title, a rule, and labelled lines. A label may carry several lines; columns are
//! aligned. Texts may come from a peer's file, so control characters are never printed.

use sealane_diagnostic::{one_line, printable};
use std::fmt;
use unicode_width::UnicodeWidthStr;

/// A titled block of labelled lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub(crate) title: String,
    pub(crate) groups: Vec<Group>,
}

/// Lines under one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// The label; a group without one takes the whole width.
    pub label: Option<&'static str>,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Lines(Vec<String>),
    Table(Vec<Column>, Vec<Vec<String>>),
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name in the head; a table whose columns all have empty names has no head.
    pub name: &'static str,
    /// True if its cells are numbers, which are aligned at their ends.
    pub number: bool,
    /// Least width on a terminal.
    pub width: usize,
}

/// Width of the column of labels.
const LABEL: usize = 15;

/// Longest rule under a title.
const WIDEST: usize = 100;

impl Column {
    /// A column of text.
    pub const fn text(name: &'static str) -> Column {
        let (number, width) = (false, 0);
        Column {
            name,
            number,
            width,
        }
    }

    /// Makes a column of numbers with a least width.
    pub const fn number(name: &'static str, width: usize) -> Column {
        let number = true;
        Column {
            name,
            number,
            width,
        }
    }
}

impl Card {
    /// Makes an empty card. A card without a title begins with the head of its table.
    pub fn new(title: impl Into<String>) -> Card {
        let (title, groups) = (title.into(), Vec::new());
        Card { title, groups }
    }
    fn group(&mut self, label: Option<&'static str>, body: Body) {
        self.groups.push(Group { label, body });
    }

    /// Adds a line.
    pub fn line(&mut self, label: &'static str, text: impl fmt::Display) {
        self.lines(label, [text.to_string()]);
    }

    /// Adds several lines under one label; nothing if there are none.
    pub fn lines(&mut self, label: &'static str, lines: impl IntoIterator<Item = String>) {
        let lines = lines.into_iter().collect::<Vec<_>>();
        if !lines.is_empty() {
            self.group(Some(label), Body::Lines(lines));
        }
    }

    /// Adds a line across the whole width.
    pub fn bare(&mut self, line: String) {
        self.group(None, Body::Lines(vec![line]));
    }

    /// Adds lines in columns, under a label or across the whole width; nothing if there are none.
    pub fn table(
        &mut self,
        label: Option<&'static str>,
        columns: impl Into<Vec<Column>>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) {
        let rows = rows.into_iter().collect::<Vec<_>>();
        if !rows.is_empty() {
            self.group(label, Body::Table(columns.into(), rows));
        }
    }
}

impl Body {
    /// Lines for a terminal.
    fn lines(&self) -> Vec<String> {
        let (columns, rows) = match self {
            Body::Lines(lines) => return lines.iter().map(|line| printable(line)).collect(),
            Body::Table(columns, rows) => (columns, rows),
        };
        let cells = |row: &Vec<String>| row.iter().map(|cell| one_line(cell)).collect::<Vec<_>>();
        let rows = rows.iter().map(cells).collect::<Vec<_>>();
        let head = columns.iter().map(|column| column.name.to_string());
        let head = Some(head.collect::<Vec<_>>());
        let head = head.filter(|names| names.iter().any(|name| !name.is_empty()));
        let all = head.iter().chain(&rows).collect::<Vec<_>>();
        let width = |(index, column): (usize, &Column)| {
            let cells = all.iter().map(|row| row[index].width());
            cells.max().unwrap_or(0).max(column.width)
        };
        let widths = columns.iter().enumerate().map(width).collect::<Vec<_>>();
        let line = |row: &&Vec<String>| {
            let cells = columns.iter().zip(&widths).zip(row.iter());
            let cells = cells.map(|((column, width), cell)| {
                let blank = " ".repeat(width.saturating_sub(cell.width()));
                if column.number {
                    blank + cell
                } else {
                    cell.clone() + &blank
                }
            });
            cells.collect::<Vec<_>>().join(" ")
        };
        all.iter().map(line).collect()
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        for group in &self.groups {
            for (index, line) in group.body.lines().into_iter().enumerate() {
                let line = match group.label {
                    Some(label) if index == 0 => format!("{label:<LABEL$}{line}"),
                    Some(_) => format!("{:LABEL$}{line}", ""),
                    None => line,
                };
                lines.push(line.trim_end().to_string());
            }
        }
        let title = if self.title.is_empty() && !lines.is_empty() {
            lines.remove(0)
        } else {
            one_line(&self.title)
        };
        let widths = lines.iter().chain([&title]).map(|line| line.width());
        let rule = "─".repeat(widths.max().unwrap_or(0).min(WIDEST));
        write!(f, "{title}\n{rule}")?;
        lines.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_aligns_its_labels_and_columns() {
        let mut card = Card::new("plan of risk");
        card.line("rounds", 4);
        let columns = [Column::text(""), Column::number("", 5), Column::text("")];
        let row =
            |name: &str, bytes: &str, note: &str| vec![name.into(), bytes.into(), note.into()];
        let rows = [row("a → ber", "12", ""), row("b → a", "3", " as planned")];
        card.table(Some("payload bytes"), columns, rows);
        let text = "plan of risk\n────────────────────────────────────────\nrounds         4\n\
                    payload bytes  a → ber    12\n               b → a       3  as planned";
        assert_eq!(card.to_string(), text);
    }

    #[test]
    fn no_text_does_anything_but_show_itself() {
        let hostile = "a\u{1b}[2J\u{9b}1m\u{202e}\u{200b}\r\nerror[forged]: b";
        let mut card = Card::new(hostile);
        card.line("line", hostile);
        card.bare(hostile.to_string());
        card.table(None, [Column::text("name")], [vec![hostile.to_string()]]);
        let text = card.to_string();
        let mut shown = text.chars().filter(|c| *c != '\n');
        assert!(!shown.any(sealane_diagnostic::deceives), "{text:?}");
        // Title and cells are one line each; a call that adds lines may add several at once.
        let forged = text.lines().filter(|line| line.starts_with("error["));
        assert_eq!(forged.count(), 2);
    }

    #[test]
    fn a_table_across_the_width_has_a_head() {
        let mut card = Card::new("");
        let columns = [Column::text("step"), Column::number("times", 0)];
        card.table(None, columns, [vec!["map".into(), "1,000".into()]]);
        let text = "step times\n──────────\nmap  1,000";
        assert_eq!(card.to_string(), text);
    }
}
