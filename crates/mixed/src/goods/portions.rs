//! Portions in which a refill makes correlations, so that its OTs take no memory with their number.
//!
//! Correlations of bits send nothing but their OTs, so they are made as soon as theirs are there.
//! Extensions of base OTs make a portion each, whose rows are hashed as they come, and cross all
//! together; a silent one makes an iteration at a time. The last portion also has the OTs of
//! everything else: of correlations of integers, which exchange messages, and of labels.

use super::cost::{counts, hashed, is_bits, ots, unit};
use sealane_protocol::{Correlation, Demand, Setting};

/// OTs of each direction that a portion of bits takes at most: 4 MiB of blocks.
pub(super) const PORTION: u64 = 1 << 18;

/// Correlations of bits that are made together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Portion {
    pub(super) made: Vec<(Correlation, u64)>,
    /// OTs of each direction of which they are made.
    pub(super) ots: [u64; 2],
}

/// The portions of a demand, in the order in which they are made; one at least.
pub(super) fn portions(setting: &Setting, demand: &Demand) -> Vec<Portion> {
    let mut portions = vec![Portion::default()];
    for (kind, count) in demand.0.iter().filter(|(kind, _)| is_bits(**kind)) {
        let each = ots(setting, *kind);
        let mut left = *count;
        while left > 0 {
            let last = portions.last_mut().expect("one at least");
            // All kinds of bits take as many in both directions.
            let now = left.min((PORTION - last.ots[0]) / each[0]);
            if now == 0 {
                portions.push(Portion::default());
                continue;
            }
            last.made.push((*kind, now));
            last.ots = [0, 1].map(|at| last.ots[at] + now * each[at]);
            left -= now;
        }
    }
    portions
}

/// OTs of each direction that each extension of a refill makes, in order: those of the portions,
/// or whole iterations.
pub(super) fn extensions(setting: &Setting, demand: &Demand) -> Vec<[u64; 2]> {
    let mut left = counts(setting, demand);
    let mut made = Vec::new();
    if setting.silent {
        while left != [0; 2] {
            let now = left.map(|left| left.min(unit(setting) as u64));
            left = [0, 1].map(|at| left[at] - now[at]);
            made.push(now);
        }
        return made;
    }
    for portion in portions(setting, demand) {
        left = [0, 1].map(|at| left[at] - portion.ots[at]);
        made.push(portion.ots);
    }
    let last = made.last_mut().expect("one at least");
    *last = [0, 1].map(|at| last[at] + left[at]);
    made
}

/// OTs of a refill that stay until others are made: of what is no bits, and of a portion, where it
/// is taken from a pool or from a silent iteration. Those of base OTs become bits as they come.
pub(super) fn most_ots(setting: &Setting, demand: &Demand) -> [u64; 2] {
    let (counts, hashed) = (counts(setting, demand), hashed(setting, demand, is_bits));
    let stay = u64::from(setting.silent || setting.pooled) * PORTION;
    [0, 1].map(|at| counts[at] - hashed[at] + hashed[at].min(stay))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goods::cost::transfers;
    use sealane_protocol::{Algebra, Protocol};

    #[test]
    fn portions_are_bounded_and_extensions_make_all_that_is_counted() {
        let bits = |bits| Correlation::Wide { bits };
        let integers = Correlation::Triple {
            algebra: Algebra::Z2k(7),
        };
        let setting = Setting::in_order(&crate::Gmw::profile(), 2);
        for (two, three, ring) in [
            (0, 0, 5),
            (1, 0, 0),
            (PORTION - 1, 2, 3),
            (9 * PORTION, 7, 0),
        ] {
            let mut demand = Demand::default();
            for (kind, count) in [(bits(2), two), (bits(3), three), (integers, ring)] {
                demand.add(kind, count);
            }
            let demand = transfers(&setting, demand);
            let portions = portions(&setting, &demand);
            assert!(portions.iter().all(|portion| portion.ots[0] <= PORTION));
            let made = portions.iter().flat_map(|portion| &portion.made);
            assert_eq!(made.map(|(_, count)| count).sum::<u64>(), two + three);
            let made = extensions(&setting, &demand);
            assert_eq!(made.len(), portions.len());
            let sum = |at: usize| made.iter().map(|counts| counts[at]).sum::<u64>();
            assert_eq!([sum(0), sum(1)], counts(&setting, &demand));
            assert_eq!(most_ots(&setting, &demand)[0], 7 * ring);
            let pooled = Setting {
                pooled: true,
                ..setting.clone()
            };
            let bits = (two + three).min(PORTION);
            assert_eq!(most_ots(&pooled, &demand)[0], bits + 7 * ring);
        }
    }
}
