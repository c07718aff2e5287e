//! Transport over TCP, or over a simulated stream, with a thread for each direction.
//!
//! ```text
//!   protocol --frames--> outgoing queue --> writer thread --> seal --> socket
//!   protocol <--frames-- incoming queue <-- reader thread <-- open <-- socket
//! ```
//!
//! The reader always reads while its queue has room, so parties may all send much before any
//! receives. `links.rs` explains what happens when the bounds of the queues are reached.
//!
//! **Heartbeats.** The writer sends a heartbeat whenever it has had nothing to send for a while, so
//! a peer that computes is not taken for dead. A reader that waits for the socket and receives
//! nothing for `Limits::silence` concludes that the process is stopped or the link is dead. A
//! reader whose queue is full does not read and does not judge.
//!
//! **Endings.** Each direction ends by itself: a goodbye or an abort, then the TLS end, then the
//! end of the stream. A side that sees the other end stop, stops too. Dropping a transport waits
//! for that, within the limits; closing a socket earlier could destroy bytes that the peer has not
//! read yet.

mod threads;

use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::cipher::Cipher;
use crate::counters::Traffic;
use crate::error::LinkError;
use crate::frame::{Frame, FrameKind, HEADER_BYTES, Packet, Signal};
use crate::limits::Limits;
use crate::machine::{Runtime, Socket, ThisMachine};
use crate::queue::Queue;
use crate::waker::Waker;
use crate::{Farewell, Transport};

use threads::{BATCH_BYTES, Link, heartbeat_interval, spawn};
pub(crate) use threads::{is_closed, is_timeout};

/// Longest wait of a cancelled party until its last bytes have arrived.
const CANCEL_LINGER: Duration = Duration::from_secs(2);

/// Longest time that the threads of a closed connection take to end.
const THREADS_LINGER: Duration = Duration::from_secs(1);

/// One end of a connection whose handshake is done.
pub(crate) struct TcpTransport {
    link: Arc<Link>,
    limits: Limits,
    said_goodbye: bool,
    cancel: Cancel,
}

impl TcpTransport {
    /// Lets `cancel` end every wait for the peer's end but a short one.
    pub(crate) fn cancelled_by(&mut self, cancel: &Cancel) {
        cancel.add_waker(&self.link.ended);
        self.cancel = cancel.clone();
    }

    /// Starts the threads of a connection. `peer_silence` is the longest silence that the peer
    /// allows; heartbeats come well within it.
    pub(crate) fn start(
        socket: TcpStream,
        cipher: Cipher,
        limits: Limits,
        peer_silence: Duration,
    ) -> io::Result<TcpTransport> {
        socket.set_nodelay(true)?;
        socket.set_write_timeout(None)?;
        TcpTransport::start_on(&ThisMachine, Box::new(socket), cipher, limits, peer_silence)
    }

    /// Like [`TcpTransport::start`], on any machine.
    pub(crate) fn start_on(
        machine: &dyn Runtime,
        socket: Box<dyn Socket>,
        cipher: Cipher,
        limits: Limits,
        peer_silence: Duration,
    ) -> io::Result<TcpTransport> {
        socket.set_read_timeout(limits.silence)?;
        let link = Arc::new(Link {
            socket,
            cipher,
            incoming: Queue::new(limits.inbound_bytes),
            outgoing: Queue::new(limits.outbound_bytes),
            silence: limits.silence,
            heartbeat: heartbeat_interval(limits.silence.min(peer_silence)),
            wire_sent: AtomicU64::new(0),
            wire_received: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            ended: machine.waker(),
        });
        link.incoming.set_giver_waker(&machine.waker());
        link.outgoing.set_taker_waker(&machine.waker());
        spawn(machine, "net-read", &link, Link::read)?;
        spawn(machine, "net-write", &link, Link::write)?;
        Ok(TcpTransport {
            link,
            limits,
            said_goodbye: false,
            cancel: Cancel::default(),
        })
    }
}

/// Makes a transport over a connection of any machine whose two ends have met already, for
/// simulators. **No key is checked and nothing is encrypted.** Both ends are assumed to have the
/// same limits.
///
/// # Errors
/// The errors of the machine, where it has no more threads.
pub fn danger_plaintext_transport(
    machine: &dyn Runtime,
    socket: Box<dyn Socket>,
    limits: Limits,
) -> io::Result<Box<dyn Transport>> {
    let silence = limits.silence;
    let transport = TcpTransport::start_on(machine, socket, Cipher::Plain, limits, silence)?;
    Ok(Box::new(transport))
}

impl Transport for TcpTransport {
    fn inner(&self) -> Option<&dyn Transport> {
        None
    }

    fn try_send(&mut self, frame: Frame) -> Result<Option<Frame>, LinkError> {
        let bytes = frame.wire_bytes();
        // The last frame of a message wakes the writer; those before it leave in batches.
        let enough = match frame.kind {
            FrameKind::Data { end: false } => BATCH_BYTES,
            _ => 0,
        };
        let packet = Packet::Frame(frame);
        let back = self.link.outgoing.try_push_for(packet, bytes, enough)?;
        Ok(back.and_then(Packet::into_frame))
    }

    fn push_out(&mut self) {
        self.link.outgoing.push_out();
    }

    fn try_recv(&mut self) -> Result<Option<Frame>, LinkError> {
        self.link.incoming.try_pop()
    }

    fn due(&self) -> Option<Instant> {
        None
    }

    fn take_in(&mut self, at_most: usize) -> usize {
        self.link.incoming.set_aside(at_most)
    }

    fn backlog_bytes(&self) -> usize {
        self.link.incoming.aside()
    }

    fn end(&self) -> Option<LinkError> {
        self.link.incoming.end()
    }

    fn set_waker(&mut self, waker: &Waker) {
        self.link.incoming.set_taker_waker(waker);
        self.link.outgoing.set_giver_waker(waker);
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
        self.said_goodbye = farewell == Farewell::Goodbye;
        let outgoing = &self.link.outgoing;
        match farewell {
            Farewell::Goodbye => {
                let goodbye = Packet::Signal(Signal::Goodbye);
                outgoing.close_with(goodbye, HEADER_BYTES, LinkError::Left);
            }
            Farewell::Abort { cause, reason } => {
                let abort = Packet::Signal(Signal::Abort(cause, reason.into()));
                outgoing.cut_with(abort, HEADER_BYTES, LinkError::Left);
            }
        }
        self.link.stop_listening();
    }

    fn wire(&self) -> Traffic {
        Traffic {
            sent: self.link.wire_sent.load(Ordering::Relaxed),
            received: self.link.wire_received.load(Ordering::Relaxed),
        }
    }
}

impl Drop for TcpTransport {
    /// Waits until the peer has read the last bytes: after a goodbye as long as the peer is alive,
    /// because it may still be processing earlier bytes; else only for a while, and for less after
    /// a cancellation. All threads of the connection have ended afterwards.
    fn drop(&mut self) {
        self.link.outgoing.close(LinkError::Left);
        self.link.stop_listening();
        let limits = &self.limits;
        let linger = if self.said_goodbye {
            limits.patience
        } else {
            limits.linger
        };
        let wait = |time, cancel: &Cancel| {
            let deadline = self.link.ended.now() + time;
            self.link.wait_for_threads(deadline, cancel);
        };
        wait(linger, &self.cancel);
        if self.cancel.is_cancelled() {
            wait(linger.min(CANCEL_LINGER), &Cancel::default());
        }
        // Wakes a thread that still waits for the socket. It then ends by itself.
        let _ = self.link.socket.shutdown(Shutdown::Both);
        wait(THREADS_LINGER, &Cancel::default());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;
    use crate::error::Cause;

    fn limits() -> Limits {
        let short = Duration::from_millis(400);
        Limits {
            silence: short,
            linger: short,
            ..Limits::default()
        }
    }

    /// Makes a transport and the bare socket of its peer, without encryption.
    fn transport_and_socket() -> (TcpTransport, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (peer, _) = listener.accept().unwrap();
        let silence = Duration::from_secs(30);
        let transport = TcpTransport::start(socket, Cipher::Plain, limits(), silence);
        (transport.unwrap(), peer)
    }

    fn silent() -> LinkError {
        let duration = limits().silence;
        LinkError::Silent { duration }
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    /// Returns the next frame, after waiting for it.
    fn recv(transport: &mut TcpTransport, deadline: Instant) -> Result<Frame, LinkError> {
        let waker = Waker::default();
        transport.set_waker(&waker);
        loop {
            if let Some(frame) = transport.try_recv()? {
                return Ok(frame);
            }
            assert!(waker.wait_until(deadline), "nothing came");
        }
    }

    /// Sends until `deadline`; returns the error that ended it earlier, if any.
    fn flood(transport: &mut TcpTransport, deadline: Instant) -> Option<LinkError> {
        let waker = Waker::default();
        transport.set_waker(&waker);
        loop {
            match transport.try_send(data(200_000)) {
                Ok(None) => {}
                Ok(Some(_)) if waker.wait_until(deadline) => {}
                Ok(Some(_)) => return None,
                Err(error) => return Some(error),
            }
        }
    }

    fn data(bytes: usize) -> Frame {
        Frame {
            kind: FrameKind::Data { end: true },
            stamp: 1,
            payload: vec![5; bytes].into(),
        }
    }

    #[test]
    fn a_stopped_peer_is_found_within_the_silence_that_is_allowed() {
        let (mut transport, _stopped) = transport_and_socket();
        let started = Instant::now();
        assert_eq!(recv(&mut transport, later()), Err(silent()));
        assert!(started.elapsed() < Duration::from_secs(3));
    }

    #[test]
    fn a_stopped_peer_is_found_by_a_blocked_sender_too() {
        let (mut transport, _stopped) = transport_and_socket();
        let error = flood(&mut transport, later());
        assert_eq!(error, Some(silent()));
        // The writer is freed as well, so that leaving takes no longer than allowed.
        let started = Instant::now();
        drop(transport);
        assert!(started.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn a_peer_that_has_ended_keeps_no_blocked_sender() {
        let (mut transport, peer) = transport_and_socket();
        let soon = Instant::now() + limits().silence / 2;
        assert_eq!(flood(&mut transport, soon), None);
        // Behind a relay, the end of a process appears as the end of its stream and nothing more.
        peer.shutdown(Shutdown::Write).unwrap();
        assert_eq!(recv(&mut transport, later()), Err(LinkError::Vanished));
        transport.limits.linger = Duration::from_secs(20);
        let started = Instant::now();
        drop(transport);
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn bytes_that_are_no_frame_are_malformed() {
        let (mut transport, peer) = transport_and_socket();
        let mut wire = data(3).header().to_vec();
        wire.extend_from_slice(b"yes, then garbage");
        peer.write_all(&wire).unwrap();
        assert!(recv(&mut transport, later()).is_ok());
        let end = recv(&mut transport, later());
        assert!(matches!(end, Err(LinkError::Malformed { .. })));
    }

    #[test]
    fn a_peer_that_sends_what_is_no_frame_hears_so() {
        let (mut transport, mut peer) = transport_and_socket();
        // More than is read at a time: closing a socket with unread bytes resets the connection.
        peer.write_all(&[b'n'; 1_000_000]).unwrap();
        let end = recv(&mut transport, later());
        assert!(matches!(end, Err(LinkError::Malformed { .. })));
        let (cause, reason) = (Cause::Party, "too late");
        transport.shutdown(Farewell::Abort { cause, reason });
        peer.shutdown(Shutdown::Write).unwrap();
        drop(transport);
        let mut wire = Vec::new();
        peer.read_to_end(&mut wire).unwrap();
        let text = String::from_utf8_lossy(&wire);
        let told = "what it received was malformed: frame with unknown tag 110";
        assert!(text.contains(told), "{text}");
    }

    #[test]
    fn a_stream_that_ends_within_a_frame_is_a_peer_that_vanished() {
        let (mut transport, peer) = transport_and_socket();
        peer.write_all(&data(100).header()).unwrap();
        drop(peer);
        assert_eq!(recv(&mut transport, later()), Err(LinkError::Vanished));
    }

    #[test]
    fn an_idle_transport_shows_signs_of_life_and_nothing_else() {
        let (_transport, mut peer) = transport_and_socket();
        let mut wire = [0; 24];
        peer.read_exact(&mut wire).unwrap();
        let (heartbeat, _) = Packet::Signal(Signal::Heartbeat).into_parts();
        assert_eq!(wire, [heartbeat, heartbeat].concat()[..]);
    }

    #[test]
    fn a_heartbeat_comes_several_times_within_the_silence() {
        for (silence, interval_ms) in [
            (Duration::from_secs(4), 1000),
            (Duration::MAX, 5000),
            (Duration::ZERO, 10),
        ] {
            let interval = Duration::from_millis(interval_ms);
            assert_eq!(heartbeat_interval(silence), interval);
        }
    }
}
