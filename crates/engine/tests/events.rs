//! Events of a run: they add up to the traffic, their number is bounded however long the run is,
//! and they hold no data.

use crate::common::{OnEvent, in_tiles, job_of, parse};
use sealane_engine::events::{Event, Phase, Record};
use sealane_engine::{
    EngineError, Job, Journal, NetworkClass, ProtocolName, RunReport, run, simulate_with,
};
use sealane_net::{Cancel, Mesh};
use sealane_parties::PartyId;
use sealane_program::types::{Data, Type};
use std::sync::Mutex;

/// Program of two inputs with recognisable values, one of them with rows: a sum over all rows and a
/// choice by each.
const MARKED: &str = "sealane program 1
name marked
party ada
party bob
rows n <= 100000
input x : ada u64[n] in 0..18446744073709551615
input y : bob u64 in 0..18446744073709551615
main {
  %0 = param 0 : u64[n] in 0..18446744073709551615 known ada
  %1 = param 1 : u64 in 0..18446744073709551615 known bob
  %2 = lt %1, %0 : bool[n] in 0..1 secret
  %3 = reduce any %2 axis 0 : bool in 0..1 secret
  %4 = xor %0, %1 : u64[n] in 0..18446744073709551615 secret
}
reveal some = %3 : bool to bob
reveal mixed = %4 : u64 to bob
";

const X: u64 = 0x5ec2_e7a1_1ce0_f00d;
const Y: u64 = 0xb0b5_0a5e_c2e7_c0de;

fn job(protocol: ProtocolName, tile: u64) -> Job {
    in_tiles(parse(MARKED), protocol, &[], tile)
}

fn inputs(rows: usize) -> Vec<Data> {
    let data = |shape, elements| Data {
        ty: Type::unsigned(64),
        shape,
        elements,
    };
    vec![
        data(vec![rows as u64], vec![X; rows]),
        data(vec![], vec![Y]),
    ]
}

/// Runs all parties and returns the events of each.
fn reported(job: &Job, inputs: Vec<Data>) -> (Result<RunReport, EngineError>, Vec<Vec<Record>>) {
    let records = job.parties().iter().map(|_| Mutex::new(Vec::new()));
    let records = records.collect::<Vec<_>>();
    let journals = records.iter().enumerate().map(|(party, records)| {
        let keep = move |record: &Record| {
            let mut records = records.lock().expect("no holder of the lock panics");
            records.push(record.clone());
        };
        Journal::new(job, PartyId::from_index(party), OnEvent(keep))
    });
    let report = simulate_with(job, inputs, journals.collect(), &Cancel::default());
    let records = records.into_iter().map(|records| records.into_inner());
    (report, records.map(|r| r.expect("no panic")).collect())
}

fn sum<'a>(all: impl Iterator<Item = &'a Vec<u64>>, parties: usize) -> Vec<u64> {
    all.fold(vec![0; parties], |mut sums, bytes| {
        let both = sums.iter_mut().zip(bytes);
        both.for_each(|(sum, bytes)| *sum += bytes);
        sums
    })
}

#[test]
fn a_simulation_that_is_cancelled_in_any_phase_ends_without_a_result() {
    use Phase::{Agree, Compute, Part, Prepare, Reveal};
    let all = |protocol| [Agree, Prepare, Compute, Reveal, Part].map(|phase| (protocol, phase));
    for (protocol, phase) in [ProtocolName::Yao, ProtocolName::Clear]
        .into_iter()
        .flat_map(all)
    {
        let job = job(protocol, 64);
        let (cancel, ended) = (Cancel::default(), Mutex::new(0));
        let journals = (0..2).map(|party| {
            let look = |record: &Record| match &record.event {
                Event::Phase { phase: begun } if *begun == phase => cancel.cancel(),
                Event::Ended(_) => *ended.lock().expect("no panic") += 1,
                _ => {}
            };
            Journal::new(&job, PartyId::from_index(party), OnEvent(look))
        });
        let report = simulate_with(&job, inputs(300), journals.collect(), &cancel);
        let error = report.err().expect("it is cancelled");
        assert_eq!(error.finding().code, "interrupted", "{protocol} {phase:?}");
        assert_eq!(*ended.lock().expect("no panic"), 0, "{protocol} {phase:?}");
    }
}

#[test]
fn step_rounds_and_steps_add_up_to_what_crossed() {
    for protocol in [ProtocolName::Yao, ProtocolName::Clear] {
        let job = job(protocol, 64);
        let (report, reported) = reported(&job, inputs(300));
        let report = report.expect("an honest run");
        let steps = job.cost(&[300]).expect("a cost").steps.len();
        for (party, records) in reported.iter().enumerate() {
            let name = &job.parties()[party];
            let times = records.windows(2).all(|two| two[0].at_us <= two[1].at_us);
            assert!(times, "{name}: time goes back");
            let Some(Event::Started(started)) = records.first().map(|r| &r.event) else {
                panic!("{name} begins with {:?}", records.first());
            };
            assert_eq!((&started.party, &started.job), (name, &job.hash()));
            let phases = records.iter().filter_map(|record| match record.event {
                Event::Phase { phase } => Some(phase),
                _ => None,
            });
            let phases = phases.collect::<Vec<_>>();
            assert!(phases.is_sorted(), "{phases:?}");
            assert!(phases.contains(&Phase::Prepare) && phases.contains(&Phase::Reveal));
            let step_rounds = records.iter().filter_map(|record| match &record.event {
                Event::StepRound(step_round) => Some(step_round),
                _ => None,
            });
            let sent = sum(step_rounds.clone().map(|step_round| &step_round.sent), 2);
            assert_eq!(sent, report.sent[party], "{name}");
            let received = sum(step_rounds.map(|step_round| &step_round.received), 2);
            assert_eq!(received[1 - party], report.sent[1 - party][party], "{name}");
            let [.., Event::Steps { steps: times }, Event::Ended(ended)] =
                &records.iter().map(|r| r.event.clone()).collect::<Vec<_>>()[..]
            else {
                panic!("{name} ends with {:?}", records.last());
            };
            assert_eq!(sum(times.iter().map(|step| &step.sent), 2), sent, "{name}");
            assert!(times.iter().all(|step| step.step < steps));
            assert!(ended.as_planned, "{name}");
            let learnt: &[&str] = if party == 1 { &["some", "mixed"] } else { &[] };
            assert_eq!(ended.learnt, learnt, "{name}");
            let blocks = |event: fn(&Event) -> bool| {
                records.iter().filter(|record| event(&record.event)).count()
            };
            let opened = blocks(|event| matches!(event, Event::Opened(_)));
            assert_eq!(opened, blocks(|event| matches!(event, Event::Closed(_))));
            assert!(opened >= 5, "five tiles at least");
        }
    }
}

#[test]
fn of_many_tiles_few_events_is_reported() {
    let count = |rows: usize| {
        let (report, reported) = reported(&job(ProtocolName::Clear, 1), inputs(rows));
        assert!(report.expect("an honest run").as_planned());
        reported[0].len()
    };
    let (few, many) = (count(1000), count(8000));
    // Eight times the tiles: as many step rounds and blocks again for each of three doublings. The
    // machine decides how often a party waits, and so begins a step round, which the fourth share
    // allows for.
    assert!(many - few <= 4 * (128 + 2 * 32), "{few} and {many}");
}

#[test]
fn nothing_told_holds_a_value() {
    for protocol in [ProtocolName::Yao, ProtocolName::Clear] {
        let (report, reported) = reported(&job(protocol, 64), inputs(200));
        report.expect("an honest run");
        let text = serde_json::to_string(&reported).expect("JSON");
        for value in [X, Y, X ^ Y] {
            assert!(!text.contains(&value.to_string()), "{protocol}: {value}");
            let hex = format!("{value:x}");
            assert!(!text.contains(&hex), "{protocol}: {hex}");
        }
    }
}

#[test]
fn a_failure_is_reported_without_the_value_that_was_refused() {
    let program = MARKED
        .replace("bob u64 in 0..18446744073709551615", "bob u64 in 0..7")
        .replace(
            "%1 = param 1 : u64 in 0..18446744073709551615",
            "%1 = param 1 : u64 in 0..7",
        );
    let job = job_of(&program, ProtocolName::Yao, NetworkClass::LAN);
    let mut meshes = Mesh::in_memory(2);
    let mut records = Vec::new();
    let keep = |record: &Record| records.push(record.clone());
    let mut journal = Journal::new(&job, PartyId(1), OnEvent(keep));
    let own = [None, inputs(1).pop()];
    let error = run(&job, &own, &mut meshes[1], &mut journal).err();
    let error = error.expect("7 is the bound");
    drop(journal);
    assert!(error.to_string().contains(&Y.to_string()), "{error}");
    let Some(Event::Failed(failed)) = records.last().map(|record| &record.event) else {
        panic!("{:?}", records.last());
    };
    assert_eq!(failed.kind, "data");
    assert_eq!(failed.code, error.finding().code.name());
    assert!(failed.text.contains("refused"), "{}", failed.text);
    let text = serde_json::to_string(&records).expect("JSON");
    assert!(!text.contains(&Y.to_string()), "{text}");
}
