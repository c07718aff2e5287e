//! A finished program and what is done with it: check, plan, simulate, run.

use crate::array::{self, Array};
use crate::error;
use crate::report::{Check, Plan, Report};
use crate::wait;
use pyo3::prelude::*;
use sealane_cli::config::Config;
use sealane_cli::meet::Meeting;
use sealane_cli::{Failure, Line, RUNS, Recording, Shown, approved, meet, meet_and_run};
use sealane_engine::data::{self, Sources};
use sealane_engine::{EngineError, Job, NetworkClass, ProtocolName};
use sealane_program::diagnostic::Diagnostic;
use sealane_program::graph;
use sealane_program::text;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

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

    /// Who gives what, who learns what, and warnings.
    fn check(&self) -> Check {
        Check::new(&self.graph, &self.warnings)
    }

    /// What a run will do and cost.
    fn plan(
        &self,
        py: Python<'_>,
        rows: BTreeMap<String, u64>,
        config: Option<PathBuf>,
        network: Option<&str>,
        protocol: Option<&str>,
        helpers: Option<Vec<String>>,
    ) -> PyResult<Plan> {
        let stated = Stated::new(py, network, protocol, helpers)?;
        let planned = py.detach(|| {
            let config = Config::find_if_any(config.as_deref())?;
            let job = stated.job(self.graph.clone(), config.as_ref())?;
            let rows = sealane_cli::rows(job.program(), &rows.into_iter().collect::<Vec<_>>())?;
            let cost = job.cost(&rows)?;
            Ok((job, cost))
        });
        let (job, cost) = planned.map_err(|failure: Failure| error::failure(py, &failure))?;
        Ok(Plan::new(Arc::new(job), cost))
    }

    /// Runs all parties in this process.
    #[allow(
        clippy::too_many_arguments,
        reason = "one for each option of `simulate`"
    )]
    fn simulate(
        &self,
        py: Python<'_>,
        inputs: BTreeMap<String, Array>,
        network: &str,
        protocol: &str,
        helpers: Vec<String>,
        runs: Option<PathBuf>,
        show: Show,
    ) -> PyResult<Report> {
        let (network, protocol) = (class_of(py, network)?, protocol_of(py, protocol)?);
        let data::Inputs { data, notes } = self.elements(py, inputs)?;
        let inputs = data.into_iter().flatten().collect::<Vec<_>>();
        let graph = self.graph.clone();
        let (shown, line) = showing("simulation", show);
        wait::interruptibly(py, line, move || {
            let job = Job::new(graph, protocol, network, helpers)?;
            let recording = runs.and_then(|runs| Recording::begin(&runs, &job));
            let mut report = sealane_cli::simulate(&job, inputs, recording, shown)?;
            report.notes = notes;
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
        files: Vec<String>,
        arrays: BTreeMap<String, Array>,
        config: Option<PathBuf>,
        yes: &str,
        identity: Option<PathBuf>,
        network: Option<&str>,
        protocol: Option<&str>,
        helpers: Option<Vec<String>>,
        record: bool,
        runs: Option<PathBuf>,
        show: Show,
    ) -> PyResult<Report> {
        let stated = Stated::new(py, network, protocol, helpers)?;
        let arrays = self.elements(py, arrays)?;
        let begun = || -> Result<Begun, Failure> {
            let config = Config::find(config.as_deref())?;
            let job = stated.job(self.graph.clone(), Some(&config))?;
            let me = meet::party(&job, party)?;
            let inputs = own_inputs(job.program(), me, &files, arrays)?;
            let meeting = meet::meeting(&job, me, &config, identity.as_deref())?;
            approved(&job, yes)?;
            Ok(Begun {
                job,
                inputs,
                meeting,
                runs: record.then(|| runs.or(config.runs).unwrap_or(RUNS.into())),
            })
        };
        let begun = begun().map_err(|failure| error::failure(py, &failure))?;
        let (shown, line) = showing(party, show);
        wait::interruptibly(py, line, move || {
            let Begun {
                job,
                inputs,
                meeting,
                runs,
            } = begun;
            let recording = runs.and_then(|runs| Recording::begin(&runs, &job));
            let mut report = meet_and_run(&job, &inputs.data, &meeting, recording, shown)?;
            report.notes = inputs.notes;
            Ok((job, report))
        })
        .and_then(|(job, report)| Report::new(py, job, report))
    }
}

/// The name of the party that this process is: the stated one, else what the configuration says.
#[pyfunction]
pub fn who(
    py: Python<'_>,
    party: Option<&str>,
    config: Option<PathBuf>,
    identity: Option<PathBuf>,
) -> PyResult<String> {
    let name = Config::find(config.as_deref())
        .and_then(|config| meet::who(party, &config, identity.as_deref()));
    name.map_err(|failure| error::failure(py, &failure))
}

/// What a call says of the job; the configuration says the rest.
struct Stated {
    network: Option<NetworkClass>,
    protocol: Option<ProtocolName>,
    helpers: Option<Vec<String>>,
}

impl Stated {
    fn new(
        py: Python<'_>,
        network: Option<&str>,
        protocol: Option<&str>,
        helpers: Option<Vec<String>>,
    ) -> PyResult<Stated> {
        Ok(Stated {
            network: network.map(|name| class_of(py, name)).transpose()?,
            protocol: protocol.map(|name| protocol_of(py, name)).transpose()?,
            helpers,
        })
    }

    fn job(&self, program: graph::Program, config: Option<&Config>) -> Result<Job, Failure> {
        let network = meet::network(self.network, config);
        let protocol = meet::protocol(self.protocol, config);
        let helpers = meet::helpers(self.helpers.as_deref(), config);
        Ok(Job::new(program, protocol, network, helpers)?)
    }
}

impl Program {
    /// Arrays by the index of their input; each has the range that the program declares.
    fn elements(
        &self,
        py: Python<'_>,
        mut arrays: BTreeMap<String, Array>,
    ) -> PyResult<data::Inputs> {
        let mut all = data::Inputs::default();
        let read = |input: &graph::Input| {
            let Some(array) = arrays.remove(&input.name) else {
                return Ok(None);
            };
            let (mut data, rounded) = array::input(py, array, input)?;
            all.note_rounded(input, rounded);
            let checked = data::check(input, &data)
                .map_err(|finding| error::engine(py, &EngineError::data(finding)));
            checked?;
            data.ty = input.ty;
            Ok(Some(data))
        };
        let read = self
            .graph
            .inputs
            .iter()
            .map(read)
            .collect::<PyResult<Vec<_>>>()?;
        match arrays.into_keys().next() {
            Some(name) => {
                let names = self.graph.inputs.iter().map(|input| input.name.as_str());
                let hint = format!("its inputs are: {}", names.collect::<Vec<_>>().join(", "));
                let what = format!("the program has no input `{name}`");
                Err(error::failure(
                    py,
                    &Failure::usage("unknown-input", what, hint),
                ))
            }
            None => Ok(data::Inputs { data: read, ..all }),
        }
    }
}

/// A run that may begin.
struct Begun {
    job: Job,
    inputs: data::Inputs,
    meeting: Meeting,
    runs: Option<PathBuf>,
}

/// How to show how far a run has come: nothing, a bar on standard error, or through a function that
/// is called with lines of text.
#[derive(FromPyObject)]
pub enum Show {
    /// On standard error, or not at all.
    Bar(bool),
    /// Through a function.
    Lines(Py<PyAny>),
}

/// What observes a run in this way, and what shows lines of text while it is waited for.
fn showing(name: &str, show: Show) -> ((Option<Shown>, Option<Line>), Option<wait::Lines>) {
    match show {
        Show::Bar(shown) => ((shown.then(|| Shown::on_stderr(name)), None), None),
        Show::Lines(show) => {
            let line = Line::default();
            ((None, Some(line.clone())), Some(wait::Lines { line, show }))
        }
    }
}

/// The inputs of one party: those given as arrays, the others from files.
fn own_inputs(
    program: &graph::Program,
    me: u8,
    files: &[String],
    mut arrays: data::Inputs,
) -> Result<data::Inputs, Failure> {
    let refused = |finding: Diagnostic| Failure::from(EngineError::data(finding));
    let foreign = program.inputs.iter().zip(&arrays.data);
    let mut foreign = foreign.filter(|(input, data)| data.is_some() && input.owner != me);
    if let Some((input, _)) = foreign.next() {
        let message = format!("`{}` is an input of another party", input.name);
        return Err(refused(Diagnostic::new("data-unknown-input", message)));
    }
    // What is given as an array needs no file.
    let mut rest = program.clone();
    for (input, data) in rest.inputs.iter_mut().zip(&arrays.data) {
        if data.is_some() {
            input.owner = u8::MAX;
        }
    }
    let sources = Sources::from_arguments(files);
    let read = data::load(&rest, me, &sources).map_err(refused)?;
    arrays
        .data
        .iter_mut()
        .zip(read.data)
        .for_each(|(slot, data)| *slot = slot.take().or(data));
    arrays.notes.extend(read.notes);
    data::own_rows(program, &arrays.data).map_err(refused)?;
    Ok(arrays)
}

fn class(name: &str) -> Result<NetworkClass, Failure> {
    match name {
        "lan" => Ok(NetworkClass::Lan),
        "wan" => Ok(NetworkClass::Wan),
        _ => Err(Failure::usage(
            "unknown-network",
            format!("there is no network class `{name}`"),
            "write network=\"lan\" or network=\"wan\"",
        )),
    }
}

fn class_of(py: Python<'_>, name: &str) -> PyResult<NetworkClass> {
    class(name).map_err(|failure| error::failure(py, &failure))
}

fn protocol_of(py: Python<'_>, name: &str) -> PyResult<ProtocolName> {
    name.parse().map_err(|failure| error::engine(py, &failure))
}
