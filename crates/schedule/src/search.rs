//! The best of many list schedules: random changes of ranks, from a fixed seed.
//!
//! A try is a list schedule by b-level with latencies that are a little longer, an addition for
//! nodes that many others need, noise, and leanings of the machine ([`Pipeline::LEANINGS`]). The
//! first half of all tries draws all of this anew; the second half changes the best try a little,
//! and goes on from the change if it is not worse.
//!
//! A machine that has units for each class of nodes ([`Pipeline::units`]) also *justifies* orders,
//! as schedules of projects are (Li and Willis, "An iterative scheduling technique for
//! resource-constrained project scheduling", EJOR 1992): all nodes move to the latest cycles that
//! units and users leave, the last first, and a list schedule by these cycles moves them back to
//! the front. Each such list schedule is a try.

use crate::graph::{Graph, Users};
use crate::pipeline::{Issue, Levels, Pipeline, RANK, Tuning, in_order, list};

/// The extent of a search; equal ones find equal orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Effort {
    /// Number of orders that are tried; at least 1 is used.
    pub tries: u32,
    /// Seed of all draws.
    pub seed: u64,
}

/// Everything that a try draws.
#[derive(Clone)]
struct Draw {
    ranks: Vec<i32>,
    bonus: Vec<i32>,
    hold: Vec<bool>,
    horizon: i32,
}

pub(crate) fn search<P: Pipeline>(graph: &Graph, machine: &P, effort: Effort) -> Vec<Issue> {
    let users = Users::of(graph);
    let mut chance = Chance(effort.seed);
    let fanouts = graph.nodes().map(|node| users.get(node).len() as i32);
    let latencies = graph.nodes().map(|node| machine.latency(node));
    let searcher = Searcher {
        graph,
        users: &users,
        machine,
        fanouts: fanouts.collect(),
        shortest: latencies.min().unwrap_or(0),
    };
    let mut best = searcher.plain();
    let mut issues = searcher.run(&best, u32::MAX).expect("no limit was set");
    let floor = searcher.critical();
    let tries = effort.tries.max(1);
    if machine.units(0).is_some() {
        return justified(&searcher, &mut chance, tries, issues);
    }
    for number in 1..tries {
        let last = issues.last().map_or(0, |issue| issue.cycle);
        if last <= floor {
            break; // No order is shorter than the longest path.
        }
        let explores = number <= tries / 2;
        // An exploring try has to be better, a change must not be worse.
        let (draw, limit) = if explores {
            (searcher.draw(&mut chance, last), last)
        } else {
            (searcher.change(&best, &mut chance), last + 1)
        };
        if let Some(found) = searcher.run(&draw, limit) {
            (issues, best) = (found, draw);
        }
    }
    issues
}

/// Most times that an order is justified.
const MOST_TIMES: u32 = 3;

/// Weights of the written order, in eighths of the length of a schedule over all nodes, that are
/// tried first.
const WRITTEN: [i32; 6] = [4, 8, 2, 16, 1, 6];

/// The best of many orders on a machine with units: of list schedules by drawn ranks, each
/// justified as long as that helps.
fn justified<P: Pipeline>(
    searcher: &Searcher<P>,
    chance: &mut Chance,
    tries: u32,
    mut best: Vec<Issue>,
) -> Vec<Issue> {
    let floor = searcher.floor();
    let length = |issues: &[Issue]| issues.last().map_or(0, |issue| issue.cycle);
    let mut current = best.clone();
    let (mut drawn, mut times) = (0, MOST_TIMES);
    for _ in 1..tries {
        if length(&best) <= floor {
            break;
        }
        let fresh = times == MOST_TIMES;
        let draw = if fresh {
            times = 0;
            drawn += 1;
            let (written, noise) = match WRITTEN.get(drawn - 1) {
                Some(&written) => (written, 0),
                None => (chance.one_of(&WRITTEN), chance.one_of(&[16, 64, 160, 480])),
            };
            searcher.mixed(written, noise, length(&best), chance)
        } else {
            times += 1;
            Draw {
                ranks: searcher.latest(&current),
                ..searcher.plain()
            }
        };
        let Some(found) = searcher.run(&draw, u32::MAX) else {
            continue;
        };
        if !fresh && length(&found) >= length(&current) {
            times = MOST_TIMES; // It helps no more.
        }
        if length(&found) < length(&best) {
            best = found.clone();
        }
        current = found;
    }
    best
}

struct Searcher<'a, P> {
    graph: &'a Graph,
    users: &'a Users,
    machine: &'a P,
    /// Users of each node that is not a source.
    fanouts: Vec<i32>,
    /// The least latency of a node.
    shortest: u32,
}

impl<P: Pipeline> Searcher<'_, P> {
    fn run(&self, draw: &Draw, limit: u32) -> Option<Vec<Issue>> {
        let tuning = Tuning {
            ranks: &draw.ranks,
            bonus: &draw.bonus,
            hold: &draw.hold,
            horizon: draw.horizon,
        };
        let found = list(self.graph, self.users, self.machine.clone(), &tuning, limit)?;
        if !draw.hold.contains(&true) {
            return Some(found);
        }
        // The list left cycles empty in which the machine issues the next node: only its own run
        // counts.
        let again = in_order(self.machine.clone(), found.iter().map(|issue| issue.node));
        let shorter = again.last().is_none_or(|issue| issue.cycle < limit);
        shorter.then_some(again)
    }

    /// Ranks by the latest cycles in which nodes could be issued without a longer order, as far as
    /// units and users decide, the last node first.
    fn latest(&self, issues: &[Issue]) -> Vec<i32> {
        let last = issues.last().map_or(0, |issue| issue.cycle) as usize;
        // For each class, units in use, and a cycle at or before this one that may have a free one.
        let mut used = vec![vec![0; last + 1]; P::CLASSES];
        let mut before: Vec<Vec<usize>> = vec![(0..=last).collect(); P::CLASSES];
        let mut latest = vec![last; self.graph.len() as usize];
        for issue in issues.iter().rev() {
            let class = self.machine.class(issue.node);
            let units = self.machine.units(class).unwrap_or(1).max(1);
            let latency = self.machine.latency(issue.node) as usize;
            let users = self.users.get(issue.node).iter();
            let first_use = users.map(|&user| latest[user as usize].saturating_sub(latency));
            let mut cycle = first_use.min().unwrap_or(last);
            // The first cycle takes all that no other one does.
            while cycle > 0 && used[class][cycle] >= units {
                let next = match before[class][cycle] {
                    next if next == cycle => cycle - 1,
                    next => before[class][next],
                };
                before[class][cycle] = next;
                cycle = next;
            }
            used[class][cycle] += 1;
            latest[issue.node as usize] = cycle;
        }
        latest.iter().map(|&cycle| -(cycle as i32) * RANK).collect()
    }

    /// The b-level as it is.
    fn plain(&self) -> Draw {
        Draw {
            ranks: self.levels(0, 0),
            bonus: vec![0; P::LEANINGS.len()],
            hold: vec![false; P::LEANINGS.len()],
            horizon: 0,
        }
    }

    /// The cycle before which no order issues its last node: the longest path to a node.
    fn critical(&self) -> u32 {
        let levels = Levels::of(self.graph, |node| self.machine.latency(node) as i32);
        levels.top.iter().max().map_or(0, |&top| top as u32)
    }

    /// The cycle before which no order issues its last node, by the longest path and by the units
    /// of each class: the nodes of a class take as many cycles as there are more than units, after
    /// the shortest way to one of them and before the shortest way from one.
    fn floor(&self) -> u32 {
        let latency = |node| self.machine.latency(node);
        let top = Levels::of(self.graph, |node| latency(node) as i32).top;
        let mut tail = vec![0; self.graph.len() as usize];
        for node in self.graph.nodes().rev() {
            let users = self.users.get(node).iter();
            let behind = users.map(|&user| tail[user as usize] + latency(node));
            tail[node as usize] = behind.max().unwrap_or(0);
        }
        let by_class = |class: usize| {
            let nodes = || {
                let nodes = self.graph.nodes();
                nodes.filter(|&node| self.machine.class(node) == class)
            };
            let head = nodes().map(|node| top[node as usize] as u32).min()?;
            let tail = nodes().map(|node| tail[node as usize]).min()?;
            let units = self.machine.units(class)?.max(1);
            Some(head + tail + (nodes().count() as u32).div_ceil(units) - 1)
        };
        let classes = (0..P::CLASSES).filter_map(by_class).max();
        self.critical().max(classes.unwrap_or(0))
    }

    /// The b-level with noise, and less for nodes that were written later: nodes that stand
    /// together are finished together, as far as this weighs.
    fn mixed(&self, written: i32, noise: i32, last: u32, chance: &mut Chance) -> Draw {
        let mut draw = self.plain();
        let gates = self.graph.sources() as usize;
        let count = (draw.ranks.len() - gates).max(1) as i64;
        let span = i64::from(written) * i64::from(last) * i64::from(RANK) / 8;
        for (place, rank) in (0..).zip(&mut draw.ranks[gates..]) {
            *rank += chance.below(noise + 1) - (span * place / count) as i32;
        }
        draw
    }

    /// The b-level with additions to the latencies of short nodes and of all others.
    fn levels(&self, short: i32, long: i32) -> Vec<i32> {
        let length = |node| {
            let latency = self.machine.latency(node);
            let is_short = latency == self.shortest;
            latency as i32 * RANK + if is_short { short } else { long }
        };
        Levels::of(self.graph, length).bottom
    }

    fn draw(&self, chance: &mut Chance, last: u32) -> Draw {
        let short = chance.one_of(&[0, 0, 8, 16]);
        let long = chance.one_of(&[0, 0, 16, 32]);
        let mut ranks = self.levels(short, long);
        let fanout = chance.one_of(&[0, 0, 0, 8, 32]);
        let noise = chance.one_of(&[0, 16, 64, 160, 480]);
        let gates = self.graph.sources() as usize;
        for (rank, users) in ranks[gates..].iter_mut().zip(&self.fanouts) {
            *rank += fanout * users + chance.below(noise + 1);
        }
        let mut leaning = |&(least, most): &(i32, i32)| {
            let most = chance.one_of(&[0, (most - least) / 8, (most - least) / 3, most - least]);
            let size = chance.below(most + 1);
            (if least < 0 { -size } else { size }) * RANK
        };
        let bonus = P::LEANINGS.iter().map(&mut leaning).collect();
        let holds = chance.below(2) == 0;
        let hold = P::LEANINGS.iter().map(|_| holds && chance.below(3) == 0);
        let hold = hold.collect();
        let slack = chance.one_of(&[-12, -10, -6, -2, 0, 2, 4, 8]);
        Draw {
            ranks,
            bonus,
            hold,
            horizon: (last as i32 - slack) * RANK,
        }
    }

    fn change(&self, best: &Draw, chance: &mut Chance) -> Draw {
        let mut draw = best.clone();
        let gates = self.graph.sources() as usize;
        let count = draw.ranks.len() - gates;
        let changes = chance.one_of(&[1, 2, 4, 8, count as i32 / 50 + 1, count as i32 / 8 + 1]);
        let noise = chance.one_of(&[8, 32, 128, 320]);
        for _ in 0..changes {
            let node = gates + chance.below(count as i32) as usize;
            draw.ranks[node] += chance.below(2 * noise + 1) - noise;
        }
        if chance.below(4) == 0 {
            let situation = chance.below(P::LEANINGS.len() as i32) as usize;
            let (least, most) = P::LEANINGS[situation];
            draw.bonus[situation] = (least + chance.below(most - least + 1)) * RANK;
        }
        draw
    }
}

/// Pseudo-random numbers (SplitMix64; Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014). They decide in which order gates are written and nothing secret.
struct Chance(u64);

impl Chance {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A number below `bound`, which is at least 1.
    fn below(&mut self, bound: i32) -> i32 {
        (((self.number() >> 32) * bound.max(1) as u64) >> 32) as i32
    }

    fn one_of(&mut self, choices: &[i32]) -> i32 {
        choices[self.below(choices.len() as i32) as usize]
    }
}
