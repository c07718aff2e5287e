//! Vectors of the wire: sessions of servers and clients, and changes to them.

use crate::support::Which;
use sealane_accel::formats;
use sealane_block::{Coins, Cpu};
use sealane_garble::Scheme;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::Fault;
use sealane_serve::device::MOST_CLIENTS;
use sealane_serve::server::{Served, serve};
use sealane_serve::{Job, SERVER, ServeError, Span, client};
use sealane_testkit::record::{Crossed, crossed, recorded};
use sealane_testkit::setups;
use sealane_testkit::side::on_threads;
use sealane_testkit::vectors::{Value, caught, json, list, number, text};

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

/// Runs both parties; returns what crossed, and what they found.
fn run(setup: &Value) -> (Crossed, Value) {
    let (meshes, logs) = recorded(2);
    // What crossed before a party failed tells where.
    let found = on_threads(meshes, |mut mesh| {
        caught(|| party(setup, &mut mesh).expect("honest")).unwrap_or_else(|error| json!(error))
    });
    (crossed(&logs), json!(found))
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
    setups::check(("pools", "served", "serve"), run, |setup, mesh| {
        party(setup, mesh).map_err(verdict)
    });
}
