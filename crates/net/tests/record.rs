//! Recording a run and replaying one of its parties.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crate::common::{A, B, assert_has, digest, hear, limits, on_threads, pattern, say};
use sealane_net::{Limits, Mesh, NetError, Recorder, Replayer, Result, Transport, memory_pair};

/// A recording that the test can read while the recorder owns it.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn mesh(transport: impl Transport + 'static) -> Mesh {
    Mesh::from_transports(A, vec![None, Some(Box::new(transport))], Limits::default()).unwrap()
}

/// Runs party A, with one byte that may differ from the recorded one.
fn play(a: &mut Mesh, byte: u8) -> Result<Vec<u8>> {
    a.send_control(B, &"job")?;
    let mut question = pattern(300_000);
    question[270_000] = byte;
    a.send(B, &question)?;
    a.flush()?;
    let mut answer = vec![0; 5];
    a.recv(B, &mut answer)?;
    a.send(B, b"thanks")?;
    a.flush()?;
    Ok(answer)
}

/// Records party A with a live peer.
fn recording() -> Vec<u8> {
    let limits = Limits::default();
    let (one, other) = memory_pair(&limits);
    let log = Log::default();
    let mut a = mesh(Recorder::new(Box::new(one), log.clone()).unwrap());
    let transports: Vec<Option<Box<dyn Transport>>> = vec![Some(Box::new(other)), None];
    let mut b = Mesh::from_transports(B, transports, limits).unwrap();
    let peer = std::thread::spawn(move || {
        assert_eq!(b.recv_control::<String>(A).unwrap(), "job");
        hear(&mut b, A, 300_000);
        say(&mut b, A, b"right");
        hear(&mut b, A, 6);
    });
    assert_eq!(play(&mut a, 1).unwrap(), b"right");
    peer.join().unwrap();
    log.0.lock().unwrap().clone()
}

#[test]
fn the_same_run_replays_to_the_same_counts_and_digests() {
    let mut a = mesh(Replayer::new(&recording()[..]).unwrap());
    assert_eq!(play(&mut a, 1).unwrap(), b"right");
    let counts = (a.rounds(), a.payload_sent(B), a.payload_received(B));
    assert_eq!(counts, (3, 300_006, 5));
    let mut sent = pattern(300_000);
    sent[270_000] = 1;
    sent.extend_from_slice(b"thanks");
    assert_eq!(a.digest_sent(B), digest(A, B, &sent));
    assert_eq!(a.recv(B, &mut [0]), Err(NetError::Finished { party: B }));
}

#[test]
fn a_deviation_is_named_by_frame_and_offset() {
    let mut a = mesh(Replayer::new(&recording()[..]).unwrap());
    // The control message is frame 0, the first 262144 bytes are frames 1 and 2.
    let error = play(&mut a, 2).unwrap_err();
    assert_is!(&error, NetError::Diverged { party: B, .. });
    assert_has(
        &error.to_string(),
        ["frame 3 sent differs at its byte 7856"],
    );
}

#[test]
fn sending_more_than_was_recorded_is_a_deviation() {
    let mut a = mesh(Replayer::new(&recording()[..]).unwrap());
    play(&mut a, 1).unwrap();
    a.send(B, b"more").unwrap();
    assert_is!(a.flush(), Err(NetError::Diverged { party: B, .. }));
}

#[test]
fn what_is_no_recording_is_refused() {
    let good = recording();
    assert!(Replayer::new(&b"SEALREC\x02"[..]).is_err());
    assert!(Replayer::new(&good[..good.len() - 1]).is_err());
    let mut bad = good;
    bad[8] = b'?';
    assert!(Replayer::new(&bad[..]).is_err());
}

/// Lets both parties write more than the link holds before they read; returns the recording of one.
fn recording_of_crossing_flights(limits: Limits, flight: &[u8]) -> Vec<u8> {
    let (one, other) = memory_pair(&limits);
    let log = Log::default();
    let recorder = Recorder::new(Box::new(one), log.clone()).unwrap();
    let link: Box<dyn Transport> = Box::new(recorder);
    let mut a = Mesh::from_transports(A, vec![None, Some(link)], limits).unwrap();
    let mut b = Mesh::from_transports(B, vec![Some(Box::new(other)), None], limits).unwrap();
    on_threads(vec![(&mut a, B), (&mut b, A)], |(mesh, peer)| {
        say(mesh, peer, flight);
        assert!(hear(mesh, peer, flight.len()) == flight);
    });
    assert!(a.backlog_peak_bytes() + b.backlog_peak_bytes() > 0);
    log.0.lock().unwrap().clone()
}

#[test]
fn a_recording_does_not_depend_on_what_was_taken_in_when() {
    let limits = limits(|limits| limits.inbound_bytes = 4 << 10);
    let flight = pattern(1 << 20);
    let recording = recording_of_crossing_flights(limits, &flight);
    assert!(recording == recording_of_crossing_flights(limits, &flight));
    let mut a = mesh(Replayer::new(&recording[..]).unwrap());
    say(&mut a, B, &flight);
    assert!(hear(&mut a, B, flight.len()) == flight);
}
