//! OTR against a slow version written from the specification, for lengths of nonces that the known
//! answers do not have, and for messages of many rounds of lanes.
#![cfg(feature = "research")]

use sealane_aead::{Cipher, Suite};
use sealane_block::{Aes128, Block, Cpu};

/// A block as the specification reads it: byte 0 holds the highest coefficients.
type Number = u128;

struct Slow {
    aes: Aes128,
}

impl Slow {
    fn e(&self, x: Number) -> Number {
        let block = Block::from_bytes(x.to_be_bytes());
        Number::from_be_bytes(self.aes.encrypt(block).to_bytes())
    }

    /// The hash of associated data.
    fn hash(&self, ad: &[u8], third: bool) -> Number {
        if ad.is_empty() {
            return 0;
        }
        let q = self.e(0);
        let mut mask = if third { q } else { dbl(dbl(q)) };
        let mut sum = 0;
        let last = (ad.len() - 1) / 16;
        for block in ad[..16 * last].chunks(16) {
            sum ^= self.e(ozp(block) ^ mask);
            mask = dbl(mask);
        }
        let block = &ad[16 * last..];
        let end = match (third, block.len() == 16) {
            (false, true) => mask ^ dbl(q),
            (false, false) => mask ^ q,
            (true, true) => mul3(mul3(mask)),
            (true, false) => mul3(mask),
        };
        self.e(sum ^ ozp(block) ^ end)
    }

    fn seal(&self, third: bool, nonce: &[u8], ad: &[u8], text: &[u8]) -> Vec<u8> {
        let mut written = [0; 16];
        if third {
            // A tag of 128 bits is written as zero.
            written[15 - nonce.len()] = 1;
            written[16 - nonce.len()..].copy_from_slice(nonce);
        } else {
            written[..nonce.len()].copy_from_slice(nonce);
            written[nonce.len()] = 0x80;
        }
        let hidden = self.e(Number::from_be_bytes(written));
        // The masks of both rounds of the next pair, as the two versions define them.
        let mut first = if third { hidden } else { dbl(dbl(hidden)) };
        let mut three = mul3(hidden);
        let (mut sum, mut out) = (0, Vec::new());
        let pairs = text.len().saturating_sub(1) / 32;
        for pair in text[..32 * pairs].chunks(32) {
            let second = if third { three } else { first ^ hidden };
            let (left, right) = (ozp(&pair[..16]), ozp(&pair[16..]));
            let c0 = self.e(first ^ left) ^ right;
            let c1 = self.e(second ^ c0) ^ left;
            out.extend([c0.to_be_bytes(), c1.to_be_bytes()].concat());
            sum ^= right;
            first = if third { first ^ three } else { dbl(first) };
            three = dbl(three);
        }
        let rest = &text[32 * pairs..];
        let mut last = first;
        if rest.len() <= 16 {
            let pad = self.e(first).to_be_bytes();
            out.extend(rest.iter().zip(pad).map(|(text, pad)| text ^ pad));
            sum ^= ozp(rest);
        } else {
            last = if third { three } else { first ^ hidden };
            let left = ozp(&rest[..16]);
            let pad = self.e(first ^ left);
            let bytes = pad.to_be_bytes();
            let c1: Vec<u8> = rest[16..].iter().zip(bytes).map(|(t, p)| t ^ p).collect();
            sum ^= pad ^ ozp(&c1);
            out.extend((self.e(last ^ ozp(&c1)) ^ left).to_be_bytes());
            out.extend(c1);
        }
        let whole = rest.len() == 16 || rest.len() == 32;
        let end = match (third, whole) {
            (false, true) => mul3(last) ^ hidden,
            (false, false) => mul3(last),
            (true, true) => dbl(dbl(last)) ^ mul3(last),
            (true, false) => mul3(mul3(last)),
        };
        let tag = self.e(sum ^ end) ^ self.hash(ad, third);
        out.extend(tag.to_be_bytes());
        out
    }
}

fn dbl(x: Number) -> Number {
    x << 1 ^ if x >> 127 == 1 { 0x87 } else { 0 }
}

fn mul3(x: Number) -> Number {
    dbl(x) ^ x
}

fn ozp(bytes: &[u8]) -> Number {
    let mut block = [0; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    if bytes.len() < 16 {
        block[bytes.len()] = 0x80;
    }
    Number::from_be_bytes(block)
}

#[test]
fn lanes_seal_as_the_slow_version_does() {
    let bytes: Vec<u8> = (0..5000u32).map(|i| ((i * 167) >> 3) as u8).collect();
    let key = &bytes[4000..4016];
    for cpu in Cpu::available() {
        let aes = Aes128::new(cpu, Block::from_bytes(key.try_into().expect("16 bytes")));
        let slow = Slow { aes };
        for (version, third) in [("v1", false), ("v3", true)] {
            let suite = Suite::named("otr", Some(version), None).expect("a suite");
            let cipher = Cipher::new(cpu, suite, key).expect("a key");
            for nonce in 1..=15 {
                for text in [0, 16, 31, 32, 64, 100 * nonce, 320 * nonce + 9] {
                    let (nonce, ad) = (&bytes[100..100 + nonce], &bytes[200..200 + 3 * nonce]);
                    let text = &bytes[..text];
                    let sealed = cipher.seal(nonce, ad, text).expect("sealed");
                    let expected = slow.seal(third, nonce, ad, text);
                    let lengths = (nonce.len(), text.len());
                    let id = format!("{version}, {lengths:?} bytes, {}", cpu.tier());
                    assert!(sealed == expected, "{id}");
                    let opened = cipher.open(nonce, ad, &sealed, None);
                    assert!(opened.as_deref() == Ok(text), "{id}");
                }
            }
        }
    }
}
