//! The cases of one mode on one tier.

use std::hint::black_box;
use std::time::Duration;

use super::mixes;
use super::subject::{Batch, Direction, KEYS, Subject, key};
use super::{KEPT, LENGTHS, SPEED_UP};
use crate::cycles::{Measured, measure};
use crate::{Figure, Figures};

/// Messages of a batch for each that is in flight.
const TURNS: usize = 8;

/// The least time for the cost of a copy, which is subtracted and must not be overestimated.
const COPIES: Duration = Duration::from_millis(2);

/// The measurement of one mode.
pub(super) struct Bench<'a> {
    pub(super) subject: &'a dyn Subject,
    /// Prefix of the names of its cases.
    pub(super) case: String,
    pub(super) lanes: usize,
    pub(super) budget: Duration,
    pub(super) figures: Figures<'a>,
}

impl Bench<'_> {
    pub(super) fn run(&mut self, few: bool) -> Result<(), String> {
        self.check()?;
        let lengths = if few {
            &[LENGTHS[0], LENGTHS[4]][..]
        } else {
            &LENGTHS
        };
        let (mut single, mut many, mut batch) = (Vec::new(), Vec::new(), Vec::new());
        for length in lengths {
            single.push(self.one(*length, Direction::Seal));
            many.push(self.rows(*length, Direction::Seal));
            let times = single[single.len() - 1] / many[many.len() - 1];
            let case = format!("speed-up/seal/{length}");
            self.add(&case, &[(SPEED_UP, times, "times")]);
            if !few {
                self.one(*length, Direction::Open);
                self.rows(*length, Direction::Open);
                batch.push(self.equal("batch", *length, 1));
                self.equal("own-keys", *length, KEYS);
            }
        }
        if !few {
            let (short, long) = (0, lengths.len() - 1);
            self.mixes([single[short], single[long]], [batch[short], batch[long]]);
        }
        self.key();
        Ok(())
    }

    /// One message at a time; the median.
    fn one(&mut self, length: usize, way: Direction) -> f64 {
        let mut batch = Batch::new(self.subject, &[length], 1);
        let alone = |batch: &mut Batch, way| self.subject.apart(batch, way);
        let measured = self.measure(&mut batch, way, alone);
        self.emit_cycles(&format!("single/{}/{length}", way.name()), measured)
    }

    /// Rows of one length; the median.
    fn rows(&mut self, length: usize, way: Direction) -> f64 {
        let mut rows = Batch::rows(self.subject, length, TURNS * self.lanes);
        let measured = self.measure(&mut rows, way, |rows, way| self.subject.rows(rows, way));
        self.emit_cycles(&format!("many/{}/{length}", way.name()), measured)
    }

    /// A batch of messages of one length; the median.
    fn equal(&mut self, what: &str, length: usize, keys: usize) -> f64 {
        let batch = Batch::new(self.subject, &vec![length; TURNS * self.lanes], keys);
        let measured = self.batch(batch);
        self.emit_cycles(&format!("{what}/seal/{length}"), measured)
    }

    /// Both mixes, given the medians of 128 and of 2048 bytes, alone and in batches.
    fn mixes(&mut self, single: [f64; 2], batch: [f64; 2]) {
        let lengths = mixes::realistic();
        let cycles = |rates: [f64; 2]| -> f64 {
            let each = |length: &usize| rates[usize::from(*length == LENGTHS[4])] * *length as f64;
            lengths.iter().map(each).sum()
        };
        let mixed = Batch::new(self.subject, &lengths, 1);
        let bytes = mixed.texts() as f64;
        let measured = self.batch(mixed);
        let case = "mix/realistic/seal";
        let together = self.emit_cycles(case, measured) * bytes;
        let (kept, times) = (100.0 * cycles(batch) / together, cycles(single) / together);
        self.add(case, &[(KEPT, kept, "%"), (SPEED_UP, times, "times")]);

        let mut lengths = mixes::internet();
        if self.subject.whole_blocks() {
            lengths = mixes::whole_blocks(lengths);
        }
        let measured = self.batch(Batch::new(self.subject, &lengths, 1));
        self.emit_cycles("mix/internet/seal", measured);
    }

    fn key(&mut self) {
        let (subject, bytes) = (self.subject, key(1, self.subject.key_bytes()));
        let measured = measure(1, self.budget, || subject.set_up(black_box(&bytes)));
        let case = format!("{}/key", self.case);
        self.figures.cycles(&case, "", "key", &measured);
    }

    fn batch(&self, mut batch: Batch) -> Measured {
        let many = |batch: &mut Batch, way| self.subject.many(batch, way);
        self.measure(&mut batch, Direction::Seal, many)
    }

    /// Measures cycles a byte of text. A sealed buffer serves as text as well; an opened one is
    /// restored.
    fn measure(
        &self,
        batch: &mut Batch,
        direction: Direction,
        work: impl Fn(&mut Batch, Direction),
    ) -> Measured {
        let bytes = batch.texts() as u64;
        work(batch, Direction::Seal);
        if direction == Direction::Seal {
            let measured = measure(bytes, self.budget, || work(batch, direction));
            black_box(&batch.bytes);
            return measured;
        }
        let sealed = batch.bytes.clone();
        let copies = measure(bytes, self.budget.max(COPIES), || {
            black_box(&mut batch.bytes).copy_from_slice(&sealed);
        });
        let mut measured = measure(bytes, self.budget, || {
            batch.bytes.copy_from_slice(&sealed);
            work(batch, direction);
        });
        black_box(&batch.bytes);
        // On a busy machine, a copy alone may take longer than the copy with the work.
        let copies = copies.min_cycles.min(measured.min_cycles / 2.0);
        measured.min_cycles -= copies;
        measured.median_cycles -= copies;
        measured.all_median_cycles -= copies;
        measured
    }

    /// Adds all figures of a measurement and returns the median.
    fn emit_cycles(&mut self, case: &str, measured: Measured) -> f64 {
        let case = format!("{}/{case}", self.case);
        self.figures.cycles(&case, "", "byte", &measured);
        measured.median_cycles
    }

    pub(super) fn add(&mut self, case: &str, figures: &[Figure<'_>]) {
        self.figures.add(&format!("{}/{case}", self.case), figures);
    }

    /// Checks that a batch of mixed lengths and keys gives the same messages as sealing one by one,
    /// and that it opens again.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut lengths = vec![16, 2048, 1500, 0, 40, 128, 999, 1];
        if self.subject.whole_blocks() {
            lengths = mixes::whole_blocks(lengths);
        }
        let mut together = Batch::new(self.subject, &lengths.repeat(self.lanes), KEYS);
        let (mut apart, mut texts) = (together.clone(), together.clone());
        self.subject.many(&mut together, Direction::Seal);
        self.subject.apart(&mut apart, Direction::Seal);
        let wrong = |what: &str| format!("{} on {}: {what}", self.case, self.figures.tier);
        if together.bytes != apart.bytes {
            return Err(wrong("a batch is not what its messages are one by one"));
        }
        let mut rows = Batch::rows(self.subject, lengths[0], self.lanes + 1);
        let mut ranks = rows.clone();
        for (way, what) in [
            (
                Direction::Seal,
                "rows are not what their messages are in a batch",
            ),
            (
                Direction::Open,
                "rows do not open to what their messages do",
            ),
        ] {
            self.subject.rows(&mut rows, way);
            self.subject.many(&mut ranks, way);
            if rows.bytes != ranks.bytes {
                return Err(wrong(what));
            }
        }
        self.subject.many(&mut together, Direction::Open);
        self.subject.apart(&mut apart, Direction::Open);
        for (opened, direction) in [(&mut together, "a batch"), (&mut apart, "a message")] {
            for ((slot, buffer), (_, text)) in opened.pieces().zip(texts.pieces()) {
                if buffer[..slot.text] != text[..slot.text] {
                    return Err(wrong(&format!("{direction} opens to another text")));
                }
            }
        }
        Ok(())
    }
}
