//! Vectors of whole sessions: see `docs/wire/vectors.md`.

mod guarded;
mod negative;
mod outside;
mod sessions;

use sealane_engine::Job;
use sealane_net::WIRE_VERSION;
use sealane_plan::{JobPart, tape_bytes, tape_hash};
use sealane_testkit::vectors::{Value, base64_of_zlib, first_difference, json, list, packed, read};
use serde_json::Map;
use std::collections::BTreeSet;

/// The files of a job, as `plan --export` writes them.
fn exported(name: &Value, job: &Job) -> Value {
    let (text, parts) = (job.text(), job.parts());
    let (mut files, mut hashes, mut tapes) = (Map::new(), Map::new(), Map::new());
    for part in JobPart::ALL {
        let mut bytes = Vec::new();
        let written = text.write(part, &mut bytes);
        written.expect("memory takes any text");
        let bytes = String::from_utf8(bytes).expect("text");
        files.insert(part.file().into(), json!(bytes));
        hashes.insert(part.file().into(), json!(hex::encode(parts.part(part))));
    }
    let index = json!({ "wire": WIRE_VERSION, "job": job.hash(), "parts": hashes });
    files.insert("job.json".into(), json!(format!("{index:#}\n")));
    for tape in text.tapes() {
        let bytes = base64_of_zlib(&tape_bytes(tape));
        tapes.insert(tape_hash(tape).to_hex().to_string(), json!(bytes));
    }
    json!({ "name": name, "hash": job.hash(), "files": files, "tapes": tapes })
}

/// Files that have jobs.
const WITH_JOBS: [&str; 3] = ["jobs", "guarded", "auth"];

/// Plans and exports all jobs of a file again, from their programs, protocols and networks.
fn made_again(jobs: &Value) -> Value {
    let entries = list(&jobs["jobs"]).iter();
    let entries = entries.map(|entry| exported(&entry["name"], &sessions::planned(entry)));
    let entries = entries.collect::<Vec<_>>();
    json!({ "schema": jobs["schema"], "wire": WIRE_VERSION, "jobs": entries })
}

/// Checks the files of all jobs. What planning has changed since is another job: then the sessions
/// of these jobs are made again, under another wire version if messages changed.
#[test]
fn jobs_are_those_of_the_vectors() {
    for file in WITH_JOBS {
        jobs_are_those_of(file);
    }
}

fn jobs_are_those_of(file: &str) {
    let jobs = read(file);
    let again = made_again(&jobs);
    for (entry, again) in list(&jobs["jobs"]).iter().zip(list(&again["jobs"])) {
        let name = &entry["name"];
        // Not as they are packed: that is the compressor's.
        let tapes = |job: &Value| {
            let tapes = job["tapes"].as_object().expect("tapes");
            tapes.keys().cloned().collect::<BTreeSet<_>>()
        };
        let differs = || first_difference(&entry["files"], &again["files"]);
        let same = entry["files"] == again["files"];
        assert!(same, "{file}.json.gz: {name}: {}", differs());
        assert_eq!(entry["hash"], again["hash"], "{name}");
        assert_eq!(tapes(entry), tapes(again), "{name}");
    }
}

#[test]
#[ignore = "writes files with jobs alone to the folder that SEALANE_VECTORS names"]
fn make_jobs() {
    let folder = std::env::var("SEALANE_VECTORS").expect("a folder");
    for file in WITH_JOBS {
        let path = std::path::Path::new(&folder).join(format!("{file}.json.gz"));
        let jobs = packed(&made_again(&read(file)));
        std::fs::write(path, jobs).expect("a folder that can be written");
    }
}
