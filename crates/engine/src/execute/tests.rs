//! The fake n-party protocols through plan and engine: domains and conversions, flights of several
//! messages between all pairs of parties, checks that stay pending until the reveal; an offline
//! walk, pools that are refilled, checks that tiles settle, broadcasts, and an opening in the
//! middle.

mod auth;
mod choices;
mod correlations;
mod texts;

use super::PlanStart;
use crate::job::{Job, ProtocolName};
use crate::journal::Journal;
use crate::split_plan::SplitPlan;
use proptest::prelude::*;
use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::{Fault, Party, Stocks};
use sealane_plan::steps::{PlanValue, Segment, Step, StepOp};
use sealane_plan::{CostReport, Form, StepCost, StepKind};
use sealane_program::graph::Program;
use sealane_program::text;
use sealane_program::types::Data;
use sealane_protocol::{Algebra, Batch, Correlation, RingOp, Sharing, Timing};
use sealane_testkit::fake::{FakeParty, Honest, HonestParty};
use sealane_testkit::masked::{Masked, MaskedParty};
use sealane_testkit::random_program::{Case, arithmetic, cases};
use sealane_testkit::reference;
use std::collections::{BTreeMap, BTreeSet};
use std::thread;

/// Program of three owners who learn different results: a product, a comparison, a sum over rows
/// and a scan.
const THREE: &str = r#"sealane program 1
name three
party ann
party ben
party cat
rows n <= 100
input x : ann u8[n] in 0..255
input y : ben i8[n] in -128..127
input z : cat i32 in -5..5
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : i8[n] in -128..127 known ben
  %2 = param 2 : i32 in -5..5 known cat
  %3 = cast %0 : i32[n] in 0..255 known ann
  %4 = cast %1 : i32[n] in -128..127 known ben
  %5 = mul %3, %4 : i32[n] in -32640..32385 secret
  %6 = gt %5, %2 : bool[n] in 0..1 secret
  %7 = reduce sum %5 axis 0 : i32 in -3264000..3238500 secret
}
reveal above = %6 : bool to ann, cat
reveal total = %7 : i32 to ben
"#;

type Outcome = Result<(Vec<Option<Data>>, Vec<u64>, u64), Fault>;

/// Runs all parties in threads. Returns for each its results, payload bytes sent to others, and
/// rounds.
fn run<P: Party>(
    program: &Program,
    inputs: &BTreeMap<String, Data>,
    work: &SplitPlan,
) -> (Vec<Outcome>, CostReport) {
    run_with::<P>(program, inputs, work, |_| Stocks::default())
}

/// As [`run`], with what `stocks` returns for each party.
fn run_with<P: Party>(
    program: &Program,
    inputs: &BTreeMap<String, Data>,
    work: &SplitPlan,
    stocks: impl Fn(&Mesh) -> Stocks + Sync,
) -> (Vec<Outcome>, CostReport) {
    let rows = reference::rows(program, inputs).expect("row counts");
    let cost = work.cost::<P::Protocol>(&rows);
    let party = |mesh: &mut Mesh| -> Outcome {
        let cpu = Cpu::detect().expect("a tier");
        let me = mesh.me();
        let own = program.inputs.iter();
        let own = own.map(|input| (input.owner == me.0).then(|| &inputs[&input.name]));
        let own = own.collect::<Vec<_>>();
        let start = PlanStart {
            rows: &rows,
            demand: &cost.demand,
            form: cost.form,
            cpu,
            coins: Coins::danger_fixed_seed(u64::from(me.0)),
            stocks: stocks(mesh),
        };
        let journal = &mut Journal::silent();
        let results = work.run::<P>(&own, start, journal, mesh)?;
        let sent = |to| if to == me { 0 } else { mesh.payload_sent(to) };
        let sent = (0..mesh.parties()).map(PartyId::from_index).map(sent);
        let sent = sent.collect();
        let rounds = u64::from(mesh.rounds());
        mesh.finish()?;
        Ok((results, sent, rounds))
    };
    // No party leaves before all have ended: a party that leaves early would end the runs of the
    // others with its absence, before they find the error under test.
    let mut meshes = Mesh::in_memory(program.parties.len());
    let outcomes = thread::scope(|scope| {
        let threads = meshes.iter_mut().map(|mesh| scope.spawn(|| party(mesh)));
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    (outcomes, cost)
}

fn planned<P: Party>(program: &Program, tile: u64) -> SplitPlan {
    SplitPlan::plan::<P::Protocol>(program, 0, NetworkClass::LAN, tile).expect("a plan")
}

fn check<P: Party>(program: &Program, inputs: &BTreeMap<String, Data>, work: &SplitPlan) {
    check_ends(program, inputs, work, run::<P>(program, inputs, work));
}

/// Checks results, bytes and rounds of all parties.
fn check_ends(
    program: &Program,
    inputs: &BTreeMap<String, Data>,
    work: &SplitPlan,
    (outcomes, cost): (Vec<Outcome>, CostReport),
) {
    let want = reference::evaluate(program, inputs).expect("inputs of the case");
    let mut rounds = 0;
    for (me, outcome) in outcomes.into_iter().enumerate() {
        let (results, sent, seen) = outcome.expect("an honest run");
        for (result, data) in program.results.iter().zip(results) {
            assert_eq!(data.is_some(), result.to.contains(&(me as u8)));
            let got = data.map(|data| (data.shape.clone(), data.elements.clone()));
            let want = &want[&result.name];
            let want = (want.shape.clone(), want.elements.clone());
            assert!(
                got.as_ref().is_none_or(|got| *got == want),
                "{}: {got:?} instead of {want:?}\n{}\n{}",
                result.name,
                text::print(program),
                work.joint.text()
            );
        }
        for (to, bytes) in sent.into_iter().enumerate() {
            let link = (PartyId::from_index(me), PartyId::from_index(to));
            assert_eq!(bytes, cost.promise.payload.get(&link).copied().unwrap_or(0));
        }
        rounds = rounds.max(seen);
    }
    assert_eq!(rounds, cost.promise.rounds);
}

fn three() -> (Program, BTreeMap<String, Data>) {
    let program = text::parse(THREE, "three").unwrap_or_else(|error| panic!("{error}"));
    let data = |input: usize, shape: &[u64], elements: Vec<u64>| Data {
        ty: program.inputs[input].ty,
        shape: shape.to_vec(),
        elements,
    };
    let inputs = BTreeMap::from([
        (
            "x".to_string(),
            data(0, &[50], (0..50).map(|i| i * 5).collect()),
        ),
        (
            "y".to_string(),
            data(1, &[50], (0..50).map(|i| (i as i64 - 25) as u64).collect()),
        ),
        ("z".to_string(), data(2, &[], vec![(-3i64) as u64])),
    ]);
    (program, inputs)
}

#[test]
fn three_parties_learn_what_they_may_in_the_planned_rounds() {
    let (program, inputs) = three();
    for tile in [1, 7, 64, 100] {
        check::<HonestParty>(&program, &inputs, &planned::<HonestParty>(&program, tile));
    }
}

#[test]
fn a_spoilt_check_ends_every_honest_run_before_anything_is_revealed() {
    let (program, inputs) = three();
    let (outcomes, _) =
        run::<FakeParty<1>>(&program, &inputs, &planned::<HonestParty>(&program, 64));
    for outcome in outcomes {
        assert!(matches!(outcome, Err(Fault::CheckFailed)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_fake_computes_what_the_reference_computes(case in cases(), tile in 1u64..5) {
        let Case { program, inputs } = &case;
        let work = SplitPlan::plan::<Honest>(program, 0, NetworkClass::LAN, tile);
        prop_assume!(!work.as_ref().is_err_and(|error| error.code == "whole-rows"));
        check::<HonestParty>(program, inputs, &work.expect("a plan"));
    }
}

/// Changes of a plan that leave its results as they are: when offline parts run, and for how many
/// tiles pools are filled.
fn varied(mut work: SplitPlan, timing: Timing, tiles: u64) -> SplitPlan {
    work.joint.setting.timing = timing;
    for segment in &mut work.joint.segments {
        segment.refill = segment.refill.map(|_| tiles);
    }
    work
}

const TIMINGS: [Timing; 2] = [Timing::TileByTile, Timing::AheadOfInputs];

#[test]
fn an_offline_walk_prepares_what_the_online_one_takes_in_the_planned_bytes_and_rounds() {
    let (program, inputs) = three();
    for (tile, tiles) in [(1, 1), (1, 7), (7, 2), (7, 3), (64, 1), (100, 1 << 20)] {
        for timing in TIMINGS {
            let work = varied(planned::<MaskedParty>(&program, tile), timing, tiles);
            check::<MaskedParty>(&program, &inputs, &work);
        }
    }
}

#[test]
fn plan_and_cost_show_both_walks() {
    let (program, _) = three();
    let work = planned::<MaskedParty>(&program, 7);
    let text = work.joint.text();
    assert!(text.contains("\"timing\":\"tile-by-tile\""), "{text}");
    assert!(text.contains("\"rows\":0,\"refill\":14438}"), "{text}");
    let ahead = varied(work, Timing::AheadOfInputs, 1);
    let text = ahead.joint.text();
    assert!(text.contains("\"timing\":\"ahead-of-inputs\""), "{text}");
    assert!(text.contains("\"rows\":0,\"refill\":1}"), "{text}");
    let cost = ahead.cost::<Masked>(&[50]);
    let (offline, online) = cost
        .steps
        .iter()
        .partition::<Vec<_>, _>(|step| step.offline);
    // The preparation is one line more; both walks have the same steps and a reveal.
    assert_eq!(offline.len(), online.len() + 1);
    for (offline, online) in offline[1..].iter().zip(&online) {
        assert_eq!(offline.label, format!("offline: {}", online.label));
        assert_eq!(offline.line, online.line);
    }
    let bytes = |steps: &[&StepCost]| steps.iter().flat_map(|step| &step.sent).sum::<u64>();
    let sent = bytes(&offline) + bytes(&online);
    assert_eq!(sent, cost.promise.payload_bytes());
    assert!(bytes(&offline[1..]) > 0 && bytes(&online) > 0);
    // A pool for one tile is smaller than one for all of them.
    let all = varied(ahead, Timing::AheadOfInputs, 8).cost::<Masked>(&[50]);
    assert!(0 < cost.pool_bytes && cost.pool_bytes < all.pool_bytes);
}

/// Batches follow from the row counts of a run, and the bytes of refills from batches.
#[test]
fn products_are_made_in_batches_that_suit_their_number() {
    let (program, inputs) = three();
    let plan = planned::<MaskedParty>(&program, 7).joint;
    let at = |rows: u64| {
        sealane_plan::at_rows::<Masked>(&plan, &[rows])
            .setting
            .batch
    };
    let bucket = |rows| at(rows).map(|batch| (batch.products, batch.bucket));
    assert_eq!(plan.setting.batch, None);
    assert_eq!([bucket(1), bucket(10_000)], [Some((5, 3)), Some((9, 2))]);
    for tile in [7, 64] {
        check::<MaskedParty>(&program, &inputs, &planned::<MaskedParty>(&program, tile));
    }
}

/// A tape on many rows runs on XOR shares in a small circuit, one on a single lane on masked values
/// in a flat circuit, each as it takes the least time; XOR shares become ring elements at once.
#[test]
fn tapes_of_one_plan_run_in_the_domains_of_least_time() {
    let (program, inputs) = three();
    let changed = text::print(&program)
        .replace("rows n <= 100", "rows n <= 5000")
        .replace(
            "mul %3, %4 : i32[n] in -32640..32385",
            "max %3, %4 : i32[n] in 0..255",
        )
        .replace(
            "gt %5, %2 : bool[n] in 0..1",
            "mul %5, %4 : i32[n] in -32640..32385",
        )
        .replace(
            "sum %5 axis 0 : i32 in -3264000..3238500 secret",
            "sum %6 axis 0 : i32 in -163200000..161925000 secret\n  %8 = gt %7, %2 : bool in 0..1 secret",
        )
        .replace("above = %6", "above = %8");
    let program = text::parse(&changed, "changed").unwrap_or_else(|error| panic!("{error}"));
    let work = planned::<MaskedParty>(&program, u64::MAX);
    check::<MaskedParty>(&program, &inputs, &work);
    let plan = work.joint;
    let sharing = |value: PlanValue| plan[value].domain.sharing;
    let (mut by_rows, mut once, mut direct) = (vec![], vec![], 0);
    for segment in &plan.segments {
        for step in &segment.steps {
            match (&step.op, segment.rows) {
                (StepOp::Tape { outs, .. }, Some(_)) => by_rows.push(sharing(outs[0].value)),
                (StepOp::Tape { outs, .. }, None) => once.push(sharing(outs[0].value)),
                (StepOp::Convert { value, out }, _) => {
                    let to = plan[out].domain.algebra;
                    direct += usize::from(sharing(*value) == Sharing::Xor && to != Algebra::Z2);
                }
                _ => {}
            }
        }
    }
    let found = (by_rows, once, direct);
    let want = (vec![Sharing::Xor], vec![Sharing::Masked], 1);
    assert_eq!(found, want, "{}", plan.text());
}

/// A reduction takes the domain of least time too.
#[test]
fn a_reduction_runs_in_the_domain_of_least_time() {
    let (program, inputs) = three();
    let largest = text::print(&program).replace(
        "reduce sum %5 axis 0 : i32 in -3264000..3238500",
        "reduce max %5 axis 0 : i32 in -32640..32385",
    );
    let program = text::parse(&largest, "largest").unwrap_or_else(|error| panic!("{error}"));
    let work = planned::<MaskedParty>(&program, 7);
    check::<MaskedParty>(&program, &inputs, &work);
    let plan = work.joint;
    let steps = plan.segments.iter().flat_map(|segment| &segment.steps);
    let tapes = [StepKind::Tape, StepKind::Fold, StepKind::Scan];
    let tapes = steps.filter(|step| tapes.contains(&step.op.kind()));
    let sharing = |out: PlanValue| plan[out].domain.sharing;
    let found = tapes.map(|step| (step.op.kind(), sharing(step.op.writes()[0])));
    let found = found.collect::<Vec<_>>();
    let want = [
        (StepKind::Tape, Sharing::Masked),
        (StepKind::Fold, Sharing::Masked),
    ];
    assert_eq!(found, want, "{}", plan.text());
}

/// Parties whose machines choose different forms of a plan do not run the same instance.
#[test]
fn the_form_of_a_plan_is_a_part_of_the_instance() {
    let job = Job::new(three().0, ProtocolName::Trio, NetworkClass::LAN, vec![]).expect("a job");
    let form = job.cost(&[50]).expect("a cost").form;
    let (plan, silent) = (form.plan + 1, !form.silent);
    let batch = |products, bucket| Form {
        batch: Some(Batch { products, bucket }),
        ..form
    };
    let others = [batch(5, 3), batch(5, 2), batch(9, 3)];
    let forms = [form, Form { plan, ..form }, Form { silent, ..form }];
    let forms = [forms, others].concat();
    let hashes = forms
        .into_iter()
        .map(|form| job.instance_hash(&[50], form, &[]));
    assert_eq!(hashes.collect::<BTreeSet<_>>().len(), 6);
}

/// A product by numbers that a party knows takes as few bytes as hold them, after one flight
/// offline.
#[test]
fn numbers_that_a_party_knows_are_told_in_as_few_bytes_as_hold_them() {
    let (program, inputs) = three();
    let work = planned::<MaskedParty>(&program, u64::MAX);
    check::<MaskedParty>(&program, &inputs, &work);
    let cost = work.cost::<Masked>(&[50]);
    let product = cost.steps.iter().filter(|step| step.label.ends_with("mul"));
    let sent = product.map(|step| (step.offline, step.flights, step.sent.clone()));
    // One byte for each number of the first party, and a word of each party for each product.
    let online = vec![2 * (50 + 8 * 50), 2 * 8 * 50, 2 * 8 * 50];
    let want = [(true, 1, vec![2 * 8 * 50; 3]), (false, 2, online)];
    assert_eq!(sent.collect::<Vec<_>>(), want);
}

/// A choice, the bits that a circuit reads, and a floor are steps of their own where the protocol
/// has them.
#[test]
fn elements_of_a_ring_are_chosen_split_and_divided_without_all_of_their_bits() {
    let (program, inputs) = three();
    let changed = text::print(&program)
        .replace(
            "gt %5, %2 : bool[n] in 0..1 secret",
            "const [0] : i32 in 0..0 public\n  %7 = lt %5, %6 : bool[n] in 0..1 secret",
        )
        .replace(
            "  %7 = reduce sum %5 axis 0",
            "  %8 = select %7, %5, %6 : i32[n] in -32640..32385 secret\n  %9 = reduce sum %8 axis 0",
        )
        .replace(
            "in -3264000..3238500 secret",
            "in -3264000..3238500 secret\n  %10 = const [3] : u2 in 3..3 public\n  \
             %11 = shr %9, %10 : i32 in -408000..404812 secret",
        )
        .replace("above = %6", "above = %7")
        .replace("total = %7", "total = %11");
    let program = text::parse(&changed, "changed").unwrap_or_else(|error| panic!("{error}"));
    for tile in [7, 100] {
        let work = planned::<MaskedParty>(&program, tile);
        check::<MaskedParty>(&program, &inputs, &work);
        let demand = work.cost::<Masked>(&[50]).demand;
        let plan = work.joint;
        let steps = plan.segments.iter().flat_map(|segment| &segment.steps);
        let ops = steps.filter_map(|step| match &step.op {
            StepOp::Ring(ring) => Some(ring.op),
            StepOp::Convert { .. } => panic!("all bits of a value: {}", plan.text()),
            _ => None,
        });
        let (first, count) = (15, 1);
        let extract = RingOp::Extract { first, count };
        let want = [extract, RingOp::Select, RingOp::Floor { by: 3 }];
        assert_eq!(ops.collect::<Vec<_>>(), want, "{}", plan.text());
        let select = |kind| matches!(kind, Correlation::Select { .. });
        assert!(!demand.only(select).is_empty());
    }
}

/// A value is opened to all in the middle of a run, after the checks of what it depends on, and
/// goes on as a constant.
#[test]
fn a_value_that_is_opened_in_the_middle_goes_on_as_a_constant() {
    let (program, inputs) = three();
    for timing in TIMINGS {
        let mut work = varied(planned::<MaskedParty>(&program, 7), timing, 2);
        let plan = &mut work.joint;
        // The total: its segment is the last, and so the opening has one of its own behind it.
        let value = plan.results[1].value;
        let mut known = plan[value].clone();
        known.kept = false;
        let out = PlanValue(plan.values.len() as u32);
        plan.values.push(known);
        plan.results[1].value = out;
        let step = |op| Step {
            op,
            label: "open".to_string(),
            span: None,
        };
        plan.segments.push(Segment {
            rows: None,
            refill: None,
            steps: vec![step(StepOp::Settle), step(StepOp::Open { value, out })],
        });
        let cost = work.cost::<Masked>(&[50]);
        let opened = cost.steps.iter().filter(|step| step.label == "open");
        assert_eq!(opened.map(|step| step.flights).sum::<u64>(), 2);
        check::<MaskedParty>(&program, &inputs, &work);
    }
}

#[test]
fn a_party_that_broadcasts_different_words_ends_the_run_before_anything_is_opened() {
    let (program, inputs) = three();
    let work = planned::<MaskedParty>(&program, 7);
    let (outcomes, _) = run::<MaskedParty<1>>(&program, &inputs, &work);
    for outcome in outcomes {
        assert!(matches!(outcome, Err(Fault::CheckFailed)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Programs of all kinds, and programs whose sums and products are those of a ring.
    #[test]
    fn both_walks_compute_what_the_reference_computes(
        case in prop_oneof![cases(), arithmetic()],
        tile in 1u64..5,
        tiles in 1u64..4,
        ahead in any::<bool>(),
    ) {
        let Case { program, inputs } = &case;
        prop_assume!(program.parties.len() > 1);
        let work = SplitPlan::plan::<Masked>(program, 0, NetworkClass::LAN, tile);
        prop_assume!(!work.as_ref().is_err_and(|error| error.code == "whole-rows"));
        let timing = TIMINGS[usize::from(ahead)];
        check::<MaskedParty>(program, inputs, &varied(work.expect("a plan"), timing, tiles));
    }
}

/// Without steps after it that leave checks, the checks of a fold's last carry are all that the
/// settlement after its segment has.
#[test]
fn checks_of_carries_are_settled_with_the_tile_after_them() {
    let program = r"sealane program 1
name smallest
party ann
party ben
rows n <= 9
input x : ann u8[n] in 0..255
input y : ben u8 in 0..255
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : u8 in 0..255 known ben
  %2 = gt %0, %1 : bool[n] in 0..1 secret
  %3 = reduce min %2 axis 0 : bool in 0..1 secret
}
reveal all = %3 : bool to ben
";
    let program = text::parse(program, "smallest").unwrap_or_else(|error| panic!("{error}"));
    for (rows, tile) in [(1, 1), (2, 1), (3, 1), (3, 2), (5, 2), (9, 1), (9, 4)] {
        let data = |shape: &[u64], elements| Data {
            ty: program.inputs[0].ty,
            shape: shape.to_vec(),
            elements,
        };
        let inputs = BTreeMap::from([
            ("x".to_string(), data(&[rows], (9..9 + rows).collect())),
            ("y".to_string(), data(&[], vec![8])),
        ]);
        for timing in TIMINGS {
            let work = varied(planned::<MaskedParty>(&program, tile), timing, 2);
            check::<MaskedParty>(&program, &inputs, &work);
        }
    }
}
