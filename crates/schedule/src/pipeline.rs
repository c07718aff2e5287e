//! List scheduling inside the model of a machine.
//!
//! [`Pipeline`] is the model: when a node could be issued, which kinds of nodes and which of them
//! the machine takes in this cycle, and what happens when one is issued. [`in_order`] runs a given
//! order through it, as hardware does that issues in order; [`list`] chooses again and again the
//! node of the highest rank among those that are ready and that the machine takes, until it takes
//! no more in this cycle. So the order that comes out is exact for the machine: no second model
//! exists that could differ from it.
//!
//! Ranks come from a [`Priority`], the last of which tries many ranks and keeps the best order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{Graph, Users};
use crate::search::{Effort, search};

/// A machine that issues nodes in cycles, in a state that [`issue`](Pipeline::issue) and
/// [`step`](Pipeline::step) move.
///
/// A value begins before cycle 0. Nodes are those of the [`Graph`] that is scheduled.
pub trait Pipeline: Clone {
    /// Number of classes of nodes between which the machine distinguishes.
    const CLASSES: usize;
    /// For each situation of [`situation`](Pipeline::situation), the least and the largest number
    /// of cycles by which a search may raise the rank of a node that is issued in it.
    const LEANINGS: &'static [(i32, i32)];

    /// Returns the most nodes that one cycle issues.
    fn width(&self) -> usize {
        1
    }

    /// Returns the nodes of a class that one cycle issues at most, if the machine has units for
    /// each class: a search then tries to justify what it finds.
    fn units(&self, _class: usize) -> Option<u32> {
        None
    }

    /// Returns the class of a node, below [`CLASSES`](Pipeline::CLASSES).
    fn class(&self, node: u32) -> usize;

    /// Returns the cycles from the issue of a node to the first in which a node that needs it can
    /// be issued, if nothing is in the way.
    fn latency(&self, node: u32) -> u32;

    /// Returns the first cycle in which everything that a node needs can be read. All nodes that it
    /// needs have been issued. The cycle may move while the machine runs, but a node that was ready
    /// in a cycle is ready in all later ones.
    fn ready(&self, node: u32) -> u32;

    /// Returns the situation in which a node of this class would be issued now, an index into
    /// [`LEANINGS`](Pipeline::LEANINGS), or nothing if the machine does not take such a node in
    /// this cycle.
    fn situation(&self, class: usize) -> Option<usize>;

    /// Returns true if the machine takes this very node now, whose class has a
    /// [`situation`](Pipeline::situation) and which is ready.
    fn accepts(&mut self, _node: u32) -> bool {
        true
    }

    /// Issues a node in this cycle. The machine takes it: it has been asked.
    fn issue(&mut self, node: u32);

    /// Ends the cycle.
    fn step(&mut self);
}

/// A node and its cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Issue {
    /// The node.
    pub node: u32,
    /// The cycle in which it is issued, from 0.
    pub cycle: u32,
    /// The first cycle in which everything that it needs could be read; from [`in_order`] the first
    /// such cycle in which it was also the next node, so that the machine did not take it in the
    /// cycles from here to `cycle`.
    pub ready: u32,
}

/// The rule by which [`prioritised`] ranks nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Priority {
    /// The latency of a node and those of the nodes that need it directly, added up: the weighted
    /// fan-out of the FASE paper (section V-A; Hussain and Koushanfar, FCCM 2019), where a latency
    /// is 1 or the number of stages.
    WeightedFanout,
    /// The longest path from the node to the end, the node included.
    BLevel,
    /// The latest cycle that keeps the critical path, earliest first.
    Alap,
    /// The longest path from the beginning to the node, shortest first.
    TLevel,
    /// The node that was written first.
    Written,
    /// The best of many orders, by b-level and changes of it.
    Search(Effort),
}

/// Units of a rank in a cycle of the machine, so that noise may be finer than a cycle.
pub(crate) const RANK: i32 = 16;

/// Issues nodes in the order given, each as soon as the machine takes it.
///
/// # Panics
/// If a node stands before one that it needs, which no machine can issue.
pub fn in_order<P: Pipeline>(mut machine: P, order: impl IntoIterator<Item = u32>) -> Vec<Issue> {
    let width = machine.width().max(1);
    // Nodes that have been issued in this cycle.
    let (mut cycle, mut issued) = (0, 0);
    let mut issues = Vec::new();
    for node in order {
        let mut first = None;
        loop {
            // A delay may reach a node only before it is ready.
            let ready = machine.ready(node);
            let may_be = issued > 0 || ready != u32::MAX;
            assert!(may_be, "node {node} stands before one that it needs");
            if ready <= cycle && issued < width {
                first.get_or_insert(cycle);
                let takes = machine.situation(machine.class(node)).is_some();
                if takes && machine.accepts(node) {
                    machine.issue(node);
                    issued += 1;
                    break;
                }
            }
            machine.step();
            (cycle, issued) = (cycle + 1, 0);
        }
        let ready = first.unwrap_or(cycle);
        issues.push(Issue { node, cycle, ready });
    }
    issues
}

/// Orders `graph` for `machine` by `priority`. The result is a function of the arguments alone.
/// Nodes of a cycle stand in the order in which they were issued.
pub fn prioritised<P: Pipeline>(graph: &Graph, machine: &P, priority: Priority) -> Vec<Issue> {
    let levels = Levels::of(graph, |node| machine.latency(node) as i32 * RANK);
    let ranks = match priority {
        Priority::Search(effort) => return search(graph, machine, effort),
        Priority::WeightedFanout => weighted_fanout(graph, machine),
        Priority::BLevel => levels.bottom,
        Priority::Alap => {
            let critical = levels.bottom.iter().max().copied().unwrap_or(0);
            let latest = levels.bottom.iter().map(|&bottom| critical - bottom);
            latest.map(|latest| -latest).collect()
        }
        Priority::TLevel => levels.top.iter().map(|&top| -top).collect(),
        Priority::Written => (0..graph.len())
            .map(|node| -i64::from(node) as i32)
            .collect(),
    };
    let users = Users::of(graph);
    let tuning = Tuning::plain::<P>(&ranks);
    let list = list(graph, &users, machine.clone(), &tuning, u32::MAX);
    list.expect("no limit was set")
}

fn weighted_fanout<P: Pipeline>(graph: &Graph, machine: &P) -> Vec<i32> {
    let users = Users::of(graph);
    let weight = |node: u32| machine.latency(node) as i32 * RANK;
    let mut ranks = vec![0; graph.len() as usize];
    for node in graph.nodes() {
        let fanout: i32 = users.get(node).iter().map(|&user| weight(user)).sum();
        ranks[node as usize] = weight(node) + fanout;
    }
    ranks
}

/// Longest paths in a graph, whose nodes have lengths.
pub(crate) struct Levels {
    /// From each node to the end, its own length included; 0 for sources.
    pub bottom: Vec<i32>,
    /// From the beginning to each node, without its own length.
    pub top: Vec<i32>,
}

impl Levels {
    pub(crate) fn of(graph: &Graph, length: impl Fn(u32) -> i32) -> Levels {
        let mut bottom = vec![0; graph.len() as usize];
        let mut top = vec![0; graph.len() as usize];
        for node in graph.nodes() {
            for &needed in graph.needs(node) {
                if needed >= graph.sources() {
                    let end = top[needed as usize] + length(needed);
                    top[node as usize] = end.max(top[node as usize]);
                }
            }
        }
        for node in graph.nodes().rev() {
            bottom[node as usize] += length(node);
            for &needed in graph.needs(node) {
                if needed >= graph.sources() {
                    let below = bottom[node as usize];
                    bottom[needed as usize] = below.max(bottom[needed as usize]);
                }
            }
        }
        Levels { bottom, top }
    }
}

/// The choices of one list schedule.
pub(crate) struct Tuning<'a> {
    /// The rank of each node: higher ones are issued first.
    pub ranks: &'a [i32],
    /// For each situation of the machine, an addition to the rank.
    pub bonus: &'a [i32],
    /// For each situation, true if a node waits for another one when it has time: it is issued only
    /// if its rank is above `horizon` less the current cycle.
    pub hold: &'a [bool],
    /// The sum of rank and cycle, both in units of [`RANK`], above which no node is held.
    pub horizon: i32,
}

impl<'a> Tuning<'a> {
    fn plain<P: Pipeline>(ranks: &'a [i32]) -> Tuning<'a> {
        // One array of zeros for machines of any number of situations that are modelled.
        const BONUS: [i32; MOST_SITUATIONS] = [0; MOST_SITUATIONS];
        const HOLD: [bool; MOST_SITUATIONS] = [false; MOST_SITUATIONS];
        Tuning {
            ranks,
            bonus: &BONUS[..P::LEANINGS.len()],
            hold: &HOLD[..P::LEANINGS.len()],
            horizon: 0,
        }
    }
}

/// Most situations that a machine may distinguish.
const MOST_SITUATIONS: usize = 64;

/// Nodes that a machine refuses in a cycle, although it takes others of their class, before the
/// class is given up for this cycle.
const MOST_REFUSED: usize = 24;

/// Issues in each cycle ready nodes that the machine takes, those of the highest ranks first.
/// Returns nothing if the last node would be issued in cycle `limit` or later.
pub(crate) fn list<P: Pipeline>(
    graph: &Graph,
    users: &Users,
    mut machine: P,
    tuning: &Tuning,
    limit: u32,
) -> Option<Vec<Issue>> {
    let count = graph.nodes().len();
    let width = machine.width().max(1);
    let given = |&&needed: &&u32| needed >= graph.sources();
    let missing = |node| graph.needs(node).iter().filter(given).count() as u32;
    let mut missing: Vec<u32> = (0..graph.len()).map(missing).collect();
    // Nodes whose needs have all been issued, by the cycle from which they can be read.
    let mut waiting = BinaryHeap::with_capacity(count);
    for node in graph.nodes().filter(|&node| missing[node as usize] == 0) {
        waiting.push(Reverse((machine.ready(node), node)));
    }
    // Ready nodes of each class, by rank; of equal ranks the node written first.
    let mut ready: Vec<BinaryHeap<(i32, Reverse<u32>)>> = vec![BinaryHeap::new(); P::CLASSES];
    let mut refused: Vec<Vec<(i32, Reverse<u32>)>> = vec![Vec::new(); P::CLASSES];
    let mut ready_from = vec![0; graph.len() as usize];
    let mut issues = Vec::with_capacity(count);
    for cycle in 0.. {
        for _ in 0..width {
            while let Some(&Reverse((from, node))) = waiting.peek().filter(|w| w.0.0 <= cycle) {
                waiting.pop();
                // What it needs may have been delayed in the meantime.
                let now = machine.ready(node);
                if now > from && now > cycle {
                    waiting.push(Reverse((now, node)));
                    continue;
                }
                ready_from[node as usize] = now;
                ready[machine.class(node)].push((tuning.ranks[node as usize], Reverse(node)));
            }
            let issued = loop {
                let mut best = None;
                for (class, heap) in ready.iter().enumerate() {
                    let Some(&(rank, Reverse(node))) = heap.peek() else {
                        continue;
                    };
                    if refused[class].len() >= MOST_REFUSED {
                        continue;
                    }
                    let Some(situation) = machine.situation(class) else {
                        continue;
                    };
                    let urgent = rank + cycle as i32 * RANK > tuning.horizon;
                    let value = (rank + tuning.bonus[situation], Reverse(node));
                    let better = best.is_none_or(|(most, _)| value > most);
                    if (urgent || !tuning.hold[situation]) && better {
                        best = Some((value, class));
                    }
                }
                let Some((_, class)) = best else {
                    break None;
                };
                let entry = ready[class].pop().expect("the best node was seen here");
                let Reverse(node) = entry.1;
                if machine.accepts(node) {
                    break Some(node);
                }
                refused[class].push(entry);
            };
            let Some(node) = issued else {
                break;
            };
            machine.issue(node);
            let ready = ready_from[node as usize];
            issues.push(Issue { node, cycle, ready });
            for &user in users.get(node) {
                missing[user as usize] -= 1;
                if missing[user as usize] == 0 {
                    waiting.push(Reverse((machine.ready(user), user)));
                }
            }
        }
        for (heap, refused) in ready.iter_mut().zip(&mut refused) {
            heap.extend(refused.drain(..));
        }
        machine.step();
        if issues.len() == count {
            return Some(issues);
        }
        // As many nodes as possible in each cycle from here on, at best.
        if cycle as usize + (count - issues.len()).div_ceil(width) >= limit as usize {
            return None;
        }
    }
    None
}
