//! Batches of sealed messages compared with the same messages one at a time, and with third-party
//! implementations of GCM, CCM and OCB3.

use aead::{Aead, AeadCore, KeyInit, Nonce, Payload, consts::U12, consts::U16};
use aes::Aes128;
use sealane_aead::{Cipher, Done, Message, Suite, open_many, seal_many};
use sealane_block::Cpu;
use sealane_fuzz_harness::{Accepted, Chance, Verdict};

/// The most messages of a batch.
const MESSAGES: usize = 80;

/// Bytes of the input that describe a message.
const PLAN: usize = 5;

/// A message.
struct Letter {
    key: usize,
    nonce: Vec<u8>,
    ad: Vec<u8>,
    text: Vec<u8>,
}

/// Runs a batch. The first byte is a mode, the second the number of keys, and each five bytes after
/// them describe a message.
pub fn batches(bytes: &[u8]) -> Verdict {
    let [mode, keys, plans @ ..] = bytes else {
        return None;
    };
    let suites: Vec<Suite> = suites().collect();
    let suite = suites[usize::from(*mode) % suites.len()];
    let mut chance = Chance::of(bytes);
    let mut random = |len: usize| -> Vec<u8> { (0..len).map(|_| chance.number() as u8).collect() };
    let cpus = Cpu::available();
    let cpu = cpus[usize::from(*keys) % cpus.len()];
    let key = |_| random(suite.key_bytes());
    let keys: Vec<Vec<u8>> = (0..1 + keys % 3).map(key).collect();
    let cipher = |key: &Vec<u8>| Cipher::new(cpu, suite, key).expect("a key of the right length");
    let ciphers: Vec<Cipher> = keys.iter().map(cipher).collect();
    let letter = |plan: &[u8]| {
        let whole = ["ecb", "cbc"].contains(&suite.name());
        let bare = whole || suite.name() == "ctr";
        let text = usize::from(plan[3]) | usize::from(plan[4] & 3) << 8;
        Letter {
            key: usize::from(plan[0]) % keys.len(),
            nonce: random(nonce_bytes(suite, plan[1])),
            ad: random(if bare { 0 } else { plan[2].into() }),
            text: random(if whole { text / 16 * 16 } else { text }),
        }
    };
    let plans = plans.chunks_exact(PLAN).take(MESSAGES);
    let letters: Vec<Letter> = plans.map(letter).collect();
    let message = |letter: &Letter, buffer: Vec<u8>| Message {
        cipher: &ciphers[letter.key],
        nonce: letter.nonce.clone(),
        ad: letter.ad.clone(),
        buffer,
        text: Some(letter.text.len()),
    };
    let sealed: Vec<Done<Vec<u8>>> = seal_many(letters.iter().map(|letter| {
        let mut buffer = letter.text.clone();
        buffer.resize(ciphers[letter.key].sealed_len(letter.text.len()), 0x5a);
        message(letter, buffer)
    }))
    // Nonces of one byte are often equal.
    .with_equal_nonces()
    .collect();
    for (letter, done) in letters.iter().zip(&sealed) {
        let alone = ciphers[letter.key].seal(&letter.nonce, &letter.ad, &letter.text);
        let alone = alone.as_ref();
        assert_eq!(alone, Ok(&done.buffer), "{suite}: alone and in a batch");
        if let Some(other) = other(suite, &keys[letter.key], letter) {
            assert_eq!(other, done.buffer, "{suite}: another implementation");
        }
    }
    let buffers = letters.iter().zip(&sealed);
    let opened = open_many(buffers.map(|(letter, done)| message(letter, done.buffer.clone())));
    for (letter, done) in letters.iter().zip(opened) {
        assert_eq!(done.result, Ok(letter.text.len()), "{suite}");
        let same = done.buffer.starts_with(&letter.text);
        assert!(same, "{suite}: what was sealed is opened");
    }
    Some(Accepted)
}

/// Every mode in every version.
fn suites() -> impl Iterator<Item = Suite> {
    let versions = [None, Some("v2"), Some("v3")];
    Suite::names().flat_map(move |name| {
        let versions = versions.into_iter();
        versions.filter_map(move |version| Suite::named(name, version, None).ok())
    })
}

/// A length of nonces that the mode takes.
fn nonce_bytes(suite: Suite, choice: u8) -> usize {
    match suite.name() {
        "gcm" => 1 + usize::from(choice) % 40,
        "ccm" => 7 + usize::from(choice) % 7,
        "ocb3" | "otr" => 1 + usize::from(choice) % 15,
        _ => suite.nonce_bytes(),
    }
}

/// Seals a message with a third-party implementation, if there is one of the mode.
fn other(suite: Suite, key: &[u8], letter: &Letter) -> Option<Vec<u8>> {
    match suite.name() {
        "gcm" => by::<aes_gcm::Aes128Gcm>(key, letter),
        "ccm" => by::<ccm::Ccm<Aes128, U16, U12>>(key, letter),
        "ocb3" => by::<ocb3::Ocb3<Aes128>>(key, letter),
        _ => None,
    }
}

fn by<A>(key: &[u8], letter: &Letter) -> Option<Vec<u8>>
where
    A: Aead + KeyInit + AeadCore<NonceSize = U12>,
{
    let nonce: [u8; 12] = letter.nonce.as_slice().try_into().ok()?;
    let payload = Payload {
        msg: &letter.text,
        aad: &letter.ad,
    };
    let cipher = A::new_from_slice(key).ok()?;
    let sealed = cipher.encrypt(&Nonce::<A>::from(nonce), payload);
    Some(sealed.expect("lengths that every mode takes"))
}

/// A batch for every mode, of lengths around blocks and lanes.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let seed = |mode: usize| {
        let mut bytes = vec![mode as u8, mode as u8];
        for number in 0..40u8 {
            // Every third has a nonce of twelve bytes in each mode that has a choice.
            let nonce = if number % 3 == 0 { 11 } else { number };
            let text = u16::from(number) * 15 % 300;
            bytes.extend([number % 5, nonce, number * 3 % 50]);
            bytes.extend(text.to_le_bytes());
        }
        (format!("mode-{mode}"), bytes)
    };
    (0..suites().count()).map(seed).collect()
}
