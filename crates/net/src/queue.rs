//! A bounded queue between threads, which ends with a reason.
//!
//! The bound is in bytes. A queue that is not full takes one item more however large it is, so that
//! any item passes; an item is at most a frame, so the bound is exceeded by less than a frame.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::LinkError;

/// What a queued item costs besides its bytes, so that tiny items are bounded too.
const ITEM_OVERHEAD_BYTES: usize = 64;

pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    /// Signalled when an item comes or the queue ends.
    filled: Condvar,
    /// Signalled when room is made or the queue ends.
    emptied: Condvar,
    bound_bytes: usize,
}

struct State<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    end: Option<LinkError>,
}

impl<T> Queue<T> {
    pub(crate) fn new(bound_bytes: usize) -> Queue<T> {
        Queue {
            state: Mutex::new(State {
                items: VecDeque::new(),
                bytes: 0,
                end: None,
            }),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            bound_bytes,
        }
    }

    /// Appends `item` of `bytes` bytes, after waiting for room if there is none.
    pub(crate) fn push(&self, item: T, bytes: usize, deadline: Instant) -> Result<(), LinkError> {
        let mut state = self.lock();
        let started = Instant::now();
        loop {
            if let Some(end) = &state.end {
                return Err(end.clone());
            }
            if state.bytes < self.bound_bytes {
                state.append(item, bytes);
                self.filled.notify_one();
                return Ok(());
            }
            state = wait(&self.emptied, state, started, deadline)?;
        }
    }

    /// Appends `item` as the last one, even if there is no room, and ends the queue with `reason`.
    /// Does nothing if the queue has ended already.
    pub(crate) fn close_with(&self, item: T, bytes: usize, reason: LinkError) {
        let mut state = self.lock();
        if state.end.is_none() {
            state.append(item, bytes);
            state.end = Some(reason);
        }
        drop(state);
        self.wake_all();
    }

    /// Takes the first item, after waiting for one; the end's reason when there will be none.
    pub(crate) fn pop(&self, deadline: Instant) -> Result<T, LinkError> {
        let mut state = self.lock();
        if state.items.is_empty() {
            state = self.wait_for_item(state, deadline)?;
        }
        match state.take_first() {
            Some(item) => {
                self.emptied.notify_one();
                Ok(item)
            }
            None => Err(state.end.clone().unwrap_or(LinkError::Vanished)),
        }
    }

    /// Moves items to `into` until these hold `bytes` bytes, after waiting for the first. Leaves
    /// `into` as it is if none came until `deadline`.
    pub(crate) fn pop_many(
        &self,
        into: &mut Vec<T>,
        bytes: usize,
        deadline: Instant,
    ) -> Result<(), LinkError> {
        let Ok(mut state) = self.wait_for_item(self.lock(), deadline) else {
            return Ok(());
        };
        if state.items.is_empty()
            && let Some(end) = &state.end
        {
            return Err(end.clone());
        }
        let enough = state.bytes.saturating_sub(bytes);
        while state.bytes > enough
            && let Some(item) = state.take_first()
        {
            into.push(item);
        }
        self.emptied.notify_one();
        Ok(())
    }

    /// Ends the queue: what it holds can still be taken, then `reason` is seen. The first end
    /// stands.
    pub(crate) fn close(&self, reason: LinkError) {
        self.lock().end.get_or_insert(reason);
        self.wake_all();
    }

    /// Ends the queue with `reason` unless somebody ends it with another one before `deadline`.
    /// Only for the thread that takes the items.
    pub(crate) fn close_late(&self, reason: LinkError, deadline: Instant) {
        let mut state = self.lock();
        let started = Instant::now();
        while state.end.is_none() {
            match wait(&self.filled, state, started, deadline) {
                Ok(woken) => state = woken,
                Err(_) => return self.close(reason),
            }
        }
    }

    /// As [`Queue::close_with`], with `item` in the place of all that the queue holds.
    pub(crate) fn cut_with(&self, item: T, bytes: usize, reason: LinkError) {
        let mut state = self.lock();
        if state.end.is_none() {
            state.items.clear();
            state.bytes = 0;
            state.append(item, bytes);
            state.end = Some(reason);
        }
        drop(state);
        self.wake_all();
    }

    /// Ends the queue at once with `reason`, which overtakes what it holds and any earlier end.
    pub(crate) fn cut(&self, reason: LinkError) {
        let mut state = self.lock();
        state.items.clear();
        state.bytes = 0;
        state.end = Some(reason);
        drop(state);
        self.wake_all();
    }

    fn wake_all(&self) {
        self.filled.notify_all();
        self.emptied.notify_all();
    }

    fn wait_for_item<'a>(
        &self,
        mut state: MutexGuard<'a, State<T>>,
        deadline: Instant,
    ) -> Result<MutexGuard<'a, State<T>>, LinkError> {
        let started = Instant::now();
        while state.items.is_empty() && state.end.is_none() {
            state = wait(&self.filled, state, started, deadline)?;
        }
        Ok(state)
    }

    /// The state. No code panics while it holds the lock, so a poisoned lock holds a sound state.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn append(&mut self, item: T, bytes: usize) {
        let cost = bytes + ITEM_OVERHEAD_BYTES;
        self.items.push_back((item, cost));
        self.bytes += cost;
    }

    fn take_first(&mut self) -> Option<T> {
        let (item, cost) = self.items.pop_front()?;
        self.bytes -= cost;
        Some(item)
    }
}

/// Waits for `event` until `deadline`, after which the wait that began at `started` has failed.
fn wait<'a, T>(
    event: &Condvar,
    state: MutexGuard<'a, State<T>>,
    started: Instant,
    deadline: Instant,
) -> Result<MutexGuard<'a, State<T>>, LinkError> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left == Duration::ZERO {
        return Err(LinkError::Silent(started.elapsed()));
    }
    let (state, _) = event
        .wait_timeout(state, left)
        .unwrap_or_else(PoisonError::into_inner);
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(30)
    }

    #[test]
    fn what_was_queued_before_the_end_is_still_delivered() {
        let queue = Queue::new(1000);
        queue.push(1, 10, soon()).unwrap();
        queue.close(LinkError::Finished);
        queue.close(LinkError::Vanished);
        assert_eq!(queue.push(2, 10, soon()), Err(LinkError::Finished));
        assert_eq!(queue.pop(soon()), Ok(1));
        assert_eq!(queue.pop(soon()), Err(LinkError::Finished));
    }

    #[test]
    fn a_cut_overtakes_what_was_queued() {
        let queue = Queue::new(1000);
        queue.push(1, 10, soon()).unwrap();
        queue.cut(LinkError::Aborted("why".into()));
        assert_eq!(queue.pop(soon()), Err(LinkError::Aborted("why".into())));
    }

    #[test]
    fn a_full_queue_blocks_until_room_is_made_or_the_deadline_passes() {
        let queue = Queue::new(100);
        queue.push(1, 100, soon()).unwrap();
        assert!(matches!(
            queue.push(2, 1, soon()),
            Err(LinkError::Silent(_))
        ));
        std::thread::scope(|threads| {
            let pushed =
                threads.spawn(|| queue.push(3, 1, Instant::now() + Duration::from_secs(9)));
            assert_eq!(queue.pop(soon()), Ok(1));
            pushed.join().unwrap().unwrap();
        });
        assert_eq!(queue.pop(soon()), Ok(3));
    }

    #[test]
    fn many_items_leave_together_up_to_the_bytes_asked_for() {
        let queue = Queue::new(10_000);
        for item in 0..10 {
            queue.push(item, 36, soon()).unwrap();
        }
        let mut batch = Vec::new();
        queue.pop_many(&mut batch, 250, soon()).unwrap();
        assert_eq!(batch, [0, 1, 2]);
        queue.pop_many(&mut batch, 10_000, soon()).unwrap();
        assert_eq!(batch.len(), 10);
        queue.pop_many(&mut batch, 10_000, soon()).unwrap();
        queue.close(LinkError::Finished);
        assert_eq!(
            queue.pop_many(&mut batch, 10_000, soon()),
            Err(LinkError::Finished)
        );
        assert_eq!(batch.len(), 10);
    }
}
