//! Bar charts of records, as one self-contained SVG file: no script, no font, no request.
//!
//! A [`Chart`] has groups, one below the other, with a bar for each series; every bar shows its
//! value. Colours follow the reader's light or dark scheme.

use std::fmt::{self, Display, Write};

use crate::Record;

/// Bars in groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The title: the quantity shown.
    pub title: String,
    /// Their unit.
    pub unit: String,
    /// The series, in the order of their colours.
    pub series: Vec<String>,
    /// The groups, each with the values of its series: index of the series, and value.
    pub groups: Vec<(String, Vec<(usize, f64)>)>,
}

impl Chart {
    /// A chart without bars.
    pub fn new(title: impl ToString, unit: &str) -> Chart {
        Chart {
            title: title.to_string(),
            unit: unit.to_string(),
            series: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// One chart for each metric: cases as groups, tiers as series.
    pub fn by_metric(records: &[Record]) -> Vec<Chart> {
        let mut charts: Vec<Chart> = Vec::new();
        for record in records {
            let title = format!("{}: {}", record.suite, record.metric);
            let is = |chart: &Chart| chart.title == title;
            let chart = position(&mut charts, is, || Chart::new(&title, record.unit));
            charts[chart].add(&record.case, record.tier, record.value);
        }
        charts
    }

    /// Adds a bar. Groups and series keep the order in which they first occur.
    pub fn add(&mut self, group: &str, series: &str, value: f64) {
        let series = position(&mut self.series, |name| name == series, || series.into());
        let is = |(name, _): &(String, Vec<_>)| name == group;
        let place = position(&mut self.groups, is, || (group.into(), Vec::new()));
        self.groups[place].1.push((series, value));
    }

    fn height(&self) -> f64 {
        let bars: usize = self.groups.iter().map(|(_, bars)| bars.len()).sum();
        HEAD + bars as f64 * PITCH + self.groups.len() as f64 * GAP
    }

    /// Draws the chart from `top` on.
    fn draw(&self, out: &mut String, top: f64) -> fmt::Result {
        let values = self.groups.iter().flat_map(|(_, bars)| bars);
        let most = values.map(|&(_, value)| value).fold(0.0, f64::max);
        let scale = if most > 0.0 {
            (RIGHT - LEFT) / most
        } else {
            0.0
        };
        text(out, "title", MARGIN, top + 16.0, &self.title)?;
        let mut x = LEFT;
        for (index, name) in self.series.iter().enumerate() {
            let (y, base, beside) = (top + 27.0, top + 36.0, x + 14.0);
            let (colour, name) = (index % COLOURS.len(), Escaped(name));
            let at = format!("x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\"");
            writeln!(out, "<rect class=\"c{colour}\" {at}/>")?;
            writeln!(out, "<text x=\"{beside}\" y=\"{base}\">{name}</text>")?;
            x += 30.0 + LETTER * name.0.chars().count() as f64;
        }
        let mut y = top + HEAD;
        for (group, bars) in &self.groups {
            let middle = y + bars.len() as f64 * PITCH / 2.0 + 4.0;
            let name = Escaped(group);
            text(out, "group", LEFT - 8.0, middle, group)?;
            for &(series, value) in bars {
                let (width, height) = ((value * scale).max(1.0), PITCH - 2.0);
                let colour = series % COLOURS.len();
                let (of, unit) = (Escaped(&self.series[series]), Escaped(&self.unit));
                let shown = format_value(value);
                let size = format!("width=\"{width:.1}\" height=\"{height}\"");
                writeln!(
                    out,
                    "<rect class=\"c{colour}\" x=\"{LEFT}\" y=\"{y}\" {size}>\
                     <title>{name}, {of}: {shown} {unit}</title></rect>"
                )?;
                let (x, base) = (LEFT + width + 5.0, y + PITCH - 4.0);
                writeln!(out, "<text x=\"{x:.1}\" y=\"{base}\">{shown}</text>")?;
                y += PITCH;
            }
            y += GAP;
        }
        Ok(())
    }
}

/// Writes a text of a class that [`STYLE`] has.
pub(crate) fn text(out: &mut String, class: &str, x: f64, y: f64, text: &str) -> fmt::Result {
    let text = Escaped(text);
    writeln!(
        out,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
    )
}

/// The index of the item that `is` finds, which is made if there is none.
fn position<T>(items: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl Fn() -> T) -> usize {
    items.iter().position(is).unwrap_or_else(|| {
        items.push(make());
        items.len() - 1
    })
}

/// A picture of charts, one below the other.
pub fn svg(heading: &str, charts: &[Chart]) -> String {
    let height = charts.iter().map(Chart::height).sum::<f64>() + TOP;
    document(heading, [WIDTH, height], |out| {
        let heading = Escaped(heading);
        writeln!(out, "<text x=\"{MARGIN}\" y=\"22\">{heading}</text>")?;
        let mut top = TOP;
        for chart in charts {
            chart.draw(out, top)?;
            top += chart.height();
        }
        Ok(())
    })
}

/// A whole file with the colours of charts; `draw` writes what is in it.
pub fn document(
    label: &str,
    [width, height]: [f64; 2],
    draw: impl FnOnce(&mut String) -> fmt::Result,
) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = begin(&mut out, label, width, height)
        .and_then(|()| draw(&mut out))
        .and_then(|()| writeln!(out, "</svg>"));
    out
}

fn begin(out: &mut String, label: &str, width: f64, height: f64) -> fmt::Result {
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\">",
        Escaped(label)
    )?;
    writeln!(out, "<style>\n{STYLE}")?;
    for (index, [light, _]) in COLOURS.iter().enumerate() {
        writeln!(out, ".c{index} {{ fill: {light} }}")?;
    }
    writeln!(out, "@media (prefers-color-scheme: dark) {{\n{STYLE_DARK}")?;
    for (index, [_, dark]) in COLOURS.iter().enumerate() {
        writeln!(out, ".c{index} {{ fill: {dark} }}")?;
    }
    writeln!(out, "}}\n</style>")?;
    writeln!(
        out,
        "<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>"
    )
}

/// Formats a figure with three digits, more only before the point.
pub(crate) fn format_value(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.0995 || v == 0.0 => 2,
        // As many as bring three digits behind the zeros, of which the last may not show.
        v => ((2.0 - v.log10().floor()) as usize).min(6),
    };
    format!("{value:.decimals$}")
}

const WIDTH: f64 = 800.0;
const MARGIN: f64 = 16.0;
const TOP: f64 = 36.0;
/// Where bars begin, and where the longest ends.
const LEFT: f64 = 150.0;
const RIGHT: f64 = 730.0;
/// Title and legend of a chart.
const HEAD: f64 = 46.0;
/// A bar, and the space behind a group.
const PITCH: f64 = 14.0;
const GAP: f64 = 9.0;
/// About as wide as a letter.
const LETTER: f64 = 7.0;

const STYLE: &str = "text { font: 12px sans-serif; fill: #222 }\n\
    .title { font-size: 15px; font-weight: bold }\n\
    .group { text-anchor: end }\n\
    .tick { text-anchor: middle; font-size: 10px }\n\
    .line { fill: none; stroke: #0072b2 }\n\
    .grid { stroke: #8884 }\n\
    .paper { fill: #fff }";
const STYLE_DARK: &str = "text { fill: #ddd }\n.paper { fill: #16181c }\n.line { stroke: #56b4e9 }";

/// Colours that remain distinct with colour blindness; for light background and for dark.
const COLOURS: [[&str; 2]; 7] = [
    ["#0072b2", "#56b4e9"],
    ["#d55e00", "#e8853a"],
    ["#009e73", "#2bbf94"],
    ["#cc79a7", "#e0a0c4"],
    ["#8a6d00", "#f0e442"],
    ["#666666", "#a0a0a0"],
    ["#5b3fa0", "#a48fe0"],
];

/// Returns text that shows itself in a picture, whatever is in it.
pub fn escaped(text: &str) -> impl Display {
    Escaped(text)
}

/// Text escaped for markup.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                control if control.is_control() => f.write_char(char::REPLACEMENT_CHARACTER)?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(case: &str, tier: &'static str, value: f64) -> Record {
        Record::of("garble", case, tier, ("cycles", value, "cycles"))
    }

    #[test]
    fn records_become_groups_and_series_in_their_order() {
        let records = [
            record("mi", "aesni", 40.0),
            record("mi", "vaes256", 20.0),
            record("prp", "vaes256", 10.0),
        ];
        let charts = Chart::by_metric(&records);
        assert_eq!(charts.len(), 1);
        let chart = &charts[0];
        assert_eq!(chart.series, ["aesni", "vaes256"]);
        let groups = [
            ("mi".to_string(), vec![(0, 40.0), (1, 20.0)]),
            ("prp".to_string(), vec![(1, 10.0)]),
        ];
        assert_eq!(chart.groups, groups);
    }

    /// The longest bar reaches the end, one of half the value half as far; each shows its value.
    #[test]
    fn bars_are_as_long_as_values_are_large() {
        let records = [record("a", "x", 40.0), record("b", "x", 20.0)];
        let drawn = svg("h", &Chart::by_metric(&records));
        for (width, value) in [("580.0", "40.0"), ("290.0", "20.0")] {
            assert!(drawn.contains(&format!(" width=\"{width}\"")), "{drawn}");
            assert!(drawn.contains(&format!(">{value}</text>")), "{drawn}");
        }
    }

    /// The name of the format is the only text that looks like an address, and no text becomes
    /// markup.
    #[test]
    fn a_picture_asks_nobody_and_runs_nothing() {
        let hostile = record("<script>alert(\"&\")</script>\u{1b}", "x", 1.0);
        let drawn = svg("<b>", &Chart::by_metric(&[hostile]));
        assert!(!drawn.contains("<script") && !drawn.contains("<b>") && !drawn.contains('\u{1b}'));
        assert_eq!(drawn.matches("http").count(), 1);
        for attribute in ["href", "url(", "@import", "onload"] {
            assert!(!drawn.contains(attribute));
        }
        assert!(drawn.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn charts_without_bars_have_no_bad_numbers() {
        let chart = Chart::new("nothing", "");
        let zero = Chart::by_metric(&[record("a", "x", 0.0)]);
        let drawn = svg("", &[&[chart], &zero[..]].concat());
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
    }
}
