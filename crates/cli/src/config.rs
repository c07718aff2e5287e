//! The configuration file of a run: who is where, and which key each party has.
//!
//! ```toml
//! me = "hospital"                    # the party that reads this file
//! identity = "hospital.key"          # its private key, beside this file
//! network = "lan"                    # or "wan"; the class that the approved job declares
//! protocol = "yao"                   # how the parties compute
//! helpers = ["ada"]                  # parties beside those of the program, in order
//! runs = "runs"                      # where the folders of runs go
//!
//! [parties.hospital]
//! address = "10.0.0.1:7700"
//! key = "ed25519:..."
//!
//! [parties.lab]
//! address = "lab.example:7700"
//! key = "ed25519:..."
//!
//! [limits]
//! timeout_s = 30                     # longest silence of a party
//! ```
//!
//! The same file serves all parties if each names itself and its `identity` on the command line, or
//! the latter inside of its own table. Unknown keys are refused, so that a misspelt one is not silently ignored.

use sealane_engine::ProtocolName;
use sealane_net::{NetworkClass, PublicKey};
use sealane_program::diagnostic::{Diagnostic, Span};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;

/// A configuration, read and checked.
pub struct Config {
    /// The parties by name.
    pub parties: BTreeMap<String, Party>,
    /// The party that reads this file, if it says so.
    pub me: Option<String>,
    /// The private key of that party, if the file names one for all.
    pub identity: Option<PathBuf>,
    /// How the parties compute, if the file says so.
    pub protocol: Option<ProtocolName>,
    /// The folder in which runs leave theirs, if the file names one.
    pub runs: Option<PathBuf>,
    /// Declared class of the network, if the file states one.
    pub network: Option<NetworkClass>,
    /// Parties beside those of the program, if the file states any.
    pub helpers: Option<Vec<String>>,
    /// Longest silence of a party before a run ends.
    pub timeout: Option<Duration>,
}

/// One party.
pub struct Party {
    /// `host:port`, as the others reach it.
    pub address: String,
    /// `host:port` at which it listens itself, if that is another.
    pub listen: Option<String>,
    /// The key that it must prove to hold.
    pub key: PublicKey,
    /// Its private key, at the party itself.
    pub identity: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    parties: Spanned<BTreeMap<Spanned<String>, PartyTable>>,
    me: Option<Spanned<String>>,
    identity: Option<PathBuf>,
    network: Option<Spanned<String>>,
    protocol: Option<Spanned<String>>,
    runs: Option<PathBuf>,
    helpers: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    limits: LimitsTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartyTable {
    address: Spanned<String>,
    listen: Option<Spanned<String>>,
    key: Spanned<String>,
    identity: Option<PathBuf>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    timeout_s: Option<Spanned<f64>>,
}

impl Config {
    /// Reads the file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// With line and column, where the text is wrong.
    pub fn load(path: &Path) -> Result<Config, Diagnostic> {
        let text = std::fs::read_to_string(path).map_err(|error| Diagnostic {
            code: "config-unreadable",
            message: format!("cannot read the configuration {}", path.display()),
            span: None,
            reason: error.to_string(),
            hint: "name the file with `--config`; docs/running.md shows one".to_string(),
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Source { path, text: &text }.parse(&folder)
    }
}

/// The text of a file, for errors that show it.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn parse(&self, folder: &Path) -> Result<Config, Diagnostic> {
        let file: File = toml::from_str(self.text).map_err(|error| {
            let message = error
                .message()
                .lines()
                .next()
                .unwrap_or("malformed")
                .to_string();
            let hint = "see the keys that docs/running.md shows";
            self.refuse("config-syntax", message, error.span(), hint)
        })?;
        let mut parties = BTreeMap::new();
        for (name, table) in file.parties.into_inner() {
            let identity = table.identity.clone().or_else(|| file.identity.clone());
            let party = self.party(&table, identity.map(|path| folder.join(path)))?;
            parties.insert(name.into_inner(), party);
        }
        let me = file.me.map(|name| self.me(name, &parties)).transpose()?;
        let helpers = file.helpers.map(|names| self.helpers(names, &parties));
        Ok(Config {
            parties,
            me,
            identity: file.identity.map(|path| folder.join(path)),
            protocol: self.protocol(file.protocol)?,
            runs: file.runs.map(|path| folder.join(path)),
            network: self.network(file.network)?,
            helpers: helpers.transpose()?,
            timeout: self.timeout(file.limits.timeout_s)?,
        })
    }

    fn party(&self, table: &PartyTable, identity: Option<PathBuf>) -> Result<Party, Diagnostic> {
        let address = self.address(&table.address)?;
        let listen = table
            .listen
            .as_ref()
            .map(|address| self.address(address))
            .transpose()?;
        let key = table.key.get_ref().parse().map_err(|_| {
            let message = "this is not a public key".to_string();
            let hint = "paste the line that `sealane keygen` printed at that party";
            self.refuse("config-key", message, Some(table.key.span()), hint)
        })?;
        Ok(Party {
            address,
            listen,
            key,
            identity,
        })
    }

    fn address(&self, address: &Spanned<String>) -> Result<String, Diagnostic> {
        let text = address.get_ref();
        let port = text
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none_or(|port| port == 0) {
            let message = format!("`{text}` is not an address");
            let hint = "write `host:port`, such as `lab.example:7700` or `[::1]:7700`";
            return Err(self.refuse("config-address", message, Some(address.span()), hint));
        }
        Ok(text.clone())
    }

    fn network(
        &self,
        network: Option<Spanned<String>>,
    ) -> Result<Option<NetworkClass>, Diagnostic> {
        let Some(network) = network else {
            return Ok(None);
        };
        match network.get_ref().as_str() {
            "lan" => Ok(Some(NetworkClass::Lan)),
            "wan" => Ok(Some(NetworkClass::Wan)),
            other => {
                let message = format!("there is no network class `{other}`");
                let hint = "write \"lan\" or \"wan\"";
                Err(self.refuse("config-network", message, Some(network.span()), hint))
            }
        }
    }

    fn protocol(
        &self,
        protocol: Option<Spanned<String>>,
    ) -> Result<Option<ProtocolName>, Diagnostic> {
        let Some(protocol) = protocol else {
            return Ok(None);
        };
        protocol.get_ref().parse().map(Some).map_err(|_| {
            let message = format!("there is no protocol `{}`", protocol.get_ref());
            let known = ProtocolName::ALL.map(|known| format!("\"{known}\""));
            let hint = format!("write one of {}", known.join(", "));
            self.refuse("config-protocol", message, Some(protocol.span()), &hint)
        })
    }

    /// The reader of the file, who has a table in it.
    fn me(
        &self,
        name: Spanned<String>,
        parties: &BTreeMap<String, Party>,
    ) -> Result<String, Diagnostic> {
        if parties.contains_key(name.get_ref()) {
            return Ok(name.into_inner());
        }
        let message = format!("`me` is `{}`, which has no table", name.get_ref());
        let known = parties.keys().map(String::as_str).collect::<Vec<_>>();
        let hint = format!("name one of the parties: {}", known.join(", "));
        Err(self.refuse("config-me", message, Some(name.span()), &hint))
    }

    /// Helpers by name, each with a table: a misspelt one is shown where it stands.
    fn helpers(
        &self,
        names: Vec<Spanned<String>>,
        parties: &BTreeMap<String, Party>,
    ) -> Result<Vec<String>, Diagnostic> {
        let known = |name: Spanned<String>| {
            if parties.contains_key(name.get_ref()) {
                return Ok(name.into_inner());
            }
            let message = format!("the helper `{}` has no table", name.get_ref());
            let hint = "add one with its address and key under `[parties.NAME]`, or mend the name";
            Err(self.refuse("config-helper", message, Some(name.span()), hint))
        };
        names.into_iter().map(known).collect()
    }

    fn timeout(&self, timeout_s: Option<Spanned<f64>>) -> Result<Option<Duration>, Diagnostic> {
        let Some(timeout_s) = timeout_s else {
            return Ok(None);
        };
        let bounds = 0.1..=86_400.0;
        if !bounds.contains(timeout_s.get_ref()) {
            let message = "the time-out is not between 0.1 seconds and a day".to_string();
            let hint = "write a number of seconds, such as `timeout_s = 30`";
            return Err(self.refuse("config-timeout", message, Some(timeout_s.span()), hint));
        }
        Ok(Some(Duration::from_secs_f64(timeout_s.into_inner())))
    }

    fn refuse(
        &self,
        code: &'static str,
        message: String,
        at: Option<Range<usize>>,
        hint: &str,
    ) -> Diagnostic {
        let span = at.map(|range| self.span(range));
        Diagnostic {
            code,
            message,
            span,
            reason: String::new(),
            hint: hint.to_string(),
        }
    }

    /// The place of a range of bytes, cut to its first line.
    fn span(&self, range: Range<usize>) -> Span {
        let start = range.start.min(self.text.len());
        let line_start = self.text[..start]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let line = self.text[line_start..].split('\n').next().unwrap_or("");
        let end = range.end.clamp(start, line_start + line.len());
        let column = self.text[line_start..start].chars().count() as u32 + 1;
        Span {
            file: self.path.display().to_string(),
            line: self.text[..start].matches('\n').count() as u32 + 1,
            column,
            end_column: column + (self.text[start..end].chars().count() as u32).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    fn parse(text: &str) -> Result<Config, Diagnostic> {
        Source {
            path: Path::new("sealane.toml"),
            text,
        }
        .parse(Path::new("folder"))
    }

    fn party(name: &str, address: &str) -> String {
        format!("[parties.{name}]\naddress = \"{address}\"\nkey = \"{KEY}\"\n")
    }

    /// Code, line, column and end of the error in a text.
    fn refused(text: &str) -> (&'static str, u32, u32, u32) {
        let error = parse(text).err().expect("the text is wrong");
        let span = error.span.expect("a place is known");
        (error.code, span.line, span.column, span.end_column)
    }

    #[test]
    fn a_whole_file_is_read() {
        let text = format!(
            "network = \"wan\"\nidentity = \"me.key\"\n{}{}identity = \"/keys/lab\"\n\
             [limits]\ntimeout_s = 2.5\n",
            party("hospital", "[::1]:7700"),
            party("lab", "lab.example:7701"),
        );
        let config = parse(&text).unwrap();
        assert_eq!(
            config.parties["hospital"].identity.as_deref(),
            Some(Path::new("folder/me.key"))
        );
        assert_eq!(
            config.parties["lab"].identity.as_deref(),
            Some(Path::new("/keys/lab"))
        );
        assert_eq!(config.parties["lab"].address, "lab.example:7701");
        assert_eq!(config.parties["lab"].key.to_string(), KEY);
        assert_eq!(config.network, Some(NetworkClass::Wan));
        assert_eq!(config.timeout, Some(Duration::from_millis(2500)));
    }

    #[test]
    fn helpers_are_read_in_their_order() {
        let tables = [
            party("lab", "lab:1"),
            party("ada", "ada:1"),
            party("cyd", "cyd:1"),
        ]
        .concat();
        let helpers = |line: &str| parse(&format!("{line}\n{tables}")).unwrap().helpers;
        let named = ["cyd", "ada"].map(String::from).to_vec();
        assert_eq!(helpers("helpers = [\"cyd\", \"ada\"]"), Some(named));
        assert_eq!(helpers("helpers = []"), Some(vec![]));
        assert_eq!(helpers(""), None);
        let wrong = format!("helpers = [\"ada\", \"cid\"]\n{tables}");
        assert_eq!(refused(&wrong), ("config-helper", 1, 19, 24));
    }

    #[test]
    fn errors_name_line_and_column() {
        let good = party("lab", "lab.example:7701");
        assert_eq!(refused(&party("lab", "lab")), ("config-address", 2, 11, 16));
        assert_eq!(
            refused(&party("lab", "lab:0")),
            ("config-address", 2, 11, 18)
        );
        // Columns count characters, not bytes.
        let text = "parties.lab = { address = \"é:1\", key = \"ed25519:00\" }\n";
        assert_eq!(refused(text), ("config-key", 1, 40, 52));
        assert_eq!(
            refused(&format!("network = \"man\"\n{good}")),
            ("config-network", 1, 11, 16)
        );
        let text = format!("{good}[limits]\ntimeout_s = 0\n");
        assert_eq!(refused(&text), ("config-timeout", 5, 13, 14));
    }

    #[test]
    fn unknown_and_missing_keys_are_refused() {
        let text = format!("{}adress = \"b\"\n", party("lab", "lab:1"));
        let error = parse(&text).err().unwrap();
        assert_eq!(
            (error.code, error.span.as_ref().unwrap().line),
            ("config-syntax", 4)
        );
        assert!(error.message.contains("adress"), "{}", error.message);
        let error = parse("[parties.lab]\naddress = \"a:1\"\n").err().unwrap();
        assert!(error.message.contains("key"), "{}", error.message);
        assert!(parse("").err().unwrap().message.contains("parties"));
    }
}
