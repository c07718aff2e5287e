//! The evaluator: active labels and tables in, active labels out.

use sealane_block::{Block, Calls, Cpu};
use sealane_circuit::Tape;
use zeroize::Zeroize;

use crate::half_gates::EvaluateAnd;
use crate::known_operand::evaluating;
use crate::machine::{Gates, TapeRun, Workers};
use crate::prf::Prf;
use crate::scheme::{Hash, with_hash};
use crate::tables::{Ended, KeepError, TableStream};
use crate::{Ports, Roles, Scheme, Tables, decode, three_halves};

/// The evaluator of one instance.
pub struct Evaluator {
    cpu: Cpu,
    scheme: Scheme,
    seed: Block,
    hash: Hash,
    roles: Roles,
    /// The number of the next call, in step with the garbler's.
    calls: Calls,
    machine: Workers,
}

impl Evaluator {
    /// Creates an evaluator for the garbler's scheme and seed.
    pub fn new(cpu: Cpu, scheme: Scheme, seed: Block) -> Evaluator {
        Evaluator {
            cpu,
            scheme,
            seed,
            hash: Hash::new(cpu, scheme, seed),
            roles: Roles::default(),
            calls: Calls::default(),
            machine: Workers::default(),
        }
    }

    /// Sets the roles of the parties that tapes refer to, from now on.
    pub fn set_roles(&mut self, roles: Roles) {
        self.roles = roles;
    }

    /// Lets large calls run on up to `threads` threads from now on; see
    /// [`Garbler::set_threads`](crate::Garbler::set_threads).
    pub fn set_threads(&mut self, threads: usize) {
        self.machine.threads = threads;
    }

    /// Evaluates `tape` on `lanes` lanes. Ports carry active labels; `tables` are the garbler's,
    /// [`Scheme::table_bytes`] bytes.
    ///
    /// # Errors
    /// The error of `tables`. The evaluator and its garbler are then out of step and unusable.
    ///
    /// # Panics
    /// If the tape names slots or gates that it does not have, if there are 2^32 or more lanes, or
    /// if the operating system has no more threads.
    pub fn evaluate<T: Tables>(
        &mut self,
        tape: &Tape,
        lanes: usize,
        ports: &mut dyn Ports,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        let call = self.call_of(tape);
        self.evaluate_as(call, tape, lanes, ports, tables)
    }

    /// Evaluates as [`Evaluator::evaluate`] does, as the call that [`Evaluator::call_of`] has
    /// numbered: an evaluator waits for tables while its garbler makes other calls.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    ///
    /// # Panics
    /// As [`Evaluator::evaluate`].
    pub fn evaluate_as<T: Tables>(
        &mut self,
        call: u64,
        tape: &Tape,
        lanes: usize,
        ports: &mut dyn Ports,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        let mut stream = KeepError::new(tables);
        let result = self.run(call, (tape, lanes), ports, &mut stream);
        stream.explain(result)
    }

    fn run(
        &mut self,
        call: u64,
        (tape, lanes): (&Tape, usize),
        ports: &mut dyn Ports,
        tables: &mut dyn TableStream,
    ) -> Result<(), Ended> {
        let (cpu, roles) = (self.cpu, self.roles);
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
            hash => run(&evaluating(EvaluateAnd { hash }, hash, roles)),
            three_halves(hash) => {
                run(&evaluating(three_halves::EvaluateAnd { hash }, hash, roles))
            },
            prf(_) => run(&Prf { seed: self.seed, spare: None }),
        )
    }

    /// Hashes active labels. Each result is one of the two that
    /// [`Garbler::decode_table`](crate::Garbler::decode_table) has for the label: see
    /// [`decode`](crate::decode()).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn output_hashes(&mut self, active: &[Block], out: &mut [Block]) {
        let call = self.decoding();
        self.hash_outputs((call, 0), active, out);
    }

    /// Returns the number of a decoding whose labels are hashed a part at a time.
    pub fn decoding(&mut self) -> u64 {
        self.calls.take()
    }

    /// Hashes active labels of a decoding, as [`Evaluator::output_hashes`] does: those from number
    /// `first` on.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn hash_outputs(&self, part: (u64, usize), active: &[Block], out: &mut [Block]) {
        out.copy_from_slice(active);
        decode::hash_outputs(self.cpu, &self.hash, part, out);
    }

    /// Returns the call number of a run of this tape. A tape without tables hashes nothing and
    /// takes no number: the two sides run it at different times.
    pub fn call_of(&mut self, tape: &Tape) -> u64 {
        match self.scheme.table_bytes(tape, 1, self.roles) {
            0 => self.calls.next(),
            _ => self.calls.take(),
        }
    }
}

impl Drop for Evaluator {
    /// The seed is public. It is erased as well, so that nothing is left in memory; hash and labels
    /// erase themselves.
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}
