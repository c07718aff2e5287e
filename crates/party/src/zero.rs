//! Sharings of zero: each party draws blocks whose sum over all parties is zero, without a message.
//!
//! Each two parties have a seed in common, from which both expand the same stream; a party adds the
//! streams that it has in common with all others (Cramer, Damgard, Ishai, "Share Conversion,
//! Pseudorandom Secret-Sharing and Applications to Secure Computation", TCC 2005, for the case in
//! which each two parties have a seed). What honest parties draw is random but for its sum, however
//! many others deviate, since these know no seed of two honest ones. All parties draw the same
//! numbers of blocks in the same order.
//!
//! Of two parties, the one with the lower number makes their seed and sends it to the other, under
//! the encryption of their channel. A party that deviates may choose its seeds: it knows them
//! anyway.

use crate::fault::Result;
use sealane_block::{Block, Coins, Cpu, Prg, Seed};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// Bytes that a party sends to each other one with a higher number.
pub const ZERO_SEED_BYTES: u64 = Seed::BYTES as u64;

/// Blocks that are drawn at a time.
const DRAWN: usize = 256;

/// Seeds under way: those that this party has made and written.
pub struct ZeroSeeds(Vec<(PartyId, Option<Seed>)>);

impl ZeroSeeds {
    /// Writes a seed to each of the other parties that has a higher number.
    ///
    /// # Errors
    /// The network fails.
    pub fn send(peers: &[PartyId], coins: &mut Coins, mesh: &mut Mesh) -> Result<ZeroSeeds> {
        let me = mesh.me();
        let mut seeds = Vec::new();
        for peer in peers {
            let own = (me < *peer).then(|| coins.secret("seed of zeros").seed());
            if let Some(seed) = &own {
                mesh.send(*peer, seed.as_bytes())?;
            }
            seeds.push((*peer, own));
        }
        Ok(ZeroSeeds(seeds))
    }

    /// Reads the seeds of parties with lower numbers. `label` is for one use in the session.
    ///
    /// # Errors
    /// The network fails.
    pub fn hear(self, label: &'static str, cpu: Cpu, mesh: &mut Mesh) -> Result<Zeros> {
        let session = mesh.session();
        let streams = self.0.into_iter().map(|(peer, own)| {
            let seed = match own {
                Some(seed) => seed,
                None => {
                    let mut bytes = Zeroizing::new([0; Seed::BYTES]);
                    mesh.recv(peer, &mut bytes[..])?;
                    Seed::from_bytes(&bytes)
                }
            };
            Ok(seed.stream(label, session.as_bytes()).prg(cpu))
        });
        Ok(Zeros(streams.collect::<Result<_>>()?))
    }
}

/// A party's part of sharings of zero.
pub struct Zeros(Vec<Prg>);

impl Zeros {
    /// Adds this party's shares of zeros to blocks.
    pub fn add_to(&mut self, blocks: &mut [Block]) {
        let mut drawn = Zeroizing::new([Block::ZERO; DRAWN]);
        for blocks in blocks.chunks_mut(DRAWN) {
            for stream in &mut self.0 {
                let drawn = &mut drawn[..blocks.len()];
                stream.fill(drawn);
                blocks
                    .iter_mut()
                    .zip(drawn)
                    .for_each(|(block, zero)| *block ^= *zero);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zeros(parties: usize, session: u8, label: &'static str) -> Vec<Zeros> {
        let mut meshes = Mesh::in_memory(parties);
        let mut sent = Vec::new();
        for mesh in &mut meshes {
            mesh.set_session(sealane_net::SessionId::danger_fixed([session; 32]));
            let coins = &mut Coins::danger_fixed_seed(u64::from(mesh.me().0));
            let peers = mesh.peers().collect::<Vec<_>>();
            sent.push(ZeroSeeds::send(&peers, coins, mesh).expect("a mesh in memory"));
            mesh.flush().expect("a mesh in memory");
            for peer in peers {
                let expected = if mesh.me() < peer { ZERO_SEED_BYTES } else { 0 };
                assert_eq!(mesh.payload_sent(peer), expected);
            }
        }
        let cpu = Cpu::best();
        let heard = sent.into_iter().zip(&mut meshes);
        let heard = heard.map(|(seeds, mesh)| seeds.hear(label, cpu, mesh).expect("seeds"));
        heard.collect()
    }

    fn draw(zeros: &mut [Zeros], count: usize) -> Vec<Vec<Block>> {
        let shares = zeros.iter_mut().map(|zeros| {
            let mut share = vec![Block::ZERO; count];
            zeros.add_to(&mut share);
            share
        });
        shares.collect()
    }

    /// Of blocks that are drawn in runs of any length; no sum over fewer parties is zero.
    #[test]
    fn shares_of_all_parties_alone_sum_to_zero() {
        for parties in 2..=5 {
            let mut all = zeros(parties, 1, "test");
            for count in [1, 2, DRAWN - 1, DRAWN, 3 * DRAWN + 7, 0] {
                let shares = draw(&mut all, count);
                for at in 0..count {
                    for without in 0..=parties {
                        let summed = shares.iter().enumerate();
                        let summed = summed.filter(|(party, _)| *party != without);
                        let sum = summed.fold(Block::ZERO, |sum, (_, share)| sum ^ share[at]);
                        assert_eq!(sum.value() == 0, without == parties, "{parties}");
                    }
                }
            }
        }
    }

    #[test]
    fn streams_belong_to_a_session_and_a_use() {
        let first = |session, label| draw(&mut zeros(3, session, label), 1)[0][0].value();
        let one = first(1, "test");
        assert_eq!(one, first(1, "test"));
        assert_ne!(one, first(2, "test"));
        assert_ne!(one, first(1, "other"));
    }
}
