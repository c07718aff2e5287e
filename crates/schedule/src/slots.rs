//! Register allocation for values: a short array whose entries are reused after the last use.

use crate::graph::Graph;
use crate::order::Schedule;

/// The slot of each node's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slots {
    /// The slot of each node, sources included.
    pub of: Vec<u32>,
    /// Number of slots.
    pub count: u32,
}

/// Assigns each node a slot under `schedule`. Source i starts in slot i; nodes in `keep` hold their
/// slots to the end.
///
/// A free node may take the slot of a value that it is the last to use. A costly node may take the
/// slot of a value that the free nodes of its batch were the last to use, but neither a slot that a
/// costly node of its batch reads nor one that another writes: those run in any order. The slot
/// freed last is taken first, since it is still in cache.
pub fn slots(graph: &Graph, schedule: &Schedule, keep: &[u32]) -> Slots {
    let mut pool = Pool::new(graph, keep);
    for batch in &schedule.batches {
        for &node in schedule.free_of(batch) {
            graph.needs(node).iter().for_each(|&n| pool.used(n));
            pool.place(node);
            pool.drop_if_unused(node);
        }
        let costly = schedule.costly_of(batch);
        costly.iter().for_each(|&node| pool.place(node));
        for &node in costly {
            graph.needs(node).iter().for_each(|&n| pool.used(n));
            pool.drop_if_unused(node);
        }
    }
    Slots {
        of: pool.of,
        count: pool.count,
    }
}

struct Pool {
    of: Vec<u32>,
    count: u32,
    /// Uses of each node that are still to come.
    uses: Vec<u32>,
    unused: Vec<u32>,
}

impl Pool {
    fn new(graph: &Graph, keep: &[u32]) -> Pool {
        let mut uses = vec![0; graph.len() as usize];
        let needs = graph.nodes().flat_map(|node| graph.needs(node));
        needs.chain(keep).for_each(|&n| uses[n as usize] += 1);
        let sources = graph.sources();
        let mut of = vec![0; graph.len() as usize];
        (0..sources).for_each(|s| of[s as usize] = s);
        let unused = (0..sources).rev().filter(|&s| uses[s as usize] == 0);
        let (unused, count) = (unused.collect(), sources);
        Pool {
            of,
            count,
            uses,
            unused,
        }
    }

    fn place(&mut self, node: u32) {
        self.of[node as usize] = self.unused.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
    }

    fn used(&mut self, node: u32) {
        self.uses[node as usize] -= 1;
        self.drop_if_unused(node);
    }

    fn drop_if_unused(&mut self, node: u32) {
        if self.uses[node as usize] == 0 {
            self.unused.push(self.of[node as usize]);
        }
    }
}
