//! Changes of a configuration that preserve its comments and its order.
//!
//! A change is made on the text. The new text is parsed like any other before it replaces the old
//! one atomically, so an invalid text is never written.

use super::{Config, Party, read, text};
use crate::Failure;
use sealane_diagnostic::Code;
use sealane_files::Rights;
use sealane_identity::{ContactCard, PublicKey};
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

/// Editor of a configuration.
pub struct Editor {
    path: PathBuf,
    document: DocumentMut,
    config: Config,
}

/// Effect of a card on a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The party is pinned already as the card states.
    Nothing,
    /// The party was not known.
    Added,
    /// The party was known, and has another address than the given one now.
    Moved(String),
    /// The party was known, and has another key than before, and perhaps another address.
    Replaced,
}

impl Editor {
    /// Reads the file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn open(path: &Path) -> Result<Editor, Failure> {
        let text = text(path)?;
        let config = read::config(path, &text)?;
        let document = text.parse::<DocumentMut>().map_err(|error| {
            let what = format!("{} cannot be changed", path.display());
            let hint = "mend what is wrong with it, and try again";
            Failure::new(Code::ConfigEdit, what, hint).because(error.message())
        })?;
        let path = path.to_path_buf();
        Ok(Editor {
            path,
            document,
            config,
        })
    }

    /// The configuration as it stands.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Pins the party of a card under a name, which may differ from the one in the card.
    ///
    /// Another key is pinned under this name and must not be replaced; the card is of a party with
    /// another name, or of this party with other values; or the file cannot be written.
    pub fn pin(mut self, name: &str, card: &ContactCard, replace: bool) -> Result<Change, Failure> {
        self.refuse_another_name(name, card)?;
        self.refuse_own_name(name, card)?;
        let change = match self.config.parties.get(name) {
            None => Change::Added,
            Some(known) if known.key != card.key() && replace => Change::Replaced,
            Some(known) if known.key != card.key() => return Err(other_key(name, known, card)),
            Some(known) if known.address == card.address() => return Ok(Change::Nothing),
            Some(known) => Change::Moved(known.address.clone()),
        };
        let parties = parties(&mut self.document);
        let entry = parties.entry(name).or_insert(Item::Table(Table::new()));
        if let Some(entry) = entry.as_table_like_mut() {
            set(entry, "address", card.address());
            set(entry, "key", &card.key().to_string());
        }
        self.write().map(|()| change)
    }

    /// Removes the party of this name.
    ///
    /// # Errors
    /// There is no such party, or the file needs it: as the party that reads it, or as a helper.
    pub fn remove(mut self, name: &str) -> Result<(), Failure> {
        if !self.config.parties.contains_key(name) {
            let what = format!("the configuration has no party `{name}`");
            let known = self.config.parties.keys().map(String::as_str);
            let hint = format!("it has: {}", known.collect::<Vec<_>>().join(", "));
            return Err(Failure::new(Code::PeerUnknown, what, hint));
        }
        let mut helpers = self.config.helpers.iter().flatten();
        let needed = match self.config.me.as_deref() {
            Some(me) if me == name => Some("me"),
            _ => helpers.any(|helper| helper == name).then_some("helpers"),
        };
        if let Some(key) = needed {
            let what = format!("`{name}` cannot be removed: `{key}` names it");
            let hint = format!("take it out of `{key}` in {} first", self.path.display());
            return Err(Failure::new(Code::PeerInUse, what, hint));
        }
        parties(&mut self.document).remove(name);
        self.write()
    }

    /// Refuses a card whose key or address is pinned under another name.
    fn refuse_another_name(&self, name: &str, card: &ContactCard) -> Result<(), Failure> {
        let parties = self.config.parties.iter();
        for (other, party) in parties.filter(|(other, _)| *other != name) {
            let what = match (party.key == card.key(), party.address == card.address()) {
                (true, _) => format!("this key is pinned for `{other}` already"),
                (_, true) => format!("`{other}` has the address {} already", card.address()),
                _ => continue,
            };
            let hint = match self.config.me.as_deref() {
                Some(me) if me == other => {
                    "this is this party's own card; paste that of the other side".to_string()
                }
                _ => format!("`sealane peer remove {other}` first, if it is the same party"),
            };
            return Err(Failure::new(Code::PeerKnown, what, hint));
        }
        Ok(())
    }

    /// Refuses to change the entry of this party: anybody can make a card with its name.
    fn refuse_own_name(&self, name: &str, card: &ContactCard) -> Result<(), Failure> {
        if self.config.me.as_deref() != Some(name) {
            return Ok(());
        }
        match self.config.parties.get(name) {
            Some(own) if own.key == card.key() && own.address == card.address() => Ok(()),
            _ => {
                let what = format!("`{name}` is this party itself, and the card says otherwise");
                let hint = "give the other side another name with `--name`; to move this party, \
                            change its address in the file";
                Err(Failure::new(Code::PeerKnown, what, hint))
            }
        }
    }

    /// Replaces the old text by the changed one.
    fn write(&self) -> Result<(), Failure> {
        let text = self.document.to_string();
        read::config(&self.path, &text)?;
        let replaced = sealane_files::replace(&self.path, Rights::AsBefore, text.as_bytes());
        replaced.map_err(|error| {
            let what = format!("cannot write {}", self.path.display());
            let hint = "see that its folder can be written to";
            Failure::new(Code::ConfigEdit, what, hint).because(error.to_string())
        })
    }
}

/// Returns the tables of the parties.
fn parties(document: &mut DocumentMut) -> &mut dyn TableLike {
    // A configuration that was parsed has them.
    let parties = document.entry("parties");
    let parties = parties
        .or_insert(Item::Table(Table::new()))
        .as_table_like_mut();
    parties.expect("what was read holds tables")
}

/// Sets a value, and preserves a comment behind the old one.
fn set(table: &mut dyn TableLike, key: &str, text: &str) {
    let mut new = value(text);
    if let (Some(old), Some(new)) = (table.get(key).and_then(Item::as_value), new.as_value_mut()) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, new);
}

/// Refusal of another key for a known name.
fn other_key(name: &str, known: &Party, card: &ContactCard) -> Failure {
    let what = format!("another key is pinned for `{name}`");
    let [pinned, shown] = [known.key, card.key()].map(PublicKey::fingerprint);
    let reason =
        format!("The fingerprint of the pinned key is {pinned}, that of this card is {shown}.");
    let hint = format!(
        "ask `{name}` over the telephone which one is its own; if it has a new key, add \
         `--replace`, and if not, somebody else made this card"
    );
    Failure::new(Code::PeerKey, what, hint).because(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_identity::Identity;
    use std::fs;

    const BEFORE: &str = "# Who we are.\nme = \"alice\"\nhelpers = [\"ada\"] # one is enough\n\n\
        # Ourselves.\n[parties.alice]\naddress = \"a:1\"\nkey = \"ALICE\"\n\n\
        [parties.ada]  # at the university\naddress = \"ada:1\" # reached by VPN\nkey = \"ADA\"\n\n\
        [limits]\ntimeout_s = 30 # long enough\n";

    struct Case {
        folder: tempfile::TempDir,
        alice: PublicKey,
        ada: PublicKey,
    }

    impl Case {
        fn new() -> Case {
            let [alice, ada] = [(); 2].map(|()| Identity::generate().public_key());
            let folder = tempfile::tempdir().unwrap();
            let case = Case { folder, alice, ada };
            fs::write(case.path(), case.keyed(BEFORE)).unwrap();
            case
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("sealane.toml")
        }

        /// Replaces capitals by keys.
        fn keyed(&self, text: &str) -> String {
            let text = text.replace("ALICE", &self.alice.to_string());
            text.replace("ADA", &self.ada.to_string())
        }

        fn pin(&self, name: &str, address: &str, key: PublicKey, replace: bool) -> Outcome {
            let card = ContactCard::new(name, address, key).unwrap();
            let editor = Editor::open(&self.path()).unwrap();
            let pinned = editor.pin(name, &card, replace);
            pinned.map_err(|failure| failure.finding().code.name())
        }

        fn remove(&self, name: &str) -> Result<(), &'static str> {
            let removed = Editor::open(&self.path()).unwrap().remove(name);
            removed.map_err(|failure| failure.finding().code.name())
        }

        fn text(&self) -> String {
            fs::read_to_string(self.path()).unwrap()
        }
    }

    type Outcome = Result<Change, &'static str>;

    #[test]
    fn a_new_party_stands_behind_the_others_and_all_else_stays() {
        let case = Case::new();
        let bob = Identity::generate().public_key();
        assert_eq!(case.pin("bob", "bob:1", bob, false), Ok(Change::Added));
        let table = format!("[parties.bob]\naddress = \"bob:1\"\nkey = \"{bob}\"\n\n[limits]");
        let expected = case.keyed(BEFORE).replace("[limits]", &table);
        assert_eq!(case.text(), expected);
        assert_eq!(case.pin("bob", "bob:1", bob, false), Ok(Change::Nothing));
        assert_eq!(case.text(), expected);
        assert_eq!(case.remove("bob"), Ok(()));
        assert_eq!(case.text(), case.keyed(BEFORE));
    }

    #[test]
    fn another_key_needs_a_word_and_another_address_none() {
        let case = Case::new();
        let new = Identity::generate().public_key();
        assert_eq!(case.pin("ada", "ada:1", new, false), Err("peer-key"));
        assert_eq!(case.text(), case.keyed(BEFORE));
        let moved = Change::Moved("ada:1".to_string());
        assert_eq!(case.pin("ada", "b:2", case.ada, false), Ok(moved));
        let expected = case.keyed(BEFORE).replace("ada:1", "b:2");
        assert_eq!(case.text(), expected);
        assert_eq!(case.pin("ada", "ada:1", new, true), Ok(Change::Replaced));
        let (old, new) = (case.ada.to_string(), new.to_string());
        assert_eq!(case.text(), case.keyed(BEFORE).replace(&old, &new));
    }

    #[test]
    fn one_party_has_one_name() {
        let case = Case::new();
        let other = Identity::generate().public_key();
        assert_eq!(case.pin("bob", "b:1", case.ada, false), Err("peer-known"));
        assert_eq!(case.pin("bob", "ada:1", other, false), Err("peer-known"));
        let card = ContactCard::new("alice", "a:1", case.alice).unwrap();
        let own = Editor::open(&case.path()).unwrap().pin("bob", &card, false);
        assert!(own.unwrap_err().finding().hint.contains("own card"));
        assert_eq!(case.text(), case.keyed(BEFORE));
    }

    #[test]
    fn who_is_needed_stays() {
        let case = Case::new();
        assert_eq!(case.remove("alice"), Err("peer-in-use"));
        assert_eq!(case.remove("ada"), Err("peer-in-use"));
        assert_eq!(case.remove("bob"), Err("peer-unknown"));
        assert_eq!(case.text(), case.keyed(BEFORE));
    }

    #[test]
    fn tables_in_one_line_are_changed_as_well() {
        let case = Case::new();
        let text = "parties.alice = { address = \"a:1\", key = \"ALICE\" }\n\
                    parties.ada = { address = \"ada:1\", key = \"ADA\" } # far\n";
        fs::write(case.path(), case.keyed(text)).unwrap();
        let bob = Identity::generate().public_key();
        assert_eq!(case.pin("bob", "bob:1", bob, false), Ok(Change::Added));
        let moved = Change::Moved("ada:1".to_string());
        assert_eq!(case.pin("ada", "b:2", case.ada, false), Ok(moved));
        let moved = case.keyed(text).replace("ada:1", "b:2");
        assert!(case.text().starts_with(&moved));
        assert_eq!(Config::load(&case.path()).unwrap().parties["bob"].key, bob);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_and_the_mode_of_the_file_stay() {
        use std::os::unix::fs::PermissionsExt;
        let case = Case::new();
        let link = case.folder.path().join("link.toml");
        std::os::unix::fs::symlink(case.path(), &link).unwrap();
        fs::set_permissions(case.path(), fs::Permissions::from_mode(0o640)).unwrap();
        let card = ContactCard::new("bob", "b:1", Identity::generate().public_key()).unwrap();
        let editor = Editor::open(&link).unwrap();
        editor.pin("bob", &card, false).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = fs::metadata(case.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(case.text().contains("[parties.bob]"));
        assert_eq!(fs::read_dir(case.folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn no_card_changes_what_this_party_says_of_itself() {
        let case = Case::new();
        let other = Identity::generate().public_key();
        let before = case.text();
        for (address, key) in [("b:2", case.alice), ("a:1", other)] {
            for replace in [false, true] {
                let pinned = case.pin("alice", address, key, replace);
                assert_eq!(pinned, Err("peer-known"));
            }
        }
        let own = case.pin("alice", "a:1", case.alice, false);
        assert_eq!(own, Ok(Change::Nothing));
        assert_eq!(case.text(), before);
    }
}
