//! Configuration file: an accepted one is complete, and has the same meaning when it is written out
//! again in the simplest form.

use sealane_fuzz_harness::{Verdict, place};
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
    let card = str::from_utf8(bytes).map(str::parse::<ContactCard>);
    let Ok(Ok(card)) = card else {
        return Verdict::Refused;
    };
    let text = card.to_string();
    assert_eq!(text.parse().as_ref(), Ok(&card));
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(40)
        .map(|line| str::from_utf8(line).expect("ASCII"))
        .collect();
    assert_eq!(
        format!("> <{}>\r\n", lines.join("\r\n> ")).parse().as_ref(),
        Ok(&card)
    );
    let again = ContactCard::new(card.name(), card.address(), card.key());
    assert_eq!(again.as_ref(), Ok(&card));
    assert!(
        text[..text.len() - 1].parse::<ContactCard>().is_err(),
        "what is cut off is found"
    );
    Verdict::Accepted
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
            return Verdict::Refused;
        }
    };
    let known = |name: &String| config.parties.contains_key(name);
    assert!(
        config
            .me
            .iter()
            .chain(config.helpers.iter().flatten())
            .all(known)
    );
    let bounds = Duration::from_millis(100)..=Duration::from_secs(86_400);
    let mut durations = [config.timeout, config.wait].into_iter().flatten();
    assert!(durations.all(|duration| bounds.contains(&duration)));
    let text = written(&config);
    let plain = folder.path().join("plain.toml");
    fs::write(&plain, &text).expect("a file that can be written");
    let again = Config::load(&plain).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(written(&again), text);
    Verdict::Accepted
}

/// Writes a configuration in the simplest form.
fn written(config: &Config) -> String {
    let mut text = String::new();
    let path = |path: &Path| quoted(&path.to_string_lossy());
    let lines = [
        ("me", config.me.as_deref().map(quoted)),
        ("identity", config.identity.as_deref().map(path)),
        (
            "protocol",
            config
                .protocol
                .map(|protocol| quoted(&protocol.to_string())),
        ),
        ("runs", config.runs.as_deref().map(path)),
        (
            "network",
            config.network.map(|network| quoted(&network.to_string())),
        ),
        (
            "helpers",
            config.helpers.as_ref().map(|names| {
                let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                format!("[{}]", names.join(", "))
            }),
        ),
    ];
    for (key, value) in lines {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = {value}");
        }
    }
    // The table of parties is required even without parties.
    text.push_str("[parties]\n");
    for (name, party) in &config.parties {
        let _ = writeln!(text, "[parties.{}]", quoted(name));
        let lines = [
            ("address", Some(quoted(&party.address))),
            ("listen", party.listen.as_deref().map(quoted)),
            ("key", Some(quoted(&party.key.to_string()))),
            ("identity", party.identity.as_deref().map(path)),
        ];
        for (key, value) in lines {
            if let Some(value) = value {
                let _ = writeln!(text, "{key} = {value}");
            }
        }
    }
    text += "[limits]\n";
    for (key, duration) in [("timeout_s", config.timeout), ("wait_s", config.wait)] {
        if let Some(duration) = duration {
            let _ = writeln!(text, "{key} = {:?}", duration.as_secs_f64());
        }
    }
    text
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
