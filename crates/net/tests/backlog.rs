//! Parties that write far more than their links hold before any of them reads.

use std::thread;
use std::time::{Duration, Instant};

use crate::common::{A, B, C, D, configs, connect_all, digest, hear, on_threads, pattern, say};
use crate::common::{limits, line};
use sealane_net::{Awaited, Limits, Mesh, NetError};
use sealane_parties::{NetworkClass, PartyId};

/// Bytes that each party writes to each other one: thousands of times the buffer of a link.
const FLIGHT_BYTES: usize = 8 << 20;

/// Limits under which a link holds a few KiB, and a deadlocked run ends as a failed test.
fn tiny() -> Limits {
    limits(|limits| {
        (limits.inbound_bytes, limits.outbound_bytes) = (4 << 10, 4 << 10);
        limits.patience = Duration::from_secs(30);
    })
}

fn over_tls(parties: usize, limits: Limits) -> Vec<Mesh> {
    let meshes = connect_all(configs(parties, limits)).into_iter();
    meshes.map(Result::unwrap).collect()
}

/// Runs each party in a thread of its own; returns the meshes.
fn run(meshes: Vec<Mesh>, party: impl Fn(&mut Mesh) + Sync) -> Vec<Mesh> {
    on_threads(meshes, |mut mesh| {
        party(&mut mesh);
        mesh
    })
}

/// Every party writes a flight to every other, then all read.
fn exchange_flights(meshes: Vec<Mesh>) {
    let started = Instant::now();
    let flight = pattern(FLIGHT_BYTES);
    let mut meshes = run(meshes, |mesh| {
        for peer in mesh.peers() {
            mesh.send(peer, &flight).unwrap();
        }
        mesh.flush().unwrap();
        for peer in mesh.peers() {
            assert!(hear(mesh, peer, FLIGHT_BYTES) == flight);
        }
    });
    let took = started.elapsed();
    assert!(took < Duration::from_secs(20), "no stand-still on the way");
    for mesh in &mut meshes {
        // What was taken in early has counted when it was received.
        assert_eq!(mesh.rounds(), 1);
        for peer in mesh.peers() {
            let me = mesh.me();
            assert_eq!(mesh.digest_sent(peer), digest(me, peer, &flight));
            assert_eq!(mesh.digest_received(peer), digest(peer, me, &flight));
        }
    }
    let mut peaks = meshes.iter().map(Mesh::backlog_peak_bytes);
    assert!(peaks.any(|peak| peak > FLIGHT_BYTES / 2));
}

#[test]
fn three_and_five_parties_in_memory_may_all_write_before_they_read() {
    for parties in [3, 5] {
        exchange_flights(Mesh::in_memory_with(parties, tiny()));
    }
}

#[test]
fn three_and_five_parties_over_tls_may_all_write_before_they_read() {
    for parties in [3, 5] {
        exchange_flights(over_tls(parties, tiny()));
    }
}

#[test]
fn three_parties_of_a_simulated_network_may_all_write_before_they_read() {
    exchange_flights(Mesh::simulated_with(3, NetworkClass::LAN, tiny()));
}

/// Two parties write to two others in opposite order, and these read in the order that suits
/// neither: all four wait for each other, and those that could make room wait for bytes.
fn cross(meshes: Vec<Mesh>) {
    let flight = pattern(FLIGHT_BYTES);
    let write = |mesh: &mut Mesh, to: [PartyId; 2]| to.map(|to| say(mesh, to, &flight));
    let read = |mesh: &mut Mesh, from: [PartyId; 2]| {
        from.map(|from| assert!(hear(mesh, from, FLIGHT_BYTES) == flight))
    };
    run(meshes, |mesh| {
        match mesh.me() {
            A => write(mesh, [C, D]),
            B => write(mesh, [D, C]),
            C => read(mesh, [B, A]),
            _ => read(mesh, [A, B]),
        };
    });
}

#[test]
fn who_waits_for_one_makes_room_for_another() {
    cross(Mesh::in_memory_with(4, tiny()));
    cross(over_tls(4, tiny()));
    cross(Mesh::simulated_with(4, NetworkClass::LAN, tiny()));
}

#[test]
fn a_stream_to_a_slow_receiver_is_slowed_down_and_not_taken_in() {
    let mut limits = tiny();
    limits.inbound_bytes = 100_000;
    let meshes = run(Mesh::in_memory_with(3, limits), |mesh| {
        let piece = pattern(50_000);
        match mesh.me() {
            A => (0..100).for_each(|_| mesh.send(B, &piece).unwrap()),
            B => (0..99).for_each(|_| {
                thread::sleep(Duration::from_millis(2));
                assert!(hear(mesh, A, piece.len()) == piece);
            }),
            _ => {}
        }
    });
    assert!(meshes.iter().all(|mesh| mesh.backlog_peak_bytes() == 0));
}

#[test]
fn a_peer_that_floods_beyond_the_bound_is_named_when_patience_ends() {
    let mut limits = tiny();
    limits.backlog_bytes = 1 << 20;
    limits.patience = Duration::from_millis(1500);
    let flight = pattern(FLIGHT_BYTES);
    let meshes = run(Mesh::in_memory_with(3, limits), |mesh| match mesh.me() {
        A => {
            // B does not read, and C sends what A has no use for.
            let error = mesh.send(B, &flight).unwrap_err();
            let NetError::Overfull { held_bytes, .. } = error else {
                panic!("{error}")
            };
            assert!((1 << 20..2 << 20).contains(&held_bytes), "{held_bytes}");
            assert_eq!(
                line(&error.with_names(&["ada", "bob", "cyd"])),
                format!(
                    "cyd (party 2) has sent most of {held_bytes} bytes that cannot be used yet, as \
                     many as this party holds, while bob (party 1) took in nothing for 1 s and \
                     this party waits for room for the payload of step 0; see that all run the \
                     same version, and run on fewer rows at a time"
                )
            );
        }
        C => {
            let error = mesh.send(A, &flight).unwrap_err();
            assert_eq!(error, NetError::overdue(A, Awaited::Room { step: 0 }, 1));
        }
        _ => thread::sleep(Duration::from_secs(2)),
    });
    assert!(meshes[0].backlog_peak_bytes() >= 1 << 20);
    assert_eq!(meshes[1].backlog_peak_bytes(), 0);
}
