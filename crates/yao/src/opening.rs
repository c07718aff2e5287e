//! Step 6 piece by piece, so that an opening takes little memory beside the labels of its results.

use crate::Labels;
use sealane_block::Block;
use sealane_garble::decode;
use sealane_net::Mesh;
use sealane_party::{Fault, Opened, Result, Shares, Words};
use std::ops::Range;
use zeroize::Zeroizing;

/// The values of each result that this party learns.
pub(crate) type Revealed = Vec<Option<Words>>;

/// Labels that are hashed, sent and compared at a time.
const PIECE: usize = 1 << 12;

/// Numbers of so many labels, a piece at a time.
fn pieces(count: usize) -> impl Iterator<Item = Range<usize>> {
    let firsts = (0..count).step_by(PIECE);
    firsts.map(move |first| first..count.min(first + PIECE))
}

/// Sends `N` hashes of each label of each result to all others that learn it. `hash` computes
/// those of labels from a number of a call on.
pub(crate) fn send<const N: usize>(
    results: &[Opened<Labels>],
    calls: &[u64],
    mesh: &mut Mesh,
    hash: impl Fn((u64, usize), &[Block], &mut [Block]),
) -> Result<()> {
    let me = mesh.me();
    let mut hashes = Zeroizing::new(vec![Block::ZERO; N * PIECE]);
    for (Opened { share, to, .. }, call) in results.iter().zip(calls) {
        let others = to.iter().filter(|to| *to != me).collect::<Vec<_>>();
        for piece in pieces(share.data().len()).filter(|_| !others.is_empty()) {
            let hashes = &mut hashes[..N * piece.len()];
            hash((*call, piece.start), &share.data()[piece], hashes);
            for other in &others {
                mesh.send(*other, Block::as_bytes(hashes))?;
            }
        }
    }
    Ok(())
}

/// Returns the results that this party learns. `hashes` fills in hashes of both labels and of the
/// active one, for a piece of the labels of the result of a number.
///
/// # Errors
/// [`Fault::CheckFailed`] if any label is neither of its two, once all are compared;
/// [`Fault::Internal`] if an element does not fit a word.
pub(crate) fn learn(
    results: &[Opened<Labels>],
    mesh: &mut Mesh,
    mut hashes: impl FnMut(
        &mut Mesh,
        (usize, Range<usize>),
        &mut [[Block; 2]],
        &mut [Block],
    ) -> Result<()>,
) -> Result<Revealed> {
    let mut table = Zeroizing::new(vec![[Block::ZERO; 2]; PIECE]);
    let mut active = Zeroizing::new(vec![Block::ZERO; PIECE]);
    let mut bits = Zeroizing::new(vec![0; PIECE]);
    let (mut revealed, mut right) = (Vec::new(), true);
    for (result, Opened { share, to, .. }) in results.iter().enumerate() {
        if !to.contains(mesh.me()) {
            revealed.push(None);
            continue;
        }
        let (planes, elements) = (share.planes(), share.elements());
        if planes > 64 {
            let what = "an element that is opened does not fit a word";
            return Err(Fault::internal(what));
        }
        let mut words = Zeroizing::new(vec![0; elements]);
        let (mut plane, mut element) = (0, 0);
        for piece in pieces(planes * elements) {
            let count = piece.len();
            let (table, active) = (&mut table[..count], &mut active[..count]);
            hashes(mesh, (result, piece), table, active)?;
            right &= decode(active, table, &mut bits[..count]).is_ok();
            for bit in &bits[..count] {
                words[element] |= u64::from(*bit) << plane;
                element += 1;
                if element == elements {
                    (plane, element) = (plane + 1, 0);
                }
            }
        }
        revealed.push(Some(words));
    }
    verdict(right, revealed)
}

/// The verdict on all labels, which the run makes public; results are erased when it is bad.
// It has a stack frame of its own, by which the check of secrets tells this branch from all others.
#[inline(never)]
fn verdict(right: bool, revealed: Revealed) -> Result<Revealed> {
    if right {
        Ok(revealed)
    } else {
        Err(Fault::CheckFailed)
    }
}
