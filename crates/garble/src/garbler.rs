//! The garbler: zero labels and tables of one instance.

use sealane_block::{Block, Calls, Coins, Cpu};
use sealane_circuit::Tape;
use zeroize::{Zeroize, Zeroizing};

use crate::half_gates::GarbleAnd;
use crate::known_operand::garbling;
use crate::machine::{Gates, TapeRun, Workers};
use crate::prf::{self, Prf};
use crate::scheme::{Hash, with_hash};
use crate::tables::{Ended, KeepError, TableStream};
use crate::{Ports, Roles, Scheme, Tables, decode, three_halves};

/// The garbler of one instance.
pub struct Garbler {
    cpu: Cpu,
    scheme: Scheme,
    seed: Block,
    hash: Hash,
    roles: Roles,
    delta: Block,
    /// The number of the next call; see the crate's documentation.
    calls: Calls,
    machine: Workers,
}

impl Garbler {
    /// Creates a garbler with a fresh offset. The public seed must be random and used by this
    /// instance alone: it comes from a [`PublicStream`](sealane_block::PublicStream), never from
    /// secret coins.
    pub fn new(cpu: Cpu, scheme: Scheme, seed: Block, coins: &mut Coins) -> Garbler {
        let delta = coins.secret("garble: offset").block();
        Garbler::with_offset(cpu, scheme, seed, Block::new(delta.value() | 1))
    }

    /// Creates a garbler with an offset that its caller has drawn, for this instance alone, as
    /// [`Garbler::new`] does: secret and uniform but for bit 0. The seed is as there.
    ///
    /// # Panics
    /// If bit 0 of the offset is not 1.
    pub fn with_offset(cpu: Cpu, scheme: Scheme, seed: Block, delta: Block) -> Garbler {
        assert_eq!(delta.lsb(), 1, "bit 0 of an offset tells labels apart");
        Garbler {
            cpu,
            scheme,
            seed,
            hash: Hash::new(cpu, scheme, seed),
            roles: Roles::default(),
            delta,
            calls: Calls::default(),
            machine: Workers::default(),
        }
    }

    /// Sets the roles of the parties that tapes refer to, from now on.
    pub fn set_roles(&mut self, roles: Roles) {
        self.roles = roles;
    }

    /// Lets large calls run on up to `threads` threads beside the caller's from now on; up to
    /// [`SPAN`](crate::machine::SPAN) of them have work. The default, also chosen by 0, is 1: the
    /// caller's thread. Tables and labels do not depend on the number.
    pub fn set_threads(&mut self, threads: usize) {
        self.machine.threads = threads;
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the public seed, which the evaluator needs.
    pub fn seed(&self) -> Block {
        self.seed
    }

    /// Returns the free-XOR offset: secret, with bit 0 equal to 1. In a scheme without free XOR it
    /// is no offset of labels.
    pub fn delta(&self) -> Block {
        self.delta
    }

    /// Draws fresh labels of both values of `count` wires, for schemes without free XOR: the labels
    /// of 0, then the labels of the value 1. With free XOR, any blocks serve as zero labels.
    pub fn fresh_labels(&self, coins: &mut Coins, count: usize) -> Zeroizing<Vec<Block>> {
        let mut labels = Zeroizing::new(vec![Block::ZERO; count * self.scheme.labels()]);
        coins.secret("garble: labels").fill(&mut labels);
        if self.scheme == Scheme::Prf {
            let (zeros, ones) = labels.split_at_mut(count);
            for (zero, one) in zeros.iter_mut().zip(ones) {
                let signal = zero.lsb();
                (*zero, *one) = (prf::label(*zero, signal), prf::label(*one, 1 ^ signal));
            }
        }
        labels
    }

    /// Garbles `tape` on `lanes` lanes. Ports carry zero labels; [`Scheme::table_bytes`] bytes go
    /// into `tables`.
    ///
    /// # Errors
    /// The error of `tables`. The garbler and its evaluator are then out of step and unusable.
    ///
    /// # Panics
    /// If the tape names slots or gates that it does not have, if there are 2^32 or more lanes, or
    /// if the operating system has no more threads.
    pub fn garble<T: Tables>(
        &mut self,
        tape: &Tape,
        lanes: usize,
        ports: &mut dyn Ports,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        let mut stream = KeepError::new(tables);
        let result = self.run(tape, lanes, ports, &mut stream);
        stream.explain(result)
    }

    fn run(
        &mut self,
        tape: &Tape,
        lanes: usize,
        ports: &mut dyn Ports,
        tables: &mut dyn TableStream,
    ) -> Result<(), Ended> {
        let (cpu, call, delta, roles) = (self.cpu, self.call_of(tape), self.delta, self.roles);
        let mut run = |gates: &(dyn Gates + Sync)| {
            self.machine.run(
                &TapeRun {
                    cpu,
                    gates,
                    call,
                    tape,
                },
                lanes,
                ports,
                tables,
            )
        };
        with_hash!(&self.hash,
            hash => run(&garbling(GarbleAnd { hash, delta }, hash, delta, roles)),
            three_halves(hash) => {
                run(&garbling(three_halves::GarbleAnd { hash, delta }, hash, delta, roles))
            },
            prf(_) => run(&Prf { seed: self.seed, spare: Some(delta) }),
        )
    }

    /// Returns the two hashes of each output label, zero first, for schemes with free XOR. A holder
    /// of these hashes can decode: see [`decode`](crate::decode()). This is a call like any other,
    /// so both sides hash the same outputs in the same order.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn decode_table(&mut self, zero_labels: &[Block], out: &mut [[Block; 2]]) {
        let call = self.decoding();
        self.hash_outputs((call, 0), zero_labels, out);
    }

    /// Returns the number of a decoding whose labels are hashed a part at a time.
    pub fn decoding(&mut self) -> u64 {
        self.calls.take()
    }

    /// Hashes zero labels of a decoding, as [`Garbler::decode_table`] does: those from number
    /// `first` on.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn hash_outputs(&self, part: (u64, usize), zero_labels: &[Block], out: &mut [[Block; 2]]) {
        let other = zero_labels.iter().map(|label| *label ^ self.delta);
        let ones = Zeroizing::new(other.collect::<Vec<_>>());
        self.hash_both(part, zero_labels, &ones, out);
    }

    /// Computes [`Garbler::decode_table`] from both labels of each output.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn decode_table_of(&mut self, zeros: &[Block], ones: &[Block], out: &mut [[Block; 2]]) {
        let call = self.decoding();
        self.hash_both((call, 0), zeros, ones, out);
    }

    fn hash_both(
        &self,
        part: (u64, usize),
        zeros: &[Block],
        ones: &[Block],
        out: &mut [[Block; 2]],
    ) {
        assert!(
            zeros.len() == out.len() && ones.len() == out.len(),
            "one pair of hashes for each label"
        );
        // Both labels of an output take the same tweak, as both labels of a gate's input do.
        for (value, labels) in [zeros, ones].into_iter().enumerate() {
            let mut hashes = Zeroizing::new(labels.to_vec());
            decode::hash_outputs(self.cpu, &self.hash, part, &mut hashes);
            for (pair, hash) in out.iter_mut().zip(hashes.iter()) {
                pair[value] = *hash;
            }
        }
    }

    /// Returns the call number of a run of this tape. A tape without tables hashes nothing and
    /// takes no number: the two sides run it at different times.
    fn call_of(&mut self, tape: &Tape) -> u64 {
        match self.scheme.table_bytes(tape, 1, self.roles) {
            0 => self.calls.next(),
            _ => self.calls.take(),
        }
    }
}

impl Drop for Garbler {
    /// The seed is public. It is erased as well, so that nothing is left in memory; hash and labels
    /// erase themselves.
    fn drop(&mut self) {
        self.delta.zeroize();
        self.seed.zeroize();
    }
}
