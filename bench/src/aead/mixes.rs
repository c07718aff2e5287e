//! Mixes of message lengths, which are unfavourable for the study's lanes and suited to refilled
//! lanes.

use sealane_block::Coins;

/// Messages of the internet mix.
const INTERNET: usize = 512;

/// Groups of seven in the realistic case.
const GROUPS: usize = 64;

/// The study's realistic case (slide 18): 4 messages of 128 bytes to 3 of 2048, one among the
/// other.
pub fn realistic() -> Vec<usize> {
    [128, 2048, 128, 2048, 128, 2048, 128].repeat(GROUPS)
}

/// Lengths as on the internet's backbones (slide 8): 44 % of 40 to 100 bytes, 37 % of 1400 to 1500,
/// and the rest evenly in between; always the same ones. The study names the first two shares.
pub fn internet() -> Vec<usize> {
    let mut coins = Coins::danger_fixed_seed(44_37_19).secret("lengths");
    let mut draw = |from: usize, to: usize| {
        let mut bytes = [0; 8];
        coins.fill_bytes(&mut bytes);
        from + (u64::from_le_bytes(bytes) % (to - from + 1) as u64) as usize
    };
    // Every place once, one kind of length among the other: the shares are those of the study.
    let mut length = |i: usize| match i * 197 % INTERNET * 100 / INTERNET {
        0..44 => draw(40, 100),
        44..81 => draw(1400, 1500),
        _ => draw(101, 1399),
    };
    (0..INTERNET).map(&mut length).collect()
}

/// Rounds lengths up to multiples of a block, for modes that take whole blocks only.
pub fn whole_blocks(lengths: Vec<usize>) -> Vec<usize> {
    let whole = |length: usize| length.next_multiple_of(16);
    lengths.into_iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_shares_that_they_should() {
        let lengths = realistic();
        let short = lengths.iter().filter(|length| **length == 128).count();
        assert_eq!((lengths.len(), short), (7 * GROUPS, 4 * GROUPS));

        let lengths = internet();
        let share = |from, to| {
            let within = |length: &&usize| (from..=to).contains(*length);
            lengths.iter().filter(within).count() as f64 / INTERNET as f64
        };
        assert!((share(40, 100) - 0.44).abs() < 0.01);
        assert!((share(1400, 1500) - 0.37).abs() < 0.01);
        assert_eq!(share(40, 1500), 1.0);
        assert_eq!(lengths, internet(), "always the same ones");
    }
}
