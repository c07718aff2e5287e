//! The recovery of the offset from one row of a table, which breaks the released hardware
//! ([`sealane_hw_testkit`]), against every device.

use crate::support::{keys, records};
use sealane_block::Block;
use sealane_hw_testkit::{offsets_found, pairs};
use sealane_serve::device::{Client, Device, DeviceNetlist, Record, Tag};

/// Returns the number of ANDs from whose tables and active labels the attack finds the offset.
pub fn found(device: &mut dyn Device) -> usize {
    let netlist = DeviceNetlist::new(&pairs()).expect("a netlist");
    device.load(&netlist).expect("room for it");
    let keys = keys(3);
    let records = records(device, 0, keys.clone(), 1);
    device.end(Client(0)).expect("its end");
    let of = |tag| {
        let records = records.iter();
        records.filter(move |record: &&Record| record.tag == tag)
    };
    let labels: Vec<Block> = of(Tag::Label).map(|record| record.block(0)).collect();
    let tables = of(Tag::Table).map(|record| (record.index, [0, 1].map(|half| record.block(half))));
    let tables: Vec<_> = tables.collect();
    offsets_found(keys.hash, keys.offset, &labels, &tables)
}

/// The attack bites: half to three quarters of the 66 ANDs give the offset away.
#[test]
fn the_hash_of_the_released_hardware_gives_the_offset_away() {
    let found = found(&mut crate::insecure::Insecure::default());
    assert!(found > 20, "{found}");
}
