//! Crate `psi`: the preparation of sets for private set intersection, before a run.
//!
//! Two parties agree on a seed and on a bound on the size of their sets. Each prepares its own set
//! alone, in the clear, on its own machine; the result is input of the circuits in
//! [`sealane_circuit::psi`], or of a program that does the same.
//!
//! | file | what it does |
//! |---|---|
//! | `agreement` | the agreement of both parties, and all that follows from it |
//! | `items` | cells of text to items of a fixed width |
//! | `shuffled` | sorted lists, and a random order, for sort-compare-shuffle |
//! | `phased` | a cuckoo table with a stash, and bins of candidates, for circuit phasing |
//!
//! # Failures
//!
//! Let n be the bound on the size of a set ([`Agreement::size`]) and w = 40 + 2 ceil(log2 n) the
//! bits of an item ([`Agreement::width`]).
//!
//! | event | probability | result |
//! |---|---|---|
//! | different texts of both become one item | at most 2^-40, see below | unnoticed false match |
//! | texts of one party collide, or one is reserved | < 2^-38, see below | [`Unfit::Collision`] |
//! | a bin gets more candidates than places | at most 2^-40, see below | [`Unfit::Bin`] |
//! | more than `STASH` items find no bin | measured, see `phased` | [`Unfit::Stash`] |
//!
//! The bound on false matches is n^2 2^-w, the union bound over pairs. The bound on collisions
//! within a set is (n^2 / 2 + 2 n) 2^-w; that on bins is derived in
//! [`sealane_circuit::psi::phased`]. For more than
//! [`STASH`](sealane_circuit::psi::phased::STASH) items without a bin, no proof gives a number for
//! sets of this size. All errors of the type [`Unfit`] refuse the set.
//!
//! The probabilities are over the seed, for keyed BLAKE3 as a random function: agree on a seed
//! after the sets are fixed, or draw it at random. **No item is ever dropped.** A refused set is
//! hashed again, with another attempt: a number that goes into every hash. Both parties have to use
//! the same one, so the other party learns that earlier attempts did not fit; that is all it
//! learns.
//!
//! # Limits
//!
//! Everything here branches on the items, in the memory of their owner, who alone can observe how
//! long it takes. Anyone who knows the seed can hash texts as the parties do: prepared tables are
//! as secret as the set that they were made from.
#![forbid(unsafe_code)]

mod agreement;
mod items;
pub mod phased;
pub mod shuffled;

pub use agreement::{Agreement, MAX_SIZE, TRIES, Unfit, fit};
pub use items::{FIRST_ITEM, Items};
