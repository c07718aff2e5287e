//! Relay on this machine between a dialler and a listener, which tampers with one TLS record: an
//! adversary on the network, below TLS.
//!
//! It parses the boundaries of records (RFC 8446, section 5.1: a type, a version, and a length in
//! front of the bytes) and nothing of their content.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

/// Tampering with a record, and its effect on the link. It applies to every connection through the
/// relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Nothing is delivered any more in either direction, without a signal.
    Stall,
    /// The connection is closed on both sides in the middle of the record.
    Cut,
    /// A bit changes in its first byte, which is its type.
    FlipFirst,
    /// A bit changes in the byte in the middle.
    FlipMiddle,
    /// A bit changes in its last byte, which is part of the authentication tag.
    FlipLast,
    /// The record is lost.
    Drop,
    /// Its last byte is lost.
    Truncate,
    /// The record is delivered twice.
    Repeat,
    /// The record is swapped with the next one.
    Swap,
}

impl Break {
    /// All kinds of tampering.
    pub const ALL: [Break; 9] = [
        Break::Stall,
        Break::Cut,
        Break::FlipFirst,
        Break::FlipMiddle,
        Break::FlipLast,
        Break::Drop,
        Break::Truncate,
        Break::Repeat,
        Break::Swap,
    ];
}

/// Direction in which records are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the dialler.
    Forth,
    /// To the dialler.
    Back,
}

/// A running relay; dropping it ends every connection through it.
pub struct Relay {
    address: String,
    shared: Arc<Shared>,
}

struct Shared {
    target: String,
    plan: Option<(Direction, u64, Break)>,
    /// Number of records delivered, in each direction.
    crossed: [AtomicU64; 2],
    stalled: AtomicBool,
    over: AtomicBool,
    /// Both sockets of every connection, kept open while a stalled link is waited on.
    sockets: Mutex<Vec<TcpStream>>,
    ended: Condvar,
}

impl Relay {
    /// Starts a relay to `target`, which tampers with the record of that number (from 0) in that
    /// direction.
    ///
    /// # Errors
    /// The errors of the operating system, where no port is available.
    pub fn start(target: &str, plan: Option<(Direction, u64, Break)>) -> std::io::Result<Relay> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let shared = Arc::new(Shared {
            target: target.to_string(),
            plan,
            crossed: Default::default(),
            stalled: AtomicBool::new(false),
            over: AtomicBool::new(false),
            sockets: Mutex::default(),
            ended: Condvar::new(),
        });
        let acceptor = Arc::clone(&shared);
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                if acceptor.over.load(Ordering::SeqCst) {
                    return;
                }
                // If the listener is not there yet, the dialler sees its connection closed and
                // tries again.
                let _ = acceptor.connect(near);
            }
        });
        Ok(Relay { address, shared })
    }

    /// Address to dial instead of the target.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Number of records delivered on all connections, in each direction.
    pub fn crossed(&self) -> [u64; 2] {
        [0, 1].map(|way: usize| self.shared.crossed[way].load(Ordering::SeqCst))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        for socket in self.shared.sockets().drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
        self.shared.ended.notify_all();
        // Wakes the acceptor.
        let _ = TcpStream::connect(&self.address);
    }
}

impl Shared {
    fn connect(self: &Arc<Shared>, near: TcpStream) -> std::io::Result<()> {
        let far = TcpStream::connect(&self.target)?;
        for socket in [&near, &far] {
            socket.set_nodelay(true)?;
            self.sockets().push(socket.try_clone()?);
        }
        for (direction, from, to) in [
            (Direction::Forth, near.try_clone()?, far.try_clone()?),
            (Direction::Back, far, near),
        ] {
            let shared = Arc::clone(self);
            thread::spawn(move || shared.pump(direction, from, to));
        }
        Ok(())
    }

    /// Forwards records in one direction until either end stops or the link breaks.
    fn pump(&self, direction: Direction, mut from: TcpStream, mut to: TcpStream) {
        let mut held = Vec::new();
        for number in 0.. {
            let Some(mut record) = read_record(&mut from) else {
                break;
            };
            let due = |&(way, at, _): &_| way == direction && number == at;
            match self.plan.filter(due).map(|(_, _, what)| what) {
                None => {}
                Some(Break::Stall) => self.stalled.store(true, Ordering::SeqCst),
                Some(Break::Cut) => {
                    let _ = to.write_all(&record[..record.len() / 2]);
                    let _ = to.shutdown(Shutdown::Both);
                    let _ = from.shutdown(Shutdown::Both);
                    return;
                }
                Some(Break::FlipFirst) => record[0] ^= 1,
                Some(Break::FlipMiddle) => {
                    let at = record.len() / 2;
                    record[at] ^= 1;
                }
                Some(Break::FlipLast) => {
                    let at = record.len() - 1;
                    record[at] ^= 1;
                }
                Some(Break::Drop) => record.clear(),
                Some(Break::Truncate) => drop(record.pop()),
                Some(Break::Repeat) => record.extend_from_within(..),
                Some(Break::Swap) => {
                    held = record;
                    continue;
                }
            }
            if self.stalled.load(Ordering::SeqCst) {
                return self.hold();
            }
            record.append(&mut held);
            if to.write_all(&record).is_err() {
                break;
            }
            self.crossed[direction as usize].fetch_add(1, Ordering::SeqCst);
        }
        let _ = to.write_all(&held);
        let _ = to.shutdown(Shutdown::Write);
    }

    /// Leaves the sockets open and unread until the relay ends.
    fn hold(&self) {
        let mut sockets = self.sockets();
        while !self.over.load(Ordering::SeqCst) {
            sockets = self
                .ended
                .wait(sockets)
                .expect("no holder of the lock panics");
        }
    }

    fn sockets(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.sockets.lock().expect("no holder of the lock panics")
    }
}

/// Reads the next record with its header; at the end of the stream, the incomplete rest, if any.
fn read_record(from: &mut TcpStream) -> Option<Vec<u8>> {
    const HEADER_BYTES: u64 = 5;
    let mut record = Vec::new();
    let mut read = |bytes: u64, record: &mut Vec<u8>| from.take(bytes).read_to_end(record).is_ok();
    if read(HEADER_BYTES, &mut record)
        && let [_, _, _, high, low] = record[..]
    {
        // Nothing is read after a failure.
        read(u64::from(u16::from_be_bytes([high, low])), &mut record);
    }
    (!record.is_empty()).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of some bytes.
    fn record(bytes: &[u8]) -> Vec<u8> {
        [&[0x17, 3, 3, 0, bytes.len() as u8], bytes].concat()
    }

    /// Returns the bytes that arrive of three records, of which the second is tampered with.
    fn arriving(what: Break) -> Vec<u8> {
        let target = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = target.local_addr().unwrap().to_string();
        let relay = Relay::start(&address, Some((Direction::Forth, 1, what))).unwrap();
        let mut near = TcpStream::connect(relay.address()).unwrap();
        let (mut far, _) = target.accept().unwrap();
        for bytes in [&b"one"[..], b"other", b"third"] {
            near.write_all(&record(bytes)).unwrap();
        }
        near.shutdown(Shutdown::Write).unwrap();
        let mut all = Vec::new();
        far.read_to_end(&mut all).unwrap();
        all
    }

    #[test]
    fn each_harm_does_what_it_says() {
        let [one, other, third] = [&b"one"[..], b"other", b"third"].map(record);
        let flipped = |at: usize| {
            let mut record = other.clone();
            record[at] ^= 1;
            [&one[..], &record, &third].concat()
        };
        assert_eq!(arriving(Break::FlipFirst), flipped(0));
        assert_eq!(arriving(Break::FlipMiddle), flipped(5));
        assert_eq!(arriving(Break::FlipLast), flipped(9));
        assert_eq!(arriving(Break::Cut), [&one[..], &other[..5]].concat());
        assert_eq!(arriving(Break::Drop), [&one[..], &third].concat());
        let truncated = [&one[..], &other[..9], &third].concat();
        assert_eq!(arriving(Break::Truncate), truncated);
        let repeated = [&one[..], &other, &other, &third].concat();
        assert_eq!(arriving(Break::Repeat), repeated);
        assert_eq!(arriving(Break::Swap), [&one[..], &third, &other].concat());
    }
}
