//! Circuits on the two shares of a ring element, each known to one party, that add them: bits of
//! the element are bits of the sum.

use sealane_circuit::{Builder, Goal, Int, KnownTo, Machine, Tape, compile, compile_known};
use sealane_garble::Roles;
use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Marks of the shares of garbler and evaluator, whose labels keep the rules of inputs. Marks of
/// parties in tapes of plans are other ones: what a party knows it may hold as a random share.
pub(crate) const SHARES: Roles = Roles {
    garbler: KnownTo::MAX - 1,
    evaluator: KnownTo::MAX,
};

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

    /// The circuit of few levels, or of few ANDs, made once in a process.
    pub(crate) fn tape(self, goal: Goal) -> Arc<Tape> {
        type Made = BTreeMap<(Sum, bool), Arc<Tape>>;
        static MADE: LazyLock<Mutex<Made>> = LazyLock::new(Mutex::default);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = made.entry((self, goal == Goal::Size));
        Arc::clone(entry.or_insert_with(|| Arc::new(self.make(goal))))
    }

    fn make(self, goal: Goal) -> Tape {
        let mut b = Builder::for_goal(goal);
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
        let circuit = b.finish(vec![outputs]);
        match goal {
            Goal::Depth => compile(&circuit, &Machine::ROUNDS),
            Goal::Size => {
                let marks = [SHARES.garbler, SHARES.evaluator];
                let known = marks
                    .into_iter()
                    .flat_map(|mark| repeat_n(mark, self.inputs()));
                compile_known(&circuit, &Machine::CPU, &known.collect::<Vec<_>>())
            }
        }
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
            assert_eq!(sum.tape(Goal::Depth).depth, depth, "{sum:?}");
        }
    }
}
