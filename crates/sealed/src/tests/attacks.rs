//! Sealed files that were changed, cut, mixed or made up.

use super::*;
use crate::stream::StreamError;

/// A sealed file of three segments, the last of which is not full.
struct Victim {
    folder: TestFolder,
    header: Header,
    bytes: Vec<u8>,
}

impl Victim {
    fn new(mode: Mode, salt: u8) -> Victim {
        let folder = TestFolder::new();
        let mut header = header(mode, Content::File);
        header.salt = [salt; 32];
        let (key, content) = (counting_master(&folder), content(2 * SEGMENT + 100));
        let bytes = sealed_bytes(&header, &key, &content);
        Victim {
            folder,
            header,
            bytes,
        }
    }

    /// Opens other bytes, which are refused and leave nothing behind; returns the code.
    fn refuses(&self, bytes: &[u8]) -> &'static str {
        self.folder.put("x.sealed", bytes);
        self.folder.refuses("open @x.sealed --key-file @counting")
    }

    fn head(&self) -> &[u8] {
        &self.bytes[..HEADER_BYTES]
    }

    fn segments(&self) -> Vec<&[u8]> {
        self.bytes[HEADER_BYTES..].chunks(SEGMENT + 16).collect()
    }
}

const MODES: [Mode; 2] = [Mode::Gcm, Mode::Ocb3];

#[test]
fn every_bit_of_the_header_counts() {
    let victim = Victim::new(Mode::Gcm, 7);
    for bit in 0..8 * HEADER_BYTES {
        let mut bytes = victim.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // No value that differs from a valid one in one bit is a valid mode, lock, content or
        // length.
        let expected = match bit / 8 {
            0..28 => "sealed-file",
            _ => "sealed-wrong-key",
        };
        assert_eq!(victim.refuses(&bytes), expected, "{bit}");
    }
    // Values that would be valid in another file are still not those that this file was sealed
    // with.
    for (at, other) in [(9, 2), (11, 2), (13, 0x20)] {
        let mut bytes = victim.bytes.clone();
        bytes[at] = other;
        assert_eq!(victim.refuses(&bytes), "sealed-wrong-key", "{at}");
    }
}

#[test]
fn every_bit_of_a_segment_counts() {
    for mode in MODES {
        let victim = Victim::new(mode, 7);
        let boundary = HEADER_BYTES + SEGMENT;
        let sample = (HEADER_BYTES..victim.bytes.len()).step_by(97);
        let tags = boundary - 8..boundary + 24;
        for at in sample.chain(tags).chain([victim.bytes.len() - 1]) {
            let mut bytes = victim.bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            assert_eq!(victim.refuses(&bytes), "sealed-altered", "{at}");
        }
    }
}

#[test]
fn every_cut_is_found() {
    for mode in MODES {
        let victim = Victim::new(mode, 7);
        let around = |at: usize| at.saturating_sub(17)..at + 18;
        let boundaries = (0..3).flat_map(|n| around(HEADER_BYTES + n * (SEGMENT + 16)));
        let cuts = (0..victim.bytes.len()).step_by(131).chain(boundaries);
        let cuts = cuts.chain(victim.bytes.len() - 20..victim.bytes.len());
        for cut in cuts.chain(0..12) {
            let expected = if cut < 8 {
                "sealed-file"
            } else {
                "sealed-altered"
            };
            assert_eq!(victim.refuses(&victim.bytes[..cut]), expected, "{cut}");
        }
    }
}

#[test]
fn whatever_follows_the_end_is_found() {
    for mode in MODES {
        let victim = Victim::new(mode, 7);
        let segments = victim.segments();
        let more: [&[u8]; 5] = [&[0], &[0; 16], segments[2], segments[0], &victim.bytes];
        for more in more {
            let bytes = [&victim.bytes, more].concat();
            assert_eq!(victim.refuses(&bytes), "sealed-altered");
        }
        // The same behind a last segment that is full.
        let key = counting_master(&victim.folder);
        let full = sealed_bytes(&victim.header, &key, &content(SEGMENT));
        for more in more {
            assert_eq!(victim.refuses(&[&full, more].concat()), "sealed-altered");
        }
    }
}

#[test]
fn segments_stay_at_their_places() {
    for mode in MODES {
        let victim = Victim::new(mode, 7);
        let [a, b, c] = victim.segments()[..] else {
            panic!()
        };
        let in_order = |order: &str| {
            let segments = order
                .bytes()
                .map(|name| [a, b, c][usize::from(name - b'a')]);
            [victim.head(), &segments.collect::<Vec<_>>().concat()].concat()
        };
        for order in ["bac", "aac", "abbc", "bc", "ac", "c", "ab", ""] {
            assert_eq!(
                victim.refuses(&in_order(order)),
                "sealed-altered",
                "{order}"
            );
        }
        assert_eq!(in_order("abc"), victim.bytes);
    }
}

#[test]
fn segments_stay_in_their_file() {
    for mode in MODES {
        let (other, victim) = (Victim::new(mode, 8), Victim::new(mode, 7));
        for place in 0..3 {
            let mut segments = victim.segments();
            segments[place] = other.segments()[place];
            let bytes = [victim.head(), &segments.concat()].concat();
            assert_eq!(victim.refuses(&bytes), "sealed-altered", "{place}");
        }
        let bytes = [victim.head(), &other.segments().concat()].concat();
        assert_eq!(victim.refuses(&bytes), "sealed-altered");
    }
}

#[test]
fn an_empty_segment_stands_alone_or_not_at_all() {
    // The segments are authentic, as somebody with the key sealed them; but content has only one
    // form.
    let folder = TestFolder::new();
    let master = counting_master(&folder);
    let header = header(Mode::Gcm, Content::File);
    let keys = master.derive(&header.bound());
    let whole = sealed_bytes(&header, &master, &content(SEGMENT));
    let cipher = segment::cipher(Mode::Gcm, &keys.key);
    let nonce = |number: u8, last: u8| {
        let mut nonce = [0; 12];
        nonce[..7].copy_from_slice(keys.prefix.as_slice());
        (nonce[10], nonce[11]) = (number, last);
        nonce
    };
    let (head, mut first) = (&whole[..HEADER_BYTES], content(SEGMENT));
    let tag = cipher.seal_segment(&nonce(0, 0), head, &mut first);
    let empty = cipher.seal_segment(&nonce(1, 1), head, &mut []);
    folder.put("x.sealed", [head, &first, &tag, &empty].concat());
    folder.refuses_all([("open @x.sealed --key-file @counting", "sealed-altered")]);
}

#[test]
fn a_header_that_asks_for_too_much_is_refused_before_anything_is_done() {
    let folder = TestFolder::new();
    let refused = |change: &dyn Fn(&mut [u8])| {
        let mut header = header(Mode::Gcm, Content::File);
        header.lock = KeySource::Passphrase(SMALL);
        let mut bytes = [header.bound().as_slice(), &[0; 32]].concat();
        change(&mut bytes);
        folder.put("x.sealed", &bytes);
        // No passphrase is asked for: an empty one would give another code.
        let failure = folder.run("open @x.sealed", "", NEVER).unwrap_err();
        (failure.code, folder.reported(&failure))
    };
    let number = |at: usize, number: u32| {
        move |bytes: &mut [u8]| bytes[at..at + 4].copy_from_slice(&number.to_le_bytes())
    };
    assert_eq!(refused(&|_| {}).0, "passphrase");
    let bounds = [
        (12, 4096, 1 << 20),
        (16, 16, 1 << 20),
        (20, 1, 1 << 17),
        (24, 1, 4),
    ];
    for (at, least, most) in bounds {
        for good in [least, most] {
            assert_eq!(refused(&number(at, good)).0, "passphrase", "{at} {good}");
        }
        for bad in [0, least - 1, most + 1, u32::MAX] {
            assert_eq!(refused(&number(at, bad)).0, "sealed-file", "{at} {bad}");
        }
    }
    // Each parameter is within bounds, but their product is not.
    let work = |bytes: &mut [u8]| {
        number(16, 1 << 20)(bytes);
        number(20, 5)(bytes);
    };
    let (code, text) = refused(&work);
    assert_eq!(code, "sealed-file");
    assert!(text.contains("1048576 KiB, 5 passes"), "{text}");
    let (_, text) = refused(&|bytes: &mut [u8]| bytes[8] = 2);
    assert!(text.contains("version 2 of the format"), "{text}");
    let (_, text) = refused(&|bytes: &mut [u8]| bytes[0] = b'M');
    assert!(text.contains("does not begin as one does"), "{text}");
}

#[test]
fn a_file_has_as_many_segments_as_nonces() {
    let folder = TestFolder::new();
    let at = |segment_bytes: u32, next: u64| {
        let mut header = header(Mode::Gcm, Content::File);
        header.segment_bytes = segment_bytes;
        let mut crypto = crypto(&header, &folder.master());
        crypto.skip_to(next);
        let mut sealer = sealer(crypto);
        assert!(sealer.write(&[0]).is_ok());
        sealer.finish().map(|_| ())
    };
    assert!(at(4096, u32::MAX.into()).is_ok());
    assert!(matches!(at(4096, 1 << 32), Err(StreamError::TooLong)));
    assert!(at(1 << 20, (1 << 28) - 1).is_ok());
    assert!(matches!(at(1 << 20, 1 << 28), Err(StreamError::TooLong)));
}
