//! Records of checks, plans and runs: the one way from a job to what the command, Python and the
//! page of a run show of it.

use crate::{program, results};
use sealane_diagnostic::Diagnostic;
use sealane_engine::{EngineError, Job, NetworkClass, PoolShare, RunReport, Runnable};
use sealane_page::check::{CheckRecord, RunnableRecord, WarningRecord};
use sealane_page::division::{BatchRecord, DivisionRecord, PartRecord};
use sealane_page::plan::{
    BasisRecord, FormRecord, GapRecord, LinkRecord, PlanRecord, PoolRecord, ProductRecord,
    ProofsRecord, ReferenceRecord, StepRecord,
};
use sealane_page::report::{LearntRecord, PlannedRecord, ProvedRecord, ReportRecord};
use sealane_page::signature::{InputRecord, ResultRecord, TableRecord};
use sealane_page::{Named, Participants, Signature};
use sealane_parties::PartyId;
use sealane_plan::cost::StepCost;
use sealane_plan::{CostReport, Field, FormCost, Function, Gap, Lookups, Memory};
use sealane_program::decimal;
use sealane_program::graph::{Input, Program, Reveal, RowSymbol};
use sealane_program::kind::{Form, Kind};
use sealane_program::types::{RowId, Shape, Type};
use sealane_protocol::{Batch, Choice, Corruption, Paper, Threshold};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Record of a check: inputs and their owners, results and their receivers, warnings.
pub fn check(program: &Program, warnings: &[Diagnostic], runnables: &[Runnable]) -> CheckRecord {
    let warning = |warning: &Diagnostic| WarningRecord {
        code: warning.code.name(),
        message: warning.message.clone(),
        line: warning.span.as_ref().map(|span| span.line),
        hint: warning.hint.clone(),
        text: warning.render_with_source(),
    };
    let runnable = |way: &Runnable| RunnableRecord {
        name: way.protocol.to_string(),
        helpers: way.helpers,
    };
    CheckRecord {
        name: program.name.clone(),
        program: hex::encode(program.hash()),
        parties: program.parties.clone(),
        signature: signature(program),
        ranges: ranges(program).collect(),
        protocols: runnables.iter().map(runnable).collect(),
        notes: program::notes(warnings),
        warnings: warnings.iter().map(warning).collect(),
        operations: program.main.values.len() as u64,
    }
}

/// The ranges of inputs, as they are declared, and of results, as they follow from those: of
/// numbers, and of floating point where magnitudes are declared.
fn ranges(program: &Program) -> impl Iterator<Item = (String, String)> + '_ {
    let inputs = program.inputs.iter();
    let inputs = inputs.map(|input| (&input.name, input.ty, input.range, &input.kind));
    let results = program.results.iter().map(|reveal| {
        let value = &program.main[reveal.value];
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

/// Tables, inputs and results of a program.
pub(crate) fn signature(program: &Program) -> Signature {
    let party = |index: &u8| program.parties[usize::from(*index)].clone();
    let table = |rows: &RowSymbol| TableRecord {
        name: rows.name.clone(),
        bound: rows.bound,
        sum: rows.sum.iter().map(|id| rows_name(program, *id)).collect(),
    };
    let input = |input: &Input| InputRecord {
        name: input.name.clone(),
        owner: party(&input.owner),
        ty: meant(input.ty, &input.kind),
        shape: shape_text(program, &input.shape),
        columns: input.columns.clone(),
    };
    let result = |reveal: &Reveal| ResultRecord {
        name: reveal.name.clone(),
        to: reveal.to.iter().map(party).collect(),
        ty: meant(reveal.ty, &reveal.kind),
        shape: shape_text(program, result_shape(program, reveal)),
        note: reveal.note.clone(),
    };
    Signature {
        tables: program.rows.iter().map(table).collect(),
        inputs: program.inputs.iter().map(input).collect(),
        results: program.results.iter().map(result).collect(),
    }
}

/// An element type with the meaning of its elements, for people: `i23 as date`.
fn meant(ty: Type, kind: &Kind) -> String {
    if kind.is_number() {
        ty.to_string()
    } else {
        format!("{ty} as {kind}")
    }
}

/// Parties of the sessions of a job: those that compute, with their roles.
fn participants(job: &Job) -> Participants {
    let (parties, roles) = (job.parties(), job.roles());
    let name = |party: PartyId| parties[party.index()].clone();
    let computes = |index: &usize| {
        let mut players = roles.iter().map(|(_, party)| party.index());
        roles.is_empty() || players.any(|player| player == *index)
    };
    let computing = (0..parties.len()).filter(computes);
    let role_names = roles.iter();
    let role_names = role_names.map(|(role, party)| (role.to_string(), name(*party)));
    Participants {
        parties: parties.to_vec(),
        helpers: job.helpers().to_vec(),
        computing: computing.map(|index| parties[index].clone()).collect(),
        roles: role_names.collect(),
    }
}

/// Estimated seconds of a run on its declared network, if that is neither of the others, on a LAN
/// and on a WAN.
pub(crate) fn estimates(
    declared: NetworkClass,
    cost: &CostReport,
) -> impl Iterator<Item = (String, f64)> + '_ {
    let presets = [NetworkClass::LAN, NetworkClass::WAN];
    let declared = Some(declared).filter(|network| !presets.contains(network));
    let networks = declared.into_iter().chain(presets);
    networks.map(|network| (network.to_string(), cost.estimate_s(network)))
}

/// Record of a plan with its cost, and notes about the numbers that a run gives.
pub fn plan(job: &Job, cost: &CostReport, notes: &[String]) -> PlanRecord {
    let parties = job.parties();
    let step = |step: &StepCost| StepRecord {
        line: step.line,
        step: step.label.clone(),
        times: step.times,
        lanes: step.lanes,
        ands: step.ands,
        payload_bytes: by_name(parties, step.sent.iter().copied()),
    };
    let paper = |paper: &Paper| ReferenceRecord {
        part: paper.part.to_string(),
        paper: paper.cited(),
        assumption: paper.assumption.to_string(),
        security: paper.security.to_string(),
    };
    let counted = |(kernel, count): (&str, u64)| (kernel.to_string(), count);
    let pool = |share: PoolShare| PoolRecord {
        transfers: share.transfers(),
        receiver: parties[share.receiver.index()].clone(),
    };
    PlanRecord {
        program: job.program().name.clone(),
        job: job.hash(),
        protocol: job.protocol().to_string(),
        network: job.network().to_string(),
        participants: participants(job),
        rows: cost.rows.iter().cloned().collect(),
        payload_bytes: by_name(parties, cost.promise.sent.iter().copied()),
        rounds: cost.promise.rounds,
        ands: cost.promise.ands,
        memory_bytes: by_name(parties, cost.memory.iter().map(Memory::bytes)),
        estimate_s: estimates(job.network(), cost).collect(),
        work: cost.work.counts().map(counted).collect(),
        signature: signature(job.program()),
        links: links(parties, &cost.promise.payload),
        references: job.references(cost).map(paper).collect(),
        steps: cost.steps.iter().map(step).collect(),
        forms: form_records(&cost.forms),
        gap: None,
        products: products(job),
        proofs: proofs(job, cost),
        division: division(job, cost),
        notes: notes.to_vec(),
        basis: BasisRecord {
            version: job.protocol().profile().version,
            assumption: cost.basis.assumption.to_string(),
            security: cost.basis.security.to_string(),
        },
        pool: PoolShare::of(job, cost).into_iter().map(pool).collect(),
    }
}

/// The distance of a plan from the best one, at these numbers of rows, for a plan that is shown: it
/// takes about as long as planning.
///
/// # Errors
/// As [`Job::gap`].
pub fn gap(job: &Job, rows: &[u64]) -> Result<Option<GapRecord>, EngineError> {
    let record = |gap: Gap| GapRecord {
        above: gap.above(),
        least_s: gap.least_s,
        tried: gap.tried,
    };
    Ok(job.gap(rows)?.map(record))
}

/// Returns whether parties of the protocol of a job prove what they compute to several others.
fn proves(job: &Job) -> bool {
    matches!(
        job.protocol().profile().corruption,
        Corruption::Malicious(Threshold::Exactly(_) | Threshold::Minority)
    )
}

/// The parts of the payload, of a protocol that states them.
fn division(job: &Job, cost: &CostReport) -> Option<DivisionRecord> {
    let (parties, division) = (job.parties(), &cost.division);
    let part = |(part, payload): &(&str, BTreeMap<(PartyId, PartyId), u64>)| {
        let mut sent = vec![0; parties.len()];
        for ((from, _), bytes) in payload {
            sent[from.index()] += bytes;
        }
        let computing = job.roles().into_iter().map(|(_, party)| party.index());
        let computing = computing.map(|index| (parties[index].clone(), sent[index]));
        PartRecord {
            part: part.to_string(),
            payload_bytes: computing.collect(),
        }
    };
    let batch = |(batch, batches): &(Batch, u64)| BatchRecord {
        batches: *batches,
        products: batch.products,
        bucket: batch.bucket,
    };
    let withstands = match job.protocol().profile().corruption {
        Corruption::Malicious(Threshold::AllButOne) => {
            "all other computing parties, deviating; they can stop the run".to_string()
        }
        other => other.to_string(),
    };
    (!division.parts.is_empty()).then(|| DivisionRecord {
        withstands,
        parts: division.parts.iter().map(part).collect(),
        batches: division.batches.iter().map(batch).collect(),
        left_over: division.left_over,
        security: cost.basis.security.to_string(),
        assumption: cost.basis.assumption.to_string(),
    })
}

fn proofs(job: &Job, cost: &CostReport) -> Option<ProofsRecord> {
    let proofs = &cost.promise.proofs;
    proves(job).then(|| ProofsRecord {
        products: proofs.products,
        settlements: proofs.settlements,
        payload_bytes: by_name(job.parties(), proofs.sent.iter().copied()),
        flights: proofs.flights,
        assumption: cost.basis.assumption.to_string(),
    })
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

fn form_records(forms: &[FormCost]) -> Vec<FormRecord> {
    let Some(first) = forms.first() else {
        return Vec::new();
    };
    let several = forms.iter().any(|form| form.choice != first.choice);
    forms
        .iter()
        .map(|form| form_record(form, several, first.choice))
        .collect()
}

fn form_record(form: &FormCost, several: bool, first: Choice) -> FormRecord {
    let lookups = match form.lookups {
        Lookups::Gates => "as gates",
        Lookups::Tower => "S-boxes as a tower",
        Lookups::ShortTower => "S-boxes as a tower of two levels",
        Lookups::Tables => "as tables",
        Lookups::Wide => "S-boxes by shared operands",
    };
    let name = match form.choice {
        _ if !several => lookups.to_string(),
        Choice::Gates(0) => "bits alone".to_string(),
        Choice::LEAST if first == Choice::Gates(0) => "integers modulo 2^61 - 1".to_string(),
        Choice::Least {
            rows: u64::MAX,
            together: 1,
        } => "for many rows".to_string(),
        Choice::Least {
            rows: u64::MAX,
            together,
        } => {
            format!("for many rows, {together} steps a round")
        }
        Choice::Least { rows, .. } => format!("for {rows} rows"),
        Choice::Only(0) => "shares alone".to_string(),
        Choice::Only(_) => "labels alone".to_string(),
        Choice::Gates(_) => "labels alone, sums and products as gates".to_string(),
        Choice::Sums(_) => "labels alone, sums beside labels as gates".to_string(),
        Choice::Improved => "improved".to_string(),
    };
    let name = match form.lookups {
        Lookups::Wide | Lookups::Tower if several => format!("{name}, {lookups}"),
        _ => name,
    };
    FormRecord {
        form: name,
        payload_bytes: form.payload_bytes,
        rounds: form.rounds,
        estimate_s: form.seconds,
        chosen: form.chosen,
    }
}

/// Record of a run: results that this side learns, and the traffic.
pub fn report<'a>(job: &'a Job, report: &'a RunReport) -> ReportRecord<'a> {
    let (program, promise) = (job.program(), &report.promise);
    let done = |party: &String| participants(job).done(party, &signature(program));
    let links = links(&report.parties, &promise.payload);
    let pairs = promise.payload.keys();
    let sent = pairs.map(|(from, to)| report.sent[from.index()][to.index()]);
    ReportRecord {
        program: &program.name,
        job: &report.job,
        party: report.party.as_deref(),
        protocol: report.protocol,
        tier: report.tier.name(),
        rows: report.rows.iter().cloned().collect(),
        payload_bytes: report.payload_bytes().into_iter().collect(),
        rounds: report.rounds,
        ands: promise.ands,
        proved: proves(job).then_some(ProvedRecord {
            products: promise.proofs.products,
            settlements: promise.proofs.settlements,
        }),
        planned: PlannedRecord {
            payload_bytes: by_name(&report.parties, promise.sent.iter().copied()),
            rounds: promise.rounds,
        },
        as_planned: report.as_planned(),
        notes: &report.notes,
        seconds: report.seconds,
        cpu_seconds: report.cpu_seconds,
        results: learnt(program, report).collect(),
        files: None,
        did: report.party.as_ref().map(done),
        links: (links, sent.collect()),
    }
}

/// The results that this side learns, without masks, whose empty cells the others show.
fn learnt<'a>(
    program: &'a Program,
    report: &'a RunReport,
) -> impl Iterator<Item = (String, LearntRecord<'a>)> {
    let results = report.results.iter().enumerate();
    results.filter_map(|(index, result)| {
        let mask = results::is_mask(program.results.get(index)?);
        let shown = results::shown(program, report, index).filter(|_| !mask)?;
        let record = LearntRecord {
            to: &result.to,
            ty: meant(shown.data.ty, shown.kind),
            shape: shown.kind.cells(&shown.data.shape),
            values: shown,
        };
        Some((result.name.clone(), record))
    })
}

/// The shape of a result.
pub fn result_shape<'a>(program: &'a Program, reveal: &Reveal) -> &'a Shape {
    &program.main[reveal.value].shape
}

/// `[patients, 30]`; nothing for a single element.
fn shape_text(program: &Program, shape: &Shape) -> String {
    let rows = shape.rows.map(|id| rows_name(program, id));
    let fixed = shape.fixed.iter().map(u64::to_string);
    let lengths = rows.into_iter().chain(fixed).collect::<Vec<_>>();
    match &lengths[..] {
        [] => String::new(),
        lengths => format!("[{}]", lengths.join(", ")),
    }
}

fn rows_name(program: &Program, id: RowId) -> String {
    program.rows[usize::from(id.0)].name.clone()
}

/// Planned payload bytes from party to party.
fn links(parties: &[String], payload: &BTreeMap<(PartyId, PartyId), u64>) -> Vec<LinkRecord> {
    let link = |((from, to), bytes): (&(PartyId, PartyId), &u64)| LinkRecord {
        from: parties[from.index()].clone(),
        to: parties[to.index()].clone(),
        bytes: *bytes,
    };
    payload.iter().map(link).collect()
}

fn by_name(parties: &[String], numbers: impl Iterator<Item = u64>) -> Named<u64> {
    parties.iter().cloned().zip(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_engine::ProtocolName;
    use sealane_program::text;

    /// One gives two inputs, another learns the result, and the third does neither.
    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\nparty idle\n\
        input x : a u8 in 0..255\ninput y : a u8 in 0..255\n\
        main {\n  %0 = param 0 : u8 in 0..255 known a\n  %1 = param 1 : u8 in 0..255 known a\n  \
        %2 = xor %0, %1 : u8 in 0..255 known a\n}\nreveal r = %2 : u8 to b\n";

    fn job(program: &str, protocol: ProtocolName, helpers: &[&str]) -> Job {
        let program = text::parse(program, "p").unwrap_or_else(|error| panic!("{error}"));
        let helpers = helpers.iter().map(|name| name.to_string()).collect();
        Job::new(program, protocol, NetworkClass::LAN, helpers).unwrap()
    }

    #[test]
    fn without_roles_all_compute() {
        let job = job(PROGRAM, ProtocolName::Clear, &["ada"]);
        let (participants, signature) = (participants(&job), signature(job.program()));
        let names = ["a", "b", "idle", "ada"];
        let done = names.map(|name| participants.done(name, &signature));
        let reported = ["gave x, y and computed", "computed", "computed", "computed"];
        assert_eq!(done, reported);
        assert_eq!(participants.computing, names);
        assert_eq!(participants.players(), names);
        assert!(participants.bystanders(&signature).is_empty() && participants.roles.is_empty());
    }

    #[test]
    fn roles_have_names() {
        let job = job(&PROGRAM.replace("party idle\n", ""), ProtocolName::Yao, &[]);
        let (participants, signature) = (participants(&job), signature(job.program()));
        let roles = participants.roles.iter().map(|(role, _)| role.as_str());
        assert_eq!(roles.collect::<Vec<_>>(), ["garbler", "evaluator"]);
        for (name, player) in ["a", "b"].into_iter().zip(participants.players()) {
            let role = participants.role(name).expect("both play a role");
            assert_eq!(player, format!("{name} as {role}"));
            let done = participants.done(name, &signature);
            assert!(done.ends_with(&format!("computed as {role}")));
        }
    }
}
