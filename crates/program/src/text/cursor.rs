//! Position in the text that advances over words, numbers, signs and strings.

use crate::check::{MAX_COLUMN_NAME, MAX_NAME};
use crate::decimal::MAX_DECIMAL_BYTES;
use crate::types::Type;
use sealane_diagnostic::{Code, Diagnostic, Result, Span};

/// Longest string: a path, or the name of a column.
const MAX_STRING: usize = 4096;
const _: () = assert!(MAX_COLUMN_NAME <= MAX_STRING);

/// Tokeniser. Spaces and tabs separate tokens; a line break is a token of its own.
pub struct Cursor<'a> {
    text: &'a str,
    file: &'a str,
    /// Byte offset of the next character.
    next: usize,
    /// Byte offset of the last token of this line, at which errors point.
    token: usize,
    /// Number of the line, from 1, and byte offset of its start.
    line: u32,
    line_start: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, file: &'a str) -> Cursor<'a> {
        Cursor {
            text,
            file,
            next: 0,
            token: 0,
            line: 1,
            line_start: 0,
        }
    }

    /// A syntax error at the last token.
    pub fn error(&self, message: String) -> Diagnostic {
        malformed(message).at(Some(&self.span(self.token, self.next)))
    }

    /// Byte offset of the next token.
    pub fn offset(&mut self) -> usize {
        self.rest();
        self.next
    }

    /// The place from byte `from` of this line to the last token.
    pub fn since(&self, from: usize) -> Span {
        self.span(from, self.next)
    }

    /// Takes the word `wanted`.
    pub fn keyword(&mut self, wanted: &str) -> Result<()> {
        if self.eat_word(wanted) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{wanted}`")))
        }
    }

    /// Takes the word `wanted` if it comes next.
    pub fn eat_word(&mut self, wanted: &str) -> bool {
        let rest = self.rest();
        let found = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())] == wanted;
        if found {
            self.take(wanted.len());
        }
        found
    }

    /// Takes a word: letters, digits and `_`.
    pub fn word(&mut self, what: &str) -> Result<&'a str> {
        let rest = self.rest();
        let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if len == 0 || len > MAX_NAME {
            return Err(self.expected(what));
        }
        Ok(self.take(len))
    }

    /// Takes a type.
    pub fn element_type(&mut self) -> Result<Type> {
        let rest = self.rest();
        let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        const WRAPPING: &str = ".wrapping";
        let behind = rest[len..].strip_prefix('.').unwrap_or("");
        let digits = behind.find(|c: char| !c.is_ascii_digit());
        let len = if rest[len..].starts_with(WRAPPING) {
            len + WRAPPING.len()
        } else {
            // `fixed16.16`.
            match digits.unwrap_or(behind.len()) {
                0 => len,
                digits => len + 1 + digits,
            }
        };
        let ty = rest[..len].parse().map_err(|_| self.expected("a type"))?;
        self.take(len);
        Ok(ty)
    }

    /// Takes the signs `wanted`.
    pub fn sign(&mut self, wanted: &str) -> Result<()> {
        if self.eat_sign(wanted) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{wanted}`")))
        }
    }

    /// Takes the signs `wanted` if they come next.
    pub fn eat_sign(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.take(wanted.len());
        }
        found
    }

    /// Returns whether a number without a sign comes next.
    pub fn at_digit(&mut self) -> bool {
        self.rest().starts_with(|c: char| c.is_ascii_digit())
    }

    /// Takes a decimal number that `N` holds.
    pub fn number<N: TryFrom<i128>>(&mut self, what: &str) -> Result<N> {
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let len = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        let len = rest.len() - digits.len() + len;
        let number = rest[..len]
            .parse::<i128>()
            .ok()
            .and_then(|number| N::try_from(number).ok());
        let number = number.ok_or_else(|| self.expected(what))?;
        self.take(len);
        Ok(number)
    }

    /// Takes a number of a constant: a decimal, also with an exponent, or `nan`, `inf`, `-inf`.
    pub fn constant(&mut self, what: &str) -> Result<&'a str> {
        let rest = self.rest();
        let special = ["nan", "inf", "-inf"].into_iter();
        if let Some(special) = special.into_iter().find(|word| rest.starts_with(word)) {
            return Ok(self.take(special.len()));
        }
        self.decimal(what)?;
        // Without the spaces behind it, which `rest` would skip.
        let (start, rest) = (self.token, &self.text[self.next..]);
        if let Some(behind) = rest.strip_prefix('e') {
            let digits = behind.strip_prefix('-').unwrap_or(behind);
            let end = digits.find(|c: char| !c.is_ascii_digit());
            let len = rest.len() - digits.len() + end.unwrap_or(digits.len());
            self.next += len;
        }
        Ok(&self.text[start..self.next])
    }

    /// Takes a decimal: digits, and perhaps a point with more of them.
    pub fn decimal(&mut self, what: &str) -> Result<&'a str> {
        let rest = self.rest();
        let digits = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_digit());
            end.unwrap_or(text.len())
        };
        let sign = usize::from(rest.starts_with('-'));
        let whole = digits(&rest[sign..]);
        let behind = rest[sign + whole..].strip_prefix('.').map_or(0, digits);
        let len = sign + whole + if behind > 0 { 1 + behind } else { 0 };
        if whole == 0 || len > MAX_DECIMAL_BYTES {
            return Err(self.expected(what));
        }
        Ok(self.take(len))
    }

    /// Takes a string in quotes.
    pub fn string(&mut self) -> Result<String> {
        self.sign("\"")?;
        let mut string = String::new();
        let mut characters = self.text[self.next..].char_indices();
        while let Some((offset, character)) = characters.next() {
            let character = match character {
                '"' => {
                    self.take(offset + 1);
                    return Ok(string);
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, escaped @ ('"' | '\\'))) => escaped,
                    _ => break,
                },
                '\n' => break,
                other => other,
            };
            string.push(character);
            if string.len() > MAX_STRING {
                break;
            }
        }
        Err(self.error(format!(
            "a string of at most {MAX_STRING} bytes does not end"
        )))
    }

    /// Takes the end of a line and the blank lines after it.
    pub fn end_line(&mut self) -> Result<()> {
        let rest = self.rest();
        if !rest.is_empty() && !rest.starts_with(['\n', '\r']) {
            return Err(self.expected("the end of the line"));
        }
        let blank = rest
            .find(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'))
            .unwrap_or(rest.len());
        let end = self.next + blank;
        for (offset, _) in self.text[self.next..end].match_indices('\n') {
            self.line += 1;
            self.line_start = self.next + offset + 1;
        }
        (self.next, self.token) = (end, end);
        Ok(())
    }

    /// Checks that the whole text has been read.
    pub fn end_text(&mut self) -> Result<()> {
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(self.expected("the end of the text"))
        }
    }

    /// Returns the rest of the text after blanks.
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.next..];
        let blank = rest
            .find(|c| !matches!(c, ' ' | '\t'))
            .unwrap_or(rest.len());
        self.next += blank;
        &self.text[self.next..]
    }

    /// Moves over a token of `len` bytes.
    fn take(&mut self, len: usize) -> &'a str {
        self.token = self.next;
        self.next += len;
        &self.text[self.token..self.next]
    }

    /// Makes the error that something else comes next.
    fn expected(&mut self, what: &str) -> Diagnostic {
        let rest = self.rest();
        let len = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let place = self.span(self.next, self.next + len);
        let shown: String = rest[..len].chars().take(24).collect();
        let found = if shown.is_empty() {
            "the line ends".into()
        } else {
            format!("`{shown}` stands")
        };
        malformed(format!("{found} where {what} is expected")).at(Some(&place))
    }

    /// The span from byte `from` to byte `to` of this line.
    fn span(&self, from: usize, to: usize) -> Span {
        let count = |from: usize, to: usize| self.text[from..to].chars().count() as u32;
        let column = count(self.line_start, from) + 1;
        let end_column = column + count(from, to);
        Span::new(self.file.into(), self.line, column, end_column)
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The text form is written by machines, so a mistake in it is rarely corrected by hand.
fn malformed(message: String) -> Diagnostic {
    Diagnostic::new(Code::Syntax, message)
        .hint("write the text anew from its source: `sealane check PROGRAM.py --text`")
}
