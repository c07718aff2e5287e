//! A peer that misbehaves in any frame of a run: both sides end, soon, with an error that says
//! what it was or with the right result; never with a wrong one, never in a panic, never hanging.
//!
//! The sweeps take a small garbled run of several tiles and harm each of its frames in each way,
//! over memory; what the network and configurations can do is in `faults_tls.rs`.

mod common;

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use common::{Ending, assert_right, both, inputs, job};
use sealane_engine::Kind;
use sealane_net::{FrameKind, Limits, Transport, memory_pair};
use sealane_testkit::adversary::{Adversary, Harm};

/// Longer than any honest pause on a busy machine, far shorter than the test's patience with it.
const LONG: Duration = Duration::from_secs(20);
/// For harms that leave both sides waiting. Where a machine is so busy that an honest pause is
/// longer, the run ends with the same error a little early.
const SHORT: Duration = Duration::from_millis(500);

type Frames = Vec<(FrameKind, usize)>;

/// Runs both parties over memory while `attacker`'s end harms one frame. Gives how both ended and
/// which frames each wrote.
fn attack(
    attacker: usize,
    what: Option<(usize, Harm)>,
    patience: Duration,
) -> ([Ending; 2], [Frames; 2]) {
    let job = job();
    let limits = Limits {
        patience,
        ..Limits::default()
    };
    let (one, other) = memory_pair(&limits);
    let mut side = 0;
    let ends = [one, other].map(|end| {
        let what = what.filter(|_| side == attacker);
        side += 1;
        Adversary::new(Box::new(end), what)
    });
    let seen = [ends[0].seen(), ends[1].seen()];
    let meet = ends.map(|end| move || Ok(Box::new(end) as Box<dyn Transport>));
    let endings = both([&job, &job], inputs(), meet, limits);
    (endings, seen.map(|seen| seen.frames()))
}

/// The frames that each party sends in an honest run.
fn honest_frames() -> [Frames; 2] {
    let (endings, frames) = attack(0, None, LONG);
    for ending in &endings {
        let report = ending
            .result
            .as_ref()
            .unwrap_or_else(|error| panic!("{error}"));
        assert_right(report);
        assert!(report.as_planned());
    }
    frames
}

/// Judges many cases at once: most of them wait more than they compute.
fn sweep<T: Send>(cases: impl IntoIterator<Item = T>, judge: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases.into_iter().collect::<Vec<_>>());
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                loop {
                    let case = cases.lock().expect("no holder of the lock panics").pop();
                    let Some(case) = case else { return };
                    judge(case);
                }
            });
        }
    });
}

/// Every frame of both parties: who sends it, its number, and what it is.
fn every_frame() -> Vec<(usize, usize, FrameKind, bool)> {
    let frames = honest_frames();
    let numbered = frames.iter().enumerate().flat_map(|(party, frames)| {
        let last = frames
            .iter()
            .rposition(|(kind, _)| *kind != FrameKind::Control);
        let frame = move |(at, (kind, _)): (usize, &(FrameKind, usize))| {
            (party, at, *kind, Some(at) == last)
        };
        frames.iter().enumerate().map(frame)
    });
    let numbered = numbered.collect::<Vec<_>>();
    // Handshake, set-up, tiles, settling, opening, goodbye: the sweeps are about something.
    assert!(numbered.len() > 12, "{frames:?}");
    numbered
}

#[test]
fn a_link_that_stalls_at_any_frame_is_told_as_silence_to_both() {
    sweep(every_frame(), |(attacker, at, ..)| {
        let (endings, _) = attack(attacker, Some((at, Harm::Stall)), SHORT);
        for ending in endings {
            let error = ending.error();
            assert_eq!(error.kind(), Kind::Network, "{error}");
            assert!(error.to_string().contains("sent nothing for"), "{error}");
            assert!(ending.after < Duration::from_secs(10), "{:?}", ending.after);
        }
    });
}

#[test]
fn a_link_that_ends_at_any_frame_is_told_as_a_peer_that_is_gone() {
    sweep(every_frame(), |(attacker, at, ..)| {
        let (endings, _) = attack(attacker, Some((at, Harm::Vanish)), LONG);
        for ending in endings {
            let error = ending.error();
            assert_eq!(error.kind(), Kind::Network, "{error}");
            assert!(error.to_string().contains("is gone"), "{error}");
            assert!(ending.after < LONG, "{:?}", ending.after);
        }
    });
}

#[test]
fn a_frame_that_is_altered_never_becomes_a_wrong_result() {
    let harms = [
        Harm::Flip(0),
        Harm::Flip(40),
        Harm::Flip(-1),
        Harm::Garble,
        Harm::Repeat,
        Harm::Disguise,
        Harm::Flood,
        Harm::Grow,
        Harm::Truncate,
        Harm::Lose,
        Harm::Swap,
    ];
    let frames = every_frame();
    let cases = frames
        .iter()
        .flat_map(|frame| harms.map(|harm| (*frame, harm)));
    sweep(cases, |((attacker, at, kind, is_last), harm)| {
        // Bytes that are missing, or come only when the answer to them has come, are waited for.
        let waits = matches!(harm, Harm::Truncate | Harm::Lose | Harm::Swap);
        let patience = if waits { SHORT } else { LONG };
        let (endings, _) = attack(attacker, Some((at, harm)), patience);
        let case = format!("{harm:?} of frame {at} of party {attacker}");
        for ending in &endings {
            assert!(ending.after < LONG, "{case}: {:?}", ending.after);
            match &ending.result {
                Ok(report) => assert_right(report),
                Err(error) => match error.kind() {
                    Kind::Peer => {}
                    // A row count that was altered is a row count that does not fit.
                    Kind::Data if kind == FrameKind::Control => {}
                    Kind::Network if waits => {
                        assert!(
                            error.to_string().contains("sent nothing for"),
                            "{case}: {error}"
                        );
                    }
                    kind => panic!("{case}: {kind:?}: {error}"),
                },
            }
        }
        // What a protocol has written is settled before anything is opened, and all but half of
        // what opens a result is checked against it.
        if kind != FrameKind::Control && !is_last {
            let victim = &endings[1 - attacker];
            assert!(victim.result.is_err(), "{case} went unnoticed");
        }
    });
}

#[test]
fn what_was_wrong_is_told_to_both() {
    let check = "a check of what crossed failed";
    let frame = |party: usize, wanted| {
        let frames = &honest_frames()[party];
        frames
            .iter()
            .rposition(|(kind, _)| (*kind != FrameKind::Control) == wanted)
            .unwrap()
    };
    let (opening, goodbye) = (frame(0, true), frame(1, false));
    for (attacker, at, harm, words, told) in [
        (
            1,
            0,
            Harm::Flip(0),
            "lab approved another job: the program differs",
            "the program of the job",
        ),
        (
            0,
            0,
            Harm::Flip(33),
            "clinic approved another job: the protocol differs",
            "the protocol of",
        ),
        (
            1,
            0,
            Harm::Disguise,
            "payload where a control message was due",
            "sent a malformed message",
        ),
        (
            0,
            0,
            Harm::Flood,
            "oversized control message",
            "sent a malformed message",
        ),
        (
            0,
            0,
            Harm::Alter(|frame| *frame.payload.last_mut().unwrap() = 101),
            "clinic has 101 rows of `people`, outside 1 to 100",
            "101 rows",
        ),
        (
            0,
            0,
            Harm::Alter(|frame| *frame.payload.last_mut().unwrap() = 0),
            "clinic has 0 rows of `people`, outside 1 to 100",
            "0 rows",
        ),
        (
            1,
            2,
            // The canonical encoding of a point is even; most other changes are points again.
            Harm::Alter(|frame| frame.payload[0] |= 1),
            "lab broke the protocol: a malformed curve point",
            "curve point",
        ),
        (0, 2, Harm::Flip(-1), check, check),
        (1, 3, Harm::Flip(7), check, check),
        (0, opening, Harm::Garble, check, check),
    ] {
        let ([clinic, lab], _) = attack(attacker, Some((at, harm)), LONG);
        let (own, victim) = if attacker == 0 {
            (clinic, lab)
        } else {
            (lab, clinic)
        };
        assert!(
            victim.error().to_string().contains(words),
            "{}",
            victim.error()
        );
        let text = own.error().to_string();
        assert!(text.contains("gave up: ") && text.contains(told), "{text}");
    }
    // Here both find it, and whoever is quicker tells the other.
    let (endings, _) = attack(
        0,
        Some((
            0,
            Harm::Alter(|frame| *frame.payload.last_mut().unwrap() = 6),
        )),
        LONG,
    );
    for ending in endings {
        let text = ending.error().to_string();
        assert!(
            text.contains("filled in other row counts than this party"),
            "{text}"
        );
    }
    let ([clinic, _], _) = attack(1, Some((goodbye, Harm::Flip(0))), LONG);
    assert!(
        clinic
            .error()
            .to_string()
            .contains("lab (party 1) sent a malformed message")
    );
}

#[test]
fn a_peer_who_claims_to_have_sent_more_than_came_is_refused() {
    let goodbye = honest_frames()[1].len() - 1;
    // Two counters, what went to the other and to the peer itself, and the rounds. The second
    // becomes the largest number, in the ten bytes of its wire form: sums must not overflow.
    let boast = Harm::Alter(|frame| {
        let first = frame.payload[1..].iter().position(|byte| byte & 0x80 == 0);
        let itself = 2 + first.expect("the end of the first number");
        assert_eq!(frame.payload[itself], 0, "nobody sends to himself");
        let largest = [&[0xff; 9][..], &[1]].concat();
        frame.payload.splice(itself..=itself, largest);
    });
    let ([clinic, _], _) = attack(1, Some((goodbye, boast)), LONG);
    let text = clinic.error().to_string();
    assert!(
        text.contains("lab (party 1) sent a malformed message: its account"),
        "{text}"
    );
}
