//! Kinds of columns: the meaning that the elements of an input or a result have in tables.
//!
//! A kind changes no computation. In the graph there are integers and nothing else; a kind is the
//! part of a declaration that says how cells are read as such integers and how integers are written
//! as cells. It stands in the text of the program, so that both parties approve the same meaning.
//!
//! | kind | elements | text form |
//! |---|---|---|
//! | number | any type | nothing |
//! | date | whole days since 1970-01-01, of the years 1 to 9999 | `as date` |
//! | timestamp | whole seconds since 1970-01-01 00:00:00 UTC, of those years | `as timestamp` |
//! | text | bytes along the last dimension, zeros behind the end | `as text utf8` |
//! | category | the place of a name in a public list, from 0 on | `as category "a", "b"` |
//! | missing | truth values: whether the cell of another input is empty | `as missing pay` |
//!
//! `as nullable` before these: a cell may be empty, which reads as the number of the range that is
//! nearest to 0. An input or result of kind `missing` tells those cells apart.

use crate::calendar;
use crate::graph::{Input, Program, Reveal};
use crate::infer::invalid;
use crate::types::{Range, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Result, deceives};
use std::collections::BTreeSet;
use std::fmt;

/// Most names of a category.
pub const MAX_CATEGORIES: usize = 1 << 16;
/// Most bytes of a name of a category, and of a text.
pub const MAX_TEXT: u64 = 4096;

/// The meaning of the elements of an input or a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// The way in which a cell is written.
    pub form: Form,
    /// True if cells may be empty.
    pub nullable: bool,
}

/// The way in which a cell is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A number of the element type.
    #[default]
    Number,
    /// A day of the proleptic Gregorian calendar: `2020-02-29`.
    Date,
    /// A second of UTC: `2020-02-29T12:30:00`.
    Timestamp,
    /// A text of at most as many bytes as the last dimension is long.
    Text(Encoding),
    /// One of these names.
    Category(Vec<String>),
    /// A truth value: whether the cell of the input, or result, of this name is empty.
    Missing(String),
}

/// The way in which letters of a text become bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Characters up to U+007F.
    Ascii,
    /// Characters up to U+00FF, a byte each.
    Latin1,
    /// All characters, one to four bytes each.
    Utf8,
}

impl Encoding {
    const ALL: [Encoding; 3] = [Encoding::Ascii, Encoding::Latin1, Encoding::Utf8];

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Ascii => "ascii",
            Encoding::Latin1 => "latin1",
            Encoding::Utf8 => "utf8",
        }
    }

    /// The bytes of a text; none for a character that the encoding does not have, and for U+0000,
    /// which stands behind the end.
    pub fn encode(self, text: &str) -> Option<Vec<u8>> {
        let fits = |c: char| match self {
            Encoding::Ascii => c.is_ascii(),
            Encoding::Latin1 => u32::from(c) < 256,
            Encoding::Utf8 => true,
        };
        if !text.chars().all(|c| c != '\0' && fits(c)) {
            return None;
        }
        Some(match self {
            Encoding::Latin1 => text.chars().map(|c| u32::from(c) as u8).collect(),
            _ => text.as_bytes().to_vec(),
        })
    }

    /// The text of bytes, without the zeros at the end. Bytes that are no text, which no operation
    /// on texts makes, are replaced by U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> String {
        let end = bytes.iter().rposition(|byte| *byte != 0);
        let bytes = &bytes[..end.map_or(0, |end| end + 1)];
        match self {
            Encoding::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
            _ => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

impl Kind {
    /// The kind of a word of the text form and the texts that follow it; none if there is no such
    /// kind.
    pub fn new(nullable: bool, word: &str, texts: Vec<String>) -> Option<Kind> {
        let form = match (word, &texts[..]) {
            ("number", []) => Form::Number,
            ("date", []) => Form::Date,
            ("timestamp", []) => Form::Timestamp,
            ("text", [name]) => {
                let mut all = Encoding::ALL.into_iter();
                Form::Text(all.find(|encoding| encoding.name() == name)?)
            }
            ("category", [_, ..]) => Form::Category(texts),
            ("missing", [_]) if !nullable => Form::Missing(texts.into_iter().next()?),
            _ => return None,
        };
        Some(Kind { form, nullable })
    }

    /// Returns whether it is that of plain numbers, which the text form does not mention.
    pub fn is_number(&self) -> bool {
        *self == Kind::default()
    }

    /// The name, for people.
    pub fn name(&self) -> &'static str {
        match self.form {
            Form::Number => "numbers",
            Form::Date => "dates",
            Form::Timestamp => "timestamps",
            Form::Text(_) => "texts",
            Form::Category(_) => "categories",
            Form::Missing(_) => "whether a value is missing",
        }
    }

    /// The shape of its cells: a text is one cell.
    pub fn cells<'a>(&self, fixed: &'a [u64]) -> &'a [u64] {
        match (&self.form, fixed) {
            (Form::Text(_), [cells @ .., _]) => cells,
            _ => fixed,
        }
    }

    /// Number of elements that one cell takes, in a value with these fixed dimensions.
    pub fn cell_width(&self, fixed: &[u64]) -> u64 {
        match (&self.form, fixed) {
            (Form::Text(_), [.., bytes]) => *bytes,
            _ => 1,
        }
    }

    /// The number that an empty cell of a nullable input is read as: the one nearest to 0.
    pub fn fill(range: Range) -> i128 {
        0.clamp(range.lo, range.hi)
    }

    /// Checks the kind against the element type, the range and the shape of a value.
    ///
    /// # Errors
    /// They are not those of its elements.
    fn fits(&self, name: &str, ty: Type, shape: &Shape, range: Range) -> Result<()> {
        let integers = matches!(ty, Type::Int { .. });
        let fits = match &self.form {
            Form::Number => true,
            Form::Date => integers && calendar::DAYS.contains(range),
            Form::Timestamp => integers && calendar::SECONDS.contains(range),
            Form::Text(Encoding::Ascii) => text_fits(ty, shape) && range.hi < 128,
            Form::Text(_) => text_fits(ty, shape),
            Form::Category(names) => {
                let hi = names.len() as i128 - 1;
                integers && Range { lo: 0, hi }.contains(range)
            }
            Form::Missing(_) => ty == Type::Bool,
        };
        if let Form::Category(names) = &self.form {
            listed(name, names)?;
        }
        if fits {
            Ok(())
        } else {
            Err(outside(name, self))
        }
    }
}

fn text_fits(ty: Type, shape: &Shape) -> bool {
    let bytes = shape.fixed.last().copied().unwrap_or(0);
    ty == Type::U8 && (1..=MAX_TEXT).contains(&bytes)
}

/// Checks the names of a category.
fn listed(name: &str, names: &[String]) -> Result<()> {
    if names.is_empty() || names.len() > MAX_CATEGORIES {
        let message = format!("`{name}` is one of {} categories", names.len());
        return Err(Diagnostic::new(Code::Limit, message)
            .because(format!("there are 1 to {MAX_CATEGORIES}"))
            .hint("name fewer categories, or declare `sl.text(...)`"));
    }
    let mut seen = BTreeSet::new();
    for category in names {
        let printable = !category.is_empty() && !category.chars().any(deceives);
        if !printable || category.len() as u64 > MAX_TEXT {
            let message = format!("a category of `{name}` is empty, too long or not text");
            return Err(Diagnostic::new(Code::Name, message)
                .because(format!(
                    "it has 1 to {MAX_TEXT} bytes and no characters that nobody sees"
                ))
                .hint("give each category a name that people can read"));
        }
        if !seen.insert(category) {
            let message = format!("`{name}` has the category `{category}` twice");
            let refusal = Diagnostic::new(Code::Name, message);
            return Err(refusal.hint("name each category once"));
        }
    }
    Ok(())
}

/// Refusal of a value that is not always of its kind.
fn outside(name: &str, kind: &Kind) -> Diagnostic {
    let message = format!("`{name}` may hold elements that are no {}", kind.name());
    let finding = Diagnostic::new(Code::ConstantRange, message);
    match kind.form {
        Form::Date | Form::Timestamp => finding
            .because("a date lies between 0001-01-01 and 9999-12-31")
            .hint(
                "keep it there: `sl.minimum(x, datetime.date(9999, 12, 31))`, or reveal the number \
                 of days or seconds",
            ),
        Form::Category(_) => finding
            .because("a category is the place of its name in the list")
            .hint("keep the number in the list: `sl.clip(x, 0, last)`"),
        _ => finding
            .because("a text is bytes along the last dimension, a mask truth values")
            .hint("declare the type that the kind needs"),
    }
}

/// Checks the kind of an input, whose mask refers to an earlier input of the same owner and rows.
///
/// # Errors
/// Its elements are not of that kind, or the input that it refers to is another one.
pub(crate) fn input(program: &Program, input: &Input) -> Result<()> {
    input
        .kind
        .fits(&input.name, input.ty, &input.shape, input.range)?;
    let Form::Missing(of) = &input.kind.form else {
        return Ok(());
    };
    let earlier = program.inputs.iter();
    let mut earlier = earlier.take_while(|earlier| earlier.name != input.name);
    let fits = earlier.any(|base| {
        base.name == *of
            && base.kind.nullable
            && base.owner == input.owner
            && base.shape.rows == input.shape.rows
            && base.kind.cells(&base.shape.fixed) == input.shape.fixed
    });
    if fits {
        Ok(())
    } else {
        Err(invalid(
            "a mask of missing values is for no earlier nullable input of its owner and shape",
        ))
    }
}

/// Checks the kind of a result, whose value has this range and shape.
///
/// # Errors
/// As those of an input; a mask belongs to an earlier result that the same parties learn.
pub(crate) fn result(
    program: &Program,
    reveal: &Reveal,
    shape: &Shape,
    range: Range,
) -> Result<()> {
    reveal.kind.fits(&reveal.name, reveal.ty, shape, range)?;
    let Form::Missing(of) = &reveal.kind.form else {
        return Ok(());
    };
    let earlier = program.results.iter();
    let mut earlier = earlier.take_while(|earlier| earlier.name != reveal.name);
    let fits = earlier.any(|base| {
        let value = program.main.values.get(base.value.0 as usize);
        base.name == *of
            && base.kind.nullable
            && base.to == reveal.to
            && value.is_some_and(|value| {
                value.shape.rows == shape.rows && base.kind.cells(&value.shape.fixed) == shape.fixed
            })
    });
    if fits {
        Ok(())
    } else {
        Err(invalid(
            "a mask of missing values is for no earlier nullable result of its receivers and shape",
        ))
    }
}

/// As in the text form: `date`, `nullable text utf8`, `category "a", "b"`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nullable {
            f.write_str("nullable ")?;
        }
        match &self.form {
            Form::Number => f.write_str("number"),
            Form::Date => f.write_str("date"),
            Form::Timestamp => f.write_str("timestamp"),
            Form::Text(encoding) => write!(f, "text {}", encoding.name()),
            Form::Category(names) => {
                f.write_str("category ")?;
                let quoted = names.iter().map(|name| crate::text::quoted(name));
                f.write_str(&quoted.collect::<Vec<_>>().join(", "))
            }
            Form::Missing(of) => write!(f, "missing {of}"),
        }
    }
}
