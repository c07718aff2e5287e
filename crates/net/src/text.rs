//! Sanitising of a peer's text for display.

use sealane_diagnostic::deceives;

/// Longest reason of an abort, in bytes.
pub(crate) const MAX_REASON_BYTES: usize = 1024;

/// Cuts `text` to `max_bytes` at a character border, and removes line breaks and characters that
/// control a terminal or reorder the display.
pub(crate) fn harmless(text: &str, max_bytes: usize) -> String {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let harmless = |c| if deceives(c) { ' ' } else { c };
    text[..end].chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_and_direction_marks_become_spaces() {
        assert_eq!(harmless("a\x1b[31mb\nc\u{202e}d", 100), "a [31mb c d");
        // Every formatting character of UAX #9, section 2, and some that take no room.
        let marks = "\u{202a}\u{202b}\u{202c}\u{202d}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}";
        for mark in marks.chars().chain("\u{2060}\u{feff}\u{e0041}".chars()) {
            assert_eq!(harmless(&format!("a{mark}b"), 100), "a b", "{mark:?}");
        }
    }

    #[test]
    fn long_text_is_cut_at_a_character_border() {
        assert_eq!(harmless("aé", 2), "a");
        assert_eq!(harmless("aé", 3), "aé");
    }
}
