//! Faults in any frame of a run. All parties end soon, with the right result or an error that names
//! the fault; never with a wrong result, never in a panic, never hanging.
//!
//! The sweeps take small runs of several tiles and harm each of their frames, in some ways in turn
//! or, in a nightly run, in each, in a simulated model: between two parties that compute, between
//! three, and between two owners of data and three helpers that compute for them. Faults of the
//! network and of configurations are in `faults_tls.rs`, runs without one of the parties in
//! `faults_parties.rs`, and their combination with timing in `simulator`.
//!
//! **Expected errors.** The harm lies on one link. The *receiver* finds it and names the sender.
//! All others are *witnesses*: they hear from the receiver, or from another witness, that the
//! receiver aborted and why. The error of a witness is of the same kind and has the receiver's own
//! words. The *sender*, an honest party whose link is attacked, is a witness too, except for errors
//! that it notices itself if the link is dead.

use std::time::Duration;

use crate::common::{Attack, Ending, SIMULATED, Session, is_nightly, sweep};
use sealane_engine::{FailureKind, ProtocolName};
use sealane_net::FrameKind;
use sealane_party::DIGEST_BYTES;
use sealane_testkit::adversary::{Harm, edit};

/// Patience of parties that wait in vain, on the clock of the model.
const SHORT: Duration = Duration::from_secs(60);
/// Patience of all others.
const LONG: Duration = Duration::from_secs(3600);

const FLIP_MIDDLE: Harm = Harm::Alter(|frame| {
    let middle = frame.payload.len() / 2;
    frame.payload[middle] ^= 0x10;
});
const HALVE: Harm = Harm::Alter(|frame| {
    let half = frame.payload.len() / 2;
    edit(frame, |payload| payload.truncate(half));
});

/// Harms to the row counts in the greeting of their owner, whose last number they are.
const TOO_MANY_ROWS: Harm = Harm::Alter(|frame| *frame.payload.last_mut().unwrap() = 101);
const NO_ROWS: Harm = Harm::Alter(|frame| *frame.payload.last_mut().unwrap() = 0);

/// Frame of an honest run: number `at` of the frames that `from` sends to `to`.
#[derive(Clone, Copy)]
struct FramePlace<'a> {
    session: &'a Session,
    from: usize,
    to: usize,
    at: usize,
    kind: FrameKind,
    /// Set if the digest of the traffic on its link comes after it.
    settled: bool,
}

impl FramePlace<'_> {
    /// Runs the session with this frame harmed.
    fn attack(&self, harm: Harm, patience: impl Fn(usize) -> Duration) -> Vec<Ending> {
        let FramePlace { from, to, at, .. } = *self;
        let attack = Attack { from, to, at, harm };
        let (endings, _) = self.session.attack(Some(attack), patience);
        for ending in &endings {
            let after = ending.after;
            assert!(after < 2 * LONG, "{}: {after:?}", self.text(harm));
            if let Ok(report) = &ending.result {
                self.session.assert_right(report);
            }
        }
        endings
    }

    fn is_control(&self) -> bool {
        self.kind == FrameKind::Control
    }

    /// Checks that every error names an end of this dead link, and that one of the ends saw it
    /// itself.
    fn check_dead_link(&self, endings: &[Ending], said: &str) -> Result<(), String> {
        let ends = [self.from, self.to];
        let lines = ends.map(|end| format!("{} {said}", self.session.name(end)));
        for ending in endings {
            let Err(error) = &ending.result else { continue };
            let text = error.to_string();
            if error.kind() != FailureKind::Network || !lines.iter().any(|line| text.contains(line))
            {
                return Err(format!("{:?}: {text}", error.kind()));
            }
        }
        let first_hand = |end: usize| !endings[end].error().to_string().contains("gave up: ");
        if ends.into_iter().any(first_hand) {
            Ok(())
        } else {
            Err("nobody has seen it".to_string())
        }
    }

    /// Checks that the receiver names the sender, and that all other errors quote the receiver.
    fn check_altered(&self, endings: &[Ending], kinds: &[FailureKind]) -> Result<(), String> {
        let found = endings[self.to].error().finding().message.clone();
        let sender = &self.session.job.parties()[self.from];
        // A failed check of garbled circuits names no party: of two parties, it is the other one,
        // and a receiver outside cannot tell which of the two who compute sent it. Sessions of two
        // and of four run this protocol.
        let garbled = matches!(self.session.parties(), 2 | 4);
        let opaque = garbled && found.contains("a check of what crossed");
        if found.contains("gave up: ") || !found.contains(sender) && !opaque {
            return Err(format!("{sender} is not named: {found}"));
        }
        // A party that sent an invalid frame hears the same in other words.
        let what = found.rsplit("malformed message: ").next().unwrap_or(&found);
        for ending in endings {
            let Err(error) = &ending.result else { continue };
            let text = error.to_string();
            if !kinds.contains(&error.kind()) || !text.contains(what) {
                return Err(format!("{:?}: {text}, not: {found}", error.kind()));
            }
        }
        Ok(())
    }

    fn text(&self, harm: Harm) -> String {
        let names = self.session.job.parties();
        let (from, to) = (&names[self.from], &names[self.to]);
        let (at, all) = (self.at, names.len());
        format!("{harm:?} of frame {at} from {from} to {to} of {all}")
    }
}

/// Lists every frame of every link of an honest run.
fn every_frame(session: &Session) -> Vec<FramePlace<'_>> {
    let (endings, frames) = session.attack(None, |_| LONG);
    for ending in &endings {
        let report = ending.result.as_ref();
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        session.assert_right(report);
        assert!(report.as_planned());
    }
    let mut places = Vec::new();
    for (from, links) in frames.iter().enumerate() {
        for (to, frames) in links.iter().enumerate() {
            let is_digest = |(kind, bytes): &(FrameKind, usize)| {
                let bytes = *bytes as u64;
                // With proofs a session is before it, and digests and seeds may be behind it.
                let settles = match session.job.protocol() {
                    ProtocolName::TrioMalicious => (2..5).contains(&(bytes / DIGEST_BYTES)),
                    // Behind a sum of 16 bytes, and masked values of a tile.
                    ProtocolName::Auth => (48..96).contains(&bytes),
                    _ => bytes == DIGEST_BYTES,
                };
                *kind != FrameKind::Control && settles
            };
            let digest = frames.iter().rposition(is_digest);
            let place = |(at, (kind, _)): (usize, &(FrameKind, usize))| FramePlace {
                session,
                from,
                to,
                at,
                kind: *kind,
                settled: digest.is_some_and(|digest| at < digest),
            };
            places.extend(frames.iter().enumerate().map(place));
        }
    }
    // Handshake, setup, tiles, settling, opening, goodbye: the sweeps cover all of them.
    let data = places.iter().filter(|place| !place.is_control());
    let settled = data.clone().filter(|place| place.settled).count();
    assert!(data.count() > 10 && settled > 6, "{settled}");
    places
}

#[test]
fn a_link_that_stalls_at_any_frame_is_reported_as_silence() {
    let sessions = Session::all().into_iter().chain([Session::authenticated()]);
    let sessions = sessions.collect::<Vec<_>>();
    sweep(SIMULATED, sessions.iter().flat_map(every_frame), |place| {
        // The sender learns of it only through others, if there are any that still run.
        let endings = place.attack(Harm::Stall, |party| match party {
            party if party == place.to => SHORT,
            party if party == place.from => 2 * SHORT,
            _ => LONG,
        });
        let reported = place.check_dead_link(&endings, "sent nothing for");
        reported.unwrap_or_else(|why| panic!("{}: {why}", place.text(Harm::Stall)));
    });
}

#[test]
fn a_link_that_ends_at_any_frame_is_reported_as_a_party_that_is_gone() {
    let sessions = Session::all().into_iter().chain([Session::authenticated()]);
    let sessions = sessions.collect::<Vec<_>>();
    sweep(SIMULATED, sessions.iter().flat_map(every_frame), |place| {
        let endings = place.attack(Harm::Vanish, |_| LONG);
        let reported = place.check_dead_link(&endings, "is gone");
        reported.unwrap_or_else(|why| panic!("{}: {why}", place.text(Harm::Vanish)));
    });
}

/// Harms every frame, in two of these ways in turn or, in a nightly run, in each; errors are of
/// these kinds, and those about control frames may be about data.
fn sweep_harms(
    harms: &[Harm],
    kinds: &[FailureKind],
    patience: impl Fn(&FramePlace<'_>, usize) -> Duration + Sync,
    judge: impl Fn(&FramePlace<'_>, &[Ending], Harm) + Sync,
) {
    let sessions = Session::all();
    let tried = if is_nightly() { harms.len() } else { 2 };
    let ways = harms.iter().copied().cycle();
    let places = sessions.iter().flat_map(every_frame).enumerate();
    let cases = places.flat_map(|(number, place)| {
        let ways = ways.clone().skip(number * 3 % harms.len());
        ways.take(tried).map(move |harm| (place, harm))
    });
    sweep(SIMULATED, cases, |(place, harm)| {
        let endings = place.attack(harm, |party| patience(&place, party));
        judge(&place, &endings, harm);
        let reported = if !place.is_control() {
            place.check_altered(&endings, kinds)
        } else {
            only(&endings, &[kinds, &[FailureKind::Data]].concat())
        };
        reported.unwrap_or_else(|why| panic!("{}: {why}", place.text(harm)));
    });
}

#[test]
fn a_frame_that_is_altered_never_becomes_a_wrong_result() {
    let flips = [Harm::Flip(0), FLIP_MIDDLE, Harm::Flip(-1)];
    let others = [
        Harm::Garble,
        Harm::Repeat,
        Harm::Disguise,
        Harm::Flood,
        Harm::Grow,
    ];
    let harms = [&flips[..], &others].concat();
    let kinds = [FailureKind::Peer];
    sweep_harms(
        &harms,
        &kinds,
        |_, _| LONG,
        |place, endings, harm| {
            // A frame that is checked before the reveal keeps all parties from their results.
            if place.settled && !place.is_control() {
                let none = endings.iter().all(|ending| ending.result.is_err());
                assert!(none, "{}: a result", place.text(harm));
            }
        },
    );
}

/// The same between parties of whom one may deviate, with proofs and confirmations.
#[test]
fn a_frame_that_is_altered_between_guarded_parties_never_becomes_a_wrong_result() {
    let sessions = Session::guarded();
    sweep(SIMULATED, sessions.iter().flat_map(every_frame), |place| {
        let endings = place.attack(FLIP_MIDDLE, |_| LONG);
        assert!(
            endings[place.to].result.is_err(),
            "{}",
            place.text(FLIP_MIDDLE)
        );
        let reported = only(&endings, &[FailureKind::Peer, FailureKind::Data]);
        reported.unwrap_or_else(|why| panic!("{}: {why}", place.text(FLIP_MIDDLE)));
    });
}

/// Every harm of a frame between two parties of whom either may deviate, two for each frame: all
/// end, with the right result or without one. Which of the two is named follows from what they
/// compare: a frame that only a fault above TLS can alter may be taken for a deviation.
#[test]
fn a_frame_between_authenticated_parties_never_becomes_a_wrong_result() {
    let session = Session::authenticated();
    let harms = [
        Harm::Flip(0),
        FLIP_MIDDLE,
        Harm::Flip(-1),
        Harm::Garble,
        Harm::Repeat,
        Harm::Disguise,
        Harm::Flood,
        Harm::Grow,
        Harm::Truncate,
        HALVE,
        Harm::Lose,
        Harm::Swap,
    ];
    let tried = if is_nightly() { harms.len() } else { 2 };
    let places = every_frame(&session).into_iter().enumerate();
    let cases = places.flat_map(|(number, place)| {
        let ways = harms.iter().copied().cycle().skip(number * 5 % harms.len());
        ways.take(tried).map(move |harm| (place, harm))
    });
    let kinds = [FailureKind::Peer, FailureKind::Data, FailureKind::Network];
    sweep(SIMULATED, cases, |(place, harm)| {
        let endings = place.attack(harm, |_| LONG);
        let ended = only(&endings, &kinds);
        ended.unwrap_or_else(|why| panic!("{}: {why}", place.text(harm)));
    });
}

#[test]
fn bytes_that_are_missing_or_late_are_waited_for_and_told() {
    let harms = [Harm::Truncate, HALVE, Harm::Lose, Harm::Swap];
    let kinds = [FailureKind::Peer, FailureKind::Network];
    let patience = |place: &FramePlace<'_>, party| if party == place.to { SHORT } else { LONG };
    sweep_harms(&harms, &kinds, patience, |_, _, _| ());
}

/// Checks that every error is of one of these kinds.
fn only(endings: &[Ending], kinds: &[FailureKind]) -> Result<(), String> {
    let errors = endings.iter().filter_map(|end| end.result.as_ref().err());
    let mut others = errors.filter(|error| !kinds.contains(&error.kind()));
    match others.next() {
        None => Ok(()),
        Some(error) => Err(format!("{:?}: {error}", error.kind())),
    }
}

/// Number of the last data frame, or else control frame, that `from` sends to `to`.
fn last(session: &Session, from: usize, to: usize, data: bool) -> usize {
    let (_, frames) = session.attack(None, |_| LONG);
    let mut frames = frames[from][to].iter();
    let place = frames.rposition(|(kind, _)| (*kind != FrameKind::Control) == data);
    place.expect("such a frame")
}

/// Runs a session of patient parties in which one frame is harmed.
fn harmed(session: &Session, [from, to, at]: [usize; 3], harm: Harm) -> Vec<Ending> {
    let attack = Attack { from, to, at, harm };
    session.attack(Some(attack), |_| LONG).0
}

#[test]
fn what_was_wrong_is_reported_to_all() {
    let [two, _, five, ..] = Session::all();
    let opening = last(&two, 0, 1, true);
    let another_job = "approved another job: the network class differs";
    let padding = Harm::Alter(|frame| *frame.payload.last_mut().unwrap() |= 0x80);
    let too_many = "has 101 rows of `people`, more than 100";
    let no_rows = "a result has no meaning without rows of `people`";
    let no_point = "broke the protocol: a malformed curve point";
    // The canonical encoding of a point is even; most other changes give points again.
    let odd = Harm::Alter(|frame| frame.payload[0] |= 1);
    let protocol = "approved another job: the protocol differs";
    let payload = "payload where a control message was due";
    let after_end = "broke the protocol: bits after the end of a message";
    for (session, [from, to, at], harm, words) in [
        (&two, [1, 0, 0], Harm::Flip(33), another_job),
        (&two, [0, 1, 0], Harm::Flip(65), protocol),
        (&two, [1, 0, 0], Harm::Disguise, payload),
        (&two, [0, 1, 0], Harm::Flood, "claims 131072 bytes"),
        (&two, [0, 1, 1], TOO_MANY_ROWS, too_many),
        (&two, [0, 1, 1], NO_ROWS, no_rows),
        (&two, [1, 0, 3], odd, no_point),
        (&two, [0, 1, 3], Harm::Flip(-1), "is not what it sent"),
        (&two, [1, 0, 4], Harm::Flip(7), "is not what it sent"),
        (
            &two,
            [0, 1, opening],
            Harm::Garble,
            "a check of what crossed failed",
        ),
        // From an owner of data to a helper, and from one helper to another.
        (&five, [1, 4, 0], Harm::Flip(33), another_job),
        (&five, [0, 3, 1], TOO_MANY_ROWS, too_many),
        (&five, [2, 4, 5], padding, after_end),
        (&five, [4, 3, 5], Harm::Flip(0), "is not what it sent"),
    ] {
        let endings = harmed(session, [from, to, at], harm);
        let found = endings[to].error().finding().message.clone();
        let sender = &session.job.parties()[from];
        assert!(found.contains(words), "{found}");
        let named = found.contains(sender.as_str()) || session.parties() == 2;
        assert!(named, "{found}");
        for (party, ending) in endings.iter().enumerate() {
            let text = ending.error().to_string();
            let reported = text.contains("gave up: ") && text.contains(words);
            assert!(party == to || reported, "{party}: {text}");
        }
    }
}

#[test]
fn what_opens_a_result_is_settled_too() {
    let five = Session::of_five();
    let (from, to) = (2, 1);
    let at = last(&five, from, to, true);
    let endings = harmed(&five, [from, to, at], Harm::Flip(0));
    let text = endings[to].error().finding().message.clone();
    let said = text.starts_with("what came from ada is not what it sent");
    assert!(said, "{text}");
    // The others have received everything that they need.
    let reports = endings.iter().flat_map(|ending| &ending.result);
    reports.for_each(|report| five.assert_right(report));
}

#[test]
fn both_see_that_row_counts_differ() {
    // The party that finds it first tells the other.
    let harm = Harm::Alter(|frame| *frame.payload.last_mut().unwrap() = 6);
    for ending in harmed(&Session::of_two(), [0, 1, 1], harm) {
        let text = ending.error().to_string();
        assert!(text.contains("runs another instance of the job"), "{text}");
    }
}

#[test]
fn an_account_that_does_not_fit_is_refused() {
    // The account has counters of the bytes sent to each party, the rounds, and a digest. Of two
    // parties, the second counter of the lab counts what it sent to itself. It becomes the largest
    // number, in the ten bytes of its wire form: sums must not overflow.
    let boast = Harm::Alter(|frame| {
        let first = frame.payload[1..].iter().position(|byte| byte & 0x80 == 0);
        let itself = 2 + first.expect("the end of the first number");
        assert_eq!(frame.payload[itself], 0, "nobody sends to himself");
        let largest = [&[0xff; 9][..], &[1]].concat();
        let grow = |payload: &mut Vec<u8>| drop(payload.splice(itself..=itself, largest));
        edit(frame, grow);
    });
    let two = Session::of_two();
    let at = last(&two, 1, 0, false);
    for (harm, words) in [
        (boast, "lab (party 1) sent a malformed message: its account"),
        (Harm::Flip(0), "lab (party 1) sent a malformed message"),
        (Harm::Flip(-1), "what came from lab is not what it sent"),
    ] {
        let text = harmed(&two, [1, 0, at], harm)[0].error().to_string();
        assert!(text.contains(words), "{text}");
    }
}
