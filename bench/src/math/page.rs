//! The records of the suite as tables, for a terminal and for the page of functions.

use super::paper::SEVENTEEN;
use super::{EXACT, FORMATS, fixed};
use crate::Record;
use crate::table::{Column, RecordTable, Row, Sheet, View};
use sealane_plan::cost::grouped;

/// The line of the page of functions after which the tables stand.
pub const BEGIN: &str = "<!-- tables: written by the example math_page of room bench -->";

/// Columns that need no sample: heads and metrics.
const SIZES: [(&str, &str); 6] = [
    ("ANDs", "ands"),
    ("depth", "depth"),
    ("bytes", "bytes"),
    ("ANDs, flushed", "flushed_ands"),
    ("ANDs, flat", "flat_ands"),
    ("depth, flat", "flat_depth"),
];

/// The headings of the tables.
fn tables() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name()).chain([EXACT])
}

/// A column of numbers of gates.
fn gates(head: &str, metric: &'static str) -> Column {
    Column::new(head, "", metric).shown(|_, values| grouped(values[0] as u64))
}

fn worst(head: &str) -> Column {
    Column::new(head, "", "max_ulp").shown(|_, values| format!("{:.3}", values[0]))
}

/// The table of a format.
fn of_format(sheet: &Sheet<'_>, format: &str) -> RecordTable {
    let sizes = SIZES.map(|(head, metric)| gates(head, metric));
    let at = Column::new("at", "", "argument").and("second_argument");
    let at = at.shown(|_, values| {
        let values = values.iter().map(|x| format!("{x:e}"));
        values.collect::<Vec<_>>().join(", ")
    });
    let columns = sizes.into_iter().chain([worst("worst ULP"), at]);
    let columns = columns.map(|column| column.below(format!("{format}/")));
    RecordTable::new(sheet, format, &names(sheet), columns)
}

/// The table of a type of fixed point.
fn of_fixed(sheet: &Sheet<'_>, table: &str) -> RecordTable {
    let sizes = SIZES.into_iter().filter(|size| size.1 != "flushed_ands");
    let ranges = Column::text("operands", |name, _| {
        let case = fixed::CASES.iter().find(|case| case.name == name);
        case.map_or(String::new(), |case| case.ranges())
    });
    let columns = sizes.map(|(head, metric)| gates(head, metric));
    let columns = columns.chain([ranges]);
    let columns = columns.map(|column| column.below(format!("{table}/")));
    let rows = fixed::CASES.iter().map(|case| named(case.name));
    RecordTable::new(sheet, table, &rows.collect::<Vec<_>>(), columns)
}

/// Functions by their names, in the order of the records.
fn names(sheet: &Sheet<'_>) -> Vec<Row> {
    sheet.rows(|parts| Some(named(parts.last()?)))
}

/// A row of a function.
fn named(function: &str) -> Row {
    Row::new(function, function)
}

/// Tables in Markdown: one for each format, one of forms that are correctly rounded, those of fixed
/// point, and the functions of others beside ours. Charts of gates and of the worst errors.
pub fn view(records: &[Record]) -> View {
    let sheet = &Sheet::new(records);
    let formats = tables().map(|format| of_format(sheet, format).markdown());
    let mut text: String = formats.collect();
    text.extend(fixed::TYPES.map(|(table, _)| of_fixed(sheet, table).markdown()));
    text += &others(sheet).markdown();
    let mut view = View::noted(&text);
    for (title, unit, metric) in [
        ("AND gates of a function", "gates", "ands"),
        ("Worst error of a sample", "ULP", "max_ulp"),
    ] {
        let of = |format: &str| Column::new(format, "", metric).below(format!("{format}/"));
        let formats = FORMATS.iter().map(|format| of(format.name()));
        view.chart(sheet, title, unit, &names(sheet), formats);
    }
    view
}

/// The table of functions of others beside ours.
fn others(sheet: &Sheet<'_>) -> RecordTable {
    let rows = SEVENTEEN.iter().map(|theirs| named(theirs.name));
    let rows = rows.collect::<Vec<_>>();
    let seconds = Column::new("theirs, s", "", "seconds").shown(|_, values| values[0].to_string());
    let error = Column::text("their error", |name, _| {
        let theirs = SEVENTEEN.iter().find(|theirs| theirs.name == name);
        theirs.map_or(String::new(), |theirs| theirs.error.to_string())
    });
    let columns = [
        seconds.below("others/"),
        gates("theirs, ANDs", "ands").below("others/"),
        error,
        gates("ours, ANDs f64", "ands").below("f64/"),
        gates("f32", "ands").below("f32/"),
        worst("worst ULP f32").below("f32/"),
    ];
    RecordTable::new(sheet, "A library of others", &rows, columns)
}

#[cfg(test)]
mod tests {
    use super::super::{SUITE, case, sizes as measure};
    use super::*;
    use crate::Figures;
    use sealane_numeric::{Error, Format, Function, exact_functions, functions};

    /// The cells of each row, by the name of the format and the function: `f32/exp`.
    type Rows = Vec<(String, Vec<String>)>;

    fn rows() -> Rows {
        let page = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../docs/reference/functions.md"
        );
        let page = std::fs::read_to_string(page).expect("the page");
        let (_, below) = page.split_once(BEGIN).expect("the mark before the tables");
        rows_of(below)
    }

    fn rows_of(tables_below: &str) -> Rows {
        let mut format = "";
        let mut rows = Vec::new();
        for line in tables_below.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                format = heading;
            }
            let mut all = tables().chain(fixed::TYPES.map(|(table, _)| table));
            let known = all.any(|table| table == format);
            if let Some(row) = line.strip_prefix("| `").filter(|_| known) {
                let cells = row.split('|').map(|cell| cell.trim().to_string());
                let cells: Vec<String> = cells.collect();
                rows.push((format!("{format}/{}", cells[0].trim_matches('`')), cells));
            }
        }
        rows
    }

    /// Compares the first cells of a row with those of measured figures.
    fn compare(rows: &Rows, case: &str, count: usize, measure: impl FnOnce(&mut Figures<'_>)) {
        let mut records = Vec::new();
        measure(&mut Figures::new(SUITE, &mut |record| records.push(record)));
        let text = view(&records).text;
        let stated = rows_of(&text).pop().expect("a row");
        let row = rows.iter().find(|row| row.0 == case);
        let (_, cells) = row.unwrap_or_else(|| panic!("{case} is not on the page"));
        assert_eq!(stated.0, case);
        let [cells, stated] = [cells, &stated.1].map(|cells| &cells[1..=count]);
        assert_eq!(cells, stated, "{case}: run math_page again");
    }

    /// Compares the tables of these formats with the circuits.
    fn check(formats: &[Format]) {
        let rows = rows();
        for &format in formats {
            check_table(&rows, format.name(), format, functions());
        }
    }

    fn check_table(
        rows: &Rows,
        table: &str,
        format: Format,
        functions: impl Iterator<Item = &'static Function>,
    ) {
        let functions: Vec<_> = functions.collect();
        for function in &functions {
            let case = case(table, function);
            compare(rows, &case, 6, |figures| {
                measure(&case, format, function, figures);
            });
        }
        counts(rows, table, functions.len());
    }

    /// Asserts that a table has as many functions.
    fn counts(rows: &Rows, table: &str, functions: usize) {
        let prefix = format!("{table}/");
        let rows = rows.iter().filter(|row| row.0.starts_with(&prefix));
        assert_eq!(rows.count(), functions, "functions of {table}");
    }

    #[test]
    fn the_page_states_the_sizes_of_circuits() {
        check(&[Format::F16, Format::BF16, Format::F32]);
        check_table(&rows(), EXACT, Format::F32, exact_functions());
    }

    #[test]
    #[ignore = "circuits of f64 take minutes without optimisation"]
    fn the_page_states_the_sizes_of_circuits_of_f64() {
        check(&[Format::F64]);
    }

    /// Compares a table of fixed point with the circuits.
    fn check_fixed(table: (&str, sealane_numeric::Fixed)) {
        let rows = rows();
        for of in fixed::CASES {
            let case = format!("{}/{}", table.0, of.name);
            compare(&rows, &case, 6, |figures| of.sizes(table, figures));
        }
        counts(&rows, table.0, fixed::CASES.len());
    }

    #[test]
    fn the_page_states_the_sizes_of_functions_of_fixed_point() {
        check_fixed(fixed::TYPES[0]);
        for function in sealane_numeric::fixed_functions() {
            let listed = fixed::CASES.iter().any(|case| case.name == function.name);
            assert!(listed, "{}", function.name);
        }
    }

    #[test]
    #[ignore = "polynomials of many digits take minutes without optimisation"]
    fn the_page_states_the_sizes_of_functions_of_fixed_point_of_64_bits() {
        check_fixed(fixed::TYPES[1]);
    }

    /// Errors on the page are within those that functions promise.
    #[test]
    fn the_page_states_errors_that_are_promised() {
        for (case, cells) in rows() {
            let Ok(worst) = cells[7].parse::<f64>() else {
                continue;
            };
            let (format, name) = case.split_once('/').expect("a format and a name");
            let function = sealane_numeric::function(name).expect("a function");
            let bound = match (function.error, format) {
                (Error::Rounded, _) | (_, "f16" | "bf16" | EXACT) => 0.5,
                (Error::Ulp { single, .. } | Error::Near { single, .. }, "f32") => single,
                (Error::Ulp { double, .. } | Error::Near { double, .. }, _) => double,
            };
            assert!(worst <= bound, "{case}: {worst}, not {bound}");
        }
    }
}
