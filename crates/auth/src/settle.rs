//! Settlement: the evaluator states masked values and proves them by labels, garblers prove their
//! tables.
//!
//! | flight | from, to | message |
//! |---|---|---|
//! | 1 | B to each A | masked values of inputs and ANDs of tapes; sum of A's labels; digest |
//! | 2, if several garble | each to each | echo of broadcasts; among garblers a digest |
//! | last | each A to B | sum of MACs of its shares of `m_a l_b ^ m_b l_a ^ s ^ l_c`; digest |
//!
//! Each A garbles, B evaluates. Where there is nothing to settle, all send their digests in
//! flight 1, and no more. Several garblers mask their sums by a sharing of zero, so that B learns
//! the sum of all shares and no share.
//!
//! A garbler answers nothing before the labels fit: with a false masked value it would tell the
//! evaluator a share of a mask, and with it the value of a wire. Labels are those of masked values
//! or unknown, so the sum fits no other values. Values of a tape's inputs are stated too, so that
//! the garbler follows each tape by itself, wherever its operands come from.

use crate::bits::{bytes_of, pack_lowest, spread, whole};
use crate::common::{Common, Opening, Place};
use crate::products::Products;
use crate::sums::SUM_BYTES;
use crate::wires::TapePorts;
use sealane_block::Block;
use sealane_circuit::Tape;
use sealane_garble::authenticated::Run;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{ECHO_BYTES, Result, send_digests};
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
    /// Labels of its inputs: of masked values at the evaluator, for each garbler; of 0 at a
    /// garbler, its own.
    pub(crate) inputs: Vec<Vec<Block>>,
    /// Labels of its ANDs, in the order of the format, as those of inputs.
    pub(crate) labels: Vec<Vec<Block>>,
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
        /// The sums of the MACs that garblers have to show.
        expected: Vec<Block>,
    },
}

impl Check {
    /// Number of masked values.
    fn count(&self) -> usize {
        self.inputs[0].len() + self.labels[0].len()
    }

    /// Labels of a garbler, in the order in which masked values are stated.
    fn all(&self, label: usize) -> [&[Block]; 2] {
        [&self.inputs[label], &self.labels[label]]
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

/// Bytes by which the evaluator states so many masked values to a garbler.
pub(crate) const fn stated_bytes(values: u64) -> u64 {
    bytes_of(values) + SUM_BYTES
}

/// Bytes by which a garbler answers.
pub(crate) const ANSWER_BYTES: u64 = SUM_BYTES;

/// A settlement under way.
pub struct Settling {
    checks: Vec<Check>,
    openings: [Opening; 2],
    /// The masked values that the evaluator has stated.
    stated: Zeroizing<Vec<u8>>,
    next: Next,
}

/// The flight that a party reads next.
enum Next {
    /// Reads what has been stated, or waits for others to do so.
    Hear,
    /// Compares this echo with those of all others.
    Echo([u8; ECHO_BYTES as usize]),
    /// Reads answers, or waits for others to do so.
    Answers,
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
            stated = pack_lowest(checks.iter().flat_map(|check| check.all(0)));
            common.broadcast.send(&stated, mesh)?;
            for (label, peer) in common.peers.iter().enumerate() {
                let sum = common.sum(openings[0], common.me, &stated);
                let labels = checks.iter().flat_map(|check| check.all(label));
                mesh.send(*peer, &sum.and_all(labels).value().to_bytes())?;
            }
        }
        if !common.garbles || checks.is_empty() {
            send_digests(mesh, common.peers.iter().copied())?;
        }
        Ok(Settling {
            checks,
            openings,
            stated,
            next: Next::Hear,
        })
    }

    /// Reads a flight and writes the next one; none at the end.
    pub(crate) fn advance<P: Products>(
        mut self: Box<Self>,
        common: &mut Common<P>,
        mesh: &mut Mesh,
    ) -> Result<Option<Box<Settling>>> {
        if self.checks.is_empty() {
            common.check_digests(&common.peers, mesh)?;
            return Ok(None);
        }
        let ended = match std::mem::replace(&mut self.next, Next::Answers) {
            Next::Hear => {
                self.hear(common, mesh)?;
                if common.roles.are_many() {
                    self.next = Next::Echo(common.broadcast.send_echo(mesh)?);
                    if common.garbles {
                        send_digests(mesh, other_garblers(common))?;
                    }
                } else {
                    self.answer(common, mesh)?;
                }
                false
            }
            Next::Echo(sent) => {
                let echo = common.broadcast.check_echo(&sent, mesh);
                let mut digests = Ok(());
                if common.garbles {
                    let others = other_garblers(common).collect::<Vec<_>>();
                    digests = common.check_digests(&others, mesh);
                }
                // Whoever told parties different things has not met with an accident.
                echo?;
                digests?;
                self.answer(common, mesh)?;
                false
            }
            Next::Answers => {
                if !common.garbles {
                    self.compare(common, mesh)?;
                }
                true
            }
        };
        Ok((!ended).then_some(self))
    }

    /// Reads what the evaluator has stated and its proof; at the evaluator, counts it as read.
    fn hear<P: Products>(&mut self, common: &mut Common<P>, mesh: &mut Mesh) -> Result<()> {
        let evaluator = common.roles.evaluator();
        let count = values(&self.checks);
        let stated = &mut *self.stated;
        stated.resize(bytes_of(count as u64) as usize, 0);
        common.broadcast.recv(evaluator, stated, mesh)?;
        if !common.garbles {
            return Ok(());
        }
        let mut sum = [0; SUM_BYTES as usize];
        mesh.recv(evaluator, &mut sum)?;
        whole(stated, count, evaluator)?;
        // One verdict: who sends a false digest beside a false proof has deviated.
        let digest = common.check_digests(&[evaluator], mesh);
        self.verify(common, Block::from_bytes(sum))?;
        digest
    }

    /// Sends the sum of MACs and a digest, at a garbler.
    fn answer<P: Products>(&mut self, common: &mut Common<P>, mesh: &mut Mesh) -> Result<()> {
        if !common.garbles {
            return Ok(());
        }
        let evaluator = common.roles.evaluator();
        let answer = self.sum_of_macs(common);
        let answer = common.mask_answer(answer);
        self.give_back(common);
        mesh.send(evaluator, &answer.to_bytes())?;
        send_digests(mesh, [evaluator])
    }

    /// Compares the sum of all answers with that of expected MACs, at the evaluator.
    fn compare<P: Products>(&mut self, common: &mut Common<P>, mesh: &mut Mesh) -> Result<()> {
        let mut answers = Block::ZERO;
        let mut digests = Ok(());
        for peer in &common.peers {
            let mut answer = [0; SUM_BYTES as usize];
            mesh.recv(*peer, &mut answer)?;
            answers ^= Block::from_bytes(answer);
            digests = digests.and(common.check_digests(&[*peer], mesh));
        }
        let expected = self.checks.iter().map(|check| match &check.of {
            Unsettled::Evaluator { expected } => &expected[..],
            Unsettled::Garbler { .. } => &[],
        });
        // All garblers have the challenge of one.
        let first = common.roles.first();
        let sum = common.sum(self.openings[1], first, &self.stated);
        let sum = common.mask_answer(sum.and_all(expected).value());
        let compared = common.compare(Place::Rows, first, answers, sum);
        // Any of the garblers may have answered falsely.
        common.of_anyone(compared)?;
        digests?;
        self.give_back(common);
        Ok(())
    }

    /// Gives the memory of what has been settled back.
    fn give_back<P: Products>(&mut self, common: &mut Common<P>) {
        for check in &mut self.checks {
            let mut give = |planes| common.products.give_back(std::mem::take(planes));
            check.labels.iter_mut().for_each(&mut give);
            match &mut check.of {
                Unsettled::Garbler { macs, .. } => macs.iter_mut().for_each(give),
                Unsettled::Evaluator { expected } => give(expected),
            }
        }
    }

    /// Compares the sum of labels with that of the labels of the stated values.
    fn verify<P: Products>(&self, common: &Common<P>, theirs: Block) -> Result<()> {
        let (offset, evaluator) = (common.products.offset(), common.roles.evaluator());
        let zeros = self.checks.iter().flat_map(|check| check.all(0));
        let sum = common.sum(self.openings[0], evaluator, &self.stated);
        let sum = sum.and_all_keys(zeros, offset, &self.stated);
        let compared = common.compare(Place::Values, evaluator, theirs, sum.value());
        // A false row of another garbler spoils an honest evaluator's labels.
        common.of_anyone(compared)
    }

    /// The sum of MACs for the stated values.
    fn sum_of_macs<P: Products>(&mut self, common: &mut Common<P>) -> Block {
        let mut sum = common.sum(self.openings[1], common.roles.first(), &self.stated);
        let mut at = 0;
        for check in &mut self.checks {
            // Labels are needed no more, and masked values take their place.
            for labels in [&mut check.inputs[0], &mut check.labels[0]] {
                spread(&self.stated, at, labels);
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
            let planes = check.inputs[0].chunks_exact((*lanes).max(1));
            let mut ports = TapePorts::of((tape, *lanes), 1, planes.collect());
            let walked: [&mut [Block]; 4] = [first, second, &mut check.labels[0], product];
            common.walks.answer(run, &mut ports, walked);
            sum.add(first);
        }
        sum.value()
    }
}

/// The garblers beside this one.
fn other_garblers<P>(common: &Common<P>) -> impl Iterator<Item = PartyId> {
    let me = common.me;
    common.roles.garblers().filter(move |party| *party != me)
}
