//! Value of the choice of a sharing, for the steps of a source line.

use crate::error::EngineError;
use crate::job::{Job, dispatch};
use crate::split_plan::divided;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_parties::NetworkClass;
use sealane_party::Party;
use sealane_plan::variants::{Unit, Variants};
use sealane_plan::{CostReport, Gap, Plan, Roster, drawn, settled};
use sealane_program::graph::Program;
use sealane_protocol::{Protocol, Sharing};
use std::collections::{BTreeSet, HashMap};

/// A step of the joint work, or several that are alike, with the sharings in which it could be
/// computed.
pub struct Considered {
    /// Its operations, in order of the program.
    pub operations: Vec<String>,
    /// Number of steps that take a sharing together.
    pub steps: usize,
    /// True if the program asks for its sharing.
    pub pinned: bool,
    /// The options: one if there is no choice.
    pub options: Vec<StepOption>,
}

/// A sharing for a step.
pub struct StepOption {
    /// The sharing.
    pub sharing: Sharing,
    /// True for the one that the run takes.
    pub chosen: bool,
    /// Cost of the whole run in which this step takes this sharing, or all that are alike do, and
    /// all others what they take in the run.
    pub cost: CostReport,
}

impl Job {
    /// The steps of a source line, with what the run would cost in each sharing that they could
    /// take, at these row counts. Each option takes the time of a plan, so many steps of one line
    /// (the turns of a loop) are moved together: those of the same operations that run in the same
    /// sharing.
    ///
    /// # Errors
    /// As [`Job::cost`]; or the joint work has no step of this line.
    pub fn why(&self, line: u32, rows: &[u64]) -> Result<Vec<Considered>, EngineError> {
        fn of<P: Party>(
            (program, helpers, network): (&Program, usize, NetworkClass),
            plan: &Plan,
            (line, rows): (u32, &[u64]),
        ) -> Result<Vec<Considered>, Diagnostic> {
            let plan = taken::<P::Protocol>(plan, rows);
            let variants = variants::<P::Protocol>((program, helpers, network), plan)?;
            considered::<P>(variants, plan, line, rows)
        }
        self.cost(rows)?;
        if let Some((job, counts)) = self.rest(rows)? {
            return job.why(line, &counts);
        }
        let work = (self.program(), self.helpers().len(), self.network());
        let found = dispatch!(self.protocol(), of(work, self.plan(), (line, rows)));
        Ok(found?)
    }

    /// The distance of a run with these row counts from the best of all ways to give its steps
    /// sharings; none if no step has a choice.
    ///
    /// # Errors
    /// As [`Job::cost`].
    pub fn gap(&self, rows: &[u64]) -> Result<Option<Gap>, EngineError> {
        fn of<P: Party>(
            work: (&Program, usize, NetworkClass),
            plan: &Plan,
            (compute_ns, rows): (u64, &[u64]),
        ) -> Result<Option<Gap>, Diagnostic> {
            if P::Protocol::tape_domains().len() < 2 {
                return Ok(None);
            }
            let plan = taken::<P::Protocol>(plan, rows);
            let joint_ns = settled::<P::Protocol>(plan, rows).compute_ns;
            let mut variants = variants::<P::Protocol>(work, plan)?;
            variants.gap::<P::Protocol>(rows, compute_ns.saturating_sub(joint_ns))
        }
        let cost = self.cost(rows)?;
        if let Some((job, counts)) = self.rest(rows)? {
            return job.gap(&counts);
        }
        let work = (self.program(), self.helpers().len(), self.network());
        let found = dispatch!(
            self.protocol(),
            of(work, self.plan(), (cost.compute_ns, rows))
        );
        Ok(found?)
    }
}

/// The form of a plan that a run takes on so many rows.
fn taken<'a, P: Protocol>(plan: &'a Plan, rows: &[u64]) -> &'a Plan {
    let form = sealane_plan::forms::<P>(plan, rows);
    let number = form.iter().position(|form| form.chosen).unwrap_or(0);
    let plan = std::iter::once(plan).chain(&plan.others).nth(number);
    plan.expect("a form that was chosen among all")
}

/// Variants of a form of the plan of a job.
fn variants<'a, P: Protocol>(
    (program, helpers, network): (&Program, usize, NetworkClass),
    plan: &'a Plan,
) -> Result<Variants<'a>, Diagnostic> {
    let joint = divided::<P>(&drawn(program).program)?.joint;
    let mut roster = Roster::of(program, helpers);
    if plan.setting.pooled {
        roster = roster.with_pool();
    }
    Variants::new::<P>(&joint, roster, network, u64::MAX, plan)
}

fn considered<P: Party>(
    mut variants: Variants<'_>,
    plan: &Plan,
    line: u32,
    rows: &[u64],
) -> Result<Vec<Considered>, Diagnostic> {
    let units = variants.units::<P::Protocol>();
    let lines = units.iter().flat_map(|unit| &unit.lines).copied();
    let lines = lines.collect::<BTreeSet<_>>();
    if !lines.contains(&line) {
        return Err(unknown(line, &lines));
    }
    // A step may perform operations of several lines.
    let of_line = units.into_iter().filter(|unit| unit.lines.contains(&line));
    let chosen = settled::<P::Protocol>(plan, rows);
    let mut found = Vec::new();
    for alike in alike(of_line) {
        let unit = &alike[0];
        let mut options = Vec::new();
        for (domain, place) in unit.domains.iter().zip(0..) {
            options.push(StepOption {
                sharing: domain.sharing,
                chosen: *domain == unit.domain,
                cost: if *domain == unit.domain {
                    chosen.clone()
                } else {
                    let moved = alike.iter().map(|unit| (unit.number, place));
                    let plan = variants.with::<P::Protocol>(&moved.collect::<Vec<_>>())?;
                    settled::<P::Protocol>(&plan, rows)
                },
            });
        }
        if options.is_empty() {
            options.push(StepOption {
                sharing: unit.domain.sharing,
                chosen: true,
                cost: chosen.clone(),
            });
        }
        found.push(Considered {
            steps: alike.len(),
            operations: unit.operations.clone(),
            pinned: unit.pinned,
            options,
        });
    }
    Ok(found)
}

/// Most steps of a line that are moved one by one.
const MOST_APART: usize = 16;

/// The steps that are moved together, in the order of the first of each.
fn alike(units: impl Iterator<Item = Unit>) -> Vec<Vec<Unit>> {
    let mut groups = units.map(|unit| vec![unit]).collect::<Vec<_>>();
    if groups.len() <= MOST_APART {
        return groups;
    }
    let mut places = HashMap::new();
    for group in std::mem::take(&mut groups) {
        let of = &group[0];
        let key = (
            of.operations.clone(),
            of.pinned,
            of.domain,
            of.domains.clone(),
        );
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(known) => known.extend(group),
            None => groups.push(group),
        }
    }
    groups
}

/// Most lines that the refusal of another one names.
const MOST_LINES: usize = 12;

fn unknown(line: u32, lines: &BTreeSet<u32>) -> Diagnostic {
    let named = lines.iter().take(MOST_LINES).map(u32::to_string);
    let more = if lines.len() > MOST_LINES {
        ", …"
    } else {
        ""
    };
    let named = named.collect::<Vec<_>>().join(", ") + more;
    Diagnostic::new(
        Code::UnknownLine,
        format!("the parties compute nothing of line {line} together"),
    )
    .because("Inputs, results and what one party computes alone take no sharing to choose.")
    .hint(match lines.len() {
        0 => "nothing of the program is computed together of which a line is known".to_string(),
        1 => format!("ask for line {named}"),
        _ => format!("ask for one of the lines {named}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sealane_mixed::Mixed;
    use sealane_plan::{localise, plan_with_roster};
    use sealane_testkit::random_program::{arithmetic, cases};

    #[test]
    fn many_steps_of_a_line_are_moved_together() {
        let [shares, labels] = [0, 1].map(|at| Mixed::tape_domains()[at]);
        let unit = |number: usize| Unit {
            number,
            operations: vec!["min".to_string()],
            lines: Vec::new(),
            pinned: false,
            domain: if number % 3 == 1 { labels } else { shares },
            domains: vec![shares, labels],
        };
        let numbers = |count| {
            let groups = alike((0..count).map(unit)).into_iter();
            let numbers = groups.map(|group| group.iter().map(|of| of.number).collect());
            numbers.collect::<Vec<Vec<_>>>()
        };
        assert_eq!(numbers(3), [[0], [1], [2]]);
        let all = (0..MOST_APART + 1).partition::<Vec<_>, _>(|at| at % 3 != 1);
        assert_eq!(numbers(MOST_APART + 1), [all.0, all.1]);
    }

    /// Most steps with a choice of a program all of whose choices are tried.
    const MOST_STEPS: usize = 6;
    const NETWORKS: [&str; 5] = ["lan", "wan", "10us/10Gbps", "100us/1Mbps", "1ms/100Mbps"];

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 100, max_global_rejects: 100_000, ..ProptestConfig::default()
        })]

        /// A run takes at most 2 % longer, by its estimate, than with the best of all choices of
        /// domains; what the choice of a single step is worth is a difference between two of them.
        #[test]
        fn the_plan_of_a_run_is_nearly_the_best_of_all(
            case in prop_oneof![cases(), arithmetic()],
            network in prop::sample::select(&NETWORKS[..]),
        ) {
            let network = network.parse::<NetworkClass>().expect("a network");
            let program = &localise(&drawn(&case.program).program).expect("a division").joint;
            let roster = Roster::of(&case.program, 0);
            let planned = plan_with_roster::<Mixed>(program, roster, network, u64::MAX);
            prop_assume!(planned.is_ok());
            let plan = planned.expect("a plan");
            let mut variants =
                Variants::new::<Mixed>(program, roster, network, u64::MAX, &plan).expect("units");
            let mut free = variants.units::<Mixed>();
            free.retain(|unit| !unit.domains.is_empty());
            prop_assume!((2..=MOST_STEPS).contains(&free.len()));
            let rows = program.rows.iter().map(|rows| rows.bound).collect::<Vec<_>>();
            let time = |plan: &Plan| settled::<Mixed>(plan, &rows).estimate_s(network);
            let forms = std::iter::once(&plan).chain(&plan.others);
            let run = forms.map(time).fold(f64::MAX, f64::min);
            let mut least = f64::MAX;
            for all in 0..1u32 << free.len() {
                let taken = free.iter().zip(0..);
                let taken = taken.map(|(unit, at)| (unit.number, (all >> at & 1) as u8));
                let plan = variants.with::<Mixed>(&taken.collect::<Vec<_>>()).expect("a plan");
                least = least.min(time(&plan));
            }
            prop_assert!(run <= 1.02 * least, "{run} s in place of {least} s");
        }
    }
}
