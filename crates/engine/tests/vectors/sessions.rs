//! Whole runs, with every message: `sessions.json.gz`.

use sealane_engine::{
    EngineError, Job, Journal, NetworkClass, ProtocolName, RunReport, danger_run_with_seed,
};
use sealane_identity::PublicKey;
use sealane_net::{Cause, Frame, FrameKind, Mesh};
use sealane_parties::PartyId;
use sealane_program::text;
use sealane_program::types::Data;
use sealane_testkit::record::{Crossed, crossed, recorded};
use sealane_testkit::side::on_threads;
use sealane_testkit::vectors::{caught, first_difference, list, number, read, stated};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Plans a job of `jobs.json.gz` again.
pub fn planned(entry: &Value) -> Job {
    let file = |name: &str| entry["files"][name].as_str().expect("a text");
    let json = |text: &str| serde_json::from_str::<Value>(text).expect("a line of JSON");
    let program = text::parse(file("program.sealane"), "program.sealane").expect("a program");
    let protocol = json(file("protocol.json"));
    let names = list(&protocol["parties"]).iter();
    let names = names.map(|name| name.as_str().expect("a name").to_string());
    let helpers = names.skip(program.parties.len()).collect();
    let network: NetworkClass = serde_json::from_str(file("network.json")).expect("a network");
    let tiles = file("plan.jsonl")
        .lines()
        .filter_map(|line| json(line)["rows"]["tile"].as_u64());
    let tile = tiles.max().unwrap_or(u64::MAX);
    let name = protocol["profile"]["name"].as_str().expect("a name");
    let name = name.parse().expect("a protocol");
    Job::in_tiles(program, name, network, helpers, tile).expect("a job")
}

/// The sessions of `sessions.json.gz` and their jobs.
pub struct Sessions {
    jobs: BTreeMap<String, Job>,
    /// The tests, as the file has them.
    pub tests: Vec<Value>,
}

impl Sessions {
    pub fn read() -> Sessions {
        Sessions::of(&read("jobs"), &read("sessions"))
    }

    /// Plans the jobs of one file, for the sessions of another.
    pub fn of(jobs: &Value, tests: &Value) -> Sessions {
        let name = |entry: &Value| entry["name"].as_str().expect("a name").to_string();
        let jobs = list(&jobs["jobs"]).iter();
        let jobs = jobs.map(|entry| (name(entry), planned(entry)));
        let tests = list(&tests["tests"]).to_vec();
        Sessions {
            jobs: jobs.collect(),
            tests,
        }
    }

    /// The job of a session.
    pub fn job(&self, test: &Value) -> &Job {
        &self.jobs[test["job"].as_str().expect("a name")]
    }

    /// Runs one party of a session, with the keys that all parties of vectors have pinned.
    pub fn run_party(&self, test: &Value, mesh: &mut Mesh) -> Result<RunReport, EngineError> {
        let job = self.job(test);
        let me = mesh.me().index();
        let key = |party| format!("ed25519:{}", hex::encode([party as u8 + 1; 32]));
        let keys = (0..mesh.parties()).map(|party| key(party).parse::<PublicKey>());
        mesh.pin(keys.collect::<Result<_, _>>().expect("keys"));
        let rows = list(&test["rows"]).iter().map(number).collect::<Vec<_>>();
        let inputs = job.program().inputs.iter().map(|input| {
            let rows = input.shape.rows.map(|table| rows[usize::from(table.0)]);
            let shape = rows.into_iter().chain(input.shape.fixed.iter().copied());
            let numbers = test["inputs"][me].get(&input.name)?;
            let integer = |number: &Value| {
                number.as_i64().map_or_else(
                    || i128::from(number.as_u64().expect("an integer")),
                    i128::from,
                )
            };
            let numbers = list(numbers).iter().map(integer).collect::<Vec<_>>();
            let data = Data::from_numbers(input.ty, shape.collect(), &numbers);
            Some(data.expect("numbers of the type"))
        });
        let inputs = inputs.collect::<Vec<_>>();
        let seed = number(&test["seeds"][me]);
        danger_run_with_seed(job, &inputs, mesh, seed, &mut Journal::silent())
    }

    /// Runs a session; returns its messages, and what the file has of it.
    pub fn run(&self, test: &Value) -> (Crossed, Value) {
        let ran = self.ran(test);
        let outcome = ran.outcome;
        (
            ran.crossed,
            outcome.unwrap_or_else(|error| panic!("session {}: {error}", test["id"])),
        )
    }

    /// Runs a session, which may fail.
    fn ran(&self, test: &Value) -> Ran {
        let parties = list(&test["seeds"]).len();
        let (meshes, logs) = recorded(parties);
        let sides = on_threads(meshes, |mut mesh| {
            mesh.keep_steps();
            let told = |error: EngineError| format!("{}: {error}", error.finding().code);
            let report = caught(|| self.run_party(test, &mut mesh).map_err(told));
            if report.is_err() {
                mesh.abort(Cause::Party, "a panic");
            }
            let learned = report.flatten().and_then(|report| {
                let learned = (learned(&report), report.rounds);
                report
                    .as_planned()
                    .then_some(learned)
                    .ok_or("not as planned".into())
            });
            let me = mesh.me().index();
            let digest = |mesh: &mut Mesh, to: PartyId| {
                let (bytes, digest) = (mesh.payload_sent(to), mesh.digest_sent(to));
                json!([me, to.0, bytes, hex::encode(digest)])
            };
            let digests = mesh
                .peers()
                .map(|to| digest(&mut mesh, to))
                .collect::<Vec<_>>();
            // A party leaves as soon as it is done, as in a run: its goodbye is all that is left.
            (digests, learned, mesh.kept_steps())
        });
        let crossed = crossed(&logs);
        let mut frames = Vec::new();
        for (from, row) in crossed.iter().enumerate() {
            for (to, messages) in row.iter().enumerate() {
                frames.extend(messages.iter().map(|frame| entry(from, to, frame)));
            }
        }
        let learned = sides.iter().map(|side| side.1.clone());
        let outcome = learned.collect::<Result<Vec<_>, _>>().map(|learned| {
            json!({
                "frames": frames,
                "digests": sides.iter().flat_map(|side| side.0.clone()).collect::<Vec<_>>(),
                "results": learned.iter().map(|side| side.0.clone()).collect::<Vec<_>>(),
                "rounds": learned.iter().map(|side| side.1).max(),
            })
        });
        Ran {
            crossed,
            frames,
            outcome,
            steps: sides.into_iter().map(|side| side.2).collect(),
        }
    }

    /// Runs all sessions and compares what crosses.
    ///
    /// # Panics
    /// If one differs from the file.
    pub fn check(&self, file: &str) {
        let mut wrong = Vec::new();
        for test in &self.tests {
            let ran = self.ran(test);
            let differs = self.difference(test, &ran);
            let session = |text| format!("{text}; session {} {}", test["id"], test["job"]);
            wrong.extend(differs.map(session));
            // It may have waited for long.
            if ran.outcome.is_err() {
                break;
            }
        }
        assert!(wrong.is_empty(), "{file}:\n{}", wrong.join("\n"));
    }

    /// Names the crate and the step of a byte of a message, the number `message` of its link.
    fn place(&self, test: &Value, ran: &Ran, want: &Value, message: usize, byte: usize) -> String {
        if want[2] == "control" {
            let step = if message < 3 { "agreement" } else { "farewell" };
            return format!("sealane-engine: step {step}");
        }
        let [from, to] = [0, 1].map(|end| number(&want[end]) as usize);
        let before = ran.crossed[from][to].iter().take(message);
        let before = before.filter(|frame| frame.kind != FrameKind::Control);
        let before = before.map(|frame| frame.payload.len()).sum::<usize>();
        let mut steps = ran.steps[from][to].iter();
        let step = steps.find(|(_, end)| ((before + byte) as u64) < *end);
        let step = step.expect("the last one has no end").0;
        let (job, rows) = (self.job(test), list(&test["rows"]).iter().map(number));
        let cost = job
            .cost(&rows.collect::<Vec<_>>())
            .expect("rows of a session");
        let label = cost.steps.get(step as usize).map(|step| &step.label[..]);
        let name = match job.protocol() {
            ProtocolName::Yao | ProtocolName::YaoThreeHalves => "yao",
            ProtocolName::Gmw | ProtocolName::Mixed => "mixed",
            ProtocolName::Trio | ProtocolName::TrioMalicious => "trio",
            ProtocolName::Auth => "auth",
            ProtocolName::Clear => "clear",
        };
        format!(
            "sealane-{name}: step {step} `{}`",
            label.unwrap_or("unknown")
        )
    }

    /// Tells the first byte of a message that differs, in the order of rounds, or another field.
    fn difference(&self, test: &Value, ran: &Ran) -> Option<String> {
        let (mut want, mut got) = (BTreeMap::new(), BTreeMap::new());
        for (of, frames) in [(&mut want, list(&test["frames"])), (&mut got, &ran.frames)] {
            for frame in frames {
                let link = of
                    .entry((number(&frame[0]), number(&frame[1])))
                    .or_insert(vec![]);
                link.push(frame);
            }
        }
        let (mut first, none) = (None, vec![]);
        for (link, want) in &want {
            let got = got.get(link).unwrap_or(&none);
            let differs = (0..want.len()).find(|at| got.get(*at) != Some(&want[*at]));
            // Control messages are at both ends, and have no stamp.
            first = first
                .into_iter()
                .chain(differs.map(|at| {
                    let stamp = match (want[at][2] == "control", at) {
                        (true, 3..) => u64::MAX,
                        _ => number(&want[at][3]),
                    };
                    (stamp, at, want[at], got.get(at).copied())
                }))
                .min_by_key(|(stamp, at, ..)| (*stamp, *at));
        }
        if let Some((_, at, want, got)) = first {
            let text = match got {
                // Of a header: kind and flag are its first bytes, the stamp begins at byte 4.
                Some(got) if want[2] != got[2] => format!("header, byte 0: {}", got[2]),
                Some(got) if want[3] != got[3] => format!("header, byte 4: stamp {}", got[3]),
                Some(got) => first_difference(&want[4], &got[4]),
                None => first_difference(&want[4], &Value::Null),
            };
            let byte = text
                .strip_prefix("byte ")
                .and_then(|text| text.split(':').next());
            let byte = byte.and_then(|byte| byte.parse().ok()).unwrap_or(0);
            let place = self.place(test, ran, want, at, byte);
            return Some(format!(
                "{place}, message {at} of party {} to {}, {text}",
                want[0], want[1]
            ));
        }
        let outcome = match &ran.outcome {
            Ok(outcome) => outcome,
            // All messages were right, so that only their end is left.
            Err(error) if error.starts_with("peer-") => {
                return Some(format!("sealane-net: step goodbye, byte 0: {error}"));
            }
            Err(error) => return Some(format!("sealane-engine: {error}")),
        };
        let fields = outcome.as_object().into_iter().flatten();
        let mut differ = fields.filter(|(name, value)| test[*name] != **value);
        differ.next().map(|(name, value)| {
            format!(
                "sealane-engine: {name}, {}",
                first_difference(&test[name], value)
            )
        })
    }
}

/// Session that ran, or failed on its way.
struct Ran {
    crossed: Crossed,
    /// All messages, as the file has them.
    frames: Vec<Value>,
    /// Outcome, as the file has it.
    outcome: Result<Value, String>,
    /// The steps of what each party sent, by peer.
    steps: Vec<Vec<Vec<(u32, u64)>>>,
}

/// The results that a party learned, as the file has them.
pub fn learned(report: &RunReport) -> Value {
    let known = report.results.iter().filter_map(|result| {
        let numbers = result.data.as_ref()?.numbers().map(in_json);
        Some((result.name.clone(), numbers.collect()))
    });
    Value::Object(known.collect::<Map<_, _>>())
}

/// A message as the file has it.
fn entry(from: usize, to: usize, frame: &Frame) -> Value {
    let kind = match frame.kind {
        FrameKind::Control => "control",
        FrameKind::Data { .. } => "data",
    };
    json!([from, to, kind, frame.stamp, stated(&frame.payload)])
}

/// A number of up to 64 bits.
pub fn in_json(number: i128) -> Value {
    u64::try_from(number).map_or_else(|_| json!(number as i64), |number| json!(number))
}

#[test]
fn sessions_are_those_of_the_vectors() {
    Sessions::read().check("sessions.json.gz");
}
