//! Netlists, keys and devices of the tests.

use crate::slow::{Hash, mi, prp};
use sealane_accel::Netlist;
use sealane_accel::functions::function;
use sealane_block::{Block, Coins, Cpu};
use sealane_garble::Scheme;
use sealane_serve::device::{CpuDevice, Device, Keys, ModelDevice, Rtl, RtlOptions};
use std::path::Path;
use std::time::Duration;

/// A device under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Cpu(Scheme),
    Model(Scheme),
    Rtl(Scheme),
}

impl Which {
    pub fn scheme(self) -> Scheme {
        let (Which::Cpu(scheme) | Which::Model(scheme) | Which::Rtl(scheme)) = self;
        scheme
    }

    pub fn hash(self) -> Hash {
        match self.scheme() {
            Scheme::Prp => prp,
            _ => mi,
        }
    }

    pub fn device(self) -> Box<dyn Device> {
        let cpu = Cpu::detect().expect("a tier");
        match self {
            Which::Cpu(scheme) => Box::new(CpuDevice::new(cpu, scheme).unwrap()),
            Which::Model(scheme) => Box::new(ModelDevice::new(cpu, scheme).unwrap()),
            Which::Rtl(scheme) => Box::new(rtl(scheme)),
        }
    }
}

/// The hardware, as `make -C rtl` builds it.
pub fn rtl(scheme: Scheme) -> Rtl {
    let folder = match scheme {
        Scheme::Prp => "fase",
        _ => "mi",
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bench = root.join("target/rtl").join(folder).join("bench");
    assert!(bench.exists(), "make -C rtl all mi");
    Rtl::new(RtlOptions {
        bench,
        scheme,
        patience: Duration::from_secs(120),
    })
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

/// One of our own sources.
pub fn ours(name: &str) -> Netlist {
    function(name).expect(name).netlist().expect("a netlist")
}
