//! Costs of plans for the fake protocol, compared with counts made by hand; the choice of roles.

use crate::common::Sketch;
use sealane_circuit::Tape;
use sealane_parties::PartyId;
use sealane_plan::cost::time;
use sealane_plan::flow::IN_FLIGHT;
use sealane_plan::steps::{Fold, Plan, StepOp};
use sealane_plan::{NetworkClass, cost, plan, plan_in_tiles};
use sealane_program::graph::{Binary, Program, Reduction};
use sealane_program::types::Type;
use sealane_protocol::{
    Algebra, Choices, Correlation, Cost, Demand, Domain, DomainProfile, Message, Profile, Protocol,
    Role, Setting, StepShape,
};
use sealane_testkit::fake::Honest;

const A: PartyId = PartyId(0);
const B: PartyId = PartyId(1);

fn in_tiles(program: &Program, rows: u64) -> Plan {
    plan_in_tiles::<Honest>(program, 0, NetworkClass::LAN, rows).unwrap_or_else(|e| panic!("{e}"))
}

/// Two columns of bytes, their AND to alice.
fn and_program() -> Program {
    let mut s = Sketch::new(1_000_000);
    let [x, y] = s.columns(Type::U8);
    let both = s.binary(Binary::And, x, y);
    s.reveal("both", both, &[0]);
    s.finish()
}

/// Batches of a tape in which the fake protocol asks party 0 for products.
fn layers(tape: &Tape) -> u64 {
    tape.batches.iter().filter(|b| !b.ands.is_empty()).count() as u64
}

#[test]
fn bytes_and_rounds_are_those_counted_by_hand() {
    let plan = in_tiles(&and_program(), 4);
    let layers = layers(&plan.tapes[0]);
    for (rows, tiles) in [(1, 1), (4, 1), (10, 3), (1000, 250)] {
        let promise = cost::<Honest>(&plan, &[rows]).promise;
        assert_eq!(promise.ands, 8 * rows);
        // Per row: inputs of 8 shares of a byte each way; for 8 gates two factors of the one party
        // and a product of the other. Per tile: a check for each of two conversions. At the end all
        // of bob's shares of the result.
        let checks = 2 * tiles;
        assert_eq!(promise.payload[&(A, B)], 8 * rows + 8 * rows + checks);
        let owed = 8 * rows + 16 * rows + checks + 8 * rows;
        assert_eq!(promise.payload[&(B, A)], owed);
        let links = [promise.payload[&(A, B)], promise.payload[&(B, A)]];
        assert_eq!(promise.sent, links);
        // The first inputs are round 1. For the tiles in flight together, bob asks and alice
        // answers at once, layer by layer; the inputs of the next tiles leave bob together with his
        // next request. Checks and results leave bob one after the other, but he receives nothing
        // newer in between.
        let turns = tiles.div_ceil(IN_FLIGHT as u64);
        assert_eq!(promise.rounds, 1 + 2 * layers * turns + 1, "{rows} rows");
    }
}

#[test]
fn a_fold_over_rows_costs_one_lane_less_than_there_are_rows() {
    let mut s = Sketch::new(1000);
    let x = s.column("x", 0, Type::U8);
    let total = s.reduce_to(Reduction::Sum, x, None, Type::unsigned(32));
    s.reveal("total", total, &[0, 1]);
    let plan = in_tiles(&s.finish(), 4);
    let report = cost::<Honest>(&plan, &[10]);
    let mut steps = report.steps.iter();
    let fold = steps.find(|step| step.label == "sum").unwrap();
    // Tiles of 4, 4 and 2 rows: two levels; two levels and a carry; one level and a carry.
    assert_eq!((fold.times, fold.lanes), (2 + 3 + 2, 9));
    let StepOp::Fold(Fold { levels, carry, .. }) = &plan.segments[0].steps[2].op else {
        panic!("{}", plan.text())
    };
    let ands = |tape: &sealane_plan::steps::TapeId| plan.tapes[tape.0 as usize].ands.len() as u64;
    let level = levels.iter().map(ands).collect::<Vec<_>>();
    let ands = 5 * level[0] + 2 * level[1] + 2 * ands(&carry.unwrap());
    assert_eq!(fold.ands, ands);
}

#[test]
fn a_scan_over_rows_runs_once_a_row() {
    let mut s = Sketch::new(1000);
    let x = s.column("x", 0, Type::U8);
    let [last, all] = s.running_sum(x, Type::unsigned(16).wrapping());
    s.reveal("last", last, &[0]);
    s.reveal("all", all, &[1]);
    let plan = in_tiles(&s.finish(), 4);
    let report = cost::<Honest>(&plan, &[10]);
    let mut steps = report.steps.iter();
    let scan = steps.find(|step| step.label == "scan").unwrap();
    assert_eq!((scan.times, scan.lanes, scan.ands), (10, 10, 150));
}

#[test]
fn a_million_rows_are_tiles_of_one_cost() {
    let plan = plan::<Honest>(&and_program(), 0, NetworkClass::WAN).unwrap();
    let report = cost::<Honest>(&plan, &[1_000_000]);
    assert_eq!(report.promise.ands, 8_000_000);
    // 48 bytes per row, and the part that depends on tiles alone.
    let fewer = cost::<Honest>(&plan, &[500_000]).promise;
    let slope = (report.promise.payload_bytes() - fewer.payload_bytes()) as f64 / 500_000.0;
    assert!((slope - 48.0).abs() < 0.01, "{slope}");
    let [lan, wan] = [NetworkClass::LAN, NetworkClass::WAN].map(|c| report.estimate_s(c));
    assert!(0.0 < lan && lan < wan);
}

#[test]
fn links_and_estimates_grow_with_the_tiles() {
    let plan = in_tiles(&and_program(), 4);
    let report = cost::<Honest>(&plan, &[1000]);
    let promise = &report.promise;
    assert_eq!((promise.rounds, promise.ands), (128, 8000));
    let links = [((A, B), 16_500), ((B, A), 32_500)];
    let payload = promise.payload.clone().into_iter().collect::<Vec<_>>();
    assert_eq!(payload, links);
    let times = [NetworkClass::LAN, NetworkClass::WAN].map(|class| time(report.estimate_s(class)));
    assert_eq!(times, ["32.3 ms", "2.6 s"]);
    let steps = report.steps.iter();
    let steps = steps.filter(|step| step.sent.iter().sum::<u64>() > 0);
    let steps = steps.map(|step| (&*step.label, step.times, step.ands));
    let reported = [
        ("input", 250, 0),
        ("input", 250, 0),
        ("and", 250, 8000),
        ("reveal", 1, 0),
    ];
    assert_eq!(steps.collect::<Vec<_>>(), reported);
}

#[test]
fn the_cheapest_roles_are_taken_and_the_first_on_a_tie() {
    let program = |inputs: [u8; 2]| {
        let mut s = Sketch::new(100);
        let [x, y] = [("x", inputs[0]), ("y", inputs[1])].map(|(n, o)| s.column(n, o, Type::U8));
        let both = s.binary(Binary::And, x, y);
        s.reveal("both", both, &[0]);
        s.finish()
    };
    let roles = |inputs| {
        let plan = plan::<Lopsided>(&program(inputs), 0, NetworkClass::LAN);
        plan.unwrap().setting.roles
    };
    // Inputs of the second role are expensive.
    assert_eq!(roles([0, 0]), [[A], [B]]);
    assert_eq!(roles([1, 1]), [[B], [A]]);
    assert_eq!(roles([0, 1]), [[A], [B]]);
}

#[test]
fn demand_counts_every_tile() {
    let mut s = Sketch::new(1000);
    let x = s.column("x", 0, Type::U8);
    let flag = s.binary(Binary::Gt, x, 9);
    s.reveal("flag", flag, &[0]);
    let plan = plan_in_tiles::<Lopsided>(&s.finish(), 0, NetworkClass::LAN, 7).unwrap();
    let report = cost::<Lopsided>(&plan, &[100]);
    assert_eq!(report.demand.count(COT), 800);
    // Preparation is the first line, and its bytes are part of the promise.
    let wanted = ("prepare", &[800, 0][..]);
    let step = &report.steps[0];
    assert_eq!((step.label.as_str(), &step.sent[..]), wanted);
}

#[test]
fn a_protocol_for_two_refuses_three() {
    let mut builder = sealane_program::builder::Builder::new("three").unwrap();
    for name in ["a", "b", "c"] {
        builder.party(name).unwrap();
    }
    let one = builder.scalar(Type::U8, 1, None).unwrap();
    let revealed = builder.reveal("one", one.into(), &[0], Type::U8, None);
    revealed.unwrap();
    let program = builder.finish().unwrap().0;
    let refused = plan::<Lopsided>(&program, 0, NetworkClass::LAN);
    assert_eq!(refused.err().unwrap().code, "parties");
}

const COT: Correlation = Correlation::Cot {
    sender: A,
    receiver: B,
    choices: Choices::Given,
};

const ROLES: &[Role] = &[Role::one("free"), Role::one("dear")];

/// A protocol with costs only: two roles, of which the second pays for its inputs; each input bit
/// needs a correlation, each correlation a byte of the first party.
struct Lopsided;

impl Protocol for Lopsided {
    fn profile() -> Profile {
        Profile {
            name: "lopsided",
            roles: ROLES,
            ..Honest::profile()
        }
    }

    fn domain(algebra: Algebra) -> Domain {
        Honest::domain(algebra)
    }

    fn domain_profile(domain: Domain, parties: usize) -> DomainProfile {
        Honest::domain_profile(domain, parties)
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        match work {
            StepShape::Input(input) if input.owner == setting.player(1) => {
                let (from, to) = (setting.player(1), setting.player(0));
                let bytes = input.elements * input.bits;
                Cost::of(vec![vec![Message { from, to, bytes }]])
            }
            _ => Cost::default(),
        }
    }

    fn demand(_: &Setting, work: &StepShape) -> Demand {
        let mut demand = Demand::default();
        if let StepShape::Input(input) = work {
            demand.add(COT, input.elements * input.bits);
        }
        demand
    }

    fn set_up_cost(_: &Setting, demand: &Demand) -> Cost {
        Cost::of(vec![vec![Message::new(A, B, demand.count(COT))]])
    }
}

/// A party states its row counts when the run begins: for any number within the bound, counting
/// takes constant time and nothing overflows.
#[test]
fn a_trillion_rows_are_counted_at_once_and_more_than_can_be_counted_are_refused() {
    let running_sum = |bound: u64, ty: Type| {
        let mut s = Sketch::new(bound);
        let [x, y] = s.columns(Type::U8);
        let both = s.binary(Binary::And, x, y);
        let both = s.cast(both, ty);
        let [last, _] = s.running_sum(both, ty);
        s.reveal("last", last, &[0]);
        s.finish()
    };
    let ty = Type::unsigned(64).wrapping();
    let bound = 1 << 40;
    let counted = in_tiles(&running_sum(bound, ty), u64::MAX);
    let began = std::time::Instant::now();
    let promise = cost::<Honest>(&counted, &[bound]).promise;
    assert!(began.elapsed() < std::time::Duration::from_secs(10));
    // Each row adds as many rounds as the one before it.
    let rounds = |rows: u64| cost::<Honest>(&counted, &[rows]).promise.rounds;
    let of_row = rounds(2001) - rounds(2000);
    assert!(promise.rounds >= of_row * bound && promise.rounds < (of_row + 1) * bound);

    let mut s = Sketch::new(bound);
    let wide = s.by_rows(&[1 << 24]);
    let x = s.input("x", 0, Type::unsigned(64), wide.clone());
    let y = s.input("y", 1, Type::unsigned(64), wide);
    let both = s.binary(Binary::And, x, y);
    s.reveal("both", both, &[0]);
    let refusal = plan::<Honest>(&s.finish(), 0, NetworkClass::LAN);
    assert_eq!(refusal.err().expect("a refusal").code, "run-too-large");
}
