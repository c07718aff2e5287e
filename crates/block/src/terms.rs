//! Sums of many blocks, in place, some of whose terms bits choose. A bit is bit 0 of a block, which
//! becomes a mask of its lane: it is neither branched on nor an index, and may be secret.

use crate::{Block, Cpu, Kernel, Lanes};

/// Adds `from[i]` to `to[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn add(cpu: Cpu, to: &mut [Block], from: &[Block]) {
    assert_eq!(to.len(), from.len(), "a term for each block");
    cpu.run(Add {
        to,
        terms: All(from),
    });
}

/// Adds `from[i]` to `to[i]` where bit 0 of `choices[i]` is 1.
///
/// # Panics
/// If the lengths differ.
pub fn add_where(cpu: Cpu, to: &mut [Block], from: &[Block], choices: &[Block]) {
    let all = [from.len(), choices.len()];
    assert_eq!(all, [to.len(); 2], "a term and a choice for each block");
    let terms = Chosen { from, choices };
    cpu.run(Add { to, terms });
}

/// Adds `block` to `to[i]` where bit 0 of `choices[i]` is 1.
///
/// # Panics
/// If the lengths differ.
pub fn add_one_where(cpu: Cpu, to: &mut [Block], block: Block, choices: &[Block]) {
    assert_eq!(to.len(), choices.len(), "a choice for each block");
    let terms = One { block, choices };
    cpu.run(Add { to, terms });
}

/// Terms of a sum.
trait Terms {
    /// The terms of the vector from this block on.
    fn at<L: Lanes>(&self, l: L, at: usize) -> L::V;
    /// The term of a block by itself.
    fn single(&self, at: usize) -> Block;
}

struct All<'a>(&'a [Block]);

struct Chosen<'a> {
    from: &'a [Block],
    choices: &'a [Block],
}

struct One<'a> {
    block: Block,
    choices: &'a [Block],
}

impl Terms for All<'_> {
    #[inline(always)]
    fn at<L: Lanes>(&self, l: L, at: usize) -> L::V {
        l.load(&self.0[at..])
    }
    #[inline(always)]
    fn single(&self, at: usize) -> Block {
        self.0[at]
    }
}

impl Terms for Chosen<'_> {
    #[inline(always)]
    fn at<L: Lanes>(&self, l: L, at: usize) -> L::V {
        let mask = l.permute_mask(l.load(&self.choices[at..]));
        l.and(l.load(&self.from[at..]), mask)
    }
    #[inline(always)]
    fn single(&self, at: usize) -> Block {
        self.from[at].masked(self.choices[at].lsb())
    }
}

impl Terms for One<'_> {
    #[inline(always)]
    fn at<L: Lanes>(&self, l: L, at: usize) -> L::V {
        let mask = l.permute_mask(l.load(&self.choices[at..]));
        l.and(l.splat(self.block), mask)
    }
    #[inline(always)]
    fn single(&self, at: usize) -> Block {
        self.block.masked(self.choices[at].lsb())
    }
}

struct Add<'a, T> {
    to: &'a mut [Block],
    terms: T,
}

impl<T: Terms> Kernel for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Add { to, terms } = self;
        let whole = to.len() - to.len() % L::WIDTH;
        for at in (0..whole).step_by(L::WIDTH) {
            let sum = l.xor(l.load(&to[at..]), terms.at(l, at));
            l.store(&mut to[at..], sum);
        }
        for at in whole..to.len() {
            to[at] ^= terms.single(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{drawn, values};

    #[test]
    fn terms_are_added_where_they_are_chosen_on_every_tier() {
        let block = Block::new(0x1234 << 100 | 7);
        for count in [0, 1, 2, 3, 4, 5, 31, 64, 67] {
            let [to, from, choices] = [1, 2, 3].map(|seed| drawn(count, seed));
            let chosen = |term: &dyn Fn(usize) -> Block| -> Vec<u128> {
                let sum = |at: usize| to[at].value() ^ term(at).value();
                (0..count).map(sum).collect()
            };
            let bit = |at: usize| choices[at].value() & 1 == 1;
            for cpu in Cpu::available() {
                let tier = cpu.tier();
                let mut all = to.clone();
                add(cpu, &mut all, &from);
                assert!(values(&all) == chosen(&|at| from[at]), "{tier}");
                let mut some = to.clone();
                add_where(cpu, &mut some, &from, &choices);
                let term = |at: usize| if bit(at) { from[at] } else { Block::ZERO };
                assert!(values(&some) == chosen(&term), "{tier}");
                let mut ones = to.clone();
                add_one_where(cpu, &mut ones, block, &choices);
                let term = |at: usize| if bit(at) { block } else { Block::ZERO };
                assert!(values(&ones) == chosen(&term), "{tier}");
            }
        }
    }
}
