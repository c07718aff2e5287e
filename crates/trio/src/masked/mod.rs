//! Tapes with functions of a few bits, computed under masks that a helper deals for.
//!
//! A replicated sharing `x = x_0 ^ x_1 ^ x_2` is a masked one, too, for each choice of a *helper*:
//! the helper, role `i`, knows the masks `l_1 = x_i` and `l_2 = x_(i+1)`, and the two others know
//! `m = x ^ l_1 ^ l_2`, which is `x_(i+2)`, and one mask each (Chaudhari, Choudhury, Patra, Suresh,
//! "ASTRA", CCSW 2019). So nothing is converted where a tape begins or ends, and what each party
//! knows of a value is what it always knows: two components of three.
//!
//! Masks of outputs come from keys. So the helper knows the masks of all values of a tape ahead and
//! receives nothing. It *deals* what the others need of the masks of operands, one level ahead of
//! them: shares of products of masks, one share from a key, the other one sent. Both others then
//! add up their shares of the output less its masks, send the sums to each other, and so learn `m`
//! of the output, all gates of a level at once. [`Function`] says what is dealt.
//!
//! ```text
//!            role of      knows      flight 0    flight 1       flight 2       ...
//! helper     part i       l_1, l_2   deals 0     deals 1        deals 2
//! before     i - 1        m, l_1                 opens level 0  opens level 1
//! after      i + 1        l_2, m     (receives)  opens level 0  opens level 1
//! ```
//!
//! Lanes are cut into three *parts*, each with another role as its helper, so that the links share
//! the load. Masks belong to the helper of their part, by their type: a mask of one part cannot be
//! used in another, where a party would know both the mask and what it hides.

mod kernel;

use crate::arrive::{recv, send};
use crate::bits::words_for;
use crate::form::Form;
use crate::roles::Computing;
use crate::share::Share;
use crate::tape::{Wires, ands};
use kernel::{Level, Place, Prepared, Rows};
use sealane_block::Cpu;
use sealane_circuit::Tape;
use sealane_circuit::function::Function;
use sealane_circuit::tape::{Batch, Gate};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Planes};
use std::collections::VecDeque;
use std::ops::Range;

/// The words of the lanes of a part, of so many in all.
fn words_of(part: usize, lanes: usize) -> Range<usize> {
    let words = words_for(lanes);
    words * part / 3..words * (part + 1) / 3
}

/// The lanes of a part.
pub(crate) fn lanes_of(part: usize, lanes: usize) -> usize {
    let Range { start, end } = words_of(part, lanes);
    lanes.min(64 * end) - lanes.min(64 * start)
}

/// Bits that are dealt and opened at a level, for each lane.
pub(crate) fn level_bits(tape: &Tape, level: usize) -> [usize; 2] {
    let ands = ands(tape, level).len();
    let functions = tape.applied_in(level).iter();
    let functions = functions.map(|applied| &tape.functions[applied.function as usize]);
    let add = |[dealt, opened]: [usize; 2], function: &Function| {
        [dealt + function.dealt(), opened + function.outputs()]
    };
    functions.fold([ands; 2], add)
}

/// Number of levels: batches but a last one that has nothing to open.
pub(crate) fn levels(tape: &Tape) -> usize {
    let opens = |level: &usize| level_bits(tape, *level) != [0; 2];
    (0..tape.batches.len()).take_while(opens).count()
}

/// A tape in the middle of its levels.
pub(crate) struct RunningMasked<'a> {
    run: Run<'a>,
    parts: (Part<0>, Part<1>, Part<2>),
    /// The level whose deals are in transit; the number of levels after the last.
    level: usize,
}

/// Progress of such a tape.
pub(crate) enum MaskedProgress<'a> {
    More(Box<RunningMasked<'a>>),
    Done(Share),
}

/// The tape, and its functions, for all parts.
struct Run<'a> {
    tape: &'a Tape,
    lanes: usize,
    levels: usize,
    functions: Vec<Prepared>,
}

/// Runs an expression for each part in turn.
macro_rules! each {
    ($parts:expr, $part:ident => $run:expr) => {{
        let $part = &mut $parts.0;
        $run;
        let $part = &mut $parts.1;
        $run;
        let $part = &mut $parts.2;
        $run;
    }};
}

impl Computing {
    /// Begins a tape whose inputs `load` puts into the wires of a range of words.
    pub(crate) fn begin_masked<'a>(
        &mut self,
        tape: &'a Tape,
        lanes: usize,
        load: impl Fn(&mut Wires, Range<usize>),
        mesh: &mut Mesh,
    ) -> Result<MaskedProgress<'a>, Fault> {
        let run = Run {
            tape,
            lanes,
            levels: levels(tape),
            functions: tape.functions.iter().map(Prepared::of).collect(),
        };
        let mut parts = (
            Part::of(self, &run, &load),
            Part::of(self, &run, &load),
            Part::of(self, &run, &load),
        );
        each!(parts, part => part.deal(self, &run, 0, mesh)?);
        Ok(MaskedProgress::More(Box::new(RunningMasked {
            run,
            parts,
            level: 0,
        })))
    }

    /// Reads what has crossed and runs up to the next flight.
    pub(crate) fn advance_masked<'a>(
        &mut self,
        mut running: Box<RunningMasked<'a>>,
        mesh: &mut Mesh,
    ) -> Result<MaskedProgress<'a>, Fault> {
        let RunningMasked { run, parts, level } = &mut *running;
        if *level > 0 {
            each!(parts, part => part.opened(self, run, *level - 1, mesh)?);
        }
        if *level == run.levels {
            return Ok(MaskedProgress::Done(running.finish(self.cpu)));
        }
        each!(parts, part => part.dealt(self, run, *level, mesh)?);
        each!(parts, part => part.open(self, run, *level, mesh)?);
        *level += 1;
        if *level < run.levels {
            each!(parts, part => part.deal(self, run, *level, mesh)?);
        }
        Ok(MaskedProgress::More(running))
    }
}

impl RunningMasked<'_> {
    fn finish(mut self, cpu: Cpu) -> Share {
        let run = &self.run;
        let form = Form::bits(run.tape.outputs.len(), run.lanes);
        let mut shares = [form.zeros(), form.zeros()];
        each!(self.parts, part => part.finish(cpu, run, &mut shares));
        form.share(shares)
    }
}

/// Masks of one level of the part whose helper is a role.
struct Masks<const HELPER: usize> {
    /// Of opened bits: the mask that this party knows, and the other one at the helper.
    outputs: Planes<u64>,
    others: Option<Planes<u64>>,
    /// Shares of what is dealt; none at the party after the helper until they have arrived.
    dealt: Option<Planes<u64>>,
}

/// A part that takes masks of a type: those of its own helper and no others.
trait Takes<M> {
    fn take(&mut self, masks: M);
}

/// The lanes of one helper.
struct Part<const HELPER: usize> {
    duty: Duty,
    words: Range<usize>,
    lanes: usize,
    wires: Wires,
    /// Masks of the level that is opened next, and those of the level that is dealt for.
    masks: VecDeque<Masks<HELPER>>,
    /// This party's summand of what is being opened.
    summand: Option<Planes<u64>>,
}

/// The duty of a party in a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Duty {
    /// Knows both masks.
    Helper,
    /// The role before the helper: its first component is `m`, the second the first mask.
    Before,
    /// The role after the helper: its first component is the second mask, the second one `m`.
    After,
}

impl<const HELPER: usize> Takes<Masks<HELPER>> for Part<HELPER> {
    fn take(&mut self, masks: Masks<HELPER>) {
        self.masks.push_back(masks);
    }
}

impl<const HELPER: usize> Masks<HELPER> {
    /// Draws the masks of a level, in the order of all holders of a key.
    fn draw(duty: Duty, party: &mut Computing, dealt: Form, opened: Form) -> Masks<HELPER> {
        let keys = &mut party.keys;
        match duty {
            Duty::Helper => Masks {
                dealt: Some(keys.own.deal(dealt)),
                outputs: keys.own.first_mask(opened),
                others: Some(keys.next.second_mask(opened)),
            },
            Duty::Before => Masks {
                dealt: Some(keys.next.deal(dealt)),
                outputs: keys.next.first_mask(opened),
                others: None,
            },
            Duty::After => Masks {
                dealt: None,
                outputs: keys.own.second_mask(opened),
                others: None,
            },
        }
    }
}

impl<const HELPER: usize> Part<HELPER> {
    fn of(party: &Computing, run: &Run<'_>, load: &impl Fn(&mut Wires, Range<usize>)) -> Self {
        let lanes = lanes_of(HELPER, run.lanes);
        let words = words_of(HELPER, run.lanes);
        let mut wires = Wires::new(run.tape.slots as usize, words.len());
        wires.set_one(party.seat, lanes);
        load(&mut wires, words.clone());
        Part {
            duty: match (party.seat.role + 3 - HELPER) % 3 {
                0 => Duty::Helper,
                1 => Duty::After,
                _ => Duty::Before,
            },
            words,
            lanes,
            wires,
            masks: VecDeque::new(),
            summand: None,
        }
    }

    /// Layouts of what is dealt and opened at a level.
    fn forms(&self, run: &Run<'_>, level: usize) -> [Form; 2] {
        level_bits(run.tape, level).map(|bits| Form::bits(bits, self.lanes))
    }

    /// The other party that opens.
    fn partner(&self, party: &Computing) -> PartyId {
        match self.duty {
            Duty::Before => party.seat.previous,
            _ => party.seat.next,
        }
    }

    /// Deals for a level, at the helper; draws its masks, at all.
    fn deal(
        &mut self,
        party: &mut Computing,
        run: &Run<'_>,
        level: usize,
        mesh: &mut Mesh,
    ) -> Result<(), Fault> {
        if self.lanes == 0 {
            return Ok(());
        }
        let [dealt, opened] = self.forms(run, level);
        let mut masks = Masks::<HELPER>::draw(self.duty, party, dealt, opened);
        if let (Duty::Helper, Some(other)) = (self.duty, masks.others.take()) {
            if let Some(rows) = &mut masks.dealt {
                self.wires
                    .deal(party.cpu, run.level(level), rows.data_mut());
                send(dealt, rows.data(), party.seat.next, mesh)?;
            }
            for (plane, slot) in run.outs(level).enumerate() {
                let known = [masks.outputs.plane(plane), other.plane(plane)];
                self.wires.load(slot, known);
            }
            return Ok(());
        }
        self.take(masks);
        Ok(())
    }

    /// Receives what was dealt.
    fn dealt(
        &mut self,
        party: &Computing,
        run: &Run<'_>,
        level: usize,
        mesh: &mut Mesh,
    ) -> Result<(), Fault> {
        let [dealt, _] = self.forms(run, level);
        if let (Duty::After, Some(masks)) = (self.duty, self.masks.front_mut()) {
            masks.dealt = Some(recv(dealt, party.seat.previous, mesh)?);
        }
        Ok(())
    }

    /// Sends this party's summand of the outputs of a level less their masks.
    fn open(
        &mut self,
        party: &Computing,
        run: &Run<'_>,
        level: usize,
        mesh: &mut Mesh,
    ) -> Result<(), Fault> {
        let place = match self.duty {
            _ if self.lanes == 0 => return Ok(()),
            Duty::Helper => return Ok(()),
            Duty::Before => Place::Before,
            Duty::After => Place::After,
        };
        let [_, opened] = self.forms(run, level);
        let masks = self.masks.front().ok_or_else(no_masks)?;
        let dealt = masks.dealt.as_ref().ok_or_else(no_masks)?;
        let mut summand = opened.zeros();
        let rows = Rows {
            dealt: dealt.data(),
            masks: masks.outputs.data(),
            summands: summand.data_mut(),
        };
        self.wires.open(party.cpu, run.level(level), place, rows);
        opened.trim(summand.data_mut());
        send(opened, summand.data(), self.partner(party), mesh)?;
        self.summand = Some(summand);
        Ok(())
    }

    /// Receives the other summand: both together are the outputs of the level, masked.
    fn opened(
        &mut self,
        party: &Computing,
        run: &Run<'_>,
        level: usize,
        mesh: &mut Mesh,
    ) -> Result<(), Fault> {
        let [_, opened] = self.forms(run, level);
        let Some(mut sum) = self.summand.take() else {
            return Ok(());
        };
        let masks = self.masks.pop_front().ok_or_else(no_masks)?;
        let other = recv(opened, self.partner(party), mesh)?;
        opened.group.add(sum.data_mut(), other.data());
        for (plane, slot) in run.outs(level).enumerate() {
            let [masked, mask] = [&sum, &masks.outputs].map(|of| of.plane(plane));
            self.wires.load(
                slot,
                match self.duty {
                    Duty::After => [mask, masked],
                    _ => [masked, mask],
                },
            );
        }
        Ok(())
    }

    /// Runs what follows the last level, and hands the outputs over.
    fn finish(&mut self, cpu: Cpu, run: &Run<'_>, shares: &mut [Planes<u64>; 2]) {
        if let Some(batch) = run.tape.batches.get(run.levels) {
            self.wires.add(cpu, xors(run.tape, batch));
        }
        let [own, next] = shares;
        for (plane, slot) in run.tape.outputs.iter().enumerate() {
            let parts = [own.plane_mut(plane), next.plane_mut(plane)];
            let parts = parts.map(|part| &mut part[self.words.clone()]);
            self.wires.store(*slot as usize, parts);
        }
    }
}

impl Run<'_> {
    /// The gates of a level.
    fn level(&self, level: usize) -> Level<'_> {
        Level {
            xors: xors(self.tape, &self.tape.batches[level]),
            ands: ands(self.tape, level),
            applied: self.tape.applied_in(level),
            functions: &self.functions,
        }
    }

    /// The slots that a level writes: of ANDs, then of functions.
    fn outs(&self, level: usize) -> impl Iterator<Item = usize> + '_ {
        let ands = ands(self.tape, level).iter().map(|gate| gate.out);
        let applied = self.tape.applied_in(level).iter();
        let outs = ands.chain(applied.flat_map(|applied| applied.outs.iter().copied()));
        outs.map(|slot| slot as usize)
    }
}

fn xors<'a>(tape: &'a Tape, batch: &Batch) -> &'a [Gate] {
    &tape.xors[batch.xors.start as usize..batch.xors.end as usize]
}

fn no_masks() -> Fault {
    Fault::internal("a level is opened before its masks are there")
}

#[cfg(test)]
mod tests {
    use super::*;
    use static_assertions::{assert_impl_all, assert_not_impl_any};

    assert_impl_all!(Part<0>: Takes<Masks<0>>);
    assert_not_impl_any!(Part<0>: Takes<Masks<1>>, Takes<Masks<2>>);
    assert_not_impl_any!(Part<1>: Takes<Masks<0>>, Takes<Masks<2>>);
    assert_not_impl_any!(Part<2>: Takes<Masks<0>>, Takes<Masks<1>>);

    #[test]
    fn parts_are_all_lanes() {
        for lanes in [0, 1, 63, 64, 65, 128, 129, 200, 1000, 4096] {
            let parts = [0, 1, 2].map(|part| lanes_of(part, lanes));
            assert_eq!(parts.iter().sum::<usize>(), lanes);
            let most = parts.iter().max().zip(parts.iter().min());
            assert!(
                most.is_none_or(|(most, least)| most - least <= 127),
                "{lanes}"
            );
        }
    }
}
