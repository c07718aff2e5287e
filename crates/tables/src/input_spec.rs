//! Requirements of an input on a table, and the checks that all formats share.

use crate::cell::{self, Cell};
use crate::number::{Number, Unfit};
use crate::read_from_it;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::decimal::{self, Nearest};
use sealane_program::graph::{Input, Program, RowSymbol};
use sealane_program::kind::Form;
use sealane_program::types::{Data, Range, Type, make_room};
use std::collections::HashMap;
use zeroize::Zeroizing;

/// Requirements of an input: its type, shape, columns and range, and the bound on its rows.
#[derive(Clone, Copy)]
pub struct InputSpec<'a> {
    /// The input.
    pub input: &'a Input,
    /// Row count of its first dimension, if it has rows.
    pub rows: Option<&'a RowSymbol>,
}

impl<'a> InputSpec<'a> {
    /// Makes the requirements of an input of a program.
    pub fn of(program: &'a Program, input: &'a Input) -> InputSpec<'a> {
        let rows = input.shape.rows.map(|id| &program.rows[usize::from(id.0)]);
        InputSpec { input, rows }
    }

    /// Number of records that fill it, where the program fixes that.
    pub(crate) fn records(&self) -> Option<u64> {
        self.layout().0
    }

    /// Number of elements of each of its records.
    pub(crate) fn width(&self) -> u64 {
        self.cells() * self.cell_width()
    }

    /// Number of columns of each of its records.
    pub(crate) fn cells(&self) -> u64 {
        self.layout().1
    }

    /// Number of elements of one cell: the bytes of a text, and 1 for anything else.
    pub(crate) fn cell_width(&self) -> u64 {
        self.input.kind.cell_width(&self.input.shape.fixed)
    }

    /// Number of records, none where only the table determines it, and columns of each. A fixed
    /// dimension with column names becomes one record.
    fn layout(&self) -> (Option<u64>, u64) {
        let fixed = self.input.kind.cells(&self.input.shape.fixed);
        let product = |dims: &[u64]| dims.iter().product::<u64>();
        match (self.input.shape.rows, fixed.split_first()) {
            (Some(_), _) => (None, product(fixed)),
            (None, None) => (Some(1), 1),
            (None, Some(_)) if self.input.columns.len() as u64 == product(fixed) => {
                (Some(1), product(fixed))
            }
            (None, Some((first, rest))) => (Some(*first), product(rest)),
        }
    }

    /// The dimensions of the cells of one record.
    pub(crate) fn record_dims(&self) -> &'a [u64] {
        let fixed = self.input.kind.cells(&self.input.shape.fixed);
        match self.layout() {
            (Some(records), _) if fixed.first() == Some(&records) => &fixed[1..],
            _ => fixed,
        }
    }

    /// Shape of the data once the number of records is known.
    pub(crate) fn shape(&self, records: u64) -> Vec<u64> {
        let rows = self.input.shape.rows.map(|_| records);
        let fixed = self.input.shape.fixed.iter().copied();
        rows.into_iter().chain(fixed).collect()
    }

    /// Refuses a table with a number of records that the input cannot take. `at_least` means that
    /// the table has more records after them.
    pub(crate) fn check_records(
        &self,
        table: &str,
        records: u64,
        at_least: bool,
    ) -> Result<(), Diagnostic> {
        let has = |limit: u64| {
            if at_least {
                format!("{table} has more than {limit} records")
            } else {
                format!("{table} has {records} records")
            }
        };
        match (self.records(), self.rows) {
            (Some(want), _) if records > want || (records < want && !at_least) => {
                let message = format!("{} where `{}` wants {want}", has(want), self.input.name);
                Err(Diagnostic::new(Code::DataRows, message)
                    .because("the program fixes this dimension")
                    .hint(match want {
                        1 => format!(
                            "give exactly one row; a value that stands beside a table comes in a \
                             file of its own, `--input {}=FILE`",
                            self.input.name
                        ),
                        _ => "give exactly that many rows".to_string(),
                    }))
            }
            (None, Some(RowSymbol { name, bound, .. })) if records > *bound => {
                let message = format!("{}, too many for `{}`", has(*bound), self.input.name);
                Err(Diagnostic::new(Code::DataRows, message)
                    .because(format!("the program says `{name} <= {bound}`"))
                    .hint(format!("give at most {bound} rows")))
            }
            _ => Ok(()),
        }
    }
}

impl From<Data> for Loaded {
    fn from(data: Data) -> Loaded {
        Loaded {
            data,
            rounded: 0,
            by_position: vec![],
            decomposed: None,
            without_end: None,
        }
    }
}

/// An input that was read.
pub struct Loaded {
    /// Its elements, each within the declared range.
    pub data: Data,
    /// Number of elements that were rounded to the nearest number of their type.
    pub rounded: u64,
    /// Names of the columns that were assigned by position, because the signature names none.
    pub by_position: Vec<String>,
    /// First row with a text that is not in NFC.
    pub decomposed: Option<u64>,
    /// Name of the table, if it is one of lines and its last line has no end.
    pub without_end: Option<String>,
}

/// An input being read: its columns in a table, and the elements of the records read so far.
pub(crate) struct Filling<'a> {
    pub(crate) want: InputSpec<'a>,
    /// Indices of its columns in the table.
    pub(crate) columns: Vec<usize>,
    /// Elements. Erased on drop, also if a later cell is refused.
    pub(crate) loaded: Loaded,
    /// Number of elements that have been set.
    put: usize,
    /// The places of its categories by their names.
    pub(crate) categories: HashMap<&'a str, i128>,
}

impl<'a> Filling<'a> {
    pub(crate) fn new(want: InputSpec<'a>, columns: Vec<usize>) -> Filling<'a> {
        let (ty, shape, elements) = (want.input.ty, vec![], vec![]);
        let loaded = Loaded::from(Data {
            ty,
            shape,
            elements,
        });
        let categories = match &want.input.kind.form {
            Form::Category(names) => names.iter().map(String::as_str).zip(0..).collect(),
            _ => HashMap::new(),
        };
        let put = 0;
        Filling {
            want,
            columns,
            loaded,
            put,
            categories,
        }
    }

    /// Makes an input that is given as a whole, in its shape.
    pub(crate) fn whole(want: InputSpec<'a>, shape: Vec<u64>) -> Filling<'a> {
        let mut filling = Filling::new(want, vec![]);
        let count = element_count(&shape).unwrap_or(0);
        filling.elements().resize(count as usize, 0);
        filling.loaded.data.shape = shape;
        filling
    }

    fn elements(&mut self) -> &mut Vec<u64> {
        &mut self.loaded.data.elements
    }

    /// Makes room for `records` more records, and returns the index of its first element.
    pub(crate) fn grow(&mut self, records: usize) -> usize {
        let more = records * self.want.width() as usize;
        let elements = self.elements();
        let start = elements.len();
        make_room(elements, more);
        elements.resize(start + more, 0);
        start
    }

    /// Sets element `at` to a number. `place` states its origin, as in "in row 7".
    pub(crate) fn put(
        &mut self,
        at: usize,
        number: Number<'_>,
        place: impl Fn() -> String,
    ) -> Result<(), Diagnostic> {
        let input = self.want.input;
        match number.stored(input.ty) {
            Ok(nearest) if self.put_stored(at, nearest) => Ok(()),
            Err(unfit) if !is_out_of_range(input, unfit) => {
                let text = match number {
                    Number::Written(text) => format!("`{text}`"),
                    _ => number.text(),
                };
                Err(not_a_number(input, unfit, &text, &place()))
            }
            _ => {
                let text = match number {
                    Number::Int(days) if !matches!(input.kind.form, Form::Category(_)) => {
                        cell::number_text(&input.kind, days)
                    }
                    _ => None,
                };
                let text = text.unwrap_or_else(|| number.text());
                Err(out_of_range(input, &text, &place()))
            }
        }
    }

    /// Sets element `at` to a stored number, unless it is outside the range of the input.
    pub(crate) fn put_stored(&mut self, at: usize, nearest: Nearest) -> bool {
        let input = self.want.input;
        let fits = input.ty.admits(input.range, nearest.stored);
        if fits {
            self.elements()[at] = nearest.stored as u64;
            self.put += 1;
            self.loaded.rounded += u64::from(!nearest.exact);
        }
        fits
    }

    /// Returns the input, once `records` records of `table` have been read.
    pub(crate) fn finish(mut self, table: &str, records: u64) -> Result<Loaded, Diagnostic> {
        self.want.check_records(table, records, false)?;
        self.loaded.data.shape = self.want.shape(records);
        self.loaded()
    }

    /// Returns the input if all of its elements have been set. An element that a reader skipped
    /// would be an unintended zero, so this is checked.
    pub(crate) fn loaded(mut self) -> Result<Loaded, Diagnostic> {
        let elements = self.elements().len();
        if self.put != elements {
            let name = &self.want.input.name;
            let read = format!("{} of {elements} elements of `{name}`", self.put);
            let message = format!("internal error: {read} were read");
            return Err(Diagnostic::new(Code::Internal, message)
                .because("a number that nobody gave would stand in place of the others")
                .hint("please report this with the program and the versions"));
        }
        Ok(self.loaded)
    }
}

/// Reads the numbers of an array in memory, in C order, for an input that takes all of it.
///
/// # Errors
/// The numbers do not match the declaration of the input; the error names the index of the element.
pub fn array<'n>(
    want: InputSpec<'_>,
    dims: &[u64],
    numbers: impl IntoIterator<Item = Number<'n>>,
) -> Result<Loaded, Diagnostic> {
    if !has_shape(want.input, dims) {
        return Err(wrong_shape(want.input, dims, ""));
    }
    let mut filling = Filling::whole(want, dims.to_vec());
    for (at, number) in (0..filling.elements().len()).zip(numbers) {
        filling.put(at, number, || element(dims, at))?;
    }
    filling.loaded()
}

/// Reads cells of an array in memory, in C order, for an input of another kind than numbers. None
/// is an empty cell.
///
/// # Errors
/// The cells do not match the declaration of the input; the error names the index of the cell.
pub fn cells<'n>(
    want: InputSpec<'_>,
    dims: &[u64],
    cells: impl IntoIterator<Item = Option<Cell<'n>>>,
) -> Result<Loaded, Diagnostic> {
    let width = want.cell_width();
    let mut whole = dims.to_vec();
    if let Form::Text(_) = want.input.kind.form {
        whole.push(width);
    }
    if !has_shape(want.input, &whole) {
        return Err(wrong_shape(want.input, &whole, ""));
    }
    let mut filling = Filling::whole(want, whole);
    let count = element_count(dims).unwrap_or(0) as usize;
    for (index, cell) in (0..count).zip(cells) {
        let at = index * width as usize;
        let kind = &want.input.kind;
        match (cell, &kind.form) {
            (cell, Form::Missing(_)) => filling.put_missing(at, cell.is_none()),
            (Some(cell), _) => filling.put_cell(at, cell, || element(dims, index))?,
            (None, _) if kind.nullable => filling.put_null(at),
            (None, _) => return Err(no_value(want.input, &element(dims, index))),
        }
    }
    filling.loaded()
}

/// Makes the refusal of an empty cell; `place` states its position, as in "in row 7".
pub(crate) fn no_value(input: &Input, place: &str) -> Diagnostic {
    let message = format!("there is no value for `{}` {place}", input.name);
    Diagnostic::new(Code::DataNull, message.trim_end())
        .because("a secret cannot be missing: every row takes part")
        .hint(FILL_IN)
}

/// Hint for a missing value.
pub(crate) const FILL_IN: &str = "fill the value in, or declare `sl.nullable(...)`, or drop the row \
                                  in the tables of all parties";

/// Reads an array of 64-bit integers in memory, in C order, for an input that takes all of it:
/// [`array()`], but all elements at once where every one of them is in the range of the input, and
/// without a copy then.
///
/// # Errors
/// As those of [`array()`].
pub fn integers(
    want: InputSpec<'_>,
    dims: &[u64],
    mut words: Zeroizing<Vec<u64>>,
    signed: bool,
) -> Result<Loaded, Diagnostic> {
    let input = want.input;
    let number = |word: u64| {
        if signed {
            (word as i64).into()
        } else {
            word.into()
        }
    };
    // The order of the words themselves, which vectorises; that of their numbers does not.
    let flip = u64::from(signed) << 63;
    let ends = (words.iter()).fold((u64::MAX, 0), |(lo, hi), word| {
        (lo.min(word ^ flip), hi.max(word ^ flip))
    });
    let (lo, hi) = (number(ends.0 ^ flip), number(ends.1 ^ flip));
    let count = element_count(dims) == Some(words.len() as u64);
    let fits = count && has_shape(input, dims) && input.range.contains(Range { lo, hi });
    let converted = input.ty.is_fixed() || input.ty.is_float();
    if converted || words.is_empty() || !fits {
        let numbers = words.iter().map(|word| Number::Int(number(*word)));
        return array(want, dims, numbers);
    }
    Ok(Loaded::from(Data {
        ty: input.ty,
        shape: dims.to_vec(),
        elements: std::mem::take(&mut *words),
    }))
}

/// Position of an element of an array, as in NumPy: "at element 7", "at element [2, 1]", and empty
/// for a single number.
pub(crate) fn element(dims: &[u64], at: usize) -> String {
    match dims {
        [] => return String::new(),
        [_] => return format!("at element {at}"),
        _ => {}
    }
    let mut rest = at as u64;
    let index = dims.iter().rev().map(|length| {
        let index = rest % (*length).max(1);
        rest /= (*length).max(1);
        index
    });
    let mut index = index.collect::<Vec<_>>();
    index.reverse();
    format!("at element {index:?}")
}

/// Returns whether a refused number is outside the range of an input, apart from any other fault.
pub(crate) fn is_out_of_range(input: &Input, unfit: Unfit) -> bool {
    match unfit {
        Unfit::TooLarge => true,
        Unfit::Inexact(number) | Unfit::Abbreviated(number) => {
            !input.ty.admits(input.range, number)
        }
        Unfit::NotANumber | Unfit::NotWhole | Unfit::NotFinite => false,
    }
}

/// Makes the refusal of a number that the type of an input does not have. `place` states its
/// position, as in "in row 7".
pub(crate) fn not_a_number(input: &Input, unfit: Unfit, value: &str, place: &str) -> Diagnostic {
    let value = [value, place].join(" ");
    let value = value.trim_end();
    let inexact = |reason: &str, hint: &str| {
        let message = format!("{value} may be another whole number that was rounded");
        Diagnostic::new(Code::DataInexact, message)
            .because(reason)
            .hint(hint)
    };
    match unfit {
        Unfit::Inexact(_) => inexact(
            "floating point has no number of its own for every whole number of this size",
            "give integers: an array or column of an integer type, or text without a point",
        ),
        Unfit::Abbreviated(_) => inexact(
            "its exponent stands for digits that are not written",
            "write all digits of the number, as a spreadsheet does for the cell format `0`",
        ),
        _ => {
            let hint = if unfit == Unfit::NotWhole {
                NOT_WHOLE
            } else {
                FILL_IN
            };
            let message = format!("{value} is not {}", kind(input.ty));
            let finding = Diagnostic::new(Code::DataNotANumber, message);
            finding.because(read_from_it(input)).hint(hint)
        }
    }
}

/// Hint for a fraction where the program has none.
pub(crate) const NOT_WHOLE: &str = "scale the column to whole numbers and state the unit in its \
                                    name, or declare the input as `sl.fixed(...)` or `sl.f32`";

/// Name of the elements of a type, for people.
pub(crate) fn kind(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "a truth value (0, 1, true or false)",
        Type::Int { .. } => "a whole number",
        Type::Fixed { .. } => "a decimal",
        Type::Float(_) => "a number",
    }
}

/// Checks data that did not come from a table: shape, number of elements, ranges. Their integer
/// type need not be the declared one, since only the stored numbers count.
///
/// # Errors
/// They do not match the declaration of the input.
pub fn check(input: &Input, data: &Data) -> Result<(), Diagnostic> {
    let count = element_count(&data.shape);
    if !has_shape(input, &data.shape) || count != Some(data.elements.len() as u64) {
        return Err(wrong_shape(input, &data.shape, ""));
    }
    for (i, number) in data.numbers().enumerate() {
        check_range(input, number, || element(&data.shape, i))?;
    }
    Ok(())
}

/// Checks a number against the declared range; a run goes on only if all pass.
// It has a stack frame of its own, by which the check of secrets tells this branch from all others.
#[inline(never)]
fn check_range(
    input: &Input,
    number: i128,
    place: impl FnOnce() -> String,
) -> Result<(), Diagnostic> {
    if input.ty.admits(input.range, number) {
        return Ok(());
    }
    let value = decimal::value_text(number, input.ty);
    Err(out_of_range(input, &value, &place()))
}

/// The product of dimensions; none above `u64`.
pub(crate) fn element_count(dims: &[u64]) -> Option<u64> {
    let mut dims = dims.iter();
    dims.try_fold(1u64, |product, &length| product.checked_mul(length))
}

/// Returns whether dimensions match those that an input declares, for any number of rows.
pub(crate) fn has_shape(input: &Input, dims: &[u64]) -> bool {
    let rows = usize::from(input.shape.rows.is_some());
    dims.get(rows..) == Some(&input.shape.fixed[..])
}

pub(crate) fn wrong_shape(input: &Input, dims: &[u64], place: &str) -> Diagnostic {
    let rows = input.shape.rows.map(|_| "rows".to_string());
    let fixed = input.shape.fixed.iter().map(u64::to_string);
    let declared = rows.into_iter().chain(fixed).collect::<Vec<_>>().join(", ");
    let (declared, hint) = match &*declared {
        "" => (
            "a single value".to_string(),
            "give one number, not an array",
        ),
        _ => (format!("[{declared}]"), "give an array of that shape"),
    };
    let message = format!("`{}` has the shape {dims:?}{place}", input.name);
    Diagnostic::new(Code::DataShape, message)
        .at(input.span.as_ref())
        .because(format!("the program says {declared}"))
        .hint(hint)
}

/// Checks a number against the declared range; `place` completes the sentence "`x` is 7 …, outside
/// 0 to 5".
pub(crate) fn out_of_range(input: &Input, value: &str, place: &str) -> Diagnostic {
    let refused = |how: &str, reason: &str, hint: &str| {
        let found = [value, place].join(" ");
        let message = format!("`{}` is {}, {how}", input.name, found.trim_end());
        let finding = Diagnostic::new(Code::DataRange, message);
        finding.because(reason).hint(hint)
    };
    if let Some(Range { lo, hi }) = input.ty.magnitudes(input.range) {
        let [lo, hi] = [lo, hi].map(|end| decimal::value_text(end, input.ty));
        return refused(
            &format!("neither 0 nor of a magnitude from {lo} to {hi}"),
            "the program declares these magnitudes, and its sums have room for no others",
            "mend the value, or declare more magnitudes in the program",
        );
    }
    if input.ty.is_float() {
        return refused(
            &format!("beyond the numbers of {}", input.ty),
            "a number that is written is not taken for an infinite one",
            "mend the value, write `inf` if that is meant, or declare a wider type",
        );
    }
    let text = |stored| {
        let text = cell::number_text(&input.kind, stored);
        text.unwrap_or_else(|| decimal::text(stored, input.ty.fraction()))
    };
    refused(
        &format!(
            "outside {} to {}",
            text(input.range.lo),
            text(input.range.hi)
        ),
        "the program declares this range, and every later range rests on it",
        "mend the value, or declare a wider type or range in the program",
    )
}
