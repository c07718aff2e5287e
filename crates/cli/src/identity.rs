//! Identity of this party, and its peers: `init`, `card`, `peer`.
//!
//! `init` makes a private key and a configuration that contains only the party itself. Parties then
//! exchange cards, each in one line of text, and pin each other's with `peer add`.

use crate::args::{CardArgs, InitArgs, PeerArgs, PeerVerb};
use sealane_diagnostic::Code;
use sealane_files::Rights;
use sealane_host::Failure;
use sealane_host::config::{Change, Config, DEFAULT_FILE, Editor};
use sealane_host::connect;
use sealane_identity::{CardError, ContactCard, Identity};
use sealane_page::Card;
use sealane_terminal::{print_card, print_line};
use serde_json::json;
use std::fs;
use std::io::{Write, stderr};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;

/// Port of a party that states none.
const DEFAULT_PORT: u16 = 7700;

/// Digits of a fingerprint.
const FINGERPRINT_DIGITS: usize = 30;

/// Makes a key and a configuration, and prints the card.
pub fn init(args: &InitArgs) -> Result<(), Failure> {
    let folder = args.folder.as_path();
    let (key_name, config) = (format!("{}.key", args.name), folder.join(DEFAULT_FILE));
    let key = folder.join(&key_name);
    let identity = Identity::generate();
    let address = args.address.clone().unwrap_or_else(outward_address);
    let card = ContactCard::new(&args.name, &address, identity.public_key()).map_err(unfit)?;
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    if let Some(there) = [&key, &config].into_iter().find(|path| path.exists()) {
        let what = format!("{} is there already, and is not replaced", there.display());
        let hint = "`sealane card` prints the card of the party in this folder; a new party gets a \
                    folder of its own, `--folder DIR`";
        return Err(Failure::new(Code::IdentityExists, what, hint));
    }
    let text = configuration(&card, &key_name);
    sealane_files::create(&config, Rights::Usual, text.as_bytes())
        .map_err(|error| cannot_write(&config, &error))?;
    identity.save(&key).map_err(|error| {
        // Without the key, the configuration would only block another try.
        let _ = fs::remove_file(&config);
        let hint = "name a folder that can be written to";
        Failure::new(Code::KeyFile, error.to_string(), hint)
    })?;
    if args.address.is_none() {
        print_note(format_args!(
            "others are told to reach this party at {address}; if they have to use another \
             address, write it into {}, and `sealane card` prints a card with it",
            config.display()
        ));
    }
    print_note(format_args!(
        "{} holds the private key, which never leaves this machine, nor goes into version control; {} says who is where\n\
         fingerprint of {}: {}\n\
         send this card to the other parties, and add theirs with `sealane peer add CARD`:",
        key.display(),
        config.display(),
        card.name(),
        card.key().fingerprint(),
    ));
    print_line(card)
}

/// Prints the card of this party once more.
pub fn card(args: &CardArgs) -> Result<(), Failure> {
    let config = Config::find(args.config.as_deref())?;
    let name = connect::own_name(args.party.as_deref(), &config, None)?;
    let own = connect::party_config(&name, &config)?;
    let card = ContactCard::new(&name, &own.address, own.key).map_err(unfit)?;
    let fingerprint = own.key.fingerprint();
    print_note(format_args!("fingerprint of {name}: {fingerprint}"));
    print_line(card)
}

/// Adds, lists or removes parties.
pub fn peer(args: &PeerArgs) -> Result<(), Failure> {
    let path = args.config.as_deref().unwrap_or(Path::new(DEFAULT_FILE));
    match &args.verb {
        PeerVerb::Add {
            card,
            name,
            replace,
            fingerprint: heard,
        } => add(
            path,
            &card.concat(),
            name.as_deref(),
            *replace,
            heard.as_deref(),
        ),
        PeerVerb::List { json } => list(path, *json),
        PeerVerb::Remove { name } => {
            Editor::open(path)?.remove(name)?;
            print_line(format!("{name} is no longer in {}", path.display()))
        }
    }
}

/// Parses the digits of a fingerprint that was read aloud, with or without spaces and dashes.
///
/// # Errors
/// They are not thirty digits. A part is refused: the chance that any twenty digits agree is 2^-43.
pub fn whole_fingerprint(text: &str) -> Result<String, String> {
    let is_gap = |c: char| c.is_whitespace() || c == '-';
    let digits: String = text.chars().filter(|c| !is_gap(*c)).collect();
    let whole = digits.chars().all(|c| c.is_ascii_digit()) && digits.len() == FINGERPRINT_DIGITS;
    let refused =
        || format!("a fingerprint has {FINGERPRINT_DIGITS} digits; ask for the whole of it");
    whole.then_some(digits).ok_or_else(refused)
}

/// Pins the party of a card; `heard` are the digits that the party read aloud, if they are known.
fn add(
    path: &Path,
    pasted: &str,
    name: Option<&str>,
    replace: bool,
    heard: Option<&str>,
) -> Result<(), Failure> {
    let card = pasted.parse::<ContactCard>().map_err(|error| {
        let hint = "copy the whole line that `sealane card` prints there, and paste it in quotes";
        Failure::new(Code::CardMalformed, error.to_string(), hint)
    })?;
    let name = name.unwrap_or(card.name());
    // Names that programs cannot use for a party are refused in the configuration too.
    ContactCard::new(name, card.address(), card.key()).map_err(unfit)?;
    let fingerprint = card.key().fingerprint();
    let agrees = heard.map(|heard| whole_fingerprint(&fingerprint).as_deref() == Ok(heard));
    if agrees == Some(false) {
        return Err(another_fingerprint(name, &fingerprint));
    }
    let editor = Editor::open(path)?;
    let config = path.display();
    let mut old = None;
    let title = match editor.pin(name, &card, replace)? {
        Change::Nothing => format!("{name} was in {config} already, like this"),
        Change::Added => format!("{name} is now in {config}"),
        Change::Moved(from) => {
            old = Some(from);
            format!("{name} has moved, as {config} now says")
        }
        Change::Replaced => format!("{name} has a new key in {config}"),
    };
    let mut shown = Card::new(title);
    shown.line("address", card.address());
    shown.lines("before", old);
    shown.line("key", card.key());
    shown.line("fingerprint", fingerprint);
    print_line(shown)?;
    match agrees {
        Some(_) => print_note(format_args!("all {FINGERPRINT_DIGITS} digits agree")),
        None => print_note(format_args!(
            "compare the fingerprint with the one that `sealane card` shows at {name}, over the \
             telephone, and all {FINGERPRINT_DIGITS} digits of it: a forgery that agrees in most \
             of them is far easier to make"
        )),
    }
    Ok(())
}

/// Refusal of a card whose key has another fingerprint than the party read aloud.
fn another_fingerprint(name: &str, fingerprint: &str) -> Failure {
    let what = format!("the key of this card is not the one whose fingerprint `{name}` told");
    let hint = format!(
        "read the digits to each other again; if they differ, somebody else made this card: let \
         `{name}` send what `sealane card` prints by another way"
    );
    Failure::new(Code::PeerFingerprint, what, hint)
        .because(format!("The fingerprint of this card is {fingerprint}."))
}

fn list(path: &Path, json: bool) -> Result<(), Failure> {
    let config = Config::load(path)?;
    // A list of all parties does not need to know which one this is.
    let me = connect::own_name(None, &config, None).ok();
    let is_helper = |name: &String| config.helpers.iter().flatten().any(|helper| helper == name);
    let note = |name: &String| match (me.as_ref() == Some(name), is_helper(name)) {
        (true, true) => "this party, a helper",
        (true, false) => "this party",
        (false, true) => "a helper",
        (false, false) => "",
    };
    let names = config.parties.keys().map(String::len).max().unwrap_or(0);
    let addresses = config.parties.values().map(|party| party.address.len());
    let addresses = addresses.max().unwrap_or(0);
    let mut card = Card::new(format!("parties in {}", path.display()));
    let mut rows = Vec::new();
    for (name, party) in &config.parties {
        let (address, fingerprint) = (&party.address, party.key.fingerprint());
        let row = format!("{name:<names$}  {address:<addresses$}  {fingerprint}  ");
        card.bare(row + note(name));
        rows.push(json!({
            "name": name,
            "address": address,
            "key": party.key.to_string(),
            "fingerprint": fingerprint,
            "me": me.as_ref() == Some(name),
            "helper": is_helper(name),
        }));
    }
    print_card(json, &card, &json!({ "parties": rows }))
}

/// Returns the address from which this machine speaks to others.
fn outward_address() -> String {
    // Connecting a datagram socket sends nothing. It only selects the route that packets to that
    // address (of a network for documentation, RFC 5737) would take.
    let outward = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
        socket.local_addr()
    });
    let host = outward.map_or(Ipv4Addr::LOCALHOST.into(), |address| address.ip());
    format!("{host}:{DEFAULT_PORT}")
}

/// Returns the first configuration of a party.
fn configuration(card: &ContactCard, key_file: &str) -> String {
    let (name, address, key) = (card.name(), card.address(), card.key());
    format!(
        "# Who this party is. What holds for the whole file stands above the first table.\n\
         me = \"{name}\"\n\
         identity = \"{key_file}\"\n\
         \n\
         # All parties of a run have to say the same here.\n\
         # network = \"lan\"\n\
         # protocol = \"yao\"\n\
         # security = \"semi-honest\"\n\
         # helpers = []\n\
         \n\
         [parties.{name}]\n\
         address = \"{address}\"\n\
         # listen = \"0.0.0.0:{DEFAULT_PORT}\"   # where others reach this party by another address\n\
         key = \"{key}\"\n"
    )
}

/// Refusal of a name or an address.
fn unfit(error: CardError) -> Failure {
    let (code, hint) = match error {
        CardError::Address(_) => (Code::ConfigAddress, "state it with `--address HOST:PORT`"),
        _ => (
            Code::PartyName,
            "use the name that the program gives this party",
        ),
    };
    Failure::new(code, error.to_string(), hint)
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("cannot write {}", path.display());
    let hint = "name a folder that can be written to";
    Failure::new(Code::ConfigEdit, what, hint).because(error.to_string())
}

/// Prints a note to standard error, apart from the output for use.
fn print_note(text: std::fmt::Arguments<'_>) {
    let _ = writeln!(stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::text;

    fn args(name: &str, folder: &Path) -> InitArgs {
        InitArgs {
            name: name.to_string(),
            address: Some("lab.example:7700".to_string()),
            folder: folder.to_path_buf(),
        }
    }

    #[test]
    fn what_init_makes_is_a_configuration_of_one_party() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("new/alice");
        init(&args("alice", &inside)).unwrap();
        let config = Config::load(&inside.join(DEFAULT_FILE)).unwrap();
        assert_eq!(connect::own_name(None, &config, None).unwrap(), "alice");
        let identity = connect::identity("alice", &config, None).unwrap();
        assert_eq!(identity.public_key(), config.parties["alice"].key);
        assert_eq!(config.parties["alice"].address, "lab.example:7700");
        assert!(config.network.is_none() && config.protocol.is_none());
        assert!(config.helpers.is_none());
    }

    #[test]
    fn a_fingerprint_that_was_told_is_compared_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        init(&args("alice", folder.path())).unwrap();
        let path = folder.path().join(DEFAULT_FILE);
        let bob = ContactCard::new("bob", "b:1", Identity::generate().public_key()).unwrap();
        let reported = bob.key().fingerprint();
        let add = |heard: &str| {
            let heard = whole_fingerprint(heard).unwrap();
            add(&path, &bob.to_string(), None, false, Some(&heard))
        };
        for place in (0..reported.len()).filter(|place| reported.as_bytes()[*place] != b' ') {
            let mut other = reported.clone().into_bytes();
            other[place] = b'0' + (other[place] - b'0' + 1) % 10;
            let other = String::from_utf8(other).unwrap();
            let code = add(&other).unwrap_err().finding().code;
            assert_eq!(code, "peer-fingerprint", "digit at {place}");
        }
        assert!(!Config::load(&path).unwrap().parties.contains_key("bob"));
        let (short, long) = (&reported[..reported.len() - 1], format!("{reported} 0"));
        for bad in ["", short, &long, &format!("{short}O")] {
            assert!(whole_fingerprint(bad).is_err(), "{bad}");
        }
        add(&reported.replace(' ', "-")).unwrap();
        assert_eq!(Config::load(&path).unwrap().parties["bob"].key, bob.key());
    }

    #[test]
    fn nothing_is_ever_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |name| init(&args(name, folder.path())).unwrap_err().finding().code;
        init(&args("alice", folder.path())).unwrap();
        let key = fs::read(folder.path().join("alice.key")).unwrap();
        for name in ["alice", "bob"] {
            assert_eq!(refused(name), Code::IdentityExists);
        }
        fs::remove_file(folder.path().join(DEFAULT_FILE)).unwrap();
        assert_eq!(refused("alice"), "identity-exists");
        assert_eq!(fs::read(folder.path().join("alice.key")).unwrap(), key);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn cards_have_the_names_that_programs_have() {
        let folder = tempfile::tempdir().unwrap();
        let long = "x".repeat(65);
        let short = ["alice", "_1", "A", "", "1a", "al ice", "é", "a-b", "a.b"];
        for name in short.into_iter().chain([&*long, &long[1..]]) {
            let program = format!(
                "sealane program 1\nname p\nparty {name}\ninput x : {name} u8 in 0..255\nmain {{\n  \
                 %0 = param 0 : u8 in 0..255 known {name}\n}}\nreveal r = %0 : u8 to {name}\n"
            );
            let in_program = text::parse(&program, "p").is_ok();
            let in_card = init(&args(name, &folder.path().join(format!("{name}x")))).is_ok();
            assert_eq!(in_card, in_program, "{name:?}");
        }
    }
}
