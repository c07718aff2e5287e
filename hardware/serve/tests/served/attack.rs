//! The recovery of the offset from one row of a table, which breaks the released hardware
//! ([`sealane_hw_testkit`]), against every device.

use crate::support::keys;
use sealane_block::Block;
use sealane_hw_testkit::{offsets_found, pairs};
use sealane_serve::device::{Client, Device, DeviceNetlist, Extent, Record, Tag};

/// Returns the number of ANDs from whose tables and active labels the attack finds the offset.
pub fn found(device: &mut dyn Device) -> usize {
    let netlist = DeviceNetlist::new(&pairs()).expect("a netlist");
    device.load(&netlist).expect("room for it");
    let (client, keys) = (Client(0), keys(3));
    let extent = Extent {
        cycles: 1,
        most_ands: u64::MAX,
    };
    device
        .start(client, keys.clone(), extent)
        .expect("a session");
    let mut records = Vec::new();
    while device.read(client, &mut records).expect("records") {}
    device.end(client).expect("its end");
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
