//! Checker of programs: accepts exactly the programs that tracing could have made. A program that
//! passes is as safe to plan as a traced one.
//!
//! It recomputes every type, shape, range and visibility, and bounds everything that later crates
//! allocate for. It does not judge the results that a program reveals: people approve those, and
//! the warnings point out what they may have missed.

use crate::decimal::range_text;
use crate::graph::Visibility;
use crate::graph::{Graph, Input, Op, Program, Reveal, RowSymbol, Value};
use crate::infer::{self, Meta, Scope, invalid, shape};
use crate::kind;
use crate::types::Range;
use crate::warnings;
use sealane_diagnostic::{Code, Diagnostic, Result, counted, deceives};
use std::collections::BTreeSet;

/// Most elements in one row of a value: the product of its fixed dimensions.
pub const MAX_ROW_ELEMENTS: u64 = 1 << 24;
/// Most dimensions of a value.
pub const MAX_RANK: usize = 8;
/// Most values of a program, those of bodies included.
pub const MAX_VALUES: usize = 1 << 20;
/// Most elements of all constants of a program together.
pub const MAX_CONST_ELEMENTS: usize = 1 << 22;
/// Most entries of a table in a lookup.
pub const MAX_TABLE_ENTRIES: u64 = 1 << 16;
/// Most bodies inside of one another.
pub const MAX_NESTING: usize = 8;
/// Most parties, and most symbolic row counts.
pub const MAX_PARTIES: usize = 64;
/// Most inputs, and most results.
pub const MAX_INPUTS: usize = 1024;
/// Largest bound of a symbolic row count.
pub const MAX_ROW_BOUND: u64 = 1 << 40;
/// Most characters of a name.
pub const MAX_NAME: usize = 64;
/// Most bytes of a column's name.
pub const MAX_COLUMN_NAME: usize = 256;
/// Most bytes of what a result says about its protection.
pub const MAX_NOTE: usize = 1024;

/// Checks a whole program and returns the warnings about it.
///
/// # Errors
/// The first fault, with its place in the source where the program carries one.
pub fn check(program: &Program) -> Result<Vec<Diagnostic>> {
    size(program)?;
    header(program)?;
    let params: Vec<Meta> = program.inputs.iter().map(parameter).collect();
    let scope = Scope::of(&program.rows, &program.inputs, &[]);
    infer::graph(&scope, &program.main, &params)?;
    results(program)?;
    Ok(warnings::all(program))
}

/// Type, shape, range and visibility of the parameter of an input.
pub(crate) fn parameter(input: &Input) -> Meta {
    let Input {
        owner,
        ty,
        shape,
        range,
        ..
    } = input;
    Meta::new(*ty, shape.clone(), *range, Visibility::Known(*owner))
}

/// Names, bounds and inputs. The builder runs these as each is declared.
fn header(program: &Program) -> Result<()> {
    name("the program", &program.name)?;
    let mut parties = BTreeSet::new();
    for party in &program.parties {
        name("a party", party)?;
        unique("party", party, parties.insert(party))?;
    }
    let mut names = BTreeSet::new();
    for (index, rows) in program.rows.iter().enumerate() {
        row_count(rows)?;
        unique("row count", &rows.name, names.insert(&rows.name))?;
        sum_of_rows(&program.rows[..index], rows)?;
    }
    let mut names = BTreeSet::new();
    for declared in &program.inputs {
        input(program, declared).map_err(|e| e.at(declared.span.as_ref()))?;
        unique("input", &declared.name, names.insert(&declared.name))?;
    }
    known_rows(program)
}

/// Checks that every row count belongs to an input, since a run could not determine it otherwise.
fn known_rows(program: &Program) -> Result<()> {
    for (index, rows) in program.rows.iter().enumerate() {
        let counts = |input: &Input| {
            input
                .shape
                .rows
                .is_some_and(|id| usize::from(id.0) == index)
        };
        if rows.sum.is_empty() && !program.inputs.iter().any(counts) {
            let message = format!("no input has the rows `{}`", rows.name);
            return Err(Diagnostic::new(Code::Name, message)
                .because("the number of rows is read from the inputs")
                .hint("give an input this number of rows, or leave it out"));
        }
    }
    Ok(())
}

/// A row count that adds up others, which stand before it: those of tables, each of its sums once.
pub(crate) fn sum_of_rows(before: &[RowSymbol], rows: &RowSymbol) -> Result<()> {
    if rows.sum.is_empty() {
        return Ok(());
    }
    let mut bound = 0u64;
    for id in &rows.sum {
        match before.get(usize::from(id.0)) {
            Some(part) if part.sum.is_empty() => bound = bound.saturating_add(part.bound),
            _ => return Err(invalid("a row count adds up what are no rows of a table")),
        }
    }
    let new = before.iter().all(|other| other.sum != rows.sum);
    if rows.sum.len() > MAX_PARTIES {
        let count = rows.sum.len();
        let message = format!("the rows of {count} tables stand under one another");
        return Err(Diagnostic::new(Code::Limit, message)
            .because(format!("there can be at most {MAX_PARTIES}"))
            .hint("join tables of one owner before the run"));
    }
    if rows.sum.len() < 2 || bound != rows.bound || !new {
        return Err(invalid(
            "a row count is no sum, has another bound than its parts, or is there twice",
        ));
    }
    Ok(())
}

/// A symbolic row count.
pub(crate) fn row_count(rows: &RowSymbol) -> Result<()> {
    name("a row count", &rows.name)?;
    if !(1..=MAX_ROW_BOUND).contains(&rows.bound) {
        let message = format!("{} <= {}", rows.name, rows.bound);
        return Err(Diagnostic::new(Code::Limit, message)
            .because(format!("a bound of rows is 1 to {MAX_ROW_BOUND}"))
            .hint("state a bound that the data can reach"));
    }
    Ok(())
}

/// One input against the header.
pub(crate) fn input(program: &Program, input: &Input) -> Result<()> {
    name("an input", &input.name)?;
    if usize::from(input.owner) >= program.parties.len() {
        let message = format!("input {} has no known owner", input.name);
        return Err(Diagnostic::new(Code::Name, message).hint("name one of the parties"));
    }
    if !input.ty.is_valid() {
        return Err(invalid("an input of a type of no possible width"));
    }
    let Range { lo, hi } = input.range;
    if let (Some(format), Some(range)) = (input.ty.format(), input.ty.magnitudes(input.range)) {
        let finite = Range::new(0, format.infinity() as i128 - 1);
        if lo > hi || !finite.contains(range) {
            let message = format!("the magnitudes of the input {} are none", input.name);
            return Err(Diagnostic::new(Code::ConstantRange, message)
                .because("a range of floating point is from one finite magnitude to a larger one")
                .hint("write the smaller end first: `sl.magnitude(0.01, 1e6)`"));
        }
    }
    if lo > hi || !input.ty.holds(input.range) {
        return Err(Diagnostic::new(
            Code::ConstantRange,
            format!(
                "the range {} of {} is not one of {}",
                range_text(input.range, input.ty),
                input.name,
                input.ty
            ),
        )
        .because(format!(
            "{} holds {}",
            input.ty,
            range_text(input.ty.range(), input.ty)
        ))
        .hint(if lo > hi {
            "write the smaller end first: `sl.between(low, high)`"
        } else {
            "declare ends that the type holds, or a type with more bits"
        }));
    }
    shape::bounded(&Scope::of(&program.rows, &[], &[]), &input.shape)?;
    kind::input(program, input)?;
    columns(input)
}

/// Checks the columns of an input, which fill its last dimension: that of each row, or of the one
/// row of a table that holds a vector. One column fills a vector by rows, or a single number.
fn columns(input: &Input) -> Result<()> {
    if input.columns.is_empty() {
        return Ok(());
    }
    let given = input.columns.len() as u64;
    let cells = input.kind.cells(&input.shape.fixed);
    let wanted = match cells.last() {
        Some(&n) => n,
        None => 1,
    };
    let rank = cells.len() + usize::from(input.shape.rows.is_some());
    if given != wanted && (given != 1 || rank > 1) {
        let name = &input.name;
        return Err(Diagnostic::new(
            Code::ShapeMismatch,
            format!(
                "input {name} names {} where its shape has {wanted}",
                counted(given, "column")
            ),
        )
        .because("columns fill the last dimension, one for each of its places")
        .hint("give a list of names, which is a dimension of that length, or name one column"));
    }
    let mut seen = BTreeSet::new();
    for column in &input.columns {
        let printable = !column.is_empty() && !column.chars().any(deceives);
        if !printable || column.len() > MAX_COLUMN_NAME {
            let message = "a column's name is empty, too long or not text";
            return Err(Diagnostic::new(Code::Name, message)
                .because(format!(
                    "it has 1 to {MAX_COLUMN_NAME} bytes and no characters that nobody sees"
                ))
                .hint("rename the column in the table, and name it so here"));
        }
        unique("column", column, seen.insert(column))?;
    }
    Ok(())
}

/// One result, whose value is one of the main graph.
pub(crate) fn result(program: &Program, reveal: &Reveal) -> Result<()> {
    name("a result", &reveal.name)?;
    let scope = Scope::of(&program.rows, &program.inputs, &program.main.values);
    let value = scope.value(reveal.value)?;
    if value.ty != reveal.ty {
        return Err(invalid(
            "a result is declared with another type than its value has",
        ));
    }
    kind::result(program, reveal, &value.shape, value.range)?;
    if reveal.note.len() > MAX_NOTE || reveal.note.chars().any(deceives) {
        return Err(invalid(
            "what a result says about its protection is too long or not text",
        ));
    }
    let ascending = reveal.to.windows(2).all(|pair| pair[0] < pair[1]);
    let known = reveal
        .to
        .iter()
        .all(|&party| usize::from(party) < program.parties.len());
    if reveal.to.is_empty() || !ascending || !known {
        return Err(invalid(
            "a result is for no party, an unknown one, or not in order",
        ));
    }
    Ok(())
}

fn results(program: &Program) -> Result<()> {
    if program.results.is_empty() {
        let message = "the program reveals nothing";
        return Err(Diagnostic::new(Code::InvalidProgram, message)
            .hint("return a value, and say in the signature who learns it"));
    }
    if !program.main.returns.is_empty() {
        return Err(invalid(
            "the main graph returns values; results are revealed",
        ));
    }
    let mut names = BTreeSet::new();
    let noisy = drawn(&program.main);
    for reveal in &program.results {
        let made = program.main.values.get(reveal.value.0 as usize);
        let place = made.and_then(|value| value.span.as_ref());
        result(program, reveal).map_err(|finding| finding.at(place))?;
        unique("result", &reveal.name, names.insert(&reveal.name))?;
        let noise = reveal.note.to_ascii_lowercase().contains("noise");
        if noise && !noisy[reveal.value.0 as usize] {
            return Err(invalid(
                "a result is said to have noise, and depends on no random number",
            ));
        }
    }
    Ok(())
}

/// Tells of each value of the main graph whether it depends on random numbers, which no body draws.
fn drawn(main: &Graph) -> Vec<bool> {
    let mut drawn: Vec<bool> = Vec::with_capacity(main.values.len());
    for value in &main.values {
        let random = matches!(value.op, Op::Random { .. });
        // Operands come before what they are operands of.
        let depends = value.op.operands().iter().any(|id| drawn[id.0 as usize]);
        drawn.push(random || depends);
    }
    drawn
}

/// Bounds the size of a program before anything is computed on it.
fn size(program: &Program) -> Result<()> {
    let within =
        |what: &str, count: usize, most: usize| {
            if count <= most {
                Ok(())
            } else {
                Err(
        Diagnostic::new(Code::Limit, format!("the program has {count} {what}"))
            .because(format!("there can be at most {most}"))
            .hint("join inputs in dimensions, walk with `sl.map` or `sl.scan`, or split it"),
    )
            }
        };
    within("parties", program.parties.len(), MAX_PARTIES)?;
    within("row counts", program.rows.len(), MAX_PARTIES)?;
    within("inputs", program.inputs.len(), MAX_INPUTS)?;
    within("results", program.results.len(), MAX_INPUTS)?;
    let (values, elements) = count(&program.main, 0)?;
    let random = |value: &Value| matches!(value.op, Op::Random { .. });
    if program.parties.len() < 2 && program.main.values.iter().any(random) {
        let message = "the one party of a program would know the numbers that it draws";
        return Err(Diagnostic::new(Code::InvalidProgram, message)
            .because("the noise of a result is drawn by all parties together")
            .hint("leave `sl.noise` out, or give another party an input or the result"));
    }
    within("values", values, MAX_VALUES)?;
    within("elements of constants", elements, MAX_CONST_ELEMENTS)
}

/// Values and elements of constants of a graph with the bodies in it.
fn count(graph: &Graph, depth: usize) -> Result<(usize, usize)> {
    if depth > MAX_NESTING {
        return Err(Diagnostic::new(Code::Limit, "bodies are nested too deeply")
            .because(format!(
                "there can be at most {MAX_NESTING} inside of one another"
            ))
            .hint("work on whole axes in the innermost bodies, with `axis=`"));
    }
    let mut total = (graph.values.len(), 0);
    for value in &graph.values {
        if let Op::Const(data) = &value.op {
            total.1 += data.elements.len();
        }
        if depth > 0 && matches!(value.op, Op::Random { .. }) {
            return Err(invalid("a body draws random numbers"));
        }
        if depth > 0 && matches!(value.op, Op::Share { .. }) {
            let message = "a body cannot say on what shares one of its operations is computed";
            return Err(Diagnostic::new(Code::NoSuchSharing, message)
                .at(value.span.as_ref())
                .because("all operations of a body are one step")
                .hint("put `sl.share` around the result of the `map`, `scan` or sort"));
        }
        if let Some(body) = value.op.body() {
            let inner = count(body, depth + 1)?;
            total = (total.0 + inner.0, total.1 + inner.1);
        }
    }
    Ok(total)
}

/// Checks a name: ASCII letters, digits and `_`, so that different names look different.
pub(crate) fn name(what: &str, name: &str) -> Result<()> {
    let first = name
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if first && rest && name.len() <= MAX_NAME {
        return Ok(());
    }
    let shown: String = name.chars().take(MAX_NAME).collect();
    Err(
        Diagnostic::new(Code::Name, format!("{what} cannot be called `{shown}`")).because(format!(
            "names are letters, digits and `_` of ASCII, at most {MAX_NAME}, so that names that \
         look alike are alike"
        ))
        .hint("choose another name: it begins with a letter"),
    )
}

pub(crate) fn unique(what: &str, name: &str, new: bool) -> Result<()> {
    if new {
        return Ok(());
    }
    let message = format!("there are two of the {what} `{name}`");
    Err(Diagnostic::new(Code::Name, message).hint("give one of them another name"))
}
