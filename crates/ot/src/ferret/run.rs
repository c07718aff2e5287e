//! Iterations, and the rows between them and the caller: the part that both parties share.

use sealane_block::silent::matrix::LocalMatrix;
use sealane_block::silent::trees::TreeHash;
use sealane_block::{Block, Coins, Cpu, Erased, GROUP, Group};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::{Zeroize, Zeroizing};

use super::check::Binding;
use super::keys::Keys;
use super::params::{Lpn, Noise, Params};
use super::places::Places;
use crate::source::stock::Batch as Made;
use crate::traits::{PACKED, choice, copy_bits};
use crate::{OtError, Result, Role, Security};

/// The way to the other party.
pub(super) struct Link<'a> {
    pub(super) mesh: &'a mut Mesh,
    pub(super) peer: PartyId,
}

impl Link<'_> {
    pub(super) fn send(&mut self, blocks: &[Block]) -> Outcome {
        Ok(self.mesh.send(self.peer, Block::as_bytes(blocks))?)
    }

    pub(super) fn receive(&mut self, blocks: &mut [Block]) -> Outcome {
        Ok(self.mesh.recv(self.peer, Block::as_bytes_mut(blocks))?)
    }

    pub(super) fn flush(&mut self) -> Outcome {
        Ok(self.mesh.flush()?)
    }
}

pub(super) type Outcome = Result<()>;

/// All that a set-up needs of either party.
pub(super) struct Setting<'a> {
    pub(super) cpu: Cpu,
    pub(super) params: Params,
    pub(super) link: Link<'a>,
    pub(super) coins: &'a mut Coins,
}

impl<'a> Setting<'a> {
    pub(super) fn new(cpu: Cpu, params: Params, link: Link<'a>, coins: &'a mut Coins) -> Self {
        Setting {
            cpu,
            params,
            link,
            coins,
        }
    }
}

/// Rows, and their choices at the party that has them.
pub(super) struct Rows<'a> {
    pub(super) blocks: &'a mut [Block],
    pub(super) choices: &'a mut [Block],
}

impl Rows<'_> {
    /// Rows from number `first` on, both numbers multiples of 128.
    fn part(&mut self, first: usize, count: usize) -> Rows<'_> {
        let choices = if self.choices.is_empty() {
            &mut []
        } else {
            &mut self.choices[first / PACKED..][..count / PACKED]
        };
        let blocks = &mut self.blocks[first..][..count];
        Rows { blocks, choices }
    }
}

/// Trees that grow together: their hash, and the correlations of their paths.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) hash: &'a TreeHash,
    pub(super) levels: &'a [Block],
}

/// The matrix of an iteration and the vector that it multiplies.
pub(super) struct Code<'a> {
    pub(super) matrix: LocalMatrix,
    pub(super) secret: &'a [Block],
}

/// Turns of the check of an iteration; in each one party acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The receiver sends its point and its sum.
    Ask,
    /// The sender proves its own sum.
    Prove,
    /// The receiver compares the proof.
    Compare,
}

/// All turns, in order.
const TURNS: [Turn; 3] = [Turn::Ask, Turn::Prove, Turn::Compare];

/// The part of one of the parties in an iteration. It erases itself when it is dropped.
pub(super) trait Part {
    /// Which party it is.
    const ROLE: Role;
    /// True if the party has a choice for each row.
    const CHOICES: bool;

    /// Moves the paths of all trees, whose correlations are `levels`, to errors at any places.
    fn place(&mut self, link: &mut Link<'_>, places: &Places, levels: &mut [Block]) -> Outcome;

    /// Fills `leaves` with those of a batch.
    fn trees(&mut self, link: &mut Link<'_>, batch: Batch<'_>, leaves: &mut [Block]) -> Outcome;

    /// Computes rows from leaves: adds rows of the matrix, from number `first` on, times the
    /// secret.
    fn encode(code: &Code<'_>, first: usize, leaves: &[Block], rows: Rows<'_>);

    /// Takes a turn of the check of the rows of an iteration, which may be the other party's.
    fn check(
        &mut self,
        link: &mut Link<'_>,
        turn: Turn,
        name: &Binding<'_>,
        rows: Rows<'_>,
    ) -> Outcome;

    /// Brings a row into the form that an iteration takes, in which bit 0 is the choice.
    fn pack(row: Block, choice: u8) -> Block;
}

/// One party's extension, ready for use.
pub(super) struct RunningExtension<P: Part> {
    pub(super) peer: PartyId,
    pub(super) security: Security,
    /// None after a failure.
    state: Option<Erased<ExtensionState<P>>>,
}

/// All that an extension keeps. Each part of it erases itself when it is dropped.
pub(super) struct ExtensionState<P: Part> {
    cpu: Cpu,
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
    /// True if these rows wait for their check, in step with another direction.
    pub(super) grown: bool,
    /// Choices of the rows of an iteration.
    choices: Zeroizing<Vec<Block>>,
}

impl<P: Part> RunningExtension<P> {
    /// Agrees on keys and runs the first iteration, on packed correlations of the source, which
    /// `from_source` makes.
    pub(super) fn set_up(
        setting: Setting<'_>,
        part: P,
        from_source: impl FnOnce(&mut Mesh, &mut [Block]) -> Outcome,
    ) -> Result<RunningExtension<P>> {
        let Setting { cpu, params, .. } = setting;
        let mut link = setting.link;
        let keys = Keys::agree(&mut link, P::ROLE, setting.coins)?;
        let mut kept = Zeroizing::new(vec![Block::ZERO; params.from_source()]);
        from_source(link.mesh, &mut kept)?;
        link.flush()?;
        let mut running = RunningExtension::new((cpu, params, link.peer), part, keys, kept);
        let mut rows = Zeroizing::new(vec![Block::ZERO; params.first.rows()]);
        let state = running.state.as_mut().ok_or(OtError::Ended)?;
        state.iterate(&mut link, params.first, &mut rows)?;
        Ok(running)
    }

    /// An extension before its first iteration, which these packed correlations of the source are
    /// for.
    pub(super) fn new(
        (cpu, params, peer): (Cpu, Params, PartyId),
        part: P,
        keys: Keys,
        kept: Zeroizing<Vec<Block>>,
    ) -> RunningExtension<P> {
        let state = Erased::new(ExtensionState {
            cpu,
            params,
            part,
            keys,
            iterations: 0,
            kept,
            leaves: Zeroizing::new(vec![Group::ZERO; params.leaves().div_ceil(GROUP)]),
            ready: Zeroizing::default(),
            next: params.given(),
            grown: false,
            choices: Zeroizing::default(),
        });
        RunningExtension {
            peer,
            security: params.security(),
            state: Some(state),
        }
    }

    /// Everything that the extension keeps is destroyed.
    pub(super) fn end(&mut self) {
        self.state = None;
    }

    /// All that the extension keeps, unless it failed.
    pub(super) fn state(&self) -> Option<&ExtensionState<P>> {
        self.state.as_deref()
    }

    /// The same, to run an iteration.
    pub(super) fn running(&mut self) -> Result<&mut ExtensionState<P>> {
        self.state.as_deref_mut().ok_or(OtError::Ended)
    }

    /// Fills `out` with the next rows and `choices` with their bits. After a failure nothing is
    /// left of either, nor of what the extension kept.
    pub(super) fn fill(
        &mut self,
        mesh: &mut Mesh,
        out: &mut [Block],
        choices: &mut [Block],
    ) -> Outcome {
        let peer = self.peer;
        choices.fill(Block::ZERO);
        let result = match &mut self.state {
            Some(state) => state.fill(&mut Link { mesh, peer }, out, choices),
            None => Err(OtError::Ended),
        };
        if result.is_err() {
            self.state = None;
            out.iter_mut().zeroize();
            choices.iter_mut().zeroize();
        }
        result
    }
}

impl<P: Part> ExtensionState<P> {
    fn fill(&mut self, link: &mut Link<'_>, out: &mut [Block], choices: &mut [Block]) -> Outcome {
        assert!(!self.grown, "rows in step with another direction");
        let (given, rows) = (self.params.given(), self.params.main.rows());
        let mut at = 0;
        while at < out.len() {
            if self.next == given {
                if out.len() - at >= rows {
                    // The rows that the next iteration takes are written over later.
                    self.iterate(link, self.params.main, &mut out[at..at + rows])?;
                    if P::CHOICES {
                        copy_bits(choices, at, &self.choices, 0, given);
                    }
                    at += given;
                    continue;
                }
                let mut ready = std::mem::take(&mut self.ready);
                ready.resize(rows, Block::ZERO);
                self.iterate(link, self.params.main, &mut ready)?;
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
    fn iterate(&mut self, link: &mut Link<'_>, lpn: Lpn, rows: &mut [Block]) -> Outcome {
        self.grow(link, lpn, rows)?;
        TURNS
            .into_iter()
            .try_for_each(|turn| self.check(link, turn, lpn, rows))?;
        // The peer needs these messages before it can say anything to the caller.
        link.flush()?;
        self.keep(lpn, rows);
        Ok(())
    }

    /// The sizes of the next iteration.
    fn sizes(&self) -> Lpn {
        match self.iterations {
            0 => self.params.first,
            _ => self.params.main,
        }
    }

    /// Fills the buffer with the rows of the next iteration, which are of no use before their
    /// check; nothing if it has them.
    ///
    /// # Panics
    /// If errors are at any places: their message would have to come first.
    pub(super) fn grow_next(&mut self, link: &mut Link<'_>) -> Outcome {
        let lpn = self.sizes();
        assert!(lpn.noise() == Noise::Regular, "trees come first");
        if self.grown {
            return Ok(());
        }
        let mut ready = std::mem::take(&mut self.ready);
        if ready.len() != lpn.rows() {
            // A vector that grew by itself would leave a copy behind.
            ready = Zeroizing::new(vec![Block::ZERO; lpn.rows()]);
        }
        self.grow(link, lpn, &mut ready)?;
        (self.ready, self.grown) = (ready, true);
        link.flush()
    }

    /// Takes a turn of the check of the buffer.
    pub(super) fn check_next(&mut self, link: &mut Link<'_>, turn: Turn) -> Outcome {
        let mut ready = std::mem::take(&mut self.ready);
        self.check(link, turn, self.sizes(), &mut ready)?;
        self.ready = ready;
        link.flush()
    }

    /// Hands out the rows of the buffer, whose check is over, in exchange for other memory: of a
    /// main iteration all, of which the last ones are kept here and count as none; of the first one
    /// nothing.
    pub(super) fn take_next(&mut self, out: &mut Made) {
        let (lpn, ready) = (self.sizes(), std::mem::take(&mut self.ready));
        let first = self.iterations == 0;
        self.keep(lpn, &ready);
        (self.ready, self.grown) = (ready, false);
        if first {
            return;
        }
        std::mem::swap(&mut self.ready, &mut out.rows);
        if P::CHOICES {
            std::mem::swap(&mut self.choices, &mut out.choices);
        }
        out.count = self.params.given();
    }

    /// Makes the rows of an iteration.
    fn grow(&mut self, link: &mut Link<'_>, lpn: Lpn, rows: &mut [Block]) -> Outcome {
        // Messages of the caller must not wait for this party while it waits for the peer's.
        link.flush()?;
        let matrix = self.keys.matrix(self.cpu);
        let places = self.keys.places(&lpn);
        let (secret, rest) = self.kept.split_at_mut(lpn.secret());
        let levels = &mut rest[..lpn.levels()];
        let code = Code { matrix, secret };
        if P::CHOICES && self.choices.len() != lpn.rows() / PACKED {
            // A vector that grew by itself would leave a copy behind.
            self.choices = Zeroizing::new(vec![Block::ZERO; lpn.rows() / PACKED]);
        }
        let (blocks, choices) = (rows, &mut self.choices);
        let mut rows = Rows { blocks, choices };
        if let Some(places) = &places {
            self.part.place(link, places, levels)?;
            link.flush()?;
            rows.blocks.fill(Block::ZERO);
        }
        let size = lpn.batch_leaves();
        let leaves = &mut Group::as_blocks_mut(&mut self.leaves)[..size];
        for (number, levels) in levels.chunks_exact(lpn.batch_levels()).enumerate() {
            let hash = &self.keys.hash(self.cpu);
            self.part.trees(link, Batch { hash, levels }, leaves)?;
            if number + 1 < lpn.batches() {
                // The peer can work on this batch while this party is at the next one.
                link.flush()?;
            }
            let first = number * size;
            match &places {
                None => P::encode(&code, first, leaves, rows.part(first, size)),
                Some(places) => places.scatter(number, leaves, rows.blocks),
            }
        }
        if places.is_some() {
            for first in (0..lpn.rows()).step_by(size) {
                leaves.copy_from_slice(&rows.blocks[first..][..size]);
                P::encode(&code, first, leaves, rows.part(first, size));
            }
        }
        Ok(())
    }

    /// Takes a turn of the check of rows, if there is one.
    fn check(&mut self, link: &mut Link<'_>, turn: Turn, lpn: Lpn, rows: &mut [Block]) -> Outcome {
        if self.params.security() == Security::SemiHonest {
            return Ok(());
        }
        let name = Binding {
            cpu: self.cpu,
            instance: self.keys.instance(),
            iteration: self.iterations,
            masks: &self.kept[lpn.secret() + lpn.levels()..],
        };
        let (blocks, choices) = (rows, &mut self.choices[..]);
        self.part.check(link, turn, &name, Rows { blocks, choices })
    }

    /// Keeps what the next iteration takes of the rows of this one, whose check is over.
    fn keep(&mut self, lpn: Lpn, rows: &[Block]) {
        self.iterations += 1;
        let taken = self.params.taken(&self.params.main);
        let first = lpn.rows() - taken;
        if self.kept.len() != taken {
            self.kept = Zeroizing::new(vec![Block::ZERO; taken]);
        }
        for (i, kept) in self.kept.iter_mut().enumerate() {
            let choice = if P::CHOICES {
                choice(&self.choices, first + i)
            } else {
                0
            };
            *kept = P::pack(rows[first + i], choice);
        }
    }
}
