//! Vectors of the wire: refills from a pool.

use super::{Goods, Taken, transfers};
use sealane_block::{Coins, Cpu};
use sealane_net::{FrameKind, Mesh};
use sealane_parties::PartyId;
use sealane_party::{Fault, Result};
use sealane_protocol::{Algebra, Correlation, Demand, Protocol, Setting};
use sealane_testkit::player;
use sealane_testkit::record::{Crossed, crossed, recorded};
use sealane_testkit::side::on_threads;
use sealane_testkit::stock::Dealt;
use sealane_testkit::vectors::{
    Value, caught, first_difference, json, list, number, read, session, stated,
};

/// The kind of these numbers, in the order of `docs/wire/gmw.md`.
fn kind(of: &Value) -> Correlation {
    let numbers = list(of).iter().map(number).collect::<Vec<_>>();
    let ring = |bits: u64| Algebra::Z2k(bits as u8);
    match numbers[..] {
        [1, 0] => Correlation::Triple {
            algebra: Algebra::Z2,
        },
        [1, k] => Correlation::Triple { algebra: ring(k) },
        [2, width] => Correlation::Wide { bits: width as u16 },
        [3, k] => Correlation::DaBit { algebra: ring(k) },
        [4, k] => Correlation::Select { algebra: ring(k) },
        [5, holder, k, bits, partners] => Correlation::Known {
            holder: PartyId(holder as u8),
            algebra: ring(k),
            choice_bits: bits as u8,
            partners: partners as u32,
        },
        [6, k, rows, inner, columns] => Correlation::Matrix {
            algebra: ring(k),
            rows: rows as u32,
            inner: inner as u32,
            columns: columns as u32,
        },
        _ => panic!("no kind: {of}"),
    }
}

/// Correlations as the file has them.
fn written(taken: &Taken, count: usize) -> Value {
    let planes = taken.bits.iter().map(|plane| {
        let bytes = plane.iter().flat_map(|word| word.to_le_bytes());
        stated(&bytes.take(count.div_ceil(8)).collect::<Vec<_>>())
    });
    let columns = taken.elements.iter().map(|column| json!(**column));
    json!([planes.collect::<Vec<_>>(), columns.collect::<Vec<_>>()])
}

/// Runs a party: all refills, and what it takes of each.
fn party(setup: &Value, mesh: &mut Mesh) -> Result<Value> {
    mesh.set_session(session(&setup["session"]));
    let (cpu, me) = (Cpu::best(), mesh.me());
    let setting = Setting {
        pooled: true,
        ..Setting::in_order(&crate::Gmw::profile(), 2)
    };
    let demands = list(&setup["refills"]).iter().map(|refill| {
        let kinds = list(refill).iter();
        let demand = Demand(kinds.map(|of| (kind(&of[0]), number(&of[1]))).collect());
        transfers(&setting, demand)
    });
    let demands = demands.collect::<Vec<_>>();
    let dealt = || Coins::danger_fixed_seed(number(&setup["stock"]));
    let (stocks, coins) = (Dealt::both(me, dealt()), &mut dealt());
    let place = (cpu, &setting, PartyId(1 - me.0));
    let begun = Goods::begin(place, (None, stocks), &demands[0], coins, mesh)?;
    let mut goods = begun.finish(cpu, mesh, coins)?;
    let mut made = Vec::new();
    for (demand, refill) in demands.iter().zip(list(&setup["refills"])) {
        goods.refill(demand, mesh)?;
        for of in list(refill) {
            let count = number(&of[1]) as usize;
            made.push(written(&goods.take(kind(&of[0]), count)?, count));
        }
    }
    Ok(json!({ "made": made }))
}

/// Runs both parties; returns what crossed, and what the file has of it.
fn run(setup: &Value) -> (Crossed, Value) {
    let (meshes, logs) = recorded(2);
    // What crossed before a party failed tells where.
    let found = on_threads(meshes, |mut mesh| {
        caught(|| party(setup, &mut mesh).expect("honest")).unwrap_or_else(|error| json!(error))
    });
    let crossed = crossed(&logs);
    let frames = [(0, 1), (1, 0)].into_iter().flat_map(|(from, to)| {
        crossed[from][to].iter().map(move |frame| {
            assert!(matches!(frame.kind, FrameKind::Data { .. }));
            json!([from, to, "data", frame.stamp, stated(&frame.payload)])
        })
    });
    let frames = frames.collect::<Vec<_>>();
    (crossed, json!({ "frames": frames, "found": found }))
}

#[test]
fn refills_from_a_pool_are_those_of_the_vectors() {
    let (file, mut wrong) = (read("pools"), Vec::new());
    for setup in list(&file["setups"]) {
        if setup["kind"] != "refill" {
            continue;
        }
        let (crossed, outcome) = run(setup);
        for field in ["frames", "found"] {
            let differs = || first_difference(&setup[field], &outcome[field]);
            assert!(
                setup[field] == outcome[field],
                "sealane-mixed: step refill {field}, {}; pools {}",
                differs(),
                setup["id"]
            );
        }
        let tests = list(&file["tests"]).iter();
        for test in tests.filter(|test| test["setup"] == setup["id"]) {
            let me = PartyId(number(&test["party"]) as u8);
            let mut mesh = player::mesh(me, &crossed, &test["changes"]);
            let (code, blamed, found) = match party(setup, &mut mesh) {
                Ok(found) => (None, None, found),
                Err(Fault::Net(error)) => {
                    (Some(error.code().to_string()), error.party(), Value::Null)
                }
                Err(fault) => (Some(fault.to_string()), None, Value::Null),
            };
            let blames = test["blames"].as_u64();
            if test["code"].as_str() != code.as_deref()
                || blames != blamed.map(|party| u64::from(party.0))
                || test["found"] != found
            {
                wrong.push(format!("{}: {code:?} of {blamed:?}", test["id"]));
            }
        }
    }
    assert!(wrong.is_empty(), "pools.json.gz:\n{}", wrong.join("\n"));
}
