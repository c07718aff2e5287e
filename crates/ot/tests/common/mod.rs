//! Two parties over memory channels, and sources of correlated OTs.

mod cots;

pub use cots::{AnyReceiver, AnySender, Cots};

use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::softspoken::{Receiver, Sender};
use sealane_ot::traits::{choice, packed_blocks};
use sealane_ot::{Flights, Result, Security, SoftSpoken};
use sealane_parties::PartyId;
use sealane_testkit::record::recorded;
use std::fmt::Debug;
use std::thread;

pub const SENDER: PartyId = PartyId(0);
pub const RECEIVER: PartyId = PartyId(1);
/// An offset with both bits in every region; bit 0 is 1, as in the garbler's.
pub const DELTA: Block = Block::new(0x8f0e_6a51_c3d2_7b94_00ff_1234_9abc_def1);

/// The parameters that all tests run with: every k, both kinds of security.
pub fn all_parameters() -> impl Iterator<Item = SoftSpoken> {
    let of = |k| [Security::SemiHonest, Security::Malicious].map(|s| SoftSpoken::new(k, s));
    (1..=8).flat_map(of)
}

/// Runs both parties on threads of their own, and flushes what they write last.
pub fn pair<A: Send, B: Send>(
    sender: impl FnOnce(&mut Mesh) -> Result<A> + Send,
    receiver: impl FnOnce(&mut Mesh) -> Result<B> + Send,
) -> (A, B) {
    honest(Mesh::in_memory(2), sender, receiver)
}

/// Runs both parties as [`pair`] does; returns what the sender and what the receiver hears.
pub fn heard<A: Send, B: Send>(
    sender: impl FnOnce(&mut Mesh) -> Result<A> + Send,
    receiver: impl FnOnce(&mut Mesh) -> Result<B> + Send,
) -> [Vec<u8>; 2] {
    let (meshes, logs) = recorded(2);
    honest(meshes, sender, receiver);
    [logs[0][1].heard(), logs[1][0].heard()]
}

/// Runs both parties as [`pair`] does, over these meshes.
pub fn honest<A: Send, B: Send>(
    meshes: Vec<Mesh>,
    sender: impl FnOnce(&mut Mesh) -> Result<A> + Send,
    receiver: impl FnOnce(&mut Mesh) -> Result<B> + Send,
) -> (A, B) {
    fn flushed<T>(
        party: impl FnOnce(&mut Mesh) -> Result<T> + Send,
    ) -> impl FnOnce(&mut Mesh) -> Result<T> + Send {
        move |mesh: &mut Mesh| {
            let got = party(mesh)?;
            mesh.flush()?;
            Ok(got)
        }
    }
    let meshes = meshes.try_into().ok().expect("two parties");
    let (sender, receiver) = over(meshes, flushed(sender), flushed(receiver));
    // Both have ended before either result is judged, so that the first cause is shown.
    let sender = sender.expect("the sender's run");
    (sender, receiver.expect("the receiver's run"))
}

/// Runs both parties over these meshes, on threads of their own. A mesh is dropped when its party
/// is done or fails.
pub fn over<A: Send, B: Send>(
    [mut here, mut there]: [Mesh; 2],
    sender: impl FnOnce(&mut Mesh) -> A + Send,
    receiver: impl FnOnce(&mut Mesh) -> B + Send,
) -> (A, B) {
    thread::scope(|scope| {
        let sender = scope.spawn(move || sender(&mut here));
        let receiver = scope.spawn(move || receiver(&mut there));
        (join(sender), join(receiver))
    })
}

/// The result of a thread, or its panic.
fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    let ended = thread.join();
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Result of a run at the sender, and the bytes that it sends and receives in it.
pub fn counted<T>(
    mesh: &mut Mesh,
    run: impl FnOnce(&mut Mesh) -> Result<T>,
) -> Result<(T, [u64; 2])> {
    let crossed = |mesh: &Mesh| [mesh.payload_sent(RECEIVER), mesh.payload_received(RECEIVER)];
    let before = crossed(mesh);
    let got = run(mesh)?;
    let after = crossed(mesh);
    Ok((got, [after[0] - before[0], after[1] - before[1]]))
}

pub fn set_up_sender(
    parameters: SoftSpoken,
    cpu: Cpu,
    mesh: &mut Mesh,
    peer: PartyId,
    seed: u64,
    delta: Block,
) -> Result<Sender> {
    let mut coins = Coins::danger_fixed_seed(seed);
    let setup = Sender::set_up(parameters, cpu, mesh, peer, delta, &mut coins)?;
    mesh.flush()?;
    setup.finish(mesh)
}

pub fn set_up_receiver(
    parameters: SoftSpoken,
    cpu: Cpu,
    mesh: &mut Mesh,
    peer: PartyId,
    seed: u64,
) -> Result<Receiver> {
    let mut coins = Coins::danger_fixed_seed(seed);
    let setup = Receiver::set_up(parameters, cpu, mesh, peer, &mut coins)?;
    mesh.flush()?;
    let receiver = setup.finish(mesh)?;
    mesh.flush()?;
    Ok(receiver)
}

/// Checks the outputs of correlated OTs, and that nothing but choices is among them.
pub fn assert_correlated(q: &[Block], t: &[Block], choices: &[Block], delta: Block) {
    assert_eq!(q.len(), t.len());
    assert_eq!(choices.len(), packed_blocks(t.len()));
    for (j, (q, t)) in q.iter().zip(t).enumerate() {
        let expected = *q ^ delta.masked(choice(choices, j));
        assert!(t.value() == expected.value(), "OT {j} of {}", choices.len());
    }
    if let (Some(last), rest @ 1..) = (choices.last(), t.len() % 128) {
        assert_eq!(last.value() >> rest, 0, "the rest of the last block");
    }
}

pub fn random_bits(count: usize, seed: u64) -> Vec<u8> {
    let mut bits = vec![0; count];
    let mut coins = Coins::danger_fixed_seed(seed);
    coins.secret("choices").fill_bytes(&mut bits);
    bits.iter_mut().for_each(|bit| *bit &= 1);
    bits
}

/// Asserts that every tier makes the same.
pub fn assert_same_on_every_tier<T: PartialEq>(all: impl Fn(Cpu) -> T) -> T {
    let first = all(Cpu::best());
    for cpu in Cpu::available() {
        assert!(all(cpu) == first, "{}", cpu.tier());
    }
    first
}

/// A line of a golden file: a digest of what every tier makes, written as numbers.
pub fn golden_line<T: PartialEq + Debug>(name: &str, all: impl Fn(Cpu) -> T) -> String {
    let text = format!("{:?}", assert_same_on_every_tier(all));
    format!("{name} {}\n", blake3::hash(text.as_bytes()))
}

/// Bytes from sender and from receiver.
pub fn bytes_of(flights: &Flights) -> [u64; 2] {
    flights.iter().fold([0; 2], |[sender, receiver], flight| {
        [sender + flight.from_sender, receiver + flight.from_receiver]
    })
}

pub fn random_blocks(count: usize, seed: u64) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; count];
    let mut coins = Coins::danger_fixed_seed(seed);
    coins.secret("blocks").fill(&mut blocks);
    blocks
}

pub fn values(blocks: &[Block]) -> Vec<u128> {
    blocks.iter().map(|block| block.value()).collect()
}

/// Bounds of [`chi_square`] for uniform bytes. There are 255 degrees of freedom: mean 255,
/// deviation 22.6. Uniform bytes stay within five deviations with probability above 1 - 10^-5, and
/// the coins of tests are fixed.
pub const PLAUSIBLE: std::ops::Range<f64> = 142.0..368.0;

pub fn assert_uniform(name: &str, bytes: &[u8]) {
    let statistic = chi_square(bytes);
    assert!(PLAUSIBLE.contains(&statistic), "{name}: {statistic}");
}

/// Pearson's statistic of the byte histogram against the uniform one.
pub fn chi_square(bytes: &[u8]) -> f64 {
    let mut histogram = [0.0; 256];
    for &byte in bytes {
        histogram[usize::from(byte)] += 1.0;
    }
    let expected = bytes.len() as f64 / 256.0;
    let cell = |seen: &f64| (seen - expected).powi(2) / expected;
    histogram.iter().map(cell).sum()
}
