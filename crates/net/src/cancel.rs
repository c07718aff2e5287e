//! Cancellation token, by which the caller of a run ends it early.
//!
//! One token reaches every part of a run that waits or computes: gathering, the waits of a mesh,
//! the threads of its connections, and the engine between two steps. Each checks it before it goes
//! on, and waiting threads are woken. A cancelled party tells the others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{NetError, Result};
use crate::waker::Waker;

/// A cancellation token. Clones are the same token; a cancelled token stays cancelled.
#[derive(Clone, Default)]
pub struct Cancel(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    asked: AtomicBool,
    /// Wakers of the threads that wait for something else meanwhile.
    wakers: Mutex<Vec<Waker>>,
}

impl Cancel {
    /// Asks everything that holds this token to end. Returns at once, without waiting.
    pub fn cancel(&self) {
        self.0.asked.store(true, Ordering::SeqCst);
        self.wakers().iter().for_each(Waker::wake);
    }

    /// Returns whether the token has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// Returns whether this is the same token as `other`.
    pub fn is(&self, other: &Cancel) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns an error once the token has been cancelled.
    ///
    /// # Errors
    /// [`NetError::Cancelled`].
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            Err(NetError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Wakes `waker` when the token is cancelled, or now if it has been.
    pub(crate) fn add_waker(&self, waker: &Waker) {
        // The waker is pushed first: a concurrent `cancel` then finds it, or the flag is seen
        // below.
        self.wakers().push(waker.clone());
        if self.is_cancelled() {
            waker.wake();
        }
    }

    /// The wakers. No code panics while it holds the lock, so a poisoned lock holds a sound state.
    fn wakers(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn who_waits_is_called_whether_the_end_is_asked_for_before_or_after() {
        let cancel = Cancel::default();
        let (early, late) = (Waker::default(), Waker::default());
        cancel.add_waker(&early);
        assert_eq!(cancel.check(), Ok(()));
        cancel.clone().cancel();
        cancel.add_waker(&late);
        let soon = || Instant::now() + Duration::from_millis(20);
        assert!(early.wait_until(soon()) && late.wait_until(soon()));
        assert_eq!(cancel.check(), Err(NetError::Cancelled));
    }
}
