//! Faults between parties that meet over TLS on this machine: of a party, of the network below TLS,
//! and of configurations and jobs that do not fit. All sides end within their time-outs, with an
//! error that names the fault.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{
    Attack, Ending, OVER_TLS, PROGRAM, Session, X, ends, harmed, is_nightly, job_of, numbers,
    over_tls, short_limits, sweep, usual_limits,
};
use sealane_engine::{EngineError, FailureKind, Job, NetworkClass, ProtocolName};
use sealane_identity::Identity;
use sealane_net::{Limits, Mesh, MeshConfig, WIRE_VERSION};
use sealane_program::types::{Data, Type};
use sealane_testkit::adversary::Harm;
use sealane_testkit::random::Random;
use sealane_testkit::relay::{Break, Direction, Relay};

/// Upper bound of every test here, time-outs of connecting and of silence together.
const SOON: Duration = Duration::from_secs(30);

/// Runs a session over TLS, in which one frame may be harmed before TLS encrypts it.
fn attack(session: &Session, attack: Option<Attack>, limits: Limits) -> Vec<Ending> {
    let connect = |config: MeshConfig| {
        move || {
            let me = config.me.index();
            over_tls(&config).map(|row| harmed(row, me, attack).0)
        }
    };
    let configs = session.configs(limits).into_iter();
    let limits = vec![limits; session.parties()];
    session.run(configs.map(connect).collect(), &limits)
}

/// Runs all parties with these jobs, inputs and configurations.
fn connect_with(
    jobs: &[&Job],
    inputs: &[Vec<Option<Data>>],
    configs: Vec<MeshConfig>,
) -> Vec<Ending> {
    let limits: Vec<_> = configs.iter().map(|config| config.limits).collect();
    let connect = configs.into_iter().map(|config| move || over_tls(&config));
    let endings = ends(jobs, inputs, connect.collect(), &limits, &|_, _| ()).into_iter();
    let endings = endings.map(|ending| ending.expect("no party panics"));
    let endings = endings.collect::<Vec<_>>();
    for ending in &endings {
        assert!(ending.after < SOON, "{:?}", ending.after);
    }
    endings
}

/// The configurations of two parties.
fn two_configs() -> [MeshConfig; 2] {
    let configs = Session::of_two().configs(usual_limits());
    configs.try_into().ok().expect("two parties")
}

#[track_caller]
fn assert_error(ending: &Ending, kind: FailureKind, words: &[&str]) {
    let error = ending.error();
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    assert!(words.iter().any(|words| text.contains(words)), "{text}");
    assert!(ending.after < SOON, "{:?}: {text}", ending.after);
}

/// Frames in sessions of two to five: in the greeting, in data, among the last.
fn places(sessions: &[Session; 6]) -> Vec<(&Session, [usize; 3])> {
    let [two, three, five, four, ..] = sessions;
    let in_two = [
        [0, 1, 0],
        [0, 1, 3],
        [0, 1, 8],
        [1, 0, 1],
        [1, 0, 3],
        [1, 0, 5],
    ];
    let in_three = [[0, 2, 0], [1, 0, 4], [2, 1, 10], [0, 1, 3]];
    // From an owner to a helper, between helpers, and to a party that learns a result.
    let in_five = [[0, 3, 3], [4, 3, 5], [2, 4, 9], [2, 1, 3]];
    // From an owner to the garbler and to the evaluator, between these, and to an owner.
    let in_four = [[0, 2, 3], [1, 3, 2], [2, 3, 5], [3, 0, 3]];
    let of = |session, places: &[[usize; 3]]| -> Vec<_> {
        places.iter().map(|place| (session, *place)).collect()
    };
    let all = [of(two, &in_two), of(three, &in_three)];
    [all.concat(), of(five, &in_five), of(four, &in_four)].concat()
}

#[test]
fn an_honest_run_keeps_its_plan() {
    for session in Session::all().into_iter().chain(Session::guarded()) {
        for ending in attack(&session, None, usual_limits()) {
            let report = ending.result.unwrap_or_else(|error| panic!("{error}"));
            session.assert_right(&report);
            assert!(report.as_planned());
        }
    }
}

#[test]
fn a_link_that_ends_in_the_middle_is_reported_to_all() {
    let sessions = Session::all();
    sweep(OVER_TLS, places(&sessions), |(session, [from, to, at])| {
        let harm = Harm::Vanish;
        let vanish = Some(Attack { from, to, at, harm });
        let gone = [from, to].map(|end| format!("{} is gone", session.name(end)));
        for ending in attack(session, vanish, usual_limits()) {
            assert_error(&ending, FailureKind::Network, &[&gone[0], &gone[1]]);
        }
    });
}

/// The process is alive, as its heartbeats show, but nothing comes: the patience ends that.
#[test]
fn a_live_party_that_sends_nothing_has_stalled() {
    let limits = Limits {
        patience: Duration::from_millis(700),
        ..usual_limits()
    };
    let sessions = Session::all();
    sweep(OVER_TLS, places(&sessions), |(session, [from, to, at])| {
        let harm = Harm::Stall;
        for ending in attack(session, Some(Attack { from, to, at, harm }), limits) {
            assert_error(&ending, FailureKind::Network, &["sent nothing for"]);
        }
    });
}

#[test]
fn a_party_with_the_right_key_that_sends_garbage_is_reported_so() {
    let sessions = Session::all();
    let harms = [Harm::Garble, Harm::Flood, Harm::Disguise];
    let cases = places(&sessions).into_iter();
    let cases = cases.flat_map(|place| harms.map(|harm| (place, harm)));
    sweep(OVER_TLS, cases, |((session, [from, to, at]), harm)| {
        let endings = attack(session, Some(Attack { from, to, at, harm }), usual_limits());
        let words = [
            "approved another job",
            "malformed",
            "is not what it sent",
            "a check of what crossed",
            "row counts",
            "broke the protocol",
        ];
        let found = endings[to].error();
        assert_error(&endings[to], found.kind(), &words);
        let of_peer = matches!(found.kind(), FailureKind::Peer | FailureKind::Data);
        assert!(of_peer, "{found}");
        for (party, ending) in endings.iter().enumerate() {
            match &ending.result {
                // After the last frame, the other party has sent everything.
                Ok(report) => session.assert_right(report),
                Err(_) if party == to => {}
                Err(_) => assert_error(ending, FailureKind::Peer, &["gave up: ", "approved"]),
            }
        }
    });
}

/// Runs a session with a relay between the last party and another; returns how they ended and how
/// many records crossed the relay.
fn through_relay(
    session: &Session,
    to: usize,
    plan: Option<(Direction, u64, Break)>,
) -> (Vec<Ending>, [u64; 2]) {
    // A link that breaks while the parties meet is dialled again within the time for meeting. A
    // link on which nothing comes is waited for, and so is the rest of a record that is cut short.
    let limits = short_limits();
    let silence = match plan {
        None | Some((_, _, Break::Cut)) => usual_limits().silence,
        _ => limits.silence,
    };
    let mut configs = session.configs(Limits { silence, ..limits });
    let relay = Relay::start(&configs[to].parties[to].address, plan).expect("a port");
    // The party that comes later dials.
    let last = configs.last_mut().expect("a party");
    last.parties[to].address = relay.address().to_string();
    let jobs = vec![&*session.job; session.parties()];
    let endings = connect_with(&jobs, &session.inputs, configs);
    (endings, relay.crossed())
}

/// Number of records that are sampled for each kind of harm and direction.
const SAMPLES: usize = 2;

/// Numbers of records out of `count` that are tried: a sample, or all in a nightly run.
fn records(random: &mut Random, count: u64) -> Vec<u64> {
    if is_nightly() {
        (0..count).collect()
    } else {
        let samples = (0..SAMPLES).map(|_| random.below(count as usize) as u64);
        samples.collect()
    }
}

#[test]
fn a_network_that_harms_any_record_is_reported_and_never_changes_a_result() {
    let [two, _, five, ..] = Session::all();
    let mut random = Random::new(1);
    let mut cases = vec![];
    // Between two that compute, with and without other parties, and between a helper and an owner
    // of data.
    for (session, to) in [(&two, 0), (&five, 3), (&five, 0)] {
        let (endings, crossed) = through_relay(session, to, None);
        let reports = endings.iter().map(|ending| ending.result.as_ref());
        reports.for_each(|report| session.assert_right(report.expect("a result")));
        for direction in [Direction::Forth, Direction::Back] {
            let count = crossed[direction as usize];
            for kind in Break::ALL {
                let records = records(&mut random, count).into_iter();
                cases.extend(records.map(|at| (session, to, count, (direction, at, kind))));
            }
        }
    }
    println!("{} cases", cases.len());
    sweep(OVER_TLS, cases, |(session, to, count, plan)| {
        let (_, at, kind) = plan;
        let (endings, _) = through_relay(session, to, Some(plan));
        // A link that breaks while the parties meet is dialled again until nobody answers any more.
        let of_network = ["sent nothing for", "is gone", "cannot be reached"];
        let of_both = ["malformed", "no secure connection", "gave up"];
        let breaks_off = matches!(kind, Break::Stall | Break::Cut);
        let all = [FailureKind::Network, FailureKind::Peer];
        let (words, kinds) = if breaks_off {
            (of_network.to_vec(), &all[..1])
        } else {
            ([of_network, of_both].concat(), &all[..])
        };
        let case = format!("{plan:?} of {}", endings.len());
        for ending in &endings {
            match &ending.result {
                Ok(report) => session.assert_right(report),
                Err(error) => {
                    assert!(kinds.contains(&error.kind()), "{case}: {error}");
                    assert_error(ending, error.kind(), &words);
                }
            }
        }
        // Early or in the middle, no party can have finished. But TLS sends a record without
        // meaning, for compatibility with middleboxes.
        if at < count / 2 {
            let failed = endings.iter().filter(|ending| ending.result.is_err());
            let failed = failed.count();
            let together = failed == endings.len() || !breaks_off && failed == 0;
            assert!(together, "{case}: {failed}");
        }
    });
}

#[test]
fn a_wrong_key_is_reported_to_who_sees_it_and_to_who_shows_it() {
    let [two, three, ..] = Session::all();
    let cases = [(&two, 0), (&two, 1), (&three, 0), (&three, 2)];
    sweep(OVER_TLS, cases, |(session, wrong)| {
        let mut configs = session.configs(usual_limits());
        let impostor = Identity::generate();
        // The others still have its old key.
        configs[wrong].parties[wrong].key = impostor.public_key();
        configs[wrong].identity = impostor;
        let jobs = vec![&*session.job; session.parties()];
        let endings = connect_with(&jobs, &session.inputs, configs);
        let shows = format!("{} shows a key with the fingerprint ", session.name(wrong));
        let refused = "expects another key of this party";
        let mut seen = 0;
        for (party, ending) in endings.iter().enumerate() {
            let text = &ending.error().finding().message;
            // Of three, a party that comes late finds neither the impostor nor the party that saw
            // it.
            if party == wrong || !text.contains("cannot be reached") {
                assert_error(ending, FailureKind::Peer, &[refused, &shows]);
            }
            seen += usize::from(text.starts_with(&shows));
        }
        assert!(seen > 0, "nobody has seen it");
    });
}

#[test]
fn a_wrong_version_is_reported_with_both_versions() {
    let [clinic, _] = two_configs();
    let names: Vec<_> = clinic.names().iter().map(|name| name.to_string()).collect();
    let address = clinic.parties[0].address.clone();
    let (error, answer) = thread::scope(|scope| {
        let newer = scope.spawn(move || {
            // The greeting of party 1 to party 0 of 2 from a later version of the wire.
            let mut hello = b"SEALANE\n\xff\x00\x01\x00\x02\x059.8.7".to_vec();
            hello.resize(50, 0);
            let mut socket = dial(&address);
            socket.write_all(&hello).expect("somebody listens");
            let mut answer = vec![];
            let _ = socket.read_to_end(&mut answer);
            answer
        });
        let error = Mesh::danger_plaintext(&clinic).err();
        let error = EngineError::from_net(error.expect("the versions differ"), &names);
        (error, newer.join().expect("no panic"))
    });
    let text = error.to_string();
    assert_eq!(error.kind(), FailureKind::Peer);
    let said =
        text.contains("lab (party 1) runs Sealane 9.8.7 (wire version 255), this party runs");
    assert!(said, "{text}");
    // The other side learns the version of this one, so that it can report it.
    assert_eq!(answer[..8], *b"SEALANE\n");
    assert_eq!(answer[8..10], WIRE_VERSION.to_le_bytes());
}

/// Dials until a listener accepts.
fn dial(address: &str) -> TcpStream {
    loop {
        match TcpStream::connect(address) {
            Ok(socket) => return socket,
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[test]
fn nobody_there_is_reported_with_the_address() {
    for config in Session::of_two().configs(short_limits()) {
        let address = config.parties[1 - config.me.index()].address.clone();
        let started = Instant::now();
        let result = over_tls(&config).map(|_| unreachable!("nobody is there"));
        let after = started.elapsed();
        let ending = Ending { result, after };
        let words = format!("cannot be reached at {address}");
        assert_error(&ending, FailureKind::Network, &[&words]);
    }
}

#[test]
fn another_job_is_reported_to_both_with_the_part_that_differs() {
    let (yao, lan) = (ProtocolName::Yao, NetworkClass::LAN);
    let two = Session::of_two();
    let usual = job_of(PROGRAM, yao, lan);
    let other_program = PROGRAM.replace("gt", "ge");
    let clear = job_of(PROGRAM, ProtocolName::Clear, lan);
    let wan = job_of(PROGRAM, yao, NetworkClass::WAN);
    let declared = job_of(PROGRAM, yao, "18ms/95Mbps".parse().expect("a network"));
    for (other, part, ours, theirs) in [
        (&job_of(&other_program, yao, lan), "program", "", ""),
        (&clear, "protocol", "yao", "clear"),
        (&wan, "network class", "lan", "wan"),
        (&declared, "network class", "lan", "20ms/100Mbps"),
        (&two.job, "plan", "", ""),
    ] {
        let endings = connect_with(&[&usual, other], &two.inputs, two_configs().into());
        let differs = format!("approved another job: the {part} differs");
        for ending in &endings {
            assert_error(ending, FailureKind::Peer, &[&differs]);
        }
        let texts = endings.iter().map(|ending| ending.error().to_string());
        let texts = texts.collect::<Vec<_>>();
        // The party that finds it first has both sides' names for it; the other hears one.
        let names = [
            format!("({theirs} there, {ours} here)"),
            format!("({ours} there, {theirs} here)"),
        ];
        let named = |text: &String| names.iter().any(|names| text.contains(names));
        assert!(texts.iter().any(named) || ours.is_empty(), "{texts:?}");
    }
}

/// Program in which both parties own a column of the same table.
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
    let job = job_of(SHARED_TABLE, ProtocolName::Yao, NetworkClass::LAN);
    let column = |rows: usize| Some(numbers(Type::U8, vec![rows as u64], &vec![1; rows]));
    let endings = |[x, y]: [usize; 2]| {
        let inputs = [vec![column(x), None], vec![None, column(y)]];
        connect_with(&[&job, &job], &inputs, two_configs().into())
    };
    // The party that finds it first tells the other.
    for ending in endings([X.len(), 7]) {
        let kind = ending.error().kind();
        let differ = matches!(kind, FailureKind::Data | FailureKind::Peer);
        assert!(differ, "{kind:?}");
        let texts = [
            "`people` has 5 rows at clinic and 7 at lab",
            "`people` has 7 rows at lab and 5 at clinic",
        ];
        assert_error(&ending, kind, &texts);
    }
    // A party with too many rows reports that before the greeting; the other hears that it left.
    let endings = endings([101, 7]);
    assert_error(&endings[0], FailureKind::Data, &["`x` has 101 rows"]);
    let reported = "clinic (party 0) gave up: an error on its side";
    assert_error(&endings[1], FailureKind::Peer, &[reported]);
}
