//! Division of a job: first the local work of each party in the clear, then the joint plan of all.
//!
//! Local work is planned for `clear` with one party and runs on a mesh of one, with the code that
//! runs any other plan. Its results leave this crate only as inputs of the joint plan. So do the
//! numbers that each party draws for the random numbers of the program.

use crate::events::Phase;
use crate::execute::{PlanStart, execute};
use crate::journal::{Journal, PlanRecorder};
use sealane_block::Coins;
use sealane_clear::{Clear, ClearParty};
use sealane_diagnostic::Diagnostic;
use sealane_net::{Cancel, Limits, Mesh};
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::{Fault, Party, Stocks};
use sealane_plan::{
    CostReport, Form, JobText, Localised, Plan, Roster, StepCost, StepKind, bounded, cost,
    cost_in_forms, drawn, in_form, localise, plan_in_tiles, plan_with_roster,
};
use sealane_program::graph::{Input, Program};
use sealane_program::types::{Data, Type};
use sealane_protocol::{Corruption, Demand, Protocol};
use zeroize::Zeroizing;

/// Bytes of memory of a process that has loaded Sealane and planned, and of its connections in one
/// direction beside what waits there.
const PROCESS_BYTES: u64 = 64 << 20;
const LINK_BYTES: u64 = 8 << 20;

/// Program, divided into local and joint work and planned.
pub(crate) struct SplitPlan {
    /// Plan of the work of all parties together. Its inputs are those of the program, then those
    /// that parties draw, then the results of all local plans, one after the other.
    pub joint: Plan,
    /// Inputs that parties draw.
    drawn: Vec<Draw>,
    /// Plans of the work of single parties.
    locals: Vec<LocalPlan>,
}

/// Uniform numbers that one party draws.
struct Draw {
    party: PartyId,
    /// The type, whose every value is as likely.
    ty: Type,
    shape: Vec<u64>,
}

impl Draw {
    /// Draws the numbers.
    fn numbers(&self, coins: &mut Coins) -> Data {
        let count = self.shape.iter().product::<u64>() as usize;
        let mut bytes = Zeroizing::new(vec![0; 8 * count]);
        let mut stream = coins.secret("numbers that nobody knows");
        stream.fill_bytes(&mut bytes);
        // Types from 1 to 64 bits hold every number below 2^bits.
        let bits = self.ty.range().bits();
        let numbers = bytes.chunks_exact(8).map(|bytes| drawn_number(bytes, bits));
        Data {
            ty: self.ty,
            shape: self.shape.clone(),
            elements: numbers.collect(),
        }
    }
}

/// Returns the number of `bits` bits, 1 to 64, that eight random bytes give.
pub(crate) fn drawn_number(bytes: &[u8], bits: u8) -> u64 {
    let numbers = bytes.iter();
    let number = numbers.fold(0, |number, byte| number << 8 | u64::from(*byte));
    number & (u64::MAX >> (64 - u32::from(bits)))
}

/// Local work of one party.
struct LocalPlan {
    party: PartyId,
    /// Name of the party.
    name: String,
    plan: Plan,
}

/// Work of single parties, and the joint work of protocol `P`.
pub(crate) fn divided<P: Protocol>(program: &Program) -> Result<Localised, Diagnostic> {
    match P::profile().corruption {
        Corruption::Malicious(_) => bounded(program),
        _ => localise(program),
    }
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
        sealane_program::check(program)?;
        // Who owns inputs of the program, not who draws numbers.
        let roster = Roster::of(program, helpers);
        let drawn = drawn(program);
        let divided = divided::<P>(&drawn.program)?;
        let draw = |(party, input): (PartyId, &Input)| Draw {
            party,
            ty: input.ty,
            shape: input.shape.fixed.clone(),
        };
        let local = |local: sealane_plan::Local| {
            Ok(LocalPlan {
                party: local.party,
                name: program.parties[local.party.index()].clone(),
                plan: plan_in_tiles::<Clear>(&local.program, 0, network, most_rows)?,
            })
        };
        Ok(SplitPlan {
            joint: plan_with_roster::<P>(&divided.joint, roster, network, most_rows)?,
            drawn: drawn.inputs().map(draw).collect(),
            locals: divided
                .locals
                .into_iter()
                .map(local)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Plans the joint work again, with its oblivious transfers from a pool: other transfers cost
    /// other bytes, so that other roles and domains may be best.
    pub fn plan_from_pool<P: Protocol>(
        &mut self,
        program: &Program,
        network: NetworkClass,
        most_rows: u64,
    ) -> Result<(), Diagnostic> {
        let roster = Roster::of(program, 0).with_pool();
        let divided = divided::<P>(&drawn(program).program)?;
        self.joint = plan_with_roster::<P>(&divided.joint, roster, network, most_rows)?;
        Ok(())
    }

    /// Returns the text of the job that consists of these plans.
    pub fn text<'a, P: Protocol>(
        &'a self,
        program: &'a Program,
        parties: &'a [String],
        network: NetworkClass,
    ) -> JobText<'a> {
        let alone = self.locals.iter().map(|local| (local.party, &local.plan));
        JobText::new::<P>(program, parties, network, &self.joint, alone.collect())
    }

    /// Returns the cost of the work. The promise is the one of the joint plan, since local work has
    /// no traffic and garbles no gate. Local steps stand before all others and cost only time.
    pub fn cost<P: Protocol>(&self, rows: &[u64]) -> CostReport {
        let mut report = cost_in_forms::<P>(&self.joint, rows);
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
        for (local, cost) in &alone {
            report.work.add(&cost.work, 1);
            let (memory, own) = (&mut report.memory[local.party.index()], cost.memory[0]);
            memory.inputs += own.inputs;
            memory.work = memory.work.max(own.work);
        }
        let limits = Limits::default();
        let link = |bytes: u64, bound: usize| LINK_BYTES + bytes.min(bound as u64);
        for ((from, to), bytes) in &report.promise.payload {
            report.memory[from.index()].work += link(*bytes, limits.outbound_bytes);
            report.memory[to.index()].work += link(*bytes, limits.inbound_bytes);
        }
        let memory = report.memory.iter_mut();
        memory.for_each(|memory| memory.work += PROCESS_BYTES);
        report
    }

    /// Returns the number of steps of local plans, which stand before those of the joint one.
    pub fn alone(&self) -> usize {
        self.locals
            .iter()
            .map(|local| local.computing().count())
            .sum()
    }

    /// Runs one party's side, on the `inputs` of the program: its local work, then the joint plan.
    /// Returns the elements of each result that this party learns.
    pub fn run<P: Party>(
        &self,
        inputs: &[Option<&Data>],
        mut start: PlanStart<'_>,
        journal: &mut Journal<'_>,
        mesh: &mut Mesh,
    ) -> Result<Vec<Option<Data>>, Fault> {
        let mut own =
            |draw: &Draw| (draw.party == mesh.me()).then(|| draw.numbers(&mut start.coins));
        let drawn = self.drawn.iter().map(&mut own).collect::<Vec<_>>();
        let mut inputs = inputs.to_vec();
        inputs.extend(drawn.iter().map(Option::as_ref));
        let mut computed = Vec::new();
        let mut first = 0;
        for local in &self.locals {
            if local.party == mesh.me() {
                journal.phase(Phase::Alone);
                let recorder = PlanRecorder::alone(journal, local.numbers(first));
                computed.extend(local.run(&inputs, &mut start, recorder, mesh.cancel())?);
            } else {
                computed.resize(computed.len() + local.plan.results.len(), None);
            }
            first += local.computing().count();
        }
        inputs.extend(computed.iter().map(Option::as_ref));
        let plan = in_form::<P::Protocol>(&self.joint, start.form);
        let steps = plan.segments.iter();
        let steps = steps.map(|segment| segment.steps.len()).sum::<usize>();
        // The preparation stands before the steps of each walk, a reveal behind them.
        let lines = 1 + plan.setting.timing.walks().len() * (steps + 1);
        let recorder = PlanRecorder::joint(journal, first, lines);
        execute::<P>(&plan, inputs, start, recorder, mesh)
    }
}

impl LocalPlan {
    /// Runs the plan on inputs of this party alone, until `cancel` is set.
    fn run(
        &self,
        inputs: &[Option<&Data>],
        start: &mut PlanStart<'_>,
        recorder: PlanRecorder<'_, '_>,
        cancel: &Cancel,
    ) -> Result<Vec<Option<Data>>, Fault> {
        let mut alone = Mesh::in_memory(1);
        let mesh = alone
            .first_mut()
            .ok_or_else(|| Fault::Internal("a mesh of one is empty".into()))?;
        mesh.cancelled_by(cancel);
        let start = PlanStart {
            rows: start.rows,
            demand: &Demand::default(),
            form: Form::default(),
            cpu: start.cpu,
            coins: start.coins.fork("local work"),
            stocks: Stocks::default(),
        };
        execute::<ClearParty>(&self.plan, inputs.to_vec(), start, recorder, mesh)
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
