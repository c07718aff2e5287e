//! The mesh over transports in memory: stamps, counters, digests, ends of runs.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::common::{A, B, C, digest, hear, in_memory, limits, line, pattern, say};
use sealane_net::{
    Awaited, Cause, Frame, FrameKind, Limits, LinkError, Mesh, NetError, SessionId, Traffic,
    Transport, memory_pair,
};
use sealane_parties::{NetworkClass, PartyId};

fn pair() -> (Mesh, Mesh) {
    let [a, b] = Mesh::in_memory(2).try_into().ok().unwrap();
    (a, b)
}

#[test]
fn each_turn_of_ping_pong_is_a_round() {
    let (mut a, mut b) = pair();
    for turn in 0..5 {
        say(&mut a, B, b"ping");
        assert_eq!(a.rounds(), 2 * turn + 1);
        hear(&mut b, A, 4);
        say(&mut b, A, b"pong");
        assert_eq!(b.rounds(), 2 * turn + 2);
        hear(&mut a, B, 4);
    }
    assert_eq!((a.rounds(), b.rounds()), (10, 10));
}

#[test]
fn messages_that_cross_share_a_round() {
    let (mut a, mut b) = pair();
    say(&mut a, B, b"one");
    say(&mut a, B, b"two");
    say(&mut b, A, b"three");
    hear(&mut b, A, 6);
    hear(&mut a, B, 5);
    assert_eq!((a.rounds(), b.rounds()), (1, 1));
}

#[test]
fn a_message_counts_when_it_is_consumed_and_not_when_it_arrives() {
    let (mut a, mut b) = pair();
    say(&mut a, B, b"early");
    say(&mut b, A, b"independent");
    assert_eq!(b.rounds(), 1);
    hear(&mut b, A, 1);
    say(&mut b, A, b"dependent");
    assert_eq!(b.rounds(), 2);
}

#[test]
fn the_clock_is_one_over_all_peers() {
    let [mut a, mut b, mut c] = Mesh::in_memory(3).try_into().ok().unwrap();
    say(&mut a, B, b"x");
    hear(&mut b, A, 1);
    say(&mut b, C, b"x");
    hear(&mut c, B, 1);
    say(&mut c, A, b"x");
    hear(&mut a, C, 1);
    assert_eq!((a.rounds(), b.rounds(), c.rounds()), (3, 2, 3));
}

#[test]
fn an_empty_message_is_none() {
    let (mut a, mut b) = pair();
    a.send(B, b"").unwrap();
    a.flush().unwrap();
    a.flush().unwrap();
    assert_eq!(a.rounds(), 0);
    assert_eq!(a.counters().messages[1], Traffic::default());
    say(&mut a, B, b"x");
    hear(&mut b, A, 1);
    let messages = b.counters().messages[0];
    assert_eq!((messages.sent, messages.received), (0, 1));
}

#[test]
fn a_long_message_streams_and_its_end_carries_the_final_stamp() {
    let (mut a, mut b) = pair();
    let long = pattern(1_000_000);
    // The first half leaves while the message grows, stamped 1, although nothing was flushed.
    a.send(B, &long[..600_000]).unwrap();
    assert_eq!(hear(&mut b, A, 500_000), long[..500_000]);
    assert_eq!(b.rounds(), 1);
    say(&mut b, A, b"go on");
    hear(&mut a, B, 5);
    say(&mut a, B, &long[600_000..]);
    assert_eq!(a.rounds(), 3);
    assert_eq!(hear(&mut b, A, 500_000), long[500_000..]);
    assert_eq!(b.rounds(), 3);
    assert_eq!(b.counters().messages[0].received, 1);
}

#[test]
fn bytes_are_counted_by_step_and_peer() {
    let [mut a, mut b, _c] = Mesh::in_memory(3).try_into().ok().unwrap();
    a.keep_steps();
    a.at_step(7);
    a.send(B, &[1; 10]).unwrap();
    a.send(C, &[1; 20]).unwrap();
    a.at_step(8);
    a.send(B, &[1; 5]).unwrap();
    a.at_step(7);
    a.send(B, &[1; 100_000]).unwrap();
    a.flush().unwrap();
    let counters = a.counters();
    let sent = |step: u32, peer: usize| counters.payload_by_step[&step][peer].sent;
    let sent = [(7, 1), (7, 2), (8, 1), (8, 2)].map(|(step, peer)| sent(step, peer));
    assert_eq!(sent, [100_010, 20, 5, 0]);
    assert_eq!(counters.payload_by_step.len(), 2);
    let steps = a.kept_steps();
    let to_b = [(7, 10), (8, 15), (7, 100_015), (7, u64::MAX)];
    assert_eq!(steps[1..], [&to_b[..], &[(7, 20), (7, u64::MAX)]]);
    assert_eq!((a.payload_sent(B), a.payload_sent(C)), (100_015, 20));
    assert!(counters.wire[1].sent > 100_015);

    b.at_step(7);
    hear(&mut b, A, 64);
    assert_eq!(b.payload_received(A), 64);
    assert_eq!(b.counters().payload_by_step[&7][0].received, 64);
}

#[test]
fn digests_are_of_what_was_written_and_consumed_however_it_was_cut() {
    let (mut a, mut b) = pair();
    let bytes = pattern(200_003);
    for piece in bytes.chunks(70_001) {
        say(&mut a, B, piece);
    }
    assert_eq!(a.digest_sent(B), digest(A, B, &bytes));
    for cut in [0, 1, 65_536, 199_999, 200_003] {
        let have = b.payload_received(A) as usize;
        hear(&mut b, A, cut - have);
        let expected = digest(A, B, &bytes[..cut]);
        assert_eq!(b.digest_received(A), expected, "at {cut}");
    }
    assert_eq!(b.digest_sent(A), digest(B, A, b""));
}

#[test]
fn digests_belong_to_the_session_that_was_entered() {
    let (mut a, mut b) = pair();
    say(&mut a, B, b"same");
    hear(&mut b, A, 4);
    let before = a.digest_sent(B);
    let session = SessionId::new(&[1; 32], &[[2; 32], [3; 32]]);
    a.set_session(session);
    assert_eq!(a.session(), session);
    assert_ne!(a.digest_sent(B), before);
    assert_ne!(a.digest_sent(B), b.digest_received(A));
    b.set_session(session);
    assert_eq!(a.digest_sent(B), b.digest_received(A));
}

#[test]
fn control_messages_keep_their_place_and_are_not_payload() {
    let (mut a, mut b) = pair();
    a.send(B, b"before").unwrap();
    a.send_control(B, &("job", 42u32)).unwrap();
    say(&mut a, B, b"after");
    assert_eq!(hear(&mut b, A, 6), b"before");
    let control: (String, u32) = b.recv_control(A).unwrap();
    assert_eq!(control, ("job".into(), 42));
    assert_eq!(hear(&mut b, A, 5), b"after");
    assert_eq!(b.payload_received(A), 11);
    assert_eq!(b.rounds(), 1);
}

#[test]
fn control_and_payload_are_never_taken_for_each_other() {
    let (mut a, mut b) = pair();
    say(&mut a, B, b"payload");
    let heard = b.recv_control::<u8>(A);
    assert_is!(heard, Err(NetError::Malformed { party: A, .. }));
    b.send_control(A, &1u8).unwrap();
    let heard = a.recv(B, &mut [0]);
    assert_is!(heard, Err(NetError::Malformed { party: B, .. }));
}

#[test]
fn a_control_message_of_another_type_or_with_a_tail_is_malformed() {
    let (mut a, mut b) = pair();
    a.send_control(B, &[7u8; 3]).unwrap();
    let heard = b.recv_control::<[u8; 2]>(A);
    assert_is!(heard, Err(NetError::Malformed { party: A, .. }));
    a.send_control(B, &2u8).unwrap();
    let heard = b.recv_control::<bool>(A);
    assert_is!(heard, Err(NetError::Malformed { party: A, .. }));
}

#[test]
fn an_oversized_control_message_is_our_own_mistake() {
    let (mut a, _b) = pair();
    let sent = a.send_control(B, &vec![0u8; 70_000]);
    assert_is!(sent, Err(NetError::Misuse { .. }));
}

#[test]
fn there_is_no_channel_to_oneself_or_to_a_stranger() {
    let (mut a, _b) = pair();
    assert!(matches!(a.send(A, b"x"), Err(NetError::Misuse { .. })));
    assert!(matches!(a.recv(C, &mut [0]), Err(NetError::Misuse { .. })));
    assert!(Mesh::from_transports(A, vec![None, None], Limits::default()).is_err());
}

#[test]
fn a_dropped_party_has_vanished_once_its_bytes_are_read() {
    let (mut a, mut b) = pair();
    say(&mut a, B, b"last words");
    drop(a);
    assert_eq!(hear(&mut b, A, 10), b"last words");
    assert_eq!(b.recv(A, &mut [0]), Err(NetError::Vanished { party: A }));
    b.send(A, b"x").unwrap();
    assert_eq!(b.flush(), Err(NetError::Vanished { party: A }));
}

#[test]
fn what_a_dropped_party_sent_arrives_while_its_peer_waits() {
    let mut meshes = Mesh::simulated(2, NetworkClass::WAN);
    let (mut b, mut a) = (meshes.pop().unwrap(), meshes.pop().unwrap());
    say(&mut a, B, b"last words");
    drop(a);
    assert_eq!(hear(&mut b, A, 10), b"last words");
    assert_eq!(b.recv(A, &mut [0]), Err(NetError::Vanished { party: A }));
}

#[test]
fn a_party_that_finishes_has_not_vanished() {
    let (mut a, mut b) = pair();
    a.send(B, b"result").unwrap();
    a.finish().unwrap();
    drop(a);
    assert_eq!(hear(&mut b, A, 6), b"result");
    assert_eq!(b.recv(A, &mut [0]), Err(NetError::Finished { party: A }));
}

#[test]
fn an_abort_overtakes_payload_and_shows_a_harmless_reason() {
    let (mut a, mut b) = pair();
    say(&mut a, B, b"never read");
    a.abort(Cause::Party, "row 3 is\x1b[2J too large");
    drop(a);
    let end = NetError::aborted(A, Cause::Party, "row 3 is [2J too large");
    assert_eq!(b.recv(A, &mut [0]), Err(end));
}

#[test]
fn an_abort_frees_a_peer_that_is_blocked_in_sending() {
    let [mut a, mut b] = in_memory(limits(|limits| limits.inbound_bytes = 100_000));
    let sender = thread::spawn(move || b.send(A, &pattern(10_000_000)));
    thread::sleep(Duration::from_millis(20));
    a.abort(Cause::Network, "enough");
    let end = NetError::aborted(A, Cause::Network, "enough");
    assert_eq!(sender.join().unwrap(), Err(end));
}

#[test]
fn an_abort_ends_a_wait_for_another_party() {
    let [mut a, mut b, mut c] = Mesh::in_memory(3).try_into().ok().unwrap();
    // Bytes that have come from others can still be read without a wait.
    say(&mut b, A, b"early");
    c.abort(Cause::Network, "party 1 is gone");
    assert_eq!(hear(&mut a, B, 5), b"early");
    let end = Err(NetError::aborted(C, Cause::Network, "party 1 is gone"));
    assert_eq!(a.recv(B, &mut [0]), end);
    let waiting = thread::spawn(move || b.recv(A, &mut [0]));
    assert_eq!(waiting.join().unwrap(), end);
    let [mut a, mut b, _c] = Mesh::in_memory(3).try_into().ok().unwrap();
    let waiting = thread::spawn(move || b.recv(C, &mut [0]));
    thread::sleep(Duration::from_millis(20));
    a.abort(Cause::Party, "enough");
    let end = NetError::aborted(A, Cause::Party, "enough");
    assert_eq!(waiting.join().unwrap(), Err(end));
}

#[test]
fn a_receive_without_sender_ends_within_the_patience() {
    let [mut a, _b] = in_memory(limits(|limits| limits.patience = Duration::from_millis(50)));
    a.at_step(7);
    let overdue = |awaited| NetError::overdue(B, awaited, 0);
    let payload = overdue(Awaited::Payload { step: 7 });
    assert_eq!(a.recv(B, &mut [0]), Err(payload));
    assert_eq!(a.recv_control::<u8>(B), Err(overdue(Awaited::Control)));
}

#[test]
fn a_peer_who_trickles_bytes_holds_a_receive_no_longer_than_the_patience() {
    let [mut a, mut b] = in_memory(limits(|limits| {
        limits.patience = Duration::from_millis(200)
    }));
    let trickler = thread::spawn(move || {
        // Each byte comes well within the patience; all of them would take two seconds.
        while b.send(A, &[0]).and_then(|()| b.flush()).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    let received = a.recv(B, &mut [0; 100]);
    assert_is!(received, Err(NetError::Overdue { party: B, .. }));
    a.abort(Cause::Network, "enough");
    trickler.join().unwrap();
}

#[test]
fn a_stamp_that_falls_or_leaps_out_of_range_is_malformed() {
    for stamps in [vec![0], vec![5, 4], vec![u32::MAX]] {
        let limits = Limits::default();
        let (adversary, honest) = memory_pair(&limits);
        let mut adversary: Box<dyn Transport> = Box::new(adversary);
        let transports: Vec<Option<Box<dyn Transport>>> = vec![None, Some(Box::new(honest))];
        let mut mesh = Mesh::from_transports(A, transports, limits).unwrap();
        for &stamp in &stamps {
            let (kind, payload) = (FrameKind::Data { end: true }, vec![1].into());
            let sent = adversary.try_send(Frame {
                kind,
                stamp,
                payload,
            });
            assert_eq!(sent, Ok(None));
        }
        let last = stamps.iter().map(|_| mesh.recv(B, &mut [0])).last();
        assert_is!(last, Some(Err(NetError::Malformed { party: B, .. })));
    }
}

#[test]
fn a_message_over_a_simulated_lan_never_comes_early() {
    let meshes = Mesh::simulated(2, NetworkClass::LAN);
    let [mut a, mut b] = meshes.try_into().ok().unwrap();
    let one_way = NetworkClass::LAN.round_trip() / 2;
    for _ in 0..50 {
        let sent = Instant::now();
        say(&mut a, B, b"x");
        hear(&mut b, A, 1);
        assert!(sent.elapsed() >= one_way);
    }
}

#[test]
fn a_simulated_wan_delays_by_latency_and_bandwidth() {
    let meshes = Mesh::simulated(2, NetworkClass::WAN);
    let [mut a, mut b] = meshes.try_into().ok().unwrap();
    let started = Instant::now();
    say(&mut a, B, &[0; 1]);
    hear(&mut b, A, 1);
    say(&mut b, A, &[0; 1]);
    hear(&mut a, B, 1);
    let round_trip = started.elapsed();
    assert!(round_trip >= Duration::from_millis(40), "{round_trip:?}");

    // A megabyte takes 80 ms at 100 Mbit/s, and half a round trip more.
    let started = Instant::now();
    say(&mut a, B, &pattern(1_000_000));
    assert_eq!(hear(&mut b, A, 1_000_000), pattern(1_000_000));
    let carried = started.elapsed();
    assert!(carried >= Duration::from_millis(100), "{carried:?}");
    assert!(carried < Duration::from_millis(400), "{carried:?}");
}

#[test]
fn errors_name_parties_as_their_users_do() {
    let error = NetError::aborted(B, Cause::Party, "no");
    let text = "lab (party 1) gave up: no; see its own report";
    assert_eq!(line(&error.with_names(&["hospital", "lab"])), text);
    let text = "party 1 gave up: no; see its own report";
    assert_eq!(line(&error.with_names(&["hospital"])), text);
}

/// One call of one of three parties.
#[derive(Clone, Debug)]
enum Call {
    Send,
    Flush,
    Recv,
}

/// Calls of a party, with another one and a number of bytes.
fn calls() -> impl Strategy<Value = Vec<(Call, usize, usize, usize)>> {
    let call = prop_oneof![Just(Call::Send), Just(Call::Flush), Just(Call::Recv)];
    let call = (call, 0..3usize, 1..3usize, 0..400usize);
    let call = call.prop_map(|(call, at, hop, bytes)| (call, at, (at + hop) % 3, bytes));
    proptest::collection::vec(call, 0..60)
}

/// Reference definition of rounds, byte by byte: every byte carries its message's stamp.
#[derive(Default)]
struct Model {
    open: [[usize; 3]; 3],
    wires: [[VecDeque<u32>; 3]; 3],
    received: [u32; 3],
    rounds: [u32; 3],
}

impl Model {
    fn flush(&mut self, from: usize) {
        for to in 0..3 {
            let bytes = std::mem::take(&mut self.open[from][to]);
            let stamp = self.received[from] + 1;
            if bytes > 0 {
                self.rounds[from] = self.rounds[from].max(stamp);
                self.wires[from][to].extend(std::iter::repeat_n(stamp, bytes));
            }
        }
    }

    /// Takes as many bytes as are there, at most `bytes`; returns their number.
    fn recv(&mut self, at: usize, from: usize, bytes: usize) -> usize {
        let wire = &mut self.wires[from][at];
        let there = bytes.min(wire.len());
        for stamp in wire.drain(..there) {
            self.received[at] = self.received[at].max(stamp);
            self.rounds[at] = self.rounds[at].max(stamp);
        }
        there
    }
}

proptest! {
    #[test]
    fn rounds_are_those_of_the_definition(calls in calls()) {
        let mut meshes = Mesh::in_memory(3);
        let mut model = Model::default();
        for (call, at, other, bytes) in calls {
            let (mesh, peer) = (&mut meshes[at], PartyId::from_index(other));
            match call {
                Call::Send => {
                    mesh.send(peer, &pattern(bytes)).unwrap();
                    model.open[at][other] += bytes;
                }
                Call::Flush => {
                    mesh.flush().unwrap();
                    model.flush(at);
                }
                Call::Recv => drop(hear(mesh, peer, model.recv(at, other, bytes))),
                }
            for (mesh, rounds) in meshes.iter().zip(model.rounds) {
                prop_assert_eq!(mesh.rounds(), rounds);
            }
        }
    }
}

/// A link that has ended.
struct Ended(LinkError);

impl Transport for Ended {
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    fn try_send(&mut self, _frame: Frame) -> Result<Option<Frame>, LinkError> {
        Err(self.0.clone())
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        Err(self.0.clone())
    }

    fn end(&self) -> Option<LinkError> {
        Some(self.0.clone())
    }
}

#[test]
fn what_a_party_has_found_itself_goes_before_its_echo() {
    let (cause, reason) = (
        Cause::Party,
        "party 2 gave up: it was sent noise".to_string(),
    );
    let aborted = NetError::aborted(B, cause, &*reason);
    let echo = LinkError::Aborted { cause, reason };
    for (end, error) in [
        (
            LinkError::malformed("noise"),
            NetError::malformed(C, "noise"),
        ),
        // A link that has merely ended may have done so because another party gave up.
        (LinkError::Vanished, aborted),
    ] {
        let ends = [echo.clone(), end];
        let links = ends.map(|end| Some(Box::new(Ended(end)) as Box<dyn Transport>));
        let links = [None].into_iter().chain(links).collect();
        let mut mesh = Mesh::from_transports(A, links, Limits::default()).unwrap();
        assert_eq!(mesh.recv(B, &mut [0]), Err(error));
    }
}
