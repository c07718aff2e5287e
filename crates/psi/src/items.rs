//! Texts to items: the sets that everything else is made from.

use zeroize::{Zeroize, Zeroizing};

use crate::agreement::{Agreement, Purpose, Unfit};

/// The smallest item of a text. Smaller numbers stand for nothing: 0 for no match and for an unused
/// place of a list of candidates, 1 for an unused place of a stash.
pub const FIRST_ITEM: u64 = 2;

/// A set of items, each with the text that it came from, in ascending order. Items are erased when
/// they are dropped: whoever knows the agreement tries texts until it has their items.
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
    /// The set of these texts. A text that comes again is the same item, and counts once; texts
    /// that differ in any byte are different ones.
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
        let (items_found, size) = (items.texts.len(), agreement.size());
        if items_found > size {
            return Err(Unfit::TooMany {
                items: items_found,
                size,
            });
        }
        Ok(items)
    }

    /// What was agreed.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.texts.len()
    }

    /// How many texts came again.
    pub fn repeated(&self) -> usize {
        self.repeated
    }

    /// The items with their texts, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &'a str)> {
        self.texts.iter().copied()
    }

    /// The item of this index in ascending order, with its text.
    pub(crate) fn at(&self, index: usize) -> (u64, &'a str) {
        self.texts[index]
    }

    /// The items in ascending order, filled up to the agreed size by numbers that are as random as
    /// items are, so that nobody counts them. Those of the two parties are different.
    ///
    /// # Errors
    /// A number that fills up is an item.
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
        if collide {
            Err(Unfit::Collision)
        } else {
            Ok(filled)
        }
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
