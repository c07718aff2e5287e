//! One party of oblivious transfers against a peer that sends arbitrary bytes in place of one
//! message, with correct digests.
//!
//! An input names a session and a party, one of the messages that it reads, and the bytes that come
//! instead; what comes before and after is what an honest peer says to this very party, whose
//! randomness is fixed. The party ends in the error that its session allows at that message, or
//! with outputs that a [`Case`] holds against the honest ones.

mod extensions;
mod forms;
mod many;
mod products;

use crate::script::{Script, Tap, mesh};
use sealane_block::{Block, Coins, Cpu};
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_net::fuzzing::Digests;
use sealane_net::{Mesh, SessionId};
use sealane_ot::{Flight, Flights, OtError};
use sealane_parties::PartyId;
use std::ops::Range;
use std::sync::LazyLock;

const SENDER: PartyId = PartyId(0);
const RECEIVER: PartyId = PartyId(1);
/// An offset with both bits in every region; bit 0 is 1, as Ferret asks for.
const DELTA: Block = Block::new(0x8f0e_6a51_c3d2_7b94_00ff_1234_9abc_def1);

static SOFTSPOKEN: LazyLock<Vec<Honest>> = LazyLock::new(|| honest(&extensions::CHECKED));
static FERRET: LazyLock<Vec<Honest>> = LazyLock::new(|| honest(&extensions::SILENT));
static FORMS: LazyLock<Vec<Honest>> = LazyLock::new(|| honest(&[&forms::Forms]));
static MANY: LazyLock<Vec<Honest>> = LazyLock::new(|| honest(&many::CASES));
static PRODUCTS: LazyLock<Vec<Honest>> = LazyLock::new(|| honest(&products::CASES));

/// Base OTs, trees and extension, for both forms of security.
pub fn softspoken(bytes: &[u8]) -> Verdict {
    hostile(bytes, &SOFTSPOKEN)
}

/// Set-up and an iteration of silent extension, for both forms of security.
pub fn ferret(bytes: &[u8]) -> Verdict {
    hostile(bytes, &FERRET)
}

/// OTs of one of many strings: keys, chosen strings, large numbers of strings.
pub fn many(bytes: &[u8]) -> Verdict {
    hostile(bytes, &MANY)
}

/// OLEs, and triples of each kind.
pub fn products(bytes: &[u8]) -> Verdict {
    hostile(bytes, &PRODUCTS)
}

/// Given choices, random OTs, chosen strings, and an offset that comes later.
pub fn forms(bytes: &[u8]) -> Verdict {
    hostile(bytes, &FORMS)
}

/// Every message of an honest peer, for each target.
pub fn seeds() -> Vec<(&'static str, String, Vec<u8>)> {
    let targets = [
        ("ot-softspoken", &SOFTSPOKEN),
        ("ot-ferret", &FERRET),
        ("ot-forms", &FORMS),
        ("ot-many", &MANY),
        ("ot-products", &PRODUCTS),
    ];
    let of_target = |(target, parties): (&'static str, &'static LazyLock<Vec<Honest>>)| {
        let parties = parties.iter().enumerate();
        parties.flat_map(move |(number, honest)| {
            let messages = 0..honest.messages.len();
            messages.map(move |message| {
                let bytes = &honest.stream[honest.messages[message].clone()];
                let input = [&[number as u8, message as u8][..], bytes].concat();
                (target, format!("party-{number}-message-{message}"), input)
            })
        })
    };
    targets.into_iter().flat_map(of_target).collect()
}

/// Outputs of a party.
type Outputs = Vec<Vec<Block>>;

/// A protocol with fixed randomness.
trait Case: Sync {
    /// Runs a party.
    fn run(&self, mesh: &mut Mesh) -> Result<Outputs, OtError>;

    /// Bytes of the messages.
    fn flights(&self) -> Flights;

    /// The party that checks what it gets, if one does: it may end in a check that failed.
    fn checker(&self) -> Option<PartyId> {
        None
    }

    /// Number of messages to a party that hold points, which may be none.
    fn points(&self) -> usize {
        0
    }

    /// Panics unless outputs are what these changes lead to.
    fn check(&self, party: &Honest, changed: &Changed, outputs: &Outputs);
}

/// Payload that a party got in place of the honest one.
struct Changed<'a> {
    /// Number of the message that is another one.
    message: usize,
    stream: &'a [u8],
}

/// A party of an honest session.
struct Honest {
    case: &'static dyn Case,
    me: PartyId,
    /// The payload that it received, the places of messages in it, and its digests.
    stream: Vec<u8>,
    messages: Vec<Range<usize>>,
    digests: Digests,
    outputs: Outputs,
}

fn hostile(bytes: &[u8], parties: &[Honest]) -> Verdict {
    let &[party, message, ref bytes @ ..] = bytes else {
        return None;
    };
    let party = &parties[usize::from(party) % parties.len()];
    let message = usize::from(message) % party.messages.len();
    let Range { start, end } = party.messages[message];
    let mut stream = [&party.stream[..start], bytes, &party.stream[end..]].concat();
    party.digests.correct(&mut stream);
    let mut mesh = mesh(party.me, vec![Script::payload(&stream)]);
    match party.case.run(&mut mesh) {
        Err(OtError::Net(error)) => {
            let missing = stream.len() < party.stream.len();
            assert!(missing, "all messages have come: {error}");
            None
        }
        Err(error) => {
            let may = match error {
                OtError::BadPoint(_) => message < party.case.points(),
                OtError::CheckFailed(_) => party.case.checker() == Some(party.me),
                _ => false,
            };
            assert!(may, "message {message}: {error}");
            None
        }
        Ok(outputs) => {
            if stream.starts_with(&party.stream) {
                assert!(equal(&outputs, &party.outputs), "an honest peer");
            }
            let stream = &stream;
            let changed = Changed { message, stream };
            party.case.check(party, &changed, &outputs);
            Some(Accepted)
        }
    }
}

/// Runs honest sessions; returns both parties of each.
fn honest(cases: &[&'static dyn Case]) -> Vec<Honest> {
    cases.iter().flat_map(|case| both(*case)).collect()
}

fn both(case: &'static dyn Case) -> Vec<Honest> {
    let ends = Tap::honest(2, |mesh| case.run(mesh).expect("an honest session"));
    let one = |((me, peer), (outputs, taps)): (_, (Outputs, Vec<Tap>))| {
        let stream = taps[0].payload();
        let messages = messages(&case.flights(), me);
        let bytes = messages.last().map_or(0, |last| last.end);
        assert_eq!(bytes, stream.len(), "messages as plans count them");
        Honest {
            case,
            me,
            digests: Digests::find(SessionId::default(), [peer, me], &stream, &[]),
            stream,
            messages,
            outputs,
        }
    };
    let parties = [(SENDER, RECEIVER), (RECEIVER, SENDER)].into_iter();
    let parties = parties.zip(ends).map(one);
    parties.filter(|party| !party.messages.is_empty()).collect()
}

/// Places of the messages to a party.
fn messages(flights: &Flights, to: PartyId) -> Vec<Range<usize>> {
    let mut end = 0;
    let bytes = flights.iter().map(|flight| match to {
        SENDER => flight.from_receiver as usize,
        _ => flight.from_sender as usize,
    });
    let place = |bytes| {
        end += bytes;
        end - bytes..end
    };
    bytes.filter(|&bytes| bytes > 0).map(place).collect()
}

impl Honest {
    /// Where message `number` came unchanged.
    fn has(&self, changed: &Changed, number: usize) -> bool {
        let place = self.messages[number].clone();
        changed.stream.get(place.clone()) == self.stream.get(place)
    }

    /// Differences of message `number` from that of the honest peer, byte by byte.
    fn differences(&self, changed: &Changed, number: usize) -> Vec<u8> {
        let place = self.messages[number].clone();
        let bytes = self.stream[place.clone()].iter();
        let bytes = bytes.zip(&changed.stream[place]);
        bytes.map(|(honest, changed)| honest ^ changed).collect()
    }
}

/// A flight of one message, of the sender.
fn from_sender(bytes: u64) -> Flight {
    Flight {
        from_sender: bytes,
        from_receiver: 0,
    }
}

/// A flight of one message, of the receiver.
fn from_receiver(bytes: u64) -> Flight {
    Flight {
        from_sender: 0,
        from_receiver: bytes,
    }
}

fn equal(ours: &Outputs, theirs: &Outputs) -> bool {
    let same = |(ours, theirs): (&Vec<Block>, &Vec<Block>)| same(ours, theirs);
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(same)
}

fn same(ours: &[Block], theirs: &[Block]) -> bool {
    Block::as_bytes(ours) == Block::as_bytes(theirs)
}

fn cpu() -> Cpu {
    Cpu::detect().expect("a tier")
}

fn coins(mesh: &Mesh) -> Coins {
    Coins::danger_fixed_seed(u64::from(mesh.me().0) + 1)
}
