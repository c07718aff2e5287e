//! The agreement between both parties, and the values that follow from it: widths, hash functions.

use blake3::Hasher;

/// The largest bound on the size of a set: an item has at most 64 bits.
pub const MAX_SIZE: usize = 4096;

/// Number of attempts that [`fit`] makes before it gives up.
pub const TRIES: u32 = 16;

/// The statistical security parameter: bits of an item beyond those of a pair of items.
const SECURITY: usize = 40;

/// The parameters that both parties have to agree on. All of them are public between the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    seed: String,
    size: usize,
    attempt: u32,
}

/// The reasons why a set cannot be prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The bound on the size of a set is out of bounds itself.
    #[error("a set of at most {0} items: the bound has to be between 1 and {MAX_SIZE}")]
    Size(usize),
    /// There are more items than agreed.
    #[error("the set has {items} items, and at most {size} were agreed")]
    TooMany {
        /// Number of items.
        items: usize,
        /// Largest number allowed.
        size: usize,
    },
    /// Two different texts have the same hash, or one has that of a reserved item.
    #[error("two different items have the same hash")]
    Collision,
    /// A bin gets more candidates than it has places.
    #[error("a bin gets {found} items, and has {load} places")]
    Bin {
        /// Number of candidates it gets.
        found: usize,
        /// Number of places it has.
        load: usize,
    },
    /// The items that find no bin are more than the stash has places.
    #[error("the cuckoo table and its stash cannot hold all items")]
    Stash,
}

impl Unfit {
    /// Returns true if another attempt may fit.
    pub fn is_of_the_attempt(self) -> bool {
        !matches!(self, Unfit::Size(_) | Unfit::TooMany { .. })
    }
}

/// Prepares with the first attempt that fits, of [`TRIES`] attempts from that of `agreement` on,
/// and returns the agreement used.
///
/// # Errors
/// No attempt fits (the error is that of the last), or none can.
pub fn fit<T>(
    agreement: &Agreement,
    mut prepare: impl FnMut(&Agreement) -> Result<T, Unfit>,
) -> Result<(Agreement, T), Unfit> {
    let mut agreement = agreement.clone();
    for _ in 1..TRIES {
        match prepare(&agreement) {
            Err(unfit) if unfit.is_of_the_attempt() => agreement.attempt += 1,
            done => return Ok((agreement, done?)),
        }
    }
    let done = prepare(&agreement)?;
    Ok((agreement, done))
}

impl Agreement {
    /// Creates the agreement on a seed (any text) and a bound on the size of either set, for an
    /// attempt from 0 on.
    ///
    /// # Errors
    /// The bound is 0 or larger than [`MAX_SIZE`].
    pub fn new(seed: &str, size: usize, attempt: u32) -> Result<Agreement, Unfit> {
        if !(1..=MAX_SIZE).contains(&size) {
            return Err(Unfit::Size(size));
        }
        let seed = seed.to_string();
        Ok(Agreement {
            seed,
            size,
            attempt,
        })
    }

    /// Returns the bound on the size of a set, which is also the length of a prepared list.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of the attempt, from 0.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the bits of an item: 40 + 2 ceil(log2 size), at most 64.
    pub fn width(&self) -> usize {
        SECURITY + 2 * self.size.next_power_of_two().ilog2() as usize
    }

    /// Returns 40 bits that are the same for the same agreement and, except with probability 2^-40,
    /// different for another one: a run can compare them and find a mistyped seed.
    pub fn tag(&self) -> u64 {
        self.number(Purpose::Tag, b"") as u64 >> (64 - 40)
    }

    /// Computes a number of 128 bits for a text and a purpose, by BLAKE3 under a key derived from
    /// the whole agreement.
    pub(crate) fn number(&self, purpose: Purpose, text: &[u8]) -> u128 {
        let mut key = Hasher::new_derive_key("sealane psi: items and bins, version 1");
        key.update(&u64::to_le_bytes(self.size as u64));
        key.update(&self.attempt.to_le_bytes());
        key.update(self.seed.as_bytes());
        let mut hash = Hasher::new_keyed(key.finalize().as_bytes());
        hash.update(&[purpose.number()]);
        hash.update(text);
        let mut number = [0; 16];
        hash.finalize_xof().fill(&mut number);
        u128::from_le_bytes(number)
    }
}

/// The purpose of a hash; hashes of different purposes are independent.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The item of a text.
    Item,
    /// An item that pads a list: of the party that learns the result, or of the other.
    Filler { receiver: bool },
    /// A hash function of a cuckoo table.
    Bin(u8),
    /// The tag.
    Tag,
}

impl Purpose {
    fn number(self) -> u8 {
        match self {
            Purpose::Item => 0,
            Purpose::Filler { receiver: false } => 1,
            Purpose::Filler { receiver: true } => 2,
            Purpose::Tag => 3,
            Purpose::Bin(function) => 16 + function,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_as_wide_as_the_bound_on_collisions_asks() {
        let width = |size| Agreement::new("seed", size, 0).unwrap().width();
        let widths = [1, 2, 3, 256, 257, 1024, MAX_SIZE].map(width);
        assert_eq!(widths, [40, 42, 44, 56, 58, 60, 64]);
        for size in [0, MAX_SIZE + 1] {
            assert_eq!(Agreement::new("seed", size, 0), Err(Unfit::Size(size)));
        }
    }

    #[test]
    fn everything_agreed_changes_every_hash() {
        let first = Agreement::new("seed", 10, 0).unwrap();
        let others = [("sees", 10, 0), ("seed", 11, 0), ("seed", 10, 1)];
        for (seed, size, attempt) in others {
            let other = Agreement::new(seed, size, attempt).unwrap();
            assert_ne!(first.tag(), other.tag());
            let item = |agreement: &Agreement| agreement.number(Purpose::Item, b"a@example.org");
            assert_ne!(item(&first), item(&other));
        }
        assert!(first.tag() < 1 << 40);
    }

    #[test]
    fn attempts_end() {
        let agreement = Agreement::new("seed", 10, 3).unwrap();
        let from = |attempt| {
            move |a: &Agreement| match a.attempt() {
                found if found < attempt => Err(Unfit::Stash),
                found => Ok(found),
            }
        };
        assert_eq!(fit(&agreement, from(0)).unwrap().1, 3);
        let (used, found) = fit(&agreement, from(3 + TRIES - 1)).unwrap();
        assert_eq!((used.attempt(), found), (18, 18));
        assert_eq!(fit(&agreement, from(3 + TRIES)), Err(Unfit::Stash));
        // What no attempt mends is told at once.
        let count = std::cell::Cell::new(0);
        let refused = fit::<()>(&agreement, |_| {
            count.set(count.get() + 1);
            Err(Unfit::Size(0))
        });
        assert_eq!((refused, count.get()), (Err(Unfit::Size(0)), 1));
    }
}
