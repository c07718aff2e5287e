//! The lanes of a tape whose masks one helper deals.

use super::kernel::{Dealt, Opened, OpeningPlace, Sums};
use super::program::COMMON;
use super::{Layout, MaskedTape, lanes_of, words_of};
use crate::arrive::{recv_to, send};
use crate::keys::Key;
use crate::record::{Piece, Rows as Recorded, Work};
use crate::roles::Computing;
use crate::tape::{Plane, Wires};
use sealane_block::Cpu;
use sealane_circuit::tape::ONE;
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::bits::words_for;
use sealane_party::wires::WIDE;
use sealane_party::{AlignedBuffer, Fault, Form, Planes, Result};
use std::collections::VecDeque;
use std::ops::Range;

/// Words behind the last row: kernels read whole chunks, also where a row ends within one.
const MOST_PAST: usize = WIDE - 1;

/// Rows of words, for the most bits of a level. Each level uses them again, and the next tile.
type Rows = AlignedBuffer;

/// Masks of one level of the part whose helper is a role.
pub(super) struct Masks<const HELPER: usize> {
    /// Of opened bits: the mask that this party knows, and the other one at the helper.
    outputs: Rows,
    others: Option<Rows>,
    /// Shares of what is dealt; none at the party after the helper until they have arrived.
    dealt: Option<Rows>,
}

/// A part that takes masks of a type: those of its own helper and no others.
pub(super) trait Takes<M> {
    fn take(&mut self, masks: M);
}

/// The lanes of one helper.
pub(super) struct Part<const HELPER: usize> {
    work: Work,
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

impl<const HELPER: usize> Takes<Masks<HELPER>> for Part<HELPER> {
    fn take(&mut self, masks: Masks<HELPER>) {
        self.masks.push_back(masks);
    }
}

impl<const HELPER: usize> Part<HELPER> {
    pub(super) fn of(party: &Computing, layout: &Layout, all: usize) -> Self {
        let lanes = lanes_of(HELPER, all);
        let words = words_of(HELPER, all);
        let work = Work::of(party.role_index.role, HELPER);
        let opens = match work {
            Work::Helper => 0,
            _ => layout.most * words.len() + MOST_PAST,
        };
        Part {
            work,
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
    pub(super) fn load(&mut self, run: &MaskedTape<'_>, inputs: &[Plane<'_>]) {
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
        match self.work {
            Work::Before => party.role_index.previous,
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
        let (dealt, others) = match self.work {
            Work::Helper => {
                let rows = deal(self, &mut keys.own);
                keys.own.first_mask(opened, into);
                let mut others = self.rows(run);
                keys.next.second_mask(opened, &mut others[..opened.words()]);
                (Some(rows), Some(others))
            }
            Work::Before => {
                let rows = deal(self, &mut keys.next);
                keys.next.first_mask(opened, into);
                (Some(rows), None)
            }
            Work::After => {
                keys.own.second_mask(opened, into);
                (None, None)
            }
        };
        Masks {
            outputs,
            others,
            dealt,
        }
    }

    /// Keeps the rows of masks that are not needed any more.
    fn reuse(&mut self, masks: Masks<HELPER>) {
        let rows = [Some(masks.outputs), masks.others, masks.dealt];
        self.spare.extend(rows.into_iter().flatten());
    }

    /// Deals for a level, at the helper; draws its masks, at all.
    pub(super) fn deal(
        &mut self,
        party: &mut Computing,
        run: &MaskedTape<'_>,
        level: usize,
        mut record: Option<&mut Recorded>,
        mesh: &mut Mesh,
    ) -> Result<()> {
        if self.lanes == 0 {
            return Ok(());
        }
        let [dealt, _] = self.forms(run, level);
        let mut masks = self.draw(party, run, level);
        if let (Some(others), Some(rows)) = (&masks.others, &mut masks.dealt) {
            let seen = record.as_mut().map(|record| record.operands(level, HELPER));
            let given = Dealt {
                masks: [&masks.outputs, others],
                rows: &mut *rows,
                seen,
            };
            super::kernel::deal(&mut self.wires, party.cpu, run.level(level), given);
            let rows = &mut rows[..dealt.words()];
            dealt.trim(rows);
            send(Some(party.cpu), dealt, rows, party.role_index.next, mesh)?;
            if let Some(record) = record {
                record.put(level, HELPER, Piece::Dealt, rows);
                record.put(level, HELPER, Piece::FirstMask, &masks.outputs);
                record.put(level, HELPER, Piece::SecondMask, others);
            }
            self.reuse(masks);
            return Ok(());
        }
        self.take(masks);
        Ok(())
    }

    /// Receives what was dealt.
    pub(super) fn dealt(
        &mut self,
        party: &Computing,
        run: &MaskedTape<'_>,
        level: usize,
        mesh: &mut Mesh,
    ) -> Result<()> {
        if self.work == Work::After && self.lanes > 0 {
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
    pub(super) fn open(
        &mut self,
        party: &Computing,
        run: &MaskedTape<'_>,
        level: usize,
        mut record: Option<&mut Recorded>,
        mesh: &mut Mesh,
    ) -> Result<()> {
        let Some(place) = self.place() else {
            return Ok(());
        };
        let partner = self.partner(party);
        let [_, opened] = self.forms(run, level);
        let masks = self.masks.pop_front().ok_or_else(no_masks)?;
        let seen = record.as_mut().map(|record| record.operands(level, HELPER));
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
            seen,
        };
        super::kernel::open(&mut self.wires, party.cpu, run.level(level), sums);
        let summands = &mut self.summands[..opened.words()];
        opened.trim(summands);
        send(Some(party.cpu), opened, summands, partner, mesh)?;
        if let (Some(record), Some(dealt)) = (record, &masks.dealt) {
            record.put(level, HELPER, Piece::Dealt, dealt);
        }
        if let Some(last) = self.last.replace(masks) {
            self.reuse(last);
        }
        Ok(())
    }

    /// Receives the other summand: both together are the outputs of the level, masked.
    pub(super) fn opened(
        &mut self,
        party: &Computing,
        run: &MaskedTape<'_>,
        level: usize,
        record: Option<&mut Recorded>,
        mesh: &mut Mesh,
    ) -> Result<()> {
        if self.place().is_some() {
            let [_, opened] = self.forms(run, level);
            let from = self.partner(party);
            let others = &mut self.others[..opened.words()];
            recv_to(Some(party.cpu), opened, from, others, mesh)?;
            if let Some(record) = record {
                record.put(level, HELPER, Piece::Received, others);
            }
        }
        Ok(())
    }

    /// The place of a party that opens, if there is something to open.
    fn place(&self) -> Option<OpeningPlace> {
        match self.work {
            _ if self.lanes == 0 => None,
            Work::Helper => None,
            Work::Before => Some(OpeningPlace::Before),
            Work::After => Some(OpeningPlace::After),
        }
    }

    /// Runs what follows the last level, and hands the outputs over.
    pub(super) fn finish(&mut self, cpu: Cpu, run: &MaskedTape<'_>, shares: &mut [Planes<u64>; 2]) {
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
        super::kernel::finish(&mut self.wires, cpu, rest, last);
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

fn no_masks() -> Fault {
    Fault::internal("a level is opened before its masks are there")
}
