//! Cells that are no plain numbers, to the elements of an input and back: dates, timestamps, texts,
//! categories, and cells that may be missing. One rule for all sources.
//!
//! | kind of the input | takes |
//! |---|---|
//! | date | days; times at midnight UTC; texts of ISO 8601 |
//! | timestamp | whole seconds of UTC; days; texts of ISO 8601 |
//! | text | texts that its encoding has and its length holds |
//! | category | the names in its list, letter by letter, also with spaces around them |

use crate::input_spec::{Filling, out_of_range};
use crate::read_from_it;
use sealane_diagnostic::{Code, Diagnostic, counted, one_line};
use sealane_program::calendar::{self, NoDate};
use sealane_program::decimal::Nearest;
use sealane_program::graph::Input;
use sealane_program::kind::{Encoding, Form, Kind};
use sealane_program::types::Data;
use std::borrow::Cow;

/// A cell of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A text; where a date is read, of ISO 8601.
    Text(&'a str),
    /// A number of days since 1970-01-01.
    Days(i64),
    /// A time since 1970-01-01 00:00:00 UTC.
    Time {
        /// Its number of units.
        units: i64,
        /// Units of a second: 1, 1,000, 1,000,000 or 1,000,000,000.
        per_second: i64,
    },
}

/// Reason why a cell is not one of its kind.
enum Misfit {
    Date(NoDate),
    /// A character that the encoding does not have.
    Character(char),
    /// More bytes than there is room for.
    Long(usize),
    NoCategory,
}

impl Cell<'_> {
    fn seconds(self) -> Result<i128, NoDate> {
        match self {
            Cell::Text(text) => calendar::parse_timestamp(text.trim()),
            Cell::Days(days) => Ok(i128::from(days) * calendar::DAY_S),
            Cell::Time { units, per_second } => match units.rem_euclid(per_second) {
                0 => Ok(i128::from(units.div_euclid(per_second))),
                _ => Err(NoDate::Finer),
            },
        }
    }

    fn days(self) -> Result<i128, NoDate> {
        let seconds = self.seconds()?;
        match seconds.rem_euclid(calendar::DAY_S) {
            0 => Ok(seconds.div_euclid(calendar::DAY_S)),
            _ => Err(NoDate::Finer),
        }
    }

    /// The cell for people.
    fn text(self) -> String {
        match self {
            Cell::Text(text) => {
                let mut shown = one_line(text);
                if let Some((end, _)) = shown.char_indices().nth(MOST_SHOWN) {
                    shown.truncate(end);
                    shown.push('…');
                }
                format!("`{shown}`")
            }
            Cell::Days(days) => format!("day {days} since 1970-01-01"),
            Cell::Time { units, per_second } => {
                let (seconds, rest) = (units.div_euclid(per_second), units.rem_euclid(per_second));
                let digits = per_second.ilog10() as usize;
                let rest = match rest {
                    0 => String::new(),
                    rest => format!(".{rest:0digits$}"),
                };
                if calendar::SECONDS.contains(sealane_program::types::Range::of(seconds.into())) {
                    calendar::timestamp_text(seconds.into()) + &rest
                } else {
                    format!("second {seconds} since 1970-01-01")
                }
            }
        }
    }
}

/// Most characters of a cell that an error shows.
const MOST_SHOWN: usize = 40;

impl Filling<'_> {
    /// Sets the elements of a cell, from `at` on. `place` states its origin, as in "in row 7".
    pub(crate) fn put_cell(
        &mut self,
        at: usize,
        cell: Cell<'_>,
        place: impl Fn() -> String,
    ) -> Result<(), Diagnostic> {
        let input = self.want.input;
        let stored = match (&input.kind.form, cell) {
            (Form::Date, cell) => cell.days().map_err(Misfit::Date),
            (Form::Timestamp, cell) => cell.seconds().map_err(Misfit::Date),
            (Form::Text(encoding), Cell::Text(text)) => {
                let room = self.want.cell_width() as usize;
                let bytes = encoded(*encoding, text, room);
                let bytes = bytes.map_err(|misfit| refused(input, cell, &misfit, &place()))?;
                if !is_composed(text) {
                    let row = at as u64 / self.want.width() + 1;
                    self.loaded.decomposed = self.loaded.decomposed.or(Some(row));
                }
                let padded = bytes.iter().copied().chain(std::iter::repeat(0)).take(room);
                for (offset, byte) in padded.enumerate() {
                    self.put_exact(at + offset, byte.into());
                }
                return Ok(());
            }
            (Form::Category(_), Cell::Text(text)) => {
                let listed = |text| self.categories.get(text).copied();
                let number = listed(text).or_else(|| listed(text.trim()));
                number.ok_or(Misfit::NoCategory)
            }
            _ => {
                let message = "internal error: a cell of no kind";
                return Err(Diagnostic::new(Code::Internal, message));
            }
        };
        let stored = stored.map_err(|misfit| refused(input, cell, &misfit, &place()))?;
        if self.put_exact(at, stored) {
            return Ok(());
        }
        Err(out_of_range(input, &cell.text(), &place()))
    }

    /// Sets the elements of an empty cell of a nullable input, from `at` on.
    pub(crate) fn put_null(&mut self, at: usize) {
        let fill = Kind::fill(self.want.input.range);
        for offset in 0..self.want.cell_width() as usize {
            self.put_exact(at + offset, fill);
        }
    }

    /// Sets an element of a mask: whether a cell is missing.
    pub(crate) fn put_missing(&mut self, at: usize, missing: bool) {
        self.put_exact(at, missing.into());
    }

    fn put_exact(&mut self, at: usize, stored: i128) -> bool {
        let exact = true;
        self.put_stored(at, Nearest { stored, exact })
    }
}

/// The bytes of a text that has room.
fn encoded(encoding: Encoding, text: &str, room: usize) -> Result<Cow<'_, [u8]>, Misfit> {
    let bytes = match encoding {
        // The usual case, without a copy.
        _ if text.is_ascii() && !text.contains('\0') => Cow::Borrowed(text.as_bytes()),
        _ => match encoding.encode(text) {
            Some(bytes) => Cow::Owned(bytes),
            None => {
                let strange = |c: &char| encoding.encode(c.encode_utf8(&mut [0; 4])).is_none();
                let strange = text.chars().find(strange).unwrap_or('\0');
                return Err(Misfit::Character(strange));
            }
        },
    };
    let fits = bytes.len() <= room;
    if fits {
        Ok(bytes)
    } else {
        Err(Misfit::Long(bytes.len()))
    }
}

/// Returns whether a text is in NFC, the form of Unicode in which `é` is one character.
pub(crate) fn is_composed(text: &str) -> bool {
    text.is_ascii() || unicode_normalization::is_nfc(text)
}

/// Makes the refusal of a cell.
fn refused(input: &Input, cell: Cell<'_>, misfit: &Misfit, place: &str) -> Diagnostic {
    let value = [cell.text().as_str(), place].join(" ");
    let value = value.trim_end();
    let name = &input.name;
    let what = match input.kind.form {
        Form::Timestamp => "a timestamp",
        Form::Text(_) => "a text of that length and encoding",
        Form::Category(_) => "a category of the program",
        _ => "a date",
    };
    let (reason, hint) = match misfit {
        Misfit::Date(NoDate::Form) => (
            read_from_it(input),
            "write it as in ISO 8601: `2020-02-29`, or `2020-02-29T12:30:00`",
        ),
        Misfit::Date(NoDate::None) => (
            "there is no such day or time in the years 1 to 9999".to_string(),
            "mend the value",
        ),
        Misfit::Date(NoDate::Finer) if input.kind.form == Form::Date => (
            "it has a time of day".to_string(),
            "declare `sl.timestamp`, or cut the time off where the table is made",
        ),
        Misfit::Date(NoDate::Finer) => (
            "it has a fraction of a second".to_string(),
            "round it to seconds where the table is made",
        ),
        Misfit::Date(NoDate::Zone) => (
            "it is in a time zone other than UTC".to_string(),
            "convert it to UTC where the table is made",
        ),
        Misfit::Character(character) => (
            format!("U+{:04X} is not in the encoding", u32::from(*character)),
            "replace the character, or declare the encoding \"utf8\"",
        ),
        Misfit::Long(bytes) => {
            let room = input.kind.cell_width(&input.shape.fixed);
            let bytes = counted(*bytes as u64, "byte");
            let reason = format!("it takes {bytes}, and the program has {room}");
            (
                reason,
                "shorten it, or declare a longer text: `sl.text(...)`",
            )
        }
        Misfit::NoCategory => (
            format!(
                "the program lists the categories of `{name}`: {}",
                listed(input)
            ),
            "mend the value, or add the category to the list in the program",
        ),
    };
    let hint = match cell {
        Cell::Text(text) if !is_composed(text) => {
            "it is not in NFC: give `unicodedata.normalize(\"NFC\", text)`"
        }
        _ => hint,
    };
    Diagnostic::new(Code::DataKind, format!("{value} is not {what}"))
        .because(reason)
        .hint(hint)
}

/// The first categories of an input, for people.
fn listed(input: &Input) -> String {
    let Form::Category(names) = &input.kind.form else {
        return String::new();
    };
    let shown = names.iter().take(MOST_NAMES);
    let mut text = shown.map(|name| format!("`{name}`")).collect::<Vec<_>>();
    if let Some(more) = names.len().checked_sub(MOST_NAMES).filter(|more| *more > 0) {
        text.push(format!("and {more} more"));
    }
    text.join(", ")
}

/// Most categories that an error lists.
const MOST_NAMES: usize = 8;

/// The text of a stored number of a kind; none where it is written as the number that it is.
pub(crate) fn number_text(kind: &Kind, stored: i128) -> Option<String> {
    Some(match &kind.form {
        Form::Date => calendar::date_text(stored),
        Form::Timestamp => calendar::timestamp_text(stored),
        Form::Category(names) => {
            let name = usize::try_from(stored)
                .ok()
                .and_then(|place| names.get(place));
            name.cloned().unwrap_or_default()
        }
        Form::Number | Form::Text(_) | Form::Missing(_) => return None,
    })
}

/// A result with its meaning, as tables, reports and JSON show it.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// Name of the result.
    pub name: &'a str,
    /// Its elements.
    pub data: &'a Data,
    /// Their meaning.
    pub kind: &'a Kind,
    /// For each cell, whether it is empty; none if no cell can be.
    pub missing: Option<&'a Data>,
}

/// The kind of plain numbers.
static NUMBERS: Kind = Kind {
    form: Form::Number,
    nullable: false,
};

impl<'a> Shown<'a> {
    /// A result of plain numbers.
    pub fn numbers(name: &'a str, data: &'a Data) -> Shown<'a> {
        let (kind, missing) = (&NUMBERS, None);
        Shown {
            name,
            data,
            kind,
            missing,
        }
    }

    /// Number of elements of a cell.
    pub fn cell_width(&self) -> usize {
        self.kind.cell_width(&self.data.shape) as usize
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.data.elements.len() / self.cell_width().max(1)
    }

    /// Returns whether a cell is empty.
    pub fn is_missing(&self, cell: usize) -> bool {
        let mask = self.missing.and_then(|mask| mask.elements.get(cell));
        mask.is_some_and(|missing| *missing != 0)
    }

    /// The stored number of a cell that is no text.
    pub fn number(&self, cell: usize) -> i128 {
        crate::number::of_element(self.data.ty, self.data.elements[cell])
    }

    /// The text of a cell; none where it is written as the number that it is.
    pub fn text(&self, cell: usize) -> Option<String> {
        match &self.kind.form {
            Form::Text(encoding) => {
                let width = self.cell_width();
                let elements = &self.data.elements[cell * width..(cell + 1) * width];
                let bytes = elements.iter().map(|element| *element as u8);
                Some(encoding.decode(&zeroize::Zeroizing::new(bytes.collect::<Vec<_>>())))
            }
            _ => number_text(self.kind, self.number(cell)),
        }
    }
}
