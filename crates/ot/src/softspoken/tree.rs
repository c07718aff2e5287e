//! Trees of which one party knows all leaves, and the other all but one of its choice.
//!
//! Roy, "SoftSpokenOT" (CRYPTO 2022), all-but-one OT: the punctured function of Goldreich,
//! Goldwasser and Micali, over one base OT for each level, with the check of Boyle and
//! others ("Efficient Two-Round OT Extension and Silent Non-Interactive Secure Computation", CCS
//! 2019) against a dealer of inconsistent trees.
//!
//! The *dealer* (receiver of correlated OTs) holds both keys of each base OT, the *chooser* the one
//! of bit `a_b` of its number `a`. Node `n` of level `l` has children `n` and `n + 2^l` at level
//! `l + 1`, so bit `l` of a leaf's number is the side taken at level `l`.
//!
//! * The children of the root are the keys of OT 0, exchanged: the chooser knows that of the other
//!   side than `a_0`.
//! * For each further level the dealer sends, under the two keys of its OT, exchanged alike, the
//!   sums of all children on either side. The chooser knows all nodes but one, so the sum of the
//!   other side gives it that node's child there.
//! * With the check, each leaf also gives 32 bytes; the dealer sends their sum, from which the
//!   chooser gets those of its missing leaf, and the hash of all, which must agree. If the trees
//!   that two choices would get both agree, they are equal, since such bytes determine a leaf
//!   (BLAKE3 is collision resistant); so a dealer that deviates is caught unless it guesses a part
//!   of `a`.
//!
//! The chooser keeps nodes in the order of `y ^ a`. Its missing node always comes first, and no
//! address or branch depends on `a`.

use super::subspace::Subspace;
use crate::traits::choice;
use crate::transcript::check_equal;
use crate::{OtError, Result};
use sealane_block::{Block, Seed};
use sealane_net::SessionId;
use sealane_parties::PartyId;
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroizing;

/// Bytes of a node, and of what a leaf gives to the check.
const NODE: usize = Seed::BYTES;

/// A node as bytes that can be summed.
type Node = Zeroizing<[u8; NODE]>;

/// Bytes of the dealer's message, for all trees.
pub(super) fn message_bytes(parameters: Subspace) -> usize {
    let tree = |bits: usize| {
        let check = if checked(parameters, bits) {
            2 * NODE
        } else {
            0
        };
        2 * NODE * (bits - 1) + check
    };
    parameters
        .columns()
        .map(|columns| tree(columns.len()))
        .sum()
}

/// A tree of one level is two keys of an OT, where nothing can be inconsistent.
fn checked(parameters: Subspace, bits: usize) -> bool {
    parameters.malicious() && bits > 1
}

/// The trees of a dealer.
pub(super) struct Dealt {
    /// The message for the chooser, of [`message_bytes`]. It is no secret, but made of some.
    pub(super) message: Zeroizing<Vec<u8>>,
    /// The leaves of each tree.
    pub(super) trees: Vec<Vec<Seed>>,
}

/// Makes the trees of the dealer.
pub(super) fn deal(parameters: Subspace, keys: &[[Seed; 2]], session: SessionId) -> Dealt {
    let mut message = Zeroizing::new(Vec::with_capacity(message_bytes(parameters)));
    let mut trees = Vec::new();
    for columns in parameters.columns() {
        let keys = &keys[columns];
        // Room for all leaves from the start, so that no node is left where a vector was.
        let mut nodes = Vec::with_capacity(1 << keys.len());
        nodes.extend([keys[0][1].clone(), keys[0][0].clone()]);
        for [zero, one] in &keys[1..] {
            let mut sums = [Node::default(), Node::default()];
            for n in 0..nodes.len() {
                let [left, right] = children(&nodes[n], session);
                add(&mut sums[0], left.as_bytes());
                add(&mut sums[1], right.as_bytes());
                nodes[n] = left;
                nodes.push(right);
            }
            for (sum, key) in sums.iter_mut().zip([one, zero]) {
                add(sum, &pad(key, session));
                message.extend_from_slice(&sum[..]);
            }
        }
        if checked(parameters, keys.len()) {
            let proofs: Vec<Node> = nodes.iter().map(|leaf| proof(leaf, session)).collect();
            message.extend_from_slice(&sum_of(&proofs)[..]);
            message.extend_from_slice(&hash_of(&proofs, session));
        }
        trees.push(nodes);
    }
    Dealt { message, trees }
}

/// Reads the message of the dealer, `from`, and returns the leaves of each tree that the chooser
/// knows, in the order of `y ^ a` from 1 on.
///
/// # Errors
/// [`OtError::CheckFailed`] if the dealer's trees are inconsistent. All trees are looked at before,
/// so that time does not tell which.
pub(super) fn choose(
    parameters: Subspace,
    keys: &[Seed],
    numbers: &[Block],
    session: SessionId,
    message: &[u8],
    from: PartyId,
) -> Result<Vec<Vec<Seed>>> {
    let (nodes, _) = message.as_chunks::<NODE>();
    let mut message = nodes.iter();
    let mut read = || *message.next().expect("as long as its parameters say");
    let mut trees = Vec::new();
    let (mut ours, mut theirs) = (blake3::Hasher::new(), blake3::Hasher::new());
    for columns in parameters.columns() {
        let first = columns.start;
        let choice = |level: usize| Choice::from(choice(numbers, first + level));
        let keys = &keys[columns];
        // All nodes but the missing one, node 0: node `i` is the one at `i - 1`. There is room for
        // all leaves from the start.
        let mut nodes = Vec::with_capacity((1 << keys.len()) - 1);
        nodes.push(keys[0].clone());
        for (level, key) in keys.iter().enumerate().skip(1) {
            let choice = choice(level);
            let [left, right] = [read(), read()];
            // The sum of the other side than the choice.
            let mut recovered = select(&right, &left, choice);
            add(&mut recovered, &pad(key, session));
            let parents = nodes.len();
            // Its place is the first behind the children on the side of the choice.
            nodes.push(seed(&recovered));
            for n in 0..parents {
                let [left, right] = children(&nodes[n], session);
                let (left, right) = (left.as_bytes(), right.as_bytes());
                nodes[n] = seed(&select(left, right, choice));
                let other = seed(&select(right, left, choice));
                add(&mut recovered, other.as_bytes());
                nodes.push(other);
            }
            nodes[parents] = seed(&recovered);
        }
        if checked(parameters, keys.len()) {
            let (sum, expected) = (Node::new(read()), read());
            let mut proofs = Vec::with_capacity(1 << keys.len());
            proofs.push(sum);
            proofs.extend(nodes.iter().map(|leaf| proof(leaf, session)));
            proofs[0] = sum_of(&proofs);
            // Back to the order of y: exchanges pairs whose numbers differ in a bit that `a` has.
            for level in 0..keys.len() {
                for y in (0..proofs.len()).filter(|y| y >> level & 1 == 0) {
                    let (low, high) = proofs.split_at_mut(y + (1 << level));
                    swap(&mut low[y], &mut high[0], choice(level));
                }
            }
            ours.update(&hash_of(&proofs, session));
            theirs.update(&expected);
        }
        trees.push(nodes);
    }
    let [ours, theirs] = [ours, theirs].map(|hash| *hash.finalize().as_bytes());
    check_equal(&ours, &theirs, OtError::CheckFailed(from))?;
    Ok(trees)
}

/// Returns `a`, or `b` if the choice is 1.
fn select(a: &[u8; NODE], b: &[u8; NODE], choice: Choice) -> Node {
    let mut selected = Zeroizing::new(*a);
    for (byte, b) in selected.iter_mut().zip(b) {
        byte.conditional_assign(b, choice);
    }
    selected
}

/// Exchanges `a` and `b` if the choice is 1.
fn swap(a: &mut [u8; NODE], b: &mut [u8; NODE], choice: Choice) {
    for (a, b) in a.iter_mut().zip(b) {
        u8::conditional_swap(a, b, choice);
    }
}

fn children(node: &Seed, session: SessionId) -> [Seed; 2] {
    let mut stream = node.stream("ot: children", session.as_bytes());
    [stream.seed(), stream.seed()]
}

/// The bytes of a leaf that the check sees.
fn proof(leaf: &Seed, session: SessionId) -> Node {
    bytes(leaf, "ot: check of a tree", session)
}

/// The pad under which a sum is sent.
fn pad(key: &Seed, session: SessionId) -> Node {
    bytes(key, "ot: sum of nodes", session)
}

fn bytes(seed: &Seed, label: &'static str, session: SessionId) -> Node {
    let mut bytes = Node::default();
    seed.stream(label, session.as_bytes())
        .fill_bytes(&mut bytes[..]);
    bytes
}

fn seed(bytes: &[u8; NODE]) -> Seed {
    Seed::from_bytes(bytes)
}

fn add(sum: &mut [u8; NODE], node: &[u8; NODE]) {
    sum.iter_mut()
        .zip(node)
        .for_each(|(sum, byte)| *sum ^= byte);
}

fn sum_of(nodes: &[Node]) -> Node {
    let mut sum = Node::default();
    nodes.iter().for_each(|node| add(&mut sum, node));
    sum
}

fn hash_of(proofs: &[Node], session: SessionId) -> [u8; NODE] {
    let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key("sealane 6 ot tree"));
    hasher.update(session.as_bytes());
    for proof in proofs {
        hasher.update(&proof[..]);
    }
    *hasher.finalize().as_bytes()
}
