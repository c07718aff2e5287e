//! Private set intersection as circuits, in two ways.
//!
//! | module | paper | each side gives | what is revealed |
//! |---|---|---|---|
//! | [`shuffled`] | 1 (sort-compare-shuffle) | a sorted list; one an order | the common items |
//! | [`phased`] | 2 | a cuckoo table; bins of candidates | a bit for each place of the table |
//!
//! Paper 1 is Huang, Evans and Katz, "Private set intersection: are garbled circuits better than
//! custom protocols?", NDSS 2012; it reveals the common items in that random order. Paper 2 is
//! Pinkas, Schneider, Segev and Zohner, "Phasing: private set intersection using permutation-based
//! hashing", USENIX Security 2015; each bit tells if the item of that place is in the other set.
//! Both circuits compare every item of one set with every item of the other that it could be equal
//! to, so they are correct for any items of a fixed width. Crate `psi` prepares the tables: it
//! ensures that different cells of a table become different items, and that tables hold all items.

pub mod phased;
pub mod shuffled;

use crate::builder::{Builder, Wire, Word};

/// Computes one bit: `item` is among `others`, of which at most one can be equal to it. It takes w
/// - 1 ANDs for each of w bits, w > 0.
///
/// # Panics
/// If the words differ in width.
pub fn is_in<'a>(
    b: &mut Builder,
    item: &[Wire],
    others: impl IntoIterator<Item = &'a Word>,
) -> Wire {
    // The item is inverted here, once, so that no XOR needs a NOT behind it.
    let inverse: Word = item.iter().map(|&bit| !bit).collect();
    let mut is_same = |other: &Word| {
        let same = b.zip(&inverse, other, Builder::xor);
        b.all(&same)
    };
    let same: Word = others.into_iter().map(&mut is_same).collect();
    // At most one comparison is true, so the XOR is the OR, and free.
    b.parity(&same)
}
