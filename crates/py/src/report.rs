//! Reports of checks, plans and runs: attributes for programs, a table as `repr`.

use crate::program::{WarningParts, warning_parts};
use crate::table::Table;
use crate::{array, error};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_engine::{Job, RunReport};
use sealane_host::{Failure, results, view};
use sealane_page::View;
use sealane_page::check::CheckRecord;
use sealane_page::compare::ComparisonRecord;
use sealane_page::plan::{GapRecord, PlanRecord};
use sealane_plan::CostReport;
use std::path::PathBuf;

/// Result of `Program.check` for a program that can run. Prints as a table: inputs with their
/// owners, results with their receivers, warnings.
///
/// >>> import sealane as sl
/// >>> @sl.program
/// ... def richer(
/// ...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
/// ... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
/// ...     return a > b
/// >>> check = richer.check()
/// >>> check.warnings, check.notes
/// ([], [])
/// >>> import json
/// >>> json.loads(check.json).get("parties")
/// ['alice', 'bob']
#[pyclass(module = "sealane._core", frozen)]
pub struct Check(pub CheckRecord);

#[pymethods]
impl Check {
    /// Warnings as texts for people, each with the line of the source where there is one.
    #[getter]
    fn warnings(&self) -> Vec<&str> {
        let warnings = self.0.warnings.iter();
        warnings.map(|warning| &*warning.text).collect()
    }

    /// Warnings about the numbers of a run, one line each.
    #[getter]
    fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// Same content as `sealane check --json`.
    #[getter]
    fn json(&self) -> String {
        self.0.json().to_string()
    }

    fn __repr__(&self) -> String {
        self.0.card().to_string()
    }

    /// Same content for a notebook.
    fn _repr_html_(&self) -> String {
        self.0.card().html().to_string()
    }
}

/// Plan of a run, with its cost: exact in bytes, rounds and AND gates, estimated in seconds.
/// Prints as a table.
///
/// >>> import sealane as sl
/// >>> @sl.program
/// ... def richer(
/// ...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
/// ... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
/// ...     return a > b
/// >>> plan = richer.plan()
/// >>> plan.rounds, plan.ands, plan.parties, plan.rows
/// (5, 32, ('alice', 'bob'), {})
/// >>> sorted(plan.roles), sorted(plan.payload_bytes)
/// (['evaluator', 'garbler'], ['alice', 'bob'])
/// >>> 0 < plan.estimate_s["lan"] < plan.estimate_s["wan"]
/// True
/// >>> sorted(plan.memory_bytes), max(plan.memory_bytes.values()) < 2**28
/// (['alice', 'bob'], True)
/// >>> plan.hash == richer.hash, plan.notes, plan.warnings
/// (True, [], [])
/// >>> "AND gates" in plan.steps, plan.references.startswith("yao")
/// (True, True)
/// >>> import json
/// >>> json.loads(plan.json).get("rounds")
/// 5
#[pyclass(module = "sealane._core", frozen)]
pub struct Plan {
    record: PlanRecord,
    warnings: Vec<Diagnostic>,
}

impl Plan {
    /// Makes the plan of a job, with its cost for some numbers of rows and its distance from the
    /// best one, notes about its numbers, and warnings of its rounds or time, which are notes as
    /// well.
    pub fn new(
        job: &Job,
        (cost, gap): (&CostReport, Option<GapRecord>),
        mut notes: Vec<String>,
        warnings: Vec<Diagnostic>,
    ) -> Plan {
        notes.extend(warnings.iter().map(Diagnostic::line));
        let mut record = view::plan(job, cost, &notes);
        record.gap = gap;
        Plan { record, warnings }
    }
}

#[pymethods]
impl Plan {
    /// The hash of the job, as 64 hexadecimal digits. It does not depend on `rows`.
    #[getter]
    fn hash(&self) -> &str {
        &self.record.job
    }

    /// Numbers of rows for which the cost is stated, by the names in the signature.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.record.rows)
    }

    /// All parties: those of the program, then the helpers.
    #[getter]
    fn parties<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.record.parties())
    }

    /// Party of each role of the protocol; empty if it has none and all compute.
    #[getter]
    fn roles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.record.participants.roles)
    }

    /// Payload that each party will send, in bytes, by the name of the party: exact.
    #[getter]
    fn payload_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.record.payload_bytes)
    }

    /// Rounds, input and output included: exact.
    #[getter]
    fn rounds(&self) -> u64 {
        self.record.rounds
    }

    /// AND gates, counted once for each row: exact.
    #[getter]
    fn ands(&self) -> u64 {
        self.record.ands
    }

    /// Memory of a run at each party, in bytes, by the name of the party: at most that much.
    #[getter]
    fn memory_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.record.memory_bytes)
    }

    /// Estimated seconds of a run on the networks `"lan"` and `"wan"`, and on a declared one
    /// such as `"20ms/100Mbps"`.
    #[getter]
    fn estimate_s<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.record.estimate_s)
    }

    /// References, assumptions and security levels of a run at these row counts, one a line.
    #[getter]
    fn references(&self) -> String {
        self.record.references_card().to_string()
    }

    /// Refuses the names that attributes had before with those that they have.
    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        Err(error::no_attribute(py, "Plan", name))
    }

    /// Every step, one per line: its times, lanes, AND gates and payload bytes.
    #[getter]
    fn steps(&self) -> String {
        self.record.steps_card().to_string()
    }

    /// Notes about the numbers of a run, and about rounds or time that are out of proportion.
    #[getter]
    fn notes(&self) -> &[String] {
        &self.record.notes
    }

    /// The warnings of rounds or time that are out of proportion. Each is its code, the
    /// sentence, its place (file and line) or `None`, the reason and the hint.
    #[getter]
    fn warnings(&self) -> Vec<WarningParts<'_>> {
        self.warnings.iter().map(warning_parts).collect()
    }

    /// Same content as `sealane plan --json`.
    #[getter]
    fn json(&self) -> String {
        self.record.json().to_string()
    }

    fn __repr__(&self) -> String {
        self.record.card().to_string()
    }

    /// Same content for a notebook.
    fn _repr_html_(&self) -> String {
        self.record.card().html().to_string()
    }
}

/// Protocols that can run a program, side by side: bytes, rounds, estimated seconds, and what
/// each withstands. Prints as a table.
///
/// >>> import sealane as sl
/// >>> @sl.program
/// ... def richer(
/// ...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
/// ... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
/// ...     return a > b
/// >>> compared = richer.plan(compare=True)
/// >>> "yao" in compared.protocols, compared.fastest in compared.protocols
/// (True, True)
/// >>> import json
/// >>> sorted(json.loads(compared.json))[:3]
/// ['fastest', 'inputs', 'network']
#[pyclass(module = "sealane._core", frozen)]
pub struct Comparison(pub ComparisonRecord);

#[pymethods]
impl Comparison {
    /// Names of the protocols that run it.
    #[getter]
    fn protocols(&self) -> Vec<&str> {
        let protocols = self.0.protocols.iter();
        protocols.map(|of| &*of.protocol).collect()
    }

    /// The protocol of the least estimated time on the declared network, of those that need no
    /// other helpers than the named ones; `None` if none does.
    #[getter]
    fn fastest(&self) -> Option<&str> {
        self.0.fastest.as_deref()
    }

    /// Same content as `sealane plan --compare --json`.
    #[getter]
    fn json(&self) -> String {
        self.0.json().to_string()
    }

    fn __repr__(&self) -> String {
        self.0.card().to_string()
    }

    /// Same content for a notebook.
    fn _repr_html_(&self) -> String {
        self.0.card().html().to_string()
    }
}

/// Report of a run.
#[pyclass(module = "sealane._core", frozen)]
pub struct Report {
    job: Job,
    report: RunReport,
    plan: Py<Plan>,
}

impl Report {
    /// Makes the report of a run, with the plan for its numbers of rows.
    pub fn new(py: Python<'_>, job: Job, report: RunReport) -> PyResult<Report> {
        let rows = report.rows.iter().map(|(_, count)| *count);
        let rows = rows.collect::<Vec<_>>();
        let cost = job.cost(&rows).map_err(error::raised)?;
        let notes = report.notes.clone();
        let plan = Py::new(py, Plan::new(&job, (&cost, None), notes, vec![]))?;
        Ok(Report { job, report, plan })
    }
}

/// Element type, shape and elements of a result.
type Element<'py> = (String, Vec<u64>, Bound<'py, PyBytes>);

#[pymethods]
impl Report {
    /// Results of this side, by name.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> Vec<(&str, Element<'py>)> {
        let results = self.report.results.iter();
        let learnt = results.filter_map(|result| Some((&*result.name, result.data.as_ref()?)));
        learnt
            .map(|(name, data)| (name, array::to_python(py, data)))
            .collect()
    }

    /// Results of this side for one table, which need not be named if it is the only one.
    fn table(&self, name: Option<&str>) -> PyResult<Table> {
        let mut tables = results::tables(self.job.program(), &self.report);
        let names = tables.iter().map(|(name, _)| &**name).collect::<Vec<_>>();
        let index = match name {
            None if names.len() == 1 => Some(0),
            None => None,
            Some(name) => names.iter().position(|known| *known == name),
        };
        let Some(index) = index else {
            let what = match name {
                Some(name) => format!("no result that this side learns belongs to `{name}`"),
                None => format!("results belong to {} tables", names.len()),
            };
            let hint = match names[..] {
                [] => "this side learns nothing".to_string(),
                _ => format!("name one of: {}", names.join(", ")),
            };
            return Err(error::raised(Failure::new(Code::UnknownTable, what, hint)));
        };
        let (name, frame) = tables.swap_remove(index);
        let batch = frame
            .batch()
            .map_err(|finding| error::raised(Failure::from(finding)))?;
        Ok(Table::new(name, batch))
    }

    /// Writes the results of this side, as `--output` does.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| results::write(self.job.program(), &self.report, &path));
        written.map(drop).map_err(error::raised)
    }

    /// Rows of each table.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.report.rows)
    }

    /// Payload bytes that each party sent.
    #[getter]
    fn payload_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_name(py, &self.report.payload_bytes())
    }

    /// Rounds, input and output included.
    #[getter]
    fn rounds(&self) -> u64 {
        self.report.rounds
    }

    /// True if payload bytes and rounds are the planned ones on every link.
    #[getter]
    fn as_planned(&self) -> bool {
        self.report.as_planned()
    }

    /// Notes about the numbers of the program, and about the inputs.
    #[getter]
    fn notes(&self) -> &[String] {
        &self.report.notes
    }

    /// Seconds from the end of the handshake to the last result.
    #[getter]
    fn seconds(&self) -> f64 {
        self.report.seconds
    }

    /// Processor seconds of this process in that time, of all its threads.
    #[getter]
    fn cpu_seconds(&self) -> f64 {
        self.report.cpu_seconds
    }

    /// Plan that the run followed.
    #[getter]
    fn plan(&self, py: Python<'_>) -> Py<Plan> {
        self.plan.clone_ref(py)
    }

    /// Same content as `sealane run --json`.
    #[getter]
    fn json(&self) -> String {
        view::report(&self.job, &self.report).json().to_string()
    }

    fn __repr__(&self) -> String {
        view::report(&self.job, &self.report).card().to_string()
    }

    /// Same content for a notebook.
    fn _repr_html_(&self) -> String {
        let card = view::report(&self.job, &self.report).card();
        card.html().to_string()
    }
}

/// A dictionary of values by name, in their order.
fn by_name<'py, T>(py: Python<'py>, pairs: &[(String, T)]) -> PyResult<Bound<'py, PyDict>>
where
    T: Clone + IntoPyObject<'py>,
{
    let dictionary = PyDict::new(py);
    for (name, value) in pairs {
        dictionary.set_item(name, value.clone())?;
    }
    Ok(dictionary)
}
