//! Pass `segment`: the segment in which each value is computed.
//!
//! A value with rows is computed tile by tile, in the segment of its table; a value without rows
//! once. A reduction or a scan over rows ends with the last tile, so its users belong to the next
//! *level*, which walks the rows again. Rows that only a later level needs are computed in that
//! level, inputs included, so that they are never kept.

use crate::draft::Phase;
use sealane_program::graph::{Graph, Op, Program, ValueId};
use sealane_program::types::RowId;

/// Computes the phase of each value of the main graph. A slice or a part has the phase of its
/// tensor, since nothing is computed for it.
pub(crate) fn segment(program: &Program) -> Vec<Phase> {
    let graph = &program.main;
    let mut phases: Vec<Phase> = Vec::with_capacity(graph.values.len());
    for (index, value) in graph.values.iter().enumerate() {
        // All rows at once are there when the walk over them has ended.
        let before = value.op.operands().into_iter().map(|o| {
            let walked = takes_all(graph, &value.op, o) && computed_by(graph, o).is_some();
            available(graph, &phases, o) + u32::from(walked)
        });
        let level = before.max().unwrap_or(0);
        let rows = computed_by(graph, ValueId(index as u32));
        phases.push(Phase { level, rows });
    }
    delay(graph, &mut phases);
    phases
}

/// Returns the table whose rows the operation of a value walks. An operation on all rows at once
/// walks none.
pub(crate) fn computed_by(graph: &Graph, id: ValueId) -> Option<RowId> {
    let value = &graph[id];
    let rows = |v: &ValueId| graph[v].shape.rows;
    match &value.op {
        op if op.needs_all_rows() => None,
        Op::Reduce(_, of, _) => rows(of),
        Op::Map(of) | Op::Scan(of) => of.over.first().and_then(rows),
        Op::Part(of, _) => computed_by(graph, *of),
        _ => value.shape.rows,
    }
}

/// Returns whether an operation takes all rows of an operand at once, if it has rows: also a body
/// that sees them whole.
fn takes_all(graph: &Graph, op: &Op, operand: ValueId) -> bool {
    let whole = match op {
        Op::Map(map) => map.captured.contains(&operand),
        _ => false,
    };
    op.needs_all_rows() || whole && graph[operand].shape.rows.is_some()
}

/// Returns the first level that may use a value.
fn available(graph: &Graph, phases: &[Phase], id: ValueId) -> u32 {
    let value = &graph[id];
    let level = phases[id.0 as usize].level;
    // A result of all rows is available after the last tile, and rows that are made at once to the
    // walk after. An operation with parts is used through these alone, and they are handled
    // themselves.
    let later = computed_by(graph, id) != value.shape.rows && !value.op.has_parts();
    level + u32::from(later)
}

/// Moves rows to the first level that needs them, together with values computed from such rows
/// alone. A value that shares an operand with an earlier level stays there: it may be all that has
/// to be kept of that operand.
fn delay(graph: &Graph, phases: &mut [Phase]) {
    let by_rows = |id: &ValueId| {
        let rows = graph[id].shape.rows;
        rows.is_some() && computed_by(graph, *id) == rows
    };
    // No result is needed early: all are revealed after the last segment. What meets all rows of a
    // table stays where these are there.
    let latest = |(index, phase): (usize, &Phase)| {
        let op = &graph.values[index].op;
        let mut operands = op.operands().into_iter();
        let meets = operands.any(|operand| takes_all(graph, op, operand));
        if by_rows(&ValueId(index as u32)) && !meets {
            u32::MAX
        } else {
            phase.level
        }
    };
    let mut levels = phases.iter().enumerate().map(latest).collect::<Vec<_>>();
    let mut settled = false;
    while !settled {
        settled = true;
        for (index, value) in graph.values.iter().enumerate().rev() {
            for operand in value.op.operands().iter().filter(|id| by_rows(id)) {
                let before = u32::from(takes_all(graph, &value.op, *operand));
                let latest = levels[index].saturating_sub(before);
                levels[operand.0 as usize] = latest.min(levels[operand.0 as usize]);
            }
        }
        for (index, value) in graph.values.iter().enumerate() {
            let operands = value.op.operands();
            let rows = operands
                .iter()
                .filter(|id| by_rows(id))
                .map(|id| levels[id.0 as usize]);
            let first = rows.min().unwrap_or(u32::MAX).max(phases[index].level);
            if by_rows(&ValueId(index as u32)) && first < levels[index] {
                levels[index] = first;
                settled = false;
            }
        }
    }
    for (index, value) in graph.values.iter().enumerate() {
        if levels[index] == u32::MAX {
            let operands = value.op.operands();
            let after = operands.iter().map(|id| phases[id.0 as usize].level).max();
            levels[index] = after.unwrap_or(0).max(phases[index].level);
        }
        phases[index].level = levels[index];
    }
}
