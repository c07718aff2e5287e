//! A coin of two or more parties: 256 random bits that none of them has chosen.
//!
//! Each commits to 32 random bytes, and opens them when it has the others' commitments
//! ([`commit`](crate::commit)); the coin is a hash of all. Blum, "Coin Flipping by Telephone"
//! (Crypto 1981), under the assumption and with the limits of these commitments: a party that
//! reads the others' bytes first can stop, and there is no coin. Among more than two, a party that
//! deviates can leave different coins at different parties, until these compare them
//! ([`Broadcast::agree`](crate::Broadcast::agree)).

use crate::commit::{Committed, Exchange, Heard, Opened, Purpose, VALUE};
use crate::fault::Result;
use blake3::Hasher;
use sealane_block::{Coins, Nonce};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use zeroize::Zeroizing;

/// A coin under way; `S` is what has happened.
pub struct Toss<S>(Exchange<S>);

impl Toss<Committed> {
    /// Begins a toss: writes [`COMMITMENT_BYTES`](crate::COMMITMENT_BYTES) to each other party.
    ///
    /// # Errors
    /// The network fails.
    pub fn commit(
        of: Purpose,
        peers: &[PartyId],
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<Toss<Committed>> {
        let mut value = Zeroizing::new([0; VALUE]);
        coins.secret("coin").fill_bytes(&mut value[..]);
        Exchange::commit(of, &value, peers, coins, mesh).map(Toss)
    }

    /// Reads the commitments of the other parties.
    ///
    /// # Errors
    /// The network fails.
    pub fn hear(self, mesh: &mut Mesh) -> Result<Toss<Heard>> {
        self.0.hear(mesh).map(Toss)
    }
}

impl Toss<Heard> {
    /// Writes [`OPENING_BYTES`](crate::OPENING_BYTES) to each other party, for its
    /// coin. All that must not depend on it has been read before.
    ///
    /// # Errors
    /// The network fails.
    pub fn open(self, mesh: &mut Mesh) -> Result<Toss<Opened>> {
        self.0.open(mesh).map(Toss)
    }
}

impl Toss<Opened> {
    /// Reads the other parties' bytes, and returns the coin.
    ///
    /// # Errors
    /// [`Fault::Deviated`](crate::Fault::Deviated) if those of one are not what it has
    /// committed to.
    pub fn finish(self, mesh: &mut Mesh) -> Result<Nonce> {
        let mut values = self.0.finish(mesh)?;
        let mut own = [0; VALUE];
        own.copy_from_slice(self.0.value());
        values.push((self.0.me(), own));
        values.sort_by_key(|(party, _)| *party);
        let mut hasher = Hasher::new_derive_key("sealane 1 coin");
        hasher.update(self.0.session().as_bytes());
        hasher.update(&self.0.purpose().number.to_le_bytes());
        for (_, value) in &values {
            hasher.update(value);
        }
        hasher.update(self.0.purpose().name.as_bytes());
        Ok(Nonce::from_bytes(*hasher.finalize().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{COMMITMENT_BYTES, OPENING_BYTES};
    use crate::fault::Fault;
    use sealane_net::SessionId;
    use std::collections::BTreeSet;

    const OF: Purpose = Purpose {
        name: "test",
        number: 3,
        check: "a check",
    };

    fn meshes() -> [Mesh; 2] {
        Mesh::in_memory(2).try_into().ok().expect("two parties")
    }

    fn begin(of: Purpose, mesh: &mut Mesh, seed: u64) -> Toss<Committed> {
        let coins = &mut Coins::danger_fixed_seed(2 * seed + u64::from(mesh.me().0));
        let peer = PartyId(1 - mesh.me().0);
        let toss = Toss::commit(of, &[peer], coins, mesh).expect("a commitment");
        mesh.flush().expect("a mesh in memory");
        toss
    }

    /// A coin of two honest parties, who state what it is for.
    fn tossed(of: [Purpose; 2], session: u8, seed: u64) -> [Result<Nonce>; 2] {
        let mut meshes = meshes();
        for mesh in &mut meshes {
            mesh.set_session(SessionId::danger_fixed([session; 32]));
        }
        let mut heard = Vec::new();
        let begun = [0, 1].map(|at| begin(of[at], &mut meshes[at], seed));
        for (toss, mesh) in begun.into_iter().zip(&mut meshes) {
            let toss = toss.hear(mesh).expect("a commitment");
            heard.push(toss.open(mesh).expect("an opening"));
            mesh.flush().expect("a mesh in memory");
        }
        for mesh in &meshes {
            let sent = mesh.payload_sent(PartyId(1 - mesh.me().0));
            assert_eq!(sent, COMMITMENT_BYTES + OPENING_BYTES);
        }
        let ends = heard.into_iter().zip(&mut meshes);
        let ends = ends.map(|(toss, mesh)| toss.finish(mesh));
        ends.collect::<Vec<_>>().try_into().ok().expect("both")
    }

    #[test]
    fn both_parties_have_the_same_coin_and_no_other_toss_has_it() {
        let other = |name, number| Purpose { name, number, ..OF };
        let mut coins = BTreeSet::new();
        for (of, session, seed) in [
            (OF, 1, 1),
            (OF, 1, 2),
            (OF, 2, 1),
            (other("other", 3), 1, 1),
            (other("test", 4), 1, 1),
        ] {
            let [one, two] = tossed([of; 2], session, seed).map(|end| end.expect("honest"));
            assert_eq!(one.as_bytes(), two.as_bytes());
            coins.insert(*one.as_bytes());
        }
        assert_eq!(coins.len(), 5);
    }

    /// Among more parties all have the same coin, and one that opens another value towards one of
    /// them is found there.
    #[test]
    fn several_parties_have_one_coin_or_name_who_deviates() {
        for lies in [false, true] {
            let mut meshes = Mesh::in_memory(3);
            let mut begun = Vec::new();
            for mesh in &mut meshes {
                let coins = &mut Coins::danger_fixed_seed(u64::from(mesh.me().0));
                let peers = mesh.peers().collect::<Vec<_>>();
                begun.push(Toss::commit(OF, &peers, coins, mesh).expect("a commitment"));
                mesh.flush().expect("a mesh in memory");
            }
            let mut opened = Vec::new();
            for (toss, mesh) in begun.into_iter().zip(&mut meshes) {
                let toss = toss.hear(mesh).expect("a commitment");
                if lies && mesh.me() == PartyId(2) {
                    let mut opening = *toss.0.own;
                    mesh.send(PartyId(0), &opening).expect("a mesh in memory");
                    opening[3] ^= 1;
                    mesh.send(PartyId(1), &opening).expect("a mesh in memory");
                } else {
                    opened.push(toss.open(mesh).expect("an opening"));
                }
                mesh.flush().expect("a mesh in memory");
            }
            let ends = opened.into_iter().zip(&mut meshes);
            let ends = ends
                .map(|(toss, mesh)| toss.finish(mesh))
                .collect::<Vec<_>>();
            let first = *ends[0].as_ref().expect("honest towards it").as_bytes();
            match &ends[1] {
                Ok(coin) => assert!(!lies && *coin.as_bytes() == first),
                Err(Fault::Deviated { party, .. }) => assert!(lies && *party == PartyId(2)),
                Err(other) => panic!("{other}"),
            }
        }
    }

    /// A commitment is good for one purpose.
    #[test]
    fn a_commitment_for_something_else_opens_as_nothing() {
        for other in [
            Purpose {
                name: "other",
                ..OF
            },
            Purpose { number: 4, ..OF },
        ] {
            for end in tossed([OF, other], 1, 1) {
                assert!(matches!(
                    end,
                    Err(Fault::Deviated {
                        check: "a check",
                        ..
                    })
                ));
            }
        }
    }

    /// A message in place of a party's opening, or of both of its messages.
    #[derive(Clone, Copy, Debug)]
    enum False {
        /// Its opening with one bit changed.
        Bit(usize),
        /// The commitment and the opening of the other party.
        Reflected,
    }

    fn against(false_: False) -> Result<Nonce> {
        let [mut one, mut two] = meshes();
        let toss = begin(OF, &mut one, 1);
        let mut commitment = [0; 32];
        two.recv(PartyId(0), &mut commitment)?;
        let honest = match false_ {
            False::Reflected => {
                two.send(PartyId(0), &commitment)?;
                None
            }
            False::Bit(_) => Some(begin(OF, &mut two, 1)),
        };
        two.flush()?;
        let toss = toss.hear(&mut one)?.open(&mut one)?;
        one.flush()?;
        let mut opening = [0; 2 * VALUE];
        two.recv(PartyId(0), &mut opening)?;
        if let (Some(honest), False::Bit(bit)) = (honest, false_) {
            opening.copy_from_slice(&honest.0.own[..]);
            opening[bit / 8] ^= 1 << (bit % 8);
        }
        two.send(PartyId(0), &opening)?;
        two.flush()?;
        toss.finish(&mut one)
    }

    #[test]
    fn false_and_reflected_openings_are_found() {
        let bits = (0..8 * 2 * VALUE).step_by(7).map(False::Bit);
        for false_ in bits.chain([False::Reflected]) {
            let end = against(false_);
            let found = matches!(
                end,
                Err(Fault::Deviated {
                    check: "a check",
                    ..
                })
            );
            assert!(found, "{false_:?}");
        }
    }
}
