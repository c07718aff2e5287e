//! Configuration file: an accepted one is complete, and has the same meaning when it is written out
//! again in the simplest form.

use sealane_fuzz_harness::{Accepted, Verdict, place};
use sealane_host::config::Config;
use sealane_identity::ContactCard;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Words of the file.
#[rustfmt::skip] // Words side by side.
pub const WORDS: &[&str] = &[
    "[parties.a]\n", "[limits]\n", "timeout_s = 30\n", "wait_s = 600\n", "network = \"lan\"\n", "helpers = [\"a\"]\n",
    "me = \"a\"\n", "address = \"a:1\"\n", "key = \"ed25519:", "identity = \"k\"\n",
    "protocol = \"trio\"\n", "listen = \"[::]:1\"\n", "runs = \"runs\"\n", "[", "{", "'''", "\"\"\"",
    "1e999", "nan", "inf", "\u{e9}", "\\u0000",
];

/// Words of cards.
#[rustfmt::skip] // Words side by side.
pub const CARD: &[&str] = &["sealane:", "@", "/", "ed25519:", "[::1]:7700", ":0", "\n> ", "\u{200b}"];

/// Reads a card; it has one text, in any wrapping by a mail program.
pub fn card(bytes: &[u8]) -> Verdict {
    let card: ContactCard = str::from_utf8(bytes).ok()?.parse().ok()?;
    let text = card.to_string();
    assert_eq!(text.parse().as_ref(), Ok(&card));
    let lines = text.as_bytes().chunks(40);
    let lines: Vec<&str> = lines
        .map(|line| str::from_utf8(line).expect("ASCII"))
        .collect();
    let wrapped = format!("> <{}>\r\n", lines.join("\r\n> "));
    assert_eq!(wrapped.parse().as_ref(), Ok(&card));
    let again = ContactCard::new(card.name(), card.address(), card.key());
    assert_eq!(again.as_ref(), Ok(&card));
    let cut_off = text[..text.len() - 1].parse::<ContactCard>();
    assert!(cut_off.is_err(), "what is cut off is found");
    Some(Accepted)
}

/// Reads a configuration.
pub fn config(bytes: &[u8]) -> Verdict {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sealane.toml");
    fs::write(&path, bytes).expect("a file that can be written");
    let config = match Config::load(&path) {
        Ok(config) => config,
        Err(error) => {
            if let (Some(span), Ok(text)) = (&error.finding().span, str::from_utf8(bytes)) {
                place(text, span.line as usize, span.column as usize);
            }
            return None;
        }
    };
    let known = |name: &String| config.parties.contains_key(name);
    let mut names = config.me.iter().chain(config.helpers.iter().flatten());
    assert!(names.all(known));
    let bounds = Duration::from_millis(100)..=Duration::from_secs(86_400);
    let mut durations = [config.timeout, config.wait].into_iter().flatten();
    assert!(durations.all(|duration| bounds.contains(&duration)));
    let text = written(&config);
    let plain = folder.path().join("plain.toml");
    fs::write(&plain, &text).expect("a file that can be written");
    let again = Config::load(&plain).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(written(&again), text);
    Some(Accepted)
}

/// Writes a configuration in the simplest form.
fn written(config: &Config) -> String {
    let mut text = String::new();
    let path = |path: &Path| quoted(&path.to_string_lossy());
    let list = |names: &Vec<String>| {
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        format!("[{}]", names.join(", "))
    };
    let protocol = config.protocol.map(|protocol| protocol.to_string());
    lines(
        &mut text,
        &[
            ("me", config.me.as_deref().map(quoted)),
            ("identity", config.identity.as_deref().map(path)),
            ("protocol", protocol.as_deref().map(quoted)),
            ("runs", config.runs.as_deref().map(path)),
            (
                "network",
                config.network.map(|network| quoted(&network.to_string())),
            ),
            ("helpers", config.helpers.as_ref().map(list)),
        ],
    );
    // The table of parties is required even without parties.
    text += "[parties]\n";
    for (name, party) in &config.parties {
        text += &format!("[parties.{}]\n", quoted(name));
        lines(
            &mut text,
            &[
                ("address", Some(quoted(&party.address))),
                ("listen", party.listen.as_deref().map(quoted)),
                ("key", Some(quoted(&party.key.to_string()))),
                ("identity", party.identity.as_deref().map(path)),
            ],
        );
    }
    text += "[limits]\n";
    let seconds = |time: Duration| format!("{:?}", time.as_secs_f64());
    lines(
        &mut text,
        &[
            ("timeout_s", config.timeout.map(seconds)),
            ("wait_s", config.wait.map(seconds)),
        ],
    );
    text
}

/// Writes keys that have values.
fn lines(text: &mut String, lines: &[(&str, Option<String>)]) {
    for (key, value) in lines {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = {value}");
        }
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
