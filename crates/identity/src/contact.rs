//! Contact card of a party: its name, address and public key, in one line of text to be pasted into
//! a chat or a mail.
//!
//! ```text
//!   sealane:alice@lab.example:7700/ed25519:d75a...511a/6k1xw0he
//!           name  host        port key                 check
//! ```
//!
//! The check is 40 bits of BLAKE3 over everything before it, in letters and digits that are not
//! easily confused. It detects a card that was cut off or mistyped, except for one in 2^40; it is
//! no signature. An attacker who can change a card can also compute a new check, so people compare
//! fingerprints ([`PublicKey::fingerprint`]) over another channel.
//!
//! Mail programs wrap and quote long lines. White space, invisible characters, `>` at the beginning
//! of a line and one pair of brackets or quotes around the whole are ignored; apart from that, one
//! card has exactly one text.

use std::fmt;
use std::str::FromStr;

use crate::{PublicKey, host_and_port};

/// Longest name of a party, as in programs.
const MAX_NAME_BYTES: usize = 64;

/// Longest text that is searched for a card, white space included.
const MAX_PASTED_BYTES: usize = 4096;

const SCHEME: &str = "sealane:";
const CHECK_CHARS: usize = 8;
const CHECK_CONTEXT: &str = "sealane 2026 check of a contact card";

/// Base 32 without `i`, `l`, `o` and `u`.
const CHECK_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A party's name, address and public key, as it sends them to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactCard {
    name: String,
    address: String,
    key: PublicKey,
}

impl ContactCard {
    /// Makes the card of a party with this name, address and key.
    ///
    /// # Errors
    /// The name cannot be a party's name in a program, or the address is malformed.
    pub fn new(name: &str, address: &str, key: PublicKey) -> Result<ContactCard, CardError> {
        if !is_party_name(name) {
            return Err(CardError::Name(name.into()));
        }
        if host_and_port(address).is_none() {
            return Err(CardError::Address(address.into()));
        }
        let (name, address) = (name.into(), address.into());
        Ok(ContactCard { name, address, key })
    }

    /// The party's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Host and port of the party.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The public key of the party.
    pub fn key(&self) -> PublicKey {
        self.key
    }
}

impl fmt::Display for ContactCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ContactCard { name, address, key } = self;
        let body = format!("{SCHEME}{name}@{address}/{key}");
        write!(f, "{body}/{}", check(&body))
    }
}

impl FromStr for ContactCard {
    type Err = CardError;

    fn from_str(pasted: &str) -> Result<ContactCard, CardError> {
        if pasted.len() > MAX_PASTED_BYTES {
            return Err(CardError::Long);
        }
        let text = unwrapped(pasted);
        let body = text.strip_prefix(SCHEME).ok_or(CardError::NoCard)?;
        if let Some(foreign) = body.chars().find(|c| !c.is_ascii_graphic()) {
            return Err(CardError::Foreign(foreign));
        }
        let parts: Vec<_> = body.split('/').collect();
        let (who, key, given) = match parts[..] {
            [who, key, given] if given.len() == CHECK_CHARS => (who, key, given),
            [_, _, given] if given.len() < CHECK_CHARS => return Err(CardError::CutOff),
            [_] | [_, _] => return Err(CardError::CutOff),
            _ => return Err(CardError::Beyond),
        };
        if check(&text[..text.len() - CHECK_CHARS - 1]) != given {
            return Err(CardError::Check);
        }
        let (name, address) = who.split_once('@').ok_or(CardError::Form)?;
        let key = key.parse().map_err(|_| CardError::Form)?;
        let card = ContactCard::new(name, address, key)?;
        // One card has one text: no capitals in the key, no zeros before the port.
        let is_its = card.to_string() == text;
        is_its.then_some(card).ok_or(CardError::Form)
    }
}

/// Reason why a text is no card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CardError {
    /// It begins in another way.
    #[error("a card begins with `{SCHEME}`")]
    NoCard,
    /// It is longer than any card, however wrapped.
    #[error("this is too long for a card")]
    Long,
    /// A character that no card has.
    #[error("no card has the character {0:?}")]
    Foreign(char),
    /// The end is missing.
    #[error("the card is cut off: it ends with `/` and {CHECK_CHARS} letters and digits")]
    CutOff,
    /// Something follows the end.
    #[error("something follows the card: it ends with `/` and {CHECK_CHARS} letters and digits")]
    Beyond,
    /// Something in it was changed.
    #[error("the card was changed on its way: its last {CHECK_CHARS} characters do not fit")]
    Check,
    /// The parts are not those of a card of this version.
    #[error("the card is of another form than this version of Sealane makes")]
    Form,
    /// No party can have this name.
    #[error(
        "`{0}` names no party: a name is letters, digits and `_`, and does not begin with a digit"
    )]
    Name(String),
    /// No party can have this address.
    #[error("`{0}` is no address: it is `host:port`, such as `lab.example:7700` or `[::1]:7700`")]
    Address(String),
}

/// Returns whether programs can give this name to a party: ASCII letters, digits and `_`.
fn is_party_name(name: &str) -> bool {
    let is_of_names = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let begins_well = name.bytes().next().is_some_and(|c| !c.is_ascii_digit());
    begins_well && name.bytes().all(is_of_names) && name.len() <= MAX_NAME_BYTES
}

/// Returns the text without the line breaks and marks that mail programs and people add.
fn unwrapped(pasted: &str) -> String {
    let shows_nothing = |c| "\u{ad}\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}".contains(c);
    let is_quoting = |c: char| pasted.contains('\n') && (c.is_whitespace() || c == '>');
    let lines = pasted
        .lines()
        .map(|line| line.trim_start_matches(is_quoting));
    let chars = lines.flat_map(str::chars);
    let text: String = chars
        .filter(|c| !c.is_whitespace() && !shows_nothing(*c))
        .collect();
    for (open, close) in [('<', '>'), ('"', '"'), ('\'', '\''), ('`', '`')] {
        let inside = text.strip_prefix(open);
        if let Some(inside) = inside.and_then(|text| text.strip_suffix(close)) {
            return inside.into();
        }
    }
    text
}

/// Computes the check over everything before it and its `/`.
fn check(body: &str) -> String {
    let digest = blake3::derive_key(CHECK_CONTEXT, body.as_bytes());
    let mut bits = 0u64;
    for byte in &digest[..CHECK_CHARS * 5 / 8] {
        bits = bits << 8 | u64::from(*byte);
    }
    let digit = |place: usize| CHECK_ALPHABET[(bits >> (5 * place)) as usize % 32];
    let digits = (0..CHECK_CHARS).rev().map(digit);
    digits.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    /// The check comes from the reference implementation of BLAKE3 by its Python binding.
    const CARD: &str = "sealane:alice@lab.example:7700/\
        ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a/jc3rq72d";

    fn parse(text: &str) -> Result<ContactCard, CardError> {
        text.parse()
    }

    fn hosts() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?(\\.[a-z]{2,8}){0,3}",
            any::<[u8; 4]>().prop_map(|ip| std::net::Ipv4Addr::from(ip).to_string()),
            any::<[u16; 8]>().prop_map(|ip| format!("[{}]", std::net::Ipv6Addr::from(ip))),
        ]
    }

    fn cards() -> impl Strategy<Value = ContactCard> {
        let key = "[0-9a-f]{64}".prop_map(|digits| format!("ed25519:{digits}").parse().unwrap());
        ("[A-Za-z_][A-Za-z0-9_]{0,63}", hosts(), 1u16.., key).prop_map(|(name, host, port, key)| {
            ContactCard::new(&name, &format!("{host}:{port}"), key).unwrap()
        })
    }

    /// `text` with a line break and a mark of quotation after each so many characters.
    fn wrapped(text: &str, width: usize, mark: &str) -> String {
        let chars: Vec<_> = text.chars().collect();
        let lines = chars.chunks(width).map(String::from_iter);
        let lines: Vec<_> = lines.map(|line| format!("{mark}{line}")).collect();
        lines.join("\r\n")
    }

    proptest! {
        #[test]
        fn a_card_survives_its_text_however_it_is_wrapped(
            card in cards(),
            width in 1usize..100,
            mark in prop_oneof!["", "  ", "> ", ">> > "],
        ) {
            let text = card.to_string();
            prop_assert!(text.bytes().all(|c| c.is_ascii_graphic()));
            prop_assert_eq!(parse(&text), Ok(card.clone()));
            prop_assert_eq!(parse(&wrapped(&text, width, &mark)), Ok(card.clone()));
            prop_assert_eq!(parse(&format!(" <{text}>\n")), Ok(card));
        }

        #[test]
        fn a_changed_or_shortened_card_is_refused(
            card in cards(),
            at in any::<prop::sample::Index>(),
            other in "[ -~é]",
        ) {
            let text = card.to_string();
            let (at, other) = (at.index(text.len()), other.chars().next().unwrap());
            prop_assert!(parse(&text[..at]).is_err());
            let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            if !text[at..].starts_with(other) {
                prop_assert!(parse(&changed).is_err(), "{changed}");
            }
            let swapped = format!("{}{other}{}", &text[..at], &text[at..]);
            if !other.is_whitespace() {
                prop_assert!(parse(&swapped).is_err(), "{swapped}");
            }
        }

        #[test]
        fn noise_is_no_card(noise in ".{0,300}") {
            prop_assert!(parse(&noise).is_err());
            let begun = format!("sealane:{noise}");
            prop_assert!(parse(&begun).is_err());
        }
    }

    #[test]
    fn the_text_of_a_card_is_the_documented_one() {
        let card = ContactCard::new("alice", "lab.example:7700", KEY.parse().unwrap()).unwrap();
        assert_eq!(card.to_string(), CARD);
    }

    #[test]
    fn each_way_in_which_a_card_goes_wrong_is_reported() {
        let changed = |from: &str, to: &str| parse(&CARD.replace(from, to)).unwrap_err();
        assert_eq!(changed("sealane:", "sealed:"), CardError::NoCard);
        assert_eq!(changed("511a", "51la"), CardError::Check);
        assert_eq!(changed("7700", "7701"), CardError::Check);
        assert_eq!(changed("alice", "älice"), CardError::Foreign('ä'));
        assert_eq!(changed("7700/", "7700"), CardError::CutOff);
        for cut in [CARD.len() - 1, CARD.len() - 9, 40, 20] {
            assert_eq!(parse(&CARD[..cut]), Err(CardError::CutOff), "{cut}");
        }
        assert_eq!(parse(&format!("{CARD}.")), Err(CardError::Beyond));
        assert_eq!(parse(&format!("{CARD}/x")), Err(CardError::Beyond));
        assert_eq!(parse(&" ".repeat(5000)), Err(CardError::Long));
        // Made with a right check by something else.
        let upper = KEY.to_uppercase();
        for (who, key, error) in [
            ("alice@lab:7700", upper.as_str(), CardError::Form),
            ("alice", KEY, CardError::Form),
            ("al-ice@lab:1", KEY, CardError::Name("al-ice".into())),
            ("alice@lab:01", KEY, CardError::Address("lab:01".into())),
        ] {
            let body = format!("sealane:{who}/{key}");
            let parsed = parse(&format!("{body}/{}", check(&body)));
            assert_eq!(parsed, Err(error), "{body}");
        }
    }
}
