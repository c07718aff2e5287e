//! Statistical test that times of a server of netlists do not depend on its bits, as
//! `sealane_testkit::timing` explains; `sh tools/timing.sh` runs it in an optimised build.

use std::hint::black_box;
use std::thread;

use sealane_block::{Block, Coins, Cpu};
use sealane_garble::Scheme;
use sealane_hw_testkit::ands;
use sealane_net::Mesh;
use sealane_parties::NetworkClass;
use sealane_serve::device::CpuDevice;
use sealane_serve::server::{Served, serve};
use sealane_serve::{Job, Span, client};
use sealane_testkit::timing::{Findings, ROWS, TimedWork, tiers};

/// Sessions on one tier.
const SESSIONS: usize = 20_000;

#[test]
#[ignore = "minutes; tools/timing.sh runs it in an optimised build"]
fn the_time_of_servers_does_not_depend_on_their_bits() {
    let mut found = Findings::default();
    for cpu in tiers() {
        found.add(cpu, "served netlist", SESSIONS, &mut Serving::new(cpu));
    }
    found.none();
}

/// A whole session at a server. The secrets are its bits; the client has none, so that oblivious
/// transfers, which have checks of their own, do not hide the rest.
struct Serving {
    cpu: Cpu,
    job: Job,
    served: Option<[Served; 1]>,
    meshes: Option<[Mesh; 2]>,
    sessions: u64,
}

impl Serving {
    fn new(cpu: Cpu) -> Serving {
        let inputs = 2 * ROWS as u32;
        let gates = (1..inputs).map(|input| (input - 1, input));
        let netlist = ands([inputs, 0], gates, inputs..inputs + 1);
        let job = Job::new(&netlist, Span::last(1), Scheme::Mi, NetworkClass::LAN);
        Serving {
            cpu,
            job: job.expect("a job"),
            served: None,
            meshes: None,
            sessions: 0,
        }
    }
}

impl TimedWork for Serving {
    fn prepare(&mut self, inputs: &[Block]) {
        let bits: Vec<u8> = inputs.iter().map(|block| block.lsb()).collect();
        let device = CpuDevice::new(self.cpu, Scheme::Mi).expect("a scheme of devices");
        let served = Served::new(self.job.clone(), bits.into(), Box::new(device), 1, u64::MAX);
        self.served = served.ok().map(|served| [served]);
        self.meshes = Mesh::in_memory(2).try_into().ok();
        self.sessions += 1;
    }

    fn run(&mut self) {
        let (cpu, job) = (self.cpu, &self.job);
        let [at_server, at_client] = self.meshes.as_mut().expect("it is prepared");
        let served = self.served.as_ref().expect("it is prepared");
        let coins = |party| Coins::danger_fixed_seed(2 * self.sessions + party);
        thread::scope(|threads| {
            threads.spawn(|| client::run(job, &[], cpu, coins(1), at_client).map(|_| ()));
            let account = serve(served, || Ok(()), cpu, coins(0), at_server);
            black_box(account.expect("an honest client"));
        });
    }

    fn settle(&mut self) {
        (self.served, self.meshes) = (None, None);
    }
}
