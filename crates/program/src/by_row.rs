//! Which values are made row by row: element `i` along axis 0 of data of row `i` alone.
//!
//! One person adds one element to a sum of such a value. So its ends bound how much
//! the sum changes with one row, the sensitivity that differential privacy needs.
//!
//! Of a value whose axis 0 is symbolic, a row is a row of its table, or of one of the tables that
//! stand under one another; inputs without rows are the same whoever is in the table. Of any other
//! value each element along axis 0 of an input is a row of its own, and inputs of another shape may
//! be about the same people, so that operations with these are not row by row. The rule errs to one
//! side: a value that it takes is row by row, and not every such value is taken.

use crate::graph::{Op, RowSymbol, Value, ValueId};
use crate::op::Reach;
use crate::types::Shape;

/// How a value depends on rows of inputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reads {
    /// It is the same whatever the rows are.
    None,
    /// Each element along axis 0 depends on its own row.
    Own,
    /// Anything else.
    Several,
}

/// Inputs that a value reads beside the row of each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// None.
    Nothing,
    /// Inputs without rows.
    Inputs,
}

/// Returns whether a value of the main graph, which has these values so far, is made row by row,
/// and of which inputs beside.
pub fn by_row(rows: &[RowSymbol], values: &[Value], id: ValueId) -> Option<Beside> {
    let asked = values.get(id.0 as usize)?;
    let (mut known, mut beside) = (Vec::new(), Vec::new());
    for value in &values[..=id.0 as usize] {
        let reads = match asked.shape.rows {
            Some(_) => of_tables(rows, value, &known),
            None => of_tensors(values, value, &known, &asked.shape),
        };
        known.push(reads);
        let operands = value.op.operands();
        let input = matches!(value.op, Op::Param(_)) && value.shape.rows.is_none();
        beside.push(input || operands.iter().any(|id| beside[id.0 as usize]));
    }
    let beside = if asked.shape.rows.is_some() && beside.last() == Some(&true) {
        Beside::Inputs
    } else {
        Beside::Nothing
    };
    (known.last() != Some(&Reads::Several)).then_some(beside)
}

/// The dependence where rows are those of tables.
fn of_tables(rows: &[RowSymbol], value: &Value, known: &[Reads]) -> Reads {
    let of = |id: &ValueId| known[id.0 as usize];
    let reads = match &value.op {
        Op::Param(_) => match value.shape.rows {
            Some(_) => Reads::Own,
            None => Reads::None,
        },
        op => op.operands().iter().map(of).max().unwrap_or(Reads::None),
    };
    let one_of_each = match &value.op {
        // A body of a map runs for each row, and reads other values whole.
        Op::Map(map) => map.captured.iter().all(|id| of(id) == Reads::None),
        Op::Append(_) => value.shape.rows.is_some_and(|id| {
            let sum = &rows[usize::from(id.0)].sum;
            (1..sum.len()).all(|at| !sum[..at].contains(&sum[at]))
        }),
        // Axes other than that of rows are fixed, and these leave the rows where they are, or
        // reduce them: then none are left.
        op => op.reach() <= Reach::Row,
    };
    match reads {
        Reads::Own if !one_of_each || value.shape.rows.is_none() => Reads::Several,
        _ => reads,
    }
}

/// The dependence where each element of an input of `shape` along axis 0 is a row.
fn of_tensors(values: &[Value], value: &Value, known: &[Reads], shape: &Shape) -> Reads {
    let operands = value.op.operands();
    let reads = operands.iter().map(|id| {
        let same = values[id.0 as usize].shape == *shape;
        match known[id.0 as usize] {
            Reads::Own if !same => Reads::Several,
            reads => reads,
        }
    });
    let reads = reads.max().unwrap_or(Reads::None);
    match &value.op {
        Op::Param(_) if value.shape == *shape => Reads::Own,
        Op::Param(_) => Reads::Several,
        op if op.is_element_wise() => reads,
        _ if reads == Reads::None => Reads::None,
        _ => Reads::Several,
    }
}
