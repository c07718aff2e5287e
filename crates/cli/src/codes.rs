//! Pages of the codes, `docs/errors/CODE.md`, which are built in: a code without a page does not
//! compile.

use sealane_diagnostic::{Code, FailureKind};

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

/// Returns the title of a list of codes of one kind: it says who acts.
pub fn heading(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Program => "The program: its author acts",
        FailureKind::Misuse => "The call or the command line: its author acts",
        FailureKind::Data => "The data: their owner acts",
        FailureKind::Config => {
            "The configuration, a key, an approval, this machine: the person who set it up acts"
        }
        FailureKind::Network => "The network between the parties",
        FailureKind::Peer => "Another party",
        FailureKind::Internal => "Sealane itself",
    }
}
