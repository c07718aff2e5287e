//! A finished program and its operations: check, plan, simulate, run.

use crate::array::Array;
use crate::error;
use crate::inputs::{InputArgs, TableArg};
use crate::report::{Check, Comparison, Plan, Report};
use crate::wait;
use pyo3::prelude::*;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_engine::data::Inputs;
use sealane_engine::{Adversary, EngineError, Job, NetworkClass, ProtocolChoice, Terms};
use sealane_host::approve::approved;
use sealane_host::config::Config;
use sealane_host::connect::Meeting;
use sealane_host::progress::{ProgressDisplay, ProgressLine};
use sealane_host::record::{RUNS, Recording};
use sealane_host::session::connect_and_run;
use sealane_host::{Failure, LoadedProgram, connect, view};
use sealane_program::graph;
use sealane_program::text;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A program: the traced graph, checked.
#[pyclass(module = "sealane._core", frozen)]
pub struct Program {
    graph: graph::Program,
    warnings: Vec<Diagnostic>,
}

impl Program {
    /// Wraps a checked graph.
    pub fn new(graph: graph::Program, warnings: Vec<Diagnostic>) -> Program {
        Program { graph, warnings }
    }

    /// The graph.
    pub fn graph(&self) -> &graph::Program {
        &self.graph
    }

    /// Program in the form for the command.
    pub fn loaded(&self) -> LoadedProgram {
        LoadedProgram {
            program: self.graph.clone(),
            warnings: self.warnings.clone(),
        }
    }

    /// Notes about the numbers of a run.
    fn notes(&self) -> Vec<String> {
        sealane_host::program::notes(&self.warnings)
    }
}

/// Parts of a warning for Python's `warnings`: its code, the sentence, its file and line, the
/// reason, the hint.
pub type WarningParts<'a> = (&'a str, &'a str, Option<(&'a str, u32)>, &'a str, &'a str);

/// Splits a warning into its parts.
pub fn warning_parts(warning: &Diagnostic) -> WarningParts<'_> {
    let place = warning.span.as_ref();
    (
        warning.code.name(),
        &warning.message,
        place.map(|span| (&*span.file, span.line)),
        &warning.reason,
        &warning.hint,
    )
}

#[pymethods]
impl Program {
    /// The text form.
    #[getter]
    fn text(&self) -> String {
        text::print(&self.graph)
    }

    /// The parties.
    #[getter]
    fn parties<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.graph.parties)
    }

    /// The warnings about the numbers that a run gives.
    #[getter]
    fn warnings(&self) -> Vec<WarningParts<'_>> {
        let about = self
            .warnings
            .iter()
            .filter(|warning| warning.code.is_about_numbers());
        about.map(warning_parts).collect()
    }

    /// Checks the program: inputs with their owners, results with their receivers, and warnings;
    /// refuses programs that no protocol runs.
    fn check(&self, py: Python<'_>) -> PyResult<Check> {
        let checked = py.detach(|| sealane_engine::check(&self.graph).map_err(EngineError::from));
        let found = checked.map_err(error::raised)?;
        let warnings = [self.warnings.clone(), found.warnings].concat();
        Ok(Check(view::check(&self.graph, &warnings, &found.runnables)))
    }

    /// Plans a run and computes its cost.
    #[allow(
        clippy::too_many_arguments,
        reason = "one for each option of `sealane plan`"
    )]
    fn plan(
        &self,
        py: Python<'_>,
        rows: BTreeMap<String, u64>,
        config: Option<PathBuf>,
        network: Option<&str>,
        protocol: Option<&str>,
        helpers: Option<Vec<String>>,
        security: Option<&str>,
        pool: bool,
    ) -> PyResult<Plan> {
        let stated = Stated::new(network, protocol, helpers, security, pool)?;
        let planned = py.detach(|| -> Result<_, Failure> {
            let config = Config::find_if_any(config.as_deref())?;
            let (job, why) = stated.job(self.graph.clone(), config.as_ref())?;
            let rows = sealane_host::rows(job.program(), &rows.into_iter().collect::<Vec<_>>())?;
            let cost = job.cost(&rows)?;
            let effort = sealane_engine::warnings(&job, &cost);
            let gap = sealane_host::view::gap(&job, &rows)?;
            Ok((job, why, (cost, gap), effort))
        });
        let (job, why, (cost, gap), effort) = planned.map_err(error::raised)?;
        let notes = self.notes().into_iter().chain(why).collect();
        Ok(Plan::new(&job, (&cost, gap), notes, effort))
    }

    /// Compares the protocols that can run it.
    #[allow(
        clippy::too_many_arguments,
        reason = "one for each option of `sealane plan --compare`"
    )]
    fn compare(
        &self,
        py: Python<'_>,
        rows: BTreeMap<String, u64>,
        config: Option<PathBuf>,
        network: Option<&str>,
        helpers: Option<Vec<String>>,
        security: Option<&str>,
        pool: bool,
    ) -> PyResult<Comparison> {
        let stated = Stated::new(network, None, helpers, security, pool)?;
        let compared = py.detach(|| -> Result<_, Failure> {
            let config = Config::find_if_any(config.as_deref())?;
            let rows = rows.into_iter().collect::<Vec<_>>();
            stated.with_terms(config.as_ref(), |terms| {
                sealane_host::compare::protocols(&self.graph, terms, &rows)
            })
        });
        compared.map(Comparison).map_err(error::raised)
    }

    /// Runs all parties in this process.
    #[allow(
        clippy::too_many_arguments,
        reason = "one for each option of `simulate`"
    )]
    fn simulate(
        &self,
        py: Python<'_>,
        arrays: BTreeMap<String, Array>,
        tables: Vec<TableArg<'_>>,
        network: &str,
        protocol: Option<&str>,
        helpers: Vec<String>,
        security: Option<&str>,
        runs: Option<PathBuf>,
        show: ProgressArg,
    ) -> PyResult<Report> {
        let network = class_of(network)?;
        let protocol = connect::protocol(protocol.map(protocol_of).transpose()?, None);
        let asked = connect::security(security.map(adversary_of).transpose()?, None);
        let given = InputArgs::new(&self.graph, arrays, tables)?;
        let graph = self.graph.clone();
        let read = py.detach(|| given.of_all(&graph));
        let Inputs {
            data,
            notes,
            doubts,
        } = read.map_err(error::raised)?;
        error::warn(py, &doubts)?;
        let program_notes = self.notes();
        let (shown, line) = progress_sinks("simulation", show);
        wait::interruptibly(py, line, move |cancel| {
            let inputs = data.into_iter().flatten().collect::<Vec<_>>();
            let terms = Terms {
                helpers: &helpers,
                asked: asked.as_ref(),
                ..Terms::on(network)
            };
            let (job, why) = protocol.job(graph, terms)?;
            let program_notes = [program_notes, why.into_iter().collect()].concat();
            let recording = runs.and_then(|runs| Recording::begin(&runs, &job, &program_notes));
            let mut report =
                sealane_host::session::simulate(&job, inputs, recording, shown, cancel)?;
            report.notes.splice(0..0, [program_notes, notes].concat());
            Ok((job, report))
        })
        .and_then(|(job, report)| Report::new(py, job, report))
    }

    /// Runs one party, with the others over the network.
    #[allow(
        clippy::too_many_arguments,
        reason = "one for each option of `sealane run`"
    )]
    fn run(
        &self,
        py: Python<'_>,
        party: &str,
        arrays: BTreeMap<String, Array>,
        tables: Vec<TableArg<'_>>,
        config: Option<PathBuf>,
        approve: &str,
        identity: Option<PathBuf>,
        network: Option<&str>,
        protocol: Option<&str>,
        helpers: Option<Vec<String>>,
        security: Option<&str>,
        pool: bool,
        record: bool,
        runs: Option<PathBuf>,
        show: ProgressArg,
        timeout: Option<f64>,
    ) -> PyResult<Report> {
        let timeout = timeout.map(timeout_of).transpose()?;
        let stated = Stated::new(network, protocol, helpers, security, pool)?;
        let given = InputArgs::new(&self.graph, arrays, tables)?;
        // A table in memory may need the interpreter, on the thread on which its owner reads it.
        let begun = || -> Result<Begun, Failure> {
            let mut config = Config::find(config.as_deref())?;
            config.patience = timeout.or(config.patience);
            let (job, why) = stated.job(self.graph.clone(), Some(&config))?;
            let me = connect::party_index(&job, party)?;
            let inputs = given.of_one(job.program(), me)?;
            let meeting = connect::prepare(&job, me, &config, identity.as_deref());
            let meeting = meeting.inspect_err(|_| {
                let key = |name: &str| connect::identity(name, &config, identity.as_deref());
                // Whatever comes of it, the failure is the one above.
                let _ = connect::report_missing(&job, me, &config, key);
            })?;
            approved(&job, approve)?;
            Ok(Begun {
                job,
                why,
                inputs,
                meeting,
                runs: record.then(|| runs.or(config.runs).unwrap_or(RUNS.into())),
            })
        };
        let begun = py.detach(begun).map_err(error::raised)?;
        error::warn(py, &begun.inputs.doubts)?;
        let why = begun.why.clone();
        let program_notes = [self.notes(), why.into_iter().collect()].concat();
        let (shown, line) = progress_sinks(party, show);
        wait::interruptibly(py, line, move |cancel| {
            let Begun {
                job,
                inputs,
                mut meeting,
                runs,
                ..
            } = begun;
            meeting.cancelled_by(cancel);
            let recording = runs.and_then(|runs| Recording::begin(&runs, &job, &program_notes));
            let mut report = connect_and_run(&job, &inputs.data, &meeting, recording, shown)?;
            report
                .notes
                .splice(0..0, [program_notes, inputs.notes].concat());
            Ok((job, report))
        })
        .and_then(|(job, report)| Report::new(py, job, report))
    }
}

/// Name of this process's party: the stated one, else the one in the configuration.
#[pyfunction]
pub fn own_party(
    party: Option<&str>,
    config: Option<PathBuf>,
    identity: Option<PathBuf>,
) -> PyResult<String> {
    let name = Config::find(config.as_deref())
        .and_then(|config| connect::own_name(party, &config, identity.as_deref()));
    name.map_err(error::raised)
}

/// Parts of the job that a call states; the configuration has the rest.
struct Stated {
    network: Option<NetworkClass>,
    protocol: Option<ProtocolChoice>,
    helpers: Option<Vec<String>>,
    security: Option<Adversary>,
    pool: bool,
}

impl Stated {
    fn new(
        network: Option<&str>,
        protocol: Option<&str>,
        helpers: Option<Vec<String>>,
        security: Option<&str>,
        pool: bool,
    ) -> PyResult<Stated> {
        Ok(Stated {
            network: network.map(class_of).transpose()?,
            protocol: protocol.map(protocol_of).transpose()?,
            helpers,
            security: security.map(adversary_of).transpose()?,
            pool,
        })
    }

    /// The job, and why its protocol was chosen, if it was.
    fn job(
        &self,
        program: graph::Program,
        config: Option<&Config>,
    ) -> Result<(Job, Option<String>), Failure> {
        let protocol = connect::protocol(self.protocol, config);
        self.with_terms(config, |terms| Ok(protocol.job(program, terms)?))
    }

    /// Calls a function with the terms; those that are not stated are of the configuration.
    fn with_terms<T>(
        &self,
        config: Option<&Config>,
        with: impl FnOnce(Terms<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let helpers = connect::helpers(self.helpers.as_deref(), config);
        let asked = connect::security(self.security, config);
        with(Terms {
            network: connect::network(self.network, config),
            helpers: &helpers,
            asked: asked.as_ref(),
            pooled: self.pool,
        })
    }
}

/// A run that is ready to begin.
struct Begun {
    job: Job,
    /// The reason for its protocol, if that was chosen.
    why: Option<String>,
    inputs: Inputs,
    meeting: Meeting,
    runs: Option<PathBuf>,
}

/// Presentation of a run's progress: none, a bar on standard error, or a function that is called
/// with lines of text.
#[derive(FromPyObject)]
pub enum ProgressArg {
    /// On standard error, or not at all.
    Bar(bool),
    /// Through a function.
    Lines(Py<PyAny>),
}

/// Returns the observer of a run, and the printer of lines of text while the caller waits.
fn progress_sinks(
    name: &str,
    show: ProgressArg,
) -> (
    (Option<ProgressDisplay>, Option<ProgressLine>),
    Option<wait::Lines>,
) {
    match show {
        ProgressArg::Bar(shown) => (
            (shown.then(|| ProgressDisplay::on_stderr(name)), None),
            None,
        ),
        ProgressArg::Lines(show) => {
            let line = ProgressLine::default();
            ((None, Some(line.clone())), Some(wait::Lines { line, show }))
        }
    }
}

/// Longest wait for a party that is alive and sends nothing.
fn timeout_of(seconds: f64) -> PyResult<Duration> {
    sealane_host::config::patience(seconds).map_err(error::raised)
}

fn class_of(name: &str) -> PyResult<NetworkClass> {
    name.parse().map_err(|hint| {
        let message = format!("there is no network class `{name}`");
        error::raised(Failure::new(Code::UnknownNetwork, message, hint))
    })
}

fn adversary_of(name: &str) -> PyResult<Adversary> {
    name.parse().map_err(|hint| {
        let message = format!("there is no security `{name}`");
        error::raised(Failure::new(Code::Argument, message, hint))
    })
}

fn protocol_of(name: &str) -> PyResult<ProtocolChoice> {
    name.parse().map_err(error::raised)
}
