//! Probes over TLS on loopback: all kinds of answers and failures at an address, and gatherings
//! that are probed while they wait. Clocks and versions are tested beside the code.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{A, B, C, configs, configured, connect_all, dial, short, short_but};
use sealane_identity::Identity;
use sealane_net::{
    Cancel, KeyFault, Limits, Mesh, MeshConfig, NetError, ProbeAnswer, ProbeEvent, ProbeReport,
    Purpose, Version, probe_peers,
};
use sealane_parties::PartyId;

/// Long enough for every certain event.
const UNHURRIED: Duration = Duration::from_secs(20);

const AT_ONCE: Duration = Duration::ZERO;

/// Limits under which every certain event comes long before the meeting would end.
fn unhurried() -> Limits {
    short_but(|limits| limits.connect = UNHURRIED)
}

fn look(config: &MeshConfig, wait: Duration) -> ProbeReport {
    probe_peers(config, wait, &mut |_| ()).unwrap()
}

/// Result of one party's probe of another.
fn answer(found: &ProbeReport, peer: PartyId) -> Result<&ProbeAnswer, &NetError> {
    let sighting = found.peers[peer.index()].as_ref();
    let sighting = sighting.expect("every other party is looked at");
    sighting.answer.as_ref()
}

/// Probes `peer` by `config`, with `listener` in the place of `peer`.
fn look_at(config: &mut MeshConfig, peer: PartyId, listener: &TcpListener) -> NetError {
    config.parties[peer.index()].address = listener.local_addr().unwrap().to_string();
    answer(&look(config, AT_ONCE), peer).unwrap_err().clone()
}

#[test]
fn all_who_look_around_at_the_same_time_see_each_other() {
    let looks = configs(3, Limits::default()).into_iter().map(|config| {
        thread::spawn(move || {
            let mut signs = Vec::new();
            let found = probe_peers(&config, UNHURRIED, &mut |sign| signs.push(sign)).unwrap();
            (config.me, found, signs)
        })
    });
    let looks: Vec<_> = looks.collect();
    for look in looks {
        let (me, found, signs) = look.join().unwrap();
        assert_eq!((found.own.clone(), found.turned_away), (Ok(()), 0));
        assert!(found.peers[me.index()].is_none());
        for peer in [A, B, C].into_iter().filter(|peer| *peer != me) {
            let answer = answer(&found, peer).unwrap();
            assert_eq!(answer.purpose, Purpose::Probe);
            assert_eq!(answer.version, Version::current());
            assert!(found.peers[peer.index()].as_ref().unwrap().asked);
            for sign in [ProbeEvent::Answered(peer), ProbeEvent::Asked(peer)] {
                assert!(signs.contains(&sign), "{sign:?}");
            }
        }
    }
}

#[test]
fn nobody_there_is_found_when_the_wait_is_over() {
    let config = configs(2, short()).remove(0);
    let found = look(&config, Duration::from_millis(300));
    let address = &config.parties[1].address;
    let error = answer(&found, B).unwrap_err();
    assert!(
        matches!(error, NetError::Unreachable { party: B, address: at, .. } if at == address),
        "{error}"
    );
    let sighting = found.peers[1].as_ref().unwrap();
    assert_eq!(sighting.resolved, Ok(vec!["127.0.0.1".into()]));
    assert!(!sighting.asked);
}

#[test]
fn a_name_without_an_address_is_reported_apart() {
    let mut config = configs(2, short()).remove(0);
    // No such name can exist (RFC 6761).
    config.parties[1].address = "nobody.invalid:7700".into();
    let found = look(&config, AT_ONCE);
    assert!(found.peers[1].as_ref().unwrap().resolved.is_err());
    let answer = answer(&found, B);
    assert_is!(answer, Err(NetError::Unreachable { party: B, .. }));
}

#[test]
fn a_wrong_key_is_reported_and_does_not_disturb_the_one_who_is_asked() {
    let [first, second] = configured(unhurried());
    let (mut deceived, mut unknown) = (twin(&second), twin(&second));
    let first = thread::spawn(move || Mesh::connect(&first));
    // Another key is pinned for it here.
    let seen = deceived.parties[0].key;
    let expected = Identity::generate().public_key();
    deceived.parties[0].key = expected;
    let refused = NetError::wrong_key(A, KeyFault::Theirs { expected, seen });
    assert_eq!(answer(&look(&deceived, UNHURRIED), A), Err(&refused));
    // It has pinned another key than this one.
    unknown.identity = Identity::generate();
    let shown = unknown.identity.public_key();
    unknown.parties[1].key = shown;
    let refused = NetError::wrong_key(A, KeyFault::Unknown { shown });
    assert_eq!(answer(&look(&unknown, UNHURRIED), A), Err(&refused));
    assert!(Mesh::connect(&second).is_ok());
    assert_eq!(first.join().unwrap().unwrap().turned_away(), 2);
}

/// Serves an incoming connection with another protocol.
fn serve_one_as_something_else(listener: &TcpListener) {
    let listener = listener.try_clone().unwrap();
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 16]);
        let _ = socket.write_all(b"HTTP/1.0 400 Bad Request\r\n\r\n");
        let _ = socket.read_to_end(&mut Vec::new());
    });
}

#[test]
fn something_else_at_the_address_is_no_party() {
    let mut config = configs(2, short()).remove(0);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    serve_one_as_something_else(&listener);
    let error = look_at(&mut config, B, &listener);
    assert_is!(error, NetError::Malformed { party: B, .. });
}

#[test]
fn another_party_at_the_address_is_named() {
    let [first, second, third] = configured(unhurried());
    let mut looking = twin(&third);
    let address = &second.parties[1].address;
    looking.parties[0].address.clone_from(address);
    // The same address under another name: two parties with one address would be refused.
    looking.parties[1].address = address.replace("127.0.0.1", "localhost");
    let second = thread::spawn(move || Mesh::connect(&second));
    let found = look(&looking, UNHURRIED);
    let error = answer(&found, A).unwrap_err();
    assert!(
        matches!(error, NetError::WrongParty { party: A, reason } if reason.contains("bob")),
        "{error}"
    );
    // The party that was mistaken for another still meets the others.
    for met in connect_all(vec![first, third]) {
        met.unwrap();
    }
    second.join().unwrap().unwrap();
}

#[test]
fn one_who_accepts_and_says_nothing_is_not_waited_for_long() {
    let mut config = configs(2, short()).remove(0);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let started = Instant::now();
    let error = look_at(&mut config, B, &silent);
    assert_is!(error, NetError::Stalled { party: B, .. });
    assert!(started.elapsed() < UNHURRIED);
}

#[test]
fn one_that_cannot_listen_says_so_and_looks_all_the_same() {
    let [first, second] = configured(short());
    let taken = TcpListener::bind(&first.parties[0].address).unwrap();
    serve_one_as_something_else(&taken);
    let second = thread::spawn(move || look(&second, UNHURRIED));
    let found = look(&first, UNHURRIED);
    assert_is!(&found.own, Err(NetError::Listen { .. }));
    assert!(answer(&found, B).is_ok());
    let found = second.join().unwrap();
    let answer = answer(&found, A);
    assert_is!(answer, Err(NetError::Malformed { party: A, .. }));
}

/// Makes a copy of a party.
fn twin(config: &MeshConfig) -> MeshConfig {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    config.identity.save(&file).unwrap();
    MeshConfig {
        identity: Identity::load(&file).unwrap(),
        parties: config.parties.clone(),
        listen: None,
        cancel: Cancel::default(),
        ..*config
    }
}

/// Asks `peer` for its purpose, as a party that knows no other and numbers itself first.
fn purpose_of(config: &MeshConfig, peer: PartyId) -> Purpose {
    let mut asking = twin(config);
    let parties = [config.me, peer].map(|party| config.parties[party.index()].clone());
    (asking.parties, asking.me) = (parties.into(), A);
    let found = look(&asking, UNHURRIED);
    answer(&found, B).unwrap().purpose
}

#[test]
fn a_gathering_answers_probes_and_goes_on() {
    let [first, second, last] = configured(unhurried());
    let asking = [twin(&second), twin(&last)];
    let first = thread::spawn(move || Mesh::connect(&first));
    for config in &asking {
        assert_eq!(purpose_of(config, A), Purpose::Run);
    }
    for met in connect_all(vec![second, last]) {
        met.unwrap();
    }
    assert_eq!(first.join().unwrap().unwrap().turned_away(), 0);
}

#[test]
fn one_who_waits_for_whom_it_dials_answers_probes_as_well() {
    let [first, second, third] = configured(unhurried());
    let asking = twin(&first);
    let rest = thread::spawn(move || connect_all(vec![second, third]));
    // The second has met the third by now or meets it soon; both then wait for the first.
    for _ in 0..3 {
        assert_eq!(purpose_of(&asking, B), Purpose::Run);
    }
    let first = Mesh::connect(&first);
    for met in rest.join().unwrap().into_iter().chain([first]) {
        assert_eq!(met.unwrap().turned_away(), 0);
    }
}

#[test]
fn one_who_comes_to_run_while_others_look_around_waits_for_the_run() {
    let [first, second] = configured(unhurried());
    let second = thread::spawn(move || Mesh::connect(&second));
    let found = look(&first, Duration::from_millis(700));
    // The last party does not listen.
    let answer = answer(&found, B);
    assert_is!(answer, Err(NetError::Unreachable { party: B, .. }));
    Mesh::connect(&first).unwrap();
    second.join().unwrap().unwrap();
}

#[test]
fn strangers_do_not_keep_parties_from_their_answers() {
    let [first, second] = configured(unhurried());
    let asking = twin(&second);
    let address = first.parties[0].address.clone();
    let first = thread::spawn(move || Mesh::connect(&first));
    let mut strangers: Vec<_> = (0..100).map(|_| dial(&address)).collect();
    for stranger in strangers.iter_mut().skip(90) {
        // A stranger whose connection was closed to make room cannot even report this.
        let _ = stranger.write_all(b"GET / HTTP/1.0\r\n\r\n");
    }
    assert_eq!(purpose_of(&asking, A), Purpose::Run);
    Mesh::connect(&second).unwrap();
    assert!(first.join().unwrap().unwrap().turned_away() >= 36);
}
