//! Crate `hw-memcheck`: served netlists under Valgrind, as in crate `memcheck`.
//!
//! Whole sessions of a server and a client, and what devices leave in memory. Inputs of both and
//! all random choices are secret; messages between them are public.

#![forbid(unsafe_code)]

use sealane_accel::functions::function;
use sealane_block::{Block, Cpu};
use sealane_garble::Scheme;
use sealane_memcheck::crossing::meshes;
use sealane_memcheck::request::{is_secret, secret, unwatched};
use sealane_memcheck::{Check, secret_coins};
use sealane_parties::NetworkClass;
use sealane_serve::device::{
    BetterEngines, Client, CpuDevice, Device, DeviceError, DeviceNetlist, Extent, Keys,
    ModelDevice, RtlMachine, Tag,
};
use sealane_serve::server::{Served, serve};
use sealane_serve::{Job, Span, client};
use std::hint::black_box;
use std::process::ExitCode;
use std::thread;
use zeroize::Zeroizing;

fn main() -> ExitCode {
    sealane_memcheck::main(&[CHECKS])
}

const CHECKS: &[Check] = &[
    ("served netlists: session, mi, cpu", |cpu| {
        session(cpu, Scheme::Mi, made(CpuDevice::new(cpu, Scheme::Mi)));
    }),
    ("served netlists: session, prp, model", |cpu| {
        let model = ModelDevice::new(cpu, Scheme::Prp, RtlMachine::Fase);
        session(cpu, Scheme::Prp, made(model));
    }),
    ("served netlists: device, cpu", |cpu| {
        device(&mut *made(CpuDevice::new(cpu, Scheme::Mi)));
    }),
    ("served netlists: device, model", |cpu| {
        let model = ModelDevice::new(cpu, Scheme::Mi, RtlMachine::Fase);
        device(&mut *made(model));
    }),
    ("served netlists: device, model of a better engine", |cpu| {
        let machine = RtlMachine::Better(BetterEngines {
            engines: 2,
            tries: Some(1),
        });
        device(&mut *made(ModelDevice::new(cpu, Scheme::Mi, machine)));
    }),
];

/// A function with initial values, flip-flops and inputs of both sides, and its netlist cycles.
const NAME: &str = "AES_128_11";
const CYCLES: u32 = 2;
const SPAN: Span = Span::every(CYCLES);

fn made<D: Device + 'static>(device: Result<D, DeviceError>) -> Box<dyn Device> {
    Box::new(device.expect("a device"))
}

/// Secret bits, one a byte.
fn bits(count: u64) -> Zeroizing<Vec<u8>> {
    let mut bits = Zeroizing::new(vec![0x5a; count as usize]);
    secret(&mut bits);
    bits.iter_mut().for_each(|bit| *bit &= 1);
    bits
}

fn session(cpu: Cpu, scheme: Scheme, device: Box<dyn Device>) {
    let (job, served) = unwatched(|| {
        let netlist = function(NAME).expect(NAME).netlist().expect("a netlist");
        let job = Job::new(&netlist, SPAN, scheme, NetworkClass::LAN).expect("a job");
        let input = bits(job.input_bits()[0]);
        let served = Served::new(job.clone(), input, device, 1, u64::MAX);
        (job, [served.expect("a device with room")])
    });
    let mut ends = meshes(2).into_iter();
    thread::scope(|threads| {
        let mut mesh = ends.next().expect("the server");
        let served = &served;
        threads.spawn(move || {
            serve(served, || Ok(()), cpu, secret_coins(), &mut mesh).expect("an honest client");
        });
        let mut mesh = ends.next().expect("the client");
        let job = &job;
        threads.spawn(move || {
            let input = bits(job.input_bits()[1]);
            let run = client::run(job, &input, cpu, secret_coins(), &mut mesh);
            black_box(run.expect("an honest server").0);
        });
    });
    unwatched(|| drop((job, served)));
}

/// A session that ends, one that is cut off, and one whose key has reached its limit.
fn device(device: &mut dyn Device) {
    let netlist = unwatched(|| {
        let netlist = function(NAME).expect(NAME).netlist().expect("a netlist");
        let netlist = DeviceNetlist::new(&netlist).expect("a netlist for devices");
        device.load(&netlist).expect("room for it");
        netlist
    });
    let ands = u64::from(netlist.shape().ands);
    for (number, most_ands) in (0..3).zip([u64::MAX, u64::MAX, ands + 1]) {
        let mut coins = secret_coins();
        let hash = Block::new(number);
        let keys = Keys::draw(&mut coins, hash);
        assert!(is_secret(&[keys.offset, keys.label_key, keys.label_start]));
        let client = Client(number as u32);
        let cycles = CYCLES;
        let started = device.start(client, keys, Extent { cycles, most_ands });
        started.expect("a free client");
        let mut labels = 0;
        loop {
            let mut records = Vec::new();
            let more = device.read(client, &mut records);
            for record in records.iter().filter(|record| record.tag == Tag::Label) {
                assert!(is_secret(&[record.block(0)]));
                labels += 1;
            }
            match more {
                Ok(true) if number == 1 => break,
                Ok(true) => {}
                Ok(false) | Err(DeviceError::Limit) => break,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(labels > 0);
        let ended = device.end(client);
        assert_eq!(ended.is_err(), number == 2);
    }
    unwatched(|| drop(netlist));
}
