//! Execution of a job: one party over a mesh, or all parties in one process.

use crate::data;
use crate::error::{EngineError, name};
use crate::events::Phase;
use crate::execute::PlanStart;
use crate::handshake::{Agreed, agree, exchange_goodbyes};
use crate::job::{Job, dispatch};
use crate::journal::Journal;
use crate::report::{RunReport, RunResult};
use crate::split_plan::SplitPlan;
use rustix::time::{ClockId, clock_gettime};
use sealane_block::{Coins, Cpu};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_net::{Cancel, Limits, MAX_RUN_DURATION, Mesh, NetError};
use sealane_parties::PartySet;
use sealane_party::{Fault, Party};
use sealane_plan::steps::ResultPlan;
use sealane_pool::Pool;
use sealane_program::graph::Input;
use sealane_program::types::Data;
use std::time::{Duration, Instant};

/// Runs this party's side of a job over an open mesh. `inputs` has one entry for each input of the
/// program, present for those that this party owns (see [`data::load`]). The journal reports
/// events.
///
/// # Errors
/// Any error also ends the run on the other sides, which learn the reason.
pub fn run(
    job: &Job,
    inputs: &[Option<Data>],
    mesh: &mut Mesh,
    journal: &mut Journal<'_>,
) -> Result<RunReport, EngineError> {
    run_with_pool(job, inputs, None, mesh, journal)
}

/// Does the same as [`run()`] for a job of two parties, with the pool of this party with the other:
/// the run takes from it, if the job [says so](Job::from_pool), and destroys it if the other party
/// fails a check.
///
/// # Errors
/// The errors of [`run()`]; the pool cannot be used, or has too little.
pub fn run_with_pool(
    job: &Job,
    inputs: &[Option<Data>],
    pool: Option<&Pool>,
    mesh: &mut Mesh,
    journal: &mut Journal<'_>,
) -> Result<RunReport, EngineError> {
    run_with(job, inputs, pool, mesh, coins, journal)
}

/// Does the same as [`run()`] with repeatable randomness: the same `seed` gives the same bytes on
/// the wire. **It keeps nothing secret**: anybody who knows the seed can compute all inputs. For
/// simulators and tests.
///
/// # Errors
/// The errors of [`run()`].
pub fn danger_run_with_seed(
    job: &Job,
    inputs: &[Option<Data>],
    mesh: &mut Mesh,
    seed: u64,
    journal: &mut Journal<'_>,
) -> Result<RunReport, EngineError> {
    let coins = || Ok(Coins::danger_fixed_seed(seed));
    run_with(job, inputs, None, mesh, coins, journal)
}

/// Runs a party whose randomness is `coins`, and notifies the others if it fails.
fn run_with(
    job: &Job,
    inputs: &[Option<Data>],
    pool: Option<&Pool>,
    mesh: &mut Mesh,
    coins: impl FnOnce() -> Result<Coins, EngineError>,
    journal: &mut Journal<'_>,
) -> Result<RunReport, EngineError> {
    let mut report = run_steps(job, inputs, pool, mesh, coins, journal);
    if report.is_ok()
        && let Err(error) = mesh.finish()
    {
        report = Err(EngineError::from_net(error, job.parties()));
    }
    if let Err(error) = &report {
        let (cause, reason) = error.for_peers();
        mesh.abort(cause, &reason);
    }
    journal.finish(&report, mesh);
    report
}

/// Runs all parties of a job in this process, over channels in memory, with the real protocol code.
/// `inputs` has all inputs of the program.
///
/// # Errors
/// The errors of [`run()`]; if several parties fail, the most informative one.
pub fn simulate(job: &Job, inputs: Vec<Data>) -> Result<RunReport, EngineError> {
    let journals = job.parties().iter().map(|_| Journal::silent());
    simulate_with(job, inputs, journals.collect(), &Cancel::default())
}

/// Does the same as [`simulate`], with a journal for each party, until `cancel` is set.
///
/// # Errors
/// The errors of [`simulate`], and cancellation.
pub fn simulate_with(
    job: &Job,
    inputs: Vec<Data>,
    journals: Vec<Journal<'_>>,
    cancel: &Cancel,
) -> Result<RunReport, EngineError> {
    let program = job.program();
    if inputs.len() != program.inputs.len() {
        let (want, have) = (program.inputs.len(), inputs.len());
        return Err(data::input_count(want, have));
    }
    let parties = job.parties().len();
    let mut by_party: Vec<Vec<Option<Data>>> = vec![vec![]; parties];
    for (input, data) in program.inputs.iter().zip(inputs) {
        for inputs in &mut by_party {
            inputs.push(None);
        }
        if let Some(last) = by_party[usize::from(input.owner)].last_mut() {
            *last = Some(data);
        }
    }
    // In one process no party falls silent; the default limits leave time for debuggers and busy
    // machines.
    let meshes = Mesh::in_memory_with(parties, Limits::default());
    let reports = std::thread::scope(|scope| {
        let sides = meshes.into_iter().zip(by_party).zip(journals);
        let threads = sides.map(|((mut mesh, inputs), mut journal)| {
            mesh.cancelled_by(cancel);
            scope.spawn(move || run(job, &inputs, &mut mesh, &mut journal))
        });
        let threads = threads.collect::<Vec<_>>();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            let panicked = |_| Err(EngineError::internal("a party panicked"));
            thread.join().unwrap_or_else(panicked)
        };
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    merge_reports(reports)
}

/// Merges the reports of a simulation: the results that any party learnt, or the first cause of a
/// failure.
fn merge_reports(reports: Vec<Result<RunReport, EngineError>>) -> Result<RunReport, EngineError> {
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for report in reports {
        match report {
            Ok(report) => done.push(report),
            Err(error) => failed.push(error),
        }
    }
    // A party that aborts makes the others fail with errors of the network, which say less.
    failed.sort_by_key(|error| match error.net() {
        None => 0,
        Some(NetError::Cancelled) => 1,
        Some(_) => 2,
    });
    if let Some(error) = failed.into_iter().next() {
        return Err(error);
    }
    let mut done = done.into_iter();
    let mut all = done
        .next()
        .ok_or_else(|| EngineError::internal("no party"))?;
    for report in done {
        for (result, other) in all.results.iter_mut().zip(report.results) {
            result.data = result.data.take().or(other.data);
        }
        all.seconds = all.seconds.max(report.seconds);
        all.cpu_seconds = all.cpu_seconds.max(report.cpu_seconds);
    }
    all.party = None;
    Ok(all)
}

/// Factor by which a run may be slower than estimated, on a busy machine or network.
const BUSY: f64 = 10.0;

fn run_steps(
    job: &Job,
    inputs: &[Option<Data>],
    pool: Option<&Pool>,
    mesh: &mut Mesh,
    coins: impl FnOnce() -> Result<Coins, EngineError>,
    journal: &mut Journal<'_>,
) -> Result<RunReport, EngineError> {
    journal.phase(Phase::Agree);
    let program = job.program();
    let cpu = tier()?;
    let mut coins = coins()?;
    let parties = job.parties();
    if mesh.parties() != parties.len() {
        let (want, have) = (parties.len(), mesh.parties());
        let what = format!("the number of parties of the job is {want}, not {have}");
        let finding = Diagnostic::new(Code::PartyCount, what);
        return Err(EngineError::from(finding.hint(
            "open a mesh for all parties of the job, helpers among them",
        )));
    }
    data::check_own(program, mesh.me().0, inputs)?;
    let own = data::own_rows(program, inputs);
    let own = own.map_err(EngineError::from)?;
    let (agreed, draw) = agree(job, &own, pool, &mut coins, mesh)?;
    let Agreed {
        rows,
        rest,
        cost,
        stocks,
    } = agreed;
    let (work, rows) = rest
        .as_ref()
        .map_or((job, &rows), |(job, rows)| (job, rows));
    let is_empty = |data: &Data| data.elements.is_empty();
    let empty = program.inputs.iter().zip(inputs);
    let empty = empty.filter(|(_, data)| data.as_ref().is_some_and(is_empty));
    let fillers = empty.map(|(input, _)| filler(input)).collect::<Vec<_>>();
    let mut fillers = fillers.iter();
    let inputs = inputs.iter().map(|data| match data {
        Some(data) if is_empty(data) => fillers.next(),
        data => data.as_ref(),
    });
    journal.agreed(work, &cost, mesh.session());
    // Parties that do not compute wait for the others from their inputs to the end.
    let most = BUSY * cost.estimate_s(job.network());
    mesh.expect_duration(Duration::try_from_secs_f64(most).unwrap_or(MAX_RUN_DURATION));
    let (began, used) = (Instant::now(), cpu_seconds());
    let inputs = inputs.collect::<Vec<_>>();
    let start = PlanStart {
        rows,
        demand: &cost.demand,
        form: cost.form,
        cpu,
        coins: coins.enter(mesh.session().as_bytes()),
        stocks,
    };
    let results = dispatch!(
        job.protocol(),
        execute(work.split_plan(), &inputs, start, journal, mesh)
    );
    let given = Some(journal.took_input());
    let results = results.map_err(|fault| stopped(fault, pool, parties, given))?;
    let seconds = began.elapsed().as_secs_f64();
    let cpu_seconds = cpu_seconds() - used;
    journal.enter(Phase::Part, mesh);
    let (sent, rounds) = exchange_goodbyes(parties, mesh)?;
    let counted = draw.and_then(|draw| draw.finish());
    let names = |to: PartySet| to.iter().map(|party| name(parties, party)).collect();
    let results = job.plan().results.iter().zip(results);
    let has_rows = |plan: &ResultPlan| {
        let rows = job.plan()[plan.value].rows;
        rows.is_none_or(|table| cost.rows[usize::from(table.0)].1 > 0)
    };
    let result = |(plan, data): (&ResultPlan, Option<Data>)| RunResult {
        name: plan.name.clone(),
        to: names(plan.to),
        data: if has_rows(plan) {
            data
        } else {
            data.map(|_| no_rows(plan))
        },
    };
    Ok(RunReport {
        party: Some(name(parties, mesh.me())),
        parties: parties.to_vec(),
        job: job.hash(),
        protocol: job.plan().protocol,
        tier: cpu.tier(),
        rows: cost.rows.clone(),
        results: results.map(result).collect(),
        sent,
        rounds: u64::from(rounds),
        promise: cost.promise,
        notes: counted.into_iter().collect(),
        seconds,
        cpu_seconds,
    })
}

/// Processor seconds that this process has taken, in all its threads.
fn cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// A row that nothing reads, in place of the data of an input without rows.
fn filler(input: &Input) -> Data {
    let shape = [&[1], &input.shape.fixed[..]].concat();
    Data {
        ty: input.ty,
        elements: vec![0; shape.iter().product::<u64>() as usize],
        shape,
    }
}

/// A result without rows.
fn no_rows(plan: &ResultPlan) -> Data {
    Data {
        ty: plan.ty,
        shape: [&[0], &plan.fixed[..]].concat(),
        elements: vec![],
    }
}

/// Turns a fault into the error of the run. What a party learned by failing a check must not add up
/// with what it learns later, so everything made with it is destroyed first. `used` says whether
/// the run had taken an input; `None` where there is no run.
pub(crate) fn stopped(
    fault: Fault,
    pool: Option<&Pool>,
    parties: &[String],
    used: Option<bool>,
) -> EngineError {
    let destroyed = pool.map_or(Ok(()), |pool| pool.heed(&fault));
    let used = used.filter(|_| matches!(fault, Fault::Deviated { .. }));
    let error = EngineError::from_fault(fault, parties);
    match destroyed {
        Ok(()) => match used {
            Some(used) => error.after_inputs(used),
            None => error,
        },
        Err(finding) => error
            .because(format!(
                "No result of this run must be used. The pool with this party could not be \
                 destroyed: {}.",
                finding.message
            ))
            .hint("remove the folder of the pool by hand before you run with this party again"),
    }
}

/// Randomness of the operating system.
pub(crate) fn coins() -> Result<Coins, EngineError> {
    Coins::from_os().map_err(|error| no_randomness(&error))
}

/// The tier of this machine.
pub(crate) fn tier() -> Result<Cpu, EngineError> {
    let hint = "unset SEALANE_TIER to use the best tier of this machine";
    Cpu::detect().map_err(|error| machine(Code::CpuTier, &error, hint))
}

fn no_randomness(error: &dyn std::fmt::Display) -> EngineError {
    let hint = "see that the operating system gives random numbers";
    machine(Code::NoRandomness, error, hint)
}

/// Error for a machine that lacks something that a run needs.
fn machine(code: Code, error: &dyn std::fmt::Display, hint: &str) -> EngineError {
    let finding = Diagnostic::new(code, error.to_string()).hint(hint);
    EngineError::from(finding)
}

fn execute<P: Party>(
    work: &SplitPlan,
    inputs: &[Option<&Data>],
    start: PlanStart<'_>,
    journal: &mut Journal<'_>,
    mesh: &mut Mesh,
) -> Result<Vec<Option<Data>>, Fault> {
    work.run::<P>(inputs, start, journal, mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_randomness_runs_nothing() {
        let error = no_randomness(&"Function not implemented (os error 38)");
        assert_eq!(error.kind(), sealane_diagnostic::FailureKind::Config);
        sealane_testkit::page::shows("no-randomness", &error.to_string());
    }
}
