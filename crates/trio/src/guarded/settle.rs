//! Settlement: every role proves all its messages to both others, before anything is opened.
//!
//! | flight | from, to | message |
//! |---|---|---|
//! | 1 | every two parties | session, and digest of what crossed |
//! | 1 | every two roles | digests of what both have of inputs of each party without a role |
//! | 1 | roles 1 and 2 | digest of the seed of masks of results, which role 0 has dealt |
//! | 1 | both verifiers to the prover | half of the seed of the weights, of each segment |
//! | 2 | prover to both verifiers | the proof of each segment |
//! | 3 | each verifier to the other one | its answer of each segment |
//!
//! A verifier sends its half of a seed when every message that the seed is about has been read: a
//! settlement is about steps that have ended. Who finds that a digest differs sends no proof, since
//! an honest proof about different data would fail or not by something that depends on secrets.
//!
//! A party that agrees on other sessions with one than with another makes all that these two send
//! each other differ. So sessions are compared first: then nobody is accused of it alone.

use super::crossed::{Among, check_crossed, check_same, disputed, send_crossed};
use super::turns::Turned;
use super::{Due, Guard, SEGMENT, add};
use crate::arrive::write;
use crate::keys::GuardKeys;
use crate::record::{Counts, Cut, Prover, Record, Spare, Stream, Sums, shape};
use crate::record::{sum_pieces, sum_shape};
use crate::role_index::{self, RoleIndex};
use sealane_block::{Cpu, Seed};
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use sealane_party::{Fault, Result};
use sealane_proof::{
    Answer, Context, Memory, Pending, Proved, Refused, SeedPart, Segment, Shape, ToLeft, ToRight,
    Turn, WeightSeed,
};
use sealane_protocol::Setting;
use zeroize::Zeroizing;

/// A settlement that has ended well. There is no other way to make one, and none opens anything
/// without it.
pub(super) struct Settled {
    steps: u64,
}

impl Settled {
    /// Steps that had ended when the settlement began.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }
}

/// All that a settlement proves, at a party with a role.
pub(super) struct Work<'a> {
    pub(super) records: Vec<Record>,
    pub(super) sums: Vec<Sums>,
    /// The statements of all records.
    pub(super) due: &'a Due,
    /// A shuffle.
    pub(super) turned: Option<Box<Turned>>,
    pub(super) among: Among,
}

/// The proofs of one segment, at a party with a role.
struct Part {
    number: u64,
    shape: Shape,
    /// Its first statement of each kind, and their numbers.
    first: Counts,
    counts: Counts,
    turned: Option<Box<Turned>>,
    /// Of a segment about integers, its units.
    cut: Option<Cut>,
    /// Of the weights of the next role's proof and of that of the role before.
    seeds: [WeightSeed; 2],
    /// Of the same proofs.
    followed: Vec<Pending>,
}

/// A settlement under way, at a party with a role.
pub(super) struct Settling {
    cpu: Cpu,
    session: SessionId,
    role_index: RoleIndex,
    setting: Setting,
    me: PartyId,
    among: Among,
    steps: u64,
    records: Vec<Record>,
    sums: Vec<Sums>,
    parts: Vec<Part>,
    inputs: Vec<(PartyId, [[u8; 32]; 2])>,
    /// Whoever deals the seed of masks of results, and the other one who got it: for role 0, who
    /// deals it, none.
    dealt: Option<[PartyId; 2]>,
    flight: usize,
}

/// The numbers of statements of the segments of a settlement, by kind: each has as many of each
/// kind as a segment can have, while there are some.
pub(super) fn segments(counts: &Counts) -> impl Iterator<Item = Counts> + use<> {
    let mut left = *counts;
    std::iter::from_fn(move || {
        let segment = std::array::from_fn(|kind| left[kind].min(SEGMENT[kind]));
        left.iter_mut()
            .zip(segment)
            .for_each(|(left, count)| *left -= count);
        (segment != Counts::default()).then_some(segment)
    })
}

/// The shapes of the segments of a settlement of so many statements, and of a shuffle with these
/// statements, which is in the first one. Segments about integers come last.
pub(super) fn shapes(due: &Due, turns: &[Turn]) -> Vec<Shape> {
    let shapes = segments(&due.bits).enumerate().map(|(number, counts)| {
        let turns = if number == 0 { turns } else { &[] };
        self::shape_of(&counts, turns)
    });
    let sums = due.sums.segments();
    shapes
        .chain(sums.iter().map(|cut| sum_shape(cut)))
        .collect()
}

fn shape_of(counts: &Counts, turns: &[Turn]) -> Shape {
    let shape = shape(counts).with_turns(turns);
    shape.expect("a segment is no larger than a proof can be")
}

impl Settling {
    /// Writes the first flight of a settlement of these statements.
    pub(super) fn begin(
        (setting, me): (&Setting, PartyId),
        (cpu, role_index): (Cpu, RoleIndex),
        keys: &GuardKeys,
        guard: &mut Guard,
        work: Work<'_>,
        mesh: &mut Mesh,
    ) -> Result<Settling> {
        let Work {
            records,
            sums,
            due,
            mut turned,
            among,
        } = work;
        let seeds = &keys.proofs;
        send_crossed((setting, me), among, mesh)?;
        let session = mesh.session();
        let mut settling = Settling {
            cpu,
            session,
            role_index,
            me,
            among,
            steps: guard.steps,
            records,
            sums,
            parts: Vec::new(),
            inputs: guard.inputs(),
            setting: setting.clone(),
            dealt: match role_index.role {
                0 => None,
                role => Some([0, 3 - role].map(|role| role_index::party(setting, role))),
            },
            flight: 0,
        };
        let mut first = Counts::default();
        for segment in segments(&due.bits) {
            let turned = turned.take();
            let turns = turned.iter().flat_map(|turned| turned.shapes());
            let shape = shape_of(&segment, &turns.collect::<Vec<_>>());
            let part = settling.part(shape, seeds, guard);
            settling.parts.push(Part {
                first,
                counts: segment,
                turned,
                ..part
            });
            add(&mut first, &segment);
        }
        for cut in due.sums.segments() {
            let part = settling.part(sum_shape(&cut), seeds, guard);
            let cut = Some(cut);
            settling.parts.push(Part { cut, ..part });
        }
        if turned.is_some() {
            return Err(Fault::internal("a shuffle without ANDs"));
        }
        for (side, peer) in settling.neighbours().into_iter().enumerate() {
            for (_, inputs) in &settling.inputs {
                write(None, &inputs[side], peer, mesh)?;
            }
        }
        if let Some([_, other]) = settling.dealt {
            write(None, &keys.agreed, other, mesh)?;
        }
        let [previous, next] = settling.neighbours();
        for part in &settling.parts {
            // This role is the left verifier of the next one.
            write(None, &part.seeds[0].part(0).to_bytes(), next, mesh)?;
            write(None, &part.seeds[1].part(1).to_bytes(), previous, mesh)?;
        }
        Ok(settling)
    }

    /// A segment of this shape, under the next number.
    fn part(&self, shape: Shape, seeds: &[Seed; 2], guard: &mut Guard) -> Part {
        let number = guard.segments;
        guard.segments += 1;
        let [of_next, of_previous] = [1, 2].map(|ahead| self.context(number, ahead));
        Part {
            number,
            shape,
            first: Counts::default(),
            counts: Counts::default(),
            turned: None,
            cut: None,
            // The verifiers of role `p` have key `k_(p+2)` in common, which `p` has not.
            seeds: [
                WeightSeed::draw(&of_next, &seeds[0]),
                WeightSeed::draw(&of_previous, &seeds[1]),
            ],
            followed: Vec::new(),
        }
    }

    /// The proof of the role that stands so far ahead of this one in the ring.
    fn context(&self, segment: u64, ahead: usize) -> Context {
        Context {
            session: *self.session.as_bytes(),
            segment,
            prover: ((self.role_index.role + ahead) % 3) as u8,
        }
    }

    fn neighbours(&self) -> [PartyId; 2] {
        [self.role_index.previous, self.role_index.next]
    }

    /// Reads a flight and writes the next one; the settlement if that was the last.
    pub(super) fn advance(
        &mut self,
        keys: &GuardKeys,
        memory: &mut Memory,
        mesh: &mut Mesh,
    ) -> Result<Option<Settled>> {
        self.flight += 1;
        match self.flight {
            1 => self.prove(keys, memory, mesh)?,
            2 => self.follow(&keys.proofs, memory, mesh)?,
            _ => return Ok(Some(self.decide(mesh)?)),
        }
        let done = self.parts.is_empty();
        Ok(done.then_some(Settled { steps: self.steps }))
    }

    /// Compares what has to be the same, then proves.
    fn prove(&mut self, keys: &GuardKeys, memory: &mut Memory, mesh: &mut Mesh) -> Result<()> {
        check_crossed((&self.setting, self.me), self.among, mesh)?;
        for (side, peer) in self.neighbours().into_iter().enumerate() {
            for (owner, inputs) in &self.inputs {
                let mut theirs = [0; 32];
                mesh.recv(peer, &mut theirs)?;
                let check = "the comparison of what owners gave";
                check_same(&inputs[side], &theirs, [*owner, peer], check)?;
            }
        }
        if let Some(between) = self.dealt {
            let mut theirs = [0; 32];
            mesh.recv(between[1], &mut theirs)?;
            let check = "the comparison of the seed of masks";
            check_same(&keys.agreed, &theirs, between, check)?;
        }
        let [previous, next] = self.neighbours();
        let mut seeds = Vec::with_capacity(self.parts.len());
        for _ in &self.parts {
            let mut message = [[0; Shape::SEED_BYTES]; 2];
            // The left verifier of this role's proof is the role before.
            mesh.recv(previous, &mut message[0])?;
            mesh.recv(next, &mut message[1])?;
            let parts = message.map(|bytes| SeedPart::parse(&bytes).expect("its length is right"));
            let seed = WeightSeed::join(&parts)
                .map_err(|_| disputed([previous, next], "the comparison of the seed of a proof"))?;
            seeds.push(seed);
        }
        // No proof is sent before all seeds have been compared.
        for (part, seed) in self.parts.iter().zip(seeds) {
            let segment = self.segment(part, 0);
            let draws = &mut segment.challenges(&seed);
            let both = [&keys.proofs[0], &keys.proofs[1]];
            let (left, right) = match &part.cut {
                Some(cut) => {
                    let pieces = sum_pieces(&self.sums, cut, Prover::Own);
                    let batches = pieces.iter().map(|piece| piece.batch()).collect::<Vec<_>>();
                    segment.prove_sums(draws, both, &seed, &batches, memory)
                }
                None => {
                    let statements = self.statements(part, Prover::Own);
                    segment.prove(draws, both, &seed, statements, memory)
                }
            };
            write(None, left.as_bytes(), previous, mesh)?;
            write(None, right.as_bytes(), next, mesh)?;
        }
        Ok(())
    }

    /// Follows the proofs of both others.
    fn follow(&mut self, keys: &[Seed; 2], memory: &mut Memory, mesh: &mut Mesh) -> Result<()> {
        let [previous, next] = self.neighbours();
        let mut parts = std::mem::take(&mut self.parts);
        for part in &mut parts {
            let mut message = Zeroizing::new(vec![0; part.shape.left_bytes()]);
            mesh.recv(next, &mut message)?;
            let left = ToLeft::parse(&message, &part.shape).expect("its length is right");
            let mut message = vec![0; part.shape.right_bytes()];
            mesh.recv(previous, &mut message)?;
            let right = ToRight::parse(&message, &part.shape).expect("its length is right");

            let of_next = self.follow_left(part, &keys[1], &left, memory);
            let of_previous = self.follow_right(part, &keys[0], &right, memory);

            // The other verifier of the next role is the role before, and the other way round.
            write(None, &of_next.answer().to_bytes(), previous, mesh)?;
            write(None, &of_previous.answer().to_bytes(), next, mesh)?;
            part.followed = vec![of_next, of_previous];
            part.turned = None;
        }
        self.parts = parts;
        Ok(())
    }

    /// Follows the proof of the next role, of which this one is the left verifier.
    fn follow_left(&self, part: &Part, key: &Seed, left: &ToLeft, memory: &mut Memory) -> Pending {
        let (segment, seed) = (self.segment(part, 1), &part.seeds[0]);
        let draws = &mut segment.challenges(seed);
        match &part.cut {
            Some(cut) => {
                let pieces = sum_pieces(&self.sums, cut, Prover::Other(1));
                let batches = pieces.iter().map(|piece| piece.batch()).collect::<Vec<_>>();
                segment.follow_left_sums(draws, key, seed, &batches, left, memory)
            }
            None => {
                let of = self.statements(part, Prover::Other(1));
                segment.follow_left(draws, key, seed, of, left, memory)
            }
        }
    }

    /// Follows the proof of the role before, of which this one is the right verifier.
    fn follow_right(
        &self,
        part: &Part,
        key: &Seed,
        right: &ToRight,
        memory: &mut Memory,
    ) -> Pending {
        let (segment, seed) = (self.segment(part, 2), &part.seeds[1]);
        let draws = &mut segment.challenges(seed);
        match &part.cut {
            Some(cut) => {
                let pieces = sum_pieces(&self.sums, cut, Prover::Other(0));
                let batches = pieces.iter().map(|piece| piece.batch()).collect::<Vec<_>>();
                segment.follow_right_sums(draws, key, seed, &batches, right, memory)
            }
            None => {
                let of = self.statements(part, Prover::Other(0));
                segment.follow_right(draws, key, seed, of, right, memory)
            }
        }
    }

    /// Decides all proofs.
    fn decide(&mut self, mesh: &mut Mesh) -> Result<Settled> {
        let [previous, next] = self.neighbours();
        let mut proved: Vec<Proved> = Vec::new();
        for part in &mut self.parts {
            for (pending, other) in part.followed.drain(..).zip([previous, next]) {
                let mut message = [0; Shape::ANSWER_BYTES];
                mesh.recv(other, &mut message)?;
                let answer = Answer::parse(&message).expect("its length is right");
                let refused = |_: Refused| disputed([next, previous], "a proof");
                proved.push(pending.decide(&answer).map_err(refused)?);
            }
        }
        let all = self.parts.iter().flat_map(|part| {
            let of = |ahead| self.context(part.number, ahead);
            [of(1), of(2)]
        });
        let all = all.eq(proved.iter().map(Proved::context));
        if all {
            Ok(Settled { steps: self.steps })
        } else {
            Err(Fault::internal("a settlement without all its proofs"))
        }
    }

    /// The statements of a role in a segment.
    fn statements<'a>(&'a self, part: &'a Part, prover: Prover) -> Stream<'a> {
        let range = (&part.first, &part.counts);
        let turned = part.turned.as_deref();
        Stream::new(
            self.cpu,
            (&self.records, turned),
            prover,
            range,
            &part.shape,
        )
    }

    /// Keeps the memory of what has been proved.
    pub(super) fn reuse(self, spare: &mut Spare) {
        for record in self.records {
            record.reuse(spare);
        }
    }

    /// The records that have been proved.
    pub(super) fn into_records(self) -> Vec<Record> {
        self.records
    }

    fn segment<'a>(&self, part: &'a Part, ahead: usize) -> Segment<'a> {
        Segment {
            cpu: self.cpu,
            context: self.context(part.number, ahead),
            shape: &part.shape,
        }
    }
}
