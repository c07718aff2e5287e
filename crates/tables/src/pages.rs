//! Memory that the pages of a Parquet file require, checked before any of them is decompressed.
//!
//! A reader allocates as much memory as the header of a page claims. This module reads the headers
//! alone and refuses sizes that no writer produces. A header is the struct `PageHeader` of the
//! Parquet format (`parquet.thrift` in apache/parquet-format), in the compact protocol of Thrift.
//! The output of GZIP is not bounded here; it is at most about a thousand times the file.

use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};

/// Largest accepted size of a decompressed page, in bytes. Writers make pages of a megabyte, DuckDB
/// up to a hundred.
const MOST_BYTES: u64 = 1 << 27;

/// Depth of nested structs: a header, one for its kind of page, and statistics.
const MOST_NESTED: usize = 4;

/// Field numbers of the header that are read.
const UNCOMPRESSED_BYTES: i16 = 2;
const COMPRESSED_BYTES: i16 = 3;
const DICTIONARY: i16 = 7;

/// Field number of the number of values in a dictionary's header; each takes at least a bit.
const VALUES: i16 = 1;

/// Checks the pages in the given range of bytes: one column of one group of rows.
///
/// # Errors
/// A header is malformed, or claims more than any writer produces.
pub(crate) fn check(file: impl Read + Seek, start: u64, length: u64) -> io::Result<()> {
    let mut reader = BufReader::new(file);
    let end = start.checked_add(length).ok_or_else(malformed)?;
    let mut at = reader.seek(SeekFrom::Start(start))?;
    while at < end {
        let mut page = Page::default();
        page.read(&mut reader, &[])?;
        let (Some(packed), Some(unpacked)) = (page.compressed, page.uncompressed) else {
            return Err(malformed());
        };
        if unpacked > MOST_BYTES || page.values > unpacked.saturating_mul(8) {
            let text = "a page says that it is larger than any writer makes one";
            return Err(io::Error::new(ErrorKind::InvalidData, text));
        }
        let skip = i64::try_from(packed).map_err(|_| malformed())?;
        reader.seek_relative(skip)?;
        at = reader.stream_position()?;
    }
    Ok(())
}

/// Fields of the header of a page.
#[derive(Default)]
struct Page {
    compressed: Option<u64>,
    uncompressed: Option<u64>,
    /// Values of a dictionary.
    values: u64,
}

impl Page {
    /// Reads a struct: the header itself, or the one in its field `path`.
    fn read(&mut self, reader: &mut impl Read, path: &[i16]) -> io::Result<()> {
        if path.len() == MOST_NESTED {
            return Err(malformed());
        }
        let mut field = 0i16;
        loop {
            let byte = byte(reader)?;
            let (delta, kind) = (byte >> 4, byte & 15);
            if byte == 0 {
                return Ok(());
            }
            field = match delta {
                0 => i16::try_from(zigzag(reader)?).map_err(|_| malformed())?,
                _ => field.checked_add(delta.into()).ok_or_else(malformed)?,
            };
            match kind {
                // The kind itself encodes truth values.
                1 | 2 => {}
                3 => skip(reader, 1)?,
                4..=6 => self.number(path, field, zigzag(reader)?)?,
                7 => skip(reader, 8)?,
                8 => {
                    let length = varint(reader)?;
                    skip(reader, length)?;
                }
                12 => self.read(reader, &[path, &[field]].concat())?,
                // Headers contain no lists and maps.
                _ => return Err(malformed()),
            }
        }
    }

    fn number(&mut self, path: &[i16], field: i16, number: i64) -> io::Result<()> {
        let count = || u64::try_from(number).map_err(|_| malformed());
        match (path, field) {
            ([], UNCOMPRESSED_BYTES) => self.uncompressed = Some(count()?),
            ([], COMPRESSED_BYTES) => self.compressed = Some(count()?),
            ([DICTIONARY], VALUES) => self.values = count()?,
            _ => {}
        }
        Ok(())
    }
}

fn byte(reader: &mut impl Read) -> io::Result<u8> {
    let mut byte = [0];
    reader.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// Decodes groups of seven bits, the lowest first.
fn varint(reader: &mut impl Read) -> io::Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = byte(reader)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(malformed())
}

/// Decodes a signed number in zigzag form.
fn zigzag(reader: &mut impl Read) -> io::Result<i64> {
    let number = varint(reader)?;
    Ok((number >> 1) as i64 ^ -((number & 1) as i64))
}

fn skip(reader: &mut impl Read, length: u64) -> io::Result<()> {
    let skipped = io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
    if skipped == length {
        Ok(())
    } else {
        Err(malformed())
    }
}

fn malformed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the header of a page is malformed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Builds a header in the compact protocol: kind 2 (a dictionary), sizes, no checksum, then the
    /// struct of the dictionary with its number of values and its encoding.
    fn page(uncompressed: u32, compressed: u32, values: u32) -> Vec<u8> {
        let number = |number: u32| {
            let mut rest = u64::from(number) << 1;
            let mut bytes = vec![];
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
            bytes
        };
        let mut bytes = vec![0x15, 4];
        for size in [uncompressed, compressed] {
            bytes.push(0x15);
            bytes.extend(number(size));
        }
        bytes.extend([0x4c, 0x15]);
        bytes.extend(number(values));
        bytes.extend([0x15, 0, 0, 0]);
        bytes.extend(vec![7; compressed as usize]);
        bytes
    }

    fn checked(pages: &[u8]) -> Result<(), String> {
        check(Cursor::new(pages), 0, pages.len() as u64).map_err(|error| error.to_string())
    }

    #[test]
    fn pages_that_say_what_they_hold_pass() {
        let pages = [page(800, 30, 100), page(1 << 20, 3, 1 << 18)].concat();
        assert_eq!(checked(&pages), Ok(()));
        let behind = [&b"PAR1"[..], &pages, b"what follows"].concat();
        assert!(check(Cursor::new(behind), 4, pages.len() as u64).is_ok());
    }

    #[test]
    fn pages_that_claim_too_much_are_refused() {
        let second = [page(800, 30, 100), page(1 << 28, 30, 1)].concat();
        for pages in [page(i32::MAX as u32, 30, 1), page(800, 30, 6401), second] {
            let refused = checked(&pages).unwrap_err();
            assert!(refused.contains("larger than any writer"), "{refused}");
        }
    }

    #[test]
    fn what_is_no_header_is_refused() {
        // Without sizes; a list; unterminated structs; an unterminated number; truncated input.
        let wrong = [
            &[0][..],
            &[0x19, 0],
            &[0x1c; 64],
            &[0xff; 64],
            &[0x15, 4, 0x15],
        ];
        for bytes in wrong {
            assert!(checked(bytes).is_err());
        }
    }
}
