//! Picture of a run: parties as lanes over time. In a lane the height of the filled area is the
//! fraction of the time in which the party computed rather than waited; above it runs a strip of
//! phases. Ribbons between lanes are transfers, from the time of writing to the time of reading, in
//! the colour of the sender.

use super::crossed::{Crossing, crossings};
use super::parts::{PHASES, colour};
use super::{RunRecord, Side};
use crate::html::{Attributes, Html};
use crate::units::{bytes, grouped, seconds};
use sealane_engine::events::StepRound;
use std::fmt::Display;

/// Sizes, in units of which the picture is a thousand wide.
const LEFT: f64 = 132.0;
const RIGHT: f64 = 992.0;
const TOP: f64 = 8.0;
const STRIP: f64 = 5.0;
const BAND: f64 = 34.0;
const PITCH: f64 = 104.0;
const AXIS: f64 = 30.0;

/// Thinnest ribbon and narrowest mark.
const THIN: f64 = 1.4;

/// Most marks in a lane; more step rounds are joined.
const MARKS: usize = 240;

/// A scale from microseconds since 1970 to the picture.
struct Scale {
    from_us: u64,
    to_us: u64,
}

impl Scale {
    fn x(&self, at_us: u64) -> f64 {
        let span = self.to_us.saturating_sub(self.from_us).max(1) as f64;
        let at = at_us.clamp(self.from_us, self.to_us) - self.from_us;
        LEFT + at as f64 / span * (RIGHT - LEFT)
    }
}

/// Vertical position of a party's band.
fn y(party: usize) -> f64 {
    TOP + party as f64 * PITCH
}

/// Draws the picture; none if no party has recorded events.
pub(super) fn picture(run: &RunRecord) -> Option<Html> {
    let scale = scale(run)?;
    let parties = run.plan.parties().len();
    let bottom = y(parties.saturating_sub(1)) + STRIP + BAND;
    let mut svg = Html::new();
    let area = format!("0 0 1000 {}", bottom + AXIS);
    let title = "Parties as lanes over time, and what crossed between them";
    svg.open(
        "svg",
        &[("viewBox", &area), ("role", &"img"), ("aria-label", &title)],
    );
    axis(&mut svg, &scale, bottom);
    for crossing in crossings(run) {
        ribbon(&mut svg, run, &scale, &crossing);
    }
    for (party, name) in run.plan.parties().iter().enumerate() {
        let side = run.sides.iter().find(|side| side.party == party);
        lane(&mut svg, &scale, party, name, side);
    }
    svg.close("svg");
    Some(svg)
}

/// Returns the scale from the moment when the first party had its job to the last event of any. The
/// wait for each other before that may be long, and says little.
fn scale(run: &RunRecord) -> Option<Scale> {
    let begins = |side: &Side| {
        let agreed = side.phases.iter().find(|(phase, _)| *phase > PHASES[1].0);
        let agreed = agreed.map_or(0, |(_, at_us)| *at_us);
        side.started.unix_us.saturating_add(agreed)
    };
    let from_us = run.sides.iter().map(begins).min()?;
    let ends = |side: &Side| side.started.unix_us.saturating_add(side.last_us);
    let to_us = run.sides.iter().map(ends).max()?;
    let to_us = to_us.max(from_us.saturating_add(1));
    Some(Scale { from_us, to_us })
}

fn lane(svg: &mut Html, scale: &Scale, party: usize, name: &str, side: Option<&Side>) {
    let (top, middle) = (y(party), y(party) + STRIP + BAND / 2.0);
    let short = name.chars().count() > 15;
    let shown = name.chars().take(14).chain(short.then_some('…'));
    let shown = shown.take(if short { 15 } else { usize::MAX });
    let shown = shown.collect::<String>();
    svg.open("g", &[("class", &colour(party))]);
    let [name_at, note_at] = [middle - 1.0, middle + 15.0];
    svg.open("text", &[("x", &0), ("y", &name_at), ("class", &"name")]);
    svg.element("title", &[], name).text(shown).close("text");
    let note_at: Attributes<'_> = &[("x", &0), ("y", &note_at), ("class", &"note")];
    let Some(side) = side else {
        svg.element("text", note_at, "not told here");
        line(svg, [LEFT, middle, RIGHT, middle], "silent");
        svg.close("g");
        return;
    };
    let (busy, waited) = side.busy_and_waited_us();
    let share = 100.0 * busy as f64 / (busy as f64 + waited as f64).max(1.0);
    svg.element("text", note_at, format!("{share:.0} % busy"));
    let x = |at_us| scale.x(side.started.unix_us.saturating_add(at_us));
    let band = rect(LEFT, top, RIGHT - LEFT, STRIP + BAND);
    shape(svg, "band", &band, None);
    for (phase, from, to) in side.spans() {
        let (x1, x2) = (x(from), x(to));
        if x2 <= LEFT {
            continue;
        }
        let (_, class, title) = PHASES[phase as usize];
        let took = seconds(to.saturating_sub(from) as f64 / 1e6);
        let place = rect(x1, top, (x2 - x1).max(THIN), STRIP);
        shape(svg, class, &place, Some(&format!("{title}: {took}")));
    }
    for mark in marks(side) {
        let (x1, x2) = (x(mark.from), x(mark.to));
        let height = BAND * mark.busy();
        let place = rect(x1, top + STRIP + BAND - height, (x2 - x1).max(THIN), height);
        shape(svg, "busy", &place, Some(&mark.title()));
    }
    svg.close("g");
}

/// Step rounds of a party that are drawn as one mark.
struct Mark {
    from: u64,
    to: u64,
    waited: u64,
    step_rounds: u64,
}

impl Mark {
    fn busy(&self) -> f64 {
        let all = (self.to - self.from).max(1);
        1.0 - self.waited.min(all) as f64 / all as f64
    }

    fn title(&self) -> String {
        let time = |us: u64| seconds(us as f64 / 1e6);
        let what = match self.step_rounds {
            0 => "a part of a step round".to_string(),
            1 => "one step round".to_string(),
            step_rounds => format!("{} step rounds", grouped(step_rounds)),
        };
        let (all, waited) = (time(self.to - self.from), time(self.waited));
        format!("{what}, {all}, of which {waited} waiting for others")
    }
}

fn marks(side: &Side) -> Vec<Mark> {
    let together = side.step_rounds.len().div_ceil(MARKS).max(1);
    let mark = |step_rounds: &[(u64, StepRound)]| {
        let (first, last) = (step_rounds.first()?, step_rounds.last()?);
        Some(Mark {
            from: first.1.from_us,
            to: last.0.max(first.1.from_us),
            waited: sum(step_rounds, |step_round| step_round.waited_us),
            step_rounds: sum(step_rounds, |step_round| step_round.count),
        })
    };
    side.step_rounds.chunks(together).filter_map(mark).collect()
}

fn sum(step_rounds: &[(u64, StepRound)], of: fn(&StepRound) -> u64) -> u64 {
    let numbers = step_rounds.iter().map(|(_, step_round)| of(step_round));
    numbers.fold(0, u64::saturating_add)
}

/// Draws a ribbon from the lane of the sender to that of the receiver.
fn ribbon(svg: &mut Html, run: &RunRecord, scale: &Scale, crossing: &Crossing) {
    let (from, to) = (crossing.from, crossing.to);
    let down = to > from;
    let edge = |party, below| y(party) + if below { STRIP + BAND } else { 0.0 };
    let (y1, y2) = (edge(from, down), edge(to, !down));
    let ends = |(a, b): (u64, u64)| {
        let (a, b) = (scale.x(a), scale.x(b));
        (a, b.max(a + THIN))
    };
    let ((a1, b1), (a2, b2)) = (ends(crossing.leaves), ends(crossing.arrives));
    let bend = (y1 + y2) / 2.0;
    // Cubic curves on both sides make ribbons leave and arrive vertically.
    let path = format!(
        "M{a1:.1} {y1:.1}C{a1:.1} {bend:.1} {a2:.1} {bend:.1} {a2:.1} {y2:.1}\
         H{b2:.1}C{b2:.1} {bend:.1} {b1:.1} {bend:.1} {b1:.1} {y1:.1}Z"
    );
    let names = run.plan.parties();
    let left = crossing.leaves.0.saturating_sub(scale.from_us) as f64 / 1e6;
    let (size, exact) = (bytes(crossing.bytes), grouped(crossing.bytes));
    let (left, round) = (seconds(left), grouped(crossing.rounds));
    let title = format!(
        "{} → {}: {size} ({exact} bytes), written from {left} on, by round {round}",
        names[from], names[to],
    );
    let class = format!("ribbon {}", colour(from));
    svg.open("path", &[("class", &class), ("d", &path)]);
    svg.element("title", &[], title).close("path");
}

/// Draws a line at each of a few round times.
fn axis(svg: &mut Html, scale: &Scale, bottom: f64) {
    let span_s = (scale.to_us - scale.from_us) as f64 / 1e6;
    let step = [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powf((span_s / 8.0).log10().floor()));
    let step = step.into_iter().find(|step| span_s / step <= 8.0);
    let step = step.unwrap_or(10f64.powf((span_s / 8.0).log10().ceil()));
    for index in 0..=(span_s / step) as u64 {
        let at_s = index as f64 * step;
        let x = scale.x(scale.from_us.saturating_add((at_s * 1e6) as u64));
        // Labels at the ends are aligned inwards, so that none is cut.
        let anchor = match x {
            _ if index == 0 => "start",
            x if x > RIGHT - 16.0 => "end",
            _ => "middle",
        };
        line(svg, [x, 0.0, x, bottom + 8.0], "grid");
        let label = match index {
            0 => "0".to_string(),
            _ => tick(at_s, step),
        };
        let attributes: [(_, &dyn Display); 4] = [
            ("x", &x),
            ("y", &(bottom + 23.0)),
            ("class", &"tick"),
            ("text-anchor", &anchor),
        ];
        svg.element("text", &attributes, label);
    }
}

fn line(svg: &mut Html, ends: [f64; 4], class: &str) {
    let attributes = ["x1", "y1", "x2", "y2"].into_iter().zip(&ends);
    let attributes = attributes.map(|(name, end)| (name, end as &dyn Display));
    let attributes = attributes.chain([("class", &class as &dyn Display)]);
    svg.empty("line", &attributes.collect::<Vec<_>>());
}

/// Formats a time on the axis, with as many digits as the steps need.
fn tick(at_s: f64, step_s: f64) -> String {
    let (unit, factor) = match step_s {
        step if step < 1e-3 => ("µs", 1e6),
        step if step < 1.0 => ("ms", 1e3),
        step if step < 60.0 => ("s", 1.0),
        step if step < 3600.0 => ("min", 1.0 / 60.0),
        _ => ("h", 1.0 / 3600.0),
    };
    let (at, step) = (at_s * factor, step_s * factor);
    let digits = usize::from(step < 1.0 || step.fract() > 1e-9);
    format!("{at:.digits$} {unit}")
}

fn rect(x: f64, y: f64, width: f64, height: f64) -> [String; 4] {
    [x, y, width, height].map(|length| format!("{length:.1}"))
}

fn shape(svg: &mut Html, class: &str, [x, y, width, height]: &[String; 4], title: Option<&str>) {
    let attributes: [(_, &dyn Display); 5] = [
        ("class", &class),
        ("x", x),
        ("y", y),
        ("width", width),
        ("height", height),
    ];
    match title {
        None => drop(svg.empty("rect", &attributes)),
        Some(title) => {
            svg.open("rect", &attributes);
            svg.element("title", &[], title).close("rect");
        }
    }
}
