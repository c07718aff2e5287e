//! Directed acyclic graphs of work in compressed sparse rows.

use std::ops::Range;

/// The cost of a node: it takes a lane of the machine or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeCost {
    /// Runs at once, in order, beside others: an XOR gate, a step without messages.
    Free,
    /// Takes a lane and ends a batch: an AND gate, a step that waits for messages.
    Costly,
}

/// A graph of work. Nodes are numbered in the order in which they were written, which is
/// topological: a node only needs nodes with smaller numbers.
///
/// The first nodes are *sources*: values that exist before the first batch (inputs, constants).
#[derive(Clone, Debug, Default)]
pub struct Graph {
    sources: u32,
    /// `needs[starts[i]..starts[i + 1]]` belongs to the i-th node that is not a source.
    starts: Vec<u32>,
    needs: Vec<u32>,
    work: Vec<NodeCost>,
}

impl Graph {
    /// Creates a graph with `sources` sources and no other node.
    pub fn new(sources: u32) -> Graph {
        Graph {
            sources,
            starts: vec![0],
            needs: Vec::new(),
            work: Vec::new(),
        }
    }

    /// Appends a node that needs the nodes `needs`, and returns its number.
    ///
    /// # Panics
    /// If a needed node does not exist yet, or if nodes or edges no longer fit 32 bits.
    pub fn push(&mut self, work: NodeCost, needs: &[u32]) -> u32 {
        let node = self.len();
        assert!(node < u32::MAX, "a graph holds fewer than 2^32 nodes");
        let written = needs.iter().all(|&needed| needed < node);
        assert!(written, "a node needs one that is not written yet");
        self.needs.extend_from_slice(needs);
        let end = u32::try_from(self.needs.len()).expect("a graph holds fewer than 2^32 edges");
        self.starts.push(end);
        self.work.push(work);
        node
    }

    /// Returns the number of nodes, sources included.
    pub fn len(&self) -> u32 {
        self.sources + self.work.len() as u32
    }

    /// Returns true if there is no node, not even a source.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of sources; they are the nodes `0..sources`.
    pub fn sources(&self) -> u32 {
        self.sources
    }

    /// Returns the nodes that are not sources, in written order.
    pub fn nodes(&self) -> Range<u32> {
        self.sources..self.len()
    }

    /// Returns the nodes that `node` needs, in the order given to [`Graph::push`]; empty for a
    /// source.
    pub fn needs(&self, node: u32) -> &[u32] {
        match node.checked_sub(self.sources) {
            Some(i) => &self.needs[self.edges(i as usize)],
            None => &[],
        }
    }

    /// Returns true if `node` takes a lane; a source does not.
    pub fn is_costly(&self, node: u32) -> bool {
        node >= self.sources && self.work[(node - self.sources) as usize] == NodeCost::Costly
    }

    /// Computes, for each node, the number of costly nodes on the longest chain that ends with it,
    /// the node itself included.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.len() as usize];
        for node in self.nodes() {
            let before = self.needs(node).iter().map(|&n| depths[n as usize]).max();
            depths[node as usize] = before.unwrap_or(0) + u32::from(self.is_costly(node));
        }
        depths
    }

    fn edges(&self, i: usize) -> Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }
}

/// The reversed edges of a graph: the nodes that need a node.
pub(crate) struct Users {
    starts: Vec<u32>,
    users: Vec<u32>,
}

impl Users {
    pub(crate) fn of(graph: &Graph) -> Users {
        // A counting sort of the edges by the needed node: counts, running sums, then each edge
        // goes to the place before the last of its row.
        let mut starts = vec![0; graph.len() as usize + 1];
        for &needed in &graph.needs {
            starts[needed as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut users = vec![0; graph.needs.len()];
        for node in graph.nodes() {
            for &needed in graph.needs(node) {
                let place = &mut next[needed as usize];
                users[*place as usize] = node;
                *place += 1;
            }
        }
        Users { starts, users }
    }

    pub(crate) fn get(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.users[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_as_deep_as_its_costly_nodes() {
        let mut graph = Graph::new(1);
        let a = graph.push(NodeCost::Costly, &[0]);
        let b = graph.push(NodeCost::Free, &[a, 0]);
        let c = graph.push(NodeCost::Costly, &[b, b]);
        assert_eq!(graph.depths(), [0, 1, 1, 2]);
        assert_eq!(graph.needs(c), [b, b]);
        assert_eq!(graph.needs(0), [0u32; 0]);
        let users = Users::of(&graph);
        assert_eq!(users.get(0), [a, b]);
        assert_eq!(users.get(b), [c, c]);
    }

    #[test]
    #[should_panic(expected = "not written yet")]
    fn a_node_needs_earlier_nodes_only() {
        Graph::new(1).push(NodeCost::Free, &[1]);
    }
}
