//! Iterations, and the rows between them and the caller: the part that both parties share.

use sealane_block::silent::matrix::LocalMatrix;
use sealane_block::silent::trees::TreeHash;
use sealane_block::{Block, Coins, Cpu, GROUP, Group};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{Zeroize, Zeroizing};

use super::check::Binding;
use super::keys::Keys;
use super::params::{Lpn, Params};
use crate::Security;
use crate::traits::PACKED;
use crate::{OtError, Role};

/// The part of one of the parties in an iteration.
pub(super) trait Part: Zeroize {
    /// Which party it is.
    const ROLE: Role;
    /// True if the party has a choice for each row.
    const CHOICES: bool;

    /// Fills `leaves` with those of a batch of trees; `levels` are the correlations of their paths.
    fn trees(
        &mut self,
        mesh: &mut Mesh,
        peer: PartyId,
        hash: &TreeHash,
        levels: &[Block],
        leaves: &mut [Block],
    ) -> Result<(), OtError>;

    /// Computes rows from leaves: adds rows of the matrix, from number `first` on, times the
    /// secret.
    fn encode(
        matrix: &LocalMatrix,
        secret: &[Block],
        first: u64,
        leaves: &[Block],
        rows: &mut [Block],
        choices: &mut [Block],
    );

    /// Checks the rows of an iteration, with the correlations of `masks`.
    fn check(
        &mut self,
        mesh: &mut Mesh,
        binding: Binding,
        rows: &[Block],
        choices: &[Block],
        masks: &[Block],
    ) -> Result<(), OtError>;

    /// Brings a row into the form that an iteration takes, in which bit 0 is the choice.
    fn pack(row: Block, choice: u8) -> Block;
}

/// One party's extension, ready for use.
pub(super) struct Run<P: Part> {
    cpu: Cpu,
    pub(super) peer: PartyId,
    params: Params,
    pub(super) part: P,
    keys: Keys,
    /// Iterations so far, the first one included.
    iterations: u64,
    /// Correlations for the next iteration: its secret, its paths and its check.
    kept: Zeroizing<Vec<Block>>,
    /// Leaves of a batch of trees. They stay in a near cache, and begin at a cache line.
    leaves: Zeroizing<Vec<Group>>,
    /// Rows of an iteration, if the caller did not have room for all, and the first unused one.
    ready: Zeroizing<Vec<Block>>,
    next: usize,
    /// Choices of the rows of an iteration.
    choices: Zeroizing<Vec<Block>>,
    failed: bool,
}

impl<P: Part> Run<P> {
    /// Agrees on keys and runs the first iteration, on packed correlations of the source, which
    /// `from_source` makes.
    pub(super) fn set_up(
        cpu: Cpu,
        mesh: &mut Mesh,
        peer: PartyId,
        params: Params,
        part: P,
        coins: &mut Coins,
        from_source: impl FnOnce(&mut Mesh, &mut [Block]) -> Result<(), OtError>,
    ) -> Result<Run<P>, OtError> {
        let keys = Keys::agree(mesh, peer, P::ROLE, coins)?;
        let mut kept = Zeroizing::new(vec![Block::ZERO; params.from_source()]);
        from_source(mesh, &mut kept)?;
        mesh.flush()?;
        let mut run = Run {
            cpu,
            peer,
            params,
            part,
            keys,
            iterations: 0,
            kept,
            leaves: Zeroizing::new(vec![Group::ZERO; params.leaves().div_ceil(GROUP)]),
            ready: Zeroizing::default(),
            next: params.given(),
            choices: Zeroizing::default(),
            failed: false,
        };
        let mut rows = Zeroizing::new(vec![Block::ZERO; params.first.rows()]);
        run.iterate(mesh, params.first, &mut rows)?;
        Ok(run)
    }

    /// Fills `out` with the next rows and `choices` with their bits.
    pub(super) fn fill(
        &mut self,
        mesh: &mut Mesh,
        out: &mut [Block],
        choices: &mut [Block],
    ) -> Result<(), OtError> {
        if self.failed {
            return Err(OtError::Ended);
        }
        choices.fill(Block::ZERO);
        let result = self.try_fill(mesh, out, choices);
        if result.is_err() {
            self.failed = true;
            self.part.zeroize();
            self.leaves.zeroize();
            for secrets in [&mut self.kept, &mut self.ready, &mut self.choices] {
                secrets.zeroize();
            }
            out.iter_mut().zeroize();
            choices.iter_mut().zeroize();
        }
        result
    }

    fn try_fill(
        &mut self,
        mesh: &mut Mesh,
        out: &mut [Block],
        choices: &mut [Block],
    ) -> Result<(), OtError> {
        let (given, rows) = (self.params.given(), self.params.main.rows());
        let mut at = 0;
        while at < out.len() {
            if self.next == given {
                if out.len() - at >= rows {
                    // The rows that the next iteration takes are written over later.
                    self.iterate(mesh, self.params.main, &mut out[at..at + rows])?;
                    if P::CHOICES {
                        copy_bits(choices, at, &self.choices, 0, given);
                    }
                    at += given;
                    continue;
                }
                let mut ready = std::mem::take(&mut self.ready);
                ready.resize(rows, Block::ZERO);
                self.iterate(mesh, self.params.main, &mut ready)?;
                (self.ready, self.next) = (ready, 0);
            }
            let count = (given - self.next).min(out.len() - at);
            out[at..at + count].copy_from_slice(&self.ready[self.next..self.next + count]);
            if P::CHOICES {
                copy_bits(choices, at, &self.choices, self.next, count);
            }
            (at, self.next) = (at + count, self.next + count);
        }
        Ok(())
    }

    /// Runs an iteration: fills `rows` and the choices, and keeps what the next one takes.
    fn iterate(&mut self, mesh: &mut Mesh, lpn: Lpn, rows: &mut [Block]) -> Result<(), OtError> {
        // Messages of the caller must not wait for this party while it waits for the peer's.
        mesh.flush()?;
        let matrix = self.keys.matrix(self.cpu);
        let (secret, rest) = self.kept.split_at(lpn.secret());
        let (levels, masks) = rest.split_at(lpn.levels());
        if P::CHOICES && self.choices.len() != lpn.rows() / PACKED {
            // A vector that grew by itself would leave a copy behind.
            self.choices = Zeroizing::new(vec![Block::ZERO; lpn.rows() / PACKED]);
        }
        let size = lpn.batch_rows();
        let leaves = &mut Group::as_blocks_mut(&mut self.leaves)[..size];
        let batches = rows.chunks_exact_mut(size);
        let levels = levels.chunks_exact(lpn.batch_levels());
        for (batch, (rows, levels)) in batches.zip(levels).enumerate() {
            let first = batch * size;
            let hash = self.keys.hash(self.cpu);
            self.part.trees(mesh, self.peer, &hash, levels, leaves)?;
            if batch + 1 < lpn.batches() {
                // The peer can work on this batch while this party is at the next one.
                mesh.flush()?;
            }
            let choices = match P::CHOICES {
                true => &mut self.choices[first / PACKED..(first + size) / PACKED],
                false => &mut [],
            };
            P::encode(&matrix, secret, first as u64, leaves, rows, choices);
        }
        if self.params.security() == Security::Malicious {
            let binding = Binding {
                cpu: self.cpu,
                peer: self.peer,
                iteration: self.iterations,
            };
            self.part.check(mesh, binding, rows, &self.choices, masks)?;
        }
        // The peer needs these messages before it can say anything to the caller.
        mesh.flush()?;
        self.iterations += 1;
        let taken = self.params.taken(&self.params.main);
        let first = lpn.rows() - taken;
        if self.kept.len() != taken {
            self.kept = Zeroizing::new(vec![Block::ZERO; taken]);
        }
        for (i, kept) in self.kept.iter_mut().enumerate() {
            let choice = match P::CHOICES {
                true => bit(&self.choices, first + i),
                false => 0,
            };
            *kept = P::pack(rows[first + i], choice);
        }
        Ok(())
    }
}

impl<P: Part> Drop for Run<P> {
    fn drop(&mut self) {
        self.part.zeroize();
    }
}

/// Returns a bit of packed ones.
fn bit(bits: &[Block], at: usize) -> u8 {
    (bits[at / PACKED].value() >> (at % PACKED)) as u8 & 1
}

/// Adds `count` bits, from bit `first` of `from` on, to those of `to` from bit `at` on.
fn copy_bits(to: &mut [Block], at: usize, from: &[Block], first: usize, count: usize) {
    let mut done = 0;
    while done < count {
        let (place, source) = (at + done, first + done);
        let (left, skipped) = (place % PACKED, source % PACKED);
        let now = (PACKED - left.max(skipped)).min(count - done);
        let piece = from[source / PACKED].value() >> skipped & u128::MAX >> (PACKED - now);
        to[place / PACKED] ^= Block::new(piece << left);
        done += now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_block::Prg;

    #[test]
    fn bits_move_between_any_two_places() {
        let mut from = vec![Block::ZERO; 5];
        Prg::danger_fixed(Cpu::available()[0], 1).fill(&mut from);
        for (at, first, count) in [(0, 0, 640), (0, 1, 639), (127, 0, 300), (5, 250, 129)] {
            let mut to = vec![Block::ZERO; 6];
            copy_bits(&mut to, at, &from, first, count);
            for i in 0..to.len() * PACKED {
                let moved = i >= at && i < at + count;
                let expected = if moved { bit(&from, first + i - at) } else { 0 };
                assert_eq!(bit(&to, i), expected, "{i} of {at} {first} {count}");
            }
        }
    }
}
