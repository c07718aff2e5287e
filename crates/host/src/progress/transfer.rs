//! Progress of a transfer of a known number of bytes, such as a file that is sealed.

use super::{LENGTH, LINE_EVERY, PATIENCE, Target, new_bar};
use sealane_page::units::{bytes, seconds};
use std::io::{Write, stderr};
use std::time::{Duration, Instant};

/// Interval between updates of the bar of a transfer: segments pass far more often.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// Progress of a transfer of a known number of bytes.
pub struct TransferProgress {
    what: &'static str,
    total: u64,
    passed: u64,
    began: Instant,
    drawn: Instant,
    to: Target,
}

impl TransferProgress {
    /// Displays the progress on standard error.
    pub fn on_stderr(what: &'static str, total: u64) -> TransferProgress {
        let now = Instant::now();
        TransferProgress {
            what,
            total,
            passed: 0,
            began: now,
            drawn: now,
            to: Target::stderr(now),
        }
    }

    /// Counts so many more bytes.
    pub fn passed(&mut self, bytes: u64) {
        self.passed = self.passed.saturating_add(bytes);
        let elapsed = self.began.elapsed();
        match &mut self.to {
            Target::Terminal(_) if elapsed < PATIENCE || self.drawn.elapsed() < DRAW_EVERY => {}
            Target::Terminal(bar) => {
                self.drawn = Instant::now();
                let bar = bar.get_or_insert_with(|| new_bar(self.what));
                let done = part(self.passed, self.total);
                bar.set_position((done * LENGTH as f64) as u64);
                bar.set_prefix(pace(self.passed, self.total, elapsed.as_secs_f64()));
            }
            Target::Log(last) if last.elapsed() >= LINE_EVERY => {
                *last = Instant::now();
                let done = 100.0 * part(self.passed, self.total);
                let pace = pace(self.passed, self.total, elapsed.as_secs_f64());
                let _ = writeln!(stderr(), "{}: {done:.0} %, {pace}", self.what);
            }
            Target::Log(_) => {}
        }
    }
}

impl Drop for TransferProgress {
    fn drop(&mut self) {
        if let Target::Terminal(Some(bar)) = &self.to {
            bar.finish_and_clear();
        }
    }
}

/// Fraction of a total, from 0 to 1.
fn part(passed: u64, total: u64) -> f64 {
    (passed as f64 / total.max(1) as f64).min(1.0)
}

/// Formats bytes a second, and the time that is left at that rate.
fn pace(passed: u64, total: u64, elapsed_s: f64) -> String {
    let rate = passed as f64 / elapsed_s.max(1e-3);
    let left = total.saturating_sub(passed) as f64 / rate.max(1.0);
    format!("{}/s · {} left", bytes(rate as u64), seconds(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_of_a_transfer_is_that_of_all_of_it() {
        assert_eq!(pace(30_000_000, 90_000_000, 2.0), "15.0 MB/s · 4.0 s left");
        assert_eq!(pace(10, 0, 1.0), "10 B/s · 0 µs left");
        assert_eq!((part(1, 4), part(0, 0), part(9, 4)), (0.25, 0.0, 1.0));
    }
}
