//! For tests: correlations that somebody else makes.

use super::{Batch, Goods, Taken};
use sealane_parties::PartyId;
use sealane_protocol::{Correlation, Setting};
use std::collections::{BTreeMap, VecDeque};

impl Goods {
    pub(crate) fn given(setting: &Setting, me: PartyId) -> Goods {
        Goods {
            setting: setting.clone(),
            me,
            ots: None,
            pooled: None,
            pools: BTreeMap::new(),
        }
    }

    pub(crate) fn give(&mut self, kind: Correlation, count: usize, given: Taken) {
        let Taken { bits, elements } = given;
        let taken = 0;
        let pool = self.pools.entry(kind).or_default();
        pool.push_back(Batch {
            count,
            taken,
            bits,
            elements,
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pools.values().all(VecDeque::is_empty)
    }
}
