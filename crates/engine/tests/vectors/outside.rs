//! Sessions outside the subset of the wire, in `outside-15.json.gz`. This implementation alone has
//! them, and makes them: they find what changes, and not what is wrong at both sides.

use super::sessions::{Sessions, in_json};
use crate::traffic::{random_jobs, run};
use sealane_engine::Job;
use sealane_net::WIRE_VERSION;
use sealane_program::text;
use sealane_testkit::random_program::Case;
use sealane_testkit::record::recorded;
use sealane_testkit::side::on_threads;
use sealane_testkit::testdata;
use sealane_testkit::vectors::{Value, json, packed};
use serde_json::Map;

/// Most characters of a session, so that the file stays small.
const MOST_CHARACTERS: usize = 60_000;

fn file() -> String {
    format!("vectors/outside-{WIRE_VERSION}.json")
}

fn sessions() -> Sessions {
    let file = serde_json::from_str::<Value>(&testdata::text(&file())).expect("a file of vectors");
    Sessions::of(&file, &file)
}

#[test]
fn sessions_outside_the_subset_are_those_of_the_vectors() {
    sessions().check(&file());
}

/// The parts of a job that planning needs, and a session of it.
fn entries(id: usize, (case, tile, job): &(Case, u64, Job)) -> Option<[Value; 2]> {
    let (meshes, _) = recorded(job.parties().len());
    let reports = on_threads(meshes, |mut mesh| {
        run(case, job, &mut mesh).expect("honest")
    });
    let name = format!("outside-{id}");
    let job_entry = json!({ "name": name, "files": {
        "program.sealane": text::print(&case.program),
        "protocol.json": json!({ "parties": job.parties(), "profile": { "name": job.protocol().to_string() } }).to_string(),
        "network.json": "\"lan\"",
        "plan.jsonl": json!({ "rows": { "tile": tile } }).to_string(),
    }});
    let parties = 0..job.parties().len();
    let inputs = parties.clone().map(|party| {
        let inputs = case.program.inputs.iter();
        let own = inputs.filter(|input| usize::from(input.owner) == party);
        let numbers = own.map(|input| {
            let numbers = case.inputs[&input.name].numbers().map(in_json);
            (input.name.clone(), numbers.collect::<Value>())
        });
        Value::Object(numbers.collect::<Map<_, _>>())
    });
    let mut test = json!({
        "id": id, "comment": "random", "job": name,
        "seeds": parties.clone().map(|party| party + 1).collect::<Vec<_>>(),
        "rows": reports[0].rows.iter().map(|(_, rows)| *rows).collect::<Vec<_>>(),
        "inputs": inputs.collect::<Vec<_>>(), "result": "valid",
    });
    let file = json!({ "jobs": [job_entry], "tests": [] });
    let (_, outcome) = Sessions::of(&file, &file).run(&test);
    for (name, value) in outcome.as_object()? {
        test[name] = value.clone();
    }
    let brief = test["frames"].to_string().len() < MOST_CHARACTERS;
    brief.then_some([job_entry, test])
}

#[test]
#[ignore = "writes outside-15.json.gz to the folder that SEALANE_VECTORS names"]
fn make_outside() {
    let folder = std::env::var("SEALANE_VECTORS").expect("a folder");
    let (mut jobs, mut tests) = (Vec::new(), Vec::new());
    for of in random_jobs(2, 20) {
        if let Some([job, test]) = entries(tests.len() + 1, &of) {
            jobs.push(job);
            tests.push(test);
        }
    }
    let file = json!({ "schema": "outside-1", "wire": WIRE_VERSION, "jobs": jobs, "tests": tests });
    let path = std::path::Path::new(&folder).join(format!("outside-{WIRE_VERSION}.json.gz"));
    std::fs::write(path, packed(&file)).expect("a folder that can be written");
}
