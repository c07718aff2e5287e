//! The messages that lanes hold, and the queue that they come from.

use std::marker::PhantomData;

use sealane_block::lanes::{MAX_LANES, SPARE_BYTES, Spare, Streams};

use super::{Facts, Group, KeyMaterial, Mode};

/// A message for a lane.
pub(crate) struct Job<'a, M: Mode> {
    pub(crate) material: &'a KeyMaterial<M>,
    pub(crate) facts: Facts<'a>,
    /// The text, replaced by as many bytes of output.
    pub(crate) text: &'a mut [u8],
    /// The rest of the sealed message.
    pub(crate) tag: &'a mut [u8],
}

/// The outcome of a message.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// True if it is authentic; true when sealing.
    pub(crate) authentic: bool,
    /// Bytes of padding at the end of the text, when opening.
    pub(crate) padding: usize,
}

/// The queue of messages, which also receives outcomes.
pub(crate) trait Queue<'a, M: Mode> {
    /// Puts the next messages into lanes of the set `free`, and returns the set of lanes used: all
    /// of them, unless there are no more messages.
    fn fill(&mut self, work: &mut LaneMessages<'a, M>, free: u32) -> u32;
    /// Reports that a message has been opened.
    fn done(&mut self, number: usize, outcome: Outcome);
}

/// The messages of all lanes. A lane without a message has no text.
pub(crate) struct LaneMessages<'a, M: Mode> {
    /// A bit for each lane that has a message.
    pub(crate) busy: u32,
    /// True if all lanes begin and end together, as they do in rows.
    pub(crate) is_even: bool,
    /// Numbers of messages, as the queue gave them.
    pub(crate) number: [usize; MAX_LANES],
    pub(crate) material: [Option<&'a KeyMaterial<M>>; MAX_LANES],
    pub(crate) facts: [Facts<'a>; MAX_LANES],
    /// Number of units done.
    pub(crate) units: [u64; MAX_LANES],
    pub(crate) texts: LaneTexts<'a, M>,
    /// The memory of lanes without work.
    pub(crate) spare: Spare,
}

/// The texts and tags of all lanes.
pub(crate) struct LaneTexts<'a, M: Mode> {
    text: [&'a mut [u8]; MAX_LANES],
    tag: [&'a mut [u8]; MAX_LANES],
    /// These instead, where all lanes took rows at once.
    rows: Option<Rows<'a>>,
    /// Number of units in all.
    pub(crate) all: [u64; MAX_LANES],
    mode: PhantomData<M>,
}

/// Rows of one length for all lanes, each the buffer of a message.
struct Rows<'a> {
    buffers: &'a mut [u8],
    /// Bytes of a row.
    bytes: usize,
    /// Bytes of it that body and tail change; the tag follows.
    held: usize,
}

impl<'a, M: Mode> LaneMessages<'a, M> {
    pub(crate) fn new() -> LaneMessages<'a, M> {
        LaneMessages {
            busy: 0,
            is_even: false,
            number: [0; MAX_LANES],
            material: [None; MAX_LANES],
            facts: [Facts::default(); MAX_LANES],
            units: [0; MAX_LANES],
            texts: LaneTexts {
                text: std::array::from_fn(|_| <&mut [u8]>::default()),
                tag: std::array::from_fn(|_| <&mut [u8]>::default()),
                rows: None,
                all: [0; MAX_LANES],
                mode: PhantomData,
            },
            spare: [0; SPARE_BYTES],
        }
    }

    /// Returns true if no lane has a message.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.busy == 0
    }

    /// Gives a lane its next message.
    #[inline(always)]
    pub(crate) fn put(&mut self, lane: usize, number: usize, job: Job<'a, M>) {
        self.number[lane] = number;
        self.material[lane] = Some(job.material);
        self.facts[lane] = job.facts;
        self.units[lane] = 0;
        let texts = &mut self.texts;
        texts.all[lane] = units_of::<M>(job.text.len());
        (texts.text[lane], texts.tag[lane]) = (job.text, job.tag);
    }

    #[inline(always)]
    pub(crate) fn group(&self, set: u32) -> Group<'_> {
        Group {
            facts: &self.facts,
            set,
            is_even: self.is_even,
        }
    }

    /// Returns true if messages in all of so many lanes have equal lengths.
    #[inline(always)]
    pub(crate) fn has_equal_lengths(&self, lanes: usize) -> bool {
        if self.texts.rows.is_some() {
            return true;
        }
        let lengths = |facts: &Facts<'_>| (facts.text, facts.nonce.len(), facts.ad.len());
        let first = lengths(&self.facts[0]);
        let mut others = self.facts[1..lanes].iter();
        others.all(|facts| lengths(facts) == first)
    }

    /// Gives every lane a row of `held` bytes that body and tail change, and a tag behind them; all
    /// `facts` have equal lengths.
    #[inline(always)]
    pub(crate) fn put_rows(
        &mut self,
        lanes: usize,
        first: usize,
        material: &'a KeyMaterial<M>,
        buffers: &'a mut [u8],
        held: usize,
        facts: impl Fn(usize) -> Facts<'a>,
    ) {
        for lane in 0..lanes {
            self.number[lane] = first + lane;
            self.facts[lane] = facts(lane);
        }
        self.material.fill(Some(material));
        self.units.fill(0);
        self.texts.all.fill(units_of::<M>(held));
        let bytes = buffers.len() / lanes;
        self.texts.rows = Some(Rows {
            buffers,
            bytes,
            held,
        });
    }
}

impl<M: Mode> LaneTexts<'_, M> {
    /// Forgets rows, which have ended together.
    #[inline(always)]
    pub(crate) fn end_rows(&mut self) {
        self.rows = None;
    }

    /// The rest of a lane's text behind its units, and its tag.
    #[inline(always)]
    pub(crate) fn tail(&mut self, lane: usize) -> (&mut [u8], &mut [u8]) {
        let (text, tag) = match &mut self.rows {
            Some(rows) => {
                let row = &mut rows.buffers[rows.bytes * lane..][..rows.bytes];
                row.split_at_mut(rows.held)
            }
            None => (&mut *self.text[lane], &mut *self.tag[lane]),
        };
        (&mut text[bytes_of::<M>(self.all[lane])..], tag)
    }

    /// Returns true if texts end with their units, in all lanes of messages of equal lengths.
    #[inline(always)]
    pub(crate) fn is_whole(&self) -> bool {
        let text = match &self.rows {
            Some(rows) => rows.held,
            None => self.text[0].len(),
        };
        text == bytes_of::<M>(self.all[0])
    }

    /// The units of the lanes of a set behind those that are done, at most `units` each. The other
    /// lanes have the spare memory.
    #[inline(always)]
    pub(crate) fn streams<'s>(
        &'s mut self,
        lanes: usize,
        set: u32,
        done: &[u64],
        units: u64,
        is_even: bool,
        spare: &'s mut Spare,
    ) -> Streams<'s> {
        let bytes = bytes_of::<M>(units);
        if let Some(rows) = &mut self.rows {
            return Streams::in_stride(rows.buffers, rows.bytes, M::UNIT, units as usize);
        }
        let texts = self.text[..lanes].iter_mut();
        if is_even {
            let texts = texts.map(|text| &mut text[..bytes]);
            return Streams::interleave(texts, M::UNIT, units as usize);
        }
        let texts = texts.enumerate().map(|(lane, text)| {
            let from = bytes_of::<M>(done[lane]);
            let whole = set >> lane & 1 == 1;
            whole.then(|| &mut text[from..from + bytes])
        });
        Streams::new(texts, M::UNIT, spare)
    }
}

/// Returns the number of units that a text of so many bytes has.
#[inline(always)]
fn units_of<M: Mode>(text: usize) -> u64 {
    ((text - M::rest(text)) / (16 * M::UNIT)) as u64
}

/// Returns the bytes of so many units.
#[inline(always)]
fn bytes_of<M: Mode>(units: u64) -> usize {
    units as usize * 16 * M::UNIT
}
