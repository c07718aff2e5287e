//! Authenticated garbling: half gates over masks that neither party knows and that carry MACs.
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
//! XOR is free on labels, MACs and keys. The constant 1 has the mask 0, B's label 1 and A's label
//! `D_A ^ 1`.
//!
//! A tape is walked four times, in the same order of lanes, ANDs and groups
//! ([`machine`](crate::machine)):
//!
//! | walk | party | a wire | an AND takes | and leaves |
//! |---|---|---|---|---|
//! | [`masks`](Walks::masks) | both | `M, K` | `[l_c], [X], [Y]` | `[l_a ^ X], [l_b ^ Y]` |
//! | [`garble`](Walks::garble) | A | `c, M, K` | `[l_c]`, `W_A(s ^ l_c)` | table, `c`, two MACs |
//! | [`evaluate`](Walks::evaluate) | B | `c, M, K` | table, `[l_c], [s ^ l_c]` | `c`, a MAC |
//! | [`answer`](Walks::answer) | A | `m` | `m_c`, three MACs | the same MAC |
//!
//! The MAC is that of A's share of `m_a l_b ^ m_b l_a ^ s ^ l_c`, which tells B whether `m_c` is
//! right. What an AND takes and leaves lies in planes of blocks beside the table.
//!
//! **Assumption.** The hash is circular correlation robust (ideal cipher). What these walks do not
//! check is for the caller: openings of masks, `m_c` as B states them, and MACs.
//!
//! The table of a call with n (AND, lane) pairs has `32 n + ceil(n / 8)` bytes, in chunks of at
//! most 1024 pairs: the bits p, packed, then all G_0, then all G_1.

mod equations;
mod stream;
#[cfg(test)]
mod vectors;

use sealane_block::hash::Mi;
use sealane_block::{Block, Calls, Cpu, LabelHash};
use sealane_circuit::Tape;
use sealane_circuit::tape::{Gate, KnownTo};
use std::ops::Range;

use crate::kernels::{self, BlockRun, GateKernel, MAX_LABELS};
use crate::machine::{Gates, TapeRun, Workers, free_xors};
use crate::tables::{Ended, KeepError};
use crate::{Ports, Tables};
use equations::{AnswerAnd, EvaluateAnd, GarbleAnd, MaskAnd, ONE_BIT};
use stream::{Message, Stream};

/// Bytes of the table of so many (AND, lane) pairs in one call.
pub const fn table_bytes(pairs: u64) -> u64 {
    32 * pairs + pairs.div_ceil(8)
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

/// Planes of the garbler beside a table, a block for each (AND, lane) pair in the order of the
/// format. The walk replaces all of it.
pub struct GarblerPlanes<'a> {
    /// Before: `M_A` of the mask of the output. After: `M_A` of the mask of the first operand.
    pub mac: &'a mut [Block],
    /// Before: `K_A` of the mask of the output. After: `M_A` of the mask of the second operand.
    pub key: &'a mut [Block],
    /// Before: `W_A(s ^ l_c)`. After: the label of the output.
    pub share: &'a mut [Block],
}

/// Planes of the evaluator beside a table, as [`GarblerPlanes`].
pub struct EvaluatorPlanes<'a> {
    /// Before: `M_B` of the mask of the output. After: the label of the output.
    pub mac: &'a mut [Block],
    /// Before: `K_B` of the mask of the output. After: the MAC that the garbler is to show.
    pub key: &'a mut [Block],
    /// `M_B[s ^ l_c]`.
    pub product_mac: &'a mut [Block],
    /// `K_B[s ^ l_c]`.
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
            one: [Block::ZERO; MAX_LABELS],
        };
        self.alone(&kernel, run, ports, &mut { planes });
    }

    /// Garbles under the offset `delta`, as a call that [`Walks::call`] has numbered. Ports carry
    /// label, MAC and key of each wire. Writes [`table_bytes`] of [`Run::pairs`].
    ///
    /// # Errors
    /// The error of `tables`.
    ///
    /// # Panics
    /// As [`Walks::masks`].
    pub fn garble<T: Tables>(
        &mut self,
        (call, run): (u64, Run<'_>),
        delta: Block,
        ports: &mut dyn Ports,
        planes: GarblerPlanes<'_>,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        let hash = self.hash.clone();
        let kernel = GarbleAnd { hash: &hash, delta };
        let one = [delta ^ ONE_BIT, Block::ZERO, Block::ZERO];
        let mut keep = KeepError::new(tables);
        let GarblerPlanes { mac, key, share } = planes;
        let local = &mut [mac, key, share];
        let mut stream = Stream::new(local, run.pairs(), Some(Message::to(&mut keep)));
        let gates = OneKernel { kernel, one };
        let result = self.walk(&gates, (call, run), ports, &mut stream);
        let result = result.and_then(|()| stream.finish());
        drop(stream);
        keep.explain(result)
    }

    /// Evaluates at a party with the offset `delta`, as [`Walks::garble`].
    ///
    /// # Errors
    /// The error of `tables`.
    ///
    /// # Panics
    /// As [`Walks::masks`].
    pub fn evaluate<T: Tables>(
        &mut self,
        (call, run): (u64, Run<'_>),
        delta: Block,
        ports: &mut dyn Ports,
        planes: EvaluatorPlanes<'_>,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        let hash = self.hash.clone();
        let kernel = EvaluateAnd { hash: &hash, delta };
        let one = [ONE_BIT, Block::ZERO, Block::ZERO];
        let mut keep = KeepError::new(tables);
        let EvaluatorPlanes {
            mac,
            key,
            product_mac,
            product_key,
        } = planes;
        let local = &mut [mac, key, product_mac, product_key];
        let mut stream = Stream::new(local, run.pairs(), Some(Message::from(&mut keep)));
        let gates = OneKernel { kernel, one };
        let result = self.walk(&gates, (call, run), ports, &mut stream);
        drop(stream);
        keep.explain(result)
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
            one: [ONE_BIT; MAX_LABELS],
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
        let mut stream = Stream::new(planes, run.pairs(), None);
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
    /// Labels of the constant 1; those of 0 are 0.
    one: [Block; MAX_LABELS],
}

impl<K: GateKernel> Gates for OneKernel<K> {
    fn labels(&self) -> usize {
        K::LABELS
    }

    /// One buffer holds what a walk reads and what it writes, and one thread fills it.
    fn garbles(&self) -> bool {
        false
    }

    fn table_bytes(&self, _: &[Gate], known_to: &[KnownTo]) -> usize {
        K::PAIR * known_to.len()
    }

    fn constants(&self) -> [[Block; MAX_LABELS]; 2] {
        [[Block::ZERO; MAX_LABELS], self.one]
    }

    fn xors(&self, xors: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended> {
        free_xors(xors, K::LABELS, on);
        Ok(())
    }

    fn ands(&self, ands: Range<usize>, on: &mut BlockRun<'_>) -> Result<(), Ended> {
        kernels::run(&self.kernel, &on.tape.ands[ands], on)
    }
}
