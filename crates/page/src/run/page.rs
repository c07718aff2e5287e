//! The page of a run.

use super::parts::{PHASES, colour};
use super::{End, RunRecord, RunState, Side, lanes, tables};
use crate::html::Html;
use crate::signature::shaped;
use crate::units::{bytes, date, grouped, seconds, speed};
use sealane_engine::events::Failed;

const STYLE: &str = include_str!("page.css");

/// Content policy: no request, no script; all content is in the file.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'none'";

/// Directions to the browser: the attribute that names each, its name and its content.
const METAS: [(&str, &str, &str); 3] = [
    ("http-equiv", "Content-Security-Policy", POLICY),
    ("name", "viewport", "width=device-width, initial-scale=1"),
    ("name", "color-scheme", "light dark"),
];

impl RunRecord {
    /// Makes the page, as the bytes of one file.
    pub fn page(&self) -> String {
        let title = format!("{} · {}", self.plan.program, self.plan.protocol);
        let mut page = Html::new();
        page.markup("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        for (kind, name, content) in METAS {
            page.open("meta", &[(kind, &name), ("content", &content)]);
        }
        page.element("title", &[], title).markup("<style>");
        page.markup(STYLE).markup("</style></head><body><main>");
        self.header(&mut page);
        self.failures(&mut page);
        self.figures(&mut page);
        self.parties(&mut page);
        self.notes(&mut page);
        self.lanes(&mut page);
        tables::crossed(self, &mut page);
        tables::steps(self, &mut page);
        tables::phases(self, &mut page);
        tables::references(self, &mut page);
        self.footer(&mut page);
        page.markup("</main></body></html>\n");
        page.to_string()
    }

    fn header(&self, page: &mut Html) {
        let (class, state) = match self.state() {
            RunState::Done => ("badge good", "done"),
            RunState::Failed => ("badge bad", "failed"),
            RunState::Unfinished => ("badge", "no end was told"),
        };
        page.open("header", &[]);
        page.open("p", &[("class", &"eyebrow")]);
        page.styled("span", "brand", "Sealane");
        page.text(" run");
        if let Some(started) = self.started_us() {
            page.text(" · ").element("time", &[], date(started));
        }
        page.close("p").open("h1", &[]).text(&self.plan.program);
        page.close("h1").open("p", &[("class", &"badges")]);
        page.styled("span", class, state);
        page.styled("span", "badge", &self.plan.protocol);
        page.styled("span", "badge", format!("{} plan", self.plan.network));
        for (name, count) in self.rows() {
            page.styled("span", "badge", format!("{} {name}", grouped(*count)));
        }
        page.close("p").close("header");
    }

    /// Row counts that the parties agreed on, else those of the plan.
    fn rows(&self) -> &[(String, u64)] {
        match self.sides.iter().find(|side| !side.rows.is_empty()) {
            Some(side) => &side.rows,
            None => &self.plan.rows,
        }
    }

    /// Adds the failures: event, party, and who has to act.
    fn failures(&self, page: &mut Html) {
        let failed = self.sides.iter().filter_map(|side| match &side.end {
            End::Failed(failed) => Some((side, failed)),
            _ => None,
        });
        for (side, failed) in failed {
            self.failure(page, side, failed);
        }
        if self.state() == RunState::Unfinished {
            page.open("section", &[("class", &"alert")]);
            page.element("h2", &[], "This run has not told its end");
            let what = "It goes on, or its process was ended from outside. What it told until then \
                        is below.";
            page.element("p", &[], what).close("section");
        }
    }

    fn failure(&self, page: &mut Html, side: &Side, failed: &Failed) {
        let name = &side.started.party;
        page.open("section", &[("class", &"alert bad")]);
        page.element("h2", &[], format!("{name}: {}", failed.text));
        if !failed.reason.is_empty() {
            page.element("p", &[], &failed.reason);
        }
        page.open("dl", &[]);
        let mut fact = |term: &str, text: String| {
            page.element("dt", &[], term).element("dd", &[], text);
        };
        fact("Whose turn", turn(&failed.kind, name));
        if !failed.hint.is_empty() {
            fact("What to do", failed.hint.clone());
        }
        let phase = side.phases.last().and_then(|(phase, _)| {
            let known = PHASES.iter().find(|(known, ..)| known == phase);
            known.map(|(_, _, title)| *title)
        });
        let at = seconds(side.last_us as f64 / 1e6);
        let step = failed.step.and_then(|step| self.plan.steps.get(step));
        let step = step.map(|step| match step.line {
            Some(line) => format!(", in hand: {} (line {line})", step.step),
            None => format!(", in hand: {}", step.step),
        });
        let (phase, step) = (phase.unwrap_or("before it began"), step.unwrap_or_default());
        fact("When", format!("{phase}, after {at}{step}"));
        let code = &failed.code;
        fact("Code", format!("{code} (sealane explain {code})"));
        page.close("dl").close("section");
    }

    /// Adds planned against measured costs, in four figures.
    fn figures(&self, page: &mut Html) {
        let done = self.state() == RunState::Done;
        let total = |matrix: Vec<Vec<u64>>| {
            let all = matrix.into_iter().flatten();
            all.fold(0, u64::saturating_add)
        };
        let (sent, planned) = (total(self.sent()), total(self.planned()));
        let beside = |measured: u64, planned: u64, text: String| match measured == planned {
            true => ("as planned".to_string(), "good"),
            false if done => (format!("{text} planned"), "bad"),
            false => (format!("of {text} planned"), ""),
        };
        let rounds = self.rounds();
        let estimate = self.plan.estimate_s.named(&self.plan.network);
        let estimate = estimate.map_or(String::new(), |s| format!("about {} planned", seconds(*s)));
        page.open("section", &[("class", &"figures")]);
        let mut figure = |title: &str, number: String, note: (String, &str)| {
            page.open("div", &[]).element("h3", &[], title);
            page.styled("p", "number", number);
            page.styled("p", &format!("note {}", note.1), note.0);
            page.close("div");
        };
        let time = self.seconds().map_or("–".to_string(), seconds);
        figure("Time", time, (estimate, ""));
        let note = beside(sent, planned, bytes(planned));
        figure("Payload", bytes(sent), note);
        let planned = self.plan.rounds;
        let note = beside(rounds, planned, grouped(planned));
        figure("Rounds", grouped(rounds), note);
        let ands = self.plan.ands;
        let speed = self.seconds().map(|s| speed(ands as f64 / s.max(1e-9)));
        let speed = speed.map_or("planned".to_string(), |speed| format!("{speed} a second"));
        figure("AND gates", grouped(ands), (speed, ""));
        page.close("section");
    }

    /// Adds the parties as columns, with their inputs, roles and results.
    fn parties(&self, page: &mut Html) {
        page.section("Who gave what, and who learned what");
        page.open("div", &[("class", &"parties")]);
        for (index, name) in self.plan.parties().iter().enumerate() {
            let class = format!("party {}", colour(index));
            page.open("div", &[("class", &class)]);
            page.element("h3", &[], name);
            let participants = &self.plan.participants;
            let does = match participants.role(name) {
                Some(role) => format!("computes as {role}"),
                None if participants.computing.contains(name) => "computes".to_string(),
                None => "does not compute".to_string(),
            };
            page.styled("p", "note", does);
            if let Some(most) = self.plan.memory_bytes.named(name) {
                let memory = format!("at most {} of memory", bytes(*most));
                page.styled("p", "note", memory);
            }
            let signature = &self.plan.signature;
            let inputs = signature.inputs.iter();
            let inputs = inputs.filter(|input| input.owner == *name);
            let inputs = inputs.map(|input| (&input.name, &input.ty, &input.shape, ""));
            facts(page, "gives", inputs.collect());
            let results = signature.results.iter();
            let results = results.filter(|result| result.to.contains(name));
            let results =
                results.map(|result| (&result.name, &result.ty, &result.shape, &result.note[..]));
            facts(page, "learns", results.collect());
            page.close("div");
        }
        page.close("div");
        let note = "Every party learns the numbers of rows, too. Values are not kept here.";
        page.styled("p", "note", note).close("section");
    }

    /// Adds what has to be known about the numbers of the program.
    fn notes(&self, page: &mut Html) {
        if self.plan.notes.is_empty() {
            return;
        }
        page.section("Notes").open("ul", &[]);
        for note in &self.plan.notes {
            page.element("li", &[], note);
        }
        page.close("ul").close("section");
    }

    fn lanes(&self, page: &mut Html) {
        let Some(picture) = lanes::picture(self) else {
            return;
        };
        page.section("What crossed, and when");
        page.open("div", &[("class", &"scroll"), ("tabindex", &0)]);
        page.html(&picture).close("div");
        page.open("p", &[("class", &"legend")]);
        for (_, class, title) in &PHASES[2..] {
            page.open("span", &[]);
            page.styled("i", &format!("key {class}"), "");
            page.text(title).close("span");
        }
        let key = "Filled: the part of the time in which a party computed. Ribbons: what crossed, \
                   in the colour of who sent it.";
        page.element("span", &[], key).close("p");
        let missing = self.sides.len() < self.plan.parties().len();
        if missing && !self.sides.is_empty() {
            let reported = self.told_by().join(", ");
            let what = format!("This is what {reported} saw; each party keeps its own.");
            page.styled("p", "note", what);
        }
        page.close("section");
    }

    fn footer(&self, page: &mut Html) {
        page.open("footer", &[]).open("dl", &[]);
        page.element("dt", &[], "Job");
        page.styled("dd", "mono", &self.plan.job);
        let mut sessions = self.sides.iter().map(|side| &side.session);
        if let Some(session) = sessions.find(|session| !session.is_empty()) {
            page.element("dt", &[], "Session");
            page.styled("dd", "mono", session);
        }
        for started in self.sides.iter().map(|side| &side.started) {
            let what = format!("CPU tier {}, Sealane {}", started.tier, started.version);
            page.element("dt", &[], &started.party);
            page.element("dd", &[], what);
        }
        page.close("dl").close("footer");
    }
}

/// Adds inputs or results: name, type, shape, and the protection that the program's author claims.
fn facts(page: &mut Html, label: &str, items: Vec<(&String, &String, &String, &str)>) {
    page.element("h4", &[], label).open("ul", &[]);
    if items.is_empty() {
        page.styled("li", "note", "nothing");
    }
    for (name, ty, shape, note) in items {
        page.open("li", &[]).element("b", &[], name).text(" ");
        page.element("code", &[], shaped(ty, shape));
        if !note.is_empty() {
            // A note is text that came with the program: nothing proves it.
            let claim = format!("the author says: {note}");
            page.styled("p", "note", claim);
        }
        page.close("li");
    }
    page.close("ul");
}

/// Describes who has to act.
fn turn(kind: &str, party: &str) -> String {
    match kind {
        "program" => "whoever wrote the program".to_string(),
        "misuse" => format!("whoever gave the command at {party}"),
        "data" => format!("{party}, who owns the data"),
        "config" => format!("whoever set {party} up"),
        "network" => "the network between the parties".to_string(),
        "peer" => "the other side".to_string(),
        _ => "Sealane: this is a bug; please report it".to_string(),
    }
}
