//! Parser of the text of a configuration; errors name the place.

use super::{Config, Party};
use sealane_diagnostic::{Code, Diagnostic, Span};
use sealane_engine::{Asked, ProtocolChoice, ProtocolName};
use sealane_identity::host_and_port;
use sealane_parties::NetworkClass;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;

/// Keys above all tables.
const TOP_LEVEL: [&str; 7] = [
    "me", "identity", "network", "protocol", "security", "helpers", "runs",
];

/// Name of the folder of pools.
const POOLS: &str = "pools";

/// Bounds of each time, in seconds.
pub(super) const TIMES_S: RangeInclusive<f64> = 0.1..=86_400.0;

/// Parses and checks the text of the file at `path`.
pub(super) fn config(path: &Path, text: &str) -> Result<Config, Diagnostic> {
    let folder = path.parent().unwrap_or(Path::new(""));
    ConfigText { path, text }.parse(folder)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    parties: Spanned<BTreeMap<Spanned<String>, PartyTable>>,
    me: Option<Spanned<String>>,
    identity: Option<PathBuf>,
    network: Option<Spanned<String>>,
    protocol: Option<Spanned<String>>,
    security: Option<Spanned<String>>,
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
    pool_port: Option<NonZero<u16>>,
    key: Spanned<String>,
    identity: Option<PathBuf>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    timeout_s: Option<Spanned<f64>>,
    wait_s: Option<Spanned<f64>>,
    patience_s: Option<Spanned<f64>>,
}

/// Text of a configuration with its path, for errors that quote it.
struct ConfigText<'a> {
    path: &'a Path,
    text: &'a str,
}

/// The parties of a configuration by their names.
type Parties = BTreeMap<String, Party>;

/// A statement of a configuration, or none.
type Stated<T> = Result<Option<T>, Diagnostic>;

impl ConfigText<'_> {
    fn parse(&self, folder: &Path) -> Result<Config, Diagnostic> {
        let file: File = toml::from_str(self.text).map_err(|error| {
            let message = error.message().lines().next().unwrap_or("malformed");
            let span = error.span();
            let hint = self.misplaced(span.as_ref());
            let known = "the keys that there are stand in docs/reference/configuration.md";
            let hint = hint.as_deref().unwrap_or(known);
            self.refuse(Code::ConfigSyntax, message, span, hint)
        })?;
        let tables = file.parties.into_inner();
        self.refuse_doubles("key", &tables, |table| &table.key)?;
        self.refuse_doubles("address", &tables, |table| &table.address)?;
        let mut parties = BTreeMap::new();
        for (name, table) in tables {
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
            security: self.security(file.security)?,
            runs: file.runs.map(|path| folder.join(path)),
            pools: folder.join(POOLS),
            network: self.network(file.network)?,
            helpers: helpers.transpose()?,
            timeout: self.duration("timeout_s", file.limits.timeout_s)?,
            wait: self.duration("wait_s", file.limits.wait_s)?,
            patience: self.duration("patience_s", file.limits.patience_s)?,
        })
    }

    /// Returns a hint for a key in a table that belongs above all tables.
    fn misplaced(&self, span: Option<&Range<usize>>) -> Option<String> {
        let span = span?;
        let key = self.text.get(span.clone())?.trim();
        let above = self.text.get(..span.start)?;
        let mut lines = above.lines().map(str::trim_start);
        let first = lines.find(|line| line.starts_with('['))?;
        TOP_LEVEL.contains(&key).then(|| {
            format!("`{key}` belongs to the whole file: write it above the first table, `{first}`")
        })
    }

    /// Refuses a value that two parties share, at the second of them.
    fn refuse_doubles(
        &self,
        what: &str,
        tables: &BTreeMap<Spanned<String>, PartyTable>,
        of: impl Fn(&PartyTable) -> &Spanned<String>,
    ) -> Result<(), Diagnostic> {
        let mut in_order = tables.iter().collect::<Vec<_>>();
        in_order.sort_by_key(|(_, table)| of(table).span().start);
        let mut seen = BTreeMap::new();
        for (name, table) in in_order {
            let value = of(table);
            let text = value.get_ref().trim().to_ascii_lowercase();
            if let Some(first) = seen.insert(text, name.get_ref()) {
                let message = format!("this {what} is also that of `{first}`");
                let hint = "each party has its own; paste its card with `sealane peer add` again";
                return Err(self.refuse(Code::ConfigDouble, message, value.span(), hint));
            }
        }
        Ok(())
    }

    fn party(&self, table: &PartyTable, identity: Option<PathBuf>) -> Result<Party, Diagnostic> {
        let address = self.address(&table.address)?;
        let listen = table.listen.as_ref().map(|address| self.address(address));
        let key = table.key.get_ref().parse().map_err(|_| {
            let message = "this is not a public key";
            let hint = "ask that party for its card, `sealane card`, and use `sealane peer add`";
            self.refuse(Code::ConfigKey, message, table.key.span(), hint)
        })?;
        let (listen, pool_port) = (listen.transpose()?, table.pool_port);
        Ok(Party {
            address,
            listen,
            pool_port,
            key,
            identity,
        })
    }

    fn address(&self, address: &Spanned<String>) -> Result<String, Diagnostic> {
        let text = address.get_ref();
        if host_and_port(text).is_none() {
            let message = format!("`{text}` is not an address");
            let hint = "write `host:port`, such as `lab.example:7700` or `[::1]:7700`";
            return Err(self.refuse(Code::ConfigAddress, message, address.span(), hint));
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
        let refuse = |hint| {
            let message = format!("there is no network class `{}`", network.get_ref());
            self.refuse(Code::ConfigNetwork, message, Some(network.span()), hint)
        };
        network.get_ref().parse().map(Some).map_err(refuse)
    }

    fn protocol(&self, protocol: Option<Spanned<String>>) -> Stated<ProtocolChoice> {
        let Some(protocol) = protocol else {
            return Ok(None);
        };
        protocol.get_ref().parse().map(Some).map_err(|_| {
            let message = format!("there is no protocol `{}`", protocol.get_ref());
            let known = ProtocolName::ALL.map(|known| format!("\"{known}\""));
            let hint = format!("write \"auto\" or one of {}", known.join(", "));
            self.refuse(Code::ConfigProtocol, message, protocol.span(), &hint)
        })
    }

    fn security(&self, security: Option<Spanned<String>>) -> Stated<Asked> {
        let Some(security) = security else {
            return Ok(None);
        };
        let name = security.get_ref();
        let adversary = name.parse().map_err(|hint| {
            let message = format!("there is no security `{name}`");
            self.refuse(Code::ConfigSyntax, message, security.span(), hint)
        })?;
        let place = Some(self.span(security.span()));
        Ok(Some(Asked { adversary, place }))
    }

    /// Checks the reader of the file, which needs a table in it.
    fn me(&self, name: Spanned<String>, parties: &Parties) -> Result<String, Diagnostic> {
        if parties.contains_key(name.get_ref()) {
            return Ok(name.into_inner());
        }
        let message = format!("`me` is `{}`, which has no table", name.get_ref());
        let known = parties.keys().map(String::as_str).collect::<Vec<_>>();
        let hint = format!("name one of the parties: {}", known.join(", "));
        Err(self.refuse(Code::ConfigMe, message, name.span(), &hint))
    }

    /// Checks the helpers, each of which needs a table; a misspelt name is shown at its place.
    fn helpers(
        &self,
        names: Vec<Spanned<String>>,
        parties: &Parties,
    ) -> Result<Vec<String>, Diagnostic> {
        let known = |name: Spanned<String>| {
            if parties.contains_key(name.get_ref()) {
                return Ok(name.into_inner());
            }
            let message = format!("the helper `{}` has no table", name.get_ref());
            let hint = "add one with its address and key under `[parties.NAME]`, or mend the name";
            Err(self.refuse(Code::ConfigHelper, message, name.span(), hint))
        };
        names.into_iter().map(known).collect()
    }

    fn duration(&self, key: &str, seconds: Option<Spanned<f64>>) -> Stated<Duration> {
        let Some(seconds) = seconds else {
            return Ok(None);
        };
        if !TIMES_S.contains(seconds.get_ref()) {
            let message = format!("`{key}` is not between 0.1 seconds and a day");
            let hint = format!("write a number of seconds, such as `{key} = 30`");
            return Err(self.refuse(Code::ConfigTimeout, message, seconds.span(), &hint));
        }
        Ok(Some(Duration::from_secs_f64(seconds.into_inner())))
    }

    fn refuse(
        &self,
        code: Code,
        message: impl Into<String>,
        at: impl Into<Option<Range<usize>>>,
        hint: &str,
    ) -> Diagnostic {
        let span = at.into().map(|range| self.span(range));
        Diagnostic::new(code, message).at(span.as_ref()).hint(hint)
    }

    /// Converts a range of bytes, cut to its first line.
    fn span(&self, range: Range<usize>) -> Span {
        let start = range.start.min(self.text.len());
        let newline = self.text[..start].rfind('\n');
        let line_start = newline.map_or(0, |newline| newline + 1);
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
    use sealane_engine::Adversary;

    fn parse(text: &str) -> Result<Config, Diagnostic> {
        config(Path::new("folder/sealane.toml"), text)
    }

    /// Key of a party, derived from its name.
    fn key(name: &str) -> String {
        let digits = hex::encode(name);
        format!("ed25519:{digits:0>64}")
    }

    fn party(name: &str, address: &str) -> String {
        let key = key(name);
        format!("[parties.{name}]\naddress = \"{address}\"\nkey = \"{key}\"\n")
    }

    /// Code, line, column and end of the error in a text.
    fn refused(text: &str) -> (&'static str, u32, u32, u32) {
        let error = parse(text).err().expect("the text is wrong");
        let span = error.span.expect("a place is known");
        (error.code.name(), span.line, span.column, span.end_column)
    }

    #[test]
    fn a_port_of_pools_takes_the_place_of_that_of_runs() {
        let table = party("lab", "[::1]:7700");
        let with = |more: &str| parse(&format!("{table}{more}"));
        let party = |more: &str| with(more).unwrap().parties["lab"].for_pools();
        assert_eq!(party(""), ("[::1]:7700".to_string(), None));
        assert_eq!(party("pool_port = 7701"), ("[::1]:7701".to_string(), None));
        let listen = "listen = \"0.0.0.0:80\"\npool_port = 7701";
        let inside = Some("0.0.0.0:7701".to_string());
        assert_eq!(party(listen), ("[::1]:7701".to_string(), inside));
        for port in ["0", "65536", "\"7701\""] {
            let refused = with(&format!("pool_port = {port}")).err().unwrap();
            assert_eq!(refused.code, Code::ConfigSyntax);
        }
    }

    #[test]
    fn a_whole_file_is_read() {
        let text = format!(
            "me = \"lab\"\nnetwork = \"wan\"\nidentity = \"me.key\"\nprotocol = \"trio\"\n\
             security = \"malicious\"\nruns = \"past\"\n{}{}identity = \"/keys/lab\"\n\
             [limits]\ntimeout_s = 2.5\nwait_s = 600\npatience_s = 90\n",
            party("hospital", "[::1]:7700"),
            party("lab", "lab.example:7701"),
        );
        let config = parse(&text).unwrap();
        for (name, file) in [("hospital", "folder/me.key"), ("lab", "/keys/lab")] {
            let identity = config.parties[name].identity.as_deref();
            assert_eq!(identity, Some(Path::new(file)), "{name}");
        }
        assert_eq!(config.parties["lab"].address, "lab.example:7701");
        assert_eq!(config.parties["lab"].key.to_string(), key("lab"));
        assert_eq!(config.me.as_deref(), Some("lab"));
        assert_eq!(config.network, Some(NetworkClass::WAN));
        let trio = ProtocolChoice::Named(ProtocolName::Trio);
        assert_eq!(config.protocol, Some(trio));
        let asked = config.security.expect("it is asked");
        assert_eq!(asked.adversary, Adversary::Malicious);
        let place = Span::new("folder/sealane.toml".to_string(), 5, 12, 23);
        assert_eq!(asked.place, Some(place));
        assert_eq!(config.runs.as_deref(), Some(Path::new("folder/past")));
        assert_eq!(config.patience, Some(Duration::from_secs(90)));
        assert_eq!(config.timeout, Some(Duration::from_millis(2500)));
        assert_eq!(config.wait, Some(Duration::from_secs(600)));
    }

    #[test]
    fn helpers_are_read_in_their_order() {
        let tables = ["lab", "ada", "cyd"].map(|name| party(name, &format!("{name}:1")));
        let tables = tables.concat();
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
        let above = |line: &str| format!("{line}\n{good}");
        // Columns count characters, not bytes.
        let bad_key = "parties.\"é\" = { address = \"e:1\", key = \"ed25519:00\" }\n";
        for (text, place) in [
            (party("lab", "lab"), ("config-address", 2, 11, 16)),
            (party("lab", "lab:0"), ("config-address", 2, 11, 18)),
            (bad_key.to_string(), ("config-key", 1, 40, 52)),
            (above("network = \"man\""), ("config-network", 1, 11, 16)),
            (above("me = \"ada\""), ("config-me", 1, 6, 11)),
            (above("protocol = \"yo\""), ("config-protocol", 1, 12, 16)),
            (above("security = \"high\""), ("config-syntax", 1, 12, 18)),
            (
                format!("{good}[limits]\ntimeout_s = 0\n"),
                ("config-timeout", 5, 13, 14),
            ),
        ] {
            assert_eq!(refused(&text), place);
        }
        let declared = parse(&above("network = \"18ms/95Mbps\"")).unwrap();
        assert_eq!(declared.network, "20ms/100Mbps".parse().ok());
    }

    #[test]
    fn what_two_parties_share_is_refused_at_the_second() {
        let (zoe, ada) = (party("zoe", "z:1"), party("ada", "a:1"));
        assert!(parse(&format!("{zoe}{ada}")).is_ok());
        let shared = ada.replace(&key("ada"), &key("zoe"));
        let error = parse(&format!("{zoe}{shared}")).err().unwrap();
        assert_eq!(error.message, "this key is also that of `zoe`");
        let place = ("config-double", 6, 7, 7 + 2 + 72);
        assert_eq!(refused(&format!("{zoe}{shared}")), place);
        let shared = ada.replace("a:1", "Z:1");
        let place = ("config-double", 5, 11, 16);
        assert_eq!(refused(&format!("{zoe}{shared}")), place);
    }

    #[test]
    fn a_key_that_belongs_above_the_tables_is_reported_so() {
        for key in TOP_LEVEL.into_iter().filter(|key| *key != "identity") {
            let text = format!("# Who.\n{}{key} = \"x\"\n", party("lab", "lab:1"));
            let error = parse(&text).err().unwrap();
            assert_eq!(error.span.unwrap().line, 5);
            let place = "write it above the first table, `[parties.lab]`";
            assert_eq!(
                error.hint,
                format!("`{key}` belongs to the whole file: {place}")
            );
        }
        let text = "[limits]\nidentity = \"x\"\n".to_string() + &party("lab", "lab:1");
        let error = parse(&text).err().unwrap();
        assert!(error.hint.contains("above the first table, `[limits]`"));
    }

    #[test]
    fn unknown_and_missing_keys_are_refused() {
        let text = format!("{}adress = \"b\"\n", party("lab", "lab:1"));
        let error = parse(&text).err().unwrap();
        assert_eq!(error.code, Code::ConfigSyntax);
        assert_eq!(error.span.as_ref().unwrap().line, 4);
        assert!(error.message.contains("adress"), "{}", error.message);
        let error = parse("[parties.lab]\naddress = \"a:1\"\n").err().unwrap();
        assert!(error.message.contains("key"), "{}", error.message);
        assert!(parse("").err().unwrap().message.contains("parties"));
    }
}
