//! STUB, replaced when the branch of the base OTs is merged.
use curve25519_dalek::{constants::RISTRETTO_BASEPOINT_POINT as G, ristretto::*, scalar::Scalar};
use sealane_block::{Block, Coins, Seed};
use sealane_net::SessionId;
use sealane_parties::PartyId;
pub(crate) const RECEIVER_BYTES: usize = 128 * 64;
pub(crate) const SENDER_BYTES: usize = 32;
#[derive(Debug)]
pub(crate) struct MalformedPoint;
#[derive(Clone, Copy)]
pub(crate) struct Roles {
    pub(crate) session: SessionId,
    pub(crate) sender: PartyId,
    pub(crate) receiver: PartyId,
}
fn scalar(coins: &mut Coins) -> Scalar {
    let mut w = [0; 64];
    coins.secret("x").fill_bytes(&mut w);
    Scalar::from_bytes_mod_order_wide(&w)
}
fn h(bytes: &[u8]) -> RistrettoPoint {
    let mut o = [0; 64];
    blake3::Hasher::new()
        .update(bytes)
        .finalize_xof()
        .fill(&mut o);
    RistrettoPoint::from_uniform_bytes(&o)
}
fn key(r: Roles, i: usize, p: RistrettoPoint) -> Seed {
    Seed::from_bytes(
        blake3::Hasher::new()
            .update(r.session.as_bytes())
            .update(&[i as u8])
            .update(p.compress().as_bytes())
            .finalize()
            .as_bytes(),
    )
}
fn dec(b: &[u8]) -> Result<RistrettoPoint, MalformedPoint> {
    CompressedRistretto::from_slice(b)
        .unwrap()
        .decompress()
        .filter(|p| *p != RistrettoPoint::default())
        .ok_or(MalformedPoint)
}
pub(crate) struct Sender {
    r: Roles,
    b: Scalar,
    m: [u8; 32],
}
impl Sender {
    pub(crate) fn new(r: Roles, coins: &mut Coins) -> Sender {
        let b = scalar(coins);
        Sender {
            r,
            b,
            m: (G * b).compress().to_bytes(),
        }
    }
    pub(crate) fn message(&self) -> &[u8; 32] {
        &self.m
    }
    pub(crate) fn keys(
        self,
        from: &[u8; RECEIVER_BYTES],
    ) -> Result<Vec<[Seed; 2]>, MalformedPoint> {
        from.chunks(64)
            .enumerate()
            .map(|(i, c)| {
                let (x, y) = c.split_at(32);
                Ok([
                    key(self.r, i, (dec(x)? + h(y)) * self.b),
                    key(self.r, i, (dec(y)? + h(x)) * self.b),
                ])
            })
            .collect()
    }
}
pub(crate) struct Receiver {
    r: Roles,
    s: Vec<Scalar>,
    m: [u8; RECEIVER_BYTES],
}
impl Receiver {
    pub(crate) fn new(r: Roles, choices: Block, coins: &mut Coins) -> Receiver {
        let mut m = [0; RECEIVER_BYTES];
        let mut s = vec![];
        for (i, c) in m.chunks_mut(64).enumerate() {
            let b = (choices.value() >> i & 1) as usize;
            let o = (G * scalar(coins)).compress().to_bytes();
            let k = scalar(coins);
            let p = (G * k - h(&o)).compress().to_bytes();
            c[32 * b..][..32].copy_from_slice(&p);
            c[32 * (1 - b)..][..32].copy_from_slice(&o);
            s.push(k);
        }
        Receiver { r, s, m }
    }
    pub(crate) fn message(&self) -> &[u8; RECEIVER_BYTES] {
        &self.m
    }
    pub(crate) fn keys(self, from: &[u8; 32]) -> Result<Vec<Seed>, MalformedPoint> {
        let p = dec(from)?;
        Ok(self
            .s
            .iter()
            .enumerate()
            .map(|(i, s)| key(self.r, i, p * s))
            .collect())
    }
}
