//! The garbler: zero labels in, tables out, zero labels on.

use sealane_block::{Block, Calls, Coins, Cpu};
use sealane_circuit::Tape;
use zeroize::{Zeroize, Zeroizing};

use crate::half_gates::GarbleAnd;
use crate::machine::{FreeXor, Machine};
use crate::scheme::{Hash, with_hash};
use crate::tables::{Ended, KeepError, TableStream};
use crate::{Ports, Roles, Scheme, Tables, decode, known_operand, prf, three_halves};

/// The garbler of one instance.
pub struct Garbler {
    cpu: Cpu,
    scheme: Scheme,
    seed: Block,
    hash: Hash,
    roles: Roles,
    delta: Block,
    /// The number of the next call; see the crate's page.
    calls: Calls,
    machine: Machine,
}

impl Garbler {
    /// A fresh offset, under a public seed that is random and of this instance alone: from a
    /// [`PublicStream`](sealane_block::PublicStream), never from secret coins.
    pub fn new(cpu: Cpu, scheme: Scheme, seed: Block, coins: &mut Coins) -> Garbler {
        let delta = coins.secret("garble: offset").block();
        let delta = Block::new(delta.value() | 1);
        Garbler {
            cpu,
            scheme,
            seed,
            hash: Hash::new(cpu, scheme, seed),
            roles: Roles::default(),
            delta,
            calls: Calls::default(),
            machine: Machine::default(),
        }
    }

    /// From now on, the parties that tapes speak of have these roles.
    pub fn set_roles(&mut self, roles: Roles) {
        self.roles = roles;
    }

    /// From now on, large calls run on up to `threads` threads beside the caller's: up to
    /// [`SPAN`](crate::machine::SPAN) of them have work. The default, and 0, is 1, the caller's
    /// own. Tables and labels are the same on any number.
    pub fn set_threads(&mut self, threads: usize) {
        self.machine.threads = threads;
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The public seed, which the evaluator needs.
    pub fn seed(&self) -> Block {
        self.seed
    }

    /// The free-XOR offset: secret, its bit 0 is 1. Without free XOR it is no offset of labels.
    pub fn delta(&self) -> Block {
        self.delta
    }

    /// Fresh labels of both values of `count` wires, without free XOR: those of 0, then those of
    /// 1. With it, any blocks are zero labels.
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

    /// Garbles `tape` on `lanes` lanes; ports carry zero labels. [`Scheme::table_bytes`] bytes go
    /// into `tables`.
    ///
    /// # Errors
    /// What `tables` returns. The garbler and its evaluator are then out of step and of no more
    /// use.
    ///
    /// # Panics
    /// If the tape names slots or gates that it does not have, for 2^32 lanes and more, or where
    /// the operating system has no more threads.
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
        let (cpu, call, delta) = (self.cpu, self.call_of(tape), self.delta);
        let (machine, work) = (&mut self.machine, (tape, lanes));
        with_hash!(&self.hash,
            hash => {
                let gates = FreeXor {
                    and: GarbleAnd { hash, delta },
                    garbler_knows: known_operand::Garble::<_, false> { hash, delta },
                    evaluator_knows: known_operand::Garble::<_, true> { hash, delta },
                    roles: self.roles,
                    one: delta,
                    garbles: true,
                };
                machine.run(cpu, &gates, call, work, ports, tables)
            },
            three_halves(hash) => {
                let gates = FreeXor {
                    and: three_halves::GarbleAnd { hash, delta },
                    garbler_knows: known_operand::Garble::<_, false> { hash, delta },
                    evaluator_knows: known_operand::Garble::<_, true> { hash, delta },
                    roles: self.roles,
                    one: delta,
                    garbles: true,
                };
                machine.run(cpu, &gates, call, work, ports, tables)
            },
            prf(_) => {
                let gates = prf::Garble { seed: self.seed, spare: delta };
                machine.run(cpu, &gates, call, work, ports, tables)
            },
        )
    }

    /// The two hashes of each output label, zero first, for schemes with free XOR. Whoever holds
    /// them decodes: see [`decode`](crate::decode()). It is a call like any other, so both sides
    /// hash the same outputs in the same order.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn decode_table(&mut self, zero_labels: &[Block], out: &mut [[Block; 2]]) {
        let other = zero_labels.iter().map(|label| *label ^ self.delta);
        let ones = Zeroizing::new(other.collect::<Vec<_>>());
        self.decode_table_of(zero_labels, &ones, out);
    }

    /// [`Garbler::decode_table`] from both labels of each output.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn decode_table_of(&mut self, zeros: &[Block], ones: &[Block], out: &mut [[Block; 2]]) {
        assert!(
            zeros.len() == out.len() && ones.len() == out.len(),
            "one pair of hashes for each label"
        );
        // Both labels of an output take the same tweak, as both labels of a gate's input do.
        let call = self.calls.take();
        for (value, labels) in [zeros, ones].into_iter().enumerate() {
            let mut hashes = Zeroizing::new(labels.to_vec());
            decode::hash_outputs(self.cpu, &self.hash, call, &mut hashes);
            for (pair, hash) in out.iter_mut().zip(hashes.iter()) {
                pair[value] = *hash;
            }
        }
    }

    /// The number of a run of this tape. One without tables hashes nothing and takes no number: the
    /// two sides run it at different times.
    fn call_of(&mut self, tape: &Tape) -> u64 {
        match self.scheme.table_bytes(tape, 1, self.roles) {
            0 => self.calls.next(),
            _ => self.calls.take(),
        }
    }
}

impl Drop for Garbler {
    /// The seed is public. It goes as well, so that nothing at all is left; hash and labels erase
    /// themselves.
    fn drop(&mut self) {
        self.delta.zeroize();
        self.seed.zeroize();
    }
}
