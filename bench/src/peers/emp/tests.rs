//! Programs that do what EMP's does, and programs that do not: commands of a shell.

use super::*;
use crate::stream::tests::again;

/// A party that does nothing for a while and then prints what EMP's would.
const SOUND: &str = "echo connected; sleep 0.3; echo \"2.5e+05 $1 $BITS\"";

/// A program of these commands, with the bits that it may print.
fn emp(commands: &str, bits: &str) -> Emp {
    let commands = format!("BITS={bits}; {commands}");
    let words = ["sh", "-c", &commands, "emp"];
    Emp {
        command: words.map(OsString::from).to_vec(),
        patience: Duration::from_secs(20),
    }
}

fn failure(commands: &str) -> String {
    let ended = emp(commands, &ciphertext()).run();
    ended.expect_err("no figure of this")
}

/// The bits that the file of gates of EMP's program gives for the inputs 2 and 3.
#[test]
fn the_ciphertext_is_that_of_the_file_of_gates() {
    let bits = 0x92ba_1dd1_3dfa_483a_e532_6ffb_223f_3b32_u128;
    assert_eq!(ciphertext(), format!("{bits:0128b}"));
}

#[test]
fn the_time_of_the_evaluator_is_taken() {
    let commands = "echo connected; sleep 0.3; [ $1 = 2 ] || exit 0; echo \"2.5e+05 2 $BITS\"";
    let rate = emp(commands, &ciphertext()).run().expect("a figure");
    assert_eq!(rate, 272.0);
}

/// The garbler listens where the evaluator connects to.
#[test]
fn both_parties_get_the_same_port() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().display();
    let commands = format!("echo $2 > '{at}'/$1; {SOUND}");
    emp(&commands, &ciphertext()).run().expect("a figure");
    let port = |party: &str| std::fs::read_to_string(folder.path().join(party)).expect("a port");
    assert_eq!(port("1"), port("2"));
    assert!(port("1").trim().parse::<u16>().is_ok());
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let nowhere = Emp::new([OsString::from("/nowhere/test_circuit_file")]);
    let said = nowhere.run().expect_err("no program");
    assert!(said.starts_with("EMP (/nowhere/test_circuit_file) cannot be started: "));
}

#[test]
fn a_program_that_hangs_is_killed() {
    let mut hangs = emp("exec sleep 60", "");
    hangs.patience = Duration::from_millis(50);
    let said = hangs.run().expect_err("no end");
    assert!(said.ends_with("did not end within 0.05 s"), "{said}");
}

/// The evaluator of EMP tries to connect for ever.
#[test]
fn a_party_that_fails_ends_the_other() {
    let started = Instant::now();
    let said = failure("[ $1 = 2 ] && exec sleep 60; echo 'error: bind' >&2; exit 1");
    assert!(said.contains("as party 1: error: bind"), "{said}");
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn figures_of_other_work_are_refused() {
    const NO_LINE: &str = "printed no line of a time";
    const WORDS: &str = "while :; do echo connected connected connected; done";
    let flipped = "sleep 0.1; echo \"50000 2 $(echo $BITS | tr 01 10)\"";
    for (commands, what) in [
        ("sleep 0.1", NO_LINE),
        ("sleep 0.1; echo '\\033[2J'", NO_LINE),
        ("sleep 0.1; echo \"NaN 2 $BITS\"", NO_LINE),
        ("sleep 0.1; echo \"50000 1 $BITS\"", NO_LINE),
        ("sleep 0.1; echo \"0.05 2 $BITS\"", "printed a time of"),
        (
            "sleep 0.1; echo \"9e9 2 $BITS\"",
            "printed a time of 9000 s",
        ),
        (flipped, "has another ciphertext: 0110"),
        (WORDS, "prints too much"),
        (&format!("{WORDS} >&2"), "prints too much"),
    ] {
        let said = failure(commands);
        assert!(said.contains(what), "{commands}: {said}");
        assert!(said.lines().count() == 1 && said.len() < 500, "{said}");
    }
}

#[test]
fn emp_and_ours_have_rates_and_ratios() {
    let cpu = Cpu::detect().expect("a tier");
    let mut options = Options::new(vec![cpu], Duration::ZERO);
    let emp = emp(SOUND, &ciphertext());
    let nothing = &mut |_| unreachable!();
    let ended = compare(&emp, cpu, &options, &mut Figures::new("peers", nothing));
    assert!(matches!(ended, Err(SuiteError::Failed(_))), "{ended:?}");

    options.again = again();
    let mut found = Vec::new();
    let mut record = |record: crate::Record| {
        assert!(record.value > 0.0 && record.value.is_finite(), "{record:?}");
        found.push((record.case, record.metric, record.value));
    };
    let ended = compare(&emp, cpu, &options, &mut Figures::new("peers", &mut record));
    assert_eq!(ended, Ok(()));
    let value = |case: &str, metric: &str| {
        let same = |(c, m, _): &&(String, String, f64)| c == case && *m == metric;
        found.iter().find(same).expect(case).2
    };
    let (rate, times) = ("million_ands_per_s", "times_as_fast");
    assert_eq!(value("aes128/emp/tcp", rate), 272.0);
    for link in ["tcp", "tls"] {
        let ours = format!("aes128/sealane/{link}");
        for suffix in ["", "_best"] {
            let of = |case: &str, metric| value(case, &format!("{metric}{suffix}"));
            let ratio = of(&ours, rate) / of("aes128/emp/tcp", rate);
            assert_eq!(of(&format!("{ours}/over/emp/tcp"), times), ratio);
        }
    }
}
