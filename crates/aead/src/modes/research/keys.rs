//! Encryption calls that modes of the study alone use.

use sealane_block::Lanes;
use sealane_block::aes::{Around, Forward};

use crate::lanes::{Keys, Wave};

/// Further calls of the cipher, for any keys.
pub(crate) trait ResearchKeys<L: Lanes, const N: usize>: Keys<L, N> {
    /// Encrypts `x ^ late`, and adds `onto`.
    #[inline(always)]
    fn encrypt_late_onto(
        &self,
        schedule: usize,
        x: Wave<L, N>,
        late: Wave<L, N>,
        onto: Wave<L, N>,
    ) -> Wave<L, N> {
        let around = Around {
            late: Some(&late.v),
            onto: Some(&onto.v),
        };
        self.cipher::<Forward>(schedule, x, around)
    }
}

impl<L: Lanes, K: Keys<L, N>, const N: usize> ResearchKeys<L, N> for K {}
