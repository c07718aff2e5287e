//! The batches of a CPU as a machine of the list scheduler.
//!
//! A cycle of [`Lanes`] is a batch: any number of free nodes, whose results can be read at once,
//! then at most as many costly ones as there are lanes, whose results can be read in the next
//! cycle. A node is taken only within a window behind the oldest costly node that has not run. So
//! the list scheduler that orders gates for pipelines makes the batches of [`Order::Window`] as
//! well, when it takes the oldest node first. [`schedule`](crate::schedule()) computes these
//! batches without its heaps, since the free nodes of a batch need no order; a test compares both.
//!
//! [`Order::Window`]: crate::Order::Window

use crate::graph::Graph;
use crate::pipeline::Pipeline;

/// A CPU that runs batches, before a batch.
#[derive(Clone)]
pub struct Lanes<'a> {
    graph: &'a Graph,
    lanes: u32,
    window: u32,
    /// All costly nodes, in written order.
    costly: Vec<u32>,
    /// The batch from which each node can be read.
    readable: Vec<u32>,
    /// Costly nodes before this one, in written order, have run in earlier batches.
    oldest: usize,
    batch: u32,
    /// Costly nodes of this batch.
    taken: u32,
}

/// A node that has not run.
const NEVER: u32 = u32::MAX;

impl<'a> Lanes<'a> {
    /// A CPU with so many lanes, before the first batch. Of lanes and window at least 1 is used.
    pub fn new(graph: &'a Graph, lanes: u32, window: u32) -> Lanes<'a> {
        let mut readable = vec![NEVER; graph.len() as usize];
        readable[..graph.sources() as usize].fill(0);
        Lanes {
            graph,
            lanes: lanes.max(1),
            window: window.max(1),
            costly: graph.nodes().filter(|&n| graph.is_costly(n)).collect(),
            readable,
            oldest: 0,
            batch: 0,
            taken: 0,
        }
    }
}

impl Pipeline for Lanes<'_> {
    /// Free nodes and costly ones.
    const CLASSES: usize = 2;
    const LEANINGS: &'static [(i32, i32)] = &[(0, 0), (0, 0)];

    fn width(&self) -> usize {
        usize::MAX
    }

    fn class(&self, node: u32) -> usize {
        self.graph.is_costly(node).into()
    }

    fn latency(&self, node: u32) -> u32 {
        self.graph.is_costly(node).into()
    }

    fn ready(&self, node: u32) -> u32 {
        let needs = self.graph.needs(node).iter();
        let readable = needs.map(|&needed| self.readable[needed as usize]);
        readable.max().unwrap_or(0)
    }

    fn situation(&self, class: usize) -> Option<usize> {
        (class == 0 || self.taken < self.lanes).then_some(class)
    }

    fn accepts(&mut self, node: u32) -> bool {
        let horizon = self.costly.get(self.oldest + self.window as usize);
        horizon.is_none_or(|&horizon| node < horizon)
    }

    fn issue(&mut self, node: u32) {
        self.readable[node as usize] = self.batch + self.latency(node);
        self.taken += self.latency(node);
    }

    fn step(&mut self) {
        let ran = |node: &u32| self.readable[*node as usize] != NEVER;
        let rest = self.costly[self.oldest..].iter();
        self.oldest += rest.take_while(|&node| ran(node)).count();
        self.taken = 0;
        self.batch += 1;
    }
}
