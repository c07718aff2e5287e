//! Pass `localise`: values that one party knows are computed by that party in the clear.
//!
//! A program is divided into one *local* program per party, which its owner runs alone, and the
//! *joint* program, in which each result of a local one is an input of its owner. The frontier
//! between them is found by walking from the results towards the inputs; the walk stops at the
//! first value that one party knows and that pays:
//!
//! * Operations without AND gates (slices, casts, shifts by a constant, exclusive or) do not pay:
//!   they are free in the joint program, and each would add an input.
//! * Other element-wise operations pay if their gates cost at least as much as sharing their
//!   result: garbled, a gate is two blocks on the wire and an input bit at most one.
//! * Reductions, dot products, lookups and functions called by name pay; a map or scan does if its
//!   body has an operation that pays.
//!
//! The division follows from the program alone, so all parties divide alike. It discloses nothing:
//! a party could always have computed on its own values before it gave them. Inputs that the joint
//! program does not need any more are never shared.

use crate::floats;
use crate::lower;
use sealane_diagnostic::Diagnostic;
use sealane_parties::PartyId;
use sealane_program::check::MAX_INPUTS;
use sealane_program::graph::{Graph, Input, Op, Program, Reveal, Value, ValueId, Visibility};
use sealane_program::kind::Kind;

/// Division of a program into joint and local parts.
pub struct Localised {
    /// Joint program: its inputs are those of the whole program, and after them the results of all
    /// local programs, one after the other.
    pub joint: Program,
    /// Local programs, by party; at most one each.
    pub locals: Vec<Local>,
}

/// Program that one party computes alone.
pub struct Local {
    /// The party.
    pub party: PartyId,
    /// Local program, of this party alone. It has the inputs of the whole program, so that input
    /// and row numbers stay the same; inputs of other parties are never read.
    pub program: Program,
}

/// Checks and divides a program. Random numbers are inputs first ([`drawn`](fn@crate::drawn)).
///
/// # Errors
/// The errors of [`sealane_program::check`](fn@sealane_program::check).
pub fn localise(program: &Program) -> Result<Localised, Diagnostic> {
    sealane_program::check(program)?;
    let mut frontier = frontier(program);
    // The values of one party are adjacent, in order of the program.
    frontier.sort_by_key(|(party, id)| (*party, *id));
    let mut joint = program.clone();
    let (mut given, mut locals) = (Vec::new(), Vec::new());
    for values in frontier.chunk_by(|(a, _), (b, _)| a == b) {
        let party = values[0].0;
        let values = values.iter().map(|(_, id)| *id).collect::<Vec<_>>();
        let first = joint.inputs.len();
        for id in &values {
            let input = input_of(&joint.inputs, "local", party, &program.main[id]);
            joint.inputs.push(input);
        }
        locals.push(local(program, party, &values, &joint.inputs[first..]));
        given.extend(values);
    }
    let (main, renamed) = part(program, &given, program.results.iter().map(|r| r.value));
    for result in &mut joint.results {
        result.value = renamed[result.value.0 as usize];
    }
    joint.main = main;
    Ok(Localised { joint, locals })
}

/// Returns the values that parties compute alone and then give, with their parties.
fn frontier(program: &Program) -> Vec<(u8, ValueId)> {
    let graph = &program.main;
    let mut frontier = Vec::new();
    let mut live = vec![false; graph.values.len()];
    for result in &program.results {
        live[result.value.0 as usize] = true;
    }
    for (index, value) in graph.values.iter().enumerate().rev() {
        if !live[index] {
            continue;
        }
        // A program near the limit on inputs is divided as far as there is room.
        let room = program.inputs.len() + frontier.len() < MAX_INPUTS;
        match value.visibility {
            Visibility::Known(party) if room && pays(graph, value) => {
                frontier.push((party, ValueId(index as u32)));
            }
            _ => mark(&mut live, value),
        }
    }
    frontier
}

/// Returns whether computing a value jointly costs more than sharing it.
fn pays(graph: &Graph, value: &Value) -> bool {
    match &value.op {
        _ if floats::is_call(graph, value) => true,
        Op::Unary(..) | Op::Binary(..) | Op::Select(..) => {
            let ands = lower::ands_by_element(graph, value);
            ands > 0 && 2 * ands >= usize::from(value.range.bits())
        }
        Op::Reduce(..)
        | Op::Accumulate(..)
        | Op::Running(..)
        | Op::Dot(..)
        | Op::SumProduct { .. }
        | Op::Mean { .. } => true,
        Op::Lookup { .. } | Op::Call(..) => true,
        Op::Part(of, _) => match &graph[of].op {
            Op::Sort(..) | Op::Compact { .. } => true,
            op => op
                .body()
                .is_some_and(|body| body.values.iter().any(|value| pays(body, value))),
        },
        // Elements that move, and operations that are used through their parts only.
        _ => false,
    }
}

/// Makes an input that a party gives in place of a value, as narrow as the range of that, with a
/// name of its own that begins with `kind`.
pub(crate) fn input_of(inputs: &[Input], kind: &str, owner: u8, value: &Value) -> Input {
    let taken = |name: &String| inputs.iter().any(|input| input.name == *name);
    let mut names = (inputs.len()..).map(|number| format!("{kind}_{number}"));
    let name = names.find(|name| !taken(name)).unwrap_or_default();
    Input {
        range: value.range,
        span: value.span.clone(),
        ..Input::new(name, owner, value.ty, value.shape.clone())
    }
}

/// Makes the program in which a party computes `values` for the inputs `gives`.
fn local(program: &Program, party: u8, values: &[ValueId], gives: &[Input]) -> Local {
    let (mut main, renamed) = part(program, &[], values.iter().copied());
    alone(&mut main);
    let reveal = |(id, input): (&ValueId, &Input)| Reveal {
        name: input.name.clone(),
        value: renamed[id.0 as usize],
        to: vec![0],
        ty: input.ty,
        kind: Kind::default(),
        note: String::new(),
    };
    let mut inputs = program.inputs.clone();
    inputs.iter_mut().for_each(|input| input.owner = 0);
    let program = Program {
        parties: vec![program.parties[usize::from(party)].clone()],
        inputs,
        main,
        results: values.iter().zip(gives).map(reveal).collect(),
        ..program.clone()
    };
    let party = PartyId(party);
    Local { party, program }
}

/// Renumbers the owner: the local program has one party.
fn alone(graph: &mut Graph) {
    for value in &mut graph.values {
        if let Visibility::Known(party) = &mut value.visibility {
            *party = 0;
        }
        if let Some(body) = value.op.body_mut() {
            alone(body);
        }
    }
}

/// Returns the main graph without the values that the `wanted` ones do not need. The values `given`
/// become parameters after those of the program. Also returns the new number of each remaining
/// value.
fn part(
    program: &Program,
    given: &[ValueId],
    wanted: impl Iterator<Item = ValueId>,
) -> (Graph, Vec<ValueId>) {
    let (old, params) = (&program.main.values, program.main.params as usize);
    let mut given_as = vec![None; old.len()];
    for (index, id) in given.iter().enumerate() {
        given_as[id.0 as usize] = Some((params + index) as u32);
    }
    let mut live = vec![false; old.len()];
    wanted.for_each(|id| live[id.0 as usize] = true);
    for (index, value) in old.iter().enumerate().rev() {
        if live[index] && given_as[index].is_none() {
            mark(&mut live, value);
        }
    }
    let mut values = old[..params].to_vec();
    let param =
        |(id, index): (&ValueId, usize)| program.main[id].clone().with_op(Op::Param(index as u32));
    values.extend(given.iter().zip(params..).map(param));
    let mut renamed = (0..params as u32).map(ValueId).collect::<Vec<_>>();
    for (index, value) in old.iter().enumerate().skip(params) {
        let next = ValueId(given_as[index].unwrap_or(values.len() as u32));
        if live[index] && given_as[index].is_none() {
            let mut value = value.clone();
            value.op.renumber(|id| renamed[id.0 as usize]);
            values.push(value);
        }
        renamed.push(next);
    }
    let graph = Graph {
        params: (params + given.len()) as u32,
        values,
        returns: Vec::new(),
    };
    (graph, renamed)
}

/// Marks the values from which a value is computed.
fn mark(live: &mut [bool], value: &Value) {
    let operands = value.op.operands();
    operands.iter().for_each(|id| live[id.0 as usize] = true);
}
