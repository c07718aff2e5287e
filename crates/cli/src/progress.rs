//! How far a run, or a file that is sealed, has come, on standard error: a bar at a terminal, a line now and then in a log.
//!
//! The part that is done is that of the planned work, by the time that the plan expects of each
//! step; the time left follows from the time that it has taken so far, and from the plan alone
//! until there is enough of it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sealane_engine::events::{Event, Phase, Record};
use sealane_engine::{Observer, Progress};
use sealane_page::units::{bytes, seconds, speed};
use std::io::{IsTerminal, Write, stderr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A run that is over sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the bar of a transfer moves: segments pass far more often.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// How often a log has a line.
const LINE_EVERY: Duration = Duration::from_secs(30);
/// Part of the work after which what was measured says more than the plan.
const ENOUGH: f64 = 0.02;
/// Steps of the bar.
const LENGTH: u64 = 1000;

/// Shows how far a run has come.
pub struct Shown {
    party: String,
    phase: Phase,
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

impl Shown {
    /// Shows it on standard error, at a party of this name.
    pub fn on_stderr(party: &str) -> Shown {
        let now = Instant::now();
        Shown {
            party: party.to_string(),
            phase: Phase::Meet,
            began: now,
            to: To::stderr(now),
        }
    }
}

impl Observer for Shown {
    fn event(&mut self, record: &Record) {
        match &record.event {
            Event::Phase { phase } => self.phase = *phase,
            Event::Ended(_) | Event::Failed(_) => {
                if let To::Terminal(Some(bar)) = &self.to {
                    bar.finish_and_clear();
                }
                return;
            }
            _ => return,
        }
        if let To::Terminal(Some(bar)) = &self.to {
            bar.set_message(title(self.phase));
        }
    }

    fn progress(&mut self, progress: &Progress) {
        let phase = title(self.phase);
        match &mut self.to {
            To::Terminal(_) if self.began.elapsed() < PATIENCE => {}
            To::Terminal(bar) => {
                let bar = bar.get_or_insert_with(|| new_bar(phase));
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
}

impl Line {
    /// The line, if there is another one since the last time.
    pub fn take(&self) -> Option<String> {
        self.0.lock().ok()?.text.take()
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
