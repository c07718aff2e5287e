//! Hashing of texts to items, from which all tables are built.

use zeroize::{Zeroize, Zeroizing};

use crate::agreement::{Agreement, Purpose, Unfit};

/// The smallest item of a text. Smaller numbers are reserved: 0 for no match and for an unused
/// place of a list of candidates, 1 for an unused place of a stash.
pub const FIRST_ITEM: u64 = 2;

/// A set of items, each with the text that it came from, in ascending order. Items are erased when
/// they are dropped: a party that knows the agreement can guess texts and compare their items.
pub struct Items<'a> {
    agreement: Agreement,
    texts: Vec<(u64, &'a str)>,
    repeated: usize,
}

impl Drop for Items<'_> {
    fn drop(&mut self) {
        self.texts.iter_mut().for_each(|(item, _)| item.zeroize());
    }
}

impl<'a> Items<'a> {
    /// Creates the set of these texts. A repeated text is the same item and counts once; texts that
    /// differ in any byte are different items.
    ///
    /// # Errors
    /// There are more than agreed, or two of them have the same hash.
    pub fn new(
        agreement: &Agreement,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Items<'a>, Unfit> {
        // Texts first: a list of items that grew would leave copies behind.
        let mut texts: Vec<&str> = texts.into_iter().collect();
        let given = texts.len();
        texts.sort_unstable();
        texts.dedup();
        let mut items = Items {
            agreement: agreement.clone(),
            texts: Vec::with_capacity(texts.len()),
            repeated: given - texts.len(),
        };
        for text in texts {
            let item = item(agreement, Purpose::Item, text.as_bytes());
            items.texts.push((item, text));
        }
        items.texts.sort_unstable();
        let same = |pair: &[(u64, &str)]| pair[0].0 == pair[1].0;
        let smallest = items.texts.first().map_or(FIRST_ITEM, |(item, _)| *item);
        if smallest < FIRST_ITEM || items.texts.windows(2).any(same) {
            return Err(Unfit::Collision);
        }
        match (items.count(), agreement.size()) {
            (items, size) if items > size => Err(Unfit::TooMany { items, size }),
            _ => Ok(items),
        }
    }

    /// Returns the agreement.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// Returns the number of items.
    pub fn count(&self) -> usize {
        self.texts.len()
    }

    /// Returns the number of repeated texts.
    pub fn repeated(&self) -> usize {
        self.repeated
    }

    /// Returns the items with their texts, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &'a str)> {
        self.texts.iter().copied()
    }

    /// Returns the item of this index in ascending order, with its text.
    pub(crate) fn at(&self, index: usize) -> (u64, &'a str) {
        self.texts[index]
    }

    /// Returns the items in ascending order, padded to the agreed size with numbers that look like
    /// items, so that their number stays hidden. The padding of the two parties differs.
    ///
    /// # Errors
    /// A number of the padding is an item.
    pub fn filled(&self, receiver: bool) -> Result<Zeroizing<Vec<u64>>, Unfit> {
        let lacking = self.agreement.size() - self.count();
        let filler = |i: usize| {
            let purpose = Purpose::Filler { receiver };
            item(&self.agreement, purpose, &u64::to_le_bytes(i as u64))
        };
        let items = self.texts.iter().map(|(item, _)| *item);
        let mut filled = Zeroizing::new(items.chain((0..lacking).map(filler)).collect::<Vec<_>>());
        filled.sort_unstable();
        let collide = filled[0] < FIRST_ITEM || filled.windows(2).any(|pair| pair[0] == pair[1]);
        (!collide).then_some(filled).ok_or(Unfit::Collision)
    }
}

fn item(agreement: &Agreement, purpose: Purpose, text: &[u8]) -> u64 {
    agreement.number(purpose, text) as u64 >> (64 - agreement.width())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(size: usize) -> Agreement {
        Agreement::new("seed", size, 0).unwrap()
    }

    #[test]
    fn a_text_that_comes_again_counts_once() {
        let items = Items::new(&agreement(3), ["b", "a", "b", "b", "c"]).unwrap();
        assert_eq!((items.count(), items.repeated()), (3, 2));
        let mut texts: Vec<&str> = items.iter().map(|(_, text)| text).collect();
        texts.sort_unstable();
        assert_eq!(texts, ["a", "b", "c"]);
        let refused = Items::new(&agreement(3), ["a", "b", "c", "d"]).err();
        assert_eq!(refused, Some(Unfit::TooMany { items: 4, size: 3 }));
    }

    #[test]
    fn lists_are_filled_up_with_different_numbers_for_the_two() {
        let agreement = agreement(100);
        let items = Items::new(&agreement, ["a", "b"]).unwrap();
        let [receiver, sender] = [true, false].map(|receiver| items.filled(receiver).unwrap());
        for list in [&receiver, &sender] {
            assert_eq!(list.len(), 100);
            assert!(list.is_sorted());
            assert!(items.iter().all(|(item, _)| list.contains(&item)));
            assert!(list.iter().all(|item| item >> agreement.width() == 0));
        }
        let common = receiver.iter().filter(|item| sender.contains(item)).count();
        assert_eq!(common, 2);
    }
}
