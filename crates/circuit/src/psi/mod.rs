//! Private set intersection as circuits, in two ways.
//!
//! | module | paper | each side gives | what is revealed |
//! |---|---|---|---|
//! | [`shuffled`] | Huang, Evans and Katz, "Private set intersection: are garbled circuits better than custom protocols?", NDSS 2012 (sort-compare-shuffle) | a sorted list; one of them a random order | the items that both have, in that order |
//! | [`phased`] | Pinkas, Schneider, Segev and Zohner, "Phasing: private set intersection using permutation-based hashing", USENIX Security 2015 | a cuckoo table; bins of candidates | for each place of the cuckoo table, whether its item is in the other set |
//!
//! Both compare every item of one set with every one of the other that it could be equal to, so
//! they are right for any items of so many bits. That different cells of a table become different
//! items, and that tables hold what they have to, is the work of room `psi`, which prepares them.

pub mod phased;
pub mod shuffled;

use crate::builder::{Builder, Wire, Word};

/// Returns true if `item` is among `others`, of which at most one can be equal to it: w - 1 ANDs
/// for each of w bits, w > 0.
///
/// # Panics
/// If the words differ in width.
pub fn is_in<'a>(
    b: &mut Builder,
    item: &[Wire],
    others: impl IntoIterator<Item = &'a Word>,
) -> Wire {
    // Inverted here, once, an item needs no NOT behind each XOR.
    let inverse: Word = item.iter().map(|&bit| !bit).collect();
    let same: Word = others
        .into_iter()
        .map(|other| {
            let same = b.zip(&inverse, other, Builder::xor);
            b.all(&same)
        })
        .collect();
    // At most one is equal, so that the XOR is the OR, and free.
    b.parity(&same)
}
