//! Two parties over memory channels.

use sealane_block::{Block, Coins, Cpu};
use sealane_net::Mesh;
use sealane_ot::{CotReceiver, CotSender, OtError};
use sealane_parties::PartyId;
use std::thread;

pub const SENDER: PartyId = PartyId(0);
pub const RECEIVER: PartyId = PartyId(1);
/// An offset with both bits in every region; bit 0 is 1, as in the garbler's.
pub const DELTA: Block = Block::new(0x8f0e_6a51_c3d2_7b94_00ff_1234_9abc_def1);

/// Runs both parties on threads of their own. A mesh is dropped when its party is done or fails.
pub fn pair<A: Send, B: Send>(
    sender: impl FnOnce(Mesh) -> Result<A, OtError> + Send,
    receiver: impl FnOnce(Mesh) -> Result<B, OtError> + Send,
) -> (A, B) {
    let mut meshes = Mesh::in_memory(2);
    let receiver_mesh = meshes.pop().expect("party 1");
    let sender_mesh = meshes.pop().expect("party 0");
    thread::scope(|scope| {
        let sender = scope.spawn(move || sender(sender_mesh));
        let receiver = scope.spawn(move || receiver(receiver_mesh));
        // Both are joined before either result is judged, so that the first cause is shown.
        let (sender, receiver) = (join(sender), join(receiver));
        (
            sender.expect("the sender's run"),
            receiver.expect("the receiver's run"),
        )
    })
}

/// The result of a thread, or its panic.
pub fn join<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

pub fn set_up_sender(
    cpu: Cpu,
    mesh: &mut Mesh,
    peer: PartyId,
    seed: u64,
    delta: Block,
) -> Result<CotSender, OtError> {
    let mut coins = Coins::danger_fixed_seed(seed);
    let cot = CotSender::setup(cpu, mesh, peer, delta, &mut coins)?;
    mesh.flush()?;
    Ok(cot)
}

pub fn set_up_receiver(cpu: Cpu, mesh: &mut Mesh, seed: u64) -> Result<CotReceiver, OtError> {
    CotReceiver::setup(cpu, mesh, SENDER, &mut Coins::danger_fixed_seed(seed))
}

pub fn best_cpu() -> Cpu {
    Cpu::detect().expect("every machine has a tier")
}
