//! Statistical test that times do not depend on secrets, over a million batches.
//!
//!     sh tools/timing.sh      an optimised build, every kind of work, scheme, mode and tier
//!     SEALANE_TIER=vaes256 sh tools/timing.sh transfers      one tier, one kind of work
//!
//! The method is that of Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?" (DATE
//! 2017). Two classes of inputs come in random turns: blocks whose lowest bits are all 0, where a
//! predictor would always be right, and blocks whose lowest bits are random. All else is random in
//! both, and made by the same steps, before the clock starts. Welch's t-test compares the times of
//! the classes: all of them, and those below some quantiles, since interruptions make long times
//! longer. Beyond 10 the means certainly differ. The result holds for this machine and this build;
//! `memcheck` checks branches and addresses instead.
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
//! | a session of a served netlist | bits of the server |
//! | opening of a forged message | position of the first wrong byte of the tag |
//!
//! Code that does branch has to be found, for garbled gates, transfers and tags, or the other
//! results do not count.

mod goods;
mod served;
mod transfers;
mod work;

use sealane_aead::Suite;
use sealane_block::cpu::TIER_VARIABLE;
use sealane_block::{Block, Cpu, Prg, clock};
use sealane_garble::Scheme;
use sealane_ot::Security;
use sealane_ot::ferret::Params;

use goods::{Choosing, Keys, Kind, Later, Products, Scalar, Taking};
use served::{Receiving, Serving};
use transfers::{Chosen, Correcting, Offset, Silent, Transfer};
use work::{Branching, Eager, Evaluation, Garbling, Opening, TimedWork};

/// Batches of one kind of work on one tier.
const BATCHES: usize = 1_000_000;
/// Batches of an oblivious transfer, each of which is a message.
const TRANSFERS: usize = 100_000;
/// Runs of silent extension, and of work with a set-up of its own: milliseconds each.
const SILENT: usize = 20_000;
const SET_UPS: usize = 1000;
/// The same with more base transfers.
const FEW_SET_UPS: usize = 400;
/// Rows of a batch: as many as a kernel takes in one turn.
pub const ROWS: usize = 16;
/// From here on the means of two classes differ.
const THRESHOLD: f64 = 10.0;

#[test]
#[ignore = "minutes; tools/timing.sh runs it in an optimised build"]
fn the_time_of_garbling_and_evaluation_does_not_depend_on_permute_bits() {
    let mut found = Findings::default();
    for cpu in tiers() {
        for scheme in Scheme::ALL {
            for known in [false, true] {
                let gates = if known { "half" } else { "whole" };
                let mut evaluation = Evaluation::new(cpu, scheme, known);
                found.add(
                    cpu,
                    &format!("evaluation, {scheme}, {gates}"),
                    BATCHES,
                    &mut evaluation,
                );
                let mut garbling = Garbling::new(cpu, scheme, known);
                found.add(
                    cpu,
                    &format!("garbling, {scheme}, {gates}"),
                    BATCHES,
                    &mut garbling,
                );
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
        let given = &mut Transfer::new(cpu);
        found.add(cpu, "given choices, receiver", TRANSFERS, given);
        for sends in [false, true] {
            let who = if sends { "sender" } else { "receiver" };
            let work = &mut Chosen::new(cpu, sends);
            found.add(cpu, &format!("strings, {who}"), TRANSFERS, work);
            for security in [Security::SemiHonest, Security::Malicious] {
                let what = format!("silent, {security:?}, {who}");
                let work = &mut Silent::new(cpu, Params::danger_tiny(security), sends);
                found.add(cpu, &what, SILENT, work);
            }
            let params = Params::danger_tiny_uniform(Security::Malicious);
            let work = &mut Silent::new(cpu, params, sends);
            found.add(cpu, &format!("silent, any places, {who}"), SILENT, work);
            let work = &mut Later::new(cpu, sends);
            found.add(
                cpu,
                &format!("offset that comes later, {who}"),
                TRANSFERS,
                work,
            );
        }
        for kind in [
            Kind::OleSender,
            Kind::OleReceiver,
            Kind::Boolean,
            Kind::Arithmetic,
        ] {
            let work = &mut Products::new(cpu, kind);
            found.add(cpu, &format!("products, {kind:?}"), SILENT, work);
        }
        found.add(cpu, "one of 256, receiver", SILENT, &mut Choosing::new(cpu));
        found.add(cpu, "one of 4, sender", FEW_SET_UPS, &mut Keys::new(cpu));
        found.add(cpu, "batch of a pool", SILENT, &mut Taking::new(cpu));
        found.add(cpu, "set-up, receiver", SET_UPS, &mut Scalar::new(cpu));
        for (k, security, extends) in [
            (4, Security::SemiHonest, true),
            (1, Security::Malicious, true),
            (4, Security::SemiHonest, false),
            (4, Security::Malicious, false),
        ] {
            let part = if extends { "extension" } else { "set-up" };
            let what = format!("{part}, {security:?}, k = {k}, sender");
            let work = &mut Offset::new(cpu, (k, security), extends);
            found.add(cpu, &what, SET_UPS, work);
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
            found.add(cpu, &what, BATCHES, &mut Opening::new(cpu, suite));
        }
    }
    found.none();
}

#[test]
#[ignore = "minutes; tools/timing.sh runs it in an optimised build"]
fn the_time_of_receivers_and_servers_does_not_depend_on_their_bits() {
    let mut found = Findings::default();
    for cpu in tiers() {
        found.add(cpu, "results, receiver", BATCHES, &mut Receiving::new());
        found.add(cpu, "served netlist", SILENT, &mut Serving::new(cpu));
    }
    found.none();
}

/// All tiers of this machine, or the one that the usual variable names.
fn tiers() -> Vec<Cpu> {
    match std::env::var_os(TIER_VARIABLE) {
        Some(_) => vec![Cpu::detect().expect("a tier of this machine")],
        None => Cpu::available(),
    }
}

/// Kinds of work whose times differ.
#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn add(&mut self, cpu: Cpu, what: &str, batches: usize, work: &mut dyn TimedWork) {
        let t = difference(batches, work);
        println!("{:<9} {what:<36} t = {t:6.2}", cpu.tier().name());
        if t >= THRESHOLD {
            self.0.push(format!("{what} on {}: t = {t:.2}", cpu.tier()));
        }
    }

    fn none(&self) {
        assert!(self.0.is_empty(), "time depends on secrets: {:?}", self.0);
    }
}

#[test]
fn an_evaluator_that_branches_is_found() {
    let t = difference(50_000, &mut Branching::new());
    println!("an evaluator that branches: t = {t:.2}");
    assert!(t >= THRESHOLD, "t = {t:.2}");
}

#[test]
fn a_sender_that_branches_on_its_offset_is_found() {
    let t = difference(50_000, &mut Correcting::default());
    println!("a sender that branches: t = {t:.2}");
    assert!(t >= THRESHOLD, "t = {t:.2}");
}

#[test]
fn a_comparison_of_tags_that_ends_early_is_found() {
    let t = difference(50_000, &mut Eager::default());
    println!("a comparison that ends early: t = {t:.2}");
    assert!(t >= THRESHOLD, "t = {t:.2}");
}

/// Nothing differs where both classes do the same work, whatever its time is.
#[test]
fn the_statistic_is_that_of_welch() {
    // Means 3 and 6, variances 2.5 and 10, five of each: t = -3 / sqrt(0.5 + 2).
    let times = [(1, 2), (2, 4), (3, 6), (4, 8), (5, 10)];
    let samples = times.map(|(a, b)| [(a, false), (b, true)]).concat();
    assert!((welch(&samples, u64::MAX) + 3.0 / 2.5f64.sqrt()).abs() < 1e-12);
    let same = times.map(|(a, _)| [(a, false), (a, true)]).concat();
    assert_eq!(welch(&same, u64::MAX), 0.0);
    // Cropped to times of at most 4: means 2.5 and 3, variances 5/3 and 2 of four and two.
    let cropped = welch(&samples, 4);
    assert!((cropped + 0.5 / (5.0 / 12.0 + 1.0f64).sqrt()).abs() < 1e-12);
}

/// The largest |t| between blocks whose lowest bits are 0 and blocks with random ones, over all
/// times and over those below some quantiles.
fn difference(batches: usize, work: &mut dyn TimedWork) -> f64 {
    let cpu = *Cpu::available().last().expect("the portable tier");
    let mut prg = Prg::danger_fixed(cpu, 1);
    let mut samples = Vec::with_capacity(batches);
    let mut labels = vec![Block::ZERO; 2 * ROWS + 1];
    // The first times are those of cold caches and predictors.
    for batch in 0..batches + batches / 10 {
        prg.fill(&mut labels);
        let (inputs, class) = labels.split_at_mut(2 * ROWS);
        let random = class[0].lsb();
        // Both classes are made alike: nothing but the bits themselves differs.
        let kept = Block::new(!1) ^ Block::new(u128::from(random));
        for label in inputs.iter_mut() {
            *label = *label & kept;
        }
        work.prepare(inputs);
        let before = clock::ticks();
        work.run();
        let ticks = clock::ticks() - before;
        work.settle();
        if batch >= batches / 10 {
            samples.push((ticks, random == 1));
        }
    }
    let mut times: Vec<u64> = samples.iter().map(|&(ticks, _)| ticks).collect();
    times.sort_unstable();
    let below = [1.0, 0.999, 0.99, 0.95, 0.9, 0.75, 0.5];
    let quantile = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    let t = |part: f64| welch(&samples, quantile(part)).abs();
    below.map(t).into_iter().fold(0.0, f64::max)
}

/// Welch's t of the first class against the second, over times of at most `most`; 0 where a class
/// has too few or none of the times differ.
fn welch(samples: &[(u64, bool)], most: u64) -> f64 {
    let moments = |class: bool| {
        let kept = samples
            .iter()
            .filter(|&&(ticks, of)| of == class && ticks <= most);
        let times: Vec<f64> = kept.map(|&(ticks, _)| ticks as f64).collect();
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let squares = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
        (mean, squares / (count - 1.0) / count)
    };
    let ((mean, error), (other_mean, other_error)) = (moments(false), moments(true));
    let t = (mean - other_mean) / (error + other_error).sqrt();
    if t.is_nan() { 0.0 } else { t }
}
