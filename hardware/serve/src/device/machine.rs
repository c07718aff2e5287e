//! The machines of `rtl/`: which of them is behind a device, how each takes a netlist, and how a
//! bench says which one it is.

use super::{DeviceError, DeviceNetlist};
use sealane_accel::bundle::{Bundles, bundles};
use sealane_accel::engine::{Engine, usual_tries};
use sealane_garble::Scheme;
use serde::Deserialize;
use std::fmt;

/// A machine of `rtl/`. All of them give the same records for the same keys, but for their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RtlMachine {
    /// FASE's machine, with the optimisation of its memory.
    #[default]
    Fase,
    /// Better engines.
    Better(BetterEngines),
}

/// Better engines: each an AND and three XORs a cycle, `1a3x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BetterEngines {
    /// Engines that share all banks: 1 or 2.
    pub engines: u32,
    /// Orders of gates of which the best one is taken; as many as take seconds where there is no
    /// number.
    pub tries: Option<u32>,
}

/// Most better engines that `rtl/` is built with.
pub const MOST_BUILT: u32 = 2;

impl RtlMachine {
    /// The machine as numbers. A device keeps these: bytes of an enum that mean nothing would be
    /// what lay on the stack before, which may be of a secret.
    pub(crate) fn numbers(self) -> [u32; 2] {
        match self {
            RtlMachine::Fase => [0, 0],
            RtlMachine::Better(BetterEngines { engines, tries }) => [engines, tries.unwrap_or(0)],
        }
    }

    /// The machine of these numbers.
    pub(crate) fn of_numbers([engines, tries]: [u32; 2]) -> RtlMachine {
        match engines {
            0 => RtlMachine::Fase,
            engines => RtlMachine::Better(BetterEngines {
                engines,
                tries: (tries > 0).then_some(tries),
            }),
        }
    }
}

impl BetterEngines {
    /// So many engines, in the best of the usual number of orders.
    pub fn new(engines: u32) -> BetterEngines {
        BetterEngines {
            engines,
            tries: None,
        }
    }

    /// Schedules a netlist for these engines.
    ///
    /// # Errors
    /// [`DeviceError::Netlist`] if there are no such engines, or the file for them cannot hold the
    /// netlist.
    pub(crate) fn bundles(&self, netlist: &DeviceNetlist) -> Result<Bundles, DeviceError> {
        if !(1..=MOST_BUILT).contains(&self.engines) {
            let what = format!("there is no machine of {} engines", self.engines);
            return Err(DeviceError::Netlist(what));
        }
        let netlist = netlist.netlist();
        let engine = Engine {
            engines: self.engines,
            ..Engine::BANKED
        };
        let tries = self.tries.unwrap_or_else(|| usual_tries(netlist, 1));
        let made = bundles(netlist, engine, tries);
        made.map_err(|error| DeviceError::Netlist(error.to_string()))
    }
}

impl fmt::Display for RtlMachine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RtlMachine::Fase => out.write_str("fase"),
            RtlMachine::Better(BetterEngines { engines: 1, .. }) => out.write_str("1a3x"),
            RtlMachine::Better(BetterEngines { engines, .. }) => {
                write!(out, "{engines} engines 1a3x")
            }
        }
    }
}

/// The parameters of the hardware in a bench, as its account states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Build {
    hash: u32,
    queue: u32,
    xor_units: u32,
    engines: u32,
}

impl Build {
    /// The build of a machine that garbles under a scheme.
    pub fn of(machine: RtlMachine, scheme: Scheme) -> Build {
        let (xor_units, engines) = match machine {
            RtlMachine::Fase => (0, 1),
            RtlMachine::Better(better) => (Engine::BANKED.xor_units, better.engines),
        };
        Build {
            hash: u32::from(scheme == Scheme::Mi),
            queue: 1,
            xor_units,
            engines,
        }
    }

    /// Returns the target of `make -C hardware/rtl` that builds it, which is its folder in
    /// `target/rtl` too.
    pub fn target(&self) -> &'static str {
        match (self.hash, self.xor_units, self.engines) {
            (0, 0, _) => "fase",
            (0, _, 1) => "banked",
            (0, ..) => "two",
            (_, 0, _) => "mi",
            (_, _, 1) => "banked_mi",
            _ => "two_mi",
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.xor_units, self.engines, self.queue) {
            (0, 1, 0) => out.write_str("FASE's machine without the optimisation of its memory"),
            (0, 1, _) => out.write_str("FASE's machine"),
            (units, engines, _) => {
                let plural = if engines == 1 { "" } else { "s" };
                write!(out, "{engines} engine{plural} 1a{units}x")
            }
        }?;
        match self.hash {
            0 => out.write_str(" for prp"),
            1 => out.write_str(" for mi"),
            _ => out.write_str(" with the broken hash of the released hardware"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_have_names() {
        let machines = [
            RtlMachine::Fase,
            RtlMachine::Better(BetterEngines::new(1)),
            RtlMachine::Better(BetterEngines::new(2)),
        ];
        let all = [Scheme::Prp, Scheme::Mi]
            .iter()
            .flat_map(|scheme| machines.map(|machine| Build::of(machine, *scheme)));
        let names = all.map(|build| (build.target(), build.to_string()));
        let names: Vec<_> = names.collect();
        let expected = [
            ("fase", "FASE's machine for prp"),
            ("banked", "1 engine 1a3x for prp"),
            ("two", "2 engines 1a3x for prp"),
            ("mi", "FASE's machine for mi"),
            ("banked_mi", "1 engine 1a3x for mi"),
            ("two_mi", "2 engines 1a3x for mi"),
        ];
        assert_eq!(names, expected.map(|(target, name)| (target, name.into())));
    }
}
