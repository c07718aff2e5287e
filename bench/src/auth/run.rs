//! Whole runs: sums of products of numbers of both parties, through plan and engine.

use sealane_engine::{Job, Journal, ProtocolName, RunReport};
use sealane_net::Mesh;
use sealane_parties::NetworkClass;
use sealane_program::text;
use sealane_program::types::{Data, Type};

use super::PARTIES;
use crate::net::connect_all;
use crate::stream::peak_bytes;
use crate::{Figures, Options, SuiteError, side_by_side};

/// The product of every two numbers, and the sum of all.
const PROGRAM: &str = r"sealane program 1
name products
party garbler
party evaluator
rows n <= 10000000
input x : garbler u16[n] in 0..65535
input y : evaluator u16[n] in 0..65535
main {
  %0 = param 0 : u16[n] in 0..65535 known garbler
  %1 = param 1 : u16[n] in 0..65535 known evaluator
  %2 = cast %0 : i64[n] in 0..65535 known garbler
  %3 = cast %1 : i64[n] in 0..65535 known evaluator
  %4 = mul %2, %3 : i64[n] in 0..4294836225 secret
  %5 = reduce sum %4 axis 0 : i64 in 0..42948362250000000 secret
}
reveal total = %5 : i64 to garbler, evaluator
";

/// Rows of a run.
const ROWS: u64 = 50_000;

/// Runs the program over TLS on loopback.
///
/// # Errors
/// The machine has no port on loopback, or a run failed, did not keep its plan or gave a wrong
/// result.
pub(super) fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    let rows = if options.quick() { 20 } else { ROWS };
    let program = text::parse(PROGRAM, "products")?;
    let job = Job::new(program, ProtocolName::Auth, NetworkClass::LAN, vec![])?;
    let cost = job.cost(&[rows])?;
    let planned = cost.memory.iter().map(|memory| memory.bytes()).max();
    let inputs = [41, 97].map(|factor| numbers(rows, factor));
    let met = connect_all(&PARTIES, Mesh::connect);
    let meshes = met.map_err(|error| format!("two parties on loopback: {error}"))?;
    let reports = side_by_side(meshes, |mesh| party(&job, &inputs, mesh))?;
    let products = inputs[0].elements.iter().zip(&inputs[1].elements);
    let total = products.map(|(x, y)| x * y).sum::<u64>();
    for report in &reports {
        if !report.as_planned() {
            return Err("a run did not keep its plan".into());
        }
        let learnt = report
            .results
            .first()
            .and_then(|result| result.data.as_ref());
        if learnt.is_none_or(|data| data.elements != [total]) {
            return Err("a wrong sum of products".into());
        }
    }
    let ands = cost.promise.ands as f64;
    let seconds = reports
        .iter()
        .map(|report| report.seconds)
        .fold(0.0, f64::max);
    // Of the process, so of both parties.
    let process = reports
        .iter()
        .map(|report| report.cpu_seconds)
        .fold(0.0, f64::max)
        / 2.0;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    figures.add(
        &format!("lan/run/{rows}"),
        &[
            ("ands", ands, "gates"),
            ("rate", ands / seconds / 1e6, "M/s"),
            ("rate_of_a_core", ands / process.max(1e-9) / 1e6, "M/s"),
            ("planned_megabytes", megabytes(planned.unwrap_or(0)), "MB"),
            ("peak_megabytes_of_both", megabytes(peak_bytes()), "MB"),
        ],
    );
    Ok(())
}

fn numbers(rows: u64, factor: u64) -> Data {
    Data {
        ty: Type::unsigned(16),
        shape: vec![rows],
        elements: (0..rows).map(|row| row * factor % 65_536).collect(),
    }
}

fn party(job: &Job, inputs: &[Data; 2], mut mesh: Mesh) -> Result<RunReport, SuiteError> {
    let me = mesh.me().index();
    let own = inputs.iter().enumerate();
    let own = own.map(|(owner, data)| (owner == me).then(|| data.clone()));
    let own = own.collect::<Vec<_>>();
    let mut journal = Journal::new(job, mesh.me(), ());
    Ok(sealane_engine::run(job, &own, &mut mesh, &mut journal)?)
}
