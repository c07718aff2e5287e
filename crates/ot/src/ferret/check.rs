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
//! The encoding adds rows of the same matrix times vectors that are correlated, since the check of
//! the iteration before held; so the rows are correct exactly if the leaves of the trees are. A sum
//! over rows instead of leaves has the choices in the open, as bits, where a sum over leaves would
//! need the powers at places that are secret.
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
use sealane_block::{Block, Cpu};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::params::CHECK;
use crate::OtError;

/// Bytes of the point, of the masked sum of powers, and of the proof.
pub(super) const POINT_BYTES: u64 = 16;
pub(super) const SHIFT_BYTES: u64 = 16;
pub(super) const PROOF_BYTES: u64 = 32;

/// The parties and the number of an iteration, which go into the hash of its proof.
#[derive(Clone, Copy)]
pub(super) struct Binding {
    pub(super) cpu: Cpu,
    pub(super) peer: PartyId,
    pub(super) iteration: u64,
}

/// Runs the sender's part for these rows.
pub(super) fn prove(
    mesh: &mut Mesh,
    binding: Binding,
    delta: Block,
    rows: &[Block],
    masks: &[Block],
) -> Result<(), OtError> {
    let Binding { cpu, peer, .. } = binding;
    mesh.flush()?;
    let point = receive_block(mesh, peer)?;
    let sum = Point::new(cpu, point).sum(rows) ^ monomials(cpu).sum(masks);
    let shift = receive_block(mesh, peer)?;
    let shifted = gf::mul(cpu, Order::Polynomial, shift, delta);
    let parties = [mesh.me(), peer];
    let proof = hash(mesh, parties, binding.iteration, sum ^ shifted);
    mesh.send(peer, &*proof)?;
    Ok(())
}

/// Runs the receiver's part for these rows and their choices, with a random point.
pub(super) fn verify(
    mesh: &mut Mesh,
    binding: Binding,
    point: Block,
    (rows, choices): (&[Block], &[Block]),
    (masks, mask_choices): (&[Block], Block),
) -> Result<(), OtError> {
    let Binding { cpu, peer, .. } = binding;
    send_block(mesh, peer, point)?;
    mesh.flush()?;
    let (at, monomials) = (Point::new(cpu, point), monomials(cpu));
    let mask = monomials.sum_of_bits(&[mask_choices]);
    send_block(mesh, peer, at.sum_of_bits(choices) ^ mask)?;
    mesh.flush()?;
    let sum = at.sum(rows) ^ monomials.sum(masks);
    let parties = [peer, mesh.me()];
    let expected = hash(mesh, parties, binding.iteration, sum);
    let mut proof = [0; PROOF_BYTES as usize];
    mesh.recv(peer, &mut proof)?;
    verdict(proof.ct_eq(&*expected), peer)
}

/// The verdict, which the sender learns from how the run goes on.
// It has a stack frame of its own, by which the check of secrets tells this branch from all others,
// including those of the comparison.
#[inline(never)]
fn verdict(equal: Choice, peer: PartyId) -> Result<(), OtError> {
    match bool::from(equal) {
        true => Ok(()),
        false => Err(OtError::CheckFailed(peer)),
    }
}

/// The point whose powers are the monomials, so that every element is the sum of one choice of
/// them.
fn monomials(cpu: Cpu) -> Point {
    Point::new(cpu, Block::new(2))
}

fn hash(
    mesh: &Mesh,
    [sender, receiver]: [PartyId; 2],
    iteration: u64,
    sum: Block,
) -> Zeroizing<[u8; PROOF_BYTES as usize]> {
    let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key("sealane 6 ot ferret check"));
    hasher
        .update(mesh.session().as_bytes())
        .update(&[sender.0, receiver.0])
        .update(&iteration.to_le_bytes())
        .update(&*Zeroizing::new(sum.to_bytes()));
    Zeroizing::new(*hasher.finalize().as_bytes())
}

fn send_block(mesh: &mut Mesh, peer: PartyId, block: Block) -> Result<(), OtError> {
    Ok(mesh.send(peer, Block::as_bytes(&[block]))?)
}

fn receive_block(mesh: &mut Mesh, peer: PartyId) -> Result<Block, OtError> {
    let mut block = [Block::ZERO];
    mesh.recv(peer, Block::as_bytes_mut(&mut block))?;
    Ok(block[0])
}

const _: () = assert!(CHECK == sealane_block::silent::sums::CHUNK);
