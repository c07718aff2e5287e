//! The mesh over TCP with mutual TLS, on loopback: meetings, transfers, and all kinds of failure.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{
    A, B, C, configs, configured, connect_all, connected, dial, hear, limits, line,
};
use crate::common::{on_threads, pair, pattern, say, short, short_but};
use sealane_diagnostic::Code;
use sealane_identity::Identity;
use sealane_net::{Awaited, Cancel, Cause, KeyFault, Limits, Mesh, NetError, Result};

fn short_pair() -> (Mesh, Mesh) {
    pair(short())
}

/// Two parties that have met, and what cancels the run of the first.
fn cancellable(limits: Limits) -> (Mesh, Mesh, Cancel) {
    let all = configs(2, limits);
    let cancel = all[0].cancel.clone();
    let [a, b] = connected(all);
    (a, b, cancel)
}

/// Returns the error with which a meeting ended.
fn error(result: Result<Mesh>) -> NetError {
    result.err().expect("the meeting must fail")
}

#[test]
fn three_parties_meet_and_talk() {
    let [mut a, mut b, mut c] = connected(configs(3, Limits::default()));
    say(&mut a, B, b"a to b");
    say(&mut a, C, b"a to c");
    assert_eq!(hear(&mut b, A, 6), b"a to b");
    say(&mut b, C, b"b to c");
    assert_eq!(hear(&mut c, B, 6), b"b to c");
    assert_eq!(hear(&mut c, A, 6), b"a to c");
    assert_eq!((a.rounds(), b.rounds(), c.rounds()), (1, 2, 2));
    assert_eq!(c.digest_received(B), b.digest_sent(C));
    assert!(a.counters().wire[1].sent > 6);
}

#[test]
fn both_may_send_much_before_either_receives() {
    let (mut a, mut b) = short_pair();
    let bytes = pattern(40_000_000);
    on_threads(vec![(&mut a, B), (&mut b, A)], |(mesh, peer)| {
        say(mesh, peer, &bytes);
        assert!(hear(mesh, peer, bytes.len()) == bytes);
    });
    assert_eq!(a.digest_sent(B), b.digest_received(A));
    assert_eq!(b.digest_sent(A), a.digest_received(B));
}

#[test]
fn a_slow_reader_slows_the_sender_and_loses_nothing() {
    let (mut a, mut b) = pair(with_room(200_000));
    let bytes = pattern(30_000_000);
    thread::scope(|threads| {
        let bytes = &bytes;
        // Longer than the allowed silence: a slow peer is not taken for dead.
        threads.spawn(move || {
            thread::sleep(Duration::from_millis(1500));
            assert!(hear(&mut b, A, bytes.len()) == *bytes);
        });
        say(&mut a, B, bytes);
        a.finish().unwrap();
        drop(a);
    });
}

#[test]
fn a_peer_that_computes_is_not_mistaken_for_a_stalled_one() {
    let (mut a, mut b) = short_pair();
    thread::scope(|threads| {
        threads.spawn(move || {
            thread::sleep(Duration::from_millis(2500));
            say(&mut b, A, b"done");
            b.finish().unwrap();
        });
        assert_eq!(hear(&mut a, B, 4), b"done");
    });
}

#[test]
fn patience_with_a_live_peer_ends_too() {
    let (mut a, _b) = pair(short_but(|limits| {
        limits.patience = Duration::from_millis(1300)
    }));
    let error = a.recv(B, &mut [0]).unwrap_err();
    assert_eq!(error, NetError::overdue(B, Awaited::Payload { step: 0 }, 1));
    assert_eq!(
        line(&error.with_names(&["hospital", "lab"])),
        "lab (party 1) sent nothing for 1 s, though the connection with it is up and this party \
         waits for the payload of step 0; see what its process does, and end it if it hangs"
    );
}

#[test]
fn bytes_sent_before_the_goodbye_arrive_and_then_the_peer_has_finished() {
    let (mut a, mut b) = short_pair();
    a.send(B, &pattern(1_000_000)).unwrap();
    a.finish().unwrap();
    drop(a);
    assert_eq!(hear(&mut b, A, 1_000_000), pattern(1_000_000));
    assert_eq!(b.recv(A, &mut [0]), Err(NetError::Finished { party: A }));
    // In good order from both sides, in either order.
    b.finish().unwrap();
}

#[test]
fn a_peer_that_is_dropped_has_vanished_after_its_bytes() {
    let (mut a, mut b) = short_pair();
    say(&mut a, B, b"last words");
    drop(a);
    assert_eq!(hear(&mut b, A, 10), b"last words");
    assert_eq!(b.recv(A, &mut [0]), Err(NetError::Vanished { party: A }));
}

/// Limits with so little room in either direction.
fn with_room(bytes: usize) -> Limits {
    short_but(|limits| (limits.inbound_bytes, limits.outbound_bytes) = (bytes, bytes))
}

#[test]
fn an_abort_arrives_although_the_reader_is_far_behind() {
    let (mut a, mut b) = pair(with_room(100_000));
    // Fills every buffer on the way, in both directions.
    let sender = thread::spawn(move || {
        let sent = b.send(A, &pattern(100_000_000));
        (sent, b)
    });
    thread::sleep(Duration::from_millis(200));
    a.send(B, &pattern(100_000)).unwrap();
    a.abort(Cause::Network, "the weights do not fit");
    drop(a);
    let (sent, _b) = sender.join().unwrap();
    let end = NetError::aborted(A, Cause::Network, "the weights do not fit");
    assert_eq!(sent, Err(end));
}

#[test]
fn a_run_that_is_cancelled_while_it_waits_ends_at_once_and_the_other_hears_so() {
    let (mut a, mut b, cancel) = cancellable(Limits::default());
    let waiting = thread::spawn(move || {
        let heard = a.recv(B, &mut [0; 100]);
        a.abort(Cause::Cancelled, "the run was cancelled there");
        drop(a);
        (heard, Instant::now())
    });
    thread::sleep(Duration::from_millis(200));
    let asked = Instant::now();
    cancel.cancel();
    let reported = b.recv(A, &mut [0]).unwrap_err();
    assert_eq!(
        (reported.party(), reported.code()),
        (Some(A), Code::PeerCancelled)
    );
    drop(b);
    let (heard, ended) = waiting.join().unwrap();
    assert_eq!(heard, Err(NetError::Cancelled));
    assert!(ended - asked < Duration::from_secs(1));
}

#[test]
fn one_that_is_cancelled_does_not_go_on_with_a_stream() {
    let (mut a, mut b, cancel) = cancellable(Limits::default());
    let sender = thread::spawn(move || b.send(A, &pattern(400_000_000)));
    let mut piece = vec![0; 1 << 20];
    a.recv(B, &mut piece).unwrap();
    cancel.cancel();
    // Bytes that have arrived already are not received either: the run must not go on.
    let more = (0..400).find_map(|_| a.recv(B, &mut piece).err());
    assert_eq!(more, Some(NetError::Cancelled));
    a.abort(Cause::Cancelled, "the run was cancelled there");
    drop(a);
    let reported = sender.join().unwrap().unwrap_err();
    assert_eq!(
        (reported.party(), reported.code()),
        (Some(A), Code::PeerCancelled)
    );
}

#[test]
fn who_has_finished_and_waits_for_a_peer_that_lives_can_be_cancelled() {
    let (mut a, b, cancel) = cancellable(limits(|limits| {
        (limits.inbound_bytes, limits.outbound_bytes) = (1 << 16, 128 << 20);
    }));
    // More than the buffers to a computing peer hold, so that the goodbye waits behind it.
    a.send(B, &pattern(64 << 20)).unwrap();
    a.finish().unwrap();
    let leaving = thread::spawn(move || drop(a));
    thread::sleep(Duration::from_millis(300));
    assert!(!leaving.is_finished(), "it waits for the other to finish");
    let asked = Instant::now();
    cancel.cancel();
    leaving.join().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(4));
    drop(b);
}

#[test]
fn after_its_farewell_a_party_says_nothing_more() {
    let (mut a, _b) = short_pair();
    a.abort(Cause::Party, "over");
    assert!(matches!(a.send(B, b"x"), Err(NetError::Misuse { .. })));
    assert!(matches!(a.recv(B, &mut [0]), Err(NetError::Misuse { .. })));
}

#[test]
fn a_wrong_key_is_reported_to_both_sides_whoever_dials() {
    for wrong in [0, 1] {
        let mut all = configs(2, short());
        let impostor = Identity::generate();
        let shown = impostor.public_key();
        let expected = all[wrong].parties[wrong].key;
        all[wrong].parties[wrong].key = shown;
        all[wrong].identity = impostor;
        let mut errors: Vec<_> = connect_all(all).into_iter().map(error).collect();
        let (of_wrong, of_right) = (errors.remove(wrong), errors.remove(0));
        let (ids, seen) = ([A, B], shown);
        let theirs = KeyFault::Theirs { expected, seen };
        assert_eq!(of_right, NetError::wrong_key(ids[wrong], theirs));
        let ours = KeyFault::Ours { shown };
        assert_eq!(of_wrong, NetError::wrong_key(ids[1 - wrong], ours));
    }
}

#[test]
fn a_configuration_with_anothers_key_for_oneself_is_found_before_connecting() {
    let mut all = configs(2, short());
    all[0].identity = Identity::generate();
    let started = Instant::now();
    let error = error(Mesh::connect(&all[0]));
    assert_is!(error, NetError::WrongKey { party: A, .. });
    assert!(started.elapsed() < Duration::from_millis(500));
}

#[test]
fn parties_that_disagree_on_who_is_who_is_reported() {
    let mut all = configs(2, short());
    let third = configs(3, short()).remove(2).parties.remove(2);
    all[1].parties.push(third);
    // The second party has a third one configured, for which it would listen after meeting the
    // first.
    all[1].listen = Some("127.0.0.1:0".into());
    let errors: Vec<_> = connect_all(all).into_iter().map(error).collect();
    assert_is!(&errors[0], NetError::WrongParty { party: B, .. });
    assert_is!(&errors[1], NetError::WrongParty { party: A, .. });
}

#[test]
fn nobody_there_is_reported_with_the_address_to_both() {
    for me in [0, 1] {
        let config = configs(2, short()).remove(me);
        let address = config.parties[1 - me].address.clone();
        let started = Instant::now();
        match error(Mesh::connect(&config)) {
            NetError::Unreachable { address: at, .. } => assert_eq!(at, address),
            other => panic!("{other}"),
        }
        assert!(started.elapsed() < Duration::from_secs(3));
    }
}

#[test]
fn an_address_in_use_is_reported() {
    let config = configs(2, short()).remove(0);
    let _taken = TcpListener::bind(&config.parties[0].address).unwrap();
    let error = error(Mesh::connect(&config));
    assert_is!(error, NetError::Listen { .. });
}

#[test]
fn garbage_from_who_dials_is_malformed_and_does_not_keep_the_right_one_out() {
    let [listener, dialler] = configured(short());
    let address = listener.parties[0].address.clone();
    let noise = move || {
        let mut socket = dial(&address);
        let _ = socket.write_all(&pattern(5000));
        let _ = socket.read_to_end(&mut Vec::new());
    };
    thread::scope(|threads| {
        threads.spawn(&noise);
        let error = error(Mesh::connect(&listener));
        assert_is!(error, NetError::Malformed { party: B, .. });
    });
    thread::scope(|threads| {
        threads.spawn(&noise);
        threads.spawn(move || {
            thread::sleep(Duration::from_millis(300));
            Mesh::connect(&dialler).unwrap();
        });
        Mesh::connect(&listener).unwrap();
    });
}

#[test]
fn garbage_from_who_listens_is_malformed() {
    let dialler = configs(2, short()).remove(1);
    let listener = TcpListener::bind(&dialler.parties[0].address).unwrap();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let error = error(Mesh::connect(&dialler));
    assert_is!(error, NetError::Malformed { party: A, .. });
    server.join().unwrap();
}

#[test]
fn who_connects_and_says_nothing_has_stalled_on_either_side() {
    let limits = short_but(|limits| limits.connect = Duration::from_secs(3));
    let config = configs(2, limits).remove(0);
    let address = config.parties[0].address.clone();
    thread::scope(|threads| {
        threads.spawn(move || {
            let mut silent = dial(&address);
            let _ = silent.read_to_end(&mut Vec::new());
        });
        // Time measured from its arrival.
        let stalled = (1..=3).map(|silent_s| NetError::Stalled { party: B, silent_s });
        let end = error(Mesh::connect(&config));
        assert!(stalled.into_iter().any(|error| error == end), "{end}");
    });

    let config = configs(2, short()).remove(1);
    let _silent = TcpListener::bind(&config.parties[0].address).unwrap();
    let stalled = [0, 1].map(|silent_s| NetError::Stalled { party: A, silent_s });
    let end = error(Mesh::connect(&config));
    assert!(stalled.contains(&end), "{end}");
}

#[test]
fn a_silent_stranger_does_not_keep_the_right_one_out() {
    let limits = short_but(|limits| limits.connect = Duration::from_secs(10));
    let [listener, dialler] = configured(limits);
    let address = listener.parties[0].address.clone();
    let started = Instant::now();
    thread::scope(|threads| {
        threads.spawn(move || {
            let mut stranger = dial(&address);
            threads.spawn(move || Mesh::connect(&dialler).unwrap());
            let _ = stranger.read_to_end(&mut Vec::new());
        });
        Mesh::connect(&listener).unwrap();
    });
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn plaintext_and_tls_do_not_understand_each_other() {
    let [listener, dialler] = configured(short());
    let plain = thread::spawn(move || error(Mesh::danger_plaintext(&listener)));
    let error = error(Mesh::connect(&dialler));
    let plain = plain.join().unwrap();
    assert_is!(plain, NetError::Malformed { party: B, .. });
    assert_eq!(error.party(), Some(A));
    assert_is!(
        error,
        NetError::Unreachable { .. } | NetError::Malformed { .. }
    );
}

#[test]
fn plaintext_moves_the_same_bytes() {
    let [one, other] = configured(short());
    thread::scope(|threads| {
        threads.spawn(move || {
            let mut a = Mesh::danger_plaintext(&one).unwrap();
            say(&mut a, B, &pattern(300_000));
            a.finish().unwrap();
        });
        let mut b = Mesh::danger_plaintext(&other).unwrap();
        assert_eq!(hear(&mut b, A, 300_000), pattern(300_000));
    });
}
