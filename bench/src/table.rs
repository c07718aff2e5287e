//! Tables of records: rows and columns by the names of cases, as text, as Markdown, as charts.
//!
//! A row has the beginning of a case and a column the end of it, its metric, and the way to show a
//! figure. Rows without figures are left out, and tables without rows.

use std::collections::HashSet;
use std::fmt::Write;

use sealane_block::Tier;

use crate::Record;
use crate::plot::{Chart, format_value};

/// The tables of a suite for a terminal, and its charts.
#[derive(Default)]
pub struct View {
    /// The tables, with their notes.
    pub text: String,
    /// The charts.
    pub charts: Vec<Chart>,
}

impl View {
    /// A note, which tables and charts follow.
    pub fn noted(note: &str) -> View {
        View {
            text: note.to_string(),
            charts: Vec::new(),
        }
    }

    /// Adds a chart of rows and columns.
    pub fn chart(
        &mut self,
        sheet: &Sheet<'_>,
        title: impl ToString,
        unit: &str,
        rows: &[Row],
        columns: impl IntoIterator<Item = Column>,
    ) {
        let table = RecordTable::new(sheet, "", rows, columns);
        self.charts.push(table.chart(title, unit));
    }

    /// One chart for each metric, and no tables.
    pub fn by_metric(records: &[Record]) -> View {
        View {
            text: String::new(),
            charts: Chart::by_metric(records),
        }
    }
}

/// Records, of which tables show those of the best tier.
pub struct Sheet<'a> {
    records: &'a [Record],
    /// The tier of the CPU that was measured last, which is the best.
    pub tier: &'static str,
}

/// Returns true if a tier is one of a CPU, and not `any` or the name of another machine.
fn is_of_cpu(tier: &str) -> bool {
    Tier::ALL.iter().any(|known| known.name() == tier)
}

impl<'a> Sheet<'a> {
    /// All records of a suite.
    pub fn new(records: &'a [Record]) -> Sheet<'a> {
        let best = records.iter().rfind(|record| is_of_cpu(record.tier));
        Sheet {
            records,
            tier: best.map_or("", |record| record.tier),
        }
    }

    /// Rows for the parts of cases, in the order of the records, each once.
    pub fn rows(&self, row: impl Fn(&[&str]) -> Option<Row>) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for record in self.records {
            let parts: Vec<&str> = record.case.split('/').collect();
            if let Some(row) = row(&parts).filter(|row| !rows.contains(row)) {
                rows.push(row);
            }
        }
        rows
    }

    /// The tiers of a CPU, in the order of the records.
    pub fn tiers(&self) -> Vec<&'static str> {
        let tiers = self.records.iter().map(|record| record.tier);
        let mut tiers: Vec<_> = tiers.filter(|tier| is_of_cpu(tier)).collect();
        let mut seen = HashSet::new();
        tiers.retain(|tier| seen.insert(*tier));
        tiers
    }

    /// A figure of a tier; or of the best, or of what is no tier of a CPU.
    pub fn find(&self, case: &str, metric: &str, tier: Option<&str>) -> Option<f64> {
        let is = |record: &&Record| {
            let shown = match tier {
                Some(tier) => record.tier == tier,
                None => record.tier == self.tier || !is_of_cpu(record.tier),
            };
            shown && record.metric == metric && record.case == case
        };
        self.records.iter().find(is).map(|record| record.value)
    }
}

/// A row: its name, and the part of the cases that is its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The name that is shown.
    pub name: String,
    /// The part of the cases.
    pub case: String,
}

impl Row {
    /// A row with a name for a part of cases.
    pub fn new(name: impl ToString, case: impl ToString) -> Row {
        Row {
            name: name.to_string(),
            case: case.to_string(),
        }
    }
}

/// The way to show the figures of a cell, of the row with this part of cases.
type Show = fn(&str, &[f64]) -> String;

/// A column.
#[derive(Clone)]
pub struct Column {
    head: String,
    /// The beginning of cases, before the part of the row.
    front: String,
    /// The ends of cases, the first of which that there is counts.
    ends: Vec<String>,
    metrics: Vec<&'static str>,
    tier: Option<&'static str>,
    show: Show,
}

impl Column {
    /// A column of a metric, whose figures have three digits.
    pub fn new(head: impl ToString, end: impl ToString, metric: &'static str) -> Column {
        Column {
            head: head.to_string(),
            front: String::new(),
            ends: vec![end.to_string()],
            metrics: vec![metric],
            tier: None,
            show: |_, values| format_value(values[0]),
        }
    }

    /// A column of text, which depends on the row alone.
    pub fn text(head: impl ToString, show: Show) -> Column {
        Column {
            metrics: Vec::new(),
            ..Column::new(head, "", "").shown(show)
        }
    }

    /// The same, shown in another way.
    #[must_use]
    pub fn shown(mut self, show: Show) -> Column {
        self.show = show;
        self
    }

    /// The same, with another figure in each cell.
    #[must_use]
    pub fn and(mut self, metric: &'static str) -> Column {
        self.metrics.push(metric);
        self
    }

    /// The same, of cases that begin so.
    #[must_use]
    pub fn below(mut self, front: impl ToString) -> Column {
        self.front = front.to_string();
        self
    }

    /// The same, with cases of another end where the first one is missing.
    #[must_use]
    pub fn or(mut self, end: impl ToString) -> Column {
        self.ends.push(end.to_string());
        self
    }

    /// The same, of one tier.
    #[must_use]
    pub fn on(mut self, tier: &'static str) -> Column {
        self.tier = Some(tier);
        self
    }

    fn cell(&self, sheet: &Sheet<'_>, row: &Row) -> Cell {
        let values = |end: &String| {
            let case = format!("{}{}{end}", self.front, row.case);
            let find = |metric: &&str| sheet.find(&case, metric, self.tier);
            self.metrics.iter().filter_map(find).collect::<Vec<_>>()
        };
        let values = self.ends.iter().map(values);
        let values = values.reduce(|first, next| if first.is_empty() { next } else { first });
        let values = values.unwrap_or_default();
        let shown = !values.is_empty() || self.metrics.is_empty();
        let text = shown.then(|| (self.show)(&row.case, &values));
        Cell {
            value: values.first().copied(),
            text: text.unwrap_or_default(),
        }
    }
}

/// A cell: what is shown, and the figure that a chart has.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The figure.
    pub value: Option<f64>,
}

/// A table.
#[derive(Debug, PartialEq)]
pub struct RecordTable {
    /// The title, above the names of rows.
    pub title: String,
    /// Heads of groups of columns, with the number of these.
    groups: Vec<(String, usize)>,
    heads: Vec<String>,
    /// Rows by their names.
    pub rows: Vec<(String, Vec<Cell>)>,
}

impl RecordTable {
    /// The figures of rows and columns.
    pub fn new(
        sheet: &Sheet<'_>,
        title: impl ToString,
        rows: &[Row],
        columns: impl IntoIterator<Item = Column>,
    ) -> RecordTable {
        let columns = columns.into_iter().collect();
        RecordTable::grouped(sheet, title, rows, vec![("", columns)])
    }

    /// The same, with heads above groups of columns.
    pub fn grouped<S: ToString>(
        sheet: &Sheet<'_>,
        title: impl ToString,
        rows: &[Row],
        groups: Vec<(S, Vec<Column>)>,
    ) -> RecordTable {
        let columns = || groups.iter().flat_map(|(_, columns)| columns);
        let rows = rows.iter().map(|row| {
            let cells = columns().map(|column| column.cell(sheet, row));
            (row.name.clone(), cells.collect::<Vec<_>>())
        });
        let has_figures =
            |(_, cells): &(String, Vec<Cell>)| cells.iter().any(|c| c.value.is_some());
        let group = |(head, columns): &(S, Vec<Column>)| (head.to_string(), columns.len());
        RecordTable {
            title: title.to_string(),
            rows: rows.filter(has_figures).collect(),
            heads: columns().map(|column| column.head.clone()).collect(),
            groups: groups.iter().map(group).collect(),
        }
    }

    /// The table for a terminal, behind an empty line.
    pub fn text(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let letters = |text: &str| text.chars().count();
        let names = self.rows.iter().map(|(name, _)| letters(name));
        let names = names.chain([letters(&self.title)]).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().map(|(_, cells)| &cells[column].text);
            let cells = cells.chain([&self.heads[column]]);
            2 + cells.map(|text| letters(text)).max().unwrap_or(0).max(6)
        };
        let widths: Vec<usize> = (0..self.heads.len()).map(width).collect();
        let mut lines = vec![String::new()];
        let mut line = |name: &str, cells: &mut dyn Iterator<Item = &String>| {
            let cells = cells.zip(&widths);
            let cells = cells.map(|(text, width)| format!("{text:>width$}"));
            lines.push(format!("{name:<names$}{}", cells.collect::<String>()));
        };
        let has_groups = self.groups.iter().any(|(head, _)| !head.is_empty());
        if has_groups {
            line(&self.title, &mut self.heads.iter().take(0));
        }
        let title = if has_groups { "" } else { self.title.as_str() };
        line(title, &mut self.heads.iter());
        for (name, cells) in &self.rows {
            line(name, &mut cells.iter().map(|cell| &cell.text));
        }
        let mut first = 0;
        for (head, count) in self.groups.iter().filter(|_| has_groups) {
            let all: usize = widths[first..first + count].iter().sum();
            let _ = write!(lines[1], "  {head:<all$}", all = all - 2);
            first += count;
        }
        let lines = lines.iter().map(|line| format!("{}\n", line.trim_end()));
        lines.collect()
    }

    /// The table on a page, below its title.
    pub fn markdown(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let rule = "|---".repeat(self.heads.len() + 1);
        let heads = self.heads.join(" | ");
        let mut out = format!("## {}\n\n| function | {heads} |\n{rule}|\n", self.title);
        for (name, cells) in &self.rows {
            let cells: Vec<&str> = cells.iter().map(|cell| &*cell.text).collect();
            let _ = writeln!(out, "| `{name}` | {} |", cells.join(" | "));
        }
        out + "\n"
    }

    /// The chart of the table: rows as groups, columns with figures as series.
    pub fn chart(&self, title: impl ToString, unit: &str) -> Chart {
        let mut chart = Chart::new(title, unit);
        for (name, cells) in &self.rows {
            for (head, cell) in self.heads.iter().zip(cells) {
                if let Some(value) = cell.value {
                    chart.add(name, head, value);
                }
            }
        }
        chart
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        let record = |case, tier, metric, value| Record::of("ot", case, tier, (metric, value, ""));
        vec![
            record("iknp/random/sender", "aesni", "rate", 7.0),
            record("iknp/random/sender", "vaes256", "rate", 40.0),
            record("iknp/random/sender", "vaes256", "bits", 128.0),
            record("iknp/random/tls", "vaes256", "rate", 20.5),
            record("peer/ring/tls", "any", "rate", 0.25),
        ]
    }

    fn columns() -> Vec<Column> {
        vec![
            Column::new("sender", "/random/sender", "rate").and("bits"),
            Column::new("tls", "/random/tls", "rate").or("/tls"),
            Column::new("narrow", "/random/sender", "rate").on("aesni"),
            Column::text("more", |case, _| case.to_uppercase()),
        ]
    }

    fn table() -> RecordTable {
        let records = records();
        let sheet = Sheet::new(&records);
        let rows = sheet.rows(|parts| match parts {
            ["peer", name, ..] => Some(Row::new(name, format!("peer/{name}"))),
            [name, ..] => Some(Row::new(name, name)),
            [] => None,
        });
        let nothing = Row::new("nothing", "nothing");
        let rows = [&rows[..], &[nothing]].concat();
        RecordTable::grouped(&sheet, "random", &rows, vec![("alone", columns())])
    }

    /// Figures of the best tier, or of the one that a column names, stand below their heads, and a
    /// row without any is left out.
    #[test]
    fn figures_stand_in_the_row_and_column_of_their_case() {
        let shown = table().text();
        let expected = "
random  alone
        sender     tls  narrow       more
iknp      40.0    20.5    7.00       IKNP
ring              0.25          PEER/RING
";
        assert_eq!(shown, expected);
        let page = table().markdown();
        let row = "| `iknp` | 40.0 | 20.5 | 7.00 | IKNP |\n";
        assert!(page.starts_with("## random\n\n| function | sender | tls"));
        assert!(page.contains(row), "{page}");
    }

    #[test]
    fn charts_have_the_figures_of_a_table() {
        let chart = table().chart("title", "million/s");
        assert_eq!(chart.series, ["sender", "tls", "narrow"]);
        let bars = [
            ("iknp".to_string(), vec![(0, 40.0), (1, 20.5), (2, 7.0)]),
            ("ring".to_string(), vec![(1, 0.25)]),
        ];
        assert_eq!(chart.groups, bars);
    }

    #[test]
    fn a_table_without_rows_shows_nothing() {
        let none = RecordTable::new(&Sheet::new(&[]), "none", &[Row::new("a", "a")], columns());
        assert_eq!([none.text(), none.markdown()], ["", ""]);
        assert!(none.chart("none", "").groups.is_empty());
    }
}
