//! Whole sessions through the engine, under every protocol: handshake, work of one party alone,
//! tiles, steps, settlements, reveal and farewell. Inputs and all random choices are secret at each
//! party.

use crate::crossing::meshes;
use crate::request::{secret, unwatched};
use crate::{Check, Control};
use sealane_block::Cpu;
use sealane_block::cpu::TIER_VARIABLE;
use sealane_engine::{Job, Journal, NetworkClass, ProtocolName, danger_run_with_seed};
use sealane_net::Mesh;
use sealane_program::text::parse;
use sealane_program::types::{Data, Type};
use std::hint::black_box;
use std::thread;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("yao: through the engine", |cpu| {
        session(cpu, ProtocolName::Yao, &[], &MIXED);
    }),
    ("yao-three-halves: through the engine", |cpu| {
        session(cpu, ProtocolName::YaoThreeHalves, &[], &MIXED);
    }),
    ("yao: through the engine, outside", |cpu| {
        session(cpu, ProtocolName::Yao, &["ada", "bob"], &MIXED);
    }),
    ("trio: through the engine", |cpu| {
        session(cpu, ProtocolName::Trio, &["ada", "bob", "cyd"], &MIXED);
    }),
    ("trio-malicious: through the engine", |cpu| {
        session(cpu, ProtocolName::TrioMalicious, &["ada"], &MIXED);
    }),
    ("trio-malicious: through the engine, outside", |cpu| {
        let helpers = ["ada", "bob", "cyd"];
        session(cpu, ProtocolName::TrioMalicious, &helpers, &MIXED);
    }),
    ("trio-malicious: sorts through the engine", |cpu| {
        session(cpu, ProtocolName::TrioMalicious, &["ada"], &SORT);
    }),
    ("trio-malicious: integers through the engine", |cpu| {
        session(cpu, ProtocolName::TrioMalicious, &["ada"], &INTEGERS);
    }),
    ("gmw: through the engine", |cpu| {
        session(cpu, ProtocolName::Gmw, &[], &MIXED);
    }),
    ("gmw: through the engine, outside", |cpu| {
        session(cpu, ProtocolName::Gmw, &["ada", "bob"], &MIXED);
    }),
    ("mixed: through the engine", |cpu| {
        session(cpu, ProtocolName::Mixed, &[], &MIXED);
    }),
    ("auth: through the engine", |cpu| {
        session(cpu, ProtocolName::Auth, &[], &MIXED);
    }),
    ("clear: through the engine", |cpu| {
        session(cpu, ProtocolName::Clear, &[], &MIXED);
    }),
];

/// Sessions whose messages stay secret: a party that compares one of them is reported, if secrets
/// get as far as that.
pub const CONTROLS: [Control; 3] = [
    ("control: messages of a session", |_| {
        control(ProtocolName::Yao, &[], &MIXED);
    }),
    ("control: messages of a session with proofs", |_| {
        control(ProtocolName::TrioMalicious, &["ada"], &MIXED);
    }),
    ("control: messages of a session on integers", |_| {
        control(ProtocolName::TrioMalicious, &["ada"], &INTEGERS);
    }),
];

/// A program and its inputs.
struct Case {
    program: &'static str,
    /// Inputs in order, each of the party with its number.
    inputs: [Input; 2],
}

/// The type of an input, its dimensions, and what its numbers are multiples of.
struct Input(Type, &'static [u64], i128);

/// Squares that ann computes alone, and joint work: a comparison, products, a sum over tiles of
/// rows, and a loop. Each party learns another part. There are two tiles and a half.
const MIXED: Case = Case {
    program: "\
sealane program 1
name checked
party ann
party ben
rows n <= 100
input x : ann u8[n] in 0..255
input y : ben i8[n] in -128..127
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : i8[n] in -128..127 known ben
  %2 = cast %0 : i32[n] in 0..255 known ann
  %3 = cast %1 : i32[n] in -128..127 known ben
  %4 = mul %2, %2 : i32[n] in 0..65025 known ann
  %5 = mul %2, %3 : i32[n] in -32640..32385 secret
  %6 = gt %5, %3 : bool[n] in 0..1 secret
  %7 = add %4, %5 : i32[n] in -32640..97410 secret
  %8 = reduce sum %7 axis 0 : i32 in -3264000..9741000 secret
  %9 = const [0] : i32 in 0..0 public
  %10 = scan from %9 over %5 : i32 in -2147483648..2147483647 secret {
    %0 = param 0 : i32 in -2147483648..2147483647 secret
    %1 = param 1 : i32 in -32640..32385 secret
    %2 = max %0, %1 : i32 in -32640..2147483647 secret
    return %2
  }
  %11 = part %10, 0 : i32 in -2147483648..2147483647 secret
}
reveal above = %6 : bool to ann
reveal total = %8 : i32 to ben
reveal largest = %11 : i32 to ann, ben
",
    inputs: [Input(Type::U8, &[5], 3), Input(Type::signed(8), &[5], -2)],
};

/// A sort, which needs no network for so many rows: each pass is settled, and opens places.
const SORT: Case = Case {
    program: "\
sealane program 1
name sorted
party ann
party ben
rows n <= 100
input x : ann u8[n] in 0..255
input y : ben i8[n] in -128..127
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : i8[n] in -128..127 known ben
  %2 = cast %0 : i16[n] in 0..255 known ann
  %3 = cast %1 : i16[n] in -128..127 known ben
  %4 = add %2, %3 : i16[n] in -128..382 secret
  %5 = sort over %4 : i16[n] in -128..382 secret {
    %0 = param 0 : i16 in -128..382 secret
    %1 = param 1 : i16 in -128..382 secret
    %2 = lt %1, %0 : bool in 0..1 secret
    return %2
  }
  %6 = part %5, 0 : i16[n] in -128..382 secret
  %7 = gt %0, %1 : bool[n] in 0..1 secret
}
reveal ordered = %6 : i16 to ann
reveal above = %7 : bool to ben
",
    inputs: [Input(Type::U8, &[20], 1), Input(Type::signed(8), &[20], -1)],
};

/// An inner product, where a protocol has them of integers, with conversions on both sides.
const INTEGERS: Case = Case {
    program: "\
sealane program 1
name multiplied
party ann
party ben
input u : ann i16[1, 8] in -32768..32767
input v : ben i16[8, 1] in -32768..32767
main {
  %0 = param 0 : i16[1, 8] in -32768..32767 known ann
  %1 = param 1 : i16[8, 1] in -32768..32767 known ben
  %2 = cast %0 : i64[1, 8] in -32768..32767 known ann
  %3 = cast %1 : i64[8, 1] in -32768..32767 known ben
  %4 = dot %2, %3 : i64[1, 1] in -8589672448..8589934592 secret
  %5 = const [0] : u1 in 0..0 public
  %6 = gt %4, %5 : bool[1, 1] in 0..1 secret
}
reveal product = %4 : i64 to ann
reveal positive = %6 : bool to ben
",
    inputs: [
        Input(Type::signed(16), &[1, 8], 300),
        Input(Type::signed(16), &[8, 1], -301),
    ],
};

/// Rows of a tile.
const TILE: u64 = 2;

/// Runs every party on a thread of its own, helpers included. With as many helpers as roles, the
/// owners of inputs and the receivers of results are outside.
fn session(cpu: Cpu, protocol: ProtocolName, helpers: &[&str], case: &Case) {
    force_tier(cpu);
    run(protocol, helpers, case, meshes);
}

/// The same, on channels that declare nothing public.
fn control(protocol: ProtocolName, helpers: &[&str], case: &Case) {
    run(protocol, helpers, case, Mesh::in_memory);
}

fn run(protocol: ProtocolName, helpers: &[&str], case: &Case, meshes: fn(usize) -> Vec<Mesh>) {
    // Values that all parties know of a run.
    let job = unwatched(|| {
        let program = parse(case.program, "checked").unwrap_or_else(|error| panic!("{error}"));
        let helpers = helpers.iter().map(|name| name.to_string()).collect();
        let job = Job::in_tiles(program, protocol, NetworkClass::LAN, helpers, TILE);
        job.unwrap_or_else(|error| panic!("{error}"))
    });
    thread::scope(|threads| {
        for mut mesh in meshes(job.parties().len()) {
            let job = &job;
            threads.spawn(move || {
                let me = mesh.me().index();
                let inputs = case.inputs.iter().enumerate();
                let inputs = inputs.map(|(owner, of)| (owner == me).then(|| input(of)));
                let inputs = inputs.collect::<Vec<_>>();
                let mut seed = 0x5ea1_a4e5 + me as u64;
                secret(bytemuck::bytes_of_mut(&mut seed));
                let journal = &mut Journal::silent();
                let report = danger_run_with_seed(job, &inputs, &mut mesh, seed, journal);
                black_box(report.unwrap_or_else(|error| panic!("{error}")));
            });
        }
    });
    unwatched(|| drop(job));
}

/// Returns secret elements, all different.
fn input(Input(ty, shape, factor): &Input) -> Data {
    let count = shape.iter().product::<u64>();
    let numbers = (0..i128::from(count)).map(|i| (i * 11 % 41 + 5) * factor);
    let data = Data::from_numbers(*ty, shape.to_vec(), &numbers.collect::<Vec<_>>());
    let mut data = data.expect("numbers of the type");
    secret(bytemuck::cast_slice_mut(&mut data.elements));
    data
}

/// Forces the tier that the engine chooses.
fn force_tier(cpu: Cpu) {
    // SAFETY: checks run one after another, each ends with its threads, and this one has not begun
    // any: nobody else reads or writes the environment.
    unsafe { std::env::set_var(TIER_VARIABLE, cpu.tier().name()) };
}
