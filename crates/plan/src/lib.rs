//! Crate `plan`: from a program to steps over tiles of rows, with their exact cost.
//!
//! [`plan()`] is a list of small passes, each in a module of its own; `pipeline` runs them. The
//! result of each is checked before the next one relies on it (`passes.rs`); the units after `fuse`
//! and the finished plan have larger checkers (`draft.rs`, `check.rs`). Costs are checked by the
//! tests of protocols, which compare every planned byte and round with the measured one.
//!
//! | pass | what it does |
//! |---|---|
//! | `check` | the program is sound ([`sealane_program::check`](fn@sealane_program::check)) |
//! | `setting` | which parties compute, and in which roles |
//! | `floats` | floating point becomes the integers of its bits, operations on it calls |
//! | `scale` | fixed point becomes integers, with exact products and a shift |
//! | `parts` | products of sums of which each party knows a part become sums of products |
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
mod bounded;
mod check;
mod choose;
pub mod cost;
pub mod cross;
mod domains;
mod draft;
mod drafts;
mod drawn;
mod expand;
mod fixed_functions;
mod floats;
pub mod flow;
mod forms;
mod fuse;
mod gap;
mod job;
mod known;
mod limit;
mod localise;
mod lower;
pub mod network;
mod order;
mod parts;
mod passes;
mod pipeline;
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
pub mod variants;

pub use bounded::bounded;
pub use cost::time;
pub use cost::{BytesByLink, CostReport, Division, Memory, StepCost, cost, supply};
pub use drawn::{Drawn, drawn};
pub use forms::{Form, FormCost, at_rows, cost_in_forms, forms, in_form, settled};
pub use gap::Gap;
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

use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::graph::Program;
use sealane_protocol::Protocol;
use std::panic::{AssertUnwindSafe, catch_unwind};

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
    guarded(|| pipeline::plan::<P>(program, roster, network, most_rows))
}

/// Makes a panic, which is a fault of Sealane as well, an error that says so.
fn guarded<T>(plan: impl FnOnce() -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    catch_unwind(AssertUnwindSafe(plan)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied());
        Err(broken(said.unwrap_or("it panicked").to_string()))
    })
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
