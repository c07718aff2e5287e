//! Minimum of a sum of costs of binary choices, as a minimum cut.
//!
//! Each node takes one of two sides. A cost that is due where one node is on the first side and
//! another on the second is an edge, and the cheapest assignment a cut of least capacity (Picard
//! and Ratliff, "Minimum cuts and related problems", Networks 5, 1975). The flow is that of Dinic
//! (Soviet Mathematics Doklady 11, 1970): augmented along shortest paths, level by level.

use std::collections::VecDeque;

/// The node that is always on the first side.
pub(super) const FIRST: usize = 0;
/// The node that is always on the second side.
pub(super) const SECOND: usize = 1;

/// Units of capacity in a second: picoseconds, rounded down.
const UNITS: f64 = 1e12;
/// Capacity of what is forbidden.
const FORBIDDEN: u64 = u64::MAX / 4;

/// Costs of assignments of nodes to sides.
pub(super) struct Cut {
    /// Edges in pairs: one, and the one back.
    edges: Vec<Edge>,
    /// Edges that leave each node.
    leaving: Vec<Vec<usize>>,
    /// Cost of all assignments.
    constant: f64,
}

struct Edge {
    to: usize,
    left: u64,
}

impl Cut {
    /// So many nodes, those of the two sides among them.
    pub fn new(nodes: usize) -> Cut {
        Cut {
            edges: Vec::new(),
            leaving: vec![Vec::new(); nodes.max(2)],
            constant: 0.0,
        }
    }

    /// Adds a node.
    pub fn node(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.leaving.len() - 1
    }

    /// Adds a cost of a node on each side; they may be negative.
    pub fn either(&mut self, node: usize, [first, second]: [f64; 2]) {
        let least = first.min(second);
        self.constant += least;
        self.edge(node, SECOND, capacity(first - least));
        self.edge(FIRST, node, capacity(second - least));
    }

    /// Adds a cost that is due if the node `from` is on a side, and any of `others` on the other
    /// one.
    pub fn apart(&mut self, side: usize, from: usize, others: &[usize], cost: f64) {
        let cost = capacity(cost);
        let both = |cut: &mut Cut, one, other, cost| match side {
            FIRST => cut.edge(one, other, cost),
            _ => cut.edge(other, one, cost),
        };
        match others {
            _ if cost == 0 => {}
            [other] => both(self, from, *other, cost),
            _ => {
                let any = self.node();
                both(self, from, any, cost);
                others
                    .iter()
                    .for_each(|other| both(self, any, *other, FORBIDDEN));
            }
        }
    }

    fn edge(&mut self, from: usize, to: usize, left: u64) {
        if left == 0 || from == to {
            return;
        }
        for (from, to, left) in [(from, to, left), (to, from, 0)] {
            self.leaving[from].push(self.edges.len());
            self.edges.push(Edge { to, left });
        }
    }

    /// The least cost of an assignment, rounded down, and for each node whether one of that cost
    /// has it on the second side.
    pub fn least(mut self) -> (f64, Vec<bool>) {
        let mut flow = 0u64;
        loop {
            let levels = self.levels();
            if levels[SECOND] == usize::MAX {
                let second = levels.iter().map(|level| *level == usize::MAX);
                return (self.constant + flow as f64 / UNITS, second.collect());
            }
            let mut next = vec![0; self.leaving.len()];
            loop {
                let more = self.augment(&levels, &mut next);
                if more == 0 {
                    break;
                }
                flow += more;
            }
        }
    }

    /// Edges from the first side to each node with capacity left, on a shortest path.
    fn levels(&self) -> Vec<usize> {
        let mut levels = vec![usize::MAX; self.leaving.len()];
        levels[FIRST] = 0;
        let mut queue = VecDeque::from([FIRST]);
        while let Some(node) = queue.pop_front() {
            for edge in self.leaving[node].iter().map(|edge| &self.edges[*edge]) {
                if edge.left > 0 && levels[edge.to] == usize::MAX {
                    levels[edge.to] = levels[node] + 1;
                    queue.push_back(edge.to);
                }
            }
        }
        levels
    }

    /// Sends as much as fits along one path that rises level by level; `next` is the first edge of
    /// each node that may still lead on.
    fn augment(&mut self, levels: &[usize], next: &mut [usize]) -> u64 {
        let (mut path, mut node) = (Vec::<usize>::new(), FIRST);
        while node != SECOND {
            let Some(edge) = self.leaving[node].get(next[node]).copied() else {
                // Nothing leads on from here: back, and past the edge that led here.
                let Some(last) = path.pop() else { return 0 };
                node = self.edges[last ^ 1].to;
                next[node] += 1;
                continue;
            };
            let to = self.edges[edge].to;
            if self.edges[edge].left > 0 && levels[to] == levels[node] + 1 {
                path.push(edge);
                node = to;
            } else {
                next[node] += 1;
            }
        }
        let least = path.iter().map(|edge| self.edges[*edge].left).min();
        let least = least.unwrap_or(0);
        for edge in path {
            self.edges[edge].left -= least;
            self.edges[edge ^ 1].left += least;
        }
        least
    }
}

fn capacity(seconds: f64) -> u64 {
    ((seconds * UNITS) as u64).min(FORBIDDEN / 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Figure 26.1 of Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", third
    /// edition: the trucks of Vancouver and Winnipeg, of which 23 a day go through.
    #[test]
    fn the_least_cut_of_a_textbook() {
        let mut cut = Cut::new(6);
        let edges = [
            (FIRST, 2, 16.0),
            (FIRST, 3, 13.0),
            (2, 4, 12.0),
            (3, 2, 4.0),
            (4, 3, 9.0),
            (3, 5, 14.0),
            (5, 4, 7.0),
            (4, SECOND, 20.0),
            (5, SECOND, 4.0),
        ];
        for (from, to, cost) in edges {
            cut.apart(FIRST, from, &[to], cost);
        }
        let (least, second) = cut.least();
        assert_eq!(least, 23.0);
        assert_eq!(second, [false, true, false, false, true, false]);
    }

    #[derive(Clone, Debug)]
    enum Cost {
        Either(usize, [f64; 2]),
        Apart(usize, usize, Vec<usize>, f64),
    }

    const NODES: usize = 9;

    fn costs() -> impl Strategy<Value = Vec<Cost>> {
        let number = || (0..50i32).prop_map(f64::from);
        let node = || 0..NODES;
        let either = (node(), number(), number())
            .prop_map(|(node, one, other)| Cost::Either(node, [one - 20.0, other - 20.0]));
        let others = prop::collection::vec(node(), 1..4);
        let apart = (0..2usize, node(), others, number())
            .prop_map(|(side, from, others, cost)| Cost::Apart(side, from, others, cost));
        prop::collection::vec(prop_oneof![either, apart], 1..30)
    }

    fn cost(costs: &[Cost], second: &[bool]) -> f64 {
        let of = |cost: &Cost| match cost {
            Cost::Either(node, of) => of[usize::from(second[*node])],
            Cost::Apart(side, from, others, cost) => {
                let side = *side == SECOND;
                let due = second[*from] == side && others.iter().any(|of| second[*of] != side);
                if due { *cost } else { 0.0 }
            }
        };
        costs.iter().map(of).sum()
    }

    proptest! {
        /// Of all assignments none costs less, and the one that is returned costs as much.
        #[test]
        fn no_assignment_costs_less(costs in costs()) {
            let mut cut = Cut::new(NODES);
            for of in &costs {
                match of {
                    Cost::Either(node, of) => cut.either(*node, *of),
                    Cost::Apart(side, from, others, cost) => cut.apart(*side, *from, others, *cost),
                }
            }
            let (found, second) = cut.least();
            let all = (0..1u32 << (NODES - 2)).map(|bits| {
                let free = (0..NODES - 2).map(|at| bits >> at & 1 == 1);
                [false, true].into_iter().chain(free).collect::<Vec<_>>()
            });
            let least = all.map(|second| cost(&costs, &second)).fold(f64::MAX, f64::min);
            prop_assert!((found - least).abs() < 1e-6, "{found} in place of {least}");
            prop_assert!((cost(&costs, &second) - least).abs() < 1e-6);
        }
    }
}
