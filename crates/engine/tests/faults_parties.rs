//! Runs without one of the parties: one that dies, stalls, has another identity or wants another
//! job. All others end soon and name that party.
//!
//! **Expected errors.** A party whose process ends is *gone*, on all of its links: each of the
//! others sees that itself or hears it from one that has. A party that lives and does nothing is
//! *silent* for those that wait for it. The party that runs out of patience first names the party
//! that it waited for, and all others end with it, however patient they are. A party that wants
//! another job is found in the handshake, by itself and by the others. If keys or addresses are
//! another party's, the party that checks the key finds it, and the refused party is notified.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::common::{
    Ending, IN_MEMORY, LONG, OVER_TLS, PROGRAM, Row, Session, ends, in_memory, over_tls, patient,
    sweep, usual_limits,
};
use sealane_engine::{EngineError, FailureKind, Job, ProtocolName};
use sealane_net::{Limits, MeshConfig};

/// Upper bound of all successive waits.
const SOON: Duration = Duration::from_secs(30);
/// Patience of a party that waits in vain.
const SHORT: Duration = Duration::from_millis(300);

type Connect = Box<dyn FnOnce() -> Result<Row, EngineError> + Send>;

/// Links in memory.
fn memory(session: &Session) -> Vec<Connect> {
    let rows = in_memory(session.parties()).into_iter();
    rows.map(|row| Box::new(|| Ok(row)) as Connect).collect()
}

/// Links over TLS.
fn tls(configs: Vec<MeshConfig>) -> Vec<Connect> {
    let connect = |config: MeshConfig| Box::new(move || over_tls(&config)) as Connect;
    configs.into_iter().map(connect).collect()
}

/// Counts the step rounds of each party.
fn step_rounds(session: &Session) -> Vec<usize> {
    let step_rounds = Mutex::new(vec![0; session.parties()]);
    let count = |party: usize, step_round: usize| {
        step_rounds.lock().expect("no holder of the lock panics")[party] = step_round + 1;
    };
    let limits = vec![patient(LONG); session.parties()];
    let endings = run(session, memory(session), &limits, &count);
    for ending in endings.into_iter().flatten() {
        session.assert_right(&ending.result.unwrap_or_else(|error| panic!("{error}")));
    }
    let step_rounds = step_rounds.into_inner();
    step_rounds.expect("no holder of the lock panics")
}

fn run(
    session: &Session,
    connect: Vec<Connect>,
    limits: &[Limits],
    step_round: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Option<Ending>> {
    let jobs = vec![&*session.job; session.parties()];
    ends(&jobs, &session.inputs, connect, limits, step_round)
}

/// Asserts that a party has failed with an error of this kind and all of these words.
#[track_caller]
fn assert_reported(ending: &Ending, kind: FailureKind, words: &[&str]) {
    let error = ending.error();
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{text}");
    let all = words.iter().all(|words| text.contains(words));
    assert!(all, "{words:?}: {text}");
    assert!(ending.after < SOON, "{:?}: {text}", ending.after);
}

fn assert_gone(session: &Session, victim: usize, endings: &[Ending]) {
    let gone = format!("{} is gone", session.name(victim));
    for ending in endings {
        assert_reported(ending, FailureKind::Network, &[&gone]);
    }
}

#[test]
fn a_party_that_dies_at_any_step_round_is_gone_for_all_others() {
    let sessions = Session::all_and_guarded();
    let cases = sessions.iter().flat_map(|session| {
        let step_rounds = step_rounds(session).into_iter().enumerate();
        step_rounds.flat_map(move |(victim, step_rounds)| {
            (0..step_rounds).map(move |at| (session, victim, at))
        })
    });
    sweep(IN_MEMORY, cases, |(session, victim, at)| {
        let endings = die(session, memory(session), patient(LONG), (victim, at));
        assert_gone(session, victim, &endings);
    });
}

#[test]
fn a_party_that_dies_over_tls_is_gone_for_all_others() {
    let sessions = [Session::of_three(), Session::of_five()];
    let cases = sessions.iter().flat_map(|session| {
        let (step_rounds, last) = (step_rounds(session), session.parties() - 1);
        let deaths = [
            (0, 0),
            (1, step_rounds[1] / 2),
            (last, step_rounds[last] - 1),
        ];
        deaths.map(|death| (session, death))
    });
    sweep(OVER_TLS, cases, |(session, (victim, at))| {
        let connect = tls(session.configs(usual_limits()));
        let endings = die(session, connect, usual_limits(), (victim, at));
        assert_gone(session, victim, &endings);
    });
}

/// Lets a party die at one of its turns, without a farewell. Returns the endings of the others.
fn die(
    session: &Session,
    connect: Vec<Connect>,
    limits: Limits,
    (victim, at): (usize, usize),
) -> Vec<Ending> {
    let limits = vec![limits; session.parties()];
    let endings = run(session, connect, &limits, &|party, step_round| {
        if (party, step_round) == (victim, at) {
            // Drops the mesh on its way out of the thread.
            resume_unwind(Box::new("the process ends"));
        }
    });
    assert!(endings[victim].is_none(), "the victim lives");
    endings.into_iter().flatten().collect()
}

#[test]
fn a_party_that_stalls_at_any_step_round_is_silent_for_who_waits_for_it() {
    let sessions = Session::all_and_guarded();
    let cases = sessions.iter().flat_map(|session| {
        let step_rounds = step_rounds(session).into_iter().enumerate();
        // Its first step round, one in the middle, and its last.
        step_rounds.flat_map(move |(victim, step_rounds)| {
            [0, step_rounds / 2, step_rounds - 1].map(|at| (session, victim, at))
        })
    });
    sweep(IN_MEMORY, cases, |(session, victim, at)| {
        let others = (0..session.parties()).filter(|party| *party != victim);
        let name = session.name(victim);
        let named = others.filter(|first| {
            let found = stall(session, memory(session), (victim, at), *first);
            found.starts_with(&format!("{name} sent nothing for"))
        });
        assert!(named.count() > 0, "nobody waits for {name}");
    });
}

#[test]
fn a_party_that_stalls_over_tls_is_silent_though_its_process_lives() {
    let sessions = [Session::of_three(), Session::of_five()];
    let cases = sessions.iter().map(|session| {
        let victim = session.parties() - 1;
        (session, victim, step_rounds(session)[victim] / 2)
    });
    sweep(OVER_TLS, cases, |(session, victim, at)| {
        // The first of the computing parties waits for it, at the latest through others.
        let connect = tls(session.configs(usual_limits()));
        let found = stall(session, connect, (victim, at), victim - 2);
        assert!(found.contains("sent nothing for"), "{found}");
    });
}

/// Lets a party rest at one of its turns until `first`, which has the least patience of all, has
/// aborted. Returns the error of `first`.
fn stall(
    session: &Session,
    connect: Vec<Connect>,
    (victim, at): (usize, usize),
    first: usize,
) -> String {
    let patience = |party| if party == first { SHORT } else { LONG };
    let limits = (0..session.parties()).map(|party| Limits {
        patience: patience(party),
        ..usual_limits()
    });
    let limits = limits.collect::<Vec<_>>();
    let endings = run(session, connect, &limits, &|party, step_round| {
        if (party, step_round) == (victim, at) {
            thread::sleep(4 * SHORT);
        }
    });
    let endings = endings.into_iter().flatten().collect::<Vec<_>>();
    let found = endings[first].error().finding().message.clone();
    assert!(!found.contains("gave up: "), "{found}");
    for ending in &endings {
        // The party that wakes up again finds the others gone.
        assert_reported(ending, FailureKind::Network, &[&found, "sent nothing for"]);
    }
    found
}

/// Runs a session of five in which one party has another job.
fn with_job_of(wrong: usize, job: &Job, connect: Vec<Connect>) -> Vec<Ending> {
    let session = Session::of_five();
    let jobs = (0..session.parties()).map(|party| if party == wrong { job } else { &*session.job });
    let limits = vec![usual_limits(); session.parties()];
    let jobs = jobs.collect::<Vec<_>>();
    let endings = ends(&jobs, &session.inputs, connect, &limits, &|_, _| ());
    endings.into_iter().flatten().collect()
}

#[test]
fn two_helpers_exchanged_in_the_list_of_one_party_are_found_before_anything_is_sent() {
    let five = Session::of_five();
    let turned = Session::new(PROGRAM, ProtocolName::Trio, &["ada", "cyd", "bob"]);
    let [here, there] = [&five, &turned].map(|session| session.job.parties().join(", "));
    let part = "approved another job: the list of parties and helpers differs";
    sweep(IN_MEMORY, 0..five.parties(), |wrong| {
        let endings = with_job_of(wrong, &turned.job, memory(&five));
        let orders = format!("{part} ([{there}] there, [{here}] here)");
        let by_it = format!("{part} ([{here}] there, [{there}] here)");
        for (party, ending) in endings.iter().enumerate() {
            assert_reported(ending, FailureKind::Peer, &[part]);
            let text = ending.error().to_string();
            // A party that finds it itself shows both orders.
            let shown = text.contains(if party == wrong { &by_it } else { &orders });
            assert!(shown || text.contains("gave up: "), "{text}");
        }
    });
}

#[test]
fn a_helper_with_another_job_is_named_to_all() {
    let five = Session::of_five();
    let helpers = ["ada", "bob", "cyd"];
    let other_program = PROGRAM.replace("gt", "ge");
    let program = Session::new(&other_program, ProtocolName::Trio, &helpers);
    let protocol = Session::new(PROGRAM, ProtocolName::Clear, &helpers);
    let jobs = [(program, "program"), (protocol, "protocol")];
    let cases = jobs.iter();
    let cases = cases.flat_map(|job| [2, 3, 4].map(|wrong| (job, wrong)));
    sweep(OVER_TLS, cases, |((other, part), wrong)| {
        let connect = tls(five.configs(usual_limits()));
        let endings = with_job_of(wrong, &other.job, connect);
        let part = format!("approved another job: the {part} differs");
        let helper = &five.job.parties()[wrong];
        for (party, ending) in endings.iter().enumerate() {
            assert_reported(ending, FailureKind::Peer, &[&part]);
            // The helper finds that the others differ, and they find that it does.
            let text = ending.error().to_string();
            assert!(party == wrong || text.contains(helper.as_str()), "{text}");
        }
    });
}

/// Exchanges keys or addresses of two parties in a configuration.
fn exchange(config: &mut MeshConfig, keys: bool, one: usize, other: usize) {
    let two = config.parties.get_disjoint_mut([one, other]);
    let [one, other] = two.expect("two parties");
    if keys {
        std::mem::swap(&mut one.key, &mut other.key)
    } else {
        std::mem::swap(&mut one.address, &mut other.address)
    }
}

#[test]
fn two_helpers_exchanged_in_one_configuration_are_reported_from_each_other_by_their_keys() {
    let five = Session::of_five();
    // The party with the wrong configuration, the two that it exchanges, and whether it dials them:
    // an owner of data, a helper beside them, and one that dials both.
    let cases = [
        (0, [3, 4], true),
        (2, [3, 4], true),
        (4, [2, 3], true),
        // Only a party that dials needs addresses.
        (4, [2, 3], false),
    ];
    sweep(OVER_TLS, cases, |(wrong, [one, other], keys)| {
        let mut configs = five.configs(usual_limits());
        exchange(&mut configs[wrong], keys, one, other);
        let limits = vec![usual_limits(); five.parties()];
        let endings = run(&five, tls(configs), &limits, &|_, _| ());
        let endings = endings.into_iter().flatten().collect::<Vec<_>>();
        // It takes the party that it checks first for the other, and names the key's owner.
        let [first, second] = [(one, other), (other, one)].map(|(seen, key)| {
            let taken = format!("{} is taken for another: it shows the key", five.name(seen));
            let owner = format!("which is that of {} here", five.job.parties()[key]);
            [taken, owner]
        });
        let text = endings[wrong].error().to_string();
        let reports =
            |both: &[String; 2], text: &str| both.iter().all(|words| text.contains(words));
        // On a busy machine, a party may hear of itself through others first.
        let refused = format!("{} expects another key of this party", five.name(wrong));
        let reported =
            |text: &str| reports(&first, text) || reports(&second, text) || text.contains(&refused);
        assert!(reported(&text), "{text}");
        for ending in &endings {
            let error = ending.error();
            let text = error.to_string();
            // A party that comes late finds nobody there any more.
            let alone = error.kind() == FailureKind::Network && text.contains("cannot be reached");
            let refused = reported(&text) && error.kind() == FailureKind::Peer || alone;
            assert!(refused, "{text}");
            assert!(ending.after < SOON, "{text}");
        }
    });
}
