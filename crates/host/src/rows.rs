//! Row counts that a person states.

use crate::Failure;
use sealane_diagnostic::Code;
use sealane_program::graph::{Program, summed_rows};

/// Row counts in the order of the program: those stated, else the bounds, and their sums.
///
/// # Errors
/// A name is none of the program's.
pub fn rows(program: &Program, stated: &[(String, u64)]) -> Result<Vec<u64>, Failure> {
    let mut counts: Vec<u64> = program.rows.iter().map(|rows| rows.bound).collect();
    for (name, count) in stated {
        let Some(index) = program.rows.iter().position(|rows| rows.name == *name) else {
            let known = program.rows.iter().map(|rows| rows.name.as_str());
            let known = known.collect::<Vec<_>>().join(", ");
            let what = format!("the program has no rows named `{name}`");
            let hint = format!("its row counts are: {known}");
            return Err(Failure::new(Code::UnknownRows, what, hint));
        };
        counts[index] = *count;
    }
    for (index, rows) in program.rows.iter().enumerate() {
        let known = counts.iter().map(|count| Some(*count)).collect::<Vec<_>>();
        let named = stated.iter().any(|(name, _)| *name == rows.name);
        if let (Some(sum), false) = (summed_rows(rows, &known), named) {
            counts[index] = sum;
        }
    }
    Ok(counts)
}
