//! The printer.

use crate::decimal::{self, range_text};
use crate::graph::{Graph, Input, Program, Reduction, Value, ValueId, Visibility};
use crate::infer::Scope;
use crate::kind::Kind;
use crate::op::Look;
use crate::types::{Data, Range, RowId, Shape, Type};
use sealane_diagnostic::{At, Span};
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
    let scope = Scope::of(&program.rows, &[], &[]);
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
            if parts.is_empty() {
                writeln!(self.out, "rows {} <= {}", rows.name, rows.bound)?
            } else {
                writeln!(self.out, "rows {} = {}", rows.name, parts.join(" + "))?
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
        self.out.push_str(value.op.word());
        value.op.look(self)?;
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

    fn part(&mut self, word: &str, part: impl fmt::Display) -> fmt::Result {
        match word {
            "" => write!(self.out, " {part}"),
            "," => write!(self.out, ", {part}"),
            word => write!(self.out, " {word} {part}"),
        }
    }

    fn end_line(&mut self, span: At<'_>, brace: &str) -> fmt::Result {
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

/// The parts of an operation, each with a space or its word before it.
impl Look for Printer<'_> {
    type Error = fmt::Error;

    fn values(&mut self, word: &str, ids: &[ValueId]) -> fmt::Result {
        self.part(word, list(ids))
    }

    fn number<N: Copy + Into<i128>>(&mut self, word: &str, number: &N, _: &str) -> fmt::Result {
        let number: i128 = (*number).into();
        self.part(word, number)
    }

    fn flag(&mut self, word: &str, set: &bool) -> fmt::Result {
        if *set { self.part("", word) } else { Ok(()) }
    }

    fn axes(&mut self, axes: &[u32]) -> fmt::Result {
        let axes = axes.iter().map(u32::to_string).collect::<Vec<_>>();
        self.part("axes", axes.join(", "))
    }

    fn steps(&mut self, dims: &[(u64, i64)]) -> fmt::Result {
        let dims = dims.iter();
        let dims = dims.map(|(length, step)| format!("take {length} step {step}"));
        match &dims.collect::<Vec<_>>()[..] {
            [] => Ok(()),
            dims => self.part("", dims.join(", ")),
        }
    }

    fn reduction(&mut self, reduction: &Reduction) -> fmt::Result {
        self.part("", reduction.name())
    }

    fn rows(&mut self, rows: &RowId) -> fmt::Result {
        let rows = self.program.rows.get(usize::from(rows.0));
        self.part("", rows.map_or("?", |rows| &rows.name))
    }

    fn name(&mut self, name: &str) -> fmt::Result {
        self.part("", name)
    }

    fn data(&mut self, data: &Data) -> fmt::Result {
        self.out.push_str(" [");
        for (index, number) in data.numbers().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let number = decimal::value_text(number, data.ty);
            write!(self.out, "{comma}{number}")?;
        }
        self.out.push(']');
        Ok(())
    }
}

/// The kind of a column, as ` as date`; nothing for plain numbers.
fn meaning(kind: &Kind) -> String {
    if kind.is_number() {
        String::new()
    } else {
        format!(" as {kind}")
    }
}

/// The protection of a result, as ` note "at least 10 rows"`; nothing for none.
fn note(note: &str) -> String {
    match note {
        "" => String::new(),
        note => format!(" note {}", quoted(note)),
    }
}

/// The range of a value; nothing for floating point, whose ranges are whole.
fn within(range: Range, ty: Type) -> String {
    match ty {
        Type::Float(_) if ty.magnitudes(range).is_none() => String::new(),
        ty => format!(" in {}", range_text(range, ty)),
    }
}

fn list(values: &[ValueId]) -> String {
    let values: Vec<String> = values.iter().map(|id| format!("%{}", id.0)).collect();
    values.join(", ")
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
