//! Orders inside the model of a machine: each node once, behind what it needs, and no earlier than
//! the machine takes it.

use proptest::prelude::*;
use sealane_schedule::NodeCost::{Costly, Free};
use sealane_schedule::{Effort, Graph, Issue, Pipeline, Priority, in_order, prioritised};

/// A machine whose costly nodes take five cycles and free ones one, and which takes no two costly
/// nodes in a row.
#[derive(Clone)]
struct Toy<'a> {
    graph: &'a Graph,
    done: Vec<u32>,
    cycle: u32,
    tired: bool,
    issued: Option<u32>,
}

impl<'a> Toy<'a> {
    fn new(graph: &'a Graph) -> Toy<'a> {
        let mut done = vec![u32::MAX; graph.len() as usize];
        done[..graph.sources() as usize].fill(0);
        Toy {
            graph,
            done,
            cycle: 0,
            tired: false,
            issued: None,
        }
    }
}

impl Pipeline for Toy<'_> {
    const CLASSES: usize = 2;
    const LEANINGS: &'static [(i32, i32)] = &[(0, 4), (-4, 0)];

    fn class(&self, node: u32) -> usize {
        self.graph.is_costly(node).into()
    }

    fn latency(&self, node: u32) -> u32 {
        if self.graph.is_costly(node) { 5 } else { 1 }
    }

    fn ready(&self, node: u32) -> u32 {
        let needs = self.graph.needs(node).iter();
        let done = needs.map(|&needed| self.done[needed as usize]);
        done.max().unwrap_or(0)
    }

    fn situation(&self, class: usize) -> Option<usize> {
        (self.issued.is_none() && (class == 0 || !self.tired)).then_some(class)
    }

    fn issue(&mut self, node: u32) {
        self.done[node as usize] = self.cycle + self.latency(node);
        self.issued = Some(node);
    }

    fn step(&mut self) {
        let issued = self.issued.take();
        self.tired = issued.is_some_and(|node| self.graph.is_costly(node));
        self.cycle += 1;
    }
}

fn graph(draws: &[(bool, u16, u16)]) -> Graph {
    let mut graph = Graph::new(2);
    for &(costly, a, b) in draws {
        let len = graph.len();
        graph.push(
            if costly { Costly } else { Free },
            &[u32::from(a) % len, u32::from(b) % len],
        );
    }
    graph
}

fn length(issues: &[Issue]) -> u32 {
    issues.last().map_or(0, |issue| issue.cycle + 1)
}

const SEARCH: Priority = Priority::Search(Effort { tries: 60, seed: 1 });

proptest! {
    #[test]
    fn orders_hold_what_the_machine_asks(
        draws in prop::collection::vec(any::<(bool, u16, u16)>(), 0..60),
    ) {
        let graph = graph(&draws);
        let machine = Toy::new(&graph);
        let list = prioritised(&graph, &machine, Priority::BLevel);
        let best = prioritised(&graph, &machine, SEARCH);
        prop_assert!(length(&best) <= length(&list));
        prop_assert_eq!(&best, &prioritised(&graph, &machine, SEARCH));
        for priority in [Priority::WeightedFanout, Priority::Alap, Priority::TLevel, SEARCH] {
            let issues = prioritised(&graph, &machine, priority);
            let mut nodes: Vec<u32> = issues.iter().map(|issue| issue.node).collect();
            // The machine alone, in this order, needs as many cycles.
            let alone = in_order(machine.clone(), nodes.iter().copied());
            prop_assert_eq!(length(&alone), length(&issues));
            for pair in issues.windows(2) {
                prop_assert!(pair[0].cycle < pair[1].cycle);
                let both = pair.iter().all(|issue| graph.is_costly(issue.node));
                prop_assert!(!both || pair[0].cycle + 1 < pair[1].cycle);
            }
            let mut done = vec![0; graph.len() as usize];
            for issue in &issues {
                for &needed in graph.needs(issue.node) {
                    prop_assert!(done[needed as usize] <= issue.ready);
                }
                prop_assert!(issue.ready <= issue.cycle);
                done[issue.node as usize] = issue.cycle + machine.latency(issue.node);
            }
            nodes.sort_unstable();
            prop_assert!(nodes.into_iter().eq(graph.nodes()));
        }
    }
}

/// A long chain behind a late node: the b-level begins it at once, the t-level last.
#[test]
fn priorities_differ_as_their_definitions_do() {
    let mut graph = Graph::new(1);
    let free: Vec<u32> = (0..3).map(|_| graph.push(Free, &[0])).collect();
    let head = graph.push(Free, &[0]);
    let mut chain = head;
    for _ in 0..3 {
        chain = graph.push(Costly, &[chain]);
    }
    let first = |priority| prioritised(&graph, &Toy::new(&graph), priority)[0].node;
    assert_eq!(first(Priority::BLevel), head);
    assert_eq!(first(Priority::Alap), head);
    assert_eq!(first(Priority::TLevel), free[0]);
    assert_eq!(first(Priority::WeightedFanout), head);
    // Head at 0, the chain at 1, 6 and 11.
    assert_eq!(length(&prioritised(&graph, &Toy::new(&graph), SEARCH)), 12);
}

#[test]
#[should_panic(expected = "stands before one that it needs")]
fn an_order_against_the_graph_is_refused() {
    let graph = graph(&[(true, 0, 0), (true, 2, 2)]);
    in_order(Toy::new(&graph), [3, 2]);
}
