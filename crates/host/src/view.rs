//! Plans and reports as cards, and the JSON behind `--json`.
//!
//! Plan and report use the same keys for the same things: `payload_bytes` (sent, by party) and
//! `rounds`.

use crate::participants::{self, Participant, participants};
use crate::program;
use crate::results;
use sealane_diagnostic::{Diagnostic, one_line};
use sealane_engine::{Job, NetworkClass, PoolShare, RunReport, RunResult, Way};
use sealane_page::Card;
use sealane_page::card::Column;
use sealane_page::plan::{
    InputRecord, LinkRecord, LookupRecord, PaperRecord, PlanRecord, ProductRecord, ResultRecord,
    StepRecord,
};
use sealane_page::units::{bytes, counted, grouped, seconds, speed};
use sealane_plan::cost::{Promise, StepCost};
use sealane_plan::{CostReport, Field, FormCost, Function, Lookups};
use sealane_program::graph::{Input, Program, Reveal};
use sealane_program::kind::{Form, Kind};
use sealane_program::types::{RowId, Shape, Type};
use sealane_program::{decimal, float};
use sealane_protocol::Paper;
use sealane_tables::Shown;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Elements of a result that a table shows.
const SHOWN: usize = 6;

/// Result of a check: inputs and their owners, results and their receivers, warnings.
pub fn check_card(program: &Program, warnings: &[Diagnostic], ways: &[Way]) -> Card {
    let mut card = Card::new(format!("{} is sound", program.name));
    header(&mut card, program);
    card.lines(
        "ranges",
        ranges(program).map(|(name, range)| format!("{name}: {range}")),
    );
    let ways = ways.iter().map(|way| match way.helpers {
        0 => way.protocol.to_string(),
        helpers => format!(
            "{} with {}",
            way.protocol,
            counted(helpers as u64, "helper")
        ),
    });
    card.line("runs under", ways.collect::<Vec<_>>().join(", "));
    card.line("operations", grouped(program.main.values.len() as u64));
    card.line("program", hex::encode(program.hash()));
    let warnings = warnings
        .iter()
        .map(|warning| format!("\n{}", warning.render_with_source()));
    card.lines(
        "",
        warnings.flat_map(|text| text.lines().map(String::from).collect::<Vec<_>>()),
    );
    card
}

/// [`check_card`] as JSON.
pub fn check_json(program: &Program, warnings: &[Diagnostic], ways: &[Way]) -> Value {
    let notes = program::notes(warnings);
    let warnings = warnings.iter().map(|warning| {
        json!({
            "code": warning.code.name(),
            "message": warning.message,
            "line": warning.span.as_ref().map(|span| span.line),
            "hint": warning.hint,
        })
    });
    json!({
        "name": program.name,
        "program": hex::encode(program.hash()),
        "parties": program.parties,
        "inputs": inputs(program),
        "results": results(program),
        "ranges": ranges(program).collect::<BTreeMap<_, _>>(),
        "protocols": ways
            .iter()
            .map(|way| json!({ "name": way.protocol.to_string(), "helpers": way.helpers }))
            .collect::<Vec<_>>(),
        "notes": notes,
        "warnings": warnings.collect::<Vec<_>>(),
    })
}

/// The ranges of inputs, as they are declared, and of results, as they follow from those: of
/// numbers, and of floating point where magnitudes are declared.
fn ranges(program: &Program) -> impl Iterator<Item = (String, String)> + '_ {
    let inputs = program
        .inputs
        .iter()
        .map(|input| (&input.name, input.ty, input.range, &input.kind));
    let results = program.results.iter().map(|reveal| {
        let value = &program.main.values[reveal.value.0 as usize];
        (&reveal.name, value.ty, value.range, &reveal.kind)
    });
    inputs.chain(results).filter_map(|(name, ty, range, kind)| {
        let end = |number| decimal::value_text(number, ty);
        let text = match ty {
            Type::Bool => return None,
            _ if kind.form != Form::Number => return None,
            Type::Float(_) => {
                let magnitudes = ty.magnitudes(range)?;
                let (least, most) = (end(magnitudes.lo), end(magnitudes.hi));
                format!("0, or {least} to {most} in magnitude")
            }
            _ => format!("{} to {}", end(range.lo), end(range.hi)),
        };
        Some((name.clone(), text))
    })
}

/// The JSON of a plan with notes about the numbers that a run gives.
pub fn noted(mut value: Value, notes: &[String]) -> Value {
    value["notes"] = json!(notes);
    value
}

fn inputs(program: &Program) -> Vec<InputRecord> {
    let input = |input: &Input| InputRecord {
        name: input.name.clone(),
        owner: program.parties[usize::from(input.owner)].clone(),
        ty: meant(input.ty, &input.kind),
        shape: shape_text(program, &input.shape),
        columns: input.columns.clone(),
    };
    program.inputs.iter().map(input).collect()
}

fn results(program: &Program) -> Vec<ResultRecord> {
    let party = |index: &u8| program.parties[usize::from(*index)].clone();
    let result = |reveal: &Reveal| ResultRecord {
        name: reveal.name.clone(),
        to: reveal.to.iter().map(party).collect(),
        ty: meant(reveal.ty, &reveal.kind),
        shape: shape_text(program, result_shape(program, reveal)),
        note: reveal.note.clone(),
    };
    program.results.iter().map(result).collect()
}

/// An element type with the meaning of its elements, for people: `i23 as date`.
fn meant(ty: Type, kind: &Kind) -> String {
    match kind.is_number() {
        true => ty.to_string(),
        false => format!("{ty} as {kind}"),
    }
}

/// Plan of a run, with its cost.
pub fn plan_card(job: &Job, cost: &CostReport) -> Card {
    let program = job.program();
    let title = format!(
        "plan of {} · {} · {}",
        program.name,
        job.protocol(),
        class(job.network())
    );
    let mut card = Card::new(title);
    header(&mut card, program);
    let participants = participants(job);
    let players = participants
        .iter()
        .filter_map(Participant::player)
        .collect::<Vec<_>>();
    card.line("computes", players.join(", "));
    card.lines(
        "others",
        participants.iter().filter_map(Participant::bystander),
    );
    card.line("steps", cost.steps.len().to_string());
    rows_of(&mut card, cost);
    promise(&mut card, job.parties(), &cost.promise, None);
    let time = |class| seconds(cost.estimate_s(class));
    let (lan, wan) = (time(NetworkClass::Lan), time(NetworkClass::Wan));
    card.line("time", format!("about {lan} on a LAN, {wan} on a WAN"));
    let memory = job.parties().iter().zip(&cost.memory);
    let memory = memory.map(|(party, memory)| format!("{} at {party}", bytes(memory.bytes())));
    card.line(
        "memory",
        format!("at most {}", memory.collect::<Vec<_>>().join(", ")),
    );
    forms_of(&mut card, cost);
    let product = |product: &ProductRecord| {
        format!(
            "in GF(2^{}) as a whole: {} of each party in one round; as gates, {} ANDs",
            product.bits,
            counted(product.bits, "bit"),
            product.ands
        )
    };
    card.lines("products", products(job).iter().map(product));
    if let Some(share) = PoolShare::of(job, cost) {
        let receiver = &job.parties()[share.receiver.index()];
        let transfers = grouped(share.transfers());
        card.line(
            "pool",
            format!("{transfers} transfers for inputs of {receiver}"),
        );
    }
    card.line("job", job.hash());
    card
}

/// States the row counts of a cost.
fn rows_of(card: &mut Card, cost: &CostReport) {
    let at = cost.rows.iter();
    let at = at.map(|(name, count)| format!("{name} = {}", grouped(*count)));
    card.lines("for", at);
}

/// Every step of a plan, one a line.
pub fn steps_card(cost: &CostReport) -> Card {
    let mut card = Card::new("");
    let columns = [
        Column::number("line", 5),
        Column::text(" step"),
        Column::number("times", 10),
        Column::number("lanes", 14),
        Column::number("AND gates", 16),
        Column::number("payload bytes", 16),
    ];
    let row = |step: &StepCost| {
        vec![
            step.line.map_or(String::new(), |line| line.to_string()),
            format!(" {}", step.label),
            grouped(step.times),
            grouped(step.lanes),
            grouped(step.ands),
            grouped(step.sent.iter().sum::<u64>()),
        ]
    };
    card.table(None, columns, cost.steps.iter().map(row));
    card
}

/// Components on which a run of this cost rests, one per line: paper, assumption, security level.
pub fn papers_card(job: &Job, cost: &CostReport) -> Card {
    let profile = job.protocol().profile();
    let mut card = Card::new(format!(
        "{} {} · {}",
        profile.name, profile.version, cost.basis.security
    ));
    rows_of(&mut card, cost);
    card.line("assumes", &*cost.basis.assumption);
    let columns = ["part", "paper", "assumes", "security"].map(Column::text);
    let row = |paper: &Paper| {
        let cells = [
            paper.part,
            &paper.cited(),
            paper.assumption,
            &paper.security.to_string(),
        ];
        cells.map(|cell| format!("{cell} ")).to_vec()
    };
    card.table(None, columns, job.papers(cost).map(row));
    card
}

/// Bytes of memory that a run takes at each party at most.
pub fn memory_bytes(cost: &CostReport) -> Vec<u64> {
    let memory = cost.memory.iter();
    memory.map(sealane_plan::Memory::bytes).collect()
}

/// Plan and steps in their JSON form.
pub fn plan_record(job: &Job, cost: &CostReport) -> PlanRecord {
    let parties = job.parties();
    let steps = cost.steps.iter().map(|step| StepRecord {
        line: step.line,
        step: step.label.clone(),
        times: step.times,
        lanes: step.lanes,
        ands: step.ands,
        payload_bytes: by_name(parties, &step.sent),
    });
    let links = cost.promise.payload.iter();
    let links = links.map(|((from, to), bytes)| LinkRecord {
        from: parties[from.index()].clone(),
        to: parties[to.index()].clone(),
        bytes: *bytes,
    });
    let papers = job.papers(cost).map(|paper| PaperRecord {
        part: paper.part.to_string(),
        paper: paper.cited(),
        assumption: paper.assumption.to_string(),
        security: paper.security.to_string(),
    });
    let classes = [NetworkClass::Lan, NetworkClass::Wan];
    let estimate = |network| (class(network).to_string(), cost.estimate_s(network));
    PlanRecord {
        program: job.program().name.clone(),
        job: job.hash(),
        protocol: job.protocol().to_string(),
        network: class(job.network()).to_string(),
        parties: parties.to_vec(),
        helpers: job.helpers().to_vec(),
        computing: participants::computing(job),
        roles: participants::roles(job),
        rows: cost.rows.iter().cloned().collect(),
        payload_bytes: by_name(parties, &cost.promise.sent),
        rounds: cost.promise.rounds,
        ands: cost.promise.ands,
        memory_bytes: by_name(parties, &memory_bytes(cost)),
        estimate_s: classes.map(estimate).into(),
        inputs: inputs(job.program()),
        results: results(job.program()),
        links: links.collect(),
        papers: papers.collect(),
        steps: steps.collect(),
        lookups: cost.forms.iter().map(lookup_record).collect(),
        products: products(job),
    }
}

/// The fields in which the tapes of a plan multiply as a whole. They take no other form: of the
/// gates of a product, which are one level as well, more bits cross.
fn products(job: &Job) -> Vec<ProductRecord> {
    let functions = job.plan().tapes.iter().flat_map(|tape| &tape.functions);
    let fields = functions.filter_map(|function| match function {
        Function::Field(field) => Some((field.polynomial(), field)),
        _ => None,
    });
    let fields = fields.collect::<BTreeMap<_, _>>();
    let record = |(polynomial, field): (u16, &Arc<Field>)| ProductRecord {
        polynomial: format!("{polynomial:#x}"),
        bits: field.bits() as u64,
        ands: field.ands() as u64,
    };
    fields.into_iter().map(record).collect()
}

fn lookup_record(form: &FormCost) -> LookupRecord {
    LookupRecord {
        form: form_name(form.lookups).to_string(),
        payload_bytes: form.payload_bytes,
        rounds: form.rounds,
        estimate_s: form.seconds,
        chosen: form.chosen,
    }
}

/// A form of lookups, in words.
fn form_name(lookups: Lookups) -> &'static str {
    match lookups {
        Lookups::Gates => "as gates",
        Lookups::Tower => "S-boxes as a tower",
        Lookups::ShortTower => "S-boxes as a tower of two levels",
        Lookups::Tables => "as tables",
    }
}

/// The forms of lookups in words, with the cost of the whole run, the chosen one marked.
fn forms_of(card: &mut Card, cost: &CostReport) {
    let form = |form: &FormCost| {
        let chosen = if form.chosen { ", chosen" } else { "" };
        format!(
            "{}: {} bytes, {} rounds, about {}{chosen}",
            form_name(form.lookups),
            grouped(form.payload_bytes),
            grouped(form.rounds),
            seconds(form.seconds)
        )
    };
    card.lines("lookups", cost.forms.iter().map(form));
}

/// [`plan_record`] as a JSON value.
pub fn plan_json(job: &Job, cost: &CostReport) -> Value {
    json!(plan_record(job, cost))
}

/// Report of a run: results that this side learns, and the traffic.
pub fn report_card(job: &Job, report: &RunReport) -> Card {
    let side = report
        .party
        .as_ref()
        .map_or("simulated".into(), |party| format!("as {party}"));
    let mut card = Card::new(format!(
        "run of {} · {} · {side}",
        job.program().name,
        report.protocol
    ));
    let rows = report
        .rows
        .iter()
        .map(|(name, count)| format!("{name} = {}", grouped(*count)));
    card.lines("rows", rows);
    let participants = participants(job);
    let own = participants
        .iter()
        .find(|part| Some(part.name) == report.party.as_deref());
    card.lines("did", own.map(Participant::done));
    let learnt = learnt(job.program(), report);
    let learnt = learnt.map(|(_, shown)| format!("{}: {}", shown.name, preview(&shown)));
    let learnt = learnt.collect::<Vec<_>>();
    let nothing = learnt
        .is_empty()
        .then(|| "nothing but the numbers of rows".to_string());
    card.lines("learnt", learnt.into_iter().chain(nothing));
    card.lines("note", report.notes.iter().cloned());
    promise(&mut card, job.parties(), &report.promise, Some(report));
    let speed = speed(report.promise.ands as f64 / report.seconds.max(1e-9));
    let time = seconds(report.seconds);
    let tier = report.tier;
    card.line(
        "time",
        format!("{time} · {speed} AND gates a second, {tier}"),
    );
    card.line("job", &report.job);
    card
}

/// [`report_card`] as JSON.
pub fn report_json(job: &Job, report: &RunReport) -> Value {
    let results = learnt(job.program(), report).map(|(result, shown)| {
        let value = json!({
            "to": result.to,
            "type": meant(shown.data.ty, shown.kind),
            "shape": shown.kind.cells(&shown.data.shape),
            "values": (0..shown.cells()).map(|cell| json_cell(&shown, cell)).collect::<Vec<_>>(),
        });
        (result.name.clone(), value)
    });
    let sent = report
        .payload_bytes()
        .into_iter()
        .map(|(name, bytes)| (name, json!(bytes)));
    json!({
        "program": job.program().name,
        "job": report.job,
        "party": report.party,
        "protocol": report.protocol,
        "tier": report.tier.name(),
        "rows": report.rows.iter().cloned().collect::<BTreeMap<_, _>>(),
        "payload_bytes": sent.collect::<Map<_, _>>(),
        "rounds": report.rounds,
        "ands": report.promise.ands,
        "planned": {
            "payload_bytes": by_name(&report.parties, &report.promise.sent),
            "rounds": report.promise.rounds,
        },
        "as_planned": report.as_planned(),
        "notes": report.notes,
        "seconds": report.seconds,
        "results": results.collect::<Map<_, _>>(),
    })
}

/// The results that this side learns, without masks, whose empty cells the others show.
fn learnt<'a>(
    program: &'a Program,
    report: &'a RunReport,
) -> impl Iterator<Item = (&'a RunResult, Shown<'a>)> {
    let results = report.results.iter().enumerate();
    results.filter_map(|(index, result)| {
        let mask = results::is_mask(program.results.get(index)?);
        let shown = results::shown(program, report, index).filter(|_| !mask)?;
        Some((result, shown))
    })
}

/// Parties, inputs and results: what a signature says.
fn header(card: &mut Card, program: &Program) {
    let party = |index: u8| &program.parties[usize::from(index)];
    let rows = program.rows.iter().map(|rows| {
        let part = |id: &RowId| program.rows[usize::from(id.0)].name.as_str();
        let parts = rows.sum.iter().map(part).collect::<Vec<_>>();
        match parts.is_empty() {
            true => format!("{} ≤ {}", rows.name, grouped(rows.bound)),
            false => format!("{} = {}", rows.name, parts.join(" + ")),
        }
    });
    card.lines("rows", rows);
    card.lines(
        "gives",
        program.inputs.iter().map(|input| {
            let shape = shape_text(program, &input.shape);
            let ty = meant(input.ty, &input.kind);
            format!("{}: {} {ty}{shape}", party(input.owner), input.name)
        }),
    );
    card.lines(
        "learns",
        program.results.iter().flat_map(|reveal| {
            let to = reveal
                .to
                .iter()
                .map(|index| party(*index).as_str())
                .collect::<Vec<_>>();
            let shape = shape_text(program, result_shape(program, reveal));
            let ty = meant(reveal.ty, &reveal.kind);
            let learnt = format!("{}: {} {ty}{shape}", to.join(", "), reveal.name);
            let notes = reveal.note.split("; ").filter(|note| !note.is_empty());
            let notes = notes.map(|note| format!("      {note}"));
            // A note is text that came with the program: nothing proves it.
            let claim = (!reveal.note.is_empty()).then(|| "    the author says:".to_string());
            [learnt].into_iter().chain(claim).chain(notes)
        }),
    );
}

/// AND gates, payload bytes and rounds; beside the measured ones once there are any.
fn promise(card: &mut Card, parties: &[String], promise: &Promise, report: Option<&RunReport>) {
    card.line("AND gates", grouped(promise.ands));
    let name = |index: usize| &parties[index];
    let width = parties
        .iter()
        .map(|party| party.chars().count())
        .max()
        .unwrap_or(0);
    let beside = |planned: u64, measured: Option<u64>| match measured {
        None => String::new(),
        Some(measured) if measured == planned => "  as planned".to_string(),
        Some(measured) => format!("  planned, but {} measured", grouped(measured)),
    };
    let rows = promise.payload.iter().map(|((from, to), bytes)| {
        let measured = report.map(|report| report.sent[from.index()][to.index()]);
        let (from, to) = (name(from.index()), name(to.index()));
        let note = beside(*bytes, measured).replacen(' ', "", 1);
        vec![from.clone(), "→".into(), to.clone(), grouped(*bytes), note]
    });
    let party = Column {
        width,
        ..Column::text("")
    };
    let [arrow, note] = [Column::text(""); 2];
    let columns = [party, arrow, party, Column::number("", 16), note];
    card.table(Some("payload bytes"), columns, rows);
    let measured = report.map(|report| report.rounds);
    card.line(
        "rounds",
        format!(
            "{}{}",
            grouped(promise.rounds),
            beside(promise.rounds, measured)
        ),
    );
}

/// Tells whether the card of a report leaves out elements of results.
pub fn leaves_out(report: &RunReport) -> bool {
    let learnt = report
        .results
        .iter()
        .filter_map(|result| result.data.as_ref());
    learnt
        .map(|data| data.elements.len())
        .any(|count| count > SHOWN)
}

/// The first cells of a result.
fn preview(shown: &Shown<'_>) -> String {
    let cell = |cell: usize| match (shown.text(cell), shown.data.ty) {
        _ if shown.is_missing(cell) => "missing".to_string(),
        (Some(text), _) => one_line(&text),
        (None, Type::Bool) => (shown.number(cell) != 0).to_string(),
        (None, ty) => decimal::value_text(shown.number(cell), ty),
    };
    let count = shown.cells();
    let first = (0..count.min(SHOWN))
        .map(cell)
        .collect::<Vec<_>>()
        .join(", ");
    match count {
        _ if shown.kind.cells(&shown.data.shape).is_empty() => first,
        count if count <= SHOWN => format!("[{first}]"),
        count => format!("[{first}, …] {} elements", grouped(count as u64)),
    }
}

/// A cell as JSON has it.
fn json_cell(shown: &Shown<'_>, cell: usize) -> Value {
    match shown.text(cell) {
        _ if shown.is_missing(cell) => Value::Null,
        Some(text) => json!(text),
        None => element(shown.data.ty, shown.number(cell)),
    }
}

/// A number as JSON has it.
fn element(ty: Type, number: i128) -> Value {
    match ty {
        Type::Bool => json!(number != 0),
        Type::Int { signed: true, .. } => json!(number as i64),
        Type::Int { signed: false, .. } => json!(number as u64),
        // Readers of JSON have floats; where a type has values that are none, the decimal is text.
        Type::Fixed { fraction, .. } if decimal::fits_f64(ty) => {
            json!(decimal::to_f64(number, fraction).0)
        }
        Type::Fixed { fraction, .. } => json!(decimal::text(number, fraction)),
        // JSON has no infinities and no NaN.
        Type::Float(format) => match float::to_f64(number, format) {
            finite if finite.is_finite() => json!(finite),
            _ => json!(float::text(number, format)),
        },
    }
}

/// The shape of a result.
pub fn result_shape<'a>(program: &'a Program, reveal: &Reveal) -> &'a Shape {
    &program.main.values[reveal.value.0 as usize].shape
}

/// `[patients, 30]`; nothing for a single element.
fn shape_text(program: &Program, shape: &Shape) -> String {
    let rows = shape
        .rows
        .map(|id| program.rows[usize::from(id.0)].name.clone());
    let lengths = rows
        .into_iter()
        .chain(shape.fixed.iter().map(u64::to_string));
    let lengths = lengths.collect::<Vec<_>>().join(", ");
    if lengths.is_empty() {
        lengths
    } else {
        format!("[{lengths}]")
    }
}

/// The name of a network class, as `--network` takes it.
pub fn class(network: NetworkClass) -> &'static str {
    match network {
        NetworkClass::Lan => "lan",
        NetworkClass::Wan => "wan",
    }
}

fn by_name(parties: &[String], numbers: &[u64]) -> BTreeMap<String, u64> {
    parties
        .iter()
        .cloned()
        .zip(numbers.iter().copied())
        .collect()
}
