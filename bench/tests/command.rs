//! The program as its users call it: what it lists, measures with `--quick`, refuses, leaves out.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// A call of the program in a folder.
fn call(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealane-bench"));
    command.current_dir(folder).args(words);
    command.envs(variables.iter().copied());
    command.output().expect("the program starts")
}

/// Standard output and standard error of a call that ends with a status.
fn ended(folder: &Path, words: &[&str], variables: &[(&str, &str)], status: i32) -> [String; 2] {
    let output = call(folder, words, variables);
    let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    assert_eq!(output.status.code(), Some(status), "{words:?}: {texts:?}");
    texts
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The records of a call with `--json --quick`.
fn measured(words: &[&str], variables: &[(&str, &str)]) -> Vec<Value> {
    let words = [words, &["--json", "--quick"]].concat();
    let [printed, _] = ended(root(), &words, variables, 0);
    let lines = printed.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON lines")
}

fn value(records: &[Value], case: &str, metric: &str) -> f64 {
    let is = |record: &&Value| record["case"] == case && record["metric"] == metric;
    let found = records.iter().find(is);
    let found = found.unwrap_or_else(|| panic!("no {metric} of {case}"));
    found["value"].as_f64().expect("a number")
}

/// A program of these commands of a shell.
fn script(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("a script");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("rights");
    file.display().to_string()
}

#[test]
fn suites_are_listed_and_no_other_is_known() {
    let [listed, _] = ended(root(), &[], &[], 0);
    assert!(listed.contains("every one of these"), "{listed}");
    let [printed, refused] = ended(root(), &["nothing", "--json"], &[], 2);
    assert_eq!(printed, "");
    let error: Value = serde_json::from_str(refused.lines().last().expect("a line")).expect("JSON");
    let error = error["error"].as_object().expect("an error");
    let keys = [
        "code", "column", "file", "hint", "kind", "line", "message", "reason", "status",
    ];
    assert!(error.keys().eq(keys), "{error:?}");
    assert_eq!(error["code"], "unknown-suite");
    let [_, refused] = ended(root(), &["--forge"], &[], 2);
    assert!(refused.starts_with("error[command-line]: "), "{refused}");
}

#[test]
fn lines_have_the_machine_and_the_command_that_makes_them_again() {
    let words = ["math", "--only", "bf16,exp"];
    let records = measured(&words, &[("SEALANE_TIER", "portable")]);
    assert!(value(&records, "bf16/exp", "ands") > 0.0);
    for record in &records {
        let keys = [
            "case", "command", "cpu", "metric", "suite", "tier", "unit", "value", "version",
        ];
        assert!(record.as_object().expect("an object").keys().eq(keys));
        let command = "sealane-bench math --json --quick --only bf16,exp";
        assert_eq!(record["command"], command);
    }
}

#[test]
fn pictures_are_written_where_they_can_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["circuit", "--quick", "--plot"];
    let file = folder.path().join("f.svg");
    let picture = file.display().to_string();
    ended(root(), &[&words[..], &[&picture]].concat(), &[], 0);
    let drawn = fs::read_to_string(&file).expect("a picture");
    assert!(drawn.contains("aria-label=\"sealane-bench circuit: "));
    let [_, refused] = ended(root(), &[&words[..], &["/no/such/f.svg"]].concat(), &[], 2);
    assert!(refused.starts_with("error[output]: cannot write /no/such/f.svg"));
}

/// A stand-in for the command, whose report is that of a run.
#[test]
fn whole_runs_are_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = r#"{"seconds": 0.5, "payload_bytes": {"a": 30, "b": 12}, "ands": 1000000,
        "rounds": 7, "as_planned": true}"#;
    let text = format!("[ \"$1 $3 $4\" = 'run --local --json' ] && cat <<'X'\n{report}\nX");
    let program = script(folder.path(), "sealane", &text);
    let records = measured(&["e2e", "--sealane", &program], &[]);
    for case in ["aes128/100/tls", "hospital/569/tls"] {
        assert_eq!(value(&records, case, "seconds"), 0.5);
        assert_eq!(value(&records, case, "million_ands_per_s"), 2.0);
        assert_eq!(value(&records, case, "payload_bytes"), 42.0);
        assert_eq!(value(&records, case, "rounds"), 7.0);
    }
    let words = ["e2e", "--quick", "--sealane", &program];
    let [_, elsewhere] = ended(folder.path(), &words, &[], 70);
    assert!(elsewhere.contains("the root of the repository"));
    let other = script(folder.path(), "other", &text.replace("true", "false"));
    let [_, unplanned] = ended(root(), &["e2e", "--quick", "--sealane", &other], &[], 70);
    assert!(unplanned.contains("did not keep its plan"));
    let words = ["e2e", "--quick", "--sealane", "/nowhere"];
    let [_, nowhere] = ended(root(), &words, &[], 70);
    let hint = "name the command with `--sealane`";
    assert!(nowhere.contains(hint), "{nowhere}");
}

#[test]
fn streaming_is_measured_on_both_sides() {
    let records = measured(&["stream"], &[]);
    let wide = ["wide/aes128/tcp", "wide/aes128/tls"];
    let others = ["chain/tcp", "chain/tls", "long/aes128/tls"];
    for case in wide.into_iter().chain(others) {
        assert!(value(&records, case, "million_ands_per_s") > 0.0);
        for side in ["garbler", "evaluator"] {
            let peak = value(&records, &format!("{case}/{side}"), "peak_megabytes");
            assert!(0.0 < peak && peak < 200.0, "{case}/{side}: {peak} MB");
        }
    }
}

/// A program that prints what EMP's evaluator prints, and takes a little longer than it says.
#[test]
fn others_are_measured_in_turn_with_ours() {
    let folder = tempfile::tempdir().expect("a folder");
    let bits = format!("{:0128b}", 0x92ba_1dd1_3dfa_483a_e532_6ffb_223f_3b32_u128);
    let text = format!("sleep 0.3\necho connected\necho \"250000 $1 {bits}\"");
    let program = script(folder.path(), "test_circuit_file", &text);
    let records = measured(&["peers"], &[("SEALANE_EMP", &program)]);
    let rate = "million_ands_per_s";
    assert_eq!(value(&records, "aes128/emp/tcp", rate), 272.0);
    for link in ["tcp", "tls"] {
        let ours = format!("aes128/sealane/{link}");
        let ratio = value(&records, &ours, rate) / 272.0;
        let times = value(&records, &format!("{ours}/over/emp/tcp"), "times_as_fast");
        assert!((times / ratio - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_suite_without_anything_to_measure_says_how_to_get_it() {
    let emp = |words: &[&str], program| ended(root(), words, &[("SEALANE_EMP", program)], 2);
    let [_, nowhere] = emp(&["peers", "--quick", "--only", "emp"], "/nowhere/emp");
    assert!(nowhere.contains("EMP (/nowhere/emp) cannot be started"));
    if cfg!(feature = "peers") {
        return;
    }
    let [printed, nothing] = emp(&["peers", "--json"], "");
    assert_eq!(printed, "");
    for said in ["no-peers", "SEALANE_EMP", "--features peers"] {
        assert!(nothing.contains(said), "{nothing}");
    }
    let [_, missing] = emp(&["peers", "--only", "ring"], "/bin/true");
    assert!(missing.contains("`peers` has no `ring` to measure"));
    let [_, left_out] = emp(&["peers", "--quick"], "/nowhere");
    assert!(left_out.starts_with("left out: rustcrypto, ring, aws-lc: in a checkout"));
}
