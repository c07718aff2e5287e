//! Refusals of a pool, for people.

use crate::state::BATCH;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_ot::Role;
use std::fmt::Display;

/// Files with OTs that a run has taken cannot be read.
pub(crate) fn lost(at: &str, error: impl Display) -> Diagnostic {
    unusable(at, error)
        .because("What this run has taken is out of the pool, and is not used again.")
}

/// The files of the pool cannot be read or written.
pub(crate) fn unusable(at: &str, error: impl Display) -> Diagnostic {
    Diagnostic::new(Code::PoolUnusable, format!("the pool at {at}: {error}")).hint(
        "mend the disk or the rights of the folder; if the files are damaged or belong to \
             another key, `sealane pool drop` removes them at this party, and `sealane pool fill` \
             makes new ones with the other",
    )
}

/// The operating system gives no randomness.
pub(crate) fn no_randomness(error: impl Display) -> Diagnostic {
    let hint = "see that the operating system gives random numbers";
    Diagnostic::new(Code::NoRandomness, error.to_string()).hint(hint)
}

/// Another process of this party uses the pool at the same moment.
pub(crate) fn busy(at: &str) -> Diagnostic {
    let what = format!("another process uses the pool at {at} at the same moment");
    Diagnostic::new(Code::PoolBusy, what).hint("try again when it has ended")
}

/// The pool has too few OTs that both parties hold, in this role of this party.
pub(crate) fn short(role: Role, have: u64, want: u64) -> Diagnostic {
    let (have_ots, want_ots) = (have * BATCH as u64, want * BATCH as u64);
    let does = match role {
        Role::Sender => "sends",
        Role::Receiver => "receives",
    };
    let what = format!(
        "the pool of this pair has {have_ots} oblivious transfers that both parties hold and this \
         one {does}; this run takes {want_ots}"
    );
    Diagnostic::new(Code::PoolShort, what)
        .because(format!(
            "A run takes them in batches of {BATCH}, and all before it begins."
        ))
        .hint("let both parties call `sealane pool fill`, or run without `--pool`")
}

/// The pool has as many fills as it can hold.
pub(crate) fn full(at: &str) -> Diagnostic {
    Diagnostic::new(
        Code::PoolFull,
        format!("the pool at {at} holds as many fills as it can"),
    )
    .hint("use it before it is filled again, or `sealane pool drop` it and make one large fill")
}
