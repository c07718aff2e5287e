//! Interface of a program: its inputs with their owners, and its results with their receivers.

use super::{Builder, Made, Operand, within};
use crate::check;
use crate::graph::{Graph, Input, Op, Program, Reveal, RowSymbol};
use crate::kind::Kind;
use crate::types::{Data, RowId, Type};
use sealane_diagnostic::{At, Code, Diagnostic, Result};

impl Builder {
    /// A program of that name without parties.
    pub fn new(name: &str) -> Result<Builder> {
        check::name("a program", name)?;
        let program = Program {
            name: name.into(),
            ..Program::default()
        };
        let mut builder = Builder {
            program,
            open: Vec::new(),
            opened: 0,
            values: 0,
            elements: 0,
            called: Vec::new(),
            literals: Vec::new(),
            rounded: Vec::new(),
        };
        builder.enter(None)?;
        Ok(builder)
    }

    /// Lets the program read and write floating point below the normal numbers as zeros of their
    /// sign, which takes fewer gates.
    pub fn flush_subnormals(&mut self) {
        self.program.flush_subnormals = true;
    }

    /// Declares the next party and returns its index.
    pub fn party(&mut self, name: &str) -> Result<u8> {
        check::name("a party", name)?;
        check::unique(
            "party",
            name,
            self.program.parties.iter().all(|party| party != name),
        )?;
        let index = self.program.parties.len();
        within("parties", index, check::MAX_PARTIES)?;
        self.program.parties.push(name.into());
        Ok(index as u8)
    }

    /// Declares a number of rows from 1 to `bound` that is known at run time.
    pub fn rows(&mut self, name: &str, bound: u64) -> Result<RowId> {
        self.declare_rows(RowSymbol {
            name: name.into(),
            bound,
            sum: Vec::new(),
        })
    }

    /// Upper bound of a number of rows that was declared.
    pub fn bound(&self, name: &str) -> Option<u64> {
        let mut rows = self.program.rows.iter();
        rows.find(|rows| rows.name == name).map(|rows| rows.bound)
    }

    pub(super) fn declare_rows(&mut self, rows: RowSymbol) -> Result<RowId> {
        check::row_count(&rows)?;
        let mut known = self.program.rows.iter();
        let new = known.all(|other| other.name != rows.name);
        check::unique("row count", &rows.name, new)?;
        check::sum_of_rows(&self.program.rows, &rows)?;
        let index = self.program.rows.len();
        within("row counts", index, check::MAX_PARTIES)?;
        self.program.rows.push(rows);
        Ok(RowId(index as u16))
    }

    /// Declares the next input. All inputs come before the first operation.
    pub fn input(&mut self, input: Input) -> Made {
        let at = input.span.clone();
        self.declare(input).map_err(|error| error.at(at.as_ref()))
    }

    fn declare(&mut self, input: Input) -> Made {
        check::input(&self.program, &input)?;
        let new = self
            .program
            .inputs
            .iter()
            .all(|other| other.name != input.name);
        check::unique("input", &input.name, new)?;
        let index = self.program.inputs.len();
        within("inputs", index, check::MAX_INPUTS)?;
        if self.open.len() > 1 || self.top().values.len() != index {
            let message = format!("input {} is declared after an operation", input.name);
            return Err(Diagnostic::new(Code::InvalidProgram, message)
                .hint("declare all inputs before the first operation"));
        }
        let meta = check::parameter(&input);
        let id = self.append(Op::Param(index as u32), meta, input.span.as_ref())?;
        self.program.inputs.push(input);
        Ok(self.handle(id))
    }

    /// Adds an array of the program's source. It keeps its type, as a NumPy array does.
    pub fn constant(&mut self, data: Data, at: At<'_>) -> Made {
        self.operate(Op::Const(data), at)
    }

    /// Adds a number with a type, such as `sl.u8(3)`.
    pub fn scalar(&mut self, ty: Type, number: i128, at: At<'_>) -> Made {
        self.number(ty, number, at).map(|id| self.handle(id))
    }

    /// Reveals `value` to the parties `to` as result `name` of the declared type. A value of
    /// another type is converted if its range fits.
    pub fn reveal(
        &mut self,
        name: &str,
        value: Operand,
        to: &[u8],
        ty: Type,
        at: At<'_>,
    ) -> Result<()> {
        self.reveal_as(name, value, to, ty, (Kind::default(), String::new()), at)
    }

    /// Reveals a value as [`Builder::reveal`] does, whose elements have this meaning in tables and
    /// whose author declares this protection ([`Reveal::note`]).
    pub fn reveal_as(
        &mut self,
        name: &str,
        value: Operand,
        to: &[u8],
        ty: Type,
        (kind, note): (Kind, String),
        at: At<'_>,
    ) -> Result<()> {
        let located = |error: Diagnostic| error.at(at);
        if self.open.len() > 1 {
            let message = format!("result {name} is revealed inside of a body");
            let refused = Diagnostic::new(Code::Body, message);
            return Err(located(refused.hint("end the body first")));
        }
        let value = match value {
            Operand::Int(number) => self.number(ty, number, at)?,
            Operand::Literal(literal) => self.literal_beside(literal, Some(ty), at)?,
            Operand::Value(handle) => {
                let id = self.resolve(handle).map_err(located)?;
                self.fit(id, ty, &format!("the result `{name}`"), at)?
            }
        };
        let mut to = to.to_vec();
        to.sort_unstable();
        to.dedup();
        let reveal = Reveal {
            name: name.into(),
            value,
            to,
            ty,
            kind,
            note,
        };
        let new = self.program.results.iter().all(|other| other.name != name);
        check::unique("result", name, new).map_err(located)?;
        within("results", self.program.results.len(), check::MAX_INPUTS)?;
        self.program.results.push(reveal);
        Ok(())
    }

    /// Returns the program, checked like one from a file, and the warnings about it.
    pub fn finish(mut self) -> Result<(Program, Vec<Diagnostic>)> {
        let main = match self.open.pop() {
            Some(main) if self.open.is_empty() => main,
            _ => {
                let message = "the trace ended inside of a body";
                return Err(Diagnostic::new(Code::Body, message).hint("end each body that begins"));
            }
        };
        let params = self.program.inputs.len() as u32;
        self.program.main = Graph {
            params,
            values: main.values,
            returns: Vec::new(),
        };
        let mut warnings = self.rounded;
        warnings.extend(check::check(&self.program)?);
        Ok((self.program, warnings))
    }
}
