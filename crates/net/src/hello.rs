//! First bytes on a connection: sender, receiver, and version.
//!
//! The dialler sends its hello first, the acceptor answers, and both check what they receive. The
//! hello has a fixed form of fifty bytes in every future version, so that any two versions can
//! identify each other. Over TLS it does not authenticate the peer (the pinned key does); it
//! detects configurations that disagree. A probe (`probe.rs`) uses the same form without the
//! indices of the parties: the prober does not know how the other side numbers them.
//!
//! ```text
//!   magic 8 | wire version 2 | from 1 | to 1 | parties 1 | text length 1 | package version 31 |
//!   purpose 1 | silence in ms 4
//! ```

use std::fmt;
use std::io::{self, Read, Write};
use std::time::Duration;

use crate::error::{NetError, Result};
use sealane_parties::PartyId;

/// Changes that each wire version brought, the first version first. Any change of a byte that
/// crosses in any run adds a sentence with its reason: a test compares the transcripts of all
/// protocols with the last version.
pub const WIRE_HISTORY: &[&str] = &[
    "hello, frames and control messages",
    "a hello says what its connection is for: to run or to probe",
    "streams of coins come from seeds of 256 bits by BLAKE3, bulk starts at random places, and \
     keys, hashes and digests take the identifier of the session",
    "parties compare pinned keys with the job, tell each other where programs differ, and state row \
     counts after that",
    "garbled tables are digested by a polynomial hash, at a part of the cost of BLAKE3; frames have \
     at most 128 KiB and blocks at most 32 rows, for the caches of common processors",
    "inputs of an evaluator come from SoftSpoken OT with its check, at a quarter of the bytes, and \
     from endemic base OTs, whose two messages cross",
    "parties say whether a run draws on their pool, and what they hold in it, and fill pools",
    "many inputs of an evaluator on a WAN come from silent OT, which takes a tenth of the bytes; \
     a garbler sends its nonce first",
    "parties that do not compute give inputs to garbled circuits, and learn results of them",
    "shares under trio are digested as garbled tables are; a session of a served netlist opens the \
     outputs of its last netlist cycle alone",
    "the text of a job is JSON that other programs can read, and covers the work of single parties; \
     networks are declared by round trip and bandwidth",
    "garbled tables of mixed have 25 bytes for each AND where the network is slower than hashes; a \
     fold may leave several elements, and pools serve gmw and mixed",
    "refills of gmw and mixed make correlations of bits in portions, so that memory does not grow \
     with their number",
    "silent OT of both directions of gmw and mixed runs in step, and the set-up makes its first \
     transfers: thirteen rounds less",
    "all correlations of integers of a refill of gmw and mixed cross in one flight, where each kind \
     took one or two",
];

/// The version of everything on the wire: hello, frames, and the messages of protocols.
pub const WIRE_VERSION: u16 = WIRE_HISTORY.len() as u16;

/// The version of the package, in at most 31 bytes.
const PACKAGE_VERSION: &str = env!("CARGO_PKG_VERSION");

const HELLO_BYTES: usize = 50;
const MAGIC: [u8; 8] = *b"SEALANE\n";
const VERSION_TEXT_BYTES: usize = 31;

/// Version of Sealane, as sent in the first bytes of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Version of the wire format; parties need the same.
    pub wire: u16,
    /// Version of the package, for people.
    pub package: String,
}

impl Version {
    /// Version of this build.
    pub fn current() -> Version {
        Version {
            wire: WIRE_VERSION,
            package: PACKAGE_VERSION.into(),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (wire version {})", self.package, self.wire)
    }
}

/// Purpose for which an end of a connection is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To run with the other parties.
    Run,
    /// To check whether others answer, and to answer those that probe.
    Probe,
    /// To serve others, each in a run of its own; a party says so to those that probe.
    Serve,
    /// A purpose of another version.
    Unknown,
}

impl Purpose {
    fn code(self) -> u8 {
        match self {
            Purpose::Run => 0,
            Purpose::Probe => 1,
            Purpose::Serve => 2,
            Purpose::Unknown => u8::MAX,
        }
    }

    fn of_code(code: u8) -> Purpose {
        let mut known = [Purpose::Run, Purpose::Probe, Purpose::Serve].into_iter();
        let known = known.find(|purpose| purpose.code() == code);
        known.unwrap_or(Purpose::Unknown)
    }
}

/// Contents of a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) version: Version,
    pub(crate) from: PartyId,
    pub(crate) to: PartyId,
    pub(crate) parties: u8,
    pub(crate) purpose: Purpose,
    /// Longest time for which the sender allows a connection to be silent.
    pub(crate) silence: Duration,
}

impl Hello {
    /// Makes the hello of `from` to `to` in this version, at the beginning of a run.
    pub(crate) fn new(from: PartyId, to: PartyId, parties: u8, silence: Duration) -> Hello {
        Hello {
            version: Version::current(),
            from,
            to,
            parties,
            purpose: Purpose::Run,
            silence,
        }
    }

    /// Makes the hello of a party that sends or answers a probe, with its purpose.
    pub(crate) fn of_probe(purpose: Purpose) -> Hello {
        let nobody = PartyId(0);
        Hello {
            purpose,
            ..Hello::new(nobody, nobody, 0, Duration::ZERO)
        }
    }

    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let text = self.version.package.as_bytes();
        let text = &text[..text.len().min(VERSION_TEXT_BYTES)];
        let mut bytes = Vec::with_capacity(HELLO_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.version.wire.to_le_bytes());
        bytes.extend_from_slice(&[self.from.0, self.to.0, self.parties, text.len() as u8]);
        bytes.extend_from_slice(text);
        bytes.resize(HELLO_BYTES - 5, 0);
        bytes.push(self.purpose.code());
        let silence_ms = u32::try_from(self.silence.as_millis()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&silence_ms.to_le_bytes());
        to.write_all(&bytes)?;
        to.flush()
    }

    /// Reads a hello. Malformed bytes give an error of kind [`io::ErrorKind::InvalidData`].
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Hello> {
        let mut bytes = [0; HELLO_BYTES];
        from.read_exact(&mut bytes)?;
        let other = "the first bytes are no greeting of Sealane";
        Hello::parse(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, other))
    }

    /// Checks that `theirs` is the right answer to this hello.
    pub(crate) fn check(&self, theirs: &Hello) -> Result<()> {
        let peer = self.to;
        self.check_version(theirs, peer)?;
        if theirs.purpose != self.purpose {
            let reason = "it greets as one who is here for something else than a run";
            return Err(NetError::malformed(peer, reason));
        }
        let (from, to, parties) = (theirs.from, theirs.to, theirs.parties);
        if (from, to, parties) != (self.to, self.from, self.parties) {
            let reason = format!(
                "it says it is {from} of {parties} and speaks to {to}, but here it is {} of {} and \
                 this is {}",
                self.to, self.parties, self.from
            );
            return Err(NetError::wrong_party(peer, reason));
        }
        Ok(())
    }

    /// Checks that `theirs` comes from `peer` in a version compatible with this one.
    pub(crate) fn check_version(&self, theirs: &Hello, party: PartyId) -> Result<()> {
        if theirs.version.wire == self.version.wire {
            return Ok(());
        }
        let (ours, theirs) = (self.version.clone(), theirs.version.clone());
        Err(NetError::WrongVersion {
            party,
            ours,
            theirs,
        })
    }

    fn parse(bytes: &[u8; HELLO_BYTES]) -> Option<Hello> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (numbers, rest) = rest.split_first_chunk::<6>()?;
        let (text, rest) = rest.split_first_chunk::<VERSION_TEXT_BYTES>()?;
        let (purpose, silence) = rest.split_first()?;
        let [wire0, wire1, from, to, parties, text_bytes] = *numbers;
        let text = text.get(..usize::from(text_bytes))?;
        if !text.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        let package = str::from_utf8(text).ok()?.to_owned();
        let silence_ms = u32::from_le_bytes(silence.try_into().ok()?);
        Some(Hello {
            version: Version {
                wire: u16::from_le_bytes([wire0, wire1]),
                package,
            },
            from: PartyId(from),
            to: PartyId(to),
            parties,
            purpose: Purpose::of_code(*purpose),
            silence: Duration::from_millis(silence_ms.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_diagnostic::Code;

    fn hello() -> Hello {
        Hello::new(PartyId(1), PartyId(0), 2, Duration::from_secs(30))
    }

    fn written(hello: &Hello) -> Vec<u8> {
        let mut bytes = Vec::new();
        hello.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_form_is_the_documented_one() {
        let version = Version {
            wire: 0x0201,
            package: "1.2.3".into(),
        };
        let hello = Hello { version, ..hello() };
        let mut expected = b"SEALANE\n\x01\x02\x01\x00\x02\x051.2.3".to_vec();
        expected.resize(46, 0);
        expected.extend_from_slice(&[0x30, 0x75, 0, 0]);
        assert_eq!(written(&hello), expected);
        assert_eq!(Hello::read(&mut &expected[..]).unwrap(), hello);
        let others = [Purpose::Probe, Purpose::Serve, Purpose::Unknown];
        for (code, purpose) in (1..).zip(others) {
            expected[45] = code;
            assert_eq!(Hello::read(&mut &expected[..]).unwrap().purpose, purpose);
        }
        assert_eq!(written(&Hello::of_probe(Purpose::Probe))[45], 1);
    }

    #[test]
    fn anything_else_is_refused() {
        for (at, value) in [(0, b's'), (7, 0), (13, 32), (14, 0x1b), (14, 0xff)] {
            let mut bytes = written(&hello());
            bytes[at] = value;
            let kind = Hello::read(&mut &bytes[..]).unwrap_err().kind();
            assert_eq!(kind, io::ErrorKind::InvalidData, "byte {at} = {value}");
        }
    }

    #[test]
    fn each_disagreement_has_its_error() {
        let ours = hello();
        let answer = Hello::new(PartyId(0), PartyId(1), 2, Duration::from_secs(1));
        assert_eq!(ours.check(&answer), Ok(()));
        let refused = |change: fn(&mut Hello)| {
            let mut other = answer.clone();
            change(&mut other);
            let error = ours.check(&other).unwrap_err();
            assert_eq!(error.party(), Some(PartyId(0)));
            (error.code(), error.to_string())
        };
        let (code, text) = refused(|other| {
            other.version.wire += 1;
            other.version.package = "7.0.0".into();
        });
        assert_eq!(code, Code::WrongVersion);
        assert!(
            text.contains("7.0.0") && text.contains(PACKAGE_VERSION),
            "{text}"
        );
        let probing = refused(|other| other.purpose = Purpose::Probe);
        assert_eq!(probing.0, Code::MalformedMessage);
        let changes: [fn(&mut Hello); 3] = [
            |other| other.from = PartyId(2),
            |other| other.to = PartyId(2),
            |other| other.parties = 3,
        ];
        for change in changes {
            assert_eq!(refused(change).0, Code::WrongParty);
        }
    }
}
