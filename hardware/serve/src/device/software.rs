//! Devices that garble on this CPU: the engine of crate `garble` itself, and the cycle model, which
//! gives the records in the order of a machine of the hardware and counts its clock cycles.

use super::{
    Client, Device, DeviceError, DeviceNetlist, Ended, Extent, Keys, MASKS_A_RECORD, Record,
    RecordCounts, RtlMachine, Sessions, Tag,
};
use sealane_accel::Netlist;
use sealane_accel::bundle::{Bundles, and_numbers};
use sealane_accel::fase::{AND_WRITES, NetlistCycle, Variant};
use sealane_accel::timing::{MASKS, netlist_cycle, run};
use sealane_block::{Aes128, Block, Cpu};
use sealane_circuit::CycleTape;
use sealane_garble::{ChunkWriter, Cycles, Garbler, Scheme};
use std::convert::Infallible;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The CPU garbler as a device.
pub struct CpuDevice {
    cpu: Cpu,
    scheme: Scheme,
    loaded: Option<Loaded>,
    sessions: Sessions<Session>,
}

/// The cycle model of a machine as a device: values of the CPU garbler, in the order and with the
/// clock cycles of the hardware.
pub struct ModelDevice {
    cpu: CpuDevice,
    /// As [`RtlMachine::numbers`].
    machine: [u32; 2],
    timing: Option<Arc<Timing>>,
}

impl CpuDevice {
    /// Creates a device that garbles under `scheme`, one with free XOR and full tables: `prp` or
    /// `mi`.
    ///
    /// # Errors
    /// [`DeviceError::Broken`] for another scheme.
    pub fn new(cpu: Cpu, scheme: Scheme) -> Result<CpuDevice, DeviceError> {
        if !matches!(scheme, Scheme::Prp | Scheme::Mi) {
            let what = format!("no device garbles under {scheme}");
            return Err(DeviceError::broken(what));
        }
        Ok(CpuDevice {
            cpu,
            scheme,
            loaded: None,
            sessions: Sessions::default(),
        })
    }
}

impl ModelDevice {
    /// As [`CpuDevice::new`], with the clock cycles of this machine.
    ///
    /// # Errors
    /// As [`CpuDevice::new`].
    pub fn new(cpu: Cpu, scheme: Scheme, machine: RtlMachine) -> Result<ModelDevice, DeviceError> {
        Ok(ModelDevice {
            cpu: CpuDevice::new(cpu, scheme)?,
            machine: machine.numbers(),
            timing: None,
        })
    }
}

impl Device for CpuDevice {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn scheme(&self) -> Scheme {
        self.scheme
    }

    fn load(&mut self, netlist: &DeviceNetlist) -> Result<(), DeviceError> {
        if !self.sessions.is_empty() {
            return Err(DeviceError::NotNow);
        }
        let tape = netlist.netlist().cycle_tape();
        let tape = tape.map_err(|error| DeviceError::Netlist(error.to_string()))?;
        self.loaded = Some(Loaded {
            tape: Arc::new(tape),
            order: in_order(netlist.netlist()),
            shape: netlist.shape(),
        });
        Ok(())
    }

    fn start(&mut self, client: Client, keys: Keys, extent: Extent) -> Result<(), DeviceError> {
        let (cpu, scheme) = (self.cpu, self.scheme);
        let loaded = self.loaded.clone().ok_or(DeviceError::NotNow)?;
        self.sessions.start(client, keys, extent, |keys, extent| {
            Ok(Session {
                garbler: Garbler::with_offset(cpu, scheme, keys.hash, keys.offset),
                labels: Aes128::new(cpu, keys.label_key),
                keys,
                loaded,
                extent,
                cycles: None,
                next_label: 0,
                done: 0,
                ands: 0,
            })
        })
    }

    fn read(&mut self, client: Client, records: &mut Vec<Record>) -> Result<bool, DeviceError> {
        let session = self.sessions.get(client)?;
        if session.ands >= session.extent.most_ands && session.is_over_limit() {
            self.sessions.remove(client)?;
            return Err(DeviceError::Limit);
        }
        if session.done == session.extent.cycles {
            return Ok(false);
        }
        session.garble(client, records);
        Ok(true)
    }

    fn end(&mut self, client: Client) -> Result<Ended, DeviceError> {
        self.sessions.remove(client)?;
        Ok(Ended::default())
    }
}

impl Device for ModelDevice {
    fn name(&self) -> &'static str {
        "model"
    }

    fn machine(&self) -> Option<RtlMachine> {
        Some(RtlMachine::of_numbers(self.machine))
    }

    fn scheme(&self) -> Scheme {
        self.cpu.scheme
    }

    fn load(&mut self, netlist: &DeviceNetlist) -> Result<(), DeviceError> {
        if !self.cpu.sessions.is_empty() {
            return Err(DeviceError::NotNow);
        }
        let timing = match RtlMachine::of_numbers(self.machine) {
            RtlMachine::Fase => Timing::of_fase(netlist.netlist()),
            RtlMachine::Better(better) => Timing::of_better(netlist, better.bundles(netlist)?),
        };
        self.cpu.load(netlist)?;
        if let Some(loaded) = &mut self.cpu.loaded {
            loaded.order = timing.order.clone();
        }
        self.timing = Some(Arc::new(timing));
        Ok(())
    }

    fn start(&mut self, client: Client, keys: Keys, extent: Extent) -> Result<(), DeviceError> {
        self.cpu.start(client, keys, extent)
    }

    fn read(&mut self, client: Client, records: &mut Vec<Record>) -> Result<bool, DeviceError> {
        let first = records.len();
        let more = self.cpu.read(client, records)?;
        if let (Some(timing), Some(record)) = (&self.timing, records.get(first)) {
            let times = &timing.times[usize::from(record.cycle > 0)];
            // In place: a sort with a buffer would leave labels there. Records of one kind stay in
            // order.
            records[first..].sort_unstable_by_key(|record| times.place(record));
        }
        Ok(more)
    }

    fn end(&mut self, client: Client) -> Result<Ended, DeviceError> {
        let session = self.cpu.sessions.remove(client)?;
        let timing = self.timing.as_ref().ok_or(DeviceError::NotNow)?;
        Ok(Ended {
            clock_cycles: Some(timing.clock_cycles(session.done)),
        })
    }
}

/// Clock cycles of the hardware, for the netlist that is loaded.
struct Timing {
    run: CycleSource,
    /// The numbers of ANDs in the order of issue.
    order: Arc<[u32]>,
    /// Of the first netlist cycle and of each later one.
    times: [Times; 2],
}

/// From which the cycles of a session are counted.
enum CycleSource {
    Fase(Netlist),
    Better(Box<Bundles>),
}

/// The numbers of all ANDs in the order of the netlist.
fn in_order(netlist: &Netlist) -> Arc<[u32]> {
    (0..netlist.ands() as u32).collect()
}

/// Clock cycles of one netlist cycle in which records are complete.
#[derive(Clone)]
struct Times {
    /// By number of the AND.
    tables: Vec<u32>,
    /// By number of the AND, its place in the order of issue.
    places: Vec<u32>,
    masks: u32,
}

impl Times {
    /// Where a record comes among those of its netlist cycle.
    fn place(&self, record: &Record) -> (u32, u8, u32) {
        let index = record.index as usize;
        let (time, place) = match record.tag {
            Tag::Label => (0, record.index),
            Tag::Table => (1 + self.tables[index], self.places[index]),
            Tag::Masks => (1 + self.masks, record.index),
        };
        (time, record.tag as u8, place)
    }
}

impl Timing {
    /// All clock cycles of a session of so many netlist cycles.
    fn clock_cycles(&self, netlist_cycles: u32) -> u64 {
        match &self.run {
            CycleSource::Fase(netlist) => {
                let cycles = run(netlist, Variant::Queued, netlist_cycles.into());
                cycles.total + cycles.held
            }
            CycleSource::Better(bundles) => {
                let cycles = bundles.run(netlist_cycles.into());
                cycles.total + cycles.held
            }
        }
    }

    fn of_better(netlist: &DeviceNetlist, bundles: Bundles) -> Timing {
        let numbers = and_numbers(netlist.netlist());
        let gates = bundles.netlist.gates().iter().zip(&bundles.gates);
        let ands = gates.zip(&bundles.issues);
        let ands = ands.filter(|((gate, _), _)| !gate.kind.is_xor());
        let mut tables = vec![0; netlist.shape().ands as usize];
        let mut places = tables.clone();
        let mut order = Vec::with_capacity(tables.len());
        for ((_, gate), cycle) in ands {
            let number = numbers[*gate as usize];
            tables[number as usize] = cycle + AND_WRITES;
            places[number as usize] = order.len() as u32;
            order.push(number);
        }
        let masks = u32::try_from(bundles.netlist_cycle()).unwrap_or(u32::MAX - 1);
        let times = Times {
            tables,
            places,
            masks,
        };
        Timing {
            run: CycleSource::Better(Box::new(bundles)),
            order: order.into(),
            times: [times.clone(), times],
        }
    }

    fn of_fase(netlist: &Netlist) -> Timing {
        let times = [NetlistCycle::First, NetlistCycle::Later].map(|which| {
            let issues = netlist_cycle(netlist, Variant::Queued, which).issues;
            let gates = netlist.gates().iter().zip(&issues);
            let ands = gates.filter(|(gate, _)| !gate.kind.is_xor());
            let first = netlist.first_gate();
            let outputs = netlist.parts().outputs.iter();
            let outputs = outputs.filter_map(|output| output.wire()?.checked_sub(first));
            let last = outputs.map(|gate| issues[gate as usize].cycle).max();
            Times {
                tables: ands.map(|(_, issue)| issue.cycle + AND_WRITES).collect(),
                places: in_order(netlist).to_vec(),
                masks: last.map_or(0, |cycle| cycle + MASKS),
            }
        });
        Timing {
            run: CycleSource::Fase(netlist.clone()),
            order: in_order(netlist),
            times,
        }
    }
}

#[derive(Clone)]
struct Loaded {
    tape: Arc<CycleTape>,
    /// As [`Timing::order`].
    order: Arc<[u32]>,
    shape: RecordCounts,
}

/// The session of one client.
struct Session {
    keys: Keys,
    garbler: Garbler,
    labels: Aes128,
    loaded: Loaded,
    extent: Extent,
    cycles: Option<Cycles<Arc<CycleTape>>>,
    /// Number of the next label of an input.
    next_label: u128,
    /// Netlist cycles that have been garbled.
    done: u32,
    /// ANDs under the key.
    ands: u64,
}

impl Session {
    /// Returns true if the cycles that are garbled have more ANDs than the key may serve.
    fn is_over_limit(&self) -> bool {
        u64::from(self.done) * u64::from(self.loaded.shape.ands) > self.extent.most_ands
    }

    /// Garbles the next netlist cycle, and adds its records.
    fn garble(&mut self, client: Client, records: &mut Vec<Record>) {
        let Loaded { tape, order, shape } = self.loaded.clone();
        let cycle = self.done;
        let first = shape.first_label(cycle);
        // At once, so that no copy of a label is left behind by a vector that grows.
        records.reserve((shape.inputs - first + shape.ands + shape.mask_records()) as usize);
        let record = |tag, index: u32, data| Record {
            client,
            tag,
            cycle,
            index,
            data,
        };
        let counters = (first..shape.inputs).zip(self.next_label..);
        let start = self.keys.label_start.value();
        let counters = counters.map(|(_, number)| Block::new(start.wrapping_add(number)));
        let mut labels = Zeroizing::new(counters.collect::<Vec<_>>());
        self.labels.encrypt_blocks(&mut labels);
        self.next_label += labels.len() as u128;
        for (label, index) in labels.iter().zip(first..) {
            let mut data = [0; 32];
            data[..16].copy_from_slice(&label.to_bytes());
            records.push(record(Tag::Label, index, data));
        }
        let (held, fresh) = labels.split_at((shape.held - first) as usize);
        let offset = self.keys.offset;
        let cycles = self.cycles.get_or_insert_with(|| {
            let bits = || tape.constants();
            // At once, here as well: these labels are the offset itself.
            let mut constants = Zeroizing::new(Vec::with_capacity(bits().count()));
            constants.extend(bits().map(|bit| if bit { offset } else { Block::ZERO }));
            Cycles::new(tape.clone(), 1, 1, &constants, held)
        });
        let mut tables = Zeroizing::new(Vec::with_capacity(32 * shape.ands as usize));
        let mut sink = ChunkWriter::new(|bytes: &[u8]| {
            tables.extend_from_slice(bytes);
            Ok::<(), Infallible>(())
        });
        let Ok(()) = cycles.garble(&mut self.garbler, fresh, &mut sink);
        let Ok(()) = sink.flush();
        drop(sink);
        self.done += 1;
        let room = self.extent.most_ands - self.ands;
        let whole = u64::from(shape.ands) <= room;
        let most = usize::try_from(room).unwrap_or(usize::MAX);
        for place in (0..shape.ands).take(most) {
            let index = order[place as usize];
            let mut data = [0; 32];
            data.copy_from_slice(&tables[32 * index as usize..][..32]);
            records.push(record(Tag::Table, index, data));
            self.ands += 1;
        }
        if !whole {
            return;
        }
        let outputs = cycles.outputs(0);
        for (outputs, index) in outputs.chunks(MASKS_A_RECORD as usize).zip(0..) {
            let mut data = [0; 32];
            for (output, label) in outputs.iter().enumerate() {
                data[output / 8] |= label.lsb() << (output % 8);
            }
            records.push(record(Tag::Masks, index, data));
        }
    }
}
