//! Bounded queue between two threads, which ends with a reason.
//!
//! The bound is in bytes. A queue that is not full takes one more item of any size, so that any
//! item passes; an item is at most a frame, so the bound is exceeded by less than a frame. The
//! consumer may set received items aside ([`Queue::set_aside`]): they then no longer count against
//! the bound.
//!
//! One thread is the producer, one the consumer. Neither blocks; a side that found nothing to do is
//! woken by its waker when another try is worthwhile.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::LinkError;
use crate::waker::Waker;

/// Cost of a queued item besides its bytes, so that tiny items are bounded too.
const ITEM_OVERHEAD_BYTES: usize = 64;

/// Duration of a wait that other events end: longer than any run.
const UNTIL_CALLED: Duration = Duration::from_secs(365 * 24 * 3600);

pub(crate) struct Queue<T> {
    state: Mutex<QueueState<T>>,
    bound_bytes: usize,
}

struct QueueState<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    /// Bytes of the first items that do not count against the bound.
    aside: usize,
    end: Option<LinkError>,
    /// Woken when an item comes or the queue ends.
    taker: Side,
    /// Woken when room is made or the queue ends.
    giver: Side,
}

/// State of one of the two threads at a queue.
#[derive(Default)]
struct Side {
    waker: Waker,
    /// Set if its last try found nothing to do.
    waits: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(bound_bytes: usize) -> Queue<T> {
        let state = Mutex::new(QueueState {
            items: VecDeque::new(),
            bytes: 0,
            aside: 0,
            end: None,
            taker: Side::default(),
            giver: Side::default(),
        });
        Queue { state, bound_bytes }
    }

    /// Sets the waker of the consumer.
    pub(crate) fn set_taker_waker(&self, waker: &Waker) {
        self.lock().taker.waker = waker.clone();
    }

    /// Sets the waker of the producer.
    pub(crate) fn set_giver_waker(&self, waker: &Waker) {
        self.lock().giver.waker = waker.clone();
    }

    /// Appends `item` of `bytes` bytes, or returns it if there is no room.
    pub(crate) fn try_push(&self, item: T, bytes: usize) -> Result<Option<T>, LinkError> {
        self.try_push_for(item, bytes, 0)
    }

    /// Like [`Queue::try_push`], but wakes the consumer only once there are `enough` bytes, so that
    /// items of a stream leave several at a time. Fewer leave by [`Queue::push_out`], with the next
    /// item that wakes the consumer, or at the deadline of [`Queue::pop_many`].
    pub(crate) fn try_push_for(
        &self,
        item: T,
        bytes: usize,
        enough: usize,
    ) -> Result<Option<T>, LinkError> {
        let mut state = self.lock();
        if let Some(end) = &state.end {
            return Err(end.clone());
        }
        if state.bytes - state.aside >= self.bound_bytes {
            state.giver.waits = true;
            return Ok(Some(item));
        }
        state.append(item, bytes);
        if state.bytes >= enough.min(self.bound_bytes) {
            state.taker.call();
        }
        Ok(None)
    }

    /// Wakes the consumer if there are items.
    pub(crate) fn push_out(&self) {
        let mut state = self.lock();
        if !state.items.is_empty() {
            state.taker.call();
        }
    }

    /// Appends `item` of `bytes` bytes, after waiting for room if there is none.
    pub(crate) fn push(&self, mut item: T, bytes: usize) -> Result<(), LinkError> {
        let waker = self.lock().giver.waker.clone();
        while let Some(back) = self.try_push(item, bytes)? {
            item = back;
            waker.wait_until(waker.now() + UNTIL_CALLED);
        }
        Ok(())
    }

    /// Appends `item` as the last one, even if there is no room, and ends the queue with `reason`.
    /// Does nothing if the queue has ended already.
    pub(crate) fn close_with(&self, item: T, bytes: usize, reason: LinkError) {
        let mut state = self.lock();
        if state.end.is_none() {
            state.append(item, bytes);
            state.end(reason);
        }
    }

    /// Takes the first item if there is one; returns the reason of the end when no more will come.
    pub(crate) fn try_pop(&self) -> Result<Option<T>, LinkError> {
        self.try_pop_if(|_| true)
    }

    /// Like [`Queue::try_pop`], but leaves the first item if it is not `ripe`.
    pub(crate) fn try_pop_if(&self, ripe: impl FnOnce(&T) -> bool) -> Result<Option<T>, LinkError> {
        let mut state = self.lock();
        match (state.items.front(), &state.end) {
            (None, Some(end)) => return Err(end.clone()),
            (Some((first, _)), _) if ripe(first) => {}
            _ => {
                state.taker.waits = true;
                return Ok(None);
            }
        }
        let item = state.take_first();
        state.giver.call();
        Ok(item)
    }

    /// Applies `look` to the first item.
    pub(crate) fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> Option<R> {
        self.lock().items.front().map(|(item, _)| look(item))
    }

    /// Moves items to `into` until these hold `bytes` bytes, after waiting for the first. Leaves
    /// `into` as it is if none came until `deadline`.
    pub(crate) fn pop_many(
        &self,
        into: &mut Vec<T>,
        bytes: usize,
        deadline: Instant,
    ) -> Result<(), LinkError> {
        let mut state = self.lock();
        while state.items.is_empty() {
            if let Some(end) = &state.end {
                return Err(end.clone());
            }
            let woken = wait_for_giver(state, deadline);
            state = self.lock();
            if !woken && state.items.is_empty() {
                return Ok(());
            }
        }
        let enough = state.bytes.saturating_sub(bytes);
        while state.bytes > enough
            && let Some(item) = state.take_first()
        {
            into.push(item);
        }
        state.giver.call();
        Ok(())
    }

    /// Excludes up to `at_most` of the bytes that are here and count against the bound from that
    /// count, for as long as they are here; returns their number.
    pub(crate) fn set_aside(&self, at_most: usize) -> usize {
        let mut state = self.lock();
        let more = at_most.min(state.bytes - state.aside);
        state.aside += more;
        if more > 0 {
            state.giver.call();
        }
        // Items that come next are to be set aside as well.
        state.taker.waits = true;
        more
    }

    /// Bytes that are set aside now.
    pub(crate) fn aside(&self) -> usize {
        self.lock().aside
    }

    /// Returns why the queue has ended, if it has; else the consumer is woken when it does.
    pub(crate) fn end(&self) -> Option<LinkError> {
        let mut state = self.lock();
        state.taker.waits |= state.end.is_none();
        state.end.clone()
    }

    /// Ends the queue: its items can still be taken, then `reason` is returned. Only the first end
    /// takes effect.
    pub(crate) fn close(&self, reason: LinkError) {
        let mut state = self.lock();
        let first = state.end.take();
        state.end(first.unwrap_or(reason));
    }

    /// Ends the queue with `reason` unless another thread ends it with another one before
    /// `deadline`. Only for the consumer.
    pub(crate) fn close_late(&self, reason: LinkError, deadline: Instant) {
        let mut state = self.lock();
        while state.end.is_none() {
            if !wait_for_giver(state, deadline) {
                return self.close(reason);
            }
            state = self.lock();
        }
    }

    /// Like [`Queue::close_with`], with `item` replacing all items of the queue.
    pub(crate) fn cut_with(&self, item: T, bytes: usize, reason: LinkError) {
        let mut state = self.lock();
        if state.end.is_none() {
            state.clear();
            state.append(item, bytes);
            state.end(reason);
        }
    }

    /// Ends the queue at once with `reason`, which replaces its items and any earlier end.
    pub(crate) fn cut(&self, reason: LinkError) {
        let mut state = self.lock();
        state.clear();
        state.end(reason);
    }

    /// Locks the state. No code panics while it holds the lock, so a poisoned lock holds a sound
    /// state.
    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> QueueState<T> {
    fn append(&mut self, item: T, bytes: usize) {
        let cost = bytes + ITEM_OVERHEAD_BYTES;
        self.items.push_back((item, cost));
        self.bytes += cost;
    }

    fn take_first(&mut self) -> Option<T> {
        let (item, cost) = self.items.pop_front()?;
        self.bytes -= cost;
        self.aside = self.aside.saturating_sub(cost);
        Some(item)
    }

    fn clear(&mut self) {
        self.items.clear();
        (self.bytes, self.aside) = (0, 0);
    }

    fn end(&mut self, reason: LinkError) {
        self.end = Some(reason);
        self.taker.call();
        self.giver.call();
    }
}

impl Side {
    fn call(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.waker.wake();
        }
    }
}

/// Waits as the consumer; returns whether it was woken before `deadline`.
fn wait_for_giver<T>(mut state: MutexGuard<'_, QueueState<T>>, deadline: Instant) -> bool {
    state.taker.waits = true;
    let waker = state.taker.waker.clone();
    drop(state);
    waker.wait_until(deadline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Cause;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(30)
    }

    /// A queue of at most `bound_bytes` that holds one item of 36 bytes, which counts as 100.
    fn queue_of_one(bound_bytes: usize) -> Queue<u8> {
        let queue = Queue::new(bound_bytes);
        assert_eq!(queue.try_push(1, 36), Ok(None));
        queue
    }

    #[test]
    fn what_was_queued_before_the_end_is_still_delivered() {
        let queue = queue_of_one(1000);
        queue.close(LinkError::Finished);
        queue.close(LinkError::Vanished);
        assert_eq!(queue.try_push(2, 10), Err(LinkError::Finished));
        assert_eq!(queue.try_pop(), Ok(Some(1)));
        assert_eq!(queue.try_pop(), Err(LinkError::Finished));
    }

    #[test]
    fn a_cut_overtakes_what_was_queued_or_set_aside() {
        let queue = queue_of_one(1000);
        queue.set_aside(100);
        let (cause, reason) = (Cause::Party, "why".into());
        let end = LinkError::Aborted { cause, reason };
        queue.cut(end.clone());
        assert_eq!(queue.aside(), 0);
        assert_eq!(queue.try_pop(), Err(end));
    }

    #[test]
    fn a_full_queue_hands_back_and_blocks_until_room_is_made() {
        let queue = queue_of_one(100);
        assert_eq!(queue.try_push(2, 1), Ok(Some(2)));
        std::thread::scope(|threads| {
            let pushed = threads.spawn(|| queue.push(3, 1));
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(queue.try_pop(), Ok(Some(1)));
            assert_eq!(pushed.join().unwrap(), Ok(()));
        });
        assert_eq!(queue.try_pop(), Ok(Some(3)));
        assert_eq!(queue.try_pop(), Ok(None));
    }

    #[test]
    fn the_end_frees_who_waits_for_room() {
        let queue = queue_of_one(100);
        std::thread::scope(|threads| {
            let pushed = threads.spawn(|| queue.push(3, 1));
            std::thread::sleep(Duration::from_millis(20));
            queue.close(LinkError::Left);
            assert_eq!(pushed.join().unwrap(), Err(LinkError::Left));
        });
    }

    #[test]
    fn what_is_set_aside_makes_room_until_it_is_taken() {
        let queue = queue_of_one(100);
        assert_eq!(queue.try_push(2, 36), Ok(Some(2)));
        assert_eq!(queue.set_aside(30), 30);
        assert_eq!(queue.try_push(2, 36), Ok(None));
        assert_eq!(queue.try_push(3, 36), Ok(Some(3)));
        // All bytes that are here, and no more.
        assert_eq!(queue.set_aside(usize::MAX), 170);
        assert_eq!(queue.try_pop(), Ok(Some(1)));
        assert_eq!(queue.aside(), 100);
        assert_eq!(queue.try_pop(), Ok(Some(2)));
        assert_eq!(queue.aside(), 0);
        assert_eq!(queue.try_push(3, 36), Ok(None));
        assert_eq!(queue.try_push(4, 36), Ok(Some(4)));
    }

    #[test]
    fn only_a_side_that_has_looked_in_vain_is_called() {
        let (giver, taker) = (Waker::default(), Waker::default());
        let queue = Queue::new(100);
        queue.set_giver_waker(&giver);
        queue.set_taker_waker(&taker);
        assert_eq!(queue.try_push(1, 36), Ok(None));
        assert_eq!(queue.try_pop(), Ok(Some(1)));
        assert!(!giver.wait_until(soon()) && !taker.wait_until(soon()));
        assert_eq!(queue.try_pop(), Ok(None));
        assert_eq!(queue.try_push(2, 36), Ok(None));
        assert!(taker.wait_until(soon()));
        assert_eq!(queue.try_push(3, 36), Ok(Some(3)));
        assert_eq!(queue.try_pop(), Ok(Some(2)));
        assert!(giver.wait_until(soon()));
    }

    #[test]
    fn a_side_that_awaits_the_end_is_called_for_it() {
        let taker = Waker::default();
        let queue = queue_of_one(1000);
        queue.set_taker_waker(&taker);
        assert_eq!(queue.end(), None);
        queue.close(LinkError::Finished);
        assert!(taker.wait_until(soon()));
        assert_eq!(queue.end(), Some(LinkError::Finished));
        assert_eq!(queue.try_pop(), Ok(Some(1)));
    }

    /// Pushes items of a stream, 100 bytes each with their cost.
    fn push_stream(queue: &Queue<u8>, items: std::ops::Range<u8>, enough: usize) {
        for item in items {
            assert_eq!(queue.try_push_for(item, 36, enough), Ok(None));
        }
    }

    #[test]
    fn items_of_a_stream_wake_the_consumer_once_there_are_enough() {
        let (taker, queue) = (Waker::default(), Queue::new(10_000));
        queue.set_taker_waker(&taker);
        let waits = || queue.try_pop_if(|_| false).unwrap();
        assert_eq!(waits(), None);
        push_stream(&queue, 0..2, 300);
        assert!(!taker.wait_until(soon()));
        push_stream(&queue, 2..3, 300);
        assert!(taker.wait_until(soon()));

        // Fewer leave with an item that does not wait, or when they are pushed out.
        let mut batch = Vec::new();
        queue.pop_many(&mut batch, 10_000, soon()).unwrap();
        assert_eq!(waits(), None);
        push_stream(&queue, 3..4, 300);
        assert_eq!(queue.try_push(4, 36), Ok(None));
        assert!(taker.wait_until(soon()));
        queue.pop_many(&mut batch, 10_000, soon()).unwrap();
        assert_eq!(waits(), None);
        queue.push_out();
        assert!(!taker.wait_until(soon()));
        push_stream(&queue, 5..6, 300);
        queue.push_out();
        assert!(taker.wait_until(soon()));
        queue.pop_many(&mut batch, 10_000, soon()).unwrap();
        assert_eq!(batch, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn items_of_a_stream_leave_at_the_deadline_the_bound_and_the_end() {
        let queue = Queue::new(150);
        let mut batch = Vec::new();
        std::thread::scope(|threads| {
            let popped = threads.spawn(|| queue.pop_many(&mut batch, 10_000, soon()));
            std::thread::sleep(Duration::from_millis(10));
            push_stream(&queue, 0..1, 300);
            assert_eq!(popped.join().unwrap(), Ok(()));
        });
        assert_eq!(batch, [0]);
        let later = Instant::now() + Duration::from_secs(20);
        for close in [false, true] {
            let mut batch = Vec::new();
            std::thread::scope(|threads| {
                let popped = threads.spawn(|| queue.pop_many(&mut batch, 10_000, later));
                std::thread::sleep(Duration::from_millis(10));
                push_stream(&queue, 0..1, 300);
                if close {
                    queue.close(LinkError::Left)
                } else {
                    push_stream(&queue, 1..2, 300)
                }
                assert_eq!(popped.join().unwrap(), Ok(()));
            });
            assert_eq!(batch.len(), if close { 1 } else { 2 });
        }
        assert!(Instant::now() < later);
    }

    #[test]
    fn many_items_leave_together_up_to_the_bytes_asked_for() {
        let queue = Queue::new(10_000);
        for item in 0..10 {
            assert_eq!(queue.try_push(item, 36), Ok(None));
        }
        let mut batch = Vec::new();
        queue.pop_many(&mut batch, 250, soon()).unwrap();
        assert_eq!(batch, [0, 1, 2]);
        queue.pop_many(&mut batch, 10_000, soon()).unwrap();
        assert_eq!(batch.len(), 10);
        queue.pop_many(&mut batch, 10_000, soon()).unwrap();
        queue.close(LinkError::Finished);
        let popped = queue.pop_many(&mut batch, 10_000, soon());
        assert_eq!((popped, batch.len()), (Err(LinkError::Finished), 10));
    }
}
