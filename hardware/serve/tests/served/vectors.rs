//! Vectors of the wire: sessions of servers and clients, and changes to them.

use crate::support::Which;
use sealane_accel::formats;
use sealane_block::{Coins, Cpu};
use sealane_garble::Scheme;
use sealane_net::{FrameKind, Mesh};
use sealane_parties::PartyId;
use sealane_party::Fault;
use sealane_serve::device::MOST_CLIENTS;
use sealane_serve::server::{Served, serve};
use sealane_serve::{Job, SERVER, ServeError, Span, client};
use sealane_testkit::player;
use sealane_testkit::record::{Crossed, crossed, recorded};
use sealane_testkit::side::on_threads;
use sealane_testkit::vectors::{
    Value, caught, first_difference, json, list, number, read, stated, text,
};

/// The job of a setup, and the device that garbles it.
fn job(setup: &Value) -> (Job, Which) {
    let netlist = formats::read(text(&setup["netlist"]).as_bytes()).expect("a netlist");
    let cycles = number(&setup["cycles"]) as u32;
    let span = match setup["every"].as_bool() {
        Some(true) => Span::every(cycles),
        _ => Span::last(cycles),
    };
    let scheme = match text(&setup["scheme"]) {
        "prp" => Scheme::Prp,
        _ => Scheme::Mi,
    };
    let network = text(&setup["network"]).parse().expect("a network");
    let job = Job::new(&netlist.netlist, span, scheme, network);
    (job.expect("a job"), Which::Cpu(scheme))
}

/// Runs a party; returns its outputs.
fn party(setup: &Value, mesh: &mut Mesh) -> Result<Value, ServeError> {
    let (cpu, me) = (Cpu::best(), mesh.me());
    let coins = Coins::danger_fixed_seed(number(&setup["seeds"][me.index()]));
    let bits = list(&setup["inputs"][me.index()]).iter();
    let bits = bits.map(|bit| number(bit) as u8).collect::<Vec<_>>();
    let (job, which) = job(setup);
    let mut outputs = Vec::new();
    if me == SERVER {
        let served = Served::new(job, bits.into(), which.device(), MOST_CLIENTS, u64::MAX)?;
        serve(&[served], || Ok(()), cpu, coins, mesh)?;
    } else {
        let (opened, _) = client::run(&job, &bits, cpu, coins, mesh)?;
        outputs.extend(opened.cycles().flatten().copied());
    }
    Ok(json!({ "outputs": outputs }))
}

/// Runs both parties; returns what crossed but goodbyes, and what the file has of it.
fn run(setup: &Value) -> (Crossed, Value) {
    let (meshes, logs) = recorded(2);
    // What crossed before a party failed tells where.
    let found = on_threads(meshes, |mut mesh| {
        caught(|| party(setup, &mut mesh).expect("honest")).unwrap_or_else(|error| json!(error))
    });
    let mut crossed = crossed(&logs);
    let is_said = |kind| matches!(kind, FrameKind::Control | FrameKind::Data { .. });
    let directions = crossed.iter_mut().flatten();
    directions.for_each(|frames| frames.retain(|frame| is_said(frame.kind)));
    let frames = [(0, 1), (1, 0)].into_iter().flat_map(|(from, to)| {
        crossed[from][to].iter().map(move |frame| {
            let kind = match frame.kind {
                FrameKind::Control => "control",
                _ => "data",
            };
            json!([from, to, kind, frame.stamp, stated(&frame.payload)])
        })
    });
    let frames = frames.collect::<Vec<_>>();
    (crossed, json!({ "frames": frames, "found": found }))
}

/// The code of an error, and the party that it blames.
fn verdict(error: ServeError) -> (String, Option<PartyId>) {
    match error {
        ServeError::Fault(Fault::Altered(party)) => ("altered".into(), Some(party)),
        ServeError::Fault(Fault::Net(error)) => (error.code().to_string(), error.party()),
        error => (error.to_string(), None),
    }
}

#[test]
fn served_sessions_are_those_of_the_vectors() {
    let (file, mut wrong) = (read("pools"), Vec::new());
    for setup in list(&file["setups"]) {
        if setup["kind"] != "served" {
            continue;
        }
        let (crossed, outcome) = run(setup);
        for field in ["frames", "found"] {
            let differs = || first_difference(&setup[field], &outcome[field]);
            assert!(
                setup[field] == outcome[field],
                "sealane-serve: step {field}, {}; pools {}",
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
                Err(error) => {
                    let (code, blamed) = verdict(error);
                    (Some(code), blamed, Value::Null)
                }
            };
            let blames = test["blames"].as_u64();
            if test["code"].as_str() != code.as_deref()
                || blames != blamed.map(|party| u64::from(party.0))
                || test["found"] != found
            {
                wrong.push(format!(
                    "{}: {} wanted, {code:?} of {blamed:?} found; {}",
                    test["id"], test["code"], test["comment"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "pools.json.gz:\n{}", wrong.join("\n"));
}
