//! The printer.

use crate::decimal::{self, range_text};
use crate::graph::{Graph, Input, Op, Program, Value, ValueId, Visibility};
use crate::infer::Scope;
use crate::kind::Kind;
use crate::types::{Data, Range, RowId, Shape, Type};
use sealane_diagnostic::Span;
use std::fmt::{self, Write};

/// The canonical text, which [`Program::hash`] hashes.
pub fn print(program: &Program) -> String {
    text(program, false)
}

/// The full text, with the places in the source.
pub fn print_with_spans(program: &Program) -> String {
    text(program, true)
}

fn text(program: &Program, spans: bool) -> String {
    let scope = Scope {
        rows: &program.rows,
        inputs: &[],
        values: &[],
        called: &[],
    };
    let mut printer = Printer {
        out: String::new(),
        program,
        scope,
        spans,
    };
    // Writing to a string does not fail.
    let _ = printer.program();
    printer.out
}

struct Printer<'a> {
    out: String,
    program: &'a Program,
    scope: Scope<'a>,
    spans: bool,
}

impl<'a> Printer<'a> {
    fn program(&mut self) -> fmt::Result {
        let Program {
            name,
            parties,
            rows,
            flush_subnormals,
            inputs,
            main,
            results,
        } = self.program;
        writeln!(self.out, "sealane program {}", super::parse::VERSION)?;
        writeln!(self.out, "name {name}")?;
        for party in parties {
            writeln!(self.out, "party {party}")?;
        }
        for rows in rows {
            let part = |id: &RowId| {
                let part = self.program.rows.get(usize::from(id.0));
                part.map_or("?", |part| &part.name)
            };
            let parts = rows.sum.iter().map(part).collect::<Vec<_>>();
            match parts.is_empty() {
                true => writeln!(self.out, "rows {} <= {}", rows.name, rows.bound)?,
                false => writeln!(self.out, "rows {} = {}", rows.name, parts.join(" + "))?,
            }
        }
        if *flush_subnormals {
            writeln!(self.out, "subnormals flushed")?;
        }
        for input in inputs {
            self.input(input)?;
        }
        writeln!(self.out, "main {{")?;
        self.graph(main, 1)?;
        writeln!(self.out, "}}")?;
        for reveal in results {
            let (name, value, ty) = (&reveal.name, reveal.value.0, reveal.ty);
            let to: Vec<&str> = reveal.to.iter().map(|&index| self.party(index)).collect();
            writeln!(
                self.out,
                "reveal {name} = %{value} : {ty} to {}{}{}",
                to.join(", "),
                meaning(&reveal.kind),
                note(&reveal.note)
            )?;
        }
        Ok(())
    }

    fn input(&mut self, input: &Input) -> fmt::Result {
        let Input {
            name,
            owner,
            ty,
            shape,
            range,
            columns,
            kind,
            span,
        } = input;
        let (owner, shape) = (self.party(*owner), self.shape(shape));
        let range = within(*range, *ty);
        let kind = meaning(kind);
        write!(self.out, "input {name} : {owner} {ty}{shape}{range}{kind}")?;
        if !columns.is_empty() {
            let columns: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
            write!(self.out, " columns {}", columns.join(", "))?;
        }
        self.end_line(span.as_ref(), "")
    }

    fn graph(&mut self, graph: &Graph, depth: usize) -> fmt::Result {
        for (index, value) in graph.values.iter().enumerate() {
            write!(self.out, "{:indent$}%{index} = ", "", indent = 2 * depth)?;
            self.value(value, depth)?;
        }
        if !graph.returns.is_empty() {
            let returns = list(&graph.returns);
            writeln!(
                self.out,
                "{:indent$}return {returns}",
                "",
                indent = 2 * depth
            )?;
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, depth: usize) -> fmt::Result {
        self.operation(&value.op)?;
        let (ty, shape) = (value.ty, self.shape(&value.shape));
        let range = within(value.range, ty);
        write!(self.out, " : {ty}{shape}{range} ")?;
        match value.visibility {
            Visibility::Public => self.out.push_str("public"),
            Visibility::Secret => self.out.push_str("secret"),
            Visibility::Known(party) => {
                let party = self.party(party);
                write!(self.out, "known {party}")?;
            }
        }
        let Some(body) = value.op.body() else {
            return self.end_line(value.span.as_ref(), "");
        };
        self.end_line(value.span.as_ref(), " {")?;
        self.graph(body, depth + 1)?;
        writeln!(self.out, "{:indent$}}}", "", indent = 2 * depth)
    }

    fn operation(&mut self, op: &Op) -> fmt::Result {
        let out = &mut self.out;
        match op {
            Op::Param(index) => write!(out, "param {index}"),
            Op::Const(data) => constant(out, data),
            Op::Unary(op, a) => write!(out, "{} %{}", op.name(), a.0),
            Op::Binary(op, a, b) => write!(out, "{} %{}, %{}", op.name(), a.0, b.0),
            Op::Select(c, yes, no) => write!(out, "select %{}, %{}, %{}", c.0, yes.0, no.0),
            Op::Cast(a) => write!(out, "cast %{}", a.0),
            Op::Reduce(op, a, axis) => write!(out, "reduce {} %{} axis {axis}", op.name(), a.0),
            Op::Dot(a, b) => write!(out, "dot %{}, %{}", a.0, b.0),
            Op::SumProduct { a, b, axes } => {
                write!(out, "sumproduct %{}, %{} {}", a.0, b.0, along(axes))
            }
            Op::Mean { of, axes } => write!(out, "mean %{} {}", of.0, along(axes)),
            Op::Slice {
                of,
                axis,
                start,
                len,
                squeeze,
            } => {
                let squeeze = if *squeeze { " squeeze" } else { "" };
                write!(
                    out,
                    "slice %{} axis {axis} from {start} take {len}{squeeze}",
                    of.0
                )
            }
            Op::View { of, start, dims } => {
                write!(out, "view %{} from {start}", of.0)?;
                for (index, (length, step)) in dims.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(out, "{comma} take {length} step {step}")?;
                }
                Ok(())
            }
            Op::Concat(values, axis) => write!(out, "concat {} axis {axis}", list(values)),
            Op::Accumulate(op, a, axis) => {
                write!(out, "accumulate {} %{} axis {axis}", op.name(), a.0)
            }
            Op::Append(values) => write!(out, "append {}", list(values)),
            Op::Lookup { table, index } => write!(out, "lookup %{}, %{}", table.0, index.0),
            Op::Stack(values, axis) => write!(out, "stack {} axis {axis}", list(values)),
            Op::Map { over, captured, .. } => {
                write!(out, "map over {}", list(over))?;
                named(out, " capture ", captured)
            }
            Op::Scan {
                init,
                over,
                captured,
                ..
            } => {
                write!(out, "scan")?;
                named(out, " from ", init)?;
                write!(out, " over {}", list(over))?;
                named(out, " capture ", captured)
            }
            Op::RowNumber(rows) => {
                let rows = self.program.rows.get(usize::from(rows.0));
                write!(out, "rownumber {}", rows.map_or("?", |rows| &rows.name))
            }
            Op::Random { bits, count } => write!(out, "random {bits} take {count}"),
            Op::Roll { of, by } => write!(out, "roll %{} by {by}", of.0),
            Op::Head { of, len } => write!(out, "head %{} take {len}", of.0),
            Op::Sort {
                over,
                captured,
                free,
                ..
            } => {
                let free = if *free { " free" } else { "" };
                write!(out, "sort{free} over {}", list(over))?;
                named(out, " capture ", captured)
            }
            Op::Prefix { over, captured, .. } => {
                write!(out, "prefix over {}", list(over))?;
                named(out, " capture ", captured)
            }
            Op::Running {
                reduction,
                of,
                starts,
            } => {
                write!(out, "running {} %{}", reduction.name(), of.0)?;
                named(out, " from ", starts.as_slice())
            }
            Op::Compact { keep, over } => write!(out, "compact %{} over {}", keep.0, list(over)),
            Op::Part(of, index) => write!(out, "part %{}, {index}", of.0),
            Op::Call(name, operands) => write!(out, "call {name} {}", list(operands)),
        }
    }

    fn end_line(&mut self, span: Option<&Span>, brace: &str) -> fmt::Result {
        if let (true, Some(span)) = (self.spans, span) {
            let Span {
                file,
                line,
                column,
                end_column,
            } = span;
            write!(self.out, " @ {}:{line}:{column}-{end_column}", quoted(file))?;
        }
        writeln!(self.out, "{brace}")
    }

    /// The shape, nothing for a scalar.
    fn shape(&self, shape: &Shape) -> String {
        if shape.rank() == 0 {
            String::new()
        } else {
            self.scope.shape(shape)
        }
    }

    /// Name of a party. An unchecked program may refer to a party that does not exist.
    fn party(&self, index: u8) -> &'a str {
        self.program
            .parties
            .get(usize::from(index))
            .map_or("?", String::as_str)
    }
}

/// The kind of a column, as ` as date`; nothing for plain numbers.
fn meaning(kind: &Kind) -> String {
    match kind.is_number() {
        true => String::new(),
        false => format!(" as {kind}"),
    }
}

/// The protection of a result, as ` note "at least 10 rows"`; nothing for none.
fn note(note: &str) -> String {
    match note {
        "" => String::new(),
        note => format!(" note {}", quoted(note)),
    }
}

/// Axes, as `axes 0, 2`.
fn along(axes: &[u32]) -> String {
    let axes = axes.iter().map(u32::to_string).collect::<Vec<_>>();
    format!("axes {}", axes.join(", "))
}

/// The range of a value; nothing for floating point, whose ranges are whole.
fn within(range: Range, ty: Type) -> String {
    match ty {
        Type::Float(_) if ty.magnitudes(range).is_none() => String::new(),
        ty => format!(" in {}", range_text(range, ty)),
    }
}

fn constant(out: &mut String, data: &Data) -> fmt::Result {
    out.push_str("const [");
    for (index, number) in data.numbers().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(out, "{comma}{}", decimal::value_text(number, data.ty))?;
    }
    out.push(']');
    Ok(())
}

fn list(values: &[ValueId]) -> String {
    let values: Vec<String> = values.iter().map(|id| format!("%{}", id.0)).collect();
    values.join(", ")
}

fn named(out: &mut String, word: &str, values: &[ValueId]) -> fmt::Result {
    if values.is_empty() {
        Ok(())
    } else {
        write!(out, "{word}{}", list(values))
    }
}

/// The text in quotes; a quote and a backslash in it have a backslash before them, and a line
/// break is written `\n`.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}
