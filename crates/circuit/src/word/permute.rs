//! Permutation networks whose switch settings are data: the network of Waksman ("A permutation
//! network", JACM 1968) for any number of rows, after Beauquier and Darrot ("On arbitrary size
//! Waksman networks and their vulnerability", 2002).
//!
//! A network of n rows is a column of switches, each over a row of the first half and the one in
//! its place in the second half; a network for either half; and another such column. If n is even,
//! the last pair needs no second switch; if n is odd, the last row needs none at all and belongs to
//! the second half. That makes the sum of ceil(log2 i) for i from 1 to n switches, n log2(n) - n +
//! 1 for a power of two.

use crate::builder::{Builder, Wire, Word};

impl Builder {
    /// Permutes `rows` by the switches of [`permutation_network`], swapped where the bit of
    /// `switches` is 1: an AND for each switch and bit of a row.
    ///
    /// # Panics
    /// If there are not as many bits as switches, or rows differ in width.
    pub fn permute(&mut self, rows: &mut [Word], switches: &[Wire]) {
        let network = permutation_network(rows.len());
        assert_eq!(network.len(), switches.len(), "a bit for each switch");
        for (&(i, j), &switch) in network.iter().zip(switches) {
            self.swap_if(switch, rows, i, j);
        }
    }
}

/// The switches (i, j) of a network that brings `n` rows into any order, in the order in which they
/// act.
pub fn permutation_network(n: usize) -> Vec<(usize, usize)> {
    let mut network = Vec::new();
    extend(&mut network, 0, n);
    network
}

/// Appends the network over `n` rows from `start` on.
fn extend(network: &mut Vec<(usize, usize)>, start: usize, n: usize) {
    if n < 2 {
        return;
    }
    let half = n / 2;
    let pair = |k: usize| (start + k, start + half + k);
    network.extend((0..half).map(pair));
    extend(network, start, half);
    extend(network, start + half, n - half);
    network.extend((0..last_switches(n)).map(pair));
}

/// The number of switches in the last column.
fn last_switches(n: usize) -> usize {
    (n - 1) / 2
}

/// The settings with which [`permutation_network`] brings row `sources[i]` to place i, for each i.
///
/// # Panics
/// If `sources` is no permutation of 0, 1, ... .
pub fn permutation_switches(sources: &[usize]) -> Vec<bool> {
    let n = sources.len();
    let mut places = vec![usize::MAX; n];
    for (place, &source) in sources.iter().enumerate() {
        places[source] = place;
    }
    assert!(places.iter().all(|&place| place < n), "a permutation");
    if n < 2 {
        return Vec::new();
    }
    let half = n / 2;
    let second = inner_networks(sources, &places);
    // A switch is set where the row of the first half goes to the second network, or comes from it.
    let mut switches: Vec<bool> = (0..half).map(|k| second[places[k]]).collect();
    for (network, rows) in [(false, 0..half), (true, half..n)] {
        // Of the two places behind a switch, the one whose row comes through this network.
        let place = |row: usize| match partner(row, n) {
            Some(other) if second[row] != network => other,
            _ => row,
        };
        let slot = |source: usize| if source < half { source } else { source - half };
        let order: Vec<usize> = rows.map(|row| slot(sources[place(row)])).collect();
        switches.extend(permutation_switches(&order));
    }
    switches.extend(&second[..last_switches(n)]);
    switches
}

/// The row that shares a switch with this one, of `n`; the last of an odd number shares none.
fn partner(row: usize, n: usize) -> Option<usize> {
    let half = n / 2;
    match row {
        _ if row < half => Some(row + half),
        _ if row < 2 * half => Some(row - half),
        _ => None,
    }
}

/// For each place, true if its row comes through the second inner network: two places that share a
/// switch use different networks, and so do two sources.
fn inner_networks(sources: &[usize], places: &[usize]) -> Vec<bool> {
    let n = sources.len();
    let mut second: Vec<Option<bool>> = vec![None; n];
    // The last place has no choice: it starts the first chain.
    for start in (0..n).rev() {
        let mut next = Some(start);
        while let Some(place) = next.filter(|&place| second[place].is_none()) {
            second[place] = Some(true);
            // What shares a switch with its source comes through the first network, and what shares
            // a switch with that place through the second one again.
            next = partner(sources[place], n).and_then(|source| {
                second[places[source]] = Some(false);
                partner(places[source], n)
            });
        }
    }
    second.into_iter().map(|side| side == Some(true)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The position of each row after the network.
    fn permuted(sources: &[usize]) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..sources.len()).collect();
        let network = permutation_network(rows.len());
        let switches = permutation_switches(sources);
        assert_eq!(network.len(), switches.len());
        for ((i, j), _) in network.into_iter().zip(switches).filter(|(_, set)| *set) {
            rows.swap(i, j);
        }
        rows
    }

    #[test]
    fn every_order_of_a_few_rows_is_reached() {
        let mut orders = vec![vec![]];
        for n in 0..8 {
            for order in &orders {
                assert_eq!(permuted(order), *order);
            }
            let longer = |order: &Vec<usize>| {
                let order = order.clone();
                (0..=n).map(move |place| [&order[..place], &[n], &order[place..]].concat())
            };
            orders = orders.iter().flat_map(longer).collect();
        }
        assert_eq!(orders.len(), 40_320);
    }

    #[test]
    fn the_network_is_as_small_as_waksman_says() {
        for n in 1..=100usize {
            let wanted: u32 = (1..=n).map(|i| i.next_power_of_two().ilog2()).sum();
            assert_eq!(permutation_network(n).len(), wanted as usize, "{n} rows");
        }
        assert_eq!(permutation_network(1024).len(), 10 * 1024 - 1023);
    }

    proptest! {
        #[test]
        fn orders_of_many_rows_are_reached(
            order in (0usize..200).prop_map(|n| (0..n).collect::<Vec<_>>()).prop_shuffle()
        ) {
            prop_assert_eq!(permuted(&order), order);
        }
    }
}
