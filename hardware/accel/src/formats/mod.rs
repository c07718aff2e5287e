//! Formats of netlists.
//!
//! | format | recognised by | file |
//! |---|---|---|
//! | SCD of FASE: seven counts, then six lines of numbers | seven numbers in line 1 | `scd` |
//! | SCD of TinyGarble: ten counts, then the same lines | ten numbers in line 1 | `scd` |
//! | SCD of JustGarble: one array of MessagePack | the byte of an array | `justgarble` |
//! | HSCD: a word in hexadecimal digits a line | one word of 8 or 9 digits in line 1 | `hscd` |
//! | wide HSCD | one word of 24 digits in line 1 | `hscd` |
//!
//! Files come from outside. Every number is checked before it is used, and no more memory is taken
//! than a small multiple of the length of the file. No format names the parties that give inputs
//! other than by counts, so nothing here is secret.

mod hscd;
mod justgarble;
mod scd;

use crate::netlist::{Netlist, NetlistError};
use std::fmt;

pub use hscd::Width;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// SCD with the first line of FASE.
    Fase,
    /// SCD with the first line of TinyGarble.
    TinyGarble,
    /// SCD of JustGarble.
    JustGarble,
    /// HSCD, with words of 32 bits or wide ones.
    Hscd(Width),
}

impl Format {
    /// Returns the name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Format::Fase => "SCD (FASE)",
            Format::TinyGarble => "SCD (TinyGarble)",
            Format::JustGarble => "SCD (JustGarble)",
            Format::Hscd(Width::Narrow) => "HSCD",
            Format::Hscd(Width::Wide) => "wide HSCD",
        }
    }
}

/// A netlist read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetlistFile {
    /// Its format.
    pub format: Format,
    /// The netlist.
    pub netlist: Netlist,
    /// Stall lines before each gate, in HSCD; empty if there are none. The hardware keeps a flag
    /// for each wire and needs none.
    pub stalls: Vec<u32>,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a text: line and column in characters, both from 1.
    Text {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// In binary data: the number of the byte, from 0.
    Byte(usize),
}

impl Place {
    /// The beginning of a line.
    fn line(line: usize) -> Place {
        Place::Text { line, column: 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Text { line, column } => write!(f, "line {line}, column {column}"),
            Place::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// Error: the place where a file breaks its format, the reason, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct ReadError {
    /// The place.
    pub place: Place,
    /// Description of what is wrong.
    pub what: String,
    /// Advice: the thing to do about it.
    pub hint: &'static str,
}

/// Errors: properties of a netlist that a format cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A number needs more bits than the format has.
    #[error("{what} is {value}, and the format holds at most {most}; write wide HSCD or SCD")]
    TooLarge {
        /// Description of the number.
        what: &'static str,
        /// The number.
        value: u64,
        /// The largest that the format holds.
        most: u64,
    },
    /// The format has no place for a part of the netlist.
    #[error("{0}")]
    Missing(&'static str),
}

/// Reads a netlist in any of the formats, which is recognised from the content.
///
/// # Errors
/// [`ReadError`] for the first thing that breaks the format.
pub fn read(bytes: &[u8]) -> Result<NetlistFile, ReadError> {
    if justgarble::begins(bytes) {
        return justgarble::read(bytes);
    }
    let text = str::from_utf8(bytes).map_err(|error| ReadError {
        place: Place::Byte(error.valid_up_to()),
        what: "neither text nor an array of MessagePack".into(),
        hint: FORMATS_HINT,
    })?;
    let first = text.lines().next().unwrap_or("");
    match first.split_whitespace().count() {
        1 => hscd::read(text),
        _ => scd::read(text),
    }
}

/// Writes a netlist. `stalls` are the stall lines before each gate for HSCD, or none.
///
/// # Errors
/// [`WriteError`] if the format cannot express it.
pub fn write(netlist: &Netlist, format: Format, stalls: &[u32]) -> Result<Vec<u8>, WriteError> {
    if !stalls.is_empty() && !matches!(format, Format::Hscd(_)) {
        return Err(WriteError::Missing("only HSCD has stall lines"));
    }
    match format {
        Format::Fase | Format::TinyGarble => scd::write(netlist, format).map(String::into_bytes),
        Format::JustGarble => justgarble::write(netlist),
        Format::Hscd(width) => hscd::write(netlist, width, stalls).map(String::into_bytes),
    }
}

/// The error for a part of a netlist that a format has no place for, if it is there.
fn missing(is: bool, what: &'static str) -> Result<(), WriteError> {
    if is {
        Err(WriteError::Missing(what))
    } else {
        Ok(())
    }
}

/// Formats that are known, for those who gave another one.
const FORMATS_HINT: &str = "name a netlist in SCD (of FASE, TinyGarble or JustGarble) or HSCD; the \
                            guide on the accelerator describes them";
/// Advice for a file that was damaged or cut off.
const WHOLE_HINT: &str = "see that the file is whole, or make it again with the tool that wrote it";
/// Advice for a netlist whose wires do not fit together.
const WIRES_HINT: &str = "wires are numbered inputs first, then flip-flops, then gates, and a gate \
                          reads earlier ones only; make the file again in such an order";

/// An error of the netlist as a whole, at the place where the part that is wrong stands.
fn misfit(place: Place, error: &NetlistError) -> ReadError {
    ReadError {
        place,
        what: error.to_string(),
        hint: WIRES_HINT,
    }
}
