//! Wakers of a simulated model: its threads wait and read the time through them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use sealane_net::{Wake, Waker};

use super::scheduler::Scheduler;

/// A waker of a simulated thread.
pub(super) struct SimulatedWaker {
    scheduler: Arc<Scheduler>,
    state: Mutex<Rung>,
}

#[derive(Default)]
struct Rung {
    woken: bool,
    waiter: Option<usize>,
}

impl SimulatedWaker {
    /// Makes a waker on the clock of `scheduler`.
    pub(super) fn waker(scheduler: &Arc<Scheduler>) -> Waker {
        let (scheduler, state) = (Arc::clone(scheduler), Mutex::default());
        Waker::new(Arc::new(SimulatedWaker { scheduler, state }))
    }

    fn state(&self) -> MutexGuard<'_, Rung> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for SimulatedWaker {
    fn wake(&self) {
        let mut state = self.state();
        state.woken = true;
        if let Some(waiter) = state.waiter.take() {
            self.scheduler.wake(waiter);
        }
    }

    fn wait_until(&self, deadline: Instant) -> bool {
        self.scheduler.give_way();
        let deadline = self.scheduler.time_of(deadline);
        loop {
            {
                let mut state = self.state();
                if state.woken || self.scheduler.now() >= deadline || thread::panicking() {
                    state.waiter = None;
                    return std::mem::take(&mut state.woken);
                }
                state.waiter = Some(self.scheduler.me());
            }
            self.scheduler.block(Some(deadline));
        }
    }

    /// Returns the time. A thread may be preempted before any reading of the clock.
    fn now(&self) -> Instant {
        self.scheduler.give_way();
        self.scheduler.moment(self.scheduler.now())
    }
}
