//! What can go wrong between two parties that meet over TLS on this machine: the peer, the network
//! below TLS, and configurations and jobs that do not fit. Both sides end within their time-outs,
//! with an error that says which it was.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use common::{Ending, PROGRAM, X, assert_right, both, inputs, job, job_of, numbers, over_tls};
use sealane_engine::{EngineError, Job, Kind, NetworkClass, ProtocolName};
use sealane_net::{Identity, Limits, Mesh, MeshConfig, Transport};
use sealane_program::types::Type;
use sealane_testkit::adversary::{Adversary, Harm};
use sealane_testkit::relay::{Break, Direction, Relay};

/// Everything here ends sooner, time-outs of connecting and of silence together.
const SOON: Duration = Duration::from_secs(12);

/// Limits under which every wait ends within a few seconds, on a busy machine too.
fn short_limits() -> Limits {
    Limits {
        connect: Duration::from_secs(3),
        silence: Duration::from_millis(1500),
        patience: Duration::from_secs(20),
        linger: Duration::from_secs(1),
        ..Limits::default()
    }
}

fn two_configs() -> [MeshConfig; 2] {
    let configs = MeshConfig::on_loopback(&["clinic", "lab"], short_limits()).expect("free ports");
    configs.try_into().ok().expect("two parties")
}

/// Both parties meet over TLS; the frames of one may be harmed on the way into TLS.
fn attack(attacker: usize, what: Option<(usize, Harm)>, limits: Limits) -> [Ending; 2] {
    let job = job();
    let mut side = 0;
    let meet = two_configs().map(|config| {
        let what = what.filter(|_| side == attacker);
        side += 1;
        move || {
            let transport = over_tls(&MeshConfig { limits, ..config })?;
            Ok(Box::new(Adversary::new(transport, what)) as Box<dyn Transport>)
        }
    });
    both([&job, &job], inputs(), meet, limits)
}

/// Both parties with these jobs and configurations.
fn meet_with(jobs: [&Job; 2], configs: [MeshConfig; 2]) -> [Ending; 2] {
    let meet = configs.map(|config| move || over_tls(&config));
    let endings = both(jobs, inputs(), meet, short_limits());
    endings
        .iter()
        .for_each(|ending| assert!(ending.after < SOON, "{:?}", ending.after));
    endings
}

#[track_caller]
fn assert_error(ending: &Ending, kind: Kind, words: &[&str]) {
    let error = ending.error();
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    assert!(words.iter().any(|words| text.contains(words)), "{text}");
    assert!(ending.after < SOON, "{:?}: {text}", ending.after);
}

/// Judges many cases at once: most of them wait more than they compute.
fn sweep<T: Send>(cases: impl IntoIterator<Item = T>, judge: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases.into_iter().collect::<Vec<_>>());
    thread::scope(|scope| {
        for _ in 0..16 {
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

#[test]
fn an_honest_run_keeps_its_plan() {
    for ending in attack(0, None, short_limits()) {
        let report = ending.result.unwrap_or_else(|error| panic!("{error}"));
        assert_right(&report);
        assert!(report.as_planned());
    }
}

#[test]
fn a_peer_that_vanishes_in_the_middle_is_gone() {
    sweep(
        [(0, 0), (0, 3), (0, 9), (1, 1), (1, 3), (1, 6)],
        |(attacker, at)| {
            for ending in attack(attacker, Some((at, Harm::Vanish)), short_limits()) {
                assert_error(&ending, Kind::Network, &["is gone"]);
            }
        },
    );
}

/// The process is alive, as its heartbeats tell, but nothing comes: patience ends that.
#[test]
fn a_live_peer_that_sends_nothing_has_stalled() {
    let limits = Limits {
        patience: Duration::from_millis(700),
        ..short_limits()
    };
    sweep([(0, 0), (0, 5), (1, 2), (1, 5)], |(attacker, at)| {
        for ending in attack(attacker, Some((at, Harm::Stall)), limits) {
            assert_error(&ending, Kind::Network, &["sent nothing for"]);
        }
    });
}

#[test]
fn a_peer_with_the_right_key_that_sends_garbage_is_told_so() {
    sweep(
        [(0, 0), (0, 2), (0, 9), (1, 0), (1, 3), (1, 6)],
        |(attacker, at)| {
            for harm in [Harm::Garble, Harm::Flood, Harm::Disguise] {
                let endings = attack(attacker, Some((at, harm)), short_limits());
                let words = [
                    "approved another job",
                    "malformed",
                    "a check of what crossed",
                    "row counts",
                ];
                let victim = &endings[1 - attacker];
                assert_error(victim, victim.error().kind(), &words);
                assert!(matches!(victim.error().kind(), Kind::Peer | Kind::Data));
                match &endings[attacker].result {
                    // The last frame: the other has said all it had to say.
                    Ok(report) => assert_right(report),
                    Err(_) => {
                        assert_error(&endings[attacker], Kind::Peer, &["gave up: ", "approved"])
                    }
                }
            }
        },
    );
}

/// Runs both parties with a relay between them; gives how they ended and what crossed.
fn through_relay(plan: Option<(Direction, u64, Break)>) -> ([Ending; 2], [u64; 2]) {
    let [clinic, mut lab] = two_configs();
    let relay = Relay::start(&clinic.parties[0].address, plan).expect("a port");
    // The party with the higher index dials.
    lab.parties[0].address = relay.address().to_string();
    let job = job();
    let endings = meet_with([&job, &job], [clinic, lab]);
    (endings, relay.crossed())
}

#[test]
fn a_network_that_breaks_anywhere_is_told_and_never_changes_a_result() {
    let (endings, crossed) = through_relay(None);
    endings
        .iter()
        .for_each(|ending| assert_right(ending.result.as_ref().expect("a result")));
    let places = |(direction, bytes): (Direction, u64)| {
        // The greeting in small steps, the run in larger ones.
        let places = (0..5)
            .map(move |i| i * 190)
            .chain((1..6).map(move |i| bytes * i / 6));
        places.map(move |at| (direction, at))
    };
    let directions = [
        (Direction::Forth, crossed[0]),
        (Direction::Back, crossed[1]),
    ];
    let breaks = [Break::Stall, Break::Cut, Break::Corrupt];
    let cases = directions.into_iter().flat_map(places);
    let cases = cases.flat_map(|(direction, at)| breaks.map(|kind| (direction, at, kind)));
    sweep(cases, |(direction, at, kind)| {
        let (endings, _) = through_relay(Some((direction, at, kind)));
        let (words, kinds): (&[&str], &[Kind]) = match kind {
            Break::Stall => (&["sent nothing for", "cannot be reached"], &[Kind::Network]),
            Break::Cut => (&["is gone", "cannot be reached"], &[Kind::Network]),
            Break::Corrupt => (
                &[
                    "malformed",
                    "no secure connection",
                    "cannot be reached",
                    "sent nothing for",
                    "is gone",
                    "gave up",
                ],
                &[Kind::Network, Kind::Peer],
            ),
        };
        let case = format!("{kind:?} at {at} {direction:?}");
        for ending in &endings {
            match &ending.result {
                Ok(report) => assert_right(report),
                Err(error) => {
                    assert!(kinds.contains(&error.kind()), "{case}: {error}");
                    assert_error(ending, error.kind(), words);
                }
            }
        }
        // Early or in the middle, nobody can have finished; but TLS does not look at every byte of
        // the headers of its records, so that a change there may mean nothing.
        if at < crossed[direction as usize] / 2 {
            let failed = endings
                .iter()
                .filter(|ending| ending.result.is_err())
                .count();
            assert!(
                failed == 2 || kind == Break::Corrupt && failed == 0,
                "{case}: {failed}"
            );
        }
    });
}

#[test]
fn a_wrong_key_is_told_to_both() {
    for wrong in [0, 1] {
        let mut configs = two_configs();
        let impostor = Identity::generate();
        configs[wrong].parties[wrong].key = impostor.public_key();
        configs[wrong].identity = impostor;
        let job = job();
        let endings = meet_with([&job, &job], configs);
        let (name, right) = (["clinic", "lab"][wrong], 1 - wrong);
        let shows = format!("{name} (party {wrong}) shows the key ed25519:");
        assert_error(&endings[right], Kind::Peer, &[&shows]);
        assert_error(
            &endings[wrong],
            Kind::Peer,
            &["expects another key of this party"],
        );
    }
}

#[test]
fn a_wrong_version_is_told_with_both_versions() {
    let [clinic, _] = two_configs();
    let names = clinic
        .names()
        .iter()
        .map(|name| name.to_string())
        .collect::<Vec<_>>();
    let address = clinic.parties[0].address.clone();
    let (error, answer) = thread::scope(|scope| {
        let newer = scope.spawn(move || {
            // The greeting of party 1 to party 0 of 2 from a later version of the wire.
            let mut hello = b"SEALANE\n\x02\x00\x01\x00\x02\x059.8.7".to_vec();
            hello.resize(50, 0);
            let mut socket = dial(&address);
            socket.write_all(&hello).expect("somebody listens");
            let mut answer = vec![];
            let _ = socket.read_to_end(&mut answer);
            answer
        });
        let error = Mesh::danger_plaintext(&clinic)
            .err()
            .expect("the versions differ");
        (
            EngineError::from_net(error, &names),
            newer.join().expect("no panic"),
        )
    });
    let text = error.to_string();
    assert_eq!(error.kind(), Kind::Peer);
    assert!(
        text.contains("lab (party 1) runs Sealane 9.8.7 (wire version 2), this party runs"),
        "{text}"
    );
    // The other side hears the version of this one, so that it can say the same.
    assert_eq!(answer[..10], *b"SEALANE\n\x01\x00");
}

/// Dials until somebody listens.
fn dial(address: &str) -> TcpStream {
    loop {
        match TcpStream::connect(address) {
            Ok(socket) => return socket,
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[test]
fn nobody_there_is_told_with_the_address() {
    for config in two_configs() {
        let address = config.parties[1 - config.me.index()].address.clone();
        let started = Instant::now();
        let result = over_tls(&config).map(|_| unreachable!("nobody is there"));
        let ending = Ending {
            result,
            after: started.elapsed(),
        };
        assert_error(
            &ending,
            Kind::Network,
            &[&format!("cannot be reached at {address}")],
        );
    }
}

#[test]
fn another_job_is_told_to_both_with_the_part_that_differs() {
    let (yao, lan) = (ProtocolName::Yao, NetworkClass::Lan);
    let usual = job_of(PROGRAM, yao, lan);
    let other_program = PROGRAM.replace("gt", "ge");
    let clear = job_of(PROGRAM, ProtocolName::Clear, lan);
    let wan = job_of(PROGRAM, yao, NetworkClass::Wan);
    for (other, part, ours, theirs) in [
        (&job_of(&other_program, yao, lan), "program", "", ""),
        (&clear, "protocol", "yao", "clear"),
        (&wan, "network class", "lan", "wan"),
        (&job(), "plan", "", ""),
    ] {
        let endings = meet_with([&usual, other], two_configs());
        let by_itself = format!("approved another job: the {part} differs");
        let by_the_other =
            format!("gave up: the {part} of the job differs; compare `sealane plan`");
        for ending in &endings {
            assert_error(ending, Kind::Peer, &[&by_itself, &by_the_other]);
        }
        let texts = endings.map(|ending| ending.error().to_string());
        // Whoever is quicker has both sides' names for it.
        let names = [
            format!("({theirs} there, {ours} here)"),
            format!("({ours} there, {theirs} here)"),
        ];
        let named = texts
            .iter()
            .any(|text| names.iter().any(|names| text.contains(names)));
        assert!(named || ours.is_empty(), "{texts:?}");
        assert!(
            texts.iter().any(|text| text.contains(&by_itself)),
            "{texts:?}"
        );
    }
}

/// Both parties own a column of the same table.
const SHARED_TABLE: &str = "\
sealane program 1
name shared
party clinic
party lab
rows people <= 100
input x : clinic u8[people] in 0..200
input y : lab u8[people] in 0..200
main {
  %0 = param 0 : u8[people] in 0..200 known clinic
  %1 = param 1 : u8[people] in 0..200 known lab
  %2 = gt %0, %1 : bool[people] in 0..1 secret
}
reveal who = %2 : bool to clinic
";

#[test]
fn row_counts_that_do_not_fit_are_found_in_the_handshake() {
    let job = job_of(SHARED_TABLE, ProtocolName::Yao, NetworkClass::Lan);
    let column = |rows: usize| Some(numbers(Type::U8, vec![rows as u64], &vec![1; rows]));
    let endings = |[x, y]: [usize; 2]| {
        let meet = two_configs().map(|config| move || over_tls(&config));
        both(
            [&job, &job],
            [vec![column(x), None], vec![None, column(y)]],
            meet,
            short_limits(),
        )
    };
    let [clinic, lab] = endings([X.len(), 7]);
    for (ending, text) in [
        (clinic, "`people` has 5 rows here and 7 at lab"),
        (lab, "`people` has 7 rows here and 5 at clinic"),
    ] {
        let kind = ending.error().kind();
        assert!(matches!(kind, Kind::Data | Kind::Peer), "{kind:?}");
        let told = [
            "lab (party 1) gave up: `people` has 7",
            "clinic (party 0) gave up: `people` has 5",
        ];
        assert_error(&ending, kind, &[text, told[0], told[1]]);
    }
    // A party with too many rows does not even greet, and says so; the other hears that it left.
    let [clinic, lab] = endings([101, 7]);
    assert_error(&clinic, Kind::Data, &["`x` has 101 rows"]);
    assert_error(
        &lab,
        Kind::Peer,
        &["clinic (party 0) gave up: an error on its side"],
    );
}
