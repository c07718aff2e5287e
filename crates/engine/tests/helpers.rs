//! Helpers are parties of a session beside those of the program: they bring no input, learn
//! nothing, and are part of the job that everyone approves.

use crate::common::{PROGRAM, Session, named, parse, run_each};
use sealane_engine::data::{self, Sources};
use sealane_engine::{
    EngineError, FailureKind, Job, Journal, NetworkClass, ProtocolName, RunReport, run, simulate,
};
use sealane_net::Mesh;
use sealane_program::types::Data;

fn planned(protocol: ProtocolName, helpers: &[&str]) -> Result<Job, EngineError> {
    let helpers = named(helpers);
    Job::in_tiles(parse(PROGRAM), protocol, NetworkClass::LAN, helpers, 2)
}

fn clear(helpers: &[&str]) -> Job {
    planned(ProtocolName::Clear, helpers).expect("a sound job")
}

/// Inputs of each of `parties`, of which helpers have none.
fn inputs(parties: usize) -> Vec<Vec<Option<Data>>> {
    let mut all = Session::new(PROGRAM, ProtocolName::Clear, &[]).inputs;
    all.resize(parties, vec![None, None]);
    all
}

fn session(jobs: &[Job]) -> Vec<Result<RunReport, EngineError>> {
    run_each(jobs, Mesh::in_memory(jobs.len()), &inputs(jobs.len()))
}

fn refused(helpers: &[&str]) -> String {
    let error = planned(ProtocolName::Clear, helpers)
        .err()
        .expect("a refusal");
    assert_eq!(error.kind(), FailureKind::Misuse);
    error.finding().message.clone()
}

#[test]
fn helpers_take_part_and_learn_nothing() {
    let jobs = [(); 4].map(|()| clear(&["ada", "cyd"]));
    let names = named(&["clinic", "lab", "ada", "cyd"]);
    let right = Session::new(PROGRAM, ProtocolName::Clear, &["ada", "cyd"]);
    assert_eq!(jobs[0].parties(), names);
    assert_eq!(jobs[0].helpers(), &names[2..]);
    for (party, report) in session(&jobs).into_iter().enumerate() {
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.party.as_ref(), Some(&names[party]));
        assert_eq!(report.parties, names);
        assert!(report.as_planned());
        right.assert_right(&report);
    }
}

#[test]
fn a_simulation_has_the_helpers_too() {
    let inputs = inputs(2).into_iter().flatten().flatten().collect();
    let report = simulate(&clear(&["ada"]), inputs).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.as_planned());
    let sent = report.payload_bytes();
    assert_eq!(sent.len(), 3);
    // In the clear, owners send their inputs to all others, and helpers have none.
    assert_eq!(sent[2], ("ada".to_string(), 0));
    assert!(report.results.iter().all(|result| result.data.is_some()));
}

#[test]
fn another_order_of_helpers_is_another_job_and_both_are_shown() {
    let [turned, right] = [["cyd", "ada"], ["ada", "cyd"]].map(|helpers| clear(&helpers));
    assert_ne!(turned.hash(), right.hash());
    let jobs = [right, clear(&["ada", "cyd"]), turned];
    let jobs = jobs.into_iter().chain([clear(&["ada", "cyd"])]);
    let reports = session(&jobs.collect::<Vec<_>>());
    let texts = reports.iter().map(|report| {
        let error = report.as_ref().err().expect("nobody runs another job");
        assert_eq!(error.kind(), FailureKind::Peer, "{error}");
        error.to_string()
    });
    let texts = texts.collect::<Vec<_>>();
    let part = "the list of parties and helpers";
    assert!(texts.iter().all(|text| text.contains(part)), "{texts:?}");
    // The party that looks first sees both lists, and sends the difference to the others.
    let [right, turned] = ["[clinic, lab, ada, cyd]", "[clinic, lab, cyd, ada]"];
    let reported = |there: &str, here: &str| {
        let differs = format!("approved another job: {part} differs ({there} there, {here} here)");
        texts.iter().any(|text| text.contains(&differs))
    };
    let both = reported(right, turned) || reported(turned, right);
    assert!(both, "{texts:?}");
}

#[test]
fn a_helper_has_a_name_of_its_own_of_the_usual_form() {
    let text = refused(&["ada", "lab"]);
    assert!(text.starts_with("`lab` cannot be a helper"), "{text}");
    let text = refused(&["ada", "cyd", "ada"]);
    assert!(text.starts_with("two helpers are called `ada`"), "{text}");
    for wrong in ["", " cyd", "1st", "ada-2", "ädä"] {
        let text = refused(&["ada", wrong]);
        let words = format!("helper 2 of 2: a party cannot be called `{wrong}`");
        assert!(text.starts_with(&words), "{text}");
    }
    let many: Vec<_> = (0..63).map(|number| format!("h{number}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let error = planned(ProtocolName::Clear, &many);
    let text = error.err().expect("a refusal").to_string();
    assert!(text.contains("at most 64"), "{text}");
}

#[test]
fn a_protocol_of_two_that_both_compute_wants_no_helper() {
    let error = planned(ProtocolName::Yao, &["ada"])
        .err()
        .expect("a refusal");
    assert_eq!(error.kind(), FailureKind::Misuse);
    let text = error.to_string();
    for words in ["error[parties]", "(clinic, lab)", "name no helper"] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_helper_brings_no_data() {
    let job = clear(&["ada"]);
    let nothing = data::load(job.program(), 2, &Sources::default()).expect("nothing to read");
    assert_eq!(nothing.data.len(), 2);
    assert!(nothing.data.iter().all(Option::is_none) && nothing.notes.is_empty());
    let rows = data::own_rows(job.program(), &nothing.data);
    assert_eq!(rows.expect("no rows of its own"), [None]);
    for argument in ["ada.csv", "x=ada.csv"] {
        let sources = Sources::from_arguments(&named(&[argument]));
        let loaded = data::load(job.program(), 2, &sources);
        let finding = loaded.err().expect("a file too many");
        assert_eq!(finding.code, "data-unknown-input");
        assert!(finding.reason.contains("ada.csv"), "{finding}");
        assert!(finding.hint.contains("leave out"), "{finding}");
    }
    let of_clinic = &inputs(2)[0];
    let error = data::check_own(job.program(), 2, of_clinic).expect_err("another's data");
    let another = error.to_string().contains("belongs to another party");
    assert!(another, "{error}");
}

#[test]
fn a_mesh_without_the_helpers_is_refused() {
    let [mut mesh, _other] = <[Mesh; 2]>::try_from(Mesh::in_memory(2)).unwrap_or_else(|_| panic!());
    let own = &inputs(2)[0];
    let error = run(&clear(&["ada"]), own, &mut mesh, &mut Journal::silent());
    let error = error.err().expect("a party is missing");
    assert_eq!(error.kind(), FailureKind::Misuse);
    sealane_testkit::page::shows("party-count", &error.to_string());
}
