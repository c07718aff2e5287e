//! What has to be true of every run, whatever happened to it.
//!
//! It ends, within bounds of its own clock and of steps, without a panic. A party that has results
//! has the right ones and only its own. Where nothing went wrong all have, at the cost that was
//! planned. Where something did, every party has the right results or an error that names who was
//! lost, and never a bystander; but where a party lives and does nothing, or a frame is missing,
//! whoever waits for it keeps others waiting, so that any of these may be named. Where links carry
//! what is said, all who fail end soon.

use std::time::Duration;

use sealane_engine::{EngineError, Kind, RunReport};
use sealane_net::NetError;
use sealane_testkit::adversary::Harm;
use sealane_testkit::reference;
use sealane_testkit::simulator::Happening;

use super::scenario::{Fault, ROOM, Scenario};
use crate::common::simulated::Simulated;

/// What threads need that are stopped now and then, and bytes on their way ahead of others.
const MOMENT: Duration = Duration::from_secs(5);

/// Frames that each party first sends to each other one: with these, all agree on the job.
const HANDSHAKE: usize = 3;

/// Says what is wrong with a run, if anything is; else how many parties have results.
pub fn judge(scenario: &Scenario, simulated: &Simulated) -> Result<usize, String> {
    if let Some(stuck) = &simulated.world.stuck {
        return Err(format!("it hangs: {stuck}"));
    }
    if let Some(panic) = simulated.world.panics.first() {
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

/// Says who goes on for long after it could know that the run has failed.
fn see_that_all_end_together(scenario: &Scenario, simulated: &Simulated) -> Result<(), String> {
    let failed = simulated.endings.iter().enumerate();
    let failed = failed.filter_map(|(party, ending)| {
        let ending = ending.as_ref()?;
        ending.result.is_err().then_some((party, ending.after))
    });
    let failed = failed.collect::<Vec<_>>();
    let first = failed.iter().map(|(_, after)| *after).min();
    let mut happened = simulated.world.happened.iter();
    let known = match scenario.fault {
        Fault::Death(_) => happened.find(|(_, _, what)| *what == Happening::Dies),
        Fault::Reset(_) => happened.find(|(_, _, what)| *what == Happening::Reset),
        Fault::Nothing | Fault::Idleness | Fault::BadData(_) | Fault::OtherJob => None,
        // Somebody is not told, or has nothing to tell.
        Fault::DeadLink(_) | Fault::Absence(_) | Fault::Alteration => return Ok(()),
    };
    // An end of a connection that is reset finds that, and tells it, when it has computed.
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

/// Whether one of two parties died when both had sent all there was to send, and nothing of it was
/// lost: it had room on the way, and what arrives is kept. (Of three, one that still waits for another
/// ends with the death.)
fn had_sent_all(scenario: &Scenario, simulated: &Simulated) -> bool {
    let Fault::Death(dead) = scenario.fault else {
        return false;
    };
    let wires = &scenario.simulation.wires;
    let roomy = wires[dead]
        .iter()
        .all(|wire| wire.window_bytes >= ROOM && wire.keeps);
    let mut happened = simulated.world.happened.iter();
    let froze = |what: &Happening| matches!(what, Happening::Freezes(_));
    let went_on = !happened.any(|(_, party, what)| *party == dead && froze(what));
    wires.len() == 2 && roomy && went_on && simulated.frames == scenario.frames
}

/// The results of a party are those of the reference, and the plan was kept.
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
    match report.as_planned() {
        true => Ok(()),
        false => Err("the plan was not kept".into()),
    }
}

/// The error of a party has a plausible cause.
fn judge_error(scenario: &Scenario, party: usize, error: &EngineError) -> Result<(), String> {
    let names = scenario.simulation.jobs[0].parties();
    let blamed = blamed(error, names);
    let text = error.to_string();
    let (kinds, plausible) = match &scenario.fault {
        Fault::Nothing => (vec![], false),
        Fault::Death(dead) => (vec![Kind::Network], blamed == Some(*dead)),
        Fault::Reset(ends) | Fault::DeadLink(ends) => {
            let plausible = blamed.is_some_and(|blamed| ends.contains(&blamed));
            (vec![Kind::Network], plausible)
        }
        // It sees the others as they see it.
        Fault::Absence(absent) => {
            let plausible = party == *absent || blamed == Some(*absent);
            (vec![Kind::Network], plausible)
        }
        Fault::Idleness => (vec![Kind::Network], blamed.is_some()),
        Fault::BadData(owner) if party == *owner => (vec![Kind::Data], blamed.is_none()),
        Fault::BadData(owner) => {
            let told = format!("{} (party {owner}) gave up: an error on", names[*owner]);
            (vec![Kind::Peer], text.contains(&told))
        }
        Fault::OtherJob => {
            let plausible = text.contains("approved another job: the network class differs");
            (vec![Kind::Peer], plausible)
        }
        Fault::Alteration => judge_alteration(scenario, names, blamed, &text),
    };
    if !kinds.contains(&error.kind()) {
        return Err(format!("has an error of kind {:?}", error.kind()));
    }
    match plausible {
        true => Ok(()),
        false => Err("names another cause".into()),
    }
}

/// The kinds of errors that an altered frame may lead to, and whether this error is about one of the
/// two parties between whom it crossed: either may find fault with the other.
fn judge_alteration(
    scenario: &Scenario,
    names: &[String],
    blamed: Option<usize>,
    text: &str,
) -> (Vec<Kind>, bool) {
    let Some(attack) = scenario.simulation.attack else {
        return (vec![], false);
    };
    let kinds = match attack.harm {
        // Row counts are stated in the second frame, and agreed on in the third.
        _ if attack.at < HANDSHAKE && text.starts_with("error[rows-differ]") => vec![Kind::Data],
        Harm::Stall | Harm::Vanish => vec![Kind::Network],
        // What is missing may be waited for in vain, or what comes in its place is refused.
        Harm::Lose | Harm::Swap | Harm::Truncate => vec![Kind::Network, Kind::Peer],
        _ => vec![Kind::Peer],
    };
    let ends = [attack.from, attack.to];
    // Who waits for what is missing keeps others waiting.
    let is_overdue =
        kinds.contains(&Kind::Network) && text.contains("the connection with it is up");
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

/// Says who took results in spite of an altered frame: nobody may where the agreement on the job was
/// altered, nor may its receiver, unless the frame is the very last. (Two frames that change places
/// may be the same.)
fn see_that_alterations_count(scenario: &Scenario, simulated: &Simulated) -> Result<(), String> {
    let Some(attack) = scenario.simulation.attack else {
        return Ok(());
    };
    let is_last = attack.at + 1 == scenario.frames[attack.from][attack.to].len();
    for (party, ending) in simulated.endings.iter().enumerate() {
        let is_done = ending.as_ref().is_some_and(|ending| ending.result.is_ok());
        let may_not = match attack.harm {
            Harm::Swap => false,
            // What comes a second time stands where the next frame does.
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

/// The party that an error of the network names in the end: whom the first to give up named.
fn blamed(error: &EngineError, names: &[String]) -> Option<usize> {
    match error.net()? {
        NetError::Aborted(_, _, reason) => {
            let first_hand = reason.rsplit("gave up: ").next().unwrap_or(reason);
            let named = |party: &usize| {
                first_hand.starts_with(&format!("{} (party {party})", names[*party]))
            };
            (0..names.len()).find(named)
        }
        error => error.party().map(|party| party.index()),
    }
}
