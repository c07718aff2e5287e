//! The evaluator: active labels and tables in, active labels out.

use sealane_block::{Block, Cpu, GROUP, Group, Kernel, Lanes, MiHash};
use sealane_circuit::tape::{Gate, Tape};

use crate::decode;
use crate::half_gates::{EvaluateLanes, Rows};
use crate::machine::{Ands, Machine, Pairs, Scratch};
use crate::{CHUNK_BYTES, Ports};

/// Half-gates evaluator with the multi-instance hash (MI).
pub struct Evaluator {
    cpu: Cpu,
    mi: MiHash,
    /// The tweak counter, in step with the garbler's.
    next_group: u64,
    machine: Machine,
    tables: Vec<Group>,
}

impl Evaluator {
    /// An evaluator for the garbler's seed.
    pub fn new(cpu: Cpu, seed: Block) -> Evaluator {
        Evaluator {
            cpu,
            mi: MiHash::new(seed),
            next_group: 0,
            machine: Machine::default(),
            tables: vec![Group::ZERO; CHUNK_BYTES / size_of::<Group>()],
        }
    }

    /// Evaluates `tape` on `lanes` lanes; ports carry active labels; `source` fills chunks of
    /// table bytes, of at most 64 KiB and [`table_bytes`](crate::table_bytes) in all. The cuts
    /// need not be those of the garbler.
    ///
    /// # Errors
    /// What `source` returns. The evaluator and its garbler are then out of step and of no more
    /// use.
    ///
    /// # Panics
    /// If the tape names slots or gates that it does not have.
    pub fn evaluate<E>(
        &mut self,
        tape: &Tape,
        lanes: usize,
        ports: &mut impl Ports,
        source: &mut impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut ands = EvaluateAnds {
            cpu: self.cpu,
            mi: self.mi,
            next_group: &mut self.next_group,
            tables: Group::as_blocks_mut(&mut self.tables),
            unread: (0, 0),
            to_come: tape.ands.len() * lanes * 2,
            source,
        };
        self.machine.run(self.cpu, tape, lanes, ports, &mut ands)
    }

    /// Hashes of active labels, one of the two that [`Garbler::decode_table`](crate::Garbler::decode_table) has for each: see
    /// [`decode`](crate::decode()).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn output_hashes(&mut self, active: &[Block], out: &mut [Block]) {
        out.copy_from_slice(active);
        decode::hash_outputs(self.cpu, self.mi, &mut self.next_group, out);
    }
}

/// The ANDs of one call and the chunk of tables under way.
struct EvaluateAnds<'a, F> {
    cpu: Cpu,
    mi: MiHash,
    next_group: &'a mut u64,
    tables: &'a mut [Block],
    /// Where the blocks of `tables` that are not yet used begin and end.
    unread: (usize, usize),
    /// Blocks that the source still holds for this call.
    to_come: usize,
    source: &'a mut F,
}

impl<E, F: FnMut(&mut [u8]) -> Result<(), E>> Ands for EvaluateAnds<'_, F> {
    type Error = E;

    fn one(&self) -> Block {
        Block::ZERO
    }

    fn run(&mut self, gates: &[Gate], slots: &mut [Block], width: usize) -> Result<(), E> {
        if width.is_multiple_of(GROUP) {
            self.run_wide(gates, slots, width)
        } else {
            self.run_narrow(gates, slots, width)
        }
    }
}

impl<E, F: FnMut(&mut [u8]) -> Result<(), E>> EvaluateAnds<'_, F> {
    fn run_wide(&mut self, mut gates: &[Gate], slots: &mut [Block], width: usize) -> Result<(), E> {
        while !gates.is_empty() {
            let ready = self.ready(2 * width)?;
            let (now, later) = gates.split_at(gates.len().min(ready));
            let rows = now.len() * 2 * width;
            self.cpu.run(EvaluateWide {
                mi: self.mi,
                first_group: *self.next_group,
                gates: now,
                slots: &mut *slots,
                width,
                tables: &self.tables[self.unread.0..][..rows],
            });
            self.unread.0 += rows;
            *self.next_group += (now.len() * width / GROUP) as u64;
            gates = later;
        }
        Ok(())
    }

    fn run_narrow(&mut self, gates: &[Gate], slots: &mut [Block], width: usize) -> Result<(), E> {
        let mut pairs = Pairs::new(gates, width);
        while pairs.next_len() > 0 {
            self.ready(2 * pairs.next_len())?;
            let (groups, rows) = self.cpu.run(EvaluateNarrow {
                mi: self.mi,
                first_group: *self.next_group,
                pairs: &mut pairs,
                slots: &mut *slots,
                tables: &self.tables[self.unread.0..self.unread.1],
            });
            self.unread.0 += rows;
            *self.next_group += groups;
        }
        Ok(())
    }

    /// How many runs of `blocks` table blocks are at hand: at least one, after reading if need be.
    fn ready(&mut self, blocks: usize) -> Result<usize, E> {
        let (start, end) = self.unread;
        if end - start < blocks {
            self.tables.copy_within(start..end, 0);
            let kept = end - start;
            let wanted = self.to_come.min(self.tables.len() - kept);
            (self.source)(Block::as_bytes_mut(&mut self.tables[kept..][..wanted]))?;
            self.unread = (0, kept + wanted);
            self.to_come -= wanted;
        }
        Ok((self.unread.1 - self.unread.0) / blocks)
    }
}

/// Gates whose lanes lie together, in whole groups.
struct EvaluateWide<'a> {
    mi: MiHash,
    first_group: u64,
    gates: &'a [Gate],
    slots: &'a mut [Block],
    width: usize,
    tables: &'a [Block],
}

impl Kernel for EvaluateWide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut lanes = EvaluateLanes::new(l, self.mi);
        let (mut tables, _) = self.tables.as_chunks::<{ 2 * GROUP }>();
        let mut first = self.first_group * GROUP as u64;
        for gate in self.gates {
            let [a, b, out] = [gate.a, gate.b, gate.out].map(|slot| slot as usize * self.width);
            for at in (0..self.width).step_by(GROUP) {
                let Some((rows, later)) = tables.split_first() else {
                    return;
                };
                for q in 0..L::QUADS {
                    let (at, first) = (at + q * L::QUAD, first + (q * L::QUAD) as u64);
                    let active_a = l.load_quad(&self.slots[a + at..]);
                    let active_b = l.load_quad(&self.slots[b + at..]);
                    let rows = Rows {
                        garbler: l.load_quad(&rows[q * L::QUAD..]),
                        evaluator: l.load_quad(&rows[GROUP + q * L::QUAD..]),
                    };
                    let c = lanes.and(l, first, active_a, active_b, rows);
                    l.store_quad(&mut self.slots[out + at..], c);
                }
                tables = later;
                first += GROUP as u64;
            }
        }
    }
}

/// Pairs that are gathered, as long as there are tables.
struct EvaluateNarrow<'a, 'b> {
    mi: MiHash,
    first_group: u64,
    pairs: &'a mut Pairs<'b>,
    slots: &'a mut [Block],
    tables: &'a [Block],
}

impl Kernel for EvaluateNarrow<'_, '_> {
    /// Groups that were evaluated, and blocks of tables that they took.
    type Output = (u64, usize);

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> (u64, usize) {
        let mut lanes = EvaluateLanes::new(l, self.mi);
        let (mut scratch, mut rows) = (Scratch::default(), [Group::ZERO; 2]);
        let (mut groups, mut used) = (0, 0);
        while self.pairs.next_len() > 0 && self.tables.len() - used >= 2 * self.pairs.next_len() {
            let pairs = self.pairs.take();
            pairs.gather(self.slots, &mut scratch);
            for row in &mut rows {
                row[..pairs.len].copy_from_slice(&self.tables[used..][..pairs.len]);
                used += pairs.len;
            }
            for q in 0..L::QUADS {
                let at = q * L::QUAD;
                let first = (self.first_group + groups) * GROUP as u64 + at as u64;
                let (a, b) = (l.load_quad(&scratch.a[at..]), l.load_quad(&scratch.b[at..]));
                let rows = Rows {
                    garbler: l.load_quad(&rows[0][at..]),
                    evaluator: l.load_quad(&rows[1][at..]),
                };
                l.store_quad(&mut scratch.c[at..], lanes.and(l, first, a, b, rows));
            }
            pairs.scatter(self.slots, &scratch);
            groups += 1;
        }
        (groups, used)
    }
}
