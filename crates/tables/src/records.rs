//! Records of a CSV, one after the other, each with its place: as in RFC 4180 (section 2), with any
//! line end, without blank lines and a byte order mark, and unpacked if the file is packed by gzip.
//!
//! A cell is quoted as a whole or not at all, and a quote within it is doubled (rules 5 to 7).
//! Anything else is refused: a quote that is never closed would make the rest of the file one cell,
//! and `"1"2` would read as 12. Memory is bounded by the longest accepted record, whatever the file
//! holds or unpacks to.

use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::{self, ErrorKind, Read};
use zeroize::Zeroizing;

/// Longest accepted record, in bytes: a wide table has a million cells.
const MOST_BYTES: usize = 4 << 20;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 13;

/// Place in a file: line and column, in characters, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineColumn {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl LineColumn {
    /// The place behind a text that begins here.
    fn after(self, text: &str) -> LineColumn {
        let width = |text: &str| text.chars().count() as u32;
        let (line, column) = match text.rsplit_once('\n') {
            Some((before, last)) => {
                let lines = before.matches('\n').count() as u32 + 1;
                (self.line + lines, width(last) + 1)
            }
            None => (self.line, self.column + width(text)),
        };
        LineColumn { line, column }
    }
}

/// Fault of a file; its place, except for what the operating system or gzip reports.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It cannot be read.
    Unreadable(io::Error),
    /// A record that is not UTF-8.
    Encoding(LineColumn),
    /// A record that is too long, or one that is too long in a cell in quotes which begins here.
    Long(LineColumn, Option<LineColumn>),
    /// A cell that begins with a quote here, and never ends.
    Open(LineColumn),
    /// Text after the end of a quoted cell.
    Behind {
        /// Place of the text.
        at: LineColumn,
        /// Beginning of the cell.
        from: LineColumn,
    },
    /// A quote here, in a cell that does not begin with one.
    Bare(LineColumn),
}

/// State of the pass over a record.
#[derive(Clone, Copy)]
enum ScanState {
    /// At the beginning of a cell.
    Begin,
    /// In a cell without quotes.
    Plain,
    /// In a cell in quotes that began there.
    Quoted(usize),
    /// After a quote in such a cell, which ends it unless another quote follows.
    Closing(usize),
}

/// Reader of records.
pub(crate) struct Records {
    source: Box<dyn Read>,
    /// Holds what has been read; `from` is the first byte that no record has taken, `to` the end.
    buffer: Zeroizing<Vec<u8>>,
    from: usize,
    to: usize,
    /// Place of that byte.
    place: LineColumn,
    /// True if the byte before it is a carriage return, which a line feed may belong to.
    after_return: bool,
    /// Ends of the cells of the last record.
    ends: Vec<usize>,
    /// True unless the file ends within the last record.
    pub(crate) is_ended: bool,
}

/// One record.
pub(crate) struct Record<'a> {
    text: &'a str,
    ends: &'a [usize],
    pub(crate) place: LineColumn,
    /// First of the blank lines before it.
    pub(crate) blank: Option<u32>,
}

impl Records {
    /// Makes the reader of a file, packed or not.
    pub(crate) fn new(mut file: impl Read + 'static) -> io::Result<Records> {
        let mut start = Vec::new();
        file.by_ref().take(2).read_to_end(&mut start)?;
        let is_packed = start == [0x1f, 0x8b];
        let file = io::Cursor::new(start).chain(file);
        let source: Box<dyn Read> = if is_packed {
            Box::new(MultiGzDecoder::new(file))
        } else {
            Box::new(file)
        };
        let mut records = Records {
            source,
            buffer: Zeroizing::default(),
            from: 0,
            to: 0,
            place: LineColumn { line: 1, column: 1 },
            after_return: false,
            ends: Vec::new(),
            is_ended: true,
        };
        let mark = "\u{feff}".as_bytes();
        while records.to < mark.len() && records.read_on()? {}
        if records.buffer[..records.to].starts_with(mark) {
            records.from = mark.len();
        }
        Ok(records)
    }

    /// Returns the next record; none at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, Fault> {
        let blank = self.skip_line_ends().map_err(Fault::Unreadable)?;
        if self.from == self.to {
            return Ok(None);
        }
        self.ends.clear();
        let (mut state, mut length) = (ScanState::Begin, 0);
        self.is_ended = 'record: loop {
            for &byte in &self.buffer[self.from + length..self.to] {
                state = match (state, byte) {
                    (ScanState::Begin, b'"') => ScanState::Quoted(length),
                    (ScanState::Plain, b'"') => return Err(Fault::Bare(self.place_of(length))),
                    (ScanState::Quoted(from), b'"') => ScanState::Closing(from),
                    (ScanState::Closing(from), b'"') | (ScanState::Quoted(from), _) => {
                        ScanState::Quoted(from)
                    }
                    (_, b',') => {
                        self.ends.push(length);
                        ScanState::Begin
                    }
                    (_, b'\r' | b'\n') => break 'record true,
                    (ScanState::Closing(from), _) => {
                        let (at, from) = (self.place_of(length), self.place_of(from));
                        return Err(Fault::Behind { at, from });
                    }
                    (ScanState::Begin | ScanState::Plain, _) => ScanState::Plain,
                };
                length += 1;
            }
            let open = match state {
                ScanState::Quoted(from) => Some(self.place_of(from)),
                _ => None,
            };
            if length > MOST_BYTES {
                return Err(Fault::Long(self.place, open));
            }
            match (self.read_on().map_err(Fault::Unreadable)?, open) {
                (true, _) => {}
                (false, Some(open)) => return Err(Fault::Open(open)),
                (false, None) => break false,
            }
        };
        self.ends.push(length);
        let (place, bytes) = (self.place, &self.buffer[self.from..self.from + length]);
        let text = str::from_utf8(bytes).map_err(|_| Fault::Encoding(place))?;
        self.place = place.after(text);
        self.from += length;
        let ends = &self.ends;
        Ok(Some(Record {
            text,
            ends,
            place,
            blank,
        }))
    }

    /// Skips line ends. The first one ends the last record; returns the line of the second one.
    fn skip_line_ends(&mut self) -> io::Result<Option<u32>> {
        let (mut blank, mut is_begun) = (None, self.ends.is_empty());
        loop {
            match self.buffer[self.from..self.to].first().copied() {
                Some(b'\n') if self.after_return => {}
                Some(b'\r' | b'\n') if is_begun => blank = blank.or(Some(self.place.line)),
                Some(b'\r' | b'\n') => is_begun = true,
                Some(_) => break,
                None if self.read_on()? => continue,
                None => break,
            }
            self.after_return = self.buffer[self.from] == b'\r';
            let end = if self.after_return { "\r" } else { "\n" };
            self.place = self.place.after(end);
            self.from += 1;
        }
        self.after_return = false;
        Ok(blank)
    }

    /// Reads more of the file behind what no record has taken; returns false at its end.
    fn read_on(&mut self) -> io::Result<bool> {
        if self.to + CHUNK > self.buffer.len() {
            let held = self.to - self.from;
            if held + CHUNK > self.buffer.len() {
                // A vector that grows by itself leaves a copy behind.
                let mut larger = Zeroizing::new(vec![0; 2 * held + 4 * CHUNK]);
                larger[..held].copy_from_slice(&self.buffer[self.from..self.to]);
                self.buffer = larger;
            } else {
                self.buffer.copy_within(self.from..self.to, 0);
            }
            (self.from, self.to) = (0, held);
        }
        loop {
            match self.source.read(&mut self.buffer[self.to..][..CHUNK]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => {
                    let read = read?;
                    self.to += read;
                    return Ok(read > 0);
                }
            }
        }
    }

    /// The place of a byte of the record that is being read.
    fn place_of(&self, at: usize) -> LineColumn {
        let before = &self.buffer[self.from..self.from + at];
        self.place.after(&String::from_utf8_lossy(before))
    }
}

impl<'a> Record<'a> {
    /// Number of its cells.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Byte at which a cell begins.
    fn start(&self, cell: usize) -> usize {
        let before = cell.checked_sub(1);
        before.map_or(0, |before| self.ends[before] + 1)
    }

    /// The text of a cell.
    pub(crate) fn cell(&self, cell: usize) -> Cow<'a, str> {
        let written = &self.text[self.start(cell)..self.ends[cell]];
        let inner = written.strip_prefix('"');
        match inner.and_then(|inner| inner.strip_suffix('"')) {
            Some(inner) if inner.contains('"') => Cow::Owned(inner.replace("\"\"", "\"")),
            inner => Cow::Borrowed(inner.unwrap_or(written)),
        }
    }

    /// The place of a cell, and the column behind its first line.
    pub(crate) fn extent(&self, cell: usize) -> (LineColumn, u32) {
        self.extent_of(self.start(cell), self.ends[cell])
    }

    /// The same of the whole record.
    pub(crate) fn whole(&self) -> (LineColumn, u32) {
        self.extent_of(0, self.text.len())
    }

    fn extent_of(&self, start: usize, end: usize) -> (LineColumn, u32) {
        let place = self.place.after(&self.text[..start]);
        let line = self.text[start..end].lines().next();
        let width = line.map_or(0, |line| line.chars().count()) as u32;
        (place, place.column + width.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes that come one at a time, so that every state is met at the end of what has been read.
    struct Slow(io::Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let most = bytes.len().min(1);
            self.0.read(&mut bytes[..most])
        }
    }

    /// Calls `each` for every record.
    fn pass(text: &str, mut each: impl FnMut(Record<'_>)) -> Result<bool, Fault> {
        let mut records = Records::new(Slow(io::Cursor::new(text.into()))).expect("a text");
        while let Some(record) = records.next()? {
            each(record);
        }
        Ok(records.is_ended)
    }

    /// Texts at which `csv.reader([text], strict=True)` of Python 3.11 raises; and, with `bare`,
    /// others that RFC 4180 forbids.
    #[test]
    fn quotes_that_are_not_allowed_are_refused_with_their_place() {
        for (text, wanted) in [
            ("\"", "open 1:1"),
            ("a,\"b", "open 1:3"),
            ("\"a\"\"", "open 1:1"),
            ("1,\"Ada\n2,Bob\n", "open 1:3"),
            ("\"a\"b", "behind 1:4 1:1"),
            ("\"1\"2", "behind 1:4 1:1"),
            ("x,\"é\" ,b", "behind 1:6 1:3"),
            ("\"a\"\"\"b", "behind 1:6 1:1"),
            ("1,\"Ada\n2,\"Bob\"\n", "behind 2:4 1:3"),
            ("a\"b", "bare 1:2"),
            ("a\"b\"", "bare 1:2"),
            (" \"a\"", "bare 1:2"),
            ("a\r\n\r\n5\"", "bare 3:2"),
        ] {
            let place = |LineColumn { line, column }| format!("{line}:{column}");
            let reported = match pass(text, |_| ()) {
                Err(Fault::Open(at)) => format!("open {}", place(at)),
                Err(Fault::Behind { at, from }) => format!("behind {} {}", place(at), place(from)),
                Err(Fault::Bare(at)) => format!("bare {}", place(at)),
                other => format!("{other:?}"),
            };
            assert_eq!(reported, wanted, "{text:?}");
        }
    }

    #[test]
    fn blank_lines_between_records_are_found() {
        let blank = |text: &str| {
            let mut blank = None;
            pass(text, |record| blank = blank.or(record.blank)).expect("a text");
            blank
        };
        for end in ["\n", "\r\n"] {
            let text = |lines: &[&str]| lines.join(end);
            assert_eq!(blank(&text(&["a", "1", "2", ""])), None);
            assert_eq!(blank(&text(&["a", "1", "2", "", "", ""])), None);
            assert_eq!(blank(&text(&["a,b", "\"1", "", "2\",3", "4,5", ""])), None);
            assert_eq!(blank(&text(&["a", "1", "", "2"])), Some(3));
            assert_eq!(blank(&text(&["a", "", "1", "2"])), Some(2));
            assert_eq!(blank(&text(&["a,b", "1,2", "", "", "3,4"])), Some(3));
        }
    }

    #[test]
    fn cells_are_found_behind_quotes_and_line_breaks() {
        let text = "a,b,c\r\n\r\nab,\"c,\"\"d\",e\r\n\"x\ny\",\"é\nw\",z";
        let mut extents = Vec::new();
        let ended = pass(text, |record| {
            let extent = |cell| record.extent(cell);
            let extents_of = (0..record.len()).map(extent);
            extents.extend(extents_of.map(|(at, end)| (at.line, at.column, end)));
        });
        let wanted = [
            (3, 1, 3),
            (3, 4, 11),
            (3, 12, 13),
            (4, 1, 3),
            (5, 4, 6),
            (6, 4, 5),
        ];
        assert_eq!(extents[3..], wanted);
        assert!(!ended.expect("a text") && pass("a\n\"\"\r", |_| ()).expect("a text"));
    }

    /// Literal implementation of the grammar of RFC 4180, section 2, except for line ends: any of
    /// CR, LF and both. Returns the records, without empty ones; none if the text does not match.
    fn grammar(text: &str) -> Option<Vec<Vec<String>>> {
        let mut rest = text;
        let (mut records, mut record) = (Vec::new(), Vec::new());
        loop {
            let (cell, behind) = match rest.strip_prefix('"') {
                Some(quoted) => escaped(quoted)?,
                None => {
                    let end = rest.find([',', '\r', '\n']).unwrap_or(rest.len());
                    let (cell, behind) = rest.split_at(end);
                    if cell.contains('"') {
                        return None;
                    }
                    (cell.to_string(), behind)
                }
            };
            let blank = record.is_empty() && behind.len() == rest.len();
            record.push(cell);
            if let Some(next) = behind.strip_prefix(',') {
                rest = next;
                continue;
            }
            let record = std::mem::take(&mut record);
            if !blank {
                records.push(record);
            }
            let ends = ["\r\n", "\n", "\r"];
            match ends.iter().find_map(|end| behind.strip_prefix(end)) {
                Some(next) => rest = next,
                None if behind.is_empty() => return Some(records),
                None => return None,
            }
        }
    }

    /// Splits the text of a cell after its first quote from the text after its last.
    fn escaped(mut rest: &str) -> Option<(String, &str)> {
        let mut cell = String::new();
        loop {
            let (more, behind) = rest.split_once('"')?;
            cell += more;
            match behind.strip_prefix('"') {
                Some(next) => {
                    cell.push('"');
                    rest = next;
                }
                None => return Some((cell, behind)),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// The texts that match the grammar are read, and as it says.
        #[test]
        fn records_are_those_of_the_grammar(text in "[a\",\r\né]{0,14}") {
            let mut read = Vec::new();
            let passed = pass(&text, |record| {
                read.push((0..record.len()).map(|at| record.cell(at).into_owned()).collect());
            });
            prop_assert_eq!(passed.ok().map(|_| read), grammar(&text), "{:?}", text);
        }
    }
}
