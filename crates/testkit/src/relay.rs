//! A relay on this machine between one who dials and one who listens, which harms the link once a
//! given number of bytes has crossed: the network itself as an adversary, below TLS.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

/// What happens to the link. Every connection through the relay meets the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Nothing crosses any more in either direction, and nobody is told.
    Stall,
    /// The connection is closed on both sides.
    Cut,
    /// One byte changes.
    Corrupt,
}

/// Which bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the one who dialled.
    Forth,
    /// To the one who dialled.
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
    /// Bytes that have crossed, forth and back.
    crossed: [AtomicU64; 2],
    stalled: AtomicBool,
    over: AtomicBool,
    /// Both sockets of every connection, kept open while a stalled link is waited on.
    sockets: Mutex<Vec<TcpStream>>,
    ended: Condvar,
}

impl Relay {
    /// A relay to `target`, which breaks the link as `plan` says: with the byte of that number
    /// (from 0) in that direction.
    ///
    /// # Errors
    /// Of the operating system, where no port is to be had.
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
                // Where nobody listens yet, the dialler sees its connection closed and tries again.
                let _ = acceptor.connect(near);
            }
        });
        Ok(Relay { address, shared })
    }

    /// Where to dial instead of the target.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Bytes that have crossed, forth and back.
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

    /// Carries bytes one way until either end stops or the link breaks.
    fn pump(&self, direction: Direction, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; 16 << 10];
        let mut carried = 0;
        while let Ok(bytes @ 1..) = from.read(&mut buffer) {
            let piece = &mut buffer[..bytes];
            let end = carried + bytes as u64;
            let due = |&(way, at, _): &_| way == direction && (carried..end).contains(&at);
            match self.plan.filter(due) {
                Some((_, _, Break::Stall)) => self.stalled.store(true, Ordering::SeqCst),
                Some((_, at, Break::Cut)) => {
                    let _ = to.write_all(&piece[..(at - carried) as usize]);
                    let _ = to.shutdown(Shutdown::Both);
                    let _ = from.shutdown(Shutdown::Both);
                    return;
                }
                Some((_, at, Break::Corrupt)) => piece[(at - carried) as usize] ^= 1,
                None => {}
            }
            if self.stalled.load(Ordering::SeqCst) {
                return self.hold();
            }
            if to.write_all(piece).is_err() {
                break;
            }
            carried = end;
            self.crossed[direction as usize].fetch_add(bytes as u64, Ordering::SeqCst);
        }
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
