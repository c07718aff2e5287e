//! Statistical test that times do not depend on secrets, over a million batches.
//!
//!     sh tools/timing.sh      an optimised build, every kind of work, scheme, mode and tier
//!     SEALANE_TIER=vaes256 sh tools/timing.sh transfers      one tier, one kind of work
//!
//! `sealane_testkit::timing` explains the method.
//!
//! | work | secret bits |
//! |---|---|
//! | evaluation, full ANDs | permute bits of labels |
//! | evaluation, ANDs with a known operand | permute bits; those of known operands are values |
//! | garbling, both kinds of ANDs | permute bits of zero labels; values for known operands |
//! | oblivious transfer, given choices; strings | choices of its receiver; offset of its sender |
//! | base transfers and trees; extension | offset of the sender; coins of the receiver |
//! | silent extension | offset of the sender; choices that the receiver begins with |
//! | one of many strings | choices of the receiver; coins of the sender, which make its offset |
//! | OLEs, triples | offset and choices |
//! | an offset that comes later; a batch of a pool | that offset; choices |
//! | opening of results at a receiver who does not compute | the results |
//! | tapes, products and settlements of every protocol | shares that are all zero, or not |
//! | opening of a forged message | position of the first wrong byte of the tag |
//!
//! Code that does branch has to be found, for garbled gates, transfers and tags, or the other
//! results do not count.

mod channel;
mod correlations;
mod steps;
mod transfers;
mod work;

use sealane_aead::Suite;
use sealane_auth::{AuthParty, Transfers};
use sealane_garble::Scheme;
use sealane_mixed::{GmwParty, MixedParty};
use sealane_ot::Security;
use sealane_ot::ferret::Params;
use sealane_testkit::timing::{Findings, THRESHOLD, TimedWork, difference, tiers};
use sealane_trio::{GuardedParty, TrioParty};

use correlations::{ProductKind, later, one_of_4, one_of_256, products, receiver_set_up, taking};
use steps::parties;
use transfers::{Offset, correcting, given_choices, silent, strings};
use work::{branching, eager, evaluation, garbling, opening, receiving};

/// Batches of one kind of work on one tier.
const BATCHES: usize = 1_000_000;
/// Batches of an oblivious transfer, each of which is a message.
const TRANSFERS: usize = 100_000;
/// Steps of a protocol at all its parties.
const STEPS: usize = 10_000;
/// Runs of silent extension, and of work with a set-up of its own: milliseconds each.
const SILENT: usize = 20_000;
const SET_UPS: usize = 1000;
/// The same with more base transfers.
const FEW_SET_UPS: usize = 400;

#[test]
#[ignore = "minutes; tools/timing.sh runs it in an optimised build"]
fn the_time_of_garbling_and_evaluation_does_not_depend_on_permute_bits() {
    let mut found = Findings::default();
    for cpu in tiers() {
        for scheme in Scheme::ALL {
            for known in [false, true] {
                let gates = format!("{scheme}, {}", if known { "half" } else { "whole" });
                let work = &mut evaluation(cpu, scheme, known);
                found.add(cpu, &format!("evaluation, {gates}"), BATCHES, work);
                let work = &mut garbling(cpu, scheme, known);
                found.add(cpu, &format!("garbling, {gates}"), BATCHES, work);
            }
        }
    }
    found.none();
}

#[test]
#[ignore = "minutes; tools/timing.sh runs it in an optimised build"]
fn the_time_of_transfers_does_not_depend_on_choices_and_offsets() {
    let mut found = Findings::default();
    for cpu in tiers() {
        let given = &mut given_choices(cpu);
        found.add(cpu, "given choices, receiver", TRANSFERS, given);
        for sends in [false, true] {
            let who = if sends { "sender" } else { "receiver" };
            let work = &mut strings(cpu, sends);
            found.add(cpu, &format!("strings, {who}"), TRANSFERS, work);
            for security in [Security::SemiHonest, Security::Malicious] {
                let what = format!("silent, {security:?}, {who}");
                let work = &mut silent(cpu, Params::danger_tiny(security), sends);
                found.add(cpu, &what, SILENT, work);
            }
            let params = Params::danger_tiny_uniform(Security::Malicious);
            let work = &mut silent(cpu, params, sends);
            found.add(cpu, &format!("silent, any places, {who}"), SILENT, work);
            let what = format!("offset that comes later, {who}");
            found.add(cpu, &what, TRANSFERS, &mut later(cpu, sends));
        }
        let oles = [ProductKind::OleSender, ProductKind::OleReceiver];
        let triples = [ProductKind::Boolean, ProductKind::Arithmetic];
        for kind in oles.into_iter().chain(triples) {
            let work = &mut products(cpu, kind);
            found.add(cpu, &format!("products, {kind:?}"), SILENT, work);
        }
        found.add(cpu, "one of 256, receiver", SILENT, &mut one_of_256(cpu));
        found.add(cpu, "one of 4, sender", FEW_SET_UPS, &mut one_of_4(cpu));
        found.add(cpu, "batch of a pool", SILENT, &mut taking(cpu));
        found.add(cpu, "set-up, receiver", SET_UPS, &mut receiver_set_up(cpu));
        for (k, security, extends) in [
            (4, Security::SemiHonest, true),
            (1, Security::Malicious, true),
            (4, Security::SemiHonest, false),
            (4, Security::Malicious, false),
        ] {
            let part = if extends { "extension" } else { "set-up" };
            let what = format!("{part}, {security:?}, k = {k}, sender");
            let of = Offset { cpu, k, security };
            if extends {
                found.add(cpu, &what, SET_UPS, &mut of.extension());
            } else {
                found.add(cpu, &what, SET_UPS, &mut of.set_up());
            }
        }
    }
    found.none();
}

#[test]
#[ignore = "minutes; tools/timing.sh runs it in an optimised build"]
fn the_time_of_refusing_a_forgery_does_not_depend_on_where_its_tag_is_wrong() {
    let mut found = Findings::default();
    for cpu in tiers() {
        let suites = Suite::names().map(|name| Suite::named(name, None, None));
        for suite in suites.flatten().filter(|suite| suite.tag_bytes() > 0) {
            let what = format!("opening, {}", suite.name());
            found.add(cpu, &what, BATCHES, &mut opening(cpu, suite));
        }
    }
    found.none();
}

#[test]
#[ignore = "minutes; tools/timing.sh runs it in an optimised build"]
fn the_time_of_steps_does_not_depend_on_shares() {
    let mut found = Findings::default();
    for cpu in tiers() {
        let trio = &mut parties::<TrioParty>(cpu);
        found.add(cpu, "steps of trio", STEPS, trio);
        let guarded = &mut parties::<GuardedParty>(cpu);
        found.add(cpu, "steps of trio-malicious", STEPS, guarded);
        let gmw = &mut parties::<GmwParty>(cpu);
        found.add(cpu, "steps of gmw", STEPS, gmw);
        let mixed = &mut parties::<MixedParty>(cpu);
        found.add(cpu, "steps of mixed", STEPS, mixed);
        let auth = &mut parties::<AuthParty<Transfers>>(cpu);
        found.add(cpu, "steps of auth", STEPS, auth);
    }
    found.none();
}

#[test]
#[ignore = "minutes; tools/timing.sh runs it in an optimised build"]
fn the_time_of_receivers_does_not_depend_on_their_bits() {
    let mut found = Findings::default();
    for cpu in tiers() {
        found.add(cpu, "results, receiver", BATCHES, &mut receiving());
    }
    found.none();
}

#[test]
fn work_that_branches_is_found() {
    let cases: [(&str, &mut dyn TimedWork); 3] = [
        ("an evaluator that branches", &mut branching()),
        ("a sender that branches on its offset", &mut correcting()),
        ("a comparison of tags that ends early", &mut eager()),
    ];
    let found = cases.map(|(what, work)| (what, difference(50_000, work)));
    println!("{found:.2?}");
    assert!(found.iter().all(|(_, t)| *t >= THRESHOLD), "{found:.2?}");
}
