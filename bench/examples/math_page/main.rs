//! Writes the page of numeric functions: the tables of suite `math`, and the plot of errors.
//!
//! ```sh
//! cargo run --release -p sealane-bench --example math_page
//! ```

use sealane_bench::{Options, math};
use sealane_files::{Rights, replace};
use std::path::Path;

const PAGE: &str = "docs/reference/functions.md";
const PLOT: &str = "docs/reference/functions.svg";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut records = Vec::new();
    math::run(&Options::detect()?, &mut |record| {
        if record.metric == "ands" {
            eprintln!("{}: {} ANDs", record.case, record.value);
        }
        records.push(record);
    });
    let old = std::fs::read_to_string(root.join(PAGE))?;
    let (head, _) = old.split_once(math::BEGIN).ok_or("the page has no mark")?;
    let page = format!("{head}{}\n\n{}", math::BEGIN, math::markdown(&records));
    replace(&root.join(PAGE), Rights::Usual, page.as_bytes())?;
    replace(
        &root.join(PLOT),
        Rights::Usual,
        math::errors_svg().as_bytes(),
    )?;
    Ok(())
}
