//! The garbler: zero labels in, tables out, zero labels on.

use sealane_block::{Block, Coins, Cpu, GROUP, Group, Kernel, Lanes, MiHash};
use sealane_circuit::tape::{Gate, Tape};
use zeroize::{Zeroize, Zeroizing};

use crate::decode;
use crate::half_gates::{GarbleLanes, Rows};
use crate::machine::{Ands, Machine, Pairs, Scratch};
use crate::{CHUNK_BYTES, Ports};

/// Half-gates garbler with the multi-instance hash (MI).
pub struct Garbler {
    cpu: Cpu,
    mi: MiHash,
    delta: Block,
    /// The tweak counter, over all calls; see the crate's page.
    next_group: u64,
    machine: Machine,
    tables: Vec<Group>,
}

impl Garbler {
    /// A fresh offset and a fresh public seed S.
    pub fn new(cpu: Cpu, coins: &mut Coins) -> Garbler {
        let delta = Block::new(coins.block().value() | 1);
        Garbler {
            cpu,
            mi: MiHash::new(coins.block()),
            delta,
            next_group: 0,
            machine: Machine::default(),
            tables: vec![Group::ZERO; CHUNK_BYTES / size_of::<Group>()],
        }
    }

    /// The public seed, which the evaluator needs.
    pub fn seed(&self) -> Block {
        self.mi.seed()
    }

    /// The free-XOR offset: secret, its bit 0 is 1.
    pub fn delta(&self) -> Block {
        self.delta
    }

    /// Garbles `tape` on `lanes` lanes; ports carry zero labels. Table bytes go to `sink` in
    /// chunks of at most 64 KiB, [`table_bytes`](crate::table_bytes) in all.
    ///
    /// # Errors
    /// What `sink` returns. The garbler and its evaluator are then out of step and of no more use.
    ///
    /// # Panics
    /// If the tape names slots or gates that it does not have.
    pub fn garble<E>(
        &mut self,
        tape: &Tape,
        lanes: usize,
        ports: &mut impl Ports,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut ands = GarbleAnds {
            cpu: self.cpu,
            mi: self.mi,
            delta: self.delta,
            next_group: &mut self.next_group,
            tables: Group::as_blocks_mut(&mut self.tables),
            filled: 0,
            sink,
        };
        self.machine.run(self.cpu, tape, lanes, ports, &mut ands)?;
        ands.flush()
    }

    /// The two hashes of each output label, zero first. Whoever holds them decodes: see
    /// [`decode`](crate::decode()). They consume tweaks of the same sequence as gates, so both
    /// sides hash the same outputs in the same order.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn decode_table(&mut self, zero_labels: &[Block], out: &mut [[Block; 2]]) {
        assert_eq!(
            zero_labels.len(),
            out.len(),
            "one pair of hashes for each label"
        );
        // Both labels of an output take the same tweak, as both labels of a gate's input do.
        let other = zero_labels.iter().map(|label| *label ^ self.delta);
        let mut one = Zeroizing::new(other.collect::<Vec<_>>());
        let mut zero = Zeroizing::new(zero_labels.to_vec());
        let mut group = self.next_group;
        decode::hash_outputs(self.cpu, self.mi, &mut group, &mut zero);
        decode::hash_outputs(self.cpu, self.mi, &mut self.next_group, &mut one);
        for (pair, (zero, one)) in out.iter_mut().zip(zero.iter().zip(one.iter())) {
            *pair = [*zero, *one];
        }
    }
}

impl Drop for Garbler {
    /// The seed and the tables are public. They go as well, so that nothing at all is left.
    fn drop(&mut self) {
        self.delta.zeroize();
        self.mi.zeroize();
        self.tables.zeroize();
    }
}

/// The ANDs of one call and the chunk of tables under way.
struct GarbleAnds<'a, F> {
    cpu: Cpu,
    mi: MiHash,
    delta: Block,
    next_group: &'a mut u64,
    tables: &'a mut [Block],
    /// Blocks of `tables` that wait for the sink.
    filled: usize,
    sink: &'a mut F,
}

impl<E, F: FnMut(&[u8]) -> Result<(), E>> Ands for GarbleAnds<'_, F> {
    type Error = E;

    fn one(&self) -> Block {
        self.delta
    }

    fn run(&mut self, gates: &[Gate], slots: &mut [Block], width: usize) -> Result<(), E> {
        if width.is_multiple_of(GROUP) {
            self.run_wide(gates, slots, width)
        } else {
            self.run_narrow(gates, slots, width)
        }
    }
}

impl<E, F: FnMut(&[u8]) -> Result<(), E>> GarbleAnds<'_, F> {
    fn run_wide(&mut self, mut gates: &[Gate], slots: &mut [Block], width: usize) -> Result<(), E> {
        while !gates.is_empty() {
            let room = self.room(2 * width)?;
            let (now, later) = gates.split_at(gates.len().min(room));
            let rows = now.len() * 2 * width;
            self.cpu.run(GarbleWide {
                mi: self.mi,
                delta: self.delta,
                first_group: *self.next_group,
                gates: now,
                slots: &mut *slots,
                width,
                tables: &mut self.tables[self.filled..][..rows],
            });
            self.filled += rows;
            *self.next_group += (now.len() * width / GROUP) as u64;
            gates = later;
        }
        Ok(())
    }

    fn run_narrow(&mut self, gates: &[Gate], slots: &mut [Block], width: usize) -> Result<(), E> {
        let mut pairs = Pairs::new(gates, width);
        while pairs.next_len() > 0 {
            self.room(2 * GROUP)?;
            let (groups, rows) = self.cpu.run(GarbleNarrow {
                mi: self.mi,
                delta: self.delta,
                first_group: *self.next_group,
                pairs: &mut pairs,
                slots: &mut *slots,
                tables: &mut self.tables[self.filled..],
            });
            self.filled += rows;
            *self.next_group += groups;
        }
        Ok(())
    }

    /// How many runs of `blocks` table blocks fit the chunk: at least one, after a flush if need
    /// be.
    fn room(&mut self, blocks: usize) -> Result<usize, E> {
        if self.tables.len() - self.filled < blocks {
            self.flush()?;
        }
        Ok((self.tables.len() - self.filled) / blocks)
    }

    fn flush(&mut self) -> Result<(), E> {
        let filled = std::mem::take(&mut self.filled);
        if filled == 0 {
            return Ok(());
        }
        (self.sink)(Block::as_bytes(&self.tables[..filled]))
    }
}

/// Gates whose lanes lie together, in whole groups.
struct GarbleWide<'a> {
    mi: MiHash,
    delta: Block,
    first_group: u64,
    gates: &'a [Gate],
    slots: &'a mut [Block],
    width: usize,
    tables: &'a mut [Block],
}

impl Kernel for GarbleWide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut lanes = GarbleLanes::new(l, self.mi, self.delta);
        let (mut tables, _) = self.tables.as_chunks_mut::<{ 2 * GROUP }>();
        let mut first = self.first_group * GROUP as u64;
        for gate in self.gates {
            let [a, b, out] = [gate.a, gate.b, gate.out].map(|slot| slot as usize * self.width);
            for at in (0..self.width).step_by(GROUP) {
                let Some((rows, later)) = tables.split_first_mut() else {
                    return;
                };
                for q in 0..L::QUADS {
                    let (at, first) = (at + q * L::QUAD, first + (q * L::QUAD) as u64);
                    let zero_a = l.load_quad(&self.slots[a + at..]);
                    let zero_b = l.load_quad(&self.slots[b + at..]);
                    let (c, Rows { garbler, evaluator }) = lanes.and(l, first, zero_a, zero_b);
                    l.store_quad(&mut self.slots[out + at..], c);
                    l.store_quad(&mut rows[q * L::QUAD..], garbler);
                    l.store_quad(&mut rows[GROUP + q * L::QUAD..], evaluator);
                }
                tables = later;
                first += GROUP as u64;
            }
        }
    }
}

/// Pairs that are gathered, as long as the chunk has room.
struct GarbleNarrow<'a, 'b> {
    mi: MiHash,
    delta: Block,
    first_group: u64,
    pairs: &'a mut Pairs<'b>,
    slots: &'a mut [Block],
    tables: &'a mut [Block],
}

impl Kernel for GarbleNarrow<'_, '_> {
    /// Groups that were garbled, and blocks of tables that they took.
    type Output = (u64, usize);

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> (u64, usize) {
        let mut lanes = GarbleLanes::new(l, self.mi, self.delta);
        let (mut scratch, mut rows) = (Scratch::default(), [Group::ZERO; 2]);
        let (mut groups, mut filled) = (0, 0);
        while self.pairs.next_len() > 0 && self.tables.len() - filled >= 2 * GROUP {
            let pairs = self.pairs.take();
            pairs.gather(self.slots, &mut scratch);
            for q in 0..L::QUADS {
                let at = q * L::QUAD;
                let first = (self.first_group + groups) * GROUP as u64 + at as u64;
                let (a, b) = (l.load_quad(&scratch.a[at..]), l.load_quad(&scratch.b[at..]));
                let (c, Rows { garbler, evaluator }) = lanes.and(l, first, a, b);
                l.store_quad(&mut scratch.c[at..], c);
                l.store_quad(&mut rows[0][at..], garbler);
                l.store_quad(&mut rows[1][at..], evaluator);
            }
            pairs.scatter(self.slots, &scratch);
            for row in &rows {
                self.tables[filled..][..pairs.len].copy_from_slice(&row[..pairs.len]);
                filled += pairs.len;
            }
            groups += 1;
        }
        (groups, filled)
    }
}
