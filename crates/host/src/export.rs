//! `plan --export`: the text of a job, which its hashes cover, as files for other programs.
//!
//! `job.json` has the hash of the job and the hash of each part, by the name of the file in which
//! the text of the part is. Plans name their tapes by hash: `tapes/HASH` has the bytes of each.
//! Everything can be checked by hashing, so a program that reads it need not plan.

use crate::Failure;
use sealane_diagnostic::Code;
use sealane_engine::Job;
use sealane_files::{NewFile, Rights, Taken};
use sealane_net::WIRE_VERSION;
use sealane_plan::{JobPart, tape_bytes, tape_hash};
use serde_json::{Map, json};
use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;

fn failed(path: &Path, error: &io::Error) -> Failure {
    let what = format!("cannot write {}: {error}", path.display());
    let hint = "name a folder that can be made and written";
    Failure::new(Code::Output, what, hint)
}

/// Writes the text of a job into a folder, which is made if it is not there.
///
/// # Errors
/// A file cannot be written.
pub fn write(job: &Job, folder: &Path) -> Result<(), Failure> {
    let file = |name: &str, content: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let path = folder.join(name);
        let written = || {
            let file = NewFile::begin(&path, Rights::Usual, Taken::Replace)?;
            let mut buffered = BufWriter::new(file);
            content(&mut buffered)?;
            let file = buffered.into_inner().map_err(|error| error.into_error())?;
            file.keep()
        };
        written().map_err(|error| failed(&path, &error))
    };
    let tapes = folder.join("tapes");
    std::fs::create_dir_all(&tapes).map_err(|error| failed(&tapes, &error))?;
    let (text, parts) = (job.text(), job.parts());
    let mut written = BTreeSet::new();
    for tape in text.tapes() {
        let hash = tape_hash(tape).to_hex().to_string();
        if written.insert(hash.clone()) {
            let bytes = tape_bytes(tape);
            file(&format!("tapes/{hash}"), &|out| out.write_all(&bytes))?;
        }
    }
    let mut hashes = Map::new();
    for part in JobPart::ALL {
        file(part.file(), &|out| text.write(part, out))?;
        hashes.insert(part.file().into(), json!(hex::encode(parts.part(part))));
    }
    let index = json!({ "wire": WIRE_VERSION, "job": job.hash(), "parts": hashes });
    file("job.json", &|out| writeln!(out, "{index:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_engine::{NetworkClass, ProtocolName};
    use serde_json::Value;

    /// `a` counts the bits of `x` alone.
    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\n\
        input x : a u8 in 0..255\ninput y : b u4 in 0..15\nmain {\n\
        \x20 %0 = param 0 : u8 in 0..255 known a\n\
        \x20 %1 = param 1 : u4 in 0..15 known b\n\
        \x20 %2 = popcount %0 : u4 in 0..8 known a\n\
        \x20 %3 = lt %2, %1 : bool in 0..1 secret\n\
        }\nreveal r = %3 : bool to b\n";

    #[test]
    fn every_hash_of_an_exported_job_is_that_of_a_file() {
        let program = sealane_program::text::parse(PROGRAM, "p").unwrap();
        let job = Job::new(program, ProtocolName::Yao, NetworkClass::LAN, vec![]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        write(&job, folder.path()).unwrap();
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        let index: Value = serde_json::from_slice(&read("job.json")).unwrap();
        let mut whole = blake3::Hasher::new_derive_key("sealane job 2");
        for part in JobPart::ALL {
            let hash = blake3::hash(&read(part.file()));
            assert_eq!(index["parts"][part.file()], hash.to_hex().as_str());
            whole.update(hash.as_bytes());
        }
        assert_eq!(index["job"], whole.finalize().to_hex().as_str());
        // The joint plan and that of `a` alone name different tapes.
        let named = |part: JobPart| {
            let text = String::from_utf8(read(part.file())).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            let named = lines.filter_map(|line: Value| {
                let hash = line["tape"]["hash"].as_str()?.to_string();
                let tape = blake3::hash(&read(&format!("tapes/{hash}")));
                assert_eq!(tape.to_hex().as_str(), hash);
                Some(hash)
            });
            named.collect::<BTreeSet<_>>()
        };
        let (joint, alone) = (named(JobPart::Plan), named(JobPart::Alone));
        assert!(!joint.is_empty() && !alone.is_empty());
        let tapes = std::fs::read_dir(folder.path().join("tapes")).unwrap();
        assert_eq!(tapes.count(), joint.union(&alone).count());
    }
}
