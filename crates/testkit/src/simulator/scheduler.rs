//! Threads that run one at a time, on a clock that jumps.
//!
//! All threads of a model are real ones, but only the one that has the *turn* runs. It keeps the
//! turn until it waits or yields; then a number of the seed's sequence chooses the next among the
//! threads that can go on. If none can, the clock jumps to the next moment at which one can. So
//! waits take no real time, and the same seed gives the same run.
//!
//! A process is the threads of one party. When it is killed, each of its threads unwinds at its
//! next wait; their actions while unwinding have no effect on the network, which has closed their
//! sockets.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Bounds, Ending, Happening};
use crate::random::Random;

/// Index meaning that no thread has the turn.
const NOBODY: usize = usize::MAX;

/// Number of lines kept of a log, the last ones.
const LOG_LINES: usize = 400;

thread_local! {
    /// Index of this thread in its model.
    static ME: Cell<usize> = const { Cell::new(NOBODY) };
}

/// State shared by the threads of a model.
pub(super) struct Scheduler {
    state: Mutex<SchedulerState>,
    /// Thread that has the turn.
    turn: AtomicUsize,
    over: Condvar,
    /// Real moment that stands for the beginning.
    beginning: Instant,
}

struct SchedulerState {
    now: Duration,
    threads: Vec<Thread>,
    processes: Vec<Process>,
    joins: Vec<JoinHandle<()>>,
    random: Random,
    bounds: Bounds,
    /// Number of chances, of sixteen, at which a thread is preempted.
    stops: usize,
    /// Least and longest duration of a preemption.
    stop: [Duration; 2],
    steps: u64,
    stuck: Option<String>,
    panics: Vec<String>,
    happened: Vec<(Duration, usize, Happening)>,
    trace: blake3::Hasher,
    /// Last lines of the log, if it is enabled.
    log: Option<VecDeque<String>>,
}

struct Thread {
    name: String,
    process: usize,
    status: Status,
    handle: Option<thread::Thread>,
}

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Ready,
    /// Until it is woken, or until this time if there is one.
    Waiting(Option<Duration>),
    Ended,
}

#[derive(Clone, Default)]
struct Process {
    dead: bool,
    frozen_until: Duration,
}

/// Panic payload that unwinds a thread of a killed process.
struct Killed;

impl Scheduler {
    pub(super) fn new(seed: u64, processes: usize, bounds: Bounds, log: bool) -> Scheduler {
        let mut random = Random::new(seed);
        let ms = Duration::from_millis;
        // In most models threads are rarely preempted; in some, events can occur at any place of
        // the code.
        let (stops, stop) = if random.percent(25) {
            (4, [ms(50), ms(100)])
        } else {
            (1, [ms(0), random.time(ms(1), ms(200))])
        };
        Scheduler {
            state: Mutex::new(SchedulerState {
                stops,
                stop,
                now: Duration::ZERO,
                threads: Vec::new(),
                processes: vec![Process::default(); processes],
                joins: Vec::new(),
                random,
                bounds,
                steps: 0,
                stuck: None,
                panics: Vec::new(),
                happened: Vec::new(),
                trace: blake3::Hasher::new(),
                log: log.then(VecDeque::new),
            }),
            turn: AtomicUsize::new(NOBODY),
            over: Condvar::new(),
            beginning: Instant::now(),
        }
    }

    /// The time since the beginning.
    pub(super) fn now(&self) -> Duration {
        self.state().now
    }

    /// Draws a number of the sequence that determines the run.
    pub(super) fn random<R>(&self, draw: impl FnOnce(&mut Random) -> R) -> R {
        draw(&mut self.state().random)
    }

    /// Adds `bytes` to the hash that identifies a run.
    pub(super) fn trace(&self, bytes: &[u8]) {
        self.state().trace.update(bytes);
    }

    /// Records an event at a process.
    pub(super) fn note(&self, process: usize, what: Happening) {
        let mut state = self.state();
        let now = state.now;
        state.happened.push((now, process, what));
    }

    /// Writes a line to the log, if it is enabled.
    pub(super) fn log(&self, line: impl FnOnce() -> String) {
        let mut state = self.state();
        let now = state.now;
        if let Some(log) = &mut state.log {
            if log.len() == LOG_LINES {
                log.pop_front();
            }
            log.push_back(format!("{:>14.6} s  {}", now.as_secs_f64(), line()));
        }
    }

    /// Real moment that stands for a time of this model.
    pub(super) fn moment(&self, time: Duration) -> Instant {
        self.beginning + time
    }

    /// Time of this model that a real moment stands for.
    pub(super) fn time_of(&self, moment: Instant) -> Duration {
        moment.saturating_duration_since(self.beginning)
    }

    /// Index of the calling thread.
    pub(super) fn me(&self) -> usize {
        ME.get()
    }

    /// Adds a thread, which runs when it gets its turn.
    pub(super) fn spawn(
        self: &Arc<Scheduler>,
        process: usize,
        name: &str,
        body: Box<dyn FnOnce() + Send>,
    ) -> std::io::Result<()> {
        let scheduler = Arc::clone(self);
        let mut state = self.state();
        let me = state.threads.len();
        let join = thread::Builder::new()
            .name(name.into())
            .spawn(move || scheduler.thread(me, body))?;
        state.threads.push(Thread {
            name: format!("{name} of party {process}"),
            process,
            status: Status::Ready,
            handle: Some(join.thread().clone()),
        });
        state.joins.push(join);
        Ok(())
    }

    /// Waits until another thread wakes this one, or until a time. Wake-ups may be spurious.
    pub(super) fn block(&self, until: Option<Duration>) {
        self.leave_turn(Status::Waiting(until));
    }

    /// Yields to others, now and then for a while: threads of a real machine can be preempted
    /// anywhere.
    pub(super) fn give_way(&self) {
        let status = {
            let mut state = self.state();
            let [least, most] = state.stop;
            let chance = state.random.below(16);
            match chance.checked_sub(state.stops) {
                None => {
                    let stop = state.random.time(least, most);
                    Status::Waiting(Some(state.now + stop))
                }
                Some(0..4) => Status::Ready,
                Some(_) => return,
            }
        };
        self.leave_turn(status);
    }

    /// Ends the wait of a thread.
    pub(super) fn wake(&self, thread: usize) {
        let status = &mut self.state().threads[thread].status;
        if matches!(status, Status::Waiting(_)) {
            *status = Status::Ready;
        }
    }

    /// Ends the wait of a thread at `time`, if nothing ends it before.
    pub(super) fn wake_at(&self, thread: usize, time: Duration) {
        if let Status::Waiting(until) = &mut self.state().threads[thread].status {
            *until = Some(until.map_or(time, |until| until.min(time)));
        }
    }

    /// Ends a process. Its threads unwind; the calling one does so at its next wait.
    pub(super) fn kill(&self, process: usize) {
        self.state().kill(process);
    }

    /// Returns whether a process has been killed.
    pub(super) fn is_dead(&self, process: usize) -> bool {
        self.state().processes[process].dead
    }

    /// Stops all threads of a process for so long.
    pub(super) fn freeze(&self, process: usize, time: Duration) {
        let mut state = self.state();
        state.processes[process].frozen_until = state.now + time;
    }

    /// Runs all threads to their ends.
    pub(super) fn run(&self) -> Ending {
        let mut state = self.state();
        self.hand_over(&mut state);
        while state.threads.iter().any(|t| t.status != Status::Ended) {
            let woken = self.over.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        for join in std::mem::take(&mut state.joins) {
            drop(state);
            join.join().expect("threads of a world catch what unwinds");
            state = self.state();
        }
        Ending {
            after: state.now,
            steps: state.steps,
            trace: state.trace.finalize().to_hex()[..16].to_string(),
            stuck: state.stuck.take(),
            panics: std::mem::take(&mut state.panics),
            happened: std::mem::take(&mut state.happened),
            log: state.log.take().into_iter().flatten().collect(),
        }
    }

    /// Runs the body of a thread.
    fn thread(&self, me: usize, body: Box<dyn FnOnce() + Send>) {
        ME.set(me);
        self.await_turn(me);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            self.unwind_if_dead(me);
            body();
        }));
        let mut state = self.state();
        if let Err(what) = ended
            && !what.is::<Killed>()
        {
            let text = what.downcast_ref::<String>().cloned();
            let text = text.or_else(|| what.downcast_ref::<&str>().map(|text| text.to_string()));
            let panic = format!("{}: {}", state.threads[me].name, text.unwrap_or_default());
            state.panics.push(panic);
        }
        state.threads[me].status = Status::Ended;
        self.hand_over(&mut state);
    }

    /// Lets another thread run, and waits for the next turn of this one.
    fn leave_turn(&self, status: Status) {
        // A thread that unwinds does not wait: its process has ended.
        if thread::panicking() {
            return;
        }
        let me = ME.get();
        self.unwind_if_dead(me);
        let mut state = self.state();
        state.threads[me].status = status;
        self.hand_over(&mut state);
        drop(state);
        self.await_turn(me);
        self.unwind_if_dead(me);
    }

    fn await_turn(&self, me: usize) {
        while self.turn.load(Ordering::Acquire) != me {
            thread::park();
        }
    }

    fn unwind_if_dead(&self, me: usize) {
        let state = self.state();
        if state.processes[state.threads[me].process].dead {
            drop(state);
            resume_unwind(Box::new(Killed));
        }
    }

    /// Gives the turn to the next thread, or ends the model.
    fn hand_over(&self, state: &mut SchedulerState) {
        match state.next() {
            None => self.over.notify_all(),
            Some(next) => {
                self.turn.store(next, Ordering::Release);
                if let Some(handle) = &state.threads[next].handle {
                    handle.unpark();
                }
            }
        }
    }

    /// Locks the state. No code panics while it holds the lock, so a poisoned lock holds a sound
    /// state.
    fn state(&self) -> MutexGuard<'_, SchedulerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SchedulerState {
    /// Chooses the thread that runs next; none when all have ended.
    fn next(&mut self) -> Option<usize> {
        loop {
            let able = |thread: &&usize| {
                let process = &self.processes[self.threads[**thread].process];
                process.dead || process.frozen_until <= self.now
            };
            let ready = (0..self.threads.len())
                .filter(|thread| self.threads[*thread].status == Status::Ready)
                .collect::<Vec<_>>();
            let able = ready.iter().filter(able).copied().collect::<Vec<_>>();
            if self.steps >= self.bounds.steps && self.stuck.is_none() {
                self.give_up(Some(self.now));
                continue;
            }
            if !able.is_empty() {
                let next = able[self.random.below(able.len())];
                self.steps += 1;
                self.trace.update(&next.to_le_bytes());
                self.trace.update(&self.now.as_nanos().to_le_bytes());
                return Some(next);
            }
            if self.threads.iter().all(|t| t.status == Status::Ended) {
                return None;
            }
            match self.next_moment() {
                Some(moment) if moment <= self.bounds.time => self.advance(moment),
                moment => self.give_up(moment),
            }
        }
    }

    /// The next moment at which a thread can go on.
    fn next_moment(&self) -> Option<Duration> {
        let moments = self.threads.iter().filter_map(|thread| {
            let frozen_until = self.processes[thread.process].frozen_until;
            match thread.status {
                Status::Ready => Some(frozen_until),
                Status::Waiting(until) => until.map(|until| until.max(frozen_until)),
                Status::Ended => None,
            }
        });
        moments.min()
    }

    fn advance(&mut self, moment: Duration) {
        self.now = moment;
        for thread in &mut self.threads {
            if matches!(thread.status, Status::Waiting(Some(until)) if until <= moment) {
                thread.status = Status::Ready;
            }
        }
    }

    /// Ends a model that does not end by itself.
    fn give_up(&mut self, moment: Option<Duration>) {
        let waiting = self.threads.iter();
        let waiting = waiting.filter(|thread| thread.status != Status::Ended);
        let waiting: Vec<_> = waiting.map(|thread| thread.name.clone()).collect();
        let why = match moment {
            None => "all wait for each other, without an end".to_string(),
            Some(moment) => format!("still going on at {moment:?}, after {} steps", self.steps),
        };
        let what = format!("{why}: {}", waiting.join(", "));
        self.stuck.get_or_insert(what);
        for process in 0..self.processes.len() {
            self.kill(process);
        }
    }

    fn kill(&mut self, process: usize) {
        self.processes[process].dead = true;
        for thread in &mut self.threads {
            if thread.process == process && matches!(thread.status, Status::Waiting(_)) {
                thread.status = Status::Ready;
            }
        }
    }
}
