//! Messages of the handshake, and those that only parties with the same approved job receive.

use crate::common::{PROGRAM, PROGRAM_OF_THREE, Session, job_of, named, run_each};
use sealane_engine::{
    EngineError, FailureKind, Job, NetworkClass, ProtocolName, RunReport, fuzzing,
};
use sealane_identity::{Identity, PublicKey};
use sealane_net::Mesh;
use sealane_testkit::record::recorded;

/// Runs every party; also returns the control messages that crossed.
fn heard(
    jobs: &[Job],
    session: &Session,
    pin: impl Fn(usize, &mut Mesh),
) -> (Vec<Result<RunReport, EngineError>>, Vec<Vec<u8>>) {
    let (mut meshes, logs) = recorded(jobs.len());
    let each = meshes.iter_mut().enumerate();
    each.for_each(|(me, mesh)| pin(me, mesh));
    let ends = run_each(jobs, meshes, &session.inputs);
    let said = logs.concat().iter().flat_map(|log| log.said()).collect();
    (ends, said)
}

/// Tells if a control message states row counts.
fn is_of_rows(message: &[u8]) -> bool {
    fuzzing(message)[1].is_some()
}

#[test]
fn nobody_states_row_counts_before_all_have_shown_the_same_job() {
    let session = Session::new(PROGRAM_OF_THREE, ProtocolName::Trio, &[]);
    let jobs = |classes: [NetworkClass; 3]| {
        classes.map(|class| job_of(PROGRAM_OF_THREE, ProtocolName::Trio, class))
    };
    let (lan, wan) = (NetworkClass::LAN, NetworkClass::WAN);
    let said = |classes| heard(&jobs(classes), &session, |_, _| ());
    let (ends, messages) = said([lan; 3]);
    assert_honest(&session, ends);
    assert_eq!(messages.iter().filter(|said| is_of_rows(said)).count(), 6);
    // Two of three have the same job, and still state no row counts to each other.
    for odd in 0..3 {
        let classes = [0, 1, 2].map(|party| if party == odd { wan } else { lan });
        let (ends, messages) = said(classes);
        assert!(ends.iter().all(Result::is_err));
        assert!(messages.len() >= 2);
        assert!(!messages.iter().any(|said| is_of_rows(said)), "{odd}");
    }
}

fn assert_honest(session: &Session, ends: Vec<Result<RunReport, EngineError>>) {
    for end in ends {
        session.assert_right(&end.expect("an honest run"));
    }
}

/// Returns the errors of two parties that run these programs.
fn of_programs(texts: [&str; 2]) -> Vec<EngineError> {
    let jobs = texts.map(|text| job_of(text, ProtocolName::Yao, NetworkClass::LAN));
    let session = Session::new(PROGRAM, ProtocolName::Yao, &[]);
    let ends = run_each(&jobs, Mesh::in_memory(2), &session.inputs);
    let errors = ends.into_iter();
    let errors = errors.map(|end| end.err().expect("nobody runs another program"));
    errors.collect()
}

#[test]
fn programs_that_differ_are_reported_the_first_line_that_does_and_no_text_crosses() {
    let lines = PROGRAM.lines().collect::<Vec<_>>();
    let who = "reveal who = %2 : bool to clinic";
    let changes = [
        ("name over", "name above"),
        (who, &format!("{who}, lab")),
        ("reveal largest = %5 : u8 to clinic, lab", ""),
        ("%2 = gt %0, %1", "%2 = ge %0, %1"),
    ];
    for (old, new) in changes {
        let at = lines.iter().position(|line| line.contains(old));
        let at = at.expect("a line") + 1;
        let other = PROGRAM.replace(old, new);
        for texts in [[PROGRAM, &other], [&other, PROGRAM]] {
            for (error, text) in of_programs(texts).iter().zip(texts) {
                assert_eq!(error.finding().code, "other-job", "{error}");
                let said = &error.finding().reason;
                let line = format!("that differs is line {at}; ");
                assert!(said.contains(&line), "{at}: {error}");
                let here = match text.lines().nth(at - 1).filter(|line| !line.is_empty()) {
                    Some(line) => format!("here it is `{}", line.trim()),
                    None => "here the text ends before it".to_string(),
                };
                assert!(said.contains(&here), "{said}");
            }
        }
    }
    // The wire carries neither the name nor the text of the differing line.
    let jobs = [PROGRAM, &PROGRAM.replace("name over", "name somewhere")];
    let jobs = jobs.map(|text| job_of(text, ProtocolName::Yao, NetworkClass::LAN));
    let session = Session::new(PROGRAM, ProtocolName::Yao, &[]);
    let (ends, said) = heard(&jobs, &session, |_, _| ());
    assert!(ends.iter().all(Result::is_err));
    assert_eq!(said.len(), 2 * (1 + 4 + 1));
    let holds = |said: &Vec<u8>, word: &[u8]| said.windows(word.len()).any(|part| part == word);
    let names = |said: &Vec<u8>| holds(said, b"somewhere") || holds(said, b"over");
    assert!(!said.iter().any(names));
}

/// If three parties have three programs, each hears of a difference, and none waits for another.
#[test]
fn three_with_three_programs_part() {
    let names = ["listed", "names", "others"];
    let jobs = names.map(|name| {
        let text = PROGRAM_OF_THREE.replace("name listed", &format!("name {name}"));
        job_of(&text, ProtocolName::Trio, NetworkClass::LAN)
    });
    let session = Session::new(PROGRAM_OF_THREE, ProtocolName::Trio, &[]);
    for end in run_each(&jobs, Mesh::in_memory(3), &session.inputs) {
        let error = end.err().expect("nobody runs another program");
        assert_eq!(error.kind(), FailureKind::Peer);
        assert!(error.to_string().contains("the program differs"), "{error}");
    }
}

#[test]
fn two_who_pin_different_keys_for_a_helper_notice() {
    let helpers = named(&["ada"]);
    let job = || {
        let (program, helpers) = (crate::common::parse(PROGRAM), helpers.clone());
        Job::new(program, ProtocolName::Trio, NetworkClass::LAN, helpers).expect("a job")
    };
    let jobs = [job(), job(), job()];
    let session = Session::new(PROGRAM, ProtocolName::Trio, &["ada"]);
    let keys = [(); 4].map(|()| Identity::generate().public_key());
    let ends = |pinned: [[usize; 3]; 3]| {
        let pin = |me: usize, mesh: &mut Mesh| mesh.pin(pinned[me].map(|key| keys[key]).to_vec());
        let (ends, said) = heard(&jobs, &session, pin);
        (ends, said.iter().any(|said| is_of_rows(said)))
    };
    let (fine, stated) = ends([[0, 1, 2]; 3]);
    assert_honest(&session, fine);
    assert!(stated);
    // The lab has pinned another key for ada, and meets another machine under that name.
    let (differ, stated) = ends([[0, 1, 2], [0, 1, 3], [0, 1, 2]]);
    assert!(!stated);
    let errors = differ.into_iter();
    let errors = errors.map(|end| end.err().expect("nobody runs"));
    let errors = errors.collect::<Vec<_>>();
    assert!(errors.iter().all(|error| error.kind() == FailureKind::Peer));
    let finders = errors.iter();
    let finders = finders.filter(|error| error.finding().code == "keys-differ");
    let texts = finders.map(ToString::to_string).collect::<Vec<_>>();
    assert!(!texts.is_empty(), "{errors:?}");
    for text in &texts {
        assert!(text.contains("another key of ada"), "{text}");
        let shows = |key: &PublicKey| text.contains(&key.fingerprint());
        assert!(shows(&keys[2]) && shows(&keys[3]), "{text}");
    }
    // A party that hears of it through another one hears the same.
    let mut texts = errors.iter().map(ToString::to_string);
    assert!(texts.all(|text| text.contains("another key of ada")));
}
