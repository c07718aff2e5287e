//! Quotation marks of a CSV, as in RFC 4180 (section 2, rules 5 to 7): a cell is quoted as a whole
//! or not at all, and a quote within it is doubled.
//!
//! The CSV reader accepts anything: a quote that is never closed makes the rest of the file one
//! cell, and `"1"2` reads as 12. So every text is checked before it is read, in one pass and
//! constant memory.

/// A quote that RFC 4180 does not allow. Positions are bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misquoted {
    /// A cell that begins with a quote here, and never ends.
    Open(usize),
    /// Text after the end of a quoted cell.
    Behind {
        /// Position of the text.
        at: usize,
        /// Beginning of the cell.
        from: usize,
    },
    /// A quote here, in a cell that does not begin with one.
    Bare(usize),
}

/// State of the pass.
#[derive(Clone, Copy)]
enum State {
    /// At the beginning of a cell.
    Begin,
    /// In a cell without quotes.
    Plain,
    /// In a cell in quotes that began there.
    Quoted(usize),
    /// After a quote in such a cell, which ends it unless another quote follows.
    Closing(usize),
}

/// Returns the first quote that is not allowed.
pub(crate) fn check(text: &str) -> Result<(), Misquoted> {
    let mut state = State::Begin;
    for (at, byte) in text.bytes().enumerate() {
        state = match (state, byte) {
            (State::Begin, b'"') => State::Quoted(at),
            (State::Plain, b'"') => return Err(Misquoted::Bare(at)),
            (State::Quoted(from), b'"') => State::Closing(from),
            (State::Closing(from), b'"') | (State::Quoted(from), _) => State::Quoted(from),
            (_, b',' | b'\r' | b'\n') => State::Begin,
            (State::Closing(from), _) => return Err(Misquoted::Behind { at, from }),
            (State::Begin | State::Plain, _) => State::Plain,
        };
    }
    match state {
        State::Quoted(from) => Err(Misquoted::Open(from)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Results of `list(csv.reader([text], strict=True))` of Python 3.11 for each text: its rows,
    /// or that it raises. Python reads a bare quote as text, which RFC 4180 forbids: those are the
    /// last ones.
    #[test]
    fn texts_that_python_reads_strictly_pass_and_others_do_not() {
        let read = [
            "",
            "a",
            "a,b",
            "\"a\"",
            "\"\"",
            "\"\",\"\"",
            "\"a,b\",c",
            "\"a\"\"b\"",
            "\"\"\"\"",
            "a,\"b\"\r\n\"c\",d\r\n",
            "\"a\nb\",c\n",
            "\"a\r\nb\"\r\n",
            ",\"a\"",
            "\"a\",\n",
        ];
        for text in read {
            assert_eq!(check(text), Ok(()), "{text:?}");
        }
        let raised = [
            ("\"", Misquoted::Open(0)),
            ("a,\"b", Misquoted::Open(2)),
            ("\"a\"\"", Misquoted::Open(0)),
            ("1,\"Ada\n2,Bob\n", Misquoted::Open(2)),
            ("\"a\"b", Misquoted::Behind { at: 3, from: 0 }),
            ("\"1\"2", Misquoted::Behind { at: 3, from: 0 }),
            ("x,\"a\" ,b", Misquoted::Behind { at: 5, from: 2 }),
            ("\"a\"\"\"b", Misquoted::Behind { at: 5, from: 0 }),
            (
                "1,\"Ada\n2,\"Bob\"\n",
                Misquoted::Behind { at: 10, from: 2 },
            ),
        ];
        let bare = [("a\"b", 1), ("a\"b\"", 1), (" \"a\"", 1), ("a\n5\"", 3)];
        let bare = bare.map(|(text, at)| (text, Misquoted::Bare(at)));
        for (text, fault) in raised.into_iter().chain(bare) {
            assert_eq!(check(text), Err(fault), "{text:?}");
        }
    }

    /// Literal implementation of the grammar of RFC 4180, section 2, except for line ends: any of
    /// CR, LF and both. Returns the records, without empty ones; none if the text does not match.
    fn records(text: &str) -> Option<Vec<Vec<String>>> {
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

        /// Accepted texts match the grammar, and the reader then returns the grammar's records.
        #[test]
        fn what_passes_is_read_as_the_grammar_says(text in "[a\",\r\né]{0,14}") {
            let wanted = records(&text);
            prop_assert_eq!(check(&text).is_ok(), wanted.is_some(), "{:?}", text);
            if let Some(wanted) = wanted {
                let mut reader = csv::ReaderBuilder::new();
                let mut reader = reader.has_headers(false).flexible(true).from_reader(text.as_bytes());
                let read = reader.records().map(|record| {
                    record.unwrap().iter().map(str::to_string).collect::<Vec<_>>()
                });
                prop_assert_eq!(read.collect::<Vec<_>>(), wanted, "{:?}", text);
            }
        }
    }
}
