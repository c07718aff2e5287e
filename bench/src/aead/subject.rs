//! The subject of a measurement: a mode of this project, or any other code that seals messages.

use sealane_aead::{Ads, Cipher, Error, Message, RowBatch, Suite, open_many, seal_many};
use sealane_block::Cpu;

/// Number of keys that messages with keys of their own use in turn.
pub const KEYS: usize = 64;

/// A message of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Bytes of its text.
    pub text: usize,
    /// Bytes of its buffer.
    pub sealed: usize,
    /// Index of its key, below [`KEYS`].
    pub key: usize,
    /// Its nonce, in front.
    pub nonce: [u8; 16],
}

/// Bytes of memory that a buffer takes, including the allocator's overhead. Without the overhead,
/// buffers of some modes would lie a power of two apart and compete for the same cache lines.
fn room(sealed: usize) -> usize {
    (sealed + 8).next_multiple_of(16)
}

/// The memory that a buffer takes, by its length.
type Room = fn(usize) -> usize;

/// Messages whose buffers lie one behind the other.
#[derive(Clone)]
pub struct Batch {
    slots: Vec<Slot>,
    room: Room,
    /// All nonces.
    nonces: Vec<u8>,
    /// All buffers, and the gaps between them.
    pub bytes: Vec<u8>,
}

impl Batch {
    /// Creates messages of these lengths, under `keys` keys in turn, with some text, as if each
    /// buffer had been allocated.
    pub fn new(subject: &dyn Subject, texts: &[usize], keys: usize) -> Batch {
        Batch::with_room(subject, texts, keys, room)
    }

    /// Messages of one length under one key, in rows.
    pub fn rows(subject: &dyn Subject, text: usize, count: usize) -> Batch {
        Batch::with_room(subject, &vec![text; count], 1, |sealed| sealed)
    }

    fn with_room(subject: &dyn Subject, texts: &[usize], keys: usize, room: Room) -> Batch {
        let slot = |(number, &text): (usize, &usize)| {
            let mut nonce = [0; 16];
            let bytes = subject.nonce_bytes();
            for (place, digit) in nonce[..bytes].iter_mut().rev().zip(number.to_le_bytes()) {
                *place = digit;
            }
            Slot {
                text,
                sealed: subject.sealed_len(text),
                key: number % keys,
                nonce,
            }
        };
        let slots: Vec<Slot> = texts.iter().enumerate().map(slot).collect();
        let all = slots.iter().map(|slot| room(slot.sealed)).sum();
        let bytes = subject.nonce_bytes();
        let nonces = slots.iter().flat_map(|slot| &slot.nonce[..bytes]);
        let mut batch = Batch {
            nonces: nonces.copied().collect(),
            slots,
            room,
            bytes: vec![0; all],
        };
        for (slot, buffer) in batch.pieces() {
            for (i, byte) in buffer[..slot.text].iter_mut().enumerate() {
                *byte = (i * 31 + slot.text * 7) as u8;
            }
        }
        batch
    }

    /// Bytes of all texts.
    pub fn texts(&self) -> usize {
        self.slots.iter().map(|slot| slot.text).sum()
    }

    /// Messages with their buffers.
    pub fn pieces(&mut self) -> impl Iterator<Item = (&Slot, &mut [u8])> {
        let (mut rest, room) = (&mut self.bytes[..], self.room);
        self.slots.iter().map(move |slot| {
            let (piece, behind) = std::mem::take(&mut rest).split_at_mut(room(slot.sealed));
            rest = behind;
            (slot, &mut piece[..slot.sealed])
        })
    }
}

/// Seals and opens, under [`KEYS`] keys that were set up before.
pub trait Subject {
    /// Bytes of a key.
    fn key_bytes(&self) -> usize {
        16
    }
    /// Bytes of a nonce.
    fn nonce_bytes(&self) -> usize {
        12
    }
    /// Bytes of the sealed message for a text.
    fn sealed_len(&self, text: usize) -> usize {
        text + 16
    }
    /// Returns true if texts have to be whole blocks of 16 bytes.
    fn whole_blocks(&self) -> bool {
        false
    }
    /// Sets up a key, and erases it again.
    fn set_up(&self, key: &[u8]);
    /// Seals or opens a message in place.
    fn one(&self, slot: &Slot, buffer: &mut [u8], way: Direction);
    /// Seals or opens the messages of a batch one by one.
    fn apart(&self, batch: &mut Batch, way: Direction) {
        for (slot, buffer) in batch.pieces() {
            self.one(slot, buffer, way);
        }
    }
    /// Seals or opens a batch: one message after the other, unless there is a better way.
    fn many(&self, batch: &mut Batch, way: Direction) {
        self.apart(batch, way);
    }
    /// Seals or opens a batch of rows, as [`Batch::rows`] makes them.
    fn rows(&self, batch: &mut Batch, way: Direction) {
        self.many(batch, way);
    }
}

/// Sealing or opening.
#[derive(Clone, Copy, PartialEq)]
pub enum Direction {
    /// Texts become sealed messages.
    Seal,
    /// Sealed messages become texts again.
    Open,
}

impl Direction {
    /// Its name in cases.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Seal => "seal",
            Direction::Open => "open",
        }
    }
}

/// A mode of crate `aead` on a tier.
pub struct Mode {
    cpu: Cpu,
    suite: Suite,
    keys: Vec<Cipher>,
    whole_blocks: bool,
}

impl Mode {
    /// The mode's usual version and tag.
    ///
    /// # Errors
    /// There is no mode of this name.
    pub fn new(cpu: Cpu, name: &str) -> Result<Mode, Error> {
        let suite = Suite::named(name, None, None)?;
        let key = |number: usize| Cipher::new(cpu, suite, &key(number, suite.key_bytes()));
        let keys = (0..KEYS).map(key).collect::<Result<Vec<_>, Error>>()?;
        let odd = keys[0].seal(&[0; 16][..suite.nonce_bytes()], &[], &[0; 17]);
        let whole_blocks = matches!(odd, Err(Error::WholeBlocks { .. }));
        Ok(Mode {
            cpu,
            suite,
            keys,
            whole_blocks,
        })
    }

    /// A message as the crate takes it.
    fn message<'a>(
        &'a self,
        slot: &'a Slot,
        buffer: &'a mut [u8],
    ) -> Message<&'a Cipher, &'a [u8], [u8; 0], &'a mut [u8]> {
        Message {
            cipher: &self.keys[slot.key],
            nonce: &slot.nonce[..self.suite.nonce_bytes()],
            ad: [],
            buffer,
            text: Some(slot.text),
        }
    }
}

/// A batch of rows, as the crate takes it.
fn rows<'a>(cipher: &'a Cipher, batch: &'a mut Batch) -> RowBatch<'a> {
    RowBatch {
        cipher,
        count: batch.slots.len(),
        nonces: &batch.nonces,
        ads: Ads::Same(&[]),
        text: batch.slots.first().map(|slot| slot.text),
        buffers: &mut batch.bytes,
    }
}

/// Returns the key of a number, of so many bytes.
pub fn key(number: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (number * 37 + i * 11) as u8).collect()
}

/// The reason why no message fails: lengths are right, nothing was altered, keys are used far below
/// limits.
const SOUND: &str = "a message in order";

impl Subject for Mode {
    fn key_bytes(&self) -> usize {
        self.suite.key_bytes()
    }
    fn nonce_bytes(&self) -> usize {
        self.suite.nonce_bytes()
    }
    fn sealed_len(&self, text: usize) -> usize {
        self.keys[0].sealed_len(text)
    }
    fn whole_blocks(&self) -> bool {
        self.whole_blocks
    }
    fn set_up(&self, key: &[u8]) {
        let cipher = Cipher::new(self.cpu, self.suite, key);
        let cipher = cipher.expect("a key of the right length");
        drop(std::hint::black_box(cipher));
    }
    fn one(&self, slot: &Slot, buffer: &mut [u8], way: Direction) {
        let (key, nonce) = (
            &self.keys[slot.key],
            &slot.nonce[..self.suite.nonce_bytes()],
        );
        match way {
            Direction::Seal => key
                .seal_in_place(nonce, &[], buffer, slot.text)
                .expect(SOUND),
            Direction::Open => {
                let opened = key.open_in_place(nonce, &[], buffer, Some(slot.text));
                opened.expect(SOUND);
            }
        }
    }
    fn many(&self, batch: &mut Batch, way: Direction) {
        let pieces = batch.pieces();
        let messages = pieces.map(|(slot, buffer)| self.message(slot, buffer));
        match way {
            // The nonces are counters, and the peers do not look for equal ones either.
            Direction::Seal => {
                for done in seal_many(messages).with_equal_nonces() {
                    done.result.expect(SOUND);
                }
            }
            Direction::Open => {
                for done in open_many(messages) {
                    done.result.expect(SOUND);
                }
            }
        }
    }
    fn rows(&self, batch: &mut Batch, way: Direction) {
        let rows = rows(&self.keys[0], batch);
        match way {
            Direction::Seal => rows.seal_with_equal_nonces().expect(SOUND),
            Direction::Open => {
                let opened = rows.open().expect(SOUND);
                assert!(opened.iter().all(Option::is_some), "{SOUND}");
            }
        }
    }
}
