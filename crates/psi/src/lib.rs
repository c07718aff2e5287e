//! Room `psi`: what private set intersection needs before a run.
//!
//! Two parties agree on a seed and on a bound on the size of their sets. Each prepares its own set
//! alone, in the clear, on its own machine; what comes out is input of the circuits in
//! [`sealane_circuit::psi`], or of a program that does the same.
//!
//! | file | what it does |
//! |---|---|
//! | `agreement` | what both parties have to agree on, and all that follows from it |
//! | `items` | cells of text to items of so many bits |
//! | `shuffled` | sorted lists, and a random order, for sort-compare-shuffle |
//! | `phased` | a cuckoo table with a stash, and bins of candidates, for circuit phasing |
//!
//! # How it can fail, and what happens then
//!
//! Let n be the bound on the size of a set ([`Agreement::size`]) and w = 40 + 2 ceil(log2 n) the
//! bits of an item ([`Agreement::width`]).
//!
//! | what | probability | what happens |
//! |---|---|---|
//! | two different texts, one of either party, become the same item | at most n^2 2^-w <= 2^-40, by the union bound over pairs | a match that is none; nobody notices |
//! | two different texts of one party become the same item, or an item is a reserved one | at most (n^2 / 2 + 2 n) 2^-w < 2^-38 | refused ([`Unfit::Collision`]) |
//! | a bin gets more candidates than it has places | at most 2^-40; the bound is that of [`sealane_circuit::psi::phased`] | refused ([`Unfit::Bin`]) |
//! | more than [`STASH`](sealane_circuit::psi::phased::STASH) items find no bin in the cuckoo table | no proof gives a number for sets of this size; it was measured, see `phased` | refused ([`Unfit::Stash`]) |
//!
//! The probabilities are over the seed, for keyed BLAKE3 as a random function: agree on a seed
//! after the sets are fixed, or draw it at random. **No item is ever dropped.** What is refused is
//! hashed again, with another attempt: a number that goes into every hash. Both parties have to use
//! the same one, so the other party learns that earlier attempts did not fit; that is all it
//! learns.
//!
//! # What this is not
//!
//! Everything here branches on the items, in the memory of their owner, who is the only one to see
//! how long it takes. Whoever knows the seed can hash texts as the parties do: prepared tables are
//! as secret as the set that they were made from.
#![forbid(unsafe_code)]

mod agreement;
mod items;
pub mod phased;
pub mod shuffled;

pub use agreement::{Agreement, MAX_SIZE, TRIES, Unfit, fit};
pub use items::{FIRST_ITEM, Items};
