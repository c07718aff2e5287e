//! Correlated OTs whose choices the receiver gives.

use crate::Result;
use crate::traits::{CotReceiver, CotSender, GivenReceiver, GivenSender, pack, packed_blocks};
use sealane_block::Block;
use sealane_net::Mesh;
use zeroize::Zeroizing;

/// Returns the bytes by which the receiver tells how its choices differ from the random ones.
pub const fn given_bytes(count: u64) -> u64 {
    count.div_ceil(8)
}

/// Fills `q` as the sender; the receiver calls [`receive_given`] for as many.
///
/// # Errors
/// As [`CotSender::extend`].
pub fn send_given<S: CotSender + ?Sized>(
    cot: &mut S,
    mesh: &mut Mesh,
    q: &mut [Block],
) -> Result<()> {
    cot.extend(mesh, q)?;
    let mut differences = vec![Block::ZERO; packed_blocks(q.len())];
    let bytes = &mut Block::as_bytes_mut(&mut differences)[..q.len().div_ceil(8)];
    mesh.recv(cot.terms().peer, bytes)?;
    let delta = Zeroizing::new(cot.delta());
    for (q, &d) in q.chunks_mut(128).zip(&differences) {
        for (j, q) in q.iter_mut().enumerate() {
            *q ^= delta.masked((d.value() >> j) as u8);
        }
    }
    Ok(())
}

/// Fills `t` with the labels of `choices`, one byte each, of which bit 0 counts. Messages that it
/// writes last are not flushed.
///
/// # Errors
/// As [`CotReceiver::extend`].
///
/// # Panics
/// If `choices` and `t` differ in length.
pub fn receive_given<R: CotReceiver + ?Sized>(
    cot: &mut R,
    mesh: &mut Mesh,
    choices: &[u8],
    t: &mut [Block],
) -> Result<()> {
    assert_eq!(choices.len(), t.len(), "one label for each choice");
    let mut random = Zeroizing::new(vec![Block::ZERO; packed_blocks(t.len())]);
    cot.extend(mesh, &mut random, t)?;
    let mut differences = Zeroizing::new(vec![Block::ZERO; random.len()]);
    pack(choices, &mut differences);
    for (d, &r) in differences.iter_mut().zip(&*random) {
        *d ^= r;
    }
    let bytes = &Block::as_bytes(&differences)[..t.len().div_ceil(8)];
    mesh.send(cot.terms().peer, bytes)?;
    Ok(())
}

impl<S: CotSender + ?Sized> GivenSender for S {
    fn given(&mut self, mesh: &mut Mesh, q: &mut [Block]) -> Result<()> {
        send_given(self, mesh, q)
    }
}

impl<R: CotReceiver + ?Sized> GivenReceiver for R {
    fn given(&mut self, mesh: &mut Mesh, choices: &[u8], t: &mut [Block]) -> Result<()> {
        receive_given(self, mesh, choices, t)
    }
}
