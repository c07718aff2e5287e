//! How far a run, or a file that is sealed, has come, on standard error: a bar at a terminal, a
//! line now and then in a log.
//!
//! The part that is done is that of the planned work, by the time that the plan expects of each
//! step; the time left follows from the time that it has taken so far, and from the plan alone
//! until there is enough of it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sealane_engine::events::{Event, Phase, Record};
use sealane_engine::{Observer, Progress};
use sealane_page::units::{bytes, seconds, speed};
use std::io::{IsTerminal, Write, stderr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A run that is over sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the bar of a transfer moves: segments pass far more often.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// How often a log has a line.
const LINE_EVERY: Duration = Duration::from_secs(30);
/// Part of the work after which what was measured says more than the plan.
const ENOUGH: f64 = 0.02;
/// How long a run that is over waits until its bar is gone.
const LAST_DRAW: Duration = Duration::from_millis(500);
/// Steps of the bar.
const LENGTH: u64 = 1000;

/// Shows how far a run has come. The terminal may be paused or slow, and whoever computes never
/// waits for it: a thread of its own draws the latest that it was told, and skips what it has
/// missed.
pub struct Shown(Arc<Board>);

/// What there is to draw.
struct Board {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Clone)]
struct Now {
    phase: Phase,
    progress: Option<Progress>,
    /// Whether there is more than was drawn last.
    fresh: bool,
    /// Whether the run is over.
    over: bool,
    /// Whether nothing is on the terminal any more.
    cleared: bool,
}

impl Shown {
    /// Shows it on standard error, at a party of this name.
    pub fn on_stderr(party: &str) -> Shown {
        let mut drawer = Drawer {
            party: party.to_string(),
            began: Instant::now(),
            to: To::stderr(Instant::now()),
        };
        Shown::by(move |now| drawer.draw(now))
    }

    /// Shows it by `draw`, which may take its time.
    fn by(mut draw: impl FnMut(&Now) + Send + 'static) -> Shown {
        let board = Arc::new(Board {
            now: Mutex::new(Now {
                phase: Phase::Meet,
                progress: None,
                fresh: false,
                over: false,
                cleared: false,
            }),
            changed: Condvar::new(),
        });
        let shared = Arc::clone(&board);
        let drawing = thread::Builder::new().name("progress".into());
        let drawing = drawing.spawn(move || {
            while let Some(now) = shared.next() {
                draw(&now);
            }
            shared.update(|now| now.cleared = true);
        });
        // Without another thread, nothing is shown.
        if drawing.is_err() {
            board.update(|now| now.cleared = true);
        }
        Shown(board)
    }
}

impl Board {
    fn now(&self) -> MutexGuard<'_, Now> {
        // No code panics while it holds the lock, so a poisoned lock holds a sound state.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut Now)) {
        let mut now = self.now();
        change(&mut now);
        now.fresh = true;
        self.changed.notify_all();
    }

    /// What is to be drawn next, after waiting for it; the last is that the run is over.
    fn next(&self) -> Option<Now> {
        let mut now = self.now();
        while !now.fresh {
            if now.over {
                return None;
            }
            now = self
                .changed
                .wait(now)
                .unwrap_or_else(PoisonError::into_inner);
        }
        now.fresh = false;
        Some(now.clone())
    }

    /// The run is over: waits for a moment until nothing of the bar is left.
    fn end(&self) {
        self.update(|now| now.over = true);
        let is_left = |now: &mut Now| !now.cleared;
        // A terminal that is paused keeps what it shows.
        drop(
            self.changed
                .wait_timeout_while(self.now(), LAST_DRAW, is_left),
        );
    }
}

impl Observer for Shown {
    fn event(&mut self, record: &Record) {
        match &record.event {
            Event::Phase { phase } => self.0.update(|now| now.phase = *phase),
            Event::Ended(_) | Event::Failed(_) => self.0.end(),
            _ => {}
        }
    }

    fn progress(&mut self, progress: &Progress) {
        self.0.update(|now| now.progress = Some(*progress));
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if !self.0.now().over {
            self.0.end();
        }
    }
}

/// Draws on standard error.
struct Drawer {
    party: String,
    began: Instant,
    to: To,
}

enum To {
    Terminal(Option<ProgressBar>),
    Log(Instant),
}

impl To {
    /// What standard error is.
    fn stderr(now: Instant) -> To {
        match stderr().is_terminal() {
            true => To::Terminal(None),
            false => To::Log(now),
        }
    }
}

impl Drawer {
    fn draw(&mut self, now: &Now) {
        let phase = title(now.phase);
        if now.over {
            if let To::Terminal(Some(bar)) = &self.to {
                bar.finish_and_clear();
            }
            return;
        }
        let Some(progress) = &now.progress else {
            return;
        };
        match &mut self.to {
            To::Terminal(_) if self.began.elapsed() < PATIENCE => {}
            To::Terminal(bar) => {
                let bar = bar.get_or_insert_with(|| new_bar(phase));
                bar.set_message(phase);
                bar.set_position((progress.done * LENGTH as f64) as u64);
                bar.set_prefix(rates(progress));
            }
            To::Log(last) if last.elapsed() >= LINE_EVERY => {
                *last = Instant::now();
                let (party, done) = (&self.party, 100.0 * progress.done);
                let rates = rates(progress);
                let _ = writeln!(stderr(), "{party}: {phase}, {done:.0} %, {rates}");
            }
            To::Log(_) => {}
        }
    }
}

/// The same as a line of text that whoever holds a copy takes when it likes: for notebooks, where
/// it is Python that shows it.
#[derive(Clone, Default)]
pub struct Line(Arc<Mutex<LineNow>>);

#[derive(Default)]
struct LineNow {
    phase: Option<Phase>,
    text: Option<String>,
    was_taken: bool,
}

impl Line {
    /// Whether any line has been taken.
    pub fn was_taken(&self) -> bool {
        self.0.lock().is_ok_and(|now| now.was_taken)
    }

    /// The line, if there is another one since the last time.
    pub fn take(&self) -> Option<String> {
        let mut now = self.0.lock().ok()?;
        now.was_taken |= now.text.is_some();
        now.text.take()
    }
}

impl Observer for Line {
    fn event(&mut self, record: &Record) {
        if let (Event::Phase { phase }, Ok(mut now)) = (&record.event, self.0.lock()) {
            now.phase = Some(*phase);
        }
    }

    fn progress(&mut self, progress: &Progress) {
        if let Ok(mut now) = self.0.lock() {
            let phase = title(now.phase.unwrap_or(Phase::Meet));
            let (done, rates) = (100.0 * progress.done, rates(progress));
            now.text = Some(format!("{phase}, {done:.0} %, {rates}"));
        }
    }
}

/// How much of a known number of bytes has passed.
pub struct Transfer {
    what: &'static str,
    total: u64,
    passed: u64,
    began: Instant,
    drawn: Instant,
    to: To,
}

impl Transfer {
    /// Shows it on standard error.
    pub fn on_stderr(what: &'static str, total: u64) -> Transfer {
        let now = Instant::now();
        Transfer {
            what,
            total,
            passed: 0,
            began: now,
            drawn: now,
            to: To::stderr(now),
        }
    }

    /// So many bytes more have passed.
    pub fn passed(&mut self, bytes: u64) {
        self.passed = self.passed.saturating_add(bytes);
        let elapsed = self.began.elapsed();
        match &mut self.to {
            To::Terminal(_) if elapsed < PATIENCE || self.drawn.elapsed() < DRAW_EVERY => {}
            To::Terminal(bar) => {
                self.drawn = Instant::now();
                let bar = bar.get_or_insert_with(|| new_bar(self.what));
                let done = part(self.passed, self.total);
                bar.set_position((done * LENGTH as f64) as u64);
                bar.set_prefix(pace(self.passed, self.total, elapsed.as_secs_f64()));
            }
            To::Log(last) if last.elapsed() >= LINE_EVERY => {
                *last = Instant::now();
                let done = 100.0 * part(self.passed, self.total);
                let pace = pace(self.passed, self.total, elapsed.as_secs_f64());
                let _ = writeln!(stderr(), "{}: {done:.0} %, {pace}", self.what);
            }
            To::Log(_) => {}
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if let To::Terminal(Some(bar)) = &self.to {
            bar.finish_and_clear();
        }
    }
}

/// How much of a total has passed, from 0 to 1.
fn part(passed: u64, total: u64) -> f64 {
    (passed as f64 / total.max(1) as f64).min(1.0)
}

/// Bytes a second, and the time that is left at that pace.
fn pace(passed: u64, total: u64, elapsed_s: f64) -> String {
    let rate = passed as f64 / elapsed_s.max(1e-3);
    let left = total.saturating_sub(passed) as f64 / rate.max(1.0);
    format!("{}/s · {} left", bytes(rate as u64), seconds(left))
}

fn new_bar(phase: &'static str) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(Some(LENGTH), target);
    let template = "{spinner} {msg} {bar:28.cyan/dim} {percent:>3} %  {prefix}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━━─"));
    }
    bar.set_message(phase);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Gates and bytes a second, and the time that is left.
fn rates(progress: &Progress) -> String {
    let elapsed = progress.elapsed_s.max(1e-3);
    let gates = match progress.ands {
        0 => String::new(),
        ands => format!("{} ANDs/s · ", speed(ands as f64 / elapsed)),
    };
    let rate = bytes((progress.bytes as f64 / elapsed) as u64);
    format!("{gates}{rate}/s · {} left", seconds(left_s(progress)))
}

/// Seconds that are left.
fn left_s(progress: &Progress) -> f64 {
    let rest = 1.0 - progress.done;
    match progress.done > ENOUGH {
        true => progress.elapsed_s * rest / progress.done,
        false => (progress.planned_s - progress.elapsed_s).max(progress.planned_s * rest / 2.0),
    }
}

fn title(phase: Phase) -> &'static str {
    match phase {
        Phase::Meet => "meeting",
        Phase::Agree => "agreeing",
        Phase::Alone => "working alone",
        Phase::Prepare => "preparing",
        Phase::Compute => "computing",
        Phase::Reveal => "revealing",
        Phase::Part => "parting",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_the_plan_until_enough_is_measured() {
        let progress = |done, elapsed_s| Progress {
            done,
            planned_s: 100.0,
            elapsed_s,
            ands: 0,
            bytes: 0,
        };
        assert_eq!(left_s(&progress(0.0, 0.0)), 100.0);
        assert_eq!(left_s(&progress(0.0, 30.0)), 70.0);
        // Half as fast as planned.
        assert_eq!(left_s(&progress(0.25, 50.0)), 150.0);
        assert_eq!(left_s(&progress(1.0, 200.0)), 0.0);
    }

    #[test]
    fn nobody_who_computes_waits_for_a_terminal_that_is_paused() {
        let progress = |done| Progress {
            done,
            planned_s: 1.0,
            elapsed_s: 1.0,
            ands: 0,
            bytes: 0,
        };
        let drawn = Arc::new(Mutex::new(Vec::new()));
        let (resume, paused) = std::sync::mpsc::channel::<()>();
        let seen = Arc::clone(&drawn);
        let mut shown = Shown::by(move |now| {
            let done = now.progress.as_ref().map(|progress| progress.done);
            seen.lock().unwrap().push((done, now.over));
            // Until it goes on.
            let _ = paused.recv();
        });
        let began = Instant::now();
        (0..100_000).for_each(|step| shown.progress(&progress(f64::from(step))));
        drop(shown);
        assert!(began.elapsed() < Duration::from_secs(5));
        assert!(drawn.lock().unwrap().len() <= 1);
        // Then it draws the last, and no more than that.
        drop(resume);
        let deadline = Instant::now() + Duration::from_secs(20);
        while drawn.lock().unwrap().last() != Some(&(Some(99_999.0), true)) {
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(5));
        }
        assert!(drawn.lock().unwrap().len() <= 2);
    }

    #[test]
    fn the_pace_of_a_transfer_is_that_of_all_of_it() {
        assert_eq!(pace(30_000_000, 90_000_000, 2.0), "15.0 MB/s · 4.0 s left");
        assert_eq!(pace(10, 0, 1.0), "10 B/s · 0 µs left");
        assert_eq!((part(1, 4), part(0, 0), part(9, 4)), (0.25, 0.0, 1.0));
    }

    #[test]
    fn rates_are_those_of_the_whole_run() {
        let progress = Progress {
            done: 0.5,
            planned_s: 1.0,
            elapsed_s: 4.0,
            ands: 10_000_000,
            bytes: 8_000_000,
        };
        assert_eq!(
            rates(&progress),
            "2.5 million ANDs/s · 2.0 MB/s · 4.0 s left"
        );
    }
}
