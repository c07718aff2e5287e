//! Sealing and opening by every mode of authenticated encryption, in every version: one message,
//! many side by side, in rows. Keys and texts are secret. Nonces, associated data, lengths and
//! sealed messages are public; so are the authenticity and the text length of an opened message.

use crate::Check;
use crate::request::{public, secret};
use sealane_aead::{Ads, Cipher, Message, RowBatch, Suite, open_many, seal_many};
use sealane_block::{Cpu, Tier};
use std::hint::black_box;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("aead: modes for everyday use", |cpu| {
        each(cpu, Suite::is_everyday);
    }),
    ("aead: modes for study", |cpu| {
        each(cpu, |suite| !suite.is_everyday());
    }),
];

/// Bytes of texts: around a block, around a few, and enough for units side by side.
const TEXTS: [usize; 5] = [0, 1, 16, 37, 300];
/// Messages of a batch: more than there are lanes, so that a lane takes a second one.
const BATCH: usize = 19;
/// Bytes of the text of a row.
const ROW: usize = 48;
/// Associated data.
const AD: &[u8] = b"of more than a block, to be hashed";

/// Runs every suite for which `wanted` is true.
fn each(cpu: Cpu, wanted: impl Fn(&Suite) -> bool) {
    let versions = [None, Some("v1"), Some("v2"), Some("v3")];
    let named = |name| versions.map(|version| Suite::named(name, version, None).ok());
    let mut done = Vec::new();
    for suite in Suite::names().flat_map(named).flatten().filter(wanted) {
        // Of a mode with versions, the usual one is taken. Valgrind 3.19 ends at an instruction of
        // JAMBU with AVX, a `vmovq` between registers; `portable` runs the same equations.
        let is_unknown = suite.name() == "jambu" && cpu.tier() != Tier::Portable;
        if !done.contains(&suite) && !is_unknown {
            done.push(suite);
            Sealing { cpu, suite }.run();
        }
    }
    assert!(!done.is_empty(), "no mode to check");
}

/// A mode on a tier.
struct Sealing {
    cpu: Cpu,
    suite: Suite,
}

impl Sealing {
    fn run(&self) {
        let ciphers = [1, 2].map(|key| self.cipher(key));
        for bytes in TEXTS {
            self.one(&ciphers[0], self.taken(bytes));
        }
        // With one key for all, and with one each.
        self.many(&ciphers[..1]);
        self.many(&ciphers);
        self.rows(&ciphers[0]);
    }

    /// One message, and the same with a changed tag.
    fn one(&self, cipher: &Cipher, bytes: usize) {
        let (nonce, ad) = (self.nonce(0), self.ad());
        let sealed = cipher.seal(&nonce, ad, &text(bytes));
        let mut sealed = sealed.expect("lengths that the mode takes");
        public(&sealed);
        let mut opened = Zeroizing::new(sealed.clone());
        let text = cipher.open_in_place(&nonce, ad, &mut opened, Some(bytes));
        black_box(text.expect("what has been sealed"));
        if let (Some(last), false) = (sealed.last_mut(), self.is_building_block()) {
            *last ^= 1;
            assert!(cipher.open(&nonce, ad, &sealed, Some(bytes)).is_err());
        }
    }

    /// Messages of different lengths, side by side.
    fn many(&self, ciphers: &[Cipher]) {
        let message = |number: usize, buffer| Message {
            cipher: &ciphers[number % ciphers.len()],
            nonce: self.nonce(number),
            ad: self.ad(),
            buffer,
            text: Some(self.text_of(number)),
        };
        let texts = (0..BATCH).map(|number| {
            let bytes = self.text_of(number);
            message(number, text_in(ciphers[0].sealed_len(bytes), bytes))
        });
        // Nonces of no bytes are equal.
        let sealed = seal_many(texts).with_equal_nonces().map(|done| {
            done.result.expect("lengths that the mode takes");
            public(&done.buffer);
            done.buffer
        });
        let sealed = sealed.collect::<Vec<_>>();
        let sealed = sealed.into_iter().enumerate();
        for done in open_many(sealed.map(|(number, buffer)| message(number, buffer))) {
            black_box(done.result.expect("what has been sealed"));
        }
    }

    /// Messages of one length, one of which is forged.
    fn rows(&self, cipher: &Cipher) {
        let sealed = cipher.sealed_len(ROW);
        let nonces = (0..BATCH).flat_map(|number| self.nonce(number));
        let nonces = nonces.collect::<Vec<_>>();
        let mut buffers = Zeroizing::new(vec![0; BATCH * sealed]);
        for buffer in buffers.chunks_mut(sealed) {
            buffer[..ROW].copy_from_slice(&text(ROW));
        }
        let all = self.batch(cipher, &nonces, &mut buffers);
        let all = all.seal_with_equal_nonces();
        all.expect("lengths that the mode takes");
        public(&buffers);
        buffers[sealed - 1] ^= 1;
        let all = self.batch(cipher, &nonces, &mut buffers);
        let opened = all.open().expect("few failures");
        let authentic = opened.iter().filter(|row| row.is_some()).count();
        assert_eq!(authentic, BATCH - usize::from(!self.is_building_block()));
    }

    fn batch<'a>(
        &self,
        cipher: &'a Cipher,
        nonces: &'a [u8],
        buffers: &'a mut [u8],
    ) -> RowBatch<'a> {
        RowBatch {
            cipher,
            count: BATCH,
            nonces,
            ads: Ads::Same(self.ad()),
            buffers,
            text: Some(ROW),
        }
    }

    /// The mode under a secret key.
    fn cipher(&self, number: u8) -> Cipher {
        let mut key = Zeroizing::new(vec![number; self.suite.key_bytes()]);
        secret(&mut key);
        Cipher::new(self.cpu, self.suite, &key).expect("a key of that length")
    }

    /// Returns true if the mode authenticates nothing, and so takes no associated data.
    fn is_building_block(&self) -> bool {
        self.suite.tag_bytes() == 0
    }

    fn ad(&self) -> &'static [u8] {
        if self.is_building_block() { &[] } else { AD }
    }

    fn nonce(&self, number: usize) -> Vec<u8> {
        let mut nonce = vec![0; self.suite.nonce_bytes()];
        if let Some(first) = nonce.first_mut() {
            *first = number as u8;
        }
        nonce
    }

    /// A length near to this one that the mode takes: some take whole blocks alone.
    fn taken(&self, bytes: usize) -> usize {
        match self.suite.name() {
            "ecb" | "cbc" => bytes.next_multiple_of(16),
            _ => bytes,
        }
    }

    /// Bytes of the text of a message of a batch.
    fn text_of(&self, number: usize) -> usize {
        self.taken(TEXTS[number % TEXTS.len()])
    }
}

/// A secret text.
fn text(bytes: usize) -> Zeroizing<Vec<u8>> {
    text_in(bytes, bytes)
}

/// A secret text in front of a buffer of so many bytes.
fn text_in(room: usize, bytes: usize) -> Zeroizing<Vec<u8>> {
    let buffer = (0..room).map(|i| i as u8);
    let mut buffer = Zeroizing::new(buffer.collect::<Vec<_>>());
    secret(&mut buffer[..bytes]);
    buffer
}
