//! One party of oblivious transfers against a peer that sends arbitrary bytes in place of one
//! message, with correct digests.
//!
//! An input names a session and a party, one of the messages that it reads, and the bytes that come
//! instead; what comes before and after is what an honest peer says to this very party, whose
//! randomness is fixed. The party ends in the error that its session allows at that message, or
//! with outputs that a [`Case`] holds against the honest ones.

use crate::Verdict;
use crate::script::{Script, Tap, mesh};
use sealane_block::{Block, Coins, Cpu};
use sealane_net::fuzzing::Digests;
use sealane_net::{Limits, Mesh, SessionId};
use sealane_ot::ferret::{FerretCost, FerretReceiver, FerretSender, Params};
use sealane_ot::forms::{self, HashedReceiver, HashedSender, Request, chosen_bytes, given_bytes};
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{CotCost, CotReceiver, CotSender, PACKED, packed_blocks};
use sealane_ot::traits::{RandomReceiver, RandomSender};
use sealane_ot::{Flights, OtError, Security, SoftSpoken, ideal};
use sealane_parties::PartyId;
use std::ops::Range;
use std::sync::OnceLock;

const SENDER: PartyId = PartyId(0);
const RECEIVER: PartyId = PartyId(1);
/// An offset with both bits in every region; bit 0 is 1, as Ferret asks for.
const DELTA: Block = Block::new(0x8f0e_6a51_c3d2_7b94_00ff_1234_9abc_def1);

/// Base OTs, trees and extension, for both forms of security.
pub fn softspoken(bytes: &[u8]) -> Verdict {
    static HONEST: OnceLock<Vec<Honest>> = OnceLock::new();
    hostile(bytes, HONEST.get_or_init(|| honest(&EXTENSIONS)))
}

/// Set-up and an iteration of silent extension, for both forms of security.
pub fn ferret(bytes: &[u8]) -> Verdict {
    static HONEST: OnceLock<Vec<Honest>> = OnceLock::new();
    hostile(bytes, HONEST.get_or_init(|| honest(&SILENT)))
}

/// Given choices, random OTs and chosen strings.
pub fn forms(bytes: &[u8]) -> Verdict {
    static HONEST: OnceLock<Vec<Honest>> = OnceLock::new();
    hostile(bytes, HONEST.get_or_init(|| honest(&[&Forms])))
}

/// Every message of an honest peer, for each target.
pub fn seeds() -> Vec<(&'static str, String, Vec<u8>)> {
    let targets = [
        ("ot-softspoken", honest(&EXTENSIONS)),
        ("ot-ferret", honest(&SILENT)),
        ("ot-forms", honest(&[&Forms])),
    ];
    let of_target = |(target, parties): (&'static str, Vec<Honest>)| {
        let parties = parties.into_iter().enumerate();
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

    /// Returns true if a party may end in this error, other than of the network, where a message of
    /// its peer is another one.
    fn may_end_in(&self, me: PartyId, message: usize, error: &OtError) -> bool;

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

fn hostile(bytes: &[u8], parties: &'static [Honest]) -> Verdict {
    let &[party, message, ref bytes @ ..] = bytes else {
        return Verdict::Refused;
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
            Verdict::Refused
        }
        Err(error) => {
            let may = party.case.may_end_in(party.me, message, &error);
            assert!(may, "message {message}: {error}");
            Verdict::Refused
        }
        Ok(outputs) => {
            if stream.starts_with(&party.stream) {
                assert!(equal(&outputs, &party.outputs), "an honest peer");
            }
            let changed = Changed {
                message,
                stream: &stream,
            };
            party.case.check(party, &changed, &outputs);
            Verdict::Accepted
        }
    }
}

/// Runs honest sessions; returns both parties of each.
fn honest(cases: &[&'static dyn Case]) -> Vec<Honest> {
    cases.iter().flat_map(|case| both(*case)).collect()
}

fn both(case: &'static dyn Case) -> Vec<Honest> {
    let (meshes, taps) = Tap::full(2, &Limits::default());
    let outputs: Vec<Outputs> = std::thread::scope(|threads| {
        let party = |mut mesh: Mesh| {
            threads.spawn(move || {
                let outputs = case.run(&mut mesh).expect("an honest session");
                mesh.finish().expect("an honest end");
                outputs
            })
        };
        let threads: Vec<_> = meshes.into_iter().map(party).collect();
        let ends = threads.into_iter().map(|party| party.join());
        ends.map(|outputs| outputs.expect("an honest party"))
            .collect()
    });
    let one = |((me, peer), (outputs, taps)): (_, (Outputs, Vec<Tap>))| {
        let stream = taps[0].payload();
        let messages = messages(&case.flights(), me);
        let bytes = messages.last().map_or(0, |last| last.end);
        assert_eq!(bytes, stream.len(), "messages as plans count them");
        Honest {
            case,
            me,
            digests: Digests::find(SessionId::default(), [peer, me], &stream, 0..0),
            stream,
            messages,
            outputs,
        }
    };
    let parties = [(SENDER, RECEIVER), (RECEIVER, SENDER)].into_iter();
    let parties = parties.zip(outputs.into_iter().zip(taps)).map(one);
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

/// Makes OTs, and where that fails sees that nothing is left and nothing goes on.
fn sends(cot: &mut impl CotSender, mesh: &mut Mesh, count: usize) -> Result<Outputs, OtError> {
    let mut q = vec![Block::ONES; count];
    if let Err(error) = cot.extend(mesh, &mut q) {
        assert!(q.iter().all(|q| q.value() == 0), "no row is left");
        assert!(matches!(cot.extend(mesh, &mut q), Err(OtError::Ended)));
        return Err(error);
    }
    mesh.flush()?;
    Ok(vec![q])
}

fn receives(cot: &mut impl CotReceiver, mesh: &mut Mesh, count: usize) -> Result<Outputs, OtError> {
    let mut choices = vec![Block::ONES; packed_blocks(count)];
    let mut t = vec![Block::ONES; count];
    if let Err(error) = cot.extend(mesh, &mut choices, &mut t) {
        let again = cot.extend(mesh, &mut choices, &mut t);
        assert!(matches!(again, Err(OtError::Ended)));
        return Err(error);
    }
    mesh.flush()?;
    if let (Some(last), rest @ 1..) = (choices.last(), count % PACKED) {
        assert_eq!(last.value() >> rest, 0, "nothing but choices");
    }
    Ok(vec![choices, t])
}

/// An extension of base OTs: one call of so many OTs.
struct Extension {
    k: u8,
    security: Security,
    count: usize,
}

/// The form that `yao` uses; IKNP; and two pieces of an extension with large trees.
const EXTENSIONS: [&dyn Case; 3] = [
    &Extension {
        k: 4,
        security: Security::Malicious,
        count: 200,
    },
    &Extension {
        k: 1,
        security: Security::SemiHonest,
        count: 130,
    },
    &Extension {
        k: 7,
        security: Security::Malicious,
        count: 4200,
    },
];

impl Extension {
    fn parameters(&self) -> SoftSpoken {
        SoftSpoken::new(self.k, self.security)
    }
}

impl Case for Extension {
    fn run(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let (parameters, coins) = (self.parameters(), &mut coins(mesh));
        if mesh.me() == SENDER {
            let setup = Sender::set_up(parameters, cpu(), mesh, RECEIVER, DELTA, coins)?;
            mesh.flush()?;
            return sends(&mut setup.finish(mesh)?, mesh, self.count);
        }
        let setup = Receiver::set_up(parameters, cpu(), mesh, SENDER, coins)?;
        mesh.flush()?;
        receives(&mut setup.finish(mesh)?, mesh, self.count)
    }

    fn flights(&self) -> Flights {
        let parameters = self.parameters();
        let mut flights = parameters.set_up();
        flights.extend(parameters.extend(0, self.count as u64));
        flights
    }

    fn may_end_in(&self, me: PartyId, message: usize, error: &OtError) -> bool {
        match error {
            OtError::BadPoint(_) => message == 0,
            OtError::CheckFailed(_) => me == SENDER && self.security == Security::Malicious,
            _ => false,
        }
    }

    fn check(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        if party.me == RECEIVER {
            return;
        }
        let pairs = outputs[0].iter().zip(&party.outputs[0]);
        for (q, honest) in pairs {
            let difference = *q ^ *honest;
            match self.security {
                // Answers of the honest receiver fit its messages alone.
                Security::Malicious => assert_eq!(difference.value(), 0),
                // Rows of any choices, in each tree other ones.
                Security::SemiHonest if changed.message == 2 => {
                    assert_eq!(difference.value() & !DELTA.value(), 0);
                }
                Security::SemiHonest => {}
            }
        }
    }
}

/// Silent extension of ideal OTs, with tiny parameters.
struct Silent {
    security: Security,
}

const SILENT: [&dyn Case; 2] = [
    &Silent {
        security: Security::SemiHonest,
    },
    &Silent {
        security: Security::Malicious,
    },
];

impl Silent {
    const COUNT: usize = 200;
}

impl Case for Silent {
    fn run(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let (params, coins) = (Params::danger_tiny(self.security), &mut coins(mesh));
        let (mut sender, mut receiver) = ideal::danger_pair([SENDER, RECEIVER], DELTA, 3);
        if mesh.me() == SENDER {
            let source = &mut sender;
            let mut cot = FerretSender::set_up(cpu(), mesh, RECEIVER, params, source, coins)?;
            return sends(&mut cot, mesh, Self::COUNT);
        }
        let source = &mut receiver;
        let mut cot = FerretReceiver::set_up(cpu(), mesh, SENDER, params, source, coins)?;
        receives(&mut cot, mesh, Self::COUNT)
    }

    fn flights(&self) -> Flights {
        let cost = FerretCost {
            source: ideal::Free,
            params: Params::danger_tiny(self.security),
        };
        let mut flights = cost.set_up();
        flights.extend(cost.extend(0, Self::COUNT as u64));
        flights
    }

    fn may_end_in(&self, me: PartyId, _: usize, error: &OtError) -> bool {
        let fails = matches!(error, OtError::CheckFailed(_));
        fails && me == RECEIVER && self.security == Security::Malicious
    }

    fn check(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        // Another contribution to the keys gives another matrix.
        if changed.message == 0 {
            return;
        }
        // A sender's rows do not depend on the receiver's messages, nor choices on the sender's.
        assert!(same(&outputs[0], &party.outputs[0]));
        if self.security == Security::Malicious {
            assert!(equal(outputs, &party.outputs));
        }
    }
}

/// All forms, of ideal correlated OTs.
struct Forms;

impl Forms {
    /// OTs with given choices, random OTs, and OTs of strings, which have so many blocks.
    const GIVEN: usize = 21;
    const RANDOM: usize = 5;
    const CHOSEN: usize = 9;
    const LENGTH: usize = 2;

    fn choices(count: usize) -> Vec<u8> {
        (0..count).map(|j| (0x5a3c >> (j % 16)) as u8 & 1).collect()
    }

    fn strings(first: u128) -> Vec<Block> {
        let blocks = first..first + (Self::CHOSEN * Self::LENGTH) as u128;
        blocks.map(Block::new).collect()
    }

    fn send(sender: &mut HashedSender<ideal::Sender>, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let mut q = vec![Block::ZERO; Self::GIVEN];
        forms::send_given(&mut sender.cot, mesh, &mut q)?;
        let mut pairs = [[Block::ZERO; 2]; Self::RANDOM];
        sender.random(mesh, &mut pairs)?;
        let strings = [100, 200].map(Self::strings);
        let [zeros, ones] = &strings;
        let HashedSender { cot, hasher } = sender;
        forms::send_chosen(cot, hasher, mesh, Self::LENGTH, [zeros, ones])?;
        mesh.flush()?;
        Ok(vec![q, pairs.concat()])
    }

    fn receive(
        receiver: &mut HashedReceiver<ideal::Receiver>,
        mesh: &mut Mesh,
    ) -> Result<Outputs, OtError> {
        let mut t = vec![Block::ZERO; Self::GIVEN];
        forms::receive_given(&mut receiver.cot, mesh, &Self::choices(Self::GIVEN), &mut t)?;
        let mut keys = vec![Block::ZERO; Self::RANDOM];
        let mut choices = vec![Block::ZERO; packed_blocks(Self::RANDOM)];
        receiver.random(mesh, &mut choices, &mut keys)?;
        let request = Request::new(&mut receiver.cot, mesh, &Self::choices(Self::CHOSEN))?;
        mesh.flush()?;
        let mut strings = vec![Block::ZERO; Self::CHOSEN * Self::LENGTH];
        request.finish(&mut receiver.hasher, mesh, Self::LENGTH, &mut strings)?;
        Ok(vec![t, keys, strings])
    }
}

impl Case for Forms {
    fn run(&self, mesh: &mut Mesh) -> Result<Outputs, OtError> {
        let (sender, receiver) = ideal::danger_pair([SENDER, RECEIVER], DELTA, 4);
        match mesh.me() {
            SENDER => Self::send(&mut HashedSender::new(cpu(), mesh, sender, "fuzz"), mesh),
            _ => Self::receive(
                &mut HashedReceiver::new(cpu(), mesh, receiver, "fuzz"),
                mesh,
            ),
        }
    }

    fn flights(&self) -> Flights {
        let [given, chosen] = [Self::GIVEN, Self::CHOSEN].map(|count| sealane_ot::Flight {
            from_sender: 0,
            from_receiver: given_bytes(count as u64),
        });
        let strings = sealane_ot::Flight {
            from_sender: chosen_bytes(Self::CHOSEN as u64, Self::LENGTH as u64),
            from_receiver: 0,
        };
        vec![given, chosen, strings]
    }

    fn may_end_in(&self, _: PartyId, _: usize, _: &OtError) -> bool {
        false
    }

    fn check(&self, party: &Honest, changed: &Changed, outputs: &Outputs) {
        let differences = changed.stream.iter().zip(&party.stream);
        let differences: Vec<u8> = differences.map(|(a, b)| a ^ b).collect();
        if party.me == SENDER {
            // Choices are the receiver's.
            for (j, (q, honest)) in outputs[0].iter().zip(&party.outputs[0]).enumerate() {
                let expected = *honest ^ DELTA.masked(differences[j / 8] >> (j % 8));
                assert_eq!(q.value(), expected.value(), "OT {j}");
            }
            assert!(same(&outputs[1], &party.outputs[1]));
            return;
        }
        // Strings are the sender's, and nothing else is.
        assert!(equal(&outputs[..2].to_vec(), &party.outputs[..2].to_vec()));
        let length = Self::LENGTH;
        let (differences, _) = differences.as_chunks::<16>();
        for (j, choice) in Self::choices(Self::CHOSEN).into_iter().enumerate() {
            for i in 0..length {
                let sent = differences[(2 * j + usize::from(choice)) * length + i];
                let at = j * length + i;
                let expected = party.outputs[2][at] ^ Block::from_bytes(sent);
                assert_eq!(outputs[2][at].value(), expected.value(), "string {j}");
            }
        }
    }
}
