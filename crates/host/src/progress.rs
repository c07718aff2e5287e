//! Progress of a run or of a transfer on standard error: a bar at a terminal, a line now and then
//! in a log.
//!
//! The fraction that is done is weighted by the time that the plan expects of each step. The time
//! left is extrapolated from the elapsed time, and taken from the plan alone until enough time has
//! passed.

mod transfer;

pub use transfer::TransferProgress;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sealane_engine::events::{Event, Phase, Record};
use sealane_engine::{Observer, Progress};
use sealane_page::units::{bytes, seconds, speed};
use std::io::{IsTerminal, Write, stderr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time after which the bar of a run appears.
const PATIENCE: Duration = Duration::from_millis(400);

/// Interval between lines of a log.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Fraction of the work after which the measured time is used instead of the plan.
const ENOUGH: f64 = 0.02;

/// Time that a finished run waits until its bar is gone.
const LAST_DRAW: Duration = Duration::from_millis(500);

/// Steps of the bar.
const LENGTH: u64 = 1000;

/// Display of the progress of a run. The terminal may be paused or slow, and the computation never
/// waits for it: a separate thread draws the latest state, and skips states that it has missed.
pub struct ProgressDisplay(Arc<DisplayState>);

/// State that is shared with the drawing thread.
struct DisplayState {
    now: Mutex<Snapshot>,
    changed: Condvar,
}

#[derive(Clone)]
struct Snapshot {
    phase: Phase,
    progress: Option<Progress>,
    /// Set if the state was not drawn yet.
    fresh: bool,
    /// Set if the run is over.
    over: bool,
    /// Set if nothing is on the terminal any more.
    cleared: bool,
}

impl ProgressDisplay {
    /// Displays the progress of the party of this name on standard error.
    pub fn on_stderr(party: &str) -> ProgressDisplay {
        let mut drawer = Drawer {
            party: party.to_string(),
            began: Instant::now(),
            to: Target::stderr(Instant::now()),
        };
        ProgressDisplay::by(move |now| drawer.draw(now))
    }

    /// Displays progress by `draw`, which may block.
    fn by(mut draw: impl FnMut(&Snapshot) + Send + 'static) -> ProgressDisplay {
        let board = Arc::new(DisplayState {
            now: Mutex::new(Snapshot {
                phase: Phase::Connect,
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
        // Without another thread, nothing is displayed.
        if drawing.is_err() {
            board.update(|now| now.cleared = true);
        }
        ProgressDisplay(board)
    }
}

impl DisplayState {
    fn now(&self) -> MutexGuard<'_, Snapshot> {
        // No code panics while it holds the lock, so a poisoned lock holds a sound state.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut Snapshot)) {
        let mut now = self.now();
        change(&mut now);
        now.fresh = true;
        self.changed.notify_all();
    }

    /// Waits for the next state to draw; `None` when the run is over.
    fn next(&self) -> Option<Snapshot> {
        let mut now = self.now();
        while !now.fresh {
            if now.over {
                return None;
            }
            let waited = self.changed.wait(now);
            now = waited.unwrap_or_else(PoisonError::into_inner);
        }
        now.fresh = false;
        Some(now.clone())
    }

    /// Marks the run as over, and waits for a moment until the bar is gone.
    fn end(&self) {
        self.update(|now| now.over = true);
        let is_left = |now: &mut Snapshot| !now.cleared;
        // A terminal that is paused keeps its content.
        let (now, changed) = (self.now(), &self.changed);
        drop(changed.wait_timeout_while(now, LAST_DRAW, is_left));
    }
}

impl Observer for ProgressDisplay {
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

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if !self.0.now().over {
            self.0.end();
        }
    }
}

/// Drawing on standard error.
struct Drawer {
    party: String,
    began: Instant,
    to: Target,
}

enum Target {
    Terminal(Option<ProgressBar>),
    Log(Instant),
}

impl Target {
    /// Returns the kind of target that standard error is.
    fn stderr(now: Instant) -> Target {
        let terminal = stderr().is_terminal();
        if terminal {
            Target::Terminal(None)
        } else {
            Target::Log(now)
        }
    }
}

impl Drawer {
    fn draw(&mut self, now: &Snapshot) {
        let phase = title(now.phase);
        if now.over {
            if let Target::Terminal(Some(bar)) = &self.to {
                bar.finish_and_clear();
            }
            return;
        }
        let Some(progress) = &now.progress else {
            return;
        };
        match &mut self.to {
            Target::Terminal(_) if self.began.elapsed() < PATIENCE => {}
            Target::Terminal(bar) => {
                let bar = bar.get_or_insert_with(|| new_bar(phase));
                bar.set_message(phase);
                bar.set_position((progress.done * LENGTH as f64) as u64);
                bar.set_prefix(rates(progress));
            }
            Target::Log(last) if last.elapsed() >= LINE_EVERY => {
                *last = Instant::now();
                let (party, done) = (&self.party, 100.0 * progress.done);
                let rates = rates(progress);
                let _ = writeln!(stderr(), "{party}: {phase}, {done:.0} %, {rates}");
            }
            Target::Log(_) => {}
        }
    }
}

/// Progress as a line of text, which any holder of a copy can take: for notebooks, in which Python
/// displays it.
#[derive(Clone, Default)]
pub struct ProgressLine(Arc<Mutex<LineState>>);

#[derive(Default)]
struct LineState {
    phase: Option<Phase>,
    text: Option<String>,
    was_taken: bool,
}

impl ProgressLine {
    /// Tells if any line has been taken.
    pub fn was_taken(&self) -> bool {
        self.0.lock().is_ok_and(|now| now.was_taken)
    }

    /// Returns the line, if it changed since the last call.
    pub fn take(&self) -> Option<String> {
        let mut now = self.0.lock().ok()?;
        now.was_taken |= now.text.is_some();
        now.text.take()
    }
}

impl Observer for ProgressLine {
    fn event(&mut self, record: &Record) {
        if let (Event::Phase { phase }, Ok(mut now)) = (&record.event, self.0.lock()) {
            now.phase = Some(*phase);
        }
    }

    fn progress(&mut self, progress: &Progress) {
        if let Ok(mut now) = self.0.lock() {
            let phase = title(now.phase.unwrap_or(Phase::Connect));
            let (done, rates) = (100.0 * progress.done, rates(progress));
            now.text = Some(format!("{phase}, {done:.0} %, {rates}"));
        }
    }
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

/// Formats gates and bytes a second, and the time that is left.
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
    if progress.done > ENOUGH {
        progress.elapsed_s * rest / progress.done
    } else {
        (progress.planned_s - progress.elapsed_s).max(progress.planned_s * rest / 2.0)
    }
}

fn title(phase: Phase) -> &'static str {
    match phase {
        Phase::Connect => "meeting",
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
        let left = |done, elapsed_s| left_s(&progress(done, 100.0, elapsed_s));
        assert_eq!(left(0.0, 0.0), 100.0);
        assert_eq!(left(0.0, 30.0), 70.0);
        // Half as fast as planned.
        assert_eq!(left(0.25, 50.0), 150.0);
        assert_eq!(left(1.0, 200.0), 0.0);
    }

    fn progress(done: f64, planned_s: f64, elapsed_s: f64) -> Progress {
        let (ands, bytes) = (0, 0);
        Progress {
            done,
            planned_s,
            elapsed_s,
            ands,
            bytes,
        }
    }

    #[test]
    fn nobody_who_computes_waits_for_a_terminal_that_is_paused() {
        let progress = |done| progress(done, 1.0, 1.0);
        let drawn = Arc::new(Mutex::new(Vec::new()));
        let (resume, paused) = std::sync::mpsc::channel::<()>();
        let seen = Arc::clone(&drawn);
        let mut shown = ProgressDisplay::by(move |now| {
            let done = now.progress.as_ref().map(|progress| progress.done);
            seen.lock().unwrap().push((done, now.over));
            // Blocks until the test goes on.
            let _ = paused.recv();
        });
        let began = Instant::now();
        (0..100_000).for_each(|step| shown.progress(&progress(f64::from(step))));
        drop(shown);
        assert!(began.elapsed() < Duration::from_secs(5));
        assert!(drawn.lock().unwrap().len() <= 1);
        // Then it draws the latest state, and no other.
        drop(resume);
        let deadline = Instant::now() + Duration::from_secs(20);
        while drawn.lock().unwrap().last() != Some(&(Some(99_999.0), true)) {
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(5));
        }
        assert!(drawn.lock().unwrap().len() <= 2);
    }

    #[test]
    fn rates_are_those_of_the_whole_run() {
        let mut progress = progress(0.5, 1.0, 4.0);
        (progress.ands, progress.bytes) = (10_000_000, 8_000_000);
        let text = "2.5 million ANDs/s · 2.0 MB/s · 4.0 s left";
        assert_eq!(rates(&progress), text);
    }
}
