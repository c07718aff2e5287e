//! Pass `segment`: when each value is computed.
//!
//! A value with rows is computed tile by tile, in the segment of its table; a value without rows
//! once. A reduction or a scan over rows ends with the last tile, so whatever needs its result
//! belongs to the next *level*, which walks the rows again. Inputs by rows wait for the first
//! level that needs them, so that a table of which only a later level knows is never kept.

use crate::draft::Phase;
use sealane_program::graph::{Graph, Op, Program, ValueId};
use sealane_program::types::RowId;

/// The phase of each value of the main graph. A slice or a part is in the phase of what it is
/// taken from, since nothing is computed for it.
pub(crate) fn segment(program: &Program) -> Vec<Phase> {
    let graph = &program.main;
    let mut phases: Vec<Phase> = Vec::with_capacity(graph.values.len());
    for (index, value) in graph.values.iter().enumerate() {
        let before = value
            .op
            .operands()
            .into_iter()
            .map(|o| available(graph, &phases, o));
        let level = before.max().unwrap_or(0);
        let rows = computed_by(graph, ValueId(index as u32));
        phases.push(Phase { level, rows });
    }
    delay_inputs(program, &mut phases);
    phases
}

/// The table whose rows the operation of a value walks.
fn computed_by(graph: &Graph, id: ValueId) -> Option<RowId> {
    let value = &graph.values[id.0 as usize];
    let rows = |v: &ValueId| graph.values[v.0 as usize].shape.rows;
    match &value.op {
        Op::Reduce(_, of, _) => rows(of),
        Op::Map { over, .. } | Op::Scan { over, .. } => over.first().and_then(rows),
        Op::Part(of, _) => computed_by(graph, *of),
        _ => value.shape.rows,
    }
}

/// The first level that may use a value.
fn available(graph: &Graph, phases: &[Phase], id: ValueId) -> u32 {
    let value = &graph.values[id.0 as usize];
    let level = phases[id.0 as usize].level;
    let walks = computed_by(graph, id).is_some();
    // Made from all rows: there once the last tile is done. A map or scan is used through its
    // parts alone, and those know which they are.
    let whole = matches!(value.op, Op::Map { .. } | Op::Scan { .. });
    level + u32::from(walks && value.shape.rows.is_none() && !whole)
}

/// Moves inputs by rows to the first level that computes with them.
fn delay_inputs(program: &Program, phases: &mut [Phase]) {
    let values = &program.main.values;
    // A result is revealed after the last segment, so it wants nothing early.
    let mut wanted = vec![u32::MAX; values.len()];
    for (index, value) in values.iter().enumerate().rev() {
        let phase = &mut phases[index];
        let is_view = matches!(value.op, Op::Slice { .. });
        let waits = is_view || matches!(value.op, Op::Param(_)) && phase.rows.is_some();
        if waits && wanted[index] != u32::MAX {
            phase.level = wanted[index];
        }
        let level = phase.level;
        for operand in value.op.operands() {
            let wanted = &mut wanted[operand.0 as usize];
            *wanted = level.min(*wanted);
        }
    }
}
