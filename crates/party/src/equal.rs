//! A test of two parties whether they have the same secret, by digests.
//!
//! Each commits to a digest, and opens it when it has the other's commitment
//! ([`commit`](crate::commit)). If both are equal, neither has learnt anything; if not, each has
//! the other's digest, and everything that the secret is about has to be destroyed. A party that
//! does not know the other's digest passes with the chance of a guess.

use crate::commit::{Committed, Exchange, Heard, Opened, Purpose, VALUE};
use crate::fault::Result;
use sealane_block::Coins;
use sealane_net::Mesh;
use sealane_parties::PartyId;

/// A test under way; `S` is what has happened.
pub struct Equality<S>(Exchange<S>);

impl Equality<Committed> {
    /// Begins a test of a digest: writes [`COMMITMENT_BYTES`](crate::COMMITMENT_BYTES) to the other
    /// party.
    ///
    /// # Errors
    /// The network fails.
    pub fn commit(
        of: Purpose,
        digest: &[u8; VALUE],
        peer: PartyId,
        coins: &mut Coins,
        mesh: &mut Mesh,
    ) -> Result<Equality<Committed>> {
        Exchange::commit(of, digest, &[peer], coins, mesh).map(Equality)
    }

    /// Reads the commitment of the other party.
    ///
    /// # Errors
    /// The network fails.
    pub fn hear(self, mesh: &mut Mesh) -> Result<Equality<Heard>> {
        self.0.hear(mesh).map(Equality)
    }
}

impl Equality<Heard> {
    /// Writes [`OPENING_BYTES`](crate::OPENING_BYTES): this party's digest.
    ///
    /// # Errors
    /// The network fails.
    pub fn open(self, mesh: &mut Mesh) -> Result<Equality<Opened>> {
        self.0.open(mesh).map(Equality)
    }
}

impl Equality<Opened> {
    /// Reads the other party's digest.
    ///
    /// # Errors
    /// [`Fault::Deviated`](crate::Fault::Deviated) if it is another one, or not what it has
    /// committed to.
    pub fn finish(self, mesh: &mut Mesh) -> Result<()> {
        for (peer, theirs) in self.0.finish(mesh)? {
            check_opened(self.0.value(), &theirs).map_err(|Unequal| self.0.failed(peer))?;
        }
        Ok(())
    }
}

/// Two digests differ.
struct Unequal;

/// Compares two digests, which both parties have by now.
// A function of its own, so that `memcheck` can allow this comparison by its name and no other.
#[inline(never)]
fn check_opened(ours: &[u8], theirs: &[u8]) -> Result<(), Unequal> {
    if ours == theirs { Ok(()) } else { Err(Unequal) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;

    fn ends(digests: [[u8; VALUE]; 2]) -> [Result<()>; 2] {
        let mut meshes = Mesh::in_memory(2);
        let of = Purpose {
            name: "test",
            number: 0,
            check: "a check",
        };
        let mut begun = Vec::new();
        for (mesh, digest) in meshes.iter_mut().zip(&digests) {
            let coins = &mut Coins::danger_fixed_seed(u64::from(mesh.me().0));
            let peer = PartyId(1 - mesh.me().0);
            begun.push(Equality::commit(of, digest, peer, coins, mesh).expect("a commitment"));
            mesh.flush().expect("a mesh in memory");
        }
        let mut opened = Vec::new();
        for (test, mesh) in begun.into_iter().zip(&mut meshes) {
            let test = test.hear(mesh).expect("a commitment");
            opened.push(test.open(mesh).expect("an opening"));
            mesh.flush().expect("a mesh in memory");
        }
        let ends = opened.into_iter().zip(&mut meshes);
        let ends = ends.map(|(test, mesh)| test.finish(mesh));
        ends.collect::<Vec<_>>().try_into().expect("both")
    }

    #[test]
    fn equal_digests_pass_and_others_do_not() {
        assert!(ends([[7; VALUE]; 2]).iter().all(Result::is_ok));
        for bit in 0..8 * VALUE {
            let mut other = [7; VALUE];
            other[bit / 8] ^= 1 << (bit % 8);
            for (me, end) in ends([[7; VALUE], other]).into_iter().enumerate() {
                let Err(Fault::Deviated { party, check }) = end else {
                    panic!("bit {bit} is not found");
                };
                assert_eq!((party.index(), check), (1 - me, "a check"));
            }
        }
    }
}
