//! Dispatch of the verbs; check, plan, simulate and run.

use crate::args::{self, JobArgs, Verb};
use crate::explain::explain;
use crate::handover::{self, Handover};
use crate::{Embedding, doctor, identity, local, pool, psi, reports, seal, tools};
use sealane_diagnostic::Diagnostic;
use sealane_engine::{EngineError, Job, RunReport, Terms};
use sealane_host::Failure;
use sealane_host::approve::approve;
use sealane_host::config::Config;
use sealane_host::{
    LoadedProgram, compare, connect, export, inputs, levels, program, results, rows, session, view,
    why,
};
use sealane_terminal::{
    CancelOnSignal, print_line, print_note, print_view, print_view_to_stderr, print_warning,
};
use std::path::Path;

/// Runs a verb.
pub fn run(verb: Verb, embedding: &Embedding<'_>) -> Result<(), Failure> {
    match verb {
        Verb::Check(args) => check(&args, embedding),
        Verb::Plan(args) => plan(&args, embedding),
        Verb::Simulate(args) => simulate(&args, embedding),
        Verb::Run(args) if args.local => local::run(&args, embedding),
        Verb::Run(args) => run_party(&args, embedding),
        Verb::Report(args) => reports::report(&args),
        Verb::Init(args) => identity::init(&args),
        Verb::Card(args) => identity::card(&args),
        Verb::Peer(args) => identity::peer(&args),
        Verb::Doctor(args) => doctor::doctor(&args),
        Verb::Pool(args) => pool::pool(&args),
        Verb::Explain(args) => explain(args.code.as_deref()),
        Verb::Psi(args) => psi::psi(&args.verb),
        Verb::Seal(args) => seal::seal(&args),
        Verb::Open(args) => seal::open(&args),
        Verb::Keygen(args) => seal::keygen(&args),
        Verb::Circuit(args) => tools::circuit(&args.verb),
    }
}

/// Loads a program, checks it, and makes its job, `pooled` with its transfers from a pool. Returns
/// with it the notes of the report on the numbers of the program.
pub fn job(
    args: &JobArgs,
    config: Option<&Config>,
    pooled: bool,
    embedding: &Embedding<'_>,
) -> Result<(Job, Vec<String>), Failure> {
    let loaded = program::load(&args.program, embedding.loader)?;
    let mut notes = loaded.notes();
    let LoadedProgram { program, warnings } = loaded;
    // Numbers that differ from those of the source are never used silently.
    let about = |warning: &&Diagnostic| warning.code.is_about_numbers();
    warnings.iter().filter(about).for_each(print_warning);
    let network = connect::network(args.network, config);
    let helpers = connect::helpers(args.helpers(), config);
    let protocol = connect::protocol(args.protocol(), config);
    let asked = connect::security(args.security, config);
    let terms = Terms {
        network,
        helpers: &helpers,
        asked: asked.as_ref(),
        pooled,
    };
    let (job, why) = protocol.job(program, terms)?;
    why.iter().for_each(|why| print_note(why));
    notes.extend(why);
    Ok((job, notes))
}

fn check(args: &args::CheckArgs, embedding: &Embedding<'_>) -> Result<(), Failure> {
    let loaded = program::load(&args.program, embedding.loader)?;
    let (program, mut warnings) = (loaded.program, loaded.warnings);
    let checked = sealane_engine::check(&program).map_err(EngineError::from)?;
    warnings.extend(checked.warnings);
    if args.text && !args.json {
        return print_line(sealane_program::text::print(&program).trim_end());
    }
    let record = view::check(&program, &warnings, &checked.runnables);
    print_view(args.json, &record)
}

fn plan(args: &args::PlanArgs, embedding: &Embedding<'_>) -> Result<(), Failure> {
    let config = Config::find_if_any(args.config.as_deref())?;
    if args.compare {
        let program = program::load(&args.job.program, embedding.loader)?.program;
        let network = connect::network(args.job.network, config.as_ref());
        let helpers = connect::helpers(args.job.helpers(), config.as_ref());
        let asked = connect::security(args.job.security, config.as_ref());
        let terms = Terms {
            network,
            helpers: &helpers,
            asked: asked.as_ref(),
            pooled: args.pool,
        };
        let all = compare::protocols(&program, terms, &args.rows)?;
        return print_view(args.json, &all);
    }
    let (job, mut notes) = job(&args.job, config.as_ref(), args.pool, embedding)?;
    let rows = rows(job.program(), &args.rows)?;
    if let Some(line) = args.why {
        return print_view(args.json, &why::why(&job, line, &rows)?);
    }
    let cost = job.cost(&rows)?;
    let effort = sealane_engine::warnings(&job, &cost);
    effort.iter().for_each(print_warning);
    notes.extend(effort.iter().map(Diagnostic::line));
    if let Some(folder) = &args.export {
        export::write(&job, folder)?;
    }
    let mut record = view::plan(&job, &cost, &notes);
    if args.references && !args.json {
        return print_line(record.references_card());
    }
    if args.levels && !args.json {
        return print_line(levels::levels_card(&*job.plan_at(&rows)?));
    }
    record.gap = view::gap(&job, &rows)?;
    if args.steps && !args.json {
        print_line(format!("{}\n", record.steps_card()))?;
    }
    print_view(args.json, &record)
}

fn simulate(args: &args::SimulateArgs, embedding: &Embedding<'_>) -> Result<(), Failure> {
    let (job, mut notes) = job(&args.job, None, false, embedding)?;
    let sources = inputs::by_party(job.program(), job.helpers(), &args.input)?;
    inputs::need_files(job.program(), &sources)?;
    results::check(job.program(), None, args.output.as_deref(), &sources)?;
    let (inputs, read) = inputs::load_all(job.program(), &sources)?;
    let work = CancelOnSignal::begin();
    let recording = args.record.recording(None, &job, &notes);
    notes.extend(read);
    let shown = args.record.progress(args.json);
    let shown = shown.map(|show| show("simulation"));
    let mut report = session::simulate(&job, inputs, recording, shown, work.cancel())?;
    report.notes.splice(0..0, notes);
    finish(&job, &report, args.output.as_deref(), args.json, work)
}

fn run_party(args: &args::RunArgs, embedding: &Embedding<'_>) -> Result<(), Failure> {
    let (mut config, identity) = if args.handed_over {
        let Handover { config, identity } = handover::receive()?;
        (config, Some(identity))
    } else {
        (Config::find(args.config.as_deref())?, None)
    };
    config.patience = args.patience.or(config.patience);
    let party = connect::own_name(args.party.as_deref(), &config, args.identity.as_deref())?;
    let (job, mut notes) = job(&args.job, Some(&config), args.pool, embedding)?;
    let me = connect::party_index(&job, &party)?;
    let sources = inputs::of_one(&args.input)?;
    let (output, all) = (args.output.as_deref(), std::slice::from_ref(&sources));
    results::check(job.program(), Some(me), output, all)?;
    let inputs = inputs::load_own(job.program(), me, &sources)?;
    let own_rows = sealane_engine::data::own_rows(job.program(), &inputs.data);
    own_rows.map_err(EngineError::from)?;
    let prepared = match identity {
        Some(identity) => connect::prepare_with(&job, me, &config, |_| Ok(identity)),
        None => connect::prepare(&job, me, &config, args.identity.as_deref()),
    };
    let mut meeting = prepared.inspect_err(|_| {
        let stated = args.identity.as_deref();
        let key = |name: &str| connect::identity(name, &config, stated);
        // Whatever comes of it, the failure is the one above.
        let _ = connect::report_missing(&job, me, &config, key);
    })?;
    approve(&job, args.yes.as_deref())?;
    // From here on a request to end notifies the other parties.
    let work = CancelOnSignal::begin();
    meeting.cancelled_by(work.cancel());
    let recording = args.record.recording(config.runs.as_deref(), &job, &notes);
    let shown = args.record.progress(args.json).map(|show| show(&party));
    let mut report = session::connect_and_run(&job, &inputs.data, &meeting, recording, shown)?;
    notes.extend(inputs.notes);
    report.notes.splice(0..0, notes);
    finish(&job, &report, output, args.json, work)
}

/// Writes results to their files, then prints the report, which names these files. Each step is
/// tried whatever the outcome of the other, so that results are not lost: if files could not be
/// written, the report is JSON with all elements. Returns the first failure.
fn finish(
    job: &Job,
    report: &RunReport,
    output: Option<&Path>,
    json: bool,
    work: CancelOnSignal,
) -> Result<(), Failure> {
    let mut record = view::report(job, report);
    let written = output.map(|path| results::write(job.program(), report, path));
    // From here on nothing is lost if the user interrupts.
    drop(work);
    if let Some(Ok(files)) = &written {
        let names = files.iter().map(|file| file.display().to_string());
        record.files = Some(names.collect());
    }
    // If no file has the elements that the card leaves out, the report is JSON with all elements.
    let lost = matches!(written, Some(Err(_))) && record.leaves_out();
    let shown = print_view(json || lost, &record);
    match written {
        Some(written) => written.and(shown),
        // Nobody would see the results of the run, so they go to standard error.
        None => shown.map_err(|failure| {
            let where_it_is = print_view_to_stderr(json, &record);
            failure.hint(format!(
                "{where_it_is}; `--output FILE` writes results before anything is printed"
            ))
        }),
    }
}
