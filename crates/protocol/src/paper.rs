//! What a protocol is built of, for people who want to check it: each part with the paper that it
//! follows, what the paper assumes, and how much it is worth.

use std::fmt;

/// A part of a protocol, and the paper that it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// What the part does, in a few words.
    pub part: &'static str,
    /// Family names, with commas between them.
    pub authors: &'static str,
    /// Where it was published, with the year.
    pub venue: &'static str,
    /// Where in the paper to look; empty where all of it is meant.
    pub section: &'static str,
    /// What the part assumes beyond the parts that it uses.
    pub assumption: &'static str,
    /// What it takes to break it.
    pub security: Security,
}

/// What it takes to break a part of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Work of about `2^n`: the length of its keys, or the level for which its group was chosen.
    Computational(u32),
    /// Luck of `2^-n`, whatever the work.
    Statistical(u32),
    /// Nothing does, as long as the parts that it uses hold.
    Perfect,
}

impl Paper {
    /// The paper in one line: authors, venue and year, section.
    pub fn cited(&self) -> String {
        let Paper {
            authors,
            venue,
            section,
            ..
        } = self;
        match section.is_empty() {
            true => format!("{authors}, {venue}"),
            false => format!("{authors}, {venue}, {section}"),
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Security::Computational(bits) => write!(f, "{bits} bits computational"),
            Security::Statistical(bits) => write!(f, "{bits} bits statistical"),
            Security::Perfect => f.write_str("perfect"),
        }
    }
}
