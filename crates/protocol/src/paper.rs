//! Components of a protocol, for reviewers: each part with the paper that it follows, the paper's
//! assumption, and the security of the part.

use crate::profile::{Profile, SecurityLevel};
use serde::Serialize;
use std::fmt;

/// A part of a protocol, and the paper that it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Paper {
    /// Function of the part, in a few words.
    pub part: &'static str,
    /// Family names, with commas between them.
    pub authors: &'static str,
    /// Venue of publication, with the year.
    pub venue: &'static str,
    /// Section of the paper; empty if all of it applies.
    pub section: &'static str,
    /// Assumption of the part beyond the parts that it uses.
    pub assumption: &'static str,
    /// Security of the part.
    pub security: Security,
}

/// Security of a part of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Security {
    /// Computational: breaking it takes work of about `2^n`, by the length of its keys or the level
    /// of its group.
    Computational(u32),
    /// Statistical: an attack succeeds with probability `2^-n`, whatever its work.
    Statistical(u32),
    /// Perfect, as long as the parts that it uses are secure.
    Perfect,
}

/// Basis of one run of a protocol: no parts that other runs alone take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// Assumptions, one sentence.
    pub assumption: String,
    /// Components, each with its paper.
    pub references: Vec<Paper>,
    /// Security, that of the weakest component.
    pub security: SecurityLevel,
}

impl Basis {
    /// The components of a profile as `take` has them, which leaves out those that a run does not
    /// use, and the assumptions of these.
    pub fn of(profile: &Profile, assumption: &str, take: impl Fn(Paper) -> Option<Paper>) -> Basis {
        let references = profile.references.iter().copied().filter_map(take);
        let references = references.collect::<Vec<_>>();
        let level = references.iter().map(|paper| paper.security);
        let computational = level.clone().filter_map(|level| match level {
            Security::Computational(bits) => Some(bits),
            Security::Statistical(_) | Security::Perfect => None,
        });
        let statistical = level.filter_map(|level| match level {
            Security::Statistical(bits) => Some(bits),
            Security::Computational(_) | Security::Perfect => None,
        });
        let whole = profile.security.computational;
        let security = SecurityLevel {
            computational: computational.min().unwrap_or(whole),
            statistical: statistical.min().unwrap_or(0),
        };
        Basis {
            assumption: assumption.to_string(),
            references,
            security,
        }
    }
}

impl Paper {
    /// Formats the paper in one line: authors, venue and year, section.
    pub fn cited(&self) -> String {
        let Paper {
            authors,
            venue,
            section,
            ..
        } = self;
        if section.is_empty() {
            format!("{authors}, {venue}")
        } else {
            format!("{authors}, {venue}, {section}")
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
