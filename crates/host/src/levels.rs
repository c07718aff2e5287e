//! Steps of a plan by level: those of a level share messages.

use sealane_page::Card;
use sealane_page::card::Column;
use sealane_page::units::grouped;
use sealane_plan::join;
use sealane_plan::steps::{Plan, Segment, Step, StepOp};
use sealane_program::types::RowId;

/// The steps of a plan in the order of the pass `rearrange`, level by level, and the levels of
/// gates inside of each.
pub fn levels_card(plan: &Plan) -> Card {
    let mut card = Card::new("");
    let columns = [
        Column::text("once, or for each tile of"),
        Column::number("level", 5),
        Column::number("line", 6),
        Column::text(" step"),
        Column::text(" gates"),
    ];
    let lines = plan.segments.iter().flat_map(|segment| rows(plan, segment));
    card.table(None, columns, lines);
    card
}

/// A line for each step of a segment.
fn rows<'a>(plan: &'a Plan, segment: &'a Segment) -> impl Iterator<Item = Vec<String>> + 'a {
    let name = |rows: RowId| plan.rows[usize::from(rows.0)].name.as_str();
    let walk = segment.rows.map_or("once", name);
    let levels = join(segment).into_iter().enumerate();
    levels.flat_map(move |(number, places)| {
        let steps = segment.steps[places].iter();
        steps.map(move |step| {
            vec![
                walk.to_string(),
                (number + 1).to_string(),
                step.line().map_or(String::new(), |line| line.to_string()),
                format!(" {}", step.label),
                format!(" {}", gates(plan, step)),
            ]
        })
    })
}

/// The levels of a step's tape, which are its rounds where each level is one.
fn gates(plan: &Plan, step: &Step) -> String {
    let tape = match &step.op {
        StepOp::Tape { tape, .. } => &plan.tapes[tape.0 as usize],
        _ => return String::new(),
    };
    let sizes = tape.batches.iter().enumerate();
    let sizes = sizes.map(|(at, batch)| batch.ands.len() + tape.applied_in(at).len());
    let sizes = sizes.filter(|size| *size > 0).collect::<Vec<_>>();
    let Some((least, most)) = sizes.iter().min().zip(sizes.iter().max()) else {
        return "no AND".to_string();
    };
    let (least, most) = (grouped(*least as u64), grouped(*most as u64));
    let functions = if tape.applied.is_empty() {
        ""
    } else {
        " and functions"
    };
    format!(
        "{} levels of {least} to {most} ANDs{functions}",
        sizes.len()
    )
}
