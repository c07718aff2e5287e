//! Blocks of rows times rows: the pairs of some elements with all rows of a table are computed a
//! block of rows at a time, so that memory does not grow with the number of pairs.

/// Most pairs of a block, where it has more than one row.
pub(crate) const LANES: u64 = 1 << 14;

/// Rows of a full block for so many elements.
pub fn block(elements: u64, rows: u64) -> u64 {
    (LANES / elements.max(1)).clamp(1, rows.max(1))
}

/// Full blocks and their rows, and the rows of a last block that is not full: each size with the
/// number of its blocks.
pub(crate) fn blocks(elements: u64, rows: u64) -> impl Iterator<Item = (u64, u64)> {
    let block = block(elements, rows);
    let sizes = [(block, rows / block), (rows % block, 1)];
    sizes
        .into_iter()
        .filter(|(rows, times)| *rows > 0 && *times > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_all_rows_and_few_pairs() {
        for elements in [1, 2, 1000, LANES, 10 * LANES] {
            for rows in [1, 2, 99, LANES + 1] {
                let sizes = blocks(elements, rows).collect::<Vec<_>>();
                let all = sizes.iter().map(|(rows, times)| rows * times);
                assert_eq!(all.sum::<u64>(), rows);
                for (block, _) in sizes {
                    assert!(block == 1 || block * elements <= LANES, "{elements} {rows}");
                }
            }
        }
    }
}
