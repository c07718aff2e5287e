//! List scheduling of independent chains of known lengths: each lane takes the next chain as soon
//! as it is free.

/// Lengths below this are sorted by counting, in time linear in their number.
const COUNTED: usize = 1024;

/// Returns the numbers of chains, longest first; chains of equal length keep their order.
///
/// It is the rule of Graham ("Bounds on Multiprocessing Timing Anomalies", 1969, theorem 2): the
/// last of `m` lanes is done after at most `4/3 - 1/(3m)` of the best possible time. Neighbours in
/// this order are about equally long, so lanes that start together end at about the same time.
///
/// Lengths are in steps of the machine. Time is linear but for lengths of 1024 and more.
pub fn longest_first(lengths: &[u64]) -> Vec<u32> {
    if lengths.is_sorted_by(|a, b| a >= b) {
        return (0..lengths.len() as u32).collect();
    }
    // Where each length begins: longer ones come before it.
    let mut starts = [0u32; COUNTED + 1];
    let class = |length: u64| COUNTED - (length.min(COUNTED as u64) as usize);
    for &length in lengths {
        starts[class(length)] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        (*start, sum) = (sum, sum + *start);
    }
    let long = starts[1] as usize;
    let mut order = vec![0; lengths.len()];
    for (number, &length) in lengths.iter().enumerate() {
        let start = &mut starts[class(length)];
        order[*start as usize] = number as u32;
        *start += 1;
    }
    order[..long].sort_by_key(|&number| std::cmp::Reverse(lengths[number as usize]));
    order
}

/// Returns the number of steps until the last of `lanes` lanes is done, if each takes the next
/// chain of `order` as soon as it is free.
pub fn steps(lengths: &[u64], order: &[u32], lanes: usize) -> u64 {
    let mut busy_until = std::collections::BinaryHeap::new();
    busy_until.extend(std::iter::repeat_n(std::cmp::Reverse(0), lanes.max(1)));
    let mut last = 0;
    for &number in order {
        let std::cmp::Reverse(free) = busy_until.pop().unwrap_or_default();
        let done = free + lengths[number as usize];
        last = last.max(done);
        busy_until.push(std::cmp::Reverse(done));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_chains_come_first_and_equal_ones_stay() {
        let lengths = [3, 5000, 7, 3, 1023, 1024, 0, 7, 1 << 40];
        assert_eq!(longest_first(&lengths), [8, 1, 5, 4, 2, 7, 0, 3, 6]);
        assert_eq!(longest_first(&[]), []);
        let many: Vec<u64> = (0..3000).map(|i| i * 7919 % 2053).collect();
        let mut expected: Vec<u32> = (0..3000).collect();
        expected.sort_by_key(|&number| std::cmp::Reverse(many[number as usize]));
        assert_eq!(longest_first(&many), expected);
    }

    /// Graham's example of the worst case, for two lanes: 7/6 of the best.
    #[test]
    fn the_bound_is_met_and_not_passed() {
        let lengths = [3, 3, 2, 2, 2];
        let order = longest_first(&lengths);
        assert_eq!(steps(&lengths, &order, 2), 7);
        // The realistic case of the study, many times: no lane waits.
        let mixed: Vec<u64> = (0..112).map(|i| if i % 7 < 4 { 8 } else { 128 }).collect();
        let order = longest_first(&mixed);
        let all: u64 = mixed.iter().sum();
        assert_eq!(steps(&mixed, &order, 16), all / 16);
    }
}
