//! Texts of errors between parties: a stable code, the event, its reason, and a hint.

use sealane_diagnostic::{Code, Diagnostic};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use super::{KeyFault, NetError};
use crate::Cause;
use sealane_parties::PartyId;

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message(|party| called::<&str>(*party, &[]));
        write!(f, "{message}; {}", self.hint())
    }
}

impl std::error::Error for NetError {}

impl NetError {
    /// Explains this error with the parties' names, in order of the program. Texts from peers are
    /// one line each, without control characters.
    pub fn with_names<S: AsRef<str>>(&self, names: &[S]) -> Diagnostic {
        let message = self.message(|party| called(*party, names));
        let finding = Diagnostic::new(self.code(), message);
        finding.because(self.reason()).hint(self.hint())
    }

    /// Text that a party that gives up for this error sends to the others. Addresses of parties, as
    /// this one has configured or seen them, are left out.
    pub fn public_text<S: AsRef<str>>(&self, names: &[S]) -> String {
        let name = |party: &PartyId| called(*party, names);
        match self {
            Self::Unreachable { party, .. } => format!("{} cannot be reached", name(party)),
            NetError::Listen { .. } => "it cannot listen at its own address".into(),
            Self::Unlisted { party } => format!("its configuration lacks {}", name(party)),
            NetError::Cancelled => "the run was cancelled there".into(),
            error => without_addresses(&error.with_names(names).message),
        }
    }

    /// Stable code of this kind of error.
    pub fn code(&self) -> Code {
        match self {
            NetError::Stalled { .. } => Code::PeerSilent,
            NetError::Overdue { .. } => Code::PeerOverdue,
            NetError::Overfull { .. } => Code::PeerOverfull,
            NetError::Vanished { .. } => Code::PeerVanished,
            NetError::Malformed { .. } => Code::MalformedMessage,
            NetError::Aborted { cause, .. } => match cause {
                Cause::Network => Code::PeerCutOff,
                Cause::Party => Code::PeerGaveUp,
                Cause::Cancelled => Code::PeerCancelled,
            },
            NetError::Cancelled => Code::Interrupted,
            NetError::Finished { .. } => Code::PeerFinished,
            NetError::Diverged { .. } => Code::RecordingDiffers,
            NetError::WrongKey { .. } => Code::WrongKey,
            NetError::WrongVersion { .. } => Code::WrongVersion,
            NetError::WrongParty { .. } => Code::WrongParty,
            NetError::Doubled { .. } => Code::ConfigDouble,
            NetError::Unlisted { .. } => Code::ConfigParty,
            NetError::Unreachable { .. } => Code::Unreachable,
            NetError::Tls { .. } => Code::NoSecureConnection,
            NetError::Listen { .. } => Code::CannotListen,
            NetError::Io { .. } => Code::ConnectionFailed,
            NetError::Misuse { .. } => Code::Internal,
        }
    }

    /// The event, with `name` giving each party's name.
    fn message(&self, name: impl Fn(&PartyId) -> String) -> String {
        match self {
            NetError::Stalled { party, silent_s } => {
                format!("{} sent nothing for {silent_s} s", name(party))
            }
            NetError::Overdue {
                party,
                awaited,
                waited_s,
            } => format!(
                "{} {} for {waited_s} s, though the connection with it is up and this party waits for \
                 {awaited}",
                name(party),
                awaited.omission()
            ),
            NetError::Overfull {
                from,
                held_bytes,
                party,
                awaited,
                waited_s,
            } => format!(
                "{} has sent most of {held_bytes} bytes that cannot be used yet, as many as this \
                 party holds, while {} {} for {waited_s} s and this party waits for {awaited}",
                name(from),
                name(party),
                awaited.omission()
            ),
            NetError::Vanished { party } => format!(
                "{} is gone: the connection ended in the middle of the run",
                name(party)
            ),
            NetError::Malformed { party, reason } => {
                format!("{} sent a malformed message: {reason}", name(party))
            }
            NetError::Aborted { party, reason, .. } => format!("{} gave up: {reason}", name(party)),
            NetError::Cancelled => "the run was cancelled".into(),
            NetError::Finished { party } => format!(
                "{} has finished its run while more was expected of it",
                name(party)
            ),
            NetError::Diverged { party, difference } => format!(
                "the run with {} differs from its recording: {difference}",
                name(party)
            ),
            NetError::WrongKey { party, fault } => format!("{} {fault}", name(party)),
            NetError::WrongVersion {
                party,
                ours,
                theirs,
            } => format!(
                "{} runs Sealane {theirs}, this party runs {ours}",
                name(party)
            ),
            NetError::WrongParty { party, reason } => {
                format!("{} is taken for another: {reason}", name(party))
            }
            NetError::Doubled { party, reason } => {
                format!("{} cannot be told from another: {reason}", name(party))
            }
            NetError::Unlisted { party } => {
                format!("the configuration lacks {}", name(party))
            }
            NetError::Unreachable {
                party,
                address,
                reason,
            } => {
                format!("{} cannot be reached at {address}: {reason}", name(party))
            }
            NetError::Tls { party, reason } => {
                format!("no secure connection with {}: {reason}", name(party))
            }
            NetError::Listen { address, reason } => format!("cannot listen at {address}: {reason}"),
            NetError::Io { party, reason } => {
                format!("the connection with {} failed: {reason}", name(party))
            }
            NetError::Misuse { reason } => format!("misuse of the network room: {reason}"),
        }
    }

    /// The reason, where the sentence alone does not state it.
    fn reason(&self) -> &'static str {
        match self {
            NetError::Stalled { .. } => {
                "A party that runs gives signs of life also while it computes or waits."
            }
            NetError::Finished { .. } => "The parties do not run the same plan.",
            NetError::Cancelled => {
                "Ctrl-C or a signal to end came; the other parties have been told."
            }
            NetError::Aborted {
                cause: Cause::Cancelled,
                ..
            } => "Whoever started the run there ended it before its time.",
            _ => "",
        }
    }

    /// The action to take.
    fn hint(&self) -> &'static str {
        match self {
            NetError::Stalled { .. } => {
                "see whether its process still runs and the network between the parties is up"
            }
            NetError::Overdue { .. } => "see what its process does, and end it if it hangs",
            NetError::Overfull { .. } => {
                "see that all run the same version, and run on fewer rows at a time"
            }
            NetError::Aborted {
                cause: Cause::Cancelled,
                ..
            } => "ask there, and run again together",
            NetError::Cancelled => "nothing of it goes on; run it again",
            NetError::Vanished { .. } | NetError::Aborted { .. } => "see its own report",
            NetError::Malformed { .. } => {
                "see that both parties run the same version, and that nothing else answers at \
                 the address"
            }
            NetError::Finished { .. } => "compare `sealane plan` on all sides",
            NetError::Diverged { .. } => {
                "replay with the program, the inputs and the version that were recorded"
            }
            NetError::WrongKey {
                fault: KeyFault::Unknown { .. },
                ..
            } => {
                "send it the card of this party, which `sealane card` prints, and let it run \
                 `sealane peer add CARD` there; if it has done so, see that it has started again \
                 since"
            }
            NetError::WrongKey {
                fault: KeyFault::Ours { .. },
                ..
            } => {
                "let it compare the fingerprint of this party (`sealane card`) over the telephone; \
                 if this party has a new key, `sealane peer add CARD --replace` there, with its \
                 new card"
            }
            NetError::WrongKey { .. } => {
                "let each party read its whole fingerprint (`sealane card`) to the other over the \
                 telephone; if it is a new key, `sealane peer add CARD --replace`, and if not, do \
                 not go on"
            }
            NetError::WrongVersion { .. } => "install the same version on both sides",
            NetError::WrongParty { .. } => {
                "see that all configurations list the same parties in the same order, each with \
                 its own address and key"
            }
            NetError::Doubled { .. } => "give each party its own address and key",
            NetError::Unlisted { .. } => "add its card: `sealane peer add CARD`",
            NetError::Unreachable { .. } => {
                "see that it has been started, and that addresses and firewalls are right"
            }
            NetError::Tls { .. } => "see that it runs Sealane at this address",
            NetError::Listen { .. } => "see that the address is this machine's and the port free",
            NetError::Io { .. } => "see whether the network is up",
            NetError::Misuse { .. } => "this is a bug, please report it",
        }
    }
}

/// Name of a party.
fn called<S: AsRef<str>>(party: PartyId, names: &[S]) -> String {
    match names.get(party.index()) {
        Some(name) => format!("{} ({party})", name.as_ref()),
        None => party.to_string(),
    }
}

/// Returns the text without anything that looks like a network address.
fn without_addresses(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !"[]:".contains(c));
        let bare = bare.strip_suffix(':').unwrap_or(bare);
        let is_address = bare.parse::<SocketAddr>().is_ok() || bare.parse::<IpAddr>().is_ok();
        if is_address {
            word.replace(bare, "an address")
        } else {
            word.to_string()
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkError;

    #[test]
    fn others_are_reported_of_no_address() {
        let party = PartyId(1);
        let places = ["10.1.2.3:7700", "[fe80::1]:7700", "192.168.0.9", "::1"];
        for place in places.map(String::from) {
            let reason = format!("{place} sent no TLS, {place}: by ({place})");
            let address = place.clone();
            let on_link = |event| NetError::on_link(party, event);
            let errors = [
                NetError::unreachable(party, &place, reason.clone()),
                NetError::malformed(party, &*reason),
                NetError::wrong_party(party, &*reason),
                NetError::aborted(party, Cause::Network, &*reason),
                on_link(LinkError::Tls {
                    reason: reason.clone(),
                }),
                on_link(LinkError::Io {
                    reason: reason.clone(),
                }),
                NetError::Listen { address, reason },
            ];
            for error in errors {
                let reported = error.public_text(&["ada", "bob"]);
                assert!(!reported.contains(&place), "{reported}");
            }
        }
        let host = NetError::unreachable(party, "bob.example:7700", "refused".into());
        let silent_s = 30;
        let plain = NetError::Stalled { party, silent_s };
        for (error, text) in [
            (host, "bob (party 1) cannot be reached"),
            (plain, "bob (party 1) sent nothing for 30 s"),
        ] {
            assert_eq!(error.public_text(&["ada", "bob"]), text);
        }
    }
}
