//! Counters of transferred bytes, by step and by peer.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Bytes in each direction, from one party's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Traffic {
    /// Bytes that this party sent.
    pub sent: u64,
    /// Bytes that this party received.
    pub received: u64,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.sent += other.sent;
        self.received += other.received;
    }
}

impl Traffic {
    /// Returns whether nothing has crossed.
    fn is_none(&self) -> bool {
        *self == Traffic::default()
    }
}

/// All counters of one party. Arrays have one element per party; a party's own element stays zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counters {
    /// Payload bytes of each step in which any crossed, by peer.
    pub payload_by_step: BTreeMap<u32, Vec<Traffic>>,
    /// Payload bytes of the whole run, by peer.
    pub payload: Vec<Traffic>,
    /// Messages (the bytes between two flushes) of the whole run, by peer. A received message
    /// counts when its last byte is consumed.
    pub messages: Vec<Traffic>,
    /// Bytes on the wire since the parties met, with framing and encryption, by peer. Unlike
    /// payload, these depend on timing: heartbeats are among them.
    pub wire: Vec<Traffic>,
}

/// Counts payload bytes by step. The current step is kept apart, so that counting is one addition.
pub(crate) struct Ledger {
    step: u32,
    current: Vec<Traffic>,
    closed: BTreeMap<u32, Vec<Traffic>>,
    /// Steps of what was sent to each peer, in order, each with the bytes up to its end: on request
    /// alone, since they grow with the run.
    pub(crate) spans: Option<Vec<Vec<(u32, u64)>>>,
}

impl Ledger {
    pub(crate) fn new(parties: usize) -> Ledger {
        Ledger {
            step: 0,
            current: vec![Traffic::default(); parties],
            closed: BTreeMap::new(),
            spans: None,
        }
    }

    /// Counts the bytes that follow to `step`.
    pub(crate) fn at_step(&mut self, step: u32) {
        if step != self.step {
            self.close();
            self.step = step;
        }
    }

    pub(crate) fn sent(&mut self, peer: usize, bytes: usize) {
        self.current[peer].sent += bytes as u64;
        if let Some(spans) = &mut self.spans {
            let spans = &mut spans[peer];
            let end = spans.last().map_or(0, |(_, end)| *end) + bytes as u64;
            spans.pop_if(|(step, _)| *step == self.step);
            spans.push((self.step, end));
        }
    }

    pub(crate) fn received(&mut self, peer: usize, bytes: usize) {
        self.current[peer].received += bytes as u64;
    }

    pub(crate) fn kept_steps(&self) -> Vec<Vec<(u32, u64)>> {
        let mut spans = self.spans.clone().unwrap_or_default();
        for spans in &mut spans {
            spans.push((self.step, u64::MAX));
        }
        spans
    }

    /// Returns the counts so far, without steps that transferred nothing.
    pub(crate) fn by_step(&mut self) -> BTreeMap<u32, Vec<Traffic>> {
        self.close();
        self.closed.clone()
    }

    fn close(&mut self) {
        if self.current.iter().all(Traffic::is_none) {
            return;
        }
        let none = || vec![Traffic::default(); self.current.len()];
        let books = self.closed.entry(self.step).or_insert_with(none);
        for (total, new) in books.iter_mut().zip(&mut self.current) {
            *total += std::mem::take(new);
        }
    }
}
