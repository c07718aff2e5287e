//! Text from a peer, made fit to be shown.

/// Longest reason of an abort, in bytes.
pub(crate) const MAX_REASON_BYTES: usize = 1024;

/// `text` cut to `max_bytes` at a character border, in one line, without characters that control a
/// terminal or reorder what is displayed.
pub(crate) fn harmless(text: &str, max_bytes: usize) -> String {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end]
        .chars()
        .map(|c| if hides_or_controls(c) { ' ' } else { c })
        .collect()
}

/// Control characters, and the marks of Unicode that change the direction of text (UAX #9).
fn hides_or_controls(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_and_direction_marks_become_spaces() {
        assert_eq!(harmless("a\x1b[31mb\nc\u{202e}d", 100), "a [31mb c d");
    }

    #[test]
    fn long_text_is_cut_at_a_character_border() {
        assert_eq!(harmless("aé", 2), "a");
        assert_eq!(harmless("aé", 3), "aé");
    }
}
