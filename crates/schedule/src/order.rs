//! Orders: the assignment of nodes to batches.
//!
//! Every order is a function from nodes to batch numbers that respects two rules: a node is never
//! in an earlier batch than what it needs, and strictly later than the costly nodes it needs.
//! Sorting nodes into batches is common code.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::graph::{Graph, Users};

/// The rule by which nodes may leave the order in which they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Written order, one costly node at a time: the reference, without batches.
    None,
    /// Written order, with a queue of costly nodes (the paper's dynamic batching): a batch ends
    /// where it is full, or where the next node needs it and the queue is run early.
    Queue {
        /// True if only costly nodes end a batch: free nodes that need it wait behind it.
        over_free: bool,
    },
    /// As soon as possible, by costly depth (the paper's static batching by layers): the fewest
    /// batches, and the largest live set.
    Levels,
    /// The oldest ready nodes first, never further ahead of the oldest unfinished costly node
    /// than `window` costly nodes.
    Window {
        /// Distance in costly nodes; at least 1 is used.
        window: u32,
    },
}

/// The capacity of a machine: how many costly nodes it runs at once, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// Largest number of costly nodes in a batch; at least 1 is used.
    pub lanes: u32,
    /// The order that it runs.
    pub order: Order,
}

impl Machine {
    /// A CPU that runs one instance of a circuit. Eight vectors in flight fill its AES pipes, that
    /// is four garbled or eight evaluated ANDs of two blocks; batches of up to 16 keep them full
    /// across the ends of batches. The window spans eight S-boxes of AES or two rounds of SHA-256:
    /// wide enough to fill batches of circuits with short chains, narrow enough that a live set
    /// grows by a few kilobytes only.
    pub const CPU: Machine = Machine {
        lanes: 16,
        order: Order::Window { window: 256 },
    };

    /// A machine that runs the same circuit on many rows: rows fill the lanes, so the live set may
    /// be as small as that of the written order.
    pub const ROWS: Machine = Machine {
        lanes: 4,
        order: Order::Window { window: 4 },
    };

    /// Rounds of an interactive protocol: every node that does not wait for another goes into the
    /// same round.
    pub const ROUNDS: Machine = Machine {
        lanes: u32::MAX,
        order: Order::Levels,
    };
}

/// Free nodes that run in order, then costly nodes that do not depend on each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    /// Indices into [`Schedule::free`].
    pub free: Range<u32>,
    /// Indices into [`Schedule::costly`].
    pub costly: Range<u32>,
}

/// An order of all nodes of a graph but its sources, cut into batches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// All free nodes, in the order in which they run.
    pub free: Vec<u32>,
    /// All costly nodes, in the order in which batches name them.
    pub costly: Vec<u32>,
    /// The batches, in order. Only the last may lack costly nodes.
    pub batches: Vec<Batch>,
}

impl Schedule {
    /// Returns the free nodes of `batch`, in the order in which they run.
    pub fn free_of(&self, batch: &Batch) -> &[u32] {
        &self.free[batch.free.start as usize..batch.free.end as usize]
    }

    /// Returns the costly nodes of `batch`; they are independent of each other.
    pub fn costly_of(&self, batch: &Batch) -> &[u32] {
        &self.costly[batch.costly.start as usize..batch.costly.end as usize]
    }
}

/// Orders `graph` for `machine`. The result is a function of the arguments alone.
pub fn schedule(graph: &Graph, machine: &Machine) -> Schedule {
    let lanes = machine.lanes.max(1);
    match machine.order {
        Order::None => collect(graph, &as_written(graph, 1, false)),
        Order::Queue { over_free } => collect(graph, &as_written(graph, lanes, over_free)),
        Order::Levels => collect(graph, &by_levels(graph, lanes)),
        Order::Window { window } => {
            let window = window.max(1);
            let mut schedule = collect(graph, &in_window(graph, lanes, window));
            widen(graph, &mut schedule, window.saturating_mul(4));
            schedule
        }
    }
}

/// Returns the first batch in which `node` can run, where `batch` numbers the nodes that it needs.
fn earliest(graph: &Graph, batch: &[u32], node: u32) -> u32 {
    let after = |&n: &u32| batch[n as usize] + u32::from(graph.is_costly(n));
    graph.needs(node).iter().map(after).max().unwrap_or(0)
}

fn as_written(graph: &Graph, lanes: u32, over_free: bool) -> Vec<u32> {
    let mut batch = vec![0; graph.len() as usize];
    let (mut current, mut used) = (0, 0);
    for node in graph.nodes() {
        let needed = earliest(graph, &batch, node);
        if !graph.is_costly(node) && over_free {
            // The node runs at the latest in the batch right behind the queue.
            batch[node as usize] = needed;
            continue;
        }
        let full = graph.is_costly(node) && used == lanes;
        if full || needed > current {
            (current, used) = (current + 1, 0);
        }
        batch[node as usize] = current;
        used += u32::from(graph.is_costly(node));
    }
    batch
}

fn by_levels(graph: &Graph, lanes: u32) -> Vec<u32> {
    let mut level = vec![0; graph.len() as usize];
    let mut costly_in = vec![0u32];
    for node in graph.nodes() {
        let l = earliest(graph, &level, node);
        level[node as usize] = l;
        costly_in.resize(costly_in.len().max(l as usize + 1), 0);
        costly_in[l as usize] += u32::from(graph.is_costly(node));
    }
    // A level with more costly nodes than lanes becomes several batches; its free nodes go to the
    // first of them.
    let mut first = vec![0; costly_in.len()];
    for l in 1..first.len() {
        first[l] = first[l - 1] + costly_in[l - 1].div_ceil(lanes);
    }
    let mut seen = vec![0; costly_in.len()];
    for node in graph.nodes() {
        let l = level[node as usize] as usize;
        level[node as usize] = first[l];
        if graph.is_costly(node) {
            level[node as usize] += seen[l] / lanes;
            seen[l] += 1;
        }
    }
    level
}

/// A list schedule over a sliding window. Free nodes run as soon as they are ready *and* inside
/// the window: earlier, they would only lengthen the life of their results.
fn in_window(graph: &Graph, lanes: u32, window: u32) -> Vec<u32> {
    let costly: Vec<u32> = graph.nodes().filter(|&n| graph.is_costly(n)).collect();
    let mut sweep = Sweep::new(graph);
    let mut done = vec![false; graph.len() as usize];
    let mut oldest = 0;
    let mut taken = Vec::new();
    for current in 0.. {
        let horizon = costly
            .get(oldest + window as usize)
            .copied()
            .unwrap_or(graph.len());
        sweep.admit(horizon, current);
        taken.extend(
            (0..lanes)
                .map_while(|_| sweep.ready.pop())
                .map(|Reverse(node)| node),
        );
        if taken.is_empty() {
            break;
        }
        // The oldest unfinished costly node only needs finished ones, so it is ready and taken, and
        // each turn makes progress.
        for node in taken.drain(..) {
            done[node as usize] = true;
            sweep.batch[node as usize] = current;
            sweep.release(node, current + 1);
        }
        while costly.get(oldest).is_some_and(|&node| done[node as usize]) {
            oldest += 1;
        }
    }
    sweep.batch
}

/// The state of [`in_window`].
struct Sweep<'a> {
    graph: &'a Graph,
    users: Users,
    /// For each node, the number of nodes that it needs and that have not run.
    missing: Vec<u32>,
    batch: Vec<u32>,
    /// Nodes before the horizon may run.
    horizon: u32,
    /// Costly nodes that could run now, oldest first.
    ready: BinaryHeap<Reverse<u32>>,
    stack: Vec<u32>,
}

impl<'a> Sweep<'a> {
    fn new(graph: &'a Graph) -> Sweep<'a> {
        let given = |&&n: &&u32| n >= graph.sources();
        let count = |node| graph.needs(node).iter().filter(given).count() as u32;
        Sweep {
            graph,
            users: Users::of(graph),
            missing: (0..graph.len()).map(count).collect(),
            batch: vec![0; graph.len() as usize],
            horizon: graph.sources(),
            ready: BinaryHeap::new(),
            stack: Vec::new(),
        }
    }

    /// Moves the horizon; nodes that were waiting only for it run in batch `current`.
    fn admit(&mut self, horizon: u32, current: u32) {
        let entering = self.horizon..horizon;
        self.horizon = horizon.max(self.horizon);
        for node in entering {
            // A node that became ready through an earlier one of this loop has run already.
            if self.missing[node as usize] == 0 && !self.graph.is_costly(node) {
                self.missing[node as usize] = u32::MAX;
                self.batch[node as usize] = current;
                self.release(node, current);
            } else if self.missing[node as usize] == 0 {
                self.missing[node as usize] = u32::MAX;
                self.ready.push(Reverse(node));
            }
        }
    }

    /// Marks `node` as run: its users, and the users of free nodes that run as a result, may become
    /// ready.
    fn release(&mut self, node: u32, current: u32) {
        self.stack.push(node);
        while let Some(node) = self.stack.pop() {
            for &user in self.users.get(node) {
                let missing = &mut self.missing[user as usize];
                *missing -= 1;
                if *missing > 0 || user >= self.horizon {
                    continue;
                }
                *missing = u32::MAX;
                if self.graph.is_costly(user) {
                    self.ready.push(Reverse(user));
                } else {
                    self.batch[user as usize] = current;
                    self.stack.push(user);
                }
            }
        }
    }
}

/// Sorts nodes into their batches; inside a batch they stay in written order.
fn collect(graph: &Graph, batch: &[u32]) -> Schedule {
    let count = graph
        .nodes()
        .map(|n| batch[n as usize] as usize + 1)
        .max()
        .unwrap_or(0);
    let mut free = vec![0; count + 1];
    let mut costly = vec![0; count + 1];
    for node in graph.nodes() {
        let ends = if graph.is_costly(node) {
            &mut costly
        } else {
            &mut free
        };
        ends[batch[node as usize] as usize + 1] += 1;
    }
    for b in 0..count {
        free[b + 1] += free[b];
        costly[b + 1] += costly[b];
    }
    let range = |ends: &[u32], b: usize| ends[b]..ends[b + 1];
    let mut schedule = Schedule {
        free: vec![0; free[count] as usize],
        costly: vec![0; costly[count] as usize],
        batches: (0..count)
            .map(|b| Batch {
                free: range(&free, b),
                costly: range(&costly, b),
            })
            .collect(),
    };
    for node in graph.nodes() {
        let (next, list) = if graph.is_costly(node) {
            (&mut costly, &mut schedule.costly)
        } else {
            (&mut free, &mut schedule.free)
        };
        let place = &mut next[batch[node as usize] as usize];
        list[*place as usize] = node;
        *place += 1;
    }
    schedule
}

/// Runs the free nodes of each batch breadth first, so that neighbours do not wait for each other.
/// `span` bounds how many are reordered at a time, and so how many results are live in between.
fn widen(graph: &Graph, schedule: &mut Schedule, span: u32) {
    let mut step = vec![0u32; graph.len() as usize];
    for batch in &schedule.batches {
        let run = &mut schedule.free[batch.free.start as usize..batch.free.end as usize];
        for part in run.chunks_mut(span as usize) {
            for &node in part.iter() {
                let before = graph.needs(node).iter().map(|&n| step[n as usize]).max();
                step[node as usize] = before.unwrap_or(0) + 1;
            }
            part.sort_by_key(|&node| step[node as usize]);
            // Steps are counted inside a part; results from before it are available already.
            for &node in part.iter() {
                step[node as usize] = 0;
            }
        }
    }
}
