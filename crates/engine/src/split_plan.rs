//! Division of a job: first the local work of each party in the clear, then the joint plan of all.
//!
//! Local work is planned for `clear` with one party and runs on a mesh of one, with the code that
//! runs any other plan. Its results leave this room only as inputs of the joint plan.

use crate::events::Phase;
use crate::execute::{PlanInputs, execute};
use crate::journal::{Journal, PlanRecorder};
use sealane_clear::{Clear, ClearParty};
use sealane_diagnostic::Diagnostic;
use sealane_net::{Cancel, Mesh};
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::{Fault, Party};
use sealane_plan::{CostReport, Plan, StepCost, StepKind, at_rows, cost, localise, plan_in_tiles};
use sealane_program::graph::Program;
use sealane_program::types::Data;
use sealane_protocol::{Demand, Protocol};

/// Program, divided into local and joint work and planned.
pub(crate) struct SplitPlan {
    /// Plan of the work of all parties together. Its inputs are those of the program, then the
    /// results of all local plans, one after the other.
    pub joint: Plan,
    /// Plans of the work of single parties.
    locals: Vec<LocalPlan>,
}

/// Local work of one party.
struct LocalPlan {
    party: PartyId,
    /// Name of the party.
    name: String,
    plan: Plan,
}

impl SplitPlan {
    /// Divides and plans a program for protocol `P`, with its parties and `helpers` more, and at
    /// most `most_rows` rows a tile.
    pub fn plan<P: Protocol>(
        program: &Program,
        helpers: usize,
        network: NetworkClass,
        most_rows: u64,
    ) -> Result<SplitPlan, Diagnostic> {
        let divided = localise(program)?;
        let local = |local: sealane_plan::Local| {
            Ok(LocalPlan {
                party: local.party,
                name: program.parties[local.party.index()].clone(),
                plan: plan_in_tiles::<Clear>(&local.program, 0, network, most_rows)?,
            })
        };
        Ok(SplitPlan {
            joint: plan_in_tiles::<P>(&divided.joint, helpers, network, most_rows)?,
            locals: divided
                .locals
                .into_iter()
                .map(local)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns the cost of the work. The promise is the one of the joint plan, since local work has
    /// no traffic and garbles no gate. Local steps stand before all others and cost only time.
    pub fn cost<P: Protocol>(&self, rows: &[u64]) -> CostReport {
        let mut report = cost::<P>(&at_rows::<P>(&self.joint, rows), rows);
        let alone = self
            .locals
            .iter()
            .map(|local| (local, cost::<Clear>(&local.plan, rows)));
        let alone = alone.collect::<Vec<_>>();
        // Parties do their local work at the same time.
        let slowest = alone.iter().map(|(_, cost)| cost.compute_ns).max();
        report.compute_ns += slowest.unwrap_or(0);
        let parties = report.promise.sent.len();
        let lines = alone
            .iter()
            .flat_map(|(local, cost)| local.lines(cost, parties));
        report.steps.splice(0..0, lines);
        report
    }

    /// Returns the number of steps of local plans, which stand before those of the joint one.
    pub fn alone(&self) -> usize {
        self.locals
            .iter()
            .map(|local| local.computing().count())
            .sum()
    }

    /// Runs one party's side: its local work, then the joint plan with `start`, which has the
    /// inputs of the program. Returns the elements of each result that this party learns.
    pub fn run<P: Party>(
        &self,
        mut start: PlanInputs<'_>,
        journal: &mut Journal<'_>,
        mesh: &mut Mesh,
    ) -> Result<Vec<Option<Data>>, Fault> {
        let mut computed = Vec::new();
        let mut first = 0;
        for local in &self.locals {
            if local.party == mesh.me() {
                journal.phase(Phase::Alone);
                let recorder = PlanRecorder::alone(journal, local.numbers(first));
                computed.extend(local.run(&mut start, recorder, mesh.cancel())?);
            } else {
                computed.resize(computed.len() + local.plan.results.len(), None);
            }
            first += local.computing().count();
        }
        let inputs = start.inputs.iter().copied();
        let start = PlanInputs {
            inputs: inputs.chain(computed.iter().map(Option::as_ref)).collect(),
            rows: start.rows,
            demand: start.demand,
            cpu: start.cpu,
            coins: start.coins,
            stock: start.stock,
        };
        let steps = self.joint.segments.iter();
        let steps = steps.map(|segment| segment.steps.len()).sum::<usize>();
        // The preparation stands before the steps of each walk, a reveal behind them.
        let lines = 1 + self.joint.setting.timing.walks().len() * (steps + 1);
        let recorder = PlanRecorder::joint(journal, first, lines);
        let plan = at_rows::<P::Protocol>(&self.joint, start.rows);
        execute::<P>(&plan, start, recorder, mesh)
    }
}

impl LocalPlan {
    /// Runs the plan on inputs of this party alone, until `cancel` is set.
    fn run(
        &self,
        start: &mut PlanInputs<'_>,
        recorder: PlanRecorder<'_, '_>,
        cancel: &Cancel,
    ) -> Result<Vec<Option<Data>>, Fault> {
        let mut alone = Mesh::in_memory(1);
        let mesh = alone
            .first_mut()
            .ok_or_else(|| Fault::Internal("a mesh of one is empty".into()))?;
        mesh.cancelled_by(cancel);
        let start = PlanInputs {
            rows: start.rows,
            inputs: start.inputs.clone(),
            demand: &Demand::default(),
            cpu: start.cpu,
            coins: start.coins.fork("local work"),
            stock: None,
        };
        execute::<ClearParty>(&self.plan, start, recorder, mesh)
    }

    /// Returns a cost line for each step that computes.
    fn lines(&self, cost: &CostReport, parties: usize) -> Vec<StepCost> {
        let line = |number: usize| StepCost {
            label: format!("local at {}: {}", self.name, cost.steps[number].label),
            flights: 0,
            ands: 0,
            sent: vec![0; parties],
            busiest: 0,
            ..cost.steps[number].clone()
        };
        self.computing().map(line).collect()
    }

    /// Returns the numbers of the steps that compute; the preparation has the number 0.
    fn computing(&self) -> impl Iterator<Item = usize> {
        let steps = self.plan.segments.iter().flat_map(|segment| &segment.steps);
        let computes = |kind| !matches!(kind, StepKind::Local | StepKind::Input);
        let steps = (1..).zip(steps);
        steps.filter_map(move |(number, step)| computes(step.op.kind()).then_some(number))
    }

    /// Returns for each step its line, if the lines of this plan begin at `first`.
    fn numbers(&self, first: usize) -> Vec<Option<usize>> {
        let mut numbers = Vec::new();
        for (line, number) in self.computing().enumerate() {
            numbers.resize(number, None);
            numbers.push(Some(first + line));
        }
        numbers
    }
}
