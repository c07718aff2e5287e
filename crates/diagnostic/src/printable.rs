//! Text of a file or a peer on its way to a terminal, a page or a log.

/// Tells whether a character does something else than show itself: it controls the terminal,
/// changes the direction of the text around it (UAX #9), or takes no room and so makes two texts
/// look alike.
pub fn deceives(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Replaces characters that [deceive](deceives), except for line feeds.
pub fn printable(text: &str) -> String {
    let keep = |c: char| {
        if deceives(c) && c != '\n' {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(keep).collect()
}

/// Does the same as [`printable`], and puts the text into one line.
pub fn one_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}
/// Formats a number of things: `1 row`, `2 rows`. Their plural ends in `s`.
pub fn counted(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {one}{plural}")
}
