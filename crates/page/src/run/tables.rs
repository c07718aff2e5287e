//! The tables of the page: links, hot steps, phases, papers.

use super::parts::{PHASES, colour};
use super::{End, RunRecord, Side};
use crate::html::Html;
use crate::units::{bytes, grouped, seconds};

/// Number of steps that are listed; the others are summed up.
const HOT: usize = 12;

/// Payload on every link, planned against measured.
pub(super) fn crossed(run: &RunRecord, page: &mut Html) {
    let (sent, planned) = (run.sent(), run.planned());
    let names = run.plan.parties();
    let pairs = (0..names.len()).flat_map(|from| (0..names.len()).map(move |to| (from, to)));
    let pairs = pairs.filter(|&(from, to)| sent[from][to] > 0 || planned[from][to] > 0);
    let pairs = pairs.collect::<Vec<_>>();
    let most = sent.iter().chain(&planned).flatten().max().copied();
    let most = most.unwrap_or(0).max(1);
    let mut sides = run.sides.iter();
    let ended = sides.any(|side| matches!(side.end, End::Done(_)));
    page.section("Payload on every link");
    let columns = ["from", "to", "", "measured", "planned", ""];
    head(page, &columns, "   rr ");
    for (from, to) in pairs {
        let (measured, planned) = (sent[from][to], planned[from][to]);
        page.open("tr", &[]).element("td", &[], &names[from]);
        page.element("td", &[], &names[to]);
        page.open("td", &[("class", &"wide")]);
        let class = format!("bar {}", colour(from));
        bar(page, &[(&class, measured as f64 / most as f64)]);
        page.close("td").styled("td", "r", bytes(measured));
        page.styled("td", "r", bytes(planned));
        let (class, note) = match measured == planned {
            true => ("good", "as planned".to_string()),
            false if ended => ("bad", format!("{} bytes", difference(measured, planned))),
            false => ("note", "not all of it".to_string()),
        };
        page.styled("td", class, note).close("tr");
    }
    page.markup("</tbody></table></div></section>");
}

/// Steps that took longest, by party: computing, and waiting.
pub(super) fn steps(run: &RunRecord, page: &mut Html) {
    let steps = (0..run.plan.steps.len()).map(|step| (step, times(run, step)));
    let mut steps = steps.collect::<Vec<_>>();
    let total = |times: &[(u64, u64)]| sum(times.iter().map(|(busy, _)| *busy));
    let both = |(busy, waited): &(u64, u64)| busy.saturating_add(*waited);
    let span = |times: &[_]| times.iter().map(both).max().unwrap_or(0);
    steps.retain(|(_, times)| span(times) > 0);
    if steps.is_empty() {
        return;
    }
    steps.sort_by_key(|(step, times)| (std::cmp::Reverse(total(times)), *step));
    let most = steps.iter().map(|(_, times)| span(times)).max();
    let most = most.unwrap_or(0).max(1) as f64;
    page.section("Hot steps");
    head(page, &["line", "step", "", "at work", "waiting"], "r  rr");
    let (shown, rest) = steps.split_at(HOT.min(steps.len()));
    for (step, times) in shown {
        let plan = &run.plan.steps[*step];
        page.open("tr", &[]);
        let line = plan.line.map_or(String::new(), |line| line.to_string());
        page.styled("td", "r", line);
        page.styled("td", "step", &plan.step);
        page.open("td", &[("class", &"wide")]);
        for (side, (busy, waited)) in run.sides.iter().zip(times) {
            let class = format!("bar {}", colour(side.party));
            let faint = format!("{class} faint");
            let [busy, waited] = [busy, waited].map(|us| *us as f64 / most);
            bar(page, &[(&class, busy), (&faint, waited)]);
        }
        page.close("td");
        let longest = |of: fn(&(u64, u64)) -> u64| times.iter().map(of).max().unwrap_or(0);
        for time in [longest(|time| time.0), longest(|time| time.1)] {
            page.styled("td", "r", seconds(time as f64 / 1e6));
        }
        page.close("tr");
    }
    page.markup("</tbody></table></div>");
    let notes = "A bar for each party: full colour at work, faint waiting for others.";
    let mut notes = notes.to_string();
    if !rest.is_empty() {
        let took = sum(rest.iter().map(|(_, times)| total(times)));
        let (count, took) = (grouped(rest.len() as u64), seconds(took as f64 / 1e6));
        notes += &format!(" {count} more steps took {took} together.");
    }
    page.styled("p", "note", notes).close("section");
}

/// Duration of each phase at each party.
pub(super) fn phases(run: &RunRecord, page: &mut Html) {
    if run.sides.is_empty() {
        return;
    }
    let took = |side: &Side, phase| {
        let spans = side.spans().filter(move |(of, ..)| *of == phase);
        let times = spans.map(|(_, from, to)| to.saturating_sub(from));
        times.reduce(u64::saturating_add)
    };
    page.section("Phases");
    let mut names = vec!["phase"];
    names.extend(run.sides.iter().map(|side| side.started.party.as_str()));
    head(page, &names, &format!(" {}", "r".repeat(run.sides.len())));
    for (phase, class, title) in PHASES {
        let times = run.sides.iter().map(|side| took(side, phase));
        let times = times.collect::<Vec<_>>();
        if times.iter().all(Option::is_none) {
            continue;
        }
        page.open("tr", &[]).open("td", &[]);
        page.styled("i", &format!("key {class}"), "");
        page.text(title).close("td");
        for time in times {
            let time = time.map_or("–".to_string(), |us| seconds(us as f64 / 1e6));
            page.styled("td", "r", time);
        }
        page.close("tr");
    }
    page.markup("</tbody></table></div></section>");
}

/// Components of the protocol, with their papers.
pub(super) fn references(run: &RunRecord, page: &mut Html) {
    if run.plan.references.is_empty() {
        return;
    }
    page.section("What it rests on");
    head(page, &["part", "paper", "assumes", "security"], "    ");
    for paper in &run.plan.references {
        page.open("tr", &[]);
        for text in paper.cells() {
            page.styled("td", "prose", text);
        }
        page.close("tr");
    }
    page.markup("</tbody></table></div></section>");
}

/// Busy and waiting times of a step at each side.
fn times(run: &RunRecord, step: usize) -> Vec<(u64, u64)> {
    let of_side = |side: &Side| {
        let time = side.steps.iter().find(|time| time.step == step);
        time.map_or((0, 0), |time| (time.busy_us, time.waited_us))
    };
    run.sides.iter().map(of_side).collect()
}

fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// Opens a table with a head; `r` in `align` marks a column of numbers.
fn head(page: &mut Html, names: &[&str], align: &str) {
    page.markup("<div class=\"scroll\"><table><thead><tr>");
    for (name, align) in names.iter().zip(align.chars()) {
        let class = if align == 'r' { "r" } else { "" };
        page.styled("th", class, name);
    }
    page.markup("</tr></thead><tbody>");
}

/// A bar of parts, each a class and its part of the width.
fn bar(page: &mut Html, parts: &[(&str, f64)]) {
    page.open("div", &[("class", &"bars")]);
    for (class, part) in parts.iter().filter(|(_, part)| *part > 0.0) {
        let width = format!("width:{:.2}%", (100.0 * part).clamp(0.15, 100.0));
        page.element("div", &[("class", class), ("style", &width)], "");
    }
    page.close("div");
}

fn difference(measured: u64, planned: u64) -> String {
    match measured.checked_sub(planned) {
        Some(more) => format!("+{}", grouped(more)),
        None => format!("−{}", grouped(planned - measured)),
    }
}
