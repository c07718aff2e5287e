//! The check of an iteration (Ferret, section 4.2, Figure 6: the batched check of all its
//! single-point OTs at once), on the rows after their encoding.
//!
//! The receiver picks a random point `z` of GF(2^128) when it has all messages of the trees. With
//! `V` the sum of `z^(n-1-j) q_j` over all rows, `W` that of `z^(n-1-j) t_j` and `F` that of the
//! powers whose choice is 1, correct rows have `W = V + F delta`. `F` is masked by a random element
//! `x*`, of which 128 correlations of the iteration before make `w* = v* + x* delta`.
//!
//! ```text
//! receiver                         sender
//! z                  ------->
//! x' = F + x*        ------->      V' = V + v* + x' delta
//!                    <-------      H(V')
//! refuses unless it is H(W + w*)
//! ```
//!
//! Each party also tells the digest of all that it has sent, so that a message that was altered by
//! a fault of the programs is told apart from one that fails the check (module `transcript`). What
//! crosses is public, and digests say nothing new about it.
//!
//! The encoding adds rows of the same matrix times vectors that are correlated, since the check of
//! the iteration before held; so the rows are correct exactly if the leaves of the trees are, or if
//! their errors cancel in each sum of three leaves ([`places`](super::places)). A sum over rows
//! instead of leaves has the choices in the open, as bits, where a sum over leaves would need the
//! powers at places that are secret.
//!
//! **A corrupt sender** whose messages are consistent for some paths of the receiver and not for
//! others passes if the receiver has one of the former, and so learns that it has: the leak of the
//! functionality of Ferret (Figure 4). Paths for
//! which it passes need not be a product of one set for each tree: it picks its answer after `z`.
//! Rows that are wrong in another way than those of its guess pass with a chance of at most 2^-53:
//! over all paths, the squared weight of such ways is at most `n / 2^128` in expectation.
//!
//! **A corrupt receiver** has no message that could be wrong but `x'`. If that is, it gets the hash
//! of a value that it knows but for a multiple of `delta`, which is no help to guess the other
//! bits of `delta` if `H` is a random oracle.

use sealane_block::gf::{self, Order};
use sealane_block::silent::sums::Point;
use sealane_block::{Block, Cpu, Nonce};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::params::CHECK;
use super::run::{Link, Outcome};
use crate::OtError;
use crate::transcript::{check_digest, send_digest};

/// Bytes of the point, of the masked sum of powers, and of the proof.
pub(super) const POINT_BYTES: u64 = 16;
pub(super) const SHIFT_BYTES: u64 = 16;
pub(super) const PROOF_BYTES: u64 = 32;

/// An iteration: its name, which goes into the hash of its proof, and the correlations that mask
/// the receiver's part.
pub(super) struct Binding<'a> {
    pub(super) cpu: Cpu,
    /// The run of the extension.
    pub(super) instance: Nonce,
    pub(super) iteration: u64,
    pub(super) masks: &'a [Block],
}

/// Runs the sender's part for these rows.
pub(super) fn prove(
    link: &mut Link<'_>,
    binding: &Binding<'_>,
    delta: Block,
    rows: &[Block],
) -> Outcome {
    let cpu = binding.cpu;
    link.flush()?;
    let mut point = [Block::ZERO];
    link.receive(&mut point)?;
    let sum = Point::new(cpu, point[0]).sum(rows) ^ monomials(cpu).sum(binding.masks);
    let mut shift = [Block::ZERO];
    link.receive(&mut shift)?;
    check_digest(link.mesh, link.peer)?;
    let shifted = gf::mul(cpu, Order::Polynomial, shift[0], delta);
    let proof = binding.hash(link.mesh, [link.mesh.me(), link.peer], sum ^ shifted);
    link.mesh.send(link.peer, &*proof)?;
    send_digest(link.mesh, link.peer)
}

/// Sends what the receiver asks with, for rows of these choices: a random point and the sum.
pub(super) fn ask(
    link: &mut Link<'_>,
    binding: &Binding<'_>,
    point: Block,
    choices: &[Block],
) -> Outcome {
    let cpu = binding.cpu;
    link.send(&[point])?;
    link.flush()?;
    let (at, monomials) = (Point::new(cpu, point), monomials(cpu));
    let bits = binding.masks.iter().rev();
    let bits = Zeroizing::new(bits.fold(0, |bits, mask| bits << 1 | u128::from(mask.lsb())));
    let mask = monomials.sum_of_bits(&[Block::new(*bits)]);
    link.send(&[at.sum_of_bits(choices) ^ mask])?;
    send_digest(link.mesh, link.peer)?;
    link.flush()
}

/// Compares the sender's proof with the receiver's rows, at the point that it asked with.
pub(super) fn compare(
    link: &mut Link<'_>,
    binding: &Binding<'_>,
    point: Block,
    rows: &[Block],
) -> Outcome {
    let cpu = binding.cpu;
    let sum = Point::new(cpu, point).sum(rows) ^ monomials(cpu).sum(binding.masks);
    let expected = binding.hash(link.mesh, [link.peer, link.mesh.me()], sum);
    let mut proof = [0; PROOF_BYTES as usize];
    link.mesh.recv(link.peer, &mut proof)?;
    check_digest(link.mesh, link.peer)?;
    verdict(proof.ct_eq(&*expected), link.peer)
}

/// The verdict, which the sender learns from how the run goes on.
// It has a stack frame of its own, by which the check of secrets tells this branch from all others,
// including those of the comparison.
#[inline(never)]
fn verdict(equal: Choice, peer: PartyId) -> Outcome {
    if bool::from(equal) {
        Ok(())
    } else {
        Err(OtError::CheckFailed(peer))
    }
}

/// The point whose powers are the monomials, so that every element is the sum of one choice of
/// them.
fn monomials(cpu: Cpu) -> Point {
    Point::new(cpu, Block::new(2))
}

impl Binding<'_> {
    pub(super) fn hash(
        &self,
        mesh: &Mesh,
        [sender, receiver]: [PartyId; 2],
        sum: Block,
    ) -> Zeroizing<[u8; PROOF_BYTES as usize]> {
        let mut hasher =
            Zeroizing::new(blake3::Hasher::new_derive_key("sealane 6 ot ferret check"));
        hasher
            .update(mesh.session().as_bytes())
            .update(&[sender.0, receiver.0])
            .update(self.instance.as_bytes())
            .update(&self.iteration.to_le_bytes())
            .update(&*Zeroizing::new(sum.to_bytes()));
        Zeroizing::new(*hasher.finalize().as_bytes())
    }
}

const _: () = assert!(CHECK == sealane_block::silent::sums::CHUNK);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ferret::tests::support::{RECEIVER, SENDER, in_memory};
    use sealane_net::SessionId;
    use std::collections::HashSet;

    /// The name of an iteration, with these masks.
    fn binding(instance: u8, iteration: u64, masks: &[Block]) -> Binding<'_> {
        let (cpu, instance) = (Cpu::best(), Nonce::from_bytes([instance; 32]));
        Binding {
            cpu,
            instance,
            iteration,
            masks,
        }
    }

    #[test]
    fn a_proof_belongs_to_one_session_instance_iteration_and_direction() {
        let (mut proofs, [mut mesh, _]) = (HashSet::new(), in_memory());
        for number in 0..16 {
            let [session, instance, iteration, swapped] = [0, 1, 2, 3].map(|bit| number >> bit & 1);
            mesh.set_session(SessionId::new(&[session; 32], &[]));
            let mut parties = [SENDER, RECEIVER];
            parties.rotate_left(swapped.into());
            let binding = binding(instance, iteration.into(), &[]);
            proofs.insert(*binding.hash(&mesh, parties, Block::ONES));
        }
        assert_eq!(proofs.len(), 16);
    }

    /// The masked sum of powers that a receiver sends if all its choices are 0.
    fn masked_sum(masks: &[Block]) -> u128 {
        let [mut sender, mut receiver] = in_memory();
        let (mesh, peer) = (&mut receiver, SENDER);
        let (name, point) = (binding(1, 1, masks), Block::new(5));
        ask(&mut Link { mesh, peer }, &name, point, &[Block::ZERO]).expect("memory");
        let (mesh, peer, mut heard) = (&mut sender, RECEIVER, [Block::ZERO; 2]);
        Link { mesh, peer }.receive(&mut heard).expect("memory");
        heard[1].value()
    }

    #[test]
    fn the_sum_of_powers_is_hidden_by_the_choices_of_all_masks() {
        let hidden = (0..CHECK).map(|i| {
            let mut masks = [Block::ZERO; CHECK];
            masks[i] = Block::new(1);
            masked_sum(&masks)
        });
        assert_eq!(hidden.fold(0, |all, bit| all | bit), u128::MAX);
    }
}
