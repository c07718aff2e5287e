//! Pages of the codes, `docs/errors/CODE.md`, which are built in: a code without a page does not
//! compile.

use sealane_diagnostic::{Code, Kind};

/// Defines [`page`] for all codes.
macro_rules! pages {
    ($($variant:ident $name:literal,)*) => {
        /// Page of a code, in Markdown.
        pub fn page(code: Code) -> &'static str {
            match code {
                $(Code::$variant => {
                    include_str!(concat!("../../../docs/errors/", $name, ".md"))
                })*
            }
        }
    };
}

sealane_diagnostic::with_codes!(pages);

/// Title of a list of codes of one kind: it says who acts.
pub fn heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Program => "The program: its author acts",
        Kind::Misuse => "The call or the command line: its author acts",
        Kind::Data => "The data: their owner acts",
        Kind::Config => {
            "The configuration, a key, an approval, this machine: the person who set it up acts"
        }
        Kind::Network => "The network between the parties",
        Kind::Peer => "Another party",
        Kind::Internal => "Sealane itself",
    }
}
