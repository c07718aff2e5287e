//! Vectors of the wire: refills from a pool.

use super::{Goods, Taken, transfers};
use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Result};
use sealane_protocol::{Algebra, Correlation, Demand, Protocol, Setting};
use sealane_testkit::record::{Crossed, crossed, recorded};
use sealane_testkit::setups;
use sealane_testkit::side::on_threads;
use sealane_testkit::stock::Dealt;
use sealane_testkit::vectors::{Value, caught, json, list, number, session, stated};

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

/// Runs both parties; returns what crossed, and what they found.
fn run(setup: &Value) -> (Crossed, Value) {
    let (meshes, logs) = recorded(2);
    // What crossed before a party failed tells where.
    let found = on_threads(meshes, |mut mesh| {
        caught(|| party(setup, &mut mesh).expect("honest")).unwrap_or_else(|error| json!(error))
    });
    (crossed(&logs), json!(found))
}

#[test]
fn refills_from_a_pool_are_those_of_the_vectors() {
    setups::check(("pools", "refill", "mixed"), run, |setup, mesh| {
        party(setup, mesh).map_err(|fault| match fault {
            Fault::Net(error) => (error.code().to_string(), error.party()),
            fault => (fault.to_string(), None),
        })
    });
}
