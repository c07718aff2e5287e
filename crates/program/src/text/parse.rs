//! Parser of the text form. It accepts text from anybody: every count is bounded before memory is
//! allocated, nesting is bounded before recursion, and every fault is an error with line and
//! column.

use super::cursor::Cursor;
use crate::check::{
    MAX_CONST_ELEMENTS, MAX_INPUTS, MAX_NESTING, MAX_PARTIES, MAX_RANK, MAX_VALUES, check,
};
use crate::decimal;
use crate::float;
use crate::graph::{
    Graph, Input, Op, Program, Reduction, Reveal, RowSymbol, Value, ValueId, Visibility,
};
use crate::infer::Meta;
use crate::kind::{Kind, MAX_CATEGORIES};
use crate::op::Change;
use crate::types::{Data, Range, RowId, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Result, Span};

/// The version of the text form. A change of it, or of the meaning of an operation, is a new one.
pub const VERSION: u32 = 1;
/// Longest text that is read.
pub const MAX_TEXT_BYTES: usize = 16 << 20;

/// Reads a program and checks it. `file` names the text in errors.
///
/// # Errors
/// A syntax error, at its place in the text, or a finding of [`check`], at its place in the source
/// or else in the text.
pub fn parse(text: &str, file: &str) -> Result<Program> {
    let program = parse_unchecked(text, file)?;
    match check(&program) {
        Ok(_) => Ok(program),
        Err(error) if error.span.is_some() => Err(error),
        Err(error) => {
            let located = Parser::new(text, file, true).program()?;
            Err(check(&located).err().unwrap_or(error))
        }
    }
}

/// Reads a program without checking it. For tools that show a broken program; to run one, use
/// [`parse`].
pub fn parse_unchecked(text: &str, file: &str) -> Result<Program> {
    if text.len() > MAX_TEXT_BYTES {
        let message = format!("the program has {} bytes", text.len());
        return Err(Diagnostic::new(Code::Limit, message)
            .because(format!("a text has at most {MAX_TEXT_BYTES}"))
            .hint("split the program, or walk with `sl.map` and `sl.scan`"));
    }
    Parser::new(text, file, false).program()
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    /// Header, as far as it has been read.
    program: Program,
    /// True if values without a place in the source get their place in the text.
    locate: bool,
    /// Values and elements of constants so far.
    values: usize,
    elements: usize,
    /// Numbers of the constant that is being read: the type after them determines their values.
    constant: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: &'a str, locate: bool) -> Parser<'a> {
        Parser {
            cursor: Cursor::new(text, file),
            program: Program::default(),
            locate,
            values: 0,
            elements: 0,
            constant: Vec::new(),
        }
    }

    fn program(mut self) -> Result<Program> {
        self.version()?;
        self.cursor.keyword("name")?;
        self.program.name = self.cursor.word("a name")?.into();
        self.cursor.end_line()?;
        while self.cursor.eat_word("party") {
            self.room("parties", self.program.parties.len(), MAX_PARTIES)?;
            let party = self.cursor.word("a party's name")?.into();
            self.program.parties.push(party);
            self.cursor.end_line()?;
        }
        while self.cursor.eat_word("rows") {
            self.room("row counts", self.program.rows.len(), MAX_PARTIES)?;
            let rows = self.row_count()?;
            self.program.rows.push(rows);
            self.cursor.end_line()?;
        }
        if self.cursor.eat_word("subnormals") {
            self.cursor.keyword("flushed")?;
            self.program.flush_subnormals = true;
            self.cursor.end_line()?;
        }
        while self.cursor.eat_word("input") {
            self.room("inputs", self.program.inputs.len(), MAX_INPUTS)?;
            let input = self.input()?;
            self.program.inputs.push(input);
        }
        self.cursor.keyword("main")?;
        self.program.main = self.block(0)?;
        self.program.main.params = self.program.inputs.len() as u32;
        while self.cursor.eat_word("reveal") {
            self.room("results", self.program.results.len(), MAX_INPUTS)?;
            let reveal = self.reveal()?;
            self.program.results.push(reveal);
        }
        self.cursor.end_text()?;
        Ok(self.program)
    }

    fn version(&mut self) -> Result<()> {
        self.cursor.keyword("sealane")?;
        self.cursor.keyword("program")?;
        let version: u32 = self.cursor.number("a version")?;
        if version != VERSION {
            let message = format!("the text is of version {version}, and this is {VERSION}");
            return Err(self
                .cursor
                .error(message)
                .hint("use the same Sealane on both sides"));
        }
        self.cursor.end_line()
    }

    /// Reads `patients <= 100`, or a sum of row counts that stand before it: `both = here + there`.
    fn row_count(&mut self) -> Result<RowSymbol> {
        let name = self.cursor.word("a name of rows")?.into();
        let mut sum = Vec::new();
        if !self.cursor.eat_sign("=") {
            self.cursor.sign("<=")?;
            let bound = self.cursor.number("a bound")?;
            return Ok(RowSymbol { name, bound, sum });
        }
        let mut bound = 0u64;
        loop {
            self.room("row counts", sum.len(), MAX_PARTIES)?;
            let part = self.cursor.word("a name of rows")?;
            let part = self.rows_called(part)?;
            sum.push(part);
            bound = bound.saturating_add(self.program.rows[usize::from(part.0)].bound);
            if !self.cursor.eat_sign("+") {
                return Ok(RowSymbol { name, bound, sum });
            }
        }
    }

    fn input(&mut self) -> Result<Input> {
        let start = self.cursor.offset();
        let name = self.cursor.word("an input's name")?.into();
        self.cursor.sign(":")?;
        let owner = self.party()?;
        let (ty, shape, range) = self.number_type()?;
        let kind = self.kind()?;
        let mut columns = Vec::new();
        if self.cursor.eat_word("columns") {
            columns.push(self.cursor.string()?);
            while self.cursor.eat_sign(",") {
                columns.push(self.cursor.string()?);
            }
        }
        let span = self.span(start)?;
        self.cursor.end_line()?;
        Ok(Input {
            name,
            owner,
            ty,
            shape,
            range,
            columns,
            kind,
            span,
        })
    }

    /// Reads the kind of a column, if one is named.
    fn kind(&mut self) -> Result<Kind> {
        if !self.cursor.eat_word("as") {
            return Ok(Kind::default());
        }
        let nullable = self.cursor.eat_word("nullable");
        let word = self.cursor.word("a kind of column")?;
        let mut texts = Vec::new();
        match word {
            "category" => {
                texts.push(self.cursor.string()?);
                while self.cursor.eat_sign(",") {
                    self.room("categories", texts.len(), MAX_CATEGORIES)?;
                    texts.push(self.cursor.string()?);
                }
            }
            "text" => texts.push(self.cursor.word("an encoding")?.into()),
            "missing" => texts.push(self.cursor.word("a name")?.into()),
            _ => {}
        }
        let kind = Kind::new(nullable, word, texts).filter(|kind| !kind.is_number());
        kind.ok_or_else(|| self.cursor.error(format!("there is no kind `{word}`")))
    }

    fn reveal(&mut self) -> Result<Reveal> {
        let name = self.cursor.word("a result's name")?.into();
        self.cursor.sign("=")?;
        let value = self.id()?;
        self.cursor.sign(":")?;
        let ty = self.cursor.element_type()?;
        self.cursor.keyword("to")?;
        let mut to = vec![self.party()?];
        while self.cursor.eat_sign(",") {
            to.push(self.party()?);
        }
        let kind = self.kind()?;
        let note = if self.cursor.eat_word("note") {
            self.cursor.string()?
        } else {
            String::new()
        };
        self.cursor.end_line()?;
        Ok(Reveal {
            name,
            value,
            to,
            ty,
            kind,
            note,
        })
    }

    /// Reads a graph in braces. Its parameters are the leading values with the operation `param`.
    fn block(&mut self, depth: usize) -> Result<Graph> {
        if depth > MAX_NESTING {
            return Err(self.limit("bodies inside of one another", MAX_NESTING));
        }
        self.cursor.sign("{")?;
        self.cursor.end_line()?;
        let mut graph = Graph::default();
        while !self.cursor.eat_sign("}") {
            if self.cursor.eat_word("return") {
                graph.returns = self.ids()?;
                self.cursor.end_line()?;
                self.cursor.sign("}")?;
                break;
            }
            let value = self.value(graph.values.len(), depth)?;
            graph.values.push(value);
        }
        self.cursor.end_line()?;
        let parameter = |value: &&Value| matches!(value.op, Op::Param(_));
        graph.params = graph.values.iter().take_while(parameter).count() as u32;
        Ok(graph)
    }

    fn value(&mut self, index: usize, depth: usize) -> Result<Value> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.limit("values", MAX_VALUES));
        }
        let start = self.cursor.offset();
        if self.id()?.0 as usize != index {
            return Err(self.cursor.error(format!("the next value is %{index}")));
        }
        self.cursor.sign("=")?;
        let word = self.cursor.word("an operation")?;
        let op = Op::blank(word);
        let mut op =
            op.ok_or_else(|| self.cursor.error(format!("there is no operation `{word}`")))?;
        op.change(self)?;
        self.cursor.sign(":")?;
        let meta = self.signature()?;
        if let Op::Const(data) = &mut op {
            let texts = std::mem::take(&mut self.constant);
            let numbers = texts.iter().map(|text| stored(text, meta.ty));
            let numbers = numbers.collect::<Option<Vec<i128>>>();
            let typed =
                numbers.and_then(|all| Data::from_numbers(meta.ty, meta.shape.fixed.clone(), &all));
            *data = typed.filter(|_| meta.shape.rows.is_none()).ok_or_else(|| {
                self.cursor
                    .error("the numbers of a constant are not what its type says".into())
            })?;
        }
        let span = self.span(start)?;
        match op.body_mut() {
            Some(body) => *body = self.block(depth + 1)?,
            None => self.cursor.end_line()?,
        }
        Ok(Value::new(op, meta, span))
    }

    /// Finds a symbolic row count by its name.
    fn rows_called(&self, name: &str) -> Result<RowId> {
        let index = self.program.rows.iter().position(|rows| rows.name == name);
        let index = index.and_then(|index| u16::try_from(index).ok());
        let known = index.ok_or_else(|| self.cursor.error(format!("no rows are called `{name}`")));
        known.map(RowId)
    }

    fn signature(&mut self) -> Result<Meta> {
        let (ty, shape, range) = self.number_type()?;
        let visibility = match self.cursor.word("`public`, `known` or `secret`")? {
            "public" => Visibility::Public,
            "secret" => Visibility::Secret,
            "known" => Visibility::Known(self.party()?),
            _ => {
                return Err(self
                    .cursor
                    .error("it is `public`, `known` or `secret`".into()));
            }
        };
        Ok(Meta::new(ty, shape, range, visibility))
    }

    /// Type, shape and range: `u16[patients, 30] in 0..510`.
    fn number_type(&mut self) -> Result<(Type, Shape, Range)> {
        let ty = self.cursor.element_type()?;
        let shape = self.shape()?;
        if ty.is_float() {
            if !self.cursor.eat_word("in") {
                return Ok((ty, shape, ty.range()));
            }
            self.cursor.keyword("magnitudes")?;
        } else {
            self.cursor.keyword("in")?;
        }
        let lo = self.end(ty, "the smallest value")?;
        self.cursor.sign("..")?;
        let hi = self.end(ty, "the largest value")?;
        Ok((ty, shape, Range { lo, hi }))
    }

    /// An end of a range of `ty`.
    fn end(&mut self, ty: Type, what: &str) -> Result<i128> {
        let text = match ty {
            Type::Float(_) => self.cursor.constant(what)?,
            _ => self.cursor.decimal(what)?,
        };
        stored(text, ty).ok_or_else(|| self.cursor.error(format!("{text} is no number of {ty}")))
    }

    fn shape(&mut self) -> Result<Shape> {
        let mut shape = Shape::scalar();
        if !self.cursor.eat_sign("[") {
            return Ok(shape);
        }
        loop {
            if self.cursor.at_digit() {
                shape.fixed.push(self.cursor.number("a dimension")?);
            } else {
                let name = self.cursor.word("a dimension")?;
                let rows = self.rows_called(name)?;
                if shape.rank() > 0 {
                    return Err(self.cursor.error("only axis 0 is symbolic".into()));
                }
                shape.rows = Some(rows);
            }
            if shape.rank() > MAX_RANK {
                return Err(self.limit("dimensions", MAX_RANK));
            }
            if !self.cursor.eat_sign(",") {
                self.cursor.sign("]")?;
                return Ok(shape);
            }
        }
    }

    fn party(&mut self) -> Result<u8> {
        let name = self.cursor.word("a party's name")?;
        let index = self.program.parties.iter().position(|party| party == name);
        let index = index.and_then(|index| u8::try_from(index).ok());
        index.ok_or_else(|| self.cursor.error(format!("no party is called `{name}`")))
    }

    fn id(&mut self) -> Result<ValueId> {
        self.cursor.sign("%")?;
        Ok(ValueId(self.cursor.number("the number of a value")?))
    }

    /// Reads the comma or the word before a part, if there is one.
    fn before(&mut self, word: &str) -> Result<()> {
        match word {
            "" => Ok(()),
            "," => self.cursor.sign(","),
            word => self.cursor.keyword(word),
        }
    }

    fn ids(&mut self) -> Result<Vec<ValueId>> {
        let mut ids = vec![self.id()?];
        while self.cursor.eat_sign(",") {
            ids.push(self.id()?);
        }
        Ok(ids)
    }

    /// Reads the place in the source, if the text has one.
    fn span(&mut self, start: usize) -> Result<Option<Span>> {
        if !self.cursor.eat_sign("@") {
            return Ok(self.locate.then(|| self.cursor.since(start)));
        }
        let file = self.cursor.string()?;
        self.cursor.sign(":")?;
        let line = self.cursor.number("a line")?;
        self.cursor.sign(":")?;
        let column = self.cursor.number("a column")?;
        self.cursor.sign("-")?;
        let end_column = self.cursor.number("a column")?;
        Ok(Some(Span::new(file, line, column, end_column)))
    }

    /// Checks that one more item is allowed, before it is read: names are looked up in lists, so
    /// that the time of reading stays proportional to the length of the text.
    fn room(&self, what: &str, count: usize, most: usize) -> Result<()> {
        if count < most {
            Ok(())
        } else {
            Err(self.limit(what, most))
        }
    }

    fn limit(&self, what: &str, most: usize) -> Diagnostic {
        let error = self
            .cursor
            .error(format!("there can be at most {most} {what}"));
        Diagnostic {
            code: Code::Limit,
            ..error
        }
    }
}

/// The parts of an operation, in the order of the text.
impl Change for Parser<'_> {
    type Error = Diagnostic;

    fn value(&mut self, word: &str, id: &mut ValueId) -> Result<()> {
        self.before(word)?;
        *id = self.id()?;
        Ok(())
    }

    fn values(&mut self, word: &str, ids: &mut Vec<ValueId>) -> Result<()> {
        self.before(word)?;
        *ids = self.ids()?;
        Ok(())
    }

    fn some(&mut self, word: &str, ids: &mut Vec<ValueId>) -> Result<()> {
        if self.cursor.eat_word(word) {
            *ids = self.ids()?;
        }
        Ok(())
    }

    fn option(&mut self, word: &str, id: &mut Option<ValueId>) -> Result<()> {
        if self.cursor.eat_word(word) {
            *id = Some(self.id()?);
        }
        Ok(())
    }

    fn number<N: TryFrom<i128>>(&mut self, word: &str, number: &mut N, what: &str) -> Result<()> {
        self.before(word)?;
        *number = self.cursor.number(what)?;
        Ok(())
    }

    fn flag(&mut self, word: &str, set: &mut bool) -> Result<()> {
        *set = self.cursor.eat_word(word);
        Ok(())
    }

    fn axes(&mut self, axes: &mut Vec<u32>) -> Result<()> {
        self.cursor.keyword("axes")?;
        axes.push(self.cursor.number("an axis")?);
        while self.cursor.eat_sign(",") {
            axes.push(self.cursor.number("an axis")?);
            if axes.len() > MAX_RANK {
                return Err(self.limit("dimensions", MAX_RANK));
            }
        }
        Ok(())
    }

    fn steps(&mut self, dims: &mut Vec<(u64, i64)>) -> Result<()> {
        while self.cursor.eat_word("take") {
            let length = self.cursor.number("a number of elements")?;
            self.cursor.keyword("step")?;
            dims.push((length, self.cursor.number("a step")?));
            if dims.len() > MAX_RANK {
                return Err(self.limit("dimensions", MAX_RANK));
            }
            if !self.cursor.eat_sign(",") {
                break;
            }
        }
        Ok(())
    }

    fn reduction(&mut self, reduction: &mut Reduction) -> Result<()> {
        let found = Reduction::named(self.cursor.word("a reduction")?);
        *reduction = found.ok_or_else(|| self.cursor.error("no such reduction".into()))?;
        Ok(())
    }

    fn rows(&mut self, rows: &mut RowId) -> Result<()> {
        let name = self.cursor.word("the rows of a table")?;
        *rows = self.rows_called(name)?;
        Ok(())
    }

    fn name(&mut self, name: &mut String) -> Result<()> {
        *name = self.cursor.word("a function's name")?.into();
        Ok(())
    }

    fn data(&mut self, _: &mut Data) -> Result<()> {
        self.cursor.sign("[")?;
        self.constant = vec![self.cursor.constant("a number")?];
        while self.cursor.eat_sign(",") {
            self.constant.push(self.cursor.constant("a number")?);
            if self.elements + self.constant.len() > MAX_CONST_ELEMENTS {
                return Err(self.limit("elements of constants", MAX_CONST_ELEMENTS));
            }
        }
        self.cursor.sign("]")?;
        self.elements += self.constant.len();
        Ok(())
    }
}

/// Parses the stored number of a decimal, if `ty` has it exactly; in floating point, of its text.
fn stored(text: &str, ty: Type) -> Option<i128> {
    if let Type::Float(format) = ty {
        // The text of a number of this type: no other text stands for it.
        let stored = float::parse(text, format).ok()?.stored;
        return (float::text(stored, format) == text).then_some(stored);
    }
    let nearest = decimal::parse(text, ty.fraction()).ok()?;
    nearest.exact.then_some(nearest.stored)
}
