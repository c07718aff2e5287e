//! Circuits on the two shares of a ring element, each known to one party, that add them: bits of
//! the element are bits of the sum.

use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// A circuit, by the bits that it reads of each share and what it computes of them. Its inputs are
/// these bits of the first party's share, then of the second one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sum {
    /// Bits `first..first + count` of the sum, from the bits up to these.
    Bits { first: u8, count: u8 },
    /// Of shares of `width` bits the carry into bit `at`, then the carry out.
    Carries { at: u8, width: u8 },
    /// The same where the sum is below half of the modulus: the carry out is a disjunction of the
    /// highest bits. Inputs are the bits below `at` and the highest one.
    Short { at: u8 },
}

impl Sum {
    /// Bits that it reads of each share.
    pub(crate) fn inputs(self) -> usize {
        usize::from(match self {
            Sum::Bits { first, count } => first + count,
            Sum::Carries { width, .. } => width,
            Sum::Short { at } => at + 1,
        })
    }

    /// The circuit, made once in a process.
    pub(crate) fn tape(self) -> Arc<Tape> {
        static MADE: LazyLock<Mutex<BTreeMap<Sum, Arc<Tape>>>> = LazyLock::new(Mutex::default);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.entry(self).or_insert_with(|| Arc::new(self.make())))
    }

    fn make(self) -> Tape {
        let mut b = Builder::for_goal(Goal::Depth);
        let [x, y] = [0, 1].map(|_| b.input(self.inputs()));
        let [wide_x, wide_y] = [&x, &y].map(|bits| Int::unsigned(bits));
        let outputs = match self {
            Sum::Bits { first, .. } => {
                let sum = b.add(wide_x, wide_y, self.inputs());
                sum[first.into()..].to_vec()
            }
            Sum::Carries { at, width } => {
                let sum = b.add(wide_x, wide_y, usize::from(width) + 1);
                let at = usize::from(at);
                let into = b.xor(x[at], y[at]);
                vec![b.xor(into, sum[at]), sum[usize::from(width)]]
            }
            Sum::Short { at } => {
                let at = usize::from(at);
                let [low_x, low_y] = [&x[..at], &y[..at]].map(Int::unsigned);
                let sum = b.add(low_x, low_y, at + 1);
                vec![sum[at], b.or(x[at], y[at])]
            }
        };
        compile(&b.finish(vec![outputs]), &Machine::ROUNDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joins of a carry network that has the fewest levels.
    #[test]
    fn circuits_are_as_deep_as_carries_are() {
        for (sum, depth) in [
            (
                Sum::Bits {
                    first: 31,
                    count: 1,
                },
                5,
            ),
            (
                Sum::Bits {
                    first: 63,
                    count: 1,
                },
                6,
            ),
            (
                Sum::Bits {
                    first: 0,
                    count: 32,
                },
                5,
            ),
            (Sum::Carries { at: 12, width: 32 }, 6),
            (Sum::Short { at: 12 }, 4),
        ] {
            assert_eq!(sum.tape().depth, depth, "{sum:?}");
        }
    }
}
