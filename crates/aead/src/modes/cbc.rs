//! CBC: NIST SP 800-38A, section 6.2, for whole blocks.
//!
//! A building block: it authenticates nothing. Sealing is a chain; opening is not.

use crate::lanes::{BACK, Data, FORWARD, Head, Keys, Mode, Of, State};

pub(crate) struct Cbc;

/// The last block of ciphertext.
const LAST: usize = 0;

impl Mode for Cbc {
    type Schedules = Of<2>;
    type Constants = Of<0>;
    type Words = Of<1>;
    const PARALLEL: bool = false;

    #[inline(always)]
    fn absorb<K: Keys>(_keys: &K, state: &mut State<Self, K::S>, head: &Head<'_, K::S>) {
        state[LAST] = head.block;
    }

    #[inline(always)]
    fn body<K: Keys, D: Data<K::S>>(keys: &K, state: &mut State<Self, K::S>, data: &mut D) {
        let l = keys.l();
        let mut last = state[LAST];
        for unit in 0..data.units() {
            let given = data.load(l, unit, 0);
            if K::OPEN {
                data.store(unit, 0, keys.decrypt_onto(BACK, given, last));
                last = given;
            } else {
                last = keys.encrypt_late(FORWARD, given, last);
                data.store(unit, 0, last);
            }
        }
        state[LAST] = last;
    }
}
