//! Failures of `sealane-hw`: those of the pages of errors, and as JSON.

use sealane_testkit::page;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs the command with status 2, and returns what it prints.
fn fails(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealane-hw"));
    let output = command.current_dir(folder).args(arguments).output();
    let output = output.expect("a process");
    assert!(output.status.code() == Some(2) && output.stdout.is_empty());
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn pages_show_errors_of_netlists() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name, text| std::fs::write(folder.path().join(name), text).expect("a file");
    write("adder.scd", "0 0 1 1 0 1 2\n0 3\n1 1\n6 8\n3\n");
    let reported = fails(folder.path(), &["simulate", "adder.scd"]);
    page::shows("netlist-file", reported.trim());
    let design = "module top(input g_input, input e_input, output o);\n  assign o = g_input & \
                  e_input;\nendmodule\n";
    write("top.v", design);
    let synth = ["netlist", "synth", "top.v", "--yosys", "no-such-yosys"];
    page::shows("netlist-design", fails(folder.path(), &synth).trim());
}

#[test]
fn errors_are_json_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, code) in [
        (&["simulate", "nothing.scd"][..], "netlist-file"),
        (&["netlist", "synth", "nothing.v"], "netlist-design"),
        (&["simulate"], "command-line"),
    ] {
        let reported = fails(folder.path(), &[arguments, &["--json"]].concat());
        let last = reported.lines().last().expect("a line");
        let last: Value = serde_json::from_str(last).expect("JSON");
        assert_eq!(last["error"]["code"], code, "{reported}");
        assert_eq!(last["error"]["status"], 2, "{reported}");
    }
}

#[test]
fn no_device_holds_the_command_up() {
    let reported = fails(Path::new("/"), &["simulate", "/dev/zero"]);
    let reason = "\nreason: it is a device or a socket, where a file is needed";
    assert!(reported.contains(reason), "{reported}");
}
