//! Permutations by switches whose settings are data: the network of Waksman ("A permutation
//! network", JACM 1968) for any number of rows, after Beauquier and Darrot ("On arbitrary size
//! Waksman networks and their vulnerability", 2002), section 2.
//!
//! A network of n rows is a column of switches over neighbours, two networks of half as many rows,
//! one for the first row of each pair and one for the second, and another column of switches. If n
//! is even, the last pair needs no second switch; if n is odd, the last row needs none at all and
//! goes to the second network. That makes the sum of ceil(log2 i) for i from 1 to n switches,
//! n log2(n) - n + 1 for a power of two.

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
    let rows: Vec<usize> = (0..n).collect();
    extend(&mut network, &rows);
    network
}

/// Appends the network over these rows.
fn extend(network: &mut Vec<(usize, usize)>, rows: &[usize]) {
    let n = rows.len();
    if n < 2 {
        return;
    }
    let pair = |k: usize| (rows[2 * k], rows[2 * k + 1]);
    network.extend((0..n / 2).map(pair));
    for part in [false, true] {
        let part: Vec<usize> = members(n, part).map(|row| rows[row]).collect();
        extend(network, &part);
    }
    network.extend((0..last_switches(n)).map(pair));
}

/// The rows, of n, that meet the first or the second of the inner networks.
fn members(n: usize, second: bool) -> impl Iterator<Item = usize> {
    (0..n).filter(move |&row| (row % 2 == 1 || (n % 2 == 1 && row + 1 == n)) == second)
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
    let second = inner_networks(sources, &places);
    // A switch is set where the row that comes first goes to the second network, or comes from it.
    let mut switches: Vec<bool> = (0..n / 2).map(|k| second[places[2 * k]]).collect();
    for part in [false, true] {
        // Of the two places behind a switch, the one whose row comes through this network.
        let place = |row: usize| if second[row] == part { row } else { row ^ 1 };
        let order: Vec<usize> = members(n, part)
            .map(|row| sources[place(row)] / 2)
            .collect();
        switches.extend(permutation_switches(&order));
    }
    switches.extend((0..last_switches(n)).map(|k| second[2 * k]));
    switches
}

/// For each place, whether its row comes through the second inner network: the two of a pair of
/// places come through different ones, and so do the two rows of a pair of sources.
fn inner_networks(sources: &[usize], places: &[usize]) -> Vec<bool> {
    let n = sources.len();
    let partner = |row: usize| Some(row ^ 1).filter(|&other| other < n);
    let mut second: Vec<Option<bool>> = vec![None; n];
    // The last place has no choice: it starts the first chain.
    for start in (0..n).rev() {
        let mut next = Some(start);
        while let Some(place) = next.filter(|&place| second[place].is_none()) {
            second[place] = Some(true);
            // What shares a switch with its source comes through the first network, and what shares
            // a switch with that place through the second one again.
            next = partner(sources[place]).and_then(|source| {
                second[places[source]] = Some(false);
                partner(places[source])
            });
        }
    }
    second.into_iter().map(|side| side == Some(true)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Where each row is after the network.
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
