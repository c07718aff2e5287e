//! `sealane explain`: the page of a code, built in so that it can be read without a network, and
//! the list of all codes.

use crate::codes;
use sealane_diagnostic::{Code, FailureKind};
use sealane_host::Failure;
use sealane_page::Card;
use sealane_terminal::print_line;

/// Prints the page of a code, or lists all codes by who has to act.
///
/// # Errors
/// There is no such code.
pub fn explain(code: Option<&str>) -> Result<(), Failure> {
    let Some(name) = code else {
        let cards = by_kind().into_iter().map(|card| card.to_string());
        return print_line(cards.collect::<Vec<_>>().join("\n\n"));
    };
    // A user who copies the code from an error may copy its brackets.
    let name = name
        .trim_start_matches("error")
        .trim_start_matches("warning")
        .trim_matches(['[', ']', ':']);
    match Code::named(name) {
        Some(code) => print_line(readable(codes::page(code))),
        None => Err(unknown(name)),
    }
}

/// Lists the codes in one card for each kind.
fn by_kind() -> Vec<Card> {
    let mut kinds: Vec<FailureKind> = Vec::new();
    for kind in Code::ALL.iter().map(|code| code.kind()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let card = |kind: &FailureKind| {
        let mut card = Card::new(codes::heading(*kind));
        for code in Code::ALL.iter().filter(|code| code.kind() == *kind) {
            card.bare(format!("{:<22}{}", code.name(), code.title()));
        }
        card
    };
    kinds.iter().map(card).collect()
}

/// Formats a page for a terminal: without the markers for the tool that runs its examples.
fn readable(page: &str) -> String {
    let lines = page.lines().filter(|line| !line.starts_with("<!--"));
    lines.collect::<Vec<_>>().join("\n")
}

fn unknown(name: &str) -> Failure {
    let mut near = Code::ALL.iter().map(|code| code.name()).collect::<Vec<_>>();
    near.sort_by_cached_key(|code| (distance(name, code), *code));
    let near = near[..3].join(", ");
    let hint = format!("the nearest are: {near}; `sealane explain` lists all");
    let what = format!("there is no code `{name}`");
    Failure::new(Code::UnknownCode, what, hint)
}

/// Distance of two names: the words of one name that the other lacks, in both directions, counted
/// fourfold, plus the letters that have to change. So a part of a name is near to it, and so is a
/// misspelt one.
fn distance(a: &str, b: &str) -> usize {
    let lacks = |a: &str, b: &str| a.split('-').filter(|word| !b.contains(word)).count();
    4 * (lacks(a, b) + lacks(b, a)) + letters(a, b)
}

/// Levenshtein distance: the fewest letters to insert, leave out or replace.
fn letters(a: &str, b: &str) -> usize {
    let b = b.chars().collect::<Vec<_>>();
    let mut row = (0..=b.len()).collect::<Vec<_>>();
    for (i, letter) in a.chars().take(64).enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = corner + usize::from(letter != *other);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_codes_are_named() {
        let hint = |name| unknown(name).finding().hint.clone();
        assert!(hint("range-overfow").starts_with("the nearest are: range-overflow,"));
        assert!(hint("overflow").starts_with("the nearest are: range-overflow,"));
        assert!(hint("config-port").starts_with("the nearest are: config-party,"));
        assert!(!hint("").is_empty());
        assert_eq!(letters("kitten", "sitting"), 3);
    }

    #[test]
    fn marks_are_for_those_who_run_the_examples() {
        let page = "# a\n\n<!-- run: fails -->\n```sh\nsealane check a.py\n```\n";
        assert_eq!(readable(page), "# a\n\n```sh\nsealane check a.py\n```");
    }
}
