//! Writes the page of numeric functions: the tables of suite `math`, and the picture of errors.
//!
//! ```sh
//! cargo run --release -p sealane-bench --example math_page
//! ```

use sealane_bench::{Figures, Options, SuiteError, math};
use sealane_files::{Rights, replace};
use std::path::Path;

const PAGE: &str = "docs/reference/functions.md";
const PICTURE: &str = "docs/reference/functions.svg";
const ANSWERS: &str = "testdata/math";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut records = Vec::new();
    let mut record = |record: sealane_bench::Record| {
        if ["ands", "max_ulp"].contains(&&*record.metric) {
            eprintln!("{}: {} {}", record.case, record.value, record.unit);
        }
        records.push(record);
    };
    let mut figures = Figures::new(math::SUITE, &mut record);
    math::run(&Options::detect()?, &mut figures).map_err(SuiteError::what)?;
    math::of_answers(&root.join(ANSWERS), &mut figures);
    let old = std::fs::read_to_string(root.join(PAGE))?;
    let (head, _) = old.split_once(math::BEGIN).ok_or("the page has no mark")?;
    let page = format!("{head}{}\n\n{}", math::BEGIN, math::view(&records).text);
    let page = format!("{}\n", page.trim_end());
    replace(&root.join(PAGE), Rights::Usual, page.as_bytes())?;
    let picture = math::errors_svg();
    replace(&root.join(PICTURE), Rights::Usual, picture.as_bytes())?;
    Ok(())
}
