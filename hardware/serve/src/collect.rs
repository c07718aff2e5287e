//! Records of a device put in order at the host: whole netlist cycles, one after the other.
//!
//! Hardware gives labels ahead, tables behind masks, and tables in the order of issue, each with
//! its number. The bytes that leave the host do not show that, so a client cannot tell devices
//! apart. Every record is checked before it is used: a device is trusted with secrets, and may be
//! broken all the same.

use crate::device::{Client, DeviceError, MASKS_A_RECORD, Record, RecordCounts, Tag};
use sealane_block::Block;
use std::collections::VecDeque;
use zeroize::Zeroizing;

/// Netlist cycles that may be under way at a device: hardware labels the inputs of the next one
/// while tables of this one come.
const MOST_OPEN: usize = 3;

/// A whole netlist cycle.
pub struct Cycle {
    /// Zero labels of the inputs that have labels in this cycle, in the order of wires.
    pub labels: Zeroizing<Vec<Block>>,
    /// The tables of all ANDs, in the order of the netlist.
    pub tables: Zeroizing<Vec<u8>>,
    /// Bit 0 of the zero label of each output, secret until it is opened.
    pub masks: Zeroizing<Vec<u8>>,
}

/// Collects the records of one session.
pub struct Collector {
    client: Client,
    shape: RecordCounts,
    cycles: u32,
    /// Cycles that have been taken.
    taken: u32,
    open: VecDeque<Open>,
}

struct Open {
    cycle: Cycle,
    /// For each AND, whether its table has come, and how many have.
    has_table: Vec<bool>,
    tables: u32,
    mask_records: u32,
}

impl Collector {
    /// Creates a collector of the records of a client, in a session of so many netlist cycles.
    pub fn new(client: Client, shape: RecordCounts, cycles: u32) -> Collector {
        Collector {
            client,
            shape,
            cycles,
            taken: 0,
            open: VecDeque::new(),
        }
    }

    /// Takes a record. A netlist cycle that is whole then has to be taken before the next record:
    /// only so many may be open.
    ///
    /// # Errors
    /// [`DeviceError::Foreign`] for a record of another client, [`DeviceError::Broken`] for one
    /// out of range or twice, and for labels and masks out of order.
    pub fn put(&mut self, record: &Record) -> Result<(), DeviceError> {
        let Collector { client, shape, .. } = *self;
        if record.client != client {
            return Err(DeviceError::Foreign {
                expected: client.0,
                found: record.client.0,
            });
        }
        let (cycle, index) = (record.cycle, record.index);
        let place = || format!("{:?} {index} of netlist cycle {cycle}", record.tag);
        let wrong = |why: &str| DeviceError::broken(format!("{}: {why}", place()));
        if cycle >= self.cycles {
            return Err(wrong("there is no such cycle"));
        }
        let at = cycle.checked_sub(self.taken);
        let at = at.ok_or_else(|| wrong("the cycle is over"))? as usize;
        if at >= MOST_OPEN {
            return Err(wrong("it is too far ahead"));
        }
        while self.open.len() <= at {
            self.open.push_back(Open::new(shape));
        }
        let Open {
            cycle: got,
            has_table,
            tables,
            mask_records,
        } = &mut self.open[at];
        let (next, end) = match record.tag {
            Tag::Label => (
                Some(shape.first_label(cycle) + got.labels.len() as u32),
                shape.inputs,
            ),
            Tag::Table => (None, shape.ands),
            Tag::Masks => (Some(*mask_records), shape.mask_records()),
        };
        if index >= end {
            return Err(wrong("there is no such number"));
        }
        if let Some(next) = next.filter(|next| *next != index) {
            return Err(wrong(&format!("{next} was due")));
        }
        match record.tag {
            Tag::Label => {
                if record.block(1).value() != 0 {
                    return Err(wrong("a label of 32 bytes"));
                }
                got.labels.push(record.block(0));
            }
            Tag::Table => {
                let index = index as usize;
                if std::mem::replace(&mut has_table[index], true) {
                    return Err(wrong("it has come before"));
                }
                *tables += 1;
                got.tables[32 * index..][..32].copy_from_slice(&record.data);
            }
            Tag::Masks => {
                let left = shape.outputs - index * MASKS_A_RECORD;
                let count = left.min(MASKS_A_RECORD) as usize;
                let bit = |output: usize| record.data[output / 8] >> (output % 8) & 1;
                if (count..MASKS_A_RECORD as usize).any(|output| bit(output) == 1) {
                    return Err(wrong("a mask of no output"));
                }
                got.masks.extend((0..count).map(bit));
                *mask_records += 1;
            }
        }
        Ok(())
    }

    /// Returns the next netlist cycle, once it is whole.
    pub fn take(&mut self) -> Option<Cycle> {
        let shape = self.shape;
        let labels = (shape.inputs - shape.first_label(self.taken)) as usize;
        let is_whole = |open: &Open| {
            open.cycle.labels.len() == labels
                && open.tables == shape.ands
                && open.mask_records == shape.mask_records()
        };
        if !self.open.front().is_some_and(is_whole) {
            return None;
        }
        self.taken += 1;
        self.open.pop_front().map(|open| open.cycle)
    }

    /// Returns true once all cycles have been taken.
    pub fn is_done(&self) -> bool {
        self.taken == self.cycles
    }
}

impl Open {
    fn new(shape: RecordCounts) -> Open {
        // Room for all, so that no copy of a label is left behind by a buffer that grows.
        Open {
            cycle: Cycle {
                labels: Zeroizing::new(Vec::with_capacity(shape.inputs as usize)),
                tables: Zeroizing::new(vec![0; 32 * shape.ands as usize]),
                masks: Zeroizing::new(Vec::with_capacity(shape.outputs as usize)),
            },
            has_table: vec![false; shape.ands as usize],
            tables: 0,
            mask_records: 0,
        }
    }
}
