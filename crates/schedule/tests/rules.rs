//! Properties of every order on random graphs, and the differences between the orders.

use proptest::prelude::*;
use sealane_schedule::NodeCost::{Costly, Free};
use sealane_schedule::{
    Graph, Lanes, Machine, Order, Priority, Schedule, Slots, prioritised, schedule, slots,
};

/// A graph of `sources` sources and nodes that need up to two earlier ones, most of them near.
fn build(sources: u32, nodes: &[(bool, u8, u8)]) -> Graph {
    let mut graph = Graph::new(sources);
    for &(costly, x, y) in nodes {
        let len = graph.len();
        let backs: &[u8] = if len > 0 { &[x, y] } else { &[] };
        let needs = backs.iter().map(|&back| len - 1 - u32::from(back) % len);
        let cost = if costly { Costly } else { Free };
        graph.push(cost, &needs.collect::<Vec<_>>());
    }
    graph
}

fn graphs() -> impl Strategy<Value = Graph> {
    let nodes = prop::collection::vec((any::<bool>(), any::<u8>(), 0..20u8), 0..300);
    (0..9u32, nodes).prop_map(|(sources, nodes)| build(sources, &nodes))
}

fn machines() -> impl Strategy<Value = Machine> {
    let order = prop_oneof![
        Just(Order::None),
        any::<bool>().prop_map(|over_free| Order::Queue { over_free }),
        Just(Order::Levels),
        (0..40u32).prop_map(|window| Order::Window { window }),
    ];
    (0..20u32, order).prop_map(|(lanes, order)| Machine { lanes, order })
}

/// Checks the rules of a schedule: each node once, nothing before the nodes it needs, costly nodes
/// of a batch independent and at most as many as there are lanes.
fn check_order(graph: &Graph, schedule: &Schedule, machine: &Machine) {
    let mut done = vec![false; graph.len() as usize];
    done[..graph.sources() as usize].fill(true);
    for (i, batch) in schedule.batches.iter().enumerate() {
        let (free, costly) = (schedule.free_of(batch), schedule.costly_of(batch));
        assert!(costly.len() as u64 <= u64::from(machine.lanes.max(1)));
        let last = i + 1 == schedule.batches.len();
        assert!(!costly.is_empty() || last, "only the last lacks ANDs");
        let early = |done: &[bool], node| graph.needs(node).iter().any(|&n| !done[n as usize]);
        let run = |done: &mut [bool], node: u32| {
            let twice = std::mem::replace(&mut done[node as usize], true);
            assert!(!twice, "{node} runs twice");
        };
        for &node in free {
            assert!(!graph.is_costly(node));
            assert!(!early(&done, node), "free {node} too early");
            run(&mut done, node);
        }
        for &node in costly {
            assert!(graph.is_costly(node));
            assert!(!early(&done, node), "{node} too early");
        }
        for &node in costly {
            run(&mut done, node);
        }
    }
    assert!(done.into_iter().all(|done| done), "a node never runs");
}

/// Runs the schedule over slots: each slot must still hold the node that a reader wants.
fn check_slots(graph: &Graph, schedule: &Schedule, slots: &Slots, keep: &[u32]) {
    let mut holds: Vec<Option<u32>> = vec![None; slots.count as usize];
    for source in 0..graph.sources() {
        assert_eq!(slots.of[source as usize], source);
        holds[source as usize] = Some(source);
    }
    let place = |node: u32| slots.of[node as usize] as usize;
    let hold = |holds: &[Option<u32>], nodes: &[u32]| {
        nodes.iter().all(|&node| holds[place(node)] == Some(node))
    };
    for batch in &schedule.batches {
        for &node in schedule.free_of(batch) {
            assert!(hold(&holds, graph.needs(node)));
            holds[place(node)] = Some(node);
        }
        // Costly nodes run in any order: here all writes happen, then all reads, and the values
        // must still be right.
        let costly = schedule.costly_of(batch);
        for &node in costly {
            holds[place(node)] = Some(node);
        }
        assert!(hold(&holds, costly));
        for &node in costly {
            assert!(hold(&holds, graph.needs(node)));
        }
    }
    assert!(hold(&holds, keep));
}

proptest! {
    #[test]
    fn every_order_keeps_the_rules(graph in graphs(), machine in machines(), last in 0..9u32) {
        let order = schedule(&graph, &machine);
        check_order(&graph, &order, &machine);
        // Some sources and the last nodes stay.
        let mut keep: Vec<u32> = (0..graph.sources().min(2)).collect();
        keep.extend(graph.len() - last.min(graph.len())..graph.len());
        let places = slots(&graph, &order, &keep);
        check_slots(&graph, &order, &places, &keep);
        prop_assert_eq!(order, schedule(&graph, &machine));
    }

    #[test]
    fn rounds_are_as_few_as_the_longest_chain(graph in graphs()) {
        let order = schedule(&graph, &Machine::ROUNDS);
        let rounds = order.batches.iter().filter(|batch| !batch.costly.is_empty()).count();
        let depth = graph.depths().into_iter().max().unwrap_or(0);
        prop_assert_eq!(rounds as u32, depth);
    }
}

/// Chains of `length` costly nodes, one written after the other.
fn chains(count: u32, length: u32) -> Graph {
    let mut graph = Graph::new(1);
    for _ in 0..count {
        let mut last = 0;
        for _ in 0..length {
            last = graph.push(Costly, &[last]);
        }
    }
    graph
}

#[test]
fn the_window_fills_lanes_and_keeps_the_live_set_small() {
    let (count, length) = (1000, 10);
    let graph = chains(count, length);
    let all = count * length;
    let check = |order, fits: &dyn Fn(u32, u32) -> bool| {
        let schedule = schedule(&graph, &Machine { lanes: 8, order });
        let live = slots(&graph, &schedule, &[]).count;
        let batches = schedule.batches.len() as u32;
        assert!(
            fits(batches, live),
            "{order:?}: {batches} batches, {live} slots"
        );
    };
    check(Order::Queue { over_free: false }, &|batches, live| {
        batches > all - count && live <= 4
    });
    check(Order::Levels, &|batches, live| {
        batches == all / 8 && live > count
    });
    check(Order::Window { window: 80 }, &|batches, live| {
        batches <= all / 8 + length && live < 40
    });
}

#[test]
fn free_nodes_wait_for_the_window() {
    // Free nodes on sources alone, each for one costly node of a chain: run at once, they would
    // all be alive at once.
    let mut graph = Graph::new(2);
    let mut last = 0;
    for _ in 0..1000 {
        let free = graph.push(Free, &[0, 1]);
        last = graph.push(Costly, &[last, free]);
    }
    let (lanes, order) = (4, Order::Window { window: 8 });
    let order = schedule(&graph, &Machine { lanes, order });
    let live = slots(&graph, &order, &[0, 1, last]).count;
    assert!(live < 20, "{live} slots");
}

#[test]
fn millions_of_nodes_take_a_moment() {
    let graph = chains(100_000, 10);
    let order = schedule(&graph, &Machine::CPU);
    assert_eq!(order.batches.len(), 62_500);
    assert!(slots(&graph, &order, &[]).count < 300);
}

/// The batch of each node.
fn batches(graph: &Graph, schedule: &Schedule) -> Vec<u32> {
    let mut batches = vec![0; graph.len() as usize];
    for (number, batch) in (0..).zip(&schedule.batches) {
        for &node in [schedule.free_of(batch), schedule.costly_of(batch)]
            .concat()
            .iter()
        {
            batches[node as usize] = number;
        }
    }
    batches
}

proptest! {
    /// Batches of a CPU are cycles of a machine of the list scheduler.
    #[test]
    fn the_list_scheduler_makes_the_batches_of_a_window(
        graph in graphs(), lanes in 0..20u32, window in 0..40u32,
    ) {
        let order = Order::Window { window };
        let expected = batches(&graph, &schedule(&graph, &Machine { lanes, order }));
        let machine = Lanes::new(&graph, lanes, window);
        let mut found = vec![0; graph.len() as usize];
        for issue in prioritised(&graph, &machine, Priority::Written) {
            found[issue.node as usize] = issue.cycle;
        }
        prop_assert_eq!(found, expected);
    }
}
