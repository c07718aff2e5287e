//! A cancellation token: how whoever started a run ends it before its time.
//!
//! One token reaches everything of a run that waits or works: gathering, the waits of a mesh, the
//! threads of its connections, and the engine between two steps. Each looks at it before it goes
//! on, and those who wait are called by their waker. What then ends is told to the other parties.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::NetError;
use crate::waker::Waker;

/// A cancellation token. Clones are the same token; it stays cancelled.
#[derive(Clone, Default)]
pub struct Cancel(Arc<State>);

#[derive(Default)]
struct State {
    asked: AtomicBool,
    /// Those who wait for something else meanwhile.
    wakers: Mutex<Vec<Waker>>,
}

impl Cancel {
    /// Asks everything that has this token to end. Returns at once; nothing is waited for.
    pub fn cancel(&self) {
        self.0.asked.store(true, Ordering::SeqCst);
        self.wakers().iter().for_each(Waker::wake);
    }

    /// Whether the end has been asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// Whether this is the same token as `other`.
    pub fn is(&self, other: &Cancel) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Refuses to go on once the end has been asked for.
    ///
    /// # Errors
    /// [`NetError::Cancelled`].
    pub fn check(&self) -> Result<(), NetError> {
        match self.is_cancelled() {
            true => Err(NetError::Cancelled),
            false => Ok(()),
        }
    }

    /// Has `waker` rung when the end is asked for, or now if it has been.
    pub(crate) fn add_waker(&self, waker: &Waker) {
        // In this order, whoever cancels meanwhile finds the waker, or is found to have cancelled.
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
