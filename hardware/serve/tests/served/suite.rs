//! The suite that each device runs.

use crate::attack::found;
use crate::support::{MACHINES, Which, extent, keys, ours, records, rtl_of};
use sealane_accel::{Netlist, Operand};
use sealane_block::{Block, Cpu};
use sealane_circuit::CycleTape;
use sealane_garble::{Cycles, Evaluator, Scheme, TablesInMemory};
use sealane_hw_testkit::slow::Slow;
use sealane_hw_testkit::{ands, for_devices as random};
use sealane_serve::collect::{Collector, Cycle};
use sealane_serve::device::{
    Client, Device, DeviceError, DeviceNetlist, Extent, Keys, MOST_CLIENTS, Record, RtlMachine, Tag,
};
use std::collections::HashSet;

fn loaded(which: Which, netlist: &Netlist) -> (Box<dyn Device>, DeviceNetlist) {
    let netlist = DeviceNetlist::new(netlist).expect("a netlist for devices");
    let mut device = which.device();
    device.load(&netlist).expect("room for it");
    (device, netlist)
}

/// All cycles of a session that has begun.
fn cycles(device: &mut dyn Device, netlist: &DeviceNetlist, client: u32, count: u32) -> Vec<Cycle> {
    let mut collector = Collector::new(Client(client), netlist.shape(), count);
    let (mut records, mut all) = (Vec::new(), Vec::new());
    while device.read(Client(client), &mut records).expect("records") {
        for record in records.drain(..) {
            collector.put(&record).expect("a record in order");
            all.extend(collector.take());
        }
    }
    assert!(collector.is_done(), "{} of {count} cycles", all.len());
    all
}

fn assert_same(cycle: &Cycle, slow: &mut Slow, place: &str) {
    let netlist_cycle = slow.netlist_cycle();
    let values = |blocks: &[Block]| blocks.iter().map(|label| label.value()).collect::<Vec<_>>();
    let labels = values(&cycle.labels) == values(&netlist_cycle.labels);
    let tables = *cycle.tables == netlist_cycle.tables.concat();
    let masks = *cycle.masks == netlist_cycle.masks;
    assert_eq!(
        [labels, tables, masks],
        [true; 3],
        "labels, tables and masks {place}"
    );
}

/// Labels, tables and masks are those of the equations of half gates.
pub fn agrees(which: Which) {
    let random = (0..12).map(|seed| (random(seed), 1 + seed as u32 % 5));
    let names = ["Mill_8_8", "Add_8_8", "Hamm_32_1", "MAC_8_1", "AES_128_11"];
    let named = names.map(ours).into_iter().zip([8, 8, 1, 3, 3]);
    for (number, (netlist, count)) in random.chain(named).enumerate() {
        let (mut device, netlist) = loaded(which, &netlist);
        let keys = keys(number as u64);
        let mut slow = which.slow(&netlist, &keys);
        device.start(Client(0), keys, extent(count)).unwrap();
        for cycle in cycles(&mut *device, &netlist, 0, count) {
            assert_same(&cycle, &mut slow, &format!("of netlist {number}"));
        }
        device.end(Client(0)).unwrap();
    }
}

/// Clients take turns, each with keys and an offset of its own; one that ends disturbs no other.
pub fn interleaves(which: Which) {
    let (mut device, netlist) = loaded(which, &random(5));
    let count = 6;
    let clients = [0, 7, MOST_CLIENTS - 1];
    let mut slow = Vec::new();
    let mut collectors = Vec::new();
    for client in clients {
        let keys = keys(100 + u64::from(client));
        slow.push(which.slow(&netlist, &keys));
        collectors.push(Collector::new(Client(client), netlist.shape(), count));
        let started = device.start(Client(client), keys, extent(count));
        started.unwrap();
    }
    device.start(Client(1), keys(1), extent(count)).unwrap();
    let mut got = [0; 3];
    for netlist_cycle in 0.. {
        let mut more = false;
        for (place, client) in clients.into_iter().enumerate() {
            let mut records = Vec::new();
            more |= device.read(Client(client), &mut records).unwrap();
            for record in &records {
                collectors[place].put(record).unwrap();
                if let Some(cycle) = collectors[place].take() {
                    assert_same(&cycle, &mut slow[place], &format!("of client {client}"));
                    got[place] += 1;
                }
            }
        }
        if netlist_cycle == 1 {
            device.end(Client(1)).unwrap();
        }
        if !more {
            break;
        }
    }
    assert_eq!(got, [count; 3]);
}

/// After its end nothing of a session is left at the device; its key is refused for the next one.
pub fn erases(which: Which) {
    let (mut device, netlist) = loaded(which, &random(4));
    let gone = |device: &mut dyn Device| {
        let read = device.read(Client(3), &mut Vec::new());
        assert_eq!(read, Err(DeviceError::NoSession(3)));
        assert_eq!(device.end(Client(3)), Err(DeviceError::NoSession(3)));
    };
    gone(&mut *device);
    device.start(Client(3), keys(1), extent(2)).unwrap();
    let twice = device.start(Client(3), keys(2), extent(2));
    assert_eq!(twice, Err(DeviceError::InUse(3)));
    let same = device.start(Client(2), keys(1), extent(2));
    assert_eq!(same, Err(DeviceError::OldKey));
    assert_eq!(device.load(&netlist), Err(DeviceError::NotNow));
    cycles(&mut *device, &netlist, 3, 2);
    let ended = device.end(Client(3)).unwrap();
    assert_eq!(ended.clock_cycles.is_some(), device.name() != "cpu");
    gone(&mut *device);
    let again = device.start(Client(3), keys(1), extent(2));
    assert_eq!(again, Err(DeviceError::OldKey));
    // A session that is cut off.
    device.start(Client(3), keys(2), extent(2)).unwrap();
    device.read(Client(3), &mut Vec::new()).unwrap();
    device.end(Client(3)).unwrap();
    gone(&mut *device);
    device.load(&netlist).unwrap();
}

/// A key serves as many ANDs as its limit and no more, and its session is gone then.
pub fn keeps_the_limit(which: Which) {
    let (mut device, netlist) = loaded(which, &ours("Hamm_32_1"));
    let ands = u64::from(netlist.shape().ands);
    let netlist_cycles = 3;
    let limited = |most_ands| Extent {
        cycles: netlist_cycles,
        most_ands,
    };
    for (number, most) in [1, ands, 3 * ands - 1].into_iter().enumerate() {
        let keys = keys(number as u64);
        device.start(Client(0), keys, limited(most)).unwrap();
        let mut records = Vec::new();
        let end = loop {
            match device.read(Client(0), &mut records) {
                Ok(true) => {}
                Ok(false) => panic!("a limit of {most} ANDs is kept"),
                Err(error) => break error,
            }
        };
        assert_eq!(end, DeviceError::Limit);
        let tables = records.iter().filter(|record| record.tag == Tag::Table);
        assert_eq!(tables.count() as u64, most);
        let gone = device.end(Client(0));
        assert_eq!(gone, Err(DeviceError::NoSession(0)));
    }
    let most = limited(3 * ands);
    device.start(Client(0), keys(9), most).unwrap();
    cycles(&mut *device, &netlist, 0, netlist_cycles);
}

/// No label of an input occurs twice in a session, nor in two of them.
pub fn repeats_no_label(which: Which) {
    let (mut device, netlist) = loaded(which, &random(7));
    let (mut seen, mut count) = (HashSet::new(), 0);
    let numbers = [(0, 20), (1, 21)];
    for (client, number) in numbers {
        let session = extent(64);
        device.start(Client(client), keys(number), session).unwrap();
    }
    for (client, number) in numbers {
        let offset = keys(number).offset.value();
        for cycle in cycles(&mut *device, &netlist, client, 64) {
            count += 2 * cycle.labels.len();
            for label in cycle.labels.iter() {
                // The labels of both values.
                seen.extend([label.value(), label.value() ^ offset]);
            }
        }
    }
    assert_eq!(seen.len(), count);
    assert!(count > 128, "{count}");
    assert_ne!(keys(20).offset.value(), keys(21).offset.value());
}

/// The recovery of the offset finds nothing.
pub fn hides_the_offset(which: Which) {
    assert_eq!(found(&mut *which.device()), 0);
}

/// Clients, keys and netlists that do not fit are refused.
pub fn refuses(which: Which) {
    let mut device = which.device();
    let early = device.start(Client(0), keys(0), extent(1));
    assert_eq!(early, Err(DeviceError::NotNow));
    let (mut device, _) = loaded(which, &random(1));
    let mut start = |client, keys, cycles| device.start(Client(client), keys, extent(cycles));
    let beyond = start(MOST_CLIENTS, keys(0), 1);
    assert_eq!(beyond, Err(DeviceError::ClientRange(MOST_CLIENTS)));
    assert_eq!(start(0, keys(0), 0), Err(DeviceError::NoCycles));
    let mut even = keys(0);
    even.offset = Block::new(even.offset.value() & !1);
    assert_eq!(start(0, even, 1), Err(DeviceError::Offset));
    start(0, keys(0), 1).unwrap();
    // Public inputs have no labels at a device, and outputs are wires.
    let parts = random(1).parts().clone();
    let [mut public, mut constant] = [parts.clone(), parts];
    public.inputs.public = 1;
    public.inputs.garbler -= 1;
    constant.outputs = vec![Operand::One];
    for parts in [public, constant] {
        let refused = DeviceNetlist::new(&Netlist::new(parts).unwrap());
        assert!(matches!(refused, Err(DeviceError::Netlist(_))));
    }
}

/// A client that gets the records of another one: the host refuses them by their tag, and where
/// somebody has changed the tags as well, the client comes to no label of an output.
pub fn swapped_tags_fail(which: Which) {
    let source = ours("MAC_8_1");
    let (mut device, netlist) = loaded(which, &source);
    let shape = netlist.shape();
    let mut all = Vec::new();
    let mut slow = Vec::new();
    for client in [0, 1] {
        let keys = keys(50 + u64::from(client));
        slow.push(which.slow(&netlist, &keys).netlist_cycle());
        all.push(records(&mut *device, client, keys, 1));
    }
    let mut collector = Collector::new(Client(0), shape, 1);
    let (expected, found) = (0, 1);
    let foreign = DeviceError::Foreign { expected, found };
    assert_eq!(collector.put(&all[1][0]), Err(foreign));
    let tape = netlist.netlist().cycle_tape().unwrap();
    for (owner, tables_of) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let mut collector = Collector::new(Client(0), shape, 1);
        for record in all[tables_of].iter() {
            let mut record = record.clone();
            record.client = Client(0);
            collector.put(&record).unwrap();
        }
        let cycle = collector.take().expect("a cycle");
        // The labels of zeros of the owner, and the tables of whoever.
        let (keys, netlist_cycle) = (keys(50 + owner as u64), &slow[owner]);
        let active = &netlist_cycle.labels;
        let got = evaluated(which.scheme(), &keys, &tape, active, &cycle.tables);
        let differences = netlist_cycle.outputs.iter().zip(&got);
        let differences = differences.map(|(zero, got)| (*zero ^ *got).value());
        let labels = differences.filter(|it| [0, keys.offset.value()].contains(it));
        let (count, place) = (
            labels.count(),
            format!("{owner} with tables of {tables_of}"),
        );
        let expected = if owner == tables_of { got.len() } else { 0 };
        assert_eq!(count, expected, "{place}");
    }
}

/// The active labels of all outputs of a netlist cycle.
fn evaluated(
    scheme: Scheme,
    keys: &Keys,
    tape: &CycleTape,
    active: &[Block],
    tables: &[u8],
) -> Vec<Block> {
    let mut evaluator = Evaluator::new(Cpu::detect().unwrap(), scheme, keys.hash);
    let (held, fresh) = active.split_at(tape.held.len());
    let constants = vec![Block::ZERO; tape.constants().count()];
    let mut cycles = Cycles::new(tape, 1, 1, &constants, held);
    let mut tables = TablesInMemory::from(tables.to_vec());
    let Ok(()) = cycles.evaluate(&mut evaluator, fresh, &mut tables);
    cycles.outputs(0).to_vec()
}

/// A module with the tests of the suite, each with this attribute, for devices.
macro_rules! suite {
    (@ [$($attribute:tt)*] $devices:expr, $test:ident) => {
        #[test]
        $($attribute)*
        fn $test() {
            $devices.into_iter().for_each(super::$test);
        }
    };
    ($name:ident, $attribute:tt, $devices:expr) => {
        mod $name {
            use super::*;
            suite! {
                $attribute $devices,
                agrees interleaves erases keeps_the_limit repeats_no_label hides_the_offset
                refuses swapped_tags_fail
            }
        }
    };
    ($attribute:tt $devices:expr, $($test:ident)*) => {
        $(suite! { @ $attribute $devices, $test })*
    };
}

const SCHEMES: [Scheme; 2] = [Scheme::Prp, Scheme::Mi];

fn models(machines: &[RtlMachine]) -> impl Iterator<Item = Which> {
    let pairs = SCHEMES.map(|scheme| machines.iter().map(move |it| Which::Model(scheme, *it)));
    pairs.into_iter().flatten()
}

fn rtl(scheme: Scheme, machines: &[RtlMachine]) -> impl Iterator<Item = Which> {
    machines.iter().map(move |it| Which::Rtl(scheme, *it))
}

suite!(cpu, [], SCHEMES.map(Which::Cpu));
suite!(model, [], models(&MACHINES[..1]));
suite!(better_models, [], models(&MACHINES[1..]));
// Those of `rtl_small` are quick, and run by CI.
suite!(
    rtl_small,
    [#[ignore = "needs the bench of rtl/: make test-rtl"]],
    rtl(Scheme::Prp, &MACHINES[..1])
);
suite!(
    rtl_small_better,
    [#[ignore = "needs benches of rtl/: make test-rtl"]],
    rtl(Scheme::Prp, &MACHINES[1..])
);
suite!(
    rtl_mi,
    [#[ignore = "needs benches of rtl/: make test-rtl"]],
    rtl(Scheme::Mi, &MACHINES)
);

/// The host takes records each once, and none out of range; all but tables in order alone.
#[test]
fn a_device_that_is_broken_is_found_out() {
    let (mut device, netlist) = loaded(Which::Cpu(Scheme::Prp), &random(8));
    let shape = netlist.shape();
    assert!(shape.ands > 2 && shape.inputs > 2 && shape.outputs > 0);
    let records = records(&mut *device, 0, keys(1), 2);
    let put = |change: &dyn Fn(&mut Vec<Record>)| {
        let mut records = records.clone();
        change(&mut records);
        let mut collector = Collector::new(Client(0), shape, 2);
        let mut taken = 0;
        for record in &records {
            collector.put(record)?;
            taken += collector.take().iter().len();
        }
        Ok(taken)
    };
    assert_eq!(put(&|_| {}), Ok(2));
    let refused = |change: &dyn Fn(&mut Vec<Record>)| {
        assert!(matches!(put(change), Err(DeviceError::Broken(_))));
    };
    let first = |tag| records.iter().position(|record| record.tag == tag);
    let [table, masks] = [Tag::Table, Tag::Masks].map(|tag| first(tag).expect("one"));
    refused(&|records| records.swap(0, 1));
    // Tables have numbers, and come in any order.
    let cycle = |change: &dyn Fn(&mut Vec<Record>)| {
        let mut records = records.clone();
        change(&mut records);
        let mut collector = Collector::new(Client(0), shape, 2);
        let mut cycles = records.iter().filter_map(|record| {
            collector.put(record).unwrap();
            collector.take()
        });
        cycles.next().expect("a cycle").tables
    };
    let swapped = cycle(&|records| records.swap(table, table + 1));
    assert!(swapped == cycle(&|_| {}), "tables by their numbers");
    refused(&|records| records[table].index = 1);
    refused(&|records| records[0].index = shape.inputs);
    refused(&|records| records[table].index = shape.ands);
    refused(&|records| records[table].index = u32::MAX);
    refused(&|records| records[masks].index = 1);
    refused(&|records| records[masks].data[31] = 128);
    refused(&|records| records[0].data[16] = 1);
    refused(&|records| records[0].cycle = 2);
    refused(&|records| records.insert(masks, records[masks].clone()));
    refused(&|records| records.insert(table, records[table].clone()));
    // One that is missing: a cycle is not whole.
    assert_eq!(put(&|records| drop(records.pop())), Ok(1));
    // Far ahead of a cycle that does not end.
    let mut collector = Collector::new(Client(0), shape, 100);
    let mut ahead = records[0].clone();
    ahead.cycle = 3;
    assert!(matches!(collector.put(&ahead), Err(DeviceError::Broken(_))));
}

#[test]
fn records_of_hardware_are_checked() {
    let mut bytes = [0; 48];
    bytes[0] = 1;
    bytes[4] = 5;
    bytes[9] = 1;
    bytes[16..].fill(7);
    let record = Record::parse(Client(4), &bytes).unwrap();
    let place = (record.client, record.tag, record.cycle, record.index);
    assert_eq!(place, (Client(4), Tag::Table, 5, 256));
    assert_eq!(record.data, [7; 32]);
    for (at, value) in [(0, 3), (1, 1), (12, 1), (15, 255)] {
        let mut bytes = bytes;
        bytes[at] = value;
        let broken = Record::parse(Client(4), &bytes);
        assert!(matches!(broken, Err(DeviceError::Broken(_))), "byte {at}");
    }
}

/// The machine has room for 256 outputs; a larger netlist is refused when it is loaded.
#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn rtl_small_refuses_netlists_without_room() {
    let netlist = ands([1, 1], (0..300).map(|_| (0, 1)), 2..302);
    let netlist = DeviceNetlist::new(&netlist).unwrap();
    for machine in MACHINES {
        let refused = Which::Rtl(Scheme::Prp, machine).device().load(&netlist);
        assert!(
            matches!(refused, Err(DeviceError::Netlist(_))),
            "{refused:?}"
        );
    }
    Which::Cpu(Scheme::Prp).device().load(&netlist).unwrap();
}

/// The model counts the clock cycles of the hardware.
#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn rtl_small_takes_the_cycles_of_the_model() {
    for machine in MACHINES {
        let random = (0..6).map(random);
        for netlist in random.chain([ours("MAC_16_1"), ours("Hamm_32_1")]) {
            let scheme = Scheme::Prp;
            let both = [Which::Model(scheme, machine), Which::Rtl(scheme, machine)];
            let clocks = both.map(|which| {
                let (mut device, netlist) = loaded(which, &netlist);
                assert_eq!(device.machine(), Some(machine));
                device.start(Client(0), keys(1), extent(4)).unwrap();
                cycles(&mut *device, &netlist, 0, 4);
                device.end(Client(0)).unwrap().clock_cycles
            });
            assert!(clocks[0].is_some() && clocks[0] == clocks[1], "{clocks:?}");
        }
    }
}

/// The model gives tables in the order of the hardware.
#[test]
#[ignore = "needs benches of rtl/: make test-rtl"]
fn rtl_small_gives_tables_in_the_order_of_the_model() {
    let mut other = 0;
    for machine in MACHINES {
        for netlist in [random(2), random(5), ours("MAC_8_1"), ours("AES_128_11")] {
            let scheme = Scheme::Prp;
            let both = [Which::Model(scheme, machine), Which::Rtl(scheme, machine)];
            let orders = both.map(|which| {
                let (mut device, _) = loaded(which, &netlist);
                let records = records(&mut *device, 0, keys(1), 2);
                let tables = records.iter().filter(|record| record.tag == Tag::Table);
                let order = tables.map(|record| (record.cycle, record.index));
                order.collect::<Vec<_>>()
            });
            assert!(orders[0] == orders[1], "{machine}");
            other += u32::from(!orders[0].is_sorted());
        }
    }
    assert!(other >= 4, "better engines have orders of their own");
}

/// A bench of another machine, or for another scheme, is found out before it gets a secret, and so
/// is the one with the broken hash.
#[test]
#[ignore = "needs benches of rtl/: make test-rtl"]
fn rtl_small_of_another_build_is_refused() {
    let netlist = DeviceNetlist::new(&random(1)).unwrap();
    let folders = ["fase", "banked", "two", "insecure"];
    for (folder, of) in folders.into_iter().zip(0..) {
        for (machine, asked) in MACHINES.into_iter().zip(0..) {
            match rtl_of(folder, Scheme::Prp, machine).load(&netlist) {
                Ok(()) => assert_eq!(of, asked, "{folder}"),
                Err(DeviceError::OtherBuild { found: Some(_), .. }) => assert_ne!(of, asked),
                Err(other) => panic!("{folder}: {other}"),
            }
            let loads = rtl_of(folder, Scheme::Mi, machine).load(&netlist);
            let other = matches!(loads, Err(DeviceError::OtherBuild { .. }));
            assert!(other, "{folder}");
        }
    }
}
