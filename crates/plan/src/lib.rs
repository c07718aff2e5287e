//! Crate `plan`: from a program to steps over tiles of rows, with their exact cost.
//!
//! [`plan()`] is a list of small passes, each in a module of its own. The result of each is checked
//! before the next one relies on it (`passes.rs`); the units after `fuse` and the finished plan
//! have larger checkers (`draft.rs`, `check.rs`). Costs are checked by the tests of protocols,
//! which compare every planned byte and round with the measured one.
//!
//! | pass | what it does |
//! |---|---|
//! | `check` | the program is sound ([`sealane_program::check`](fn@sealane_program::check)) |
//! | `setting` | which parties compute, and in which roles |
//! | `floats` | floating point becomes the integers of its bits, operations on it calls |
//! | `scale` | fixed point becomes integers, with exact products and a shift |
//! | `expand` | drops what no result needs; dot products by gates become products and sums |
//! | `algebra` | says which values are bits and which are modulo `2^k`, where a protocol has both |
//! | `segment` | says in which walk over which table's rows each value is computed |
//! | `fuse` | neighbouring element-wise operations become one body, slices become strides |
//! | `lower` | bodies become circuits, circuits tapes; widths from ranges |
//! | `choose` | domains and conversions, steps of a ring in place of others |
//! | `rearrange` | steps are ordered by what they need, and [`join`](fn@join) names levels |
//! | `pools` | where checks are settled and tiles opened, how many tiles pools are refilled for |
//! | `forms` | a plan for each form of lookups of the protocol, one of which a run takes |
//! | [`flow`] | when each step of each tile runs; both cost and engine follow it |
//! | [`cost`](fn@cost) | payload bytes, rounds, gates: the promise |
//!
//! Before all of them, [`drawn`](fn@drawn) makes inputs of random numbers, and [`localise()`]
//! separates the values that one party can compute alone and in the clear; the rest is a program
//! like any other, and so is each party's own part. The caller plans the joint program for the
//! chosen protocol, and the local ones for `clear`; a program that is not divided is planned as a
//! whole, under one protocol.
//!
//! Planning is deterministic: all parties derive the same [`Plan`] from the same program, protocol
//! and declared network class, with row counts symbolic. Time and memory grow with the size of the
//! program's text, never with rows or with the dimensions of tensors that operations walk.
//!
//! This crate uses protocols through their trait alone.
#![forbid(unsafe_code)]

mod algebra;
mod check;
mod choose;
pub mod cost;
pub mod cross;
mod domains;
mod draft;
mod drawn;
mod expand;
mod fixed_functions;
mod floats;
pub mod flow;
mod forms;
mod fuse;
mod job;
mod known;
mod limit;
mod localise;
mod lower;
pub mod network;
mod order;
mod passes;
mod place;
mod pools;
mod rearrange;
mod rewrite;
mod ring_steps;
mod scale;
mod segment;
mod setting;
mod silent;
pub mod steps;
mod text;
mod tile;
mod uses;

pub use cost::time;
pub use cost::{CostReport, Memory, StepCost, cost, supply};
pub use drawn::{Drawn, drawn};
pub use forms::{Form, FormCost, at_rows, forms, in_form};
pub use job::{JobPart, JobParts, JobText};
pub use localise::{Local, Localised, localise};
pub use rearrange::join;
pub use sealane_circuit::Lookups;
pub use sealane_circuit::function::{Field, Function};
pub use sealane_parties::NetworkClass;
pub use setting::{Roster, fewest_helpers, suits};
pub use steps::Plan;
pub use text::{tape_bytes, tape_hash};
pub use uses::StepKind;

use domains::Domains;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_parties::{PartyId, PartySet};
use sealane_program::graph::{Program, Reveal};
use sealane_protocol::{Algebra, Choice, Protocol, Setting};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use steps::{PlanValue, ResultPlan, RowPlan, ValuePlan};

/// Plans a program for protocol `P` and a declared network class. The session has the parties of
/// the program and `helpers` more, who own nothing and learn nothing.
///
/// The class is part of the job that parties approve. Where every level of a circuit is a round,
/// the number of rows of a tile depends on it.
///
/// # Errors
/// Findings of the check of the program, or parts that do not fit: the number of parties, a body
/// that needs all rows at once, a circuit of more than 10 million gates.
pub fn plan<P: Protocol>(
    program: &Program,
    helpers: usize,
    network: NetworkClass,
) -> Result<Plan, Diagnostic> {
    plan_in_tiles::<P>(program, helpers, network, u64::MAX)
}

/// Plans as [`plan()`] does, with at most `most_rows` rows per tile: for tests of several tiles.
/// Parties that plan with different limits have different plans.
///
/// # Errors
/// The errors of [`plan()`].
pub fn plan_in_tiles<P: Protocol>(
    program: &Program,
    helpers: usize,
    network: NetworkClass,
    most_rows: u64,
) -> Result<Plan, Diagnostic> {
    plan_with_roster::<P>(program, Roster::of(program, helpers), network, most_rows)
}

/// Plans as [`plan_in_tiles`] does, for a program that has taken the place of another: `roster` is
/// that of the other, whose parties may own fewer inputs.
///
/// # Errors
/// The errors of [`plan()`].
pub fn plan_with_roster<P: Protocol>(
    program: &Program,
    roster: Roster,
    network: NetworkClass,
    most_rows: u64,
) -> Result<Plan, Diagnostic> {
    guarded(|| plan_forms::<P>(program, roster, network, most_rows))
}

/// Makes a panic, which is a fault of Sealane as well, an error that says so.
fn guarded<T>(plan: impl FnOnce() -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    catch_unwind(AssertUnwindSafe(plan)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied());
        Err(broken(said.unwrap_or("it panicked").to_string()))
    })
}

/// Plans in each form of lookups, with each choice of domains.
fn plan_forms<P: Protocol>(
    program: &Program,
    roster: Roster,
    network: NetworkClass,
    most_rows: u64,
) -> Result<Plan, Diagnostic> {
    let lookups = if forms::looks_up(&program.main) {
        P::lookups()
    } else {
        &P::lookups()[..1]
    };
    let mut bodies = lower::Bodies::default();
    let mut plans: Vec<Plan> = Vec::new();
    for lookups in lookups {
        for choice in P::choices() {
            let form = (*lookups, *choice);
            let mut made = in_form_of::<P>(program, roster, network, most_rows, form, &mut bodies)?;
            if plans.iter().any(|plan| plan.same_steps(&made)) {
                continue;
            }
            if let Some(first) = plans.first() {
                made.setting = first.setting.clone();
                pools::refills::<P>(&mut made);
            }
            plans.push(made);
        }
    }
    let mut plans = plans.into_iter();
    let first = plans.next();
    let mut plan = first.ok_or_else(|| broken("a protocol has no form of lookups".to_string()))?;
    plan.others = plans.collect();
    Ok(plan)
}

/// Plans as [`plan_in_tiles`] does, with lookups in one form and domains of one choice.
fn in_form_of<P: Protocol>(
    program: &Program,
    roster: Roster,
    network: NetworkClass,
    most_rows: u64,
    form: (Lookups, Choice),
    bodies: &mut lower::Bodies,
) -> Result<Plan, Diagnostic> {
    let mut most = most_rows;
    // Shares of some domains are far larger than those of others. A plan that keeps no rows in
    // these has larger tiles.
    let mut wide = P::choices().len() == 1;
    loop {
        let plan = plan_once::<P>(program, roster, (network, form, wide), most, bodies)?;
        let main = P::domain(Algebra::Z2);
        let mut by_rows = plan.values.iter().filter(|value| value.rows.is_some());
        let bits = |value: &ValuePlan| value.domain.algebra == Algebra::Z2;
        if !wide && by_rows.any(|value| bits(value) && value.domain != main) {
            wide = true;
            continue;
        }
        let bits = cost::material_bits_of_a_tile::<P>(&plan);
        let tile = plan.rows.iter().map(|rows| rows.tile).max().unwrap_or(1);
        if bits <= tile::TILE_BITS || tile <= tile::ROWS[0] {
            return Ok(plan);
        }
        // What offline parts leave for online parts has to fit the memory of a tile, too.
        most = (tile / 2).min(most);
    }
}

fn plan_once<P: Protocol>(
    program: &Program,
    roster: Roster,
    (network, (lookups, choice), wide): (NetworkClass, (Lookups, Choice), bool),
    most_rows: u64,
    bodies: &mut lower::Bodies,
) -> Result<Plan, Diagnostic> {
    sealane_program::check(program)?;
    let program = &drawn(program).program;
    let profile = P::profile();
    let settings = setting::settings::<P>(program, roster, network)?;
    passes::setting(&settings, &profile).map_err(broken)?;
    let plain = floats::floats(program);
    passes::plain(&plain).map_err(broken)?;
    let scaled = scale::scale(&plain);
    passes::scaled(&scaled).map_err(broken)?;
    let domains = Domains::of::<P>(settings[0].parties, wide);
    let main = P::domain(Algebra::Z2);
    let goal = P::domain_profile(main, settings[0].parties).goal;
    let expanded = expand::expand(&scaled, profile.arithmetic, goal);
    passes::expanded(&expanded, profile.arithmetic).map_err(broken)?;
    let had = algebra::algebra(&expanded, profile.arithmetic, P::ring_steps());
    passes::algebras(&expanded, &had, profile.arithmetic).map_err(broken)?;
    let phases = segment::segment(&expanded);
    passes::phases(&expanded, &phases).map_err(broken)?;
    let draft = fuse::fuse(&expanded, &phases, &had)?;
    draft.check().map_err(broken)?;
    let mut tiles = tile::tiles(&draft, program.rows.len(), &domains, network);
    tiles
        .iter_mut()
        .for_each(|tile| *tile = most_rows.clamp(1, *tile));
    let bounds = program
        .rows
        .iter()
        .map(|rows| rows.bound)
        .collect::<Vec<_>>();
    let owners = program.inputs.iter().map(|input| input.owner);
    let owners = owners.collect::<Vec<_>>();
    let prices = order::Prices::of::<P>(&settings[0]);
    let target = lower::Target {
        domains: &domains,
        prices: prices.as_ref(),
        lookups,
    };
    let mut lowered = lower::lower(&draft, &owners, &tiles, &bounds, target, bodies)?;
    let fitting = tile::with_tapes(&tiles, &draft, &lowered, &domains);
    if fitting != tiles {
        // Trees over the rows of a tile have other levels now.
        tiles = fitting;
        lowered = lower::lower(&draft, &owners, &tiles, &bounds, target, bodies)?;
    }
    passes::lowered(&draft, &lowered).map_err(broken)?;
    let rows = program.rows.iter().zip(tiles);
    let rows = rows.map(|(r, tile)| RowPlan {
        name: r.name.clone(),
        bound: r.bound,
        sum: r.sum.clone(),
        tile,
    });
    let mut plan = Plan {
        protocol: P::profile().name,
        setting: settings[0].clone(),
        owners: owners.into_iter().map(PartyId).collect(),
        rows: rows.collect(),
        tapes: Arc::new(lowered.tapes),
        values: vec![],
        segments: vec![],
        results: vec![],
        lookups,
        choice,
        others: vec![],
    };
    let (steps, results) = choose::domains::<P>(&draft, lowered.forms, choice, &mut plan);
    let before = rearrange::outline(&steps);
    plan.segments = rearrange::rearrange(steps);
    rearrange::check(&before, &plan.segments).map_err(broken)?;
    let result = |(reveal, value): (&Reveal, PlanValue)| result(program, reveal, value);
    plan.results = program.results.iter().zip(results).map(result).collect();
    keep(&mut plan);
    pools::settle::<P>(&mut plan);
    pools::reveal::<P>(&mut plan, &domains);
    check::check::<P>(&plan).map_err(broken)?;
    limit::check(&plan)?;
    pools::refills::<P>(&mut plan);
    plan.setting = roles::<P>(&plan, settings);
    // Their size may depend on the roles.
    pools::refills::<P>(&mut plan);
    Ok(plan)
}

/// Number of rows at which assignments of roles are compared.
const NOMINAL_ROWS: u64 = 1024;

/// Returns the assignment of roles with the fewest payload bytes at a nominal number of rows; the
/// first one of several equal ones.
fn roles<P: Protocol>(plan: &Plan, settings: Vec<Setting>) -> Setting {
    let rows = plan
        .rows
        .iter()
        .map(|rows| rows.bound.min(NOMINAL_ROWS))
        .collect::<Vec<_>>();
    let bytes = |setting: &Setting| cost::payload_bytes::<P>(plan, setting, &rows);
    let best = settings.into_iter().min_by_key(bytes);
    best.unwrap_or_else(|| plan.setting.clone())
}

/// Marks the values with rows that are read after the segment in which they are made.
fn keep(plan: &mut Plan) {
    let mut made_in = vec![usize::MAX; plan.values.len()];
    let results = plan.results.iter().map(|result| result.value);
    let mut outlives = results.collect::<Vec<_>>();
    for (index, segment) in plan.segments.iter().enumerate() {
        for step in &segment.steps {
            step.op
                .writes()
                .iter()
                .for_each(|out| made_in[out.0 as usize] = index);
            let reads = step.op.reads().into_iter();
            outlives.extend(reads.filter(|value| made_in[value.0 as usize] != index));
        }
    }
    for value in outlives {
        let value = &mut plan[value];
        value.kept = value.rows.is_some();
    }
}

/// Makes the plan's entry for a result.
fn result(program: &Program, reveal: &Reveal, value: PlanValue) -> ResultPlan {
    let of = &program.main[reveal.value];
    ResultPlan {
        name: reveal.name.clone(),
        value,
        to: PartySet::of(reveal.to.iter().map(|party| PartyId(*party))),
        ty: reveal.ty,
        range: of.range,
        fixed: of.shape.fixed.clone(),
        by_tile: false,
    }
}

/// Reports that a stage broke its invariant: a bug.
fn broken(what: String) -> Diagnostic {
    Diagnostic {
        code: Code::InternalPlan,
        message: format!("the plan contradicts itself: {what}"),
        span: None,
        reason: "this is a fault of Sealane, not of the program".into(),
        hint: "please report it together with the program".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_planner_is_reported_as_its_fault() {
        for number in [0, 7] {
            let plan: fn(i32) -> Result<(), Diagnostic> = |number| match number {
                0 => panic!("no number"),
                _ => panic!("number {number}"),
            };
            let finding = guarded(|| plan(number)).expect_err("a panic");
            assert_eq!(finding.code, Code::InternalPlan);
            let said = ["no number", "number 7"][usize::from(number > 0)];
            assert!(finding.message.ends_with(said), "{}", finding.message);
        }
        assert_eq!(guarded(|| Ok(1)), Ok(1));
        let broken: fn() -> Result<(), Diagnostic> =
            || panic!("step 3 reads a value that no step makes");
        let finding = guarded(broken).expect_err("a panic");
        sealane_testkit::page::shows("internal-plan", &finding.to_string());
    }
}
