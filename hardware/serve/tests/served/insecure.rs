//! A device with the hash of the released hardware, which no session may ever use: the attack has
//! to find its offset.

use crate::support::blocks;
use sealane_garble::Scheme;
use sealane_hw_testkit::slow::{Slow, released};
use sealane_serve::device::{
    Client, Device, DeviceError, DeviceNetlist, Ended, Extent, Keys, Record, Tag,
};

#[derive(Default)]
pub struct Insecure {
    netlist: Option<DeviceNetlist>,
    session: Option<(Client, Slow, u32)>,
}

impl Device for Insecure {
    fn name(&self) -> &'static str {
        "insecure"
    }

    fn scheme(&self) -> Scheme {
        Scheme::Prp
    }

    fn load(&mut self, netlist: &DeviceNetlist) -> Result<(), DeviceError> {
        self.netlist = Some(netlist.clone());
        Ok(())
    }

    fn start(&mut self, client: Client, keys: Keys, extent: Extent) -> Result<(), DeviceError> {
        let netlist = self.netlist.as_ref().ok_or(DeviceError::NotNow)?.netlist();
        self.session = Some((
            client,
            Slow::new(netlist, blocks(&keys), released),
            extent.cycles,
        ));
        Ok(())
    }

    fn read(&mut self, _: Client, records: &mut Vec<Record>) -> Result<bool, DeviceError> {
        let (client, slow, cycles) = self.session.as_mut().expect("a session");
        if *cycles == 0 {
            return Ok(false);
        }
        *cycles -= 1;
        let netlist_cycle = slow.netlist_cycle();
        let mut push = |tag, index: usize, data| {
            records.push(Record {
                client: *client,
                tag,
                cycle: 0,
                index: index as u32,
                data,
            });
        };
        for (index, label) in netlist_cycle.labels.iter().enumerate() {
            let mut data = [0; 32];
            data[..16].copy_from_slice(&label.to_bytes());
            push(Tag::Label, index, data);
        }
        for (index, table) in netlist_cycle.tables.iter().enumerate() {
            push(Tag::Table, index, *table);
        }
        Ok(true)
    }

    fn end(&mut self, _: Client) -> Result<Ended, DeviceError> {
        self.session = None;
        Ok(Ended::default())
    }
}
