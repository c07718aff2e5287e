//! Waking a thread that waits on several queues at once, and the clock of its deadlines.
//!
//! A thread that finds a queue empty registers as a waiter there. The queue then wakes the waker of
//! that side on the next event that concerns it, and only on that one, so an event that nobody
//! waits for costs nothing. A wake-up that comes before the wait is kept, so none is lost.
//!
//! A [`Mesh`] takes its time from its waker alone. A simulator supplies its own wakers, which tell
//! the time of a simulated world ([`Runtime`]).
//!
//! [`Mesh`]: crate::Mesh
//! [`Runtime`]: crate::Runtime

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Handle by which a [`Transport`] wakes the thread that waits on it, when a call that found
/// nothing to do is worth another try. Clones are the same waker; one thread waits on it.
///
/// [`Transport`]: crate::Transport
#[derive(Clone)]
pub struct Waker(Arc<dyn Wake>);

/// Implementation of a waker: a wake-up flag and a clock.
pub trait Wake: Send + Sync {
    /// Ends the current wait, or else the next one.
    fn wake(&self);

    /// Waits for a wake-up since the last wait, at most until `deadline`; returns whether there was
    /// one.
    fn wait_until(&self, deadline: Instant) -> bool;

    /// Returns the current time, on the clock of the deadlines.
    fn now(&self) -> Instant;
}

impl Waker {
    /// Makes a waker of `wake`.
    pub fn new(wake: Arc<dyn Wake>) -> Waker {
        Waker(wake)
    }

    /// Ends the current wait, or else the next one.
    pub fn wake(&self) {
        self.0.wake();
    }

    /// Waits for a wake-up since the last wait, at most until `deadline`; returns whether there was
    /// one.
    pub fn wait_until(&self, deadline: Instant) -> bool {
        self.0.wait_until(deadline)
    }

    /// Returns the current time, on the clock of the deadlines.
    pub fn now(&self) -> Instant {
        self.0.now()
    }
}

/// A waker on this machine's clock.
impl Default for Waker {
    fn default() -> Waker {
        Waker::new(Arc::new(WakerState::default()))
    }
}

#[derive(Default)]
struct WakerState {
    woken: Mutex<bool>,
    signal: Condvar,
}

impl Wake for WakerState {
    fn wake(&self) {
        *self.woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.signal.notify_one();
    }

    fn wait_until(&self, deadline: Instant) -> bool {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if *woken || left.is_zero() {
                return std::mem::take(&mut *woken);
            }
            let waited = self.signal.wait_timeout(woken, left);
            woken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_wake_ends_one_wait_whether_it_comes_before_or_during_it() {
        let waker = Waker::default();
        let soon = || Instant::now() + Duration::from_millis(20);
        assert!(!waker.wait_until(soon()));
        waker.wake();
        waker.wake();
        assert!(waker.wait_until(soon()));
        assert!(!waker.wait_until(soon()));
        let other = waker.clone();
        let other_thread = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            other.wake();
        });
        assert!(waker.wait_until(Instant::now() + Duration::from_secs(20)));
        other_thread.join().unwrap();
    }
}
