//! A bell: how a thread waits for any of several queues at once, and by what clock.
//!
//! Whoever looks at a queue in vain leaves word there; the queue then rings the bell of that side
//! with the next event that concerns it, and only with that one. So an event that nobody waits for
//! costs nothing. A ring that comes before the wait is kept, so none is lost.
//!
//! All that a [`Mesh`] knows of time, it knows from its bell. A simulator brings bells of its own,
//! which tell the time of a simulated world ([`Machine`]).
//!
//! [`Mesh`]: crate::Mesh
//! [`Machine`]: crate::Machine

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// What a [`Transport`] rings when a call that found nothing to do is worth another try. Clones are
/// the same bell; one thread waits for it.
///
/// [`Transport`]: crate::Transport
#[derive(Clone)]
pub struct Bell(Arc<dyn Ring>);

/// What bells are made of.
pub trait Ring: Send + Sync {
    /// Ends the wait that is on, or else the next one.
    fn ring(&self);

    /// Waits for a ring since the last wait, at most until `deadline`; says whether there was one.
    fn wait_until(&self, deadline: Instant) -> bool;

    /// The time, on the clock of the deadlines.
    fn now(&self) -> Instant;
}

impl Bell {
    /// A bell made of `ring`.
    pub fn new(ring: Arc<dyn Ring>) -> Bell {
        Bell(ring)
    }

    /// Ends the wait that is on, or else the next one.
    pub fn ring(&self) {
        self.0.ring();
    }

    /// Waits for a ring since the last wait, at most until `deadline`; says whether there was one.
    pub fn wait_until(&self, deadline: Instant) -> bool {
        self.0.wait_until(deadline)
    }

    /// The time, on the clock of the deadlines.
    pub fn now(&self) -> Instant {
        self.0.now()
    }
}

/// A bell on this machine's clock.
impl Default for Bell {
    fn default() -> Bell {
        Bell::new(Arc::new(State::default()))
    }
}

#[derive(Default)]
struct State {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Ring for State {
    fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_one();
    }

    fn wait_until(&self, deadline: Instant) -> bool {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if *rung || left.is_zero() {
                return std::mem::take(&mut *rung);
            }
            let woken = self.heard.wait_timeout(rung, left);
            rung = woken.unwrap_or_else(PoisonError::into_inner).0;
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
    fn a_ring_ends_one_wait_whether_it_comes_before_or_during_it() {
        let bell = Bell::default();
        let soon = || Instant::now() + Duration::from_millis(20);
        assert!(!bell.wait_until(soon()));
        bell.ring();
        bell.ring();
        assert!(bell.wait_until(soon()));
        assert!(!bell.wait_until(soon()));
        let other = bell.clone();
        let ringer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            other.ring();
        });
        assert!(bell.wait_until(Instant::now() + Duration::from_secs(20)));
        ringer.join().unwrap();
    }
}
