//! Whole sessions through the engine, under every protocol: handshake, work of one party alone,
//! tiles, steps, reveal and farewell. Inputs and all random choices are secret at each party.

use crate::Check;
use crate::crossing::meshes;
use crate::request::{secret, unwatched};
use sealane_block::Cpu;
use sealane_block::cpu::TIER_VARIABLE;
use sealane_engine::{Job, Journal, NetworkClass, ProtocolName, danger_run_with_seed};
use sealane_program::text::parse;
use sealane_program::types::{Data, Type};
use std::hint::black_box;
use std::thread;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("yao: through the engine", |cpu| {
        session(cpu, ProtocolName::Yao, &[]);
    }),
    ("yao-three-halves: through the engine", |cpu| {
        session(cpu, ProtocolName::YaoThreeHalves, &[]);
    }),
    ("yao: through the engine, outside", |cpu| {
        session(cpu, ProtocolName::Yao, &["ada", "bob"]);
    }),
    ("trio: through the engine", |cpu| {
        session(cpu, ProtocolName::Trio, &["ada", "bob", "cyd"]);
    }),
    ("gmw: through the engine", |cpu| {
        session(cpu, ProtocolName::Gmw, &[]);
    }),
    ("gmw: through the engine, outside", |cpu| {
        session(cpu, ProtocolName::Gmw, &["ada", "bob"]);
    }),
    ("mixed: through the engine", |cpu| {
        session(cpu, ProtocolName::Mixed, &[]);
    }),
    ("clear: through the engine", |cpu| {
        session(cpu, ProtocolName::Clear, &[]);
    }),
];

/// A program with squares that ann computes alone, and joint work: a comparison, products, a sum
/// over tiles of rows, and a loop. Each party learns another part.
const PROGRAM: &str = "\
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
";

/// Elements of each input: two tiles and a half.
const ROWS: u64 = 5;
/// Rows of a tile.
const TILE: u64 = 2;

/// Runs every party on a thread of its own, helpers included. With as many helpers as roles, the
/// owners of inputs and the receivers of results are outside.
fn session(cpu: Cpu, protocol: ProtocolName, helpers: &[&str]) {
    force_tier(cpu);
    // Values that all parties know of a run.
    let job = unwatched(|| {
        let program = parse(PROGRAM, "checked").unwrap_or_else(|error| panic!("{error}"));
        let helpers = helpers.iter().map(|name| name.to_string()).collect();
        let job = Job::in_tiles(program, protocol, NetworkClass::LAN, helpers, TILE);
        job.unwrap_or_else(|error| panic!("{error}"))
    });
    thread::scope(|threads| {
        for mut mesh in meshes(job.parties().len()) {
            let job = &job;
            threads.spawn(move || {
                let me = mesh.me().index();
                let inputs = [(Type::U8, 3), (Type::signed(8), -2)]
                    .into_iter()
                    .enumerate();
                let inputs =
                    inputs.map(|(owner, (ty, factor))| (owner == me).then(|| input(ty, factor)));
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
fn input(ty: Type, factor: i128) -> Data {
    let numbers = (0..i128::from(ROWS)).map(|i| (i * 11 + 5) * factor);
    let data = Data::from_numbers(ty, vec![ROWS], &numbers.collect::<Vec<_>>());
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
