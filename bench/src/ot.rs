//! Suite `ot`: correlated oblivious transfers between two threads, over channels in memory.
//!
//! Both sides work at the same time, as they do in a run, so a figure is set by the slower one. A
//! first batch is checked: each label of the receiver is the sender's, shifted by the offset where
//! the choice is 1.

use std::thread;
use std::time::{Duration, Instant};

use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::{CotReceiver, CotSender, extend_bytes};
use sealane_parties::PartyId;

use crate::{Options, Record};

/// The suite's name.
pub const SUITE: &str = "ot";

const SENDER: PartyId = PartyId(0);
const RECEIVER: PartyId = PartyId(1);

/// Transfers of one window.
const COUNT: usize = 1 << 20;
/// Transfers of a window when there is no time: one chunk of the extension.
const FEW: usize = 1 << 14;
/// Windows, of which the best counts.
const WINDOWS: usize = 5;

/// Measures set-up and extension on every tier.
pub fn run(options: &Options, record: &mut dyn FnMut(Record)) {
    let count = if options.budget.is_zero() { FEW } else { COUNT };
    for cpu in &options.cpus {
        let (setup, extend) = measure_tier(*cpu, count);
        let bytes = extend_bytes(count as u64) as f64 / count as f64;
        for (case, metric, value, unit) in [
            ("base", "setup_ms", setup.as_secs_f64() * 1e3, "ms"),
            (
                "cot",
                "million_ots_per_s",
                count as f64 / extend.as_secs_f64() / 1e6,
                "million/s",
            ),
            ("cot", "bytes_per_ot", bytes, "bytes"),
        ] {
            let case = match case {
                "base" => "base/128/memory".to_string(),
                _ => format!("iknp/{case}/semi-honest/memory"),
            };
            record(Record {
                suite: SUITE,
                case,
                tier: cpu.tier().name(),
                metric,
                value,
                unit,
            });
        }
    }
}

/// Time of the set-up, and of the best window.
fn measure_tier(cpu: Cpu, count: usize) -> (Duration, Duration) {
    let [mut here, mut there]: [Mesh; 2] = Mesh::in_memory(2).try_into().ok().expect("two parties");
    let mut coins = Coins::danger_fixed_seed(1);
    let delta = coins.secret("delta").block();
    let mut choices = vec![0u8; count];
    coins.secret("choices").fill_bytes(&mut choices);
    choices.iter_mut().for_each(|choice| *choice &= 1);

    thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let mesh = &mut here;
            let mut coins = Coins::danger_fixed_seed(2);
            let mut cot = CotSender::setup(cpu, mesh, RECEIVER, delta, &mut coins).expect(MEMORY);
            mesh.flush().expect(MEMORY);
            let mut zeros = vec![Block::ZERO; count];
            for _ in 0..=WINDOWS {
                ready(mesh, RECEIVER);
                cot.extend(mesh, &mut zeros).expect(MEMORY);
                // This makes the window the slower side's.
                ready(mesh, RECEIVER);
            }
            zeros
        });
        let mesh = &mut there;
        let started = Instant::now();
        let mut cot = CotReceiver::setup(cpu, mesh, SENDER, &mut coins).expect(MEMORY);
        let setup = started.elapsed();
        let mut labels = vec![Block::ZERO; count];
        let mut best = Duration::MAX;
        for _ in 0..=WINDOWS {
            ready(mesh, SENDER);
            let started = Instant::now();
            cot.extend(mesh, &choices, &mut labels).expect(MEMORY);
            mesh.flush().expect(MEMORY);
            ready(mesh, SENDER);
            best = best.min(started.elapsed());
        }
        let zeros = sender.join().expect("the sender's thread");
        for ((label, zero), choice) in labels.iter().zip(&zeros).zip(&choices) {
            assert_eq!(
                (*label ^ *zero).value(),
                delta.masked(*choice).value(),
                "wrong labels"
            );
        }
        (setup, best)
    })
}

const MEMORY: &str = "a channel in memory";

/// Waits until the other side is here too.
fn ready(mesh: &mut Mesh, peer: PartyId) {
    mesh.send(peer, &[0]).expect(MEMORY);
    mesh.flush().expect(MEMORY);
    mesh.recv(peer, &mut [0]).expect(MEMORY);
}
