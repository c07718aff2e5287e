//! Meetings of three and of five parties over TLS on loopback: missing parties, parties that die,
//! wrong keys, and strangers that connect.

use std::io::{self, Read};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{
    A, B, C, D, E, assert_has, configs, configured, connect_all, dial, hear, line, say,
};
use crate::common::{short, short_but};
use sealane_diagnostic::Code;
use sealane_identity::Identity;
use sealane_net::{Cancel, Endpoint, KeyFault, Limits, Mesh, MeshConfig, NetError, Result};
use sealane_parties::PartyId;

const NAMES: [&str; 5] = ["ada", "bob", "cyd", "dan", "eve"];

/// Error texts that the users of a failed meeting read.
fn texts(results: Vec<Result<Mesh>>) -> Vec<String> {
    let text = |result: Result<Mesh>| {
        let error = match result {
            Err(error) => error,
            // A party that has just met the last one sees the error at its next wait.
            Ok(mut mesh) => {
                let peer = mesh.peers().next().expect("another party");
                let heard = mesh.recv_control::<u8>(peer);
                heard.expect_err("the meeting must fail")
            }
        };
        line(&error.with_names(&NAMES))
    };
    results.into_iter().map(text).collect()
}

/// Judges all cases at once: they wait more than they compute.
fn sweep<T: Send>(cases: impl IntoIterator<Item = T>, judge: impl Fn(T) + Sync) {
    let judge = &judge;
    thread::scope(|threads| {
        for case in cases {
            threads.spawn(move || judge(case));
        }
    });
}

/// Limits under which a certain error is told long before the meeting would end.
fn unhurried() -> Limits {
    short_but(|limits| limits.connect = Duration::from_secs(12))
}

#[test]
fn each_pair_of_five_meets_once() {
    let meshes = connect_all(configs(5, Limits::default()));
    thread::scope(|threads| {
        for mut mesh in meshes.into_iter().map(Result::unwrap) {
            threads.spawn(move || {
                let me = mesh.me();
                for peer in mesh.peers() {
                    say(&mut mesh, peer, &[me.0, peer.0]);
                }
                for peer in mesh.peers() {
                    assert_eq!(hear(&mut mesh, peer, 2), [peer.0, me.0]);
                }
                assert_eq!((mesh.parties(), mesh.turned_away()), (5, 0));
                mesh.finish().unwrap();
            });
        }
    });
}

#[test]
fn a_missing_party_is_named_to_all() {
    sweep([(3, A), (3, B), (3, C), (5, C)], |(parties, missing)| {
        let mut all = configs(parties, short());
        let index = missing.index();
        let address = all.remove(index).parties[index].address.clone();
        let name = format!("{} (party {})", NAMES[index], missing.0);
        let started = Instant::now();
        for text in texts(connect_all(all)) {
            // The first party to end tells the others why, without the address that it has
            // configured.
            let what = if text.contains(" gave up: ") {
                format!("gave up: {name} cannot be reached; ")
            } else {
                format!("{name} cannot be reached at {address}")
            };
            assert_has(&text, [&what]);
        }
        assert!(started.elapsed() < Duration::from_secs(5));
    });
}

#[test]
fn all_who_are_missing_are_named() {
    let mut all = configs(5, short());
    let text = texts(connect_all(vec![all.remove(2)])).remove(0);
    assert_has(&text, ["ada", "bob", "dan", "eve"]);
}

#[test]
fn one_that_gives_up_tells_whom_it_has_met_why() {
    let mut all = configs(3, unhurried());
    all.remove(2);
    // Bob does not wait for Cyd as long as Ada would.
    all[1].limits.connect = Duration::from_millis(500);
    let started = Instant::now();
    let text = texts(connect_all(all)).remove(0);
    let start = "bob (party 1) gave up: cyd (party 2) cannot be reached";
    assert!(text.starts_with(start), "{text}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn one_that_dies_while_others_are_waited_for_is_named_at_once() {
    let mut all = configs(3, unhurried());
    all.remove(2);
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = all[0].parties[0].address.clone();
    all[1].parties[0].address = relay.local_addr().unwrap().to_string();
    let cutter = thread::spawn(move || {
        let (near, _) = relay.accept().unwrap();
        let far = dial(&target);
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut from, &mut to));
        }
        thread::sleep(Duration::from_millis(700));
        for socket in [near, far] {
            let _ = socket.shutdown(Shutdown::Both);
        }
    });
    let started = Instant::now();
    let errors = connect_all(all).into_iter().filter_map(Result::err);
    let vanished = [B, A].map(|party| NetError::Vanished { party });
    assert_eq!(errors.collect::<Vec<_>>(), vanished);
    assert!(started.elapsed() < Duration::from_secs(5));
    cutter.join().unwrap();
}

/// Lets three or five parties meet after `spoil` has changed the configuration of one of them.
/// Returns the error of this one and the texts of all. A listener waits until the meeting ends,
/// since a connection with a wrong key proves nothing.
fn spoilt(parties: usize, of: PartyId, spoil: impl Fn(&mut MeshConfig)) -> (NetError, Vec<String>) {
    let mut all = configs(parties, short());
    spoil(&mut all[of.index()]);
    let started = Instant::now();
    let results = connect_all(all);
    assert!(started.elapsed() < Duration::from_secs(8), "told in time");
    let error = results[of.index()].as_ref().err();
    let error = error.expect("the meeting must fail").clone();
    (error, texts(results))
}

#[test]
fn two_helpers_whose_keys_are_exchanged_in_one_configuration_are_both_named() {
    sweep([(A, B, C), (B, A, C), (C, A, B)], |(of, one, other)| {
        let (error, reported) = spoilt(3, of, |config| {
            let [one, other] = two(config, one, other);
            std::mem::swap(&mut one.key, &mut other.key);
        });
        let (one, other) = (NAMES[one.index()], NAMES[other.index()]);
        let text = &reported[of.index()];
        match error {
            NetError::WrongParty { .. } => {
                assert_has(text, [one, other, "each with its own address and key"]);
            }
            // The other party was quicker to find that it is refused.
            NetError::Aborted { .. } => assert_has(text, ["expects another key"]),
            other => panic!("{other}"),
        }
        assert_has(&reported.concat(), ["expects another key of this party"]);
    });
}

/// The entries of two parties of a configuration.
fn two(config: &mut MeshConfig, one: PartyId, other: PartyId) -> [&mut Endpoint; 2] {
    let places = [one.index(), other.index()];
    config.parties.get_disjoint_mut(places).unwrap()
}

#[test]
fn two_helpers_whose_addresses_are_exchanged_in_one_configuration_are_both_named() {
    let cases = [(3, C, A, B), (5, B, A, C), (5, E, B, D)];
    sweep(cases, |(parties, of, one, other)| {
        let (error, reported) = spoilt(parties, of, |config| {
            let [one, other] = two(config, one, other);
            std::mem::swap(&mut one.address, &mut other.address);
        });
        let text = &reported[of.index()];
        assert!(matches!(error, NetError::WrongParty { .. }), "{text}");
        let [one, other] = [one, other].map(|party| NAMES[party.index()]);
        assert_has(text, [one, other, "each with its own address and key"]);
    });
}

#[test]
fn one_who_lists_the_parties_in_another_order_is_reported() {
    let (error, reported) = spoilt(3, C, |config| config.parties.swap(0, 1));
    assert!(matches!(error, NetError::WrongParty { .. }), "{reported:?}");
    assert!(reported[2].contains("in the same order"), "{reported:?}");
}

#[test]
fn one_of_three_with_a_key_that_nobody_knows_is_named() {
    sweep([A, B, C], |wrong| {
        let (error, reported) = spoilt(3, wrong, |config| {
            config.identity = Identity::generate();
            config.parties[config.me.index()].key = config.identity.public_key();
        });
        let is_ours = |fault: &KeyFault| matches!(fault, KeyFault::Ours { .. });
        match &error {
            NetError::WrongKey { fault, .. } if is_ours(fault) => {}
            error => assert_is!(error, NetError::Aborted { .. }),
        }
        let name = NAMES[wrong.index()];
        let shows = format!("{name} (party {}) shows a key", wrong.0);
        assert_has(&reported.concat(), [&shows]);
    });
}

#[test]
fn a_configuration_in_which_two_share_a_key_or_an_address_is_refused_at_once() {
    let mut config = configs(3, unhurried()).remove(0);
    config.parties[2].key = config.parties[1].key;
    let text = texts(vec![Mesh::connect(&config)]).remove(0);
    let start = "cyd (party 2) cannot be told from another: its key is also that of bob";
    assert!(text.starts_with(start), "{text}");
    let mut config = configs(3, unhurried()).remove(2);
    config.parties[1].address = config.parties[0].address.clone();
    let text = texts(vec![Mesh::connect(&config)]).remove(0);
    assert!(text.contains("its address is also that of ada"), "{text}");
}

/// Makes two parties and a stranger that claims to be the second with a key of its own. The first
/// has another host configured for the second than the one from which all connect here.
fn first_second_stranger(limits: Limits) -> [MeshConfig; 3] {
    let [mut first, second] = configured(limits);
    let mut stranger = MeshConfig {
        me: B,
        identity: Identity::generate(),
        parties: first.parties.clone(),
        listen: None,
        limits,
        cancel: Cancel::default(),
    };
    stranger.parties[1].key = stranger.identity.public_key();
    first.parties[1].address = first.parties[1].address.replace("127.0.0.1", "127.0.0.2");
    [first, second, stranger]
}

#[test]
fn a_stranger_with_a_key_of_its_own_does_not_keep_the_right_one_out() {
    let [first, second, stranger] = first_second_stranger(unhurried());
    let first = thread::spawn(move || Mesh::connect(&first).unwrap());
    for _ in 0..3 {
        let shown = stranger.identity.public_key();
        let refused = NetError::wrong_key(A, KeyFault::Ours { shown });
        assert_eq!(Mesh::connect(&stranger).err(), Some(refused));
    }
    let _second = Mesh::connect(&second).unwrap();
    assert_eq!(first.join().unwrap().turned_away(), 3);
}

#[test]
fn a_wrong_key_from_elsewhere_is_reported_when_the_right_one_does_not_come() {
    let [first, _, stranger] = first_second_stranger(short());
    let (expected, seen) = (first.parties[1].key, stranger.identity.public_key());
    let first = thread::spawn(move || Mesh::connect(&first).err().unwrap());
    let _ = Mesh::connect(&stranger);
    let fault = KeyFault::Theirs { expected, seen };
    assert_eq!(first.join().unwrap(), NetError::wrong_key(B, fault));
}

#[test]
fn a_wrong_key_is_reported_also_where_another_gives_up_first() {
    let [first, mut second, mut third] = configured(unhurried());
    let expected = third.parties[2].key;
    third.identity = Identity::generate();
    third.parties[2].key = third.identity.public_key();
    let seen = third.identity.public_key();
    // The second never learns of the third, and does not wait for it as long as the first would.
    third.parties[1].address = "127.0.0.1:1".into();
    second.limits.connect = Duration::from_millis(500);
    let first = thread::spawn(move || Mesh::connect(&first).err().unwrap());
    let refused = NetError::wrong_key(A, KeyFault::Ours { shown: seen });
    assert_eq!(Mesh::connect(&third).err().unwrap(), refused);
    let reported = Mesh::connect(&second).err().unwrap();
    assert_is!(reported, NetError::Unreachable { party: C, .. });
    let fault = KeyFault::Theirs { expected, seen };
    assert_eq!(first.join().unwrap(), NetError::wrong_key(C, fault));
}

#[test]
fn a_stranger_on_the_very_host_of_a_party_ends_nothing() {
    let [mut first, second, stranger] = first_second_stranger(unhurried());
    first.parties[1].address = second.parties[1].address.clone();
    let mut misplaced = stranger;
    let first = thread::spawn(move || Mesh::connect(&first).unwrap());
    // An unknown key under the name of the party that is waited for.
    let _ = Mesh::connect(&misplaced).err().unwrap();
    // An index that no party has.
    misplaced.parties.push(misplaced.parties[0].clone());
    misplaced.parties[2].key = misplaced.identity.public_key();
    misplaced.parties[1].key = Identity::generate().public_key();
    misplaced.parties[1].address = "127.0.0.1:1".into();
    misplaced.parties[2].address = "127.0.0.1:2".into();
    misplaced.me = C;
    misplaced.limits.connect = Duration::from_secs(1);
    let _ = Mesh::connect(&misplaced).err().unwrap();
    let _second = Mesh::connect(&second).unwrap();
    assert!(first.join().unwrap().turned_away() >= 2);
}

#[test]
fn a_key_from_the_host_of_a_party_is_reported_rather_than_one_from_elsewhere() {
    let [mut first, second, stranger] = first_second_stranger(short());
    first.parties[1].address = second.parties[1].address.clone();
    let (expected, seen) = (first.parties[1].key, stranger.identity.public_key());
    let started = Instant::now();
    let first = thread::spawn(move || Mesh::connect(&first).err().unwrap());
    let _ = Mesh::connect(&stranger);
    let fault = KeyFault::Theirs { expected, seen };
    assert_eq!(first.join().unwrap(), NetError::wrong_key(B, fault));
    // Until then, the right party might have come.
    assert!(started.elapsed() >= short().connect);
}

#[test]
fn a_dialler_whom_nobody_answers_is_not_told_that_it_was_not_dialled() {
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = deaf.local_addr().unwrap();
    // A system accepts no further connection while so many are pending.
    let patience = Duration::from_millis(200);
    let call = || TcpStream::connect_timeout(&address, patience).ok();
    let _waiting: Vec<_> = std::iter::from_fn(call).take(5000).collect();
    let mut second = configs(2, short()).remove(1);
    second.parties[0].address = address.to_string();
    let error = Mesh::connect(&second).err().unwrap();
    assert_is!(&error, NetError::Unreachable { party: A, .. });
    let text = error.to_string();
    assert_has(&text, [&format!(" at {address}: ")]);
    assert!(!text.contains("come through"), "{text}");
}

#[test]
fn a_gathering_that_is_cancelled_ends_at_once_and_tells_whom_it_has_met() {
    let mut all = configs(3, unhurried());
    all.remove(2);
    let cancel = all[0].cancel.clone();
    let started = Instant::now();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(700));
        cancel.cancel();
    });
    let again = all[0].parties[0].address.clone();
    let mut ends = connect_all(all).into_iter().map(|end| end.err().unwrap());
    assert_eq!(ends.next(), Some(NetError::Cancelled));
    let reported = ends.next().unwrap();
    assert_eq!(
        (reported.party(), reported.code()),
        (Some(A), Code::PeerCancelled)
    );
    assert!(started.elapsed() < Duration::from_secs(4));
    // Nothing listens there any more.
    drop(TcpListener::bind(again).unwrap());
    canceller.join().unwrap();
}

#[test]
fn who_dials_in_vain_can_be_cancelled() {
    let second = configs(2, unhurried()).remove(1);
    let cancel = second.cancel.clone();
    let started = Instant::now();
    let second = thread::spawn(move || Mesh::connect(&second).err().unwrap());
    thread::sleep(Duration::from_millis(300));
    cancel.cancel();
    assert_eq!(second.join().unwrap(), NetError::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[test]
fn strangers_from_elsewhere_are_counted_where_the_right_one_does_not_come() {
    let [first, ..] = first_second_stranger(short());
    let address = first.parties[0].address.clone();
    let first = thread::spawn(move || Mesh::connect(&first));
    let _silent = dial(&address);
    let text = texts(vec![first.join().unwrap()]).remove(0);
    assert!(text.starts_with("bob (party 1) cannot be reached at 127.0.0.2"));
    assert_has(
        &text,
        ["strangers turned away: 1, the last from 127.0.0.1:"],
    );
}

#[test]
fn many_silent_strangers_do_not_keep_the_right_one_out() {
    let [first, second] = configured(unhurried());
    let address = first.parties[0].address.clone();
    let started = Instant::now();
    let first = thread::spawn(move || Mesh::connect(&first).unwrap());
    let _strangers: Vec<_> = (0..150).map(|_| dial(&address)).collect();
    let _second = Mesh::connect(&second).unwrap();
    assert!(first.join().unwrap().turned_away() >= 150 - 64);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_silent_stranger_is_turned_away_long_before_the_meeting_ends() {
    let [first, second] = configured(unhurried());
    let address = first.parties[0].address.clone();
    let first = thread::spawn(move || Mesh::connect(&first).unwrap());
    let mut silent = dial(&address);
    let started = Instant::now();
    let _ = silent.read_to_end(&mut Vec::new());
    assert!(started.elapsed() < Duration::from_secs(8));
    let _second = Mesh::connect(&second).unwrap();
    assert_eq!(first.join().unwrap().turned_away(), 1);
}

#[test]
fn nobody_can_speak_for_a_party_that_is_here() {
    let mut all = configs(3, short());
    all.remove(2);
    let mut impostor = configs(3, short()).remove(1);
    impostor.parties[0] = all[0].parties[0].clone();
    // Both are in, and Cyd is waited for, when a stranger connects that claims to be Bob.
    let knock = thread::spawn(move || {
        thread::sleep(Duration::from_millis(500));
        impostor.listen = Some("127.0.0.1:0".into());
        Mesh::connect(&impostor).err().unwrap()
    });
    for text in texts(connect_all(all)) {
        assert!(text.contains("cyd (party 2) cannot be reached"), "{text}");
    }
    let refused = knock.join().unwrap();
    assert_is!(&refused, NetError::WrongKey { party: A, .. });
    assert_has(&refused.to_string(), ["expects another key of this party"]);
}
