//! Payload written directly into the outgoing frame, and read in its receive buffer.

use proptest::prelude::*;

use crate::common::{A, B, digest, hear, pair, pattern, plain, say, short, short_but};
use sealane_block::Cpu;
use sealane_net::{MAX_CONTIGUOUS_BYTES, Mesh, NetError, Result, SessionId, fuzzing};
use std::time::{Duration, Instant};

/// Bytes after which digests are compared, since each digest covers all that came before.
const OFTEN_ENOUGH: usize = 4000;

/// Calls: whether in place, bytes requested, and how many of them are used.
fn calls(most: usize) -> impl Strategy<Value = Vec<(bool, usize, usize)>> {
    let length = prop_oneof![100usize..1000, 1usize..5000, 60_000usize..=most];
    proptest::collection::vec((any::<bool>(), length, any::<prop::sample::Index>()), 1..40)
        .prop_map(|calls| {
            let part = |(in_place, bytes, part): (_, _, prop::sample::Index)| {
                (in_place, bytes, bytes - part.index(bytes / 2 + 1))
            };
            calls.into_iter().map(part).collect()
        })
}

/// Writes `bytes` in the pieces that `calls` give, repeated, in place or not, and flushes now and
/// then.
fn write(mesh: &mut Mesh, bytes: &[u8], calls: &[(bool, usize, usize)]) {
    let mut left = bytes;
    for (in_place, asked, used) in calls.iter().cycle() {
        if left.is_empty() {
            break;
        }
        let taken = if *in_place {
            let buffer = mesh.send_buffer(B, *asked).unwrap();
            assert!(buffer.len() >= *asked);
            let taken = (*used).min(left.len());
            buffer[..taken].copy_from_slice(&left[..taken]);
            mesh.mark_written(B, taken).unwrap();
            taken
        } else {
            let taken = (*used).min(left.len());
            mesh.send(B, &left[..taken]).unwrap();
            taken
        };
        left = &left[taken..];
        if used % 7 == 0 {
            mesh.flush().unwrap();
        }
        if taken >= OFTEN_ENOUGH {
            let so_far = &bytes[..bytes.len() - left.len()];
            assert_eq!(mesh.digest_sent(B), digest(A, B, so_far));
        }
    }
    mesh.flush().unwrap();
}

/// Reads and compares `bytes` in the pieces that `calls` give, in place or not.
fn read(mesh: &mut Mesh, bytes: &[u8], calls: &[(bool, usize, usize)]) {
    let mut left = bytes;
    for (in_place, asked, used) in calls.iter().cycle() {
        if left.is_empty() {
            break;
        }
        let asked = (*asked).min(left.len());
        let taken = (*used).min(asked);
        if *in_place {
            let ready = mesh.recv_buffer(A, asked).unwrap();
            assert!(ready[..asked] == left[..asked]);
            mesh.consume(A, taken).unwrap();
        } else {
            assert!(hear(mesh, A, taken) == left[..taken]);
        }
        left = &left[taken..];
        let so_far = bytes.len() - left.len();
        assert_eq!(mesh.payload_received(A), so_far as u64);
        if taken >= OFTEN_ENOUGH {
            assert_eq!(mesh.digest_received(A), digest(A, B, &bytes[..so_far]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_mix_of_calls_carries_the_same_bytes_digests_and_counts(
        total in 1usize..900_000,
        writes in calls(MAX_CONTIGUOUS_BYTES),
        reads in calls(MAX_CONTIGUOUS_BYTES),
    ) {
        let [mut a, mut b] = Mesh::in_memory(2).try_into().ok().unwrap();
        let bytes = pattern(total);
        write(&mut a, &bytes, &writes);
        read(&mut b, &bytes, &reads);
        prop_assert_eq!((a.rounds(), b.rounds()), (1, 1));
        prop_assert_eq!(a.payload_sent(B), total as u64);
        let (sent, received) = (a.counters(), b.counters());
        prop_assert_eq!(sent.messages[1].sent, received.messages[0].received);
        prop_assert_eq!(sent.wire[1].sent, received.wire[0].received);
        let [sent, received] = [&sent, &received].map(|counters| &counters.payload_by_step[&0]);
        prop_assert_eq!(sent[1].sent, received[0].received);
    }
}

/// Lengths of messages, and whether they are bulk.
fn contents() -> impl Strategy<Value = Vec<(bool, usize)>> {
    let length = prop_oneof![1usize..100, 1usize..5000, 1usize..200_000];
    proptest::collection::vec((any::<bool>(), length), 1..12)
}

/// Bytes of each piece of `total` bytes.
fn pieces(total: usize, most: usize) -> impl Iterator<Item = usize> {
    let places = (0..total).step_by(most);
    places.map(move |done| most.min(total - done))
}

/// The digest of contents that A sends to B, computed apart.
fn digest_of(contents: &[(bool, usize)], bytes: &[u8]) -> [u8; 32] {
    let mut left = bytes;
    let part = |(is_bulk, length): &(bool, usize)| {
        let part;
        (part, left) = left.split_at(*length);
        (part, *is_bulk)
    };
    let parts: Vec<_> = contents.iter().map(part).collect();
    fuzzing::digest(SessionId::default(), A, B, &parts)
}

/// Sends messages in place in pieces of at most `most` bytes.
fn write_contents(mesh: &mut Mesh, contents: &[(bool, usize)], bytes: &[u8], most: usize) {
    let (cpu, mut left) = (Cpu::best(), bytes);
    for (is_bulk, length) in contents {
        for piece in pieces(*length, most) {
            let now;
            (now, left) = left.split_at(piece);
            mesh.send_buffer(B, piece).unwrap()[..piece].copy_from_slice(now);
            if *is_bulk {
                mesh.mark_bulk_written(cpu, B, piece).unwrap()
            } else {
                mesh.mark_written(B, piece).unwrap()
            }
        }
    }
    mesh.flush().unwrap();
}

/// Reads them likewise, some of them by a copy.
fn read_contents(mesh: &mut Mesh, contents: &[(bool, usize)], most: usize) {
    let cpu = Cpu::best();
    for (is_bulk, length) in contents {
        for piece in pieces(*length, most) {
            if *is_bulk {
                mesh.recv_buffer(A, piece).unwrap();
                mesh.consume_bulk(cpu, A, piece).unwrap();
            } else {
                drop(hear(mesh, A, piece))
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn bulk_has_one_digest_however_it_is_written_and_read(
        contents in contents(),
        writes in 64usize..=MAX_CONTIGUOUS_BYTES,
        reads in 64usize..=MAX_CONTIGUOUS_BYTES,
        wrong in any::<prop::sample::Index>(),
    ) {
        let total = contents.iter().map(|(_, length)| length).sum();
        let mut bytes = pattern(total);
        let expected = digest_of(&contents, &bytes);
        let [mut a, mut b] = Mesh::in_memory(2).try_into().ok().unwrap();
        write_contents(&mut a, &contents, &bytes, writes);
        read_contents(&mut b, &contents, reads);
        prop_assert_eq!(a.digest_sent(B), expected);
        prop_assert_eq!(b.digest_received(A), expected);

        let [mut a, mut b] = Mesh::in_memory(2).try_into().ok().unwrap();
        bytes[wrong.index(total)] ^= 1;
        write_contents(&mut a, &contents, &bytes, writes);
        prop_assert_ne!(a.digest_sent(B), expected);
        // One that takes bulk for something else sees another stream.
        let other = contents.iter().map(|(_, length)| (false, *length)).collect::<Vec<_>>();
        read_contents(&mut b, &other, reads);
        let same = contents.iter().all(|(is_bulk, _)| !is_bulk);
        prop_assert_eq!(a.digest_sent(B) == b.digest_received(A), same);
    }
}

#[test]
fn bulk_crosses_tcp_and_tls_with_one_digest() {
    let contents = [
        (false, 500),
        (true, 3_000_000),
        (false, 70_000),
        (true, 40_000),
    ];
    let bytes = pattern(3_110_500);
    for (mut a, mut b) in [plain(short()), pair(short())] {
        std::thread::scope(|threads| {
            threads.spawn(|| write_contents(&mut a, &contents, &bytes, 5000));
            read_contents(&mut b, &contents, 7000);
        });
        let expected = digest_of(&contents, &bytes);
        assert_eq!(a.digest_sent(B), expected);
        assert_eq!(b.digest_received(A), expected);
    }
}

#[test]
fn frames_that_wait_for_more_leave_before_their_sender_waits() {
    let (mut a, mut b) = plain(short_but(|limits| limits.silence = Duration::from_secs(30)));
    for _ in 0..3 {
        a.send_buffer(B, 60_000).unwrap();
        a.mark_written(B, 60_000).unwrap();
    }
    let started = Instant::now();
    std::thread::scope(|threads| {
        threads.spawn(move || {
            b.recv_buffer(A, 60_000).unwrap();
            b.consume(A, 60_000).unwrap();
            say(&mut b, A, b"heard");
        });
        // The message goes on, and its frames do not wait for its end.
        assert_eq!(hear(&mut a, B, 5), b"heard");
    });
    // A heartbeat, with which they would have left too, comes every 5 seconds.
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_stream_in_place_crosses_tcp_and_tls_as_it_was_written() {
    let bytes = pattern(9_000_000);
    let calls = [(true, 2048, 2048), (true, 65_536, 40_000), (true, 32, 32)];
    for (mut a, mut b) in [plain(short()), pair(short())] {
        std::thread::scope(|threads| {
            threads.spawn(|| write(&mut a, &bytes, &calls[..1]));
            read(&mut b, &bytes, &calls);
        });
        assert_eq!(a.digest_sent(B), b.digest_received(A));
    }
}

#[test]
fn stamps_count_when_bytes_are_asked_for_and_payload_when_it_is_used() {
    let [mut a, mut b] = Mesh::in_memory(2).try_into().ok().unwrap();
    say(&mut a, B, b"early");
    assert_eq!((b.rounds(), b.payload_received(A)), (0, 0));
    assert_eq!(b.recv_buffer(A, 2).unwrap(), b"early");
    assert_eq!((b.rounds(), b.payload_received(A)), (1, 0));
    b.consume(A, 5).unwrap();
    assert_eq!(b.payload_received(A), 5);
    say(&mut b, A, b"late");
    assert_eq!(b.rounds(), 2);
}

#[test]
fn no_more_is_given_or_taken_than_there_is() {
    let [mut a, mut b] = Mesh::in_memory(2).try_into().ok().unwrap();
    let misuse = |result: Result<()>| {
        assert!(matches!(result, Err(NetError::Misuse { .. })), "{result:?}");
    };
    for bytes in [0, MAX_CONTIGUOUS_BYTES + 1] {
        misuse(a.send_buffer(B, bytes).map(|_| ()));
        misuse(b.recv_buffer(A, bytes).map(|_| ()));
    }
    misuse(a.mark_written(B, 1));
    let room = a.send_buffer(B, 1).unwrap().len();
    misuse(a.mark_written(B, room + 1));
    a.mark_written(B, 3).unwrap();
    a.flush().unwrap();
    let ready = b.recv_buffer(A, 3).unwrap().len();
    misuse(b.consume(A, ready + 1));
    b.consume(A, ready).unwrap();
    misuse(a.send_buffer(A, 1).map(|_| ()));
}

#[test]
fn room_for_which_frames_have_left_is_used_before_the_message_ends() {
    let [mut a, _b] = Mesh::in_memory(2).try_into().ok().unwrap();
    a.send_buffer(B, 1).unwrap();
    // Nothing has been sent for it, so there is no message.
    a.flush().unwrap();
    let room = a.send_buffer(B, MAX_CONTIGUOUS_BYTES).unwrap().len();
    a.mark_written(B, room).unwrap();
    a.send_buffer(B, 1).unwrap();
    assert_is!(a.flush(), Err(NetError::Misuse { .. }));
    a.mark_written(B, 1).unwrap();
    a.flush().unwrap();
    assert_eq!(a.counters().messages[1].sent, 1);
}

#[test]
fn bytes_that_never_come_are_missed() {
    let [mut a, mut b] = Mesh::in_memory(2).try_into().ok().unwrap();
    say(&mut a, B, b"half");
    a.finish().unwrap();
    let finished = NetError::Finished { party: A };
    assert_eq!(b.recv_buffer(A, 8), Err(finished));
}
