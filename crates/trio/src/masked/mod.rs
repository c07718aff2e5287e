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
mod program;

use crate::aligned_buffer::AlignedBuffer;
use crate::arrive::{recv_to, send};
use crate::bits::words_for;
use crate::form::Form;
use crate::keys::Key;
use crate::roles::Computing;
use crate::share::Share;
use crate::tape::{Plane, WIDE, Wires, ands, under_masks};
use kernel::{Dealt, Level, Opened, OpeningPlace, Prepared, Sums};
use program::{COMMON, Program};
use sealane_block::Cpu;
use sealane_circuit::Tape;
use sealane_circuit::function::Function;
use sealane_circuit::tape::ONE;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Planes, Result};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use zeroize::Zeroizing;

#[cfg(test)]
thread_local! {
    /// Turns the parts, so that tests of one lane, which is in the last part, have each helper.
    pub(crate) static TURNED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The words of the lanes of a part, of so many in all.
fn words_of(part: usize, lanes: usize) -> Range<usize> {
    #[cfg(test)]
    let part = (part + TURNED.get()) % 3;
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

/// The lanes of all helpers.
type Parts = (Part<0>, Part<1>, Part<2>);

/// A tape in the middle of its levels.
pub(crate) struct RunningMasked<'a> {
    run: MaskedTape<'a>,
    parts: Parts,
    /// The level whose deals are in transit; the number of levels after the last.
    level: usize,
}

/// Progress of such a tape.
pub(crate) enum MaskedProgress<'a> {
    More(Box<RunningMasked<'a>>),
    Done(Share),
}

/// The tape, and its functions, for all parts.
struct MaskedTape<'a> {
    tape: &'a Tape,
    lanes: usize,
    layout: Arc<Layout>,
    /// Both components of the values that are the same in all lanes.
    common: Zeroizing<Vec<[u64; 2]>>,
}

/// A tape with all that is made of it once, for all its tiles.
struct Layout {
    tape: Tape,
    /// Inputs that are the same in all lanes, if the program counts slots anew.
    same: Option<Vec<bool>>,
    program: Program,
    functions: Vec<Prepared>,
    /// Most bits that are dealt or opened at a level, for each lane.
    most: usize,
}

/// The layouts of the tapes that ran last.
#[derive(Default)]
pub(crate) struct Layouts(VecDeque<Arc<Layout>>);

impl Layouts {
    /// Most layouts that are kept: tapes of the tiles of a walk take turns.
    const MOST: usize = 8;

    /// The layout of a tape for these inputs that are the same in all lanes.
    fn of(&mut self, tape: &Tape, same: Option<Vec<bool>>) -> Arc<Layout> {
        let Layouts(known) = self;
        if let Some(layout) = known.iter().find(|of| of.same == same && of.tape == *tape) {
            return layout.clone();
        }
        let program = match &same {
            Some(same) => Program::counted(tape, same),
            None => Program::plain(tape),
        };
        let levels = program.levels[..program.opens].iter();
        let most = levels.flat_map(|gates| gates.bits).max();
        let layout = Arc::new(Layout {
            functions: tape.functions.iter().map(Prepared::of).collect(),
            most: most.unwrap_or(0),
            program,
            same,
            tape: tape.clone(),
        });
        known.truncate(Layouts::MOST - 1);
        known.push_front(layout.clone());
        layout
    }
}

/// Memory of tapes that have ended, for the next tiles of them. It is erased with the party.
#[derive(Default)]
pub(crate) struct Recycled(VecDeque<(Arc<Layout>, usize, Parts)>);

impl Recycled {
    /// Most tiles whose memory is kept: more are seldom in flight.
    const MOST: usize = 4;

    /// The memory of a tape of this layout with so many lanes, if there is some.
    fn take(&mut self, layout: &Arc<Layout>, lanes: usize) -> Option<Parts> {
        let Recycled(kept) = self;
        let fits = |(of, count, _): &(Arc<Layout>, usize, Parts)| {
            Arc::ptr_eq(of, layout) && *count == lanes
        };
        let place = kept.iter().position(fits)?;
        kept.remove(place).map(|(_, _, parts)| parts)
    }

    fn is_full(&self) -> bool {
        self.0.len() == Recycled::MOST
    }

    fn keep(&mut self, layout: Arc<Layout>, lanes: usize, parts: Parts) {
        self.0.truncate(Recycled::MOST - 1);
        self.0.push_front((layout, lanes, parts));
    }
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
    /// Makes the layout and the memory of a tape with functions ahead. On many lanes its time is
    /// nothing beside that of the tape, and it depends on which inputs are the same in all of them.
    pub(crate) fn expect_masked(&mut self, tape: &Tape, lanes: usize) {
        if !under_masks(tape) || words_for(lanes) >= MANY || self.recycled.is_full() {
            return;
        }
        let layout = self.layouts.of(tape, None);
        let parts = self.parts(&layout, lanes);
        self.recycled.keep(layout, lanes, parts);
    }

    fn parts(&self, layout: &Layout, lanes: usize) -> Parts {
        (
            Part::of(self, layout, lanes),
            Part::of(self, layout, lanes),
            Part::of(self, layout, lanes),
        )
    }

    /// Begins a tape with these inputs.
    pub(crate) fn begin_masked<'a>(
        &mut self,
        tape: &'a Tape,
        lanes: usize,
        inputs: &[Plane<'_>],
        mesh: &mut Mesh,
    ) -> Result<MaskedProgress<'a>> {
        let same = inputs.iter().map(|input| matches!(input, Plane::Same(_)));
        let same = (words_for(lanes) >= MANY).then(|| same.collect());
        let layout = self.layouts.of(tape, same);
        let one = [0, 1].map(|place| {
            if self.role_index.place_of(0) == Some(place) {
                u64::MAX
            } else {
                0
            }
        });
        // No copy is left behind by a vector that grows.
        let mut common = Zeroizing::new(Vec::with_capacity(2 + inputs.len()));
        common.extend([[0; 2], one]);
        common.extend(inputs.iter().filter_map(|input| match input {
            Plane::Same(words) => Some(words.map(|word| *word)),
            Plane::Lanes(_) => None,
        }));
        let run = MaskedTape {
            tape,
            lanes,
            layout,
            common,
        };
        let spare = self.recycled.take(&run.layout, lanes);
        let mut parts = spare.unwrap_or_else(|| self.parts(&run.layout, lanes));
        each!(parts, part => part.load(&run, inputs));
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
    ) -> Result<MaskedProgress<'a>> {
        let RunningMasked { run, parts, level } = &mut *running;
        if *level > 0 {
            each!(parts, part => part.opened(self, run, *level - 1, mesh)?);
        }
        if *level == run.layout.program.opens {
            return Ok(MaskedProgress::Done(running.finish(self)));
        }
        each!(parts, part => part.dealt(self, run, *level, mesh)?);
        each!(parts, part => part.open(self, run, *level, mesh)?);
        *level += 1;
        if *level < run.layout.program.opens {
            each!(parts, part => part.deal(self, run, *level, mesh)?);
        }
        Ok(MaskedProgress::More(running))
    }
}

impl RunningMasked<'_> {
    fn finish(mut self, party: &mut Computing) -> Share {
        let run = &self.run;
        let form = Form::bits(run.tape.outputs.len(), run.lanes);
        let mut shares = [form.zeros(), form.zeros()];
        each!(self.parts, part => part.finish(party.cpu, run, &mut shares));
        let layout = run.layout.clone();
        party.recycled.keep(layout, run.lanes, self.parts);
        // Values that are the same in all lanes go past the last one.
        shares
            .iter_mut()
            .for_each(|share| form.trim(share.data_mut()));
        form.share(shares)
    }
}

/// Words of a lane from which on slots are counted anew: a tape runs long enough then.
const MANY: usize = 4;

/// Words behind the last row: kernels read whole chunks, also where a row ends within one.
const MOST_PAST: usize = WIDE - 1;

/// Rows of words, for the most bits of a level. Each level uses them again, and the next tile.
type Rows = AlignedBuffer;

/// Masks of one level of the part whose helper is a role.
struct Masks<const HELPER: usize> {
    /// Of opened bits: the mask that this party knows, and the other one at the helper.
    outputs: Rows,
    others: Option<Rows>,
    /// Shares of what is dealt; none at the party after the helper until they have arrived.
    dealt: Option<Rows>,
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
    /// Masks of the level that was opened last, whose outputs are not on their wires yet.
    last: Option<Masks<HELPER>>,
    /// This party's summands of what is being opened, and those of the other party.
    summands: Rows,
    others: Rows,
    /// Rows that no level uses now.
    spare: Vec<Rows>,
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

impl<const HELPER: usize> Part<HELPER> {
    fn of(party: &Computing, layout: &Layout, all: usize) -> Self {
        let lanes = lanes_of(HELPER, all);
        let words = words_of(HELPER, all);
        let duty = match (party.role_index.role + 3 - HELPER) % 3 {
            0 => Duty::Helper,
            1 => Duty::After,
            _ => Duty::Before,
        };
        let opens = match duty {
            Duty::Helper => 0,
            _ => layout.most * words.len() + MOST_PAST,
        };
        Part {
            duty,
            lanes,
            wires: Wires::new(layout.program.slots, words.len()),
            words,
            masks: VecDeque::new(),
            last: None,
            summands: AlignedBuffer::zeros(opens),
            others: AlignedBuffer::zeros(opens),
            spare: Vec::new(),
        }
    }

    /// Puts the inputs and constants of a tape on their wires.
    fn load(&mut self, run: &MaskedTape<'_>, inputs: &[Plane<'_>]) {
        if self.lanes == 0 {
            return;
        }
        let (wires, program) = (&mut self.wires, &run.layout.program);
        for (slot, input) in program.inputs.iter().zip(inputs) {
            match input {
                Plane::Lanes(parts) => {
                    let parts = parts.map(|part| &part[self.words.clone()]);
                    wires.load(*slot as usize, parts);
                }
                Plane::Same(words) if slot & COMMON == 0 => {
                    wires.fill(*slot as usize, words.map(|word| *word));
                }
                Plane::Same(_) => {}
            }
        }
        if program.plain {
            wires.fill(ONE as usize, run.common[1])
        } else {
            wires.set_common(&run.common)
        }
    }

    /// Layouts of what is dealt and opened at a level.
    fn forms(&self, run: &MaskedTape<'_>, level: usize) -> [Form; 2] {
        run.layout.program.levels[level]
            .bits
            .map(|bits| Form::bits(bits, self.lanes))
    }

    /// The other party that opens.
    fn partner(&self, party: &Computing) -> PartyId {
        match self.duty {
            Duty::Before => party.role_index.previous,
            _ => party.role_index.next,
        }
    }

    /// Rows to write over, of as many words as a level needs at most.
    fn rows(&mut self, run: &MaskedTape<'_>) -> Rows {
        let most = run.layout.most * words_for(self.lanes) + MOST_PAST;
        let spare = self.spare.pop();
        spare.unwrap_or_else(|| AlignedBuffer::zeros(most))
    }

    /// Draws the masks of a level, in the order of all holders of a key.
    fn draw(&mut self, party: &mut Computing, run: &MaskedTape<'_>, level: usize) -> Masks<HELPER> {
        let [dealt, opened] = self.forms(run, level);
        let keys = &mut party.keys;
        let deal = |part: &mut Self, key: &mut Key| {
            let mut rows = part.rows(run);
            key.deal(dealt, &mut rows[..dealt.words()]);
            rows
        };
        let mut outputs = self.rows(run);
        let into = &mut outputs[..opened.words()];
        match self.duty {
            Duty::Helper => {
                let rows = deal(self, &mut keys.own);
                keys.own.first_mask(opened, into);
                let mut others = self.rows(run);
                keys.next.second_mask(opened, &mut others[..opened.words()]);
                Masks {
                    dealt: Some(rows),
                    outputs,
                    others: Some(others),
                }
            }
            Duty::Before => {
                let rows = deal(self, &mut keys.next);
                keys.next.first_mask(opened, into);
                Masks {
                    dealt: Some(rows),
                    outputs,
                    others: None,
                }
            }
            Duty::After => {
                keys.own.second_mask(opened, into);
                Masks {
                    dealt: None,
                    outputs,
                    others: None,
                }
            }
        }
    }

    /// Keeps the rows of masks that are not needed any more.
    fn reuse(&mut self, masks: Masks<HELPER>) {
        let rows = [Some(masks.outputs), masks.others, masks.dealt];
        self.spare.extend(rows.into_iter().flatten());
    }

    /// Deals for a level, at the helper; draws its masks, at all.
    fn deal(
        &mut self,
        party: &mut Computing,
        run: &MaskedTape<'_>,
        level: usize,
        mesh: &mut Mesh,
    ) -> Result<()> {
        if self.lanes == 0 {
            return Ok(());
        }
        let [dealt, _] = self.forms(run, level);
        let mut masks = self.draw(party, run, level);
        if let (Some(others), Some(rows)) = (&masks.others, &mut masks.dealt) {
            let given = Dealt {
                masks: [&masks.outputs, others],
                rows: &mut *rows,
            };
            self.wires.deal(party.cpu, run.level(level), given);
            let rows = &mut rows[..dealt.words()];
            dealt.trim(rows);
            send(Some(party.cpu), dealt, rows, party.role_index.next, mesh)?;
            self.reuse(masks);
            return Ok(());
        }
        self.take(masks);
        Ok(())
    }

    /// Receives what was dealt.
    fn dealt(
        &mut self,
        party: &Computing,
        run: &MaskedTape<'_>,
        level: usize,
        mesh: &mut Mesh,
    ) -> Result<()> {
        if self.duty == Duty::After && self.lanes > 0 {
            let [dealt, _] = self.forms(run, level);
            let mut rows = self.rows(run);
            let into = &mut rows[..dealt.words()];
            let from = party.role_index.previous;
            recv_to(Some(party.cpu), dealt, from, into, mesh)?;
            let masks = self.masks.front_mut().ok_or_else(no_masks)?;
            masks.dealt = Some(rows);
        }
        Ok(())
    }

    /// Sends this party's summand of the outputs of a level less their masks.
    fn open(
        &mut self,
        party: &Computing,
        run: &MaskedTape<'_>,
        level: usize,
        mesh: &mut Mesh,
    ) -> Result<()> {
        let Some(place) = self.place() else {
            return Ok(());
        };
        let partner = self.partner(party);
        let [_, opened] = self.forms(run, level);
        let masks = self.masks.pop_front().ok_or_else(no_masks)?;
        let sums = Sums {
            place,
            last: self.last.as_ref().map(|last| Opened {
                outs: &run.layout.program.levels[level - 1].outs,
                masks: &last.outputs,
                others: &self.others,
            }),
            dealt: masks.dealt.as_ref().ok_or_else(no_masks)?,
            masks: &masks.outputs,
            summands: &mut self.summands,
        };
        self.wires.open(party.cpu, run.level(level), sums);
        let summands = &mut self.summands[..opened.words()];
        opened.trim(summands);
        send(Some(party.cpu), opened, summands, partner, mesh)?;
        if let Some(last) = self.last.replace(masks) {
            self.reuse(last);
        }
        Ok(())
    }

    /// Receives the other summand: both together are the outputs of the level, masked.
    fn opened(
        &mut self,
        party: &Computing,
        run: &MaskedTape<'_>,
        level: usize,
        mesh: &mut Mesh,
    ) -> Result<()> {
        if self.place().is_some() {
            let [_, opened] = self.forms(run, level);
            let from = self.partner(party);
            let others = &mut self.others[..opened.words()];
            recv_to(Some(party.cpu), opened, from, others, mesh)?;
        }
        Ok(())
    }

    /// The place of a party that opens, if there is something to open.
    fn place(&self) -> Option<OpeningPlace> {
        match self.duty {
            _ if self.lanes == 0 => None,
            Duty::Helper => None,
            Duty::Before => Some(OpeningPlace::Before),
            Duty::After => Some(OpeningPlace::After),
        }
    }

    /// Runs what follows the last level, and hands the outputs over.
    fn finish(&mut self, cpu: Cpu, run: &MaskedTape<'_>, shares: &mut [Planes<u64>; 2]) {
        if self.lanes == 0 {
            return;
        }
        let rest = run.layout.program.levels.get(run.layout.program.opens);
        let rest = rest.map(|_| run.level(run.layout.program.opens));
        let last = self.place().zip(self.last.as_ref()).map(|(place, last)| {
            let last = Opened {
                outs: &run.layout.program.levels[run.layout.program.opens - 1].outs,
                masks: &last.outputs,
                others: &self.others,
            };
            (place, last, &self.summands[..])
        });
        self.wires.finish(cpu, rest, last);
        let [own, next] = shares;
        for (plane, slot) in run.layout.program.outputs.iter().enumerate() {
            let parts = [own.plane_mut(plane), next.plane_mut(plane)];
            let parts = parts.map(|part| &mut part[self.words.clone()]);
            match slot & COMMON {
                0 => self.wires.store(*slot as usize, parts),
                _ => {
                    let words = run.common[(slot ^ COMMON) as usize];
                    parts
                        .into_iter()
                        .zip(words)
                        .for_each(|(part, word)| part.fill(word));
                }
            }
        }
        if let Some(last) = self.last.take() {
            self.reuse(last);
        }
    }
}

impl MaskedTape<'_> {
    /// The gates of a level.
    fn level(&self, level: usize) -> Level<'_> {
        let (gates, functions) = (&self.layout.program.levels[level], &self.layout.functions);
        Level { gates, functions }
    }
}

fn no_masks() -> Fault {
    Fault::internal("a level is opened before its masks are there")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_circuit::tape::FIRST_INPUT;
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
            let near = most.is_none_or(|(most, least)| most - least <= 127);
            assert!(near, "{lanes}");
        }
    }

    #[test]
    fn a_layout_is_that_of_its_tape_and_inputs() {
        let mut layouts = Layouts::default();
        let tape = |inputs: u32| Tape {
            inputs,
            slots: FIRST_INPUT + inputs,
            xors: vec![],
            ands: vec![],
            known_to: vec![],
            lone: vec![],
            batches: vec![],
            outputs: (FIRST_INPUT..FIRST_INPUT + inputs).collect(),
            functions: vec![],
            applied: vec![],
            depth: 0,
        };
        let mut of = |inputs: u32, same: Option<Vec<bool>>| layouts.of(&tape(inputs), same);
        let first = of(2, Some(vec![false, true]));
        assert!(Arc::ptr_eq(&first, &of(2, Some(vec![false, true]))));
        for other in [of(2, Some(vec![true, false])), of(2, None), of(3, None)] {
            assert!(!Arc::ptr_eq(&first, &other));
        }
        assert_eq!(first.program.inputs.len(), 2);
        for inputs in 3..20 {
            of(inputs, None);
        }
        assert_eq!(layouts.0.len(), Layouts::MOST);
    }
}
