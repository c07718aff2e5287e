//! Properties of every run, whatever happened to it.
//!
//! It ends, within bounds of its own clock and of steps, without a panic. A party that has results
//! has the right ones and only its own. If nothing went wrong, all have them, at the planned cost.
//! If something did, every party has the right results or an error that names the lost party, and
//! never a bystander. But if a party lives and does nothing, or a frame is missing, the parties
//! that wait for it keep others waiting, so any of these may be named. If links carry the messages
//! of failure, all parties that fail end soon.

use std::time::Duration;

use sealane_engine::{EngineError, FailureKind, RunReport};
use sealane_net::NetError;
use sealane_testkit::adversary::Harm;
use sealane_testkit::reference;
use sealane_testkit::simulator::Happening;

use super::scenario::{Fault, ROOM, Scenario};
use crate::common::simulated::Simulated;

/// Time for threads that are stopped now and then, and for bytes ahead of others on a link.
const MOMENT: Duration = Duration::from_secs(5);

/// Frames that each party first sends to each other one: after these, all agree on the job.
const HANDSHAKE: usize = 3;

/// Judges a run; returns the number of parties with results, or a description of the failure.
pub fn judge(scenario: &Scenario, simulated: &Simulated) -> Result<usize, String> {
    if let Some(stuck) = &simulated.model.stuck {
        return Err(format!("it hangs: {stuck}"));
    }
    if let Some(panic) = simulated.model.panics.first() {
        return Err(format!("a panic: {panic}"));
    }
    let mut done = 0;
    for (party, ending) in simulated.endings.iter().enumerate() {
        match ending.as_ref().map(|ending| &ending.result) {
            None if matches!(scenario.fault, Fault::Death(dead) if dead == party) => {}
            None => return Err(format!("party {party} has no ending")),
            Some(Ok(report)) => {
                done += 1;
                judge_report(scenario, report).map_err(|why| format!("party {party}: {why}"))?;
            }
            Some(Err(error)) => {
                let judged = judge_error(scenario, party, error);
                judged.map_err(|why| format!("party {party} {why}: {error}"))?;
            }
        }
    }
    if done > 0 && matches!(scenario.fault, Fault::BadData(_) | Fault::OtherJob) {
        return Err(format!("{done} have results of what not all agreed to"));
    }
    see_that_alterations_count(scenario, simulated)?;
    see_that_all_end_together(scenario, simulated)?;
    let left = simulated.endings.len() - 1;
    if had_sent_all(scenario, simulated) && done < left {
        return Err(format!(
            "{done} of {left} have results, who had all that they needed"
        ));
    }
    Ok(done)
}

/// Checks that no party continues long after it could know that the run has failed.
fn see_that_all_end_together(scenario: &Scenario, simulated: &Simulated) -> Result<(), String> {
    let failed = simulated.endings.iter().enumerate();
    let failed = failed.filter_map(|(party, ending)| {
        let ending = ending.as_ref()?;
        ending.result.is_err().then_some((party, ending.after))
    });
    let failed = failed.collect::<Vec<_>>();
    let first = failed.iter().map(|(_, after)| *after).min();
    let mut happened = simulated.model.happened.iter();
    let known = match scenario.fault {
        Fault::Death(_) => happened.find(|(_, _, what)| *what == Happening::Dies),
        Fault::Reset(_) => happened.find(|(_, _, what)| *what == Happening::Reset),
        Fault::Nothing | Fault::Idleness | Fault::BadData(_) | Fault::OtherJob => None,
        // A party is not notified, or has nothing to report.
        Fault::DeadLink(_) | Fault::Absence(_) | Fault::Alteration => return Ok(()),
    };
    // An end of a reset connection finds that, and reports it, once it has computed.
    let found = match scenario.fault {
        Fault::Reset(ends) => ends.map(|end| scenario.computing(end)).into_iter().max(),
        _ => None,
    };
    let known = known.map(|(at, ..)| *at + found.unwrap_or_default());
    let known = known.or(first).unwrap_or_default();
    for (party, after) in failed {
        let late = after.saturating_sub(known);
        if late > MOMENT + scenario.time_to_hear(party) {
            return Err(format!("party {party} goes on for {late:?}"));
        }
    }
    Ok(())
}

/// Tells if one of two parties died after both had sent everything, and nothing of it was lost:
/// there was room in the buffers, and frames that arrive are kept. (Of three, a party that still
/// waits for another ends with the death.)
fn had_sent_all(scenario: &Scenario, simulated: &Simulated) -> bool {
    let Fault::Death(dead) = scenario.fault else {
        return false;
    };
    let wires = &scenario.simulation.wires;
    let mut roomy = wires[dead].iter();
    let roomy = roomy.all(|wire| wire.window_bytes >= ROOM && wire.keeps);
    let mut happened = simulated.model.happened.iter();
    let froze = |what: &Happening| matches!(what, Happening::Freezes(_));
    let went_on = !happened.any(|(_, party, what)| *party == dead && froze(what));
    wires.len() == 2 && roomy && went_on && simulated.frames == scenario.frames
}

/// Checks that the results of a party are those of the reference, and that the plan was kept.
fn judge_report(scenario: &Scenario, report: &RunReport) -> Result<(), String> {
    let program = scenario.simulation.jobs[0].program();
    let wanted = reference::evaluate(program, &scenario.inputs).map_err(|e| e.to_string())?;
    let me = report.party.as_deref().unwrap_or_default();
    if report.results.len() != program.results.len() {
        return Err("results are missing".into());
    }
    for result in &report.results {
        let learns = result.to.iter().any(|to| to == me);
        let right = match &result.data {
            None => !learns,
            Some(data) => learns && *data == wanted[&result.name],
        };
        if !right {
            return Err(format!("`{}` is wrong", result.name));
        }
    }
    if report.as_planned() {
        Ok(())
    } else {
        Err("the plan was not kept".into())
    }
}

/// Checks that the error of a party has a plausible cause.
fn judge_error(scenario: &Scenario, party: usize, error: &EngineError) -> Result<(), String> {
    let names = scenario.simulation.jobs[0].parties();
    let blamed = blamed(error, names);
    let text = error.to_string();
    let (kinds, plausible) = match &scenario.fault {
        Fault::Nothing => (vec![], false),
        Fault::Death(dead) => (vec![FailureKind::Network], blamed == Some(*dead)),
        Fault::Reset(ends) | Fault::DeadLink(ends) => {
            let plausible = blamed.is_some_and(|blamed| ends.contains(&blamed));
            (vec![FailureKind::Network], plausible)
        }
        // It sees the others as they see it.
        Fault::Absence(absent) => {
            let plausible = party == *absent || blamed == Some(*absent);
            (vec![FailureKind::Network], plausible)
        }
        Fault::Idleness => (vec![FailureKind::Network], blamed.is_some()),
        Fault::BadData(owner) if party == *owner => (vec![FailureKind::Data], blamed.is_none()),
        Fault::BadData(owner) => {
            let reported = format!("{} (party {owner}) gave up: an error on", names[*owner]);
            (vec![FailureKind::Peer], text.contains(&reported))
        }
        Fault::OtherJob => {
            let plausible = text.contains("approved another job: the network class differs");
            (vec![FailureKind::Peer], plausible)
        }
        Fault::Alteration => judge_alteration(scenario, names, blamed, &text),
    };
    if !kinds.contains(&error.kind()) {
        return Err(format!("has an error of kind {:?}", error.kind()));
    }
    if plausible {
        Ok(())
    } else {
        Err("names another cause".into())
    }
}

/// Kinds of errors that an altered frame may lead to. The error has to be about one of the two
/// parties between which the frame crossed: either may blame the other.
fn judge_alteration(
    scenario: &Scenario,
    names: &[String],
    blamed: Option<usize>,
    text: &str,
) -> (Vec<FailureKind>, bool) {
    let Some(attack) = scenario.simulation.attack else {
        return (vec![], false);
    };
    let kinds = match attack.harm {
        // Row counts are stated in the second frame, and agreed on in the third.
        _ if attack.at < HANDSHAKE && text.starts_with("error[rows-differ]") => {
            vec![FailureKind::Data]
        }
        Harm::Stall | Harm::Vanish => vec![FailureKind::Network],
        // A missing frame may be waited for in vain, or the frame in its place is refused.
        Harm::Lose | Harm::Swap | Harm::Truncate => vec![FailureKind::Network, FailureKind::Peer],
        _ => vec![FailureKind::Peer],
    };
    let ends = [attack.from, attack.to];
    // A party that waits for a missing frame keeps others waiting.
    let is_overdue =
        kinds.contains(&FailureKind::Network) && text.contains("the connection with it is up");
    let is_of_ends = is_overdue
        || blamed.map_or_else(
            || {
                let sentence = text.lines().next().unwrap_or_default();
                let first_hand = sentence.rsplit("gave up: ").next().unwrap_or(sentence);
                let nameless = ["a check of what crossed failed", "what it received was"];
                let names = ends.map(|end| names[end].as_str());
                names
                    .iter()
                    .chain(&nameless)
                    .any(|words| first_hand.contains(words))
            },
            |blamed| ends.contains(&blamed),
        );
    (kinds, is_of_ends)
}

/// Checks that no party took results in spite of an altered frame: nobody may if the agreement on
/// the job was altered, nor may its receiver, unless the frame is the very last. (Two exchanged
/// frames may be equal.)
fn see_that_alterations_count(scenario: &Scenario, simulated: &Simulated) -> Result<(), String> {
    let Some(attack) = scenario.simulation.attack else {
        return Ok(());
    };
    let is_last = attack.at + 1 == scenario.frames[attack.from][attack.to].len();
    for (party, ending) in simulated.endings.iter().enumerate() {
        let is_done = ending.as_ref().is_some_and(|ending| ending.result.is_ok());
        let may_not = match attack.harm {
            Harm::Swap => false,
            // A repeated frame takes the place of the next one.
            Harm::Repeat => party == attack.to && !is_last,
            _ if attack.at < HANDSHAKE => true,
            _ => party == attack.to && !is_last,
        };
        if is_done && may_not {
            return Err(format!("party {party} has results in spite of {attack:?}"));
        }
    }
    Ok(())
}

/// Returns the party that an error of the network blames: the one named by the first to abort.
fn blamed(error: &EngineError, names: &[String]) -> Option<usize> {
    match error.net()? {
        NetError::Aborted { reason, .. } => {
            let first_hand = reason.rsplit("gave up: ").next().unwrap_or(reason);
            let named = |party: &usize| {
                first_hand.starts_with(&format!("{} (party {party})", names[*party]))
            };
            (0..names.len()).find(named)
        }
        error => error.party().map(|party| party.index()),
    }
}
