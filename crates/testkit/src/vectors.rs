//! Vectors of the wire: files of `testdata/vectors`, which two implementations check.
//!
//! `docs/wire/vectors.md` describes them. Most are made by the plain Python of `second/`, so what a
//! test here compares was computed twice.

use crate::testdata;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use sealane_block::{Block, Cpu};
use sealane_net::SessionId;
pub use serde_json::{Value, json};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Longest byte string that a vector holds as it is; of a longer one it has length and digest.
const MOST_BYTES: usize = 4096;

/// Reads a file of the vectors of this wire version, named without `.json.gz`.
///
/// # Panics
/// If it is missing or damaged.
pub fn read(name: &str) -> Value {
    let version = sealane_net::WIRE_VERSION;
    let name = format!("vectors/wire-{version}/{name}.json");
    serde_json::from_str(&testdata::text(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Packs a file of vectors as `gzip -9n` does: without name and time.
pub fn packed(value: &Value) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    let written = serde_json::to_writer(&mut out, value).map_err(Into::into);
    let packed = written.and_then(|()| out.finish());
    packed.expect("memory takes any file")
}

/// Returns bytes as vectors state them: hexadecimal, or length and BLAKE3 hash of more than 4,096.
pub fn stated(bytes: &[u8]) -> Value {
    match bytes.len() {
        ..=MOST_BYTES => json!(hex::encode(bytes)),
        length => json!({ "length": length, "blake3": blake3::hash(bytes).to_hex().as_str() }),
    }
}

/// Reads a byte string: in hexadecimal, or as `repeat` and `length`.
///
/// # Panics
/// If the value is none.
#[track_caller]
pub fn bytes(value: &Value) -> Vec<u8> {
    if value.is_object() {
        let (repeat, length) = (bytes(&value["repeat"]), number(&value["length"]));
        return repeat.into_iter().cycle().take(length as usize).collect();
    }
    let bytes = hex::decode(text(value));
    bytes.unwrap_or_else(|_| panic!("bytes in hexadecimal are due, and not {value}"))
}

/// Reads a text.
///
/// # Panics
/// If the value is none.
#[track_caller]
pub fn text(value: &Value) -> &str {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("a text is due, and not {value}"))
}

/// Reads a label, which streams take for as long as the program runs.
///
/// # Panics
/// If the value is none.
#[track_caller]
pub fn label(value: &Value) -> &'static str {
    text(value).to_string().leak()
}

/// Reads a block.
///
/// # Panics
/// If the value is none.
#[track_caller]
pub fn block(value: &Value) -> Block {
    Block::from_bytes(array(value))
}

/// Reads blocks, one behind the other in a byte string.
///
/// # Panics
/// If the value is none.
#[track_caller]
pub fn blocks(value: &Value) -> Vec<Block> {
    let bytes = bytes(value);
    let (blocks, _) = bytes.as_chunks::<16>();
    blocks
        .iter()
        .map(|block| Block::from_bytes(*block))
        .collect()
}

/// Offsets of a garbler and an evaluator, and so many authenticated bits at each, MACs and then
/// keys: drawn from a seed, as `docs/wire/vectors.md` says.
pub fn dealt(seed: &[u8], count: usize) -> ([Block; 2], [[Vec<Block>; 2]; 2]) {
    let mut hasher = blake3::Hasher::new_derive_key("sealane vectors auth");
    let mut output = hasher.update(seed).finalize_xof();
    let mut next = || {
        let mut block = [0; 16];
        output.fill(&mut block);
        Block::from_bytes(block)
    };
    let offsets = [1, 3].map(|low| Block::new(next().value() & !3 | low));
    let mut bits = <[[Vec<Block>; 2]; 2]>::default();
    for _ in 0..count {
        let shares = [next().lsb(), next().lsb()];
        let keys = [(); 2].map(|()| next() & Block::new(!1));
        for (party, [mac, key]) in bits.iter_mut().enumerate() {
            let other = 1 - party;
            mac.push(keys[other] ^ offsets[other].masked(shares[party]));
            key.push(keys[party]);
        }
    }
    (offsets, bits)
}

/// Reads the identifier of a session.
///
/// # Panics
/// If the value is none.
#[track_caller]
pub fn session(value: &Value) -> SessionId {
    SessionId::danger_fixed(array(value))
}

/// Returns what a function gives on every CPU tier, all of which have to agree.
///
/// # Panics
/// If they do not.
pub fn on_tiers(run: impl Fn(Cpu) -> Value) -> Value {
    let all = Cpu::available().into_iter().map(run).collect::<Vec<_>>();
    assert!(
        all.iter().all(|value| *value == all[0]),
        "tiers differ: {all:?}"
    );
    all[0].clone()
}

/// Reads a byte string of a fixed length.
///
/// # Panics
/// If the value is none, or of another length.
#[track_caller]
pub fn array<const N: usize>(value: &Value) -> [u8; N] {
    let bytes = bytes(value);
    bytes.try_into().expect("so many bytes")
}

/// Reads a number below 2^64.
///
/// # Panics
/// If the value is none.
#[track_caller]
pub fn number(value: &Value) -> u64 {
    let number = value.as_u64();
    number.unwrap_or_else(|| panic!("a number is due, and not {value}"))
}

/// Reads a list.
///
/// # Panics
/// If the value is none.
#[track_caller]
pub fn list(value: &Value) -> &[Value] {
    let list = value.as_array();
    list.unwrap_or_else(|| panic!("a list is due, and not {value}"))
}

/// A function that is checked: it takes `in` of a vector, and returns `out`, or the code of an
/// error.
pub type Checked = fn(&Value) -> Result<Value, String>;

/// Kinds that no function has: this implementation writes tapes, and never reads one.
const UNREAD: [&str; 1] = ["tape"];

/// Checks all vectors of primitives that a crate owns, each kind with its function.
///
/// # Panics
/// If a vector disagrees, or if the kinds of the file and of this crate are not the same.
pub fn check(owner: &str, kinds: &[(&str, Checked)]) {
    check_in("primitives", owner, kinds);
}

/// Checks all functions of a file that a crate owns.
///
/// # Panics
/// If a vector disagrees, or if the kinds of the file and of this crate are not the same.
pub fn check_in(name: &str, owner: &str, kinds: &[(&str, Checked)]) {
    let (file, mut seen, mut wrong) = (read(name), Vec::new(), Vec::new());
    for group in list(&file["groups"]) {
        let kind = text(&group["kind"]);
        if group["crate"] != owner || UNREAD.contains(&kind) {
            continue;
        }
        let found = kinds.iter().find(|(name, _)| *name == kind);
        let (_, run) = found.unwrap_or_else(|| panic!("no function for kind {kind}"));
        seen.push(kind);
        for test in list(&group["tests"]) {
            let (valid, key) = match test["result"].as_str() {
                Some("valid") => (true, "out"),
                _ => (false, "code"),
            };
            let got = caught(|| run(&test["in"])).flatten();
            let (good, got) = got.map_or_else(|code| (false, json!(code)), |out| (true, out));
            if good != valid || got != test[key] {
                let place = match (valid, good) {
                    (true, false) => format!("byte 0: {got} in place of all bytes"),
                    _ => first_difference(&test[key], &got),
                };
                let (id, comment) = (&test["id"], &test["comment"]);
                wrong.push(format!(
                    "sealane-{owner}: step {kind}, vector {id}, {place}; {comment}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{name}.json.gz:\n{}", wrong.join("\n"));
    let missing = kinds.iter().filter(|(name, _)| !seen.contains(name));
    let missing = missing.map(|(name, _)| *name).collect::<Vec<_>>();
    assert!(missing.is_empty(), "no vectors of {missing:?}");
}

/// Runs a part of a test; what it panics with is an error, beside which others are told.
pub fn caught<R>(run: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or(panic.downcast_ref::<&str>().map(|text| text.to_string()));
        format!("panic: {}", text.unwrap_or_default())
    })
}

/// Describes where two values differ: the path of fields, and the first byte of a string.
pub fn first_difference(want: &Value, got: &Value) -> String {
    match (want, got) {
        // Of such a string a vector has no byte.
        (Value::Object(one), Value::Object(_)) if one.contains_key("blake3") => {
            format!("of {} bytes, of {} found", want["length"], got["length"])
        }
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys());
            let mut differ = keys.filter(|key| want[key.as_str()] != got[key.as_str()]);
            differ.next().map_or_else(
                || "no difference".into(),
                |key| format!("{key}, {}", first_difference(&want[key], &got[key])),
            )
        }
        (Value::Array(one), Value::Array(other)) => {
            let mut places = 0..one.len().max(other.len());
            let differs = places.find(|at| one.get(*at) != other.get(*at));
            differs.map_or_else(
                || "no difference".into(),
                |at| format!("[{at}], {}", first_difference(&want[at], &got[at])),
            )
        }
        (Value::Array(_) | Value::Object(_) | Value::String(_), Value::Null) => {
            "byte 0: nothing found".into()
        }
        (Value::String(one), Value::String(other)) => {
            let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b);
            let (at, shown) = (same.count(), |text: &str| {
                text.chars().take(140).collect::<String>()
            });
            format!(
                "byte {}: {} wanted, {} found",
                at / 2,
                shown(one),
                shown(other)
            )
        }
        _ => format!("{want} wanted, {got} found"),
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Packs bytes with zlib, in base64.
pub fn base64_of_zlib(bytes: &[u8]) -> String {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::best());
    let packed = out.write_all(bytes).and_then(|()| out.finish());
    let digits = |group: &[u8]| {
        let number = (0..3).fold(0u32, |n, at| {
            n << 8 | u32::from(*group.get(at).unwrap_or(&0))
        });
        let digit = |at: usize| match at {
            at if at > group.len() => '=',
            at => char::from(BASE64[(number >> (18 - 6 * at)) as usize & 63]),
        };
        [0, 1, 2, 3].map(digit)
    };
    let packed = packed.expect("memory takes any file");
    packed.chunks(3).flat_map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_its_standard() {
        // The header of zlib at its best level is 78da, and an empty block follows.
        assert_eq!(base64_of_zlib(b""), "eNoDAAAAAAE=");
    }

    #[test]
    fn a_difference_is_found_where_it_is() {
        let [one, other] = ["00ff", "00fe"].map(|text| json!({ "a": [1, { "b": text }], "c": 2 }));
        let text = first_difference(&one, &other);
        assert_eq!(text, "a, [1], b, byte 1: 00ff wanted, 00fe found");
        assert_eq!(first_difference(&one, &one), "no difference");
    }
}
