//! Authenticated garbling: half gates over masks that no party knows and that carry MACs.
//!
//! Katz, Ranellucci, Rosulek, Wang ("Optimizing Authenticated Garbling", Crypto 2018), for a
//! garbler A and an evaluator B with an offset each, `D_A` and `D_B`, whose bits 0 are 1. A bit
//! `x = x_A ^ x_B` is *authenticated*, `[x]`, if each party holds a MAC of its share under the
//! other's offset, and the key of the other's MAC. Keys have bit 0 clear, so the bit 0 of a MAC is
//! the share:
//!
//! ```text
//! M_A[x] = K_B[x] ^ x_A D_B        M_B[x] = K_A[x] ^ x_B D_A
//! ```
//!
//! A wire of value `x` has a mask `[l]`; its masked value is `m = x ^ l`. A holds the label of the
//! masked value 0, and B that of `m`, which is the former xor `m D_A`. **Bit 0 of a label of the
//! masked value 0 is 0**, so bit 0 of B's label is `m`. With `W_A(x) = K_A[x] ^ x_A D_A`, which
//! B's MAC completes to `x D_A`, an AND of wires a and b with the mask `[l_c]` and the product of
//! masks `[s] = [l_a l_b]` is
//!
//! ```text
//! A   G_0 = H(a) ^ H(a ^ D_A) ^ W_A(l_b)          c = H(a) ^ H(b) ^ W_A(s ^ l_c)
//!     G_1 = H(b) ^ H(b ^ D_A) ^ a ^ W_A(l_a)      p = bit 0 of c, which is then cleared
//! B   c   = H(a) ^ H(b) ^ m_a (G_0 ^ M_B[l_b]) ^ m_b (G_1 ^ a ^ M_B[l_a]) ^ M_B[s ^ l_c] ^ p
//! ```
//!
//! **Among more parties**, with garblers `A_i` and one evaluator, each ordered pair of parties has
//! a MAC of one's share under the other's offset, and its key (Wang, Ranellucci, Katz,
//! "Global-Scale Secure Multiparty Computation", CCS 2017; Yang, Wang, Zhang, "More Efficient MPC
//! from Improved Triple Generation and Authenticated Garbling", CCS 2020). `M_i^j` is that of `A_i`
//! under the offset of `A_j`. Each garbler has labels of its own, for the same masked values. In
//! `W_i` it adds the keys of all others. For the labels of each other garbler it has three rows,
//! whose hash `H_j` has parts of the tweak of its own:
//!
//! ```text
//! A_i  R_0 = H_j(a) ^ H_j(a ^ D_i) ^ M_i^j[l_b]     R_2 = H_j(a) ^ H_j(b) ^ M_i^j[s ^ l_c]
//!      R_1 = H_j(b) ^ H_j(b ^ D_i) ^ M_i^j[l_a]
//! B    to the label of A_j it adds, with the labels of A_i,
//!      H_j(a) ^ H_j(b) ^ m_a R_0 ^ m_b R_1 ^ R_2
//! ```
//!
//! B takes all masked values from the labels of the first garbler: with values of each garbler's
//! own labels, garblers that deviate would learn shares of masks from more than one of them.
//!
//! XOR is free on labels, MACs and keys. The constant 1 has the mask 0, B's label 1 and A's label
//! `D_A ^ 1`.
//!
//! A tape is walked four times, in the same order of lanes, ANDs and groups
//! ([`machine`](crate::machine)):
//!
//! | walk | party | a wire | an AND takes | and leaves |
//! |---|---|---|---|---|
//! | [`masks`](Walks::masks) | all | `M, K` | `[l_c], [X], [Y]` | `[l_a ^ X], [l_b ^ Y]` |
//! | [`garble`](Walks::garble) | A | `c, M, K` | `[l_c]`, `W_A(s ^ l_c)` | table, `c`, two MACs |
//! | [`evaluate`](Walks::evaluate) | B | `c, M, K` | table, `[l_c], [s ^ l_c]` | `c`, a MAC |
//! | [`answer`](Walks::answer) | A | `m` | `m_c`, three MACs | the same MAC |
//!
//! The MAC is that of A's share of `m_a l_b ^ m_b l_a ^ s ^ l_c`, which tells B whether `m_c` is
//! right. What an AND takes and leaves lies in planes of blocks beside the table. Among more than
//! two, a party walks over masks once for each other party. In the other walks a wire has a label
//! of each garbler at the evaluator, one at a garbler, and then `M` and `K` for each other party:
//! at a garbler the evaluator is the first of these, and garblers follow in their order. The MACs
//! that B compares are sums of those of all garblers.
//!
//! **Assumption.** The hash is circular correlation robust (ideal cipher). What these walks do not
//! check is for the caller: openings of masks, `m_c` as B states them, and MACs.
//!
//! The table of a call with n (AND, lane) pairs has `32 n + ceil(n / 8)` bytes between two parties,
//! and `48 n` more for each other garbler, in chunks: the bits p, packed, then all G_0, all G_1,
//! and R_0, R_1 and R_2 for each other garbler. A chunk has the largest power of two of pairs that
//! takes at most 64 KiB, 1024 between two parties.

mod equations;
mod stream;
#[cfg(test)]
mod vectors;

use sealane_block::hash::Mi;
use sealane_block::{Block, Calls, Cpu, LabelHash};
use sealane_circuit::Tape;
use sealane_circuit::tape::{Gate, KnownTo};
use std::ops::Range;

use crate::kernels::{self, BlockRun, GateKernel};
use crate::machine::{Gates, TapeRun, Workers, free_xors};
use crate::tables::{Ended, KeepError};
use crate::{Ports, Tables};
use equations::{AnswerAnd, EvaluateAnd, GarbleAnd, Many, MaskAnd, ONE_BIT, One};
use stream::{Message, Stream};

/// Most garblers of a table.
pub const MOST_GARBLERS: usize = 15;

/// Rows of an AND in the table of each of so many garblers.
const fn rows(garblers: usize) -> usize {
    3 * garblers - 1
}

/// Bytes of the table of so many (AND, lane) pairs in one call, of each of so many garblers.
pub const fn table_bytes(pairs: u64, garblers: usize) -> u64 {
    16 * rows(garblers) as u64 * pairs + pairs.div_ceil(8)
}

/// The walks of one party over tapes, under the hash of an instance.
pub struct Walks {
    cpu: Cpu,
    hash: Mi,
    /// The number of the next call that hashes.
    calls: Calls,
    machine: Workers,
}

/// A tape on a number of lanes.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The tape.
    pub tape: &'a Tape,
    /// Its lanes, fewer than `2^32`.
    pub lanes: usize,
}

impl Run<'_> {
    /// Number of (AND, lane) pairs, which is the length of every plane.
    pub fn pairs(&self) -> usize {
        self.tape.ands.len() * self.lanes
    }
}

/// The place of a garbler among all of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Its number, from 0.
    pub number: usize,
    /// How many there are, at most [`MOST_GARBLERS`].
    pub garblers: usize,
}

impl Seat {
    /// The garbler of two parties.
    pub const ALONE: Seat = Seat {
        number: 0,
        garblers: 1,
    };
}

/// A MAC and a key in planes, of which a walk may replace what it has read.
pub type MaskPlanes<'a> = [&'a mut [Block]; 2];

/// Planes of a garbler beside a table, a block for each (AND, lane) pair in the order of the
/// format.
pub struct GarblerPlanes<'a> {
    /// Before: `M` and `K` of the mask of the output, towards the evaluator and then towards each
    /// other garbler. After: the first two are `M` of the masks of both operands, towards the
    /// evaluator.
    pub masks: Vec<MaskPlanes<'a>>,
    /// Before: `W(s ^ l_c)`. After: the label of the output.
    pub share: &'a mut [Block],
    /// `M[s ^ l_c]` towards each other garbler.
    pub others: Vec<&'a mut [Block]>,
}

/// Planes of the evaluator beside a table, as [`GarblerPlanes`].
pub struct EvaluatorPlanes<'a> {
    /// Before: `M` and `K` of the mask of the output, for each garbler. After: each `M` is the
    /// label of the output that belongs to this garbler, and the first `K` the MAC that all
    /// garblers together are to show.
    pub masks: Vec<MaskPlanes<'a>>,
    /// `M[s ^ l_c]` for each garbler.
    pub product_macs: Vec<&'a mut [Block]>,
    /// The sum of `K[s ^ l_c]` of all garblers.
    pub product_key: &'a mut [Block],
}

impl Walks {
    /// The walks of an instance with this public seed, which is as that of a
    /// [`Garbler`](crate::Garbler).
    pub fn new(cpu: Cpu, seed: Block) -> Walks {
        Walks {
            cpu,
            hash: Mi::new(cpu, seed),
            calls: Calls::default(),
            machine: Workers::default(),
        }
    }

    /// Takes the number of a call that garbles or evaluates: both parties take the same one for the
    /// same table.
    pub fn call(&mut self) -> u64 {
        self.calls.take()
    }

    /// Walks over masks. Ports carry MAC and key of each wire. Of the six planes, the first two are
    /// MACs and keys of the masks of outputs; the others come as MAC and key of `[X]` and of
    /// `[Y]`, and become those of `[l_a ^ X]` and `[l_b ^ Y]`.
    ///
    /// # Panics
    /// As [`Garbler::garble`](crate::Garbler::garble), or if a plane has another length than
    /// [`Run::pairs`].
    pub fn masks(&mut self, run: Run<'_>, ports: &mut dyn Ports, planes: [&mut [Block]; 6]) {
        let kernel = OneKernel {
            kernel: MaskAnd,
            one: (Block::ZERO, 0),
        };
        self.alone(&kernel, run, ports, &mut { planes });
    }

    /// Garbles under the offset `delta`, as a call that [`Walks::call`] has numbered. Ports carry
    /// label, and MACs and keys of each wire. Writes [`table_bytes`] of [`Run::pairs`].
    ///
    /// # Errors
    /// The error of `tables`.
    ///
    /// # Panics
    /// As [`Walks::masks`], or if there are other planes than the seat has.
    pub fn garble<T: Tables>(
        &mut self,
        (call, run): (u64, Run<'_>),
        (delta, seat): (Block, Seat),
        ports: &mut dyn Ports,
        planes: GarblerPlanes<'_>,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        let hash = &self.hash.clone();
        let Seat { number, garblers } = seat;
        assert!(number < garblers && garblers <= MOST_GARBLERS, "a seat");
        let GarblerPlanes {
            masks,
            share,
            others,
        } = planes;
        let whole = (masks.len(), others.len()) == (garblers, garblers - 1);
        assert!(whole, "a garbler has planes for all others");
        let masks = masks.into_iter().flatten();
        let mut local = masks.chain([share]).chain(others).collect::<Vec<_>>();
        let mut keep = KeepError::new(tables);
        let message = Message::new(&mut keep, true, rows(garblers));
        let mut stream = Stream::new(&mut local, run.pairs(), vec![message]);
        let one = (delta ^ ONE_BIT, 1);
        let result = match garblers {
            1 => {
                let kernel = GarbleAnd {
                    hash,
                    delta,
                    garblers: One,
                    number,
                };
                self.walk(&OneKernel { kernel, one }, (call, run), ports, &mut stream)
            }
            _ => {
                let kernel = GarbleAnd {
                    hash,
                    delta,
                    garblers: Many(garblers),
                    number,
                };
                self.walk(&OneKernel { kernel, one }, (call, run), ports, &mut stream)
            }
        };
        let result = result.and_then(|()| stream.finish());
        drop(stream);
        keep.explain(result)
    }

    /// Evaluates at a party with the offset `delta`, as [`Walks::garble`], from a table of each
    /// garbler.
    ///
    /// # Errors
    /// The error of one of the tables.
    ///
    /// # Panics
    /// As [`Walks::garble`].
    pub fn evaluate<T: Tables>(
        &mut self,
        (call, run): (u64, Run<'_>),
        delta: Block,
        ports: &mut dyn Ports,
        planes: EvaluatorPlanes<'_>,
        tables: &mut [T],
    ) -> Result<(), T::Error> {
        let hash = &self.hash.clone();
        let garblers = tables.len();
        assert!((1..=MOST_GARBLERS).contains(&garblers), "some garblers");
        let EvaluatorPlanes {
            masks,
            product_macs,
            product_key,
        } = planes;
        let whole = [masks.len(), product_macs.len()] == [garblers; 2];
        assert!(whole, "an evaluator has planes for all garblers");
        let masks = masks.into_iter().flatten();
        let local = masks.chain(product_macs).chain([product_key]);
        let mut local = local.collect::<Vec<_>>();
        let mut kept = tables.iter_mut().map(KeepError::new).collect::<Vec<_>>();
        let messages = kept.iter_mut();
        let messages = messages.map(|keep| Message::new(keep, false, rows(garblers)));
        let mut stream = Stream::new(&mut local, run.pairs(), messages.collect());
        let one = (ONE_BIT, garblers);
        let result = match garblers {
            1 => {
                let kernel = EvaluateAnd {
                    hash,
                    delta,
                    garblers: One,
                };
                self.walk(&OneKernel { kernel, one }, (call, run), ports, &mut stream)
            }
            _ => {
                let kernel = EvaluateAnd {
                    hash,
                    delta,
                    garblers: Many(garblers),
                };
                self.walk(&OneKernel { kernel, one }, (call, run), ports, &mut stream)
            }
        };
        drop(stream);
        KeepError::explain_all(kept, result)
    }

    /// Computes what the garbler shows for masked values. Ports carry a block for each wire, whose
    /// bit 0 is its masked value. Of the four planes, three are `M_A` of the masks of both operands
    /// and of `s ^ l_c`, the third of the four the masked values of the outputs, as bits 0. The
    /// first one becomes the MACs.
    ///
    /// # Panics
    /// As [`Walks::masks`].
    pub fn answer(&mut self, run: Run<'_>, ports: &mut dyn Ports, planes: [&mut [Block]; 4]) {
        let kernel = OneKernel {
            kernel: AnswerAnd,
            one: (ONE_BIT, 1),
        };
        self.alone(&kernel, run, ports, &mut { planes });
    }

    /// Runs a walk without a message, which hashes nothing.
    fn alone(
        &mut self,
        gates: &(dyn Gates + Sync),
        run: Run<'_>,
        ports: &mut dyn Ports,
        planes: &mut [&mut [Block]],
    ) {
        let mut stream = Stream::new(planes, run.pairs(), Vec::new());
        self.walk(gates, (0, run), ports, &mut stream)
            .unwrap_or_else(|Ended| unreachable!("planes are as long as the walk"));
    }

    fn walk(
        &mut self,
        gates: &(dyn Gates + Sync),
        (call, run): (u64, Run<'_>),
        ports: &mut dyn Ports,
        stream: &mut Stream<'_, '_>,
    ) -> Result<(), Ended> {
        let (cpu, tape) = (self.cpu, run.tape);
        let tape_run = TapeRun {
            cpu,
            gates,
            call,
            tape,
        };
        self.machine.run(&tape_run, run.lanes, ports, stream)
    }
}

/// A walk with one kernel for all ANDs.
struct OneKernel<K> {
    kernel: K,
    /// The label of the constant 1, and how many labels of a wire have it. All others, and those of
    /// 0, are 0.
    one: (Block, usize),
}

impl<K: GateKernel> Gates for OneKernel<K> {
    fn labels(&self) -> usize {
        self.kernel.labels()
    }

    /// One buffer holds what a walk reads and what it writes, and one thread fills it.
    fn garbles(&self) -> bool {
        false
    }

    fn table_bytes(&self, _: &[Gate], known_to: &[KnownTo]) -> usize {
        self.kernel.pair() * known_to.len()
    }

    fn constant(&self, bit: usize, label: usize) -> Block {
        let (one, labels) = self.one;
        if bit == 1 && label < labels {
            one
        } else {
            Block::ZERO
        }
    }

    fn xors(&self, xors: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended> {
        free_xors(xors, self.kernel.labels(), on);
        Ok(())
    }

    fn ands(&self, ands: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended> {
        kernels::run(&self.kernel, &on.tape.ands[ands], on)
    }
}
