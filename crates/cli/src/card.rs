//! How plans, reports and findings look on a terminal and as `repr` in Python: a title, a rule,
//! and labelled lines. A label may carry several lines; numbers are grouped by thousands.

use std::fmt;

/// A titled block of labelled lines.
pub struct Card {
    title: String,
    rows: Vec<(Option<&'static str>, String)>,
}

/// Width of the label column.
const LABEL: usize = 15;
/// Longest rule under a title.
const WIDEST: usize = 100;

impl Card {
    /// An empty card.
    pub fn new(title: impl Into<String>) -> Card {
        Card {
            title: title.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a line.
    pub fn line(&mut self, label: &'static str, text: impl fmt::Display) {
        self.rows.push((Some(label), text.to_string()));
    }

    /// Adds several lines under one label; nothing if there are none.
    pub fn lines(&mut self, label: &'static str, lines: impl IntoIterator<Item = String>) {
        for (i, line) in lines.into_iter().enumerate() {
            self.rows
                .push((Some(if i == 0 { label } else { "" }), line));
        }
    }

    /// Adds a line without room for a label.
    pub fn bare(&mut self, line: String) {
        self.rows.push((None, line));
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.rows.iter().map(|(label, text)| match label {
            Some(label) => format!("{label:<LABEL$}{text}"),
            None => text.clone(),
        });
        let lines = lines.collect::<Vec<_>>();
        let width = lines
            .iter()
            .chain([&self.title])
            .map(|line| line.chars().count())
            .max();
        let rule = "─".repeat(width.unwrap_or(0).min(WIDEST));
        write!(f, "{}\n{rule}", self.title)?;
        lines
            .iter()
            .try_for_each(|line| write!(f, "\n{}", line.trim_end()))
    }
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration to two digits, in the unit that people would use: `850 µs`, `1.2 s`, `3 min`.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A number of things a second: `8,300`, and `12.5 million` from a million on.
pub fn speed(per_second: f64) -> String {
    match per_second {
        s if s < 1e6 => grouped(s as u64),
        s => format!("{:.1} million", s / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_aligns_its_labels() {
        let mut card = Card::new("plan of risk");
        card.line("rounds", 4);
        card.lines(
            "payload bytes",
            ["a → b  12".to_string(), "b → a  3".to_string()],
        );
        let text = "plan of risk\n────────────────────────\nrounds         4\n\
                    payload bytes  a → b  12\n               b → a  3";
        assert_eq!(card.to_string(), text);
    }

    #[test]
    fn numbers_are_grouped_and_times_rounded() {
        let groups = [0u64, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(groups, ["0", "999", "1,000", "1,234,567"]);
        let times = [2e-5, 0.25, 1.24, 59.6, 180.0, 9000.0].map(seconds);
        assert_eq!(
            times,
            ["20 µs", "250 ms", "1.2 s", "60 s", "3 min", "2.5 h"]
        );
        let speeds = [0.0, 8300.4, 1.25e7].map(speed);
        assert_eq!(speeds, ["0", "8,300", "12.5 million"]);
    }
}
