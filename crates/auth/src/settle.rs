//! Settlement: the evaluator states masked values and proves them by labels, the garbler proves its
//! tables.
//!
//! | flight | from, to | message |
//! |---|---|---|
//! | 1 | B to A | masked values of inputs and ANDs of tapes; sum of their labels; digest |
//! | 2 | A to B | sum of MACs of its shares of `m_a l_b ^ m_b l_a ^ s ^ l_c`; digest |
//!
//! A garbles, B evaluates. Where there is nothing to settle, both send their digests in flight 1,
//! and no more.
//!
//! The garbler answers nothing before the labels fit: with a false masked value it would tell the
//! evaluator a share of a mask, and with it the value of a wire. Labels are those of masked values
//! or unknown, so the sum fits no other values. Values of a tape's inputs are stated too, so that
//! the garbler follows each tape by itself, wherever its operands come from.

use crate::bits::{TapePorts, bytes_of, pack_lowest, spread, whole};
use crate::common::{Common, Opening, Place};
use crate::products::Products;
use crate::sums::SUM_BYTES;
use sealane_block::Block;
use sealane_circuit::Tape;
use sealane_garble::authenticated::Run;
use sealane_net::Mesh;
use sealane_party::{Result, send_digests};
use sealane_protocol::{Algebra, CheckKind, Checks};
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// The masked value of an input or an AND of a tape.
const VALUE: CheckKind = CheckKind {
    field: Algebra::Z2,
    terms: 1,
};

/// Checks of a tape with so many inputs and ANDs, on all lanes.
pub(crate) fn checks(inputs: u64, ands: u64) -> Checks {
    Checks::of(VALUE, inputs + ands)
}

/// A tape that has to be settled.
pub struct Check {
    /// Labels of its inputs: of masked values at the evaluator, of 0 at the garbler.
    pub(crate) inputs: Vec<Block>,
    /// Labels of its ANDs, in the order of the format.
    pub(crate) labels: Vec<Block>,
    pub(crate) of: Unsettled,
}

/// Blocks that a party needs beside labels.
pub(crate) enum Unsettled {
    Garbler {
        tape: Arc<Tape>,
        lanes: usize,
        /// MACs of the masks of both operands of each AND, and of their product with the mask of
        /// the output.
        macs: [Vec<Block>; 3],
    },
    Evaluator {
        /// The MACs that the garbler has to show.
        expected: Vec<Block>,
    },
}

impl Check {
    /// Number of masked values.
    fn count(&self) -> usize {
        self.inputs.len() + self.labels.len()
    }

    /// Labels, in the order in which masked values are stated.
    fn all(&self) -> [&[Block]; 2] {
        [&self.inputs, &self.labels]
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        self.inputs.zeroize();
        self.labels.zeroize();
        match &mut self.of {
            Unsettled::Garbler { macs, .. } => macs.zeroize(),
            Unsettled::Evaluator { expected } => expected.zeroize(),
        }
    }
}

/// Counts checks as costs do.
pub(crate) fn count(checks: &[Check]) -> Checks {
    Checks::of(VALUE, values(checks) as u64)
}

fn values(checks: &[Check]) -> usize {
    checks.iter().map(|check| check.count()).sum()
}

/// Bytes by which the evaluator states so many masked values.
pub(crate) const fn stated_bytes(values: u64) -> u64 {
    bytes_of(values) + SUM_BYTES
}

/// Bytes by which the garbler answers.
pub(crate) const ANSWER_BYTES: u64 = SUM_BYTES;

/// A settlement under way.
pub struct Settling {
    checks: Vec<Check>,
    openings: [Opening; 2],
    /// At the evaluator, the masked values that it has stated.
    stated: Zeroizing<Vec<u8>>,
    answered: bool,
}

impl Settling {
    /// Writes the first flight.
    pub(crate) fn begin<P: Products>(
        common: &mut Common<P>,
        checks: Vec<Check>,
        mesh: &mut Mesh,
    ) -> Result<Settling> {
        let openings = [Place::Values, Place::Rows].map(|place| common.opening(place));
        let mut stated = Zeroizing::new(Vec::new());
        if !common.garbles && !checks.is_empty() {
            let labels = || checks.iter().flat_map(|check| check.all());
            stated = pack_lowest(labels());
            let sum = common.sum(openings[0], common.me, &stated);
            let sum = sum.and_all(labels()).value();
            mesh.send(common.peer, &stated)?;
            mesh.send(common.peer, &sum.to_bytes())?;
        }
        if !common.garbles || checks.is_empty() {
            send_digests(mesh, [common.peer])?;
        }
        Ok(Settling {
            checks,
            openings,
            stated,
            answered: false,
        })
    }

    /// Reads a flight and writes the next one; none at the end.
    pub(crate) fn advance<P: Products>(
        mut self: Box<Self>,
        common: &mut Common<P>,
        mesh: &mut Mesh,
    ) -> Result<Option<Box<Settling>>> {
        let peer = common.peer;
        if self.checks.is_empty() {
            common.check_digest(mesh)?;
            return Ok(None);
        }
        let second = std::mem::replace(&mut self.answered, true);
        match (common.garbles, second) {
            (true, false) => {
                let count = values(&self.checks);
                let mut stated = vec![0; bytes_of(count as u64) as usize];
                let mut sum = [0; SUM_BYTES as usize];
                mesh.recv(peer, &mut stated)?;
                mesh.recv(peer, &mut sum)?;
                whole(&stated, count, peer)?;
                // One verdict: who sends a false digest beside a false proof has deviated.
                let digest = common.check_digest(mesh);
                self.verify(common, &stated, Block::from_bytes(sum))?;
                digest?;
                let answer = self.answer(common, &stated);
                self.give_back(common);
                mesh.send(peer, &answer.to_bytes())?;
                send_digests(mesh, [peer])?;
                Ok(Some(self))
            }
            (false, false) => Ok(Some(self)),
            (false, true) => {
                let mut answer = [0; SUM_BYTES as usize];
                mesh.recv(peer, &mut answer)?;
                let digest = common.check_digest(mesh);
                let expected = self.checks.iter().map(|check| match &check.of {
                    Unsettled::Evaluator { expected } => &expected[..],
                    Unsettled::Garbler { .. } => &[],
                });
                let sum = common.sum(self.openings[1], peer, &self.stated);
                let sum = sum.and_all(expected).value();
                common.compare(Place::Rows, Block::from_bytes(answer), sum)?;
                digest?;
                self.give_back(common);
                Ok(None)
            }
            (true, true) => Ok(None),
        }
    }

    /// Gives the memory of what has been settled back.
    fn give_back<P: Products>(&mut self, common: &mut Common<P>) {
        for check in &mut self.checks {
            let mut give = |planes| common.products.give_back(std::mem::take(planes));
            give(&mut check.labels);
            match &mut check.of {
                Unsettled::Garbler { macs, .. } => macs.iter_mut().for_each(give),
                Unsettled::Evaluator { expected } => give(expected),
            }
        }
    }

    /// Compares the sum of labels with that of the labels of the stated values.
    fn verify<P: Products>(&self, common: &Common<P>, stated: &[u8], theirs: Block) -> Result<()> {
        let offset = common.products.offset();
        let zeros = self.checks.iter().flat_map(|check| check.all());
        let sum = common.sum(self.openings[0], common.peer, stated);
        let sum = sum.and_all_keys(zeros, offset, stated);
        common.compare(Place::Values, theirs, sum.value())
    }

    /// The sum of MACs for these masked values.
    fn answer<P: Products>(&mut self, common: &mut Common<P>, stated: &[u8]) -> Block {
        let mut sum = common.sum(self.openings[1], common.me, stated);
        let mut at = 0;
        for check in &mut self.checks {
            // Labels are needed no more, and masked values take their place.
            for labels in [&mut check.inputs, &mut check.labels] {
                spread(stated, at, labels);
                at += labels.len();
            }
            let Unsettled::Garbler { tape, lanes, macs } = &mut check.of else {
                continue;
            };
            let [first, second, product] = macs;
            let run = Run {
                tape,
                lanes: *lanes,
            };
            let planes = check.inputs.chunks_exact((*lanes).max(1));
            let mut ports = TapePorts::<Block, 1>::new(tape, *lanes, planes);
            let walked: [&mut [Block]; 4] = [first, second, &mut check.labels, product];
            common.walks.answer(run, &mut ports, walked);
            sum.add(first);
        }
        sum.value()
    }
}
