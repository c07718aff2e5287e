//! Local work of lookups: the tape of AES-128 that the plan has for many blocks, as a single step
//! of three parties whose messages stay in memory.

use std::sync::Arc;

use sealane_block::Cpu;
use sealane_circuit::Tape;
use sealane_engine::Job;
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Opened, Outcome, Shares, Step};
use sealane_plan::steps::{Plan, StepOp};
use sealane_protocol::{Demand, View};
use sealane_trio::TrioParty;

use super::cpu_seconds;
use super::order::{domain, setting};
use crate::alone::Alone;
use crate::{SuiteError, side_by_side};

const BYTE: usize = 8;

/// The tape, and its operands as bytes: how many, and whether they are the same in all lanes.
struct Lookups<'a> {
    tape: &'a Tape,
    operands: Vec<(usize, bool)>,
}

/// The CPU seconds that a party takes for the tape, the mean of the three, each in a thread of its
/// own; the best of some turns.
pub(super) fn run(cpu: Cpu, job: &Job, blocks: usize, turns: usize) -> Result<f64, SuiteError> {
    let plan = job.plan_at(&[blocks as u64])?;
    let lookups = lookups(&plan, blocks as u64).ok_or("a plan without lookups under masks")?;
    let ends = side_by_side(Mesh::in_memory(3), |mesh| {
        let party = Alone::set_up(cpu, mesh, &setting(), &Demand::default())?;
        one(party, &lookups, blocks, turns)
    })?;
    let turn = |turn: usize| ends.iter().map(|times: &Vec<f64>| times[turn]).sum::<f64>() / 3.0;
    Ok((0..turns).map(turn).fold(f64::INFINITY, f64::min))
}

/// The tape of a plan that looks up the most.
fn lookups(plan: &Plan, rows: u64) -> Option<Lookups<'_>> {
    let steps = plan.segments.iter().flat_map(|segment| &segment.steps);
    let tapes = steps.filter_map(|step| match &step.op {
        StepOp::Tape { tape, operands, .. } => Some((&plan.tapes[tape.0 as usize], operands)),
        _ => None,
    });
    let (tape, operands) = tapes.max_by_key(|(tape, _)| tape.applied.len())?;
    let operands = operands.iter().map(|operand| {
        let lanes = operand.lanes.at(rows);
        let same = lanes.dims.iter().all(|(_, stride)| *stride == 0);
        (operand.inner.count(rows) as usize, same)
    });
    let operands = operands.collect::<Vec<_>>();
    let bytes = operands.iter().map(|(bytes, _)| bytes).sum::<usize>();
    let fits = !tape.applied.is_empty() && bytes * BYTE == tape.inputs as usize;
    fits.then_some(Lookups { tape, operands })
}

/// Byte `at` of an operand in a lane: mixed, and the same for all lanes of one that is.
fn byte(operand: usize, lane: usize, at: usize) -> u64 {
    let mixed = (operand << 40 | lane << 16 | at) as u64;
    (mixed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56
}

fn one(
    mut party: Alone<TrioParty>,
    lookups: &Lookups<'_>,
    blocks: usize,
    turns: usize,
) -> Result<Vec<f64>, SuiteError> {
    let domain = domain();
    let mut operands = Vec::new();
    for (operand, (bytes, same)) in lookups.operands.iter().copied().enumerate() {
        let lanes = if same { 1 } else { blocks };
        let values = (0..lanes * bytes).map(|at| byte(operand, at / bytes, at % bytes));
        let input = party.input(domain, PartyId::from_index(operand % 3), BYTE, values)?;
        let lanes = View {
            offset: 0,
            dims: vec![(blocks, if same { 0 } else { bytes as isize })],
        };
        operands.push(Arc::new(input.gather(&lanes, &View::whole(bytes))));
    }
    let mut times = Vec::new();
    for turn in 0..turns {
        let step = Step::Tape {
            tape: lookups.tape,
            domain,
            lanes: blocks,
            operands: operands.clone(),
        };
        let before = cpu_seconds();
        let out = party.share(step)?;
        times.push(cpu_seconds() - before);
        if turn == 0 {
            let opened = Opened {
                share: Arc::new(out.spread(lookups.tape.outputs.len() / BYTE)),
                domain,
                to: PartySet::of((0..3).map(PartyId)),
            };
            let results = vec![opened];
            let Outcome::Opened(values, ()) = party.run(Step::Open { results })? else {
                return Err("an opening opened nothing".into());
            };
            let values = values.into_iter().next().flatten();
            check(lookups, &values.ok_or("an opening opened nothing")?)?;
        }
    }
    party.mesh.finish()?;
    Ok(times)
}

/// Compares the first lanes with the tape in the clear.
fn check(lookups: &Lookups<'_>, values: &[u64]) -> Result<(), SuiteError> {
    let mut inputs = Vec::new();
    for (operand, (bytes, same)) in lookups.operands.iter().copied().enumerate() {
        for bit in 0..bytes * BYTE {
            let mut lanes = [0u64; 8];
            for lane in 0..512 {
                let byte = byte(operand, if same { 0 } else { lane }, bit / BYTE);
                lanes[lane / 64] |= (byte >> (bit % BYTE) & 1) << (lane % 64);
            }
            inputs.push(lanes);
        }
    }
    let outputs = lookups.tape.eval(&inputs);
    let right = |(at, value): (usize, &u64)| {
        let bytes = outputs.len() / BYTE;
        let (lane, first) = (at / bytes, at % bytes * BYTE);
        let bits = (0..BYTE).map(|bit| (outputs[first + bit][lane / 64] >> (lane % 64) & 1) << bit);
        *value == bits.sum::<u64>()
    };
    let mut checked = values.iter().enumerate().take(512 * outputs.len() / BYTE);
    checked
        .all(right)
        .then_some(())
        .ok_or_else(|| "a wrong lookup".into())
}
