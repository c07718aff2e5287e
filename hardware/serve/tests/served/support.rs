//! Netlists, keys and devices of the tests.

use sealane_block::{Block, Coins, Cpu};
use sealane_garble::Scheme;
pub use sealane_hw_testkit::ours;
use sealane_hw_testkit::slow::{Hash, Slow, mi, prp};
use sealane_serve::device::{
    BetterEngines, Build, Client, CpuDevice, Device, DeviceNetlist, Extent, Keys, ModelDevice,
    Record, Rtl, RtlMachine, RtlOptions,
};
use std::time::Duration;

/// A device under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Cpu(Scheme),
    Model(Scheme, RtlMachine),
    Rtl(Scheme, RtlMachine),
}

/// FASE's machine, the better engine, and two of them. Few orders are tried, as tests are quick.
pub const MACHINES: [RtlMachine; 3] = [RtlMachine::Fase, better(1), better(2)];

const fn better(engines: u32) -> RtlMachine {
    let tries = Some(3);
    RtlMachine::Better(BetterEngines { engines, tries })
}

impl Which {
    pub fn scheme(self) -> Scheme {
        let (Which::Cpu(scheme) | Which::Model(scheme, _) | Which::Rtl(scheme, _)) = self;
        scheme
    }

    /// The equations that the device has to follow.
    pub fn slow(self, netlist: &DeviceNetlist, keys: &Keys) -> Slow {
        let hash: Hash = if self.scheme() == Scheme::Prp {
            prp
        } else {
            mi
        };
        Slow::new(netlist.netlist(), blocks(keys), hash)
    }

    pub fn device(self) -> Box<dyn Device> {
        let cpu = Cpu::detect().expect("a tier");
        match self {
            Which::Cpu(scheme) => Box::new(CpuDevice::new(cpu, scheme).unwrap()),
            Which::Model(scheme, machine) => {
                Box::new(ModelDevice::new(cpu, scheme, machine).unwrap())
            }
            Which::Rtl(scheme, machine) => Box::new(rtl(scheme, machine)),
        }
    }
}

/// The hardware, as `make -C hardware/rtl` builds it.
pub fn rtl(scheme: Scheme, machine: RtlMachine) -> Rtl {
    rtl_of(Build::of(machine, scheme).target(), scheme, machine)
}

/// The hardware of a folder, which need not be the machine that is asked for.
pub fn rtl_of(folder: &str, scheme: Scheme, machine: RtlMachine) -> Rtl {
    Rtl::new(RtlOptions {
        bench: sealane_hw_testkit::bench(folder),
        scheme,
        machine,
        patience: Duration::from_secs(120),
    })
}

/// A session of any number of ANDs.
pub fn extent(cycles: u32) -> Extent {
    let most_ands = u64::MAX;
    Extent { cycles, most_ands }
}

/// All records of a session that begins now.
pub fn records(device: &mut dyn Device, client: u32, keys: Keys, cycles: u32) -> Vec<Record> {
    let (client, mut records) = (Client(client), Vec::new());
    let started = device.start(client, keys, extent(cycles));
    started.expect("a session");
    while device.read(client, &mut records).expect("records") {}
    records
}

/// The keys of a session, by number.
pub fn keys(number: u64) -> Keys {
    let mut coins = Coins::danger_fixed_seed(number);
    let hash = coins.public("test: hash").block();
    let mut keys = Keys::draw(&mut coins, hash);
    // Near the end of a word, so that the counter carries.
    keys.label_start = Block::new(keys.label_start.value() | 0xffff_ffff_ffff_fff0);
    keys
}

/// The blocks of a session, as the slow garbler takes them.
pub fn blocks(keys: &Keys) -> [Block; 4] {
    [keys.hash, keys.offset, keys.label_key, keys.label_start]
}
