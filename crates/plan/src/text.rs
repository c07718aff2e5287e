//! Text form of a plan, which its hash covers.

use crate::flow::{self, IN_FLIGHT};
use crate::network::Network;
use crate::steps::{
    Crossed, Len, LinearFactor, LinearTerm, Operand, Plan, PlanValue, Produced, Rearrangement,
    SortKey, Step, StepOp, SymView, TapeId, ValuePlan,
};
use sealane_circuit::Tape;
use sealane_circuit::function::Function;
use sealane_circuit::tape::Gate;
use sealane_parties::PartyId;
use sealane_program::types::{Data, RowId};
use sealane_protocol::{Domain, Timing};
use std::fmt::Write as _;

impl Plan {
    /// Lists everything in the plan, line by line; tapes by size and hash. Equal plans have equal
    /// texts, and unequal ones different texts.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = write_plan(&mut text, self);
        for other in &self.others {
            let _ = writeln!(text, "or with lookups as {:?}", other.lookups);
            let _ = write_plan(&mut text, other);
        }
        text
    }

    /// Computes BLAKE3 of the text, and thereby of the tapes.
    pub fn hash(&self) -> [u8; 32] {
        *blake3::hash(self.text().as_bytes()).as_bytes()
    }
}

/// Computes BLAKE3 of the complete content of a tape.
pub(crate) fn tape_hash(tape: &Tape) -> blake3::Hash {
    let mut bytes = Vec::with_capacity(16 * (tape.xors.len() + tape.ands.len()) + 1024);
    let mut word = |value: u32| bytes.extend_from_slice(&value.to_le_bytes());
    let lengths = [
        tape.xors.len(),
        tape.ands.len(),
        tape.batches.len(),
        tape.outputs.len(),
    ];
    [tape.inputs, tape.slots, tape.depth]
        .into_iter()
        .for_each(&mut word);
    lengths.into_iter().for_each(|length| word(length as u32));
    let gates = tape.xors.iter().chain(&tape.ands);
    gates
        .flat_map(|Gate { a, b, out, number }| [*a, *b, *out, *number])
        .for_each(&mut word);
    let ends = tape
        .batches
        .iter()
        .flat_map(|batch| [batch.xors.end, batch.ands.end]);
    ends.chain(tape.outputs.iter().copied()).for_each(&mut word);
    bytes.extend(tape.lone.iter().map(|lone| u8::from(*lone)));
    bytes.extend_from_slice(&tape.known_to);
    functions(tape, &mut bytes);
    blake3::hash(&bytes)
}

/// Appends the functions that a tape applies.
fn functions(tape: &Tape, bytes: &mut Vec<u8>) {
    for function in &tape.functions {
        match function {
            Function::Product => bytes.push(1),
            Function::Quotients => bytes.push(4),
            Function::Field(field) => {
                bytes.push(3);
                bytes.extend(field.polynomial().to_le_bytes());
            }
            Function::Table(table) => {
                bytes.extend([2, table.inputs() as u8]);
                bytes.extend((table.outputs() as u32).to_le_bytes());
                for output in 0..table.outputs() {
                    let sets = table.summands(output);
                    bytes.extend(sets.flat_map(|set| (set as u16).to_le_bytes()));
                    bytes.extend(u16::MAX.to_le_bytes());
                }
            }
        }
    }
    for applied in &tape.applied {
        let slots = applied.operands.iter().chain(&applied.outs);
        let words = [&applied.batch, &applied.function].into_iter().chain(slots);
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
    }
}

fn write_plan(text: &mut String, plan: &Plan) -> std::fmt::Result {
    let players = |players: &Vec<PartyId>| {
        let players = players.iter().map(|party| party.0.to_string());
        players.collect::<Vec<_>>().join(" and ")
    };
    let roles = plan.setting.roles.iter().map(players);
    let roles = roles.collect::<Vec<_>>();
    writeln!(text, "plan 1 for protocol {}", plan.protocol)?;
    writeln!(
        text,
        "parties {}, roles [{}]",
        plan.setting.parties,
        roles.join(", ")
    )?;
    // Messages carry no labels: a party with another order of tiles would misread them.
    writeln!(text, "flow {}, {IN_FLIGHT} tiles in flight", flow::VERSION)?;
    match plan.setting.timing {
        Timing::CountsAlone => {}
        Timing::TileByTile => writeln!(text, "offline parts tile by tile")?,
        Timing::AheadOfInputs => writeln!(text, "offline parts ahead of inputs")?,
    }
    for (index, owner) in plan.owners.iter().enumerate() {
        writeln!(text, "input {index} of party {}", owner.0)?;
    }
    for (index, rows) in plan.rows.iter().enumerate() {
        let (name, bound, tile) = (&rows.name, rows.bound, rows.tile);
        let parts = rows.sum.iter().map(|part| part.0.to_string());
        let sum = match rows.sum.is_empty() {
            true => String::new(),
            false => format!(", the sum of {}", parts.collect::<Vec<_>>().join(" ")),
        };
        writeln!(
            text,
            "rows {index} {name}: at most {bound}, {tile} a tile{sum}"
        )?;
    }
    for (index, tape) in plan.tapes.iter().enumerate() {
        let (xors, ands, depth) = (tape.xors.len(), tape.ands.len(), tape.depth);
        let applied = match tape.applied.len() {
            0 => String::new(),
            count => format!("{count} functions, "),
        };
        writeln!(
            text,
            "tape t{index}: {} inputs, {} outputs, {xors} xors, {ands} ands, {applied}depth {depth}, {}",
            tape.inputs,
            tape.outputs.len(),
            tape_hash(tape).to_hex()
        )?;
    }
    for (index, value) in plan.values.iter().enumerate() {
        writeln!(text, "value v{index}: {}", describe(value))?;
    }
    for segment in &plan.segments {
        match segment.rows {
            Some(rows) => writeln!(text, "for each tile of rows {}", rows.0)?,
            None => writeln!(text, "once")?,
        }
        if let Some(tiles) = segment.refill {
            writeln!(text, "  refill pools every {tiles} tiles")?;
        }
        let mut steps = segment.steps.iter();
        steps.try_for_each(|step| writeln!(text, "  {}", step_line(step)))?;
    }
    for result in &plan.results {
        let to = result
            .to
            .iter()
            .map(|party| party.0.to_string())
            .collect::<Vec<_>>();
        let (name, value, ty, range) = (&result.name, result.value.0, result.ty, result.range);
        let dims = &result.fixed;
        writeln!(
            text,
            "reveal {name} = v{value}: {ty} {dims:?} in {range} to [{}]",
            to.join(", ")
        )?;
    }
    Ok(())
}

fn describe(value: &ValuePlan) -> String {
    let rows = value
        .rows
        .map_or(String::new(), |rows| format!("rows {} x ", rows.0));
    let sign = if value.signed { 'i' } else { 'u' };
    let kept = if value.kept { ", kept" } else { "" };
    format!(
        "{rows}{} x {sign}{}, {}{kept}",
        value.elements,
        value.bits,
        domain(&value.domain)
    )
}

fn domain(domain: &Domain) -> String {
    let authenticated = if domain.authenticated {
        " authenticated"
    } else {
        ""
    };
    format!("{:?}/{:?}{authenticated}", domain.sharing, domain.algebra)
}

/// Formats one step. The label is for people and stays out, since a hash need not depend on it.
fn step_line(step: &Step) -> String {
    match &step.op {
        StepOp::Input { input, out } => format!("v{} = input {input}", out.0),
        StepOp::Constant { data, out } => {
            let (ty, shape) = (data.ty, &data.shape);
            format!("v{} = constant {ty} {shape:?} {}", out.0, numbers(data))
        }
        StepOp::Move { operand, out } => format!("v{} = move {}", out.0, read(operand)),
        StepOp::RowNumber { out } => format!("v{} = row numbers", out.0),
        StepOp::Rearrange {
            how,
            rows,
            operand,
            out,
        } => {
            let how = match how {
                Rearrangement::Roll(by) => format!("roll by {by}"),
                Rearrangement::Head(len) => format!("first {len}"),
            };
            format!("v{} = {how} of rows {} of {}", out.0, rows.0, read(operand))
        }
        StepOp::Meet {
            network,
            tape,
            rows,
            length,
            over,
            captured,
            outs,
        } => {
            let all = match rows {
                Some(rows) => format!("all rows {}", rows.0),
                None => len(length),
            };
            let most = match network {
                Network::Compact { most } if *most < usize::MAX => format!(" to {most}"),
                _ => String::new(),
            };
            format!(
                "{} = {}{most} network of {all} by t{} over {} with {}",
                list(outs),
                network.name(),
                tape.0,
                reads(over),
                list(captured)
            )
        }
        StepOp::Cross {
            rows,
            length,
            tape,
            over,
            across,
            captured,
            outs,
        } => {
            let outs = outs.iter().map(crossed).collect::<Vec<_>>();
            format!(
                "{} from {} of {} times all rows {} of {} by t{} with {}",
                outs.join(", "),
                len(length),
                reads(over),
                rows.0,
                reads(across),
                tape.0,
                list(captured)
            )
        }
        StepOp::Sort {
            keys,
            rows,
            length,
            over,
            outs,
        } => {
            let all = match rows {
                Some(rows) => format!("all rows {}", rows.0),
                None => len(length),
            };
            let key = |SortKey {
                           operand,
                           descending,
                       }: &SortKey| match descending {
                true => format!("{operand} descending"),
                false => format!("{operand}"),
            };
            let keys = keys.iter().map(key).collect::<Vec<_>>().join(", ");
            format!(
                "{} = sort of {all} by [{keys}] over {}",
                list(outs),
                reads(over)
            )
        }
        StepOp::Concat { parts, out } => {
            format!("v{} = concat {}", out.0, reads(parts))
        }
        StepOp::Append { parts, rows, out } => {
            let part = |(rows, operand): &(RowId, Operand)| {
                format!("all rows {} of {}", rows.0, read(operand))
            };
            let parts = parts.iter().map(part).collect::<Vec<_>>();
            format!("v{} = rows {} from {}", out.0, rows.0, parts.join(" and "))
        }
        StepOp::Tape {
            tape,
            lanes,
            operands,
            outs,
        } => {
            let (outs, operands) = (produced(outs), reads(operands));
            format!("{outs} = t{} on {} of {operands}", tape.0, dims(lanes))
        }
        StepOp::Linear {
            terms,
            lanes,
            carried,
            out,
        } => {
            let terms = terms.iter().map(term).collect::<Vec<_>>().join(" + ");
            let carried = if *carried { ", carried" } else { "" };
            format!("v{} = {terms} on {}{carried}", out.0, dims(lanes))
        }
        StepOp::Product {
            left,
            right,
            lanes,
            out,
        } => {
            let (left, right) = (read(left), read(right));
            format!("v{} = product {left}, {right} on {}", out.0, dims(lanes))
        }
        StepOp::Fold {
            operand,
            length,
            lanes,
            levels,
            bits,
            signed,
            carry,
            out,
        } => {
            let tape = |id: &TapeId| format!("t{}", id.0);
            let levels = levels.iter().map(tape).collect::<Vec<_>>().join(" ");
            let carry = carry
                .as_ref()
                .map_or(String::new(), |id| format!(", carry t{}", id.0));
            let sign = if *signed { "signed" } else { "unsigned" };
            format!(
                "v{} = fold {} of {} by [{levels}] in {bits:?} {sign} bits on {}{carry}",
                out.0,
                len(length),
                read(operand),
                dims(lanes)
            )
        }
        StepOp::Scan {
            tape,
            length,
            init,
            over,
            captured,
            carries,
            outs,
        } => format!(
            "{}; {} = scan {} by t{} from {} over {} with {}",
            list(carries),
            produced(outs),
            len(length),
            tape.0,
            list(init),
            reads(over),
            list(captured)
        ),
        StepOp::Convert { value, out } => format!("v{} = convert v{}", out.0, value.0),
        StepOp::Settle => "settle".to_string(),
        StepOp::Reveal { value, result } => format!("reveal result {result} = v{}", value.0),
        StepOp::Open { value, out } => format!("v{} = open v{}", out.0, value.0),
    }
}

fn crossed(out: &Crossed) -> String {
    let levels = out.levels.iter().map(|id| format!("t{}", id.0));
    let levels = levels.collect::<Vec<_>>().join(" ");
    let sign = if out.signed { "signed" } else { "unsigned" };
    let (value, first, inner) = (out.value.0, out.first, out.inner);
    format!(
        "v{value}[{first} x {inner}] by [{levels}] in {:?} {sign} bits, carry t{}",
        out.bits, out.carry.0
    )
}

/// Long tables are replaced by their hash, to keep the listing readable.
fn numbers(data: &Data) -> String {
    let numbers = data.numbers().map(|n| n.to_string()).collect::<Vec<_>>();
    let numbers = numbers.join(" ");
    match data.elements.len() {
        0..=16 => numbers,
        _ => blake3::hash(numbers.as_bytes()).to_hex().to_string(),
    }
}

fn term(term: &LinearTerm) -> String {
    let factor = match &term.factor {
        LinearFactor::Number(number) => (*number as i64).to_string(),
        LinearFactor::Table { data, lanes, inner } => {
            format!(
                "[{}] at {} inner {}",
                numbers(data),
                view(lanes),
                view(inner)
            )
        }
    };
    format!("{factor} x {}", read(&term.operand))
}

fn list(values: &[PlanValue]) -> String {
    let names = values
        .iter()
        .map(|value| format!("v{}", value.0))
        .collect::<Vec<_>>();
    format!("({})", names.join(", "))
}

fn produced(outs: &[Produced]) -> String {
    let out = |out: &Produced| format!("v{}[{} x {}]", out.value.0, out.first, out.inner);
    format!("({})", outs.iter().map(out).collect::<Vec<_>>().join(", "))
}

fn reads(operands: &[Operand]) -> String {
    format!(
        "({})",
        operands.iter().map(read).collect::<Vec<_>>().join(", ")
    )
}

fn read(operand: &Operand) -> String {
    let whole = operand.inner.dims.is_empty() && operand.inner.offset == 0;
    let inner = match whole {
        true => String::new(),
        false => format!(" inner {}", view(&operand.inner)),
    };
    format!("v{} at {}{inner}", operand.value.0, view(&operand.lanes))
}

fn view(view: &SymView) -> String {
    let dim = |(length, stride): &(Len, i64)| format!("{}*{stride}", len(length));
    let dims = view.dims.iter().map(dim).collect::<Vec<_>>().join(" ");
    format!("{}+[{dims}]", view.offset)
}

fn dims(lanes: &[Len]) -> String {
    format!("[{}]", lanes.iter().map(len).collect::<Vec<_>>().join(" "))
}

fn len(length: &Len) -> String {
    match length {
        Len::Rows => "rows".into(),
        Len::Fixed(length) => length.to_string(),
    }
}
