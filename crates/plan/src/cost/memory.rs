//! Memory of a run: the shares that are alive as steps follow the flow, and what a step takes
//! beside them while it is under way. A bound for parties with a role; others hold shapes alone.

use super::walk::{Counter, Counts, Piece};
use crate::flow::{Call, TileRun};
use crate::steps::{Plan, PlanValue, StepOp};
use sealane_parties::PartyId;
use sealane_protocol::{Algebra, Domain, Goal, Protocol, StepShape};
use std::collections::{BTreeMap, HashMap};

/// Memory of a party.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of its inputs once they are read.
    pub inputs: u64,
    /// Most bytes of all else.
    pub work: u64,
}

impl Memory {
    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.inputs + self.work
    }
}

/// Bytes of an element of an input or a result in memory, and of its text or column beside it,
/// while that is read or written.
const ELEMENT_BYTES: u64 = 8;
const TEXT_BYTES: u64 = 24;

/// Memory of each party of a counted run, of whose shares `shares` bytes are alive at most.
pub(super) fn by_party<P: Protocol>(
    plan: &Plan,
    rows: &[u64],
    counts: &Counts,
    shares: u64,
) -> Vec<Memory> {
    let setting = &plan.setting;
    let elements = |value: PlanValue| {
        let value = &plan[value];
        value.elements * value.rows.map_or(1, |table| rows[usize::from(table.0)])
    };
    let steps = plan.segments.iter().flat_map(|segment| &segment.steps);
    let inputs = steps.filter_map(|step| match step.op {
        StepOp::Input { input, out } => Some((input as usize, elements(out))),
        _ => None,
    });
    // Walks that need the same rows share the same input.
    let inputs = inputs.collect::<BTreeMap<_, _>>();
    let of_party = |party: PartyId| {
        let owned = inputs
            .iter()
            .filter(|(input, _)| plan.owners[**input] == party);
        let owned = owned.map(|(_, count)| count).sum::<u64>();
        let learnt = plan
            .results
            .iter()
            .filter(|result| result.to.contains(party));
        let learnt = learnt.map(|result| elements(result.value)).sum::<u64>();
        let plays = setting.roles.is_empty() || setting.role_of(party).is_some();
        let state = shares + counts.pool_bits.div_ceil(8) + P::state_bytes(setting, &counts.demand);
        Memory {
            inputs: owned * ELEMENT_BYTES,
            work: (2 * learnt * ELEMENT_BYTES + u64::from(plays) * state)
                .max((owned + learnt) * (ELEMENT_BYTES + TEXT_BYTES)),
        }
    };
    setting.everyone().map(of_party).collect()
}

/// A value: of one tile run, or with all that there is of it.
type Held = (Option<TileRun>, PlanValue);

/// Shares that are alive, in bits.
#[derive(Default)]
pub(super) struct Live {
    /// Steps that read each value, by segment, and the last segment that does.
    readers: Vec<HashMap<PlanValue, u64>>,
    last: HashMap<PlanValue, usize>,
    held: HashMap<Held, u64>,
    /// Steps of a tile run that have still to read a value.
    left: HashMap<(TileRun, PlanValue), u64>,
    /// Bits that calls under way take.
    taken: HashMap<Call, u64>,
    /// Bits of checks that are not settled, by tile run, and whether of a carry.
    checks: HashMap<(TileRun, bool), u64>,
    now: u64,
    most: u64,
}

impl Live {
    pub fn new(counter: &Counter) -> Live {
        let plan = counter.plan;
        let mut live = Live::default();
        for (index, segment) in plan.segments.iter().enumerate() {
            let mut readers = HashMap::new();
            for value in segment.steps.iter().flat_map(|step| step.op.reads()) {
                *readers.entry(value).or_insert(0) += 1;
                live.last.insert(value, index);
            }
            live.readers.push(readers);
        }
        let results = plan.results.iter();
        let last = results.filter(|result| !plan.in_tiles(result, counter.rows));
        live.last
            .extend(last.map(|result| (result.value, usize::MAX)));
        live
    }

    /// Bytes that were alive at a time, at most.
    pub fn most_bytes(&self) -> u64 {
        self.most.div_ceil(8)
    }

    /// Counts a call that begins and takes so many bits until it ends, and leaves so many until its
    /// checks are settled.
    pub fn begin<P: Protocol>(&mut self, counter: &Counter, call: &Call, [bits, checks]: [u64; 2]) {
        let (op, run) = (op(counter, call), call.run);
        if let StepOp::Settle = op {
            self.settle(counter, call);
        } else if checks > 0 {
            *self.checks.entry((run, call.carry)).or_insert(0) += checks;
            self.now += checks;
        }
        for value in op.reads().into_iter().filter(|_| !call.carry) {
            // Kept rows are read as a copy of those of the tile.
            let copied = self.held.contains_key(&(None, value)) && run.rows > 0;
            if copied && counter.plan[value].rows.is_some() {
                self.hold((Some(run), value), size::<P>(counter, value, run.rows));
            }
        }
        self.taken.insert(*call, bits);
        self.now += bits;
        self.most = self.most.max(self.now);
    }

    /// Counts a call that has ended: what it has written, and what nothing reads any more.
    pub fn end<P: Protocol>(&mut self, counter: &Counter, call: &Call) {
        let (op, run, plan) = (op(counter, call), call.run, counter.plan);
        let reads = op.reads().into_iter();
        for value in op.writes() {
            let planned = &plan[value];
            let whole = plan.segments[run.segment].rows.is_none() || planned.rows.is_none();
            let lasts = self
                .last
                .get(&value)
                .is_some_and(|last| *last > run.segment);
            match (whole || planned.kept && lasts, planned.rows) {
                (true, Some(table)) => {
                    let all = size::<P>(counter, value, counter.all_rows(table));
                    // Tiles are joined to another copy.
                    self.most = self.most.max(self.now + 2 * all);
                    self.hold((None, value), all);
                }
                (true, None) => self.hold((None, value), size::<P>(counter, value, 1)),
                (false, _) => self.hold((Some(run), value), size::<P>(counter, value, run.rows)),
            }
        }
        self.now -= self.taken.remove(call).unwrap_or(0);
        self.most = self.most.max(self.now);
        for value in reads.filter(|_| !call.carry) {
            let all = self.readers[run.segment].get(&value).copied();
            let left = self.left.entry((run, value)).or_insert(all.unwrap_or(1));
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.drop((Some(run), value));
                let rows = plan.segments[run.segment].rows;
                if rows.is_none() && self.last.get(&value) == Some(&run.segment) {
                    self.drop((None, value));
                }
            }
        }
    }

    /// Takes the checks that a call settles: of its tile run and of the carries before, or all in a
    /// segment that runs once.
    fn settle(&mut self, counter: &Counter, call: &Call) {
        let run = call.run;
        let walks = counter.plan.segments[run.segment].rows.is_some();
        let now = &mut self.now;
        self.checks.retain(|(of, carry), bits| {
            let due = match carry {
                false => *of == run,
                true => of.segment == run.segment && of.tile < run.tile,
            };
            let due = due || !walks;
            if due {
                *now -= *bits;
            }
            !due
        });
    }

    /// Counts the end of a tile run.
    pub fn close(&mut self, run: &TileRun) {
        self.left.retain(|(of, _), _| of != run);
        let over = |(of, value): &Held| match of {
            Some(of) => of == run,
            // Later tile runs of a segment may have been skipped.
            None => self.last.get(value).is_some_and(|last| *last < run.segment),
        };
        let over = self.held.keys().copied().filter(over).collect::<Vec<_>>();
        over.into_iter().for_each(|held| self.drop(held));
    }

    fn hold(&mut self, held: Held, bits: u64) {
        self.now += bits;
        self.now -= self.held.insert(held, bits).unwrap_or(0);
        self.most = self.most.max(self.now);
    }

    fn drop(&mut self, held: Held) {
        self.now -= self.held.remove(&held).unwrap_or(0);
    }
}

fn op<'a>(counter: &Counter<'a>, call: &Call) -> &'a StepOp {
    &counter.plan.segments[call.run.segment].steps[call.step].op
}

/// Bits of a share of one bit, or of one ring element.
pub(super) fn share<P: Protocol>(counter: &Counter, domain: Domain) -> u64 {
    let profile = P::domain_profile(domain, counter.setting.parties);
    profile.share_bits.into()
}

/// Bits of the shares of so many rows of a value.
pub(super) fn size<P: Protocol>(counter: &Counter, value: PlanValue, rows: u64) -> u64 {
    let planned = &counter.plan[value];
    let planes = match planned.domain.algebra {
        Algebra::Z2 => u64::from(planned.bits),
        Algebra::Z2k(_) | Algebra::Gf2k(_) | Algebra::Fp => 1,
    };
    let rows = planned.rows.map_or(1, |_| rows);
    planned.elements * rows * planes * share::<P>(counter, planned.domain)
}

/// Bits that the pieces of a call leave until their checks are settled.
pub(super) fn check_bits<P: Protocol>(counter: &Counter, pieces: &[Piece]) -> u64 {
    let bits = |piece: &Piece| piece.times * P::check_bits(counter.setting, &piece.work);
    pieces.iter().map(bits).sum()
}

/// Bits that a call takes beside its values while it is under way: copies of operands and results
/// in the order that it wants, what the largest of its pieces works on, and its messages.
pub(super) fn working_bits<P: Protocol>(counter: &Counter, call: &Call, pieces: &[Piece]) -> u64 {
    let op = op(counter, call);
    let copies = op.reads().into_iter().chain(op.writes()).map(|value| {
        let table = counter.plan[value].rows;
        let all = table.filter(|table| op.all_rows().contains(table));
        let rows = all.map_or(call.run.rows, |table| counter.all_rows(table));
        size::<P>(counter, value, rows)
    });
    let ordered =
        |domain, rows: u64, planes: u64| rows * (512 + 2 * planes * share::<P>(counter, domain));
    let worked = pieces.iter().map(|piece| {
        let cost = counter.cost::<P>(call.walk, &piece.work);
        let messages = cost
            .flights
            .iter()
            .flatten()
            .map(|message| 8 * message.bytes);
        let messages = messages.max().unwrap_or(0);
        match &piece.work {
            StepShape::Input(input) => input.elements * (64 + 8 * input.bits) + messages,
            StepShape::Tape(run) => {
                let tape = run.tape;
                let goal = P::domain_profile(run.domain, counter.setting.parties).goal;
                let across = matches!(op, StepOp::Cross(_));
                let ports = tape.inputs + tape.outputs.len() as u32;
                // Tables stream, and labels of gates take a block of lanes at a time.
                let (slots, messages) = match goal {
                    Goal::Size => (if across { ports } else { 0 }, 0),
                    Goal::Depth => (tape.slots + tape.inputs, messages),
                };
                run.lanes * (128 + u64::from(slots) * share::<P>(counter, run.domain)) + messages
            }
            StepShape::Product(product) => {
                let elements = product.distinct.iter().sum::<u64>() + product.lanes;
                2 * elements * share::<P>(counter, product.domain) + messages
            }
            // Words of both values; where a share of a bit is larger than a word, such shares of
            // what each of two parties has, and of the result.
            StepShape::Convert(convert) => {
                let bits = [convert.from, convert.to].into_iter();
                let bits = bits.filter(|domain| domain.algebra == Algebra::Z2);
                let largest = bits.map(|domain| 3 * share::<P>(counter, domain)).max();
                convert.elements * convert.bits * largest.unwrap_or(0).max(64) + messages
            }
            StepShape::Ring(ring) => ring.lanes * ring.bits * 64 + messages,
            StepShape::Shuffle(of) => ordered(of.domain, of.rows, of.planes) + messages,
            StepShape::Sort(of) => {
                let proofs = P::proof_bits(counter.setting, &piece.work);
                ordered(of.domain, of.rows, of.planes) + messages + proofs
            }
            StepShape::Settle { .. } => messages + P::check_bits(counter.setting, &piece.work),
            // Words of the values; labels are compared a piece at a time.
            StepShape::Open { .. } => 64 * piece.lanes,
        }
    });
    copies.sum::<u64>() + worked.max().unwrap_or(0)
}
