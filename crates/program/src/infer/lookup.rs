//! Inference of `lookup(table, index)`: an index that can exceed its table is refused.
//!
//! NumPy would raise an error at run time, or count a negative index from the end. Here no party
//! sees the index, so both would have to be computed on secrets; instead the range of the index
//! decides before the run.

use super::refuse::no_such_type;
use super::{Meta, Scope};
use crate::check::MAX_TABLE_ENTRIES;
use crate::graph::{Value, ValueId};
use crate::types::{Dim, Range, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

pub fn lookup(scope: &Scope, table: ValueId, index: ValueId) -> Result<Meta> {
    let (entries, place) = (scope.value(table)?, scope.value(index)?);
    let count = count(scope, table, entries)?;
    if place.ty == Type::Bool {
        let i = scope.name(index, "i");
        return Err(no_such_type("lookup", place.ty)
            .because("an index is an integer")
            .hint(format!(
                "write `sl.where({i}, yes, no)`, or `{i}.astype(sl.u1)` for an index of 0 and 1"
            )));
    }
    if place.ty.is_float() {
        let i = scope.name(index, "i");
        return Err(no_such_type("lookup", place.ty)
            .because("an index is an integer")
            .hint(format!(
                "convert it first: `sl.saturate({i}, sl.u8)`, for example"
            )));
    }
    if place.ty.is_fixed() {
        let i = scope.name(index, "i");
        return Err(no_such_type("lookup", place.ty)
            .because("an index is an integer")
            .hint(format!(
                "round it down first: `{i}.astype(sl.i64)`, or a narrower type"
            )));
    }
    let within = Range::new(0, i128::from(count) - 1);
    if !within.contains(place.range) {
        return Err(outside(scope, [table, index], place, within));
    }
    let mut shape = place.shape.clone();
    shape.fixed.extend(&entries.shape.fixed[1..]);
    let entry = entries.meta().with_shape(shape);
    Ok(entry.with_visibility(entries.joint(place)))
}

/// Number of entries of a value that can be a table.
fn count(scope: &Scope, id: ValueId, table: &Value) -> Result<u64> {
    let name = scope.name(id, "table");
    let shape = scope.shape(&table.shape);
    match table.shape.dim(0) {
        Some(Dim::Fixed(count @ 1..=MAX_TABLE_ENTRIES)) => Ok(count),
        Some(Dim::Fixed(count)) => Err(Diagnostic::new(
            Code::Limit,
            format!("`{name}` has {count} entries to look into"),
        )
        .because(format!(
            "a lookup touches all entries, so a table has at most {MAX_TABLE_ENTRIES}"
        ))
        .hint(
            "compute part of the entry from the index, or look into smaller tables by parts of it",
        )),
        Some(Dim::Rows(_)) => Err(Diagnostic::new(
            Code::ShapeMismatch,
            format!("`sl.lookup` cannot look into the rows of `{name}`"),
        )
        .because(format!(
            "it has shape {shape}, and a circuit is made before the number of rows is known"
        ))
        .hint(
            "declare a table of a fixed length, or compare a key in every row and add: \
             `sl.where(key == i, x, 0).sum()`",
        )),
        None => Err(Diagnostic::new(
            Code::ShapeMismatch,
            "a single element is no table to look into",
        )
        .because("a lookup goes along the first axis of its table")
        .hint("name the table first: `sl.lookup(table, index)`")),
    }
}

/// Makes the refusal of an index whose range is not `within` the table.
fn outside(
    scope: &Scope,
    [table, index]: [ValueId; 2],
    place: &Value,
    within: Range,
) -> Diagnostic {
    let (t, i) = (scope.name(table, "table"), scope.name(index, "i"));
    let (count, last) = (within.hi + 1, within.hi);
    let turn = if count & last == 0 {
        format!("`{i} & {last}` keeps the low bits")
    } else if place.ty.is_wrapping() {
        format!("`sl.minimum({i}, {last})` stops at the last entry")
    } else {
        format!("`{i} % {count}` starts again after the last entry")
    };
    let hint = match (place.range.lo < 0, place.range.hi) {
        _ if scope.is_constant(index) => format!("a public index needs no lookup: `{t}[0]`"),
        // The range of an input can be declared, and is checked when it is read.
        _ if scope.is_input(index) => format!(
            "declare `sl.between(0, {last})` for `{i}`, or bring it inside: {}",
            if place.range.lo < 0 {
                format!("`sl.minimum(sl.maximum({i}, 0), {last})`")
            } else {
                turn
            }
        ),
        (true, hi) if hi <= last => format!("bring the index inside: `sl.maximum({i}, 0)`"),
        (true, _) => {
            format!("bring the index inside: `sl.minimum(sl.maximum({i}, 0), {last})`, or {turn}")
        }
        (false, hi) if hi < i128::from(MAX_TABLE_ENTRIES) => format!(
            "give the table {} entries, or bring the index inside: {turn}",
            hi + 1
        ),
        (false, _) => format!("bring the index inside: {turn}"),
    };
    Diagnostic::new(
        Code::IndexRange,
        format!(
            "`sl.lookup({}, {})` can look outside of the table",
            bare(&t),
            bare(&i)
        ),
    )
    .because(format!(
        "{i} is in {}, and the table has entries {within}",
        place.range
    ))
    .hint(hint)
}

/// Formats a name as an argument: without parentheses around all of it.
fn bare(name: &str) -> &str {
    let inner = name
        .strip_prefix('(')
        .and_then(|name| name.strip_suffix(')'));
    let mut depth = 0;
    let closes_early = |inner: &str| {
        inner.chars().any(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth < 0
        })
    };
    match inner {
        Some(inner) if !{ closes_early }(inner) => inner,
        _ => name,
    }
}
