//! Errors that end a run, phrased for the person who started it.

use crate::events::Failed;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_net::{Cause, NetError};
use sealane_parties::PartyId;
use sealane_party::Fault;

pub use sealane_diagnostic::FailureKind;

/// Error that ended a run: a diagnostic, and its source in the network if there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.finding)]
pub struct EngineError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    finding: Diagnostic,
    /// Text for other parties, if they may learn more than that there was an error.
    public_text: Option<String>,
    /// Underlying error of the network.
    net: Option<NetError>,
}

/// Sentence of an error that names a party that deviated.
const DESTROYED: &str =
    "The secret offsets and everything made with them have been destroyed here.";

impl EngineError {
    /// Error for a bug.
    pub fn internal(what: impl Into<String>) -> EngineError {
        let message = format!("internal error: {}", what.into());
        let finding = Diagnostic::new(Code::Internal, message)
            .hint("please report this with the program and the versions");
        EngineError::from(finding)
    }

    /// Returns the kind of failure, which says who has to act.
    pub fn kind(&self) -> FailureKind {
        self.0.finding.kind()
    }

    /// Returns the diagnostic: sentence, place, reason and hint.
    pub fn finding(&self) -> &Diagnostic {
        &self.0.finding
    }

    /// Returns the underlying error of the network, if there is one.
    pub fn net(&self) -> Option<&NetError> {
        self.0.net.as_ref()
    }

    /// Replaces the hint.
    pub fn hint(mut self, hint: impl Into<String>) -> EngineError {
        self.0.finding.hint = hint.into();
        self
    }

    /// Replaces the reason.
    pub(crate) fn because(mut self, reason: String) -> EngineError {
        self.0.finding.reason = reason;
        self
    }

    /// Returns the message to peers when this side aborts: the cause, and one line without any
    /// secret, which names the party at fault if it is known. A party that receives it forwards it
    /// to the others with the name of its sender.
    pub(crate) fn for_peers(&self) -> (Cause, String) {
        let cause = match (self.kind(), self.net().map(NetError::cause)) {
            (_, Some(Cause::Cancelled)) => Cause::Cancelled,
            (FailureKind::Network, _) => Cause::Network,
            _ => Cause::Party,
        };
        let opaque = "an error on its side, which its own report names";
        let text = self
            .0
            .public_text
            .clone()
            .unwrap_or_else(|| opaque.to_string());
        (cause, text)
    }

    /// Returns the event that is recorded for the error. For errors in data it keeps only the
    /// violated rule and the place, since the text shows a value to its owner, unless other parties
    /// may read the text.
    pub(crate) fn failed_event(&self, step: Option<usize>) -> Failed {
        match self.0.public_text {
            Some(_) => Failed::with_text(self.finding(), step),
            None => Failed::new(self.finding(), step),
        }
    }

    /// Error for two parties, or a party and the program, that disagree about a number of rows.
    pub(crate) fn row_mismatch(message: String) -> EngineError {
        let finding = Diagnostic::new(Code::RowsDiffer, message)
            .because("Nothing that depends on inputs has been sent.")
            .hint("mend the table and run again");
        EngineError::from(finding).made_public()
    }

    /// Error for a party that would run the approved job on other row counts or keys than this
    /// side, although it showed it the same ones.
    pub(crate) fn instance_mismatch(peer: &str, ours: &[u8; 32], theirs: &[u8; 32]) -> EngineError {
        let [theirs, ours] = [theirs, ours].map(|hash| hex::encode(&hash[..6]));
        let message = format!(
            "{peer} runs another instance of the job ({theirs} there, {ours} here), although program, \
             plan, keys and the row counts that it stated are the same"
        );
        let finding = Diagnostic::new(Code::OtherJob, message)
            .because(
                "Some party stated different row counts to different others, or runs software that \
                 is not Sealane's. Nothing that depends on inputs has been sent.",
            )
            .hint("compare the row counts and the versions of all parties");
        EngineError::from(finding).made_public()
    }

    /// Error for two parties that approved different jobs: the part that differs, and both values.
    pub(crate) fn job_mismatch(peer: &str, part: &str, ours: &str, theirs: &str) -> EngineError {
        let message = format!(
            "{peer} approved another job: the {part} differs ({theirs} there, {ours} here)"
        );
        let hint =
            "run `sealane plan` on all sides and compare; all need the same file and options";
        let finding = Diagnostic::new(Code::OtherJob, message).hint(hint);
        let mut error = EngineError::from(finding);
        error.0.public_text = Some(format!(
            "{peer} approved another job: the {part} differs ({theirs} there, {ours} at the one who \
             tells); compare `sealane plan`"
        ));
        error
    }

    /// Adds the first line of the text forms that differs, and this side's text of it.
    pub(crate) fn in_line(mut self, number: usize, ours: Option<&str>) -> EngineError {
        let first = format!("the first line of the text form that differs is line {number}");
        let here = match ours {
            Some(line) => format!("here it is `{}`", line.trim()),
            None => "here the text ends before it".to_string(),
        };
        self.0.public_text = self
            .0
            .public_text
            .map(|public_text| format!("{public_text}; {first}"));
        self.0.finding = self.0.finding.because(format!("{first}; {here}")).hint(
            "run `sealane check FILE --text` on all sides and compare from that line on; all need the \
             same program",
        );
        self
    }

    /// Error for two parties that have pinned different keys for a party, with both fingerprints.
    pub(crate) fn key_mismatch(peer: &str, whose: &str, ours: &str, theirs: &str) -> EngineError {
        let message = format!("{peer} has pinned another key of {whose} than this side");
        let finding = Diagnostic::new(Code::KeysDiffer, message)
            .because(format!(
                "the fingerprint is {theirs} there and {ours} here, so one of the two meets somebody \
                 else as {whose}; nothing that depends on inputs has been sent"
            ))
            .hint(format!(
                "ask {whose} itself for its fingerprint (`sealane card`), and pin its card anew on \
                 the side that has another one (`sealane peer add`)"
            ));
        let mut error = EngineError::from(finding);
        error.0.public_text = Some(format!(
            "{peer} has pinned another key of {whose} than the one who tells; compare fingerprints"
        ));
        error
    }

    /// Error for data that differ from those that their sender says it sent.
    pub(crate) fn altered(peer: &str) -> EngineError {
        let message = format!("what came from {peer} is not what it sent");
        let hint =
            format!("run again; if it happens again, do not trust {peer} or the machines between");
        EngineError::damaged(Code::Altered, message, hint)
    }

    fn damaged(code: Code, message: String, hint: String) -> EngineError {
        let finding = Diagnostic::new(code, message)
            .because(
                "It was altered or damaged on the way, so this side takes no result from the run.",
            )
            .hint(hint);
        EngineError::from(finding).made_public()
    }

    /// Error for a party that failed a check of its work, by which it may have learned bits of a
    /// secret. Running again, which mends most faults, would add up what it learns.
    fn deviated(peer: &str, check: &str) -> EngineError {
        let message = format!("{peer} failed {check}: it deviated from the protocol");
        let finding = Diagnostic::new(Code::PeerDeviated, message)
            .because(DESTROYED)
            .hint(format!(
                "do not run with {peer} again before you know why: compare versions, and ask its \
                 operator"
            ));
        EngineError::from(finding).made_public()
    }

    /// Adds to the error of a party that deviated whether this side had taken an input.
    pub(crate) fn after_inputs(self, used: bool) -> EngineError {
        let all = "Inputs of this run had been used, and no result of it must be, at any party.";
        let none = "No input of this run had been used.";
        self.because(format!("{} {DESTROYED}", if used { all } else { none }))
    }

    /// Error for a check that tells that one of some parties deviated, and not which.
    fn disputed(between: &[String], check: &str) -> EngineError {
        let message = format!(
            "{check} failed: {} deviated from the protocol",
            between.join(" or ")
        );
        let finding = Diagnostic::new(Code::Disputed, message)
            .because(
                "This party cannot know which of them; it has taken no result from the run, and \
                 revealed none after the check.",
            )
            .hint(
                "compare with what the other parties report: an honest one never names another \
                 honest one alone; run again with other parties in their place",
            );
        EngineError::from(finding).made_public()
    }

    /// Converts a fault of a protocol, with names for parties.
    pub fn from_fault(fault: Fault, names: &[String]) -> EngineError {
        match fault {
            Fault::Net(cause) => EngineError::from_net(cause, names),
            Fault::Peer { party, what } => {
                let message = format!("{} broke the protocol: {what}", name(names, party));
                let finding = Diagnostic::new(Code::ProtocolBroken, message)
                    .hint("see that all parties run the same version of Sealane, unaltered");
                EngineError::from(finding).made_public()
            }
            Fault::Machine(finding) => EngineError::from(*finding),
            Fault::Deviated { party, check } => EngineError::deviated(&name(names, party), check),
            Fault::Disputed { between, check } => {
                let between = between.iter().map(|party| name(names, party));
                EngineError::disputed(&between.collect::<Vec<_>>(), check)
            }
            Fault::Altered(party) => EngineError::altered(&name(names, party)),
            Fault::CheckFailed => EngineError::damaged(
                Code::CheckFailed,
                "a check of what crossed failed".to_string(),
                "run again; if it happens again, do not trust the other side or the machine"
                    .to_string(),
            ),
            other => EngineError::internal(other.to_string()),
        }
    }

    /// Converts an error of the network, with names for parties.
    pub fn from_net(cause: NetError, names: &[String]) -> EngineError {
        let mut error = EngineError::from(cause.with_names(names));
        error.0.public_text = Some(cause.public_text(names));
        error.0.net = Some(cause);
        error
    }

    /// Allows other parties to read the sentence of the error.
    pub(crate) fn made_public(mut self) -> EngineError {
        self.0.public_text = Some(self.0.finding.message.clone());
        self
    }
}

impl From<Diagnostic> for EngineError {
    /// Converts a diagnostic into an error of which other parties learn only that it occurred.
    fn from(finding: Diagnostic) -> EngineError {
        EngineError(Box::new(Inner {
            finding,
            public_text: None,
            net: None,
        }))
    }
}

/// Returns the name of a party, or its number if the program has no name for it.
pub(crate) fn name(names: &[String], party: PartyId) -> String {
    names
        .get(party.index())
        .cloned()
        .unwrap_or_else(|| format!("party {}", party.0))
}

/// Errors that need a network or another party to occur; their pages quote the whole text.
#[cfg(test)]
mod tests {
    use super::*;
    use sealane_identity::PublicKey;
    use sealane_net::{Awaited, KeyFault, Version};
    use sealane_parties::PartySet;
    use sealane_testkit::page;

    const ADA: PartyId = PartyId(0);
    const BEN: PartyId = PartyId(1);

    fn names() -> Vec<String> {
        ["ada", "ben"].map(String::from).into()
    }

    fn shows(error: EngineError, kind: FailureKind) {
        assert_eq!(error.kind(), kind, "{error}");
        page::shows(error.finding().code.name(), &error.to_string());
    }

    #[test]
    fn a_network_that_fails_has_pages() {
        let awaited = Awaited::Payload { step: 7 };
        let errors = [
            NetError::Stalled {
                party: BEN,
                silent_s: 30,
            },
            NetError::Overdue {
                party: BEN,
                awaited,
                waited_s: 30,
            },
            NetError::Overfull {
                from: ADA,
                held_bytes: 67_108_864,
                party: BEN,
                awaited,
                waited_s: 30,
            },
            NetError::Vanished { party: BEN },
            NetError::Aborted {
                party: BEN,
                cause: Cause::Network,
                reason: "ada sent nothing for 30 s".into(),
            },
            NetError::Unreachable {
                party: BEN,
                address: "ben.example:7700".into(),
                reason: "connection refused".into(),
            },
            NetError::Tls {
                party: BEN,
                reason: "received corrupt message".into(),
            },
            NetError::Io {
                party: BEN,
                reason: "connection reset by peer".into(),
            },
        ];
        for error in errors {
            shows(EngineError::from_net(error, &names()), FailureKind::Network);
        }
    }

    #[test]
    fn a_peer_that_fails_has_pages() {
        let key = |digits: &str| -> PublicKey {
            format!("ed25519:{digits}").parse().expect("it is a key")
        };
        let expected = key("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        let seen = key("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
        let version = |package: &str, wire| Version {
            wire,
            package: package.into(),
        };
        let errors = [
            NetError::Malformed {
                party: BEN,
                reason: "a frame of 99999999 bytes".into(),
            },
            NetError::Aborted {
                party: BEN,
                cause: Cause::Party,
                reason: "an error on its side".into(),
            },
            NetError::Aborted {
                party: BEN,
                cause: Cause::Cancelled,
                reason: NetError::Cancelled.public_text::<&str>(&[]),
            },
            NetError::Finished { party: BEN },
            NetError::Diverged {
                party: BEN,
                difference: "frame 2 differs at its byte 4464".into(),
            },
            NetError::WrongKey {
                party: BEN,
                fault: KeyFault::Theirs { expected, seen },
            },
            NetError::WrongVersion {
                party: BEN,
                ours: version("0.1.0", 1),
                theirs: version("0.9.0", 2),
            },
            NetError::WrongParty {
                party: BEN,
                reason: "it dials a party that comes after it".into(),
            },
        ];
        for error in errors {
            shows(EngineError::from_net(error, &names()), FailureKind::Peer);
        }
        let what = "bits after the end of a message are not zero".into();
        let broken = Fault::Peer { party: BEN, what };
        let (party, check) = (BEN, "a check of authenticated products");
        let deviated = EngineError::from_fault(Fault::Deviated { party, check }, &names());
        let used = deviated.clone().after_inputs(true);
        assert!(
            used.finding()
                .reason
                .starts_with("Inputs of this run had been used, and no")
        );
        let (between, check) = (PartySet::of([PartyId(0), BEN]), "a proof");
        let disputed = Fault::Disputed { between, check };
        let differs = EngineError::job_mismatch("ben", "network class", "lan", "wan");
        for error in [
            EngineError::from_fault(broken, &names()),
            deviated.after_inputs(false),
            EngineError::from_fault(disputed, &names()),
            EngineError::from_fault(Fault::Altered(BEN), &names()),
            EngineError::from_fault(Fault::CheckFailed, &names()),
            differs,
            EngineError::key_mismatch("ben", "cyd", &expected.fingerprint(), &seen.fingerprint()),
        ] {
            shows(error, FailureKind::Peer);
        }
    }

    #[test]
    fn what_this_side_has_to_mend_has_pages() {
        let (address, reason) = ("0.0.0.0:7700".into(), "address in use".into());
        let taken = NetError::Listen { address, reason };
        shows(EngineError::from_net(taken, &names()), FailureKind::Config);
        let rows = "`patients` has 569 rows at ada and 570 at ben";
        shows(EngineError::row_mismatch(rows.into()), FailureKind::Data);
        let panicked = EngineError::internal("a party panicked");
        shows(panicked, FailureKind::Internal);
        let reason = "a party that has left the run goes on".into();
        let misuse = NetError::Misuse { reason };
        let error = EngineError::from_net(misuse, &names());
        let internal = (FailureKind::Internal, Code::Internal);
        assert_eq!((error.kind(), error.finding().code), internal);
    }

    #[test]
    fn a_party_is_named_once_whatever_its_number() {
        let names = (0..12).map(|i| format!("p{i}")).collect::<Vec<_>>();
        let error = EngineError::from_net(NetError::Vanished { party: PartyId(10) }, &names);
        let message = &error.finding().message;
        assert!(message.starts_with("p10 (party 10) is gone"), "{error}");
    }

    #[test]
    fn others_are_reported_no_address() {
        let stranger = "10.1.2.3:50000 says it is party 7".to_string();
        for error in [
            NetError::Unreachable {
                party: BEN,
                address: "ben.example:7700".into(),
                reason: "refused".into(),
            },
            NetError::WrongParty {
                party: BEN,
                reason: stranger,
            },
        ] {
            let (_, reported) = EngineError::from_net(error, &names()).for_peers();
            assert!(reported.starts_with("ben (party 1)"), "{reported}");
            let shown = !reported.contains("7700") && !reported.contains("10.1.2.3");
            assert!(shown, "{reported}");
        }
    }

    #[test]
    fn others_are_reported_that_a_run_was_cancelled_and_so_are_those_who_hear_it_from_them() {
        let cancelled = EngineError::from_net(NetError::Cancelled, &names());
        assert_eq!(cancelled.kind(), FailureKind::Misuse);
        let (cause, reported) = cancelled.for_peers();
        assert_eq!(cause, Cause::Cancelled);
        let heard = EngineError::from_net(
            NetError::Aborted {
                party: BEN,
                cause,
                reason: reported,
            },
            &names(),
        );
        assert_eq!(heard.for_peers().0, Cause::Cancelled);
        let cancelled = cancelled.to_string();
        assert!(cancelled.starts_with("error[interrupted]: the run was cancelled"));
    }

    #[test]
    fn others_are_reported_nothing_of_the_data() {
        let finding = Diagnostic::new(Code::DataRange, "`age` is 130");
        let (cause, reported) = EngineError::from(finding).for_peers();
        assert_eq!(cause, Cause::Party);
        assert!(!reported.contains("130"), "{reported}");
    }
}
