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
mod part;
mod program;

use crate::Share;
use crate::record::{Levels, Proved, Record, Rows};
use crate::roles::Computing;
use crate::tape::{Plane, ands, under_masks};
pub(crate) use kernel::Words;
use kernel::{Level, Prepared};
use part::Part;
use program::{Gates, Program};
use sealane_circuit::Tape;
use sealane_circuit::function::Function;
use sealane_net::Mesh;
use sealane_party::bits::words_for;
use sealane_party::{Fault, Form, Result};
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
    /// Record of its gates, under the profile against a malicious party.
    record: Option<Rows>,
    /// The level whose deals are in transit; the number of levels after the last.
    level: usize,
}

/// Progress of such a tape.
pub(crate) enum MaskedProgress<'a> {
    More(Box<RunningMasked<'a>>),
    Done(Share, Option<Box<Record>>),
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
    /// The gates as they are recorded; none if one of the functions has no proof.
    recorded: Option<Arc<Levels>>,
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
        let most = levels.clone().flat_map(|gates| gates.bits).max();
        let proved = tape.functions.iter().map(Proved::of);
        let recorded = proved.collect::<Option<Vec<_>>>().map(|proved| {
            let functions = |gates: &Gates| {
                let applied = gates.applied.iter();
                applied.map(|(function, _)| proved[*function]).collect()
            };
            Levels::new(levels.map(|gates| (gates.ands.len(), functions(gates))))
        });
        let layout = Arc::new(Layout {
            functions: tape.functions.iter().map(Prepared::of).collect(),
            recorded: recorded.map(Arc::new),
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

    /// Begins a tape with these inputs, and records each gate if it is asked to.
    pub(crate) fn begin_masked<'a>(
        &mut self,
        tape: &'a Tape,
        lanes: usize,
        inputs: &[Plane<'_>],
        recorded: bool,
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
        let mut record = if recorded {
            let levels = layout.recorded.clone();
            let levels =
                levels.ok_or_else(|| Fault::internal("a function of a tape is not proved"))?;
            let parts = [0, 1, 2].map(|helper| lanes_of(helper, lanes));
            Some(Rows::new(
                levels,
                self.role_index.role,
                parts,
                &mut self.spare,
            ))
        } else {
            None
        };
        let run = MaskedTape {
            tape,
            lanes,
            layout,
            common,
        };
        let spare = self.recycled.take(&run.layout, lanes);
        let mut parts = spare.unwrap_or_else(|| self.parts(&run.layout, lanes));
        each!(parts, part => part.load(&run, inputs));
        each!(parts, part => part.deal(self, &run, 0, record.as_mut(), mesh)?);
        Ok(MaskedProgress::More(Box::new(RunningMasked {
            run,
            parts,
            record,
            level: 0,
        })))
    }

    /// Reads what has crossed and runs up to the next flight.
    pub(crate) fn advance_masked<'a>(
        &mut self,
        mut running: Box<RunningMasked<'a>>,
        mesh: &mut Mesh,
    ) -> Result<MaskedProgress<'a>> {
        let RunningMasked {
            run,
            parts,
            record,
            level,
        } = &mut *running;
        if *level > 0 {
            each!(parts, part => part.opened(self, run, *level - 1, record.as_mut(), mesh)?);
        }
        if *level == run.layout.program.opens {
            let record = running.record.take();
            let record = record.map(|rows| Box::new(Record::of_rows(rows, &mut self.spare)));
            return Ok(MaskedProgress::Done(running.finish(self), record));
        }
        each!(parts, part => part.dealt(self, run, *level, mesh)?);
        each!(parts, part => part.open(self, run, *level, record.as_mut(), mesh)?);
        *level += 1;
        if *level < run.layout.program.opens {
            each!(parts, part => part.deal(self, run, *level, record.as_mut(), mesh)?);
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
        let both = shares.iter_mut();
        both.for_each(|share| form.trim(share.data_mut()));
        form.share(shares)
    }
}

/// Words of a lane from which on slots are counted anew: a tape runs long enough then.
const MANY: usize = 4;

impl MaskedTape<'_> {
    /// The gates of a level.
    fn level(&self, level: usize) -> Level<'_> {
        let (gates, functions) = (&self.layout.program.levels[level], &self.layout.functions);
        Level { gates, functions }
    }
}

#[cfg(test)]
mod tests {
    use super::part::{Masks, Takes};
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
            counted: Default::default(),
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
