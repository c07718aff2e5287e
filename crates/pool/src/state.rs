//! The state of a pool: how far it is used, its fills, and the head of its chain of keys.

use crate::keys::{ChainKey, OneTime, TAG_BYTES, WrapKey};
use sealane_ot::Role;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// OTs of a batch, which is encrypted under a key of its own and used as a whole.
pub const BATCH: usize = 1024;
/// Most fills that a half holds at a time, so that offers are bounded.
pub const MOST_FILLS: usize = 64;
/// Most batches that a fill makes: 2^34 OTs.
pub const MOST_BATCHES: u64 = 1 << 24;
/// Most batches that a pool counts in its life.
const LAST: u64 = 1 << 48;

/// Most batches by which the numbers of one party are ahead of those of the other, which was set
/// back: terabytes of OTs.
const MOST_AHEAD: u64 = 1 << 32;

/// Longest file of a state.
pub const MOST_BYTES: usize = 1 << 14;
const MAGIC: &[u8] = b"sealane pool 1\n";
const SALT_BYTES: usize = 32;

/// OTs that both parties made together and have on their disks.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// Random name of the fill, the same at both parties.
    pub id: [u8; 16],
    /// Number of its first batch.
    pub first: u64,
    /// Number of its batches.
    pub batches: u64,
}

impl Fill {
    /// The number behind the last batch.
    pub fn end(&self) -> u64 {
        self.first + self.batches
    }

    /// Batches from `next` on.
    fn left(&self, next: u64) -> u64 {
        self.end().saturating_sub(self.first.max(next))
    }

    /// The cipher of batch `number` under its key, in a file of this role.
    pub fn cipher(&self, role: Role, number: u64, key: &ChainKey) -> BatchCipher {
        let mut ad = [index(role) as u8; 9];
        ad[1..].copy_from_slice(&number.to_le_bytes());
        let cipher = key.cipher(&self.id, number);
        BatchCipher { cipher, ad }
    }
}

/// The OTs of a pair in which this party has one role.
#[derive(Serialize, Deserialize)]
pub struct Half {
    /// Number of the first batch that nobody has taken. It never goes back.
    pub next: u64,
    /// Key of that batch.
    pub key: ChainKey,
    /// Batches that runs have taken.
    pub taken: u64,
    /// Batches of runs that have ended well.
    pub finished: u64,
    /// Batches that were made and cannot be used, since the other party does not hold them or has
    /// used further.
    pub lost: u64,
    /// Fills with batches that nobody has taken, in the order of their numbers.
    pub fills: Vec<Fill>,
}

/// Batches that were taken out of one fill.
pub struct Part {
    /// Their fill.
    pub fill: Fill,
    /// Number of the first.
    pub first: u64,
    /// Number of batches.
    pub batches: u64,
    /// Key of the first.
    pub key: ChainKey,
}

/// State of a pool.
#[derive(Serialize, Deserialize)]
pub struct PoolState {
    /// Random name of the pool from its beginning to its destruction.
    pub epoch: [u8; 16],
    /// By role of this party.
    halves: [Half; 2],
}

/// One half of a pool as the other party may know it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HalfOffer {
    pub(crate) next: u64,
    pub(crate) fills: Vec<Fill>,
}

/// A pool as the other party may know it: by its owner's role.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer([HalfOffer; 2]);

impl Offer {
    /// The half that belongs to the other party's role.
    pub fn opposite(&self, role: Role) -> &HalfOffer {
        &self.0[1 - index(role)]
    }

    /// Adds everything to a hash.
    pub fn digest(&self, hasher: &mut blake3::Hasher) {
        for half in &self.0 {
            hasher.update(&half.next.to_le_bytes());
            hasher.update(&(half.fills.len() as u64).to_le_bytes());
            for fill in &half.fills {
                hasher.update(&fill.id);
                hasher.update(&fill.first.to_le_bytes());
                hasher.update(&fill.batches.to_le_bytes());
            }
        }
    }

    /// Checks that numbers and lengths are within bounds.
    pub fn is_valid(&self) -> bool {
        self.0.iter().all(|half| {
            let mut end = 0;
            half.next <= LAST
                && half.fills.len() <= MOST_FILLS
                && half.fills.iter().all(|fill| {
                    let follows = fill.first >= end && fill.first <= LAST;
                    end = fill.first.saturating_add(fill.batches);
                    follows && end > half.next && fill.batches <= MOST_BATCHES
                })
        })
    }

    /// Checks that this offer of the other party is valid, and that its numbers are not so far
    /// ahead of those of `mine` that few would be left.
    pub fn is_valid_beside(&self, mine: &Offer) -> bool {
        let near = |role: Role| {
            let (theirs, mine) = (self.opposite(role), &mine.0[index(role)]);
            let end = |half: &HalfOffer| half.fills.last().map_or(half.next, Fill::end);
            end(theirs) <= end(mine) + MOST_AHEAD
        };
        self.is_valid() && near(Role::Sender) && near(Role::Receiver)
    }
}

fn index(role: Role) -> usize {
    usize::from(role == Role::Receiver)
}

impl Half {
    fn empty() -> Result<Half, getrandom::Error> {
        Ok(Half {
            next: 0,
            key: ChainKey::fresh()?,
            taken: 0,
            finished: 0,
            lost: 0,
            fills: Vec::new(),
        })
    }

    /// Returns true if another fill of so many batches fits.
    pub fn has_room(&self, batches: u64) -> bool {
        self.fills.len() < MOST_FILLS && batches <= MOST_BATCHES && self.end() + batches <= LAST
    }

    /// Batches that can be taken.
    pub fn left(&self) -> u64 {
        self.fills.iter().map(|fill| fill.left(self.next)).sum()
    }

    /// Batches that this party could take if the other one offers `theirs`.
    pub fn left_with(&self, theirs: &HalfOffer) -> u64 {
        let next = self.next.max(theirs.next);
        let common = self.fills.iter().filter(|fill| theirs.fills.contains(fill));
        common.map(|fill| fill.left(next)).sum()
    }

    /// Forgets fills that the other party does not hold, and batches that it has passed.
    pub fn agree(&mut self, theirs: &HalfOffer) -> Result<(), getrandom::Error> {
        let before = self.left();
        self.fills.retain(|fill| theirs.fills.contains(fill));
        self.advance(self.next.max(theirs.next))?;
        self.lost += before - self.left();
        Ok(())
    }

    /// Goes on to batch `to`; keys of batches before it cannot be computed any more.
    fn advance(&mut self, to: u64) -> Result<(), getrandom::Error> {
        self.fills.retain(|fill| fill.end() > to);
        if self.fills.is_empty() {
            self.key = ChainKey::fresh()?
        } else {
            self.key.advance(to - self.next)
        }
        self.next = to;
        Ok(())
    }

    /// Takes the next `batches`, of which there are as many.
    pub fn take(&mut self, batches: u64) -> Result<Vec<Part>, getrandom::Error> {
        let (mut parts, mut left) = (Vec::new(), batches);
        while left > 0 {
            let Some(fill) = self.fills.first().cloned() else {
                break;
            };
            self.advance_into(&fill)?;
            let now = left.min(fill.left(self.next));
            parts.push(Part {
                first: self.next,
                batches: now,
                key: self.key.clone(),
                fill,
            });
            self.advance(self.next + now)?;
            left -= now;
        }
        self.taken += batches;
        Ok(parts)
    }

    /// Passes numbers that no fill has.
    fn advance_into(&mut self, fill: &Fill) -> Result<(), getrandom::Error> {
        self.advance(self.next.max(fill.first))
    }

    /// The number of the first batch of the next fill, the same at both parties once they have
    /// agreed.
    pub fn end(&self) -> u64 {
        self.fills.last().map_or(self.next, Fill::end)
    }

    /// Adds a fill, with the key of its first batch; returns false if the other party has passed
    /// that batch meanwhile.
    pub fn add(&mut self, fill: Fill, key: ChainKey) -> bool {
        if self.next > fill.first || !self.has_room(fill.batches) {
            return false;
        }
        if self.fills.is_empty() {
            // Runs may have taken all that there was, which ended the chain.
            self.next = fill.first;
            self.key = key;
        }
        self.fills.push(fill);
        true
    }

    /// The key of batch `number`, which nobody has taken.
    pub fn key_of(&self, number: u64) -> ChainKey {
        let mut key = self.key.clone();
        key.advance(number - self.next);
        key
    }
}

impl PoolState {
    /// A pool that holds nothing.
    pub fn empty() -> Result<PoolState, getrandom::Error> {
        let mut epoch = [0; 16];
        getrandom::fill(&mut epoch)?;
        let halves = [Half::empty()?, Half::empty()?];
        Ok(PoolState { epoch, halves })
    }

    /// The half in which this party has the role.
    pub fn half(&self, role: Role) -> &Half {
        &self.halves[index(role)]
    }

    /// The half in which this party has the role.
    pub fn half_mut(&mut self, role: Role) -> &mut Half {
        &mut self.halves[index(role)]
    }

    /// Both halves as the other party may know them.
    pub fn offer(&self) -> Offer {
        Offer(self.halves.each_ref().map(|half| HalfOffer {
            next: half.next,
            fills: half.fills.clone(),
        }))
    }

    /// Encrypts the state under a key that no other text has.
    pub fn seal(&self, key: &WrapKey) -> Result<Vec<u8>, getrandom::Error> {
        let mut salt = [0; SALT_BYTES];
        getrandom::fill(&mut salt)?;
        // It holds all from the start, since growing it would leave a copy behind.
        let mut text = Zeroizing::new(vec![0; MOST_BYTES]);
        let length = postcard::to_slice(self, &mut text).map(|text| text.len());
        let length = length.expect("64 fills in each half are short enough");
        Ok(seal_text(key, &salt, &mut text[..length]))
    }

    /// Reads the file of a state; nothing if it is not one that this key has sealed.
    pub fn open(key: &WrapKey, file: &[u8]) -> Option<PoolState> {
        PoolState::read(&PoolState::decrypt(key, file)?)
    }

    /// Decrypts the text of a state.
    pub(crate) fn decrypt(key: &WrapKey, file: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let rest = file.strip_prefix(MAGIC)?;
        let (salt, rest) = rest.split_first_chunk::<SALT_BYTES>()?;
        let (text, tag) = rest.split_last_chunk::<TAG_BYTES>()?;
        let mut text = Zeroizing::new(text.to_vec());
        let sealed = key.cipher(salt).open(MAGIC, &mut text, tag);
        sealed.then_some(text)
    }

    /// Parses the text of a state.
    pub(crate) fn read(text: &[u8]) -> Option<PoolState> {
        let state: PoolState = postcard::from_bytes(text).ok()?;
        state.offer().is_valid().then_some(state)
    }
}

/// The file of a state with this text, which is encrypted in place.
pub(crate) fn seal_text(key: &WrapKey, salt: &[u8; SALT_BYTES], text: &mut [u8]) -> Vec<u8> {
    let tag = key.cipher(salt).seal(MAGIC, text);
    [MAGIC, salt, text, &tag].concat()
}

/// Encrypts or decrypts a batch of a fill: see [`Fill::cipher`].
pub struct BatchCipher {
    cipher: OneTime,
    /// The role of this party, and the number of the batch.
    ad: [u8; 9],
}

impl BatchCipher {
    /// Encrypts in place, with the tag at the end of `text`.
    pub fn seal(self, text: &mut [u8]) {
        let (text, tag) = text.split_last_chunk_mut::<TAG_BYTES>().expect("a tag");
        *tag = self.cipher.seal(&self.ad, text);
    }

    /// Decrypts in place; if the text is not authentic, fills it with zeros and returns false.
    pub fn open(self, text: &mut [u8]) -> bool {
        let (text, tag) = text.split_last_chunk_mut::<TAG_BYTES>().expect("a tag");
        self.cipher.open(&self.ad, text, tag)
    }
}

/// Bytes of a batch in a file of this role: two keys of each OT at the sender, a key and a choice
/// at the receiver, and a tag.
pub const fn batch_bytes(role: Role) -> usize {
    TAG_BYTES
        + match role {
            Role::Sender => 32 * BATCH,
            Role::Receiver => 16 * BATCH + BATCH / 8,
        }
}
